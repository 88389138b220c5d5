//! The names that modules declare and import.

use std::collections::hash_map::Entry;
use std::collections::{BTreeSet, HashMap};

use smol_str::SmolStr;

use super::Checker;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::modules::{ModuleIdx, Project};
use crate::source::Span;
use crate::syntax::ast;

/// An item, by the number of its module and its position in the module.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct ItemRef {
    pub(super) module: ModuleIdx,
    pub(super) item: usize,
}

/// The namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Space {
    /// Lets, consts, predicates, tracks, templates, unsafe states; and the fields of the event.
    Value,
    /// Properties, rules, requirements, queries.
    Property,
    /// Enums and records.
    Type,
    /// Abstractions, models and systems.
    Model,
}

/// The names of all modules.
#[derive(Debug, Default)]
pub(super) struct Names<'a> {
    /// For each module and namespace: the items by name.
    items: Vec<HashMap<(Space, SmolStr), ItemRef>>,
    /// For each module: the modules imported as a whole (`use a.b`), by name.
    modules: Vec<HashMap<SmolStr, ModuleIdx>>,
    trees: Vec<&'a ast::File>,
}

/// Names that are predefined everywhere and cannot be declared.
const PREDEFINED: &[&str] = &["last", "meta", "unknown", "before", "start"];

/// Returns the name of an item, with its namespaces.
pub(super) fn declared(item: &ast::Item) -> Option<(&ast::Name, &'static [Space])> {
    let spaces: &[Space] = match item.kind.word() {
        "enum" | "record" => &[Space::Type],
        "property" | "rule" | "requirement" | "query" => &[Space::Property],
        "unsafe" => &[Space::Value, Space::Property],
        "abstraction" | "model" | "system" | "component" | "compose" => &[Space::Model],
        _ => &[Space::Value],
    };
    Some((item.kind.name()?, spaces))
}

