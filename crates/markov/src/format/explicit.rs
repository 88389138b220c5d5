//! Reads PRISM's explicit files: `.tra`, `.lab`, `.srew`, `.trew`.

use super::super::chain::{Chain, ChainBuilder, ChainError, Rewards};
use super::super::interval::{RowSet, UncertainChain};
use super::super::scalar::Scalar;
use super::super::text::{TextError, TextPosition};
use super::Imported;
use super::fields::{Fields, lines, too_many_states};

/// The texts of a chain's files.
#[derive(Clone, Debug, Default)]
pub struct ExplicitFiles<'a> {
    /// The `.tra` file.
    pub transitions: &'a str,
    /// The `.lab` file; without it, state 0 is initial.
    pub labels: Option<&'a str>,
    /// The `.srew` and `.trew` files of each reward structure.
    pub rewards: Vec<(Option<&'a str>, Option<&'a str>)>,
}

/// The file that contains the fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ExplicitFile {
    /// The `.tra` file.
    Transitions,
    /// The `.lab` file.
    Labels,
    /// The `.srew` file of a structure.
    StateRewards(usize),
    /// The `.trew` file of a structure.
    TransitionRewards(usize),
}

/// Reads a chain.
///
/// # Errors
/// The file with the fault, its position and its description.
pub fn read_explicit<V: Scalar>(
    files: &ExplicitFiles<'_>,
) -> Result<Imported<V>, (ExplicitFile, TextError)> {
    let (builder, deadlocks) =
        transitions::<V>(files.transitions).map_err(|wrong| (ExplicitFile::Transitions, wrong))?;
    let states = builder.len();
    let declared = match files.labels {
        Some(text) => labels(text, states).map_err(|wrong| (ExplicitFile::Labels, wrong))?,
        None => Vec::new(),
    };
    let initial: Vec<u32> = match declared.iter().find(|label| label.0 == "init") {
        Some((_, states)) => states.clone(),
        None => vec![0],
    };
    let mut chain = builder.finish(initial, None).map_err(|wrong| {
        let file = match wrong {
            ChainError::NoInitial => ExplicitFile::Labels,
            _ => ExplicitFile::Transitions,
        };
        (
            file,
            TextError::new(TextPosition::line(1), wrong.to_string()),
        )
    })?;
    for (name, states) in declared {
        // The transitions determine the deadlocks; the file may declare more.
        let mut set = chain.graph().set(states);
        if name == "deadlock"
            && let Some(found) = chain.label("deadlock")
        {
            set.union_with(found);
        }
        chain.add_label(&name, set);
    }
    for (at, (state, transition)) in files.rewards.iter().enumerate() {
        let mut rewards = Rewards {
            name: String::new(),
            state: Vec::new(),
            step: Vec::new(),
        };
        if let Some(text) = state {
            rewards.state = state_rewards(text, states, &mut rewards.name)
                .map_err(|wrong| (ExplicitFile::StateRewards(at), wrong))?;
        }
        if let Some(text) = transition {
            rewards.step = transition_rewards(text, &chain, &mut rewards.name)
                .map_err(|wrong| (ExplicitFile::TransitionRewards(at), wrong))?;
        }
        let file = if state.is_some() {
            ExplicitFile::StateRewards(at)
        } else {
            ExplicitFile::TransitionRewards(at)
        };
        chain.add_rewards(rewards).map_err(|wrong| {
            (
                file,
                TextError::new(TextPosition::line(1), wrong.to_string()),
            )
        })?;
    }
    Ok(Imported { chain, deadlocks })
}

/// Returns whether a transitions file contains intervals.
pub fn has_intervals(text: &str) -> bool {
    text.contains('[')
}

/// Reads a chain whose probabilities are intervals: `source target [low,high]`, or a number. It has no rewards. Also returns the number
/// of states that had no transition and got a self-loop.
///
/// # Errors
/// The file with the fault, its position and its description.
pub fn read_uncertain_explicit(
    files: &ExplicitFiles<'_>,
) -> Result<(UncertainChain, usize), (ExplicitFile, TextError)> {
    let (mut chain, deadlocks) = uncertain_transitions(files.transitions)
        .map_err(|wrong| (ExplicitFile::Transitions, wrong))?;
    chain.add_label("deadlock", chain.set(deadlocks.iter().copied()));
    if let Some(text) = files.labels {
        let found = labels(text, chain.len()).map_err(|wrong| (ExplicitFile::Labels, wrong))?;
        for (name, states) in found {
            let mut set = chain.set(states);
            if name == "deadlock" {
                set.union_with(&chain.set(deadlocks.iter().copied()));
            }
            chain.add_label(&name, set);
        }
    }
    Ok((chain, deadlocks.len()))
}

/// The minimal length in bytes of a line with a transition: `0 1 1`.
const SHORTEST: usize = 5;

