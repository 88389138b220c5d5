//! The agents that made the calls of outcomes.

use super::names::traces_of;
use super::{Call, Memory};

/// The agent that made a call, by a list of calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Maker {
    owner: String,
    /// Whether the outcome of the call is awaited.
    pub is_open: bool,
}

impl Call {
    /// Whether the outcome names an agent, and the name cannot be read.
    pub fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    /// Returns who made the call of an outcome; `None` if it is not among the calls of a memory.
    pub fn maker_in(&self, memory: &Memory) -> Option<Maker> {
        let (owner, is_open) = memory.maker(&self.key())?;
        let owner = owner.to_owned();
        Some(Maker { owner, is_open })
    }

    /// Takes the outcome for one of the agent that made its call.
    pub fn adopt_by(&mut self, maker: &Maker) {
        self.adopt(&maker.owner);
    }

    /// Takes the outcome for one of the agent that made another call of the session.
    pub fn adopt_like(&mut self, other: &Call) {
        self.take(other.agent.clone());
    }

    /// Takes the call for one of the agent that made it: programs leave out names of sub-agents in some hooks, and a sub-agent
    /// fulfils no condition of the main agent's calls.
    pub(super) fn adopt(&mut self, owner: &str) {
        let agent = owner.strip_prefix(&self.session);
        let agent = agent.and_then(|agent| agent.strip_prefix('/'));
        match agent {
            Some("") if self.is_doubtful => self.take(None),
            Some("") | None => {}
            Some(agent) => self.take(Some(agent.to_owned())),
        }
    }

    fn take(&mut self, agent: Option<String>) {
        (self.trace, self.own) = traces_of(&self.session, agent.as_deref(), self.scope);
        self.agent = agent;
        self.is_doubtful = false;
    }
}
