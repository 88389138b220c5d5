//! Items that an editor offers to run: tests, properties for which recorded traces can be audited, and designs that can be verified.

use super::Analysis;
use crate::source::Span;
use crate::syntax::ast::{self, ItemKind};

/// The way in which an item is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Runs {
    /// A test is run.
    Test,
    /// Recorded traces are audited for a property.
    Audit,
    /// A property of a system, or all properties of a system, are verified.
    Verify,
}

/// An item that can be run, with the span of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The span of its name.
    pub at: Span,
    /// Its name.
    pub name: String,
    /// The way in which it is run.
    pub runs: Runs,
}

impl Analysis {
    /// Returns the tests, properties and systems of the spec, in the order of its text.
    pub fn lenses(&self) -> Vec<Lens> {
        let module = self.checked.project.modules.first();
        let items = module.into_iter().flat_map(|module| &module.tree.items);
        items
            .filter_map(|item| {
                let (name, at, runs) = match &item.kind {
                    ItemKind::Test(test) => {
                        (test.name.value.to_string(), test.name.span, Runs::Test)
                    }
                    kind => {
                        let name = kind.name()?;
                        (name.to_string(), name.span, self.runs(kind)?)
                    }
                };
                (!name.is_empty()).then_some(Lens {
                    at: *at,
                    name,
                    runs,
                })
            })
            .collect()
    }

    /// Returns the way in which an item other than a test is run; `None` if it cannot be run by itself.
    fn runs(&self, item: &ItemKind) -> Option<Runs> {
        let on = match item {
            ItemKind::System(_) | ItemKind::Compose(_) => return Some(Runs::Verify),
            ItemKind::Rule(_) | ItemKind::Unsafe(_) => None,
            ItemKind::Property(item) => item.on.as_ref(),
            ItemKind::Requirement(item) => item.on.as_ref(),
            // A query is about a model or a system.
            ItemKind::Query(item) => Some(item.on.as_ref()?),
            _ => return None,
        };
        match on {
            None => Some(Runs::Audit),
            // Claims about models need the model, which is not in the text.
            Some(on) => self.is_system(on).then_some(Runs::Verify),
        }
    }

    /// Whether a name refers to a system or composition.
    fn is_system(&self, name: &ast::Name) -> bool {
        let declared = || {
            let (_, target) = self.links().at(name.span.file, name.span.start)?;
            let declaration = self.declarations.get(target)?;
            let module = self.checked.project.modules.get(declaration.module)?;
            module.tree.items.get(declaration.item)
        };
        declared().is_some_and(|item| {
            matches!(
                item.kind,
                ItemKind::System(_) | ItemKind::Component(_) | ItemKind::Compose(_)
            )
        })
    }
}
