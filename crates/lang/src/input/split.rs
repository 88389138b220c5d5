//! Files to raw records: in bounded memory, batch by batch, with every line accounted for.
//!
//! # Where a record ends
//! A line that begins with `{`, ends with `}` and is not followed by a line that begins with `,`, `}` or `]` is a
//! record of its own: if its brackets did not match, what follows could not be JSON either. That costs a look at each
//! end of a line, and is a guess that the parser verifies. Any other line that opens a bracket is passed over with the
//! scanner that the parser uses: its value may go on over the next lines. Where that fails, the line is left to the
//! parser, which names it in a problem, and reading resumes at the next line, so that one unclosed bracket loses one
//! line.
//!
//! A list at the top of a file is a list of records (unless the layout says that the document is the list): its items
//! are found one by one, so its size does not matter.

use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

use super::batch::{Batch, Batches, Gap, Span, Why};
use super::limits::InputLimits;
use super::scan::{FaultKind, Scanner};

/// The way in which a file is split.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Splitting {
    /// JSON values, one or several a line or over many lines; a list at the top is a list of records.
    Records,
    /// The same, but a list at the top is a record.
    Documents,
    /// Every line is a record.
    Lines,
}

/// Splits a stream.
#[derive(Debug)]
pub(crate) struct Splitter<R> {
    from: R,
    splitting: Splitting,
    limits: InputLimits,
    /// The bytes read. The same memory is used again and again.
    buffer: Vec<u8>,
    /// The offset in the buffer of the next line or item.
    at: usize,
    eof: bool,
    failed: Option<String>,
    /// 1-based line of `at`.
    line: u64,
    /// The last line that some record or gap has counted.
    counted: u64,
    ordinal: u64,
    in_list: bool,
    /// The tokens that may follow in the list.
    expect: Expect,
    /// Brackets or commas between records stand on this line.
    between: bool,
    started: bool,
    /// Scans that failed may be repeated on the next line; what they cost is bounded.
    wasted: u64,
    batch: Batch,
    /// Memory of batches that are done with.
    spare: Vec<Vec<u8>>,
}

impl<R: Read> Splitter<R> {
    /// Splits what `from` yields.
    pub(crate) fn new(from: R, splitting: Splitting, limits: InputLimits) -> Splitter<R> {
        Splitter {
            from,
            splitting,
            limits,
            buffer: Vec::new(),
            at: 0,
            eof: false,
            failed: None,
            line: 1,
            counted: 0,
            ordinal: 0,
            in_list: false,
            expect: Expect::Item,
            between: false,
            started: false,
            wasted: 0,
            batch: Batch::default(),
            spare: Vec::new(),
        }
    }

    /// Returns, before splitting, the first bytes of the stream (at least `bytes` if it is that long), and whether they are
    /// all of it.
    pub(crate) fn look(&mut self, bytes: usize) -> (&[u8], bool) {
        while self.buffer.len() < bytes && self.fill() {}
        (&self.buffer, self.eof)
    }

    /// Chooses, before splitting, how to split.
    pub(crate) fn split(&mut self, splitting: Splitting, limits: InputLimits) {
        (self.splitting, self.limits) = (splitting, limits);
    }

    /// Returns, before splitting, the unchanged stream, for another reader.
    pub(crate) fn into_stream(self) -> impl Read {
        let failed = self.failed.map(io::Error::other);
        io::Cursor::new(self.buffer)
            .chain(Failed(failed))
            .chain(self.from)
    }

    /// Reads more; false at the end. Reads as much again as there is, so that scanning anew stays linear.
    fn fill(&mut self) -> bool {
        if self.eof {
            return false;
        }
        let before = self.buffer.len();
        let want = (before - self.at).max(256 << 10);
        self.make_room(want);
        match (&mut self.from)
            .take(want as u64)
            .read_to_end(&mut self.buffer)
        {
            Ok(count) => self.eof = count < want,
            Err(error) => {
                self.failed = Some(Why::of(&error));
                self.eof = true;
            }
        }
        if self.buffer.len() == before {
            return false;
        }
        if !self.started {
            self.started = true;
            if self.buffer.starts_with(b"\xef\xbb\xbf") {
                self.at = 3;
            }
        }
        true
    }

    /// Reserves room for a long record once: growth by doubling needs both buffers while it copies, and a line of 200 MB took
    /// 510 MB. Room that is never filled takes no memory; if it cannot be reserved, the buffer grows as needed.
    fn make_room(&mut self, want: usize) {
        const LONG: usize = 8 << 20;
        let full = self.buffer.len() + want;
        let more = if full > LONG && full > self.buffer.capacity() {
            let most = self.limits.record_bytes.saturating_add(self.at + LONG);
            most.saturating_sub(self.buffer.len())
        } else {
            want
        };
        let _ = self.buffer.try_reserve_exact(more);
    }

