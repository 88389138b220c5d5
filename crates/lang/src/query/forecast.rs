//! Queries for running monitors: after each step of a live trace, the number of its state.
//!
//! A [`Forecast`] holds the answers to queries on one learned model as tables, and computes the position of a live
//! trace on the chain. No query is solved while traces run.
//!
//! ```text
//! model file ─Forecast::new─▶ tables      (once)
//! step ─Observer, Space::encode─▶ ObservedState ─advance─▶ Position ─risk─▶ number, or unseen      (each step)
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;
use thiserror::Error;

use super::chain::Monitor;
use super::course::{Course, Tail};
use super::error::QueryError;
use super::evaluate::asked;
use super::session::Session;
use super::table::RiskTable;
use crate::abstraction::{Key, ObservedState, Space};
use crate::eval::{self, LimitError};
use crate::hir::reads::visit;
use crate::hir::{Claim, Expr, ModelSource, Spec};
use crate::ids::{AbstractionId, ClaimId, ExprId, FormulaId, ModelId, PropertyId};
use crate::learn::{Categories, ChainPosition, Model, ModelError, RowLimits, Subject};
use crate::value::{Cell, Truth, Value};
use guard_markov::Options;

/// Queries of a spec on one of its learned models, prepared for lookup.
#[derive(Debug)]
pub struct Forecast {
    pub(super) subject: Subject,
    categories: Categories,
    conditions: Vec<ExprId>,
    pub(super) truths: Truths,
    /// All monitors that some query needs.
    monitors: Vec<Monitor>,
    /// For each query: its monitors, by index in `monitors`.
    queries: Vec<Vec<usize>>,
    /// For each query that asks for a probability: the path formula.
    paths: Vec<Option<FormulaId>>,
    /// The tables, by category and query.
    pub(super) tables: BTreeMap<SmolStr, Vec<RiskTable>>,
}

/// The truth of conditions in the states that occurred in training, by index of the condition.
pub(super) type Truths = FxHashMap<Key, Box<[Truth]>>;

/// Queries on one model, and the conditions on single states that they read.
pub(super) struct Asked<'s> {
    spec: &'s Arc<Spec>,
    model: ModelId,
    pub(super) abstraction: AbstractionId,
    queries: &'s [ClaimId],
    pub(super) conditions: Vec<ExprId>,
    /// The properties that monitors track.
    monitored: Vec<PropertyId>,
}

impl<'s> Asked<'s> {
    /// Creates the queries. `named` is the abstraction named by the model file, if the spec names none.
    pub(super) fn new(
        spec: &'s Arc<Spec>,
        model: ModelId,
        queries: &'s [ClaimId],
        named: impl FnOnce() -> Result<AbstractionId, ForecastError>,
    ) -> Result<Asked<'s>, ForecastError> {
        let of = spec.model(model);
        if matches!(of.source, ModelSource::Import(_)) {
            return Err(ForecastError::Imported {
                model: of.name.clone(),
            });
        }
        let abstraction = of.abstraction().map_or_else(named, Ok)?;
        let decided = |property| spec.abstraction(abstraction).monitor_of(property).is_some();
        let claims = queries.iter().map(|query| spec.claim(*query));
        let (conditions, monitored) = asked(spec, claims, &decided);
        Ok(Asked {
            spec,
            model,
            abstraction,
            queries,
            conditions,
            monitored,
        })
    }

    pub(super) fn claims(&self) -> impl Iterator<Item = &'s Claim> {
        let spec = self.spec;
        self.queries.iter().map(|query| spec.claim(*query))
    }

    /// Returns the forecast for a space that no longer grows.
    pub(super) fn forecast(
        self,
        subject: Subject,
        tables: BTreeMap<SmolStr, Vec<RiskTable>>,
        truths: Truths,
        limits: &eval::Limits,
    ) -> Result<Forecast, ForecastError> {
        let spec = self.spec;
        let abstraction = spec.abstraction(self.abstraction);
        let decided = |property| abstraction.monitor_of(property).is_some();
        let own = |claim: &Claim| {
            let (_, monitors) = asked(spec, [claim], &decided);
            let place = |property| self.monitored.iter().position(|other| other == property);
            monitors.iter().filter_map(place).collect()
        };
        let queries = self.claims().map(own).collect();
        let paths = self
            .claims()
            .map(|claim| claim.probability_of(spec))
            .collect();
        let monitors = self
            .monitored
            .iter()
            .map(|property| Monitor::new(spec, *property, &self.conditions))
            .collect::<Result<_, _>>()
            .map_err(|error| ForecastError::Query {
                query: spec.model(self.model).name.clone(),
                error,
            })?;
        Ok(Forecast {
            categories: Categories::new(spec, subject.learn.by, limits)?,
            subject,
            conditions: self.conditions,
            truths,
            monitors,
            queries,
            paths,
            tables,
        })
    }
}

