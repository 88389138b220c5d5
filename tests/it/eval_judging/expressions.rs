//! Expressions: null, unknown, wrong types, arithmetic, functions.

use guard_lang::eval::Program;
use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Number, Object, Truth, Value};
use guard_lang::verdict::Verdict;

use super::build::*;

/// The value of a Boolean expression over one step, and whether the data had an error.
fn value(build: &mut Build, e: ExprId, row: &[Cell]) -> (Truth, usize) {
    build.spec.properties.clear();
    let letter = build.letter(e, "e");
    build.property("p", letter);
    let program: Program = build.program();
    let report = judge(&program, vec![row.to_vec()]);
    let truth = match only(&report).verdict {
        Verdict::Satisfied => Truth::True,
        Verdict::Violated => Truth::False,
        _ => Truth::Unknown,
    };
    (truth, report.problems.len())
}

const YES: (Truth, usize) = (Truth::True, 0);
const NO: (Truth, usize) = (Truth::False, 0);
const OPEN: (Truth, usize) = (Truth::Unknown, 0);
const ERROR: (Truth, usize) = (Truth::Unknown, 1);

fn float(float: f64) -> Cell {
    k(Value::Number(Number::float(float).expect("finite")))
}

fn list(items: &[&str]) -> Cell {
    k(Value::list(items.iter().map(Value::string).collect()))
}

fn pair() -> (Build, ExprId, ExprId) {
    let mut build = Build::new();
    let (a, b) = (build.field("a", Type::Json), build.field("b", Type::Json));
    (build, a, b)
}

#[test]
fn comparisons() {
    let (mut build, a, b) = pair();
    let eq = build.eq(a, b);
    for (lhs, rhs, wanted) in [
        (t("x"), t("x"), YES),
        (t("x"), t("null"), NO),
        (t("null"), t("null"), YES),
        (n(1), float(1.0), YES),
        (n((1 << 53) + 1), float(9_007_199_254_740_992.0), NO),
        (n(1), t("1"), NO),
        (t("?"), t("null"), OPEN),
    ] {
        assert_eq!(
            value(&mut build, eq, &[lhs.clone(), rhs.clone()]),
            wanted,
            "{lhs:?} == {rhs:?}"
        );
    }
    let less = build.b(Expr::Compare(Compare::Lt, a, b));
    for (lhs, rhs, wanted) in [
        (n(1), n(2), YES),
        (t("a"), t("b"), YES),
        (t("null"), n(2), NO),
        (n(2), t("null"), NO),
        (n(1), t("x"), ERROR),
        (k(Value::Bool(true)), k(Value::Bool(false)), ERROR),
        (t("?"), t("null"), OPEN),
    ] {
        assert_eq!(
            value(&mut build, less, &[lhs.clone(), rhs.clone()]),
            wanted,
            "{lhs:?} < {rhs:?}"
        );
    }
}

#[test]
fn texts_and_elements() {
    let (mut build, a, b) = pair();
    let contains = build.b(Expr::Contains(a, b));
    let starts = build.b(Expr::StartsWith(a, b));
    let element = build.b(Expr::In(b, a));
    let matches = {
        let regex = build
            .spec
            .exprs
            .add_regex("b+")
            .expect("a regular expression");
        build.b(Expr::Matches(a, regex))
    };
    for (expr, lhs, rhs, wanted) in [
        (contains, t("abc"), t("bc"), YES),
        (contains, t("abc"), t("null"), NO),
        (contains, t("null"), t("x"), NO),
        (contains, list(&["x", "y"]), t("y"), YES),
        (contains, list(&["xy"]), t("y"), ERROR),
        (contains, list(&["xy"]), t("z"), NO),
        (contains, n(5), t("y"), ERROR),
        (starts, t("abc"), t("ab"), YES),
        (starts, t("abc"), n(1), ERROR),
        (starts, t("null"), t("ab"), NO),
        (element, list(&["x"]), t("x"), YES),
        (element, t("null"), t("x"), NO),
        (element, t("null"), t("?"), NO),
        (element, list(&[]), t("?"), NO),
        (element, list(&["x"]), t("?"), OPEN),
        (element, n(4), t("x"), ERROR),
        (matches, t("abba"), t(""), YES),
        (matches, t("null"), t(""), NO),
        (matches, n(4), t(""), ERROR),
    ] {
        assert_eq!(
            value(&mut build, expr, &[lhs.clone(), rhs.clone()]),
            wanted,
            "{expr:?} of {lhs:?}, {rhs:?}"
        );
    }
}

