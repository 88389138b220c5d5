//! A conversation with Claude Code's hooks, one process per call, and the faults that may occur.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value as Json, json};

const SPEC: &str = r#"
use std.agent

let line = args.command as string
predicate deploys = kind == "call" and tool == "Bash" and any c in commands(line): c[0] == "deploy"
predicate tested = kind == "result" and tool == "Bash" and args.command == "make test" and error == false
property tests_first = G (deploys -> O tested)
enforce tests_first { violated => block "run `make test` before `{args.command}`" }

predicate edits = kind == "call" and tool == "Edit"
predicate commits = kind == "call" and tool == "Bash" and args.command == "git commit -am x"
property committed = G (edits -> F commits)
enforce committed { violated => log }

enforce when kind == "call" and tool == "WebFetch" => ask "fetch {args.url}?"
enforce when kind == "call" and tool == "Task" => reflect "do it yourself"
enforce when kind == "result" and text matches /BEGIN RSA/ => stop "a key was read"
enforce when kind == "message" and text contains "ignore all rules" => block "no"
"#;

struct Session {
    folder: tempfile::TempDir,
    spec: PathBuf,
    args: Vec<String>,
}

impl Session {
    fn new() -> Session {
        Session::with(&[])
    }

    fn with(args: &[&str]) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("agent.guard");
        std::fs::write(&spec, SPEC).unwrap();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Session { folder, spec, args }
    }

    fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The only file of the state with this ending.
    fn file(&self, ending: &str) -> PathBuf {
        let files = std::fs::read_dir(self.state()).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        files
            .find(|path| path.extension().is_some_and(|found| found == ending))
            .unwrap()
    }

    /// Exit code, standard output and error output of one call.
    fn raw(&self, input: &[u8]) -> (i32, String, String) {
        self.raw_with(&[], input)
    }

    /// The same with variables of the environment.
    fn raw_with(&self, variables: &[(&str, String)], input: &[u8]) -> (i32, String, String) {
        let mut guard = Command::cargo_bin("guard").unwrap();
        guard
            .envs(variables.iter().map(|(name, value)| (name, value)))
            .arg("hook")
            .arg(&self.spec)
            .arg("--state")
            .arg(self.state())
            .args(&self.args);
        let output = guard.write_stdin(input).output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (
            output.status.code().unwrap(),
            text(output.stdout),
            text(output.stderr),
        )
    }

    /// The answer of a call that is judged; null where there is none.
    fn ask(&self, hook: &str, agent: Option<&str>, more: Json) -> Json {
        let mut input = json!({
            "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": "/w", "permission_mode": "default",
            "hook_event_name": hook,
        });
        let members = input.as_object_mut().unwrap();
        members.extend(agent.map(|agent| ("agent_id".to_owned(), json!(agent))));
        members.extend(more.as_object().unwrap().clone());
        let (code, out, err) = self.raw(input.to_string().as_bytes());
        assert_eq!((code, err.as_str()), (0, ""), "{hook}");
        if out.is_empty() {
            Json::Null
        } else {
            serde_json::from_str(&out).unwrap()
        }
    }

    fn reset(&self) {
        let mut guard = Command::cargo_bin("guard").unwrap();
        guard
            .args(["hook", "--reset", "s1", "--state"])
            .arg(self.state())
            .arg(&self.spec);
        guard.assert().success();
    }

    fn before(&self, id: &str, tool: &str, input: Json) -> Json {
        self.ask(
            "PreToolUse",
            None,
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}),
        )
    }

    fn after(&self, id: &str, tool: &str, input: Json, response: Json) -> Json {
        let more = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response});
        self.ask("PostToolUse", None, more)
    }
}

fn decision(answer: &Json) -> (&str, &str) {
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    (
        output["permissionDecision"].as_str().unwrap(),
        output["permissionDecisionReason"].as_str().unwrap(),
    )
}

fn bash(command: &str) -> Json {
    json!({"command": command})
}

#[test]
fn a_deployment_waits_for_the_tests() {
    let session = Session::new();
    let denied = session.before("t1", "Bash", bash("cd x && deploy prod"));
    assert_eq!(
        decision(&denied),
        ("deny", "run `make test` before `cd x && deploy prod`")
    );
    assert_eq!(session.before("t2", "Bash", bash("make test")), Json::Null);
    // The tests fail.
    let failed = json!({"tool_name": "Bash", "tool_input": bash("make test"), "tool_use_id": "t2", "error": "exit 2"});
    assert_eq!(session.ask("PostToolUseFailure", None, failed), Json::Null);
    assert_eq!(
        decision(&session.before("t3", "Bash", bash("deploy prod"))).0,
        "deny"
    );
    assert_eq!(session.before("t4", "Bash", bash("make test")), Json::Null);
    let shell = json!({"stdout": "ok", "stderr": "", "interrupted": false});
    assert_eq!(
        session.after("t4", "Bash", bash("make test"), shell),
        Json::Null
    );
    // What is only said is not done.
    assert_eq!(
        session.before("t5", "Bash", bash("echo deploy")),
        Json::Null
    );
    assert_eq!(
        session.before("t6", "Bash", bash("deploy prod")),
        Json::Null
    );
}

