//! Calls that became tasks, and the outcomes of these calls within messages about their tasks.
//!
//! In version 2025-11-25 a client asks for a task, and fetches its outcome by `tasks/result`. From version 2026-07-28 on a server decides
//! that a call becomes a task, and its outcome is within the answer of `tasks/get` or a notification.
//!
//! Source: Model Context Protocol, version 2025-11-25 and the extension `io.modelcontextprotocol/tasks` of 2026-07-28.

use std::sync::Arc;

use super::super::Judge;
use super::message::{self, Object};
use super::request::{Asked, Failed, Task, hashed};
use super::server::failed;
use super::{Content, Ending, Event, Session, Turn};
use crate::texts::folded;

/// The notifications about tasks.
pub(super) const OF_TASKS: [&str; 2] = ["notifications/tasks", "notifications/tasks/status"];

/// The members of a task in a typed version, besides its outcome.
const MEMBERS: [&str; 9] = [
    "_meta",
    "createdAt",
    "lastUpdatedAt",
    "pollIntervalMs",
    "resultType",
    "status",
    "statusMessage",
    "taskId",
    "ttlMs",
];

/// The outcome of a task.
#[derive(Clone, Copy, Debug)]
pub(super) struct Done<'m> {
    /// The number of the task.
    pub(super) task: u64,
    pub(super) failed: Failed,
    /// The result or error.
    pub(super) value: &'m str,
}

impl Session {
    /// Returns the number of the task that members name, if it is in the table.
    pub(super) fn task_of(&self, members: &Object<'_>) -> Option<u64> {
        self.tasks.number(&hashed(members.raw("taskId")?))
    }

    /// Returns the key of the task that a request has become, to any reader of its result; `None` if it has not.
    ///
    /// # Errors
    /// Readers may differ on the request or on the task, or the task is that of another call.
    pub(super) fn accepted(
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

    /// Returns the outcome that a message about a task contains; `None` if it contains none, or readers may differ on it or on
    /// whose it is.
    pub(super) fn done<'m>(&self, members: &Object<'m>) -> Option<Done<'m>> {
        let task = self.task_of(members)?;
        if !self.tasks.get(task)?.typed {
            return None;
        }
        let name = match members.text("status")?.as_str() {
            "completed" => "result",
            "failed" => "error",
            _ => return None,
        };
        let value = members.raw(name).filter(|value| value.starts_with('{'))?;
        let is_finished = match members.raw("resultType") {
            None => true,
            Some(_) => members.text("resultType")? == "complete",
        };
        let mut others = members.iter().filter(|(key, _)| *key != name);
        let is_plain = |(key, value)| MEMBERS.contains(&key) && !holds_result(value);
        (is_finished && others.all(is_plain)).then(|| Done {
            task,
            failed: match name {
                "error" => Some(true),
                _ => failed("tasks/result", &Object::of(Some(value)), value),
            },
            value,
        })
    }

    /// Returns the event of a message with the outcome of a task; `None` if the task is not in the table any more. A client may fetch
    /// an outcome several times, or hear of it before it does: what says the same again is no further outcome of the call. Nor is
    /// anything after one of which nothing is known: that may have been the same.
    pub(super) fn ended(
        &mut self,
        judge: &impl Judge,
        done: &Done<'_>,
        content: Content<'_>,
        raw: &str,
    ) -> Option<Event> {
        let Done { failed, value, .. } = *done;
        let task = self.tasks.get_mut(done.task)?;
        let call = Arc::clone(&task.call);
        let known = task.outcome;
        let (about, ending) = match known {
            Some(known) if known.is_none() || known == failed => {
                (call.part(), Ending::Again(failed))
            }
            _ => {
                task.outcome = Some(failed);
                (call.about(), Ending::Outcome(failed))
            }
        };
        Some(self.said(judge, about, value, (content, ending), raw))
    }

    /// Records that nothing more will be known of a task.
    pub(super) fn left(&mut self, judge: &mut impl Judge, task: &Task, turn: &mut Turn) {
        if task.outcome.is_none() {
            self.unknown(judge, &task.call, turn);
        }
    }

    /// Notes that an unknown outcome of the call of a task is recorded, since the answer to a request for its result could not be read.
    pub(super) fn is_unread(&mut self, asked: &Asked) {
        if asked.method == "tasks/result"
            && let Some(task) = asked.of_task.and_then(|task| self.tasks.get_mut(task))
        {
            task.outcome.get_or_insert(None);
        }
    }
}

/// Returns whether a result says that its request has become a task, and nothing else.
pub(super) fn is_only_task(asked: &Asked, result: &Object<'_>) -> bool {
    let has = |names: &[&str]| result.iter().all(|(key, _)| names.contains(&key));
    let is_typed = || result.text("resultType").as_deref() == Some("task") && has(&MEMBERS);
    asked.task && has(&["_meta", "resultType", "task"]) || asked.typed && is_typed()
}

/// Returns whether a message about tasks, other than the answer of `tasks/result`, contains the result of a task, at whatever place.
pub(super) fn holds_task_result(method: &str, value: &str) -> bool {
    let is_about_task = method.starts_with("tasks/") || method.starts_with("notifications/tasks");
    is_about_task && method != "tasks/result" && holds_result(value)
}

fn holds_result(value: &str) -> bool {
    message::find_key(value, |key| (folded(key) == "result").then_some(())).is_some()
}
