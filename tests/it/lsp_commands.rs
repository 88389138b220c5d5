//! Code lenses, commands and values of steps of `guard lsp`, through the protocol.
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::support::editor::{Editor, address};

const SPEC: &str = r#"event {
  tool: string
  amount: int?
  at: time?
}

predicate pays = tool == "pay"
let price = amount ?? 0
track total: int = 0 then total + price

property asked = always (pays -> once tool == "ask")
unsafe too_much = total > 10 message "{total} paid"

test "a payment" {
  given [
    {tool: "look", at: 1},
    {tool: "pay", amount: 3, at: 3},
  ]
  expect asked violated at 0
  given [{tool: "ask"}]
  expect asked satisfied
}
"#;

const RUNS: &str = r#"{"id": "good", "events": [{"tool": "ask", "at": 0}, {"tool": "pay", "amount": 4, "at": 2}]}
{"id": "bad", "events": [{"tool": "look", "at": 1}, {"tool": "pay", "amount": 6, "at": 3}, {"tool": "pay", "amount": 7, "at": 9}]}
"#;

struct Project {
    _folder: tempfile::TempDir,
    path: PathBuf,
    uri: String,
}

impl Project {
    fn new() -> Project {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        std::fs::write(path.join("shop.jsonl"), RUNS).unwrap();
        let uri = address(&path.join("shop.guard"));
        Project {
            _folder: folder,
            path,
            uri,
        }
    }

    fn editor(&self, capabilities: &Value) -> Editor {
        let mut editor = Editor::with(&self.path, capabilities);
        editor.opened(&self.uri, SPEC);
        editor
    }

    fn lenses(&self, editor: &mut Editor) -> Vec<Value> {
        let found = editor.ask(
            "textDocument/codeLens",
            json!({"textDocument": {"uri": self.uri}}),
        );
        found.as_array().unwrap().clone()
    }

    /// Lines and texts of hints, other than the class of a property.
    fn hints(&self, editor: &mut Editor) -> Vec<(u64, String)> {
        let found = editor.ask(
            "textDocument/inlayHint",
            json!({
                "textDocument": {"uri": self.uri},
                "range": {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}},
            }),
        );
        let found = found.as_array().unwrap().iter();
        let hints = found.map(|hint| {
            let line = hint["position"]["line"].as_u64().unwrap();
            (line, hint["label"].as_str().unwrap().to_owned())
        });
        hints
            .filter(|(_, label)| !label.starts_with("blocked") && !label.starts_with("detected"))
            .collect()
    }
}

fn execute(editor: &mut Editor, command: &str, arguments: Value) -> Value {
    editor.answer(
        "workspace/executeCommand",
        json!({"command": command, "arguments": arguments}),
    )
}

/// The next message of a method that the server sends on its own.
fn told(editor: &mut Editor, method: &str) -> Value {
    loop {
        let at = editor.told.iter().position(|told| told["method"] == method);
        if let Some(at) = at {
            return editor.told.remove(at);
        }
        let next = editor.receive();
        editor.told.push(next);
    }
}

fn message(editor: &mut Editor) -> String {
    let told = told(editor, "window/showMessage");
    told["params"]["message"].as_str().unwrap().to_owned()
}

/// The line of a text in the spec, from 0.
fn line(text: &str) -> u64 {
    SPEC[..SPEC.find(text).unwrap()].lines().count() as u64
}

#[test]
fn lenses_name_the_commands_that_somebody_carries_out() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let lenses = project.lenses(&mut editor);
    let told: Vec<(&str, &str)> = lenses
        .iter()
        .map(|lens| {
            let command = &lens["command"];
            (
                command["title"].as_str().unwrap(),
                command["command"].as_str().unwrap(),
            )
        })
        .collect();
    // Without a client that debugs, nothing offers it.
    let audit = ("Audit traces…", "guard.server.auditTraces");
    assert_eq!(told, [audit, audit, ("Run test", "guard.server.runTest")]);
    assert_eq!(
        lenses[0]["command"]["arguments"],
        json!([project.uri, "asked"])
    );
    assert_eq!(lenses[2]["range"]["start"]["line"], line("test \"a"));
    editor.close();

    let own = ["guard.runTest", "guard.debugTest", "guard.auditTraces"];
    let mut editor = project.editor(&json!({"experimental": {"commands": {"commands": own}}}));
    let lenses = project.lenses(&mut editor);
    let told: Vec<&Value> = lenses
        .iter()
        .map(|lens| &lens["command"]["command"])
        .collect();
    assert_eq!(
        told,
        [
            "guard.auditTraces",
            "guard.auditTraces",
            "guard.runTest",
            "guard.debugTest"
        ]
    );
    editor.close();
}

