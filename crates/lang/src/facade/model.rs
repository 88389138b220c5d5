//! Markov chains learned from recorded traces, and queries on them.

use std::path::Path;

use guard_markov::Options;
use smol_str::SmolStr;

use super::audit::pool;
use super::{AuditOptions, Error, Spec, Traces};
use crate::audit::{self, Progress, Readers};
use crate::eval;
use crate::hir::{Claim, ModelSource, Subject as On};
use crate::ids::{AbstractionId, ModelId};
use crate::input::formats::FormatChoice;
use crate::learn::{Collector, InvalidPolicy, ModelError, RowLimits, Subject, Walker};
use crate::problem::Problem;
use crate::query::{ClaimAnswer, Session, asked};

pub use crate::learn::Model;

/// The answer to one query on a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Answer {
    /// The name of the query or property.
    pub name: SmolStr,
    /// The category of traces (`learn { by … }`); empty if the model has none.
    pub category: SmolStr,
    /// The value with its proven bounds, or the truth value.
    pub answer: ClaimAnswer,
}

/// A learned model, with the number of traces and the problems of the data.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Learned {
    /// The model.
    pub model: Model,
    /// The number of traces.
    pub traces: u64,
    /// The problems with the data, in the order of the input.
    pub problems: Vec<Problem>,
}

/// Counts walks and collects problems.
type Counting<'a> = Collector<'a, &'a mut (dyn FnMut(&Problem) + Send)>;

/// The name of a query that is not declared in the spec.
const ASKED: &str = "_asked";

impl Spec {
    /// Counts the steps of recorded traces into the model that the spec learns.
    ///
    /// ```no_run
    /// # fn main() -> Result<(), guard_lang::Error> {
    /// let spec = guard_lang::Spec::from_path("drift.guard")?;
    /// let model = spec.learn(["runs/"])?;
    /// for answer in spec.query(&model)? {
    ///     println!("{}: {:?}", answer.name, answer.answer.value);
    /// }
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    /// [`Error::Models`] if the spec does not learn exactly one model, [`Error::Impossible`] if a trace shows a step that
    /// the abstraction declares impossible, [`Error::Traces`] if a path cannot be read or has no traces.
    pub fn learn<P: AsRef<Path>>(
        &self,
        paths: impl IntoIterator<Item = P>,
    ) -> Result<Model, Error> {
        self.learned_model()?;
        let mut traces = Traces::from_paths(paths, &[], &[])?;
        if !traces.missing.is_empty() {
            return Err(Error::Traces(traces.missing.swap_remove(0)));
        }
        let learned = self.learn_traces(traces, &AuditOptions::default(), &Progress::default())?;
        Ok(learned.model)
    }

    /// Counts the steps of traces into the model that the spec learns; the patterns of the options are not used.
    /// Setting [`Progress::stop`] ends the learning early; the result contains the counts so far.
    ///
    /// # Errors
    /// As [`Spec::learn`]; a path that cannot be read is one of the [problems](Learned::problems).
    pub fn learn_traces(
        &self,
        traces: Traces,
        options: &AuditOptions,
        progress: &Progress,
    ) -> Result<Learned, Error> {
        let Traces { sources, missing } = traces;
        let pool = pool(options.jobs)?;
        self.counted(missing, options, progress, |walker, readers, listener| {
            pool.install(|| audit::visit(walker, &sources, readers, progress, listener));
        })
    }

