//! The queries of Helix and Zed that repeat those of tree-sitter under other names are made from them:
//!
//! ```sh
//! UPDATE_QUERIES=1 cargo test --test queries
//! ```

use std::path::Path;

/// A query that is made from one of `queries/`.
struct Made {
    /// Its path below `editors/`.
    path: &'static str,
    /// The query that it is made from.
    from: &'static str,
    /// Texts of that query, each of which stands there once, and the texts in their place.
    texts: &'static [(&'static str, &'static str)],
    /// Names of captures, and the names in their place.
    captures: &'static [(&'static str, &'static str)],
}

const MADE: &[Made] = &[
    Made {
        path: "zed/languages/guard/highlights.scm",
        from: "highlights.scm",
        texts: &[],
        captures: &[
            ("keyword.conditional", "keyword.control"),
            ("keyword.repeat", "keyword.control"),
            ("function.builtin", "keyword.control"),
            ("string.regexp", "string.regex"),
            ("comment.documentation", "comment.doc"),
            ("module", "namespace"),
            ("function.call", "function"),
            ("type.definition", "type"),
        ],
    },
    Made {
        path: "zed/languages/guard/injections.scm",
        from: "injections.scm",
        texts: &[(
            "\n((doc_comment) @injection.content\n  (#set! injection.language \"markdown_inline\"))\n",
            "",
        )],
        captures: &[],
    },
    // No node is matched by two patterns: before 25.07 the first one wins, later the last one.
    Made {
        path: "helix/queries/guard/highlights.scm",
        from: "highlights.scm",
        texts: &[
            ("(identifier) @variable\n\n", ""),
            (
                "[\"(\" \")\" \"[\" \"]\" \"{\" \"}\"]",
                "[\"(\" \")\" \"[\" \"]\"]",
            ),
            (
                "[(integer) (float) (percent) (duration)] @number",
                "[(integer) (duration)] @constant.numeric.integer\n[(float) (percent)] @constant.numeric.float",
            ),
            (
                "((identifier) @constant.builtin\n  (#any-of? @constant.builtin \"unknown\" \"last\"))\n",
                "",
            ),
            (
                "[(line_comment) (block_comment)] @comment\n",
                "(line_comment) @comment.line\n(block_comment) @comment.block\n",
            ),
            (
                "(named_type (identifier) @type)\n",
                "((named_type (identifier) @type)\n  (#not-any-of? @type \"bool\" \"int\" \"float\" \"string\" \"time\" \"duration\" \"json\" \"pred\"))\n",
            ),
            (
                "(range_type . (identifier) @type)",
                "(range_type . (identifier) @type.builtin)",
            ),
            (
                "(enum_item name: (identifier) @type)",
                "(enum_item name: (identifier) @type.enum)",
            ),
            (
                "(enum_value name: (identifier) @constant)\n(value_type (identifier) @constant)",
                "(enum_value name: (identifier) @type.enum.variant)\n(value_type (identifier) @type.enum.variant)",
            ),
            (
                "(call function: (member_access name: (identifier) @function.call))\n(count_window \"count\" @function.builtin)\n",
                "",
            ),
        ],
        captures: &[
            ("keyword.conditional", "keyword.control.conditional"),
            ("keyword.repeat", "keyword.control.repeat"),
            ("boolean", "constant.builtin.boolean"),
            ("string.escape", "constant.character.escape"),
            ("comment.documentation", "comment.line.documentation"),
            ("module", "namespace"),
            ("function.call", "function"),
            ("type.definition", "constructor"),
            ("property", "variable.other.member"),
        ],
    },
    Made {
        path: "helix/queries/guard/indents.scm",
        from: "indents.scm",
        texts: &[
            ("@indent.branch @indent.end", "@outdent"),
            (
                "[(line_comment) (doc_comment) (block_comment)] @indent.ignore\n",
                "",
            ),
        ],
        captures: &[("indent.begin", "indent")],
    },
    Made {
        path: "helix/queries/guard/injections.scm",
        from: "injections.scm",
        texts: &[(
            "((doc_comment) @injection.content\n  (#set! injection.language \"markdown_inline\"))",
            "([(line_comment) (block_comment)] @injection.content\n  (#set! injection.language \"comment\"))",
        )],
        captures: &[],
    },
    Made {
        path: "helix/queries/guard/locals.scm",
        from: "locals.scm",
        texts: &[],
        captures: &[],
    },
];

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Makes a query: its first line, a comment about names, is replaced by one that says what it is made from.
fn made(made: &Made, source: &str) -> String {
    let body = match source.split_once('\n') {
        Some((line, rest)) if line.starts_with(';') => rest.trim_start_matches('\n'),
        _ => source,
    };
    let mut text = body.to_owned();
    for (from, to) in made.texts {
        assert_eq!(text.matches(from).count(), 1, "{}: {from}", made.path);
        text = text.replace(from, to);
    }
    let mut used = vec![false; made.captures.len()];
    let mut renamed = String::new();
    for (place, part) in text.split('@').enumerate() {
        if place == 0 {
            renamed.push_str(part);
            continue;
        }
        let is_name = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_');
        let (name, rest) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
        let found = made.captures.iter().position(|(from, _)| *from == name);
        if let Some(found) = found {
            used[found] = true;
        }
        renamed.push('@');
        renamed.push_str(found.map_or(name, |found| made.captures[found].1));
        renamed.push_str(rest);
    }
    let unused: Vec<_> = made
        .captures
        .iter()
        .zip(used)
        .filter(|(_, used)| !used)
        .collect();
    assert!(unused.is_empty(), "{}: {unused:?}", made.path);
    format!(
        "; Made from editors/tree-sitter/queries/{}: see editors/tree-sitter/tests/queries.rs.\n{renamed}",
        made.from
    )
}

