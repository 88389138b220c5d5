//! Model files: counts as JSON, with the data to check whether a spec may use them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use super::counts::{Counts, NodeId, Traces};
use super::fingerprint::Fingerprint;
use crate::abstraction::{Key, Space, SpaceError};
use crate::hir::Spec;
use crate::ids::AbstractionId;

/// The largest sum of all counts of a model. Visits of a state are counted as arrivals and as exits.
const MOST_COUNTED: u64 = u64::MAX >> 2;

/// The version of the file format.
const VERSION: u32 = 1;

/// The header of a model file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format.
    pub v: u32,
    /// `guard-model`
    pub kind: String,
    /// The version of the tool that counted.
    pub guard: String,
    /// The name of the model in the spec.
    pub model: String,
    /// The name of the abstraction.
    pub abstraction: String,
    /// The hash of everything that affects counting.
    pub spec: String,
    /// The same hash for each part.
    pub parts: BTreeMap<String, String>,
    /// The number of states that a node remembers.
    pub order: u32,
    /// Whether there is one chain for each category of traces.
    pub by: bool,
    /// The names of the components of a state.
    pub components: Vec<SmolStr>,
}

/// A model: its header, and the counts of each category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Model {
    /// The header.
    #[serde(flatten)]
    pub header: Header,
    /// The chains; only one if there are no categories.
    pub chains: Vec<ChainCounts>,
}

/// The counts of one category; states are written as words.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChainCounts {
    /// The category; `None` without `by`.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub category: Option<SmolStr>,
    /// The number of traces.
    pub traces: Traces,
    /// The words of each node, those of its states one after the other; the start has no words. Sorted.
    pub nodes: Vec<Vec<SmolStr>>,
    /// Transitions as source, target, count; sorted.
    pub transitions: Vec<(u32, u32, u64)>,
    /// The nodes at which complete traces ended, with counts; sorted.
    pub ends: Vec<(u32, u64)>,
}

/// The reason why a model file cannot be used.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The text is not a model.
    #[error("not a model file: {0}")]
    Json(#[from] serde_json::Error),
    /// The text is JSON, but not a model of this version.
    #[error("not a model file of version {VERSION}")]
    Version,
    /// A transition refers to a node that does not exist, or has a count of zero.
    #[error("chain {chain} refers to node {node}, but has {nodes} nodes")]
    NoNode {
        /// The number of the chain.
        chain: usize,
        /// The number in the file.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// The states of the abstraction cannot be computed.
    #[error(transparent)]
    Space(#[from] SpaceError),
    /// The spec does not have the abstraction that the file names.
    #[error("the spec has no abstraction `{0}`")]
    NoAbstraction(String),
    /// Some counts overflow.
    #[error("the counts exceed 62 bits together")]
    Overflow,
    /// The file has several chains of one category.
    #[error("several chains {}", match category {
        Some(category) => format!("of the category `{category}`"),
        None => "without a category".to_owned(),
    })]
    SeveralChains {
        /// The category.
        category: Option<SmolStr>,
    },
    /// It was learned from another spec.
    #[error("learned with a different spec: {} changed", changed.join(", "))]
    OtherSpec {
        /// The parts that differ.
        changed: Vec<String>,
    },
    /// The abstraction does not have a state of the file.
    #[error("component `{component}` has no value `{word}`")]
    NoState {
        /// The component.
        component: SmolStr,
        /// The value.
        word: SmolStr,
    },
}

impl Model {
    /// Creates a model from counts.
    pub fn new(
        name: &str,
        space: &Space,
        fingerprint: Fingerprint,
        (order, by): (u32, bool),
        chains: &BTreeMap<SmolStr, Counts>,
    ) -> Model {
        let header = Header {
            v: VERSION,
            kind: "guard-model".to_owned(),
            guard: env!("CARGO_PKG_VERSION").to_owned(),
            model: name.to_owned(),
            abstraction: space.abstraction().name.to_string(),
            spec: fingerprint.hash,
            parts: fingerprint.parts,
            order,
            by,
            components: space
                .components()
                .iter()
                .map(|component| component.name.clone())
                .collect(),
        };
        let chains = chains
            .iter()
            .map(|(category, counts)| ChainCounts::new(by.then(|| category.clone()), counts, space))
            .collect();
        Model { header, chains }
    }

