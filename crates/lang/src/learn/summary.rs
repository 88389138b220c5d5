//! The summary of learning, for people and as JSON.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_json::{Value as Json, json};
use smol_str::SmolStr;

use super::counts::{Counts, Invalid, Traces};
use super::rows::{ChainPosition, Origin, RowLimits, Rows, reason};
use super::subject::Subject;
use crate::abstraction::{Space, SpaceError};
use crate::report::Paint;
use crate::report::text::{number, plural};

/// The greatest number of states listed in text output; JSON lists all missing states.
const MOST_SHOWN: usize = 20;

/// The greatest number of states listed in text output that lack visits for a guarantee.
const MOST_MISSING: usize = 5;

/// The summary of a learned model.
#[derive(Debug)]
pub struct Summary {
    model: SmolStr,
    chains: Vec<ChainSummary>,
    invalid: Vec<Json>,
    invalid_text: Vec<String>,
}

/// The distance of counts from the guarantee that their model requires.
#[derive(Clone, Debug)]
pub struct PacStatus {
    /// The allowed error.
    pub epsilon: f64,
    /// The allowed probability of exceeding it.
    pub delta: f64,
    /// The states with transitions to learn.
    pub states: Vec<PacState>,
}

/// A state and the number of exits that it requires.
#[derive(Clone, Debug)]
pub struct PacState {
    /// Its name.
    pub state: String,
    /// The number of times that it was left.
    pub visits: u64,
    /// The number of times that it must be left; `None` if no number suffices.
    pub required: Option<u64>,
}

impl PacState {
    fn is_missing(&self) -> bool {
        self.required.is_none_or(|required| self.visits < required)
    }
}

impl PacStatus {
    /// Whether every state was left often enough.
    pub(crate) fn met(&self) -> bool {
        !self.states.iter().any(PacState::is_missing)
    }

    fn missing(&self, category: Option<&SmolStr>) -> Vec<Json> {
        self.states
            .iter()
            .filter(|state| state.is_missing())
            .map(|state| {
                let mut missing = json!({
                    "state": state.state,
                    "visits": state.visits,
                    "required": state.required,
                });
                if let Some(category) = category {
                    missing["category"] = json!(category);
                }
                missing
            })
            .collect()
    }
}

/// The summary of one category.
#[derive(Debug)]
struct ChainSummary {
    category: Option<SmolStr>,
    traces: Traces,
    /// The visited states, sorted by visits: name, visits, exits.
    states: Vec<(String, u64, u64)>,
    transitions: usize,
    visits: u64,
    unseen: Option<usize>,
    /// States that were visited and never left in any trace.
    never_left: Vec<String>,
    pac: Option<PacStatus>,
}

impl Summary {
    /// Summarises counts by category. `pac`: the status of the guarantee that the model requires, if it requires one.
    ///
    /// # Errors
    /// The states exceed the limits, and smoothing requires listing them.
    pub fn new(
        subject: &Subject,
        counts: &BTreeMap<SmolStr, Counts>,
        invalid: &[Invalid],
        mut pac: BTreeMap<SmolStr, PacStatus>,
        limits: RowLimits,
    ) -> Result<Summary, SpaceError> {
        let space = &subject.space;
        let by = subject.learn.by.is_some();
        let mut chains = Vec::with_capacity(counts.len());
        for (category, counts) in counts {
            let mut rules = space.rules(&subject.rules);
            let rows = Rows::new(space, &mut rules, counts, false, limits)?;
            chains.push(ChainSummary::new(
                by.then(|| category.clone()),
                counts,
                &rows,
                space,
                pac.remove(category),
            ));
        }
        Ok(Summary {
            model: subject.name.clone(),
            chains,
            invalid: invalid
                .iter()
                .map(|found| invalid_json(found, space))
                .collect(),
            invalid_text: invalid
                .iter()
                .map(|found| invalid_line(found, space))
                .collect(),
        })
    }

    fn traces(&self) -> Traces {
        let mut all = Traces::default();
        for chain in &self.chains {
            all.complete += chain.traces.complete;
            all.censored += chain.traces.censored;
            all.quarantined += chain.traces.quarantined;
        }
        all
    }

