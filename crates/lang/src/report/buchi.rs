//! Automata of properties over infinite traces: built from the formula, and written as HOA, DOT or JSON.

use std::fmt::Write;

use serde_json::{Value as Json, json};

use super::automaton::{dot_head, quoted};
use crate::hir::Spec;
use crate::ids::FormulaId;
use crate::translate::{self, atom, atom_text, literal};
use guard_automata::{Atom, Formulas, Limits, omega::Buchi, omega::Marks, omega::translate};

/// Returns a small Büchi automaton of a formula of the spec over infinite words. Atoms have the numbers of letters.
///
/// # Errors
/// A message that names the bounds in time or the exceeded limit.
pub fn build(spec: &Spec, formula: FormulaId) -> Result<Buchi, String> {
    let mut formulas = Formulas::new();
    let root = translate::translate(&spec.formulas, formula, atom, &mut formulas);
    translate(&formulas, root, &Limits::default()).map_err(|error| error.to_string())
}

/// Returns the cubes of an edge as lists of literals.
fn cubes(spec: &Spec, buchi: &Buchi, guard: guard_automata::omega::Guard) -> Vec<Vec<String>> {
    let text = |(atom, holds): (Atom, bool)| literal(&atom_text(&spec.formulas, atom), holds);
    let cubes = buchi.cubes(guard).into_iter();
    cubes
        .map(|cube| cube.into_iter().map(text).collect())
        .collect()
}

/// Writes the automaton as a JSON object: atoms by text, the number of marks that a run must see infinitely often, and per
/// state its edges.
pub fn to_json(spec: &Spec, buchi: &Buchi) -> Json {
    let marks = |marks: Marks| marks.iter().collect::<Vec<u32>>();
    let states: Vec<Json> = buchi
        .states()
        .map(|state| {
            let edges: Vec<Json> = buchi
                .edges(state)
                .iter()
                .flat_map(|edge| {
                    let to = edge.target.index();
                    let one =
                        move |when| json!({"when": when, "to": to, "marks": marks(edge.marks)});
                    cubes(spec, buchi, edge.guard).into_iter().map(one)
                })
                .collect();
            json!({"edges": edges})
        })
        .collect();
    let atoms: Vec<String> = buchi
        .atoms()
        .iter()
        .map(|atom| atom_text(&spec.formulas, *atom))
        .collect();
    json!({
        "initial": buchi.initial().index(),
        "atoms": atoms,
        "marks": buchi.n_marks(),
        "states": states,
    })
}

/// Writes the automaton as a Hanoi omega-automaton.
pub fn to_hoa(spec: &Spec, name: &str, buchi: &Buchi) -> String {
    buchi.to_hoa(name, |atom| atom_text(&spec.formulas, atom))
}

/// Writes the automaton as a graph for Graphviz. Marks are written on edges; an automaton with accepting states shows these
/// as double circles.
pub fn to_dot(spec: &Spec, name: &str, buchi: &Buchi) -> String {
    let mut out = dot_head(name);
    let by_states = buchi.is_state_based();
    for state in buchi.states() {
        let shape = if by_states && buchi.is_accepting(state) {
            "doublecircle"
        } else {
            "circle"
        };
        let index = state.index();
        let _ = writeln!(out, "  s{index} [shape={shape}, label=\"{index}\"];");
    }
    let _ = writeln!(out, "  start -> s{};", buchi.initial().index());
    for state in buchi.states() {
        for edge in buchi.edges(state) {
            for cube in cubes(spec, buchi, edge.guard) {
                let mut label = if cube.is_empty() {
                    "any".to_owned()
                } else {
                    cube.join(" and ")
                };
                if !by_states && !edge.marks.is_empty() {
                    let _ = write!(label, " {}", edge.marks);
                }
                let (from, to) = (state.index(), edge.target.index());
                let _ = writeln!(out, "  s{from} -> s{to} [label={}];", quoted(&label));
            }
        }
    }
    out.push_str("}\n");
    out
}
