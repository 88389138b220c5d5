//! The cost of open proposals: their number and size, for each client and each trace.

use std::collections::HashMap;

use super::Options;
use crate::value::{Cell, Value};

/// The number and the size of some proposals.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) n: usize,
    /// The size of their cells in bytes.
    pub(super) bytes: usize,
}

impl Usage {
    pub(super) fn add(&mut self, bytes: usize) {
        self.n += 1;
        self.bytes += bytes;
    }

    pub(super) fn remove(&mut self, bytes: usize) {
        self.n = self.n.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
    }
}

/// The open proposals of each client that has any.
#[derive(Debug, Default)]
pub(super) struct Clients(HashMap<u32, Usage>);

impl Clients {
    pub(super) fn get(&self, client: u32) -> Usage {
        self.0.get(&client).copied().unwrap_or_default()
    }

    pub(super) fn add(&mut self, client: u32, bytes: usize) {
        self.0.entry(client).or_default().add(bytes);
    }

    pub(super) fn remove(&mut self, client: u32, bytes: usize) {
        if let Some(usage) = self.0.get_mut(&client) {
            usage.remove(bytes);
            if usage.n == 0 {
                self.0.remove(&client);
            }
        }
    }
}

/// Checks that there is room for a proposal of this many bytes. Each client has an equal share of the limits on all
/// proposals, so that no client can exhaust them for others.
///
/// # Errors
/// Returns the reason, with the name of the exceeded limit.
pub(super) fn room(
    options: &Options,
    (of_trace, of_client): (Usage, Usage),
    bytes: usize,
) -> Result<(), String> {
    let share = |limit: usize| (limit / options.clients.max(1)).max(1);
    let whose = match options.clients {
        0 | 1 => "",
        _ => " of this client",
    };
    for (n, limit, whose, name) in [
        (
            of_trace.n,
            options.trace_proposals,
            " of this trace",
            "max-trace-proposals",
        ),
        (
            of_client.n,
            share(options.proposals),
            whose,
            "max-proposals",
        ),
    ] {
        if n >= limit {
            return Err(format!(
                "{n} proposals{whose} are neither committed nor abandoned (limit: `{name}`)"
            ));
        }
    }
    for (used, limit, whose, name) in [
        (
            of_trace.bytes,
            options.trace_proposal_bytes,
            " of this trace",
            "max-trace-proposal-bytes",
        ),
        (
            of_client.bytes,
            share(options.proposal_bytes),
            whose,
            "max-proposal-bytes",
        ),
    ] {
        if used.saturating_add(bytes) > limit {
            return Err(format!(
                "proposals{whose} that are neither committed nor abandoned would take more than {limit} bytes (limit: `{name}`)"
            ));
        }
    }
    Ok(())
}

/// Returns the approximate size of cells in bytes.
pub(super) fn size<'c>(cells: impl Iterator<Item = &'c Cell>) -> usize {
    let of = |cell: &Cell| match cell {
        Cell::Known(value) => size_of::<Cell>() + content(value),
        Cell::Unknown => size_of::<Cell>(),
    };
    cells.map(of).sum()
}

/// Returns the approximate size in bytes of a value's contents. The reader limits its depth.
fn content(value: &Value) -> usize {
    let inner = |value: &Value| size_of::<Value>() + content(value);
    match value {
        Value::String(text) => text.len(),
        Value::List(items) => items.iter().map(inner).sum(),
        Value::Set(items) => items.iter().map(inner).sum(),
        Value::Object(members) => members
            .iter()
            .map(|(key, value)| key.len() + inner(value))
            .sum(),
        _ => 0,
    }
}
