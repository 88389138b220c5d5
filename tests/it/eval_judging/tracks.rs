//! Tracks: before and after the event, sets of values, keys.

use guard_lang::hir::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Value};
use guard_lang::verdict::Verdict;
use proptest::prelude::*;

use super::build::*;

/// `never e` over these rows.
fn never(build: &mut Build, e: guard_lang::ids::ExprId, rows: Vec<Vec<Cell>>) -> Verdict {
    build.spec.properties.clear();
    let letter = build.letter(e, "e");
    let formula = build.never(letter);
    build.property("p", formula);
    only(&judge(&build.program(), rows)).verdict
}

#[test]
fn all_tracks_are_updated_together_from_their_values_before_the_event() {
    let mut build = Build::new();
    let kind = build.field("kind", Type::String.nullable());
    let (zero, one) = (build.i(0), build.i(1));
    let n = build.track("n", Type::Int, zero);
    let late = build.track("late", Type::Int, zero);
    let read = build.read(n, &[]);
    let next = build.e(Expr::Arith(Arith::Add, read, one), Type::Int);
    build.update(n, next);
    build.update(late, read);
    // After the event `n` is one ahead of `late`, at every step.
    let lagging = build.read(late, &[]);
    let expected = build.e(Expr::Arith(Arith::Add, lagging, one), Type::Int);
    let same = build.eq(read, expected);
    let wrong = build.not(same);
    let trace = rows(&[&["a"], &["b"], &["c"]]);
    assert_eq!(never(&mut build, wrong, trace.clone()), Verdict::Satisfied);
    let three = build.i(3);
    let reached = build.eq(read, three);
    assert_eq!(never(&mut build, reached, trace.clone()), Verdict::Violated);
    // `before(n)` starts at the initial value, `before(kind)` at null.
    let before = build.e(Expr::Before(read), Type::Int);
    let zero_before = build.eq(before, zero);
    let kind_before = build.e(Expr::Before(kind), Type::String.nullable());
    let null = build.c(Value::Null);
    let null_before = build.eq(kind_before, null);
    let differs = build.b(Expr::Iff(zero_before, null_before));
    let differs = build.not(differs);
    assert_eq!(never(&mut build, differs, trace), Verdict::Satisfied);
}

#[test]
fn a_track_of_finite_type_holds_the_values_it_may_have() {
    let mut build = Build::new();
    let level = build.enumeration("Level", &["low", "mid", "high"], true);
    let field = build.field("level", Type::Enum(level.clone()));
    let [low, mid, high] = ["low", "mid", "high"].map(|name| en(&level, name));
    let init = build.c(low);
    let track = build.track("worst", Type::Enum(level.clone()), init);
    let before = build.read(track, &[]);
    let worst = build.e(
        Expr::Call(Builtin::Max, [before, field].into()),
        Type::Enum(level.clone()),
    );
    build.update(track, worst);
    let top = build.c(high.clone());
    let is_high = build.eq(before, top);
    let row = |name: &str| {
        vec![if name == "?" {
            Cell::Unknown
        } else {
            k(en(&level, name))
        }]
    };
    assert_eq!(never(&mut build, is_high, vec![row("?")]), Verdict::Unknown);
    assert_eq!(
        never(&mut build, is_high, vec![row("?"), row("high")]),
        Verdict::Violated
    );
    let middle = build.c(mid);
    let below_mid = build.b(Expr::Compare(Compare::Lt, before, middle));
    // Whatever the unknown was, after `mid` the track is at least that.
    assert_eq!(
        never(&mut build, below_mid, vec![row("mid"), row("?")]),
        Verdict::Satisfied
    );
    // Two readings of one track agree, also while it is not known.
    let same = build.eq(before, before);
    let not_high = build.not(is_high);
    let both = build.and(is_high, not_high);
    let wrong = build.not(same);
    assert_eq!(never(&mut build, both, vec![row("?")]), Verdict::Satisfied);
    assert_eq!(never(&mut build, wrong, vec![row("?")]), Verdict::Satisfied);
}

