//! Output of every command contains no control characters and no marks that change the direction of text, whatever the
//! data and specs contain.

use crate::support::cli::{Folder, Run};
use serde_json::json;

/// Clears the screen, sets the title and the clipboard, colours, begins a line, turns text around.
const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;x\u{7}\u{1b}]52;c;eA==\u{7}\u{1b}[31mrm\u{9b}31m\r\nok: 1 file\u{202e}FAKE\u{2066}\u{e0041}";

fn acts(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{e0000}'..='\u{e007f}')
}

fn check(verb: &str, run: &Run) {
    for (stream, text) in [("out", &run.out), ("err", &run.err)] {
        assert!(!text.contains(acts), "{verb} ({stream}): {text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("ok: 1 fileF")),
            "{verb}: {text}"
        );
    }
}

const SPEC: &str = r#"use std.agent
property no_rm = never (kind == "call" and tool contains "rm")
  message "tool {tool} with {args.path}"
enforce no_rm { violated => block "denied {tool} {args.path}" }
"#;

/// A spec whose text is hostile itself: strings and comments cannot hold line ends.
fn hostile_spec(wrong: &str) -> String {
    let text = HOSTILE.replace(['\r', '\n'], "");
    format!(
        "event {{ kind: string }}\n/// doc {text}\nproperty p = never (kind == \"{text}\")\n// {text}\n{wrong}"
    )
}

#[test]
fn data_is_printed_as_text() {
    let event = json!({
        "kind": "call", "role": "assistant", "tool": format!("rm{HOSTILE}"), "args": {"path": HOSTILE},
        "text": HOSTILE, "call": "1", "result": null, "error": null, "agent": HOSTILE
    });
    let mut line = event.clone();
    line["trace"] = HOSTILE.into();
    let name = "a\u{1b}[31m\u{202e}.jsonl";
    let trace = json!({"id": HOSTILE, "events": [event]});
    let odd = json!({"id": HOSTILE, "events": [{"kind": 7}]});
    let twice = r#"{"id":"d","events":[{"kind":"call","\u001b[5mk":1,"\u001b[5mk":2}]}"#;
    let folder = Folder::new(&[
        ("s.guard", SPEC),
        (name, &format!("{trace}\n{odd}\n{twice}\n")),
    ]);
    for format in ["human", "json"] {
        let lines =
            format!("{line}\n{{\"kind\":\u{1b}[31m}}\n{{\"\\u001b[31mx\":1,\"\\u001b[31mx\":2}}\n");
        let run = folder.guard_with(&["monitor", "s.guard", "--format", format], &lines);
        check(&format!("monitor {format}"), &run);
        assert!(run.out.contains("rm"), "{}", run.out);
    }
    for format in ["human", "json", "sarif", "junit", "html"] {
        let run = folder.guard(&["audit", "s.guard", name, "--format", format]);
        check(&format!("audit {format}"), &run);
        if format != "human" && format != "json" {
            continue;
        }
        assert!(
            run.out.contains("u001b") || run.out.contains("u{1b}"),
            "{}",
            run.out
        );
    }
    for input in [
        json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": format!("rm{HOSTILE}"), "tool_input": {"path": HOSTILE}, "tool_use_id": "1"}).to_string(),
        r#"{"session_id":"s","hook_event_name":"PreToolUse","tool_name":"x","tool_input":{"\u001b]0;x":1,"\u001b]0;x":2}}"#.to_owned(),
    ] {
        let run = folder.guard_with(&["hook", "s.guard", "--state", "state"], &input);
        check("hook", &run);
    }
}

/// Also after its JSON is read: a person who is asked sees no second paragraph, and an agent no other text.
#[test]
fn messages_of_hooks_are_text_for_whoever_reads_them() {
    for action in ["ask", "warn", "reflect", "block", "stop"] {
        let spec = format!(
            "use std.agent\nenforce when kind == \"call\" => {action} \"tool {{tool}} with {{args.path}}\"\n\
             enforce when kind == \"result\" => {action} \"said {{text}}\"\n"
        );
        let folder = Folder::new(&[("s.guard", &spec)]);
        for hook in ["PreToolUse", "PostToolUse"] {
            let input = json!({"session_id": "s", "hook_event_name": hook, "tool_name": "rm",
                "tool_input": {"path": HOSTILE}, "tool_use_id": "1", "tool_response": HOSTILE});
            let run =
                folder.guard_with(&["hook", "s.guard", "--state", "state"], &input.to_string());
            let read: serde_json::Value = serde_json::from_str(&run.out).unwrap();
            let mut open = vec![&read];
            let mut texts = 0;
            while let Some(value) = open.pop() {
                open.extend(
                    value
                        .as_object()
                        .into_iter()
                        .flat_map(|members| members.values()),
                );
                if let Some(text) = value.as_str() {
                    texts += usize::from(text.contains("FAKE"));
                    assert!(
                        !text.contains(|c| acts(c) || c == '\n'),
                        "{action}: {text:?}"
                    );
                }
            }
            assert!(texts > 0, "{action}, {hook}: {}", run.out);
        }
        let input = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": format!("rm{HOSTILE}"),
            "tool_input": {}, "tool_use_id": "2"});
        let run = folder.guard_with(&["hook", "s.guard", "--state", "state"], &input.to_string());
        assert_eq!(run.code, 2, "{run:?}");
        assert!(run.err.contains("tool_name"), "{run:?}");
        let shown = [run.out, run.err].concat();
        assert!(!shown.contains(|c| acts(c) && c != '\n'), "{shown:?}");
    }
}

#[test]
fn json_that_is_printed_keeps_its_meaning() {
    let event = json!({"kind": "call", "tool": format!("rm{HOSTILE}")});
    let trace = json!({"id": HOSTILE, "events": [event]}).to_string();
    let folder = Folder::new(&[("s.guard", SPEC), ("t.jsonl", &trace)]);
    let run = folder.guard(&["audit", "s.guard", "t.jsonl", "--format", "json"]);
    let first: serde_json::Value = serde_json::from_str(run.out.lines().next().unwrap()).unwrap();
    assert!(
        first.to_string().contains(&json!(HOSTILE).to_string()),
        "{first}"
    );
}

#[test]
fn specs_are_printed_as_text() {
    let folder = Folder::new(&[
        ("ok.guard", &hostile_spec("")),
        (
            "bad.guard",
            &hostile_spec("property q = never (kind = 1)\n"),
        ),
        (
            "worse.guard",
            &hostile_spec(&format!("property {} = 1\n", &HOSTILE[..4])),
        ),
    ]);
    for args in [
        &["check", "ok.guard"][..],
        &["explain", "ok.guard", "p"],
        &["explain", "ok.guard", "p", "--format", "json"],
        &["doc", "ok.guard", "-o", "-"],
        &["doc", "ok.guard", "-o", "-", "--format", "markdown"],
        &["compile", "ok.guard", "-o", "-", "--emit", "automata"],
        &["explain", "ok.guard", "nope\u{1b}[31m"],
        &["check", "bad.guard"],
        &["check", "bad.guard", "--format", "json"],
        &["check", "worse.guard"],
        &["fmt", "--check", "bad.guard"],
        &["test", "bad.guard"],
        &["audit", "bad.guard", "x"],
        &["check", "none\u{1b}[31m\u{202e}.guard"],
        &[
            "draft",
            "The agent\u{1b}]0;x\u{7}\u{202e} must never delete files.",
        ],
    ] {
        check(&args.join(" "), &folder.guard(args));
    }
}
