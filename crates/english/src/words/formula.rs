//! Temporal formulas over named situations, as they are drafted and as they are put into words.

pub use guard_automata::{Binary, Unary};

use super::{Ratio, Unit};

/// A temporal formula over numbered atoms.
#[derive(Clone, Debug, PartialEq)]
pub enum Logic {
    /// Always true.
    True,
    /// Never true.
    False,
    /// The last step of the run.
    Last,
    /// The first step of the run.
    First,
    /// An atom.
    Atom(usize),
    /// Not.
    Not(Box<Logic>),
    /// All of them.
    And(Vec<Logic>),
    /// One of them.
    Or(Vec<Logic>),
    /// If the first, then the second.
    Implies(Box<Logic>, Box<Logic>),
    /// Both or neither.
    Iff(Box<Logic>, Box<Logic>),
    /// An operator on one formula, in a window or without bounds.
    Unary(Unary, Option<Window>, Box<Logic>),
    /// An operator between two.
    Binary(Binary, Option<Window>, Box<Logic>, Box<Logic>),
    /// At most so many steps of the window before now have the formula.
    AtMost(u32, Window, Box<Logic>),
}

/// From so far to so far away, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The nearest step, or the least number of seconds.
    pub low: Ratio,
    /// The farthest.
    pub high: Ratio,
    /// [`Unit::Steps`] or [`Unit::Seconds`].
    pub unit: Unit,
}

impl Window {
    /// Returns the window of a deadline after its trigger: a step bound begins at the next step, a time bound now.
    pub fn deadline(high: Ratio, unit: Unit) -> Window {
        let low = Ratio::new(i128::from(unit == Unit::Steps), 1);
        Window { low, high, unit }
    }

    /// Returns the window from now on.
    pub fn from_now(high: Ratio, unit: Unit) -> Window {
        let low = Ratio::new(0, 1);
        Window { low, high, unit }
    }

    /// Returns the positions at which the trace may end before this window does, or `None` if there are none.
    pub fn cut_off(self) -> Option<Window> {
        /// Times are exact to the attosecond.
        const ATTOSECONDS: i128 = 1_000_000_000_000_000_000;
        let least = match self.unit {
            Unit::Seconds => ATTOSECONDS,
            Unit::Steps => 1,
        };
        let high = self.high.plus(Ratio::new(-1, least));
        (self.high.to_f64() > 0.0).then(|| Window::from_now(high, self.unit))
    }
}

/// Writes a formula: names and the style.
#[derive(Clone, Copy, Debug)]
pub struct Writer<'a> {
    /// The names of the atoms, with arguments where they have some.
    pub names: &'a [String],
    /// Whether counts and ends of runs may use the words of the language, which plain temporal logic does not have.
    pub rich: bool,
}

/// The precedence of a text, loosest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Implies,
    Or,
    And,
    Binary,
    Unary,
}

