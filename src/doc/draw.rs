//! Small automata as pictures: SVG for pages, Mermaid for Markdown.

use std::fmt::Write;

use layout::backends::svg::SVGWriter;
use layout::core::base::Orientation;
use layout::core::geometry::Point;
use layout::core::style::StyleAttr;
use layout::std_shapes::shapes::{Arrow, Element, ShapeKind};
use layout::topo::layout::VisualGraph;

use crate::hir::Spec;
use crate::translate::{atom_text, literal};
use guard_automata::{Dfa, Verdict};

/// An automaton as states and labelled edges.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    initial: usize,
    /// Per state: its verdict, and whether a trace may end there.
    states: Vec<(Verdict, bool)>,
    /// From, to, and when: the conditions of all edges between the two, one a line.
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

    /// Returns the picture as an SVG element.
    pub(crate) fn svg(&self) -> String {
        let mut graph = VisualGraph::new(Orientation::LeftToRight);
        let style = |verdict: Option<Verdict>| {
            let mut style = StyleAttr::simple();
            style.font_size = 13;
            style.fill_color = layout::core::color::Color::from_name(match verdict {
                Some(Verdict::Satisfied) => "palegreen",
                Some(Verdict::Violated) => "lightcoral",
                _ => "white",
            });
            style
        };
        let size = Point::new(34.0, 34.0);
        let start = graph.add_node(Element::create(
            ShapeKind::new_box("start"),
            style(None),
            Orientation::LeftToRight,
            Point::new(40.0, 20.0),
        ));
        let states: Vec<_> = self
            .states
            .iter()
            .enumerate()
            .map(|(index, (verdict, accepting))| {
                let label = index.to_string();
                let shape = if *accepting {
                    ShapeKind::new_double_circle(&label)
                } else {
                    ShapeKind::new_circle(&label)
                };
                let orientation = Orientation::LeftToRight;
                graph.add_node(Element::create(
                    shape,
                    style(Some(*verdict)),
                    orientation,
                    size,
                ))
            })
            .collect();
        if let Some(initial) = states.get(self.initial) {
            graph.add_edge(Arrow::simple(""), start, *initial);
        }
        for (from, to, when) in &self.edges {
            if let (Some(from), Some(to)) = (states.get(*from), states.get(*to)) {
                graph.add_edge(Arrow::simple(&when.join(" or ")), *from, *to);
            }
        }
        let mut svg = SVGWriter::new();
        graph.do_it(false, false, false, &mut svg);
        let text = svg.finalize();
        text.find("<svg")
            .and_then(|at| text.get(at..))
            .unwrap_or_default()
            .to_owned()
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
