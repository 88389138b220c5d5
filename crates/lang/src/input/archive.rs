//! Zip archives of Inspect AI (`.eval`) as a stream of JSON: each sample is a log of its own, on one line.
//!
//! Only the names and places of members are taken from the directory at the end of the archive. One member is in memory at a
//! time. A member that cannot be read is skipped, and the stream ends with an error that names the first skipped member, so
//! that one damaged sample does not hide the others.
//!
//! This module parses the directory itself: a crate for archives would add writers, encryption and decoders with other limits,
//! and the required decoders are dependencies already.

use std::collections::{HashMap, HashSet, VecDeque};
use std::io::{self, Cursor, Read, Seek, SeekFrom};

use serde_json::value::RawValue;

use super::limits::InputLimits;

/// The first bytes of an archive: of a member, or of the directory of an empty one.
pub(super) const MAGIC: [[u8; 4]; 2] = [*b"PK\x03\x04", *b"PK\x05\x06"];

/// The longest end of an archive: its record, and a comment.
const END: u64 = 22 + (1 << 16);

/// The longest member of `eval` that is repeated for each sample.
const FACT: usize = 4 << 10;

/// Returns the samples of an archive as logs of one sample each.
///
/// # Errors
/// It has no directory, or is not a log of Inspect.
pub(super) fn samples<R: Read + Seek + Send + 'static>(
    mut from: R,
    limits: &InputLimits,
) -> io::Result<Box<dyn Read + Send>> {
    let len = from.seek(SeekFrom::End(0))?;
    let members = directory(&mut from, len, limits)?;
    let mut archive = Archive {
        from,
        limits: *limits,
        left: limits.decompressed_bytes.min(
            len.saturating_mul(limits.expansion)
                .max(super::open::ANY_RATIO),
        ),
    };
    let named: HashMap<&str, &Member> = members
        .iter()
        .map(|member| (member.name.as_str(), member))
        .collect();
    let start = ["_journal/start.json", "header.json"]
        .iter()
        .find_map(|name| named.get(name));
    let Some(start) = start else {
        return Err(io::Error::other(
            "a zip archive without `header.json`: not a log of Inspect",
        ));
    };
    let start = archive.member(start)?;
    let head = head(&start).map_err(|error| {
        io::Error::other(format!("the header of the log is not valid JSON: {error}"))
    })?;
    let mut faults = Faults::default();
    if let Some(summaries) = named.get("summaries.json") {
        match archive.member(summaries) {
            Ok(text) => faults.missing(&text, &named),
            Err(error) => faults.add("summaries.json", &error),
        }
    }
    // Of members with one name the last one counts, as for Inspect: it writes a sample anew when it is scored again.
    let mut known = HashSet::new();
    let mut queue: VecDeque<Member> = members
        .iter()
        .rev()
        .filter(|member| member.name.starts_with("samples/") && member.name.ends_with(".json"))
        .filter(|member| known.insert(member.name.clone()))
        .cloned()
        .collect();
    queue.make_contiguous().reverse();
    Ok(Box::new(Samples {
        archive,
        head,
        queue,
        faults,
        now: Cursor::new(Vec::new()),
    }))
}

/// An entry of the directory.
#[derive(Clone, Debug)]
struct Member {
    name: String,
    method: u16,
    encrypted: bool,
    crc: u32,
    compressed: u64,
    offset: u64,
}

/// A number of two, four or eight bytes, the lowest first.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |all, byte| all << 8 | u64::from(*byte)),
    )
}

fn damaged(what: &str) -> io::Error {
    io::Error::other(format!("a truncated or damaged zip archive: {what}"))
}

