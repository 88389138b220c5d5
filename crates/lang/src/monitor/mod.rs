//! Live runs: events in, decisions out.
//!
//! A [`Monitor`] follows many traces at once. For every event it returns the ruling of the spec's `enforce` clauses: allow,
//! warn, reflect, ask, block, stop.
//!
//! ```
//! use guard_lang::{check, front, monitor::{Monitor, Options, Ruling}, modules::NoFiles};
//!
//! let spec = r#"
//! event { kind: string  tool: string? }
//! property approved = G (kind == "call" and tool == "pay" -> Y kind == "approval")
//! enforce approved { violated => block "{tool} needs an approval in the step before" }
//! "#;
//! let spec = front("pay.guard", spec, &NoFiles, check::Limits::default()).spec.ok_or("wrong")?;
//! let mut monitor = Monitor::new(&spec, Options::default())?;
//!
//! // An action is judged before it is carried out, and recorded if it may be; what is denied leaves no trace.
//! let pay = br#"{"trace":"t1","kind":"call","tool":"pay"}"#;
//! let decision = monitor.act(pay, None);
//! assert_eq!(decision.ruling, Ruling::Block);
//! assert_eq!(decision.reason(), "pay needs an approval in the step before");
//!
//! monitor.observe(br#"{"trace":"t1","kind":"approval"}"#, None);
//! assert_eq!(monitor.act(pay, None).ruling, Ruling::Allow);
//! assert_eq!(monitor.end("t1", None).ruling, Ruling::Allow);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Failure
//! A failure never lets an action through. Unreadable input, an exceeded limit and an undecided data error are treated as a
//! violation, with a reason, unless the clause says `on error allow`.
//!
//! # State that survives
//! [`Monitor::snapshot`] is the state as bytes, from which [`Monitor::resume`] continues in another process with the same
//! decisions. A [`journal`] of the later inputs preserves everything that was acknowledged; a [`log`] of the decisions makes
//! later changes detectable. All three are bound to the spec and the model ([`Identity`]).
//!
//! # Time
//! The monitor reads no clock. The caller passes the time (`now`). An event without a time gets that time, and
//! [`Monitor::tick`] finds the deadlines that pass without an event. If the events of a trace have their own times, `now` only
//! measures the time between them, so that recorded runs can be replayed.

mod approvals;
mod arms;
pub mod damaged;
mod decision;
pub mod encoded;
mod envelope;
mod histories;
pub mod intake;
pub mod joined;
pub mod journal;
mod judge;
pub mod lenient;
mod live;
pub mod log;
mod notes;
mod questions;
mod raw_object;
mod read_keys;
mod reading;
mod repair;
mod reserve;
mod risk;
mod spellings;
mod state;
mod step;
mod table;
mod usage;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use smol_str::SmolStr;

pub use decision::{Cause, Decision, Fired, Ruling};
pub use envelope::Request;
pub use envelope::{Envelope, EnvelopeFields};
pub use live::{Monitor, MonitorError};
pub use raw_object::{RawObject, unique_keys};
pub use state::{Identity, is_state};
pub use step::OF_MAIN_AGENT;
pub use table::Row;
pub use table::{Clause, Table, Unreached};

use crate::eval::{self, KeptAutomata, Obligation};
use crate::hir::print;
use crate::input::limits::InputLimits;
use crate::learn::{Header, Model, RowLimits};
use crate::query::Solved;
use crate::types::EnumType;
use crate::value::{Instant, Value};

/// The treatment of a violation that depends on the outcome of a proposed action.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcomes {
    /// A proposal is denied when every outcome violates, and flagged when some does.
    #[default]
    Every,
    /// A proposal is denied when any outcome violates: for actions that cannot be undone.
    Any,
}

