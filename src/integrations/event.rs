//! Canonical events as text, around parts that stay as they were written.
//!
//! Arguments and results are not parsed and written again: the monitor sees every byte that the agent's tool will see, a
//! key that stands twice included, which it refuses.

/// A canonical event in the making: members in order, each as JSON.
#[derive(Clone, Debug)]
pub struct Event(Vec<(String, String)>);

impl Event {
    /// An event of this kind of a trace; what it does not have is null, what is not known is left out.
    pub fn new(trace: &str, kind: &str, role: &str) -> Event {
        let mut event = Event(Vec::new());
        event
            .text("trace", trace)
            .text("kind", kind)
            .text("role", role);
        event
    }

    /// Sets a member to a string.
    pub fn text(&mut self, key: &str, value: &str) -> &mut Event {
        // Not by way of a `Value`, which would copy it: results are large.
        let json = serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned());
        self.raw(key, json)
    }

    /// Sets a member to JSON as it is written.
    pub fn raw(&mut self, key: &str, value: impl Into<String>) -> &mut Event {
        self.0.push((key.to_owned(), value.into()));
        self
    }

    /// Sets members to null.
    pub fn null(&mut self, keys: &[&str]) -> &mut Event {
        for key in keys {
            self.raw(key, "null");
        }
        self
    }

    /// Adds what the event does not have yet.
    pub fn beside<'k>(&mut self, members: impl Iterator<Item = (&'k str, &'k str)>) -> &mut Event {
        for (key, value) in members {
            if self.0.iter().all(|(known, _)| known != key) {
                self.raw(key, value);
            }
        }
        self
    }

    /// The event as one line.
    pub fn line(&self) -> String {
        // One buffer: the parts of a result are large.
        let size: usize = self
            .0
            .iter()
            .map(|(key, value)| key.len() + value.len() + 8)
            .sum();
        let mut line = String::with_capacity(size + 2);
        for (key, value) in &self.0 {
            line.push(if line.is_empty() { '{' } else { ',' });
            line.push_str(&serde_json::Value::from(key.as_str()).to_string());
            line.push(':');
            // Line ends outside strings are white space to JSON, and the end of an event to a monitor.
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
        line.push('}');
        line
    }
}
