//! `json(s)`: parses a text in the data as JSON, or one member of it.

use jiter::{Jiter, Peek};
use smol_str::SmolStr;

use super::ops::Fault;
use crate::input::keys::OpenKeys;
use crate::input::quick;
use crate::input::scan::Key;
use crate::value::escapes::unescape;
use crate::value::{Number, Object, Value};

/// The greatest nesting depth that is parsed.
const DEPTH: usize = 128;

enum Failure {
    NoJson,
    DuplicateKey(SmolStr),
}

impl From<jiter::JiterError> for Failure {
    fn from(_: jiter::JiterError) -> Failure {
        Failure::NoJson
    }
}

/// Returns the value of a JSON text; null if it is not JSON for any reader. Where readers differ the value is unknown: a tool may read an
/// action in a text that we refuse.
pub(super) fn parse(text: &str) -> Result<Value, Fault> {
    let mut jiter = Jiter::new(text.as_bytes());
    let value = jiter
        .peek()
        .map_err(Failure::from)
        .and_then(|peek| read(&mut jiter, peek, 0));
    match value {
        Ok(value) if jiter.finish().is_ok() => Ok(value),
        Ok(_) | Err(Failure::NoJson) if others_may_read(text) => Err(Fault::OtherJson),
        Ok(_) | Err(Failure::NoJson) => Ok(Value::Null),
        Err(Failure::DuplicateKey(key)) => Err(Fault::DuplicateKey(key.to_string())),
    }
}

/// Whether some reader may take a text for JSON that is none for us: it begins as an object, a list, a string or a comment, or is a number
/// in any notation. Readers differ on numbers beyond a float, lone surrogates, depth, comments, quotes, commas and what follows the value.
fn others_may_read(text: &str) -> bool {
    let is_space = |c: char| c.is_whitespace() || c == '\u{feff}';
    let text = text.trim_matches(is_space);
    let number = text.trim_start_matches(['+', '-']);
    let is_hex = number.starts_with("0x") || number.starts_with("0X");
    let begins = ["{", "[", "\"", "'", "//", "/*"];
    is_hex || number.parse::<f64>().is_ok() || begins.iter().any(|one| text.starts_with(one))
}

fn read(jiter: &mut Jiter<'_>, peek: Peek, depth: usize) -> Result<Value, Failure> {
    if depth > DEPTH {
        return Err(Failure::NoJson);
    }
    Ok(match peek {
        Peek::Null => {
            jiter.known_null()?;
            Value::Null
        }
        Peek::True | Peek::False => Value::Bool(jiter.known_bool(peek)?),
        Peek::String => Value::string(jiter.known_str()?),
        Peek::Array => {
            let mut items = Vec::new();
            let mut next = jiter.known_array()?;
            while let Some(peek) = next {
                items.push(read(jiter, peek, depth + 1)?);
                next = jiter.array_step()?;
            }
            Value::list(items)
        }
        Peek::Object => {
            let mut members = Vec::new();
            let mut next = jiter.known_object()?.map(SmolStr::new);
            while let Some(key) = next {
                let peek = jiter.peek()?;
                members.push((key, read(jiter, peek, depth + 1)?));
                next = jiter.next_key()?.map(SmolStr::new);
            }
            Value::Object(Object::new(members).map_err(Failure::DuplicateKey)?)
        }
        number => {
            let digits = std::str::from_utf8(jiter.known_number_bytes(number)?)
                .map_err(|_| Failure::NoJson)?;
            Value::Number(Number::parse(digits).ok_or(Failure::NoJson)?)
        }
    })
}

/// Buffers for searching members, kept from step to step.
#[derive(Debug, Default)]
pub(super) struct Room {
    keys: OpenKeys,
    decoded: String,
}

