//! A session of Claude Code's hooks, one process per call.

use std::path::PathBuf;

use assert_cmd::Command;
use serde_json::{Value as Json, json};

pub(crate) const SPEC: &str = r#"
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

pub(crate) struct Session {
    pub(crate) folder: tempfile::TempDir,
    pub(crate) spec: PathBuf,
    pub(crate) args: Vec<String>,
}

impl Session {
    pub(crate) fn new() -> Session {
        Session::with(&[])
    }

    pub(crate) fn with(args: &[&str]) -> Session {
        let folder = tempfile::tempdir().unwrap();
        let spec = folder.path().join("agent.guard");
        std::fs::write(&spec, SPEC).unwrap();
        let args = args.iter().map(|arg| (*arg).to_owned()).collect();
        Session { folder, spec, args }
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// The only file of the state with this ending.
    pub(crate) fn file(&self, ending: &str) -> PathBuf {
        let files = std::fs::read_dir(self.state()).unwrap();
        let mut files = files.map(|entry| entry.unwrap().path());
        files
            .find(|path| path.extension().is_some_and(|found| found == ending))
            .unwrap()
    }

    /// Exit code, standard output and error output of one call.
    pub(crate) fn raw(&self, input: &[u8]) -> (i32, String, String) {
        self.raw_with(&[], input)
    }

    /// The same with variables of the environment.
    pub(crate) fn raw_with(
        &self,
        variables: &[(&str, String)],
        input: &[u8],
    ) -> (i32, String, String) {
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
    pub(crate) fn ask(&self, hook: &str, agent: Option<&str>, more: Json) -> Json {
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

    /// The hook of an outcome waits for the session until its time is over, and leaves a mark. All other calls have as long as they need,
    /// however slow the machine is.
    pub(crate) fn lose(&mut self, outcome: &[u8]) {
        let held = std::fs::File::open(self.file("lock")).unwrap();
        held.lock().unwrap();
        let args = ["--timeout", "1"].map(str::to_owned).to_vec();
        let before = std::mem::replace(&mut self.args, args);
        let (code, out, err) = self.raw(outcome);
        self.args = before;
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(err.contains("--timeout"), "{err}");
        held.unlock().unwrap();
    }

    pub(crate) fn reset(&self) {
        self.reset_of("s1").success();
    }

    /// Resets the session of an id.
    pub(crate) fn reset_of(&self, id: &str) -> assert_cmd::assert::Assert {
        let mut guard = Command::cargo_bin("guard").unwrap();
        guard
            .args(["hook", "--reset", id, "--state"])
            .arg(self.state())
            .arg(&self.spec);
        guard.assert()
    }

    pub(crate) fn before(&self, id: &str, tool: &str, input: Json) -> Json {
        self.ask(
            "PreToolUse",
            None,
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}),
        )
    }

    pub(crate) fn after(&self, id: &str, tool: &str, input: Json, response: Json) -> Json {
        let more = json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": response});
        self.ask("PostToolUse", None, more)
    }
}

pub(crate) fn decision(answer: &Json) -> (&str, &str) {
    let output = &answer["hookSpecificOutput"];
    assert_eq!(output["hookEventName"], "PreToolUse");
    (
        output["permissionDecision"].as_str().unwrap(),
        output["permissionDecisionReason"].as_str().unwrap(),
    )
}

pub(crate) fn bash(command: &str) -> Json {
    json!({"command": command})
}

pub(crate) const TAINT: &str = r#"
use std.agent
predicate secret = kind == "result" and text matches /PRIVATE KEY/
predicate mails = kind == "call" and tool == "mail"
property no_leak = never (mails and once secret)
property none = never (kind == "call" and tool == "rm")
enforce no_leak { violated => block "no mail after a secret" }
enforce none { violated => stop "rm ran" }
"#;

pub(crate) fn tainted(args: &[&str]) -> Session {
    let session = Session::with(args);
    std::fs::write(&session.spec, TAINT).unwrap();
    session
}

pub(crate) fn outcome(response: &str) -> Vec<u8> {
    let head = r#"{"session_id":"s1","hook_event_name":"PostToolUse","tool_name":"Read","tool_input":{},"tool_use_id":"r","tool_response":"#;
    [head.as_bytes(), response.as_bytes(), b"}"].concat()
}
