//! Messages of Pydantic AI: `{kind: "request" | "response", parts: [{part_kind, …}]}`.

use super::event::Draft;
use super::shape::{content_text, get, id, items, list, some, text};
use super::trace::Trace;
use crate::value::Value;

/// Whether a value is a message.
pub(super) fn is_message(value: &Value) -> bool {
    matches!(text(value, "kind"), Some("request" | "response"))
        && list(value, "parts").is_some_and(|parts| {
            let named = |part: &Value| text(part, "part_kind").is_some();
            parts.iter().all(named)
        })
}

/// Reads the events of one message.
pub(super) fn message(trace: &mut Trace, message: &Value) {
    for part in get(message, "parts").and_then(items).unwrap_or(&[]) {
        self::part(trace, part);
    }
}

fn part(trace: &mut Trace, part: &Value) {
    let content = get(part, "content");
    let said = content_text(content).or(content.is_none().then_some(Value::Null));
    let call = id(get(part, "tool_call_id"));
    match text(part, "part_kind").unwrap_or_default() {
        "system-prompt" => trace.push(Draft::message("system", part).text(said)),
        "user-prompt" => trace.push(Draft::message("user", part).text(said)),
        "text" => trace.push(Draft::message("assistant", part).text(said)),
        "tool-call" | "builtin-tool-call" => {
            let args = trace.args(get(part, "args"));
            let draft = Draft::call(part).tool(text(part, "tool_name")).args(args);
            trace.call(draft, call.as_deref());
        }
        kind @ ("tool-return" | "builtin-tool-return" | "retry-prompt") => {
            // A retry without a tool tells the model that its answer was refused.
            if some(part, "tool_name").is_none() && kind == "retry-prompt" {
                trace.push(Draft::message("user", part).text(said));
                return;
            }
            let error = match text(part, "outcome") {
                Some(outcome) => Some(outcome != "success"),
                None => Some(kind == "retry-prompt"),
            };
            let draft = Draft::result(part)
                .tool(text(part, "tool_name"))
                .text(said)
                .outcome(content.cloned().or(Some(Value::Null)))
                .error(error);
            trace.result(draft, call.as_deref());
        }
        _ => trace.push(Draft::other(part).role("assistant").text(said)),
    }
}
