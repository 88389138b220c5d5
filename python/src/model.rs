//! Learned models.

use guard_lang::Learned;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::errors::raised;

/// Counts of steps, as `guard learn` writes them.
#[pyclass(frozen, module = "guard_lang._guard")]
pub(crate) struct Model {
    pub(crate) model: guard_lang::Model,
    /// Of a model that was learned here: traces, and problems as JSON.
    traces: Option<u64>,
    problems: String,
}

impl Model {
    pub(crate) fn learned(learned: Learned) -> PyResult<Model> {
        let problems = serde_json::to_string(&learned.problems)
            .map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(Model {
            model: learned.model,
            traces: Some(learned.traces),
            problems,
        })
    }

    fn read(model: guard_lang::Model) -> Model {
        Model {
            model,
            traces: None,
            problems: "[]".to_owned(),
        }
    }
}

#[pymethods]
impl Model {
    /// Reads the text of a model file.
    #[staticmethod]
    fn parse(py: Python<'_>, text: &str) -> PyResult<Model> {
        let model = guard_lang::Model::parse(text);
        let model = model.map_err(|error| raised(py, "ModelError", (error.to_string(),)))?;
        Ok(Model::read(model))
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

    fn problems_json(&self) -> &str {
        &self.problems
    }

    /// The sum of both counts.
    fn merged(&self, py: Python<'_>, other: &Model) -> PyResult<Model> {
        let mut model = self.model.clone();
        model
            .merge(&other.model)
            .map_err(|error| raised(py, "ModelError", (error.to_string(),)))?;
        Ok(Model::read(model))
    }
}
