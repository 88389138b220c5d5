//! A whole JSON text as a [`Value`] tree, for readers that look at it from many sides.
//!
//! # What cannot be known
//! A tree has no place for "unknown", and losing a whole document for one `NaN` would be wrong. So a value that
//! cannot be known is a *stand-in*: a [`Value`] that no JSON text has, made by [`unknown`] and recognised by [`why`].
//! It travels with the subtree that it is in, so a reader that moves subtrees into canonical events need not know of
//! it; the projection makes every cell that is a stand-in, or contains one, unknown. Stand-ins are
//! * `NaN`, `Infinity` and numbers beyond a float (`1e999`),
//! * strings with half a surrogate pair, which are no text,
//! * objects with a key twice: the whole object, since it cannot be told which copy another reader believes.

use std::sync::Arc;

use jiter::Peek;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::limits::InputLimits;
use super::quick::Quoted;
use super::scan::{Fault, FaultKind, HALF_PAIR, Lexeme, Scanner};
use crate::problem::ProblemKind;
use crate::value::{EnumValue, Number, Object, Text, Value};

/// No spec has this many enums.
const STAND_IN: u16 = u16::MAX;

/// Returns the stand-in for a value that cannot be known.
pub fn unknown(why: ProblemKind) -> Value {
    let index = match why {
        ProblemKind::DuplicateKey => 1,
        ProblemKind::InvalidUtf8 => 2,
        ProblemKind::Malformed => 3,
        _ => 0,
    };
    Value::Enum(EnumValue {
        of: STAND_IN,
        index,
    })
}

/// Returns the problem of a value that is a placeholder.
pub fn why(value: &Value) -> Option<ProblemKind> {
    match value {
        Value::Enum(EnumValue {
            of: STAND_IN,
            index,
        }) => Some(match index {
            1 => ProblemKind::DuplicateKey,
            2 => ProblemKind::InvalidUtf8,
            3 => ProblemKind::Malformed,
            _ => ProblemKind::Number,
        }),
        _ => None,
    }
}

/// Returns the problem of a value that is a placeholder or contains one.
pub(crate) fn why_within(value: &Value) -> Option<ProblemKind> {
    match value {
        Value::List(items) => items.iter().find_map(why_within),
        Value::Object(object) => object.iter().find_map(|(_, member)| why_within(member)),
        other => why(other),
    }
}

/// A parsed document.
#[derive(Clone, Debug)]
pub struct Document {
    /// The tree, with stand-ins for what cannot be known.
    pub value: Value,
    /// The losses that placeholders represent, in the order of the text.
    pub losses: Vec<Loss>,
    /// The lines of the elements of its outermost lists.
    pub lists: ListLines,
    /// Bytes of memory that the tree takes, besides texts.
    pub memory: usize,
}

/// The lines of the elements of the outermost lists of a document: of the document itself, if it is a list, or else of its
/// members. Empty if the document is one line.
#[derive(Clone, Debug, Default)]
pub struct ListLines {
    /// By the address of the first element, which stays the same while the tree is there: 0-based lines within the document.
    lines: FxHashMap<usize, Vec<u64>>,
}

impl ListLines {
    /// Returns the 0-based line within the document of an element of a list.
    pub(crate) fn get(&self, list: &[Value], place: usize) -> Option<u64> {
        let lines = self.lines.get(&address(list))?;
        lines.get(place).copied()
    }
}

fn address(list: &[Value]) -> usize {
    list.as_ptr() as usize
}

/// A value of a document that cannot be known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// 0-based line within the document.
    pub line: u64,
    /// One lower-case clause.
    pub message: String,
}

/// A text that is not a document.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct DocumentError {
    /// `Malformed`, `InvalidUtf8` or `Limit`.
    pub kind: ProblemKind,
    /// 0-based line within the text.
    pub line: u64,
    /// One lower-case clause.
    pub message: String,
}

