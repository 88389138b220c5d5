//! Chains as JSON: the form in which `guard import` keeps them.

use serde::{Deserialize, Serialize};

use super::super::chain::{Chain, ChainBuilder, Rewards};
use super::super::scalar::Scalar;
use super::super::text::{TextError, TextPosition};
use super::Imported;

/// The version of the format.
const VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    v: u32,
    kind: String,
    states: usize,
    initial: Vec<u32>,
    labels: Vec<(String, Vec<u32>)>,
    rewards: Vec<Structure>,
    /// Source, target and probability, sorted by source. The probability is a text so that fractions stay exact.
    transitions: Vec<(u32, u32, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Structure {
    name: String,
    state: Vec<String>,
    step: Vec<String>,
}

const KIND: &str = "markov-chain";

/// Returns a chain as one JSON document.
///
/// # Errors
/// None in practice: all fields are serializable.
pub fn write_json<V: Scalar>(chain: &Chain<V>) -> Result<String, serde_json::Error> {
    let texts = |values: &[V]| values.iter().map(Scalar::text).collect();
    let members =
        |set: &guard_automata::graph::NodeSet| set.ones().map(|state| state as u32).collect();
    serde_json::to_string(&Document {
        v: VERSION,
        kind: KIND.to_owned(),
        states: chain.len(),
        initial: members(chain.initial()),
        labels: chain
            .labels()
            .filter(|(name, _)| *name != "init")
            .map(|(name, set)| (name.to_owned(), members(set)))
            .collect(),
        rewards: chain
            .rewards()
            .iter()
            .map(|rewards| Structure {
                name: rewards.name.clone(),
                state: texts(&rewards.state),
                step: texts(&rewards.step),
            })
            .collect(),
        transitions: (0..chain.len() as u32)
            .flat_map(|state| {
                chain
                    .row(state)
                    .map(move |(target, probability)| (state, target, probability.text()))
            })
            .collect(),
    })
}

/// Reads the format of [`write_json`].
///
/// # Errors
/// The text is not JSON or not of this format, or the chain is invalid.
pub fn read_json<V: Scalar>(text: &str) -> Result<Imported<V>, TextError> {
    let wrong = |message: String| TextError::new(TextPosition::line(1), message);
    let document: Document = serde_json::from_str(text).map_err(|error| {
        let place = TextPosition {
            line: error.line() as u32,
            column: error.column() as u32,
        };
        TextError::new(place, error.to_string())
    })?;
    if document.kind != KIND || document.v != VERSION {
        return Err(wrong(format!(
            "expected a Markov chain of version {VERSION}, found `{}` of version {}",
            document.kind, document.v
        )));
    }
    let number = |text: &str| {
        V::parse(text).ok_or_else(|| wrong(format!("expected a finite number, found `{text}`")))
    };
    let mut builder = ChainBuilder::with_capacity(0, document.transitions.len());
    let mut entries = document.transitions.iter().peekable();
    for state in 0..document.states {
        while let Some((_, target, probability)) =
            entries.next_if(|entry| entry.0 as usize == state)
        {
            builder.transition(*target, number(probability)?);
        }
        builder
            .end_row()
            .map_err(|error| wrong(error.to_string()))?;
    }
    if let Some((from, ..)) = entries.next() {
        return Err(wrong(format!(
            "state {from} does not exist or its transitions are out of order"
        )));
    }
    let deadlocks = builder.deadlocks().len();
    let mut chain = builder
        .finish(document.initial, None)
        .map_err(|error| wrong(error.to_string()))?;
    for (name, states) in document.labels {
        if let Some(state) = states.iter().find(|state| **state as usize >= chain.len()) {
            return Err(wrong(format!(
                "state {state} of label \"{name}\" does not exist"
            )));
        }
        let set = chain.graph().set(states);
        chain.add_label(&name, set);
    }
    for structure in document.rewards {
        let values = |texts: &[String]| -> Result<Vec<V>, TextError> {
            if !texts.is_empty() && texts.len() != chain.len() {
                return Err(wrong(format!(
                    "rewards \"{}\" are for {} states, but the model has {}",
                    structure.name,
                    texts.len(),
                    chain.len()
                )));
            }
            texts.iter().map(|text| number(text)).collect()
        };
        let rewards = Rewards {
            state: values(&structure.state)?,
            step: values(&structure.step)?,
            name: structure.name,
        };
        chain
            .add_rewards(rewards)
            .map_err(|error| wrong(error.to_string()))?;
    }
    Ok(Imported { chain, deadlocks })
}
