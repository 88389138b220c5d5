//! Lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

use crate::monitor::lenient::{Intake, Outline};

/// The bytes from which on an input is long: memory for all that may follow is reserved at once, since growing needs room for two
/// copies. What is not used takes no memory.
pub(super) const LONG: usize = 1 << 20;

/// Has memory taken in small pages from here on, also by processes that are started later. In pages of 2 MB each of the few copies of
/// a large message takes up to two of them more than it needs: 4.2 times a message of 50 MB rather than 3.9.
pub(super) fn take_small_pages() {
    #[cfg(target_os = "linux")]
    {
        // where it is not permitted, more memory is all that is lost
        let _ = rustix::thread::disable_transparent_huge_pages(true);
    }
}

/// The result of reading a line.
pub(super) enum Line {
    /// A line without its end and the white space before that; never empty.
    Whole(Vec<u8>),
    /// It is longer than the limit. What is left of it if it is an object: the values that are too long are unknown.
    TooLong(Option<Outline>),
    /// The stream cannot be read on.
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
/// No more than three times the limit is held, however long a line is.
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
            // If there is not so much room, it grows.
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
