//! Decisions of `enforce` clauses: events that only one of the specs denies, or asks a person about.
//!
//! The events at which an arm acts are a language: prefixes that end where its property is violated, or its condition holds.
//! What one spec denies beyond the other is searched clause by clause: a trace of the clause's language is judged by both
//! monitors; if a clause of the other spec denies it as well, that clause's language is taken away, until a trace is left
//! that only one of them denies, or none at all.

use super::property::{includes_all, is_same};
use super::witness::Bench;
use super::{DecisionChange, Direction, Level, Limits};
use crate::domain;
use crate::hir::{ArmTrigger, Enforce, Formula, Spec, Unary, Watched};
use crate::ids::{AtomId, ExprId, FormulaId};
use crate::lint;
use crate::monitor::{Decision, Ruling};
use crate::translate::{atom, automaton, translate};
use guard_automata::{Atom, Dfa, Formulas, Interval, Verdict, compile};

/// Returns the differences between the decisions of the two specs.
pub(super) fn compare(bench: &mut Bench<'_>, limits: &Limits) -> Vec<DecisionChange> {
    let joint = bench.joint;
    let mut changes = Vec::new();
    for level in [Level::Denied, Level::Asked] {
        let mut actions = joint.spec.enforces.iter().flat_map(|clause| &clause.arms);
        // Without arms that ask, both levels are the same.
        if level == Level::Asked && !actions.any(|arm| Ruling::of(arm.action.kind) == Ruling::Ask) {
            continue;
        }
        for side in [1, 0] {
            for clause in clauses(bench, side) {
                if !acts(&joint.spec.enforces[clause], level) {
                    continue;
                }
                let found = only_here(bench, side, clause, level, limits);
                if matches!(found, Direction::Excluded) {
                    continue;
                }
                let change = DecisionChange {
                    clause: name(&joint.spec, clause),
                    level,
                    added: side == 1,
                    found,
                };
                if !changes.iter().any(|known| repeats(known, &change)) {
                    changes.push(change);
                }
            }
        }
    }
    changes
}

/// Whether two changes report the same event of the same clause: what is newly denied is also newly stopped.
fn repeats(known: &DecisionChange, change: &DecisionChange) -> bool {
    let event = match (&known.found, &change.found) {
        (Direction::Found(known), Direction::Found(found)) => known.events == found.events,
        (Direction::Unknown(known), Direction::Unknown(reason)) => known == reason,
        _ => false,
    };
    event && (&known.clause, known.added) == (&change.clause, change.added)
}

/// Returns the clauses of which the new spec lets through what cannot be evaluated, and the old one does not.
pub(super) fn newly_lenient(bench: &Bench<'_>) -> Vec<String> {
    let spec = &bench.joint.spec;
    let strict: Vec<String> = clauses(bench, 0)
        .into_iter()
        .filter(|clause| !spec.enforces[*clause].on_error_allow)
        .map(|clause| name(spec, clause))
        .collect();
    clauses(bench, 1)
        .into_iter()
        .filter(|clause| spec.enforces[*clause].on_error_allow)
        .map(|clause| name(spec, clause))
        .filter(|name| strict.contains(name))
        .collect()
}

/// Returns the joint numbers of the clauses of one spec.
fn clauses(bench: &Bench<'_>, side: usize) -> Vec<usize> {
    let places = bench.joint.sides[side].clauses.iter();
    places.filter_map(|place| *place).collect()
}

fn name(spec: &Spec, clause: usize) -> String {
    match &spec.enforces[clause].watched {
        Watched::Property(property) => spec.property(*property).name.to_string(),
        Watched::When { text, .. } => text.to_string(),
        Watched::Query(claim) => spec.claim(*claim).name.to_string(),
    }
}

fn reaches(arm: &crate::hir::Arm, level: Level) -> bool {
    Ruling::of(arm.action.kind) >= level.ruling()
}

fn acts(clause: &Enforce, level: Level) -> bool {
    clause.arms.iter().any(|arm| reaches(arm, level))
}

