//! The state of a monitor as bytes: written by one process, continued by another.
//!
//! ```text
//! guard-state {"version":11,"tool":"0.1.0","spec":"…","model":null,"taken":41,…}\n
//! postcard of all traces and proposals
//! 32 bytes of BLAKE3 over all of the above
//! ```

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::TrainedModel;
use super::arms::Memory;
use super::histories::{Histories, History};
use super::live::{Monitor, Trace};
use super::reserve::Proposal;
use super::risk::ChainPosition;
use super::usage::Clients;
use crate::eval::{Live, Saved};

/// The format version that is written and read.
const VERSION: u32 = 11;

const MAGIC: &[u8] = b"guard-state ";

/// The identity of a monitor: only decisions of equal identity can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The hash of the spec's texts; empty if unknown.
    pub spec: String,
    /// The hash of the model, if there is one.
    pub model: Option<String>,
}

/// The first line of a state.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    version: u32,
    tool: String,
    #[serde(flatten)]
    identity: Identity,
    /// The number of inputs processed.
    taken: u64,
    /// The policy for outcomes.
    outcomes: super::Outcomes,
}

#[derive(Serialize, Deserialize)]
struct Body {
    traces: Vec<(SmolStr, SavedTrace)>,
    proposals: Vec<(u64, Proposal)>,
    next_proposal: u64,
    histories: Vec<SavedHistories>,
    ended_named: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedHistories {
    name: SmolStr,
    /// Each with the numbers of the questions that happened in it.
    all: Vec<(SavedTrace, Vec<u64>)>,
    too_many: bool,
}

#[derive(Serialize, Deserialize)]
struct SavedTrace {
    live: Saved,
    memory: Box<[Memory]>,
    chain_position: ChainPosition,
    next: u32,
    ahead: i128,
    due: Option<i128>,
}

/// The reason why a state cannot be continued.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The bytes are not a state.
    #[error("not a monitor state")]
    NotAState,
    /// The state was cut off or changed.
    #[error("the state is damaged: wrong checksum")]
    Damaged,
    /// The state has another version.
    #[error(
        "the state has format version {found} (written by guard {tool}), but this \
                    guard reads version {VERSION}"
    )]
    Version {
        /// The version of the state.
        found: u32,
        /// The tool that wrote it.
        tool: String,
    },
    /// The state belongs to another spec, model or policy.
    #[error("it belongs to another {what}: expected {here}, found {found}")]
    Other {
        /// The part that differs.
        what: &'static str,
        /// The value in the state.
        found: String,
        /// The value in this monitor.
        here: String,
    },
    /// The parts of the state do not match the spec.
    #[error("the state does not match the spec, although it has its hash")]
    Unsound,
    /// The state cannot be serialised.
    #[error("cannot write the state: {0}")]
    Unwritable(String),
}

impl StateError {
    /// Whether the state belongs to another spec, model or policy.
    pub fn is_foreign(&self) -> bool {
        matches!(self, StateError::Other { .. })
    }
}

