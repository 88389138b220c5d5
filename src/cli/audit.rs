//! `guard audit`: checks recorded traces.

use std::io;
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome, complain, unknown_property};
use super::limits::{LimitArgs, explain};
use super::output::{Output, spares, stderr_paint};
use super::sources::Reading;
use super::{jobs, progress, spec};
use crate::audit::{self, Records, Rendered};
use crate::eval::{Program, Wanted};
use crate::hir::{Property, Spec};
use crate::input::deferred::Deferred;
use crate::input::record::Record;
use crate::problem::{Problem, ProblemKind};
use crate::redact::{Redacting, Redaction};
use crate::replay::{self, Replay};
use crate::report::html::{Html, Room};
use crate::report::human::Human;
use crate::report::json::{Json, Lines};
use crate::report::junit::Junit;
use crate::report::problems::ProblemLog;
use crate::report::sarif::Sarif;
use crate::report::{Headings, Reporter, Summary};
use crate::verdict::{TraceReport, Verdict};

const AFTER_HELP: &str = "\
TRACE is a file (JSON, JSON Lines, CSV; plain, gzip or zstd), a folder to search, or - for the standard
input.

Exit codes: 1 if a property is violated (the summary also counts unreadable data); 3 if no property is
violated, but some data was unreadable or there was nothing to check: unreadable data never counts as
success. Presumable and unknown verdicts are not violations.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct AuditArgs {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Recorded traces
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<String>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = AuditFormat::Human)]
    format: AuditFormat,
    /// Write the report to this file, atomically
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Check only these properties
    #[arg(long = "property", value_name = "P", num_args = 1)]
    properties: Vec<String>,
    /// Limit the counterexamples per property: in text reports (default: 10), and those with reasons in HTML (default: 1000)
    #[arg(long, value_name = "N")]
    max_counterexamples: Option<u64>,
    /// Leave out what was recorded: messages, values, reasons;
    /// `--redact=FIELD,FIELD` leaves out what depends on these fields only
    #[arg(long, value_name = "FIELDS", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    redact: Option<String>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AuditFormat {
    /// Text
    Human,
    /// JSON Lines, one object per verdict
    Json,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML
    Junit,
    /// HTML page
    Html,
}

pub(super) fn run(args: AuditArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || judge(args))
}

fn judge(args: AuditArgs) -> Result<Outcome, Failure> {
    if args.spec.as_os_str() == "-" && args.traces.iter().any(|trace| trace == "-") {
        return Err(Failure::Usage(
            "the standard input cannot be both the spec and a trace".to_owned(),
        ));
    }
    let from = args.reading.format()?;
    let (mut spec, checked) = spec::usable(&args.spec)?;
    select(&mut spec, &args.properties)?;
    let redaction = redaction(&spec, args.redact.as_deref())?;
    let program = Program::compile(&spec, &args.limits.eval()).map_err(|error| {
        Failure::Usage(format!(
            "cannot audit `{}`: {}",
            args.spec.display(),
            explain(&error)
        ))
    })?;
    let readers = audit::Readers::new(&spec.schema, from, args.limits.input())
        .map_err(|error| Failure::Usage(error.to_string()))?
        .noting_absent(&spec);
    let mut headings = Headings::new(&spec, &checked.sources);
    if matches!(args.format, AuditFormat::Human | AuditFormat::Html) {
        headings.explain(&spec);
    }
    if args.format == AuditFormat::Html {
        headings.word(&spec);
    }
    let (sources, missing) = args.reading.find(&args.traces)?;
    let read = sources.iter().map(|source| Path::new(&*source.name.path));
    spares(args.output.as_deref(), read.chain([args.spec.as_path()]))?;
    let mut output = Output::open(args.output.as_deref())?;
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    // In JSON Lines output the problems are part of the report.
    let told = args.format != AuditFormat::Json;
    let mut tell = |problem: &Problem| {
        if told {
            // An error on standard error does not make the audit fail.
            let _ = match &redaction {
                Some(redaction) => log.write(&redaction.problem(problem)),
                None => log.write(problem),
            };
        }
    };
    let mut summary = Summary::new(headings.properties.len());
    let replay = match args.format {
        AuditFormat::Html if redaction.is_none() => {
            let replay = Replay::new(&spec, &args.limits.eval(), replay::Limits::default());
            Some(replay.map_err(|error| Failure::Usage(explain(&error)))?)
        }
        _ => None,
    };
    let room = Room::default();
    let steps = replay.as_ref().map(|replay| (replay.schema(), &room));
    let written = progress::during("", |progress| {
        let mut reporter = reporter(&args, &headings, &mut output, steps);
        if let Some(redaction) = redaction.clone() {
            reporter = Box::new(Redacting(redaction, reporter));
        }
        for problem in &missing {
            summary.problem(problem);
            tell(problem);
            reporter.problem(problem)?;
        }
        if let Some(replay) = &replay {
            let judge = with_steps(&program, replay, &room);
            audit::audit_rendered(
                &judge,
                &sources,
                &readers,
                progress,
                &mut summary,
                reporter.as_mut(),
                &mut tell,
            )?;
            return reporter.finish(&summary);
        }
        audit::audit(
            &&program,
            &sources,
            &readers,
            progress,
            &rendering(args.format, &headings, redaction.as_ref()),
            &mut summary,
            reporter.as_mut(),
            &mut tell,
        )?;
        reporter.finish(&summary)
    });
    if told {
        let _ = log.finish();
    }
    match written
        .map_err(Failure::Output)
        .and_then(|()| output.close())
    {
        // The reader of the report has closed the pipe; the results so far still count.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {}
        other => other?,
    }
    Ok(outcome(&args, &summary))
}

