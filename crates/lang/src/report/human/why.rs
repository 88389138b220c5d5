//! The reasons why a property is violated, as sentences.

use crate::inert::inert;
use crate::report::text::{plural, width};
use crate::value::Truth;
use crate::verdict::{Evidence, PropertyVerdict, Reason};

use super::steps::VALUE;

/// The greatest number of sentences that are shown for one violation.
const MOST: usize = 10;

/// Returns the conditions that suffice to show a violation, one sentence each, without those that a table of these
/// steps already shows.
pub fn why(verdict: &PropertyVerdict, table: &[Evidence]) -> Vec<String> {
    let reasons = verdict.why.reasons.iter();
    let mut lines: Vec<String> = reasons
        .filter_map(|reason| sentence(reason, table))
        .collect();
    lines.extend(verdict.why.overdue.iter().map(ToString::to_string));
    if verdict.why.began {
        lines.push("no step precedes step 0".to_owned());
    }
    let left = lines.len().saturating_sub(MOST);
    if left > 0 {
        lines.truncate(MOST);
        lines.push(format!(
            "… and {}",
            plural(left as u64, "more condition", "more conditions")
        ));
    }
    lines.iter().map(|line| inert(line).into_owned()).collect()
}

/// Returns the sentence for one condition; `None` if the table already shows it.
fn sentence(reason: &Reason, table: &[Evidence]) -> Option<String> {
    let mut steps = table.iter();
    let row = steps.find(|step| reason.first == reason.last && step.step == reason.first);
    let mut reason = reason.clone();
    if let Some(row) = row {
        reason.values.retain(|of| {
            let mut fields = row.fields.iter();
            let whole = |value: &str| value == of.value && width(value) <= VALUE;
            !fields.any(|(name, value)| *name == of.term && whole(value))
        });
        let is_plain = reason.values.is_empty() && reason.parts.is_empty();
        if is_plain && reason.truth == Truth::True {
            return None;
        }
    }
    Some(reason.to_string())
}
