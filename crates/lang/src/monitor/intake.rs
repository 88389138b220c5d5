//! Takes in a document in pieces, in bounded memory: what is too long, cut off or damaged becomes unknown.

use super::damaged::{LOST, salvaged};
use super::lenient::{FURTHER_PART, Outline, UNREAD, UNREAD_PART};

/// Long values are given up while there is still this part of the limit, so that the keys and short values behind them are kept: with
/// the length of its result a tool would choose which of them are lost, the name of the trace among them.
const ROOM_FOR_SHORT: usize = 4;

/// The length of a short value, in bytes.
const SHORT: usize = 1024;

/// The number of bytes that are kept of a text before the object.
const KEPT_BEFORE: usize = 16;

/// Reads a document that may be too long, cut off or damaged, and keeps the readable values: a value that cannot be kept
/// becomes [`UNREAD`]. This is decided for each member of the outermost object and of the objects directly in it, so that only
/// one field of an event within an envelope is lost. Of an object in a document that is cut off, members may be missing, so it is
/// unknown as a whole, unless it is the document or such an event: [`LOST`] stands there for what is missing. Memory is bounded by
/// the limit.
#[derive(Debug)]
pub struct Intake {
    out: Vec<u8>,
    limit: usize,
    /// Whether the object has begun. What stands before it takes no room: it would decide how much of the object is kept.
    has_begun: bool,
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
            has_begun: false,
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

    /// Returns the whole text, without invalid bytes; `None` if it ends within a string.
    pub(super) fn ended_text(self) -> Option<String> {
        self.string.is_none().then(|| self.lossy().0)
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

    /// Passes over what stands before the object. The beginning of text that is no white space is kept: members may be lost with it.
    fn before(&mut self, byte: u8) {
        self.has_begun = byte == b'{';
        if self.has_begun {
            self.outside(byte);
        } else if !matches!(byte, b' ' | b'\t' | b'\n' | b'\r') && self.out.len() < KEPT_BEFORE {
            self.out.push(byte);
        }
    }

    fn byte(&mut self, byte: u8) {
        if !self.has_begun {
            return self.before(byte);
        }
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
        let text = r#"{"a": "x\"\\\u00e9é", "b": [1, {"c": null}], "d": ""} "#;
        assert_eq!(taken(text.as_bytes(), 1000), (text.to_owned(), false));
    }

    #[test]
    fn the_object_is_kept_whatever_stands_before_it() {
        let object = r#"{"phase":"after","event":{"a":1}}"#;
        let blanks = format!("{}{object}", " ".repeat(500));
        assert_eq!(
            taken(blanks.as_bytes(), 100),
            (object.to_owned(), false),
            "blanks"
        );
        for junk in ["x", "\"x\"", "[1,", "\u{feff}"] {
            let text = format!("{}{object}", junk.repeat(500));
            let mut intake = Intake::new(100);
            intake.take(text.as_bytes());
            let outline = intake.finish().unwrap();
            let expected = r#"{"phase":"after","event":{"a":1},"\u0000":"\ud800"}"#;
            assert_eq!(
                (outline.as_text(), outline.is_changed()),
                (expected, true),
                "{junk}"
            );
        }
        let mut intake = Intake::new(100);
        intake.take(&[b'['; 500]);
        assert!(intake.finish().is_err());
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
}
