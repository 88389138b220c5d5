//! Unread data: reports messages and calls in places that no reader examines.

use super::ItemPlace;
use super::messages::{is_call, pointer, speaks};
use super::shape::text;
use super::trace::Out;
use super::units::Record;
use crate::value::Value;

/// Levels that are searched below a record or message; recordings nest their messages in few.
const LEVELS: usize = 12;

/// Tells of the messages and calls of a record that lie outside of what was read (JSON pointers).
pub(super) fn report(
    record: &Record<'_>,
    read: &[String],
    is_item: fn(&Value) -> bool,
    out: &mut Out,
) {
    let mut search = Search {
        is: &|value| is_item(value) || speaks(value),
        read,
        path: Vec::new(),
        count: 0,
        first: String::new(),
    };
    search.members(record.value);
    if search.count > 0 {
        let what = format!(
            "messages and calls outside the part that was read (at {})",
            search.first
        );
        let place = ItemPlace {
            line: record.line,
            index: None,
        };
        out.lose_parts(what, search.count, place);
    }
}

/// Tells of calls in members of an assistant's message that no reader knows; for messages that gave no call.
pub(super) fn report_calls(message: &Value, place: ItemPlace, out: &mut Out) {
    if matches!(
        text(message, "role"),
        Some("user" | "human" | "system" | "developer" | "tool" | "function")
    ) {
        return;
    }
    let mut search = Search {
        is: &is_call,
        read: &[],
        path: Vec::new(),
        count: 0,
        first: String::new(),
    };
    search.members(message);
    if search.count > 0 {
        let what = format!("calls in the member `{}` of a message", search.first);
        out.lose_parts(what, search.count, place);
    }
}

struct Search<'s, 'v> {
    is: &'s dyn Fn(&Value) -> bool,
    read: &'s [String],
    path: Vec<&'v str>,
    count: u64,
    first: String,
}

impl<'v> Search<'_, 'v> {
    fn members(&mut self, value: &'v Value) {
        if self.path.len() >= LEVELS {
            return;
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members.iter() {
                    self.path.push(name);
                    self.value(member);
                    self.path.pop();
                }
            }
            // Elements share the pointer of their list.
            Value::List(elements) => {
                for element in elements.iter() {
                    self.value(element);
                }
            }
            _ => {}
        }
    }

    fn value(&mut self, value: &'v Value) {
        if !matches!(value, Value::Object(_) | Value::List(_)) {
            return;
        }
        if !self.read.is_empty() && self.read.contains(&pointer(&self.path)) {
            return;
        }
        if (self.is)(value) {
            if self.count == 0 {
                self.first = pointer(&self.path);
            }
            self.count += 1;
            return;
        }
        self.members(value);
    }
}
