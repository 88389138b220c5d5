//! Reads JSON objects that are too long, cut off or damaged, and keeps what can be distinguished.
//!
//! Others can influence what a tool returns. If a damaged part kept an outcome out of the trace, a tool could hide its result.

use std::collections::HashSet;
use std::fmt::Display;

use super::encoded::{self, Unescaped};
use super::lenient::{DEEPEST, FURTHER_PART, MOST_MEMBERS, Outline, UNREAD, UNREAD_PART};
use crate::input::scan::Scanner;

/// The key of a member that stands for those that a damaged event may have had.
pub(super) const LOST: &str = "\0";

/// Long values are given up while there is still this part of the limit, so that the keys and short values behind them are kept: with
/// the length of its result a tool would choose which of them are lost, the name of the trace among them.
const ROOM_FOR_SHORT: usize = 4;

/// The length of a short value, in bytes.
const SHORT: usize = 1024;

/// Reads a document that may be too long, cut off or damaged, and keeps the readable values: a value that cannot be kept
/// becomes [`UNREAD`]. This is decided for each member of the outermost object and of the objects directly in it, so that only
/// one field of an event within an envelope is lost. Of an object in a document that is cut off, members may be missing, so it is
/// unknown as a whole, unless it is the document or such an event: [`LOST`] stands there for what is missing. Memory is bounded by
/// the limit.
#[derive(Debug)]
pub struct Intake {
    out: Vec<u8>,
    limit: usize,
    depth: usize,
    string: Option<InString>,
    /// The objects whose members are tracked: the outermost one and one in it.
    levels: [Followed; 2],
    /// Whether the value that is being read of the outermost object is the event of an envelope.
    is_event: bool,
    /// The end of the last replaced part of the string that is being read: one escape stands for all that is damaged in a row.
    damaged_to: Option<usize>,
    /// The level whose current value is being skipped.
    skips: Option<usize>,
    /// Whether the further members of the event of an envelope are left out, because its keys exceed the limit.
    drops: bool,
    /// The number of bytes behind the event that may exceed the limit; taken by the first event.
    room_behind_event: usize,
    changed: bool,
}

/// An object whose members are tracked.
#[derive(Clone, Copy, Debug, Default)]
struct Followed {
    /// Whether the level is open and is an object.
    is_open: bool,
    /// The start of the value being read.
    value: Option<usize>,
    /// The end of the level's last member.
    end: usize,
}

/// The state of the scan within a string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum InString {
    Plain,
    /// After a backslash at this offset of the output.
    Escape(usize),
    /// This many hexadecimal digits of the escape at this offset are still missing.
    Hex(usize, u8),
}

impl Intake {
    /// Creates an intake that keeps at most about this many bytes.
    pub fn new(limit: usize) -> Intake {
        Intake {
            out: Vec::new(),
            limit: limit.min(usize::MAX / 2),
            depth: 0,
            string: None,
            levels: [Followed::default(); 2],
            is_event: false,
            damaged_to: None,
            skips: None,
            drops: false,
            room_behind_event: 256,
            changed: false,
        }
    }

