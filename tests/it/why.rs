//! Reports contain the cause of each violation, for a reviewer who has only the text.
//!
//! Golden outputs of every violation in `examples/`, and of one spec for each kind of value that a clause reads.

use std::process::Command;

use crate::support::cli::Folder;
use serde_json::Value;

const TRACES: &str = "tests/suites/scenarios/traces.jsonl";

/// Runs the command in the folder of the package.
fn guard(args: &[&str], stdin: &str) -> String {
    let output = assert_cmd::Command::from(Command::new(env!("CARGO_BIN_EXE_guard")))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .write_stdin(stdin)
        .output()
        .unwrap();
    assert!(output.stderr.is_empty() || !args.contains(&"json"));
    String::from_utf8(output.stdout).unwrap()
}

fn scenarios() -> Vec<String> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/scenarios");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "vocabulary.guard")
        .map(|name| format!("examples/scenarios/{name}"))
        .collect();
    names.sort();
    names
}

/// What a report says of violations: the closing table says nothing of them.
fn violations(report: &str) -> String {
    let end = report
        .find("\nproperty  ")
        .map_or(report.len(), |at| at + 1);
    report[..end].to_owned()
}

#[test]
fn the_violations_of_the_mail_assistant() {
    let folder = "examples/mail_assistant";
    let (spec, traces) = (
        format!("{folder}/mail_assistant.guard"),
        format!("{folder}/traces.jsonl"),
    );
    insta::assert_snapshot!(violations(&guard(&["audit", &spec, &traces], "")));
}

#[test]
fn the_violations_of_the_scenarios() {
    let mut all = String::new();
    for spec in scenarios() {
        all.push_str(&violations(&guard(&["audit", &spec, TRACES], "")));
    }
    insta::assert_snapshot!(all);
}

