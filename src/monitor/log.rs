//! The decision log: every decision in a chain of hashes, so that none can be changed or left out unseen.
//!
//! Each line is a JSON object whose `hash` is BLAKE3 over the hash of the line before and the line itself up to there; the
//! first line names the spec and the model. What cannot be seen is a log that ends early: keep the last hash elsewhere.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::decision::Decision;
use super::state::Identity;
use crate::value::Instant;

/// The version that is written and read.
const VERSION: u32 = 1;

/// The hash before the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// Where a chain ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The hash of the last line.
    hash: String,
    /// The number of the last decision's input; several decisions may have the same.
    last: u64,
    /// How many decisions of that input there are.
    of_last: u64,
}

/// A log that holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// What its decisions are made by.
    pub identity: Identity,
    /// Its decisions.
    pub decisions: u64,
    /// Its end, to go on from.
    pub chain: Chain,
    /// Bytes that are whole; what follows was being written when the process ended.
    pub whole: usize,
}

/// A log that does not hold.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// It is something else.
    #[error("not a decision log")]
    NotALog,
    /// It is of another version.
    #[error("the log has format version {found}, but this guard reads version {VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// A line was changed, added, or one before it was taken out.
    #[error("line {line} does not continue the line before: {why}")]
    Broken {
        /// 1-based.
        line: u64,
        /// What is wrong.
        why: &'static str,
    },
}

#[derive(Serialize, Deserialize)]
struct Head {
    guard_log: u32,
    tool: String,
    #[serde(flatten)]
    identity: Identity,
}

/// What is read of a line.
#[derive(Deserialize)]
struct Line {
    n: u64,
    prev: String,
}

impl Chain {
    /// The first line of a log, and where the chain is then.
    pub fn begin(identity: &Identity) -> (Chain, String) {
        let head = Head {
            guard_log: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            identity: identity.clone(),
        };
        let mut chain = Chain {
            hash: NOTHING.to_owned(),
            last: 0,
            of_last: 0,
        };
        let mut line = serde_json::to_string(&head).unwrap_or_default();
        line.pop();
        chain.close(&mut line);
        (chain, line)
    }

    /// The line of a decision about the input of this number, given at this time. `input` is the hash of what was given.
    pub fn link(
        &mut self,
        number: u64,
        now: Option<Instant>,
        input: &[u8],
        decision: &Decision,
    ) -> String {
        let mut line = format!("{{\"n\":{number},\"at\":");
        match now {
            Some(now) => drop(write!(line, "\"{now}\"")),
            None => line.push_str("null"),
        }
        let _ = write!(
            line,
            ",\"input\":\"{}\",\"decision\":",
            blake3::hash(input).to_hex()
        );
        decision.write_json(&mut line);
        self.close(&mut line);
        self.count(number);
        line
    }

    /// One more decision, about the input of this number.
    fn count(&mut self, number: u64) {
        self.of_last = if self.last == number {
            self.of_last + 1
        } else {
            1
        };
        self.last = number;
    }

    /// Adds the hash of the line before and that of the line.
    fn close(&mut self, line: &mut String) {
        let _ = write!(line, ",\"prev\":\"{}\"", self.hash);
        self.hash = hash(&self.hash, line);
        let _ = writeln!(line, ",\"hash\":\"{}\"}}", self.hash);
    }

    /// The hash of the last line: keep it elsewhere, and the log cannot be cut short unseen.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether a decision about an input, the `place`-th (from 0) of that input, is in the log already.
    pub fn has(&self, number: u64, place: u64) -> bool {
        number < self.last || (number == self.last && place < self.of_last)
    }
}

fn hash(before: &str, line: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes()).update(line.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// The hash of a line, where it is what the line says.
fn checked(before: &str, line: &str) -> Result<String, &'static str> {
    let (body, rest) = line.rsplit_once(",\"hash\":\"").ok_or("missing hash")?;
    let claimed = rest.strip_suffix("\"}").ok_or("does not end in its hash")?;
    let found = hash(before, body);
    if found != claimed {
        return Err("wrong hash");
    }
    Ok(found)
}