/// The limits of a monitor, and its policy.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits on judging.
    pub eval: eval::Limits,
    /// Limits on reading.
    pub input: InputLimits,
    /// The greatest number of live traces; events of further traces are denied.
    pub traces: usize,
    /// The greatest number of open proposals, neither committed nor abandoned (`max-proposals`); further ones are
    /// denied.
    pub proposals: usize,
    /// The same limit for one trace (`max-trace-proposals`): a proposal is judged after all open proposals of its
    /// trace.
    pub trace_proposals: usize,
    /// The greatest size in bytes of all open proposals (`max-proposal-bytes`); further ones are denied.
    pub proposal_bytes: usize,
    /// The same limit for one trace (`max-trace-proposal-bytes`).
    pub trace_proposal_bytes: usize,
    /// The greatest number of calls of a trace about which a person is asked and that no commit follows (`max-questions`); beyond
    /// it, actions of the trace are denied. They are judged in all orders, of which n calls have n!.
    pub questions: usize,
    /// The greatest number of histories that are kept of a trace because calls about which a person is asked may have happened before what
    /// was recorded since (`max-histories`); beyond it, actions of the trace are denied while questions are open.
    pub histories: usize,
    /// The number of clients that share `proposals` and `proposal_bytes` equally.
    pub clients: usize,
    /// The time after which an open proposal expires, by the times that callers pass.
    pub reservation: Duration,
    /// The policy for outcomes.
    pub outcomes: Outcomes,
    /// The events that only approvers may report; if empty, every client may report every event.
    pub approvals: Vec<Approval>,
    /// The models for clauses on queries, by their names in the spec.
    pub models: BTreeMap<SmolStr, TrainedModel>,
    /// Limits on the chains of these models.
    pub rows: RowLimits,
    /// Automata of the spec that were built before.
    pub automata: Arc<KeptAutomata>,
    /// The identity that states, journals and logs are bound to. The model's part follows from `models`.
    pub identity: Identity,
}

/// The sender of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speaker {
    /// May make every request.
    #[default]
    Approver,
    /// May not report [approvals](Approval), commit an action about which a person was asked, or end a trace (which would end
    /// the validity of its approvals). Restricted only if the monitor has approvals.
    Reporter,
}

/// Events that only an [approver](Speaker::Approver) may report: those whose field has this value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    /// A field of the spec's events.
    pub field: SmolStr,
    /// Its value, as text: a text, a number or a truth value, or the name of an enum's value.
    pub value: SmolStr,
}

/// The source of the probabilities of a model.
#[derive(Clone, Debug)]
pub enum TrainedModel {
    /// A model file. Its queries are solved when the monitor is created.
    Learned(Model),
    /// The tables that another process [solved](Monitor::solved), and the hash of the model file.
    Solved(Box<Solved>, String),
}

impl TrainedModel {
    /// Returns the header of the model file.
    pub(crate) fn header(&self) -> &Header {
        match self {
            TrainedModel::Learned(model) => &model.header,
            TrainedModel::Solved(solved, _) => solved.header(),
        }
    }

    /// Returns the hash of the model file.
    pub fn hash(&self) -> String {
        match self {
            TrainedModel::Learned(model) => blake3::hash(model.to_text().as_bytes())
                .to_hex()
                .to_string(),
            TrainedModel::Solved(_, hash) => hash.clone(),
        }
    }
}

impl From<Model> for TrainedModel {
    fn from(model: Model) -> TrainedModel {
        TrainedModel::Learned(model)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            eval: eval::Limits::default(),
            input: InputLimits::default(),
            traces: 1_000_000,
            proposals: 10_000,
            trace_proposals: 256,
            proposal_bytes: 256 << 20,
            trace_proposal_bytes: 64 << 20,
            clients: 1,
            questions: 5,
            histories: 64,
            reservation: Duration::from_secs(600),
            outcomes: Outcomes::default(),
            approvals: Vec::new(),
            models: BTreeMap::new(),
            rows: RowLimits::default(),
            automata: Arc::default(),
            identity: Identity::default(),
        }
    }
}

/// Describes a pending obligation.
fn owed_text(name: &str, owed: &Obligation, enums: &[Arc<EnumType>]) -> String {
    let mut text = format!("`{name}` owes ");
    if owed.wants.is_empty() {
        text.push_str("something");
    } else {
        let wants: Vec<String> = owed.wants.iter().map(|want| format!("`{want}`")).collect();
        text.push_str(&wants.join(" and "));
    }
    let values = |values: &[(SmolStr, Value)]| -> String {
        let each = values
            .iter()
            .map(|(name, value)| format!("{name} = {}", print::value(value, enums)));
        each.collect::<Vec<_>>().join(", ")
    };
    if !owed.instance.is_empty() {
        text.push_str(&format!(" for {}", values(&owed.instance)));
    }
    match (owed.until, owed.steps) {
        (Some(until), _) => text.push_str(&format!(", until {}", Instant(until))),
        (None, Some(1)) => text.push_str(", at the next step"),
        (None, Some(steps)) => text.push_str(&format!(", within {steps} steps")),
        (None, None) => text.push_str(", before the end"),
    }
    text
}