    /// Parses a model file.
    ///
    /// # Errors
    /// The text is not a model of this version, refers to nodes that do not exist, has two chains of a category, or its counts are too
    /// large.
    pub fn parse(text: &str) -> Result<Model, ModelError> {
        let model: Model = serde_json::from_str(text)?;
        if model.header.v != VERSION || model.header.kind != "guard-model" {
            return Err(ModelError::Version);
        }
        for (chain, counts) in model.chains.iter().enumerate() {
            let named = counts
                .transitions
                .iter()
                .flat_map(|(from, to, _)| [*from, *to]);
            for node in named.chain(counts.ends.iter().map(|(node, _)| *node)) {
                if node as usize >= counts.nodes.len() {
                    return Err(ModelError::NoNode {
                        chain,
                        node,
                        nodes: counts.nodes.len(),
                    });
                }
            }
            let before = &model.chains[..chain];
            if before.iter().any(|other| other.category == counts.category) {
                let category = counts.category.clone();
                return Err(ModelError::SeveralChains { category });
            }
        }
        model.check_size()?;
        Ok(model)
    }

    /// Checks that sums of counts, of whatever part of the model, fit into 64 bits.
    fn check_size(&self) -> Result<(), ModelError> {
        let mut sum = 0u64;
        for chain in &self.chains {
            let Traces {
                complete,
                censored,
                quarantined,
            } = chain.traces;
            let transitions = chain.transitions.iter().map(|(_, _, count)| *count);
            let ends = chain.ends.iter().map(|(_, count)| *count);
            for count in transitions
                .chain(ends)
                .chain([complete, censored, quarantined])
            {
                let more = sum.checked_add(count).filter(|sum| *sum <= MOST_COUNTED);
                sum = more.ok_or(ModelError::Overflow)?;
            }
        }
        Ok(())
    }

    /// Returns the text of the file.
    pub fn to_text(&self) -> String {
        // Transitions on separate lines would be too long, and all on one line unreadable in a diff, so there is one
        // line for each part of a chain.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Adds the counts of another model, learned from the same spec.
    ///
    /// Addition is commutative and associative, and the result is kept sorted, so merging in any grouping and order gives
    /// the same bytes.
    ///
    /// # Errors
    /// The other was learned from another spec, or the counts do not fit.
    pub fn merge(&mut self, other: &Model) -> Result<(), ModelError> {
        let theirs = Fingerprint {
            hash: other.header.spec.clone(),
            parts: other.header.parts.clone(),
        };
        self.header.check(&theirs)?;
        for chain in &other.chains {
            match self
                .chains
                .iter_mut()
                .find(|known| known.category == chain.category)
            {
                Some(known) => *known = known.plus(chain),
                None => self.chains.push(chain.clone()),
            }
        }
        self.check_size()?;
        self.chains
            .sort_by(|lhs, rhs| lhs.category.cmp(&rhs.category));
        Ok(())
    }

    /// Returns the counts of each category, with states as keys of a space. Fails if a name is not a state of the space.
    ///
    /// # Errors
    /// A state that the space does not have.
    pub fn counts(&self, space: &Space) -> Result<BTreeMap<SmolStr, Counts>, ModelError> {
        let mut all = BTreeMap::new();
        for chain in &self.chains {
            let counts = chain.counts(space, self.header.order as usize)?;
            all.insert(chain.category.clone().unwrap_or_default(), counts);
        }
        Ok(all)
    }
}

impl Header {
    /// Checks that counting with a spec would give the counts of this model.
    ///
    /// # Errors
    /// [`ModelError::OtherSpec`] with the parts that differ.
    pub fn check(&self, by: &Fingerprint) -> Result<(), ModelError> {
        if self.spec == by.hash {
            return Ok(());
        }
        let parts = &self.parts;
        let mut changed: Vec<String> = by
            .parts
            .iter()
            .filter(|(name, hash)| parts.get(*name) != Some(hash))
            .map(|(name, _)| match parts.contains_key(name) {
                true => format!("`{name}`"),
                false => format!("`{name}` (new)"),
            })
            .collect();
        let gone = parts.keys().filter(|name| !by.parts.contains_key(*name));
        changed.extend(gone.map(|name| format!("`{name}` (gone)")));
        Err(ModelError::OtherSpec { changed })
    }

