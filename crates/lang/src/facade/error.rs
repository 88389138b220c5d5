//! The error type of the facade. `miette` renders it, with the text of the spec if the error is in the spec.

use crate::audit::ReadersError;
use crate::diagnostic::SpecError;
use crate::eval::LimitError;
use crate::input::open::GlobError;
use crate::learn::{Invalid, ModelError};
use crate::load::LoadError;
use crate::monitor::MonitorError;
use crate::problem::Problem;
use crate::report::UnequalSummaries;

/// An operation that failed as a whole. Faults in recorded data are not errors: see [`Problem`](crate::problem::Problem).
#[derive(Debug, thiserror::Error, miette::Diagnostic)]
#[non_exhaustive]
pub enum Error {
    /// A file of the spec cannot be read.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// The spec has errors.
    #[error(transparent)]
    #[diagnostic(transparent)]
    Spec(#[from] SpecError),
    /// A property exceeds the limits on automata.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// No reader fits the layout of the spec.
    #[error(transparent)]
    Reader(#[from] ReadersError),
    /// A pattern for file names is invalid.
    #[error(transparent)]
    Glob(#[from] GlobError),
    /// A path cannot be read, or is a folder without recorded traces.
    #[error("{0}")]
    Traces(Problem),
    /// A thread cannot be started.
    #[error("cannot start a thread: {0}")]
    Thread(std::io::Error),
    /// The `enforce` clauses of the spec cannot be monitored.
    #[error(transparent)]
    Monitor(#[from] MonitorError),
    /// A value that is given as an event cannot be written as JSON.
    #[error("cannot serialize the event: {0}")]
    Event(#[from] serde_json::Error),
    /// A spec cannot be written as JSON.
    #[error("cannot serialize the spec: {0}")]
    Compiled(#[source] serde_json::Error),
    /// The spec declares no model that is learned from traces, or more than one.
    #[error("expected exactly one `model NAME = learn {{ … }}` in the spec, found {0}")]
    Models(usize),
    /// The model file does not match the spec.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// Traces show steps that the abstraction declares impossible, so no model was learned.
    #[error("{} step(s) of the traces are declared impossible; the first is in trace `{}`", .0.len(), .0.first().map_or("", |first| first.trace.as_str()))]
    Impossible(Vec<Invalid>),
    /// Summaries of different specs cannot be added.
    #[error(transparent)]
    Summaries(#[from] UnequalSummaries),
    /// A query cannot be answered.
    #[error("`{name}`: {reason}")]
    Query {
        /// The name of the query or property.
        name: String,
        /// The reason.
        reason: String,
    },
}