    /// Counts the steps of texts as [`Spec::learn_traces`], one text after the other on the calling thread; see
    /// [`Spec::judge_texts`].
    ///
    /// # Errors
    /// As [`Spec::learn`].
    pub fn learn_texts<'t>(
        &self,
        texts: impl IntoIterator<Item = (&'t str, &'t [u8])>,
        format: FormatChoice,
    ) -> Result<Learned, Error> {
        let options = AuditOptions {
            format,
            ..AuditOptions::default()
        };
        let progress = Progress::default();
        self.counted(
            Vec::new(),
            &options,
            &progress,
            |walker, readers, listener| {
                for (name, text) in texts {
                    audit::visit_text(walker, readers, name, text, listener);
                }
            },
        )
    }

    /// Counts the traces that `read` reads.
    fn counted(
        &self,
        mut problems: Vec<Problem>,
        options: &AuditOptions,
        progress: &Progress,
        read: impl FnOnce(&Walker<'_>, &Readers, &mut Counting<'_>),
    ) -> Result<Learned, Error> {
        let (model, abstraction) = self.learned_model()?;
        let limits = eval::Limits::default();
        let subject = Subject::new(&self.0.hir, model, abstraction, &[], &limits);
        let subject = subject.map_err(ModelError::Space)?;
        let walker = subject.walker(&limits)?;
        let readers = self.readers(options)?;
        let counter = subject.counter(InvalidPolicy::Error);
        let mut keep = |problem: &Problem| problems.push(problem.clone());
        let keep: &mut (dyn FnMut(&Problem) + Send) = &mut keep;
        let mut collector = Collector::new(counter, progress, keep);
        read(&walker, &readers, &mut collector);
        let traces = collector.traces;
        let (chains, invalid) = collector.counter.finish();
        if !invalid.is_empty() {
            return Err(Error::Impossible(invalid));
        }
        Ok(Learned {
            model: subject.model(&chains),
            traces,
            problems,
        })
    }

    /// Answers one query or property on a model, for every category of traces: `P=? [ F<=5 leak ]`. Names are resolved as at
    /// the end of the spec.
    ///
    /// # Errors
    /// [`Error::Spec`] if the query has errors, and as [`Spec::query`].
    pub fn ask(&self, model: &Model, query: &str) -> Result<Vec<Answer>, Error> {
        let (on, _) = self.learned_model()?;
        let kind = if query.contains("=?") {
            "query"
        } else {
            "property"
        };
        let on = &self.0.hir.model(on).name;
        let item = format!("{kind} {ASKED} = {query} on {on}\n");
        let asked = Spec::compile(self.0.loaded.with_item(&item))?;
        let mut answers = asked.answers(model, |claim| claim.name == ASKED)?;
        for answer in &mut answers {
            answer.name = query.into();
        }
        Ok(answers)
    }

    /// Answers every query and property of the spec on its learned model, for every category of traces.
    ///
    /// # Errors
    /// [`Error::Model`] if the model was learned from another spec, [`Error::Query`] if a query cannot be answered.
    pub fn query(&self, model: &Model) -> Result<Vec<Answer>, Error> {
        self.answers(model, |_| true)
    }

    fn answers(
        &self,
        model: &Model,
        chosen: impl Fn(&Claim) -> bool,
    ) -> Result<Vec<Answer>, Error> {
        let (on, abstraction) = self.learned_model()?;
        let spec = &self.0.hir;
        let claims = || {
            let on_model = spec.claims.iter().filter(|claim| claim.on == On::Model(on));
            on_model.filter(|claim| chosen(claim))
        };
        let decided = |property| spec.abstraction(abstraction).monitor_of(property).is_some();
        let (conditions, _) = asked(spec, claims(), &decided);
        let limits = eval::Limits::default();
        let (subject, counts) = Subject::open(spec, on, model, &conditions, &limits)?;
        let mut answers = Vec::new();
        for (category, counts) in &counts {
            let rows = RowLimits::default();
            let session = Session::<f64>::learned(&subject, counts, rows, Options::default());
            for claim in claims() {
                let answer = session.ask(claim, None).map_err(|error| Error::Query {
                    name: claim.name.to_string(),
                    reason: error.to_string(),
                })?;
                answers.push(Answer {
                    name: claim.name.clone(),
                    category: category.clone(),
                    answer,
                });
            }
        }
        Ok(answers)
    }

    /// Returns the only model that the spec learns, and its abstraction.
    fn learned_model(&self) -> Result<(ModelId, AbstractionId), Error> {
        let spec = &self.0.hir;
        let learned = (0..spec.models.len())
            .map(ModelId::new)
            .filter_map(|model| {
                let of = spec.model(model);
                let abstraction = of.abstraction()?;
                matches!(of.source, ModelSource::Learn(_)).then_some((model, abstraction))
            });
        let learned: Vec<(ModelId, AbstractionId)> = learned.collect();
        match learned.as_slice() {
            [one] => Ok(*one),
            several => Err(Error::Models(several.len())),
        }
    }
}
