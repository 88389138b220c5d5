//! `guard dap` as an editor uses it: a process with length-prefixed messages in both directions.
use std::io::{BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::editor::read_message;

const SPEC: &str = r#"event {
  tool: string
  amount: int?
  args: json = unknown
  at: time?
}

predicate pays = tool == "pay"
predicate named(t: string) = tool == t
let price = amount ?? 0
track total: int = 0 then total + price

property asked =
  always (pays -> once tool == "ask")
unsafe too_much = total > 10 message "{total} paid"

test "no question" {
  given [
    {tool: "look"},
    {tool: "pay", amount: 3},
  ]
  expect asked violated at 1
  expect total == 3
}
"#;

const RUNS: &str = r#"{"id": "good", "events": [{"tool": "ask", "at": 0}, {"tool": "pay", "amount": 4, "at": 2}]}
{"id": "bad", "events": [{"tool": "look", "args": {"where": ["a", "b"]}, "at": 1}, {"tool": "pay", "amount": 6, "at": 3}, {"tool": "look", "at": 4}, {"tool": "pay", "amount": 7, "at": 9.5}]}
"#;

/// A client of `guard dap`.
struct Client {
    adapter: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStdout>,
    seq: i64,
    /// The events that were received and not yet looked at.
    events: Vec<Value>,
}

impl Client {
    fn start() -> Client {
        let mut adapter = Command::new(env!("CARGO_BIN_EXE_guard"))
            .arg("dap")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Client {
            to: adapter.stdin.take(),
            from: BufReader::new(adapter.stdout.take().unwrap()),
            adapter,
            seq: 0,
            events: Vec::new(),
        }
    }

    fn send_raw(&mut self, bytes: &[u8]) {
        let to = self.to.as_mut().unwrap();
        write!(to, "Content-Length: {}\r\n\r\n", bytes.len()).unwrap();
        to.write_all(bytes).unwrap();
        to.flush().unwrap();
    }

    /// The answer to a request, as it is.
    fn answer(&mut self, command: &str, arguments: Value) -> Value {
        self.seq += 1;
        let seq = self.seq;
        let request =
            json!({"seq": seq, "type": "request", "command": command, "arguments": arguments});
        self.send_raw(request.to_string().as_bytes());
        self.answer_to(seq)
    }

    fn answer_to(&mut self, seq: i64) -> Value {
        loop {
            let message = read_message(&mut self.from);
            if message["type"] == "response" {
                assert_eq!(message["request_seq"], seq, "{message}");
                return message;
            }
            assert_eq!(message["type"], "event", "{message}");
            self.events.push(message);
        }
    }

    /// The body of the answer to a request that succeeds.
    fn ask(&mut self, command: &str, arguments: Value) -> Value {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], true, "{command}: {answer}");
        assert_eq!(answer["command"], command);
        answer["body"].clone()
    }

    /// The reason why a request fails.
    fn refused(&mut self, command: &str, arguments: Value) -> String {
        let answer = self.answer(command, arguments);
        assert_eq!(answer["success"], false, "{command}: {answer}");
        answer["message"].as_str().unwrap().to_owned()
    }

    /// The next event of a name; others are dropped.
    fn event(&mut self, name: &str) -> Value {
        loop {
            let next = match self.events.is_empty() {
                true => read_message(&mut self.from),
                false => self.events.remove(0),
            };
            if next["event"] == name {
                return next["body"].clone();
            }
        }
    }

    /// Starts a session up to the point where breakpoints are set.
    fn launched(arguments: Value) -> Client {
        let mut client = Client::start();
        let can = client.ask("initialize", json!({"adapterID": "guard"}));
        assert_eq!(can["supportsStepBack"], true);
        client.ask("launch", arguments);
        client.event("initialized");
        client
    }

    /// Moves; the description of where the session stands then.
    fn moved(&mut self, command: &str) -> String {
        self.ask(command, json!({"threadId": 1}));
        let stopped = self.event("stopped");
        stopped["description"].as_str().unwrap().to_owned()
    }

    /// Names and values in a scope.
    fn scope(&mut self, name: &str) -> Vec<(String, String)> {
        let scopes = self.ask("scopes", json!({"frameId": 1}));
        let scopes = scopes["scopes"].as_array().unwrap();
        let Some(scope) = scopes.iter().find(|scope| scope["name"] == name) else {
            return Vec::new();
        };
        let reference = scope["variablesReference"].clone();
        self.variables(reference)
    }

    fn variables(&mut self, reference: Value) -> Vec<(String, String)> {
        let found = self.ask("variables", json!({"variablesReference": reference}));
        let found = found["variables"].as_array().unwrap().iter();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        found
            .map(|one| (text(&one["name"]), text(&one["value"])))
            .collect()
    }

    fn value(&mut self, scope: &str, name: &str) -> String {
        let all = self.scope(scope);
        let found = all.iter().find(|(own, _)| own == name);
        found
            .unwrap_or_else(|| panic!("{scope} has no {name}: {all:?}"))
            .1
            .clone()
    }

    fn frames(&mut self) -> Vec<Value> {
        let found = self.ask("stackTrace", json!({"threadId": 1}));
        found["stackFrames"].as_array().unwrap().clone()
    }

    fn evaluate(&mut self, expression: &str) -> String {
        let found = self.ask(
            "evaluate",
            json!({"expression": expression, "context": "watch"}),
        );
        found["result"].as_str().unwrap().to_owned()
    }

    /// Ends the session in order.
    fn close(mut self) {
        self.ask("disconnect", json!({}));
        assert_eq!(self.adapter.wait().unwrap().code(), Some(0));
    }
}

