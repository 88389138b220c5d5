//! `guard proxy` between a scripted client and a server.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that cannot go on fails"
)]

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

const SPEC: &str = r#"
use std.agent
predicate pays = kind == "call" and tool == "pay"
property once_only = G (count(pays) <= 1)
enforce once_only { violated => block "one payment a run" }
property no_secret = never (kind == "result" and text contains "SECRET")
enforce no_secret { violated => block "the result held a secret" }
enforce when kind == "call" and tool == "delete" => ask "delete {args.path}?"
"#;

/// A server that answers every call with its arguments, and asks for input about `book`.
const SERVER: &str = r#"
import json, sys
for line in sys.stdin:
    m = json.loads(line)
    for m in (m if isinstance(m, list) else [m]):
        if m.get("method") == "initialize":
            r = {"protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}
        elif m.get("method") == "tools/call":
            p = m["params"]
            if p["name"] == "book" and "requestState" not in p:
                r = {"resultType": "input_required", "requestState": "st-1", "inputRequests": {}}
            elif p["name"] == "fail":
                print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32602, "message": "no"}}), flush=True)
                continue
            else:
                r = {"resultType": "complete", "content": [{"type": "text", "text": json.dumps(p.get("arguments"))}]}
        else:
            continue
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
sys.exit(7)
"#;

struct Client {
    proxy: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    _folder: tempfile::TempDir,
}

impl Client {
    /// None where there is no Python to run the server.
    fn new() -> Option<Client> {
        if Command::new("python3").arg("--version").output().is_err() {
            eprintln!("skipped: there is no python3");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (spec, server) = (
            folder.path().join("mcp.guard"),
            folder.path().join("server.py"),
        );
        std::fs::write(&spec, SPEC).unwrap();
        std::fs::write(&server, SERVER).unwrap();
        let mut proxy = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("proxy")
            .arg(&spec)
            .args(["--", "python3"])
            .arg(&server)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let to = proxy.stdin.take();
        let from = BufReader::new(proxy.stdout.take().unwrap());
        Some(Client {
            proxy,
            to,
            from,
            _folder: folder,
        })
    }

    fn ask(&mut self, line: &str) -> Json {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn call(&mut self, id: u32, tool: &str, params: Json) -> Json {
        let mut all = json!({"name": tool});
        all.as_object_mut()
            .unwrap()
            .extend(params.as_object().unwrap().clone());
        self.ask(
            &json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": all}).to_string(),
        )
    }
}

fn text(answer: &Json) -> (&str, bool) {
    let result = &answer["result"];
    (
        result["content"][0]["text"].as_str().unwrap(),
        result["isError"] == true,
    )
}

#[test]
fn calls_are_judged_before_the_server_sees_them() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let hello = client.ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#);
    assert_eq!(hello["result"]["serverInfo"]["name"], "t");
    let paid = client.call(1, "pay", json!({"arguments": {"eur": 5}}));
    assert_eq!(text(&paid), ("{\"eur\": 5}", false));
    let denied = client.call(2, "pay", json!({"arguments": {"eur": 6}}));
    assert_eq!(text(&denied), ("one payment a run", true));
    assert_eq!(denied["result"]["resultType"], "complete");
    let asked = client.call(3, "delete", json!({"arguments": {"path": "/x"}}));
    assert_eq!(text(&asked), ("a person must decide: delete /x?", true));
    let secret = client.call(4, "read", json!({"arguments": {"file": "SECRET"}}));
    assert_eq!(
        (secret["id"].as_u64(), text(&secret)),
        (Some(4), ("the result held a secret", true))
    );
    let failed = client.call(5, "fail", json!({}));
    assert_eq!(failed["error"]["code"], -32602);
    drop(client.to.take());
    assert_eq!(
        client.proxy.wait().unwrap().code(),
        Some(7),
        "the server's exit code is the proxy's"
    );
}

#[test]
fn a_call_that_is_tried_again_with_input_is_one_action() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let spec_counts_pay_only = client.call(1, "book", json!({"arguments": {"a": 1}}));
    assert_eq!(
        spec_counts_pay_only["result"]["resultType"],
        "input_required"
    );
    let done = client.call(
        2,
        "book",
        json!({"arguments": {"a": 1}, "requestState": "st-1", "inputResponses": {}}),
    );
    assert_eq!(text(&done), ("{\"a\": 1}", false));
}

#[test]
fn lines_that_readers_may_differ_on_are_not_passed_on() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let twice = client.ask(
        r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","method":"ping","params":{"name":"pay"}}"#,
    );
    assert_eq!(twice["error"]["code"], -32700);
    assert_eq!(client.ask("garbage")["error"]["code"], -32700);
    let inside = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pay","arguments":{"a":1,"a":2}}}"#;
    assert_eq!(client.ask(inside)["error"]["code"], -32700);
    let list = client.ask(
        r#"[{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"pay"}}]"#,
    );
    assert_eq!(list[1]["result"]["isError"], true);
}
