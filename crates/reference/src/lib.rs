//! The reference semantics of the language: a slow and simple evaluator of `hir::Spec` over a recorded trace.
//!
//! Each function implements a rule of `docs/language.md` directly: expressions scan the whole trace instead of keeping state
//! (`expr`, `history`, `track`), formulas quantify over positions (`formula`), finality is a search for a continuation
//! (`tableau`), and every instance of a quantified property is evaluated separately from the first step on (`quantifier`).
//!
//! It uses no automata and no compiled plans, so that the two evaluators can disagree. Values, types, patterns and the reader
//! of shell commands are those of `guard_lang`. It reads no files and produces no counterexamples.
//!
//! # Choices
//! Interpretations of points that the language page leaves open:
//!
//! * `before(e)` at the first step is the initial value if `e` *is* a track, and null for every other `e`.
//! * Arithmetic on null gives null; a cast of null to a type without `?` is a data error. `contains` on a list compares with
//!   null like `==`; every other string test is false if either side is null.
//! * A function with a null argument gives null, except for `text` and `below`, and for the element of `add`, `remove` and
//!   `index_of`: `set.add(null)` adds null.
//! * `text` collects strings, keys and numbers, in the order in which they occur.
//! * Within the update of a track of finite type every unknown operand of finite type ranges over its type, also as an operand
//!   of a comparison. Elsewhere only tracks have sets of values, and all reads of one track at one step have the same value.
//! * A time bound is unknown for each pair of steps of which one has no time, also for a step and itself.
//! * An unknown term may have any value. For a value that occurs elsewhere, the comparisons of its instance with the term are
//!   unknown at that step. One further instance represents all other values: its comparisons are unknown if the term is
//!   unknown, and false otherwise. It may exist from the first step with an unknown term; with `forall x in e`, from the first
//!   step at which `e` is unknown, and from then on every value may be in the range.
//! * An instance is finally violated only once it exists, even if all unseen values were violated before.
//! * The end of a complete trace makes an unknown verdict final as well.
//!
//! # Limits
//! The cost is polynomial in the trace and exponential in the formula, in the number of steps whose `where` is unknown, and in
//! the number of tracks with several possible values that one expression reads. Beyond the limits the result is [`TooLarge`].

mod builtin;
mod clock;
mod core;
mod expr;
mod formula;
mod history;
mod ops;
mod quantifier;
mod tableau;
mod text;
mod track;
mod verdict;

use std::collections::BTreeSet;

use smol_str::SmolStr;

use guard_lang::hir::{Property, Spec};
use guard_lang::ids::{ExprId, PropertyId};
use guard_lang::input::record::{Record, Step};
use guard_lang::value::{Cell, Truth, Value};
use guard_lang::verdict::Verdict;

use expr::{Ctx, Env};
use quantifier::After;
use tableau::Tableaux;

/// The largest number of readings of a trace in which some events may not be steps.
const READINGS: usize = 1024;

/// A limit of this evaluator was exceeded.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {limit} {what}")]
pub struct TooLarge {
    /// The resource whose limit was exceeded.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
}

/// The result of one property on one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict at the end of the recorded trace.
    pub verdict: Verdict,
    /// Whether every continuation has the same verdict, or the trace is complete.
    pub is_final: bool,
    /// The index of the step from which the verdict is final: for a complete trace at the latest the last step. `None`
    /// if the trace is empty or the verdict is not final.
    pub at: Option<u32>,
    /// The violated instances of a `forall` property.
    pub violated: Vec<ViolatedInstance>,
    /// The verdicts after each prefix.
    pub prefixes: PrefixVerdicts,
}

/// A violated instance of a `forall` property.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolatedInstance {
    /// The values of the variables, in the order of declaration.
    pub values: Vec<Value>,
    /// The first step at which the instance exists and is finally violated; the last step if only the end decides.
    pub at: Option<u32>,
}

/// The verdicts on a property after each prefix of a trace, none of which is taken as complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixVerdicts {
    /// The verdict before the first step.
    pub empty: Verdict,
    /// The verdict after each event that is or may be a step, with its index.
    pub steps: Vec<(u32, Verdict)>,
}