    /// Takes the next bytes.
    pub fn take(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.byte(*byte);
            if self.out.len() <= self.limit - self.limit / ROOM_FOR_SHORT || self.skips.is_some() {
                continue;
            }
            let [outer, inner] = self.levels;
            let of_outer = || outer.value.filter(|_| !self.is_event);
            let is_long = |start: &usize| self.out.len() - start > SHORT;
            if self.out.len() <= self.limit {
                match (inner.value.filter(is_long), of_outer().filter(is_long)) {
                    (Some(start), _) => self.give_up(1, start),
                    (None, Some(start)) if inner.value.is_none() => self.give_up(0, start),
                    _ => {}
                }
            } else {
                match (inner.value, outer.value) {
                    (Some(start), _) => self.give_up(1, start),
                    (None, Some(_)) if inner.is_open && self.is_event => {
                        self.out.truncate(inner.end);
                        (self.skips, self.drops, self.changed) = (Some(1), true, true);
                    }
                    (None, Some(start)) => self.give_up(0, start),
                    // The keys alone exceed the limit, which no valid document of a peer does.
                    (None, None) => self.out.truncate(self.limit),
                }
            }
        }
    }

    /// Returns the object that was kept.
    ///
    /// # Errors
    /// The input contains no object.
    pub fn finish(self) -> Result<Outline, String> {
        let (text, changed) = self.text();
        Outline::of(text, changed).or_else(|(text, why)| {
            let salvaged = salvaged(&text).ok_or(why)?;
            Outline::of(salvaged, true).map_err(|(_, why)| why)
        })
    }

    /// Returns the text that was kept, and whether it is less than the input.
    fn text(mut self) -> (String, bool) {
        if self.depth > 0 {
            if self.skips.is_none() {
                let [outer, inner] = self.levels;
                match (inner.is_open && self.is_event, inner.value, outer.value) {
                    (true, Some(start), _) => self.give_up(1, start),
                    (true, None, _) => self.out.truncate(inner.end),
                    (false, _, Some(start)) => self.give_up(0, start),
                    (false, _, None) => self.out.truncate(outer.end),
                }
            }
            if self.out.is_empty() {
                self.out.push(b'{');
            }
            if self.levels[1].is_open && self.is_event && self.skips != Some(0) {
                self.close_cut();
            }
            self.close_cut();
            self.changed = true;
        }
        self.lossy()
    }

    /// Closes an object whose further members are missing.
    fn close_cut(&mut self) {
        self.put_lost();
        self.out.push(b'}');
    }

    /// Adds the member that stands for those that are missing.
    fn put_lost(&mut self) {
        let is_empty = self.out.trim_ascii_end().ends_with(b"{");
        let comma = if is_empty { "" } else { "," };
        let lost = format!("{comma}{}:{UNREAD}", serde_json::Value::from(LOST));
        self.out.extend_from_slice(lost.as_bytes());
    }

    /// Returns whether the output ends with the key of the event of an envelope. Linear in the blanks at the end.
    fn ends_with_event_key(&self) -> bool {
        let before = self.out.trim_ascii_end().strip_suffix(b"\"event\"");
        before.is_some_and(|before| matches!(before.trim_ascii_end().last(), Some(b'{' | b',')))
    }

    /// Returns the output as it is, without invalid bytes.
    fn lossy(self) -> (String, bool) {
        let bytes = match String::from_utf8(self.out) {
            Ok(text) => return (text, self.changed),
            Err(error) => error.into_bytes(),
        };
        let mut text = String::with_capacity(bytes.len());
        // Whether the string that the chunk belongs to is unknown already; a quote may begin another one.
        let mut is_damaged = false;
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            is_damaged &= !chunk.valid().contains('"');
            if chunk.invalid().is_empty() {
                continue;
            }
            if !is_damaged {
                text.push_str(UNREAD_PART);
            } else if !chunk.valid().is_empty() {
                text.push_str(FURTHER_PART);
            }
            is_damaged = true;
        }
        (text, true)
    }

    /// Starts skipping the value of a level that began at `start`.
    fn give_up(&mut self, level: usize, start: usize) {
        self.out.truncate(start);
        self.out.extend_from_slice(UNREAD.as_bytes());
        self.skips = Some(level);
        self.changed = true;
    }

    fn put(&mut self, byte: u8) {
        if self.skips.is_none() {
            self.out.push(byte);
        }
    }

    /// Replaces the output from this offset by an escape that makes the string unknown.
    fn damaged(&mut self, from: usize) {
        if self.skips.is_none() {
            self.out.truncate(from);
            if self.damaged_to != Some(from) {
                let is_first = self.damaged_to.is_none();
                let part = if is_first { UNREAD_PART } else { FURTHER_PART };
                self.out.extend_from_slice(part.as_bytes());
                self.damaged_to = Some(self.out.len());
            }
        }
        self.changed = true;
    }

    fn byte(&mut self, byte: u8) {
        let here = self.out.len();
        match self.string {
            Some(InString::Plain) => match byte {
                b'"' => {
                    self.string = None;
                    self.put(byte);
                }
                b'\\' => {
                    self.string = Some(InString::Escape(here));
                    self.put(byte);
                }
                0..=0x1f => self.damaged(here),
                _ => self.put(byte),
            },
            Some(InString::Escape(at)) => match byte {
                b'u' => {
                    self.string = Some(InString::Hex(at, 4));
                    self.put(byte);
                }
                b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => {
                    self.string = Some(InString::Plain);
                    self.put(byte);
                }
                _ => {
                    self.string = Some(InString::Plain);
                    self.damaged(at);
                }
            },
            Some(InString::Hex(at, due)) => {
                if byte.is_ascii_hexdigit() {
                    self.string = Some(match due {
                        1 => InString::Plain,
                        _ => InString::Hex(at, due - 1),
                    });
                    self.put(byte);
                } else {
                    self.string = Some(InString::Plain);
                    self.damaged(at);
                    self.byte(byte);
                }
            }
            None => self.outside(byte),
        }
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' => {
                self.string = Some(InString::Plain);
                self.damaged_to = None;
            }
            b'{' | b'[' => {
                self.depth += 1;
                self.put(byte);
                if let Some(level) = self.levels.get_mut(self.depth - 1) {
                    *level = Followed {
                        is_open: byte == b'{',
                        value: None,
                        end: self.out.len(),
                    };
                }
                return;
            }
            b'}' | b']' => {
                if self.drops && self.depth == 2 {
                    self.drops = false;
                    self.put_lost();
                }
                if self.depth == 2 && self.is_event {
                    // The number of a proposal still fits behind the event.
                    self.limit += std::mem::take(&mut self.room_behind_event);
                }
                self.ended();
                if let Some(level) = self.levels.get_mut(self.depth.saturating_sub(1)) {
                    level.is_open = false;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.drops && self.depth == 2 => {}
            b',' => self.ended(),
            b':' => {
                if self.depth == 1 {
                    self.is_event = self.skips.is_none() && self.ends_with_event_key();
                }
                self.put(byte);
                let here = self.out.len();
                if let Some(level) = self.level().filter(|level| level.is_open) {
                    level.value = Some(here);
                }
                return;
            }
            _ => {}
        }
        self.put(byte);
    }

    /// Returns the level of the innermost open array or object, if it is tracked.
    fn level(&mut self) -> Option<&mut Followed> {
        self.levels.get_mut(self.depth.checked_sub(1)?)
    }

    /// Records the end of a member, if it belongs to a tracked level.
    fn ended(&mut self) {
        if self.skips.is_some_and(|level| level + 1 == self.depth) {
            self.skips = None;
        }
        let here = self.out.len();
        self.is_event &= self.depth > 1;
        if let Some(level) = self.level() {
            level.value = None;
            level.end = here;
        }
    }
}

