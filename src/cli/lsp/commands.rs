//! `workspace/executeCommand`: tests, audits, and values of a step, for lenses and for clients that display them differently.
//!
//! Commands run on a separate thread with the analysed spec, so that they do not delay responses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use lsp_types::{ExecuteCommandParams, MessageType, Uri};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::convert;
use super::documents::Documents;
use crate::audit::{self, Progress, Readers};
use crate::cli::limits::{LimitArgs, explain};
use crate::cli::test::Runner;
use crate::cli::trace_search::{self, Sought};
use crate::cli::verify::{holds, is_wanted};
use crate::eval::Program;
use crate::hir::Spec;
use crate::ids::PropertyId;
use crate::input::formats::FormatChoice;
use crate::input::open::Selection;
use crate::problem::Problem;
use crate::replay::{self, Timeline};
use crate::report::spec_test::{self, Outcome, TestReport};
use crate::report::{self, Reporter, Summary};
use crate::source::SourceMap;
use crate::system::{self, Verifier};
use crate::verdict::{TraceReport, Verdict};

/// Runs a test of a spec: the address of the spec, and the name of the test.
pub(super) const RUN_TEST: &str = "guard.server.runTest";
/// Audits recorded traces for a property: the address of the spec, the name of the property, and paths of traces (by default those
/// beside the spec that have its name).
pub(super) const AUDIT_TRACES: &str = "guard.server.auditTraces";
/// Verifies a property of a system, or all properties of a system: the address of the spec, and the name.
pub(super) const VERIFY: &str = "guard.server.verify";
/// Shows values as hints: those of a step of a recorded trace (`{uri, runs, trace, step}`), or of a state of a system (`{uri, system,
/// state}`, with the values by variable); otherwise none.
pub(super) const SHOW_VALUES: &str = "guard.server.showValues";

pub(super) const ALL: [&str; 4] = [RUN_TEST, AUDIT_TRACES, VERIFY, SHOW_VALUES];

/// The endings of files of traces beside a spec.
const ENDINGS: [&str; 3] = ["jsonl", "json", "csv"];

/// The greatest number of steps of a trace whose values are shown, and the greatest length of a value.
const SHOWN: replay::Limits = replay::Limits {
    steps: 20_000,
    value: 400,
};

/// The result of a command.
pub(super) struct Done {
    pub(super) result: Json,
    /// A message for the user.
    pub(super) message: Option<(MessageType, String)>,
    /// Whether hints changed.
    pub(super) refreshes: bool,
}

/// A parsed command that can run on any thread.
pub(super) type Work = Box<dyn FnOnce() -> Result<Done, String> + Send>;

/// The values that are shown.
#[derive(Clone, Debug, Default)]
pub(super) struct Values {
    /// The number of requests to show values.
    asked: Arc<AtomicU64>,
    latest: Arc<Mutex<Latest>>,
    /// Only one trace is read at a time.
    turn: Arc<Mutex<()>>,
}

/// The result of the latest request that is done. Requests run on threads, in any order: an earlier one does not replace a later one.
#[derive(Debug, Default)]
struct Latest {
    number: u64,
    shown: Option<Shown>,
}

#[derive(Debug)]
struct Shown {
    path: PathBuf,
    /// The analysis that the values belong to.
    analyses: u64,
    moment: Moment,
}

/// The moment whose values are shown.
#[derive(Debug)]
pub(super) enum Moment {
    /// A step of a recorded trace.
    Step {
        runs: String,
        trace: String,
        timeline: Box<Timeline>,
        at: usize,
    },
    /// A state of a system, with the values by variable.
    State {
        system: String,
        values: BTreeMap<String, Json>,
    },
}

