//! Formulas in English: a reading that follows the formula part by part.
//!
//! Letters stand as the author wrote them, in backticks. Where a part is more than a letter it stands in parentheses, so
//! the reading is as unambiguous as the formula.

use crate::hir::{Binary, Bound, Formula, Formulas, Property, Spec, Unary};
use crate::ids::FormulaId;
use crate::value::Instant;

/// A property in words, with what it is said of.
pub fn property(spec: &Spec, property: &Property) -> String {
    let formulas = &spec.formulas;
    // Of the first step it need not be said that it is the first.
    let mut words = match formulas.get(property.formula) {
        Formula::Unary(Unary::Eventually, None, a) => {
            format!("at some step: {}", formula(formulas, *a))
        }
        Formula::Unary(Unary::Always, None, a)
            if !matches!(formulas.get(*a), Formula::Not(_) | Formula::Implies(..)) =>
        {
            format!("at every step: {}", formula(formulas, *a))
        }
        _ => formula(formulas, property.formula),
    };
    if let Some(quantified) = &property.quantified {
        let vars: Vec<String> = quantified
            .vars
            .iter()
            .map(|var| format!("`{}`", var.name))
            .collect();
        let every = if quantified.universal {
            "for every"
        } else {
            "for some"
        };
        words = format!("{every} {}: {words}", vars.join(", "));
    }
    let mut chars = words.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => words,
    }
}

/// A formula in words, without a capital and without a full stop.
pub fn formula(formulas: &Formulas, id: FormulaId) -> String {
    phrase(formulas, id).text
}

/// Words, and whether they can stand beside others without parentheses.
struct Phrase {
    text: String,
    simple: bool,
}

impl Phrase {
    fn simple(text: impl Into<String>) -> Phrase {
        Phrase {
            text: text.into(),
            simple: true,
        }
    }

    fn compound(text: impl Into<String>) -> Phrase {
        Phrase {
            text: text.into(),
            simple: false,
        }
    }
}

fn phrase(formulas: &Formulas, id: FormulaId) -> Phrase {
    let part = |id: FormulaId| {
        let inner = phrase(formulas, id);
        if inner.simple {
            inner.text
        } else {
            format!("({})", inner.text)
        }
    };
    let whole = |id: FormulaId| phrase(formulas, id).text;
    match formulas.get(id) {
        Formula::True => Phrase::simple("true"),
        Formula::False => Phrase::simple("false"),
        Formula::Last => Phrase::simple("the trace ends here"),
        Formula::Letter(letter) => {
            let text = &formulas.letter(*letter).text;
            let text: Vec<&str> = text.split_whitespace().collect();
            Phrase::simple(format!("`{}`", text.join(" ")))
        }
        Formula::Not(inner) => {
            let negated = phrase(formulas, *inner);
            if negated.simple {
                Phrase::simple(format!("not {}", negated.text))
            } else {
                Phrase::compound(format!("it is not so that {}", part(*inner)))
            }
        }
        Formula::And(..) => {
            let parts = flat(formulas, id, |node| match node {
                Formula::And(a, b) => Some((*a, *b)),
                _ => None,
            });
            joined(formulas, &parts, " and ")
        }
        Formula::Or(..) => {
            let parts = flat(formulas, id, |node| match node {
                Formula::Or(a, b) => Some((*a, *b)),
                _ => None,
            });
            joined(formulas, &parts, " or ")
        }
        Formula::Implies(a, b) => Phrase::compound(format!("if {}, then {}", part(*a), whole(*b))),
        Formula::Iff(a, b) => Phrase::compound(format!("{} exactly when {}", part(*a), part(*b))),
        Formula::Unary(op, bound, a) => unary(formulas, *op, *bound, *a),
        Formula::Binary(op, bound, a, b) => binary(formulas, *op, *bound, *a, *b),
    }
}

