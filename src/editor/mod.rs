//! Requests of an editor about a spec: the meaning of a name, its uses, completion.
//!
//! ```text
//! text ──▶ front, lint ──▶ Analysis ──▶ hover, definitions, completions, outline, colours, fixes
//! ```
//!
//! An [`Analysis`] belongs to one version of a text and answers requests by byte offsets. Names are resolved by the checker
//! ([`check::Links`]), so the editor and the compiler agree. Text with syntax errors is analysed as far as it can be parsed.
//! This module is independent of protocols; `guard lsp` converts the results to messages.
//!
//! ```
//! use guard_cli::editor::Analysis;
//! use guard_lang::modules::NoFiles;
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
mod fixes;
mod highlight;
mod hints;
mod hover;
mod lens;
mod meaning;
mod navigate;
mod outline;
mod place;
mod project;
mod rename;
mod selection;
mod signature;
mod values;
mod vocabulary;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use crate::diagnostic::Diagnostic;
use crate::hir::Spec;
use crate::ids::PropertyId;
use crate::modules::Loader;
use crate::replay::Timeline;
use crate::report::explanation::{self, Summary};
use crate::source::{FileId, SourceFile, SourceMap, Span};
use crate::syntax::ast::ItemKind;
use crate::{Checked, check, front, lint};

use declaration::Declarations;

pub use complete::Candidate;
pub(crate) use complete::CandidateKind;
pub use declaration::Kind;
pub use fixes::Fix;
pub use hints::Hint;
pub use lens::{Lens, Runs};

pub use outline::{Fold, FoldKind};
pub(crate) use outline::{Symbol, items};
pub use project::{Place, Workspace};
pub(crate) use project::{importer, imports};
pub use rename::{Change, RenameError};

/// One version of a spec, checked and linted.
#[derive(Debug)]
pub struct Analysis {
    checked: Checked,
    declarations: Declarations,
    /// Cached results about properties.
    summaries: RefCell<HashMap<PropertyId, Summary>>,
    /// Cached values of tests by step; `None` for tests beyond the limits.
    timelines: RefCell<HashMap<usize, Option<Rc<Timeline>>>>,
}

/// The limits of automata computed while the user types: about a twentieth of a second each.
const LIMITS: guard_automata::Limits = guard_automata::Limits {
    states: 1 << 10,
    nodes: 100_000,
    work: 100_000,
    atoms: 64,
};

impl Analysis {
    /// Checks and lints a text; `loader` finds its imports.
    pub fn new(name: &str, text: &str, loader: &dyn Loader) -> Analysis {
        let mut checked = front(name, text, loader, check::Limits::default());
        checked.lint(&lint::Limits::default());
        let own = checked.project.without_importer();
        let own: Vec<FileId> = own.iter().map(|module| module.file).collect();
        checked
            .diagnostics
            .retain(|found| own.contains(&found.span().file));
        let declarations = Declarations::of(&checked.project);
        Analysis {
            checked,
            declarations,
            summaries: RefCell::default(),
            timelines: RefCell::default(),
        }
    }

    /// Returns when violations of a property become final, and the size of its automaton if it is small. Computed once.
    fn summary(&self, property: &str) -> Option<Summary> {
        let spec = self.checked.spec.as_ref()?;
        let id = spec.find_property(property)?;
        let mut known = self.summaries.borrow_mut();
        let summary = known
            .entry(id)
            .or_insert_with(|| explanation::summary(spec, id, &LIMITS));
        Some(*summary)
    }

    /// Returns all texts; file 0 is the spec.
    pub fn sources(&self) -> &SourceMap {
        &self.checked.sources
    }

    /// Returns the core form; `None` if the spec has errors.
    pub(crate) fn spec(&self) -> Option<&Spec> {
        self.checked.spec.as_ref()
    }

    /// Returns the text that was analysed.
    pub fn file(&self) -> &SourceFile {
        self.checked.sources.get(FileId(0))
    }

    /// Returns the declarations of names, in all files.
    pub fn links(&self) -> &check::Links {
        &self.checked.links
    }

    /// Whether the spec or one of its modules declares the event that its conditions are about.
    pub(crate) fn has_event(&self) -> bool {
        let modules = self.checked.project.without_importer().iter();
        let mut items = modules.flat_map(|module| &module.tree.items);
        items.any(|item| matches!(item.kind, ItemKind::Event(_)))
    }

    /// Returns the paths that `use` items name, with the location that each refers to.
    pub(crate) fn imports(&self) -> Vec<(Span, Span)> {
        let modules = &self.checked.project.modules;
        let imports = modules
            .first()
            .into_iter()
            .flat_map(|module| &module.imports);
        imports
            .filter_map(|(import, _, target)| {
                let (first, last) = (import.path.first()?, import.path.last()?);
                let module = modules.get((*target)?)?;
                Some((first.span.to(*last.span), Span::at(module.file, 0)))
            })
            .collect()
    }

    /// Returns the diagnostics, in all files, sorted by place.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.checked.diagnostics
    }
}
