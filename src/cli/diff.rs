//! `guard diff`: shows what a change of a spec changes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome};
use super::limits::LimitArgs;
use super::output::{Output, spares, stderr_paint};
use super::sources::Reading;
use super::{jobs, progress, spec};
use crate::audit::Readers;
use crate::diff::{self, Diff, Judge, Limits};
use crate::hir::Spec;
use crate::report::problems::ProblemLog;

const AFTER_HELP: &str = "\
For each property: equal, stricter, looser or different, decided by automata, with a shortest trace that tells both
apart in each direction; for `enforce` clauses: an event that is newly denied or let through. What cannot be decided
is named with the reason.

Exit codes: 1 if `--fail-on` applies; 2 if a spec has errors; 3 if some traces were unreadable.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct DiffArgs {
    /// Spec before the change
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// Spec after the change
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// Recorded traces that both specs judge
    #[arg(long, value_name = "TRACE", num_args = 1..)]
    traces: Vec<String>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = DiffFormat::Text)]
    format: DiffFormat,
    /// Write the report to this file, atomically
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Exit with 1 if a difference of this kind exists or is not excluded; may be given several times
    #[arg(long, value_enum, value_name = "KIND")]
    fail_on: Vec<FailOn>,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
    /// Limit the time of the searches for events where automata do not decide, in seconds
    #[arg(long, value_name = "N", help_heading = "Limits")]
    max_search_seconds: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum DiffFormat {
    /// Text
    Text,
    /// JSON, one object
    Json,
    /// Markdown, for a comment on a pull request
    Markdown,
    /// HTML, one self-contained page
    Html,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum FailOn {
    /// Something may be accepted or let through that was not before
    Looser,
    /// Something may be rejected or denied that was not before
    Stricter,
    /// Something is not decided
    Undecided,
}

pub(super) fn run(args: DiffArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || compare(args))
}

fn compare(args: DiffArgs) -> Result<Outcome, Failure> {
    let from = args.reading.format()?;
    let (old, old_loaded) = spec::usable(&args.old)?;
    let (new, new_loaded) = spec::usable(&args.new)?;
    let (files, missing) = args.reading.find(&args.traces)?;
    let read = files.iter().map(|source| Path::new(&*source.name.path));
    let read = read.chain([args.old.as_path(), args.new.as_path()]);
    spares(args.output.as_deref(), read)?;
    let mut limits = Limits::new(args.limits.automata(Limits::default().automata));
    limits.search_seconds = args.max_search_seconds.unwrap_or(limits.search_seconds);
    let mut diff = progress::during("parts compared", |progress| {
        let (old, new) = ((&old, &old_loaded.sources), (&new, &new_loaded.sources));
        diff::diff(old, new, &limits, progress)
    })
    .map_err(Failure::Usage)?;
    if !args.traces.is_empty() {
        let judge = |spec: &Spec| {
            let readers = Readers::new(&spec.schema, from, args.limits.input())
                .map_err(|error| Failure::Usage(error.to_string()))?;
            Judge::new(spec, readers, &args.limits.eval()).map_err(Failure::Usage)
        };
        let judges = [judge(&old)?, judge(&new)?];
        let pairs = diff.pairs(&old, &new);
        let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
        let mut on_problem = |problem: &crate::problem::Problem| {
            // An error on standard error does not make the command fail.
            let _ = log.write(problem);
        };
        missing.iter().for_each(&mut on_problem);
        let mut runs = progress::during("", |progress| {
            let [old, new] = &judges;
            let before = diff::collect(old, &files, progress, None, &mut on_problem, &|| false);
            let again = Some(&before);
            let after = diff::collect(new, &files, progress, again, &mut on_problem, &|| false);
            diff::compare_runs(&before, &after, &pairs)
        });
        let unreadable = missing.iter().filter(|problem| problem.kind.is_error());
        runs.errors += unreadable.count() as u64;
        let _ = log.finish();
        diff.add_runs(runs);
    }
    let mut output = Output::open(args.output.as_deref())?;
    match args.format {
        DiffFormat::Text => output.write_all(diff.to_text().as_bytes())?,
        DiffFormat::Json => writeln!(output, "{}", diff.to_json())?,
        DiffFormat::Markdown => output.write_all(diff.to_markdown().as_bytes())?,
        DiffFormat::Html => output.write_all(diff.to_html().as_bytes())?,
    }
    output.close()?;
    Ok(outcome(&args.fail_on, &diff))
}

fn outcome(fail_on: &[FailOn], diff: &Diff) -> Outcome {
    let applies = |kind: &FailOn| match kind {
        FailOn::Looser => diff.may_be_looser(),
        FailOn::Stricter => diff.may_be_stricter(),
        FailOn::Undecided => diff.has_undecided(),
    };
    if fail_on.iter().any(applies) {
        Outcome::Violated
    } else if diff
        .runs
        .as_ref()
        .is_some_and(|runs| runs.errors > 0 || runs.traces == 0)
    {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    }
}