fn read_at(from: &mut (impl Read + Seek), at: u64, len: u64) -> io::Result<Vec<u8>> {
    from.seek(SeekFrom::Start(at))?;
    let mut bytes = Vec::new();
    from.take(len).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn directory(
    from: &mut (impl Read + Seek),
    len: u64,
    limits: &InputLimits,
) -> io::Result<Vec<Member>> {
    let none = || damaged("it has no directory at its end");
    let tail_at = len.saturating_sub(END);
    let tail = read_at(from, tail_at, END)?;
    let end = tail.windows(22).enumerate().rev().find(|(at, record)| {
        let comment = number(record, 20, 2).unwrap_or_default() as usize;
        record.starts_with(b"PK\x05\x06") && at + 22 + comment == tail.len()
    });
    let (end_at, record) = end.ok_or_else(none)?;
    let field = |at, width| number(record, at, width).ok_or_else(none);
    let (mut count, mut size, mut start) = (field(10, 2)?, field(12, 4)?, field(16, 4)?);
    // The record of larger archives stands before the end, behind a pointer of twenty bytes.
    let locator = end_at
        .checked_sub(20)
        .and_then(|at| tail.get(at..at + 20))
        .filter(|locator| locator.starts_with(b"PK\x06\x07"));
    if let Some(at) = locator.and_then(|locator| number(locator, 8, 8)) {
        let record = read_at(from, at, 56)?;
        if !record.starts_with(b"PK\x06\x06") {
            return Err(none());
        }
        let field = |at| number(&record, at, 8).ok_or_else(none);
        (count, size, start) = (field(32)?, field(40)?, field(48)?);
    }
    if size > limits.record_bytes as u64 {
        return Err(io::Error::other(format!(
            "its directory is {}",
            limits.too_long()
        )));
    }
    let entries = read_at(from, start, size)?;
    let mut members = Vec::new();
    let mut at = 0;
    for _ in 0..count {
        let (member, next) =
            entry(&entries, at).ok_or_else(|| damaged("its directory ends early"))?;
        members.push(member);
        at = next;
    }
    Ok(members)
}

/// Returns the entry of the directory at a place, and where the next one begins.
fn entry(entries: &[u8], at: usize) -> Option<(Member, usize)> {
    let field = |from, width| number(entries, at + from, width);
    if !entries.get(at..)?.starts_with(b"PK\x01\x02") {
        return None;
    }
    let [name_len, extra_len, comment_len] =
        [field(28, 2)?, field(30, 2)?, field(32, 2)?].map(|len| len as usize);
    let name_end = at + 46 + name_len;
    let name = String::from_utf8_lossy(entries.get(at + 46..name_end)?).into_owned();
    let extra = entries.get(name_end..name_end + extra_len)?;
    let (mut compressed, mut offset) = (field(20, 4)?, field(42, 4)?);
    const WIDE: u64 = u32::MAX as u64;
    // Numbers that do not fit stand in an extra field, in this order, if they are marked.
    if let Some(mut wide) = extra_field(extra, 1) {
        let mut take = || {
            let number = number(wide, 0, 8)?;
            wide = wide.get(8..)?;
            Some(number)
        };
        if field(24, 4)? == WIDE {
            take()?;
        }
        if compressed == WIDE {
            compressed = take()?;
        }
        if offset == WIDE {
            offset = take()?;
        }
    }
    let member = Member {
        name,
        method: field(10, 2)? as u16,
        encrypted: field(8, 2)? & 1 == 1,
        crc: field(16, 4)? as u32,
        compressed,
        offset,
    };
    Some((member, name_end + extra_len + comment_len))
}

fn extra_field(mut extra: &[u8], wanted: u64) -> Option<&[u8]> {
    loop {
        let (id, len) = (number(extra, 0, 2)?, number(extra, 2, 2)? as usize);
        let body = extra.get(4..4 + len)?;
        if id == wanted {
            return Some(body);
        }
        extra = extra.get(4 + len..)?;
    }
}

struct Archive<R> {
    from: R,
    limits: InputLimits,
    /// Bytes that all members together may still decompress to: entries may share their compressed bytes.
    left: u64,
}

impl<R: Read + Seek> Archive<R> {
    fn member(&mut self, member: &Member) -> io::Result<Vec<u8>> {
        if member.encrypted {
            return Err(io::Error::other("is encrypted"));
        }
        let local = read_at(&mut self.from, member.offset, 30)?;
        let cut = || io::Error::other("is cut off");
        if !local.starts_with(&MAGIC[0]) {
            return Err(cut());
        }
        let before = [26, 28].map(|at| number(&local, at, 2).unwrap_or_default());
        let skipped = i64::try_from(before.iter().sum::<u64>()).unwrap_or(i64::MAX);
        self.from.seek(SeekFrom::Current(skipped))?;
        let packed = (&mut self.from).take(member.compressed);
        let most = self.left.min(self.limits.record_bytes as u64);
        let mut bytes = Vec::new();
        let text: &mut dyn Read = match member.method {
            0 => &mut { packed },
            8 => &mut flate2::read::DeflateDecoder::new(packed),
            93 => &mut zstd::stream::read::Decoder::new(packed)?,
            method => {
                let why = format!("is compressed by the unknown method {method}");
                return Err(io::Error::other(why));
            }
        };
        let read = text.take(most + 1).read_to_end(&mut bytes);
        let read =
            read.map_err(|error| io::Error::other(format!("cannot be decompressed: {error}")))?;
        self.left = self.left.saturating_sub(read as u64);
        if read as u64 > most {
            let limits = &self.limits;
            return Err(io::Error::other(match most == limits.record_bytes as u64 {
                true => format!("is {}", limits.too_long()),
                false => format!(
                    "decompresses to more than the archive may (limits `decompressed_bytes`: {}, `expansion`: {})",
                    limits.decompressed_bytes, limits.expansion
                ),
            }));
        }
        let mut crc = flate2::Crc::new();
        crc.update(&bytes);
        match crc.sum() == member.crc {
            true => Ok(bytes),
            false => Err(io::Error::other("is damaged: its checksum differs")),
        }
    }
}

/// Returns the beginning of the log of one sample: what is known of the whole log, up to the sample.
fn head(start: &[u8]) -> Result<String, serde_json::Error> {
    type Members<'a> = std::collections::BTreeMap<String, &'a RawValue>;
    #[derive(serde::Deserialize)]
    struct Start<'a> {
        #[serde(borrow)]
        version: Option<&'a RawValue>,
        #[serde(borrow, default)]
        eval: Members<'a>,
    }
    let mut start: Start<'_> = serde_json::from_slice(start)?;
    // The ids of all samples, for one, are not repeated for each of them.
    start.eval.retain(|_, value| value.get().len() <= FACT);
    let version = start.version.map_or("null", RawValue::get);
    let eval = serde_json::to_string(&start.eval)?;
    Ok(format!(
        r#"{{"version":{version},"eval":{eval},"samples":["#
    ))
}

