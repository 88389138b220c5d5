//! The canonical layout: snapshots beside their inputs, and laws that hold for every file.

use crate::support::print::print_expr;
use guard_lang::diagnostic::Diagnostic;
use guard_lang::source::SourceFile;
use guard_lang::syntax;
use proptest::prelude::*;

/// Lays out a text; checks that the tree and the comments stay and that doing it again changes
/// nothing.
fn check(name: &str, text: &str) -> String {
    let tree = |text: &str| syntax::parse(&SourceFile::new(name, text)).0;
    let out = syntax::format(text).unwrap_or_else(|e| panic!("{text}\n{e:?}"));
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
    let block_comment = out.contains("/*"); // which keeps its inside
    assert!(
        block_comment || !out.contains("\n\n\n") && !out.contains(" \n"),
        "{name}: spare space\n{out}"
    );
    out
}

#[test]
fn layouts() {
    insta::glob!("..", "syntax/format/*.guard", |path| {
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

/// For every broken item, how many reports it has. A report between two items that touch (something is missing at the
/// end of the first) is the first one's.
fn reports_of_broken_items(
    tree: &syntax::ast::File,
    diagnostics: &[Diagnostic],
) -> Vec<(usize, usize)> {
    let items = || tree.items.iter().enumerate();
    let ends_at = |place: u32| items().any(|(_, item)| item.span.end == place);
    items()
        .filter(|(_, item)| matches!(item.kind, syntax::ast::ItemKind::Broken(_)))
        .map(|(idx, item)| {
            let inside = diagnostics.iter().filter(|d| {
                let (at, span) = (d.span(), *item.span);
                if at.is_empty() && at.start == span.start && ends_at(at.start) {
                    return false;
                }
                span.start <= at.start
                    && (at.start < span.end || (at.is_empty() && at.start == span.end))
            });
            (idx, inside.count())
        })
        .collect()
}

/// Two broken items that touch: each has one report, the border has none of its own.
#[test]
fn broken_items_that_touch_have_one_report_each() {
    let text = "predicate did(v: string)property p = G (a\npropert = v\n";
    let (tree, diagnostics) = syntax::parse(&SourceFile::new("touching", text));
    let counts: Vec<usize> = reports_of_broken_items(&tree, &diagnostics)
        .into_iter()
        .map(|(_, count)| count)
        .collect();
    assert_eq!(counts, [1, 1], "{diagnostics:?}");
}

crate::random::tests! {
    1000 cases;

    /// Samples with a piece cut out or put elsewhere: no panic, one report for each broken item,
    /// and where it still parses the laws of layout hold.
    #[test]
    fn damaged_samples(which in 0..64usize, from in 0.0..1.0f64, len in 0..40usize, to in 0.0..1.0f64) {
        let mut paths: Vec<_> = ["tests/syntax/accept", "tests/syntax/format"]
            .iter()
            .flat_map(|folder| std::fs::read_dir(folder).unwrap())
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|e| e == "guard"))
            .collect();
        paths.sort();
        let mut text: Vec<char> = std::fs::read_to_string(&paths[which % paths.len()]).unwrap().chars().collect();
        let at = (from * text.len() as f64) as usize;
        let cut: Vec<char> = text.drain(at..(at + len).min(text.len())).collect();
        if len % 2 == 0 {
            let to = (to * text.len() as f64) as usize;
            text.splice(to..to, cut);
        }
        let text: String = text.into_iter().collect();
        let (tree, diagnostics) = syntax::parse(&SourceFile::new("damaged", text.as_str()));
        for (idx, count) in reports_of_broken_items(&tree, &diagnostics) {
            prop_assert_eq!(count, 1, "item {} of\n{}\n{:?}", idx, text, diagnostics);
        }
        if diagnostics.iter().all(|d| !d.is_error()) {
            check("damaged", &text);
        }
    }

    /// Long lines are broken in every way, and the tree stays.
    #[test]
    fn random_formulas_keep_their_meaning(a in crate::support::trees::any_expr(), b in crate::support::trees::any_expr()) {
        let (a, b) = (print_expr(&a), print_expr(&b));
        let text = format!("property   p = {a}\nlet v = {b}\n");
        let out = check("random", &text);
        prop_assert!(!out.contains("property   p"), "left as it was: {text}");
    }
}