/// A folder with a spec and recorded traces.
struct Files {
    folder: tempfile::TempDir,
}

impl Files {
    fn new() -> Files {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("shop.guard"), SPEC).unwrap();
        std::fs::write(folder.path().join("runs.jsonl"), RUNS).unwrap();
        Files { folder }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn launch(&self, more: &Value) -> Client {
        Client::launched(self.arguments(more))
    }

    fn arguments(&self, more: &Value) -> Value {
        let mut arguments = json!({"spec": self.path("shop.guard")});
        for (key, value) in more.as_object().unwrap() {
            arguments[key] = value.clone();
        }
        arguments
    }

    fn runs(&self, more: &Value) -> Client {
        let mut arguments = more.clone();
        arguments["runs"] = json!(self.path("runs.jsonl"));
        self.launch(&arguments)
    }
}

/// The line of a text in the spec, from 1.
fn line(text: &str) -> usize {
    let at = SPEC.find(text).unwrap_or_else(|| panic!("{text}"));
    SPEC[..at].lines().count() + 1
}

fn breakpoints(client: &mut Client, path: &Path, lines: &[usize]) -> Vec<Value> {
    let lines: Vec<Value> = lines.iter().map(|line| json!({"line": line})).collect();
    let found = client.ask(
        "setBreakpoints",
        json!({"source": {"path": path}, "breakpoints": lines}),
    );
    found["breakpoints"].as_array().unwrap().clone()
}

#[test]
fn a_trace_is_stepped_in_both_directions() {
    let files = Files::new();
    let mut client = files.runs(&json!({"trace": "bad"}));
    client.ask("setExceptionBreakpoints", json!({"filters": []}));
    client.ask("configurationDone", json!({}));
    let entry = client.event("stopped");
    assert_eq!(
        (&entry["reason"], &entry["threadId"]),
        (&json!("entry"), &json!(1))
    );

    assert_eq!(client.value("Event", "tool"), "\"look\"");
    assert_eq!(client.value("Predicates", "pays"), "false");
    assert_eq!(client.value("Tracks", "total"), "0");
    let asked = client.value("Properties", "asked");
    assert!(asked.starts_with("presumably satisfied, state "), "{asked}");

    assert_eq!(client.moved("next"), "step 1");
    assert_eq!(client.value("Predicates", "pays"), "true");
    assert_eq!(client.value("Definitions", "price"), "6");
    assert_eq!(client.value("Tracks", "total"), "6");
    let asked = client.value("Properties", "asked");
    assert!(
        asked.starts_with("violated since step 1, state "),
        "{asked}"
    );
    let clock = client.scope("Clock");
    assert_eq!(
        clock[1],
        ("since the first step".to_owned(), "2s".to_owned())
    );

    assert_eq!(client.moved("stepIn"), "step 2");
    let clock = client.scope("Clock");
    assert_eq!(clock[1].1, "3s");
    assert_eq!(clock[2].1, "1s");
    assert_eq!(client.moved("stepBack"), "step 1");
    assert_eq!(client.value("Tracks", "total"), "6");
    assert_eq!(client.moved("stepBack"), "step 0");
    // There is nothing before the first step.
    assert_eq!(client.moved("stepBack"), "step 0");
    assert_eq!(client.value("Tracks", "total"), "0");

    // Without breakpoints it runs to the end, where the verdicts are those of the whole trace.
    assert_eq!(client.moved("continue"), "end of the trace");
    assert_eq!(client.scope("Event"), Vec::new());
    assert_eq!(
        client.value("Properties", "too_much"),
        "violated since step 3"
    );
    assert_eq!(client.value("Tracks", "total"), "13");
    assert_eq!(client.moved("reverseContinue"), "step 0");
    assert_eq!(client.moved("continue"), "end of the trace");
    client.ask("continue", json!({"threadId": 1}));
    assert_eq!(client.event("exited"), json!({"exitCode": 1}));
    client.event("terminated");
    client.close();
}

