//! Hooks with one history for each agent (`--scope agent`), and outcomes of which nobody says whose they are.

use serde_json::{Value as Json, json};

use super::support::hook::{Session, decision};

const SPEC: &str = r#"
use std.agent
predicate secret = kind == "result" and text contains "SECRET"
property clean = never (kind == "call" and tool == "mail" and once secret)
property tested = G (kind == "call" and tool == "deploy" -> once (kind == "result" and tool == "test" and error == false))
property asked = never (kind == "call" and tool == "pay" and not once (kind == "message" and role == "user" and text contains "pay"))
enforce clean { violated => block }
enforce tested { violated => block }
enforce asked { violated => block }
"#;

const AGENTS: [Option<&str>; 3] = [None, Some("a"), Some("b")];

/// A session in which the main agent and two sub-agents have made a call.
fn session(scope: &str) -> Session {
    let session = Session::with(&["--scope", scope]);
    std::fs::write(&session.spec, SPEC).unwrap();
    for agent in AGENTS {
        call(&session, agent, "list", "0");
    }
    session
}

fn call(session: &Session, agent: Option<&str>, tool: &str, id: &str) -> Json {
    let call = json!({"tool_name": tool, "tool_input": {}, "tool_use_id": id});
    session.ask("PreToolUse", agent, call)
}

fn may(session: &Session, agent: Option<&str>, tool: &str) -> bool {
    let answer = call(session, agent, tool, tool);
    answer["hookSpecificOutput"].is_null()
}

/// An outcome of the call `1`, with these members beside it as they are written.
fn outcome(tool: &str, text: &str, more: &str) -> Vec<u8> {
    format!(
        "{{\"session_id\":\"s1\",\"hook_event_name\":\"PostToolUse\",\"tool_name\":\"{tool}\",\"tool_input\":{{}},\"tool_response\":\"{text}\"{more}}}"
    )
    .into_bytes()
}

/// An outcome whose agent cannot be read is one of the agent that made its call.
#[test]
fn an_agent_that_cannot_be_read_is_known_by_its_call() {
    let damaged: [&[u8]; 5] = [
        b",\"agent_id\":5",
        b",\"agent_id\":[\"a\"]",
        b",\"agent_id\":\"b\",\"agent_id\":\"c\"",
        b",\"agent_id\":\"b\xff\"",
        b"",
    ];
    for agent in AGENTS {
        for id in damaged {
            let session = session("agent");
            call(&session, agent, "read", "1");
            let mut text = outcome("read", "a SECRET", ",\"tool_use_id\":\"1\"");
            text.pop();
            text.extend(id.iter().chain(b"}"));
            session.raw(&text);
            for other in AGENTS {
                assert_eq!(may(&session, other, "mail"), other != agent, "{id:?}");
            }
        }
    }
}

/// An outcome that may be of any agent is harmless for none, and fulfils no condition of any.
#[test]
fn an_outcome_of_nobody_known_is_one_of_all() {
    let cut = |text: Vec<u8>| text[..text.len() - 20].to_vec();
    for (tool, input) in [
        (
            "mail",
            outcome("read", "a SECRET", ",\"tool_use_id\":\"9\""),
        ),
        (
            "mail",
            cut(outcome("read", "a SECRET that is long enough", "")),
        ),
        (
            "mail",
            outcome("read", "a SECRET", ",\"tool_use_id\":\"9\",\"agent_id\":5"),
        ),
        ("deploy", outcome("test", "fine", ",\"tool_use_id\":\"9\"")),
    ] {
        let session = session("agent");
        session.raw(&input);
        for agent in AGENTS {
            assert!(!may(&session, agent, tool), "{agent:?}");
        }
    }
    // Nobody else has acted.
    let session = Session::with(&["--scope", "agent"]);
    std::fs::write(&session.spec, SPEC).unwrap();
    session.raw(&outcome("test", "fine", ",\"tool_use_id\":\"9\""));
    assert!(may(&session, None, "deploy"));
    // The main agent's own trace is judged with the one of the session.
    let session = self::session("session");
    session.raw(&outcome("test", "fine", ",\"tool_use_id\":\"9\""));
    assert!(may(&session, Some("a"), "deploy"));
    assert!(!may(&session, None, "deploy"));
}

/// Where calls have no ids, an outcome is one of the call that awaits it.
#[test]
fn the_agent_whose_call_is_open_made_it() {
    let session = session("agent");
    for agent in ["a", "b"] {
        let read = json!({"tool_name": "read", "tool_input": {}});
        session.ask("PreToolUse", Some(agent), read);
        session.raw(&outcome("read", "a SECRET", ""));
        assert!(!may(&session, Some(agent), "mail"), "{agent}");
    }
    assert!(may(&session, None, "mail"));
}

