//! Live runs: events in, decisions out.
//!
//! A [`Monitor`] follows many traces at once and says of every event what the `enforce` clauses of a spec make of it:
//! allow, warn, reflect, ask, block, stop.
//!
//! ```
//! use guard_lang::{check, front, monitor::{Monitor, Options, Ruling}, project::NoFiles};
//!
//! let spec = r#"
//! event { kind: string  tool: string? }
//! property approved = G (kind == "call" and tool == "pay" -> Y kind == "approval")
//! enforce approved { violated => block "{tool} needs an approval in the step before" }
//! "#;
//! let spec = front("pay.guard", spec, &NoFiles, check::Limits::default()).spec.ok_or("wrong")?;
//! let mut monitor = Monitor::new(&spec, Options::default())?;
//!
//! // An action is proposed before it is carried out; what is denied leaves no trace.
//! let pay = br#"{"trace":"t1","kind":"call","tool":"pay"}"#;
//! let decision = monitor.propose(pay, None);
//! assert_eq!(decision.ruling, Ruling::Block);
//! assert_eq!(decision.reason(), "pay needs an approval in the step before");
//!
//! monitor.happened(br#"{"trace":"t1","kind":"approval"}"#, None);
//! let decision = monitor.propose(pay, None);
//! assert_eq!(decision.ruling, Ruling::Allow);
//! // It was carried out: now it has happened.
//! monitor.commit(decision.proposal.unwrap_or(0), pay, None);
//! assert_eq!(monitor.end("t1", None).ruling, Ruling::Allow);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Failure
//! Nothing of what goes wrong lets an action through: what cannot be read, what a limit cuts off, what a data error leaves
//! open is decided as if it were a violation, with its reason, unless the clause says `on error allow`.
//!
//! # State that survives
//! [`Monitor::snapshot`] is the state as bytes, which [`Monitor::resume`] continues in another process with the same
//! decisions from there on. A [`journal`] of the inputs since then loses nothing that was acknowledged; a [`log`] of the
//! decisions shows that none was changed afterwards. All three are bound to the spec and the model ([`Identity`]).
//!
//! # Time
//! The monitor reads no clock. Who calls it passes the time (`now`); an event without a time of its own gets that one, and
//! [`Monitor::tick`] finds the deadlines that pass without an event. Where the events of a trace have their own times,
//! `now` only measures what passes between them, so that recorded runs can be played back.

mod arms;
mod decision;
pub mod journal;
mod judge;
mod live;
pub mod log;
mod members;
mod risk;
mod state;
mod table;
mod wire;

use std::collections::BTreeMap;

use smol_str::SmolStr;

pub use decision::{Argument, Cause, Decision, Fired, Ruling};
pub use live::{Monitor, MonitorError};
pub use members::Members;
pub use state::{Identity, StateError};
pub use table::{Clause, Row, Table, Unreached};
pub use wire::{Line, Own, Request};

use crate::eval::{self, Obligation};
use crate::input::limits::InputLimits;
use crate::learn::{Header, Model, RowLimits};
use crate::query::Solved;
use crate::value::{Instant, Value};

/// What a violation that depends on the outcome of a proposed action is taken for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcomes {
    /// A proposal is denied when every outcome violates, and flagged when some does.
    #[default]
    Every,
    /// A proposal is denied when any outcome violates: for actions that cannot be undone.
    Any,
}

/// What a monitor may cost, and how it decides.
#[derive(Clone, Debug)]
pub struct Options {
    /// Limits on judging.
    pub eval: eval::Limits,
    /// Limits on reading.
    pub input: InputLimits,
    /// Traces that are live at once; events of others are denied.
    pub traces: usize,
    /// Proposals that are neither committed nor abandoned; beyond it the oldest are forgotten.
    pub proposals: usize,
    /// How outcomes are judged.
    pub outcomes: Outcomes,
    /// What clauses on queries ask about, by the names of models in the spec.
    pub models: BTreeMap<SmolStr, Source>,
    /// Limits on the chains of these models.
    pub rows: RowLimits,
    /// What states, journals and logs are bound to. The model's part follows from `models`.
    pub identity: Identity,
}

/// Where the numbers of a model come from.
#[derive(Clone, Debug)]
pub enum Source {
    /// Its file: the queries are answered when the monitor is made.
    Learned(Model),
    /// What another process [answered](Monitor::solved), and the hash of the file that it had.
    Solved(Box<Solved>, String),
}

impl Source {
    /// What the model file says of itself.
    pub fn header(&self) -> &Header {
        match self {
            Source::Learned(model) => &model.header,
            Source::Solved(solved, _) => solved.header(),
        }
    }

    /// The hash of the model file.
    pub fn hash(&self) -> String {
        match self {
            Source::Learned(model) => blake3::hash(model.to_text().as_bytes())
                .to_hex()
                .to_string(),
            Source::Solved(_, hash) => hash.clone(),
        }
    }
}

impl From<Model> for Source {
    fn from(model: Model) -> Source {
        Source::Learned(model)
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            eval: eval::Limits::default(),
            input: InputLimits::default(),
            traces: 1_000_000,
            proposals: 10_000,
            outcomes: Outcomes::default(),
            models: BTreeMap::new(),
            rows: RowLimits::default(),
            identity: Identity::default(),
        }
    }
}

/// What is owed, in words.
fn owed_text(name: &str, owed: &Obligation) -> String {
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
            .map(|(name, value)| format!("{name} = {value}"));
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
