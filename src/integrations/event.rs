//! Writes canonical events as text around parts that are copied unchanged.
//!
//! Arguments and results are not parsed and serialised again: the monitor sees every byte that the agent's tool will
//! see, including duplicate keys, which it rejects.

use std::collections::HashSet;

use crate::monitor::lenient::UNREAD;

/// A canonical event under construction: one line of JSON, written only once, since its texts may be large.
#[derive(Clone, Debug)]
pub struct Event {
    line: String,
    keys: Vec<&'static str>,
}

impl Event {
    /// Returns an event of this kind for a trace. Absent members are set to null, unknown ones are omitted. `size` is the
    /// approximate number of bytes of its members.
    pub fn new(trace: &str, kind: &str, role: &str, size: usize) -> Event {
        let mut event = Event::begin(trace, kind, size);
        event.text("role", role);
        event
    }

    /// Returns an event as [`Event::new`], of an unknown speaker.
    pub fn of_unknown(trace: &str, kind: &str, size: usize) -> Event {
        let mut event = Event::begin(trace, kind, size);
        event.raw("role", UNREAD);
        event
    }

    fn begin(trace: &str, kind: &str, size: usize) -> Event {
        let mut event = Event {
            line: String::with_capacity(size),
            keys: Vec::new(),
        };
        event.text("trace", trace).text("kind", kind);
        event
    }

    /// Sets a member to a string.
    pub fn text(&mut self, key: &'static str, value: &str) -> &mut Event {
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(key, &json)
    }

    /// Sets a member to JSON text, unchanged except for line ends.
    pub fn raw(&mut self, key: &'static str, value: &str) -> &mut Event {
        self.with(key, |line| push_line(line, value))
    }

    /// Sets a member to the JSON that `write` appends to the line; it must not contain line ends.
    pub fn with(&mut self, key: &'static str, write: impl FnOnce(&mut String)) -> &mut Event {
        self.keys.push(key);
        self.key(key);
        write(&mut self.line);
        self
    }

    /// Sets members to null.
    pub fn null(&mut self, keys: &[&'static str]) -> &mut Event {
        for key in keys {
            self.raw(key, "null");
        }
        self
    }

    /// Adds the members that the event does not have yet; for duplicate keys the first.
    pub fn beside<'k>(&mut self, members: impl Iterator<Item = (&'k str, &'k str)>) -> &mut Event {
        let mut known: HashSet<&str> = self.keys.iter().copied().collect();
        for (key, value) in members {
            if known.insert(key) {
                self.key(key);
                push_line(&mut self.line, value);
            }
        }
        self
    }

    /// Returns the event as one line.
    pub fn line(mut self) -> String {
        self.line.push('}');
        self.line
    }

    fn key(&mut self, key: &str) {
        self.line.push(if self.line.is_empty() { '{' } else { ',' });
        self.line
            .push_str(&serde_json::Value::from(key).to_string());
        self.line.push(':');
    }
}

/// Appends JSON text. Line ends outside strings are white space in JSON, but would end the event for a monitor, so they
/// become spaces.
fn push_line(line: &mut String, value: &str) {
    for part in value.split_inclusive(['\n', '\r']) {
        match part.strip_suffix(['\n', '\r']) {
            Some(part) => {
                line.push_str(part);
                line.push(' ');
            }
            None => line.push_str(part),
        }
    }
}
