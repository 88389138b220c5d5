//! Guard: a compiler and interpreter for a small language about the safety of agents.
//!
//! A `.guard` file declares the fields of a step of a recorded run, the relevant conditions, and the properties that must hold
//! over time. This crate reads such files, checks them, and judges traces against them. The passes, in order:
//!
//! ```text
//! text ─▶ syntax ─▶ modules ─▶ check ─▶ hir ─▶ eval ─▶ verdict ─▶ report
//!         AST       imports    types    core   │  ▲
//!                                        │     │  automata
//!                                        ▼     │
//!                                    reference input ◀─ recorded data
//! ```
//!
//! # Use
//! [`Spec`] loads and compiles a spec once; it is cheap to clone and shared between threads.
//!
//! ```
//! use guard_lang::{Spec, Verdict};
//!
//! let spec = Spec::from_source("mail.guard", r#"
//! event { tool: string }
//! property no_mail = never (tool == "send_email")
//! "#)?;
//! let runs = br#"{"id":"t1","events":[{"tool":"search"},{"tool":"send_email"}]}"#;
//! let judged = spec.judge("runs.jsonl", runs);
//! assert_eq!(judged.reports[0].verdicts[0].verdict, Verdict::Violated);
//! assert_eq!(judged.reports[0].verdicts[0].at, Some(1));
//! # Ok::<(), guard_lang::Error>(())
//! ```
//!
//! [`Spec::audit`] judges files and folders, [`Spec::monitor`] follows live traces, [`Spec::learn`] and [`Spec::query`] learn
//! Markov chains from recorded traces and answer queries on them. All errors have the type [`Error`], which `miette` renders
//! with the text of the spec.
//!
//! The modules of the compiler are public for its own tests, benchmarks and fuzz targets only. They are hidden here and
//! change without notice.

#[doc(hidden)]
pub mod abstraction;
#[doc(hidden)]
pub mod artifact;
#[doc(hidden)]
pub mod audit;
#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod domain;
#[doc(hidden)]
pub mod eval;
#[doc(hidden)]
pub mod facade;
#[doc(hidden)]
mod hash;
pub mod hir;
#[doc(hidden)]
pub mod ids;
#[doc(hidden)]
pub mod inert;
#[doc(hidden)]
pub mod input;
#[doc(hidden)]
pub mod input_schema;
#[doc(hidden)]
pub mod learn;
#[doc(hidden)]
pub mod lint;
#[doc(hidden)]
pub mod load;
#[doc(hidden)]
pub mod modules;
#[doc(hidden)]
pub mod monitor;
#[doc(hidden)]
pub mod pattern;
#[doc(hidden)]
pub mod pool;
#[doc(hidden)]
pub mod problem;
#[doc(hidden)]
pub mod query;
#[cfg(test)]
#[path = "../../../tests/it/support/random.rs"]
mod random;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
pub mod stdlib;
#[doc(hidden)]
pub mod system;
#[doc(hidden)]
pub mod texts;
#[doc(hidden)]
pub mod translate;
#[doc(hidden)]
pub mod types;
#[doc(hidden)]
pub mod value;
#[doc(hidden)]
pub mod verdict;

#[doc(hidden)]
pub use guard_shell as shell;
#[doc(hidden)]
pub use guard_syntax::{self as syntax, diagnostic, source};

pub use audit::{Judgement, Progress};
pub use diagnostic::{Diagnostic, SpecError};
pub use facade::{
    Answer, Audit, AuditOptions, Decision, Error, Learned, Model, Monitor, ReportFormat, Spec,
    Trace, Traces, Verdict,
};
pub use input::formats::{Format, FormatChoice};
pub use monitor::Ruling;
pub use problem::{Problem, ProblemKind};
pub use query::ClaimAnswer;
pub use report::{Heading, Summary};
pub use value::Instant;
pub use verdict::{PropertyVerdict, TraceReport};

use modules::{Loader, Project};
use source::SourceMap;

/// The result of the front end: parsing, imports, names and types.
#[doc(hidden)]
#[derive(Debug)]
pub struct Checked {
    /// The texts of all files.
    pub sources: SourceMap,
    /// Their trees; module 0 is the spec.
    pub project: Project,
    /// The core form; present exactly if no diagnostic is an error.
    pub spec: Option<hir::Spec>,
    /// All diagnostics, sorted by position.
    pub diagnostics: Vec<Diagnostic>,
    /// The declarations of resolved names.
    pub links: check::Links,
}

impl Checked {
    /// Adds the findings of the linter if the spec has no errors. Not needed for judging traces.
    pub fn lint(&mut self, limits: &lint::Limits) {
        if let Some(spec) = &self.spec {
            lint::add(spec, &mut self.diagnostics, limits);
        }
    }
}

/// Parses and checks a spec and its imports.
///
/// ```
/// let checked = guard_lang::front(
///     "mail.guard",
///     "event { tool: string }\nproperty no_mail = never (tool == \"send_email\")\n",
///     &guard_lang::modules::NoFiles,
///     guard_lang::check::Limits::default(),
/// );
/// assert!(checked.spec.is_some());
/// ```
#[doc(hidden)]
pub fn front(name: &str, text: &str, loader: &dyn Loader, limits: check::Limits) -> Checked {
    let mut sources = SourceMap::new();
    let (project, mut diagnostics) = modules::load(name, text, loader, &mut sources);
    // Later passes check everything that could be parsed, so that one run reports all errors. The placeholder for
    // broken text has every type, so it causes no further reports.
    let meaning = check::check(&project, &sources, limits);
    diagnostics.extend(meaning.diagnostics);
    diagnostic::sort(&mut diagnostics);
    let sound = !diagnostics.iter().any(Diagnostic::is_error);
    Checked {
        sources,
        project,
        spec: meaning.spec.filter(|_| sound),
        diagnostics,
        links: meaning.links,
    }
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
