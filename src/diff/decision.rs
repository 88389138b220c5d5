//! Decisions of `enforce` clauses: events that only one of the specs denies, or asks a person about.
//!
//! The events at which an arm acts are a language: prefixes that end where its property is violated, or its condition holds.
//! What one spec denies beyond the other is searched clause by clause: a trace of the clause's language is judged by both
//! monitors; if a clause of the other spec denies it as well, that clause's language is taken away, until a trace is left
//! that only one of them denies, or none at all. The ends at which an arm acts are a language as well: traces after whose end
//! its property is violated.
//!
//! Clauses with bounds in time have no such automaton. Nothing is denied beyond the other spec if it has a clause with the same
//! obligations, which is decided with the clock, or if the property is never violated. Else events are proposed with
//! times at and after the bounds, and judged by both monitors: at each event, at the deadlines after them, and at the end.

use super::acting::{Question, language, reaches, recurring};
use super::property::{includes_all, is_same};
use super::witness::Bench;
use super::{DecisionChange, Direction, Level, Limits, Moment};
use crate::domain;
use crate::hir::{self, ArmTrigger, Bound, Enforce, Expr, Formula, Spec, Unary, Watched};
use crate::ids::{ExprId, FormulaId, PropertyId};
use crate::lint;
use crate::monitor::{Decision, Ruling};
use crate::translate::automaton;
use crate::types::Type;
use crate::value::Instant;
use guard_automata::{Dfa, Traces};

/// Traces that are tried at most for a clause with bounds in time, in case its difference is none of the formulas'.
const MOST_TRIALS: usize = 4_000;

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
                let mut is_denied_before = false;
                for moment in moments(&joint.spec, clause) {
                    let asked = Question {
                        side,
                        clause,
                        level,
                        moment,
                        begins: is_denied_before,
                    };
                    let found = only_here(bench, asked, limits);
                    is_denied_before |= matches!(found, Direction::Found(_));
                    if matches!(found, Direction::Excluded) {
                        continue;
                    }
                    let change = DecisionChange {
                        clause: name(&joint.spec, clause),
                        level,
                        moment,
                        added: side == 1,
                        found,
                    };
                    if !changes.iter().any(|known| repeats(known, &change)) {
                        changes.push(change);
                    }
                }
            }
        }
    }
    changes
}

/// Returns the moments at which a clause may act: conditions on a step at events only, and deadlines are bounds in time.
fn moments(spec: &Spec, clause: usize) -> Vec<Moment> {
    match &spec.enforces[clause].watched {
        Watched::Property(property) => {
            let timed = spec.formulas.is_timed(spec.property(*property).formula);
            let mut moments = vec![Moment::Event];
            if timed {
                moments.push(Moment::Deadline);
            }
            moments.push(Moment::End);
            moments
        }
        Watched::When { .. } | Watched::Query(_) => vec![Moment::Event],
    }
}

/// Whether two changes report the same event of the same clause: what is newly denied is also newly stopped.
fn repeats(known: &DecisionChange, change: &DecisionChange) -> bool {
    let is_same = match (&known.found, &change.found) {
        (Direction::Found(witness), Direction::Found(found)) => {
            known.moment == change.moment && witness.events == found.events
        }
        (Direction::Unknown(known), Direction::Unknown(reason)) => known == reason,
        _ => false,
    };
    is_same && (&known.clause, known.added) == (&change.clause, change.added)
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

fn acts(clause: &Enforce, level: Level) -> bool {
    clause.arms.iter().any(|arm| reaches(arm, level))
}

/// Returns a trace at whose last event, at a deadline after which, or at whose end a clause of one spec acts and the other spec
/// lets through.
fn only_here(bench: &mut Bench<'_>, asked: Question, limits: &Limits) -> Direction {
    let joint = bench.joint;
    let spec = &joint.spec;
    let Question { side, clause, .. } = asked;
    let others = clauses(bench, 1 - side);
    let alike = |other: &usize| is_alike(spec, clause, *other, asked.level);
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
    let comparison = Comparison {
        asked,
        others: &others,
        roots: &roots,
        limits,
    };
    let found = match is_timed(spec, clause) {
        true => comparison.with_clock(bench),
        false => comparison.by_automata(bench),
    };
    let reason = match found {
        Ok(direction) => return direction,
        Err(reason) => reason,
    };
    let watched: Vec<PropertyId> = std::iter::once(&clause)
        .chain(&others)
        .filter_map(|clause| watched(spec, *clause))
        .collect();
    let found = bench.search(&watched, &roots, |bench, events| {
        is_shown(bench, events, asked, &roots) == Shown::Yes
    });
    match found {
        Ok(Some(events)) => shown(bench, &events),
        Ok(None) => Direction::Unknown(reason),
        Err(late) => Direction::Unknown(format!("{reason}; {late}")),
    }
}

fn shown(bench: &mut Bench<'_>, events: &[domain::Event]) -> Direction {
    let last = u32::try_from(events.len().saturating_sub(1)).ok();
    Direction::Found(bench.witness(events, last))
}

fn watched(spec: &Spec, clause: usize) -> Option<PropertyId> {
    match spec.enforces[clause].watched {
        Watched::Property(property) => Some(property),
        _ => None,
    }
}

fn is_timed(spec: &Spec, clause: usize) -> bool {
    let timed = |property| spec.formulas.is_timed(spec.property(property).formula);
    watched(spec, clause).is_some_and(timed)
}

/// A question, with what is needed to answer it.
#[derive(Clone, Copy)]
struct Comparison<'c> {
    asked: Question,
    /// The clauses of the other spec.
    others: &'c [usize],
    /// The conditions of all these clauses.
    roots: &'c [ExprId],
    limits: &'c Limits,
}