/// A transition with the number of its line.
type Entry<P> = (u32, u32, P, u32);

/// Returns the number of states and the transitions, those of a source side by side.
fn entries<P>(
    text: &str,
    mut probability: impl FnMut(&mut Fields<'_>) -> Result<P, TextError>,
) -> Result<(usize, Vec<Entry<P>>), TextError> {
    let mut all = lines(text, "#");
    let mut header = all
        .next()
        .ok_or_else(|| TextError::new(TextPosition::line(1), "empty transitions file"))?;
    let states = header.int("the number of states")?;
    let place = header.place();
    let count = header.int("the number of transitions")? as usize;
    if header.next().is_some() {
        return Err(TextError::new(
            place,
            "unexpected third number in the first line (the format of an MDP)",
        )
        .help("only Markov chains are supported: expected `states transitions`"));
    }
    if states == 0 {
        return Err(header.error("the model has no states"));
    }
    if states >= u64::from(u32::MAX) {
        return Err(header.error(format!("{states} states exceed the supported number")));
    }
    let states = states as usize;
    let mut found: Vec<Entry<P>> = Vec::with_capacity(count.min(text.len() / SHORTEST));
    let mut sorted = true;
    for mut line in all {
        let number = line.place().line;
        let from = line.state(states)?;
        let to = line.state(states)?;
        let probability = probability(&mut line)?;
        // PRISM may append the name of the action.
        let _ = line.next();
        line.end()?;
        sorted &= found.last().is_none_or(|last| last.0 <= from);
        found.push((from, to, probability, number));
    }
    if found.len() != count {
        return Err(TextError::new(
            place,
            format!("expected {count} transitions, found {}", found.len()),
        ));
    }
    if let Some(wrong) = too_many_states(states, count) {
        return Err(TextError::new(TextPosition::line(1), wrong));
    }
    if !sorted {
        found.sort_by_key(|entry| entry.0);
    }
    Ok((states, found))
}

fn transitions<V: Scalar>(text: &str) -> Result<(ChainBuilder<V>, usize), TextError> {
    let (states, found) = entries(text, |line| {
        let place = line.place();
        let probability: V = line.number("a probability")?;
        if probability >= V::zero() && probability <= V::one() {
            return Ok(probability);
        }
        let text = probability.text();
        let message = format!("the probability {text} is not between 0 and 1");
        Err(TextError::new(place, message))
    })?;
    let mut builder = ChainBuilder::with_capacity(states, found.len());
    let mut entries = found.into_iter().peekable();
    for state in 0..states as u32 {
        let mut line = 1;
        while let Some((_, to, probability, number)) = entries.next_if(|entry| entry.0 == state) {
            line = number;
            builder.transition(to, probability);
        }
        builder
            .end_row()
            .map_err(|wrong| TextError::new(TextPosition { line, column: 1 }, wrong.to_string()))?;
    }
    let deadlocks = builder.deadlocks().len();
    Ok((builder, deadlocks))
}

/// Returns the chain, and the states without a transition, which get a self-loop.
fn uncertain_transitions(text: &str) -> Result<(UncertainChain, Vec<u32>), TextError> {
    let (states, mut found) = entries(text, |line| line.bounds())?;
    found.sort_by_key(|entry| (entry.0, entry.1));
    // Bounds of one transition cannot be added up: which parts go together is unknown.
    if let Some(pair) = found
        .windows(2)
        .find(|pair| pair[0].0 == pair[1].0 && pair[0].1 == pair[1].1)
    {
        let (from, to, _, line) = pair[1];
        let message = format!("the transition from state {from} to state {to} is given twice");
        return Err(TextError::new(TextPosition::line(line as usize), message));
    }
    let mut rows = Vec::with_capacity(states);
    let mut deadlocks = Vec::new();
    let mut entries = found.into_iter().peekable();
    for state in 0..states as u32 {
        let (mut successors, mut lower, mut upper) = (Vec::new(), Vec::new(), Vec::new());
        while let Some((_, to, (low, high), _)) = entries.next_if(|entry| entry.0 == state) {
            successors.push(to);
            lower.push(low);
            upper.push(high);
        }
        if successors.is_empty() {
            deadlocks.push(state);
            rows.push((vec![state], RowSet::Point(vec![1.0])));
        } else {
            rows.push((successors, RowSet::Box { lower, upper }));
        }
    }
    let chain = UncertainChain::new(rows).map_err(|wrong| {
        let message = match wrong {
            ChainError::RowSum { state, sum } => {
                format!("no distribution of state {state} sums to 1: its bounds allow {sum}")
            }
            other => other.to_string(),
        };
        TextError::new(TextPosition::line(1), message)
    })?;
    Ok((chain, deadlocks))
}

/// Returns the names of the labels with their states.
fn labels(text: &str, states: usize) -> Result<Vec<(String, Vec<u32>)>, TextError> {
    let mut all = lines(text, "#");
    let header = all
        .next()
        .ok_or_else(|| TextError::new(TextPosition::line(1), "empty labels file"))?;
    let mut found: Vec<(String, Vec<u32>)> = Vec::new();
    let mut numbers: Vec<(u64, usize)> = Vec::new();
    let mut rest = header.line();
    while !rest.is_empty() {
        let part = rest.split_once("=\"").and_then(|(number, after)| {
            let (name, after) = after.split_once('"')?;
            Some((number.trim().parse::<u64>().ok()?, name, after))
        });
        let Some((number, name, after)) = part else {
            return Err(header.error(format!(
                "expected label declarations such as `0=\"init\" 1=\"deadlock\"` in the first \
                    line, found `{rest}`"
            )));
        };
        if found.iter().any(|label| label.0 == name)
            || numbers.iter().any(|known| known.0 == number)
        {
            return Err(header.error(format!("label {number}=\"{name}\" is declared twice")));
        }
        numbers.push((number, found.len()));
        found.push((name.to_owned(), Vec::new()));
        rest = after.trim_start();
    }
    for line in all {
        let place = line.place();
        let Some((state, marks)) = line.line().split_once(':') else {
            return Err(line.error("expected `state: label label …`"));
        };
        let state = state.trim();
        let known = state
            .parse::<u32>()
            .ok()
            .filter(|&state| (state as usize) < states);
        let Some(state) = known else {
            return Err(TextError::new(
                place,
                format!("state {state} does not exist: the model has {states} states, from 0 on"),
            ));
        };
        for mark in marks.split_whitespace() {
            let known = mark
                .parse::<u64>()
                .ok()
                .and_then(|number| numbers.iter().find(|known| known.0 == number));
            let Some((_, at)) = known else {
                return Err(TextError::new(
                    place,
                    format!("label {mark} is not declared in the first line"),
                ));
            };
            found[*at].1.push(state);
        }
    }
    Ok(found)
}

/// Reads the name in a comment `# Reward structure "name"`.
fn structure_name(text: &str, name: &mut String) {
    for line in text.lines().take_while(|line| line.starts_with('#')) {
        if let Some((_, rest)) = line.split_once("Reward structure")
            && let Some((_, rest)) = rest.split_once('"')
            && let Some((found, _)) = rest.split_once('"')
        {
            found.clone_into(name);
        }
    }
}

fn header<'a>(all: &mut impl Iterator<Item = Fields<'a>>, states: usize) -> Result<(), TextError> {
    let mut header = all
        .next()
        .ok_or_else(|| TextError::new(TextPosition::line(1), "empty rewards file"))?;
    let given = header.int("the number of states")?;
    header.int("the number of entries")?;
    if given != states as u64 {
        return Err(header.error(format!(
            "the rewards are for {given} states, but the model has {states}"
        )));
    }
    Ok(())
}

