//! Compares predictions with recorded outcomes: `guard calibrate`.
//!
//! ```text
//! held-out traces ─Walker─▶ walks ─┬─ Forecast: what the model says after each step
//!                                  └─ outcome: what then happened            ─▶ score, roc, states
//!                     counts of walks against counts of the model            ─▶ homogeneity
//! ```
//!
//! Two questions are kept apart. *Are the probabilities right?* ([`Brier`], [`Bin`], [`StateCheck`]) and *do they warn in
//! time?* ([`Area`], [`Point`], [`Choice`]): a model may rank runs well and predict wrong probabilities, or the reverse. The
//! third question is whether a Markov chain of that kind describes the agent ([`Quality`]): whether its order should be higher,
//! whether categories may be pooled, whether the agent has changed since learning.
//!
//! The module opens no files and uses no random numbers: intervals are computed by formulas, not by resampling.

mod homogeneity;
mod memory;
mod pictures;
mod report;
mod roc;
mod score;
mod tally;

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use crate::abstraction::{Key, ObservedState};
use crate::hir::{Binary, Bound, Claim, Formula, Spec, Unary};
use crate::ids::{ClaimId, FormulaId};
use crate::learn::{Counts, Ending, InvalidPolicy, Walk};
use crate::query::{ChainStates, Course, Forecast, Position, QueryError, Tail};
use crate::value::Truth;
use guard_markov::interval::confidence::clopper_pearson;

pub(crate) use homogeneity::{GTest, RowTest};
pub(crate) use memory::{Order, RiskMove};
pub(crate) use pictures::drift_picture;
pub(crate) use report::{drift_json, write_drift};
pub(crate) use roc::{Area, Choice, Point};
pub(crate) use score::{Bin, Brier};

use tally::{Run, Tally, Visits};

/// The settings of a report.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    /// Thresholds that are always reported.
    pub thresholds: Vec<f64>,
    /// The greatest proportion of false alarms of a chosen threshold.
    pub false_alarms: f64,
}

/// The results for one query.
#[derive(Clone, Debug)]
pub(crate) struct QueryCalibration {
    /// Its name.
    pub query: SmolStr,
    /// Its text in the spec.
    pub text: SmolStr,
    /// The traces in which the event happened, did not happen, and that ended before it was known; `None` if the formula
    /// names no event, and nothing else says which traces are bad.
    pub traces: Option<(u64, u64, u64)>,
    /// The number of forecasts in states that no training trace has visited, for which there is no number.
    pub unseen: u64,
    /// The number of forecasts with unknown outcome.
    pub open: u64,
    /// The quality of the probabilities.
    pub brier: Option<Brier>,
    /// By tenths of probability.
    pub bins: Vec<Bin>,
    /// The discrimination between runs; `None` if the formula names no event, or all runs are of one kind.
    pub area: Option<Area>,
    /// The results of thresholds.
    pub points: Vec<Point>,
    /// Thresholds that were chosen.
    pub choices: Vec<Choice>,
    /// The most visited states first: the prediction of the model, and the observed share.
    pub states: Vec<StateCheck>,
    /// The change of the risk with a longer memory; empty if the formula is not about one event, ever or within a number of
    /// steps.
    pub memory: Vec<RiskMove>,
}

/// The prediction of the model for a state, compared with the traces that visited it, for which no Markov chain is assumed.
#[derive(Clone, Debug)]
pub(crate) struct StateCheck {
    /// The state.
    pub state: String,
    /// The number of the model.
    pub risk: f64,
    /// Traces that visited it.
    pub traces: u64,
    /// Of these, from their first visit on: the number in which the event happened, and the number in which that is
    /// unknown.
    pub happened: u64,
    /// The number of traces in which it is unknown.
    pub open: u64,
    /// A 95 % interval of the proportion, with unknown outcomes counted both ways (Clopper-Pearson).
    pub interval: (f64, f64),
}

impl StateCheck {
    /// Whether the number of the model lies within the interval.
    pub(crate) fn agrees(&self) -> bool {
        (self.interval.0..=self.interval.1).contains(&self.risk)
    }
}

/// The tests of whether a chain of this kind describes the agent.
#[derive(Clone, Debug)]
pub(crate) struct Quality {
    /// The comparison of chain orders.
    pub orders: Vec<Order>,
    /// Whether late steps have the same distribution as early ones.
    pub halves: Vec<RowTest>,
    /// Whether categories have the same distribution; empty without categories.
    pub categories: Vec<RowTest>,
    /// Whether the traces have the same distribution as the training traces.
    pub drift: Vec<RowTest>,
    /// Observed steps that the abstraction declares impossible.
    pub impossible: Vec<String>,
}

