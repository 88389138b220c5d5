//! Diagnostics of a spec: messages with a code, labelled spans, notes and fixes.
//!
//! A [`Diagnostic`] is plain data. Passes build and collect diagnostics; [`render`] draws them for a terminal,
//! [`json`](json()) writes one line of JSON, and [`SpecError`] carries them through the library's error protocol. Every
//! [`Code`] is declared once in [`registry`], with a page that explains it.
//!
//! ```
//! use guard_syntax::diagnostic::{Code, Diagnostic};
//! use guard_syntax::source::{FileId, Span};
//!
//! let span = Span::new(FileId(0), 4, 6);
//! let diagnostic = Diagnostic::new(Code::G0101, span, "expected a value, found `)`")
//!     .label("a value is missing here")
//!     .note("every operator stands between two values");
//! assert_eq!(diagnostic.code.as_str(), "G0101");
//! ```

mod error;
mod json;
pub mod registry;
mod render;
mod suggest;

pub use error::SpecError;
pub use json::{json, json_lines};
pub use registry::Code;
pub use render::{RenderOptions, render, render_short};
pub use suggest::{did_you_mean, misspelling_of};

use serde::{Deserialize, Serialize};

use crate::source::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Severity {
    /// The spec has an error and cannot be run.
    Error,
    /// The spec is accepted, but its meaning is probably not the intended one.
    Warning,
    /// The spec could be written better.
    Hint,
}

impl Severity {
    /// `error`, `warning` or `hint`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Hint => "hint",
        }
    }
}

/// A span with a few words about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// Its span.
    pub span: Span,
    /// Its message; may be empty for the primary label.
    pub message: String,
}

/// An edit that replaces each span by its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fix {
    /// The title of the edit for a menu.
    pub message: String,
    /// Spans and their new text; spans do not overlap.
    pub edits: Vec<(Span, String)>,
}

/// One message about a spec.
///
/// The message is one lower-case clause without a period, with user text in backticks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The code, which has a page.
    pub code: Code,
    /// The severity; the code's default unless changed.
    pub severity: Severity,
    /// The message.
    pub message: String,
    /// The primary location.
    pub primary: Label,
    /// Further locations that are part of the problem.
    pub secondary: Vec<Label>,
    /// Background information, one sentence each.
    pub notes: Vec<String>,
    /// Alternative edits.
    pub fixes: Vec<Fix>,
}

impl Diagnostic {
    /// Returns a diagnostic of the code's default severity at `span`.
    pub fn new(code: Code, span: impl Into<Span>, message: impl Into<String>) -> Self {
        Self {
            code,
            severity: code.severity(),
            message: message.into(),
            primary: Label {
                span: span.into(),
                message: String::new(),
            },
            secondary: Vec::new(),
            notes: Vec::new(),
            fixes: Vec::new(),
        }
    }

    /// Sets the label of the primary span.
    #[must_use]
    pub fn label(mut self, message: impl Into<String>) -> Self {
        self.primary.message = message.into();
        self
    }

    /// Adds a further labelled span.
    #[must_use]
    pub fn also(mut self, span: impl Into<Span>, message: impl Into<String>) -> Self {
        self.secondary.push(Label {
            span: span.into(),
            message: message.into(),
        });
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds an edit that replaces one span.
    #[must_use]
    pub fn fix(
        self,
        message: impl Into<String>,
        span: impl Into<Span>,
        replacement: impl Into<String>,
    ) -> Self {
        self.fix_all(message, vec![(span.into(), replacement.into())])
    }

    /// Adds an edit of several spans.
    #[must_use]
    pub fn fix_all(mut self, message: impl Into<String>, edits: Vec<(Span, String)>) -> Self {
        self.fixes.push(Fix {
            message: message.into(),
            edits,
        });
        self
    }

    /// Sets another severity than the code's default.
    #[must_use]
    pub fn severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }

    /// Returns the primary span.
    #[must_use]
    pub fn span(&self) -> Span {
        self.primary.span
    }

    /// Whether it is an error.
    #[must_use]
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Sorts by file and position, then by severity, so that the output does not depend on the order of passes.
pub fn sort(diagnostics: &mut [Diagnostic]) {
    diagnostics.sort_by(|a, b| {
        (a.primary.span, a.severity, a.code).cmp(&(b.primary.span, b.severity, b.code))
    });
}