/// The end of a log, to go on from without reading all of it: what its first line says, and where the chain is after `tail`,
/// its last lines. What lies between is for [`verify`]: a line that was changed there does not follow from the one before,
/// whatever is added to the log.
///
/// None where the last lines do not tell: they are too few, or do not hold.
pub fn resume(first: &str, tail: &str) -> Option<(Identity, Chain)> {
    checked(NOTHING, first).ok()?;
    let head: Head = serde_json::from_str(first).ok()?;
    if head.guard_log != VERSION {
        return None;
    }
    let mut chain: Option<Chain> = None;
    let mut inputs = 0;
    for line in tail.lines() {
        let read: Line = serde_json::from_str(line).ok()?;
        let before = chain.as_ref().map_or(&read.prev, |chain| &chain.hash);
        if *before != read.prev {
            return None;
        }
        let hash = checked(&read.prev, line).ok()?;
        let mut next = chain.unwrap_or(Chain {
            hash: String::new(),
            last: 0,
            of_last: 0,
        });
        inputs += u64::from(read.n > next.last);
        if read.n < next.last {
            return None;
        }
        next.count(read.n);
        next.hash = hash;
        chain = Some(next);
    }
    // Of the first input some decisions may stand before the tail.
    let chain = chain.filter(|_| inputs > 1)?;
    Some((head.identity, chain))
}

/// Verifies a log. A last line without its line end was being written and does not count.
///
/// # Errors
/// See [`LogError`].
pub fn verify(text: &[u8]) -> Result<Verified, LogError> {
    let mut chain = Chain {
        hash: NOTHING.to_owned(),
        last: 0,
        of_last: 0,
    };
    let mut identity: Option<Identity> = None;
    let (mut decisions, mut whole, mut at, mut number) = (0, 0, 0, 0u64);
    while let Some(end) = text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
        let line = &text[at..at + end];
        at += end + 1;
        number += 1;
        let broken = |why| LogError::Broken { line: number, why };
        let line = std::str::from_utf8(line).map_err(|_| broken("not a string"))?;
        if number == 1 {
            let head: Head = serde_json::from_str(line).map_err(|_| LogError::NotALog)?;
            if head.guard_log != VERSION {
                return Err(LogError::Version {
                    found: head.guard_log,
                });
            }
            identity = Some(head.identity);
        }
        let found = checked(&chain.hash, line).map_err(broken)?;
        if number > 1 {
            let read: Line = serde_json::from_str(line).map_err(|_| broken("not a decision"))?;
            if read.prev != chain.hash {
                return Err(broken("refers to a different previous line"));
            }
            if read.n < chain.last {
                return Err(broken("its number is below that of the line before"));
            }
            chain.count(read.n);
            decisions += 1;
        }
        chain.hash = found;
        whole = at;
    }
    Ok(Verified {
        identity: identity.ok_or(LogError::NotALog)?,
        decisions,
        chain,
        whole,
    })
}

#[cfg(test)]
mod tests {
    use super::super::decision::Cause;
    use super::*;

    #[test]
    fn the_end_of_a_log_is_enough_to_go_on() {
        let (mut chain, first) = Chain::begin(&Identity::default());
        let mut lines = Vec::new();
        for number in [1, 2, 3, 3, 3, 4, 4] {
            let decision = Decision::new(Cause::Event);
            lines.push(chain.link(number, None, b"x", &decision));
        }
        let from = |place: usize| resume(first.trim_end(), &lines[place..].concat());
        for place in 0..5 {
            assert_eq!(from(place), Some((Identity::default(), chain.clone())));
        }
        // All of one input: there may be more before.
        assert_eq!(from(5), None);
        let changed = lines[3..].concat().replace("\"n\":3", "\"n\":2");
        assert_eq!(resume(first.trim_end(), &changed), None);
    }

    #[test]
    fn no_line_can_be_changed_moved_or_taken_out() {
        let (mut chain, mut text) = Chain::begin(&Identity::default());
        for number in 1..5 {
            let decision = Decision::new(Cause::Event);
            text.push_str(&chain.link(number, None, b"x", &decision));
        }
        let verified = verify(text.as_bytes());
        assert_eq!(
            verified
                .as_ref()
                .map(|log| (log.decisions, log.chain.clone())),
            Ok((4, chain))
        );
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        for out in 0..lines.len() - 1 {
            let mut fewer = lines.clone();
            fewer.remove(out);
            assert!(
                verify(fewer.concat().as_bytes()).is_err(),
                "without line {out}"
            );
            let mut moved = lines.clone();
            moved.swap(out, out + 1);
            assert!(
                verify(moved.concat().as_bytes()).is_err(),
                "with line {out} moved"
            );
        }
        for at in (0..text.len()).filter(|at| text.as_bytes()[*at] != b'\n') {
            let mut changed = text.clone().into_bytes();
            changed[at] ^= 1;
            if changed[at] != b'\n' {
                assert!(verify(&changed).is_err(), "with byte {at} changed");
            }
        }
    }
}
