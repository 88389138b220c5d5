//! Errors of the library as the exceptions of `guard_lang._errors`.

use guard_lang::Error;
use pyo3::prelude::*;

/// Returns the exception of this class.
pub(crate) fn raised<A>(py: Python<'_>, class: &str, args: A) -> PyErr
where
    A: for<'py> pyo3::call::PyCallArgs<'py>,
{
    let exception = py
        .import("guard_lang._errors")
        .and_then(|errors| errors.getattr(class))
        .and_then(|class| class.call1(args));
    match exception {
        Ok(exception) => PyErr::from_value(exception),
        Err(error) => error,
    }
}

/// Returns the exception for an error of the library.
pub(crate) fn of(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Spec(spec) => raised(py, "SpecError", (spec.rendered(), spec.json_lines())),
        Error::Load(_) | Error::Limit(_) => raised(py, "LoadError", (error.to_string(),)),
        Error::Models(_) | Error::Model(_) | Error::Impossible(_) => {
            raised(py, "ModelError", (error.to_string(),))
        }
        Error::Query { .. } => raised(py, "QueryError", (error.to_string(),)),
        Error::Monitor(_) => raised(py, "MonitorError", (error.to_string(),)),
        _ => raised(py, "InputError", (error.to_string(),)),
    }
}
