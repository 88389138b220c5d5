//! `guard proxy` between a scripted client and a server.

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
property no_mail = never (kind == "call" and tool == "mail" and once (kind == "result" and text contains "SECRET"))
enforce no_mail { violated => block "no mail after a secret" }
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
            elif p["name"] == "never":
                continue
            elif p["name"] == "twice":
                r = json.dumps({"content": [{"type": "text", "text": "SECRET"}]})
                print('{"jsonrpc":"2.0","id":%s,"result":{},"result":%s}' % (json.dumps(m["id"]), r), flush=True)
                continue
            elif p["name"] == "escaped":
                r = json.dumps({"content": [{"type": "text", "text": "SECRET"}]})
                print('{"jsonrpc":"2.0","id":%s,"result":%s}' % (p["arguments"]["id"], r), flush=True)
                continue
            elif p["name"] == "chatty":
                print("starting up ...\n\x00{{", flush=True)
                r = {"content": [{"type": "text", "text": "done"}]}
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
    folder: tempfile::TempDir,
}

impl Client {
    /// None where there is no Python to run the server.
    fn new() -> Option<Client> {
        Client::with(&[], None)
    }

    /// With more arguments, and files no larger than so many blocks of 512 bytes.
    fn with(args: &[&str], blocks: Option<u32>) -> Option<Client> {
        Client::of(SPEC, SERVER, args, blocks)
    }

