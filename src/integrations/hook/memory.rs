//! State of hooks about calls that is kept from one call to the next.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::authors::GivenTexts;
use super::names::session_of;
use crate::integrations::short_hash;

/// The largest number of calls remembered until their outcomes arrive. Beyond it the oldest is forgotten and counts as
/// never judged.
const MOST_CALLS: usize = 1000;

/// The largest number of remembered calls whose outcome arrived, and of those that were denied.
const MOST_ENDED: usize = 64;

/// The largest number of calls whose tools are remembered after their outcomes.
const MOST_TOOLS: usize = 320;

/// The longest name of a tool that is remembered, in bytes.
const MOST_NAME: usize = 256;

/// The largest number of remembered sessions of a server, and of their calls and texts together.
const MOST_SESSIONS: usize = 1000;
const MOST_ENTRIES: usize = 100_000;

/// The state of the hooks of one session between calls, besides that of the monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The calls without an outcome that were allowed or that a person is asked about, oldest first.
    calls: Vec<OpenCall>,
    /// The latest calls whose outcomes arrived.
    ended: Vec<PastCall>,
    /// The latest calls that were denied, or that a person refused.
    denied: Vec<PastCall>,
    /// The tools of the latest calls that had an outcome; of those that may go on in the background, more.
    #[serde(default)]
    tools: Vec<PastTool>,
    /// Whether a call ran that no hook judged: some tools have a hook for their outcomes alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    has_unjudged: bool,
    /// The texts that may come back as prompts.
    #[serde(default)]
    pub(super) given: GivenTexts,
}

/// The tool of a call that had an outcome.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastTool {
    /// The identity of the call.
    pub(super) key: String,
    pub(super) tool: String,
    /// The session and the sub-agent that made the call; `None` if it is not known.
    pub(super) owner: Option<String>,
    /// Whether the call may go on in the background.
    pub(super) goes_on: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastCall {
    /// The identity of the call.
    pub(super) key: String,
    /// The session and the sub-agent that made the call.
    pub(super) owner: String,
    /// A hash of the tool and arguments that ran, or were refused.
    #[serde(default)]
    pub(super) content: String,
    /// Whether a person was asked about the call, and refused it as far as is known.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_refused: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// The identity of the call.
    pub(super) key: String,
    /// The session and the sub-agent that made the call.
    pub(super) owner: String,
    /// The proposals for the call, if a person is asked.
    pub(super) asked: Option<Asked>,
    /// A hash of the judged tool and arguments.
    pub(super) content: String,
}

/// The proposals for a call, and what a person was asked about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// The proposal in the trace of the session or of the sub-agent.
    pub(super) session: u64,
    /// The proposal in the main agent's own trace, if there is one.
    #[serde(default)]
    pub(super) own: Option<u64>,
    /// The numbers of the clauses that asked.
    #[serde(default)]
    pub(super) clauses: Vec<usize>,
}

impl Asked {
    /// Returns the numbers of the proposals.
    pub(super) fn proposals(&self) -> impl Iterator<Item = u64> + use<> {
        [Some(self.session), self.own].into_iter().flatten()
    }
}

