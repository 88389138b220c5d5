//! The tree-sitter grammar of Guard.
//!
//! ```
//! let mut parser = tree_sitter::Parser::new();
//! parser.set_language(&tree_sitter_guard::LANGUAGE.into())?;
//! let tree = parser.parse("property quiet = never mails\n", None).ok_or("no tree")?;
//! assert_eq!(tree.root_node().child(0).ok_or("no item")?.kind(), "property_item");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn tree_sitter_guard() -> *const ();
}

/// The grammar, for `Parser::set_language`.
// SAFETY: the function is the entry point of the generated parser, which is compiled from `src` by the build script.
pub const LANGUAGE: LanguageFn = unsafe { LanguageFn::from_raw(tree_sitter_guard) };

/// The kinds of nodes, as JSON.
pub const NODE_TYPES: &str = include_str!("../../src/node-types.json");
/// Colours.
pub const HIGHLIGHTS_QUERY: &str = include_str!("../../queries/highlights.scm");
/// Scopes, and the names that are bound in them.
pub const LOCALS_QUERY: &str = include_str!("../../queries/locals.scm");
/// Definitions and references.
pub const TAGS_QUERY: &str = include_str!("../../queries/tags.scm");
/// Texts in other languages.
pub const INJECTIONS_QUERY: &str = include_str!("../../queries/injections.scm");
/// Ranges that fold.
pub const FOLDS_QUERY: &str = include_str!("../../queries/folds.scm");
/// Ranges that are indented.
pub const INDENTS_QUERY: &str = include_str!("../../queries/indents.scm");
