//! The grammar on the specs of this repository, whole and broken, and the queries on them.

use std::ops::Range;
use std::path::{Path, PathBuf};

use tree_sitter::{Node, Parser, Query, QueryCursor, StreamingIterator, Tree};

fn parse(text: &str) -> Tree {
    let mut parser = Parser::new();
    parser
        .set_language(&tree_sitter_guard::LANGUAGE.into())
        .unwrap();
    parser.parse(text, None).unwrap()
}

fn files(folder: &Path, ending: &str) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(files(&path, ending));
        } else if path.extension().is_some_and(|found| found == ending) {
            all.push(path);
        }
    }
    all.sort();
    all
}

/// The texts of the examples and of the standard library.
fn specs() -> Vec<(PathBuf, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let all: Vec<_> = ["examples", "stdlib"]
        .iter()
        .flat_map(|folder| files(&root.join(folder), "guard"))
        .map(|path| (path.clone(), std::fs::read_to_string(path).unwrap()))
        .collect();
    assert!(all.len() > 20);
    all
}

/// The items of a tree, without comments.
fn items(tree: &Tree) -> Vec<Node<'_>> {
    let mut cursor = tree.walk();
    let children = tree.root_node().named_children(&mut cursor);
    children
        .filter(|node| node.kind().ends_with("_item"))
        .collect()
}

/// Whether a node is whole: there is no error in it and nothing is missing.
fn is_whole(node: Node<'_>) -> bool {
    let mut cursor = node.walk();
    !node.has_error() && node.kind() != "missing" && node.children(&mut cursor).all(is_whole)
}

#[test]
fn all_specs_are_accepted() {
    for (path, text) in specs() {
        let tree = parse(&text);
        assert!(is_whole(tree.root_node()), "{}", path.display());
    }
}

/// A generator of numbers that are the same in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

/// The tokens of a node, without comments.
fn tokens(node: Node<'_>, found: &mut Vec<Range<usize>>) {
    if node.child_count() == 0 {
        if !node.kind().ends_with("_comment") && !node.byte_range().is_empty() {
            found.push(node.byte_range());
        }
        return;
    }
    let mut cursor = node.walk();
    for child in node.children(&mut cursor) {
        tokens(child, found);
    }
}

/// A token is removed, replaced or doubled, or the item ends before its end, as it does while it is typed.
fn break_item(text: &str, item: Node<'_>, numbers: &mut Numbers) -> String {
    let mut all = Vec::new();
    tokens(item, &mut all);
    // The first word says that an item begins.
    let at = all[1 + numbers.below(all.len() - 1)].clone();
    let mut broken = text.to_owned();
    match numbers.below(4) {
        0 => broken.replace_range(at, " "),
        1 => broken.replace_range(at.start..item.end_byte(), " "),
        2 => {
            let again = text[at.clone()].to_owned();
            broken.insert_str(at.end, &again);
        }
        _ => {
            let others = [
                "(", ")", "{", "}", "[", "]", "\"", "=", "and", "x", "always", "/", ":", "<=", "#",
            ];
            broken.replace_range(at, others[numbers.below(others.len())]);
        }
    }
    broken
}

/// While an item is typed or broken, the others keep their colours and folds: the item ends where the next one begins. Within a
/// deep nest the parser may still find it cheaper to skip the beginning of the next item.
#[test]
fn a_broken_item_costs_only_itself() {
    let mut numbers = Numbers(7);
    let (mut broken, mut costly) = (0, Vec::new());
    for (path, text) in specs() {
        let whole = parse(&text);
        let whole_items = items(&whole);
        for (index, item) in whole_items.iter().enumerate() {
            let changed = break_item(&text, *item, &mut numbers);
            let tree = parse(&changed);
            if is_whole(tree.root_node()) {
                continue;
            }
            broken += 1;
            let kept: Vec<_> = items(&tree)
                .into_iter()
                .filter(|node| is_whole(*node))
                .map(|node| (node.kind(), &changed[node.byte_range()]))
                .collect();
            let others = whole_items.iter().enumerate();
            let lost = others
                .filter(|(other, _)| *other != index)
                .filter(|(_, node)| !kept.contains(&(node.kind(), &text[node.byte_range()])))
                .count();
            if lost > 0 {
                costly.push(format!("{}, item {index}: {lost} lost", path.display()));
            }
        }
    }
    assert!(broken > 500, "{broken}");
    assert!(
        costly.len() * 50 < broken,
        "{} of {broken}:\n{}",
        costly.len(),
        costly.join("\n")
    );
}

