//! A model of a spec prepared for learning and queries: its state space, rules, and fingerprint.

use std::collections::BTreeMap;
use std::sync::Arc;

use smol_str::SmolStr;

use super::counts::{Counter, Counts, InvalidPolicy};
use super::file::{Header, Model, ModelError};
use super::fingerprint::{Fingerprint, fingerprint};
use super::walk::Walker;
use crate::abstraction::{RuleCode, Space, SpaceError};
use crate::eval::{self, LimitError};
use crate::hir::{Learn, ModelSource, Spec};
use crate::ids::{AbstractionId, ExprId, ModelId};

/// A prepared model of a spec, as far as it concerns traces and model files.
#[derive(Debug)]
pub struct Subject {
    /// Its name.
    pub name: SmolStr,
    /// Its settings; those of a loaded model are the defaults.
    pub learn: Learn,
    /// Its states.
    pub space: Space,
    /// The declared rules, then the requested conditions.
    pub rules: RuleCode,
    /// The conditions on single states with which the rules were compiled, in order.
    pub conditions: Vec<ExprId>,
    /// The parts of the spec that its counts depend on.
    pub fingerprint: Fingerprint,
}

impl Subject {
    /// Prepares a model. `asked`: conditions on single states that [`Rules::holds`] will evaluate.
    ///
    /// [`Rules::holds`]: crate::abstraction::Rules::holds
    ///
    /// # Errors
    /// [`SpaceError`]: its states need too many bits, or a monitor has no automaton.
    pub fn new(
        spec: &Arc<Spec>,
        model: ModelId,
        abstraction: AbstractionId,
        asked: &[ExprId],
        limits: &eval::Limits,
    ) -> Result<Subject, SpaceError> {
        let of = spec.model(model);
        let (learn, settings) = match &of.source {
            ModelSource::Learn(learn) => (learn.clone(), true),
            ModelSource::Load(..) | ModelSource::Import(_) => {
                let learn = Learn {
                    abstraction,
                    smoothing: 0.0,
                    by: None,
                    order: 1,
                    pac: None,
                };
                (learn, false)
            }
        };
        let space = Space::new(spec, abstraction, limits)?;
        let rules = space.rule_code(asked)?;
        let fingerprint = fingerprint(spec, space.abstraction(), settings.then_some(&learn));
        Ok(Subject {
            name: of.name.clone(),
            learn,
            space,
            rules,
            conditions: asked.to_vec(),
            fingerprint,
        })
    }

    /// Returns a model of a spec with the counts of a model file, by category.
    ///
    /// # Errors
    /// The file was learned from another spec, or with an abstraction that the spec does not have, or its states are
    /// unknown.
    pub fn open(
        spec: &Arc<Spec>,
        model: ModelId,
        file: &Model,
        asked: &[ExprId],
        limits: &eval::Limits,
    ) -> Result<(Subject, BTreeMap<SmolStr, Counts>), ModelError> {
        let of = spec.model(model);
        let abstraction = match of.abstraction() {
            Some(abstraction) => abstraction,
            None => file.header.abstraction(spec)?,
        };
        let subject = Subject::known(spec, model, abstraction, &file.header, asked, limits)?;
        let counts = subject.counts(file)?;
        Ok((subject, counts))
    }

    /// Prepares a model from the header of its file only.
    ///
    /// # Errors
    /// As [`Subject::new`].
    pub fn known(
        spec: &Arc<Spec>,
        model: ModelId,
        abstraction: AbstractionId,
        header: &Header,
        asked: &[ExprId],
        limits: &eval::Limits,
    ) -> Result<Subject, SpaceError> {
        let mut subject = Subject::new(spec, model, abstraction, asked, limits)?;
        if matches!(spec.model(model).source, ModelSource::Load(..)) {
            subject.loaded(header);
        }
        Ok(subject)
    }

    /// Takes order and categories from a model file that the spec loads without saying how it was learned.
    fn loaded(&mut self, header: &Header) {
        self.learn.order = header.order;
        // The expression that distinguished the categories is unknown here, but the file states that there were
        // categories.
        let settings = ["by", "order"];
        for name in settings {
            if let Some(hash) = header.parts.get(name) {
                self.fingerprint.set(name, hash.clone());
            }
        }
    }

    /// Returns the judge that reads traces; for [`audit::visit`](crate::audit::visit).
    ///
    /// # Errors
    /// If `by` exceeds the limits on expressions.
    pub fn walker(&self, limits: &eval::Limits) -> Result<Walker<'_>, LimitError> {
        Walker::new(&self.space, self.learn.by, limits)
    }

    /// Returns a counter for the walks of the walker.
    pub fn counter(&self, policy: InvalidPolicy) -> Counter<'_> {
        let rules = self.space.rules(&self.rules);
        Counter::new(
            &self.space,
            rules,
            self.learn.order,
            self.learn.by.is_some(),
            policy,
        )
    }

    /// Returns the model file for counts.
    pub fn model(&self, chains: &BTreeMap<SmolStr, Counts>) -> Model {
        let by = self.learn.by.is_some();
        Model::new(
            &self.name,
            &self.space,
            self.fingerprint.clone(),
            (self.learn.order, by),
            chains,
        )
    }

    /// Returns the counts of a model file. Fails if the fingerprint of the file differs from that of this spec.
    ///
    /// # Errors
    /// The file was learned from another spec, or contains states that do not exist.
    pub fn counts(&self, model: &Model) -> Result<BTreeMap<SmolStr, Counts>, ModelError> {
        model.header.check(&self.fingerprint)?;
        model.counts(&self.space)
    }
}