impl DocumentError {
    pub(crate) fn new(fault: Fault, bytes: &[u8], limits: &InputLimits) -> DocumentError {
        let line = newlines(bytes, fault.at);
        let (kind, message) = explain(fault, bytes, limits);
        DocumentError {
            kind,
            line,
            message,
        }
    }
}

/// Returns the number of line ends before an offset.
pub(crate) fn newlines(bytes: &[u8], at: usize) -> u64 {
    let before = bytes.get(..at).unwrap_or(bytes);
    memchr::memchr_iter(b'\n', before).count() as u64
}

/// Returns a fault as a kind of problem and a clause.
pub(crate) fn explain(fault: Fault, bytes: &[u8], limits: &InputLimits) -> (ProblemKind, String) {
    let line_start = memchr::memrchr(b'\n', bytes.get(..fault.at).unwrap_or(bytes))
        .map_or(0, |newline| newline + 1);
    let column = fault.at.saturating_sub(line_start) + 1;
    match fault.kind {
        FaultKind::Syntax(what) => (
            ProblemKind::Malformed,
            format!("invalid JSON: {what}, at column {column}"),
        ),
        FaultKind::End => (
            ProblemKind::Malformed,
            "invalid JSON: unexpected end of input".to_owned(),
        ),
        FaultKind::Depth => (
            ProblemKind::Limit,
            format!(
                "nested deeper than {} levels (limit `depth`)",
                limits.depth()
            ),
        ),
        FaultKind::Memory => (ProblemKind::Limit, limits.too_large()),
    }
}

/// Parses one JSON text. Numbers are exact; keys that stand twice, `NaN` and half surrogate pairs become stand-ins.
///
/// # Errors
/// The text is not UTF-8, is not JSON, is nested too deeply, or its tree takes too much memory.
pub fn parse(bytes: &[u8], limits: &InputLimits) -> Result<Document, DocumentError> {
    let text = std::str::from_utf8(bytes).map_err(|error| DocumentError {
        kind: ProblemKind::InvalidUtf8,
        line: newlines(bytes, error.valid_up_to()),
        message: "invalid UTF-8".to_owned(),
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text: Arc<str> = text.into();
    let mut scanner = Scanner::new(&text, 0, String::new());
    let mut trees = TreeBuilder {
        document: Some(Arc::clone(&text)),
        ..TreeBuilder::new(limits.record_memory)
    };
    let fail = |fault| DocumentError::new(fault, text.as_bytes(), limits);
    let line_ends = trees.line_ends(text.as_bytes()).map_err(fail)?;
    let mut lists = ListLines::default();
    let value = match line_ends.is_empty() {
        true => trees.value(&mut scanner, limits.depth()),
        false => {
            let mut outer = Outer {
                trees: &mut trees,
                line_ends: &line_ends,
                lists: &mut lists,
            };
            outer.build(&mut scanner, limits.depth(), 1)
        }
    };
    let value = value.map_err(fail)?;
    if !scanner.at_end() {
        return Err(fail(Fault {
            at: scanner.at(),
            kind: FaultKind::Syntax("unexpected text after the value"),
        }));
    }
    let memory = limits.record_memory.saturating_sub(trees.left);
    let mut lines = LineCounter::new(text.as_bytes());
    let losses = trees.notes.into_iter().map(|note| Loss {
        kind: note.kind,
        line: lines.at(note.at),
        message: note.message,
    });
    Ok(Document {
        value,
        losses: losses.collect(),
        lists,
        memory,
    })
}

/// Counts the lines up to places of a text. Takes time by the distance of each place from the one before.
pub(crate) struct LineCounter<'t> {
    text: &'t [u8],
    at: usize,
    line: u64,
}

impl<'t> LineCounter<'t> {
    pub(crate) fn new(text: &'t [u8]) -> LineCounter<'t> {
        LineCounter {
            text,
            at: 0,
            line: 0,
        }
    }

    /// Returns the number of line ends before an offset.
    pub(crate) fn at(&mut self, place: usize) -> u64 {
        let between = |from: usize, to: usize| {
            let between = self.text.get(from..to).unwrap_or_default();
            newlines(between, between.len())
        };
        self.line = match place < self.at {
            true => self.line - between(place, self.at),
            false => self.line + between(self.at, place),
        };
        self.at = place;
        self.line
    }
}

/// Builds a tree, and notes where the elements of its outermost lists begin.
struct Outer<'a> {
    trees: &'a mut TreeBuilder,
    /// The offsets of all line ends of the text.
    line_ends: &'a [usize],
    lists: &'a mut ListLines,
}

impl Outer<'_> {
    /// Builds the tree of a value; `levels`: of objects whose members are looked at as well.
    fn build(
        &mut self,
        scanner: &mut Scanner<'_>,
        depth: usize,
        levels: u32,
    ) -> Result<Value, Fault> {
        let inner = depth.checked_sub(1);
        match (scanner.peek()?, inner, levels.checked_sub(1)) {
            (Peek::Object, Some(inner), Some(levels)) => {
                let start = scanner.at();
                let mut members = Vec::new();
                let mut next = scanner.first_key()?.map(|key| SmolStr::new(key.text));
                while let Some(name) = next {
                    self.trees.spend(size_of::<SmolStr>(), start)?;
                    members.push((name, self.build(scanner, inner, levels)?));
                    next = scanner.next_key()?.map(|key| SmolStr::new(key.text));
                }
                self.trees.object(Object::new(members), start)
            }
            (Peek::Array, Some(inner), _) => {
                let (mut items, mut lines) = (Vec::new(), Vec::new());
                let mut next = scanner.first_item()?;
                while next.is_some() {
                    scanner.peek()?;
                    let start = scanner.at();
                    self.trees.spend(size_of::<u64>(), start)?;
                    lines.push(self.line_ends.partition_point(|end| *end < start) as u64);
                    items.push(self.trees.value(scanner, inner)?);
                    next = scanner.next_item()?;
                }
                let list = Value::list(items);
                if let Value::List(items) = &list {
                    self.lists.lines.insert(address(items), lines);
                }
                Ok(list)
            }
            _ => self.trees.value(scanner, depth),
        }
    }
}

