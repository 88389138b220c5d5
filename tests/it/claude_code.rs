//! `guard hook` and Claude Code: replays recorded inputs of real hooks and, if the program is installed, repeats the
//! conversation with a scripted model.

use crate::support::skip;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value as Json, json};

const GUARD: &str = env!("CARGO_BIN_EXE_guard");

fn suite(file: &str) -> PathBuf {
    crate::support::root()
        .join("tests/suites/claude_code")
        .join(file)
}

/// The settings that the help tells people to write.
fn settings() -> String {
    let help = Command::new(GUARD)
        .args(["hook", "--help"])
        .output()
        .unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let begin = help.find("{\"hooks\"").unwrap();
    let end = help.find("]}}").unwrap() + 3;
    help[begin..end].to_owned()
}

/// Exit code and answer of one call.
fn hook(spec: &Path, state: &Path, input: &str) -> (Option<i32>, Json) {
    use std::io::Write;
    let mut guard = Command::new(GUARD)
        .arg("hook")
        .arg(spec)
        .arg("--state")
        .arg(state)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    guard
        .stdin
        .take()
        .unwrap()
        .write_all(input.as_bytes())
        .unwrap();
    let output = guard.wait_with_output().unwrap();
    let answer = serde_json::from_slice(&output.stdout).unwrap_or(Json::Null);
    (output.status.code(), answer)
}

#[test]
fn the_settings_in_the_help_name_every_hook_that_brings_something() {
    let settings: Json = serde_json::from_str(&settings()).unwrap();
    let hooks: Vec<&String> = settings["hooks"].as_object().unwrap().keys().collect();
    let wanted = [
        "PostToolUse",
        "PostToolUseFailure",
        "PreToolUse",
        "SessionEnd",
        "Stop",
        "SubagentStop",
        "UserPromptSubmit",
    ];
    assert_eq!(hooks, wanted);
    // The same stand in the manual.
    let manual = std::fs::read_to_string(crate::support::root().join("docs/cli.md")).unwrap();
    let begin = manual.find("{\"hooks\"").unwrap();
    let end = begin + manual[begin..].find("]}}").unwrap() + 3;
    let told: Json = serde_json::from_str(&manual[begin..end]).unwrap();
    assert_eq!(told, settings);
}

#[test]
fn a_recorded_conversation_is_judged_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = std::fs::read_to_string(suite("hooks.jsonl")).unwrap();
    let mut said = Vec::new();
    for line in recorded.lines() {
        let given: Json = serde_json::from_str(line).unwrap();
        let (code, answer) = hook(&suite("agent.guard"), folder.path(), line);
        assert_eq!(code, Some(0), "{line}");
        if !answer.is_null() {
            said.push((
                given["hook_event_name"].clone(),
                given["tool_use_id"].clone(),
                answer,
            ));
        }
    }
    let denied = json!({"hookSpecificOutput": {
        "hookEventName": "PreToolUse",
        "permissionDecision": "deny",
        "permissionDecisionReason": "run `make test` before `echo go && ./deploy prod`",
    }});
    let pressed = "not done yet: `reported` owes `reports`, before the end";
    assert_eq!(
        said,
        [
            (json!("PreToolUse"), json!("toolu_01"), denied),
            (
                json!("Stop"),
                Json::Null,
                json!({"decision": "block", "reason": pressed})
            ),
        ]
    );
}

/// The sub-agent of the recorded session runs the tests and reads a secret. Its test is not the main agent's, and the secret
/// is: in both cases what it did is reported in the background, before the main agent goes on.
#[test]
fn a_sub_agent_fulfils_nothing_and_hides_nothing() {
    let recorded = std::fs::read_to_string(suite("hooks.jsonl")).unwrap();
    let recorded: Vec<Json> = recorded
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let find = |name: &str, call: &str| {
        let is = |hook: &&Json| hook["hook_event_name"] == name && hook["tool_use_id"] == call;
        recorded.iter().find(is).unwrap().clone()
    };
    let spec = std::fs::read_to_string(suite("agent.guard")).unwrap()
        + r#"
predicate secret = kind == "result" and text contains "SECRET"
property no_leak = never (kind == "call" and tool == "Write" and once secret)
enforce no_leak { violated => block "no file after a secret" }
"#;
    // What the sub-agent did, and whether the main agent may then deploy and write.
    let run = |scope: &str, mut of_agent: [Json; 2], command: &str, said: &str| {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("agent.guard"), &spec).unwrap();
        for hook in &mut of_agent {
            hook["tool_input"]["command"] = json!(command);
        }
        of_agent[1]["tool_response"]["stdout"] = json!(said);
        let [before, after] = of_agent;
        let main = [
            find("PreToolUse", "toolu_09"),
            find("PreToolUse", "toolu_11"),
        ];
        let mut answers = Vec::new();
        for hook in [find("PreToolUse", "toolu_02"), before, after]
            .iter()
            .chain(&main)
        {
            let mut guard = Command::new(GUARD);
            guard.args(["hook", "agent.guard", "--state", "state", "--scope", scope]);
            let mut child = guard
                .current_dir(folder.path())
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            std::io::Write::write_all(
                &mut child.stdin.take().unwrap(),
                hook.to_string().as_bytes(),
            )
            .unwrap();
            let output = child.wait_with_output().unwrap();
            assert!(output.status.success(), "{hook}");
            answers.push(
                !String::from_utf8(output.stdout)
                    .unwrap()
                    .contains("\"deny\""),
            );
        }
        [answers[3], answers[4]]
    };
    let of_agent = [
        find("PreToolUse", "toolu_05"),
        find("PostToolUse", "toolu_05"),
    ];
    assert!(of_agent.iter().all(|hook| hook["agent_id"].is_string()));
    let run = |scope: &str, command: &str, said: &str| run(scope, of_agent.clone(), command, said);
    assert_eq!(run("session", "make test", "ok"), [false, true]);
    assert_eq!(run("session", "cat key", "a SECRET"), [false, false]);
    // Each agent by itself: the secret is not known, which is why this is not the default.
    assert_eq!(run("agent", "cat key", "a SECRET"), [false, true]);
}

