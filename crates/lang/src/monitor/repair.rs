//! Repairs text that is almost JSON, so that an outcome is recorded even if parts of it are unreadable.
//!
//! Others can influence what a tool returns. If an unreadable byte kept a result out of the trace, a tool could hide
//! the result. Values that are nested too deeply, and numbers that JSON does not have, are replaced by [`UNREAD`], and characters that
//! cannot be read by halves of surrogate pairs, which make their text unknown.

use super::lenient::{FURTHER_PART, UNREAD, UNREAD_PART};

/// The character that stands for bytes that are not UTF-8 while a text is repaired: like all control characters, it cannot stand in a string.
const INVALID: char = '\0';

/// Returns the repaired text.
///
/// Invalid UTF-8, raw control characters in strings, `NaN`, infinities, values below `depth` levels and a byte order mark are
/// replaced. Returns `None` if there is nothing of that kind to replace, or if a key would change, because the key determines
/// the field of its value. Linear in the text.
pub(super) fn repaired(bytes: &[u8], depth: usize) -> Option<Vec<u8>> {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(INVALID);
        }
    }
    let text = text.trim_start_matches('\u{feff}');
    let mut out = String::with_capacity(text.len());
    let mut level = 0usize;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                let start = out.len();
                let changed = string(&mut chars, &mut out);
                if level > depth {
                    out.truncate(start);
                } else if changed && chars.as_str().trim_start().starts_with(':') {
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
    (out.as_bytes() != bytes).then(|| out.into_bytes())
}

/// Copies the rest of a string, with its quotes. Returns whether anything in it was replaced.
fn string(chars: &mut std::str::Chars<'_>, out: &mut String) -> bool {
    out.push('"');
    let mut changed = false;
    let mut escaped = false;
    // All characters in a row are replaced together: 50 MB of them took 600 MB.
    let mut replaced_to = None;
    for c in chars.by_ref() {
        if c < ' ' {
            changed = true;
            // The backslash of an escape that is none would take away the meaning of what follows.
            out.truncate(out.len() - usize::from(std::mem::take(&mut escaped)));
            if replaced_to != Some(out.len()) {
                let is_first = replaced_to.is_none();
                out.push_str(if is_first { UNREAD_PART } else { FURTHER_PART });
                replaced_to = Some(out.len());
            }
            continue;
        }
        out.push(c);
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

#[cfg(test)]
mod tests {
    use super::*;

    fn one(bytes: &[u8]) -> Option<String> {
        repaired(bytes, 3).map(|text| String::from_utf8_lossy(&text).into_owned())
    }

    #[test]
    fn each_unreadable_part_is_unknown() {
        for (text, expected) in [
            (&b"{\"a\":\"x\xffy\"}"[..], r#"{"a":"x\ud800\ud800y"}"#),
            (b"{\"a\":\"x\ty\"}", r#"{"a":"x\ud800\ud800y"}"#),
            (b"{\"a\":\"\\\xff\"}", r#"{"a":"\ud800\ud800"}"#),
            (b"{\"a\":\"\\\\\x01\"}", r#"{"a":"\\\ud800\ud800"}"#),
            (b"{\"a\":[[[\"]\",1],2],3]}", r#"{"a":[["\ud800",2],3]}"#),
            (b"{\"a\":[NaN,-Infinity]}", r#"{"a":["\ud800","\ud800"]}"#),
            (b"\xef\xbb\xbf{\"a\":1}", r#"{"a":1}"#),
            (
                b"{\"a\":\"\\\"[[[[\x01\",\"b\":1}",
                r#"{"a":"\"[[[[\ud800\ud800","b":1}"#,
            ),
        ] {
            assert_eq!(one(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_key_that_would_change_is_not_repaired() {
        assert_eq!(one(b"{\"te\xffxt\" : 1}"), None);
        assert_eq!(one(b"{\"a\":1}"), None, "nothing to repair");
        assert_eq!(one(b"}"), None);
    }
}
