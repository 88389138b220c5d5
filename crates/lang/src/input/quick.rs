//! The ends of plain JSON tokens: thirty-two bytes at a time.
//!
//! Most of a recording is text that nothing reads, and finding where it ends is most of the work. What is found here is
//! sound JSON; wherever something is unusual (an error, half a surrogate pair, `NaN`, a number of a thousand digits)
//! nothing is said, and [`Scanner`](super::scan::Scanner) asks the parser that knows all of it.
//!
//! Bits for the bytes of a block that matter, as in G. Langdale, D. Lemire, *Parsing gigabytes of JSON per second*, 2019.

use wide::{u8x16, u8x32};

use crate::value::escapes::unit;

/// Digits beyond this are the parser's business, which has a limit on them.
const MOST_DIGITS: usize = 4000;

/// Bytes that are looked at together.
const BLOCK: usize = 32;

/// Returns the offset of the first byte that is not white space.
#[inline]
pub(crate) fn space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Returns the block at an offset; behind the end of the bytes stand spaces.
#[inline]
fn block(bytes: &[u8], at: usize) -> u8x32 {
    let rest = bytes.get(at..).unwrap_or_default();
    u8x32::new(match rest.first_chunk() {
        Some(block) => *block,
        None => last_block(rest),
    })
}

#[inline(never)]
fn last_block(rest: &[u8]) -> [u8; BLOCK] {
    let mut block = [b' '; BLOCK];
    for (place, byte) in block.iter_mut().zip(rest) {
        *place = *byte;
    }
    block
}

/// Returns a bit for each byte of a block that is this one.
#[inline]
fn each(block: u8x32, byte: u8) -> u32 {
    block.simd_eq(u8x32::splat(byte)).to_bitmask()
}

/// Returns a bit for each byte of a block that an unescaped backslash stands before. `within`: whether (0 or 1) one stood
/// before the block; it is set for the next block.
///
/// Runs of backslashes are distinguished by their start: a subtraction carries through each run.
#[inline]
fn escaped(backslashes: u32, within: &mut u32) -> u32 {
    const ODD: u32 = 0xAAAA_AAAA;
    let begins = backslashes & !*within;
    let codes = ((begins << 1 | ODD).wrapping_sub(begins)) ^ ODD;
    let escaped = codes ^ (backslashes | *within);
    *within = (codes & backslashes) >> (BLOCK - 1);
    escaped
}

/// A string that was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Quoted {
    /// Offset after the closing quote.
    pub(crate) end: usize,
    /// Whether it has no escapes, so that its bytes are its text.
    pub(crate) plain: bool,
}

/// Returns the string whose opening quote is at an offset.
#[inline]
pub(crate) fn string(bytes: &[u8], quote: usize) -> Option<Quoted> {
    let mut at = quote + 1;
    // One block of sixteen bytes first: of the strings in recordings of tau-bench, AgentDojo, Claude Code and OpenTelemetry,
    // 70 to 78 % have fewer (keys, names, words of few values).
    if let Some(first) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let first = u8x16::new(*first);
        let quotes = first.simd_eq(u8x16::splat(b'"'));
        let escapes = first.simd_eq(u8x16::splat(b'\\'));
        let control = first.min(u8x16::splat(0x1f)).simd_eq(first);
        let stops = (quotes | escapes | control).to_bitmask();
        if stops == 0 {
            at += 16;
        } else {
            let end = at + stops.trailing_zeros() as usize;
            if bytes.get(end) == Some(&b'"') {
                let end = end + 1;
                return Some(Quoted { end, plain: true });
            }
        }
    }
    let mut within = 0;
    let mut plain = true;
    // Where the second half of a surrogate pair is due.
    let mut low = 0;
    // Control characters are looked for once the end is known.
    let mut control = u8x32::splat(0);
    while at < bytes.len() {
        let block = block(bytes, at);
        let is_control = block.min(u8x32::splat(0x1f)).simd_eq(block);
        let quotes = each(block, b'"');
        let backslashes = each(block, b'\\');
        let mut ends = quotes;
        let mut before = ends.wrapping_sub(1) & !ends;
        if (backslashes & before) | within != 0 {
            plain = false;
            let escaped = escaped(backslashes, &mut within);
            ends &= !escaped;
            before = ends.wrapping_sub(1) & !ends;
            // The commonest are sound: quotes, backslashes and line ends.
            let mut odd = escaped & before & !(quotes | backslashes);
            if odd != 0 {
                odd &= !each(block, b'n');
            }
            while odd != 0 {
                let code = at + odd.trailing_zeros() as usize;
                odd &= odd - 1;
                match bytes.get(code)? {
                    b'/' | b'b' | b'f' | b'r' | b't' => {}
                    b'u' => match unit(bytes, code)? {
                        0xD800..=0xDBFF => {
                            low = code + 6;
                            let half = bytes.get(code + 5) == Some(&b'\\');
                            if !half || !matches!(unit(bytes, low)?, 0xDC00..=0xDFFF) {
                                return None;
                            }
                        }
                        0xDC00..=0xDFFF if low != code => return None,
                        _ => {}
                    },
                    _ => return None,
                }
            }
        }
        if ends != 0 {
            let end = at + ends.trailing_zeros() as usize + 1;
            let sound = is_control.to_bitmask() & before == 0 && control.to_bitmask() == 0;
            return sound.then_some(Quoted { end, plain });
        }
        control |= is_control;
        at += BLOCK;
    }
    None
}

