//! Writes chains as Graphviz drawings.

use std::fmt::Write as _;

use super::super::chain::Chain;
use super::super::scalar::Scalar;

/// Returns a chain in the DOT language: states with their labels, transitions with their probabilities.
pub fn write_dot<V: Scalar>(chain: &Chain<V>) -> String {
    let mut text = String::from("digraph chain {\n  rankdir=LR;\n  node [shape=ellipse];\n");
    for state in 0..chain.len() {
        let mut name = match chain.valuations() {
            Some(valuations) => valuations.text(state as u32),
            None => state.to_string(),
        };
        for (label, _) in chain
            .labels()
            .filter(|(label, set)| *label != "init" && set.contains(state))
        {
            let _ = write!(name, "\\n{}", escaped(label));
        }
        let mark = if chain.initial().contains(state) {
            ", penwidth=2"
        } else {
            ""
        };
        let _ = writeln!(text, "  {state} [label=\"{name}\"{mark}];");
    }
    for state in 0..chain.len() as u32 {
        for (target, probability) in chain.row(state) {
            let _ = writeln!(
                text,
                "  {state} -> {target} [label=\"{}\"];",
                probability.text()
            );
        }
    }
    text.push_str("}\n");
    text
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"")
}
