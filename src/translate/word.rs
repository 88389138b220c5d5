//! Words of automata in the names of letters.

use std::fmt;

use crate::automata::{Atom, Letter, Word};
use crate::hir::Formulas;

/// The text of a letter in one line.
pub fn letter_text(formulas: &Formulas, atom: Atom) -> String {
    let text = formulas
        .letters()
        .get(atom.0 as usize)
        .map_or("?", |letter| letter.text.as_str());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A letter, or its negation.
pub fn literal(text: &str, holds: bool) -> String {
    if holds {
        return text.to_owned();
    }
    match binds(text) {
        true => format!("!{text}"),
        false => format!("!({text})"),
    }
}

/// Whether a text is a name, a call, or in parentheses, so that a negation before it is one of the whole.
fn binds(text: &str) -> bool {
    let rest = text.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
    if rest.is_empty() {
        return true;
    }
    let mut depth = 0_usize;
    for (place, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            // A bracket within a text could end too early.
            '"' | '/' => return false,
            _ => {}
        }
        if depth == 0 {
            return place > 0 && place + 1 == rest.len();
        }
    }
    false
}

/// A word as steps of a trace, for people: `step 0: high_risk, !approval; step 1: anything`.
#[derive(Clone, Debug)]
pub struct Steps(Vec<(usize, usize, String)>);

impl Steps {
    /// The steps of a word; equal steps in a row are one.
    pub fn new(formulas: &Formulas, word: &Word) -> Steps {
        Steps::with_notes(formulas, word, &[])
    }

    /// The same, with a note on each step as far as there are any.
    pub fn with_notes(formulas: &Formulas, word: &Word, notes: &[String]) -> Steps {
        let mut runs: Vec<(usize, usize, String)> = Vec::new();
        for (step, letter) in word.iter().enumerate() {
            let mut text = step_text(formulas, letter);
            if let Some(note) = notes.get(step) {
                text = format!("{text} ({note})");
            }
            match runs.last_mut() {
                Some((_, last, same)) if *same == text => *last = step,
                _ => runs.push((step, step, text)),
            }
        }
        Steps(runs)
    }

    /// A line per run of equal steps.
    pub fn lines(&self) -> Vec<String> {
        self.0
            .iter()
            .map(|(first, last, text)| match first == last {
                true => format!("step {first}: {text}"),
                false => format!("steps {first} to {last}: {text}"),
            })
            .collect()
    }
}

impl fmt::Display for Steps {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines().join("; "))
    }
}

fn step_text(formulas: &Formulas, letter: &Letter) -> String {
    let literals: Vec<String> = letter
        .iter()
        .map(|(atom, holds)| literal(&letter_text(formulas, *atom), *holds))
        .collect();
    if literals.is_empty() {
        "anything".to_owned()
    } else {
        literals.join(", ")
    }
}
