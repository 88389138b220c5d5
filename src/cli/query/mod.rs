//! `guard query`: evaluates the properties of a Markov chain.

mod claim_view;
mod interval;
pub(super) mod spec;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::chain::{ChainArgs, LoadedChain, at, complain_of, read};
use super::failure::{Failure, Outcome, code, complain, unknown_property};
use super::output::Output;
use super::progress;
use crate::audit::Progress;
use crate::learn::RowLimits;
use crate::query::{Method, Reasons};
use guard_markov::check::Root;
use guard_markov::prism::expr::Kind;
use guard_markov::solve::{Accuracy, NotConverged};
use guard_markov::{
    Answer, Chain, CheckError, Checker, Estimate, Numbers, Options, Properties, Property, Scalar,
    Single, Truth, parse_properties,
};
use num_rational::BigRational;
use spec::Question;

#[derive(Debug, clap::Args)]
pub(super) struct QueryArgs {
    /// Spec, followed by names of its queries or by formulas; with --chain, properties such as 'P=? [ F "error" ]'
    #[arg(value_name = "SPEC|PROPERTY")]
    properties: Vec<String>,
    /// Learned model, for queries of a spec
    #[arg(long, value_name = "MODEL.json")]
    model: Option<PathBuf>,
    #[command(flatten)]
    pub(super) chain: ChainArgs,
    /// Files of properties, in the syntax of PRISM or Storm
    #[arg(long, value_name = "FILE")]
    props: Vec<PathBuf>,
    /// Evaluate only the properties with these names
    #[arg(long, value_name = "NAME")]
    property: Vec<String>,
    /// Relative width to which iterative results are certified
    #[arg(long, value_name = "WIDTH", default_value_t = 1e-6)]
    pub(super) precision: f64,
    /// List the values of all states
    #[arg(long)]
    pub(super) all_states: bool,
    /// Explain the probability of an event, from the initial state or this one
    #[arg(long, value_name = "STATE", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    pub(super) why: Option<String>,
    /// Method for the confidence intervals of a learned model
    #[arg(long, value_enum, default_value_t = IntervalsArg::Fixed, value_name = "METHOD")]
    intervals: IntervalsArg,
    /// Error probability of the confidence intervals (default: that of `pac`, else 0.05)
    #[arg(long, value_name = "CHANCE")]
    delta: Option<f64>,
    /// Limit the states of the product of chain and automaton
    #[arg(long, value_name = "N", default_value_t = Options::default().max_product)]
    max_product: usize,
    /// Draw the chain with the risk of each state, and the probability over the steps, into this file (.svg or .html)
    #[arg(long, value_name = "FILE", conflicts_with = "chain")]
    plot: Option<PathBuf>,
    /// Format of the answers
    #[arg(long, value_enum, default_value_t = QueryFormat::Human)]
    pub(super) format: QueryFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum IntervalsArg {
    /// Clopper-Pearson: exact if the number of traces was fixed in advance
    Fixed,
    /// Relative-entropy balls: wider, but valid for any stopping time
    Anytime,
    /// No intervals
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum QueryFormat {
    /// Text
    Human,
    /// JSON Lines, one object per property
    Json,
}

pub(super) fn run(args: QueryArgs) -> Result<Outcome, Failure> {
    if !(args.precision > 0.0 && args.precision < 1.0) {
        return Err(Failure::Usage(format!(
            "--precision {} is not between 0 and 1",
            args.precision
        )));
    }
    if let Some(delta) = args.delta.filter(|delta| !(*delta > 0.0 && *delta < 1.0)) {
        return Err(Failure::Usage(format!(
            "--delta {delta} is not between 0 and 1"
        )));
    }
    if args.chain.chain.is_none() {
        let [spec, names @ ..] = args.properties.as_slice() else {
            return Err(Failure::Usage(
                "no spec or chain given: give a spec, or a Markov chain with --chain FILE"
                    .to_owned(),
            ));
        };
        let mut options = Options {
            max_product: args.max_product,
            ..Options::default()
        };
        options.accuracy.precision = args.precision;
        return spec::run(&Question {
            spec: Path::new(spec),
            names: &[names, args.property.as_slice()].concat(),
            model: args.model.as_deref(),
            chain: &args.chain,
            all_states: args.all_states,
            why: args.why.as_deref(),
            json: args.format == QueryFormat::Json,
            plot: args.plot.as_deref(),
            options,
            rows: RowLimits::default(),
            confidence: match args.intervals {
                IntervalsArg::Fixed => Some((Method::Fixed, args.delta)),
                IntervalsArg::Anytime => Some((Method::Anytime, args.delta)),
                IntervalsArg::None => None,
            },
        });
    }
    progress::during("properties answered", |progress| {
        let sources = sources(&args)?;
        let wanted = |source| args.wanted(source).count() as u64;
        let parts = sources.iter().map(wanted).sum();
        progress.parts.store(parts, Ordering::Relaxed);
        let uncertain = match &args.chain.chain {
            Some(path) => args.chain.load_uncertain(path)?,
            None => None,
        };
        match uncertain {
            Some(chain) => interval::run(&args, &chain, &sources, progress),
            None if args.chain.exact => on_chain::<BigRational>(&args, &sources, progress),
            None => on_chain::<f64>(&args, &sources, progress),
        }
    })
}

/// A text with properties and its name in messages.
pub(super) struct ChainFile {
    pub(super) name: String,
    pub(super) file: Properties,
}

impl QueryArgs {
    /// Returns the requested properties of a text.
    pub(super) fn wanted<'s>(&self, source: &'s ChainFile) -> impl Iterator<Item = &'s Property> {
        source.file.properties.iter().filter(|property| {
            let name = property.name.as_ref();
            self.property.is_empty() || name.is_some_and(|name| self.property.contains(name))
        })
    }
}