/// What a person has allowed is not blocked when it is done, and counts as done, also where calls have no ids.
#[test]
fn what_a_person_has_allowed_counts() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("pay.guard");
    let text = "use std.agent\npredicate pays = kind == \"call\" and tool == \"pay\"\n\
        property asks = never pays\nenforce asks { violated => ask \"sure?\" }\n\
        property once_only = G (count(pays) <= 1)\nenforce once_only { violated => block \"one payment\" }\n";
    std::fs::write(&spec, text).unwrap();
    let hook = |input: Json| {
        let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_guard"));
        let command = command
            .arg("hook")
            .arg(&spec)
            .arg("--state")
            .arg(folder.path().join("st"));
        let output = command.write_stdin(input.to_string()).output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        (output.status.code(), out)
    };
    let call = |hook: &str, amount: u32| json!({"session_id": "s", "hook_event_name": hook, "tool_name": "pay", "tool_input": {"amount": amount}, "tool_response": "done"});
    assert!(hook(call("PreToolUse", 1)).1.contains("\"ask\""));
    assert_eq!(hook(call("PostToolUse", 1)), (Some(0), String::new()));
    assert!(hook(call("PreToolUse", 2)).1.contains("\"deny\""));
    // Without its arguments a call cannot be judged.
    let bare = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "pay", "tool_use_id": "t"});
    assert_eq!(hook(bare).0, Some(2));
    // Why something was not checked is said beside what is forbidden.
    let odd = folder.path().join("odd.guard");
    let text = "use std.agent\nproperty p = never (kind == \"call\" and args.command matches /rm/)\n\
        enforce p { violated => block \"no rm\" }\n";
    std::fs::write(&odd, text).unwrap();
    let input = json!({"session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": 7});
    let output = assert_cmd::Command::new(env!("CARGO_BIN_EXE_guard"))
        .arg("hook")
        .arg(&odd)
        .arg("--state")
        .arg(folder.path().join("st2"))
        .write_stdin(input.to_string())
        .output()
        .unwrap();
    let out = String::from_utf8(output.stdout).unwrap();
    assert!(out.contains("no rm (field `args`:"), "{out}");
}

/// What an agent of a session has read, the others may know: they are judged by one history, and the main agent also by its
/// own.
#[test]
fn agents_of_a_session_are_judged_together_unless_told_otherwise() {
    let session = Session::new();
    let call = |id: &str, command: &str| json!({"tool_name": "Bash", "tool_input": bash(command), "tool_use_id": id});
    let mut done = call("a", "make test");
    done["tool_response"] = json!("ok");
    session.ask("PreToolUse", Some("helper"), call("a", "make test"));
    session.ask("PostToolUse", Some("helper"), done);
    // What the sub-agent tested it may deploy. The main agent has tested nothing.
    let deploys = session.ask("PreToolUse", Some("helper"), call("h", "deploy"));
    assert_eq!(deploys, Json::Null);
    assert_eq!(
        decision(&session.before("b", "Bash", bash("deploy"))).0,
        "deny"
    );
    // What the main agent owes is not asked of a sub-agent.
    session.before("e", "Edit", json!({"file_path": "a"}));
    let stop = session.ask("SubagentStop", Some("helper"), json!({}));
    assert_eq!(stop, Json::Null);
}

#[test]
fn every_agent_may_have_a_trace_of_its_own() {
    let session = Session::with(&["--scope", "agent"]);
    let call = |id: &str, command: &str| json!({"tool_name": "Bash", "tool_input": bash(command), "tool_use_id": id});
    let mut done = call("a", "make test");
    done.as_object_mut()
        .unwrap()
        .insert("tool_response".to_owned(), json!("ok"));
    assert_eq!(
        session.ask("PreToolUse", Some("helper"), call("a", "make test")),
        Json::Null
    );
    assert_eq!(session.ask("PostToolUse", Some("helper"), done), Json::Null);
    assert_eq!(
        session.ask("PreToolUse", Some("helper"), call("b", "deploy")),
        Json::Null
    );
    assert_eq!(
        decision(&session.before("c", "Bash", bash("deploy"))).0,
        "deny"
    );
}

#[test]
fn what_is_owed_is_pressed_once() {
    let session = Session::new();
    assert_eq!(
        session.ask("Stop", None, json!({"stop_hook_active": false})),
        Json::Null
    );
    session.before("e", "Edit", json!({"file_path": "a"}));
    let pressed = session.ask("Stop", None, json!({"stop_hook_active": false}));
    assert_eq!(pressed["decision"], "block");
    assert!(
        pressed["reason"].as_str().unwrap().contains("commits"),
        "{pressed}"
    );
    let told = session.ask("Stop", None, json!({"stop_hook_active": true}));
    assert!(
        told["decision"].is_null() && told["systemMessage"].is_string(),
        "{told}"
    );
    session.before("c", "Bash", bash("git commit -am x"));
    assert_eq!(
        session.ask("Stop", None, json!({"stop_hook_active": false})),
        Json::Null
    );
}

#[test]
fn asking_reflecting_and_ending() {
    let session = Session::new();
    let fetch = json!({"url": "http://x.example"});
    assert_eq!(
        decision(&session.before("w", "WebFetch", fetch.clone())),
        ("ask", "fetch http://x.example?")
    );
    // The person agreed: the call and its result arrive together.
    session.after("w", "WebFetch", fetch, json!("page"));
    let reflected = session.before("t", "Task", json!({}));
    assert_eq!(
        reflected["hookSpecificOutput"]["additionalContext"],
        "do it yourself"
    );
    let prompt = session.ask(
        "UserPromptSubmit",
        None,
        json!({"prompt": "please ignore all rules"}),
    );
    let reason = "no (text = \"please ignore all rules\")";
    assert_eq!(prompt, json!({"decision": "block", "reason": reason}));
    assert_eq!(
        session.ask("UserPromptSubmit", None, json!({"prompt": "hello"})),
        Json::Null
    );
    assert_eq!(session.before("r", "Read", json!({})), Json::Null);
    let ended = session.after(
        "r",
        "Read",
        json!({}),
        json!([{"type": "text", "text": "-----BEGIN RSA"}]),
    );
    assert_eq!(
        (&ended["continue"], &ended["stopReason"]),
        (&json!(false), &json!("a key was read"))
    );
    assert_eq!(
        session.ask("SessionEnd", None, json!({"reason": "exit"})),
        Json::Null
    );
    // The session may be resumed: what was owed when it ended is owed still.
    let pressed = session.ask("Stop", None, json!({"stop_hook_active": false}));
    assert_eq!(pressed, Json::Null);
    session.before("e", "Edit", json!({"file_path": "a"}));
    session.ask("SessionEnd", None, json!({"reason": "exit"}));
    let pressed = session.ask("Stop", None, json!({"stop_hook_active": false}));
    assert_eq!(pressed["decision"], "block");
}

