//! `guard serve --approval FIELD=VALUE`: the events that only approvers may report.

use super::failure::{Failure, warn};
use crate::hir::ActionKind;
use crate::monitor::{Approval, Monitor};

/// The events that are approvals if the caller names none.
pub(super) const DEFAULT: &str = "kind=approval";

/// Parses `FIELD=VALUE`.
pub(super) fn parsed(text: &str) -> Result<Approval, Failure> {
    let (field, value) = text.split_once('=').ok_or_else(|| {
        Failure::Usage(format!("expected `--approval FIELD=VALUE`, found `{text}`"))
    })?;
    let read = serde_json::from_str::<serde_json::Value>(value);
    if read.is_ok_and(|value| value.is_array() || value.is_object()) {
        return Err(Failure::Usage(format!(
            "expected a text, a number or a truth value in `--approval {text}`, found a list or an object"
        )));
    }
    Ok(Approval {
        field: field.into(),
        value: value.into(),
    })
}

/// Warns if the spec reads none of the approvals: a clause that waits for another event lets every client grant it. Whoever names no
/// approval may have the token only for the questions that the spec asks.
pub(super) fn warn_of_unread(monitor: &Monitor, named: &[String]) {
    let clauses = monitor.spec().enforces.iter();
    let asks = clauses
        .flat_map(|clause| &clause.arms)
        .any(|arm| arm.action.kind == ActionKind::Ask);
    if monitor.may_tell_approvals() || asks && named == [DEFAULT] {
        return;
    }
    let named = named.join("`, `");
    warn(&format!(
        "no condition of the spec tells events with `{named}` from others, so the approver token guards no approval: name the events that the spec takes for approvals by `--approval FIELD=VALUE`"
    ));
}