fn sources(args: &QueryArgs) -> Result<Vec<ChainFile>, Failure> {
    let mut found = Vec::new();
    for path in &args.props {
        let file = parse_properties(&read(path)?).map_err(|wrong| at(path, &wrong))?;
        found.push(ChainFile {
            name: path.display().to_string(),
            file,
        });
    }
    for text in &args.properties {
        let file = parse_properties(text).map_err(|wrong| {
            Failure::Usage(super::chain::text_error_message(
                &format!("property `{text}`"),
                &wrong,
            ))
        })?;
        found.push(ChainFile {
            name: format!("property `{text}`"),
            file,
        });
    }
    for name in &args.property {
        let all = found.iter().flat_map(|source| &source.file.properties);
        let known: Vec<&str> = all
            .filter_map(|property| property.name.as_deref())
            .collect();
        if !known.contains(&name.as_str()) {
            return Err(Failure::Usage(unknown_property(name, &known)));
        }
    }
    if !found
        .iter()
        .any(|source| args.wanted(source).next().is_some())
    {
        return Err(Failure::Usage(
            "no properties given: give one as an argument, or a file with --props".to_owned(),
        ));
    }
    Ok(found)
}

fn on_chain<V: Scalar>(
    args: &QueryArgs,
    sources: &[ChainFile],
    progress: &Progress,
) -> Result<Outcome, Failure> {
    let Some(path) = &args.chain.chain else {
        return Ok(Outcome::Holds);
    };
    let LoadedChain { chain, scope } = args.chain.load::<V>(path)?;
    let mut options = Options {
        max_product: args.max_product,
        ..Options::default()
    };
    options.accuracy.precision = args.precision;
    let accuracy = options.accuracy;
    let mut checker = Checker::new(&chain, scope, options);
    let given = args.chain.definitions()?;
    for source in sources {
        checker
            .declare(&source.file, &given)
            .map_err(|wrong| Failure::Usage(check_error_message(&source.name, &wrong)))?;
    }
    args.chain.check_constants(checker.scope())?;
    let mut output = Output::open(None)?;
    let mut outcome = Outcome::Holds;
    let mut failed = false;
    let order = if args.all_states {
        chain.listing()
    } else {
        Vec::new()
    };
    for source in sources {
        for property in args.wanted(source) {
            let clock = Instant::now();
            let root = checker.root(&property.formula);
            progress.done.fetch_add(1, Ordering::Relaxed);
            let root = match root {
                Ok(root) => root,
                Err(wrong) => {
                    match &wrong {
                        CheckError::Text(wrong) => complain_of(&source.name, wrong),
                        wrong => complain(&format!("{}: {wrong}", source.name)),
                    }
                    failed = true;
                    continue;
                }
            };
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            let short = checker.take_shortfall();
            let why = match &args.why {
                None => None,
                Some(state) => Some(why(&checker, property, state, &accuracy)?),
            };
            let told = AnswerView {
                property,
                chain: &chain,
                holds: holds(&root, &chain),
                root: &root,
                why,
                method: checker.method(&property.formula),
                ms,
                short,
                precision: args.precision,
            };
            match (told.holds, outcome) {
                (Some(Some(false)), _) => outcome = Outcome::Violated,
                (Some(None), Outcome::Holds) => outcome = Outcome::Unreadable,
                _ => {}
            }
            match args.format {
                QueryFormat::Json => writeln!(output, "{}", told.json(&order))?,
                QueryFormat::Human => told.human(&mut output, &order)?,
            }
        }
    }
    output.close()?;
    if failed {
        return Err(Failure::AlreadyReported(code::USAGE));
    }
    Ok(outcome)
}