/// Returns the offset after the number at an offset.
#[inline]
pub(crate) fn number(bytes: &[u8], start: usize) -> Option<usize> {
    let digits = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        (count > 0).then_some(at + count)
    };
    let first = start + usize::from(bytes.get(start) == Some(&b'-'));
    let mut at = digits(first)?;
    if at - first > MOST_DIGITS || (bytes.get(first) == Some(&b'0') && at - first > 1) {
        return None;
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        at = digits(at + 1 + sign)?;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::escapes::unescape;
    use jiter::{Jiter, Peek};
    use proptest::prelude::*;

    /// Returns the end of the first value according to jiter.
    fn end(text: &[u8]) -> Option<usize> {
        let mut jiter = Jiter::new(text);
        jiter.next_skip().ok().map(|()| jiter.current_index())
    }

    crate::random::tests! {
        2000 cases;

        /// Strings have the end and the text that jiter gives them.
        #[test]
        fn strings_agree_with_jiter(parts in proptest::collection::vec(prop::sample::select(vec![
            "a", "plain text of some length, ", "é", "😀", "\\n", "\\\"", "\\\\", "\\u0041", "\\ud83d\\ude00",
            "\\ud83d", "\\ude00", "\\ud83dx", "\\x", "\\u00g0", "\n", "\u{7f}", "\u{1f}", "\\/", "\\", " ",
        ]), 0..30), after in "[\", a]{0,3}") {
            let text = format!("\"{}\"{after}", parts.concat());
            let found = string(text.as_bytes(), 0);
            prop_assert_eq!(found.map(|found| found.end), end(text.as_bytes()), "{}", text);
            let Some(Quoted { end, plain }) = found else { return Ok(()); };
            let written = &text[1..end - 1];
            prop_assert_eq!(plain, !written.contains('\\'));
            let mut meant = String::new();
            prop_assert_eq!(unescape(written, usize::MAX, &mut meant), Some(()));
            let mut jiter = Jiter::new(text.as_bytes());
            prop_assert_eq!(jiter.next_str().ok(), Some(meant.as_str()));
            if plain {
                prop_assert_eq!(written, meant);
            }
        }

        /// Every accepted number is one for jiter, and every rejected one is not.
        #[test]
        fn numbers_agree_with_jiter(text in "-?[0-9]{1,3}[.eE+0-9-]{0,6}[, \\]]?") {
            let mut jiter = Jiter::new(text.as_bytes());
            let known = jiter.next_number_bytes().map(<[u8]>::len).ok();
            prop_assert_eq!(number(text.as_bytes(), 0), known, "{}", text);
        }

        /// Every byte is distinguished from the others, at every position, with runs of backslashes of any length.
        #[test]
        fn strings_end_wherever_they_end(before in 0..70usize, run in 0..70usize, byte in 0u8..0x80, after in 0..40usize) {
            let text = format!("\"{}{}{}{}\"", "x".repeat(before), "\\".repeat(run), char::from(byte), "y".repeat(after));
            let found = string(text.as_bytes(), 0).map(|found| found.end);
            prop_assert_eq!(found, end(text.as_bytes()), "{}", text);
        }
    }

    #[test]
    fn what_is_unusual_is_left_to_the_parser() {
        for text in [
            "NaN",
            "Infinity",
            "-Infinity",
            "-",
            "01",
            "1.",
            "1e",
            "+1",
            "",
        ] {
            assert_eq!(number(text.as_bytes(), 0), None, "{text}");
        }
        let long = "1".repeat(5000);
        assert_eq!(number(long.as_bytes(), 0), None);
        assert_eq!(Jiter::new(b"\"a\"").peek().ok(), Some(Peek::String));
    }
}
