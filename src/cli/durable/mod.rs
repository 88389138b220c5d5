//! Live monitors whose runs outlive the process: their files, and what binds these to each other.

pub(crate) mod calls;
pub(crate) mod files;
mod log;
pub(crate) mod monitor;
pub(crate) mod paths;
pub(crate) mod state;
