//! Normalisation of file paths: without `.`, `..`, doubled and mixed separators.

use super::Unclear;

/// The start of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Root {
    /// `/`
    Absolute,
    /// `C:/`
    Drive(char),
    /// `~` or `~name`: a folder that only the system knows.
    Home(String),
    /// In the current folder.
    Current,
}

/// A parsed path: its root, and the names from there. If the root is `/` or a drive, no name is `..`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Parts {
    root: Root,
    names: Vec<String>,
}

/// Returns a path without `.`, `..`, doubled and trailing separators. `\` is a separator like `/`; the letter of a drive
/// becomes upper case. `..` above the root is the root; in a relative path and after `~` it is kept. The file system is not
/// consulted, so links, the current folder and the case of names are not resolved.
///
/// # Errors
/// If programs would access different files: see [`Unclear`].
pub fn path(text: &str) -> Result<String, Unclear> {
    let Parts { root, names } = parts(text)?;
    // A file in the current folder whose name looks like a home folder or a drive.
    let masked = |name: &String| name.starts_with('~') || name.contains(':');
    let masked = root == Root::Current && names.first().is_some_and(masked);
    let names = names.join("/");
    Ok(match root {
        Root::Absolute => format!("/{names}"),
        Root::Drive(letter) => format!("{letter}:/{names}"),
        Root::Home(home) if names.is_empty() => home,
        Root::Home(home) => format!("{home}/{names}"),
        Root::Current if names.is_empty() => ".".to_owned(),
        Root::Current if masked => format!("./{names}"),
        Root::Current => names,
    })
}

/// Returns whether a path is this folder or inside it, comparing whole names: `/srv/x` is inside `/srv`, and `/srvx` is not.
///
/// # Errors
/// If one of the paths is unclear, or if the result depends on the file system: an absolute path and a relative one, or a
/// relative path that leaves the current folder.
pub fn below(of: &str, folder: &str) -> Result<bool, Unclear> {
    let (of, folder) = (parts(of)?, parts(folder)?);
    match (&of.root, &folder.root) {
        (a, b) if a == b => {}
        (Root::Drive(_), Root::Drive(_)) => return Ok(false),
        _ => return Err(Unclear::OtherRoot),
    }
    let common = of.names.iter().zip(&folder.names);
    let common = common.take_while(|(a, b)| a == b).count();
    let (rest, wanted) = (&of.names[common..], &folder.names[common..]);
    let leaves = |names: &[String]| names.first().is_some_and(|name| name == "..");
    if leaves(rest) || leaves(wanted) {
        return Err(Unclear::OtherRoot);
    }
    Ok(wanted.is_empty())
}

fn parts(text: &str) -> Result<Parts, Unclear> {
    if text.contains('\0') {
        return Err(Unclear::NulInPath);
    }
    if hides_structure(text) {
        return Err(Unclear::EscapedPath);
    }
    let text = text.replace('\\', "/");
    // `\\?\C:\x` and `\\.\C:\x` are equivalent to `C:\x`.
    let device = text
        .strip_prefix("//?/")
        .or_else(|| text.strip_prefix("//./"));
    let text = device.filter(|rest| drive(rest).is_some()).unwrap_or(&text);
    let (root, rest) = match (drive(text), text.strip_prefix('/')) {
        (Some((letter, rest)), _) => match rest.strip_prefix('/') {
            Some(rest) => (Root::Drive(letter), rest),
            None if rest.is_empty() => (Root::Drive(letter), rest),
            None => return Err(Unclear::DrivePath),
        },
        (None, Some(rest)) => (Root::Absolute, rest),
        (None, None) if has_scheme(text) => return Err(Unclear::AddressAsPath),
        (None, None) if text.starts_with('~') => {
            let (home, rest) = text.split_once('/').unwrap_or((text, ""));
            (Root::Home(home.to_owned()), rest)
        }
        (None, None) => (Root::Current, text),
    };
    let mut names: Vec<String> = Vec::new();
    let bounded = matches!(root, Root::Absolute | Root::Drive(_));
    for name in rest.split('/') {
        match (name, names.last().map(String::as_str)) {
            ("" | ".", _) => {}
            (name, _) if name != ".." && name.chars().all(|c| matches!(c, '.' | ' ')) => {
                return Err(Unclear::DotsInPath);
            }
            ("..", None) if bounded => {}
            ("..", Some(last)) if last != ".." => {
                names.pop();
            }
            (name, _) => names.push(name.to_owned()),
        }
    }
    Ok(Parts { root, names })
}

/// Returns the letter of a drive in upper case, and the text after the colon.
fn drive(text: &str) -> Option<(char, &str)> {
    let (letter, rest) = text.split_once(':')?;
    let mut letters = letter.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) if letter.is_ascii_alphabetic() => {
            Some((letter.to_ascii_uppercase(), rest))
        }
        _ => None,
    }
}

/// Whether a text begins with a scheme: `file:/…`, `https://…`.
fn has_scheme(text: &str) -> bool {
    text.split_once(":/").is_some_and(|(scheme, _)| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
    })
}

/// Whether decoding `%` escapes would make a separator, a dot, a NUL byte or another escape.
fn hides_structure(text: &str) -> bool {
    let bytes = text.as_bytes();
    let digit = |at: usize| {
        let byte = bytes.get(at)?;
        char::from(*byte).to_digit(16)
    };
    let escapes = memchr::memchr_iter(b'%', bytes);
    escapes
        .filter_map(|at| Some(digit(at + 1)? << 4 | digit(at + 2)?))
        .any(|byte| matches!(byte, 0 | 0x25 | 0x2E | 0x2F | 0x3A | 0x5C))
}
