//! A proxy between an MCP client and its server: messages of either side are judged before the other side receives them.
//!
//! # The state machine
//! Each direction has a table of open requests. A forwarded request gets a new unique number as its id, and its answer gets the
//! original bytes of the id. However a peer interprets ids (`1`, `"1"`, `1.0`), it therefore cannot match an answer with
//! another request.
//!
//! | message | condition for forwarding |
//! |---|---|
//! | request | its id is not open; judged if it carries content; then open |
//! | answer | it names an open request, and closes it; judged if it carries content |
//! | `notifications/cancelled` | it names an open request of its sender, or of the server a subscription of the client, and closes it |
//! | other notification | judged if it carries content |
//! | anything else | never: it is rejected (client) or dropped (server) |
//!
//! `docs/protocol-mcp.md` lists all transitions and invariants; a test compares them with a second implementation.
//!
//! # Events
//! | message | event |
//! |---|---|
//! | request of the client for content, and any unknown request | `call` |
//! | message of the server | `result`; with the `call` of a request only if it is the outcome of that request, and the first one |
//! | answer of the client; answers within a request | `message` of the role `assistant` or `user` |
//! | request of the client for content, task or question that will have no outcome | `result` of which all but the call is unknown; of a subscription an empty one |
//!
//! Source: Model Context Protocol, schemas 2024-11-05 to 2026-07-28.

mod bounded;
mod client;
mod message;
mod request;
mod server;
mod tasks;
mod text;

use std::borrow::Cow;
use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::event::Event;
use super::{Judge, reason_of};
use crate::monitor::intake::Intake;
use crate::monitor::lenient::{Outline, UNREAD};
use crate::monitor::{Decision, Ruling};
use bounded::Bounded;
pub use bounded::Limits;
use message::{Malformed, Object, Outcome};
use request::{About, Asked, Call, Failed, Question, Task};
pub use server::is_failed_call;
use text::Text;
pub(super) use text::write_text;
pub use text::{text_of_result, text_of_value};

/// From this protocol version on, every result states its type, and may request input.
const TYPED_RESULTS: &str = "2026-07-28";

/// Requests of the client that trigger no action of the server and transfer no content: a `uri` that a model chose is content. All others
/// are calls.
const PLAIN: [&str; 12] = [
    "initialize",
    "logging/setLevel",
    "ping",
    "prompts/list",
    "resources/list",
    "resources/templates/list",
    "server/discover",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
    "tools/list",
];

/// The calls that the protocol defines.
const CALLS: [&str; 8] = [
    "completion/complete",
    "prompts/get",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    LISTEN,
    "tasks/update",
    "tools/call",
];

/// The request that begins a subscription: it is open as long as the server sends notifications for it.
const LISTEN: &str = "subscriptions/listen";

/// Messages of a server that are not content unless they contain text.
const QUIET: [&str; 6] = [
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/roots/list_changed",
    "notifications/tools/list_changed",
    "ping",
    "roots/list",
];

/// Requests and notifications of a server that the protocol defines. Other method names count as text.
const OF_SERVERS: [&str; 20] = [
    "elicitation/create",
    "notifications/cancelled",
    "notifications/elicitation/complete",
    "notifications/message",
    "notifications/progress",
    "notifications/prompts/list_changed",
    "notifications/resources/list_changed",
    "notifications/resources/updated",
    "notifications/roots/list_changed",
    "notifications/subscriptions/acknowledged",
    "notifications/tasks",
    "notifications/tasks/status",
    "notifications/tools/list_changed",
    "ping",
    "roots/list",
    "sampling/createMessage",
    "tasks/cancel",
    "tasks/get",
    "tasks/list",
    "tasks/result",
];

/// Requests of a server whose results are what the user said. A hostile server chooses what a client's model or program says, and even
/// the text of an error, so neither is taken for the user's words.
const OF_USER: [&str; 2] = ["elicitation/create", "roots/list"];

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

/// The text of an event.
#[derive(Clone, Copy)]
enum Content<'t> {
    /// There is none.
    None,
    /// It could not be read.
    Unread,
    Text(&'t Text<'t>),
}

/// The outcome of a call, as a message of the server says it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    /// Nothing: the call goes on, or the message is about none.
    None,
    /// The content of an outcome of the call that is recorded already.
    Again(Failed),
    /// An outcome, or what may be one.
    Outcome(Failed),
}

