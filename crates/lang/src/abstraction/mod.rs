//! The finite state space of an `abstraction` block: encoding, decoding, valid states and steps, and enumeration.
//!
//! Input: a spec and one of its abstractions; output: a [`Space`]. A state is packed into the bits of one [`Key`], so
//! that it is compared, hashed and stored as a number. In Pro2Guard a domain implements five functions by hand (encode,
//! decode, can_reach, filter, get_state_space); here all of them follow from one block:
//!
//! | there | here |
//! |---|---|
//! | encode | [`Space::encode`], on what an [`Observer`](crate::eval::Observer) sees |
//! | decode | [`Space::decode`], [`Space::describe`] |
//! | can_reach | [`Rules::allows`] |
//! | filter | [`Rules::is_valid`] |
//! | get_state_space | [`Rules::states`] |
//!
//! Probabilities are in `learn` and `markov`.

mod codec;
mod error;
mod rules;

use std::sync::Arc;

use smol_str::SmolStr;

use crate::eval::{self, Observation, Program, StateLayout};
use crate::hir::{Abstraction, Component, Domain, Expr, Source, Spec};
use crate::ids::{AbstractionId, ExprId, PropertyId};
use crate::value::{Cell, Truth};

use codec::Codec;
pub use error::SpaceError;
pub use rules::{RuleCode, Rules, Step};

/// A packed state: each component has its own bits.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
pub struct Key(pub u128);

/// The observed state at a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ObservedState {
    /// `steps when` is false: the event is not a step of the chain.
    NoStep,
    /// The state.
    One(Key),
    /// The state may be any of these, in order, because a component is unknown.
    Several(Box<[Key]>),
    /// Nothing is known: the event may lead to any state, or not be a step.
    Unknown,
}

/// The indices at which a program observes the components of states.
#[derive(Clone, Debug)]
pub struct Mount {
    /// For each component: its index among the observed expressions, or among the properties.
    components: Box<[usize]>,
    /// The index of `steps when` among the observed expressions.
    steps: Option<usize>,
}

/// The greatest number of values of one unknown component that are enumerated.
const MOST_POSSIBLE: usize = 64;

/// The state space of an abstraction, and the program that computes the state after each step of a trace.
#[derive(Debug)]
pub struct Space {
    spec: Arc<Spec>,
    abstraction: Abstraction,
    program: Program,
    codecs: Vec<Codec>,
    /// The indices at which the space's own program observes the components.
    own: Mount,
    /// The monitored properties, by their index in the program.
    monitored: Vec<PropertyId>,
    start: Option<Key>,
}

impl Space {
    /// Returns the space of an abstraction of the spec.
    ///
    /// # Errors
    /// [`SpaceError`]: states need more than 128 bits, or a monitor has no automaton within the limits.
    pub fn new(
        spec: &Arc<Spec>,
        abstraction: AbstractionId,
        limits: &eval::Limits,
    ) -> Result<Space, SpaceError> {
        let abstraction = spec.abstraction(abstraction).clone();
        let mut observed: Vec<ExprId> = Vec::new();
        let mut monitored: Vec<PropertyId> = Vec::new();
        let mut places = Vec::with_capacity(abstraction.components.len());
        for component in &abstraction.components {
            places.push(match component.source {
                Source::Value(expr) => {
                    observed.push(expr);
                    observed.len() - 1
                }
                Source::Monitor(property) | Source::Violated(property) => {
                    place_of(&mut monitored, property)
                }
            });
        }
        let steps = abstraction.steps.map(|steps| {
            observed.push(steps);
            observed.len() - 1
        });
        let mut followed = Spec::clone(spec);
        followed.properties = monitored
            .iter()
            .map(|id| spec.property(*id).clone())
            .collect();
        followed.tests.clear();
        let program = Program::observing(Arc::new(followed), &observed, limits)?;
        let mut codecs = Vec::with_capacity(places.len());
        let mut bits = 0;
        for component in &abstraction.components {
            let codec = Codec::new(spec, component, bits, &program, &monitored)?;
            bits += codec.bits();
            codecs.push(codec);
        }
        if bits > 128 {
            return Err(SpaceError::TooWide {
                abstraction: abstraction.name.clone(),
                bits,
            });
        }
        let mut space = Space {
            spec: Arc::clone(spec),
            abstraction,
            program,
            codecs,
            own: Mount {
                components: places.into(),
                steps,
            },
            monitored,
            start: None,
        };
        space.start = space.initial();
        Ok(space)
    }

    /// Returns the state before the first step if all components are tracks with initial values that do not depend on the
    /// record, or `None` if the chain begins in a separate start state.
    pub fn start(&self) -> Option<Key> {
        self.start
    }

