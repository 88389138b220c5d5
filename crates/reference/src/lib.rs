//! The definition of the language as code: a slow and obvious evaluator of `hir::Spec` over a recorded trace.
//!
//! Every function here says one sentence of the language page, and is written to be read beside it: expressions look
//! back through the whole trace instead of carrying state (`expr`, `history`, `track`), formulas quantify over positions
//! (`formula`), finality is a search for a continuation (`tableau`), and every instance of a quantified property is
//! judged by itself from the first step on (`quantifier`).
//!
//! It shares no code with the fast path, so that the two can disagree: nothing of automata or of plans is used here.
//! It reads no files, and makes neither counterexamples nor messages.
//!
//! # Choices
//! Where the page leaves room, this is what it is taken to mean:
//!
//! * `before(e)` at the first step is the initial value where `e` *is* a track, and null for every other `e`.
//! * Arithmetic and casts to a type without `?` on null are data errors. `contains` on a list compares with null as `==`
//!   does; every other test of a text is false on null on either side.
//! * `set.add(null)` adds null; of all other functions but `text`, null for any argument gives null.
//! * `text` takes strings and keys, in the order in which they stand, no numbers.
//! * Within the update of a track of finite type every unknown operand of finite type ranges over its type, also below
//!   comparisons; elsewhere only tracks have sets of values, and the readings of one track at one step agree.
//! * A bound in time is unknown for each pair of steps one of which has no time, also for a step and itself.
//! * An unknown term may have any value. Where it is a value that something else takes, that instance has its comparisons
//!   unknown at that step. For all others there is one instance of a value that nothing else takes: its comparisons are
//!   unknown where the term is, and false elsewhere. It may exist from the first step with an unknown term on; with
//!   `forall x in e`, where `e` is unknown, and from then on every value may be in the range.
//! * An instance is finally violated no sooner than it exists, even where all unseen values were violated before.
//! * The end of a complete trace makes an unknown verdict final as well.
//!
//! # Limits
//! The cost is polynomial in the trace and exponential in the formula, in the number of steps whose `where` is unknown,
//! and in the number of tracks of several possible values that one expression reads. Beyond stated sizes the answer is
//! [`TooLarge`], never a wrong one.

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

/// The number of readings of a trace some of whose events may not be steps.
const READINGS: usize = 1024;

/// The question is beyond what this evaluator can search.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("more than {limit} {what}")]
pub struct TooLarge {
    /// The resource that is exceeded.
    pub what: &'static str,
    /// The limit.
    pub limit: usize,
}

/// The judgement of one property on one trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// The verdict at the end of what was recorded.
    pub verdict: Verdict,
    /// "Every continuation agrees", or the trace is complete.
    pub is_final: bool,
    /// "The end of a complete trace makes every verdict final at its last step (null if empty); `at` is null while not
    /// final."
    pub at: Option<u32>,
    /// "One verdict line per violated instance."
    pub violated: Vec<ViolatedInstance>,
    /// The verdicts on the way there.
    pub prefixes: PrefixVerdicts,
}

/// An instance of a `forall` property that is violated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ViolatedInstance {
    /// The values of the variables, in order.
    pub values: Vec<Value>,
    /// The first step at which the instance exists and is finally violated; the last step where only the end decides.
    pub at: Option<u32>,
}

/// The verdicts on a property while a trace grows, its end never announced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrefixVerdicts {
    /// Before the first step.
    pub empty: Verdict,
    /// After each step that is (or may be) one: its index and the verdict.
    pub steps: Vec<(u32, Verdict)>,
}

/// Something wrong with the data that an expression met.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DataError {
    /// Index of the step.
    pub step: u32,
    /// The message.
    pub message: String,
}

/// Judges every property on a recorded trace, in order of declaration.
///
/// # Errors
/// For a property that is beyond the limits of this evaluator.
pub fn judge(spec: &Spec, record: &Record) -> Vec<(PropertyId, Result<Judgement, TooLarge>)> {
    Definition::new(spec).judge(record)
}

/// Judges one property.
///
/// # Errors
/// Where the property is beyond the limits of this evaluator.
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
/// Where the property is beyond the limits of this evaluator.
pub fn prefix_verdicts(
    spec: &Spec,
    record: &Record,
    property: PropertyId,
) -> Result<PrefixVerdicts, TooLarge> {
    Definition::new(spec).prefix_verdicts(record, property)
}

/// The definition for many traces of one spec: what it has found of the continuations of a formula, it need not search again.
#[derive(Debug)]
pub struct Definition<'s> {
    spec: &'s Spec,
    tableaux: Tableaux,
}

impl<'s> Definition<'s> {
    /// Returns the definition of a spec.
    pub fn new(spec: &'s Spec) -> Definition<'s> {
        Definition {
            spec,
            tableaux: Tableaux::default(),
        }
    }

    /// As [`judge`].
    pub fn judge(&self, record: &Record) -> Vec<(PropertyId, Result<Judgement, TooLarge>)> {
        let ids = (0..self.spec.properties.len()).map(PropertyId::new);
        ids.map(|id| (id, self.judge_property(record, id)))
            .collect()
    }

    /// As [`judge_property`].
    ///
    /// # Errors
    /// As there.
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
        // INVARIANT (final): a final verdict stays, so the first one is the one.
        let first = |is: &dyn Fn(&After) -> bool| {
            let prefix = prefixes.iter().position(is)?;
            // What is final before the first step is reported at the first step.
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

    /// As [`prefix_verdicts`].
    ///
    /// # Errors
    /// As there.
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

/// Returns the value of an expression at every step that is (or may be) one, all of them taken as steps, with these values
/// for the quantified variables.
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

/// Returns the data errors that letters, tracks and compared terms meet, and a clock that runs back. All that may be steps
/// are taken as steps; letters of quantified properties are read with unknown variables.
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

/// "`records where e` drops records that are no traces."
pub fn is_trace(spec: &Spec, record: &Record) -> Truth {
    of_record(spec, record, spec.filter.record).unwrap_or(Truth::True)
}

/// "`complete from P | = e`: by default a record or a file is complete when audited." Where it is unknown, the trace is
/// not complete: it is "reported with the online verdict, never with a final one it does not have".
pub fn is_complete(spec: &Spec, record: &Record) -> bool {
    let declared =
        || of_record(spec, record, spec.filter.complete).map(|truth| truth == Truth::True);
    record.complete.or_else(declared).unwrap_or(true)
}

/// Returns the name of a variable and its value, for reports.
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

/// "The end of a complete trace makes every verdict final": presumably becomes certain.
fn at_the_end(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Satisfied | Verdict::PresumablySatisfied => Verdict::Satisfied,
        Verdict::Violated | Verdict::PresumablyViolated => Verdict::Violated,
        Verdict::Unknown => Verdict::Unknown,
    }
}

/// "A property that reads a `todo` is never satisfied, also vacuously": what the words will ask for is not known, nor which
/// values an `exists` will range over.
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

/// Returns the events that are or may be steps, and whether they are known to be. "`where e` drops events that are not steps
/// (invisible to everything after; if `e` is unknown, both are followed)." It is over one event, so it sees no other.
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

/// Returns the indices of the steps, and the property after 0, 1, …, all of them, over every way to read the trace.
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
        // After a prefix of the events, as many steps have been seen as it keeps.
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
