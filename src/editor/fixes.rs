//! Fixes of diagnostics.

use std::ops::Range;

use super::{Analysis, check, front, meaning};
use crate::diagnostic::{Code, Diagnostic};
use crate::modules::Loader;
use crate::source::{FileId, Span};
use crate::syntax::ast::{Item, ItemKind, Use};

/// The greatest number of fixes that are tried together: each one needs a check of the spec.
const TRIED: usize = 50;

/// A change of the spec that fixes a diagnostic.
#[derive(Clone, Debug)]
pub struct Fix<'a> {
    /// The diagnostic.
    pub found: &'a Diagnostic,
    /// Its effect as an imperative.
    pub title: String,
    /// The spans and their new texts.
    pub edits: Vec<(Span, String)>,
    /// Whether it is the only fix of the diagnostic.
    pub only: bool,
}

impl Analysis {
    /// Returns the fixes of the diagnostics that touch a range of offsets.
    pub fn fixes(&self, within: Range<u32>) -> Vec<Fix<'_>> {
        let found = self.diagnostics().iter().filter(|found| {
            let span = found.span();
            span.file == FileId(0) && span.start <= within.end && within.start <= span.end
        });
        found.flat_map(|found| self.fixes_of(found)).collect()
    }

    fn fixes_of<'a>(&'a self, found: &'a Diagnostic) -> Vec<Fix<'a>> {
        let own = |edits: &[(Span, String)]| edits.iter().all(|(span, _)| span.file == FileId(0));
        let mut fixes: Vec<Fix<'_>> = found
            .fixes
            .iter()
            .filter(|fix| own(&fix.edits))
            .map(|fix| Fix {
                found,
                title: fix.message.clone(),
                edits: fix.edits.clone(),
                only: false,
            })
            .collect();
        if found.code == Code::G0902
            && let Some(unused) = self.unused(found.span())
        {
            fixes.push(Fix {
                found,
                title: format!("remove `{}`", self.sources().slice(found.span())),
                edits: vec![(unused, String::new())],
                only: false,
            });
        }
        if let [fix] = fixes.as_mut_slice() {
            fix.only = true;
        }
        fixes
    }

    /// Returns the span to remove for an unused name: its item with documentation, or its part of an import.
    fn unused(&self, name: Span) -> Option<Span> {
        let module = self.checked.project.modules.first()?;
        let mut items = module.tree.items.iter();
        let item = items.find(|item| item.span.start <= name.start && name.end <= item.span.end)?;
        match &item.kind {
            ItemKind::Use(import) => member(import, name).or_else(|| Some(self.lines(item))),
            _ => Some(self.lines(item)),
        }
    }

    /// Returns the lines of an item and of its documentation.
    fn lines(&self, item: &Item) -> Span {
        let first = item
            .docs
            .first()
            .map_or(item.span.start, |doc| doc.span.start);
        let rest = self
            .file()
            .text()
            .get(item.span.end as usize..)
            .unwrap_or("");
        let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r']).len();
        let newline = usize::from(rest[blank..].starts_with('\n'));
        let end = item.span.end + u32::try_from(blank + newline).unwrap_or(0);
        Span::new(FileId(0), first, end)
    }

    /// Returns the fixes that leave the core of the spec as it is, and so can be made without being looked at; those that
    /// overlap an earlier one are left out. Takes a check of the spec for each.
    pub fn safe_fixes(&self, loader: &dyn Loader) -> Vec<(Span, String)> {
        let Some(spec) = &self.checked.spec else {
            return Vec::new();
        };
        let mut made: Vec<(Span, String)> = Vec::new();
        for fix in self.fixes(0..u32::MAX).into_iter().take(TRIED) {
            let apart = |(span, _): &(Span, String)| {
                let mut made = made.iter();
                made.all(|(other, _)| span.end < other.start || other.end < span.start)
            };
            if !fix.only || !fix.edits.iter().all(apart) {
                continue;
            }
            let mut all = made.clone();
            all.extend(fix.edits);
            let text = self.edited(&all);
            let after = front(self.file().name(), &text, loader, check::Limits::default());
            if after
                .spec
                .is_some_and(|after| meaning::same(spec, &after).is_ok())
            {
                made = all;
            }
        }
        made
    }

    /// Returns the text with changes applied, which must not overlap.
    fn edited(&self, edits: &[(Span, String)]) -> String {
        let mut text = self.file().text().to_owned();
        let mut edits: Vec<&(Span, String)> = edits.iter().collect();
        edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
        for (span, new) in edits {
            text.replace_range(span.range(), new);
        }
        text
    }
}

/// Returns a name in the braces of an import with its comma; `None` if it is the only one.
fn member(import: &Use, name: Span) -> Option<Span> {
    let members = import.members.as_ref()?;
    let extent = |at: usize| {
        let member = &members[at];
        let alias = member.alias.as_ref().map(|alias| *alias.span);
        member.name.span.to(alias.unwrap_or(*member.name.span))
    };
    let at = (0..members.len()).find(|at| {
        let extent = extent(*at);
        extent.start <= name.start && name.end <= extent.end
    })?;
    match (at, members.len()) {
        (_, 1) => None,
        (0, _) => Some(Span::new(FileId(0), extent(0).start, extent(1).start)),
        _ => Some(Span::new(FileId(0), extent(at - 1).end, extent(at).end)),
    }
}
