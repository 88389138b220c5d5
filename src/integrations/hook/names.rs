//! The names of hooks, and their classification as calls, outcomes or other events; the names of their traces.

use super::Scope;
use crate::monitor::OF_MAIN_AGENT;

/// The hooks that report what has happened.
const OUTCOMES: [&str; 2] = ["PostToolUse", "PostToolUseFailure"];

/// The hooks that are judged.
const HOOKS: [&str; 7] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "SessionEnd",
];

/// The arguments that the program adds to a call when the user has answered it, by the name of its tool.
const FILLED_IN: [(&str, &[&str]); 1] = [("AskUserQuestion", &["answers", "annotations"])];

/// Returns whether the user fills in an argument of a tool, so that it is there only after the call.
pub(super) fn is_filled_in(tool: &str, argument: &str) -> bool {
    let mut tools = FILLED_IN.iter();
    tools.any(|(name, arguments)| *name == tool && arguments.contains(&argument))
}

/// Returns whether a hook reports what has happened.
pub(super) fn reports(hook: &str) -> bool {
    OUTCOMES.contains(&hook)
}

/// Returns whether an input may report what has happened, without reading it. Returns `false` only if [`hook_name`] returns no such
/// hook: the name of the hook or the key is in the text, unless a letter of it is escaped.
pub fn may_report(input: &[u8]) -> bool {
    let name = b"posttooluse";
    let has = |text: &str| memchr::memmem::find(input, text.as_bytes()).is_some();
    let mut starts = memchr::memchr2_iter(b'p', b'P', input);
    has("\\u")
        || has("tool_response")
        || starts.any(|at| {
            let word = input.get(at..at + name.len());
            word.is_some_and(|word| word.eq_ignore_ascii_case(name))
        })
}

/// Returns whether a hook is judged.
pub(super) fn matters(hook: &str) -> bool {
    HOOKS.contains(&hook)
}

/// Returns the name under which a hook is handled. An unknown name whose input looks like an outcome is handled as an
/// outcome.
///
/// # Errors
/// The name is unknown and may stand for a judged hook.
pub(super) fn hook_name(name: String, has: impl Fn(&str) -> bool) -> Result<String, String> {
    let folded = name.trim().to_lowercase();
    let of_person = ["PermissionRequest", "PermissionDenied"].contains(&name.as_str());
    if HOOKS.contains(&name.as_str()) {
        return Ok(name);
    }
    if has("tool_response") || folded.starts_with("posttooluse") {
        return Ok(OUTCOMES[0].to_owned());
    }
    let resembles = HOOKS.iter().any(|hook| hook.to_lowercase() == folded);
    if name.is_empty() || resembles || has("tool_input") && !of_person {
        return Err(format!("unknown `hook_event_name` {name:?}"));
    }
    Ok(name)
}

/// Returns whether a member of an outcome, other than the regular one of its hook, may contain output of the tool.
pub(super) fn is_outcome(key: &str, failed: bool) -> bool {
    let own = if failed { "error" } else { "tool_response" };
    let of_call = ["tool_name", "tool_input", "tool_use_id"].contains(&key);
    key != own && (key == "error" || key.starts_with("tool_") && !of_call)
}

/// Returns whether an action can proceed depending on the hook's answer, so that it must not fail open.
pub fn decides(hook: &str) -> bool {
    [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
    ]
    .contains(&hook)
}

/// Returns the names of the trace of a call, and of the main agent's own. The ids are escaped, so that different sessions and agents
/// have different names.
pub(super) fn traces_of(
    session: &str,
    agent: Option<&str>,
    scope: Scope,
) -> (String, Option<String>) {
    let id = session.replace('%', "%25").replace('/', "%2F");
    match (agent, scope) {
        (Some(agent), Scope::Agent) => (format!("{id}/{agent}"), None),
        (None, Scope::Agent) => (id, None),
        (_, Scope::Session) => (id.clone(), Some(format!("{id}{OF_MAIN_AGENT}"))),
    }
}

/// Returns the id of the session that has a trace of this name.
pub(super) fn session_of(trace: &str) -> String {
    let id = trace.split('/').next().unwrap_or_default();
    id.replace("%2F", "/").replace("%25", "%")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_never_passed_by() {
        let others = [
            " posttooluse",
            "POSTTOOLUSEFAILURE\t",
            "PostToolUseX",
            "Other",
        ];
        for name in HOOKS.into_iter().chain(others) {
            for key in ["tool_response", "tool_input"] {
                let named = hook_name(name.to_owned(), |of| of == key);
                let brings = named.is_ok_and(|name| reports(&name));
                let name = serde_json::Value::from(name);
                let plain = format!("{{\"hook_event_name\":{name},\"{key}\":1}}");
                let may = key == "tool_response" || brings;
                assert_eq!(may_report(plain.as_bytes()), may, "{plain}");
                for letter in ["o", "t", "_"] {
                    let code = letter.as_bytes()[0];
                    let escaped = plain.replace(letter, &format!("\\u00{code:02x}"));
                    assert!(may_report(escaped.as_bytes()), "{escaped}");
                }
            }
        }
    }
}
