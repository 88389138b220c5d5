//! Situations as conditions on the calls of known tools, and on what a user says.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use guard_english::draft::{Accept, Document, Grounding, drafts};

const TOOLS: &str = r#"{"jsonrpc": "2.0", "id": 1, "result": {"tools": [
    {"name": "cancel_reservation", "description": "Cancel the whole reservation.", "inputSchema": {"properties": {"reservation_id": {}}}},
    {"name": "send_email", "inputSchema": {}},
    {"name": "sendCertificate"}, {"name": "think"}, {"name": "run_tests"}, {"name": "deploy"}, {"name": "delete_file"}]}}"#;

const CONSENT: &str = "consent.agrees(user_text)";
const MESSAGE: &str = "kind == \"message\" and role == \"user\"";

/// Returns the condition of a phrase in the spec of a document, related by a key or not.
fn condition(phrase: &str, key: Option<&str>) -> String {
    let quote = if phrase.contains('`') { '"' } else { '`' };
    let key = key.map_or_else(String::new, |key| format!("For every `{key}`: "));
    let text = format!("{key}{quote}{phrase}{quote} must never happen.");
    let grounding = Grounding::read(TOOLS).unwrap();
    let made = drafts(&text, &grounding.vocabulary(), None);
    let spec = Document::of(made, Accept::None, Some(grounding)).to_guard("a test");
    let mut lines = spec.lines();
    let predicate = lines.find_map(|line| line.strip_prefix("predicate ")?.split_once(" = "));
    predicate.map_or_else(|| panic!("{spec}"), |(_, body)| body.to_owned())
}

#[test]
fn phrases_meet_tools() {
    let cancel = "kind == \"call\" and tool == \"cancel_reservation\"";
    for phrase in [
        "cancel_reservation",
        "cancel a reservation",
        "the agent calls `cancel_reservation`",
        "the reservation is cancelled",
    ] {
        assert_eq!(condition(phrase, None), cancel);
    }
    // The words beyond the name of the tool stay open.
    let more = "cancel a reservation of another user";
    assert_eq!(
        condition(more, None),
        format!("{cancel} and todo({more:?})")
    );
    assert_eq!(
        condition("cancel a reservation", Some("reservation_id")),
        format!("{cancel} and args.reservation_id == x")
    );
    let open = condition("cancel a reservation", Some("user_id"));
    assert!(open.contains("todo(") && !open.contains("args"), "{open}");
    let call = "kind == \"call\"";
    for (phrase, body) in [
        (
            "a certificate is sent",
            format!("{call} and tool == \"sendCertificate\""),
        ),
        (
            "running the tests",
            format!("{call} and tool == \"run_tests\""),
        ),
        ("a deployment", format!("{call} and tool == \"deploy\"")),
        (
            "the deletion of a file",
            format!("{call} and tool == \"delete_file\""),
        ),
        ("any tool is called", call.to_owned()),
        (
            "a tool other than think or `send_email` is called",
            format!("{call} and tool not in [\"think\", \"send_email\"]"),
        ),
        (
            "a tool other than cancel_reservation is called",
            format!("{call} and tool not in [\"cancel_reservation\"]"),
        ),
        (
            "the agent thinks of a plan",
            "todo(\"the agent thinks of a plan\")".to_owned(),
        ),
        (
            "the weather is fine",
            "todo(\"the weather is fine\")".to_owned(),
        ),
    ] {
        assert_eq!(condition(phrase, None), body);
    }
    let open = condition("a tool other than hammer is called", None);
    assert!(open.contains("todo("), "{open}");
}

#[test]
fn consent_is_told_from_other_speech() {
    for phrase in [
        "the user has confirmed",
        "the user's explicit consent",
        "the customer agrees to it",
        "explicit user confirmation",
        "the agent has obtained the user's approval",
    ] {
        assert_eq!(condition(phrase, None), CONSENT, "{phrase}");
    }
    assert_eq!(
        condition("the user have confirmed ('yes')", None),
        "user_text matches /(?i)\\byes\\b/ and not consent.refuses(user_text)"
    );
    for phrase in [
        "the user has not confirmed",
        "the user has confirmed the refund",
        "the user refuses to confirm",
        "the user complains",
    ] {
        assert_eq!(
            condition(phrase, None),
            format!("{MESSAGE} and todo({phrase:?})")
        );
    }
    for phrase in [
        "a supervisor has approved",
        "the user is young",
        "the user is asked to confirm",
    ] {
        assert_eq!(condition(phrase, None), format!("todo({phrase:?})"));
    }
}

#[test]
fn quoted_words_are_conditions() {
    let stop = format!("{MESSAGE} and text matches /(?i)\\bstop\\b/");
    assert_eq!(condition("the user says 'stop'", None), stop);
    let twice = condition("the user's message says \"stop\" twice", None);
    assert!(twice.starts_with(&format!("{stop} and todo(")), "{twice}");
    let either = condition("the user replies 'go  ahead' or 'a/b!'", None);
    assert!(
        either.contains("text matches /(?i)\\bgo\\s+ahead\\b|\\ba\\/b!/"),
        "{either}"
    );
    let agent = condition("the user's agent says no", None);
    assert!(!agent.contains("matches"), "{agent}");
}

#[test]
fn every_kind_of_list_is_read() {
    let openai = r#"[{"type": "function", "function": {"name": "a", "parameters": {"properties": {"x": {}}}}}]"#;
    let anthropic = r#"{"tools": [{"name": "a", "input_schema": {"properties": {"x": {}}}}]}"#;
    assert_eq!(
        Grounding::read(openai).unwrap(),
        Grounding::read(anthropic).unwrap()
    );
    let text = "For every `x`: `a` must never happen.";
    let grounding = Grounding::read(openai).unwrap();
    let made = drafts(text, &grounding.vocabulary(), None);
    let spec = Document::of(made, Accept::None, Some(grounding)).to_guard("a test");
    assert!(spec.contains("args.x == x"), "{spec}");
    for faulty in ["", "{}", "[{}]", "{\"tools\": 1}", "[{\"name\": \"\"}]"] {
        assert!(Grounding::read(faulty).is_err(), "{faulty}");
    }
}
