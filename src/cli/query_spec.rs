//! `guard query SPEC`: what a spec says of its models, answered.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use num_rational::BigRational;
use serde_json::{Map, Value, json};
use smol_str::SmolStr;

use super::chain::ChainArgs;
use super::failure::{Failure, Outcome, code, complain};
use super::learn;
use super::output::Output;
use super::spec;
use crate::diagnostic::did_you_mean;
use crate::eval;
use crate::hir::{Claim, ClaimKind, ModelSource, Spec, Subject as On};
use crate::ids::ModelId;
use crate::learn::{Counts, Model, RowLimits, Subject};
use crate::markov::{Options, Scalar};
use crate::query::{ClaimAnswer, Figure, ask_imported, ask_learned, asked};
use crate::report::Paint;

/// What is asked, and how.
pub(super) struct Question<'a> {
    pub(super) spec: &'a Path,
    /// Names of claims; none for all.
    pub(super) names: &'a [String],
    pub(super) model: Option<&'a Path>,
    pub(super) chain: &'a ChainArgs,
    pub(super) all_states: bool,
    pub(super) json: bool,
    pub(super) options: Options,
    pub(super) rows: RowLimits,
}

/// The chains of a model of the spec.
enum Chains {
    /// Counts by category.
    Counts(Box<Subject>, BTreeMap<SmolStr, Counts>),
    /// A chain of others.
    Imported(PathBuf),
}

pub(super) fn run(question: &Question<'_>) -> Result<Outcome, Failure> {
    let (spec, _) = spec::usable(question.spec)?;
    let spec = Arc::new(spec);
    let claims = chosen(&spec, question.names)?;
    let given = question.model.map(learn::read).transpose()?;
    let mut output = Output::open(None)?;
    let mut outcome = Outcome::Holds;
    let mut failed = false;
    for model in (0..spec.models.len()).map(ModelId::new) {
        let of: Vec<&Claim> = claims
            .iter()
            .copied()
            .filter(|claim| claim.on == On::Model(model))
            .collect();
        // Without names, a model file asks for what is said of its model.
        let other = given.as_ref().is_some_and(|given| {
            given.header.model != spec.model(model).name && spec.models.len() > 1
        });
        let learned = matches!(spec.model(model).source, ModelSource::Learn(_));
        if of.is_empty() || (other && learned && question.names.is_empty()) {
            continue;
        }
        let told = if question.chain.exact {
            on_model::<BigRational>(question, &spec, model, &of, given.as_ref(), &mut output)
        } else {
            on_model::<f64>(question, &spec, model, &of, given.as_ref(), &mut output)
        }?;
        match (told.worst, outcome) {
            (Outcome::Violated, _) => outcome = Outcome::Violated,
            (Outcome::Unreadable, Outcome::Holds) => outcome = Outcome::Unreadable,
            _ => {}
        }
        failed |= told.failed;
    }
    output.close()?;
    if failed {
        return Err(Failure::Told(code::USAGE));
    }
    Ok(outcome)
}

/// What came of the claims on one model.
struct Sum {
    worst: Outcome,
    failed: bool,
}

fn on_model<V: Scalar>(
    question: &Question<'_>,
    spec: &Arc<Spec>,
    model: ModelId,
    claims: &[&Claim],
    given: Option<&Model>,
    output: &mut Output,
) -> Result<Sum, Failure> {
    let mut sum = Sum {
        worst: Outcome::Holds,
        failed: false,
    };
    let chains = chains(question, spec, model, claims, given)?;
    for claim in claims {
        let clock = Instant::now();
        let answers: Vec<(Option<SmolStr>, Result<ClaimAnswer, String>)> = match &chains {
            Chains::Counts(subject, counts) => {
                let decided = |property| subject.space.abstraction().monitor_of(property).is_some();
                let (conditions, monitors) = asked(spec, claims.iter().copied(), &decided);
                let by = subject.learn.by.is_some();
                let ask = |(category, counts): (&SmolStr, &Counts)| {
                    let found = ask_learned::<V>(
                        subject,
                        counts,
                        claim,
                        (&conditions, &monitors),
                        question.rows,
                        &question.options,
                    );
                    let answer = found
                        .map(|(_, _, answer)| answer)
                        .map_err(|error| error.to_string());
                    (
                        (by || !category.is_empty()).then(|| category.clone()),
                        answer,
                    )
                };
                counts.iter().map(ask).collect()
            }
            Chains::Imported(path) => {
                let loaded = question.chain.load::<V>(path)?;
                let answer = ask_imported(spec, &loaded.chain, claim, &question.options);
                vec![(None, answer.map_err(|error| error.to_string()))]
            }
        };
        let ms = clock.elapsed().as_secs_f64() * 1e3;
        for (category, answer) in answers {
            let answer = match answer {
                Ok(answer) => answer,
                Err(wrong) => {
                    complain(&format!("`{}`: {wrong}", claim.name));
                    sum.failed = true;
                    continue;
                }
            };
            match (claim.kind, answer.holds) {
                (ClaimKind::Query, _) | (_, None | Some(Some(true))) => {}
                (_, Some(Some(false))) => sum.worst = Outcome::Violated,
                (_, Some(None)) if sum.worst == Outcome::Holds => sum.worst = Outcome::Unreadable,
                (_, Some(None)) => {}
            }
            let told = Told {
                claim,
                model: &spec.model(model).name,
                category: category.as_ref(),
                answer: &answer,
                ms,
            };
            if question.json {
                writeln!(output, "{}", told.json(question.all_states))?;
            } else {
                let paint = output.paint;
                told.human(output, paint, question.all_states)?;
            }
        }
    }
    Ok(sum)
}

