//! The positions of live traces on learned chains, and the values of queries there.
//!
//! No query is solved while traces run: every query is a table by state ([`Forecast`]). The state follows from
//! expressions that the monitor's program evaluates together with all others.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::table::{Row, Table, Unreached};
use super::{MonitorError, Options, TrainedModel};
use crate::abstraction::{Mount, ObservedState};
use crate::eval::{Observation, StepView};
use crate::hir::{ArmTrigger, Claim, Compare, Spec, Subject, Watched};
use crate::ids::{ClaimId, ExprId, ModelId};
use crate::learn::Header;
use crate::query::{Forecast, Onward, Outlook, Position, Solved};
use crate::value::{Number, Value};

/// The learned chains that clauses use.
#[derive(Debug, Default)]
pub(super) struct Chains {
    each: Vec<Chain>,
    /// For each clause: the chain and the index of the query.
    clauses: Vec<Option<(usize, usize)>>,
    /// The expressions that the monitor's program must observe for the chains.
    observed: Vec<ExprId>,
}

#[derive(Debug)]
struct Chain {
    model: SmolStr,
    /// The header of the model file.
    header: Header,
    forecast: Forecast,
    mount: Mount,
}

/// The position of a trace on every chain.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ChainPosition {
    positions: Box<[ModelPosition]>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ModelPosition {
    position: Position,
    /// The category of the trace; `None` if it is unknown.
    category: Option<SmolStr>,
    /// Whether the last step of the trace was a step of the chain.
    moved: bool,
}

/// The value of a query at the position of a trace.
#[derive(Clone, Debug)]
pub(super) struct RiskValue {
    chain: usize,
    query: usize,
    /// Whether the current step is a step of the chain. Arms act only at such steps.
    pub(super) moved: bool,
    /// The value of the query.
    pub(super) outlook: Outlook,
}

impl Chains {
    /// Returns the chains that the clauses of a spec use, from the model files in the options.
    pub(super) fn new(
        spec: &Arc<Spec>,
        models: BTreeMap<SmolStr, TrainedModel>,
        options: &Options,
    ) -> Result<Chains, MonitorError> {
        let mut models = models;
        let mut chains = Chains::default();
        let mut asked: Vec<(ModelId, Vec<ClaimId>)> = Vec::new();
        for clause in &spec.enforces {
            let Watched::Query(claim) = &clause.watched else {
                chains.clauses.push(None);
                continue;
            };
            let Subject::Model(model) = spec.claim(*claim).on else {
                chains.clauses.push(None);
                continue;
            };
            let chain = match asked.iter().position(|(known, _)| *known == model) {
                Some(known) => known,
                None => {
                    asked.push((model, Vec::new()));
                    asked.len() - 1
                }
            };
            let claims = &mut asked[chain].1;
            let query = match claims.iter().position(|known| known == claim) {
                Some(known) => known,
                None => {
                    claims.push(*claim);
                    claims.len() - 1
                }
            };
            chains.clauses.push(Some((chain, query)));
        }
        for (model, claims) in asked {
            let name = &spec.model(model).name;
            let Some(file) = models.remove(name) else {
                let claim: Option<&Claim> = claims.first().map(|claim| spec.claim(*claim));
                return Err(MonitorError::NoModel {
                    model: name.clone(),
                    query: claim.map(|claim| claim.name.clone()).unwrap_or_default(),
                });
            };
            let markov = guard_markov::Options::default();
            let limits = (options.rows, &markov);
            let header = file.header().clone();
            let forecast = match file {
                TrainedModel::Learned(file) => {
                    Forecast::new(spec, model, &file, &claims, &options.eval, limits)
                }
                TrainedModel::Solved(kept, _) => {
                    Forecast::restore(spec, model, *kept, &claims, &options.eval)
                }
            };
            let forecast = forecast.map_err(|error| MonitorError::Model {
                model: name.clone(),
                error: Box::new(error),
            })?;
            let mount = forecast.space().mount(chains.observed.len());
            chains.observed.extend(forecast.space().observed());
            chains.each.push(Chain {
                model: name.clone(),
                header,
                forecast,
                mount,
            });
        }
        Ok(chains)
    }

    /// Returns the solved tables, by model.
    pub(super) fn solved(&self) -> Vec<(SmolStr, Solved)> {
        let one = |chain: &Chain| (chain.model.clone(), chain.forecast.solved(&chain.header));
        self.each.iter().map(one).collect()
    }

    /// Returns the expressions that the program of the monitor must observe.
    pub(super) fn observed(&self) -> &[ExprId] {
        &self.observed
    }