/// A data error found in the evaluation of an expression.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataError {
    /// The index of the step.
    pub step: u32,
    /// The message.
    pub message: String,
}

/// Evaluates every property on a recorded trace, in the order of declaration.
///
/// # Errors
/// [`TooLarge`] for a property that exceeds a limit of this evaluator.
pub fn judge(spec: &Spec, record: &Record) -> Vec<(PropertyId, Result<Judgement, TooLarge>)> {
    Definition::new(spec).judge(record)
}

/// Evaluates one property on a recorded trace.
///
/// # Errors
/// The property exceeds a limit of this evaluator.
pub fn judge_property(
    spec: &Spec,
    record: &Record,
    property: PropertyId,
) -> Result<Judgement, TooLarge> {
    Definition::new(spec).judge_property(record, property)
}

/// Returns the verdicts on one property after every prefix of the trace, whether or not it is complete.
///
/// # Errors
/// The property exceeds a limit of this evaluator.
pub fn prefix_verdicts(
    spec: &Spec,
    record: &Record,
    property: PropertyId,
) -> Result<PrefixVerdicts, TooLarge> {
    Definition::new(spec).prefix_verdicts(record, property)
}

/// The evaluator of one spec for many traces; it caches the continuations found for each formula.
#[derive(Debug)]
pub struct Definition<'s> {
    spec: &'s Spec,
    tableaux: Tableaux,
}

