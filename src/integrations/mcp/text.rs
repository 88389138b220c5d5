//! All the text of a JSON value: what a model may come to read.
//!
//! Strings are taken whatever the kind of block that they stand in. Of members that the protocol does not name, and below
//! `structuredContent`, `data` and `_meta`, keys and numbers are text too: clients show such values as JSON. Left out are the
//! words of the protocol itself (`"type":"text"`) and encoded media, in which there is no text to be matched.
//!
//! A phrase may be split over several strings. The text of several strings is therefore given twice: with a line end between
//! them, and with nothing between them.

use std::borrow::Cow;
use std::ops::Range;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// RawObject that the protocol names: their keys are not text.
const NAMED: [&str; 32] = [
    "_meta",
    "annotations",
    "audience",
    "blob",
    "code",
    "content",
    "contents",
    "data",
    "description",
    "error",
    "isError",
    "lastModified",
    "level",
    "logger",
    "message",
    "messages",
    "mimeType",
    "name",
    "priority",
    "progress",
    "progressToken",
    "resource",
    "result",
    "resultType",
    "role",
    "size",
    "structuredContent",
    "text",
    "title",
    "total",
    "type",
    "uri",
];

/// Named members with values of any shape.
const DATA: [&str; 3] = ["_meta", "data", "structuredContent"];

/// Values that are words of the protocol.
const WORDS: [(&str, &[&str]); 3] = [
    (
        "type",
        &[
            "audio",
            "image",
            "resource",
            "resource_link",
            "text",
            "tool_result",
            "tool_use",
        ],
    ),
    ("resultType", &["complete", "input_required"]),
    ("role", &["assistant", "user"]),
];

/// An array or object that is being read.
struct Level<'j> {
    is_object: bool,
    /// Whether keys and numbers in it are text.
    data: bool,
    /// In an object, whether the next string is a key.
    at_key: bool,
    /// The key of the present value; null in arrays.
    key: Option<Cow<'j, str>>,
    /// Whether it is an `image` or `audio` block.
    media: bool,
    /// Where its `data` stands in the two texts, if that is encoded.
    encoded: Option<(Range<usize>, Range<usize>)>,
}

#[derive(Default)]
struct Text {
    n_parts: usize,
    lines: String,
    joined: String,
}

impl Text {
    /// Adds a part, and returns where it stands.
    fn push(&mut self, part: &str) -> (Range<usize>, Range<usize>) {
        // Of a single part, which may be large, there is one copy.
        if self.n_parts == 1 && self.joined.is_empty() {
            self.joined = self.lines.clone();
        }
        let starts = (self.lines.len(), self.joined.len());
        if self.n_parts > 0 {
            self.lines.push('\n');
            self.joined.push_str(part);
        }
        self.n_parts += 1;
        self.lines.push_str(part);
        (starts.0..self.lines.len(), starts.1..starts.1 + part.len())
    }
}

/// All the text of a JSON value that is valid; empty if it has none. Linear, and without recursion.
pub(super) fn of(json: &str) -> String {
    let mut text = Text::default();
    let mut levels: Vec<Level<'_>> = Vec::new();
    let bytes = json.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        at += 1;
        match byte {
            b'{' | b'[' => {
                let data = levels.last().is_some_and(Level::is_data_below);
                levels.push(Level {
                    is_object: byte == b'{',
                    data,
                    at_key: byte == b'{',
                    key: None,
                    media: false,
                    encoded: None,
                });
            }
            b'}' | b']' => {
                if let Some(level) = levels.pop()
                    && let (true, Some((line, joined))) = (level.media, level.encoded)
                {
                    text.n_parts -= 1;
                    text.lines.replace_range(line, "");
                    if text.joined.get(joined.clone()).is_some() {
                        text.joined.replace_range(joined, "");
                    }
                }
            }
            b',' => {
                if let Some(level) = levels.last_mut() {
                    level.at_key = level.is_object;
                }
            }
            b'"' => {
                at = end_of_string(bytes, at);
                let string = decoded(&json[start..at]);
                match levels.last_mut() {
                    Some(level) => level.take(string, &mut text),
                    None => {
                        text.push(&string);
                    }
                }
            }
            b'-' | b'0'..=b'9' => {
                let rest = bytes.iter().skip(at);
                at += rest
                    .take_while(|byte| {
                        matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
                    })
                    .count();
                if levels.last().is_some_and(Level::is_data_below) {
                    text.push(&json[start..at]);
                }
            }
            _ => {}
        }
    }
    if text.n_parts > 1 {
        text.lines.push('\n');
        text.lines.push_str(&text.joined);
    }
    text.lines
}

