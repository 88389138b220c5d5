//! Scopes, and the values in them at a moment.

use std::path::Path;

use super::messages::{Scope, Variable};
use super::recording::{Recording, SHOWN};
use super::stops::words;
use crate::ids::PropertyId;
use crate::input_schema::Field;
use crate::replay::Watch;
use crate::source::Span;
use crate::value::{Cell, Truth, Value};

/// Something that contains variables. The client refers to it by number until the session moves.
#[derive(Clone, Debug)]
pub(super) enum Container {
    Event,
    Record,
    Clock,
    Predicates,
    Definitions,
    Tracks,
    Properties,
    /// One property: its verdict, its automaton, its conditions.
    Property(PropertyId),
    /// A list, set or object.
    Value(Value),
}

const SCOPES: [(Container, &str, Option<&str>); 7] = [
    (Container::Event, "Event", Some("locals")),
    (Container::Predicates, "Predicates", None),
    (Container::Definitions, "Definitions", None),
    (Container::Tracks, "Tracks", None),
    (Container::Clock, "Clock", None),
    (Container::Properties, "Properties", None),
    (Container::Record, "Record", None),
];

/// The containers that the client may request.
#[derive(Debug, Default)]
pub(super) struct Containers {
    all: Vec<Container>,
}

impl Containers {
    /// Removes all containers after the session has moved.
    pub(super) fn clear(&mut self) {
        self.all.clear();
    }

    fn add(&mut self, container: Container) -> usize {
        self.all.push(container);
        self.all.len()
    }

    /// Returns the scopes at a moment; those without variables are left out.
    pub(super) fn scopes(&mut self, recording: &Recording, at: usize) -> Vec<Scope> {
        let mut scopes = Vec::new();
        for (container, name, presentation_hint) in SCOPES {
            let named_variables = self.variables_of(recording, at, &container).len();
            if named_variables > 0 {
                scopes.push(Scope {
                    name,
                    presentation_hint,
                    variables_reference: self.add(container),
                    named_variables,
                    expensive: false,
                });
            }
        }
        scopes
    }

    /// Returns the variables in a container; `None` if the client may not refer to it.
    pub(super) fn variables(
        &mut self,
        recording: &Recording,
        at: usize,
        reference: usize,
    ) -> Option<Vec<Variable>> {
        let container = self.all.get(reference.checked_sub(1)?)?.clone();
        Some(self.variables_of(recording, at, &container))
    }

    /// Returns a value as a variable.
    pub(super) fn variable(
        &mut self,
        recording: &Recording,
        name: impl Into<String>,
        cell: &Cell,
    ) -> Variable {
        let size = match cell {
            Cell::Known(Value::List(items)) => items.len(),
            Cell::Known(Value::Set(items)) => items.len(),
            Cell::Known(Value::Object(object)) => object.len(),
            _ => 0,
        };
        let is_object = matches!(cell, Cell::Known(Value::Object(_)));
        Variable {
            name: name.into(),
            value: recording.timeline.text(cell, SHOWN.value),
            ty: None,
            evaluate_name: None,
            variables_reference: match cell {
                Cell::Known(value) if size > 0 => self.add(Container::Value(value.clone())),
                _ => 0,
            },
            indexed_variables: (size > 0 && !is_object).then_some(size),
        }
    }

    /// Returns a declared value as a variable. A value of the spec can be evaluated by its name. A value of a module is shown
    /// with the name of its file, because its name in the spec depends on the imports.
    fn named(
        &mut self,
        recording: &Recording,
        name: &str,
        declared: Span,
        cell: &Cell,
    ) -> Variable {
        if declared.file == recording.timeline.spec().outline.file {
            return Variable {
                evaluate_name: Some(name.to_owned()),
                ..self.variable(recording, name, cell)
            };
        }
        let file = recording.loaded.sources.get(declared.file);
        let module = Path::new(file.name()).file_stem().unwrap_or_default();
        self.variable(recording, format!("{}.{name}", module.display()), cell)
    }

    fn fields(
        &mut self,
        recording: &Recording,
        fields: &[Field],
        cells: &[Cell],
        prefix: &str,
    ) -> Vec<Variable> {
        let all = fields.iter().zip(cells);
        all.map(|(field, cell)| Variable {
            ty: Some(field.ty.to_string()),
            evaluate_name: Some(format!("{prefix}{}", field.name)),
            ..self.variable(recording, field.name.as_str(), cell)
        })
        .collect()
    }