impl<'s> Definition<'s> {
    /// Returns the evaluator of a spec.
    pub fn new(spec: &'s Spec) -> Definition<'s> {
        Definition {
            spec,
            tableaux: Tableaux::default(),
        }
    }

    /// Like [`judge`].
    pub fn judge(&self, record: &Record) -> Vec<(PropertyId, Result<Judgement, TooLarge>)> {
        let ids = (0..self.spec.properties.len()).map(PropertyId::new);
        ids.map(|id| (id, self.judge_property(record, id)))
            .collect()
    }

    /// Like [`judge_property`].
    ///
    /// # Errors
    /// Those of [`judge_property`].
    pub fn judge_property(
        &self,
        record: &Record,
        property: PropertyId,
    ) -> Result<Judgement, TooLarge> {
        let spec = self.spec;
        let (steps, prefixes) =
            after_prefixes(spec, record, spec.property(property), &self.tableaux)?;
        let last_step = steps.last().copied();
        let verdict = prefixes
            .last()
            .map_or(Verdict::Unknown, |after| after.verdict);
        let complete = is_complete(spec, record);
        // INVARIANT (final): a final verdict never changes, so the first final prefix determines the step.
        let first = |is: &dyn Fn(&After) -> bool| {
            let prefix = prefixes.iter().position(is)?;
            // A verdict that is final before the first step is reported at the first step.
            Some(steps.get(prefix.saturating_sub(1)).copied())
        };
        let at_first = |is: &dyn Fn(&After) -> bool| match first(is) {
            Some(at) => at,
            None if complete => last_step,
            None => None,
        };
        let last = prefixes.last();
        let violated: BTreeSet<Vec<Value>> = last
            .map(|after| {
                if complete {
                    after.failing.clone()
                } else {
                    after.violated.clone()
                }
            })
            .unwrap_or_default();
        Ok(Judgement {
            verdict: if complete {
                at_the_end(verdict)
            } else {
                verdict
            },
            is_final: complete || verdict.is_final(),
            at: at_first(&|after| after.verdict.is_final()),
            violated: violated
                .into_iter()
                .map(|values| {
                    let at = at_first(&|after| after.violated.contains(&values));
                    ViolatedInstance { values, at }
                })
                .collect(),
            prefixes: PrefixVerdicts::of(&steps, &prefixes),
        })
    }

    /// Like [`prefix_verdicts`].
    ///
    /// # Errors
    /// Those of [`prefix_verdicts`].
    pub fn prefix_verdicts(
        &self,
        record: &Record,
        property: PropertyId,
    ) -> Result<PrefixVerdicts, TooLarge> {
        let property = self.spec.property(property);
        let (steps, prefixes) = after_prefixes(self.spec, record, property, &self.tableaux)?;
        Ok(PrefixVerdicts::of(&steps, &prefixes))
    }
}

impl PrefixVerdicts {
    fn of(steps: &[u32], prefixes: &[After]) -> PrefixVerdicts {
        let mut verdicts = prefixes.iter().map(|after| after.verdict);
        let empty = verdicts.next().unwrap_or(Verdict::Unknown);
        PrefixVerdicts {
            empty,
            steps: steps.iter().copied().zip(verdicts).collect(),
        }
    }
}

/// Returns the value of an expression at every event that is or may be a step, all of them taken as steps. `vars` are the
/// values of the quantified variables.
pub fn values(spec: &Spec, record: &Record, expr: ExprId, vars: &[Cell]) -> Vec<Cell> {
    let steps = steps(spec, record)
        .into_iter()
        .map(|(step, _)| (step.index, &*step.cells))
        .collect();
    let ctx = Ctx::new(spec, &record.meta, steps);
    let env = Env {
        vars,
        ..Env::default()
    };
    (0..ctx.steps.len())
        .map(|i| ctx.value(&env, expr, i))
        .collect()
}

/// Returns the data errors of letters, tracks and compared terms, and those of a clock that runs backwards. All events that may
/// be steps are taken as steps; letters of quantified properties are evaluated with unknown variables.
pub fn data_errors(spec: &Spec, record: &Record) -> Vec<DataError> {
    let steps = steps(spec, record)
        .into_iter()
        .map(|(step, _)| (step.index, &*step.cells))
        .collect();
    let ctx = Ctx::new(spec, &record.meta, steps);
    let mut roots: Vec<ExprId> = Vec::new();
    for property in &spec.properties {
        roots.extend(
            spec.formulas
                .atoms_of(property.formula)
                .iter()
                .map(|letter| spec.atom(*letter).expr),
        );
        for var in property
            .quantified
            .iter()
            .flat_map(|quantified| &quantified.vars)
        {
            roots.extend(var.terms.iter().chain(&var.element_terms).chain(&var.range));
        }
    }
    for i in 0..ctx.steps.len() {
        for root in &roots {
            ctx.value(&Env::default(), *root, i);
        }
        for (track, _) in spec
            .tracks
            .iter()
            .enumerate()
            .filter(|(_, track)| track.params.is_empty())
        {
            ctx.track_after(&(guard_lang::ids::TrackId::new(track), Vec::new()), i + 1);
        }
    }
    let errors = ctx.errors.take();
    errors
        .into_iter()
        .map(|(step, message)| DataError { step, message })
        .collect()
}

/// Returns whether the spec's `records where` filter accepts the record as a trace.
pub fn is_trace(spec: &Spec, record: &Record) -> Truth {
    of_record(spec, record, spec.filter.record).unwrap_or(Truth::True)
}

/// Returns whether a trace is complete: as the record says, otherwise by the `complete from` or `complete =` of the
/// spec, otherwise true. If that condition is unknown, the trace is not complete, and its verdict is not final.
pub fn is_complete(spec: &Spec, record: &Record) -> bool {
    let declared =
        || of_record(spec, record, spec.filter.complete).map(|truth| truth == Truth::True);
    record.complete.or_else(declared).unwrap_or(true)
}

/// Returns the names and values of the variables of an instance, for reports.
pub fn named(property: &Property, instance: &ViolatedInstance) -> Vec<(SmolStr, Value)> {
    let vars = property
        .quantified
        .iter()
        .flat_map(|quantified| &quantified.vars);
    vars.map(|var| var.name.clone())
        .zip(instance.values.iter().cloned())
        .collect()
}

fn of_record(spec: &Spec, record: &Record, expr: Option<ExprId>) -> Option<Truth> {
    let ctx = Ctx::new(spec, &record.meta, Vec::new());
    expr.map(|expr| ctx.holds(&Env::default(), expr, 0))
}

/// Returns the verdict at the end of a complete trace, where presumable verdicts become final.
fn at_the_end(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Satisfied | Verdict::PresumablySatisfied => Verdict::Satisfied,
        Verdict::Violated | Verdict::PresumablyViolated => Verdict::Violated,
        Verdict::Unknown => Verdict::Unknown,
    }
}

