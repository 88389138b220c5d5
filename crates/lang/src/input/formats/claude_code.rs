//! Transcripts of Claude Code, in two readings: `claude_code` follows the branch that ends in the last leaf and sets
//! sub-agents apart, `claude_code_lines` takes every record in file order as one trace.
//!
//! Also read is what `--output-format stream-json` prints, which is the same without the tree.
//!
//! An item is a record: a line of a `.jsonl`, or an element of `loglines`. Its index is its position there, in both
//! readings.

use crate::hash::SeededMap;
use indexmap::IndexMap;
use smol_str::SmolStr;

use super::anthropic;
use super::claude_tree::{Node, branch, roots};
use super::event::Draft;
use super::shape::{
    at, content_text, first, flag, get, id, is_object, is_streamed, kind, list, object, some, text,
};
use super::trace::{Out, Trace};
use super::units::{Item, flat};
use super::unread;
use super::{Input, ItemPlace};
use crate::value::Value;

const WRAPPERS: [&str; 1] = ["loglines"];

/// Reads every record, in file order.
pub(super) fn read_lines(input: &Input<'_>, out: &mut Out) {
    let records = flat(input, &WRAPPERS);
    let Some(begin) = records.iter().find(|record| is_record(record.value)) else {
        return unread::lose_all(&records, "values that are not records of a transcript", out);
    };
    let session = records.iter().find_map(|record| session(record.value));
    let mut trace = out.trace(session, 0, begin.line);
    let values = || records.iter().map(|record| record.value);
    trace.meta(facts(session_facts(values()), values()));
    for (index, record) in records.iter().enumerate() {
        let agent = agent_of(record.value);
        begin_item(&mut trace, index, record, agent);
        checked(&mut trace, record.value);
    }
    trace.finish(out);
}

/// Whether a value is a record of a transcript: it has a type and belongs to a session, a message or a record, or it is a message.
fn is_record(value: &Value) -> bool {
    const BELONGS: [&str; 7] = [
        "message",
        "uuid",
        "sessionId",
        "session_id",
        "leafUuid",
        "messageId",
        "agentId",
    ];
    match kind(value) {
        Some(_) => first(value, &BELONGS).is_some() && !is_streamed(value),
        None => {
            text(value, "uuid").is_some()
                || get(value, "message").is_some_and(|message| get(message, "role").is_some())
        }
    }
}

/// Reads the branch that was followed, and sub-agents as traces of their own.
pub(super) fn read_branches(input: &Input<'_>, out: &mut Out) {
    let records = flat(input, &WRAPPERS);
    for (n, members) in sessions(&records).into_iter().enumerate() {
        let n = u32::try_from(n).unwrap_or(u32::MAX);
        read_session(n, &records, &members, out);
    }
}

