//! The reference on properties: quantifiers, unknown letters, unknown `where`, time bounds, complete and running
//! traces.

use crate::support::core::{SpecBuilder, U, b, null, s, seconds};
use crate::support::core_ltl as ltl;
use guard_lang::hir::{Bound, Compare, Expr, Formula, Unary};
use guard_lang::ids::{ExprId, FormulaId, PropertyId};
use guard_lang::input::record::Record;
use guard_lang::types::Type;
use guard_lang::value::{Cell, Instant, Value};
use guard_lang::verdict::Verdict::{
    self, PresumablySatisfied, PresumablyViolated, Satisfied, Unknown, Violated,
};
use guard_reference::{self, Judgement};

type Step<'a> = &'a [(&'a str, Cell)];
type Steps<'a> = &'a [Step<'a>];

/// The first verdict is the one before the first step.
fn online(builder: &SpecBuilder, steps: Steps<'_>) -> Vec<Verdict> {
    let record = builder.record(steps);
    let verdicts = guard_reference::prefix_verdicts(&builder.spec, &record, PropertyId::new(0))
        .expect("small");
    [verdicts.empty]
        .into_iter()
        .chain(verdicts.steps.iter().map(|(_, verdict)| *verdict))
        .collect()
}

fn judge(builder: &SpecBuilder, record: &Record) -> Judgement {
    guard_reference::judge_property(&builder.spec, record, PropertyId::new(0)).expect("small")
}

fn audit(builder: &SpecBuilder, steps: Steps<'_>) -> Judgement {
    judge(builder, &builder.record(steps))
}

fn unary(builder: &mut SpecBuilder, op: Unary, bound: Option<Bound>, f: FormulaId) -> FormulaId {
    builder.spec.formulas.add(Formula::Unary(op, bound, f))
}

/// A letter `field == x`, and the field.
fn equals_var(builder: &mut SpecBuilder, field: &str, var: usize) -> (FormulaId, ExprId) {
    let field_id = builder.field(field, Type::Json);
    let var = builder.expr(Expr::Var(var), Type::Json);
    let equal = builder.compare(Compare::Eq, field_id, var);
    (builder.letter(equal, field), field_id)
}

/// `forall id: F[0,3] (ack == id)`
fn acked_soon(universal: bool) -> SpecBuilder {
    let mut builder = SpecBuilder::new();
    let (acked, ack) = equals_var(&mut builder, "ack", 0);
    let formula = unary(
        &mut builder,
        Unary::Eventually,
        Some(Bound::Steps(0, 3)),
        acked,
    );
    let property = builder.property("p", formula);
    builder.quantify(property, universal, &[&[ack]]);
    builder
}

/// `forall id: G (request == id -> F[1,2] (response == id))`
fn answered() -> SpecBuilder {
    let mut builder = SpecBuilder::new();
    let (requested, request) = equals_var(&mut builder, "request", 0);
    let (responded, response) = equals_var(&mut builder, "response", 0);
    let soon = unary(
        &mut builder,
        Unary::Eventually,
        Some(Bound::Steps(1, 2)),
        responded,
    );
    let implies = builder.spec.formulas.add(Formula::Implies(requested, soon));
    let formula = unary(&mut builder, Unary::Always, None, implies);
    let property = builder.property("p", formula);
    builder.quantify(property, true, &[&[request, response]]);
    builder
}

fn plain(formula: &str) -> SpecBuilder {
    let mut builder = SpecBuilder::new();
    let formula = ltl::parse(&mut builder, formula);
    builder.property("p", formula);
    builder
}

#[test]
fn an_instance_stays_what_it_is_when_its_value_comes_again() {
    // S3: acked at 2, again at 5; "a new instance from the shared state, violated since" would be wrong.
    let builder = acked_soon(true);
    let steps: Steps<'_> = &[
        &[("ack", null())],
        &[("ack", null())],
        &[("ack", s("a"))],
        &[("ack", null())],
        &[("ack", null())],
        &[("ack", s("a"))],
    ];
    // Not final: any other value that comes now is violated.
    assert_eq!(online(&builder, steps), [PresumablySatisfied; 7]);
    let judgement = audit(&builder, steps);
    assert_eq!(
        (judgement.verdict, judgement.at, judgement.violated.len()),
        (Satisfied, Some(5), 0)
    );
    // Another value at 5 is violated from the first step at which it exists.
    let other = [("ack", s("b"))];
    let late = [&steps[..5], &[&other]].concat();
    assert_eq!(
        online(&builder, &late)[5..],
        [PresumablySatisfied, Violated]
    );
    let judgement = audit(&builder, &late);
    assert_eq!((judgement.verdict, judgement.at), (Violated, Some(5)));
    assert_eq!(judgement.violated.len(), 1);
    assert_eq!(
        (&judgement.violated[0].values[..], judgement.violated[0].at),
        (&[Value::string("b")][..], Some(5))
    );
}

#[test]
fn exists_is_the_dual() {
    let builder = acked_soon(false);
    let absent = [("ack", null())];
    let null_steps: Steps<'_> = &[&absent[..]; 5];
    // Final for no value yet to come: those are violated, and so is none that is there.
    assert_eq!(
        online(&builder, null_steps)[..5],
        [[PresumablyViolated; 4].as_slice(), &[Violated]].concat()
    );
    let steps: Steps<'_> = &[&[("ack", null())], &[("ack", s("a"))]];
    assert_eq!(
        online(&builder, steps),
        [PresumablyViolated, PresumablyViolated, Satisfied]
    );
}

#[test]
fn every_instance_is_judged_by_itself() {
    let builder = answered();
    let steps: Steps<'_> = &[
        &[("request", s("a")), ("response", null())],
        &[("request", s("b")), ("response", null())],
        &[("request", null()), ("response", s("b"))],
        &[("request", s("c")), ("response", null())],
    ];
    let online = online(&builder, steps);
    assert_eq!(
        online,
        [
            PresumablySatisfied,
            PresumablyViolated,
            PresumablyViolated,
            Violated,
            Violated
        ]
    );
    let judgement = audit(&builder, steps);
    assert_eq!(
        (judgement.verdict, judgement.is_final, judgement.at),
        (Violated, true, Some(2))
    );
    let violated: Vec<_> = judgement
        .violated
        .iter()
        .map(|v| (v.values[0].clone(), v.at))
        .collect();
    // `a` is finally violated at 2; `c` at the end of the trace only.
    assert_eq!(
        violated,
        [(Value::string("a"), Some(2)), (Value::string("c"), Some(3))]
    );
    // The same trace cut off: `c` may still be answered.
    let mut record = builder.record(steps);
    record.complete = Some(false);
    assert_eq!(judge(&builder, &record).violated.len(), 1);
}

#[test]
fn an_unknown_key_is_never_fine() {
    // S4: the request with an unknown key must not be vacuously fine, nor be a violation.
    let builder = answered();
    let unknown: Steps<'_> = &[
        &[("request", U), ("response", null())],
        &[("request", null()), ("response", null())],
    ];
    assert_eq!(audit(&builder, unknown).verdict, Unknown);
    // A violation of a known instance stands.
    let both: Steps<'_> = &[
        &[("request", s("a")), ("response", null())],
        &[("request", U), ("response", null())],
        &[("request", null()), ("response", null())],
    ];
    let judgement = audit(&builder, both);
    assert_eq!((judgement.verdict, judgement.violated.len()), (Violated, 1));
    // A response with an unknown key may be the one: no violation.
    let answer: Steps<'_> = &[
        &[("request", s("a")), ("response", null())],
        &[("request", null()), ("response", U)],
        &[("request", null()), ("response", null())],
    ];
    assert_eq!(audit(&builder, answer).verdict, Unknown);
    // For `exists`, an unknown term may be a witness, and never is one.
    assert_eq!(audit(&acked_soon(false), &[&[("ack", U)]]).verdict, Unknown);
}

