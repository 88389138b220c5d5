//! Files, spans and line tables.
//!
//! A [`SourceMap`] owns the text of every file that takes part in a compilation; a [`Span`] is a range of bytes in one
//! of them. This module reads no files: callers supply the text.
//!
//! ```
//! use guard_syntax::source::SourceMap;
//!
//! let mut sources = SourceMap::new();
//! let file = sources.add("leak.guard", "event {\n  kind: string\n}\n");
//! let place = sources.get(file).location(10);
//! assert_eq!((place.line, place.column), (2, 3));
//! ```

mod lines;
mod map;
mod span;

pub use lines::{LineTable, Location};
pub use map::{SourceFile, SourceMap};
pub use span::{FileId, Span};