/// After a process ended before its list of calls was put in place, the list that the journal names says who made a call.
#[test]
fn the_agent_is_found_in_the_list_that_is_in_force() {
    let session = session("agent");
    let read = json!({"tool_name": "read", "tool_input": {}});
    session.ask("PreToolUse", None, read.clone());
    session.raw(&outcome("read", "fine", ""));
    let files = std::fs::read_dir(session.state()).unwrap();
    let files = files.map(|entry| entry.unwrap().path());
    let lists = files.filter(|path| path.extension().is_some_and(|ending| ending == "calls"));
    let before: Vec<_> = lists
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    session.ask("PreToolUse", Some("a"), read);
    let now = |path| std::fs::read(path).unwrap();
    let mut changed = before.iter().filter(|(path, old)| now(path) != *old);
    let (path, old) = changed.next().unwrap();
    std::fs::rename(path, path.with_extension("calls.next")).unwrap();
    std::fs::write(path, old).unwrap();
    session.raw(&outcome("read", "a SECRET", ""));
    assert!(may(&session, None, "mail"));
    assert!(!may(&session, Some("a"), "mail"));
}

/// The id of the call may stand behind a text that is longer than what is read at first.
#[test]
fn the_agent_of_a_long_outcome_is_known_by_its_call() {
    let mut session = session("agent");
    call(&session, None, "read", "1");
    session
        .args
        .extend(["--max-memory", "1"].map(str::to_owned));
    let long = outcome("read", &"x".repeat(3 << 20), ",\"tool_use_id\":\"1\"");
    let (code, ..) = session.raw(&long);
    assert_eq!(code, 2);
    session.args.truncate(2);
    assert!(may(&session, Some("a"), "mail"));
    assert!(!may(&session, None, "mail"));
    assert!(may(&session, Some("later"), "mail"));
}

/// However many outcomes of nobody known there are, an agent that does not act has one file for them. All of them count.
#[test]
fn outcomes_of_nobody_known_do_not_pile_up() {
    let spec = "use std.agent\nproperty few = G (count(kind == \"result\" and tool == \"read\") <= 3)\nenforce few { violated => block }\n";
    for n in [3, 5] {
        let session = Session::with(&["--scope", "agent"]);
        std::fs::write(&session.spec, spec).unwrap();
        for agent in AGENTS {
            call(&session, agent, "list", "0");
        }
        for nth in 0..n {
            let id = format!(",\"tool_use_id\":\"u{nth}\"");
            session.raw(&outcome("read", "fine", &id));
        }
        let files = std::fs::read_dir(session.state()).unwrap();
        let folders = files
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_dir());
        let marks = folders.map(|folder| std::fs::read_dir(folder).unwrap().count());
        assert_eq!(marks.sum::<usize>(), 2);
        for agent in AGENTS {
            assert_eq!(may(&session, agent, "list"), n <= 3, "{n} {agent:?}");
        }
    }
}

/// An outcome that names no agent, and whose hook is killed, is one of the agent that made its call.
#[test]
fn a_lost_outcome_goes_to_the_agent_that_made_its_call() {
    let mut session = session("agent");
    call(&session, Some("a"), "read", "1");
    session.lose(&outcome("read", "a SECRET", ",\"tool_use_id\":\"1\""));
    assert!(may(&session, Some("b"), "mail"));
    assert!(may(&session, None, "mail"));
    assert!(!may(&session, Some("a"), "mail"));
    // One of nobody known goes to all.
    for first in 0..AGENTS.len() {
        let mut session = self::session("agent");
        session.lose(&outcome("read", "a SECRET", ",\"tool_use_id\":\"9\""));
        for agent in AGENTS.iter().cycle().skip(first).take(AGENTS.len()) {
            assert!(!may(&session, *agent, "mail"), "{first} {agent:?}");
        }
    }
}

/// An agent that begins later may have had an outcome of nobody known, too.
#[test]
fn an_agent_that_begins_later_may_have_had_an_outcome() {
    let session = session("agent");
    session.raw(&outcome("read", "a SECRET", ",\"tool_use_id\":\"9\""));
    assert!(!may(&session, Some("later"), "mail"));
}

/// With one history for all, equal calls without ids are distinguished by the agent that an outcome names; without a name, the
/// outcome fulfils no condition of the main agent.
#[test]
fn equal_calls_of_several_agents_are_not_confused() {
    let test = json!({"tool_name": "test", "tool_input": {}});
    let by_a = ",\"agent_id\":\"a\"";
    for (makers, named) in [
        (&[None, Some("a")][..], ""),
        (&[None, Some("a")], by_a),
        (&[None], by_a),
    ] {
        let session = session("session");
        for maker in makers {
            session.ask("PreToolUse", *maker, test.clone());
        }
        session.raw(&outcome("test", "fine", named));
        assert!(!may(&session, None, "deploy"), "{makers:?} {named}");
    }
}