#[test]
fn what_is_final_stays_when_a_term_is_unknown_later() {
    // `forall x: not (e == x)`, of the first step: no value that comes later was there.
    let mut builder = SpecBuilder::new();
    let (ex, e) = equals_var(&mut builder, "e", 0);
    let formula = builder.spec.formulas.add(Formula::Not(ex));
    let property = builder.property("p", formula);
    builder.quantify(property, true, &[&[e]]);
    let steps: Steps<'_> = &[&[("e", null())], &[("e", U)], &[("e", s("a"))]];
    assert_eq!(
        online(&builder, steps),
        [PresumablySatisfied, Satisfied, Satisfied, Satisfied]
    );
    // An unknown first step may have had any value.
    let steps: Steps<'_> = &[&[("e", U)], &[("e", s("a"))]];
    assert_eq!(
        online(&builder, steps),
        [PresumablySatisfied, Unknown, Unknown]
    );
}

#[test]
fn null_never_ranges_and_constants_do() {
    let mut builder = answered();
    let steps: Steps<'_> = &[&[("request", null()), ("response", null())]];
    assert_eq!(audit(&builder, steps).verdict, Satisfied);
    // A constant is in the range from the start: `forall x: F[0,3] (ack == x)` with "a".
    builder = acked_soon(true);
    let quantified = builder.spec.properties[0]
        .quantified
        .as_mut()
        .expect("quantified");
    quantified.vars[0].constants.push(Value::string("a"));
    let absent = [("ack", null())];
    let steps: Steps<'_> = &[&absent[..]; 4];
    assert_eq!(online(&builder, steps)[3..], [PresumablyViolated, Violated]);
}

