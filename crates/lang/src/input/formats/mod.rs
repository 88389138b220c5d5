//! Readers that turn what agents really record into one canonical event.
//!
//! Parsed documents ([`Value`]) go in, [`CanonicalTrace`]s come out. The hard idea is to keep *unknown* and *null* apart:
//! a member that the source does not record is absent from the event (unknown later on), one that the source says is
//! not there is null. Nothing is dropped in silence: every source item (message, line, span, row) becomes at least one
//! event, of kind `other` if need be, or is counted in a [`Loss`].
//!
//! The readers do not open files and do not guess: which format a file has is decided by [`detect()`], or by the user.
//! `docs/formats.md` describes the mapping of each reader.
//!
//! # The canonical event
//! An object with the members `kind` (`message`, `call`, `result`, `other`), `role`, `text`, `tool`, `args`, `call` (the
//! id that ties call and result), `result`, `error`, `at`, `agent`, `raw` (the source block) and `item` (the whole source
//! item the block stands in). One event per content block or call; several events may share an index.
//!
//! ```
//! use guard_lang::input::formats::{convert, Format, Input};
//! use guard_lang::value::{Object, Value};
//!
//! let message = Object::new(vec![
//!     ("role".into(), Value::string("user")),
//!     ("content".into(), Value::string("hello")),
//! ]);
//! let document = Value::list(vec![Value::Object(message.unwrap())]);
//! let converted = convert(Format::OpenAiChat, &Input::Document { value: &document, line: None, lists: &Default::default() });
//! let Value::Object(event) = &converted.traces[0].events[0].value else { panic!("events are objects") };
//! assert_eq!(event.get("kind"), Some(&Value::string("message")));
//! ```

mod ai_sdk;
mod anthropic;
mod atif;
mod claude_code;
mod claude_tree;
mod codex;
mod detect;
mod event;
mod gemini;
mod inspect;
mod inspect_messages;
mod inspect_spans;
mod json_text;
mod langchain;
mod langsmith;
mod managed;
mod mcp;
mod messages;
mod native;
mod openai;
mod openhands;
mod otel;
mod otel_span;
mod pairing;
mod pydantic_ai;
mod responses;
mod shape;
mod spans;
mod swe;
mod table;
mod trace;
mod units;
mod unread;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use smol_str::SmolStr;

use super::document::ListLines;
use crate::problem::{Problem, ProblemKind};
use crate::value::Value;

pub use detect::{Detection, Sample, detect};
pub(crate) use event::Wanted;
pub use event::{KINDS, MEMBERS};

/// A trace in canonical events.
#[derive(Clone, Debug)]
pub struct CanonicalTrace {
    /// The id of the trace in the source (session, trace or run id).
    pub id: Option<SmolStr>,
    /// 0-based number of the record within the document, where a document holds several.
    pub n: u32,
    /// 1-based line of the file where the trace begins, where it is known.
    pub line: Option<u64>,
    /// JSON pointer to the list of items within the record; empty where the record itself, or the file, is the list.
    pub list: String,
    /// Facts about the whole trace. For records that hold a list: their other members, under their own names, so that a
    /// pointer reads here what it reads in the record. For files of lines: facts gathered from them.
    pub meta: Value,
    /// Whether the source says that the trace is complete.
    pub complete: Option<bool>,
    /// Its events.
    pub events: Vec<CanonicalEvent>,
    /// The problems of the data.
    pub faults: Vec<Fault>,
}

/// One canonical event.
#[derive(Clone, Debug)]
pub struct CanonicalEvent {
    /// 0-based position, in the source's list, of the item that the event came from. Not unique, and not ascending where
    /// the source is ordered by time (spans).
    pub index: u32,
    /// 1-based line of the file, where it is known.
    pub line: Option<u64>,
    /// The event: an object; see the module.
    pub value: Value,
}

/// Something wrong with the data of a trace; becomes a [`Problem`] once the file is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The kind of problem.
    pub kind: ProblemKind,
    /// The item.
    pub index: u32,
    /// Its line, where it is known.
    pub line: Option<u64>,
    /// The member of the canonical event that is unknown because of it.
    pub field: &'static str,
    /// One lower-case clause.
    pub message: String,
}

impl Fault {
    /// Returns the problem, in the file and trace where it was found.
    pub(crate) fn problem(&self, file: &Arc<str>, trace: Option<SmolStr>) -> Problem {
        Problem::new(
            self.kind,
            file,
            self.line.unwrap_or(0),
            self.message.as_str(),
        )
        .in_trace(trace)
        .at_step(Some(self.index), Some(SmolStr::new_static(self.field)))
    }
}

