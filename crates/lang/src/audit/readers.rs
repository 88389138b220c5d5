//! The choice of the reader of a file: by the layout of the spec, or as a recording of a known format.
//!
//! | the spec | `--from auto` | `--from native` | `--from F` |
//! |---|---|---|---|
//! | `trace { format F }` | F | its paths | F |
//! | `trace { events from … }` and the like | its paths | its paths | F |
//! | neither, and all its fields are members of the canonical event | detected per file | its paths | F |
//! | neither | its paths | its paths | F |
//!
//! A detection is reported as a note, and so is a file in a known format that is read by the paths of a spec in the last row, if no event has
//! a field of the spec.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::Arc;

use super::counting_reader::CountingReader;
use super::foreign_reader::ForeignReader;
use super::names::Names;
use super::worker::{WorkItem, Worker};
use super::{Judge, Progress};
use crate::hir::Spec;
use crate::input::formats::{self, Detection, Format, FormatChoice, Granularity, Sample};
use crate::input::limits::{FileReport, InputLimits};
use crate::input::open::{Opened, Source};
use crate::input::projection::{Projection, ProjectionError};
use crate::input::read;
use crate::input::record::FileName;
use crate::input::sniff;
use crate::input::split::{Splitter, Splitting};
use crate::input_schema::{Absent, Field, FieldSource, InputSchema, Path};
use crate::problem::{Problem, ProblemKind};
use crate::report::{AbsentField, Summary};
use crate::value::Value;

/// The number of bytes that format detection reads; more if they contain no complete value.
const HEAD: usize = 256 << 10;

/// The readers of a spec.
#[derive(Clone, Debug)]
pub struct Readers {
    projection: Projection,
    choice: Choice,
    /// Whether neither the user nor the spec says how files are read.
    is_open: bool,
    /// Whether the fields of the spec are all those of the canonical event, as those of `std.agent` are.
    is_agent: bool,
    n_fields: usize,
    /// The fields, by number, that an audit reports if no event has them.
    asked: Arc<[(usize, AbsentField)]>,
    /// The names that an audit reports if events have similar ones only.
    pub(super) names: Arc<Names>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// Read by the paths of the spec.
    Paths,
    /// Read in this format.
    Format(Format),
    /// Read in the detected format, or else by the paths of the spec.
    Detect,
}

