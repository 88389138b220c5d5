//! `or end` excuses only obligations that the end of the trace cuts off: every engine, and the reference semantics, on all
//! small cases.
use std::sync::Arc;

use crate::support::cli::Folder;

use guard_automata::{
    Atom, Dfa, FormulaId, Formulas, Instant as Moment, LazyDfa, LazyState, Limits, PathChecker,
    StateId, Verdict as Status, compile, eval, eval_timed,
};
use guard_lang::eval::{Limits as ProgramLimits, Live, Program, StepCache, Wanted};
use guard_lang::hir::{self, print};
use guard_lang::ids::PropertyId;
use guard_lang::input::deferred::Deferred;
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::value::{Cell, Instant, Value};
use guard_lang::verdict::Verdict;
use guard_lang::{check, front, modules::NoFiles};
use guard_reference::Definition;

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
    holds_until(trace, low, high, last)
}

/// The same of a trace that is known to this time.
fn holds_until(trace: &[Event], low: i128, high: i128, last: i128) -> bool {
    trace.iter().enumerate().all(|(at, event)| {
        let mut later = trace[at..].iter();
        !event.a
            || later.any(|other| other.b && (low..=high).contains(&(other.time - event.time)))
            || last < event.time + high
    })
}

/// A window, as it is written.
#[derive(Clone, Copy, Debug)]
struct Within {
    low: u32,
    high: u32,
    unit: &'static str,
}

impl std::fmt::Display for Within {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Within { low, high, unit } = self;
        // `1..2 steps`, but `1s..2s`
        let near = if *unit == "s" { "s" } else { "" };
        write!(f, "{low}{near}..{high}{unit}")
    }
}

/// A spec with a rule for each window, or a property that says the same.
fn spec(rules: bool, windows: &[String]) -> hir::Spec {
    let mut text = "event { a: bool\n b: bool\n t: time }\n".to_owned();
    for (at, within) in windows.iter().enumerate() {
        let item = match rules {
            true => format!("rule r{at}: when a then b"),
            false => format!("property p{at} = a leads to b"),
        };
        text.push_str(&format!("{item} within {within} or end\n"));
    }
    let checked = front("p.guard", &text, &NoFiles, check::Limits::default());
    let errors = checked.diagnostics;
    checked.spec.unwrap_or_else(|| panic!("{errors:?}"))
}

fn spec_of(rules: bool, windows: &[Within]) -> hir::Spec {
    let texts: Vec<String> = windows.iter().map(Within::to_string).collect();
    spec(rules, &texts)
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

/// What judges one rule.
struct Rule {
    within: Within,
    root: FormulaId,
    /// The automaton with counters, which `eval` steps for windows in seconds and long ones in steps.
    lazy: LazyDfa,
    /// The explicit automaton and the search for a violating path, for windows in steps.
    untimed: Option<(Dfa, PathChecker)>,
}

/// What judges all rules.
struct Judges<'s> {
    rules: Vec<Rule>,
    formulas: Formulas,
    definition: Definition<'s>,
    /// Compiled with counters only, and with states for short windows.
    programs: [Program; 2],
    /// For live traces.
    live: Program,
    cache: StepCache,
    n_traces: usize,
}

/// The states of the automata of a rule after a trace.
#[derive(Clone)]
struct After {
    lazy: LazyState,
    dfa: Option<StateId>,
    /// Whether the definition of the language says that no continuation changes the verdict: it is not asked about them.
    is_final: bool,
}

/// All that has read a trace.
#[derive(Clone)]
struct Read {
    rules: Vec<After>,
    live: Live,
}