/// Something that a reader could not map, or left out on purpose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The omitted data: one lower-case clause.
    pub what: String,
    /// The count.
    pub count: u64,
    /// Whether whole items were left out; otherwise parts of items that still became events.
    pub whole: bool,
    /// The first place.
    pub example: ItemPlace,
}

/// The place of an item in the source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ItemPlace {
    /// 1-based line of the file, where it is known.
    pub line: Option<u64>,
    /// 0-based position in the list of items, where there is one.
    pub index: Option<u32>,
}

impl Loss {
    /// Returns the note, in the file where it was found.
    pub(crate) fn problem(&self, file: &Arc<str>) -> Problem {
        let times = if self.count == 1 { "time" } else { "times" };
        let message = format!("skipped: {} ({} {times})", self.what, self.count);
        let line = self.example.line.unwrap_or(0);
        Problem::new(ProblemKind::LeftOut, file, line, message).at_step(self.example.index, None)
    }
}

/// Lines of a text that could not be read, and that nothing is known of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// 1-based line where they begin.
    pub line: u64,
    /// The number of lines; empty lines do not count.
    pub lines: u64,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// One lower-case clause.
    pub message: String,
}

/// The result of a reader.
#[derive(Clone, Debug, Default)]
pub struct Converted {
    /// The traces, in the order in which they begin.
    pub traces: Vec<CanonicalTrace>,
    /// The omitted data, in order of first occurrence.
    pub losses: Vec<Loss>,
    /// The unreadable lines, in order.
    pub refused: Vec<Refused>,
    /// Number of source items. INVARIANT (accounted): it is the number of distinct (trace, index) pairs of the events plus
    /// the counts of the losses that are `whole`.
    pub items: u64,
}

/// The input of a reader.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// One JSON document, or one line that holds whole traces.
    Document {
        /// The document.
        value: &'a Value,
        /// 1-based line of the file where it begins, where it is known.
        line: Option<u64>,
        /// The lines of the elements of its outermost lists.
        lists: &'a ListLines,
    },
    /// A file of lines (or of JSON values), each with its 1-based line.
    Lines(&'a [(u64, Value)]),
    /// A file that is not JSON.
    Text(&'a [u8]),
}

/// The amount of data that a reader needs at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Granularity {
    /// Each document, or each line, holds whole traces: [`Input::Document`].
    Document,
    /// The lines of a file belong together: [`Input::Lines`].
    Lines,
    /// The file is not JSON: [`Input::Text`].
    Text,
}

/// A format with a built-in reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Format {
    /// Guard's own records; their events are canonical already.
    Native,
    /// OpenAI chat messages, and records that wrap a list of them.
    OpenAiChat,
    /// Items of the OpenAI Responses API.
    OpenAiResponses,
    /// Anthropic messages with content blocks.
    Anthropic,
    /// Event streams of hosted Anthropic agent sessions.
    AnthropicManaged,
    /// Claude Code transcripts: the branch that ends in the last leaf, sub-agents apart.
    ClaudeCode,
    /// Claude Code transcripts: every record, in file order.
    ClaudeCodeLines,
    /// LangChain: agent executor steps, LangSmith runs, message dumps.
    LangChain,
    /// Logs of the Model Context Protocol.
    Mcp,
    /// OpenTelemetry spans with GenAI or OpenInference attributes.
    Otel,
    /// SWE-agent, mini-swe-agent and OpenHands trajectories.
    Swe,
    /// Codex rollouts.
    Codex,
    /// Gemini CLI sessions and Gemini API contents.
    Gemini,
    /// Logs of Inspect AI.
    Inspect,
    /// Trajectories in the Agent Trajectory Interchange Format.
    Atif,
    /// Tables: one event per row.
    Csv,
}

impl Format {
    /// All formats.
    pub const ALL: [Format; 16] = [
        Format::Native,
        Format::OpenAiChat,
        Format::OpenAiResponses,
        Format::Anthropic,
        Format::AnthropicManaged,
        Format::ClaudeCode,
        Format::ClaudeCodeLines,
        Format::LangChain,
        Format::Mcp,
        Format::Otel,
        Format::Swe,
        Format::Codex,
        Format::Gemini,
        Format::Inspect,
        Format::Atif,
        Format::Csv,
    ];

