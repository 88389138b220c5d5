//! A compiled spec, with pools of the caches that stepping traces needs.

use std::sync::{Arc, OnceLock};

use super::automata::{Automata, KeptAutomata};
use super::classes::TransitionCache;
use super::compile::compile;
use super::compiled::Compiled;
use super::limits::{LimitError, Limits};
use super::world::{Cache, World};
use crate::hir::Spec;
use crate::ids::{ExprId, PropertyId};
use crate::pool::{Pool, PoolGuard};
use guard_automata::Dfa;

/// The greatest number of caches kept for later traces. More are in use at once only if traces are spread over lines.
const MOST_CACHES: usize = 64;

/// A spec compiled for judging: an evaluator table for its expressions, an automaton for each formula.
///
/// Compiled once and shared between threads; immutable while traces are judged. The mutable state of stepping is in a
/// [`Cache`] for each trace and a [`TransitionCache`] for each thread, both from pools.
#[derive(Debug)]
pub struct Program {
    pub(super) compiled: Compiled,
    /// A trace without events.
    first: OnceLock<World>,
    /// Caches of event classes, for the next thread that steps; about one for each thread.
    transitions: Pool<TransitionCache>,
    /// Caches for the traces that are open.
    caches: Pool<Cache>,
}

impl Program {
    /// Compiles a spec.
    ///
    /// # Errors
    /// [`LimitError`], if a formula exceeds all limits.
    pub fn compile(spec: &Spec, limits: &Limits) -> Result<Program, LimitError> {
        let spec = Arc::new(spec.clone());
        Program::new(spec, &[], limits, false, &KeptAutomata::default())
    }

    /// Compiles a spec with expressions that are observed after each step (see [`Program::observe`]).
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn observing(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
    ) -> Result<Program, LimitError> {
        Program::new(spec, observed, limits, false, &KeptAutomata::default())
    }

    /// Compiles a spec for live runs: with its `enforce` clauses, and with expressions for [observations](super::Observation).
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn compile_live(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
    ) -> Result<Program, LimitError> {
        Program::compile_live_with(spec, observed, limits, &KeptAutomata::default())
    }

    /// Compiles as [`Program::compile_live`], with automata that were built before.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn compile_live_with(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
        kept: &KeptAutomata,
    ) -> Result<Program, LimitError> {
        Program::new(spec, observed, limits, true, kept)
    }

    fn new(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
        live: bool,
        kept: &KeptAutomata,
    ) -> Result<Program, LimitError> {
        let mut automata = Automata::new(limits, kept);
        Ok(Program {
            compiled: compile(spec, observed, limits, live, &mut automata)?,
            first: OnceLock::new(),
            transitions: Pool::new(usize::MAX),
            caches: Pool::new(MOST_CACHES),
        })
    }

    /// Takes a cache of event classes from the pool.
    pub(super) fn transitions(&self) -> PoolGuard<TransitionCache> {
        self.transitions.get(TransitionCache::default)
    }

    /// Returns a reset cache for one trace.
    pub(super) fn cache(&self) -> PoolGuard<Cache> {
        self.caches.get(|| Cache::new(&self.compiled))
    }

    /// Returns the meta fields, by number, that must be known before a trace is opened.
    pub fn step_facts(&self) -> &[usize] {
        &self.compiled.step_facts
    }

    /// Returns the limits in force.
    pub fn limits(&self) -> &Limits {
        &self.compiled.limits
    }

    /// Returns the spec that was compiled.
    pub fn spec(&self) -> &Spec {
        &self.compiled.spec
    }

    /// Returns a trace without events. Traces share everything that events do not change.
    pub(super) fn first_world(&self) -> World {
        self.first
            .get_or_init(|| World::new(&self.compiled))
            .clone()
    }

    /// Returns the automaton of a property, or `None` if it has none (bounds in time) or is quantified.
    pub fn dfa(&self, property: PropertyId) -> Option<&Dfa> {
        self.compiled.dfa(property)
    }
}