/// The program of Claude Code; `None` if it is not there.
fn claude_code() -> Option<PathBuf> {
    let claude = std::env::var_os("GUARD_CLAUDE_CODE").map(PathBuf::from);
    if claude.is_none() {
        skip("GUARD_CLAUDE_CODE does not name the program of @anthropic-ai/claude-code");
    }
    claude
}

/// The Claude Agent SDK; `None` if it is not there.
fn agent_sdk() -> Option<PathBuf> {
    let modules = std::env::var_os("GUARD_NODE_MODULES").map(PathBuf::from);
    let there =
        modules.is_some_and(|modules| modules.join("@anthropic-ai/claude-agent-sdk").exists());
    if !there {
        skip("GUARD_NODE_MODULES has no @anthropic-ai/claude-agent-sdk");
    }
    there.then(|| crate::support::root().join("tests/agents/agent_sdk.mjs"))
}

/// Holds a conversation with Claude Code or the Agent SDK.
fn converse(claude: &Path, scope: &str, spec: &Path, script: &str) -> Vec<Json> {
    use std::io::Write;
    let folder = tempfile::tempdir().unwrap();
    let mut run = Command::new("python3")
        .arg(crate::support::root().join("tests/agents/claude_code.py"))
        .arg(claude)
        .arg(GUARD)
        .arg(spec)
        .arg(settings().replace(
            "guard hook agent",
            &format!("guard hook --scope {scope} agent"),
        ))
        .arg(folder.path().join("f"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    run.stdin
        .take()
        .unwrap()
        .write_all(script.as_bytes())
        .unwrap();
    let output = run.wait_with_output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// What the model was told about its calls, and whether each was an error.
fn told(lines: &[Json]) -> Vec<(&str, &str, bool)> {
    let calls = lines.iter().filter(|line| line["call"].is_string());
    calls
        .map(|line| {
            (
                line["call"].as_str().unwrap(),
                line["told"].as_str().unwrap(),
                line["error"] == true,
            )
        })
        .collect()
}

/// The conversation of the script: what is denied, what is not, what is pressed.
fn is_held_to_the_spec(claude: &Path, scope: &str, presses: bool) -> Vec<Json> {
    let script = std::fs::read_to_string(suite("script.json")).unwrap();
    let lines = converse(claude, scope, &suite("agent.guard"), &script);
    let calls = told(&lines);
    let of = |call: &str| calls.iter().find(|(id, ..)| *id == call).unwrap();
    let (_, denied, error) = of("toolu_01");
    let reason = "run `make test` before `echo go && ./deploy prod`";
    assert!(denied.contains(reason) && *error, "{denied}");
    let (_, failed, _) = of("toolu_02");
    assert!(failed.contains("No rule to make target"), "{failed}");
    assert_eq!((of("toolu_07").1, of("toolu_09").1), ("ok", "deployed"));
    let pressed = lines.iter().any(|line| line["pressed"] == true);
    assert!(pressed || !presses, "the stop hook sends it on once");
    assert_eq!(lines.last().unwrap()["result"], "deployed and reported");
    lines
}

#[test]
fn the_agent_sdk_is_held_to_the_spec() {
    if let Some(sdk) = agent_sdk() {
        // The sub-agent runs in the background, and may be the one that tests and deploys. By itself it then owes the report when
        // it stops; in the session the main agent may have written the report before it stops itself.
        is_held_to_the_spec(&sdk, "agent", true);
        is_held_to_the_spec(&sdk, "session", false);
    }
}

#[test]
fn claude_code_is_held_to_the_spec() {
    let Some(claude) = claude_code() else {
        return;
    };
    let lines = is_held_to_the_spec(&claude, "session", true);
    // What the hooks were given is what is replayed above.
    let recorded = std::fs::read_to_string(suite("hooks.jsonl")).unwrap();
    let recorded: Vec<Json> = recorded
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let given = lines.iter().map(|line| &line["given"]);
    for given in given.filter(|given| given.is_object()) {
        let keys = ["hook_event_name", "tool_use_id", "stop_hook_active"];
        let like = recorded
            .iter()
            .find(|other| keys.iter().all(|key| other[key] == given[key]));
        let like = like.unwrap_or_else(|| panic!("a hook that was not recorded: {given}"));
        for member in like.as_object().unwrap().keys() {
            assert!(!given[member].is_null(), "`{member}` is gone from {given}");
        }
    }
}

/// Whatever is wrong with ours, the agent does nothing.
#[test]
fn claude_code_does_nothing_under_a_spec_that_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let spec = folder.path().join("wrong.guard");
    std::fs::write(&spec, "use std.agent\nproperty p = G (\n").unwrap();
    let script = json!([{"text": "nothing was done"}]).to_string();
    let Some(claude) = claude_code() else {
        return;
    };
    let lines = converse(&claude, "session", &spec, &script);
    // The prompt itself is refused.
    assert!(told(&lines).is_empty());
    assert_ne!(lines.last().unwrap()["result"], "nothing was done");
}