    fn of(text: &str, program: &str, args: &[&str], blocks: Option<u32>) -> Option<Client> {
        if Command::new("python3").arg("--version").output().is_err() {
            crate::support::skip("there is no python3");
            return None;
        }
        let folder = tempfile::tempdir().unwrap();
        let (spec, server) = (
            folder.path().join("mcp.guard"),
            folder.path().join("server.py"),
        );
        std::fs::write(&spec, text).unwrap();
        std::fs::write(&server, program).unwrap();
        let mut command = match blocks {
            None => Command::new(env!("CARGO_BIN_EXE_guard")),
            Some(blocks) => {
                let mut shell = Command::new("sh");
                let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" \"$@\"");
                shell.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_guard"));
                shell
            }
        };
        let mut proxy = command
            .arg("proxy")
            .arg(&spec)
            .args(args)
            .current_dir(folder.path())
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
            folder,
        })
    }

    fn ask(&mut self, line: &str) -> Json {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.from.read_line(&mut answer).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    fn hello(&mut self) {
        let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2026-07-28"}}"#;
        assert_eq!(self.ask(hello)["result"]["serverInfo"]["name"], "t");
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

/// Its answers hold the text of the arguments, and say in any way whether they are errors.
const ECHO: &str = r#"
import sys, json
sys.stderr.write("\x1b[31m{\"v\":1,\"decision\":\"allow\"}\n")
for line in sys.stdin:
    message = json.loads(line)
    if message["method"] == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}
    else:
        given = message["params"]["arguments"]
        result = {"content": [{"type": "text", "text": given.pop("text", "x")}], **given}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// Python takes `1` and `"true"` for true, JavaScript all that is not empty.
#[test]
fn an_answer_whose_error_is_no_truth_value_is_no_success() {
    let spec = "use std.agent\npredicate tested = kind == \"result\" and tool == \"test\" and error == false\n\
        property first = G ((kind == \"call\" and tool == \"deploy\") -> O tested)\n\
        enforce first { violated => block \"tests first\" }\n";
    for (error, deploys) in [
        (json!({}), true),
        (json!({"isError": false}), true),
        (json!({"isError": true}), false),
        (json!({"isError": 1}), false),
        (json!({"isError": "true"}), false),
        (json!({"isError": []}), false),
        (json!({"IsError": true}), false),
    ] {
        let Some(mut client) = Client::of(spec, ECHO, &[], None) else {
            return;
        };
        client.hello();
        client.call(1, "test", json!({"arguments": error}));
        let deployed = client.call(2, "deploy", json!({"arguments": {}}));
        assert_eq!(text(&deployed).0 == "x", deploys, "{error}: {deployed}");
    }
}

/// It says what the arguments of a call contain, and answers the other requests with text that rules forbid.
const SCRIPTED: &str = r#"
import sys, json
for line in sys.stdin:
    message = json.loads(line)
    result = {"content": [{"type": "text", "text": "FORBIDDEN"}]}
    if message["method"] == "initialize":
        result = {"protocolVersion": "2026-07-28", "capabilities": {}, "serverInfo": {"name": "t", "version": "1"}}
    elif message["method"] == "tools/call":
        # each task has an id of its own
        says = json.loads(json.dumps(message["params"]["arguments"]).replace('"T"', '"T%s"' % message["id"]))
        if "message" in says:
            said = says["message"]
            if "id" in said: said["id"] = message["id"]
            print(json.dumps({"jsonrpc": "2.0", **said}), flush=True)
            continue
        result = says["result"]
    elif message["method"] == "tasks/get":
        result = {"taskId": "T", "status": "completed", "result": result}
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

/// Only a finished answer says that a call succeeded: not what the server says before, and not an answer that leaves it open.
#[test]
fn what_does_not_end_a_call_is_no_success() {
    // These conditions hold for every result without a failure. For an open answer, they must be unknown.
    for success in [
        "error == false",
        "error != true",
        "not (error ?? false)",
        "not (error == true and tool != \"x\")",
    ] {
        is_no_success(success);
    }
}

fn is_no_success(success: &str) {
    let spec = format!(
        "use std.agent\nproperty first = G ((kind == \"call\" and tool == \"deploy\") -> O (kind == \"result\" and tool != \"initialize\" and {success}))\n\
        enforce first {{ violated => block \"tests first\" }}\n"
    );
    let content = json!([{"type": "text", "text": "compiling"}]);
    let progress = json!({"progressToken": "p", "progress": 1, "message": "compiling"});
    let log = json!({"level": "info", "data": "compiling"});
    let sampling = json!({"messages": [{"role": "user", "content": content[0]}], "maxTokens": 5});
    let question = json!({"mode": "form", "message": "go on?", "requestedSchema": {}});
    let asks = json!({"a": {"method": "elicitation/create", "params": question}});
    let task = json!({"taskId": "T", "status": "working"});
    let result = |result: Json| json!({"result": result});
    let message =
        |method: &str, params: &Json| json!({"message": {"method": method, "params": params}});
    // The server takes the id of the call, so that it is a new one.
    let request = |method: &str, params: &Json| json!({"message": {"id": 0, "method": method, "params": params}});
    let open = [
        result(json!({"resultType": "pending", "content": content})),
        result(json!({"resultType": 1, "content": content})),
        result(json!({"RESULTTYPE": "pending", "content": content})),
        result(json!({"resultType": "input_required", "requestState": "s", "inputRequests": asks})),
        result(json!({"resultType": "input_required", "requestState": "s", "content": content})),
        result(json!({"resultType": "task", "taskId": "T", "status": "working"})),
        result(json!({"task": task})),
        result(json!({"task": task, "content": content})),
        result(json!({"i\u{17f}Error": true, "content": content})),
        result(json!({})),
        result(json!({"content": null})),
        result(json!({"_meta": {"x": "y"}})),
        message("notifications/progress", &progress),
        message("notifications/message", &log),
        message("notifications/tasks/status", &task),
        message("notifications/x", &log),
        request("sampling/createMessage", &sampling),
        request("elicitation/create", &question),
    ];
    let Some(mut client) = Client::of(&spec, SCRIPTED, &[], None) else {
        return;
    };
    client.hello();
    let done = json!({"arguments": {"result": {"content": []}}});
    for (n, says) in (0..).zip(&open) {
        let mut params = json!({"arguments": says, "_meta": {"progressToken": "p"}});
        // The same as the answer of a call that asks for a task.
        for id in [3 * n + 1, 3 * n + 2] {
            let said = client.call(id, "test", params.clone());
            let passed = said["result"]["isError"] != true && said.get("error").is_none();
            assert!(passed, "{said}");
            params["task"] = json!({"ttl": 60_000});
        }
        let denied = client.call(3 * n + 3, "deploy", done.clone());
        let (reason, is_error) = text(&denied);
        assert!(
            reason.starts_with("tests first") && is_error,
            "{says}: {reason}"
        );
    }
    for success in [
        json!({"content": content}),
        json!({"content": []}),
        json!({"structuredContent": {"passed": 1}}),
        json!({"content": content, "isError": false, "resultType": "complete"}),
    ] {
        let mut client = Client::of(&spec, SCRIPTED, &[], None).unwrap();
        client.hello();
        client.call(1, "test", json!({"arguments": {"result": success}}));
        let deployed = client.call(2, "deploy", done.clone());
        assert_eq!(deployed["result"], json!({"content": []}), "{success}");
    }
}

/// The table of tasks is not kept: what is read of a task that was begun before the proxy was, or was given up, may be of any tool.
#[test]
fn the_result_of_a_task_that_is_not_known_may_be_of_any_tool() {
    let spec = "use std.agent\nenforce when kind == \"result\" and tool == \"web\" and text contains \"FORBIDDEN\" => block \"no\"\n\
        enforce when kind == \"result\" and args.url == \"x\" and text contains \"FORBIDDEN\" => block \"no\"\n";
    let ask = |client: &mut Client, id: u32, method: &str, task: &str| {
        let params = json!({"taskId": task});
        client.ask(
            &json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string(),
        )
    };
    let Some(mut client) = Client::of(spec, SCRIPTED, &["--max-open", "1"], None) else {
        return;
    };
    client.hello();
    let mut begin = |id: u32, tool: &str, task: &str| {
        let accepted = json!({"result": {"task": {"taskId": task, "status": "working"}}});
        let params = json!({"arguments": accepted, "task": {"ttl": 60_000}});
        let begun = client.call(id, tool, params);
        assert_eq!(begun["result"]["task"]["taskId"], task);
    };
    begin(1, "web", "T1");
    begin(2, "calm", "T2");
    // It is not denied because it is a task.
    assert_eq!(
        text(&ask(&mut client, 3, "tasks/result", "T2")),
        ("FORBIDDEN", false)
    );
    // Given up for the other one, never begun, and the result of a task at another place.
    for (method, task) in [
        ("tasks/result", "T1"),
        ("tasks/result", "T2 "),
        ("tasks/get", "T2"),
    ] {
        let result = ask(&mut client, 4, method, task).to_string();
        assert!(!result.contains("FORBIDDEN"), "{method} {task}: {result}");
    }
    let mut again = Client::of(spec, SCRIPTED, &[], None).unwrap();
    again.hello();
    assert!(text(&ask(&mut again, 1, "tasks/result", "T2")).1);
}

/// A spec with an `event` of its own, whose optional members are null if they are left out.
#[test]
fn what_is_unknown_is_no_null() {
    let spec = "event { kind: string  tool: string?  text: string?  error: bool?  result: json? }\n\
        property clean = never (kind == \"call\" and tool == \"mail\" and O (kind == \"result\" and text contains \"SECRET\"))\n\
        enforce clean { violated => block \"no mail after a secret\" }\n";
    let Some(mut client) = Client::of(spec, SERVER, &[], None) else {
        return;
    };
    client.hello();
    assert!(!text(&client.call(1, "mail", json!({}))).1);
    assert!(text(&client.call(2, "twice", json!({}))).1);
    assert_eq!(
        text(&client.call(3, "mail", json!({}))),
        (
            "no mail after a secret (data of an earlier step is unknown)",
            true
        )
    );
}

/// The client asks a person about calls only.
#[test]
fn questions_about_answers_are_not_passed_on() {
    let spec = "use std.agent\nenforce when kind == \"result\" and text contains \"ODD\" => ask \"look\"\n\
        enforce when kind == \"call\" and tool == \"delete\" => ask \"sure?\"\n";
    let Some(mut client) = Client::of(spec, ECHO, &["--ask", "pass"], None) else {
        return;
    };
    client.hello();
    let deleted = client.call(1, "delete", json!({"arguments": {"text": "gone"}}));
    assert_eq!(text(&deleted), ("gone", false));
    let odd = client.call(2, "read", json!({"arguments": {"text": "ODD"}}));
    assert_eq!(text(&odd), ("needs a person's decision: look", true));
}

/// What a server writes to its error output is marked as the server's, and is text.
#[test]
fn the_error_output_of_a_server_is_its_own() {
    let Some(client) = Client::of(SPEC, ECHO, &[], None) else {
        return;
    };
    let output = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args(["proxy", "mcp.guard", "--", "python3", "server.py"])
        .current_dir(client.folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        said.lines().all(|line| line.starts_with("server: ")),
        "{said:?}"
    );
    assert!(
        said.contains("{\"v\":1,") && !said.contains('\u{1b}'),
        "{said:?}"
    );
}

#[test]
fn calls_are_judged_before_the_server_sees_them() {
    let Some(mut client) = Client::new() else {
        return;
    };
    client.hello();
    let paid = client.call(1, "pay", json!({"arguments": {"eur": 5}}));
    assert_eq!(text(&paid), ("{\"eur\": 5}", false));
    let denied = client.call(2, "pay", json!({"arguments": {"eur": 6}}));
    assert_eq!(text(&denied), ("one payment a run", true));
    assert_eq!(denied["result"]["resultType"], "complete");
    let asked = client.call(3, "delete", json!({"arguments": {"path": "/x"}}));
    assert_eq!(
        text(&asked),
        ("needs a person's decision: delete /x?", true)
    );
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
    client.hello();
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
    let inside = client.ask(inside);
    assert_eq!(inside["error"]["code"], -32700);
    // Whoever asked waits for an answer of this id.
    assert_eq!(inside["id"], 2);
    // A notification that has an id is read as a notification by some, and as a request by others.
    let both = client.ask(
        r#"{"jsonrpc":"2.0","id":5,"method":"notifications/cancelled","params":{"requestId":1}}"#,
    );
    assert_eq!(
        (&both["id"], both["error"]["code"].is_i64()),
        (&json!(5), true),
        "{both}"
    );
    // A server in C ends the name at the NUL, others cut or skip the rest.
    for name in [
        "pay\0",
        "pay\n",
        " pay",
        "pay\u{200b}",
        "p\u{7f}ay",
        "pay\u{a0}",
    ] {
        let call =
            json!({"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": name}});
        let refused = client.ask(&call.to_string());
        assert_eq!(refused["error"]["code"], -32602, "{name:?}: {refused}");
        let prompt =
            json!({"jsonrpc": "2.0", "id": 7, "method": "prompts/get", "params": {"name": name}});
        assert_eq!(
            client.ask(&prompt.to_string())["error"]["code"],
            -32602,
            "{name:?}"
        );
    }
    // Escaped, it would be six times as long.
    let flood = json!({"jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": {"name": "x", "arguments": {"a": "\u{7f}".repeat(5_000)}}});
    assert_eq!(client.ask(&flood.to_string())["error"]["code"], -32600);
    let list = client.ask(
        r#"[{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"pay"}},{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"pay"}}]"#,
    );
    assert_eq!(list[0]["result"]["isError"], true);
}

