//! Between an MCP client and its server: what the client asks for is judged before the server sees it, and what the server
//! says is judged before the client sees it.
//!
//! # The state machine
//! For each direction there is a table of open requests. A request that passes gets a number of its own, which is its id from
//! there on; its answer gets the bytes of the id that was asked with. So neither peer's reading of ids (`1`, `"1"`, `1.0`)
//! can take an answer for another one's.
//!
//! | message | how it passes |
//! |---|---|
//! | request | its id is not open; judged if it carries content; then open |
//! | answer | it names an open request, which is closed by it; judged if it carries content |
//! | `notifications/cancelled` | it names an open request of its sender, which is closed by it |
//! | other notification | judged if it carries content |
//! | anything else | never: it is refused (client) or dropped (server) |
//!
//! `docs/protocol-mcp.md` has all transitions and the invariants, which a test compares with a second implementation.
//!
//! # Events
//! | message | event |
//! |---|---|
//! | request of the client for content, and any that is not known | `call` |
//! | whatever the server says | `result`; it has the `call` of a request only if it answers that |
//! | answer of the client; answers within a request | `message` of the role `assistant` or `user` |
//!
//! Source: Model Context Protocol, schemas 2024-11-05 to 2026-07-28.

mod bounded;
mod message;
mod request;
mod text;

use std::sync::Arc;

use serde_json::Value as Json;

use super::Judge;
use super::event::Event;
use crate::monitor::{Decision, Ruling};
use bounded::Bounded;
pub use bounded::Limits;
use message::{Case, DENIED, INVALID_PARAMS, INVALID_REQUEST, Malformed, Message, Object, Outcome};
use request::{Asked, Call, Question, comparable, hash_of, hashed};

/// From this version of the protocol on every result says its type, and may be a question.
const TYPED_RESULTS: &str = "2026-07-28";

/// Requests of the client that ask the server to do nothing, and bring it no content. All others are calls.
const PLAIN: [&str; 15] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/list",
    "resources/list",
    "resources/subscribe",
    "resources/templates/list",
    "resources/unsubscribe",
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/list",
];

/// Messages of a server that are not content, unless they contain text.
const QUIET: [&str; 6] = [
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/roots/list_changed",
    "notifications/tools/list_changed",
    "ping",
    "roots/list",
];

/// The parameters of `tools/call`.
const CALL_PARAMS: [&str; 6] = [
    "_meta",
    "arguments",
    "inputResponses",
    "name",
    "requestState",
    "task",
];

const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The result of a line. Each text is one line, without its end.
#[derive(Debug, Default)]
pub struct Turn {
    /// To be sent on, in order.
    pub on: Vec<String>,
    /// To be sent back, in order.
    pub back: Vec<String>,
    /// The reasons why messages were not sent on, if their sender is not informed.
    pub dropped: Vec<String>,
    /// The decisions behind it.
    pub decisions: Vec<Decision>,
}

/// A connection between a client and a server.
#[derive(Debug)]
pub struct Session {
    trace: String,
    /// Whether calls about which a person is to decide are passed on.
    ask_passes: bool,
    /// Requests of the client that are not answered.
    from_client: Bounded<Asked>,
    /// Requests of the server that are not answered.
    from_server: Bounded<Asked>,
    /// Calls for which the server requested input, by the state that it gave.
    questions: Bounded<Question>,
    /// Calls that became tasks, by the task's id.
    tasks: Bounded<Arc<Call>>,
    /// Whether client and server agreed on a version with typed results, and whether the client offered one.
    typed: bool,
    typed_offered: bool,
}

impl Session {
    /// Returns a connection whose events belong to this trace.
    pub fn new(trace: &str, ask_passes: bool, limits: Limits) -> Session {
        Session {
            trace: trace.to_owned(),
            ask_passes,
            from_client: Bounded::new(limits),
            from_server: Bounded::new(limits),
            questions: Bounded::new(limits),
            tasks: Bounded::new(limits),
            typed: false,
            typed_offered: false,
        }
    }

