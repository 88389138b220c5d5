//! Automata over infinite words against the conformance suite.

use std::collections::BTreeMap;

use crate::support::ltl::{Parsed, parse, parse_one, text};
use guard_automata::{Atom, Limits, omega};
use serde_json::Value;

/// The letters of a part of a word, by the numbers of atoms.
fn letters(case: &Value, key: &str, names: &BTreeMap<String, u32>) -> Vec<Vec<u32>> {
    let number = |name: &Value| names.get(name.as_str().unwrap()).copied();
    let letter = |position: &Value| {
        position
            .as_array()
            .unwrap()
            .iter()
            .filter_map(number)
            .collect()
    };
    case[key].as_array().unwrap().iter().map(letter).collect()
}

fn negation(parsed: &mut Parsed) -> guard_automata::FormulaId {
    parsed.formulas.not(parsed.root)
}

#[test]
fn lassos() {
    let limits = Limits::default();
    let cases = crate::support::suite("lasso.jsonl");
    let mut failures = Vec::new();
    let mut known: BTreeMap<String, (omega::Buchi, omega::Buchi, omega::Deterministic)> =
        BTreeMap::new();
    for case in &cases {
        let mut parsed = parse_one(text(case, "formula"));
        let stem = letters(case, "stem", &parsed.names);
        let cycle = letters(case, "loop", &parsed.names);
        let word: Vec<Vec<u32>> = stem.iter().chain(&cycle).cloned().collect();
        let holds = |i: usize, atom: Atom| word[i].contains(&atom.0);
        let expected = case["holds"].as_bool().unwrap();
        let value = omega::eval(
            &parsed.formulas,
            parsed.root,
            stem.len(),
            cycle.len(),
            holds,
        );
        let not = negation(&mut parsed);
        let (buchi, complement, deterministic) = known
            .entry(text(case, "formula").to_owned())
            .or_insert_with(|| {
                let make = |f| omega::translate(&parsed.formulas, f, &limits).unwrap();
                let deterministic =
                    omega::deterministic(&parsed.formulas, parsed.root, &limits).unwrap();
                (make(parsed.root), make(not), deterministic)
            });
        let state_based = buchi.with_accepting_states(&limits).unwrap();
        let accepted = buchi.accepts(stem.len(), cycle.len(), holds);
        let refused = complement.accepts(stem.len(), cycle.len(), holds);
        let by_states = state_based.accepts(stem.len(), cycle.len(), holds);
        assert_eq!(accepted, by_states, "{case}");
        let determined = deterministic.accepts(stem.len(), cycle.len(), holds);
        if (value, accepted, refused, determined) != (expected, expected, !expected, expected) {
            failures.push(format!(
                "{} {}: expected {expected}, eval {value} accepted {accepted} refused {refused} determined {determined}",
                text(case, "id"),
                text(case, "formula")
            ));
        }
    }
    println!("{} lassos, {} failures", cases.len(), failures.len());
    assert!(
        failures.is_empty(),
        "{}",
        failures[..failures.len().min(40)].join("\n")
    );
}

#[test]
fn relations_over_infinite_words() {
    let limits = Limits::default();
    let mut failures = Vec::new();
    let mut n_cases = 0;
    for case in crate::support::suite("relations.jsonl")
        .iter()
        .filter(|case| text(case, "semantics") == "infinite")
    {
        let texts: Vec<&str> = ["f", "g"]
            .iter()
            .filter_map(|key| case[*key].as_str())
            .collect();
        let (mut formulas, roots, _) = parse(&texts);
        let negated: Vec<_> = roots.iter().map(|&root| formulas.not(root)).collect();
        let make = |f| omega::translate(&formulas, f, &limits).unwrap();
        let excess = |i: usize, j: usize| {
            make(roots[i])
                .common_word(&make(negated[j]), &limits)
                .unwrap()
                .is_some()
        };
        let found = match text(case, "kind") {
            "equivalent" => !excess(0, 1) && !excess(1, 0),
            "implies" => !excess(0, 1),
            "satisfiable" => !make(roots[0]).is_empty(),
            "valid" => make(negated[0]).is_empty(),
            kind @ ("safety" | "cosafety") => {
                let root = if kind == "safety" {
                    roots[0]
                } else {
                    negated[0]
                };
                omega::class(&formulas, root, &limits).unwrap() == omega::Class::Safety
            }
            other => panic!("{other}"),
        };
        n_cases += 1;
        if found != case["expect"].as_bool().unwrap() {
            failures.push(case.to_string());
        }
    }
    println!("{n_cases} relations, {} failures", failures.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
#[test]
fn sizes_of_buchi_automata() {
    let (mut ours, mut theirs) = (0, 0);
    let (mut our_states, mut their_states) = (0, 0);
    let mut worse = Vec::new();
    for case in crate::support::suite("automata.jsonl") {
        let Some(reference) = case["tgba_states"].as_u64() else {
            continue;
        };
        let parsed = parse_one(text(&case, "formula"));
        let size = match omega::translate(&parsed.formulas, parsed.root, &Limits::default()) {
            Ok(buchi) => {
                let state_based = buchi.with_accepting_states(&Limits::default()).unwrap();
                assert!(state_based.is_state_based(), "{case}");
                let (size, reference) = (
                    state_based.len() as u64,
                    case["ba_states"].as_u64().unwrap(),
                );
                our_states += size;
                their_states += reference;
                if size > reference {
                    worse.push(format!(
                        "{size:5} {reference:5} with accepting states {} {}",
                        text(&case, "name"),
                        text(&case, "formula")
                    ));
                }
                buchi.len() as u64
            }
            Err(error) => {
                worse.push(format!("{} {error}", text(&case, "name")));
                1000
            }
        };
        ours += size;
        theirs += reference;
        if size > reference {
            worse.push(format!(
                "{size:5} {reference:5} {} {}",
                text(&case, "name"),
                text(&case, "formula")
            ));
        }
    }
    println!("transition-based: {ours} states, the reference {theirs}");
    println!("state-based: {our_states} states, the reference {their_states}");
    println!("{}", worse.join("\n"));
    assert!(ours <= theirs, "{}", worse.join("\n"));
    assert!(our_states <= their_states, "{}", worse.join("\n"));
}
