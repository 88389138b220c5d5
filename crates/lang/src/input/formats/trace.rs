//! Collecting a trace item by item, so that no item is lost in silence.

use indexmap::IndexMap;
use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::event::{Draft, Wanted};
use super::json_text::{self, Refusal};
use super::pairing::Pairing;
use super::shape::{get, id, object};
use super::{CanonicalEvent, CanonicalTrace, Converted, Fault, Format, ItemPlace, Loss, Refused};
use crate::problem::ProblemKind;
use crate::value::Value;

/// The output of the readers.
#[derive(Debug)]
pub(super) struct Out {
    wanted: Wanted,
    converted: Converted,
    /// By what was lost, and whether whole items were.
    losses: IndexMap<(String, bool), Loss>,
}

impl Out {
    /// Returns an output without anything in it, for events with these members.
    pub(super) fn new(wanted: Wanted) -> Out {
        Out {
            wanted,
            converted: Converted::default(),
            losses: IndexMap::new(),
        }
    }

    /// Begins a trace.
    pub(super) fn trace(&self, id: Option<SmolStr>, n: u32, line: Option<u64>) -> Trace {
        Trace::new(self.wanted, id, n, line)
    }

    /// Counts an item that became no event.
    pub(super) fn lose_item(&mut self, what: impl Into<String>, place: ItemPlace) {
        self.converted.items += 1;
        self.lose(what.into(), true, 1, place);
    }

    /// Counts parts that were left out of items that did become events.
    pub(super) fn lose_parts(&mut self, what: impl Into<String>, count: u64, place: ItemPlace) {
        if count > 0 {
            self.lose(what.into(), false, count, place);
        }
    }

    fn lose(&mut self, what: String, whole: bool, count: u64, example: ItemPlace) {
        let fresh = Loss {
            what: what.clone(),
            count: 0,
            whole,
            example,
        };
        self.losses.entry((what, whole)).or_insert(fresh).count += count;
    }

    /// Adds lines that cannot be read.
    pub(super) fn refuse(&mut self, refused: Refused) {
        self.converted.refused.push(refused);
    }

    /// Reports that a file that is not JSON was given to a reader of JSON.
    pub(super) fn refuse_text(&mut self, format: Format, bytes: &[u8]) {
        let what = format!(
            "expected JSON for `{format}`, found a string of {} bytes",
            bytes.len()
        );
        self.lose_item(what, ItemPlace::default());
    }

    pub(super) fn finish(self) -> Converted {
        Converted {
            losses: self.losses.into_values().collect(),
            ..self.converted
        }
    }
}

/// A trace in the making.
#[derive(Debug)]
pub(super) struct Trace {
    trace: CanonicalTrace,
    wanted: Wanted,
    calls: Pairing,
    /// Calls that could not be read.
    unreadable: usize,
    /// The values of the current item that were read as calls or results, by their addresses.
    read: FxHashMap<usize, Value>,
    items: u64,
    item: Option<Item>,
}

#[derive(Debug)]
struct Item {
    index: u32,
    line: Option<u64>,
    value: Value,
    at: Option<Value>,
    agent: Option<Value>,
    events: u32,
}

impl Trace {
    fn new(wanted: Wanted, id: Option<SmolStr>, n: u32, line: Option<u64>) -> Trace {
        Trace {
            wanted,
            trace: CanonicalTrace {
                id,
                n,
                line,
                list: String::new(),
                meta: object(Vec::new()),
                complete: None,
                events: Vec::new(),
                faults: Vec::new(),
            },
            calls: Pairing::default(),
            unreadable: 0,
            read: FxHashMap::default(),
            items: 0,
            item: None,
        }
    }

    /// Whether events tell the item that they came from.
    pub(super) fn keeps_sources(&self) -> bool {
        self.wanted.has("raw") || self.wanted.has("item")
    }

    pub(super) fn list(&mut self, pointer: impl Into<String>) {
        self.trace.list = pointer.into();
    }

    pub(super) fn id(&mut self, id: Option<SmolStr>) {
        self.trace.id = id;
    }

    pub(super) fn meta(&mut self, meta: Value) {
        self.trace.meta = meta;
    }

    pub(super) fn complete(&mut self, complete: Option<bool>) {
        self.trace.complete = complete;
    }

