//! Example traces of a formula, and whether two formulas can be met together.

use std::fmt;

use serde::Serialize;

use crate::words::{Logic, Ratio, Unit, Window};
use guard_automata::{
    Atom, Dfa, FormulaId, Formulas, Interval, Letter, Limits, Traces, Word, compile,
};

/// One step of an example: which situations hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Step {
    /// Seconds since the start, where the formula speaks of time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The situations that hold; no other does.
    pub holds: Vec<String>,
}

/// `3s {reads, mails}`, without the time if there is none.
impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(at) = &self.at {
            write!(f, "{at}s ")?;
        }
        write!(f, "{{{}}}", self.holds.join(", "))
    }
}

/// An example trace.
pub type Trace = Vec<Step>;

/// A formula for the automata: times are counted in units of the formula's shortest bound.
#[derive(Debug)]
pub(super) struct Machine {
    dfa: Dfa,
    /// Seconds from one step of an example to the next, where time matters.
    unit: Option<Ratio>,
}

/// Steps of a bound beyond which no example is looked for.
const FARTHEST: u32 = 2_000;

/// Limits on the work for an example.
fn quick() -> Limits {
    Limits {
        work: 400_000,
        ..Limits::default()
    }
}

/// Compiles a formula over numbered atoms. Returns `None` if the automaton is too large, or the formula counts in a window.
pub(super) fn machine(logic: &Logic) -> Option<Machine> {
    let unit = shortest(&[logic]);
    let mut formulas = Formulas::new();
    let id = translate(logic, unit, &mut formulas)?;
    let dfa = compile(&formulas, id, &quick()).ok()?;
    Some(Machine { dfa, unit })
}

impl Machine {
    /// Returns a shortest trace that satisfies the formula, if possible not vacuously: one that contains `trigger`.
    pub(super) fn accepted(&self, trigger: Option<usize>, names: &[String]) -> Option<Trace> {
        let triggered = || {
            let mut formulas = Formulas::new();
            let seen = seen(trigger?, &mut formulas)?;
            let limits = Limits::default();
            let seen = compile(&formulas, seen, &limits).ok()?;
            let both = self.dfa.and(&seen, &limits).ok()?;
            both.shortest_accepted(Traces::NonEmpty)
        };
        let word = triggered().or_else(|| self.dfa.shortest_accepted(Traces::NonEmpty))?;
        Some(trace(&word, self.unit, names))
    }

    /// Returns a shortest trace that violates the formula.
    pub(super) fn rejected(&self, names: &[String]) -> Option<Trace> {
        let word = self.dfa.shortest_rejected(Traces::NonEmpty)?;
        Some(trace(&word, self.unit, names))
    }
}

/// The formula that an atom is true at some step.
fn seen(index: usize, into: &mut Formulas) -> Option<FormulaId> {
    let atom = into.atom(atom(index)?);
    Some(into.eventually(Interval::ALL, atom))
}

fn trace(word: &Word, unit: Option<Ratio>, names: &[String]) -> Trace {
    let mut now = Ratio::new(0, 1);
    let step = |letter: &Letter| {
        let held = letter.iter().filter(|(_, holds)| *holds);
        let holds = held.filter_map(|(atom, _)| names.get(atom.0 as usize).cloned());
        let at = unit.map(|unit| {
            let at = now.decimal();
            now = now.plus(unit);
            at
        });
        let holds = holds.collect();
        Step { at, holds }
    };
    word.iter().map(step).collect()
}

/// Returns whether two formulas over the same atoms are equivalent on non-empty traces. Returns `None` if the work does not suffice,
/// or if their bounds in time cannot be counted in one unit.
pub fn equivalent(a: &Logic, b: &Logic) -> Option<bool> {
    let pair = Pair::new(a, b)?;
    Some(pair.apart(|a, b| a != b)?.is_none())
}

/// Returns a shortest trace that one of two formulas accepts and the other does not, and whether it is the first. Returns
/// `None` if they are equivalent, or if the work does not suffice.
pub(super) fn parting(a: &Logic, b: &Logic, names: &[String]) -> Option<(Trace, bool)> {
    let pair = Pair::new(a, b)?;
    let (word, first) = match pair.apart(|a, b| b && !a)? {
        Some(word) => (word, false),
        None => (pair.apart(|a, b| a && !b)??, true),
    };
    Some((trace(&word, pair.unit, names), first))
}

/// Two formulas whose times are counted in one unit.
struct Pair {
    both: [Dfa; 2],
    unit: Option<Ratio>,
}