impl<'s> Judges<'s> {
    /// `spec` has a rule for each of these windows.
    fn new(windows: &[Within], spec: &'s hir::Spec) -> Judges<'s> {
        let properties = spec_of(false, windows);
        let mut formulas = Formulas::new();
        let limits = Limits::default();
        let rule = |(at, within): (usize, &Within)| {
            let formula = spec.properties[at].formula;
            assert_eq!(formula, properties.properties[at].formula, "{within}");
            let atom = guard_lang::translate::atom;
            let root =
                guard_lang::translate::translate(&spec.formulas, formula, atom, &mut formulas);
            let in_steps = within.unit == " steps";
            Rule {
                within: *within,
                root,
                lazy: LazyDfa::new(&formulas, root, &limits).unwrap(),
                untimed: in_steps.then(|| {
                    let dfa = compile(&formulas, root, &limits).unwrap();
                    (dfa, PathChecker::new(&formulas, root, &limits).unwrap())
                }),
            }
        };
        let rules = windows.iter().enumerate().map(rule).collect();
        let programs = [0, 512].map(|unrolled| {
            let limits = ProgramLimits {
                unrolled,
                ..ProgramLimits::default()
            };
            Program::compile(spec, &limits).unwrap()
        });
        let shared = Arc::new(spec.clone());
        let live = Program::compile_live(shared, &[], &ProgramLimits::default()).unwrap();
        Judges {
            rules,
            formulas,
            definition: Definition::new(spec),
            programs,
            cache: StepCache::new(&live),
            live,
            n_traces: 0,
        }
    }

    /// Whether all agree on every trace of up to so many events that begins with this one, each event one of these pauses
    /// after the one before. The automata step from each trace to those that are one event longer, so they are compared after
    /// every event of every trace.
    fn agree_up_to(&mut self, first: u8, longest: usize, pauses: &[i128]) -> usize {
        let (mut trace, start) = (Vec::new(), self.start());
        self.extend_by(event(first, 0), &mut trace, &start, longest, pauses);
        self.n_traces
    }

    fn start(&self) -> Read {
        let start = |rule: &Rule| After {
            lazy: rule.lazy.initial(),
            dfa: rule.untimed.as_ref().map(|(dfa, _)| dfa.initial()),
            is_final: false,
        };
        Read {
            rules: self.rules.iter().map(start).collect(),
            live: Live::new(&self.live),
        }
    }

    fn extend_by(
        &mut self,
        event: Event,
        trace: &mut Vec<Event>,
        before: &Read,
        longest: usize,
        pauses: &[i128],
    ) {
        trace.push(event);
        let mut after = before.clone();
        self.agree_after(trace, &mut after);
        if trace.len() < longest {
            for (bits, pause) in
                (0..4).flat_map(|bits| pauses.iter().map(move |pause| (bits, pause)))
            {
                let next = self::event(bits, event.time + pause);
                self.extend_by(next, trace, &after, longest, pauses);
            }
        }
        trace.pop();
    }

    /// Steps everything over the last event of a trace, and judges the whole of it.
    fn agree_after(&mut self, trace: &[Event], read: &mut Read) {
        for (rule, after) in self.rules.iter_mut().zip(&mut read.rules) {
            rule.agrees(&self.formulas, trace, after);
        }
        self.agree_live(trace, &mut read.live);
        self.agree_on_the_whole(trace, &mut read.rules);
        self.n_traces += 1;
    }

    /// Steps a live trace: pending until the window closes, and violated for good then. In time, an event at the same time
    /// as the deadline may still meet it.
    fn agree_live(&mut self, trace: &[Event], live: &mut Live) {
        let step = record(trace).steps.pop().unwrap();
        self.cache.happened(&self.live, live, &step, |_| {});
        let before = trace.last().map_or(0, |event| event.time) - 1;
        for (at, rule) in self.rules.iter().enumerate() {
            let found = self.cache.verdict(&self.live, live, PropertyId::new(at));
            let Within { low, high, .. } = rule.within;
            let is_over =
                rule.untimed.is_some() || !holds_until(trace, low.into(), high.into(), before);
            let meant = match rule.expected(trace) {
                true => Verdict::PresumablySatisfied,
                false if is_over => Verdict::Violated,
                false => Verdict::PresumablyViolated,
            };
            assert_eq!(found, meant, "{} {trace:?}", rule.within);
        }
    }

    /// Judges a whole trace by the evaluator, compiled in two ways, and by the definition of the language.
    fn agree_on_the_whole(&self, trace: &[Event], after: &mut [After]) {
        let record = record(trace);
        let verdict = |rule: &Rule| match rule.expected(trace) {
            true => Verdict::Satisfied,
            false => Verdict::Violated,
        };
        let expected: Vec<Verdict> = self.rules.iter().map(verdict).collect();
        for (at, (after, expected)) in after.iter_mut().zip(&expected).enumerate() {
            let (property, untimed) = (PropertyId::new(at), self.rules[at].untimed.is_some());
            if after.is_final {
                continue;
            }
            // The definition searches for continuations, which takes long: in time, of long traces it judges some.
            if !untimed && trace.len() > 3 && !self.n_traces.is_multiple_of(32) {
                continue;
            }
            let meant = self.definition.prefix_verdicts(&record, property).unwrap();
            let meant = meant.steps.last().unwrap().1;
            let live = match expected {
                Verdict::Satisfied => Verdict::PresumablySatisfied,
                _ => Verdict::Violated,
            };
            // In time, the definition need not find the earliest step at which a verdict is final.
            let presumed = !untimed && meant == Verdict::PresumablyViolated;
            assert!(
                meant == live || presumed && live == Verdict::Violated,
                "{trace:?}"
            );
            after.is_final = meant.is_final();
        }
        for program in &self.programs {
            // Explanations would take two fifths of the time.
            let nothing = Wanted::new(self.rules.len(), |_, _| false);
            let report = program.judge_for(record.clone(), Deferred::NONE, &nothing);
            let verdicts = report.unwrap().verdicts;
            let found: Vec<Verdict> = verdicts.iter().map(|line| line.verdict).collect();
            assert_eq!(found, expected, "{trace:?}");
        }
    }
}

impl Rule {
    fn expected(&self, trace: &[Event]) -> bool {
        holds(trace, self.within.low.into(), self.within.high.into())
    }