    /// Returns the guarantees of all categories; each category has its own.
    fn pac(&self) -> Json {
        let status = |chain: &'_ ChainSummary| chain.pac.clone();
        let Some(first) = self.chains.iter().find_map(status) else {
            return Json::Null;
        };
        let missing: Vec<Json> = self
            .chains
            .iter()
            .filter_map(|chain| Some(chain.pac.as_ref()?.missing(chain.category.as_ref())))
            .flatten()
            .collect();
        json!({
            "epsilon": first.epsilon,
            "delta": first.delta,
            "met": missing.is_empty(),
            "missing": missing,
        })
    }

    /// Returns the summary as one object, as `cli.md` describes it.
    pub fn to_json(&self) -> String {
        let chains = &self.chains;
        let unseen: Option<usize> = chains
            .iter()
            .map(|chain| chain.unseen)
            .min()
            .unwrap_or(None);
        let mut object = json!({
            "v": 1,
            "model": self.model,
            "states": chains.iter().map(|chain| chain.states.len()).sum::<usize>(),
            "transitions": chains.iter().map(|chain| chain.transitions).sum::<usize>(),
            "visits": chains.iter().map(|chain| chain.visits).sum::<u64>(),
            "traces": self.traces(),
            "unseen_valid_states": unseen,
            "invalid_observed": self.invalid,
            "pac": self.pac(),
        });
        if let [ChainSummary { category: None, .. }] | [] = chains.as_slice() {
            return object.to_string();
        }
        let categories: Vec<Json> = chains
            .iter()
            .map(|chain| {
                json!({
                    "category": chain.category,
                    "states": chain.states.len(),
                    "transitions": chain.transitions,
                    "visits": chain.visits,
                    "traces": chain.traces,
                    "unseen_valid_states": chain.unseen,
                })
            })
            .collect();
        object["categories"] = Json::Array(categories);
        object.to_string()
    }

    /// Writes the summary as text.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        for chain in &self.chains {
            chain.write(out, paint, &self.model)?;
        }
        if self.chains.is_empty() {
            writeln!(out, "{}: nothing learned", paint.name(&self.model))?;
        }
        if !self.invalid_text.is_empty() {
            writeln!(out, "\n{}", paint.bad("steps that are declared impossible"))?;
            for line in self.invalid_text.iter().take(MOST_SHOWN) {
                writeln!(out, "  {line}")?;
            }
            let more = self.invalid_text.len().saturating_sub(MOST_SHOWN);
            if more > 0 {
                writeln!(out, "  and {more} more")?;
            }
        }
        Ok(())
    }
}

impl ChainSummary {
    fn new(
        category: Option<SmolStr>,
        counts: &Counts,
        rows: &Rows,
        space: &Space,
        pac: Option<PacStatus>,
    ) -> ChainSummary {
        let mut states = Vec::new();
        let mut never_left = Vec::new();
        for state in 0..rows.len() as u32 {
            let row = &rows.rows[state as usize];
            let met = row.visits > 0 || (state == rows.start && row.exits > 0);
            if !met || !matches!(rows.places[state as usize], ChainPosition::At(_)) {
                continue;
            }
            let name = rows.describe(space, state);
            if matches!(row.origin, Origin::Guessed | Origin::Open) {
                never_left.push(name.clone());
            }
            states.push((name, row.visits, row.exits));
        }
        // The most visited states come first; states with equal visits stay sorted by name.
        states.sort_by_key(|(_, visits, _)| std::cmp::Reverse(*visits));
        ChainSummary {
            category,
            traces: counts.traces,
            states,
            transitions: counts.edges.iter().filter(|edge| edge.count > 0).count()
                + counts.ends.iter().filter(|ends| **ends > 0).count(),
            visits: counts.steps,
            unseen: rows.unseen_valid,
            never_left,
            pac,
        }
    }

