//! Values that are unequal to what a spec looks for because of their kind or their spelling: an audit and the decisions of a monitor say
//! so, and a tool whose name is spelt in another way is not let through.

use std::collections::BTreeSet;

use guard_lang::monitor::{Decision, Monitor, Options, Ruling};
use guard_lang::{check, front, modules::NoFiles};
use proptest::prelude::*;
use serde_json::{Value as Json, json};

use crate::support::cli::Folder;
use crate::support::hook::{Session, decision};

fn monitor(spec: &str) -> Monitor {
    let checked = front("t.guard", spec, &NoFiles, check::Limits::default());
    let errors: Vec<_> = checked.diagnostics.iter().map(|d| &d.message).collect();
    let spec = checked.spec.unwrap_or_else(|| panic!("{errors:?}"));
    Monitor::new(&spec, Options::default()).unwrap()
}

fn act(monitor: &mut Monitor, event: &Json) -> Decision {
    let line = json!({"phase": "act", "event": event}).to_string();
    monitor.line(line.as_bytes(), None)
}

fn call(tool: &str, args: Json) -> Json {
    json!({"kind": "call", "tool": tool, "args": args})
}

const ACCOUNTS: &str = "use std.agent
predicate pays = kind == \"call\" and tool == \"pay\"
property closed = never (pays and args.account == \"12345\")
property listed = never (pays and args.to in [1, 2])
property small = never (pays and (args.amount ?? 0) > 100)
enforce closed { violated => block \"closed\" }
enforce listed { violated => block \"listed\" }
enforce small { violated => block \"too much\" }
";

#[test]
fn an_audit_says_where_kinds_never_met() {
    let events = |first: Json| {
        let events = [
            first,
            call("pay", json!({"account": 1, "to": null})),
            call("ls", json!({"to": [1]})),
        ];
        format!("{}\n", json!({"events": events}))
    };
    let numbers = events(call("pay", json!({"account": 12345})));
    let folder = Folder::new(&[("a.guard", ACCOUNTS), ("t.jsonl", &numbers)]);
    let summary = |args: &[&str]| -> Json {
        let run = folder.guard(&[&["audit", "a.guard", "--format", "json"], args].concat());
        serde_json::from_str(run.out.lines().last().unwrap()).unwrap()
    };
    let account = json!({"name": "args.account", "expected": ["string"], "found": ["number"]});
    let to = json!({"name": "args.to", "expected": ["number"], "found": ["list"]});
    assert_eq!(summary(&["t.jsonl"])["other_kinds"], json!([account, to]));
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    insta::assert_snapshot!(run.out.lines().filter(|line| line.starts_with("note")).collect::<Vec<_>>().join("\n"), @r"
    note: `args.account` was a number at every step that had it, and is compared with a string: they are never equal
    note: `args.to` was a list at every step that had it, and is compared with a number: they are never equal
    ");
    // Kinds are no contents.
    assert_eq!(
        summary(&["t.jsonl", "--redact"])["other_kinds"],
        json!([account, to])
    );
    // One value that may be equal is enough, in whichever file.
    folder.write("u.jsonl", events(call("pay", json!({"account": "x"}))));
    for files in [["t.jsonl", "u.jsonl"], ["u.jsonl", "t.jsonl"]] {
        assert_eq!(summary(&files)["other_kinds"], json!([to]));
    }
}

#[test]
fn an_audit_says_which_tools_are_spelt_otherwise() {
    let spec = "use std.agent\nproperty p = never (kind == \"call\" and tool in [\"rm\", \"delete_file\"])\n";
    let tools = ["rm", "Delete-File", "RM", "ls", "r\u{200B}m", "delete_file"];
    let events: Vec<Json> = tools.iter().map(|tool| call(tool, json!({}))).collect();
    let text = json!({"events": events}).to_string();
    let folder = Folder::new(&[("a.guard", spec), ("t.jsonl", &text)]);
    let run = folder.guard(&["audit", "a.guard", "t.jsonl"]);
    insta::assert_snapshot!(
        run.out
            .lines()
            .filter(|line| line.starts_with("note"))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let run = folder.guard(&["audit", "a.guard", "t.jsonl", "--redact=tool"]);
    assert!(!run.out.contains("Delete-File"), "{}", run.out);
}

#[test]
fn a_decision_says_where_a_value_of_another_kind_decides() {
    let mut monitor = monitor(ACCOUNTS);
    let decided = act(&mut monitor, &call("pay", json!({"account": 12345})));
    assert_eq!(decided.ruling, Ruling::Allow);
    assert_eq!(
        decided.notes,
        ["`args.account` is a number, and is compared with a string: they are never equal"]
    );
    let told: Json = serde_json::from_str(&decided.to_json()).unwrap();
    assert_eq!(told["notes"], json!(decided.notes));
    // Where the rest of the condition decides, and of values that may be equal, there is nothing to say.
    for event in [
        call("ls", json!({"account": 12345})),
        call("pay", json!({"account": "1", "to": 3})),
        call("pay", json!({"account": null})),
        call("pay", json!({})),
    ] {
        let decided = act(&mut monitor, &event);
        assert_eq!(
            (decided.ruling, decided.notes),
            (Ruling::Allow, vec![]),
            "{event}"
        );
    }
    // Of two such values only the one is named that decides.
    let decided = act(
        &mut monitor,
        &call("ls", json!({"account": 12345, "to": "1"})),
    );
    assert_eq!(decided.notes, Vec::<String>::new());
    let decided = act(
        &mut monitor,
        &call(
            "pay",
            json!({"account": 12345, "amount": 1, "to": {"x": 1}}),
        ),
    );
    assert_eq!(decided.notes.len(), 2, "{:?}", decided.notes);
    // An order between kinds is unknown, so the call is denied.
    let decided = act(&mut monitor, &call("pay", json!({"amount": "150"})));
    assert_eq!(decided.ruling, Ruling::Block);
    // What happened is judged alike.
    let line = call("pay", json!({"to": "1"})).to_string();
    let decided = monitor.line(line.as_bytes(), None);
    assert_eq!(decided.notes.len(), 1, "{:?}", decided.notes);
}

/// A value beside which something else lets the action pass is not named, although the whole field, if unknown, would deny it; two
/// values that only together let it pass are both named.
#[test]
fn only_values_that_decide_are_named() {
    let spec = "use std.agent
predicate does(k: string) = kind == \"call\" and tool == k
enforce when does(\"run\") and args.mode == \"force\" and args.level == \"9\" => block
enforce when does(\"run\") and args.a == \"x\" and args.b == \"y\" => block
";
    let mut monitor = monitor(spec);
    let mut named = |args: Json| -> Vec<String> {
        let notes = act(&mut monitor, &call("run", args)).notes;
        let names = notes.iter().map(|note| note.split('`').nth(1).unwrap());
        names.map(str::to_owned).collect()
    };
    assert_eq!(named(json!({"mode": "force", "level": 9})), ["args.level"]);
    assert_eq!(named(json!({"mode": "gentle", "level": 9})), [""; 0]);
    assert_eq!(named(json!({"a": 1, "b": 2})), ["args.a", "args.b"]);
    assert_eq!(named(json!({"a": 1, "b": "z"})), [""; 0]);
    assert_eq!(
        named(json!({"mode": "force", "level": 9, "a": 1})),
        ["args.level"]
    );
}

/// The documented forms that hold whatever kind a value has.
#[test]
fn comparisons_of_any_kind_are_written_so() {
    let spec = "use std.agent
enforce when kind == \"call\" and tool == \"strict\" and (args.account ?? \"\") as string == \"12345\" => block \"closed\"
enforce when kind == \"call\" and tool == \"both\" and args.account in [\"12345\", 12345] => block \"closed\"
";
    let mut monitor = monitor(spec);
    let mut ruling = |tool: &str, account: Json| {
        let decided = act(&mut monitor, &call(tool, json!({"account": account})));
        assert_eq!(
            decided.notes.is_empty(),
            !(tool == "both" && account.is_array())
        );
        decided.ruling
    };
    for (tool, account, expected) in [
        ("strict", json!("12345"), Ruling::Block),
        ("strict", json!(12345), Ruling::Block),
        ("strict", json!(["12345"]), Ruling::Block),
        ("strict", json!("1"), Ruling::Allow),
        ("strict", json!(null), Ruling::Allow),
        ("both", json!("12345"), Ruling::Block),
        ("both", json!(12345), Ruling::Block),
        ("both", json!(1), Ruling::Allow),
        ("both", json!([12345]), Ruling::Allow),
    ] {
        assert_eq!(ruling(tool, account.clone()), expected, "{tool} {account}");
    }
}

/// However a spec reads the tool and compares it. Each row: the fields besides the kind, declarations, and a condition that holds for
/// the tool alone.
#[test]
fn no_spelling_of_a_tool_passes_a_comparison() {
    let tool = "tool: string?";
    for (fields, declared, condition) in [
        (tool, "", r#"tool == "delete_file""#),
        (tool, "", r#"tool in {"delete_file"}"#),
        (tool, r#"const BAD = ["delete_file", "x"]"#, "tool in BAD"),
        (tool, "", r#"["delete_file"] contains tool"#),
        (tool, "", r#"(any t in ["delete_file"]: tool == t)"#),
        (tool, "", r#"not (all t in ["delete_file"]: tool != t)"#),
        (tool, "", r#"tool == "delete" + "_file""#),
        (
            tool,
            "",
            r#"(if tool == null then "" else tool) == "delete_file""#,
        ),
        (tool, "", r#"(tool ?? "") == "delete_file""#),
        (tool, "", r#"[kind, tool] == ["call", "delete_file"]"#),
        (tool, "", r#"[tool][0] == "delete_file""#),
        (tool, "", r#"index_of(["delete_file"], tool) != null"#),
        (tool, "const BAD = {delete_file: true}", "BAD[tool] == true"),
        (
            tool,
            r#"track latest: string? = null then tool"#,
            r#"latest == "delete_file""#,
        ),
        (
            tool,
            r#"track bad: set<string> = {"delete_file"} then bad"#,
            "bad contains tool",
        ),
        (
            tool,
            r#"predicate calls(t: string) = tool == t"#,
            r#"calls("delete_file")"#,
        ),
        ("tool: json?", "", r#"tool == "delete_file""#),
        (
            r#"tool: string? from "$.tool""#,
            "",
            r#"tool == "delete_file""#,
        ),
        (
            r#"name: string? from "$['tool']""#,
            "",
            r#"name == "delete_file""#,
        ),
        (
            r#"name: string? from "/tool_name""#,
            "",
            r#"name == "delete_file""#,
        ),
        (
            r#"name: string? from "$.tool_name""#,
            "",
            r#"name == "delete_file""#,
        ),
        // A field of this name is the tool, whatever the events call it.
        (
            r#"tool: string? from "/name""#,
            "",
            r#"tool == "delete_file""#,
        ),
        (
            r#"tool: string? from "$..name""#,
            "",
            r#"tool == "delete_file""#,
        ),
        ("raw: json?", "", r#"raw.tool_name == "delete_file""#),
        (
            "all: json from \"\"",
            "",
            r#"all.tool_name == "delete_file""#,
        ),
        (
            "all: json from \"$\"",
            "",
            r#"all["tool"] == "delete_file""#,
        ),
    ] {
        let spec = format!(
            "event {{ kind: string  {fields} }}\n{declared}\nenforce when kind == \"call\" and {condition} => block\n"
        );
        let ruling = |tool: &str| {
            let event = json!({"kind": "call", "tool": tool, "tool_name": tool, "name": tool, "raw": {"tool_name": tool}});
            act(&mut monitor(&spec), &event).ruling
        };
        for spelt in [
            "delete_file",
            "Delete_File",
            "delete-file",
            "ｄelete_file\u{200B}",
        ] {
            assert_eq!(ruling(spelt), Ruling::Block, "{condition}: {spelt}");
        }
        assert_eq!(ruling("delete_files"), Ruling::Allow, "{condition}");
    }
    let spec = "event { kind: string  tool: string? }
property kept = forall t in tool: never (kind == \"call\" and t == tool and t == \"delete_file\")
enforce kept { violated => block }
";
    for (tool, expected) in [("Delete_File", Ruling::Block), ("other", Ruling::Allow)] {
        let ruling = act(&mut monitor(spec), &call(tool, json!({}))).ruling;
        assert_eq!(ruling, expected, "{tool}");
    }
    // Texts that are compared with something else say nothing about tools.
    let spec = "use std.agent
enforce when kind == \"call\" and tool == \"pay\" and args.mode == \"read\" => block
";
    let read = act(&mut monitor(spec), &call("Read", json!({"mode": "x"})));
    assert_eq!((read.ruling, read.notes.len()), (Ruling::Allow, 0));
}

#[test]
fn a_hook_tells_the_user_and_denies_other_spellings() {
    let session = Session::new();
    let spec = "use std.agent
property kept = never (kind == \"call\" and tool == \"delete_file\")
property closed = never (kind == \"call\" and tool == \"pay\" and args.account == 12345)
enforce kept { violated => block \"kept\" }
enforce closed { violated => block \"closed\" }
";
    std::fs::write(&session.spec, spec).unwrap();
    for tool in ["delete_file", "Delete_File", "delete-file"] {
        let told = session.before(tool, tool, json!({}));
        assert_eq!(decision(&told).0, "deny", "{told}");
    }
    let told = session.before("t3", "DELETE_FILE", json!({}));
    let note = "`tool` is `DELETE_FILE`, and the spec looks for `delete_file`: it is unknown which of the two is meant";
    let reason = decision(&told).1;
    assert_eq!(
        (reason, &told["systemMessage"]),
        ("kept (field `tool` is unknown)", &json!(note))
    );
    assert_eq!(session.before("t4", "delete_files", json!({})), Json::Null);
    let told = session.before("t5", "pay", json!({"account": "12345"}));
    let note = "`args.account` is a string, and is compared with a number: they are never equal";
    assert_eq!(told, json!({"systemMessage": note}));
    // The user also gets the notes about an outcome, which cannot be denied.
    let spec = "use std.agent
enforce when kind == \"result\" and result.code == \"12345\" => block
";
    let session = Session::new();
    std::fs::write(&session.spec, spec).unwrap();
    session.before("t6", "pay", json!({}));
    let told = session.after("t6", "pay", json!({}), json!({"code": 12345}));
    let note = "`result.code` is a number, and is compared with a string: they are never equal";
    assert_eq!(told, json!({"systemMessage": note}));
}

/// A value of some kind, and how it is written in a spec if it can be.
fn value() -> impl Strategy<Value = (Json, &'static str)> {
    prop::sample::select(vec![
        (json!(1), "number"),
        (json!(2.5), "number"),
        (json!("1"), "string"),
        (json!("a"), "string"),
        (json!(true), "boolean"),
        (json!([1]), "list"),
        (json!({"a": 1}), "object"),
        (json!(null), ""),
    ])
}

crate::random::tests! { 128 cases;
    /// An audit names a place if and only if values stood there, and none was of the kind of a constant. Decisions name it if and only
    /// if the value that stands there is of another kind.
    #[test]
    fn kinds_are_named_that_never_meet(
        constants in prop::collection::vec(value().prop_filter("scalar", |(value, kind)| !value.is_object() && !value.is_array() && !kind.is_empty()), 1..3),
        values in prop::collection::vec(value(), 1..5),
    ) {
        let written: Vec<String> = constants.iter().map(|(value, _)| value.to_string()).collect();
        let spec = format!(
            "event {{ kind: string  args: json? }}\nproperty p = never (kind == \"a\" and args.x in [{}])\nenforce p {{ violated => block }}\n",
            written.join(", ")
        );
        let expected: BTreeSet<&str> = constants.iter().map(|(_, kind)| *kind).collect();
        let found: BTreeSet<&str> = values.iter().map(|(_, kind)| *kind).filter(|kind| !kind.is_empty()).collect();
        let mut monitor = monitor(&spec);
        for (value, kind) in &values {
            let decided = act(&mut monitor, &json!({"kind": "a", "args": {"x": value}}));
            let is_equal = constants.iter().any(|(constant, _)| constant == value);
            prop_assert_eq!(decided.ruling == Ruling::Block, is_equal);
            prop_assert_eq!(!decided.notes.is_empty(), !kind.is_empty() && !expected.contains(kind));
        }
        let events: Vec<Json> = values.iter().map(|(value, _)| json!({"kind": "a", "args": {"x": value}})).collect();
        let text = json!({"events": events}).to_string();
        let spec = guard_lang::Spec::from_source("t.guard", &spec).unwrap();
        let summary = spec.judge("t.jsonl", text.as_bytes()).summary;
        let named = summary.compared_kinds.iter().any(|kinds| kinds.never_met());
        prop_assert_eq!(named, !found.is_empty() && found.is_disjoint(&expected));
    }

    /// However the letters of a tool are written, a rule on it denies; another tool passes.
    #[test]
    fn no_spelling_of_a_tool_passes(
        name in "[a-z]{1,6}([_-][a-z0-9]{1,4}){0,2}",
        changes in prop::collection::vec((0usize..4, 0usize..16), 1..6),
        other in "[a-z]{1,8}",
    ) {
        let mut letters: Vec<char> = name.chars().collect();
        for (change, at) in changes {
            let at = at % letters.len();
            match change {
                0 => letters[at] = letters[at].to_ascii_uppercase(),
                1 if matches!(letters[at], '_' | '-') => letters[at] = '-',
                2 if letters[at].is_ascii_lowercase() => {
                    letters[at] = char::from_u32(letters[at] as u32 + 0xFEE0).unwrap();
                }
                _ => letters.insert(at, '\u{200B}'),
            }
        }
        let spelt: String = letters.into_iter().collect();
        let spec = format!("use std.agent\nenforce when tool == \"{name}\" => block\n");
        let mut monitor = monitor(&spec);
        prop_assert_eq!(act(&mut monitor, &call(&spelt, json!({}))).ruling, Ruling::Block);
        let passes = act(&mut monitor, &call(&other, json!({}))).ruling == Ruling::Allow;
        prop_assert_eq!(passes, other != name);
    }
}
