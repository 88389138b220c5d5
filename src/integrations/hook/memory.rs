//! State of hooks about calls that is kept from one call to the next.

use serde::{Deserialize, Serialize};

/// The largest number of calls remembered until their outcomes arrive. Beyond it the oldest is forgotten and counts as
/// never judged.
const MOST_CALLS: usize = 1000;

/// The largest number of remembered calls whose outcome arrived, and of those that were denied.
const MOST_ENDED: usize = 64;

/// The state of a hook between calls, besides that of the monitor.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Memory {
    /// The calls without an outcome that were allowed or that a person is asked about, oldest first.
    calls: Vec<OpenCall>,
    /// The latest calls whose outcomes arrived.
    ended: Vec<PastCall>,
    /// The latest denied calls.
    denied: Vec<PastCall>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PastCall {
    /// The identity of the call.
    pub(super) key: String,
    /// The session and the sub-agent that made the call.
    pub(super) owner: String,
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

    /// Records that the outcome of a call has arrived, with a hash of what ran; returns what was known about the call, and
    /// who made it.
    pub(super) fn end(&mut self, key: &str, content: &str) -> (Known, Option<String>) {
        let of_it = |call: &OpenCall| call.key == key;
        let same = |call: &OpenCall| of_it(call) && call.content == content;
        let mut calls = self.calls.iter();
        let place = calls.position(same);
        let Some(place) = place.or_else(|| self.calls.iter().position(of_it)) else {
            let of = |calls: &[PastCall]| {
                let call = calls.iter().find(|call| call.key == key);
                call.map(|call| call.owner.clone())
            };
            return match (of(&self.denied), of(&self.ended)) {
                (owner @ Some(_), _) => (Known::Denied, owner),
                (None, owner @ Some(_)) => (Known::Judged, owner),
                (None, None) => (Known::Not, None),
            };
        };
        let call = self.calls.remove(place);
        if self.ended.len() >= MOST_ENDED {
            self.ended.remove(0);
        }
        let owner = Some(call.owner.clone());
        self.ended.push(PastCall {
            key: call.key,
            owner: call.owner,
        });
        let known = match (call.asked, call.content == content) {
            (Some(asked), true) => Known::Asked(asked),
            (Some(asked), false) => Known::AskedOtherwise(asked),
            (None, true) => Known::Judged,
            (None, false) => Known::Otherwise,
        };
        (known, owner)
    }

    /// Forgets the calls of this owner that a person was asked about; returns their proposals.
    pub(super) fn refused(&mut self, owner: &str) -> Vec<u64> {
        let of_owner = |call: &OpenCall| call.asked.is_some() && call.owner == owner;
        let asked = self.calls.iter().filter(|call| of_owner(call));
        let asked = asked.filter_map(|call| call.asked.as_ref());
        let proposals = asked.flat_map(Asked::proposals).collect();
        self.calls.retain(|call| !of_owner(call));
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

/// The known facts about a call when its outcome arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// It was allowed, or its outcome arrived already.
    Judged,
    /// It was allowed with other arguments, or as a call of another tool.
    Otherwise,
    /// A person was asked about it.
    Asked(Asked),
    /// A person was asked about other arguments, or about a call of another tool.
    AskedOtherwise(Asked),
    /// A person was asked, and only an approver may answer.
    Unanswered,
    /// It was denied.
    Denied,
    /// It was never judged, or is no longer remembered.
    Not,
}
