//! Requests of an editor about a spec: the meaning of a name, its uses, completion.
//!
//! ```text
//! text ──▶ front, lint ──▶ Analysis ──▶ hover, definitions, completions, outline, colours, fixes
//! ```
//!
//! An [`Analysis`] is made of one version of a text and answers by byte offsets; what names mean is what the checker found
//! ([`check::Links`]), so the editor and the compiler cannot disagree. Broken text is answered as far as it can be read.
//! Nothing here knows a protocol; `guard lsp` turns the answers into messages.
//!
//! ```
//! use guard_lang::{editor::Analysis, modules::NoFiles};
//!
//! let text = "event { tool: string }\npredicate mail = tool == \"mail\"\nproperty none = never mail\n";
//! let analysis = Analysis::new("a.guard", text, &NoFiles);
//! let in_property = text.rfind("mail").ok_or("there")? as u32;
//! let meant = analysis.definition(in_property).ok_or("declared")?;
//! assert_eq!(analysis.sources().slice(meant.target), "mail");
//! assert!(analysis.hover(in_property).ok_or("known")?.text.contains("predicate mail"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod complete;
mod declaration;
mod highlight;
mod hover;
mod navigate;
mod outline;

use crate::diagnostic::Diagnostic;
use crate::modules::Loader;
use crate::source::{FileId, SourceFile, SourceMap};
use crate::{Checked, check, front, lint};

use declaration::Declarations;

pub use complete::Candidate;
pub(crate) use complete::CandidateKind;
pub use declaration::Kind;

pub use navigate::RenameError;
pub(crate) use outline::Symbol;

/// One version of a spec, checked and linted.
#[derive(Debug)]
pub struct Analysis {
    checked: Checked,
    declarations: Declarations,
}

impl Analysis {
    /// Checks and lints a text; `loader` finds what it imports.
    pub fn new(name: &str, text: &str, loader: &dyn Loader) -> Analysis {
        let mut checked = front(name, text, loader, check::Limits::default());
        checked.lint(&lint::Limits::default());
        let declarations = Declarations::of(&checked.project);
        Analysis {
            checked,
            declarations,
        }
    }

    /// Returns all texts that took part; file 0 is the spec.
    pub fn sources(&self) -> &SourceMap {
        &self.checked.sources
    }

    /// Returns the text that was analysed.
    pub fn file(&self) -> &SourceFile {
        self.checked.sources.get(FileId(0))
    }

    /// Returns the declarations of names, in all files.
    pub fn links(&self) -> &check::Links {
        &self.checked.links
    }

    /// Returns the diagnostics, in all files, sorted by place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.checked.diagnostics
    }
}
