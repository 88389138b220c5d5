//! What a monitor was given, line by line, so that another process can come to the same state.
//!
//! A journal is text. Its first line says what it belongs to and how many inputs were taken before it; every other line is
//! one input:
//!
//! ```text
//! guard-journal {"version":1,"tool":"0.1.0","spec":"…","model":null,"after":0}
//! 1 1763629200000000000000000000 line 9f86d081884c7d65 {"trace":"t1","kind":"call"}
//! 2 1763629203000000000000000000 tick 60303ae22b998861
//! ```
//!
//! The number is that of the input, then the time it was given at (attoseconds, or `-`), what it was, and a checksum over
//! the number, the time and the input. A line that was being written when the power went out is the last one, and its
//! checksum does not fit: it is left out, and it was never acknowledged. Any other line that does not fit is damage.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::state::{Identity, StateError};
use crate::value::Instant;

const MAGIC: &str = "guard-journal ";

/// The version that is written and read.
const VERSION: u32 = 1;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    tool: String,
    #[serde(flatten)]
    identity: Identity,
    after: u64,
}

/// One input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'j> {
    /// Its number; the first one ever is 1.
    pub number: u64,
    /// The time it was given at.
    pub now: Option<Instant>,
    /// What it was.
    pub input: Input<'j>,
}

/// What a monitor is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'j> {
    /// A line.
    Line(&'j [u8]),
    /// A line that was not even looked at, and why.
    Refused(&'j str),
    /// Time passed, and something was decided about a deadline.
    Tick,
}

impl<'j> Input<'j> {
    fn word(self) -> &'static str {
        match self {
            Input::Line(_) => "line",
            Input::Refused(_) => "refused",
            Input::Tick => "tick",
        }
    }

    /// Its bytes; empty for the passing of time.
    pub fn bytes(self) -> &'j [u8] {
        match self {
            Input::Line(line) => line,
            Input::Refused(why) => why.as_bytes(),
            Input::Tick => &[],
        }
    }
}

/// A journal that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Journal<'j> {
    /// How many inputs were taken before the first one here.
    pub after: u64,
    /// The inputs, in order.
    pub entries: Vec<Entry<'j>>,
    /// Bytes that are whole; what follows was being written when the process ended.
    pub whole: usize,
}

/// Why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// It is something else.
    #[error("not a monitor journal")]
    NotAJournal,
    /// It is of another version.
    #[error("the journal has format version {found}, but this guard reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It is of another spec or model.
    #[error("the journal does not match: {0}")]
    Other(StateError),
    /// A line was changed, or is missing.
    #[error("line {line} of the journal is damaged, but more inputs follow it")]
    Damaged {
        /// 1-based.
        line: u64,
    },
}

/// The first line of a journal, with its line end.
///
/// # Errors
/// Never for ordinary names of specs.
pub fn head(identity: &Identity, after: u64) -> Result<String, StateError> {
    let head = Head {
        version: VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        identity: identity.clone(),
        after,
    };
    let json = serde_json::to_string(&head);
    let json = json.map_err(|error| StateError::Unwritable(error.to_string()))?;
    Ok(format!("{MAGIC}{json}\n"))
}

impl Entry<'_> {
    /// Adds the entry's line, with its line end.
    pub fn write(&self, out: &mut Vec<u8>) {
        let mut text = String::with_capacity(64);
        let _ = write!(text, "{} ", self.number);
        match self.now {
            Some(now) => drop(write!(text, "{} ", now.0)),
            None => text.push_str("- "),
        }
        let _ = write!(text, "{} ", self.input.word());
        let line = self.input.bytes();
        let sum = checksum(text.as_bytes(), line);
        out.extend_from_slice(text.as_bytes());
        out.extend_from_slice(sum.as_bytes());
        out.push(b' ');
        out.extend_from_slice(line);
        out.push(b'\n');
    }
}

