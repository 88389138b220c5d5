//! `or end` forgives what the end of the trace cuts off and nothing else: every engine, and the definition of the language,
//! on all small cases.
use std::sync::Arc;

use guard_automata::{
    Atom, Formulas, Instant as Moment, LazyDfa, Limits, PathChecker, Verdict as Status, compile,
    eval, eval_timed,
};
use guard_lang::eval::{Limits as ProgramLimits, Program};
use guard_lang::hir::{self, print};
use guard_lang::ids::PropertyId;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::value::{Cell, Instant, Value};
use guard_lang::verdict::Verdict;
use guard_lang::{check, front, modules::NoFiles};

/// What holds at a step, and its time: in seconds, or its position where bounds are in steps.
#[derive(Clone, Copy, Debug)]
struct Event {
    a: bool,
    b: bool,
    time: i128,
}

/// Every `a` is followed by a `b` in time, or the trace ends before the window does.
fn holds(trace: &[Event], low: i128, high: i128) -> bool {
    let last = trace.last().map_or(0, |event| event.time);
    trace.iter().enumerate().all(|(at, event)| {
        let mut later = trace[at..].iter();
        !event.a
            || later.any(|other| other.b && (low..=high).contains(&(other.time - event.time)))
            || last < event.time + high
    })
}

/// All traces of up to so many events, each this long after the one before.
fn traces(longest: usize, pauses: &[i128]) -> Vec<Vec<Event>> {
    let mut all: Vec<Vec<Event>> = vec![Vec::new()];
    let mut from = 0;
    for _ in 0..longest {
        let to = all.len();
        for at in from..to {
            for (bits, pause) in
                (0..4).flat_map(|bits| pauses.iter().map(move |pause| (bits, pause)))
            {
                let before = all[at].last().map_or(0, |event| event.time + pause);
                let (a, b) = (bits & 1 == 1, bits & 2 == 2);
                all.push([all[at].as_slice(), &[Event { a, b, time: before }]].concat());
            }
        }
        from = to;
    }
    all.retain(|trace| !trace.is_empty());
    all
}

/// A spec with the rule, and with the property that says the same.
fn spec(within: &str) -> hir::Spec {
    let text = format!(
        "event {{ a: bool\n b: bool\n t: time }}\n\
         rule r: when a then b within {within} or end\n\
         property p = a leads to b within {within} or end\n"
    );
    let checked = front("p.guard", &text, &NoFiles, check::Limits::default());
    let spec = checked
        .spec
        .unwrap_or_else(|| panic!("{within}: {:?}", checked.diagnostics));
    assert_eq!(
        spec.properties[0].formula, spec.properties[1].formula,
        "{within}"
    );
    spec
}

fn record(trace: &[Event]) -> Record {
    let cells = |event: &Event| {
        let time = Instant(Instant::SECOND * event.time);
        [
            Value::Bool(event.a),
            Value::Bool(event.b),
            Value::Time(time),
        ]
        .map(Cell::Known)
    };
    let steps = trace.iter().enumerate().map(|(index, event)| Step {
        index: u32::try_from(index).unwrap(),
        cells: cells(event).into_iter().collect(),
    });
    Record {
        origin: Origin {
            file: Arc::from("t.jsonl"),
            below: Arc::from("t.jsonl"),
            line: 1,
            ordinal: 0,
        },
        id: Some("t".into()),
        complete: Some(true),
        meta: Box::default(),
        steps: steps.collect(),
        problems: Vec::new(),
    }
}

