//! `guard calibrate`: compares a model's predictions with recorded traces.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rustc_hash::FxHashSet;
use serde_json::{Value, json};
use smol_str::SmolStr;

use super::failure::{Failure, Outcome, complain, warn};
use super::limits::{LimitArgs, explain, explain_forecast, explain_query};
use super::output::{Output, stderr_paint};
use super::sources::Reading;
use super::{jobs, learn, plot, progress, spec};
use crate::audit::{self, Listener, Progress};
use crate::calibrate::{
    Settings, calibrate, drift, drift_json, drift_picture, quality, write_drift,
};
use crate::diagnostic::did_you_mean;
use crate::eval::{self, Wanted};
use crate::hir::{Claim, ClaimKind, Spec, Subject as On};
use crate::ids::{ClaimId, ModelId};
use crate::input::formats::FormatChoice;
use crate::input::limits::Accounting;
use crate::learn::{Counts, Model, Subject, Walk};
use crate::load;
use crate::problem::Problem;
use crate::query::{Confidence, Forecast, ForecastError, Method, NoReturn, Session, asked};
use crate::report::problems::ProblemLog;
use crate::report::text::{number, plural};
use guard_markov::Options;

const AFTER_HELP: &str = "\
Use traces that the model was not learned from: on its own training traces, the results are too optimistic.

