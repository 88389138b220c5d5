//! Between an MCP client and its server: calls of tools are judged before they are passed on, results before they are
//! given back.
//!
//! A denied call never reaches the server; the client gets a result with `isError` and the reason, which a model can read
//! and act on, rather than a protocol error. A result that a clause blocks is replaced in the same way. All other messages
//! pass as they are. A call that is answered with `input_required` and tried again with the server's `requestState` is one
//! action, and its event is not counted twice; a further try with another tool or other arguments is a call of its own.
//!
//! A line of the server that readers may differ on is not passed on: the client might read a result in it that was never
//! judged.
//!
//! Source: Model Context Protocol, schemas 2025-11-25 and 2026-07-28 (`resultType` is required from the latter on).

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use super::Judge;
use super::event::Event;
use crate::monitor::{Decision, RawObject, Ruling};

/// From this version of the protocol on every result says its type.
const TYPED_RESULTS: &str = "2026-07-28";

/// Calls that are waiting for results; beyond it a call is denied.
const MAX_OPEN: usize = 10_000;

/// What is to be done with a line.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// Pass it on as it is.
    Pass,
    /// Pass this on in its place.
    Replace(String),
    /// Pass nothing on; send this back.
    Reply(String),
    /// Of a list: pass one part on, and send this back for the other.
    Part {
        /// What is passed on.
        on: String,
        /// What is sent back.
        back: String,
    },
    /// Pass nothing on, for this reason.
    Drop(String),
}

/// A connection between a client and a server.
#[derive(Debug)]
pub struct Session {
    trace: String,
    /// Whether calls about which a person is to decide are passed on.
    ask_passes: bool,
    /// Calls without a result, by the [key](id_key) of their request's id.
    open: HashMap<String, Open>,
    /// Calls that the server asked for input about, by the state it gave.
    continued: HashMap<String, Open>,
    typed_results: bool,
}

/// A call that was passed on.
#[derive(Clone, Debug, PartialEq)]
struct Open {
    tool: String,
    args: String,
    /// The id of the first try: the call's id in the trace.
    call: String,
}

impl Session {
    /// A connection whose events belong to this trace.
    pub fn new(trace: &str, ask_passes: bool) -> Session {
        Session {
            trace: trace.to_owned(),
            ask_passes,
            open: HashMap::new(),
            continued: HashMap::new(),
            typed_results: false,
        }
    }

    /// A line that the client sends.
    pub fn from_client(&mut self, judge: &mut impl Judge, line: &[u8]) -> (Verdict, Vec<Decision>) {
        let mut decisions = Vec::new();
        let verdict = match batch(line) {
            Some(Ok(messages)) => {
                let judged = messages
                    .iter()
                    .map(|message| self.request(judge, message.as_bytes(), &mut decisions));
                join(&messages, judged.collect())
            }
            Some(Err(reason)) => Verdict::Reply(protocol_error("null", -32700, &reason)),
            None => self.request(judge, line, &mut decisions),
        };
        (verdict, decisions)
    }

    /// A line that the server sends.
    pub fn from_server(&mut self, judge: &mut impl Judge, line: &[u8]) -> (Verdict, Vec<Decision>) {
        let mut decisions = Vec::new();
        let verdict = match batch(line) {
            Some(Ok(messages)) => {
                let judged = messages
                    .iter()
                    .map(|message| self.response(judge, message.as_bytes(), &mut decisions));
                join(&messages, judged.collect())
            }
            Some(Err(reason)) => Verdict::Drop(reason),
            None => self.response(judge, line, &mut decisions),
        };
        (verdict, decisions)
    }

