//! `guard learn`: counts the steps of recorded traces and writes a model file.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Failure, Outcome, complain};
use super::limits::{LimitArgs, explain, explain_query, explain_space};
use super::output::{Output, spares, stderr_paint};
use super::sources::Reading;
use super::{jobs, progress, spec};
use smol_str::SmolStr;

use crate::audit::{self, Listener as _, Progress};
use crate::diagnostic::did_you_mean;
use crate::hir::{ModelSource, Spec};
use crate::ids::ModelId;
use crate::learn::{
    Collector, Counts, InvalidPolicy, Model, PacState, PacStatus, RowLimits, Subject, Summary,
};
use crate::load;
use crate::query::Session;
use crate::report::problems::ProblemLog;
use guard_markov::Options;

const AFTER_HELP: &str = "\
TRACE is a file (JSON, JSON Lines, CSV; plain, gzip or zstd), a folder to search, or - for the standard
input. Models contain counts, so they can be merged: `guard learn SPEC --merge A.json B.json -o AB.json`.

Exit codes: 1 if a trace contains a step that the abstraction declares impossible (no model is written, unless
`--invalid` is given); 3 if some data was unreadable or there was nothing to learn from.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct LearnArgs {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Recorded traces
    #[arg(value_name = "TRACE", required_unless_present = "merge")]
    traces: Vec<String>,
    /// Model file to write
    #[arg(short, long, value_name = "MODEL.json")]
    output: Option<PathBuf>,
    /// Model of the spec to learn (default: the only one)
    #[arg(long, value_name = "NAME")]
    model: Option<String>,
    /// Model files whose counts are added
    #[arg(long, value_name = "MODEL.json", num_args = 1..)]
    merge: Vec<PathBuf>,
    /// Treatment of traces with steps that are declared impossible
    #[arg(long, value_enum, default_value_t = InvalidArg::Error)]
    invalid: InvalidArg,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = LearnFormat::Human)]
    format: LearnFormat,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum LearnFormat {
    /// Text
    Human,
    /// JSON, one object
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum InvalidArg {
    /// Report them and write no model
    Error,
    /// Count them as if they were declared possible
    Declare,
    /// Exclude these traces and report them
    Quarantine,
}

pub(super) fn run(args: LearnArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || {
        progress::during("", |progress| count(args, progress))
    })
}

fn count(args: LearnArgs, progress: &Progress) -> Result<Outcome, Failure> {
    let from = args.reading.format()?;
    let (spec, _) = spec::usable(&args.spec)?;
    let spec = Arc::new(spec);
    let model = chosen(&spec, args.model.as_deref())?;
    let limits = args.limits.eval();
    let subject = subject(&spec, model, &args.spec, &limits)?;
    let policy = match args.invalid {
        InvalidArg::Error => InvalidPolicy::Error,
        InvalidArg::Declare => InvalidPolicy::Declare,
        InvalidArg::Quarantine => InvalidPolicy::Quarantine,
    };
    let mut merged: Option<Model> = None;
    for path in &args.merge {
        let model = read(path)?;
        let wrong = |error| Failure::Usage(format!("`{}`: {error}", path.display()));
        model.header.check(&subject.fingerprint).map_err(wrong)?;
        match &mut merged {
            Some(merged) => merged.merge(&model).map_err(wrong)?,
            None => merged = Some(model),
        }
    }
    let readers = audit::Readers::new(&spec.schema, from, args.limits.input())
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let (files, missing) = args.reading.find(&args.traces)?;
    let read = files.iter().map(|source| Path::new(&*source.name.path));
    spares(args.output.as_deref(), read.chain([args.spec.as_path()]))?;
    let walker = subject
        .walker(&limits)
        .map_err(|error| Failure::Usage(format!("cannot evaluate `by`: {}", explain(&error))))?;
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    let mut counting = Collector::new(subject.counter(policy), progress, |problem| {
        // An error on standard error does not make the command fail.
        let _ = log.write(problem);
    });
    for problem in &missing {
        counting.problem(problem);
    }
    audit::visit(&walker, &files, &readers, progress, &mut counting);
    let (errors, traces) = (counting.errors, counting.traces);
    let (chains, invalid) = counting.counter.finish();
    let _ = log.finish();
    let mut model = subject.model(&chains);
    if let Some(merged) = &merged {
        let wrong = |error| Failure::Usage(format!("cannot merge the models: {error}"));
        model.merge(merged).map_err(wrong)?;
    }
    let counts = subject
        .counts(&model)
        .map_err(|error| Failure::Usage(error.to_string()))?;
    let refused = policy == InvalidPolicy::Error && !invalid.is_empty();
    if let (Some(path), false) = (&args.output, refused) {
        let mut file = Output::open(Some(path))?;
        writeln!(file, "{}", model.to_text())?;
        file.close()?;
    }
    let pac = guarantees(&subject, &counts, args.limits.rows())?;
    let summary = Summary::new(&subject, &counts, &invalid, pac, args.limits.rows())
        .map_err(|error| Failure::Usage(explain_space(&error)))?;
    // The model itself may be written to standard output.
    let taken = args.output.as_deref() == Some(Path::new("-"));
    let mut output = Output::open(taken.then_some(Path::new("/dev/stderr")))?;
    let paint = output.paint;
    match args.format {
        LearnFormat::Human => summary.write(&mut output, paint)?,
        LearnFormat::Json => writeln!(output, "{}", summary.to_json())?,
    }
    output.close()?;
    if refused {
        complain(
            "no model was written: traces contain steps that are declared impossible (see `--invalid`)",
        );
    } else if traces == 0 && merged.is_none() {
        complain(&format!("no traces found in {}", args.traces.join(", ")));
    }
    let is_empty = |counts: &Counts| counts.steps == 0 && counts.traces.complete == 0;
    let nothing = counts.values().all(is_empty);
    if nothing && traces > 0 && !refused {
        complain("no step was counted: every answer of the model comes from its prior");
    }
    Ok(if refused {
        Outcome::Violated
    } else if errors > 0 || nothing {
        Outcome::Unreadable
    } else {
        Outcome::Holds
    })
}

