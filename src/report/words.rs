//! Properties of a spec in English: their formulas, with the letters as the author wrote them.

use crate::hir::{Binary, Bound, Formula, Formulas, Property, Spec, Unary};
use crate::ids::FormulaId;
use crate::words::{self, Logic, Ratio, Unit, Window};

/// A property in words, with what it is said of.
pub fn property(spec: &Spec, property: &Property) -> String {
    let formulas = &spec.formulas;
    let words = words::sentence(&logic(formulas, property.formula), &|letter| {
        letter_text(formulas, letter)
    });
    let Some(quantified) = &property.quantified else {
        return words;
    };
    let vars: Vec<String> = quantified
        .vars
        .iter()
        .map(|var| format!("`{}`", var.name))
        .collect();
    let every = if quantified.universal {
        "For every"
    } else {
        "For some"
    };
    let mut chars = words.chars();
    let lower: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(chars)
        .collect();
    format!("{every} {}: {lower}", vars.join(", "))
}

/// A letter as the author wrote it, on one line.
pub fn letter_text(formulas: &Formulas, letter: usize) -> String {
    let text = formulas
        .letters()
        .get(letter)
        .map_or("", |letter| letter.text.as_str());
    format!(
        "`{}`",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    )
}

/// A formula of the core; its atoms are the numbers of letters.
///
/// # Limits
/// Recursion as deep as the formula, which `check` limits.
pub fn logic(formulas: &Formulas, id: FormulaId) -> Logic {
    let of = |id: &FormulaId| Box::new(logic(formulas, *id));
    match formulas.get(id) {
        Formula::True => Logic::True,
        Formula::False => Logic::False,
        Formula::Last => Logic::Last,
        Formula::Letter(letter) => Logic::Atom(letter.index()),
        Formula::Not(a) => Logic::Not(of(a)),
        Formula::And(a, b) => words::formula::and([*of(a), *of(b)]),
        Formula::Or(a, b) => words::formula::or([*of(a), *of(b)]),
        Formula::Implies(a, b) => Logic::Implies(of(a), of(b)),
        Formula::Iff(a, b) => Logic::Iff(of(a), of(b)),
        Formula::Unary(op, bound, a) => {
            let op = match op {
                Unary::Next => words::Unary::Next,
                Unary::WeakNext => words::Unary::WeakNext,
                Unary::Eventually => words::Unary::Eventually,
                Unary::Always => words::Unary::Always,
                Unary::Previously => words::Unary::Previously,
                Unary::WeakPreviously => words::Unary::WeakPreviously,
                Unary::Once => words::Unary::Once,
                Unary::Historically => words::Unary::Historically,
            };
            Logic::Unary(op, bound.map(window), of(a))
        }
        Formula::Binary(op, bound, a, b) => {
            let op = match op {
                Binary::Until => words::Binary::Until,
                Binary::Unless => words::Binary::Unless,
                Binary::Release => words::Binary::Release,
                Binary::StrongRelease => words::Binary::StrongRelease,
                Binary::Since => words::Binary::Since,
                Binary::BackTo => words::Binary::BackTo,
            };
            Logic::Binary(op, bound.map(window), of(a), of(b))
        }
    }
}

/// A bound in steps or seconds.
fn window(bound: Bound) -> Window {
    /// What one second is in the core.
    const SECOND: i128 = 1_000_000_000_000_000_000;
    match bound {
        Bound::Steps(low, high) => Window {
            low: Ratio::new(i128::from(low), 1),
            high: Ratio::new(i128::from(high), 1),
            unit: Unit::Steps,
        },
        Bound::Time(low, high) => Window {
            low: Ratio::new(low, SECOND),
            high: Ratio::new(high, SECOND),
            unit: Unit::Seconds,
        },
    }
}
