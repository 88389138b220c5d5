//! Valid texts parse: the samples of the language guide, the worked specifications and the formulas of the conformance
//! suite.

use crate::support::print::print_expr;
use guard_lang::diagnostic::Diagnostic;
use guard_lang::source::SourceFile;
use guard_lang::syntax;
use std::path::Path;

fn describe(file: &SourceFile, diagnostics: &[Diagnostic]) -> String {
    let mut out = String::new();
    for d in diagnostics {
        let at = file.location(d.span().start);
        out += &format!(
            "{}:{}:{}: {} {} ({})\n",
            file.name(),
            at.line,
            at.column,
            d.code,
            d.message,
            d.primary.message
        );
    }
    out
}

#[test]
fn samples_parse() {
    let mut failures = String::new();
    let mut count = 0;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syntax/accept");
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        let text = std::fs::read_to_string(&path).unwrap();
        let file = SourceFile::new(path.file_name().unwrap().to_string_lossy(), text);
        let (tree, diagnostics) = syntax::parse(&file);
        failures += &describe(&file, &diagnostics);
        assert!(!tree.items.is_empty());
        count += 1;
    }
    assert!(count >= 15, "only {count} samples");
    assert!(failures.is_empty(), "{failures}");
}

#[test]
fn conformance_formulas_parse() {
    let mut formulas = std::collections::BTreeSet::new();
    for name in ["finite", "lasso", "relations", "automata", "kripke"] {
        for line in crate::support::suite(&format!("{name}.jsonl")) {
            for key in ["formula", "f", "g"] {
                if let Some(text) = line.get(key).and_then(|value| value.as_str()) {
                    formulas.insert(text.to_owned());
                }
            }
        }
    }
    let mut failures = String::new();
    for text in &formulas {
        if let Err(diagnostics) = syntax::parse_formula(text) {
            failures += &describe(&SourceFile::new(text.as_str(), text.as_str()), &diagnostics);
        }
    }
    assert!(failures.is_empty(), "{failures}");
    println!("{} formulas", formulas.len());
}

/// Texts of the suite that the grammar takes and the checker refuses.
const LEFT_TO_THE_CHECKER: &[&str] = &[
    "F[5,2] a",
    "G[3,1] a",
    "a U[4,0] b",
    "O[2,1] a",
    "H[9,0] a",
    "G (a -> F[10,9] b)",
    "F[1,0] true",
    "!F[100,99] a & b",
    "F[a,b] c",
    "_a",
    "a <- b",
    "a < b",
    "3",
];