/// Returns a member of the object that a text contains, or null if it has no such member, without building a tree. Returns
/// `None` unless the text is a plain object; the caller then uses [`parse`].
pub(super) fn member(text: &str, name: &str, room: &mut Room) -> Option<Value> {
    room.keys.clear();
    let mut pass = Pass {
        text,
        bytes: text.as_bytes(),
        room,
        wanted: Some(name),
        found: None,
    };
    let start = quick::space(pass.bytes, 0);
    if pass.bytes.get(start) != Some(&b'{') {
        return None;
    }
    let end = pass.object(start, 0)?;
    let (found, bytes) = (pass.found, pass.bytes);
    if quick::space(bytes, end) != bytes.len() || !room.keys.found.is_empty() {
        return None;
    }
    let Some((from, to)) = found else {
        return Some(Value::Null);
    };
    let written = text.get(from..to)?;
    match written
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        Some(plain) if !plain.contains('\\') => Some(Value::string(plain)),
        _ => parse(written).ok(),
    }
}

/// A pass over plain JSON. Unusual syntax ends it without a result.
struct Pass<'t, 'r> {
    text: &'t str,
    bytes: &'t [u8],
    room: &'r mut Room,
    /// The key that is searched in the outermost object.
    wanted: Option<&'t str>,
    /// The range of its value.
    found: Option<(usize, usize)>,
}

impl Pass<'_, '_> {
    /// Returns the end of the value at an offset.
    fn value(&mut self, at: usize, depth: usize) -> Option<usize> {
        let word = |word: &str| {
            let end = at + word.len();
            (self.bytes.get(at..end)? == word.as_bytes()).then_some(end)
        };
        match self.bytes.get(at)? {
            b'"' => Some(quick::string(self.bytes, at)?.end),
            b'{' => self.object(at, depth),
            b'[' => self.list(at, depth),
            b't' => word("true"),
            b'f' => word("false"),
            b'n' => word("null"),
            _ => {
                let end = quick::number(self.bytes, at)?;
                let digits = self.bytes.get(at..end)?;
                // Numbers of this form are always valid; others are left to the parser.
                let plain = digits.len() < 100 && !digits.iter().any(|b| matches!(b, b'e' | b'E'));
                plain.then_some(end)
            }
        }
    }

    fn list(&mut self, at: usize, depth: usize) -> Option<usize> {
        let mut at = quick::space(self.bytes, at + 1);
        if depth >= DEPTH {
            return None;
        }
        if self.bytes.get(at)? == &b']' {
            return Some(at + 1);
        }
        loop {
            at = self.value(at, depth + 1)?;
            at = quick::space(self.bytes, at);
            match self.bytes.get(at)? {
                b']' => return Some(at + 1),
                b',' => at = quick::space(self.bytes, at + 1),
                _ => return None,
            }
        }
    }