/// Returns a trace whose last event a clause of one spec acts on and the other spec lets through.
fn only_here(
    bench: &mut Bench<'_>,
    side: usize,
    clause: usize,
    level: Level,
    limits: &Limits,
) -> Direction {
    let joint = bench.joint;
    let spec = &joint.spec;
    let others = clauses(bench, 1 - side);
    let alike = |other: &usize| is_alike(spec, clause, *other, level);
    if joint.steps_differ.is_none() && others.iter().any(alike) {
        return Direction::Excluded;
    }
    if let Some(reason) = &joint.steps_differ {
        return Direction::Unknown(reason.clone());
    }
    let mut roots = conditions(bench, clause);
    for other in &others {
        roots.extend(conditions(bench, *other));
    }
    if let Some(reason) = joint.conflict(&mut roots.iter().copied()) {
        return Direction::Unknown(reason);
    }
    let found = by_automata(bench, side, clause, &others, level, &roots, limits);
    let reason = match found {
        Ok(direction) => return direction,
        Err(reason) => reason,
    };
    let found = bench.search(&roots, |bench, events| {
        is_shown(bench, side, events, level, &roots) == Shown::Yes
    });
    match found {
        Some(events) => {
            let last = u32::try_from(events.len().saturating_sub(1)).ok();
            Direction::Found(bench.witness(&events, last))
        }
        None => Direction::Unknown(reason),
    }
}

fn by_automata(
    bench: &mut Bench<'_>,
    side: usize,
    clause: usize,
    others: &[usize],
    level: Level,
    roots: &[ExprId],
    limits: &Limits,
) -> Result<Direction, String> {
    let joint = bench.joint;
    let spec = &joint.spec;
    let acts = language(spec, clause, level, limits)?;
    let mut over: Option<Dfa> = None;
    let mut taken: Vec<usize> = Vec::new();
    let mut waiting: Vec<usize> = others.to_vec();
    loop {
        let nothing = acts.accepting_at(|_| false);
        let lint_limits = &limits.lint;
        let word = lint::excess(spec, &acts, over.as_ref().unwrap_or(&nothing), lint_limits);
        let word = word.ok_or("the clauses are too large to be compared")?;
        let Some(word) = word else {
            return Ok(Direction::Excluded);
        };
        let masked = match bench.events(&word, &[], roots) {
            Some(events) => match is_shown(bench, side, &events, level, roots) {
                Shown::Yes => {
                    let last = u32::try_from(events.len().saturating_sub(1)).ok();
                    return Ok(Direction::Found(bench.witness(&events, last)));
                }
                Shown::Masked(by) => by
                    .into_iter()
                    .filter_map(|place| joint.sides[1 - side].clauses.get(place).copied()?)
                    .find(|other| !taken.contains(other)),
                Shown::No => None,
            },
            None => None,
        };
        // The clause that denies it as well, else the next one: what no events were found for may not be possible.
        let next = masked
            .or_else(|| waiting.first().copied())
            .ok_or("no events were found on which only one of the specs acts")?;
        waiting.retain(|other| *other != next);
        taken.push(next);
        if !comparable(spec, clause, next) {
            continue;
        }
        let Ok(more) = language(spec, next, level, limits) else {
            continue;
        };
        over = Some(match over {
            None => more,
            Some(over) => over
                .or(&more, &limits.automata)
                .map_err(|error| error.to_string())?,
        });
    }
}

/// Whether events show a difference between the decisions of the two specs.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Shown {
    Yes,
    /// The other spec acts as well, by these clauses.
    Masked(Vec<usize>),
    No,
}

fn is_shown(
    bench: &mut Bench<'_>,
    side: usize,
    events: &[domain::Event],
    level: Level,
    roots: &[ExprId],
) -> Shown {
    let decisions = [
        bench.decision(side, events),
        bench.decision(1 - side, events),
    ];
    let [Some(here), Some(there)] = decisions else {
        return Shown::No;
    };
    let acts = |decision: &Decision| decision.ruling >= level.ruling();
    if !acts(&here) || !here.errors.is_empty() || !there.errors.is_empty() {
        return Shown::No;
    }
    if acts(&there) {
        let fired = there.clauses.iter();
        let fired = fired.filter(|fired| Ruling::of(fired.action) >= level.ruling());
        return Shown::Masked(fired.map(|fired| fired.clause).collect());
    }
    if bench.is_contradictory(events, roots) {
        return Shown::No;
    }
    Shown::Yes
}

