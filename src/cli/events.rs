//! `guard events`: prints recorded traces as canonical events.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

use super::failure::{Failure, Outcome, complain};
use super::limits::LimitArgs;
use super::output::{Output, spares, stderr_paint};
use super::sources::Reading;
use super::{jobs, progress};
use crate::audit::{self, Listener, Progress, Records};
use crate::eval::Wanted;
use crate::input::limits::Accounting;
use crate::input::record::Record;
use crate::input_schema::{
    Absent, Field, FieldSource, InputSchema, Layout, Path as FieldPath, TimeUnit,
};
use crate::problem::Problem;
use crate::report::problems::ProblemLog;
use crate::types::Type;
use crate::value::{Cell, Value};
use crate::verdict::{quoted, value_json};

const AFTER_HELP: &str = "\
TRACE is a file (JSON, JSON Lines, CSV; plain, gzip or zstd), a folder to search, or - for the standard
input. Each line of the output is a trace, with its canonical events and the other members of its record:
`guard audit --from native` reads it. The events of a native record are printed as they are.

Exit codes: 3 if some data was unreadable, or there was nothing to read.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct EventsArgs {
    /// Recorded traces
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Write the traces to this file, atomically
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

pub(super) fn run(args: EventsArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || {
        progress::during("", |progress| print(args, progress))
    })
}

fn print(args: EventsArgs, progress: &Progress) -> Result<Outcome, Failure> {
    let from = args.reading.format()?;
    let readers = audit::Readers::new(&schema(), from, args.limits.input())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let (sources, missing) = args.reading.find(&args.traces)?;
    let read = sources.iter().map(|source| Path::new(&*source.name.path));
    spares(args.output.as_deref(), read)?;
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    let mut writing = Writing {
        output: Output::open(args.output.as_deref())?,
        progress,
        on_problem: |problem: &Problem| {
            // An error on standard error does not make the command fail.
            let _ = log.write(problem);
        },
        n_traces: 0,
        n_errors: 0,
        failed: None,
    };
    for problem in &missing {
        writing.problem(problem);
    }
    let judge = Records(|record: Record, _: &Wanted| Some(line(record)));
    audit::visit(&judge, &sources, &readers, progress, &mut writing);
    let Writing {
        output,
        n_traces,
        n_errors,
        failed,
        ..
    } = writing;
    let _ = log.finish();
    match failed {
        // The reader has closed the pipe.
        Some(error) if error.kind() == io::ErrorKind::BrokenPipe => {}
        Some(error) => return Err(error.into()),
        None => output.close()?,
    }
    if n_traces == 0 {
        complain(&format!("no traces found in {}", args.traces.join(", ")));
    }
    Ok(match n_traces == 0 || n_errors > 0 {
        true => Outcome::Unreadable,
        false => Outcome::Holds,
    })
}

/// Returns a schema that reads whole events and whole records, of any format.
fn schema() -> InputSchema {
    let whole = |name: &str| Field {
        name: name.into(),
        source: FieldSource::Event(FieldPath::Pointer(Vec::new())),
        ty: Type::Json,
        absent: Absent::Unknown,
        unit: TimeUnit::default(),
    };
    InputSchema {
        fields: vec![whole("event")],
        meta: vec![whole("record")],
        layout: Layout {
            format: Some("auto".into()),
            ..Layout::default()
        },
        ..InputSchema::default()
    }
}

/// A trace that was read, as a line, and the problems with its data.
struct Line {
    text: String,
    problems: Vec<Problem>,
}

/// Returns a record as JSON that can be read as a native record: its other members, its name, whether it is complete,
/// its events.
fn line(record: Record) -> Line {
    let mut members = Vec::new();
    if let Some(Cell::Known(Value::Object(own))) = record.meta.first() {
        let kept = own.iter().filter(|(key, _)| !OWN.contains(&key.as_str()));
        members.extend(kept.map(|(key, value)| (key.to_string(), value_json(value, &[]))));
    }
    let name = record.id.unwrap_or_else(|| record.origin.name());
    members.push(("id".to_owned(), quoted(&*name)));
    if let Some(complete) = record.complete {
        members.push(("complete".to_owned(), complete.to_string()));
    }
    let events = record.steps.iter().map(|step| match step.cells.first() {
        Some(Cell::Known(event)) => value_json(event, &[]),
        // A duplicate key: nothing of the event is known, which an event without members expresses.
        _ => "{}".to_owned(),
    });
    let events: Vec<String> = events.collect();
    members.push(("events".to_owned(), format!("[{}]", events.join(","))));
    let members = members.iter();
    let members: Vec<String> = members
        .map(|(key, value)| format!("{}:{value}", quoted(key)))
        .collect();
    Line {
        text: format!("{{{}}}", members.join(",")),
        problems: record.problems,
    }
}

/// The members of a native record that have a fixed meaning.
const OWN: [&str; 3] = ["id", "complete", "events"];

/// Writes traces in order.
struct Writing<'a, F> {
    output: Output,
    progress: &'a Progress,
    on_problem: F,
    n_traces: u64,
    n_errors: u64,
    failed: Option<io::Error>,
}

impl<F: FnMut(&Problem)> Listener<Line> for Writing<'_, F> {
    fn report(&mut self, line: Line) {
        self.n_traces += 1;
        self.progress.traces.fetch_add(1, Ordering::Relaxed);
        for problem in &line.problems {
            self.problem(problem);
        }
        if self.failed.is_none() {
            self.failed = writeln!(self.output, "{}", line.text).err();
        }
    }

    fn problem(&mut self, problem: &Problem) {
        self.n_errors += u64::from(problem.kind.is_error());
        (self.on_problem)(problem);
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }

    fn stopped(&self) -> bool {
        self.failed.is_some()
    }
}
