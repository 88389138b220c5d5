//! A limit of two, and eight concurrent clients through each interface: processes of `guard hook`, connections of
//! `guard serve`, lines of `guard monitor`, and calls of `guard proxy`. Exactly two calls must be allowed in every round.
//!
//! `GUARD_ROUNDS=1000 cargo test --test it parallel_limits:: -- --nocapture` runs a thousand rounds of each and prints the
//! counts. `recipes::` and `monitor_protocol::` read the same variable.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};

use serde_json::{Value as Json, json};

use crate::support::skip;

/// The limit is for each round, so that one trace may have many.
const SPEC: &str = r#"
use std.agent
predicate pays(n: json) = kind == "call" and tool == "pay" and args.round == n
property few = forall n: G (pays(n) -> count(pays(n)) <= 2)
enforce few { violated => block "two payments only" }
"#;

const CLIENTS: usize = 8;

fn rounds(default: usize) -> usize {
    let rounds = std::env::var("GUARD_ROUNDS").ok();
    rounds.and_then(|n| n.parse().ok()).unwrap_or(default)
}

fn folder() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("few.guard"), SPEC).unwrap();
    folder
}

fn guard(folder: &tempfile::TempDir, verb: &str) -> Command {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_guard"));
    guard
        .arg(verb)
        .arg("few.guard")
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    guard
}

/// Lets eight clients act at once, each by its number; two may say that they did.
fn race(way: &str, round: usize, act: impl Fn(usize) -> bool + Sync) {
    let (made, start) = (AtomicUsize::new(0), Barrier::new(CLIENTS));
    std::thread::scope(|scope| {
        for client in 0..CLIENTS {
            let (act, made, start) = (&act, &made, &start);
            scope.spawn(move || {
                start.wait();
                made.fetch_add(usize::from(act(client)), Ordering::Relaxed);
            });
        }
    });
    assert_eq!(made.into_inner(), 2, "{way}, round {round}");
}

fn report(way: &str, rounds: usize) {
    println!("{way}: {rounds} rounds of {CLIENTS} clients, 2 payments in each");
}

fn pay(round: usize) -> Json {
    json!({"trace": "t", "kind": "call", "role": "assistant", "tool": "pay", "args": {"round": round}})
}

/// Acts in one of the ways that the protocol has: `act`, or `before` and the decision of its `commit`.
fn pays(round: usize, client: usize, ask: impl Fn(Json) -> Json) -> bool {
    let denies = |decision: &Json| {
        let decision = decision["decision"].as_str().unwrap();
        ["ask", "block", "stop"].contains(&decision)
    };
    if client.is_multiple_of(2) {
        return !denies(&ask(json!({"phase": "act", "event": pay(round)})));
    }
    let proposed = ask(json!({"phase": "before", "event": pay(round)}));
    if denies(&proposed) {
        return false;
    }
    std::thread::yield_now();
    let number = &proposed["proposal"];
    !denies(&ask(
        json!({"phase": "commit", "proposal": number, "event": pay(round)}),
    ))
}

/// A process that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn of_hooks() {
    let folder = folder();
    let rounds = rounds(2);
    for round in 0..rounds {
        race("hook", round, |client| {
            let call = json!({
                "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "pay",
                "tool_input": {"round": round}, "tool_use_id": format!("{round}.{client}"),
            });
            let mut hook = guard(&folder, "hook")
                .args(["--state", "state"])
                .spawn()
                .unwrap();
            let mut to = hook.stdin.take().unwrap();
            to.write_all(call.to_string().as_bytes()).unwrap();
            drop(to);
            let output = hook.wait_with_output().unwrap();
            let err = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && err.is_empty(), "{err}");
            output.stdout.is_empty()
        });
    }
    report("hook", rounds);
}

