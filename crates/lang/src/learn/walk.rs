//! A trace as a walk through a state space.

use std::sync::Arc;

use smol_str::{SmolStr, format_smolstr};

use crate::abstraction::{Key, ObservedState, Space};
use crate::audit::Judge;
use crate::eval::{LimitError, Limits, Observed, Observer, Program, TraceSource, Wanted};
use crate::hir::Spec;
use crate::ids::ExprId;
use crate::input::deferred::Deferred;
use crate::input::record::{Event, Origin, Record, Step};
use crate::problem::{Problem, ProblemKind};
use crate::value::{Cell, Value};

/// The walk of a trace through the state space.
#[derive(Clone, Debug)]
pub struct Walk {
    /// The trace.
    pub trace: SmolStr,
    /// The origin of the record.
    pub origin: Origin,
    /// The value of `by`; `None` without `by`, or if it is unknown.
    pub category: Option<SmolStr>,
    /// The states after its steps, in order.
    pub keys: Vec<Key>,
    /// The index in the record of each of these steps.
    pub steps: Vec<u32>,
    /// The end of the walk.
    pub ending: Ending,
    /// The problems of its data.
    pub problems: Vec<Problem>,
}

/// The end of a walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The trace is complete.
    Complete,
    /// The trace was cut off, or continues.
    Censored,
    /// The state after the last known one is unknown.
    Unknown,
}

/// Reads traces as walks; used with [`audit::visit`](crate::audit::visit).
#[derive(Debug)]
pub struct Walker<'s> {
    space: &'s Space,
    categories: Categories,
}

/// Assigns traces to categories by facts of their records.
#[derive(Debug)]
pub(crate) struct Categories {
    spec: Arc<Spec>,
    /// ChainPosition of `by` in `outside`.
    by: Option<Program>,
}

impl Categories {
    /// Compiles an expression over fields of the record; without an expression there are no categories.
    ///
    /// # Errors
    /// If `by` exceeds the limits on expressions.
    pub(crate) fn new(
        spec: &Arc<Spec>,
        by: Option<ExprId>,
        limits: &Limits,
    ) -> Result<Self, LimitError> {
        let program = |by| {
            let mut spec = Spec::clone(spec);
            spec.properties.clear();
            spec.tests.clear();
            Program::observing(Arc::new(spec), &[by], limits)
        };
        Ok(Categories {
            spec: Arc::clone(spec),
            by: by.map(program).transpose()?,
        })
    }

    /// Returns the category of a record with these facts. Returns `None` without `by`, or if it is unknown.
    pub(crate) fn of(&self, meta: &[Cell]) -> Option<SmolStr> {
        match self.by.as_ref()?.initially(0, meta) {
            Cell::Known(Value::String(text)) => Some(text.to_smol()),
            Cell::Known(Value::Null) => Some(SmolStr::new_static("null")),
            Cell::Known(Value::Enum(value)) => {
                let of = self.spec.enums.get(usize::from(value.of))?;
                of.values.get(usize::from(value.index)).cloned()
            }
            Cell::Known(value) => Some(format_smolstr!("{value}")),
            Cell::Unknown => None,
        }
    }
}

/// A trace that is being read.
#[derive(Debug)]
pub struct Walking<'s> {
    observer: Observer<'s>,
    origin: Origin,
    keys: Vec<Key>,
    steps: Vec<u32>,
    lost: bool,
}

impl<'s> Walker<'s> {
    /// Returns a walker through a space. `by` gives the category of a trace.
    ///
    /// # Errors
    /// If `by` exceeds the limits on expressions.
    pub(crate) fn new(
        space: &'s Space,
        by: Option<ExprId>,
        limits: &Limits,
    ) -> Result<Walker<'s>, LimitError> {
        Ok(Walker {
            space,
            categories: Categories::new(space.spec(), by, limits)?,
        })
    }

    fn begin(&self, source: TraceSource) -> Walking<'s> {
        Walking {
            origin: source.origin.clone(),
            observer: self.space.program().observe(source),
            keys: Vec::new(),
            steps: Vec::new(),
            lost: false,
        }
    }

    fn end(&self, walking: Walking<'s>, meta: &[Cell], complete: bool) -> Walk {
        let category = self.categories.of(meta);
        let ending = match (walking.lost, complete) {
            (true, _) => Ending::Unknown,
            (false, true) => Ending::Complete,
            (false, false) => Ending::Censored,
        };
        Walk {
            trace: walking.observer.name().clone(),
            origin: walking.origin,
            category,
            keys: walking.keys,
            steps: walking.steps,
            ending,
            problems: walking.observer.finish(),
        }
    }
}

impl Walking<'_> {
    fn step(&mut self, space: &Space, step: &Step) {
        if self.lost {
            return;
        }
        let observed = self.observer.step(step, |look| match space.encode(look) {
            ObservedState::NoStep => Ok(None),
            ObservedState::One(key) => Ok(Some(key)),
            ObservedState::Several(_) | ObservedState::Unknown => Err(space.why_unknown(look)),
        });
        let why = match observed {
            Observed::NoStep | Observed::Step(Ok(None)) => return,
            Observed::Step(Ok(Some(key))) => {
                self.keys.push(key);
                self.steps.push(step.index);
                return;
            }
            Observed::Step(Err(why)) => why,
            Observed::Ambiguous => "it is unknown which events are steps".to_owned(),
        };
        self.lost = true;
        let Origin { file, line, .. } = &self.origin;
        let message =
            format!("the state is not known, and the rest of the trace is left out: {why}");
        let problem = Problem::new(ProblemKind::Odd, file, *line, message)
            .in_trace(Some(self.observer.name().clone()))
            .at_step(Some(step.index), None);
        self.observer.note([problem]);
    }
}

impl<'s> Judge for Walker<'s> {
    type Open = Walking<'s>;
    type Report = Walk;

    fn judge(&self, record: Record, _: Deferred<'_>, _: &Wanted) -> Option<Walk> {
        let program = self.space.program();
        let complete = program.completeness(&record.meta, record.complete.unwrap_or(true))?;
        let meta = record.meta.clone();
        let mut walking = self.begin(TraceSource {
            origin: record.origin,
            id: record.id,
            meta: record.meta,
        });
        walking.keys.reserve(record.steps.len());
        walking.observer.note(record.problems);
        for step in &record.steps {
            walking.step(self.space, step);
        }
        Some(self.end(walking, &meta, complete))
    }

    fn facts(&self) -> &[usize] {
        self.space.program().step_facts()
    }

    fn open(&self, source: TraceSource) -> Walking<'s> {
        self.begin(source)
    }

    fn push(&self, open: &mut Walking<'s>, mut event: Event) {
        for problem in &mut event.problems {
            let name = || open.observer.name().clone();
            problem.trace.get_or_insert_with(name);
        }
        open.observer.note(event.problems);
        for step in &event.steps {
            open.step(self.space, step);
        }
        open.observer.rest();
    }

    fn finish(
        &self,
        open: Walking<'s>,
        meta: Box<[Cell]>,
        complete: bool,
        _: u64,
        _: &Wanted,
    ) -> Option<Walk> {
        let complete = self.space.program().completeness(&meta, complete)?;
        Some(self.end(open, &meta, complete))
    }
}