#[test]
fn queries_of_other_editors_are_those_of_tree_sitter_under_their_names() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut stale = Vec::new();
    for one in MADE {
        let text = made(one, &read(&folder.join("queries").join(one.from)));
        let path = folder.join("..").join(one.path);
        if std::env::var_os("UPDATE_QUERIES").is_some() {
            std::fs::write(&path, &text).unwrap();
        } else if read(&path) != text {
            stale.push(one.path);
        }
    }
    assert!(
        stale.is_empty(),
        "run UPDATE_QUERIES=1 cargo test --test queries: {stale:?}"
    );
}

/// The names that Zed's themes colour; a longer name falls back to the part before its last dot.
const ZED: &[&str] = &[
    "attribute",
    "boolean",
    "comment",
    "comment.doc",
    "constant",
    "function",
    "keyword",
    "namespace",
    "number",
    "operator",
    "property",
    "punctuation",
    "string",
    "type",
    "variable",
];

#[test]
fn zed_knows_the_names_of_its_captures() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../zed/languages/guard");
    let captures = |file: &str| -> Vec<String> {
        let language = tree_sitter_guard::LANGUAGE.into();
        let query = tree_sitter::Query::new(&language, &read(&folder.join(file))).unwrap();
        let names = query.capture_names().iter();
        names.map(|name| (*name).to_owned()).collect()
    };
    for name in captures("highlights.scm") {
        let known = |known: &&str| name == **known || name.starts_with(&format!("{known}."));
        assert!(ZED.iter().any(|one| known(&one)), "{name}");
    }
    for (file, known) in [
        ("brackets.scm", &["open", "close"][..]),
        ("indents.scm", &["indent", "start", "end"]),
        ("injections.scm", &["injection.content"]),
        ("outline.scm", &["item", "name", "context"]),
    ] {
        for name in captures(file) {
            assert!(known.contains(&name.as_str()), "{file}: {name}");
        }
    }
}

/// Helix takes the first of two patterns before 25.07, and later the last one.
#[test]
fn no_node_has_two_colours_in_helix() {
    use tree_sitter::StreamingIterator;

    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let language = tree_sitter_guard::LANGUAGE.into();
    let text = read(&folder.join("helix/queries/guard/highlights.scm"));
    let query = tree_sitter::Query::new(&language, &text).unwrap();
    let mut parser = tree_sitter::Parser::new();
    parser.set_language(&language).unwrap();
    let mut nodes = 0;
    for entry in std::fs::read_dir(folder.join("../stdlib")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "guard") {
            continue;
        }
        let spec = read(&path);
        let tree = parser.parse(&spec, None).unwrap();
        let mut seen = std::collections::HashMap::new();
        let mut cursor = tree_sitter::QueryCursor::new();
        let mut matches = cursor.matches(&query, tree.root_node(), spec.as_bytes());
        while let Some(one) = matches.next() {
            for capture in one.captures {
                let name = query.capture_names()[capture.index as usize];
                let before = seen.insert(capture.node.id(), name);
                let place = capture.node.start_position();
                let same = before.is_none_or(|before| before == name);
                assert!(same, "{}:{place}: {before:?} and {name}", path.display());
                nodes += 1;
            }
        }
    }
    assert!(nodes > 5_000, "{nodes}");
}
