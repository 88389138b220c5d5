//! The interface for most users of the library: load a spec, audit recorded traces, monitor live ones, learn and query
//! models.
//!
//! A [`Spec`] is compiled once and cheap to clone; it is `Send + Sync`, so one spec serves all threads.

mod audit;
mod error;
mod model;
mod monitor;
mod report;
mod traces;

pub use audit::{Audit, AuditOptions, Trace, Verdict};
pub use error::Error;
pub use model::{Answer, Learned, Model};
pub use monitor::{Decision, Monitor};
pub use report::ReportFormat;
pub use traces::Traces;

use std::path::Path;
use std::sync::Arc;

use crate::audit::Readers;
use crate::diagnostic::{Diagnostic, SpecError};
use crate::eval::{self, Program};
use crate::hir;
use crate::input::formats::FormatChoice;
use crate::input::limits::InputLimits;
use crate::load::Loaded;
use crate::modules::NoFiles;
use crate::report::{Heading, Headings};

/// A spec that was checked and compiled.
#[derive(Clone, Debug)]
pub struct Spec(Arc<Compiled>);

#[derive(Debug)]
struct Compiled {
    hir: Arc<hir::Spec>,
    /// The parts of the spec that an audit judges.
    judged: hir::Spec,
    program: Program,
    readers: Readers,
    headings: Headings,
    warnings: SpecError,
    loaded: Arc<Loaded>,
}

impl Spec {
    /// Loads the spec, or the result of `guard compile`, at `path`, with its imports.
    ///
    /// # Errors
    /// [`Error::Load`] if a file cannot be read, [`Error::Spec`] if the spec has errors, [`Error::Limit`] if a property
    /// exceeds the limits on automata.
    pub fn from_path(path: impl AsRef<Path>) -> Result<Spec, Error> {
        Spec::compile(Loaded::from_path(path.as_ref())?)
    }

    /// Compiles the text of a spec that imports nothing but the standard library. `name` is its file name in messages.
    ///
    /// # Errors
    /// [`Error::Spec`] if the spec has errors, [`Error::Limit`] if a property exceeds the limits on automata.
    pub fn from_source(name: &str, text: &str) -> Result<Spec, Error> {
        Spec::compile(Loaded::from_source(name, text, &NoFiles))
    }

    /// Loads the result of [`Spec::to_compiled`]. `name` is its file name in messages.
    ///
    /// # Errors
    /// [`Error::Load`] if the text is damaged or of another version of Guard or its standard library, and as
    /// [`Spec::from_source`].
    pub fn from_compiled(name: &str, text: &str) -> Result<Spec, Error> {
        Spec::compile(Loaded::from_compiled(name, text)?)
    }

    /// Returns a text that contains the spec with its imports and the tables of its models, for another machine.
    ///
    /// # Errors
    /// [`Error::Compiled`] if it cannot be written as JSON, which cannot happen for a spec that was loaded.
    pub fn to_compiled(&self) -> Result<String, Error> {
        let Compiled { hir, warnings, .. } = &*self.0;
        let diagnostics: Vec<Diagnostic> = warnings.diagnostics().cloned().collect();
        let artifact = self.0.loaded.artifact(hir, &diagnostics);
        serde_json::to_string(&artifact).map_err(Error::Compiled)
    }

    fn compile(mut loaded: Loaded) -> Result<Spec, Error> {
        let Some(spec) = loaded.spec.take() else {
            let errors = loaded.diagnostics.into_iter().filter(Diagnostic::is_error);
            return Err(SpecError::new(errors.collect(), &loaded.sources).into());
        };
        let mut judged = spec.clone();
        judged.retain_judged();
        let diagnostics = std::mem::take(&mut loaded.diagnostics);
        Ok(Spec(Arc::new(Compiled {
            program: Program::compile(&judged, &eval::Limits::default())?,
            readers: Readers::new(&spec.schema, FormatChoice::Auto, InputLimits::default())?
                .noting_absent(&judged),
            headings: Headings::new(&judged, &loaded.sources),
            warnings: SpecError::new(diagnostics, &loaded.sources),
            hir: Arc::new(spec),
            judged,
            loaded: Arc::new(loaded),
        })))
    }

    /// Compiles the same spec again, with its own caches. Needed in a process that was forked while other threads used the
    /// caches.
    ///
    /// # Errors
    /// As [`Spec::from_source`], which this spec has passed once.
    pub fn recompiled(&self) -> Result<Spec, Error> {
        let Compiled { hir, judged, .. } = &*self.0;
        Ok(Spec(Arc::new(Compiled {
            program: Program::compile(judged, &eval::Limits::default())?,
            readers: self.0.readers.unused(),
            headings: self.0.headings.clone(),
            warnings: self.0.warnings.clone(),
            hir: Arc::clone(hir),
            judged: judged.clone(),
            loaded: Arc::clone(&self.0.loaded),
        })))
    }

    /// Returns the parts from which the command line builds its durable monitor.
    pub fn parts(&self) -> (&hir::Spec, &Loaded) {
        (&self.0.hir, &self.0.loaded)
    }

    /// Returns the warnings and hints of the compiler as one error, which `miette` can render; empty if there are none.
    pub fn warnings(&self) -> &SpecError {
        &self.0.warnings
    }

    /// Returns the properties and rules in order of declaration: name, id, severity, documentation, text of the formula.
    pub fn properties(&self) -> &[Heading] {
        &self.0.headings.properties
    }
}
