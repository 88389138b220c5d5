//! The standard library: every module is formatted, checks without a warning, and passes its tests.

use assert_cmd::Command;

/// The files of these folders.
fn files(folders: &[&str]) -> Vec<String> {
    let mut files = Vec::new();
    for folder in folders {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|ending| ending == "guard") {
                files.push(path.to_str().unwrap().to_owned());
            }
        }
    }
    files.sort();
    files
}

fn guard(args: &[&str], folders: &[&str]) -> assert_cmd::assert::Assert {
    Command::cargo_bin("guard")
        .unwrap()
        .args(args)
        .args(files(folders))
        .assert()
}

#[test]
fn the_library_is_laid_out_and_clean() {
    guard(&["fmt", "--check"], &["stdlib", "stdlib/tests"]).success();
    guard(&["check", "--deny", "warnings"], &["stdlib"]).success();
}

#[test]
fn the_tests_of_the_library_pass() {
    guard(&["test"], &["stdlib/tests"]).success();
}

/// A module without tests of its own is not yet part of the library.
#[test]
fn every_module_has_tests() {
    for module in guard_lang::stdlib::modules() {
        let file = format!("stdlib/tests/{module}.guard");
        let text = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(text.contains("\ntest \""), "{file} has no tests");
    }
}

/// What a module declares is documented.
#[test]
fn every_item_of_the_library_is_documented() {
    for module in guard_lang::stdlib::modules() {
        let (file, text) = guard_lang::stdlib::module(&[module]).unwrap();
        let (tree, _) = guard_lang::syntax::parse(&guard_lang::source::SourceFile::new(file, text));
        assert!(!tree.docs.is_empty(), "{file}");
        for item in &tree.items {
            let named = item
                .kind
                .name()
                .is_some_and(|name| !name.text.chars().all(|c| c.is_uppercase() || c == '_'));
            assert!(
                !named || !item.docs.is_empty(),
                "{file}: {:?} has no `///`",
                item.kind.name()
            );
        }
    }
}

/// The examples in the pages of modules check, and are laid out.
#[test]
fn every_example_of_the_library_checks() {
    let mut examples = 0;
    for module in guard_lang::stdlib::modules() {
        let (file, text) = guard_lang::stdlib::module(&[module]).unwrap();
        let (tree, _) = guard_lang::syntax::parse(&guard_lang::source::SourceFile::new(file, text));
        let items = tree.items.iter().map(|item| &item.docs);
        for docs in std::iter::once(&tree.docs).chain(items) {
            let text: Vec<&str> = docs.iter().map(|line| line.text.as_str()).collect();
            for example in text.join("\n").split("```guard\n").skip(1) {
                let example = example.split("\n```").next().unwrap();
                let example = format!("{example}\n");
                let checked = guard_lang::front(
                    "example.guard",
                    &example,
                    &guard_lang::modules::NoFiles,
                    guard_lang::check::Limits::default(),
                );
                assert!(
                    checked.spec.is_some() && checked.diagnostics.is_empty(),
                    "{file}: {:?}",
                    checked.diagnostics
                );
                let laid_out = guard_lang::syntax::format(&example).unwrap();
                assert_eq!(laid_out, example, "{file}");
                examples += 1;
            }
        }
    }
    assert!(examples > 0);
}