/// A stand-in that [`TreeBuilder`] made, and where.
#[derive(Debug)]
pub(crate) struct Note {
    pub(crate) at: usize,
    pub(crate) kind: ProblemKind,
    pub(crate) message: String,
}

/// Builds trees in bounded memory.
#[derive(Debug)]
pub(crate) struct TreeBuilder {
    /// The text that is read, where it is kept for long strings.
    document: Option<Arc<str>>,
    pub(crate) notes: Vec<Note>,
    /// Bytes that further values may take.
    pub(crate) left: usize,
    /// Members and items of the objects and lists that are open, so that each gets a place of its size at once.
    members: Vec<(SmolStr, Value)>,
    items: Vec<Value>,
}

impl TreeBuilder {
    /// The two counts of an `Arc`.
    const COUNTS: usize = 2 * size_of::<usize>();

    pub(crate) fn new(left: usize) -> TreeBuilder {
        TreeBuilder {
            document: None,
            notes: Vec::new(),
            left,
            members: Vec::new(),
            items: Vec::new(),
        }
    }

    /// Returns the offsets of all line ends of a text.
    fn line_ends(&mut self, text: &[u8]) -> Result<Vec<usize>, Fault> {
        let count = memchr::memchr_iter(b'\n', text).count();
        self.spend(count.saturating_mul(size_of::<usize>()), 0)?;
        Ok(memchr::memchr_iter(b'\n', text).collect())
    }

