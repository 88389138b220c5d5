//! Properties of a spec in English: their formulas, with letters as written in the spec.

use crate::hir::{Formulas, Property, Spec};
use crate::translate::spoken;
use guard_english::words;

/// Returns a property in English, with the data that it reads.
pub fn property(spec: &Spec, property: &Property) -> String {
    let formulas = &spec.formulas;
    let words = words::sentence(&spoken(formulas, property.formula), &|letter| {
        atom_text(formulas, letter)
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

/// Returns a letter as written in the spec, on one line.
fn atom_text(formulas: &Formulas, letter: usize) -> String {
    let text = formulas
        .atoms()
        .get(letter)
        .map_or("", |letter| letter.text.as_str());
    format!(
        "`{}`",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    )
}
