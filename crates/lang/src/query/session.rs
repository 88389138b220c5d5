//! Evaluation of several claims on one chain, with shared results.
//!
//! A learned chain has several forms: with all declared transitions and smoothing, or only with observed transitions; and with
//! the monitors of a claim. Each form is built when the first claim needs it. On each form a condition is labelled once and a
//! query solved once for all claims.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::answer::{ClaimAnswer, Figure, Graphs};
use super::chain::{Learned, Vertex};
use super::error::QueryError;
use super::evaluate::{Evaluation, asked, evidence};
use super::guarantee::{Confidence, Pac, pac};
use super::runs::{Event, guaranteed, observed};
use super::table::RiskTable;
use super::why::Reasons;
use crate::hir::{Claim, Logic, Spec};
use crate::ids::PropertyId;
use crate::learn::{Counts, RowLimits, Rows, Subject};
use guard_automata::graph::backward;
use guard_markov::{Chain, Options, Scalar};

/// Chains with more transitions have no intervals, because their rows would be optimised repeatedly.
const MOST_BOUNDED: usize = 200_000;

/// A chain of a model, prepared for claims.
#[derive(Debug)]
pub struct Session<'a, V: Scalar> {
    options: Options,
    source: ChainSource<'a, V>,
}

#[derive(Debug)]
enum ChainSource<'a, V: Scalar> {
    Learned(Box<Counted<'a, V>>),
    Imported(Box<Evaluation<'a, V>>),
}

/// Counts, and the forms that were built from them.
#[derive(Debug)]
struct Counted<'a, V: Scalar> {
    subject: &'a Subject,
    counts: &'a Counts,
    limits: RowLimits,
    /// The rows with all declared transitions.
    declared: OnceCell<Rc<Rows>>,
    /// The rows with observed transitions.
    seen: OnceCell<Rc<Rows>>,
    forms: RefCell<Vec<Rc<Form<'a, V>>>>,
}

/// A learned chain with monitors.
#[derive(Debug)]
struct Form<'a, V: Scalar> {
    smoothing: f64,
    is_declared: bool,
    monitors: Vec<PropertyId>,
    rows: Rc<Rows>,
    learned: Rc<Learned<V>>,
    evaluation: Evaluation<'a, V>,
}

/// A chain for drawing, with its states in the order of [`ClaimAnswer::per_state`].
#[derive(Clone, Debug)]
pub struct Drawing {
    /// The names of the states.
    pub names: Vec<String>,
    /// The state in which runs begin.
    pub start: u32,
    /// Transitions: from, to, probability.
    pub edges: Vec<(u32, u32, f64)>,
    /// For each state: whether the event of the claim has happened.
    pub reached: Vec<bool>,
    /// Whether the claim is about the probability that this event does not happen.
    pub opposite: bool,
    /// The likeliest paths to the event.
    pub paths: Vec<(f64, Vec<u32>)>,
}

/// The states of no return.
#[derive(Clone, Debug, Default)]
pub struct NoReturn {
    /// By name: the probability, and its proven lower bound if the counts support one.
    pub likely: Vec<(String, f64, Option<f64>)>,
    /// The states from which the event cannot be avoided on the declared transitions; `None` if these are too many to list.
    pub inevitable: Option<Vec<String>>,
}

impl<'a, V: Scalar> Session<'a, V> {
    /// Returns a session on counts. The subject must have been created with all conditions that the claims read
    /// ([`asked`]).
    pub fn learned(
        subject: &'a Subject,
        counts: &'a Counts,
        limits: RowLimits,
        options: Options,
    ) -> Self {
        Session {
            options,
            source: ChainSource::Learned(Box::new(Counted {
                subject,
                counts,
                limits,
                declared: OnceCell::new(),
                seen: OnceCell::new(),
                forms: RefCell::default(),
            })),
        }
    }