#[test]
fn it_stops_where_something_of_the_spec_begins() {
    let files = Files::new();
    let mut client = files.runs(&json!({"trace": "bad"}));
    let spec = files.path("shop.guard");
    let lines = [
        line("predicate pays"),
        line("predicate named"),
        line("track total"),
        // Within the formula: it moves to where the property begins.
        line("  always (pays"),
    ];
    let found = breakpoints(&mut client, &spec, &lines);
    let verified: Vec<&Value> = found.iter().map(|one| &one["verified"]).collect();
    assert_eq!(verified, [true, false, true, true]);
    assert!(
        found[1]["message"]
            .as_str()
            .unwrap()
            .contains("without parameters")
    );
    assert_eq!(found[3]["line"], line("property asked"));
    let elsewhere = breakpoints(&mut client, &files.path("runs.jsonl"), &[1]);
    assert_eq!(elsewhere[0]["message"], "not a file of the spec");
    let where_else = client.ask(
        "breakpointLocations",
        json!({"source": {"path": spec}, "line": 1, "endLine": 15}),
    );
    let where_else: Vec<u64> = where_else["breakpoints"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["line"].as_u64().unwrap())
        .collect();
    let expected = [
        "predicate pays",
        "let price",
        "track total",
        "property asked",
        "unsafe",
    ];
    assert_eq!(where_else, expected.map(|text| line(text) as u64));
    client.ask("setExceptionBreakpoints", json!({"filters": []}));
    client.ask("configurationDone", json!({}));
    client.event("stopped");

    // Payment, total and verdict at once: all of them are hit, and the first one has the word.
    client.ask("continue", json!({"threadId": 1}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "breakpoint");
    assert_eq!(stopped["description"], "pays is true");
    assert_eq!(stopped["hitBreakpointIds"].as_array().unwrap().len(), 3);
    let frames = client.frames();
    assert_eq!(frames[0]["name"], "step 1: tool = \"pay\"");
    assert_eq!(frames[0]["line"], line("predicate pays"));
    assert_eq!(frames[1]["line"], 2);
    assert!(
        frames[1]["source"]["path"]
            .as_str()
            .unwrap()
            .ends_with("runs.jsonl")
    );
    assert_eq!(client.moved("continue"), "pays is true");
    assert_eq!(client.value("Tracks", "total"), "13");
    assert_eq!(client.moved("reverseContinue"), "pays is true");
    assert_eq!(client.value("Tracks", "total"), "6");

    // A condition narrows it; lines are replaced as a whole.
    let condition = json!({"line": line("predicate pays"), "condition": "amount == 7"});
    let wrong = json!({"line": line("predicate pays"), "condition": "amont == 7"});
    let found = client.ask(
        "setBreakpoints",
        json!({"source": {"path": spec}, "breakpoints": [condition, wrong]}),
    );
    assert_eq!(found["breakpoints"][0]["verified"], true);
    assert_eq!(found["breakpoints"][1]["verified"], false);
    let why = found["breakpoints"][1]["message"].as_str().unwrap();
    assert!(why.contains("amont"), "{why}");
    client.ask("restart", json!({}));
    client.event("stopped");
    assert_eq!(client.moved("continue"), "pays is true");
    assert_eq!(client.value("Tracks", "total"), "13");
    client.close();
}

#[test]
fn it_stops_in_the_modules_that_the_spec_uses() {
    let files = Files::new();
    std::fs::create_dir(files.path("lib")).unwrap();
    let module = files.path("lib/mail.guard");
    let texts = [
        "predicate mails = tool == \"mail\"",
        "let price = amount ?? 0",
        "track mailed: int = 0 then mailed + (if mails then 1 else 0)",
        "predicate idle = tool == \"wait\"",
    ];
    std::fs::write(&module, texts.join("\n")).unwrap();
    let spec = "use lib.mail\nevent {\n  tool: string\n  amount: int?\n}\n\
        predicate price = tool == \"price\"\n\
        property few = always (mail.mailed < 5 and mail.price < 10 and not price)\n";
    std::fs::write(files.path("post.guard"), spec).unwrap();
    let events =
        json!([{"tool": "look"}, {"tool": "mail", "amount": 3}, {"tool": "mail", "amount": 3}]);
    std::fs::write(
        files.path("post.jsonl"),
        json!({"id": "a", "events": events}).to_string(),
    )
    .unwrap();
    let paths = json!({"spec": files.path("post.guard"), "runs": files.path("post.jsonl")});
    let mut client = files.launch(&paths);
    let found = breakpoints(&mut client, &module, &[1, 2, 3, 4]);
    let verified: Vec<&Value> = found.iter().map(|one| &one["verified"]).collect();
    assert_eq!(verified, [true, true, true, false]);
    let why = found[3]["message"].as_str().unwrap();
    assert!(why.contains("that the spec uses"), "{why}");
    let lines = client.ask(
        "breakpointLocations",
        json!({"source": {"path": module}, "line": 1, "endLine": 9}),
    );
    let lines: Vec<&Value> = lines["breakpoints"].as_array().unwrap().iter().collect();
    assert_eq!(
        lines,
        [
            &json!({"line": 1}),
            &json!({"line": 2}),
            &json!({"line": 3})
        ]
    );
    client.ask("configurationDone", json!({}));
    client.event("stopped");

    assert_eq!(client.moved("continue"), "mails is true");
    let frames = client.frames();
    let path = frames[0]["source"]["path"].as_str().unwrap();
    assert_eq!(
        (Path::new(path), frames[0]["line"].as_u64()),
        (module.as_path(), Some(1))
    );
    assert_eq!(client.value("Predicates", "mail.mails"), "true");
    assert_eq!(client.value("Predicates", "price"), "false");
    assert_eq!(client.value("Definitions", "mail.price"), "3");
    assert_eq!(client.value("Tracks", "mail.mailed"), "1");
    // A name means what it means in the file of the frame.
    let mut price = |frame: Value| {
        let asked = json!({"expression": "price", "context": "watch", "frameId": frame});
        client.ask("evaluate", asked)["result"].clone()
    };
    assert_eq!(
        [price(json!(1)), price(json!(2)), price(Value::Null)],
        ["3", "false", "false"]
    );
    // The second mail changes the track, and nothing else.
    assert_eq!(client.moved("continue"), "mailed is 2");
    assert_eq!(client.frames()[0]["line"], 3);
    client.close();
}

#[test]
fn it_stops_where_a_violation_begins_and_says_why() {
    let files = Files::new();
    // The first trace that violates the property is chosen: `good` does not.
    let mut client = files.runs(&json!({"property": "too_much", "stopOnEntry": false}));
    client.ask("configurationDone", json!({}));
    let stopped = client.event("stopped");
    assert_eq!(stopped["reason"], "exception");
    assert_eq!(stopped["description"], "asked is violated");
    let about = client.ask("exceptionInfo", json!({"threadId": 1}));
    assert_eq!(about["exceptionId"], "asked");
    let why = about["details"]["stackTrace"].as_str().unwrap();
    assert!(why.contains("pay"), "{why}");
    assert_eq!(client.moved("continue"), "too_much is violated");
    let about = client.ask("exceptionInfo", json!({"threadId": 1}));
    assert_eq!(about["description"], "13 paid");
    let frames = client.frames();
    assert_eq!(frames[0]["line"], line("unsafe too_much"));
    client.close();
}

#[test]
fn a_test_is_stepped_at_its_events() {
    let files = Files::new();
    let mut client = files.launch(&json!({"test": "no question"}));
    let spec = files.path("shop.guard");
    let found = breakpoints(&mut client, &spec, &[line("    {tool: \"pay\"")]);
    assert_eq!(found[0]["verified"], true);
    client.ask("setExceptionBreakpoints", json!({"filters": []}));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let frames = client.frames();
    assert_eq!(frames[0]["line"], line("    {tool: \"look\"}"));
    assert_eq!(frames[0]["column"], 5);
    assert_eq!(frames[1]["name"], "asked: presumably satisfied");
    assert_eq!(client.moved("continue"), "step 1");
    assert_eq!(client.frames()[0]["line"], line("    {tool: \"pay\""));
    // The condition that the test expects is among the properties, and decided by the end.
    assert_eq!(client.moved("continue"), "end of the trace");
    let conditions = client.scope("Properties");
    assert_eq!(conditions.last().unwrap().0, "total == 3");
    assert!(
        conditions.last().unwrap().1.starts_with("satisfied"),
        "{conditions:?}"
    );
    client.close();
}

#[test]
fn expressions_mean_what_they_mean_in_the_spec() {
    let files = Files::new();
    let mut client = files.runs(&json!({"trace": "bad"}));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    assert_eq!(client.evaluate("named(\"look\") and not pays"), "true");
    assert_eq!(client.evaluate("total * 2 + price"), "0");
    assert_eq!(client.evaluate("tool // the kind"), "\"look\"");
    assert_eq!(client.evaluate("asked"), "presumably satisfied");
    assert_eq!(
        client.evaluate("eventually total > 5"),
        "presumably violated"
    );
    let why = client.refused(
        "evaluate",
        json!({"expression": "totl", "context": "hover"}),
    );
    assert!(why.contains("totl"), "{why}");
    client.refused("evaluate", json!({"expression": "true\nproperty p = pays"}));
    client.refused("evaluate", json!({"expression": ""}));
    client.moved("next");
    assert_eq!(client.evaluate("total * 2 + price"), "18");
    // A formula is read as a property: `once` at the first step, which was a look.
    assert_eq!(client.evaluate("once tool == \"pay\""), "violated");
    assert_eq!(client.evaluate("eventually total > 5"), "satisfied");
    assert_eq!(client.evaluate("asked"), "violated");
    client.close();
}

#[test]
fn values_are_opened_level_by_level() {
    let files = Files::new();
    let mut client = files.runs(&json!({"trace": "bad"}));
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let found = client.ask("evaluate", json!({"expression": "args"}));
    let reference = found["variablesReference"].clone();
    let members = client.variables(reference.clone());
    assert_eq!(members, [("where".to_owned(), "[\"a\", \"b\"]".to_owned())]);
    let members = client.ask("variables", json!({"variablesReference": reference}));
    let list = &members["variables"][0];
    assert_eq!(list["indexedVariables"], 2);
    let part = client.ask(
        "variables",
        json!({"variablesReference": list["variablesReference"], "filter": "indexed", "start": 1, "count": 1}),
    );
    assert_eq!(part["variables"][0]["value"], "\"b\"");
    let why = client.refused("variables", json!({"variablesReference": 999_999}));
    assert!(why.contains("999999"), "{why}");
    // The conditions of a property.
    let all = client.ask("scopes", json!({"frameId": 1}));
    let scopes = all["scopes"].as_array().unwrap();
    let properties = scopes
        .iter()
        .find(|scope| scope["name"] == "Properties")
        .unwrap();
    let properties = client.ask(
        "variables",
        json!({"variablesReference": properties["variablesReference"]}),
    );
    let parts = client.variables(properties["variables"][0]["variablesReference"].clone());
    let names: Vec<&str> = parts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["verdict", "state", "states", "pays", "tool == \"ask\""]
    );
    client.close();
}

