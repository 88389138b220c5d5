//! Hostile servers, line by line: nothing forbidden reaches the client, and whatever the client may take as the answer to its
//! call was judged or is recorded as unknown.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use guard_cli::integrations::Judge;
use guard_cli::integrations::mcp::{Limits, Session};
use guard_lang::monitor::lenient::UNREAD;
use guard_lang::monitor::{Cause, Decision, Request, Ruling};
use serde_json::Value as Json;

/// In each case the server says this, whole or in parts, plain or encoded.
const FORBIDDEN: &str = "SECRET";

/// Denies what holds the forbidden text, and what is unknown.
struct Rules {
    denied: usize,
}

impl Judge for Rules {
    fn reads(&self, _: &str) -> bool {
        true
    }

    fn has_trace(&self, _: &str) -> bool {
        true
    }

    fn request(&mut self, request: Request, event: &str) -> Result<Decision, String> {
        let event: Json = serde_json::from_str(&event.replace(UNREAD, "{}")).unwrap();
        let mut decision = Decision::new(Cause::Event);
        if request == Request::Act {
            decision.cause = Cause::Act;
            decision.errors.push(format!("the text is {FORBIDDEN}"));
        }
        let text = event["text"].as_str();
        if event["kind"] != "call" && text.is_none_or(|text| text.contains(FORBIDDEN)) {
            decision.ruling = Ruling::Block;
            self.denied += 1;
        }
        Ok(decision)
    }
}

/// All strings and keys of a message.
fn strings(value: &Json, out: &mut Vec<String>) {
    match value {
        Json::String(text) => out.push(text.clone()),
        Json::Array(items) => items.iter().for_each(|item| strings(item, out)),
        Json::Object(members) => {
            for (key, member) in members {
                out.push(key.clone());
                strings(member, out);
            }
        }
        _ => {}
    }
}

/// Whether a client may read the forbidden text in a line, in whatever way.
fn shows(line: &str) -> bool {
    let mut all = Vec::new();
    strings(&serde_json::from_str(line).unwrap(), &mut all);
    let encoded = |text: &String| {
        let digits: String = text
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || "+/-_".contains(*c))
            .collect();
        let bytes = STANDARD_NO_PAD
            .decode(&digits)
            .or_else(|_| URL_SAFE_NO_PAD.decode(&digits));
        bytes.is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(FORBIDDEN))
    };
    all.concat().contains(FORBIDDEN) || all.iter().any(encoded)
}

/// A clause that keeps an answer from the server does not tell it why.
#[test]
fn nothing_that_is_kept_from_a_server_reaches_it() {
    for answer in [
        r#""result":{"action":"accept","content":{"password":"SECRET"}}"#,
        r#""error":{"code":1,"message":"SECRET"}"#,
        r#""result":{"SECRET":1,"SECRET":2}"#,
    ] {
        let mut session = Session::new("t", false, Limits::default());
        let mut rules = Rules { denied: 0 };
        let asks =
            br#"{"jsonrpc":"2.0","id":"s","method":"elicitation/create","params":{"message":"?"}}"#;
        let turn = session.from_server(&mut rules, asks);
        let asked: Json = serde_json::from_str(&turn.on[0]).unwrap();
        let line = format!(r#"{{"jsonrpc":"2.0","id":{},{answer}}}"#, asked["id"]);
        let turn = session.from_client(&mut rules, line.as_bytes());
        assert_eq!(turn.on.len(), 1, "{answer}: {turn:?}");
        assert!(
            turn.on[0].contains("\"error\"") && !shows(&turn.on[0]),
            "{turn:?}"
        );
    }
}

#[test]
fn nothing_of_a_hostile_server_reaches_the_client_unjudged() {
    let cases = include_str!("hostile_servers.jsonl");
    let mut judged = 0;
    for case in cases.lines() {
        let case: Json = serde_json::from_str(case).unwrap();
        let mut session = Session::new("t", false, Limits::default());
        let mut rules = Rules { denied: 0 };
        let call = br#"{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"read"}}"#;
        let turn = session.from_client(&mut rules, call);
        let sent: Json = serde_json::from_str(&turn.on[0]).unwrap();
        let id = sent["id"].to_string();
        let (mut dropped, mut answered) = (0, 0);
        for line in case["lines"].as_array().unwrap() {
            let line = line.as_str().unwrap().replace("ID", &id);
            let turn = session.from_server(&mut rules, line.as_bytes());
            dropped += turn.dropped.len();
            answered += turn.on.len();
            for line in &turn.on {
                assert!(!shows(line), "{}: {line}", case["name"]);
            }
        }
        // It was denied, or never taken for anything.
        assert!(rules.denied + dropped + answered > 0, "{}", case["name"]);
        judged += usize::from(rules.denied > 0);
    }
    assert_eq!((judged, cases.lines().count()), (79, 95));
}
