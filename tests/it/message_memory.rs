//! The memory that one large message takes through each interface, relative to its length, without the memory that the process
//! had before.
//!
//! `cargo test --release --test it message_memory:: -- --ignored --nocapture` prints all figures. Unoptimized builds take more.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use crate::support::skip;

const SPEC: &str = r#"
use std.agent
property clean = never (kind == "result" and text contains "IGNORE ALL PREVIOUS")
enforce clean { violated => block "kept back" }
enforce when kind == "call" and args.x == "rm" => block "no"
"#;

/// Answers each call with the content in a file of the name that it is given.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    call = json.loads(line)
    content = open(call["params"]["arguments"].get("file", "small")).read()
    print('{"jsonrpc":"2.0","id":%s,"result":{"content":[%s]}}' % (json.dumps(call["id"]), content), flush=True)
"#;

const LENGTH: usize = 50 << 20;
const LINE: &str = "a line of text\\n";

/// The most memory that a process ever had, in bytes; 0 if it has ended.
fn peak(process: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<usize>().ok());
    kib.unwrap_or(0) * 1024
}

/// Text in so many blocks, all of a length.
fn content(blocks: usize) -> String {
    let lines = (LENGTH / blocks).saturating_sub(26) / LINE.len();
    let block = format!(r#"{{"type":"text","text":"{}"}}"#, LINE.repeat(lines));
    vec![block; blocks].join(",")
}

struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn guard(folder: &tempfile::TempDir, args: &[&str]) -> Running {
    let mut guard = Command::new(env!("CARGO_BIN_EXE_guard"));
    guard.args(args).current_dir(folder.path());
    let pipes = guard.stdin(Stdio::piped()).stdout(Stdio::piped());
    Running(pipes.stderr(Stdio::piped()).spawn().unwrap())
}

/// Sends lines to a process that answers each, and returns by how much the last one raised its peak.
fn raised(mut running: Running, lines: [&str; 2]) -> usize {
    let mut to = running.0.stdin.take().unwrap();
    let mut from = BufReader::new(running.0.stdout.take().unwrap());
    let mut ask = |line: &str| {
        to.write_all(line.as_bytes()).unwrap();
        to.write_all(b"\n").unwrap();
        let mut answer = Vec::new();
        from.read_until(b'\n', &mut answer).unwrap();
        assert!(!answer.is_empty());
        peak(running.0.id())
    };
    let before = ask(lines[0]);
    ask(lines[1]) - before
}

fn of_a_hook(folder: &tempfile::TempDir, call: &str) -> usize {
    let state = format!("state{}", call.len());
    let peak_of = |call: &str| {
        let mut hook = guard(folder, &["hook", "t.guard", "--state", &state]);
        let mut to = hook.0.stdin.take().unwrap();
        let id = hook.0.id();
        let watch = std::thread::spawn(move || {
            // The process that judges is its child.
            let (mut own, mut judges) = (0, 0);
            while let Ok(children) =
                std::fs::read_to_string(format!("/proc/{id}/task/{id}/children"))
            {
                let Some(now) = Some(peak(id)).filter(|now| *now > 0) else {
                    break;
                };
                own = own.max(now);
                let child = children.split_whitespace().next();
                judges = judges.max(child.and_then(|id| id.parse().ok()).map_or(0, peak));
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
            own + judges
        });
        to.write_all(call.as_bytes()).unwrap();
        drop(to);
        let mut errors = String::new();
        hook.0
            .stderr
            .take()
            .unwrap()
            .read_to_string(&mut errors)
            .unwrap();
        assert_eq!(
            (hook.0.wait().unwrap().code(), errors.as_str()),
            (Some(0), "")
        );
        watch.join().unwrap()
    };
    let small = peak_of(&hook_call("\"small\""));
    peak_of(call).saturating_sub(small)
}

fn hook_call(response: &str) -> String {
    format!(
        r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"r","tool_input":{{}},"tool_use_id":"1","tool_response":[{response}]}}"#
    )
}