    fn request(
        &mut self,
        judge: &mut impl Judge,
        line: &[u8],
        decisions: &mut Vec<Decision>,
    ) -> Verdict {
        let message = match RawObject::read(line) {
            Ok(message) => message,
            // Readers differ on what such a line says, so the server may see a call where none is seen here.
            Err(reason) => {
                let id = only_id(line).unwrap_or_else(|| "null".to_owned());
                return Verdict::Reply(protocol_error(&id, -32700, &reason));
            }
        };
        let (Some(method), Some(id)) = (message.text("method"), message.raw("id")) else {
            // A response, or a notification. A call needs an id to be answered; without one it is not passed on.
            return match message.text("method").as_deref() {
                Some("tools/call") => Verdict::Reply(protocol_error(
                    "null",
                    -32600,
                    "a call of a tool needs an id",
                )),
                _ => Verdict::Pass,
            };
        };
        if method != "tools/call" {
            return Verdict::Pass;
        }
        let params = match message.of("params") {
            Ok(params) => params,
            Err(reason) => return Verdict::Reply(protocol_error(id, -32602, &reason)),
        };
        if let Ok(meta) = params.of("_meta") {
            let version = meta.text("io.modelcontextprotocol/protocolVersion");
            self.typed_results |= version.is_some_and(|version| version.as_str() >= TYPED_RESULTS);
        }
        let Some(tool) = params.text("name") else {
            return Verdict::Reply(protocol_error(
                id,
                -32602,
                "a call of a tool needs its `name`",
            ));
        };
        let args = params.raw("arguments").unwrap_or("{}").to_owned();
        let key = id_key(id);
        if self.open.contains_key(&key) {
            // Two results would come, and which of them is whose nobody can tell.
            let reason = "another call of this id is waiting for its result";
            return Verdict::Reply(protocol_error(id, -32600, reason));
        }
        if self.open.len() >= MAX_OPEN {
            return Verdict::Reply(
                self.denial(id, &format!("{MAX_OPEN} calls are waiting for results")),
            );
        }
        let earlier = params
            .raw("requestState")
            .and_then(|state| self.continued.remove(state));
        if let Some(earlier) =
            earlier.filter(|earlier| earlier.tool == tool && earlier.args == args)
        {
            self.open.insert(key, earlier);
            return Verdict::Pass;
        }
        let open = Open {
            tool,
            args,
            call: id_text(id),
        };
        let mut event = self.event("call", "assistant", &open, line);
        let event = event.null(&["text", "result", "error"]).line();
        let proposed = match judge.propose(&event) {
            Ok(proposed) => proposed,
            Err(reason) => return Verdict::Reply(self.denial(id, &reason)),
        };
        let passes =
            proposed.ruling < Ruling::Ask || (proposed.ruling == Ruling::Ask && self.ask_passes);
        let reason = said(&proposed);
        let settled = match proposed.proposal {
            Some(proposal) if passes => judge.commit(proposal, &event).err(),
            Some(proposal) => judge.abandon(proposal).err(),
            None => None,
        };
        if let Some(reason) = settled {
            return Verdict::Reply(self.denial(id, &reason));
        }
        decisions.push(proposed);
        if passes {
            self.open.insert(key, open);
            Verdict::Pass
        } else {
            Verdict::Reply(self.denial(id, &reason))
        }
    }

    fn response(
        &mut self,
        judge: &mut impl Judge,
        line: &[u8],
        decisions: &mut Vec<Decision>,
    ) -> Verdict {
        let message = match RawObject::read(line) {
            Ok(message) => message,
            Err(reason) => return self.unreadable(line, reason),
        };
        if let Ok(result) = message.of("result") {
            let version = result.text("protocolVersion");
            self.typed_results |= version.is_some_and(|version| version.as_str() >= TYPED_RESULTS);
        }
        // Requests of the server have ids of their own.
        let id = message
            .raw("id")
            .filter(|_| message.raw("method").is_none());
        let Some((id, open)) = id.and_then(|id| Some((id, self.open.remove(&id_key(id))?))) else {
            return Verdict::Pass;
        };
        let result = message.of("result");
        if let Ok(result) = &result
            && result.text("resultType").as_deref() == Some("input_required")
        {
            if let Some(state) = result.raw("requestState") {
                if self.continued.len() >= MAX_OPEN {
                    // Further tries of these count as calls of their own.
                    self.continued.clear();
                }
                self.continued.insert(state.to_owned(), open);
            }
            return Verdict::Pass;
        }
        let mut event = self.event("result", "tool", &open, line);
        match message.raw("error") {
            Some(error) => {
                let why = RawObject::read(error.as_bytes())
                    .ok()
                    .and_then(|error| error.text("message"));
                event.raw("result", error).raw("error", "true");
                event.raw("text", Json::from(why).to_string());
            }
            None => {
                let failed = result
                    .as_ref()
                    .is_ok_and(|result| result.is_true("isError"));
                event.raw("result", message.raw("result").unwrap_or("null"));
                event.raw("error", if failed { "true" } else { "false" });
                event.raw(
                    "text",
                    Json::from(result.ok().and_then(|result| content(&result))).to_string(),
                );
            }
        }
        let decision = match judge.observe(&event.line()) {
            Ok(decision) => decision,
            Err(reason) => return Verdict::Replace(self.denial(id, &reason)),
        };
        let verdict = if decision.ruling.denies() {
            Verdict::Replace(self.denial(id, &said(&decision)))
        } else {
            Verdict::Pass
        };
        decisions.push(decision);
        verdict
    }