    /// Begins the item at a position of the source's list. Its events take over its time and agent.
    pub(super) fn item(
        &mut self,
        index: usize,
        line: Option<u64>,
        value: &Value,
        at: Option<Value>,
        agent: Option<Value>,
    ) {
        self.close();
        self.read.clear();
        self.items += 1;
        self.item = Some(Item {
            index: u32::try_from(index).unwrap_or(u32::MAX),
            line,
            value: value.clone(),
            at,
            agent,
            events: 0,
        });
    }

    /// Ends an item; an item without an event becomes one of kind `other`.
    fn close(&mut self) {
        if let Some(item) = &self.item
            && item.events == 0
        {
            let draft = Draft::other(&item.value.clone());
            self.push(draft);
        }
        self.item = None;
    }

    /// Adds an event of the current item.
    pub(super) fn push(&mut self, mut draft: Draft) {
        let Some(item) = &mut self.item else {
            return;
        };
        item.events += 1;
        draft.at = draft.at.or_else(|| item.at.clone());
        draft.agent = draft.agent.or_else(|| item.agent.clone());
        self.trace.events.push(CanonicalEvent {
            index: item.index,
            line: item.line,
            value: draft.build(item.index, &item.value, self.wanted),
        });
    }

    /// Adds an event that is canonical already.
    pub(super) fn push_as_it_is(&mut self, value: Value) {
        let Some(item) = &mut self.item else {
            return;
        };
        item.events += 1;
        self.trace.events.push(CanonicalEvent {
            index: item.index,
            line: item.line,
            value,
        });
    }

    /// Adds a call. Returns its id, which is generated if it has none.
    pub(super) fn call(&mut self, mut draft: Draft, id: Option<&str>) -> SmolStr {
        let index = self.index();
        if draft.tool.is_none() {
            self.fault(
                "tool",
                Refusal {
                    kind: ProblemKind::MissingField,
                    message: "expected the name of a tool".to_owned(),
                },
            );
        }
        if let Some(id) = id.filter(|id| self.calls.knows(id)) {
            self.fault(
                "call",
                Refusal {
                    kind: ProblemKind::Odd,
                    message: format!("duplicate call id `{id}`"),
                },
            );
        }
        let id = self
            .calls
            .open(id, index, draft.tool.clone(), draft.args.clone());
        draft.call = Some(Value::String(id.clone().into()));
        self.pass(&draft.raw);
        self.push(draft);
        id
    }

    /// Adds a result, with tool and arguments of the call that it answers.
    pub(super) fn result(&mut self, mut draft: Draft, id: Option<&str>) {
        let id = id.filter(|id| !id.is_empty());
        let tool = draft
            .tool
            .as_ref()
            .and_then(Value::as_str)
            .map(str::to_owned);
        let answered = match id {
            Some(id) => self.calls.by_id(id),
            None => self.calls.by_position(tool.as_deref()),
        };
        if let Some(call) = answered {
            draft.tool = draft.tool.or_else(|| call.tool.clone());
            draft.args = draft.args.or_else(|| call.args.clone());
            draft.call = Some(Value::String(call.id.clone().into()));
        } else {
            draft.call = id.map(Value::string);
        }
        self.pass(&draft.raw);
        self.push(draft);
    }

    /// Adds a call of which nothing is known: neither its tool nor its arguments, nor whether it is one call only.
    pub(super) fn unreadable_call(&mut self, raw: &Value, refusal: Refusal) {
        self.fault("tool", refusal);
        self.push(Draft::call(raw));
        self.unreadable += 1;
    }

    /// Returns the number of calls so far that could not be read.
    pub(super) fn unreadable(&self) -> usize {
        self.unreadable
    }

    /// Takes note that a part of the current item needs no search for calls.
    pub(super) fn pass(&mut self, part: &Value) {
        if let Some(address) = part.address() {
            self.read.insert(address, part.clone());
        }
    }

    /// Whether a part of the current item was read as a call or result, or needs no search.
    pub(super) fn has_read(&self, part: &Value) -> bool {
        part.address()
            .is_some_and(|address| self.read.contains_key(&address))
    }

    /// Whether the current item has a call of this id.
    pub(super) fn calls_here(&self, id: &str) -> bool {
        self.calls.has(self.index(), id)
    }

    /// Whether the current item has a call of the id of this one: it was read in another form.
    pub(super) fn has_made(&self, call: &Value) -> bool {
        id(get(call, "id")).is_some_and(|id| self.calls_here(&id))
    }