impl Writer<'_> {
    /// Returns the formula in the syntax of the language.
    pub fn write(&self, logic: &Logic) -> String {
        self.at(logic, Level::Implies)
    }

    fn at(&self, logic: &Logic, least: Level) -> String {
        let bound = |window: &Option<Window>| window.map_or_else(String::new, |it| it.to_string());
        let (text, level) = match logic {
            Logic::And(parts) => (self.joined(parts, " & ", Level::Binary), Level::And),
            Logic::Or(parts) => (self.joined(parts, " | ", Level::And), Level::Or),
            Logic::Implies(a, b) => (self.pair(a, "->", b, Level::Or), Level::Implies),
            Logic::Iff(a, b) => (self.pair(a, "<->", b, Level::Or), Level::Implies),
            Logic::Binary(op, window, a, b) => {
                let sign = format!("{}{}", op.letter(), bound(window));
                (self.pair(a, &sign, b, Level::Unary), Level::Binary)
            }
            Logic::AtMost(count, window, inner) => {
                let inner = self.at(inner, Level::Implies);
                (format!("count{window}({inner}) <= {count}"), Level::Binary)
            }
            Logic::True => ("true".to_owned(), Level::Unary),
            Logic::False => ("false".to_owned(), Level::Unary),
            Logic::Last if self.rich => ("last".to_owned(), Level::Unary),
            Logic::Last => ("!X true".to_owned(), Level::Unary),
            Logic::First => ("!Y true".to_owned(), Level::Unary),
            Logic::Atom(index) => {
                let name = self.names.get(*index).cloned();
                (name.unwrap_or_default(), Level::Unary)
            }
            // A count is written as one where the language has words for it.
            Logic::Not(inner) => match inner.times().filter(|_| self.rich) {
                Some((event, count)) => {
                    let event = self.at(&event, Level::Implies);
                    (format!("G (count({event}) <= {})", count - 1), Level::Unary)
                }
                None => (format!("!{}", self.at(inner, Level::Unary)), Level::Unary),
            },
            Logic::Unary(op, window, inner) => match self.leads_to(logic) {
                Some(text) => (text, Level::Implies),
                None => {
                    let inner = self.at(inner, Level::Unary);
                    let sign = format!("{}{}", op.letter(), bound(window));
                    (format!("{sign} {inner}"), Level::Unary)
                }
            },
        };
        if level < least {
            format!("({text})")
        } else {
            text
        }
    }

    /// Writes `a leads to b within 30s or end` for `G (a -> F[0,30s] b | …)`: the window that the end may cut off is shorter by the
    /// least time, an attosecond.
    fn leads_to(&self, logic: &Logic) -> Option<String> {
        let Logic::Implies(trigger, response) = logic.inside(Unary::Always)? else {
            return None;
        };
        match response.unless_cut_off()? {
            Logic::Unary(_, Some(window), wanted)
                if self.rich && *window == Window::deadline(window.high, Unit::Seconds) =>
            {
                let text = self.pair(trigger, "leads to", wanted, Level::Unary);
                Some(format!("{text} within {}s or end", window.high.decimal()))
            }
            _ => None,
        }
    }

    fn pair(&self, a: &Logic, sign: &str, b: &Logic, least: Level) -> String {
        format!("{} {sign} {}", self.at(a, least), self.at(b, least))
    }

    fn joined(&self, parts: &[Logic], sign: &str, least: Level) -> String {
        let parts: Vec<String> = parts.iter().map(|part| self.at(part, least)).collect();
        parts.join(sign)
    }
}

impl std::fmt::Display for Window {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let unit = if self.unit == Unit::Seconds { "s" } else { "" };
        let end = |ratio: Ratio| match ratio.decimal() {
            zero if zero == "0" => zero,
            text => format!("{text}{unit}"),
        };
        write!(out, "[{},{}]", end(self.low), end(self.high))
    }
}

/// Returns `!f`; a double negation is removed.
pub fn not(logic: Logic) -> Logic {
    match logic {
        Logic::Not(inner) => *inner,
        other => Logic::Not(Box::new(other)),
    }
}

/// Returns the conjunction of all; nested conjunctions are flattened.
pub fn and(parts: impl IntoIterator<Item = Logic>) -> Logic {
    let mut flat = Vec::new();
    for part in parts {
        match part {
            Logic::And(inner) => flat.extend(inner),
            Logic::True => {}
            other if flat.contains(&other) => {}
            other => flat.push(other),
        }
    }
    match flat.len() {
        0 => Logic::True,
        1 => flat.remove(0),
        _ => Logic::And(flat),
    }
}

/// Returns the disjunction of all.
pub fn or(parts: impl IntoIterator<Item = Logic>) -> Logic {
    let mut flat: Vec<Logic> = Vec::new();
    for part in parts {
        match part {
            Logic::Or(inner) => flat.extend(inner),
            other if flat.contains(&other) => {}
            other => flat.push(other),
        }
    }
    match flat.len() {
        1 => flat.remove(0),
        _ => Logic::Or(flat),
    }
}

