//! The decision log: every decision in a chain of hashes, so that a changed or missing decision is detected.
//!
//! Each line is a JSON object whose `hash` is BLAKE3 over the hash of the previous line and the line itself up to `hash`. The
//! first line names the spec and the model, the number of earlier inputs (`after`), the last line of the log that this one
//! continues (`follows`), and the signing key. With a [`SigningKey`] every hash is signed (`sig`, Ed25519), so that only the
//! holder of the key can write a valid chain. A log that ends early is not detected: store the last hash elsewhere. A hook keeps a
//! list of calls beside the log; its hash (`calls`) is in the last line of those that are written with it. The hash of a saved
//! state is in a line of its own (`state`), or in the first line if the log begins after a state.

use std::fmt::Write as _;

use ed25519_dalek::pkcs8::{DecodePrivateKey as _, DecodePublicKey as _};
use ed25519_dalek::{Signature, Signer as _};
use serde::{Deserialize, Serialize};

pub use ed25519_dalek::{SigningKey, VerifyingKey};

use super::decision::Decision;
use super::journal::Pieces;
use super::state::Identity;
use crate::value::Instant;

/// The format version that is written and read.
const VERSION: u32 = 1;

/// The beginning of the first line.
const BEGIN: &[u8] = b"{\"guard_log\":";

/// The previous hash of the first line.
const NOTHING: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// The prefix of each signed hash, so that a signature of this log is valid for nothing else.
const CONTEXT: &str = "guard decision log ";

/// The end of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chain {
    /// The key that signs the lines.
    key: Option<SigningKey>,
    /// The hash of the last line.
    hash: String,
    /// The number of the input of the last decision; several decisions may have the same input.
    last: u64,
    /// The number of decisions on that input.
    of_last: u64,
    /// The hash of the latest list of calls that a line names.
    calls: Option<String>,
    /// The hash of the latest state that a line names.
    state: Option<String>,
}

/// A verified log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The identity of the monitor that made the decisions.
    pub identity: Identity,
    /// The number of decisions.
    pub decisions: u64,
    /// The hash of the last line of the log that this one continues, if there is one.
    pub follows: Option<String>,
    /// The key with which the log is signed.
    pub key: Option<VerifyingKey>,
    /// The end of the chain, from which the log continues.
    pub chain: Chain,
    /// The inputs of the last lines: their numbers and hashes.
    pub inputs: Inputs,
    /// The number of complete bytes; the rest was being written when the process ended.
    pub whole: usize,
}

/// The inputs that the last lines of a log record, and the hashes of these lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inputs {
    of: Vec<(u64, String)>,
    lines: Vec<String>,
}

impl Inputs {
    fn follow(&mut self, read: Line, line: &str) {
        let known = self.of.last().is_some_and(|(last, _)| *last == read.n);
        if !known && read.state.is_none() {
            self.of.push((read.n, read.input));
        }
        self.lines.push(line.to_owned());
    }

    /// Whether the log records another input under this number; false if that is not known.
    pub fn differs(&self, number: u64, input: Pieces<'_>) -> bool {
        let place = self.of.binary_search_by_key(&number, |(of, _)| *of);
        let logged = place.ok().and_then(|place| self.of.get(place));
        logged.is_some_and(|(_, logged)| *logged != hash_of(input))
    }

    /// Whether all inputs after this number are among them.
    pub fn reach(&self, after: u64) -> bool {
        let first = self.of.first();
        first.is_none_or(|(first, _)| *first <= after.saturating_add(1))
    }

    /// Whether one of the last lines has this hash, or the one of the log before that this one continues.
    pub fn has_line(&self, hash: &str) -> bool {
        self.lines.iter().any(|line| line == hash)
    }
}

/// The start of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Start {
    /// The number of inputs taken before the log.
    pub after: u64,
    /// The hash of the last line of the previous log.
    pub follows: Option<String>,
    /// The hash of the state after these inputs, if there is one.
    pub state: Option<String>,
    /// The key that signs the lines.
    pub key: Option<SigningKey>,
}

