//! Inlay values: after each event of a test, and after each declaration for one step of a recorded trace.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde_json::Value as Json;

use super::declaration::params;
use super::hints::Hint;
use super::{Analysis, Kind, LIMITS};
use crate::audit::test_record;
use crate::eval;
use crate::hir::System;
use crate::ids::PropertyId;
use crate::replay::{self, Timeline, Watch};
use crate::source::{FileId, Span};
use crate::syntax::ast::ItemKind;
use crate::value::Cell;

/// The greatest length in bytes of a hint, and of a value in its explanation.
const HINT: usize = 120;
const VALUE: usize = 400;

/// The greatest number of steps of a test that have values.
const STEPS: usize = 200;

impl Analysis {
    /// Returns a hint after each event of the tests in a range of offsets: the predicates that are true there, what changes, and
    /// the verdicts that change on the properties that the test expects. Tests whose automata are large have none.
    pub fn given_hints(&self, within: &Range<u32>) -> Vec<Hint> {
        let Some(spec) = &self.checked.spec else {
            return Vec::new();
        };
        let tests = spec.tests.iter().enumerate().filter(|(_, test)| {
            test.span.file == FileId(0)
                && within.start <= test.span.end
                && test.span.start <= within.end
        });
        let mut hints = Vec::new();
        for (place, test) in tests {
            let Some(timeline) = self.timeline(place) else {
                continue;
            };
            for at in 0..timeline.end() {
                let place = timeline.values(at).map(|values| values.place);
                let Some(span) = place.and_then(|place| test.step_spans.get(place)) else {
                    continue;
                };
                let label = changes(&timeline, at).join("; ");
                if !label.is_empty() {
                    hints.push(Hint {
                        at: span.end,
                        label: replay::cut(label, HINT),
                        docs: all(&timeline, at),
                    });
                }
            }
        }
        hints
    }

    /// Returns a hint after the name of each predicate, definition, track and property with its value at a moment.
    pub(crate) fn value_hints(
        &self,
        timeline: &Timeline,
        at: usize,
        within: &Range<u32>,
    ) -> Vec<Hint> {
        let here = self.declarations.iter().filter(|(name, declaration)| {
            name.file == FileId(0)
                && within.start <= name.end
                && name.start <= within.end
                && matches!(
                    declaration.kind,
                    Kind::Function | Kind::Property | Kind::Field
                )
        });
        let watches = timeline.watches();
        let clock = timeline.spec().schema.clock;
        let clock = clock.and_then(|clock| timeline.spec().schema.fields.get(clock));
        let hint = |at: u32, label: String| Hint {
            at,
            label: replay::cut(label, HINT),
            docs: String::new(),
        };
        here.filter_map(|(span, declaration)| {
            let name = self.sources().slice(span);
            if declaration.kind == Kind::Field {
                let elapsed = timeline
                    .elapsed(0, at)
                    .filter(|_| clock.is_some_and(|clock| clock.name == name))?;
                let text = timeline.text(&Cell::Known(elapsed), HINT);
                return Some(hint(span.end, format!("+{text}")));
            }
            let (watch, ..) = watches.iter().find(|(watch, own, whole)| {
                let is_property = matches!(watch, Watch::Property(_));
                own == name
                    && whole.file == FileId(0)
                    && is_property == (declaration.kind == Kind::Property)
            })?;
            Some(hint(span.end, value(timeline, *watch, at)?))
        })
        .collect()
    }

    /// Returns a hint after the name of each variable of a system, or of the components of a composition, with its value in a
    /// state. `values` are by variable; those of variables that several components have are by `component.variable`.
    pub(crate) fn state_hints(
        &self,
        system: &str,
        values: &BTreeMap<String, Json>,
        within: &Range<u32>,
    ) -> Vec<Hint> {
        let Some(spec) = self.spec() else {
            return Vec::new();
        };
        let own = spec.systems.iter().find(|own| own.name == system);
        let parts = own.into_iter().flat_map(System::parts);
        let owners: Vec<&str> = parts
            .map(|part| spec.system(*part).name.as_str())
            .chain([system])
            .collect();
        let here = self.declarations.iter().filter(|(name, declaration)| {
            declaration.kind == Kind::State
                && name.file == FileId(0)
                && within.start <= name.end
                && name.start <= within.end
        });
        here.filter_map(|(span, declaration)| {
            let module = self.checked.project.modules.get(declaration.module)?;
            let owner = module.tree.items.get(declaration.item)?.kind.name()?;
            if !owners.contains(&owner.as_str()) {
                return None;
            }
            let name = self.sources().slice(span);
            let value = values.get(name);
            let value = value.or_else(|| values.get(&format!("{owner}.{name}")))?;
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            Some(Hint {
                at: span.end,
                label: replay::cut(format!("= {text}"), HINT),
                docs: String::new(),
            })
        })
        .collect()
    }

