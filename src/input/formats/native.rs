//! Guard's own records: their events are canonical already and pass through.

use smol_str::SmolStr;

use super::shape::{flag, get, id, is_object, list, object, string, without};
use super::trace::{Out, Trace};
use super::units::{Items, Unit, units};
use super::{Input, Place};
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    for unit in units(input, is_event) {
        match unit {
            Unit::Items(items) => pass(Trace::new(None, items.n, items.line), &items, out),
            Unit::Record(record) => match list(record.value, "events") {
                Some(events) => {
                    let name = id(get(record.value, "id"));
                    let mut trace = Trace::new(name, record.n, record.line);
                    trace.list("/events");
                    trace.meta(without(record.value, &["events"]));
                    trace.complete(flag(record.value, "complete"));
                    pass(trace, &Items::of(events, record.line, record.n), out);
                }
                None => {
                    let place = Place {
                        line: record.line,
                        index: None,
                    };
                    out.lose_item("a record without `events`", place);
                }
            },
        }
    }
}

/// Native events are objects without a list of events of their own.
fn is_event(value: &Value) -> bool {
    is_object(value) && get(value, "events").is_none()
}

fn pass(mut trace: Trace, items: &Items<'_>, out: &mut Out) {
    for (index, item) in items.items.iter().enumerate() {
        trace.item(index, item.line, item.value, None, None);
        match item.value {
            Value::Object(_) => trace.push_as_it_is(item.value.clone()),
            other => trace.push_as_it_is(object(vec![
                (SmolStr::new_static("kind"), string("other")),
                (SmolStr::new_static("raw"), other.clone()),
            ])),
        }
    }
    trace.finish(out);
}