/// `track holder(k): string? = null then if lock and key == k then agent else holder(k)`
#[test]
fn a_track_with_a_parameter_has_one_value_for_each_key() {
    let mut build = Build::new();
    let text = || Type::String.nullable();
    let kind = build.field("kind", text());
    let key = build.field("key", text());
    let agent = build.field("agent", text());
    let null = build.c(Value::Null);
    let holder = build.track("holder", text(), null);
    let param = build.e(Expr::Param(0), text());
    let mine = build.eq(key, param);
    let lock = build.is(kind, "lock");
    let locks = build.and(lock, mine);
    let unlock = build.is(kind, "unlock");
    let unlocks = build.and(unlock, mine);
    let held = build.read(holder, &[param]);
    let kept = build.cond(unlocks, null, held, text());
    let update = build.cond(locks, agent, kept, text());
    build.update(holder, update);
    build.spec.tracks[0].params = vec![("k".into(), text())];
    build.spec.tracks[0].compared = vec![vec![key]];
    // A write by someone who does not hold the lock.
    let now = build.read(holder, &[key]);
    let write = build.is(kind, "write");
    let owns = build.eq(now, agent);
    let foreign = build.not(owns);
    let bad = build.and(write, foreign);
    let mut verdict = |table: &[&[&str]]| never(&mut build, bad, rows(table));
    let lock_a = &["lock", "a", "me"][..];
    assert_eq!(
        verdict(&[lock_a, &["write", "a", "me"]]),
        Verdict::Satisfied
    );
    assert_eq!(verdict(&[lock_a, &["write", "b", "me"]]), Verdict::Violated);
    assert_eq!(
        verdict(&[
            lock_a,
            &["lock", "b", "you"],
            &["write", "a", "me"],
            &["write", "b", "you"]
        ]),
        Verdict::Satisfied
    );
    assert_eq!(
        verdict(&[lock_a, &["unlock", "a", "me"], &["write", "a", "me"]]),
        Verdict::Violated
    );
    // A key that is not known may be any.
    assert_eq!(
        verdict(&[lock_a, &["unlock", "?", "me"], &["write", "a", "me"]]),
        Verdict::Unknown
    );
    assert_eq!(
        verdict(&[&["lock", "?", "me"], &["write", "c", "me"]]),
        Verdict::Unknown
    );
    assert_eq!(
        verdict(&[
            lock_a,
            &["unlock", "?", "me"],
            lock_a,
            &["write", "a", "me"]
        ]),
        Verdict::Satisfied
    );
}

crate::random::tests! {
    256 cases;

    /// A table of two keys against one track for each pair of keys.
    #[test]
    fn a_track_with_two_parameters_agrees_with_one_track_for_each_pair(
        table in prop::collection::vec((0..4usize, 0..4usize, 0..4usize), 0..8),
        rule in 0..4usize,
    ) {
        let names = ["a", "b", "c", "null"];
        let text = || Type::String.nullable();
        let make = |fixed: Option<(&str, &str)>| {
            let mut build = Build::new();
            let kind = build.field("kind", text());
            let (k1, k2) = (build.field("k1", text()), build.field("k2", text()));
            let (zero, one) = (build.i(0), build.i(1));
            let track = build.track("n", Type::Int, zero);
            let (p0, p1) = match fixed {
                None => (build.e(Expr::Param(0), text()), build.e(Expr::Param(1), text())),
                Some((a, b)) => (build.s(a), build.s(b)),
            };
            let (m0, m1) = (build.eq(k1, p0), build.eq(k2, p1));
            let both = build.and(m0, m1);
            let own = if fixed.is_none() { build.read(track, &[p0, p1]) } else { build.read(track, &[]) };
            let more = build.e(Expr::Arith(Arith::Add, own, one), Type::Int);
            let reset = build.is(kind, "a");
            let add = build.is(kind, "b");
            let condition = [both, m0, m1, add][rule];
            let kept = build.cond(condition, more, own, Type::Int);
            let any = build.b(Expr::Or(m0, m1));
            let resets = build.and(reset, any);
            let update = build.cond(resets, zero, kept, Type::Int);
            build.update(track, update);
            if fixed.is_none() {
                build.spec.tracks[0].params = vec![("x".into(), text()), ("y".into(), text())];
                build.spec.tracks[0].compared = vec![vec![k1], vec![k2]];
            }
            let (a, b) = fixed.unwrap_or(("b", "c"));
            let (a, b) = (build.s(a), build.s(b));
            let value = if fixed.is_none() { build.read(track, &[a, b]) } else { build.read(track, &[]) };
            (build, value)
        };
        let trace = rows(&table.iter().map(|(a, b, c)| vec![names[*a], names[*b], names[*c]]).collect::<Vec<_>>().iter().map(|row| &row[..]).collect::<Vec<_>>());
        for wanted in 0..4 {
            let mut verdicts = [None, Some(("b", "c"))].map(|fixed| {
                let (mut build, value) = make(fixed);
                let wanted = build.i(wanted);
                let is = build.eq(value, wanted);
                let letter = build.letter(is, "e");
                let formula = build.never(letter);
                build.property("p", formula);
                follow(&build.program(), &trace).0
            });
            let alone = std::mem::take(&mut verdicts[1]);
            prop_assert_eq!(&verdicts[0], &alone);
        }
    }
}

