//! The reference on expressions: null and unknown, data errors, history, tracks.

use std::sync::Arc;

use crate::support::core::{SpecBuilder, U, b, member, n, null, object, s, seconds};
use guard_lang::hir::{Arith, Builtin, Compare, Expr, PastOp, Quantifier, Window};
use guard_lang::ids::{ExprId, LocalId};
use guard_lang::types::Type;
use guard_lang::value::{Cell, Instant, Number, Value};

/// The value of one expression at every step of a record.
fn values(builder: &SpecBuilder, expr: ExprId, steps: &[&[(&str, Cell)]]) -> Vec<Cell> {
    guard_reference::values(&builder.spec, &builder.record(steps), expr, &[])
}

/// An operand: a value, or not known.
fn operand(builder: &mut SpecBuilder, cell: &Cell) -> ExprId {
    match cell {
        Cell::Known(value) => builder.constant(value.clone()),
        Cell::Unknown => builder.expr(Expr::Unknown, Type::Json),
    }
}

/// The value of an operator on these operands, and whether there was a data error.
fn apply(operands: &[Cell], ty: Type, make: &dyn Fn(&[ExprId]) -> Expr) -> (Cell, bool) {
    let mut builder = SpecBuilder::new();
    let ids: Vec<ExprId> = operands
        .iter()
        .map(|cell| operand(&mut builder, cell))
        .collect();
    let expr = builder.expr(make(&ids), ty);
    let letter = builder.letter(expr, "e");
    builder.property("p", letter);
    let record = builder.record(&[&[]]);
    let value = guard_reference::values(&builder.spec, &record, expr, &[]).remove(0);
    // A letter that is no Boolean is an error as well; only those of the operator count.
    let errors = guard_reference::data_errors(&builder.spec, &record);
    (
        value,
        errors
            .iter()
            .any(|error| !error.message.ends_with("is no Boolean")),
    )
}

fn list(items: &[Value]) -> Cell {
    Cell::Known(Value::list(items.to_vec()))
}

fn length(seconds: i128) -> Cell {
    Cell::Known(Value::Duration(Instant(seconds * Instant::SECOND)))
}

fn text(text: &str) -> Value {
    Value::string(text)
}

fn float(float: f64) -> Cell {
    Cell::Known(Value::Number(Number::float(float).expect("finite")))
}

#[test]
fn comparisons() {
    use Compare::{Eq, Ge, Gt, Le, Lt};
    let big = Cell::Known(Value::Number(
        Number::parse("340282366920938463463374607431768211456").expect("number"),
    ));
    let ab = Cell::Known(object(&[("a", Value::int(1)), ("b", Value::Null)]));
    let ba = Cell::Known(object(&[("b", Value::Null), ("a", Value::int(1))]));
    let table = [
        // "null equals only null, values of different types are unequal"
        (Eq, null(), null(), b(true), false),
        (Eq, null(), b(false), b(false), false),
        (Eq, s("1"), n(1), b(false), false),
        // "numbers compare exactly (128-bit ids too), objects without regard to order"
        (Eq, n(1), float(1.0), b(true), false),
        (
            Eq,
            n((1 << 53) + 1),
            float(9_007_199_254_740_992.0),
            b(false),
            false,
        ),
        (Eq, big.clone(), big.clone(), b(true), false),
        (Eq, ab, ba, b(true), false),
        (Gt, big, n(1), b(true), false),
        // order "on null [is] false, on any other wrong type … unknown and a data error"
        (Lt, null(), n(1), b(false), false),
        (Ge, null(), null(), b(false), false),
        (Lt, s("a"), n(1), U, true),
        (Le, b(false), b(true), U, true),
        (Lt, s("a"), s("b"), b(true), false),
        // strict in unknown
        (Eq, U, null(), U, false),
        (Lt, U, null(), U, false),
    ];
    for (op, lhs, rhs, value, error) in table {
        let found = apply(&[lhs.clone(), rhs.clone()], Type::Bool, &|ids| {
            Expr::Compare(op, ids[0], ids[1])
        });
        assert_eq!(found, (value, error), "{lhs:?} {op:?} {rhs:?}");
    }
}

