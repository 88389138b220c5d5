//! `guard query SPEC`: evaluates the claims of a spec about its models.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use num_rational::BigRational;
use smol_str::SmolStr;

use super::claim_view::ClaimView;
use crate::audit::Progress;
use crate::cli::chain::{ChainArgs, LoadedChain};
use crate::cli::failure::{Failure, Outcome, code, complain};
use crate::cli::learn;
use crate::cli::limits::{explain_model, explain_query};
use crate::cli::models::{beside, must_be_learned};
use crate::cli::output::Output;
use crate::cli::plot::{self, Drawings};
use crate::cli::{progress, spec};
use crate::diagnostic::did_you_mean;
use crate::eval;
use crate::hir::{Claim, ClaimKind, ModelSource, Spec, Subject as On};
use crate::ids::ModelId;
use crate::learn::{Counts, Model, ModelError, RowLimits, Subject};
use crate::query::{ClaimAnswer, Confidence, Method, QueryError, Session, asked};
use guard_markov::{Options, Scalar};

/// The query, and its options.
pub(crate) struct Question<'a> {
    pub(crate) spec: &'a Path,
    /// Names of claims; empty for all.
    pub(crate) names: &'a [String],
    pub(crate) model: Option<&'a Path>,
    pub(crate) chain: &'a ChainArgs,
    pub(crate) all_states: bool,
    /// Whether reasons are requested, and the state to explain; empty for the start.
    pub(crate) why: Option<&'a str>,
    pub(crate) json: bool,
    /// The file of the pictures.
    pub(crate) plot: Option<&'a Path>,
    pub(crate) options: Options,
    pub(crate) rows: RowLimits,
    /// The method for intervals, and the error probability if it was given.
    pub(crate) confidence: Option<(Method, Option<f64>)>,
}

impl<'a> Question<'a> {
    /// Returns the question for all claims of a spec, with default options.
    pub(crate) fn all(spec: &'a Path, model: Option<&'a Path>, chain: &'a ChainArgs) -> Self {
        Question {
            spec,
            names: &[],
            model,
            chain,
            all_states: false,
            why: None,
            json: false,
            plot: None,
            options: Options::default(),
            rows: RowLimits::default(),
            confidence: Some((Method::Fixed, None)),
        }
    }
}

/// The default error probability of an interval, if neither `pac` nor the command gives one.
const DEFAULT_ERROR: f64 = 0.05;

/// The chains of a model of the spec.
enum Chains {
    /// Counts by category.
    Counts(Box<Subject>, BTreeMap<SmolStr, Counts>),
    /// An imported chain.
    Imported(PathBuf),
}

pub(crate) fn run(question: &Question<'_>) -> Result<Outcome, Failure> {
    let (spec, checked) = spec::usable(question.spec)?;
    let given = question.model.map(learn::read).transpose()?;
    let (names, formulas): (Vec<String>, Vec<String>) = question
        .names
        .iter()
        .cloned()
        .partition(|name| is_name(name));
    // A formula is added to the spec as an item, so that names are resolved as in the spec.
    let spec = if formulas.is_empty() {
        spec
    } else {
        let model = model_of_formulas(&spec, given.as_ref())?;
        let item = |(number, formula): (usize, &String)| {
            let kind = if formula.contains("=?") {
                "query"
            } else {
                "property"
            };
            format!("{kind} {FORMULA}{number} = {formula} on {model}\n")
        };
        let items: String = formulas.iter().enumerate().map(item).collect();
        spec::with_item(&checked, &items)?.0
    };
    let mut spec = spec;
    let drawings = match question.plot {
        Some(path) => {
            plot::check_name(path)?;
            Some(Drawings::new(&mut spec))
        }
        None => None,
    };
    let spec = Arc::new(spec);
    let claims = chosen(&spec, &names, formulas.len())?;
    let mut printed = Printed {
        question,
        output: Output::open(None)?,
        drawings,
        failed: false,
    };
    let sum = progress::during("claims answered", |progress| {
        let parts = claims.len() as u64;
        progress.parts.store(parts, Ordering::Relaxed);
        let answers = &mut printed;
        ask(question, &spec, &claims, given.as_ref(), answers, progress)
    })?;
    printed.output.close()?;
    if let (Some(path), Some(drawings)) = (question.plot, printed.drawings) {
        let pictures: Vec<_> = drawings.pictures.into_iter().map(|(_, one)| one).collect();
        plot::write(path, "guard query", &pictures)?;
    }
    if sum.failed || printed.failed {
        return Err(Failure::AlreadyReported(code::USAGE));
    }
    Ok(sum.worst)
}

