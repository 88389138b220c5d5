//! Input lines and their requests.
//!
//! | line | asks |
//! |---|---|
//! | an event | it has happened |
//! | `{"phase":"after","event":{…}}` | the same |
//! | `{"phase":"act","event":{…}}` | may it happen? If it may, it has happened |
//! | `{"phase":"before","event":{…}}` | may it happen? If it may, it counts until it is committed or abandoned |
//! | `{"phase":"commit","proposal":n,"event":{…}}` | what was proposed has happened |
//! | `{"phase":"abandon","proposal":n}` | what was proposed will not happen |
//! | `{"phase":"fork","event":{"trace":"t1","as":"t2"}}` | what happened in `t1` has happened in the new trace `t2` too |
//! | `{"trace":"t1","end":true}` | the trace has ended; with `before` around it: may it end? |

use memchr::memmem;

use super::damaged::LOST;
use super::live::first_name;
use super::raw_object::RawObject;
use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::input_schema::FieldSource;
use crate::value::{Number, Value};

/// The number of no proposal. A commit with another value that is no number of one reports what has happened all the same.
pub(super) const NO_PROPOSAL: u64 = 0;

/// The phases that an envelope may name.
const PHASES: [&str; 6] = ["act", "before", "after", "commit", "abandon", "fork"];

/// A line: its request, and the event that is not parsed yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope<'l> {
    /// The request.
    pub request: Request,
    /// The event.
    pub event: &'l [u8],
}

/// The request of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// The event has happened.
    Observe,
    /// May it happen? If it may, and no person must be asked, it has happened.
    Act,
    /// May it happen? If it may, it counts until it is committed or abandoned.
    Propose,
    /// The proposed action has happened.
    Commit(u64),
    /// The proposed action will not happen.
    Abandon(u64),
    /// A new trace has the history of another one.
    Fork,
}

/// Members of an envelope whose names events of a spec use themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EnvelopeFields {
    phase: bool,
    event: bool,
}

impl EnvelopeFields {
    /// Returns the envelope members that fields of a spec are read from. Of a field that may be the whole event, the spec reads the
    /// members that it names.
    pub(crate) fn of(spec: &Spec) -> EnvelopeFields {
        let exprs = || (0..spec.exprs.len()).map(|id| spec.exprs.get(ExprId::new(id)));
        let named = |name: &str| {
            exprs().any(|expr| match expr {
                Expr::Member(_, member) => member == name,
                Expr::Const(Value::String(text)) => text == name,
                _ => false,
            })
        };
        let reads = |name: &str| {
            let mut fields = spec.schema.fields.iter().chain(&spec.schema.meta);
            fields.any(|field| match &field.source {
                FieldSource::Event(path) => match first_name(path) {
                    Some(first) => first == name,
                    None => path.to_string().contains(name) || named(name),
                },
                FieldSource::Each(_) | FieldSource::Origin(_) => false,
            })
        };
        EnvelopeFields {
            phase: reads("phase"),
            event: reads("event"),
        }
    }

    /// Returns whether there are any.
    pub(super) fn any(self) -> bool {
        self.phase || self.event
    }
}

impl<'l> Envelope<'l> {
    /// Reads the request of a line. A line that is not an envelope is an event.
    ///
    /// # Errors
    /// [`EnvelopeError::Wrong`] if the line is an envelope with an unknown request, or looks like an envelope although
    /// the events of the spec have no such members. [`EnvelopeError::Unreadable`] if the line contains the words of an
    /// envelope and is not JSON.
    pub fn read(line: &'l [u8], own: EnvelopeFields) -> Result<Envelope<'l>, EnvelopeError> {
        let plain = Envelope {
            request: Request::Observe,
            event: line,
        };
        // Few events contain the words. Only the outermost members count.
        let wrapped = |word: &[u8]| memmem::find(line, word).is_some();
        if !wrapped(b"\"phase\"") && (own.event || !wrapped(b"\"event\"")) {
            return Ok(plain);
        }
        let members = RawObject::parse(line).map_err(|error| {
            EnvelopeError::Unreadable(format!("expected a JSON object: {error}"))
        })?;
        let event = members.raw("event");
        let Some(phase) = members.raw("phase") else {
            let alone = event.is_some_and(|event| event.starts_with('{'))
                && members.iter().filter(|(key, _)| *key != LOST).count() == 1;
            return match alone && !own.event {
                true => Err(EnvelopeError::Wrong(
                    "an `event` requires a `phase`; without a phase, send the bare event"
                        .to_owned(),
                )),
                false => Ok(plain),
            };
        };
        let phase = word(phase).unwrap_or(phase);
        let event = event.map(str::as_bytes);
        let object = event.filter(|event| event.first() == Some(&b'{'));
        let request = match (phase, object) {
            ("act", Some(_)) => Request::Act,
            ("before", Some(_)) => Request::Propose,
            ("after", Some(_)) => Request::Observe,
            ("fork", Some(_)) => Request::Fork,
            ("commit" | "abandon", _) => {
                let written = members.raw("proposal");
                match (phase, written.and_then(number)) {
                    ("commit", found) if written.is_some() => {
                        Request::Commit(found.unwrap_or(NO_PROPOSAL))
                    }
                    ("abandon", Some(found)) => Request::Abandon(found),
                    _ => {
                        return Err(EnvelopeError::Wrong(format!(
                            "`\"phase\":\"{phase}\"` requires the number of a `proposal`"
                        )));
                    }
                }
            }
            _ if own.phase => return Ok(plain),
            ("act" | "before" | "after" | "fork", None) => {
                return Err(EnvelopeError::Wrong(format!(
                    "`\"phase\":\"{phase}\"` requires an `event` that is an object"
                )));
            }
            _ if event.is_some()
                || PHASES.iter().any(|known| known.eq_ignore_ascii_case(phase)) =>
            {
                return Err(EnvelopeError::Wrong(format!(
                    "expected one of the phases `{}`, found `{phase}`",
                    PHASES.join("`, `")
                )));
            }
            _ => return Ok(plain),
        };
        let event = object;
        if request.needs_event() && event.is_none() {
            let wrong = format!("`\"phase\":\"{phase}\"` requires an `event`");
            return Err(EnvelopeError::Wrong(wrong));
        }
        for (place, (key, _)) in members.iter().enumerate() {
            // What is missing of an envelope is no part of the event.
            if !["phase", "event", "proposal", LOST].contains(&key) {
                let wrong = format!("`{key}` is not allowed beside `phase`");
                return Err(EnvelopeError::Wrong(wrong));
            }
            if members
                .iter()
                .take(place)
                .any(|(earlier, _)| earlier == key)
            {
                let wrong = format!("duplicate key `{key}`");
                return Err(EnvelopeError::Wrong(wrong));
            }
        }
        Ok(Envelope {
            request,
            event: event.unwrap_or_default(),
        })
    }
}

impl Request {
    fn needs_event(self) -> bool {
        !matches!(self, Request::Abandon(_))
    }