    /// Returns the position before the first step.
    pub(super) fn begin(&self) -> ChainPosition {
        let at = |chain: &Chain| ModelPosition {
            position: chain.forecast.begin(),
            category: chain.forecast.known_category(&[]),
            moved: false,
        };
        ChainPosition {
            positions: self.each.iter().map(at).collect(),
        }
    }

    /// Whether a deserialised position is valid for these chains.
    pub(super) fn fit(&self, at: &ChainPosition) -> bool {
        let fits = |(chain, at): (&Chain, &ModelPosition)| chain.forecast.fits(&at.position);
        at.positions.len() == self.each.len() && self.each.iter().zip(&at.positions).all(fits)
    }

    /// Advances the position by a step.
    pub(super) fn advance(&self, at: &mut ChainPosition, view: &mut StepView<'_>) {
        for (chain, at) in self.each.iter().zip(&mut at.positions) {
            if chain.forecast.has_categories() {
                at.category = chain.forecast.known_category(view.meta());
            }
            let sight = match Observation::new(view) {
                Some(mut look) => chain.forecast.space().encode_at(&chain.mount, &mut look),
                None => ObservedState::Unknown,
            };
            at.moved = sight != ObservedState::NoStep;
            chain.forecast.advance(&mut at.position, &sight);
        }
    }

    /// Returns the values of the queries of clauses, with the numbers of the clauses, in their order.
    pub(super) fn risk_values(&self, at: &ChainPosition) -> Vec<(usize, RiskValue)> {
        let value = |(clause, of): (usize, &Option<(usize, usize)>)| {
            let (chain, query) = (*of)?;
            let (forecast, at) = (&self.each.get(chain)?.forecast, at.positions.get(chain)?);
            let value = RiskValue {
                chain,
                query,
                moved: at.moved,
                outlook: forecast.outlook(query, &at.position, at.category.as_deref()),
            };
            Some((clause, value))
        };
        self.clauses.iter().enumerate().filter_map(value).collect()
    }

    /// Describes the position of a trace; with the names of the models if there are several.
    pub(super) fn describe(&self, at: &ChainPosition) -> Option<String> {
        let mut each = self.each.iter().zip(&at.positions);
        let words = |(chain, at): (&Chain, &ModelPosition)| chain.forecast.describe(&at.position);
        match self.each.len() {
            0 => None,
            1 => each.next().map(words),
            _ => {
                let each =
                    each.map(|(chain, at)| format!("{}: {}", chain.model, words((chain, at))));
                Some(each.collect::<Vec<_>>().join("; "))
            }
        }
    }

    /// Returns the arms that are not reached in any state of the models.
    pub(super) fn unreached(&self, table: &Table) -> Vec<Unreached> {
        let mut found = Vec::new();
        for (place, (clause, of)) in table.clauses.iter().zip(&self.clauses).enumerate() {
            let range = of.and_then(|(chain, query)| self.each.get(chain)?.forecast.range(query));
            let Some((least, most)) = range else {
                continue;
            };
            for (arm, row) in clause.arms.iter().enumerate() {
                let ArmTrigger::Reaches(compare, number) = &row.trigger else {
                    continue;
                };
                let number = number.to_f64();
                let reaches = |value: f64| compares(value, *compare, number);
                if ![least, most].into_iter().any(reaches) {
                    let (name, when) = (&clause.name, &row.when);
                    let (least, most) = (short(least), short(most));
                    let elsewhere = of.is_some_and(|(chain, query)| {
                        self.each[chain].forecast.may_settle(query)
                            && (reaches(0.0) || reaches(1.0))
                    });
                    found.push(Unreached {
                        clause: place,
                        arm,
                        elsewhere,
                        why: format!(
                            "the model never reaches `{when}` of `{name}`, whose values range from {least} to {most}"
                        ),
                    });
                }
            }
        }
        found
    }

    /// Returns the message of the arms for a value.
    pub(super) fn message<'c>(
        &'c self,
        value: &'c RiskValue,
        at: &'c ChainPosition,
    ) -> Option<RiskMessage<'c>> {
        let chain = self.each.get(value.chain)?;
        Some(RiskMessage {
            chain,
            value,
            at: at.positions.get(value.chain)?,
        })
    }
}

/// The message of arms for a value.
pub(super) struct RiskMessage<'c> {
    chain: &'c Chain,
    pub(super) value: &'c RiskValue,
    at: &'c ModelPosition,
}

impl RiskValue {
    /// Returns the number that decisions report.
    pub(super) fn number(&self) -> Option<f64> {
        self.outlook.highest.filter(|_| !self.outlook.open)
    }

