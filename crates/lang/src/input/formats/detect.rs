//! Detects the format of a file by its first documents.
//!
//! Each document votes for a format if its shape has no other meaning. The format with the most votes wins; of equal votes,
//! the earlier document decides. Documents without a built-in reader do not vote, because a wrong guess would lose data without a
//! problem.

use super::langsmith::is_run;
use super::messages::{answer, has_blocks, is_message, nested_records};
use super::otel_span::is_span;
use super::shape::{at, first, get, is_object, items, kind, list, some, text};
use super::units::are_items;
use super::{
    Format, Granularity, KINDS, atif, gemini, inspect, langchain, managed, mcp, openhands,
    pydantic_ai, responses, swe, table,
};
use crate::value::Value;

/// The number of elements of a list that are examined.
const LOOK: usize = 32;

/// The first part of a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample<'a> {
    /// The first JSON documents (or lines) of the file; empty where it is not JSON.
    pub values: &'a [Value],
    /// The first bytes of the file; needed for files that are not JSON.
    pub text: &'a [u8],
}

/// A format, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Detection {
    /// The format.
    pub format: Format,
    /// The granularity for [`convert`](super::convert).
    pub granularity: Granularity,
    /// The evidence: one clause for the user.
    pub why: String,
}

/// The evidence of one document.
struct Vote {
    format: Format,
    granularity: Granularity,
    why: &'static str,
}

fn vote(format: Format, why: &'static str) -> Option<Vote> {
    Some(Vote {
        format,
        granularity: format.granularity(),
        why,
    })
}

fn per(granularity: Granularity, format: Format, why: &'static str) -> Option<Vote> {
    Some(Vote {
        format,
        granularity,
        why,
    })
}

/// Finds the format of a file; `None` if no built-in reader knows it.
pub fn detect(sample: &Sample<'_>) -> Option<Detection> {
    if sample.values.is_empty() {
        return table(sample.text);
    }
    let mut votes: Vec<(Vote, usize)> = Vec::new();
    for value in sample.values.iter().take(LOOK) {
        let Some(vote) = whole(value) else {
            continue;
        };
        match votes
            .iter_mut()
            .find(|(known, _)| known.format == vote.format && known.granularity == vote.granularity)
        {
            Some((_, count)) => *count += 1,
            None => votes.push((vote, 1)),
        }
    }
    let most = votes.iter().map(|(_, count)| *count).max()?;
    let (vote, count) = votes.into_iter().find(|(_, count)| *count == most)?;
    let seen = sample.values.len().min(LOOK);
    let why = match seen {
        1 => vote.why.to_owned(),
        _ => format!("{} ({count} of the first {seen} documents)", vote.why),
    };
    Some(Detection {
        format: vote.format,
        granularity: vote.granularity,
        why,
    })
}

/// Returns a header of several columns, one of which we know.
fn table(head: &[u8]) -> Option<Detection> {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    let header = std::str::from_utf8(head.split(|byte| *byte == b'\n').next()?).ok()?;
    let separator = char::from(table::separator(header.as_bytes()));
    let columns: Vec<String> = header
        .trim()
        .split(separator)
        .map(|column| column.trim().trim_matches('"').to_ascii_lowercase())
        .collect();
    const KNOWN: [&str; 16] = [
        "trace",
        "trace_id",
        "case",
        "case_id",
        "case:concept:name",
        "activity",
        "concept:name",
        "kind",
        "tool",
        "timestamp",
        "time:timestamp",
        "time",
        "role",
        "text",
        "args",
        "event",
    ];
    let found = columns
        .iter()
        .find(|column| KNOWN.contains(&column.as_str()))?;
    (columns.len() > 1).then(|| Detection {
        format: Format::Csv,
        granularity: Granularity::Text,
        why: format!("a header row with a column `{found}`"),
    })
}