#[test]
fn text_tests() {
    type Make = fn(ExprId, ExprId) -> Expr;
    let contains: Make = Expr::Contains;
    let table = [
        (contains, s("abc"), s("bc"), b(true), false),
        (contains, list(&[text("a")]), s("a"), b(true), false),
        (contains, list(&[text("abc")]), s("b"), U, true),
        (contains, list(&[text("abc")]), s("x"), b(false), false),
        (contains, null(), s("a"), b(false), false),
        (contains, s("a"), null(), b(false), false),
        (contains, n(1), s("a"), U, true),
        (contains, s("1"), n(1), U, true),
        (Expr::StartsWith, s("abc"), s("ab"), b(true), false),
        (Expr::StartsWith, null(), s("ab"), b(false), false),
        (Expr::EndsWith, s("abc"), s("bc"), b(true), false),
        (Expr::EndsWith, s("abc"), n(1), U, true),
        (Expr::In, s("a"), list(&[text("a")]), b(true), false),
        (Expr::In, null(), list(&[Value::Null]), b(true), false),
        (Expr::In, s("a"), null(), b(false), false),
        (Expr::In, s("a"), s("abc"), U, true),
        // `in` gives a value where what is known decides
        (Expr::In, U, list(&[]), b(false), false),
        (Expr::In, U, list(&[text("a")]), U, false),
        (Expr::In, s("a"), U, U, false),
    ];
    for (make, lhs, rhs, value, error) in table {
        let found = apply(&[lhs.clone(), rhs.clone()], Type::Bool, &|ids| {
            make(ids[0], ids[1])
        });
        assert_eq!(
            found,
            (value, error),
            "{lhs:?}, {rhs:?}: {:?}",
            make(ExprId::new(0), ExprId::new(1))
        );
    }
}

#[test]
fn members() {
    let json = Cell::Known(object(&[
        ("to", text("x")),
        ("items", Value::list(vec![Value::int(7)])),
    ]));
    let items = list(&[Value::int(7)]);
    let table = [
        (json.clone(), s("to"), s("x"), false),
        (json.clone(), s("cc"), null(), false),
        (items.clone(), n(0), n(7), false),
        (items.clone(), n(1), null(), false),
        (items.clone(), n(-1), null(), false),
        (null(), s("to"), null(), false),
        (U, s("to"), U, false),
        (items, s("to"), U, true),
        (s("text"), n(0), U, true),
    ];
    for (whole, at, value, error) in table {
        let found = apply(&[whole.clone(), at.clone()], Type::Json, &|ids| {
            Expr::Index(ids[0], ids[1])
        });
        assert_eq!(found, (value.clone(), error), "{whole:?}[{at:?}]");
        if let Cell::Known(Value::String(name)) = &at {
            let found = apply(std::slice::from_ref(&whole), Type::Json, &|ids| {
                Expr::Member(ids[0], name.to_smol())
            });
            assert_eq!(found, (value, error), "{whole:?}.{name}");
        }
    }
}

#[test]
fn connectives() {
    type Make = fn(ExprId, ExprId) -> Expr;
    let (and, or, implies, iff): (Make, Make, Make, Make) =
        (Expr::And, Expr::Or, Expr::Implies, Expr::Iff);
    let table = [
        (and, U, b(false), b(false)),
        (and, b(false), U, b(false)),
        (and, U, b(true), U),
        (or, U, b(true), b(true)),
        (or, U, b(false), U),
        (implies, U, b(true), b(true)),
        (implies, b(false), U, b(true)),
        (implies, U, b(false), U),
        (iff, U, b(true), U),
        (iff, b(false), b(false), b(true)),
    ];
    for (make, lhs, rhs, value) in table {
        let found = apply(&[lhs.clone(), rhs.clone()], Type::Bool, &|ids| {
            make(ids[0], ids[1])
        });
        assert_eq!(found, (value, false), "{lhs:?}, {rhs:?}");
    }
}

