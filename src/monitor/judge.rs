//! One moment of a trace judged: what clauses see, which arms act, and what the decision says.

use smol_str::SmolStr;

use super::Outcomes;
use super::arms::{self, Memory};
use super::decision::{Cause, Decision, Ruling};
use super::risk::{Chains, Reading, Whereabouts};
use super::table::Table;
use crate::eval::{Program, StepView};
use crate::ids::PropertyId;

/// What judging needs besides the trace.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a Table,
    pub(super) chains: &'a Chains,
    pub(super) names: &'a [SmolStr],
    pub(super) outcomes: Outcomes,
}

/// What a trace keeps beside its state, and changes at a step.
pub(super) struct Kept<'t> {
    pub(super) memory: &'t mut [Memory],
    pub(super) whereabouts: &'t mut Whereabouts,
}

/// Shown a step, with what the trace keeps, its index, and the fields that are not there yet.
pub(super) type Look<'l> = dyn FnMut(&mut StepView<'_>, Kept<'_>, Option<u32>, &[usize]) + 'l;

impl Context<'_> {
    /// Judges one step and joins what comes of it with what came of steps before. `step` says whether it was one.
    pub(super) fn judge(
        &self,
        decision: &mut Decision,
        errors: &[String],
        step: impl FnOnce(&mut Look<'_>) -> bool,
    ) {
        let mut seen = false;
        let cause = decision.cause;
        let counts = matches!(cause, Cause::Event | Cause::Proposal);
        let is_step = step(&mut |view, kept, index, awaited| {
            seen = true;
            if counts {
                self.chains.advance(kept.whereabouts, view);
            }
            let readings = self.chains.readings(kept.whereabouts);
            let moment = arms::Moment {
                step: index,
                awaited,
                outcomes: self.outcomes,
                counts,
            };
            let mut let_through = Vec::new();
            let (ruling, fired) = arms::judge(
                self.table,
                view,
                kept.memory,
                arms::Readings {
                    chains: self.chains,
                    at: kept.whereabouts,
                    each: &readings,
                },
                moment,
                &mut let_through,
            );
            decision.ruling = decision.ruling.max(ruling);
            decision.clauses.extend(fired);
            decision.errors.extend(let_through);
            decision
                .errors
                .extend(view.faults().into_iter().map(String::from));
            decision.verdicts.clear();
            decision.verdicts.reserve(self.names.len());
            for (idx, name) in self.names.iter().enumerate() {
                let verdict = view.verdict(PropertyId::new(idx));
                decision.verdicts.push((name.clone(), verdict));
            }
            self.tell(&readings, kept.whereabouts, decision);
        });
        if !is_step {
            return;
        }
        decision.errors.extend_from_slice(errors);
        if !seen {
            // The trace can be read in more ways than the limit allows.
            let limit = self.program.limits().worlds;
            decision.errors.push(format!(
                "unknown whether events are steps, in more than {limit} ways (`worlds`)"
            ));
            if !self.table.on_error_allow() {
                decision.ruling = decision.ruling.max(Ruling::Block);
            }
        }
    }

    /// What queries come to where a trace is.
    pub(super) fn tell_state(&self, whereabouts: &Whereabouts, decision: &mut Decision) {
        self.tell(&self.chains.readings(whereabouts), whereabouts, decision);
    }

    fn tell(&self, readings: &[(usize, Reading)], at: &Whereabouts, decision: &mut Decision) {
        decision.risk.clear();
        for (clause, reading) in readings {
            let name = &self.table.clauses[*clause].name;
            if decision.risk.iter().all(|(known, _)| known != name) {
                decision.risk.push((name.clone(), reading.told()));
            }
        }
        decision.state = self.chains.describe(at);
    }
}