impl Values {
    fn lock(&self) -> MutexGuard<'_, Latest> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Numbers a request, in the order in which the client made them.
    fn ask(&self) -> u64 {
        self.asked.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Shows the result of a request, unless a later one is done, and says that hints may have changed.
    fn show(&self, number: u64, shown: Option<Shown>) -> Done {
        let mut latest = self.lock();
        if number > latest.number {
            *latest = Latest { number, shown };
        }
        hints_changed()
    }

    /// Calls a function with the moment that is shown in a text, if it is of this analysis of it.
    pub(super) fn with<T>(
        &self,
        path: &Path,
        analyses: u64,
        show: impl FnOnce(&Moment) -> T,
    ) -> Option<T> {
        let latest = self.lock();
        let shown = latest.shown.as_ref()?;
        let is_current = shown.path == path && shown.analyses == analyses;
        is_current.then(|| show(&shown.moment))
    }
}

/// Parses a command.
///
/// # Errors
/// A message: the command is unknown, or its arguments are invalid.
pub(super) fn prepare(
    documents: &mut Documents,
    values: &Values,
    running: &Arc<Progress>,
    params: ExecuteCommandParams,
) -> Result<Work, String> {
    let wrong = |error: serde_json::Error| format!("`{}`: {error}", params.command);
    let given = Json::Array(params.arguments);
    match params.command.as_str() {
        RUN_TEST => {
            let (uri, name): (Uri, String) = serde_json::from_value(given).map_err(wrong)?;
            let (_, spec, sources) = analysed(documents, &uri)?;
            Ok(Box::new(move || run_test(&spec, &sources, &name)))
        }
        AUDIT_TRACES => {
            let mut given = given;
            // The paths are optional.
            if let Some(list) = given.as_array_mut().filter(|list| list.len() == 2) {
                list.push(json!([]));
            }
            let (uri, property, traces): (Uri, String, Vec<String>) =
                serde_json::from_value(given).map_err(wrong)?;
            let (_, spec, _) = analysed(documents, &uri)?;
            let path = convert::path(&uri).ok_or("not a file")?;
            let running = Arc::clone(running);
            Ok(Box::new(move || {
                audit_traces(spec, &path, &property, traces, &running)
            }))
        }
        VERIFY => {
            let (uri, name): (Uri, String) = serde_json::from_value(given).map_err(wrong)?;
            let (_, spec, _) = analysed(documents, &uri)?;
            Ok(Box::new(move || verify(&spec, name)))
        }
        SHOW_VALUES => {
            let (wanted,): (WantedValues,) = serde_json::from_value(given).map_err(wrong)?;
            let (values, number) = (values.clone(), values.ask());
            if let (Some(system), Some(state)) = (wanted.system, wanted.state) {
                let path = convert::path(&wanted.uri).ok_or("not a file")?;
                let (analyses, ..) = analysed(documents, &wanted.uri)?;
                let moment = Moment::State {
                    system,
                    values: state,
                };
                let shown = Shown {
                    path,
                    analyses,
                    moment,
                };
                return Ok(Box::new(move || Ok(values.show(number, Some(shown)))));
            }
            let (Some(runs), Some(trace)) = (wanted.runs, wanted.trace) else {
                return Ok(Box::new(move || Ok(values.show(number, None))));
            };
            let path = convert::path(&wanted.uri).ok_or("not a file")?;
            let (analyses, spec, _) = analysed(documents, &wanted.uri)?;
            let step = wanted.step;
            let wanted = WantedStep { runs, trace, step };
            Ok(Box::new(move || {
                show_step(&values, number, &path, analyses, spec, wanted)
            }))
        }
        other => Err(format!("unknown command `{other}`")),
    }
}

#[derive(Deserialize)]
struct WantedValues {
    uri: Uri,
    runs: Option<String>,
    trace: Option<String>,
    /// The index of the step; without it the end of the trace.
    step: Option<u32>,
    system: Option<String>,
    state: Option<BTreeMap<String, Json>>,
}

/// A step of a recorded trace: the file, the trace in it, and the index of the step, or the end.
struct WantedStep {
    runs: String,
    trace: String,
    step: Option<u32>,
}

fn hints_changed() -> Done {
    Done {
        result: Json::Null,
        message: None,
        refreshes: true,
    }
}

/// Returns the number of the analysis of an open text, with its spec.
fn analysed(documents: &mut Documents, uri: &Uri) -> Result<(u64, Spec, SourceMap), String> {
    let path = convert::path(uri).ok_or("not a file")?;
    documents.analyse(&path).ok_or("the text is not open")?;
    let (document, analysis) = documents.get(&path).ok_or("the text is not open")?;
    let analysis = analysis.ok_or("the text is not open")?;
    let spec = analysis.spec().ok_or("the spec has errors")?;
    Ok((document.analyses, spec.clone(), analysis.sources().clone()))
}

/// Runs a test: all of its cases.
fn run_test(spec: &Spec, sources: &SourceMap, name: &str) -> Result<Done, String> {
    let limits = LimitArgs::default().eval();
    let runner = Runner::new(spec, sources, &limits).map_err(|error| explain(&error))?;
    let case = format!("{name} (case ");
    let tests = spec.tests.iter();
    let tests = tests.filter(|test| test.name == name || test.name.starts_with(&case));
    let reports: Vec<TestReport> = tests.map(|test| runner.run(test)).collect();
    if reports.is_empty() {
        return Err(format!("the spec has no test {name:?}"));
    }
    let mut lines = Vec::new();
    spec_test::json(&mut lines, &reports).map_err(|error| error.to_string())?;
    let lines = serde_json::Deserializer::from_slice(&lines).into_iter::<Json>();
    let failed: Vec<String> = reports
        .iter()
        .filter(|report| report.outcome != Outcome::Pass)
        .map(spec_test::first_failure)
        .collect();
    let message = match failed.first() {
        None => (MessageType::INFO, format!("test {name:?}: passed")),
        Some(first) => (MessageType::ERROR, format!("test {name:?}: {first}")),
    };
    Ok(Done {
        result: Json::Array(lines.filter_map(Result::ok).collect()),
        message: Some(message),
        refreshes: false,
    })
}

/// Audits traces for one property.
fn audit_traces(
    mut spec: Spec,
    path: &Path,
    property: &str,
    mut traces: Vec<String>,
    running: &Progress,
) -> Result<Done, String> {
    if traces.is_empty() {
        let beside = ENDINGS.map(|ending| path.with_extension(ending));
        let beside = beside.into_iter().filter(|file| file.is_file());
        traces = beside.map(|file| file.display().to_string()).collect();
    }
    if traces.is_empty() {
        let expected = path.with_extension(ENDINGS[0]);
        let expected = expected.display();
        return Err(format!("no traces beside the spec: expected `{expected}`"));
    }
    let id = spec.find_property(property);
    let id = id.ok_or_else(|| format!("the spec has no property `{property}`"))?;
    spec.retain_properties(|own, _| own == id);
    let limits = LimitArgs::default();
    let program = Program::compile(&spec, &limits.eval()).map_err(|error| explain(&error))?;
    let readers = Readers::new(&spec.schema, FormatChoice::Auto, limits.input())
        .map_err(|error| error.to_string())?;
    let (sources, missing) = Selection::default().find(&traces);
    if let Some(problem) = missing.first() {
        return Err(problem.to_string());
    }
    let mut summary = Summary::new(1);
    let mut first = First::default();
    audit::audit(
        &&program,
        &sources,
        &readers,
        running,
        &|_| None,
        &mut summary,
        &mut first,
        &mut |_| {},
    )
    .map_err(|error| error.to_string())?;
    let (n_traces, violated) = (summary.traces, summary.violating);
    let mut text = format!("{property}: violated in {violated} of {n_traces} traces");
    if let Some(found) = &first.found {
        text.push_str(&format!(
            "; first {} ({}:{})",
            found.trace, found.file, found.line
        ));
        if let Some(step) = found.step {
            text.push_str(&format!(" at step {step}"));
        }
    }
    let kind = match violated {
        0 => MessageType::INFO,
        _ => MessageType::WARNING,
    };
    Ok(Done {
        result: json!({
            "property": property,
            "traces": n_traces,
            "violated": violated,
            "errors": summary.errors(),
            "first": first.found,
        }),
        message: Some((kind, text)),
        refreshes: false,
    })
}

/// Verifies the properties of systems that a name selects.
fn verify(spec: &Spec, name: String) -> Result<Done, String> {
    let mut verifier = Verifier::new(spec, system::Limits::default());
    let mut asked = system::questions(spec);
    asked.retain(|question| verifier.names(*question).contains(&name));
    if asked.is_empty() {
        return Err(format!("the spec has no system property `{name}`"));
    }
    let wanted = [name];
    let (mut lines, mut summaries) = (Vec::new(), Vec::new());
    let mut all_hold = true;
    for question in asked {
        let start = Instant::now();
        let verdicts = verifier
            .answer(question)
            .map_err(|error| format!("`{}`: {error}", verifier.name(question)))?;
        let ms = start.elapsed().as_millis();
        for verdict in verdicts.iter().filter(|one| is_wanted(one, &wanted)) {
            all_hold &= holds(verdict);
            summaries.push(summary_of(verdict));
            let mut line = report::verify::json(verdict, false, ms);
            line["text"] = json!(verdict.text);
            line["variables"] = json!(verdict.variables);
            if let Some(steps) = verdict.run.as_ref().and_then(|run| run.bad_prefix) {
                line["violated_after"] = json!(steps);
            }
            lines.push(line);
        }
    }
    let kind = if all_hold {
        MessageType::INFO
    } else {
        MessageType::WARNING
    };
    Ok(Done {
        result: Json::Array(lines),
        message: Some((kind, summaries.join("; "))),
        refreshes: false,
    })
}

/// Returns an answer in a few words.
fn summary_of(verdict: &system::Verdict) -> String {
    let states = verdict.states;
    let result = match (verdict.holds, verdict.value) {
        (Some(true), _) => "holds".to_owned(),
        (Some(false), _) => "fails".to_owned(),
        (None, Some([value, ..])) => format!("{value}"),
        (None, None) if verdict.property.is_empty() => {
            return format!("{}: {states} states", verdict.system);
        }
        (None, None) => "not proved".to_owned(),
    };
    format!(
        "{} on {}: {result} ({states} states)",
        verdict.property, verdict.system
    )
}

/// Keeps the first violation.
#[derive(Default)]
struct First {
    found: Option<Violation>,
}

#[derive(serde::Serialize)]
struct Violation {
    trace: String,
    file: String,
    line: u64,
    step: Option<u32>,
    message: Option<String>,
}

impl Reporter for First {
    fn trace(&mut self, report: &TraceReport) -> std::io::Result<()> {
        let mut verdicts = report.verdicts.iter();
        let violated = verdicts.find(|found| found.verdict == Verdict::Violated);
        if let (None, Some(violated)) = (&self.found, violated) {
            self.found = Some(Violation {
                trace: report.trace.to_string(),
                file: report.file.to_string(),
                line: report.line,
                step: violated.at,
                message: violated.message.clone(),
            });
        }
        Ok(())
    }