/// Reads one session of a file, given the positions of its records.
fn read_session(n: u32, records: &[Item<'_>], members: &[usize], out: &mut Out) {
    let own = || members.iter().filter_map(|member| records.get(*member));
    let session = own().find_map(|record| session(record.value));
    let of_session = session_facts(own().map(|record| record.value));
    let mut nodes: Vec<Node<'_>> = Vec::new();
    let mut places: Vec<usize> = Vec::new();
    let mut seen: SeededMap<&str, usize> = SeededMap::default();
    for (index, record) in members.iter().copied().zip(own()) {
        let place = ItemPlace {
            line: record.line,
            index: u32::try_from(index).ok(),
        };
        if let Some(what) = left_out(record.value) {
            out.lose_item(what, place);
            continue;
        }
        if let Some(uuid) = text(record.value, "uuid") {
            let known = seen.get(uuid).and_then(|earlier| records.get(*earlier));
            if known.is_some_and(|earlier| earlier.value == record.value) {
                out.lose_item("duplicate records", place);
                continue;
            }
            seen.insert(uuid, index);
        }
        nodes.push(node(record.value));
        places.push(index);
    }
    for (agent, members) in groups(records, &nodes, &places) {
        let group: Vec<Node<'_>> = members
            .iter()
            .filter_map(|member| nodes.get(*member).cloned())
            .collect();
        let chosen = branch(&group);
        let name = match (&session, &agent) {
            (Some(session), Some(agent)) => Some(SmolStr::new(format!("{session}/{agent}"))),
            (None, Some(agent)) => Some(agent.clone()),
            (session, None) => session.clone(),
        };
        let kept: Vec<(usize, &Item<'_>, bool)> = members
            .iter()
            .zip(&chosen)
            .filter_map(|(member, chosen)| {
                let index = *places.get(*member)?;
                Some((index, records.get(index)?, *chosen))
            })
            .collect();
        let line = kept.first().and_then(|(_, record, _)| record.line);
        let mut trace = out.trace(name, n, line);
        let of_agent = kept.iter().map(|(_, record, _)| record.value);
        trace.meta(facts(of_session.clone(), of_agent));
        for (index, record, chosen) in kept {
            if !chosen {
                let place = ItemPlace {
                    line: record.line,
                    index: u32::try_from(index).ok(),
                };
                out.lose_item("records of abandoned branches", place);
                continue;
            }
            let agent = match &agent {
                Some(agent) => Some(Value::String(agent.clone().into())),
                None => agent_of(record.value),
            };
            begin_item(&mut trace, index, record, agent);
            checked(&mut trace, record.value);
        }
        trace.finish(out);
    }
}

/// Returns the sessions of a file, in the order in which they begin. A record without a session id belongs to the session of
/// its parent, else to the one before it. Sessions whose records refer to each other are one resumed session; so is a
/// session of which the file has only a part (the parent of its first record is missing) with the session before it.
fn sessions(records: &[Item<'_>]) -> Vec<Vec<usize>> {
    let mut numbers: SeededMap<SmolStr, usize> = SeededMap::default();
    let mut joined: Vec<usize> = Vec::new();
    let mut by_uuid: SeededMap<&str, usize> = SeededMap::default();
    let mut of: Vec<Option<usize>> = Vec::with_capacity(records.len());
    for record in records {
        let before = of.last().copied().flatten();
        let named = text(record.value, "parentUuid");
        let parent = named.and_then(|uuid| by_uuid.get(uuid).copied());
        let own = session(record.value).map(|name| {
            let next = joined.len();
            let number = *numbers.entry(name).or_insert(next);
            let begins = number == next;
            if begins {
                joined.push(next);
            }
            let piece = begins && named.is_some();
            if let Some(other) = parent.or(before.filter(|_| piece)) {
                let (number, other) = (root(&joined, number), root(&joined, other));
                if let Some(later) = joined.get_mut(number.max(other)) {
                    *later = number.min(other);
                }
            }
            number
        });
        let number = own.or(parent).or(before);
        if let (Some(uuid), Some(number)) = (text(record.value, "uuid"), number) {
            by_uuid.insert(uuid, number);
        }
        of.push(number);
    }
    let mut groups: IndexMap<usize, Vec<usize>> = IndexMap::new();
    for (place, number) in of.into_iter().enumerate() {
        // What stands before the first session belongs to it.
        let session = root(&joined, number.unwrap_or(0));
        groups.entry(session).or_default().push(place);
    }
    groups.into_values().collect()
}

/// Returns the first of the sessions that are one with this.
fn root(joined: &[usize], mut session: usize) -> usize {
    while let Some(earlier) = joined.get(session).copied().filter(|it| *it != session) {
        session = earlier;
    }
    session
}

fn begin_item(trace: &mut Trace, index: usize, record: &Item<'_>, agent: Option<Value>) {
    let at = some(record.value, "timestamp")
        .filter(|at| matches!(at, Value::String(_) | Value::Number(_)))
        .cloned();
    trace.item(index, record.line, record.value, at, agent);
}

fn session(record: &Value) -> Option<SmolStr> {
    id(first(record, &["sessionId", "session_id"]))
}

/// Returns the sub-agent of a record; the streamed form names it by the call that started it.
fn agent_id(record: &Value) -> Option<SmolStr> {
    id(first(record, &["agentId", "parent_tool_use_id"]))
}

/// Returns the agent of a record: null for the main agent; absent if the record does not say.
fn agent_of(record: &Value) -> Option<Value> {
    match (agent_id(record), flag(record, "isSidechain")) {
        (Some(agent), _) => Some(Value::String(agent.into())),
        (None, Some(true)) => Some(Value::string("sidechain")),
        (None, Some(false)) => Some(Value::Null),
        (None, None) => get(record, "parent_tool_use_id").cloned(),
    }
}

/// Returns the reason why a record belongs to no conversation.
fn left_out(record: &Value) -> Option<String> {
    if !is_object(record) {
        return Some("values that are not objects".to_owned());
    }
    match kind(record) {
        Some("summary") => Some("records of type `summary` (kept in `meta.summary`)".to_owned()),
        Some(kind @ "progress") => Some(format!("records of type `{kind}`")),
        // The streamed form has `system` and `result` records of its own, by session.
        Some("system" | "result") if get(record, "session_id").is_some() => None,
        kind if get(record, "message").is_none() && text(record, "uuid").is_none() => {
            Some(match kind {
                Some(kind) => format!("records of type `{kind}`"),
                None => "records without type, message and uuid".to_owned(),
            })
        }
        _ => None,
    }
}

fn node(record: &Value) -> Node<'_> {
    let blocks = at(record, &["message", "content"])
        .and_then(super::shape::items)
        .unwrap_or(&[]);
    let ids = |suffix: &'static str, key: &'static str| -> Vec<&str> {
        blocks
            .iter()
            .filter(|block| kind(block).is_some_and(|kind| kind.ends_with(suffix)))
            .filter_map(|block| text(block, key))
            .collect()
    };
    Node {
        uuid: text(record, "uuid").unwrap_or(""),
        parent: text(record, "parentUuid"),
        speaks: matches!(kind(record), Some("user" | "assistant")),
        message: match kind(record) {
            Some("assistant") => at(record, &["message", "id"]).and_then(Value::as_str),
            _ => None,
        },
        calls: ids("tool_use", "id"),
        answers: ids("tool_result", "tool_use_id"),
    }
}

/// Returns the conversations of a file: the main one, and one per sub-agent. Side chains without an agent id are
/// distinguished by their trees.
fn groups(
    records: &[Item<'_>],
    nodes: &[Node<'_>],
    places: &[usize],
) -> Vec<(Option<SmolStr>, Vec<usize>)> {
    let (roots, _) = roots(nodes);
    let mut groups: Vec<(Option<SmolStr>, Vec<usize>)> = Vec::new();
    let mut side: SeededMap<usize, SmolStr> = SeededMap::default();
    let mut known: SeededMap<Option<SmolStr>, usize> = SeededMap::default();
    for (member, index) in places.iter().enumerate() {
        let Some(record) = records.get(*index) else {
            continue;
        };
        let agent = match (agent_id(record.value), flag(record.value, "isSidechain")) {
            (Some(agent), Some(true) | None) => Some(agent),
            (None, Some(true)) => {
                let next = side.len() + 1;
                let root = roots.get(member).copied().unwrap_or(member);
                let name = side
                    .entry(root)
                    .or_insert_with(|| SmolStr::new(format!("side{next}")));
                Some(name.clone())
            }
            _ => None,
        };
        let next = groups.len();
        let group = *known.entry(agent.clone()).or_insert(next);
        if group == next {
            groups.push((agent, Vec::new()));
        }
        if let Some((_, members)) = groups.get_mut(group) {
            members.push(member);
        }
    }
    groups
}

/// Returns the facts that all agents of a session share: the first that is said counts.
fn session_facts<'a>(records: impl Iterator<Item = &'a Value> + Clone) -> Vec<(SmolStr, Value)> {
    let members = [
        ("session", ["sessionId", "session_id"].as_slice()),
        ("cwd", &["cwd"]),
        ("version", &["version"]),
        ("git_branch", &["gitBranch"]),
        ("summary", &["summary"]),
        ("title", &["customTitle", "aiTitle", "title"]),
    ];
    let mut facts: Vec<(SmolStr, Value)> = Vec::new();
    for (name, keys) in members {
        if let Some(value) = records.clone().find_map(|record| first(record, keys)) {
            facts.push((SmolStr::new_static(name), value.clone()));
        }
    }
    facts
}

/// Adds the model, which each agent has of its own, to the facts of a session.
fn facts<'a>(
    mut facts: Vec<(SmolStr, Value)>,
    records: impl Iterator<Item = &'a Value> + Clone,
) -> Value {
    let said = records.clone().find_map(|record| first(record, &["model"]));
    let used = || {
        let mut models = records.filter_map(|record| at(record, &["message", "model"]));
        models.find(|model| !model.is_null())
    };
    if let Some(model) = said.or_else(used) {
        facts.push((SmolStr::new_static("model"), model.clone()));
    }
    object(facts)
}

/// Reads the events of one record. Records of the program (`progress` …) repeat what others hold, so that only those of the
/// agent, and those that name nobody, are searched for calls that were not read.
fn checked(trace: &mut Trace, record: &Value) {
    let message = get(record, "message").filter(|message| is_object(message));
    let searched = matches!(kind(record), Some("assistant") | None);
    let searched = searched.then(|| message.unwrap_or(record));
    unread::checked(trace, searched, |trace| events(trace, record));
}

/// Reads the events of one record.
fn events(trace: &mut Trace, record: &Value) {
    // What the program put into the user's mouth was not said by the user.
    let injected = ["isMeta", "isCompactSummary"]
        .iter()
        .any(|key| flag(record, key) == Some(true));
    let message = get(record, "message");
    let role = message
        .and_then(|message| text(message, "role"))
        .or_else(|| kind(record).filter(|kind| matches!(*kind, "user" | "assistant")));
    match (role, message) {
        (Some(role), Some(message)) => {
            let role = if injected { "system" } else { role };
            match (list(message, "content"), message) {
                (Some(blocks), _) => {
                    for block in blocks {
                        anthropic::block(trace, role, block);
                    }
                }
                (None, Value::String(said)) => {
                    let said = Some(Value::String(said.clone()));
                    trace.push(Draft::message(role, message).text(said));
                }
                (None, message) => {
                    let said = content_text(get(message, "content"));
                    trace.push(Draft::message(role, message).text(said));
                }
            }
        }
        _ => {
            let said =
                first(record, &["summary", "content", "text", "result"]).and_then(Value::as_str);
            let said = said.or_else(|| record.as_str()).map(Value::string);
            trace.push(Draft::other(record).text(said.or(Some(Value::Null))));
        }
    }
}