#[test]
fn what_is_known_decides() {
    let mut build = Build::new();
    let [a, b] = ["a", "b"].map(|name| build.field(name, Type::Bool));
    let truth = build.c(Value::Bool(true));
    let or = build.b(Expr::Or(a, b));
    let both = build.cond(a, b, b, Type::Bool);
    let implied = build.b(Expr::Implies(a, b));
    let same = build.b(Expr::Iff(a, b));
    let (one, two) = (build.i(1), build.i(2));
    let chosen = build.cond(a, one, one, Type::Int);
    let chosen = build.eq(chosen, one);
    let split = build.cond(a, one, two, Type::Int);
    let split = build.eq(split, one);
    let listed = build.e(Expr::List([a, truth].into()), Type::Json);
    let element = build.b(Expr::In(truth, listed));
    let y = build.e(Expr::Local(LocalId::new(0)), Type::Bool);
    let any = build.b(Expr::Quantifier {
        kind: Quantifier::Any,
        local: LocalId::new(0),
        over: listed,
        body: y,
    });
    let all = build.b(Expr::Quantifier {
        kind: Quantifier::All,
        local: LocalId::new(0),
        over: listed,
        body: y,
    });
    let known = |value: bool| bit(Some(value));
    for (expr, lhs, rhs, wanted) in [
        (or, bit(None), known(true), YES),
        (or, bit(None), known(false), OPEN),
        (both, bit(None), known(true), YES),
        (both, bit(None), bit(None), OPEN),
        (implied, bit(None), known(true), YES),
        (implied, known(false), bit(None), YES),
        (same, bit(None), known(true), OPEN),
        (chosen, bit(None), bit(None), YES),
        (split, bit(None), bit(None), OPEN),
        (element, bit(None), bit(None), YES),
        (any, bit(None), bit(None), YES),
        (all, bit(None), bit(None), OPEN),
        (all, known(false), bit(None), NO),
    ] {
        assert_eq!(
            value(&mut build, expr, &[lhs.clone(), rhs.clone()]),
            wanted,
            "{expr:?} of {lhs:?}, {rhs:?}"
        );
    }
}

#[test]
fn arithmetic_is_checked() {
    let (mut build, a, b) = pair();
    let check = |build: &mut Build, op, lhs: Cell, rhs: Cell, result: Value, wanted| {
        let sum = build.e(Expr::Arith(op, a, b), Type::Json);
        let result = build.e(Expr::Const(result), Type::Json);
        let is = build.eq(sum, result);
        assert_eq!(
            value(build, is, &[lhs.clone(), rhs.clone()]),
            wanted,
            "{lhs:?} {op:?} {rhs:?}"
        );
    };
    let number = |float| Value::Number(Number::float(float).expect("finite"));
    check(&mut build, Arith::Add, n(1), n(2), Value::int(3), YES);
    check(
        &mut build,
        Arith::Add,
        n(i128::MAX),
        n(1),
        Value::int(0),
        ERROR,
    );
    check(
        &mut build,
        Arith::Add,
        t("a"),
        t("b"),
        Value::string("ab"),
        YES,
    );
    check(&mut build, Arith::Div, n(1), n(2), number(0.5), YES);
    check(&mut build, Arith::Div, n(1), n(0), Value::int(0), ERROR);
    check(&mut build, Arith::Mul, n(2), float(0.5), Value::int(1), YES);
    check(&mut build, Arith::Sub, n(2), t("null"), Value::Null, YES);
    check(&mut build, Arith::Sub, n(2), t("?"), Value::int(1), OPEN);
    check(
        &mut build,
        Arith::Mul,
        float(1e300),
        float(1e300),
        Value::int(1),
        ERROR,
    );
}

