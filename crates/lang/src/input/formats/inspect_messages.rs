//! The messages of a sample of Inspect AI: which were read already, and the pool that model inputs refer to.

use std::collections::HashMap;

use super::shape::{get, id, list, text};
use crate::value::Value;

/// The messages that the inputs of a sample's models may stand for, with repetitions: each is a step of the reader, and
/// a few bytes of a log can stand for any number.
pub(super) const MOST_REFS: u64 = 1 << 26;

/// Returns the key of a message: ids are no keys, since equal messages of a pool are one. The key of a result is its call.
pub(super) fn key(message: &Value) -> String {
    let role = text(message, "role").unwrap_or_default();
    if role == "tool"
        && let Some(call) = id(get(message, "tool_call_id"))
    {
        return format!("tool\0{call}");
    }
    let content = get(message, "content").map(Value::to_string);
    let mut key = format!("{role}\0{}", content.unwrap_or_default());
    for call in list(message, "tool_calls").unwrap_or(&[]) {
        key.push('\0');
        key.push_str(&id(get(call, "id")).unwrap_or_default());
    }
    key
}

/// The messages that were read: how often each occurred in one conversation.
#[derive(Debug, Default)]
pub(super) struct Messages {
    numbers: HashMap<String, usize>,
    /// For each message, how often it was read, and how often it occurred in the conversation at hand.
    counts: Vec<Count>,
    conversation: u32,
}

#[derive(Clone, Copy, Debug, Default)]
struct Count {
    read: u32,
    conversation: u32,
    here: u32,
}

impl Messages {
    /// Begins to go through a conversation.
    pub(super) fn begin(&mut self) {
        self.conversation += 1;
    }

    pub(super) fn number(&mut self, key: &str) -> usize {
        if let Some(number) = self.numbers.get(key) {
            return *number;
        }
        let number = self.counts.len();
        self.numbers.insert(key.to_owned(), number);
        self.counts.push(Count::default());
        number
    }

    /// Whether a message of the conversation was not read yet; it is from now on.
    pub(super) fn is_first(&mut self, key: &str) -> bool {
        let number = self.number(key);
        self.occurs(number)
    }

    pub(super) fn occurs(&mut self, number: usize) -> bool {
        let Some(count) = self.counts.get_mut(number) else {
            return false;
        };
        if count.conversation != self.conversation {
            (count.conversation, count.here) = (self.conversation, 0);
        }
        count.here += 1;
        let first = count.here > count.read;
        count.read = count.read.max(count.here);
        first
    }
}

/// The messages of a sample's pool that were looked at, and how many more may be.
#[derive(Debug, Default)]
pub(super) struct Pool {
    read: Vec<Option<(usize, Value)>>,
    spent: u64,
    reported: bool,
}

impl Pool {
    pub(super) fn of(&mut self, len: usize) {
        self.read = vec![None; len];
    }

    pub(super) fn spend(&mut self) -> bool {
        self.spent += 1;
        self.spent <= MOST_REFS
    }

    /// Whether the limit is to be reported: once.
    pub(super) fn report_limit(&mut self) -> bool {
        !std::mem::replace(&mut self.reported, true)
    }

    pub(super) fn number(&self, place: usize) -> Option<usize> {
        let (number, _) = self.read.get(place)?.as_ref()?;
        Some(*number)
    }

    pub(super) fn message(&self, place: usize) -> Option<Value> {
        let (_, message) = self.read.get(place)?.as_ref()?;
        Some(message.clone())
    }

    pub(super) fn set(&mut self, place: usize, number: usize, message: Value) {
        if let Some(slot) = self.read.get_mut(place) {
            *slot = Some((number, message));
        }
    }
}
