//! Guard's own records: their events are canonical already and pass through.
//!
//! A record has its `events`; a line without them is one event of the trace that its `trace` names, and
//! `{"trace": …, "end": true}` says that the trace is complete.

use indexmap::IndexMap;
use smol_str::SmolStr;

use super::shape::{flag, get, id, is_object, items, list, object, string, without};
use super::trace::{Out, Trace};
use super::units::{Item, Lines};
use super::{Input, ItemPlace};
use crate::value::Value;

/// Events of one trace that are spread over the file, and whether its end was recorded.
type Spread<'a> = IndexMap<Option<SmolStr>, (Vec<Item<'a>>, bool)>;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    let mut spread = Spread::new();
    match input {
        Input::Document { value, line, lists } => {
            document(value, *line, Lines::of(*line, lists), &mut spread, out);
        }
        Input::Lines(lines) => {
            for (line, value) in *lines {
                document(
                    value,
                    Some(*line),
                    Lines::all(Some(*line)),
                    &mut spread,
                    out,
                );
            }
        }
        Input::Text(_) => {}
    }
    for (n, (name, (events, ended))) in spread.into_iter().enumerate() {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        let line = events.first().and_then(|event| event.line);
        let mut trace = out.trace(name, n, line);
        trace.complete(ended.then_some(true));
        pass(trace, &events, out);
    }
}

fn document<'a>(
    value: &'a Value,
    line: Option<u64>,
    lines: Lines<'a>,
    spread: &mut Spread<'a>,
    out: &mut Out,
) {
    let elements = items(value).unwrap_or(std::slice::from_ref(value));
    let elements = lines.of_elements(elements, line).enumerate();
    for (
        n,
        Item {
            value: element,
            line,
        },
    ) in elements
    {
        let place = ItemPlace { line, index: None };
        if let Some(events) = list(element, "events") {
            let n = u32::try_from(n).unwrap_or(u32::MAX);
            let mut trace = out.trace(id(get(element, "id")), n, line);
            trace.list("/events");
            trace.meta(without(element, &["events"]));
            trace.complete(flag(element, "complete"));
            let events: Vec<Item<'_>> = events.iter().map(|value| Item { value, line }).collect();
            pass(trace, &events, out);
        } else if is_object(element) {
            let (events, ended) = spread.entry(id(get(element, "trace"))).or_default();
            if flag(element, "end") == Some(true) {
                *ended = true;
                out.lose_item("end-of-trace markers (kept as `complete`)", place);
            } else {
                events.push(Item {
                    value: element,
                    line,
                });
            }
        } else {
            out.lose_item("values that are neither records nor events", place);
        }
    }
}

fn pass(mut trace: Trace, events: &[Item<'_>], out: &mut Out) {
    for (index, item) in events.iter().enumerate() {
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
