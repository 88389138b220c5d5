//! The inputs of a monitor, line by line, from which another process can reach the same state.
//!
//! A journal is text. Its first line identifies the spec and the model, and gives the number of inputs taken before it. Every
//! other line is one input, or the end of those that were written together:
//!
//! ```text
//! guard-journal {"version":4,"tool":"0.1.0",…,"after":0,"state":null,"log":null,"calls":null} 5f3c60a1b2c3d4e5
//! 1 1763629200000000000000000000 line 28 9f86d081884c7d65 {"trace":"t1","kind":"call"}
//! 2 1763629203000000000000000000 tick 0 60303ae22b998861
//! 2 - end 25 0f2a4c98d1e07b36 {"log":null,"calls":null}
//! ```
//!
//! A line contains the number of the input, its time (attoseconds, or `-`), its kind (`line:3` if it came from the
//! [client](super::Monitor::set_client) of number 3, and `hook` in place of `line` if a [hook](super::Monitor::set_hooked) made
//! it), its number of bytes, and a checksum over all of these and the input. The first line ends in its own checksum. `state`
//! is the hash of the state that the journal continues from. `log` is the hash of the last line of the decision log before the
//! decisions on these inputs, and `calls` that of the list of calls after them: so a journal that is ahead of its log by more
//! than what was written together shows that the log was cut, and says which list belongs to it. Inputs without an end behind
//! them, and a last line without a line end, were interrupted while being written: they were never acknowledged and are
//! ignored. Any other invalid line is reported as damage.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::state::{Identity, StateError};
use crate::value::Instant;

const MAGIC: &str = "guard-journal ";

/// The kind of the line that ends the inputs that were written together.
const END: &str = "end";

/// The format version that is written and read.
const VERSION: u32 = 4;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    tool: String,
    #[serde(flatten)]
    identity: Identity,
    #[serde(flatten)]
    start: Start,
}

/// The parts of the first line that every version has.
#[derive(Deserialize)]
struct Version {
    version: u32,
}

/// The start of a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// The number of inputs taken before the journal.
    pub after: u64,
    /// The hash of the state, if there is one.
    pub state: Option<String>,
    /// The other files at that time.
    #[serde(flatten)]
    pub beside: Beside,
}

/// The files beside a journal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beside {
    /// The hash of the last line of the decision log, if there is one.
    pub log: Option<String>,
    /// The hash of the list of calls, if there is one.
    pub calls: Option<String>,
}

/// One input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry<'j> {
    /// The number of the input; the first input is 1.
    pub number: u64,
    /// The time at which the input was given.
    pub now: Option<Instant>,
    /// The client that sent the input.
    pub client: u32,
    /// Whether questions to a person last.
    pub hooked: bool,
    /// The input.
    pub input: Input<'j>,
}

/// Consecutive pieces of one byte string.
pub type Pieces<'j> = [&'j [u8]; 3];

/// An input of a monitor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'j> {
    /// A line, in pieces: a long line is not joined for writing.
    Line(Pieces<'j>),
    /// A line that was rejected without parsing, and the reason.
    Refused(&'j str),
    /// Time advanced, and a deadline was decided.
    Tick,
}

impl<'j> Input<'j> {
    fn word(self, hooked: bool) -> &'static str {
        match self {
            Input::Line(_) if hooked => "hook",
            Input::Line(_) => "line",
            Input::Refused(_) => "refused",
            Input::Tick => "tick",
        }
    }

    /// Returns the bytes of the input, in pieces; empty for a tick.
    pub fn pieces(self) -> Pieces<'j> {
        match self {
            Input::Line(pieces) => pieces,
            Input::Refused(why) => [why.as_bytes(), b"", b""],
            Input::Tick => [b"", b"", b""],
        }
    }
}

/// A parsed journal.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Journal<'j> {
    /// The start of the journal.
    pub start: Start,
    /// The inputs, in order.
    pub entries: Vec<Entry<'j>>,
    /// The files that the end of the last inputs names, or the start if there are none.
    pub beside: Beside,
    /// The number of complete bytes; the rest was being written when the process ended.
    pub whole: usize,
}

/// The reason why a journal cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum JournalError {
    /// The file is not a journal.
    #[error("not a monitor journal")]
    NotAJournal,
    /// The journal has another version.
    #[error("the journal has format version {found}, but this guard reads version {VERSION}")]
    Version {
        /// The version of the journal.
        found: u32,
    },
    /// The journal belongs to another spec or model.
    #[error("the journal does not match: {0}")]
    Other(StateError),
    /// A line was changed, or is missing.
    #[error("line {line} of the journal is damaged")]
    Damaged {
        /// 1-based.
        line: u64,
    },
}

/// Returns the first line of a journal, with its line end.
///
/// # Errors
/// Never for ordinary names of specs.
pub fn head(identity: &Identity, start: &Start) -> Result<String, StateError> {
    let head = Head {
        version: VERSION,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        identity: identity.clone(),
        start: start.clone(),
    };
    let json = serde_json::to_string(&head);
    let json = json.map_err(|error| StateError::Unwritable(error.to_string()))?;
    let sum = checksum(json.as_bytes(), [b"", b"", b""]);
    Ok(format!("{MAGIC}{json} {sum}\n"))
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
        text.push_str(self.input.word(self.hooked));
        if self.client != 0 {
            let _ = write!(text, ":{}", self.client);
        }
        write_line(text, self.input.pieces(), out);
    }
}

