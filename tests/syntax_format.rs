//! The canonical layout: snapshots beside their inputs, and the laws that hold for every file.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot read its input fails"
)]

use guard_lang::source::SourceFile;
use guard_lang::syntax;

/// Lays out a text; checks that the tree and the comments stay and that doing it again changes
/// nothing.
fn check(name: &str, text: &str) -> String {
    let tree = |text: &str| syntax::parse(&SourceFile::new(name, text)).0;
    let out = syntax::format(text).unwrap();
    let (before, after) = (tree(text), tree(&out));
    assert_eq!(before, after, "{name}: the tree changed\n{out}");
    let comments = |file: &syntax::ast::File| {
        file.comments
            .iter()
            .map(|c| c.text.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        comments(&before),
        comments(&after),
        "{name}: comments changed"
    );
    let again = syntax::format(&out).unwrap();
    assert_eq!(out, again, "{name}: formatting twice differs");
    assert!(
        !out.contains("\n\n\n") && !out.contains(" \n"),
        "{name}: spare space\n{out}"
    );
    out
}

#[test]
fn layouts() {
    insta::glob!("syntax/format/*.guard", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let out = check(&name, &text);
        let mut settings = insta::Settings::clone_current();
        settings.set_snapshot_path(path.parent().unwrap());
        settings.set_prepend_module_to_snapshot(false);
        settings.set_snapshot_suffix("");
        settings.set_omit_expression(true);
        settings.remove_input_file();
        settings.bind(|| insta::assert_snapshot!(name, out));
    });
}

#[test]
fn samples_keep_their_meaning() {
    for entry in std::fs::read_dir("tests/syntax/accept").unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let name = path.display().to_string();
        let out = check(&name, &text);
        for line in out.lines().filter(|line| !line.contains("//")) {
            let long = line.chars().count() > syntax::WIDTH;
            let text = line.contains('/') || line.contains('"');
            assert!(!long || text, "{name}: {line}");
        }
        // line ends and byte order marks do not matter
        let windows = format!("\u{FEFF}{}", text.replace('\n', "\r\n"));
        assert_eq!(syntax::format(&windows).unwrap(), out, "{name}: CRLF");
    }
}

#[test]
fn a_file_with_errors_is_left_alone() {
    let diagnostics = syntax::format("predicate a = \npredicate b = x == 1\n").unwrap_err();
    assert_eq!(diagnostics.len(), 1);
    assert_eq!(syntax::format("").unwrap(), "");
    assert_eq!(syntax::format("\n\n// only\n\n").unwrap(), "// only\n");
}