/// The reason why a log is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// The file is not a decision log.
    #[error("not a decision log")]
    NotALog,
    /// The log has another version.
    #[error("the log has format version {found}, but this guard reads version {VERSION}")]
    Version {
        /// The version of the log.
        found: u32,
    },
    /// A line was changed or added, or the previous line was removed.
    #[error("line {line} does not continue the line before: {why}")]
    Broken {
        /// 1-based.
        line: u64,
        /// The fault.
        why: &'static str,
    },
    /// The log is signed with another key, or not signed.
    #[error("the log is signed with {found}, expected {expected}")]
    Key {
        /// The key of the log.
        found: String,
        /// The key that is expected.
        expected: String,
    },
    /// A key cannot be read.
    #[error(
        "expected an Ed25519 key in PEM (PKCS #8), as `openssl genpkey -algorithm ed25519` writes it"
    )]
    NotAKey,
}

#[derive(Serialize, Deserialize)]
struct Head {
    guard_log: u32,
    tool: String,
    #[serde(flatten)]
    identity: Identity,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    after: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    follows: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    state: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Head {
    fn key(&self) -> Result<Option<VerifyingKey>, &'static str> {
        let read = |text: &String| {
            let bytes = from_hex(text).and_then(|bytes| bytes.try_into().ok())?;
            VerifyingKey::from_bytes(&bytes).ok()
        };
        match &self.key {
            None => Ok(None),
            Some(text) => read(text).map(Some).ok_or("invalid key"),
        }
    }
}

/// The parts of a line that are parsed.
#[derive(Deserialize)]
struct Line {
    n: u64,
    #[serde(default)]
    input: String,
    #[serde(default)]
    calls: Option<String>,
    /// Only in a line that names a state; it has no decision.
    #[serde(default)]
    state: Option<String>,
    prev: String,
}

/// Parses a private key in PEM, for signing.
///
/// # Errors
/// The text is not an Ed25519 key.
pub fn signing_key(pem: &str) -> Result<SigningKey, LogError> {
    SigningKey::from_pkcs8_pem(pem).map_err(|_| LogError::NotAKey)
}

/// Parses a key in PEM, for verification: a public key, or the public half of a private key.
///
/// # Errors
/// The text is not an Ed25519 key.
pub fn verifying_key(pem: &str) -> Result<VerifyingKey, LogError> {
    VerifyingKey::from_public_key_pem(pem)
        .map_err(|_| LogError::NotAKey)
        .or_else(|error| Ok(signing_key(pem).map_err(|_| error)?.verifying_key()))
}

/// Compares the key of a log with the expected one.
///
/// # Errors
/// They differ.
pub fn same_key(
    found: Option<&VerifyingKey>,
    expected: Option<&VerifyingKey>,
) -> Result<(), LogError> {
    let name = |key: Option<&VerifyingKey>| {
        key.map_or_else(
            || "no key".to_owned(),
            |key| format!("the key {}", hex(key.as_bytes())),
        )
    };
    match found == expected {
        true => Ok(()),
        false => Err(LogError::Key {
            found: name(found),
            expected: name(expected),
        }),
    }
}

/// Returns bytes as lowercase hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    let digits = |at: usize| u8::from_str_radix(text.get(at..at + 2)?, 16).ok();
    (0..text.len()).step_by(2).map(digits).collect()
}

impl Chain {
    /// Returns a new chain and the first line of its log.
    pub fn begin(identity: &Identity, start: Start) -> (Chain, String) {
        let head = Head {
            guard_log: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            identity: identity.clone(),
            after: Some(start.after),
            follows: start.follows,
            state: start.state.clone(),
            key: start
                .key
                .as_ref()
                .map(|key| hex(key.verifying_key().as_bytes())),
        };
        let mut chain = Chain {
            key: start.key,
            hash: NOTHING.to_owned(),
            last: start.after,
            of_last: 0,
            calls: None,
            state: start.state,
        };
        let mut line = serde_json::to_string(&head).unwrap_or_default();
        line.pop();
        chain.close(&mut line, None);
        (chain, line)
    }

    /// Returns the line of a decision about the input of this number, given at this time, which is to be [closed](Self::close)
    /// before the next one is.
    pub fn line(
        &mut self,
        number: u64,
        now: Option<Instant>,
        input: Pieces<'_>,
        decision: &Decision,
    ) -> String {
        let mut line = format!("{{\"n\":{number},\"at\":");
        match now {
            Some(now) => drop(write!(line, "\"{now}\"")),
            None => line.push_str("null"),
        }
        let _ = write!(line, ",\"input\":\"{}\",\"decision\":", hash_of(input));
        decision.write_json(&mut line);
        self.count(number);
        line
    }