impl Beside {
    /// Adds the line that ends the inputs that were written together, up to the one of this number, with its line end.
    pub fn write(&self, number: u64, out: &mut Vec<u8>) {
        let json = serde_json::to_vec(self).unwrap_or_default();
        write_line(format!("{number} - {END}"), [&json, b"", b""], out);
    }
}

/// Adds a line: number, time and kind, then the number of bytes, the checksum, and the bytes.
fn write_line(mut text: String, pieces: Pieces<'_>, out: &mut Vec<u8>) {
    let len: usize = pieces.iter().map(|piece| piece.len()).sum();
    let _ = write!(text, " {len} ");
    let sum = checksum(text.as_bytes(), pieces);
    out.reserve(text.len() + sum.len() + len + 2);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(sum.as_bytes());
    out.push(b' ');
    pieces.iter().for_each(|piece| out.extend_from_slice(piece));
    out.push(b'\n');
}

impl<'j> Journal<'j> {
    /// Parses a journal.
    ///
    /// # Errors
    /// See [`JournalError`].
    pub fn read(bytes: &'j [u8], identity: &Identity) -> Result<Journal<'j>, JournalError> {
        Journal::of(bytes, |found| identity.same(found))
    }

    /// Parses a journal of any spec, and returns what its end says about the files beside it.
    ///
    /// # Errors
    /// See [`JournalError`].
    pub fn beside(bytes: &[u8]) -> Result<Beside, JournalError> {
        Journal::of(bytes, |_| Ok(())).map(|journal| journal.beside)
    }

    fn of(
        bytes: &'j [u8],
        check: impl Fn(&Identity) -> Result<(), StateError>,
    ) -> Result<Journal<'j>, JournalError> {
        let mut lines = Lines { bytes, at: 0 };
        let Some((first, true)) = lines.next() else {
            return match is_begun(bytes) {
                true => Ok(Journal::default()),
                false => Err(JournalError::NotAJournal),
            };
        };
        let first = first
            .strip_prefix(MAGIC.as_bytes())
            .ok_or(JournalError::NotAJournal)?;
        // Earlier versions have no checksum here.
        let end = first.iter().rposition(|byte| *byte == b'}');
        let (json, sum) = first.split_at(end.map_or(0, |end| end + 1));
        let version: Version =
            serde_json::from_slice(json).map_err(|_| JournalError::NotAJournal)?;
        if version.version != VERSION {
            return Err(JournalError::Version {
                found: version.version,
            });
        }
        let expected = checksum(json, [b"", b"", b""]);
        if sum.strip_prefix(b" ") != Some(expected.as_bytes()) {
            return Err(JournalError::Damaged { line: 1 });
        }
        let head: Head = serde_json::from_slice(json).map_err(|_| JournalError::NotAJournal)?;
        check(&head.identity).map_err(JournalError::Other)?;
        let mut journal = Journal {
            beside: head.start.beside.clone(),
            start: head.start,
            entries: Vec::new(),
            whole: lines.at,
        };
        let (mut number, mut ended, mut end) = (1, 0, None);
        while let Some((line, ends)) = lines.next() {
            number += 1;
            let damaged = JournalError::Damaged { line: number };
            let header = Header::read(line);
            if !ends {
                // If a line end was changed to another byte, the line is longer than its header says.
                match header {
                    Some(header) if header.rest.len() > header.len => return Err(damaged),
                    _ => break,
                }
            }
            let header = header.and_then(Header::checked).ok_or(damaged.clone())?;
            let last = journal.start.after + journal.entries.len() as u64;
            if header.kind == END && header.number.parse() == Ok(last) {
                (ended, end) = (journal.entries.len(), Some(header.rest));
                journal.whole = lines.at;
                continue;
            }
            match header.entry().filter(|found| found.number == last + 1) {
                Some(found) => journal.entries.push(found),
                None => return Err(damaged),
            }
        }
        journal.entries.truncate(ended);
        if let Some(end) = end {
            let beside = serde_json::from_slice(end);
            journal.beside = beside.map_err(|_| JournalError::Damaged { line: number })?;
        }
        Ok(journal)
    }
}

/// Whether a file without a complete line is a journal whose first line was interrupted while being written: any other file is not to be
/// replaced, nor is a journal whose line ends were changed.
fn is_begun(bytes: &[u8]) -> bool {
    let begin = [MAGIC, "{\"version\":"].concat();
    let begun = &bytes[..bytes.len().min(begin.len())];
    let ends = memchr::memchr(b'}', bytes);
    // A checksum of 16 digits follows.
    begin.as_bytes().starts_with(begun) && ends.is_none_or(|end| bytes.len() - end <= 18)
}

/// Iterates over lines of bytes, with whether each has its line end.
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

