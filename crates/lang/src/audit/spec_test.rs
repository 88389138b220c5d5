//! Converts tests of specs to records.

use std::sync::Arc;

use crate::hir::Test;
use crate::input::record::{Origin, Record, Step};
use crate::source::SourceMap;

/// Returns the trace of a test; it is complete.
pub fn test_record(test: &Test, sources: &SourceMap) -> Record {
    let file = sources.get(test.span.file);
    let name: Arc<str> = file.name().into();
    let steps = test.steps.iter().enumerate().map(|(idx, cells)| Step {
        index: u32::try_from(idx).unwrap_or(u32::MAX),
        cells: cells.clone().into_boxed_slice(),
    });
    Record {
        origin: Origin {
            file: Arc::clone(&name),
            below: name,
            line: u64::from(file.location(test.span.start).line),
            ordinal: 0,
        },
        id: Some(test.name.clone()),
        complete: Some(true),
        meta: test.meta.clone().into_boxed_slice(),
        steps: steps.collect(),
        problems: Vec::new(),
    }
}