--labels reads labels of traces from another source: JSON Lines of {\"trace\": \"t1\", \"label\": true}, or CSV with the
columns `trace` and `label` (true, 1, yes, unsafe; false, 0, no, safe). Without it, a trace is bad if the event of the
query happens in it.

Exit codes: 1 if a trace contains a step that the abstraction declares impossible; 3 if some data was unreadable or
there was nothing to compare with.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(super) struct CalibrateArgs {
    /// Spec, or a file from `guard compile`
    #[arg(value_name = "SPEC")]
    spec: PathBuf,
    /// Recorded traces
    #[arg(value_name = "TRACE", required_unless_present = "against")]
    traces: Vec<String>,
    /// Learned model
    #[arg(long, value_name = "MODEL.json")]
    model: PathBuf,
    /// Evaluate only these queries
    #[arg(long, value_name = "NAME")]
    query: Vec<String>,
    /// Read the true labels of traces from this file
    #[arg(long, value_name = "FILE")]
    labels: Option<PathBuf>,
    /// Report this threshold; repeatable (default: all thresholds that separate some traces)
    #[arg(long, value_name = "RISK")]
    threshold: Vec<f64>,
    /// Limit the false alarm rate of the chosen threshold
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    false_alarms: f64,
    /// Report states with at least this risk as points of no return
    #[arg(long, value_name = "RISK", default_value_t = 0.85)]
    no_return: f64,
    /// Compare with another model of the same spec
    #[arg(long, value_name = "MODEL.json")]
    against: Option<PathBuf>,
    /// Draw reliability diagrams, ROC curves and drift into this file (.svg or .html)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Format of the report
    #[arg(long, value_enum, default_value_t = CalibrateFormat::Human)]
    format: CalibrateFormat,
    #[command(flatten)]
    reading: Reading,
    #[command(flatten)]
    limits: LimitArgs,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum CalibrateFormat {
    /// Text
    Human,
    /// JSON Lines, one object per query
    Json,
}

pub(super) fn run(args: CalibrateArgs) -> Result<Outcome, Failure> {
    jobs::with(args.reading.jobs, || {
        progress::during("", |progress| measure(args, progress))
    })
}

fn measure(args: CalibrateArgs, progress: &Progress) -> Result<Outcome, Failure> {
    let from = args.reading.format()?;
    let shares = args
        .threshold
        .iter()
        .chain([&args.false_alarms, &args.no_return]);
    if let Some(wrong) = shares
        .into_iter()
        .find(|share| !(0.0..=1.0).contains(*share))
    {
        return Err(Failure::Usage(format!("{wrong} is not between 0 and 1")));
    }
    if let Some(path) = &args.plot {
        plot::check_name(path)?;
    }
    let (spec, _) = spec::usable(&args.spec)?;
    let spec = Arc::new(spec);
    let file = learn::read(&args.model)?;
    let model = model_of(&spec, &file, &args.model)?;
    let queries = chosen(&spec, model, &args.query)?;
    let labels = args.labels.as_deref().map(read_labels).transpose()?;
    let limits = args.limits.eval();
    let of_file = |error: ForecastError| {
        let why = explain_forecast(&error);
        Failure::Usage(format!("`{}`: {why}", args.model.display()))
    };
    let options = Options::default();
    let rows = args.limits.rows();
    let forecast =
        Forecast::new(&spec, model, &file, &queries, &limits, (rows, &options)).map_err(of_file)?;
    let read = walks(&args, &spec, from, (&forecast, &limits), progress)?;
    if let Some(labels) = &labels {
        check_labels(labels, &read.walks)?;
    }
    let mut output = Output::open(None)?;
    let paint = output.paint;
    let human = args.format == CalibrateFormat::Human;
    let settings = Settings {
        thresholds: args.threshold.clone(),
        false_alarms: args.false_alarms,
    };
    let decided = |property| {
        forecast
            .space()
            .abstraction()
            .monitor_of(property)
            .is_some()
    };
    let claims: Vec<&Claim> = queries.iter().map(|query| spec.claim(*query)).collect();
    let (conditions, _) = asked(&spec, claims.iter().copied(), &decided);
    let (subject, counts) = Subject::open(&spec, model, &file, &conditions, &limits)
        .map_err(|error| of_file(error.into()))?;
    let mut found = Vec::new();
    if !read.walks.is_empty() {
        found = calibrate(&forecast, &queries, &read.walks, labels.as_ref(), &settings).map_err(
            |(query, error)| Failure::Usage(format!("`{query}`: {}", explain_query(&error))),
        )?;
    }
    for (place, claim) in claims.iter().enumerate() {
        let returns = no_returns(&args, &subject, &counts, claim)?;
        match (found.get(place), human) {
            (Some(found), true) => {
                found.write(&mut output, paint)?;
                for (category, points) in &returns {
                    write_no_return(&mut output, category, points, args.no_return)?;
                }
                writeln!(output)?;
            }
            (Some(found), false) => {
                let mut line = found.to_json();
                line["no_return"] = returns.iter().map(no_return_json).collect();
                writeln!(output, "{line}")?;
            }
            (None, _) => {}
        }
    }
    let mut pictures: Vec<_> = found.iter().flat_map(|found| found.pictures()).collect();
    let mut outcome = Outcome::Holds;
    if !read.walks.is_empty() {
        let quality = quality(&forecast, &counts, &read.walks);
        if human {
            quality.write(&mut output, paint)?;
        } else {
            writeln!(output, "{}", quality.to_json())?;
        }
        let title = "Drift: the traces against those of the model";
        pictures.extend(drift_picture(title, &quality.drift));
        if !quality.impossible.is_empty() {
            outcome = Outcome::Violated;
        }
    }
    if let Some(path) = &args.against {
        let other = learn::read(path)?;
        let theirs = subject
            .counts(&other)
            .map_err(|error| Failure::Usage(format!("`{}`: {error}", path.display())))?;
        let rows = drift(&forecast, &counts, &theirs);
        let name = path.display().to_string();
        let title = format!("Drift: the model against {name}");
        pictures.extend(drift_picture(&title, &rows));
        if human {
            write_drift(&mut output, paint, &name, &rows)?;
        } else {
            writeln!(output, "{}", drift_json(&name, &rows))?;
        }
    }
    output.close()?;
    if let Some(path) = &args.plot {
        plot::write(path, "guard calibrate", &pictures)?;
    }
    if read.walks.is_empty() && !args.traces.is_empty() {
        complain(&format!("no traces found in {}", args.traces.join(", ")));
        return Ok(Outcome::Unreadable);
    }
    Ok(match outcome {
        Outcome::Holds if read.errors > 0 => Outcome::Unreadable,
        other => other,
    })
}

/// The walks and labels that were read.
struct Read {
    walks: Vec<Walk>,
    errors: u64,
}

/// Collects walks.
struct Keeping<'a> {
    read: Read,
    progress: &'a Progress,
    tell: &'a mut dyn FnMut(&Problem),
}

impl Listener<Walk> for Keeping<'_> {
    fn report(&mut self, walk: Walk) {
        self.progress.traces.fetch_add(1, Ordering::Relaxed);
        for problem in &walk.problems {
            self.problem(problem);
        }
        self.read.walks.push(walk);
    }

    fn problem(&mut self, problem: &Problem) {
        self.read.errors += u64::from(problem.kind.is_error());
        (self.tell)(problem);
    }

    fn input(&mut self, _: &Accounting) {}

    fn wanted(&self) -> Wanted {
        Wanted::new(0, |_, _| false)
    }
}