    /// Handles a line that the client sends: `on` is for the server.
    pub fn from_client(&mut self, judge: &mut impl Judge, line: &[u8]) -> Turn {
        let mut turn = Turn::default();
        match messages(line) {
            Ok((messages, is_list)) => {
                for message in messages {
                    self.client_says(judge, message, &mut turn);
                }
                turn.as_list(is_list);
            }
            Err(reason) => turn
                .back
                .push(message::error("null", message::PARSE_ERROR, &reason)),
        }
        turn
    }

    /// A line that the server sends: `on` is for the client.
    pub fn from_server(&mut self, judge: &mut impl Judge, line: &[u8]) -> Turn {
        let mut turn = Turn::default();
        match messages(line) {
            Ok((messages, is_list)) => {
                for message in messages {
                    self.server_says(judge, message, &mut turn);
                }
                turn.as_list(is_list);
            }
            Err(reason) => turn.dropped.push(reason),
        }
        turn
    }

    fn client_says(&mut self, judge: &mut impl Judge, text: &str, turn: &mut Turn) {
        match Message::read(text, Case::Unique) {
            Ok(Message::Request { id, method, params }) => {
                self.request(judge, text, (id, method, params), turn);
            }
            Ok(Message::Notification { method, params }) => {
                self.client_notifies(judge, text, &method, params, turn);
            }
            Ok(Message::Answer { id, outcome }) => {
                self.client_answers(judge, text, id, outcome, turn);
            }
            Err(malformed) if malformed.answers => {
                // The server waits for an answer, if it asked.
                if let Some(asked) = closed(&mut self.from_server, malformed.id) {
                    turn.on
                        .push(message::error(&asked.id, DENIED, &malformed.reason));
                }
                turn.dropped.push(malformed.reason);
            }
            Err(malformed) => turn.back.push(refusal(&malformed)),
        }
    }

    /// A request of the client.
    fn request(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        (id, method, params): (&str, String, Option<&str>),
        turn: &mut Turn,
    ) {
        let asked = match self.asked(id, &method, params) {
            Ok(asked) => asked,
            Err((code, reason)) => return turn.back.push(message::error(id, code, &reason)),
        };
        if !PLAIN.contains(&method.as_str())
            && let Err(reason) = self.call(judge, text, &asked, params, turn)
        {
            return turn.back.push(asked.denial(&reason));
        }
        let size = asked.size();
        let key = message::id_key(id);
        let (number, evicted) = self.from_client.insert(key, asked, size);
        for asked in evicted {
            let reason = "too many requests are open: this one is given up";
            turn.back.push(asked.denial(reason));
        }
        turn.on
            .push(message::ask(Some(&number.to_string()), &method, params));
    }

    /// Reads what a request of the client asks for.
    fn asked(
        &mut self,
        id: &str,
        method: &str,
        params: Option<&str>,
    ) -> Result<Asked, (i32, String)> {
        if self.from_client.number(&message::id_key(id)).is_some() {
            let reason = "another request of this id is open";
            return Err((INVALID_REQUEST, reason.to_owned()));
        }
        let invalid = |reason: String| (INVALID_PARAMS, reason);
        let members = Object::of(params);
        message::named_as(members.iter().map(|(key, _)| key), &CALL_PARAMS).map_err(invalid)?;
        let meta = Object::of(members.raw("_meta"));
        if method == "initialize" {
            let offered = members.text("protocolVersion");
            self.typed_offered = offered.is_some_and(|version| is_typed(&version));
        }
        let mut call = Call {
            tool: method.to_owned(),
            args: params.unwrap_or("{}").to_owned(),
            id: Some(message::id_text(id)),
        };
        if method == "tools/call" {
            let tool = members.text("name");
            call.tool = tool.ok_or_else(|| invalid("a tool call needs a `name`".to_owned()))?;
            call.args = match members.raw("arguments") {
                None | Some("null") => "{}".to_owned(),
                Some(args) if args.starts_with('{') => args.to_owned(),
                Some(_) => {
                    return Err(invalid(
                        "expected `arguments` that are an object".to_owned(),
                    ));
                }
            };
        }
        let mut call = Arc::new(call);
        let hash = comparable(method, &members);
        if let Some(question) = members
            .raw("requestState")
            .and_then(|state| self.questions.take(&hashed(state)))
            .filter(|question| question.params == hash)
        {
            call = question.call;
        }
        if method == "tasks/result"
            && let Some(of) = members
                .raw("taskId")
                .and_then(|task| self.tasks.number(&hashed(task)))
                .and_then(|number| self.tasks.get(number))
        {
            call = Arc::clone(of);
        }
        let version = meta.text(VERSION);
        Ok(Asked {
            id: id.to_owned(),
            method: method.to_owned(),
            call,
            progress: meta.raw("progressToken").map(str::to_owned),
            typed: version.map_or(self.typed, |version| is_typed(&version)),
            task: members.raw("task").is_some(),
            params: hash,
        })
    }

