//! Automata against all cases of the conformance suite: values, verdicts, relations and sizes.

use std::collections::BTreeMap;

use crate::support::ltl::{Parsed, parse, parse_one, text};
use guard_automata::{
    CompileError, Dfa, Instant, LazyDfa, Limits, PathChecker, Traces, Verdict, compile,
    compile_raw, eval, eval_empty,
};

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
    let cases = crate::support::suite("finite.jsonl");
    let mut known: BTreeMap<String, (Parsed, Dfa, LazyDfa, PathChecker)> = BTreeMap::new();
    let mut failures = Vec::new();
    for case in &cases {
        let id = text(case, "id");
        let source = text(case, "formula");
        let (parsed, dfa, lazy, checker) = known.entry(source.to_owned()).or_insert_with(|| {
            let parsed = parse_one(source);
            let dfa = compile(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
            let lazy = LazyDfa::new(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
            let checker =
                PathChecker::new(&parsed.formulas, parsed.root, &Limits::default()).unwrap();
            (parsed, dfa, lazy, checker)
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
        let mut running = lazy.initial();
        if dfa.verdict(state) != verdict(text(case, "rv0")) {
            fail(format!("rv0 is {:?}", dfa.verdict(state)));
        }
        let mut final_at = None;
        for (k, letter) in trace.iter().enumerate() {
            state = dfa.step(state, |atom| letter.contains(&atom.0));
            let moment = Instant {
                position: k as u64,
                time: None,
            };
            lazy.step(&mut running, moment, |atom| letter.contains(&atom.0))
                .unwrap();
            let found = dfa.verdict(state);
            if found != verdict(case["rv"][k].as_str().unwrap()) {
                fail(format!("rv[{k}] is {found:?}"));
            }
            if found.is_final() && final_at.is_none() {
                final_at = Some(k as u64);
            }
            if running.verdict() != found {
                fail(format!(
                    "the lazy automaton says {:?} after {k}",
                    running.verdict()
                ));
            }
        }
        let found = checker
            .check(trace.len(), |i, atom| trace[i].contains(&atom.0))
            .unwrap();
        if found.is_none() != expected {
            fail(format!("the path checker finds {found:?}"));
        }
        if dfa.accepting(state) != expected {
            fail(format!("the automaton gives {}", dfa.accepting(state)));
        }
        if final_at != case["final_at"].as_u64() {
            fail(format!("final_at is {final_at:?}"));
        }
    }
    println!("{} cases, {} formulas", cases.len(), known.len());
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
    for case in crate::support::suite("relations.jsonl")
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
    let cases = crate::support::suite("automata.jsonl");
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