fn unary(formulas: &Formulas, op: Unary, bound: Option<Bound>, a: FormulaId) -> Phrase {
    let inner = phrase(formulas, a);
    let text = &inner.text;
    // What is short comes first, what is long after a colon.
    let place = |place: &str| {
        if inner.simple {
            Phrase::compound(format!("{text} {place}"))
        } else {
            Phrase::compound(format!("{place}: {text}"))
        }
    };
    match (op, bound) {
        (Unary::Always, None) => match formulas.get(a) {
            Formula::Not(bad) if phrase(formulas, *bad).simple => {
                Phrase::compound(format!("{} never happens", phrase(formulas, *bad).text))
            }
            Formula::Not(bad) => Phrase::compound(format!(
                "it never happens that {}",
                phrase(formulas, *bad).text
            )),
            Formula::Implies(when, then) => Phrase::compound(format!(
                "whenever {}, {}",
                phrase(formulas, *when).text,
                phrase(formulas, *then).text
            )),
            _ => place("at every step from then on"),
        },
        (Unary::Always, Some(bound)) => {
            place(&format!("at every step {}", span(bound, Direction::Ahead)))
        }
        (Unary::Eventually, None) => place("at that step or a later one"),
        (Unary::Eventually, Some(bound)) => place(&span(bound, Direction::Ahead)),
        (Unary::Next, _) => place("at the next step"),
        (Unary::WeakNext, _) => place("at the next step, if there is one"),
        (Unary::Previously, _) => place("at the step before"),
        (Unary::WeakPreviously, _) => place("at the step before, if there is one"),
        (Unary::Once, None) => place("at that step or an earlier one"),
        (Unary::Once, Some(bound)) => place(&span(bound, Direction::Back)),
        (Unary::Historically, None) => place("at every step up to then"),
        (Unary::Historically, Some(bound)) => {
            place(&format!("at every step {}", span(bound, Direction::Back)))
        }
    }
}

fn binary(
    formulas: &Formulas,
    op: Binary,
    bound: Option<Bound>,
    a: FormulaId,
    b: FormulaId,
) -> Phrase {
    let part = |id: FormulaId| {
        let inner = phrase(formulas, id);
        if inner.simple {
            inner.text
        } else {
            format!("({})", inner.text)
        }
    };
    let (lhs, rhs) = (part(a), part(b));
    Phrase::compound(match op {
        Binary::Until => match bound {
            None => format!("{rhs} comes, and until then {lhs}"),
            Some(bound) => format!(
                "{rhs} comes {}, and until then {lhs}",
                span(bound, Direction::Ahead)
            ),
        },
        Binary::Unless => match formulas.get(a) {
            Formula::Not(bad) => format!("no {} before {rhs}", part(*bad)),
            _ => format!("{lhs} until {rhs}, or for good"),
        },
        Binary::Release => format!("{rhs} up to and including the step where {lhs}, or for good"),
        Binary::StrongRelease => {
            format!("{rhs} up to and including the step where {lhs}, which comes")
        }
        Binary::Since => format!("{rhs} has happened, and ever since {lhs}"),
        Binary::BackTo => format!("{lhs} ever since {rhs}, or from the start"),
    })
}

/// The operands of nested uses of one operator, in order.
fn flat(
    formulas: &Formulas,
    id: FormulaId,
    split: impl Fn(&Formula) -> Option<(FormulaId, FormulaId)>,
) -> Vec<FormulaId> {
    let mut out = Vec::new();
    let mut todo = vec![id];
    while let Some(id) = todo.pop() {
        match split(formulas.get(id)) {
            Some((a, b)) => todo.extend([b, a]),
            None => out.push(id),
        }
    }
    out
}

fn joined(formulas: &Formulas, parts: &[FormulaId], word: &str) -> Phrase {
    let parts: Vec<String> = parts
        .iter()
        .map(|id| {
            let inner = phrase(formulas, *id);
            if inner.simple {
                inner.text
            } else {
                format!("({})", inner.text)
            }
        })
        .collect();
    Phrase::compound(parts.join(word))
}

/// Where a window lies.
enum Direction {
    Ahead,
    Back,
}

fn span(bound: Bound, direction: Direction) -> String {
    let (low, high, from_now) = match bound {
        Bound::Steps(low, high) => (low.to_string(), steps(high), low == 0),
        Bound::Time(low, high) => (
            Instant(low).to_string(),
            Instant(high).to_string(),
            low == 0,
        ),
    };
    let exactly = match bound {
        Bound::Steps(low, high) => low == high,
        Bound::Time(low, high) => low == high,
    };
    match direction {
        Direction::Ahead if from_now => format!("within {high}"),
        Direction::Ahead if exactly => format!("exactly {high} later"),
        Direction::Ahead => format!("{low} to {high} later"),
        Direction::Back if from_now => format!("within the last {high}"),
        Direction::Back if exactly => format!("exactly {high} before"),
        Direction::Back => format!("{low} to {high} before"),
    }
}

fn steps(count: u32) -> String {
    format!("{count} {}", if count == 1 { "step" } else { "steps" })
}
