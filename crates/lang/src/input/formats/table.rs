//! Tables: a header row, then one event per row.
//!
//! Columns become members of the event, dotted headers nest, and an empty cell is absent. A cell that is a JSON number,
//! `true` or `false` becomes that; everything else is a text, but in the columns `args` and `result` JSON is read.

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::json_text::{self, Refusal};
use super::shape::{get, id, is_object, object, string};
use super::spans::rfc3339;
use super::trace::{Out, Trace};
use super::units::{Item, flat};
use super::{Input, ItemPlace, Refused};
use crate::input::document::{unknown, why};
use crate::problem::ProblemKind;
use crate::value::{Instant, Number, Value};

/// Columns that name the trace of a row.
const TRACE: [&str; 5] = ["trace", "trace_id", "case", "case_id", "case:concept:name"];
const ACTIVITY: [&str; 3] = ["activity", "concept:name", "event"];
const TIME: [&str; 4] = ["timestamp", "time:timestamp", "time", "complete_timestamp"];
const AGENT: [&str; 3] = ["resource", "org:resource", "actor"];

/// Reads a table in text form; the separator is the first of comma, semicolon, tab and bar that the header has most of.
pub(super) fn read(bytes: &[u8], out: &mut Out) {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let header = bytes.split(|byte| *byte == b'\n').next().unwrap_or(bytes);
    let begin = header.trim_ascii();
    let json: [&[u8]; 2] = [b"{\"", b"[{"];
    if matches!(begin, b"[" | b"{") || json.iter().any(|json| begin.starts_with(json)) {
        out.lose_item(
            "expected a table for `csv`, found JSON",
            ItemPlace::default(),
        );
        return;
    }
    let separator = separator(header);
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(separator)
        .flexible(true)
        .from_reader(bytes);
    let columns: Vec<SmolStr> = match reader.byte_headers() {
        Ok(header) => header
            .iter()
            .map(|name| SmolStr::new(String::from_utf8_lossy(name).trim()))
            .collect(),
        Err(error) => {
            out.lose_item(
                format!("a table without a header: {error}"),
                ItemPlace::default(),
            );
            return;
        }
    };
    let written = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
    let written = bytes.get(..written).unwrap_or(bytes);
    if let Err(message) = quotes(written, separator) {
        out.refuse(Refused {
            line: 1,
            lines: lines(bytes),
            kind: ProblemKind::Malformed,
            message: message.to_owned(),
        });
        return;
    }
    let is_text = |header: &csv::ByteRecord| header.iter().all(|name| str::from_utf8(name).is_ok());
    if !reader.byte_headers().is_ok_and(is_text) {
        out.refuse(Refused {
            line: 1,
            lines: lines(bytes),
            kind: ProblemKind::InvalidUtf8,
            message: "the header is not UTF-8".to_owned(),
        });
        return;
    }
    if let Some(twice) = twice(&columns) {
        out.refuse(Refused {
            line: 1,
            lines: lines(bytes),
            kind: ProblemKind::DuplicateKey,
            message: format!("duplicate column `{twice}` in the header"),
        });
        return;
    }
    let mut rows: Vec<(u64, Value)> = Vec::new();
    let mut row = csv::ByteRecord::new();
    let mut places = Places { at: 0, line: 1 };
    loop {
        let begin = reader.position().byte();
        let read = reader.read_byte_record(&mut row);
        let written = places.written(bytes, begin, reader.position().byte());
        let line = places.line;
        let place = ItemPlace {
            line: Some(line),
            index: None,
        };
        match read {
            Ok(false) => break,
            Ok(true) => {
                if let Err(message) = quotes(written, separator) {
                    out.refuse(Refused {
                        line,
                        lines: lines(written),
                        kind: ProblemKind::Malformed,
                        message: message.to_owned(),
                    });
                    continue;
                }
                if row.len() > columns.len() {
                    let extra = row.len() - columns.len();
                    out.lose_parts("cells without a column in the header", extra as u64, place);
                }
                let cells = columns.iter().zip(row.iter());
                let unnamed = cells.filter(|(name, cell)| name.is_empty() && !cell.is_empty());
                out.lose_parts(
                    "cells of columns without a name",
                    unnamed.count() as u64,
                    place,
                );
                rows.push((line, record(&columns, &row)));
            }
            Err(error) => {
                out.lose_item(format!("invalid row: {error}"), place);
                break;
            }
        }
    }
    let items: Vec<Item<'_>> = rows
        .iter()
        .map(|(line, value)| Item {
            value,
            line: Some(*line),
        })
        .collect();
    let tells = columns.iter().any(|column| tells_kind(column));
    traces(&items, true, tells, out);
}

