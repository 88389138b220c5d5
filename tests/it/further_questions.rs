//! Questions to a person that later calls bring up: beside other questions, at a later time, and in the traces of several agents.

use guard_lang::monitor::{Decision, Monitor, Options, Ruling};
use guard_lang::value::Instant;
use guard_lang::{check, front, modules::NoFiles};
use serde_json::{Value as Json, json};

use crate::support::hook::{Session, decision};

fn monitor(text: &str, options: Options) -> Monitor {
    let front = front("m.guard", text, &NoFiles, check::Limits::default());
    let mut monitor = Monitor::new(&front.spec.unwrap(), options).unwrap();
    monitor.set_hooked(true);
    monitor
}

fn event(kind: &str, tool: &str) -> String {
    format!(r#"{{"trace":"t","kind":"{kind}","tool":"{tool}"}}"#)
}

fn act(monitor: &mut Monitor, tool: &str) -> Decision {
    monitor.act(event("call", tool).as_bytes(), None)
}

fn messages(decision: &Decision) -> Vec<&str> {
    let fired = decision.clauses.iter();
    fired.map(|fired| fired.message.as_str()).collect()
}

const LEAK: &str = r#"
event { kind: string  tool: string }
predicate mails = kind == "call" and tool == "mail"
property leak = G (mails -> not once tool == "secret")
enforce leak { violated => ask "a secret was read: mail anyway?" }
enforce when mails => ask "mail?"
"#;

/// Nobody is asked again about an open question, so what would bring up a further one about it is denied.
#[test]
fn a_clause_that_would_ask_again_denies_what_brings_it_up() {
    let mut monitor = monitor(LEAK, Options::default());
    assert_eq!(messages(&act(&mut monitor, "mail")), ["mail?"]);
    let secret = act(&mut monitor, "secret");
    assert_eq!(secret.ruling, Ruling::Block);
    assert_eq!(
        secret.reason(),
        "a person who is being asked about another call would have to be asked again after this one: a secret was read: mail \
         anyway?"
    );
    assert_eq!(act(&mut monitor, "list").ruling, Ruling::Allow);
    // An outcome cannot be denied; its decision names the further question.
    let outcome = monitor.observe(event("result", "secret").as_bytes(), None);
    let refused = outcome.refused.as_ref().map(|refused| messages(refused));
    assert_eq!(refused, Some(vec!["a secret was read: mail anyway?"]));
    assert_eq!(outcome.ruling, Ruling::Ask);
}

/// A client that commits before it carries an action out is asked what has changed since, and nothing else.
#[test]
fn a_commit_asks_only_what_was_not_asked() {
    let mut monitor = monitor(LEAK, Options::default());
    monitor.set_hooked(false);
    let commit = |monitor: &mut Monitor, asked: Decision| {
        let line = event("call", "mail");
        monitor.commit(asked.proposal.unwrap(), line.as_bytes(), None)
    };
    let asked = act(&mut monitor, "mail");
    let committed = commit(&mut monitor, asked);
    assert_eq!(
        (committed.ruling, messages(&committed)),
        (Ruling::Allow, vec![])
    );
    let asked = act(&mut monitor, "mail");
    monitor.observe(event("call", "secret").as_bytes(), None);
    let committed = commit(&mut monitor, asked);
    assert_eq!(committed.ruling, Ruling::Ask);
    assert_eq!(messages(&committed), ["a secret was read: mail anyway?"]);
}

/// A limit that asks is one that holds in parallel: the second of two calls is asked about as the second.
#[test]
fn a_person_is_asked_all_that_clauses_ask_in_any_order() {
    let text = r#"
event { kind: string  tool: string }
predicate pays = kind == "call" and tool == "pay"
property few = G (count(pays) <= 1)
enforce few { violated => ask "the second payment: sure?" }
enforce when pays => ask "pay?"
"#;
    for hooked in [false, true] {
        let mut monitor = monitor(text, Options::default());
        monitor.set_hooked(hooked);
        assert_eq!(messages(&act(&mut monitor, "pay")), ["pay?"]);
        let second = act(&mut monitor, "pay");
        assert_eq!(second.ruling, Ruling::Ask);
        assert_eq!(messages(&second), ["the second payment: sure?", "pay?"]);
    }
}

/// A question may be answered at any time after it was asked, so windows of time are judged for both.
#[test]
fn a_late_answer_passes_no_window_of_time() {
    let text = r#"
event {
  kind: string
  tool: string
  at: time?
}
predicate reads = kind == "call" and tool == "read"
property apart = G (kind == "call" and tool == "mail" -> not once[0,3s] reads)
enforce apart { violated => block "a read was made less than 3 s ago" }
enforce when reads => ask "read?"
"#;
    let mut monitor = monitor(text, Options::default());
    let at = |seconds: i128| Some(Instant(seconds * Instant::SECOND));
    let mut act = |tool: &str, seconds| {
        monitor
            .act(event("call", tool).as_bytes(), at(seconds))
            .ruling
    };
    assert_eq!(act("mail", 0), Ruling::Allow);
    assert_eq!(act("read", 10), Ruling::Ask);
    assert_eq!(act("mail", 20), Ruling::Block);
    assert_eq!(act("list", 30), Ruling::Allow);
}

/// More orders than are kept are never taken for none.
#[test]
fn more_orders_than_are_kept_are_not_forgotten() {
    let text = r#"
event { kind: string  tool: string }
predicate deploys = kind == "call" and tool == "deploy"
property tested = G (tool == "push" -> not once (tool == "edit" and once deploys))
enforce tested { violated => block "edited after the deployment" }
track deployed: bool = false then deployed or deploys
track edits: int = 0 then if deployed and tool == "edit" then edits + 1 else edits
property counted = G (tool == "count" -> edits <= 3)
enforce counted { violated => block "too many edits" }
enforce when deploys => ask "deploy?"
"#;
    let options = || Options {
        histories: 3,
        ..Options::default()
    };
    // An action that leads to too many orders is denied, and the orders are known.
    let mut acting = monitor(text, options());
    let asked = act(&mut acting, "deploy");
    let rulings: Vec<Ruling> = (0..6).map(|_| act(&mut acting, "edit").ruling).collect();
    assert_eq!(rulings[0], Ruling::Allow);
    assert_eq!(rulings[5], Ruling::Block);
    acting.commit(
        asked.proposal.unwrap(),
        event("call", "deploy").as_bytes(),
        None,
    );
    let push = act(&mut acting, "push");
    assert_eq!(
        (push.ruling, push.reason().as_str()),
        (Ruling::Block, "edited after the deployment")
    );
    // Outcomes cannot be denied; what they leave open stays open after the answer.
    let mut seeing = monitor(text, options());
    let asked = act(&mut seeing, "deploy");
    for _ in 0..8 {
        seeing.observe(event("result", "edit").as_bytes(), None);
    }
    seeing.commit(
        asked.proposal.unwrap(),
        event("call", "deploy").as_bytes(),
        None,
    );
    let push = act(&mut seeing, "push");
    assert_eq!(push.ruling, Ruling::Block);
    assert!(push.reason().contains("`max-histories`"), "{push:?}");
}

/// The conditions of all orders together take the work of a step at most.
#[test]
fn the_work_of_all_orders_is_that_of_a_step() {
    let text = r#"
event { kind: string  tool: string  args: json? }
property apart = G (tool == "x" -> not any a in (args as list<int>? ?? []): any b in (args as list<int>? ?? []): a + b == 1)
enforce apart { violated => block "apart" }
enforce when kind == "ask" => ask "{tool}?"
"#;
    let mut monitor = monitor(
        text,
        Options {
            eval: guard_lang::eval::Limits {
                step_work: 20_000,
                ..Default::default()
            },
            ..Options::default()
        },
    );
    let event = |kind: &str| {
        let args: Vec<u32> = (2..102).collect();
        json!({"trace": "t", "kind": kind, "tool": "x", "args": args}).to_string()
    };
    for expected in [Ruling::Ask, Ruling::Block] {
        let decision = monitor.act(event("ask").as_bytes(), None);
        assert_eq!(decision.ruling, expected, "{decision:?}");
    }
    let alone = monitor.act(
        br#"{"trace":"u","kind":"call","tool":"x","args":[4]}"#,
        None,
    );
    assert_eq!(alone.ruling, Ruling::Allow);
}

const AGENTS: &str = r#"
use std.agent
predicate tests = kind == "call" and tool == "test"
predicate deploys = kind == "call" and tool == "deploy"
property tested = G (kind == "call" and tool == "push" -> (once tests) or not once deploys)
enforce tested { violated => block "tests first" }
enforce when deploys => ask "deploy?"
"#;

/// The main agent's own trace begins with the open questions, and with the orders in which those that were answered may have happened.
#[test]
fn a_trace_of_the_main_agent_begins_with_its_questions() {
    let session = Session::new();
    std::fs::write(&session.spec, AGENTS).unwrap();
    let call = |id: &str, tool: &str| session.before(id, tool, json!({}));
    assert_eq!(
        decision(&call("1", "deploy")),
        ("ask", "deploy? (kind = \"call\", tool = \"deploy\")")
    );
    let by_helper = json!({"tool_name": "test", "tool_input": {}, "tool_use_id": "2"});
    assert_eq!(
        session.ask("PreToolUse", Some("helper"), by_helper),
        Json::Null
    );
    // The tests of the sub-agent are none of the main agent's.
    assert_eq!(decision(&call("3", "push")).0, "deny");
    // The question ends in both traces.
    session.ask("Stop", None, json!({"stop_hook_active": true}));
    assert_eq!(call("4", "push"), Json::Null);
}

/// What only the trace of the main agent asks is shown beside what that of the session asks.
#[test]
fn both_traces_of_the_main_agent_ask() {
    let session = Session::new();
    let text = AGENTS.replace(
        "deploys => ask \"deploy?\"",
        "kind == \"call\" and tool == \"push\" => ask \"push?\"",
    );
    let text = text.replace(
        "block \"tests first\"",
        "ask \"you ran no tests: push anyway?\"",
    );
    std::fs::write(&session.spec, text).unwrap();
    let call = |id: &str, tool: &str| session.before(id, tool, json!({}));
    assert_eq!(call("1", "deploy"), Json::Null);
    let by_helper = json!({"tool_name": "test", "tool_input": {}, "tool_use_id": "2"});
    assert_eq!(
        session.ask("PreToolUse", Some("helper"), by_helper),
        Json::Null
    );
    let asked = call("3", "push");
    let (kind, reason) = decision(&asked);
    assert_eq!(kind, "ask");
    assert!(
        reason.contains("you ran no tests") && reason.contains("push?"),
        "{reason}"
    );
}

/// A person learns of a question that an outcome brings up about another call, also if the same clause asked about the call of the outcome.
#[test]
fn an_outcome_of_a_call_that_a_clause_asked_about_hides_no_question_of_it() {
    let session = Session::new();
    let text = r#"
use std.agent
predicate calls(t: string) = kind == "call" and tool == t
enforce when calls("b") => ask "b?"
enforce when calls("a") or calls("b") and once (kind == "result" and tool == "a") => ask "a, or b after a?"
"#;
    std::fs::write(&session.spec, text).unwrap();
    let call = |id: &str, tool: &str| session.before(id, tool, json!({}));
    assert_eq!(decision(&call("1", "b")).0, "ask");
    assert_eq!(decision(&call("2", "a")).0, "ask");
    let told = session.after("2", "a", json!({}), json!("done"));
    let refused = told["systemMessage"].as_str().unwrap();
    assert!(
        refused.starts_with("refuse the call that you are being asked about: a, or b after a?"),
        "{told}"
    );
}

/// A call that a person allowed, and that has happened, counts once, also while another question is open.
#[test]
fn an_allowed_call_counts_once_among_questions() {
    let text = r#"
event { kind: string  tool: string  big: bool? }
property few = G (count(kind == "call" and tool == "pay") <= 2)
enforce few { violated => block "at most two payments" }
enforce when big == true => ask "big?"
"#;
    let mut monitor = monitor(text, Options::default());
    let line = |tool: &str, big: bool| {
        format!(r#"{{"trace":"t","kind":"call","tool":"{tool}","big":{big}}}"#)
    };
    let mut act = |tool: &str, big: bool| monitor.act(line(tool, big).as_bytes(), None);
    let first = act("pay", true);
    assert_eq!(first.ruling, Ruling::Ask);
    assert_eq!(act("fetch", true).ruling, Ruling::Ask);
    assert_eq!(act("pay", false).ruling, Ruling::Allow);
    let number = first.proposal.unwrap();
    let done = monitor.commit(number, line("pay", true).as_bytes(), None);
    assert_eq!((done.ruling, messages(&done)), (Ruling::Allow, vec![]));
    assert_eq!(
        monitor.act(line("pay", false).as_bytes(), None).ruling,
        Ruling::Block
    );
}

/// An outcome after which an open question is denied in an order other than the recorded one says so.
#[test]
fn an_outcome_refuses_a_question_in_any_order() {
    let text = r#"
event { kind: string  tool: string  secret: bool? }
track level: int = 0 when kind == "result" and secret == true then level + 1 when kind == "call" and tool == "reset" then 0
property low = G (kind == "call" and tool == "pay" -> level <= 1)
enforce low { violated => block "too much is known" }
enforce when kind == "call" and tool in {"reset", "pay"} => ask "sure?"
"#;
    let mut monitor = monitor(text, Options::default());
    let secret = r#"{"trace":"t","kind":"result","tool":"read","secret":true}"#;
    let reset = act(&mut monitor, "reset");
    assert_eq!(reset.ruling, Ruling::Ask);
    assert_eq!(act(&mut monitor, "pay").ruling, Ruling::Ask);
    assert!(monitor.observe(secret.as_bytes(), None).refused.is_none());
    let line = event("call", "reset");
    monitor.commit(reset.proposal.unwrap(), line.as_bytes(), None);
    // Recorded: secret, reset, secret, so that the level is one. If the reset came first, it is two.
    let again = monitor.observe(secret.as_bytes(), None);
    assert!(again.refused.is_some());
}
