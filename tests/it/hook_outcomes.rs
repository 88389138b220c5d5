//! What hooks of Claude Code report about calls: none is forgotten, and what cannot be read is not harmless.

use serde_json::{Value as Json, json};

use crate::support::hook::{Session, bash, decision, outcome, tainted};

#[test]
fn a_megabyte_of_output_is_read() {
    let session = Session::new();
    let big = json!({"stdout": "x".repeat(1 << 20), "stderr": "", "interrupted": false});
    assert_eq!(session.before("a", "Bash", bash("cat big")), Json::Null);
    assert_eq!(session.after("a", "Bash", bash("cat big"), big), Json::Null);
    assert_eq!(
        decision(&session.before("b", "Bash", bash("deploy"))).0,
        "deny"
    );
}

/// A command in the background may fail later, so a limit on failures counts it. Calls are denied only when so many may have failed,
/// and the agent reads that this is not known.
#[test]
fn commands_in_the_background_count_once_each() {
    let session = Session::new();
    let spec = "use std.agent\nproperty few = always (count(kind == \"result\" and tool == \"Bash\" and error == true) <= 2)\n\
         enforce few { violated => block \"too many failed commands\" }\n";
    std::fs::write(&session.spec, spec).unwrap();
    let mut input = bash("make");
    input["run_in_background"] = json!(true);
    let started = json!({"stdout": "", "stderr": "", "backgroundTaskId": "b"});
    for call in ["a", "b"] {
        assert_eq!(session.before(call, "Bash", input.clone()), Json::Null);
        assert_eq!(
            session.after(call, "Bash", input.clone(), started.clone()),
            Json::Null
        );
    }
    let read = json!({"file_path": "/work/a"});
    assert_eq!(session.before("c", "Read", read.clone()), Json::Null);
    assert_eq!(session.before("d", "Bash", input.clone()), Json::Null);
    session.after("d", "Bash", input, started);
    let answer = session.before("e", "Read", read);
    let (ruling, reason) = decision(&answer);
    assert_eq!(ruling, "deny");
    assert!(
        reason.starts_with("too many failed commands (data of an earlier step is unknown"),
        "{reason}"
    );
}

/// The message that a clause has by default names what is unknown, and so is all that the agent reads.
#[test]
fn what_is_unknown_is_named_once() {
    let session = Session::new();
    let spec = "use std.agent\nproperty none = always (count(kind == \"result\" and error == true) == 0)\nenforce none { violated => block }\n";
    std::fs::write(&session.spec, spec).unwrap();
    let mut input = bash("make");
    input["run_in_background"] = json!(true);
    assert_eq!(session.before("a", "Bash", input.clone()), Json::Null);
    session.after("a", "Bash", input, json!({"backgroundTaskId": "b"}));
    let answer = session.before("b", "Read", json!({"file_path": "/work/a"}));
    let reason = "`none` is violated: data of an earlier step is unknown";
    assert_eq!(decision(&answer), ("deny", reason));
}

