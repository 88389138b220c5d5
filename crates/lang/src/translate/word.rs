//! Words of automata as text, with the names of atoms.

use std::fmt;

use crate::hir::Formulas;
use guard_automata::{Atom, Letter, Run, Word};

/// Returns the text of an atom in one line.
pub fn atom_text(formulas: &Formulas, atom: Atom) -> String {
    let text = formulas
        .atoms()
        .get(atom.0 as usize)
        .map_or("?", |atom| atom.text.as_str());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns an atom, or its negation.
pub fn literal(text: &str, holds: bool) -> String {
    if holds {
        return text.to_owned();
    }
    match binds(text) {
        true => format!("!{text}"),
        false => format!("!({text})"),
    }
}

/// Whether a text is a name, a call, or in parentheses, so that a prefix negation applies to the whole text.
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
            // A literal may contain a parenthesis, so the matching one cannot be found.
            '"' | '/' => return false,
            _ => {}
        }
        if depth == 0 {
            return place > 0 && place + 1 == rest.len();
        }
    }
    false
}

/// A word as readable steps of a trace: `step 0: high_risk, !approval; step 1: anything`.
#[derive(Clone, Debug)]
pub struct Steps(Vec<(u64, u64, String)>);

impl Steps {
    /// Returns the steps of a word; consecutive equal steps are merged.
    pub fn new(formulas: &Formulas, word: &Word) -> Steps {
        Steps::with_notes(formulas, word, &[])
    }

    /// Returns the steps of a word with a note on each step, as far as there are notes.
    pub(crate) fn with_notes(formulas: &Formulas, word: &Word, notes: &[String]) -> Steps {
        let steps = word.iter().enumerate();
        Steps::of(steps.map(|(step, letter)| (noted(formulas, letter, notes.get(step)), 1)))
    }

    /// Returns the steps of a trace of runs with a note on each run, as far as there are notes.
    pub(crate) fn of_runs(formulas: &Formulas, runs: &[Run], notes: &[String]) -> Steps {
        let each = runs.iter().enumerate();
        Steps::of(each.map(|(at, run)| (noted(formulas, &run.letter, notes.get(at)), run.times)))
    }

    /// Merges consecutive equal steps and counts them.
    fn of(steps: impl Iterator<Item = (String, u64)>) -> Steps {
        let mut runs: Vec<(u64, u64, String)> = Vec::new();
        let mut next = 0;
        for (text, times) in steps.filter(|(_, times)| *times > 0) {
            let last = next + times - 1;
            match runs.last_mut() {
                Some((_, end, same)) if *same == text => *end = last,
                _ => runs.push((next, last, text)),
            }
            next = last + 1;
        }
        Steps(runs)
    }

    /// Returns a line per run of equal steps.
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

fn noted(formulas: &Formulas, letter: &Letter, note: Option<&String>) -> String {
    let text = step_text(formulas, letter);
    match note {
        Some(note) => format!("{text} ({note})"),
        None => text,
    }
}

fn step_text(formulas: &Formulas, letter: &Letter) -> String {
    let literals: Vec<String> = letter
        .iter()
        .map(|(atom, holds)| literal(&atom_text(formulas, *atom), *holds))
        .collect();
    if literals.is_empty() {
        "anything".to_owned()
    } else {
        literals.join(", ")
    }
}
