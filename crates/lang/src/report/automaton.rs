//! Automata of properties: built from the formula, and written as HOA, DOT or JSON.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::hir::Spec;
use crate::ids::FormulaId;
use crate::translate::{atom_text, automaton, literal};
use crate::value::Instant;
use guard_automata::{Atom, Dfa, Limits, Verdict, Word};

/// Returns the minimal automaton of a formula of the spec. Atoms have the numbers of letters.
///
/// # Errors
/// A message that names the bounds in time or the exceeded limit.
pub fn build(spec: &Spec, formula: FormulaId) -> Result<Dfa, String> {
    automaton(&spec.formulas, formula, &Limits::default()).map_err(|error| error.to_string())
}

/// Returns a word as lists of literals: `["high_risk", "!approval"]`. Unlisted letters may have either value.
pub fn word_json(spec: &Spec, word: &Word) -> Json {
    let step = |letter: &Vec<(Atom, bool)>| {
        letter
            .iter()
            .map(|(atom, holds)| literal(&atom_text(&spec.formulas, *atom), *holds))
            .collect::<Vec<_>>()
    };
    json!(word.iter().map(step).collect::<Vec<_>>())
}

/// Returns the times of the steps of a trace as readable text.
pub(crate) fn moments(times: &[i128]) -> Vec<String> {
    times
        .iter()
        .map(|time| format!("at {}", Instant(*time)))
        .collect()
}

/// Returns the times of the steps of a trace, in seconds.
pub fn seconds(times: &[i128]) -> Vec<f64> {
    times.iter().map(|time| Instant(*time).seconds()).collect()
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Satisfied => "satisfied",
        Verdict::PresumablySatisfied => "presumably_satisfied",
        Verdict::PresumablyViolated => "presumably_violated",
        Verdict::Violated => "violated",
    }
}

/// Writes the automaton as a JSON object: atoms by text, and per state its verdict and edges.
pub fn to_json(spec: &Spec, dfa: &Dfa) -> Json {
    let states: Vec<Json> = dfa
        .states()
        .map(|state| {
            let edges: Vec<Json> = dfa
                .cubes(state)
                .into_iter()
                .map(|(cube, target)| {
                    let when: Vec<String> = cube
                        .iter()
                        .map(|(atom, holds)| literal(&atom_text(&spec.formulas, *atom), *holds))
                        .collect();
                    json!({"when": when, "to": target.index()})
                })
                .collect();
            json!({"verdict": verdict_word(dfa.verdict(state)), "edges": edges})
        })
        .collect();
    let atoms: Vec<String> = dfa
        .atoms()
        .iter()
        .map(|atom| atom_text(&spec.formulas, *atom))
        .collect();
    json!({"initial": dfa.initial().index(), "atoms": atoms, "states": states})
}

/// Writes the automaton as a Hanoi omega-automaton over finite words: acceptance marks states in which the trace may end.
pub fn to_hoa(spec: &Spec, name: &str, dfa: &Dfa) -> String {
    let mut out = String::new();
    let atoms = dfa.atoms();
    let names: Vec<String> = atoms
        .iter()
        .map(|atom| quoted(&atom_text(&spec.formulas, *atom)))
        .collect();
    let _ = writeln!(
        out,
        "HOA: v1\nname: {}\ntool: \"guard\" \"{}\"",
        quoted(name),
        env!("CARGO_PKG_VERSION")
    );
    let _ = writeln!(
        out,
        "States: {}\nStart: {}",
        dfa.len(),
        dfa.initial().index()
    );
    let _ = writeln!(out, "AP: {} {}", names.len(), names.join(" "));
    let _ = writeln!(out, "acc-name: Buchi\nAcceptance: 1 Inf(0)");
    let _ = writeln!(
        out,
        "properties: trans-labels explicit-labels state-acc deterministic complete"
    );
    let _ = writeln!(out, "guard-semantics: \"finite\"\n--BODY--");
    for state in dfa.states() {
        let edges = dfa.cubes(state);
        let mark = if dfa.accepting(state) { " {0}" } else { "" };
        let verdict = quoted(verdict_word(dfa.verdict(state)));
        let _ = writeln!(out, "State: {} {verdict}{mark}", state.index());
        for (cube, target) in edges {
            let literals: Vec<String> = cube
                .iter()
                .map(|(atom, holds)| {
                    let number = atoms.iter().position(|other| other == atom).unwrap_or(0);
                    if *holds {
                        number.to_string()
                    } else {
                        format!("!{number}")
                    }
                })
                .collect();
            let label = if literals.is_empty() {
                "t".to_owned()
            } else {
                literals.join("&")
            };
            let _ = writeln!(out, "[{label}] {}", target.index());
        }
    }
    out.push_str("--END--\n");
    out
}

/// Writes the automaton as a graph for Graphviz.
pub fn to_dot(spec: &Spec, name: &str, dfa: &Dfa) -> String {
    let mut out = dot_head(name);
    for state in dfa.states() {
        let verdict = dfa.verdict(state);
        let shape = if dfa.accepting(state) {
            "doublecircle"
        } else {
            "circle"
        };
        let colour = match verdict {
            Verdict::Satisfied => "palegreen",
            Verdict::Violated => "lightcoral",
            Verdict::PresumablySatisfied | Verdict::PresumablyViolated => "white",
        };
        let _ = writeln!(
            out,
            "  s{} [shape={shape}, style=filled, fillcolor={colour}, tooltip=\"{}\", label=\"{}\"];",
            state.index(),
            verdict_word(verdict),
            state.index()
        );
    }
    let _ = writeln!(out, "  start -> s{};", dfa.initial().index());
    for state in dfa.states() {
        let edges = dfa.cubes(state);
        for (cube, target) in edges {
            let literals: Vec<String> = cube
                .iter()
                .map(|(atom, holds)| literal(&atom_text(&spec.formulas, *atom), *holds))
                .collect();
            let label = if literals.is_empty() {
                "any".to_owned()
            } else {
                literals.join(" and ")
            };
            let _ = writeln!(
                out,
                "  s{} -> s{} [label={}];",
                state.index(),
                target.index(),
                quoted(&label)
            );
        }
    }
    out.push_str("}\n");
    out
}

/// Returns a text in quotes for HOA and Graphviz.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// Returns the first lines of a graph for Graphviz.
pub(super) fn dot_head(name: &str) -> String {
    let name = quoted(name);
    format!("digraph {name} {{\n  rankdir=LR;\n  start [shape=point];\n")
}