    /// Passes over white space; the next byte.
    fn next_byte(&mut self) -> Option<u8> {
        loop {
            match self.buffer.get(self.at) {
                Some(b'\n') => {
                    self.end_line();
                    self.at += 1;
                    self.line += 1;
                }
                Some(b' ' | b'\t' | b'\r') => self.at += 1,
                Some(&byte) => return Some(byte),
                None => {
                    if !self.fill() {
                        self.end_line();
                        return None;
                    }
                }
            }
        }
    }

    /// Returns the end of the line at `at`, without its line end, or `None` if the line is too long.
    fn line_end(&mut self) -> Option<usize> {
        let mut from = self.at;
        loop {
            if let Some(place) = self.buffer.get(from..).and_then(|rest| memchr(b'\n', rest)) {
                let end = from + place;
                return (end - self.at <= self.limits.record_bytes).then_some(end);
            }
            if self.buffer.len() - self.at > self.limits.record_bytes {
                return None;
            }
            from = self.buffer.len();
            if !self.fill() {
                return Some(self.buffer.len());
            }
        }
    }

    /// At the top of a file: splits one line, or a value over several lines.
    fn top(&mut self) -> bool {
        let Some(first) = self.next_byte() else {
            return false;
        };
        if first == b'[' && self.splitting == Splitting::Records {
            self.in_list = true;
            self.expect = Expect::Item;
            self.between = true;
            self.at += 1;
            return true;
        }
        let Some(end) = self.line_end() else {
            self.too_long();
            return true;
        };
        let opens = matches!(first, b'{' | b'[') && self.splitting != Splitting::Lines;
        if opens && !self.closes(first, end) {
            // The value may go on over lines, or another may follow it.
            if let Scanned::Value(value_end) = self.scan() {
                self.record(value_end);
                return true;
            }
        }
        self.line_record(end);
        true
    }

    /// Whether a line must be a record of its own (or contain no record).
    fn closes(&mut self, first: u8, end: usize) -> bool {
        let close = if first == b'{' { b'}' } else { b']' };
        let line = self.buffer.get(self.at..end).unwrap_or_default();
        if line.trim_ascii_end().last() != Some(&close) {
            return false;
        }
        let mut at = end;
        loop {
            match self.buffer.get(at) {
                Some(b' ' | b'\t' | b'\r' | b'\n') => at += 1,
                Some(next) => return !matches!(next, b',' | b'}' | b']'),
                None => {
                    // A stretch of white space is no reason to read on for ever.
                    if at - end > 1 << 16 || !self.fill() {
                        return true;
                    }
                }
            }
        }
    }

    /// Scans the value at `at`, reading more as it is needed.
    fn scan(&mut self) -> Scanned {
        // Rescans after failures may read the rest of a file for every line of it.
        if self.wasted > (256 << 20) {
            return Scanned::Fault("unclosed");
        }
        loop {
            let mut scanner = Scanner::of_bytes(&self.buffer, self.at);
            let scanned = scanner.skip(None, usize::MAX);
            match scanned {
                // A number at the end of the buffer may go on.
                Ok(()) if scanner.at() < self.buffer.len() || self.eof => {
                    let end = scanner.at();
                    if end - self.at > self.limits.record_bytes {
                        return Scanned::TooLong;
                    }
                    return Scanned::Value(end);
                }
                Err(fault) => {
                    if let FaultKind::Syntax(what) = fault.kind {
                        self.wasted += (fault.at - self.at) as u64;
                        return Scanned::Fault(what);
                    }
                }
                Ok(()) => {}
            }
            if self.buffer.len() - self.at > self.limits.record_bytes {
                return Scanned::TooLong;
            }
            if !self.fill() && scanned.is_err() {
                self.wasted += (self.buffer.len() - self.at) as u64;
                return Scanned::Fault("unexpected end of input");
            }
        }
    }

    /// In a list of records: splits a comma, an item or the end.
    fn item(&mut self) -> bool {
        let Some(byte) = self.next_byte() else {
            self.gap(self.line, 0, Why::Malformed("unclosed list of records"));
            self.in_list = false;
            return false;
        };
        match byte {
            b']' => {
                self.at += 1;
                self.in_list = false;
                self.between = true;
                return true;
            }
            b',' if self.expect != Expect::Item => {
                self.at += 1;
                self.expect = Expect::Item;
                self.between = true;
                return true;
            }
            b'{' | b'[' if self.expect == Expect::Comma => {
                // A new record: the list was not closed, and what follows it is read by itself.
                self.in_list = false;
                self.gap(self.line, 0, Why::Malformed("unclosed list of records"));
                return true;
            }
            _ if self.expect == Expect::Comma => {
                self.bad_line("expected `,` or `]` after a record");
                return true;
            }
            _ => {}
        }
        match self.scan() {
            Scanned::Value(end) => {
                self.expect = Expect::Comma;
                self.record(end);
            }
            Scanned::TooLong => {
                self.expect = Expect::Either;
                self.too_long();
            }
            Scanned::Fault(what) => self.bad_line(what),
        }
        true
    }

