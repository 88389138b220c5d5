//! Long traces with problems of data: each event costs the same, and each cause is reported.
use std::sync::Arc;

use guard_lang::eval::{Limits, Program};
use guard_lang::input::record::{Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::problem::{Problem, ProblemKind};
use guard_lang::value::{Cell, Number, Object, Value};
use guard_lang::verdict::{TraceReport, Verdict};

use crate::instance_scale::source;

fn program(text: &str, limits: &Limits) -> Program {
    let checked = guard_lang::front(
        "t.guard",
        text,
        &NoFiles,
        guard_lang::check::Limits::default(),
    );
    let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    let spec = checked.spec.unwrap_or_else(|| panic!("{messages:?}"));
    Program::compile(&spec, limits).unwrap()
}

fn judge(program: &Program, steps: Vec<Step>, problems: Vec<Problem>) -> TraceReport {
    let record = Record {
        origin: source().origin,
        id: None,
        complete: Some(true),
        meta: Box::default(),
        steps,
        problems,
    };
    program.judge(record).unwrap()
}

fn text(text: &str) -> Cell {
    Cell::Known(Value::string(text))
}

/// Searching all events or all problems for each event that is no step would take minutes.
#[test]
fn problems_of_events_that_are_no_steps_are_dropped_at_once() {
    const N: u32 = 300_000;
    let spec = "event { kind: string  tool: string? }\ntrace { where tool == \"rm\" }\nproperty p = never (kind == \"bad\")\n";
    let program = program(spec, &Limits::default());
    // Two events of the first item of the recording, one of each other.
    let step = |index: u32, tool: &str| Step {
        index,
        cells: [text("call"), text(tool)].into(),
    };
    let rest = (1..N).map(|index| step(index, if index == 7 { "rm" } else { "ls" }));
    let steps = [step(0, "rm"), step(0, "ls")].into_iter().chain(rest);
    let file = Arc::from("t.jsonl");
    let problem = |index: u32, field: Option<&str>| {
        Problem::new(ProblemKind::WrongType, &file, 1, "wrong")
            .at_step(Some(index), field.map(Into::into))
    };
    let some = [
        problem(0, Some("kind")),
        problem(7, Some("kind")),
        problem(8, None),
    ];
    let others = (8..N).map(|index| problem(index, Some("kind")));
    let problems = some.iter().cloned().chain(others).collect();
    let report = judge(&program, steps.collect(), problems);
    assert_eq!(report.verdicts[0].verdict, Verdict::Satisfied);
    assert_eq!(report.problems, some);
}

/// Of a trace that is read in two ways, the instances that are violated in both are listed, up to the limit.
#[test]
fn the_limit_of_listed_instances_holds_for_several_readings() {
    let spec = "event { kind: string  id: string }\ntrace { where kind != \"skip\" }
property closed = forall i: always (kind == \"open\" and id == i -> eventually (kind == \"close\" and id == i))\n";
    let limits = Limits {
        instances_told: 3,
        ..Limits::default()
    };
    let program = program(spec, &limits);
    let open = |index: u32| Step {
        index,
        cells: [text("open"), text(&format!("i{index}"))].into(),
    };
    let maybe = Step {
        index: 10,
        cells: [Cell::Unknown, text("i4")].into(),
    };
    let steps = (0..10).rev().map(|at| Step {
        index: 9 - at,
        ..open(at)
    });
    let report = judge(&program, steps.chain([maybe]).collect(), Vec::new());
    let listed: Vec<String> = (report.verdicts.iter())
        .map(|verdict| format!("{} {:?}", verdict.instance[0].1, verdict.at))
        .collect();
    // `i4` may be closed.
    assert_eq!(
        listed,
        ["\"i0\" Some(10)", "\"i1\" Some(10)", "\"i2\" Some(10)"]
    );
    let told = report.problems.iter().map(|problem| &*problem.message);
    assert_eq!(
        told.collect::<Vec<_>>(),
        ["`closed` is violated for 9 values; the first 3 are listed (limit: `instances_told`)"]
    );
}

/// Two different errors on one value have two causes, and the properties that read them are both named.
#[test]
fn each_error_on_a_value_is_reported() {
    let of = |spec: &str, n: &str| -> Vec<String> {
        let program = program(
            &format!("event {{ args: json }}\n{spec}"),
            &Limits::default(),
        );
        let n = Value::Number(Number::parse(n).unwrap());
        let args = Object::new(vec![("n".into(), n)]).unwrap();
        let step = Step {
            index: 0,
            cells: [Cell::Known(Value::Object(args))].into(),
        };
        let report = judge(&program, vec![step], Vec::new());
        report.problems.into_iter().map(|p| p.message).collect()
    };
    let different =
        "property a = never (args.n.x == 1)\nproperty b = never (args.n starts_with \"x\")\n";
    assert_eq!(
        of(different, "3"),
        [
            "`.` does not take a number: args.n = 3 (read by `a`)",
            "`starts_with` does not take a number: args.n = 3 (read by `b`)",
        ]
    );
    let abs = "property a = never (abs(args.n as int) == 1)\n";
    assert_eq!(
        of(abs, &"7".repeat(43)),
        [format!(
            "the result is out of range: args.n = {} (read by `a`)",
            "7".repeat(43)
        )]
    );
}
