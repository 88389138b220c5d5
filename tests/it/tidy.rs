//! What keeps the drawing of the house true: who imports whom, a page for every code, no oversized files.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Who may import whom. Changing this table is fine; changing it silently is not: `ARCHITECTURE.md` shows it.
const MAY_IMPORT: &[(&str, &[&str])] = &[
    ("ids", &[]),
    ("inert", &[]),
    ("translate", &["hir", "automata", "ids", "words"]),
    ("domain", &["hir", "ids", "types", "value"]),
    (
        "mutate",
        &[
            "audit",
            "automata",
            "domain",
            "eval",
            "hir",
            "ids",
            "lint",
            "report",
            "input_schema",
            "source",
            "translate",
            "value",
            "verdict",
        ],
    ),
    (
        "lint",
        &[
            "draft",
            "hir",
            "translate",
            "automata",
            "domain",
            "diagnostic",
            "source",
            "ids",
            "value",
            "input_schema",
            "types",
        ],
    ),
    ("source", &[]),
    ("words", &["automata"]),
    ("draft", &["automata", "words"]),
    ("value", &[]),
    ("types", &[]),
    ("automata", &["graph"]),
    ("graph", &[]),
    ("kripke", &["automata", "graph"]),
    (
        "system",
        &[
            "automata",
            "graph",
            "hir",
            "ids",
            "kripke",
            "markov",
            "translate",
            "types",
            "value",
        ],
    ),
    ("markov", &["automata", "graph"]),
    ("stdlib", &[]),
    (
        "doc",
        &[
            "automata",
            "check",
            "front",
            "hir",
            "ids",
            "modules",
            "report",
            "source",
            "syntax",
            "translate",
        ],
    ),
    (
        "editor",
        &[
            "check",
            "diagnostic",
            "doc",
            "front",
            "lint",
            "modules",
            "source",
            "stdlib",
            "syntax",
        ],
    ),
    ("shell", &[]),
    ("texts", &[]),
    ("integrations", &["monitor"]),
    ("problem", &[]),
    ("input_schema", &["types", "value"]),
    ("diagnostic", &["source"]),
    ("syntax", &["automata", "source", "diagnostic"]),
    ("modules", &["syntax", "stdlib", "source", "diagnostic"]),
    ("pattern", &[]),
    (
        "hir",
        &[
            "automata",
            "ids",
            "pattern",
            "input_schema",
            "source",
            "types",
            "value",
        ],
    ),
    (
        "check",
        &[
            "modules",
            "syntax",
            "hir",
            "input_schema",
            "source",
            "diagnostic",
            "ids",
            "types",
            "value",
        ],
    ),
    ("pool", &[]),
    (
        "input",
        &["pool", "input_schema", "problem", "types", "value"],
    ),
    ("verdict", &["ids", "problem", "types", "value"]),
    (
        "reference",
        &[
            "hir",
            "input",
            "ids",
            "pattern",
            "problem",
            "shell",
            "input_schema",
            "types",
            "value",
            "verdict",
            "texts",
        ],
    ),
    (
        "eval",
        &[
            "hir",
            "translate",
            "automata",
            "input",
            "ids",
            "pattern",
            "pool",
            "problem",
            "shell",
            "input_schema",
            "source",
            "types",
            "value",
            "verdict",
            "texts",
        ],
    ),
    (
        "report",
        &[
            "inert",
            "draft",
            "words",
            "hir",
            "translate",
            "automata",
            "lint",
            "diagnostic",
            "source",
            "ids",
            "problem",
            "input_schema",
            "system",
            "types",
            "value",
            "verdict",
        ],
    ),
    ("abstraction", &["hir", "eval", "automata", "ids", "value"]),
    (
        "calibrate",
        &[
            "abstraction",
            "hir",
            "ids",
            "learn",
            "markov",
            "query",
            "report",
            "value",
        ],
    ),
    (
        "query",
        &[
            "abstraction",
            "automata",
            "eval",
            "graph",
            "hir",
            "ids",
            "learn",
            "markov",
            "report",
            "translate",
            "value",
        ],
    ),
    (
        "learn",
        &[
            "abstraction",
            "audit",
            "eval",
            "hir",
            "ids",
            "input",
            "problem",
            "report",
            "value",
        ],
    ),
    (
        "monitor",
        &[
            "abstraction",
            "eval",
            "hir",
            "ids",
            "inert",
            "input",
            "learn",
            "markov",
            "problem",
            "query",
            "input_schema",
            "types",
            "value",
            "verdict",
        ],
    ),
    (
        "audit",
        &[
            "eval",
            "input",
            "report",
            "hir",
            "problem",
            "input_schema",
            "source",
            "value",
            "verdict",
        ],
    ),
];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The top-level module that a file belongs to.
fn module_of(path: &Path) -> String {
    let below = path.strip_prefix(root().join("src")).unwrap();
    let first = below
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules that a file names after `crate::`; doc comments and tests inside the file do not count.
fn imports_of(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let mut found = BTreeSet::new();
    for line in code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"))
    {
        for part in line.split("crate::").skip(1) {
            let name: String = part
                .chars()
                .take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
                .collect();
            if !name.is_empty() {
                found.insert(name);
            }
        }
    }
    found
}

#[test]
fn data_flows_one_way() {
    let table: BTreeMap<&str, &[&str]> = MAY_IMPORT.iter().copied().collect();
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("src")) {
        let module = module_of(&path);
        let Some(allowed) = table.get(module.as_str()) else {
            continue;
        };
        for import in imports_of(&fs::read_to_string(&path).unwrap()) {
            if import != module && !allowed.contains(&import.as_str()) {
                wrong.push(format!(
                    "{}: `{module}` may not import `{import}`",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_parser_knows_its_generator_and_only_the_cli_its_arguments() {
    for path in rust_files(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let module = module_of(&path);
        assert!(
            module == "syntax" || !text.contains("lalrpop"),
            "{} mentions the parser generator",
            path.display()
        );
        assert!(
            module == "cli" || module == "main" || !text.contains("clap::"),
            "{} mentions the argument parser",
            path.display()
        );
    }
}

#[test]
fn files_can_be_read_in_one_sitting() {
    for path in rust_files(&root().join("src")) {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= 800,
            "{} has {lines} lines: split it by subject",
            path.display()
        );
    }
}

#[test]
fn every_module_says_what_it_is() {
    for path in rust_files(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("//!"),
            "{} has no module documentation",
            path.display()
        );
    }
}

#[test]
fn every_table_row_is_shown_in_the_architecture() {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    for (module, allowed) in MAY_IMPORT {
        let row = text
            .lines()
            .find(|line| line.starts_with(&format!("| `{module}` |")))
            .unwrap_or_else(|| panic!("ARCHITECTURE.md has no row for `{module}`"));
        let shown: BTreeSet<&str> = row
            .split('|')
            .nth(2)
            .unwrap()
            .split(',')
            .map(|name| name.trim().trim_matches('`'))
            .filter(|name| !name.is_empty() && *name != "nothing of ours")
            .collect();
        let meant: BTreeSet<&str> = allowed.iter().copied().collect();
        assert_eq!(shown, meant, "the row of `{module}` in ARCHITECTURE.md");
    }
}
