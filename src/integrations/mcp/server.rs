//! Messages of the server: answers, requests and notifications.

use std::sync::Arc;

use serde_json::Value as Json;

use super::super::Judge;
use super::message::{self, Case, DENIED, INVALID_REQUEST, Malformed, Message, Object, Outcome};
use super::request::{About, Asked, Call, Question, Task, hash_of, hashed};
use super::text::Text;
use super::{
    Content, Ending, OF_USER, PLAIN, QUIET, SUBSCRIPTION, Session, Turn, answered, cancelled,
    is_typed, readable, said_by_server,
};
use crate::texts::folded;

/// The message for an answer that is not forwarded.
const UNCHECKED_ANSWER: &str = "the answer of the server was not checked";

/// The members of which a finished result has at least one, by the method of its request.
const GIVEN: [(&str, &[&str]); 5] = [
    ("completion/complete", &["completion"]),
    ("prompts/get", &["messages"]),
    ("resources/read", &["contents"]),
    ("tasks/result", &["content", "structuredContent"]),
    ("tools/call", &["content", "structuredContent"]),
];

/// The members that decide whether a result is finished and successful.
const DECIDING: [&str; 3] = ["isError", "resultType", "task"];

impl Session {
    pub(super) fn server_says(&mut self, judge: &mut impl Judge, text: &str, turn: &mut Turn) {
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
                self.server_is_malformed(judge, &malformed, turn);
            }
            Err(malformed) => {
                let kept = readable(text.as_bytes());
                let malformed = Malformed::cut(kept.as_ref(), &malformed.reason);
                self.server_is_malformed(judge, &malformed, turn);
            }
        }
    }

    /// Handles a message of the server that is not forwarded. If it may be an answer, the outcome of its request is unknown,
    /// also if only some readers take its id as that of the request.
    pub(super) fn server_is_malformed(
        &mut self,
        judge: &mut impl Judge,
        malformed: &Malformed<'_>,
        turn: &mut Turn,
    ) {
        if !malformed.answers {
            return turn.dropped.push(malformed.reason.clone());
        }
        // The reason may quote the server, which nothing has judged: it is for the log alone.
        turn.dropped
            .push(format!("{UNCHECKED_ANSWER}: {}", malformed.reason));
        let number = malformed.number;
        let Some(asked) = number.and_then(|number| self.from_client.remove(number)) else {
            return;
        };
        self.unknown(judge, &asked.call, turn);
        self.has_ended(&asked);
        let reason = format!("{UNCHECKED_ANSWER}: it is malformed");
        turn.on.push(asked.denial(&reason));
    }

    /// Handles an answer of the server.
    fn answer(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        id: &str,
        outcome: Outcome<'_>,
        turn: &mut Turn,
    ) {
        let result = match outcome {
            Outcome::Result(result) => Object::of(Some(result)),
            Outcome::Error(_) => Object::of(None),
        };
        let number = message::number_of(id);
        let open = number.and_then(|number| self.from_client.get(number));
        let task = match open.map(|asked| self.accepted(id, asked, &result)) {
            None => None,
            Some(Ok(task)) => task,
            Some(Err(reason)) => {
                let malformed = Malformed {
                    id: Some(id),
                    number,
                    answers: true,
                    code: INVALID_REQUEST,
                    reason,
                };
                return self.server_is_malformed(judge, &malformed, turn);
            }
        };
        let answered = answered(&mut self.from_client, id, outcome, ("server", turn));
        let Some((asked, value)) = answered else {
            return;
        };
        if asked.method == "initialize" {
            let agreed = result.text("protocolVersion");
            self.typed = self.typed_offered && agreed.is_some_and(|version| is_typed(&version));
        }
        let said = Text::of(value);
        let has = |names: &[&str]| result.iter().all(|(key, _)| names.contains(&key));
        let is_question = asked.typed
            && result.text("resultType").as_deref() == Some("input_required")
            && has(&["_meta", "inputRequests", "requestState", "resultType"]);
        let state = result.raw("requestState").filter(|_| is_question);
        let is_task = asked.task && task.is_some() && has(&["_meta", "resultType", "task"]);
        let goes_on = is_task || state.is_some();
        let mut passes = Ok(());
        let carries = !said.is_empty() || !PLAIN.contains(&asked.method.as_str());
        if carries || asked.method == "tasks/result" {
            let failed = match outcome {
                Outcome::Error(_) => Some(true),
                Outcome::Result(_) => failed(&asked.method, &result, value),
            };
            let about = match goes_on {
                true => asked.call.part(),
                false if holds_task_result(&asked.method, value) => asked.call.about().unknown(),
                false => asked.call.about(),
            };
            let ending = match failed {
                _ if goes_on => Ending::None,
                Some(failed) => Ending::Known { failed },
                None => Ending::Unknown,
            };
            let content = Content::Text(&said);
            let event = self.said(judge, about, value, (content, ending), text);
            passes = self.happened(judge, event, turn);
            if !goes_on {
                self.has_ended(&asked);
            }
        }
        let rewritten = passes.and_then(|()| self.subscription(value, Some((id, &asked.id))));
        let value = match rewritten {
            Ok(rewritten) => rewritten,
            Err(reason) => {
                // The client will not go on with it, but the server may.
                if goes_on {
                    self.unknown(judge, &asked.call, turn);
                }
                return turn.on.push(asked.denial(&reason));
            }
        };
        let value = value.as_deref().unwrap_or(match outcome {
            Outcome::Result(value) | Outcome::Error(value) => value,
        });
        if let Some(state) = state {
            let question = Question {
                params: asked.params,
                call: Arc::clone(&asked.call),
            };
            let key = hashed(state);
            let replaced = self.questions.take(&key);
            let (_, evicted) = self.questions.insert(key, question, asked.call.size());
            for question in replaced.into_iter().chain(evicted) {
                self.unknown(judge, &question.call, turn);
            }
        }
        if let Some(key) = task.filter(|key| self.tasks.number(key).is_none()) {
            let task = Task {
                call: Arc::clone(&asked.call),
                progress: asked.progress.clone(),
                is_recorded: !is_task,
            };
            let (_, evicted) = self.tasks.insert(key, task, asked.size());
            for task in evicted {
                self.left(judge, &task, turn);
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

    /// Returns the key of the task that a request has become, to any reader of its result; `None` if it has not.
    ///
    /// # Errors
    /// Readers may differ on the request or on the task, or the task is that of another call.
    fn accepted(
        &self,
        id: &str,
        asked: &Asked,
        result: &Object<'_>,
    ) -> Result<Option<String>, String> {
        if id.starts_with('"') {
            return Err("its id is a string, and that of the request a number".to_owned());
        }
        if !(asked.task || asked.typed) || asked.method.starts_with("tasks/") {
            return Ok(None);
        }
        let task = Object::of(result.raw("task"));
        message::named_as(result.iter().map(|(key, _)| key), &["task", "taskId"])?;
        message::named_as(task.iter().map(|(key, _)| key), &["taskId"])?;
        let ids = [task.raw("taskId"), result.raw("taskId")];
        let Some(id) = ids.iter().find_map(|id| *id) else {
            return Ok(None);
        };
        let key = hashed(id);
        if !id.starts_with('"') || ids.iter().flatten().any(|id| hashed(id) != key) {
            return Err("expected one `taskId` that is a string".to_owned());
        }
        let known = self.tasks.number(&key);
        let known = known.and_then(|number| self.tasks.get(number));
        match known.is_some_and(|task| !Arc::ptr_eq(&task.call, &asked.call)) {
            true => Err("its `taskId` is that of another call".to_owned()),
            false => Ok(Some(key)),
        }
    }

    /// Handles a request of the server.
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
        let members = Object::of(params);
        let named = message::named_as(members.iter().map(|(key, _)| key), &["taskId"]);
        if let Err(reason) = named {
            return turn.back.push(message::error(id, INVALID_REQUEST, &reason));
        }
        let text_of = said_by_server(&method, params);
        let said = Text::of(&text_of);
        if !said.is_empty() || !QUIET.contains(&method.as_str()) {
            let (about, value) = (About::message(&method, params), params.unwrap_or("null"));
            let content = Content::Text(&said);
            let event = self.said(judge, about, value, (content, Ending::None), text);
            if let Err(reason) = self.happened(judge, event, turn) {
                return turn.back.push(message::error(id, DENIED, &reason));
            }
        }
        let of_task = || {
            let task = self.client_tasks.number(&hashed(members.raw("taskId")?));
            self.client_tasks.get(task?).copied()
        };
        let asked = Asked {
            id: id.to_owned(),
            method: method.clone(),
            of_user: match method.as_str() {
                "tasks/result" => of_task().unwrap_or(false),
                method => OF_USER.contains(&method),
            },
            // The parameters are not needed again.
            call: Arc::new(Call::of_message(&method)),
            progress: None,
            typed: false,
            task: false,
            of_task: None,
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

    /// Handles a notification of the server.
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
                Ok((_, line)) => turn.on.push(line),
                Err(reason) => turn.dropped.push(reason),
            };
        }
        let text_of = said_by_server(method, params);
        let said = Text::of(&text_of);
        if !said.is_empty() || !QUIET.contains(&method) {
            let members = Object::of(params);
            let about = About::message(method, params);
            let (about, ending) = match method {
                "notifications/progress" => match self.progressing(&members) {
                    Ok(about) => (about, Ending::None),
                    Err(reason) => return turn.dropped.push(reason),
                },
                _ if holds_task_result(method, params.unwrap_or_default()) => {
                    (about.unknown(), Ending::Unknown)
                }
                _ => (about, Ending::None),
            };
            let (value, content) = (params.unwrap_or("null"), Content::Text(&said));
            let event = self.said(judge, about, value, (content, ending), text);
            if let Err(reason) = self.happened(judge, event, turn) {
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

    /// Returns the call that a progress message is about; unknown if several have its token.
    ///
    /// # Errors
    /// No open request and no task has this token, or readers may differ on it.
    fn progressing(&self, members: &Object<'_>) -> Result<About<'_>, String> {
        message::named_as(members.iter().map(|(key, _)| key), &["progressToken"])?;
        let token = members.raw("progressToken").map(message::id_key);
        let open = self.from_client.values();
        let open = open.map(|asked| (&asked.progress, &asked.call));
        let tasks = self.tasks.values().map(|task| (&task.progress, &task.call));
        let mut of = open
            .chain(tasks)
            .filter(|(progress, _)| token.is_some() && **progress == token)
            .map(|(_, call)| call);
        let first = of.next().ok_or("progress of no open request")?;
        let is_known = first.is_known && of.all(|other| Arc::ptr_eq(first, other));
        let about = first.part();
        Ok(About { is_known, ..about })
    }

    /// Returns an object of the server whose `_meta` names the request that began a subscription, with our id replaced by the
    /// client's. `answered` contains both ids of the request that is being answered. Returns `None` if the object names no
    /// request.
    ///
    /// # Errors
    /// The named request is not open.
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
        // As a string if the server sends a string.
        let id = match named.starts_with('"') {
            true => Json::from(message::id_text(id)).to_string(),
            false => id.to_owned(),
        };
        Ok(Some(members.with("_meta", &meta.with(SUBSCRIPTION, &id))))
    }
}

/// Returns whether a `tools/call` failed, by its result; `None` as for any request.
pub fn is_failed_call(result: &str) -> Option<bool> {
    failed("tools/call", &Object::of(Some(result)), result)
}

/// Returns whether a request failed, by its result; `None` if the result does not say that the request is finished, or readers
/// may differ on that or on its success.
fn failed(method: &str, result: &Object<'_>, value: &str) -> Option<bool> {
    // Readers that ignore case find what others do not.
    message::named_as(result.iter().map(|(key, _)| key), &DECIDING).ok()?;
    if result.raw("resultType").is_some() && result.text("resultType")? != "complete" {
        return None;
    }
    if result.raw("task").is_some() || holds_task_result(method, value) {
        return None;
    }
    let is_given = |name: &&str| result.raw(name).is_some_and(|value| value != "null");
    let mut given = GIVEN.iter().filter(|(of, _)| *of == method);
    match result.raw("isError") {
        Some("true") => Some(true),
        None | Some("false") => given
            .all(|(_, names)| names.iter().any(is_given))
            .then_some(false),
        // Readers differ on which other values are true.
        Some(_) => None,
    }
}

/// Returns whether a message about tasks, other than the answer of `tasks/result`, contains the result of a task, at whatever place.
fn holds_task_result(method: &str, value: &str) -> bool {
    let is_about_task = method.starts_with("tasks/") || method.starts_with("notifications/tasks");
    let is_result = |key: &str| (folded(key) == "result").then_some(());
    is_about_task && method != "tasks/result" && message::find_key(value, is_result).is_some()
}