#[test]
fn conformance_errors_are_refused() {
    let mut wrong = Vec::new();
    for line in crate::support::suite("errors.jsonl") {
        let text = line["formula"].as_str().unwrap();
        let result = syntax::parse_formula(text);
        if result.is_ok() != LEFT_TO_THE_CHECKER.contains(&text) {
            wrong.push(format!("{text}: {}", line["why"]));
        }
        if let Err(diagnostics) = result {
            assert_eq!(diagnostics.len(), 1, "{text}: {diagnostics:?}");
            println!("{text:20} {}", diagnostics[0].message);
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn deep_nesting_is_one_clear_error() {
    let deep = [
        format!("{}a{}", "(".repeat(5000), ")".repeat(5000)),
        format!("{}a", "G ".repeat(5000)),
        format!("{}a", "not ".repeat(5000)),
        format!("{}a", "a -> ".repeat(5000)),
        format!("{}a", "a + ".repeat(5000)),
        format!("{}a", "a U ".repeat(5000)),
        format!("a{}", ".b".repeat(5000)),
        format!("a{}", "[0]".repeat(5000)),
        format!("a{}", "'".repeat(5000)),
        format!("a{}", " as int".repeat(5000)),
        format!("{}a", "if a then a else ".repeat(5000)),
        format!("{}a", "any x in a: ".repeat(5000)),
        format!("{}a{}", "{a: [".repeat(2500), "]}".repeat(2500)),
        format!("a as {}int{}", "list<".repeat(5000), ">".repeat(5000)),
    ];
    for text in deep {
        let diagnostics = syntax::parse_formula(&text).unwrap_err();
        assert_eq!(diagnostics.len(), 1, "{:.40}", text);
        assert_eq!(
            diagnostics[0].code.as_str(),
            "G0401",
            "{:.40} {:?}",
            text,
            diagnostics[0]
        );
    }
    // wide is not deep
    for text in [
        format!("{}a == 1", "a == 1 and ".repeat(20_000)),
        format!("{}a == 1", "a.b == 1 and not c or ".repeat(20_000)),
        format!("[{}1]", "1 + 1, ".repeat(20_000)),
        format!(
            "cases {{ {}else => 1 }}",
            "a == 1 => 1 + 2\n".repeat(20_000)
        ),
    ] {
        assert!(syntax::parse_formula(&text).is_ok(), "{text:.40}");
    }
    let events: String = (0..5000)
        .map(|n| format!("  f{n}: list<string>? from \"/x\" = []\n"))
        .collect();
    let file = SourceFile::new("wide", format!("event {{\n{events}}}\n"));
    assert_eq!(describe(&file, &syntax::parse(&file).1), "");
}

#[test]
fn ten_thousand_lines_parse_fast() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/syntax/accept");
    let sample = std::fs::read_to_string(folder.join("worked_the_15_scenarios.guard")).unwrap();
    let copies = 10_000 / sample.lines().count() + 1;
    let file = SourceFile::new("long", sample.repeat(copies));
    let begin = std::time::Instant::now();
    let (tree, diagnostics) = syntax::parse(&file);
    let took = begin.elapsed();
    println!("{} items in {took:?}", tree.items.len());
    assert!(diagnostics.is_empty());
    assert!(took.as_secs() < 5, "{took:?}");
}

/// A tree as deep as the limit allows is walked by every pass on a small stack.
#[test]
fn at_the_limit_every_pass_can_walk() {
    let depth = syntax::NESTING_LIMIT - 10;
    let texts = [
        format!("{}a{}", "(".repeat(depth), ")".repeat(depth)),
        format!("{}a", "not ".repeat(depth)),
        format!("{}a", "a -> ".repeat(depth)),
        format!("{}a", "a + ".repeat(depth)),
        format!("{}a{}", "[".repeat(depth), "]".repeat(depth)),
        format!("{}a", "if a then a else ".repeat(depth)),
        format!("{}a{}", "f(".repeat(depth), ")".repeat(depth)),
        format!(
            "{}a{}",
            "cases { else => ".repeat(depth / 2),
            " }".repeat(depth / 2)
        ),
        format!(
            "a as {}int{}",
            "list<".repeat(depth / 4),
            ">".repeat(depth / 4)
        ),
    ];
    let walk = move || {
        for text in texts {
            let tree = syntax::parse_formula(&text).unwrap_or_else(|e| panic!("{text:.40} {e:?}"));
            let mut nodes = 0;
            syntax::visit::walk(&tree, &mut |_| nodes += 1);
            assert!(nodes > 0);
            assert_eq!(tree.clone(), tree);
            assert!(!format!("{tree:?}").is_empty());
            let printed = print_expr(&tree);
            assert_eq!(syntax::parse_formula(&printed).unwrap(), tree);
            assert!(syntax::format(&format!("let x = {text}\n")).is_ok());
        }
    };
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(walk)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn contextual_words_are_names() {
    use guard_lang::syntax::token::{
        CONTEXTUAL_WORDS, ITEM_WORDS, LOOK_AHEAD_WORDS, RESERVED_WORDS, temporal_words,
    };
    for word in CONTEXTUAL_WORDS.iter().chain(LOOK_AHEAD_WORDS) {
        let text = format!(
            "predicate {word} = {word} == 1 and x.{word}\nevent {{ {word}: int {word}: {word} }}\n\
             track {word}: {word} = {word} then {word} + {word}({word}: {word}, [{word}])\n\
             property {word} = forall {word} in {word}: F {word} on {word}\n\
             enforce {word} {{ violated => invoke {word}({word}) }}\nlet {word} = {{{word}: {word}}}\n"
        );
        let file = SourceFile::new(*word, text);
        assert_eq!(describe(&file, &syntax::parse(&file).1), "");
    }
    for word in RESERVED_WORDS {
        let text = format!("event {{ {word}: int }}\npredicate p = x.{word} == {{{word}: 1}}\n");
        let file = SourceFile::new(*word, text);
        assert_eq!(describe(&file, &syntax::parse(&file).1), "");
        let file = SourceFile::new(*word, format!("predicate {word} = true\n"));
        assert_eq!(syntax::parse(&file).1.len(), 1, "{word}");
    }
    assert!(
        ITEM_WORDS
            .iter()
            .all(|word| CONTEXTUAL_WORDS.contains(word))
    );
    for (word, letter) in temporal_words() {
        assert!(RESERVED_WORDS.contains(&word) && RESERVED_WORDS.contains(&letter));
    }
}