/// Of a list, what may pass goes on and is made, and the denials go back: nothing counts as made that the server never saw.
#[test]
fn of_a_list_the_calls_that_may_pass_are_made() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let call = |id: u32, tool: &str| json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": tool}});
    let denied = client.ask(&json!([call(1, "pay"), call(2, "pay")]).to_string());
    assert_eq!(denied.as_array().map(Vec::len), Some(1), "{denied}");
    assert_eq!(
        (&denied[0]["id"], &denied[0]["result"]["isError"]),
        (&json!(2), &json!(true))
    );
    let mut answer = String::new();
    client.from.read_line(&mut answer).unwrap();
    let made: Json = serde_json::from_str(&answer).unwrap();
    let made = made.get(0).unwrap_or(&made);
    assert_eq!((&made["id"], text(made).1), (&json!(1), false), "{made}");
}

/// What readers may differ on, or what is written in another way, is no way around a clause on results.
#[test]
fn answers_that_readers_may_differ_on_are_denied() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let twice = client.call(1, "twice", json!({}));
    assert_eq!(twice["id"], 1);
    assert!(
        text(&twice).0.contains("was not checked") && text(&twice).1,
        "{twice}"
    );
    let odd = client.call(2, "escaped", json!({"arguments": {"id": "2.0"}}));
    assert_eq!(text(&odd), ("the result held a secret", true));
    let call = json!({"name": "escaped", "arguments": {"id": "3e0"}});
    let call = json!({"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": call});
    assert_eq!(
        text(&client.ask(&call.to_string())),
        ("the result held a secret", true)
    );
    // What is no JSON at all is left out, and the rest goes on.
    assert_eq!(text(&client.call(3, "chatty", json!({}))), ("done", false));
}

