//! Lines in: what one of them asks for.
//!
//! | line | asks |
//! |---|---|
//! | an event | it has happened |
//! | `{"phase":"after","event":{…}}` | the same |
//! | `{"phase":"before","event":{…}}` | may it happen? |
//! | `{"phase":"commit","proposal":n,"event":{…}}` | what was proposed has happened |
//! | `{"phase":"abandon","proposal":n}` | what was proposed will not happen |
//! | `{"trace":"t1","end":true}` | the trace has ended; with `before` around it: may it end? |

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

/// A line, with what it is about still to be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'l> {
    /// What is asked.
    pub request: Request,
    /// The event.
    pub event: &'l [u8],
}

/// What a line asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The event has happened.
    Happened,
    /// May it happen?
    Propose,
    /// What was proposed has happened.
    Commit(u64),
    /// What was proposed will not happen.
    Abandon(u64),
}

impl<'l> Line<'l> {
    /// Reads what a line asks. A line that is no envelope is an event.
    ///
    /// # Errors
    /// An envelope that says something else, for a person.
    pub fn read(line: &'l [u8]) -> Result<Line<'l>, String> {
        let plain = Line {
            request: Request::Happened,
            event: line,
        };
        // Few events hold the word, and only the outermost members count.
        if memmem::find(line, b"\"phase\"").is_none() {
            return Ok(plain);
        }
        let Ok(Members(members)) = serde_json::from_slice::<Members<'l>>(line) else {
            return Ok(plain);
        };
        let get = |name: &str| {
            members
                .iter()
                .find(|(key, _)| key == name)
                .map(|(_, value)| *value)
        };
        let Some(phase) = get("phase").and_then(word) else {
            return Ok(plain);
        };
        let event = get("event").map(|event| event.get().as_bytes());
        let event = event.filter(|event| event.first() == Some(&b'{'));
        let request = match (phase, event) {
            ("before", Some(_)) => Request::Propose,
            ("after", Some(_)) => Request::Happened,
            ("commit" | "abandon", _) => {
                let number = get("proposal").and_then(|number| number.get().parse().ok());
                let number = number.ok_or_else(|| {
                    format!("`\"phase\":\"{phase}\"` needs the number of a `proposal`")
                })?;
                if phase == "commit" {
                    Request::Commit(number)
                } else {
                    Request::Abandon(number)
                }
            }
            _ => return Ok(plain),
        };
        if request.needs_event() && event.is_none() {
            return Err(format!("`\"phase\":\"{phase}\"` needs an `event`"));
        }
        for (place, (key, _)) in members.iter().enumerate() {
            if !["phase", "event", "proposal"].contains(&&**key) {
                return Err(format!("`{key}` does not belong beside `phase`"));
            }
            if members[..place].iter().any(|(earlier, _)| earlier == key) {
                return Err(format!("the key `{key}` stands twice"));
            }
        }
        Ok(Line {
            request,
            event: event.unwrap_or_default(),
        })
    }
}

impl Request {
    fn needs_event(self) -> bool {
        !matches!(self, Request::Abandon(_))
    }
}

/// A string without escapes.
fn word(value: &RawValue) -> Option<&str> {
    value.get().strip_prefix('"')?.strip_suffix('"')
}

/// The members of an object in order, also those that stand twice.
struct Members<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    members.push((key.0, map.next_value()?));
                }
                Ok(Members(members))
            }
        }

        from.deserialize_map(Collect)
    }
}

/// A key, borrowed where it has no escape.
#[derive(Deserialize)]
struct Key<'l>(#[serde(borrow)] Cow<'l, str>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_and_events() {
        let read = |text: &'static str| Line::read(text.as_bytes()).map(|line| line.request);
        assert_eq!(read(r#"{"trace":"a","kind":"x"}"#), Ok(Request::Happened));
        assert_eq!(
            read(r#"{"phase":"before","event":{"kind":"x"}}"#),
            Ok(Request::Propose)
        );
        assert_eq!(
            read(r#"{"event":{},"phase":"after"}"#),
            Ok(Request::Happened)
        );
        assert_eq!(
            read(r#"{"phase":"commit","proposal":3,"event":{}}"#),
            Ok(Request::Commit(3))
        );
        assert_eq!(
            read(r#"{"phase":"abandon","proposal":3}"#),
            Ok(Request::Abandon(3))
        );
        // An event with a field of this name.
        assert_eq!(
            read(r#"{"phase":"planning","kind":"x"}"#),
            Ok(Request::Happened)
        );
        // Nothing that looks like an envelope is taken for an event that happened.
        assert!(read(r#"{"phase":"before","event":{},"more":1}"#).is_err());
        assert!(read(r#"{"phase":"before","event":{},"phase":"after"}"#).is_err());
        assert!(read(r#"{"phase":"commit","event":{}}"#).is_err());
        assert!(read(r#"{"phase":"commit","proposal":1}"#).is_err());
    }
}