    /// Returns the name in `--from` and `format F`.
    pub fn name(self) -> &'static str {
        match self {
            Format::Native => "native",
            Format::OpenAiChat => "openai",
            Format::OpenAiResponses => "openai_responses",
            Format::Anthropic => "anthropic",
            Format::AnthropicManaged => "anthropic_managed",
            Format::ClaudeCode => "claude_code",
            Format::ClaudeCodeLines => "claude_code_lines",
            Format::LangChain => "langchain",
            Format::Mcp => "mcp",
            Format::Otel => "otel",
            Format::Swe => "swe",
            Format::Codex => "codex",
            Format::Gemini => "gemini",
            Format::Inspect => "inspect",
            Format::Atif => "atif",
            Format::Csv => "csv",
        }
    }

    /// Returns the usual granularity of this format. Every JSON reader accepts documents and lines alike;
    /// [`Detection::granularity`] is more precise for formats that occur in both.
    pub fn granularity(self) -> Granularity {
        match self {
            Format::Native
            | Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Anthropic
            | Format::LangChain
            | Format::Swe
            | Format::Gemini
            | Format::Inspect
            | Format::Atif => Granularity::Document,
            Format::AnthropicManaged
            | Format::ClaudeCode
            | Format::ClaudeCodeLines
            | Format::Mcp
            | Format::Otel
            | Format::Codex => Granularity::Lines,
            Format::Csv => Granularity::Text,
        }
    }

    /// Whether every file of this format has [`Format::granularity`], whatever [`detect()`] would find in it.
    pub(crate) fn has_one_granularity(self) -> bool {
        match self {
            Format::AnthropicManaged
            | Format::ClaudeCode
            | Format::ClaudeCodeLines
            | Format::Otel
            | Format::Codex
            | Format::Inspect
            | Format::Atif
            | Format::Csv => true,
            Format::Native
            | Format::OpenAiChat
            | Format::OpenAiResponses
            | Format::Anthropic
            | Format::LangChain
            | Format::Mcp
            | Format::Swe
            | Format::Gemini => false,
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is not a format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown format `{name}`; available formats: {known}", known = known())]
pub struct UnknownFormat {
    /// The name as given.
    pub name: String,
}

fn known() -> String {
    let names: Vec<&str> = Format::ALL.iter().map(|format| format.name()).collect();
    names.join(", ")
}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Format, UnknownFormat> {
        // On a command line a hyphen is as good as an underscore.
        let plain = name.replace('-', "_");
        Format::ALL
            .into_iter()
            .find(|format| format.name() == plain)
            .ok_or_else(|| UnknownFormat {
                name: name.to_owned(),
            })
    }
}

/// A format that a caller named, or detection file by file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FormatChoice {
    /// `auto`: [`detect()`] decides for each file.
    #[default]
    Auto,
    /// A format that the user named.
    Given(Format),
}

impl FromStr for FormatChoice {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<FormatChoice, UnknownFormat> {
        match name {
            "auto" => Ok(FormatChoice::Auto),
            name => name.parse().map(FormatChoice::Given),
        }
    }
}

/// Reads canonical traces. Never fails: the result reports what cannot be mapped.
pub fn convert(format: Format, input: &Input<'_>) -> Converted {
    convert_wanted(format, input, Wanted::ALL)
}

/// The same for a caller that reads these members of the events only.
pub(crate) fn convert_wanted(format: Format, input: &Input<'_>, wanted: Wanted) -> Converted {
    let mut out = trace::Out::new(wanted);
    match (format, input) {
        (Format::Csv, Input::Text(bytes)) => table::read(bytes, &mut out),
        (Format::Csv, input) => table::read_rows(input, &mut out),
        (format, Input::Text(bytes)) => out.refuse_text(format, bytes),
        (Format::Native, input) => native::read(input, &mut out),
        (Format::OpenAiChat, input) => openai::read(input, &mut out),
        (Format::OpenAiResponses, input) => responses::read(input, &mut out),
        (Format::Anthropic, input) => anthropic::read(input, &mut out),
        (Format::AnthropicManaged, input) => managed::read(input, &mut out),
        (Format::ClaudeCode, input) => claude_code::read_branches(input, &mut out),
        (Format::ClaudeCodeLines, input) => claude_code::read_lines(input, &mut out),
        (Format::LangChain, input) => langchain::read(input, &mut out),
        (Format::Mcp, input) => mcp::read(input, &mut out),
        (Format::Otel, input) => otel::read(input, &mut out),
        (Format::Swe, input) => swe::read(input, &mut out),
        (Format::Codex, input) => codex::read(input, &mut out),
        (Format::Gemini, input) => gemini::read(input, &mut out),
        (Format::Inspect, input) => inspect::read(input, &mut out),
        (Format::Atif, input) => atif::read(input, &mut out),
    }
    out.finish()
}