/// Explains the probability of an event; `None` for other properties, and if it has already happened.
fn why<V: Scalar>(
    checker: &Checker<'_, V>,
    property: &Property,
    state: &str,
    accuracy: &Accuracy,
) -> Result<Option<Reasons>, Failure> {
    let chain = checker.chain();
    let name = |state: u32| chain.name(state);
    let from = if state.is_empty() {
        chain.initial().ones().next().unwrap_or(0) as u32
    } else {
        let found = (0..chain.len() as u32).find(|number| name(*number) == state);
        found.ok_or_else(|| {
            Failure::Usage(format!(
                "unknown state `{state}`: to list the states, use `--all-states`"
            ))
        })?
    };
    let Kind::Probability(_, path, None) = &property.formula.kind else {
        return Ok(None);
    };
    let wrong = |error: CheckError| Failure::Usage(error.to_string());
    let goal = checker.goal(path).map_err(wrong)?;
    let Some(goal) = goal.filter(|(goal, _)| goal.open.contains(from as usize)) else {
        return Ok(None);
    };
    let reasons = Reasons::new(chain, &name, &goal, from, Vec::new(), accuracy);
    Ok(Some(
        reasons.map_err(|error| Failure::Usage(error.to_string()))?,
    ))
}

pub(super) fn check_error_message(name: &str, wrong: &CheckError) -> String {
    match wrong {
        CheckError::Text(wrong) => super::chain::text_error_message(name, wrong),
        wrong => format!("{name}: {wrong}"),
    }
}

/// Whether a property holds in all initial states; `None` for a number, and an inner `None` if it is undecided.
fn holds<V: Scalar>(root: &Root<V>, chain: &Chain<V>) -> Option<Option<bool>> {
    match &root.answer {
        Answer::Truth(truth) => Some(in_all(truth, chain)),
        Answer::Whole(holds) => Some(*holds),
        Answer::Numbers(_) | Answer::Number(_) => None,
    }
}

fn in_all<V: Scalar>(truth: &Truth, chain: &Chain<V>) -> Option<bool> {
    if chain.initial().is_subset(&truth.must) {
        Some(true)
    } else if chain.initial().is_subset(&truth.may) {
        None
    } else {
        Some(false)
    }
}

/// An answer to be written.
struct AnswerView<'a, V: Scalar> {
    property: &'a Property,
    chain: &'a Chain<V>,
    holds: Option<Option<bool>>,
    root: &'a Root<V>,
    /// The reasons, if requested; an inner `None` if there are none.
    why: Option<Option<Reasons>>,
    method: &'static str,
    ms: f64,
    /// The reason why the bounds of a component are wider than requested, if they are.
    short: Option<NotConverged>,
    /// The requested relative width.
    precision: f64,
}

/// One value: a number with bounds, infinity, or none.
enum Shown<V: Scalar> {
    /// A number with its bounds, of which the upper one is no greater than `most`.
    Finite {
        value: V::Estimate,
        most: f64,
    },
    Infinite,
    None,
}

impl<V: Scalar> Shown<V> {
    /// Returns what is known of a finite number; a number beyond all doubles has bounds only.
    fn value(&self) -> Value {
        match self {
            Shown::Finite { value, .. } => json!(value.value().to_f64()),
            Shown::Infinite => json!("inf"),
            Shown::None => Value::Null,
        }
    }

    fn exact(&self) -> Value {
        match self {
            Shown::Finite { value, .. } => json!(value.value().text()),
            Shown::Infinite => json!("inf"),
            Shown::None => Value::Null,
        }
    }

    fn bounds(&self) -> (Value, Value) {
        match self {
            Shown::Finite { .. } => {
                let (low, high) = self.ends();
                (number(low), number(high))
            }
            Shown::Infinite => (json!("inf"), json!("inf")),
            Shown::None => (Value::Null, Value::Null),
        }
    }

