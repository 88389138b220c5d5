//! Pictures of chains and of their answers: `--plot`, and the pages of `guard view` and `guard doc`.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use smol_str::SmolStr;

use super::chain::ChainArgs;
use super::failure::{Failure, complain, warn};
use super::learn;
use super::output::Output;
use super::query::spec::{Answers, Asked, FORMULA, Question, ask, explain_answer};
use super::{progress, spec};
use crate::hir::{
    Ask, Bound, Branching, Claim, ClaimFormula, ClaimKind, Expr, Formula, Formulas, ModelSource,
    Spec, Subject, Unary,
};
use crate::ids::FormulaId;
use crate::query::{Figure, QueryError};
use crate::report::plot::{ChainDrawing, CurvePoint, Horizon, Picture, chain, curve};
use crate::types::Type;
use guard_markov::Scalar;

/// The number of steps over which a probability without a bound is drawn.
const STEPS: u32 = 30;
/// The number of points of a curve.
const POINTS: u32 = 15;

/// The pictures of the answers to claims.
pub(super) struct Drawings {
    /// By claim: the points of its curve, or the reason why it has none.
    curves: Vec<(SmolStr, Result<Curve, &'static str>)>,
    /// By name of the claim.
    pub(super) pictures: Vec<(SmolStr, Picture)>,
}

/// The probability of a path formula over the last step of its bound.
struct Curve {
    horizon: Horizon,
    /// By last step: the claim with that bound.
    points: Vec<(u32, Claim)>,
}

/// A path formula with one bound in steps that can vary.
struct Bounded {
    /// The temporal operator that has the bound.
    operator: FormulaId,
    /// Whether the formula is its negation.
    negated: bool,
    /// Whether it says what happens within the bound, rather than what lasts so long.
    within: bool,
    first: u32,
    last: u32,
}

impl Bounded {
    /// Returns the bound of a path formula.
    ///
    /// # Errors
    /// The reason why there is none to vary.
    fn of(formulas: &Formulas, path: FormulaId) -> Result<Bounded, &'static str> {
        let (bound, within) = match formulas.get(path) {
            Formula::Not(of) => {
                let inner = Bounded::of(formulas, *of)?;
                return Ok(Bounded {
                    negated: !inner.negated,
                    within: !inner.within,
                    ..inner
                });
            }
            Formula::Unary(Unary::Next | Unary::WeakNext, ..) => {
                return Err("`next` is about one step");
            }
            formula @ (Formula::Unary(_, bound, _) | Formula::Binary(_, bound, ..)) => {
                match formula.operator() {
                    Some(operator) if !operator.is_past => (*bound, !operator.is_weak),
                    _ => return Err("its operator is about the past"),
                }
            }
            Formula::And(..) | Formula::Or(..) | Formula::Implies(..) | Formula::Iff(..) => {
                return Err("it combines formulas, so there is no single bound to vary");
            }
            Formula::True | Formula::False | Formula::Atom(_) | Formula::Last => {
                return Err("it has no temporal operator");
            }
        };
        let (first, last) = match bound {
            None => (0, STEPS),
            Some(Bound::Steps(first, last)) => (first, last),
            Some(Bound::Time(..)) => return Err("its bound is in time, and a chain counts steps"),
        };
        Ok(Bounded {
            operator: path,
            negated: false,
            within,
            first,
            last,
        })
    }

    /// Returns the formula with another last step.
    fn until(&self, formulas: &mut Formulas, last: u32) -> FormulaId {
        let bound = Some(Bound::Steps(self.first, last));
        let node = match formulas.get(self.operator).clone() {
            Formula::Unary(op, _, a) => Formula::Unary(op, bound, a),
            Formula::Binary(op, _, a, b) => Formula::Binary(op, bound, a, b),
            other => other,
        };
        let made = formulas.add(node);
        match self.negated {
            true => formulas.add(Formula::Not(made)),
            false => made,
        }
    }

    /// Returns the last steps at which the curve has a point.
    fn steps(&self) -> Vec<u32> {
        let each = self.last.saturating_sub(self.first).div_ceil(POINTS).max(1);
        let mut steps: Vec<u32> = (self.first..=self.last).step_by(each as usize).collect();
        if steps.last() != Some(&self.last) {
            steps.push(self.last);
        }
        steps
    }
}

impl Drawings {
    /// Adds to the spec, for each claim about the probability of a path formula, the same with other bounds in steps: the points
    /// of its curve.
    pub(super) fn new(spec: &mut Spec) -> Drawings {
        let claims = spec.claims.clone();
        let curves = claims
            .iter()
            .map(|claim| (claim.name.clone(), curve_of(spec, claim)))
            .collect();
        Drawings {
            curves,
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
        let name = match claim.name.starts_with(FORMULA) {
            true => claim.text.to_string(),
            false => claim.name.to_string(),
        };
        let is_own = |(of, _): &(SmolStr, _)| *of == claim.name;
        // A reason is reported once, whatever the number of categories.
        if let Some(place) = self.curves.iter().position(is_own)
            && let Err(reason) = self.curves[place].1
        {
            warn(&format!("`{name}` has no curve over the steps: {reason}"));
            drop(self.curves.remove(place));
        }
        let Some(drawing) = session.drawing(claim)? else {
            return Ok(());
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
        let own = self.curves.iter().find(|curve| is_own(curve));
        let Some((_, Ok(asked_of))) = own else {
            return Ok(());
        };
        let mut points = Vec::new();
        for (steps, point) in &asked_of.points {
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
            let drawn = curve(&title, asked_of.horizon, &points);
            self.pictures.push((claim.name.clone(), drawn));
        }
        Ok(())
    }
}

/// Returns the curve of a claim, with its points added to the spec.
///
/// # Errors
/// The reason why the claim has none.
fn curve_of(spec: &mut Spec, claim: &Claim) -> Result<Curve, &'static str> {
    let path = claim
        .probability_of(spec)
        .ok_or("it is not the probability of a path formula")?;
    let bounded = Bounded::of(&spec.formulas, path)?;
    let point = |steps: u32| {
        let path = bounded.until(&mut spec.formulas, steps);
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
        (steps, point)
    };
    Ok(Curve {
        points: bounded.steps().into_iter().map(point).collect(),
        horizon: match bounded.within {
            true => Horizon::Within,
            false => Horizon::For,
        },
    })
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
        // The page was not requested for its pictures, so the failure is only reported.
        (Err(failure), None) => {
            failure.report();
        }
        (asked, _) => {
            asked?;
        }
    }
    Ok(drawings.pictures)
}

/// Checks that the extension of a file name gives the format.
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
/// There are no pictures, or the file cannot be written.
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
