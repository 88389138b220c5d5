//! Live monitors: decisions about events, proposals, deadlines and ends.
use guard_lang::ids::PropertyId;
use guard_lang::monitor::{Decision, Monitor, Options, Outcomes, Ruling};
use guard_lang::value::Instant;
use guard_lang::verdict::Verdict;
use guard_lang::{check, front, modules::NoFiles};

/// A monitor for a spec.
fn monitor_with(spec: &str, options: Options) -> Monitor {
    let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
    let errors: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    let spec = checked.spec.unwrap_or_else(|| panic!("{errors:?}"));
    Monitor::new(&spec, options).unwrap()
}

fn monitor(spec: &str) -> Monitor {
    monitor_with(spec, Options::default())
}

/// The ruling and, for each clause that acts, `name action: message`.
fn told(decision: &Decision) -> String {
    let mut text = decision.ruling.as_str().to_owned();
    for fired in &decision.clauses {
        text.push_str(&format!(
            " | {} {}: {}",
            fired.name,
            fired.action.as_str(),
            fired.message
        ));
    }
    for error in &decision.errors {
        text.push_str(&format!(" | error: {error}"));
    }
    text
}

/// Runs lines and compares what is told. A line `t=N` lets the clock come to N seconds and ticks.
fn check(monitor: &mut Monitor, steps: &[(&str, &str)]) {
    let mut now = Instant(0);
    for (line, expected) in steps {
        let got = match line.strip_prefix("t=") {
            Some(seconds) => {
                now = Instant(seconds.parse::<i128>().unwrap() * Instant::SECOND);
                let all: Vec<String> = monitor.tick(now).iter().map(told).collect();
                all.join(" || ")
            }
            None => told(&monitor.line(line.as_bytes(), Some(now))),
        };
        assert_eq!(got, *expected, "{line}");
    }
}

const EVENT: &str = "event { k: string  id: int?  at: time? }\n";