/// The parsed parts of a line; [`Header::checked`] verifies its checksum.
struct Header<'j> {
    number: &'j str,
    now: &'j str,
    kind: &'j str,
    len: usize,
    sum: &'j str,
    rest: &'j [u8],
}

impl<'j> Header<'j> {
    fn read(line: &'j [u8]) -> Option<Header<'j>> {
        let mut parts = line.splitn(6, |byte| *byte == b' ');
        let mut text = || std::str::from_utf8(parts.next()?).ok();
        Some(Header {
            number: text()?,
            now: text()?,
            kind: text()?,
            len: text()?.parse().ok()?,
            sum: text()?,
            rest: parts.next()?,
        })
    }

    /// Verifies the checksum.
    fn checked(self) -> Option<Header<'j>> {
        let Header {
            number,
            now,
            kind,
            len,
            ..
        } = self;
        let head = format!("{number} {now} {kind} {len} ");
        let is_right = checksum(head.as_bytes(), [self.rest, b"", b""]) == self.sum;
        (is_right && self.rest.len() == len).then_some(self)
    }

    /// Returns the input of the line.
    fn entry(self) -> Option<Entry<'j>> {
        let (word, client) = match self.kind.split_once(':') {
            Some((word, client)) => (word, client.parse().ok()?),
            None => (self.kind, 0),
        };
        Some(Entry {
            number: self.number.parse().ok()?,
            client,
            hooked: word == "hook",
            now: match self.now {
                "-" => None,
                now => Some(Instant(now.parse().ok()?)),
            },
            input: match word {
                "line" | "hook" => Input::Line([self.rest, b"", b""]),
                "refused" => Input::Refused(std::str::from_utf8(self.rest).ok()?),
                "tick" => Input::Tick,
                _ => return None,
            },
        })
    }
}

/// The first quarter of a BLAKE3 hash. It protects against accidental damage only.
fn checksum(head: &[u8], pieces: Pieces<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(head);
    for piece in pieces {
        hasher.update(piece);
    }
    let hex = hasher.finalize().to_hex();
    hex.chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beside(number: u64) -> Beside {
        Beside {
            log: Some(number.to_string()),
            calls: None,
        }
    }

    /// Two inputs that were written together, and one more.
    fn written() -> Result<(Identity, Vec<u8>), StateError> {
        let identity = Identity::default();
        let start = Start {
            after: 7,
            ..Start::default()
        };
        let mut bytes = head(&identity, &start)?.into_bytes();
        let inputs = [
            Input::Line([b"{\"a\":", b" 1", b"}"]),
            Input::Tick,
            Input::Line([b"\xff b", b"", b""]),
        ];
        for (number, input) in (8u32..).zip(inputs) {
            let now = (number != 8).then_some(Instant(number.into()));
            let number = number.into();
            let client = u32::from(number == 10);
            let entry = Entry {
                number,
                now,
                client,
                hooked: number == 10,
                input,
            };
            entry.write(&mut bytes);
            if number != 8 {
                beside(number).write(number, &mut bytes);
            }
        }
        Ok((identity, bytes))
    }

    #[test]
    fn every_cut_leaves_what_is_whole() -> Result<(), Box<dyn std::error::Error>> {
        let (identity, bytes) = written()?;
        let all = Journal::read(&bytes, &identity)?;
        assert_eq!(
            (all.start.after, all.entries.len(), all.whole),
            (7, 3, bytes.len())
        );
        assert_eq!(all.beside, beside(10));
        let mut seen = Vec::new();
        for cut in 0..bytes.len() {
            let journal = Journal::read(&bytes[..cut], &identity)?;
            assert!(journal.whole <= cut);
            let n = journal.entries.len();
            assert_eq!(journal.entries[..], all.entries[..n], "{cut}");
            let last = [Beside::default(), beside(9)];
            assert_eq!(journal.beside, last[usize::from(n > 0)]);
            seen.push(n);
        }
        // What was written together counts as a whole or not at all.
        seen.dedup();
        assert_eq!(seen, [0, 2]);
        let without_ends = bytes.iter().filter(|byte| **byte != b'\n').copied();
        for other in [b"a file".to_vec(), without_ends.collect()] {
            assert_eq!(
                Journal::read(&other, &identity),
                Err(JournalError::NotAJournal)
            );
        }
        Ok(())
    }

    #[test]
    fn damage_is_no_torn_end() -> Result<(), Box<dyn std::error::Error>> {
        let (identity, bytes) = written()?;
        let whole = Journal::read(&bytes, &identity)?;
        let first = bytes.iter().position(|byte| *byte == b'\n').unwrap_or(0) + 1;
        for (at, bit) in (0..bytes.len()).flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << bit;
            // A change of any byte is detected, including the first line and the last line end.
            let read = Journal::read(&changed, &identity);
            let found = match at < first {
                true => read.is_err(),
                false => matches!(read, Err(JournalError::Damaged { .. })),
            };
            assert!(found, "{at}: {read:?}");
        }
        assert_eq!(whole.entries.len(), 3);
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