/// Returns the verdict of a property that may read a `todo`: such a property is never satisfied, not even vacuously, since
/// neither the missing condition nor the values of an `exists` are known.
fn unwritten(spec: &Spec, property: &Property, verdict: Verdict) -> Verdict {
    let universal = property
        .quantified
        .as_ref()
        .is_none_or(|quantified| quantified.universal);
    match verdict {
        Verdict::Violated | Verdict::PresumablyViolated if universal => verdict,
        _ if spec.is_unwritten(property) => Verdict::Unknown,
        _ => verdict,
    }
}

/// Returns the events that are or may be steps, and whether they are known to be. The `where` filter sees only one event; if it
/// is unknown, both readings are followed.
fn steps<'a>(spec: &Spec, record: &'a Record) -> Vec<(&'a Step, bool)> {
    let keep = |step: &'a Step| {
        let truth = spec.filter.step.map_or(Truth::True, |expr| {
            let ctx = Ctx::new(spec, &record.meta, vec![(step.index, &step.cells)]);
            ctx.holds(&Env::default(), expr, 0)
        });
        (truth != Truth::False).then_some((step, truth == Truth::True))
    };
    record.steps.iter().filter_map(keep).collect()
}

/// Returns the indices of the steps, and the state of the property after 0, 1, … of them, combined over all readings of
/// the trace.
fn after_prefixes(
    spec: &Spec,
    record: &Record,
    property: &Property,
    tableaux: &Tableaux,
) -> Result<(Vec<u32>, Vec<After>), TooLarge> {
    let steps = steps(spec, record);
    let mut readings: Vec<Vec<bool>> = vec![Vec::new()];
    for (_, certain) in &steps {
        let with = |keep: bool| {
            readings
                .iter()
                .map(move |reading| [reading.as_slice(), &[keep]].concat())
        };
        readings = if *certain {
            with(true).collect()
        } else {
            with(true).chain(with(false)).collect()
        };
        if readings.len() > READINGS {
            return Err(TooLarge {
                what: "ways to read a trace",
                limit: READINGS,
            });
        }
    }
    let mut all: Vec<Vec<After>> = Vec::new();
    for reading in readings {
        let kept = steps.iter().zip(&reading).filter(|(_, keep)| **keep);
        let kept = kept
            .map(|((step, _), _)| (step.index, &*step.cells))
            .collect();
        let ctx = Ctx::new(spec, &record.meta, kept);
        let prefixes = quantifier::after_prefixes(&ctx, property, tableaux)?;
        // After a prefix of the events, the number of steps is the number of events that the reading keeps.
        let seen = |prefix: usize| reading.iter().take(prefix).filter(|keep| **keep).count();
        all.push(
            (0..=steps.len())
                .filter_map(|prefix| prefixes.get(seen(prefix)).cloned())
                .collect(),
        );
    }
    let combined = (0..=steps.len()).map(|prefix| {
        let readings: Vec<&After> = all
            .iter()
            .filter_map(|prefixes| prefixes.get(prefix))
            .collect();
        let in_all = |of: &dyn Fn(&After) -> BTreeSet<Vec<Value>>| {
            let sets = readings.iter().map(|after| of(after));
            sets.reduce(|lhs, rhs| lhs.intersection(&rhs).cloned().collect())
                .unwrap_or_default()
        };
        After {
            verdict: unwritten(
                spec,
                property,
                verdict::combine(&readings.iter().map(|after| after.verdict).collect()),
            ),
            violated: in_all(&|after| after.violated.clone()),
            failing: in_all(&|after| after.failing.clone()),
        }
    });
    Ok((
        steps.iter().map(|(step, _)| step.index).collect(),
        combined.collect(),
    ))
}
