//! What lasts longer than a request through `guard proxy`: tasks, subscriptions and questions, as well-behaved peers use them.

use guard_cli::integrations::mcp::Limits;

use crate::proxy_rules::{Peers, text};

const LIMIT: &str = r#"use std.agent
property one = always (count(kind == "result" and tool == "pay" and error == false) <= 1)
enforce one { violated => block "one payment" }
"#;

const CLEAN: &str = r#"use std.agent
property clean = never (kind == "call" and tool == "mail" and once (kind == "result" and text contains "SECRET"))
enforce clean { violated => block "no mail after a secret" }
"#;

const TYPED: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
const ACCEPTED: &str = r#"{"resultType":"task","taskId":"T","status":"working","createdAt":"2026-12-01T00:00:00Z","lastUpdatedAt":"2026-12-01T00:00:00Z","ttlMs":60000,"pollIntervalMs":10}"#;
const PAID: &str = r#"{"resultType":"complete","content":[{"type":"text","text":"paid"}]}"#;

fn call(peers: &mut Peers, tool: &str, args: &str) -> Result<u64, String> {
    let params = format!(r#"{{"name":"{tool}","arguments":{args},{TYPED}}}"#);
    peers.asks("tools/call", &params)
}

/// Asks for the state of the task, and returns what the client reads.
fn polls(peers: &mut Peers, state: &str) -> String {
    let number = peers.asks("tasks/get", &format!(r#"{{"taskId":"T",{TYPED}}}"#));
    let state = format!(r#"{{"resultType":"complete",{state}}}"#);
    peers.answers(number.unwrap(), &state)
}

/// Tells the state of the task; whether the client hears it.
fn tells(peers: &mut Peers, state: &str) -> bool {
    let line =
        format!(r#"{{"jsonrpc":"2.0","method":"notifications/tasks","params":{{{state}}}}}"#);
    !peers.server(&line).on.is_empty()
}

fn state(status: &str, outcome: &str) -> String {
    format!(r#""taskId":"T","status":"{status}","ttlMs":60000{outcome}"#)
}

/// From version 2026-07-28 on the server decides that a call becomes a task, and its outcome comes with the state of the task.
#[test]
fn a_task_of_the_server_is_one_payment() {
    let completed = state("completed", &format!(r#","result":{PAID}"#));
    let isnt = r#","result":{"content":[],"isError":true}"#;
    for (way, is_paid) in [
        ("polled", true),
        ("polled twice", true),
        ("told", true),
        ("told and polled", true),
        ("failed", false),
        ("an error", false),
    ] {
        let mut peers = Peers::new(LIMIT);
        let number = call(&mut peers, "pay", "{}").unwrap();
        assert!(peers.answers(number, ACCEPTED).contains("working"));
        let asks = state("input_required", r#","inputRequests":{}"#);
        for open in [state("working", ""), asks] {
            assert!(polls(&mut peers, &open).contains("60000"));
            assert!(tells(&mut peers, &open));
        }
        // It has been neither paid nor not paid yet.
        assert!(call(&mut peers, "other", "{}").is_ok());
        for step in way.split(" and ") {
            match step {
                "told" => assert!(tells(&mut peers, &completed), "{way}"),
                "failed" => assert!(polls(&mut peers, &state("completed", isnt)).contains("isE")),
                "an error" => {
                    let error = r#","error":{"code":-32603,"message":"no"}"#;
                    assert!(polls(&mut peers, &state("failed", error)).contains("-32603"));
                }
                _ => assert!(polls(&mut peers, &completed).contains("paid"), "{way}"),
            }
            if step == "polled twice" {
                assert!(polls(&mut peers, &completed).contains("paid"));
            }
        }
        assert!(call(&mut peers, "other", "{}").is_ok(), "{way}");
        // Nothing is left to be known of it.
        peers.session.end(&mut peers.judge);
        let number = call(&mut peers, "pay", "{}").expect(way);
        assert_eq!(peers.answers(number, PAID).contains("\"paid\""), !is_paid);
    }
}

/// The outcome of a task has the tool, the arguments and the name of the call, whichever message contains it.
#[test]
fn the_outcome_of_a_task_of_the_server_is_that_of_its_call() {
    let spec = r#"use std.agent
enforce when kind == "result" and tool == "web" and args.url == "x" and call != null and text contains "FORBIDDEN" => block "no"
enforce when kind == "result" and tool == "web" and call == null and text contains "IGNORE" => block "no"
"#;
    let completed = state(
        "completed",
        r#","result":{"content":[{"text":"FORBIDDEN"}]}"#,
    );
    let again = state("completed", r#","result":{"content":[{"text":"IGNORE"}]}"#);
    for (tool, url, passes) in [("web", "x", false), ("web", "y", true), ("calm", "x", true)] {
        for is_polled in [false, true] {
            let mut peers = Peers::new(spec);
            let number = call(&mut peers, tool, &format!(r#"{{"url":"{url}"}}"#)).unwrap();
            peers.answers(number, ACCEPTED);
            let mut reads = |state: &str| match is_polled {
                true => polls(&mut peers, state).contains("completed"),
                false => tells(&mut peers, state),
            };
            assert_eq!(reads(&completed), passes, "{tool} {url}");
            // Nor is a text unjudged because the outcome is known.
            assert_eq!(reads(&again), tool != "web", "{tool} {url}");
        }
    }
}

/// If readers may differ on whose result a message contains, it may be that of any tool.
#[test]
fn a_state_of_a_task_that_readers_may_differ_on_may_be_of_any_tool() {
    let spec = r#"use std.agent
enforce when kind == "result" and tool == "web" and text contains "FORBIDDEN" => block "no"
"#;
    let result = r#""result":{"content":[{"type":"text","text":"FORBIDDEN"}]}"#;
    let mut doubtful = vec![
        format!(r#""taskId":"T","status":"completed",{result}"#),
        format!(r#""taskId":"U","status":"completed",{result}"#),
        format!(r#""taskId":1,"status":"completed",{result}"#),
        format!(r#""status":"completed",{result}"#),
        format!(r#""taskId":"T","status":"working",{result}"#),
        format!(r#""taskId":"T","status":1,{result}"#),
        format!(r#""taskId":"T",{result}"#),
        format!(r#""taskId":"T","TaskId":"U","status":"completed",{result}"#),
        format!(r#""taskId":"T","status":"completed","Result":{{}},{result}"#),
        format!(r#""taskId":"T","status":"completed","tasks":[{{{result}}}],{result}"#),
        format!(r#""taskId":"T","status":"completed","_meta":{{{result}}},{result}"#),
        format!(r#""taskId":"T","status":"failed","error":{{"code":1,{result}}}"#),
        format!(r#""taskId":"T","status":"failed","error":{{}},{result}"#),
        r#""taskId":"T","status":"completed","result":"FORBIDDEN""#.to_owned(),
    ];
    // The error of the task itself holds what it likes.
    let known = [doubtful.remove(0), doubtful.remove(10)];
    let read = |said: &str, accepted: &str| {
        let mut peers = Peers::new(spec);
        let number = call(&mut peers, "calm", "{}").unwrap();
        peers.answers(number, accepted);
        [
            polls(&mut peers, said).contains("FORB"),
            tells(&mut peers, said),
        ]
    };
    for said in &known {
        assert_eq!(read(said, ACCEPTED), [true, true], "{said}");
        // Of another task, which nobody knows.
        let other = ACCEPTED.replace("\"T\"", "\"U\"");
        assert_eq!(read(said, &other), [false, false], "{said}");
    }
    for said in &doubtful {
        assert_eq!(read(said, ACCEPTED), [false, false], "{said}");
    }
    // The result of one task is none of another one, although both are known.
    let mut peers = Peers::new(spec);
    for task in ["T", "U"] {
        let number = call(&mut peers, "calm", "{}").unwrap();
        peers.answers(number, &ACCEPTED.replace("\"T\"", &format!("\"{task}\"")));
    }
    assert!(!polls(&mut peers, &doubtful[0]).contains("FORB"));
    // In version 2025-11-25 the state of a task has no result.
    let mut peers = Peers::new(spec);
    let params = r#"{"name":"calm","task":{}}"#;
    let number = peers.asks("tools/call", params).unwrap();
    peers.answers(number, r#"{"task":{"taskId":"T"}}"#);
    assert!(!polls(&mut peers, &known[0]).contains("FORB"));
}

/// A result beside the task is read by clients that know no tasks: it may be the outcome.
#[test]
fn an_accepted_task_says_nothing_else() {
    for (more, is_open) in [
        ("", true),
        (r#","statusMessage":"soon","_meta":{}"#, true),
        (r#","content":[]"#, false),
        (r#","isError":false"#, false),
        (r#","result":{}"#, false),
        (r#","Status":"completed""#, false),
    ] {
        let mut peers = Peers::new(LIMIT);
        for task in ["T", "U"] {
            let number = call(&mut peers, "pay", "{}").unwrap();
            let said = ACCEPTED.replace("\"T\"", &format!("\"{task}\""));
            peers.answers(
                number,
                &said.replace(r#","ttl"#, &format!(r#"{more},"ttl"#)),
            );
        }
        let passes = call(&mut peers, "other", "{}").is_ok();
        assert_eq!(passes, is_open, "{more}");
        // A server that accepts it may have paid.
        peers.session.end(&mut peers.judge);
        assert!(call(&mut peers, "other", "{}").is_err(), "{more}");
    }
}

/// A client may fetch the result of a task as often as it likes.
#[test]
fn a_result_that_is_fetched_again_is_no_further_outcome() {
    let mut peers = Peers::new(LIMIT);
    let begun = |peers: &mut Peers, task: &str| {
        let number = peers.asks("tools/call", r#"{"name":"pay","task":{}}"#);
        peers.answers(
            number.unwrap(),
            &format!(r#"{{"task":{{"taskId":"{task}"}}}}"#),
        );
    };
    let fetch = |peers: &mut Peers, task: &str, result: &str| {
        let number = peers.asks("tasks/result", &format!(r#"{{"taskId":"{task}"}}"#));
        peers.answers(number.unwrap(), result)
    };
    begun(&mut peers, "T");
    for _ in 0..3 {
        assert!(fetch(&mut peers, "T", &text("paid")).contains("\"paid\""));
    }
    assert!(peers.call("other", "{}").is_ok());
    // Another task is another payment.
    begun(&mut peers, "U");
    assert!(!fetch(&mut peers, "U", &text("paid")).contains("\"paid\""));

    // What says something else is an outcome: the server is not to be believed.
    let spec = r#"use std.agent
property two = never (kind == "call" and tool == "other" and once (kind == "result" and tool == "pay" and error == true))
enforce two { violated => block "it failed" }
"#;
    let mut peers = Peers::new(spec);
    begun(&mut peers, "T");
    fetch(&mut peers, "T", &text("paid"));
    assert!(peers.call("other", "{}").is_ok());
    fetch(&mut peers, "T", r#"{"content":[],"isError":true}"#);
    assert!(peers.call("other", "{}").is_err());
}

fn listens(peers: &mut Peers) -> u64 {
    let params = format!(r#"{{"notifications":{{"toolsListChanged":true}},{TYPED}}}"#);
    peers.asks("subscriptions/listen", &params).unwrap()
}

/// A subscription has no answer unless the server ends it by one, and all that it delivers is judged.
#[test]
fn a_subscription_that_ends_leaves_nothing_unknown() {
    let few = Limits {
        entries: 1,
        ..Limits::default()
    };
    for (way, limits) in [
        ("by the client", Limits::default()),
        ("by the server", Limits::default()),
        ("with the connection", Limits::default()),
        ("for a newer one", few),
    ] {
        let heard = format!(
            "{CLEAN}property heard = always (kind == \"call\" and tool == \"mail\" -> \
            once (kind == \"result\" and tool == \"subscriptions/listen\" and call != null and error == false))\n\
            enforce heard {{ violated => block \"it is open\" }}\n"
        );
        let mut peers = Peers::with(&heard, limits);
        // Its number is another one than its id.
        assert!(call(&mut peers, "mail", "{}").is_err());
        let number = listens(&mut peers);
        let id = peers.asked;
        let noted = |name: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/{name}","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":{number}}}}}}}"#
            )
        };
        let changed = noted("tools/list_changed");
        for line in [noted("subscriptions/acknowledged"), changed.clone()] {
            assert_eq!(peers.server(&line).on.len(), 1);
        }
        let denied = call(&mut peers, "mail", "{}").unwrap_err();
        assert!(denied.contains("it is open"), "{denied}");
        let cancel = |id: u64| {
            format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id},"reason":"SECRET"}}}}"#
            )
        };
        match way {
            "by the client" => assert_eq!(peers.client(&cancel(id.into())).on.len(), 1),
            "by the server" => {
                let told = peers.server(&cancel(number)).on;
                let params = format!(r#""params":{{"requestId":{id}}}"#);
                assert!(told.len() == 1 && told[0].contains(&params), "{told:?}");
                assert_eq!(peers.server(&cancel(number)).on.len(), 0);
            }
            "with the connection" => drop(peers.session.end(&mut peers.judge)),
            _ => drop(peers.asks("ping", "{}")),
        }
        assert_eq!(call(&mut peers, "mail", "{}").err(), None, "{way}");
        // It is over: nothing more comes.
        assert_eq!(peers.server(&changed).on.len(), 0, "{way}");
        let late = format!(
            r#"{{"jsonrpc":"2.0","id":{number},"result":{}}}"#,
            text("SECRET")
        );
        assert_eq!(peers.server(&late).on.len(), 0, "{way}");
    }
}

/// A server ends nothing of the client but subscriptions, and of two requests of one number its own.
#[test]
fn a_server_cancels_no_call_of_the_client() {
    let mut peers = Peers::new(CLEAN);
    let cancelled = |peers: &mut Peers, id: &str| {
        let line = format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
        );
        !peers.server(&line).on.is_empty()
    };
    let number = call(&mut peers, "slow", "{}").unwrap();
    assert!(!cancelled(&mut peers, &number.to_string()));
    assert!(peers.answers(number, &text("done")).contains("done"));
    let number = listens(&mut peers);
    for other in [
        format!("\"{number}\""),
        format!("{number}.5"),
        "{}".to_owned(),
    ] {
        assert!(!cancelled(&mut peers, &other), "{other}");
    }
    peers.server(&format!(
        r#"{{"jsonrpc":"2.0","id":{number},"method":"ping"}}"#
    ));
    let id = number.to_string();
    let ends = [(); 3].map(|()| cancelled(&mut peers, &id));
    // Its own ping, the subscription, and nothing.
    assert_eq!(ends, [true, true, false]);
}

/// The names of the protocol's own messages are no text of the server.
#[test]
fn names_of_the_protocol_are_no_text() {
    let spec = r#"use std.agent
enforce when kind == "result" and (text contains "acknowledged" or text contains "notifications/tasks") => block "no"
"#;
    let mut peers = Peers::new(spec);
    let number = listens(&mut peers);
    for (method, passes) in [
        ("notifications/subscriptions/acknowledged", true),
        ("notifications/tasks", true),
        ("notifications/tasks/status", true),
        ("notifications/tasks/acknowledged", false),
    ] {
        let params = format!(
            r#"{{"notifications":{{"toolsListChanged":true}},"_meta":{{"io.modelcontextprotocol/subscriptionId":{number}}}}}"#
        );
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        assert_eq!(!peers.server(&line).on.is_empty(), passes, "{method}");
    }
}

/// A server that keeps the state of a call itself sends none with its question.
#[test]
fn a_question_without_a_state_is_no_outcome() {
    const ASKS: &str = r#"{"resultType":"input_required","inputRequests":{"q":{"method":"elicitation/create","params":{"message":"sure?"}}}}"#;
    let answered = |more: &str| {
        format!(
            r#"{{"name":"pay","arguments":{{"x":1}},{TYPED},"inputResponses":{{"q":{{"action":"accept"}}}}{more}}}"#
        )
    };
    let null = ASKS.replace("\"inputR", "\"requestState\":null,\"inputR");
    for asks in [ASKS, null.as_str()] {
        for more in ["", r#","requestState":null"#] {
            let mut peers = Peers::new(LIMIT);
            let number = call(&mut peers, "pay", r#"{"x":1}"#).unwrap();
            assert!(peers.answers(number, asks).contains("sure"));
            let number = peers.asks("tools/call", &answered(more)).expect(more);
            assert!(peers.answers(number, PAID).contains("\"paid\""), "{more}");
            assert!(call(&mut peers, "other", "{}").is_ok());
            // The question is answered: nothing more may have been paid.
            peers.session.end(&mut peers.judge);
            assert!(call(&mut peers, "other", "{}").is_ok());
        }
    }
    // One that is left is asked again by another call, which is another payment.
    let mut peers = Peers::new(LIMIT);
    for _ in 0..2 {
        let number = call(&mut peers, "pay", r#"{"x":1}"#).unwrap();
        assert!(peers.answers(number, ASKS).contains("sure"));
    }
    let number = peers.asks("tools/call", &answered("")).unwrap();
    assert!(peers.answers(number, PAID).contains("\"paid\""));
    assert!(call(&mut peers, "other", "{}").is_ok());
    peers.session.end(&mut peers.judge);
    assert!(call(&mut peers, "other", "{}").is_err());
}
