//! Anthropic messages: one event per content block. Also the blocks of Bedrock's Converse API and of the AI SDK.

use super::Input;
use super::ai_sdk;
use super::event::Draft;
use super::messages::{blocks, has_blocks, makes_calls};
use super::openai;
use super::shape::{
    content_text, first, flag, get, id, kind, part_text, said, says_nothing, some, text,
};
use super::trace::{Out, Trace};
use crate::value::Value;

pub(super) fn read(input: &Input<'_>, out: &mut Out) {
    openai::read_with(input, out, message);
}

/// Reads the events of one message. Messages with `tool_calls` or of role `tool` are OpenAI's, and read as such.
pub(super) fn message(trace: &mut Trace, message: &Value) {
    let Some(role) = text(message, "role") else {
        openai::message(trace, message);
        return;
    };
    match blocks(message) {
        Some(blocks) if role != "tool" || has_blocks(message) => {
            for part in blocks {
                block(trace, role, part);
            }
            if blocks.is_empty() && !makes_calls(message) {
                trace.push(Draft::message(role, message).text(Some(Value::Null)));
            }
            ai_sdk::invocations(trace, message);
            openai::calls(trace, message);
        }
        _ if has_blocks(message) => {
            let said = get(message, "content");
            if !says_nothing(said) {
                trace.push(Draft::message(role, message).text(content_text(said)));
            }
            ai_sdk::invocations(trace, message);
            openai::calls(trace, message);
        }
        _ => openai::message(trace, message),
    }
}

/// Reads the event of one content block.
pub(super) fn block(trace: &mut Trace, role: &str, block: &Value) {
    match kind(block) {
        Some(kind) if kind.ends_with("tool_use") => {
            let args = trace.args(get(block, "input"));
            let id = id(first(block, &["id", "tool_use_id"]));
            let draft = Draft::call(block).tool(text(block, "name")).args(args);
            trace.call(draft, id.as_deref());
        }
        Some(kind) if kind.ends_with("tool_result") => result(trace, block),
        Some("thinking" | "redacted_thinking") => {
            let said = text(block, "thinking").map(Value::string);
            let draft = Draft::other(block).role(role);
            trace.push(draft.text(said.or(Some(Value::Null))));
        }
        Some(kind) if kind.starts_with("tool-") || kind == "dynamic-tool" => {
            ai_sdk::part(trace, kind, block);
        }
        None if some(block, "toolUse").is_some() => {
            let call = get(block, "toolUse").unwrap_or(block);
            let args = trace.args(get(call, "input"));
            let draft = Draft::call(block).tool(text(call, "name")).args(args);
            trace.call(draft, id(get(call, "toolUseId")).as_deref());
        }
        None if some(block, "toolResult").is_some() => {
            let result = get(block, "toolResult").unwrap_or(block);
            let content = get(result, "content");
            let draft = Draft::result(block)
                .text(content_text(content))
                .outcome(content.cloned().or(Some(Value::Null)))
                .error(Some(text(result, "status") == Some("error")));
            trace.result(draft, id(get(result, "toolUseId")).as_deref());
        }
        None if text(block, "text").is_some() => {
            let said = part_text(block).cloned().map(Value::String);
            trace.push(Draft::message(role, block).text(said));
        }
        Some("text" | "input_text" | "output_text") => {
            let said = part_text(block).cloned().map(Value::String);
            trace.push(Draft::message(role, block).text(said));
        }
        // Images, documents and whatever comes next: something was said, but not in text.
        Some(_) => trace.push(Draft::message(role, block).text(Some(Value::Null))),
        None => {
            let said = said(block).cloned().map(Value::String);
            let draft = match said {
                Some(said) => Draft::message(role, block).text(Some(said)),
                None => Draft::other(block).role(role),
            };
            trace.push(draft);
        }
    }
}

/// Reads a tool result. `is_error` may be absent if there was no error. Hosted tools (`web_search_tool_result` …) report
/// errors in the content.
fn result(trace: &mut Trace, block: &Value) {
    let content = get(block, "content");
    let told = content
        .and_then(kind)
        .is_some_and(|kind| kind.ends_with("_error"));
    let error = flag(block, "is_error").unwrap_or(told);
    let said = match content {
        None => Some(Value::Null),
        content => content_text(content).or(Some(Value::Null)),
    };
    let draft = Draft::result(block)
        .text(said)
        .outcome(content.cloned().or(Some(Value::Null)))
        .error(Some(error));
    let id = id(some(block, "tool_use_id"));
    trace.result(draft, id.as_deref());
}
