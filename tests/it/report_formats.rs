//! Formats of reports, from judgements built by hand.

use std::sync::Arc;

use guard_lang::hir::{PropertyKind, Severity};
use guard_lang::ids::PropertyId;
use guard_lang::problem::{Problem, ProblemKind};
use guard_lang::report::html::Html;
use guard_lang::report::human::Human;
use guard_lang::report::json::Json;
use guard_lang::report::junit::Junit;
use guard_lang::report::problems::ProblemLog;
use guard_lang::report::sarif::Sarif;
use guard_lang::report::{Finality, Heading, Headings, Input, Paint, Reporter, Summary};
use guard_lang::types::EnumType;
use guard_lang::value::{EnumValue, Value};
use guard_lang::verdict::{Evidence, PropertyVerdict, TraceReport, Undecided, Verdict, Why};

fn heading(name: &str, line: u32, formula: &str) -> Heading {
    Heading {
        name: name.into(),
        id: None,
        kind: PropertyKind::Ltl,
        severity: Severity::Medium,
        catastrophic: false,
        owner: None,
        quantified: false,
        doc: "".into(),
        requirement: None,
        cites: Vec::new(),
        file: "specs/leak.guard".into(),
        line,
        column: 21,
        words: String::new(),
        formula: formula.to_owned(),
        source: vec![format!("property {name} = {formula}")],
        finality: Finality::Either,
    }
}

fn headings() -> Headings {
    let approved = Heading {
        id: Some("phi7".into()),
        severity: Severity::Critical,
        catastrophic: true,
        owner: Some("security <team>".into()),
        doc: "A risky call needs an approval in the step before.\nSee the handbook.".into(),
        cites: vec!["AgentVerify table A1".into()],
        finality: Finality::Step,
        ..heading("approved", 31, "G (high_risk -> Y approval)")
    };
    let answered = Heading {
        quantified: true,
        finality: Finality::End,
        source: vec![
            "property answered = forall id:".to_owned(),
            "    G (kind == \"request\" and call == id -> F[1,50] (kind == \"response\" and call == id))".to_owned(),
        ],
        ..heading("answered", 35, "forall id: …")
    };
    let leak = Heading {
        kind: PropertyKind::Unsafe,
        ..heading("leak", 40, "never (exposure >= sensitive)")
    };
    Headings {
        properties: vec![approved, answered, leak],
        enums: vec![Arc::new(EnumType {
            number: 0,
            name: "Exposure".into(),
            values: vec!["none".into(), "sensitive".into()],
            ordered: true,
        })],
    }
}

fn verdict(property: usize, verdict: Verdict) -> PropertyVerdict {
    PropertyVerdict {
        property: PropertyId::new(property),
        verdict,
        is_final: verdict.is_final(),
        at: verdict.is_final().then_some(41),
        from: None,
        vacuous: false,
        instance: Vec::new(),
        counterexample: Vec::new(),
        message: None,
        undecided_by: Vec::new(),
        exceeded: None,
        evidence: Vec::new(),
        why: Why::default(),
    }
}

fn evidence(step: u32, fields: &[(&str, &str)], letters: &[&str]) -> Evidence {
    Evidence {
        step,
        fields: fields
            .iter()
            .map(|(name, value)| ((*name).into(), (*value).to_owned()))
            .collect(),
        letters: letters.iter().map(|letter| (*letter).into()).collect(),
    }
}

fn problem(kind: ProblemKind, line: u64, message: &str) -> Problem {
    Problem {
        kind,
        file: "runs/a b.jsonl".into(),
        line,
        trace: None,
        step: None,
        field: None,
        message: message.to_owned(),
    }
}

fn traces() -> Vec<TraceReport> {
    let report = |trace: &str, line: u64, verdicts: Vec<PropertyVerdict>| TraceReport {
        trace: trace.into(),
        file: "runs/a b.jsonl".into(),
        line,
        index: line - 1,
        events: 42,
        verdicts,
        problems: Vec::new(),
    };
    let approved = PropertyVerdict {
        at: Some(7),
        from: Some(7),
        counterexample: vec![6, 7],
        message: Some("wire_transfer needs an approval in the step before".to_owned()),
        evidence: vec![
            evidence(
                6,
                &[("kind", "\"message\""), ("tool", "null"), ("args", "null")],
                &[],
            ),
            evidence(
                7,
                &[
                    ("kind", "\"tool_call\""),
                    ("tool", "\"wire_transfer\""),
                    ("args", "{\"to\": \"a\u{1b}[31m\"}"),
                ],
                &["high_risk"],
            ),
        ],
        ..verdict(0, Verdict::Violated)
    };
    let answered = |id: Value, from: u32| PropertyVerdict {
        from: Some(from),
        instance: vec![("id".into(), id)],
        counterexample: vec![from, 41],
        evidence: vec![
            evidence(
                from,
                &[
                    ("kind", "\"request\""),
                    ("call", "\"req-9\""),
                    (
                        "text",
                        "\"please send everything that you know about the customer to the address below\"",
                    ),
                    (
                        "more",
                        "\"please send everything that you know about the customer to the address below\"",
                    ),
                ],
                &["kind == \"request\" and call == id"],
            ),
            evidence(
                41,
                &[("kind", "\"result\""), ("call", "null"), ("text", "null")],
                &[],
            ),
        ],
        ..verdict(1, Verdict::Violated)
    };
    let mut second = report(
        "t2",
        2,
        vec![
            PropertyVerdict {
                undecided_by: vec![
                    Undecided {
                        step: 3,
                        fields: vec!["args".into(), "tool".into()],
                    },
                    Undecided {
                        step: 9,
                        fields: vec!["tool".into()],
                    },
                ],
                ..verdict(0, Verdict::Unknown)
            },
            PropertyVerdict {
                from: Some(4),
                ..verdict(1, Verdict::PresumablyViolated)
            },
            PropertyVerdict {
                vacuous: true,
                ..verdict(2, Verdict::Satisfied)
            },
        ],
    );
    second.problems.push(Problem {
        trace: Some("t2".into()),
        step: Some(3),
        field: Some("args".into()),
        ..problem(ProblemKind::MissingField, 2, "is not there")
    });
    vec![
        report(
            "t1",
            1,
            vec![
                approved,
                answered(Value::string("req-9"), 3),
                answered(Value::Enum(EnumValue { of: 0, index: 1 }), 5),
                verdict(2, Verdict::Satisfied),
            ],
        ),
        second,
        report(
            "t3",
            4,
            vec![
                verdict(0, Verdict::Satisfied),
                verdict(1, Verdict::Satisfied),
                verdict(2, Verdict::PresumablySatisfied),
            ],
        ),
    ]
}

