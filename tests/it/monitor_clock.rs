//! The clock of a trace is that of its events, and it determines verdicts. The system clock triggers clauses in time but
//! determines no verdict.
use std::cell::RefCell;
use std::collections::BTreeMap;

use guard_lang::eval::{Limits, Program};
use guard_lang::input::record::{Origin, Record, Step};
use guard_lang::modules::NoFiles;
use guard_lang::monitor::{Decision, Monitor, Options};
use guard_lang::value::{Cell, Instant, Value};
use guard_lang::verdict::Verdict;
use guard_lang::{check, front, hir::Spec};
use proptest::prelude::*;
use serde_json::json;

const SPEC: &str = r#"
event { kind: string  id: string?  t: time? }
property soon = always (kind == "ask" -> eventually[0s,10s] kind == "answer")
property each = forall i: always (kind == "ask" and id == i -> eventually[0s,10s] (kind == "answer" and id == i))
property quiet = always (kind == "stop" -> always[0s,5s] kind != "ask")
rule once_more: when kind == "ask" then kind == "check" within 5s..20s or end
enforce soon { presumably_violated => warn "waiting"  violated => block "late" }
enforce each { violated => block "late for {i}" }
enforce quiet { violated => block "too early" }
enforce once_more { violated => warn "not checked" }
"#;

fn spec() -> Spec {
    let checked = front("t.guard", SPEC, &NoFiles, check::Limits::default());
    let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    checked.spec.unwrap_or_else(|| panic!("{messages:?}"))
}

fn seconds(at: i64) -> Instant {
    Instant(i128::from(at) * Instant::SECOND)
}

/// What happens: an event with its own time, one without, or time passes on the system's clock.
#[derive(Clone, Debug)]
enum Happening {
    Event {
        kind: &'static str,
        id: &'static str,
        /// Seconds after the latest time of an event, or before it.
        after: Option<i64>,
    },
    Pause(i64),
}

fn happening() -> impl Strategy<Value = Happening> {
    let kind = prop::sample::select(vec!["ask", "ask", "answer", "check", "stop", "idle"]);
    let id = prop::sample::select(vec!["a", "b"]);
    let after =
        prop_oneof![6 => (0i64..9).prop_map(Some), 1 => (-3i64..0).prop_map(Some), 1 => Just(None)];
    let event =
        (kind, id, after).prop_map(|(kind, id, after)| Happening::Event { kind, id, after });
    prop_oneof![3 => event, 1 => (1i64..30).prop_map(Happening::Pause)]
}

/// What was said of each property, and that nothing final was taken back.
#[derive(Default)]
struct Said(BTreeMap<String, Verdict>);

impl Said {
    fn hear(&mut self, decision: &Decision) -> Result<(), TestCaseError> {
        for (name, verdict) in &decision.verdicts {
            if let Some(before) = self.0.get(name.as_str()).filter(|before| before.is_final()) {
                prop_assert_eq!(before, verdict, "{} of {:?}", name, decision);
            }
            self.0.insert(name.to_string(), *verdict);
        }
        Ok(())
    }
}

/// What judges all cases: the automata of windows in seconds are costly to make. Each case is a trace of its own, at a time of
/// its own, since the system's clock does not run back.
struct Judges {
    spec: Spec,
    monitor: Monitor,
    program: Program,
    cases: i64,
}

thread_local! {
    static JUDGES: RefCell<Judges> = RefCell::new({
        let spec = spec();
        Judges {
            monitor: Monitor::new(&spec, Options::default()).unwrap(),
            program: Program::compile(&spec, &Limits::default()).unwrap(),
            spec,
            cases: 0,
        }
    });
}

crate::random::tests! {
    200 cases;

    /// Whatever the system's clock shows between the events, and whenever they arrive: what was said to be final stays, and at
    /// the end the verdicts are those of the recorded events, which know nothing of that clock.
    #[test]
    fn no_verdict_is_taken_back(happenings in prop::collection::vec(happening(), 1..14)) {
        JUDGES.with_borrow_mut(|judges| judges.no_verdict_is_taken_back(happenings))?;
    }
}