fn state_rewards<V: Scalar>(
    text: &str,
    states: usize,
    name: &mut String,
) -> Result<Vec<V>, TextError> {
    structure_name(text, name);
    let mut all = lines(text, "#");
    header(&mut all, states)?;
    let mut rewards = vec![V::zero(); states];
    for mut line in all {
        let state = line.state(states)?;
        rewards[state as usize] = reward(&mut line)?;
    }
    Ok(rewards)
}

fn transition_rewards<V: Scalar>(
    text: &str,
    chain: &Chain<V>,
    name: &mut String,
) -> Result<Vec<V>, TextError> {
    structure_name(text, name);
    let mut all = lines(text, "#");
    header(&mut all, chain.len())?;
    let mut parts = Vec::new();
    for mut line in all {
        let from = line.state(chain.len())?;
        let place = line.place();
        let to = line.state(chain.len())?;
        let value: V = reward(&mut line)?;
        let Some((_, probability)) = chain.row(from).find(|entry| entry.0 == to) else {
            return Err(TextError::new(
                place,
                format!("no transition from state {from} to state {to}"),
            ));
        };
        parts.push((from, probability.times(&value)));
    }
    parts.sort_by_key(|part| part.0);
    let mut rewards = vec![V::zero(); chain.len()];
    let mut row = Vec::new();
    for parts in parts.chunk_by(|one, next| one.0 == next.0) {
        row.clear();
        row.extend(parts.iter().map(|part| part.1.clone()));
        rewards[parts[0].0 as usize] = V::sum(&row);
    }
    Ok(rewards)
}

fn reward<V: Scalar>(line: &mut Fields<'_>) -> Result<V, TextError> {
    let place = line.place();
    let value: V = line.number("a reward")?;
    if value < V::zero() {
        return Err(TextError::new(
            place,
            format!("negative reward {}: not supported", value.text()),
        ));
    }
    line.end()?;
    Ok(value)
}