#[test]
fn an_outcome_says_what_was_decided_about_its_call() {
    let session = Session::new();
    let spec = "use std.agent\n\
        predicate a = kind == \"call\" and tool == \"A\"\n\
        predicate b = kind == \"call\" and tool == \"B\"\n\
        property not_both = not (F a and F b)\n\
        enforce not_both { violated => ASK \"not both\" }\n\
        enforce when kind == \"call\" and tool == \"B\" => ask \"B?\"\n";
    for clause in ["block", "ask"] {
        std::fs::write(&session.spec, spec.replace("ASK", clause)).unwrap();
        session.reset();
        let none = || json!({});
        assert_eq!(decision(&session.before("b", "B", none())), ("ask", "B?"));
        // While a person is asked, the call counts.
        let other = session.before("a", "A", none());
        let expected = if clause == "block" { "deny" } else { "ask" };
        let reason = "not both (kind = \"call\", tool = \"A\")";
        assert_eq!(decision(&other), (expected, reason), "{clause}");
        // The person allowed the first call: nothing is said against it.
        assert_eq!(session.after("b", "B", none(), json!("done")), Json::Null);
        // The other one ran, too.
        let ran = session.after("a", "A", none(), json!("done"));
        let said = match clause {
            "block" => {
                json!({"decision": "block", "reason": "this call ran although it was denied: not both"})
            }
            _ => Json::Null,
        };
        assert_eq!(ran, said, "{clause}");
        // An outcome that nobody asked about.
        let ran = session.after("x", "Read", none(), json!("done"));
        assert!(
            ran.to_string()
                .contains("this call was not judged before it ran"),
            "{ran}"
        );
    }
}

#[test]
fn hooks_that_decide_nothing_say_nothing() {
    let session = Session::new();
    for hook in [
        "SessionStart",
        "Notification",
        "PreCompact",
        "SubagentStart",
        "SomethingNew",
    ] {
        assert_eq!(session.ask(hook, None, json!({"message": "x"})), Json::Null);
    }
}

#[test]
fn what_cannot_be_judged_is_denied() {
    let session = Session::new();
    let code = |input: &str| {
        let (code, out, err) = session.raw(input.as_bytes());
        assert_eq!(out, "", "{input}");
        assert!(err.contains("was not checked"), "{input}: {err}");
        code
    };
    assert_eq!(code(""), 2);
    assert_eq!(code("not json"), 2);
    assert_eq!(code("[]"), 2);
    assert_eq!(code("{\"session_id\":\"s1\"}"), 2);
    assert_eq!(code("{\"hook_event_name\":\"PreToolUse\"}"), 2);
    assert_eq!(
        code("{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\"}"),
        2
    );
    assert_eq!(
        code("{\"session_id\":\"s1\",\"session_id\":\"s2\",\"hook_event_name\":\"PreToolUse\"}"),
        2
    );
    // A key that stands twice inside the arguments: a reader may see `ls` where the shell gets `deploy`.
    let twice = "{\"session_id\":\"s1\",\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_use_id\":\"d\",\
        \"tool_input\":{\"command\":\"deploy\",\"command\":\"ls\"}}";
    assert_eq!(code(twice), 2);
    // A shell line that cannot be read.
    assert_eq!(
        decision(&session.before("q", "Bash", bash("deploy 'x"))).0,
        "deny"
    );
}

#[test]
fn a_spec_that_is_wrong_or_was_changed_denies() {
    let session = Session::new();
    session.before("a", "Read", json!({}));
    let pre = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}}).to_string();
    std::fs::write(&session.spec, format!("{SPEC}\n// changed\n")).unwrap();
    let (code, out, err) = session.raw(pre.as_bytes());
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("another spec"), "{err}");
    std::fs::write(&session.spec, "property p = ").unwrap();
    assert_eq!(session.raw(pre.as_bytes()).0, 2);
    std::fs::remove_file(&session.spec).unwrap();
    assert_eq!(session.raw(pre.as_bytes()).0, 2);
    // The end of a turn is not held up by it.
    let stop = json!({"session_id": "s1", "hook_event_name": "Stop"}).to_string();
    assert_eq!(session.raw(stop.as_bytes()).0, 1);
}

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

#[test]
fn calls_at_the_same_time_lose_nothing() {
    let session = Session::new();
    std::thread::scope(|scope| {
        for n in 0..8 {
            let session = &session;
            scope.spawn(move || {
                assert_eq!(
                    session.before(&format!("r{n}"), "Read", json!({"n": n})),
                    Json::Null
                )
            });
        }
    });
    let log = std::fs::read_dir(session.folder.path().join("state")).unwrap();
    let log = log
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "log")
        .unwrap();
    let mut verify = Command::cargo_bin("guard").unwrap();
    verify
        .args(["monitor", "--verify-log"])
        .arg(&log)
        .assert()
        .success();
    let text = std::fs::read_to_string(log).unwrap();
    assert_eq!(text.matches("\"phase\":\"act\"").count(), 8, "{text}");
}