    /// Returns the bounds of a number.
    fn ends(&self) -> (f64, f64) {
        match self {
            Shown::Finite { value, most } => {
                (value.lower().to_f64(), value.upper().to_f64().min(*most))
            }
            Shown::Infinite | Shown::None => (f64::INFINITY, f64::INFINITY),
        }
    }

    /// Whether the bounds are wider than this, relatively.
    fn is_wider(&self, precision: f64) -> bool {
        let (low, high) = self.ends();
        let is_narrow = high.is_finite() && high - low <= precision * high;
        matches!(self, Shown::Finite { value, .. } if !value.is_exact()) && !is_narrow
    }

    fn text(&self) -> String {
        match self {
            Shown::Finite { value, .. } if V::EXACT => {
                format!(
                    "{} (about {})",
                    value.value().text(),
                    decimal(value.value().to_f64())
                )
            }
            Shown::Finite { value, .. } if value.is_exact() => decimal(value.value().to_f64()),
            Shown::Finite { value, .. } => {
                let (low, high) = self.ends();
                let between = format!("between {} and {}", decimal(low), decimal(high));
                match value.value().to_f64() {
                    middle if middle.is_finite() => format!("{} ({between})", decimal(middle)),
                    _ => between,
                }
            }
            Shown::Infinite => "infinite".to_owned(),
            Shown::None => "undefined: the condition has probability 0, no state is selected, or the number may be infinite".to_owned(),
        }
    }
}

/// Returns a number as text, with an exponent where it would have many zeros.
fn decimal(value: f64) -> String {
    if value == 0.0 || (1e-6..1e16).contains(&value.abs()) || value.is_infinite() {
        format!("{value}")
    } else {
        format!("{value:e}")
    }
}

/// Returns a number for JSON; an infinite upper bound is a text, since JSON has no number for it.
fn number(value: f64) -> Value {
    if value == f64::INFINITY {
        json!("inf")
    } else {
        json!(value)
    }
}

