//! Text that is split over several strings.
//!
//! A phrase may be split over several strings. The text of several strings is therefore written twice: with a line end between
//! them, and with nothing between them. For long texts the second copy contains only the ends of the strings: a whole copy
//! would be in memory four times while it is judged. If too little of each end would remain, the text is unknown. The texts of
//! blocks, which clients show one after another whatever is between them, are joined once more by themselves.

use std::ops::Range;

use super::encoded::{Data, written};

/// The size in bytes up to which a text in several strings is written twice as a whole, unless another limit is set.
pub const WHOLE: usize = 4 << 20;

/// For a longer text: the most and the fewest bytes on each side of a boundary between strings. This is about the length of the
/// longest split phrase that is found.
const NEAR: usize = 4 << 10;
const NEAREST: usize = 128;

/// The second copy of a longer text may have this fraction (one part in `SHARE`) of the limit for whole copies.
const SHARE: usize = 4;

/// A long decoded text is written in pieces of about this many bytes, so that no second copy of it is made.
const PIECE: usize = 16 << 10;

/// The counts of the strings of a value: enough to write its text.
#[derive(Clone, Copy, Debug, Default)]
pub struct Text {
    /// The size of the value in bytes.
    of: usize,
    n: usize,
    /// The total size of the strings in bytes, as written, without separators.
    size: usize,
    /// The number and size of the texts of blocks among them.
    n_shown: usize,
    shown_size: usize,
    /// Whether some of the text is unknown: decoders differ on what some long string says, or the value is damaged.
    is_unclear: bool,
}

impl Text {
    /// Counts the strings that `read` finds in a value of this many bytes.
    pub fn of(bytes: usize, read: impl FnOnce(&mut Strings<'_>)) -> Text {
        let mut all = Strings::new(None, "", None);
        all.found.of = bytes;
        read(&mut all);
        all.found
    }

    /// Returns whether no string was found, or one that is empty.
    pub fn is_empty(&self) -> bool {
        self.n == 0 || self.n == 1 && self.size == 0
    }

    /// Returns the total size of the strings in bytes, as written.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Returns whether the text is unknown, if texts of up to `whole` bytes are written twice as a whole: its decoded parts may
    /// make it so much longer than the value that it cannot be in memory three times while it is judged.
    pub fn is_unknown(&self, whole: usize) -> bool {
        let too_little = near(self.n, self.size, whole).is_some_and(|near| near < NEAREST);
        let is_inflated = self.size > whole && self.size > self.of + self.of / 4;
        self.is_unclear || self.n > 1 && too_little || is_inflated
    }

    /// Returns whether the texts of blocks are also joined by themselves.
    fn joins_shown(&self) -> bool {
        self.n_shown > 1 && self.n_shown < self.n
    }

    /// Returns approximately how many bytes [`Text::push_to`] adds.
    pub fn estimate(&self, whole: usize) -> usize {
        let shown = match self.joins_shown() {
            true => again(self.n_shown, self.shown_size, whole),
            false => 0,
        };
        self.size + again(self.n, self.size, whole) + shown + 2 * (self.n + self.n_shown) + 32
    }

    /// Adds the text to a line as a JSON string; `read` finds the same strings as in [`Text::of`].
    pub fn push_to(&self, line: &mut String, whole: usize, read: impl Fn(&mut Strings<'_>)) {
        line.push('"');
        read(&mut Strings::new(Some(line), "\\n", None));
        if self.n > 1 {
            line.push_str("\\n");
            let near = near(self.n, self.size, whole);
            read(&mut Strings::new(Some(line), "", near));
        }
        if self.joins_shown() {
            line.push_str("\\n");
            let near = near(self.n_shown, self.shown_size, whole);
            let mut shown = Strings::new(Some(line), "", near);
            shown.only_shown = true;
            read(&mut shown);
        }
        line.push('"');
    }
}

/// Returns the number of bytes of each end of a string that are repeated in the second copy, or `None` for all of it, if texts
/// of up to `whole` bytes are written twice as a whole.
fn near(strings: usize, bytes: usize, whole: usize) -> Option<usize> {
    let near = (whole / SHARE).checked_div(strings.saturating_mul(2));
    (bytes > whole).then(|| near.unwrap_or_default().min(NEAR))
}

/// Returns the approximate size of a second copy.
fn again(strings: usize, bytes: usize, whole: usize) -> usize {
    match (strings, near(strings, bytes, whole)) {
        (0 | 1, _) => 0,
        (_, None) => bytes,
        (strings, Some(near)) => strings.saturating_mul(2 * near).min(bytes),
    }
}

/// Counts the strings of a text, and joins them as they are found. They stay escaped.
#[derive(Debug)]
pub struct Strings<'o> {
    /// `None`: only their number and size are wanted.
    line: Option<&'o mut String>,
    separator: &'static str,
    /// The number of bytes of each end of long strings that are added; `None` for whole strings.
    near: Option<usize>,
    /// Whether only the texts of blocks are added.
    only_shown: bool,
    found: Text,
}

/// The range of a string in the output, and its size.
pub type Place = (Range<usize>, usize);

impl<'o> Strings<'o> {
    fn new(
        line: Option<&'o mut String>,
        separator: &'static str,
        near: Option<usize>,
    ) -> Strings<'o> {
        Strings {
            line,
            separator,
            near,
            only_shown: false,
            found: Text::default(),
        }
    }

    /// Says that some of the text cannot be read.
    pub fn unclear(&mut self) {
        self.found.is_unclear = true;
    }

    /// Adds the text of a block as written.
    pub fn push_shown(&mut self, written: &str) {
        self.found.n_shown += 1;
        self.found.shown_size += written.len();
        let only_shown = std::mem::take(&mut self.only_shown);
        self.push(written);
        self.only_shown = only_shown;
    }

