//! The relation of a property of the new spec to one of the old spec.

use super::witness::Bench;
use super::{Direction, Limits};
use crate::domain;
use crate::hir::{Property, Quantified, QuantifiedVar};
use crate::ids::{AtomId, ExprId, PropertyId};
use crate::lint::{self, Difference};
use crate::verdict::Verdict;

/// The reason if the values of one event exceed the budget of their search, which grows with each term that is compared.
const TOO_MANY_TERMS: &str = "its conditions compare too many terms with one another to relate them exactly, and \
                              no events were found on which the two differ";

/// Two properties that are compared, in their specs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) old: PropertyId,
    pub(super) new: PropertyId,
}

/// Compares two properties: whether a trace satisfies the old one and violates the new one, and the reverse.
pub(super) fn compare(bench: &mut Bench<'_>, pair: Pair, limits: &Limits) -> [Direction; 2] {
    let joint = bench.joint;
    let both @ [old, new] = properties(bench, pair);
    if is_same(old, new) && joint.steps_differ.is_none() {
        return [Direction::Excluded, Direction::Excluded];
    }
    if let Some(reason) = undecidable(bench, both) {
        return [
            Direction::Unknown(reason.clone()),
            Direction::Unknown(reason),
        ];
    }
    let roots = roots(bench, both);
    let found = excesses(bench, both, limits);
    let [forth, back] = found;
    [
        decide(bench, pair, 0, forth, &roots),
        decide(bench, pair, 1, back, &roots),
    ]
}

/// Decides directions that were not decided by the witnesses that were found since then.
pub(super) fn decide_again(bench: &mut Bench<'_>, pair: Pair, directions: &mut [Direction; 2]) {
    let roots = roots(bench, properties(bench, pair));
    for (side, direction) in directions.iter_mut().enumerate() {
        let Direction::Unknown(_) = direction else {
            continue;
        };
        for events in bench.shown.clone() {
            if let Some(at) = shows(bench, pair, side, &events, &roots) {
                *direction = Direction::Found(bench.witness(&events, at));
                break;
            }
        }
    }
}

/// Searches events that satisfy one property and violate the other.
pub(super) fn difference(bench: &mut Bench<'_>, pair: Pair) -> Option<Vec<domain::Event>> {
    let roots = roots(bench, properties(bench, pair));
    let places = joint_places(bench, pair);
    let found = bench.search(&places, &roots, |bench, events| {
        (0..2).any(|side| shows(bench, pair, side, events, &roots).is_some())
    });
    found.ok().flatten()
}

/// Returns the places of two properties in the joint spec.
fn joint_places(bench: &Bench<'_>, pair: Pair) -> [PropertyId; 2] {
    let [old, new] = &bench.joint.sides;
    [
        old.properties[pair.old.index()],
        new.properties[pair.new.index()],
    ]
}

/// Returns the conditions and terms of two properties.
fn roots(bench: &Bench<'_>, both: [&Property; 2]) -> Vec<ExprId> {
    let mut roots = Vec::new();
    for property in both {
        roots.extend(bench.conditions(property.formula));
        for var in property.quantified.iter().flat_map(|of| &of.vars) {
            roots.extend(var.terms.iter().chain(&var.element_terms).chain(&var.range));
        }
    }
    roots
}

/// Returns the step at which events violate the property of one spec, if they satisfy that of the spec `side`.
fn shows(
    bench: &Bench<'_>,
    pair: Pair,
    side: usize,
    events: &[domain::Event],
    roots: &[ExprId],
) -> Option<Option<u32>> {
    let ids = [pair.old, pair.new];
    let (kept, _) = bench.verdict(side, ids[side], events)?;
    let (broken, at) = bench.verdict(1 - side, ids[1 - side], events)?;
    let satisfied = matches!(kept, Verdict::Satisfied | Verdict::PresumablySatisfied);
    let contradictory = bench.is_contradictory(events, roots);
    (satisfied && broken == Verdict::Violated && !contradictory).then_some(at)
}

/// Whether two properties are known to be equivalent, without a search for what shows that they are not.
pub(super) fn is_equivalent(bench: &Bench<'_>, pair: Pair, limits: &Limits) -> bool {
    let both @ [old, new] = properties(bench, pair);
    if bench.joint.steps_differ.is_some() {
        return false;
    }
    is_same(old, new)
        || undecidable(bench, both).is_none()
            && excesses(bench, both, limits)
                .iter()
                .all(|found| matches!(found, Ok(None)))
}

