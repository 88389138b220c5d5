//! `--redact`: stored and reported data contains no contents of events.

use crate::support::cli::Folder;
use serde_json::{Value, json};

const SECRET: &str = "hunter2-contents";

/// A state folder for each redaction, and whether the messages of the spec tell under it what another field held.
const REDACTIONS: [(&str, &str, bool); 3] = [
    ("a", "--redact", false),
    ("b", "--redact=text", false),
    ("c", "--redact=agent", true),
];

const SPEC: &str = r#"use std.agent
property no_rm = never (kind == "call" and tool == "rm")
  message "rm of {args.path}"
property once_each = forall p in args.paths: always (kind == "call" and args.paths contains p -> kind == "never")
  message "{p} again"
property shells = never (kind == "call" and any c in commands(args.command): c[0] == "curl")
enforce no_rm { violated => block "denied {args.path}" }
enforce once_each { violated => warn "{p}" }
enforce shells { violated => invoke stopped(args.path, why: args.command) }
"#;

fn event() -> Value {
    json!({
        "kind": "call", "role": "assistant", "tool": "rm",
        "args": {"path": SECRET, "paths": [SECRET], "command": format!("$x {SECRET}")},
        "text": SECRET, "call": "1", "result": null, "error": null, "agent": null
    })
}

#[test]
fn reports_hold_no_contents() {
    let mut other = event();
    other["kind"] = json!([SECRET]);
    let trace = json!({"id": "t", "events": [event(), other]});
    let folder = Folder::new(&[("s.guard", SPEC), ("t.jsonl", &trace.to_string())]);
    for format in ["human", "json", "sarif", "junit", "html"] {
        let args = ["audit", "s.guard", "t.jsonl", "--format", format];
        let whole = folder.guard(&args);
        assert!(whole.out.contains(SECRET), "{format}: {}", whole.out);
        let redacted = folder.guard(&[&args[..], &["--redact"]].concat());
        for text in [&redacted.out, &redacted.err] {
            assert!(!text.contains(SECRET), "{format}: {text}");
        }
        assert!(redacted.out.contains("no_rm"), "{format}: {}", redacted.out);
        assert!(
            redacted.out.contains("[redacted]"),
            "{format}: {}",
            redacted.out
        );
        assert_eq!(redacted.code, whole.code, "{format}");
    }
}

#[test]
fn fields_are_left_out_by_name() {
    let spec = r#"use std.agent
track said: string? = null then text ?? said
property short = never (kind == "call" and said starts_with "hunter2") message "{said}"
property no_rm = never (kind == "call" and tool == "rm") message "no {tool}"
enforce short { violated => block "not now" }
enforce no_rm { violated => warn "no {tool}" }
"#;
    let said = json!({"trace": "t", "kind": "message", "role": "user", "text": SECRET, "tool": null, "args": {}, "agent": null});
    let call = json!({"trace": "t", "kind": "call", "role": "assistant", "tool": "rm", "args": {}, "text": null, "agent": null});
    let trace = json!({"id": "t", "events": [said, call]});
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", &trace.to_string())]);
    let lines = format!("{said}\n{{\"phase\":\"act\",\"event\":{call}}}\n");
    for (flag, secret, tool) in [
        ("--redact", false, false),
        ("--redact=text", false, true),
        ("--redact=text,args", false, true),
        ("--redact=tool", true, false),
    ] {
        // The files: what depends on a field that is named, also through the track.
        for format in ["human", "json", "html"] {
            let run = folder.guard(&["audit", "s.guard", "t.jsonl", "--format", format, flag]);
            assert_eq!(
                run.out.contains(SECRET),
                secret,
                "{flag} {format}: {}",
                run.out
            );
            assert_eq!(
                run.out.contains("no rm"),
                tool,
                "{flag} {format}: {}",
                run.out
            );
        }
        let run = folder.guard_with(&["monitor", "s.guard", "--log", "l", flag], &lines);
        let log = folder.read("l");
        std::fs::remove_file(folder.path().join("l")).unwrap();
        // The log has no reasons of a clause that is left out, and the answer has the messages of the spec alone.
        assert_eq!(log.contains(SECRET), secret, "{flag}: {log}");
        assert_eq!(log.contains("no rm"), tool, "{flag}: {log}");
        assert_eq!(run.out.contains(SECRET), secret, "{flag}: {}", run.out);
        assert!(
            run.out.contains("not now") && run.out.contains("no rm"),
            "{flag}: {}",
            run.out
        );
    }
    let run = folder.guard(&["audit", "s.guard", "t.jsonl", "--redact=texts"]);
    assert!(
        run.code == 2 && run.err.contains("expected names of fields"),
        "{}",
        run.err
    );
}

/// The reason of a call that is denied goes to the agent, which may not have seen what the rule remembers.
#[test]
fn reasons_do_not_hold_what_tracks_remember() {
    let spec = r#"use std.agent
track secrets: set<string> = {} then if kind == "result" then secrets.add(text ?? "") else secrets
enforce when kind == "call" and len(secrets) > 0 and not (secrets == {"x"}) => block "not now"
"#;
    let folder = Folder::new(&[("s.guard", spec)]);
    let call = |hook: &str, more: Value| {
        let mut call = json!({
            "session_id": "s", "hook_event_name": hook, "tool_name": "Bash",
            "tool_input": {}, "tool_use_id": "1"
        });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        call.to_string()
    };
    for (state, flag) in [
        ("a", "--redact"),
        ("b", "--redact=text"),
        ("c", "--redact=agent"),
        ("d", "--scope=session"),
    ] {
        let args = ["hook", "s.guard", "--state", state, flag];
        folder.guard_with(&args, &call("PreToolUse", json!({})));
        folder.guard_with(
            &args,
            &call("PostToolUse", json!({"tool_response": {"text": SECRET}})),
        );
        let run = folder.guard_with(&args, &call("PreToolUse", json!({"tool_use_id": "2"})));
        assert!(
            run.out.contains("deny") && run.out.contains("not now"),
            "{}",
            run.out
        );
        assert!(!run.out.contains(SECRET), "{flag}: {}", run.out);
    }
}