/// The result of handling a line. Each text is one line without its end.
#[derive(Debug, Default)]
pub struct Turn {
    /// The messages to forward, in order.
    pub on: Vec<String>,
    /// The messages to return to the sender, in order.
    pub back: Vec<String>,
    /// The reasons why messages were not forwarded, if their sender is not informed.
    pub dropped: Vec<String>,
    /// The decisions about the messages.
    pub decisions: Vec<Decision>,
}

/// A connection between a client and a server.
#[derive(Debug)]
pub struct Session {
    trace: String,
    /// The number of inputs that the monitor took before the connection.
    before: u64,
    /// The number of requests of the client so far.
    n_requests: u64,
    /// Whether calls that a person must decide are forwarded.
    ask_passes: bool,
    /// The unanswered requests of the client.
    from_client: Bounded<Asked>,
    /// The unanswered requests of the server.
    from_server: Bounded<Asked>,
    /// The calls for which the server requested input, by the state that it sent.
    questions: Bounded<Question>,
    /// The calls that became tasks, by task id.
    tasks: Bounded<Task>,
    /// The requests of the server that became tasks of the client, by task id: whether their results are what the user said.
    client_tasks: Bounded<bool>,
    /// Whether client and server agreed on a version with typed results; the next field: whether the client offered
    /// one.
    typed: bool,
    typed_offered: bool,
    /// The reason why a decision has ended the run: no further action of the client is allowed.
    stopped: Option<String>,
    /// See [`Limits::list`] and [`Limits::joined`].
    list: usize,
    joined: usize,
}

impl Session {
    /// Returns a connection whose events belong to this trace.
    pub fn new(trace: &str, ask_passes: bool, limits: Limits) -> Session {
        Session {
            trace: trace.to_owned(),
            before: 0,
            n_requests: 0,
            ask_passes,
            from_client: Bounded::new(limits),
            from_server: Bounded::new(limits),
            questions: Bounded::new(limits),
            tasks: Bounded::new(limits),
            client_tasks: Bounded::new(limits),
            typed: false,
            typed_offered: false,
            stopped: None,
            list: limits.list,
            joined: limits.joined,
        }
    }

    /// Returns the connection as one that continues a trace: the monitor has taken so many inputs before.
    pub fn continuing(self, before: u64) -> Session {
        Session { before, ..self }
    }

    /// Returns a name for the next request of the client that no other request of the trace has. Clients begin with the same ids on every
    /// connection, and some use one again.
    fn name_of(&mut self, id: &str) -> String {
        self.n_requests += 1;
        format!(
            "{}.{}/{}",
            self.before,
            self.n_requests,
            message::id_text(id)
        )
    }

    /// Handles a line of the client; `on` goes to the server.
    pub fn from_client(&mut self, judge: &mut impl Judge, line: &[u8]) -> Turn {
        let mut turn = Turn::default();
        match messages(line, self.list) {
            Ok((messages, is_list)) => {
                for message in messages {
                    self.client_says(judge, message, &mut turn);
                }
                turn.as_list(is_list);
            }
            Err(reason) => {
                let kept = readable(line);
                self.client_is_malformed(&Malformed::cut(kept.as_ref(), &reason), &mut turn);
            }
        }
        turn
    }

    /// Handles a line of the client that is too long; `kept` is its readable part.
    pub fn cut_from_client(&mut self, kept: Option<&Outline>, reason: &str) -> Turn {
        let mut turn = Turn::default();
        self.client_is_malformed(&Malformed::cut(kept, reason), &mut turn);
        turn
    }

    /// Handles a line of the server that is too long; `kept` is its readable part. If it is an answer, its outcome is
    /// unknown.
    pub fn cut_from_server(
        &mut self,
        judge: &mut impl Judge,
        kept: Option<&Outline>,
        reason: &str,
    ) -> Turn {
        let mut turn = Turn::default();
        self.server_is_malformed(judge, &Malformed::cut(kept, reason), &mut turn);
        turn
    }

    /// Handles a line of the server; `on` goes to the client.
    pub fn from_server(&mut self, judge: &mut impl Judge, line: &[u8]) -> Turn {
        let mut turn = Turn::default();
        match messages(line, self.list) {
            Ok((messages, is_list)) => {
                for message in messages {
                    self.server_says(judge, message, &mut turn);
                }
                turn.as_list(is_list);
            }
            Err(reason) => {
                let kept = readable(line);
                let malformed = Malformed::cut(kept.as_ref(), &reason);
                self.server_is_malformed(judge, &malformed, &mut turn);
            }
        }
        turn
    }