    fn explains(&self, _: PropertyId, _: Verdict) -> bool {
        false
    }

    fn problem(&mut self, _: &Problem) -> std::io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> std::io::Result<()> {
        Ok(())
    }
}

/// Shows the values of a step; a trace that is already shown is not read again.
fn show_step(
    values: &Values,
    number: u64,
    path: &Path,
    analyses: u64,
    mut spec: Spec,
    wanted: WantedStep,
) -> Result<Done, String> {
    let WantedStep { runs, trace, step } = wanted;
    let _turn = values.turn.lock().unwrap_or_else(PoisonError::into_inner);
    // Hints do not wait while a trace is read.
    let mut latest = values.lock();
    if latest.number > number {
        return Ok(hints_changed());
    }
    let known = match latest.shown.take() {
        Some(Shown {
            path: of,
            analyses: version,
            moment:
                Moment::Step {
                    runs: file,
                    trace: name,
                    timeline,
                    ..
                },
        }) if of == path && version == analyses && file == runs && name == trace => Some(timeline),
        _ => None,
    };
    drop(latest);
    let timeline = match known {
        Some(timeline) => timeline,
        None => {
            let limits = LimitArgs::default();
            spec.retain_judged();
            let replay =
                Timeline::replay(&spec, &limits.eval(), SHOWN).map_err(|error| explain(&error))?;
            let sought = Sought {
                runs: &runs,
                trace: Some(&trace),
                from: None,
                property: None,
            };
            let record = trace_search::find(&replay, sought, &limits)?;
            Timeline::new(replay, record)
                .map(Box::new)
                .ok_or("`records where` rejects the record")?
        }
    };
    let mut moments = 0..timeline.end();
    let is_step = |at: &usize| timeline.step(*at).map(|found| found.index) == step;
    let at = moments.find(is_step).unwrap_or(timeline.end());
    let shown = Shown {
        path: path.to_owned(),
        analyses,
        moment: Moment::Step {
            runs,
            trace,
            timeline,
            at,
        },
    };
    Ok(values.show(number, Some(shown)))
}
