//! Messages of the client: requests, notifications, and answers to the server.

use std::sync::Arc;

use super::super::Judge;
use super::message::{
    self, Case, DENIED, INVALID_PARAMS, INVALID_REQUEST, Malformed, Message, Object, Outcome,
};
use super::request::{About, Asked, Call, Question, comparable, hashed, state_of};
use super::text::Text;
use super::{
    CALL_PARAMS, CALLS, Content, PLAIN, Session, Turn, VERSION, answered, cancelled, closed,
    is_typed,
};
use crate::texts::{folded, is_exact_name};

impl Session {
    pub(super) fn client_says(&mut self, judge: &mut impl Judge, text: &str, turn: &mut Turn) {
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
            Err(malformed) => self.client_is_malformed(&malformed, turn),
        }
    }

    /// Handles a message of the client that is not forwarded.
    pub(super) fn client_is_malformed(&mut self, malformed: &Malformed<'_>, turn: &mut Turn) {
        let reason = &malformed.reason;
        if !malformed.answers {
            let id = malformed.id.unwrap_or("null");
            return turn.back.push(message::error(id, malformed.code, reason));
        }
        // If the message may be an answer, the server is waiting for it.
        if let Some(asked) = closed(&mut self.from_server, malformed.id) {
            // The reason may quote the answer, which nothing has judged.
            let reason = "the answer of the client is malformed";
            turn.on.push(message::error(&asked.id, DENIED, reason));
        }
        turn.dropped.push(reason.clone());
    }

    /// Handles a request of the client.
    fn request(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        (id, method, params): (&str, String, Option<&str>),
        turn: &mut Turn,
    ) {
        let (mut asked, args, question) = match self.asked(id, &method, params) {
            Ok(asked) => asked,
            Err((code, reason)) => return turn.back.push(message::error(id, code, &reason)),
        };
        let is_call = !PLAIN.contains(&method.as_str());
        // A server that ignores case acts on an argument that the rules do not see.
        let at: [&[&str]; 2] = match method.as_str() {
            "tools/call" => [&["args"], &["raw", "params", "arguments"]],
            _ => [&["args"], &["raw", "params"]],
        };
        if is_call && let Err(reason) = judge.check_keys(&at, args) {
            return turn.back.push(message::error(id, INVALID_PARAMS, &reason));
        }
        if is_call && let Err(reason) = self.call(judge, text, (&asked, args), params, turn) {
            return turn.back.push(asked.denial(&reason));
        }
        if let Some(question) = question {
            self.questions.remove(question);
        }
        if method == "tasks/cancel"
            && let Some(task) = self.task_of(&Object::of(params))
            && let Some(task) = self.tasks.get_mut(task)
            && task.outcome.is_none()
        {
            task.outcome = Some(None);
            // It may have done all the same what it was to do.
            let call = Arc::clone(&task.call);
            self.unknown(judge, &call, turn);
        }
        // Copied only after judging, which requires several times the memory of the arguments. The call of an earlier
        // attempt has its own.
        if judge.reads("args")
            && let Some(call) = Arc::get_mut(&mut asked.call)
            && call.args.is_empty()
        {
            call.args = args.to_owned();
        }
        let size = asked.size();
        let key = message::id_key(id);
        let (number, evicted) = self.from_client.insert(key, asked, size);
        for asked in evicted {
            self.unanswered(judge, &asked, turn);
            let reason = "too many requests are open: this one is given up";
            turn.back.push(asked.denial(reason));
        }
        turn.on
            .push(message::ask(Some(&number.to_string()), &method, params));
    }

    /// Parses a request of the client; returns it, its arguments, which are not copied into its call yet, and the number of the
    /// question that it answers.
    fn asked<'p>(
        &mut self,
        id: &str,
        method: &str,
        params: Option<&'p str>,
    ) -> Result<(Asked, &'p str, Option<u64>), (i32, String)> {
        if self.from_client.number(&message::id_key(id)).is_some() {
            let reason = "another request of this id is open";
            return Err((INVALID_REQUEST, reason.to_owned()));
        }
        // A server that ignores case acts on a method that the rules do not see.
        for known in [&PLAIN[..], &CALLS] {
            message::named_as(std::iter::once(method), known)
                .map_err(|reason| (INVALID_REQUEST, reason))?;
        }
        let invalid = |reason: String| (INVALID_PARAMS, reason);
        let members = Object::of(params);
        message::named_as(members.iter().map(|(key, _)| key), &CALL_PARAMS).map_err(invalid)?;
        let meta = Object::of(members.raw("_meta"));
        if method == "initialize" {
            let offered = members.text("protocolVersion");
            self.typed_offered = offered.is_some_and(|version| is_typed(&version));
        }
        let mut args = params.unwrap_or("{}");
        let mut call = Call {
            tool: method.to_owned(),
            args: String::new(),
            id: Some(self.name_of(id)),
            is_known: method != "tasks/result",
        };
        let name = members.text("name");
        if name.as_deref().is_some_and(|name| !is_exact_name(name)) {
            return Err(invalid(
                "the `name` has control, invisible or surrounding white characters: it can be taken for another one".to_owned(),
            ));
        }
        if method == "tools/call" {
            call.tool = name.ok_or_else(|| invalid("a tool call needs a `name`".to_owned()))?;
            args = match members.raw("arguments") {
                None | Some("null") => "{}",
                Some(args) if args.starts_with('{') => args,
                Some(_) => {
                    return Err(invalid(
                        "expected `arguments` that are an object".to_owned(),
                    ));
                }
            };
        }
        let mut call = Arc::new(call);
        let hash = comparable(method, &members);
        let question = self.question(&members, hash);
        if let Some((_, question)) = question {
            call = Arc::clone(&question.call);
        }
        let question = question.map(|(number, _)| number);
        let of_task = ["tasks/get", "tasks/result"].contains(&method);
        let of_task = of_task.then(|| self.task_of(&members)).flatten();
        if method == "tasks/result"
            && let Some(task) = of_task.and_then(|task| self.tasks.get(task))
        {
            call = Arc::clone(&task.call);
        }
        let version = meta.text(VERSION);
        let asked = Asked {
            id: id.to_owned(),
            method: method.to_owned(),
            of_user: false,
            call,
            progress: meta.raw("progressToken").map(message::id_key),
            typed: version.map_or(self.typed, |version| is_typed(&version)),
            task: members.raw("task").is_some(),
            of_task,
            params: hash,
        };
        Ok((asked, args, question))
    }

    /// Returns the question that a request answers, with its number: by its state, or if it has none, by the parameters alone. Of
    /// several with the same parameters it is the last one, since a client may have left earlier ones unanswered.
    fn question(&self, members: &Object<'_>, params: blake3::Hash) -> Option<(u64, &Question)> {
        let found = match state_of(members) {
            Some(state) => {
                let number = self.questions.number(&hashed(state))?;
                (number, self.questions.get(number)?)
            }
            // Without an answer to a question it is a call of its own.
            None => {
                members.raw("inputResponses")?;
                let mut questions = self.questions.iter();
                questions.rfind(|(_, known)| !known.has_state && known.params == params)?
            }
        };
        Some(found).filter(|(_, question)| question.params == params)
    }

    /// Judges a call of the client and records it if it is allowed.
    ///
    /// # Errors
    /// The reason why the call is denied.
    fn call(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        (asked, args): (&Asked, &str),
        params: Option<&str>,
        turn: &mut Turn,
    ) -> Result<(), String> {
        let mut about = asked.call.about();
        if about.args.is_empty() {
            about.args = args;
        }
        if let Some(answers) = Object::of(params).raw("inputResponses") {
            // It is no outcome of the call.
            let part = About { id: None, ..about };
            let event = self.message(judge, "assistant", part, &Text::of(answers), text);
            self.act(judge, event, turn)?;
        }
        let mut event = self.event(judge, ("call", "assistant"), about, Content::None, text);
        event.null(&["result", "error"]);
        self.act(judge, event, turn)
    }

    /// Handles a notification of the client.
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
                Ok((asked, line)) => {
                    self.unanswered(judge, &asked, turn);
                    turn.on.push(line);
                }
                Err(reason) => turn.dropped.push(reason),
            };
        }
        if let Some(why) = &self.stopped {
            return turn.dropped.push(why.clone());
        }
        let said = Text::of(params.unwrap_or_default());
        if !said.is_empty() {
            let about = About::message(method, params);
            let event = self.message(judge, "assistant", about, &said, text);
            if let Err(reason) = self.act(judge, event, turn) {
                return turn.dropped.push(reason);
            }
        }
        turn.on.push(message::ask(None, method, params));
    }

    /// Handles an answer of the client to a request of the server.
    fn client_answers(
        &mut self,
        judge: &mut impl Judge,
        text: &str,
        id: &str,
        outcome: Outcome<'_>,
        turn: &mut Turn,
    ) {
        let answered = answered(&mut self.from_server, id, outcome, ("client", turn));
        let Some((asked, value)) = answered else {
            return;
        };
        let result = match outcome {
            Outcome::Result(result) => Object::of(Some(result)),
            Outcome::Error(_) => Object::of(None),
        };
        let is_task = |(key, _): (&str, _)| ["task", "taskid"].contains(&&*folded(key));
        let said = Text::of(value);
        if !said.is_empty() {
            // That a request has become a task is said by the client, as is what went wrong.
            let is_of_user = asked.of_user
                && matches!(outcome, Outcome::Result(_))
                && !result.iter().any(is_task);
            let role = if is_of_user { "user" } else { "assistant" };
            let event = self.message(judge, role, asked.call.about(), &said, text);
            if self.act(judge, event, turn).is_err() {
                // The reason may quote what the server must not have; the decision has it.
                let denied = "the answer of the client was denied";
                return turn.on.push(message::error(&asked.id, DENIED, denied));
            }
        }
        if let Some(task) = Object::of(result.raw("task")).raw("taskId") {
            let (key, size) = (hashed(task), asked.size());
            // Of two requests with one task, the result is what the user said only if both ask for that.
            let known = self.client_tasks.take(&key);
            let of_user = asked.of_user && known.unwrap_or(true);
            self.client_tasks.insert(key, of_user, size);
        }
        turn.on.push(message::answer(&asked.id, outcome));
    }
}