    /// Builds the tree of the value at the scanner.
    pub(crate) fn value(
        &mut self,
        scanner: &mut Scanner<'_>,
        depth: usize,
    ) -> Result<Value, Fault> {
        let peek = scanner.peek()?;
        let start = scanner.at();
        let too_deep = Fault {
            at: start,
            kind: FaultKind::Depth,
        };
        self.spend(size_of::<Value>(), start)?;
        match peek {
            Peek::Object => {
                let inner = depth.checked_sub(1).ok_or(too_deep)?;
                self.spend(Self::COUNTS + size_of::<Object>(), start)?;
                let first = self.members.len();
                let mut next = scanner.first_key()?.map(|key| SmolStr::new(key.text));
                while let Some(name) = next {
                    self.spend(size_of::<SmolStr>(), start)?;
                    let value = self.value(scanner, inner)?;
                    self.members.push((name, value));
                    next = scanner.next_key()?.map(|key| SmolStr::new(key.text));
                }
                let object = Object::of_last(&mut self.members, first);
                self.object(object, start)
            }
            Peek::Array => {
                let inner = depth.checked_sub(1).ok_or(too_deep)?;
                self.spend(Self::COUNTS, start)?;
                let first = self.items.len();
                let mut next = scanner.first_item()?;
                while next.is_some() {
                    let value = self.value(scanner, inner)?;
                    self.items.push(value);
                    next = scanner.next_item()?;
                }
                Ok(Value::List(self.items.drain(first..).collect()))
            }
            Peek::String => match scanner.pass_string() {
                Ok(quoted) => Ok(Value::String(self.text(scanner, start, quoted))),
                Err(fault) => {
                    scanner.rest_of_string(fault)?;
                    self.unknown(start, ProblemKind::InvalidUtf8, HALF_PAIR.to_owned())
                }
            },
            _ => match scanner.scalar(peek).map(scalar)? {
                Ok(value) => Ok(value),
                Err(digits) => {
                    let message = match digits.ends_with(|last: char| last.is_ascii_digit()) {
                        true => format!("number `{}` is out of range", brief(digits)),
                        false => format!("`{}` is not a number of JSON", brief(digits)),
                    };
                    self.unknown(start, ProblemKind::Number, message)
                }
            },
        }
    }

    /// Returns the text of a string that was passed over, from its opening quote.
    fn text(&self, scanner: &mut Scanner<'_>, quote: usize, quoted: Quoted) -> Text {
        let len = quoted.end - quote - 2;
        match &self.document {
            Some(document) if len >= Text::SHORT => {
                Text::written(document, quote + 1, len, quoted.plain)
            }
            _ => scanner.meaning(quote, quoted).into(),
        }
    }

    /// Returns an object, or the stand-in for one with a key twice.
    fn object(&mut self, made: Result<Object, SmolStr>, start: usize) -> Result<Value, Fault> {
        match made {
            Ok(object) => Ok(Value::Object(object)),
            Err(key) => self.unknown(start, ProblemKind::DuplicateKey, duplicate_key(&key)),
        }
    }

    /// Returns a stand-in, and notes the reason.
    fn unknown(&mut self, at: usize, kind: ProblemKind, message: String) -> Result<Value, Fault> {
        self.spend(size_of::<Note>() + message.len(), at)?;
        self.notes.push(Note { at, kind, message });
        Ok(unknown(kind))
    }

    fn spend(&mut self, bytes: usize, at: usize) -> Result<(), Fault> {
        let kind = FaultKind::Memory;
        self.left = self.left.checked_sub(bytes).ok_or(Fault { at, kind })?;
        Ok(())
    }
}

pub(crate) fn duplicate_key(key: &str) -> String {
    format!("duplicate key `{}` in an object", brief(key))
}

/// Returns the value of a scalar; where it is a number that cannot be kept, its digits.
pub(crate) fn scalar(lexeme: Lexeme<'_>) -> Result<Value, &str> {
    match lexeme {
        Lexeme::Null => Ok(Value::Null),
        Lexeme::Bool(value) => Ok(Value::Bool(value)),
        Lexeme::Number(digits) => Number::parse(digits).map(Value::Number).ok_or(digits),
        Lexeme::String(text) => Ok(Value::string(text)),
    }
}

/// Returns the first part of a text that may be long, for a message.
pub(crate) fn brief(text: &str) -> String {
    let mut chars = text.chars();
    let mut brief: String = chars.by_ref().take(60).collect();
    if chars.next().is_some() {
        brief.push('…');
    }
    brief
}
