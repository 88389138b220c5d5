//! Time that passes without an event, and deadlines in time.

use super::chain::window_of;
use super::shape::{Links, Number, Owed, parts, shape};
use super::{Instant, LazyDfa, LazyState, StepError, relative};
use crate::obligation::{Chain, Obligation};
use crate::program::Core;
use crate::progress::Engine;
use crate::verdict::Finality;

impl LazyDfa {
    /// Returns the state at a later instant without an event, or `None` if the state does not change. The position is that of
    /// the next event.
    ///
    /// # Errors
    /// As [`LazyDfa::step`].
    pub fn tick(
        &mut self,
        state: &LazyState,
        moment: Instant,
    ) -> Result<Option<LazyState>, StepError> {
        let is_open = state.finality == Finality::Open && !state.shape.fresh;
        if !is_open || !self.engine.program.timed {
            return Ok(None);
        }
        let now = moment.time.ok_or(StepError::TimeMissing)?;
        let position = i128::from(moment.position);
        if self.ends(state).all(|(end, _)| now <= end) {
            return Ok(None);
        }
        // After this no window of a chain ends before `now`.
        let opened = self.opened(state, position, now)?;
        let state = opened.as_ref().unwrap_or(state);
        let program = self.engine.program.clone();
        let late = |o: &Obligation| match program.nodes[o.node as usize] {
            Core::Until { window, .. } if window.timed && o.started && now > o.hi => Some(false),
            Core::Release { window, .. } if window.timed && o.started && now > o.hi => Some(true),
            _ => None,
        };
        let n_steps = state.shape.n_steps as usize;
        self.tidy_engine();
        let mut pairs = Vec::new();
        for (values, clauses) in state
            .shape
            .parts(&relative(&state.counters, n_steps, position, 0))
        {
            // A strong obligation that can only fail fails its clause; a weak one that can only hold is met. The two other
            // cases still depend on whether there is another event.
            let kept: Vec<Vec<Obligation>> = clauses
                .into_iter()
                .filter(|clause| !clause.iter().any(|o| o.strong && late(o) == Some(false)))
                .map(|mut clause| {
                    clause.retain(|o| o.strong || late(o) != Some(true));
                    clause
                })
                .collect();
            let registers = self.engine.lists.number(&values);
            let Engine {
                residuals, meter, ..
            } = &mut self.engine;
            pairs.push((registers, residuals.weakest(&program, &kept, meter)?));
        }
        let after = self.engine.configuration(pairs)?;
        let shaped = shape(&program, parts(&self.engine, after), now);
        Ok(Some(self.arrive_at(shaped, state, position - 1, now)?.0))
    }

    /// Returns the earliest deadline of a pending obligation after a time; once it has passed, [`LazyDfa::tick`] may change
    /// the state.
    pub fn deadline(&self, state: &LazyState, after: i128) -> Option<i128> {
        let later = |(end, chain): (i128, Option<u32>)| {
            let chain = chain.filter(|_| end <= after)? as usize;
            let Links::Owed { width, .. } = state.shape.chains[chain].links else {
                return None;
            };
            let mut ends = state.queues[chain]
                .iter()
                .map(|lo| lo.saturating_add(width));
            ends.find(|end| *end > after)
        };
        let ends = self.ends(state);
        ends.filter_map(|end| {
            if end.0 > after {
                Some(end.0)
            } else {
                later(end)
            }
        })
        .min()
    }

    /// Returns the deadlines of pending obligations; of a chain, that of the first, and the queue of the others.
    fn ends(&self, state: &LazyState) -> impl Iterator<Item = (i128, Option<u32>)> {
        let program = &self.engine.program;
        let value = |counter: u32| state.counters.get(counter as usize).copied();
        let end = move |owed: &Owed| {
            let is_timed = window_of(program, owed.node).is_some_and(|window| window.timed);
            if !is_timed || !owed.started {
                return None;
            }
            match (owed.hi, owed.lo, owed.chain) {
                (Number::Counter(counter), ..) => Some((value(counter)?, None)),
                (
                    Number::After(width),
                    Number::Counter(counter),
                    Chain::All(queue) | Chain::Any(queue),
                ) => Some((value(counter)?.saturating_add(width), Some(queue))),
                _ => None,
            }
        };
        state.shape.owed().filter_map(end)
    }

    /// Returns the times at which a counter in time reaches one of its bounds.
    pub(super) fn turns(&self, state: &LazyState) -> Vec<i128> {
        let times = &state.counters[state.shape.n_steps as usize..];
        let bounds = self.constants.times();
        let turn = |&value: &i128| bounds.iter().map(move |bound| value.saturating_sub(*bound));
        times.iter().flat_map(turn).collect()
    }
}