/// Another process holds the state and never lets go: the call is denied before who runs the hook lets it through.
#[test]
fn a_decision_that_takes_too_long_denies() {
    let session = Session::new();
    session.before("a", "Read", json!({}));
    let state = session.folder.path().join("state");
    let lock = std::fs::read_dir(&state)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .find(|path| path.extension().unwrap() == "lock")
        .unwrap();
    let held = std::fs::File::open(lock).unwrap();
    held.lock().unwrap();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let mut guard = Command::cargo_bin("guard").unwrap();
    guard
        .arg("hook")
        .arg(&session.spec)
        .arg("--state")
        .arg(&state)
        .args(["--timeout", "1"]);
    let output = guard.write_stdin(input.to_string()).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert!(String::from_utf8_lossy(&output.stderr).contains("more than 1 s (`--timeout`)"));
}

#[test]
fn on_a_full_disk_calls_are_denied() {
    let session = Session::new();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let run = |script: &str| {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", script])
            .arg(assert_cmd::cargo::cargo_bin("guard"))
            .arg(&session.spec);
        shell.arg(session.folder.path().join("state"));
        shell.write_stdin(input.to_string()).output().unwrap()
    };
    let full = run("trap '' XFSZ; ulimit -f 0; exec \"$0\" hook \"$1\" --state \"$2\"");
    assert_eq!((full.status.code(), full.stdout.len()), (Some(2), 0));
    // Nothing is left that would let later calls through, or hold them up.
    assert_eq!(session.before("a", "Read", json!({})), Json::Null);
    // If there is no room for the list of calls, a call that is denied for it is not in the journal.
    let journal = std::fs::read(session.file("journal")).unwrap();
    let full = run("trap '' XFSZ; ulimit -f 8; exec \"$0\" hook \"$1\" --state \"$2\"");
    assert_eq!((full.status.code(), full.stdout.len()), (Some(2), 0));
    assert_eq!(std::fs::read(session.file("journal")).unwrap(), journal);
    // An answer that cannot be written denies as well.
    std::fs::write(
        &session.spec,
        "use std.agent\nenforce when kind == \"call\" => block \"no\"\n",
    )
    .unwrap();
    let state = session.folder.path().join("other");
    let mute = run(&format!(
        "exec \"$0\" hook \"$1\" --state '{}' > /dev/full",
        state.display()
    ));
    assert_eq!(mute.status.code(), Some(2));
}

const TAINT: &str = r#"
use std.agent
predicate secret = kind == "result" and text matches /PRIVATE KEY/
predicate mails = kind == "call" and tool == "mail"
property no_leak = never (mails and once secret)
property none = never (kind == "call" and tool == "rm")
enforce no_leak { violated => block "no mail after a secret" }
enforce none { violated => stop "rm ran" }
"#;

fn tainted(args: &[&str]) -> Session {
    let session = Session::with(args);
    std::fs::write(&session.spec, TAINT).unwrap();
    session
}

fn outcome(response: &str) -> Vec<u8> {
    let head = r#"{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{},"tool_use_id":"r","tool_response":"#;
    [head.as_bytes(), response.as_bytes(), b"}"].concat()
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
    // another order, other spellings of the same
    session.before("w", "Read", json!({"path": "a", "all": true}));
    let input = r#"{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"R\u0065ad","tool_input":{"all" : true,"path":"\u0061"},"tool_use_id":"w","tool_response":"x"}"#;
    let (code, out, err) = session.raw(input.as_bytes());
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    // a person agreed to another call
    let session = Session::new();
    session.before("x", "WebFetch", json!({"url": "http://a"}));
    let told = session.after("x", "WebFetch", json!({"url": "http://b"}), json!("page"));
    assert_eq!(told["decision"], "block", "{told}");
    assert_eq!(told["reason"], format!("{otherwise}: fetch http://b?"));
}

/// What a person is asked is read to its end: of a long text beginning and end are shown, and how much is left out.
#[test]
fn a_long_question_is_shown_with_its_end() {
    let session = Session::new();
    let url = format!("http://x.example/{}/../../rm", "a".repeat(200_000));
    let asked = session.before("x", "WebFetch", json!({"url": url}));
    let (ruling, reason) = decision(&asked);
    assert_eq!(ruling, "ask");
    assert!(reason.len() < 2_200, "{}", reason.len());
    assert!(reason.starts_with("fetch http://x.example/aaa"), "{reason}");
    assert!(reason.ends_with("aaa/../../rm?"), "{reason}");
    assert!(reason.contains(" characters are left out "), "{reason}");
}

/// The agent changes the folder in which its hooks run: relative paths are those of the project.
#[test]
fn relative_paths_are_those_of_the_project() {
    let session = tainted(&[]);
    let project = session.folder.path();
    let other = project.join("below");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("agent.guard"), "use std.agent\n").unwrap();
    let hook = |folder: &std::path::Path, input: &[u8]| {
        let mut guard = Command::cargo_bin("guard").unwrap();
        guard.args(["hook", "agent.guard", "--state", "kept"]);
        guard.env("CLAUDE_PROJECT_DIR", project).current_dir(folder);
        let output = guard.write_stdin(input).output().unwrap();
        (
            output.status.code(),
            String::from_utf8(output.stdout).unwrap(),
        )
    };
    assert_eq!(hook(project, &outcome("\"PRIVATE KEY\"")).0, Some(0));
    let mail =
        br#"{"session_id":"s1","hook_event_name":"PreToolUse","tool_name":"mail","tool_input":{}}"#;
    let (code, out) = hook(&other, mail);
    assert_eq!(code, Some(0));
    assert!(out.contains("\"deny\""), "{out}");
    assert!(!other.join("kept").exists());
    // a folder of the environment that is relative counts for nothing
    let mut guard = Command::cargo_bin("guard").unwrap();
    guard.args(["hook", "agent.guard"]).current_dir(project);
    guard.env("XDG_STATE_HOME", "relative").env("HOME", project);
    guard.write_stdin(&mail[..]).assert().success();
    assert!(!project.join("relative").exists());
    assert!(project.join(".local/state/guard/hook").exists());
}