/// Whether everything that judges whole traces agrees, and the automaton with counters after every step.
fn agree(within: &str, traces: &[Vec<Event>], low: i128, high: i128, timed: bool) {
    let spec = spec(within);
    let mut formulas = Formulas::new();
    let root = spec.properties[0].formula;
    let root = guard_lang::translate::translate(
        &spec.formulas,
        root,
        guard_lang::translate::atom,
        &mut formulas,
    );
    let limits = Limits::default();
    let mut lazy = LazyDfa::new(&formulas, root, &limits).unwrap();
    let mut untimed = (!timed).then(|| {
        let dfa = compile(&formulas, root, &limits).unwrap();
        (dfa, PathChecker::new(&formulas, root, &limits).unwrap())
    });
    let programs = [0, 512].map(|unrolled| {
        let limits = ProgramLimits {
            unrolled,
            ..ProgramLimits::default()
        };
        Program::compile(&spec, &limits).unwrap()
    });
    for trace in traces {
        let truth = |at: usize, atom: Atom| match atom {
            Atom(0) => trace[at].a,
            _ => trace[at].b,
        };
        let expected = holds(trace, low, high);
        let times: Vec<i128> = trace
            .iter()
            .map(|event| Instant::SECOND * event.time)
            .collect();
        assert_eq!(
            eval_timed(&formulas, root, &times, truth)[0],
            expected,
            "{within} {trace:?}"
        );
        let mut state = lazy.initial();
        for (at, time) in times.iter().enumerate() {
            let moment = Moment {
                position: at as u64,
                time: Some(*time),
            };
            lazy.step(&mut state, moment, |atom| truth(at, atom))
                .unwrap();
            let so_far = holds(&trace[..=at], low, high);
            assert_eq!(state.accepting(), so_far, "{within} {:?}", &trace[..=at]);
        }
        if let Some((dfa, checker)) = &mut untimed {
            assert_eq!(eval(&formulas, root, trace.len(), truth)[0], expected);
            let mut state = dfa.initial();
            for at in 0..trace.len() {
                state = dfa.step(state, |atom| truth(at, atom));
                // Pending until the window closes, and violated for good then.
                let status = match holds(&trace[..=at], low, high) {
                    true => Status::PresumablySatisfied,
                    false => Status::Violated,
                };
                assert_eq!(dfa.verdict(state), status, "{within} {:?}", &trace[..=at]);
            }
            let found = checker.check(trace.len(), truth).unwrap();
            assert_eq!(found.is_none(), expected, "{within} {trace:?}");
        }
        let verdict = match expected {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        };
        let record = record(trace);
        for program in &programs {
            let report = program.judge(record.clone()).unwrap();
            assert_eq!(report.verdicts[0].verdict, verdict, "{within} {trace:?}");
        }
        let meant = guard_reference::judge_property(&spec, &record, PropertyId::new(0)).unwrap();
        assert_eq!(meant.verdict, verdict, "{within} {trace:?}");
    }
}

/// All traces of up to six steps, for every window with this farther end.
fn in_steps(high: u32) {
    let traces = traces(6, &[1]);
    assert_eq!(traces.len(), 4 + 16 + 64 + 256 + 1024 + 4096);
    for low in 0..=high {
        let within = format!("{low}..{high} steps");
        agree(&within, &traces, low.into(), high.into(), false);
    }
}

// A test for each window, so that they run side by side.
#[test]
fn every_engine_agrees_within_1_step() {
    in_steps(1);
}

#[test]
fn every_engine_agrees_within_2_steps() {
    in_steps(2);
}

#[test]
fn every_engine_agrees_within_3_steps() {
    in_steps(3);
}

#[test]
fn every_engine_agrees_within_4_steps() {
    in_steps(4);
}

#[test]
fn every_engine_agrees_in_time() {
    let traces = traces(3, &[0, 1, 2]);
    for high in 1..=3_u32 {
        for low in 0..=high {
            let within = format!("{low}s..{high}s");
            agree(&within, &traces, low.into(), high.into(), true);
        }
    }
}

/// The trace of the fault that gave `or end` its meaning: all steps of the window exist, so nothing is cut off.
#[test]
fn a_window_that_is_there_as_a_whole_is_not_forgiven() {
    let event = |a| Event {
        a,
        b: false,
        time: 0,
    };
    let whole = [event(true), event(false), event(false)];
    let program = Program::compile(&spec("2 steps"), &ProgramLimits::default()).unwrap();
    let verdict = |trace: &[Event]| program.judge(record(trace)).unwrap().verdicts[0].verdict;
    assert_eq!(verdict(&whole), Verdict::Violated);
    assert_eq!(verdict(&whole[..2]), Verdict::Satisfied);
}

/// What is shown of it says `or end`, and means the same when it is read again.
#[test]
fn it_is_read_back() {
    for within in ["5 steps", "1..5 steps", "30s", "1s..30s"] {
        let spec = spec(within);
        let text = print::formula(&spec.formulas, spec.properties[0].formula);
        assert_eq!(text, format!("a leads to b within {within} or end"));
        let words = guard_lang::report::words::property(&spec, &spec.properties[0]);
        assert!(
            words.ends_with(", unless the trace ends before that."),
            "{words}"
        );
        let again = guard_english::draft::draft(&words).reading.unwrap().formula;
        if within.ends_with("steps") {
            let meant = match within {
                "5 steps" => "G (a -> F[0,5] b | F[0,4] !X true)",
                _ => "G (a -> F[1,5] b | F[0,4] !X true)",
            };
            let same = crate::support::nl_formula::equivalent(&again, meant, false);
            assert!(same.unwrap_or(false), "{words} drafts to {again}");
        }
    }
}