#[test]
fn choices() {
    // "`??` replaces null, never unknown"
    for (lhs, rhs, value) in [
        (null(), n(1), n(1)),
        (n(2), U, n(2)),
        (U, n(1), U),
        (null(), U, U),
    ] {
        let found = apply(&[lhs, rhs], Type::Json, &|ids| {
            Expr::Coalesce(ids[0], ids[1])
        });
        assert_eq!(found, (value, false));
    }
    // `if` gives a value "where what is known decides, whichever way the rest falls"
    let table = [
        (b(true), n(1), U, n(1)),
        (b(false), U, n(1), n(1)),
        (U, n(1), n(1), n(1)),
        (U, n(1), n(2), U),
        (U, U, U, U),
    ];
    for (condition, yes, no, value) in table {
        let found = apply(&[condition, yes, no], Type::Int, &|ids| {
            Expr::If(ids[0], ids[1], ids[2])
        });
        assert_eq!(found, (value, false));
    }
    // The branch that is not taken makes no data error.
    let mut builder = SpecBuilder::new();
    let (one, word, yes) = (
        operand(&mut builder, &n(1)),
        operand(&mut builder, &s("a")),
        operand(&mut builder, &b(true)),
    );
    let broken = builder.expr(Expr::Arith(Arith::Sub, word, one), Type::Int);
    let choice = builder.expr(Expr::If(yes, one, broken), Type::Int);
    let equal = builder.compare(Compare::Eq, choice, one);
    let letter = builder.letter(equal, "e");
    builder.property("p", letter);
    assert_eq!(
        guard_reference::data_errors(&builder.spec, &builder.record(&[&[]])),
        []
    );
}

#[test]
fn arithmetic() {
    use Arith::{Add, Div, Mul, Sub};
    let table = [
        (Add, n(1), n(2), Type::Int, n(3), false),
        (Add, s("a"), s("b"), Type::String, s("ab"), false),
        (
            Add,
            list(&[text("a")]),
            list(&[text("b")]),
            Type::Json,
            list(&[text("a"), text("b")]),
            false,
        ),
        (
            Sub,
            seconds(5),
            seconds(3),
            Type::Duration,
            length(2),
            false,
        ),
        (Mul, length(2), n(3), Type::Duration, length(6), false),
        (Mul, float(0.5), length(4), Type::Duration, length(2), false),
        (Div, length(6), n(3), Type::Duration, length(2), false),
        (Div, length(6), float(1.5), Type::Duration, length(4), false),
        (Div, length(6), n(0), Type::Duration, U, true),
        (
            Div,
            Cell::Known(Value::Duration(Instant(i128::MIN))),
            n(-1),
            Type::Duration,
            U,
            true,
        ),
        (
            Mul,
            Cell::Known(Value::Duration(Instant(i128::MIN))),
            n(-1),
            Type::Duration,
            U,
            true,
        ),
        (Div, length(3), length(2), Type::Float, float(1.5), false),
        (Mul, n(i128::MAX), n(2), Type::Int, U, true),
        (Div, n(1), n(2), Type::Float, float(0.5), false),
        (Div, n(1), n(0), Type::Float, U, true),
        (Mul, float(1e300), float(1e300), Type::Float, U, true),
        (Add, null(), n(1), Type::Int.nullable(), null(), false),
        (Sub, n(1), null(), Type::Int.nullable(), null(), false),
        (Add, U, n(1), Type::Int, U, false),
    ];
    for (op, lhs, rhs, ty, value, error) in table {
        let found = apply(&[lhs.clone(), rhs.clone()], ty, &|ids| {
            Expr::Arith(op, ids[0], ids[1])
        });
        assert_eq!(found, (value, error), "{lhs:?} {op:?} {rhs:?}");
    }
}