/// A call is a success only if the hook says so by its name, and its outcome that it has ended.
#[test]
fn what_is_no_success_fulfils_no_rule() {
    let ok = r#"{"stdout":"ok","stderr":"","interrupted":false}"#;
    let cases = [
        ("PostToolUse", "Bash", "", ok, true),
        ("PostToolUse", "Bash", "", r#""ok""#, true),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"isError":false,"backgroundTaskId":null}"#,
            true,
        ),
        (
            "PostToolUse",
            "Bash",
            r#","run_in_background":false"#,
            ok,
            true,
        ),
        (
            "PostToolUse",
            "Bash",
            r#","run_in_background":true"#,
            ok,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            r#","run_in_background":1"#,
            ok,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"stdout":"","backgroundTaskId":"b1"}"#,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"stdout":"","interrupted":true}"#,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"stdout":"","isError":true}"#,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"stdout":"","is_error":1}"#,
            false,
        ),
        (
            "PostToolUse",
            "Bash",
            "",
            r#"{"isError":false,"ISERROR":true}"#,
            false,
        ),
        ("PostToolUse", "Bash", "", r#"{"stdout":"x""#, false),
        ("PostToolUse", "Bash", "", r#""\ud800""#, false),
        ("PostToolUse", "Bash", "", r#""x","is_error":true"#, false),
        ("PostToolUse", "Bash", "", r#""x","error":"exit 1""#, false),
        ("PostToolUse", "Bash", "", r#""x","error":null"#, true),
        ("PostToolUseX", "Bash", "", ok, false),
        ("posttooluse", "Bash", "", ok, false),
        ("Notification", "Bash", "", ok, false),
        ("PostToolUseFailure", "Bash", "", ok, false),
        (
            "PostToolUse",
            "Agent",
            "",
            r#"{"status":"completed"}"#,
            true,
        ),
        (
            "PostToolUse",
            "Agent",
            "",
            r#"{"status":"async_launched"}"#,
            false,
        ),
        ("PostToolUse", "Agent", "", r#"{"isAsync":true}"#, false),
        ("PostToolUse", "deploy", "", r#"{"status":"ok"}"#, true),
        // What has only begun, by the tool or by what it says.
        (
            "PostToolUse",
            "Workflow",
            "",
            r#"{"status":"async_launched","taskId":"w1"}"#,
            false,
        ),
        ("PostToolUse", "Workflow", "", ok, false),
        (
            "PostToolUse",
            "Monitor",
            "",
            r#"{"taskId":"m1","persistent":true}"#,
            false,
        ),
        (
            "PostToolUse",
            "RemoteTrigger",
            "",
            r#"{"status":"async_launched"}"#,
            false,
        ),
        (
            "PostToolUse",
            "BashOutput",
            "",
            r#"{"status":"running"}"#,
            false,
        ),
        (
            "PostToolUse",
            "BashOutput",
            r#","status":"running""#,
            r#"{"status":"completed"}"#,
            true,
        ),
        (
            "PostToolUse",
            "mcp__x__y",
            "",
            r#"{"status":"running"}"#,
            true,
        ),
        // A server chooses what these mean.
        (
            "PostToolUse",
            "mcp__x__y",
            "",
            r#"{"interrupted":true}"#,
            true,
        ),
        ("PostToolUse", "mcp__x__y", "", r#"{"isError":true}"#, false),
    ];
    for (hook, tool, input, response, success) in cases {
        let session = Session::new();
        let rule = format!(
            "use std.agent\nproperty first = G (kind == \"call\" and tool == \"push\" -> O (kind == \"result\" and tool == \"{tool}\" and error == false))\nenforce first {{ violated => block \"first\" }}\n"
        );
        std::fs::write(&session.spec, rule).unwrap();
        let call = format!(
            r#""session_id":"s1","tool_use_id":"1","tool_name":"{tool}","tool_input":{{"command":"t"{input}}}"#
        );
        let before = format!(r#"{{"hook_event_name":"PreToolUse",{call}}}"#);
        assert_eq!(
            session.raw(before.as_bytes()),
            (0, String::new(), String::new())
        );
        let after = format!(r#"{{"hook_event_name":"{hook}",{call},"tool_response":{response}}}"#);
        let (code, _, err) = session.raw(after.as_bytes());
        assert_eq!((code, err.as_str()), (0, ""), "{after}");
        let push = session.before("2", "push", json!({}));
        let expected = if success { Json::Null } else { json!("deny") };
        let found = match &push {
            Json::Null => Json::Null,
            push => json!(decision(push).0),
        };
        assert_eq!(found, expected, "{after}");
    }
}

/// Claude Code gives no metadata, so a spec for some traces holds.
#[test]
fn a_spec_for_some_traces_holds_where_nobody_says_which_it_is() {
    let session = Session::new();
    let spec = r#"use std.agent
trace { meta env: string? from "/env"
  records where env == "prod" }
property p = never (kind == "call" and tool == "rm")
enforce p { violated => block "no rm" }
"#;
    std::fs::write(&session.spec, spec).unwrap();
    assert_eq!(session.before("1", "ls", json!({})), Json::Null);
    let answer = session.before("2", "rm", json!({}));
    assert_eq!(decision(&answer).0, "deny");
}

/// Whatever a tool answers, a rule about it is not satisfied because it could not be read.
#[test]
fn an_outcome_that_cannot_be_read_is_not_harmless() {
    let deep = format!(
        "{{\"stdout\":\"x\",\"d\":{}{}}}",
        "[".repeat(20_000),
        "]".repeat(20_000)
    );
    let cut = r#"{"stdout":"x"#;
    let cases = [
        r#"{"stdout":"\ud83d"}"#,
        r#"{"stdout":"x","stdout":"y"}"#,
        "{\"stdout\":\"\u{1}\"}",
        r#"{"stdout":"\q"}"#,
        cut,
        // A key is what a tool chooses, and so are numbers.
        r#"{"\ud83d":"x"}"#,
        "{\"\u{1}\":\"x\"}",
        r#"{"\q":"x"}"#,
        r#"{"stdout":"x",}"#,
        r#"{stdout:'x'}"#,
        "/* x */1",
        "NaN",
        r#"{"stdout":"x","n":1e999}"#,
    ];
    for response in cases {
        let session = tainted(&[]);
        session.before("r", "Read", json!({}));
        let (code, _, err) = session.raw(&outcome(response));
        assert_eq!((code, err.as_str()), (0, ""), "{response}");
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(decision(&mail).0, "deny", "{response}");
        assert_eq!(
            session.before("x", "Read", json!({})),
            Json::Null,
            "{response}"
        );
    }
    // What stands around the object, or twice in it, hides nothing of it.
    let whole = String::from_utf8(outcome(r#"{"stdout":"PRIVATE KEY"}"#)).unwrap();
    let session_twice = whole.replacen('{', r#"{"session_id":"s1","#, 1);
    for input in [
        format!("\u{feff}{whole}"),
        format!("\0{whole}"),
        format!("{whole}x"),
        format!("{whole}{whole}"),
        session_twice,
        whole.replacen('{', r#"{"hook_event_name":"PostToolUse","#, 1),
        whole.replacen('{', r#"{"\ud83d":1,"#, 1),
        whole.replacen('{', r#"{"hook_event_name":"\ud83d","#, 1),
    ] {
        let session = tainted(&[]);
        session.before("r", "Read", json!({}));
        let (_, _, err) = session.raw(input.as_bytes());
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(decision(&mail).0, "deny", "{input}: {err}");
    }
    // All the text of these is known.
    for (response, denied) in [
        (deep.as_str(), false),
        (r#"{"type":"text","file":{"content":"PRIVATE KEY"}}"#, true),
        (
            r#"{"content":[{"type":"text","text":"PRIVATE KEY"}]}"#,
            true,
        ),
        (r#"{"PRIVATE KEY":1}"#, true),
        (
            r#"[{"type":"text","text":"PRIV"},{"type":"text","text":"ATE KEY"}]"#,
            true,
        ),
        (r#"[{"type":"image","data":"UFJJVkFURSBLRVk="}]"#, true),
        // What stands between two blocks does not hide a phrase that is split over them.
        (
            r#"[{"type":"text","text":"PRIV","annotations":{"audience":["user"]}},{"type":"text","text":"ATE KEY"}]"#,
            true,
        ),
        (
            r#"{"stdout":"data:image/png;base64,UFJJVkFURSBLRVk=","isImage":true}"#,
            true,
        ),
        (r#"{"url":"data:text/plain,PRIVATE%20KEY"}"#, true),
        (r#"{"url":"da\tta:text/plain,PRIVATE%20KEY"}"#, true),
        (r#"{"file":{"base64":"-UFJJVkFURSBLRVk="}}"#, true),
        (
            r#"{"file":{"base64":"data:;base64,UFJJVkFURSBLRVk="}}"#,
            true,
        ),
        (
            r#"[{"type":"image","data":"UABSAEkAVgBBAFQARQAgAEsARQBZAA=="}]"#,
            true,
        ),
        (r#""x","error":"PRIVATE KEY""#, true),
        (r#""x","tool_output":{"a":"PRIVATE KEY"}"#, true),
        (r#""PRIVATE KEY","agent_id":5"#, true),
    ] {
        let session = tainted(&[]);
        session.before("r", "Read", json!({}));
        assert_eq!(session.raw(&outcome(response)).0, 0);
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(
            !mail.is_null(),
            denied,
            "{}",
            &response[..response.len().min(80)]
        );
    }
}

#[test]
fn hooks_are_told_apart_by_their_exact_names() {
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    let call = |hook: &str, tool: &str| {
        format!(
            r#"{{"session_id":"s1","hook_event_name":{hook},"tool_name":{tool},"tool_input":{{}},"tool_use_id":"m"}}"#
        )
    };
    for hook in [
        "preToolUse",
        "PreToolUse ",
        "PRETOOLUSE",
        "",
        "PreToolBatch",
    ] {
        let (code, _, err) = session.raw(call(&format!("{hook:?}"), r#""mail""#).as_bytes());
        assert_eq!(code, 2, "{hook}: {err}");
    }
    // An outcome under another name is one.
    let outcome = r#"{"session_id":"s1","hook_event_name":"PostToolBatch","tool_name":"Read","tool_input":{},"tool_use_id":"r","tool_response":"PRIVATE KEY"}"#;
    assert_eq!(session.raw(outcome.as_bytes()).0, 0);
    assert_eq!(decision(&session.before("m", "mail", json!({}))).0, "deny");
    // A call without a name may be any.
    let (code, out, _) = session.raw(call(r#""PreToolUse""#, "null").as_bytes());
    assert!(code == 2 || out.contains("deny"), "{code} {out}");
    // Neither is one whose name some reader takes for another.
    for tool in [
        r#""mail\u0000""#,
        r#""mail\n""#,
        r#"" mail""#,
        r#""ma\u200bil""#,
    ] {
        let (code, _, err) = session.raw(call(r#""PreToolUse""#, tool).as_bytes());
        assert!(code == 2 && err.contains("`tool_name`"), "{tool}: {err}");
    }
    // Others are none of its business.
    let note = r#"{"session_id":"s1","hook_event_name":"Notification","message":"m"}"#;
    assert_eq!(session.raw(note.as_bytes()).0, 0);
}

#[test]
fn a_call_that_was_never_judged_is_noticed() {
    let session = tainted(&[]);
    let told = session.after("u", "rm", json!({}), json!("gone"));
    assert_eq!(
        told["stopReason"],
        "this call was not judged before it ran: rm ran"
    );
    let session = tainted(&[]);
    let told = session.after("u", "Read", json!({}), json!("x"));
    assert_eq!(
        told["systemMessage"],
        "this call was not judged before it ran"
    );
    session.before("v", "Read", json!({}));
    assert_eq!(
        session.after("v", "Read", json!({}), json!("x")),
        Json::Null
    );
    assert_eq!(
        session.after("v", "Read", json!({}), json!("x")),
        Json::Null
    );
}

/// Whatever changed the arguments between the hooks: the call that ran is the one that rules see.
#[test]
fn a_call_that_ran_otherwise_than_it_was_judged_is_noticed() {
    let otherwise = "this call ran otherwise than it was judged";
    let session = tainted(&[]);
    session.before("u", "Read", json!({"path": "a", "all": true}));
    let told = session.after("u", "rm", json!({"path": "a", "all": true}), json!("gone"));
    assert_eq!(told["stopReason"], format!("{otherwise}: rm ran"));
    session.before("v", "Read", json!({"path": "a"}));
    let told = session.after("v", "Read", json!({"path": "b"}), json!("x"));
    assert_eq!(told["systemMessage"], otherwise);
    // under the id of a call that has ended: the same outcome once more, and that of another call
    let again = session.after("v", "Read", json!({"path": "b"}), json!("x"));
    assert_eq!(again, Json::Null);
    let told = session.after("v", "rm", json!({"path": "b"}), json!("gone"));
    assert_eq!(told["stopReason"], format!("{otherwise}: rm ran"));
    // another order, other spellings of the same
    session.before("w", "Read", json!({"path": "a", "all": true}));
    let input = r#"{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"R\u0065ad","tool_input":{"all" : true,"path":"\u0061"},"tool_use_id":"w","tool_response":"x"}"#;
    let (code, out, err) = session.raw(input.as_bytes());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    // values that no reader can compare are compared as they are written
    for (judged, ran) in [
        (r#""\ud800""#, "1e999"),
        (r#""b""#, r#""\ud800""#),
        ("1e999", "1"),
    ] {
        let session = tainted(&[]);
        let input = |hook: &str, tool: &str, value: &str| {
            format!(
                r#"{{"session_id":"s1","hook_event_name":"{hook}","tool_name":"{tool}","tool_input":{{"a":{value}}},"tool_use_id":"u","tool_response":"x"}}"#
            )
        };
        for _ in 0..2 {
            session.raw(input("PreToolUse", "Read", judged).as_bytes());
        }
        let (_, out, _) = session.raw(input("PostToolUse", "Read", judged).as_bytes());
        assert_eq!(out, "", "{judged}");
        let (_, out, _) = session.raw(input("PostToolUse", "rm", ran).as_bytes());
        assert!(
            out.contains(&format!("{otherwise}: rm ran")),
            "{judged} {ran} {out}"
        );
    }
    // a person agreed to another call
    let session = Session::new();
    session.before("x", "WebFetch", json!({"url": "http://a"}));
    let told = session.after("x", "WebFetch", json!({"url": "http://b"}), json!("page"));
    assert_eq!(told["decision"], "block", "{told}");
    assert_eq!(told["reason"], format!("{otherwise}: fetch http://b?"));
}

/// With one history for each agent, an outcome that names no agent is one of the agent that made its call.
#[test]
fn an_outcome_belongs_to_the_agent_that_made_its_call() {
    let read = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "1"});
    let outcome = json!({"tool_name": "Read", "tool_input": {}, "tool_use_id": "1", "tool_response": "a SECRET"});
    let mail = json!({"tool_name": "mail", "tool_input": {}, "tool_use_id": "2"});
    for maker in [None, Some("a"), Some("b")] {
        let session = Session::with(&["--scope", "agent"]);
        std::fs::write(&session.spec, "use std.agent\n\
            property clean = never (kind == \"result\" and text contains \"SECRET\" and eventually (kind == \"call\" and tool == \"mail\"))\n\
            enforce clean { violated => block }\n").unwrap();
        for agent in [None, Some("a"), Some("b")] {
            let other = json!({"tool_name": "list", "tool_input": {}, "tool_use_id": "0"});
            session.ask("PreToolUse", agent, other);
        }
        session.ask("PreToolUse", maker, read.clone());
        assert_eq!(
            session.ask("PostToolUse", None, outcome.clone()),
            Json::Null
        );
        for agent in [None, Some("a"), Some("b")] {
            let answer = session.ask("PreToolUse", agent, mail.clone());
            assert_eq!(answer.is_null(), agent != maker, "{maker:?} {agent:?}");
        }
    }
}

/// The program adds the user's answer to the arguments of its question: that is the call that was judged.
#[test]
fn what_the_user_fills_in_is_no_other_call() {
    let question = json!({"questions": [{"question": "A or B?", "options": [{"label": "A"}]}]});
    let with = |member: &str, value: Json| {
        let mut input = question.clone();
        input[member] = value;
        input
    };
    let once = "use std.agent\nproperty few = always (count(kind == \"call\") <= 1)\nenforce few { violated => block \"one call\" }\n";
    let after = |id: &str, tool: &str, ran: Json| {
        let session = Session::new();
        std::fs::write(&session.spec, once).unwrap();
        let input = |hook: &str, input: &Json| {
            let mut all = json!({"session_id": "s1", "hook_event_name": hook, "tool_name": tool, "tool_input": input,
                "tool_response": {"answers": {"A or B?": "A"}}});
            if !id.is_empty() {
                all["tool_use_id"] = json!(id);
            }
            session.raw(all.to_string().as_bytes()).1
        };
        assert_eq!(input("PreToolUse", &question), "");
        input("PostToolUse", &ran)
    };
    let answered = [
        with("answers", json!({"A or B?": "A"})),
        with("annotations", json!({"A or B?": {"notes": "n"}})),
    ];
    for ran in answered {
        for id in ["q", ""] {
            assert_eq!(after(id, "AskUserQuestion", ran.clone()), "", "{id} {ran}");
        }
        // the same names are others in other tools
        let told = after("q", "mcp__x__y", ran);
        assert!(
            told.contains("ran otherwise than it was judged: one call"),
            "{told}"
        );
    }
    for (member, value) in [
        ("questions", json!([])),
        ("metadata", json!({})),
        ("Answers", json!({})),
    ] {
        let told = after("q", "AskUserQuestion", with(member, value));
        assert!(
            told.contains("ran otherwise than it was judged: one call"),
            "{member} {told}"
        );
    }
}

/// A hook that is killed while it judges an outcome leaves a mark, and the next call puts the outcome on record, also if an equal call
/// had an outcome before.
#[test]
fn an_outcome_whose_hook_is_killed_is_not_forgotten() {
    for repeated in [false, true] {
        let mut session = tainted(&[]);
        session.before("r", "Read", json!({}));
        if repeated {
            session.raw(&outcome("\"fine\""));
        }
        session.lose(&outcome("\"x\""));
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(decision(&mail).0, "deny");
        let marks = std::fs::read_dir(session.file("open")).unwrap().count();
        assert_eq!(marks, 0);
    }
}

/// What an outcome says about open questions reaches the person, whatever else is said, and whenever the outcome is judged.
#[test]
fn a_person_is_told_to_refuse_beside_everything_else() {
    const SPEC: &str = r#"
use std.agent
property clean = never (kind == "result" and text contains "SECRET" and eventually (kind == "call" and tool == "send"))
enforce clean { violated => block "nothing is sent after a secret" }
enforce when kind == "result" and text contains "SECRET" => stop "do not use what you read"
enforce when kind == "call" and tool == "send" => ask "send?"
"#;
    let refuse = "refuse the call that you are being asked about: ";
    let asked = || {
        let session = Session::new();
        std::fs::write(&session.spec, SPEC).unwrap();
        session.before("r", "Read", json!({}));
        assert_eq!(decision(&session.before("s", "send", json!({}))).0, "ask");
        session
    };
    let told = asked().after("r", "Read", json!({}), json!("a SECRET"));
    assert!(told["reason"].to_string().contains("do not use"), "{told}");
    let message = told["systemMessage"].to_string();
    assert!(
        message.contains(refuse) && message.contains("nothing is sent"),
        "{told}"
    );
    let mut session = asked();
    session.lose(&outcome("\"x\""));
    let told = session.before("l", "list", json!({}));
    let message = told["systemMessage"].to_string();
    assert!(
        message.contains(&format!("an earlier outcome: {refuse}")),
        "{told}"
    );
    assert_eq!(told["continue"], false, "{told}");
}

/// What the server of a tool chooses is text, also keys and numbers, wherever they stand.
#[test]
fn keys_and_numbers_of_servers_are_text() {
    for (tool, response, denied) in [
        ("mcp__x__y", "4111111111111111", true),
        ("mcp__x__y", "[4111111111111111]", true),
        ("mcp__x__y", r#"{"total":4111111111111111}"#, true),
        ("mcp__x__y", r#"{"content":4.111111111111111e15}"#, true),
        ("mcp__x__y", r#"[{"text":-4111111111111111}]"#, true),
        ("mcp__x__y", r#"[{"text":411}]"#, false),
        (
            "ListMcpResourcesTool",
            r#"[{"uri":"a","size":4111111111111111}]"#,
            true,
        ),
        (
            "ToolOfANewerVersion",
            r#"{"code":4111111111111111,"message":"m"}"#,
            true,
        ),
        (
            "Read",
            r#"{"type":"notebook","file":{"cells":[{"execution_count":4111111111111111}]}}"#,
            true,
        ),
        (
            "NotebookRead",
            r#"[{"execution_count":4111111111111111}]"#,
            true,
        ),
        (
            "Read",
            r#"{"type":"text","file":{"content":"x","numLines":4111111111111111}}"#,
            false,
        ),
        ("mcp__x__y", r#"{"PRIVATE":"KEY"}"#, false),
        ("mcp__x__y", r#"{"PRIVATE KEY":1}"#, true),
        ("mcp__x__y", r#"{"structuredContent":{"SECRET":1}}"#, true),
        (
            "mcp__x__y",
            r#"{"structuredContent":{"a":4111111111111111}}"#,
            true,
        ),
        ("mcp__x__y", r#"[{"type":"text","text":"fine"}]"#, false),
        ("Read", r#"{"SECRET":1}"#, false),
        ("WebFetch", r#"{"code":4111111111111111}"#, false),
        ("ListMcpResourcesTool", r#"[{"uri":"a","SECRET":1}]"#, true),
        (
            "ReadMcpResourceTool",
            r#"{"contents":[{"uri":"a","_meta":{"n":4111111111111111}}]}"#,
            true,
        ),
        ("ToolOfANewerVersion", r#"{"x":{"SECRET":1}}"#, true),
    ] {
        let session = tainted(&[]);
        let spec = std::fs::read_to_string(&session.spec).unwrap();
        let more = "predicate odd = kind == \"result\" and text matches /SECRET|4{1}1{15}/\n\
            property no_mail = never (kind == \"call\" and tool == \"mail\" and once odd)\n\
            enforce no_mail { violated => block \"odd\" }\n";
        std::fs::write(&session.spec, spec + more).unwrap();
        let input = json!({"session_id": "s1", "hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": {}, "tool_use_id": "r"});
        let input = input
            .to_string()
            .replacen('{', &format!("{{\"tool_response\":{response},"), 1);
        session.raw(input.as_bytes());
        let mail = session.before("m", "mail", json!({}));
        assert_eq!(mail != Json::Null, denied, "{tool} {response}: {mail}");
    }
}

/// Nor is one that no process came to judge: it has no memory, its input is still arriving, or there is no room for a mark.
#[test]
fn an_outcome_that_nobody_judges_is_not_forgotten() {
    let mail = |session: &Session| {
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "mail", "tool_input": {}});
        let (code, out, err) = session.raw(input.to_string().as_bytes());
        (code == 2 || out.contains("\"deny\""), err)
    };
    let mut session = tainted(&[]);
    session.before("r", "Read", json!({}));
    session.args = vec!["--max-memory".to_owned(), "1".to_owned()];
    assert_eq!(session.raw(&outcome("\"x\"")).0, 2);
    session.args.clear();
    assert!(mail(&session).0);
    assert_eq!(std::fs::read_dir(session.file("open")).unwrap().count(), 0);

    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    let mut slow = std::process::Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args(["hook", "--timeout", "1", "--state"])
        .arg(session.state())
        .arg(&session.spec)
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let begun = outcome("\"x");
    std::io::Write::write_all(slow.stdin.as_mut().unwrap(), &begun[..begun.len() - 1]).unwrap();
    let held = slow.stdin.take();
    assert_eq!(slow.wait().unwrap().code(), Some(2));
    drop(held);
    assert!(mail(&session).0);

    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    let open = session.file("lock").with_extension("open");
    std::fs::write(&open, "").unwrap();
    assert_eq!(session.raw(&outcome("\"x\"")).0, 2);
    std::fs::remove_file(&open).unwrap();
    let (denied, why) = mail(&session);
    assert!(
        denied && why.contains("could not be marked") && why.contains("--reset s1"),
        "{why}"
    );
    session.reset();
    assert!(!mail(&session).0);
}

/// A violation that was recorded lifts no prohibition: what came before it prohibits each further call.
#[test]
fn what_is_prohibited_stays_prohibited_after_a_violation() {
    let specs = [
        "property p = never (tool == \"Read\" and eventually (kind == \"call\" and tool == \"Bash\"))",
        "property p = always (tool == \"Read\" -> not (kind == \"call\" and tool == \"Bash\") unless tool == \"Grep\")",
        "property p = always (tool == \"Read\" -> always[0,1h] not (kind == \"call\" and tool == \"Bash\"))",
        "property p = always (tool == \"Read\" -> next always not (kind == \"call\" and tool == \"Bash\"))",
        "property p = always (tool == \"Read\" -> not (kind == \"call\" and tool == \"Bash\") until[0,20] tool == \"Grep\")",
        "property p = always (tool == \"Read\" -> not (kind == \"call\" and tool == \"Bash\") until[0,1h] tool == \"Grep\")",
        "property p = always ((tool == \"Read\" -> next always not (kind == \"call\" and tool == \"Bash\")) and (tool == \"Bash\" -> kind == \"call\"))",
        "property p = always (tool == \"Read\" -> next always not (kind == \"call\" and tool == \"Bash\")) where kind in [\"call\", \"result\"]",
        "property p = always (tool == \"Read\" -> not (kind == \"call\" and tool == \"Bash\") until[0,9] tool == \"Grep\") where kind in [\"call\", \"result\"]",
        "property p = always (tool == \"Read\" -> not (kind == \"call\" and tool == \"Bash\") unless (tool == \"Grep\" and next tool == \"Edit\"))",
        "property p = forall s in {\"a\"}: never (tool == \"Read\" and eventually (kind == \"call\" and tool == \"Bash\" and s != \"b\"))",
    ];
    for spec in specs {
        let session = Session::new();
        let enforced = format!("use std.agent\n{spec}\nenforce p {{ violated => block \"no\" }}\n");
        std::fs::write(&session.spec, enforced).unwrap();
        let (command, read) = (bash("make"), json!({"file_path": "/work/a"}));
        assert_eq!(session.before("a", "Read", read.clone()), Json::Null);
        session.after("a", "Read", read, json!({"file": {"content": "x"}}));
        // Nobody asked about this one.
        let answer = session.after("x", "Bash", command.clone(), json!({"stdout": ""}));
        assert_eq!(answer["decision"], "block", "{spec}");
        for call in ["b", "c"] {
            let answer = session.before(call, "Bash", command.clone());
            assert_eq!(decision(&answer).0, "deny", "{spec}: {answer}");
        }
    }
}

/// What stands behind the end of a turn may be an outcome, and its scheduled prompts may be any.
#[test]
fn a_damaged_end_of_a_turn_is_no_harmless_one() {
    let end = r#"{"session_id":"s1","hook_event_name":"Stop","session_crons":[]}"#;
    let outcome = String::from_utf8(outcome(r#""PRIVATE KEY""#)).unwrap();
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    session.raw(end.as_bytes());
    assert_eq!(session.before("m", "mail", json!({})), Json::Null);
    session.raw(format!("{end}{outcome}").as_bytes());
    assert_eq!(decision(&session.before("n", "mail", json!({}))).0, "deny");
}
