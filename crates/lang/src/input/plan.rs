//! A schema, compiled: which paths are walked at which level of a record.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use smol_str::SmolStr;

use super::cell::{absent, settle};
use super::path::{Query, Route};
use super::projection::ProjectionError;
use super::record::Step;
use super::trie::{NodeId, Trie};
use crate::input_schema::{
    Absent, Events, Field, FieldSource, InputSchema, OriginField, Path, TimeUnit,
};
use crate::types::Type;
use crate::value::Cell;

/// The part of the schema that a value belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LevelId {
    /// A record: meta fields, its id, its list of events.
    Record,
    /// An event: fields, its list of `each`.
    Event,
    /// An element of `each`.
    Element,
}

/// The paths of one level.
#[derive(Clone, Debug, Default)]
pub(crate) struct Level {
    pub(crate) trie: Trie,
    /// The fields that are read here; a slot is an index into them.
    pub(crate) slots: Vec<Field>,
    /// The slots whose path may have many nodes.
    pub(crate) queries: Vec<(usize, Query)>,
    /// The list of this level, where its path may have many nodes: the nodes are the items.
    pub(crate) list: Option<Query>,
}

impl Level {
    fn add(&mut self, field: Field, path: &Path) -> Result<usize, ProjectionError> {
        let slot = self.slots.len();
        match Route::new(path)? {
            Route::Steps(steps) => self.trie.slot(&steps, slot),
            Route::Query(query) => self.queries.push((slot, query)),
        }
        self.slots.push(field);
        Ok(slot)
    }

    fn add_list(&mut self, path: &Path) -> Result<(), ProjectionError> {
        match Route::new(path)? {
            Route::Steps(steps) => self.trie.list(&steps),
            Route::Query(query) => self.list = Some(query),
        }
        Ok(())
    }

    /// Whether a tree of the whole value is needed.
    pub(crate) fn wants_tree(&self) -> bool {
        !self.queries.is_empty() || self.list.is_some()
    }
}

/// The rule that distinguishes records from events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Whole traces and single events, as `cli.md` has them.
    Native,
    /// Whole traces with their events at a path.
    At,
    /// Every line is an event.
    Lines,
}

/// The source of the cell of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldPlace {
    Event(usize),
    Element(usize),
}

/// The slots that some event had, of all that was read by one plan. A slot is written once, so that threads share the memory
/// without waiting for each other.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) event: Box<[AtomicBool]>,
    pub(crate) element: Box<[AtomicBool]>,
}

/// Notes that a slot was found.
#[inline]
pub(crate) fn note(found: &[AtomicBool], slot: usize) {
    if let Some(found) = found.get(slot)
        && !found.load(Ordering::Relaxed)
    {
        found.store(true, Ordering::Relaxed);
    }
}

/// The compiled schema.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    pub(crate) mode: Mode,
    pub(crate) record: Level,
    pub(crate) event: Level,
    pub(crate) element: Level,
    /// One per field of the schema.
    pub(crate) places: Vec<FieldPlace>,
    /// Slots of events whose absence means something: the fields of the schema among them.
    pub(crate) n_event: usize,
    /// For each, the cell if it is absent; `None` if that is a problem to report.
    pub(crate) absent: Vec<Option<Cell>>,
    /// The fields that some event had so far.
    pub(crate) found: Arc<Found>,
    /// Meta fields; their slots come first in the record level.
    pub(crate) n_meta: usize,
    pub(crate) origins: Vec<(usize, OriginField)>,
    pub(crate) id: Option<usize>,
    /// The first key on the path of the record's name, and of the name of an event's trace.
    pub(crate) id_key: Option<SmolStr>,
    pub(crate) trace_key: Option<SmolStr>,
    pub(crate) complete: Option<usize>,
    pub(crate) native: Option<NativeSlots>,
    /// Without fields of `each` and without `order by`.
    pub(crate) simple: bool,
    /// Besides, an event is one step: long texts of its fields may be left to whoever reads them.
    pub(crate) defers: bool,
    pub(crate) order_by: Vec<FieldPlace>,
    /// The same as fields of the schema.
    pub(crate) order_fields: Vec<usize>,
    /// Whether a list at the top of a file holds records.
    pub(crate) explodes: bool,
}

/// The slots of the event level that native single-event lines have.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NativeSlots {
    pub(crate) trace: usize,
    pub(crate) end: usize,
    /// `/events`: a list here makes the line a whole trace.
    pub(crate) events: usize,
}

fn pseudo(name: &'static str, ty: Type) -> Field {
    Field {
        name: SmolStr::new_static(name),
        source: FieldSource::Event(Path::Pointer(Vec::new())),
        ty,
        absent: Absent::Null,
        unit: TimeUnit::Seconds,
    }
}

fn first_key(path: &Path) -> Option<SmolStr> {
    match Route::new(path) {
        Ok(Route::Steps(steps)) => steps.into_iter().next()?.name,
        _ => None,
    }
}

fn member(name: &'static str) -> Path {
    Path::Pointer(vec![SmolStr::new_static(name)])
}

impl Plan {
    /// Returns the bytes of memory of a step, besides its values.
    pub(crate) fn step_bytes(&self) -> usize {
        size_of::<Step>() + self.places.len() * size_of::<Cell>()
    }