#[test]
fn a_test_runs_as_it_stands_in_the_editor() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let answer = execute(
        &mut editor,
        "guard.server.runTest",
        json!([project.uri, "a payment"]),
    );
    let cases = answer["result"].as_array().unwrap();
    assert_eq!(cases.len(), 2, "{answer}");
    let case = &cases[0];
    assert_eq!(
        (&case["status"], &cases[1]["status"]),
        (&json!("fail"), &json!("pass"))
    );
    assert_eq!(
        case["failures"][0]["line"],
        line("  expect asked violated") + 1
    );
    assert_eq!(case["steps"][1]["step"], 1);
    assert_eq!(case["steps"][1]["fields"]["tool"], "\"pay\"");
    assert_eq!(case["steps"][1]["true"], json!(["pays"]));
    assert_eq!(cases[1].get("steps"), None);
    assert_eq!(
        message(&mut editor),
        "test \"a payment\": asked: expected violated at 0, found violated at 1"
    );
    // The text was never saved, and what is run is what is typed.
    editor.changed(
        &project.uri,
        2,
        &SPEC.replace("violated at 0", "violated at 1"),
    );
    execute(
        &mut editor,
        "guard.server.runTest",
        json!([project.uri, "a payment"]),
    );
    assert_eq!(message(&mut editor), "test \"a payment\": passed");
    editor.close();
}

#[test]
fn traces_beside_the_spec_are_audited() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let answer = execute(
        &mut editor,
        "guard.server.auditTraces",
        json!([project.uri, "too_much"]),
    );
    let found = &answer["result"];
    assert_eq!(
        (&found["traces"], &found["violated"]),
        (&json!(2), &json!(1)),
        "{answer}"
    );
    assert_eq!(found["first"]["trace"], "bad");
    assert_eq!(found["first"]["step"], 2);
    let told = message(&mut editor);
    assert!(
        told.starts_with("too_much: violated in 1 of 2 traces; first bad ("),
        "{told}"
    );
    let runs = project.path.join("other.jsonl");
    std::fs::write(&runs, RUNS.lines().next().unwrap()).unwrap();
    let answer = execute(
        &mut editor,
        "guard.server.auditTraces",
        json!([project.uri, "too_much", [runs]]),
    );
    assert_eq!(answer["result"]["violated"], 0);
    std::fs::remove_file(project.path.join("shop.jsonl")).unwrap();
    let answer = execute(
        &mut editor,
        "guard.server.auditTraces",
        json!([project.uri, "asked"]),
    );
    let why = answer["error"]["message"].as_str().unwrap();
    assert!(why.contains("shop.jsonl"), "{why}");
    editor.close();
}

#[test]
fn events_of_tests_show_what_is_so_there() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let hints = project.hints(&mut editor);
    let pay = line("    {tool: \"pay\"");
    let own: Vec<&str> = hints
        .iter()
        .filter(|(at, _)| *at == pay)
        .map(|(_, text)| text.as_str())
        .collect();
    let [own] = own.as_slice() else {
        panic!("{hints:?}");
    };
    for part in ["pays", "price = 3", "total = 3", "asked violated", "+2s"] {
        assert!(
            own.split("; ").any(|one| one.starts_with(part)),
            "{part}: {own}"
        );
    }
    // An event at which nothing is so has no hint.
    assert!(
        hints
            .iter()
            .all(|(at, _)| *at != line("    {tool: \"look\"")),
        "{hints:?}"
    );
    editor.close();
}

#[test]
fn the_step_of_a_trace_is_shown_until_the_text_changes() {
    let project = Project::new();
    let mut editor = project.editor(&json!({"workspace": {"inlayHint": {"refreshSupport": true}}}));
    let before = project.hints(&mut editor);
    let runs = project.path.join("shop.jsonl");
    let show = |editor: &mut Editor, step: Value| {
        let wanted = json!([{"uri": project.uri, "runs": runs, "trace": "bad", "step": step}]);
        execute(editor, "guard.server.showValues", wanted)
    };
    let value = |hints: &[(u64, String)], text: &str| -> Vec<String> {
        let own = hints.iter().filter(|(at, _)| *at == line(text));
        own.map(|(_, label)| label.clone()).collect()
    };
    assert_eq!(show(&mut editor, json!(1))["result"], Value::Null);
    let hints = project.hints(&mut editor);
    assert_eq!(value(&hints, "predicate pays"), ["= true"]);
    assert_eq!(value(&hints, "track total"), ["= 6"]);
    assert_eq!(value(&hints, "  at: time"), ["+2s"]);
    assert!(
        value(&hints, "property asked")[0].starts_with("violated, state "),
        "{hints:?}"
    );
    told(&mut editor, "workspace/inlayHint/refresh");
    show(&mut editor, json!(2));
    assert_eq!(value(&project.hints(&mut editor), "track total"), ["= 13"]);
    // The end of the trace.
    show(&mut editor, Value::Null);
    let hints = project.hints(&mut editor);
    assert_eq!(value(&hints, "unsafe too_much"), ["violated"]);
    editor.changed(&project.uri, 2, &format!("{SPEC}\n"));
    assert_eq!(project.hints(&mut editor), before);
    show(&mut editor, json!(0));
    assert_eq!(value(&project.hints(&mut editor), "track total"), ["= 0"]);
    execute(
        &mut editor,
        "guard.server.showValues",
        json!([{"uri": project.uri}]),
    );
    assert_eq!(project.hints(&mut editor), before);
    editor.close();
}

