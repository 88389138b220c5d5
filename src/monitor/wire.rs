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

use memchr::memmem;

use super::members::Members;
use crate::signature::{FieldSource, Path, Signature};

/// What an envelope may say.
const PHASES: [&str; 4] = ["before", "after", "commit", "abandon"];

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

/// Which members of an envelope the events of a spec have themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Own {
    phase: bool,
    event: bool,
}

impl Own {
    /// Those that the fields of a spec are read from.
    pub fn of(signature: &Signature) -> Own {
        let reads = |name: &str| {
            let mut fields = signature.fields.iter().chain(&signature.meta);
            fields.any(|field| match &field.source {
                FieldSource::Event(Path::Pointer(tokens)) => {
                    tokens.first().is_none_or(|first| first == name)
                }
                FieldSource::Event(Path::JsonPath(text)) => text.contains(name),
                FieldSource::Each(_) | FieldSource::Origin(_) => false,
            })
        };
        Own {
            phase: reads("phase"),
            event: reads("event"),
        }
    }
}

impl<'l> Line<'l> {
    /// Reads what a line asks. A line that is no envelope is an event.
    ///
    /// # Errors
    /// An envelope that says something else, for a person. What may be meant for one, of events that have no such members of
    /// their own, is none to be taken for an event that has happened.
    pub fn read(line: &'l [u8], own: Own) -> Result<Line<'l>, String> {
        let plain = Line {
            request: Request::Happened,
            event: line,
        };
        // Few events hold the words, and only the outermost members count.
        let wrapped = |word: &[u8]| memmem::find(line, word).is_some();
        if !wrapped(b"\"phase\"") && (own.event || !wrapped(b"\"event\"")) {
            return Ok(plain);
        }
        let Ok(members) = Members::parse(line) else {
            return Ok(plain);
        };
        let event = members.raw("event");
        let Some(phase) = members.raw("phase") else {
            let alone =
                event.is_some_and(|event| event.starts_with('{')) && members.iter().count() == 1;
            return match alone && !own.event {
                true => Err(
                    "an `event` stands alone: say its `phase`, or leave the envelope out"
                        .to_owned(),
                ),
                false => Ok(plain),
            };
        };
        let phase = word(phase).unwrap_or(phase);
        let event = event.map(str::as_bytes);
        let object = event.filter(|event| event.first() == Some(&b'{'));
        let request = match (phase, object) {
            ("before", Some(_)) => Request::Propose,
            ("after", Some(_)) => Request::Happened,
            ("commit" | "abandon", _) => {
                let number = members
                    .raw("proposal")
                    .and_then(|number| number.parse().ok());
                let number = number.ok_or_else(|| {
                    format!("`\"phase\":\"{phase}\"` needs the number of a `proposal`")
                })?;
                if phase == "commit" {
                    Request::Commit(number)
                } else {
                    Request::Abandon(number)
                }
            }
            _ if own.phase => return Ok(plain),
            ("before" | "after", None) => {
                return Err(format!(
                    "`\"phase\":\"{phase}\"` needs an `event` that is an object"
                ));
            }
            _ if event.is_some()
                || PHASES.iter().any(|known| known.eq_ignore_ascii_case(phase)) =>
            {
                return Err(format!(
                    "there is no phase `{phase}`: it is one of `{}`",
                    PHASES.join("`, `")
                ));
            }
            _ => return Ok(plain),
        };
        let event = object;
        if request.needs_event() && event.is_none() {
            return Err(format!("`\"phase\":\"{phase}\"` needs an `event`"));
        }
        for (place, (key, _)) in members.iter().enumerate() {
            if !["phase", "event", "proposal"].contains(&key) {
                return Err(format!("`{key}` does not belong beside `phase`"));
            }
            if members
                .iter()
                .take(place)
                .any(|(earlier, _)| earlier == key)
            {
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
fn word(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn envelopes_and_events() {
        let own = Own::default();
        let read = |text: &'static str| Line::read(text.as_bytes(), own).map(|line| line.request);
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
        for text in [
            r#"{"phase":"Before","event":{"tool":"rm"}}"#,
            r#"{"phase":"Before","tool":"rm"}"#,
            r#"{"phase":"pre","event":{"tool":"rm"}}"#,
            r#"{"phase":null,"event":{"tool":"rm"}}"#,
            r#"{"phase":"before","event":"{\"tool\":\"rm\"}"}"#,
            r#"{"phase":"before","event":[{"tool":"rm"}]}"#,
            r#"{"phase":"before","evt":{"tool":"rm"}}"#,
            r#"{"event":{"tool":"rm"}}"#,
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        // Events may have such members of their own.
        let own = Own {
            phase: true,
            event: true,
        };
        let read = |text: &'static str| Line::read(text.as_bytes(), own).map(|line| line.request);
        for text in [
            r#"{"phase":"before","tool":"rm"}"#,
            r#"{"phase":"before","event":"login"}"#,
            r#"{"phase":"Before","event":{}}"#,
            r#"{"event":{"tool":"rm"}}"#,
        ] {
            assert_eq!(read(text), Ok(Request::Happened), "{text}");
        }
        assert_eq!(
            read(r#"{"phase":"before","event":{}}"#),
            Ok(Request::Propose)
        );
    }
}
