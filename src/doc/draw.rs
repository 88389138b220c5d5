//! Small automata: pictures for pages, Mermaid for Markdown.

use std::fmt::Write;

use crate::hir::Spec;
use crate::report::plot::{Edge, Node, Picture, Shape};
use crate::translate::{atom_text, literal};
use guard_automata::{Dfa, Verdict};

/// An automaton as states and labelled edges.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    initial: usize,
    /// For each state: its verdict, and whether a trace may end there.
    states: Vec<(Verdict, bool)>,
    /// Source, target and label: the conditions of all edges between the two, one per line.
    edges: Vec<(usize, usize, Vec<String>)>,
}

impl Graph {
    pub(super) fn new(spec: &Spec, dfa: &Dfa) -> Graph {
        let mut edges: Vec<(usize, usize, Vec<String>)> = Vec::new();
        for state in dfa.states() {
            for (cube, target) in dfa.cubes(state) {
                let literals: Vec<String> = cube
                    .iter()
                    .map(|(atom, holds)| literal(&atom_text(&spec.formulas, *atom), *holds))
                    .collect();
                let when = if literals.is_empty() {
                    "any".to_owned()
                } else {
                    literals.join(" and ")
                };
                let (from, to) = (state.index(), target.index());
                match edges.iter_mut().find(|(f, t, _)| (*f, *t) == (from, to)) {
                    Some((_, _, all)) => all.push(when),
                    None => edges.push((from, to, vec![when])),
                }
            }
        }
        Graph {
            initial: dfa.initial().index(),
            states: dfa
                .states()
                .map(|state| (dfa.verdict(state), dfa.accepting(state)))
                .collect(),
            edges,
        }
    }

    /// Returns the picture of the automaton of a property, whose name tells it from others of a page.
    pub(crate) fn picture(&self, name: &str) -> Picture {
        let start = Node {
            shape: Shape::Box,
            lines: vec!["start".to_owned()],
            class: String::new(),
            title: "start".to_owned(),
        };
        let states = self.states.iter().enumerate().map(|(index, state)| {
            let (verdict, accepting) = *state;
            let (class, suffix) = match verdict {
                Verdict::Satisfied => ("satisfied", ", satisfied"),
                Verdict::Violated => ("violated", ", violated"),
                _ => ("", ""),
            };
            let end = if accepting { "" } else { " not" };
            Node {
                shape: if accepting {
                    Shape::DoubleCircle
                } else {
                    Shape::Circle
                },
                lines: vec![index.to_string()],
                class: class.to_owned(),
                title: format!("state {index}{suffix}; a trace may{end} end here"),
            }
        });
        let nodes: Vec<Node> = std::iter::once(start).chain(states).collect();
        let edge = |from: usize, to: usize, label: String| Edge {
            from,
            to,
            label,
            class: "",
            width: 1.5,
        };
        let first = edge(0, self.initial + 1, String::new());
        let others = self.edges.iter();
        let others = others.map(|(from, to, when)| edge(from + 1, to + 1, when.join(" or ")));
        let edges: Vec<Edge> = std::iter::once(first).chain(others).collect();
        let description = format!(
            "{} states. Two circles: a trace may end here. Green: satisfied whatever follows. Red: violated for good.",
            self.states.len()
        );
        Picture::graph(
            &format!("Automaton of {name}"),
            &description,
            &nodes,
            &edges,
        )
    }

    /// Returns the graph as a Mermaid flow chart.
    pub(crate) fn mermaid(&self) -> String {
        let mut out = String::from("flowchart LR\n  start([start])\n");
        for (index, (verdict, accepting)) in self.states.iter().enumerate() {
            let (open, close) = if *accepting {
                ("(((", ")))")
            } else {
                ("((", "))")
            };
            let colour = match verdict {
                Verdict::Satisfied => ":::satisfied",
                Verdict::Violated => ":::violated",
                _ => "",
            };
            let _ = writeln!(out, "  s{index}{open}{index}{close}{colour}");
        }
        let _ = writeln!(out, "  start --> s{}", self.initial);
        for (from, to, when) in &self.edges {
            let when = when.join(" or ").replace('"', "#quot;");
            let _ = writeln!(out, "  s{from} -- \"{when}\" --> s{to}");
        }
        out.push_str("  classDef satisfied fill:#98fb98,color:#000\n  classDef violated fill:#f08080,color:#000\n");
        out
    }
}
