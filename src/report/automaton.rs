//! Automata of properties: built from the formula, and written as HOA, DOT or JSON.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use crate::automata::{self, Atom, Dfa, Interval, Limits, Verdict, Word};
use crate::hir::{Binary, Bound, Formula, Spec, Unary};
use crate::ids::FormulaId;

/// The minimal automaton of a formula of the spec. Atoms have the numbers of letters.
///
/// # Errors
/// Bounds in time, or a limit; the text says which.
pub fn build(spec: &Spec, formula: FormulaId) -> Result<Dfa, String> {
    let mut formulas = automata::Formulas::new();
    let root = convert(spec, formula, &mut formulas);
    automata::compile(&formulas, root, &Limits::default()).map_err(|error| error.to_string())
}

/// Operands come before what uses them, so one pass over the table does; only what the formula needs is made.
fn convert(spec: &Spec, root: FormulaId, out: &mut automata::Formulas) -> automata::FormulaId {
    let mut needed = vec![false; spec.formulas.len()];
    let mut todo = vec![root];
    while let Some(id) = todo.pop() {
        if !std::mem::replace(&mut needed[id.index()], true) {
            todo.extend(spec.formulas.operands(id));
        }
    }
    let verum = out.verum();
    let mut made = vec![verum; spec.formulas.len()];
    for id in (0..spec.formulas.len())
        .map(FormulaId::new)
        .filter(|id| needed[id.index()])
    {
        let of = |id: &FormulaId| made[id.index()];
        made[id.index()] = match spec.formulas.get(id) {
            Formula::True => out.verum(),
            Formula::False => out.falsum(),
            Formula::Last => out.last(),
            Formula::Letter(letter) => {
                out.atom(Atom(u32::try_from(letter.index()).unwrap_or(u32::MAX)))
            }
            Formula::Not(a) => out.not(of(a)),
            Formula::And(a, b) => out.and(of(a), of(b)),
            Formula::Or(a, b) => out.or(of(a), of(b)),
            Formula::Implies(a, b) => out.implies(of(a), of(b)),
            Formula::Iff(a, b) => out.iff(of(a), of(b)),
            Formula::Unary(op, bound, a) => {
                let (a, window) = (of(a), interval(*bound));
                match op {
                    Unary::Next => out.next(a),
                    Unary::WeakNext => out.weak_next(a),
                    Unary::Eventually => out.eventually(window, a),
                    Unary::Always => out.always(window, a),
                    Unary::Previously => out.previously(a),
                    Unary::WeakPreviously => out.weak_previously(a),
                    Unary::Once => out.once(window, a),
                    Unary::Historically => out.historically(window, a),
                }
            }
            Formula::Binary(op, bound, a, b) => {
                let (a, b) = (of(a), of(b));
                match op {
                    Binary::Until => out.until(a, interval(*bound), b),
                    Binary::Unless => out.unless(a, b),
                    Binary::Release => out.release(a, b),
                    Binary::StrongRelease => out.strong_release(a, b),
                    Binary::Since => out.since(a, b),
                    Binary::BackTo => out.back_to(a, b),
                }
            }
        };
    }
    made[root.index()]
}

fn interval(bound: Option<Bound>) -> Interval {
    match bound {
        None => Interval::ALL,
        Some(Bound::Steps(low, high)) => Interval::steps(low, high),
        Some(Bound::Time(low, high)) => Interval::time(low, high),
    }
}

