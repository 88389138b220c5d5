//! The clients of `guard serve`, which their tokens distinguish.

use std::path::PathBuf;

use super::judge::Client;
use crate::cli::failure::Failure;
use crate::cli::secrets::SecretArgs;
use crate::integrations::http::RequestHead;
use crate::monitor::Speaker;

/// The client of a request that gave no token.
pub(super) const ANYBODY: Client = Client {
    role: Speaker::Reporter,
    client: 0,
};

/// The tokens of those who may speak. Their hashes are compared, so that the time reveals nothing about the tokens.
pub(super) struct Clients {
    reporters: Vec<blake3::Hash>,
    approver: Option<blake3::Hash>,
}

impl Clients {
    /// Reads the files of tokens. Without reporters anybody may report.
    ///
    /// # Errors
    /// A file cannot be read, or two clients have one token.
    pub(super) fn read(
        reporters: &[PathBuf],
        approver: Option<&PathBuf>,
        secrets: SecretArgs,
    ) -> Result<Clients, Failure> {
        let token = |file: &PathBuf| secrets.read_token(file);
        let clients = Clients {
            reporters: reporters.iter().map(token).collect::<Result<_, _>>()?,
            approver: approver.map(token).transpose()?,
        };
        let of = |token: &blake3::Hash| number_of(*token);
        let mut numbers: Vec<u32> = clients.reporters.iter().map(of).collect();
        numbers.sort_unstable();
        if !numbers.is_sorted_by(|one, next| one < next) {
            let why = "two clients need different tokens: `--token-file` names the same one twice";
            return Err(Failure::Usage(why.to_owned()));
        }
        let approver = clients.approver.as_ref().map(of);
        if approver.is_some_and(|approver| numbers.contains(&approver)) {
            let why = "those who report and those who approve need different tokens";
            return Err(Failure::Usage(why.to_owned()));
        }
        Ok(clients)
    }

    /// Returns whether approvals have a token of their own.
    pub(super) fn has_approver(&self) -> bool {
        self.approver.is_some()
    }

    /// Returns how many clients tokens can distinguish.
    pub(super) fn len(&self) -> usize {
        self.reporters.len().max(1) + usize::from(self.has_approver())
    }

    /// Returns the client that makes a request; `None` if its token is missing or wrong.
    pub(super) fn of(&self, head: &RequestHead) -> Option<Client> {
        let given = head.field("Authorization");
        let given = given.and_then(|value| value.split_once(' '));
        let given = given.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("Bearer"));
        let given = given.map(|(_, token)| blake3::hash(token.trim().as_bytes()));
        let with = |role, token| Client {
            role,
            client: number_of(token),
        };
        match given {
            Some(given) if Some(given) == self.approver => Some(with(Speaker::Approver, given)),
            Some(given) if self.reporters.contains(&given) => Some(with(Speaker::Reporter, given)),
            _ => self.reporters.is_empty().then_some(ANYBODY),
        }
    }
}

/// Returns the number of the client with a token, which does not depend on the other tokens: proposals outlive the server, and
/// are ended by whoever made them. Without a token it is 0.
fn number_of(token: blake3::Hash) -> u32 {
    let [a, b, c, d, ..] = *token.as_bytes();
    u32::from_le_bytes([a, b, c, d]).max(1)
}