#[test]
fn of_clients_of_a_server() {
    let folder = folder();
    let mut server = guard(&folder, "serve")
        .args(["--listen", "127.0.0.1:0", "--no-token"])
        .spawn()
        .unwrap();
    let mut said = String::new();
    let mut from = BufReader::new(server.stderr.take().unwrap());
    from.read_line(&mut said).unwrap();
    let _server = Running(server);
    let at = said.trim().rsplit('/').next().unwrap();
    let rounds = rounds(20);
    for round in 0..rounds {
        race("serve", round, |client| {
            pays(round, client, |line| {
                let mut stream = TcpStream::connect(at).unwrap();
                let line = line.to_string();
                let request = format!(
                    "POST /v1/decide HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{line}",
                    line.len()
                );
                stream.write_all(request.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                let (_, body) = answer.split_once("\r\n\r\n").unwrap();
                serde_json::from_str(body).unwrap()
            })
        });
    }
    report("serve", rounds);
}

#[test]
fn of_lines_of_a_monitor() {
    let folder = folder();
    let mut monitor = guard(&folder, "monitor").spawn().unwrap();
    let to = monitor.stdin.take().unwrap();
    let from = BufReader::new(monitor.stdout.take().unwrap());
    let _monitor = Running(monitor);
    let pipes = Mutex::new((to, from));
    let rounds = rounds(20);
    for round in 0..rounds {
        race("monitor", round, |client| {
            pays(round, client, |line| {
                let mut pipes = pipes.lock().unwrap();
                writeln!(pipes.0, "{line}").unwrap();
                let mut answer = String::new();
                pipes.1.read_line(&mut answer).unwrap();
                serde_json::from_str(&answer).unwrap()
            })
        });
    }
    report("monitor", rounds);
}

/// Answers every call with the number of calls of its round so far.
const SERVER: &str = r#"
import collections, json, sys
made = collections.Counter()
for line in sys.stdin:
    for call in (lambda m: m if isinstance(m, list) else [m])(json.loads(line)):
        round = call["params"]["arguments"]["round"]
        made[round] += 1
        result = {"content": [{"type": "text", "text": str(made[round])}]}
        print(json.dumps({"jsonrpc": "2.0", "id": call["id"], "result": result}), flush=True)
"#;

#[test]
fn of_calls_through_a_proxy() {
    let there = Command::new("python3").arg("--version").output();
    if there.is_err() {
        return skip("there is no python3");
    }
    let folder = folder();
    std::fs::write(folder.path().join("server.py"), SERVER).unwrap();
    let mut proxy = guard(&folder, "proxy")
        .args(["--", "python3", "server.py"])
        .spawn()
        .unwrap();
    let to = Mutex::new(proxy.stdin.take().unwrap());
    let mut from = BufReader::new(proxy.stdout.take().unwrap());
    let _proxy = Running(proxy);
    let rounds = rounds(20);
    for round in 0..rounds {
        std::thread::scope(|scope| {
            for client in 0..CLIENTS {
                let to = &to;
                scope.spawn(move || {
                    let call = json!({
                        "jsonrpc": "2.0", "id": round * CLIENTS + client, "method": "tools/call",
                        "params": {"name": "pay", "arguments": {"round": round}},
                    });
                    // Some in lists.
                    let line = match client.is_multiple_of(3) {
                        true => json!([call]),
                        false => call,
                    };
                    writeln!(to.lock().unwrap(), "{line}").unwrap();
                });
            }
        });
        let mut made = 0;
        for _ in 0..CLIENTS {
            let mut answer = String::new();
            from.read_line(&mut answer).unwrap();
            let mut answer: Json = serde_json::from_str(&answer).unwrap();
            if let Some(one) = answer.as_array_mut().and_then(Vec::pop) {
                answer = one;
            }
            let result = &answer["result"];
            if result["isError"] != true {
                let number: usize = result["content"][0]["text"]
                    .as_str()
                    .unwrap()
                    .parse()
                    .unwrap();
                assert!(number <= 2, "proxy, round {round}: {number} payments");
                made += 1;
            }
        }
        assert_eq!(made, 2, "proxy, round {round}");
    }
    report("proxy", rounds);
}
