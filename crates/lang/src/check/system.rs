//! Systems and components: their variables, initial states, labels and rewards; and compositions.
//!
//! The variables of all systems are known before any body is elaborated, because components read one another. In a body, and in
//! claims about a system, its variables and labels are bound like local names and shadow fields of the event. Those of other
//! components are `component.name`, or just `name` if only one component has it.

use std::sync::Arc;

use smol_str::SmolStr;

use super::contract::within;
use super::names::{ItemRef, Names, Space};
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::system::{Domain, DomainKind, Label, Reward, SystemKind};
use crate::hir::{ClaimFormula, Expr, StateVar, System, reads, system};
use crate::ids::{ExprId, StateVarId, SystemId};
use crate::source::Span;
use crate::syntax::ast::{self, SystemMemberKind};
use crate::types::Type;
use crate::value::Value;

/// Larger integers cannot be bounds of a variable: sums of two such numbers still fit 64 bits.
const LARGEST: i64 = 1 << 62;

/// A variable or label of a system.
struct Member {
    name: SmolStr,
    typed: Typed,
    /// The span of the declaration of its name.
    declared: Option<Span>,
}

impl<'a> Checker<'a> {
    /// Declares all systems of all modules, those of the spec first, and elaborates their bodies.
    pub(super) fn systems(&mut self) {
        let mut declared: Vec<(ItemRef, &'a ast::System, SystemId)> = Vec::new();
        for module in 0..self.project.modules.len() {
            for (item, node) in self.project.modules[module].tree.items.iter().enumerate() {
                let item_ref = ItemRef { module, item };
                match &node.kind {
                    ast::ItemKind::System(def) => {
                        let id = self.declare(item_ref, node, def, SystemKind::System);
                        declared.push((item_ref, def, id));
                    }
                    ast::ItemKind::Component(def) => {
                        let id = self.declare(item_ref, node, def, SystemKind::Component);
                        declared.push((item_ref, def, id));
                    }
                    _ => {}
                }
            }
        }
        // Labels read variables; all other parts may read labels.
        for (item_ref, def, id) in &declared {
            self.labels(*item_ref, def, *id);
        }
        for (item_ref, def, id) in &declared {
            self.body(*item_ref, def, *id);
        }
        for module in 0..self.project.modules.len() {
            for (item, node) in self.project.modules[module].tree.items.iter().enumerate() {
                if let ast::ItemKind::Compose(def) = &node.kind {
                    self.composition(ItemRef { module, item }, node, def);
                }
            }
        }
    }

    /// Creates the system of an item, with its variables only.
    fn declare(
        &mut self,
        item_ref: ItemRef,
        item: &'a ast::Item,
        def: &'a ast::System,
        kind: SystemKind,
    ) -> SystemId {
        if item_ref.module == 0 {
            self.attributes(item, &["allow"]);
        }
        let id = self.new_system(item_ref, &def.name, item, kind);
        let scope = Scope::module(item_ref.module);
        let mut vars = Vec::new();
        let mut names: Vec<&ast::Name> = Vec::new();
        for member in &def.members {
            let name = match &member.kind {
                SystemMemberKind::State { name, .. } | SystemMemberKind::Label { name, .. } => name,
                _ => continue,
            };
            if !self.free_name(name, &names) {
                continue;
            }
            names.push(name);
            if let SystemMemberKind::State { name, ty, init } = &member.kind {
                let var = StateVarId::new(self.spec.state_vars.len());
                let (ty, domain) = self.state_type(&scope, ty);
                self.spec.state_vars.push(StateVar {
                    name: name.text.clone(),
                    owner: id,
                    ty: ty.clone(),
                    domain: domain.clone(),
                    init: None,
                    span: *member.span,
                });
                self.member_spans
                    .insert((id, name.text.clone()), *name.span);
                if let Some(init) = init {
                    let value = self.initial_value(&scope, init, &ty, &domain);
                    self.spec.state_vars[var.index()].init = value;
                }
                vars.push(var);
            }
        }
        if vars.is_empty() && !def.members.iter().any(is_state) {
            self.report(
                Diagnostic::new(
                    Code::G0350,
                    def.name.span,
                    format!("`{}` has no variables", def.name),
                )
                .label("has a single state")
                .note("declare a variable: `state mode: { idle, busy } = idle`"),
            );
        }
        self.spec.systems[id.index()].vars = vars;
        id
    }

    fn new_system(
        &mut self,
        item_ref: ItemRef,
        name: &ast::Name,
        item: &ast::Item,
        kind: SystemKind,
    ) -> SystemId {
        let id = SystemId::new(self.spec.systems.len());
        let doc: Vec<&str> = item.docs.iter().map(|doc| doc.text.as_str()).collect();
        self.spec.systems.push(System {
            name: name.text.clone(),
            kind,
            vars: Vec::new(),
            inits: Vec::new(),
            commands: Vec::new(),
            labels: Vec::new(),
            rewards: Vec::new(),
            assumes: Vec::new(),
            guarantees: Vec::new(),
            doc: SmolStr::new(doc.join("\n")),
            span: *item.span,
        });
        self.system_ids.insert(item_ref, id);
        id
    }

    /// Returns whether a variable or label may have this name; reports an error if not.
    fn free_name(&mut self, name: &ast::Name, taken: &[&ast::Name]) -> bool {
        if let Some(earlier) = taken.iter().find(|other| other.text == name.text) {
            self.report(
                Diagnostic::new(
                    Code::G0202,
                    name.span,
                    format!("`{name}` is declared twice"),
                )
                .label("declared again")
                .also(*earlier.span, "declared first"),
            );
            return false;
        }
        if Names::is_predefined(&name.text) {
            self.report(
                Diagnostic::new(Code::G0203, name.span, format!("`{name}` is predefined"))
                    .label("cannot be declared again")
                    .note(format!("choose another name, such as `{name}_`")),
            );
            return false;
        }
        true
    }

    /// Returns the type of a variable, and its values.
    fn state_type(&mut self, scope: &Scope<'a>, written: &'a ast::Type) -> (Type, Domain) {
        let wrong = Domain {
            kind: DomainKind::Bool,
            nullable: false,
        };
        match &written.kind {
            ast::TypeKind::Optional(inner) => {
                let (ty, domain) = self.state_type(scope, inner);
                let domain = Domain {
                    nullable: true,
                    ..domain
                };
                (ty.nullable(), domain)
            }
            ast::TypeKind::Values(names) => {
                let mut values: Vec<SmolStr> = Vec::new();
                for name in names {
                    if values.contains(&name.text) {
                        self.error(Code::G0202, name.span, format!("duplicate value `{name}`"));
                    } else {
                        values.push(name.text.clone());
                    }
                }
                let ty = Type::Enum(self.anonymous_enum(values));
                self.domain_of(ty, *written.span)
            }
            ast::TypeKind::Range(low, high) => {
                let ends = [&**low, &**high];
                let (low, high) = (self.range_end(scope, low), self.range_end(scope, high));
                let (Some(low), Some(high)) = (low, high) else {
                    return (Type::Error, wrong);
                };
                if low > high {
                    let diagnostic =
                        Diagnostic::new(Code::G0350, written.span, "this range is empty")
                            .label(format!("{low} is greater than {high}"));
                    let diagnostic = self.with_ends_swapped(diagnostic, ends);
                    self.report(diagnostic);
                    return (Type::Error, wrong);
                }
                let domain = Domain {
                    kind: DomainKind::Int(low, high),
                    nullable: false,
                };
                (Type::Int, domain)
            }
            _ => {
                let ty = self.ty(scope, written);
                self.domain_of(ty, *written.span)
            }
        }
    }

    fn domain_of(&mut self, ty: Type, span: Span) -> (Type, Domain) {
        let nullable = matches!(ty, Type::Nullable(_));
        let kind = match ty.non_null() {
            Type::Bool => DomainKind::Bool,
            Type::Enum(of) => DomainKind::Enum(
                of.number,
                u16::try_from(of.values.len()).unwrap_or(u16::MAX),
            ),
            Type::Error => DomainKind::Bool,
            other => {
                let mut diagnostic = Diagnostic::new(
                    Code::G0350,
                    span,
                    format!("a variable of a system cannot have type `{other}`"),
                )
                .label("has infinitely many values")
                .note("a variable is a `bool`, an enum, a set of names such as `{ idle, busy }`, or a range of integers");
                if *other == Type::Int {
                    diagnostic = diagnostic.fix("give it a range", span, "int 0..9");
                }
                self.report(diagnostic);
                let wrong = Domain {
                    kind: DomainKind::Bool,
                    nullable: false,
                };
                return (Type::Error, wrong);
            }
        };
        (ty, Domain { kind, nullable })
    }

    /// Returns the enum of a set of names; equal sets are one type, so that their values can be compared.
    fn anonymous_enum(&mut self, values: Vec<SmolStr>) -> Arc<crate::types::EnumType> {
        let name = format!("{{ {} }}", values.join(", "));
        let known = self.spec.enums.iter().find(|of| of.name == name);
        match known {
            Some(known) => known.clone(),
            None => self.new_enum(&name, false, values),
        }
    }

    fn range_end(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Option<i64> {
        let value = self.constant(scope, expr, &Type::Int)?;
        let int = match &value {
            Value::Number(number) => number.to_int().and_then(|int| i64::try_from(int).ok()),
            _ => None,
        };
        let int = int.filter(|int| (-LARGEST..=LARGEST).contains(int));
        if int.is_none() {
            self.report(
                Diagnostic::new(Code::G0322, expr.span, "number out of range")
                    .label("the absolute value of a variable must be below 2^62"),
            );
        }
        int
    }

    fn initial_value(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        ty: &Type,
        domain: &Domain,
    ) -> Option<Value> {
        let typed = self.value_as(scope, expr, ty);
        if typed.ty == Type::Error || *ty == Type::Error {
            return None;
        }
        let Expr::Const(value) = self.spec.exprs.get(typed.id).clone() else {
            self.report(
                Diagnostic::new(
                    Code::G0351,
                    expr.span,
                    "the initial value of a variable must be a constant",
                )
                .label("reads a value or is computed")
                .note("constrain the initial states with `init`, as in `init n == m + 1`"),
            );
            return None;
        };
        if domain.position(&value).is_none() {
            self.outside(Code::G0351, *expr.span, domain);
            return None;
        }
        Some(value)
    }

    /// Reports a value that a variable cannot have.
    pub(super) fn outside(&mut self, code: Code, span: Span, domain: &Domain) {
        let values = match domain.kind {
            DomainKind::Int(low, high) => format!("its values are {low}..{high}"),
            _ => "it cannot be null".to_owned(),
        };
        self.report(
            Diagnostic::new(code, span, "the variable cannot have this value").label(values),
        );
    }

    /// Returns the system, component or composition with a name in a module.
    pub(super) fn system_named(&self, scope: &Scope<'a>, name: &ast::Name) -> Option<SystemId> {
        let item = self.find(scope.module, Space::Model, name)?;
        self.system_ids.get(&item).copied()
    }

    /// Returns the scope for claims about a system: its variables and labels and, for a component, those of the others.
    pub(super) fn system_scope(&mut self, id: SystemId, module: usize) -> Scope<'a> {
        let mut scope = Scope::module(module);
        let others: Vec<SystemId> = match &self.spec.system(id).kind {
            SystemKind::System => Vec::new(),
            SystemKind::Composition(parts) => parts.clone(),
            SystemKind::Component => {
                let mut others: Vec<SystemId> = Vec::new();
                for (item, other) in &self.system_ids {
                    let component = self.spec.system(*other).kind == SystemKind::Component;
                    if component && *other != id && item.module == module {
                        others.push(*other);
                    }
                }
                others.sort_unstable();
                others
            }
        };
        // If two components have the same name, it must be qualified.
        let mut plain: Vec<(Member, bool)> = Vec::new();
        for other in others {
            for member in self.members_of(other) {
                scope = self.qualified(scope, other, &member);
                match plain
                    .iter_mut()
                    .find(|(known, _)| known.name == member.name)
                {
                    Some((_, alone)) => *alone = false,
                    None => plain.push((member, true)),
                }
            }
        }
        for (member, alone) in plain {
            if alone {
                scope = scope.declared(&member.name, Binding::Value(member.typed), member.declared);
            }
        }
        for member in self.members_of(id) {
            scope = self.qualified(scope, id, &member);
            scope = scope.declared(&member.name, Binding::Value(member.typed), member.declared);
        }
        scope
    }

    /// Returns a scope with a member under its whole name, `agent.mode`.
    fn qualified(&self, scope: Scope<'a>, owner: SystemId, member: &Member) -> Scope<'a> {
        let owner = &self.spec.system(owner).name;
        let name = smol_str::format_smolstr!("{owner}.{}", member.name);
        scope.declared(&name, Binding::Value(member.typed.clone()), member.declared)
    }

    fn members_of(&mut self, id: SystemId) -> Vec<Member> {
        let system = self.spec.system(id);
        let vars = system.vars.clone();
        let labels: Vec<(SmolStr, ExprId)> = system
            .labels
            .iter()
            .map(|label| (label.name.clone(), label.expr))
            .collect();
        let mut members = Vec::new();
        for var in vars {
            let declared = self.spec.state_var(var);
            let (name, ty, span) = (declared.name.clone(), declared.ty.clone(), declared.span);
            let typed = self.add(Expr::State(var), ty, span);
            members.push((name, typed));
        }
        for (name, id) in labels {
            let ty = Type::Bool;
            members.push((name, Typed { id, ty }));
        }
        members
            .into_iter()
            .map(|(name, typed)| Member {
                declared: self.member_spans.get(&(id, name.clone())).copied(),
                name,
                typed,
            })
            .collect()
    }

    fn labels(&mut self, item_ref: ItemRef, def: &'a ast::System, id: SystemId) {
        for member in &def.members {
            let SystemMemberKind::Label { name, value } = &member.kind else {
                continue;
            };
            let known = self.spec.system(id).labels.iter();
            if known.clone().any(|label| label.name == name.text) {
                continue;
            }
            // A label may use earlier labels.
            let scope = self.system_scope(id, item_ref.module);
            let expr = self.condition_on_state(&scope, value);
            self.member_spans
                .insert((id, name.text.clone()), *name.span);
            self.spec.systems[id.index()].labels.push(Label {
                name: name.text.clone(),
                expr,
                span: *member.span,
            });
        }
    }

    fn body(&mut self, item_ref: ItemRef, def: &'a ast::System, id: SystemId) {
        let scope = self.system_scope(id, item_ref.module);
        let mut rewards: Vec<(Option<SmolStr>, Span)> = Vec::new();
        let mut assumed = Vec::new();
        for member in &def.members {
            let span = *member.span;
            match &member.kind {
                SystemMemberKind::State { .. } | SystemMemberKind::Label { .. } => {}
                SystemMemberKind::Init(expr) => {
                    let init = self.condition_on_state(&scope, expr);
                    self.own_only(
                        id,
                        init,
                        *expr.span,
                        "the initial states of another component",
                    );
                    self.spec.systems[id.index()].inits.push(init);
                }
                SystemMemberKind::Step {
                    name,
                    when,
                    branches,
                } => self.command(&scope, id, name, when.as_ref(), branches, span),
                SystemMemberKind::Reward { name, value } => {
                    let name = name.as_ref().map(|name| name.text.clone());
                    if let Some((_, first)) = rewards.iter().find(|(known, _)| *known == name) {
                        let first = *first;
                        self.report(
                            Diagnostic::new(Code::G0202, span, "duplicate reward")
                                .label("declared again")
                                .also(first, "declared first"),
                        );
                        continue;
                    }
                    rewards.push((name.clone(), span));
                    let typed = self.value_as(&scope, value, &Type::Float);
                    let expr = self.of_state(typed.id, *value.span, true);
                    let reward = Reward { name, expr, span };
                    self.spec.systems[id.index()].rewards.push(reward);
                }
                SystemMemberKind::Assume(expr) => {
                    if let Some(contract) = self.contract(&scope, expr, true) {
                        assumed.push((contract.formula, expr));
                        self.spec.systems[id.index()].assumes.push(contract);
                    }
                }
                SystemMemberKind::Guarantee(expr) => {
                    if let Some(contract) = self.contract(&scope, expr, false) {
                        self.spec.systems[id.index()].guarantees.push(contract);
                    }
                }
            }
        }
        self.chance_or_choice(id);
        if item_ref.module == 0 {
            self.watch(id, &assumed);
        }
    }

    /// Returns a condition on the state.
    pub(super) fn condition_on_state(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let id = self.boolean(scope, expr);
        self.of_state(id, *expr.span, false)
    }

    /// Reports an expression that is not about the state of a system; `fractions` allows numbers with a fraction.
    pub(super) fn of_state(&mut self, id: ExprId, span: Span, fractions: bool) -> ExprId {
        let read = reads::reads(&self.spec, [id]);
        let field = read
            .fields
            .iter()
            .next()
            .map(|field| &self.spec.schema.fields[*field].name);
        let track = read
            .tracks
            .iter()
            .next()
            .map(|track| &self.spec.track(*track).name);
        let reason = match (field, track) {
            (Some(field), _) => Some(format!("reads the field `{field}` of an event")),
            (None, Some(track)) => Some(format!("reads the track `{track}` over events")),
            (None, None) if !read.meta.is_empty() => Some("reads a field of a record".to_owned()),
            (None, None) if !read.vars.is_empty() => Some("reads a quantified name".to_owned()),
            (None, None) if read.history => Some("looks back, but a state has no past".to_owned()),
            (None, None) => None,
        };
        if let Some(reason) = reason {
            self.report(
                Diagnostic::new(
                    Code::G0352,
                    span,
                    "a formula about a system cannot read recorded events",
                )
                .label(reason)
                .note(
                    "it can read variables, labels and constants of the system; to remember an \
                    earlier step, set a variable in a command",
                ),
            );
            return self.wrong().id;
        }
        if let Some(reason) = system::beyond_states(&self.spec.exprs, id, fractions) {
            self.report(
                Diagnostic::new(Code::G0352, span, "this expression cannot be evaluated on a state")
                    .label(reason)
                    .note("states consist of Booleans, names and whole numbers: compare and compute with these"),
            );
            return self.wrong().id;
        }
        id
    }

    /// Reports expressions that read variables of other systems.
    fn own_only(&mut self, id: SystemId, expr: ExprId, span: Span, what: &str) {
        let foreign = system::state_vars(&self.spec.exprs, [expr])
            .into_iter()
            .find(|var| self.spec.state_var(*var).owner != id);
        if let Some(var) = foreign {
            let var = self.spec.state_var(var);
            let owner = self.spec.system(var.owner).name.clone();
            let message = format!("`{}` belongs to `{owner}`", var.name);
            self.report(
                Diagnostic::new(Code::G0353, span, message).label(format!("decides {what}")),
            );
        }
    }

    /// Reports conditions in a claim on a system that are not about states.
    pub(super) fn of_states(&mut self, formula: ClaimFormula, span: Span) {
        let mut todo = formula.states(&self.spec.formulas);
        let mut seen = std::collections::HashSet::new();
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            match self.spec.exprs.get(id) {
                Expr::Branching(branching) => {
                    let branching = self.spec.branchings.get(*branching);
                    todo.extend(branching.states(&self.spec.formulas));
                }
                Expr::Not(_) | Expr::And(..) | Expr::Or(..) | Expr::Implies(..) | Expr::Iff(..) => {
                    todo.extend(self.spec.exprs.operands(id));
                }
                Expr::Label(_) => {}
                _ => {
                    let atoms = self.spec.formulas.atoms().iter();
                    let place = atoms
                        .filter(|atom| atom.expr == id)
                        .map(|atom| within(atom.span, span))
                        .next();
                    self.of_state(id, place.unwrap_or(span), false);
                }
            }
        }
    }

    fn composition(&mut self, item_ref: ItemRef, item: &'a ast::Item, def: &'a ast::Compose) {
        if item_ref.module == 0 {
            self.attributes(item, &["allow"]);
        }
        let scope = Scope::module(item_ref.module);
        let mut parts: Vec<SystemId> = Vec::new();
        for name in &def.parts {
            let Some(part) = self.part(&scope, name) else {
                continue;
            };
            if parts.contains(&part) {
                self.error(Code::G0202, name.span, format!("duplicate part `{name}`"));
                continue;
            }
            parts.push(part);
        }
        self.parts_are_complete(def, &parts);
        let id = self.new_system(item_ref, &def.name, item, SystemKind::Composition(parts));
        self.chance_or_choice(id);
    }

    fn part(&mut self, scope: &Scope<'a>, name: &ast::Name) -> Option<SystemId> {
        if let Some(found) = self.system_named(scope, name) {
            if self.spec.system(found).kind == SystemKind::Component {
                return Some(found);
            }
            let declared = self.spec.system(found).span;
            self.report(
                Diagnostic::new(
                    Code::G0355,
                    name.span,
                    format!("`{name}` is not a component"),
                )
                .label("cannot be composed")
                .also(declared, "declared here")
                .note("`compose` joins parts that are declared with `component`"),
            );
            return None;
        }
        let mut diagnostic = Diagnostic::new(
            Code::G0201,
            name.span,
            format!("unknown component `{name}`"),
        )
        .label("not declared");
        if let Some(near) = did_you_mean(&name.text, self.names.all(scope.module, Space::Model)) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        None
    }

    /// Reports parts that read components outside the composition.
    fn parts_are_complete(&mut self, def: &'a ast::Compose, parts: &[SystemId]) {
        for part in parts {
            let roots = self.spec.system(*part).roots();
            let missing = system::state_vars(&self.spec.exprs, roots)
                .into_iter()
                .find(|var| !parts.contains(&self.spec.state_var(*var).owner));
            if let Some(var) = missing {
                let var = self.spec.state_var(var);
                let owner = self.spec.system(var.owner).name.clone();
                let reader = self.spec.system(*part).name.clone();
                let message = format!(
                    "`{reader}` reads `{owner}.{}`, but `{owner}` is not a part",
                    var.name
                );
                self.report(
                    Diagnostic::new(Code::G0355, def.name.span, message)
                        .label(format!("add `|| {owner}`")),
                );
            }
        }
    }
}

fn is_state(member: &ast::SystemMember) -> bool {
    matches!(member.kind, SystemMemberKind::State { .. })
}
