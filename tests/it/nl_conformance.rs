//! Drafts of the requirement set, measured: every figure for every kind of requirement, with what was missed.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use guard_english::draft::{Document, Draft, Status, draft};
use guard_lang::check::Limits;
use guard_lang::modules::NoFiles;
use serde_json::Value;

/// Hits and cases of one figure.
#[derive(Clone, Copy, Default)]
struct Score {
    hits: u32,
    cases: u32,
}

impl Score {
    fn count(&mut self, hit: bool) {
        self.hits += u32::from(hit);
        self.cases += 1;
    }

    fn share(self) -> f64 {
        if self.cases == 0 {
            1.0
        } else {
            f64::from(self.hits) / f64::from(self.cases)
        }
    }
}

/// Every figure, in the order in which they are shown, and the least share that is accepted.
const FIGURES: &[(&str, f64)] = &[
    ("modality", 0.99),
    ("modality (strict)", 0.85),
    ("domain", 0.97),
    ("template first", 0.98),
    ("template among five", 1.0),
    ("formula", 1.0),
    ("bound and unit", 1.0),
    ("count", 1.0),
    ("probability", 1.0),
    ("status", 1.0),
    ("type-checks", 1.0),
    ("readback", 1.0),
];

fn cases(path: &str) -> Option<Vec<Value>> {
    let file = crate::support::shared(path)?;
    let text = std::fs::read_to_string(file).unwrap();
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// The figures of one requirement.
fn judged(case: &Value, draft: &Draft) -> Vec<(&'static str, bool)> {
    let mut out = Vec::new();
    let modality = draft.modality.as_str();
    let strict = case["modality"] == modality;
    let alternative = case["modality_alt"]
        .as_array()
        .is_some_and(|others| others.iter().any(|other| other == modality));
    out.push(("modality", strict || alternative));
    out.push(("modality (strict)", strict));
    out.push(("domain", case["domain"] == draft.domain.as_str()));
    let clear = case["modality"] != "unclear";
    out.push((
        "status",
        clear == (draft.status == Status::Formal) && (clear || draft.question.is_some()),
    ));
    let first = case["template"].as_str() == draft.template;
    out.push(("template first", first));
    if let Some(template) = case["template"].as_str() {
        let among = draft
            .alternatives
            .iter()
            .take(4)
            .any(|other| other.template == Some(template));
        out.push(("template among five", first || among));
    }
    if let Some(reference) = case["formula"].as_str() {
        let seconds = case["bound"]["seconds"].is_number();
        let found = draft.formula.as_deref();
        let same = found.is_some_and(|found| {
            crate::support::nl_formula::equivalent(found, reference, seconds).unwrap()
        });
        out.push(("formula", same));
        if let (Some(readback), Some(found)) = (&draft.readback, found) {
            let again = guard_english::draft::draft(readback);
            let same = again.formula.is_some_and(|again| {
                crate::support::nl_formula::equivalent(&again, found, false).unwrap_or(false)
            });
            out.push(("readback", same));
        }
    }
    let bound = serde_json::to_value(&draft.bound).unwrap();
    // The next step with or without its bound: both are right.
    let next = case["bound"]["steps"] == 1 && bound.is_null();
    out.push(("bound and unit", case["bound"] == bound || next));
    if !case["count"].is_null() {
        out.push(("count", case["count"] == serde_json::json!(draft.count)));
    }
    if !case["prob"].is_null() {
        let probability = serde_json::to_value(&draft.probability).unwrap();
        out.push(("probability", case["prob"] == probability));
    }
    out
}

#[test]
fn the_requirement_set_is_drafted() {
    let Some(cases) = cases("nl/dev.jsonl") else {
        return;
    };
    let mut scores: BTreeMap<(&str, String), Score> = BTreeMap::new();
    let mut misses = String::new();
    for case in &cases {
        let text = case["text"].as_str().unwrap();
        let draft = draft(text);
        let mut found = judged(case, &draft);
        found.push(("type-checks", type_checks(text)));
        for (figure, hit) in found {
            for group in ["all", case["modality"].as_str().unwrap()] {
                scores
                    .entry((figure, group.to_owned()))
                    .or_default()
                    .count(hit);
            }
            if !hit && figure != "modality (strict)" {
                let id = case["id"].as_str().unwrap();
                let formula = draft.formula.as_deref().unwrap_or("none");
                let _ = writeln!(
                    misses,
                    "{id} {figure}: {text}\n    {formula}\n    expected {}",
                    case["formula"]
                );
            }
        }
    }
    let groups: std::collections::BTreeSet<&String> =
        scores.keys().map(|(_, group)| group).collect();
    for group in groups {
        println!("{group}");
        for (figure, _) in FIGURES {
            if let Some(score) = scores.get(&(*figure, group.clone())) {
                println!(
                    "  {figure:<20} {:>3}/{:<3} {:5.1} %",
                    score.hits,
                    score.cases,
                    100.0 * score.share()
                );
            }
        }
    }
    println!("{misses}");
    for (figure, floor) in FIGURES {
        let score = scores[&(*figure, "all".to_owned())];
        assert!(
            score.share() >= *floor,
            "{figure}: {}/{} is below {floor}\n{misses}",
            score.hits,
            score.cases
        );
    }
}

/// Whether the spec of a requirement has no error, and nothing to tell but what is still to be written.
fn type_checks(text: &str) -> bool {
    let spec = Document::new(text).to_guard("a test");
    let checked = guard_lang::front("draft.guard", &spec, &NoFiles, Limits::default());
    let clean = checked
        .diagnostics
        .iter()
        .all(|found| found.code.as_str() == "G0950");
    if checked.spec.is_none() || !clean {
        println!("{spec}\n{:?}", checked.diagnostics);
    }
    checked.spec.is_some() && clean
}
