//! Splits damaged JSON objects into the members that can be distinguished.
//!
//! Others can influence what a tool returns. If a damaged part kept an outcome out of the trace, a tool could hide its result.

use std::collections::HashSet;
use std::fmt::Display;

use super::encoded::{self, Unescaped};
use super::intake::Intake;
use super::lenient::{DEEPEST, MOST_MEMBERS, UNREAD};
use crate::input::scan::Scanner;

/// The key of a member that stands for those that a damaged event may have had.
pub(super) const LOST: &str = "\0";

/// Returns the members that can be distinguished in a text that is not JSON, as an object: values that are not JSON are
/// [`UNREAD`], and half a surrogate pair in a key becomes a replacement character. Whatever stands between and around the
/// members is left out, for which there is [`LOST`], also in an `event`, of which the members are kept as well. `None` if no object
/// begins in the text.
pub(super) fn salvaged(text: &str) -> Option<String> {
    Some(cut_object(split(text)?.members, true))
}

/// Returns the text of an object with the members that could be distinguished in it. `is_outer`: it may have an `event`.
fn cut_object(members: Vec<(String, &str)>, is_outer: bool) -> String {
    let read = |(key, value): (String, &str)| {
        let is_event = || is_outer && key == "event" && value.starts_with('{');
        let text = match is_value(value, DEEPEST) {
            true => value.to_owned(),
            false => match Some(value).filter(|_| is_event()).and_then(split) {
                Some(event) => cut_object(event.members, false),
                None => UNREAD.to_owned(),
            },
        };
        (key, text)
    };
    let lost = (LOST.to_owned(), UNREAD.to_owned());
    object(members.into_iter().map(read).chain([lost]))
}