#[test]
fn queries_fit_the_grammar_and_find_what_they_are_for() {
    let language = tree_sitter_guard::LANGUAGE.into();
    let text = "/// Doc.\npredicate mails(t: string) = tool matches /a+/i\nproperty quiet = never mails(\"x\")\n\
                event {\n  to: string\n}\n";
    let tree = parse(text);
    for (query, wanted) in [
        (
            tree_sitter_guard::HIGHLIGHTS_QUERY,
            &[
                "function mails",
                "keyword.repeat never",
                "type.definition quiet",
                "variable.parameter t",
                "type.builtin string",
                "string.regexp /a+/i",
                "property to",
            ][..],
        ),
        (
            tree_sitter_guard::TAGS_QUERY,
            &["name mails", "name quiet"][..],
        ),
        (tree_sitter_guard::LOCALS_QUERY, &["local.definition t"][..]),
        (
            tree_sitter_guard::INJECTIONS_QUERY,
            &["injection.content a+", "injection.content /// Doc."][..],
        ),
        (
            tree_sitter_guard::FOLDS_QUERY,
            &["fold event {\n  to: string\n}"][..],
        ),
        (
            tree_sitter_guard::INDENTS_QUERY,
            &["indent.begin (\"x\")"][..],
        ),
        (
            include_str!("../../helix/queries/guard/highlights.scm"),
            &["keyword.control.repeat never"][..],
        ),
        (
            include_str!("../../helix/queries/guard/indents.scm"),
            &["indent (\"x\")"][..],
        ),
        (
            include_str!("../../helix/queries/guard/injections.scm"),
            &["injection.content a+"][..],
        ),
        (
            include_str!("../../helix/queries/guard/locals.scm"),
            &["local.definition t"][..],
        ),
        (
            include_str!("../../helix/queries/guard/textobjects.scm"),
            &["function.around property quiet = never mails(\"x\")"][..],
        ),
        (
            include_str!("../../zed/languages/guard/highlights.scm"),
            &["function mails"][..],
        ),
        (
            include_str!("../../zed/languages/guard/brackets.scm"),
            &["open ("][..],
        ),
        (
            include_str!("../../zed/languages/guard/indents.scm"),
            &["indent (\"x\")"][..],
        ),
        (
            include_str!("../../zed/languages/guard/injections.scm"),
            &["injection.content a+"][..],
        ),
        (
            include_str!("../../zed/languages/guard/outline.scm"),
            &["name quiet"][..],
        ),
    ] {
        let query = Query::new(&language, query).unwrap();
        let mut cursor = QueryCursor::new();
        let mut found = Vec::new();
        let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures {
                let name = query.capture_names()[capture.index as usize];
                found.push(format!("{name} {}", &text[capture.node.byte_range()]));
            }
        }
        assert!(!found.is_empty());
        for wanted in wanted {
            assert!(
                found.iter().any(|found| found == wanted),
                "{wanted}: {found:?}"
            );
        }
    }
}

/// Reads the format of tree-sitter's own tests: a title between lines of `=`, a text, a line of `-`, the tree.
#[test]
fn the_corpus_has_its_trees() {
    let mut count = 0;
    let line = format!("{}\n", "=".repeat(40));
    for path in files(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("test/corpus"),
        "txt",
    ) {
        let page = std::fs::read_to_string(&path).unwrap();
        let mut parts = page.split(&line).skip(1);
        while let (Some(title), Some(rest)) = (parts.next(), parts.next()) {
            let (text, wanted) = rest.split_once("\n---\n").unwrap();
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let found = parse(text.trim_start_matches('\n')).root_node().to_sexp();
            assert_eq!(words(&found), words(wanted), "{}", title.trim());
            count += 1;
        }
    }
    assert!(count >= 25, "{count}");
}