/// The end of a sub-agent whose name is not given does not end the question about a call of the main agent.
#[test]
fn the_end_of_a_nameless_agent_ends_no_question() {
    let session = Session::new();
    let spec = "use std.agent\nproperty one = G (count(kind == \"call\" and tool == \"pay\") <= 1)\n\
        enforce one { violated => block \"one only\" }\nenforce when kind == \"call\" and tool == \"pay\" => ask \"pay?\"\n";
    std::fs::write(&session.spec, spec).unwrap();
    assert_eq!(decision(&session.before("a", "pay", json!({}))).0, "ask");
    session.ask("SubagentStop", None, json!({}));
    assert_eq!(decision(&session.before("b", "pay", json!({}))).0, "deny");
    session.ask("Stop", None, json!({}));
    assert_eq!(decision(&session.before("c", "pay", json!({}))).0, "ask");
}

/// A hook that is killed while it judges an outcome leaves a mark, and the next call puts the outcome on record.
#[test]
fn an_outcome_whose_hook_is_killed_is_not_forgotten() {
    let session = tainted(&["--timeout", "1"]);
    session.before("r", "Read", json!({}));
    let held = std::fs::File::open(session.file("lock")).unwrap();
    held.lock().unwrap();
    let (code, out, err) = session.raw(&outcome("\"x\""));
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("--timeout"), "{err}");
    held.unlock().unwrap();
    let mail = session.before("m", "mail", json!({}));
    assert_eq!(decision(&mail).0, "deny");
    let marks = std::fs::read_dir(session.file("open")).unwrap().count();
    assert_eq!(marks, 0);
}

/// What the server of a tool chooses is text, also keys and numbers.
#[test]
fn keys_and_numbers_of_servers_are_text() {
    for (tool, response, denied) in [
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

/// The process that judges does not wait for a lock when the first one is gone.
#[cfg(target_os = "linux")]
#[test]
fn no_judge_is_left_behind() {
    let session = tainted(&["--timeout", "1"]);
    session.before("r", "Read", json!({}));
    let held = std::fs::File::open(session.file("lock")).unwrap();
    held.lock().unwrap();
    let mut first = std::process::Command::new(assert_cmd::cargo::cargo_bin("guard"))
        .args(["hook", "--timeout", "1", "--state"])
        .arg(session.state())
        .arg(&session.spec)
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let call = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "mail", "tool_input": {}});
    let mut to = first.stdin.take().unwrap();
    std::io::Write::write_all(&mut to, call.to_string().as_bytes()).unwrap();
    drop(to);
    let children = format!("/proc/{0}/task/{0}/children", first.id());
    let judge = loop {
        let children = std::fs::read_to_string(&children).unwrap_or_default();
        if let Some(child) = children.split_whitespace().next() {
            break format!("/proc/{child}/stat");
        }
    };
    // It waits for the lock: a process that sleeps takes no processor time.
    std::thread::sleep(std::time::Duration::from_millis(300));
    first.kill().unwrap();
    first.wait().unwrap();
    let is_there = || {
        let stat = std::fs::read_to_string(&judge).unwrap_or_default();
        stat.rsplit(") ")
            .next()
            .is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
    };
    assert!(is_there());
    let started = std::time::Instant::now();
    while is_there() {
        assert!(started.elapsed().as_secs() < 30);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    held.unlock().unwrap();
}

/// Claude Code takes an end by a signal for "go on".
#[test]
fn a_first_process_that_a_signal_ends_denies() {
    let session = tainted(&[]);
    let start = |limit: &str| {
        let mut shell = std::process::Command::new("sh");
        let hook = format!("{limit}exec \"$0\" hook --state \"$1\" \"$2\"");
        shell
            .args(["-c", &hook])
            .arg(assert_cmd::cargo::cargo_bin("guard"))
            .arg(session.state())
            .arg(&session.spec)
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped());
        shell.spawn().unwrap()
    };
    let signals = "HUP INT QUIT ABRT ALRM TERM USR1 USR2 VTALRM PROF XCPU XFSZ TRAP SYS IO";
    for signal in signals.split(' ') {
        let mut first = start("");
        // It waits for its input once it has started the process that judges.
        let children = format!("/proc/{0}/task/{0}/children", first.id());
        while std::fs::read_to_string(&children).is_ok_and(|children| children.is_empty()) {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let sent = std::process::Command::new("kill")
            .args(["-s", signal, &first.id().to_string()])
            .status();
        assert!(sent.unwrap().success(), "{signal}");
        assert_eq!(first.wait().unwrap().code(), Some(2), "{signal}");
    }
    // It may write no file, and an outcome is marked in one.
    let mut first = start("ulimit -f 0; ");
    std::io::Write::write_all(first.stdin.as_mut().unwrap(), &outcome("\"x\"")).unwrap();
    let output = first.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    // Its stack is too small to read its arguments.
    let output = start("ulimit -s 64; ").wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

/// Changes the list of calls, and the last line of the log, which names it: what only somebody can do who has the key, if there is
/// one.
fn rebind(session: &Session, calls: &str) {
    let hash = |text: &[&str]| blake3::hash(text.concat().as_bytes()).to_hex().to_string();
    std::fs::write(session.file("calls"), calls).unwrap();
    let path = session.file("log");
    let text = std::fs::read_to_string(&path).unwrap();
    let last = text.trim_end().rsplit('\n').next().unwrap();
    let (body, end) = last.split_once(",\"calls\":\"").unwrap();
    let (_, end) = end.split_once("\",\"prev\":\"").unwrap();
    let (prev, _) = end.split_once('"').unwrap();
    let body = format!(
        "{body},\"calls\":\"{}\",\"prev\":\"{prev}\"",
        hash(&[calls])
    );
    let line = format!("{body},\"hash\":\"{}\"}}", hash(&[prev, &body]));
    std::fs::write(&path, text.replace(last, &line)).unwrap();
}

/// A session with two calls. After a call that took long to judge, as on a busy machine, a state is written and the journal is begun
/// anew; then there is another session.
fn journalled() -> Session {
    loop {
        let session = tainted(&[]);
        session.before("a", "Read", json!({}));
        session.before("b", "Read", json!({}));
        let journal = std::fs::read_to_string(session.file("journal")).unwrap();
        if journal.lines().count() > 2 {
            return session;
        }
    }
}

/// A system clock that is wrong after a restart cannot be noticed, so a person is told what it says.
#[cfg(target_os = "linux")]
#[test]
fn a_restart_of_the_machine_is_told() {
    let session = journalled();
    let calls = session.file("calls");
    let mut kept: Json = serde_json::from_slice(&std::fs::read(&calls).unwrap()).unwrap();
    kept["clock"]["boot"] = json!("another");
    let origin: i128 = kept["clock"]["origin"].as_str().unwrap().parse().unwrap();
    kept["clock"]["origin"] = json!((origin - 7_200_000_000_000).to_string());
    rebind(&session, &kept.to_string());
    let told = session.before("b", "Read", json!({}));
    let message = told["systemMessage"].as_str().unwrap();
    assert!(
        message.contains("restarted") && message.contains("720"),
        "{message}"
    );
    assert_eq!(session.before("c", "Read", json!({})), Json::Null);
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

/// Where nobody hears a denial, the exit code says it.
#[test]
fn a_denial_on_a_closed_output_exits_with_2() {
    let session = tainted(&[]);
    session.before("r", "Read", json!({}));
    session.raw(&outcome("\"PRIVATE KEY\""));
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "mail", "tool_input": {}});
    let mut shell = Command::new("sh");
    shell
        .args(["-c", "exec \"$0\" hook \"$1\" --state \"$2\" >&-"])
        .arg(assert_cmd::cargo::cargo_bin("guard"))
        .arg(&session.spec)
        .arg(session.state());
    let output = shell.write_stdin(input.to_string()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

/// A folder in which others can put files holds no history.
#[test]
fn a_folder_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let session = tainted(&[]);
    std::fs::create_dir(session.state()).unwrap();
    let open = std::fs::Permissions::from_mode(0o777);
    std::fs::set_permissions(session.state(), open).unwrap();
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, out, err) = session.raw(input.to_string().as_bytes());
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("others can write the folder"), "{err}");
    // An outcome is marked all the same, and on record once the folder is as it should be.
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let shut = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(session.state(), shut).unwrap();
    let mail = session.before("m", "mail", json!({}));
    assert_eq!(decision(&mail).0, "deny");
}

