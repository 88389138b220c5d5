//! The reference on the temporal-logic suite of finite traces: values, four-valued verdicts after every prefix, index
//! of finality.

use crate::support::shared;
use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::support::core::{SpecBuilder, b};
use crate::support::core_ltl as ltl;
use guard_lang::ids::PropertyId;
use guard_lang::input::record::Record;
use guard_lang::types::Type;
use guard_lang::value::Cell;
use guard_lang::verdict::Verdict;
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
    let text = std::fs::read_to_string(shared("conformance/ltl/finite.jsonl")?).unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a case is JSON"))
            .collect(),
    )
}

/// A spec with the formula as its property, and the names of its atoms and of those of the trace.
fn spec(case: &Case) -> (SpecBuilder, Vec<String>) {
    let mut builder = SpecBuilder::new();
    let formula = ltl::parse(&mut builder, &case.formula);
    builder.property("p", formula);
    for atom in case.trace.iter().flatten() {
        builder.field(atom, Type::Bool);
    }
    let fields = builder.spec.schema.fields.iter();
    let names = fields.map(|field| field.name.to_string()).collect();
    (builder, names)
}

/// The record of a trace whose cells are given by position and name.
fn record(
    builder: &SpecBuilder,
    names: &[String],
    len: usize,
    cell: &dyn Fn(usize, &str) -> Cell,
) -> Record {
    let cells = |i: usize| {
        names
            .iter()
            .map(|name| (name.as_str(), cell(i, name)))
            .collect()
    };
    let steps: Vec<Vec<(&str, Cell)>> = (0..len).map(cells).collect();
    let steps: Vec<&[(&str, Cell)]> = steps.iter().map(Vec::as_slice).collect();
    builder.record(&steps)
}

/// What differs, or that the case is too large.
fn check(case: &Case) -> Result<Option<String>, guard_reference::TooLarge> {
    let (builder, names) = spec(case);
    let cell = |i: usize, name: &str| b(case.trace[i].iter().any(|atom| atom == name));
    let record = record(&builder, &names, case.trace.len(), &cell);
    let (spec, property) = (&builder.spec, PropertyId::new(0));

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
    let prefixes = guard_reference::prefix_verdicts(spec, &record, property)?;
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
    let judgements = guard_reference::judge(spec, &record);
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

/// With a few letters unknown, the verdict is what all completions say, each judged by itself.
#[test]
fn unknown_letters() {
    let Some(cases) = cases() else { return };
    let all = std::env::var_os("GUARD_ALL_CASES").is_some();
    let sample = if all { 1 } else { 8 };
    let (mut n_checked, mut n_unknown) = (0, 0);
    for (number, case) in cases.iter().enumerate() {
        let (builder, names) = spec(case);
        let len = case.trace.len();
        if number % sample != 0 || len == 0 || len > 12 || names.is_empty() {
            continue;
        }
        // Up to four unknown cells, scattered by the number of the case.
        let unknown: BTreeSet<(usize, usize)> = (1..=4)
            .map(|nth| ((number * 7 + nth * nth) % len, (number + nth) % names.len()))
            .collect();
        let unknown: Vec<(usize, usize)> = unknown.into_iter().collect();
        let verdicts = |guess: Option<usize>| {
            let cell = |i: usize, name: &str| {
                let place = unknown
                    .iter()
                    .position(|(step, atom)| (*step, names[*atom].as_str()) == (i, name));
                match (place, guess) {
                    (Some(_), None) => Cell::Unknown,
                    (Some(place), Some(guess)) => b(guess >> place & 1 == 1),
                    (None, _) => b(case.trace[i].iter().any(|atom| atom == name)),
                }
            };
            let record = record(&builder, &names, len, &cell);
            guard_reference::prefix_verdicts(&builder.spec, &record, PropertyId::new(0))
                .expect("small")
                .steps
        };
        let completions: Vec<_> = (0..1 << unknown.len())
            .map(|guess| verdicts(Some(guess)))
            .collect();
        for (k, (_, found)) in verdicts(None).into_iter().enumerate() {
            let outcomes: BTreeSet<Verdict> = completions.iter().map(|steps| steps[k].1).collect();
            let outcomes: Vec<Verdict> = outcomes.into_iter().collect();
            let expected = match outcomes[..] {
                [one] => one,
                [Verdict::Satisfied, Verdict::PresumablySatisfied] => Verdict::PresumablySatisfied,
                [Verdict::Violated, Verdict::PresumablyViolated] => Verdict::PresumablyViolated,
                _ => Verdict::Unknown,
            };
            assert_eq!(
                found, expected,
                "{}: `{}` after step {k}: {outcomes:?}",
                case.id, case.formula
            );
            n_unknown += usize::from(found == Verdict::Unknown);
        }
        n_checked += 1;
    }
    println!(
        "{n_checked} of {} cases with unknown letters, {n_unknown} verdicts unknown",
        cases.len()
    );
    if !all {
        println!("one case in {sample}; GUARD_ALL_CASES=1 for all");
    }
}
