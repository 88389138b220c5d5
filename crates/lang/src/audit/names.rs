//! Names and values that the properties of a spec look for and events have in another form: names that no event has, although events have similar ones
//! (a rule over a misspelt tool or argument is satisfied by every trace), tools in another spelling, and values of other kinds than
//! the constants that they are compared with.
//!
//! Looked for are members of objects (`args.path`) and texts that a value is compared with (`tool == "rm"`, `tool in {"rm", "mv"}`).
//!
//! # Complexity
//! A step costs one lookup for each name that no event has had so far, one for each other name beside it, and one for each place of
//! which no value had the kind of a constant; and one for its tool. Else nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{PoisonError, RwLock};

use smol_str::SmolStr;

use super::Judge;
use crate::diagnostic::misspelling_of;
use crate::eval::{TraceSource, Wanted};
use crate::hash::SeededSet;
use crate::hir::Spec;
use crate::hir::compared::{self, Place};
use crate::input::deferred::{Deferred, DeferredText};
use crate::input::record::{Event, Record, Step};
use crate::report::{ComparedKinds, OtherSpelling, Summary, UnseenName};
use crate::texts::exact_names;
use crate::value::{Cell, JsonKind, Value};

/// The number of different names in one place that are kept to find a similar one. Where there are more, they are data, not
/// names.
const MOST: usize = 4096;

/// Longer texts are data, not names.
const LONGEST: usize = 64;

/// The names that a spec looks for, and those that events have in the same places.
#[derive(Debug, Default)]
pub(super) struct Names {
    places: Vec<Noted>,
}

/// A place, and the notes on it.
#[derive(Debug)]
struct Noted {
    place: Place,
    members: Looked,
    texts: Looked,
    /// The kinds of its values, as bits, as long as none was equal in kind to a constant.
    kinds: AtomicU8,
    spellings: Option<Spellings>,
}

impl Names {
    /// Returns the names that the properties of a spec look for.
    pub(super) fn new(spec: &Spec) -> Names {
        let properties = spec.properties.iter();
        let roots = properties
            .clone()
            .flat_map(|property| spec.roots_of(property));
        let tool = compared::field_of(spec, "tool");
        let together: Vec<Place> = properties
            .flat_map(|property| compared::places(spec, spec.roots_of(property)))
            .collect();
        let noted = compared::places(spec, roots)
            .into_iter()
            .map(|place| Noted {
                members: Looked::new(&place, &together, |place| &place.members),
                texts: Looked::new(&place, &together, |place| &place.texts),
                kinds: AtomicU8::new(0),
                spellings: (tool == Some(place.field) && place.path.is_empty())
                    .then(|| Spellings::new(&place.texts)),
                place,
            });
        Names {
            places: noted.collect(),
        }
    }

    /// Returns the same names, none of which was found.
    pub(super) fn unused(&self) -> Names {
        let places = self.places.iter().map(|noted| Noted {
            place: noted.place.clone(),
            members: noted.members.unused(),
            texts: noted.texts.unused(),
            kinds: AtomicU8::new(0),
            spellings: (noted.spellings.as_ref()).map(|_| Spellings::new(&noted.place.texts)),
        });
        Names {
            places: places.collect(),
        }
    }

    /// Takes note of the names of a step. The cells of deferred texts mean nothing.
    fn note(&self, step: &Step, deferred: &[DeferredText]) {
        for noted in self.places.iter().filter(|noted| noted.is_open()) {
            let is_deferred = |text: &DeferredText| text.field == noted.place.field;
            if deferred.iter().any(is_deferred) {
                continue;
            }
            let Some(value) = noted.place.value(&step.cells) else {
                continue;
            };
            if let Some(kind) = value.json_kind() {
                noted.kinds.fetch_or(bit(kind), Ordering::Relaxed);
            }
            match value {
                Value::Object(object) => noted.members.note(
                    |name| object.get(name).is_some(),
                    || object.iter().map(|(name, _)| name),
                ),
                Value::String(text) if !text.is_longer(LONGEST) => {
                    let text = &text.to_smol();
                    (noted.texts).note(|name| name == text, || [text].into_iter());
                    if let Some(spellings) = &noted.spellings {
                        spellings.note(text);
                    }
                }
                _ => {}
            }
        }
    }

    /// Adds to a summary the names that no step had so far, each with a similar one in its place, if there is one; tools in other
    /// spellings; and the kinds of values that are compared with constants.
    pub(super) fn summarize(&self, summary: &mut Summary) {
        for noted in &self.places {
            let (written, expected) = (&noted.place.written, &noted.place.kinds);
            let names = noted.members.unseen().map(|(name, similar)| UnseenName {
                name: format!("{written}.{name}"),
                similar: similar.map(|similar| format!("{written}.{similar}")),
            });
            summary.unseen_names.extend(names);
            let is = |text: &SmolStr| format!("{written} == {text:?}");
            let texts = noted.texts.unseen().map(|(text, similar)| UnseenName {
                name: is(text),
                similar: similar.as_ref().map(is),
            });
            summary.unseen_names.extend(texts);
            let spellings = noted.spellings.iter().flat_map(Spellings::found);
            let spellings = spellings.map(|(found, name)| OtherSpelling {
                name: is(&name),
                found: is(&found),
            });
            summary.other_spellings.extend(spellings);
            let found = noted.kinds.load(Ordering::Relaxed);
            if !expected.is_empty() {
                let found = JsonKind::ALL
                    .into_iter()
                    .filter(|kind| found & bit(*kind) != 0);
                summary.compared_kinds.push(ComparedKinds {
                    name: written.clone(),
                    expected: expected.clone(),
                    found: found.collect(),
                });
            }
        }
    }
}