    /// Handles the end of the connection: no open request will be answered, and what became of open tasks and questions is not told.
    pub fn end(&mut self, judge: &mut impl Judge) -> Turn {
        let mut turn = Turn::default();
        for asked in self.from_client.drain() {
            self.unanswered(judge, &asked, &mut turn);
        }
        for task in self.tasks.drain() {
            self.left(judge, &task, &mut turn);
        }
        for question in self.questions.drain() {
            self.unknown(judge, &question.call, &mut turn);
        }
        turn
    }

    /// Records that a request of the client will have no answer. What it asked for may have been done: a server can answer late on
    /// purpose, and a client gives up after a time.
    fn unanswered(&mut self, judge: &mut impl Judge, asked: &Asked, turn: &mut Turn) {
        // A client may ask again for the result of a task.
        let goes_on = asked
            .of_task
            .is_some_and(|task| self.tasks.get(task).is_some());
        match asked.method.as_str() {
            LISTEN => self.unsubscribed(judge, &asked.call, turn),
            "tasks/result" if goes_on => {}
            method if PLAIN.contains(&method) && method != "tasks/result" => {}
            _ => self.unknown(judge, &asked.call, turn),
        }
    }

    /// Records an outcome of which nothing is known but its call.
    fn unknown(&mut self, judge: &mut impl Judge, call: &Call, turn: &mut Turn) {
        let outcome = (Content::Unread, Ending::Outcome(None));
        let event = self.said(judge, call.about(), UNREAD, outcome, UNREAD);
        self.record(judge, event, turn);
    }

    /// Records that a subscription has ended without an answer: that would be empty, and all notifications were judged.
    fn unsubscribed(&mut self, judge: &mut impl Judge, call: &Call, turn: &mut Turn) {
        let empty = Text::of("");
        let outcome = (Content::Text(&empty), Ending::Outcome(Some(false)));
        let event = self.said(judge, call.about(), "{}", outcome, "null");
        self.record(judge, event, turn);
    }

    /// Records what no message says, so that there is none to deny.
    fn record(&mut self, judge: &mut impl Judge, event: Event, turn: &mut Turn) {
        match judge.observe(&event.line()) {
            Ok(decision) => self.decided(decision, turn),
            Err(reason) => turn.dropped.push(reason),
        }
    }

    /// Ends the run if a decision says so: one on a message, or on a deadline that passed between two messages.
    pub fn obey(&mut self, decision: &Decision) {
        if decision.ruling == Ruling::Stop {
            let why = || format!("the run has ended: {}", reason_of(decision));
            self.stopped.get_or_insert_with(why);
        }
    }

    fn decided(&mut self, decision: Decision, turn: &mut Turn) {
        self.obey(&decision);
        turn.decisions.push(decision);
    }

    /// Judges an action of the client and records it if it is allowed.
    ///
    /// # Errors
    /// The reason why the action is denied.
    fn act(&mut self, judge: &mut impl Judge, event: Event, turn: &mut Turn) -> Result<(), String> {
        if let Some(why) = &self.stopped {
            return Err(why.clone());
        }
        let event = event.line();
        let decision = judge.act(&event)?;
        let asks = decision.ruling == Ruling::Ask && self.ask_passes;
        let passes = asks || decision.ruling < Ruling::Ask;
        let settled = match decision.proposal {
            Some(proposal) if passes => judge.commit(proposal, &event).map(drop),
            Some(proposal) => judge.abandon(proposal).map(drop),
            None => Ok(()),
        };
        let verdict = match passes {
            true => settled,
            false => Err(said(&decision)),
        };
        self.decided(decision, turn);
        verdict
    }

    /// Records and judges a message of the server.
    ///
    /// # Errors
    /// The reason why the message must not be forwarded.
    fn happened(
        &mut self,
        judge: &mut impl Judge,
        event: Event,
        turn: &mut Turn,
    ) -> Result<(), String> {
        let decision = judge.observe(&event.line())?;
        // No client asks a person about a message that it received, so `ask` denies.
        let verdict = match decision.ruling < Ruling::Ask {
            true => Ok(()),
            false => Err(said(&decision)),
        };
        self.decided(decision, turn);
        verdict
    }

