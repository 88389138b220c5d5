//! Judging of whole records.

use smol_str::SmolStr;

use super::compiled::{FilterCode, Message};
use super::explain::Wanted;
use super::program::Program;
use super::text;
use super::trace::TraceSource;
use super::world::World;
use crate::input::deferred::Deferred;
use crate::input::record::Record;
use crate::value::{Cell, Truth};
use crate::verdict::TraceReport;

impl Program {
    /// Judges a whole record. Returns `None` if `records where` rejects it.
    pub fn judge(&self, record: Record) -> Option<TraceReport> {
        self.judge_for(record, Deferred::NONE, Wanted::ALL)
    }

    /// Returns the same for a record with deferred texts; only the explanations in `wanted` are produced.
    pub fn judge_for(
        &self,
        record: Record,
        texts: Deferred<'_>,
        wanted: &Wanted,
    ) -> Option<TraceReport> {
        let Record {
            origin,
            id,
            complete,
            meta,
            mut steps,
            problems,
        } = record;
        let complete = self.completeness(&meta, complete.unwrap_or(true))?;
        let mut state = self.open(TraceSource { origin, id, meta });
        state.note(problems);
        state.number(&mut steps);
        state.cache.eval_cache.keeps_tables = true;
        let mut places = texts.places;
        for (number, step) in steps.iter_mut().enumerate() {
            let here = places.iter().take_while(|place| place.step == number);
            let (here, later) = places.split_at(here.count());
            places = later;
            if here.is_empty() {
                state.advance(step);
            } else {
                state.advance_deferred(step, &texts, here);
            }
        }
        state.history.steps = steps;
        Some(super::report::report(state, complete, wanted, texts))
    }

    /// Returns the value of `records where` for a record; true without it.
    pub fn is_trace(&self, meta: &[Cell]) -> Truth {
        self.of_record(meta, |filter| filter.record)
            .unwrap_or(Truth::True)
    }

    /// Whether a record is a complete trace; `None` if it is no trace. Without `complete = e`, what the recording says counts.
    pub fn completeness(&self, meta: &[Cell], recorded: bool) -> Option<bool> {
        let complete = || {
            self.complete(meta)
                .map_or(recorded, |truth| truth == Truth::True)
        };
        (self.is_trace(meta) != Truth::False).then(complete)
    }

    /// Returns the value of `complete = e` for a record; `None` without it.
    pub fn complete(&self, meta: &[Cell]) -> Option<Truth> {
        self.of_record(meta, |filter| filter.complete)
    }

    fn of_record(
        &self,
        meta: &[Cell],
        which: impl Fn(&FilterCode) -> Option<super::code::NodeId>,
    ) -> Option<Truth> {
        let node = which(&self.compiled.filter)?;
        Some(self.outside(meta, |eval| eval.letter(node)))
    }

    /// Evaluates an expression over a record without events.
    pub(super) fn outside<T>(
        &self,
        meta: &[Cell],
        look: impl FnOnce(&mut super::expr::Eval<'_>) -> T,
    ) -> T {
        let mut cache = self.cache();
        cache.eval_cache.begin_step(None);
        let world = World::without_watches(&self.compiled);
        let nothing = vec![Cell::Unknown; self.compiled.spec.schema.fields.len()];
        look(&mut world.eval(&self.compiled.code, &nothing, meta, &mut cache.eval_cache))
    }

    /// Returns the name of a trace.
    pub fn name(&self, source: &TraceSource) -> SmolStr {
        if let Some(message) = &self.compiled.filter.id {
            return SmolStr::from(self.fill(message, &source.meta));
        }
        source.id.clone().unwrap_or_else(|| source.origin.name())
    }

    fn fill(&self, message: &Message, meta: &[Cell]) -> String {
        self.outside(meta, |eval| text::fill(message, eval))
    }
}