/// Whether the arms of two clauses that reach a level act at the same events.
fn is_alike(spec: &Spec, clause: usize, other: usize, level: Level) -> bool {
    let triggers = |clause: usize| -> Vec<&ArmTrigger> {
        let arms = spec.enforces[clause].arms.iter();
        arms.filter(|arm| reaches(arm, level))
            .map(|arm| &arm.trigger)
            .collect()
    };
    let (own, theirs) = (triggers(clause), triggers(other));
    let watched = match (
        &spec.enforces[clause].watched,
        &spec.enforces[other].watched,
    ) {
        (Watched::When { condition: a, .. }, Watched::When { condition: b, .. }) => a == b,
        (Watched::Property(a), Watched::Property(b)) => {
            let (a, b) = (spec.property(*a), spec.property(*b));
            is_same(a, b) || a.formula == b.formula && comparable(spec, clause, other)
        }
        _ => false,
    };
    watched && own.iter().all(|trigger| theirs.contains(trigger))
}

/// Whether the instances of the first clause are instances of the second one, so that letters mean the same in both.
fn comparable(spec: &Spec, clause: usize, other: usize) -> bool {
    let quantified = |clause: usize| match &spec.enforces[clause].watched {
        Watched::Property(property) => spec.property(*property).quantified.as_ref(),
        _ => None,
    };
    match (quantified(clause), quantified(other)) {
        (_, None) => true,
        (Some(own), Some(other)) => own.universal && other.universal && includes_all(other, own),
        (None, Some(_)) => false,
    }
}

/// Returns the prefixes whose last event an arm of the clause acts on that reaches the level.
///
/// # Errors
/// The reason why they are not known as an automaton.
fn language(spec: &Spec, clause: usize, level: Level, limits: &Limits) -> Result<Dfa, String> {
    let of = &spec.enforces[clause];
    let mut all: Option<Dfa> = None;
    for arm in of.arms.iter().filter(|arm| reaches(arm, level)) {
        let one = match &of.watched {
            Watched::When { condition, .. } => holds_last(spec, *condition, limits)?,
            Watched::Property(property) => {
                let property = spec.property(*property);
                if property.quantified.as_ref().is_some_and(|of| !of.universal) {
                    return Err("it watches a property with `exists`".to_owned());
                }
                if spec.formulas.is_timed(property.formula) {
                    return Err("it watches a property with bounds in time".to_owned());
                }
                acting(spec, property.formula, &arm.trigger, limits)?
            }
            Watched::Query(_) => return Err("it watches a claim about a model".to_owned()),
        };
        all = Some(match all {
            None => one,
            Some(all) => all
                .or(&one, &limits.automata)
                .map_err(|error| error.to_string())?,
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
    compile(&formulas, formula, &limits.automata).map_err(|error| error.to_string())
}

/// Returns the prefixes after which a trigger on a property is active.
fn acting(
    spec: &Spec,
    formula: FormulaId,
    trigger: &ArmTrigger,
    limits: &Limits,
) -> Result<Dfa, String> {
    let plain = || automaton(&spec.formulas, formula, &limits.automata).map_err(|e| e.to_string());
    let recurring = match spec.formulas.get(formula) {
        Formula::Unary(Unary::Always, None, inner) => Some(*inner),
        _ => None,
    };
    match (trigger, recurring) {
        (ArmTrigger::Violated, None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::Violated))
        }
        (ArmTrigger::Violated, Some(inner)) => {
            // As a monitor watches `G φ` on after a violation.
            let mut formulas = Formulas::new();
            let inner = translate(&spec.formulas, inner, atom, &mut formulas);
            let start = Atom(u32::try_from(spec.formulas.atoms().len()).unwrap_or(u32::MAX));
            let asks = formulas.atom(start);
            let asked = formulas.implies(asks, inner);
            let always = formulas.always(Interval::ALL, asked);
            let dfa = compile(&formulas, always, &limits.automata).map_err(|e| e.to_string())?;
            let watched = dfa
                .recurring(start, &limits.automata)
                .map_err(|error| error.to_string())?;
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
                .map_err(|error| error.to_string())
        }
        (ArmTrigger::Satisfied, None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::Satisfied))
        }
        (ArmTrigger::PresumablyViolated(1), None) => {
            Ok(plain()?.accepting_where(|verdict| verdict == Verdict::PresumablyViolated))
        }
        _ => Err(
            "arms on `satisfied` of `always`, and on obligations that are pending for some steps, \
             are compared only if they did not change"
                .to_owned(),
        ),
    }
}

/// Returns the conditions that a clause depends on.
fn conditions(bench: &Bench<'_>, clause: usize) -> Vec<ExprId> {
    let spec = &bench.joint.spec;
    match &spec.enforces[clause].watched {
        Watched::When { condition, .. } => vec![*condition],
        Watched::Property(property) => bench.conditions(spec.property(*property).formula),
        Watched::Query(_) => Vec::new(),
    }
}