/// Returns the evidence of a document, by itself or by its elements.
fn whole(value: &Value) -> Option<Vote> {
    let Some(elements) = items(value) else {
        return document(value);
    };
    if managed::method(value).is_some() {
        return vote(
            Format::AnthropicManaged,
            "pairs of a client method and an event",
        );
    }
    let looked = || elements.iter().take(LOOK);
    if are_items(looked(), is_message) {
        return messages(elements);
    }
    if are_items(looked(), openhands::is_event) {
        return vote(
            Format::Swe,
            "events with `source` and `action` or `observation`",
        );
    }
    if are_items(looked(), langchain::is_message) {
        return vote(
            Format::LangChain,
            "messages of type `human`, `ai` or `tool`",
        );
    }
    if are_items(looked(), |item| {
        get(item, "role").is_none() && responses::is_item(item)
    }) || are_items(looked(), responses::is_item)
        && looked().any(|item| get(item, "role").is_none())
    {
        return vote(Format::OpenAiResponses, "items such as `function_call`");
    }
    if are_items(looked(), mcp::is_item) {
        return vote(Format::Mcp, "a list of JSON-RPC messages");
    }
    if are_items(looked(), is_run) {
        return vote(Format::LangChain, "runs with `run_type`");
    }
    if are_items(looked(), gemini::is_message) {
        return vote(Format::Gemini, "contents with `parts`");
    }
    if are_items(looked(), is_claude_record) {
        return vote(Format::ClaudeCode, "records of a Claude Code session");
    }
    // A list of records: all of one format.
    let mut records = looked().filter_map(|element| match items(element) {
        Some(inner) if are_items(inner.iter().take(LOOK), is_message) => messages(inner),
        Some(_) => managed::method(element).and_then(|_| {
            vote(
                Format::AnthropicManaged,
                "pairs of a client method and an event",
            )
        }),
        None => document(element),
    });
    let first = records.next()?;
    records
        .all(|other| other.format == first.format)
        .then_some(first)
}

fn is_claude_record(value: &Value) -> bool {
    get(value, "parentUuid").is_some() && get(value, "sessionId").is_some()
        || text(value, "leafUuid").is_some()
        || kind(value) == Some("file-history-snapshot")
        || kind(value) == Some("queue-operation") && get(value, "sessionId").is_some()
        || matches!(kind(value), Some("user" | "assistant"))
            && get(value, "message").is_some_and(is_object)
            && ["timestamp", "sessionId", "session_id"]
                .iter()
                .any(|key| get(value, key).is_some())
        || matches!(kind(value), Some("system" | "result"))
            && text(value, "subtype").is_some()
            && get(value, "session_id").is_some()
}

/// Returns the evidence of an object.
fn document(value: &Value) -> Option<Vote> {
    if !is_object(value) {
        return None;
    }
    telemetry(value)
        .or_else(|| transcripts(value))
        .or_else(|| trajectories(value))
        .or_else(|| native(value))
        .or_else(|| chats(value))
}

fn telemetry(value: &Value) -> Option<Vote> {
    if ["resourceSpans", "resource_spans", "batches"]
        .iter()
        .any(|key| list(value, key).is_some())
    {
        return vote(Format::Otel, "`resourceSpans`");
    }
    if list(value, "spans").is_some_and(|spans| are_items(spans.iter().take(LOOK), is_span)) {
        return vote(Format::Otel, "a list of spans");
    }
    if is_span(value) {
        return vote(Format::Otel, "spans with ids and names");
    }
    let jaeger = list(value, "data").and_then(<[Value]>::first);
    if jaeger.is_some_and(|trace| list(trace, "spans").is_some()) {
        return vote(Format::Otel, "traces with lists of spans");
    }
    None
}

