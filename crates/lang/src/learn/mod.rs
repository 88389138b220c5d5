//! Learning chains from traces: abstraction, counting, storage, merging.
//!
//! ```text
//! Units ─audit::visit─▶ Walker ─▶ Walk (states of one trace) ─in order─▶ Counts ─▶ Model file
//!                       parallel                             one thread
//! ```
//!
//! Input: traces, through the same readers and the same driver as `audit`, and a [`Space`](crate::abstraction::Space);
//! output: counts of abstract transitions, in a model file that can be merged with others by addition.
//!
//! Only counts are stored. Smoothing, thresholds and queries are applied when the file is used, so changing them does
//! not require learning again. **Invariant:** the bytes of a model depend on the counts alone, not on the order in
//! which traces came, the number of threads, or how files were merged.

mod collect;
mod counts;
mod file;
mod fingerprint;
mod rows;
mod subject;
mod summary;
mod walk;

pub use collect::Collector;
pub use counts::{Counts, Edge, Invalid, InvalidPolicy, NodeId, Traces};
pub use file::{ChainCounts, Header, Model, ModelError};

pub(crate) use rows::ChainPosition;
pub use rows::{Origin, Row, RowLimits, Rows, reason};
pub use subject::Subject;
pub use summary::Summary;
pub use summary::{PacState, PacStatus};
pub(crate) use walk::Categories;
pub use walk::{Ending, Walk, Walker};
