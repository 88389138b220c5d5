//! Queries evaluated along live traces: risks computed by hand, monitors beside the abstraction against monitors in its state,
//! and unknown data.
use std::sync::Arc;

use guard_lang::abstraction::ObservedState;
use guard_lang::audit::Judge;
use guard_lang::eval::{Limits, Observed, TraceSource, Wanted};
use guard_lang::hir::Spec;
use guard_lang::input::deferred::Deferred;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::learn::{InvalidPolicy, Model, RowLimits, Subject};
use guard_lang::modules::NoFiles;
use guard_lang::query::Forecast;
use guard_lang::value::{Cell, Value};
use guard_markov::Options;

const SPEC: &str = r#"
event { s: string }
trace { meta who: string from "/who" }
rule soon: when s == "ask" then s == "ok" within 2 steps
abstraction plain { over s }
abstraction with { over s, soon }
abstraction drift { over s  absorbing s == "u" }
model p = learn plain { }
model w = learn with { }
model d = learn drift { by meta.who }
model twice = learn drift { order 2 }
query late_p = P=? [ F violated(soon) ] on p
query asks_p = P=? [ F s == "ask" ] on p
query late_w = P=? [ F violated(soon) ] on w
query asks_w = P=? [ F s == "ask" ] on w
query bad_d = P=? [ F s == "u" ] on d
query next_d = P=? [ F<=1 s == "u" ] on d
query long_d = R=? [ F s == "u" ] on d
query bad_twice = P=? [ X s == "u" ] on twice
"#;

fn spec() -> Arc<Spec> {
    let limits = guard_lang::check::Limits::default();
    let checked = guard_lang::front("t.guard", SPEC, &NoFiles, limits);
    Arc::new(
        checked
            .spec
            .unwrap_or_else(|| panic!("{:#?}", checked.diagnostics)),
    )
}

/// Steps; `?` is one that is unknown.
fn steps(run: &str) -> Vec<Step> {
    let cell = |s: &str| match s {
        "?" => Cell::Unknown,
        s => Cell::Known(Value::string(s)),
    };
    let each = run.split_whitespace().enumerate().map(|(index, s)| Step {
        index: index as u32,
        cells: [cell(s)].into(),
    });
    each.collect()
}

fn origin() -> Origin {
    Origin {
        file: "t".into(),
        below: "t".into(),
        line: 1,
        ordinal: 0,
    }
}

fn learned(spec: &Arc<Spec>, name: &str, runs: &[(&str, &str)]) -> Model {
    let model = spec.find_model(name).unwrap();
    let abstraction = spec.model(model).abstraction().unwrap();
    let limits = Limits::default();
    let subject = Subject::new(spec, model, abstraction, &[], &limits).unwrap();
    let walker = subject.walker(&limits).unwrap();
    let mut counter = subject.counter(InvalidPolicy::Error);
    for (who, run) in runs {
        let record = Record {
            origin: origin(),
            id: None,
            complete: Some(true),
            meta: [Cell::Known(Value::string(who))].into(),
            steps: steps(run),
            problems: Vec::new(),
        };
        let walk = walker.judge(record, Deferred::NONE, &Wanted::new(0, |_, _| false));
        counter.add(&walk.unwrap());
    }
    subject.model(&counter.finish().0)
}

fn forecast(spec: &Arc<Spec>, name: &str, runs: &[(&str, &str)], queries: &[&str]) -> Forecast {
    let file = learned(spec, name, runs);
    let queries: Vec<_> = queries
        .iter()
        .map(|query| spec.find_claim(query).unwrap())
        .collect();
    let model = spec.find_model(name).unwrap();
    let options = (RowLimits::default(), &Options::default());
    Forecast::new(spec, model, &file, &queries, &Limits::default(), options).unwrap()
}

/// What each query is before the first step and after each step.
fn along(forecast: &Forecast, queries: usize, who: &str, run: &str) -> Vec<Vec<Option<f64>>> {
    let meta: Box<[Cell]> = [Cell::Known(Value::string(who))].into();
    let category = forecast.category(&meta);
    let source = TraceSource {
        origin: origin(),
        id: None,
        meta,
    };
    let mut observer = forecast.space().program().observe(source);
    let mut position = forecast.begin();
    let risks = |position: &_| -> Vec<Option<f64>> {
        let each = 0..queries;
        each.map(|query| forecast.risk(query, position, &category))
            .collect()
    };
    let mut found = vec![risks(&position)];
    for step in steps(run) {
        let sight = match observer.step(&step, |look| forecast.space().encode(look)) {
            Observed::Step(sight) => sight,
            Observed::NoStep => ObservedState::NoStep,
            Observed::Ambiguous => ObservedState::Unknown,
        };
        forecast.advance(&mut position, &sight);
        // What is written down is what was.
        let kept = serde_json::to_string(&position).unwrap();
        assert_eq!(position, serde_json::from_str(&kept).unwrap());
        found.push(risks(&position));
    }
    found
}

fn close(found: Option<f64>, wanted: Option<f64>) {
    match (found, wanted) {
        (Some(found), Some(wanted)) if found.is_finite() => {
            assert!((found - wanted).abs() < 1e-9, "{found} is not {wanted}");
        }
        _ => assert_eq!(found, wanted),
    }
}