/// A walk with its positions on the chain.
struct Followed {
    /// Before the first step, then after each.
    positions: Vec<Position>,
    keys: Vec<Key>,
    tail: Tail,
    category: SmolStr,
}

/// Compares the queries of a forecast with walks. `queries` are those of the forecast, in their order; `labels` give, by the
/// name of a trace, whether it is bad, if that is known from another source.
///
/// # Errors
/// See [`QueryError`]; with the name of the query.
pub(crate) fn calibrate(
    forecast: &Forecast,
    queries: &[ClaimId],
    walks: &[Walk],
    labels: Option<&BTreeMap<String, bool>>,
    settings: &Settings,
) -> Result<Vec<QueryCalibration>, (SmolStr, QueryError)> {
    let spec = forecast.space().spec();
    let mut absorbing: FxHashMap<Key, bool> = FxHashMap::default();
    let subject = forecast.subject();
    let mut rules = subject.space.rules(&subject.rules);
    let mut is_absorbing = |key: Key| {
        *absorbing
            .entry(key)
            .or_insert_with(|| rules.is_absorbing(key))
    };
    let courses: Vec<Followed> = walks
        .iter()
        .map(|walk| follow(forecast, walk, &mut is_absorbing))
        .collect();
    let mut found = Vec::with_capacity(queries.len());
    for (place, query) in queries.iter().enumerate() {
        let claim = spec.claim(*query);
        let one = One {
            forecast,
            spec,
            claim,
            place,
        };
        let wrong = |error| (claim.name.clone(), error);
        found.push(
            one.calibrate(walks, &courses, labels, settings)
                .map_err(wrong)?,
        );
    }
    Ok(found)
}

fn follow(forecast: &Forecast, walk: &Walk, absorbing: &mut dyn FnMut(Key) -> bool) -> Followed {
    let mut position = forecast.begin();
    let mut positions = vec![position.clone()];
    let mut tail = match walk.ending {
        Ending::Complete => Tail::End,
        Ending::Censored | Ending::Unknown => Tail::Open,
    };
    let mut keys = Vec::with_capacity(walk.keys.len());
    for key in &walk.keys {
        forecast.advance(&mut position, &ObservedState::One(*key));
        positions.push(position.clone());
        keys.push(*key);
        if absorbing(*key) {
            tail = Tail::Stays;
            break;
        }
    }
    Followed {
        positions,
        keys,
        tail,
        category: forecast.category_of(walk.category.as_ref()),
    }
}

/// The calibration of one query.
struct One<'a> {
    forecast: &'a Forecast,
    spec: &'a Spec,
    claim: &'a Claim,
    place: usize,
}