/// The position of a live trace on the chain: the steps that the chain remembers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Position {
    /// All possible states, in order; empty if there are too many to track.
    possible: Vec<PossibleState>,
    /// Whether there has been a step.
    begun: bool,
    /// The number of known steps since the last unknown one; at most as many as the chain remembers.
    known: u32,
}

/// One possible state of a position.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
struct PossibleState {
    /// The last states, oldest first.
    keys: Box<[Key]>,
    /// The states of all monitors.
    monitors: Box<[u32]>,
}

impl Position {
    /// Whether there has been a step.
    pub(crate) fn has_begun(&self) -> bool {
        self.begun
    }
}

/// The states of the chain of a query that a position may be: of each, what the chain remembers, and the states of the monitors of the
/// query.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChainStates(Vec<PossibleState>);

/// The greatest number of possible states of a position that is tracked.
const MOST_POSSIBLE: usize = 64;

/// The reason why queries cannot be prepared.
#[derive(Debug, Error)]
pub enum ForecastError {
    /// The model file cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A limit on expressions was exceeded.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A query cannot be solved.
    #[error("`{query}`: {error}")]
    Query {
        /// The name of the query.
        query: SmolStr,
        /// The cause.
        error: QueryError,
    },
    /// The stored solution does not match the spec.
    #[error("the tables stored for `{model}` are damaged or belong to another spec")]
    Kept {
        /// The model.
        model: SmolStr,
    },
    /// The model is an imported chain: no step of a trace corresponds to its states.
    #[error("`{model}` is an imported chain: steps of a trace have no state in it")]
    Imported {
        /// The model.
        model: SmolStr,
    },
}

impl Forecast {
    /// Solves queries on the chains of a model file, once for all states.
    ///
    /// # Errors
    /// See [`ForecastError`].
    pub fn new(
        spec: &Arc<Spec>,
        model: ModelId,
        file: &Model,
        queries: &[ClaimId],
        limits: &eval::Limits,
        (rows, options): (RowLimits, &Options),
    ) -> Result<Forecast, ForecastError> {
        let asked = Asked::new(spec, model, queries, || {
            Ok(file.header.abstraction(spec)?)
        })?;
        let conditions = &asked.conditions;
        let (mut subject, counts) = Subject::open(spec, model, file, conditions, limits)?;
        let mut tables: BTreeMap<SmolStr, Vec<RiskTable>> = BTreeMap::new();
        let mut truths: Truths = FxHashMap::default();
        for (category, counts) in &counts {
            let session = Session::<f64>::learned(&subject, counts, rows, options.clone());
            let mut of_category = Vec::with_capacity(queries.len());
            for claim in asked.claims() {
                let found = session.table(claim).map_err(|error| ForecastError::Query {
                    query: claim.name.clone(),
                    error,
                })?;
                let (rows, table) = found.ok_or_else(|| ForecastError::Imported {
                    model: spec.model(model).name.clone(),
                })?;
                of_category.push(table);
                let mut rules = subject.space.rules(&subject.rules);
                for key in rows.places.iter().filter_map(ChainPosition::key) {
                    truths.entry(key).or_insert_with(|| {
                        let conditions = 0..conditions.len();
                        conditions.map(|asked| rules.holds(asked, key)).collect()
                    });
                }
            }
            tables.insert(category.clone(), of_category);
        }
        // A live trace may come to a text that no trace had, and that a query names.
        subject.space.know(&texts_of(spec, conditions));
        // Live traces must not add states to the space.
        subject.space.close();
        asked.forecast(subject, tables, truths, limits)
    }

    /// Returns the model of the tables.
    pub fn subject(&self) -> &Subject {
        &self.subject
    }

