//! Checks of the source tree: imports between modules, module documentation, file sizes, wording.
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

/// Returns the source files of all crates, except the parser that LALRPOP makes.
fn sources() -> Vec<PathBuf> {
    let mut files = rust_files(&root().join("src"));
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        files.extend(rust_files(&entry.unwrap().path().join("src")));
    }
    files.retain(|path| !path.ends_with("parser/generated.rs"));
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

/// The source files of the library and of the command, between which the table does not distinguish.
fn modules() -> Vec<PathBuf> {
    let mut files = rust_files(&root().join("crates/lang/src"));
    files.extend(rust_files(&root().join("src")));
    files
}

/// The top-level module that a file belongs to.
fn module_of(path: &Path) -> String {
    let of = |folder: &str| path.strip_prefix(root().join(folder)).ok();
    let below = of("src").or_else(|| of("crates/lang/src")).unwrap();
    let first = below
        .components()
        .next()
        .unwrap()
        .as_os_str()
        .to_string_lossy()
        .into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The modules that a file names after `crate::`, alone or in a group; doc comments and tests inside the file do not count.
fn imports_of(text: &str) -> BTreeSet<String> {
    let code = text.split("#[cfg(test)]").next().unwrap();
    let lines = code.lines();
    let code: Vec<&str> = lines
        .filter(|line| !line.trim_start().starts_with("//"))
        .collect();
    let name = |part: &str| -> String {
        let part = part.trim_start().chars();
        part.take_while(|c| c.is_ascii_alphanumeric() || *c == '_')
            .collect()
    };
    let mut found = BTreeSet::new();
    for part in code.join("\n").split("crate::").skip(1) {
        let Some(group) = part.strip_prefix('{') else {
            found.insert(name(part));
            continue;
        };
        // The names of the outer level: each begins after the brace or a comma.
        let (mut depth, mut begins) = (0, true);
        for (at, c) in group.char_indices() {
            match c {
                '{' => depth += 1,
                '}' if depth == 0 => break,
                '}' => depth -= 1,
                ',' if depth == 0 => begins = true,
                c if begins && !c.is_whitespace() => {
                    begins = false;
                    found.insert(name(&group[at..]));
                }
                _ => {}
            }
        }
    }
    found.remove("");
    found
}

#[test]
fn groups_of_imports_are_read() {
    let text = "use crate::{\n    a::{b, c},\n    D, e::f,\n};\nuse crate::g::h;\n// crate::i\n#[cfg(test)]\nuse crate::j;";
    let found: Vec<String> = imports_of(text).into_iter().collect();
    assert_eq!(found, ["D", "a", "e", "g"]);
}

#[test]
fn data_flows_one_way() {
    let table = may_import();
    let mut wrong = Vec::new();
    let mut unused = table.clone();
    for path in modules() {
        let module = module_of(&path);
        // These stand on top of everything.
        if ["cli", "lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let Some(allowed) = table.get(&module) else {
            wrong.push(format!("ARCHITECTURE.md has no row for `{module}`"));
            continue;
        };
        let mut imports = imports_of(&fs::read_to_string(&path).unwrap());
        imports.remove(&module);
        // Items of the crate itself stand in `lib.rs`, and are not modules.
        imports.retain(|import| import.starts_with(|c: char| c.is_ascii_lowercase()));
        for import in imports {
            if !allowed.contains(&import) {
                wrong.push(format!(
                    "{}: `{module}` may not import `{import}`",
                    path.display()
                ));
            }
            unused.entry(module.clone()).or_default().remove(&import);
        }
    }
    for (module, imports) in unused {
        for import in imports {
            wrong.push(format!(
                "ARCHITECTURE.md: `{module}` does not import `{import}`"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_parser_was_made_of_this_grammar() {
    use sha3::Digest as _;
    let grammar = fs::read(root().join("grammar/guard.lalrpop")).unwrap();
    let hash = sha3::Sha3_256::digest(grammar);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    let parser = root().join("crates/syntax/src/parser/generated.rs");
    let parser = fs::read_to_string(parser).unwrap();
    assert!(
        parser
            .lines()
            .nth(1)
            .is_some_and(|line| line == format!("// sha3: {hash}")),
        "the grammar has changed: run `cargo run --manifest-path grammar/generate/Cargo.toml`"
    );
}

#[test]
fn only_the_parser_knows_its_generator_and_only_the_cli_its_arguments() {
    for path in modules() {
        let text = fs::read_to_string(&path).unwrap();
        let module = module_of(&path);
        assert!(
            !text.contains("lalrpop"),
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

/// Returns the packages of a lock file: name, then version and names of dependencies.
fn locked(path: &str) -> BTreeMap<String, Vec<(String, BTreeSet<String>)>> {
    let text = std::fs::read_to_string(root().join(path)).unwrap();
    let mut packages: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for package in text.split("[[package]]").skip(1) {
        let value = |key: &str| {
            let line = package.lines().find_map(|line| line.strip_prefix(key));
            line.unwrap_or_default()
                .trim_matches(['"', ' ', '='])
                .to_owned()
        };
        let listed = package.lines().filter_map(|line| line.strip_prefix(" \""));
        let names = listed.map(|line| line.split([' ', '"']).next().unwrap().to_owned());
        let package = (value("version"), names.collect());
        packages.entry(value("name")).or_default().push(package);
    }
    packages
}

/// The Python package has a workspace of its own: what it is built from must be what is tested here.
#[test]
fn the_lock_file_of_the_python_package_follows() {
    let (main, python) = (locked("Cargo.lock"), locked("python/Cargo.lock"));
    let mut stale: Vec<String> = Vec::new();
    for (name, found) in &python {
        let versions = |of: &[(String, BTreeSet<String>)]| -> BTreeSet<String> {
            of.iter().map(|(version, _)| version.clone()).collect()
        };
        let expected = main.get(name).map(|of| versions(of)).unwrap_or_default();
        if !expected.is_empty() && !versions(found).is_subset(&expected) {
            stale.push(format!("{name}: {:?}, not {expected:?}", versions(found)));
        }
    }
    for (package, manifest) in [
        ("guard-cli", "Cargo.toml"),
        ("guard-lang", "crates/lang/Cargo.toml"),
    ] {
        let manifest = std::fs::read_to_string(root().join(manifest)).unwrap();
        let dependencies = manifest.split("\n[dependencies]\n").nth(1).unwrap();
        let dependencies = dependencies.split("\n[").next().unwrap();
        let listed = &python[package][0].1;
        for name in dependencies
            .lines()
            .filter_map(|line| line.split([' ', '.', '=']).next())
        {
            if !name.is_empty() && !name.starts_with('#') && !listed.contains(name) {
                stale.push(format!("{package} on {name}: missing"));
            }
        }
    }
    assert!(
        stale.is_empty(),
        "python/Cargo.lock does not follow Cargo.lock: {stale:#?}\nrun `cp Cargo.lock python/Cargo.lock && cargo metadata \
         --format-version 1 --manifest-path python/Cargo.toml >/dev/null`"
    );
}

#[test]
fn files_can_be_read_in_one_sitting() {
    for path in sources() {
        let lines = fs::read_to_string(&path).unwrap().lines().count();
        assert!(
            lines <= 700,
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

/// Phrases of a dialect that the documentation once had, with the plain words for each. They are searched in doc comments,
/// in string literals, in `docs/` and in the pages of diagnostics.
const DIALECT: &[(&str, &str)] = &[
    ("none where", "`None` if"),
    ("none if", "`None` if"),
    ("where nothing", "if nothing"),
    ("where nobody", "if nobody"),
    ("where there is none", "if there is none"),
    ("nobody asks", "if requested"),
    ("is asked for", "is expected, is required, is requested"),
    ("are asked for", "are expected, are required, are requested"),
    ("is told", "is reported, is written"),
    ("are told", "are reported, are written"),
    ("told of", "reported about"),
    ("told apart", "distinguished"),
    ("tells apart", "distinguishes"),
    ("is owed", "is pending"),
    ("what is wrong", "the fault"),
    ("which is then told", "with a report"),
    ("no leave", "not allowed"),
    ("is held against", "is compared with"),
    ("goes by", "uses"),
];

/// Returns each phrase of [`DIALECT`] that a text contains, with the plain words.
fn dialect(text: &str) -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    let text = format!(
        " {} ",
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    )
    .to_lowercase();
    DIALECT.iter().filter(move |(phrase, _)| {
        let ends = |c: char| !c.is_alphanumeric();
        text.match_indices(phrase).any(|(at, _)| {
            text[..at].ends_with(ends) && text[at + phrase.len()..].starts_with(ends)
        })
    })
}

/// Whether a doc comment begins with a free relative, which names no subject.
fn begins_with_a_free_relative(doc: &str) -> bool {
    let word = doc.split(|c: char| !c.is_alphabetic()).next().unwrap();
    ["What", "Who", "Whose", "How", "Where", "Why", "Which"].contains(&word)
}

/// A text with the number of its first line.
type Numbered = (usize, String);

/// The doc comments of a source, each with the number of its first line, and its string literals.
fn prose(source: &str) -> (Vec<Numbered>, Vec<Numbered>) {
    let (mut docs, mut strings) = (Vec::<Numbered>::new(), Vec::new());
    let mut code = String::new();
    let mut last = 0;
    for (number, line) in source.lines().enumerate() {
        let trimmed = line.trim_start();
        let doc = trimmed.strip_prefix("///").or(trimmed.strip_prefix("//!"));
        match (doc, docs.last_mut()) {
            (Some(doc), Some((_, text))) if last + 1 == number => {
                text.push(' ');
                text.push_str(doc.trim());
            }
            (Some(doc), _) => docs.push((number + 1, doc.trim().to_owned())),
            (None, _) => {}
        }
        if doc.is_some() {
            last = number;
        }
        code.push_str(if trimmed.starts_with("//") { "" } else { line });
        code.push('\n');
    }
    let mut line = 1;
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\n' => line += 1,
            // A character, or a lifetime.
            '\'' if chars.next_if_eq(&'\\').is_some() || chars.peek() == Some(&'"') => {
                chars.next();
            }
            '"' => {
                let (begin, mut text) = (line, String::new());
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => text.extend(chars.next().filter(|next| *next != '\n')),
                        '\n' => {
                            line += 1;
                            text.push(' ');
                        }
                        other => text.push(other),
                    }
                }
                strings.push((begin, text));
            }
            _ => {}
        }
    }
    (docs, strings)
}

/// The faults in the wording of a source file.
fn faults_of_source(source: &str) -> Vec<(usize, String)> {
    let (docs, strings) = prose(source);
    let mut faults = Vec::new();
    for (line, doc) in &docs {
        if begins_with_a_free_relative(doc) {
            faults.push((
                *line,
                format!("a doc comment begins with a noun phrase or a verb, found `{doc}`"),
            ));
        }
    }
    for (line, text) in docs.iter().chain(&strings) {
        for (phrase, plain) in dialect(text) {
            faults.push((
                *line,
                format!("write `{plain}` instead of `{phrase}`: {text}"),
            ));
        }
    }
    faults
}

/// The files of these kinds below a folder; packages that were installed there are not ours.
fn files_of(dir: &Path, kinds: &[&str]) -> Vec<PathBuf> {
    let walk = walkdir::WalkDir::new(dir).sort_by_file_name();
    walk.into_iter()
        .filter_entry(|entry| {
            !["node_modules", "target"].contains(&&*entry.file_name().to_string_lossy())
        })
        .map(|entry| entry.unwrap().into_path())
        .filter(|path| {
            path.extension()
                .is_some_and(|ext| kinds.contains(&&*ext.to_string_lossy()))
        })
        .collect()
}

#[test]
fn prose_is_plain() {
    let mut faults = Vec::new();
    for path in sources() {
        for (line, fault) in faults_of_source(&fs::read_to_string(&path).unwrap()) {
            faults.push(format!("{}:{line}: {fault}", path.display()));
        }
    }
    // Pages are read as a whole, and so is what is written in other languages: their comments and texts are for people too.
    let folders: [(&str, &[&str]); 9] = [
        ("docs", &["md"]),
        ("crates/syntax/src/diagnostic/codes", &["md"]),
        ("crates/lang/src/report/page", &["js"]),
        ("stdlib", &["guard"]),
        ("examples", &["guard", "md"]),
        ("python", &["py", "rs", "md"]),
        ("clients", &["ts", "md"]),
        ("editors", &["ts", "md"]),
        ("benches", &["rs", "py"]),
    ];
    let alone = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];
    let pages = folders
        .iter()
        .flat_map(|(dir, kinds)| files_of(&root().join(dir), kinds));
    for path in pages.chain(alone.iter().map(|name| root().join(name))) {
        let text = fs::read_to_string(&path).unwrap();
        for (number, line) in text.lines().enumerate() {
            // `None if … else` is code of Python.
            let found = dialect(line).filter(|_| !line.contains("None if "));
            for (phrase, plain) in found {
                faults.push(format!(
                    "{}:{}: write `{plain}` instead of `{phrase}`: {line}",
                    path.display(),
                    number + 1
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_dialect_is_found() {
    let source = r#"
/// What a field means; none where
/// it has no meaning.
fn meaning() -> &'static str {
    let quote = '"';
    // None where nobody asks.
    "a condition is asked \
     for"
}
"#;
    let lines: Vec<usize> = faults_of_source(source)
        .iter()
        .map(|fault| fault.0)
        .collect();
    assert_eq!(lines, [2, 2, 7]);
    assert!(faults_of_source("/// Returns the meaning, or `None` if there is none.").is_empty());
    assert_eq!(
        dialect("Told of one event. None  where it ends.").count(),
        2
    );
    assert_eq!(dialect("the untold office").count(), 0);
}