impl<'j> Journal<'j> {
    /// Reads a journal.
    ///
    /// # Errors
    /// See [`JournalError`].
    pub fn read(bytes: &'j [u8], identity: &Identity) -> Result<Journal<'j>, JournalError> {
        let mut lines = Lines { bytes, at: 0 };
        let Some((first, true)) = lines.next() else {
            // The first line itself was being written.
            return Ok(Journal {
                after: 0,
                entries: Vec::new(),
                whole: 0,
            });
        };
        let first = first
            .strip_prefix(MAGIC.as_bytes())
            .ok_or(JournalError::NotAJournal)?;
        let head: Head = serde_json::from_slice(first).map_err(|_| JournalError::NotAJournal)?;
        if head.version != VERSION {
            return Err(JournalError::Version {
                found: head.version,
            });
        }
        identity.same(&head.identity).map_err(JournalError::Other)?;
        let mut journal = Journal {
            after: head.after,
            entries: Vec::new(),
            whole: lines.at,
        };
        let mut damaged: Option<u64> = None;
        let mut number = 1;
        while let Some((line, ends)) = lines.next() {
            number += 1;
            let expected = journal.after + journal.entries.len() as u64 + 1;
            match entry(line).filter(|_| ends) {
                Some(found) if damaged.is_none() && found.number == expected => {
                    journal.entries.push(found);
                    journal.whole = lines.at;
                }
                Some(_) => {
                    let line = damaged.unwrap_or(number);
                    return Err(JournalError::Damaged { line });
                }
                None => damaged = damaged.or(Some(number)),
            }
        }
        Ok(journal)
    }
}

/// Lines of bytes, each with whether it ends in a line end.
struct Lines<'j> {
    bytes: &'j [u8],
    at: usize,
}

impl<'j> Iterator for Lines<'j> {
    type Item = (&'j [u8], bool);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.bytes.get(self.at..).filter(|rest| !rest.is_empty())?;
        match memchr::memchr(b'\n', rest) {
            Some(end) => {
                self.at += end + 1;
                Some((&rest[..end], true))
            }
            None => {
                self.at = self.bytes.len();
                Some((rest, false))
            }
        }
    }
}

fn entry(line: &[u8]) -> Option<Entry<'_>> {
    let mut parts = line.splitn(5, |byte| *byte == b' ');
    let mut text = || std::str::from_utf8(parts.next()?).ok();
    let (number, now, kind, sum) = (text()?, text()?, text()?, text()?);
    let rest = parts.next()?;
    let expected = checksum(format!("{number} {now} {kind} ").as_bytes(), rest);
    if expected != sum {
        return None;
    }
    Some(Entry {
        number: number.parse().ok()?,
        now: match now {
            "-" => None,
            now => Some(Instant(now.parse().ok()?)),
        },
        input: match kind {
            "line" => Input::Line(rest),
            "refused" => Input::Refused(std::str::from_utf8(rest).ok()?),
            "tick" => Input::Tick,
            _ => return None,
        },
    })
}

/// Half of a BLAKE3 would be enough against accidents; a quarter is.
fn checksum(head: &[u8], line: &[u8]) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head).update(line);
    let hex = hasher.finalize().to_hex();
    hex.chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written() -> Result<(Identity, Vec<u8>), StateError> {
        let identity = Identity::default();
        let mut bytes = head(&identity, 7)?.into_bytes();
        let inputs = [
            Input::Line(b"{\"a\": 1}"),
            Input::Tick,
            Input::Line(b"\xff b"),
        ];
        for (number, input) in (8u32..).zip(inputs) {
            let now = (number != 8).then_some(Instant(number.into()));
            let number = number.into();
            Entry { number, now, input }.write(&mut bytes);
        }
        Ok((identity, bytes))
    }

    #[test]
    fn every_cut_leaves_what_is_whole() -> Result<(), Box<dyn std::error::Error>> {
        let (identity, bytes) = written()?;
        let all = Journal::read(&bytes, &identity)?;
        assert_eq!(
            (all.after, all.entries.len(), all.whole),
            (7, 3, bytes.len())
        );
        for cut in 0..bytes.len() {
            let journal = Journal::read(&bytes[..cut], &identity)?;
            assert!(journal.whole <= cut);
            assert_eq!(
                journal.entries[..],
                all.entries[..journal.entries.len()],
                "{cut}"
            );
        }
        Ok(())
    }

    #[test]
    fn damage_is_no_torn_end() -> Result<(), Box<dyn std::error::Error>> {
        let (identity, bytes) = written()?;
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0) + 1;
        let second = first
            + bytes[first..]
                .iter()
                .position(|byte| *byte == b'\n')
                .unwrap_or(0);
        for at in first..second {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            let read = Journal::read(&changed, &identity);
            assert_eq!(read, Err(JournalError::Damaged { line: 2 }), "{at}");
        }
        let other = Identity {
            spec: "abc".to_owned(),
            model: None,
        };
        let refused = Journal::read(&bytes, &other).map_err(|error| error.to_string());
        assert_eq!(
            refused,
            Err(
                "the journal does not match: it belongs to another spec: expected abc, found none"
                    .to_owned()
            )
        );
        Ok(())
    }
}
