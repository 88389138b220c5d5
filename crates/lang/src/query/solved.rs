//! Stored forecasts: queries are solved once, and other processes only look up the results.
//!
//! Solving a model of ten thousand states takes seconds, and a hook runs for milliseconds. The data that it needs besides the
//! spec is stored: the text values that occurred, the conditions that hold in the states, and the table of each query.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::forecast::{Asked, Forecast, ForecastError};
use super::table::RiskTable;
use crate::abstraction::Key;
use crate::eval;
use crate::hir::Spec;
use crate::ids::{ClaimId, ModelId};
use crate::learn::{Header, Subject};
use crate::value::Truth;

/// The solved tables of one model. They are bound to the spec by the header of the model file.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Solved {
    header: Header,
    /// For each component of a state: its texts in the order of their codes.
    texts: Vec<Vec<SmolStr>>,
    /// Sorted by key.
    truths: Vec<(Key, Box<[Truth]>)>,
    /// The tables, by category and query.
    tables: BTreeMap<SmolStr, Vec<RiskTable>>,
}

impl Solved {
    /// Returns the header of the model file.
    pub(crate) fn header(&self) -> &Header {
        &self.header
    }
}

impl Forecast {
    /// Returns the tables for storage. `header` is that of the model file.
    pub fn solved(&self, header: &Header) -> Solved {
        let mut truths: Vec<(Key, Box<[Truth]>)> = self
            .truths
            .iter()
            .map(|(key, truths)| (*key, truths.clone()))
            .collect();
        truths.sort_unstable_by_key(|(key, _)| *key);
        Solved {
            header: header.clone(),
            texts: self.subject.space.texts(),
            truths,
            tables: self.tables.clone(),
        }
    }

    /// Restores a stored forecast with the queries for which it was solved.
    ///
    /// # Errors
    /// The model was learned from another spec, or the tables do not match.
    pub(crate) fn restore(
        spec: &Arc<Spec>,
        model: ModelId,
        kept: Solved,
        queries: &[ClaimId],
        limits: &eval::Limits,
    ) -> Result<Forecast, ForecastError> {
        let header = &kept.header;
        let asked = Asked::new(spec, model, queries, || Ok(header.abstraction(spec)?))?;
        let conditions = &asked.conditions;
        let subject = Subject::known(spec, model, asked.abstraction, header, conditions, limits);
        let mut subject = subject.map_err(crate::learn::ModelError::from)?;
        header.check(&subject.fingerprint)?;
        let fits = subject.space.meet(&kept.texts)
            && kept.tables.values().all(|of| of.len() == queries.len())
            && kept
                .truths
                .iter()
                .all(|(_, truths)| truths.len() == conditions.len());
        if !fits {
            return Err(ForecastError::Kept {
                model: spec.model(model).name.clone(),
            });
        }
        subject.space.close();
        let truths = kept.truths.into_iter().collect();
        asked.forecast(subject, kept.tables, truths, limits)
    }
}