    /// Returns the line that names the state after the last decision, by its hash.
    pub fn state_line(&mut self, state: &str) -> String {
        let mut line = format!("{{\"n\":{},\"state\":\"{state}\"", self.last);
        self.state = Some(state.to_owned());
        self.close(&mut line, None);
        line
    }

    /// Counts one more decision on the input with this number.
    fn count(&mut self, number: u64) {
        self.of_last = if self.last == number {
            self.of_last.saturating_add(1)
        } else {
            1
        };
        self.last = number;
    }

    /// Appends the hash of the line to it, computed with the previous hash, and the signature. `calls` is the hash of the list of
    /// calls that is kept with it.
    pub fn close(&mut self, line: &mut String, calls: Option<&str>) {
        if let Some(calls) = calls {
            let _ = write!(line, ",\"calls\":\"{calls}\"");
            self.calls = Some(calls.to_owned());
        }
        let _ = write!(line, ",\"prev\":\"{}\"", self.hash);
        self.hash = hash(&self.hash, line);
        let _ = write!(line, ",\"hash\":\"{}\"", self.hash);
        if let Some(key) = &self.key {
            let signature = key.sign(signed(&self.hash).as_bytes());
            let _ = write!(line, ",\"sig\":\"{}\"", hex(&signature.to_bytes()));
        }
        line.push_str("}\n");
    }

    /// Returns the number of the input of the last decision.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Returns the hash of the latest list of calls that a line names.
    pub fn calls(&self) -> Option<&str> {
        self.calls.as_deref()
    }

    /// Returns the hash of the latest state that a line names.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// Sets the key that signs the following lines.
    pub fn sign_with(&mut self, key: Option<SigningKey>) {
        self.key = key;
    }

    /// Adds a parsed line to the chain.
    fn follow(&mut self, read: &Line, hash: String) -> Result<(), &'static str> {
        if read.prev != self.hash {
            return Err("refers to a different previous line");
        }
        if read.n < self.last {
            return Err("its number is below that of the line before");
        }
        if read.n > self.last + 1 {
            return Err("the decisions before it are missing");
        }
        self.hash = hash;
        if read.state.is_some() {
            if read.n != self.last {
                return Err("names a state after decisions that are missing");
            }
            self.state.clone_from(&read.state);
            return Ok(());
        }
        self.count(read.n);
        if read.calls.is_some() {
            self.calls.clone_from(&read.calls);
        }
        Ok(())
    }

    /// Returns the hash of the last line. Store it elsewhere to detect a log that was cut short.
    pub fn hash(&self) -> &str {
        &self.hash
    }

    /// Whether the log already contains the `place`-th decision (from 0) on an input.
    pub fn has(&self, number: u64, place: u64) -> bool {
        number < self.last || (number == self.last && place < self.of_last)
    }
}

fn hash_of(input: Pieces<'_>) -> String {
    let mut hasher = blake3::Hasher::new();
    for piece in input {
        hasher.update(piece);
    }
    hasher.finalize().to_hex().to_string()
}

fn hash(before: &str, line: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes()).update(line.as_bytes());
    hasher.finalize().to_hex().to_string()
}

/// Returns the text that is signed for a line.
fn signed(hash: &str) -> String {
    format!("{CONTEXT}{hash}")
}

/// Returns the hash of a line if the line contains the right hash and, given a key, a valid signature.
fn checked(before: &str, line: &str, key: Option<&VerifyingKey>) -> Result<String, &'static str> {
    let (body, rest) = line.rsplit_once(",\"hash\":\"").ok_or("missing hash")?;
    let rest = rest.strip_suffix("\"}").ok_or("does not end in its hash")?;
    let (claimed, signature) = match rest.split_once("\",\"sig\":\"") {
        Some((claimed, signature)) => (claimed, Some(signature)),
        None => (rest, None),
    };
    let found = hash(before, body);
    if found != claimed {
        return Err("wrong hash");
    }
    match (key, signature) {
        (None, None) => {}
        (None, Some(_)) => return Err("signed, but the first line names no key"),
        (Some(_), None) => return Err("missing signature"),
        (Some(key), Some(signature)) => {
            let bytes = from_hex(signature).and_then(|bytes| bytes.try_into().ok());
            let signature = Signature::from_bytes(&bytes.ok_or("invalid signature")?);
            key.verify_strict(signed(&found).as_bytes(), &signature)
                .map_err(|_| "wrong signature")?;
        }
    }
    Ok(found)
}

