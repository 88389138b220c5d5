//! `forall` and `exists`: instances against one run for each value.

use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Truth, Value};
use guard_lang::verdict::Verdict;
use proptest::prelude::*;

use super::build::*;
use super::unknown::{Shape, make, over, shapes, truth};

/// Fields `kind k1 k2`; letters `p(x, y)`, `q(x)`, `r`, and with two keys `s(y)`.
fn letters(build: &mut Build, x: Option<&Value>, y: Option<&Value>, two: bool) -> Vec<FormulaId> {
    let kind = build.e(Expr::Field(0), Type::String.nullable());
    let key = |build: &mut Build, index: usize, value: Option<&Value>| {
        let field = build.e(Expr::Field(1 + index), Type::String.nullable());
        let value = match value {
            Some(value) => build.e(Expr::Const(value.clone()), Type::Json),
            None => build.var(index),
        };
        build.eq(field, value)
    };
    let (kx, ky) = (key(build, 0, x), key(build, 1, y));
    let p = build.is(kind, "p");
    let p = build.and(p, kx);
    let p = if two { build.and(p, ky) } else { p };
    let q = build.is(kind, "q");
    let q = build.and(q, kx);
    let r = build.is(kind, "r");
    let mut letters = vec![
        build.letter(p, "p"),
        build.letter(q, "q"),
        build.letter(r, "r"),
    ];
    if two {
        let s = build.is(kind, "s");
        let s = build.and(s, ky);
        letters.push(build.letter(s, "s"));
    }
    letters
}

fn fields(build: &mut Build) -> Vec<ExprId> {
    ["kind", "k1", "k2"]
        .iter()
        .map(|name| build.field(name, Type::String.nullable()))
        .collect()
}

fn sliced(shape: &Shape, two: bool, universal: bool) -> guard_lang::eval::Program {
    let mut build = Build::new();
    let fields = fields(&mut build);
    let letters = letters(&mut build, None, None, two);
    let formula = make(shape, &letters, &mut build);
    let property = build.property("p", formula);
    let terms = if two {
        vec![vec![fields[1]], vec![fields[2]]]
    } else {
        vec![vec![fields[1]]]
    };
    build.quantify(property, universal, terms);
    build.program()
}

fn alone(shape: &Shape, two: bool, x: &Value, y: &Value) -> guard_lang::eval::Program {
    let mut build = Build::new();
    fields(&mut build);
    let letters = letters(&mut build, Some(x), Some(y), two);
    let formula = make(shape, &letters, &mut build);
    build.property("p", formula);
    build.program()
}

fn known(cell: &Cell) -> Option<&Value> {
    match cell {
        Cell::Known(value) if !value.is_null() => Some(value),
        _ => None,
    }
}

fn kleene(verdict: Verdict) -> Truth {
    Truth::from(truth(verdict))
}

