//! The tree-sitter grammar of `editors/tree-sitter` accepts what the parser accepts, with the same items.
//!
//! Its package needs a C compiler and some npm packages; without them the test is reported as skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::editor_clients;
use crate::support::cli::Folder;
use crate::support::{skip, suite};
use guard_lang::source::SourceFile;
use guard_lang::syntax;
use guard_lang::syntax::ast::ItemKind;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Items that the parser reads and the grammar does not, by their first lines: what follows has a misspelt word or an indented item,
/// which the grammar takes for a part of them, and `int???` is three tokens only for the lexer.
const LOST: &[&str] = &[
    "predicate a = x == 1",
    "predicate b = x == 1",
    "predicate p = x as int??? 0 == 1",
];

/// Cargo, on a package of the grammar, with a target folder of its own.
fn cargo(package: &str, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO"));
    command
        .args(args)
        .current_dir(root().join("editors").join(package))
        .env("CARGO_TARGET_DIR", target());
    command
}

/// Whether the packages that a package of the grammar needs can be had; if not, says what is skipped.
fn has_packages(package: &str, what: &str) -> bool {
    let fetched = cargo(package, &["fetch", "--locked", "--quiet"]).status();
    let fetched = fetched.unwrap().success();
    if !fetched {
        skip(&format!("{what}: its packages cannot be had"));
    }
    fetched
}

fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("tree-sitter")
}

/// Runs the tests of the package and returns its program that prints items, or `None` if it cannot be built here.
fn items_program() -> Option<PathBuf> {
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    if Command::new(&compiler).arg("--version").output().is_err() {
        skip("the tree-sitter grammar: no C compiler");
        return None;
    }
    if !has_packages("tree-sitter", "the tree-sitter grammar") {
        return None;
    }
    let args = ["test", "--locked", "--offline", "--quiet"];
    let tests = cargo("tree-sitter", &args).output().unwrap();
    assert!(
        tests.status.success(),
        "{}{}",
        String::from_utf8_lossy(&tests.stdout),
        String::from_utf8_lossy(&tests.stderr)
    );
    Some(target().join("debug/examples/items"))
}

fn specs(folder: &Path, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            specs(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "guard") {
            found.push(std::fs::read_to_string(path).unwrap());
        }
    }
}

/// The blocks of specs in the guides, and all specs of the repository, right and wrong.
fn texts() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["examples", "stdlib", "tests", "docs"] {
        specs(&root().join(folder), &mut found);
    }
    for entry in std::fs::read_dir(root().join("docs")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "md") {
            let page = std::fs::read_to_string(path).unwrap();
            let blocks = page.split("\n```guard").skip(1);
            found.extend(blocks.map(|block| {
                let (_, text) = block.split_once('\n').unwrap();
                text.split("\n```").next().unwrap().to_owned() + "\n"
            }));
        }
    }
    let mut formulas = std::collections::BTreeSet::new();
    for name in ["finite", "lasso", "relations", "automata", "kripke"] {
        for line in suite(&format!("{name}.jsonl")) {
            for key in ["formula", "f", "g"] {
                if let Some(text) = line.get(key).and_then(|value| value.as_str()) {
                    formulas.insert(format!("property p = {text}\n"));
                }
            }
        }
    }
    found.push(formulas.into_iter().collect());
    assert!(found.len() > 180, "{}", found.len());
    found
}

/// What the grammar says of a file: the words and lines of its items that are whole, in order, and its first error.
#[derive(Default)]
struct Read {
    whole: Vec<(String, u32)>,
    broken: usize,
    error: Option<String>,
}

fn read(program: &Path, folder: &Folder, names: &[String]) -> BTreeMap<String, Read> {
    let run = Command::new(program)
        .args(names)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert!(run.status.success());
    let mut all: BTreeMap<String, Read> = BTreeMap::new();
    let mut current = String::new();
    for line in String::from_utf8(run.stdout).unwrap().lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let file = all.entry(current.clone()).or_default();
        match words[..] {
            [name] => current = name.to_owned(),
            ["error", place] => file.error = Some(place.to_owned()),
            [kind, line, state] => match kind.strip_suffix("_item") {
                Some(word) if state == "ok" => {
                    file.whole.push((word.to_owned(), line.parse().unwrap()));
                }
                _ => file.broken += usize::from(state == "broken"),
            },
            _ => panic!("{line}"),
        }
    }
    all
}