/// Returns a name that two columns have. Columns without a name are ignored.
fn twice(columns: &[SmolStr]) -> Option<&SmolStr> {
    let mut seen = rustc_hash::FxHashSet::default();
    let mut named = columns.iter().filter(|name| !name.is_empty());
    named.find(|name| !seen.insert(*name))
}

/// Returns the number of lines that have something on them.
fn lines(bytes: &[u8]) -> u64 {
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter(|line| !line.trim_ascii().is_empty()).count() as u64
}

/// The positions of the rows.
struct Places {
    /// The byte up to which lines were counted, and the line it is on.
    at: usize,
    line: u64,
}

impl Places {
    /// Returns the row between two bytes as written; line ends before it belong to the rows above.
    fn written<'b>(&mut self, bytes: &'b [u8], begin: u64, end: u64) -> &'b [u8] {
        let place = |byte: u64| usize::try_from(byte).unwrap_or(usize::MAX).min(bytes.len());
        let (mut begin, end) = (place(begin), place(end));
        while begin < end && bytes.get(begin).is_some_and(|byte| b"\r\n".contains(byte)) {
            begin += 1;
        }
        let passed = bytes.get(self.at..begin).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', passed).count() as u64;
        self.at = begin;
        bytes.get(begin..end).unwrap_or_default()
    }
}

/// Whether the quotes of a row are sound (RFC 4180): where one is missing, the rows that follow would become part of a cell.
fn quotes(written: &[u8], separator: u8) -> Result<(), &'static str> {
    if memchr::memchr(b'"', written).is_none() {
        return Ok(());
    }
    let mut bytes = written.iter().copied().peekable();
    // Whether a cell begins here.
    let mut begins = true;
    while let Some(byte) = bytes.next() {
        if byte != b'"' || !begins {
            begins = byte == separator;
            continue;
        }
        loop {
            match bytes.next() {
                None => return Err("unclosed quote"),
                Some(b'"') if bytes.peek() == Some(&b'"') => {
                    bytes.next();
                }
                Some(b'"') => break,
                Some(_) => {}
            }
        }
        begins = false;
        let after = bytes.peek().copied();
        if after.is_some_and(|after| after != separator && !b"\r\n".contains(&after)) {
            return Err("text after the closing quote of a cell");
        }
    }
    Ok(())
}

/// Reads rows that are objects already.
pub(super) fn read_rows(input: &Input<'_>, out: &mut Out) {
    let rows = flat(input, &["rows"]);
    let tells = rows.iter().any(|row| match row.value {
        Value::Object(cells) => cells.iter().any(|(name, _)| tells_kind(name)),
        _ => false,
    });
    traces(&rows, false, tells, out);
}

pub(super) fn separator(header: &[u8]) -> u8 {
    let count = |separator: u8| header.iter().filter(|byte| **byte == separator).count();
    let mut best = b',';
    for candidate in [b';', b'\t', b'|'] {
        if count(candidate) > count(best) {
            best = candidate;
        }
    }
    best
}

/// Returns a row as an object of its cells, by column.
fn record(columns: &[SmolStr], row: &csv::ByteRecord) -> Value {
    let mut members: Vec<(SmolStr, Value)> = Vec::with_capacity(columns.len());
    for (name, cell) in columns.iter().zip(row.iter()) {
        if cell.is_empty() || name.is_empty() {
            continue;
        }
        let value = match str::from_utf8(cell) {
            Ok(text) => self::cell(name, text),
            Err(_) => unknown(ProblemKind::InvalidUtf8),
        };
        members.push((name.clone(), value));
    }
    // An empty cell is absent; one that the row does not reach was cut off, or the cells before it are those of others.
    let missing = columns.get(row.len()..).unwrap_or_default();
    for name in missing.iter().filter(|name| !name.is_empty()) {
        members.push((name.clone(), unknown(ProblemKind::Malformed)));
    }
    object(members)
}

