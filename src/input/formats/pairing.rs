//! Which call a result answers.
//!
//! By id where there are ids. Where they are missing or empty, by position: a result answers the first unanswered call of
//! the latest item that made calls, of the same tool where the result names one.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::value::Value;

/// How far back a result without id may look beyond the latest calls.
const LOOK_BACK: usize = 64;

/// The calls of a trace so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairing {
    calls: Vec<Call>,
    by_id: FxHashMap<SmolStr, Vec<usize>>,
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

impl Pairing {
    /// Remembers a call, and mints `#item.k` for one that has no id; `k` counts the calls of the item.
    pub(super) fn open(
        &mut self,
        id: Option<&str>,
        item: u32,
        tool: Option<Value>,
        args: Option<Value>,
    ) -> SmolStr {
        let id = match id {
            Some(id) if !id.is_empty() => SmolStr::new(id),
            _ => {
                let k = self
                    .calls
                    .iter()
                    .rev()
                    .take_while(|call| call.item == item)
                    .count();
                SmolStr::new(format!("#{item}.{k}"))
            }
        };
        self.by_id
            .entry(id.clone())
            .or_default()
            .push(self.calls.len());
        self.calls.push(Call {
            id: id.clone(),
            tool,
            args,
            item,
            answered: false,
        });
        id
    }

    /// Whether a call of this id was made.
    pub(super) fn knows(&self, id: &str) -> bool {
        self.by_id.contains_key(id)
    }

    /// The call that a result answers: the first unanswered one of that id, else the last one of that id.
    pub(super) fn by_id(&mut self, id: &str) -> Option<&Call> {
        let places = self.by_id.get(id)?;
        let place = places
            .iter()
            .copied()
            .find(|place| self.calls.get(*place).is_some_and(|call| !call.answered))
            .or(places.last().copied())?;
        self.answer(place)
    }

    /// The call that a result without id answers.
    pub(super) fn by_position(&mut self, tool: Option<&str>) -> Option<&Call> {
        let latest = self.calls.last()?.item;
        let fits = |call: &Call| {
            !call.answered
                && match (tool, &call.tool) {
                    (Some(tool), Some(Value::String(name))) => tool == name.as_str(),
                    _ => true,
                }
        };
        let latest_calls = self
            .calls
            .iter()
            .rposition(|call| call.item != latest)
            .map_or(0, |place| place + 1);
        let place = (latest_calls..self.calls.len())
            .find(|place| self.calls.get(*place).is_some_and(fits))
            .or_else(|| {
                (latest_calls.saturating_sub(LOOK_BACK)..latest_calls)
                    .rev()
                    .find(|place| self.calls.get(*place).is_some_and(fits))
            })?;
        self.answer(place)
    }

    fn answer(&mut self, place: usize) -> Option<&Call> {
        let call = self.calls.get_mut(place)?;
        call.answered = true;
        Some(call)
    }
}