impl<'j> Level<'j> {
    /// Whether keys and numbers of the present value are text.
    fn is_data_below(&self) -> bool {
        let named = |key: &Cow<'_, str>| NAMED.contains(&key.as_ref());
        let data = |key: &Cow<'_, str>| DATA.contains(&key.as_ref());
        self.data
            || self
                .key
                .as_ref()
                .is_some_and(|key| !named(key) || data(key))
    }

    /// Takes a string, be it a key or a value.
    fn take(&mut self, string: Cow<'j, str>, text: &mut Text) {
        if self.at_key {
            self.at_key = false;
            if self.data || !NAMED.contains(&string.as_ref()) {
                text.push(&string);
            }
            self.key = Some(string);
            return;
        }
        let key = match &self.key {
            Some(key) if !self.data => key.as_ref(),
            _ => "",
        };
        let is_word =
            |(name, words): &(&str, &[&str])| *name == key && words.contains(&string.as_ref());
        if WORDS.iter().any(is_word) {
            self.media |= matches!(string.as_ref(), "image" | "audio");
            return;
        }
        if !matches!(key, "blob" | "data") {
            text.push(&string);
            return;
        }
        let bytes = STANDARD.decode(string.as_bytes());
        match bytes.map(String::from_utf8) {
            Ok(Ok(decoded)) if key == "blob" => {
                text.push(&decoded);
            }
            // A file that is not text: there is nothing that a pattern could match.
            Ok(Err(_)) if key == "blob" => {}
            Ok(Err(_)) => self.encoded = Some(text.push(&string)),
            _ => {
                text.push(&string);
            }
        }
    }
}

/// Returns the end of a string whose content begins here: after its closing quote.
fn end_of_string(bytes: &[u8], mut at: usize) -> usize {
    while let Some(found) = bytes
        .get(at..)
        .and_then(|rest| memchr::memchr2(b'"', b'\\', rest))
    {
        at += found;
        if bytes.get(at) == Some(&b'"') {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// A string without its quotes and escapes.
fn decoded(string: &str) -> Cow<'_, str> {
    let inner = string
        .get(1..string.len().saturating_sub(1))
        .unwrap_or_default();
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    match serde_json::from_str::<String>(string) {
        Ok(decoded) => Cow::Owned(decoded),
        Err(_) => Cow::Borrowed(inner),
    }
}

#[cfg(test)]
mod tests {
    use super::of;

    #[test]
    fn every_kind_of_content_has_its_text() {
        for (json, expected) in [
            (
                r#"{"content":[{"type":"text","text":"a\u0041\nb"}],"isError":false}"#,
                "aA\nb",
            ),
            (r#"{"content":[]}"#, ""),
            (
                r#"{"content":[{"type":"text","text":"IGN"},{"type":"text","text":"ORE"}]}"#,
                "IGN\nORE\nIGNORE",
            ),
            (
                r#"{"content":[],"structuredContent":{"k":{"n":4111111111111111},"text":true}}"#,
                "k\nn\n4111111111111111\ntext\nkn4111111111111111text",
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"uri":"u","text":"t"}}]}"#,
                "u\nt\nut",
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"blob":"aGVsbG8="}}]}"#,
                "hello",
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"blob":"//79"}}]}"#,
                "",
            ),
            (
                r#"{"content":[{"type":"resource","resource":{"blob":"no base64"}}]}"#,
                "no base64",
            ),
            (
                r#"{"content":[{"type":"image","data":"//79","mimeType":"i"}]}"#,
                "\ni",
            ),
            (r#"{"content":[{"data":"//79","type":"image"}]}"#, ""),
            (
                r#"{"content":[{"type":"image","data":"SECRET=42"}]}"#,
                "SECRET=42",
            ),
            (
                r#"{"code":1,"message":"m","data":"//79"}"#,
                "m\n//79\nm//79",
            ),
            (r#"{"type":"odd"}"#, "odd"),
            (r#"{"x":[{"type":"text"}]}"#, "x\ntype\ntext\nxtypetext"),
        ] {
            assert_eq!(of(json), expected, "{json}");
        }
    }

    #[test]
    fn deep_and_long_values_are_read_in_linear_time() {
        let deep = format!("{}\"a\"{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
        assert_eq!(of(&deep), "a");
    }
}