/// Members of the canonical event that are texts, whatever their cells look like.
const TEXTS: [&str; 6] = ["kind", "role", "text", "tool", "call", "agent"];

fn cell(column: &str, text: &str) -> Value {
    if is_one(column, &TEXTS) || is_one(column, &TRACE) || is_one(column, &ACTIVITY) {
        return Value::string(text);
    }
    match text {
        "true" => return Value::Bool(true),
        "false" => return Value::Bool(false),
        _ => {}
    }
    let whole = text.strip_prefix('-').unwrap_or(text);
    let padded = whole.len() > 1 && whole.starts_with('0') && !whole.starts_with("0.");
    if whole.starts_with(|first: char| first.is_ascii_digit())
        && !padded
        && let Ok(Value::Number(number)) = json_text::parse(text)
    {
        return exact(number, text);
    }
    Value::string(text)
}

/// Times are often decimals with more digits than a float holds: such a cell stays a text that reads back exactly.
fn exact(number: Number, text: &str) -> Value {
    match &number {
        Number::Float(float) if text.len() > 17 && float.get().to_string() != text => {
            Value::string(text)
        }
        _ => Value::Number(number),
    }
}

/// Reads rows; in those of a `text`, cells may be missing or no text. `tells`: whether a column tells the kind of each event.
fn traces(items: &[Item<'_>], text: bool, tells: bool, out: &mut Out) {
    let mut traces: IndexMap<Option<SmolStr>, Vec<&Item<'_>>> = IndexMap::new();
    for item in items {
        if !is_object(item.value) {
            let place = ItemPlace {
                line: item.line,
                index: None,
            };
            out.lose_item("values that are not rows", place);
            continue;
        }
        let name = column(item.value, &TRACE).and_then(|name| id(Some(name)));
        traces.entry(name).or_default().push(item);
    }
    for (n, (name, rows)) in traces.into_iter().enumerate() {
        let line = rows.first().and_then(|row| row.line);
        let mut trace = out.trace(name, u32::try_from(n).unwrap_or(u32::MAX), line);
        for (index, row) in rows.iter().enumerate() {
            trace.item(index, row.line, row.value, None, None);
            if text {
                not_read(&mut trace, row.value);
            }
            let (event, lost) = event(&mut trace, row.value, tells);
            trace.push_as_it_is(event);
            let place = ItemPlace {
                line: row.line,
                index: u32::try_from(index).ok(),
            };
            out.lose_parts("cells below a column that has a value itself", lost, place);
        }
        trace.finish(out);
    }
}

/// Reports the cells that a row lacks, and those that are no text.
fn not_read(trace: &mut Trace, row: &Value) {
    let Value::Object(cells) = row else {
        return;
    };
    let all = |kind| {
        let cells = cells
            .iter()
            .filter(move |(_, cell)| why(cell) == Some(kind));
        cells.map(|(name, _)| name)
    };
    let kind = ProblemKind::InvalidUtf8;
    for name in all(kind) {
        let message = format!("the cell `{name}` is not UTF-8");
        trace.fault("raw", Refusal { kind, message });
    }
    let kind = ProblemKind::Malformed;
    let Some(first) = all(kind).next() else {
        return;
    };
    let message = match all(kind).count() {
        1 => format!("the row ends before its last cell, `{first}`"),
        missing => format!("the row ends before its last {missing} cells, from `{first}` on"),
    };
    trace.fault("raw", Refusal { kind, message });
}

/// Returns the cell of a column of one of these names, written as they are or with blanks and capitals.
fn column<'a>(row: &'a Value, names: &[&str]) -> Option<&'a Value> {
    let exact = names.iter().find_map(|name| get(row, name));
    exact.or_else(|| match row {
        Value::Object(cells) => {
            let mut cells = cells.iter();
            cells.find_map(|(name, cell)| is_one(name, names).then_some(cell))
        }
        _ => None,
    })
}

