//! Calls that are refused: because they cannot be read, or by the person who was asked.

use super::Memory;
use crate::integrations::Judge;
use crate::monitor::lenient::Outline;

/// A call that is not allowed because it cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// One lower-case clause.
    pub reason: String,
    /// Whether it may report an outcome, which then counts as unknown: it names a hook of outcomes, or the name of its hook may be in
    /// its unread part or is not the same for all readers.
    pub may_report: bool,
}

impl Refused {
    /// Returns the refusal of an input of which nothing is known.
    pub fn unread(reason: String) -> Self {
        let may_report = true;
        Self { reason, may_report }
    }
}

impl From<Refused> for String {
    fn from(refused: Refused) -> String {
        refused.reason
    }
}

/// Returns a member that a call must have. A key that stands twice with one value is read alike by all.
///
/// # Errors
/// The member is missing, or has several values.
pub(super) fn needed(outline: &Outline, key: &str) -> Result<String, String> {
    let mut values = outline.iter().filter(|(name, _)| *name == key);
    let first = values.next();
    if values.any(|other| Some(other) != first) {
        return Err(format!("duplicate key `{key}`"));
    }
    let text = outline.text(key);
    text.ok_or_else(|| format!("missing `{key}` in the input"))
}

/// Ends the questions about the calls of some owners: what did not run was refused.
pub(super) fn end_questions(
    judge: &mut impl Judge,
    memory: &mut Memory,
    is_over: impl FnMut(&str) -> bool,
) -> Result<(), String> {
    for proposal in memory.refuse(is_over) {
        judge.abandon(proposal)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::integrations::hook::{Call, Scope};

    #[test]
    fn what_may_be_an_outcome_reports_one() {
        for (input, may) in [
            (r#"{"hook_event_name":"PostToolUse"}"#, true),
            (r#"{"hook_event_name":"PreToolUse"}"#, false),
            (
                r#"{"hook_event_name":"PreToolUse","hook_event_name":"PostToolUse","session_id":"s"}"#,
                true,
            ),
            (
                r#"{"hook_event_name":"PostToolUse","session_id":"s","session_id":"t"}"#,
                true,
            ),
            (r#"{"session_id":"s"}"#, false),
            (r#"{"session_id":"s","#, true),
            (r#"{"hook_event_name":"PreToolUse","session_id"#, false),
            ("x", true),
        ] {
            let refused = Call::read(input.into(), Scope::default()).unwrap_err();
            assert_eq!(refused.may_report, may, "{input}");
        }
    }
}
