//! Reads interval chains in PRISM's explicit format: `source target [low,high]`.

use guard_automata::graph::NodeSet;

use super::super::chain::ChainError;
use super::super::format::too_many_states;
use super::super::text::{TextError, TextPosition};
use super::{RowSet, UncertainChain};

/// Returns whether a transitions file contains intervals.
pub fn has_intervals(text: &str) -> bool {
    text.contains('[')
}

/// Reads a chain with an interval, or a number, for each transition.
///
/// # Errors
/// The description of the fault and its position.
pub fn read_interval_explicit(text: &str) -> Result<UncertainChain, TextError> {
    let mut lines = text
        .lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let at = |number: usize| TextPosition::line(number + 1);
    let header = lines.next().map(|(_, line)| line).unwrap_or_default();
    let states = header
        .split_whitespace()
        .next()
        .and_then(|states| states.parse::<usize>().ok())
        .filter(|&states| states > 0 && states < u32::MAX as usize)
        .ok_or_else(|| TextError::new(at(0), "expected `states transitions` in the first line"))?;
    let mut entries: Vec<(u32, u32, f64, f64)> = Vec::new();
    for (number, line) in lines {
        let wrong = || {
            TextError::new(
                at(number),
                format!(
                    "expected `source target [low,high]`, found `{}`",
                    line.trim()
                ),
            )
        };
        let mut parts = line.trim().splitn(3, char::is_whitespace);
        let mut state = || -> Result<u32, TextError> {
            let state = parts
                .next()
                .and_then(|part| part.parse::<u32>().ok())
                .ok_or_else(wrong)?;
            if state as usize >= states {
                return Err(TextError::new(
                    at(number),
                    format!(
                        "state {state} does not exist: the model has {states} states, from 0 on"
                    ),
                ));
            }
            Ok(state)
        };
        let (from, to) = (state()?, state()?);
        let value = parts.next().map(str::trim).unwrap_or_default();
        let inside = value
            .strip_prefix('[')
            .and_then(|rest| rest.split_once(']'))
            .map(|(inside, _)| inside);
        let (low, high) = match inside {
            Some(inside) => inside.split_once(',').ok_or_else(wrong)?,
            None => (value, value),
        };
        let read = |text: &str| {
            text.trim()
                .parse::<f64>()
                .ok()
                .filter(|value| (0.0..=1.0).contains(value))
        };
        let (Some(low), Some(high)) = (read(low), read(high)) else {
            return Err(wrong());
        };
        if low > high {
            return Err(TextError::new(
                at(number),
                format!("the interval [{low},{high}] is empty"),
            ));
        }
        entries.push((from, to, low, high));
    }
    if let Some(wrong) = too_many_states(states, entries.len()) {
        return Err(TextError::new(at(0), wrong));
    }
    entries.sort_by_key(|entry| (entry.0, entry.1));
    let mut rows = Vec::with_capacity(states);
    let mut rest = entries.into_iter().peekable();
    for state in 0..states as u32 {
        let (mut successors, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((_, to, low, high)) = rest.next_if(|entry| entry.0 == state) {
            successors.push(to);
            lower.push(low);
            upper.push(high);
        }
        if successors.is_empty() {
            // A deadlock gets a self-loop.
            rows.push((vec![state], RowSet::Point(vec![1.0])));
        } else {
            rows.push((successors, RowSet::Box { lower, upper }));
        }
    }
    UncertainChain::new(rows).map_err(|wrong| {
        let message = match wrong {
            ChainError::RowSum { state, sum } => {
                format!("no distribution of state {state} sums to 1: its bounds allow {sum}")
            }
            other => other.to_string(),
        };
        TextError::new(at(0), message)
    })
}

impl UncertainChain {
    /// Returns a set of states.
    pub fn set(&self, states: impl IntoIterator<Item = u32>) -> NodeSet {
        self.graph.set(states)
    }
}
