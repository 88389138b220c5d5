//! Commands of systems: guards, branches with probabilities, updates.

use super::Checker;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic, did_you_mean};
use crate::hir::system::{Branch, Command, Next, Update};
use crate::hir::{Expr, fraction};
use crate::ids::{ExprId, StateVarId, SystemId};
use crate::source::Span;
use crate::syntax::ast::{self, UpdateKind};
use crate::types::Type;
use crate::value::Value;

impl<'a> Checker<'a> {
    /// Elaborates `step name when g => …`.
    pub(super) fn command(
        &mut self,
        scope: &Scope<'a>,
        system: SystemId,
        name: &'a ast::Name,
        when: Option<&'a ast::Expr>,
        branches: &'a [ast::Branch],
        span: Span,
    ) {
        let guard = when.map(|when| self.condition_on_state(scope, when));
        let with = branches
            .iter()
            .filter(|branch| branch.probability.is_some())
            .count();
        if let Some(without) = branches.iter().find(|branch| branch.probability.is_none())
            && (with > 0 || branches.len() > 1)
        {
            self.report(
                Diagnostic::new(Code::G0356, without.span, "this branch has no probability")
                    .label("missing probability")
                    .note("write `0.3: … | 0.7: …`; if the probabilities are unknown, write one command for each outcome"),
            );
            return;
        }
        let mut made = Vec::new();
        for branch in branches {
            let probability = branch
                .probability
                .as_ref()
                .map(|expr| self.probability(scope, expr));
            let mut updates: Vec<Update> = Vec::new();
            for update in &branch.updates {
                if let Some(update) = self.update(scope, system, update, &updates) {
                    updates.push(update);
                }
            }
            made.push(Branch {
                probability,
                updates,
                span: *branch.span,
            });
        }
        self.sums_to_one(&made, branches);
        self.spec.systems[system.index()].commands.push(Command {
            name: name.text.clone(),
            guard,
            branches: made,
            span,
        });
    }

