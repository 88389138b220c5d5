//! The names of hooks, and which of them bring a call, an outcome or a question.

/// The hooks that report what has happened.
const OUTCOMES: [&str; 2] = ["PostToolUse", "PostToolUseFailure"];

/// The hooks that bring or ask anything.
const HOOKS: [&str; 7] = [
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "Stop",
    "SubagentStop",
    "SessionEnd",
];

/// Whether a hook reports what has happened.
pub(super) fn reports(hook: &str) -> bool {
    OUTCOMES.contains(&hook)
}

/// Whether a hook brings or asks anything.
pub(super) fn matters(hook: &str) -> bool {
    HOOKS.contains(&hook)
}

/// Returns the name of a hook. One that some reader takes for a call or an outcome is not passed by as another event.
///
/// # Errors
/// It may ask for a call, under a name that is not known.
pub(super) fn hook_name(name: String, has: impl Fn(&str) -> bool) -> Result<String, String> {
    let folded = name.trim().to_lowercase();
    let of_person = ["PermissionRequest", "PermissionDenied"].contains(&name.as_str());
    if HOOKS.contains(&name.as_str()) {
        return Ok(name);
    }
    if has("tool_response") || folded.starts_with("posttooluse") {
        let failed = folded == "posttoolusefailure";
        return Ok(OUTCOMES[usize::from(failed)].to_owned());
    }
    let resembles = HOOKS.iter().any(|hook| hook.to_lowercase() == folded);
    if name.is_empty() || resembles || has("tool_input") && !of_person {
        return Err(format!("unknown `hook_event_name` {name:?}"));
    }
    Ok(name)
}

/// Whether a member of an outcome, besides the one that its hook has, may say what a tool said.
pub(super) fn is_outcome(key: &str, failed: bool) -> bool {
    let own = if failed { "error" } else { "tool_response" };
    let of_call = ["tool_name", "tool_input", "tool_use_id"].contains(&key);
    key != own && (key == "error" || key.starts_with("tool_") && !of_call)
}

/// Whether something can go on because of what this hook answers, so that it must not fail open.
pub fn decides(hook: &str) -> bool {
    [
        "PreToolUse",
        "PostToolUse",
        "PostToolUseFailure",
        "UserPromptSubmit",
    ]
    .contains(&hook)
}
