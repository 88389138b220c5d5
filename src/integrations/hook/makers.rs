//! The agents that made the calls of outcomes.

use super::names::traces_of;
use super::{Call, Memory};

impl Call {
    /// Takes an outcome for one of the agent that made its call, if that is among the calls of a memory.
    pub fn adopt_from(&mut self, memory: &Memory) {
        let maker = memory.maker(&self.key()).map(str::to_owned);
        self.adopt(maker.as_deref());
    }

    /// Whether the call of an outcome is among the calls of a memory.
    pub fn is_in(&self, memory: &Memory) -> bool {
        memory.maker(&self.key()).is_some()
    }

    /// Takes the call for one of the sub-agent that made it: programs leave out names of sub-agents in some hooks, and a sub-agent
    /// fulfils no condition of the main agent's calls.
    pub(super) fn adopt(&mut self, owner: Option<&str>) {
        let agent = owner.and_then(|owner| owner.strip_prefix(&self.session)?.strip_prefix('/'));
        if let Some(agent) = agent.filter(|agent| !agent.is_empty()) {
            self.agent = Some(agent.to_owned());
            (self.trace, self.own) = traces_of(&self.session, Some(agent), self.scope);
        }
    }
}
