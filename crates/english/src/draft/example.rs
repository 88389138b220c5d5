//! Example traces of a formula, and whether two formulas can be met together.

use std::fmt;

use serde::Serialize;

use crate::words::{Logic, Ratio, Unit, Window};
use guard_automata::{Atom, Dfa, FormulaId, Formulas, Interval, Limits, Traces, Word, compile};

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
    let unit = shortest(logic);
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
            let seen = formulas.atom(trigger.and_then(atom)?);
            let seen = formulas.eventually(Interval::ALL, seen);
            let limits = Limits::default();
            let seen = compile(&formulas, seen, &limits).ok()?;
            let both = self.dfa.and(&seen, &limits).ok()?;
            both.shortest_accepted(Traces::NonEmpty)
        };
        let word = triggered().or_else(|| self.dfa.shortest_accepted(Traces::NonEmpty))?;
        Some(self.trace(&word, names))
    }

    /// Returns a shortest trace that violates the formula.
    pub(super) fn rejected(&self, names: &[String]) -> Option<Trace> {
        let word = self.dfa.shortest_rejected(Traces::NonEmpty)?;
        Some(self.trace(&word, names))
    }

    fn trace(&self, word: &Word, names: &[String]) -> Trace {
        let mut now = Ratio::new(0, 1);
        word.iter()
            .map(|letter| {
                let holds = letter
                    .iter()
                    .filter(|(_, holds)| *holds)
                    .filter_map(|(atom, _)| names.get(atom.0 as usize).cloned())
                    .collect();
                let at = self.unit.map(|unit| {
                    let at = now.decimal();
                    now = now.plus(unit);
                    at
                });
                Step { at, holds }
            })
            .collect()
    }
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
    Some((pair.first.trace(&word, names), first))
}

/// Two formulas whose times are counted in one unit.
struct Pair {
    first: Machine,
    second: Dfa,
}

impl Pair {
    fn new(a: &Logic, b: &Logic) -> Option<Pair> {
        let unit = shorter(shortest(a), shortest(b));
        let mut formulas = Formulas::new();
        let a = translate(a, unit, &mut formulas)?;
        let b = translate(b, unit, &mut formulas)?;
        let limits = Limits::default();
        let dfa = compile(&formulas, a, &limits).ok()?;
        let second = compile(&formulas, b, &limits).ok()?;
        Some(Pair {
            first: Machine { dfa, unit },
            second,
        })
    }

    /// Returns a shortest trace on whose values by both `wanted` holds. An outer `None` means that the work does not
    /// suffice.
    fn apart(&self, wanted: impl Fn(bool, bool) -> bool) -> Option<Option<Word>> {
        self.first
            .dfa
            .search(&self.second, Traces::NonEmpty, wanted, &Limits::default())
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
    if shortest(first).is_some() || shortest(second).is_some() {
        return None;
    }
    let mut formulas = Formulas::new();
    let mut shown = translate(first, None, &mut formulas)?;
    for trigger in triggers {
        let seen = formulas.atom(atom(*trigger)?);
        let seen = formulas.eventually(Interval::ALL, seen);
        shown = formulas.and(shown, seen);
    }
    let second = translate(second, None, &mut formulas)?;
    let all = formulas.and(shown, second);
    let together = compile(&formulas, all, &quick()).ok()?;
    if together.is_satisfiable(Traces::NonEmpty) {
        return None;
    }
    let alone = compile(&formulas, shown, &quick()).ok()?;
    let word = alone.shortest_accepted(Traces::NonEmpty)?;
    let machine = Machine {
        dfa: alone,
        unit: None,
    };
    Some(machine.trace(&word, names))
}

fn atom(index: usize) -> Option<Atom> {
    u32::try_from(index).ok().map(Atom)
}

/// Returns the shortest bound in seconds.
fn shortest(logic: &Logic) -> Option<Ratio> {
    let mut least: Option<Ratio> = None;
    logic.walk(&mut |part| {
        let window = match part {
            Logic::Unary(_, window, _) | Logic::Binary(_, window, ..) => *window,
            Logic::AtMost(_, window, _) => Some(*window),
            _ => None,
        };
        let own = window.filter(|it| it.unit == Unit::Seconds && it.high.to_f64() > 0.0);
        least = shorter(least, own.map(|own| own.high));
    });
    least
}

fn shorter(a: Option<Ratio>, b: Option<Ratio>) -> Option<Ratio> {
    match (a, b) {
        (Some(a), Some(b)) => Some(if a.to_f64() < b.to_f64() { a } else { b }),
        (a, b) => a.or(b),
    }
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

fn all(parts: &[Logic], unit: Option<Ratio>, into: &mut Formulas) -> Option<Vec<FormulaId>> {
    let parts = parts.iter();
    parts.map(|part| translate(part, unit, into)).collect()
}

fn translate(logic: &Logic, unit: Option<Ratio>, into: &mut Formulas) -> Option<FormulaId> {
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
            let inner = translate(inner, unit, into)?;
            into.not(inner)
        }
        Logic::And(parts) => {
            let parts = all(parts, unit, into)?;
            let truth = into.verum();
            parts
                .into_iter()
                .fold(truth, |all, part| into.and(all, part))
        }
        Logic::Or(parts) => {
            let parts = all(parts, unit, into)?;
            let falsum = into.falsum();
            parts
                .into_iter()
                .fold(falsum, |one, part| into.or(one, part))
        }
        Logic::Implies(a, b) => {
            let (a, b) = (translate(a, unit, into)?, translate(b, unit, into)?);
            into.implies(a, b)
        }
        Logic::Iff(a, b) => {
            let (a, b) = (translate(a, unit, into)?, translate(b, unit, into)?);
            into.iff(a, b)
        }
        Logic::Unary(op, window, inner) => {
            let inner = translate(inner, unit, into)?;
            let window = steps(*window, unit)?;
            into.unary(*op, window, inner)
        }
        Logic::Binary(op, window, a, b) => {
            let (a, b) = (translate(a, unit, into)?, translate(b, unit, into)?);
            let window = steps(*window, unit)?;
            into.binary(*op, a, window, b)
        }
        Logic::AtMost(..) => return None,
    })
}
