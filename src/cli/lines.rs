//! Lines of a stream, each bounded.

use std::io::{self, BufRead, Read};

/// The result of reading a line.
pub(super) enum Line {
    /// A line without its end and the white space before that; never empty.
    Whole(Vec<u8>),
    /// It is longer than the limit, and was passed over.
    TooLong,
    /// The stream cannot be read on.
    Failed(io::Error),
}

/// Returns the next line of at most so many bytes that is not blank, or `None` at the end of the stream.
///
/// No more than the limit is held, however long a line is.
pub(super) fn next(from: &mut impl BufRead, longest: usize) -> Option<Line> {
    loop {
        let mut line = Vec::new();
        let limit = longest as u64 + 2;
        match from.by_ref().take(limit).read_until(b'\n', &mut line) {
            Ok(0) => return None,
            Ok(_) => {}
            Err(error) => return Some(Line::Failed(error)),
        }
        if line.last() != Some(&b'\n') && line.len() > longest {
            return Some(match skip(from) {
                Ok(()) => Line::TooLong,
                Err(error) => Line::Failed(error),
            });
        }
        line.truncate(line.trim_ascii_end().len());
        if !line.is_empty() {
            return Some(Line::Whole(line));
        }
    }
}

/// Passes over the rest of a line without keeping it.
fn skip(from: &mut impl BufRead) -> io::Result<()> {
    loop {
        let bytes = from.fill_buf()?;
        if bytes.is_empty() {
            return Ok(());
        }
        match memchr::memchr(b'\n', bytes) {
            Some(end) => {
                from.consume(end + 1);
                return Ok(());
            }
            None => {
                let len = bytes.len();
                from.consume(len);
            }
        }
    }
}
