//! The automata against the conformance suite: values, verdicts, relations and sizes, all of them.

#![allow(clippy::unwrap_used, clippy::panic, reason = "tests fail by panicking")]

mod support;

use std::collections::BTreeMap;

use guard_lang::automata::{
    Atom, CompileError, Dfa, Finality, FormulaId, Formulas, Interval, Limits, Machine, Traces,
    Verdict, compile, compile_raw, eval, eval_empty,
};
use serde_json::Value;

/// A formula of the suite's syntax; atoms are numbered in alphabetical order.
struct Parsed {
    formulas: Formulas,
    root: FormulaId,
    names: BTreeMap<String, u32>,
}

fn parse(texts: &[&str]) -> (Formulas, Vec<FormulaId>, BTreeMap<String, u32>) {
    let tokens: Vec<Vec<String>> = texts.iter().map(|text| lex(text)).collect();
    let is_atom = |t: &&String| {
        t.starts_with(|c: char| c.is_ascii_lowercase()) && *t != "true" && *t != "false"
    };
    let mut names: Vec<String> = tokens.iter().flatten().filter(is_atom).cloned().collect();
    names.sort();
    names.dedup();
    let names: BTreeMap<String, u32> = names
        .into_iter()
        .enumerate()
        .map(|(i, n)| (n, i as u32))
        .collect();
    let mut formulas = Formulas::new();
    let roots = tokens
        .iter()
        .map(|tokens| {
            let mut parser = Parser {
                tokens,
                at: 0,
                formulas: &mut formulas,
                names: &names,
            };
            let root = parser.iff();
            assert_eq!(parser.at, tokens.len(), "trailing input in {tokens:?}");
            root
        })
        .collect();
    (formulas, roots, names)
}

fn parse_one(text: &str) -> Parsed {
    let (formulas, roots, names) = parse(&[text]);
    Parsed {
        formulas,
        root: roots[0],
        names,
    }
}

fn lex(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let mut end = i + 1;
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            while end < chars.len()
                && (chars[end].is_ascii_lowercase()
                    || chars[end].is_ascii_digit()
                    || chars[end] == '_')
            {
                end += 1;
            }
        } else if text[i..].starts_with("<->") {
            end = i + 3;
        } else if text[i..].starts_with("->") || text[i..].starts_with("<=") {
            end = i + 2;
        }
        if !c.is_whitespace() {
            tokens.push(chars[i..end].iter().collect());
        }
        i = end;
    }
    tokens
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    formulas: &'a mut Formulas,
    names: &'a BTreeMap<String, u32>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |t| t.as_str())
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn iff(&mut self) -> FormulaId {
        let mut left = self.implies();
        while self.eat("<->") {
            let right = self.implies();
            left = self.formulas.iff(left, right);
        }
        left
    }

    fn implies(&mut self) -> FormulaId {
        let left = self.or();
        if self.eat("->") {
            let right = self.implies();
            return self.formulas.implies(left, right);
        }
        left
    }

    fn or(&mut self) -> FormulaId {
        let mut left = self.and();
        while self.eat("|") {
            let right = self.and();
            left = self.formulas.or(left, right);
        }
        left
    }

    fn and(&mut self) -> FormulaId {
        let mut left = self.binary();
        while self.eat("&") {
            let right = self.binary();
            left = self.formulas.and(left, right);
        }
        left
    }

    fn binary(&mut self) -> FormulaId {
        let left = self.unary();
        let operator = self.peek().to_owned();
        if !matches!(operator.as_str(), "U" | "W" | "R" | "M" | "S" | "B") {
            return left;
        }
        self.at += 1;
        let window = if operator == "U" {
            self.window()
        } else {
            Interval::ALL
        };
        let right = self.binary();
        match operator.as_str() {
            "U" => self.formulas.until(left, window, right),
            "W" => self.formulas.unless(left, right),
            "R" => self.formulas.release(left, right),
            "M" => self.formulas.strong_release(left, right),
            "S" => self.formulas.since(left, right),
            _ => self.formulas.back_to(left, right),
        }
    }

    fn number(&mut self) -> u32 {
        self.at += 1;
        self.tokens[self.at - 1].parse().unwrap()
    }

    fn window(&mut self) -> Interval {
        if self.eat("<=") {
            return Interval::steps(0, self.number());
        }
        if !self.eat("[") {
            return Interval::ALL;
        }
        let lo = self.number();
        assert!(self.eat(","));
        let hi = self.number();
        assert!(self.eat("]"));
        Interval::steps(lo, hi)
    }

    fn unary(&mut self) -> FormulaId {
        let token = self.peek().to_owned();
        self.at += 1;
        match token.as_str() {
            "(" => {
                let inner = self.iff();
                assert!(self.eat(")"));
                inner
            }
            "true" => self.formulas.verum(),
            "false" => self.formulas.falsum(),
            "!" | "X" | "N" | "Y" | "Z" => {
                let f = self.unary();
                match token.as_str() {
                    "!" => self.formulas.not(f),
                    "X" => self.formulas.next(f),
                    "N" => self.formulas.weak_next(f),
                    "Y" => self.formulas.previously(f),
                    _ => self.formulas.weak_previously(f),
                }
            }
            "F" | "G" | "O" | "H" => {
                let window = self.window();
                let f = self.unary();
                match token.as_str() {
                    "F" => self.formulas.eventually(window, f),
                    "G" => self.formulas.always(window, f),
                    "O" => self.formulas.once(window, f),
                    _ => self.formulas.historically(window, f),
                }
            }
            name => self.formulas.atom(Atom(self.names[name])),
        }
    }
}

fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap()
}

fn verdict(name: &str) -> Verdict {
    match name {
        "satisfied" => Verdict::Satisfied,
        "violated" => Verdict::Violated,
        "presumably_satisfied" => Verdict::PresumablySatisfied,
        "presumably_violated" => Verdict::PresumablyViolated,
        other => panic!("{other}"),
    }
}

#[test]
fn finite_traces() {
    let cases = support::suite("finite.jsonl");
    let mut known: BTreeMap<String, (Parsed, Dfa, Machine)> = BTreeMap::new();
    let mut failures = Vec::new();
    let mut late = 0;
    for case in &cases {
        let id = text(case, "id");
        let source = text(case, "formula");
        let (parsed, dfa, machine) = known.entry(source.to_owned()).or_insert_with(|| {
            let parsed = parse_one(source);
            let dfa = compile(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
            let machine = Machine::new(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
            (parsed, dfa, machine)
        });
        let trace: Vec<Vec<u32>> = case["trace"]
            .as_array()
            .unwrap()
            .iter()
            .map(|letter| {
                letter
                    .as_array()
                    .unwrap()
                    .iter()
                    .filter_map(|name| parsed.names.get(name.as_str().unwrap()).copied())
                    .collect()
            })
            .collect();
        let expected = case["ltlf"].as_bool().unwrap();
        let mut fail = |what: String| failures.push(format!("{id} {source}: {what}"));

        let values = eval(&parsed.formulas, parsed.root, trace.len(), |i, atom| {
            trace[i].contains(&atom.0)
        });
        let value = values
            .first()
            .copied()
            .unwrap_or_else(|| eval_empty(&parsed.formulas, parsed.root));
        if value != expected {
            fail(format!("eval gives {value}"));
        }

        let mut state = dfa.initial();
        let mut running = machine.initial();
        if dfa.verdict(state) != verdict(text(case, "rv0")) {
            fail(format!("rv0 is {:?}", dfa.verdict(state)));
        }
        let mut final_at = None;
        for (k, letter) in trace.iter().enumerate() {
            state = dfa.step(state, |atom| letter.contains(&atom.0));
            machine
                .step(&mut running, None, |atom| letter.contains(&atom.0))
                .unwrap();
            let found = dfa.verdict(state);
            if found != verdict(case["rv"][k].as_str().unwrap()) {
                fail(format!("rv[{k}] is {found:?}"));
            }
            if found.is_final() && final_at.is_none() {
                final_at = Some(k as u64);
            }
            if running.accepting() != dfa.accepting(state) {
                fail(format!("the machine differs after {k}"));
            }
            if running.finality() != Finality::Open && running.finality() != dfa.finality(state) {
                fail(format!("the machine is wrongly final after {k}"));
            }
            late += usize::from(running.finality() != dfa.finality(state));
        }
        if dfa.accepting(state) != expected {
            fail(format!("the automaton gives {}", dfa.accepting(state)));
        }
        if final_at != case["final_at"].as_u64() {
            fail(format!("final_at is {final_at:?}"));
        }
    }
    println!(
        "{} cases, {} formulas, {late} steps at which the machine is late",
        cases.len(),
        known.len()
    );
    assert!(
        failures.is_empty(),
        "{} failures:\n{}",
        failures.len(),
        failures[..failures.len().min(40)].join("\n")
    );
}

#[test]
fn relations_over_finite_traces() {
    let limits = Limits::default();
    let mut failures = Vec::new();
    let mut n_cases = 0;
    for case in support::suite("relations.jsonl")
        .iter()
        .filter(|case| text(case, "semantics") == "finite")
    {
        n_cases += 1;
        let texts: Vec<&str> = ["f", "g"]
            .iter()
            .filter_map(|key| case[*key].as_str())
            .collect();
        let (formulas, roots, _) = parse(&texts);
        let dfas: Vec<Dfa> = roots
            .iter()
            .map(|&root| compile(&formulas, root, &limits).unwrap())
            .collect();
        let class = dfas[0].class();
        let found = match text(case, "kind") {
            "equivalent" => dfas[0]
                .difference(&dfas[1], Traces::NonEmpty, &limits)
                .unwrap()
                .is_none(),
            "implies" => dfas[0]
                .excess(&dfas[1], Traces::NonEmpty, &limits)
                .unwrap()
                .is_none(),
            "satisfiable" => class.satisfiable,
            "valid" => class.valid,
            "safety" => class.safety,
            "cosafety" => class.cosafety,
            other => panic!("{other}"),
        };
        if text(case, "kind") == "equivalent" {
            let same = dfas[0].minimized_nonempty().len() == dfas[1].minimized_nonempty().len();
            assert!(
                same || !found,
                "equivalent formulas have minimal automata of one size: {case}"
            );
        }
        if found != case["expect"].as_bool().unwrap() {
            failures.push(case.to_string());
        }
    }
    println!("{n_cases} relations");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn sizes_of_automata() {
    let mut failures = Vec::new();
    let mut slowest = (std::time::Duration::ZERO, String::new());
    let cases = support::suite("automata.jsonl");
    let start = std::time::Instant::now();
    for case in &cases {
        let source = text(case, "formula");
        let begun = std::time::Instant::now();
        let parsed = parse_one(source);
        match compile(&parsed.formulas, parsed.root, &Limits::default()) {
            Ok(dfa) => {
                let nonempty = dfa.minimized_nonempty();
                if Some(dfa.len() as u64) != case["dfa_states"].as_u64()
                    || Some(nonempty.len() as u64) != case["dfa_states_nonempty"].as_u64()
                {
                    failures.push(format!(
                        "{source}: {} states, {} without the empty trace",
                        dfa.len(),
                        nonempty.len()
                    ));
                }
            }
            Err(error) => failures.push(format!("{source}: {error}")),
        }
        slowest = slowest.max((begun.elapsed(), source.to_owned()));
    }
    let elapsed = start.elapsed();
    // However an automaton is made, its canonical form is one.
    for case in &cases {
        let parsed = parse_one(text(case, "formula"));
        let whole = compile_raw(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
        assert_eq!(
            Ok(whole.minimized()),
            compile(&parsed.formulas, parsed.root, &Limits::default())
        );
    }
    println!(
        "{} automata in {:?}; slowest {:?}",
        cases.len(),
        elapsed,
        slowest
    );
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn long_bounds_compile_and_hopeless_formulas_fail_fast() {
    for (source, states) in [
        ("G (a -> F[0,10000] b)", 10_002),
        ("G (a -> F[1,5000] b)", 5_002),
        ("F[5000,5000] a", 5_003),
        ("G (a -> O[0,3000] b)", 3_002),
    ] {
        let begun = std::time::Instant::now();
        let parsed = parse_one(source);
        let dfa = compile(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
        println!("{source}: {} states in {:?}", dfa.len(), begun.elapsed());
        assert_eq!(dfa.len(), states, "{source}");
    }
    let mut nested = String::from("a");
    for i in 0..20 {
        nested = format!(
            "{}[{},{}] ({} & {nested})",
            if i % 2 == 0 { "F" } else { "G" },
            i % 3,
            10 + i,
            ["a", "b", "c"][i % 3]
        );
    }
    let wide: Vec<String> = (0..30).map(|i| format!("(F p{i} | G q{i})")).collect();
    for source in [nested, wide.join(" & "), "G (a -> F[40,60] b)".to_owned()] {
        let begun = std::time::Instant::now();
        let parsed = parse_one(&source);
        let error = compile(&parsed.formulas, parsed.root, &Limits::default()).unwrap_err();
        println!("{error} after {:?}", begun.elapsed());
        assert!(matches!(error, CompileError::Limit(limit) if limit.demand > limit.limit));
    }
}
