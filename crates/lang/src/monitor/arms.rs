//! From the statuses of clauses to the arms that act.

use std::sync::Arc;

use super::decision::{Fired, Ruling};
use super::risk::{ChainPosition, Chains, RiskMessage, RiskValue};
use super::table::{Clause, Row, Table};
use super::{Outcomes, owed_text};
use crate::eval::{ClauseStatus, Doubt, StepView};
use crate::hir::{ActionKind, ArmTrigger};
use crate::value::{Truth, Value};
use crate::verdict::Verdict;

/// The state of a clause in a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(super) struct Memory {
    /// The number of consecutive steps, up to the last one, at which an obligation was pending.
    pub(super) owed_for: u32,
    /// The step at which the obligation became pending.
    pub(super) owed_since: u32,
    /// The arms that were active at the last step, as bits.
    pub(super) active: u64,
    /// The arms that have acted since then for a deadline or a proposal, as bits: they do not act again for the event.
    pub(super) acted: u64,
}

/// The context in which a step is judged.
#[derive(Clone, Copy, Debug)]
pub(super) struct StepCx<'a> {
    /// Index of the step; `None` at an end or a deadline.
    pub(super) step: Option<u32>,
    /// Fields that exist only after the action.
    pub(super) awaited: &'a [usize],
    pub(super) outcomes: Outcomes,
    /// Whether this is a step: only steps count for `for n steps`.
    pub(super) counts: bool,
}

/// The values of the queries on models that clauses watch.
#[derive(Clone, Copy)]
pub(super) struct RiskValues<'a> {
    pub(super) chains: &'a Chains,
    pub(super) at: &'a ChainPosition,
    /// The values of the queries, each with the number of its clause, in order.
    pub(super) each: &'a [(usize, RiskValue)],
}

/// Judges all clauses; returns the ruling and the arms that act, and updates `memory`.
pub(super) fn judge(
    table: &Table,
    view: &mut StepView<'_>,
    memory: &mut [Memory],
    risk_values: RiskValues<'_>,
    cx: StepCx<'_>,
    errors: &mut Vec<String>,
) -> (Ruling, Vec<Fired>) {
    let mut fired = Vec::new();
    let mut of_queries = risk_values.each.iter().peekable();
    for (number, (clause, memory)) in table.clauses.iter().zip(memory).enumerate() {
        let sight = view.clause_status(number);
        let mut clause = One {
            number,
            clause,
            view,
            sight,
            cx,
            fired: &mut fired,
            errors,
        };
        let value = of_queries.next_if(|(clause, _)| *clause == number);
        match value.and_then(|(_, value)| risk_values.chains.message(value, risk_values.at)) {
            Some(risk) => clause.weigh(memory, &risk),
            None => clause.judge(memory),
        }
    }
    let ruling = fired.iter().map(|fired| Ruling::of(fired.action)).max();
    (ruling.unwrap_or_default(), fired)
}

/// The judging of one clause at one step.
struct One<'a, 'g> {
    number: usize,
    clause: &'a Clause,
    view: &'a mut StepView<'g>,
    sight: ClauseStatus,
    cx: StepCx<'a>,
    fired: &'a mut Vec<Fired>,
    errors: &'a mut Vec<String>,
}

impl One<'_, '_> {
    fn judge(&mut self, memory: &mut Memory) {
        // Whether an obligation is pending, and the reason if it is only possibly pending.
        let (owed, owed_why) = match self.sight.verdict {
            Verdict::PresumablyViolated => (true, None),
            Verdict::Unknown => self.may_owe(),
            _ => (false, None),
        };
        if self.cx.counts {
            if owed {
                if memory.owed_for == 0 {
                    memory.owed_since = self.cx.step.unwrap_or(0);
                }
                memory.owed_for = memory.owed_for.saturating_add(1);
            } else {
                memory.owed_for = 0;
            }
        }
        // Whether the condition counts as true, and the reason if it is only possibly true.
        let (happens, why) = match self.sight.fires {
            Truth::True => (true, None),
            Truth::False => (false, None),
            Truth::Unknown => self.doubtful(),
        };
        // Whether it is still violated.
        let (lasts, why) = match self.sight.lasts {
            Truth::True => (true, why),
            Truth::False => (false, why),
            Truth::Unknown => {
                let (lasts, of_earlier) = self.doubtful();
                (lasts, why.or(of_earlier))
            }
        };
        let mut active = 0u64;
        for (place, row) in self.clause.arms.iter().enumerate() {
            let bit = bit(place);
            let (is_active, is_entered) = match row.trigger {
                ArmTrigger::Violated => (happens || lasts, happens),
                ArmTrigger::Holds => (happens, happens && memory.active & bit == 0),
                ArmTrigger::Satisfied => {
                    let satisfied = self.sight.verdict == Verdict::Satisfied;
                    (satisfied, satisfied && memory.active & bit == 0)
                }
                ArmTrigger::PresumablyViolated(steps) => {
                    let long = owed && memory.owed_for >= steps;
                    (long, long && memory.active & bit == 0)
                }
                ArmTrigger::Reaches(..) | ArmTrigger::Unseen => (false, false),
            };
            if is_active {
                active |= bit;
            }
            let acted = memory.acted & bit != 0;
            let acts = is_active && (row.action.lasts() || (is_entered && !acted));
            if acts {
                let why = match row.trigger {
                    ArmTrigger::PresumablyViolated(_) => &owed_why,
                    _ => &why,
                };
                self.act(place, memory, why.clone());
            }
        }
        memory.active = active;
        memory.acted = 0;
    }