    /// Returns whether the request reports an event that happened, instead of asking for a decision.
    pub fn states(self) -> bool {
        matches!(self, Request::Observe | Request::Commit(_))
    }

    /// Returns the text before and after the event in the line of this request.
    pub fn around(self) -> (String, &'static str) {
        let head = match self {
            Request::Observe => "{\"phase\":\"after\",\"event\":",
            Request::Act => "{\"phase\":\"act\",\"event\":",
            Request::Propose => "{\"phase\":\"before\",\"event\":",
            Request::Fork => "{\"phase\":\"fork\",\"event\":",
            Request::Commit(number) => {
                let head = format!("{{\"phase\":\"commit\",\"proposal\":{number},\"event\":");
                return (head, "}");
            }
            Request::Abandon(number) => {
                let head = format!("{{\"phase\":\"abandon\",\"proposal\":{number}");
                return (head, "}");
            }
        };
        (head.to_owned(), "}")
    }

    /// Returns the line that makes this request. `event` is one line; it is empty for `Abandon`.
    pub fn to_line(self, event: &[u8]) -> Vec<u8> {
        let (head, tail) = self.around();
        [head.as_bytes(), event, tail.as_bytes()].concat()
    }
}

/// The reason why a line contains no request.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EnvelopeError {
    /// It is an envelope with an unknown request.
    #[error("{0}")]
    Wrong(String),
    /// It is not JSON.
    #[error("{0}")]
    Unreadable(String),
}

/// Returns a string without escapes.
/// Returns the number of a proposal, however JSON writes it: `7`, `7.0`.
fn number(value: &str) -> Option<u64> {
    u64::try_from(Number::parse(value)?.to_int()?).ok()
}

fn word(value: &str) -> Option<&str> {
    value.strip_prefix('"')?.strip_suffix('"')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_back_from_its_line() {
        use Request::{Abandon, Act, Commit, Observe, Propose};
        for request in [Observe, Act, Propose, Commit(7), Abandon(8)] {
            let event: &[u8] = if request.needs_event() {
                b"{\"a\":1}"
            } else {
                b""
            };
            let line = request.to_line(event);
            let read = Envelope::read(&line, EnvelopeFields::default());
            assert_eq!(read, Ok(Envelope { request, event }));
        }
    }

    #[test]
    fn envelopes_and_events() {
        let own = EnvelopeFields::default();
        let read =
            |text: &'static str| Envelope::read(text.as_bytes(), own).map(|line| line.request);
        assert_eq!(read(r#"{"trace":"a","kind":"x"}"#), Ok(Request::Observe));
        assert_eq!(
            read(r#"{"phase":"before","event":{"kind":"x"}}"#),
            Ok(Request::Propose)
        );
        assert_eq!(
            read(r#"{"phase":"act","event":{"kind":"x"}}"#),
            Ok(Request::Act)
        );
        assert_eq!(
            read(r#"{"event":{},"phase":"after"}"#),
            Ok(Request::Observe)
        );
        assert_eq!(
            read(r#"{"phase":"commit","proposal":3,"event":{}}"#),
            Ok(Request::Commit(3))
        );
        for (proposal, number) in [("3.0", 3), ("\"3\"", NO_PROPOSAL), ("-1", NO_PROPOSAL)] {
            let line = format!(r#"{{"phase":"commit","proposal":{proposal},"event":{{}}}}"#);
            let read = Envelope::read(line.as_bytes(), own).map(|line| line.request);
            assert_eq!(read, Ok(Request::Commit(number)), "{proposal}");
        }
        assert_eq!(
            read(r#"{"phase":"abandon","proposal":3}"#),
            Ok(Request::Abandon(3))
        );
        // An event with a field of this name.
        assert_eq!(
            read(r#"{"phase":"planning","kind":"x"}"#),
            Ok(Request::Observe)
        );
        // A line that looks like an envelope is not recorded as an event.
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
        let own = EnvelopeFields {
            phase: true,
            event: true,
        };
        let read =
            |text: &'static str| Envelope::read(text.as_bytes(), own).map(|line| line.request);
        for text in [
            r#"{"phase":"before","tool":"rm"}"#,
            r#"{"phase":"before","event":"login"}"#,
            r#"{"phase":"Before","event":{}}"#,
            r#"{"event":{"tool":"rm"}}"#,
        ] {
            assert_eq!(read(text), Ok(Request::Observe), "{text}");
        }
        assert_eq!(
            read(r#"{"phase":"before","event":{}}"#),
            Ok(Request::Propose)
        );
    }
}