    fn object(&mut self, at: usize, depth: usize) -> Option<usize> {
        let mut at = quick::space(self.bytes, at + 1);
        if depth >= DEPTH {
            return None;
        }
        if self.bytes.get(at)? == &b'}' {
            return Some(at + 1);
        }
        self.room.keys.open();
        loop {
            if self.bytes.get(at)? != &b'"' {
                return None;
            }
            let quoted = quick::string(self.bytes, at)?;
            let written = self.text.get(at + 1..quoted.end - 1)?;
            self.room.decoded.clear();
            let text = if quoted.plain {
                written
            } else {
                unescape(written, usize::MAX, &mut self.room.decoded)?;
                &self.room.decoded
            };
            let is_wanted = depth == 0 && self.wanted == Some(text);
            let key = Key {
                text,
                at: at + 1,
                escaped: !quoted.plain,
            };
            self.room.keys.key(self.bytes, key);
            at = quick::space(self.bytes, quoted.end);
            if self.bytes.get(at)? != &b':' {
                return None;
            }
            at = quick::space(self.bytes, at + 1);
            let end = self.value(at, depth + 1)?;
            if is_wanted {
                self.found = Some((at, end));
            }
            at = quick::space(self.bytes, end);
            match self.bytes.get(at)? {
                b'}' => break,
                b',' => at = quick::space(self.bytes, at + 1),
                _ => return None,
            }
        }
        self.room.keys.close(self.bytes);
        Some(at + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::ops;
    use proptest::prelude::*;

    #[test]
    fn what_other_readers_may_take_for_json_is_unknown() {
        let deep = format!(
            "{{\"cmd\":\"rm\",\"x\":{}{}}}",
            "[".repeat(200),
            "]".repeat(200)
        );
        for text in [
            r#"{"cmd":"rm","x":1e999}"#,
            r#"{"cmd":"rm","x":-1e400}"#,
            r#"{"cmd":"rm","x":"\ud83d"}"#,
            r#"{"cmd":"rm","\ud83d":1}"#,
            r#"{"cmd":"rm","x":NaN}"#,
            r#"{"cmd":"rm","x":Infinity}"#,
            "\u{feff}{\"cmd\":\"rm\"}",
            "\u{a0}{\"cmd\":\"rm\"}",
            "{\"cmd\":\"rm\"}\0",
            "{\"cmd\":\"rm\",\"x\":\"a\nb\"}",
            r#"{"cmd":"rm",}"#,
            "{cmd:'rm'}",
            r#"/* x */ {"cmd":"rm"}"#,
            "// x\n{\"cmd\":\"rm\"}",
            r#"{"cmd":"rm"} {"cmd":"ls"}"#,
            r#"{"cmd":"rm""#,
            &deep,
            "[1,]",
            r#""\udc00""#,
            "'rm'",
            "1e999",
            " -1e999 ",
            "NaN",
            "-Infinity",
            "+5",
            ".5",
            "007",
            "0x1F",
        ] {
            assert_eq!(parse(text), Err(Fault::OtherJson), "{text}");
            assert_eq!(member(text, "cmd", &mut Room::default()), None, "{text}");
        }
        for text in [
            "",
            " ",
            "no JSON",
            "rm -r x",
            "5 apples",
            "2026-01-01",
            "(1)",
            "nul",
            "/etc",
            "a {\"cmd\":\"rm\"}",
        ] {
            assert_eq!(parse(text), Ok(Value::Null), "{text}");
        }
    }

    crate::random::tests! {
        2000 cases;

        /// A member that is found alone is equal to that of the tree.
        #[test]
        fn a_member_is_that_of_the_tree(parts in proptest::collection::vec(prop::sample::select(vec![
            "{", "}", "[", "]", ",", ":", "\"a\"", "\"b\"", "\"\\u0061\"", "\"a long key of this\"", "1", "-2.5", "1e999",
            "true", "null", "NaN", " ", "{\"a\":1,", "\"a\":", "\"x\\ud800\"", "\"\\n\"", "01",
        ]), 0..16), wrap in any::<bool>()) {
            let text = parts.concat();
            let text = if wrap { format!("{{\"b\":{text}}}") } else { text };
            if let Some(found) = member(&text, "a", &mut Room::default()) {
                let whole = parse(&text).map_err(|fault| TestCaseError::fail(format!("{text}: {fault}")))?;
                let of = ops::member(&whole, "a").map_err(|fault| TestCaseError::fail(fault.to_string()))?;
                prop_assert_eq!(&found, of, "{}", text);
            }
        }

        /// Plain objects are taken.
        #[test]
        fn plain_objects_are_read(names in proptest::collection::btree_set("[abc\\\\é]{0,3}", 0..6), value in "[a-z\\n\"]{0,8}") {
            let members = names.iter().map(|name| (name.clone(), serde_json::json!([value, {"a": 1.5, "b": null}])));
            let object = serde_json::Value::Object(members.collect());
            for name in ["a", "b", "ab"] {
                let found = member(&object.to_string(), name, &mut Room::default());
                let whole = parse(&object.to_string()).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
                let of = ops::member(&whole, name).map_err(|fault| TestCaseError::fail(fault.to_string()))?;
                prop_assert_eq!(found.as_ref(), Some(of));
            }
        }
    }
}