#[test]
fn the_grammar_of_editors_reads_what_the_parser_reads() {
    let Some(program) = items_program() else {
        return;
    };
    let texts = texts();
    let names: Vec<String> = (0..texts.len()).map(|at| format!("{at}.guard")).collect();
    let files: Vec<(&str, &str)> = names
        .iter()
        .map(String::as_str)
        .zip(texts.iter().map(String::as_str))
        .collect();
    let folder = Folder::new(&files);
    let read = read(&program, &folder, &names);

    let (mut right, mut items, mut wrong) = (0, 0, 0);
    let mut failures = String::new();
    let mut lost = Vec::new();
    for (name, text) in &files {
        let file = SourceFile::new(*name, *text);
        let (tree, diagnostics) = syntax::parse(&file);
        let found = read.get(*name).unwrap();
        let line = |offset: u32| file.location(offset).line;
        if diagnostics.is_empty() {
            right += 1;
            let words: Vec<&str> = tree.items.iter().map(|item| item.kind.word()).collect();
            let same = found.whole.iter().map(|(word, _)| word.as_str()).eq(words);
            if !same || found.error.is_some() || found.broken > 0 {
                failures += &format!("{:?} in\n{text}\n", found.error);
            }
            items += tree.items.len();
            continue;
        }
        // An item that the parser reads although others are broken is read here too.
        for item in &tree.items {
            let lines = line(item.span.start)..=line(item.span.end);
            let touched = diagnostics
                .iter()
                .any(|found| lines.contains(&line(found.span().start)));
            if touched || matches!(item.kind, ItemKind::Broken(_)) {
                continue;
            }
            wrong += 1;
            let kept = found
                .whole
                .iter()
                .any(|(word, at)| word == item.kind.word() && lines.contains(at));
            if !kept {
                lost.extend(text.lines().nth(*lines.start() as usize - 1));
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    lost.sort_unstable();
    assert_eq!(lost, LOST);
    assert!(
        right > 150 && items > 2500 && wrong > 20,
        "{right} {items} {wrong}"
    );
}

#[test]
#[ignore = "compiles the generator of tree-sitter, which takes a minute: `.ci/editors` runs it"]
fn the_parser_is_what_the_generator_makes_of_the_grammar() {
    let what = "the generated parser of tree-sitter";
    if Command::new("node").arg("--version").output().is_err() {
        return skip(&format!("{what}: no Node.js"));
    }
    let package = "tree-sitter/generate";
    if !has_packages(package, what) {
        return;
    }
    let folder = Folder::new(&[]);
    let made = folder.path().to_str().unwrap();
    let args = ["run", "--locked", "--offline", "--quiet", "--", made];
    let run = cargo(package, &args).output().unwrap();
    let problems = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{problems}");
    for name in ["parser.c", "grammar.json", "node-types.json"] {
        let kept = std::fs::read(root().join("editors/tree-sitter/src").join(name)).unwrap();
        let same = kept == std::fs::read(folder.path().join(name)).unwrap();
        assert!(
            same,
            "{name} is stale: run `cargo run` in editors/{package}"
        );
    }
}

/// The commands and programs of the guide's section about the grammar, in a folder of a user.
#[test]
#[ignore = "installs packages of npm, and compiles the parser twice: `.ci/editors` runs it"]
fn programs_use_the_grammar_as_the_guide_says() {
    let section = "The tree-sitter grammar";
    let package = root().join("editors/tree-sitter");
    let page = std::fs::read_to_string(package.join("bindings/rust/lib.rs")).unwrap();
    let example = page.split("//! ```\n").nth(1).unwrap();
    let lines = example.lines().map(|line| line.trim_start_matches("//!"));
    let main: String = lines.map(|line| line.to_owned() + "\n").collect();
    let script = &editor_clients::blocks(section, "js")[0];
    let folder = Folder::new(&[
        (
            "Cargo.toml",
            "[package]\nname = \"user\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[workspace]\n",
        ),
        ("package.json", "{\"private\": true}\n"),
        ("src/main.rs", &main),
        ("colours.js", script),
    ]);
    let run = |program: &str, args: &[&str]| {
        let run = Command::new(program)
            .args(args)
            .current_dir(folder.path())
            .env("CARGO_TARGET_DIR", target())
            .output()
            .unwrap();
        let problems = String::from_utf8_lossy(&run.stderr);
        assert!(run.status.success(), "{program} {args:?}: {problems}");
        String::from_utf8(run.stdout).unwrap()
    };
    let install = editor_clients::blocks(section, "sh")[0]
        .replace("REPOSITORY", &root().display().to_string());
    run("sh", &["-euc", &install]);
    let lines =
        |printed: String| -> BTreeSet<String> { printed.lines().map(str::to_owned).collect() };
    let printed = lines(run(env!("CARGO"), &["run", "--quiet"]));
    for line in [
        "keyword property",
        "type.definition quiet",
        "keyword.repeat never",
    ] {
        assert!(printed.contains(line), "{printed:?}");
    }
    assert_eq!(lines(run("node", &["colours.js"])), printed);
    let tests = "node_modules/tree-sitter-guard/bindings/node/binding_test.js";
    run("node", &["--test", tests]);
}
