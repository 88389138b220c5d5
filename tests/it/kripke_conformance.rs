//! The suite of small Kripke structures: formulas of linear and branching time, with the states that satisfy them.

use std::collections::BTreeMap;

use guard_automata::graph::{Digraph, NodeSet};
use guard_automata::kripke::ctl::{self, StateFormula, StateFormulaId, StateFormulas};
use guard_automata::kripke::evidence;
use guard_automata::kripke::ltl::{self, Limits};
use guard_automata::kripke::{Kripke, Run};
use guard_automata::{Atom, Interval, omega};
use serde_json::Value;

fn numbers(value: &Value) -> Vec<u32> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|n| n.as_u64().unwrap() as u32)
        .collect()
}

/// The structure of a case; atoms are numbered in the order of their names.
fn structure(case: &Value) -> (Kripke, BTreeMap<String, u32>) {
    let edges: Vec<(u32, u32)> = case["edges"]
        .as_array()
        .unwrap()
        .iter()
        .map(|edge| {
            let ends = numbers(edge);
            (ends[0], ends[1])
        })
        .collect();
    let states = case["states"].as_u64().unwrap() as usize;
    let graph = Digraph::from_edges(states, &edges).unwrap();
    let mut names = BTreeMap::new();
    let mut labels: Vec<NodeSet> = Vec::new();
    for (name, states) in case["labels"].as_object().unwrap() {
        names.insert(name.clone(), labels.len() as u32);
        labels.push(graph.set(numbers(states)));
    }
    (Kripke::new(graph, numbers(&case["init"]), labels), names)
}

/// Whether a run is one of the structure: from an initial state, along its edges, round and round.
fn is_run(kripke: &Kripke, run: &Run) -> bool {
    let states: Vec<u32> = run.states().collect();
    let follows = |pair: &[u32]| kripke.graph().successors(pair[0]).contains(&pair[1]);
    kripke.initial().contains(&states[0])
        && states.windows(2).all(follows)
        && !run.cycle.is_empty()
        && follows(&[*states.last().unwrap(), run.cycle[0]])
}

/// The CTL syntax of the suite.
struct Parser<'a> {
    tokens: Vec<String>,
    at: usize,
    formulas: &'a mut StateFormulas,
    names: &'a BTreeMap<String, u32>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn need(&mut self, token: &str) {
        assert!(
            self.take(token),
            "{token} at {} of {:?}",
            self.at,
            self.tokens
        );
    }

    fn not(&mut self, a: StateFormulaId) -> StateFormulaId {
        self.formulas.add(StateFormula::Not(a))
    }

    fn iff(&mut self) -> StateFormulaId {
        let mut left = self.implies();
        while self.take("<->") {
            let right = self.implies();
            let (not_left, not_right) = (self.not(left), self.not(right));
            let both = self.formulas.add(StateFormula::And(left, right));
            let neither = self.formulas.add(StateFormula::And(not_left, not_right));
            left = self.formulas.add(StateFormula::Or(both, neither));
        }
        left
    }

    fn implies(&mut self) -> StateFormulaId {
        let left = self.or();
        if !self.take("->") {
            return left;
        }
        let right = self.implies();
        let not = self.not(left);
        self.formulas.add(StateFormula::Or(not, right))
    }

    fn or(&mut self) -> StateFormulaId {
        let mut left = self.and();
        while self.take("|") {
            let right = self.and();
            left = self.formulas.add(StateFormula::Or(left, right));
        }
        left
    }

    fn and(&mut self) -> StateFormulaId {
        let mut left = self.unary();
        while self.take("&") {
            let right = self.unary();
            left = self.formulas.add(StateFormula::And(left, right));
        }
        left
    }

    fn unary(&mut self) -> StateFormulaId {
        let token = self.peek().to_owned();
        self.at += 1;
        match token.as_str() {
            "!" => {
                let operand = self.unary();
                self.not(operand)
            }
            "(" => {
                let inner = self.iff();
                self.need(")");
                inner
            }
            "true" => self.formulas.add(StateFormula::True),
            "false" => {
                let verum = self.formulas.add(StateFormula::True);
                self.not(verum)
            }
            "EX" | "AX" | "EF" | "AF" | "EG" | "AG" => {
                let operand = self.unary();
                let operand = self.formulas.path(operand);
                let path = match &token[1..] {
                    "X" => self.formulas.paths.next(operand),
                    "F" => self.formulas.paths.eventually(Interval::ALL, operand),
                    _ => self.formulas.paths.always(Interval::ALL, operand),
                };
                self.quantified(&token, path)
            }
            "E" | "A" => {
                self.need("[");
                let left = self.iff();
                self.need("U");
                let right = self.iff();
                self.need("]");
                let (left, right) = (self.formulas.path(left), self.formulas.path(right));
                let path = self.formulas.paths.until(left, Interval::ALL, right);
                self.quantified(&token, path)
            }
            name => {
                let atom = Atom(self.names.get(name).copied().unwrap_or(u32::MAX));
                self.formulas.add(StateFormula::Atom(atom))
            }
        }
    }

    fn quantified(&mut self, token: &str, path: guard_automata::FormulaId) -> StateFormulaId {
        self.formulas.add(match token.starts_with('E') {
            true => StateFormula::Exists(path),
            false => StateFormula::All(path),
        })
    }
}

