//! Links from names to declarations, for editors.
//!
//! The checker records a link whenever it resolves a name, so that an editor and the compiler agree on the meaning of
//! names. A name that was never resolved, as in the body of an imported definition that nothing uses, has no link.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Checker;
use super::names::{ItemRef, Space, declared};
use super::scope::{Binding, Scope};
use crate::modules::ModuleIdx;
use crate::source::{FileId, Span};
use crate::syntax::ast;
use crate::types::{RecordType, Type};

/// Links from uses of names to the names in their declarations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links {
    declared: BTreeMap<Span, Span>,
    /// The inferred types of definitions without a declared type, by the name in the declaration.
    inferred: BTreeMap<Span, String>,
}

impl Links {
    pub(super) fn add(&mut self, name: Span, declaration: Span) {
        self.declared.insert(name, declaration);
    }

    /// Returns the name at an offset of a file, or right before it, and the declaration that it refers to. If names are nested,
    /// returns the shortest. Takes O(log n) for n links.
    #[must_use]
    pub fn at(&self, file: FileId, offset: u32) -> Option<(Span, Span)> {
        let before = self.declared.range(..=Span::new(file, offset, u32::MAX));
        before
            .rev()
            .take_while(|(name, _)| name.file == file)
            .find(|(name, _)| name.touches(offset))
            .map(|(name, declaration)| (*name, *declaration))
    }

    /// Returns all names that refer to a declaration, by file and position. Takes O(n).
    pub fn uses(&self, declaration: Span) -> impl Iterator<Item = Span> + '_ {
        let all = self.declared.iter();
        all.filter(move |(_, meant)| **meant == declaration)
            .map(|(name, _)| *name)
    }

    /// Whether a name in another file refers to a declaration in this one. Takes O(n).
    pub(super) fn uses_file(&self, file: FileId) -> bool {
        let mut all = self.declared.iter();
        all.any(|(name, declared)| {
            declared.file == file && name.file != file && !declared.is_empty()
        })
    }

    /// Returns the inferred type of a `let` or `const` that does not write its type, by the name in its declaration.
    #[must_use]
    pub fn inferred_type(&self, declaration: Span) -> Option<&str> {
        self.inferred.get(&declaration).map(String::as_str)
    }

    /// Returns the declared name at an offset of a file, if something refers to it. Takes O(n).
    #[must_use]
    pub fn declared_at(&self, file: FileId, offset: u32) -> Option<Span> {
        let mut all = self.declared.values().copied();
        all.find(|name| name.file == file && name.touches(offset) && !name.is_empty())
    }

    /// Returns all links of a file, by position.
    pub fn of_file(&self, file: FileId) -> impl Iterator<Item = (Span, Span)> + '_ {
        let from = Span::at(file, 0);
        self.declared
            .range(from..)
            .take_while(move |(name, _)| name.file == file)
            .map(|(name, declaration)| (*name, *declaration))
    }
}

impl<'a> Checker<'a> {
    /// Records that a name refers to a declaration.
    pub(super) fn link(&self, name: Span, declaration: Span) {
        self.links.borrow_mut().add(name, declaration);
    }

    /// Records the links of `use` items: a path refers to the beginning of its module's file, and a name in braces to
    /// the item.
    pub(super) fn link_imports(&self) {
        for module in &self.project.modules {
            for (import, _, target) in &module.imports {
                let Some(target) = *target else { continue };
                if let (Some(first), Some(last)) = (import.path.first(), import.path.last()) {
                    self.link_module(first.span.to(*last.span), target);
                }
                for member in import.members.iter().flatten() {
                    for space in [Space::Value, Space::Property, Space::Type, Space::Model] {
                        let item = self.find(target, space, &member.name);
                        let declared = item.and_then(|item| declared(self.names.item(item)));
                        if let (Some(alias), Some((name, _))) = (&member.alias, declared) {
                            self.link(*alias.span, *name.span);
                        }
                    }
                }
            }
        }
    }

    /// Records the inferred type of a definition without a declared type.
    pub(super) fn infer(&self, name: &ast::Name, ty: &Type) {
        if !matches!(ty, Type::Error | Type::Null) {
            let mut links = self.links.borrow_mut();
            links.inferred.insert(*name.span, ty.to_string());
        }
    }

    /// Records that a name refers to a member of a record type.
    pub(super) fn link_member(&self, name: &ast::Name, record: &Arc<RecordType>) {
        let of_type = |ty: &Type| matches!(ty, Type::Record(made) if Arc::ptr_eq(made, record));
        let mut types = self.types.iter();
        let Some((item, _)) = types.find(|(_, ty)| of_type(ty)) else {
            return;
        };
        if let ast::ItemKind::Record(declared) = &self.names.item(*item).kind
            && let Some(field) = declared.fields.iter().find(|field| field.name == *name)
        {
            self.link(*name.span, *field.name.span);
        }
    }

    /// Records that a name refers to a module.
    pub(super) fn link_module(&self, name: Span, module: ModuleIdx) {
        if let Some(module) = self.project.modules.get(module) {
            self.link(name, Span::at(module.file, 0));
        }
    }

    /// Returns the declaration that a name refers to in a module.
    pub(super) fn find(
        &self,
        module: ModuleIdx,
        space: Space,
        name: &ast::Name,
    ) -> Option<ItemRef> {
        let item = self.names.get(module, space, &name.text)?;
        if let Some((declared, _)) = declared(self.names.item(item)) {
            self.link(*name.span, *declared.span);
        }
        Some(item)
    }

    /// Returns the binding of a name in a scope.
    pub(super) fn binding<'s>(
        &self,
        scope: &'s Scope<'a>,
        name: &ast::Name,
    ) -> Option<&'s Binding<'a>> {
        let (binding, declaration) = scope.find(&name.text)?;
        if let Some(declaration) = declaration {
            self.link(*name.span, declaration);
        }
        Some(binding)
    }
}
