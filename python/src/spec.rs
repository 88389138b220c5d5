//! Specs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use guard_lang::query::Figure;
use guard_lang::{Answer, AuditOptions, Error, FormatChoice, Progress};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::pybacked::{PyBackedBytes, PyBackedStr};

use crate::errors;
use crate::feed::{self, Given};
use crate::model::Model;
use crate::report::Report;

/// A spec that was checked and compiled.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Spec(Mutex<Owned>);

/// The caches of a spec are shared by the threads of a process; a forked process must not wait for threads that it has not.
struct Owned {
    process: u32,
    spec: guard_lang::Spec,
}

type Heading = (
    String,
    Option<String>,
    Option<String>,
    String,
    String,
    String,
    u32,
);

/// Name, category, truth value, number with its bounds, and what there is instead of a number.
type Answered = (
    String,
    String,
    Option<bool>,
    Option<(f64, f64, f64)>,
    Option<&'static str>,
);

impl Spec {
    fn new(py: Python<'_>, spec: Result<guard_lang::Spec, Error>) -> PyResult<Spec> {
        let spec = spec.map_err(|error| errors::of(py, &error))?;
        Ok(Spec(Mutex::new(Owned {
            process: std::process::id(),
            spec,
        })))
    }

    /// Returns the spec for this process.
    pub(crate) fn get(&self, py: Python<'_>) -> PyResult<guard_lang::Spec> {
        let mut owned = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if owned.process != std::process::id() {
            let spec = owned.spec.recompiled();
            owned.spec = spec.map_err(|error| errors::of(py, &error))?;
            owned.process = std::process::id();
        }
        Ok(owned.spec.clone())
    }
}

fn options(format: &str, jobs: Option<usize>) -> PyResult<AuditOptions> {
    let format: FormatChoice =
        format
            .parse()
            .map_err(|error: guard_lang::input::formats::UnknownFormat| {
                PyValueError::new_err(error.to_string())
            })?;
    let mut options = AuditOptions::default();
    (options.format, options.jobs) = (format, jobs);
    Ok(options)
}

fn answered(answer: &Answer) -> Answered {
    let (number, other) = match &answer.answer.value {
        Some(Figure::Finite {
            value,
            lower,
            upper,
            ..
        }) => (Some((*value, *lower, *upper)), None),
        Some(Figure::Infinite) => (None, Some("infinite")),
        Some(Figure::Undefined) => (None, Some("undefined")),
        None => (None, None),
    };
    let holds = answer.answer.holds.flatten();
    let undecided = matches!(answer.answer.holds, Some(None)).then_some("undecided");
    (
        answer.name.to_string(),
        answer.category.to_string(),
        holds,
        number,
        other.or(undecided),
    )
}

#[pymethods]
impl Spec {
    #[staticmethod]
    fn from_file(py: Python<'_>, path: PathBuf) -> PyResult<Spec> {
        Spec::new(py, py.detach(|| guard_lang::Spec::from_path(path)))
    }

    #[staticmethod]
    fn from_source(py: Python<'_>, name: &str, text: &str) -> PyResult<Spec> {
        Spec::new(py, py.detach(|| guard_lang::Spec::from_source(name, text)))
    }

    #[staticmethod]
    fn from_compiled(py: Python<'_>, name: &str, text: &str) -> PyResult<Spec> {
        Spec::new(
            py,
            py.detach(|| guard_lang::Spec::from_compiled(name, text)),
        )
    }

    /// The spec with all that it imports as one text.
    fn compiled(&self, py: Python<'_>) -> PyResult<String> {
        let text = self.get(py)?.to_compiled();
        text.map_err(|error| errors::of(py, &error))
    }

    /// Judges texts with the names that stand for their files, in this thread.
    fn judge(
        &self,
        py: Python<'_>,
        texts: Vec<(PyBackedStr, PyBackedBytes)>,
        format: &str,
    ) -> PyResult<Report> {
        let spec = self.get(py)?;
        let format = options(format, None)?.format;
        let judged = py.detach(|| {
            let texts = texts.iter().map(|(name, text)| (&**name, &**text));
            spec.judge_texts(texts, format)
        });
        let (items, summary) = judged.map_err(|error| errors::of(py, &error))?;
        Ok(Report::new(spec, items, summary))
    }