fn transcripts(value: &Value) -> Option<Vote> {
    if list(value, "loglines").is_some() {
        return vote(Format::ClaudeCode, "`loglines`");
    }
    if matches!(
        kind(value),
        Some("session_meta" | "turn_context" | "response_item" | "event_msg" | "compacted")
    ) && get(value, "payload").is_some_and(is_object)
    {
        return vote(
            Format::Codex,
            "lines with `type` and `payload` of a rollout",
        );
    }
    if is_claude_record(value) {
        return vote(Format::ClaudeCode, "records of a Claude Code session");
    }
    let request = some(value, "request").unwrap_or(value);
    let sessions = list(value, "messages").or_else(|| list(request, "contents"));
    if sessions.is_some_and(|messages| are_items(messages.iter().take(LOOK), gemini::is_message)) {
        return vote(Format::Gemini, "messages of type `gemini`, or with `parts`");
    }
    if get(value, "projectHash").is_some() && list(value, "messages").is_some() {
        return vote(Format::Gemini, "`projectHash` and `messages`");
    }
    if text(value, "processed_at").is_some()
        && kind(value).is_some_and(|kind| {
            ["session.", "agent.", "user.", "span."]
                .iter()
                .any(|prefix| kind.starts_with(prefix))
        })
    {
        return vote(Format::AnthropicManaged, "events with `processed_at`");
    }
    if mcp::is_item(value) {
        return vote(
            Format::Mcp,
            "JSON-RPC messages, or entries of a client's log",
        );
    }
    let exchange = list(value, "calls").and_then(<[Value]>::first);
    if exchange.is_some_and(|call| at(call, &["request", "method"]).is_some()) {
        return per(
            Granularity::Document,
            Format::Mcp,
            "calls with `request` and `response`",
        );
    }
    let wrapped = ["messages", "entries", "log", "events"]
        .iter()
        .find_map(|key| list(value, key));
    if wrapped.is_some_and(|wrapped| are_items(wrapped.iter().take(LOOK), mcp::is_item)) {
        return per(
            Granularity::Document,
            Format::Mcp,
            "a list of JSON-RPC messages",
        );
    }
    None
}

fn trajectories(value: &Value) -> Option<Vote> {
    if atif::is_trajectory(value) {
        return vote(Format::Atif, "`schema_version` of ATIF");
    }
    if inspect::is_log(value) {
        return vote(Format::Inspect, "`version` and `eval` of an Inspect log");
    }
    if list(value, "trajectory")
        .is_some_and(|steps| are_items(steps.iter().take(LOOK), swe::is_step))
    {
        return vote(Format::Swe, "a `trajectory` of actions and observations");
    }
    if text(value, "trajectory_format").is_some_and(|format| format.starts_with("mini-swe")) {
        return vote(Format::Swe, "`trajectory_format` of mini-swe-agent");
    }
    let history = list(value, "history").unwrap_or(&[]);
    if history
        .iter()
        .take(LOOK)
        .any(|message| get(message, "message_type").is_some() && get(message, "agent").is_some())
    {
        return vote(Format::Swe, "a `history` of SWE-agent");
    }
    let events = ["history", "events", "trajectory"]
        .iter()
        .find_map(|key| list(value, key));
    if events.is_some_and(|events| are_items(events.iter().take(LOOK), openhands::is_event)) {
        return vote(
            Format::Swe,
            "events with `source` and `action` or `observation`",
        );
    }
    if openhands::is_event(value) {
        return per(
            Granularity::Lines,
            Format::Swe,
            "events with `source` and `action` or `observation`",
        );
    }
    let output = first(value, &["output", "outputs"]);
    if list(value, "intermediate_steps").is_some()
        || output.is_some_and(|output| list(output, "intermediate_steps").is_some())
    {
        return vote(Format::LangChain, "`intermediate_steps`");
    }
    if is_run(value) {
        // Runs of one trace stand on several lines; a tree is whole.
        return per(
            Granularity::Lines,
            Format::LangChain,
            "runs with `run_type`",
        );
    }
    let runs = ["runs", "data"].iter().find_map(|key| list(value, key));
    if runs.is_some_and(|runs| are_items(runs.iter().take(LOOK), is_run)) {
        return vote(Format::LangChain, "a list of runs with `run_type`");
    }
    if langchain::is_message(value) {
        return per(
            Granularity::Lines,
            Format::LangChain,
            "messages of type `human`, `ai` or `tool`",
        );
    }
    None
}

fn native(value: &Value) -> Option<Vote> {
    if list(value, "events").is_some() {
        return vote(Format::Native, "`events`");
    }
    if text(value, "kind").is_some_and(|kind| KINDS.contains(&kind)) {
        return per(
            Granularity::Lines,
            Format::Native,
            "events with a canonical `kind`",
        );
    }
    if get(value, "trace").is_some() && get(value, "end") == Some(&Value::Bool(true)) {
        return per(Granularity::Lines, Format::Native, "the end of a trace");
    }
    None
}

