//! Explanations of probabilities, as text and as JSON: `guard query --why`.

use std::io::{self, Write};

use serde_json::{Value as Json, json};

use crate::report::Paint;
use crate::report::text::number;
use guard_automata::graph::{bottom, components};
use guard_markov::analysis::{absorption, steps_to_absorption};
use guard_markov::solve::{Accuracy, NotConverged};
use guard_markov::why::{Goal, Why};
use guard_markov::{Chain, Estimate, Scalar};

/// The greatest number of rows of each table.
const MOST: usize = 5;

/// If there are more end states than this, they are not listed.
const MOST_ENDS: usize = 50;

/// The explanation of the probability of reaching a set, with the names of states.
#[derive(Clone, Debug)]
pub struct Reasons {
    /// The name of the initial state of the explanation.
    pub from: String,
    /// Whether the formula forbids reaching the set: the explanation is then about the opposite event.
    pub opposite: bool,
    /// Whether the formula has a bound on steps.
    bounded: bool,
    names: Names,
    why: Why,
    paths: Vec<(f64, Vec<u32>)>,
    /// The number of times that each row was counted.
    exits: Vec<u64>,
    ends: Ends,
}

/// The states in which runs end.
#[derive(Clone, Debug, Default)]
struct Ends {
    /// The end states, each with its probability.
    places: Vec<(String, f64)>,
    /// The mean number of steps.
    steps: Option<f64>,
}

/// The names of the states that are listed.
type Names = std::collections::BTreeMap<u32, String>;

impl Reasons {
    /// Explains how a goal is reached from a state. `exits` gives the number of times that each row was counted; empty for a
    /// chain without counts.
    ///
    /// # Errors
    /// [`NotConverged`].
    pub fn new<V: Scalar>(
        chain: &Chain<V>,
        name: &dyn Fn(u32) -> String,
        (goal, opposite): &(Goal, bool),
        from: u32,
        exits: Vec<u64>,
        accuracy: &Accuracy,
    ) -> Result<Reasons, NotConverged> {
        let mut why = goal.why(chain, from, &exits, accuracy)?;
        why.next.truncate(MOST);
        why.jumps.truncate(MOST);
        why.levers.truncate(MOST);
        why.doubt.truncate(MOST);
        let paths: Vec<(f64, Vec<u32>)> = goal
            .likely_paths(chain, from, MOST)
            .into_iter()
            .map(|path| (path.probability, path.states))
            .collect();
        let ends = ends(chain, name, from, accuracy)?;
        let told = why
            .next
            .iter()
            .map(|part| part.state)
            .chain(why.jumps.iter().map(|jump| jump.from))
            .chain(why.levers.iter().flat_map(|lever| [lever.from, lever.to]))
            .chain(why.doubt.iter().map(|part| part.0))
            .chain(paths.iter().flat_map(|path| path.1.iter().copied()));
        Ok(Reasons {
            from: name(from),
            opposite: *opposite,
            bounded: goal.horizon.is_some(),
            names: told.map(|state| (state, name(state))).collect(),
            why,
            paths,
            exits,
            ends,
        })
    }

    /// Returns the likeliest paths: the probability of each, and its states.
    pub(super) fn into_paths(self) -> Vec<(f64, Vec<u32>)> {
        self.paths
    }

    fn name(&self, state: u32) -> &str {
        self.names.get(&state).map_or("", String::as_str)
    }

    fn path(&self, path: &[u32]) -> Vec<&str> {
        path.iter().map(|state| self.name(*state)).collect()
    }

    /// Returns the explanation as a JSON object.
    pub fn to_json(&self) -> Json {
        let why = &self.why;
        json!({
            "from": self.from,
            "opposite": self.opposite,
            "risk": why.risk,
            "next": why.next.iter().map(|part| json!({
                "state": self.name(part.state), "share": part.share, "risk": part.risk,
            })).collect::<Vec<_>>(),
            "last_step": why.jumps.iter().map(|jump| json!({
                "from": self.name(jump.from), "probability": jump.probability,
            })).collect::<Vec<_>>(),
            "paths": self.paths.iter().map(|(probability, path)| json!({
                "probability": probability, "states": self.path(path),
            })).collect::<Vec<_>>(),
            "levers": why.levers.iter().map(|lever| json!({
                "from": self.name(lever.from), "to": self.name(lever.to), "derivative": lever.derivative,
            })).collect::<Vec<_>>(),
            "doubt": why.doubt.iter().map(|(state, part)| json!({
                "state": self.name(*state), "share": part, "counted": self.exits.get(*state as usize),
            })).collect::<Vec<_>>(),
            "steps": why.steps,
            "ends": self.ends.places.iter().map(|(state, probability)| json!({
                "state": state, "probability": probability,
            })).collect::<Vec<_>>(),
            "steps_to_end": self.ends.steps,
        })
    }