    /// Counts the steps of texts into the model that the spec learns, in this thread.
    fn count(
        &self,
        py: Python<'_>,
        texts: Vec<(PyBackedStr, PyBackedBytes)>,
        format: &str,
    ) -> PyResult<Model> {
        let spec = self.get(py)?;
        let format = options(format, None)?.format;
        let learned = py.detach(|| {
            let texts = texts.iter().map(|(name, text)| (&**name, &**text));
            spec.learn_texts(texts, format)
        });
        Model::learned(learned.map_err(|error| errors::of(py, &error))?)
    }

    /// The warnings of the compiler: drawn, and as JSON lines.
    fn warnings(&self, py: Python<'_>) -> PyResult<(String, String)> {
        let spec = self.get(py)?;
        let warnings = spec.warnings();
        Ok(match warnings.diagnostics().next() {
            Some(_) => (warnings.rendered(), warnings.json_lines()),
            None => Default::default(),
        })
    }

    /// Name, id, severity, documentation, formula, file and line of each property.
    fn properties(&self, py: Python<'_>) -> PyResult<Vec<Heading>> {
        let spec = self.get(py)?;
        let headings = spec.properties().iter();
        Ok(headings
            .map(|heading| {
                (
                    heading.name.to_string(),
                    heading.id.as_ref().map(ToString::to_string),
                    serde_json::to_value(heading.severity)
                        .ok()
                        .and_then(|severity| severity.as_str().map(str::to_owned)),
                    heading.doc.to_string(),
                    heading.formula.clone(),
                    heading.file.to_string(),
                    heading.line,
                )
            })
            .collect())
    }

    fn audit(
        &self,
        py: Python<'_>,
        traces: &Bound<'_, PyAny>,
        format: &str,
        include: Vec<String>,
        exclude: Vec<String>,
        jobs: Option<usize>,
    ) -> PyResult<Report> {
        let spec = self.get(py)?;
        let options = options(format, jobs)?;
        let given = Given::new(traces, &include, &exclude)?;
        let progress = Arc::new(Progress::default());
        let (judging, shared) = (spec.clone(), Arc::clone(&progress));
        let done = feed::run(py, given, &progress, move |traces| {
            let mut audit = judging.audit_traces(traces, &options, shared)?;
            let items: Vec<_> = audit.by_ref().collect();
            Ok((items, audit.summary()))
        })?;
        let (items, summary) = done.map_err(|error: Error| errors::of(py, &error))?;
        Ok(Report::new(spec, items, summary))
    }

    fn learn(
        &self,
        py: Python<'_>,
        traces: &Bound<'_, PyAny>,
        format: &str,
        include: Vec<String>,
        exclude: Vec<String>,
        jobs: Option<usize>,
    ) -> PyResult<Model> {
        let spec = self.get(py)?;
        let options = options(format, jobs)?;
        let given = Given::new(traces, &include, &exclude)?;
        let progress = Arc::new(Progress::default());
        let shared = Arc::clone(&progress);
        let learned = feed::run(py, given, &progress, move |traces| {
            spec.learn_traces(traces, &options, &shared)
        })?;
        Model::learned(learned.map_err(|error| errors::of(py, &error))?)
    }

    /// The answers to the queries and properties that the spec asks of its model, or to one that is given.
    fn query(&self, py: Python<'_>, model: &Model, query: Option<&str>) -> PyResult<Vec<Answered>> {
        let spec = self.get(py)?;
        let answers = py.detach(|| match query {
            Some(query) => spec.ask(&model.model, query),
            None => spec.query(&model.model),
        });
        let answers = answers.map_err(|error| errors::of(py, &error))?;
        Ok(answers.iter().map(answered).collect())
    }
}