/// The definition: one run for each value seen, and one for all others.
fn by_definition(
    shape: &Shape,
    two: bool,
    universal: bool,
    rows: &[Vec<Cell>],
    complete: bool,
) -> Verdict {
    let fresh = Value::string("no such value");
    let seen = |place: usize| {
        let mut seen: Vec<Value> = rows
            .iter()
            .filter_map(|row| known(&row[place]).cloned())
            .collect();
        seen.sort();
        seen.dedup();
        seen
    };
    let run = |x: &Value, y: &Value| {
        let program = alone(shape, two, x, y);
        if complete {
            return only(&judge(&program, rows.to_vec())).verdict;
        }
        follow(&program, rows)
            .0
            .last()
            .copied()
            .unwrap_or_else(|| open(&program).verdict(PropertyId::new(0)).verdict)
    };
    let ys = if two { seen(2) } else { vec![fresh.clone()] };
    let xs = seen(1);
    let mut instances = Vec::new();
    for x in &xs {
        for y in &ys {
            instances.push(run(x, y));
        }
    }
    // What has not been seen, alone or beside what has been.
    let mut unseen = vec![run(&fresh, &fresh)];
    if two {
        unseen.extend(xs.iter().map(|x| run(x, &fresh)));
        unseen.extend(ys.iter().map(|y| run(&fresh, y)));
    }
    // A key that is not known may be any value, alone or beside any other.
    let is_wild = |place: usize| rows.iter().any(|row| row[place] == Cell::Unknown);
    let mut wild = Vec::new();
    if is_wild(1) && (!two || is_wild(2)) {
        wild.push(run(&fresh, &fresh));
    }
    if two && is_wild(2) {
        wild.extend(xs.iter().map(|x| run(x, &fresh)));
    }
    if two && is_wild(1) {
        wild.extend(ys.iter().map(|y| run(&fresh, y)));
    }
    let flip = |truth: Truth| if universal { truth } else { !truth };
    let mut now = Truth::True;
    for verdict in &instances {
        now = now.and(flip(kleene(*verdict)));
    }
    if wild
        .iter()
        .any(|verdict| flip(kleene(*verdict)) != Truth::True)
    {
        now = now.and(Truth::Unknown);
    }
    let decisive = if universal {
        Verdict::Violated
    } else {
        Verdict::Satisfied
    };
    let neutral = if universal {
        Verdict::Satisfied
    } else {
        Verdict::Violated
    };
    let fixed = complete
        || instances.contains(&decisive)
        || instances
            .iter()
            .chain(&unseen)
            .all(|verdict| *verdict == neutral);
    match (flip(now), fixed) {
        (Truth::Unknown, _) => Verdict::Unknown,
        (Truth::True, true) => Verdict::Satisfied,
        (Truth::True, false) => Verdict::PresumablySatisfied,
        (Truth::False, true) => Verdict::Violated,
        (Truth::False, false) => Verdict::PresumablyViolated,
    }
}

fn cells(
    kinds: &'static [&'static str],
    keys: &'static [&'static str],
) -> impl Strategy<Value = Vec<Cell>> {
    let key = prop::sample::select(keys);
    (prop::sample::select(kinds), key.clone(), key)
        .prop_map(|(kind, k1, k2)| vec![t(kind), t(k1), t(k2)])
}

fn check(
    shape: &Shape,
    two: bool,
    universal: bool,
    rows: &[Vec<Cell>],
) -> Result<(), TestCaseError> {
    let program = sliced(shape, two, universal);
    let (verdicts, _, report) = follow(&program, rows);
    for n in 1..=rows.len() {
        let wanted = by_definition(shape, two, universal, &rows[..n], false);
        prop_assert_eq!(verdicts[n - 1], wanted, "after {} of {:?}", n, &rows[..n]);
    }
    let wanted = by_definition(shape, two, universal, rows, true);
    prop_assert_eq!(
        report.verdicts[0].verdict,
        wanted,
        "at the end of {:?}",
        rows
    );
    if universal && wanted == Verdict::Violated {
        // One line for each violated tuple.
        let fresh = Value::string("no such value");
        let seen = |place: usize| {
            let mut seen: Vec<Value> = rows
                .iter()
                .filter_map(|row| known(&row[place]).cloned())
                .collect();
            seen.sort();
            seen.dedup();
            seen
        };
        let mut violated = Vec::new();
        for x in &seen(1) {
            for y in if two { seen(2) } else { vec![fresh.clone()] } {
                let program = alone(shape, two, x, &y);
                let report = judge(&program, rows.to_vec());
                if only(&report).verdict == Verdict::Violated {
                    let at = only(&report).at;
                    let first = |place: usize, value: &Value| {
                        rows.iter()
                            .position(|row| known(&row[place]) == Some(value))
                    };
                    let born = first(1, x)
                        .max(if two { first(2, &y) } else { None })
                        .map(|at| at as u32);
                    violated.push((at.max(born), x.clone(), if two { Some(y) } else { None }));
                }
            }
        }
        violated.sort();
        let told: Vec<_> = report
            .verdicts
            .iter()
            .map(|verdict| {
                let value =
                    |index: usize| verdict.instance.get(index).map(|(_, value)| value.clone());
                (verdict.at, value(0).expect("x"), value(1))
            })
            .collect();
        prop_assert_eq!(told, violated);
    }
    Ok(())
}