impl<V: Scalar> AnswerView<'_, V> {
    fn shown(&self, numbers: &Numbers<V>, state: usize) -> Shown<V> {
        if numbers.infinite.contains(state) {
            return Shown::Infinite;
        }
        match numbers.at(state) {
            Some(value) => self.finite(value),
            None => Shown::None,
        }
    }

    fn finite(&self, value: &V::Estimate) -> Shown<V> {
        // A rounded bound of a probability may exceed 1.
        let most = match self.property.formula.kind {
            Kind::Probability(..) => 1.0,
            _ => f64::INFINITY,
        };
        let value = value.clone();
        Shown::Finite { value, most }
    }

    /// Returns the reason why the bounds are wider than requested, if they are.
    fn imprecise(&self) -> Option<String> {
        let is_wide = || {
            self.single()
                .is_some_and(|shown| shown.is_wider(self.precision))
        };
        match &self.short {
            Some(short) => Some(short.to_string()),
            None if is_wide() => Some(format!(
                "rounding leaves a relative width above {}; use --exact",
                self.precision
            )),
            None => None,
        }
    }

    fn numbers(&self) -> Option<&Numbers<V>> {
        match &self.root.answer {
            Answer::Numbers(numbers) => Some(numbers),
            _ => self.root.numbers.as_ref(),
        }
    }

    /// Returns the value for the initial states, where they agree.
    fn single(&self) -> Option<Shown<V>> {
        if let Answer::Number(single) = &self.root.answer {
            return Some(match single {
                Single::Finite(value) => self.finite(value),
                Single::Infinite => Shown::Infinite,
                Single::Undefined => Shown::None,
            });
        }
        let numbers = self.numbers()?;
        let mut initial = self.chain.initial().ones();
        let first = initial.next()?;
        let shown = self.shown(numbers, first);
        initial
            .all(|state| self.shown(numbers, state).value() == shown.value())
            .then_some(shown)
    }

    /// Returns bounds on the values of several initial states together.
    fn spread(&self) -> Option<(f64, f64)> {
        let numbers = self.numbers()?;
        let initial = self.chain.initial();
        if initial.count_ones(..) < 2 {
            return None;
        }
        let shown = initial.ones().map(|state| self.shown(numbers, state));
        let known = shown.filter(|shown| !matches!(shown, Shown::None));
        let ends = known.map(|shown| shown.ends());
        ends.reduce(|(least, most), (low, high)| (least.min(low), most.max(high)))
    }

    fn json(&self, order: &[u32]) -> Value {
        let mut object = Map::new();
        object.insert("v".to_owned(), json!(1));
        if let Some(name) = &self.property.name {
            object.insert("name".to_owned(), json!(name));
        }
        object.insert("property".to_owned(), json!(self.property.text));
        object.insert("states".to_owned(), json!(self.chain.len()));
        let single = self.single();
        if self.holds.is_none() || single.is_some() {
            let shown = single.unwrap_or(Shown::None);
            let (mut lower, mut upper) = shown.bounds();
            if let (Shown::None, Some((least, most))) = (&shown, self.spread()) {
                (lower, upper) = (number(least), number(most));
            }
            object.insert("value".to_owned(), shown.value());
            if V::EXACT {
                object.insert("exact".to_owned(), shown.exact());
            }
            object.insert("lower".to_owned(), lower);
            object.insert("upper".to_owned(), upper);
        }
        if let Some(holds) = self.holds {
            object.insert("holds".to_owned(), json!(holds));
        }
        if !order.is_empty() {
            let list = |of: &dyn Fn(usize) -> Value| -> Value {
                order.iter().map(|&state| of(state as usize)).collect()
            };
            match &self.root.answer {
                Answer::Truth(truth) => {
                    object.insert(
                        "per_state".to_owned(),
                        list(&|state| json!(truth.at(state))),
                    );
                }
                Answer::Numbers(numbers) => {
                    let values = list(&|state| self.shown(numbers, state).value());
                    object.insert("per_state".to_owned(), values);
                    if V::EXACT {
                        let values = list(&|state| self.shown(numbers, state).exact());
                        object.insert("per_state_exact".to_owned(), values);
                    }
                }
                Answer::Whole(_) | Answer::Number(_) => {}
            }
        }
        if let Some(why) = &self.why {
            object.insert("why".to_owned(), json!(why.as_ref().map(Reasons::to_json)));
        }
        object.insert("method".to_owned(), json!(self.method));
        object.insert("ms".to_owned(), json!((self.ms * 1e3).round() / 1e3));
        if let Some(why) = self.imprecise() {
            object.insert("imprecise".to_owned(), json!(why));
        }
        Value::Object(object)
    }

    fn human(&self, output: &mut Output, order: &[u32]) -> std::io::Result<()> {
        match &self.property.name {
            Some(name) => writeln!(output, "{name}: {}", self.property.text)?,
            None => writeln!(output, "{}", self.property.text)?,
        }
        match self.holds {
            Some(Some(true)) => writeln!(output, "  holds")?,
            Some(Some(false)) => writeln!(output, "  does not hold")?,
            Some(None) if matches!(self.single(), Some(Shown::None)) => {
                writeln!(output, "  undecided: there is no number to compare")?;
            }
            Some(None) if self.short.is_some() => writeln!(output, "  undecided")?,
            Some(None) => writeln!(
                output,
                "  undecided: the value is too close to the threshold; try a smaller --precision, or --exact"
            )?,
            None => {}
        }
        match self.single() {
            Some(shown) => writeln!(output, "  {}", shown.text())?,
            None if self.holds.is_none() => {
                let of = match self.spread() {
                    Some((least, most)) => format!("lie between {least} and {most}"),
                    None => "differ".to_owned(),
                };
                let more = if order.is_empty() {
                    "; to list them, use --all-states"
                } else {
                    ""
                };
                writeln!(output, "  the values of the initial states {of}{more}")?;
            }
            None => {}
        }
        if let Some(why) = self.imprecise() {
            writeln!(output, "  imprecise: {why}")?;
        }
        for &state in order {
            let name = self.chain.name(state);
            let value = match &self.root.answer {
                Answer::Truth(truth) => match truth.at(state as usize) {
                    Some(holds) => holds.to_string(),
                    None => "undecided".to_owned(),
                },
                Answer::Numbers(numbers) => self.shown(numbers, state as usize).text(),
                Answer::Whole(_) | Answer::Number(_) => break,
            };
            writeln!(output, "    {name}: {value}")?;
        }
        if let Some(why) = &self.why {
            let paint = output.paint;
            Reasons::write_all(why.as_ref(), output, paint)?;
        }
        Ok(())
    }
}
