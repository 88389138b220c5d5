//! Prints the items of the files that are named, and the first place of each file that is not in order.
//!
//! For each file its name; for each node at the top `KIND LINE ok` or `KIND LINE broken`; then `error LINE:COLUMN` if there is
//! one. What is outside of all items has the kind `ERROR`.

use std::io::Write;

use tree_sitter::{Node, Parser};

fn first_error(node: Node<'_>) -> Option<Node<'_>> {
    if node.is_error() || node.is_missing() || node.kind() == "missing" {
        return Some(node);
    }
    let mut cursor = node.walk();
    let children: Vec<_> = node.children(&mut cursor).collect();
    children.into_iter().find_map(first_error)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut parser = Parser::new();
    parser.set_language(&tree_sitter_guard::LANGUAGE.into())?;
    let mut out = std::io::stdout().lock();
    for path in std::env::args().skip(1) {
        let text = std::fs::read(&path)?;
        let tree = parser.parse(&text, None).ok_or("no tree")?;
        writeln!(out, "{path}")?;
        let mut cursor = tree.walk();
        for item in tree.root_node().named_children(&mut cursor) {
            let state = match first_error(item) {
                Some(_) => "broken",
                None => "ok",
            };
            let line = item.start_position().row + 1;
            writeln!(out, "{} {line} {state}", item.kind())?;
        }
        if let Some(error) = first_error(tree.root_node()) {
            let at = error.start_position();
            writeln!(out, "error {}:{}", at.row + 1, at.column + 1)?;
        }
    }
    Ok(())
}
