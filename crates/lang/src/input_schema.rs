//! The fields that a spec reads from recorded data: the contract between spec and readers.
//!
//! The checker builds an [`InputSchema`] from the `trace` and `event` blocks; the readers in `input` yield, for every step, one
//! [`Cell`](crate::value::Cell) per field of it, in its order. Expressions of the `trace` block (`where`, `records where`,
//! `id`, `complete = …`) are not part of it: they are evaluated over the cells.

use serde::{Deserialize, Serialize};
use std::fmt;

use smol_str::SmolStr;

use crate::types::Type;
use crate::value::Value;

/// The fields and the layout that a spec reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct InputSchema {
    /// The location of the steps in a record.
    pub layout: Layout,
    /// The fields of a step. The cells of a step have this length and order.
    pub fields: Vec<Field>,
    /// The fields of a record. The cells of a record have this length and order.
    pub meta: Vec<Field>,
    /// Names of the readers' enum types are found through `Field::ty`. The field that is the clock, if any.
    pub clock: Option<usize>,
}

/// The location of the steps of a record in a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Layout {
    /// `format F`: a built-in reader produces canonical events, and field paths refer to those.
    pub format: Option<SmolStr>,
    /// `events from …`; `None` without a `trace` block: native records, `/events` or one event a line.
    pub events: Option<Events>,
    /// `each Q`: an event whose `Q` is a non-empty list is one step per element.
    pub each: Option<Path>,
    /// `order by f, g`: indices into [`InputSchema::fields`]; steps are sorted (stably) before `each` and numbering.
    pub order_by: Vec<usize>,
    /// `id from P`: the path of a record's identifier.
    pub id: Option<Path>,
    /// `complete from P`: the path of the value that says whether a record is complete.
    pub complete: Option<Path>,
}

/// `events from …`
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Events {
    /// The list at a path of the record (`""`: the document itself is the list).
    At(Path),
    /// `lines`: every line of a file is an event; the file is the trace.
    Lines,
}

/// The names of the built-in readers, as `format` and `--from` take them.
pub const FORMATS: &[&str] = &[
    "native",
    "openai",
    "openai_responses",
    "anthropic",
    "anthropic_managed",
    "claude_code",
    "claude_code_lines",
    "langchain",
    "mcp",
    "otel",
    "swe",
    "codex",
    "gemini",
    "inspect",
    "atif",
    "csv",
];

/// One field of a step or of a record.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Field {
    /// Its name in the spec.
    pub name: SmolStr,
    /// The source of its value.
    pub source: FieldSource,
    /// Its type; `Type::Nullable` if null is allowed.
    pub ty: Type,
    /// The meaning of absence.
    pub absent: Absent,
    /// For times and durations: the meaning of the number 1.
    pub unit: TimeUnit,
}

/// The source of a field's value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FieldSource {
    /// A path into the event (for meta fields: into the record).
    Event(Path),
    /// A path into the element of `each`; null in a step that is not an element.
    Each(Path),
    /// A fact about the origin of the record; only for meta fields.
    Origin(OriginField),
}

/// Facts about the origin of a record, for `id = "…"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum OriginField {
    /// The path of the file relative to the argument under which it was found, with extension.
    File,
    /// The path of its folder relative to that argument.
    Dir,
    /// The name of the file without its extensions (`.jsonl.gz` and the like).
    Stem,
    /// 1-based line where the record begins.
    Line,
    /// 0-based number of the record within its file.
    N,
}

/// A path into JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Path {
    /// RFC 6901, decoded into its tokens; without tokens it is the whole document.
    Pointer(Vec<SmolStr>),
    /// RFC 9535, as written; it was checked to parse.
    JsonPath(SmolStr),
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Path::Pointer(tokens) => tokens.iter().try_for_each(|token| {
                write!(f, "/{}", token.replace('~', "~0").replace('/', "~1"))
            }),
            Path::JsonPath(text) => f.write_str(text),
        }
    }
}

/// The meaning of the absence of a field.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Absent {
    /// `f: T`: a data error; the value is unknown. For JSON null too, unless the type is `json`.
    Error,
    /// `f: T?`: null.
    Null,
    /// `f: T = unknown`: unknown, no error. JSON null is null for `json` and nullable types, else unknown.
    Unknown,
    /// `f: T = e`: this value, for absent and for JSON null.
    Default(Value),
}

/// The meaning of the number 1 in a field of type `time` or `duration`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeUnit {
    /// Seconds.
    #[default]
    Seconds,
    /// `in ms`
    Millis,
    /// `in us`
    Micros,
    /// `in ns`
    Nanos,
}

impl TimeUnit {
    /// Attoseconds in 1.
    pub fn attoseconds(self) -> i128 {
        match self {
            TimeUnit::Seconds => 1_000_000_000_000_000_000,
            TimeUnit::Millis => 1_000_000_000_000_000,
            TimeUnit::Micros => 1_000_000_000_000,
            TimeUnit::Nanos => 1_000_000_000,
        }
    }
}
