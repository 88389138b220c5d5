//! Judging of prompts.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use super::authors::{Author, TASK, task_calls};
use super::refused::end_questions;
use super::{Call, Memory, ending, reason_of};
use crate::integrations::Judge;
use crate::monitor::lenient::UNREAD;
use crate::monitor::{Decision, Ruling};

/// The message about a prompt that may be a text of the agent.
const NOT_THE_USERS: &str = "guard: this prompt does not count as the user's: the agent may have given the same text to a tool";

/// The greatest number of questions about calls of sub-agents that remain after a prompt of the user.
const MOST_OF_AGENTS: usize = 2;

impl Call {
    /// Judges a prompt. A text that the program wrote is not one: it has happened, like an outcome, and can still be dropped.
    pub(super) fn prompt(
        &self,
        judge: &mut impl Judge,
        memory: &mut Memory,
        decisions: &mut Vec<Decision>,
    ) -> Result<Option<Json>, String> {
        self.needed("prompt")?;
        let text = self.outline.text("prompt");
        let author = match memory.given.author(text.as_deref()) {
            Author::User if !self.is_of_main_input() => Author::Marked,
            author => author,
        };
        if let Author::Program(tag) = author {
            for (tool, (id, owner)) in self.reported_calls(memory, tag, text.as_deref()) {
                let mut report = self.clone();
                match owner {
                    Some(owner) => report.adopt(&owner),
                    None => report.is_doubtful = self.own(judge).is_some(),
                }
                let event = |call: &Call, judge: &_, trace: &str, whole| {
                    call.report(judge, trace, (&tool, &id), whole)
                };
                report.happened(judge, event, decisions)?;
            }
            return Ok(self.after_answer(decisions, |_| false, None));
        }
        let by_user = author == Author::User;
        if by_user {
            // No hook reports that a person refused a call and interrupted the turn: the next thing that happens is this prompt. A sub-agent
            // may go on in the background, and nothing says which do, so the latest questions of sub-agents remain: few enough that no
            // call and no prompt is denied for their number.
            let main = self.owner();
            let is_of_agent = |owner: &str| owner != main && owner.starts_with(&main);
            let n_of_agents = memory.askers().filter(|owner| is_of_agent(owner)).count();
            let mut n_over = n_of_agents.saturating_sub(MOST_OF_AGENTS);
            end_questions(judge, memory, |owner| {
                let is_over = is_of_agent(owner) && n_over > 0;
                n_over -= usize::from(is_over);
                is_over || owner == main
            })?;
        }
        let event = |judge: &_, trace: &str| self.message(judge, trace, by_user);
        let (proposed, asked) = self.act(judge, event)?;
        let ruling = proposed.ruling;
        let reason = reason_of(&proposed);
        decisions.push(proposed);
        if let Some(asked) = asked {
            self.commit(judge, &asked, event, &mut Vec::new())?;
        }
        let block = json!({"decision": "block", "reason": reason});
        Ok(match ruling {
            Ruling::Allow if author == Author::Given => {
                Some(json!({"systemMessage": NOT_THE_USERS}))
            }
            Ruling::Allow => None,
            Ruling::Warn | Ruling::Ask => Some(json!({"systemMessage": reason})),
            Ruling::Reflect => Some(self.with_context(None, &reason)),
            Ruling::Block => Some(block),
            Ruling::Stop => Some(ending(block, &reason)),
        })
    }

    /// Whether a prompt is one to the main agent, and its input names no other source than the user.
    fn is_of_main_input(&self) -> bool {
        let source = self.outline.raw("source");
        self.agent().is_none() && matches!(source, None | Some("null" | "\"user\""))
    }

    /// Returns the tools of the calls that a text of the program reports on, each once, with the id and the maker of a call, the main
    /// agent before others. Tools and ids are JSON; the maker is `None` if it is not known. The tool of a notification is that of the call
    /// that it names; any other text is a result of a tool with the name of its tag.
    fn reported_calls(
        &self,
        memory: &Memory,
        tag: &str,
        text: Option<&str>,
    ) -> BTreeMap<String, (String, Option<String>)> {
        let json = |text: &str| Json::from(text).to_string();
        let unnamed = (json(tag), ("null".to_owned(), Some(self.owner())));
        if tag != TASK {
            return BTreeMap::from([unnamed]);
        }
        let unread = || UNREAD.to_owned();
        let Some(ids) = text.and_then(task_calls) else {
            return BTreeMap::from([(unread(), (unread(), None))]);
        };
        let named = |id: &str| {
            let id = json(id);
            match memory.past_tool(&self.key_of(id.as_bytes())) {
                Some(past) => (json(&past.tool), (id, past.owner.clone())),
                None => (unread(), (id, None)),
            }
        };
        let mut reported = BTreeMap::new();
        for id in ids {
            let (tool, (id, owner)) = id.map_or_else(|| unnamed.clone(), named);
            let is_main = owner == Some(self.owner());
            if is_main || !reported.contains_key(&tool) {
                reported.insert(tool, (id, owner));
            }
        }
        reported
    }

    /// Remembers the prompts that the end of a turn says to be scheduled, any if it cannot be read; returns whether there are some.
    pub(super) fn remember_scheduled(&self, memory: &mut Memory) -> bool {
        let scheduled = self.outline.raw("session_crons");
        if self.outline.is_changed() || self.outline.is_ambiguous("session_crons") {
            memory.given.forget();
            return true;
        }
        scheduled
            .inspect(|scheduled| memory.given.add_scheduled(scheduled))
            .is_some()
    }

    /// Remembers the texts of a call that may come back as prompts.
    pub(super) fn remember_texts(&self, memory: &mut Memory) {
        let tool = self.outline.text("tool_name").unwrap_or_default();
        memory.given.add_call(&tool, self.known("tool_input"));
    }
}