#[test]
fn a_range_restricts() {
    // `forall x in names: F[0,3] (ack == x)`: `b` is acked, but not in the range; `a` is in it, and is not acked.
    let mut builder = acked_soon(true);
    let names = builder.field("names", Type::Json);
    builder.spec.properties[0]
        .quantified
        .as_mut()
        .expect("quantified")
        .vars[0]
        .range = Some(names);
    let list = |items: &[&str]| Cell::Known(Value::list(items.iter().map(Value::string).collect()));
    let none: Steps<'_> = &[
        &[("ack", s("b")), ("names", list(&[]))],
        &[("ack", s("c")), ("names", null())],
    ];
    assert_eq!(audit(&builder, none).verdict, Satisfied);
    let some: Steps<'_> = &[&[("ack", s("b")), ("names", list(&["a", "b"]))]];
    let judgement = audit(&builder, some);
    assert_eq!(
        (judgement.verdict, &judgement.violated[0].values[..]),
        (Violated, &[Value::string("a")][..])
    );
    // An unknown acknowledgement is no further instance, an unknown range is.
    let known: Steps<'_> = &[
        &[("ack", U), ("names", list(&["a"]))],
        &[("ack", s("a")), ("names", null())],
    ];
    assert_eq!(audit(&builder, known).verdict, Satisfied);
    assert_eq!(
        audit(&builder, &[&[("ack", null()), ("names", U)]]).verdict,
        Unknown
    );
    // It may also be a value that something else takes, before or after: `forall x in names: G not (ack == x)` holds
    // for every other.
    let mut builder = SpecBuilder::new();
    let (acked, ack) = equals_var(&mut builder, "ack", 0);
    let not = builder.spec.formulas.add(Formula::Not(acked));
    let formula = unary(&mut builder, Unary::Always, None, not);
    let property = builder.property("p", formula);
    builder.quantify(property, true, &[&[ack]]);
    let names = builder.field("names", Type::Json);
    builder.spec.properties[0]
        .quantified
        .as_mut()
        .expect("quantified")
        .vars[0]
        .range = Some(names);
    let acked: Step<'_> = &[("ack", s("a")), ("names", list(&[]))];
    let unknown: Step<'_> = &[("ack", null()), ("names", U)];
    assert_eq!(audit(&builder, &[acked, acked]).verdict, Satisfied);
    assert_eq!(audit(&builder, &[unknown, unknown]).verdict, Satisfied);
    assert_eq!(audit(&builder, &[acked, unknown]).verdict, Unknown);
    assert_eq!(audit(&builder, &[unknown, acked]).verdict, Unknown);
    // Not where every value would be fine: `exists` has a witness, whatever else is in the range.
    let mut builder = acked_soon(false);
    let names = builder.field("names", Type::Json);
    builder.spec.properties[0]
        .quantified
        .as_mut()
        .expect("quantified")
        .vars[0]
        .range = Some(names);
    let may_be = audit(&builder, &[&[("ack", s("a")), ("names", U)]]);
    assert_eq!(may_be.verdict, Unknown);
    let witness = audit(
        &builder,
        &[
            &[("ack", s("a")), ("names", U)],
            &[("ack", null()), ("names", list(&["a"]))],
        ],
    );
    assert_eq!(witness.verdict, Satisfied);
}

