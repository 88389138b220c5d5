//! Calibrations as text and as JSON.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use super::homogeneity::{GTest, RowTest, together};
use super::memory::{ENOUGH, Order, RiskMove};
use super::roc::{Point, Rate};
use super::score::Bin;
use super::{Quality, QueryCalibration, StateCheck};
use crate::report::Paint;
use crate::report::text::{number, plural};

/// The greatest number of lines of a table in text output; JSON contains all.
const MOST_SHOWN: usize = 12;

impl QueryCalibration {
    /// Returns the calibration as one JSON object.
    pub(crate) fn to_json(&self) -> Json {
        let traces = self
            .traces
            .map(|(bad, good, open)| json!({"happened": bad, "did_not": good, "open": open}));
        json!({
            "v": 1,
            "type": "query",
            "query": self.query,
            "property": self.text,
            "traces": traces,
            "forecasts": self.brier.map_or(0, |brier| brier.forecasts),
            "unseen": self.unseen,
            "open": self.open,
            "brier": self.brier.map(|brier| json!({
                "score": brier.score,
                "half_width95": brier.half_width,
                "reliability": brier.reliability,
                "resolution": brier.resolution,
                "uncertainty": brier.uncertainty,
                "predicted": brier.predicted,
                "observed": brier.observed,
            })),
            "reliability": self.bins.iter().map(|bin| json!({
                "from": bin.from,
                "to": bin.to,
                "forecasts": bin.forecasts,
                "happened": bin.happened,
                "predicted": bin.predicted,
                "wilson95": bin.wilson,
            })).collect::<Vec<_>>(),
            "auc": self.area.map(|area| json!({"value": area.value, "interval95": area.interval})),
            "thresholds": self.points.iter().map(point_json).collect::<Vec<_>>(),
            "chosen": self.choices.iter().map(|choice| {
                let mut point = point_json(&choice.point);
                point["rule"] = json!(choice.rule);
                point
            }).collect::<Vec<_>>(),
            "states": self.states.iter().map(|state| json!({
                "state": state.state,
                "risk": state.risk,
                "traces": state.traces,
                "happened": state.happened,
                "open": state.open,
                "interval95": state.interval,
                "agrees": state.agrees(),
            })).collect::<Vec<_>>(),
            "memory": self.memory.iter().map(|step| json!({
                "order": step.order,
                "mean": step.mean,
                "most": step.most.as_ref().map(|most| json!({
                    "memory": most.memory,
                    "visits": most.visits,
                    "risk": most.risks.0,
                    "risk_with_one_more": most.risks.1,
                })),
            })).collect::<Vec<_>>(),
        })
    }