    /// Whether the current item has a call of this tool with these arguments; if `has_id` is true, one without an id.
    pub(super) fn calls_alike_here(
        &self,
        has_id: bool,
        tool: Option<&str>,
        args: Option<&Value>,
    ) -> bool {
        self.calls.has_alike(self.index(), has_id, tool, args)
    }

    /// Whether a call of this id was made.
    pub(super) fn knows_call(&self, id: &str) -> bool {
        self.calls.knows(id)
    }

    /// Returns the position of the current item.
    pub(super) fn index(&self) -> u32 {
        self.item.as_ref().map_or(0, |item| item.index)
    }

    /// Returns the current place.
    pub(super) fn place(&self) -> ItemPlace {
        ItemPlace {
            line: self.item.as_ref().and_then(|item| item.line),
            index: self.item.as_ref().map(|item| item.index),
        }
    }

    /// Returns arguments as recorded: JSON inside a text is read, and a text that is not JSON is a fault that leaves them
    /// unknown. A blank text is what some models write for a tool without parameters.
    pub(super) fn args(&mut self, recorded: Option<&Value>) -> Option<Value> {
        match recorded? {
            Value::String(text) if text.trim().is_empty() => Some(object(Vec::new())),
            Value::String(text) => match json_text::parse(text) {
                Ok(value) => Some(value),
                Err(refusal) => {
                    self.fault("args", refusal);
                    None
                }
            },
            other => Some(other.clone()),
        }
    }

    /// Returns arguments of a tool that may take plain text: only text that looks like a JSON object or list is parsed.
    pub(super) fn loose_args(&mut self, recorded: Option<&Value>) -> Option<Value> {
        match recorded? {
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                match json_text::parse(text) {
                    Ok(value) => Some(value),
                    Err(refusal) if refusal.kind == ProblemKind::DuplicateKey => {
                        self.fault("args", refusal);
                        None
                    }
                    Err(_) => recorded.cloned(),
                }
            }
            other => Some(other.clone()),
        }
    }

    /// Returns arguments in a cell of a table: JSON is read; text that begins like an object or list and is not one is a
    /// fault that leaves them unknown; anything else is a plain text.
    pub(super) fn written_args(&mut self, cell: &Value) -> Option<Value> {
        let Value::String(text) = cell else {
            return Some(cell.clone());
        };
        match json_text::parse(text) {
            Ok(value) => Some(value),
            Err(refusal) if text.trim_start().starts_with(['{', '[']) => {
                self.fault("args", refusal);
                None
            }
            Err(_) => Some(cell.clone()),
        }
    }

    /// Returns a result in a cell of a table: JSON is read, and other text stays, but of an object with a key twice.
    pub(super) fn written_result(&mut self, cell: &Value) -> Option<Value> {
        let Value::String(text) = cell else {
            return Some(cell.clone());
        };
        match json_text::parse(text) {
            Ok(value) => Some(value),
            Err(refusal) if refusal.kind == ProblemKind::DuplicateKey => {
                self.fault("result", refusal);
                None
            }
            Err(_) => Some(cell.clone()),
        }
    }

    /// Reports something about a member of the current item's events.
    pub(super) fn fault(&mut self, field: &'static str, refusal: Refusal) {
        let place = self.place();
        self.trace.faults.push(Fault {
            kind: refusal.kind,
            index: place.index.unwrap_or(0),
            line: place.line,
            field,
            message: refusal.message,
        });
    }

    /// Puts the events in the order of a key that belongs to each; those of equal keys stay as they are.
    pub(super) fn sort_by_key<K: Ord>(&mut self, keys: Vec<K>) {
        self.close();
        if keys.len() != self.trace.events.len() {
            return;
        }
        let events = std::mem::take(&mut self.trace.events);
        let mut keyed: Vec<(K, CanonicalEvent)> = keys.into_iter().zip(events).collect();
        keyed.sort_by(|lhs, rhs| lhs.0.cmp(&rhs.0));
        self.trace.events = keyed.into_iter().map(|(_, event)| event).collect();
    }

    /// Returns the number of events so far.
    pub(super) fn events(&self) -> usize {
        self.trace.events.len()
    }

    /// Hands the trace over.
    pub(super) fn finish(mut self, out: &mut Out) {
        self.close();
        out.converted.items += self.items;
        out.converted.traces.push(self.trace);
    }
}
