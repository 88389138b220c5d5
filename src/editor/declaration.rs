//! Declarations and their spans: items, and the named parts of items.

use std::collections::BTreeMap;

use crate::doc;
use crate::modules::Project;
use crate::source::Span;
use crate::syntax::ast::{self, ItemKind, SystemMemberKind, TraceClauseKind};

/// The kind of a declaration, as far as editors distinguish kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// An imported file.
    Module,
    /// A field of the event or of `meta`.
    Field,
    /// An enum.
    Enum,
    /// A value of an enum.
    EnumValue,
    /// A record type.
    Record,
    /// A member of a record type.
    RecordField,
    /// A constant.
    Constant,
    /// A predicate, definition or track.
    Function,
    /// A template.
    Template,
    /// A property, rule, requirement, unsafe state or query.
    Property,
    /// An abstraction, model, system, component or composition.
    Model,
    /// A variable or label of a system, a component of a state.
    State,
    /// A parameter.
    Parameter,
    /// A quantified name, a name bound by a quantifier over a list, or the name of a join.
    Variable,
}

/// A declaration of a name.
#[derive(Clone, Debug)]
pub(super) struct Declaration {
    pub(super) kind: Kind,
    /// The item that it is or is part of: module and position in the module.
    pub(super) module: usize,
    pub(super) item: usize,
    /// The span of the declaration, without documentation.
    pub(super) whole: Span,
    /// Its documentation, in Markdown.
    pub(super) docs: String,
}

/// All declarations of a project, by the place of the name.
#[derive(Debug, Default)]
pub(super) struct Declarations {
    by_name: BTreeMap<Span, Declaration>,
}

impl Declarations {
    pub(super) fn of(project: &Project) -> Declarations {
        let mut all = Declarations::default();
        for (module, content) in project.modules.iter().enumerate() {
            for (item, node) in content.tree.items.iter().enumerate() {
                let own = node.kind.name().zip(kind_of(&node.kind));
                let own = own.map(|(name, kind)| Part {
                    kind,
                    name,
                    whole: *node.span,
                    docs: &node.docs,
                });
                for part in own.into_iter().chain(parts(node)) {
                    let declaration = Declaration {
                        kind: part.kind,
                        module,
                        item,
                        whole: part.whole,
                        docs: doc::docs(part.docs),
                    };
                    all.by_name.insert(*part.name.span, declaration);
                }
            }
        }
        all
    }

    /// Returns the declaration of the name at a place; names bound by expressions are variables and are not included.
    pub(super) fn get(&self, name: Span) -> Option<&Declaration> {
        self.by_name.get(&name)
    }

    /// Returns all declarations, by file and place.
    pub(super) fn iter(&self) -> impl Iterator<Item = (Span, &Declaration)> {
        self.by_name
            .iter()
            .map(|(name, declaration)| (*name, declaration))
    }
}

/// Returns the kind of declaration of an item; `None` for one without a name.
pub(super) fn kind_of(item: &ItemKind) -> Option<Kind> {
    Some(match item {
        ItemKind::Enum(_) => Kind::Enum,
        ItemKind::Record(_) => Kind::Record,
        ItemKind::Const(_) => Kind::Constant,
        ItemKind::Let(_) | ItemKind::Predicate(_) | ItemKind::Track(_) => Kind::Function,
        ItemKind::Template(_) => Kind::Template,
        ItemKind::Unsafe(_)
        | ItemKind::Property(_)
        | ItemKind::Rule(_)
        | ItemKind::Requirement(_)
        | ItemKind::Query(_) => Kind::Property,
        ItemKind::Abstraction(_)
        | ItemKind::Model(_)
        | ItemKind::System(_)
        | ItemKind::Component(_)
        | ItemKind::Compose(_) => Kind::Model,
        ItemKind::Use(_)
        | ItemKind::Trace(_)
        | ItemKind::Event(_)
        | ItemKind::Enforce(_)
        | ItemKind::Test(_)
        | ItemKind::Broken(_) => return None,
    })
}

/// A named part of an item.
struct Part<'a> {
    kind: Kind,
    name: &'a ast::Name,
    whole: Span,
    docs: &'a [ast::Doc],
}

/// Returns the names that parts of an item declare.
fn parts(item: &ast::Item) -> Vec<Part<'_>> {
    let part = |kind, name, whole, docs| Part {
        kind,
        name,
        whole,
        docs,
    };
    let mut all: Vec<Part<'_>> = params(&item.kind)
        .iter()
        .map(|param| {
            let name = &param.name;
            let ty = param.ty.as_ref().map_or(*name.span, |ty| *ty.span);
            part(Kind::Parameter, name, name.span.to(ty), &[])
        })
        .collect();
    match &item.kind {
        ItemKind::Event(event) => {
            all.extend(
                event
                    .fields
                    .iter()
                    .map(|field| part(Kind::Field, &field.name, *field.span, &field.docs)),
            );
        }
        ItemKind::Trace(trace) => {
            for clause in &trace.clauses {
                match &clause.kind {
                    TraceClauseKind::Meta(field) => {
                        all.push(part(Kind::Field, &field.name, *field.span, &field.docs));
                    }
                    TraceClauseKind::Join(join) => {
                        all.push(part(Kind::Variable, &join.name, *clause.span, &[]));
                    }
                    _ => {}
                }
            }
        }
        ItemKind::Enum(item) => {
            all.extend(
                item.values
                    .iter()
                    .map(|value| part(Kind::EnumValue, &value.name, *value.name.span, &value.docs)),
            );
        }
        ItemKind::Record(item) => {
            all.extend(item.fields.iter().map(|field| {
                let whole = field.name.span.to(*field.ty.span);
                part(Kind::RecordField, &field.name, whole, &field.docs)
            }));
        }
        ItemKind::Abstraction(item) => {
            for clause in &item.clauses {
                let ast::AbstractionClauseKind::Over(entries) = &clause.kind else {
                    continue;
                };
                for entry in entries {
                    if let ast::OverEntry::Declared { name, .. } = entry {
                        all.push(part(Kind::State, name, *clause.span, &[]));
                    }
                }
            }
        }
        ItemKind::System(item) | ItemKind::Component(item) => {
            for member in &item.members {
                if let SystemMemberKind::State { name, .. } | SystemMemberKind::Label { name, .. } =
                    &member.kind
                {
                    all.push(part(Kind::State, name, *member.span, &member.docs));
                }
            }
        }
        _ => {}
    }
    all
}

/// Returns the parameters of an item.
pub(super) fn params(item: &ItemKind) -> &[ast::Param] {
    match item {
        ItemKind::Let(item) => &item.params,
        ItemKind::Predicate(item) => &item.params,
        ItemKind::Track(item) => &item.params,
        ItemKind::Template(item) => &item.params,
        ItemKind::Rule(item) => &item.params,
        _ => &[],
    }
}