    pub(crate) fn new(schema: &InputSchema) -> Result<Plan, ProjectionError> {
        let layout = &schema.layout;
        let mode = match &layout.events {
            None => Mode::Native,
            Some(Events::At(_)) => Mode::At,
            Some(Events::Lines) => Mode::Lines,
        };
        let mut plan = Plan {
            mode,
            record: Level::default(),
            event: Level::default(),
            element: Level::default(),
            places: Vec::new(),
            n_event: 0,
            absent: Vec::new(),
            found: Arc::default(),
            n_meta: schema.meta.len(),
            origins: Vec::new(),
            id: None,
            id_key: None,
            trace_key: None,
            complete: None,
            native: None,
            simple: false,
            defers: false,
            order_by: Vec::new(),
            order_fields: layout.order_by.clone(),
            explodes: true,
        };
        for field in &schema.fields {
            plan.places.push(match &field.source {
                FieldSource::Event(path) => FieldPlace::Event(plan.event.add(field.clone(), path)?),
                FieldSource::Each(path) => {
                    FieldPlace::Element(plan.element.add(field.clone(), path)?)
                }
                FieldSource::Origin(_) => {
                    return Err(ProjectionError::Origin {
                        field: field.name.clone(),
                    });
                }
            });
        }
        plan.n_event = plan.event.slots.len();
        plan.found = plan.nothing_found();
        let absent = plan.event.slots.iter().map(|field| settle(absent(field)));
        plan.absent = absent
            .map(|(cell, trouble)| trouble.is_none().then_some(cell))
            .collect();
        for (idx, field) in schema.meta.iter().enumerate() {
            match &field.source {
                FieldSource::Event(path) | FieldSource::Each(path) => {
                    plan.record.add(field.clone(), path)?;
                }
                FieldSource::Origin(origin) => {
                    plan.record.slots.push(field.clone());
                    plan.origins.push((idx, *origin));
                }
            }
        }
        let native = mode == Mode::Native;
        if let Some(path) = layout.id.clone().or_else(|| native.then(|| member("id"))) {
            plan.id_key = first_key(&path);
            plan.id = Some(plan.record.add(pseudo("id", Type::Json), &path)?);
        }
        if let Some(path) = layout
            .complete
            .clone()
            .or_else(|| native.then(|| member("complete")))
        {
            let ty = Type::Bool.nullable();
            plan.complete = Some(plan.record.add(pseudo("complete", ty), &path)?);
        }
        match &layout.events {
            None => {
                plan.record.add_list(&member("events"))?;
                let trace = layout.id.clone().unwrap_or_else(|| member("trace"));
                plan.trace_key = first_key(&trace);
                let json = |name| pseudo(name, Type::Json);
                plan.native = Some(NativeSlots {
                    trace: plan.event.add(json("trace"), &trace)?,
                    end: plan.event.add(json("end"), &member("end"))?,
                    events: plan.event.add(json("events"), &member("events"))?,
                });
            }
            Some(Events::At(path)) => {
                plan.explodes = !Route::new(path)?.begins_in_list();
                plan.record.add_list(path)?;
            }
            Some(Events::Lines) => {}
        }
        if let Some(path) = &layout.each {
            plan.event.add_list(path)?;
        }
        for &field in &layout.order_by {
            let place = plan.places.get(field).copied();
            plan.order_by
                .push(place.ok_or(ProjectionError::OrderBy { field })?);
        }
        plan.simple = plan.element.slots.is_empty() && plan.order_by.is_empty();
        plan.defers = plan.simple && layout.each.is_none();
        Ok(plan)
    }

    /// Returns the same plan, by which nothing was read yet.
    pub(crate) fn unused(&self) -> Plan {
        Plan {
            found: self.nothing_found(),
            ..self.clone()
        }
    }

    fn nothing_found(&self) -> Arc<Found> {
        let flags = |slots: &[Field]| slots.iter().map(|_| AtomicBool::new(false)).collect();
        Arc::new(Found {
            event: flags(&self.event.slots),
            element: flags(&self.element.slots),
        })
    }

    /// Whether some event so far had a field of the schema, or may have had it.
    pub(crate) fn was_found(&self, field: usize) -> bool {
        let flag = match self.places.get(field) {
            Some(FieldPlace::Event(slot)) => self.found.event.get(*slot),
            Some(FieldPlace::Element(slot)) => self.found.element.get(*slot),
            None => None,
        };
        flag.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }

    #[inline]
    pub(crate) fn level(&self, level: LevelId) -> &Level {
        match level {
            LevelId::Record => &self.record,
            LevelId::Event => &self.event,
            LevelId::Element => &self.element,
        }
    }

    /// Returns a number for a place of a level, small and its own.
    #[inline]
    pub(crate) fn kind(&self, level: LevelId, id: NodeId) -> usize {
        let level = match level {
            LevelId::Record => 0,
            LevelId::Event => 1,
            LevelId::Element => 2,
        };
        3 * id + level
    }

    /// Whether meta fields of single events must be read from the events.
    pub(crate) fn reads_meta(&self) -> bool {
        self.n_meta > self.origins.len() || (self.mode == Mode::Lines && self.id.is_some())
    }
}