    /// Returns the abstraction of a spec that the model file names.
    ///
    /// # Errors
    /// The spec has no abstraction of that name.
    pub fn abstraction(&self, spec: &Spec) -> Result<AbstractionId, ModelError> {
        let name = &self.abstraction;
        let found = spec.abstractions.iter().position(|of| of.name == *name);
        found
            .map(AbstractionId::new)
            .ok_or_else(|| ModelError::NoAbstraction(name.clone()))
    }
}

impl ChainCounts {
    fn new(category: Option<SmolStr>, counts: &Counts, space: &Space) -> ChainCounts {
        let words: Vec<Vec<SmolStr>> = counts
            .nodes
            .iter()
            .map(|keys| keys.iter().flat_map(|key| space.decode(*key)).collect())
            .collect();
        // Nodes that only uncounted walks visited are left out.
        let mut used = vec![false; words.len()];
        used[0] = true;
        for edge in counts.edges.iter().filter(|edge| edge.count > 0) {
            used[edge.from.index()] = true;
            used[edge.to.index()] = true;
        }
        let mut order: Vec<usize> = (0..words.len()).filter(|node| used[*node]).collect();
        order.sort_by(|lhs, rhs| words[*lhs].cmp(&words[*rhs]));
        let mut place = vec![0u32; words.len()];
        for (new, old) in order.iter().enumerate() {
            place[*old] = new as u32;
        }
        let mut transitions: Vec<(u32, u32, u64)> = counts
            .edges
            .iter()
            .filter(|edge| edge.count > 0)
            .map(|edge| (place[edge.from.index()], place[edge.to.index()], edge.count))
            .collect();
        transitions.sort_unstable();
        let mut ends: Vec<(u32, u64)> = (0..words.len())
            .filter(|node| counts.ends[*node] > 0)
            .map(|node| (place[node], counts.ends[node]))
            .collect();
        ends.sort_unstable();
        ChainCounts {
            category,
            traces: counts.traces,
            nodes: order.into_iter().map(|node| words[node].clone()).collect(),
            transitions,
            ends,
        }
    }

    /// Adds counts that are each within [`MOST_COUNTED`].
    fn plus(&self, other: &ChainCounts) -> ChainCounts {
        let mut nodes: Vec<&Vec<SmolStr>> = self.nodes.iter().chain(&other.nodes).collect();
        nodes.sort();
        nodes.dedup();
        let place = |words: &Vec<SmolStr>| nodes.binary_search(&words).unwrap_or_default() as u32;
        let mut transitions: BTreeMap<(u32, u32), u64> = BTreeMap::new();
        let mut ends: BTreeMap<u32, u64> = BTreeMap::new();
        for chain in [self, other] {
            let places: Vec<u32> = chain.nodes.iter().map(place).collect();
            for (from, to, count) in &chain.transitions {
                let at = (places[*from as usize], places[*to as usize]);
                *transitions.entry(at).or_default() += count;
            }
            for (node, count) in &chain.ends {
                *ends.entry(places[*node as usize]).or_default() += count;
            }
        }
        ChainCounts {
            category: self.category.clone(),
            traces: Traces {
                complete: self.traces.complete + other.traces.complete,
                censored: self.traces.censored + other.traces.censored,
                quarantined: self.traces.quarantined + other.traces.quarantined,
            },
            nodes: nodes.into_iter().cloned().collect(),
            transitions: transitions
                .into_iter()
                .map(|((from, to), n)| (from, to, n))
                .collect(),
            ends: ends.into_iter().collect(),
        }
    }

    fn counts(&self, space: &Space, order: usize) -> Result<Counts, ModelError> {
        let width = space.components().len().max(1);
        let mut counts = Counts::new(order, space.start());
        let mut nodes = Vec::with_capacity(self.nodes.len());
        for words in &self.nodes {
            let keys: Result<Vec<Key>, _> = words
                .chunks(width)
                .map(|words| space.parse(words))
                .collect();
            let keys = keys.map_err(|(component, word)| ModelError::NoState { component, word })?;
            nodes.push(if keys.is_empty() {
                NodeId::START
            } else {
                counts.node(&keys)
            });
        }
        for (from, to, count) in &self.transitions {
            let (from, to) = (nodes[*from as usize], nodes[*to as usize]);
            if let Some(key) = counts.nodes[to.index()].last().copied() {
                let edge = counts.edge(from, key) as usize;
                counts.edges[edge].count += count;
                counts.steps += count;
            }
        }
        for (node, count) in &self.ends {
            counts.ends[nodes[*node as usize].index()] += count;
        }
        counts.traces = self.traces;
        Ok(counts)
    }
}