#[test]
fn a_result_that_is_too_long_is_an_unknown_result() {
    let Some(mut client) = Client::with(&["--max-message-bytes", "2000"], None) else {
        return;
    };
    client.hello();
    // The server quotes it once more, which makes it too long.
    assert!(!text(&client.call(9, "mail", json!({}))).1);
    let answer = client.call(1, "echo", json!({"arguments": {"a": "\"".repeat(600)}}));
    let (why, is_error) = text(&answer);
    assert!(
        is_error && why.contains("the answer of the server was not checked"),
        "{answer}"
    );
    assert_eq!(answer["id"], 1);
    // It may have held a secret.
    let answer = client.call(2, "mail", json!({}));
    let reason = "no mail after a secret (data of an earlier step is unknown)";
    assert_eq!(text(&answer), (reason, true));
    // The client's own line is refused, and the connection goes on.
    let long = client.ask(&format!(
        r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"{}"}}}}"#,
        "x".repeat(3000)
    ));
    assert_eq!(
        (&long["id"], &long["error"]["code"]),
        (&json!(3), &json!(-32700))
    );
}

#[test]
fn an_id_that_is_in_use_is_refused() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let never =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "never"}});
    writeln!(client.to.as_mut().unwrap(), "{never}").unwrap();
    let again = client.call(1, "pay", json!({"arguments": {"eur": 5}}));
    assert_eq!(again["error"]["code"], -32600);
    let paid = client.call(2, "pay", json!({}));
    assert!(!text(&paid).1, "nothing was counted");
}