    /// Returns the names in a range of offsets that have a value at each step, with the expressions for them: fields, and
    /// declarations without parameters.
    pub fn valued(&self, within: &Range<u32>) -> Vec<(Span, String)> {
        let here = self.declarations.iter().filter(|(name, _)| {
            name.file == FileId(0) && within.start <= name.end && name.start <= within.end
        });
        here.filter_map(|(span, declaration)| {
            let name = self.sources().slice(span);
            let module = self.checked.project.modules.get(declaration.module)?;
            let item = &module.tree.items.get(declaration.item)?.kind;
            let expression = match (declaration.kind, item) {
                (Kind::Field, ItemKind::Trace(_)) => format!("meta.{name}"),
                (Kind::Property, ItemKind::Query(_)) => return None,
                (Kind::Field | Kind::Property, _) => name.to_owned(),
                (Kind::Function, item) if params(item).is_empty() => name.to_owned(),
                _ => return None,
            };
            Some((span, expression))
        })
        .collect()
    }

    /// Returns the values of a test by step, computed once.
    fn timeline(&self, test: usize) -> Option<Rc<Timeline>> {
        let mut known = self.timelines.borrow_mut();
        let timeline = known.entry(test).or_insert_with(|| {
            let spec = self.checked.spec.as_ref()?;
            let test = spec.tests.get(test)?;
            let expected: Vec<PropertyId> =
                test.expects.iter().map(|expect| expect.property).collect();
            let mut own = spec.clone();
            own.retain_properties(|id, _| expected.contains(&id));
            let eval = eval::Limits {
                automata: LIMITS,
                ..eval::Limits::default()
            };
            let shown = replay::Limits {
                steps: STEPS,
                value: VALUE,
            };
            let replay = Timeline::replay(&own, &eval, shown).ok()?;
            Timeline::new(replay, test_record(test, self.sources())).map(Rc::new)
        });
        timeline.clone()
    }
}

/// Returns the changes at a moment, and the predicates that are true.
fn changes(timeline: &Timeline, at: usize) -> Vec<String> {
    let watches = timeline.watches().into_iter();
    let mut all: Vec<String> = watches
        .filter_map(|(watch, name, _)| {
            let cell = timeline.value(watch, at);
            match watch {
                Watch::Definition(place) => {
                    let definition = timeline.spec().outline.values.get(place)?;
                    if definition.span.file != FileId(0) {
                        return None;
                    }
                    match cell? {
                        Cell::Known(crate::value::Value::Bool(holds))
                            if definition.is_predicate =>
                        {
                            holds.then(|| name.to_string())
                        }
                        Cell::Unknown if definition.is_predicate => Some(format!("{name}?")),
                        _ if timeline.begins(watch, at) => {
                            Some(format!("{name} {}", value(timeline, watch, at)?))
                        }
                        _ => None,
                    }
                }
                _ if timeline.begins(watch, at) => {
                    Some(format!("{name} {}", value(timeline, watch, at)?))
                }
                _ => None,
            }
        })
        .collect();
    let elapsed = at
        .checked_sub(1)
        .and_then(|before| timeline.elapsed(before, at));
    all.extend(elapsed.map(|elapsed| format!("+{}", timeline.text(&Cell::Known(elapsed), HINT))));
    all
}

/// Returns a value as a hint: `= 3`, or a verdict.
fn value(timeline: &Timeline, watch: Watch, at: usize) -> Option<String> {
    match watch {
        Watch::Property(property) => {
            let verdict = timeline.verdict(property, at).as_str().replace('_', " ");
            Some(match timeline.state(property, at) {
                Some((state, n_states)) => format!("{verdict}, state {state} of {n_states}"),
                None => verdict,
            })
        }
        Watch::Definition(_) | Watch::Track(_) => {
            let cell = timeline.value(watch, at)?;
            Some(format!("= {}", timeline.text(cell, VALUE)))
        }
        Watch::Step(_) => None,
    }
}

/// Returns all values at a moment, in Markdown.
fn all(timeline: &Timeline, at: usize) -> String {
    let watches = timeline.watches().into_iter();
    let lines = watches.filter_map(|(watch, name, _)| {
        let value = value(timeline, watch, at)?;
        Some(format!("{name} {value}\n"))
    });
    format!("```text\n{}```", lines.collect::<String>())
}