impl Judges {
    fn no_verdict_is_taken_back(
        &mut self,
        happenings: Vec<Happening>,
    ) -> Result<(), TestCaseError> {
        let Judges {
            spec,
            monitor,
            program,
            cases,
        } = self;
        *cases += 1;
        let trace = format!("T{cases}");
        let mut said = Said::default();
        let (mut now, mut latest) = (1_000 * *cases, 1_000 * *cases);
        let mut steps: Vec<Step> = Vec::new();
        let mut timed = true;
        for happening in happenings {
            match happening {
                Happening::Pause(pause) => now += pause,
                Happening::Event { kind, id, after } => {
                    let own = after.map(|after| latest + after);
                    let event = match own {
                        Some(t) => json!({"trace": trace, "kind": kind, "id": id, "t": t}),
                        None => json!({"trace": trace, "kind": kind, "id": id}),
                    };
                    let decision =
                        monitor.observe(event.to_string().as_bytes(), Some(seconds(now)));
                    said.hear(&decision)?;
                    // Without a time it has that of the system's clock, which the recorded event does not.
                    timed &= own.is_some();
                    let t = own.unwrap_or(now);
                    latest = latest.max(t);
                    let cells = [
                        Value::string(kind),
                        Value::string(id),
                        Value::Time(seconds(t)),
                    ];
                    steps.push(Step {
                        index: u32::try_from(steps.len()).unwrap(),
                        cells: cells.map(Cell::Known).into(),
                    });
                }
            }
            let ticks = monitor.tick(seconds(now)).into_iter();
            // A case that failed, and is being shrunk, leaves its trace behind.
            for decision in ticks.filter(|tick| tick.trace.as_deref() == Some(trace.as_str())) {
                for (name, verdict) in &decision.verdicts {
                    // Only an event can make it final.
                    prop_assert!(
                        !verdict.is_final() || said.0.get(name.as_str()) == Some(verdict),
                        "{decision:?}"
                    );
                }
                said.hear(&decision)?;
            }
        }
        said.hear(&monitor.end(&trace, Some(seconds(now))))?;
        let record = Record {
            origin: Origin {
                file: "t.jsonl".into(),
                below: "t.jsonl".into(),
                line: 1,
                ordinal: 0,
            },
            id: Some(trace.into()),
            complete: Some(true),
            meta: Box::default(),
            steps,
            problems: Vec::new(),
        };
        if record.steps.is_empty() || !timed {
            return Ok(());
        }
        for line in program.judge(record).unwrap().verdicts {
            let name = spec.property(line.property).name.to_string();
            prop_assert_eq!(said.0.get(&name), Some(&line.verdict), "{}", name);
        }
        Ok(())
    }
}

/// A deadline that passed on the system's clock alone, and an answer that was in time on the clock of the events.
#[test]
fn an_answer_in_time_arrives_after_the_deadline() {
    let mut monitor = Monitor::new(&spec(), Options::default()).unwrap();
    let mut observe = |kind: &str, t: i64, now: i64| {
        let event = json!({"trace": "T", "kind": kind, "id": "a", "t": t}).to_string();
        let ticks = monitor.tick(seconds(now));
        (ticks, monitor.observe(event.as_bytes(), Some(seconds(now))))
    };
    let verdict = |decision: &Decision, name: &str| {
        let mut verdicts = decision.verdicts.iter();
        verdicts.find(|(of, _)| of == name).unwrap().1
    };
    observe("ask", 100, 100);
    // Nothing came for 50 seconds: the clauses act, but nothing is final.
    let (ticks, answered) = observe("answer", 105, 150);
    let late = ticks
        .iter()
        .find(|tick| verdict(tick, "soon") == Verdict::PresumablyViolated);
    assert!(
        late.is_some_and(|tick| !tick.clauses.is_empty()),
        "{ticks:?}"
    );
    for name in ["soon", "each"] {
        assert!(
            ticks
                .iter()
                .all(|tick| verdict(tick, name) != Verdict::Violated),
            "{ticks:?}"
        );
        assert_eq!(
            verdict(&answered, name),
            Verdict::PresumablySatisfied,
            "{name}"
        );
    }
    // A later time on the clock of the events makes a missed deadline final.
    observe("ask", 200, 200);
    let (_, missed) = observe("idle", 211, 201);
    assert_eq!(verdict(&missed, "soon"), Verdict::Violated);
    let (_, still) = observe("answer", 205, 202);
    assert_eq!(verdict(&still, "soon"), Verdict::Violated);
}

/// An event at the very deadline that does not meet it: the deadline passes all the same, without a further event.
#[test]
fn an_event_at_the_deadline_does_not_hide_that_it_passes() {
    for rule in [
        "a leads to b within 2s",
        "a leads to b within 1s..2s",
        "a leads to b within 2s..2s",
        "a leads to b within 2s or end",
        "a leads to b within 1s..2s or end",
        "always (a -> F[0s,2s] b)",
    ] {
        let text = format!(
            "event {{ a: bool  b: bool  at: time }}\nproperty p = {rule}\nenforce p {{ violated => block }}\n"
        );
        let checked = front("t.guard", &text, &NoFiles, check::Limits::default());
        let mut monitor = Monitor::new(&checked.spec.expect(rule), Options::default()).unwrap();
        let mut observe = |a: bool, at: i64| {
            let event = json!({"trace": "t", "a": a, "b": false, "at": at}).to_string();
            let ruling = monitor.observe(event.as_bytes(), Some(seconds(at))).ruling;
            assert!(!ruling.denies(), "{rule}: {at}");
        };
        observe(true, 10);
        observe(false, 12);
        assert_eq!(monitor.next_deadline(), Some(seconds(12)), "{rule}");
        assert!(monitor.tick(seconds(12)).is_empty(), "{rule}");
        let passed = monitor.tick(Instant(seconds(12).0 + 1));
        assert_eq!(passed.len(), 1, "{rule}: {passed:?}");
        assert!(passed[0].ruling.denies(), "{rule}: {passed:?}");
        assert_eq!(monitor.next_deadline(), None, "{rule}");
        assert!(monitor.tick(seconds(99)).is_empty(), "{rule}");
    }
}