fn chats(value: &Value) -> Option<Vote> {
    let apart = |key| some(value, key).unwrap_or(value);
    let (request, response) = (apart("request"), apart("response"));
    if text(response, "object") == Some("response")
        || list(response, "output")
            .is_some_and(|items| are_items(items.iter().take(LOOK), responses::is_item))
    {
        return vote(Format::OpenAiResponses, "a response with `output` items");
    }
    let input = list(request, "input").unwrap_or(&[]);
    if input.iter().take(LOOK).any(|item| {
        matches!(
            kind(item),
            Some("function_call" | "function_call_output" | "reasoning")
        )
    }) {
        return vote(Format::OpenAiResponses, "a request with `input` items");
    }
    let store = list(value, "items").or_else(|| list(value, "data"));
    let store = || store.unwrap_or(&[]).iter().take(LOOK);
    if are_items(store(), responses::is_item) && store().any(|item| get(item, "role").is_none()) {
        return vote(Format::OpenAiResponses, "a list of items");
    }
    if get(value, "role").is_none() && responses::is_item(value)
        || kind(value) == Some("message")
            && get(value, "role").is_some()
            && get(value, "model").is_none()
            && get(value, "stop_reason").is_none()
            && !has_blocks(value)
    {
        return per(
            Granularity::Lines,
            Format::OpenAiResponses,
            "items such as `function_call`",
        );
    }
    if is_message(value) {
        let mut vote = messages(std::slice::from_ref(value))?;
        vote.granularity = Granularity::Lines;
        return Some(vote);
    }
    // A `message` alone is what many kinds of records have.
    if let Some(answer) = answer(value)
        && (answer.pointer != "/message" || get(value, "model").is_some())
        && request_list(value).is_none()
    {
        return match answer.pointer.rsplit('/').next() {
            Some("choices") => vote(Format::OpenAiChat, "a response with `choices`"),
            Some("candidates") => vote(Format::Gemini, "a response with `candidates`"),
            _ => messages(std::slice::from_ref(&*answer.message)),
        };
    }
    let Value::Object(members) = value else {
        return None;
    };
    if let Some(found) = request_list(value) {
        return messages(found);
    }
    let mut lists = members.iter().filter_map(|(_, member)| items(member));
    if lists.any(|items| are_items(items.iter().take(LOOK), langchain::is_message)) {
        return vote(
            Format::LangChain,
            "messages of type `human`, `ai` or `tool`",
        );
    }
    if let Some((_, records)) = nested_records(value) {
        return records.iter().find_map(document);
    }
    let below = members.iter().filter_map(|(_, member)| match member {
        Value::Object(inner) => Some(inner),
        _ => None,
    });
    for inner in below {
        let mut lists = inner.iter().filter_map(|(_, member)| items(member));
        if let Some(found) = lists.find(|items| are_items(items.iter().take(LOOK), is_message)) {
            return messages(found);
        }
    }
    None
}

/// Returns a member of a record that is a list of messages.
fn request_list(record: &Value) -> Option<&[Value]> {
    let Value::Object(members) = record else {
        return None;
    };
    let mut lists = members.iter().filter_map(|(_, member)| items(member));
    lists.find(|items| are_items(items.iter().take(LOOK), is_message))
}

/// Detects OpenAI, Anthropic or Gemini by the blocks of the content.
fn messages(messages: &[Value]) -> Option<Vote> {
    if are_items(messages.iter().take(LOOK), |message| {
        gemini::has_parts(message) && some(message, "content").is_none()
    }) {
        return vote(Format::Gemini, "contents with `parts`");
    }
    if are_items(messages.iter().take(LOOK), pydantic_ai::is_message) {
        return vote(
            Format::Anthropic,
            "messages with `kind` and parts with `part_kind`",
        );
    }
    if messages.iter().any(has_blocks) {
        return vote(Format::Anthropic, "messages with blocks such as `tool_use`");
    }
    if messages
        .iter()
        .take(LOOK)
        .any(|message| kind(message) == Some("message") && get(message, "stop_reason").is_some())
    {
        return vote(Format::Anthropic, "messages with `stop_reason`");
    }
    vote(
        Format::OpenAiChat,
        "a list of messages with `role` and `content`",
    )
}