impl One<'_> {
    fn calibrate(
        &self,
        walks: &[Walk],
        courses: &[Followed],
        labels: Option<&BTreeMap<String, bool>>,
        settings: &Settings,
    ) -> Result<QueryCalibration, QueryError> {
        let path = self
            .claim
            .probability_of(self.spec)
            .ok_or(QueryError::Condition)?;
        let event = event(self.spec, path);
        let turned = event.is_some_and(|event| event.turned);
        let mut tally = Tally::default();
        for (number, (walk, course)) in walks.iter().zip(courses).enumerate() {
            let run = self.run(course, path, event)?;
            let label = labels.map(|labels| labels.get(walk.trace.as_str()).copied());
            tally.remember(&run);
            tally.compare(&run, number);
            tally.score(&run, label, turned);
        }
        let mut found = QueryCalibration {
            query: self.claim.name.clone(),
            text: self.claim.text.clone(),
            traces: None,
            unseen: tally.unseen,
            open: tally.open,
            brier: score::brier(&tally.forecasts),
            bins: score::bins(&tally.forecasts),
            area: None,
            points: Vec::new(),
            choices: Vec::new(),
            states: self.states(tally.visits),
            memory: match self.horizon(path) {
                Some(horizon) => self.memory(&tally.remembered, horizon),
                None => Vec::new(),
            },
        };
        if event.is_some() || labels.is_some() {
            let runs = &tally.runs;
            let bad = runs.iter().filter(|run| run.bad).count() as u64;
            found.traces = Some((bad, runs.len() as u64 - bad, tally.undecided));
            found.area = roc::area(runs);
            found.choices = roc::choices(runs, settings.false_alarms);
            found.points = if settings.thresholds.is_empty() {
                roc::curve(runs)
            } else {
                let each = settings.thresholds.iter();
                each.map(|at| roc::point(runs, *at)).collect()
            };
        }
        Ok(found)
    }

    /// Follows the forecast of a run, and looks for what it forecasts.
    fn run<'c>(
        &self,
        course: &'c Followed,
        path: FormulaId,
        event: Option<Event>,
    ) -> Result<Run<'c>, QueryError> {
        let (begin, after) = self.course(course, |course| course.outcomes(path))?;
        let at = match event {
            Some(event) => {
                let values = self.course(course, |course| course.path(event.of))?;
                values[..course.keys.len()]
                    .iter()
                    .position(|truth| *truth == Truth::from(event.wanted))
            }
            None => None,
        };
        let risk = |position: &Position| {
            self.forecast
                .risk(self.place, position, &course.category)
                .filter(|risk| risk.is_finite())
        };
        let states = |position: &Position| self.forecast.states(self.place, position);
        // After the event there is no forecast to compare.
        let up_to = at.map_or(course.positions.len(), |at| at + 1);
        Ok(Run {
            course,
            risks: course.positions[..up_to].iter().map(risk).collect(),
            states: course.positions[1..up_to].iter().map(states).collect(),
            outcomes: std::iter::once(begin).chain(after).collect(),
            at,
        })
    }

    /// Returns the number of steps within which the formula requires or forbids an event, if that is all it requires.
    fn horizon(&self, path: FormulaId) -> Option<Option<u32>> {
        match self.spec.formulas.get(path) {
            Formula::Not(of) => self.horizon(*of),
            Formula::Unary(Unary::Eventually | Unary::Always, bound, _) => match bound {
                None => Some(None),
                Some(Bound::Steps(0, last)) => Some(Some(*last)),
                Some(_) => None,
            },
            _ => None,
        }
    }

    /// Computes the change of the risk with the length of memory, from the states of runs up to the feared event, and their
    /// ends.
    fn memory(&self, runs: &[(&[Key], Option<u32>)], horizon: Option<u32>) -> Vec<RiskMove> {
        let (names, symbols) = numbered(self.forecast, runs, memory::END + 1);
        let runs: Vec<Vec<u32>> = runs
            .iter()
            .map(|(keys, last)| {
                let states = keys.iter().filter_map(|key| symbols.get(key)).copied();
                states.chain(*last).collect()
            })
            .collect();
        memory::moves(&runs, horizon, &|symbol| {
            let at = symbol.checked_sub(memory::END + 1)?;
            names.get(at as usize).map(|name| name.as_str())
        })
    }

    fn states(&self, visits: FxHashMap<(SmolStr, ChainStates), Visits>) -> Vec<StateCheck> {
        let mut found: Vec<StateCheck> = visits
            .into_iter()
            .map(|((category, states), of)| {
                let name = self.forecast.name(self.place, &states);
                StateCheck {
                    state: if category.is_empty() {
                        name
                    } else {
                        format!("{name} ({category})")
                    },
                    risk: of.risk,
                    traces: of.traces,
                    happened: of.happened,
                    open: of.open,
                    interval: (
                        clopper_pearson(of.happened, of.traces, 0.05).0,
                        clopper_pearson(of.happened + of.open, of.traces, 0.05).1,
                    ),
                }
            })
            .collect();
        found.sort_by(|left, right| {
            right
                .traces
                .cmp(&left.traces)
                .then_with(|| left.state.cmp(&right.state))
        });
        found
    }

    fn course<T>(&self, of: &Followed, ask: impl FnOnce(&Course<'_>) -> T) -> T {
        let last = of.positions.len() - 1;
        let holds = |expr, at: usize| self.forecast.holds(expr, of.keys[at]);
        let violated = |property, at: usize| match (at < of.keys.len(), of.tail) {
            (true, _) => self
                .forecast
                .violated(property, &of.positions[at + 1], false),
            (false, Tail::Open) => Some(Truth::Unknown),
            (false, tail) => {
                let ended = tail == Tail::End;
                self.forecast.violated(property, &of.positions[last], ended)
            }
        };
        ask(&Course {
            spec: self.spec,
            len: of.keys.len(),
            tail: of.tail,
            holds: &holds,
            violated: &violated,
        })
    }
}