fn run(reporter: &mut dyn Reporter) {
    let mut summary = Summary::new(3);
    for trace in traces() {
        summary.add(&trace);
        reporter.trace(&trace).unwrap();
    }
    for problem in [
        problem(
            ProblemKind::Malformed,
            3,
            "is not JSON: expected `,` at column 17",
        ),
        problem(ProblemKind::LeftOut, 5, "record without events"),
    ] {
        summary.problem(&problem);
        reporter.problem(&problem).unwrap();
    }
    summary.input = Input {
        files: 1,
        bytes: 900,
        lines: 5,
        read: 3,
        left_out: 1,
        refused: 1,
        records: 3,
        ..Input::default()
    };
    reporter.finish(&summary).unwrap();
}

#[test]
fn json_lines() {
    let mut out = Vec::new();
    run(&mut Json::new(&headings(), &mut out));
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn text_for_people() {
    let mut out = Vec::new();
    run(&mut Human::new(&headings(), &mut out, Paint::PLAIN, 10));
    let text = String::from_utf8(out).unwrap();
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "too wide: {line}");
        assert!(
            !line.chars().any(char::is_control),
            "control character: {line:?}"
        );
    }
    insta::assert_snapshot!(text);
}

#[test]
fn text_is_cut_off_per_property() {
    let mut out = Vec::new();
    run(&mut Human::new(&headings(), &mut out, Paint::PLAIN, 1));
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn sarif() {
    let mut out = Vec::new();
    run(&mut Sarif::new(&headings(), &mut out, Some("/work")));
    serde_json::from_slice::<serde_sarif::sarif::Sarif>(&out).unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn junit() {
    let mut out = Vec::new();
    run(&mut Junit::new(&headings(), &mut out));
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn a_page_for_browsers() {
    let headings = headings();
    let mut out = Vec::new();
    run(&mut Html::new(&headings, &mut out, 10));
    let page = String::from_utf8(out).unwrap();
    // Nothing is fetched, and every text of the data is escaped. (The namespace of SVG is a name.)
    let shell = page.replace("http://www.w3.org/2000/svg", "");
    for wrong in ["http:", "https:", "url(", "security <team>"] {
        assert!(!shell.contains(wrong), "{wrong}");
    }
    let (head, data) = page
        .split_once("<script id=\"data\" type=\"application/json\">")
        .unwrap();
    let data = data.split_once("</script>").unwrap().0;
    let data: serde_json::Value = serde_json::from_str(data).unwrap();
    insta::assert_snapshot!(format!(
        "{}\n{}",
        head.split_once("</style>").unwrap().1.replace("><", ">\n<"),
        serde_json::to_string_pretty(&data).unwrap()
    ));
}

#[test]
fn problems_are_capped_per_kind() {
    let mut out = Vec::new();
    let mut log = ProblemLog::new(&mut out, Paint::PLAIN);
    for line in 1..=14 {
        log.write(&problem(ProblemKind::Malformed, line, "is not JSON"))
            .unwrap();
        log.write(&problem(
            ProblemKind::LeftOut,
            line,
            if line % 2 == 0 { "thinking" } else { "image" },
        ))
        .unwrap();
        // Readers count on their own.
        for counted in ["skipped: audio (3 times)", "skipped: audio (1 time)"] {
            let counted = problem(ProblemKind::LeftOut, line, counted);
            log.write(&counted).unwrap();
        }
    }
    log.finish().unwrap();
    insta::assert_snapshot!(String::from_utf8(out).unwrap());
}

#[test]
fn wilson_intervals_agree_with_published_ones() {
    use guard_markov::interval::confidence::{Z95, wilson};
    let close = |(low, high): (f64, f64), expected: (f64, f64)| {
        assert!(
            (low - expected.0).abs() < 5e-5 && (high - expected.1).abs() < 5e-5,
            "{low} {high}"
        );
    };
    close(wilson(2, 30, Z95), (0.0185, 0.2132));
    close(wilson(0, 10, Z95), (0.0, 0.2775));
    close(wilson(10, 10, Z95), (0.7225, 1.0));
    assert_eq!(wilson(0, 0, Z95), (0.0, 1.0));
}