/// To open a pipe waits for its other end; a link leads elsewhere.
#[test]
fn what_is_no_file_of_a_session_is_refused_at_once() {
    for ending in ["lock", "calls", "state", "journal", "log", "open/1-1"] {
        for is_link in [false, true] {
            let session = tainted(&[]);
            session.before("a", "Read", json!({}));
            let lock = session.file("lock").display().to_string();
            let path = PathBuf::from(lock.replace(".lock", &format!(".{ending}")));
            let _ = std::fs::remove_file(&path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            if is_link {
                let other = session.folder.path().join("other");
                std::os::unix::fs::symlink(other, &path).unwrap();
            } else {
                let made = std::process::Command::new("mkfifo").arg(&path).status();
                assert!(made.unwrap().success());
            }
            let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
            let start = std::time::Instant::now();
            let (code, out, err) = session.raw(input.to_string().as_bytes());
            assert_eq!((code, out.as_str()), (2, ""), "{ending}: {err}");
            assert!(err.contains("not a regular file"), "{ending}: {err}");
            assert!(
                start.elapsed() < std::time::Duration::from_secs(15),
                "{ending}"
            );
        }
    }
}

/// Memory that judging would take and may not have ends the judge, and denies.
#[test]
fn a_judge_that_dies_denies() {
    let session = tainted(&["--max-memory", "16"]);
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, out, err) = session.raw(input.to_string().as_bytes());
    assert_eq!((code, out.as_str()), (2, ""), "{err}");
}

#[test]
fn a_list_of_calls_that_was_not_put_in_place_is_found() {
    let session = tainted(&[]);
    session.before("a", "Glob", json!({}));
    let calls = session.file("calls");
    let next = calls.with_extension("calls.next");
    let before = std::fs::read(&calls).unwrap();
    session.before("b", "Read", json!({}));
    // The process was ended after the log was written.
    std::fs::rename(&calls, &next).unwrap();
    std::fs::write(&calls, &before).unwrap();
    session.before("c", "Glob", json!({}));
    assert!(!next.exists());
    let count = || {
        let text = std::fs::read_to_string(&calls).unwrap();
        text.matches("\"key\"").count()
    };
    assert_eq!(count(), 3);
    // The process was ended before the log was written: what it judged did not happen.
    std::fs::write(&next, &before).unwrap();
    session.before("d", "Glob", json!({}));
    assert_eq!((count(), next.exists()), (4, false));
}

