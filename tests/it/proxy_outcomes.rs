//! What is the outcome of a call through `guard proxy`, and what is none.

use guard_cli::integrations::mcp::Limits;

use crate::proxy_rules::{Peers, text};

/// A task or a question of which nothing more is heard may have been carried out.
#[test]
fn a_task_without_a_result_may_have_succeeded() {
    let spec = r#"use std.agent
predicate done = kind == "result" and call != null and tool == "refund" and error == false
property two = never (kind == "call" and tool == "refund" and count(done) >= 2)
enforce two { violated => block "two refunds were made" }
enforce when kind == "result" and text contains "EVIL" => block "no"
"#;
    let few = Limits {
        entries: 1,
        ..Limits::default()
    };
    let typed = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let question = |state: &str, more: &str| {
        format!(
            r#"{{"resultType":"input_required",{state}"inputRequests":{{"a":{{"message":"{more}"}}}}}}"#
        )
    };
    let state = |id: u32| format!(r#""requestState":"s{id}","#);
    for (way, limits) in [
        ("fetched", Limits::default()),
        ("cancelled", Limits::default()),
        ("cancelled and fetched again", Limits::default()),
        ("evicted", few),
        ("ended", Limits::default()),
        ("ended while it is fetched", Limits::default()),
        ("not accepted", Limits::default()),
        ("asked, ended", Limits::default()),
        ("asked, not told", Limits::default()),
        ("asked, evicted", few),
        ("asked twice with one state", Limits::default()),
        ("asked for nothing", Limits::default()),
        ("asked without a state, ended", Limits::default()),
        ("asked, tried otherwise, ended", Limits::default()),
    ] {
        let mut peers = Peers::with(spec, limits);
        let mut made = 0;
        for _ in 0..4 {
            let call =
                |more: &str| format!(r#"{{"name":"refund","arguments":{{}},{typed}{more}}}"#);
            let Ok(number) = peers.asks("tools/call", &call(r#","task":{}"#)) else {
                continue;
            };
            made += 1;
            let id = peers.asked;
            let of_task = format!(r#"{{"taskId":"T{id}"}}"#);
            if let Some(asked) = way.strip_prefix("asked") {
                let state = match asked {
                    " without a state, ended" => String::new(),
                    " twice with one state" => state(0),
                    _ => state(id),
                };
                let said = if asked == ", not told" { "EVIL" } else { "?" };
                match asked {
                    " for nothing" => peers.answers(number, r#"{"resultType":"input_required"}"#),
                    _ => peers.answers(number, &question(&state, said)),
                };
                if asked == ", evicted" {
                    let other = peers.asks("tools/call", &format!(r#"{{"name":"look",{typed}}}"#));
                    peers.answers(other.unwrap(), &question(r#""requestState":"o","#, "?"));
                }
                if asked == ", tried otherwise, ended" {
                    let other = format!(r#"{{"name":"look",{state}"arguments":{{}}}}"#);
                    peers.asks("tools/call", &other).unwrap();
                }
            } else {
                let status = if way == "not accepted" {
                    "EVIL"
                } else {
                    "working"
                };
                let task = format!(r#"{{"task":{{"taskId":"T{id}","status":"{status}"}}}}"#);
                peers.answers(number, &task);
            }
            match way {
                "fetched" => {
                    // A client that gives up after a time asks again.
                    peers.asks("tasks/result", &of_task).unwrap();
                    peers.client(&format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
                        peers.asked
                    ));
                    let number = peers.asks("tasks/result", &of_task).unwrap();
                    peers.answers(number, &text("refunded"));
                }
                "cancelled" => drop(peers.asks("tasks/cancel", &of_task).unwrap()),
                "cancelled and fetched again" => {
                    for _ in 0..2 {
                        peers.asks("tasks/cancel", &of_task).unwrap();
                    }
                }
                "evicted" => {
                    let other = peers.asks("tools/call", r#"{"name":"look","task":{}}"#);
                    peers.answers(
                        other.unwrap(),
                        &format!(r#"{{"task":{{"taskId":"o{id}"}}}}"#),
                    );
                }
                "ended while it is fetched" => drop(peers.asks("tasks/result", &of_task).unwrap()),
                _ => {}
            }
            // The second one of a state shows that there is no more of the first.
            if way.contains("ended") || made == 2 && way == "asked twice with one state" {
                peers.session.end(&mut peers.judge);
            }
        }
        assert_eq!(made, 2, "{way}");
    }
}

/// Progress, and that a call has become a task or needs input, is no outcome: a limit on outcomes does not count it.
#[test]
fn what_does_not_end_a_call_counts_for_no_limit() {
    const LIMIT: &str = r#"use std.agent
property few = G (count(kind == "result" and tool == "pay" and error == false) <= 1)
enforce few { violated => block "one payment" }
enforce when kind == "result" and tool == "pay" and text contains "EVIL" => block "no"
"#;
    let never = r#"use std.agent
predicate paid = kind == "result" and tool == "pay" and error == false
property few = never (paid and previously once paid)
enforce few { violated => block "one payment" }
enforce when kind == "result" and tool == "pay" and text contains "EVIL" => block "no"
"#;
    for spec in [LIMIT, never] {
        for (as_task, n_payments) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
            let mut peers = Peers::new(spec);
            let mut paid = Vec::new();
            for n in 0..n_payments {
                let task = if as_task { r#","task":{}"# } else { "" };
                let params = format!(
                    r#"{{"name":"pay","arguments":{{}}{task},"_meta":{{"progressToken":{n}}}}}"#
                );
                let mut number = peers.asks("tools/call", &params).unwrap();
                let mut progress = |message: &str| {
                    let line = format!(
                        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{n},"progress":1,"message":"{message}"}}}}"#
                    );
                    peers.server(&line).on.len()
                };
                assert_eq!((progress("half"), progress("EVIL")), (1, 0));
                if as_task {
                    let task = format!(r#"{{"task":{{"taskId":"T{n}"}}}}"#);
                    assert!(peers.answers(number, &task).contains("taskId"));
                    let of_task = format!(r#"{{"taskId":"T{n}"}}"#);
                    number = peers.asks("tasks/result", &of_task).unwrap();
                }
                paid.push(peers.answers(number, &text("paid")).contains("\"paid\""));
            }
            assert_eq!(paid, [true, false][..n_payments], "{as_task}");
        }
    }
}

/// A spec that may ask for what is no success, or no failure, is not told that a message is neither.
#[test]
fn what_is_no_outcome_is_null_for_specs_that_look_for_outcomes() {
    for (spec, only_looks) in [
        ("property p = never (kind == \"x\")", true),
        ("enforce when paid => block", true),
        (
            "enforce when error == true and kind == \"x\" => block",
            true,
        ),
        ("property p = G (count(paid) <= 1)", true),
        (
            "property p = G (count[0,5s](paid and tool == \"x\") <= 1)",
            true,
        ),
        ("property p = never (paid and eventually paid)", true),
        (
            "property p = never (kind == \"result\" and error == true)",
            true,
        ),
        ("property p = G (deploy -> once paid)", true),
        ("property p = G (paid -> eventually deploy)", true),
        ("property p = G (deploy -> not paid S deploy)", false),
        ("property p = G (deploy -> historically (not paid))", true),
        (
            "property p = G (deploy -> once (kind == \"result\" and error != true))",
            false,
        ),
        (
            "property p = G (deploy -> once (kind == \"result\" and not paid))",
            false,
        ),
        ("property p = G (deploy -> eventually (not paid))", false),
        ("property p = G (kind == \"result\" -> paid)", false),
        ("property p = G (paid or deploy)", false),
        ("property p = G (count(error != false) <= 1)", false),
        (
            "property p = G (count(kind == \"result\" and not paid) <= 1)",
            false,
        ),
        ("property p = G (count(error == null) <= 1)", false),
        ("property p = G (count(error ?? true) <= 1)", false),
        (
            "track t: bool? = null then error\nproperty p = never (t == false)",
            false,
        ),
        (
            "track t: bool = false then paid\nproperty p = never (t == false)",
            false,
        ),
        (
            "track n: int = 0 when paid then 0 when kind == \"result\" then n + 1\nproperty p = G (n < 3)",
            false,
        ),
    ] {
        let text = format!(
            "use std.agent\npredicate paid = kind == \"result\" and tool == \"pay\" and error == false\n\
            predicate deploy = kind == \"call\" and tool == \"deploy\"\n{spec}\n"
        );
        let peers = Peers::new(&text);
        assert_eq!(peers.judge.0.only_looks_for("error"), only_looks, "{spec}");
    }
}