    /// Returns the event of a message of the server. One that is no outcome is no success and no failure; if the spec may take null for
    /// one of these (`error != true`), that is unknown.
    fn said(
        &self,
        judge: &impl Judge,
        about: About<'_>,
        value: &str,
        (content, ending): (Content<'_>, Ending),
        raw: &str,
    ) -> Event {
        let mut event = self.event(judge, ("result", "tool"), about, content, raw);
        if judge.reads("result") {
            event.raw("result", value);
        }
        let error = match ending {
            Ending::None | Ending::Again(_) if judge.only_looks_for("error") => "null",
            Ending::Again(Some(failed)) | Ending::Outcome(Some(failed)) => match failed {
                true => "true",
                false => "false",
            },
            Ending::None | Ending::Again(None) | Ending::Outcome(None) => UNREAD,
        };
        event.raw("error", error);
        event
    }

    /// Returns the event of a message of the client, or of an answer within its request.
    fn message(
        &self,
        judge: &impl Judge,
        role: &str,
        about: About<'_>,
        text: &Text<'_>,
        raw: &str,
    ) -> Event {
        let content = Content::Text(text);
        let mut event = self.event(judge, ("message", role), about, content, raw);
        event.null(&["result", "error"]);
        event
    }

    /// Returns an event with the members of a message that the spec reads. What is unknown is written as such: a spec with an
    /// `event` of its own takes an optional member that is left out for null. A text in too many parts is unknown.
    fn event(
        &self,
        judge: &impl Judge,
        (kind, role): (&str, &str),
        about: About<'_>,
        content: Content<'_>,
        raw: &str,
    ) -> Event {
        let content = match content {
            Content::Text(text) if judge.reads("text") && text.is_unknown(self.joined) => {
                Content::Unread
            }
            content => content,
        };
        // Reserves the full size, since growing would copy large parts.
        let parts = [
            match content {
                Content::Text(text) if judge.reads("text") => text.estimate(self.joined),
                _ => 0,
            },
            about.args.len() * usize::from(judge.reads("args")),
            raw.len() * usize::from(judge.reads("raw")),
            raw.len() * usize::from(judge.reads("result")),
        ];
        let mut event = Event::new(&self.trace, kind, role, parts.iter().sum::<usize>() + 256);
        match about.is_known {
            true => event.text("tool", about.tool),
            false => event.raw("tool", UNREAD),
        };
        if judge.reads("args") {
            event.raw("args", if about.is_known { about.args } else { UNREAD });
        }
        match about.id {
            None => event.raw("call", "null"),
            Some(_) if !about.is_known => event.raw("call", UNREAD),
            Some(id) => event.text("call", id),
        };
        event.null(&["agent"]);
        if judge.reads("raw") {
            event.raw("raw", raw);
        }
        if judge.reads("text") {
            match content {
                Content::None => event.null(&["text"]),
                Content::Unread => event.raw("text", UNREAD),
                Content::Text(text) => event.with("text", |line| text.push_to(line, self.joined)),
            };
        }
        event
    }
}

impl Turn {
    /// Joins the messages of a list to one list again.
    fn as_list(&mut self, is_list: bool) {
        for lines in [&mut self.on, &mut self.back] {
            if is_list && !lines.is_empty() {
                *lines = vec![format!("[{}]", lines.join(","))];
            }
        }
    }
}

/// Returns the messages of a line, and whether the line is a list of messages, which version 2025-03-26 allows. Every message takes
/// memory until the line is handled, so a list has at most `longest` of them.
fn messages(line: &[u8], longest: usize) -> Result<(Vec<&str>, bool), String> {
    let line = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8".to_owned())?;
    if !line.trim_ascii_start().starts_with('[') {
        return Ok((vec![line], false));
    }
    let mut json = serde_json::Deserializer::from_str(line);
    let list = json.deserialize_seq(List(longest));
    let list = list.and_then(|list| json.end().map(|()| list));
    match list.map_err(|error| format!("expected JSON: {error}"))? {
        None => Err(format!(
            "a list of more than {longest} messages (`--max-list`)"
        )),
        Some(list) if list.is_empty() => Err("a list without messages".to_owned()),
        Some(list) => Ok((list, true)),
    }
}

/// Reads a list of at most so many elements as they are written; `None` if it has more.
struct List(usize);

impl<'l> Visitor<'l> for List {
    type Value = Option<Vec<&'l str>>;

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("a list of messages")
    }