crate::random::tests! {
    256 cases;

    #[test]
    fn one_value(shape in shapes(3), universal in any::<bool>(), rows in prop::collection::vec(cells(&["p", "q", "r", "-"], &["1", "2", "3", "null"]), 0..7)) {
        check(&shape, false, universal, &rows)?;
    }

    #[test]
    fn two_values(shape in shapes(4), universal in any::<bool>(), rows in prop::collection::vec(cells(&["p", "q", "r", "s", "-"], &["1", "2", "null"]), 0..6)) {
        check(&shape, true, universal, &rows)?;
    }

    #[test]
    fn unknown_keys(shape in shapes(3), universal in any::<bool>(), rows in prop::collection::vec(cells(&["p", "q", "r", "-", "?"], &["1", "2", "?", "null"]), 0..6)) {
        check(&shape, false, universal, &rows)?;
    }

    #[test]
    fn unknown_pairs(shape in shapes(4), universal in any::<bool>(), rows in prop::collection::vec(cells(&["p", "q", "r", "s"], &["1", "2", "?", "null"]), 0..5)) {
        check(&shape, true, universal, &rows)?;
    }
}

fn answered(build: &mut Build, bound: Option<Bound>) -> PropertyId {
    let kind = build.field("kind", Type::String);
    let call = build.field("call", Type::String.nullable());
    let x = build.var(0);
    let mine = build.eq(call, x);
    let request = build.is(kind, "request");
    let request = build.and(request, mine);
    let response = build.is(kind, "response");
    let response = build.and(response, mine);
    let (request, response) = (
        build.letter(request, "request(x)"),
        build.letter(response, "response(x)"),
    );
    let formula = build.responds(request, bound, response);
    let property = build.property("answered", formula);
    build.quantify(property, true, vec![vec![call]]);
    property
}

#[test]
fn every_request_is_answered() {
    let mut build = Build::new();
    answered(&mut build, Some(Bound::Steps(1, 2)));
    let program = build.program();
    let report = judge(
        &program,
        rows(&[
            &["request", "a"],
            &["request", "b"],
            &["response", "a"],
            &["other", "null"],
            &["response", "b"],
        ]),
    );
    let verdict = only(&report);
    assert_eq!(verdict.verdict, Verdict::Violated);
    assert_eq!(verdict.instance[0].1, Value::string("b"));
    assert_eq!((verdict.at, verdict.from), (Some(3), Some(1)));
    assert_eq!(verdict.counterexample, [1, 2, 3]);
}

#[test]
fn a_final_instance_is_not_born_again() {
    // S3: `forall id: F[0,3] ack == id`
    let mut build = Build::new();
    let ack = build.field("ack", Type::String.nullable());
    let x = build.var(0);
    let mine = build.eq(ack, x);
    let mine = build.letter(mine, "ack == id");
    let formula = build.eventually(Some(Bound::Steps(0, 3)), mine);
    let property = build.property("acked", formula);
    build.quantify(property, true, vec![vec![ack]]);
    let program = build.program();
    let mut trace = rows(&[
        &["null"],
        &["null"],
        &["a"],
        &["null"],
        &["null"],
        &["null"],
        &["null"],
        &["null"],
        &["null"],
        &["a"],
    ]);
    let (verdicts, _, report) = follow(&program, &trace);
    assert!(!verdicts.contains(&Verdict::Violated));
    assert_eq!(only(&report).verdict, Verdict::Satisfied);
    trace.push(vec![t("b")]);
    let report = judge(&program, trace);
    assert_eq!(only(&report).verdict, Verdict::Violated);
    assert_eq!(only(&report).at, Some(10));
}

