//! Makes text from data and specs safe for terminals and log lines: no control sequences, no extra lines, no changed
//! text direction.

use std::borrow::Cow;
use std::fmt::Write as _;

use wide::u8x32;

/// Returns the text with every character escaped (`\n`, `\u{1b}`) that a terminal may interpret instead of showing: control
/// characters, line and paragraph separators, and marks that change the direction of text or are invisible.
///
/// Linear in the text; borrows if there is nothing to escape.
pub fn inert(text: &str) -> Cow<'_, str> {
    if !text.chars().any(acts) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match acts(c) {
            true => out.extend(c.escape_default()),
            false => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Adds JSON with the same characters escaped as JSON does (`\u001b`): they occur only in strings.
///
/// Linear in the text.
pub fn push_json(out: &mut String, json: &str) {
    let mut rest = json;
    while let Some(at) = rest.find(acts) {
        let (plain, from) = rest.split_at(at);
        out.push_str(plain);
        let mut chars = from.chars();
        if let Some(c) = chars.next() {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
}

/// Whether a text may contain colours that the program has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Sequences such as `ESC [ 1 ; 31 m` are kept.
    Kept,
    /// The text has no colours; all sequences are escaped.
    None,
}

/// Returns lines of text with the same characters escaped as in JSON, except line ends and tabs: for reports in any format; JSON
/// stays equivalent.
///
/// Linear in the text; borrows if there is nothing to escape.
pub fn lines(text: &str, colours: Colours) -> Cow<'_, str> {
    let (plain, mut rest) = text.split_at(shown(text));
    if rest.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(plain);
    while let Some(first) = rest.chars().next() {
        let kept = match colours {
            Colours::Kept => colour(rest),
            Colours::None => 0,
        };
        let (first, after) = match kept {
            0 => rest.split_at(first.len_utf8()),
            kept => rest.split_at(kept),
        };
        match kept {
            0 => push_json(&mut out, first),
            _ => out.push_str(first),
        }
        let (plain, from) = after.split_at(shown(after));
        out.push_str(plain);
        rest = from;
    }
    Cow::Owned(out)
}

/// Returns the bytes of the longest beginning of a text that has no character to be escaped but line ends and tabs.
fn shown(text: &str) -> usize {
    let mut at = 0;
    loop {
        at += plain(text.as_bytes().get(at..).unwrap_or_default());
        let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) else {
            return text.len();
        };
        if acts(c) && !matches!(c, '\n' | '\t') {
            return at;
        }
        at += c.len_utf8();
    }
}

/// Returns how many bytes at the beginning are shown characters of ASCII, line ends and tabs: nearly all of a report.
///
/// Thirty-two at a time: left to the compiler, it was a tenth of the instructions of an audit with `--format json`.
fn plain(bytes: &[u8]) -> usize {
    let (blocks, rest) = bytes.as_chunks();
    for (number, block) in blocks.iter().enumerate() {
        let block = u8x32::new(*block);
        let is_shown = block.max(u8x32::splat(b' ')).simd_eq(block)
            & block.min(u8x32::splat(b'~')).simd_eq(block);
        let is_space = block.simd_eq(u8x32::splat(b'\n')) | block.simd_eq(u8x32::splat(b'\t'));
        let others = !(is_shown | is_space).to_bitmask();
        if others != 0 {
            return 32 * number + others.trailing_zeros() as usize;
        }
    }
    let is_plain = |byte: &&u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    32 * blocks.len() + rest.iter().take_while(is_plain).count()
}

/// Returns the bytes of the colour with which a text begins.
fn colour(text: &str) -> usize {
    let Some(inside) = text.strip_prefix("\u{1b}[") else {
        return 0;
    };
    let digits = inside.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    match digits.starts_with('m') {
        true => text.len() - digits.len() + 1,
        false => 0,
    }
}

/// Unicode 16: `Cc`, `Zl`, `Zp`, the explicit and implicit directional marks, and invisible format characters and tags. Joiners
/// (U+200C, U+200D) are kept: words of several scripts and emoji need them.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61c}'
                | '\u{200b}'
                | '\u{200e}'
                | '\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_acts_is_escaped_and_what_is_shown_stays() {
        let shown = "naïve 漢字 👩\u{200d}💻 a\\n \u{fffd}";
        assert!(matches!(inert(shown), Cow::Borrowed(text) if text == shown));
        assert_eq!(inert("a\u{1b}]0;x\u{7}\r\n"), "a\\u{1b}]0;x\\u{7}\\r\\n");
        for c in [
            '\u{9b}',
            '\u{7f}',
            '\u{202e}',
            '\u{2066}',
            '\u{2028}',
            '\u{200f}',
            '\u{e0041}',
        ] {
            assert_eq!(inert(&c.to_string()), format!("\\u{{{:x}}}", u32::from(c)));
        }
    }

    #[test]
    fn lines_and_colours_stay() {
        for length in 0..200 {
            let plain = format!("{}é\t\n", "x".repeat(length));
            for end in ["", "\u{9b}", "é\u{202e}"] {
                let escaped = end
                    .replace('\u{9b}', "\\u009b")
                    .replace('\u{202e}', "\\u202e");
                assert_eq!(
                    lines(&format!("{plain}{end}{plain}"), Colours::None),
                    format!("{plain}{escaped}{plain}")
                );
            }
        }
        let text = "a\tb\n\u{1b}[1;31mc\u{1b}[0m \u{1b}[2J\r\u{202e}d\u{e0041}\n";
        assert_eq!(
            lines(text, Colours::Kept),
            "a\tb\n\u{1b}[1;31mc\u{1b}[0m \\u001b[2J\\u000d\\u202ed\\udb40\\udc41\n"
        );
        assert_eq!(
            lines(text, Colours::None),
            "a\tb\n\\u001b[1;31mc\\u001b[0m \\u001b[2J\\u000d\\u202ed\\udb40\\udc41\n"
        );
    }

    #[test]
    fn json_keeps_its_meaning() {
        for text in ["plain", "a\u{7f}\u{202e}b\u{e0041}c", "\u{1b}[31m\n"] {
            let mut out = String::new();
            push_json(&mut out, &serde_json::json!([text]).to_string());
            assert!(!out.chars().any(acts));
            let read: Vec<String> = serde_json::from_str(&out).unwrap_or_default();
            assert_eq!(read, [text]);
        }
    }
}
