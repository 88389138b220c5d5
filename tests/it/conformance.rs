//! The temporal-logic suites, through the full path of `guard audit` (text of a spec, JSON Lines of traces) and through
//! the reference.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use guard_lang::check::Limits;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::value::{Cell, Value};
use guard_lang::verdict::Verdict;
use guard_lang::{front, hir};
use serde_json::Value as Json;

/// The atoms of a formula of the suite: small letters first; capitals are operators.
fn atoms(formula: &str) -> BTreeSet<String> {
    formula
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .filter(|word| {
            word.starts_with(|c: char| c.is_ascii_lowercase())
                && *word != "true"
                && *word != "false"
        })
        .map(str::to_owned)
        .collect()
}

/// `N true` holds everywhere, also on the empty trace: it makes a property of formulas without temporal operators.
fn spec_of(formula: &str, atoms: &BTreeSet<String>) -> String {
    let fields: String = atoms.iter().fold(String::new(), |mut text, atom| {
        writeln!(text, "  {atom}: bool = false").unwrap();
        text
    });
    format!("event {{\n{fields}}}\nproperty p = ({formula}) and N true\n")
}

fn verdict(word: &str) -> Verdict {
    match word {
        "satisfied" => Verdict::Satisfied,
        "violated" => Verdict::Violated,
        "presumably_satisfied" => Verdict::PresumablySatisfied,
        "presumably_violated" => Verdict::PresumablyViolated,
        other => panic!("no verdict {other}"),
    }
}

struct Case {
    id: String,
    atoms: BTreeSet<String>,
    /// The atoms that are true at each position.
    trace: Vec<BTreeSet<String>>,
    value: Verdict,
    prefixes: Vec<Verdict>,
    final_at: Option<u64>,
}

impl Case {
    fn new(json: &Json) -> Case {
        let words = |json: &Json| -> Vec<String> {
            json.as_array()
                .unwrap()
                .iter()
                .map(|word| word.as_str().unwrap().to_owned())
                .collect()
        };
        let trace: Vec<BTreeSet<String>> = json["trace"]
            .as_array()
            .unwrap()
            .iter()
            .map(|set| words(set).into_iter().collect())
            .collect();
        let mut atoms = atoms(json["formula"].as_str().unwrap());
        atoms.extend(trace.iter().flatten().cloned());
        let mut prefixes = vec![verdict(json["rv0"].as_str().unwrap())];
        prefixes.extend(words(&json["rv"]).iter().map(|word| verdict(word)));
        Case {
            id: json["id"].as_str().unwrap().to_owned(),
            atoms,
            trace,
            value: if json["ltlf"].as_bool().unwrap() {
                Verdict::Satisfied
            } else {
                Verdict::Violated
            },
            prefixes,
            final_at: json["final_at"].as_u64(),
        }
    }

    /// One line: the first `n` positions.
    fn line(&self, n: usize, complete: bool) -> String {
        let events: Vec<Json> = self.trace[..n]
            .iter()
            .map(|set| {
                set.iter()
                    .map(|atom| (atom.clone(), Json::Bool(true)))
                    .collect::<serde_json::Map<_, _>>()
                    .into()
            })
            .collect();
        serde_json::json!({"id": format!("{n}"), "complete": complete, "events": events})
            .to_string()
    }
}

#[test]
fn finite_traces_through_the_audit() {
    let mut differ = Vec::new();
    let cases = crate::support::suite("finite.jsonl");
    for json in &cases {
        let case = Case::new(json);
        let text = spec_of(json["formula"].as_str().unwrap(), &case.atoms);
        let checked = front("case.guard", &text, &NoFiles, Limits::default());
        let Some(spec) = checked.spec else {
            panic!("{}: {:?}\n{text}", case.id, checked.diagnostics)
        };
        let mut lines = case.line(case.trace.len(), true);
        for n in 0..=case.trace.len() {
            lines.push('\n');
            lines.push_str(&case.line(n, false));
        }
        let judged = crate::support::judge(&spec, "case.jsonl", lines.as_bytes());
        assert_eq!(judged.reports.len(), case.trace.len() + 2, "{}", case.id);
        let whole = &judged.reports[0].verdicts[0];
        let last = case
            .trace
            .len()
            .checked_sub(1)
            .map(|last| u32::try_from(last).unwrap());
        let at = case.final_at.map(|at| u32::try_from(at).unwrap()).or(last);
        if (whole.verdict, whole.is_final, whole.at) != (case.value, true, at) {
            differ.push(format!(
                "{}: {:?} at {:?}, not {:?} at {at:?}",
                case.id, whole.verdict, whole.at, case.value
            ));
        }
        for (n, meant) in case.prefixes.iter().enumerate() {
            let seen = judged.reports[n + 1].verdicts[0].verdict;
            if seen != *meant {
                differ.push(format!("{}: {seen:?} after {n}, not {meant:?}", case.id));
            }
        }
    }
    assert!(
        differ.is_empty(),
        "{} differ:\n{}",
        differ.len(),
        differ[..differ.len().min(20)].join("\n")
    );
    println!("{} cases through the audit, 0 differ", cases.len());
}

fn record(spec: &hir::Spec, case: &Case) -> Record {
    let file = std::sync::Arc::from("case.jsonl");
    let steps = case.trace.iter().enumerate().map(|(index, set)| Step {
        index: u32::try_from(index).unwrap(),
        cells: spec
            .schema
            .fields
            .iter()
            .map(|field| Cell::Known(Value::Bool(set.contains(field.name.as_str()))))
            .collect(),
    });
    Record {
        origin: Origin {
            file: std::sync::Arc::clone(&file),
            below: file,
            line: 1,
            ordinal: 0,
        },
        id: None,
        complete: Some(true),
        meta: Box::default(),
        steps: steps.collect(),
        problems: Vec::new(),
    }
}

#[test]
fn finite_traces_by_the_reference_through_the_checker() {
    // The reference is slow: every seventh case here, all of them (without the checker) in `reference_conformance.rs`.
    let cases = crate::support::suite("finite.jsonl");
    let mut n = 0;
    for json in cases.iter().step_by(7) {
        let case = Case::new(json);
        let text = spec_of(json["formula"].as_str().unwrap(), &case.atoms);
        let spec = front("case.guard", &text, &NoFiles, Limits::default())
            .spec
            .unwrap();
        let judged = guard_reference::judge(&spec, &record(&spec, &case));
        let judgement = judged[0].1.as_ref().unwrap();
        assert_eq!(
            (judgement.verdict, judgement.is_final),
            (case.value, true),
            "{}\n{text}",
            case.id
        );
        n += 1;
    }
    println!("{n} cases by the reference, 0 differ");
}

#[test]
fn wrong_texts_are_refused() {
    for json in crate::support::suite("errors.jsonl") {
        let formula = json["formula"].as_str().unwrap();
        let mut declared = atoms(formula);
        declared.extend(["a", "b", "c"].map(str::to_owned));
        let fields: String = declared
            .iter()
            .map(|atom| format!("  {atom}: bool = false\n"))
            .collect();
        let text = format!("event {{\n{fields}}}\nproperty p = {formula}\n");
        let checked = front("case.guard", &text, &NoFiles, Limits::default());
        assert!(
            checked.spec.is_none(),
            "{}: `{formula}` is accepted ({})",
            json["id"],
            json["why"]
        );
        let errors = checked
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .count();
        assert_eq!(
            errors, 1,
            "{}: `{formula}`: {:?}",
            json["id"], checked.diagnostics
        );
    }
}