#[test]
fn lines_and_columns_count_as_the_client_counts() {
    let files = Files::new();
    let mut client = Client::start();
    client.ask(
        "initialize",
        json!({"adapterID": "guard", "linesStartAt1": false, "columnsStartAt1": false}),
    );
    client.ask("launch", files.arguments(&json!({"test": "no question"})));
    client.event("initialized");
    let spec = files.path("shop.guard");
    let found = breakpoints(&mut client, &spec, &[line("  always (pays") - 1]);
    assert_eq!(found[0]["line"], line("property asked") - 1);
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let frames = client.frames();
    assert_eq!(frames[0]["line"], line("    {tool: \"look\"}") - 1);
    assert_eq!(frames[0]["column"], 4);
    client.close();
}

#[test]
fn a_launch_that_cannot_be_is_answered_and_another_one_works() {
    let files = Files::new();
    std::fs::write(files.path("wrong.guard"), "event {\n").unwrap();
    std::fs::write(files.path("empty.jsonl"), "").unwrap();
    let mut client = Client::start();
    client.ask("initialize", json!({"adapterID": "guard"}));
    let runs = files.path("runs.jsonl");
    let cases = [
        (json!({}), "expected `runs`"),
        (json!({"runs": runs, "test": "no question"}), "found both"),
        (
            json!({"runs": runs, "trace": "other"}),
            "it has `good`, `bad`",
        ),
        (
            json!({"runs": runs, "property": "other"}),
            "no property `other`",
        ),
        (json!({"runs": runs, "from": "other"}), "`from`"),
        (json!({"runs": files.path("none.jsonl")}), "none.jsonl"),
        (json!({"runs": files.path("empty.jsonl")}), "has no trace"),
        (json!({"test": "other"}), "it has \"no question\""),
        (
            json!({"spec": files.path("wrong.guard"), "runs": runs}),
            "the spec has errors",
        ),
        (
            json!({"spec": files.path("none.guard"), "runs": runs}),
            "none.guard",
        ),
        (json!({"spec": 7}), "expected a string"),
    ];
    for (arguments, expected) in cases {
        let why = client.refused("launch", files.arguments(&arguments));
        assert!(why.contains(expected), "{arguments}: {why}");
    }
    client.ask("launch", files.arguments(&json!({"runs": runs})));
    client.event("initialized");
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    let threads = client.ask("threads", json!({}));
    assert_eq!(threads, json!({"threads": [{"id": 1, "name": "bad"}]}));
    client.close();
}