/// `a -> b`
pub fn implies(a: Logic, b: Logic) -> Logic {
    match a {
        Logic::True => b,
        a => Logic::Implies(Box::new(a), Box::new(b)),
    }
}

fn unary(op: Unary, inner: Logic) -> Logic {
    Logic::Unary(op, None, Box::new(inner))
}

/// `G f`
pub fn always(inner: Logic) -> Logic {
    unary(Unary::Always, inner)
}

/// `F f`
pub fn eventually(inner: Logic) -> Logic {
    unary(Unary::Eventually, inner)
}

/// `!F f`
pub fn never(inner: Logic) -> Logic {
    not(eventually(inner))
}

/// `X f`
pub fn next(inner: Logic) -> Logic {
    unary(Unary::Next, inner)
}

/// `Y f`
pub fn previously(inner: Logic) -> Logic {
    unary(Unary::Previously, inner)
}

/// `a W b`
pub fn unless(a: Logic, b: Logic) -> Logic {
    Logic::Binary(Binary::Unless, None, Box::new(a), Box::new(b))
}

/// The operators of a number of times that looks ahead: the next step, and some step from there on.
pub const AHEAD: [Unary; 2] = [Unary::Next, Unary::Eventually];
/// The operators of a number of times that looks back.
pub const BACK: [Unary; 2] = [Unary::Previously, Unary::Once];

/// `f` at this step and at `count - 1` others: `f & X F (f & X F …)`, or `f & Y O (f & Y O …)`.
pub fn so_often(count: u32, inner: &Logic, [step, some]: [Unary; 2]) -> Logic {
    let more = |found| and([inner.clone(), unary(step, unary(some, found))]);
    (1..count).fold(inner.clone(), |found, _| more(found))
}

/// `f` at so many steps from here on: `F (f & X F (f …))`.
pub fn occurrences(count: u32, inner: &Logic) -> Logic {
    eventually(so_often(count, inner, AHEAD))
}

/// Of a formula that [`so_often`] makes, the event and how often it is said to come.
pub fn repeated(logic: &Logic, operators: [Unary; 2]) -> Option<(Logic, u32)> {
    if logic.is_state() {
        return Some((logic.clone(), 1));
    }
    let Logic::And(parts) = logic else {
        return None;
    };
    let (last, first) = parts.split_last()?;
    let again = last.inside(operators[0])?.inside(operators[1])?;
    let (event, count) = repeated(again, operators)?;
    (event == and(first.iter().cloned())).then_some((event, count + 1))
}

impl Logic {
    /// Returns the operand of this operator without bounds.
    pub(crate) fn inside(&self, operator: Unary) -> Option<&Logic> {
        match self {
            Logic::Unary(op, None, inner) if *op == operator => Some(inner),
            _ => None,
        }
    }

    /// Of `F (f & X F (f …))` the event and how often it is said to come, if that is more than once.
    pub(crate) fn times(&self) -> Option<(Logic, u32)> {
        repeated(self.inside(Unary::Eventually)?, AHEAD).filter(|(_, count)| *count > 1)
    }

    /// Returns `a` and `b` of `G (a -> b)`.
    pub(crate) fn response(&self) -> Option<(&Logic, &Logic)> {
        match self.inside(Unary::Always)? {
            Logic::Implies(a, b) => Some((a, b)),
            _ => None,
        }
    }

    /// Returns `a` of `!F a`.
    pub(crate) fn denied(&self) -> Option<&Logic> {
        match self {
            Logic::Not(inner) => inner.inside(Unary::Eventually),
            _ => None,
        }
    }

    /// Returns the deadline of a window that the end of the run may cut off: `F[w] a` of `F[w] a | F[cut off] last`.
    pub fn unless_cut_off(&self) -> Option<&Logic> {
        let Logic::Or(parts) = self else { return None };
        match parts.as_slice() {
            [
                asked @ Logic::Unary(Unary::Eventually, Some(window), _),
                Logic::Unary(Unary::Eventually, Some(rest), last),
            ] if **last == Logic::Last && window.cut_off() == Some(*rest) => Some(asked),
            _ => None,
        }
    }