/// Returns the bit of a kind.
fn bit(kind: JsonKind) -> u8 {
    1 << kind as u8
}

impl Noted {
    /// Whether a further step may tell something about the place.
    fn is_open(&self) -> bool {
        let found = self.kinds.load(Ordering::Relaxed);
        let expected = &self.place.kinds;
        let met = expected.iter().any(|kind| found & bit(*kind) != 0);
        self.spellings.is_some()
            || self.members.is_missing()
            || self.texts.is_missing()
            || !(expected.is_empty() || met)
    }
}

/// Tools that differ from a name of the spec in spelling alone.
#[derive(Debug)]
struct Spellings {
    names: exact_names::Names,
    /// The texts that were seen, each with the name of the spec that it is spelt like.
    seen: RwLock<BTreeMap<SmolStr, Option<SmolStr>>>,
}

impl Spellings {
    fn new(names: &[SmolStr]) -> Spellings {
        Spellings {
            names: exact_names::Names::new(names.to_vec()),
            seen: RwLock::default(),
        }
    }

    fn note(&self, text: &SmolStr) {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        if seen.len() > MOST || seen.contains_key(text) {
            return;
        }
        drop(seen);
        let like = self.names.spelt_like(text).cloned();
        let mut seen = self.seen.write().unwrap_or_else(PoisonError::into_inner);
        seen.insert(text.clone(), like);
    }

    /// Returns the texts that are no names of the spec, each with the one that it is spelt like.
    fn found(&self) -> Vec<(SmolStr, SmolStr)> {
        let seen = self.seen.read().unwrap_or_else(PoisonError::into_inner);
        let all = seen.iter();
        all.filter_map(|(text, like)| Some((text.clone(), like.clone()?)))
            .collect()
    }
}

/// The names that are looked for in one place.
#[derive(Debug)]
struct Looked {
    names: Vec<(LookedFor, AtomicBool)>,
    /// The others, as long as some name was not found.
    others: RwLock<SeededSet<SmolStr>>,
}

/// A name that is looked for.
#[derive(Clone, Debug)]
struct LookedFor {
    name: SmolStr,
    /// The names that some property looks for together with it: `tool in {"rm", "rmdir"}` means both.
    alternatives: BTreeSet<SmolStr>,
}

impl Looked {
    /// Returns the names that are looked for in a place, given the places of each property.
    fn new(place: &Place, together: &[Place], names: impl Fn(&Place) -> &[SmolStr]) -> Looked {
        let is_same = |of: &&Place| (of.field, &of.path) == (place.field, &place.path);
        let looked_for = |name: &SmolStr| {
            let of_properties = together.iter().filter(is_same).map(&names);
            let beside = of_properties.filter(|names| names.contains(name));
            LookedFor {
                name: name.clone(),
                alternatives: beside.flatten().cloned().collect(),
            }
        };
        let names = names(place).iter().map(looked_for);
        Looked {
            names: names.map(|name| (name, AtomicBool::new(false))).collect(),
            others: RwLock::default(),
        }
    }

    /// Returns the same names, none of which was found.
    fn unused(&self) -> Looked {
        let names = self.names.iter();
        Looked {
            names: names
                .map(|(name, _)| (name.clone(), AtomicBool::new(false)))
                .collect(),
            others: RwLock::default(),
        }
    }

    fn missing(&self) -> impl Iterator<Item = &(LookedFor, AtomicBool)> {
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
        for (_, found) in self.missing().filter(|(of, _)| has(&of.name)) {
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

    /// Returns the names that were not found, each with a similar one that events had, and no property looks for beside it.
    fn unseen(&self) -> impl Iterator<Item = (&SmolStr, Option<SmolStr>)> {
        let others = self.others.read().unwrap_or_else(PoisonError::into_inner);
        let mut others: Vec<SmolStr> = match others.len() > MOST {
            true => Vec::new(),
            false => others.iter().cloned().collect(),
        };
        others.sort_unstable();
        self.missing().map(move |(of, _)| {
            let is_other = |other: &&SmolStr| !of.alternatives.contains(*other);
            let others = others.iter().filter(is_other);
            let similar = misspelling_of(&of.name, others.map(SmolStr::as_str));
            (&of.name, similar.map(SmolStr::new))
        })
    }
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

    fn facts(&self) -> &[usize] {
        self.judge.facts()
    }

    fn open(&self, source: TraceSource) -> J::Open {
        self.judge.open(source)
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
        meta: Box<[Cell]>,
        complete: bool,
        index: u64,
        wanted: &Wanted,
    ) -> Option<J::Report> {
        self.judge.finish(open, meta, complete, index, wanted)
    }
}
