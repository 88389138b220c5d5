//! The result of an audit.

use guard_lang::{Problem, ReportFormat, Summary, Trace};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;

/// The judged traces, the problems with data, and the counts.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Report {
    spec: guard_lang::Spec,
    items: Vec<Result<Trace, Problem>>,
    /// The positions of the traces among the items.
    traces: Vec<usize>,
    summary: Summary,
}

impl Report {
    pub(crate) fn new(
        spec: guard_lang::Spec,
        items: Vec<Result<Trace, Problem>>,
        summary: Summary,
    ) -> Report {
        let traces = (0..items.len()).filter(|idx| matches!(items.get(*idx), Some(Ok(_))));
        Report {
            traces: traces.collect(),
            spec,
            items,
            summary,
        }
    }

    fn trace(&self, number: usize) -> Option<&Trace> {
        let idx = *self.traces.get(number)?;
        self.items.get(idx)?.as_ref().ok()
    }
}

#[pymethods]
impl Report {
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

    /// All problems in the order of the input, as a JSON list.
    fn problems_json(&self) -> PyResult<String> {
        let all: Vec<&Problem> = self
            .items
            .iter()
            .flat_map(|item| match item {
                Ok(trace) => trace.report().problems.as_slice(),
                Err(problem) => std::slice::from_ref(problem),
            })
            .collect();
        serde_json::to_string(&all).map_err(|error| PyValueError::new_err(error.to_string()))
    }
}