    /// Whether a condition that the queries read holds in a state.
    pub fn holds(&self, condition: ExprId, key: Key) -> Truth {
        let place = self.conditions.iter().position(|asked| *asked == condition);
        let Some(place) = place else {
            return Truth::Unknown;
        };
        match self.truths.get(&key) {
            Some(truths) => truths[place],
            None => {
                let mut rules = self.subject.space.rules(&self.subject.rules);
                rules.holds(place, key)
            }
        }
    }

    /// Whether a property that a monitor of the queries tracks is violated at a position; if the run has ended there,
    /// pending obligations count as violated. `None` if no monitor tracks it.
    pub fn violated(
        &self,
        property: PropertyId,
        position: &Position,
        ended: bool,
    ) -> Option<Truth> {
        let place = self
            .monitors
            .iter()
            .position(|one| one.property == property)?;
        let mut found = position.possible.iter().map(|possible_state| {
            self.monitors[place].is_violated(possible_state.monitors[place], ended)
        });
        let first = found.next().unwrap_or_default();
        let agree = !position.possible.is_empty() && found.all(|other| other == first);
        Some(if agree {
            Truth::from(first)
        } else {
            Truth::Unknown
        })
    }

    /// Returns the state space, which converts the steps of a trace to states ([`Space::program`], [`Space::encode`]).
    pub fn space(&self) -> &Space {
        &self.subject.space
    }

    /// Returns the category of a live trace from the known facts of its record. Returns `None` if it is not known yet, and
    /// the empty category if the model does not distinguish categories.
    pub(crate) fn known_category(&self, meta: &[Cell]) -> Option<SmolStr> {
        match self.subject.learn.by {
            Some(_) => self.categories.of(meta),
            None => Some(SmolStr::default()),
        }
    }

    /// Returns the category of a trace whose record has these facts. Without categories it is empty.
    pub fn category(&self, meta: &[Cell]) -> SmolStr {
        self.category_of(self.categories.of(meta).as_ref())
    }

    /// Returns the category for this value of `by`: `unknown` without a value, empty if the model has no categories.
    pub fn category_of(&self, by: Option<&SmolStr>) -> SmolStr {
        match (by, self.subject.learn.by) {
            (_, None) => SmolStr::default(),
            (Some(category), Some(_)) => category.clone(),
            (None, Some(_)) => SmolStr::new_static("unknown"),
        }
    }

    /// Whether the training data contains traces of this category.
    pub fn knows(&self, category: &str) -> bool {
        self.tables.contains_key(category)
    }

    /// Whether the model distinguishes categories of traces.
    pub(crate) fn has_categories(&self) -> bool {
        self.subject.learn.by.is_some()
    }

    /// Returns the position before the first step.
    pub fn begin(&self) -> Position {
        Position {
            possible: vec![PossibleState {
                keys: self.subject.space.start().into_iter().collect(),
                monitors: self.monitors.iter().map(Monitor::initial).collect(),
            }],
            begun: false,
            known: self.order(),
        }
    }

    /// Whether a deserialised position can be the position of a trace.
    pub fn fits(&self, position: &Position) -> bool {
        let order = self.order() as usize;
        position.known <= self.order()
            && position.possible.len() <= MOST_POSSIBLE
            && position.possible.iter().all(|possible_state| {
                let states = possible_state.monitors.iter().zip(&self.monitors);
                possible_state.keys.len() <= order
                    && possible_state.monitors.len() == self.monitors.len()
                    && states
                        .into_iter()
                        .all(|(state, of)| (*state as usize) < of.len())
            })
    }

    fn order(&self) -> u32 {
        self.subject.learn.order.max(1)
    }

