//! Messages of the server: answers, requests and notifications.

use std::sync::Arc;

use serde_json::Value as Json;

use super::super::Judge;
use super::message::{self, Case, DENIED, INVALID_REQUEST, Malformed, Message, Object, Outcome};
use super::request::{About, Asked, Call, Failed, Question, Task, hash_of, hashed, state_of};
use super::tasks::{Done, OF_TASKS, holds_task_result, is_only_task};
use super::text::Text;
use super::{
    Content, Ending, LISTEN, OF_USER, PLAIN, QUIET, SUBSCRIPTION, Session, Turn, answered,
    cancelled, is_typed, readable, said_by_server,
};

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
        self.is_unread(&asked);
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
        let state = state_of(&result);
        let is_question = asked.typed && is_question(&result);
        let is_task = task.is_some() && is_only_task(&asked, &result);
        let goes_on = is_task || is_question;
        let failed = match outcome {
            Outcome::Error(_) => Some(true),
            Outcome::Result(_) => failed(&asked.method, &result, value),
        };
        let mut passes = Ok(());
        let carries = !said.is_empty() || !PLAIN.contains(&asked.method.as_str());
        if carries || asked.method == "tasks/result" {
            let done = match (asked.method.as_str(), asked.of_task) {
                _ if goes_on => None,
                ("tasks/get", task) => {
                    let done = self.done(&result);
                    done.filter(|done| Some(done.task) == task)
                }
                (_, task) => task.map(|task| Done {
                    task,
                    failed,
                    value,
                }),
            };
            let content = Content::Text(&said);
            let of_task = done.and_then(|done| self.ended(judge, &done, content, text));
            let event = of_task.unwrap_or_else(|| {
                let (about, ending) = match goes_on {
                    true => (asked.call.part(), Ending::None),
                    false if holds_task_result(&asked.method, value) => {
                        (asked.call.about().unknown(), Ending::Outcome(failed))
                    }
                    false => (asked.call.about(), Ending::Outcome(failed)),
                };
                self.said(judge, about, value, (content, ending), text)
            });
            passes = self.happened(judge, event, turn);
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
        if is_question {
            let question = Question {
                params: asked.params,
                has_state: state.is_some(),
                call: Arc::clone(&asked.call),
            };
            // Without a state it has the name of its call: other calls may have the same parameters.
            let key = state.map(hashed).or_else(|| asked.call.id.clone());
            let key = key.unwrap_or_default();
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
                typed: asked.typed,
                outcome: (!is_task).then_some(failed),
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
            match cancelled(&mut self.from_server, params) {
                Ok((_, line)) => turn.on.push(line),
                // A server ends a subscription of the client in the same way.
                Err(reason) => match self.ended_subscription(params) {
                    Some(asked) => {
                        self.unanswered(judge, &asked, turn);
                        turn.on.push(message::cancel(&asked.id));
                    }
                    None => turn.dropped.push(reason),
                },
            }
            return;
        }
        let text_of = said_by_server(method, params);
        let said = Text::of(&text_of);
        if !said.is_empty() || !QUIET.contains(&method) {
            let members = Object::of(params);
            let (value, content) = (params.unwrap_or("null"), Content::Text(&said));
            let done = OF_TASKS.contains(&method).then(|| self.done(&members));
            let done = done.flatten();
            let event = match done.and_then(|done| self.ended(judge, &done, content, text)) {
                Some(event) => event,
                None => {
                    let about = About::message(method, params);
                    let (about, ending) = match method {
                        "notifications/progress" => match self.progressing(&members) {
                            Ok(about) => (about, Ending::None),
                            Err(reason) => return turn.dropped.push(reason),
                        },
                        _ if holds_task_result(method, params.unwrap_or_default()) => {
                            (about.unknown(), Ending::Outcome(None))
                        }
                        _ => (about, Ending::None),
                    };
                    self.said(judge, about, value, (content, ending), text)
                }
            };
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

    /// Closes the subscription of the client whose request a cancellation of the server names.
    fn ended_subscription(&mut self, params: Option<&str>) -> Option<Asked> {
        let id = Object::of(params).raw("requestId")?;
        let number = message::id_key(id).parse().ok()?;
        let is_subscription = self.from_client.get(number)?.method == LISTEN;
        is_subscription.then(|| self.from_client.remove(number))?
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

/// Returns whether a result, in a version with questions, asks the client to try again, and says nothing else.
fn is_question(result: &Object<'_>) -> bool {
    let members = ["_meta", "inputRequests", "requestState", "resultType"];
    let asks = || {
        result
            .raw("inputRequests")
            .is_some_and(|asked| asked.starts_with('{'))
    };
    result.text("resultType").as_deref() == Some("input_required")
        && result.iter().all(|(key, _)| members.contains(&key))
        && (state_of(result).is_some() || asks())
}

/// Returns whether a `tools/call` failed, by its result; `None` as for any request.
pub fn is_failed_call(result: &str) -> Option<bool> {
    failed("tools/call", &Object::of(Some(result)), result)
}

/// Returns whether a request failed, by its result; `None` if the result does not say that the request is finished, or readers
/// may differ on that or on its success.
pub(super) fn failed(method: &str, result: &Object<'_>, value: &str) -> Failed {
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