    fn initial(&self) -> Option<Key> {
        let mut key = 0;
        let components = self.abstraction.components.iter();
        for ((component, codec), place) in components
            .zip(&self.codecs)
            .zip(self.own.components.iter().copied())
        {
            let Source::Value(expr) = component.source else {
                return None;
            };
            let Expr::Track(track, args) = self.spec.exprs.get(expr) else {
                return None;
            };
            let reads = crate::hir::reads::reads(&self.spec, [self.spec.track(*track).init]);
            if !args.is_empty() || !reads.meta.is_empty() {
                return None;
            }
            let Cell::Known(value) = self.program.initially(place, &[]) else {
                return None;
            };
            key |= codec.place_code(codec.code(&value)?);
        }
        (!self.codecs.is_empty()).then_some(Key(key))
    }

    /// Returns, for each component, the texts that occurred, in the order of their codes. Keys of states stay valid in a
    /// space that [meets](Self::meet) them in this order.
    pub fn texts(&self) -> Vec<Vec<SmolStr>> {
        self.codecs.iter().map(Codec::texts).collect()
    }

    /// Adds the texts of another space of the same abstraction; returns false if they do not match the components, or
    /// if other texts were added before.
    pub fn meet(&self, texts: &[Vec<SmolStr>]) -> bool {
        texts.len() == self.codecs.len()
            && self
                .codecs
                .iter()
                .zip(texts)
                .all(|(codec, texts)| codec.meet(texts))
    }

    /// Adds these texts to the values of every component that is a text.
    pub fn know(&mut self, texts: &[SmolStr]) {
        for codec in &self.codecs {
            codec.know(texts);
        }
    }

    /// Ends learning: all unknown texts become one value, `unseen`, so that no trace adds states to the space.
    pub fn close(&mut self) {
        for codec in &mut self.codecs {
            codec.close();
        }
    }

    /// Whether a component is a text, which may have a value that no trace has shown.
    pub fn is_open(&self) -> bool {
        self.codecs.iter().any(|codec| codec.size().is_none())
    }

    /// Returns the abstraction.
    pub fn abstraction(&self) -> &Abstraction {
        &self.abstraction
    }

    /// Returns the number of bits that a state takes.
    pub fn bits(&self) -> u32 {
        self.codecs.iter().map(Codec::bits).sum()
    }

    /// Returns the components of a state, in order.
    pub fn components(&self) -> &[Component] {
        &self.abstraction.components
    }

    /// Returns the program that reads traces for this space; see [`Program::observe`].
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Returns the spec.
    pub fn spec(&self) -> &Arc<Spec> {
        &self.spec
    }

    /// Returns the expressions that another program must observe to determine states, in the order that
    /// [`mount`](Self::mount) expects. It must judge all properties of the spec.
    pub fn observed(&self) -> Vec<ExprId> {
        let components = self.abstraction.components.iter();
        let values = components.filter_map(|component| match component.source {
            Source::Value(expr) => Some(expr),
            Source::Monitor(_) | Source::Violated(_) => None,
        });
        values.chain(self.abstraction.steps).collect()
    }

    /// Returns the indices at which a program observes the components, if [the expressions](Self::observed) begin at index
    /// `first` of its observations and its properties are those of the spec.
    pub fn mount(&self, first: usize) -> Mount {
        let mut next = first;
        let components = self.abstraction.components.iter();
        let components = components.map(|component| match component.source {
            Source::Value(_) => {
                next += 1;
                next - 1
            }
            Source::Monitor(property) | Source::Violated(property) => property.index(),
        });
        let components = components.collect();
        Mount {
            components,
            steps: self.abstraction.steps.map(|_| next),
        }
    }

    /// Returns the state after a step, from the observation of the space's own program.
    ///
    /// # Complexity
    /// One evaluation of each component; nothing is allocated unless a component is unknown.
    #[inline]
    pub fn encode(&self, look: &mut Observation<'_, '_>) -> ObservedState {
        self.encode_at(&self.own, look)
    }

    /// Returns the state after a step, from the observation of another program.
    #[inline]
    pub fn encode_at(&self, mount: &Mount, look: &mut Observation<'_, '_>) -> ObservedState {
        if let Some(steps) = mount.steps {
            match look.truth(steps) {
                Truth::True => {}
                Truth::False => return ObservedState::NoStep,
                Truth::Unknown => return ObservedState::Unknown,
            }
        }
        let mut key = 0;
        for (codec, place) in self.codecs.iter().zip(&mount.components) {
            match codec.look(*place, look) {
                Some(code) => key |= codec.place_code(code),
                None => return self.several(mount, look),
            }
        }
        ObservedState::One(Key(key))
    }

