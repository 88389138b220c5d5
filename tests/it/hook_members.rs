//! Specs whose fields are read below members, or from the members of hooks themselves: what could not be read is not absent, and
//! what is recorded otherwise than its hook says is not what the hook says.

use guard_lang::monitor::{Monitor, Options, Ruling};
use guard_lang::{check, front, modules::NoFiles};
use serde_json::{Value as Json, json};

use crate::support::hook::{Session, decision, outcome};

/// A session with this spec.
fn session(spec: &str) -> Session {
    let session = Session::new();
    std::fs::write(&session.spec, spec).unwrap();
    session
}

/// Each row: how fields are read from an outcome, an outcome that does not say what the field is, and one that does.
#[test]
fn what_lies_below_a_value_that_cannot_be_read_is_unknown() {
    let text = r#"text: string? from "/result/text""#;
    let deep = r#"text: string? from "/result/a/b""#;
    let first = r#"text: string? from "$.result[0].text""#;
    let all = r#"texts: list<string>? from "$.result.items[*].t""#;
    let each = r#"text: string? from each "/t""#;
    let rows: [(&str, &[&str], &[&str]); 5] = [
        (
            text,
            &[
                "NaN",
                "1e999",
                r#""\ud800""#,
                "\"a\u{1}b\"",
                r#"{"text":"x","text":"y"}"#,
            ],
            &["null", "true", r#""x""#, r#"{"text":"x"}"#, r#"{"a":NaN}"#],
        ),
        (
            deep,
            &[
                "NaN",
                r#"{"a":NaN}"#,
                r#"{"a":1e999}"#,
                r#"{"a":{"b":NaN}}"#,
            ],
            &["{}", r#"{"a":null}"#, r#"{"c":NaN}"#],
        ),
        (
            first,
            &["NaN", "[NaN]", r#"["\ud800"]"#],
            &["[]", r#"["x"]"#, r#"[{"text":"x"},NaN]"#],
        ),
        (
            all,
            &[
                "NaN",
                r#"{"items":NaN}"#,
                r#"{"items":[NaN]}"#,
                r#"{"items":[{"t":NaN}]}"#,
            ],
            &["{}", r#"{"items":[{"t":"x"}]}"#, r#"{"more":NaN}"#],
        ),
        (
            each,
            &[
                "NaN",
                r#"{"items":NaN}"#,
                r#"{"items":[NaN]}"#,
                r#"{"items":[{"t":1e999}]}"#,
            ],
            &["{}", r#"{"items":[{"t":"x"}]}"#, r#"{"more":NaN}"#],
        ),
    ];
    for (field, unread, read) in rows {
        let layout = match field == each {
            true => r#"trace { each "/result/items" }"#,
            false => "",
        };
        let secret = match field == all {
            true => r#"any t in (texts ?? []): t contains "SECRET""#,
            false => r#"text contains "SECRET""#,
        };
        let spec = format!(
            "event {{ kind: string {field} }}\n{layout}\n\
             property clean = never (kind == \"result\" and ({secret}) and eventually kind == \"mail\")\n\
             enforce clean {{ violated => block }}\n"
        );
        let checked = front("t.guard", &spec, &NoFiles, check::Limits::default());
        let spec = checked.spec.unwrap_or_else(|| panic!("{spec}"));
        for (results, expected) in [(unread, Ruling::Block), (read, Ruling::Allow)] {
            for result in results {
                let mut monitor = Monitor::new(&spec, Options::default()).unwrap();
                let line =
                    format!(r#"{{"phase":"after","event":{{"kind":"result","result":{result}}}}}"#);
                let recorded = monitor.line(line.as_bytes(), None);
                assert_eq!(recorded.step, Some(0), "{field}, {result}: {recorded:?}");
                let mail = monitor.line(br#"{"phase":"act","event":{"kind":"mail"}}"#, None);
                assert_eq!(mail.ruling, expected, "{field}, {result}: {mail:?}");
            }
        }
    }
}

/// Fields of the canonical event that are read by paths of their own, through a hook.
#[test]
fn what_a_tool_answers_is_not_absent_below_what_cannot_be_read() {
    let spec = r#"
event { kind: string  tool: string? = unknown  body: string? from "/result/text"  path: string? from "/args/file_path" }
property clean = never (kind == "result" and body contains "SECRET" and eventually (kind == "call" and tool == "mail"))
property other = never (kind == "result" and path contains ".env" and eventually (kind == "call" and tool == "send"))
enforce clean { violated => block }
enforce other { violated => block }
"#;
    for response in [
        r#"{"text":"SECRET"}"#,
        r#"{"text":"SECRET","text":"y"}"#,
        r#"{"text":"SECRET","x":NaN"#,
        "NaN",
    ] {
        let session = session(spec);
        session.before("r", "Read", json!({}));
        session.raw(&outcome(response));
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(decision(&mail).0, "deny", "{response}");
    }
    let session = session(spec);
    session.before("r", "Read", json!({}));
    let input = r#"{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"r",
        "tool_input":{"file_path":".env","file_path":"x"},"tool_response":{"text":"y"}}"#;
    session.raw(input.as_bytes());
    assert_eq!(decision(&session.before("m", "send", json!({}))).0, "deny");
    assert_eq!(session.before("n", "other", json!({})), Json::Null);
}

const CONSENT: &str = r#"
use std.consent
event { hook: string from "/hook_event_name"  tool: string? from "/tool_name"  prompt: string? from "/prompt" }
track said: string? = null when hook == "UserPromptSubmit" then prompt
property asked = never (hook == "PreToolUse" and tool == "pay" and not consent.agrees(said))
enforce asked { violated => block }
"#;

#[test]
fn a_prompt_that_is_not_the_users_is_no_prompt_for_specs_of_hooks_either() {
    let agreed = "yes, go ahead and pay now";
    let prompt = |session: &Session, text: &str| {
        session.ask("UserPromptSubmit", None, json!({"prompt": text}))
    };
    let pays = |session: &Session| match session.before("p", "pay", json!({})) {
        Json::Null => true,
        answer => decision(&answer).0 != "deny",
    };
    let users = session(CONSENT);
    assert_eq!(prompt(&users, agreed), Json::Null);
    assert!(pays(&users));
    let scheduled = session(CONSENT);
    scheduled.before("s", "ScheduleWakeup", json!({"prompt": agreed}));
    prompt(&scheduled, agreed);
    assert!(!pays(&scheduled));
    let notified = session(CONSENT);
    prompt(
        &notified,
        &format!("<task-notification>{agreed}</task-notification>"),
    );
    assert!(!pays(&notified));
}

/// A call that a person was asked about, or that nobody judged, is recorded as the call that its own hook would have reported.
#[test]
fn calls_that_are_recorded_with_their_outcomes_count_for_specs_of_hooks() {
    let spec = r#"
event { hook: string? from "/hook_event_name"  tool: string? from "/tool_name"  raw: json? }
property few = always (count(hook == "PreToolUse" and tool == "pay" and raw.hook_event_name == hook) <= 2)
enforce few { violated => block }
"#;
    let asks = format!(r#"{spec}enforce when hook == "PreToolUse" and tool == "pay" => ask"#);
    let asking = session(&asks);
    for (call, expected) in [("a", "ask"), ("b", "ask"), ("c", "deny")] {
        let answer = asking.before(call, "pay", json!({}));
        assert_eq!(decision(&answer).0, expected, "{call}");
        if expected == "ask" {
            asking.after(call, "pay", json!({}), json!("done"));
        }
    }
    let unjudged = session(spec);
    for call in ["a", "b"] {
        unjudged.after(call, "pay", json!({}), json!("done"));
    }
    assert_eq!(decision(&unjudged.before("c", "pay", json!({}))).0, "deny");
}

/// Each row: the fields, and a condition that the lost outcome may have met. Whatever member it reads, the mark of the outcome does
/// not say that there was none.
#[test]
fn an_outcome_that_was_lost_is_unknown_for_specs_of_hooks() {
    let canonical = |field: &str| format!("kind: string  tool: string? = unknown  {field}");
    let mail = r#"kind == "call" and tool == "mail""#;
    for (fields, condition, mails) in [
        (
            r#"tool: string? from "/tool_name"  response: json? from "$.tool_response""#.to_owned(),
            r#"tool == "Read" and text(response) contains "SECRET""#,
            r#"tool == "mail""#,
        ),
        (
            r#"hook: string? from "/hook_event_name"  tool: string? from "/tool_name"  cwd: string? from "/cwd""#.to_owned(),
            r#"hook == "PostToolUse" and cwd == "/w""#,
            r#"hook == "PreToolUse" and tool == "mail""#,
        ),
        (
            canonical(r#"mode: string? from "$.permission_mode""#),
            r#"kind == "result" and mode == "plan""#,
            mail,
        ),
        (
            canonical(r#"stopped: bool? from "/is_interrupt""#),
            r#"kind == "result" and stopped == true"#,
            mail,
        ),
        (
            canonical("raw: json?"),
            r#"kind == "result" and raw.cwd == "/w""#,
            mail,
        ),
    ] {
        let spec = format!(
            "event {{ {fields} }}\nproperty clean = never ({condition} and eventually ({mails}))\n\
             enforce clean {{ violated => block }}\n"
        );
        let mut session = session(&spec);
        session.before("r", "Read", json!({}));
        session.lose(&outcome("\"SECRET\""));
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(decision(&mail).0, "deny", "{fields}: {mail}");
    }
}

/// Of a call that was not judged before its outcome was lost, nothing is known that the mark does not say. Its trace is that of its session.
#[test]
fn a_call_whose_outcome_was_lost_is_unknown_for_specs_of_hooks() {
    let spec = r#"
trace { id from "/session_id" }
event { kind: string  tool: string? = unknown  cwd: string? from "/cwd" }
property clean = never (kind == "call" and cwd == "/home" and eventually (kind == "call" and tool == "mail"))
enforce clean { violated => block }
"#;
    let mut session = session(spec);
    session.before("other", "Other", json!({}));
    session.lose(&outcome("\"x\""));
    let mail = session.before("m", "mail", json!({}));
    assert_eq!(decision(&mail).0, "deny", "{mail}");
}
