//! Unknown letters: verdicts over all completions.

use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Value};
use guard_lang::verdict::Verdict;
use proptest::prelude::*;

use super::build::*;

/// A random formula over fields 0..3.
#[derive(Clone, Debug)]
pub(crate) enum Shape {
    Letter(usize),
    Last,
    Not(Box<Shape>),
    And(Box<Shape>, Box<Shape>),
    Or(Box<Shape>, Box<Shape>),
    Unary(Unary, Option<(u32, u32)>, Box<Shape>),
    Binary(Binary, Box<Shape>, Box<Shape>),
}

pub(crate) fn shapes(n_letters: usize) -> impl Strategy<Value = Shape> {
    let leaf = prop_oneof![8 => (0..n_letters).prop_map(Shape::Letter), 1 => Just(Shape::Last)];
    leaf.prop_recursive(4, 12, 2, |inner| {
        let plain = prop_oneof![
            Just(Unary::Next),
            Just(Unary::WeakNext),
            Just(Unary::Eventually),
            Just(Unary::Always),
            Just(Unary::Previously),
            Just(Unary::WeakPreviously),
            Just(Unary::Once),
            Just(Unary::Historically),
        ];
        let bounded = prop_oneof![
            Just(Unary::Eventually),
            Just(Unary::Always),
            Just(Unary::Once),
            Just(Unary::Historically)
        ];
        let binary = prop_oneof![
            Just(Binary::Until),
            Just(Binary::Unless),
            Just(Binary::Release),
            Just(Binary::StrongRelease),
            Just(Binary::Since),
            Just(Binary::BackTo)
        ];
        prop_oneof![
            inner.clone().prop_map(|a| Shape::Not(a.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Shape::And(a.into(), b.into())),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Shape::Or(a.into(), b.into())),
            (plain, inner.clone()).prop_map(|(op, a)| Shape::Unary(op, None, a.into())),
            (bounded, 0..2u32, 0..3u32, inner.clone()).prop_map(|(op, lo, more, a)| Shape::Unary(
                op,
                Some((lo, lo + more)),
                a.into()
            )),
            (binary, inner.clone(), inner).prop_map(|(op, a, b)| Shape::Binary(
                op,
                a.into(),
                b.into()
            )),
        ]
    })
}

pub(crate) fn make(shape: &Shape, letters: &[FormulaId], build: &mut Build) -> FormulaId {
    let formula = match shape {
        Shape::Letter(letter) => return letters[*letter],
        Shape::Last => Formula::Last,
        Shape::Not(a) => Formula::Not(make(a, letters, build)),
        Shape::And(a, b) => Formula::And(make(a, letters, build), make(b, letters, build)),
        Shape::Or(a, b) => Formula::Or(make(a, letters, build), make(b, letters, build)),
        Shape::Unary(op, bound, a) => {
            let bound = bound.map(|(lo, hi)| Bound::Steps(lo, hi));
            Formula::Unary(*op, bound, make(a, letters, build))
        }
        Shape::Binary(op, a, b) => {
            Formula::Binary(*op, None, make(a, letters, build), make(b, letters, build))
        }
    };
    build.f(formula)
}

pub(crate) fn truth(verdict: Verdict) -> Option<bool> {
    match verdict {
        Verdict::Satisfied | Verdict::PresumablySatisfied => Some(true),
        Verdict::Violated | Verdict::PresumablyViolated => Some(false),
        Verdict::Unknown => None,
    }
}

/// The verdict over several completions.
pub(crate) fn over(all: &[Verdict]) -> Verdict {
    let first = all[0];
    if all.iter().all(|verdict| *verdict == first) {
        return first;
    }
    let value = truth(first);
    if value.is_none() || !all.iter().all(|verdict| truth(*verdict) == value) {
        return Verdict::Unknown;
    }
    if value == Some(true) {
        Verdict::PresumablySatisfied
    } else {
        Verdict::PresumablyViolated
    }
}

pub(crate) fn completions(rows: &[Vec<Cell>], values: &[Value]) -> Vec<Vec<Vec<Cell>>> {
    let mut all: Vec<Vec<Vec<Cell>>> = vec![Vec::new()];
    for row in rows {
        let mut ways: Vec<Vec<Cell>> = vec![Vec::new()];
        for cell in row {
            let choices: Vec<Cell> = match cell {
                Cell::Unknown => values.iter().cloned().map(Cell::Known).collect(),
                known => vec![known.clone()],
            };
            ways = ways
                .into_iter()
                .flat_map(|way| {
                    choices
                        .iter()
                        .map(move |cell| [way.clone(), vec![cell.clone()]].concat())
                })
                .collect();
        }
        all = all
            .into_iter()
            .flat_map(|trace| {
                ways.iter()
                    .map(move |row| [trace.clone(), vec![row.clone()]].concat())
            })
            .collect();
    }
    all
}

