//! Unread data: reports messages and calls in places that no reader examines.

use std::borrow::Cow;

use rustc_hash::FxHashSet;

use super::ItemPlace;
use super::json_text::Refusal;
use super::messages::{self, makes_calls, pointer, resembles_call, speaks};
use super::openai;
use super::shape::{first, get, id, is_object, kind, text, unpack};
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
    let (mut count, mut first) = (0, String::new());
    let mut search = Search {
        look: &mut |path, value| {
            if !read.is_empty() && read.contains(&pointer(path)) {
                return false;
            }
            let is_left_out = is_item(value) || speaks(value);
            if is_left_out && count == 0 {
                first = pointer(path);
            }
            count += u64::from(is_left_out);
            !is_left_out
        },
        path: Vec::new(),
    };
    search.members(record.value);
    if count > 0 {
        let what = format!("messages and calls outside the part that was read (at {first})");
        let place = ItemPlace {
            line: record.line,
            index: None,
        };
        out.lose_parts(what, count, place);
    }
}

/// Reads the calls that a record has beside its messages, as the answer to them, at this position of its list. Those that the
/// messages made are reported.
pub(super) fn calls_beside(trace: &mut Trace, position: usize, record: &Record<'_>, out: &mut Out) {
    if !makes_calls(record.value) || messages::counts_calls(record.value) {
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

/// Reads an item, and each call in `searched` that was not read there as one of which nothing is known.
pub(super) fn checked(trace: &mut Trace, searched: Option<&Value>, read: impl FnOnce(&mut Trace)) {
    let before = trace.unreadable();
    read(trace);
    // A call that cannot be read may be all that the item has.
    if let Some(item) = searched.filter(|_| trace.unreadable() == before) {
        calls_in(trace, item);
    }
}

/// Reads each call of an item that no reader has read as one of which nothing is known. What others than the agent say may contain
/// anything.
pub(super) fn calls_in(trace: &mut Trace, item: &Value) {
    const OTHERS: [&str; 5] = ["user", "human", "system", "developer", "tool"];
    let speaker = ["role", "type", "source"];
    let mut speaker = speaker.iter().filter_map(|key| text(item, key));
    if speaker.any(|speaker| OTHERS.contains(&speaker)) || text(item, "role") == Some("function") {
        return;
    }
    let mut calls = Calls {
        trace,
        found: Vec::new(),
        passed: FxHashSet::default(),
    };
    let mut search = Search {
        look: &mut |path, value| calls.look(path, value),
        path: Vec::new(),
    };
    search.value(item);
    for (place, call) in calls.found {
        let refusal = Refusal {
            kind: ProblemKind::WrongType,
            message: match place.as_str() {
                "" => "expected the shape of a call, found another".to_owned(),
                place => format!("expected no call at `{place}`"),
            },
        };
        trace.unreadable_call(call, refusal);
    }
}

/// The calls of an item that no reader has read.
struct Calls<'t, 'v> {
    trace: &'t Trace,
    /// Each with the pointer to it.
    found: Vec<(String, &'v Value)>,
    /// The addresses of calls that were found, or are known.
    passed: FxHashSet<usize>,
}

impl<'v> Calls<'_, 'v> {
    /// Takes note of the calls that a value has or is. Returns whether there may be more in it.
    fn look(&mut self, path: &[&str], value: &'v Value) -> bool {
        let is_passed = |value: &Value| value.address().is_some_and(|it| self.passed.contains(&it));
        if self.trace.has_read(value) || is_passed(value) || kind(value).is_some_and(has_no_calls) {
            return false;
        }
        for call in messages::calls(value) {
            let (call, raw) = match &call {
                Ok(Cow::Borrowed(call)) => (*call, *call),
                Ok(Cow::Owned(call)) => (call, value),
                Err(_) if !path.is_empty() && messages::counts_calls(value) => continue,
                Err(_) => {
                    self.found.push((pointer(path), value));
                    return false;
                }
            };
            if self.holds_read(call) {
                continue;
            }
            self.passed.extend(call.address());
            if !self.is_known(call) {
                self.found.push((pointer(path), raw));
            }
        }
        if !resembles_call(value) || self.holds_read(value) {
            return true;
        }
        if !self.is_known(value) {
            self.found.push((pointer(path), value));
        }
        false
    }

    /// Whether a value is or holds a call that was read.
    fn holds_read(&self, value: &Value) -> bool {
        self.trace.has_read(value)
            || match value {
                Value::Object(members) => members.iter().any(|(_, it)| self.holds_read(it)),
                Value::List(elements) => elements.iter().any(|it| self.holds_read(it)),
                _ => false,
            }
    }

    /// Whether a call is one that was read in another form: of the same id, or where one of both has none, of
    /// the same tool and arguments.
    fn is_known(&self, call: &Value) -> bool {
        const IDS: [&str; 6] = [
            "id",
            "call_id",
            "tool_call_id",
            "toolCallId",
            "toolUseId",
            "tool_use_id",
        ];
        const BODIES: [&str; 5] = [
            "function",
            "custom",
            "functionCall",
            "toolUse",
            "toolInvocation",
        ];
        let mut inner = BODIES.iter().filter_map(|key| get(call, key));
        let body = inner.find(|body| is_object(body)).unwrap_or(call);
        let ids = [call, body].into_iter();
        let ids = ids.flat_map(|holder| IDS.iter().map(move |key| id(get(holder, key))));
        let mut ids = ids.flatten().peekable();
        let has_id = ids.peek().is_some();
        if ids.any(|id| self.trace.calls_here(&id)) {
            return true;
        }
        let tool = messages::NAMES.iter().find_map(|key| text(body, key));
        let args = first(body, &messages::ARGUMENTS).map(unpack);
        self.trace.calls_alike_here(has_id, tool, args.as_ref())
    }
}

/// Whether what has this type holds what is named and has arguments, and is no call: results, approvals, lists of tools.
pub(super) fn has_no_calls(kind: &str) -> bool {
    kind.ends_with("_output")
        || kind.ends_with("_result")
        || kind == "mcp_list_tools"
        || kind.starts_with("mcp_approval_")
}

/// A search below a value, where `look` says of each object and list whether to look into it.
struct Search<'s, 'v> {
    look: &'s mut dyn FnMut(&[&'v str], &'v Value) -> bool,
    path: Vec<&'v str>,
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
        if matches!(value, Value::Object(_) | Value::List(_)) && (self.look)(&self.path, value) {
            self.members(value);
        }
    }
}
