//! The contents of a document or a file: one list of items, or several records.

use super::Input;
use super::shape::{is_object, items};
use crate::input::document::ListLines;
use crate::value::Value;

/// One trace-to-be.
#[derive(Debug)]
pub(super) enum Unit<'a> {
    /// A record that wraps a list.
    Record(Record<'a>),
    /// The list itself.
    Items(Items<'a>),
}

/// A record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record<'a> {
    pub(super) value: &'a Value,
    pub(super) line: Option<u64>,
    pub(super) lines: Lines<'a>,
    /// Its number among the records of the document.
    pub(super) n: u32,
}

/// A list of items, each with its line.
#[derive(Debug)]
pub(super) struct Items<'a> {
    pub(super) items: Vec<Item<'a>>,
    pub(super) line: Option<u64>,
    pub(super) n: u32,
}

/// An item of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) value: &'a Value,
    pub(super) line: Option<u64>,
}

impl<'a> Items<'a> {
    /// The items of a record, which have its line.
    pub(super) fn of(values: &'a [Value], line: Option<u64>, n: u32) -> Items<'a> {
        Items {
            items: values.iter().map(|value| Item { value, line }).collect(),
            line,
            n,
        }
    }
}

/// The lines of the values of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lines<'a> {
    /// The line of the file on which the document begins.
    first: Option<u64>,
    lists: Option<&'a ListLines>,
}

impl<'a> Lines<'a> {
    /// All values have this line.
    pub(super) fn all(first: Option<u64>) -> Lines<'a> {
        Lines { first, lists: None }
    }

    /// Outermost lists have elements with lines of their own.
    pub(super) fn of(first: Option<u64>, lists: &'a ListLines) -> Lines<'a> {
        Lines {
            first,
            lists: Some(lists),
        }
    }

    /// Returns the elements of a list, each with its line, or `line` where it is not known.
    pub(super) fn of_elements<'v>(
        self,
        values: &'v [Value],
        line: Option<u64>,
    ) -> impl Iterator<Item = Item<'v>> + use<'a, 'v> {
        values.iter().enumerate().map(move |(place, value)| {
            let below = self.lists.and_then(|lists| lists.get(values, place));
            let own = below.zip(self.first).map(|(below, first)| first + below);
            Item {
                value,
                line: own.or(line),
            }
        })
    }
}

/// Tells items from records: a list of which at least half of the objects are items is a trace.
pub(super) fn units<'a>(input: &Input<'a>, is_item: fn(&Value) -> bool) -> Vec<Unit<'a>> {
    match input {
        Input::Document { value, line, lists } => {
            document(value, Lines::of(*line, lists), 0, is_item)
        }
        Input::Lines(lines) => {
            if are_items(lines.iter().map(|(_, value)| value), is_item) {
                let items: Vec<Item<'a>> = lines
                    .iter()
                    .map(|(line, value)| Item {
                        value,
                        line: Some(*line),
                    })
                    .collect();
                let line = items.first().and_then(|item| item.line);
                return vec![Unit::Items(Items { items, line, n: 0 })];
            }
            let mut all = Vec::new();
            for (line, value) in *lines {
                let n = u32::try_from(all.len()).unwrap_or(u32::MAX);
                all.extend(document(value, Lines::all(Some(*line)), n, is_item));
            }
            all
        }
        Input::Text(_) => Vec::new(),
    }
}

fn document<'a>(
    value: &'a Value,
    lines: Lines<'a>,
    n: u32,
    is_item: fn(&Value) -> bool,
) -> Vec<Unit<'a>> {
    let line = lines.first;
    let record = |value, line, n| {
        Unit::Record(Record {
            value,
            line,
            lines,
            n,
        })
    };
    let Some(elements) = items(value) else {
        return vec![record(value, line, n)];
    };
    let elements: Vec<Item<'a>> = lines.of_elements(elements, line).collect();
    if are_items(elements.iter().map(|element| element.value), is_item) {
        let items = elements;
        return vec![Unit::Items(Items { items, line, n })];
    }
    elements
        .into_iter()
        .enumerate()
        .map(|(place, Item { value, line })| {
            let n = n.saturating_add(u32::try_from(place).unwrap_or(u32::MAX));
            match items(value) {
                Some(inner) if are_items(inner.iter(), is_item) => {
                    Unit::Items(Items::of(inner, line, n))
                }
                _ => record(value, line, n),
            }
        })
        .collect()
}

/// Whether a list is one of items.
pub(super) fn are_items<'v>(
    values: impl Iterator<Item = &'v Value>,
    is_item: fn(&Value) -> bool,
) -> bool {
    let (mut objects, mut found) = (0usize, 0usize);
    for value in values {
        objects += usize::from(is_object(value));
        found += usize::from(is_item(value));
    }
    found > 0 && found * 2 >= objects
}

/// Returns all values of a file as one list: the lines, or the elements of one document that is a list or wraps one.
pub(super) fn flat<'a>(input: &Input<'a>, wrappers: &[&str]) -> Vec<Item<'a>> {
    let whole = match input {
        Input::Document { value, line, lists } => Some((*value, Lines::of(*line, lists))),
        Input::Lines([(line, value)]) => Some((value, Lines::all(Some(*line)))),
        _ => None,
    };
    if let Some((value, lines)) = whole {
        let line = lines.first;
        let inner = items(value).or_else(|| {
            wrappers
                .iter()
                .find_map(|wrapper| super::shape::list(value, wrapper))
        });
        return match inner {
            Some(values) => lines.of_elements(values, line).collect(),
            None => vec![Item { value, line }],
        };
    }
    match input {
        Input::Lines(lines) => lines
            .iter()
            .map(|(line, value)| Item {
                value,
                line: Some(*line),
            })
            .collect(),
        _ => Vec::new(),
    }
}
