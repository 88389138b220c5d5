//! The result of an audit.

use guard_lang::{Problem, ReportFormat, Trace};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::errors::raised;
use crate::spec::Spec;
use crate::tables;

/// The judged traces, the problems with data, and the counts.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Report {
    spec: guard_lang::Spec,
    items: Vec<Result<Trace, Problem>>,
    /// The positions of the traces among the items.
    traces: Vec<usize>,
    summary: guard_lang::Summary,
}

impl Report {
    pub(crate) fn new(
        spec: guard_lang::Spec,
        items: Vec<Result<Trace, Problem>>,
        summary: guard_lang::Summary,
    ) -> Report {
        let traces = (0..items.len()).filter(|idx| matches!(items.get(*idx), Some(Ok(_))));
        Report {
            traces: traces.collect(),
            spec,
            items,
            summary,
        }
    }

    /// Returns all problems in the order of the input.
    fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.items.iter().flat_map(|item| match item {
            Ok(trace) => trace.report().problems.as_slice(),
            Err(problem) => std::slice::from_ref(problem),
        })
    }

    fn trace(&self, number: usize) -> Option<&Trace> {
        let idx = *self.traces.get(number)?;
        self.items.get(idx)?.as_ref().ok()
    }
}

#[pymethods]
impl Report {
    /// The counts.
    #[getter]
    fn summary(&self) -> Summary {
        Summary {
            spec: self.spec.clone(),
            counts: self.summary.clone(),
        }
    }

    /// The lines of `guard audit --format json` but for the last, as columns: kind (`verdict`, `trace`, `problem`), trace, property,
    /// verdict and step of each, and the line itself.
    fn columns(&self, py: Python<'_>) -> PyResult<Columns> {
        py.detach(|| {
            let mut columns = Columns::default();
            for item in &self.items {
                columns.add(&self.spec, item)?;
            }
            Ok(columns)
        })
    }

    fn __len__(&self) -> usize {
        self.traces.len()
    }

    /// The number of traces that violate a property.
    #[getter]
    fn violating(&self) -> u64 {
        self.summary.violating
    }

    /// The number of judged steps.
    #[getter]
    fn events(&self) -> u64 {
        self.summary.events
    }

    /// The number of problems that left data unread.
    #[getter]
    fn errors(&self) -> u64 {
        self.summary.errors()
    }

    /// The report as `guard audit --format` prints it.
    fn render(&self, py: Python<'_>, format: &str) -> PyResult<String> {
        let format = match format {
            "human" => ReportFormat::Text,
            "json" => ReportFormat::Json,
            "sarif" => ReportFormat::Sarif,
            "junit" => ReportFormat::Junit,
            "html" => ReportFormat::Html,
            other => return Err(PyValueError::new_err(format!("unknown format `{other}`"))),
        };
        let bytes = py.detach(|| {
            let mut bytes = Vec::new();
            let items = self.items.iter();
            self.spec
                .write_report(format, items, &self.summary, &mut bytes)
                .map(|()| bytes)
        })?;
        Ok(String::from_utf8(bytes)?)
    }

