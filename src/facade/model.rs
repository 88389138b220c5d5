//! Markov chains that are learned from recorded traces, and queries on them.

use std::path::Path;

use guard_markov::Options;
use smol_str::SmolStr;

use super::audit::find;
use super::{Error, Spec};
use crate::audit::{self, Progress};
use crate::eval;
use crate::hir::{ModelSource, Subject as On};
use crate::ids::{AbstractionId, ModelId};
use crate::input::open::Selection;
use crate::learn::{Collector, InvalidPolicy, ModelError, RowLimits, Subject};
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
        let (model, abstraction) = self.learned_model()?;
        let limits = eval::Limits::default();
        let subject = Subject::new(&self.0.hir, model, abstraction, &[], &limits);
        let subject = subject.map_err(ModelError::Space)?;
        let walker = subject.walker(&limits)?;
        let (sources, problems) = find(&Selection::default(), paths);
        if let Some(problem) = problems.into_iter().next() {
            return Err(Error::Traces(problem));
        }
        let progress = Progress::default();
        let counter = subject.counter(InvalidPolicy::Error);
        let mut collector = Collector::new(counter, &progress, |_| {});
        audit::visit(
            &walker,
            &sources,
            &self.0.readers,
            &progress,
            &mut collector,
        );
        let (chains, invalid) = collector.counter.finish();
        if !invalid.is_empty() {
            return Err(Error::Impossible(invalid));
        }
        Ok(subject.model(&chains))
    }

    /// Answers every query and property that the spec asks of its learned model, for every category of traces.
    ///
    /// # Errors
    /// [`Error::Model`] if the model was learned by another spec, [`Error::Query`] if a query cannot be answered.
    pub fn query(&self, model: &Model) -> Result<Vec<Answer>, Error> {
        let (on, abstraction) = self.learned_model()?;
        let spec = &self.0.hir;
        let claims = || spec.claims.iter().filter(|claim| claim.on == On::Model(on));
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