#[test]
fn an_unknown_key_is_never_read_as_safe() {
    // S4: a request whose call is not known is not vacuously fine.
    let mut build = Build::new();
    answered(&mut build, None);
    let program = build.program();
    let verdict = |table: &[&[&str]]| judge(&program, rows(table)).verdicts[0].verdict;
    assert_eq!(verdict(&[&["request", "?"]]), Verdict::Unknown);
    assert_eq!(
        verdict(&[&["request", "?"], &["response", "?"]]),
        Verdict::Unknown
    );
    assert_eq!(verdict(&[&["other", "?"]]), Verdict::Satisfied);
    assert_eq!(
        verdict(&[&["request", "a"], &["response", "?"]]),
        Verdict::Unknown
    );
    assert_eq!(
        verdict(&[&["request", "a"], &["request", "?"]]),
        Verdict::Violated
    );
}

#[test]
fn a_range_restricts_and_constants_are_there_from_the_start() {
    let mut build = Build::new();
    let kind = build.field("kind", Type::String.nullable());
    let id = build.field("id", Type::String.nullable());
    let x = build.var(0);
    let mine = build.eq(id, x);
    let letter = build.letter(mine, "id == x");
    let formula = build.eventually(None, letter);
    let property = build.property("seen", formula);
    let quantified = build.quantify(property, true, vec![vec![id]]);
    quantified.vars[0].range = Some(kind);
    let program = build.program();
    let verdict = |table: &[&[&str]]| judge(&program, rows(table)).verdicts[0].verdict;
    assert_eq!(verdict(&[&["null", "a"]]), Verdict::Satisfied);
    assert_eq!(verdict(&[&["b", "a"]]), Verdict::Violated);
    assert_eq!(verdict(&[&["b", "a"], &["null", "b"]]), Verdict::Satisfied);
    assert_eq!(verdict(&[&["null", "b"], &["b", "a"]]), Verdict::Satisfied);
    assert_eq!(verdict(&[&["?", "a"]]), Verdict::Unknown);
    build.quantify(property, true, vec![vec![id]]).vars[0].constants = vec![Value::string("c")];
    let program = build.program();
    let verdict = |table: &[&[&str]]| judge(&program, rows(table)).verdicts[0].verdict;
    assert_eq!(verdict(&[]), Verdict::Violated);
    assert_eq!(verdict(&[&["null", "a"]]), Verdict::Violated);
    assert_eq!(verdict(&[&["null", "c"]]), Verdict::Satisfied);
}

#[test]
fn a_million_ids_are_forgotten() {
    let mut build = Build::new();
    answered(&mut build, Some(Bound::Steps(1, 50)));
    let program = build.program();
    let mut state = open(&program);
    let n = if cfg!(debug_assertions) {
        100_000u32
    } else {
        1_000_000
    };
    let started = std::time::Instant::now();
    for index in 0..n {
        let (kind, id) = if index % 2 == 0 {
            ("request", index)
        } else {
            ("response", index - 1)
        };
        let cells = vec![t(kind), t(&format!("call-{id}"))].into();
        state.push(&guard_lang::input::record::Step { index, cells });
    }
    println!("{:?} an event", started.elapsed() / n);
    let report = state.finish(true);
    assert_eq!(only(&report).verdict, Verdict::Satisfied);
}

#[test]
fn verdicts_over_instances_agree_with_over() {
    assert_eq!(
        over(&[Verdict::Satisfied, Verdict::PresumablySatisfied]),
        Verdict::PresumablySatisfied
    );
}

#[test]
fn a_deadline_on_the_clock_for_each_value() {
    let mut build = Build::new();
    let second = guard_lang::value::Instant::SECOND;
    answered(&mut build, Some(Bound::Time(0, 2 * second)));
    build.field("at", Type::Time);
    let program = build.program();
    let row = |kind: &str, call: &str, at: &str| vec![t(kind), t(call), seconds(at)];
    let report = judge(
        &program,
        vec![
            row("request", "a", "0"),
            row("request", "b", "1"),
            row("response", "a", "2"),
            row("other", "null", "2.5"),
            row("response", "b", "3.5"),
            row("request", "c", "4"),
        ],
    );
    let told: Vec<_> = report
        .verdicts
        .iter()
        .map(|verdict| (verdict.instance[0].1.clone(), verdict.at, verdict.from))
        .collect();
    let b = Value::string("b");
    let c = Value::string("c");
    assert_eq!(told, [(b, Some(4), Some(1)), (c, Some(5), Some(5))]);
    let mut state = open(&program);
    for index in 0..20_000u32 {
        let (kind, id) = if index % 2 == 0 {
            ("request", index)
        } else {
            ("response", index - 1)
        };
        let cells = row(kind, &format!("call-{id}"), &index.to_string()).into();
        state.push(&guard_lang::input::record::Step { index, cells });
    }
    assert_eq!(only(&state.finish(true)).verdict, Verdict::Satisfied);
}

