//! Checks of the source tree itself: who imports whom, module documentation, file sizes, wording.
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Returns who may import whom: the rows of the table in `ARCHITECTURE.md`.
fn may_import() -> BTreeMap<String, BTreeSet<String>> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text.split("### Who may import whom").nth(1).unwrap();
    let names = |cell: &str| -> BTreeSet<String> {
        let names = cell.split(',').map(|name| name.trim().trim_matches('`'));
        names
            .filter(|name| !name.is_empty() && *name != "nothing of ours")
            .map(str::to_owned)
            .collect()
    };
    table
        .lines()
        .skip_while(|line| !line.starts_with("| `"))
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let mut cells = line.split('|').skip(1);
            let module = names(cells.next().unwrap()).pop_first().unwrap();
            (module, names(cells.next().unwrap()))
        })
        .collect()
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the source files of all crates.
fn sources() -> Vec<PathBuf> {
    let mut files = rust_files(&root().join("src"));
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        files.extend(rust_files(&entry.unwrap().path().join("src")));
    }
    files
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
    let table = may_import();
    let mut wrong = Vec::new();
    for path in rust_files(&root().join("src")) {
        let module = module_of(&path);
        // These stand on top of everything.
        if ["cli", "lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            wrong.push(format!("ARCHITECTURE.md has no row for `{module}`"));
            continue;
        };
        for import in imports_of(&fs::read_to_string(&path).unwrap()) {
            if import != module && !allowed.contains(&import) {
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
    for path in sources() {
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
    for path in sources() {
        let text = fs::read_to_string(&path).unwrap();
        assert!(
            text.starts_with("//!"),
            "{} has no module documentation",
            path.display()
        );
    }
}