    /// Gives up the rest of a line of a list.
    fn bad_line(&mut self, what: &'static str) {
        self.expect = Expect::Either;
        match self.line_end() {
            Some(end) => {
                let (line, lines) = self.pass(end);
                self.ordinal += 1;
                self.gap(line, lines, Why::Malformed(what));
            }
            None => self.too_long(),
        }
    }

    /// Ends a record at `end`.
    fn record(&mut self, end: usize) {
        let start = self.at;
        let (line, lines) = self.pass(end);
        self.batch.spans.push(Span {
            start,
            end,
            line,
            lines,
            ordinal: self.ordinal,
        });
        self.ordinal += 1;
    }

    /// Ends a record at `end`, the end of a line.
    fn line_record(&mut self, end: usize) {
        let lines = u64::from(self.counted < self.line);
        self.batch.spans.push(Span {
            start: self.at,
            end,
            line: self.line,
            lines,
            ordinal: self.ordinal,
        });
        self.ordinal += 1;
        self.counted = self.line;
        self.at = end;
    }

    fn gap(&mut self, line: u64, lines: u64, why: Why) {
        let ordinal = self.ordinal;
        self.batch.gaps.push(Gap {
            line,
            lines,
            ordinal,
            why,
        });
    }

    /// Moves on to `end`: the line it began on, and the lines passed that are not blank and were not counted before.
    fn pass(&mut self, end: usize) -> (u64, u64) {
        let line = self.line;
        let mut lines = u64::from(self.counted < line);
        let text = self.buffer.get(self.at..end).unwrap_or_default();
        let mut from = 0;
        let mut last = line;
        for (place, newline) in (line..).zip(memchr_iter(b'\n', text)) {
            if place > line && !blank(&text[from..newline]) {
                lines += 1;
            }
            from = newline + 1;
            last = place + 1;
        }
        if last > line && !blank(&text[from..]) {
            lines += 1;
        }
        self.counted = last;
        self.line = last;
        self.at = end;
        (line, lines)
    }

    /// Ends a line: brackets and commas between records count it if nothing else on it does.
    fn end_line(&mut self) {
        if self.between && self.counted < self.line {
            self.counted = self.line;
            self.batch.between += 1;
        }
        self.between = false;
    }

    /// Throws a line away without keeping it.
    fn too_long(&mut self) {
        let line = self.line;
        let lines = u64::from(self.counted < line);
        self.counted = line;
        let ordinal = self.ordinal;
        self.ordinal += 1;
        self.batch.gaps.push(Gap {
            line,
            lines,
            ordinal,
            why: Why::TooLong,
        });
        loop {
            if let Some(place) = self
                .buffer
                .get(self.at..)
                .and_then(|rest| memchr(b'\n', rest))
            {
                self.at += place;
                return;
            }
            // Records before this one keep their bytes; what is thrown away is not kept.
            let keep = self.batch.spans.last().map_or(0, |span| span.end);
            self.batch.consumed += (self.buffer.len() - keep) as u64;
            self.buffer.truncate(keep);
            self.at = keep;
            if !self.fill() {
                return;
            }
        }
    }
}

impl<R: Read> Batches for Splitter<R> {
    fn is_exhausted(&self) -> bool {
        self.eof && self.buffer.is_empty() && self.failed.is_none()
    }

    fn recycle(&mut self, batch: Batch) {
        const MOST: usize = 8 << 20;
        if self.spare.len() < 2 && batch.bytes.capacity() <= MOST {
            self.spare.push(batch.bytes);
        }
    }

    fn next_batch(&mut self) -> Option<Batch> {
        self.batch = Batch::default();
        loop {
            if self.at >= self.limits.batch_bytes || self.batch.gaps.len() >= 1 << 16 {
                break;
            }
            let more = if self.in_list {
                self.item()
            } else {
                self.top()
            };
            if !more {
                if let Some(message) = self.failed.take() {
                    self.gap(self.line, 0, Why::Unreadable(message));
                }
                break;
            }
        }
        let nothing = self.at == 0 && self.batch.consumed == 0 && self.batch.between == 0;
        if nothing && self.batch.is_empty() && self.batch.gaps.is_empty() {
            return None;
        }
        let mut next = self.spare.pop().unwrap_or_default();
        let rest = self.buffer.get(self.at..).unwrap_or_default();
        next.clear();
        next.extend_from_slice(rest);
        let mut batch = std::mem::take(&mut self.batch);
        batch.bytes = std::mem::replace(&mut self.buffer, next);
        batch.consumed += self.at as u64;
        self.at = 0;
        Some(batch)
    }
}

/// Fails once, if it fails.
struct Failed(Option<io::Error>);

impl Read for Failed {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Item,
    Comma,
    /// After an item that was lost.
    Either,
}

enum Scanned {
    Value(usize),
    TooLong,
    Fault(&'static str),
}

fn blank(line: &[u8]) -> bool {
    line.trim_ascii().is_empty()
}
