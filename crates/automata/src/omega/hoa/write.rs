//! Automata as text of the format.

use std::fmt::Write;

use crate::formula::Atom;
use crate::formula::Letter;
use crate::omega::acceptance::Acceptance;
use crate::omega::buchi::Buchi;
use crate::omega::deterministic::Deterministic;
use crate::omega::marks::Marks;

impl Buchi {
    /// Returns the automaton in the Hanoi format; `atom` names the atoms. State-based acceptance is written on states.
    ///
    /// # Limits
    /// Guards are written as disjoint cubes, of which there may be as many as their diagrams have paths.
    pub fn to_hoa<D: std::fmt::Display>(&self, name: &str, atom: impl Fn(Atom) -> D) -> String {
        let condition = Acceptance::generalized_buchi(self.n_marks());
        let acc_name = match self.n_marks() {
            0 => "all".to_owned(),
            1 => "Buchi".to_owned(),
            n => format!("generalized-Buchi {n}"),
        };
        let by_states = self.is_state_based();
        let mut properties = vec!["trans-labels", "explicit-labels"];
        properties.push(if by_states { "state-acc" } else { "trans-acc" });
        if self.is_deterministic().unwrap_or(false) {
            properties.push("deterministic");
        }
        let mut out = header(name, self.len(), self.initial().index());
        atoms(&mut out, self.atoms(), atom);
        acceptance(&mut out, Some(&acc_name), self.n_marks(), &condition);
        body(&mut out, &properties);
        for state in self.states() {
            let marks = self
                .edges(state)
                .first()
                .map_or(Marks::NONE, |edge| edge.marks);
            let of_state = if by_states { marks } else { Marks::NONE };
            let _ = writeln!(out, "State: {}{}", state.index(), signature(of_state));
            for edge in self.edges(state) {
                let label = label(self.atoms(), &self.cubes(edge.guard));
                let marks = signature(if by_states { Marks::NONE } else { edge.marks });
                let _ = writeln!(out, "[{label}] {}{marks}", edge.target.index());
            }
        }
        out.push_str("--END--\n");
        out
    }
}

impl Deterministic {
    /// Returns the automaton in the Hanoi format; `atom` names the atoms.
    ///
    /// # Limits
    /// As [`Buchi::to_hoa`].
    pub fn to_hoa<D: std::fmt::Display>(&self, name: &str, atom: impl Fn(Atom) -> D) -> String {
        let n = self.n_marks();
        let acc_name = match n {
            1 if *self.acceptance() == Acceptance::Inf(0) => Some("Buchi".to_owned()),
            1 if *self.acceptance() == Acceptance::Fin(0) => Some("co-Buchi".to_owned()),
            2.. if *self.acceptance() == Acceptance::parity_min_even(n) => {
                Some(format!("parity min even {n}"))
            }
            _ => None,
        };
        let mut out = header(name, self.len(), self.initial().index());
        atoms(&mut out, self.atoms(), atom);
        acceptance(&mut out, acc_name.as_deref(), n, self.acceptance());
        let properties = [
            "trans-labels",
            "explicit-labels",
            "trans-acc",
            "deterministic",
            "complete",
        ];
        body(&mut out, &properties);
        for state in self.states() {
            let _ = writeln!(out, "State: {}", state.index());
            for (cube, target, marks) in self.cubes(state) {
                let label = label(self.atoms(), &[cube]);
                let _ = writeln!(out, "[{label}] {}{}", target.index(), signature(marks));
            }
        }
        out.push_str("--END--\n");
        out
    }
}

fn header(name: &str, n_states: usize, initial: usize) -> String {
    let version = env!("CARGO_PKG_VERSION");
    format!(
        "HOA: v1\nname: {}\ntool: \"guard\" \"{version}\"\nStates: {n_states}\nStart: {initial}\n",
        quoted(name)
    )
}

fn atoms<D: std::fmt::Display>(out: &mut String, atoms: &[Atom], name: impl Fn(Atom) -> D) {
    let _ = write!(out, "AP: {}", atoms.len());
    for &atom in atoms {
        let _ = write!(out, " {}", quoted(&name(atom).to_string()));
    }
    out.push('\n');
}

fn acceptance(out: &mut String, name: Option<&str>, n: u32, condition: &Acceptance) {
    if let Some(name) = name {
        let _ = writeln!(out, "acc-name: {name}");
    }
    let _ = writeln!(out, "Acceptance: {n} {condition}");
}

fn body(out: &mut String, properties: &[&str]) {
    let _ = writeln!(out, "properties: {}\n--BODY--", properties.join(" "));
}

/// Returns a text in quotes.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

fn signature(marks: Marks) -> String {
    if marks.is_empty() {
        String::new()
    } else {
        format!(" {marks}")
    }
}

/// Returns a label over the places of atoms.
fn label(atoms: &[Atom], cubes: &[Letter]) -> String {
    let literal = |&(atom, holds): &(Atom, bool)| {
        let place = atoms.binary_search(&atom).unwrap_or(0);
        format!("{}{place}", if holds { "" } else { "!" })
    };
    let cube = |cube: &Letter| {
        let literals: Vec<String> = cube.iter().map(literal).collect();
        if literals.is_empty() {
            "t".to_owned()
        } else {
            literals.join("&")
        }
    };
    let cubes: Vec<String> = cubes.iter().map(cube).collect();
    cubes.join(" | ")
}
