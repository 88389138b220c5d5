//! The fast path: verdicts, tracks, instances, unknown data, explanations.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests fail by panicking"
)]

mod build;
mod conformance;
mod explain;
mod expressions;
mod instances;
mod tracks;
mod unknown;
mod worlds;