#[test]
fn casts() {
    let table = [
        (n(3), Type::Int, n(3), false),
        (float(3.0), Type::Int, n(3), false),
        (float(3.5), Type::Int, U, true),
        (float(3.5), Type::Int.nullable(), null(), false),
        (s("3"), Type::Int, U, true),
        (null(), Type::Int, U, true),
        (null(), Type::Int.nullable(), null(), false),
        (U, Type::Int.nullable(), U, false),
        (n(2), Type::Float, float(2.0), false),
        (
            list(&[text("a")]),
            Type::List(Arc::new(Type::String)),
            list(&[text("a")]),
            false,
        ),
        (
            list(&[Value::int(1)]),
            Type::List(Arc::new(Type::String)),
            U,
            true,
        ),
    ];
    for (value, ty, expected, error) in table {
        let found = apply(std::slice::from_ref(&value), ty.clone(), &|ids| {
            Expr::Cast(ids[0])
        });
        assert_eq!(found, (expected, error), "{value:?} as {ty}");
    }
}

#[test]
fn functions() {
    let set = |items: &[i128]| {
        Cell::Known(Value::Set(
            items.iter().map(|item| Value::int(*item)).collect(),
        ))
    };
    let parsed = Cell::Known(object(&[
        ("a", Value::list(vec![Value::int(1), text("x")])),
        ("b", Value::Null),
    ]));
    let table = [
        (Builtin::Len, vec![s("äb")], n(2), false),
        (Builtin::Len, vec![null()], null(), false),
        (Builtin::Len, vec![n(1)], U, true),
        (Builtin::Lower, vec![s("AB")], s("ab"), false),
        (Builtin::Trim, vec![s(" a ")], s("a"), false),
        (
            Builtin::Split,
            vec![s("a,b"), s(",")],
            list(&[text("a"), text("b")]),
            false,
        ),
        (
            Builtin::Words,
            vec![s(" a  b ")],
            list(&[text("a"), text("b")]),
            false,
        ),
        (Builtin::Max, vec![n(1), n(3), n(2)], n(3), false),
        (Builtin::Min, vec![n(1), null()], null(), false),
        (Builtin::Min, vec![n(1), U], U, false),
        (Builtin::Abs, vec![n(-2)], n(2), false),
        (Builtin::Abs, vec![n(i128::MIN)], U, true),
        (Builtin::Floor, vec![float(-0.5)], n(-1), false),
        (Builtin::Mod, vec![n(-7), n(3)], n(2), false),
        (Builtin::Mod, vec![n(7), n(-3)], n(-2), false),
        (Builtin::Mod, vec![n(7), n(0)], U, true),
        (Builtin::Add, vec![set(&[1]), n(2)], set(&[1, 2]), false),
        (
            Builtin::Last,
            vec![list(&[text("a"), text("b")]), n(1)],
            list(&[text("b")]),
            false,
        ),
        (
            Builtin::Json,
            vec![s(r#"{"a": [1, "x"], "b": null}"#)],
            parsed.clone(),
            false,
        ),
        (Builtin::Json, vec![s("{")], U, true),
        (Builtin::Json, vec![s("no")], null(), false),
        (Builtin::Json, vec![s(r#"{"a": 1, "a": 2}"#)], U, true),
        (Builtin::Json, vec![s("1e999")], U, true),
        (Builtin::Text, vec![parsed], s("a\n1\nx\nb"), false),
        (Builtin::Text, vec![null()], s(""), false),
    ];
    for (function, args, value, error) in table {
        let found = apply(&args, Type::Json, &|ids| Expr::Call(function, ids.into()));
        assert_eq!(found, (value, error), "{function:?}{args:?}");
    }
}

#[test]
fn regexes() {
    for (value, whole, group) in [
        (s("ab12"), b(true), s("12")),
        (s("ab"), b(false), null()),
        (null(), b(false), null()),
        (U, U, U),
    ] {
        let mut builder = SpecBuilder::new();
        let regex = builder
            .spec
            .exprs
            .add_regex("b([0-9]+)")
            .expect("a regular expression");
        let value = operand(&mut builder, &value);
        let matches = builder.expr(Expr::Matches(value, regex), Type::Bool);
        let capture = builder.expr(Expr::Capture(value, regex, 1), Type::String.nullable());
        assert_eq!(values(&builder, matches, &[&[]]), [whole]);
        assert_eq!(values(&builder, capture, &[&[]]), [group]);
    }
}

#[test]
fn quantifiers_over_lists() {
    use Quantifier::{All, Any, Count};
    // The body asks whether the element is above 1.
    let items = |items: &[i128]| {
        list(
            &items
                .iter()
                .map(|item| Value::int(*item))
                .collect::<Vec<_>>(),
        )
    };
    let mixed = list(&[Value::int(2), text("a")]);
    let table = [
        (Any, items(&[1, 2]), b(true), false),
        (All, items(&[1, 2]), b(false), false),
        (Count, items(&[1, 2, 3]), n(2), false),
        (Any, null(), b(false), false),
        (All, null(), b(true), false),
        (Count, null(), n(0), false),
        (Any, s("no list"), U, true),
        (Any, U, U, false),
        // "a value where what is known decides": one element fails, the other decides or not
        (Any, mixed.clone(), b(true), true),
        (All, mixed.clone(), U, true),
        (Count, mixed, U, true),
    ];
    for (kind, over, value, error) in table {
        let mut builder = SpecBuilder::new();
        let over_id = operand(&mut builder, &over);
        let local = LocalId::new(0);
        let (element, one) = (
            builder.expr(Expr::Local(local), Type::Json),
            builder.constant(Value::int(1)),
        );
        let body = builder.compare(Compare::Gt, element, one);
        let ty = if kind == Count { Type::Int } else { Type::Bool };
        let expr = builder.expr(
            Expr::Quantifier {
                kind,
                local,
                over: over_id,
                body,
            },
            ty,
        );
        let same = builder.compare(Compare::Eq, expr, expr);
        let letter = builder.letter(same, "e");
        builder.property("p", letter);
        assert_eq!(values(&builder, expr, &[&[]]), [value], "{kind:?} {over:?}");
        let errors = guard_reference::data_errors(&builder.spec, &builder.record(&[&[]]));
        assert_eq!(!errors.is_empty(), error, "{kind:?} {over:?}");
    }
    // Elements of a list that is written out are unknown one by one.
    let mut builder = SpecBuilder::new();
    let (one, unknown) = (
        builder.constant(Value::int(1)),
        builder.expr(Expr::Unknown, Type::Int),
    );
    let written = builder.expr(
        Expr::List([one, unknown].into()),
        Type::List(Arc::new(Type::Int)),
    );
    let within = builder.expr(Expr::In(one, written), Type::Bool);
    assert_eq!(values(&builder, within, &[&[]]), [b(true)]);
}

#[test]
fn looking_back() {
    let mut builder = SpecBuilder::new();
    let p = builder.field("p", Type::Bool);
    let q = builder.field("q", Type::Bool);
    let x = builder.field("x", Type::Int);
    builder.field("at", Type::Time);
    let before = builder.expr(Expr::Before(x), Type::Int.nullable());
    let count = |builder: &mut SpecBuilder, window, since| {
        builder.expr(
            Expr::Count {
                of: p,
                window,
                since,
            },
            Type::Int,
        )
    };
    let all = count(&mut builder, None, None);
    let since = count(&mut builder, None, Some(q));
    let steps = count(&mut builder, Some(Window::Steps(0, 1)), None);
    let time = count(
        &mut builder,
        Some(Window::Time(0, 2 * Instant::SECOND)),
        None,
    );
    let past = |builder: &mut SpecBuilder, op, window, rhs| {
        builder.expr(Expr::Past(op, window, p, rhs), Type::Bool)
    };
    let previously = past(&mut builder, PastOp::Previously, None, None);
    let weak = past(&mut builder, PastOp::WeakPreviously, None, None);
    let once = past(&mut builder, PastOp::Once, Some(Window::Steps(1, 2)), None);
    let historically = past(
        &mut builder,
        PastOp::Historically,
        Some(Window::Steps(1, 2)),
        None,
    );
    let p_since_q = past(&mut builder, PastOp::Since, None, Some(q));
    let p_back_to_q = past(&mut builder, PastOp::BackTo, None, Some(q));
    let record: [&[(&str, Cell)]; 5] = [
        &[
            ("p", b(true)),
            ("q", b(false)),
            ("x", n(1)),
            ("at", seconds(0)),
        ],
        &[
            ("p", b(false)),
            ("q", b(true)),
            ("x", n(2)),
            ("at", seconds(1)),
        ],
        &[
            ("p", b(true)),
            ("q", b(false)),
            ("x", U),
            ("at", seconds(2)),
        ],
        &[("p", U), ("q", b(false)), ("x", n(4)), ("at", seconds(9))],
        &[("p", b(true)), ("q", b(true)), ("x", n(5)), ("at", null())],
    ];
    let table = [
        ("before", before, [null(), n(1), n(2), U, n(4)]),
        ("count", all, [n(1), n(1), n(2), U, U]),
        ("count since", since, [n(1), n(0), n(1), U, n(0)]),
        ("count in steps", steps, [n(1), n(1), n(1), U, U]),
        ("count in time", time, [n(1), n(1), n(2), U, U]),
        (
            "previously",
            previously,
            [b(false), b(true), b(false), b(true), U],
        ),
        (
            "weak_previously",
            weak,
            [b(true), b(true), b(false), b(true), U],
        ),
        ("once", once, [b(false), b(true), b(true), b(true), b(true)]),
        (
            "historically",
            historically,
            [b(true), b(true), b(false), b(false), U],
        ),
        ("since", p_since_q, [b(false), b(true), b(true), U, b(true)]),
        (
            "back_to",
            p_back_to_q,
            [b(true), b(true), b(true), U, b(true)],
        ),
    ];
    for (name, expr, expected) in table {
        assert_eq!(values(&builder, expr, &record), expected, "{name}");
    }
}

/// `track level: Level = low then if raise then max(level, seen) else level`, with an unknown operand.
#[test]
fn tracks_of_finite_type_hold_sets() {
    let mut builder = SpecBuilder::new();
    let level = builder.enumeration("Level", &["low", "mid", "high"]);
    let seen = builder.field("seen", level.clone());
    let raise = builder.field("raise", Type::Bool);
    let low = builder.constant(member(0, 0));
    let mid = builder.constant(member(0, 1));
    let track = builder.track("level", level.clone(), low);
    let read = builder.read_track(track, &[]);
    let max = builder.expr(Expr::Call(Builtin::Max, [read, seen].into()), level.clone());
    builder.spec.tracks[0].update = builder.expr(Expr::If(raise, max, read), level);
    let at_least_mid = builder.compare(Compare::Ge, read, mid);
    // Both readings of one track have one value.
    let equal = builder.compare(Compare::Eq, read, read);
    let differ = builder.expr(Expr::Not(equal), Type::Bool);
    let before = builder.expr(Expr::Before(read), builder.spec.tracks[0].ty.clone());

    let known = |index| Cell::Known(member(0, index));
    let record: [&[(&str, Cell)]; 4] = [
        &[("raise", b(true)), ("seen", U)],
        &[("raise", U), ("seen", known(1))],
        &[("raise", b(true)), ("seen", known(1))],
        &[("raise", b(true)), ("seen", known(2))],
    ];
    assert_eq!(values(&builder, read, &record), [U, U, U, known(2)]);
    // {low, mid, high}; {low, mid, high}; {mid, high}: decided though the track is not
    assert_eq!(
        values(&builder, at_least_mid, &record),
        [U, U, b(true), b(true)]
    );
    assert_eq!(
        values(&builder, differ, &record),
        [b(false), b(false), b(false), b(false)]
    );
    assert_eq!(values(&builder, before, &record), [known(0), U, U, U]);
}

/// `track n: int = 0 then if reset then 0 else n + x`: unknown until an update that does not read the unknown.
#[test]
fn other_tracks_recover() {
    let mut builder = SpecBuilder::new();
    let (x, reset) = (
        builder.field("x", Type::Int),
        builder.field("reset", Type::Bool),
    );
    let zero = builder.constant(Value::int(0));
    let track = builder.track("n", Type::Int, zero);
    let read = builder.read_track(track, &[]);
    let sum = builder.expr(Expr::Arith(Arith::Add, read, x), Type::Int);
    builder.spec.tracks[0].update = builder.expr(Expr::If(reset, zero, sum), Type::Int);
    let record: [&[(&str, Cell)]; 4] = [
        &[("x", n(2)), ("reset", b(false))],
        &[("x", U), ("reset", b(false))],
        &[("x", n(1)), ("reset", b(false))],
        &[("x", U), ("reset", b(true))],
    ];
    assert_eq!(values(&builder, read, &record), [n(2), U, U, n(0)]);
}

/// `track holder(k: json): string? = null then if lock and key == k then agent else holder(k)`.
#[test]
fn tracks_with_parameters() {
    let mut builder = SpecBuilder::new();
    let (lock, key, agent) = (
        builder.field("lock", Type::Bool),
        builder.field("key", Type::Json),
        builder.field("agent", Type::String),
    );
    let none = builder.constant(Value::Null);
    let ty = Type::String.nullable();
    let track = builder.track("holder", ty.clone(), none);
    let param = builder.expr(Expr::Param(0), Type::Json);
    let read = builder.read_track(track, &[param]);
    let same = builder.compare(Compare::Eq, key, param);
    let condition = builder.expr(Expr::And(lock, same), Type::Bool);
    builder.spec.tracks[0].update = builder.expr(Expr::If(condition, agent, read), ty);
    let holder = builder.read_track(track, &[key]);
    let record: [&[(&str, Cell)]; 5] = [
        &[("lock", b(true)), ("key", s("a")), ("agent", s("x"))],
        &[("lock", b(true)), ("key", s("b")), ("agent", s("y"))],
        &[("lock", b(false)), ("key", s("a")), ("agent", s("z"))],
        &[("lock", b(false)), ("key", s("c")), ("agent", s("z"))],
        &[("lock", b(false)), ("key", U), ("agent", s("z"))],
    ];
    assert_eq!(
        values(&builder, holder, &record),
        [s("x"), s("y"), s("x"), null(), U]
    );
}

/// Tracks are updated together, and expressions within an update see the tracks before the event.
#[test]
fn tracks_are_updated_together() {
    let mut builder = SpecBuilder::new();
    let p = builder.field("p", Type::Bool);
    let no = builder.constant(Value::Bool(false));
    let (first, second) = (
        builder.track("first", Type::Bool, no),
        builder.track("second", Type::Bool, no),
    );
    let (read_first, read_second) = (
        builder.read_track(first, &[]),
        builder.read_track(second, &[]),
    );
    builder.spec.tracks[0].update = p;
    builder.spec.tracks[1].update = read_first;
    let record: [&[(&str, Cell)]; 3] = [&[("p", b(true))], &[("p", U)], &[("p", b(false))]];
    assert_eq!(
        values(&builder, read_first, &record),
        [b(true), U, b(false)]
    );
    assert_eq!(
        values(&builder, read_second, &record),
        [b(false), b(true), U]
    );
}
