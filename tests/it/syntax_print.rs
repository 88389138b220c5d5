//! Printed syntax trees parse to equal trees.

use crate::support::print::{print_expr, print_file, print_item};
use guard_lang::source::SourceFile;
use guard_lang::syntax;
use proptest::prelude::*;

use crate::support::trees::any_expr;

crate::random::tests! {
    3000 cases;

    #[test]
    fn expressions_round_trip(tree in any_expr()) {
        let text = print_expr(&tree);
        match syntax::parse_formula(&text) {
            Ok(again) => prop_assert_eq!(&again, &tree, "{}", text),
            Err(diagnostics) => prop_assert!(false, "{}\n{:?}", text, diagnostics),
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(text in "\\PC{0,200}") {
        let (_, diagnostics) = syntax::parse(&SourceFile::new("x", text.as_str()));
        for d in diagnostics {
            prop_assert!(d.span().range().end <= text.len());
        }
    }

    #[test]
    fn any_tokens_are_read_without_a_panic(words in prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..40)) {
        let text = words.join(" ");
        let (_, diagnostics) = syntax::parse(&SourceFile::new("x", text.as_str()));
        let text = text.replace(" ; ", "\n");
        let (_, more) = syntax::parse(&SourceFile::new("x", text.as_str()));
        for d in diagnostics.iter().chain(&more) {
            prop_assert!(!d.message.is_empty());
        }
    }
}

const WORDS: &[&str] = &[
    "predicate",
    "property",
    "rule",
    "event",
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "=",
    "==",
    "=>",
    "->",
    ":",
    ",",
    "a",
    "b",
    "1",
    "2s",
    "\"s\"",
    "/",
    "cases",
    "else",
    "if",
    "then",
    "when",
    "within",
    "steps",
    "G",
    "F",
    "P",
    "=?",
    "not",
    "in",
    "any",
    "count",
    "forall",
    ".",
    "'",
    "?",
    "??",
    ";",
    "@",
    "<=",
    "-",
    "as",
    "list",
    "<",
    ">",
    "..",
    "on",
    "message",
    "\"{a}\"",
    "\"{",
    "\n",
    "enforce",
];

/// A name that ends a bound does not grow together with the one that follows.
#[test]
fn a_bound_named_leads_keeps_its_operand() {
    let tree = syntax::parse_formula("G<=leads (to)").unwrap();
    let text = print_expr(&tree);
    assert_eq!(syntax::parse_formula(&text).unwrap(), tree, "{text}");
}

/// Items too: every sample is printed and read again.
#[test]
fn samples_round_trip() {
    let mut count = 0;
    for folder in ["tests/syntax/accept", "tests/syntax/format"] {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|e| e != "guard") {
                continue;
            }
            let text = std::fs::read_to_string(&path).unwrap();
            let (tree, diagnostics) = syntax::parse(&SourceFile::new("a", text));
            assert!(
                diagnostics.is_empty(),
                "{}: {diagnostics:?}",
                path.display()
            );
            let printed = print_file(&tree);
            let (again, diagnostics) = syntax::parse(&SourceFile::new("b", printed.as_str()));
            assert!(diagnostics.is_empty(), "{printed}\n{diagnostics:?}");
            assert_eq!(again.docs, tree.docs);
            for (x, y) in again.items.iter().zip(&tree.items) {
                assert_eq!(x, y, "{}", print_item(y));
            }
            assert_eq!(again, tree);
            count += 1;
        }
    }
    assert!(count > 15);
}