    /// Adds the content of a string as written.
    pub fn push(&mut self, written: &str) -> Place {
        let mut place = 0..0;
        if self.only_shown {
            return (place, 0);
        }
        if let Some(line) = &mut self.line {
            place.start = line.len();
            if self.found.n > 0 {
                line.push_str(self.separator);
            }
            push(line, written, self.near);
            place.end = line.len();
        }
        self.found.n += 1;
        self.found.size += written.len();
        (place, written.len())
    }

    /// Adds a text as it is decoded, and returns what it is decoded from, if it is encoded.
    pub fn push_decoded(
        &mut self,
        decode: impl FnOnce(&mut dyn FnMut(&str)) -> Option<Data>,
    ) -> Option<Data> {
        if self.only_shown {
            return None;
        }
        let separator = if self.found.n > 0 { self.separator } else { "" };
        let mut part = Part::new(self.line.as_deref_mut(), separator, self.near);
        let data = decode(&mut |piece| part.push(piece));
        let size = part.end();
        self.found.n += usize::from(size > 0);
        self.found.size += size;
        self.found.is_unclear |= data == Some(Data::Unknown);
        data
    }

    /// Removes a string of which nothing is text. What was added after it stays.
    pub fn remove(&mut self, (place, size): Place) {
        self.found.n -= 1;
        self.found.size -= size;
        if let Some(line) = &mut self.line {
            line.replace_range(place, "");
        }
    }
}

/// Adds the content of a JSON string as written (with escapes), or both of its ends.
fn push(line: &mut String, written: &str, near: Option<usize>) {
    match near.and_then(|near| ends(written, near)) {
        Some((head, tail)) => line.extend([head, "\\n", tail]),
        None => line.push_str(written),
    }
}

/// Returns both ends of a long string, cut between characters and escapes; `None` if it is short or cannot be cut.
fn ends(written: &str, near: usize) -> Option<(&str, &str)> {
    /// The length of two escapes, which may form one character.
    const ESCAPES: usize = 12;
    let bytes = written.as_bytes();
    // No escape that begins before this position extends to it.
    let is_between = |at: &usize| {
        let before = bytes
            .get(at.saturating_sub(ESCAPES)..*at)
            .unwrap_or_default();
        written.is_char_boundary(*at) && !before.contains(&b'\\')
    };
    let tail = written.len().checked_sub(near)?;
    let head = (near..tail).find(is_between)?;
    let tail = (head..tail).rev().find(is_between)?;
    Some((written.get(..head)?, written.get(tail..)?))
}

/// One string of a text, added in pieces that are not escaped yet, or both of its ends.
#[derive(Debug)]
struct Part<'l> {
    /// `None`: only its size is wanted.
    line: Option<&'l mut String>,
    separator: &'static str,
    near: Option<usize>,
    /// The bytes that it has with escapes.
    size: usize,
    /// The end of a string of which both ends are wanted, and whether something before it was left out.
    tail: String,
    is_cut: bool,
}

impl<'l> Part<'l> {
    /// Begins a string; the separator precedes it unless it is empty. `near`: see [`Strings::near`].
    fn new(line: Option<&'l mut String>, separator: &'static str, near: Option<usize>) -> Part<'l> {
        Part {
            line,
            separator,
            near,
            size: 0,
            tail: String::new(),
            is_cut: false,
        }
    }

    /// Adds a piece.
    fn push(&mut self, mut text: &str) {
        let most = self.near.unwrap_or(PIECE);
        while !text.is_empty() {
            let (piece, rest) = text.split_at(boundary(text, most));
            self.push_piece(piece);
            text = rest;
        }
    }

    fn push_piece(&mut self, piece: &str) {
        let written = written(piece);
        let before = self.size;
        self.size += written.len();
        let Some(line) = &mut self.line else {
            return;
        };
        if before == 0 {
            line.push_str(self.separator);
        }
        match self.near {
            Some(near) if before >= near => {
                self.tail.push_str(piece);
                if self.tail.len() > 4 * near {
                    let end = self.tail.len() - near;
                    self.tail.drain(..boundary(&self.tail, end));
                    self.is_cut = true;
                }
            }
            _ => line.push_str(&written),
        }
    }

    /// Ends the string, and returns its size in bytes with escapes.
    fn end(self) -> usize {
        let from = match self.near.filter(|_| self.is_cut) {
            Some(near) => boundary(&self.tail, self.tail.len().saturating_sub(near)),
            None => 0,
        };
        if let Some(line) = self.line {
            line.push_str(if self.is_cut { "\\n" } else { "" });
            line.push_str(&written(self.tail.get(from..).unwrap_or_default()));
        }
        self.size
    }
}

/// Returns the first boundary of characters from an offset on; the end if there is none.
fn boundary(text: &str, from: usize) -> usize {
    let mut each = from..text.len();
    each.find(|at| text.is_char_boundary(*at))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_parts_have_both_ends() {
        let text = format!("BEGIN{}\"END", "é\"".repeat(50_000));
        let (mut line, mut whole) = (String::new(), String::new());
        let mut part = Part::new(Some(&mut line), "", Some(1024));
        text.split_inclusive("é").for_each(|piece| part.push(piece));
        assert_eq!(part.end(), written(&text).len());
        assert!(line.starts_with("BEGIN") && line.ends_with("\\\"END") && line.len() < 10_000);
        let both: String = serde_json::from_str(&format!("\"{line}\"")).unwrap();
        let (head, tail) = both.split_once('\n').unwrap();
        assert!(text.starts_with(head) && text.ends_with(tail) && tail.len() >= 1000);
        let mut part = Part::new(Some(&mut whole), "", None);
        part.push(&text);
        part.end();
        assert_eq!(whole, written(&text));
    }
}