    /// Returns whether an arm is certainly reached, and whether it may be reached. `bound` is the comparison of the
    /// number, if the claim is a comparison.
    pub(super) fn reaches(&self, row: &Row, bound: Option<&(Compare, Number)>) -> (bool, bool) {
        let outlook = &self.outlook;
        // A claim without a comparison has the value 1 or 0.
        let holds = || match bound {
            Some((compare, number)) => (*compare, number.to_f64()),
            None => (Compare::Ge, 1.0),
        };
        let (compare, number) = match &row.trigger {
            ArmTrigger::Unseen => return (outlook.unseen && !outlook.seen, outlook.unseen),
            ArmTrigger::Reaches(compare, number) => (*compare, number.to_f64()),
            ArmTrigger::Satisfied => holds(),
            ArmTrigger::Violated => {
                let (compare, number) = holds();
                (contrary(compare), number)
            }
            ArmTrigger::Holds | ArmTrigger::PresumablyViolated(_) => return (false, false),
        };
        let is = |value: Option<f64>| value.is_some_and(|value| compares(value, compare, number));
        let (least, most) = (is(outlook.lowest), is(outlook.highest));
        let sure = least && most && !outlook.unseen && !outlook.open;
        // An unknown value counts as reaching the arm, unless the arm is triggered by the claim being satisfied.
        let feared = outlook.open && row.trigger != ArmTrigger::Satisfied;
        (sure, least || most || feared)
    }
}

fn contrary(compare: Compare) -> Compare {
    match compare {
        Compare::Lt => Compare::Ge,
        Compare::Le => Compare::Gt,
        Compare::Gt => Compare::Le,
        Compare::Ge | Compare::Eq => Compare::Lt,
    }
}

fn compares(value: f64, compare: Compare, number: f64) -> bool {
    match compare {
        Compare::Lt => value < number,
        Compare::Le => value <= number,
        Compare::Gt => value > number,
        Compare::Ge => value >= number,
        Compare::Eq => value == number,
    }
}

impl RiskMessage<'_> {
    /// Explains the value of a query, or why it is unknown.
    pub(super) fn why(&self, trigger: &ArmTrigger) -> Option<String> {
        let outlook = &self.value.outlook;
        let category = self.at.category.as_deref();
        if *trigger == ArmTrigger::Unseen || !outlook.seen {
            let model = &self.chain.model;
            let known = category.is_none_or(|category| self.chain.forecast.knows(category));
            return Some(match category.filter(|_| !known) {
                Some(category) => {
                    format!(
                        "the traces that `{model}` was learned from have no category `{category}`"
                    )
                }
                None => format!("no trace that `{model}` was learned from visited it"),
            });
        }
        let onward = self
            .chain
            .forecast
            .onward(self.value.query, &self.at.position, category);
        let one = |next: &Onward<'_>| {
            format!(
                "{} to {} ({})",
                percent(next.probability),
                next.state,
                short(next.value)
            )
        };
        let onward: Vec<String> = onward.iter().map(one).collect();
        (!onward.is_empty()).then(|| format!("next {}", onward.join(", ")))
    }

    /// Returns the values that messages can refer to, in the order of [`hir::Reading`](crate::hir::Reading).
    pub(super) fn values(&self, why: Option<&str>) -> Vec<Option<Value>> {
        let text = |text: &str| Some(Value::string(text));
        let value = |what: &crate::hir::Reading| match what {
            crate::hir::Reading::Value => {
                let value = self.value.number()?;
                match Number::float(value) {
                    Some(number) => Some(Value::Number(number)),
                    None => text("infinite"),
                }
            }
            crate::hir::Reading::State => text(&self.chain.forecast.describe(&self.at.position)),
            crate::hir::Reading::Why => text(why.unwrap_or("it is true now")),
        };
        crate::hir::Reading::ALL.iter().map(value).collect()
    }

    /// Returns the message of an arm that has none of its own.
    pub(super) fn text(&self, name: &str, row: &Row, why: Option<&str>) -> String {
        let state = self.chain.forecast.describe(&self.at.position);
        let mut said = match (&row.trigger, self.value.number()) {
            (ArmTrigger::Unseen, _) => format!("`{name}` is unknown in {state}"),
            (ArmTrigger::Violated, _) => format!("`{name}` does not hold in {state}"),
            (ArmTrigger::Satisfied, _) => format!("`{name}` holds in {state}"),
            (_, Some(value)) => format!("`{name}` is {} ({}) in {state}", short(value), row.when),
            (_, None) => format!("`{name}` may be {} in {state}", row.when),
        };
        if let Some(why) = why {
            said.push_str(": ");
            said.push_str(why);
        }
        said
    }
}

/// Formats a probability as a percentage.
fn percent(share: f64) -> String {
    format!("{:.0}%", share * 100.0)
}

/// Formats a number with three digits.
fn short(value: f64) -> String {
    if value.is_infinite() {
        return "infinite".to_owned();
    }
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.to_owned()
}