impl Memory {
    /// Remembers a call until its outcome arrives.
    pub(super) fn add(&mut self, call: OpenCall) {
        self.denied.retain(|denied| denied.key != call.key);
        if self.calls.len() >= MOST_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// Remembers a denied call, which must not run, so that an outcome of it is reported.
    pub(super) fn deny(&mut self, call: PastCall) {
        self.ended.retain(|ended| ended.key != call.key);
        self.denied.retain(|denied| denied.key != call.key);
        if self.denied.len() >= MOST_ENDED {
            self.denied.remove(0);
        }
        self.denied.push(call);
    }

    /// Remembers the texts that another agent of the session gave to tools; `None`: they are not known.
    pub fn add_given(&mut self, other: Option<&Memory>) {
        match other {
            Some(other) => self.given.join(&other.given),
            None => self.given.forget(),
        }
    }

    /// Returns who made the call of an outcome, and whether it is open; `None` if it is not known.
    pub(super) fn maker(&self, key: &str) -> Option<(&str, bool)> {
        if let Some(open) = self.calls.iter().find(|call| call.key == key) {
            return Some((&open.owner, true));
        }
        let mut past = self.denied.iter().chain(&self.ended);
        let past = past.find(|call| call.key == key)?;
        Some((&past.owner, false))
    }

    /// Records that the outcome of a call has arrived, with a hash of what ran; returns what was known about the call, and
    /// who made it. `named` is the agent that the outcome names. Without ids (`has_id`), several agents may have made equal calls.
    pub(super) fn end(
        &mut self,
        key: &str,
        content: &str,
        named: Option<&str>,
        has_id: bool,
    ) -> (Known, Option<String>) {
        let outcome = Outcome {
            key,
            content,
            named,
            has_id,
        };
        let of_open = |call: &OpenCall| outcome.fit(&call.key, &call.owner, &call.content);
        let (place, is_one) = match best(&self.calls, of_open, |call| &call.owner) {
            Some(found) => found,
            None => return self.past(&outcome),
        };
        let call = self.calls.remove(place);
        if self.ended.len() >= MOST_ENDED {
            self.ended.remove(0);
        }
        let owner = is_one.then(|| call.owner.clone());
        self.ended.push(PastCall {
            key: call.key,
            owner: call.owner,
            content: content.to_owned(),
            is_refused: false,
        });
        let known = match (call.asked, call.content == content) {
            (Some(asked), true) => Known::Asked(asked),
            (Some(asked), false) => Known::AskedOtherwise(asked),
            (None, true) => Known::Judged,
            (None, false) => Known::Otherwise,
        };
        (known, owner)
    }

    /// Returns what is known about a call without an open question, and who made it.
    fn past(&mut self, outcome: &Outcome<'_>) -> (Known, Option<String>) {
        let of_past = |call: &PastCall| outcome.fit(&call.key, &call.owner, &call.content);
        let find = |calls: &[PastCall]| {
            let (place, is_one) = best(calls, of_past, |call| &call.owner)?;
            let past = calls.get(place)?.clone();
            let owner = is_one.then(|| past.owner.clone());
            Some((past, owner))
        };
        match (find(&self.denied), find(&self.ended)) {
            (Some((past, owner)), _) if past.is_refused => (Known::Refused, owner),
            (Some((_, owner)), _) => (Known::Denied, owner),
            (None, Some((past, owner))) if past.content == outcome.content => {
                (Known::Judged, owner)
            }
            (None, Some((_, owner))) => (Known::Otherwise, owner),
            (None, None) => {
                self.has_unjudged = true;
                (Known::Not, None)
            }
        }
    }

    /// Remembers the tool of a call that had an outcome.
    pub(super) fn add_past(&mut self, call: PastTool) {
        if call.tool.len() > MOST_NAME {
            return;
        }
        self.tools.retain(|past| past.key != call.key);
        let n_ended = self.tools.iter().filter(|past| !past.goes_on).count();
        if n_ended >= MOST_ENDED || self.tools.len() >= MOST_TOOLS {
            let oldest = self.tools.iter().position(|past| !past.goes_on);
            self.tools.remove(oldest.unwrap_or(0));
        }
        self.tools.push(call);
    }

    /// Returns a call that had an outcome; `None` if it is not known.
    pub(super) fn past_tool(&self, key: &str) -> Option<&PastTool> {
        self.tools.iter().find(|past| past.key == key)
    }

    /// Whether an outcome may arrive of which nothing is known.
    fn awaits_outcome(&self) -> bool {
        self.has_unjudged || !self.calls.is_empty() || self.tools.iter().any(|past| past.goes_on)
    }

    /// Returns the number of calls and texts remembered.
    fn len(&self) -> usize {
        let calls = self.calls.len() + self.ended.len() + self.denied.len();
        calls + self.tools.len() + self.given.len()
    }

    /// Returns who made the calls about which a person is asked, the oldest call first.
    pub(super) fn askers(&self) -> impl Iterator<Item = &str> {
        let asked = self.calls.iter().filter(|call| call.asked.is_some());
        asked.map(|call| call.owner.as_str())
    }

    /// Ends the questions about the calls of some owners: the calls are refused. Returns their proposals. `is_over` is called for the
    /// oldest question first.
    pub(super) fn refuse(&mut self, mut is_over: impl FnMut(&str) -> bool) -> Vec<u64> {
        let mut proposals = Vec::new();
        let is_refused = |call: &mut OpenCall| call.asked.is_some() && is_over(&call.owner);
        let refused: Vec<OpenCall> = self.calls.extract_if(.., is_refused).collect();
        for call in refused {
            proposals.extend(call.asked.iter().flat_map(Asked::proposals));
            self.deny(PastCall {
                key: call.key,
                owner: call.owner,
                content: call.content,
                is_refused: true,
            });
        }
        proposals
    }

    /// Remembers the proposals in the main agent's own trace: copies of those in the trace of the session, which it began as.
    pub(super) fn split(&mut self, copied: &[(u64, u64)]) {
        for asked in self.calls.iter_mut().filter_map(|call| call.asked.as_mut()) {
            let copy = copied.iter().find(|(number, _)| *number == asked.session);
            asked.own = copy.map(|(_, copy)| *copy).or(asked.own);
        }
    }
}

/// The members of an outcome by which its call is known.
struct Outcome<'o> {
    key: &'o str,
    content: &'o str,
    /// The agent that it names.
    named: Option<&'o str>,
    /// Whether the key is that of an id: equal calls of several agents have one key without.
    has_id: bool,
}