fn properties<'a>(bench: &Bench<'a>, pair: Pair) -> [&'a Property; 2] {
    joint_places(bench, pair).map(|place| bench.joint.spec.property(place))
}

/// Whether two properties are one in the joint spec.
pub(super) fn is_same(old: &Property, new: &Property) -> bool {
    old.formula == new.formula
        && match (&old.quantified, &new.quantified) {
            (None, None) => true,
            (Some(old), Some(new)) => {
                old.universal == new.universal && includes_all(old, new) && includes_all(new, old)
            }
            _ => false,
        }
}

/// Returns the reason why two properties cannot be compared.
fn undecidable(bench: &Bench<'_>, both: [&Property; 2]) -> Option<String> {
    let joint = bench.joint;
    if let Some(reason) = &joint.steps_differ {
        return Some(reason.clone());
    }
    if both
        .iter()
        .any(|property| joint.spec.is_unwritten(property))
    {
        return Some("a condition is still to be written (`todo`)".to_owned());
    }
    let mut all = both
        .iter()
        .flat_map(|property| bench.conditions(property.formula));
    joint.conflict(&mut all)
}

/// Returns a shortest trace of each formula that violates the other, as far as it follows for the properties.
fn excesses(
    bench: &Bench<'_>,
    [old, new]: [&Property; 2],
    limits: &Limits,
) -> [Result<Option<Difference>, String>; 2] {
    let spec = &bench.joint.spec;
    let covered = match (&old.quantified, &new.quantified) {
        (None, None) => [true, true],
        (Some(first), Some(second))
            if first.universal == second.universal && first.vars.len() == second.vars.len() =>
        {
            // Each violated instance of one must be an instance of the other; each satisfied one with `exists`.
            let [forth, back] = [includes_all(first, second), includes_all(second, first)];
            if first.universal {
                [forth, back]
            } else {
                [back, forth]
            }
        }
        _ => {
            let reason = || Err("they quantify over values in different ways".to_owned());
            return [reason(), reason()];
        }
    };
    let mut shown: Vec<AtomId> = lint::occurrences(spec, old);
    shown.extend(lint::occurrences(spec, new));
    let found = lint::excesses(spec, [old.formula, new.formula], &shown, &limits.automata);
    let [forth, back] = found;
    [(forth, covered[0]), (back, covered[1])].map(|(found, covered)| match found {
        Ok(None) if !covered => Err("they quantify over different values".to_owned()),
        found => found,
    })
}

/// Whether every value over which the second ranges is one over which the first ranges.
pub(super) fn includes_all(first: &Quantified, second: &Quantified) -> bool {
    let var = |(first, second): (&QuantifiedVar, &QuantifiedVar)| {
        let within = |inner: &[ExprId], outer: &[ExprId]| inner.iter().all(|id| outer.contains(id));
        match (first.range, second.range) {
            (Some(first), Some(second)) => first == second,
            (None, None) => {
                within(&second.terms, &first.terms)
                    && within(&second.element_terms, &first.element_terms)
                    && second
                        .constants
                        .iter()
                        .all(|value| first.constants.contains(value))
            }
            _ => false,
        }
    };
    first.vars.len() == second.vars.len() && first.vars.iter().zip(&second.vars).all(var)
}

/// Returns what is known of one direction: `side` is the spec that the traces satisfy.
fn decide(
    bench: &mut Bench<'_>,
    pair: Pair,
    side: usize,
    found: Result<Option<Difference>, String>,
    roots: &[ExprId],
) -> Direction {
    let shows =
        |bench: &Bench<'_>, events: &[domain::Event]| shows(bench, pair, side, events, roots);
    let (reason, difference) = match found {
        Ok(None) => return Direction::Excluded,
        Ok(Some(difference)) => (
            match difference.is_proposal {
                true => TOO_MANY_TERMS,
                false => {
                    "no events were found that give its conditions the values on which the two differ"
                }
            }
            .to_owned(),
            Some(difference),
        ),
        Err(reason) => (reason, None),
    };
    if let Some(difference) = &difference
        && let Some(events) = bench.events(&difference.steps, &difference.times, roots)
        && let Some(at) = shows(bench, &events)
    {
        return Direction::Found(bench.witness(&events, at));
    }
    let both = joint_places(bench, pair);
    let found = bench.search(&both, roots, |bench, events| shows(bench, events).is_some());
    match found {
        Ok(Some(events)) => {
            let at = shows(bench, &events).flatten();
            Direction::Found(bench.witness(&events, at))
        }
        Ok(None) => Direction::Unknown(reason),
        Err(late) => Direction::Unknown(format!("{reason}; {late}")),
    }
}