fn walks(
    args: &CalibrateArgs,
    spec: &Spec,
    from: FormatChoice,
    (forecast, limits): (&Forecast, &eval::Limits),
    progress: &Progress,
) -> Result<Read, Failure> {
    let mut log = ProblemLog::new(progress::Clearing(io::stderr()), stderr_paint());
    let mut keeping = Keeping {
        read: Read {
            walks: Vec::new(),
            errors: 0,
        },
        progress,
        tell: &mut |problem| {
            // An error on standard error does not make the command fail.
            let _ = log.write(problem);
        },
    };
    if !args.traces.is_empty() {
        let readers = audit::Readers::new(&spec.schema, from, args.limits.input())
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let (files, missing) = args.reading.find(&args.traces)?;
        let walker = forecast.subject().walker(limits).map_err(|error| {
            Failure::Usage(format!("cannot evaluate `by`: {}", explain(&error)))
        })?;
        for problem in &missing {
            keeping.problem(problem);
        }
        audit::visit(&walker, &files, &readers, progress, &mut keeping);
    }
    let read = keeping.read;
    let _ = log.finish();
    Ok(read)
}

/// Returns the model of the spec that belongs to the file.
fn model_of(spec: &Spec, file: &Model, path: &Path) -> Result<ModelId, Failure> {
    let name = &file.header.model;
    let loads =
        |model: &crate::hir::Model| matches!(model.source, crate::hir::ModelSource::Load(..));
    spec.find_model(name)
        .or_else(|| spec.models.iter().position(loads).map(ModelId::new))
        .ok_or_else(|| {
            Failure::Usage(format!(
                "`{}` contains model `{name}`, which the spec does not declare",
                path.display()
            ))
        })
}

/// Returns the selected queries of a model: those named, or all that compute a probability.
fn chosen(spec: &Spec, model: ModelId, names: &[String]) -> Result<Vec<ClaimId>, Failure> {
    let of_model = || {
        (0..spec.claims.len())
            .map(ClaimId::new)
            .filter(|id| spec.claim(*id).on == On::Model(model))
    };
    if names.is_empty() {
        let found: Vec<ClaimId> = of_model()
            .filter(|id| spec.claim(*id).kind == ClaimKind::Query)
            .filter(|id| spec.claim(*id).probability_of(spec).is_some())
            .collect();
        if found.is_empty() {
            return Err(Failure::Usage(format!(
                "the spec has no probability query on `{}`: add `query soon = P=? [ F … ] on {}`",
                spec.model(model).name,
                spec.model(model).name
            )));
        }
        return Ok(found);
    }
    names
        .iter()
        .map(|name| {
            let found = of_model().find(|id| spec.claim(*id).is_named(name));
            let near = || did_you_mean(name, of_model().map(|id| spec.claim(id).name.as_str()));
            match found {
                Some(id) if spec.claim(id).probability_of(spec).is_some() => Ok(id),
                Some(_) => Err(Failure::Usage(format!(
                    "`{name}` is not a query for the probability of a path formula"
                ))),
                None => Err(Failure::Usage(format!(
                    "`{}` has no query `{name}`{}",
                    spec.model(model).name,
                    near().map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
                ))),
            }
        })
        .collect()
}

/// Warns of labels of no trace, and of traces without a label.
///
/// # Errors
/// No label is of any trace.
fn check_labels(labels: &BTreeMap<String, bool>, walks: &[Walk]) -> Result<(), Failure> {
    let traces: BTreeSet<&str> = walks.iter().map(|walk| walk.trace.as_str()).collect();
    let strays = labels
        .keys()
        .filter(|label| !traces.contains(label.as_str()));
    let bare = walks
        .iter()
        .filter(|walk| !labels.contains_key(walk.trace.as_str()));
    let (strays, bare) = (strays.count() as u64, bare.count() as u64);
    let of = plural(labels.len() as u64, "label", "labels");
    if bare == walks.len() as u64 && bare > 0 {
        let first = labels.keys().next().map_or("", String::as_str);
        let trace = &walks[0].trace;
        return Err(Failure::Usage(format!(
            "`--labels`: none of {of} is of a trace that was read: the first label is of `{first}`, the first trace is `{trace}`"
        )));
    }
    if strays > 0 || bare > 0 {
        let bare = plural(bare, "trace has", "traces have");
        warn(&format!(
            "`--labels`: {strays} of {of} are of no trace that was read; {bare} no label"
        ));
    }
    Ok(())
}