impl Outcome<'_> {
    /// Returns how well a call fits: that of the agent that the outcome names before all others, then one of the same content; `None`
    /// if the call is another one.
    fn fit(&self, key: &str, owner: &str, content: &str) -> Option<(bool, bool)> {
        let is_named = self.named == Some(owner);
        let may_be = key == self.key && (is_named || self.named.is_none() || self.has_id);
        may_be.then_some((is_named, content == self.content))
    }
}

/// Returns the place of the first of the calls that fit best, and whether one agent made all of these.
fn best<C, F: Ord>(
    calls: &[C],
    fit: impl Fn(&C) -> Option<F>,
    owner: impl Fn(&C) -> &String,
) -> Option<(usize, bool)> {
    let best = calls.iter().filter_map(&fit).max()?;
    let mut fitting =
        (calls.iter().enumerate()).filter(|(_, call)| fit(call).is_some_and(|fit| fit == best));
    let (place, first) = fitting.next()?;
    let is_one = fitting.all(|(_, call)| owner(call) == owner(first));
    Some((place, is_one))
}

/// The state of the hooks of many sessions: no session makes another one forget its calls, unless there are too many sessions.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sessions {
    /// By a hash of the id, which may be long.
    sessions: BTreeMap<String, Session>,
    /// The number of calls so far.
    n_calls: u64,
    /// Whether a session was forgotten.
    has_forgotten: bool,
    /// The number of calls when it turned out that an outcome was lost: it may be one of any call that was open then.
    #[serde(default)]
    lost_at: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Session {
    /// The number of the latest call.
    latest: u64,
    #[serde(flatten)]
    memory: Memory,
}

fn key_of(id: &str) -> String {
    short_hash(&blake3::hash(id.as_bytes()))
}

impl Sessions {
    /// Returns whether no session is remembered.
    pub fn is_empty(&self) -> bool {
        self.sessions.is_empty()
    }

    /// Notes that there were sessions of which nothing is known.
    pub fn forget(&mut self) {
        self.has_forgotten = true;
    }

    /// Notes that an outcome was lost.
    pub fn lose(&mut self) {
        self.lost_at = self.n_calls;
    }

    /// Whether an outcome of the session may have been lost since its latest call.
    pub fn has_lost(&self, id: &str) -> bool {
        let session = self.sessions.get(&key_of(id));
        session.is_some_and(|session| {
            session.latest <= self.lost_at && session.memory.awaits_outcome()
        })
    }