/// The claims that are asked for.
fn chosen<'s>(spec: &'s Spec, names: &[String]) -> Result<Vec<&'s Claim>, Failure> {
    let on_models = || {
        spec.claims
            .iter()
            .filter(|claim| matches!(claim.on, On::Model(_)))
    };
    if on_models().next().is_none() {
        return Err(Failure::Usage(
            "the spec says nothing of a model: add `query soon = P=? [ F … ] on run`".to_owned(),
        ));
    }
    for name in names {
        let known = |claim: &Claim| claim.name == *name || claim.id.as_deref() == Some(name);
        if !on_models().any(known) {
            let near = did_you_mean(name, on_models().map(|claim| claim.name.as_str()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(Failure::Usage(format!(
                "the spec has no query and no property on a model called `{name}`{near}"
            )));
        }
    }
    let wanted = |claim: &&Claim| {
        names.is_empty()
            || names
                .iter()
                .any(|name| claim.name == *name || claim.id.as_deref() == Some(name))
    };
    Ok(on_models().filter(wanted).collect())
}

/// Where the chains of a model come from.
fn chains(
    question: &Question<'_>,
    spec: &Arc<Spec>,
    model: ModelId,
    claims: &[&Claim],
    given: Option<&Model>,
) -> Result<Chains, Failure> {
    let of = spec.model(model);
    let beside = |path: &str| match question.spec.parent() {
        Some(parent) => parent.join(path),
        None => PathBuf::from(path),
    };
    let (file, counts): (String, Model) = match (&of.source, given) {
        (ModelSource::Import(path), _) => return Ok(Chains::Imported(beside(path))),
        (_, Some(given)) if given.header.model == of.name || spec.models.len() == 1 => {
            let file = question
                .model
                .map_or_else(String::new, |path| path.display().to_string());
            (file, given.clone())
        }
        (ModelSource::Load(path, _), _) => {
            let path = beside(path);
            (path.display().to_string(), learn::read(&path)?)
        }
        (ModelSource::Learn(_), Some(given)) => {
            return Err(Failure::Usage(format!(
                "`--model` holds `{}`, and `{}` is asked about",
                given.header.model, of.name
            )));
        }
        (ModelSource::Learn(_), None) => {
            return Err(Failure::Usage(format!(
                "`{}` is learned from traces: `guard learn {} TRACE… -o {}.json`, then `--model {}.json`",
                of.name,
                question.spec.display(),
                of.name,
                of.name
            )));
        }
    };
    let by_name = || {
        let found = spec
            .abstractions
            .iter()
            .position(|a| a.name == counts.header.abstraction);
        found.map(crate::ids::AbstractionId::new)
    };
    let Some(abstraction) = of.abstraction().or_else(by_name) else {
        return Err(Failure::Usage(format!(
            "`{file}`: the spec has no abstraction `{}`",
            counts.header.abstraction
        )));
    };
    let decided = |property| spec.abstraction(abstraction).monitor_of(property).is_some();
    let (conditions, _) = asked(spec, claims.iter().copied(), &decided);
    let mut subject = Subject::new(
        spec,
        model,
        abstraction,
        &conditions,
        &eval::Limits::default(),
    )
    .map_err(|error| Failure::Usage(format!("`{}`: {}", of.name, learn::space_error(&error))))?;
    if matches!(of.source, ModelSource::Load(..)) {
        subject.loaded(&counts);
    }
    let chains = subject
        .counts(&counts)
        .map_err(|error| Failure::Usage(format!("`{file}`: {error}")))?;
    Ok(Chains::Counts(Box::new(subject), chains))
}

/// An answer about to be told.
struct Told<'a> {
    claim: &'a Claim,
    model: &'a str,
    category: Option<&'a SmolStr>,
    answer: &'a ClaimAnswer,
    ms: f64,
}

impl Told<'_> {
    fn json(&self, all_states: bool) -> Value {
        let answer = self.answer;
        let mut object = Map::new();
        let mut put = |key: &str, value: Value| {
            object.insert(key.to_owned(), value);
        };
        put("v", json!(1));
        put("name", json!(self.claim.name));
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
        }
        put("method", json!(answer.method));
        put("ms", json!((self.ms * 1e3).round() / 1e3));
        Value::Object(object)
    }

    fn human(&self, out: &mut impl Write, paint: Paint, all_states: bool) -> std::io::Result<()> {
        let answer = self.answer;
        let on = match self.category {
            Some(category) => format!("{} ({category})", self.model),
            None => self.model.to_owned(),
        };
        writeln!(
            out,
            "{}: {} on {on}",
            paint.name(&self.claim.name),
            self.claim.text
        )?;
        if let Some(value) = &answer.value {
            writeln!(out, "  {}", text(value))?;
        }
        match (answer.holds, answer.graphs) {
            (Some(Some(true)), None) => writeln!(out, "  {}", paint.good("holds"))?,
            (Some(Some(false)), None) => writeln!(out, "  {}", paint.bad("does not hold"))?,
            (Some(None), None) => writeln!(
                out,
                "  {}",
                paint.open("undecided: the number is too near to the bound; try --exact")
            )?,
            (Some(_), Some(graphs)) => {
                let word = |holds: Option<bool>| match holds {
                    Some(true) => paint.good("holds"),
                    Some(false) => paint.bad("does not hold"),
                    None => paint.open("undecided"),
                };
                writeln!(
                    out,
                    "  on all that is declared possible: {}",
                    word(graphs.declared)
                )?;
                writeln!(
                    out,
                    "  on what was seen in traces: {}",
                    word(graphs.observed)
                )?;
            }
            (None, _) => {}
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