/// Returns the status of the guarantee that the model requires, for each category.
fn guarantees(
    subject: &Subject,
    counts: &BTreeMap<SmolStr, Counts>,
    limits: RowLimits,
) -> Result<BTreeMap<SmolStr, PacStatus>, Failure> {
    let mut found = BTreeMap::new();
    for (category, counts) in counts {
        let session = Session::<f64>::learned(subject, counts, limits, Options::default());
        let status = session.pac().map_err(|error| {
            let why = explain_query(&error);
            Failure::Usage(format!("`pac` of `{}`: {why}", subject.name))
        })?;
        let Some((rows, pac)) = status else {
            continue;
        };
        let state = |(state, visits, required): &(u32, u64, Option<u64>)| PacState {
            state: rows.describe(&subject.space, *state),
            visits: *visits,
            required: *required,
        };
        let status = PacStatus {
            epsilon: pac.epsilon,
            delta: pac.delta,
            states: pac.required.iter().map(state).collect(),
        };
        found.insert(category.clone(), status);
    }
    Ok(found)
}

/// Returns the selected model: the named one, or the only one that is learned.
fn chosen(spec: &Spec, name: Option<&str>) -> Result<ModelId, Failure> {
    let learned: Vec<&str> = spec
        .models
        .iter()
        .filter(|model| matches!(model.source, ModelSource::Learn(_)))
        .map(|model| model.name.as_str())
        .collect();
    let name = match (name, learned.as_slice()) {
        (Some(name), _) => name,
        (None, [one]) => one,
        (None, []) => {
            return Err(Failure::Usage(
                "the spec declares no learned model: add `model run = learn { }`".to_owned(),
            ));
        }
        (None, several) => {
            return Err(Failure::Usage(format!(
                "the spec declares several learned models; select one with `--model`: {}",
                several.join(", ")
            )));
        }
    };
    if !learned.contains(&name) {
        let near = did_you_mean(name, learned.iter().copied())
            .map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
        return Err(Failure::Usage(format!(
            "unknown learned model `{name}`{near}"
        )));
    }
    spec.find_model(name)
        .ok_or_else(|| Failure::Usage(format!("unknown model `{name}`")))
}

fn subject(
    spec: &Arc<Spec>,
    model: ModelId,
    path: &Path,
    limits: &crate::eval::Limits,
) -> Result<Subject, Failure> {
    let abstraction = spec.model(model).abstraction().ok_or_else(|| {
        Failure::Usage(format!(
            "`{}` is not learned from traces",
            spec.model(model).name
        ))
    })?;
    Subject::new(spec, model, abstraction, &[], limits)
        .map_err(|error| Failure::Usage(format!("`{}`: {}", path.display(), explain_space(&error))))
}

/// Reads a model file.
pub(super) fn read(path: &Path) -> Result<Model, Failure> {
    let text = load::text_of(path)?;
    Model::parse(&text).map_err(|error| Failure::Usage(format!("`{}`: {error}", path.display())))
}