impl<'a> Names<'a> {
    /// Collects the names of all modules, then their imports.
    pub(super) fn collect(project: &'a Project, diagnostics: &mut Vec<Diagnostic>) -> Names<'a> {
        let mut names = Names::default();
        for (module, content) in project.modules.iter().enumerate() {
            let mut items: HashMap<(Space, SmolStr), ItemRef> = HashMap::new();
            for (item, node) in content.tree.items.iter().enumerate() {
                let Some((name, spaces)) = declared(node) else {
                    continue;
                };
                if PREDEFINED.contains(&name.as_str()) && spaces.contains(&Space::Value) {
                    diagnostics.push(
                        Diagnostic::new(Code::G0203, name.span, format!("`{name}` is predefined"))
                            .label("cannot be declared again")
                            .note(format!("choose another name, such as `{name}_`")),
                    );
                    continue;
                }
                for space in spaces {
                    if let Some(earlier) = items.get(&(*space, name.text.clone())) {
                        let first =
                            declared(&content.tree.items[earlier.item]).map(|(name, _)| *name.span);
                        diagnostics.push(
                            Diagnostic::new(
                                Code::G0202,
                                name.span,
                                format!("`{name}` is declared twice"),
                            )
                            .label("declared again")
                            .also(first.unwrap_or_default(), "declared first"),
                        );
                        break;
                    }
                    items.insert((*space, name.text.clone()), ItemRef { module, item });
                }
            }
            names.items.push(items);
            names.modules.push(HashMap::new());
            names.trees.push(&content.tree);
        }
        for (module, content) in project.modules.iter().enumerate() {
            for (import, span, target) in &content.imports {
                if let Some(target) = target {
                    names.import(module, import, *span, *target, diagnostics);
                }
            }
        }
        names
    }

    /// Returns the path of an imported module with this last name of which only some names are imported.
    pub(super) fn imported_from(&self, module: ModuleIdx, last: &str) -> Option<String> {
        let items = self.trees[module].items.iter();
        let mut imports = items.filter_map(|item| match &item.kind {
            ast::ItemKind::Use(import) if import.members.is_some() => Some(&import.path),
            _ => None,
        });
        let path = imports.find(|path| path.last().is_some_and(|name| name.as_str() == last))?;
        let names: Vec<&str> = path.iter().map(ast::Name::as_str).collect();
        Some(names.join("."))
    }

    /// Returns the name by which a module of the standard library is imported as a whole.
    pub(super) fn library(&self, module: ModuleIdx, path: &str) -> Option<&str> {
        let items = self.trees[module].items.iter();
        let mut imports = items.filter_map(|item| match &item.kind {
            ast::ItemKind::Use(import) if import.members.is_none() => Some(import),
            _ => None,
        });
        let names = |import: &ast::Use| -> Vec<String> {
            import.path.iter().map(|name| name.to_string()).collect()
        };
        let import = imports.find(|import| names(import).join(".") == format!("std.{path}"))?;
        let name = import.alias.as_ref().or(import.path.last())?;
        Some(name.as_str())
    }

    fn import(
        &mut self,
        module: ModuleIdx,
        import: &ast::Use,
        span: Span,
        target: ModuleIdx,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(members) = &import.members else {
            if let Some(name) = import.alias.as_ref().or(import.path.last()) {
                self.modules[module].insert(name.text.clone(), target);
            }
            return;
        };
        for member in members {
            let mut found = false;
            for space in [Space::Value, Space::Property, Space::Type, Space::Model] {
                let Some(item) = self.items[target]
                    .get(&(space, member.name.text.clone()))
                    .copied()
                else {
                    continue;
                };
                found = true;
                let here = member.alias.as_ref().unwrap_or(&member.name);
                match self.items[module].entry((space, here.text.clone())) {
                    Entry::Occupied(_) => diagnostics.push(
                        Diagnostic::new(
                            Code::G0202,
                            here.span,
                            format!("`{here}` is declared twice"),
                        )
                        .label("imported under a name that is already used")
                        .note(format!(
                            "import it under another name: `{} as …`",
                            member.name
                        )),
                    ),
                    Entry::Vacant(free) => {
                        free.insert(item);
                    }
                }
            }
            if !found {
                let mut diagnostic = Diagnostic::new(
                    Code::G0206,
                    member.name.span,
                    format!("the module has no `{}`", member.name),
                )
                .label("not declared there")
                .also(span, "imported here");
                let all: Vec<&str> = self.items[target]
                    .keys()
                    .map(|(_, name)| name.as_str())
                    .collect();
                if let Some(near) = did_you_mean(&member.name.text, all) {
                    diagnostic = diagnostic.fix(format!("import `{near}`"), member.name.span, near);
                }
                diagnostics.push(diagnostic);
            }
        }
    }

    /// Returns the declaration that a name refers to in a module.
    pub(super) fn get(&self, module: ModuleIdx, space: Space, name: &str) -> Option<ItemRef> {
        self.items[module]
            .get(&(space, SmolStr::new(name)))
            .copied()
    }

    /// Returns the module that a name refers to in a module.
    pub(super) fn module(&self, module: ModuleIdx, name: &str) -> Option<ModuleIdx> {
        self.modules[module].get(name).copied()
    }

    /// Returns the names of the modules imported as a whole that declare a value of this name, sorted.
    pub(super) fn modules_with(&self, module: ModuleIdx, name: &str) -> Vec<&str> {
        let modules = self.modules[module].iter();
        let mut names: Vec<&str> = modules
            .filter(|(_, target)| self.get(**target, Space::Value, name).is_some())
            .map(|(name, _)| name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns the declaration of a name in a module that this one imports as a whole.
    pub(super) fn of_import(&self, module: ModuleIdx, space: Space, name: &str) -> Option<ItemRef> {
        let imports = self.modules[module].values();
        let declared = imports.filter_map(|import| self.get(*import, space, name));
        declared.min()
    }

    /// Returns the names of a module in a namespace, sorted.
    pub(super) fn all(&self, module: ModuleIdx, space: Space) -> Vec<&str> {
        let mut names: Vec<&str> = self.items[module]
            .keys()
            .filter(|(of, _)| *of == space)
            .map(|(_, name)| name.as_str())
            .collect();
        names.sort_unstable();
        names
    }

    /// Returns the item.
    pub(super) fn item(&self, item: ItemRef) -> &'a ast::Item {
        &self.trees[item.module].items[item.item]
    }

    /// Whether a name cannot be declared.
    pub(super) fn is_predefined(name: &str) -> bool {
        PREDEFINED.contains(&name)
    }
}

impl Checker<'_> {
    /// Warns about definitions of the spec that are never used.
    pub(super) fn unused(&mut self) {
        if self.diagnostics.iter().any(Diagnostic::is_error) {
            return;
        }
        let tree = &self.project.modules[0].tree;
        let judges = tree.items.iter().any(|item| {
            matches!(
                item.kind,
                ast::ItemKind::Property(_)
                    | ast::ItemKind::Rule(_)
                    | ast::ItemKind::Requirement(_)
                    | ast::ItemKind::Unsafe(_)
                    | ast::ItemKind::Query(_)
                    | ast::ItemKind::Model(_)
            )
        });
        if !judges {
            // The module is a library of definitions, which are used elsewhere.
            return;
        }
        for (idx, item) in tree.items.iter().enumerate() {
            let item_ref = ItemRef {
                module: 0,
                item: idx,
            };
            let what = match &item.kind {
                ast::ItemKind::Const(_) => "constant",
                ast::ItemKind::Let(_) => "definition",
                ast::ItemKind::Predicate(_) => "predicate",
                ast::ItemKind::Track(_) => "track",
                ast::ItemKind::Template(_) => "template",
                ast::ItemKind::Enum(_) => "enum",
                ast::ItemKind::Record(_) => "record",
                ast::ItemKind::Use(import) => {
                    match &import.members {
                        Some(members) => self.unused_members(members),
                        None if self.allows(item, "unused") => {}
                        None => self.unused_module(import),
                    }
                    continue;
                }
                _ => continue,
            };
            let Some((name, _)) = declared(item) else {
                continue;
            };
            if self.used.contains(&item_ref)
                || name.text.starts_with('_')
                || self.allows(item, "unused")
            {
                continue;
            }
            self.report(
                Diagnostic::new(
                    Code::G0902,
                    name.span,
                    format!("{what} `{name}` is never used"),
                )
                .label("not used by any property, rule or other definition")
                .note(format!("remove it, or rename it to `_{name}`")),
            );
        }
    }

    /// Returns the path of an import of the spec, and its module if that was found.
    fn imported(&self, import: &ast::Use) -> Option<(Span, ModuleIdx)> {
        let (first, last) = (import.path.first()?, import.path.last()?);
        let mut imports = self.project.modules[0].imports.iter();
        let found =
            imports.find(|(own, ..)| own.path.first().is_some_and(|own| *own.span == *first.span));
        let (_, _, target) = found?;
        Some((first.span.to(*last.span), (*target)?))
    }

    /// Warns about imported modules, and modules that these import, that state what must hold: only what the spec itself states is
    /// judged and enforced.
    pub(super) fn unjudged_modules(&mut self) {
        let project = self.project;
        let mut reported = BTreeSet::new();
        for item in &project.modules[0].tree.items {
            let ast::ItemKind::Use(import) = &item.kind else {
                continue;
            };
            let Some((path, target)) = self.imported(import) else {
                continue;
            };
            for module in self.reached_from(target) {
                let Some(stated) = self.stated_in(module) else {
                    continue;
                };
                if self.allows(item, "unjudged_module") || !reported.insert(module) {
                    continue;
                }
                let (name, import) = (&project.modules[module].path, self.sources.slice(path));
                let whose = match module == target {
                    true => format!("`{import}`"),
                    false => format!("`{name}`, which `{import}` imports,"),
                };
                let message = format!(
                    "{whose} has properties or `enforce` clauses, which are not part of this spec"
                );
                self.report(
                    Diagnostic::new(Code::G0947, path, message)
                        .label("only what this file states is judged")
                        .also(stated, "not judged with this spec")
                        .note("state them here, with templates of the module, or give both files to `guard audit`"),
                );
            }
        }
    }

    /// Returns the first place at which a module states what must hold. That of an unsafe state whose name the spec uses is none: the
    /// spec states what it needs with it.
    fn stated_in(&self, module: ModuleIdx) -> Option<Span> {
        let mut items = self.project.modules[module].tree.items.iter().enumerate();
        let stated = items.find(|(item, of)| match of.kind {
            ast::ItemKind::Enforce(_)
            | ast::ItemKind::Property(_)
            | ast::ItemKind::Requirement(_)
            | ast::ItemKind::Rule(_) => true,
            ast::ItemKind::Unsafe(_) => {
                let item = *item;
                !self.used.contains(&ItemRef { module, item })
            }
            _ => false,
        });
        stated.map(|(_, item)| *item.span)
    }

    /// Returns a module and all that it imports, directly or not.
    fn reached_from(&self, module: ModuleIdx) -> BTreeSet<ModuleIdx> {
        let mut open = vec![module];
        let mut all = BTreeSet::new();
        while let Some(module) = open.pop() {
            if all.insert(module) {
                let imports = self.project.modules[module].imports.iter();
                open.extend(imports.filter_map(|(_, _, target)| *target));
            }
        }
        all
    }

    /// Warns about an imported module of which nothing is used. A module that may provide the event is not considered.
    fn unused_module(&mut self, import: &ast::Use) {
        let modules = &self.project.modules;
        let Some((path, target)) = self.imported(import) else {
            return;
        };
        let all = self.reached_from(target).into_iter();
        let mut items = all.flat_map(|module| &modules[module].tree.items);
        let provides = items
            .any(|item| matches!(item.kind, ast::ItemKind::Event(_) | ast::ItemKind::Trace(_)));
        if provides || self.links.borrow().uses_file(modules[target].file) {
            return;
        }
        let name = self.sources.slice(path);
        let message = format!("module `{name}` is imported but never used");
        self.report(Diagnostic::new(Code::G0902, path, message).label("nothing in it is used"));
    }

    /// Warns about imported names that are never used.
    fn unused_members(&mut self, members: &[ast::UseMember]) {
        for member in members {
            let name = member.alias.as_ref().unwrap_or(&member.name);
            let found: Vec<ItemRef> = [Space::Value, Space::Type]
                .into_iter()
                .filter_map(|space| self.names.get(0, space, &name.text))
                .collect();
            if found.is_empty() || found.iter().any(|item| self.used.contains(item)) {
                continue;
            }
            self.report(
                Diagnostic::new(
                    Code::G0902,
                    name.span,
                    format!("`{name}` is imported but never used"),
                )
                .label("not used in this file"),
            );
        }
    }
}
