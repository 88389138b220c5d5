//! The assumptions and guarantees of components, on states or on events that monitors observe.

use smol_str::SmolStr;

use super::Checker;
use super::branching::Place;
use super::scope::Scope;
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::system::Contract;
use crate::hir::{Property, PropertyKind, Severity, Trigger, reads};
use crate::ids::{FormulaId, SystemId};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Elaborates an `assume` or a `guarantee`.
    pub(super) fn contract(
        &mut self,
        scope: &Scope<'a>,
        expr: &'a ast::Expr,
        assumed: bool,
    ) -> Option<Contract> {
        let span = *expr.span;
        if !self.is_temporal(scope, expr) {
            let condition = self.boolean(scope, expr);
            if *self.spec.exprs.ty(condition) == Type::Bool {
                let text = self.snippet(span);
                self.report(
                    Diagnostic::new(
                        Code::G0311,
                        span,
                        "`assume` and `guarantee` need a temporal operator",
                    )
                    .label("would apply to the initial states only")
                    .fix(
                        "require it in every state",
                        span,
                        format!("always ({text})"),
                    ),
                );
            }
            return None;
        }
        let formula = self.at(Place::System, |checker| checker.formula(scope, expr));
        let of_events = self.letters_of_one_kind(formula, span, assumed)?;
        Some(Contract {
            formula,
            of_events,
            text: self.snippet(span),
            span,
        })
    }

    /// Whether the atoms of a formula are about events. Returns `None`, with a report, if they are not all of one kind, or if
    /// the kind is not allowed here.
    fn letters_of_one_kind(
        &mut self,
        formula: FormulaId,
        span: Span,
        events_allowed: bool,
    ) -> Option<bool> {
        let mut of_events = None;
        let mut of_states = None;
        for atom in self.spec.formulas.atoms_of(formula) {
            let atom = self.spec.atom(atom).clone();
            if *self.spec.exprs.ty(atom.expr) == Type::Error {
                return None;
            }
            let read = reads::reads(&self.spec, [atom.expr]);
            if !read.fields.is_empty() || !read.tracks.is_empty() || !read.meta.is_empty() {
                of_events = Some(atom);
            } else {
                let checked = self.of_state(atom.expr, within(atom.span, span), false);
                if *self.spec.exprs.ty(checked) == Type::Error {
                    return None;
                }
                of_states = Some(atom);
            }
        }
        match (of_events, of_states) {
            (Some(event), Some(state)) => {
                self.report(
                    Diagnostic::new(Code::G0354, span, "this formula mixes events and states")
                        .label("cannot be evaluated on either")
                        .also(event.span, "reads a recorded event")
                        .also(state.span, "reads a state")
                        .note("write two formulas, or declare a variable that records the effect of the event on the system"),
                );
                None
            }
            (Some(event), None) if !events_allowed => {
                self.of_state(event.expr, within(event.span, span), false);
                None
            }
            (events, _) => Some(events.is_some()),
        }
    }

    /// Adds trace properties for the assumptions that recorded events can decide: those about events, and those whose names are
    /// all conditions on events too. Monitors then check the assumptions of a proof.
    pub(super) fn watch(&mut self, id: SystemId, assumed: &[(FormulaId, &'a ast::Expr)]) {
        let name = self.spec.system(id).name.clone();
        for (at, (formula, expr)) in assumed.iter().enumerate() {
            let contract = &self.spec.system(id).assumes[at];
            let (of_events, span) = (contract.of_events, contract.span);
            let formula = match of_events {
                true => Some(*formula),
                false => self.of_events(expr),
            };
            let Some(formula) = formula else { continue };
            let trigger = self.trigger(formula).map(|expr| Trigger { expr, span });
            let name = match assumed.len() {
                1 => smol_str::format_smolstr!("{name}.assume"),
                _ => smol_str::format_smolstr!("{name}.assume.{}", at + 1),
            };
            self.spec.properties.push(Property {
                name,
                id: None,
                kind: PropertyKind::Assumption,
                quantified: None,
                formula,
                trigger,
                severity: Severity::default(),
                catastrophic: false,
                message: None,
                doc: SmolStr::default(),
                requirement: None,
                requirement_span: None,
                cites: Vec::new(),
                owner: None,
                span,
                formula_span: span,
            });
        }
    }

    /// Returns a formula about states as a formula about events, if possible: a label of a component and a condition on
    /// events with the same name have the same meaning.
    fn of_events(&mut self, expr: &'a ast::Expr) -> Option<FormulaId> {
        if self.spec.schema.fields.is_empty() {
            return None;
        }
        let told = self.diagnostics.len();
        let reported = self.reported.clone();
        let formula = self.formula(&Scope::module(0), expr);
        let sound = self.diagnostics.len() == told;
        self.diagnostics.truncate(told);
        self.reported = reported;
        let atoms = self.spec.formulas.atoms_of(formula);
        let exprs = atoms.into_iter().map(|atom| self.spec.atom(atom).expr);
        let read = reads::reads(&self.spec, exprs.collect::<Vec<_>>());
        let events = !read.fields.is_empty() || !read.tracks.is_empty();
        (sound && events).then_some(formula)
    }
}

/// Returns the span of an atom in a formula; equal atoms keep the span of their first use, which may be elsewhere.
pub(super) fn within(atom: Span, formula: Span) -> Span {
    let inside =
        atom.file == formula.file && formula.start <= atom.start && atom.end <= formula.end;
    if inside { atom } else { formula }
}