    /// Whether a trace is one of a session that is remembered.
    pub fn has_trace(&self, trace: &str) -> bool {
        self.sessions.contains_key(&key_of(&session_of(trace)))
    }

    /// Returns the state of a session for its next call. `is_live` says whether calls of it were judged before: then the texts of a
    /// session that was forgotten may come back.
    pub fn next_call(&mut self, id: &str, is_live: bool) -> &mut Memory {
        self.n_calls += 1;
        self.make_room();
        let key = key_of(id);
        let is_forgotten = self.has_forgotten && is_live;
        let session = self.sessions.entry(key).or_insert_with(|| {
            let mut session = Session::default();
            if is_forgotten {
                session.memory.given.forget();
            }
            session
        });
        session.latest = self.n_calls;
        &mut session.memory
    }

    /// Forgets the session with the oldest latest call if there are too many, and the largest one if they remember too much.
    fn make_room(&mut self) {
        let all = || self.sessions.iter();
        let forgotten = if self.sessions.len() >= MOST_SESSIONS {
            all().min_by_key(|(_, session)| session.latest)
        } else if all()
            .map(|(_, session)| session.memory.len())
            .sum::<usize>()
            > MOST_ENTRIES
        {
            all().max_by_key(|(_, session)| session.memory.len())
        } else {
            None
        };
        if let Some(key) = forgotten.map(|(key, _)| key.clone()) {
            self.sessions.remove(&key);
            self.has_forgotten = true;
        }
    }
}

/// The known facts about a call when its outcome arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was allowed, or its outcome arrived already.
    Judged,
    /// It was allowed with other arguments, or as a call of another tool; so was one whose outcome arrived already.
    Otherwise,
    /// A person was asked about it.
    Asked(Asked),
    /// A person was asked about other arguments, or about a call of another tool.
    AskedOtherwise(Asked),
    /// A person was asked, and only an approver may answer.
    Unanswered,
    /// It was denied.
    Denied,
    /// A person was asked about it, and refused it as far as is known.
    Refused,
    /// It was never judged, or is no longer remembered.
    Not,
}

#[cfg(test)]
mod tests {
    use super::super::authors::Author;
    use super::*;

    fn call(key: usize) -> OpenCall {
        OpenCall {
            key: key.to_string(),
            owner: String::new(),
            asked: None,
            content: String::new(),
        }
    }

    #[test]
    fn a_session_is_forgotten_for_its_own_calls_alone() {
        let mut sessions = Sessions::default();
        sessions.next_call("quiet", false).add(call(0));
        for number in 0..2 * MOST_CALLS {
            sessions.next_call("busy", true).add(call(number));
        }
        assert_eq!(sessions.next_call("quiet", true).calls.len(), 1);
        assert_eq!(sessions.next_call("busy", true).calls.len(), MOST_CALLS);
        // the largest of too much
        for session in 0..MOST_ENTRIES / MOST_CALLS {
            for number in 0..MOST_CALLS - 1 {
                sessions
                    .next_call(&session.to_string(), true)
                    .add(call(number));
            }
        }
        assert_eq!(sessions.next_call("quiet", true).calls.len(), 1);
        assert_eq!(sessions.next_call("busy", true).calls.len(), 0);
        // and its prompts are no longer known to be the user's
        let author = |sessions: &mut Sessions, id: &str| {
            sessions.next_call(id, true).given.author(Some("yes"))
        };
        assert_eq!(author(&mut sessions, "busy"), Author::Given);
        assert_eq!(author(&mut sessions, "quiet"), Author::User);
        for session in 0..MOST_SESSIONS {
            sessions.next_call(&format!("new {session}"), false);
        }
        assert!(sessions.sessions.len() <= MOST_SESSIONS);
        assert_eq!(author(&mut sessions, "quiet"), Author::Given);
        assert_eq!(
            sessions.next_call("newer", false).given.author(Some("yes")),
            Author::User
        );
    }
}