    /// May the client make this call?
    ///
    /// # Errors
    /// Why it may not.
    fn call(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        asked: &Asked,
        params: Option<&str>,
        turn: &mut Turn,
    ) -> Result<(), String> {
        if let Some(answers) = Object::of(params).raw("inputResponses") {
            let mut event = self.event("message", "assistant", &asked.call, text);
            event
                .text("text", &text::of(answers))
                .null(&["result", "error"]);
            self.act(judge, &event.line(), turn)?;
        }
        let mut event = self.event("call", "assistant", &asked.call, text);
        event.null(&["text", "result", "error"]);
        self.act(judge, &event.line(), turn)
    }

    /// A notification of the client.
    fn client_notifies(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        method: &str,
        params: Option<&str>,
        turn: &mut Turn,
    ) {
        if !method.starts_with("notifications/") {
            let reason = "a request needs an id";
            return turn
                .back
                .push(message::error("null", INVALID_REQUEST, reason));
        }
        if method == "notifications/cancelled" {
            return match cancelled(&mut self.from_client, params) {
                Ok(line) => turn.on.push(line),
                Err(reason) => turn.dropped.push(reason),
            };
        }
        let said = text::of(params.unwrap_or_default());
        if !said.is_empty() {
            let of = Call::of_message(method, params);
            let mut event = self.event("message", "assistant", &of, text);
            event.text("text", &said).null(&["result", "error"]);
            if let Err(reason) = self.act(judge, &event.line(), turn) {
                return turn.dropped.push(reason);
            }
        }
        turn.on.push(message::ask(None, method, params));
    }

    /// An answer of the client to a request of the server.
    fn client_answers(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        id: &str,
        outcome: Outcome<'_>,
        turn: &mut Turn,
    ) {
        let Some(asked) = closed(&mut self.from_server, Some(id)) else {
            return turn
                .dropped
                .push("an answer of the client to no open request".to_owned());
        };
        let (Outcome::Result(value) | Outcome::Error(value)) = outcome;
        let said = text::of(value);
        if !said.is_empty() {
            let role = match asked.method.as_str() {
                "sampling/createMessage" => "assistant",
                _ => "user",
            };
            let mut event = self.event("message", role, &asked.call, text);
            event.text("text", &said).null(&["result", "error"]);
            if let Err(reason) = self.act(judge, &event.line(), turn) {
                return turn.on.push(message::error(&asked.id, DENIED, &reason));
            }
        }
        turn.on.push(message::answer(&asked.id, outcome));
    }