    /// Returns a session on an imported chain.
    ///
    /// # Errors
    /// [`QueryError::Initial`]: the chain does not have exactly one initial state, whose answer would be that of the claim.
    pub fn imported(spec: &'a Spec, chain: Chain<V>, options: Options) -> Result<Self, QueryError> {
        let states = chain.initial().count_ones(..);
        if states != 1 {
            return Err(QueryError::Initial { states });
        }
        Ok(Session {
            source: ChainSource::Imported(Box::new(Evaluation::imported(spec, chain, &options))),
            options,
        })
    }

    /// Returns the answer to a claim; with `confidence`, also an interval from the counts, if one can be derived.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn ask(
        &self,
        claim: &Claim,
        confidence: Option<Confidence>,
    ) -> Result<ClaimAnswer, QueryError> {
        let counted = match &self.source {
            ChainSource::Imported(evaluation) => return evaluation.answer(claim),
            ChainSource::Learned(counted) => counted,
        };
        let main = counted.main(claim, &self.options)?;
        let mut answer = main.evaluation.answer(claim)?;
        let as_seen = |counted: &Counted<'a, V>| -> Result<ClaimAnswer, QueryError> {
            let seen = counted.form(false, 0.0, claim, &self.options)?;
            seen.evaluation.answer(claim)
        };
        if claim.logic != Logic::Pctl {
            answer.graphs = Some(Graphs {
                declared: answer.holds.flatten(),
                observed: as_seen(counted)?.holds.flatten(),
            });
            return Ok(answer);
        }
        if main.smoothing > 0.0
            && let Some(with) = answer.value.as_ref().and_then(|value| value.finite())
        {
            let plain = as_seen(counted)?.value;
            let without = plain.as_ref().and_then(|value| value.finite());
            answer.smoothing_share = without.map(|without| with - without);
        }
        if let Some(confidence) = confidence {
            let counts = counted.runs(claim, &mut answer, confidence, &self.options)?;
            // Every declared transition is possible, for any smoothing.
            let all = match main.is_declared {
                true => main,
                false => match counted.declared(claim, &self.options)? {
                    Some(form) => form,
                    None => return Ok(answer),
                },
            };
            if all.learned.chain.graph().edge_count() <= MOST_BOUNDED {
                let graph = all.learned.chain.graph();
                // From other states the event cannot happen any more, or it has happened.
                let relevant = match all.evaluation.event(claim)? {
                    // Into states that are not known the event may happen from everywhere.
                    Some(Event { goal, .. }) if !all.rows.is_open => {
                        let mut open = goal.open;
                        open.insert(all.learned.start as usize);
                        let mut relevant = backward(&graph.reversed(), &goal.target, Some(&open));
                        relevant.difference_with(&goal.target);
                        relevant
                    }
                    _ => graph.all(),
                };
                let rows = all.learned.uncertain(&all.rows, &relevant, confidence)?;
                answer.interval = all.evaluation.interval(claim, &rows, confidence)?;
            }
            if let (Some(interval), Some(counts)) = (&mut answer.interval, counts) {
                // If the event can be counted in complete runs, the bound does not need all rows to be at their worst
                // at the same time.
                interval.range = guaranteed(counts, confidence);
                if all.learned.explicit {
                    let start = all.learned.start as usize;
                    interval.per_state[start].1 = interval.range;
                }
            }
            answer.evidence = answer
                .interval
                .as_ref()
                .and_then(|interval| evidence(counted.subject.space.spec(), claim, interval.range));
        }
        Ok(answer)
    }

    /// Explains the number of a claim, from a named state or from the start. Returns `None` for claims that are not about
    /// the probability of one event, and if the event has already happened in that state.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn why(&self, claim: &Claim, from: Option<&str>) -> Result<Option<Reasons>, QueryError> {
        let counted = match &self.source {
            ChainSource::Imported(evaluation) => return evaluation.why(claim, from, Vec::new()),
            ChainSource::Learned(counted) => counted,
        };
        let main = counted.main(claim, &self.options)?;
        let exits = |vertex: &Vertex| main.rows.rows[vertex.state as usize].exits;
        let exits = main.learned.vertices.iter().map(exits).collect();
        main.evaluation.why(claim, from, exits)
    }

    /// Returns the chain on which a claim is evaluated, for drawing; `None` for claims that are not about the probability of a
    /// path formula.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn drawing(&self, claim: &Claim) -> Result<Option<Drawing>, QueryError> {
        let paths = self.why(claim, None)?.map(Reasons::into_paths);
        let paths = paths.unwrap_or_default();
        match &self.source {
            ChainSource::Imported(evaluation) => evaluation.drawing(claim, paths),
            ChainSource::Learned(counted) => {
                let main = counted.main(claim, &self.options)?;
                main.evaluation.drawing(claim, paths)
            }
        }
    }

    /// Returns the table of the answers to a claim in all states, for learned chains.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub(super) fn table(&self, claim: &Claim) -> Result<Option<(Rc<Rows>, RiskTable)>, QueryError> {
        let ChainSource::Learned(counted) = &self.source else {
            return Ok(None);
        };
        let main = counted.main(claim, &self.options)?;
        let answer = main.evaluation.answer(claim)?;
        let table = RiskTable::new(&main.rows, &main.learned, &answer);
        Ok(Some((Rc::clone(&main.rows), table)))
    }

    /// Returns the states from which there is no return: where the probability of a claim is at least `threshold`, with the
    /// lower end of its interval; and where the event is unavoidable on the declared transitions. States in which it has
    /// happened are left out.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn no_return(
        &self,
        claim: &Claim,
        threshold: f64,
        confidence: Confidence,
    ) -> Result<NoReturn, QueryError> {
        let answer = self.ask(claim, Some(confidence))?;
        let mut found = NoReturn {
            inevitable: Some(Vec::new()),
            ..NoReturn::default()
        };
        let mut reached = FxHashSet::default();
        if let ChainSource::Learned(counted) = &self.source {
            let declared = counted.declared(claim, &self.options)?;
            let form = match &declared {
                Some(form) => Rc::clone(form),
                None => counted.main(claim, &self.options)?,
            };
            if let Some([target, sure]) = form.evaluation.inevitable(claim)? {
                let names = form.evaluation.names();
                let name = |state: usize| names[state].clone();
                let inevitable = sure.difference(&target).map(name).collect();
                // A text that no trace has shown may always come before the event.
                found.inevitable = declared.map(|_| match form.rows.is_open {
                    true => Vec::new(),
                    false => inevitable,
                });
                reached = target.ones().map(name).collect();
            }
        }
        let least: FxHashMap<&str, f64> = (answer.interval.iter())
            .flat_map(|interval| &interval.per_state)
            .map(|(name, range)| (&**name, range.lower))
            .collect();
        for (state, figure) in &answer.per_state {
            let risk = figure.finite().filter(|risk| *risk >= threshold);
            if let Some(risk) = risk.filter(|_| !reached.contains(state)) {
                let least = least.get(&**state).copied();
                found.likely.push((state.clone(), risk, least));
            }
        }
        Ok(found)
    }

    /// Returns the distance of the counts from the guarantee that the model requires, with the rows that name its states.
    /// Returns `None` if the model requires none, or was not learned.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub fn pac(&self) -> Result<Option<(Rc<Rows>, Pac)>, QueryError> {
        let ChainSource::Learned(counted) = &self.source else {
            return Ok(None);
        };
        let Some(wanted) = counted.subject.learn.pac else {
            return Ok(None);
        };
        let smoothing = counted.subject.learn.smoothing;
        let rows = counted.rows(true)?;
        let with = if smoothing > 0.0 { smoothing } else { 1.0 };
        let learned = Learned::<V>::new(counted.subject, &rows, with, &[], &[], counted.limits)?;
        let allowed = (wanted.epsilon, wanted.delta);
        let pac = pac(&rows, &learned, smoothing, allowed, &self.options.accuracy);
        Ok(Some((rows, pac)))
    }
}