/// Neither are equal questions: only the main agent's own call fulfils its condition.
#[test]
fn equal_questions_of_several_agents_are_not_confused() {
    let quest = json!({"tool_name": "quest", "tool_input": {}});
    let spec = "use std.agent\nenforce when kind == \"call\" and tool == \"quest\" => ask \"sure?\"\n\
        property asked = G (kind == \"call\" and tool == \"deploy\" -> once (kind == \"call\" and tool == \"quest\"))\n\
        enforce asked { violated => block }\n";
    for agents in [&[None][..], &[None, Some("a")]] {
        let session = Session::new();
        std::fs::write(&session.spec, spec).unwrap();
        call(&session, Some("a"), "list", "0");
        for agent in agents {
            session.ask("PreToolUse", *agent, quest.clone());
        }
        session.raw(&outcome("quest", "fine", ""));
        assert_eq!(may(&session, None, "deploy"), agents.len() == 1);
    }
}

/// The end of a sub-agent whose name cannot be read may be that of any, with an outcome behind it; what it lists as scheduled counts.
#[test]
fn an_end_of_nobody_known_is_no_harmless_one() {
    for scope in ["session", "agent"] {
        for id in ["5", "\"a\",\"agent_id\":\"b\""] {
            let session = session(scope);
            let end = format!(
                "{{\"session_id\":\"s1\",\"hook_event_name\":\"SubagentStop\",\"agent_id\":{id},\"session_crons\":[{{\"id\":\"1\",\"prompt\":\"please pay\"}}]}}"
            );
            session.raw(end.as_bytes());
            session.ask("UserPromptSubmit", None, json!({"prompt": "please pay"}));
            assert!(!may(&session, None, "pay"), "{scope} {id}");
            for agent in AGENTS {
                assert!(!may(&session, agent, "mail"), "{scope} {id} {agent:?}");
            }
        }
    }
}

/// What a sub-agent did first, and was not put on record, may have scheduled any prompt.
#[test]
fn a_prompt_after_a_lost_first_outcome_is_not_the_users() {
    let pay = json!({"prompt": "please pay"});
    let mut session = session("agent");
    session.ask("UserPromptSubmit", None, pay.clone());
    assert!(may(&session, None, "pay"));
    session.reset();
    call(&session, None, "list", "0");
    let of_new = ",\"tool_use_id\":\"1\",\"agent_id\":\"new\"";
    session.lose(&outcome("CronCreate", "fine", of_new));
    session.ask("UserPromptSubmit", None, pay);
    assert!(!may(&session, None, "pay"));
}

/// The histories of one scope say nothing about the calls of the other.
#[test]
fn a_session_keeps_its_scope() {
    for (scope, other) in [("agent", "session"), ("session", "agent")] {
        let mut session = session(scope);
        session.args = vec!["--scope".to_owned(), other.to_owned()];
        let input = json!({"session_id": "s1", "hook_event_name": "PreToolUse", "tool_name": "x", "tool_input": {}});
        let (code, out, err) = session.raw(input.to_string().as_bytes());
        assert_eq!((code, out.as_str()), (2, ""));
        assert!(
            err.contains(&format!("begun with `--scope {scope}`")),
            "{err}"
        );
        // An outcome is not forgotten all the same.
        let of_agent = ",\"tool_use_id\":\"0\",\"agent_id\":\"a\"";
        session.raw(&outcome("list", "a SECRET", of_agent));
        session.args[1] = scope.to_owned();
        assert!(!may(&session, Some("a"), "mail"), "{scope}");
        session.args[1] = other.to_owned();
        session.reset();
        assert_eq!(call(&session, None, "list", "1"), Json::Null);
    }
}

/// Older versions of the program do not say which sub-agent ended: nothing of the main agent ends then.
#[test]
fn the_end_of_an_unnamed_sub_agent_ends_nothing() {
    for scope in ["session", "agent"] {
        let session = session(scope);
        let spec = "use std.agent\nenforce when kind == \"call\" and tool == \"pay\" => ask \"pay?\"\n\
            property done = G (kind == \"call\" and tool == \"edit\" -> F (kind == \"call\" and tool == \"save\"))\n\
            enforce done { violated => log }\n";
        session.reset();
        std::fs::write(&session.spec, spec).unwrap();
        call(&session, None, "edit", "e");
        assert_eq!(decision(&call(&session, None, "pay", "p")).0, "ask");
        assert_eq!(session.ask("SubagentStop", None, json!({})), Json::Null);
        let paid = json!({"tool_name": "pay", "tool_input": {}, "tool_use_id": "p", "tool_response": "fine"});
        assert_eq!(session.ask("PostToolUse", None, paid), Json::Null);
        let pressed = session.ask("Stop", None, json!({"stop_hook_active": false}));
        assert_eq!(pressed["decision"], "block", "{scope}");
    }
}
