//! The traces at which a clause acts, as automata.

use super::{Level, Limits, Moment};
use crate::hir::{Arm, ArmTrigger, Formula, Spec, Unary, Watched};
use crate::ids::{AtomId, ExprId, FormulaId};
use crate::lint;
use crate::monitor::Ruling;
use crate::translate::{atom, automaton, translate};
use guard_automata::{Atom, Dfa, Formulas, Interval, Recurring, Verdict, compile};

/// The reason why some arms are not compared.
const UNCOMPARED: &str = "arms on `satisfied` of `always`, and on obligations that are pending for \
                          some steps, are compared only if they did not change";

/// Whether a clause of one spec acts where the other spec lets through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question {
    pub(super) side: usize,
    pub(super) clause: usize,
    pub(super) level: Level,
    pub(super) moment: Moment,
    /// Whether only ends count at which the clause begins to act: a difference at an event is known.
    pub(super) begins: bool,
}

/// Whether an arm acts at this level or a stricter one.
pub(super) fn reaches(arm: &Arm, level: Level) -> bool {
    Ruling::of(arm.action.kind) >= level.ruling()
}

/// Returns the prefixes at whose last event, or traces at whose end, an arm of the clause acts that reaches the level.
///
/// # Errors
/// The reason why they are not known as an automaton.
pub(super) fn language(
    spec: &Spec,
    clause: usize,
    asked: Question,
    limits: &Limits,
) -> Result<Dfa, String> {
    let of = &spec.enforces[clause];
    let mut all: Option<Dfa> = None;
    for arm in of.arms.iter().filter(|arm| reaches(arm, asked.level)) {
        let one = match &of.watched {
            Watched::When { .. } if asked.moment == Moment::End => {
                return Err("it watches a condition on a step".to_owned());
            }
            Watched::When { condition, .. } => holds_last(spec, *condition, limits)?,
            Watched::Property(property) => {
                let property = spec.property(*property);
                if property.quantified.as_ref().is_some_and(|of| !of.universal) {
                    return Err("it watches a property with `exists`".to_owned());
                }
                if spec.formulas.is_timed(property.formula) {
                    return Err("it watches a property with bounds in time".to_owned());
                }
                match asked.moment {
                    Moment::End => {
                        let begins = asked.begins && clause == asked.clause;
                        acting_at_end(spec, property.formula, &arm.trigger, begins, limits)?
                    }
                    _ => acting(spec, property.formula, &arm.trigger, limits)?,
                }
            }
            Watched::Query(_) => return Err("it watches a claim about a model".to_owned()),
        };
        all = Some(match all {
            None => one,
            Some(all) => all
                .or(&one, &limits.automata)
                .map_err(lint::limit_message)?,
        });
    }
    all.ok_or_else(|| "it has no such arm".to_owned())
}

/// Returns the traces at whose last step a condition holds.
fn holds_last(spec: &Spec, condition: ExprId, limits: &Limits) -> Result<Dfa, String> {
    let mut atoms = spec.formulas.atoms().iter();
    let place = atoms
        .position(|atom| atom.expr == condition)
        .ok_or("its condition is not known")?;
    let mut formulas = Formulas::new();
    let (letter, last) = (formulas.atom(atom(AtomId::new(place))), formulas.last());
    let both = formulas.and(letter, last);
    let formula = formulas.eventually(Interval::ALL, both);
    compile(&formulas, formula, &limits.automata).map_err(lint::limit_message)
}

/// Returns the prefixes after which a trigger on a property is active.
fn acting(
    spec: &Spec,
    formula: FormulaId,
    trigger: &ArmTrigger,
    limits: &Limits,
) -> Result<Dfa, String> {
    let plain =
        || automaton(&spec.formulas, formula, &limits.automata).map_err(lint::limit_message);
    match (trigger, recurring(spec, formula)) {
        (ArmTrigger::Violated, None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::Violated))
        }
        (ArmTrigger::Violated, Some(inner)) => {
            let watched = watched_on(spec, inner, limits)?;
            let violated = |state: guard_automata::StateId| {
                watched
                    .violated
                    .get(state.index())
                    .copied()
                    .unwrap_or(false)
            };
            // A violation that becomes certain only because of what later steps owe is found by the property itself.
            let first = plain()?
                .accepting_where(|verdict| verdict == Verdict::Violated)
                .first_accepting();
            let again = watched.dfa.accepting_at(violated);
            again
                .or(&first, &limits.automata)
                .map_err(lint::limit_message)
        }
        (ArmTrigger::Satisfied, None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::Satisfied))
        }
        (ArmTrigger::PresumablyViolated(1), None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::PresumablyViolated))
        }
        _ => Err(UNCOMPARED.to_owned()),
    }
}

/// Returns the automaton of `G φ` that goes on after violations, as a monitor does.
fn watched_on(spec: &Spec, inner: FormulaId, limits: &Limits) -> Result<Recurring, String> {
    let mut formulas = Formulas::new();
    let inner = translate(&spec.formulas, inner, atom, &mut formulas);
    let start = Atom(u32::try_from(spec.formulas.atoms().len()).unwrap_or(u32::MAX));
    let always = formulas.watched_on(inner, start);
    let dfa = compile(&formulas, always, &limits.automata).map_err(lint::limit_message)?;
    dfa.recurring(start, &limits.automata)
        .map_err(lint::limit_message)
}

/// Returns the traces at whose end a trigger on a property is active, or only begins to be.
fn acting_at_end(
    spec: &Spec,
    formula: FormulaId,
    trigger: &ArmTrigger,
    begins: bool,
    limits: &Limits,
) -> Result<Dfa, String> {
    let plain =
        automaton(&spec.formulas, formula, &limits.automata).map_err(lint::limit_message)?;
    let satisfied = |verdict| matches!(verdict, Verdict::Satisfied | Verdict::PresumablySatisfied);
    match (trigger, recurring(spec, formula)) {
        (ArmTrigger::Violated, None) => Ok(plain.accepting_where(|verdict| match verdict {
            Verdict::Violated => !begins,
            verdict => !satisfied(verdict),
        })),
        (ArmTrigger::Violated, Some(inner)) => {
            let watched = watched_on(spec, inner, limits)?;
            // What was violated at the last step was decided there.
            let is_pending = |state: guard_automata::StateId| {
                let violated = watched.violated.get(state.index()).copied();
                violated == Some(false) && !watched.dfa.accepting(state)
            };
            let pending = watched.dfa.accepting_at(is_pending);
            let first = plain.accepting_where(|verdict| verdict == Verdict::PresumablyViolated);
            pending
                .or(&first, &limits.automata)
                .map_err(lint::limit_message)
        }
        (ArmTrigger::Satisfied, None) => Ok(plain.accepting_where(|verdict| match verdict {
            Verdict::Satisfied => !begins,
            verdict => satisfied(verdict),
        })),
        // At the end nothing is pending any more.
        (ArmTrigger::PresumablyViolated(_), _) => Ok(plain.accepting_at(|_| false)),
        _ => Err(UNCOMPARED.to_owned()),
    }
}

/// Returns the part of `G φ` that is watched on after a violation.
pub(super) fn recurring(spec: &Spec, formula: FormulaId) -> Option<FormulaId> {
    match spec.formulas.get(formula) {
        Formula::Unary(Unary::Always, None, inner) => Some(*inner),
        _ => None,
    }
}
