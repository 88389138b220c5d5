//! `where`: events that are not steps, and events that may not be steps.

use guard_lang::eval::Limits;
use guard_lang::hir::*;
use guard_lang::types::Type;
use guard_lang::value::Cell;
use guard_lang::verdict::Verdict;
use proptest::prelude::*;

use super::build::*;
use super::unknown::{completions, make, over, shapes};

fn filtered() -> (
    Build,
    guard_lang::ids::FormulaId,
    guard_lang::ids::FormulaId,
) {
    let mut build = Build::new();
    let step = build.field("step", Type::Bool);
    let (a, b) = (build.field("a", Type::Bool), build.field("b", Type::Bool));
    build.spec.filter.step = Some(step);
    let letters = (build.letter(a, "a"), build.letter(b, "b"));
    (build, letters.0, letters.1)
}

#[test]
fn events_that_are_no_steps_are_invisible_and_keep_their_number() {
    let (mut build, a, b) = filtered();
    let formula = build.responds(a, Some(Bound::Steps(1, 1)), b);
    build.property("p", formula);
    let program = build.program();
    let row = |step, a, b| vec![bit(Some(step)), bit(Some(a)), bit(Some(b))];
    let report = judge(
        &program,
        vec![
            row(true, true, false),
            row(false, false, false),
            row(true, false, true),
        ],
    );
    assert_eq!(only(&report).verdict, Verdict::Satisfied);
    assert_eq!(report.events, 2);
    let report = judge(
        &program,
        vec![
            row(true, true, false),
            row(false, true, true),
            row(true, false, false),
        ],
    );
    assert_eq!((only(&report).at, only(&report).from), (Some(2), Some(0)));
    assert_eq!(only(&report).counterexample, [0, 2]);
}

crate::random::tests! {
    256 cases;
    #[test]
    fn an_event_that_may_be_no_step_is_followed_as_both(
        shape in shapes(2),
        trace in prop::collection::vec((prop::option::weighted(0.6, any::<bool>()), any::<bool>(), any::<bool>()), 1..6),
    ) {
        let (mut build, a, b) = filtered();
        let formula = make(&shape, &[a, b], &mut build);
        build.property("p", formula);
        let program = build.program_with(&Limits { worlds: 64, ..Limits::default() });
        let rows: Vec<Vec<Cell>> = trace.iter().map(|(step, a, b)| vec![bit(*step), bit(Some(*a)), bit(Some(*b))]).collect();
        let values = [guard_lang::value::Value::Bool(false), guard_lang::value::Value::Bool(true)];
        let (verdicts, _, report) = follow(&program, &rows);
        for n in 1..=rows.len() {
            let all: Vec<Verdict> = completions(&rows[..n], &values).iter().map(|rows| follow(&program, rows).0[n - 1]).collect();
            prop_assert_eq!(verdicts[n - 1], over(&all), "after {}", n);
        }
        let all: Vec<Verdict> = completions(&rows, &values).iter().map(|rows| only(&judge(&program, rows.clone())).verdict).collect();
        prop_assert_eq!(only(&report).verdict, over(&all));
    }
}

#[test]
fn too_many_ways_to_read_a_trace_are_told() {
    let (mut build, a, b) = filtered();
    // Where in the trace a step is matters for ever.
    let mut formula = a;
    for _ in 0..40 {
        formula = build.f(Formula::Unary(Unary::Next, None, formula));
    }
    let both = build.f(Formula::And(formula, b));
    build.property("p", both);
    let program = build.program_with(&Limits {
        worlds: 4,
        ..Limits::default()
    });
    let row = || vec![bit(None), bit(Some(true)), bit(Some(true))];
    let report = judge(&program, (0..10).map(|_| row()).collect());
    assert_eq!(only(&report).verdict, Verdict::Unknown);
    assert!(
        report
            .problems
            .iter()
            .any(|problem| problem.message.contains("`worlds`")),
        "{:?}",
        report.problems
    );
}

#[test]
fn records_that_are_no_traces_are_dropped_and_names_are_made() {
    let mut build = Build::new();
    build.field("a", Type::Bool);
    let ok = build.meta("ok", Type::Bool);
    let task = build.meta("task", Type::Int);
    build.spec.filter.record = Some(ok);
    build.spec.filter.id = Some(Text {
        parts: vec![
            TextPart::Literal("task".into()),
            TextPart::Value(task, None),
        ],
    });
    let truth = build.f(Formula::True);
    build.property("p", truth);
    let program = build.program();
    let mut whole = record(vec![]);
    whole.meta = vec![bit(Some(true)), n(7)].into();
    assert_eq!(
        program.judge(whole.clone()).expect("a trace").trace,
        "task7"
    );
    whole.meta = vec![bit(Some(false)), n(7)].into();
    assert!(program.judge(whole).is_none());
}