#[test]
fn the_values_asked_for_last_are_shown() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let runs = project.path.join("shop.jsonl");
    // Commands run on threads, which can end in any order.
    for round in 0..200 {
        let last = round % 3;
        let asked: Vec<i64> = [json!(2), json!(0), json!(1), json!(last)]
            .into_iter()
            .map(|step| {
                let wanted =
                    json!({"uri": project.uri, "runs": runs, "trace": "bad", "step": step});
                let params = json!({"command": "guard.server.showValues", "arguments": [wanted]});
                editor.request("workspace/executeCommand", params)
            })
            .collect();
        for id in asked {
            editor.answer_to(id);
        }
        let expected = format!("= {}", [0, 6, 13][last]);
        let hints = project.hints(&mut editor);
        let total: Vec<&str> = hints
            .iter()
            .filter(|(at, _)| *at == line("track total"))
            .map(|(_, text)| text.as_str())
            .collect();
        assert_eq!(total, [expected], "round {round}");
    }
    editor.close();
}

#[test]
fn a_debugger_shows_values_beside_what_has_them() {
    let project = Project::new();
    let mut editor = Editor::with(&project.path, &json!({}));
    let text = SPEC.replace(
        "predicate pays",
        "trace {\n  meta user: string?\n}\npredicate named(t: string) = tool == t\npredicate pays",
    );
    editor.opened(&project.uri, &text);
    let whole = json!({"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}});
    let asked = json!({
        "textDocument": {"uri": project.uri},
        "range": whole,
        "context": {"frameId": 1, "stoppedLocation": whole},
    });
    let found = editor.ask("textDocument/inlineValue", asked);
    let lines: Vec<&str> = text.lines().collect();
    let found: Vec<&str> = found
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            let expression = one["expression"].as_str().unwrap();
            let (start, end) = (&one["range"]["start"], &one["range"]["end"]);
            assert_eq!(start["line"], end["line"]);
            let at = |place: &Value| usize::try_from(place["character"].as_u64().unwrap()).unwrap();
            let line = lines[usize::try_from(start["line"].as_u64().unwrap()).unwrap()];
            let name = expression.rsplit('.').next().unwrap();
            assert_eq!(&line[at(start)..at(end)], name);
            expression
        })
        .collect();
    let expected = [
        "tool",
        "amount",
        "at",
        "meta.user",
        "pays",
        "price",
        "total",
        "asked",
        "too_much",
    ];
    assert_eq!(found, expected);
    editor.close();
}

const DESIGN: &str = "component agent {
  state mode: { idle, waiting, calling } = idle
  state high: bool = false
  step choose when mode == idle => mode' in { waiting, calling }, high' in { false, true }
  step done when mode == calling => mode' == idle
  guarantee G (mode == waiting -> high)
}
component human {
  state mode: { away, looking } = away
  state seen: bool = false
  step look when agent.mode == waiting => mode' == looking, seen' == agent.high
}
compose office = agent || human
system other {
  state high: bool = false
  step flip => high' == not high
}
property gated = G (agent.high -> agent.mode == waiting) on office
property may_wait = EF (agent.mode == waiting) on office
property on_other = AG AF high on other
";

