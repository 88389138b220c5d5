//! Repairs text that is almost JSON, so that an outcome is recorded even if parts of it are unreadable.
//!
//! Others can influence what a tool returns. If an unreadable byte kept a result out of the trace, a tool could hide
//! the result. Values that are nested too deeply, and numbers that JSON does not have, are replaced by [`UNREAD`]. Characters are
//! replaced in two different ways: texts that are equal in both do not depend on them, and all others are unknown.

use std::borrow::Cow;

use super::lenient::UNREAD;

/// The replacements in each of the two texts for bytes that are not UTF-8, and for raw control characters in strings.
const FILLERS: [char; 2] = ['\u{fffd}', '\u{fffc}'];

/// Returns the two repaired texts.
///
/// Invalid UTF-8, raw control characters in strings, `NaN`, infinities, values below `depth` levels and a byte order mark are
/// replaced. Returns `None` if there is nothing of that kind to replace, or if a key would change, because the key determines
/// the field of its value. Linear in the text.
pub(super) fn repaired(bytes: &[u8], depth: usize) -> Option<[Vec<u8>; 2]> {
    let [first, second] = FILLERS;
    let (first, second) = (repair(bytes, depth, first)?, repair(bytes, depth, second)?);
    (first != bytes).then_some([first, second])
}

fn repair(bytes: &[u8], depth: usize, filler: char) -> Option<Vec<u8>> {
    let text = valid(bytes, filler);
    let text = text.trim_start_matches('\u{feff}');
    let mut out = String::with_capacity(text.len());
    let mut level = 0usize;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let changed = string(&mut chars, filler, |c| {
                    if level <= depth {
                        out.push(c);
                    }
                });
                let is_key = || chars.as_str().trim_start().starts_with(':');
                if changed && is_key() {
                    return None;
                }
            }
            '[' | '{' => {
                level += 1;
                if level == depth.saturating_add(1) {
                    out.push_str(UNREAD);
                } else if level <= depth {
                    out.push(c);
                }
            }
            ']' | '}' => {
                if level <= depth {
                    out.push(c);
                }
                level = level.checked_sub(1)?;
            }
            _ if level > depth => {}
            'N' | 'I' => {
                let rest = ["aN", "nfinity"]
                    .into_iter()
                    .find(|rest| chars.as_str().starts_with(rest))?;
                chars.nth(rest.len() - 1);
                out.truncate(out.trim_end_matches('-').len());
                out.push_str(UNREAD);
            }
            // Outside of strings a line end is white space.
            '\n' | '\r' => out.push(' '),
            _ => out.push(c),
        }
    }
    Some(out.into_bytes())
}

/// Copies the rest of a string, with its quotes. Returns whether anything in it was replaced.
fn string(chars: &mut std::str::Chars<'_>, filler: char, mut push: impl FnMut(char)) -> bool {
    push('"');
    let mut changed = false;
    let mut escaped = false;
    for c in chars.by_ref() {
        let is_control = c < ' ';
        changed |= is_control || c == filler;
        push(if is_control { filler } else { c });
        if escaped {
            escaped = false;
        } else if c == '\\' {
            escaped = true;
        } else if c == '"' {
            break;
        }
    }
    changed
}

/// Returns the text with `filler` in place of bytes that are not UTF-8.
fn valid(bytes: &[u8], filler: char) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => {
            let mut text = String::with_capacity(bytes.len());
            for chunk in bytes.utf8_chunks() {
                text.push_str(chunk.valid());
                if !chunk.invalid().is_empty() {
                    text.push(filler);
                }
            }
            Cow::Owned(text)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(bytes: &[u8]) -> Option<[String; 2]> {
        Some(repaired(bytes, 3)?.map(|text| String::from_utf8_lossy(&text).into_owned()))
    }

    #[test]
    fn each_unreadable_part_is_unknown_or_differs_between_the_two_texts() {
        for (text, first, second) in [
            (
                &b"{\"a\":\"x\xffy\"}"[..],
                "{\"a\":\"x\u{fffd}y\"}",
                "{\"a\":\"x\u{fffc}y\"}",
            ),
            (
                b"{\"a\":\"x\ty\"}",
                "{\"a\":\"x\u{fffd}y\"}",
                "{\"a\":\"x\u{fffc}y\"}",
            ),
            (
                b"{\"a\":[[[\"]\",1],2],3]}",
                "{\"a\":[[\"\\ud800\",2],3]}",
                "{\"a\":[[\"\\ud800\",2],3]}",
            ),
            (
                b"{\"a\":[NaN,-Infinity]}",
                "{\"a\":[\"\\ud800\",\"\\ud800\"]}",
                "{\"a\":[\"\\ud800\",\"\\ud800\"]}",
            ),
            (b"\xef\xbb\xbf{\"a\":1}", "{\"a\":1}", "{\"a\":1}"),
        ] {
            let found = both(text);
            assert_eq!(found, Some([first.to_owned(), second.to_owned()]));
        }
    }

    #[test]
    fn a_key_that_would_change_is_not_repaired() {
        assert_eq!(both(b"{\"te\xffxt\" : 1}"), None);
        assert_eq!(both(b"{\"a\":1}"), None, "nothing to repair");
        assert_eq!(both(b"}"), None);
    }

    #[test]
    fn an_escaped_quote_does_not_end_a_string() {
        let text = both(b"{\"a\":\"\\\"[[[[\x01\",\"b\":1}");
        assert_eq!(
            text.map(|[first, _]| first),
            Some("{\"a\":\"\\\"[[[[\u{fffd}\",\"b\":1}".to_owned())
        );
    }
}
