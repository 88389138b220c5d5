//! Reads every recorded file beside the package: no panic, every line accounted for, and its known facts hold.
use crate::support::shared;
use std::path::PathBuf;

use guard_lang::input::limits::Accounting;
use guard_lang::input::open;
use guard_lang::input::projection::Projection;
use guard_lang::input::read::read;
use guard_lang::input::record::Unit;
use guard_lang::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, Layout, OriginField, Path, TimeUnit,
};
use guard_lang::problem::{Problem, ProblemKind};
use guard_lang::types::Type;
use guard_lang::value::{Cell, Value};

fn data(below: &str) -> Option<PathBuf> {
    Some(shared("data")?.join(below))
}

fn path(text: &str) -> Path {
    match text.strip_prefix('$') {
        Some(_) => Path::JsonPath(text.into()),
        None => Path::Pointer(text.split('/').skip(1).map(Into::into).collect()),
    }
}

fn field(name: &str, at: &str, ty: Type) -> Field {
    Field {
        name: name.into(),
        source: FieldSource::Event(path(at)),
        ty: ty.nullable(),
        absent: Absent::Null,
        unit: TimeUnit::Seconds,
    }
}

fn at(events: &str, fields: Vec<Field>) -> InputSchema {
    InputSchema {
        layout: Layout {
            events: Some(Events::At(path(events))),
            ..Layout::default()
        },
        fields,
        ..InputSchema::default()
    }
}

fn lines(fields: Vec<Field>) -> InputSchema {
    InputSchema {
        layout: Layout {
            events: Some(Events::Lines),
            ..Layout::default()
        },
        fields,
        ..InputSchema::default()
    }
}

struct Run {
    units: Vec<Unit>,
    counts: Accounting,
    problems: Vec<Problem>,
}

fn run(below: &str, glob: Option<&str>, schema: &InputSchema) -> Option<Run> {
    let projection = Projection::new(schema).unwrap();
    let mut run = Run {
        units: Vec::new(),
        counts: Accounting::default(),
        problems: Vec::new(),
    };
    let argument = data(below)?;
    let globs: Vec<String> = glob.iter().map(ToString::to_string).collect();
    let selection = open::Selection::new(&globs, &[]).unwrap();
    let sources = open::sources(argument.to_str().unwrap(), &selection)
        .unwrap()
        .sources;
    assert!(!sources.is_empty(), "{below} {glob:?}");
    for source in sources {
        let report = read(&source, &projection, &mut |unit| run.units.push(unit));
        assert!(report.accounting.balanced(), "{}", source.name.path);
        run.counts.add(&report.accounting);
        run.problems.extend(report.problems);
    }
    Some(run)
}

fn steps(run: &Run) -> usize {
    let count = |unit: &Unit| match unit {
        Unit::Record(record) => record.steps.len(),
        Unit::Event(event) => event.steps.len(),
        Unit::End { .. } => 0,
    };
    run.units.iter().map(count).sum()
}

#[test]
fn every_file_in_every_layout() {
    let fields = || {
        vec![
            field("all", "", Type::Json),
            field("role", "/role", Type::String),
            field("text", "$..text", Type::List(Type::String.into())),
        ]
    };
    let layouts = [
        InputSchema {
            fields: fields(),
            ..InputSchema::default()
        },
        at("/messages", fields()),
        at("", fields()),
        lines(fields()),
    ];
    for schema in layouts {
        let Some(run) = run("", Some("*"), &schema) else {
            return;
        };
        assert!(run.counts.lines > 100_000, "{:?}", run.counts);
        let odd = [
            ProblemKind::DuplicateKey,
            ProblemKind::InvalidUtf8,
            ProblemKind::Limit,
        ];
        let odd: Vec<_> = run
            .problems
            .iter()
            .filter(|p| odd.contains(&p.kind))
            .collect();
        assert!(odd.is_empty(), "{odd:?}");
    }
}

