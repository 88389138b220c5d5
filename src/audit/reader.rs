//! A reader that counts, and that ends early where nobody wants more.

use std::io::{self, Read};
use std::sync::atomic::Ordering;

use super::Progress;

pub(super) struct Watched<'a, R> {
    from: R,
    progress: &'a Progress,
}

impl<'a, R> Watched<'a, R> {
    pub(super) fn new(from: R, progress: &'a Progress) -> Watched<'a, R> {
        Watched { from, progress }
    }
}

impl<R: Read> Read for Watched<'_, R> {
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