fn read_labels(path: &Path) -> Result<BTreeMap<String, bool>, Failure> {
    let text = load::text_of(path)?;
    let wrong = |line: usize, what: &str| {
        Failure::Usage(format!("`{}`, line {line}: {what}", path.display()))
    };
    let truth = |word: &str| match word.trim().to_ascii_lowercase().as_str() {
        "true" | "1" | "yes" | "unsafe" => Some(true),
        "false" | "0" | "no" | "safe" => Some(false),
        _ => None,
    };
    let mut found = BTreeMap::new();
    let mut put = |line: usize, trace: &str, label: &str| {
        let label = truth(label).ok_or_else(|| {
            wrong(
                line,
                &format!("expected true or false as the label, found `{label}`"),
            )
        })?;
        match found.insert(trace.to_owned(), label) {
            Some(other) if other != label => Err(wrong(
                line,
                &format!("trace `{trace}` has conflicting labels"),
            )),
            _ => Ok(()),
        }
    };
    if text.trim_start().starts_with('{') {
        for (number, line) in text
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
        {
            let object: Value = serde_json::from_str(line)
                .map_err(|error| wrong(number + 1, &error.to_string()))?;
            let word = |key: &str| match &object[key] {
                Value::String(text) => Some(text.clone()),
                Value::Bool(_) | Value::Number(_) => Some(object[key].to_string()),
                _ => None,
            };
            match (word("trace"), word("label")) {
                (Some(trace), Some(label)) => put(number + 1, &trace, &label)?,
                _ => return Err(wrong(number + 1, "expected `trace` and `label`")),
            }
        }
        return Ok(found);
    }
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let headers = reader
        .headers()
        .map_err(|error| wrong(1, &error.to_string()))?
        .clone();
    let column = |name: &str| {
        let found = headers.iter().position(|header| header.trim() == name);
        found.ok_or_else(|| wrong(1, &format!("missing column `{name}`")))
    };
    let (trace, label) = (column("trace")?, column("label")?);
    for record in reader.records() {
        let record = record.map_err(|error| wrong(0, &error.to_string()))?;
        let line = record.position().map_or(0, |at| at.line() as usize);
        put(line, &record[trace], &record[label])?;
    }
    Ok(found)
}

/// Returns the points of no return of a query, by category.
fn no_returns(
    args: &CalibrateArgs,
    subject: &Subject,
    counts: &BTreeMap<SmolStr, Counts>,
    claim: &Claim,
) -> Result<Vec<(SmolStr, NoReturn)>, Failure> {
    let confidence = Confidence {
        method: Method::Fixed,
        error: 0.05,
    };
    let mut found = Vec::new();
    for (category, counts) in counts {
        let rows = args.limits.rows();
        let session = Session::<f64>::learned(subject, counts, rows, Options::default());
        let points = session
            .no_return(claim, args.no_return, confidence)
            .map_err(|error| {
                Failure::Usage(format!("`{}`: {}", claim.name, explain_query(&error)))
            })?;
        found.push((category.clone(), points));
    }
    Ok(found)
}

fn write_no_return(
    out: &mut impl Write,
    category: &str,
    points: &NoReturn,
    threshold: f64,
) -> io::Result<()> {
    let of = if category.is_empty() {
        String::new()
    } else {
        format!(" ({category})")
    };
    let inevitable = match &points.inevitable {
        Some(states) => format!("{} with an unavoidable event", number(states.len() as u64)),
        None => "the declared transitions are too many to list where the event is unavoidable"
            .to_owned(),
    };
    writeln!(
        out,
        "  points of no return{of}: {} with a risk of {threshold} or more, {inevitable}",
        number(points.likely.len() as u64),
    )?;
    let inevitable: FxHashSet<&String> = points.inevitable.iter().flatten().collect();
    for (state, risk, least) in &points.likely {
        let least = match least {
            Some(least) if *least >= threshold => " (confirmed by the traces)".to_owned(),
            Some(least) => format!(" (at least {least:.3} according to the traces)"),
            None => String::new(),
        };
        let sure = if inevitable.contains(state) {
            ", inevitable"
        } else {
            ""
        };
        writeln!(out, "    {state}: {risk:.4}{least}{sure}")?;
    }
    Ok(())
}

fn no_return_json((category, points): &(SmolStr, NoReturn)) -> Value {
    let likely = points
        .likely
        .iter()
        .map(|(state, risk, least)| json!({"state": state, "risk": risk, "at_least": least}));
    json!({
        "category": (!category.is_empty()).then_some(category),
        "likely": likely.collect::<Vec<_>>(),
        "inevitable": points.inevitable,
    })
}