#[test]
fn tuples_remember_what_was_partly_seen() {
    // `forall (x, y): G (e == y -> O (d == x))`: (a, b) holds if `a` was seen at or before the first `b`.
    let mut builder = SpecBuilder::new();
    let (dx, d) = equals_var(&mut builder, "d", 0);
    let (ey, e) = equals_var(&mut builder, "e", 1);
    let once = unary(&mut builder, Unary::Once, None, dx);
    let implies = builder.spec.formulas.add(Formula::Implies(ey, once));
    let formula = unary(&mut builder, Unary::Always, None, implies);
    let property = builder.property("p", formula);
    builder.quantify(property, true, &[&[d], &[e]]);
    let steps: Steps<'_> = &[
        &[("d", s("a")), ("e", null())],
        &[("d", null()), ("e", s("b"))],
        &[("d", s("c")), ("e", null())],
    ];
    // After the second step the pair (unseen, b) is violated, but is no instance; `c` makes it one.
    assert_eq!(
        online(&builder, steps),
        [
            PresumablySatisfied,
            PresumablySatisfied,
            PresumablySatisfied,
            Violated
        ]
    );
    let judgement = audit(&builder, steps);
    assert_eq!(judgement.violated.len(), 1);
    assert_eq!(
        judgement.violated[0].values,
        [Value::string("c"), Value::string("b")]
    );
}

#[test]
fn finality_is_that_of_the_instances() {
    // S4: `forall x: F G (e == x)` cannot hold of two values, but each instance still may.
    let mut builder = SpecBuilder::new();
    let (ex, e) = equals_var(&mut builder, "e", 0);
    let always = unary(&mut builder, Unary::Always, None, ex);
    let formula = unary(&mut builder, Unary::Eventually, None, always);
    let property = builder.property("p", formula);
    builder.quantify(property, true, &[&[e]]);
    let steps: Steps<'_> = &[&[("e", s("a"))], &[("e", s("b"))]];
    assert_eq!(
        online(&builder, steps),
        [PresumablySatisfied, PresumablySatisfied, PresumablyViolated]
    );
}

#[test]
fn completions_that_leave_the_same_may_have_different_values() {
    // With the future inside the past: `G last` holds at the last step only, so if the trace goes on it is violated
    // whatever `z` was, and if it ends here that depends on `z`.
    let builder = plain("X X ((G last) S z)");
    let known = |z: bool| [("z", b(z))];
    let steps: Steps<'_> = &[&known(false), &[("z", U)], &known(false)];
    assert_eq!(
        online(&builder, steps),
        [
            PresumablyViolated,
            PresumablyViolated,
            PresumablyViolated,
            Unknown
        ]
    );
    assert_eq!(audit(&builder, steps).verdict, Unknown);
    for (z, verdict) in [(true, PresumablySatisfied), (false, Violated)] {
        let steps: Steps<'_> = &[&known(false), &known(z), &known(false)];
        assert_eq!(online(&builder, steps)[3], verdict);
    }
}