/// The text of a letter in one line.
pub fn letter_text(spec: &Spec, atom: Atom) -> String {
    let text = spec
        .formulas
        .letters()
        .get(atom.0 as usize)
        .map_or("?", |letter| letter.text.as_str());
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A word as lists of literals: `["high_risk", "!approval"]`. What is not listed may be either.
pub fn word_json(spec: &Spec, word: &Word) -> Json {
    let step = |letter: &Vec<(Atom, bool)>| {
        letter
            .iter()
            .map(|(atom, holds)| literal(&letter_text(spec, *atom), *holds))
            .collect::<Vec<_>>()
    };
    json!(word.iter().map(step).collect::<Vec<_>>())
}

/// A letter, or its negation.
pub fn literal(text: &str, holds: bool) -> String {
    let name = text.chars().all(|c| c.is_alphanumeric() || c == '_');
    match (holds, name) {
        (true, _) => text.to_owned(),
        (false, true) => format!("!{text}"),
        (false, false) => format!("!({text})"),
    }
}

/// An edge: what the letter must have, and where it leads.
type Edge = (Vec<(Atom, bool)>, usize);

/// The edges of every state as disjoint cubes, read from the stable text form of the automaton.
fn edges(dfa: &Dfa) -> Vec<Vec<Edge>> {
    let mut states: Vec<Vec<Edge>> = Vec::with_capacity(dfa.len());
    for line in dfa.to_string().lines() {
        let Some((literals, target)) = line
            .strip_prefix("  ")
            .and_then(|edge| edge.split_once("-> "))
        else {
            states.push(Vec::new());
            continue;
        };
        let cube = literals
            .split_whitespace()
            .filter_map(|literal| match literal.strip_prefix('!') {
                Some(atom) => Some((Atom(atom.parse().ok()?), false)),
                None => Some((Atom(literal.parse().ok()?), true)),
            })
            .collect();
        if let (Some(edges), Ok(target)) = (states.last_mut(), target.trim().parse()) {
            edges.push((cube, target));
        }
    }
    states
}

fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Satisfied => "satisfied",
        Verdict::PresumablySatisfied => "presumably_satisfied",
        Verdict::PresumablyViolated => "presumably_violated",
        Verdict::Violated => "violated",
    }
}

/// As a JSON object: atoms by text, and per state its verdict and edges.
pub fn to_json(spec: &Spec, dfa: &Dfa) -> Json {
    let states: Vec<Json> = dfa
        .states()
        .zip(edges(dfa))
        .map(|(state, edges)| {
            let edges: Vec<Json> = edges
                .into_iter()
                .map(|(cube, target)| {
                    let when: Vec<String> = cube
                        .iter()
                        .map(|(atom, holds)| literal(&letter_text(spec, *atom), *holds))
                        .collect();
                    json!({"when": when, "to": target})
                })
                .collect();
            json!({"verdict": verdict_word(dfa.verdict(state)), "edges": edges})
        })
        .collect();
    let atoms: Vec<String> = dfa
        .atoms()
        .iter()
        .map(|atom| letter_text(spec, *atom))
        .collect();
    json!({"initial": dfa.initial().index(), "atoms": atoms, "states": states})
}

/// As a Hanoi omega-automaton over finite words: acceptance marks states in which the trace may end.
pub fn to_hoa(spec: &Spec, name: &str, dfa: &Dfa) -> String {
    let mut out = String::new();
    let atoms = dfa.atoms();
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let names: Vec<String> = atoms
        .iter()
        .map(|atom| quoted(&letter_text(spec, *atom)))
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
    for (state, edges) in dfa.states().zip(edges(dfa)) {
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
            let _ = writeln!(out, "[{label}] {target}");
        }
    }
    out.push_str("--END--\n");
    out
}

/// As a graph for Graphviz.
pub fn to_dot(spec: &Spec, name: &str, dfa: &Dfa) -> String {
    let mut out = String::new();
    let quoted = |text: &str| format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""));
    let _ = writeln!(
        out,
        "digraph {} {{\n  rankdir=LR;\n  start [shape=point];",
        quoted(name)
    );
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
    for (state, edges) in dfa.states().zip(edges(dfa)) {
        for (cube, target) in edges {
            let literals: Vec<String> = cube
                .iter()
                .map(|(atom, holds)| literal(&letter_text(spec, *atom), *holds))
                .collect();
            let label = if literals.is_empty() {
                "any".to_owned()
            } else {
                literals.join(" and ")
            };
            let _ = writeln!(
                out,
                "  s{} -> s{target} [label={}];",
                state.index(),
                quoted(&label)
            );
        }
    }
    out.push_str("}\n");
    out
}