#[test]
fn what_is_denied_leaves_no_trace() {
    let spec = format!(
        "{EVENT}property approved = G (k == \"pay\" -> Y k == \"ok\")\n\
         enforce approved {{ violated => block \"{{k}} needs an ok\" }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (
                r#"{"phase":"before","event":{"k":"pay"}}"#,
                "block | approved block: pay needs an ok",
            ),
            (r#"{"k":"ok"}"#, "allow"),
            (r#"{"phase":"before","event":{"k":"pay"}}"#, "allow"),
            // The first payment may still happen, and after it there is no ok any more.
            (
                r#"{"phase":"before","event":{"k":"pay"}}"#,
                "block | approved block: pay needs an ok",
            ),
            (r#"{"phase":"abandon","proposal":1}"#, "allow"),
            (r#"{"phase":"before","event":{"k":"pay"}}"#, "allow"),
            (
                r#"{"phase":"commit","proposal":2,"event":{"k":"pay"}}"#,
                "allow",
            ),
            (
                r#"{"phase":"before","event":{"k":"pay"}}"#,
                "block | approved block: pay needs an ok",
            ),
        ],
    );
}

#[test]
fn always_is_watched_on_after_a_violation() {
    let spec = format!(
        "{EVENT}property approved = G (k == \"pay\" -> Y k == \"ok\")\n\
         enforce approved {{ violated => warn  violated => block }}\n"
    );
    let violated =
        "block | approved warn: `approved` is violated | approved block: `approved` is violated";
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (r#"{"k":"pay"}"#, violated),
            (r#"{"k":"idle"}"#, "allow"),
            (r#"{"k":"ok"}"#, "allow"),
            (r#"{"k":"pay"}"#, "allow"),
            (r#"{"k":"pay"}"#, violated),
            (r#"{"k":"pay"}"#, violated),
        ],
    );
    let decision = monitor.line(br#"{"k":"ok"}"#, None);
    assert_eq!(
        decision.verdicts[0].1.as_str(),
        "violated",
        "the verdict stays"
    );
}

#[test]
fn other_properties_stay_violated() {
    let spec = format!(
        "{EVENT}property first = k == \"ok\" precedes k == \"pay\"\n\
         enforce first {{ violated => warn \"too early\"  violated => ask \"go on?\" }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (r#"{"k":"idle"}"#, "allow"),
            (
                r#"{"k":"pay"}"#,
                "ask | first warn: too early | first ask: go on?",
            ),
            (r#"{"k":"idle"}"#, "ask | first ask: go on?"),
            (r#"{"k":"ok"}"#, "ask | first ask: go on?"),
        ],
    );
}

/// An unreadable event may violate such a property, or release what it prohibits. In the first case every later step is denied, so
/// none is let through while that is not known.
#[test]
fn a_property_that_may_have_been_violated_prohibits_what_it_did() {
    let forms = [
        "k == \"ok\" precedes pays",
        "not pays until k == \"ok\"",
        "not pays unless k == \"ok\"",
        "k == \"ok\" release not pays",
        "forall i: (not (pays and id == i) unless (k == \"ok\" and id == i))",
    ];
    let recovers = "always (pays -> once k == \"ok\")";
    for form in forms.into_iter().chain([recovers]) {
        let spec = format!(
            "{EVENT}predicate pays = k == \"pay\"\nproperty asked = {form}\nenforce asked {{ violated => block }}\n"
        );
        let ruling = |monitor: &mut Monitor, line: &str| {
            let decision = monitor.line(line.as_bytes(), None);
            (decision.ruling, told(&decision))
        };
        let act = |k: &str| format!(r#"{{"phase":"act","event":{{"k":"{k}","id":1}}}}"#);
        // Nothing is known of the first event, and what then ran was denied.
        let mut monitor = monitor(&spec);
        let unread = ruling(&mut monitor, r#"{"k":NaN,"id":NaN}"#);
        assert_eq!(unread.0, Ruling::Block, "{form}");
        for line in [&act("pay")[..], r#"{"k":"pay","id":1}"#, &act("pay")] {
            let paid = ruling(&mut monitor, line);
            assert_eq!(paid.0, Ruling::Block, "{form}: {line}: {}", paid.1);
        }
        let other = ruling(&mut monitor, &act("idle"));
        assert_eq!(other.0 == Ruling::Allow, form == recovers, "{form}");
        // Where it is known that nothing was violated, nothing is denied.
        let mut monitor = monitor_with(&spec, Options::default());
        for line in [&act("ok")[..], r#"{"k":NaN,"id":1}"#, &act("pay")] {
            let paid = ruling(&mut monitor, line);
            assert_eq!(paid.0, Ruling::Allow, "{form}: {line}: {}", paid.1);
        }
    }
}

/// An arm that does not prohibit acts once for a violation, certain or not, and none acts on what no trace can owe.
#[test]
fn what_is_not_known_does_no_more_than_what_is() {
    let told_at = |arms: &str, form: &str, first: &str| {
        let spec = format!(
            "{EVENT}predicate pays = k == \"pay\"\nproperty asked = {form}\nenforce asked {{ {arms} }}\n"
        );
        let mut monitor = monitor(&spec);
        let idle = r#"{"phase":"act","event":{"k":"idle","id":1}}"#;
        [first, idle, idle].map(|line| monitor.line(line.as_bytes(), None).ruling != Ruling::Allow)
    };
    for first in [r#"{"k":"pay","id":1}"#, r#"{"k":NaN,"id":1}"#] {
        for form in ["k == \"ok\" precedes pays", "not pays until k == \"ok\""] {
            let told = told_at("violated => warn", form, first);
            assert_eq!(told, [true, false, false], "{form}: {first}");
        }
        for form in ["never pays", "k == \"ok\" release not pays"] {
            let told = told_at("presumably_violated => block", form, first);
            assert_eq!(told, [false; 3], "{form}: {first}");
        }
    }
}

/// An event that cannot be read may have been what is owed: then it is still pending.
#[test]
fn an_obligation_that_may_be_pending_is_pending() {
    for form in [
        "k == \"ask\" leads to k == \"answer\"",
        "forall i: always (k == \"ask\" and id == i -> eventually (k == \"answer\" and id == i))",
    ] {
        let spec = format!(
            "{EVENT}property answered = {form}\nenforce answered {{ presumably_violated for 2 steps => block \"pending\" }}\n"
        );
        let (ask, unread) = (r#"{"k":"ask","id":1}"#, r#"{"k":NaN,"id":1}"#);
        let answer = r#"{"phase":"act","event":{"k":"answer","id":1}}"#;
        let idle = r#"{"phase":"act","event":{"k":"idle"}}"#;
        let rulings = |lines: &[&str]| {
            let mut monitor = monitor(&spec);
            let told = lines.iter().map(|line| monitor.line(line.as_bytes(), None));
            told.map(|decision| decision.ruling).last().unwrap()
        };
        assert_eq!(rulings(&[ask, unread, idle]), Ruling::Block, "{form}");
        assert_eq!(rulings(&[ask, unread, idle, idle]), Ruling::Block, "{form}");
        assert_eq!(rulings(&[ask, unread, answer]), Ruling::Allow, "{form}");
        assert_eq!(
            rulings(&[ask, unread, answer, idle]),
            Ruling::Allow,
            "{form}"
        );
        assert_eq!(rulings(&[ask, idle]), Ruling::Block, "{form}");
        assert_eq!(rulings(&[ask, answer, idle, idle]), Ruling::Allow, "{form}");
    }
}

#[test]
fn instances_are_watched_each_for_itself() {
    let spec = format!(
        "{EVENT}property once_each = forall i: G (k == \"use\" and id == i -> Y (k == \"ok\" and id == i))\n\
         enforce once_each {{ violated => block \"{{i}} has no ok\" }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (r#"{"k":"ok","id":1}"#, "allow"),
            (r#"{"k":"use","id":1}"#, "allow"),
            (
                r#"{"k":"use","id":1}"#,
                "block | once_each block: 1 has no ok",
            ),
            (
                r#"{"k":"use","id":2}"#,
                "block | once_each block: 2 has no ok",
            ),
            (
                r#"{"k":"use","id":1}"#,
                "block | once_each block: 1 has no ok",
            ),
            (r#"{"k":"ok","id":1}"#, "allow"),
            (
                r#"{"phase":"before","event":{"k":"use","id":2}}"#,
                "block | once_each block: 2 has no ok",
            ),
            (r#"{"k":"use","id":1}"#, "allow"),
        ],
    );
}

#[test]
fn obligations_are_told_after_some_steps() {
    let spec = format!(
        "{EVENT}property answered = G (k == \"ask\" -> F[0,5] k == \"answer\")\n\
         enforce answered {{ presumably_violated for 3 steps => reflect  violated => block \"late\" }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (r#"{"k":"ask"}"#, "allow"),
            (r#"{"k":"idle"}"#, "allow"),
            (
                r#"{"k":"idle"}"#,
                "reflect | answered reflect: `answered` owes `k == \"answer\"`, within 3 steps, since step 0",
            ),
            (r#"{"k":"idle"}"#, "allow"),
            (r#"{"k":"idle"}"#, "allow"),
            (
                r#"{"phase":"before","event":{"k":"idle"}}"#,
                "block | answered block: late",
            ),
            (r#"{"k":"answer"}"#, "allow"),
            (r#"{"k":"idle"}"#, "allow"),
        ],
    );
}

#[test]
fn deadlines_pass_without_an_event() {
    let spec = format!(
        "{EVENT}rule soon(i): when k == \"ask\" and id == i then k == \"answer\" and id == i within 2s\n\
         enforce soon {{ violated => warn \"{{i}} is late\"  violated => block \"late\" }}\n"
    );
    let mut monitor = monitor(&spec);
    let late = "block | soon warn: 7 is late | soon block: late";
    check(
        &mut monitor,
        &[
            (r#"{"k":"ask","id":7}"#, "allow"),
            ("t=2", ""),
            ("t=3", late),
            ("t=4", ""),
            // Told already; it is still a violation.
            (r#"{"k":"idle"}"#, "block | soon block: late"),
            (r#"{"k":"ask","id":8}"#, "allow"),
            ("t=5", ""),
            (r#"{"k":"answer","id":8}"#, "allow"),
            ("t=9", ""),
            (r#"{"k":"idle"}"#, "allow"),
        ],
    );
}

/// A denied action is not recorded. A deadline that it came after denies it, and not all that follow.
#[test]
fn a_missed_deadline_denies_one_action() {
    let spec = format!(
        "{EVENT}rule soon: when k == \"pay\" then k == \"report\" within 2s\n\
         enforce soon {{ violated => block \"report it\" }}\n"
    );
    for awaits in [false, true] {
        let mut monitor = monitor(&spec);
        let mut act = |k: &str, at: i128| {
            let (event, now) = (
                format!(r#"{{"k":"{k}"}}"#),
                Some(Instant(at * Instant::SECOND)),
            );
            let decision = match awaits {
                true => monitor.propose(event.as_bytes(), now),
                false => monitor.act(event.as_bytes(), now),
            };
            if let Some(number) = decision.proposal {
                monitor.commit(number, event.as_bytes(), now);
            }
            told(&decision)
        };
        assert_eq!(act("pay", 0), "allow");
        assert_eq!(act("read", 2), "allow");
        assert_eq!(act("read", 4), "block | soon block: report it");
        assert_eq!(act("report", 5), "allow");
        assert_eq!(act("pay", 6), "allow");
        assert_eq!(act("report", 7), "allow");
        assert_eq!(act("read", 20), "allow");
        assert_eq!(
            monitor.verdict("", PropertyId::new(0)),
            Some(Verdict::Violated)
        );
    }
}

/// A trace is judged alike whether or not others are, and after its state was saved, also when only the time has changed it.
#[test]
fn a_trace_that_missed_a_deadline_is_judged_as_if_it_were_alone() {
    let spec = format!(
        "{EVENT}property p = always (\n\
         (k == \"secret\" -> always[0s,1d] k != \"mail\")\n\
         and (k == \"ask\" -> eventually[0s,10s] k == \"answer\"))\n\
         enforce p {{ violated => block \"no\" }}\n"
    );
    let at = |seconds: i128| Some(Instant(seconds * Instant::SECOND));
    let begun = || {
        let mut monitor = monitor(&spec);
        for (k, seconds) in [("secret", 0), ("ask", 1)] {
            let event = format!(r#"{{"trace":"x","k":"{k}"}}"#);
            monitor.line(event.as_bytes(), at(seconds));
        }
        let late = monitor.act(br#"{"trace":"x","k":"pay"}"#, at(30));
        assert_eq!(late.ruling, Ruling::Block);
        monitor
    };
    let mail = |monitor: &mut Monitor, seconds| {
        let decision = monitor.act(br#"{"trace":"x","k":"mail"}"#, at(seconds));
        decision.ruling
    };
    assert_eq!(mail(&mut begun(), 31), Ruling::Block);
    let mut among_others = begun();
    // More than the states that are kept.
    for other in 0..5000_i128 {
        let event = format!(r#"{{"trace":"y{other}","k":"ask"}}"#);
        among_others.line(event.as_bytes(), at(31 + other));
        let end = format!(r#"{{"trace":"y{other}","end":true}}"#);
        among_others.line(end.as_bytes(), at(31 + other));
    }
    assert_eq!(mail(&mut among_others, 6000), Ruling::Block);
    let state = begun().snapshot().unwrap();
    let mut resumed = monitor(&spec);
    resumed.resume(&state).unwrap();
    assert_eq!(mail(&mut resumed, 31), Ruling::Block);
}

/// After a trace with a name has ended, a damaged event may be of any trace: also for the monitor that continues the state.
#[test]
fn a_resumed_monitor_knows_that_traces_have_names() {
    let spec = format!("{EVENT}property p = G not (k == \"rm\")\n");
    let mut first = monitor(&spec);
    for line in [
        r#"{"trace":"x","k":"ls"}"#,
        r#"{"trace":"x","end":true}"#,
        r#"{"k":"ls"}"#,
    ] {
        first.line(line.as_bytes(), None);
    }
    let mut resumed = monitor(&spec);
    resumed.resume(&first.snapshot().unwrap()).unwrap();
    for mut monitor in [first, resumed] {
        let damaged = monitor.line(br#"{"k":"ls" "at":1}"#, None);
        assert_eq!((damaged.trace, damaged.ruling), (None, Ruling::Block));
    }
}

#[test]
fn recorded_times_may_be_played_back() {
    let spec = format!(
        "{EVENT}rule soon: when k == \"ask\" then k == \"answer\" within 2s\n\
         enforce soon {{ violated => block \"late\" }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            ("t=1000000", ""),
            (r#"{"k":"ask","at":5}"#, "allow"),
            ("t=1000001", ""),
            (r#"{"k":"answer","at":6.5}"#, "allow"),
            (r#"{"k":"ask","at":7}"#, "allow"),
            ("t=1000003", ""),
            ("t=1000004", "block | soon block: late"),
        ],
    );
}

#[test]
fn outcomes_are_unknown_until_the_action_has_happened() {
    let text = "event { k: string  @outcome ok: bool }\n\
         property clean = never (k == \"rm\" and ok)\n\
         property none = never (k == \"rm\" and (ok or not ok))\n\
         enforce clean { violated => block \"clean\" }\n";
    let proposal = r#"{"phase":"before","event":{"k":"rm"}}"#;
    let mut every = monitor(text);
    check(
        &mut every,
        &[
            (
                proposal,
                "warn | clean warn: `clean` may be violated, depending on the outcome of the action",
            ),
            (r#"{"k":"rm","ok":false}"#, "allow"),
            (
                r#"{"k":"rm"}"#,
                "block | clean block: clean | error: field `ok`: the field is missing",
            ),
            (r#"{"k":"ls","ok":true}"#, "allow"),
        ],
    );
    let options = Options {
        outcomes: Outcomes::Any,
        ..Options::default()
    };
    let mut any = monitor_with(text, options);
    check(&mut any, &[(proposal, "block | clean block: clean")]);
}

#[test]
fn what_cannot_be_known_is_denied() {
    let body = "property small = never (k == \"pay\" and id > 100)\n";
    let denied = format!("{EVENT}{body}enforce small {{ violated => block }}\n");
    let mut denies = monitor(&denied);
    check(
        &mut denies,
        &[
            (
                r#"{"k":"pay","id":"many"}"#,
                "block | small block: `small` is violated: field `id` is unknown | error: field `id`: expected `int` or null, found the text \"many\"",
            ),
            (
                r#"{"k":"idle","id":"many"}"#,
                "allow | error: field `id`: expected `int` or null, found the text \"many\"",
            ),
            (r#"{"k":"idle"}"#, "allow"),
        ],
    );
    let garbage = [
        "",
        r#"{"k":"idle""#,
        "[1]",
        r#"{"k":"idle","k":"pay"}"#,
        r#"{"phase":"before","event":{"k":"idle"},"event":{"k":"pay"}}"#,
        r#"{"phase":"commit","event":{"k":"idle"}}"#,
        r#"{"trace":{},"k":"idle"}"#,
        r#"{"k":"idle"} {"k":"idle"}"#,
        r#"{"k":"idle"}{"k":"pay","id":500"#,
        r#"{"events":[{"k":"idle"}]}"#,
        "\u{0}\u{ff}",
    ];
    for line in garbage {
        let decision = denies.line(line.as_bytes(), None);
        assert_eq!(decision.ruling, Ruling::Block, "{line}");
        assert!(!decision.errors.is_empty(), "{line}");
    }
    let allowed = format!("{EVENT}{body}enforce small {{ violated => block  on error allow }}\n");
    let mut allows = monitor(&allowed);
    let decision = allows.line(br#"{"k":"pay","id":"many"}"#, None);
    assert_eq!(decision.ruling, Ruling::Allow);
    assert!(
        decision.errors[0].contains("allowed on error"),
        "{decision:?}"
    );
    assert_eq!(allows.line(b"garbage", None).ruling, Ruling::Allow);
}

#[test]
fn an_error_is_not_forgotten_by_what_follows() {
    let spec = format!(
        "{EVENT}property approved = G (k == \"pay\" -> Y id == 1)\n\
         enforce approved {{ violated => block }}\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (
                r#"{"k":"ok","id":"x"}"#,
                "allow | error: field `id`: expected `int` or null, found the text \"x\"",
            ),
            (
                r#"{"phase":"before","event":{"k":"pay"}}"#,
                "block | approved block: `approved` is violated: data of an earlier step is unknown",
            ),
            (r#"{"phase":"before","event":{"k":"idle"}}"#, "allow"),
        ],
    );
}

#[test]
fn conditions_act_when_they_are_entered_or_while_they_last() {
    let spec = format!(
        "{EVENT}track total: int = 0 then total + (id ?? 0)\n\
         enforce when total > 10 => warn \"total {{total}}\"\n\
         enforce when total > 20 => block \"too much\"\n\
         enforce when k == \"page\" => invoke page(total, who: k)\n"
    );
    let mut monitor = monitor(&spec);
    check(
        &mut monitor,
        &[
            (r#"{"k":"x","id":11}"#, "warn | total > 10 warn: total 11"),
            (r#"{"k":"x","id":1}"#, "allow"),
            (
                r#"{"phase":"before","event":{"k":"x","id":30}}"#,
                "block | total > 20 block: too much",
            ),
            (r#"{"k":"x","id":-2}"#, "allow"),
            (r#"{"k":"x","id":2}"#, "warn | total > 10 warn: total 12"),
            (
                r#"{"k":"page"}"#,
                "allow | k == \"page\" invoke: `k == \"page\"` holds",
            ),
        ],
    );
    let decision = monitor.line(br#"{"k":"x"}"#, None);
    assert!(decision.clauses.is_empty());
    let json = monitor.line(br#"{"k":"page"}"#, None).to_json();
    assert!(
        json.contains(r#""invoke":{"name":"page","args":[12],"named":{"who":"page"}}"#),
        "{json}"
    );
}

#[test]
fn an_end_is_judged_before_it_comes() {
    let spec = format!(
        "{EVENT}property answered = forall i: G (k == \"ask\" and id == i -> F (k == \"answer\" and id == i))\n\
         enforce answered {{ violated => block \"not yet\" }}\n"
    );
    let mut monitor = monitor(&spec);
    monitor.line(br#"{"trace":"t","k":"ask","id":1}"#, None);
    monitor.line(br#"{"trace":"t","k":"ask","id":2}"#, None);
    let decision = monitor.line(
        br#"{"phase":"before","event":{"trace":"t","end":true}}"#,
        None,
    );
    assert_eq!(decision.ruling, Ruling::Block);
    assert_eq!(
        decision.owed,
        [
            "`answered` owes `id == i` and `k == \"answer\"` for i = 1, before the end",
            "`answered` owes `id == i` and `k == \"answer\"` for i = 2, before the end",
        ]
    );
    monitor.line(br#"{"trace":"t","k":"answer","id":2}"#, None);
    monitor.line(br#"{"trace":"t","k":"answer","id":1}"#, None);
    assert_eq!(monitor.propose_end("t").ruling, Ruling::Allow);
    let end = monitor.end("t", None);
    assert_eq!(
        (end.ruling, end.verdicts[0].1.as_str()),
        (Ruling::Allow, "satisfied")
    );
    assert_eq!(monitor.n_traces(), 0);
}

#[test]
fn traces_are_kept_apart_and_limited() {
    let spec = format!(
        "{EVENT}property approved = G (k == \"pay\" -> Y k == \"ok\")\n\
         enforce approved {{ violated => stop }}\n"
    );
    let options = Options {
        traces: 2,
        ..Options::default()
    };
    let mut monitor = monitor_with(&spec, options);
    let stop = "stop | approved stop: `approved` is violated";
    check(
        &mut monitor,
        &[
            (r#"{"trace":"a","k":"ok"}"#, "allow"),
            (r#"{"trace":"b","k":"idle"}"#, "allow"),
            (r#"{"trace":"b","k":"pay"}"#, stop),
            (r#"{"trace":"a","k":"pay"}"#, "allow"),
            (
                r#"{"trace":"c","k":"idle"}"#,
                "block | error: 2 traces are live (limit: `max-traces`)",
            ),
            (r#"{"trace":"a","end":true}"#, "allow"),
            (r#"{"trace":"c","k":"idle"}"#, "allow"),
        ],
    );
}

#[test]
fn values_of_enums_are_written_by_name() {
    let spec = "enum Level { low, high }\nevent { k: string  l: Level? = null }\n\
         property each = forall x: G (k == \"rm\" and l == x -> Y (k == \"ok\" and l == x))\n\
         enforce each { violated => block  violated => invoke call(l, [l], level: l) }\n";
    let mut monitor = monitor(spec);
    let decision = monitor.line(br#"{"trace":"a\u202e","k":"rm","l":"high"}"#, None);
    let json = decision.to_json();
    assert!(json.contains(r#""instance":{"x":"high"}"#), "{json}");
    assert!(
        json.contains(r#""args":["high",["high"]],"named":{"level":"high"}"#),
        "{json}"
    );
    assert!(
        json.contains(r#""trace":"a\u202e""#),
        "nothing acts on a terminal: {json}"
    );
}

/// A missed deadline is asked about at each action until one of them has happened, and not again at its commit or later.
#[test]
fn an_action_that_was_allowed_settles_a_missed_deadline() {
    let spec = format!(
        "{EVENT}rule confirmed: when k == \"pay\" then k == \"ok\" within 10s\n\
         enforce confirmed {{ violated => ask \"late\" }}\n"
    );
    let mut monitor = monitor(&spec);
    let late = "ask | confirmed ask: late";
    check(
        &mut monitor,
        &[
            (r#"{"k":"pay"}"#, "allow"),
            ("t=20", late),
            (r#"{"phase":"act","event":{"k":"a"}}"#, late),
            // The person may refuse the first one.
            (r#"{"phase":"act","event":{"k":"b"}}"#, late),
            ("t=30", ""),
            (
                r#"{"phase":"commit","proposal":1,"event":{"k":"a"}}"#,
                "allow",
            ),
            (
                r#"{"phase":"commit","proposal":2,"event":{"k":"b"}}"#,
                "allow",
            ),
            (r#"{"phase":"act","event":{"k":"c"}}"#, "allow"),
        ],
    );
}

/// A track that appends itself doubles at every event: beyond the limit it is unknown, and the decision says why.
#[test]
fn what_doubles_is_limited() {
    for (of, limit) in [("list<string> = [\"x\"]", 20), ("string = \"x\"", 24)] {
        let spec = format!(
            "event {{ a: string }}\ntrack xs: {of} then xs + xs\nenforce when len(xs) == 0 => block \"empty\"\n"
        );
        let mut monitor = monitor(&spec);
        let mut decided = || monitor.line(br#"{"a":"x"}"#, None);
        for event in 1..=limit {
            let decision = decided();
            assert_eq!(decision.ruling, Ruling::Allow, "{of}, event {event}");
        }
        let decision = decided();
        let why = "`+` would make more than 16777216 bytes or 1048576 elements";
        assert_eq!(decision.ruling, Ruling::Block);
        assert!(decision.errors[0].starts_with(why), "{:?}", decision.errors);
    }
}