    fn visit_seq<A: SeqAccess<'l>>(self, mut elements: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(element) = elements.next_element::<&RawValue>()? {
            if list.len() >= self.0 {
                while elements.next_element::<IgnoredAny>()?.is_some() {}
                return Ok(None);
            }
            list.push(element.get());
        }
        Ok(Some(list))
    }
}

/// Returns the content of a message of the server: its parameters, preceded by its method if the protocol does not
/// define it.
fn said_by_server<'p>(method: &str, params: Option<&'p str>) -> Cow<'p, str> {
    let params = params.unwrap_or_default();
    match OF_SERVERS.contains(&method) {
        true => Cow::Borrowed(params),
        false if params.is_empty() => Cow::Owned(format!("[\"{method}\"]")),
        false => Cow::Owned(format!("[\"{method}\",{params}]")),
    }
}

/// The greatest length up to which a line that is not a message is read, in bytes: tiny members take many times their length of memory.
const MOST_READABLE: usize = 8 << 20;

/// Returns the readable part of a line that is not a message, since it may be the answer to an open request. Values that are too
/// long are unknown.
fn readable(line: &[u8]) -> Option<Outline> {
    let mut intake = Intake::new(MOST_READABLE);
    intake.take(line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line));
    intake.finish().ok()
}

/// Closes the open request with this id, if the peer kept the id's value.
fn closed(open: &mut Bounded<Asked>, id: Option<&str>) -> Option<Asked> {
    open.remove(message::id_key(id?).parse().ok()?)
}

/// Closes the request that an answer belongs to, and returns it with the value of the answer; `None` if no such request
/// is open.
fn answered<'o>(
    open: &mut Bounded<Asked>,
    id: &str,
    outcome: Outcome<'o>,
    (peer, turn): (&str, &mut Turn),
) -> Option<(Asked, &'o str)> {
    let Some(asked) = closed(open, Some(id)) else {
        let why = format!("an answer of the {peer} to no open request");
        turn.dropped.push(why);
        return None;
    };
    let (Outcome::Result(value) | Outcome::Error(value)) = outcome;
    Some((asked, value))
}

/// Closes the request that its sender cancels, and returns it with the notification for the other side.
fn cancelled(open: &mut Bounded<Asked>, params: Option<&str>) -> Result<(Asked, String), String> {
    let members = Object::of(params);
    let number = members
        .raw("requestId")
        .and_then(|id| open.number(&message::id_key(id)));
    let closed = number.and_then(|number| Some((number, open.remove(number)?)));
    let (number, asked) = closed.ok_or("a cancellation of no open request")?;
    Ok((asked, message::cancel(&number.to_string())))
}

/// Returns whether a protocol version, which is a date, has typed results.
fn is_typed(version: &str) -> bool {
    let date = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    version.len() == 10 && version.bytes().enumerate().all(date) && version >= TYPED_RESULTS
}

fn said(decision: &Decision) -> String {
    let why = reason_of(decision);
    match decision.ruling {
        Ruling::Ask => format!("needs a person's decision: {why}"),
        _ => why,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_line_that_is_no_message_the_id_is_read_and_little_is_kept() {
        let many = |part: &str| part.repeat(2 * MOST_READABLE / part.len());
        for (line, id) in [
            (format!(r#"{{"id":7,"result":{{{}"#, many(r#""":1,"#)), true),
            (format!(r#"{{"id":7,"result":{}"#, many(r#"{"":"#)), true),
            (format!(r#"{{"id":7,"result":[{}"#, many("[],")), true),
            (format!(r#"{{"result":[{}0],"id":7,}}"#, many("[],")), true),
            (format!(r#"{{"result":"{}","id":7,}}"#, many("x")), true),
            (many(r#"{"":"#), false),
            (many("["), false),
        ] {
            let kept = readable(line.as_bytes());
            let kept_bytes = kept.as_ref().map_or(0, |kept| kept.as_text().len());
            assert!(kept_bytes <= MOST_READABLE + 100, "{}", &line[..30]);
            let read = kept.as_ref().and_then(|kept| kept.raw("id"));
            assert_eq!(read, id.then_some("7"), "{}", &line[..30]);
        }
    }
}
