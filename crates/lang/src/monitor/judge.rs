//! Judging of one step of a trace: the statuses of clauses, the arms that act, and the decision.

use smol_str::SmolStr;

use super::Outcomes;
use super::arms::{self, Memory};
use super::decision::{Cause, Decision, Ruling};
use super::risk::{ChainPosition, Chains, RiskValue};
use super::table::Table;
use crate::eval::{Program, StepView};
use crate::ids::PropertyId;

/// The context of judging, without the trace.
pub(super) struct Context<'a> {
    pub(super) program: &'a Program,
    pub(super) table: &'a Table,
    pub(super) chains: &'a Chains,
    pub(super) names: &'a [SmolStr],
    pub(super) outcomes: Outcomes,
}

/// The parts of a trace, besides its state, that a step changes.
pub(super) struct StepMemory<'t> {
    pub(super) memory: &'t mut [Memory],
    pub(super) chain_position: &'t mut ChainPosition,
}

/// Called with a step, the memory of the trace, its index, and the fields that do not exist yet.
pub(super) type StepVisitor<'l> =
    dyn FnMut(&mut StepView<'_>, StepMemory<'_>, Option<u32>, &[usize]) + 'l;

impl Context<'_> {
    /// Judges one step and joins the result with that of earlier steps. `step` is false for an event that is not a
    /// step.
    pub(super) fn judge(
        &self,
        decision: &mut Decision,
        errors: &[String],
        step: impl FnOnce(&mut StepVisitor<'_>) -> bool,
    ) {
        let mut seen = false;
        let cause = decision.cause;
        let counts = matches!(cause, Cause::Event | Cause::Proposal | Cause::Act);
        let is_step = step(&mut |view, kept, index, awaited| {
            seen = true;
            if counts {
                self.chains.advance(kept.chain_position, view);
            }
            let risk_values = self.chains.risk_values(kept.chain_position);
            let cx = arms::StepCx {
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
                arms::RiskValues {
                    chains: self.chains,
                    at: kept.chain_position,
                    each: &risk_values,
                },
                cx,
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
            self.record_risk(&risk_values, kept.chain_position, decision);
        });
        if !is_step {
            return;
        }
        decision.errors.extend_from_slice(errors);
        if !seen {
            // The trace has more readings than the limit allows.
            let limit = self.program.limits().worlds;
            decision.errors.push(format!(
                "unknown which events are steps: more than {limit} possibilities (limit: `worlds`)"
            ));
            if !self.table.on_error_allow() {
                decision.ruling = decision.ruling.max(Ruling::Block);
            }
        }
    }

    /// Records the current values of the queries.
    pub(super) fn record_current_risk(
        &self,
        chain_position: &ChainPosition,
        decision: &mut Decision,
    ) {
        self.record_risk(
            &self.chains.risk_values(chain_position),
            chain_position,
            decision,
        );
    }

    fn record_risk(
        &self,
        risk_values: &[(usize, RiskValue)],
        at: &ChainPosition,
        decision: &mut Decision,
    ) {
        decision.risk.clear();
        for (clause, value) in risk_values {
            let name = &self.table.clauses[*clause].name;
            if decision.risk.iter().all(|(known, _)| known != name) {
                decision.risk.push((name.clone(), value.number()));
            }
        }
        decision.state = self.chains.describe(at);
    }
}