    fn server_says(&mut self, judge: &mut impl Judge, text: &str, turn: &mut Turn) {
        match Message::read(text, Case::Free) {
            Ok(Message::Request { id, method, params }) => {
                self.server_asks(judge, text, (id, method, params), turn);
            }
            Ok(Message::Notification { method, params }) => {
                self.server_notifies(judge, text, &method, params, turn);
            }
            Ok(Message::Answer { id, outcome }) => {
                self.answer(judge, text, id, outcome, turn);
            }
            Err(malformed) if malformed.answers => {
                let reason = format!(
                    "the answer of the server was not checked: {}",
                    malformed.reason
                );
                let Some(asked) = closed(&mut self.from_client, malformed.id) else {
                    return turn.dropped.push(reason);
                };
                // Its text and its result are left out: they are unknown.
                let event = self.event("result", "tool", &asked.call, "null").line();
                match judge.observe(&event) {
                    Ok(decision) => turn.decisions.push(decision),
                    Err(reason) => turn.dropped.push(reason),
                }
                turn.on.push(asked.denial(&reason));
            }
            Err(malformed) => turn.dropped.push(malformed.reason),
        }
    }

    /// An answer of the server.
    fn answer(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        id: &str,
        outcome: Outcome<'_>,
        turn: &mut Turn,
    ) {
        let Some(asked) = closed(&mut self.from_client, Some(id)) else {
            return turn
                .dropped
                .push("an answer of the server to no open request".to_owned());
        };
        let (Outcome::Result(value) | Outcome::Error(value)) = outcome;
        let result = match outcome {
            Outcome::Result(result) => Object::of(Some(result)),
            Outcome::Error(_) => Object::of(None),
        };
        if asked.method == "initialize" {
            let agreed = result.text("protocolVersion");
            self.typed = self.typed_offered && agreed.is_some_and(|version| is_typed(&version));
        }
        let said = text::of(value);
        let has = |names: &[&str]| result.iter().all(|(key, _)| names.contains(&key));
        let question = asked.typed
            && result.text("resultType").as_deref() == Some("input_required")
            && has(&["_meta", "inputRequests", "requestState", "resultType"]);
        let task = asked
            .task
            .then(|| Object::of(result.raw("task")).raw("taskId"))
            .flatten()
            .filter(|_| has(&["_meta", "resultType", "task"]));
        let failed = matches!(outcome, Outcome::Error(_)) || result.is_true("isError");
        let event = match question || task.is_some() {
            true => self.said(&asked.call.part(), value, (&said, false), text),
            false => self.said(&asked.call, value, (&said, failed), text),
        };
        let carries = !said.is_empty() || !PLAIN.contains(&asked.method.as_str());
        if (carries || asked.method == "tasks/result")
            && let Err(reason) = self.happened(judge, &event, turn)
        {
            return turn.on.push(asked.denial(&reason));
        }
        let value = match self.subscription(value, Some((id, &asked.id))) {
            Ok(rewritten) => rewritten,
            Err(reason) => return turn.on.push(asked.denial(&reason)),
        };
        let value = value.as_deref().unwrap_or(match outcome {
            Outcome::Result(value) | Outcome::Error(value) => value,
        });
        if question && let Some(state) = result.raw("requestState") {
            let question = Question {
                params: asked.params,
                call: Arc::clone(&asked.call),
            };
            let key = hashed(state);
            self.questions.take(&key);
            self.questions.insert(key, question, asked.call.size());
        }
        if let Some(task) = task {
            let key = hashed(task);
            if self.tasks.number(&key).is_none() {
                self.tasks
                    .insert(key, Arc::clone(&asked.call), asked.call.size());
            }
        }
        turn.on.push(message::answer(
            &asked.id,
            match outcome {
                Outcome::Result(_) => Outcome::Result(value),
                Outcome::Error(_) => Outcome::Error(value),
            },
        ));
    }

