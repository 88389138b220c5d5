//! The protocol of `docs/protocol-monitor.md`: reservations, atomic acts, and outcomes that cannot be read.
//!
//! A reference that only counts gives the expected result of each request; requests are random with fixed seeds.

use std::collections::BTreeMap;
use std::time::Duration;

use guard_lang::monitor::{Decision, Monitor, Options, Request, Ruling, Speaker};
use guard_lang::value::Instant;
use guard_lang::{check, front, modules::NoFiles};
use serde_json::json;

use crate::support::cli::Folder;

/// At most two payments; a third is denied, the second is asked about.
const SPEC: &str = r#"
event { k: string  text: string? = null }
property few = G (count(k == "pay") <= 2)
property second = G (count(k == "pay") <= 1)
property clean = never (k == "result" and text matches /SECRET/ and eventually k == "mail")
enforce few { violated => block "a third payment" }
enforce second { violated => ask "a second payment?" }
enforce clean { violated => block "a secret was read" }
"#;

const PAY: &str = r#"{"trace":"T","k":"pay"}"#;

fn monitor(options: Options) -> Monitor {
    monitor_of(SPEC, options)
}

fn monitor_of(spec: &str, options: Options) -> Monitor {
    let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
    Monitor::new(&checked.spec.unwrap(), options).unwrap()
}

/// What must come of requests about payments of one trace, by counting.
#[derive(Default)]
struct Reference {
    recorded: u32,
    /// Open proposals, with the second after which each is over.
    open: BTreeMap<u64, i128>,
    last: u64,
}

impl Reference {
    fn ruling(payments: u32) -> Ruling {
        match payments {
            0 | 1 => Ruling::Allow,
            2 => Ruling::Ask,
            _ => Ruling::Block,
        }
    }

    /// A payment, after all that is recorded and reserved.
    fn judged(&self) -> Ruling {
        Reference::ruling(self.recorded + self.open.len() as u32 + 1)
    }

    fn reserve(&mut self, now: i128) {
        self.last += 1;
        self.open.insert(self.last, now + 600);
    }

    fn apply(&mut self, request: Request, now: i128) -> Ruling {
        self.open.retain(|_, until| *until >= now);
        match request {
            Request::Observe => {
                self.recorded += 1;
                Reference::ruling(self.recorded)
            }
            Request::Act => {
                let ruling = self.judged();
                match ruling {
                    Ruling::Allow if self.open.is_empty() => self.recorded += 1,
                    Ruling::Allow => {
                        // A number is used and given back.
                        self.last += 1;
                        self.recorded += 1;
                    }
                    Ruling::Ask => self.reserve(now),
                    _ => {}
                }
                ruling
            }
            Request::Propose => {
                let ruling = self.judged();
                if ruling < Ruling::Block {
                    self.reserve(now);
                }
                ruling
            }
            Request::Commit(number) => {
                self.open.remove(&number);
                let ruling = self.judged();
                self.recorded += 1;
                match ruling {
                    Ruling::Block => ruling,
                    _ => Reference::ruling(self.recorded),
                }
            }
            Request::Abandon(number) => match self.open.remove(&number) {
                Some(_) => Ruling::Allow,
                None => Ruling::Block,
            },
            Request::Fork => panic!("a fork is about two traces"),
        }
    }
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }
}

/// The ruling that counts: an entered `ask` does not act again for the event of its proposal.
fn denies(decision: &Decision) -> bool {
    decision.ruling.denies()
}