/// Whether a column has one of these names, written as they are or with blanks and capitals (`Case ID`).
fn is_one(column: &str, names: &[&str]) -> bool {
    let plain = |byte: u8| match byte {
        b' ' | b'-' => b'_',
        byte => byte.to_ascii_lowercase(),
    };
    let is = |name: &&str| name.len() == column.len() && name.bytes().eq(column.bytes().map(plain));
    names.iter().any(is)
}

/// Whether a column has the kind, the tool or the activity of an event.
fn tells_kind(column: &str) -> bool {
    is_one(column, &["kind", "tool"]) || is_one(column, &ACTIVITY)
}

/// Returns the members that we know by another name, then the columns, nested at their dots; and the number of cells that have no
/// place of their own. The kind is not known unless a column `tells` it.
fn event(trace: &mut Trace, row: &Value, tells: bool) -> (Value, u64) {
    let member = |name| column(row, &[name]);
    let when = member("at").or_else(|| column(row, &TIME)).map(moment);
    let tool = member("tool").or_else(|| column(row, &ACTIVITY));
    let kind = member("kind").cloned().or(match tool {
        Some(_) => Some(string("call")),
        None => tells.then(|| string("other")),
    });
    let role = member("role").cloned().or(match kind.as_ref() {
        Some(Value::String(kind)) if kind.as_str() == "call" => Some(string("assistant")),
        Some(Value::String(kind)) if kind.as_str() == "result" => Some(string("tool")),
        _ => None,
    });
    let index = member("index").cloned();
    let index = index.unwrap_or_else(|| Value::int(trace.index().into()));
    let agent = member("agent").or_else(|| column(row, &AGENT));
    let known = [
        ("index", Some(&index)),
        ("kind", kind.as_ref()),
        ("role", role.as_ref()),
        ("tool", tool),
        ("at", when.as_ref()),
        ("agent", agent),
        ("raw", Some(row)),
    ];
    let mut members = Members::new();
    for (name, value) in known {
        if let Some(value) = value {
            members.insert(name.into(), Member::Value(value.clone()));
        }
    }
    let mut lost = 0;
    if let Value::Object(cells) = row {
        let cells = cells.iter();
        for (name, value) in cells.filter(|(name, _)| known.iter().all(|known| known.0 != *name)) {
            let read = match name.as_str() {
                "args" => trace.written_args(value),
                "result" => trace.written_result(value),
                _ => Some(value.clone()),
            };
            if let Some(value) = read
                && !nest(&mut members, name, value)
            {
                lost += 1;
            }
        }
    }
    (nested(members), lost)
}

/// Returns a time as recorded; seconds with more digits than a float holds become a date, which is exact.
fn moment(cell: &Value) -> Value {
    let Value::String(text) = cell else {
        return cell.clone();
    };
    Instant::from_decimal(text, Instant::SECOND)
        .and_then(rfc3339)
        .unwrap_or_else(|| cell.clone())
}

/// The members of an event, by name.
type Members = IndexMap<SmolStr, Member>;

/// A member of an event: a value, or the columns below a dotted name.
enum Member {
    Value(Value),
    Below(Members),
}

/// Puts a cell below its dotted name. Returns whether its place was free; if not, the cell is in `raw` only.
fn nest(members: &mut Members, name: &str, value: Value) -> bool {
    let (head, rest) = match name.split_once('.') {
        Some((head, rest)) if !head.is_empty() && !rest.is_empty() => (head, Some(rest)),
        _ => (name, None),
    };
    match (members.get_mut(head), rest) {
        (None, None) => {
            members.insert(head.into(), Member::Value(value));
            true
        }
        (None, Some(rest)) => {
            let mut below = Members::new();
            let is_free = nest(&mut below, rest, value);
            members.insert(head.into(), Member::Below(below));
            is_free
        }
        (Some(Member::Below(below)), Some(rest)) => nest(below, rest, value),
        (Some(_), _) => false,
    }
}

fn nested(members: Members) -> Value {
    let value = |member| match member {
        Member::Value(value) => value,
        Member::Below(below) => nested(below),
    };
    object(
        members
            .into_iter()
            .map(|(name, member)| (name, value(member)))
            .collect(),
    )
}