/// Members that could not be read.
#[derive(Debug, Default)]
struct Faults {
    count: u64,
    first: String,
}

impl Faults {
    fn add(&mut self, name: &str, why: impl std::fmt::Display) {
        if self.count == 0 {
            self.first = format!("member `{name}` of the archive {why}");
        }
        self.count += 1;
    }

    /// Adds the samples that the log lists and does not have.
    fn missing(&mut self, summaries: &[u8], named: &HashMap<&str, &Member>) {
        #[derive(serde::Deserialize)]
        struct Summary {
            id: serde_json::Value,
            epoch: u64,
        }
        let summaries: Vec<Summary> = match serde_json::from_slice(summaries) {
            Ok(summaries) => summaries,
            // Scores may be `NaN`, which is no JSON: then nothing is known to be missing.
            Err(_) => return,
        };
        for Summary { id, epoch } in summaries {
            let id = match id {
                serde_json::Value::String(id) => id,
                other => other.to_string(),
            };
            let name = format!("samples/{id}_epoch_{epoch}.json");
            if !named.contains_key(name.as_str()) {
                self.add(&name, "is missing");
            }
        }
    }

    fn error(&mut self) -> Option<io::Error> {
        let count = std::mem::take(&mut self.count);
        let more = match count {
            0 => return None,
            1 => String::new(),
            count => format!(" ({} more could not be read)", count - 1),
        };
        Some(io::Error::other(format!("{}{more}", self.first)))
    }
}

struct Samples<R> {
    archive: Archive<R>,
    head: String,
    queue: VecDeque<Member>,
    faults: Faults,
    now: Cursor<Vec<u8>>,
}

impl<R: Read + Seek> Read for Samples<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.now.read(into)?;
            if count > 0 || into.is_empty() {
                return Ok(count);
            }
            let Some(member) = self.queue.pop_front() else {
                return self.faults.error().map_or(Ok(0), Err);
            };
            match self.archive.member(&member) {
                Ok(sample) => {
                    let parts = [self.head.as_bytes(), &sample, b"]}\n"];
                    self.now = Cursor::new(parts.concat());
                }
                Err(error) => self.faults.add(&member.name, error),
            }
        }
    }
}
