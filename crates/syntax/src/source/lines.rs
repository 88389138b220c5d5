//! From byte offsets to lines and columns, and back.

/// A human-readable position: both from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// The offset at which each line begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineTable {
    starts: Vec<u32>,
    /// The line starts as editors count them, if the text contains a lone `\r`, which ends a line in editors.
    editor_starts: Option<Vec<u32>>,
}

impl LineTable {
    /// Reads the lines of `text`; a line ends at `\n`, `\r\n` counts as one.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut starts = vec![0];
        for (offset, byte) in text.bytes().enumerate() {
            if byte == b'\n' {
                starts.push(u32::try_from(offset + 1).unwrap_or(u32::MAX));
            }
        }
        let lone = |at: usize| text.as_bytes().get(at + 1) != Some(&b'\n');
        let mut returns = text
            .bytes()
            .enumerate()
            .filter(|(at, byte)| *byte == b'\r' && lone(*at));
        let editor_starts = returns.next().map(|first| {
            let lone = returns.chain([first]);
            let mut all = starts.clone();
            all.extend(lone.map(|(at, _)| narrow(at + 1)));
            all.sort_unstable();
            all
        });
        Self {
            starts,
            editor_starts,
        }
    }

    /// Returns the number of lines; an empty text has one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.starts.len()
    }

    /// Always false: every text has a first line.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.starts.is_empty()
    }

    /// Returns the line that contains `offset`, from 0.
    #[must_use]
    pub fn line_index(&self, offset: u32) -> usize {
        line_index(&self.starts, offset)
    }

    /// Returns the offset of the first byte of line `index` (from 0), if there is such a line.
    #[must_use]
    pub fn line_start(&self, index: usize) -> Option<u32> {
        self.starts.get(index).copied()
    }

    /// Returns the line and column (characters, from 1) of `offset` in `text`.
    #[must_use]
    pub fn location(&self, text: &str, offset: u32) -> Location {
        let (line, before) = split(&self.starts, text, offset);
        let column = before.chars().count();
        Location {
            line: narrow(line + 1),
            column: narrow(column + 1),
        }
    }

    /// Returns the line (from 0) and column (UTF-16 units, from 0) of `offset`, as editors count.
    #[must_use]
    pub fn utf16_position(&self, text: &str, offset: u32) -> (u32, u32) {
        let (line, before) = split(self.editor_starts(), text, offset);
        let column: usize = before.chars().map(char::len_utf16).sum();
        (narrow(line), narrow(column))
    }

    /// Returns the offset of a position as editors count; clamped to the line and the text.
    #[must_use]
    pub fn offset_of_utf16(&self, text: &str, line: u32, column: u32) -> u32 {
        let Some(start) = self.editor_starts().get(line as usize) else {
            return narrow(text.len());
        };
        let mut offset = *start as usize;
        let mut units = 0;
        for c in text.get(offset..).unwrap_or("").chars() {
            if units >= column || c == '\n' || c == '\r' {
                break;
            }
            units += narrow(c.len_utf16());
            offset += c.len_utf8();
        }
        narrow(offset)
    }

    fn editor_starts(&self) -> &[u32] {
        self.editor_starts.as_ref().unwrap_or(&self.starts)
    }
}

fn line_index(starts: &[u32], offset: u32) -> usize {
    starts
        .partition_point(|&start| start <= offset)
        .saturating_sub(1)
}

/// Returns the line (from 0) and the text before `offset` on it.
fn split<'t>(starts: &[u32], text: &'t str, offset: u32) -> (usize, &'t str) {
    let line = line_index(starts, offset);
    let start = starts.get(line).copied().unwrap_or(0) as usize;
    let mut end = (offset as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    (line, text.get(start..end).unwrap_or(""))
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
