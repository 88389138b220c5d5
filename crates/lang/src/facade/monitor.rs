//! Live traces.

use serde::Serialize;

use super::{Error, Spec};
use crate::monitor::{self, Options};
use crate::value::Instant;

pub use crate::monitor::Decision;

/// Monitors live traces and decides about actions before they run.
///
/// The monitor reads no clock. Pass the current time as `now` if the spec has bounds in time and the events carry none.
#[derive(Debug)]
pub struct Monitor(monitor::Monitor);

impl Spec {
    /// Returns a monitor without traces.
    ///
    /// ```
    /// use guard_lang::Spec;
    /// use serde_json::json;
    ///
    /// let spec = Spec::from_source("pay.guard", r#"
    /// event { kind: string  tool: string? }
    /// property approved = G (kind == "call" and tool == "pay" -> Y kind == "approval")
    /// enforce approved { violated => block "{tool} needs an approval in the step before" }
    /// "#)?;
    /// let mut monitor = spec.monitor()?;
    /// let pay = json!({"trace": "t1", "kind": "call", "tool": "pay"});
    /// let decision = monitor.act(&pay, None)?;
    /// assert!(decision.ruling.denies());
    /// assert_eq!(decision.reason(), "pay needs an approval in the step before");
    ///
    /// monitor.observe(&json!({"trace": "t1", "kind": "approval"}), None)?;
    /// // The payment may be made: it is recorded, and counts for whatever is judged next.
    /// assert!(!monitor.act(&pay, None)?.ruling.denies());
    /// # Ok::<(), guard_lang::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Monitor`] if a clause uses a model, which [`monitor::Options`] must then supply, or exceeds the limits.
    pub fn monitor(&self) -> Result<Monitor, Error> {
        Ok(Monitor(monitor::Monitor::new(
            &self.0.hir,
            Options::default(),
        )?))
    }
}

impl Monitor {
    /// Decides about an action before it runs, and records it if the ruling is below `ask`. A denied action is not recorded. If
    /// a person must be asked, the decision carries a proposal to commit or abandon.
    ///
    /// # Errors
    /// [`Error::Event`] if the value cannot be serialized. An event that the spec cannot read is a decision, not an error.
    pub fn act(&mut self, event: &impl Serialize, now: Option<Instant>) -> Result<Decision, Error> {
        Ok(self.0.act(&serde_json::to_vec(event)?, now))
    }

    /// Decides about an action before it runs; its outcome counts as unknown. Unless it is denied, the action counts
    /// for later decisions until it is committed or abandoned. A denied action is not recorded.
    ///
    /// # Errors
    /// As [`Monitor::act`].
    pub fn propose(
        &mut self,
        event: &impl Serialize,
        now: Option<Instant>,
    ) -> Result<Decision, Error> {
        Ok(self.0.propose(&serde_json::to_vec(event)?, now))
    }

    /// Records that a proposed action ran, with its outcome.
    ///
    /// # Errors
    /// As [`Monitor::act`].
    pub fn commit(
        &mut self,
        proposal: u64,
        event: &impl Serialize,
        now: Option<Instant>,
    ) -> Result<Decision, Error> {
        Ok(self.0.commit(proposal, &serde_json::to_vec(event)?, now))
    }

    /// Records that a proposed action did not run.
    pub fn abandon(&mut self, proposal: u64) -> Decision {
        self.0.abandon(proposal)
    }

    /// Records an event that happened without a proposal.
    ///
    /// # Errors
    /// As [`Monitor::act`].
    pub fn observe(
        &mut self,
        event: &impl Serialize,
        now: Option<Instant>,
    ) -> Result<Decision, Error> {
        Ok(self.0.observe(&serde_json::to_vec(event)?, now))
    }

    /// Ends a trace.
    pub fn end(&mut self, trace: &str, now: Option<Instant>) -> Decision {
        self.0.end(trace, now)
    }

    /// Returns the decisions about deadlines that have passed by `now`.
    pub fn tick(&mut self, now: Instant) -> Vec<Decision> {
        self.0.tick(now)
    }
}
