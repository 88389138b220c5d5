//! The names of hooks, and their classification as calls, outcomes or other events.

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

/// Returns whether a hook reports what has happened.
pub(super) fn reports(hook: &str) -> bool {
    OUTCOMES.contains(&hook)
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
        let failed = folded == "posttoolusefailure";
        return Ok(OUTCOMES[usize::from(failed)].to_owned());
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