/// The feared event, if a path formula is about reaching or avoiding one.
#[derive(Clone, Copy)]
struct Event {
    /// The formula of the event.
    of: FormulaId,
    /// Whether the event happens when the formula becomes true.
    wanted: bool,
    /// Whether the formula of the query forbids it.
    turned: bool,
}

fn event(spec: &Spec, path: FormulaId) -> Option<Event> {
    let (of, wanted, turned) = match spec.formulas.get(path) {
        Formula::Not(of) => {
            let event = event(spec, *of)?;
            return Some(Event {
                turned: !event.turned,
                ..event
            });
        }
        Formula::Unary(Unary::Eventually, _, of) | Formula::Binary(Binary::Until, _, _, of) => {
            (*of, true, false)
        }
        Formula::Unary(Unary::Always, _, of) => (*of, false, true),
        _ => return None,
    };
    Some(Event { of, wanted, turned })
}

/// Tests whether chains of this kind describe the walks. `trained` are the counts of the model by category.
pub(crate) fn quality(
    forecast: &Forecast,
    trained: &BTreeMap<SmolStr, Counts>,
    walks: &[Walk],
) -> Quality {
    let subject = forecast.subject();
    let mut counter = subject.counter(InvalidPolicy::Declare);
    for walk in walks {
        counter.add(walk);
    }
    let (live, _) = counter.finish();
    let runs = runs(forecast, walks);
    let (trained_rows, live_rows) = (rows(forecast, trained), rows(forecast, &live));
    let pair = |name: &RowName| {
        let empty = BTreeMap::new();
        let of = |rows: &'_ BTreeMap<RowName, Targets>| rows.get(name).unwrap_or(&empty).clone();
        table(&[of(&trained_rows), of(&live_rows)])
    };
    let drift = live_rows
        .keys()
        .filter_map(|name| Some((name.text(), homogeneity::same_law(&pair(name))?)));
    let mut of_states: BTreeMap<&str, Vec<Targets>> = BTreeMap::new();
    for (name, targets) in &trained_rows {
        of_states
            .entry(&name.state)
            .or_default()
            .push(targets.clone());
    }
    let categories = of_states.into_iter().filter_map(|(state, rows)| {
        Some((state.to_owned(), homogeneity::same_law(&table(&rows))?))
    });
    Quality {
        orders: memory::orders(&symbols(forecast, &runs)),
        halves: homogeneity::discoveries(halves(forecast, &runs)),
        categories: homogeneity::discoveries(categories.collect()),
        drift: homogeneity::discoveries(drift.collect()),
        impossible: impossible(forecast, walks),
    }
}

/// Compares the rows of two models.
pub(crate) fn drift(
    forecast: &Forecast,
    first: &BTreeMap<SmolStr, Counts>,
    second: &BTreeMap<SmolStr, Counts>,
) -> Vec<RowTest> {
    let (first, second) = (rows(forecast, first), rows(forecast, second));
    let of = |name: &RowName, rows: &BTreeMap<RowName, Targets>| {
        rows.get(name).cloned().unwrap_or_default()
    };
    let tests = first.keys().filter_map(|name| {
        let test = homogeneity::same_law(&table(&[of(name, &first), of(name, &second)]))?;
        Some((name.text(), test))
    });
    homogeneity::discoveries(tests.collect())
}

/// A row: its memory and its category, as text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct RowName {
    state: String,
    category: SmolStr,
}

impl RowName {
    fn text(&self) -> String {
        if self.category.is_empty() {
            self.state.clone()
        } else {
            format!("{} ({})", self.state, self.category)
        }
    }
}

/// The successors by name, with counts.
type Targets = BTreeMap<String, u64>;

fn rows(forecast: &Forecast, counts: &BTreeMap<SmolStr, Counts>) -> BTreeMap<RowName, Targets> {
    let space = forecast.space();
    let mut found: BTreeMap<RowName, Targets> = BTreeMap::new();
    for (category, counts) in counts {
        let name = |keys: &[Key]| {
            let words: Vec<String> = keys.iter().map(|key| space.describe(*key)).collect();
            RowName {
                state: if words.is_empty() {
                    "start".to_owned()
                } else {
                    words.join(" → ")
                },
                category: category.clone(),
            }
        };
        for edge in counts.edges.iter().filter(|edge| edge.count > 0) {
            let row = found
                .entry(name(&counts.nodes[edge.from.index()]))
                .or_default();
            if let Some(to) = counts.nodes[edge.to.index()].last() {
                *row.entry(space.describe(*to)).or_default() += edge.count;
            }
        }
        for (keys, ends) in counts.nodes.iter().zip(&counts.ends) {
            if *ends > 0 {
                let row = found.entry(name(keys)).or_default();
                *row.entry("end".to_owned()).or_default() += ends;
            }
        }
    }
    found
}

