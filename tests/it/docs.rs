//! What the guides say is true: their examples are specs that check, and the command line is described as it is.
//!
//! A block ```` ```guard ```` is a whole spec. ```` ```guard fragment ```` stands below an event block and a few predicates
//! (see `PRELUDE`; what the fragment declares itself is left out). ```` ```guard wrong ```` is a fragment with an error, of
//! the code that a comment in it names. Blocks with tests are also run.

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
    found
        .into_iter()
        .filter(|block| block.info.split_whitespace().next() == Some("guard"))
        .collect()
}

/// The block as a whole spec.
fn whole(block: &Block) -> String {
    if block.info == "guard" {
        return block.text.clone();
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
            "guard" | "guard fragment" => failures.extend(
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

/// The long flags that the help of a verb tells.
fn flags(help: &str) -> Vec<String> {
    help.lines()
        .filter(|line| line.trim_start().starts_with('-'))
        .filter_map(|line| line.split_whitespace().find(|word| word.starts_with("--")))
        .map(|flag| flag.trim_end_matches(',').to_owned())
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
            assert!(run.out.contains(code.page().trim_end()), "{subject}");
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