    /// Returns the atoms in order of first appearance.
    pub fn atoms(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.walk(&mut |part| match part {
            Logic::Atom(index) if !found.contains(index) => found.push(*index),
            _ => {}
        });
        found
    }

    /// Visits the formula, and then its parts from left to right, to any depth.
    pub(crate) fn walk(&self, visit: &mut dyn FnMut(&Logic)) {
        visit(self);
        self.parts().iter().for_each(|part| part.walk(visit));
    }

    /// Returns the operands.
    fn parts(&self) -> Vec<&Logic> {
        match self {
            Logic::True | Logic::False | Logic::Last | Logic::First | Logic::Atom(_) => Vec::new(),
            Logic::And(parts) | Logic::Or(parts) => parts.iter().collect(),
            Logic::Not(inner) | Logic::Unary(_, _, inner) | Logic::AtMost(_, _, inner) => {
                vec![inner]
            }
            Logic::Implies(a, b) | Logic::Iff(a, b) | Logic::Binary(_, _, a, b) => vec![a, b],
        }
    }

    /// Returns the same formula over other atoms.
    #[must_use]
    pub fn renamed(&self, to: &dyn Fn(usize) -> usize) -> Logic {
        self.rebuilt(&mut |part| match part {
            Logic::Atom(index) => Some(Logic::Atom(to(*index))),
            _ => None,
        })
    }

    /// Returns the same formula with some atoms negated.
    #[must_use]
    pub fn with_negated(&self, atoms: &[usize]) -> Logic {
        self.rebuilt(&mut |part| match part {
            Logic::Atom(index) if atoms.contains(index) => Some(not(Logic::Atom(*index))),
            _ => None,
        })
    }

    /// Returns the formula with parts replaced, outermost first: a result of `change` replaces the part.
    #[must_use]
    pub fn rebuilt(&self, change: &mut dyn FnMut(&Logic) -> Option<Logic>) -> Logic {
        let whole = change(self);
        let again = || self.with_parts(&mut |part| Some(part.rebuilt(change)));
        whole.or_else(again).unwrap_or_else(|| self.clone())
    }

    /// Returns the same operator on other operands, or `None` if there is none for one of them.
    pub(crate) fn with_parts(
        &self,
        change: &mut dyn FnMut(&Logic) -> Option<Logic>,
    ) -> Option<Logic> {
        let mut of = |inner: &Logic| change(inner).map(Box::new);
        Some(match self {
            Logic::True | Logic::False | Logic::Last | Logic::First | Logic::Atom(_) => {
                self.clone()
            }
            Logic::Not(inner) => not(*of(inner)?),
            Logic::And(parts) => and(parts.iter().map(change).collect::<Option<Vec<_>>>()?),
            Logic::Or(parts) => or(parts.iter().map(change).collect::<Option<Vec<_>>>()?),
            Logic::Implies(a, b) => implies(*of(a)?, *of(b)?),
            Logic::Iff(a, b) => Logic::Iff(of(a)?, of(b)?),
            Logic::Unary(op, window, inner) => Logic::Unary(*op, *window, of(inner)?),
            Logic::Binary(op, window, a, b) => Logic::Binary(*op, *window, of(a)?, of(b)?),
            Logic::AtMost(count, window, inner) => Logic::AtMost(*count, *window, of(inner)?),
        })
    }

    /// Whether no operator looks at another step.
    pub fn is_state(&self) -> bool {
        let temporal = matches!(
            self,
            Logic::Last | Logic::First | Logic::Unary(..) | Logic::Binary(..) | Logic::AtMost(..)
        );
        !temporal && self.parts().into_iter().all(Logic::is_state)
    }
}