    fn variables_of(
        &mut self,
        recording: &Recording,
        at: usize,
        container: &Container,
    ) -> Vec<Variable> {
        let timeline = &recording.timeline;
        let spec = timeline.spec();
        match container {
            Container::Event => match timeline.step(at) {
                Some(step) => self.fields(recording, &spec.schema.fields, &step.cells, ""),
                None => Vec::new(),
            },
            Container::Record => {
                let meta = &timeline.record().meta;
                self.fields(recording, &spec.schema.meta, meta, "meta.")
            }
            Container::Clock => clock(recording, at),
            Container::Predicates | Container::Definitions => {
                let predicates = matches!(container, Container::Predicates);
                let all = spec.outline.values.iter().enumerate();
                let own = all.filter(|(_, value)| value.is_predicate == predicates);
                own.filter_map(|(place, value)| {
                    let cell = timeline.value(Watch::Definition(place), at)?;
                    Some(self.named(recording, &value.name, value.span, cell))
                })
                .collect()
            }
            Container::Tracks => {
                let all = timeline.watches().into_iter();
                all.filter_map(|(watch, name, whole)| match watch {
                    Watch::Track(_) => {
                        Some(self.named(recording, &name, whole, timeline.value(watch, at)?))
                    }
                    _ => None,
                })
                .collect()
            }
            Container::Properties => (0..spec.properties.len())
                .map(PropertyId::new)
                .map(|property| self.property(recording, property, at))
                .collect(),
            Container::Property(property) => about_property(recording, *property, at),
            Container::Value(value) => self.members(recording, value),
        }
    }

    /// Returns the verdict on a property, with the state of its automaton.
    fn property(&mut self, recording: &Recording, property: PropertyId, at: usize) -> Variable {
        let timeline = &recording.timeline;
        let name = timeline.spec().property(property).name.to_string();
        let verdict = timeline.verdict(property, at);
        let since = (0..=at)
            .rev()
            .take_while(|at| timeline.verdict(property, *at) == verdict);
        let since = since.last().filter(|_| verdict.is_final());
        let mut value = words(verdict);
        match since.and_then(|since| timeline.step(since)) {
            Some(step) => value.push_str(&format!(" since step {}", step.index)),
            None if verdict.is_final() => value.push_str(" by the end of the trace"),
            None => {}
        }
        if let Some((state, n_states)) = timeline.state(property, at) {
            value.push_str(&format!(", state {state} of {n_states}"));
        }
        Variable {
            evaluate_name: Some(name.clone()),
            name,
            value,
            ty: None,
            variables_reference: self.add(Container::Property(property)),
            indexed_variables: None,
        }
    }

    fn members(&mut self, recording: &Recording, value: &Value) -> Vec<Variable> {
        let known = |value: &Value| Cell::Known(value.clone());
        match value {
            Value::List(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(place, item)| self.variable(recording, place.to_string(), &known(item)))
                    .collect()
            }
            Value::Set(items) => {
                let items = items.iter().enumerate();
                items
                    .map(|(place, item)| self.variable(recording, place.to_string(), &known(item)))
                    .collect()
            }
            Value::Object(object) => object
                .iter()
                .map(|(name, member)| self.variable(recording, name.as_str(), &known(member)))
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// Returns the parts of a property: verdict, automaton, conditions.
fn about_property(recording: &Recording, property: PropertyId, at: usize) -> Vec<Variable> {
    let timeline = &recording.timeline;
    let mut all = vec![plain("verdict", words(timeline.verdict(property, at)))];
    if let Some((state, n_states)) = timeline.state(property, at) {
        all.push(plain("state", state.to_string()));
        all.push(plain("states", n_states.to_string()));
    }
    let spec = timeline.spec();
    for (text, truth) in timeline.conditions(spec.property(property), at) {
        let truth = match truth {
            Truth::True => "true",
            Truth::False => "false",
            Truth::Unknown => "unknown",
        };
        all.push(Variable {
            evaluate_name: Some(text.to_string()),
            ..plain(&text, truth.to_owned())
        });
    }
    all
}

/// Returns the time of a moment, and the differences to other times.
fn clock(recording: &Recording, at: usize) -> Vec<Variable> {
    let timeline = &recording.timeline;
    let fields = &timeline.spec().schema;
    let Some(field) = fields.clock.and_then(|clock| fields.fields.get(clock)) else {
        return Vec::new();
    };
    let text = |value: Value| timeline.text(&Cell::Known(value), SHOWN.value);
    let since_start = timeline.elapsed(0, at);
    let before = at.checked_sub(1);
    let since_before = before.and_then(|before| timeline.elapsed(before, at));
    let now = timeline.clock(at).cloned();
    [
        (field.name.as_str(), now),
        ("since the first step", since_start),
        ("since the step before", since_before),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some(plain(name, text(value?))))
    .collect()
}

fn plain(name: &str, value: String) -> Variable {
    Variable {
        name: name.to_owned(),
        value,
        ty: None,
        evaluate_name: None,
        variables_reference: 0,
        indexed_variables: None,
    }
}