    fn probability(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> ExprId {
        let typed = self.value_as(scope, expr, &Type::Float);
        let id = self.of_state(typed.id, *expr.span, true);
        if let Some(value) = fraction::constant(&self.spec.exprs, id)
            && !fraction::is_probability(&value)
        {
            self.report(
                Diagnostic::new(Code::G0356, expr.span, "expected a probability")
                    .label(format!("{} is not between 0 and 1", fraction::show(&value))),
            );
            return self.wrong().id;
        }
        id
    }

    /// Reports constant probabilities that do not sum to one; probabilities that depend on the state are checked in
    /// each state.
    fn sums_to_one(&mut self, made: &[Branch], branches: &'a [ast::Branch]) {
        let mut sum = None;
        for branch in made {
            let Some(id) = branch.probability else { return };
            let Some(value) = fraction::constant(&self.spec.exprs, id) else {
                return;
            };
            sum = Some(match sum {
                Some(sum) => sum + value,
                None => value,
            });
        }
        let (Some(sum), Some(first), Some(last)) = (sum, branches.first(), branches.last()) else {
            return;
        };
        if !fraction::is_one(&sum) {
            self.report(
                Diagnostic::new(
                    Code::G0356,
                    first.span.to(*last.span),
                    format!("the probabilities sum to {}", fraction::show(&sum)),
                )
                .label("they must sum to 1")
                .note("fractions are exact: three equal branches are `1/3: … | 1/3: … | 1/3: …`"),
            );
        }
    }

    fn update(
        &mut self,
        scope: &Scope<'a>,
        system: SystemId,
        update: &'a ast::Update,
        earlier: &[Update],
    ) -> Option<Update> {
        let var = self.target(scope, system, &update.target)?;
        if let Some(first) = earlier.iter().find(|other| other.var == var) {
            self.report(
                Diagnostic::new(
                    Code::G0353,
                    update.span,
                    format!("`{}` is assigned twice", update.target),
                )
                .label("changed again")
                .also(first.span, "changed first"),
            );
            return None;
        }
        let declared = self.spec.state_var(var).clone();
        let span = *update.span;
        let next = match update.kind {
            UpdateKind::Equal => {
                let typed = self.value_as(scope, &update.value, &declared.ty);
                Next::Is(self.of_state(typed.id, *update.value.span, false))
            }
            UpdateKind::In => {
                let wanted = Type::Set(declared.ty.clone().into());
                let typed = self.value(scope, &update.value, Some(&wanted));
                let listed = match &typed.ty {
                    Type::List(item) => Type::Set(item.clone()),
                    other => other.clone(),
                };
                if !Self::fits(&listed, &wanted) {
                    self.mismatch(*update.value.span, &typed.ty, &wanted);
                    return None;
                }
                Next::In(self.of_state(typed.id, *update.value.span, false))
            }
        };
        let constants: Vec<Value> = match self.spec.exprs.get(next.expr()) {
            Expr::Const(Value::Set(values)) => values.iter().cloned().collect(),
            Expr::Const(Value::List(values)) => values.to_vec(),
            Expr::Const(value) => vec![value.clone()],
            _ => Vec::new(),
        };
        let is_known = match self.spec.exprs.get(next.expr()) {
            Expr::Const(_) => true,
            Expr::Set(items) | Expr::List(items) => items.is_empty(),
            _ => false,
        };
        if matches!(next, Next::In(_)) && is_known && constants.is_empty() {
            self.report(
                Diagnostic::new(Code::G0353, update.value.span, "empty set of values")
                    .label("the command could never execute"),
            );
        }
        if declared.ty != Type::Error
            && constants
                .iter()
                .any(|value| declared.domain.position(value).is_none())
        {
            self.outside(Code::G0353, *update.value.span, &declared.domain);
        }
        Some(Update { var, next, span })
    }

    /// Returns the variable that an update changes.
    fn target(
        &mut self,
        scope: &Scope<'a>,
        system: SystemId,
        name: &ast::Name,
    ) -> Option<StateVarId> {
        let own = self.spec.system(system).vars.clone();
        let found = own
            .iter()
            .find(|var| self.spec.state_var(**var).name == name.text);
        if let Some(found) = found {
            if let Some(declared) = self.member_spans.get(&(system, name.text.clone())) {
                self.link(*name.span, *declared);
            }
            return Some(*found);
        }
        let bound = match self.binding(scope, name) {
            Some(super::scope::Binding::Value(typed)) => {
                Some(self.spec.exprs.get(typed.id).clone())
            }
            _ => None,
        };
        let mut diagnostic = match bound {
            Some(Expr::State(var)) => {
                let owner = self.spec.state_var(var).owner;
                let owner = self.spec.system(owner).name.clone();
                Diagnostic::new(
                    Code::G0353,
                    name.span,
                    format!("`{name}` belongs to `{owner}`"),
                )
                .label("changed by another component")
                .note(
                    "a component may change only its own variables; to change both at once, use \
                    the same command name in both components",
                )
            }
            Some(_) => Diagnostic::new(Code::G0353, name.span, format!("`{name}` is a label"))
                .label("a label is computed from the variables and cannot be assigned"),
            None => Diagnostic::new(Code::G0201, name.span, format!("unknown variable `{name}`"))
                .label("not declared with `state`"),
        };
        let names: Vec<_> = own
            .iter()
            .map(|var| self.spec.state_var(*var).name.clone())
            .collect();
        if let Some(near) = did_you_mean(&name.text, names.iter().map(|name| name.as_str())) {
            diagnostic = diagnostic.fix(format!("write `{near}`"), name.span, near);
        }
        self.report(diagnostic);
        None
    }

    /// Reports nondeterminism in a system that has probabilities.
    pub(super) fn chance_or_choice(&mut self, id: SystemId) {
        let system = self.spec.system(id);
        let commands: Vec<Command> = match system.parts() {
            [] => system.commands.clone(),
            parts => parts
                .iter()
                .flat_map(|part| self.spec.system(*part).commands.clone())
                .collect(),
        };
        let chance = commands
            .iter()
            .flat_map(|command| &command.branches)
            .find(|branch| branch.probability.is_some());
        let choice = commands
            .iter()
            .flat_map(|command| &command.branches)
            .flat_map(|branch| &branch.updates)
            .find(|update| {
                let Next::In(expr) = update.next else {
                    return false;
                };
                !matches!(self.spec.exprs.get(expr), Expr::Const(Value::Set(values)) if values.len() == 1)
            });
        if let (Some(chance), Some(choice)) = (chance, choice) {
            let (chance, choice) = (chance.span, choice.span);
            self.report(
                Diagnostic::new(
                    Code::G0356,
                    choice,
                    "a system with probabilities cannot contain nondeterministic choices",
                )
                .label("may take several values")
                .also(chance, "a probability")
                .note("give each value a probability: `0.5: x' == 0 | 0.5: x' == 1`"),
            );
        }
    }
}