    /// Returns whether an undecided condition counts as violated, with the reason. A data error counts as a violation
    /// unless the clause allows errors. A dependence on the outcome of the action follows the policy for outcomes.
    fn doubtful(&mut self) -> (bool, Option<String>) {
        match self.view.doubt(self.number, self.cx.awaited) {
            Doubt::Error(why) => {
                if self.clause.on_error_allow {
                    let name = &self.clause.name;
                    self.errors
                        .push(format!("`{name}` is allowed on error: {why}"));
                    (false, None)
                } else {
                    (true, Some(why))
                }
            }
            Doubt::Outcome => {
                let why = "depends on the outcome of the action".to_owned();
                if self.cx.outcomes == Outcomes::Any {
                    return (true, Some(why));
                }
                let feared =
                    |row: &Row| matches!(row.trigger, ArmTrigger::Violated | ArmTrigger::Holds);
                if self.clause.arms.iter().any(feared) {
                    let name = &self.clause.name;
                    self.flag(if self.clause.property.is_some() {
                        format!("`{name}` may be violated")
                    } else {
                        format!("`{name}` may become true")
                    });
                }
                (false, None)
            }
        }
    }

    /// Returns whether an obligation that may be pending counts as pending, with the reason: as of [`Self::doubtful`], unless it depends
    /// on the outcome of the action, which is still to come.
    fn may_owe(&mut self) -> (bool, Option<String>) {
        let owes = |row: &Row| matches!(row.trigger, ArmTrigger::PresumablyViolated(_));
        let is_watched = self.clause.arms.iter().any(owes) && self.view.may_owe(self.number);
        if self.clause.on_error_allow || !is_watched {
            return (false, None);
        }
        match self.view.doubt(self.number, self.cx.awaited) {
            Doubt::Error(why) => (true, Some(why)),
            Doubt::Outcome => (false, None),
        }
    }

    /// Reports a condition that depends on the outcome of a proposed action.
    fn flag(&mut self, what: String) {
        self.fired.push(Fired {
            clause: self.number,
            arm: None,
            name: self.clause.name.clone(),
            action: ActionKind::Warn,
            message: format!("{what}, depending on the outcome of the action"),
            why: Some("depends on the outcome of the action".to_owned()),
            is_doubtful: true,
            omits_doubt: false,
            reasons: Vec::new(),
            instance: Vec::new(),
            invoke: None,
            enums: Arc::clone(&self.clause.enums),
        });
    }

    /// Judges a clause on a claim about a model.
    fn weigh(&mut self, memory: &mut Memory, risk: &RiskMessage<'_>) {
        let value = risk.value;
        if !self.cx.counts || !value.moved {
            // An event that is not a step of the chain changes nothing and triggers no arm.
            return;
        }
        let doubt = if value.outlook.is_certain() {
            None
        } else {
            Some(self.view.doubt(self.number, self.cx.awaited))
        };
        let by_outcome = self.cx.outcomes == Outcomes::Every && doubt == Some(Doubt::Outcome);
        let let_through = match &doubt {
            Some(Doubt::Error(why)) if self.clause.on_error_allow => {
                let name = &self.clause.name;
                self.errors
                    .push(format!("`{name}` is allowed on error: {why}"));
                true
            }
            _ => false,
        };
        let mut active = 0u64;
        let mut feared: Option<&Row> = None;
        for (place, row) in self.clause.arms.iter().enumerate() {
            let (sure, possible) = value.reaches(row, self.clause.bound.as_ref());
            let is_active = if by_outcome || let_through {
                sure
            } else {
                possible
            };
            if possible
                && !sure
                && by_outcome
                && feared.is_none_or(|worst| worst.action < row.action)
            {
                feared = Some(row);
            }
            if !is_active {
                continue;
            }
            active |= bit(place);
            let entered = (memory.active | memory.acted) & bit(place) == 0;
            if row.action.lasts() || entered {
                self.warn_of(place, risk, doubt.as_ref());
            }
        }
        if let Some(row) = feared {
            let name = &self.clause.name;
            self.flag(format!("`{name}` may become `{}`", row.when));
        }
        memory.active = active;
        memory.acted = 0;
    }

