//! Checks the guides: their examples are valid specs, and they describe the command line as it is.
//!
//! A block ```` ```guard ```` is a complete spec. ```` ```guard fragment ```` follows an event block and some predicates (see
//! `PRELUDE`, without what the fragment declares itself), or the ```` ```guard event ```` block of its page.
//! ```` ```guard wrong ```` is a fragment with an error, of the code that a comment in it names. Blocks with tests are also
//! run.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::support::cli::Folder;
use guard_lang::diagnostic::Code;
use guard_lang::modules::NoFiles;
use guard_lang::syntax::token::{ITEM_WORDS, RESERVED_WORDS, temporal_words};
use guard_lang::{check, front};

const PRELUDE: &[(&str, &str)] = &[
    (
        "event {",
        "event {\n  kind: string\n  role: string?\n  tool: string?\n  args: json?\n  id: string?\n  n: int?\n  \
         ok: bool?\n  at: time? from \"/t\"\n}",
    ),
    (
        "predicate calls",
        "predicate calls(t: string) = kind == \"call\" and tool == t",
    ),
    (
        "predicate secret",
        "predicate secret = args.path matches /payroll/",
    ),
    (
        "predicate reads_secret",
        "predicate reads_secret = tool == \"read_file\" and args.path matches /payroll/",
    ),
    (
        "predicate mails_out",
        "predicate mails_out = tool == \"send_mail\" and not args.to ends_with \"@corp.example\"",
    ),
    (
        "predicate deletes",
        "predicate deletes(c: string) = tool == \"delete_file\" and id == c",
    ),
    (
        "predicate approves",
        "predicate approves(c: string) = kind == \"approval\" and id == c",
    ),
    (
        "predicate asks",
        "predicate asks = kind == \"message\" and role == \"user\"",
    ),
    (
        "predicate answers",
        "predicate answers = kind == \"message\" and role == \"assistant\"",
    ),
];

/// A fenced block of a guide.
struct Block {
    /// `file:line`.
    place: String,
    /// What stands after the fence.
    info: String,
    text: String,
    /// The ```` ```guard event ```` block of the page, if it has one.
    event: Option<String>,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn blocks() -> Vec<Block> {
    let mut files = vec![root().join("README.md")];
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            files.push(path);
        }
    }
    files.sort();
    files.iter().flat_map(blocks_of).collect()
}

fn blocks_of(file: &PathBuf) -> Vec<Block> {
    let name = file.file_name().unwrap().to_string_lossy().into_owned();
    let text = std::fs::read_to_string(file).unwrap();
    let mut found = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                open = Some(Block {
                    place: format!("{name}:{}", number + 1),
                    info: info.trim().to_owned(),
                    text: String::new(),
                    event: None,
                });
            }
            (Some(_), Some(_)) => found.extend(open.take()),
            (Some(block), None) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{name}: a block is not closed");
    found.retain(|block: &Block| block.info.split_whitespace().next() == Some("guard"));
    let events: Vec<String> = found
        .iter()
        .filter(|block| block.info == "guard event")
        .map(|block| block.text.clone())
        .collect();
    assert!(events.len() <= 1, "{name}: two event blocks");
    for block in &mut found {
        block.event = events.first().cloned();
    }
    found
}

/// The block as a whole spec.
fn whole(block: &Block) -> String {
    if ["guard", "guard event"].contains(&block.info.as_str()) {
        return block.text.clone();
    }
    if let Some(event) = &block.event {
        return format!("{event}{}", block.text);
    }
    let mut spec = String::new();
    for (begins, item) in PRELUDE {
        let declared = block.text.lines().any(|line| {
            line.strip_prefix(begins)
                .is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_'))
        });
        if !declared {
            spec.push_str(item);
            spec.push('\n');
        }
    }
    spec.push_str(&block.text);
    spec
}

