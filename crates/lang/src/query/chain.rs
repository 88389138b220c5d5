//! Converts rows of counts to a Markov chain, in product with monitors.

use rustc_hash::FxHashMap;

use super::error::QueryError;
use crate::abstraction::Key;
use crate::hir::Spec;
use crate::ids::{ExprId, PropertyId};
use crate::learn::{ChainPosition, Origin, RowLimits, Rows, Subject};
use crate::translate::translate;
use crate::value::{Number, Truth};
use guard_automata::graph::NodeSet;
use guard_automata::{self, Atom, CompileError, Dfa, Finality, StateId, StateSet};
use guard_markov::{Chain, ChainBuilder, Rewards, Scalar};

/// A state of the chain: a row, and the state of each monitor after it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Vertex {
    /// The number of the row.
    pub state: u32,
    /// States of the monitors.
    pub monitors: Box<[u32]>,
}

/// A chain built from counts.
#[derive(Debug)]
pub struct Learned<V> {
    /// The chain. Its initial state is the start.
    pub chain: Chain<V>,
    /// The meaning of its states; without monitors, the rows in their order.
    pub vertices: Vec<Vertex>,
    /// The state in which runs begin.
    pub start: u32,
    /// Whether the start is a state of its own, outside the abstraction.
    pub explicit: bool,
    /// The states in which runs have ended.
    pub ended: NodeSet,
    /// For each monitor: the states in which its property is violated.
    pub violated: Vec<(PropertyId, NodeSet)>,
    /// For each requested condition, the states in which it holds.
    pub conditions: FxHashMap<ExprId, NodeSet>,
}

/// A monitor in the product with the chain.
#[derive(Debug)]
pub(super) struct Monitor {
    pub(super) property: PropertyId,
    dfa: Dfa,
    /// Its letters, by index among the conditions on states.
    letters: Vec<usize>,
}

impl<V: Scalar> Learned<V> {
    /// Builds the chain of rows. `smoothing` is added to the count of every entry; `asked` are the conditions with which the
    /// rules of the subject were compiled, and `monitors` the properties to include in the product.
    ///
    /// # Errors
    /// A monitor reads a condition that the states do not decide, or the product exceeds the limit.
    pub(crate) fn new(
        subject: &Subject,
        rows: &Rows,
        smoothing: f64,
        asked: &[ExprId],
        monitors: &[PropertyId],
        limits: RowLimits,
    ) -> Result<Learned<V>, QueryError> {
        let spec = subject.space.spec();
        let monitors: Vec<Monitor> = monitors
            .iter()
            .map(|property| Monitor::new(spec, *property, asked))
            .collect::<Result<_, _>>()?;
        let truths = truths(subject, rows, asked);
        let mut vertices: Vec<Vertex> = Vec::new();
        let mut known: FxHashMap<Vertex, u32> = FxHashMap::default();
        let mut number = |vertex: Vertex, vertices: &mut Vec<Vertex>| {
            *known.entry(vertex.clone()).or_insert_with(|| {
                vertices.push(vertex);
                vertices.len() as u32 - 1
            })
        };
        let initial: Box<[u32]> = monitors.iter().map(Monitor::initial).collect();
        if monitors.is_empty() {
            for state in 0..rows.len() as u32 {
                number(
                    Vertex {
                        state,
                        monitors: [].into(),
                    },
                    &mut vertices,
                );
            }
        }
        let start = number(
            Vertex {
                state: rows.start,
                monitors: initial,
            },
            &mut vertices,
        );
        let alpha = V::parse(&format!("{smoothing}")).unwrap_or_else(V::zero);
        let mut builder = ChainBuilder::<V>::default();
        if !alpha.is_zero() {
            // A probability is the quotient of a sum with a decimal; the sum below it is that of its row.
            builder.given_within(3.0);
        }
        let mut at = 0;
        while at < vertices.len() {
            let vertex = vertices[at].clone();
            at += 1;
            let row = &rows.rows[vertex.state as usize];
            let size = V::from_f64(row.entries.len() as f64);
            let total = V::from_f64(row.exits as f64).plus(&alpha.times(&size));
            for (target, count) in &row.entries {
                let probability = match row.origin {
                    Origin::Counted => V::from_f64(*count as f64).plus(&alpha).over(&total),
                    Origin::Guessed => V::one().over(&size),
                    Origin::Absorbing | Origin::Open => V::one(),
                };
                if probability.is_zero() {
                    continue;
                }
                let next = step(spec, &monitors, &truths, &vertex, *target, rows)?;
                builder.transition(number(next, &mut vertices), probability);
            }
            builder.end_row()?;
            if vertices.len() > limits.states.saturating_mul(16) {
                return Err(QueryError::TooLarge {
                    limit: limits.states.saturating_mul(16),
                });
            }
        }
        let chain = builder.finish([start], None)?;
        let mut learned = Learned {
            start,
            explicit: rows.places[rows.start as usize] == ChainPosition::Start,
            ended: chain.graph().none(),
            violated: Vec::new(),
            conditions: FxHashMap::default(),
            chain,
            vertices,
        };
        learned.label(subject, rows, asked, &truths, &monitors)?;
        Ok(learned)
    }

