//! `guard query --chain` on a chain with interval probabilities.

use std::io::Write;
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Map, Value, json};

use crate::audit::Progress;
use crate::cli::failure::{Failure, Outcome, code, complain};
use crate::cli::output::Output;
use crate::cli::query::{ChainFile, QueryArgs, QueryFormat, check_error_message};
use guard_markov::interval::{Bounds, UncertainChain};
use guard_markov::prism::expr::{Compare, Kind};
use guard_markov::{Checker, Options, Property, Scope};

/// The message for properties that have no bounds over all chains.
const ONE_OPERATOR: &str = "a chain with intervals supports only the probability of one temporal \
                            operator, as in `P=? [ F \"bad\" ]`";

/// Writes bounds over all chains that the intervals allow, property by property.
pub(super) fn run(
    args: &QueryArgs,
    chain: &UncertainChain,
    sources: &[ChainFile],
    progress: &Progress,
) -> Result<Outcome, Failure> {
    if args.why.is_some() {
        return Err(Failure::Usage(
            "`--why` is not supported on chains with intervals".to_owned(),
        ));
    }
    let states = chain
        .states()
        .map_err(|wrong| Failure::Usage(wrong.to_string()))?;
    let mut checker = Checker::new(&states, Scope::default(), Options::default());
    let given = args.chain.definitions()?;
    for source in sources {
        checker
            .declare(&source.file, &given)
            .map_err(|wrong| Failure::Usage(check_error_message(&source.name, &wrong)))?;
    }
    args.chain.check_constants(checker.scope())?;
    let mut output = Output::open(None)?;
    let (mut outcome, mut failed) = (Outcome::Holds, false);
    for source in sources {
        for property in args.wanted(source) {
            let clock = Instant::now();
            let answer = answer(&checker, property, chain, args.precision);
            progress.done.fetch_add(1, Ordering::Relaxed);
            let answer = match answer {
                Ok(answer) => answer,
                Err(wrong) => {
                    complain(&format!("property `{}`: {wrong}", property.text));
                    failed = true;
                    continue;
                }
            };
            match (answer.holds, outcome) {
                (Some(Some(false)), _) => outcome = Outcome::Violated,
                (Some(None), Outcome::Holds) => outcome = Outcome::Unreadable,
                _ => {}
            }
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            match args.format {
                QueryFormat::Json => writeln!(output, "{}", answer.json(args.all_states, ms))?,
                QueryFormat::Human => answer.human(&mut output, args.all_states)?,
            }
        }
    }
    output.close()?;
    if failed {
        return Err(Failure::AlreadyReported(code::USAGE));
    }
    Ok(outcome)
}

/// Bounds on a probability, and whether all chains keep a threshold, none, or some.
struct Answer<'p> {
    property: &'p Property,
    bounds: Bounds,
    /// The bounds over the initial states.
    range: (f64, f64),
    holds: Option<Option<bool>>,
}

fn answer<'p>(
    checker: &Checker<'_, f64>,
    property: &'p Property,
    chain: &UncertainChain,
    precision: f64,
) -> Result<Answer<'p>, String> {
    let Kind::Probability(compare, path, None) = &property.formula.kind else {
        return Err(ONE_OPERATOR.to_owned());
    };
    let found = checker.robust(path, chain, precision);
    let bounds = match found.map_err(|wrong| wrong.to_string())? {
        Some(bounds) => bounds,
        None => return Err(ONE_OPERATOR.to_owned()),
    };
    let initial = || chain.initial().ones();
    let least = initial().map(|state| bounds.lower[state]);
    let most = initial().map(|state| bounds.upper[state]);
    let range = (
        least.fold(f64::INFINITY, f64::min),
        most.fold(0.0, f64::max),
    );
    let holds = match compare {
        Compare::Value => None,
        Compare::Bound(relation, bound) => {
            let bound = checker
                .threshold(bound)
                .map_err(|wrong| wrong.to_string())?;
            Some(relation.over(&range.0, &range.1, &bound))
        }
    };
    Ok(Answer {
        property,
        bounds,
        range,
        holds,
    })
}

impl Answer<'_> {
    fn json(&self, all_states: bool, ms: f64) -> Value {
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| object.insert(key.to_owned(), value);
        put("v", json!(1));
        if let Some(name) = &self.property.name {
            put("name", json!(name));
        }
        put("property", json!(self.property.text));
        put("states", json!(self.bounds.lower.len()));
        put("value", Value::Null);
        put("lower", json!(self.range.0));
        put("upper", json!(self.range.1));
        if let Some(holds) = self.holds {
            put("holds", json!(holds));
        }
        if all_states {
            let ranges = self.bounds.lower.iter().zip(&self.bounds.upper);
            let ranges: Vec<Value> = ranges
                .map(|(lower, upper)| json!({"lower": lower, "upper": upper}))
                .collect();
            put("intervals", json!(ranges));
        }
        put("method", json!("robust iteration"));
        put("ms", json!((ms * 1e3).round() / 1e3));
        Value::Object(object)
    }

    fn human(&self, output: &mut Output, all_states: bool) -> std::io::Result<()> {
        match &self.property.name {
            Some(name) => writeln!(output, "{name}: {}", self.property.text)?,
            None => writeln!(output, "{}", self.property.text)?,
        }
        match self.holds {
            Some(Some(true)) => writeln!(output, "  holds for every chain within the intervals")?,
            Some(Some(false)) => writeln!(output, "  holds for no chain within the intervals")?,
            Some(None) => writeln!(
                output,
                "  undecided: the result depends on the chain within the intervals, or is too \
                    close to the threshold"
            )?,
            None => {}
        }
        let (least, most) = self.range;
        writeln!(output, "  between {least} and {most}")?;
        if all_states {
            let ranges = self.bounds.lower.iter().zip(&self.bounds.upper);
            for (state, (least, most)) in ranges.enumerate() {
                writeln!(output, "    {state}: between {least} and {most}")?;
            }
        }
        Ok(())
    }
}