#[test]
fn malformed_messages_are_answered_and_end_nothing() {
    let files = Files::new();
    let mut client = Client::start();
    for bytes in [
        &b"{"[..],
        b"",
        b"\xff\xfe",
        b"[]",
        b"{\"seq\": 1}",
        b"{\"seq\": 2, \"type\": \"response\", \"request_seq\": 9}",
    ] {
        client.send_raw(bytes);
    }
    client
        .to
        .as_mut()
        .unwrap()
        .write_all(b"no header\r\nContent-Length: many\r\n\r\n")
        .unwrap();
    let cases = [
        ("{\"seq\": 11, \"type\": \"request\"}", "malformed request"),
        (
            "{\"seq\": 12, \"type\": \"request\", \"command\": 5}",
            "malformed request",
        ),
        (
            "{\"seq\": 13, \"type\": \"request\", \"command\": \"next\"}",
            "expected `launch`",
        ),
        (
            "{\"seq\": 14, \"type\": \"request\", \"command\": \"dance\"}",
            "expected `launch`",
        ),
        (
            "{\"seq\": 15, \"type\": \"request\", \"command\": \"launch\"}",
            "missing field `spec`",
        ),
        (
            "{\"seq\": 16, \"type\": \"request\", \"command\": \"attach\", \"arguments\": []}",
            "expected `launch`",
        ),
    ];
    for (text, expected) in cases {
        client.send_raw(text.as_bytes());
        let seq = serde_json::from_str::<Value>(text).unwrap()["seq"]
            .as_i64()
            .unwrap();
        let answer = client.answer_to(seq);
        assert_eq!(answer["success"], false);
        let why = answer["message"].as_str().unwrap();
        assert!(why.contains(expected), "{text}: {why}");
        assert_eq!(answer["body"]["error"]["format"], why);
    }
    let skipped = client
        .events
        .iter()
        .filter(|event| event["event"] == "output")
        .count();
    assert_eq!(skipped, 7, "{:?}", client.events);

    client.ask("initialize", json!({"adapterID": "guard"}));
    client.ask("launch", files.arguments(&json!({"test": "no question"})));
    client.event("initialized");
    for (command, arguments, expected) in [
        ("dance", json!({}), "unsupported command `dance`"),
        ("setBreakpoints", json!({"source": {}}), "source.path"),
        ("setBreakpoints", json!({}), "missing field `source`"),
        ("variables", json!({}), "missing field"),
        ("variables", json!({"variablesReference": -1}), "variables"),
        ("evaluate", json!(7), "evaluate"),
        (
            "exceptionInfo",
            json!({"threadId": 1}),
            "no violation begins here",
        ),
    ] {
        let why = client.refused(command, arguments);
        assert!(why.contains(expected), "{command}: {why}");
    }
    let far = json!({"line": i64::MAX});
    client.ask(
        "setBreakpoints",
        json!({"source": {"path": files.path("shop.guard")}, "breakpoints": [far, {"line": i64::MIN}]}),
    );
    client.ask("configurationDone", json!({}));
    client.event("stopped");
    client.close();
}

#[test]
fn the_end_of_the_input_ends_the_adapter() {
    let mut client = Client::start();
    drop(client.to.take());
    assert_eq!(client.adapter.wait().unwrap().code(), Some(0));
}