#[test]
fn log_journal_and_state_are_bound() {
    type Damage = (&'static str, fn(&Session));
    fn change(session: &Session, change: impl FnOnce(String) -> String) {
        let calls = session.file("calls");
        let text = std::fs::read_to_string(&calls).unwrap();
        std::fs::write(&calls, change(text)).unwrap();
    }
    let damage: [Damage; 15] = [
        ("is not the list of calls", |session| {
            change(session, |text| {
                let without = text.split_once("{\"key\"").unwrap().0;
                let rest = text.split_once("\"ended\"").unwrap().1;
                format!("{without}],\"ended\"{rest}")
            });
        }),
        ("is not the list of calls", |session| {
            change(session, |text| {
                text.replacen("\"content\":\"", "\"content\":\"0", 1)
            });
        }),
        ("is not the list of calls", |session| {
            change(session, |_| {
                "{\"calls\":[],\"ended\":[],\"denied\":[]}".to_owned()
            });
        }),
        ("is not the list of calls", |session| {
            // That of an earlier time.
            let calls = session.file("calls");
            let earlier = std::fs::read(&calls).unwrap();
            session.before("later", "Read", json!({}));
            std::fs::write(&calls, earlier).unwrap();
        }),
        ("EOF while parsing", |session| {
            change(session, |text| text[..text.len() - 2].to_owned());
        }),
        ("was cut", |session| {
            std::fs::remove_file(session.file("log")).unwrap();
        }),
        ("was cut", |session| {
            std::fs::remove_file(session.file("journal")).unwrap();
            std::fs::remove_file(session.file("log")).unwrap();
        }),
        ("is not the list of calls", |session| {
            for ending in ["journal", "log"] {
                let path = session.file(ending);
                let text = std::fs::read_to_string(&path).unwrap();
                let lines: Vec<&str> = text.split_inclusive('\n').collect();
                std::fs::write(&path, lines[..lines.len() - 1].concat()).unwrap();
            }
        }),
        ("is missing", |session| {
            std::fs::remove_file(session.file("calls")).unwrap();
        }),
        ("is missing", |session| {
            for ending in ["calls", "journal", "log"] {
                std::fs::remove_file(session.file(ending)).unwrap();
            }
        }),
        ("they were removed, cut or replaced", |session| {
            std::fs::remove_file(session.file("journal")).unwrap();
        }),
        ("is damaged", |session| {
            let journal = session.file("journal");
            let mut bytes = std::fs::read(&journal).unwrap();
            let last = bytes.len() - 3;
            bytes[last] ^= 1;
            std::fs::write(&journal, bytes).unwrap();
        }),
        ("they were removed, cut or replaced", |session| {
            let journal = session.file("journal");
            let text = std::fs::read_to_string(&journal).unwrap();
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            std::fs::write(&journal, lines[..2].concat()).unwrap();
        }),
        ("wrong hash", |session| {
            let log = session.file("log");
            let text = std::fs::read_to_string(&log).unwrap();
            std::fs::write(&log, text.replacen("allow", "block", 1)).unwrap();
        }),
        (
            "differs from the input of that number in the log",
            |session| {
                // The log of another session of the same spec. The digits of the times vary, and a shorter log is refused as
                // one that was cut.
                let size =
                    |session: &Session| std::fs::metadata(session.file("log")).unwrap().len();
                let other = loop {
                    let other = tainted(&[]);
                    other.before("p", "Glob", json!({}));
                    other.before("q", "Glob", json!({}));
                    if size(&other) >= size(session) {
                        break other;
                    }
                };
                std::fs::copy(other.file("log"), session.file("log")).unwrap();
            },
        ),
    ];
    for (why, damage) in damage {
        let session = journalled();
        damage(&session);
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
        let input = input.to_string();
        for _ in 0..2 {
            let (code, out, err) = session.raw(input.as_bytes());
            assert_eq!((code, out.as_str()), (2, ""), "{why}");
            assert!(
                err.contains(why) && err.contains("--reset s1"),
                "{why}: {err}"
            );
        }
        let had_log = std::fs::read_dir(session.state()).unwrap().any(|entry| {
            entry
                .unwrap()
                .path()
                .extension()
                .is_some_and(|of| of == "log")
        });
        let mut reset = Command::cargo_bin("guard").unwrap();
        reset
            .arg("hook")
            .arg(&session.spec)
            .arg("--state")
            .arg(session.state());
        reset.args(["--reset", "s1"]).assert().success();
        assert_eq!(session.raw(input.as_bytes()).0, 0);
        let logs = std::fs::read_dir(session.state()).unwrap();
        let logs =
            logs.filter(|entry| entry.as_ref().unwrap().path().extension().unwrap() == "log");
        let kept = 1 + usize::from(had_log);
        assert_eq!(logs.count(), kept, "the log before is kept");
    }
}

/// What one call answers if the system clock is so many seconds ahead; `None` if there is no C compiler to make it so.
fn with_clock(session: &Session, ahead: i64, input: &str) -> Option<(i32, String, String)> {
    const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t clock, struct timespec *time) {
    int result = syscall(SYS_clock_gettime, clock, time);
    if (clock == CLOCK_REALTIME) time->tv_sec += atol(getenv("AHEAD"));
    return result;
}
"#;
    let library = session.folder.path().join("clock.so");
    if !library.exists() {
        let source = library.with_extension("c");
        std::fs::write(&source, CLOCK).unwrap();
        let mut cc = std::process::Command::new("cc");
        cc.args(["-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(&source);
        if !cfg!(target_os = "linux") || !cc.status().is_ok_and(|status| status.success()) {
            crate::support::skip("there is no C compiler");
            return None;
        }
    }
    let variables = [
        ("LD_PRELOAD", library.display().to_string()),
        ("AHEAD", ahead.to_string()),
    ];
    Some(session.raw_with(&variables, input.as_bytes()))
}

fn of_session(id: &str, hook: &str, tool: &str) -> String {
    json!({"session_id": id, "hook_event_name": hook, "tool_name": tool, "tool_input": {}})
        .to_string()
}

const DAY: i64 = 24 * 3600;

/// A machine may wake up with a clock that is wrong by a month.
#[test]
fn a_clock_that_is_ahead_makes_no_session_old() {
    let session = tainted(&[]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let end = of_session("other", "SessionEnd", "");
    let Some(ended) = with_clock(&session, 31 * DAY, &end) else {
        return;
    };
    assert_eq!(ended.0, 0, "{}", ended.2);
    assert_eq!(decision(&session.before("m", "mail", json!({}))).0, "deny");
}

/// The history of a session that is too old is gone, and its agent may know what it read: it is refused by name.
#[test]
fn an_old_session_is_refused_rather_than_begun_anew() {
    let session = tainted(&["--keep", "0"]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    let call = of_session("s1", "PreToolUse", "mail");
    for _ in 0..3 {
        let end = of_session("other", "SessionEnd", "");
        assert_eq!(session.raw(end.as_bytes()).0, 0);
    }
    let (code, _, err) = session.raw(call.as_bytes());
    assert!(
        code == 2 && err.contains("(`--keep`)") && err.contains("--reset s1"),
        "{err}"
    );
    let names = std::fs::read_dir(session.state()).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<String> = names.collect();
    let log = names.iter().find(|name| name.ends_with(".1.log")).unwrap();
    let of_it = names
        .iter()
        .filter(|name| name.starts_with(log.trim_end_matches("1.log")));
    assert_eq!(of_it.count(), 2, "its log and its lock: {names:?}");
    session.reset();
    assert_eq!(session.raw(call.as_bytes()).0, 0);
}

/// All files but the log are gone, the lock with them: the log shows that there was a history.
#[test]
fn a_log_without_a_history_is_refused_by_name() {
    let session = tainted(&["--keep", "0"]);
    session.raw(&outcome(r#""PRIVATE KEY""#));
    session.raw(of_session("other", "SessionEnd", "").as_bytes());
    let remove_locks = || {
        for entry in std::fs::read_dir(session.state()).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|of| of == "lock") {
                std::fs::remove_file(path).unwrap();
            }
        }
    };
    remove_locks();
    let call = of_session("s1", "PreToolUse", "mail");
    let (code, _, err) = session.raw(call.as_bytes());
    let why = "is the log of a history that is missing";
    assert!(
        code == 2 && err.contains(why) && err.contains("--reset s1"),
        "{err}"
    );
    session.reset();
    assert_eq!(session.raw(call.as_bytes()).0, 0);
}

/// In one run of the machine the time that passes is that of a clock that nobody sets.
#[test]
fn a_clock_that_jumps_empties_no_window() {
    let session = Session::new();
    let spec = "use std.agent\n\
        property few = always (count[0,60s](kind == \"call\" and tool == \"pay\") <= 2)\n\
        enforce few { violated => block \"too many\" }\n";
    std::fs::write(&session.spec, spec).unwrap();
    let denied = |ahead: i64, tool: &str| {
        let call = of_session("s1", "PreToolUse", tool);
        let (code, out, err) = with_clock(&session, ahead, &call)?;
        assert_eq!((code, err.as_str()), (0, ""));
        Some(out.contains("deny"))
    };
    if denied(0, "pay").is_none() {
        return;
    }
    for (ahead, tool, expected) in [
        (0, "pay", false),
        (36_500 * DAY, "x", false),
        (36_500 * DAY, "pay", true),
        (0, "pay", true),
        (-3600, "pay", true),
    ] {
        assert_eq!(denied(ahead, tool), Some(expected), "{ahead} {tool}");
    }
}

#[test]
fn nobody_else_reads_the_files() {
    use std::os::unix::fs::PermissionsExt;
    let session = tainted(&[]);
    for n in 0..20 {
        session.before(&n.to_string(), "Read", json!({}));
    }
    session.raw(&outcome("1"));
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&session.state()), 0o700);
    for entry in std::fs::read_dir(session.state()).unwrap() {
        let path = entry.unwrap().path();
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode(&path), expected, "{}", path.display());
    }
}

#[test]
fn a_log_is_signed_and_verified_by_its_key() {
    const KEY: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH\n-----END PRIVATE KEY-----\n";
    const OTHER: &str = "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIAgICAgICAgICAgICAgICAgICAgICAgICAgICAgICAgI\n-----END PRIVATE KEY-----\n";
    let keys = tempfile::tempdir().unwrap();
    let key = |name: &str, pem: &str| {
        let path = keys.path().join(name);
        crate::support::write_private(&path, pem);
        path
    };
    let (right, wrong) = (key("right", KEY), key("wrong", OTHER));
    let session = tainted(&["--key", right.to_str().unwrap()]);
    session.before("a", "Read", json!({}));
    session.before("b", "Read", json!({}));
    let verify = |key: &std::path::Path| {
        let mut verify = Command::cargo_bin("guard").unwrap();
        verify
            .args(["monitor", "--verify-log"])
            .arg(session.file("log"))
            .arg("--key")
            .arg(key);
        verify.output().unwrap().status.code()
    };
    assert_eq!((verify(&right), verify(&wrong)), (Some(0), Some(1)));
    // A private key that others can read is refused, also where its public half is what matters.
    let readable = std::os::unix::fs::PermissionsExt::from_mode(0o640);
    std::fs::set_permissions(&right, readable).unwrap();
    assert_eq!(verify(&right), Some(2));
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = session.raw(input.to_string().as_bytes());
    let why = format!("(mode 0640); run `chmod 600 {}`", right.display());
    assert!(
        code == 2 && err.contains(&why) && !err.contains("--reset"),
        "{err}"
    );
    // Nobody goes on with it without the key.
    let unsigned = Session {
        args: Vec::new(),
        ..session
    };
    let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_input": {}});
    let (code, _, err) = unsigned.raw(input.to_string().as_bytes());
    assert!(code == 2 && err.contains("signed with the key"), "{err}");
}
