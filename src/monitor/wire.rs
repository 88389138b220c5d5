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
        let Ok(members) = Members::parse(line) else {
            return Ok(plain);
        };
        let Some(phase) = members.raw("phase").and_then(word) else {
            return Ok(plain);
        };
        let event = members.raw("event").map(str::as_bytes);
        let event = event.filter(|event| event.first() == Some(&b'{'));
        let request = match (phase, event) {
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
            _ => return Ok(plain),
        };
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