#[test]
fn instances_count_for_themselves() {
    // forall x: G (count(call == x) <= 2)
    let mut build = Build::new();
    let call = build.field("call", Type::String.nullable());
    let x = build.var(0);
    let mine = build.eq(call, x);
    let count = build.e(
        Expr::Count {
            of: mine,
            window: None,
            since: None,
        },
        Type::Int,
    );
    let two = build.i(2);
    let few = build.b(Expr::Compare(Compare::Le, count, two));
    let letter = build.letter(few, "few");
    let formula = build.always(letter);
    let property = build.property("few", formula);
    build.quantify(property, true, vec![vec![call]]);
    let program = build.program();
    let report = judge(
        &program,
        rows(&[&["a"], &["b"], &["a"], &["null"], &["b"], &["a"], &["c"]]),
    );
    let verdict = only(&report);
    assert_eq!((verdict.verdict, verdict.at), (Verdict::Violated, Some(5)));
    assert_eq!(verdict.instance[0].1, Value::string("a"));
    assert_eq!(verdict.from, Some(5));
}

#[test]
fn instances_read_tracks_of_their_own_key() {
    // track open(k) = false then if kind == "open" and key == k then true
    //                       else if kind == "close_all" then false else open(k)
    // forall x: G (kind == "use" and key == x -> open(x)), and never open(x) at the end
    let mut build = Build::new();
    let text = || Type::String.nullable();
    let (kind, key) = (build.field("kind", text()), build.field("key", text()));
    let no = build.c(Value::Bool(false));
    let yes = build.c(Value::Bool(true));
    let open_ = build.track("open", Type::Bool, no);
    let param = build.e(Expr::Param(0), text());
    let mine = build.eq(key, param);
    let opens = build.is(kind, "open");
    let opens = build.and(opens, mine);
    let closes = build.is(kind, "close_all");
    let own = build.read(open_, &[param]);
    let kept = build.cond(closes, no, own, Type::Bool);
    let update = build.cond(opens, yes, kept, Type::Bool);
    build.update(open_, update);
    build.spec.tracks[0].params = vec![("k".into(), text())];
    build.spec.tracks[0].compared = vec![vec![key]];
    let x = build.var(0);
    let of_x = build.read(open_, &[x]);
    let letter = build.letter(of_x, "open(x)");
    let last = build.f(Formula::Last);
    let not = build.f(Formula::Not(letter));
    let closed = build.implies(last, not);
    let formula = build.always(closed);
    let property = build.property("closed", formula);
    build.quantify(property, true, vec![vec![key]]);
    let program = build.program();
    let verdict = |table: &[&[&str]]| judge(&program, rows(table));
    assert_eq!(
        only(&verdict(&[
            &["open", "a"],
            &["open", "b"],
            &["close_all", "null"]
        ]))
        .verdict,
        Verdict::Satisfied
    );
    let report = verdict(&[
        &["open", "a"],
        &["close_all", "null"],
        &["open", "b"],
        &["use", "a"],
    ]);
    assert_eq!(only(&report).instance[0].1, Value::string("b"));
    let report = verdict(&[&["open", "a"], &["open", "?"], &["use", "b"]]);
    assert_eq!(only(&report).instance[0].1, Value::string("a"));
    let report = verdict(&[&["open", "?"], &["use", "b"]]);
    assert_eq!(only(&report).verdict, Verdict::Unknown);
}