/// Nor do the messages of clauses: a value that comes from the past is left out, one of the call itself is the spec's choice.
#[test]
fn messages_do_not_hold_what_tracks_remember() {
    let spec = r#"use std.agent
track heard: string = "" then if kind == "result" then text ?? "" else heard
enforce when kind == "call" and tool == "A" => block "not after {heard}"
enforce when kind == "call" and tool == "B" => block "no {tool} with {args.x as string}"
"#;
    let folder = Folder::new(&[("s.guard", spec)]);
    let call = |hook: &str, tool: &str, more: Value| {
        let mut call = json!({"session_id": "s", "hook_event_name": hook, "tool_name": tool, "tool_input": {"x": "y"}});
        let members = call.as_object_mut().unwrap();
        members.extend(more.as_object().unwrap().clone());
        call.to_string()
    };
    for (state, flag, told) in REDACTIONS {
        let args = ["hook", "s.guard", "--state", state, flag];
        let outcome = json!({"tool_response": {"text": SECRET}});
        folder.guard_with(&args, &call("PostToolUse", "Read", outcome));
        let of_past = folder
            .guard_with(&args, &call("PreToolUse", "A", json!({})))
            .out;
        assert!(of_past.contains("not after "), "{of_past}");
        assert_eq!(of_past.contains(SECRET), told, "{flag}: {of_past}");
        let of_call = folder
            .guard_with(&args, &call("PreToolUse", "B", json!({})))
            .out;
        assert!(of_call.contains("no B with y"), "{flag}: {of_call}");
    }
}

#[test]
fn logs_and_journals_hold_no_contents() {
    let folder = Folder::new(&[("s.guard", SPEC)]);
    let mut line = event();
    line["trace"] = "t".into();
    let files = [
        "--journal",
        "j",
        "--snapshot",
        "st",
        "--log",
        "l",
        "--redact",
    ];
    let args = [&["monitor", "s.guard"][..], &files].concat();
    let run = folder.guard_with(&args, &format!("{line}\n{line}\n"));
    assert!(
        run.out.contains(SECRET),
        "decisions are answered in full: {}",
        run.out
    );
    for file in ["j", "l"] {
        let bytes = std::fs::read(folder.path().join(file)).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(SECRET), "{file}: {text}");
    }
    assert!(folder.read("l").contains("no_rm"));
    let verified = folder.guard(&["monitor", "s.guard", "--verify-log", "l"]);
    assert_eq!(verified.code, 0, "{}", verified.err);
    // another process goes on from these files
    let resumed = folder.guard_with(
        &[&args[..], &["--resume", "st"]].concat(),
        &format!("{line}\n"),
    );
    assert!(
        resumed.out.contains("resumed"),
        "{} {}",
        resumed.out,
        resumed.err
    );

    for (hook, more) in [
        ("PreToolUse", json!({})),
        ("PostToolUse", json!({"tool_response": {"text": SECRET}})),
    ] {
        let mut call = json!({
            "session_id": "s", "hook_event_name": hook, "tool_name": "Bash",
            "tool_input": {"command": format!("ls {SECRET}")}, "tool_use_id": "1"
        });
        call.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let args = ["hook", "s.guard", "--state", "hooks", "--redact"];
        let run = folder.guard_with(&args, &call.to_string());
        assert_eq!(run.code, 0, "{}", run.err);
    }
    let mut kept = Vec::new();
    let mut folders = vec![folder.path().join("hooks")];
    let mut files = 0;
    while let Some(path) = folders.pop() {
        for entry in std::fs::read_dir(path).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            if String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains(SECRET) {
                kept.push(path);
            }
        }
    }
    assert!(files >= 3);
    assert!(kept.is_empty(), "{kept:?}");
}

/// What a proxy writes to standard error is kept by the programs that run it.
#[test]
fn a_proxy_writes_no_contents_to_standard_error() {
    let spec = "use std.agent\nenforce when kind == \"result\" and text contains \"evil\" => block \"it says {text}\"\n";
    let folder = Folder::new(&[("s.guard", spec)]);
    let said = format!("evil {SECRET}");
    let message = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": said}});
    // A key that occurs twice is quoted in the reason.
    let twice = format!(r#"{{"jsonrpc":"2.0","{SECRET}":1,"{SECRET}":2}}"#);
    folder.write("said", format!("{message}\n{twice}\n"));
    for (more, holds) in [(&[][..], true), (&["--redact"], false)] {
        let args = [
            &["proxy", "s.guard", "--verbose"],
            more,
            &["--", "cat", "said"],
        ]
        .concat();
        let run = folder.guard(&args);
        assert_eq!((run.code, run.out.as_str()), (0, ""), "{}", run.err);
        let dropped = run.err.matches("dropped a message of the server").count();
        assert_eq!(dropped, 2, "{}", run.err);
        assert!(run.err.contains("\"decision\":\"block\""), "{}", run.err);
        assert_eq!(run.err.contains(SECRET), holds, "{}", run.err);
    }
}