crate::random::tests! {
    256 cases;
    #[test]
    fn unknown_letters_are_followed_both_ways(
        shape in shapes(3),
        trace in prop::collection::vec(prop::collection::vec(prop::option::weighted(0.7, any::<bool>()), 3), 0..5),
    ) {
        prop_assume!(trace.iter().flatten().filter(|cell| cell.is_none()).count() <= 6);
        let mut build = Build::new();
        let letters: Vec<FormulaId> = ["a", "b", "c"].iter().map(|name| {
            let field = build.field(name, Type::Bool);
            build.letter(field, name)
        }).collect();
        let formula = make(&shape, &letters, &mut build);
        build.property("p", formula);
        let program = build.program();
        let rows: Vec<Vec<Cell>> = trace.iter().map(|row| row.iter().map(|cell| bit(*cell)).collect()).collect();
        let (verdicts, _, report) = follow(&program, &rows);
        for n in 1..=rows.len() {
            let all: Vec<Verdict> = completions(&rows[..n], &[Value::Bool(false), Value::Bool(true)])
                .iter()
                .map(|rows| follow(&program, rows).0[n - 1])
                .collect();
            prop_assert_eq!(verdicts[n - 1], over(&all), "after {}", n);
        }
        let ends: Vec<Verdict> = completions(&rows, &[Value::Bool(false), Value::Bool(true)])
            .iter()
            .map(|rows| only(&judge(&program, rows.clone())).verdict)
            .collect();
        prop_assert_eq!(only(&report).verdict, over(&ends));
    }
}

#[test]
fn an_incomplete_trace_has_no_final_verdict_that_it_does_not_have() {
    let mut build = Build::new();
    let a = build.field("a", Type::Bool);
    let a = build.letter(a, "a");
    let formula = build.eventually(None, a);
    build.property("p", formula);
    let program = build.program();
    let mut open = record(vec![vec![bit(Some(false))]]);
    open.complete = Some(false);
    let report = program.judge(open).expect("a trace");
    assert_eq!(only(&report).verdict, Verdict::PresumablyViolated);
    assert!(!only(&report).is_final);
    assert_eq!(only(&report).at, None);
    let report = judge(&program, vec![vec![bit(Some(false))], vec![bit(None)]]);
    assert_eq!(only(&report).verdict, Verdict::Unknown);
    assert_eq!(only(&report).at, Some(1));
}

#[test]
fn an_unknown_time_loses_a_bound_in_seconds() {
    let mut build = Build::new();
    let a = build.field("a", Type::Bool);
    let b = build.field("b", Type::Bool);
    build.field("at", Type::Time);
    let (a, b) = (build.letter(a, "a"), build.letter(b, "b"));
    let formula = build.responds(
        a,
        Some(Bound::Time(0, 2 * guard_lang::value::Instant::SECOND)),
        b,
    );
    build.property("soon", formula);
    let program = build.program();
    let row = |a: bool, b: bool, at: &str| {
        vec![
            bit(Some(a)),
            bit(Some(b)),
            if at == "?" {
                Cell::Unknown
            } else {
                seconds(at)
            },
        ]
    };
    let verdict = |rows: Vec<Vec<Cell>>| only(&judge(&program, rows)).verdict;
    assert_eq!(
        verdict(vec![row(true, false, "0"), row(false, true, "2.0")]),
        Verdict::Satisfied
    );
    let late = judge(
        &program,
        vec![
            row(true, false, "0.5"),
            row(false, false, "1"),
            row(false, true, "2.500000000000000001"),
        ],
    );
    assert_eq!(only(&late).verdict, Verdict::Violated);
    assert_eq!(only(&late).at, Some(2));
    assert_eq!(only(&late).from, Some(0));
    assert_eq!(only(&late).counterexample, [0, 2]);
    assert_eq!(
        verdict(vec![row(true, false, "0"), row(false, true, "?")]),
        Verdict::Unknown
    );
    let early = vec![
        row(true, false, "0"),
        row(false, false, "3"),
        row(false, true, "?"),
    ];
    assert_eq!(verdict(early), Verdict::Violated);
    // A clock that runs back is an error in the data; the latest time seen counts.
    let back = judge(
        &program,
        vec![
            row(false, false, "5"),
            row(true, false, "1"),
            row(false, true, "6.5"),
        ],
    );
    assert_eq!(only(&back).verdict, Verdict::Satisfied);
    assert_eq!(back.problems.len(), 1);
    assert_eq!(back.problems[0].step, Some(1));
    assert_eq!(back.problems[0].field.as_deref(), Some("at"));
}