fn table(rows: &[Targets]) -> Vec<Vec<u64>> {
    let mut columns: Vec<&String> = rows.iter().flat_map(BTreeMap::keys).collect();
    columns.sort_unstable();
    columns.dedup();
    let cells = |row: &Targets| {
        let cell = |column: &&String| row.get(*column).copied().unwrap_or(0);
        columns.iter().map(cell).collect()
    };
    rows.iter().map(cells).collect()
}

/// Returns the states of each walk up to the first absorbing state, and whether the run ended there.
fn runs<'w>(forecast: &Forecast, walks: &'w [Walk]) -> Vec<(&'w [Key], bool)> {
    let subject = forecast.subject();
    let mut rules = subject.space.rules(&subject.rules);
    let mut run = |walk: &'w Walk| {
        let caught = walk.keys.iter().position(|key| rules.is_absorbing(*key));
        match caught {
            Some(at) => (&walk.keys[..=at], false),
            None => (&walk.keys[..], walk.ending == Ending::Complete),
        }
    };
    walks.iter().map(&mut run).collect()
}

/// Numbers the states of runs from `first` on in the order of their names, so that results do not depend on the order of
/// traces.
fn numbered<T>(
    forecast: &Forecast,
    runs: &[(&[Key], T)],
    first: u32,
) -> (Vec<String>, FxHashMap<Key, u32>) {
    let mut names: BTreeMap<String, Key> = BTreeMap::new();
    for key in runs.iter().flat_map(|(keys, _)| *keys) {
        names.insert(forecast.space().describe(*key), *key);
    }
    let numbers = names.values().copied().zip(first..).collect();
    (names.into_keys().collect(), numbers)
}

/// Returns runs as symbols from 1 on; the symbol of the end follows those of all states.
fn symbols(forecast: &Forecast, runs: &[(&[Key], bool)]) -> Vec<Vec<u32>> {
    let (names, of) = numbered(forecast, runs, 1);
    let end = names.len() as u32 + 1;
    runs.iter()
        .map(|(keys, ended)| {
            let states = keys.iter().filter_map(|key| of.get(key)).copied();
            states.chain(ended.then_some(end)).collect()
        })
        .collect()
}

/// Returns the successors of each state at early and at late steps: before and from the step at which half of all
/// transitions have happened. (The position within the length of a run would depend on its successors.)
fn halves(forecast: &Forecast, runs: &[(&[Key], bool)]) -> Vec<(String, GTest)> {
    let mut steps: Vec<usize> = runs
        .iter()
        .flat_map(|(keys, ended)| 0..(keys.len() + usize::from(*ended)).saturating_sub(1))
        .collect();
    steps.sort_unstable();
    let middle = steps.get(steps.len() / 2).copied().unwrap_or(0);
    let mut found: BTreeMap<String, [Targets; 2]> = BTreeMap::new();
    for (keys, ended) in runs {
        let name = |key: &Key| forecast.space().describe(*key);
        let last = ended.then(|| "end".to_owned());
        let next = keys.iter().skip(1).map(name).chain(last);
        for (at, (key, target)) in keys.iter().zip(next).enumerate() {
            let row = found.entry(name(key)).or_default();
            *row[usize::from(at >= middle)].entry(target).or_default() += 1;
        }
    }
    let tests = found
        .into_iter()
        .filter_map(|(state, halves)| Some((state, homogeneity::same_law(&table(&halves))?)));
    tests.collect()
}

fn impossible(forecast: &Forecast, walks: &[Walk]) -> Vec<String> {
    let subject = forecast.subject();
    let mut counter = subject.counter(InvalidPolicy::Quarantine);
    for walk in walks {
        counter.add(walk);
    }
    let (_, invalid) = counter.finish();
    let space = &subject.space;
    let name = |key: Option<Key>, none: &str| {
        key.map_or_else(|| none.to_owned(), |key| space.describe(key))
    };
    invalid
        .iter()
        .map(|found| {
            let (from, to) = (name(found.from, "start"), name(found.to, "end"));
            format!("{}: {from} → {to}", found.trace)
        })
        .collect()
}
