//! Names that the properties of a spec look for and no event has, although events have similar ones: a rule over a misspelt tool or
//! argument is satisfied by every trace.
//!
//! Looked for are members of objects (`args.path`) and texts that a value is compared with (`tool == "rm"`, `tool in {"rm", "mv"}`).
//!
//! # Complexity
//! A step costs one lookup for each name that no event has had so far, and one for each other name beside it; nothing once all
//! names of the spec were found.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{PoisonError, RwLock};

use smol_str::SmolStr;

use super::Judge;
use crate::diagnostic::misspelling_of;
use crate::eval::Wanted;
use crate::hash::SeededSet;
use crate::hir::reads;
use crate::hir::{Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::input::deferred::{Deferred, DeferredText};
use crate::input::record::{Event, Record, Step};
use crate::report::UnseenName;
use crate::value::{Cell, Value};

/// The number of different names in one place that are kept to find a similar one. Where there are more, they are data, not
/// names.
const MOST: usize = 4096;

/// Longer texts are data, not names.
const LONGEST: usize = 64;

/// The names that a spec looks for, and those that events have in the same places.
#[derive(Debug, Default)]
pub(super) struct Names {
    places: Vec<Place>,
}

/// A value of a step: a field, or a member of one.
#[derive(Debug)]
struct Place {
    field: usize,
    path: Box<[SmolStr]>,
    /// The place as it is written.
    written: String,
    members: Looked,
    texts: Looked,
}

/// The names that are looked for in one place.
#[derive(Debug, Default)]
struct Looked {
    names: Vec<(SmolStr, AtomicBool)>,
    /// The others, as long as some name was not found.
    others: RwLock<SeededSet<SmolStr>>,
}

impl Names {
    /// Returns the names that the properties of a spec look for.
    pub(super) fn new(spec: &Spec) -> Names {
        let mut places: BTreeMap<(usize, Vec<SmolStr>), Place> = BTreeMap::new();
        let roots = (spec.properties.iter()).flat_map(|property| spec.roots_of(property));
        reads::visit(spec, roots, |id| {
            let (of, member, texts) = match spec.exprs.get(id) {
                Expr::Member(of, name) => (*of, Some(name.clone()), Vec::new()),
                Expr::Index(of, at) => match constants(spec, *at).pop() {
                    Some(name) => (*of, Some(name), Vec::new()),
                    None => return,
                },
                Expr::In(of, texts) => (*of, None, constants(spec, *texts)),
                Expr::Compare(Compare::Eq, one, other) => match constants(spec, *other) {
                    texts if texts.is_empty() => (*other, None, constants(spec, *one)),
                    texts => (*one, None, texts),
                },
                _ => return,
            };
            let Some((field, path)) = place(spec, of) else {
                return;
            };
            let place = places
                .entry((field, path))
                .or_insert_with_key(|(field, path)| {
                    let name = spec.schema.fields.get(*field).map(|field| &field.name);
                    let tokens = name.into_iter().chain(path);
                    Place {
                        field: *field,
                        path: path.clone().into(),
                        written: tokens.map(SmolStr::as_str).collect::<Vec<_>>().join("."),
                        members: Looked::default(),
                        texts: Looked::default(),
                    }
                });
            if let Some(name) = member {
                place.members.look_for(name);
            }
            for text in texts {
                place.texts.look_for(text);
            }
        });
        Names {
            places: places.into_values().collect(),
        }
    }

    /// Returns the same names, none of which was found.
    pub(super) fn unused(&self) -> Names {
        let places = self.places.iter().map(|place| Place {
            field: place.field,
            path: place.path.clone(),
            written: place.written.clone(),
            members: place.members.unused(),
            texts: place.texts.unused(),
        });
        Names {
            places: places.collect(),
        }
    }

    /// Takes note of the names of a step. The cells of deferred texts mean nothing.
    fn note(&self, step: &Step, deferred: &[DeferredText]) {
        for place in &self.places {
            if !place.members.is_missing() && !place.texts.is_missing() {
                continue;
            }
            let Some(Cell::Known(value)) = step.cells.get(place.field) else {
                continue;
            };
            if deferred.iter().any(|text| text.field == place.field) {
                continue;
            }
            let found = place
                .path
                .iter()
                .try_fold(value, |value, name| match value {
                    Value::Object(object) => object.get(name),
                    _ => None,
                });
            match found {
                Some(Value::Object(object)) => place.members.note(
                    |name| object.get(name).is_some(),
                    || object.iter().map(|(name, _)| name),
                ),
                Some(Value::String(text)) if text.len() <= LONGEST => {
                    place.texts.note(|name| name == text, || [text].into_iter());
                }
                _ => {}
            }
        }
    }

    /// Returns the names that no step had so far, each with a similar one in its place, if there is one.
    pub(super) fn unseen(&self) -> Vec<UnseenName> {
        let mut unseen = Vec::new();
        for Place {
            written,
            members,
            texts,
            ..
        } in &self.places
        {
            unseen.extend(members.unseen().map(|(name, similar)| UnseenName {
                name: format!("{written}.{name}"),
                similar: similar.map(|similar| format!("{written}.{similar}")),
            }));
            unseen.extend(texts.unseen().map(|(text, similar)| UnseenName {
                name: format!("{written} == {text:?}"),
                similar: similar.map(|similar| format!("{written} == {similar:?}")),
            }));
        }
        unseen
    }
}

impl Looked {
    fn look_for(&mut self, name: SmolStr) {
        if self.names.iter().all(|(known, _)| *known != name) {
            self.names.push((name, AtomicBool::new(false)));
        }
    }

    fn unused(&self) -> Looked {
        let names = self.names.iter();
        Looked {
            names: names
                .map(|(name, _)| (name.clone(), AtomicBool::new(false)))
                .collect(),
            others: RwLock::default(),
        }
    }

    fn missing(&self) -> impl Iterator<Item = &(SmolStr, AtomicBool)> {
        let names = self.names.iter();
        names.filter(|(_, found)| !found.load(Ordering::Relaxed))
    }

    fn is_missing(&self) -> bool {
        self.missing().next().is_some()
    }

    /// Takes note of a value that has some names.
    fn note<'v, I: Iterator<Item = &'v SmolStr>>(
        &self,
        has: impl Fn(&SmolStr) -> bool,
        all: impl FnOnce() -> I,
    ) {
        for (_, found) in self.missing().filter(|(name, _)| has(name)) {
            found.store(true, Ordering::Relaxed);
        }
        if !self.is_missing() {
            return;
        }
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let new = |name: &&SmolStr| others.len() <= MOST && !others.contains(*name);
        let new: Vec<SmolStr> = all().filter(new).cloned().collect();
        drop(others);
        if !new.is_empty() {
            let mut others = self.others.write().unwrap_or_else(PoisonError::into_inner);
            others.extend(new);
        }
    }

    /// Returns the names that were not found, each with a similar one that nobody looked for.
    fn unseen(&self) -> impl Iterator<Item = (&SmolStr, Option<SmolStr>)> {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let mut others: Vec<SmolStr> = match others.len() > MOST {
            true => Vec::new(),
            false => others.iter().cloned().collect(),
        };
        others.retain(|other| self.names.iter().all(|(name, _)| name != other));
        others.sort_unstable();
        self.missing().map(move |(name, _)| {
            let similar = misspelling_of(name, others.iter().map(SmolStr::as_str));
            (name, similar.map(SmolStr::new))
        })
    }
}

/// Returns the texts that a constant expression holds.
fn constants(spec: &Spec, id: ExprId) -> Vec<SmolStr> {
    fn texts<'v>(values: impl IntoIterator<Item = &'v Value>) -> Vec<SmolStr> {
        let texts = values.into_iter().filter_map(|value| match value {
            Value::String(text) => Some(text.clone()),
            _ => None,
        });
        texts.collect()
    }
    match spec.exprs.get(id) {
        Expr::Const(Value::List(values)) => texts(&**values),
        Expr::Const(Value::Set(values)) => texts(values),
        Expr::Const(value) => texts([value]),
        Expr::List(items) | Expr::Set(items) => items
            .iter()
            .flat_map(|item| constants(spec, *item))
            .collect(),
        _ => Vec::new(),
    }
}