/// A program that never says for which traces a spec is does not switch it off.
#[test]
fn metadata_that_no_event_gave_is_unknown() {
    let spec = r#"
event { k: string }
trace {
  meta env: string? from "/env"
  records where env == "prod"
}
property none = never (k == "rm")
enforce none { violated => block "no" }
"#;
    for (first, second, denied) in [
        ("", "", true),
        (r#","env":null"#, "", true),
        (r#","env":"prod""#, "", true),
        (r#","env":"test""#, "", false),
        ("", r#","env":"prod""#, true),
        ("", r#","env":"test""#, false),
        (r#","env":null"#, r#","env":"test""#, false),
        // the first value counts
        (r#","env":"test""#, r#","env":"prod""#, false),
        (r#","env":"prod""#, r#","env":"test""#, true),
    ] {
        let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
        let mut monitor = Monitor::new(&checked.spec.unwrap(), Options::default()).unwrap();
        let before = format!(r#"{{"trace":"T","k":"ls"{first}}}"#);
        let before = monitor.request(Request::Act, before.as_bytes(), None);
        assert_eq!(before.ruling, Ruling::Allow, "{first}");
        let act = format!(r#"{{"trace":"T","k":"rm"{second}}}"#);
        let act = monitor.request(Request::Act, act.as_bytes(), None);
        assert_eq!(act.ruling.denies(), denied, "{first} {second}");
    }
}

#[test]
fn random_requests_come_to_what_the_reference_counts() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let mut monitor = monitor(Options::default());
        let mut reference = Reference::default();
        let mut now = 0i128;
        for step in 0..60 {
            now += i128::from(random.below(200));
            let number = 1 + random.below(reference.last.max(1) + 1);
            let request = match random.below(12) {
                0 => Request::Observe,
                1..=3 => Request::Act,
                4..=6 => Request::Propose,
                7 | 8 => Request::Commit(number),
                _ => Request::Abandon(number),
            };
            // Runs are short, so that most rulings come up.
            if random.below(8) == 0 {
                monitor.end("T", None);
                reference.recorded = 0;
                reference.open.clear();
            }
            if random.below(10) == 0 {
                let state = monitor.snapshot().unwrap();
                monitor.resume(&state).unwrap();
            }
            let open = reference.open.len();
            let meant = reference.apply(request, now);
            let at = Some(Instant(now * Instant::SECOND));
            let decision = monitor.request(request, PAY.as_bytes(), at);
            let what = format!("seed {seed}, step {step}: {request:?} with {open} open");
            assert_eq!(denies(&decision), meant.denies(), "{what}: {decision:?}");
            if let Request::Act | Request::Propose = request {
                assert_eq!(decision.ruling, meant, "{what}");
                let number = reference.open.keys().next_back().copied();
                let reserved =
                    meant == Ruling::Ask || (meant < Ruling::Ask && request == Request::Propose);
                assert_eq!(decision.proposal, number.filter(|_| reserved), "{what}");
            }
        }
    }
}

#[test]
fn parallel_clients_never_pass_the_limit() {
    // Each client proposes, then commits or acts; the order of their requests is random. `GUARD_ROUNDS` makes more.
    let rounds = std::env::var("GUARD_ROUNDS").ok();
    let rounds: u64 = rounds.and_then(|n| n.parse().ok()).unwrap_or(300);
    for seed in 0..rounds {
        let mut random = Random(seed);
        let mut monitor = monitor(Options::default());
        let mut pending: Vec<u64> = Vec::new();
        let (mut waiting, mut made) = (8, 0);
        while waiting > 0 || !pending.is_empty() {
            if waiting > 0 && (pending.is_empty() || random.below(2) == 0) {
                waiting -= 1;
                let request = [Request::Act, Request::Propose][random.below(2) as usize];
                let decision = monitor.request(request, PAY.as_bytes(), None);
                match decision.proposal {
                    Some(number) => pending.push(number),
                    None => made += u32::from(decision.ruling < Ruling::Ask),
                }
            } else {
                let number = pending.swap_remove(random.below(pending.len() as u64) as usize);
                if random.below(4) == 0 {
                    monitor.abandon(number);
                } else if !monitor.commit(number, PAY.as_bytes(), None).ruling.denies() {
                    made += 1;
                }
            }
        }
        assert!(made <= 2, "seed {seed}: {made} payments");
    }
}

#[test]
fn a_denied_act_changes_nothing() {
    let mut monitor = monitor(Options::default());
    for _ in 0..2 {
        monitor.observe(PAY.as_bytes(), None);
    }
    let before = monitor.snapshot().unwrap();
    assert_eq!(monitor.act(PAY.as_bytes(), None).ruling, Ruling::Block);
    assert_eq!(monitor.snapshot().unwrap(), before);
}

/// Its own commit is denied; the idle action after it would be denied for as long as it is open.
#[test]
fn a_proposal_that_is_denied_by_now_denies_nothing_else() {
    let mut monitor = monitor(Options::default());
    let payment = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
    for _ in 0..2 {
        monitor.observe(PAY.as_bytes(), None);
    }
    let idle = br#"{"trace":"T","k":"idle"}"#;
    // There were two payments.
    assert_eq!(monitor.propose(idle, None).ruling, Ruling::Ask);
    assert_eq!(monitor.act(PAY.as_bytes(), None).ruling, Ruling::Block);
    let committed = monitor.commit(payment, PAY.as_bytes(), None);
    assert_eq!(committed.ruling, Ruling::Block);
}

/// A commit is of the trace of its proposal, also where the name was lost.
#[test]
fn a_commit_without_a_trace_counts_where_it_was_proposed() {
    for event in [
        r#"{"k":"pay"}"#,
        r#"{"k":"pay","text":}"#,
        r#"{"k":"pay","text":"}"#,
    ] {
        let mut monitor = monitor(Options::default());
        monitor.observe(PAY.as_bytes(), None);
        let payment = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
        monitor.line(
            format!(r#"{{"phase":"commit","proposal":{payment},"event":{event}}}"#).as_bytes(),
            None,
        );
        assert_eq!(
            monitor.act(PAY.as_bytes(), None).ruling,
            Ruling::Block,
            "{event}"
        );
    }
}

/// What was wrong with an action that was denied is said once: no later decision without an event of its own says it.
#[test]
fn a_denied_act_leaves_no_data_error() {
    const SPEC: &str = "event { kind: string  args: json?  at: time? }\n\
        property few = always (count(kind == \"call\") <= 0)\nenforce few { violated => block \"no calls\" }\n\
        property told = always (kind == \"message\" -> F[0,1s] kind == \"end\")\nenforce told { violated => log \"late\" }\n\
        enforce when kind == \"call\" and args.amount > 100 => ask \"Refund?\"\n";
    let checked = front("t.guard", SPEC, &NoFiles, check::Limits::default());
    let mut monitor = Monitor::new(&checked.spec.unwrap(), Options::default()).unwrap();
    let at = |seconds: i128| Some(Instant(seconds * Instant::SECOND));
    let call =
        |trace: &str| format!(r#"{{"trace":"{trace}","kind":"call","args":{{"amount":"lots"}}}}"#);
    let deny = |monitor: &mut Monitor, trace: &str| {
        let denied = monitor.act(call(trace).as_bytes(), at(1));
        assert!(denied.ruling.denies() && !denied.errors.is_empty());
    };
    let mut n_late = 0;
    for trace in ["t", "u"] {
        monitor.observe(br#"{"trace":"t","kind":"message"}"#, at(0));
        deny(&mut monitor, trace);
        assert_eq!(monitor.propose_end("t").errors, [""; 0]);
        deny(&mut monitor, trace);
        for late in monitor.tick(Instant(20 * Instant::SECOND)) {
            assert_eq!(late.errors, [""; 0]);
            n_late += 1;
        }
        deny(&mut monitor, trace);
    }
    assert_eq!(monitor.end("t", at(30)).errors, [""; 0]);
    assert!(n_late > 0);
}

#[test]
fn proposals_beyond_the_limits_are_denied_and_age() {
    let mut monitor = monitor(Options {
        proposals: 3,
        trace_proposals: 2,
        reservation: Duration::from_secs(10),
        ..Options::default()
    });
    let at = |seconds: i128| Some(Instant(seconds * Instant::SECOND));
    let mut idle = |trace: u32, seconds| {
        let event = format!(r#"{{"trace":"{trace}","k":"idle"}}"#);
        monitor.propose(event.as_bytes(), at(seconds))
    };
    let (first, second) = (idle(1, 0), idle(1, 1));
    assert_eq!((first.proposal, second.proposal), (Some(1), Some(2)));
    let third = idle(1, 2);
    assert_eq!(third.ruling, Ruling::Block);
    let why = "2 proposals of this trace are neither committed nor abandoned (limit: `max-trace-proposals`)";
    assert_eq!(third.errors, [why]);
    assert_eq!(idle(2, 3).proposal, Some(3));
    let why = "3 proposals are neither committed nor abandoned (limit: `max-proposals`)";
    assert_eq!(idle(3, 4).errors, [why]);
    assert_eq!(idle(1, 10).ruling, Ruling::Block, "not over yet");
    assert_eq!(idle(1, 11).proposal, Some(4), "the first one is over");
}

#[test]
fn proposals_are_limited_by_size_and_no_client_starves_another() {
    let text = |n: usize| {
        format!(
            r#"{{"trace":"T{n}","k":"idle","text":"{}"}}"#,
            "x".repeat(1000)
        )
    };
    let mut small = monitor(Options {
        trace_proposal_bytes: 2500,
        proposal_bytes: 4000,
        ..Options::default()
    });
    let first = small.propose(text(1).as_bytes(), None);
    assert_eq!(
        small.propose(text(1).as_bytes(), None).ruling,
        Ruling::Allow
    );
    let third = small.propose(text(1).as_bytes(), None);
    assert!(third.ruling.denies() && third.errors[0].contains("max-trace-proposal-bytes"));
    // Also after a restart, and until one of them ends.
    let state = small.snapshot().unwrap();
    small.resume(&state).unwrap();
    assert!(small.propose(text(1).as_bytes(), None).ruling.denies());
    assert_eq!(
        small.propose(text(2).as_bytes(), None).ruling,
        Ruling::Allow
    );
    let fourth = small.propose(text(2).as_bytes(), None);
    assert!(fourth.ruling.denies() && fourth.errors[0].contains("`max-proposal-bytes`"));
    small.abandon(first.proposal.unwrap());
    assert_eq!(
        small.propose(text(1).as_bytes(), None).ruling,
        Ruling::Allow
    );

    // A client that fills its share with traces of its own.
    let mut shared = monitor(Options {
        proposals: 6,
        clients: 3,
        ..Options::default()
    });
    shared.set_client(1);
    let rulings: Vec<bool> = (0..10)
        .map(|n| shared.propose(text(n).as_bytes(), None).ruling.denies())
        .collect();
    assert_eq!(rulings.iter().filter(|denied| !**denied).count(), 2);
    for client in [0, 2] {
        shared.set_client(client);
        for n in 0..2 {
            let ruling = shared.propose(text(20 + n).as_bytes(), None).ruling;
            assert_eq!(ruling, Ruling::Allow, "client {client}");
        }
    }
    shared.end("T0", None);
    shared.set_client(1);
    assert_eq!(
        shared.propose(text(30).as_bytes(), None).ruling,
        Ruling::Allow
    );
}

#[test]
fn a_fork_has_the_history_of_its_trace_and_its_own_future() {
    let mut monitor = monitor(Options::default());
    let fork = br#"{"phase":"fork","event":{"trace":"T","as":"U"}}"#;
    let pay = |trace: &str| format!(r#"{{"trace":"{trace}","k":"pay"}}"#);
    monitor.observe(pay("T").as_bytes(), None);
    monitor.propose(br#"{"trace":"T","k":"idle"}"#, None);
    assert_eq!(monitor.line(fork, None).ruling, Ruling::Allow);
    assert!(monitor.has_trace("U"));
    let asked = monitor.act(pay("U").as_bytes(), None);
    assert_eq!(
        (asked.ruling, asked.reserved),
        (Ruling::Ask, 0),
        "one payment before, and no proposal"
    );
    monitor.observe(pay("U").as_bytes(), None);
    assert_eq!(monitor.act(pay("U").as_bytes(), None).ruling, Ruling::Block);
    assert_eq!(monitor.act(pay("T").as_bytes(), None).ruling, Ruling::Ask);
    // Only once, and with both names.
    assert!(monitor.line(fork, None).ruling.denies());
    let unnamed = br#"{"phase":"fork","event":{"trace":"T"}}"#;
    assert!(monitor.line(unnamed, None).ruling.denies());
    // A trace without a history has one to give as well.
    let empty = br#"{"phase":"fork","event":{"trace":"V","as":"W"}}"#;
    assert_eq!(monitor.line(empty, None).ruling, Ruling::Allow);
    assert!(monitor.has_trace("W") && !monitor.has_trace("V"));
}

#[test]
fn an_outcome_that_cannot_be_read_is_recorded_with_unknown_parts() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    for (name, outcome) in [
        ("invalid UTF-8", b"{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET \xff\"}".to_vec()),
        ("control character", b"{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET \x01\"}".to_vec()),
        ("nesting", format!(r#"{{"trace":"T","k":"result","text":"SECRET","more":{deep}}}"#).into_bytes()),
        ("byte order mark", b"\xef\xbb\xbf{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET\"}".to_vec()),
        ("NaN", b"{\"phase\":\"after\",\"event\":{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET\",\"n\":NaN}}".to_vec()),
        ("key", br#"{"trace":"T","k":"result","text":"SECRET","more":{"\ud800":1}}"#.to_vec()),
        ("key of a field", br#"{"trace":"T","k":"result","te\ud800xt":"SECRET"}"#.to_vec()),
        ("invalid UTF-8 in a key", b"{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET\",\"m\":{\"\xff\":1}}".to_vec()),
        ("control character in a key", b"{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET\",\"m\":{\"\x01\":1}}".to_vec()),
        ("escape", br#"{"trace":"T","k":"result","text":"SECRET\x"}"#.to_vec()),
        ("comma", br#"{"trace":"T","k":"result","text":"SECRET",}"#.to_vec()),
        ("no comma", br#"{"trace":"T","k":"result" "text":"SECRET"}"#.to_vec()),
        ("more text", br#"{"trace":"T","k":"result","text":"SECRET"}x"#.to_vec()),
        ("key in an envelope", br#"{"phase":"after","event":{"trace":"T","k":"result","text":"SECRET","m":{"\ud800":1}}}"#.to_vec()),
        ("escape in an envelope", br#"{"phase":"after","event":{"trace":"T","k":"result","text":"SECRET\x"}}"#.to_vec()),
        ("key in a commit", br#"{"phase":"commit","proposal":7,"event":{"trace":"T","k":"result","text":"SECRET","m":{"\ud800":1}}}"#.to_vec()),
        ("envelope", b"{\"phase\":\"after\",\"event\":{\"trace\":\"T\",\"k\":\"result\",\"text\":\"SECRET \xff\"}}".to_vec()),
    ] {
        let mut monitor = monitor(Options::default());
        let recorded = monitor.line(&outcome, None);
        assert_eq!(recorded.step, Some(0), "{name}: {recorded:?}");
        let mail = monitor.line(br#"{"phase":"act","event":{"trace":"T","k":"mail"}}"#, None);
        assert_eq!(mail.ruling, Ruling::Block, "{name}: {mail:?}");
    }
    // What only asks is denied, and nothing is recorded.
    for phase in ["act", "before"] {
        let mut monitor = monitor(Options::default());
        let line = format!(r#"{{"phase":"{phase}","event":{{"trace":"T","k":"pay","n":NaN}}}}"#);
        assert_eq!(monitor.line(line.as_bytes(), None).ruling, Ruling::Block);
        assert_eq!(monitor.n_traces(), 0);
    }
    // So is what ends within its JSON, since its phase may be missing.
    for line in [
        r#"{"phase":"act","event":{"trace":"T","k":"pay","m":{"\ud800":1}}}"#,
        r#"{"ph\ud800ase":"act","event":{"trace":"T","k":"pay"}}"#,
        r#"{"event":{"trace":"T","k":"result","text":"SECRET","m":{"\ud800":1}}"#,
        r#"{"trace":"T","k":"result","m":{"\ud800":1}"#,
    ] {
        let mut monitor = monitor(Options::default());
        assert_eq!(monitor.line(line.as_bytes(), None).ruling, Ruling::Block);
        assert_eq!(monitor.n_traces(), 0, "{line}");
    }
    // A commit that cannot be read is recorded as it was proposed.
    let mut monitor = monitor(Options::default());
    let number = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
    let decision = monitor.commit(number, b"{", None);
    assert_eq!((decision.step, decision.errors.len()), (Some(0), 1));
}

/// A line that asks for a decision changes nothing if it is no JSON, wherever a character was lost or stands too much.
#[test]
fn a_damaged_proposal_changes_nothing() {
    let spec = "event { kind: string  tool: string? }\n\
                enforce when kind == \"call\" and tool == \"mail\" => block\n";
    let event = r#""event":{"kind":"call","trace":"T","x":[{"y":1}],"tool":"mail"}"#;
    for phase in ["act", "before", "commit", "fork", "end"] {
        let phase = format!("\"phase\":\"{phase}\"");
        for whole in [
            format!("{{{phase},{event}}}"),
            format!("{{{event},{phase}}}"),
        ] {
            let inserted = ["{", "}", "[", "]", ",", ":", "\"", "x"];
            let places = (0..whole.len()).flat_map(|at| inserted.map(|text| (at, at, text)));
            let cut = (0..whole.len()).map(|at| (at, at + 1, ""));
            for (from, to, text) in places.chain(cut) {
                let line = [&whole[..from], text, &whole[to..]].concat();
                if serde_json::from_str::<serde_json::Value>(&line).is_ok() {
                    continue;
                }
                let mut monitor = monitor_of(spec, Options::default());
                let decision = monitor.line(line.as_bytes(), None);
                assert_eq!(decision.ruling, Ruling::Block, "{line}");
                assert_eq!(decision.step, None, "{line}");
            }
        }
    }
}

/// However a spec reads the parts of an event, and whatever in it is no JSON, the event is recorded, and what may have stood in
/// the damaged part is unknown. Each row: the fields besides the kind, the layout, and a condition on them.
#[test]
fn an_outcome_that_is_no_json_is_recorded_however_the_spec_reads_it() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    let nested = format!("[{deep},undefined]");
    let secret = "text contains \"SECRET\"";
    let first = r#"text: string? from "/result/0/text""#;
    for (fields, layout, condition) in [
        (first, "", secret),
        (r#"text: string? from "$.result[0].text""#, "", secret),
        (
            r#"texts: list<string>? from "$.result[*].text""#,
            "",
            r#"(any t in (texts ?? []): t contains "SECRET")"#,
        ),
        (
            r#"texts: list<json>? from "$..text""#,
            "",
            r#"text(texts) contains "SECRET""#,
        ),
        (
            r#"texts: list<json>? from "$['result','more']""#,
            "",
            r#"text(texts) contains "SECRET""#,
        ),
        (
            r#"text: string? from each "/text""#,
            r#"trace { each "/result" }"#,
            secret,
        ),
        (
            r#"text: string? from each "/text""#,
            r#"trace { each "$.result[*]" }"#,
            secret,
        ),
        (
            "all: json from \"\"",
            "",
            r#"text(all.result) contains "SECRET""#,
        ),
        (&format!("{first}  all: json from \"$\""), "", secret),
        (
            &format!("{first}  event: json? from \"$.event\""),
            "",
            secret,
        ),
        (
            &format!("{first}  phase: json? from \"/phase\""),
            "",
            secret,
        ),
        (first, r#"trace { meta run: string? from "$.run" }"#, secret),
    ] {
        let spec = format!(
            "event {{ kind: string  {fields} }}\n{layout}\n\
             property clean = never (kind == \"result\" and {condition} and eventually kind == \"mail\")\n\
             enforce clean {{ violated => block }}\n"
        );
        let mail = br#"{"phase":"act","event":{"trace":"T","kind":"mail"}}"#;
        let after = |result: &str| {
            let event = format!(r#"{{"trace":"T","kind":"result","result":{result}}}"#);
            let envelope = format!(r#"{{"phase":"after","event":{event}}}"#);
            [event, envelope].map(|line| {
                let mut monitor = monitor_of(&spec, Options::default());
                let recorded = monitor.line(line.as_bytes(), None);
                assert_eq!(recorded.step, Some(0), "{fields}: {line}: {recorded:?}");
                monitor.line(mail, None).ruling
            })
        };
        for damaged in [
            "undefined",
            "'x'",
            "+1",
            "[1 2]",
            r#"{"text":}"#,
            r#""\x41""#,
            r#"{"\ud800":1}"#,
            r#"{"phase":undefined}"#,
            r#"[{"event":undefined}]"#,
            &nested,
        ] {
            assert_eq!(after(damaged), [Ruling::Block; 2], "{fields}: {damaged}");
        }
        assert_eq!(after(r#"[{"text":"x"}]"#), [Ruling::Allow; 2], "{fields}");
        // What only asks is not recorded, whatever members events have.
        for line in [
            r#"{"phase":"act","event":{"trace":"T","kind":"mail","result":undefined}}"#,
            r#"{"phase":"before" "event":{"trace":"T","kind":"mail"}}"#,
            r#"{"trace":"T" "phase":"act","event":{"kind":"mail"}}"#,
            r#"{"phase":act,"event":{"trace":"T","kind":"mail"}}"#,
        ] {
            let mut monitor = monitor_of(&spec, Options::default());
            let asked = monitor.line(line.as_bytes(), None);
            assert_eq!(asked.ruling, Ruling::Block, "{fields}: {line}");
            assert_eq!(monitor.n_traces(), 0, "{fields}: {line}");
        }
    }
}

/// Bytes in front of an event hold no member of it if there is no quote among them.
#[test]
fn an_event_behind_stray_bytes_is_recorded() {
    let spec = r#"
event { kind: string  text: string? }
property clean = never (kind == "result" and text contains "SECRET" and eventually kind == "mail")
enforce clean { violated => block }
"#;
    for (before, recorded) in [
        ("x", true),
        ("\u{1e}", true),
        ("data: ", true),
        ("[", true),
        ("0123456789abcdef0123456789", true),
        ("\"trace\":\"U\",", false),
        ("0123456789abcdef0123456789\"trace\":\"U\",", false),
    ] {
        let mut monitor = monitor_of(spec, Options::default());
        let line = format!(
            r#"{before}{{"phase":"after","event":{{"trace":"T","kind":"result","text":"SECRET"}}}}"#
        );
        let after = monitor.line(line.as_bytes(), None);
        assert_eq!(after.step.is_some(), recorded, "{before}: {after:?}");
        let mail = br#"{"phase":"act","event":{"trace":"T","kind":"mail"}}"#;
        let ruling = monitor.line(mail, None).ruling;
        assert_eq!(ruling == Ruling::Block, recorded, "{before}");
    }
}

/// A value that can be read is what it is beside a damaged one, and beside one that is nested too deeply.
#[test]
fn what_can_be_read_beside_damaged_json_is_known() {
    let deep = "[".repeat(600) + &"]".repeat(600);
    let spec = r#"
event { kind: string  text: string? from "$.result[0].text" }
property clean = never (kind == "result" and text contains "SECRET" and eventually kind == "mail")
enforce clean { violated => block }
"#;
    for more in [
        "undefined".to_owned(),
        format!("{deep},\"other\":undefined"),
    ] {
        let mut monitor = monitor_of(spec, Options::default());
        let line =
            format!(r#"{{"trace":"T","kind":"result","result":[{{"text":"x"}}],"more":{more}}}"#);
        assert_eq!(monitor.line(line.as_bytes(), None).step, Some(0));
        let mail = monitor.line(
            br#"{"phase":"act","event":{"trace":"T","kind":"mail"}}"#,
            None,
        );
        assert_eq!(mail.ruling, Ruling::Allow, "{mail:?}");
    }
}

#[test]
fn words_of_the_protocol_are_read_exactly() {
    let spec = r#"use std.agent
property clean = never (kind in ["result", "message"] and text contains "SECRET" and eventually (kind == "call" and tool == "mail"))
enforce clean { violated => block "a secret was read" }
"#;
    let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
    let spec = checked.spec.unwrap();
    let mail = br#"{"phase":"act","event":{"trace":"5","kind":"call","tool":"mail","args":{}}}"#;
    for (line, recorded, mails) in [
        // Of these the kind is unknown.
        (
            r#"{"trace":"5","kind":"Result","text":"SECRET"}"#,
            true,
            false,
        ),
        (
            r#"{"trace":"5","kind":" result\n","text":"SECRET"}"#,
            true,
            false,
        ),
        (
            r#"{"phase":"after","event":{"trace":"5","kind":"MESSAGE","text":"SECRET"}}"#,
            true,
            false,
        ),
        (
            r#"{"trace":"5","kind":"results","text":"SECRET"}"#,
            true,
            true,
        ),
        (
            r#"{"trace":5,"kind":"result","text":"SECRET"}"#,
            true,
            false,
        ),
        // These are of no trace that is known, or ask for nothing.
        (
            r#"{"trace":5.0,"kind":"result","text":"SECRET"}"#,
            false,
            true,
        ),
        (
            r#"{"trace":5e0,"kind":"result","text":"SECRET"}"#,
            false,
            true,
        ),
        (
            r#"{"trace":["5"],"kind":"result","text":"SECRET"}"#,
            false,
            true,
        ),
        (
            r#"{"phase":"After","event":{"trace":"5","kind":"result","text":"SECRET"}}"#,
            false,
            true,
        ),
    ] {
        let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
        let told = monitor.line(line.as_bytes(), None);
        assert_eq!(told.step.is_some(), recorded, "{line}: {told:?}");
        let why = told.errors.join("; ");
        assert!(
            recorded || denies(&told) && why.contains("expected"),
            "{line}: {why}"
        );
        let ruling = monitor.line(mail, None).ruling;
        assert_eq!(!ruling.denies(), mails, "{line}");
    }
    // A path that has the words of an envelope further on reads no member of it.
    for field in [
        r#"x: json? from "$.args.phase""#,
        r#"x: json? from "$.result.events[0].phase""#,
        "x: json from \"\"",
        "x: json from \"$\"",
    ] {
        let rule = r#"enforce when kind == "call" and tool == "rm" => block"#;
        let spec = format!("event {{ kind: string?  tool: string?  {field} }}\n{rule}\n");
        for line in [
            r#"{"phase":"Before","event":{"kind":"call","tool":"rm"}}"#,
            r#"{"phase":"act","event":[{"kind":"call","tool":"rm"}]}"#,
            r#"{"event":{"kind":"call","tool":"rm"}}"#,
        ] {
            let mut monitor = monitor_of(&spec, Options::default());
            let told = monitor.line(line.as_bytes(), None);
            let is_denied = denies(&told) && told.step.is_none();
            assert!(is_denied, "{field}: {line}: {told:?}");
        }
    }
    // A question about such a kind is denied, where a rule depends on it.
    let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
    monitor.line(br#"{"trace":"5","kind":"result","text":"SECRET"}"#, None);
    let odd = br#"{"phase":"act","event":{"trace":"5","kind":"Call","tool":"mail","args":{}}}"#;
    let told = monitor.line(odd, None);
    assert!(denies(&told), "{told:?}");
    let why = &told.clauses[0].why;
    assert!(
        format!("{why:?} {:?}", told.errors).contains("expected `call`, found `Call`"),
        "{told:?}"
    );
}

#[test]
fn a_whole_trace_is_refused_before_its_steps_are_read() {
    // Its steps would take more memory than one event may take.
    let mut options = Options::default();
    options.input.record_memory = 1_000;
    let mut monitor = monitor(options);
    let events = format!(r#"{{"trace":"T","events":[{}]}}"#, [PAY; 1_000].join(","));
    let phases = ["act", "before", "after"]
        .map(|phase| format!(r#"{{"phase":"{phase}","event":{events}}}"#));
    for line in phases.iter().chain([&events]) {
        let decision = monitor.line(line.as_bytes(), None);
        let why = "expected an event, found a whole trace; to check traces, use `guard audit`";
        assert_eq!(
            (decision.ruling, &decision.errors[..]),
            (Ruling::Block, &[why.to_owned()][..])
        );
    }
    assert_eq!(monitor.line(PAY.as_bytes(), None).ruling, Ruling::Allow);
}

#[test]
fn a_client_ends_its_own_proposals_only() {
    let mut monitor = monitor(Options::default());
    let number = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
    for (speaker, client, abandons) in [(Speaker::Reporter, 1, false), (Speaker::Reporter, 0, true)]
    {
        monitor.speak_as(speaker);
        monitor.set_client(client);
        let decision = monitor.request(Request::Abandon(number), b"", None);
        assert_eq!(decision.ruling == Ruling::Allow, abandons, "{decision:?}");
    }
    // Nor does another one commit them, as this or as something else.
    for event in [PAY, &PAY.replace("pay", "message")] {
        let mut monitor = self::monitor(Options::default());
        let number = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
        monitor.speak_as(Speaker::Reporter);
        for (client, ruling) in [(1, Ruling::Block), (0, Ruling::Allow)] {
            monitor.set_client(client);
            let decision = monitor.request(Request::Commit(number), event.as_bytes(), None);
            assert_eq!(decision.ruling, ruling, "{decision:?}");
        }
    }
    // An approver may abandon any.
    let number = monitor.propose(PAY.as_bytes(), None).proposal.unwrap();
    monitor.speak_as(Speaker::Approver);
    monitor.set_client(7);
    let decision = monitor.request(Request::Abandon(number), b"", None);
    assert_eq!((decision.ruling, decision.errors.len()), (Ruling::Allow, 0));
}

/// An action that is said to have an outcome already: if that is denied, nothing is recorded.
#[test]
fn an_action_is_not_recorded_if_its_outcome_is_denied() {
    let spec = "event { kind: string  @outcome ok: bool? }\n\
        property good = G (kind == \"pay\" -> ok != false)\nenforce good { violated => block \"failed\" }\n\
        property one = G (count(kind == \"pay\") <= 1)\nenforce one { violated => block \"one\" }\n";
    let spec = front("m.guard", spec, &NoFiles, check::Limits::default()).spec;
    let mut monitor = Monitor::new(&spec.unwrap(), Options::default()).unwrap();
    for (ok, denied) in [("false", true), ("true", false), ("true", true)] {
        let line = format!(r#"{{"phase":"act","event":{{"trace":"T","kind":"pay","ok":{ok}}}}}"#);
        let decision = monitor.line(line.as_bytes(), None);
        assert_eq!(decision.ruling.denies(), denied, "{ok} {decision:?}");
    }
}

/// Clients in JavaScript take 2^53 + 1 for 2^53: what a rule says about one of them holds for neither. Recordings keep both apart.
#[test]
fn an_integer_that_readers_round_is_unknown() {
    let spec = r#"event { k: string  n: int? = null  j: json = null }
property p = never (k == "pay" and n == 9007199254740992)
property q = never (k == "pay" and j.to == 9007199254740992)
enforce p { violated => block "p" }
enforce q { violated => block "q" }
"#;
    let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
    let mut monitor = Monitor::new(&checked.spec.unwrap(), Options::default()).unwrap();
    for (members, denied) in [
        (
            r#""n":9007199254740991,"j":{"to":[1.5,-9007199254740991]}"#,
            "",
        ),
        (r#""n":18014398509481984,"j":{"to":1e300}"#, ""),
        (r#""n":9007199254740992"#, "p"),
        (r#""n":9007199254740993"#, "p"),
        (r#""j":{"to":9007199254740993}"#, "q"),
        (r#""j":{"x":[{"y":-9007199254740993}]}"#, "q"),
        (
            r#""j":{"to":123456789012345678901234567890123456789012}"#,
            "q",
        ),
    ] {
        let event = format!(r#"{{"phase":"act","event":{{"trace":"T","k":"pay",{members}}}}}"#);
        let decision = monitor.line(event.as_bytes(), None);
        let clauses: Vec<&str> = decision.clauses.iter().map(|one| &*one.name).collect();
        assert_eq!(clauses.join(" "), denied, "{members}: {decision:?}");
    }
    let trace = json!({"id": "t", "events": [
        {"k": "pay", "n": 9_007_199_254_740_993_i64, "j": {"to": 9_007_199_254_740_993_i64}}]});
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &trace.to_string())]);
    let run = folder.guard(&["audit", "s.guard", "t.jsonl"]);
    assert_eq!(run.code, 0, "{}", run.out);
}