#[test]
fn counts_and_past_operators_look_back() {
    let mut build = Build::new();
    let kind = build.field("kind", Type::String);
    build.field("at", Type::Time);
    let p = build.is(kind, "p");
    let q = build.is(kind, "q");
    let at = |build: &mut Build, expr: Expr, value: i128, table: &[(&str, &str)]| {
        let node = build.e(expr, Type::Int);
        let wanted = build.i(value);
        let is = build.eq(node, wanted);
        build.spec.properties.clear();
        let letter = build.letter(is, "count");
        let last = build.f(Formula::Last);
        let not = build.f(Formula::Not(last));
        let holds = build.f(Formula::Or(not, letter));
        let formula = build.always(holds);
        build.property("p", formula);
        let rows = table
            .iter()
            .map(|(kind, at)| {
                vec![
                    t(kind),
                    if *at == "?" {
                        Cell::Unknown
                    } else {
                        seconds(at)
                    },
                ]
            })
            .collect();
        only(&judge(&build.program(), rows)).verdict
    };
    let count = |window, since| Expr::Count {
        of: p,
        window,
        since,
    };
    let table = [
        ("p", "0"),
        ("p", "10"),
        ("q", "20"),
        ("p", "25"),
        ("p", "29.5"),
    ];
    assert_eq!(
        at(&mut build, count(None, None), 4, &table),
        Verdict::Satisfied
    );
    assert_eq!(
        at(&mut build, count(None, Some(q)), 2, &table),
        Verdict::Satisfied
    );
    assert_eq!(
        at(
            &mut build,
            count(Some(Window::Steps(0, 1)), None),
            2,
            &table
        ),
        Verdict::Satisfied
    );
    assert_eq!(
        at(
            &mut build,
            count(Some(Window::Steps(1, 3)), None),
            2,
            &table
        ),
        Verdict::Satisfied
    );
    let second = guard_lang::value::Instant::SECOND;
    let within = |lo, hi| Some(Window::Time(lo * second, hi * second));
    assert_eq!(
        at(&mut build, count(within(0, 20), None), 3, &table),
        Verdict::Satisfied
    );
    assert_eq!(
        at(&mut build, count(within(0, 19), None), 2, &table),
        Verdict::Satisfied
    );
    assert_eq!(
        at(&mut build, count(within(4, 30), None), 3, &table),
        Verdict::Satisfied
    );
    assert_eq!(
        at(&mut build, count(within(0, 20), Some(q)), 2, &table),
        Verdict::Satisfied
    );
    // What is not known matters, unless it cannot.
    let unknown = [("p", "0"), ("?", "10"), ("p", "20")];
    assert_eq!(
        at(&mut build, count(None, None), 2, &unknown),
        Verdict::Unknown
    );
    assert_eq!(
        at(&mut build, count(within(0, 5), None), 1, &unknown),
        Verdict::Satisfied
    );
    assert_eq!(
        at(
            &mut build,
            count(Some(Window::Steps(0, 0)), None),
            1,
            &unknown
        ),
        Verdict::Satisfied
    );
    let late = [("p", "0"), ("p", "?"), ("p", "20")];
    assert_eq!(
        at(&mut build, count(within(0, 5), None), 1, &late),
        Verdict::Unknown
    );
    assert_eq!(
        at(&mut build, count(within(0, 30), None), 3, &late),
        Verdict::Satisfied
    );
}
