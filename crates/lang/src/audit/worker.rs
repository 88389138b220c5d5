//! Whole records are judged by the thread that reads them; other units wait for their batch.

use std::sync::{Arc, PoisonError, RwLock};

use super::{Judge, Judged};
use crate::eval::Wanted;
use crate::input::deferred::Deferred;
use crate::input::read::UnitMapper;
use crate::input::record::{Record, Unit};
use crate::problem::count_errors;

/// The output of the readers.
pub(super) enum WorkItem<R> {
    /// Data that is not judged yet.
    Unit(Unit),
    /// A whole record, with the number of errors that its reader found.
    Judged(u64, Judged<R>),
}

/// The work of the threads that read.
pub(super) struct Worker<'j, J> {
    judge: &'j J,
    wanted: RwLock<Arc<Wanted>>,
}

impl<'j, J: Judge> Worker<'j, J> {
    pub(super) fn new(judge: &'j J, wanted: Wanted) -> Worker<'j, J> {
        Worker {
            judge,
            wanted: RwLock::new(Arc::new(wanted)),
        }
    }

    /// Judges a whole record. Returns the number of errors that its reader found, and the result.
    pub(super) fn judge(&self, record: Record, texts: Deferred<'_>) -> (u64, Judged<J::Report>) {
        // The lock is not held while a record is judged, so writers do not wait for it.
        let wanted = Arc::clone(&self.wanted.read().unwrap_or_else(PoisonError::into_inner));
        let errors = count_errors(&record.problems);
        let origin = record.origin.clone();
        let judged = match self.judge.judge(record, texts, &wanted) {
            Some(report) => Judged::Report(report),
            None => Judged::LeftOut(origin),
        };
        (errors, judged)
    }

    /// Sets the explanations that later records need.
    pub(super) fn want(&self, wanted: Wanted) {
        *self.wanted.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(wanted);
    }
}

impl<J: Judge> UnitMapper for Worker<'_, J> {
    type Output = WorkItem<J::Report>;
    const DEFERS: bool = J::DEFERS;

    fn make(&self, unit: Unit, texts: Deferred<'_>) -> WorkItem<J::Report> {
        let Unit::Record(record) = unit else {
            return WorkItem::Unit(unit);
        };
        let (errors, judged) = self.judge(record, texts);
        WorkItem::Judged(errors, judged)
    }
}