/// A client that writes without reading, and calls that never come to an end, are bounded; nothing is lost.
#[test]
fn a_flood_is_answered_and_bounded() {
    let Some(mut client) = Client::new() else {
        return;
    };
    const CALLS: u32 = 12_000;
    const ANSWERED: u32 = 1_500;
    let mut to = client.to.take().unwrap();
    let writer = std::thread::spawn(move || {
        for id in 0..CALLS {
            let name = if id < CALLS - ANSWERED {
                "never"
            } else {
                "look"
            };
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {"name": name}});
            writeln!(to, "{call}").unwrap();
        }
        to
    });
    // The oldest are given up, in order, and told so; no call that is answered is.
    let (mut given_up, mut answered) = (0, 0);
    while answered < ANSWERED {
        let mut answer = String::new();
        client.from.read_line(&mut answer).unwrap();
        let answer: Json = serde_json::from_str(&answer).unwrap();
        if text(&answer).1 {
            let reason = "too many requests are open: this one is given up";
            assert_eq!((&answer["id"], text(&answer).0), (&json!(given_up), reason));
            given_up += 1;
        } else {
            assert_eq!(answer["id"], CALLS - ANSWERED + answered);
            answered += 1;
        }
    }
    assert!((501..=CALLS - 10_000).contains(&given_up), "{given_up}");
    drop(writer.join().unwrap());
    assert_eq!(client.proxy.wait().unwrap().code(), Some(7));
}

