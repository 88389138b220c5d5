//! Any text is read; what is printed of a sound tree is read as an equal tree.

use super::print;
use guard_lang::diagnostic::{RenderOptions, json_lines, render};
use guard_lang::source::SourceMap;
use guard_lang::syntax;

pub fn run(text: &str) {
    let mut sources = SourceMap::new();
    let id = sources.add("fuzz.guard", text);
    let (tree, diagnostics) = syntax::parse(sources.get(id));
    let _ = render(&diagnostics, &sources, RenderOptions::default());
    let _ = json_lines(&diagnostics, &sources);
    if diagnostics.is_empty() {
        let printed = sources.add("printed.guard", print::print_file(&tree));
        let (again, diagnostics) = syntax::parse(sources.get(printed));
        assert!(diagnostics.is_empty(), "{diagnostics:?}");
        assert_eq!(again, tree);
    }
    if let Ok(tree) = syntax::parse_formula(text) {
        let printed = print::print_expr(&tree);
        assert_eq!(
            syntax::parse_formula(&printed).as_ref(),
            Ok(&tree),
            "{printed}"
        );
    }
}