#[test]
fn a_risk_is_that_of_the_state_of_the_chain() {
    let spec = spec();
    // From `a`: three times to `b`, once to `u`; from `b`: once to `u`, once back to `a`, once it ends.
    let runs = [("x", "a b u"), ("x", "a b a u"), ("x", "a b"), ("y", "c u")];
    let queries = ["bad_d", "next_d", "long_d"];
    let forecast = forecast(&spec, "d", &runs, &queries);
    let found = along(&forecast, 3, "x", "a b zzz a u a");
    // a = 3/4 b + 1/4, b = 1/3 + 1/3 a.
    let (a, b) = (2.0 / 3.0, 5.0 / 9.0);
    for (at, risk) in [Some(a), Some(a), Some(b), None, Some(a), Some(1.0), Some(a)]
        .into_iter()
        .enumerate()
    {
        close(found[at][0], risk);
    }
    close(found[0][1], Some(0.0));
    close(found[1][1], Some(0.25));
    // A run may end before `u`.
    assert_eq!(found[1][2], Some(f64::INFINITY));
    let other = along(&forecast, 3, "y", "c a");
    close(other[1][0], Some(1.0));
    close(other[2][0], None);
    assert_eq!(along(&forecast, 3, "nobody", "a")[1], [None, None, None]);
}

#[test]
fn monitors_that_run_along_and_monitors_in_the_state_say_the_same() {
    let spec = spec();
    let runs = [
        ("x", "ask ok x ask x ok"),
        ("x", "ask x x ask"),
        ("x", "x x ask ok ask ask x"),
        ("x", "x ok x x ask x ok x"),
        ("x", "ask ok"),
    ];
    let along_product = forecast(&spec, "p", &runs, &["asks_p", "late_p"]);
    let within = forecast(&spec, "w", &runs, &["asks_w", "late_w"]);
    for run in runs.map(|(_, run)| run) {
        let (first, second) = (
            along(&along_product, 2, "x", run),
            along(&within, 2, "x", run),
        );
        // Both know that the rule has been violated: two steps after an `ask` without `ok`.
        let tools: Vec<&str> = run.split(' ').collect();
        let missed = |at: usize| {
            let window = tools.get(at..=at + 2);
            tools[at] == "ask" && window.is_some_and(|window| !window.contains(&"ok"))
        };
        for (at, (first, second)) in first.iter().zip(&second).enumerate() {
            let violated = (0..at.saturating_sub(2)).any(missed);
            if violated {
                assert_eq!((first[1], second[1]), (Some(1.0), Some(1.0)), "{run} {at}");
            }
        }
    }
    // The product multiplies a chain whose rows know nothing of the monitor: by hand, after `ask x` one step is left.
    let found = along(&along_product, 2, "x", "ask x");
    let file = learned(&spec, "p", &runs);
    let node = |word: &str| {
        let words = file.chains[0].nodes.iter();
        let at = words
            .clone()
            .position(|node| node == &[format!("{word:?}")]);
        at.unwrap() as u32
    };
    let from = node("x");
    let exits: u64 = file.chains[0]
        .transitions
        .iter()
        .filter(|(source, ..)| *source == from)
        .map(|(_, _, count)| count)
        .chain(
            file.chains[0]
                .ends
                .iter()
                .filter(|(source, _)| *source == from)
                .map(|(_, count)| count),
        )
        .sum();
    let to_ok: u64 = file.chains[0]
        .transitions
        .iter()
        .filter(|(source, target, _)| *source == from && *target == node("ok"))
        .map(|(_, _, count)| count)
        .sum();
    // Anything but `ok` violates it, also the end; after `ok` it is what it is after `ok` with nothing owed.
    let fine = to_ok as f64 / exits as f64;
    let after = along(&along_product, 2, "x", "x ok");
    close(found[2][1], Some(1.0 - fine + fine * after[2][1].unwrap()));
}

#[test]
fn what_is_unknown_has_the_largest_risk_or_none() {
    let spec = spec();
    let runs = [("x", "ask ok x ask x x"), ("x", "x ask ok ok")];
    let forecast = forecast(&spec, "p", &runs, &["asks_p", "late_p"]);
    let found = along(&forecast, 2, "x", "ask ? x");
    assert_eq!(found[2], [None, None]);
    // The state is known again; whether `ok` was missed is not, so that the monitor may be violated.
    let known = along(&forecast, 2, "x", "x");
    close(found[3][0], known[1][0]);
    close(found[3][1], Some(1.0));
    let begin = forecast.begin();
    assert_eq!(forecast.describe(&begin), "start");
    let mut position = begin;
    forecast.advance(&mut position, &ObservedState::Unknown);
    assert_eq!(forecast.describe(&position), "unknown");
}

#[test]
fn a_chain_that_remembers_two_steps_needs_both() {
    let spec = spec();
    let runs = [("x", "a b u"), ("x", "c b a"), ("x", "c b u"), ("x", "b a")];
    let forecast = forecast(&spec, "twice", &runs, &["bad_twice"]);
    let one = |run: &str| along(&forecast, 1, "x", run).pop().unwrap()[0];
    close(one("a b"), Some(1.0));
    close(one("c b"), Some(0.5));
    // Begun with `b`, which is another state.
    close(one("b"), Some(0.0));
    close(one("a b ? b"), None);
    close(one("a b ? c b"), Some(0.5));
    close(one("b c"), None);
}