#[test]
fn letters_are_free_and_completions_are_all_followed() {
    let p = |cell: Cell| -> Vec<(&'static str, Cell)> { vec![("p", cell)] };
    let (t, f, u) = (p(b(true)), p(b(false)), p(U));
    let table: [(&str, Vec<Step<'_>>, &[Verdict]); 6] = [
        ("F p", vec![&u], &[PresumablyViolated, Unknown]),
        (
            "F p",
            vec![&u, &t],
            &[PresumablyViolated, Unknown, Satisfied],
        ),
        // written out, an unknown letter is decided over all completions
        ("p | !p", vec![&u], &[Satisfied, Satisfied]),
        // all of one value now, one of them final
        (
            "G p",
            vec![&u, &f],
            &[PresumablySatisfied, Unknown, Violated],
        ),
        (
            "F (p & X p)",
            vec![&u, &f],
            &[PresumablyViolated, PresumablyViolated, PresumablyViolated],
        ),
        (
            "X F p & (p | X X p)",
            vec![&u, &f, &t],
            &[
                PresumablyViolated,
                PresumablyViolated,
                PresumablyViolated,
                Satisfied,
            ],
        ),
    ];
    for (formula, steps, verdicts) in table {
        assert_eq!(online(&plain(formula), &steps), verdicts, "{formula}");
    }
}

#[test]
fn the_end_makes_every_verdict_final() {
    let builder = plain("G (p -> F q)");
    let steps: Steps<'_> = &[&[("p", b(true)), ("q", b(false))]];
    let found = |record: &Record| {
        let judgement = judge(&builder, record);
        (judgement.verdict, judgement.is_final, judgement.at)
    };
    let mut record = builder.record(steps);
    record.steps[0].index = 7;
    assert_eq!(found(&record), (Violated, true, Some(7)));
    record.complete = Some(false);
    assert_eq!(found(&record), (PresumablyViolated, false, None));
    // "by default a record or a file is complete when audited"; null for the empty trace
    record.complete = None;
    record.steps.clear();
    assert_eq!(found(&record), (Satisfied, true, None));
    // What the data does not decide stays unknown at the end.
    let judgement = audit(&builder, &[&[("p", b(true)), ("q", U)]]);
    assert_eq!(
        (judgement.verdict, judgement.is_final, judgement.at),
        (Unknown, true, Some(0))
    );
}

#[test]
fn the_filter_drops_events_and_follows_unknown_ones_both_ways() {
    let mut builder = plain("X X b");
    builder.spec.filter.step = Some(builder.field("keep", Type::Bool));
    let step = |keep: Cell, value: bool| vec![("keep", keep), ("b", b(value))];
    let (x, y, z) = (
        step(b(true), false),
        step(b(false), false),
        step(b(true), true),
    );
    assert_eq!(audit(&builder, &[&x, &y, &x, &z]).verdict, Satisfied);
    assert_eq!(audit(&builder, &[&x, &y, &x, &z]).at, Some(3));
    // S11: true if kept, false if dropped, whatever the letters.
    let unknown = step(U, false);
    assert_eq!(
        online(&builder, &[&x, &unknown, &z]),
        [
            PresumablyViolated,
            PresumablyViolated,
            PresumablyViolated,
            Unknown
        ]
    );
    // Both ways agree.
    let mut builder = plain("F b");
    builder.spec.filter.step = Some(builder.field("keep", Type::Bool));
    assert_eq!(
        online(&builder, &[&unknown, &z]),
        [PresumablyViolated, PresumablyViolated, Satisfied]
    );
}

#[test]
fn bounds_in_time() {
    // `G (p -> F[0,2s] q)`
    let mut builder = SpecBuilder::new();
    let (p, q) = (builder.atom("p"), builder.atom("q"));
    builder.field("at", Type::Time);
    let window = Bound::Time(0, 2 * Instant::SECOND);
    let soon = unary(&mut builder, Unary::Eventually, Some(window), q);
    let implies = builder.spec.formulas.add(Formula::Implies(p, soon));
    let formula = unary(&mut builder, Unary::Always, None, implies);
    builder.property("p", formula);
    let step = |at: Cell, p: bool, q: bool| vec![("at", at), ("p", b(p)), ("q", b(q))];
    let (start, soon, late) = (
        step(seconds(10), true, false),
        step(seconds(12), false, true),
        step(seconds(13), false, true),
    );
    assert_eq!(
        online(&builder, &[&start, &soon])[1..],
        [PresumablyViolated, PresumablySatisfied]
    );
    assert_eq!(
        online(&builder, &[&start, &late])[1..],
        [PresumablyViolated, Violated]
    );
    // "A null or unknown time makes a bound in seconds unknown."
    let unknown = step(U, false, true);
    assert_eq!(
        online(&builder, &[&start, &unknown])[1..],
        [PresumablyViolated, Unknown]
    );
    let absent = step(null(), false, true);
    assert_eq!(
        online(&builder, &[&start, &absent, &soon])[2..],
        [Unknown, PresumablySatisfied]
    );
    // "a clock that runs back is a data error, bounds then count from the latest time seen"
    let idle = step(seconds(13), false, false);
    let back = step(seconds(11), false, true);
    assert_eq!(
        online(&builder, &[&start, &idle, &back])[2..],
        [Violated, Violated]
    );
    let errors =
        guard_reference::data_errors(&builder.spec, &builder.record(&[&start, &idle, &back]));
    assert_eq!(errors.len(), 1);
    assert_eq!(errors[0].step, 2);
}

#[test]
fn past_and_last_stand_within_formulas() {
    let t: Vec<(&str, Cell)> = vec![("p", b(true))];
    let f: Vec<(&str, Cell)> = vec![("p", b(false))];
    // `F[0,25] (p or last)` forgives windows that the end cuts off.
    assert_eq!(
        audit(&plain("G F[0,25] (p | last)"), &[&t, &f]).verdict,
        Satisfied
    );
    assert_eq!(audit(&plain("G F[0,25] p"), &[&t, &f]).verdict, Violated);
    assert_eq!(audit(&plain("!Y p & Z p"), &[&f]).verdict, Satisfied);
}

#[test]
fn limits_are_told() {
    // Twenty-five unknown letters at one position are too many completions.
    let mut builder = SpecBuilder::new();
    let letters: Vec<String> = (0..25).map(|idx| format!("F p{idx}")).collect();
    let formula = ltl::parse(&mut builder, &letters.join(" & "));
    builder.property("p", formula);
    let record = builder.record(&[&[]]);
    let found = guard_reference::judge_property(&builder.spec, &record, PropertyId::new(0));
    let message = found.expect_err("too large").to_string();
    assert!(message.starts_with("more than "), "{message}");
}

#[test]
fn completeness_and_records() {
    let mut builder = plain("F p");
    let no = builder.constant(Value::Bool(false));
    let unknown = builder.expr(Expr::Unknown, Type::Bool);
    let mut record = builder.record(&[&[("p", b(false))]]);
    record.complete = None;
    assert!(guard_reference::is_complete(&builder.spec, &record));
    for complete in [no, unknown] {
        builder.spec.filter.complete = Some(complete);
        assert!(!guard_reference::is_complete(&builder.spec, &record));
        assert_eq!(judge(&builder, &record).verdict, PresumablyViolated);
    }
    builder.spec.filter.record = Some(no);
    assert_eq!(
        guard_reference::is_trace(&builder.spec, &record).known(),
        Some(false)
    );
}
