//! Learned models.

use guard_lang::Learned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::Value;

use crate::errors::raised;

/// Counts of steps, as `guard learn` writes them.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Model {
    pub(crate) model: guard_lang::Model,
    /// The number of traces that it was learned from, if known.
    traces: Option<u64>,
    /// The problems with the data that it was learned from.
    problems: Vec<Value>,
}

impl Model {
    pub(crate) fn learned(learned: Learned) -> PyResult<Model> {
        let problems = learned.problems.iter().map(serde_json::to_value).collect();
        Ok(Model {
            model: learned.model,
            traces: Some(learned.traces),
            problems: invalid_if_err(problems)?,
        })
    }
}

fn invalid_if_err<T>(result: serde_json::Result<T>) -> PyResult<T> {
    result.map_err(|error| PyValueError::new_err(error.to_string()))
}

#[pymethods]
impl Model {
    /// Reads the text of a model file. What it was learned from is not in the file: the number of traces, and the problems as
    /// a JSON list.
    #[staticmethod]
    #[pyo3(signature = (text, traces=None, problems="[]"))]
    fn parse(py: Python<'_>, text: &str, traces: Option<u64>, problems: &str) -> PyResult<Model> {
        let model = guard_lang::Model::parse(text);
        let model = model.map_err(|error| raised(py, "ModelError", (error.to_string(),)))?;
        Ok(Model {
            model,
            traces,
            problems: invalid_if_err(serde_json::from_str(problems))?,
        })
    }

    /// The text of the model file.
    fn text(&self) -> String {
        self.model.to_text() + "\n"
    }

    #[getter]
    fn name(&self) -> String {
        self.model.header.model.to_string()
    }

    #[getter]
    fn traces(&self) -> Option<u64> {
        self.traces
    }

    fn problems_json(&self) -> PyResult<String> {
        invalid_if_err(serde_json::to_string(&self.problems))
    }

    /// The sum of both counts.
    fn merged(&self, py: Python<'_>, other: &Model) -> PyResult<Model> {
        let mut model = self.model.clone();
        model
            .merge(&other.model)
            .map_err(|error| raised(py, "ModelError", (error.to_string(),)))?;
        let traces = self.traces.zip(other.traces);
        Ok(Model {
            model,
            traces: traces.map(|(mine, others)| mine + others),
            problems: self
                .problems
                .iter()
                .chain(&other.problems)
                .cloned()
                .collect(),
        })
    }
}