    /// Returns the names of the states.
    pub(super) fn names(&self, subject: &Subject, rows: &Rows) -> Vec<String> {
        let spec = subject.space.spec();
        let name = |vertex: &Vertex| {
            let mut name = rows.describe(&subject.space, vertex.state);
            for ((property, _), state) in self.violated.iter().zip(&vertex.monitors) {
                name.push_str(&format!(", {}@{state}", spec.property(*property).name));
            }
            name
        };
        self.vertices.iter().map(name).collect()
    }

    /// Adds labels and rewards.
    fn label(
        &mut self,
        subject: &Subject,
        rows: &Rows,
        asked: &[ExprId],
        truths: &[Vec<Truth>],
        monitors: &[Monitor],
    ) -> Result<(), QueryError> {
        let graph = self.chain.graph();
        let (none, start) = (graph.none(), graph.set([self.start]));
        for (number, vertex) in self.vertices.iter().enumerate() {
            if vertex.state == rows.end {
                self.ended.insert(number);
            }
        }
        for (place, condition) in asked.iter().enumerate() {
            let mut set = none.clone();
            for (number, vertex) in self.vertices.iter().enumerate() {
                set.set(number, truths[place][vertex.state as usize] == Truth::True);
            }
            self.conditions.insert(*condition, set);
        }
        for (place, monitor) in monitors.iter().enumerate() {
            let mut set = none.clone();
            for (number, vertex) in self.vertices.iter().enumerate() {
                let ended = vertex.state == rows.end;
                set.set(number, monitor.is_violated(vertex.monitors[place], ended));
            }
            self.violated.push((monitor.property, set));
        }
        self.chain.add_label("start", start);
        self.chain.add_label("end", self.ended.clone());
        let mut rules = subject.space.rules(&subject.rules);
        let declared = &subject.space.abstraction().rewards;
        let mut reward = |name: String, of: &mut dyn FnMut(Key) -> V| {
            let each = self.vertices.iter().map(|vertex| {
                let key = rows.places[vertex.state as usize].key();
                key.map_or_else(V::zero, &mut *of)
            });
            let state: Vec<V> = each.collect();
            self.chain.add_rewards(Rewards {
                name,
                state,
                step: Vec::new(),
            })
        };
        if !declared.iter().any(|declared| declared.name.is_none()) {
            reward(String::new(), &mut |_| V::one())?;
        }
        for (number, declared) in declared.iter().enumerate() {
            let name = declared.name.as_deref().unwrap_or_default().to_owned();
            // As it is written: the double of 0.1 is another fraction.
            let parsed = |number: Number| {
                V::parse(&number.to_string()).unwrap_or_else(|| V::from_f64(number.to_f64()))
            };
            reward(name, &mut |key| {
                rules.reward(number, key).map_or_else(V::zero, parsed)
            })?;
        }
        Ok(())
    }
}