/// The end of a log, from which it can be continued without reading the whole log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogEnd {
    /// The identity of the monitor that made the decisions.
    pub identity: Identity,
    /// The key that it is signed with.
    pub key: Option<VerifyingKey>,
    /// The end of the chain.
    pub chain: Chain,
    /// The inputs that the last lines record.
    pub inputs: Inputs,
}

/// Returns the end of a log: the contents of its first line, and the chain after `tail`, its last lines. The lines between are
/// not checked here; [`verify`] detects a changed line there, even after more lines were added.
///
/// Returns `None` if the last lines are too few or invalid.
pub fn resume(first: &str, tail: &str) -> Option<LogEnd> {
    let head: Head = serde_json::from_str(first).ok()?;
    let key = head.key().ok()?;
    // A journal that was created together with the log refers to the first line.
    let head_hash = checked(NOTHING, first, key.as_ref()).ok()?;
    if head.guard_log != VERSION {
        return None;
    }
    let mut end: Option<Chain> = None;
    let (mut inputs, mut n_inputs) = (Inputs::default(), 0);
    inputs.lines.push(head_hash);
    inputs.lines.extend(head.follows);
    for line in tail.lines() {
        let read: Line = serde_json::from_str(line).ok()?;
        let mut chain = end.unwrap_or_else(|| Chain {
            key: None,
            hash: read.prev.clone(),
            // A state is named after all decisions on an input.
            last: read.n.saturating_sub(u64::from(read.state.is_none())),
            of_last: if read.state.is_some() { u64::MAX } else { 0 },
            calls: None,
            state: None,
        });
        let hash = checked(&chain.hash, line, key.as_ref()).ok()?;
        n_inputs += u64::from(read.n > chain.last);
        chain.follow(&read, hash).ok()?;
        inputs.follow(read, &chain.hash);
        end = Some(chain);
    }
    // Earlier decisions on the first input may be before the tail.
    let chain = end.filter(|_| n_inputs > 1)?;
    Some(LogEnd {
        identity: head.identity,
        key,
        chain,
        inputs,
    })
}

/// Whether a file without a complete line is a log whose first line was interrupted while being written: any other file is not to be
/// replaced, nor is a log whose line ends were changed.
pub fn is_begun(bytes: &[u8]) -> bool {
    let begun = &bytes[..bytes.len().min(BEGIN.len())];
    let ends = memchr::memchr(b'}', bytes);
    BEGIN.starts_with(begun) && ends.is_none_or(|end| end + 1 == bytes.len())
}

/// Verifies a log. A last line without a line end was interrupted while being written and is ignored.
///
/// # Errors
/// See [`LogError`].
pub fn verify(text: &[u8]) -> Result<Verified, LogError> {
    let mut chain = Chain {
        key: None,
        hash: NOTHING.to_owned(),
        last: 0,
        of_last: 0,
        calls: None,
        state: None,
    };
    let mut head: Option<(Head, Option<VerifyingKey>)> = None;
    let mut inputs = Inputs::default();
    let (mut decisions, mut whole, mut at, mut number) = (0, 0, 0, 0u64);
    while let Some(end) = text.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
        let line = &text[at..at + end];
        at += end + 1;
        number += 1;
        let broken = |why| LogError::Broken { line: number, why };
        let line = std::str::from_utf8(line).map_err(|_| broken("not a string"))?;
        let Some((head, key)) = &head else {
            let first: Head = serde_json::from_str(line).map_err(|_| LogError::NotALog)?;
            if first.guard_log != VERSION {
                return Err(LogError::Version {
                    found: first.guard_log,
                });
            }
            let key = first.key().map_err(broken)?;
            chain.hash = checked(NOTHING, line, key.as_ref()).map_err(broken)?;
            chain.last = first.after.unwrap_or(0);
            chain.state.clone_from(&first.state);
            inputs.lines.push(chain.hash.clone());
            inputs.lines.extend(first.follows.clone());
            head = Some((first, key));
            whole = at;
            continue;
        };
        let found = checked(&chain.hash, line, key.as_ref()).map_err(broken)?;
        let read: Line = serde_json::from_str(line).map_err(|_| broken("not a decision"))?;
        if decisions == 0 && head.after.is_none() {
            chain.last = read.n.saturating_sub(1);
        }
        chain.follow(&read, found).map_err(broken)?;
        decisions += u64::from(read.state.is_none());
        inputs.follow(read, &chain.hash);
        whole = at;
    }
    let (head, key) = head.ok_or(LogError::NotALog)?;
    Ok(Verified {
        identity: head.identity,
        decisions,
        follows: head.follows,
        key,
        chain,
        inputs,
        whole,
    })
}