#[test]
fn members_casts_and_defaults() {
    let (mut build, a, b) = pair();
    let object = k(Value::Object(
        Object::new(vec![("to".into(), Value::string("x"))]).expect("distinct"),
    ));
    let to = build.e(Expr::Member(a, "to".into()), Type::Json);
    let is = build.eq(to, b);
    assert_eq!(value(&mut build, is, &[object.clone(), t("x")]), YES);
    assert_eq!(value(&mut build, is, &[t("null"), t("null")]), YES);
    assert_eq!(value(&mut build, is, &[n(4), t("x")]), ERROR);
    let from = build.e(Expr::Member(a, "from".into()), Type::Json);
    let is = build.eq(from, b);
    assert_eq!(value(&mut build, is, &[object, t("null")]), YES);
    let minus = build.i(-1);
    let item = build.e(Expr::Index(a, minus), Type::Json);
    let is = build.eq(item, b);
    assert_eq!(value(&mut build, is, &[list(&["x"]), t("null")]), YES);
    let cast = build.e(Expr::Cast(a), Type::Int);
    let is = build.eq(cast, b);
    assert_eq!(value(&mut build, is, &[float(3.0), n(3)]), YES);
    assert_eq!(value(&mut build, is, &[float(3.5), n(3)]), ERROR);
    assert_eq!(value(&mut build, is, &[t("null"), n(3)]), ERROR);
    let soft = build.e(Expr::Cast(a), Type::Int.nullable());
    let zero = build.i(0);
    let soft = build.e(Expr::Coalesce(soft, zero), Type::Int);
    let is = build.eq(soft, b);
    assert_eq!(value(&mut build, is, &[t("many"), n(0)]), YES);
    assert_eq!(value(&mut build, is, &[t("?"), n(0)]), OPEN);
}

#[test]
fn functions() {
    let (mut build, a, b) = pair();
    let check =
        |build: &mut Build, builtin, args: &[ExprId], row: [Cell; 2], result: Value, wanted| {
            let call = build.e(Expr::Call(builtin, args.into()), Type::Json);
            let result = build.e(Expr::Const(result), Type::Json);
            let is = build.eq(call, result);
            assert_eq!(value(build, is, &row), wanted, "{builtin:?} of {row:?}");
        };
    let strings = |items: &[&str]| Value::list(items.iter().map(Value::string).collect());
    let one = &[a][..];
    let two = &[a, b][..];
    check(
        &mut build,
        Builtin::Len,
        one,
        [t("aé"), t("")],
        Value::int(2),
        YES,
    );
    check(
        &mut build,
        Builtin::Len,
        one,
        [t("null"), t("")],
        Value::Null,
        YES,
    );
    check(
        &mut build,
        Builtin::Len,
        one,
        [n(3), t("")],
        Value::Null,
        ERROR,
    );
    check(
        &mut build,
        Builtin::Lower,
        one,
        [t("ÀB"), t("")],
        Value::string("àb"),
        YES,
    );
    check(
        &mut build,
        Builtin::Split,
        two,
        [t("a,b"), t(",")],
        strings(&["a", "b"]),
        YES,
    );
    check(
        &mut build,
        Builtin::Words,
        one,
        [t(" a  b "), t("")],
        strings(&["a", "b"]),
        YES,
    );
    check(
        &mut build,
        Builtin::Max,
        two,
        [n(3), float(3.5)],
        Value::Number(Number::float(3.5).expect("finite")),
        YES,
    );
    check(
        &mut build,
        Builtin::Mod,
        two,
        [n(-3), n(5)],
        Value::int(2),
        YES,
    );
    check(
        &mut build,
        Builtin::Mod,
        two,
        [n(3), n(-5)],
        Value::int(-2),
        YES,
    );
    check(
        &mut build,
        Builtin::Mod,
        two,
        [n(3), n(0)],
        Value::Null,
        ERROR,
    );
    check(
        &mut build,
        Builtin::Floor,
        one,
        [float(-0.5), t("")],
        Value::int(-1),
        YES,
    );
    check(
        &mut build,
        Builtin::Last,
        two,
        [list(&["a", "b", "c"]), n(2)],
        strings(&["b", "c"]),
        YES,
    );
    check(
        &mut build,
        Builtin::Text,
        one,
        [list(&["a", "b"]), t("")],
        Value::string("a\nb"),
        YES,
    );
    check(
        &mut build,
        Builtin::Text,
        one,
        [t("null"), t("")],
        Value::string(""),
        YES,
    );
    check(
        &mut build,
        Builtin::Json,
        one,
        [t("[\"a\"]"), t("")],
        strings(&["a"]),
        YES,
    );
    check(
        &mut build,
        Builtin::Json,
        one,
        [t("{\"a\":"), t("")],
        Value::Null,
        ERROR,
    );
    check(
        &mut build,
        Builtin::Json,
        one,
        [t("a"), t("")],
        Value::Null,
        YES,
    );
    check(
        &mut build,
        Builtin::Json,
        one,
        [t("{\"a\":1,\"a\":2}"), t("")],
        Value::Null,
        ERROR,
    );
}
