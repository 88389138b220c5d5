//! Faults that gave wrong results without an error: each test fails on the version with the fault.

use crate::support::cli::{Folder, Run};
use serde_json::Value;

fn lines(run: &Run) -> Vec<Value> {
    run.out
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The verdicts on one property, by trace.
fn verdicts(lines: &[Value], property: &str) -> Vec<String> {
    let of = |line: &&Value| line["type"] == "verdict" && line["property"] == property;
    let verdict = |line: &Value| line["verdict"].as_str().unwrap().to_owned();
    lines.iter().filter(of).map(verdict).collect()
}

fn audit(spec: &str, traces: &str) -> Vec<Value> {
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", "json"]);
    assert!(run.code != 2, "{run:?}");
    lines(&run)
}

/// What the checker and the linter say of a spec, by code.
fn codes(spec: &str) -> Vec<String> {
    let folder = Folder::new(&[("a.guard", spec)]);
    let run = folder.guard(&["check", "a.guard", "--format", "json"]);
    let codes = lines(&run).into_iter();
    codes
        .map(|line| line["code"].as_str().unwrap().to_owned())
        .collect()
}

const TODO: &str = "event { kind: string  id: string? }
predicate calls = kind == \"call\"
predicate approved = todo(\"a person approved\")
predicate denied = todo(\"a person denied\")
track told: bool = false then if approved then true else told
";

const TODO_TRACES: &str = r#"{"id":"nothing","events":[{"kind":"x"}]}
{"id":"no id","events":[{"kind":"call"}]}
{"id":"call","events":[{"kind":"call","id":"1"}]}
{"id":"empty","events":[]}
"#;

#[test]
fn a_property_with_a_todo_is_never_satisfied() {
    for formula in [
        "always (calls -> approved)",
        "forall c: always (id == c and calls -> approved)",
        "forall c: always (id == c -> once todo(\"the person who owns it agreed\"))",
        "always (calls -> told or kind == \"call\")",
        "always (calls and approved -> calls)",
        "exists c: eventually (id == c and approved)",
        "exists c: always (id == c or not approved)",
    ] {
        let spec = format!("{TODO}property p = {formula}\n");
        let found = verdicts(&audit(&spec, TODO_TRACES), "p");
        assert_eq!(found, ["unknown"; 4], "{formula}");
    }
    // A step that is wrong whatever the words will ask for is a violation.
    let spec = format!("{TODO}property p = always (calls -> approved and id == \"2\")\n");
    let found = verdicts(&audit(&spec, TODO_TRACES), "p");
    assert_eq!(found, ["unknown", "violated", "violated", "unknown"]);
    // Other properties are not touched.
    let spec = format!("{TODO}property p = always (calls -> id == \"1\")\n");
    let found = verdicts(&audit(&spec, TODO_TRACES), "p");
    assert_eq!(found, ["satisfied", "violated", "satisfied", "satisfied"]);
}

#[test]
fn two_todos_are_different_and_may_both_hold() {
    let spec = format!(
        "{TODO}property g1 = always (calls -> approved)\nproperty g2 = always (calls -> denied)\n\
         property both = never (approved and denied)\nproperty same = always (calls -> todo(\"a person approved\"))\n"
    );
    let found: Vec<String> = codes(&spec)
        .into_iter()
        .filter(|code| code != "G0950" && code != "G0902")
        .collect();
    // `same` has the words of `g1`, and says the same; nothing else follows.
    assert_eq!(found, ["G0914"]);
    let folder = Folder::new(&[("a.guard", &spec)]);
    let run = folder.guard(&["explain", "a.guard", "g1", "--against", "g2"]);
    assert!(run.out.contains("overlapping"), "{}", run.out);
}

#[test]
fn files_that_a_glob_leaves_out_are_counted() {
    let folder = Folder::new(&[
        (
            "a.guard",
            "event { kind: string }\nproperty p = never kind == \"x\"\n",
        ),
        ("runs/a.json", r#"{"events":[{"kind":"y"}]}"#),
        ("runs/b.jsonl", r#"{"events":[{"kind":"y"}]}"#),
        ("runs/deep/c.json", r#"{"events":[{"kind":"y"}]}"#),
        ("runs/deep/d.ndjson", r#"{"events":[{"kind":"y"}]}"#),
    ]);
    let audit = |globs: &[&str]| {
        let mut args = vec!["audit", "a.guard", "runs", "--format", "json"];
        args.extend(globs);
        let run = folder.guard(&args);
        assert_eq!(run.code, 0, "{run:?}");
        let lines = lines(&run);
        let problem = lines.iter().find(|line| line["type"] == "problem");
        let message = problem.map(|line| line["message"].as_str().unwrap().to_owned());
        let files = lines.last().unwrap()["input"]["files"].as_u64().unwrap();
        (files, message)
    };
    let left = |text: &str| Some(text.to_owned());
    assert_eq!(audit(&[]), (4, None));
    assert_eq!(
        audit(&["--glob", "*.json"]),
        (
            2,
            left("2 files of this folder do not match `*.json` and were not read")
        )
    );
    assert_eq!(
        audit(&["--glob", "*.json", "--glob", "deep/*"]),
        (
            3,
            left("1 file of this folder does not match `*.json` or `deep/*` and was not read")
        )
    );
    assert_eq!(
        audit(&[
            "--glob",
            "*.{json,jsonl,ndjson}",
            "--exclude",
            "deep/*.ndjson"
        ]),
        (3, None)
    );
    assert_eq!(audit(&["--exclude", "*.ndjson"]), (3, None));
    let run = folder.guard(&["audit", "a.guard", "runs", "--glob", "*.json"]);
    assert!(
        run.err.contains("note: runs: 2 files of this folder"),
        "{}",
        run.err
    );
}

#[test]
fn a_json_path_without_nodes_is_an_empty_list() {
    let spec = "event {
  kind: string
  paths: list<string> from \"$.edits[*].path\"
  names: set<string>? from \"$.edits[?@.name].name\"
  first: string? from \"$.edits[*].path\"
}
property none = always (kind == \"edit\" -> paths == [])
property known = always (kind == \"edit\" -> names != null)
";
    let traces = r#"{"id":"empty","events":[{"kind":"edit","edits":[]}]}
{"id":"other","events":[{"kind":"edit","edits":[{"x":1}]}]}
{"id":"one","events":[{"kind":"edit","edits":[{"path":"a","name":"n"}]}]}
{"id":"absent","events":[{"kind":"edit"}]}
{"id":"null","events":[{"kind":"edit","edits":null}]}
"#;
    let lines = audit(spec, traces);
    assert_eq!(
        verdicts(&lines, "none"),
        ["satisfied", "satisfied", "violated", "unknown", "unknown"]
    );
    assert_eq!(
        verdicts(&lines, "known"),
        [
            "satisfied",
            "satisfied",
            "satisfied",
            "violated",
            "violated"
        ]
    );
    let missing: Vec<&str> = lines
        .iter()
        .filter(|line| line["type"] == "problem")
        .map(|line| line["trace"].as_str().unwrap())
        .collect();
    assert_eq!(missing, ["absent", "null"]);
}

#[test]
fn comparisons_that_match_draw_no_finding() {
    let head = "event { kind: string  id: string?  at: time?  took: duration? }\n";
    for (items, found) in [
        // A quantified name has the types of all that it is compared with.
        (
            "property p = forall b: always (at == b -> eventually (kind == \"x\" and at == b))\n",
            vec![],
        ),
        (
            "property p = forall b: always (took == b -> eventually took != b)\n",
            vec![],
        ),
        // A constant is not null, and neither is a field without `?`.
        (
            "predicate f(r: json) = id == r\nproperty p = never f(\"all\")\n",
            vec![],
        ),
        (
            "predicate f(r: json) = id == r\nproperty p = never f(kind)\n",
            vec![],
        ),
        (
            "predicate f(r: json) = id == r\nproperty p = never f(before(id))\n",
            vec!["G0309"],
        ),
        ("property p = never at == kind\n", vec!["G0308"]),
    ] {
        let mut codes = codes(&format!("{head}{items}"));
        codes.retain(|code| ["G0308", "G0309"].contains(&code.as_str()));
        assert_eq!(codes, found, "{items}");
    }
}

#[test]
fn formulas_that_read_two_ways_are_refused_wherever_they_end_an_operand() {
    let head = "event { a: bool  b: bool  c: bool }\n";
    for formula in [
        "not eventually b and c",
        "a and eventually b -> c",
        "a and eventually b or c",
        "a or not always b <-> c",
        "F (a -> not never b) and (not once b or c)",
        "a until not eventually b and c",
        "G eventually a and b",
    ] {
        let found = codes(&format!("{head}property p = {formula}\n"));
        assert!(
            found.iter().all(|code| code == "G0111"),
            "{formula}: {found:?}"
        );
        assert!(!found.is_empty(), "{formula}");
    }
    for formula in [
        "(not eventually b) and c",
        "not eventually (b and c)",
        "a and (eventually b) -> c",
        "a and c -> eventually b",
        "G F a and F G b",
        "always (a -> not eventually b)",
    ] {
        let found = codes(&format!("{head}property p = {formula}\n"));
        assert!(!found.contains(&"G0111".to_owned()), "{formula}");
    }
}

#[test]
fn allow_turns_off_what_the_checker_finds_and_near_names_are_offered() {
    let head = "event { id: string?  other: string? }\n";
    let allowed = |lint: &str| format!("{head}@allow({lint})\nproperty p = never id == other\n");
    assert_eq!(codes(&allowed("unused")), ["G0309"]);
    for lint in ["null_equals_null", "\"null-equals-null\"", "G0309"] {
        assert!(codes(&allowed(lint)).is_empty(), "{lint}");
    }
    let folder = Folder::new(&[("a.guard", &allowed("null_equls_null"))]);
    let run = folder.guard(&["check", "a.guard"]);
    assert_eq!(run.code, 2);
    assert!(run.out.contains("write `null_equals_null`"), "{}", run.out);
    let run = folder.guard(&["explain", "null_equals_null"]);
    assert!(
        run.out.contains("`@allow(null_equals_null)`"),
        "{}",
        run.out
    );
}

#[test]
fn check_counts_properties_and_not_expectations() {
    let spec = "event { kind: string }\nproperty p = never kind == \"x\"\n\
                test \"t\" {\n  given [{kind: \"y\"}]\n  expect p satisfied\n  expect kind == \"y\" at 0\n  \
                expect G (kind == \"y\") satisfied\n}\n";
    let folder = Folder::new(&[("a.guard", spec)]);
    let run = folder.guard(&["check", "a.guard"]);
    assert!(
        run.out.ends_with("ok: 1 file, 1 property, 1 test\n"),
        "{}",
        run.out
    );
}

/// An event without the value that binds a name is judged by none: the finding says so, and its first remedy makes the verdict
/// unknown.
#[test]
fn a_name_that_only_absent_fields_bind_is_reported() {
    let spec = |default: &str| {
        format!(
            "event {{ kind: string  call_id: string?{default} }}\n\
             property acts = forall c: always (kind == \"act\" and call_id == c -> once (kind == \"ask\" and call_id == c))\n"
        )
    };
    let trace = "{\"id\":\"t\",\"events\":[{\"kind\":\"act\"}]}\n";
    assert_eq!(codes(&spec("")), ["G0922"]);
    assert_eq!(verdicts(&audit(&spec(""), trace), "acts"), ["satisfied"]);
    let folder = Folder::new(&[("a.guard", &spec(""))]);
    let run = folder.guard(&["check", "a.guard"]);
    let remedy = "declare `call_id: string? = unknown`";
    assert!(run.out.contains(remedy), "{}", run.out);
    assert!(codes(&spec(" = unknown")).is_empty());
    let found = verdicts(&audit(&spec(" = unknown"), trace), "acts");
    assert_eq!(found, ["unknown"]);
}

/// However a name is bound, the same hole is found: by a field, by a member of one, by a part that is named, in a list, or if another
/// comparison is with a field that is always there. What must be there, and what only has to happen, is no hole.
#[test]
fn the_style_of_a_binder_makes_no_difference() {
    let hole = |fields: &str, act: &str, ask: &str| {
        format!(
            "event {{ kind: string  {fields} }}\n\
             property acts = forall c: always (kind == \"act\" and {act} -> once (kind == \"ask\" and {ask}))\n"
        )
    };
    let trace = "{\"id\":\"t\",\"events\":[{\"kind\":\"act\",\"other\":\"x\",\"args\":{}}]}\n";
    let named = hole("args: json?", "call == c", "call == c") + "let call = args.id as string?\n";
    let silent = [
        hole("id: string?", "id == c", "id == c"),
        hole("id: json?", "id == c", "id == c"),
        hole("id: string?", "c in [id]", "id == c"),
        hole("id: string?  other: string", "id == c", "other == c"),
        hole("args: json?", "args.id == c", "args.id == c"),
        hole("args: json", "args.id == c", "args.id == c"),
        hole("args: json", "args[\"id\"] as string? == c", "args.id == c"),
        named,
    ];
    for spec in &silent {
        assert_eq!(codes(spec), ["G0922"], "{spec}");
        assert_eq!(
            verdicts(&audit(spec, trace), "acts"),
            ["satisfied"],
            "{spec}"
        );
    }
    let judged = [
        // Not a string: unknown, and a data error.
        hole("args: json", "args.id as string == c", "args.id == c"),
        hole("id: string? = unknown", "id == c", "id == c"),
        // The question without a value answers nobody.
        hole("id: string?  other: string", "other == c", "id == c"),
    ];
    for spec in &judged {
        assert!(codes(spec).is_empty(), "{spec}");
        assert_ne!(
            verdicts(&audit(spec, trace), "acts"),
            ["satisfied"],
            "{spec}"
        );
    }
    // Its absence is thought of.
    for asked in ["args.id", "args.id as string?"] {
        let asked = format!("property named = always (kind == \"act\" -> ({asked}) != null)\n");
        let spec = hole("args: json", "args.id == c", "args.id == c") + &asked;
        assert!(codes(&spec).is_empty(), "{spec}");
    }
    let member = hole("args: json", "args.id == c", "args.id == c");
    let folder = Folder::new(&[("a.guard", &member)]);
    let run = folder.guard(&["check", "a.guard"]);
    let found = run.out.contains("an event without `args.id` is not judged")
        && run.out.contains("(… -> args.id != null)");
    assert!(found, "{}", run.out);
}

/// Examples of `explain` are events that there can be: nothing is a call and a result at once.
#[test]
fn an_example_is_no_impossible_event() {
    let spec = "event { kind: string }\npredicate call = kind == \"call\"\npredicate result = kind == \"result\"\n\
                property both = (eventually call) and (eventually result)\n\
                property none = always (call -> not eventually result)\n";
    let folder = Folder::new(&[("a.guard", spec)]);
    for property in ["both", "none"] {
        let run = folder.guard(&["explain", "a.guard", property]);
        let steps = run.out.lines().filter_map(|line| line.split_once("step "));
        let steps: Vec<&str> = steps.map(|(_, step)| step).collect();
        assert!(steps.len() >= 3, "{}", run.out);
        let letters = |step: &&str| -> Vec<String> {
            let letters = step.split([':', ',', ' ']).map(str::to_owned);
            letters.collect()
        };
        let is_both = |step: &&str| {
            let letters = letters(step);
            ["call", "result"]
                .iter()
                .all(|letter| letters.iter().any(|other| other == letter))
        };
        assert!(!steps.iter().any(is_both), "{}", run.out);
    }
}

/// Whether one property implies another and whether they contradict each other is asked of the same events: of no two
/// properties both are reported.
#[test]
fn what_implies_does_not_contradict() {
    let formulas = [
        "always (call -> next result)",
        "always (call -> weak_next not call)",
        "always (call and not result -> weak_next not call)",
        "always ((call and not result -> weak_next not call) and (call and result -> next call))",
        "always (call -> eventually result)",
        "always (call -> not result)",
        "never (call and next call)",
        "always (call -> always not result)",
        "always (result -> previously call)",
        "always (call -> weak_next (call or result))",
    ];
    let head = "event { kind: string }\npredicate call = kind == \"call\"\npredicate result = kind == \"result\"\n";
    let mut met = [0, 0];
    for (at, p) in formulas.iter().enumerate() {
        for q in &formulas[at + 1..] {
            let found = codes(&format!("{head}property p = {p}\nproperty q = {q}\n"));
            let has = |code: &str| found.iter().any(|found| found == code);
            assert!(!(has("G0913") && has("G0914")), "{p}, {q}: {found:?}");
            met[0] += usize::from(has("G0913"));
            met[1] += usize::from(has("G0914"));
        }
    }
    assert!(met.iter().all(|met| *met > 1), "{met:?}");
}

#[test]
fn a_step_that_is_not_there_cannot_be_expected() {
    let spec = |at: &str| {
        format!(
            "event {{ kind: string }}\nproperty p = never kind == \"x\"\n\
             test \"t\" {{\n  given [{{kind: \"y\"}}, {{kind: \"z\"}}]\n  expect kind == \"z\" at {at}\n}}\n"
        )
    };
    assert_eq!(codes(&spec("7")), ["G0319"]);
    assert_eq!(codes(&spec("2")), ["G0319"]);
    assert!(codes(&spec("1")).is_empty());
    let folder = Folder::new(&[("a.guard", &spec("7"))]);
    let run = folder.guard(&["test", "a.guard"]);
    assert_eq!(run.code, 2, "{run:?}");
    assert!(run.err.contains("steps 0 to 1"), "{}", run.err);
}

/// A path that no event has is said; a field that some event has, or that must be there, is not.
#[test]
fn a_path_that_no_event_has_is_noted() {
    let spec = "event { kind: string  input: string? from \"/action/inptu\"  rare: string?  none: json from \"$.a[*].b\" = unknown
  all: list<string> from \"$.a[*].c\" = []  void: string?  unread: string?  must: string }
track seen: bool = false when all == [\"x\"] then true
property p = never (input == \"rm\" or rare == \"rm\" or seen or void == \"x\")
property q = never (none == 1 or must == \"x\")\n";
    let with = |event: &str| {
        format!("{{\"events\":[{{\"kind\":\"a\",\"action\":{{\"input\":\"rm\"}}}},{event}]}}\n")
    };
    let traces = with("{\"kind\":\"b\",\"rare\":\"x\",\"void\":null}")
        + &with("{\"kind\":\"c\",\"a\":[{\"c\":\"x\"}]}");
    let lines = audit(spec, &traces);
    let absent = |lines: &[Value]| lines.last().unwrap()["absent_fields"].clone();
    let wanted = serde_json::json!([
        {"field": "input", "from": "/action/inptu"},
        {"field": "none", "from": "$.a[*].b"}
    ]);
    assert_eq!(absent(&lines), wanted);
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", &traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    let note = "note: field `input` (`/action/inptu`) was absent at all 4 steps of 2 traces\n";
    assert!(run.out.contains(note), "{}", run.out);
    // Only what the audited properties read.
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--property", "p"]);
    assert!(!run.out.contains("`none`"), "{}", run.out);
    // One event that has the field is enough, also where it is damaged or not a step, and in any file.
    let one = "{\"events\":[{\"kind\":\"a\",\"action\":{\"inptu\":3},\"a\":[{\"b\":null}]}]}\n";
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--format", "json"]);
    assert!(run.out.contains("absent_fields"));
    assert!(absent(&audit(spec, &(traces.clone() + one))).is_null());
    // Without steps there is nothing to say.
    assert!(absent(&audit(spec, "{\"events\":[]}\n")).is_null());
}

/// The note holds for elements of `each` too, and for canonical events of a format.
#[test]
fn elements_that_have_no_such_field_are_noted() {
    let spec = "trace { events from \"/log\" each \"/calls\" }
event { name: string? from each \"/name\"  path: string? from each \"/args/pth\" }
property p = never (name == \"rm\" and path == \"/\")\n";
    let traces = "{\"log\":[{\"calls\":[{\"name\":\"ls\",\"args\":{\"path\":\"/\"}},{\"name\":\"rm\"}]},{\"n\":1}]}\n";
    let lines = audit(spec, traces);
    let wanted = serde_json::json!([{"field": "path", "from": "/args/pth"}]);
    assert_eq!(lines.last().unwrap()["absent_fields"], wanted);
    let spec = "trace { format openai }
event { kind: string?  tool: string?  typo: string? from \"/args/pth\" }
property p = never (kind == \"call\" and tool == \"rm\" and typo == \"/\")\n";
    let traces = r#"{"messages":[{"role":"user","content":"hi"},{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"ls","arguments":"{\"path\":\"/\"}"}}]}]}"#;
    let lines = audit(spec, traces);
    let wanted = serde_json::json!([{"field": "typo", "from": "/args/pth"}]);
    assert_eq!(lines.last().unwrap()["absent_fields"], wanted, "{lines:?}");
}

/// A member or text that no event has, beside a similar one that its property does not look for, is likely to be misspelt, whatever
/// other properties look for.
#[test]
fn a_name_that_is_likely_to_be_misspelt_is_noted() {
    let spec = "use std.agent
property p = never (tool == \"delte_file\" and args.pth == \"/\")
property q = never (tool in {\"move_file\", \"move_files\"} and (args.user.naame as string? ?? \"\") == \"x\")
property r = never (args.path == \"b\" or tool == \"v1\" or tool == \"tool_1\" or kind == \"calll\")
property s = always (tool == \"delete_file\" -> kind == \"call\")\n";
    let event = |tool: &str, args: &str| {
        format!("{{\"kind\":\"call\",\"tool\":\"{tool}\",\"args\":{args}}}")
    };
    let events = [
        event("delete_file", "{\"path\":\"a\"}"),
        event("move_file", "{\"user\":{\"name\":\"y\"}}"),
        event("tool_2", "[]"),
    ];
    let traces = format!("{{\"events\":[{}]}}\n", events.join(","));
    let lines = audit(spec, &traces);
    let name = |name: &str, similar: &str| serde_json::json!({"name": name, "similar": similar});
    let wanted = serde_json::json!([
        name("kind == \"calll\"", "kind == \"call\""),
        name("tool == \"delte_file\"", "tool == \"delete_file\""),
        name("args.user.naame", "args.user.name"),
    ]);
    assert_eq!(lines.last().unwrap()["unseen_names"], wanted);
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", &traces)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    let note =
        "note: no step had `tool == \"delte_file\"`; did you mean `tool == \"delete_file\"`?\n";
    assert!(run.out.contains(note), "{}", run.out);
    // What is similar stands in the events.
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--redact=tool"]);
    assert!(
        !run.out.contains("delete_file") && run.out.contains("args.user.name"),
        "{}",
        run.out
    );
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--redact"]);
    assert!(!run.out.contains("did you mean"), "{}", run.out);
    // One step that has the name is enough.
    let more = format!(
        "{{\"events\":[{}]}}\n",
        event("delte_file", "{\"user\":{\"naame\":null}}")
    );
    let lines = audit(spec, &(traces + &more));
    let wanted = serde_json::json!([name("kind == \"calll\"", "kind == \"call\"")]);
    assert_eq!(lines.last().unwrap()["unseen_names"], wanted);
}

/// What an `any` compares its elements with is what decides.
#[test]
fn reasons_show_what_a_quantifier_compares_with() {
    let spec = "event { host: string  args: json }
predicate whitelisted = any h in [\"a.example\", \"b.example\"]: host == h or (args.via as string) ends_with h
property p = always whitelisted\n";
    let lines = audit(
        spec,
        "{\"events\":[{\"host\":\"evil.example\",\"args\":{\"via\":\"proxy\"}}]}\n",
    );
    let of = |line: &&Value| line["type"] == "verdict";
    let why = lines.iter().find(of).unwrap()["why"]["reasons"][0]["values"].to_string();
    assert!(why.contains("\"term\":\"host\""), "{why}");
    assert!(why.contains("evil.example"), "{why}");
    assert!(why.contains("proxy"), "{why}");
}

/// An object where a list of elements is expected may be the only element, so the fields of the elements are unknown; nothing stands in a text.
#[test]
fn an_object_in_place_of_the_elements_is_not_passed_by() {
    let spec = "trace { each \"/calls\" }
event { kind: string  tool: string? from each \"/name\" }
property kept = never (tool == \"pay\")
property none = never (kind == \"call\" and tool == null)
";
    let traces = r#"{"id":"list","events":[{"kind":"call","calls":[{"name":"pay"}]}]}
{"id":"object","events":[{"kind":"call","calls":{"name":"pay"}}]}
{"id":"text","events":[{"kind":"call","calls":"pay"}]}
{"id":"null","events":[{"kind":"call","calls":null}]}
"#;
    let found = audit(spec, traces);
    let kept = ["violated", "unknown", "satisfied", "satisfied"];
    assert_eq!(verdicts(&found, "kept"), kept);
    let none = ["satisfied", "unknown", "violated", "violated"];
    assert_eq!(verdicts(&found, "none"), none);
}
