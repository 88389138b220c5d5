//! The tree-sitter grammar of Guard.
//!
//! ```
//! use tree_sitter::{Language, Parser, Query, QueryCursor, StreamingIterator};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     let guard: Language = tree_sitter_guard::LANGUAGE.into();
//!     let mut parser = Parser::new();
//!     parser.set_language(&guard)?;
//!     let text = "property quiet = never mails\n";
//!     let tree = parser.parse(text, None).ok_or("no tree")?;
//!
//!     let query = Query::new(&guard, tree_sitter_guard::HIGHLIGHTS_QUERY)?;
//!     let mut cursor = QueryCursor::new();
//!     let mut matches = cursor.matches(&query, tree.root_node(), text.as_bytes());
//!     while let Some(found) = matches.next() {
//!         for (index, name) in (0..).zip(query.capture_names()) {
//!             for node in found.nodes_for_capture_index(index) {
//!                 println!("{name} {}", &text[node.byte_range()]);
//!             }
//!         }
//!     }
//!     Ok(())
//! }
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
