//! Snapshots of rendered diagnostics, beside their input files.
//!
//! A comment `//~ G0101` marks the line on which a diagnostic begins, `//~^ G0101` the line above;
//! several codes may follow. Markers state intent, snapshots state presentation.

use crate::support::ui;
use guard_lang::diagnostic::{Diagnostic, RenderOptions, json_lines, render};
use guard_lang::source::{SourceFile, SourceMap};
use guard_lang::syntax;

#[test]
fn diagnostics() {
    insta::glob!("..", "syntax/ui/*.guard", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let mut sources = SourceMap::new();
        let id = sources.add(name.as_str(), text.as_str());
        let file = sources.get(id);
        let (_, diagnostics) = syntax::parse(file);
        let rendered = render(&diagnostics, &sources, RenderOptions::default());
        assert_eq!(
            ui::found(file, &diagnostics),
            ui::markers(&text),
            "{name}\n{rendered}"
        );
        for line in json_lines(&diagnostics, &sources).lines() {
            let value: serde_json::Value = serde_json::from_str(line).unwrap();
            assert_eq!(value["v"], 1);
            assert_eq!(value["labels"][0]["primary"], true);
        }
        ui::settings(path).bind(|| {
            insta::assert_snapshot!(
                path.file_stem().unwrap().to_string_lossy().as_ref(),
                rendered
            );
        });
    });
}

/// Fixes are edits that we believe in: with the first fix of each, the errors are fewer.
#[test]
fn fixes_help() {
    insta::glob!("..", "syntax/ui/*.guard", |path| {
        let text = std::fs::read_to_string(path).unwrap();
        let file = SourceFile::new("a.guard", text.as_str());
        let (_, diagnostics) = syntax::parse(&file);
        for diagnostic in &diagnostics {
            for fix in &diagnostic.fixes {
                let mut fixed = text.clone();
                let mut edits = fix.edits.clone();
                edits.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
                for (span, new) in edits {
                    fixed.replace_range(span.range(), &new);
                }
                let (_, after) = syntax::parse(&SourceFile::new("a.guard", fixed.as_str()));
                let line = |f: &SourceFile, d: &Diagnostic| f.location(d.span().start).line;
                let same = |d: &&Diagnostic| {
                    d.code == diagnostic.code
                        && d.span() == diagnostic.span()
                        && d.message == diagnostic.message
                };
                assert!(
                    !after.iter().any(|d| same(&d)),
                    "{}:{}: {} does not help\n{fixed}",
                    path.display(),
                    line(&file, diagnostic),
                    fix.message
                );
            }
        }
    });
}

/// Each syntax code has a page with a title, a failing and a fixed example, and a case here.
#[test]
fn codes_have_pages_and_cases() {
    let mut seen = String::new();
    for entry in std::fs::read_dir("tests/syntax/ui").unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "guard") {
            seen += &std::fs::read_to_string(path).unwrap();
        }
    }
    for code in guard_lang::diagnostic::Code::ALL {
        let page = code.page();
        assert!(
            page.starts_with(&format!("# {code}: {}", code.summary())),
            "{code}: title"
        );
        assert!(
            page.matches("```guard").count() >= 2,
            "{code}: two examples"
        );
        let ours = code.as_str().starts_with("G01") || code.as_str() == "G0901";
        if ours {
            assert!(
                seen.contains(code.as_str()),
                "{code} has no case in tests/syntax/ui"
            );
        }
    }
}
