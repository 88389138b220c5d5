//! A reader that counts bytes, and that ends early if no more input is wanted.

use std::io::{self, Read};
use std::sync::atomic::Ordering;

use super::Progress;
use crate::input::batch::{Batch, Batches};

pub(super) struct CountingReader<'a, R> {
    from: R,
    progress: &'a Progress,
}

impl<'a, R> CountingReader<'a, R> {
    pub(super) fn new(from: R, progress: &'a Progress) -> CountingReader<'a, R> {
        CountingReader { from, progress }
    }
}

impl<R: Read> Read for CountingReader<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.progress.stop.load(Ordering::Relaxed) {
            return Ok(0);
        }
        let count = self.from.read(buffer)?;
        self.progress
            .bytes
            .fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl<B: Batches> Batches for CountingReader<'_, B> {
    fn next_batch(&mut self) -> Option<Batch> {
        if self.progress.stop.load(Ordering::Relaxed) {
            return None;
        }
        let batch = self.from.next_batch()?;
        self.progress
            .bytes
            .fetch_add(batch.consumed, Ordering::Relaxed);
        Some(batch)
    }

    fn is_exhausted(&self) -> bool {
        self.from.is_exhausted()
    }

    fn recycle(&mut self, batch: Batch) {
        self.from.recycle(batch);
    }
}
