//! The extension module `guard_lang._guard`: specs, reports, models and monitors for the Python package.
//!
//! The classes here are the least that needs Rust; the package around them has the types and the documentation.

mod errors;
mod events;
mod feed;
mod model;
mod monitor;
mod report;
mod spec;
mod tables;

use std::ffi::OsString;

use guard_cli::integrations::mcp;
use pyo3::prelude::*;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs the `guard` command with these arguments, the first of which is the name of the program. Returns the exit code.
#[pyfunction]
fn run(py: Python<'_>, args: Vec<OsString>) -> u8 {
    py.detach(|| guard_cli::cli::run(args))
}

/// Returns an object as JSON. Raises `TypeError` for what has no such form.
#[pyfunction]
fn to_json(value: &Bound<'_, PyAny>) -> PyResult<String> {
    let mut json = Vec::new();
    events::write(&mut json, value)?;
    Ok(String::from_utf8(json)?)
}

/// Returns all the text of a value as JSON; `None` if some of it is unknown. `of_server`: it is a result of an MCP server.
#[pyfunction]
fn text_of(py: Python<'_>, json: &str, of_server: bool) -> Option<String> {
    py.detach(|| match of_server {
        true => mcp::text_of_result(json),
        false => mcp::text_of_value(json),
    })
}

/// Returns whether a call of a tool of an MCP server failed, by its result as JSON; `None` if the result does not say it.
#[pyfunction]
fn is_failed_call(json: &str) -> Option<bool> {
    mcp::is_failed_call(json)
}

/// The extension module.
#[pymodule(gil_used = true)]
mod _guard {
    #[pymodule_export]
    use super::is_failed_call;
    #[pymodule_export]
    use super::model::Model;
    #[pymodule_export]
    use super::monitor::{Decision, Monitor};
    #[pymodule_export]
    use super::report::{Report, Summary};
    #[pymodule_export]
    use super::run;
    #[pymodule_export]
    use super::spec::Spec;
    #[pymodule_export]
    use super::text_of;
    #[pymodule_export]
    use super::to_json;
}