    fn write(&self, out: &mut impl Write, paint: Paint, model: &str) -> io::Result<()> {
        let name = match &self.category {
            Some(category) => format!("{model} ({category})"),
            None => model.to_owned(),
        };
        let Traces {
            complete,
            censored,
            quarantined,
        } = self.traces;
        let mut traces = format!("{} complete", plural(complete, "trace", "traces"));
        if censored > 0 {
            traces.push_str(&format!(", {} censored", number(censored)));
        }
        if quarantined > 0 {
            traces.push_str(&format!(", {} left out", number(quarantined)));
        }
        writeln!(
            out,
            "{}: {}, {}, {}; {traces}",
            paint.name(&name),
            plural(self.visits, "step", "steps"),
            plural(self.states.len() as u64, "state", "states"),
            plural(self.transitions as u64, "transition", "transitions"),
        )?;
        let width = self
            .states
            .iter()
            .map(|(name, ..)| name.chars().count())
            .max()
            .unwrap_or(0);
        let width = width.min(72);
        if !self.states.is_empty() {
            writeln!(
                out,
                "  {}",
                paint.quiet(&format!(
                    "{:<width$}  {:>9}  {:>9}",
                    "state", "visits", "exits"
                ))
            )?;
        }
        for (name, visits, exits) in self.states.iter().take(MOST_SHOWN) {
            writeln!(
                out,
                "  {name:<width$}  {:>9}  {:>9}",
                number(*visits),
                number(*exits)
            )?;
        }
        if self.states.len() > MOST_SHOWN {
            let rest = &self.states[MOST_SHOWN..];
            let visits: u64 = rest.iter().map(|(_, visits, _)| visits).sum();
            let name = format!("and {} more", rest.len());
            writeln!(out, "  {name:<width$}  {:>9}", number(visits))?;
        }
        match self.unseen {
            Some(0) => {}
            Some(unseen) => writeln!(
                out,
                "  {}",
                paint.open(&format!(
                    "{} never visited (exclude impossible ones with `valid` and `step`)",
                    plural(unseen as u64, "valid state was", "valid states were")
                ))
            )?,
            None => writeln!(
                out,
                "  {}",
                paint.quiet("too many valid states to list the unvisited ones")
            )?,
        }
        if let Some(pac) = &self.pac {
            pac.write(out, paint)?;
        }
        if !self.never_left.is_empty() {
            writeln!(
                out,
                "  {}",
                paint.open(&format!(
                    "without an observed exit, so their successors are unknown: {}",
                    self.never_left.join("; ")
                ))
            )?;
        }
        Ok(())
    }
}

impl PacStatus {
    fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let wanted = format!(
            "every risk is within {} of the true value, except with probability {}",
            self.epsilon, self.delta
        );
        if self.met() {
            return writeln!(out, "  {}", paint.good(&format!("{wanted}: reached")));
        }
        writeln!(
            out,
            "  {}",
            paint.open(&format!("{wanted}: not reached yet"))
        )?;
        // The states that lack the most exits come first.
        let mut missing: Vec<&PacState> = self
            .states
            .iter()
            .filter(|state| state.is_missing())
            .collect();
        let lack = |state: &PacState| {
            state
                .required
                .map_or(u64::MAX, |required| required.saturating_sub(state.visits))
        };
        missing.sort_by_key(|state| std::cmp::Reverse(lack(state)));
        for state in missing.iter().take(MOST_MISSING) {
            let required = match state.required {
                Some(required) => format!("needs {} exits", number(required)),
                None => "no number of exits suffices: runs from it may be infinite, or a declared \
                    step was never observed and smoothing is 0"
                    .to_owned(),
            };
            let had = number(state.visits);
            writeln!(out, "    {}: {required}, has {had}", state.state)?;
        }
        if missing.len() > MOST_MISSING {
            writeln!(out, "    and {} more states", missing.len() - MOST_MISSING)?;
        }
        Ok(())
    }
}

fn invalid_json(found: &Invalid, space: &Space) -> Json {
    let of = |key: Option<crate::abstraction::Key>| key.map(|key| space.describe(key));
    json!({
        "trace": found.trace,
        "file": found.file,
        "step": found.step,
        "from": of(found.from),
        "to": of(found.to),
        "why": reason(found.why),
    })
}

fn invalid_line(found: &Invalid, space: &Space) -> String {
    let from = found
        .from
        .map_or_else(|| "start".to_owned(), |key| space.describe(key));
    let to = found
        .to
        .map_or_else(|| "end".to_owned(), |key| space.describe(key));
    let step = found
        .step
        .map_or_else(String::new, |step| format!(" step {step}"));
    format!(
        "{}{step}: {from} → {to}: {}",
        found.trace,
        reason(found.why)
    )
}