    /// Returns the possible states if some components are unknown.
    #[cold]
    fn several(&self, mount: &Mount, look: &mut Observation<'_, '_>) -> ObservedState {
        let mut keys = vec![0];
        for (codec, place) in self.codecs.iter().zip(&mount.components) {
            let codes: Vec<u32> = match codec.look(*place, look) {
                Some(code) => vec![code],
                None => match codec.size() {
                    Some(size) if keys.len() * size <= MOST_POSSIBLE => (0..size as u32).collect(),
                    _ => return ObservedState::Unknown,
                },
            };
            keys = keys
                .iter()
                .flat_map(|key| codes.iter().map(move |code| key | codec.place_code(*code)))
                .collect();
        }
        keys.sort_unstable();
        ObservedState::Several(keys.into_iter().map(Key).collect())
    }

    /// Returns the reason why the state after a step is not known.
    pub fn why_unknown(&self, look: &mut Observation<'_, '_>) -> String {
        if let Some(steps) = self.own.steps
            && look.truth(steps) == Truth::Unknown
        {
            return "it is unknown whether the event is a step".to_owned();
        }
        let components = self.abstraction.components.iter();
        let mut each = components.zip(&self.codecs).zip(&self.own.components);
        let lost = each.find_map(|((component, codec), place)| {
            codec.look(*place, look).is_none().then(|| {
                let name = &component.name;
                match codec.outside(*place, look) {
                    Some(why) => format!("`{name}` {why}"),
                    None => format!("`{name}` is unknown"),
                }
            })
        });
        lost.unwrap_or_else(|| "it is unknown which events are steps".to_owned())
    }

    /// Returns the components of a state as text: `credentials`, `true`, `3`, `wait(2)`, a text.
    pub fn decode(&self, key: Key) -> Vec<SmolStr> {
        self.codecs
            .iter()
            .map(|codec| codec.word(&self.spec, codec.code_in(key)))
            .collect()
    }

    /// Returns the state with these words, one for each component; unknown texts are added.
    ///
    /// # Errors
    /// The component, and the word that is not one of its values.
    pub fn parse(&self, words: &[SmolStr]) -> Result<Key, (SmolStr, SmolStr)> {
        let mut key = 0;
        for (idx, codec) in self.codecs.iter().enumerate() {
            let word = words.get(idx).cloned().unwrap_or_default();
            match codec.code_of_word(&self.spec, &word) {
                Some(code) => key |= codec.place_code(code),
                None => return Err((self.abstraction.components[idx].name.clone(), word)),
            }
        }
        Ok(Key(key))
    }

    /// Returns a readable form of a state: `exposure=credentials, reach=network, leak`.
    pub fn describe(&self, key: Key) -> String {
        let words = self.decode(key);
        self.describe_words(&words)
    }

    /// Returns the readable form of a state from its words.
    pub fn describe_words(&self, words: &[SmolStr]) -> String {
        let parts: Vec<String> = self
            .abstraction
            .components
            .iter()
            .zip(words)
            .map(
                |(component, word)| match (&component.domain, word.as_str()) {
                    (Domain::Bool, "true") => component.name.to_string(),
                    (Domain::Bool, "false") if component.name.contains(' ') => {
                        format!("not ({})", component.name)
                    }
                    (Domain::Bool, "false") => format!("not {}", component.name),
                    (_, word) => format!("{}={word}", component.name),
                },
            )
            .collect();
        parts.join(", ")
    }

    /// Writes the values of the components and then, for each monitor, whether its property is violated.
    fn cells(&self, key: Key, into: &mut Vec<Cell>) {
        into.extend(
            self.codecs
                .iter()
                .map(|codec| codec.cell(codec.code_in(key))),
        );
        let violated = self
            .codecs
            .iter()
            .filter_map(|codec| codec.is_violated(codec.code_in(key)));
        into.extend(violated.map(|violated| Cell::Known(crate::value::Value::Bool(violated))));
    }

    /// Returns the layout of [`cells`](Self::cells).
    fn places(&self) -> StateLayout {
        let mut places = StateLayout::default();
        for (idx, component) in self.abstraction.components.iter().enumerate() {
            match component.source {
                Source::Value(expr) => {
                    places.values.insert(expr, idx);
                }
                Source::Violated(property) => {
                    places.violated.insert(property, idx);
                }
                Source::Monitor(_) => {}
            }
        }
        places.len = self.codecs.len();
        for component in &self.abstraction.components {
            if let Source::Monitor(property) = component.source {
                places.violated.insert(property, places.len);
                places.len += 1;
            }
        }
        places
    }
}

fn place_of(monitored: &mut Vec<PropertyId>, property: PropertyId) -> usize {
    monitored
        .iter()
        .position(|other| *other == property)
        .unwrap_or_else(|| {
            monitored.push(property);
            monitored.len() - 1
        })
}