    /// Writes the explanation as lines below the answer or, if there are no reasons, the cause of that.
    ///
    /// # Errors
    /// If writing fails.
    pub fn write_all(of: Option<&Reasons>, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        match of {
            Some(reasons) => reasons.write(out, paint),
            None => {
                let none = "no explanation: only the probability of a single future event has one";
                writeln!(out, "  {}", paint.quiet(none))
            }
        }
    }

    fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let why = &self.why;
        let what = if self.opposite { "its opposite" } else { "it" };
        if why.risk <= 0.0 {
            return writeln!(out, "  from {}, the probability of {what} is 0", self.from);
        }
        writeln!(out, "  {}", paint.name(&format!("why, from {}", self.from)))?;
        let head = |out: &mut dyn Write, text: String| writeln!(out, "    {}", paint.quiet(&text));
        let next = format!("next states through which {what} happens: share, risk from there");
        head(out, next)?;
        for part in &why.next {
            let name = self.name(part.state);
            writeln!(out, "      {:.3}  {:.4}  {name}", part.share, part.risk)?;
        }
        head(
            out,
            "share of the risk by last state before the event".to_owned(),
        )?;
        for jump in &why.jumps {
            let share = jump.probability / why.risk;
            writeln!(out, "      {share:.3}  {}", self.name(jump.from))?;
        }
        let told: f64 = self.paths.iter().map(|path| path.0).sum();
        let told = 100.0 * (told / why.risk).min(1.0);
        let loops = if self.bounded {
            ""
        } else {
            ", self-loops omitted"
        };
        head(
            out,
            format!("most likely paths, together {told:.0} % of the risk{loops}"),
        )?;
        for (probability, path) in &self.paths {
            writeln!(
                out,
                "      {probability:.4}  {}",
                self.path(path).join(" → ")
            )?;
        }
        head(
            out,
            "sensitivity: change in the result per unit of probability shifted to this transition"
                .to_owned(),
        )?;
        for lever in &why.levers {
            let (from, to) = (self.name(lever.from), self.name(lever.to));
            writeln!(out, "      {:+.4}  {from} → {to}", lever.derivative)?;
        }
        if !why.doubt.is_empty() {
            head(
                out,
                "where more data would help most: share of variance, observations".to_owned(),
            )?;
            for (state, part) in &why.doubt {
                let counted = self.exits.get(*state as usize).copied().unwrap_or(0);
                let name = self.name(*state);
                writeln!(out, "      {part:.3}  {:>8}  {name}", number(counted))?;
            }
        }
        if let Some(steps) = why.steps {
            writeln!(
                out,
                "    if {what} happens, it takes {steps:.2} steps on average"
            )?;
        }
        if let (Some(length), false) = (self.ends.steps, self.ends.places.is_empty()) {
            let ends: Vec<String> = self
                .ends
                .places
                .iter()
                .map(|(name, probability)| format!("{name} {probability:.4}"))
                .collect();
            writeln!(
                out,
                "    runs end after {length:.2} steps on average, in {}",
                ends.join("; ")
            )?;
        }
        Ok(())
    }
}

/// Returns the states in which runs from a state end, the likeliest first, with the mean number of steps. Empty if the state
/// is one of them, or if there are too many.
fn ends<V: Scalar>(
    chain: &Chain<V>,
    name: &dyn Fn(u32) -> String,
    from: u32,
    accuracy: &Accuracy,
) -> Result<Ends, NotConverged> {
    let found = components(chain.graph(), None);
    let bottoms = bottom(chain.graph(), &found);
    if bottoms.len() > MOST_ENDS || found.of(from).is_some_and(|own| bottoms.contains(&own)) {
        return Ok(Ends::default());
    }
    let mut places = Vec::new();
    for end in absorption(chain, accuracy)? {
        let probability = end.probability[from as usize].value().to_f64();
        let Some(first) = end.members.first().filter(|_| probability > 0.0) else {
            continue;
        };
        let first = name(*first);
        places.push(match end.members.len() {
            1 => (first, probability),
            n => (format!("{first} and {} more", n - 1), probability),
        });
    }
    places.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let steps = steps_to_absorption(chain, accuracy)?;
    Ok(Ends {
        places,
        steps: Some(steps[from as usize].value().to_f64()),
    })
}