/// Whether a file holds a state, by its beginning.
pub fn is_state(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

impl Monitor {
    /// Returns the state of all traces and proposals. Equal states have equal bytes.
    ///
    /// # Errors
    /// The state is too large to be serialised (no state of ordinary size is).
    pub fn snapshot(&self) -> Result<Vec<u8>, StateError> {
        let unwritable = |error: &dyn std::fmt::Display| StateError::Unwritable(error.to_string());
        let head = Head {
            version: VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            identity: self.options.identity.clone(),
            taken: self.taken,
            outcomes: self.options.outcomes,
        };
        let mut bytes = MAGIC.to_vec();
        serde_json::to_writer(&mut bytes, &head).map_err(|error| unwritable(&error))?;
        bytes.push(b'\n');
        let mut names: Vec<&SmolStr> = self.traces.keys().collect();
        names.sort_unstable();
        let traces = names.into_iter().filter_map(|name| {
            let trace = self.traces.get(name)?;
            Some((name.clone(), self.saved(trace)))
        });
        let histories = self.histories.iter().map(|(name, histories)| {
            let all = histories.all.iter();
            SavedHistories {
                name: name.clone(),
                all: all
                    .map(|history| (self.saved(&history.trace), history.happened.clone()))
                    .collect(),
                too_many: histories.too_many,
            }
        });
        let mut histories: Vec<SavedHistories> = histories.collect();
        histories.sort_unstable_by(|one, other| one.name.cmp(&other.name));
        let proposals = self.proposals.iter();
        let body = Body {
            traces: traces.collect(),
            proposals: proposals
                .map(|(number, proposal)| (*number, proposal.clone()))
                .collect(),
            next_proposal: self.next_proposal,
            histories,
            ended_named: self.ended_named,
        };
        let mut bytes = postcard::to_extend(&body, bytes).map_err(|error| unwritable(&error))?;
        let sum = blake3::hash(&bytes);
        bytes.extend_from_slice(sum.as_bytes());
        Ok(bytes)
    }

    /// Replaces the monitor's state. From then on the monitor makes the same decisions as the one that wrote the state.
    ///
    /// # Errors
    /// See [`StateError`]; the monitor is then unchanged.
    pub fn resume(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(StateError::NotAState)?;
        let end = memchr::memchr(b'\n', rest).ok_or(StateError::NotAState)?;
        let head: serde_json::Value =
            serde_json::from_slice(&rest[..end]).map_err(|_| StateError::NotAState)?;
        // States of every version have these members.
        let version = head.get("version").and_then(serde_json::Value::as_u64);
        if version != Some(u64::from(VERSION)) {
            let tool = head.get("tool").and_then(serde_json::Value::as_str);
            return Err(StateError::Version {
                found: version
                    .and_then(|found| u32::try_from(found).ok())
                    .unwrap_or(0),
                tool: tool.unwrap_or("?").to_owned(),
            });
        }
        let (text, sum) = bytes
            .split_at_checked(bytes.len().saturating_sub(32))
            .unwrap_or_default();
        if blake3::hash(text).as_bytes() != sum {
            return Err(StateError::Damaged);
        }
        let head: Head = serde_json::from_value(head).map_err(|_| StateError::NotAState)?;
        self.options.identity.same(&head.identity)?;
        if head.outcomes != self.options.outcomes {
            return Err(StateError::Other {
                what: "setting of outcomes",
                found: format!("{:?}", head.outcomes).to_lowercase(),
                here: format!("{:?}", self.options.outcomes).to_lowercase(),
            });
        }
        let from = MAGIC.len() + end + 1;
        let body = text.get(from..).ok_or(StateError::Damaged)?;
        let body: Body = postcard::from_bytes(body).map_err(|_| StateError::Unsound)?;
        let mut traces = Vec::with_capacity(body.traces.len());
        for (name, saved) in body.traces {
            traces.push((name, self.restored(saved)?));
        }
        let mut histories = HashMap::with_capacity(body.histories.len());
        for saved in body.histories {
            let all = saved.all.into_iter().map(|(trace, happened)| {
                let trace = self.restored(trace)?;
                Ok(History { trace, happened })
            });
            let of_trace = Histories {
                all: all.collect::<Result<_, StateError>>()?,
                too_many: saved.too_many,
            };
            histories.insert(saved.name, of_trace);
        }
        self.due = traces
            .iter()
            .filter_map(|(name, trace)| Some((trace.due?, name.clone())))
            .collect();
        self.traces = traces.into_iter().collect();
        self.histories = histories;
        self.reserved.clear();
        self.clients = Clients::default();
        self.expiries.clear();
        for (number, proposal) in &body.proposals {
            self.count(*number, proposal);
        }
        self.proposals = body.proposals.into_iter().collect();
        self.next_proposal = body.next_proposal;
        self.ended_named = body.ended_named;
        self.taken = head.taken;
        Ok(())
    }

    fn saved(&self, trace: &Trace) -> SavedTrace {
        SavedTrace {
            live: trace.live.save(&self.program),
            memory: trace.memory.clone(),
            chain_position: trace.chain_position.clone(),
            next: trace.next,
            ahead: trace.ahead,
            due: trace.due,
        }
    }

    fn restored(&self, saved: SavedTrace) -> Result<Trace, StateError> {
        if saved.memory.len() != self.table.clauses.len() || !self.chains.fit(&saved.chain_position)
        {
            return Err(StateError::Unsound);
        }
        let live = Live::restore(&self.program, saved.live).ok_or(StateError::Unsound)?;
        Ok(Trace {
            live,
            memory: saved.memory,
            chain_position: saved.chain_position,
            next: saved.next,
            ahead: saved.ahead,
            due: saved.due,
        })
    }
}

impl Identity {
    /// Returns the identity of a spec, by its hash, with models.
    pub fn new(spec: String, models: &BTreeMap<SmolStr, TrainedModel>) -> Identity {
        let mut hasher = blake3::Hasher::new();
        for (name, model) in models {
            for text in [name.as_str(), &model.hash()] {
                hasher.update(&(text.len() as u64).to_le_bytes());
                hasher.update(text.as_bytes());
            }
        }
        let model = (!models.is_empty()).then(|| hasher.finalize().to_hex().to_string());
        Identity { spec, model }
    }

    /// Checks that another identity has the same spec and model.
    ///
    /// # Errors
    /// What differs.
    pub fn same(&self, other: &Identity) -> Result<(), StateError> {
        let differs = |what, found: &str, here: &str| {
            Err(StateError::Other {
                what,
                found: short(found),
                here: short(here),
            })
        };
        if other.spec != self.spec {
            return differs("spec", &other.spec, &self.spec);
        }
        if other.model != self.model {
            let name = |model: &Option<String>| model.clone().unwrap_or_else(|| "none".to_owned());
            return differs("model", &name(&other.model), &name(&self.model));
        }
        Ok(())
    }
}

/// Returns a prefix of a hash that is long enough to distinguish it.
fn short(hash: &str) -> String {
    if hash.is_empty() {
        return "none".to_owned();
    }
    hash.chars().take(16).collect()
}
