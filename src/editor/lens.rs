//! Items that an editor offers to run: tests, and properties for which recorded traces can be audited.

use super::Analysis;
use crate::source::Span;
use crate::syntax::ast::ItemKind;

/// An item that can be run, with the span of its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lens {
    /// The span of its name.
    pub at: Span,
    /// Its name.
    pub name: String,
    /// Whether it is a test; otherwise it is a property.
    pub is_test: bool,
}

impl Analysis {
    /// Returns the tests and properties of the spec, in the order of its text.
    pub fn lenses(&self) -> Vec<Lens> {
        let module = self.checked.project.modules.first();
        let items = module.into_iter().flat_map(|module| &module.tree.items);
        items
            .filter_map(|item| {
                let (name, at, is_test) = match &item.kind {
                    ItemKind::Test(test) => (test.name.value.to_string(), test.name.span, true),
                    ItemKind::Property(_)
                    | ItemKind::Rule(_)
                    | ItemKind::Requirement(_)
                    | ItemKind::Unsafe(_) => {
                        let name = item.kind.name()?;
                        (name.to_string(), name.span, false)
                    }
                    _ => return None,
                };
                (!name.is_empty()).then_some(Lens {
                    at: *at,
                    name,
                    is_test,
                })
            })
            .collect()
    }
}