    /// A line of the server that cannot be judged. Where it answers a call, so does its denial.
    fn unreadable(&mut self, line: &[u8], reason: String) -> Verdict {
        let reason = format!("the server's answer could not be judged: {reason}");
        let members = RawObject::parse(line).ok();
        let id = members.as_ref().and_then(|members| members.raw("id"));
        match id.filter(|id| self.open.remove(&id_key(id)).is_some()) {
            Some(id) => Verdict::Replace(self.denial(id, &reason)),
            None => Verdict::Drop(reason),
        }
    }

    fn event(&self, kind: &str, role: &str, open: &Open, line: &[u8]) -> Event {
        let mut event = Event::new(&self.trace, kind, role);
        event
            .text("tool", &open.tool)
            .raw("args", &open.args)
            .text("call", &open.call);
        event
            .null(&["agent"])
            .raw("raw", String::from_utf8_lossy(line).trim());
        event
    }

    /// A result that says why a call was denied.
    fn denial(&self, id: &str, reason: &str) -> String {
        let mut result = json!({"content": [{"type": "text", "text": reason}], "isError": true});
        if let (true, Some(members)) = (self.typed_results, result.as_object_mut()) {
            members.insert("resultType".to_owned(), Json::from("complete"));
        }
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")
    }
}

/// The messages of a line that is a list of messages, as versions before 2025-06-18 allow.
fn batch(line: &[u8]) -> Option<Result<Vec<String>, String>> {
    let first = line.iter().find(|byte| !byte.is_ascii_whitespace())?;
    (*first == b'[').then(|| {
        let messages: Vec<&serde_json::value::RawValue> =
            serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
        Ok(messages
            .into_iter()
            .map(|message| message.get().to_owned())
            .collect())
    })
}

/// What is to be done with a list whose messages were judged one by one: what may pass goes on as a list, and the denials go
/// back. Each call was judged as made after those before it, so those that are let through must be made.
fn join(messages: &[String], verdicts: Vec<Verdict>) -> Verdict {
    if verdicts.iter().all(|verdict| *verdict == Verdict::Pass) {
        return Verdict::Pass;
    }
    let (mut on, mut back) = (Vec::new(), Vec::new());
    for (verdict, message) in verdicts.into_iter().zip(messages) {
        match verdict {
            Verdict::Pass => on.push(message.clone()),
            Verdict::Replace(text) => on.push(text),
            Verdict::Reply(text) => back.push(text),
            Verdict::Part {
                on: text,
                back: told,
            } => {
                on.push(text);
                back.push(told);
            }
            Verdict::Drop(_) => {}
        }
    }
    let list = |texts: Vec<String>| format!("[{}]", texts.join(","));
    match (on.is_empty(), back.is_empty()) {
        (_, true) => Verdict::Replace(list(on)),
        (true, false) => Verdict::Reply(list(back)),
        (false, false) => Verdict::Part {
            on: list(on),
            back: list(back),
        },
    }
}

fn said(decision: &Decision) -> String {
    let reason = decision.reason();
    let why = if reason.is_empty() {
        "denied by the spec".to_owned()
    } else {
        reason
    };
    match decision.ruling {
        Ruling::Ask => format!("a person must decide: {why}"),
        _ => why,
    }
}

/// The id of a message that cannot be judged, where there is no doubt about it: whoever asked waits for an answer.
fn only_id(line: &[u8]) -> Option<String> {
    let members = RawObject::parse(line).ok()?;
    let mut ids = members.iter().filter(|(key, _)| *key == "id");
    let (_, id) = ids.next()?;
    let scalar = !id.starts_with(['{', '[']);
    (scalar && ids.next().is_none()).then(|| id.to_owned())
}

fn protocol_error(id: &str, code: i32, message: &str) -> String {
    let error = json!({"code": code, "message": message});
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
}

/// An id as text: `7` for both `7` and `"7"`.
fn id_text(id: &str) -> String {
    serde_json::from_str::<String>(id).unwrap_or_else(|_| id.to_owned())
}

/// An id as what it is rather than how it is written: a server may write `1` as `1.0`, and `"a"` with an escape.
fn id_key(id: &str) -> String {
    // Up to here every whole number is a double.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    match serde_json::from_str::<Json>(id) {
        Ok(Json::Number(number)) if number.is_f64() => match number.as_f64() {
            Some(whole) if whole.fract() == 0.0 && whole.abs() < EXACT => format!("{whole:.0}"),
            _ => number.to_string(),
        },
        Ok(other) => other.to_string(),
        Err(_) => id.to_owned(),
    }
}

/// The text of the content blocks of a result.
fn content(result: &RawObject<'_>) -> Option<String> {
    let blocks: Vec<Json> = serde_json::from_str(result.raw("content")?).ok()?;
    let texts: Vec<&str> = blocks
        .iter()
        .filter_map(|block| block.get("text")?.as_str())
        .collect();
    (!texts.is_empty()).then(|| texts.join("\n"))
}