#[test]
fn the_decisions_of_the_live_examples() {
    let mut all = String::new();
    for name in ["coding", "driving", "household", "mail"] {
        let spec = format!("examples/live/{name}.guard");
        let lines = format!("{}/examples/live/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        let lines = std::fs::read_to_string(lines).unwrap();
        let args = ["monitor", &spec, "--clock", "none", "--format", "human"];
        all.push_str(&guard(&args, &lines));
    }
    insta::assert_snapshot!(all);
}

/// No violation of the examples is without a reason, and the reasons name steps up to the final one.
#[test]
fn every_violation_has_reasons() {
    let mut specs: Vec<(String, String)> = scenarios()
        .into_iter()
        .map(|spec| (spec, TRACES.to_owned()))
        .collect();
    specs.push((
        "examples/mail_assistant/mail_assistant.guard".to_owned(),
        "examples/mail_assistant/traces.jsonl".to_owned(),
    ));
    let mut n_violations = 0;
    for (spec, traces) in specs {
        let report = guard(&["audit", &spec, &traces, "--format", "json"], "");
        for line in report.lines() {
            let line: Value = serde_json::from_str(line).unwrap();
            if line["verdict"] != "violated" {
                continue;
            }
            n_violations += 1;
            let reasons = line["why"]["reasons"].as_array().unwrap();
            assert!(!reasons.is_empty(), "{line}");
            for reason in reasons {
                assert!(reason["last"].as_u64() <= line["at"].as_u64(), "{line}");
                assert!(reason["holds"].is_boolean(), "{line}");
            }
        }
    }
    assert_eq!(n_violations, 20);
}

const SPEC: &str = r#"
event {
  t: time
  kind: string
  tool: string?
  args: json?
  amount: int?
  id: string?
}
trace {
  meta budget: int = 100
  meta hosts: list<string> = []
}
"#;

/// A spec for each kind of value, with a trace that violates it.
const KINDS: &[(&str, &str, &str)] = &[
    (
        "a track",
        "track spent: int = 0 then spent + (amount ?? 0)\nproperty p = never spent > 50",
        r#"[{"t":1,"kind":"pay","amount":30},{"t":2,"kind":"pay","amount":25}]"#,
    ),
    (
        "a track with a key, and before it",
        "track holder(k: string): string? = null then if kind == \"lock\" and id == k then tool else holder(k)\n\
         property p = always (kind == \"write\" and id != null -> tool != null and holder(id) == tool)",
        r#"[{"t":1,"kind":"lock","id":"a","tool":"x"},{"t":2,"kind":"write","id":"a","tool":"y"}]"#,
    ),
    (
        "meta",
        "property p = never (amount != null and amount > meta.budget)",
        r#"[{"t":1,"kind":"pay","amount":300}]"#,
    ),
    (
        "a conjunct of a predicate",
        "predicate allowed = tool in [\"get\", \"put\"] and args.host in meta.hosts and not args.path contains \"..\"\n\
         property p = always (kind == \"call\" -> allowed)",
        r#"[{"t":1,"kind":"call","tool":"get","args":{"host":"a.example","path":"x/../../etc/passwd"}}]"#,
    ),
    (
        "an element of a list, far into a long text",
        "predicate secret = any word in args.words: text(args.body) contains word\nproperty p = never secret",
        r#"[{"t":1,"kind":"call","args":{"words":["alpha","tango"],"body":"BODY tango BODY"}}]"#,
    ),
    (
        "time that passed",
        "rule p: when kind == \"ask\" then kind == \"answer\" within 30s",
        r#"[{"t":1000,"kind":"ask"},{"t":1012,"kind":"work"},{"t":1039,"kind":"work"}]"#,
    ),
    (
        "a window of steps",
        "rule p: when kind == \"ask\" then kind == \"answer\" within 1..2 steps",
        r#"[{"t":1,"kind":"ask"},{"t":2,"kind":"work"},{"t":3,"kind":"work"}]"#,
    ),
    (
        "what never happened before",
        "property p = always (kind == \"delete\" -> not kind == \"edit\" since kind == \"approve\")",
        r#"[{"t":1,"kind":"approve"},{"t":2,"kind":"edit"},{"t":3,"kind":"work"},{"t":4,"kind":"delete"}]"#,
    ),
    (
        "counts and values before",
        "property p = always (count(kind == \"pay\") <= 1 and (before(amount) == null or amount == null or amount >= before(amount)))",
        r#"[{"t":1,"kind":"pay","amount":9},{"t":2,"kind":"pay","amount":3}]"#,
    ),
    (
        "the arguments of templates",
        "predicate calls(x: string) = kind == \"call\" and tool == x\n\
         template never_after(a: string, b: string) = always (calls(a) -> always not calls(b))\n\
         property p = never_after(\"read\", \"send\")",
        r#"[{"t":1,"kind":"call","tool":"read"},{"t":2,"kind":"call","tool":"send"}]"#,
    ),
    (
        "the end of the trace",
        "property p = always (kind == \"open\" -> eventually kind == \"close\")",
        r#"[{"t":1,"kind":"open"},{"t":2,"kind":"work"}]"#,
    ),
    (
        "the first step",
        "property p = always (kind == \"call\" -> previously kind == \"approve\")",
        r#"[{"t":1,"kind":"call"}]"#,
    ),
    (
        "a definition that is longer than a line",
        "let host = capture(lower(args.url ?? \"\"), /^[a-z][a-z0-9+.-]*:\\/\\/(?:[^\\/?#@]*@)?([^\\/?#:@]+)/)\n\
         predicate known = host matches /^(.+\\.)?(example\\.org|example\\.com)$/\n\
         property p = always (kind == \"call\" -> known)",
        r#"[{"t":1,"kind":"call","args":{"url":"https://me@example.org.evil.example/x"}}]"#,
    ),
    (
        "control characters",
        "property p = never tool starts_with \"rm\"",
        "[{\"t\":1,\"kind\":\"call\",\"tool\":\"rm \\u001b[31m\\u202e\"}]",
    ),
];

#[test]
fn every_kind_of_value_is_shown() {
    let mut all = String::new();
    for (name, spec, events) in KINDS {
        let body = "lorem ipsum dolor sit amet ".repeat(8);
        let trace = format!(
            "{{\"id\":\"t\",\"meta\":{{\"hosts\":[\"a.example\"]}},\"events\":{}}}\n",
            events.replace("BODY", &body)
        );
        let spec = format!("{SPEC}{spec}\n");
        let folder = Folder::new(&[("a.guard", &spec), ("t.jsonl", &trace)]);
        let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
        assert_eq!(run.code, 1, "{name}: {}{}", run.out, run.err);
        let line = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", "json"]);
        let line: Value = serde_json::from_str(line.out.lines().next().unwrap()).unwrap();
        all.push_str(&format!(
            "== {name}\n{}{}\n",
            violations(&run.out),
            line["why"]
        ));
    }
    insta::assert_snapshot!(all);
}

/// A record within a list has the line on which it begins, in every format.
#[test]
fn a_record_within_a_list_has_a_line_of_its_own() {
    let message = r#"{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function",
      "function":{"name":"pay","arguments":"{\"amount\":\"lots\"}"}}]}"#;
    let openai = format!(
        "[\n {{\"id\":\"a\",\"messages\":[{message}]}},\n\n {{\"id\":\"b\",\n  \"messages\":[{message}]}}\n]\n"
    );
    let lists = format!("[[\n{message}],\n[\n{message}]]\n");
    let wrapped = |name: &str, list: &str| format!("{{\"{name}\":\n{list}}}\n");
    let native = "[\n {\"id\":\"a\",\"events\":[{\"kind\":\"call\",\"args\":{\"amount\":\"lots\"}}]},\n\n \
                  {\"id\":\"b\",\n  \"events\":[{\"kind\":\"call\",\"args\":{\"amount\":\"lots\"}}]}\n]\n";
    let span = |trace: &str| {
        format!(
            "{{\"traceId\":\"{trace}\",\"spanId\":\"1\",\"name\":\"execute_tool pay\",\"startTimeUnixNano\":\"1\",\n\
             \"endTimeUnixNano\":\"2\",\"attributes\":{{\"gen_ai.operation.name\":\"execute_tool\",\n\
             \"gen_ai.tool.name\":\"pay\",\"gen_ai.tool.call.arguments\":\"{{\\\"amount\\\":\\\"lots\\\"}}\"}}}}"
        )
    };
    let otel = format!("[\n{},\n{}\n]\n", span("a"), span("b"));
    for (format, text, lines) in [
        ("openai", openai.as_str(), [2, 5]),
        ("openai", &wrapped("runs", &openai), [3, 6]),
        ("openai", &lists, [1, 4]),
        ("native", native, [2, 4]),
        ("otel", &otel, [2, 5]),
        ("otel", &wrapped("data", &otel), [3, 6]),
        ("otel", &wrapped("spans", &otel), [3, 6]),
    ] {
        let spec = "event { kind: string  args: json? }\n\
            property p = never (kind == \"call\" and args.amount as int > 100)\n";
        let spec = match format {
            "native" => spec.to_owned(),
            format => spec.replacen(
                "\nproperty",
                &format!("\ntrace {{ format {format} }}\nproperty"),
                1,
            ),
        };
        let folder = Folder::new(&[("a.guard", &spec), ("t.json", text)]);
        let run = folder.guard(&["audit", "a.guard", "t.json", "--format", "json"]);
        let all: Vec<Value> = run
            .out
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for of in ["verdict", "problem"] {
            let found = all
                .iter()
                .filter(|line| line["type"] == of && line["kind"] != "left_out");
            let found: Vec<&Value> = found.map(|line| &line["line"]).collect();
            assert_eq!(found, lines, "{format}, {of}: {}", run.out);
        }
    }
}