    /// Steps the automata over the last event of a trace, and judges the whole of it.
    fn agrees(&mut self, formulas: &Formulas, trace: &[Event], after: &mut After) {
        let (expected, within) = (self.expected(trace), self.within);
        let at = trace.len() - 1;
        let last = |atom: Atom| truth(trace, at, atom);
        let moment = Moment {
            position: at as u64,
            time: Some(Instant::SECOND * trace[at].time),
        };
        self.lazy.step(&mut after.lazy, moment, last).unwrap();
        assert_eq!(after.lazy.accepting(), expected, "{within} {trace:?}");
        let truth = |at: usize, atom: Atom| truth(trace, at, atom);
        let times = trace.iter().map(|event| Instant::SECOND * event.time);
        let times: Vec<i128> = times.collect();
        let meant = eval_timed(formulas, self.root, &times, truth)[0];
        assert_eq!(meant, expected, "{within} {trace:?}");
        if let (Some((dfa, checker)), Some(state)) = (&mut self.untimed, &mut after.dfa) {
            *state = dfa.step(*state, last);
            // Pending until the window closes, and violated for good then.
            let status = match expected {
                true => Status::PresumablySatisfied,
                false => Status::Violated,
            };
            assert_eq!(dfa.verdict(*state), status, "{within} {trace:?}");
            let meant = eval(formulas, self.root, trace.len(), truth)[0];
            assert_eq!(meant, expected, "{within} {trace:?}");
            let found = checker.check(trace.len(), truth).unwrap();
            assert_eq!(found.is_none(), expected, "{within} {trace:?}");
        }
    }
}

fn event(bits: u8, time: i128) -> Event {
    let (a, b) = (bits & 1 == 1, bits & 2 == 2);
    Event { a, b, time }
}

fn truth(trace: &[Event], at: usize, atom: Atom) -> bool {
    match atom {
        Atom(0) => trace[at].a,
        _ => trace[at].b,
    }
}

/// All windows that are at most so long, the nearer end at most the farther one.
fn windows(farthest: u32, unit: &'static str) -> Vec<Within> {
    let lows = |high| (0..=high).map(move |low| Within { low, high, unit });
    (0..=farthest).flat_map(lows).collect()
}

/// All traces of up to six steps that begin with this event, and all windows of up to four steps.
fn in_steps(first: u8) {
    let windows = windows(4, " steps");
    let spec = spec_of(true, &windows);
    let mut judges = Judges::new(&windows, &spec);
    assert_eq!(judges.rules.len(), 15);
    let n_traces = judges.agree_up_to(first, 6, &[1]);
    assert_eq!(n_traces, 1 + 4 + 16 + 64 + 256 + 1024);
}

// A test for each first event, so that they run side by side.
#[test]
fn all_agree_on_traces_that_begin_with_neither() {
    in_steps(0);
}

#[test]
fn all_agree_on_traces_that_begin_with_a() {
    in_steps(1);
}

#[test]
fn all_agree_on_traces_that_begin_with_b() {
    in_steps(2);
}

#[test]
fn all_agree_on_traces_that_begin_with_both() {
    in_steps(3);
}

/// All traces of up to six events, a second apart, and all windows of up to four seconds.
fn in_time(first: u8) {
    let windows = windows(4, "s");
    let spec = spec_of(true, &windows);
    let mut judges = Judges::new(&windows, &spec);
    let n_traces = judges.agree_up_to(first, 6, &[1]);
    assert_eq!(n_traces, 1 + 4 + 16 + 64 + 256 + 1024);
}

#[test]
fn all_agree_in_time_on_traces_that_begin_with_neither() {
    in_time(0);
}

#[test]
fn all_agree_in_time_on_traces_that_begin_with_a() {
    in_time(1);
}

#[test]
fn all_agree_in_time_on_traces_that_begin_with_b() {
    in_time(2);
}

#[test]
fn all_agree_in_time_on_traces_that_begin_with_both() {
    in_time(3);
}

/// All traces of up to three events that are at most two seconds apart, and all windows of up to three seconds.
#[test]
fn all_agree_on_pauses() {
    let windows = windows(3, "s");
    let spec = spec_of(true, &windows);
    let mut judges = Judges::new(&windows, &spec);
    for first in 0..4 {
        judges.agree_up_to(first, 3, &[0, 1, 2]);
    }
    assert_eq!(judges.n_traces, 4 + 48 + 576);
}

/// Traces of six events that are at most three seconds apart: some of the million.
#[test]
fn all_agree_on_longer_traces_with_pauses() {
    let windows = windows(4, "s");
    let spec = spec_of(true, &windows);
    let mut judges = Judges::new(&windows, &spec);
    let mut seed = 1u64;
    let mut below = |n: u64| {
        seed = seed
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    for _ in 0..200 {
        let (mut trace, mut read) = (Vec::new(), judges.start());
        let mut time = 0;
        for _ in 0..6 {
            trace.push(event(below(4) as u8, time));
            judges.agree_after(&trace, &mut read);
            time += i128::from(below(4));
        }
    }
}

/// On a chain in which every trace has a path of its own, the probability is the share of traces that satisfy the formula. They
/// are recorded once to three times, so that one cannot stand for another.
#[test]
fn a_chain_gives_the_share_of_traces() {
    let mut traces: Vec<Vec<Event>> = vec![Vec::new()];
    for at in 0.. {
        let Some(trace) = traces.get(at).filter(|trace| trace.len() < 5).cloned() else {
            break;
        };
        let time = trace.len() as i128;
        let longer = (0..4).map(|bits| [trace.as_slice(), &[event(bits, time)]].concat());
        traces.extend(longer);
    }
    traces.remove(0);
    assert_eq!(traces.len(), 4 + 16 + 64 + 256 + 1024);
    let (mut lines, mut n) = (String::new(), 0);
    for (number, trace) in traces.iter().enumerate() {
        let step = |(at, event): (usize, &Event)| {
            let (a, b) = (event.a, event.b);
            serde_json::json!({"a": a, "b": b, "n": n + at})
        };
        let events: Vec<_> = trace.iter().enumerate().map(step).collect();
        for copy in 0..=number % 3 {
            let id = format!("{number}.{copy}");
            lines.push_str(&serde_json::json!({"id": id, "events": events}).to_string());
            lines.push('\n');
        }
        n += trace.len();
    }
    let windows = windows(4, " steps");
    let mut spec = format!(
        "event {{ a: bool  b: bool  n: int }}\n\
         abstraction run {{ over a, b, at: int 0..{n} = n }}\nmodel m = learn run {{ }}\n"
    );
    for (at, within) in windows.iter().enumerate() {
        let formula = format!("a leads to b within {within} or end");
        spec.push_str(&format!("query q{at} = P=? [ {formula} ] on m\n"));
    }
    let folder = Folder::new(&[("a.guard", &spec), ("t.jsonl", &lines)]);
    let run = folder.guard(&["learn", "a.guard", "t.jsonl", "-o", "m.json"]);
    assert_eq!(run.code, 0, "{run:?}");
    let flags = ["--exact", "--intervals", "none", "--format", "json"];
    let run = folder.guard(&[&["query", "a.guard", "--model", "m.json"], &flags[..]].concat());
    let answers: Vec<&str> = run.out.lines().collect();
    assert_eq!(answers.len(), windows.len(), "{run:?}");
    let weight = |number: usize| 1 + number as u64 % 3;
    let all: u64 = (0..traces.len()).map(weight).sum();
    for (answer, within) in answers.into_iter().zip(&windows) {
        let answer: serde_json::Value = serde_json::from_str(answer).unwrap();
        let (low, high) = (within.low.into(), within.high.into());
        let satisfied = traces.iter().enumerate();
        let satisfied = satisfied.filter(|(_, trace)| holds(trace, low, high));
        let satisfied: u64 = satisfied.map(|(number, _)| weight(number)).sum();
        let exact = answer["exact"].as_str().unwrap();
        let (over, under) = exact.split_once('/').unwrap_or((exact, "1"));
        let (over, under): (u64, u64) = (over.parse().unwrap(), under.parse().unwrap());
        assert_eq!(over * all, satisfied * under, "{within}: {exact}");
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
    let program = Program::compile(
        &spec(true, &["2 steps".to_owned()]),
        &ProgramLimits::default(),
    )
    .unwrap();
    let verdict = |trace: &[Event]| program.judge(record(trace)).unwrap().verdicts[0].verdict;
    assert_eq!(verdict(&whole), Verdict::Violated);
    assert_eq!(verdict(&whole[..2]), Verdict::Satisfied);
}

/// What is shown of it says `or end`, and means the same when it is read again.
#[test]
fn it_is_read_back() {
    for within in ["5 steps", "1..5 steps", "30s", "1s..30s"] {
        let spec = spec(true, &[within.to_owned()]);
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