    fn warn_of(&mut self, place: usize, risk: &RiskMessage<'_>, doubt: Option<&Doubt>) {
        let row = &self.clause.arms[place];
        let why = match doubt {
            Some(Doubt::Error(why)) if risk.value.outlook.open => Some(why.clone()),
            _ => risk.why(&row.trigger),
        };
        let values = risk.values(why.as_deref());
        let message = self.view.message(self.number, place, &values);
        let message = message.unwrap_or_else(|| risk.text(&self.clause.name, row, why.as_deref()));
        let args = |one: &mut Self| one.view.args(one.number, place, &values);
        let invoke = row.invoke.clone().map(|invoke| (invoke, args(self)));
        self.fired.push(Fired {
            clause: self.number,
            arm: Some(place),
            name: self.clause.name.clone(),
            action: row.action,
            message,
            why,
            is_doubtful: risk.value.outlook.open,
            omits_doubt: false,
            reasons: Vec::new(),
            instance: Vec::new(),
            invoke,
            enums: Arc::clone(&self.clause.enums),
        });
    }

    fn act(&mut self, place: usize, memory: &Memory, why: Option<String>) {
        let row = &self.clause.arms[place];
        let name = self.clause.name.clone();
        let on_condition = matches!(row.trigger, ArmTrigger::Violated | ArmTrigger::Holds);
        let is_doubtful = on_condition && why.is_some();
        let (values, why) = match &row.trigger {
            ArmTrigger::Violated => (self.view.instance(self.number), why),
            ArmTrigger::PresumablyViolated(_) => {
                let property = self.clause.property;
                let owed = property
                    .and_then(|property| self.view.obligations(property, 1).into_iter().next());
                let values = owed.iter().flat_map(|owed| &owed.instance);
                let values: Vec<Option<Value>> =
                    values.map(|(_, value)| Some(value.clone())).collect();
                let since = memory.owed_since;
                let owed = owed.map(|owed| {
                    format!(
                        "{}, since step {since}",
                        owed_text(&name, &owed, &self.clause.enums)
                    )
                });
                let why = [owed, why]
                    .into_iter()
                    .flatten()
                    .reduce(|owed, why| format!("{owed} ({why})"));
                (values, why)
            }
            _ => (Vec::new(), why),
        };
        let reasons = match (&row.trigger, self.cx.step) {
            (ArmTrigger::Violated | ArmTrigger::Holds, Some(step)) => {
                self.view.reasons(self.number, &name, &values, step)
            }
            _ => Vec::new(),
        };
        let instance = self.view.named(self.number, &values);
        let message = self.view.message(self.number, place, &values);
        let omits_doubt = is_doubtful && message.is_some();
        let what = || default_message(&name, &row.trigger);
        let message = match (message, &why) {
            (Some(message), _) => message,
            // The description of the obligation suffices.
            (None, Some(why)) if matches!(row.trigger, ArmTrigger::PresumablyViolated(_)) => {
                why.clone()
            }
            (None, Some(why)) => format!("{}: {why}", what()),
            (None, None) => what(),
        };
        let mut args = || self.view.args(self.number, place, &values);
        let invoke = row.invoke.clone().map(|invoke| (invoke, args()));
        self.fired.push(Fired {
            clause: self.number,
            arm: Some(place),
            name,
            action: row.action,
            message,
            why,
            is_doubtful,
            omits_doubt,
            reasons,
            instance,
            invoke,
            enums: Arc::clone(&self.clause.enums),
        });
    }
}

/// Returns the bit of an arm. Arms beyond 64 have no bit and so no memory.
fn bit(place: usize) -> u64 {
    u32::try_from(place)
        .ok()
        .and_then(|place| 1u64.checked_shl(place))
        .unwrap_or(0)
}

/// Returns the message of an arm that has none of its own. It does not hold the values of quantified variables: they may be those of
/// a result that is withheld for them.
fn default_message(name: &str, trigger: &ArmTrigger) -> String {
    let what = match trigger {
        ArmTrigger::Holds | ArmTrigger::Reaches(..) | ArmTrigger::Unseen => "holds",
        ArmTrigger::Violated => "is violated",
        ArmTrigger::Satisfied => "is satisfied",
        ArmTrigger::PresumablyViolated(_) => "owes something",
    };
    format!("`{name}` {what}")
}