/// Returns the text of an object with these members, whose values are JSON.
pub fn object<V: Display>(members: impl Iterator<Item = (String, V)>) -> String {
    let members = members.map(|(key, value)| format!("{}:{value}", serde_json::Value::from(key)));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

/// The members of a damaged object that begins and ends.
#[derive(Clone, Debug)]
pub struct Pieces {
    /// By key, with their values as they stand; invalid bytes, control characters and escapes in strings are half a surrogate pair,
    /// which makes a string unknown.
    pub members: Vec<(String, String)>,
    /// Whether these are all keys: each of them can be read, and no other one can be hidden between them.
    pub has_all_keys: bool,
}

/// Returns the members of a damaged object. `None` if the text is not one object that ends, or a member may stand before or behind
/// it.
pub fn pieces(bytes: &[u8]) -> Option<Pieces> {
    let mut intake = Intake::new(usize::MAX);
    intake.take(bytes);
    let text = intake.ended_text()?;
    let before = bytes.split(|byte| *byte == b'{').next().unwrap_or_default();
    if before.contains(&b'"') {
        return None;
    }
    let split = split(&text)?;
    let owned = |(key, value): (String, &str)| (key, value.to_owned());
    split.is_closed.then(|| Pieces {
        members: split.members.into_iter().map(owned).collect(),
        has_all_keys: split.has_all_keys,
    })
}

/// An object that was split.
struct Split<'t> {
    /// The members, by key, with their values as they stand; without a value if the key also stands where its value is not known.
    members: Vec<(String, &'t str)>,
    /// As in [`Pieces`].
    has_all_keys: bool,
    /// Whether the object is closed, and neither a string nor another object begins behind it.
    is_closed: bool,
}

/// Splits an object at the colons, commas and closing brackets between its members.
fn split(text: &str) -> Option<Split<'_>> {
    let bytes = text.as_bytes();
    let mut at = memchr::memchr(b'{', bytes)? + 1;
    let mut split = Split {
        members: Vec::new(),
        has_all_keys: true,
        is_closed: false,
    };
    let mut depth = 0usize;
    // the last string, which may be a key, with its end, and the member whose value is passed over
    let mut before: Option<(&str, usize)> = None;
    let mut open: Option<(String, usize)> = None;
    // keys without their colons, or within the value of another member
    let mut lost: HashSet<String> = HashSet::new();
    let unescaped = |key: &str| Unescaped::new(key).collect::<String>();
    loop {
        let byte = bytes.get(at).copied();
        let ends = depth == 0 && matches!(byte, Some(b',' | b'}')) || byte.is_none();
        let is_alone =
            depth == 0 && open.is_none() && (ends || matches!(byte, Some(b'{' | b'[' | b'"')));
        let is_within = depth == 0 && open.is_some() && byte == Some(b':');
        if (is_alone || is_within)
            && let Some((key, _)) = before.take()
        {
            split.has_all_keys = false;
            if lost.len() < MOST_MEMBERS {
                lost.insert(unescaped(key));
            }
        }
        before = before.filter(|_| !ends);
        if ends && let Some((key, start)) = open.take() {
            let value = text.get(start..at).unwrap_or_default();
            split.has_all_keys &= split.members.len() < MOST_MEMBERS && !key.contains('\u{fffd}');
            if split.members.len() < MOST_MEMBERS {
                split.members.push((key, value.trim_matches(is_space)));
            }
        }
        match byte {
            None => break,
            Some(b'}') if depth == 0 => {
                let behind = bytes.get(at + 1..).unwrap_or_default();
                split.is_closed = memchr::memchr2(b'{', b'"', behind).is_none();
                break;
            }
            Some(b'"') => {
                let end = encoded::end_of_string(bytes, at + 1);
                before = text.get(at + 1..end.saturating_sub(1)).zip(Some(end));
                at = end;
                continue;
            }
            Some(b':') if depth == 0 => {
                let between = before.and_then(|(_, end)| text.get(end..at));
                split.has_all_keys &=
                    open.is_none() && between.is_some_and(|text| text.chars().all(is_space));
                if open.is_none() {
                    open = before.take().map(|(key, _)| (unescaped(key), at + 1));
                }
            }
            Some(b'{' | b'[') => depth += 1,
            Some(b'}' | b']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    let any = lost.len() == MOST_MEMBERS;
    for (_, value) in split
        .members
        .iter_mut()
        .filter(|(key, _)| any || lost.contains(key))
    {
        *value = "";
    }
    Some(split)
}

/// Whether an event has a member that stands for lost ones.
pub(super) fn is_cut(event: &[u8]) -> bool {
    let lost = [b"\"\\u0000\":", UNREAD.as_bytes(), b"}"].concat();
    memchr::memmem::find(event, &lost).is_some()
}

/// Whether a character is white space of JSON.
fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\n' | '\r')
}

/// Whether a text is a JSON value that is nested at most so deeply.
pub fn is_value(text: &str, depth: usize) -> bool {
    let mut scan = Scanner::new(text, 0, String::new());
    let read = scan.peek().and_then(|_| scan.skip(None, depth));
    read.is_ok() && scan.at_end()
}

#[cfg(test)]
mod tests {
    use super::super::lenient::Outline;

    /// Other readers find members in texts that are not JSON, so what can be distinguished is kept.
    #[test]
    fn members_are_told_apart_in_damaged_objects() {
        let cases: [(&[u8], &str); 17] = [
            (
                br#"{"a":{"k\ud800":1},"b":2}"#,
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":1,"k\ud800":2}"#,
                "{\"a\":1,\"k\u{fffd}\":2,\"\\u0000\":\"\\ud800\"}",
            ),
            (
                b"{\"a\":{\"k\xff\":1},\"b\":2}",
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                b"{\"a\":{\"k\t\":1},\"b\":2}",
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":{"k\x":1},"b":2}"#,
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":[1,],"b":2,}"#,
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":b,"c":'d',"e":/*f*/1}"#,
                r#"{"a":"\ud800","c":"\ud800","e":"\ud800","\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":,"b":2}"#,
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"phase":"after","event":{"a":1,"b":{"\ud800":2}}}"#,
                r#"{"phase":"after","event":{"a":1,"b":"\ud800","\u0000":"\ud800"},"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":"x"],"b":2}"#,
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":{"x":[1},"b":2}"#,
                r#"{"a":"\ud800","\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":{"x":1} "b":2}"#,
                r#"{"a":"\ud800","\u0000":"\ud800"}"#,
            ),
            (br#"{"a":1,"b" 2}"#, r#"{"a":1,"\u0000":"\ud800"}"#),
            (br#"{"a":1}x"#, r#"{"a":1,"\u0000":"\ud800"}"#),
            (br#"{"a":1}{"a":2}"#, r#"{"a":1,"\u0000":"\ud800"}"#),
            (
                b"\0{\"a\":\x0b1,\xc2\xa0\"b\":2}",
                r#"{"a":"\ud800","b":2,"\u0000":"\ud800"}"#,
            ),
            (b"\xef\xbb\xbf{\"a\":1}", r#"{"a":1,"\u0000":"\ud800"}"#),
        ];
        for (text, kept) in cases {
            let outline = Outline::read(text.to_vec()).unwrap();
            assert_eq!((outline.as_text(), outline.is_changed()), (kept, true));
        }
    }
}