impl Monitor {
    pub(super) fn new(
        spec: &Spec,
        property: PropertyId,
        asked: &[ExprId],
    ) -> Result<Monitor, QueryError> {
        let of = spec.property(property);
        let letters = spec.formulas.atoms_of(of.formula);
        let mut formulas = guard_automata::Formulas::new();
        let root = translate(
            &spec.formulas,
            of.formula,
            |letter| {
                let place = letters.iter().position(|other| *other == letter);
                Atom(place.unwrap_or_default() as u32)
            },
            &mut formulas,
        );
        let dfa = guard_automata::compile(&formulas, root, &guard_automata::Limits::default())
            .map_err(|_: CompileError| QueryError::NoAutomaton {
                property: of.name.clone(),
            })?;
        let places = letters.iter().map(|letter| {
            let expr = spec.atom(*letter).expr;
            asked
                .iter()
                .position(|other| *other == expr)
                .unwrap_or(usize::MAX)
        });
        Ok(Monitor {
            property,
            letters: places.collect(),
            dfa,
        })
    }

    /// Returns the state of the monitor before the first step.
    pub(super) fn initial(&self) -> u32 {
        self.dfa.initial().index() as u32
    }

    /// Returns the number of states of the monitor.
    pub(super) fn len(&self) -> usize {
        self.dfa.len()
    }

    /// Whether its property is violated in a state: for good, or, once the run has ended, because an obligation is pending.
    pub(super) fn is_violated(&self, state: u32, ended: bool) -> bool {
        let Some(state) = self.dfa.state(state as usize) else {
            return false;
        };
        self.dfa.finality(state) == Finality::FinalFalse || (ended && !self.dfa.accepting(state))
    }

    /// Returns the possible next states of the monitor, given the truth of each condition in the state that a step leads to.
    pub(super) fn after(&self, from: u32, holds: &dyn Fn(usize) -> Truth) -> Vec<u32> {
        let mut into = StateSet::new();
        let from = self.dfa.state(from as usize).unwrap_or(self.dfa.initial());
        self.dfa
            .step_unknown(from, |atom| self.holds(atom, holds).known(), &mut into);
        into.iter().map(|state| state.index() as u32).collect()
    }

    fn holds(&self, atom: Atom, holds: &dyn Fn(usize) -> Truth) -> Truth {
        self.letters
            .get(atom.0 as usize)
            .map_or(Truth::Unknown, |place| holds(*place))
    }
}

/// Whether each condition holds in each row; false at the start and at the end.
fn truths(subject: &Subject, rows: &Rows, asked: &[ExprId]) -> Vec<Vec<Truth>> {
    let mut rules = subject.space.rules(&subject.rules);
    (0..asked.len())
        .map(|condition| {
            let each = rows.places.iter().map(|place| match place.key() {
                Some(key) => rules.holds(condition, key),
                None => Truth::False,
            });
            each.collect()
        })
        .collect()
}

/// Returns the successors of a state: every monitor reads the conditions in the state that the step leads to.
fn step(
    spec: &Spec,
    monitors: &[Monitor],
    truths: &[Vec<Truth>],
    from: &Vertex,
    target: u32,
    rows: &Rows,
) -> Result<Vertex, QueryError> {
    let mut next = Vec::with_capacity(monitors.len());
    for (monitor, before) in monitors.iter().zip(&from.monitors) {
        if rows.places[target as usize] == ChainPosition::End {
            // The end is not a step: pending obligations stay pending.
            next.push(*before);
            continue;
        }
        let before: StateId = monitor
            .dfa
            .state(*before as usize)
            .unwrap_or(monitor.dfa.initial());
        let holds = |place: usize| {
            truths
                .get(place)
                .map_or(Truth::Unknown, |truths| truths[target as usize])
        };
        let mut open = None;
        let after = monitor.dfa.step(before, |atom| {
            let truth = monitor.holds(atom, &holds);
            if truth == Truth::Unknown {
                open.get_or_insert(atom.0);
            }
            truth == Truth::True
        });
        if let Some(atom) = open {
            let property = spec.property(monitor.property);
            let letters = spec.formulas.atoms_of(property.formula);
            let letter = letters
                .get(atom as usize)
                .map(|letter| spec.atom(*letter).text.clone());
            return Err(QueryError::Letter {
                property: property.name.clone(),
                letter: letter.unwrap_or_default(),
            });
        }
        next.push(after.index() as u32);
    }
    Ok(Vertex {
        state: target,
        monitors: next.into(),
    })
}
