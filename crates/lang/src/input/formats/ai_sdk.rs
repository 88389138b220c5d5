//! Parts of the AI SDK: of its model messages (`tool-call`, `tool-result`), and of its interface's, where call and result are
//! one part (`tool-NAME`, `dynamic-tool`, `tool-invocation`) or one entry of `toolInvocations`.

use super::event::Draft;
use super::messages::blocks;
use super::shape::{content_text, first, flag, get, id, kind, list, some, text};
use super::trace::Trace;
use crate::value::Value;

/// Reads a part whose type begins with `tool-`, or is `dynamic-tool`.
pub(super) fn part(trace: &mut Trace, kind: &str, part: &Value) {
    match kind {
        "tool-call" => call(trace, part),
        "tool-result" | "tool-error" => result(trace, part),
        "tool-invocation" => {
            let inner = get(part, "toolInvocation").unwrap_or(part);
            invocation(trace, text(inner, "toolName"), inner);
        }
        "dynamic-tool" => invocation(trace, text(part, "toolName"), part),
        _ if get(part, "toolCallId").is_some() => {
            invocation(trace, kind.strip_prefix("tool-"), part);
        }
        _ => trace.push(Draft::other(part)),
    }
}

/// Reads the entries of `toolInvocations`, unless the parts of the message contain the same calls.
pub(super) fn invocations(trace: &mut Trace, message: &Value) {
    let told = blocks(message).unwrap_or(&[]).iter();
    let told: Vec<_> = told
        .filter_map(|part| first(get(part, "toolInvocation").unwrap_or(part), &["toolCallId"]))
        .collect();
    for inner in list(message, "toolInvocations").unwrap_or(&[]) {
        if !some(inner, "toolCallId").is_some_and(|id| told.contains(&id)) {
            invocation(trace, text(inner, "toolName"), inner);
        }
    }
}

fn call(trace: &mut Trace, part: &Value) {
    let args = trace.args(first(part, &["input", "args"]));
    let draft = Draft::call(part).tool(text(part, "toolName")).args(args);
    trace.call(draft, id(get(part, "toolCallId")).as_deref());
}

fn result(trace: &mut Trace, part: &Value) {
    // `output` is typed: `{type: "text" | "json" | "error-text" …, value}`.
    let output = first(part, &["output", "result", "error"]);
    let typed = output.filter(|output| kind(output).is_some());
    let value = typed.and_then(|typed| get(typed, "value")).or(output);
    let told = typed.and_then(kind).map(|kind| kind.starts_with("error"));
    let failed = (kind(part) == Some("tool-error")).then_some(true);
    let draft = Draft::result(part)
        .tool(text(part, "toolName"))
        .text(content_text(value))
        .outcome(value.cloned().or(Some(Value::Null)))
        .error(failed.or(flag(part, "isError")).or(told));
    trace.result(draft, id(get(part, "toolCallId")).as_deref());
}

/// Reads a call, with its result if `state` says that there is one.
fn invocation(trace: &mut Trace, tool: Option<&str>, inner: &Value) {
    let args = trace.args(first(inner, &["input", "args", "rawInput"]));
    let draft = Draft::call(inner).tool(tool).args(args);
    let call = trace.call(draft, id(get(inner, "toolCallId")).as_deref());
    let (answer, error) = match text(inner, "state") {
        Some("result" | "output-available") => (first(inner, &["output", "result"]), Some(false)),
        Some("output-error") => (some(inner, "errorText"), Some(true)),
        _ => match first(inner, &["output", "result"]) {
            Some(answer) => (Some(answer), None),
            None => return,
        },
    };
    let said = content_text(answer).or(answer.is_none().then_some(Value::Null));
    let draft = Draft::result(inner)
        .text(said)
        .outcome(answer.cloned().or(Some(Value::Null)))
        .error(error);
    trace.result(draft, Some(&call));
}