impl<'a, V: Scalar> Counted<'a, V> {
    /// Adds the intervals estimated from runs to the answer. Returns the number of complete runs in which the event of
    /// the claim happened and the number of all complete runs, if they could be counted.
    fn runs(
        &self,
        claim: &Claim,
        answer: &mut ClaimAnswer,
        level: Confidence,
        options: &Options,
    ) -> Result<Option<(u64, u64)>, QueryError> {
        let seen = self.form(false, 0.0, claim, options)?;
        let Some(event) = seen.evaluation.event(claim)? else {
            return Ok(None);
        };
        let counts = event.count(&seen.learned, &seen.rows, self.counts.traces);
        answer.observed = counts.map(|counts| observed(counts, level.error));
        let plain = seen.evaluation.answer(claim)?.value;
        if let Some(value) = plain.as_ref().and_then(Figure::finite) {
            let accuracy = &options.accuracy;
            // What cannot be proven as precisely as asked is left out.
            answer.asymptotic = event
                .asymptotic(&seen.learned, &seen.rows, value, level.error, accuracy)
                .unwrap_or_default();
        }
        Ok(counts)
    }

    /// Returns the form of the chain from which the answer to a claim is read.
    fn main(&self, claim: &Claim, options: &Options) -> Result<Rc<Form<'a, V>>, QueryError> {
        let smoothing = self.subject.learn.smoothing;
        if claim.logic != Logic::Pctl && smoothing == 0.0 {
            // For branching time every declared transition counts, however unlikely, so any smoothing gives the same
            // result.
            return self.form(true, 1.0, claim, options);
        }
        self.form(smoothing > 0.0, smoothing, claim, options)
    }

    /// Returns the form with all declared transitions, or `None` if these cannot be listed, or their product with monitors is too large:
    /// then the results that read them are left out.
    fn declared(
        &self,
        claim: &Claim,
        options: &Options,
    ) -> Result<Option<Rc<Form<'a, V>>>, QueryError> {
        match self.form(true, 1.0, claim, options) {
            Ok(form) => Ok(Some(form)),
            Err(QueryError::Space(_) | QueryError::TooLarge { .. }) => Ok(None),
            Err(other) => Err(other),
        }
    }

    fn rows(&self, declared: bool) -> Result<Rc<Rows>, QueryError> {
        let known = if declared { &self.declared } else { &self.seen };
        if let Some(rows) = known.get() {
            return Ok(Rc::clone(rows));
        }
        let space = &self.subject.space;
        let mut rules = space.rules(&self.subject.rules);
        let rows = Rows::new(space, &mut rules, self.counts, declared, self.limits)?;
        Ok(Rc::clone(known.get_or_init(|| Rc::new(rows))))
    }

    fn form(
        &self,
        is_declared: bool,
        smoothing: f64,
        claim: &Claim,
        options: &Options,
    ) -> Result<Rc<Form<'a, V>>, QueryError> {
        let spec: &'a Spec = self.subject.space.spec();
        let abstraction = self.subject.space.abstraction();
        let decided = |property| abstraction.monitor_of(property).is_some();
        let (_, monitors) = asked(spec, [claim], &decided);
        let known = self.forms.borrow().iter().find_map(|form| {
            let same = form.is_declared == is_declared
                && form.smoothing == smoothing
                && form.monitors == monitors;
            same.then(|| Rc::clone(form))
        });
        if let Some(form) = known {
            return Ok(form);
        }
        let rows = self.rows(is_declared)?;
        let learned = Rc::new(Learned::<V>::new(
            self.subject,
            &rows,
            smoothing,
            &self.subject.conditions,
            &monitors,
            self.limits,
        )?);
        let names = learned.names(self.subject, &rows);
        let form = Rc::new(Form {
            evaluation: Evaluation::learned(spec, Rc::clone(&learned), names, options),
            smoothing,
            is_declared,
            monitors,
            rows,
            learned,
        });
        self.forms.borrow_mut().push(Rc::clone(&form));
        Ok(form)
    }
}
