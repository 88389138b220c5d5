//! Automata from other tools, in the Hanoi format, over the conditions of a spec.

use std::path::Path;

use super::failure::Failure;
use super::spec;
use crate::hir::{Formula, Quantified, Spec, Unary};
use crate::ids::{AtomId, PropertyId};
use crate::lint::{Foreign, Semantics};
use crate::load::{self, Loaded};
use crate::translate::{atom, atom_text};
use guard_automata::omega::hoa::{self, Automaton};
use guard_automata::{Atom, Limits};

/// A file in the Hanoi format, as given.
pub(super) struct File {
    path: String,
    /// The name of the selected automaton, from `FILE.hoa:NAME`.
    name: Option<String>,
    text: String,
}

/// Returns the file that `against` names, if it is one that ends in `.hoa` or begins like an automaton; `FILE.hoa:NAME` selects
/// one of several automata.
///
/// # Errors
/// A file that ends in `.hoa` cannot be read.
pub(super) fn file(against: &str) -> Result<Option<File>, Failure> {
    let (path, name) = match against.rsplit_once(':') {
        Some((path, name)) if path.ends_with(".hoa") => (path, Some(name.to_owned())),
        _ => (against, None),
    };
    let at = Path::new(path);
    let text = if at.extension().is_some_and(|end| end == "hoa") {
        Some(load::text_of(at)?)
    } else if at.is_file() {
        let text = load::text_of(at).ok();
        text.filter(|text| text.trim_start().starts_with("HOA:"))
    } else {
        None
    };
    Ok(text.map(|text| File {
        path: path.to_owned(),
        name,
        text,
    }))
}

impl File {
    fn wrong(&self, reason: impl std::fmt::Display) -> Failure {
        Failure::Usage(format!("`{}`: {reason}", self.path))
    }

    /// Returns the selected automaton: the only one, the named one, or the one with the name of the property.
    fn automaton(&self, property: &str, limits: &Limits) -> Result<Automaton, Failure> {
        let mut all = hoa::parse_all(&self.text, limits).map_err(|error| self.wrong(error))?;
        if all.len() == 1 && self.name.is_none() {
            all.truncate(1);
        } else {
            let wanted = self.name.as_deref().unwrap_or(property);
            let names: Vec<String> = all
                .iter()
                .map(|one| {
                    one.name
                        .clone()
                        .unwrap_or_else(|| "an unnamed one".to_owned())
                })
                .collect();
            all.retain(|one| one.name.as_deref() == Some(wanted));
            if all.len() > 1 {
                return Err(self.wrong(format!("contains several automata named `{wanted}`")));
            }
            if all.is_empty() && !names.is_empty() {
                return Err(self.wrong(format!(
                    "contains no automaton named `{wanted}`, but {}; select one with `{}:NAME`",
                    names.join(", "),
                    self.path
                )));
            }
        }
        all.pop().ok_or_else(|| self.wrong("contains no automaton"))
    }
}

/// A parsed automaton over the letters of a spec.
pub(super) struct Read {
    /// The spec, extended by the conditions that the automaton reads.
    pub(super) spec: Spec,
    pub(super) checked: Loaded,
    pub(super) automaton: Foreign,
    /// The traces that it is about.
    pub(super) semantics: Semantics,
}

/// Returns an automaton whose atomic propositions are conditions of the spec: letters of a property by their texts, else
/// predicates by their names, else conditions as the language writes them.
///
/// # Errors
/// The fault in the file, with its line; a proposition that the spec does not know; a limit.
pub(super) fn read(
    file: &File,
    spec: Spec,
    checked: Loaded,
    property: PropertyId,
) -> Result<Read, Failure> {
    let limits = Limits::default();
    let wrong = |reason: String| file.wrong(reason);
    let of = spec.property(property);
    let automaton = file.automaton(&of.name, &limits)?;
    let letters = spec.formulas.atoms_of(of.formula);
    let texts: Vec<String> = letters
        .iter()
        .map(|letter| atom_text(&spec.formulas, atom(*letter)))
        .collect();
    let quantifier = of.quantified.as_ref().map(quantifier).unwrap_or_default();
    let mut items = String::new();
    for (index, name) in automaton.atoms.iter().enumerate() {
        if texts.contains(&one_line(name)) {
            continue;
        }
        let item = format!("property {ATOM}{index} = {quantifier}always ({name})\n");
        let known = checked.with_item(&item).spec;
        if known.is_none_or(|spec| letter(&spec, index).is_none()) {
            let reads = match texts.as_slice() {
                [] => String::new(),
                texts => format!(" (`{}` reads {})", of.name, texts.join(", ")),
            };
            return Err(wrong(format!(
                "its atomic proposition `{name}` is not a condition of the spec; rename it to \
                    a predicate{reads}, or write a condition over the fields"
            )));
        }
        items.push_str(&item);
    }
    let (spec, checked) = match items.is_empty() {
        true => (spec, checked),
        false => spec::with_item(&checked, &items)?,
    };
    // The letters of the property are the same, but may have other numbers now.
    let letters = spec.formulas.atoms_of(spec.property(property).formula);
    let by_text = |name: &str| {
        let place = texts.iter().position(|text| *text == one_line(name))?;
        letters.get(place).copied()
    };
    let mut atoms: Vec<Atom> = Vec::new();
    for (index, name) in automaton.atoms.iter().enumerate() {
        let found = by_text(name).or_else(|| letter(&spec, index));
        let missing = || wrong(format!("its atomic proposition `{name}` was not found"));
        atoms.push(atom(found.ok_or_else(missing)?));
    }
    let name = |Atom(number): Atom| atoms[number as usize];
    let too_large = |error: &dyn std::fmt::Display| wrong(format!("the automaton {error}"));
    let (semantics, foreign) = match automaton.finite {
        true => {
            let dfa = automaton.to_dfa(name, &limits);
            let dfa = dfa.map_err(|error| wrong(error.to_string()))?;
            (Semantics::Finite, Foreign::Finite(dfa))
        }
        false => {
            let words = automaton
                .to_buchi(&limits)
                .and_then(|words| words.renamed(name, &limits))
                .map_err(|error| too_large(&error))?;
            let others = automaton
                .complement(&limits)
                .and_then(|others| others.renamed(name, &limits))
                .map_err(|error| wrong(format!("its complement {error}")))?;
            let (words, others) = (Box::new(words), Box::new(others));
            (Semantics::Infinite, Foreign::Infinite { words, others })
        }
    };
    Ok(Read {
        spec,
        checked,
        automaton: foreign,
        semantics,
    })
}

/// The prefix of the names of properties that hold the conditions of an automaton.
const ATOM: &str = "_against_";

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the letter of a proposition, if it is one.
fn letter(spec: &Spec, index: usize) -> Option<AtomId> {
    let property = spec.property(spec.find_property(&format!("{ATOM}{index}"))?);
    let Formula::Unary(Unary::Always, _, inner) = spec.formulas.get(property.formula) else {
        return None;
    };
    match spec.formulas.get(*inner) {
        Formula::Atom(letter) => Some(*letter),
        _ => None,
    }
}

/// Returns the quantifiers in front of a formula about the same values.
pub(super) fn quantifier(quantified: &Quantified) -> String {
    let word = if quantified.universal {
        "forall"
    } else {
        "exists"
    };
    let vars = quantified.vars.iter();
    let vars: Vec<&str> = vars.map(|var| var.name.as_str()).collect();
    format!("{word} ({}): ", vars.join(", "))
}
