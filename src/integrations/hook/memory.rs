//! The memory of hooks about calls, from one call to the next.

use serde::{Deserialize, Serialize};

use super::Call;

/// The most calls that are remembered until their outcomes arrive; of more, the oldest count as never judged.
const MOST_CALLS: usize = 1000;

/// Limit on the remembered calls whose outcome arrived, and on those that were denied.
const MOST_ENDED: usize = 64;

/// The memory of a hook from one call to the next, besides the state of the monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The calls that were let through, or that a person is asked about, and have no outcome yet; oldest first.
    calls: Vec<OpenCall>,
    /// The keys of the calls whose outcomes arrived last.
    ended: Vec<String>,
    /// The keys of the calls that were denied last.
    denied: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    /// Its identity.
    pub(super) key: String,
    /// The session, and the sub-agent that made it.
    pub(super) owner: String,
    /// The proposals about it, while a person is asked.
    pub(super) asked: Option<Asked>,
    /// A hash of the tool and the arguments that were judged.
    #[serde(default)]
    pub(super) content: Option<String>,
}

/// The numbers of the proposals about a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Asked {
    /// In the trace of the session or of the sub-agent.
    pub(super) session: u64,
    /// In the main agent's own trace, if there is one.
    #[serde(default)]
    pub(super) own: Option<u64>,
}

impl Memory {
    /// Remembers a call until its outcome arrives.
    pub(super) fn add(&mut self, call: OpenCall) {
        self.denied.retain(|denied| *denied != call.key);
        if self.calls.len() >= MOST_CALLS {
            self.calls.remove(0);
        }
        self.calls.push(call);
    }

    /// Remembers a call that was denied: it must not run, so an outcome of it is reported.
    pub(super) fn deny(&mut self, key: String) {
        self.ended.retain(|ended| *ended != key);
        self.denied.retain(|denied| *denied != key);
        if self.denied.len() >= MOST_ENDED {
            self.denied.remove(0);
        }
        self.denied.push(key);
    }

    /// Remembers that the outcome of a call has arrived, and what ran if that is known; returns what was known of the call.
    pub(super) fn end(&mut self, key: &str, content: Option<&str>) -> Known {
        let of_it = |call: &OpenCall| call.key == key;
        let same = |call: &OpenCall| of_it(call) && call.content.as_deref() == content;
        let mut calls = self.calls.iter();
        let place = calls.position(same);
        let Some(place) = place.or_else(|| self.calls.iter().position(of_it)) else {
            if self.denied.iter().any(|denied| denied == key) {
                return Known::Denied;
            }
            return match self.ended.iter().any(|ended| ended == key) {
                true => Known::Judged,
                false => Known::Not,
            };
        };
        let call = self.calls.remove(place);
        if self.ended.len() >= MOST_ENDED {
            self.ended.remove(0);
        }
        self.ended.push(call.key);
        let is_same = |judged: String| content.is_none_or(|content| content == judged);
        match (call.asked, call.content.is_none_or(is_same)) {
            (Some(asked), true) => Known::Asked(asked),
            (Some(asked), false) => Known::AskedOtherwise(asked),
            (None, true) => Known::Judged,
            (None, false) => Known::Otherwise,
        }
    }

    /// Whether the outcome of this call is on record.
    pub fn has_ended(&self, call: &Call) -> bool {
        self.ended.contains(&call.key())
    }

    /// Forgets the calls that a person was asked about; returns their proposals.
    pub(super) fn refused(&mut self, owner: &str) -> Vec<u64> {
        let asked = |call: &OpenCall| call.asked.filter(|_| call.owner == owner);
        let proposals = self.calls.iter().filter_map(asked);
        let proposals = proposals
            .flat_map(|asked| [Some(asked.session), asked.own])
            .flatten()
            .collect();
        self.calls.retain(|call| asked(call).is_none());
        proposals
    }
}

/// The known facts about a call whose outcome arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was let through.
    Judged,
    /// It was let through, with other arguments or as a call of another tool.
    Otherwise,
    /// A person was asked.
    Asked(Asked),
    /// A person was asked about other arguments, or about a call of another tool.
    AskedOtherwise(Asked),
    /// A person was asked, and only an approver may answer.
    Unanswered,
    /// It was denied.
    Denied,
    /// Nothing: it was never judged.
    Not,
}
