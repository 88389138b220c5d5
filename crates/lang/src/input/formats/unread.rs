//! Unread data: reports messages and calls in places that no reader examines.

use super::ItemPlace;
use super::json_text::Refusal;
use super::messages::{self, makes_calls, pointer, resembles_call, speaks};
use super::openai;
use super::shape::{get, id, text};
use super::trace::{Out, Trace};
use super::units::{Item, Record};
use crate::problem::ProblemKind;
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

/// Reads the calls that a record has beside its messages, as the answer to them, at this position of its list. Those that the
/// messages made are reported.
pub(super) fn calls_beside(trace: &mut Trace, position: usize, record: &Record<'_>, out: &mut Out) {
    if !makes_calls(record.value) {
        return;
    }
    let known = |call: &Value| id(get(call, "id")).is_some_and(|id| trace.knows_call(&id));
    let calls = messages::calls(record.value);
    if calls.iter().all(|call| call.as_deref().is_ok_and(known)) {
        let place = ItemPlace {
            line: record.line,
            index: None,
        };
        let what = "calls beside the messages that made them";
        out.lose_parts(what, calls.len() as u64, place);
        return;
    }
    trace.item(position, record.line, record.value, None, None);
    openai::calls(trace, record.value);
}

/// Tells of a file of something else: each of its items is left out.
pub(super) fn lose_all(items: &[Item<'_>], what: &'static str, out: &mut Out) {
    for item in items {
        let place = ItemPlace {
            line: item.line,
            index: None,
        };
        out.lose_item(what, place);
    }
}

/// Reads an item, and if that gave no call, the call that lies in `searched` as one of which nothing is known.
pub(super) fn checked(trace: &mut Trace, searched: Option<&Value>, read: impl FnOnce(&mut Trace)) {
    let before = trace.calls();
    read(trace);
    if let Some(item) = searched.filter(|_| trace.calls() == before) {
        call_in(trace, item);
    }
}

/// Reads a call that lies in an item where no reader looks as one of which nothing is known; for items that gave no call.
pub(super) fn call_in(trace: &mut Trace, item: &Value) {
    if let Some(place) = place_of_call(item) {
        let refusal = Refusal {
            kind: ProblemKind::WrongType,
            message: match place.as_str() {
                "" => "expected the shape of a call, found another".to_owned(),
                place => format!("expected no call at `{place}`"),
            },
        };
        trace.unreadable_call(item, refusal);
    }
}

/// Returns the pointer to what may be a call in an item of an agent. What others say, and results, may contain anything.
fn place_of_call(item: &Value) -> Option<String> {
    const OTHERS: [&str; 5] = ["user", "human", "system", "developer", "tool"];
    let speaker = ["role", "type", "source"];
    let mut speaker = speaker.iter().filter_map(|key| text(item, key));
    if speaker.any(|speaker| OTHERS.contains(&speaker)) || text(item, "role") == Some("function") {
        return None;
    }
    if !holds_call(item, LEVELS) {
        return None;
    }
    if resembles_call(item) {
        return Some(String::new());
    }
    let mut search = Search {
        is: &resembles_call,
        read: &[],
        path: Vec::new(),
        count: 0,
        first: String::new(),
    };
    search.members(item);
    (search.count > 0).then_some(search.first)
}

/// Whether a value is or holds what may be a call, to that depth. Most do not, so that no path is kept on the way.
fn holds_call(value: &Value, levels: usize) -> bool {
    let inner = |value| levels > 0 && holds_call(value, levels - 1);
    match value {
        Value::Object(members) => {
            resembles_call(value) || members.iter().any(|(_, member)| inner(member))
        }
        Value::List(elements) => elements.iter().any(inner),
        _ => false,
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