    /// The JSON lines of one trace, as a JSON list.
    fn trace_json(&self, number: usize) -> PyResult<String> {
        let trace = self
            .trace(number)
            .ok_or_else(|| PyIndexError::new_err("no trace of this number"))?;
        serde_json::to_string(trace).map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// Name, file, line, position in the file and number of steps of one trace, and whether it violates a property.
    fn trace_facts(&self, number: usize) -> PyResult<(String, String, u64, u64, u64, bool)> {
        let trace = self
            .trace(number)
            .ok_or_else(|| PyIndexError::new_err("no trace of this number"))?;
        let report = trace.report();
        let violates = trace.violations().next().is_some();
        Ok((
            report.trace.to_string(),
            report.file.to_string(),
            report.line,
            report.index,
            report.events,
            violates,
        ))
    }

    /// The verdicts, the traces or the problems, as a stream of the Arrow C data interface.
    fn table<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyCapsule>> {
        let traces = self.items.iter().filter_map(|item| item.as_ref().ok());
        let stream = py.detach(|| match name {
            "verdicts" => tables::verdicts(traces).map(Some),
            "traces" => tables::traces(traces).map(Some),
            "problems" => tables::problems(self.problems()).map(Some),
            _ => Ok(None),
        });
        let stream = stream.map_err(|error| PyValueError::new_err(error.to_string()))?;
        let stream = stream.ok_or_else(|| PyValueError::new_err(format!("no table `{name}`")))?;
        PyCapsule::new_with_value(py, stream, tables::STREAM)
    }

    /// All problems in the order of the input, as a JSON list.
    fn problems_json(&self) -> PyResult<String> {
        let all: Vec<&Problem> = self.problems().collect();
        serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}

/// The counts of an audit, which can be added.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Summary {
    spec: guard_lang::Spec,
    counts: guard_lang::Summary,
}

#[pymethods]
impl Summary {
    /// The counts of no trace, or those that `text` returned for the same spec.
    #[new]
    #[pyo3(signature = (spec, text=None))]
    fn new(py: Python<'_>, spec: &Spec, text: Option<&str>) -> PyResult<Summary> {
        let spec = spec.get(py)?;
        let empty = guard_lang::Summary::new(spec.properties().len());
        let Some(text) = text else {
            return Ok(Summary {
                spec,
                counts: empty,
            });
        };
        let told: guard_lang::Summary =
            serde_json::from_str(text).map_err(|error| PyValueError::new_err(error.to_string()))?;
        let counts = Summary {
            spec,
            counts: empty,
        };
        counts.added(py, &told)
    }

    /// The counts as text, for another process.
    fn text(&self) -> PyResult<String> {
        serde_json::to_string(&self.counts)
            .map_err(|error| PyValueError::new_err(error.to_string()))
    }

    /// The counts of both.
    fn merged(&self, py: Python<'_>, other: &Summary) -> PyResult<Summary> {
        self.added(py, &other.counts)
    }

    /// The last line of `guard audit --format json`.
    fn json(&self) -> PyResult<String> {
        let mut bytes = Vec::new();
        self.spec
            .write_report(ReportFormat::Json, [], &self.counts, &mut bytes)?;
        Ok(String::from_utf8(bytes)?)
    }

    /// Traces, traces that violate a property, steps, and problems that left data unread.
    fn counts(&self) -> (u64, u64, u64, u64) {
        let counts = &self.counts;
        (
            counts.traces,
            counts.violating,
            counts.events,
            counts.errors(),
        )
    }
}

impl Summary {
    fn added(&self, py: Python<'_>, other: &guard_lang::Summary) -> PyResult<Summary> {
        let mut counts = self.counts.clone();
        let merged = counts.merge(other);
        merged.map_err(|error| raised(py, "InputError", (error.to_string(),)))?;
        Ok(Summary {
            spec: self.spec.clone(),
            counts,
        })
    }
}

/// Lines of an audit, by column.
#[derive(Default, IntoPyObject)]
pub(crate) struct Columns {
    kind: Vec<&'static str>,
    trace: Vec<Option<String>>,
    property: Vec<Option<String>>,
    verdict: Vec<Option<&'static str>>,
    at: Vec<Option<u32>>,
    line: Vec<String>,
}

impl Columns {
    /// Adds the lines about a judged trace, or about a problem with data that belongs to none.
    fn add(
        &mut self,
        spec: &guard_lang::Spec,
        item: &Result<Trace, Problem>,
    ) -> std::io::Result<()> {
        let text = spec.json_lines(item)?;
        let mut lines = text.lines();
        let mut push = |kind, trace: Option<&str>, property: Option<&str>, verdict, at| {
            if let Some(line) = lines.next() {
                self.kind.push(kind);
                self.trace.push(trace.map(str::to_owned));
                self.property.push(property.map(str::to_owned));
                self.verdict.push(verdict);
                self.at.push(at);
                self.line.push(line.to_owned());
            }
        };
        let problems = match item {
            Ok(trace) => {
                let name = Some(trace.name());
                for (heading, judged) in trace.verdicts() {
                    let verdict = Some(judged.verdict.as_str());
                    push("verdict", name, Some(&heading.name), verdict, judged.at);
                }
                push("trace", name, None, None, None);
                trace.report().problems.as_slice()
            }
            Err(problem) => std::slice::from_ref(problem),
        };
        for problem in problems {
            push(
                "problem",
                problem.trace.as_deref(),
                None,
                None,
                problem.step,
            );
        }
        Ok(())
    }
}
