//! The events that only approvers may report.

use std::sync::Arc;

use smol_str::SmolStr;

use super::Approval;
use super::decision::Decision;
use super::live::{Monitor, MonitorError};
use super::step::OF_MAIN_AGENT;
use crate::eval::{self, FieldTests};
use crate::hir::{Spec, print};
use crate::input::record::{Event, Step};
use crate::texts::exact_names::same_for_readers;
use crate::types::{EnumType, Type};
use crate::value::{Cell, Instant, Number, Value};

/// The events whose field has a value that the spec may take for that of an approval.
#[derive(Debug)]
pub(super) struct ApprovalEvents {
    /// The position of the field.
    pub(super) field: usize,
    value: SmolStr,
    /// The value as [`same_for_readers`] returns it.
    folded: String,
    /// The expressions of the spec that tell the value from others, if the field may have a text.
    tests: FieldTests,
    /// Whether some condition may tell these events from others.
    may_be_told: bool,
}

impl ApprovalEvents {
    /// Finds the events of an approval among those of a spec.
    ///
    /// # Errors
    /// The events of the spec do not have the field, or it has times; the expressions over it exceed the limits.
    pub(super) fn new(
        spec: &Spec,
        approval: &Approval,
        limits: &eval::Limits,
    ) -> Result<ApprovalEvents, MonitorError> {
        let name = &approval.field;
        let mut fields = spec.schema.fields.iter();
        let field = fields.position(|field| field.name == *name);
        let field = field.ok_or_else(|| MonitorError::NoField(name.clone()))?;
        let ty = &spec.schema.fields[field].ty;
        if has_times(ty) {
            return Err(MonitorError::FieldType(name.clone(), ty.to_string()));
        }
        Ok(ApprovalEvents {
            field,
            value: approval.value.clone(),
            folded: same_for_readers(&approval.value),
            tests: FieldTests::new(spec, field, &approval.value, limits)?,
            may_be_told: FieldTests::may_tell(spec, field, &approval.value, limits)?,
        })
    }

    /// Returns whether an event may be an approval for the spec.
    pub(super) fn contain(&self, event: &Event, enums: &[Arc<EnumType>]) -> bool {
        let has = |step: &Step| match &step.cells[self.field] {
            Cell::Known(value @ Value::String(_)) => {
                self.holds(value, enums) || self.tests.share(value)
            }
            Cell::Known(value) => self.holds(value, enums),
            Cell::Unknown => false,
        };
        event.steps.iter().any(has)
    }

    /// Returns whether a value, or one within it, is the one of approvals, or a text that a reader may take for it.
    fn holds(&self, value: &Value, enums: &[Arc<EnumType>]) -> bool {
        match value {
            Value::String(text) => same_for_readers(text) == self.folded,
            // As the language compares them: `7.0` is 7.
            Value::Number(number) => Number::parse(&self.value).as_ref() == Some(number),
            Value::List(all) => all.iter().any(|value| self.holds(value, enums)),
            Value::Set(all) => all.iter().any(|value| self.holds(value, enums)),
            Value::Object(all) => all.iter().any(|(_, value)| self.holds(value, enums)),
            other => print::value(other, enums) == self.value,
        }
    }
}

impl Monitor {
    /// Returns whether some condition of the spec may tell [approvals](super::Options::approvals) from other events. If not, which is
    /// certain, nobody needs to be an approver to report what the spec takes for an approval.
    pub fn may_tell_approvals(&self) -> bool {
        self.approvals.iter().any(|events| events.may_be_told)
    }

    /// Makes the fields unknown by which an event of a hook would be an approval, if its client may report none: the event
    /// happened, and what the content of an outcome says is not the word of an approver.
    pub(super) fn withhold_approvals(&self, event: &mut Event) {
        if !self.hooked || !self.is_bound() {
            return;
        }
        let enums = &self.program.spec().enums;
        for approval in &self.approvals {
            if !approval.contain(event, enums) {
                continue;
            }
            for step in &mut event.steps {
                step.cells[approval.field] = Cell::Unknown;
            }
            let name = &self.program.spec().schema.fields[approval.field].name;
            event.problems.push(self.problem(format!(
                "`{name}` is unknown: only an approver may report an approval"
            )));
        }
    }

    /// Returns an approval as one of the main agent's own trace, if an approver reports it for the trace of a session that has such a
    /// trace: hooks began it, and approvers know only the session.
    pub(super) fn approval_of_main_agent(&self, event: &Event) -> Option<Event> {
        if self.is_reporter() || self.hooked || !self.is_approval(event) {
            return None;
        }
        let own = format!(
            "{}{OF_MAIN_AGENT}",
            event.trace.as_deref().unwrap_or_default()
        );
        self.has_trace(&own).then(|| Event {
            trace: Some(own.into()),
            ..event.clone()
        })
    }

    /// Records an approval in the main agent's own trace too, if it is one of [`approval_of_main_agent`](Self::approval_of_main_agent).
    pub(super) fn approve_main_agent(
        &mut self,
        approval: Option<Event>,
        now: Option<Instant>,
        decision: &mut Decision,
    ) {
        if let Some(approval) = approval {
            let of_own = self.happened(approval, now);
            decision.join(of_own);
        }
    }
}

/// Returns whether a type has times or durations.
fn has_times(ty: &Type) -> bool {
    match ty.non_null() {
        Type::Time | Type::Duration => true,
        Type::List(of) | Type::Set(of) | Type::Map(of) => has_times(of),
        Type::Record(record) => record.members.iter().any(|(_, ty)| has_times(ty)),
        _ => false,
    }
}