    /// Writes the calibration as text.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        writeln!(out, "{}: {}", paint.name(&self.query), self.text)?;
        if let Some((bad, good, open)) = self.traces {
            let mut line = format!(
                "the event happened in {} and did not happen in {}",
                plural(bad, "trace", "traces"),
                number(good)
            );
            if open > 0 {
                line.push_str(&format!(", {} ended too early to tell", number(open)));
            }
            writeln!(out, "  {line}")?;
        }
        let Some(brier) = &self.brier else {
            return writeln!(out, "  {}", paint.open("no forecast with a known outcome"));
        };
        let mut line = plural(brier.forecasts as u64, "forecast", "forecasts");
        if self.unseen > 0 {
            let unseen = number(self.unseen);
            line.push_str(&format!(
                "; none in {unseen} states that do not occur in the training data"
            ));
        }
        writeln!(out, "  {line}")?;
        writeln!(
            out,
            "  predicted {:.4} on average, observed {:.4}; Brier {:.4} ± {:.4} = \
                    reliability {:.4} - resolution {:.4} + uncertainty {:.4}",
            brier.predicted,
            brier.observed,
            brier.score,
            brier.half_width,
            brier.reliability,
            brier.resolution,
            brier.uncertainty
        )?;
        if brier.score > brier.uncertainty {
            let worse = "worse than always predicting the overall frequency";
            writeln!(out, "  {}", paint.open(worse))?;
        }
        head(
            out,
            paint,
            "  probability  forecasts  predicted  observed  95 %",
        )?;
        for Bin {
            from,
            to,
            forecasts,
            happened,
            predicted,
            wilson: (low, high),
        } in &self.bins
        {
            let share = *happened as f64 / *forecasts as f64;
            writeln!(
                out,
                "  {from:.1} to {to:.1}   {:>9}     {predicted:.4}    {share:.4}  {low:.3}-{high:.3}",
                number(*forecasts)
            )?;
        }
        if let Some(area) = &self.area {
            writeln!(
                out,
                "  area under the ROC curve {:.3} ({:.3}-{:.3})",
                area.value, area.interval.0, area.interval.1
            )?;
        }
        if !self.points.is_empty() {
            head(
                out,
                paint,
                "  warn from   detected                 false alarms             steps before",
            )?;
            for point in shown(&self.points) {
                write_point(out, "", point)?;
            }
        }
        if !self.choices.is_empty() {
            head(
                out,
                paint,
                "  chosen on half of the traces, evaluated on the others",
            )?;
            for choice in &self.choices {
                write_point(out, &choice.rule, &choice.point)?;
            }
        }
        self.write_memory(out, paint)?;
        let off: Vec<&StateCheck> = self.states.iter().filter(|state| !state.agrees()).collect();
        if off.is_empty() {
            let states = plural(self.states.len() as u64, "state", "states");
            return writeln!(
                out,
                "  {}",
                paint.good(&format!(
                    "in all {states}, the traces that visit the state agree with the model"
                ))
            );
        }
        head(
            out,
            paint,
            &format!(
                "  {} of {} disagree with the traces that visit them (1 in 20 expected by chance)",
                off.len(),
                plural(self.states.len() as u64, "state", "states")
            ),
        )?;
        for state in off.iter().take(MOST_SHOWN) {
            writeln!(
                out,
                "    {}: predicted {:.4}; {} of {} traces, {:.3}-{:.3}",
                state.state,
                state.risk,
                number(state.happened),
                number(state.traces),
                state.interval.0,
                state.interval.1
            )?;
        }
        more(out, off.len())
    }

    fn write_memory(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        if self.memory.is_empty() {
            return Ok(());
        }
        head(
            out,
            paint,
            "  change in this risk with one more remembered step",
        )?;
        for RiskMove { order, most, mean } in &self.memory {
            let mut line = format!("    {order} to {}: {mean:.4} on average", order + 1);
            match most {
                Some(most) => line.push_str(&format!(
                    ", at most from {:.4} to {:.4}, after {} ({} steps)",
                    most.risks.0,
                    most.risks.1,
                    most.memory,
                    number(most.visits)
                )),
                None => line.push_str(&format!("; no history has {ENOUGH} or more steps")),
            }
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

impl Quality {
    /// Returns one object.
    pub(crate) fn to_json(&self) -> Json {
        json!({
            "v": 1,
            "type": "quality",
            "orders": self.orders.iter().map(order_json).collect::<Vec<_>>(),
            "halves": rows_json(&self.halves),
            "categories": rows_json(&self.categories),
            "drift": rows_json(&self.drift),
            "impossible": self.impossible,
        })
    }

    /// Writes the quality as text.
    ///
    /// # Errors
    /// If writing fails.
    pub(crate) fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        writeln!(
            out,
            "{}",
            paint.name("how well the past predicts the next state")
        )?;
        head(
            out,
            paint,
            "  order  parameters         AIC         BIC  next state right  -ln P   \
                    likelihood-ratio test of one more step",
        )?;
        let best = self
            .orders
            .iter()
            .map(|order| order.bic)
            .fold(f64::INFINITY, f64::min);
        for order in &self.orders {
            let more = order.against_next.map_or_else(String::new, test_text);
            let mark = if order.bic == best {
                " (smallest BIC)"
            } else {
                ""
            };
            writeln!(
                out,
                "  {:>5}  {:>10}  {:>10.1}  {:>10.1}            {:>5.1} %  {:>5.3}   {more}{mark}",
                order.order,
                number(order.parameters),
                order.aic,
                order.bic,
                100.0 * order.accuracy,
                order.log_loss
            )?;
        }
        write_rows(
            out,
            paint,
            "stationarity: late steps against early steps",
            &self.halves,
        )?;
        if !self.categories.is_empty() {
            write_rows(
                out,
                paint,
                "homogeneity: categories against each other",
                &self.categories,
            )?;
        }
        write_rows(
            out,
            paint,
            "drift: these traces against those of the model",
            &self.drift,
        )?;
        if !self.impossible.is_empty() {
            writeln!(
                out,
                "{}",
                paint.bad(&format!(
                    "{} declared impossible did occur: the agent or its tools have changed",
                    plural(self.impossible.len() as u64, "step", "steps")
                ))
            )?;
            for line in shown(&self.impossible) {
                writeln!(out, "    {line}")?;
            }
            more(out, self.impossible.len())?;
        }
        Ok(())
    }
}

/// Writes the differences between two models as JSON.
pub(crate) fn drift_json(against: &str, rows: &[RowTest]) -> Json {
    json!({"v": 1, "type": "drift", "against": against, "rows": rows_json(rows)})
}

/// Writes the differences between two models as text.
///
/// # Errors
/// If writing fails.
pub(crate) fn write_drift(
    out: &mut impl Write,
    paint: Paint,
    against: &str,
    rows: &[RowTest],
) -> io::Result<()> {
    write_rows(out, paint, &format!("the model against `{against}`"), rows)
}

fn head(out: &mut impl Write, paint: Paint, text: &str) -> io::Result<()> {
    writeln!(out, "{}", paint.quiet(text))
}

fn more(out: &mut impl Write, of: usize) -> io::Result<()> {
    if of > MOST_SHOWN {
        writeln!(out, "    and {} more", of - MOST_SHOWN)?;
    }
    Ok(())
}

/// Returns a limited number of entries, spread evenly over the whole.
fn shown<T>(all: &[T]) -> impl Iterator<Item = &T> {
    let every = all.len().div_ceil(MOST_SHOWN).max(1);
    all.iter().step_by(every)
}

fn write_point(out: &mut impl Write, rule: &str, point: &Point) -> io::Result<()> {
    let rate = |rate: &Rate| {
        let (low, high) = rate.wilson;
        format!(
            "{}/{} = {:.3} ({low:.3}-{high:.3})",
            rate.hits,
            rate.of,
            rate.share()
        )
    };
    let lead = point
        .lead
        .map_or_else(String::new, |lead| format!("{lead}"));
    let rule = if rule.is_empty() {
        String::new()
    } else {
        format!("   {rule}")
    };
    let (detected, alarms) = (rate(&point.detected), rate(&point.false_alarms));
    let line = format!(
        "  {:<9.4}  {detected:<28}  {alarms:<28}  {lead}{rule}",
        point.threshold
    );
    writeln!(out, "{}", line.trim_end())
}

fn write_rows(out: &mut impl Write, paint: Paint, claim: &str, rows: &[RowTest]) -> io::Result<()> {
    let differ = rows.iter().filter(|row| row.differs).count();
    let all = together(rows).map_or_else(|| "nothing to compare".to_owned(), test_text);
    let verdict = format!(
        "{differ} of {} differ; together: {all}",
        plural(rows.len() as u64, "state", "states")
    );
    let verdict = if differ == 0 {
        paint.good(&verdict)
    } else {
        paint.open(&verdict)
    };
    writeln!(out, "{}: {verdict}", paint.name(claim))?;
    for row in rows.iter().filter(|row| row.differs).take(MOST_SHOWN) {
        writeln!(out, "    {}: {}", row.state, test_text(row.test))?;
    }
    more(out, differ)
}

fn test_text(test: GTest) -> String {
    let mut text = format!(
        "G² {:.1} on {}, p {:.2e}",
        test.statistic, test.freedom, test.p
    );
    if test.sparse > 0.2 {
        text.push_str(&format!(
            " (approximate: {:.0} % of cells are small)",
            100.0 * test.sparse
        ));
    }
    text
}

fn point_json(point: &Point) -> Json {
    let rate = |rate: &Rate| json!({"hits": rate.hits, "of": rate.of, "rate": rate.share(), "wilson95": rate.wilson});
    json!({
        "threshold": point.threshold,
        "detected": rate(&point.detected),
        "false_alarms": rate(&point.false_alarms),
        "lead_steps": point.lead,
    })
}

fn test_json(test: GTest) -> Json {
    json!({
        "g2": test.statistic,
        "freedom": test.freedom,
        "p": test.p,
        "sparse": test.sparse,
    })
}

fn order_json(order: &Order) -> Json {
    json!({
        "order": order.order,
        "parameters": order.parameters,
        "aic": order.aic,
        "bic": order.bic,
        "accuracy": order.accuracy,
        "log_loss": order.log_loss,
        "against_next": order.against_next.map(test_json),
    })
}

fn rows_json(rows: &[RowTest]) -> Json {
    let row = |row: &RowTest| {
        let mut test = test_json(row.test);
        test["state"] = json!(row.state);
        test["differs"] = json!(row.differs);
        test
    };
    let together = together(rows).map(test_json);
    json!({"together": together, "states": rows.iter().map(row).collect::<Vec<_>>()})
}