fn lex(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut word = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c.is_ascii_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        tokens.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        match c {
            ' ' => {}
            '-' => {
                chars.next();
                tokens.push("->".to_owned());
            }
            '<' => {
                chars.nth(1);
                tokens.push("<->".to_owned());
            }
            c => tokens.push(c.to_string()),
        }
    }
    tokens.extend((!word.is_empty()).then_some(word));
    tokens
}

fn parse(
    text: &str,
    formulas: &mut StateFormulas,
    names: &BTreeMap<String, u32>,
) -> StateFormulaId {
    let mut parser = Parser {
        tokens: lex(text),
        at: 0,
        formulas,
        names,
    };
    let root = parser.iff();
    assert_eq!(parser.at, parser.tokens.len(), "{text}");
    root
}

#[test]
fn linear_time() {
    let mut checked = 0;
    for case in crate::support::suite("kripke.jsonl")
        .iter()
        .filter(|case| case["logic"] == "ltl")
    {
        let (kripke, names) = structure(case);
        let mut parsed = crate::support::ltl::parse_one(crate::support::ltl::text(case, "formula"));
        // The parser numbers the atoms of the formula, the structure those of the case.
        let atoms: Vec<u32> = parsed
            .names
            .keys()
            .map(|name| names.get(name).copied().unwrap_or(u32::MAX))
            .collect();
        let labels = atoms.iter().map(|atom| kripke.label(Atom(*atom))).collect();
        let kripke = Kripke::new(kripke.graph().clone(), kripke.initial().to_vec(), labels);
        let found = ltl::check(
            &mut &kripke,
            &mut parsed.formulas,
            parsed.root,
            &[],
            &Limits::default(),
        )
        .unwrap();
        assert_eq!(
            found.counterexample.is_none(),
            case["holds"].as_bool().unwrap(),
            "{case}"
        );
        if let Some(run) = found.counterexample {
            assert!(is_run(&kripke, &run), "{run:?} of {case}");
            let states: Vec<u32> = run.states().collect();
            let letter = |at: usize, atom: Atom| kripke.label(atom).contains(states[at] as usize);
            assert!(
                !omega::eval(
                    &parsed.formulas,
                    parsed.root,
                    run.stem.len(),
                    run.cycle.len(),
                    letter
                ),
                "{run:?} satisfies the formula of {case}"
            );
        }
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}

#[test]
fn branching_time() {
    let mut checked = 0;
    for case in crate::support::suite("kripke.jsonl")
        .iter()
        .filter(|case| case["logic"] == "ctl")
    {
        let (kripke, names) = structure(case);
        let mut formulas = StateFormulas::new();
        let root = parse(
            crate::support::ltl::text(case, "formula"),
            &mut formulas,
            &names,
        );
        let limits = Limits::default();
        let found = ctl::evaluate(&kripke, &mut formulas, root, &[], &limits).unwrap();
        let states: Vec<u32> = found
            .of(root)
            .unwrap()
            .ones()
            .map(|state| state as u32)
            .collect();
        assert_eq!(states, numbers(&case["sat_states"]), "{case}");
        let holds = kripke.initial().iter().all(|state| states.contains(state));
        assert_eq!(holds, case["holds"].as_bool().unwrap(), "{case}");
        for state in 0..kripke.len() as u32 {
            let shown =
                evidence::explain(&kripke, &mut formulas, &found, root, state, &[], &limits)
                    .unwrap();
            if let Some(run) = shown {
                let states: Vec<u32> = run.states().collect();
                assert_eq!(states[0], state);
                for pair in states.windows(2) {
                    assert!(
                        kripke.graph().successors(pair[0]).contains(&pair[1]),
                        "{run:?} of {case}"
                    );
                }
            }
        }
        checked += 1;
    }
    assert!(checked > 100, "{checked}");
}
