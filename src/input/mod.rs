//! Recorded data: files to records, records to steps, steps to cells.

pub mod formats;
pub mod record;
