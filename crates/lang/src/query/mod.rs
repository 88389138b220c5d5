//! Evaluation of claims about models: claims of a spec on learned or imported chains.
//!
//! ```text
//! Counts ─Rows─▶ chain (states × monitors) ─┐
//!                                           ├─▶ markov::Checker ─▶ Answer: a vector over states, the value at the start
//! Claim ─lower─▶ operators over labels ─────┘
//! ```
//!
//! A claim is evaluated bottom up: conditions on single states become labels of the chain, and each operator over labels is one
//! query to `markov`. **Reading.** On a learned chain a path formula is read over the finite run after the start and before the
//! end, as in LTLf: required events must occur before the end, and `X` is strong. This is the usual translation of LTLf into
//! LTL with a proposition for the end (G. De Giacomo, M. Vardi, IJCAI 2013); a run that never ends is an infinite word.
//!
//! The module opens no files and sets no exit codes.

mod answer;
mod chain;
mod course;
mod error;
mod evaluate;
mod forecast;
mod guarantee;
mod outlook;
mod plan;
mod runs;
mod session;
mod sizes;
mod solved;
mod start;
mod table;
mod why;

pub use answer::{ClaimAnswer, Figure, Graphs};

pub use course::{Course, Tail};
pub use error::QueryError;
pub use evaluate::asked;
pub use forecast::{ChainStates, Forecast, ForecastError, Position};
pub use guarantee::{Confidence, Evidence, Interval, Method, Range, pac};
pub(crate) use outlook::{Onward, Outlook};
pub use plan::{Node, Plans, Size, Sizes};
pub use runs::{Asymptotic, Observed};
pub use session::NoReturn;
pub use session::Session;
pub use sizes::{CountedSizes, DeclaredSizes};
pub(crate) use solved::Solved;

pub use why::Reasons;
