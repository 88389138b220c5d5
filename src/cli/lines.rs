//! Lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

use crate::monitor::intake::Intake;
use crate::monitor::lenient::Outline;

/// The bytes from which on an input is long: memory up to the limit is reserved at once, because growing needs room for two
/// copies. Unused reserved memory is not allocated by the system.
pub(super) const LONG: usize = 1 << 20;

/// Disables large memory pages from here on, also for processes that are started later. In pages of 2 MB each of the few copies
/// of a large message takes up to two of them more than it needs: 4.2 times a message of 50 MB instead of 3.9.
pub(super) fn take_small_pages() {
    #[cfg(target_os = "linux")]
    {
        // if this is not permitted, the only effect is more memory
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
}

/// The result of reading a line.
pub(super) enum Line {
    /// A line without its end and the white space before that; never empty.
    Whole(Vec<u8>),
    /// The line is longer than the limit. If it is an object, its outline, in which the values that are too long are
    /// unknown.
    TooLong(Option<Outline>),
    /// Reading from the stream failed.
    Failed(io::Error),
}

impl Line {
    /// Returns how many bytes are held.
    pub(super) fn len(&self) -> usize {
        match self {
            Line::Whole(line) => line.len(),
            Line::TooLong(Some(kept)) => kept.as_text().len(),
            Line::TooLong(None) | Line::Failed(_) => 0,
        }
    }
}

/// Returns the next line of at most so many bytes that is not blank, or `None` at the end of the stream.
///
/// At most three times the limit is in memory, for lines of any length.
pub(super) fn next(from: &mut impl BufRead, longest: usize) -> Option<Line> {
    loop {
        let mut line = Vec::new();
        let limit = longest.saturating_add(2);
        let mut read = |line: &mut Vec<u8>, most: usize| {
            let mut from = from.by_ref().take(most as u64);
            from.read_until(b'\n', line)
        };
        let mut some = read(&mut line, limit.min(LONG));
        if some.is_ok() && line.len() == LONG && line.last() != Some(&b'\n') {
            // If this much memory is not available, the buffer grows on demand.
            let _ = line.try_reserve_exact(limit.saturating_sub(LONG));
            some = read(&mut line, limit.saturating_sub(LONG)).map(|more| LONG + more);
        }
        match some {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Line::Failed(error)),
        }
        if line.last() != Some(&b'\n') && line.len() > longest {
            let mut intake = Intake::new(longest);
            intake.take(&line);
            drop(line);
            return Some(match rest(from, &mut intake) {
                Ok(()) => Line::TooLong(intake.finish().ok()),
                Err(error) => Line::Failed(error),
            });
        }
        line.truncate(line.trim_ascii_end().len());
        if !line.is_empty() {
            return Some(Line::Whole(line));
        }
    }
}

/// Takes the rest of a line.
fn rest(from: &mut impl BufRead, intake: &mut Intake) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        let end = memchr::memchr(b'\n', bytes);
        let (line, len) = match end {
            Some(end) => (&bytes[..end], end + 1),
            None => (bytes, bytes.len()),
        };
        intake.take(line);
        from.consume(len);
        if end.is_some() {
            return Ok(());
        }
    }
}
