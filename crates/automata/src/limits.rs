//! The limits of a construction, and the error that reports the demand.
//!
//! The automaton of a formula can be doubly exponential in it, so every construction of this crate counts its work and
//! memory and stops at a limit. This is an ordinary result: a [`LazyDfa`](super::LazyDfa), which never builds the whole
//! automaton, can still evaluate the same formula.

use thiserror::Error;

/// The limits of one construction. All are inclusive and may be changed freely.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// States of an automaton before it is minimised; also the registers that the past may take.
    pub states: usize,
    /// Entries kept in memory: diagram nodes, obligations of clauses, cached results. About fifty bytes each.
    pub nodes: usize,
    /// Elementary steps: one visit of a diagram node or one comparison of two obligations. Twenty million take less than a
    /// second.
    pub work: u64,
    /// Different atoms of one formula; also the greatest depth of a diagram.
    pub atoms: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            states: 1 << 15,
            nodes: 4_000_000,
            work: 20_000_000,
            atoms: 512,
        }
    }
}

/// The resource that ran out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Resource {
    /// [`Limits::states`].
    States,
    /// [`Limits::nodes`].
    Nodes,
    /// [`Limits::work`].
    Work,
    /// [`Limits::atoms`].
    Atoms,
    /// Acceptance marks of an automaton over infinite words; a set holds at most 64.
    Marks,
}

impl Resource {
    /// Returns the name of the limit.
    pub fn name(self) -> &'static str {
        match self {
            Resource::States => "states",
            Resource::Nodes => "nodes",
            Resource::Work => "work",
            Resource::Atoms => "letters",
            Resource::Marks => "marks",
        }
    }
}

impl std::fmt::Display for Resource {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Resource::States => "states",
            Resource::Nodes => "nodes",
            Resource::Work => "steps of work",
            Resource::Atoms => "atoms",
            Resource::Marks => "acceptance marks",
        })
    }
}

/// A construction needs more than its limits allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("needs at least {demand} {resource}, but the limit is {limit}")]
pub struct LimitError {
    /// The resource that ran out.
    pub resource: Resource,
    /// The allowed amount.
    pub limit: u64,
    /// The amount known to be needed when the construction stopped; the true need may be greater.
    pub demand: u64,
}

/// The reason why a formula cannot be compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum CompileError {
    /// The automaton is larger than the limits allow.
    #[error("the automaton {0}")]
    Limit(#[from] LimitError),
    /// The formula bounds an operator by time. Such a formula has no finite automaton over its atoms; a
    /// [`LazyDfa`](super::LazyDfa) can evaluate it.
    #[error("a formula with bounds in time has no finite automaton")]
    Timed,
}

/// Counts the resources that one construction has used so far.
#[derive(Clone, Debug)]
pub(super) struct Meter {
    limits: Limits,
    work: u64,
    nodes: u64,
}

impl Meter {
    pub(super) fn new(limits: &Limits) -> Self {
        Meter {
            limits: limits.clone(),
            work: 0,
            nodes: 0,
        }
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Resets the count of work; the memory count is kept.
    pub(super) fn restart(&mut self) {
        self.work = 0;
    }

    /// Sets the limit on work and returns the previous one.
    pub(super) fn cap_work(&mut self, most: u64) -> u64 {
        std::mem::replace(&mut self.limits.work, most)
    }

    pub(super) fn work(&self) -> u64 {
        self.work
    }

    pub(super) fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), LimitError> {
        self.work = self.work.saturating_add(steps as u64);
        check(Resource::Work, self.limits.work, self.work)
    }

    pub(super) fn grow(&mut self, entries: usize) -> Result<(), LimitError> {
        self.nodes = self.nodes.saturating_add(entries as u64);
        check(Resource::Nodes, self.limits.nodes as u64, self.nodes)
    }
}

/// Fails when `demand` is above `limit`.
pub(super) fn check(resource: Resource, limit: u64, demand: u64) -> Result<(), LimitError> {
    if demand > limit {
        Err(LimitError {
            resource,
            limit,
            demand,
        })
    } else {
        Ok(())
    }
}
