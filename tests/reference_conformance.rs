//! The temporal-logic suite on finite traces: value, four-valued verdict after every prefix, index of finality.

mod reference_support;

use std::fmt::Write as _;
use std::path::PathBuf;

use guard_lang::ids::PropertyId;
use guard_lang::reference;
use guard_lang::types::Type;
use guard_lang::value::Cell;
use guard_lang::verdict::Verdict;
use reference_support::{SpecBuilder, b, ltl};
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    id: String,
    formula: String,
    trace: Vec<Vec<String>>,
    ltlf: bool,
    rv: Vec<String>,
    final_at: Option<u32>,
    rv0: String,
}

/// The cases, where the suite is at hand.
fn cases() -> Option<Vec<Case>> {
    let file =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/conformance/ltl/finite.jsonl");
    let Ok(text) = std::fs::read_to_string(&file) else {
        assert!(
            std::env::var_os("CI").is_none(),
            "the suite must be there in CI: {}",
            file.display()
        );
        eprintln!("skipped: {} is not there", file.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a case is JSON"))
            .collect(),
    )
}

/// What differs, or that the case is too large.
fn check(case: &Case) -> Result<Option<String>, reference::TooLarge> {
    let mut builder = SpecBuilder::new();
    let formula = ltl::parse(&mut builder, &case.formula);
    let property = builder.property("p", formula);
    for atom in case.trace.iter().flatten() {
        builder.field(atom, Type::Bool);
    }
    let names: Vec<String> = builder
        .spec
        .signature
        .fields
        .iter()
        .map(|field| field.name.to_string())
        .collect();
    let steps: Vec<Vec<(&str, Cell)>> = case
        .trace
        .iter()
        .map(|atoms| {
            names
                .iter()
                .map(|name| (name.as_str(), b(atoms.contains(name))))
                .collect()
        })
        .collect();
    let steps: Vec<&[(&str, Cell)]> = steps.iter().map(Vec::as_slice).collect();
    let record = builder.record(&steps);
    let spec = &builder.spec;

    let mut wrong = String::new();
    let mut differ = |what: &str, expected: String, found: String| {
        if expected != found {
            let _ = writeln!(
                wrong,
                "{}: `{}`: {what}: expected {expected}, found {found}",
                case.id, case.formula
            );
        }
    };
    let prefixes = reference::prefix_verdicts(spec, &record, property)?;
    differ("rv0", case.rv0.clone(), prefixes.empty.as_str().to_owned());
    let rv: Vec<&str> = prefixes
        .steps
        .iter()
        .map(|(_, verdict)| verdict.as_str())
        .collect();
    differ("rv", case.rv.join(" "), rv.join(" "));
    let final_at = prefixes
        .steps
        .iter()
        .find(|(_, verdict)| verdict.is_final())
        .map(|(at, _)| *at);
    differ(
        "final_at",
        format!("{:?}", case.final_at),
        format!("{final_at:?}"),
    );

    let value = if case.ltlf {
        Verdict::Satisfied
    } else {
        Verdict::Violated
    };
    let judgements = reference::judge(spec, &record);
    assert_eq!(judgements.len(), 1, "one property is judged");
    for (id, judgement) in judgements {
        let judgement = judgement?;
        assert_eq!(id, PropertyId::new(0), "the property is judged");
        differ(
            "ltlf",
            value.as_str().to_owned(),
            judgement.verdict.as_str().to_owned(),
        );
        let last = case
            .trace
            .len()
            .checked_sub(1)
            .and_then(|last| u32::try_from(last).ok());
        differ(
            "at",
            format!("{:?}", case.final_at.or(last)),
            format!("{:?}", judgement.at),
        );
        differ(
            "is_final",
            "true".to_owned(),
            judgement.is_final.to_string(),
        );
    }
    Ok((!wrong.is_empty()).then_some(wrong))
}

#[test]
fn finite_traces() {
    let Some(cases) = cases() else { return };
    let (mut wrong, mut large) = (Vec::new(), Vec::new());
    for case in &cases {
        match check(case) {
            Ok(None) => {}
            Ok(Some(difference)) => wrong.push(difference),
            Err(too_large) => large.push(format!("{}: `{}`: {too_large}", case.id, case.formula)),
        }
    }
    println!(
        "{} cases, {} differ, {} are too large",
        cases.len(),
        wrong.len(),
        large.len()
    );
    for line in large.iter().chain(wrong.iter().take(40)) {
        println!("{line}");
    }
    assert!(
        wrong.is_empty(),
        "{} of {} cases differ",
        wrong.len(),
        cases.len()
    );
    assert!(
        large.is_empty(),
        "{} of {} cases are too large",
        large.len(),
        cases.len()
    );
}