#[test]
fn counts_are_those_of_the_notes() {
    let tool = |at| vec![field("tool", at, Type::String)];
    let cases = [
        (
            "embodied",
            Some("*_records*.jsonl"),
            at("/intermediate_steps", tool("/action/tool")),
            None,
            None,
        ),
        (
            "toolemu",
            Some("gpt4o-no_controll.jsonl"),
            at("/intermediate_steps", tool("/0/0")),
            Some(144),
            Some(442),
        ),
        (
            "redcode-python",
            Some("*.jsonl"),
            at("/intermediate_steps", tool("/action/tool")),
            Some(796),
            Some(4608),
        ),
        (
            "tau-bench",
            Some("gpt-4o-airline.json"),
            at("/traj", tool("/role")),
            Some(200),
            Some(5308),
        ),
        (
            "agentdojo-jsonl",
            Some("*.jsonl"),
            at("/messages", tool("/role")),
            Some(970),
            Some(9086),
        ),
        (
            "agentdojo-drift",
            Some("*_task_*.json"),
            at("/conversations", tool("/role")),
            None,
            None,
        ),
        (
            "agentdojo-luna",
            Some("*/**/*.json"),
            at("/messages", tool("/role")),
            Some(107),
            None,
        ),
        (
            "openagentsafety",
            Some("**/traj_*.json"),
            at("", tool("/action")),
            Some(164),
            Some(2284),
        ),
        (
            "r-judge",
            Some("**/{benign,harmful}.json"),
            at("$.contents[*][*]", tool("/role")),
            Some(648),
            Some(3613),
        ),
        (
            "apollo-av",
            Some("*.json"),
            at("/trace", tool("/ego/pose/position/x")),
            Some(3),
            Some(121),
        ),
    ];
    for (corpus, glob, schema, traces, events) in cases {
        let Some(run) = run(corpus, glob, &schema) else {
            return;
        };
        let said = format!("{corpus}: {:?} {} steps", run.counts, steps(&run));
        println!("{said}");
        if let Some(traces) = traces {
            assert_eq!(run.counts.records, traces, "{said}");
        }
        if let Some(events) = events {
            assert_eq!(steps(&run), events, "{said}");
        }
        let errors: Vec<_> = run
            .problems
            .iter()
            .filter(|problem| problem.kind.is_error())
            .collect();
        assert!(errors.is_empty(), "{corpus}: {errors:?}");
    }
}

#[test]
fn quirks() {
    // Record 16 of a stream spreads over lines 16 to 18.
    let mut schema = at(
        "/intermediate_steps",
        vec![field("tool", "/0/0", Type::String)],
    );
    schema.meta = vec![Field {
        source: FieldSource::Origin(OriginField::N),
        ..field("n", "", Type::Int)
    }];
    let Some(run) = run("toolemu/gpt4o-no_controll.jsonl", None, &schema) else {
        return;
    };
    let Unit::Record(record) = &run.units[16] else {
        panic!("no record");
    };
    assert_eq!((record.origin.line, record.origin.ordinal), (19, 16));
    assert_eq!(record.meta[0], Cell::Known(Value::int(16)));
    assert_eq!(run.counts.lines, 146);
}

#[test]
fn a_bare_nan_costs_its_cell() {
    let fields = vec![
        field("at", "/timestamp", Type::Int),
        field("truth", "/truth", Type::Json),
        field("all", "", Type::Json),
    ];
    let Some(run) = run("apollo-av/test.json", None, &at("/trace", fields)) else {
        return;
    };
    let Unit::Record(record) = &run.units[0] else {
        panic!("no record");
    };
    assert_eq!(record.steps.len(), 68);
    assert!(
        record
            .steps
            .iter()
            .all(|step| matches!(&step.cells[0], Cell::Known(Value::Number(_))))
    );
    let unknown = |cell: usize| {
        record
            .steps
            .iter()
            .filter(|step| step.cells[cell] == Cell::Unknown)
            .count()
    };
    println!("unknown: truth {}, all {}", unknown(1), unknown(2));
    assert!(
        record
            .problems
            .iter()
            .all(|problem| problem.kind == ProblemKind::Number)
    );
    assert_eq!(record.problems.len(), unknown(1) + unknown(2));
}
