//! Observation of values step by step, for abstractions of states, with the same code as judging.

use super::program::Program;
use super::report;
use super::run::StepView;
use super::trace::{TraceSource, TraceState};
use super::watch::Watch;
use crate::ids::PropertyId;
use crate::input::record::Step;
use crate::problem::Problem;
use crate::value::{Cell, Truth, Value};
use crate::verdict::Verdict;

/// A trace that is observed, not judged. Its properties are stepped, so that the states of their monitors can be read.
#[derive(Debug)]
pub struct Observer<'p> {
    state: TraceState<'p>,
}

/// The observable state after a step: the values of observed expressions, and the states of monitors.
#[derive(Debug)]
pub struct Observation<'a, 'g> {
    view: &'a mut StepView<'g>,
}

/// The result of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed<T> {
    /// `where` is false: the event is not a step, and nothing has changed.
    NoStep,
    /// It is unknown whether the event is a step, or the trace has several readings.
    Ambiguous,
    /// The event is a step, with this observation.
    Step(T),
}

impl Program {
    /// Begins the observation of a trace.
    pub fn observe(&self, source: TraceSource) -> Observer<'_> {
        Observer {
            state: self.open(source),
        }
    }

    /// Returns the value of an observed expression before the first event, if it reads no event.
    pub fn initially(&self, place: usize, meta: &[Cell]) -> Cell {
        match self.compiled.observed.get(place) {
            Some(node) => self.outside(meta, |eval| eval.cell(*node)),
            None => Cell::Unknown,
        }
    }
}

impl Observer<'_> {
    /// Reads an event and observes the state after it.
    pub fn step<T>(
        &mut self,
        step: &Step,
        look: impl FnOnce(&mut Observation<'_, '_>) -> T,
    ) -> Observed<T> {
        let state = &mut self.state;
        state.wake();
        let mut seen = None;
        let is_step = state.run.advance(
            state.program,
            &state.source.meta,
            &mut state.cache,
            step,
            None,
            |view| seen = Observation::new(view).map(|mut at| look(&mut at)),
        );
        if !is_step {
            state.forget_problems(step.index);
            return Observed::NoStep;
        }
        seen.map_or(Observed::Ambiguous, Observed::Step)
    }

    /// Returns the tables to the pool until the next step.
    pub fn rest(&mut self) {
        self.state.rest();
    }

    /// Adds problems of the data.
    pub fn note(&mut self, problems: impl IntoIterator<Item = Problem>) {
        self.state.note(problems);
    }

    /// Returns the name of the trace.
    pub fn name(&self) -> &smol_str::SmolStr {
        self.state.name()
    }

    /// Ends the trace and returns the problems of its data.
    pub fn finish(mut self) -> Vec<Problem> {
        report::problems(&mut self.state)
    }
}

impl<'a, 'g> Observation<'a, 'g> {
    /// Observes a step; returns `None` if the trace has several readings.
    pub fn new(view: &'a mut StepView<'g>) -> Option<Observation<'a, 'g>> {
        (view.run.worlds.len() == 1).then_some(Observation { view })
    }

    /// Whether an observed condition holds.
    #[inline]
    pub fn truth(&mut self, place: usize) -> Truth {
        let Some(node) = self.view.program.observed.get(place) else {
            return Truth::Unknown;
        };
        self.view
            .with_eval(&[], |eval| eval.letter(*node))
            .unwrap_or(Truth::Unknown)
    }

    /// Returns the value of an observed expression, or `None` if it is unknown.
    #[inline]
    pub fn value<T>(&mut self, place: usize, read: impl FnOnce(Option<&Value>) -> T) -> Option<T> {
        let node = self.view.program.observed.get(place)?;
        self.view
            .with_eval(&[], |eval| eval.with_value(*node, read))
    }

    /// Returns the state of a property's automaton, or `None` if an unknown letter leaves several states.
    pub fn monitor(&self, property: usize) -> Option<u32> {
        let watch = self.view.run.worlds.first()?.watches.get(property)?;
        let Watch::Plain { state_set, .. } = watch else {
            return None;
        };
        self.view
            .program
            .dfa(PropertyId::new(property))
            .filter(|dfa| (*state_set as usize) < dfa.len())
            .map(|_| *state_set)
    }

    /// Returns the verdict on a property after this step.
    pub fn verdict(&self, property: PropertyId) -> Verdict {
        self.view.verdict(property)
    }

    /// Whether a property is violated for good.
    pub fn violated(&self, property: usize) -> Truth {
        let StepView {
            run,
            program,
            cache,
            ..
        } = &*self.view;
        run.violated(program, &cache.state_sets, property)
    }
}
