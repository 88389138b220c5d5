//! Pictures of chains and of their answers: `--plot`, and the pages of `guard view` and `guard doc`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smol_str::SmolStr;

use super::chain::ChainArgs;
use super::failure::{Failure, complain};
use super::learn;
use super::output::Output;
use super::query_spec::{Answers, Asked, FORMULA, Question, ask, explain_answer};
use super::{progress, spec};
use crate::hir::{
    Ask, Bound, Branching, Claim, ClaimFormula, ClaimKind, Expr, Formula, ModelSource, Spec,
    Subject, Unary,
};
use crate::query::{Figure, QueryError};
use crate::report::plot::{ChainDrawing, CurvePoint, Picture, chain, curve};
use crate::types::Type;
use guard_markov::Scalar;

/// Steps over which a probability without a bound is drawn.
const STEPS: u32 = 30;
/// Points of a curve.
const POINTS: u32 = 15;

/// The pictures of the answers to claims.
pub(super) struct Drawings {
    /// By claim: the same event within so many steps.
    within: Vec<(SmolStr, u32, Claim)>,
    /// By name of the claim.
    pub(super) pictures: Vec<(SmolStr, Picture)>,
}

impl Drawings {
    /// Adds to the spec, for each claim about `F a`, the same with other bounds: the points of its curve.
    pub(super) fn new(spec: &mut Spec) -> Drawings {
        let mut within = Vec::new();
        for claim in spec.claims.clone() {
            let path = claim.probability_of(spec);
            let Some(Formula::Unary(Unary::Eventually, bound, inner)) =
                path.map(|path| spec.formulas.get(path).clone())
            else {
                continue;
            };
            let (first, last) = match bound {
                None => (0, STEPS),
                Some(Bound::Steps(first, last)) => (first, last),
                Some(Bound::Time(..)) => continue,
            };
            let each = last.saturating_sub(first).div_ceil(POINTS).max(1);
            let mut steps: Vec<u32> = (first..=last).step_by(each as usize).collect();
            if steps.last() != Some(&last) {
                steps.push(last);
            }
            for steps in steps {
                let bound = Some(Bound::Steps(first, steps));
                let path = Formula::Unary(Unary::Eventually, bound, inner);
                let path = spec.formulas.add(path);
                let branching = spec.branchings.add(Branching::Probability {
                    ask: Ask::Value,
                    path,
                    given: None,
                });
                let state = spec.exprs.add(Expr::Branching(branching), Type::Float);
                let point = Claim {
                    kind: ClaimKind::Query,
                    formula: ClaimFormula::State(state),
                    ..claim.clone()
                };
                within.push((claim.name.clone(), steps, point));
            }
        }
        Drawings {
            within,
            pictures: Vec::new(),
        }
    }

    /// Draws the chain of a claim with the number of each state, and the number over the steps. Claims that are not about a
    /// probability have no picture.
    ///
    /// # Errors
    /// See [`QueryError`].
    pub(super) fn add<V: Scalar>(&mut self, asked: &Asked<'_, '_, V>) -> Result<(), QueryError> {
        let (claim, session) = (asked.claim, asked.session);
        let Some(drawing) = session.drawing(claim)? else {
            return Ok(());
        };
        let name = match claim.name.starts_with(FORMULA) {
            true => claim.text.to_string(),
            false => claim.name.to_string(),
        };
        let of = asked.category.map(|category| format!(" ({category})"));
        let title = format!("{name}{} on {}", of.unwrap_or_default(), asked.model);
        let opposite = drawing.opposite;
        let risk = asked.answer.per_state.iter().map(|(_, figure)| {
            let number = figure.finite();
            if opposite {
                number.map(|number| 1.0 - number)
            } else {
                number
            }
        });
        let drawn = ChainDrawing {
            names: drawing.names,
            start: drawing.start,
            edges: drawing.edges,
            event: if opposite {
                "the opposite"
            } else {
                "the event"
            },
            risk: risk.collect(),
            reached: drawing.reached,
            paths: drawing.paths,
        };
        self.pictures
            .push((claim.name.clone(), chain(&title, &drawn)));
        let mut points = Vec::new();
        for (name, steps, point) in &self.within {
            if *name != claim.name || point.on != claim.on {
                continue;
            }
            let answer = session.ask(point, asked.confidence)?;
            if let Some(y) = answer.value.as_ref().and_then(Figure::finite) {
                let range = answer.interval.map(|interval| interval.range);
                points.push(CurvePoint {
                    x: f64::from(*steps),
                    y,
                    band: range.map(|range| (range.lower, range.upper)),
                });
            }
        }
        if points.len() > 1 {
            let title = format!("{title}, within so many steps");
            self.pictures
                .push((claim.name.clone(), curve(&title, &points)));
        }
        Ok(())
    }
}

impl Answers for Drawings {
    fn answer<V: Scalar>(&mut self, asked: &Asked<'_, '_, V>) -> Result<(), Failure> {
        if let Err(wrong) = self.add(asked) {
            complain(&format!(
                "`{}`: {}",
                asked.claim.name,
                explain_answer(&wrong)
            ));
        }
        Ok(())
    }
}

/// Returns the pictures of all claims of a spec, by name: on the model file for the model that was learned into it, and on
/// models that the spec loads or imports. Without a model file, chains that cannot be read are reported, and left out.
///
/// # Errors
/// The spec or the model file cannot be read.
pub(super) fn of_spec(
    path: &Path,
    model: Option<&Path>,
) -> Result<Vec<(SmolStr, Picture)>, Failure> {
    let (mut spec, _) = spec::usable(path)?;
    let given = model.map(learn::read).transpose()?;
    let mut drawings = Drawings::new(&mut spec);
    let spec = Arc::new(spec);
    let has_chain = |claim: &&Claim| match claim.on {
        Subject::Model(model) => {
            given.is_some() || !matches!(spec.model(model).source, ModelSource::Learn(_))
        }
        _ => false,
    };
    let claims: Vec<&Claim> = spec.claims.iter().filter(has_chain).collect();
    let chain = ChainArgs::default();
    let question = Question::all(path, model, &chain);
    let asked = progress::during("claims drawn", |progress| {
        let parts = claims.len() as u64;
        progress.parts.store(parts, Ordering::Relaxed);
        let answers = &mut drawings;
        ask(&question, &spec, &claims, given.as_ref(), answers, progress)
    });
    match (asked, model) {
        // The page was not asked for because of its pictures.
        (Err(failure), None) => {
            failure.report();
        }
        (asked, _) => {
            asked?;
        }
    }
    Ok(drawings.pictures)
}

/// Checks that a file has a name whose ending says what is written.
///
/// # Errors
/// It ends in neither `.svg` nor `.html`.
pub(super) fn check_name(path: &Path) -> Result<(), Failure> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    if matches!(ending, Some("svg" | "html")) {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "`--plot`: expected a file that ends in .svg or .html, found `{}`",
        path.display()
    )))
}

/// Writes pictures.
///
/// # Errors
/// There are none, or the file cannot be written.
pub(super) fn write(path: &Path, title: &str, pictures: &[Picture]) -> Result<(), Failure> {
    if pictures.is_empty() {
        return Err(Failure::Usage(
            "`--plot`: nothing to draw: there is no probability of an event".to_owned(),
        ));
    }
    let is_page = path.extension().is_some_and(|ending| ending == "html");
    let text = match is_page {
        true => Picture::page(title, pictures),
        false => Picture::document(pictures),
    };
    let mut file = Output::open(Some(path))?;
    file.write_all(text.as_bytes())?;
    file.close()
}