fn of_a_server(folder: &tempfile::TempDir, call: &str) -> usize {
    let body = (2 * LENGTH).to_string();
    let args = [
        "serve",
        "t.guard",
        "--listen",
        "127.0.0.1:0",
        "--no-token",
        "--max-body",
        &body,
    ];
    let mut server = guard(folder, &args);
    let mut said = String::new();
    let mut from = BufReader::new(server.0.stderr.take().unwrap());
    from.read_line(&mut said).unwrap();
    let at = said.trim().rsplit('/').next().unwrap().to_owned();
    let ask = |call: &str| {
        let mut stream = TcpStream::connect(&at).unwrap();
        let length = call.len();
        let head = format!(
            "POST /v1/hook HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(call.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        peak(server.0.id())
    };
    let before = ask(&hook_call("\"small\""));
    ask(call) - before
}

#[test]
#[ignore = "takes a minute, and holds in optimized builds"]
fn is_at_most_five_times_the_message() {
    if Command::new("python3").arg("--version").output().is_err() {
        return skip("there is no python3");
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
    write("t.guard", SPEC);
    write("server.py", SERVER);
    write("small", r#"{"type":"text","text":"small"}"#);
    let tool_call = |args: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"r","arguments":{args}}}}}"#
        )
    };
    let proxy = || guard(&folder, &["proxy", "t.guard", "--", "python3", "server.py"]);
    let (small, large) = (tool_call("{}"), tool_call(r#"{"file":"large"}"#));
    let mut more = Vec::new();
    for blocks in [1, 2, 1_000, 100_000] {
        let content = content(blocks);
        write("large", &content);
        let event = |text: &str| {
            format!(
                r#"{{"trace":"t","kind":"result","role":"tool","tool":"r","args":[{text}],"text":"x"}}"#
            )
        };
        let call = hook_call(&content);
        let ways = [
            ("proxy, from the server", raised(proxy(), [&small, &large])),
            (
                "proxy, from the client",
                raised(
                    proxy(),
                    [&small, &tool_call(&format!("{{\"a\":[{content}]}}"))],
                ),
            ),
            (
                "monitor",
                raised(
                    guard(&folder, &["monitor", "t.guard"]),
                    [&event(""), &event(&content)],
                ),
            ),
            ("serve", of_a_server(&folder, &call)),
            ("hook, both processes", of_a_hook(&folder, &call)),
        ];
        for (way, bytes) in ways {
            let ratio = bytes as f64 / content.len() as f64;
            println!("{blocks} blocks, {way}: {ratio:.2}");
            // Four parts, and what the allocator has not yet returned when the message is copied to be passed on or recorded.
            if ratio > 5.0 {
                more.push(format!("{blocks} blocks, {way}: {ratio:.2}"));
            }
        }
    }
    assert!(more.is_empty(), "{more:#?}");
}

/// The other members of an object around a list of spans are facts of all of them: they are held once, not once for each span.
#[test]
fn facts_around_spans_are_held_once() {
    const SPANS: usize = 4000;
    if !std::path::Path::new("/proc/self/status").exists() {
        return skip("needs /proc");
    }
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: String| std::fs::write(folder.path().join(name), text).unwrap();
    write("t.guard", SPEC.to_owned());
    let span = r#"{"name":"execute_tool ls","spanId":"1"}"#;
    let spans = vec![span; SPANS].join(",");
    let facts: String = (0..SPANS).map(|at| format!(",\"k{at}\":0")).collect();
    write(
        "spans.json",
        format!(r#"{{"traceId":"t","spans":[{spans}]{facts}}}"#),
    );
    let mut audit = guard(
        &folder,
        &["audit", "t.guard", "spans.json", "--from", "otel"],
    );
    let mut most = 0;
    let status = loop {
        if let Some(status) = audit.0.try_wait().unwrap() {
            break status;
        }
        most = most.max(peak(audit.0.id()));
        std::thread::sleep(std::time::Duration::from_millis(1));
    };
    assert_eq!(status.code(), Some(0));
    // As copies they took 1 GB.
    assert!(most < 400 << 20, "{most}");
}
