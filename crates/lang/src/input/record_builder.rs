//! The cells that both walks (over text, over trees) fill.

use smol_str::SmolStr;

use super::cell::{CellResult, Trouble, absent, from_value, settle, stand_in};
use super::deferred::DeferredText;
use super::limits::InputLimits;
use super::plan::{FieldPlace, LevelId, Plan, note};
use super::record::Step;
use crate::input_schema::Field;
use crate::problem::ProblemKind;
use crate::types::Type;
use crate::value::{Cell, Text, Value};

/// A problem before its file, line and trace are known.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    pub(crate) kind: ProblemKind,
    /// Byte offset in the record.
    pub(crate) at: usize,
    pub(crate) step: Option<u32>,
    pub(crate) field: Option<SmolStr>,
    pub(crate) message: String,
}

/// The cells of what is being read, kept from record to record for its memory.
#[derive(Debug, Default)]
pub(crate) struct RecordBuilder {
    pub(crate) record: Vec<Option<Cell>>,
    pub(crate) event: Vec<Option<Cell>>,
    /// The cells of the elements of the event's `each`, one row after the other.
    rows: Vec<Option<Cell>>,
    n_rows: usize,
    /// The values of `each` are unknown.
    each_unknown: bool,
    /// Steps of the record.
    pub(crate) steps: Vec<Step>,
    /// The cells of `order by`, per event.
    keys: Vec<Cell>,
    /// Texts of the record's steps that were passed over.
    pub(crate) deferred: Vec<DeferredText>,
    /// Those of the event, by slot.
    passed: Vec<DeferredText>,
    /// Number of the event.
    pub(crate) index: u32,
    /// Whether the list of events was found.
    pub(crate) found_list: bool,
    /// The place of the list of events cannot be trusted.
    pub(crate) refused: bool,
    pub(crate) drafts: Vec<Draft>,
    pub(crate) dropped: u64,
    limits: InputLimits,
    /// Bytes of memory that further values may take.
    pub(crate) left: usize,
    /// Steps were left out: there was no memory for them.
    pub(crate) is_too_large: bool,
    in_event: bool,
    /// By slot of the event, the JSON value that was last found to hold no placeholder.
    shared: Vec<Option<Value>>,
}

fn reset(cells: &mut Vec<Option<Cell>>, len: usize) {
    cells.clear();
    cells.resize(len, None);
}

impl RecordBuilder {
    /// Begins a record (or a single event).
    pub(crate) fn begin(&mut self, plan: &Plan, limits: &InputLimits) {
        reset(&mut self.record, plan.record.slots.len());
        self.steps.clear();
        self.keys.clear();
        self.deferred.clear();
        self.index = 0;
        self.found_list = false;
        self.refused = false;
        self.drafts.clear();
        self.dropped = 0;
        self.limits = *limits;
        self.left = limits.record_memory;
        self.is_too_large = false;
        self.in_event = false;
        self.shared.clear();
    }

    /// Reads a value of an event. A JSON value that the event before had too, as the events of one message have the message,
    /// is not searched for placeholders again: of 3,000 calls in one message, that took 0.9 s.
    pub(crate) fn read(&mut self, field: &Field, slot: usize, value: &Value) -> CellResult {
        if *field.ty.non_null() != Type::Json {
            return from_value(field, value);
        }
        if self.shared.len() <= slot {
            self.shared.resize(slot + 1, None);
        }
        let shared = self.shared.get(slot).and_then(Option::as_ref);
        if shared.is_some_and(|shared| shared.is_same(value)) {
            return Ok(value.clone());
        }
        let reading = from_value(field, value);
        if let Some(shared) = self.shared.get_mut(slot) {
            *shared = reading.is_ok().then(|| value.clone());
        }
        reading
    }

    /// Begins an event of the record.
    pub(crate) fn begin_event(&mut self, plan: &Plan) {
        reset(&mut self.event, plan.event.slots.len());
        self.rows.clear();
        self.n_rows = 0;
        self.each_unknown = false;
        self.passed.clear();
        self.in_event = true;
        // First of all, so that whatever the event holds, it is a step.
        if !self.is_too_large && !self.spend(plan.step_bytes()) {
            self.lose_list(LevelId::Record);
        }
    }