/// The reason why no reader can be created for a schema.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReadersError {
    /// A path is invalid.
    #[error(transparent)]
    Projection(#[from] ProjectionError),
    /// The name in `format F` is unknown.
    #[error(transparent)]
    Format(#[from] formats::UnknownFormat),
}

impl Readers {
    /// Returns the readers for a schema. `from` is the value of `--from`.
    ///
    /// # Errors
    /// See [`ReadersError`].
    pub fn new(
        schema: &InputSchema,
        from: FormatChoice,
        limits: InputLimits,
    ) -> Result<Readers, ReadersError> {
        let layout = &schema.layout;
        let is_open = matches!((from, &layout.format), (FormatChoice::Auto, None))
            && layout.events.is_none()
            && layout.each.is_none();
        let choice = match (from, layout.format.as_deref()) {
            (FormatChoice::Given(Format::Native), _) => Choice::Paths,
            (FormatChoice::Given(format), _) => Choice::Format(format),
            (FormatChoice::Auto, Some("auto")) => Choice::Detect,
            (FormatChoice::Auto, Some(name)) => match name.parse()? {
                Format::Native => Choice::Paths,
                format => Choice::Format(format),
            },
            (FormatChoice::Auto, None) if is_open && is_canonical(schema) => Choice::Detect,
            (FormatChoice::Auto, None) => Choice::Paths,
        };
        let names = || schema.fields.iter().map(|field| field.name.as_str());
        let projection = Projection::with_limits(schema, limits)?;
        Ok(Readers {
            projection,
            choice,
            is_open,
            is_agent: formats::MEMBERS
                .iter()
                .all(|member| names().any(|name| name == *member)),
            n_fields: schema.fields.len(),
            asked: Arc::default(),
            names: Arc::default(),
        })
    }

    /// Returns readers whose audits report the fields that properties of the spec read and that no event has, for example
    /// because of a misspelt path, and misspelt [names](Names). Required fields are left out, because each step without one is
    /// reported.
    pub fn noting_absent(self, spec: &Spec) -> Readers {
        let read = spec.properties.iter();
        let read: BTreeSet<usize> = read
            .flat_map(|property| spec.reads_of(property).fields)
            .collect();
        let asked = read.into_iter().filter_map(|number| {
            let field = spec.schema.fields.get(number)?;
            let (FieldSource::Event(path) | FieldSource::Each(path)) = &field.source else {
                return None;
            };
            let asked = AbsentField {
                field: field.name.clone(),
                from: path.to_string(),
            };
            (field.absent != Absent::Error).then_some((number, asked))
        });
        Readers {
            asked: asked.collect(),
            names: Arc::new(Names::new(spec)),
            ..self
        }
    }

    /// Returns the same readers without any record of what was read.
    pub(crate) fn unused(&self) -> Readers {
        Readers {
            projection: self.projection.unused(),
            names: Arc::new(self.names.unused()),
            ..self.clone()
        }
    }

    /// Adds to the summary the fields and names that no event had, if the readers have read any steps.
    pub(super) fn note_absent(&self, summary: &mut Summary) {
        if summary.events == 0 {
            return;
        }
        let absent = self
            .asked
            .iter()
            .filter(|(number, _)| !self.projection.was_found(*number));
        summary.absent_fields = absent.map(|(_, field)| field.clone()).collect();
        self.names.summarize(summary);
    }

    /// Returns a note if no event of the sources had a field of the spec, neither the user nor the spec says how files are read, and the first
    /// one looks like a recording in another format.
    pub(super) fn note_format(&self, sources: &[Source]) -> Option<Problem> {
        let mut fields = 0..self.n_fields;
        if self.choice != Choice::Paths
            || !self.is_open
            || fields.any(|field| self.projection.was_found(field))
        {
            return None;
        }
        let limits = self.projection.limits();
        let source = sources.first()?;
        let mut splitter = Splitter::new(source.open(limits).ok()?, Splitting::Documents, *limits);
        match detect(&mut splitter, limits, self.is_agent) {
            Guess::Format(Detection { format, .. }) if format != Format::Native => {
                let note = format!(
                    "looks like `{format}`, but no event has a field of the spec: read it with `--from {format}` (a format is detected only if all \
                     fields of the spec are members of the canonical event)"
                );
                Some(Problem::new(ProblemKind::Odd, &source.name.path, 0, note))
            }
            _ => None,
        }
    }

    /// Returns the meta fields of the schema.
    pub(super) fn meta_fields(&self) -> &[Field] {
        self.projection.meta_fields()
    }

    /// Whether a file is one trace, so that its end is the end of the trace.
    pub(crate) fn file_is_trace(&self) -> bool {
        self.choice == Choice::Paths && self.projection.by_lines()
    }

    /// Reads a source; units are emitted in the order of the file.
    pub(super) fn read<J: Judge>(
        &self,
        source: &Source,
        progress: &Progress,
        worker: &Worker<'_, J>,
        emit: &mut dyn FnMut(WorkItem<J::Report>),
    ) -> FileReport {
        // Foreign formats are detected and read by members that the spec does not name, so columns are selected only
        // when reading by paths. Names of columns are those of fields unless a format is given.
        let with_others = match self.choice {
            Choice::Paths => false,
            Choice::Format(_) => true,
            Choice::Detect => !self.is_native_table(source),
        };
        let is_given = matches!(self.choice, Choice::Format(_));
        let fields = (!is_given).then_some(&self.projection);
        match source.open_columns(self.projection.limits(), fields, with_others) {
            Ok(Opened::Stream(from)) => {
                let from = CountingReader::new(from, progress);
                self.read_from(from, &source.name, worker, emit)
            }
            Ok(Opened::Rows(rows)) => {
                let rows = CountingReader::new(rows, progress);
                read::read_batches(rows, &source.name, &self.projection, worker, emit)
            }
            Err(error) => FileReport::unreadable(&source.name, &error),
        }
    }

    /// Whether a source is a table whose first rows have no format, so that it is read by the paths of the spec.
    fn is_native_table(&self, source: &Source) -> bool {
        let limits = self.projection.limits();
        let Some(Ok(Opened::Stream(from))) = source.first_rows(limits, &self.projection) else {
            return false;
        };
        let mut splitter = Splitter::new(from, Splitting::Documents, *limits);
        match detect(&mut splitter, limits, self.is_agent) {
            Guess::Format(detected) => detected.format == Format::Native,
            Guess::Fields | Guess::Nothing => true,
        }
    }

    /// Reads an open stream.
    pub(super) fn read_from<J: Judge>(
        &self,
        from: impl Read + Send,
        file: &FileName,
        worker: &Worker<'_, J>,
        emit: &mut dyn FnMut(WorkItem<J::Report>),
    ) -> FileReport {
        let limits = *self.projection.limits();
        let mut splitter = Splitter::new(from, Splitting::Documents, limits);
        if self.choice == Choice::Paths {
            return read::read_through(splitter, file, &self.projection, worker, emit);
        }
        let settled = matches!(self.choice, Choice::Format(format) if format.has_one_granularity());
        let guess = match settled {
            true => Guess::Fields,
            false => detect(&mut splitter, &limits, self.is_agent),
        };
        let is_known = guess != Guess::Nothing;
        let detected = match guess {
            Guess::Format(detected) => Some(detected),
            Guess::Fields | Guess::Nothing => None,
        };
        let foreign = |format, granularity| ForeignReader {
            format,
            granularity,
            projection: &self.projection,
            file,
        };
        if let Choice::Format(format) = self.choice {
            let detected = detected.filter(|detected| detected.format == format);
            let granularity =
                detected.map_or(format.granularity(), |detected| detected.granularity);
            return foreign(format, granularity).read(splitter, worker, emit);
        }
        match detected.filter(|detected| detected.format != Format::Native) {
            None => {
                let report = read::read_through(splitter, file, &self.projection, worker, emit);
                if report.accounting.records + report.accounting.events == 0 && is_table(file) {
                    return with_note(report, file, NO_HEADER.to_owned());
                }
                match is_known {
                    true => report,
                    false => with_note(report, file, UNKNOWN_FORMAT.to_owned()),
                }
            }
            Some(Detection {
                format,
                granularity,
                why,
            }) => {
                let report = foreign(format, granularity).read(splitter, worker, emit);
                // The number of matching documents differs from file to file; without it the notes are equal.
                let why = why.split(" (").next().unwrap_or(&why);
                with_note(report, file, format!("read as `{format}`: {why}"))
            }
        }
    }
}

/// The note on a file whose format is not recognized.
const UNKNOWN_FORMAT: &str = "no format is recognized, so each document is read as an event with the fields of the spec; if it is a recording, name its format with `--from`";

/// The note on a table whose first line names no column that is known.
const NO_HEADER: &str = "no header row is recognized: the first line of a table names its columns (`trace`, `kind`, `tool` …); if it does, name the format with `--from csv`";

fn is_table(file: &FileName) -> bool {
    let name = file.path.to_ascii_lowercase();
    [".csv", ".tsv"].iter().any(|ending| name.ends_with(ending))
}

/// Puts a note on the whole file before its problems.
fn with_note(mut report: FileReport, file: &FileName, note: String) -> FileReport {
    let note = Problem::new(ProblemKind::Odd, &file.path, 0, note);
    report.problems.insert(0, note);
    report
}

/// The format that the first documents of a file suggest.
#[derive(PartialEq)]
enum Guess {
    /// A recording in this format.
    Format(Detection),
    /// Events with members that a spec may read, or no JSON.
    Fields,
    /// Neither.
    Nothing,
}

/// Returns the format of a stream by its first bytes, up to the first complete value.
///
/// If the spec reads events of `is_agent`, a `kind` of another name is that of another format.
fn detect(splitter: &mut Splitter<impl Read>, limits: &InputLimits, is_agent: bool) -> Guess {
    let mut want = HEAD;
    loop {
        let (bytes, whole) = splitter.look(want);
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let json = holds_json(bytes);
        let mut values = match json {
            true => sniff::values(bytes, whole, limits.depth()),
            false => Vec::new(),
        };
        // Words and numbers before the first object or list are not values of the recording.
        values.retain(|value| matches!(value, Value::Object(_) | Value::List(_)));
        if whole || !json || !values.is_empty() || want >= limits.record_bytes {
            let sample = Sample {
                values: &values,
                text: bytes.get(..HEAD).unwrap_or(bytes),
            };
            let has_member = |value: &Value| match value {
                Value::Object(object) => match object.get("kind") {
                    Some(Value::String(kind)) if is_agent => {
                        formats::KINDS.contains(&kind.as_str())
                    }
                    _ => formats::MEMBERS.iter().any(|key| object.get(key).is_some()),
                },
                _ => false,
            };
            return match formats::detect(&sample) {
                Some(detected) if values.is_empty() => Guess::Format(Detection {
                    granularity: Granularity::Text,
                    ..detected
                }),
                Some(detected) => Guess::Format(detected),
                None if values.is_empty() || values.iter().any(has_member) => Guess::Fields,
                None => Guess::Nothing,
            };
        }
        want = want.saturating_mul(4);
    }
}

/// Whether a text is JSON, perhaps after other lines, such as the output of a program before its first record. A table is not
/// JSON: its first rows do not begin like an object or a list.
fn holds_json(bytes: &[u8]) -> bool {
    let mut lines = bytes
        .split(|byte| *byte == b'\n')
        .map(<[u8]>::trim_ascii_start)
        .filter(|line| !line.is_empty());
    let begins = |line: &[u8]| line.starts_with(b"{") || line.starts_with(b"[");
    match lines.next() {
        Some(first) if begins(first) => true,
        Some(_) => {
            let sample = Sample {
                values: &[],
                text: bytes.get(..HEAD).unwrap_or(bytes),
            };
            let second = lines.next();
            second.is_some_and(begins) || formats::detect(&sample).is_none() && lines.any(begins)
        }
        None => false,
    }
}

/// Whether every field is a member of the canonical event, by its first token.
fn is_canonical(schema: &InputSchema) -> bool {
    !schema.fields.is_empty()
        && schema.fields.iter().all(|field| match &field.source {
            FieldSource::Event(Path::Pointer(tokens)) => tokens
                .first()
                .is_some_and(|token| formats::MEMBERS.contains(&token.as_str())),
            _ => false,
        })
}