    /// A request of the server.
    fn server_asks(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        (id, method, params): (&str, String, Option<&str>),
        turn: &mut Turn,
    ) {
        let key = message::id_key(id);
        if self.from_server.number(&key).is_some() {
            let reason = "another request of this id is open";
            return turn.back.push(message::error(id, INVALID_REQUEST, reason));
        }
        let call = Call::of_message(&method, params);
        let said = text::of(params.unwrap_or_default());
        if !said.is_empty() || !QUIET.contains(&method.as_str()) {
            let value = params.unwrap_or("null");
            let event = self.said(&call, value, (&said, false), text);
            if let Err(reason) = self.happened(judge, &event, turn) {
                return turn.back.push(message::error(id, DENIED, &reason));
            }
        }
        let asked = Asked {
            id: id.to_owned(),
            method: method.clone(),
            // The parameters are not needed again.
            call: Arc::new(Call::of_message(&method, None)),
            progress: None,
            typed: false,
            task: false,
            params: hash_of(&[]),
        };
        let size = asked.size();
        let (number, evicted) = self.from_server.insert(key, asked, size);
        for asked in evicted {
            let reason = "too many requests are open: this one is given up";
            turn.back.push(message::error(&asked.id, DENIED, reason));
        }
        turn.on
            .push(message::ask(Some(&number.to_string()), &method, params));
    }

    /// A notification of the server.
    fn server_notifies(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        method: &str,
        params: Option<&str>,
        turn: &mut Turn,
    ) {
        if method == "notifications/cancelled" {
            return match cancelled(&mut self.from_server, params) {
                Ok(line) => turn.on.push(line),
                Err(reason) => turn.dropped.push(reason),
            };
        }
        let said = text::of(params.unwrap_or_default());
        if !said.is_empty() || !QUIET.contains(&method) {
            let members = Object::of(params);
            let progress = members
                .raw("progressToken")
                .filter(|_| method == "notifications/progress");
            let of = progress.and_then(|token| {
                let mut open = self.from_client.values();
                open.find(|asked| asked.progress.as_deref() == Some(token))
            });
            let of = match of {
                Some(asked) => asked.call.part(),
                None => Call::of_message(method, params),
            };
            let value = params.unwrap_or("null");
            let event = self.said(&of, value, (&said, false), text);
            if let Err(reason) = self.happened(judge, &event, turn) {
                return turn.dropped.push(reason);
            }
        }
        match self.subscription(params.unwrap_or_default(), None) {
            Ok(rewritten) => {
                let params = rewritten.as_deref().or(params);
                turn.on.push(message::ask(None, method, params));
            }
            Err(reason) => turn.dropped.push(reason),
        }
    }

    /// An object of the server whose `_meta` names the request that a subscription began with, with the client's id in place
    /// of ours; `answered` is the request that is answered just now, by both. None if it names no request.
    ///
    /// # Errors
    /// It names one that is not open.
    fn subscription(
        &self,
        value: &str,
        answered: Option<(&str, &str)>,
    ) -> Result<Option<String>, String> {
        let members = Object::of(Some(value));
        let meta = Object::of(members.raw("_meta"));
        let Some(named) = meta.raw(SUBSCRIPTION) else {
            return Ok(None);
        };
        let number = message::id_text(named);
        let open = number
            .parse()
            .ok()
            .and_then(|number| self.from_client.get(number));
        let id = match (open, answered) {
            (Some(asked), _) => asked.id.as_str(),
            (None, Some((ours, theirs))) if message::id_text(ours) == number => theirs,
            _ => return Err("a subscription of no open request".to_owned()),
        };
        // As a string where the server says a string.
        let id = match named.starts_with('"') {
            true => Json::from(message::id_text(id)).to_string(),
            false => id.to_owned(),
        };
        Ok(Some(members.with("_meta", &meta.with(SUBSCRIPTION, &id))))
    }

    /// May what the client wants happen? If so, it counts from now on.
    ///
    /// # Errors
    /// Why not.
    fn act(&self, judge: &mut impl Judge, event: &str, turn: &mut Turn) -> Result<(), String> {
        let decision = judge.act(event)?;
        let passes = self.passes(&decision);
        let settled = match decision.proposal {
            Some(proposal) if passes => judge.commit(proposal, event).map(drop),
            Some(proposal) => judge.abandon(proposal).map(drop),
            None => Ok(()),
        };
        let verdict = match passes {
            true => settled,
            false => Err(said(&decision)),
        };
        turn.decisions.push(decision);
        verdict
    }

