//! What cannot be read is judged by all that it may have been: an action is denied if the property forbids it after some reading of
//! the events before it, each read as a known event.

use guard_lang::monitor::{Decision, Monitor, Options, Ruling};
use guard_lang::value::Instant;
use guard_lang::{check, front, modules::NoFiles};
use proptest::prelude::*;

fn monitor(text: &str) -> Monitor {
    let checked = front("m.guard", text, &NoFiles, check::Limits::default());
    let messages: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    let spec = checked
        .spec
        .unwrap_or_else(|| panic!("{messages:?}\n{text}"));
    Monitor::new(&spec, Options::default()).unwrap()
}

fn act(monitor: &mut Monitor, event: &str) -> Decision {
    let line = format!(r#"{{"phase":"act","event":{event}}}"#);
    monitor.line(line.as_bytes(), None)
}

/// The values of an event, and `None` for one that cannot be read.
const VALUES: [&str; 4] = ["a", "b", "c", "d"];

fn event(value: Option<usize>, key: usize) -> String {
    let value = value.map_or(r"\ud800", |value| VALUES[value]);
    format!(r#"{{"t":"{value}","k":"{key}"}}"#)
}

/// A formula over the first three values, as text.
fn formula(atom: &'static str) -> impl Strategy<Value = String> {
    let atom = (0..3usize).prop_map(move |value| format!("(t == \"{}\"{atom})", VALUES[value]));
    atom.prop_recursive(3, 8, 2, |inner| {
        let unary = [
            "not ", "X ", "N ", "F ", "G ", "Y ", "O ", "H ", "F[0,2] ", "G[1,2] ",
        ];
        let binary = [" and ", " or ", " -> ", " U ", " W ", " R ", " S "];
        prop_oneof![
            (proptest::sample::select(unary.to_vec()), inner.clone())
                .prop_map(|(word, of)| format!("{word}({of})")),
            (
                inner.clone(),
                proptest::sample::select(binary.to_vec()),
                inner
            )
                .prop_map(|(lhs, word, rhs)| format!("({lhs}){word}({rhs})")),
        ]
    })
}

/// A property: over everything, of each key, or of some key.
fn property() -> impl Strategy<Value = String> {
    let of_key = " and k == q";
    let plain = prop_oneof![
        formula("").prop_map(|of| format!("G ({of})")),
        (formula(""), formula("")).prop_map(|(when, of)| format!("G (({when}) -> ({of}))")),
        formula("").prop_map(|of| format!("({of}) and N true")),
    ];
    prop_oneof![
        3 => plain,
        1 => formula(of_key).prop_map(|of| format!("forall q: G ({of})")),
        1 => formula(of_key).prop_map(|of| format!("exists q: ({of}) and N true")),
    ]
}

/// Whether an action is denied after these events, all of which happened.
fn denies(text: &str, events: &[(Option<usize>, usize)], action: (Option<usize>, usize)) -> bool {
    let mut monitor = monitor(text);
    for (value, key) in events {
        monitor.observe(event(*value, *key).as_bytes(), None);
    }
    let proposed = monitor.propose(event(action.0, action.1).as_bytes(), None);
    proposed.ruling.denies()
}

/// All that events may have been.
fn readings(events: &[(Option<usize>, usize)]) -> Vec<Vec<(Option<usize>, usize)>> {
    events.iter().fold(vec![Vec::new()], |begun, (value, key)| {
        let values = match value {
            Some(value) => vec![*value],
            None => (0..VALUES.len()).collect(),
        };
        let extend = |of: &Vec<_>, value| [&of[..], &[(Some(value), *key)]].concat();
        let more = begun
            .iter()
            .flat_map(|of| values.iter().map(move |value| extend(of, *value)));
        more.collect()
    })
}

crate::random::tests! {
    1500 cases;

    #[test]
    fn what_some_reading_denies_is_denied(
        property in property(),
        events in proptest::collection::vec((proptest::option::weighted(0.6, 0..4usize), 0..2usize), 0..4),
        action in (proptest::option::weighted(0.8, 0..4usize), 0..2usize),
        outcome in any::<bool>(),
    ) {
        // A field of the outcome that the property does not read changes nothing.
        let more = if outcome { " @outcome ok: bool?" } else { "" };
        let text = format!("event {{ t: string? k: string{more} }}\nproperty p = {property}\nenforce p {{ violated => block }}\n");
        let all = readings(&[&events[..], &[action]].concat());
        let denied = all.iter().find(|reading| {
            let (action, events) = reading.split_last().unwrap();
            denies(&text, events, *action)
        });
        if let Some(reading) = denied {
            prop_assert!(denies(&text, &events, action), "{text}{events:?} then {action:?}: denied as {reading:?}");
        }
    }
}

/// A denied action is not recorded, also where only its missing outcome denies it.
#[test]
fn an_action_without_its_outcome_is_recorded_only_if_it_is_allowed() {
    let spec = "event { tool: string @outcome ok: bool }\n\
        property saved = always (tool == \"deploy\" -> once tool == \"backup\")\n\
        enforce saved { violated => block }\n\
        enforce when tool == \"backup\" and ok == false => block\n";
    let mut monitor = monitor(spec);
    for tool in ["deploy", "backup", "deploy"] {
        let decision = act(&mut monitor, &format!(r#"{{"tool":"{tool}"}}"#));
        assert_eq!(decision.ruling, Ruling::Block, "{tool}");
        assert_eq!(decision.step, Some(0), "{tool}");
    }
    let saved = act(&mut monitor, r#"{"tool":"backup","ok":true}"#);
    assert_eq!(saved.ruling, Ruling::Allow, "its outcome is known");
    let deployed = act(&mut monitor, r#"{"tool":"deploy","ok":true}"#);
    assert_eq!((deployed.ruling, deployed.step), (Ruling::Allow, Some(1)));
}

/// What clauses do because of the action and because of its outcome is in the one decision on both.
#[test]
fn an_action_with_its_outcome_is_decided_as_a_whole() {
    let spec = "event { tool: string @outcome ok: bool? }\n\
        enforce when tool == \"backup\" => warn \"a backup\"\n\
        enforce when ok == false => invoke page(\"it failed\")\n";
    let mut monitor = monitor(spec);
    let decision = act(&mut monitor, r#"{"tool":"backup","ok":false}"#);
    let told: Vec<_> = decision.clauses.iter().map(|fired| fired.clause).collect();
    assert_eq!((decision.ruling, &told[..]), (Ruling::Warn, &[0, 1][..]));
}

/// Whatever a tool writes around what cannot be read, the text is unknown.
#[test]
fn no_escape_completes_an_unreadable_part() {
    let spec = "event { tool: string? text: string? = null }\n\
        property p = never (tool == \"mail\" and once text contains \"secret\")\n\
        enforce p { violated => block }\n";
    for damaged in [
        &b"\x01"[..],
        b"\xff",
        br"\x",
        br"\u12",
        b"\x01\xff\x01",
        br"\udc00",
    ] {
        for (before, after) in [
            ("", ""),
            ("", r"\udc00"),
            (r"\ud83d", ""),
            (r"\ud83d", r"\udc00"),
        ] {
            let text = [b"sec", before.as_bytes(), damaged, after.as_bytes(), b"ret"].concat();
            let mut monitor = monitor(spec);
            monitor.observe(
                &[br#"{"trace":"t","text":""#, &text[..], br#""}"#].concat(),
                None,
            );
            let mailed = act(&mut monitor, r#"{"trace":"t","tool":"mail"}"#);
            let is_pair = (before, damaged, after) == (r"\ud83d", &br"\udc00"[..], "");
            assert_eq!(mailed.ruling.denies(), !is_pair, "{}", text.escape_ascii());
        }
    }
}

/// A key that also stands where its value is not known may have that value.
#[test]
fn a_key_that_stands_twice_in_a_damaged_event_has_no_known_value() {
    let spec = "event { tool: string? text: string? = null }\n\
        property p = never (tool == \"mail\" and once text contains \"secret\")\n\
        enforce p { violated => block }\n";
    for (damaged, denies) in [
        (r#""text""text":"",: "secret""#, true),
        (r#""text":"","text" "secret""#, true),
        (r#""text" {},"text":"""#, true),
        (r#""te\u0078t","text":"""#, true),
        (r#""text":"","tool":"read" "text":"secret""#, true),
        (r#""text":"","other""#, false),
    ] {
        let mut monitor = monitor(spec);
        let line = format!(r#"{{"trace":"t",{damaged}}}"#);
        let read = monitor.observe(line.as_bytes(), None);
        assert!(!read.errors.is_empty(), "{line}");
        let mailed = act(&mut monitor, r#"{"trace":"t","tool":"mail"}"#);
        assert_eq!(mailed.ruling.denies(), denies, "{line}");
    }
}

/// A key without its colon costs no more than others, however much stands behind it: over a minute for these before.
#[test]
fn a_lost_key_is_read_once() {
    let spec =
        "event { tool: string? text: string? = null }\nproperty p = never (tool == \"mail\")\n";
    let key = "x".repeat(500_000);
    for behind in [":".repeat(500_000), "[]".repeat(250_000)] {
        for line in [
            format!(r#"{{"trace":"t","a":1 "{key}"{behind}}}"#),
            format!(r#"{{"trace":"t","{key}"{behind}}}"#),
        ] {
            let mut monitor = monitor(spec);
            let read = monitor.observe(line.as_bytes(), None);
            assert!(!read.errors.is_empty());
        }
    }
}

/// The key that stands for lost members is one that a tool may use.
#[test]
fn no_key_of_a_sound_event_makes_it_a_damaged_one() {
    let spec = "event { tool: string note: string? args: json? }\n\
        property p = never (tool == \"mail\" and once note == \"secret\")\n\
        enforce p { violated => block }\n";
    let mut monitor = monitor(spec);
    let read = br#"{"tool":"read","args":{"\u0000":1}}"#;
    assert!(monitor.observe(read, None).errors.is_empty());
    assert_eq!(
        act(&mut monitor, r#"{"tool":"mail"}"#).ruling,
        Ruling::Allow
    );
}

/// An action about which only its missing outcome makes a clause ask is reserved like any other question, and its outcome is judged
/// beside the open questions and at the time of the monitor.
#[test]
fn a_question_about_a_missing_outcome_is_a_question() {
    let spec = "event { tool: string at: time? @outcome code: int }\n\
        property once_only = always (count(tool == \"pay\") <= 1)\n\
        enforce once_only { violated => block }\n\
        enforce when tool == \"pay\" and code != 0 => ask\n\
        enforce when tool == \"move\" => ask\n\
        enforce when tool == \"move\" and code != 0 => block\n\
        enforce when tool == \"save\" and code != 0 and once tool == \"pay\" => block\n\
        property tested = always (tool == \"ship\" -> once[0,60s] tool == \"test\")\n\
        enforce tested { violated => block }\n";
    let mut monitor = monitor(spec);
    let second = Instant::SECOND;
    let mut act = |tool: &str, at: i128| {
        let line = format!(r#"{{"phase":"act","event":{{"tool":"{tool}"}}}}"#);
        monitor.line(line.as_bytes(), Some(Instant(at * second)))
    };
    assert_eq!(
        act("move", 0).ruling,
        Ruling::Block,
        "a question weakens no denial"
    );
    let asked = act("pay", 1);
    assert_eq!(asked.ruling, Ruling::Ask);
    assert!(asked.proposal.is_some(), "{asked:?}");
    assert_eq!(
        act("pay", 2).ruling,
        Ruling::Block,
        "the first may be allowed"
    );
    assert_eq!(
        act("save", 3).ruling,
        Ruling::Block,
        "the payment may have happened"
    );
    assert_eq!(act("test", 4).ruling, Ruling::Allow);
    assert_eq!(act("ship", 60).ruling, Ruling::Allow);
    assert_eq!(
        act("ship", 70).ruling,
        Ruling::Block,
        "the test is too long ago"
    );
}

/// One event that cannot be read does not deny what names other values for ever.
#[test]
fn an_unreadable_value_denies_no_other_one() {
    let spec = "event { t: string? k: string? }\n\
        property p = forall q: always (t == \"a\" and k == q -> once (t == \"b\" and k == q))\n\
        enforce p { violated => block }\n";
    let mut monitor = monitor(spec);
    monitor.observe(br#"{"t":"a","k":"\ud800"}"#, None);
    for key in 0..3 {
        assert_eq!(
            act(&mut monitor, &event(Some(0), key)).ruling,
            Ruling::Block
        );
        assert_eq!(
            act(&mut monitor, &event(Some(1), key)).ruling,
            Ruling::Allow
        );
        assert_eq!(
            act(&mut monitor, &event(Some(0), key)).ruling,
            Ruling::Allow
        );
    }
}

/// A condition that no outcome decides denies, in a spec with outcomes as in one without.
#[test]
fn what_no_outcome_decides_is_not_left_to_the_outcome() {
    let conditions = [
        ("tool == \"rm\" and todo(\"where\")", "a `todo` is unknown"),
        (
            "tool == \"rm\" and count[0,60s](tool == \"rm\") > 2",
            "field `at` is null",
        ),
        (
            "tool == \"rm\" and (ok == false or todo(\"where\"))",
            "`todo(\"where\")` is unknown",
        ),
    ];
    for outcome in ["", "@outcome "] {
        for (condition, why) in conditions {
            let spec = format!(
                "event {{ tool: string path: string? at: time? {outcome}ok: bool? }}\n\
                 enforce when {condition} => block\n"
            );
            let mut monitor = monitor(&spec);
            let mut last = None;
            for _ in 0..3 {
                last = Some(monitor.propose(br#"{"tool":"rm","ok":null}"#, None));
            }
            let last = last.unwrap();
            assert_eq!(last.ruling, Ruling::Block, "{outcome}{condition}");
            let found = last.clauses[0].why.clone().unwrap_or_default();
            assert!(
                found.contains(why) || outcome.is_empty(),
                "{condition}: {found}"
            );
        }
    }
    // What the outcome decides is left to it.
    let spec = "event { tool: string path: string? @outcome ok: bool? }\n\
        enforce when tool == \"rm\" and path == \"a\" and ok == false => block\n";
    let mut monitor = monitor(spec);
    let proposed = monitor.propose(br#"{"tool":"rm","path":"a"}"#, None);
    assert_eq!(proposed.ruling, Ruling::Warn);
    let proposed = monitor.propose(br#"{"tool":"ls"}"#, None);
    assert_eq!(proposed.ruling, Ruling::Allow);
}