/// Returns the field that an expression reads, and the members on the way.
fn place(spec: &Spec, id: ExprId) -> Option<(usize, Vec<SmolStr>)> {
    let (of, name) = match spec.exprs.get(id) {
        Expr::Field(field) => return Some((*field, Vec::new())),
        Expr::Cast(of) | Expr::Coalesce(of, _) => return place(spec, *of),
        Expr::Member(of, name) => (*of, name.clone()),
        Expr::Index(of, at) => (*of, constants(spec, *at).pop()?),
        _ => return None,
    };
    let (field, mut path) = place(spec, of)?;
    path.push(name);
    Some((field, path))
}

/// A judge of traces whose names are taken note of.
pub(super) struct Noting<'a, J> {
    pub(super) judge: &'a J,
    pub(super) names: &'a Names,
}

impl<J: Judge> Judge for Noting<'_, J> {
    type Open = J::Open;
    type Report = J::Report;
    const DEFERS: bool = J::DEFERS;

    fn judge(&self, record: Record, texts: Deferred<'_>, wanted: &Wanted) -> Option<J::Report> {
        let mut places = texts.places;
        for (at, step) in record.steps.iter().enumerate() {
            let here = places.partition_point(|place| place.step <= at);
            let (deferred, later) = places.split_at(here);
            self.names.note(step, deferred);
            places = later;
        }
        self.judge.judge(record, texts, wanted)
    }

    fn open(&self, first: &Event) -> J::Open {
        self.judge.open(first)
    }

    fn push(&self, open: &mut J::Open, event: Event) {
        for step in &event.steps {
            self.names.note(step, &[]);
        }
        self.judge.push(open, event);
    }

    fn finish(
        &self,
        open: J::Open,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<J::Report> {
        self.judge.finish(open, complete, index, wanted)
    }
}
