//! Renaming over all files of a project.
//!
//! ```text
//! uses of the name ──▶ edits ──▶ all specs that contain an edited file, checked before and after ──▶ same meaning, or refused
//! ```
//!
//! The uses are those that the checker linked. Captures and collisions of the new name are not found by rules about scopes: the
//! edited texts are checked, and every name must refer to the same declaration as before. So an unforeseen kind of name, scope
//! or shadowing leads to an error, not to a wrong edit.

use std::collections::{BTreeMap, BTreeSet};

use super::meaning;
use super::project::{Place, Project, View, Workspace};
use super::{Analysis, Checked, Kind};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceMap, Span};
use crate::syntax::ast::{self, ItemKind, TraceClauseKind};
use crate::syntax::token::{LOOK_AHEAD_WORDS, Token};

/// The reason why something cannot be renamed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RenameError {
    /// The place is not a declared name.
    #[error("there is no declared name here")]
    NoName,
    /// The declaration is in a file that is not part of the project.
    #[error("`{0}` is declared in `{1}`, which is not a file of this project")]
    Elsewhere(String, String),
    /// The new name is not a name.
    #[error(
        "`{0}` is not a name: expected letters, digits and `_`, not beginning with a digit, and not a word of the language"
    )]
    NotAName(String),
    /// The spec has errors, so not every use can be found.
    #[error("fix this error first, so that every use is found: {0}")]
    Broken(String),
    /// The new name causes an error.
    #[error("`{0}` cannot be used here: {1}")]
    Clash(String, String),
    /// A name would refer to something else afterwards.
    #[error("`{0}` would change its meaning ({1}): `{2}` is already in use there")]
    Capture(String, String, String),
    /// The name is that of a part of the data.
    #[error("`{0}` is a name in the data: {1}")]
    Data(String, String),
}

/// A text to insert at a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Change {
    /// The place.
    pub at: Place,
    /// The new text.
    pub text: String,
}

impl Analysis {
    /// Returns the span of the name at an offset if it can be renamed.
    pub fn renameable(&self, offset: u32) -> Option<Span> {
        let meant = self.definition(offset)?;
        (!meant.target.is_empty()).then_some(meant.name)
    }

    /// Returns the changes, by file and position, that rename the name at an offset everywhere in the project without changing
    /// the meaning of any spec.
    ///
    /// # Errors
    /// See [`RenameError`]. Checks all specs that contain a file with the name twice.
    pub fn rename(
        &self,
        workspace: &dyn Workspace,
        offset: u32,
        to: &str,
    ) -> Result<Vec<Change>, RenameError> {
        let meant = self.definition(offset).ok_or(RenameError::NoName)?;
        if meant.target.is_empty() {
            return Err(RenameError::NoName);
        }
        if !is_name(to) {
            return Err(RenameError::NotAName(to.to_owned()));
        }
        let sources = self.sources();
        let declared = Place::of(sources, meant.target);
        let old = unquoted(sources.slice(meant.name)).to_owned();
        if old == to {
            return Ok(Vec::new());
        }
        let is_alias = old != unquoted(sources.slice(meant.target));
        if workspace.text(&declared.file).is_none() && !is_alias {
            return Err(RenameError::Elsewhere(old, declared.file));
        }
        let project = Project::new(workspace);
        // A file with errors may hide uses, so nothing is renamed until all uses are known.
        for view in project.views(&BTreeSet::from([declared.file.clone()])) {
            sound(&project.checked(&view, &BTreeMap::new()))?;
        }
        let mut places = project.uses(&declared);
        if is_alias {
            // `use lib.{a as b}`: `b` is a name of this file only.
            places.retain(|place| place.file == self.file().name());
        } else {
            places.insert(declared);
        }
        let mut changes: BTreeSet<Change> = places
            .into_iter()
            .filter_map(|place| replaced(workspace, place, &old, to))
            .collect();
        if !is_alias && let Some(change) = self.field_source(meant.target, &old) {
            changes.insert(change);
        }
        let renaming = Renaming::new(workspace, &changes, &old, to);
        let touched: BTreeSet<String> = renaming.edited.keys().cloned().collect();
        for view in project.views(&touched) {
            renaming.check(&project, &view)?;
        }
        Ok(changes.into_iter().collect())
    }

    /// Returns ` from "/old"` to insert after the type of a field that is read by its name.
    fn field_source(&self, name: Span, old: &str) -> Option<Change> {
        let declaration = self.declarations.get(name)?;
        if declaration.kind != Kind::Field {
            return None;
        }
        let module = self.checked.project.modules.get(declaration.module)?;
        let (field, pointer) = match &module.tree.items.get(declaration.item)?.kind {
            ItemKind::Event(event) => {
                let mut fields = event.fields.iter();
                let field = fields.find(|field| *field.name.span == name)?;
                (field, format!("/{old}"))
            }
            ItemKind::Trace(trace) => {
                let mut fields = trace
                    .clauses
                    .iter()
                    .filter_map(|clause| match &clause.kind {
                        TraceClauseKind::Meta(field) => Some(field),
                        _ => None,
                    });
                let field = fields.find(|field| *field.name.span == name)?;
                (field, format!("/meta/{old}"))
            }
            _ => return None,
        };
        is_read_by_name(field).then(|| Change {
            at: Place::of(self.sources(), field.ty.span.after()),
            text: format!(" from \"{pointer}\""),
        })
    }
}