    /// Advances by the observed state of a step; an event that is not a step of the chain changes nothing.
    ///
    /// An unknown state makes the position unknown until as many consecutive states are known as the chain remembers;
    /// the states of monitors stay unknown from then on.
    pub fn advance(&self, position: &mut Position, observed_state: &ObservedState) {
        let keys: &[Key] = match observed_state {
            ObservedState::NoStep => return,
            ObservedState::Unknown => {
                *position = self.anywhere();
                return;
            }
            ObservedState::One(key) => std::slice::from_ref(key),
            ObservedState::Several(keys) => keys,
        };
        let order = self.order() as usize;
        let mut next = Vec::with_capacity(position.possible.len() * keys.len());
        for key in keys {
            for possible_state in &position.possible {
                let mut remembered = possible_state.keys.to_vec();
                remembered.push(*key);
                let keys: Box<[Key]> = remembered[remembered.len().saturating_sub(order)..].into();
                self.monitors_after(&possible_state.monitors, *key, &mut |monitors| {
                    next.push(PossibleState {
                        keys: keys.clone(),
                        monitors,
                    });
                });
            }
            if next.len() > MOST_POSSIBLE * MOST_POSSIBLE {
                break;
            }
        }
        next.sort_unstable();
        next.dedup();
        if next.len() > MOST_POSSIBLE {
            next.clear();
        }
        position.possible = next;
        position.begun = true;
        position.known = (position.known + 1).min(self.order());
    }

    /// Returns the position after at least one step, with nothing else known.
    fn anywhere(&self) -> Position {
        let mut monitors: Vec<Vec<u32>> = vec![Vec::new()];
        for monitor in &self.monitors {
            if monitors.len() * monitor.len() > MOST_POSSIBLE {
                monitors.clear();
                break;
            }
            let with = |before: &Vec<u32>| {
                let before = before.clone();
                (0..monitor.len() as u32).map(move |state| {
                    let mut next = before.clone();
                    next.push(state);
                    next
                })
            };
            monitors = monitors.iter().flat_map(with).collect();
        }
        let possible_state = |monitors: Vec<u32>| PossibleState {
            keys: [].into(),
            monitors: monitors.into(),
        };
        Position {
            possible: monitors.into_iter().map(possible_state).collect(),
            begun: true,
            known: 0,
        }
    }

    /// Returns the possible states of the monitors after a step to a state.
    fn monitors_after(&self, before: &[u32], key: Key, each: &mut dyn FnMut(Box<[u32]>)) {
        if self.monitors.is_empty() {
            each([].into());
            return;
        }
        let asked;
        let truths: &[Truth] = match self.truths.get(&key) {
            Some(truths) => truths,
            None => {
                // A state that no training trace has visited.
                let mut rules = self.subject.space.rules(&self.subject.rules);
                asked = (0..self.conditions.len())
                    .map(|condition| rules.holds(condition, key))
                    .collect::<Vec<_>>();
                &asked
            }
        };
        let holds = |place: usize| truths.get(place).copied().unwrap_or(Truth::Unknown);
        let mut after: Vec<Vec<u32>> = vec![Vec::new()];
        for (monitor, before) in self.monitors.iter().zip(before) {
            let next = monitor.after(*before, &holds);
            after = after
                .iter()
                .flat_map(|states| {
                    next.iter().map(move |state| {
                        let mut states = states.clone();
                        states.push(*state);
                        states
                    })
                })
                .take(MOST_POSSIBLE * MOST_POSSIBLE)
                .collect();
        }
        for states in after {
            each(states.into());
        }
    }

    /// Returns the number of a query (by its index among those given to [`Forecast::new`]) at a position: the largest over all
    /// possible states. Returns `None` if the training data does not contain the category, the state, or one of the possible
    /// states.
    pub fn risk(&self, query: usize, position: &Position, category: &str) -> Option<f64> {
        let outlook = self.outlook(query, position, Some(category));
        outlook.highest.filter(|_| !outlook.unseen)
    }

    /// Returns the tables of a query for a category, or for all categories if it is unknown.
    pub(super) fn tables_of(
        &self,
        query: usize,
        category: Option<&str>,
    ) -> impl Iterator<Item = &RiskTable> {
        let one = category.map(|category| self.tables.get(category));
        let all = one.is_none().then(|| self.tables.values());
        one.flatten()
            .into_iter()
            .chain(all.into_iter().flatten())
            .filter_map(move |tables| tables.get(query))
    }

    /// Whether as many consecutive states are known as the chain remembers.
    pub(super) fn is_known(&self, position: &Position) -> bool {
        position.known >= self.order() && !position.possible.is_empty()
    }

