//! Guard: a compiler and interpreter for a small language about the safety of agents.
//!
//! A `.guard` file says what a step of a recorded run looks like, which situations matter, and what must hold over time.
//! This crate reads such files, checks them, and judges traces by them. The passes, in order:
//!
//! ```text
//! text ─▶ syntax ─▶ project ─▶ check ─▶ hir ─▶ eval ─▶ verdict ─▶ report
//!         AST       imports    types    core   │  ▲
//!                                        │     │  automata
//!                                        ▼     │
//!                                    reference input ◀─ recorded data
//! ```
//!
//! [`front`] runs the passes up to the core language, [`audit::judge_text`] judges traces that are at hand, and the
//! command line stands on top of all.
//!
//! ```
//! use guard_lang::{audit, check, front, project::NoFiles, verdict::Verdict};
//!
//! let spec = "event { tool: string }\nproperty no_mail = never (tool == \"send_email\")\n";
//! let checked = front("mail.guard", spec, &NoFiles, check::Limits::default());
//! let spec = checked.spec.ok_or("the spec is wrong")?;
//! let runs = br#"{"id":"t1","events":[{"tool":"search"},{"tool":"send_email"}]}"#;
//! let judged = audit::judge_text(&spec, "runs.jsonl", runs)?;
//! assert_eq!(judged.reports[0].verdicts[0].verdict, Verdict::Violated);
//! assert_eq!(judged.reports[0].verdicts[0].at, Some(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod abstraction;
mod artifact;
pub mod audit;
pub mod calibrate;
pub mod check;
#[cfg(feature = "cli")]
pub mod cli;
pub mod diagnostic;
#[cfg(feature = "cli")]
pub mod doc;
pub mod domain;
#[cfg(feature = "cli")]
pub mod editor;
pub mod eval;
mod facade;
pub mod hir;
pub mod ids;
pub mod inert;
pub mod input;
pub mod integrations;
pub mod learn;
pub mod lint;
pub mod load;
pub mod monitor;
pub mod mutate;
pub mod pattern;
pub mod problem;
pub mod project;
pub mod query;
pub mod report;
pub mod shell;
pub mod signature;
pub mod source;
pub mod stdlib;
pub mod syntax;
pub mod system;
pub mod translate;
pub mod types;
pub mod value;
pub mod verdict;

pub use facade::{
    Answer, Audit, AuditOptions, Decision, Error, Model, Monitor, Spec, Trace, Verdict,
};

use diagnostic::Diagnostic;
use project::{Loader, Project};
use source::SourceMap;

/// What the front of the compiler makes of a spec.
#[derive(Debug)]
pub struct Checked {
    /// The texts of all files that took part.
    pub sources: SourceMap,
    /// Their trees; module 0 is the spec.
    pub project: Project,
    /// The core form; there exactly when no diagnostic is an error.
    pub spec: Option<hir::Spec>,
    /// Everything that was found, sorted by place.
    pub diagnostics: Vec<Diagnostic>,
    /// Which names mean which declarations.
    pub links: check::Links,
}

impl Checked {
    /// Adds what the linter finds in a sound spec. Judging traces does not need it, checking a spec does.
    pub fn lint(&mut self, limits: &lint::Limits) {
        if let Some(spec) = &self.spec {
            let found = lint::lint(spec, &self.diagnostics, limits);
            self.diagnostics.extend(found);
            diagnostic::sort(&mut self.diagnostics);
        }
    }
}

/// Reads and checks a spec and what it imports.
///
/// ```
/// let checked = guard_lang::front(
///     "mail.guard",
///     "event { tool: string }\nproperty no_mail = never (tool == \"send_email\")\n",
///     &guard_lang::project::NoFiles,
///     guard_lang::check::Limits::default(),
/// );
/// assert!(checked.spec.is_some());
/// ```
pub fn front(name: &str, text: &str, loader: &dyn Loader, limits: check::Limits) -> Checked {
    let mut sources = SourceMap::new();
    let (project, mut diagnostics) = project::load(name, text, loader, &mut sources);
    // Later passes look at what could be read, so that one run reports all that is wrong; what stands in for broken
    // text fits everywhere and is reported no second time.
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