    /// Begins an element of the event's `each`. Returns `false` if the elements are unknown, so that it need not be read.
    pub(crate) fn begin_row(&mut self, plan: &Plan) -> bool {
        let width = plan.element.slots.len();
        // A row becomes a step, with all cells of the event.
        let bytes = width * size_of::<Cell>() + plan.step_bytes();
        if !self.each_unknown && !self.spend(bytes) {
            self.lose_list(LevelId::Event);
        }
        if !self.each_unknown {
            self.n_rows += 1;
            self.rows.resize(self.n_rows * width, None);
        }
        !self.each_unknown
    }

    /// Takes memory for values, if there is enough.
    fn spend(&mut self, bytes: usize) -> bool {
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Returns the reading of a field whose value takes too much memory.
    pub(crate) fn too_large(&self) -> CellResult {
        Err(Some(self.limit()))
    }

    fn limit(&self) -> Trouble {
        Trouble {
            kind: ProblemKind::Limit,
            message: self.limits.too_large(),
        }
    }

    /// Gives up the list below a level, which takes too much memory: the events of a record, which is then refused, or the
    /// elements of an event, which are then unknown.
    pub(crate) fn lose_list(&mut self, level: LevelId) {
        if level == LevelId::Record {
            self.is_too_large = true;
            self.steps = Vec::new();
        } else {
            self.each_unknown = true;
            (self.rows, self.n_rows) = (Vec::new(), 0);
            let trouble = self.limit();
            self.add_problem(trouble, None, 0);
        }
    }

    /// Returns the cells of a level; of elements, the row that was begun last.
    #[inline]
    fn cell(&mut self, plan: &Plan, level: LevelId, slot: usize) -> Option<&mut Option<Cell>> {
        match level {
            LevelId::Record => self.record.get_mut(slot),
            LevelId::Event => self.event.get_mut(slot),
            LevelId::Element => {
                let row = self.n_rows.saturating_sub(1) * plan.element.slots.len();
                self.rows.get_mut(row + slot)
            }
        }
    }

    /// Keeps what was read for a slot.
    #[inline]
    pub(crate) fn put(
        &mut self,
        plan: &Plan,
        level: LevelId,
        slot: usize,
        reading: CellResult,
        at: usize,
    ) {
        let place = self.cell(plan, level, slot);
        let trouble = match (reading, place) {
            (Ok(value), Some(place)) => {
                *place = Some(Cell::Known(value));
                return;
            }
            (Ok(_), None) => return,
            (Err(trouble), place) => {
                place
                    .into_iter()
                    .for_each(|place| *place = Some(Cell::Unknown));
                trouble
            }
        };
        if let Some(trouble) = trouble {
            let field = plan
                .level(level)
                .slots
                .get(slot)
                .map(|field| field.name.clone());
            self.add_problem(trouble, field, at);
        }
    }

    /// Keeps a text. Most cells are texts, and building them in place saves moving them from hand to hand.
    #[inline]
    pub(crate) fn put_text(&mut self, plan: &Plan, level: LevelId, slot: usize, text: &str) {
        self.put_known(plan, level, slot, Value::String(text.into()));
    }

    /// Keeps a value.
    #[inline]
    pub(crate) fn put_known(&mut self, plan: &Plan, level: LevelId, slot: usize, value: Value) {
        if let Some(place) = self.cell(plan, level, slot) {
            *place = Some(Cell::Known(value));
        }
    }

    /// Notes a text of the event that was passed over.
    #[inline]
    pub(crate) fn put_later(&mut self, slot: usize, at: usize, len: usize, plain: bool) {
        if let Some(place) = self.event.get_mut(slot) {
            *place = Some(Cell::Known(Value::String(Text::default())));
            self.passed.push(DeferredText {
                step: self.steps.len(),
                field: slot,
                at,
                len,
                plain,
            });
        }
    }

    /// Keeps a problem.
    pub(crate) fn add_problem(&mut self, trouble: Trouble, field: Option<SmolStr>, at: usize) {
        if self.drafts.len() >= self.limits.problems {
            self.dropped += 1;
            return;
        }
        self.drafts.push(Draft {
            kind: trouble.kind,
            at,
            step: self.in_event.then_some(self.index),
            field,
            message: trouble.message,
        });
    }

    /// Marks everything below an object as unknown because the object is damaged.
    pub(crate) fn distrust(&mut self, plan: &Plan, level: LevelId, node: usize) {
        let node = plan.level(level).trie.node(node);
        for &slot in &node.below {
            if let Some(place) = self.cell(plan, level, slot) {
                *place = Some(Cell::Unknown);
            }
        }
        // An object may be the only element.
        if node.list_below || node.list && level == LevelId::Event {
            self.distrust_list(level);
        }
    }

    /// Marks everything below a value that cannot be read as unknown: what is not understood is not absent.
    pub(crate) fn unread(
        &mut self,
        plan: &Plan,
        level: LevelId,
        node: usize,
        kind: ProblemKind,
        at: usize,
    ) {
        let node = plan.level(level).trie.node(node);
        for &slot in &node.below {
            self.put(plan, level, slot, stand_in(kind), at);
        }
        if node.list || node.list_below {
            self.unread_list(level, kind, at);
        }
    }

    /// Marks the list of a level as unknown: of a record its events, of an event its elements.
    fn distrust_list(&mut self, level: LevelId) {
        match level {
            LevelId::Record => self.refused = true,
            _ => self.each_unknown = true,
        }
    }

    /// Marks the list of a level as unknown, and reports why; duplicate keys are reported where they stand.
    pub(crate) fn unread_list(&mut self, level: LevelId, kind: ProblemKind, at: usize) {
        self.distrust_list(level);
        if kind != ProblemKind::DuplicateKey
            && let Err(Some(trouble)) = stand_in(kind)
        {
            self.add_problem(trouble, None, at);
        }
    }

    /// Returns the slot, first key and cell of the name (of the record, or of the event's trace), where it was read.
    pub(crate) fn name(&self, plan: &Plan, level: LevelId) -> Option<(usize, SmolStr, Cell)> {
        let (slot, key, cells) = match level {
            LevelId::Record => (plan.id?, plan.id_key.clone()?, &self.record),
            LevelId::Event => (
                plan.native.as_ref()?.trace,
                plan.trace_key.clone()?,
                &self.event,
            ),
            LevelId::Element => return None,
        };
        Some((slot, key, cells.get(slot)?.clone()?))
    }

    /// Puts a name back.
    pub(crate) fn rename(&mut self, level: LevelId, slot: usize, cell: Cell) {
        let cells = match level {
            LevelId::Record => &mut self.record,
            _ => &mut self.event,
        };
        if let Some(place) = cells.get_mut(slot) {
            *place = Some(cell);
        }
    }

    /// Ends an event: its steps.
    pub(crate) fn end_event(&mut self, plan: &Plan, at: usize) {
        if self.is_too_large {
            // The record is refused.
        } else if plan.simple && self.n_rows <= 1 {
            // One step, and every field is a slot of the event, in order.
            // What stands twice, or below what does, is unknown.
            let event = &self.event;
            let known =
                |text: &&DeferredText| matches!(event.get(text.field), Some(Some(Cell::Known(_))));
            self.deferred.extend(self.passed.iter().filter(known));
            for (slot, absent) in plan.absent.iter().enumerate() {
                match self.event.get_mut(slot) {
                    Some(Some(_)) => note(&plan.found.event, slot),
                    Some(place) if absent.is_some() => place.clone_from(absent),
                    _ => {
                        let cell = self.miss(plan, slot, at);
                        if let Some(place) = self.event.get_mut(slot) {
                            *place = Some(cell);
                        }
                    }
                }
            }
            // Filled in place, then moved at once: a cell that passes through other variables is copied in pieces, for which a
            // processor waits.
            let found = self.event.iter_mut().take(plan.n_event);
            let cells = found.map(|cell| cell.take().unwrap_or(Cell::Unknown));
            let cells = cells.collect();
            self.end_step(cells);
        } else {
            self.end_rows(plan, at);
        }
        self.index = self.index.saturating_add(1);
        self.in_event = false;
    }

    /// Tells of a field that should be there.
    #[cold]
    fn miss(&mut self, plan: &Plan, slot: usize, at: usize) -> Cell {
        let field = &plan.event.slots[slot];
        let (cell, trouble) = settle(absent(field));
        if let Some(trouble) = trouble {
            self.add_problem(trouble, Some(field.name.clone()), at);
        }
        cell
    }

    fn end_step(&mut self, cells: Vec<Cell>) {
        self.steps.push(Step {
            index: self.index,
            cells: cells.into_boxed_slice(),
        });
    }

    fn end_rows(&mut self, plan: &Plan, at: usize) {
        for slot in 0..plan.n_event {
            if matches!(self.event.get(slot), Some(None)) {
                self.put(
                    plan,
                    LevelId::Event,
                    slot,
                    absent(&plan.event.slots[slot]),
                    at,
                );
            } else {
                note(&plan.found.event, slot);
            }
        }
        let known_rows = if self.each_unknown { 0 } else { self.n_rows };
        let width = plan.element.slots.len();
        for row in 0..known_rows {
            for slot in 0..width {
                if matches!(self.rows.get(row * width + slot), Some(None)) {
                    let (cell, trouble) = settle(absent(&plan.element.slots[slot]));
                    self.rows[row * width + slot] = Some(cell);
                    if let Some(trouble) = trouble {
                        self.add_problem(trouble, Some(plan.element.slots[slot].name.clone()), at);
                    }
                } else {
                    note(&plan.found.element, slot);
                }
            }
        }
        let beside = if self.each_unknown {
            Cell::Unknown
        } else {
            Cell::Known(Value::Null)
        };
        for &place in &plan.order_by {
            let cell = match place {
                FieldPlace::Event(slot) => self.event.get(slot).cloned().flatten(),
                FieldPlace::Element(_) => None,
            };
            self.keys.push(cell.unwrap_or(Cell::Unknown));
        }
        for row in 0..known_rows.max(1) {
            // The event's cells go to its last step and are cloned for the others.
            let last = row + 1 >= known_rows;
            let mut cells = Vec::with_capacity(plan.places.len());
            for &place in &plan.places {
                let cell = match place {
                    FieldPlace::Event(slot) if last => {
                        self.event.get_mut(slot).and_then(Option::take)
                    }
                    FieldPlace::Event(slot) => self.event.get(slot).cloned().flatten(),
                    FieldPlace::Element(slot) if row < known_rows => {
                        self.rows.get_mut(row * width + slot).and_then(Option::take)
                    }
                    FieldPlace::Element(_) => Some(beside.clone()),
                };
                cells.push(cell.unwrap_or(Cell::Unknown));
            }
            self.end_step(cells);
        }
    }

    /// Returns the steps; the next record is likely to have about as many.
    pub(crate) fn take_steps(&mut self) -> Vec<Step> {
        let next = Vec::with_capacity(self.steps.len().min(1 << 12));
        std::mem::replace(&mut self.steps, next)
    }

    /// Sorts the events by the keys of `order by`.
    pub(crate) fn order(&mut self, plan: &Plan) {
        let width = plan.order_by.len();
        if width == 0 {
            return;
        }
        let rank = ranks(&self.keys, width);
        let place = |index: u32| rank.get(index as usize).copied().unwrap_or(index);
        for step in &mut self.steps {
            step.index = place(step.index);
        }
        self.steps.sort_by_key(|step| step.index);
        for draft in &mut self.drafts {
            draft.step = draft.step.map(place);
        }
    }
}

/// Returns the place of each event among all of them, by keys of `width` cells each. The sort is stable, and an event whose
/// key is unknown stays behind the event before it.
pub(crate) fn ranks(cells: &[Cell], width: usize) -> Vec<u32> {
    let mut keys: Vec<Vec<Value>> = Vec::with_capacity(cells.len() / width.max(1));
    for event in cells.chunks(width.max(1)) {
        let mut key = Vec::with_capacity(width);
        for (idx, cell) in event.iter().enumerate() {
            key.push(match cell {
                Cell::Known(value) => value.clone(),
                Cell::Unknown => keys
                    .last()
                    .and_then(|before| before.get(idx))
                    .cloned()
                    .unwrap_or_default(),
            });
        }
        keys.push(key);
    }
    let mut events: Vec<usize> = (0..keys.len()).collect();
    events.sort_by(|&lhs, &rhs| keys[lhs].cmp(&keys[rhs]));
    let mut rank = vec![0; events.len()];
    for (place, &event) in (0u32..).zip(&events) {
        rank[event] = place;
    }
    rank
}