    /// Calls `each` with every possible state of a position, by its number in the tables of a query.
    pub(super) fn each(
        &self,
        query: usize,
        position: &Position,
        each: &mut dyn FnMut(&[Key], &[u32]),
    ) {
        let Some(of) = self.queries.get(query) else {
            return;
        };
        let all = of.iter().copied().eq(0..self.monitors.len());
        for possible_state in &position.possible {
            if all {
                each(&possible_state.keys, &possible_state.monitors);
            } else {
                let own: Vec<u32> = of
                    .iter()
                    .map(|place| possible_state.monitors[*place])
                    .collect();
                each(&possible_state.keys, &own);
            }
        }
    }

    /// Whether a query has a number in some states that no training trace has visited.
    pub(crate) fn may_settle(&self, query: usize) -> bool {
        self.paths.get(query).is_some_and(Option::is_some)
    }

    /// Returns the probability that a query asks for in a state that no training trace has visited, if the state decides it whatever
    /// follows: that of `F a` is 1 where `a` holds.
    pub(super) fn settled(&self, query: usize, keys: &[Key], monitors: &[u32]) -> Option<f64> {
        let path = (*self.paths.get(query)?)?;
        let key = *keys.last()?;
        let tracked = self.queries.get(query)?;
        let course = Course {
            spec: self.space().spec(),
            len: 1,
            tail: Tail::Open,
            holds: &|condition, _| self.holds(condition, key),
            violated: &|property, at| {
                let mut own = tracked.iter().map(|place| &self.monitors[*place]);
                let place = own.position(|monitor| monitor.property == property)?;
                Some(match at {
                    0 => self.monitors[tracked[place]]
                        .is_violated(monitors[place], false)
                        .into(),
                    _ => Truth::Unknown,
                })
            },
        };
        match course.path(path).ok()?.first()? {
            Truth::True => Some(1.0),
            Truth::False => Some(0.0),
            Truth::Unknown => None,
        }
    }

    /// Returns the states of the chain of a query that a position may be.
    pub fn states(&self, query: usize, position: &Position) -> ChainStates {
        let mut states = Vec::with_capacity(position.possible.len());
        self.each(query, position, &mut |keys, monitors| {
            states.push(PossibleState {
                keys: keys.into(),
                monitors: monitors.into(),
            });
        });
        // They differ in monitors of other queries alone.
        states.dedup();
        ChainStates(states)
    }

    /// Returns the name of states of the chain of a query, as answers for all states have it.
    pub fn name(&self, query: usize, states: &ChainStates) -> String {
        let own = self.queries.get(query).into_iter().flatten();
        let own: Vec<&Monitor> = own.map(|place| &self.monitors[*place]).collect();
        let name = |of: &PossibleState| {
            let parts: Vec<String> = of
                .keys
                .iter()
                .map(|key| self.space().describe(*key))
                .collect();
            let mut name = parts.join(" → ");
            for (monitor, state) in own.iter().zip(&of.monitors) {
                let property = &self.space().spec().property(monitor.property).name;
                name.push_str(&format!(", {property}@{state}"));
            }
            name
        };
        let names: Vec<String> = states.0.iter().map(name).collect();
        names.join(" or ")
    }

    /// Returns a readable form of a position: `exposure=credentials, reach=network`.
    pub fn describe(&self, position: &Position) -> String {
        if !position.begun {
            return "start".to_owned();
        }
        let mut keys = position
            .possible
            .iter()
            .filter_map(|possible_state| possible_state.keys.last().copied());
        match (keys.next(), position.known) {
            (Some(first), 1..) if keys.all(|key| key == first) => self.space().describe(first),
            (Some(_), 1..) => "one of several states".to_owned(),
            _ => "unknown".to_owned(),
        }
    }
}

/// Returns the texts that conditions name.
fn texts_of(spec: &Spec, conditions: &[ExprId]) -> Vec<SmolStr> {
    fn add(value: &Value, texts: &mut Vec<SmolStr>) {
        match value {
            Value::String(text) => texts.push(SmolStr::new(text.as_str())),
            Value::List(values) => values.iter().for_each(|value| add(value, texts)),
            Value::Set(values) => values.iter().for_each(|value| add(value, texts)),
            _ => {}
        }
    }
    let mut texts = Vec::new();
    visit(spec, conditions.iter().copied(), |id| {
        if let Expr::Const(value) = spec.exprs.get(id) {
            add(value, &mut texts);
        }
    });
    texts
}