fn is_read_by_name(field: &ast::Field) -> bool {
    field.source.is_none()
}

/// Returns the change of one use; `None` for a use under another name, as after `as`.
fn replaced(workspace: &dyn Workspace, place: Place, old: &str, to: &str) -> Option<Change> {
    let text = workspace.text(&place.file)?;
    let written = text.get(place.start as usize..place.end as usize)?;
    let text = if written == old {
        to.to_owned()
    } else if unquoted(written) == old {
        format!("\"{to}\"")
    } else {
        return None;
    };
    Some(Change { at: place, text })
}

fn unquoted(text: &str) -> &str {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.unwrap_or(text)
}

/// A renaming that is checked before it is applied.
struct Renaming<'r> {
    /// The changes by file, by place.
    changes: BTreeMap<&'r str, Vec<&'r Change>>,
    /// The new texts by file.
    edited: BTreeMap<String, String>,
    old: &'r str,
    to: &'r str,
}

impl<'r> Renaming<'r> {
    fn new(
        workspace: &dyn Workspace,
        changes: &'r BTreeSet<Change>,
        old: &'r str,
        to: &'r str,
    ) -> Renaming<'r> {
        let mut by_file: BTreeMap<&str, Vec<&Change>> = BTreeMap::new();
        for change in changes {
            by_file.entry(&change.at.file).or_default().push(change);
        }
        let mut edited = BTreeMap::new();
        for (file, changes) in &by_file {
            let mut text = workspace.text(file).unwrap_or_default();
            for change in changes.iter().rev() {
                let range = change.at.start as usize..change.at.end as usize;
                text.replace_range(range, &change.text);
            }
            edited.insert((*file).to_owned(), text);
        }
        Renaming {
            changes: by_file,
            edited,
            old,
            to,
        }
    }

    /// Checks that a view has the same meaning before and after.
    fn check(&self, project: &Project<'_>, view: &View) -> Result<(), RenameError> {
        let before = project.checked(view, &BTreeMap::new());
        let after = project.checked(view, &self.edited);
        let (Some(was), None) = (&before.spec, error(&before)) else {
            return sound(&before);
        };
        let Some(is) = &after.spec else {
            let reason =
                error(&after).map_or(String::new(), |error| message_of(&after.sources, error));
            return Err(RenameError::Clash(self.to.to_owned(), reason));
        };
        self.same_links(&before, &after)?;
        meaning::same(was, is).map_err(|reason| RenameError::Data(self.old.to_owned(), reason))
    }

    /// Checks that every name refers to the same declaration as before.
    fn same_links(&self, before: &Checked, after: &Checked) -> Result<(), RenameError> {
        for file in before.sources.iter() {
            let mut was: BTreeMap<Span, Span> = BTreeMap::new();
            for (name, target) in before.links.of_file(file.id()) {
                let moved = |span| self.moved(&before.sources, span);
                was.insert(moved(name), moved(target));
            }
            let is: BTreeMap<Span, Span> = after.links.of_file(file.id()).collect();
            let differs = was
                .iter()
                .find(|(name, target)| is.get(name) != Some(target));
            let more = || is.iter().find(|(name, _)| !was.contains_key(name));
            if let Some((name, _)) = differs.or_else(more) {
                let line = after.sources.get(name.file).location(name.start).line;
                return Err(RenameError::Capture(
                    after.sources.slice(*name).to_owned(),
                    format!("{}:{line}", file.name()),
                    self.to.to_owned(),
                ));
            }
        }
        Ok(())
    }

    /// Returns the position of a span after the changes.
    fn moved(&self, sources: &SourceMap, span: Span) -> Span {
        let none = Vec::new();
        let changes = self
            .changes
            .get(sources.get(span.file).name())
            .unwrap_or(&none);
        let by = |passed: &dyn Fn(&Place) -> bool| -> i64 {
            let passed = changes.iter().filter(|change| passed(&change.at));
            passed
                .map(|change| {
                    let new = i64::try_from(change.text.len()).unwrap_or(i64::MAX);
                    new - i64::from(change.at.end - change.at.start)
                })
                .sum()
        };
        let at = |offset: u32, by: i64| u32::try_from(i64::from(offset) + by).unwrap_or(u32::MAX);
        Span::new(
            span.file,
            at(span.start, by(&|at| at.end <= span.start)),
            at(
                span.end,
                by(&|at| at.end <= span.end && at.start < span.end),
            ),
        )
    }
}

fn error(checked: &Checked) -> Option<&Diagnostic> {
    checked.diagnostics.iter().find(|found| found.is_error())
}

fn sound(checked: &Checked) -> Result<(), RenameError> {
    match error(checked) {
        Some(error) => Err(RenameError::Broken(message_of(&checked.sources, error))),
        None => Ok(()),
    }
}

/// Returns an error in one line, with its location.
fn message_of(sources: &SourceMap, error: &Diagnostic) -> String {
    let at = error.span();
    let file = sources.get(at.file);
    let line = file.location(at.start).line;
    format!("{} ({}:{line})", error.message, file.name())
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let begins = chars
        .next()
        .is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    begins
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !LOOK_AHEAD_WORDS.contains(&text)
        && Token::of_word(text).is_name()
}