/// A server that sends what is dropped does not stop the proxy, although nobody reads its error output.
#[test]
fn reports_that_nobody_reads_stop_nothing() {
    if Command::new("python3").arg("--version").output().is_err() {
        return crate::support::skip("there is no python3");
    }
    let folder = tempfile::tempdir().unwrap();
    let server = "import sys, json\n\
        for line in sys.stdin:\n\
        \x20   for i in range(3000):\n\
        \x20       print(json.dumps({'jsonrpc': '2.0', 'id': 900000 + i, 'result': {}}))\n\
        \x20   print(json.dumps({'jsonrpc': '2.0', 'id': json.loads(line)['id'], 'result': {}}), flush=True)\n";
    std::fs::write(folder.path().join("server.py"), server).unwrap();
    std::fs::write(folder.path().join("spec.guard"), "use std.agent\n").unwrap();
    let mut proxy = Command::new(env!("CARGO_BIN_EXE_guard"))
        .args(["proxy", "spec.guard", "--", "python3", "server.py"])
        .current_dir(folder.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut to = proxy.stdin.take().unwrap();
    writeln!(
        to,
        "{}",
        json!({"jsonrpc": "2.0", "id": 7, "method": "ping"})
    )
    .unwrap();
    let mut from = BufReader::new(proxy.stdout.take().unwrap());
    let (said, heard) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let mut answer = String::new();
        from.read_line(&mut answer).map(|_| said.send(answer))
    });
    let answer = heard.recv_timeout(std::time::Duration::from_secs(60));
    drop(to);
    proxy.wait().unwrap();
    let mut reports = String::new();
    let mut errors = proxy.stderr.take().unwrap();
    std::io::Read::read_to_string(&mut errors, &mut reports).unwrap();
    assert!(
        answer.is_ok_and(|answer| answer.contains("\"id\":7")),
        "{}",
        reports.len()
    );
    assert!(reports.contains("further messages") && reports.len() < 40_000);
}

/// A client that stops within a line, and one that says nothing, hold up neither the server nor the end.
#[test]
fn a_client_that_stalls_still_hears_the_server() {
    let Some(mut client) = Client::new() else {
        return;
    };
    let slow =
        json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "look"}});
    let to = client.to.as_mut().unwrap();
    write!(to, "{slow}\n{{\"jsonrpc\":\"2.0\",\"id\":2,\"meth").unwrap();
    to.flush().unwrap();
    let mut answer = String::new();
    client.from.read_line(&mut answer).unwrap();
    assert_eq!(serde_json::from_str::<Json>(&answer).unwrap()["id"], 1);
    // The line is never finished: it is no call.
    drop(client.to.take());
    answer.clear();
    client.from.read_line(&mut answer).unwrap();
    assert_eq!(
        serde_json::from_str::<Json>(&answer).unwrap()["error"]["code"],
        -32700
    );
    assert_eq!(client.proxy.wait().unwrap().code(), Some(7));
}

#[test]
fn on_a_full_disk_calls_are_denied() {
    let Some(mut client) = Client::with(&["--journal", "j", "--log", "l"], Some(8)) else {
        return;
    };
    let answers: Vec<Json> = (0..40)
        .map(|id| client.call(id, "look", json!({"arguments": {"n": id}})))
        .collect();
    let first = answers.iter().position(|answer| text(answer).1).unwrap();
    assert!(first > 0, "{}", answers[0]);
    for answer in &answers[first..] {
        assert!(text(answer).1, "{answer}");
    }
    assert!(
        text(&answers[first]).0.contains("cannot write"),
        "{}",
        answers[first]
    );
}
