//! Formulas as text of the language, with atoms as their author wrote them.

use super::formula::{Bound, Formula, Formulas, Unary};
use crate::ids::FormulaId;
use crate::value::Instant;

/// The precedence of a printed text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Response,
    Iff,
    Implies,
    Or,
    And,
    Infix,
    Prefix,
    Atom,
}

/// Returns the formula in one line: `G (a -> F[0,5] b)`. Parsed again it is the same formula, as far as its atoms can stand
/// alone.
///
/// # Limits
/// Linear in the tree of the formula.
pub fn formula(formulas: &Formulas, id: FormulaId) -> String {
    piece(formulas, id).0
}

fn piece(formulas: &Formulas, id: FormulaId) -> (String, Level) {
    let at = |id: FormulaId, least: Level| {
        let (text, level) = piece(formulas, id);
        if level < least {
            format!("({text})")
        } else {
            text
        }
    };
    if let Formula::Unary(Unary::Always, None, a) = formulas.get(id)
        && let Some((when, bound, then)) = forgiven(formulas, *a)
    {
        let (when, then) = (at(when, Level::Iff), at(then, Level::Iff));
        let text = format!("{when} leads to {then} {} or end", within(bound));
        return (text, Level::Response);
    }
    match formulas.get(id) {
        Formula::True => ("true".to_owned(), Level::Atom),
        Formula::False => ("false".to_owned(), Level::Atom),
        Formula::Last => ("last".to_owned(), Level::Atom),
        Formula::Atom(atom) => leaf(&formulas.atom(*atom).text),
        Formula::Not(a) => (format!("not {}", at(*a, Level::Prefix)), Level::Prefix),
        // Chains are built as balanced trees; both ways of nesting them mean the same.
        Formula::And(a, b) => (
            format!("{} and {}", at(*a, Level::And), at(*b, Level::And)),
            Level::And,
        ),
        Formula::Or(a, b) => (
            format!("{} or {}", at(*a, Level::Or), at(*b, Level::Or)),
            Level::Or,
        ),
        Formula::Implies(a, b) => (
            format!("{} -> {}", at(*a, Level::Or), at(*b, Level::Implies)),
            Level::Implies,
        ),
        Formula::Iff(a, b) => (
            format!("{} <-> {}", at(*a, Level::Implies), at(*b, Level::Implies)),
            Level::Iff,
        ),
        Formula::Unary(op, bound, a) => {
            let operator = op.letter();
            let text = format!("{operator}{} {}", window(*bound), at(*a, Level::Prefix));
            (text, Level::Prefix)
        }
        Formula::Binary(op, bound, a, b) => {
            let operator = op.letter();
            let (lhs, rhs) = (at(*a, Level::Prefix), at(*b, Level::Infix));
            (
                format!("{lhs} {operator}{} {rhs}", window(*bound)),
                Level::Infix,
            )
        }
    }
}

/// Returns the precedence of an atom. Most atoms are names, calls and comparisons, which bind tighter than every operator. A
/// text that extends as far right as it can gets parentheses.
fn leaf(text: &str) -> (String, Level) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let greedy = ["if ", "any ", "all ", "cases "];
    if greedy.iter().any(|word| text.starts_with(word)) || text.contains(" count ") {
        (format!("({text})"), Level::Atom)
    } else {
        (text, Level::Atom)
    }
}

/// Returns the parts of `a -> F[bound] b | F[cut off] last`, the form of `leads to` with `or end`.
fn forgiven(formulas: &Formulas, id: FormulaId) -> Option<(FormulaId, Bound, FormulaId)> {
    let Formula::Implies(when, then) = formulas.get(id) else {
        return None;
    };
    let Formula::Or(comes, ends) = formulas.get(*then) else {
        return None;
    };
    match (formulas.get(*comes), formulas.get(*ends)) {
        (
            Formula::Unary(Unary::Eventually, Some(bound), then),
            Formula::Unary(Unary::Eventually, Some(rest), last),
        ) if bound.cut_off() == Some(*rest) && *formulas.get(*last) == Formula::Last => {
            Some((*when, *bound, *then))
        }
        _ => None,
    }
}

/// `within 1..5 steps`
fn within(bound: Bound) -> String {
    match bound {
        Bound::Steps(0, high) => format!("within {high} steps"),
        Bound::Steps(low, high) => format!("within {low}..{high} steps"),
        Bound::Time(0, high) => format!("within {}", Instant(high)),
        Bound::Time(low, high) => format!("within {}..{}", Instant(low), Instant(high)),
    }
}

fn window(bound: Option<Bound>) -> String {
    match bound {
        None => String::new(),
        Some(Bound::Steps(low, high)) => format!("[{low},{high}]"),
        Some(Bound::Time(low, high)) => format!("[{},{}]", Instant(low), Instant(high)),
    }
}