/// Returns the members that can be distinguished in a text that is not JSON, as an object: values that are not JSON are
/// [`UNREAD`], and half a surrogate pair in a key becomes a replacement character. Whatever stands between and around the
/// members is left out, for which there is [`LOST`], also in an `event`, of which the members are kept as well. `None` if no object
/// begins in the text.
fn salvaged(text: &str) -> Option<String> {
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

/// Returns the members of a damaged object. `None` if the text is not one object that ends: a member may stand before or behind it.
pub fn pieces(bytes: &[u8]) -> Option<Pieces> {
    let mut intake = Intake::new(usize::MAX);
    intake.take(bytes);
    if intake.string.is_some() {
        return None;
    }
    let text = intake.lossy().0;
    let before = text.split('{').next().unwrap_or_default();
    if !before.trim_start_matches('\u{feff}').chars().all(is_space) {
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
    use super::*;

    fn taken(text: &[u8], limit: usize) -> (String, bool) {
        let mut intake = Intake::new(limit);
        // In chunks, as data arrives.
        text.chunks(3).for_each(|piece| intake.take(piece));
        intake.text()
    }

    #[test]
    fn what_is_sound_stays_as_it_is() {
        let text = r#" {"a": "x\"\\\u00e9é", "b": [1, {"c": null}], "d": ""} "#;
        assert_eq!(taken(text.as_bytes(), 1000), (text.to_owned(), false));
    }

    #[test]
    fn what_is_damaged_or_cut_off_leaves_the_rest() {
        let cases: [(&[u8], &str); 18] = [
            (
                b"{\"a\":\"\xff\",\"b\":1}",
                "{\"a\":\"\\ud800\\ud800\",\"b\":1}",
            ),
            (
                b"{\"a\":\"\\\xff\",\"b\":1}",
                "{\"a\":\"\\ud800\\ud800\",\"b\":1}",
            ),
            (
                b"{\"a\":\"\n\",\"b\":1}",
                "{\"a\":\"\\ud800\\ud800\",\"b\":1}",
            ),
            (
                b"{\"a\":\"\\u12\",\"b\":1}",
                "{\"a\":\"\\ud800\\ud800\",\"b\":1}",
            ),
            (
                b"{\"a\":1,\"b\":[1,2",
                r#"{"a":1,"b":"\ud800","\u0000":"\ud800"}"#,
            ),
            (b"{\"a\":1,\"b", r#"{"a":1,"\u0000":"\ud800"}"#),
            (b"{\"a\":1,", r#"{"a":1,"\u0000":"\ud800"}"#),
            (
                b"{\"a\":1,\"b\":\"x",
                r#"{"a":1,"b":"\ud800","\u0000":"\ud800"}"#,
            ),
            (
                b"{\"event\":{\"b\":1,\"c\":[2",
                r#"{"event":{"b":1,"c":"\ud800","\u0000":"\ud800"},"\u0000":"\ud800"}"#,
            ),
            (
                b"{\"event\":{\"b\":1,\"c",
                r#"{"event":{"b":1,"\u0000":"\ud800"},"\u0000":"\ud800"}"#,
            ),
            (
                b"{\"event\":{",
                r#"{"event":{"\u0000":"\ud800"},"\u0000":"\ud800"}"#,
            ),
            (b"{\"event\":{},", r#"{"event":{},"\u0000":"\ud800"}"#),
            (
                b"{\"phase\":\"after\",\"event\":{},",
                r#"{"phase":"after","event":{},"\u0000":"\ud800"}"#,
            ),
            (
                b"{ \"phase\" : 1 , \"event\" : { \"b\" : 1, \"c",
                r#"{ "phase" : 1 , "event" : { "b" : 1,"\u0000":"\ud800"},"\u0000":"\ud800"}"#,
            ),
            (
                br#"{"a":1,"x\"event":{"#,
                r#"{"a":1,"x\"event":"\ud800","\u0000":"\ud800"}"#,
            ),
            (
                b"{\"a\":{\"b\":1,\"c\":[2",
                r#"{"a":"\ud800","\u0000":"\ud800"}"#,
            ),
            (b"{\"a\":{", r#"{"a":"\ud800","\u0000":"\ud800"}"#),
            (b"{\"a\":{\"b\":1}", r#"{"a":"\ud800","\u0000":"\ud800"}"#),
        ];
        for (text, kept) in cases {
            assert_eq!(taken(text, 1000), (kept.to_owned(), true), "{kept}");
        }
    }

    #[test]
    fn a_value_that_is_too_long_is_left_out() {
        let long = format!(r#"{{"a":"x","b":["{}",{{"c":1}}],"d":2}}"#, "y".repeat(500));
        let (kept, changed) = taken(long.as_bytes(), 100);
        assert_eq!(
            (kept.as_str(), changed),
            (r#"{"a":"x","b":"\ud800","d":2}"#, true)
        );
        let keys: String = (0..50).map(|key| format!(r#""k{key}":1,"#)).collect();
        let long = format!(r#"{{"phase":"commit","event":{{"k":1,{keys}"t":2}},"proposal":7}}"#);
        let (kept, changed) = taken(long.as_bytes(), 60);
        let expected = r#"{"phase":"commit","event":{"k":1,"k0":1,"k1":1,"k2":1,"k3":1,"\u0000":"\ud800"},"proposal":7}"#;
        assert_eq!((kept.as_str(), changed), (expected, true));
        let long = format!(
            r#"{{"p":"after","event":{{"k":1,"t":"{0}","u":{{"v":"{0}"}},"w":2}}}}"#,
            "y".repeat(500)
        );
        let (kept, changed) = taken(long.as_bytes(), 100);
        let expected = r#"{"p":"after","event":{"k":1,"t":"\ud800","u":"\ud800","w":2}}"#;
        assert_eq!((kept.as_str(), changed), (expected, true));
    }

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