impl Comparison<'_> {
    /// Decides a clause by the automata of the clauses.
    fn by_automata(&self, bench: &mut Bench<'_>) -> Result<Direction, String> {
        let Comparison {
            asked,
            others,
            roots,
            limits,
        } = *self;
        let joint = bench.joint;
        let spec = &joint.spec;
        let acts = language(spec, asked.clause, asked, limits)?;
        let mut over: Option<Dfa> = None;
        let mut taken: Vec<usize> = Vec::new();
        let mut waiting: Vec<usize> = others.to_vec();
        loop {
            let nothing = acts.accepting_at(|_| false);
            let lint_limits = &limits.lint;
            let word = lint::excess(spec, &acts, over.as_ref().unwrap_or(&nothing), lint_limits);
            let word = word.ok_or("the clauses are too large to be compared (limit: `work`)")?;
            let Some(word) = word else {
                return Ok(Direction::Excluded);
            };
            let masked = match bench.events(&word, &[], roots) {
                Some(events) => match is_shown(bench, &events, asked, roots) {
                    Shown::Yes => return Ok(shown(bench, &events)),
                    Shown::Masked(by) => by
                        .into_iter()
                        .filter_map(|place| {
                            joint.sides[1 - asked.side].clauses.get(place).copied()?
                        })
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
            if !comparable(spec, asked.clause, next) {
                continue;
            }
            let Ok(more) = language(spec, next, asked, limits) else {
                continue;
            };
            over = Some(match over {
                None => more,
                Some(over) => over
                    .or(&more, &limits.automata)
                    .map_err(lint::limit_message)?,
            });
        }
    }

    /// Decides a clause with bounds in time as far as the clock decides its property.
    fn with_clock(&self, bench: &mut Bench<'_>) -> Result<Direction, String> {
        let Comparison {
            asked,
            others,
            roots,
            limits,
        } = *self;
        let joint = bench.joint;
        let spec = &joint.spec;
        let Some(own) = watched(spec, asked.clause) else {
            return Err("it watches no property".to_owned());
        };
        let own = spec.property(own).formula;
        let on_violation = |arm: &hir::Arm| arm.trigger == ArmTrigger::Violated;
        let arms = spec.enforces[asked.clause].arms.iter();
        let mut acting = arms.filter(|arm| reaches(arm, asked.level));
        let on_violations = acting.all(on_violation);
        let [never, _] = excesses(spec, [None, Some(own)], limits);
        if on_violations && matches!(never, Ok(None)) {
            return Ok(Direction::Excluded);
        }
        let mut proposed: Vec<lint::Difference> = never.ok().flatten().into_iter().collect();
        for other in others {
            let Some(property) = watched(spec, *other) else {
                continue;
            };
            let other_formula = spec.property(property).formula;
            if comparable(spec, asked.clause, *other)
                && has_triggers(spec, asked.clause, *other, asked.level)
                && (have_same_obligations(spec, own, other_formula, limits)
                    || on_violations && is_covered(spec, own, other_formula, asked.moment, limits))
            {
                return Ok(Direction::Excluded);
            }
            let found = excesses(spec, [Some(other_formula), Some(own)], limits);
            proposed.extend(found.into_iter().filter_map(|found| found.ok().flatten()));
        }
        let clauses = std::iter::once(&asked.clause).chain(others);
        let watched: Vec<PropertyId> = clauses
            .filter_map(|clause| watched(spec, *clause))
            .collect();
        let gaps = bench.gaps(&watched, roots);
        let proposed: Vec<Vec<domain::Event>> = proposed
            .iter()
            .filter_map(|found| bench.events(&found.steps, &found.times, roots))
            .collect();
        // What may happen later, at any time.
        let mut later: Vec<domain::Event> = Vec::new();
        for event in proposed.iter().flatten() {
            let event = bench.later(&proposed[0], event, 0);
            if !later.contains(&event) {
                later.push(event);
            }
        }
        let parts = |events: &Vec<domain::Event>| -> Vec<_> {
            (1..=events.len())
                .map(|length| events[..length].to_vec())
                .collect()
        };
        let mut tried: Vec<Vec<domain::Event>> = proposed.iter().flat_map(parts).collect();
        let mut trials = 0;
        // That a deadline has passed is noticed at the next event. An obligation that begins where only one spec denies is missed
        // at a second one.
        for _ in 0..3 {
            let mut longer = Vec::new();
            for events in &tried {
                trials += 1;
                if trials > MOST_TRIALS {
                    break;
                }
                if is_shown(bench, events, asked, roots) == Shown::Yes {
                    return Ok(shown(bench, events));
                }
                for (next, gap) in later
                    .iter()
                    .flat_map(|next| gaps.iter().map(move |gap| (next, gap)))
                {
                    let mut events = events.clone();
                    events.push(bench.later(&events, next, *gap));
                    longer.push(events);
                }
            }
            tried = longer;
        }
        Err("it watches a property with bounds in time, and no events were found on which only one of the specs acts".to_owned())
    }
}

/// Returns a trace of each formula that violates the other; `None` is true of every trace.
fn excesses(
    spec: &Spec,
    formulas: [Option<FormulaId>; 2],
    limits: &Limits,
) -> [Result<Option<lint::Difference>, String>; 2] {
    let mut spec = spec.clone();
    let formulas = formulas.map(|formula| formula.unwrap_or_else(|| spec.formulas.constant(true)));
    lint::excesses(&spec, formulas, &[], &limits.automata)
}

/// Whether two properties are violated by the same traces, and if they are watched on after a violation, from each of its
/// steps on.
fn have_same_obligations(spec: &Spec, own: FormulaId, other: FormulaId, limits: &Limits) -> bool {
    let mut spec = spec.clone();
    let formulas = match [own, other].map(|formula| recurring(&spec, formula)) {
        [None, None] => [own, other],
        [Some(own), Some(other)] => {
            // A condition of which nothing is known: any steps may be those at which the obligation is due.
            let start = Expr::Todo("start".into());
            let expr = spec.exprs.add(start, Type::Bool);
            let start = spec.formulas.add_atom(hir::Atom {
                expr,
                text: "start".into(),
                span: spec.property(PropertyId::new(0)).span,
            });
            let start = spec.formulas.add(Formula::Atom(start));
            [own, other].map(|inner| {
                let due = spec.formulas.add(Formula::Implies(start, inner));
                spec.formulas.add(Formula::Unary(Unary::Always, None, due))
            })
        }
        _ => return false,
    };
    let found = lint::excesses(&spec, formulas, &[], &limits.automata);
    found.iter().all(|found| matches!(found, Ok(None)))
}

/// Whether a clause on one property acts at such moments only where one on another property acts, because the two differ in
/// `or end` alone.
///
/// `G (a -> F[0,c] b)` with `or end` is also satisfied by a trace that ends in time. While events may follow, an obligation that the
/// end would forgive can still be met: each one by an event at its own deadline at which `b` holds. So at an event, where more may
/// follow, both are violated or neither is. At a deadline that passes and at the end only the one with `or end` forgives.
fn is_covered(
    spec: &Spec,
    own: FormulaId,
    other: FormulaId,
    moment: Moment,
    limits: &Limits,
) -> bool {
    let mut spec = spec.clone();
    let [strict, other_strict] = [own, other].map(|formula| strict(&mut spec, formula, limits));
    let forgives = |formula: FormulaId, strict: Option<FormulaId>| {
        strict.is_some_and(|strict| strict != formula)
    };
    let is_affected = forgives(own, strict) || forgives(other, other_strict);
    let [Some(strict), Some(strict_other)] = [strict, other_strict] else {
        return false;
    };
    is_affected
        && (moment == Moment::Event || strict_other == other)
        && have_same_obligations(&spec, strict, strict_other, limits)
}

/// Returns a formula without `or end`; `None` if it is not known that what the end forgives can always be met, and is noticed when
/// it cannot: a monitor may notice later that an obligation whose window begins later cannot be met.
fn strict(spec: &mut Spec, formula: FormulaId, limits: &Limits) -> Option<FormulaId> {
    let asked = recurring(spec, formula).and_then(|inner| spec.formulas.forgiven(inner));
    let Some((when, bound, then)) = asked else {
        return Some(formula);
    };
    let formulas = &mut spec.formulas;
    let reads_past = |part: FormulaId| match formulas.get(part) {
        Formula::Last => false,
        formula => formula.operator().is_none_or(|op| op.is_past),
    };
    let is_of_state = |part: FormulaId| {
        !matches!(
            formulas.get(part),
            Formula::Unary(..) | Formula::Binary(..) | Formula::Last
        )
    };
    let begins_at_once = matches!(bound, Bound::Steps(0, _) | Bound::Time(0, _));
    if !begins_at_once
        || !formulas.parts(when).into_iter().all(reads_past)
        || !formulas.parts(then).into_iter().all(is_of_state)
    {
        return None;
    }
    let met = automaton(formulas, then, &limits.automata).ok()?;
    met.shortest_accepted(Traces::NonEmpty)?;
    let comes = formulas.add(Formula::Unary(Unary::Eventually, Some(bound), then));
    let inner = formulas.add(Formula::Implies(when, comes));
    Some(formulas.add(Formula::Unary(Unary::Always, None, inner)))
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
    events: &[domain::Event],
    asked: Question,
    roots: &[ExprId],
) -> Shown {
    let Question { side, level, .. } = asked;
    let decisions = [
        bench.decisions(side, events, asked.moment),
        bench.decisions(1 - side, events, asked.moment),
    ];
    let [Some(here), Some(there)] = decisions else {
        return Shown::No;
    };
    let acts = |(_, decision): &&(Instant, Decision)| decision.ruling >= level.ruling();
    // What acts because a field is unknown may not act on an event whose fields are known.
    let is_certain = |(_, decision): &&(Instant, Decision)| {
        let mut fired = decision.clauses.iter();
        fired.any(|fired| Ruling::of(fired.action) >= level.ruling() && !fired.is_doubtful)
    };
    let all = || here.iter().chain(&there);
    let Some((when, _)) = here.iter().find(is_certain) else {
        return Shown::No;
    };
    if all().any(|(_, decision)| !decision.errors.is_empty()) {
        return Shown::No;
    }
    // A deadline that passed before has denied what follows.
    let mut masking = there.iter().filter(acts).filter(|(due, _)| due <= when);
    if let Some((_, decision)) = masking.next() {
        let fired = decision.clauses.iter();
        let fired = fired.filter(|fired| Ruling::of(fired.action) >= level.ruling());
        return Shown::Masked(fired.map(|fired| fired.clause).collect());
    }
    if bench.is_contradictory(events, roots) {
        return Shown::No;
    }
    Shown::Yes
}

/// Whether each trigger of the arms of a clause that reach a level is one of the other clause.
fn has_triggers(spec: &Spec, clause: usize, other: usize, level: Level) -> bool {
    let triggers = |clause: usize| -> Vec<&ArmTrigger> {
        let arms = spec.enforces[clause].arms.iter();
        arms.filter(|arm| reaches(arm, level))
            .map(|arm| &arm.trigger)
            .collect()
    };
    let (own, theirs) = (triggers(clause), triggers(other));
    own.iter().all(|trigger| theirs.contains(trigger))
}

/// Whether the arms of two clauses that reach a level act at the same events.
fn is_alike(spec: &Spec, clause: usize, other: usize, level: Level) -> bool {
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
    watched && has_triggers(spec, clause, other, level)
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

/// Returns the conditions that a clause depends on.
fn conditions(bench: &Bench<'_>, clause: usize) -> Vec<ExprId> {
    let spec = &bench.joint.spec;
    match &spec.enforces[clause].watched {
        Watched::When { condition, .. } => vec![*condition],
        Watched::Property(property) => bench.conditions(spec.property(*property).formula),
        Watched::Query(_) => Vec::new(),
    }
}