/// Designs are verified where a recorded trace says nothing, and the states of a run are shown beside their variables.
#[test]
fn systems_are_verified_and_their_runs_are_shown() {
    let project = Project::new();
    let mut editor = Editor::with(&project.path, &json!({}));
    editor.opened(&project.uri, DESIGN);
    assert_eq!(editor.findings(&project.uri), Vec::<Value>::new());
    let lenses = project.lenses(&mut editor);
    let offered: Vec<(&str, &str)> = lenses
        .iter()
        .map(|lens| {
            let command = &lens["command"];
            assert_eq!(command["command"], "guard.server.verify");
            let name = command["arguments"][1].as_str().unwrap();
            (name, command["title"].as_str().unwrap())
        })
        .collect();
    let names = ["office", "other", "gated", "may_wait", "on_other"];
    assert_eq!(offered, names.map(|name| (name, "Verify")));
    let verify = |editor: &mut Editor, name: &str| {
        let answer = execute(editor, "guard.server.verify", json!([project.uri, name]));
        answer["result"].as_array().cloned().ok_or(answer)
    };
    let found = verify(&mut editor, "gated").unwrap();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&found[0]["holds"], &found[0]["system"]),
        (&json!(false), &json!("office"))
    );
    assert_eq!(found[0]["text"], "G (agent.high -> agent.mode == waiting)");
    assert_eq!(
        found[0]["variables"],
        json!(["agent.mode", "high", "human.mode", "seen"])
    );
    let told = message(&mut editor);
    assert!(told.starts_with("gated on office: fails ("), "{told}");
    let steps = found[0]["violated_after"].as_u64().unwrap();
    let last = &found[0]["counterexample"]["stem"][usize::try_from(steps - 1).unwrap()];
    assert_eq!(
        (&last["high"], &last["agent.mode"]),
        (&json!(true), &json!("calling")),
        "{found:?}"
    );

    // Each value is beside the variable of the component that has it, and beside no variable of another system.
    let line = |text: &str| DESIGN[..DESIGN.find(text).unwrap()].lines().count() as u64;
    let shown = json!([{"uri": project.uri, "system": "office", "state": last}]);
    execute(&mut editor, "guard.server.showValues", shown);
    let hints = project.hints(&mut editor);
    let expected = [
        ("  state mode: { idle", "= calling"),
        ("  state high: bool = false\n  step choose", "= true"),
        ("  state mode: { away", "= away"),
        ("  state seen", "= false"),
    ];
    let expected: Vec<(u64, String)> = expected
        .into_iter()
        .map(|(text, value)| (line(text), value.to_owned()))
        .collect();
    assert_eq!(hints, expected);
    execute(
        &mut editor,
        "guard.server.showValues",
        json!([{"uri": project.uri}]),
    );
    assert_eq!(project.hints(&mut editor), []);

    let found = verify(&mut editor, "may_wait").unwrap();
    assert_eq!(found[0]["holds"], true);
    assert!(message(&mut editor).contains("may_wait on office: holds"));
    // A system stands for all that is asked of it.
    let found = verify(&mut editor, "office").unwrap();
    let asked: Vec<&str> = found
        .iter()
        .filter_map(|one| one["property"].as_str())
        .collect();
    assert_eq!(asked, ["gated", "may_wait", "agent.guarantee"]);
    message(&mut editor);
    let refused = verify(&mut editor, "none").unwrap_err();
    let why = refused["error"]["message"].as_str().unwrap();
    assert!(why.contains("no system property `none`"), "{why}");
    editor.close();
}

#[test]
fn commands_that_cannot_be_carried_out_are_answered() {
    let project = Project::new();
    let mut editor = project.editor(&json!({}));
    let uri = &project.uri;
    let runs = project.path.join("shop.jsonl");
    let cases = [
        ("guard.server.dance", json!([]), "unknown command"),
        ("guard.server.runTest", json!([]), "guard.server.runTest"),
        (
            "guard.server.runTest",
            json!([uri, 7]),
            "guard.server.runTest",
        ),
        (
            "guard.server.runTest",
            json!([uri, "other"]),
            "no test \"other\"",
        ),
        (
            "guard.server.runTest",
            json!(["file:///none.guard", "other"]),
            "not open",
        ),
        (
            "guard.server.auditTraces",
            json!([uri, "other"]),
            "no property `other`",
        ),
        (
            "guard.server.auditTraces",
            json!([uri, "asked", ["/none.jsonl"]]),
            "none.jsonl",
        ),
        (
            "guard.server.showValues",
            json!([{"uri": uri, "runs": runs, "trace": "other"}]),
            "no trace `other`",
        ),
        (
            "guard.server.showValues",
            json!({"uri": uri}),
            "invalid type",
        ),
    ];
    for (command, arguments, expected) in cases {
        let answer = execute(&mut editor, command, arguments);
        let why = answer["error"]["message"]
            .as_str()
            .unwrap_or_else(|| panic!("{answer}"));
        assert!(why.contains(expected), "{command}: {why}");
    }
    editor.changed(uri, 2, "event {\n");
    let answer = execute(
        &mut editor,
        "guard.server.runTest",
        json!([uri, "a payment"]),
    );
    assert_eq!(answer["error"]["message"], "the spec has errors");
    editor.close();
}
