//! The answer to a claim as `guard query SPEC` prints it, as text and as JSON.

use std::io::Write;

use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::spec::FORMULA;
use crate::hir::Claim;
use crate::query::{ClaimAnswer, Evidence, Figure, Method, Range, Reasons};
use crate::report::Paint;

/// An answer to be written.
pub(super) struct ClaimView<'a> {
    pub(super) claim: &'a Claim,
    pub(super) model: &'a str,
    pub(super) category: Option<&'a SmolStr>,
    pub(super) answer: &'a ClaimAnswer,
    /// The reasons, if requested; an inner `None` if there are none.
    pub(super) why: Option<Option<Reasons>>,
    pub(super) ms: f64,
}

impl ClaimView<'_> {
    /// Returns the name of the claim; a formula from the command line has none.
    fn name(&self) -> Option<&str> {
        let name = self.claim.name.as_str();
        (!name.starts_with(FORMULA)).then_some(name)
    }

    pub(super) fn json(&self, all_states: bool) -> Value {
        let answer = self.answer;
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        put("v", json!(1));
        put("name", json!(self.name()));
        put("property", json!(self.claim.text));
        put("model", json!(self.model));
        if let Some(category) = self.category {
            put("category", json!(category));
        }
        put("states", json!(answer.states));
        if let Some(value) = &answer.value {
            let (number, lower, upper) = parts(value);
            put("value", number);
            put("lower", lower);
            put("upper", upper);
            if let Figure::Finite {
                exact: Some(exact), ..
            } = value
            {
                put("exact", json!(exact));
            }
        }
        if let Some(holds) = answer.holds {
            put("holds", json!(holds));
        }
        if let Some(share) = answer.smoothing_share {
            put("smoothing_share", json!(share));
        }
        if let Some(interval) = &answer.interval {
            let confidence = interval.confidence;
            put(
                "interval",
                json!({
                    "lower": interval.range.lower,
                    "upper": interval.range.upper,
                    "confidence": 1.0 - confidence.error,
                    "method": confidence.method.as_str(),
                    "promise": "guaranteed",
                }),
            );
        }
        if let Some(observed) = &answer.observed {
            put(
                "observed",
                json!({
                    "happened": observed.happened,
                    "runs": observed.runs,
                    "lower": observed.range.lower,
                    "upper": observed.range.upper,
                    "confidence": 1.0 - observed.error,
                    "method": "wilson",
                    "promise": "approximate",
                }),
            );
        }
        if let Some(asymptotic) = &answer.asymptotic {
            put(
                "asymptotic",
                json!({
                    "lower": asymptotic.range.lower,
                    "upper": asymptotic.range.upper,
                    "confidence": 1.0 - asymptotic.error,
                    "method": "delta",
                    "promise": "asymptotic",
                }),
            );
        }
        if let Some(short) = &answer.imprecise {
            put("imprecise", json!(short.to_string()));
        }
        if let Some(evidence) = answer.evidence {
            put("evidence", json!(evidence.as_str()));
        }
        if let Some(graphs) = answer.graphs {
            put("graph", json!("declared"));
            put("holds_observed", json!(graphs.observed));
        }
        if all_states {
            let numbers = answer
                .per_state
                .iter()
                .map(|(name, figure)| (name, parts(figure).0));
            let truths = answer
                .per_state_truth
                .iter()
                .map(|(name, holds)| (name, json!(holds)));
            let (names, values): (Vec<&String>, Vec<Value>) = numbers.chain(truths).unzip();
            put("per_state", json!(values));
            put("state_names", json!(names));
            if let Some(interval) = &answer.interval {
                // With all declared transitions there may be more states than above.
                let range = |(name, range): &(String, Range)| json!({"state": name, "lower": range.lower, "upper": range.upper});
                let ranges: Vec<Value> = interval.per_state.iter().map(range).collect();
                put("intervals", json!(ranges));
            }
        }
        if let Some(why) = &self.why {
            put("why", json!(why.as_ref().map(Reasons::to_json)));
        }
        put("method", json!(answer.method));
        put("ms", json!((self.ms * 1e3).round() / 1e3));
        Value::Object(object)
    }

    pub(super) fn human(
        &self,
        out: &mut impl Write,
        paint: Paint,
        all_states: bool,
    ) -> std::io::Result<()> {
        let answer = self.answer;
        let on = match self.category {
            Some(category) => format!("{} ({category})", self.model),
            None => self.model.to_owned(),
        };
        match self.name() {
            Some(name) => writeln!(out, "{}: {} on {on}", paint.name(name), self.claim.text)?,
            None => writeln!(out, "{} on {on}", paint.name(&self.claim.text))?,
        }
        if let Some(value) = &answer.value {
            writeln!(out, "  {}", text(value))?;
        }
        match (answer.holds, answer.graphs) {
            (Some(Some(true)), None) => writeln!(out, "  {}", paint.good("holds"))?,
            (Some(Some(false)), None) => writeln!(out, "  {}", paint.bad("does not hold"))?,
            (Some(None), None) if matches!(answer.value, Some(Figure::Undefined)) => {
                let why = "undecided: there is no number to compare";
                writeln!(out, "  {}", paint.open(why))?;
            }
            (Some(None), None) => writeln!(
                out,
                "  {}",
                paint.open("undecided: the value is too close to the threshold; try --exact")
            )?,
            (Some(_), Some(graphs)) => {
                let word = |holds: Option<bool>| match holds {
                    Some(true) => paint.good("holds"),
                    Some(false) => paint.bad("does not hold"),
                    None => paint.open("undecided"),
                };
                writeln!(
                    out,
                    "  on all transitions declared possible: {}",
                    word(graphs.declared)
                )?;
                writeln!(
                    out,
                    "  on the transitions observed in traces: {}",
                    word(graphs.observed)
                )?;
            }
            (None, _) => {}
        }
        let range = |Range { lower, upper }: Range| format!("{lower:.4} to {upper:.4}");
        let level = |error: f64| format!("{} %", 100.0 * (1.0 - error));
        if let Some(interval) = &answer.interval {
            let how = match interval.confidence.method {
                Method::Fixed => "",
                Method::Anytime => ", for any stopping time",
            };
            let (range, level) = (range(interval.range), level(interval.confidence.error));
            writeln!(out, "  guaranteed interval: {range} (level {level}{how})")?;
        }
        if let Some(asymptotic) = &answer.asymptotic {
            let (range, level) = (range(asymptotic.range), level(asymptotic.error));
            writeln!(
                out,
                "  asymptotic interval: {range} (level {level} for many runs)"
            )?;
        }
        if let Some(observed) = &answer.observed {
            let (range, level) = (range(observed.range), level(observed.error));
            writeln!(
                out,
                "  observed in {} of {} complete runs: {range} (Wilson interval, about {level})",
                observed.happened, observed.runs
            )?;
        }
        if let Some(short) = &answer.imprecise {
            writeln!(out, "  {}", paint.open(&format!("imprecise: {short}")))?;
        }
        match answer.evidence {
            Some(Evidence::Holds) => writeln!(out, "  {}", paint.good("confirmed by the traces"))?,
            Some(Evidence::Fails) => writeln!(out, "  {}", paint.bad("refuted by the traces"))?,
            Some(Evidence::NotEnough) => {
                writeln!(out, "  {}", paint.open("not enough traces to decide"))?;
            }
            None => {}
        }
        if let Some(share) = answer.smoothing_share {
            writeln!(
                out,
                "  {}",
                paint.quiet(&format!(
                    "{share:.6} of it comes from smoothing, not from traces"
                ))
            )?;
        }
        if all_states {
            let width = answer
                .per_state
                .iter()
                .map(|(name, _)| name.chars().count())
                .max();
            let width = width.unwrap_or(0).min(72);
            for (name, figure) in &answer.per_state {
                writeln!(out, "    {name:<width$}  {}", text(figure))?;
            }
            for (name, holds) in &answer.per_state_truth {
                let word = holds.map_or("undecided", |holds| if holds { "yes" } else { "no" });
                writeln!(out, "    {name}: {word}")?;
            }
        }
        if let Some(why) = &self.why {
            Reasons::write_all(why.as_ref(), out, paint)?;
        }
        Ok(())
    }
}

fn parts(figure: &Figure) -> (Value, Value, Value) {
    match figure {
        Figure::Finite {
            value,
            lower,
            upper,
            ..
        } => (json!(value), json!(lower), json!(upper)),
        Figure::Infinite => (json!("inf"), json!("inf"), json!("inf")),
        Figure::Undefined => (Value::Null, Value::Null, Value::Null),
    }
}

fn text(figure: &Figure) -> String {
    match figure {
        Figure::Finite {
            value,
            exact: Some(exact),
            ..
        } => format!("{exact} (about {value})"),
        Figure::Finite { value, .. } => format!("{value}"),
        Figure::Infinite => "infinite".to_owned(),
        Figure::Undefined => "undefined".to_owned(),
    }
}