/// Evaluates claims on their models, and passes each answer on.
pub(crate) fn ask(
    question: &Question<'_>,
    spec: &Arc<Spec>,
    claims: &[&Claim],
    given: Option<&Model>,
    answers: &mut impl Answers,
    progress: &Progress,
) -> Result<Sum, Failure> {
    let mut sum = Sum {
        worst: Outcome::Holds,
        failed: false,
    };
    for model in (0..spec.models.len()).map(ModelId::new) {
        let of: Vec<&Claim> = claims
            .iter()
            .copied()
            .filter(|claim| claim.on == On::Model(model))
            .collect();
        // Without names, a model file selects the claims about its model.
        let other = given.as_ref().is_some_and(|given| {
            given.header.model != spec.model(model).name && spec.models.len() > 1
        });
        let learned = matches!(spec.model(model).source, ModelSource::Learn(_));
        if of.is_empty() || (other && learned && question.names.is_empty()) {
            continue;
        }
        if question.chain.exact {
            on_model::<BigRational>(
                question,
                spec,
                (model, &of),
                given,
                (&mut sum, progress),
                answers,
            )
        } else {
            on_model::<f64>(
                question,
                spec,
                (model, &of),
                given,
                (&mut sum, progress),
                answers,
            )
        }?;
    }
    Ok(sum)
}

/// Receives the answers to claims.
pub(crate) trait Answers {
    /// Receives an answer.
    ///
    /// # Errors
    /// If the answer cannot be written.
    fn answer<V: Scalar>(&mut self, asked: &Asked<'_, '_, V>) -> Result<(), Failure>;
}

/// A claim with its answer.
pub(crate) struct Asked<'a, 's, V: Scalar> {
    pub(crate) claim: &'a Claim,
    pub(crate) model: &'a str,
    pub(crate) category: Option<&'a SmolStr>,
    pub(crate) session: &'a Session<'s, V>,
    pub(crate) confidence: Option<Confidence>,
    pub(crate) answer: ClaimAnswer,
    pub(crate) ms: f64,
}

/// Writes answers to the output, and draws them if requested.
struct Printed<'a> {
    question: &'a Question<'a>,
    output: Output,
    drawings: Option<Drawings>,
    failed: bool,
}

impl Answers for Printed<'_> {
    fn answer<V: Scalar>(&mut self, asked: &Asked<'_, '_, V>) -> Result<(), Failure> {
        let claim = asked.claim;
        let from = self
            .question
            .why
            .map(|state| Some(state).filter(|state| !state.is_empty()));
        let why = from.map(|from| asked.session.why(claim, from));
        let why = why.transpose().unwrap_or_else(|wrong| {
            complain(&format!("`{}`: {}", claim.name, explain_answer(&wrong)));
            self.failed = true;
            None
        });
        if let Some(drawings) = &mut self.drawings
            && let Err(wrong) = drawings.add(asked)
        {
            complain(&format!("`{}`: {}", claim.name, explain_answer(&wrong)));
            self.failed = true;
        }
        let told = ClaimView {
            claim,
            model: asked.model,
            category: asked.category,
            answer: &asked.answer,
            why,
            ms: asked.ms,
        };
        if self.question.json {
            writeln!(self.output, "{}", told.json(self.question.all_states))?;
        } else {
            let paint = self.output.paint;
            told.human(&mut self.output, paint, self.question.all_states)?;
        }
        Ok(())
    }
}

/// Describes why a claim has no answer, with the flag that may help.
pub(crate) fn explain_answer(error: &QueryError) -> String {
    let flag = match error {
        QueryError::NoState { .. } => "; to list the states, use `--all-states`",
        QueryError::Undecided { .. } => "; for exact arithmetic, use `--exact`",
        other => return explain_query(other),
    };
    format!("{error}{flag}")
}

/// The combined results of claims.
pub(crate) struct Sum {
    worst: Outcome,
    pub(crate) failed: bool,
}