/// A missing field says where it was looked for, if its name does not.
#[test]
fn a_missing_field_says_where_it_was_looked_for() {
    let spec = "event { kind: string  tool: string from \"/call/name\"  paths: list<string> from \"$.x[*].y\" }\n\
        trace { meta case: int }\n\
        property p = always (kind == \"a\" and tool == \"b\" and paths == [] -> meta.case == 1)\n";
    let folder = Folder::new(&[
        ("a.guard", spec),
        ("t.jsonl", "{\"case\":1,\"events\":[{}]}\n"),
    ]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    for (field, what) in [
        ("kind", "the field is missing\n"),
        ("tool", "the field is missing: nothing at `/call/name`\n"),
        ("paths", "the field is missing: nothing at `$.x[*].y`\n"),
        ("case", "the field is missing: nothing at `/meta/case`\n"),
    ] {
        let said = format!("field `{field}`: {what}");
        assert!(run.err.contains(&said), "{said}{}", run.err);
    }
}

#[test]
fn every_format_that_has_a_message_shows_why() {
    let spec = format!("{SPEC}{}\n", KINDS[1].1);
    let trace = format!("{{\"id\":\"t\",\"events\":{}}}\n", KINDS[1].2);
    let folder = Folder::new(&[("a.guard", &spec), ("t.jsonl", &trace)]);
    for format in ["human", "html", "junit", "sarif", "json"] {
        let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", format]);
        let said = run.out.replace("&quot;", "\"").replace("\\\"", "\"");
        assert!(said.contains("holder(id)"), "{format}: {said}");
        assert!(said.contains("\"x\""), "{format}: {said}");
    }
}

#[test]
fn a_failing_test_shows_both_sides() {
    let spec = r#"event { kind: string, xs: list<string>, n: int?, args: json? }
track seen: int = 0 then seen + 1
predicate ok = len(xs) > 1 and kind == "a"
property p = always (kind == "a" -> ok)
property q = forall x: never (kind == x and n == 4)
test "t" {
  given [{kind: "a", xs: ["x", "y"], n: 3}, {kind: "a", xs: ["q"]}, {kind: "b", xs: []}]
  expect len(xs) == 3
  expect len(xs) == 3 at 1
  expect seen == 2 at 2
  expect p satisfied
  expect p violated at 0
  expect q violated
  expect n > 3 at 0
  expect text(args) contains "x" and n == 4 at 1
}
"#;
    let folder = Folder::new(&[("a.guard", spec)]);
    insta::assert_snapshot!(folder.guard(&["test", "a.guard"]).out);
}

#[test]
fn data_errors_name_the_value_once_for_each_cause() {
    let spec = r#"event { kind: string, args: json?, n: int?, call_id: string? }
predicate big = args.amount as int > 100
predicate odd = args.amount as float > 50.0 and kind == "pay"
track total: int = 0 then if kind == "pay" then total + (args.amount as int) else total
property p = never (big and kind == "pay")
property q = never odd
property r = forall c in call_id: never (call_id == c and args.amount as int > 100)
property s = forall c: never (call_id == c and args.path.x starts_with "a")
"#;
    let traces = r#"[
 {"id":"a","events":[
   {"kind":"pay","args":{"amount":"lots","path":"str"},"call_id":"c1"},
   {"kind":"pay","args":{"amount":1.5,"list":[1]},"call_id":"c2"}
 ]},
 {"id":"b",
  "events":[
   {"kind":"pay","args":{"amount":7},"call_id":"c1","n":"x"},
   {"kind":"pay","args":{"amount":{"k":"v"}},"call_id":"c2"}
 ]}
]
"#;
    let folder = Folder::new(&[("a.guard", spec), ("t.json", traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.json"]);
    insta::assert_snapshot!(format!("{}\n{}", violations(&run.out), run.err));
}

/// A count says which steps it counts: those since the last reset, within the window, of the instance.
#[test]
fn counted_steps_are_listed() {
    let spec = r#"event { t: time, kind: string, id: string? }
predicate pays = kind == "pay"
property few = always (count(pays) <= 2)
property anew = always (count(pays, since: kind == "reset") <= 1)
property soon = always (count[0,10s](pays) <= 1)
property each = forall i: always (count(pays and id == i) <= 1)
property many = always (count(true) <= 11)
"#;
    let event =
        |t: u32, kind: &str, id: &str| format!("{{\"t\":{t},\"kind\":\"{kind}\",\"id\":\"{id}\"}}");
    let mut events = vec![
        event(0, "pay", "a"),
        event(20, "reset", "x"),
        event(40, "pay", "b"),
        event(45, "wait", "x"),
        event(50, "pay", "a"),
    ];
    events.extend((6..13).map(|t| event(t * 10, "wait", "y")));
    let traces = format!("{{\"events\":[{}]}}\n", events.join(","));
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", &traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    insta::assert_snapshot!(violations(&run.out));
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", "json"]);
    let lines = run
        .out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap());
    let lines: Vec<Value> = lines.collect();
    let value = |property: &str| {
        let line = lines.iter().find(|line| line["property"] == property);
        line.unwrap()["why"]["reasons"][0]["values"][0].clone()
    };
    assert_eq!(value("few")["steps"], serde_json::json!([0, 2, 4]));
    assert_eq!(value("few")["more_steps"], Value::Null);
    assert_eq!(value("many")["more_steps"], 4);
}

/// Whatever leaves a verdict unknown is named: a field of the record, data on which evaluation fails, a condition to be written.
#[test]
fn what_is_missing_is_named() {
    let spec = r#"trace { meta budget: int? from "/budget" }
event { kind: string, args: json? }
predicate agrees = todo("the user agrees")
property of_record = always (meta.budget > 3)
property of_past = always (count(any x in commands(args.cmd as string): x[0] == "rm") <= 0)
property unwritten = always (kind == "call" -> once agrees)
"#;
    let traces = r#"{"budget":"high","events":[{"kind":"call","args":{"cmd":"$x -rf"}},{"kind":"end","args":{"cmd":"ls"}}]}"#;
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    let open = run.out.split("\nproperty  ").next().unwrap();
    insta::assert_snapshot!(open);
}
