//! Canonical events as text, around parts that stay as they were written.
//!
//! Arguments and results are not parsed and written again: the monitor sees every byte that the agent's tool will see, a
//! key that stands twice included, which it refuses.

use std::collections::HashSet;

/// A canonical event in the making: one line of JSON, written once, since the texts in it may be large.
#[derive(Clone, Debug)]
pub struct Event {
    line: String,
    keys: Vec<&'static str>,
}

impl Event {
    /// An event of this kind of a trace; what it does not have is null, what is not known is left out. `size` is about how
    /// many bytes its members will have.
    pub fn new(trace: &str, kind: &str, role: &str, size: usize) -> Event {
        let mut event = Event {
            line: String::with_capacity(size),
            keys: Vec::new(),
        };
        event
            .text("trace", trace)
            .text("kind", kind)
            .text("role", role);
        event
    }

    /// Sets a member to a string.
    pub fn text(&mut self, key: &'static str, value: &str) -> &mut Event {
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(key, &json)
    }

    /// Sets a member to JSON as it is written.
    pub fn raw(&mut self, key: &'static str, value: &str) -> &mut Event {
        self.with(key, |line| push_line(line, value))
    }

    /// Sets a member to the JSON, without line ends, that `write` adds to the text it is given.
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

    /// Adds what the event does not have yet; of several members of one key the first.
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

    /// The event as one line.
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

/// Adds JSON as it is written. Line ends outside strings are white space to JSON, and the end of an event to a monitor.
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
