//! The facts that the formatter takes from the tree: the starts of clauses and the roles of brackets.

use crate::ast::*;
use crate::visit;
use rustc_hash::FxHashSet;

/// Offsets of relevant positions.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// First byte of each clause, field, arm, member and value.
    pub(super) clauses: FxHashSet<u32>,
    /// First byte of each update of a track.
    pub(super) updates: FxHashSet<u32>,
    /// Ends of expressions that are called or indexed: the bracket follows without a space.
    pub(super) callees: FxHashSet<u32>,
    /// First byte of each `{ idle, busy }` that is a type.
    pub(super) value_types: FxHashSet<u32>,
}

impl Roles {
    pub(super) fn of(file: &File) -> Self {
        let mut roles = Self::default();
        for item in &file.items {
            roles.item(item);
            visit::item_expressions(item, &mut |outer| {
                visit::walk(outer, &mut |e| roles.expression(e));
            });
        }
        roles
    }

    fn expression(&mut self, e: &Expr) {
        match &e.kind {
            ExprKind::Call { callee: base, .. } | ExprKind::Index { base, .. } => {
                self.callees.insert(base.span.end);
            }
            ExprKind::Cases(arms) => {
                self.clauses.extend(arms.iter().map(|arm| arm.span.start));
            }
            _ => {}
        }
    }

    fn item(&mut self, item: &Item) {
        let clauses = &mut self.clauses;
        match &item.kind {
            ItemKind::Enum(it) => clauses.extend(it.values.iter().map(|v| v.name.span.start)),
            ItemKind::Record(it) => clauses.extend(it.fields.iter().map(|f| f.name.span.start)),
            ItemKind::Track(it) => {
                self.updates
                    .extend(it.arms.iter().map(|arm| arm.span.start));
            }
            ItemKind::Trace(it) => clauses.extend(it.clauses.iter().map(|c| c.span.start)),
            ItemKind::Event(it) => clauses.extend(it.fields.iter().map(|f| f.span.start)),
            ItemKind::Abstraction(it) => clauses.extend(it.clauses.iter().map(|c| c.span.start)),
            ItemKind::Model(Model {
                source: ModelSource::Learn { settings, .. },
                ..
            }) => clauses.extend(settings.iter().map(|s| s.span.start)),
            ItemKind::Enforce(Enforce {
                kind: EnforceKind::Property { arms, .. } | EnforceKind::Query { arms, .. },
            }) => clauses.extend(arms.iter().map(|arm| match arm {
                Arm::Act { span, .. } | Arm::OnErrorAllow(span) => span.start,
            })),
            ItemKind::System(it) | ItemKind::Component(it) => {
                for member in &it.members {
                    clauses.insert(member.span.start);
                    if let SystemMemberKind::State { ty, .. } = &member.kind
                        && matches!(ty.kind, TypeKind::Values(_))
                    {
                        self.value_types.insert(ty.span.start);
                    }
                }
            }
            ItemKind::Test(it) => clauses.extend(it.clauses.iter().map(|clause| match clause {
                TestClause::Given(_, span) => span.start,
                TestClause::Expect(expect) => expect.span.start,
            })),
            _ => {}
        }
    }
}
