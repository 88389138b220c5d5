//! Widths, columns and plurals.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Returns the number of columns that a terminal uses for `text`.
pub(super) fn width(text: &str) -> usize {
    text.width()
}

/// Returns `text` followed by blanks up to `columns`.
pub(super) fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns `text` preceded by blanks up to `columns`.
pub(super) fn pad_left(text: &str, columns: usize) -> String {
    format!("{}{text}", " ".repeat(columns.saturating_sub(width(text))))
}

/// Returns `text`, cut to `columns` with `…` if it is longer.
pub(super) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let mut kept = String::new();
    let mut used = 1;
    for c in text.chars() {
        used += c.width().unwrap_or(0);
        if used > columns {
            break;
        }
        kept.push(c);
    }
    kept.push('…');
    kept
}

/// Returns the words of `text` in lines of at most `columns`; a longer word has its own line.
pub fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let room = lines.last().map_or(0, |line| width(line));
        if room > 0 && room + 1 + width(word) > columns {
            lines.push(String::new());
        }
        if let Some(line) = lines.last_mut() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

/// Returns a line of source in lines of at most `columns`, broken at blanks; continuation lines are indented further.
pub(super) fn folded(line: &str, columns: usize) -> Vec<String> {
    if width(line) <= columns {
        return vec![line.to_owned()];
    }
    let margin = line.len() - line.trim_start().len();
    let mut indent = " ".repeat(margin);
    let mut out = Vec::new();
    for part in wrap(line, columns.saturating_sub(margin + 6).max(20)) {
        out.push(cut(&format!("{indent}{part}"), columns));
        indent = " ".repeat(margin + 6);
    }
    out
}

/// Formats a count: `1 trace`, `2 traces`, `12,345 traces`.
pub fn plural(count: u64, one: &str, many: &str) -> String {
    format!("{} {}", number(count), if count == 1 { one } else { many })
}

/// Returns a count with separators between groups of three digits.
pub fn number(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (idx, digit) in digits.chars().enumerate() {
        if idx > 0 && (digits.len() - idx).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