fn on_model<V: Scalar>(
    question: &Question<'_>,
    spec: &Arc<Spec>,
    (model, claims): (ModelId, &[&Claim]),
    given: Option<&Model>,
    (sum, progress): (&mut Sum, &Progress),
    answers: &mut impl Answers,
) -> Result<(), Failure> {
    let chains = chains(question, spec, model, claims, given)?;
    let sessions: Vec<(Option<SmolStr>, Session<'_, V>)> = match &chains {
        Chains::Counts(subject, counts) => {
            let by = subject.learn.by.is_some();
            let mut sessions = Vec::with_capacity(counts.len());
            for (category, counts) in counts {
                let (rows, options) = (question.rows, question.options.clone());
                sessions.push((
                    (by || !category.is_empty()).then(|| category.clone()),
                    Session::learned(subject, counts, rows, options),
                ));
            }
            sessions
        }
        Chains::Imported(path) => {
            let LoadedChain { chain, scope } = question.chain.load::<V>(path)?;
            question.chain.check_constants(&scope)?;
            let session = Session::imported(spec, chain, question.options.clone());
            let session = session.map_err(|wrong| {
                let name = &spec.model(model).name;
                Failure::Usage(format!("model `{name}`: {}", explain_answer(&wrong)))
            })?;
            vec![(None, session)]
        }
    };
    let confidence = match (&chains, question.confidence) {
        (Chains::Counts(subject, _), Some((method, error))) => {
            let asked = subject.learn.pac.map(|pac| pac.delta);
            Some(Confidence {
                method,
                error: error.or(asked).unwrap_or(DEFAULT_ERROR),
            })
        }
        _ => None,
    };
    for claim in claims {
        for (category, session) in &sessions {
            let clock = Instant::now();
            let answer = session.ask(claim, confidence);
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            let answer = match answer {
                Ok(answer) => answer,
                Err(wrong) => {
                    complain(&format!("`{}`: {}", claim.name, explain_answer(&wrong)));
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
            answers.answer(&Asked {
                claim,
                model: &spec.model(model).name,
                category: category.as_ref(),
                session,
                confidence,
                answer,
                ms,
            })?;
        }
        progress.done.fetch_add(1, Ordering::Relaxed);
    }
    Ok(())
}

/// The prefix of the names of properties for formulas of the command, before their number.
pub(crate) const FORMULA: &str = "_formula";

fn is_name(text: &str) -> bool {
    text.chars()
        .all(|c| c.is_alphanumeric() || "_-.".contains(c))
}

/// Returns the model for formulas of the command: the one of the model file, or the only one.
fn model_of_formulas<'s>(spec: &'s Spec, given: Option<&Model>) -> Result<&'s str, Failure> {
    let named = given.and_then(|given| spec.find_model(&given.header.model));
    match (named, spec.models.as_slice()) {
        (Some(model), _) => Ok(&spec.model(model).name),
        (None, [one]) => Ok(&one.name),
        (None, []) => Err(Failure::Usage(
            "the spec has no model for the formula: declare `model run = learn …`".to_owned(),
        )),
        (None, _) => Err(Failure::Usage(
            "the spec has several models: select one with `--model`".to_owned(),
        )),
    }
}

/// Returns the requested claims: the named ones and `formulas` formulas, or all if none is named.
fn chosen<'s>(
    spec: &'s Spec,
    names: &[String],
    formulas: usize,
) -> Result<Vec<&'s Claim>, Failure> {
    let on_models = || {
        spec.claims
            .iter()
            .filter(|claim| matches!(claim.on, On::Model(_)))
    };
    if on_models().next().is_none() {
        return Err(Failure::Usage(
            match spec.claims.is_empty() {
                true => {
                    "the spec has no formulas about a model: add `query soon = P=? [ F … ] on run`"
                }
                false => "the spec has formulas about systems only: use `guard verify`",
            }
            .to_owned(),
        ));
    }
    for name in names {
        if !on_models().any(|claim| claim.is_named(name)) {
            let near = did_you_mean(name, on_models().map(|claim| claim.name.as_str()));
            let near = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
            return Err(Failure::Usage(format!(
                "unknown query or model property `{name}`{near}"
            )));
        }
    }
    let wanted = |claim: &&Claim| {
        (names.is_empty() && formulas == 0)
            || claim.name.starts_with(FORMULA)
            || names.iter().any(|name| claim.is_named(name))
    };
    Ok(on_models().filter(wanted).collect())
}

/// Returns the source of the chains of a model.
fn chains(
    question: &Question<'_>,
    spec: &Arc<Spec>,
    model: ModelId,
    claims: &[&Claim],
    given: Option<&Model>,
) -> Result<Chains, Failure> {
    let of = spec.model(model);
    let beside = |path: &str| beside(question.spec, path);
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
                "`--model` contains model `{}`, but the query is about `{}`",
                given.header.model, of.name
            )));
        }
        (ModelSource::Learn(_), None) => {
            return Err(must_be_learned(spec, question.spec, &of.name));
        }
    };
    let wrong = |error: ModelError| Failure::Usage(format!("`{file}`: {}", explain_model(&error)));
    let abstraction = match of.abstraction() {
        Some(abstraction) => abstraction,
        None => counts.header.abstraction(spec).map_err(wrong)?,
    };
    let decided = |property| spec.abstraction(abstraction).monitor_of(property).is_some();
    let (conditions, _) = asked(spec, claims.iter().copied(), &decided);
    let (subject, chains) =
        Subject::open(spec, model, &counts, &conditions, &eval::Limits::default())
            .map_err(wrong)?;
    Ok(Chains::Counts(Box::new(subject), chains))
}
