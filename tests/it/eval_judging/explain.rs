//! Explanations of verdicts.

use guard_lang::hir::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Value};
use guard_lang::verdict::Verdict;

use super::build::*;

#[test]
fn a_violation_tells_where_it_begins_and_what_suffices() {
    let mut build = Build::new();
    let kind = build.field("kind", Type::String.nullable());
    let tool = build.field("tool", Type::String.nullable());
    let risk = build.field("risk", Type::Float.nullable());
    let high = build.is(tool, "wire");
    let approval = build.is(kind, "approval");
    let (high_letter, approval) = (
        build.letter(high, "high_risk"),
        build.letter(approval, "approval"),
    );
    let before = build.f(Formula::Unary(Unary::Previously, None, approval));
    let step = build.implies(high_letter, before);
    let formula = build.always(step);
    let property = build.property("approved", formula);
    build.trigger(property, high);
    build.spec.properties[0].message = Some(Text {
        parts: vec![
            TextPart::Literal("sent by ".into()),
            TextPart::Value(tool, None),
            TextPart::Literal(" at ".into()),
            TextPart::Value(risk, Some(".0%".into())),
        ],
    });
    let program = build.program();
    let number = |float: f64| {
        k(Value::Number(
            guard_lang::value::Number::float(float).expect("finite"),
        ))
    };
    let row = |kind: &str, tool: &str, risk: f64| vec![t(kind), t(tool), number(risk)];
    let report = judge(
        &program,
        vec![
            row("approval", "null", 0.0),
            row("call", "wire", 0.1),
            row("call", "ls", 0.2),
            row("call", "wire", 0.123),
        ],
    );
    let verdict = only(&report);
    assert_eq!((verdict.at, verdict.from), (Some(3), Some(3)));
    assert_eq!(verdict.counterexample, [3]);
    assert_eq!(verdict.message.as_deref(), Some("sent by wire at 12%"));
    // The step before is shown too: it is not an approval.
    let steps: Vec<u32> = verdict.evidence.iter().map(|shown| shown.step).collect();
    assert_eq!(steps, [2, 3]);
    assert_eq!(verdict.evidence[1].letters, ["high_risk"]);
    let fields = [
        ("kind".into(), "\"call\"".to_owned()),
        ("tool".into(), "\"wire\"".to_owned()),
    ];
    assert_eq!(verdict.evidence[1].fields, fields);
    assert!(!verdict.vacuous);
    let report = judge(&program, vec![row("call", "ls", 0.0)]);
    assert_eq!(
        (only(&report).verdict, only(&report).vacuous),
        (Verdict::Satisfied, true)
    );
    let unknown = vec![t("call"), Cell::Unknown, number(0.0)];
    let report = judge(&program, vec![row("call", "ls", 0.0), unknown]);
    let verdict = only(&report);
    assert_eq!(
        (verdict.verdict, verdict.vacuous),
        (Verdict::Unknown, false)
    );
    assert_eq!(verdict.undecided_by.len(), 1);
    assert_eq!(
        (
            verdict.undecided_by[0].step,
            &verdict.undecided_by[0].fields[..]
        ),
        (1, &["tool".into()][..])
    );
}

#[test]
fn a_response_that_never_comes_is_told_from_the_request_to_the_end() {
    let mut build = Build::new();
    let a = build.field("a", Type::Bool);
    let b = build.field("b", Type::Bool);
    let (a, b) = (build.letter(a, "a"), build.letter(b, "b"));
    let formula = build.responds(a, None, b);
    build.property("answered", formula);
    let program = build.program();
    let row = |a, b| vec![bit(Some(a)), bit(Some(b))];
    let trace = vec![
        row(true, false),
        row(false, true),
        row(true, false),
        row(true, false),
        row(false, false),
    ];
    let report = judge(&program, trace);
    let verdict = only(&report);
    assert_eq!(
        (verdict.verdict, verdict.at, verdict.from),
        (Verdict::Violated, Some(4), Some(2))
    );
    assert_eq!(verdict.counterexample, [2, 4]);
}

#[test]
fn a_long_counterexample_is_told_by_its_ends() {
    let mut build = Build::new();
    let a = build.field("a", Type::Bool);
    let b = build.field("b", Type::Bool);
    let (a, b) = (build.letter(a, "a"), build.letter(b, "b"));
    let formula = build.responds(a, Some(Bound::Steps(0, 20)), b);
    build.property("soon", formula);
    let program = build.program();
    let trace = (0..40)
        .map(|i| vec![bit(Some(i == 3 || i == 5)), bit(Some(false))])
        .collect();
    let report = judge(&program, trace);
    let verdict = only(&report);
    assert_eq!((verdict.at, verdict.from), (Some(23), Some(3)));
    assert_eq!(verdict.counterexample, [3, 23]);
}

#[test]
fn errors_in_the_data_name_their_step_and_field_once() {
    let mut build = Build::new();
    let args = build.field("args", Type::Json);
    let amount = build.e(Expr::Member(args, "amount".into()), Type::Json);
    let cast = build.e(Expr::Cast(amount), Type::Int);
    let limit = build.i(10);
    let big = build.b(Expr::Compare(Compare::Gt, cast, limit));
    for _ in 0..2 {
        let letter = build.letter(big, "big");
        let formula = build.never(letter);
        build.property("small", formula);
    }
    let program = build.program();
    let object = |value: Value| {
        let object =
            guard_lang::value::Object::new(vec![("amount".into(), value)]).expect("distinct");
        vec![k(Value::Object(object))]
    };
    let report = judge(
        &program,
        vec![
            object(Value::int(3)),
            object(Value::string("many")),
            object(Value::int(5)),
        ],
    );
    assert_eq!(report.problems.len(), 1, "{:?}", report.problems);
    assert_eq!(report.problems[0].step, Some(1));
    assert_eq!(report.problems[0].field.as_deref(), Some("args"));
    assert_eq!(
        report.problems[0].message,
        "a string is not of type `int`: args.amount = \"many\" (read by `small`)"
    );
    assert_eq!(report.verdicts[0].verdict, Verdict::Unknown);
    assert_eq!(report.verdicts[0].undecided_by[0].step, 1);
    let many = (0..1000).map(|_| object(Value::Null)).collect();
    let report = judge(&program, many);
    assert_eq!(report.problems.len(), 101);
    assert!(report.problems[100].message.starts_with("900 "));
}