    /// Judges what the server said.
    ///
    /// # Errors
    /// Why the client may not see it.
    fn happened(&self, judge: &mut impl Judge, event: &str, turn: &mut Turn) -> Result<(), String> {
        let decision = judge.observe(event)?;
        let verdict = match self.passes(&decision) {
            true => Ok(()),
            false => Err(said(&decision)),
        };
        turn.decisions.push(decision);
        verdict
    }

    fn passes(&self, decision: &Decision) -> bool {
        decision.ruling < Ruling::Ask || (decision.ruling == Ruling::Ask && self.ask_passes)
    }

    /// The event of something that the server said, with its text and whether it is a failure.
    fn said(&self, call: &Call, value: &str, (text, failed): (&str, bool), raw: &str) -> String {
        let mut event = self.event("result", "tool", call, raw);
        event
            .raw("result", value)
            .text("text", text)
            .raw("error", if failed { "true" } else { "false" });
        event.line()
    }

    fn event(&self, kind: &str, role: &str, call: &Call, raw: &str) -> Event {
        let mut event = Event::new(&self.trace, kind, role);
        event
            .text("tool", &call.tool)
            .raw("args", &call.args)
            .raw("call", Json::from(call.id.as_deref()).to_string())
            .null(&["agent"])
            .raw("raw", raw);
        event
    }
}

impl Turn {
    /// Sends the messages of a list as one list.
    fn as_list(&mut self, is_list: bool) {
        for lines in [&mut self.on, &mut self.back] {
            if is_list && !lines.is_empty() {
                *lines = vec![format!("[{}]", lines.join(","))];
            }
        }
    }
}

/// Returns the messages of a line, and whether it is a list of messages, as version 2025-03-26 has them.
fn messages(line: &[u8]) -> Result<(Vec<&str>, bool), String> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    if !line.trim_ascii_start().starts_with('[') {
        return Ok((vec![line], false));
    }
    let list: Vec<&serde_json::value::RawValue> =
        serde_json::from_str(line).map_err(|error| format!("expected JSON: {error}"))?;
    match list.is_empty() {
        true => Err("a list without messages".to_owned()),
        false => Ok((
            list.into_iter().map(|message| message.get()).collect(),
            true,
        )),
    }
}

/// Closes the open request that an id names, if the peer wrote it as we did.
fn closed(open: &mut Bounded<Asked>, id: Option<&str>) -> Option<Asked> {
    open.remove(message::id_key(id?).parse().ok()?)
}

/// Closes the request that its sender gives up, and returns what the other side is told.
fn cancelled(open: &mut Bounded<Asked>, params: Option<&str>) -> Result<String, String> {
    let members = Object::of(params);
    let number = members
        .raw("requestId")
        .and_then(|id| open.number(&message::id_key(id)));
    let number = number.ok_or("a cancellation of no open request")?;
    open.remove(number);
    let params = format!("{{\"requestId\":{number}}}");
    Ok(message::ask(None, "notifications/cancelled", Some(&params)))
}

/// The answer to a message of the client that is not passed on.
fn refusal(malformed: &Malformed<'_>) -> String {
    message::error(
        malformed.id.unwrap_or("null"),
        malformed.code,
        &malformed.reason,
    )
}

/// Whether a version of the protocol, which is a date, has typed results.
fn is_typed(version: &str) -> bool {
    let date = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    version.len() == 10 && version.bytes().enumerate().all(date) && version >= TYPED_RESULTS
}

fn said(decision: &Decision) -> String {
    let reason = decision.reason();
    let why = if reason.is_empty() {
        "denied by the spec".to_owned()
    } else {
        reason
    };
    match decision.ruling {
        Ruling::Ask => format!("needs a person's decision: {why}"),
        _ => why,
    }
}