/// Returns what writes the lines of a report in JSON, on the threads that judge.
fn rendering(
    format: AuditFormat,
    headings: &Headings,
    redaction: Option<&Redaction>,
) -> impl Fn(&TraceReport) -> Option<Vec<u8>> {
    let lines = Lines::new(headings);
    move |report| {
        if format != AuditFormat::Json {
            return None;
        }
        let redacted = redaction.map(|redaction| redaction.trace(report));
        let mut bytes = Vec::new();
        let written = lines.write(redacted.as_ref().unwrap_or(report), &mut bytes);
        written.is_ok().then_some(bytes)
    }
}

/// Returns the judge of a page, which also holds the steps of traces as long as there is room.
fn with_steps<'a>(
    program: &'a Program,
    replay: &'a Replay,
    room: &'a Room,
) -> Records<impl Fn(Record, &Wanted) -> Option<Rendered> + Sync + 'a> {
    Records(|record: Record, wanted: &Wanted| {
        let kept = record.clone();
        let report = program.judge_for(record, Deferred::NONE, wanted)?;
        let mut verdicts = report.verdicts.iter();
        let violating = verdicts.any(|verdict| verdict.verdict == Verdict::Violated);
        let bytes = room
            .is_left(violating)
            .then(|| replay.detail(&kept).into_bytes());
        Some(Rendered { report, bytes })
    })
}

/// Parses `--redact`.
pub(super) fn redaction(spec: &Spec, fields: Option<&str>) -> Result<Option<Redaction>, Failure> {
    let redaction = fields.map(|fields| Redaction::new(spec, fields));
    redaction.transpose().map_err(Failure::Usage)
}

/// Maps the summary to an exit code: violations first, then unreadable data or an empty audit.
fn outcome(args: &AuditArgs, summary: &Summary) -> Outcome {
    if summary.traces == 0 {
        let left_out = summary
            .problems
            .get(&ProblemKind::LeftOut)
            .copied()
            .unwrap_or(0);
        let why = if left_out > 0 {
            " (some data was skipped: see above)"
        } else {
            ""
        };
        complain(&format!(
            "no traces found in {}{why}",
            args.traces.join(", ")
        ));
    }
    if summary.violating > 0 {
        Outcome::Violated
    } else if summary.errors() > 0 || summary.traces == 0 {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    }
}

fn reporter<'a>(
    args: &AuditArgs,
    headings: &'a Headings,
    output: &'a mut Output,
    steps: Option<(serde_json::Value, &'a Room)>,
) -> Box<dyn Reporter + 'a> {
    let paint = output.paint;
    let limit = |default| args.max_counterexamples.unwrap_or(default);
    match args.format {
        AuditFormat::Human => Box::new(
            Human::new(headings, output, paint, limit(10))
                .with_hint("--max-counterexamples N shows more"),
        ),
        AuditFormat::Json => Box::new(Json::new(headings, output)),
        AuditFormat::Sarif => {
            let base = std::env::current_dir()
                .ok()
                .map(|path| path.display().to_string());
            Box::new(Sarif::new(headings, output, base.as_deref()))
        }
        AuditFormat::Junit => Box::new(Junit::new(headings, output)),
        AuditFormat::Html => {
            let page = Html::new(headings, output, limit(1_000));
            match steps {
                Some((schema, room)) => Box::new(page.with_steps(schema, room)),
                None => Box::new(page),
            }
        }
    }
}

/// Removes all properties from the spec except the selected ones.
fn select(spec: &mut Spec, wanted: &[String]) -> Result<(), Failure> {
    spec.retain_judged();
    for name in wanted {
        if !spec.properties.iter().any(|known| known.is_named(name)) {
            let known = spec.properties.iter().map(|known| known.name.as_str());
            return Err(Failure::Usage(unknown_property(
                name,
                &known.collect::<Vec<_>>(),
            )));
        }
    }
    if !wanted.is_empty() {
        let asked = |property: &Property| wanted.iter().any(|name| property.is_named(name));
        spec.properties.retain(asked);
    }
    if spec.properties.is_empty() {
        return Err(Failure::Usage("the spec contains no properties".to_owned()));
    }
    Ok(())
}
