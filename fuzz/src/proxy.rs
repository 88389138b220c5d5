//! Any lines in both directions of `guard proxy`: each line that a peer gets is one JSON text for every reader of lines, no
//! text that the rules deny reaches the client, and every event is JSON. A line of the input begins with `>` (client) or
//! `<`, or with `)` or `(` if it is too long and only its rest is known.

use guard_cli::integrations::Judge;
use guard_cli::integrations::mcp::{Limits, Session};
use guard_lang::monitor::intake::Intake;
use guard_lang::monitor::lenient::{Outline, UNREAD};
use guard_lang::monitor::{Cause, Decision, Request, Ruling};
use serde_json::Value as Json;

struct Rules;

impl Judge for Rules {
    fn reads(&self, _: &str) -> bool {
        true
    }

    fn members(&self) -> Vec<String> {
        Vec::new()
    }

    fn only_looks_for(&self, _: &str) -> bool {
        true
    }
    fn check_keys(&self, _: &[&[&str]], _: &str) -> Result<(), String> {
        Ok(())
    }

    fn has_trace(&self, _: &str) -> bool {
        false
    }

    fn request(&mut self, _: Request, event: &str) -> Result<Decision, String> {
        // An unknown value is a string that is no JSON.
        let event = event.replace(UNREAD, "{}");
        let event: Json = serde_json::from_str(&event).expect("events are JSON");
        let mut decision = Decision::new(Cause::Event);
        let text = event["text"].as_str();
        if event["kind"] == "result" && text.is_none_or(|text| text.contains("INJECT")) {
            decision.ruling = Ruling::Block;
        }
        Ok(decision)
    }
}

fn has(value: &Json, phrase: &str) -> bool {
    match value {
        Json::String(text) => text.contains(phrase),
        Json::Array(items) => items.iter().any(|item| has(item, phrase)),
        Json::Object(members) => members.values().any(|value| has(value, phrase)),
        _ => false,
    }
}

fn kept(line: &[u8]) -> Option<Outline> {
    let mut intake = Intake::new(64);
    intake.take(line);
    intake.finish().ok()
}

pub fn run(data: &[u8]) {
    let limits = Limits {
        entries: 3,
        bytes: 1 << 12,
        list: 4,
        joined: 1 << 10,
    };
    let mut session = Session::new("t", false, limits);
    for line in data.split(|byte| *byte == b'\n') {
        let (from_client, turn) = match line.split_first() {
            Some((b'>', line)) => (true, session.from_client(&mut Rules, line)),
            Some((b'<', line)) => (false, session.from_server(&mut Rules, line)),
            Some((b')', line)) => {
                let kept = kept(line);
                (true, session.cut_from_client(kept.as_ref(), "too long"))
            }
            Some((b'(', line)) => {
                let kept = kept(line);
                (
                    false,
                    session.cut_from_server(&mut Rules, kept.as_ref(), "too long"),
                )
            }
            _ => continue,
        };
        for sent in turn.on.iter().chain(&turn.back) {
            let odd = |c: char| c.is_control() || matches!(c, '\u{2028}' | '\u{2029}');
            assert!(!sent.contains(odd), "{sent}");
            let message: Json = serde_json::from_str(sent).expect("what is sent is JSON");
            let messages = match &message {
                Json::Array(messages) => messages.as_slice(),
                one => std::slice::from_ref(one),
            };
            for message in messages {
                assert_eq!(message["jsonrpc"], "2.0");
                let to_client = !from_client && turn.on.contains(sent);
                // Media hold no text.
                let media = has(message, "image") || has(message, "audio");
                assert!(
                    !to_client || media || !has(&message["result"], "INJECT"),
                    "{sent}"
                );
            }
        }
    }
}
