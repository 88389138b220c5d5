//! The call that a result answers.
//!
//! By id where there are ids. Where they are missing or empty, by position: a result answers the first unanswered call of
//! the latest item that made calls, of the same tool where the result names one.

use std::collections::VecDeque;

use crate::hash::SeededMap;
use smol_str::SmolStr;

use crate::value::Value;

/// The number of calls that a result without id may look at, forth among the latest calls and back beyond them.
const LOOK: usize = 256;

/// The calls of a trace so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    calls: Vec<Call>,
    by_id: SeededMap<SmolStr, Places>,
    /// The start of the calls of the latest item, and how many of them are considered answered.
    latest: usize,
    passed: usize,
}

/// One call.
#[derive(Clone, Debug)]
pub(super) struct Call {
    pub(super) id: SmolStr,
    pub(super) tool: Option<Value>,
    pub(super) args: Option<Value>,
    item: u32,
    answered: bool,
}

/// The calls of one id.
#[derive(Clone, Debug, Default)]
struct Places {
    /// In order, some of them answered by position.
    open: VecDeque<usize>,
    last: usize,
}

impl Pairing {
    /// Remembers a call, and mints `#item.k` for one that has no id; `k` counts the calls of the item.
    pub(super) fn open(
        &mut self,
        id: Option<&str>,
        item: u32,
        tool: Option<Value>,
        args: Option<Value>,
    ) -> SmolStr {
        let place = self.calls.len();
        if self.calls.last().is_none_or(|call| call.item != item) {
            self.latest = place;
            self.passed = 0;
        }
        let id = match id {
            Some(id) if !id.is_empty() => SmolStr::new(id),
            _ => SmolStr::new(format!("#{item}.{}", place - self.latest)),
        };
        let places = self.by_id.entry(id.clone()).or_default();
        places.open.push_back(place);
        places.last = place;
        self.calls.push(Call {
            id: id.clone(),
            tool,
            args,
            item,
            answered: false,
        });
        id
    }

    /// Whether the latest item, if it is this one, has a call of this id.
    pub(super) fn has(&self, item: u32, id: &str) -> bool {
        let latest = self.calls.last().is_some_and(|call| call.item == item);
        let places = self.by_id.get(id);
        latest && places.is_some_and(|places| places.last >= self.latest)
    }

    /// Whether the latest item, if it is this one, has a call of this tool with these arguments; if `has_id` is true, one whose id was
    /// minted.
    pub(super) fn has_alike(
        &self,
        item: u32,
        has_id: bool,
        tool: Option<&str>,
        args: Option<&Value>,
    ) -> bool {
        let calls = self.calls.iter().rev();
        let mut calls = calls.take_while(|call| call.item == item).take(LOOK);
        calls.any(|call| {
            let name = call.tool.as_ref().and_then(Value::as_str);
            let may_be = !has_id || call.id.starts_with('#');
            may_be && tool.is_some() && name == tool && call.args.as_ref() == args
        })
    }

    /// Whether a call of this id was made.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// Returns the call that a result answers: the first unanswered one of that id, else the last one of that id.
    pub(super) fn by_id(&mut self, id: &str) -> Option<&Call> {
        let places = self.by_id.get_mut(id)?;
        let mut place = places.last;
        while let Some(open) = places.open.pop_front() {
            if self.calls.get(open).is_some_and(|call| !call.answered) {
                place = open;
                break;
            }
        }
        self.answer(place)
    }

    /// Returns the call that a result without id answers.
    pub(super) fn by_position(&mut self, tool: Option<&str>) -> Option<&Call> {
        let answered = |place: usize| self.calls.get(place).is_some_and(|call| call.answered);
        let mut passed = self.passed;
        while answered(self.latest + passed) {
            passed += 1;
        }
        self.passed = passed;
        let fits = |place: &usize| {
            self.calls.get(*place).is_some_and(|call| {
                !call.answered
                    && match (tool, &call.tool) {
                        (Some(tool), Some(Value::String(name))) => tool == name.as_str(),
                        _ => true,
                    }
            })
        };
        let forth = (self.latest + self.passed..self.calls.len()).take(LOOK);
        let back = (self.latest.saturating_sub(LOOK)..self.latest).rev();
        let place = forth.chain(back).find(fits)?;
        self.answer(place)
    }

    fn answer(&mut self, place: usize) -> Option<&Call> {
        let call = self.calls.get_mut(place)?;
        call.answered = true;
        Some(call)
    }
}