impl Pair {
    fn new(a: &Logic, b: &Logic) -> Option<Pair> {
        let unit = shortest(&[a, b]);
        let mut formulas = Formulas::new();
        let (a, b) = (
            translate(a, unit, &mut formulas)?,
            translate(b, unit, &mut formulas)?,
        );
        let compiled = |id| compile(&formulas, id, &Limits::default()).ok();
        let both = [compiled(a)?, compiled(b)?];
        Some(Pair { both, unit })
    }

    /// Returns a shortest trace on whose values by both `wanted` holds. An outer `None` means that the work does not
    /// suffice.
    fn apart(&self, wanted: impl Fn(bool, bool) -> bool) -> Option<Option<Word>> {
        let [a, b] = &self.both;
        a.search(b, Traces::NonEmpty, wanted, &Limits::default())
            .ok()
    }
}

/// Returns a conflict of two requirements after their triggers: a shortest trace that satisfies the first, not vacuously,
/// after which, or on which, the second is violated.
pub(super) fn conflict(
    first: &Logic,
    second: &Logic,
    triggers: &[usize],
    names: &[String],
) -> Option<Trace> {
    if shortest(&[first, second]).is_some() {
        return None;
    }
    let mut formulas = Formulas::new();
    let mut shown = translate(first, None, &mut formulas)?;
    for trigger in triggers {
        let seen = seen(*trigger, &mut formulas)?;
        shown = formulas.and(shown, seen);
    }
    let second = translate(second, None, &mut formulas)?;
    let together = formulas.and(shown, second);
    let shortest = |id| {
        Some(
            compile(&formulas, id, &quick())
                .ok()?
                .shortest_accepted(Traces::NonEmpty),
        )
    };
    match shortest(together)? {
        Some(_) => None,
        None => Some(trace(&shortest(shown)??, None, names)),
    }
}

fn atom(index: usize) -> Option<Atom> {
    u32::try_from(index).ok().map(Atom)
}

/// Returns the shortest bound in seconds.
fn shortest(formulas: &[&Logic]) -> Option<Ratio> {
    let mut bounds = Vec::new();
    for logic in formulas {
        logic.walk(&mut |part| {
            let window = match part {
                Logic::Unary(_, window, _) | Logic::Binary(_, window, ..) => *window,
                Logic::AtMost(_, window, _) => Some(*window),
                _ => None,
            };
            bounds.extend(
                window
                    .filter(|it| it.unit == Unit::Seconds)
                    .map(|it| it.high),
            );
        });
    }
    let bounds = bounds.into_iter().filter(|bound| bound.to_f64() > 0.0);
    bounds.min_by(|a, b| a.to_f64().total_cmp(&b.to_f64()))
}

/// Returns the window in steps, `unit` seconds each. Returns `None` if the bound is not a whole number of units, or too
/// large.
fn steps(window: Option<Window>, unit: Option<Ratio>) -> Option<Interval> {
    let Some(window) = window else {
        return Some(Interval::ALL);
    };
    let count = |value: Ratio| match (window.unit, unit) {
        (Unit::Seconds, Some(unit)) => value.times(unit.inverse()?).whole(),
        _ => value.whole(),
    };
    let (low, high) = (count(window.low)?, count(window.high)?);
    (high <= FARTHEST).then(|| Interval::steps(low, high))
}

fn translate(logic: &Logic, unit: Option<Ratio>, into: &mut Formulas) -> Option<FormulaId> {
    let mut of = |part: &Logic| translate(part, unit, into);
    Some(match logic {
        Logic::True => into.verum(),
        Logic::False => into.falsum(),
        Logic::Last => into.last(),
        Logic::First => {
            let falsum = into.falsum();
            into.weak_previously(falsum)
        }
        Logic::Atom(index) => into.atom(atom(*index)?),
        Logic::Not(inner) => {
            let inner = of(inner)?;
            into.not(inner)
        }
        Logic::And(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(of).collect();
            into.all(parts?)
        }
        Logic::Or(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(of).collect();
            into.any(parts?)
        }
        Logic::Implies(a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            into.implies(a, b)
        }
        Logic::Iff(a, b) => {
            let (a, b) = (of(a)?, of(b)?);
            into.iff(a, b)
        }
        Logic::Unary(op, window, inner) => {
            let (inner, window) = (of(inner)?, steps(*window, unit)?);
            into.unary(*op, window, inner)
        }
        Logic::Binary(op, window, a, b) => {
            let (a, b, window) = (of(a)?, of(b)?, steps(*window, unit)?);
            into.binary(*op, a, window, b)
        }
        Logic::AtMost(..) => return None,
    })
}
