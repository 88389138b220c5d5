//! Files that hold tokens and private keys.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::failure::Failure;

/// The longest token or key, in bytes: a device may be endless.
const LONGEST: u64 = 64 * 1024;

// Who may read the files of tokens and private keys.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct SecretArgs {
    /// Accept files of tokens and private keys that other users can read, as mounted secrets of containers often are
    #[arg(long)]
    pub(super) allow_readable_secrets: bool,
}

impl SecretArgs {
    /// Reads a file that holds a secret.
    ///
    /// # Errors
    /// Others can read or write the file; it cannot be read; it is no text, or longer than 64 KiB.
    pub(super) fn read(self, path: &Path) -> Result<String, Failure> {
        let wrong = |error: std::io::Error| unusable(path, &error);
        let file = File::open(path).map_err(wrong)?;
        self.check(path, &file.metadata().map_err(wrong)?)?;
        let mut text = String::new();
        let read = file.take(LONGEST + 1).read_to_string(&mut text);
        match read.map_err(wrong)? as u64 > LONGEST {
            true => Err(unusable(path, &"it is longer than 64 KiB")),
            false => Ok(text),
        }
    }

    /// Reads the token in the first line of a file, and returns its hash.
    ///
    /// # Errors
    /// As [`SecretArgs::read`], and if the token is too short.
    pub(super) fn read_token(self, path: &Path) -> Result<blake3::Hash, Failure> {
        let text = self.read(path)?;
        let token = text.lines().next().unwrap_or_default().trim();
        if token.len() < 16 {
            let path = path.display();
            let why = format!("cannot use `{path}`: the token has fewer than 16 characters");
            return Err(Failure::Usage(why));
        }
        Ok(blake3::hash(token.as_bytes()))
    }

    /// Refuses a secret that others can read, and one that others can write or that belongs to another user in any case: by it they could
    /// choose the secret.
    pub(super) fn check(self, path: &Path, about: &Metadata) -> Result<(), Failure> {
        check_owner(about).map_err(|why| unusable(path, &why))?;
        let mode = about.mode() & 0o7777;
        let (can, else_give) = match mode {
            _ if mode & 0o022 != 0 => ("write", ""),
            _ if mode & 0o077 != 0 && !self.allow_readable_secrets => {
                let option = ", or give `--allow-readable-secrets` if all who can reach the file may know the secret";
                ("read", option)
            }
            _ => return Ok(()),
        };
        let shown = path.display();
        let why = format!(
            "others can {can} the file (mode {mode:04o}); run `chmod 600 {shown}`{else_give}"
        );
        Err(unusable(path, &why))
    }
}

/// Refuses a file or folder of another user than the one that runs Guard, and root: its owner can change it.
pub(super) fn check_owner(about: &Metadata) -> Result<(), String> {
    let own = rustix::process::geteuid().as_raw();
    match about.uid() {
        owner if owner == own || owner == 0 => Ok(()),
        owner => Err(format!(
            "it belongs to user {owner}, expected user {own}, who runs guard, or root"
        )),
    }
}

fn unusable(path: &Path, why: &dyn std::fmt::Display) -> Failure {
    let path = path.display();
    Failure::Usage(format!("cannot use the secret in `{path}`: {why}"))
}