#[cfg(test)]
mod tests {
    use super::super::decision::Cause;
    use super::*;

    fn link(chain: &mut Chain, number: u64, decision: &Decision) -> String {
        let mut line = chain.line(number, None, [b"x", b"", b""], decision);
        chain.close(&mut line, None);
        line
    }

    #[test]
    fn the_end_of_a_log_is_enough_to_go_on() {
        let (mut chain, first) = Chain::begin(&Identity::default(), Start::default());
        let mut lines = Vec::new();
        for number in [1, 2, 3, 3, 3, 4, 4] {
            let decision = Decision::new(Cause::Event);
            lines.push(link(&mut chain, number, &decision));
        }
        let from = |place: usize| resume(first.trim_end(), &lines[place..].concat());
        for place in 0..5 {
            let end = from(place).map(|end| (end.identity, end.chain));
            assert_eq!(end, Some((Identity::default(), chain.clone())));
        }
        let inputs = from(2).map(|end| end.inputs).unwrap_or_default();
        assert!(
            inputs.differs(4, [b"y", b"", b""])
                && !inputs.differs(4, [b"", b"x", b""])
                && !inputs.differs(1, [b"y", b"", b""])
        );
        assert!(inputs.has_line(chain.hash()) && !inputs.has_line(NOTHING));
        // All lines are about one input, so there may be earlier decisions.
        assert_eq!(from(5), None);
        let changed = lines[3..].concat().replace("\"n\":3", "\"n\":2");
        assert_eq!(resume(first.trim_end(), &changed), None);
    }

    #[test]
    fn a_signed_log_takes_no_line_without_the_key() -> Result<(), LogError> {
        let key = SigningKey::from_bytes(&[7; 32]);
        let start = |key: &SigningKey| Start {
            key: Some(key.clone()),
            ..Start::default()
        };
        let decision = Decision::new(Cause::Event);
        let (mut chain, mut text) = Chain::begin(&Identity::default(), start(&key));
        for number in 1..4 {
            text.push_str(&link(&mut chain, number, &decision));
        }
        let verified = verify(text.as_bytes())?;
        assert_eq!(
            (verified.decisions, verified.key),
            (3, Some(key.verifying_key()))
        );
        assert_eq!(verified.chain.hash(), chain.hash());
        // A line added by somebody else, with a valid hash.
        for other in [None, Some(SigningKey::from_bytes(&[8; 32]))] {
            let mut forged = chain.clone();
            forged.sign_with(other);
            let line = link(&mut forged, 4, &decision);
            assert!(
                verify(format!("{text}{line}").as_bytes()).is_err(),
                "{line}"
            );
        }
        // A log written by somebody else has another key.
        let other = SigningKey::from_bytes(&[8; 32]).verifying_key();
        assert!(same_key(verified.key.as_ref(), Some(&other)).is_err());
        assert!(same_key(None, Some(&other)).is_err());
        same_key(verified.key.as_ref(), Some(&key.verifying_key()))
    }

    #[test]
    fn a_first_line_that_was_interrupted_is_no_other_file() {
        let (_, first) = Chain::begin(&Identity::default(), Start::default());
        let line = first.trim_end();
        assert!((0..=line.len()).all(|cut| is_begun(&line.as_bytes()[..cut])));
        for other in ["a text", "{\"a\":1", &format!("{line} {line}")] {
            assert!(!is_begun(other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn no_line_can_be_changed_moved_or_taken_out() {
        let (mut chain, mut text) = Chain::begin(&Identity::default(), Start::default());
        for number in 1..5 {
            let decision = Decision::new(Cause::Event);
            text.push_str(&link(&mut chain, number, &decision));
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