#[test]
fn every_example_checks() {
    let blocks = blocks();
    assert!(blocks.len() > 20, "the guides have lost their examples");
    let mut failures = Vec::new();
    for block in &blocks {
        let spec = whole(block);
        let checked = front("example.guard", &spec, &NoFiles, check::Limits::default());
        let errors: Vec<_> = checked
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.is_error())
            .collect();
        match block.info.as_str() {
            "guard" | "guard event" | "guard fragment" => failures.extend(
                errors
                    .iter()
                    .map(|error| format!("{}: [{}] {}", block.place, error.code, error.message)),
            ),
            "guard wrong" => {
                let named: Vec<_> = Code::ALL
                    .iter()
                    .filter(|code| block.text.contains(code.as_str()))
                    .collect();
                let given = |code: &Code| errors.iter().any(|error| error.code == *code);
                if named.is_empty() || !named.iter().all(|code| given(code)) {
                    let given: Vec<_> = errors.iter().map(|error| error.code.as_str()).collect();
                    failures.push(format!("{}: gives {given:?}", block.place));
                }
            }
            other => failures.push(format!("{}: no kind of block: {other}", block.place)),
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn tests_within_examples_pass() {
    let mut ran = 0;
    for block in blocks() {
        if block.info == "guard wrong" || !block.text.contains("\ntest \"") {
            continue;
        }
        let folder = Folder::new(&[("example.guard", &whole(&block))]);
        let run = folder.guard(&["test", "example.guard"]);
        assert_eq!(run.code, 0, "{}\n{}{}", block.place, run.out, run.err);
        ran += 1;
    }
    assert!(ran >= 2);
}

/// Each predefined function has a row with its type in the table of functions, and an example that is run.
#[test]
fn every_function_is_described_and_tried() {
    let path = root().join("docs/language.md");
    let guide = std::fs::read_to_string(&path).unwrap();
    let section = guide.split("\n## Functions\n").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows: Vec<Vec<&str>> = section
        .lines()
        .filter(|line| line.starts_with("| `"))
        .map(|line| line.split(" | ").collect())
        .collect();
    let blocks = blocks_of(&path);
    let expects: Vec<&str> = blocks
        .iter()
        .filter(|block| block.info != "guard wrong")
        .flat_map(|block| block.text.lines())
        .filter(|line| line.starts_with("  expect "))
        .collect();
    for name in guard_lang::check::functions().chain(["count"]) {
        // The name as a word of its own: `text` is not in `context(`.
        let calls = |text: &str| {
            let call = format!("{name}(");
            let mut places = text.match_indices(&call);
            places.any(|(at, _)| !text[..at].ends_with(|c: char| c.is_alphanumeric()))
        };
        let row = rows.iter().find(|row| calls(row[0]));
        let row = row.unwrap_or_else(|| panic!("`{name}` has no row"));
        assert!(row.len() >= 3 && !row[1].is_empty(), "{row:?}");
        let is_tried = expects.iter().any(|line| calls(line))
            || name == "todo"
                && section.contains("todo(\"")
                && expects.contains(&"  expect agreed unknown");
        assert!(is_tried, "no `expect` of the page calls `{name}`");
    }
}

/// A page of requirements: each section has one snippet with traces and verdicts, and each of these is run.
#[test]
fn every_shape_of_how_do_i_say_is_run() {
    let path = root().join("docs/how-do-i-say.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let sections: Vec<&str> = page.split("\n### ").skip(1).collect();
    assert!(sections.len() >= 14, "{}", sections.len());
    for section in sections {
        let title = section.lines().next().unwrap();
        assert_eq!(section.matches("```guard").count(), 1, "{title}");
    }
    let blocks = blocks_of(&path);
    let (event, shapes) = blocks.split_first().unwrap();
    assert_eq!(event.info, "guard event");
    assert_eq!(shapes.len(), page.matches("\n### ").count());
    for block in shapes {
        assert_eq!(block.info, "guard fragment", "{}", block.place);
        let spec = whole(block);
        let folder = Folder::new(&[("a.guard", &spec), ("shape.guard", &block.text)]);
        let check = folder.guard(&["check", "a.guard", "--format", "json"]);
        for line in check.out.lines().map(timeless) {
            assert_eq!(line["severity"], "hint", "{}: {line}", block.place);
        }
        let layout = folder.guard(&["fmt", "--check", "shape.guard"]);
        assert_eq!(layout.code, 0, "{}: {}", block.place, layout.out);
        let run = folder.guard(&["test", "a.guard", "--format", "json"]);
        assert_eq!(run.code, 0, "{}\n{}{}", block.place, run.out, run.err);
        let ran = run.out.lines().map(timeless);
        let ran = ran.filter(|line| line["status"] == "pass").count();
        assert_eq!(
            ran,
            block.text.matches("\n  given [").count(),
            "{}",
            block.place
        );
        // The traces tell the property from one that always holds, and from one that never does.
        for verdict in ["satisfied", "violated"] {
            let shown = block.text.contains(&format!(" {verdict}"));
            assert!(shown, "{}: no trace is {verdict}", block.place);
        }
    }
}

/// The long flags that the help of a verb tells.
fn flags(help: &str) -> Vec<String> {
    help.lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        // A value that may be left out stands in brackets.
        .filter_map(|flag| flag.split(['[', ',']).next())
        .map(str::to_owned)
        .filter(|flag| flag != "--help")
        .collect()
}

#[test]
fn every_verb_and_flag_is_described() {
    let guide = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let folder = Folder::new(&[]);
    let help = folder.guard(&["--help"]).out;
    let listed = help
        .lines()
        .skip_while(|line| !line.starts_with("Commands:"))
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next());
    let verbs: Vec<&str> = listed.collect();
    assert!(verbs.contains(&"audit") && verbs.len() >= 7, "{help}");
    for verb in verbs {
        assert!(guide.contains(&format!("## guard {verb}")), "{verb}");
        let section = guide
            .split("\n## ")
            .find(|section| section.starts_with(&format!("guard {verb}")))
            .unwrap();
        let help = folder.guard(&[verb, "--help"]).out;
        for flag in flags(&help) {
            let limits = guide.split("\n## ").find(|part| part.starts_with("Limits"));
            let told = section.contains(&format!("`{flag}"))
                || limits.is_some_and(|limits| limits.contains(&format!("`{flag}`")));
            assert!(told, "`guard {verb} {flag}` is not in docs/cli.md");
        }
    }
}

/// A line of JSON without what changes from run to run.
fn timeless(line: &str) -> serde_json::Value {
    let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
    if let Some(object) = value.as_object_mut() {
        object.remove("ms");
    }
    value
}

#[test]
fn the_lines_that_are_shown_are_the_lines_that_are_written() {
    let guide = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let fenced = |info: &str| -> Vec<String> {
        guide
            .split(&format!("```{info}\n"))
            .skip(1)
            .filter_map(|rest| rest.split("```").next())
            .map(str::to_owned)
            .collect()
    };
    let spec = fenced("guard").remove(0);
    let mut json = fenced("json");
    let traces = json.remove(0);
    let bad = spec.replace("violated at 1", "violated at 0");
    let folder = Folder::new(&[
        ("pay.guard", &spec),
        ("bad.guard", &bad),
        ("runs.jsonl", &traces),
    ]);
    let mut written = Vec::new();
    for args in [
        &["audit", "pay.guard", "runs.jsonl", "--format", "json"][..],
        &["test", "pay.guard", "--format", "json"],
        &["test", "bad.guard", "--format", "json"],
        &["explain", "pay.guard", "approved", "--format", "json"],
        &["compile", "pay.guard", "--automata", "json"],
    ] {
        written.extend(folder.guard(args).out.lines().map(timeless));
    }
    let typo = "event { tool: string }\nproperty p = G (tol == \"x\")\n";
    let run = folder.guard_with(&["check", "-", "--format", "json"], typo);
    written.extend(run.out.lines().map(timeless));
    let mut shown = 0;
    for line in json.iter().flat_map(|block| block.lines()) {
        let value = timeless(line);
        if value.get("v").is_none() {
            continue; // a trace
        }
        assert!(written.contains(&value), "nothing writes {line}");
        shown += 1;
    }
    assert!(shown > 10);
}

#[test]
fn every_diagnostic_code_has_a_page_that_is_reached() {
    let folder = Folder::new(&[]);
    for code in Code::ALL {
        for subject in [code.as_str(), code.name()] {
            let run = folder.guard(&["explain", subject]);
            assert_eq!(run.code, 0, "{subject}: {}", run.err);
            let page = guard_lang::inert::lines(code.page(), guard_lang::inert::Colours::None);
            assert!(run.out.contains(page.trim_end()), "{subject}");
        }
    }
}

#[test]
fn every_word_is_described() {
    let guide = std::fs::read_to_string(root().join("docs/language.md")).unwrap();
    let described: BTreeSet<&str> = guide
        .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .collect();
    let temporal = temporal_words().flat_map(|(word, letter)| [word, letter]);
    for word in RESERVED_WORDS
        .iter()
        .chain(ITEM_WORDS)
        .copied()
        .chain(temporal)
    {
        assert!(described.contains(word), "{word}");
    }
}

#[test]
fn guarantees_name_tests_that_exist() {
    let guide = std::fs::read_to_string(root().join("docs/security.md")).unwrap();
    let mut named = 0;
    for word in guide.split('`') {
        let Some((module, test)) = word.split_once("::") else {
            continue;
        };
        let text = std::fs::read_to_string(root().join(format!("tests/it/{module}.rs")))
            .unwrap_or_else(|error| panic!("{word}: {error}"));
        let at = text
            .find(&format!("fn {test}("))
            .unwrap_or_else(|| panic!("{word}: no such test"));
        let before = text[..at].rsplit("}\n").next().unwrap();
        assert!(before.contains("#[test]"), "{word} is not a test");
        named += 1;
    }
    assert!(named > 30);
}

#[test]
fn every_lint_that_can_be_allowed_is_listed() {
    let table = std::fs::read_to_string(root().join("docs/cli.md")).unwrap();
    let guide = std::fs::read_to_string(root().join("docs/language.md")).unwrap();
    let listed = guide.split("- `@allow(lint)`").nth(1).unwrap();
    let listed = listed.split("\n\n").next().unwrap();
    let mut names = Vec::new();
    for code in Code::ALL {
        if code.severity() != guard_lang::diagnostic::Severity::Error {
            let name = code.name().replace('-', "_");
            assert!(listed.contains(&name), "{name}");
            let row = format!("| {code} | `{name}` |");
            assert!(!row.starts_with("| G09") || table.contains(&row), "{row}");
            names.push(name);
        }
    }
    let spec = format!(
        "event {{ kind: string }}\n@allow({})\nproperty p = never kind == \"x\"\n",
        names.join(", ")
    );
    let checked = front("a.guard", &spec, &NoFiles, check::Limits::default());
    assert!(checked.spec.is_some(), "{:?}", checked.diagnostics);
}

#[test]
fn names_of_traces_are_as_described() {
    let spec = "event { kind: string }\n\
        trace { events from \"/events\"  id = \"{file}|{dir}|{stem}|{n}|{line}\" }\n\
        property p = always kind == \"a\"\n";
    let records = "{\"events\":[{\"kind\":\"b\"}]}\n{\"events\":[{\"kind\":\"b\"}]}\n";
    let folder = Folder::new(&[
        ("s.guard", spec),
        ("runs/a.json", records),
        ("runs/x/b.jsonl", records),
    ]);
    let names = |args: &[&str], input: &str| -> Vec<String> {
        let all = [&["audit", "s.guard", "--format", "json"], args].concat();
        let lines = folder.guard_with(&all, input).out;
        let lines = lines.lines().map(timeless);
        let traces = lines.filter(|line| line["type"] == "trace");
        traces
            .map(|line| line["trace"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(
        names(&["runs"], ""),
        [
            "a.json||a|0|1",
            "a.json||a|1|2",
            "x/b.jsonl|x|b|0|1",
            "x/b.jsonl|x|b|1|2"
        ]
    );
    assert_eq!(names(&["runs/x/b.jsonl"], "")[1], "b.jsonl||b|1|2");
    assert_eq!(names(&["-"], records)[1], "<stdin>||<stdin>|1|2");
}

/// The spec with fields of its own over a format reads what the page says.
#[test]
fn own_fields_read_the_canonical_event() {
    let blocks = blocks_of(&root().join("docs/formats.md"));
    let block = blocks
        .iter()
        .find(|block| block.text.contains("/item/finish_reason"))
        .unwrap();
    let call = |finish: &str| {
        let call = serde_json::json!({"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}});
        serde_json::json!({"task": "t", "messages": [
            {"role": "user", "content": "go"},
            {"role": "assistant", "finish_reason": finish, "content": null, "tool_calls": [call]},
        ]})
        .to_string()
    };
    let folder = Folder::new(&[
        (
            "s.guard",
            &format!(
                "{}property typed = always (kind == \"call\" -> kind_of_call == \"function\" and meta.task == \"t\")\n",
                block.text
            ),
        ),
        ("good.json", &call("tool_calls")),
        ("bad.json", &call("length")),
    ]);
    assert_eq!(folder.guard(&["audit", "s.guard", "good.json"]).code, 0);
    let bad = folder.guard(&["audit", "s.guard", "bad.json"]);
    assert_eq!(bad.code, 1);
    assert!(
        bad.out.contains("finished") && !bad.out.contains("violated typed"),
        "{}",
        bad.out
    );
}

/// `raw` and `item` of a call of Chat Completions are as the page has them.
#[test]
fn canonical_calls_are_printed() {
    let call = r#"{"id":"1","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}}"#;
    let message = format!(r#"{{"role":"assistant","content":null,"tool_calls":[{call}]}}"#);
    let trace = format!(r#"{{"messages":[{{"role":"user","content":"go"}},{message}]}}"#);
    let folder = Folder::new(&[("runs.jsonl", &trace)]);
    let run = folder.guard(&["events", "--from", "openai", "runs.jsonl"]);
    let trace = timeless(run.out.trim_end());
    let calls = trace["events"].as_array().unwrap().iter();
    let calls: Vec<_> = calls.filter(|event| event["kind"] == "call").collect();
    assert_eq!(calls.len(), 1, "{run:?}");
    let found = calls[0];
    assert_eq!(found["index"], 1);
    assert_eq!(
        (&found["tool"], &found["call"]),
        (&"read".into(), &"1".into())
    );
    assert_eq!(found["args"], serde_json::json!({"path": "a"}));
    assert_eq!(found["raw"], timeless(call));
    assert_eq!(found["item"], timeless(&message));
}

#[test]
fn a_clock_that_runs_back_gains_no_time() {
    let spec = "event { kind: string  at: time from \"/t\" }\n\
        property soon = always (kind == \"a\" -> F[0,10s] kind == \"b\")\n\
        property recorded = never (before(at) != null and at - before(at) < 0s)\n";
    let trace =
        r#"{"id":"x","events":[{"kind":"a","t":100},{"kind":"c","t":115},{"kind":"b","t":105}]}"#;
    let folder = Folder::new(&[("s.guard", spec), ("t.jsonl", trace)]);
    let run = folder.guard(&["audit", "s.guard", "t.jsonl", "--format", "json"]);
    let lines: Vec<serde_json::Value> = run.out.lines().map(timeless).collect();
    let verdict = |name: &str| {
        let line = lines
            .iter()
            .find(|line| line["property"] == name && line["type"] == "verdict");
        line.map(|line| (line["verdict"].clone(), line["at"].clone()))
    };
    // The `b` counts as 115, not as 105.
    assert_eq!(
        verdict("soon"),
        Some(("violated".into(), 1.into())),
        "{}",
        run.out
    );
    assert_eq!(
        verdict("recorded"),
        Some(("violated".into(), 2.into())),
        "{}",
        run.out
    );
    let problem = lines.iter().find(|line| line["type"] == "problem").unwrap();
    assert_eq!(
        (&problem["step"], &problem["field"]),
        (&2.into(), &"at".into())
    );
}

#[test]
fn without_enforce_every_decision_is_allow() {
    let spec = "event { kind: string }\nproperty p = never kind == \"x\"\n";
    let folder = Folder::new(&[("s.guard", spec)]);
    let line = r#"{"phase":"act","event":{"trace":"t","kind":"x"}}"#;
    let run = folder.guard_with(
        &["monitor", "s.guard", "--clock", "none"],
        &format!("{line}\n"),
    );
    let decision = timeless(run.out.lines().next().unwrap());
    assert_eq!(decision["decision"], "allow", "{decision}");
    assert_eq!(decision["verdicts"]["p"], "violated", "{decision}");
}

#[test]
fn codes_that_the_guides_name_exist() {
    for file in [
        "README.md",
        "docs/language.md",
        "docs/cli.md",
        "docs/security.md",
    ] {
        let text = std::fs::read_to_string(root().join(file)).unwrap();
        for word in text.split(|c: char| !c.is_ascii_alphanumeric()) {
            let digits = word.strip_prefix('G').unwrap_or("");
            if digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_digit()) {
                assert!(Code::parse(word).is_some(), "{file}: {word}");
            }
        }
    }
}
