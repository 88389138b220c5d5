//! Quantified properties: every instance by itself, over the whole prefix.
//!
//! "`forall x: φ` …: for every value (tuple of values) φ over the whole trace." The instances of a prefix are the tuples
//! of values that the compared terms took in it. Values not seen yet behave alike; one value that equals nothing stands
//! for them. A compared term that is unknown may have any value, seen or unseen: an instance of a seen value has its
//! comparisons with it unknown at that step, and one more instance stands for an unseen value that the term may have
//! taken. Likewise where a range is unknown, each value may be in it. None of this makes a verdict satisfied or violated.

use std::collections::{BTreeMap, BTreeSet};

use super::TooLarge;
use super::expr::{Ctx, Env, known};
use super::tableau::Tableaux;
use super::verdict::{Letters, verdicts};
use guard_lang::hir::{Property, Quantified, QuantifiedVar};
use guard_lang::ids::ExprId;
use guard_lang::value::{Cell, EnumValue, Truth, Value};
use guard_lang::verdict::Verdict;

/// Instances of one property.
const INSTANCES: usize = 10_000;

/// The value of one variable in an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// A value; whether it is in the range of the variable, or only known to the formula otherwise.
    Value(Value, Truth),
    /// A value that nothing has taken yet.
    Unseen,
    /// An unseen value that a term which is unknown may have taken.
    Any,
}

/// The known facts about a property after a prefix.
#[derive(Clone, Debug)]
pub(super) struct After {
    pub(super) verdict: Verdict,
    /// The instances that are finally violated (of `forall`).
    pub(super) violated: BTreeSet<Vec<Value>>,
    /// The instances that would be violated if the prefix were complete (of `forall`), those above included.
    pub(super) failing: BTreeSet<Vec<Value>>,
}

/// Returns the property after 0, 1, …, n steps.
pub(super) fn after_prefixes(
    ctx: &Ctx<'_>,
    property: &Property,
    tableaux: &Tableaux,
) -> Result<Vec<After>, TooLarge> {
    let Some(quantified) = &property.quantified else {
        let plain = |verdict| After {
            verdict,
            violated: BTreeSet::new(),
            failing: BTreeSet::new(),
        };
        return Ok(instance(ctx, property, &[], tableaux)?
            .into_iter()
            .map(plain)
            .collect());
    };
    let mut known_instances: BTreeMap<Vec<Value>, Vec<Verdict>> = BTreeMap::new();
    let mut prefixes = Vec::new();
    for prefix in 0..=ctx.steps.len() {
        let mut tuples: Vec<Vec<Binding>> = vec![Vec::new()];
        for var in &quantified.vars {
            let bindings = bindings(ctx, var, prefix);
            tuples = tuples
                .iter()
                .flat_map(|tuple| {
                    bindings
                        .iter()
                        .map(|binding| [tuple.as_slice(), std::slice::from_ref(binding)].concat())
                })
                .collect();
            if tuples.len() > INSTANCES {
                return Err(TooLarge {
                    what: "instances of a quantified property",
                    limit: INSTANCES,
                });
            }
        }
        let mut after = After {
            verdict: if quantified.universal {
                Verdict::Satisfied
            } else {
                Verdict::Violated
            },
            violated: BTreeSet::new(),
            failing: BTreeSet::new(),
        };
        for tuple in tuples {
            let values: Vec<Value> = tuple
                .iter()
                .enumerate()
                .map(|(var, binding)| value(binding, var))
                .collect();
            let series = match known_instances.get(&values) {
                Some(series) => series,
                None => {
                    let vars: Vec<Cell> = values
                        .iter()
                        .map(|value| Cell::Known(value.clone()))
                        .collect();
                    let series = instance(ctx, property, &vars, tableaux)?;
                    known_instances.entry(values.clone()).or_insert(series)
                }
            };
            let verdict = series.get(prefix).copied().unwrap_or(Verdict::Unknown);
            add(&mut after, quantified, &tuple, verdict);
        }
        // What is final stays. An unknown term that comes later could only seem to change it: its instance is one of the
        // values that were judged, or an unseen one, and all of those agree.
        if let Some(before) = prefixes.last().map(|before: &After| before.verdict) {
            after.verdict = if before.is_final() {
                before
            } else {
                after.verdict
            };
        }
        prefixes.push(after);
    }
    Ok(prefixes)
}

/// Returns the verdicts on the formula with these values for the variables.
fn instance(
    ctx: &Ctx<'_>,
    property: &Property,
    vars: &[Cell],
    tableaux: &Tableaux,
) -> Result<Vec<Verdict>, TooLarge> {
    let formulas = &ctx.spec.formulas;
    let env = Env {
        vars,
        ..Env::default()
    };
    let truths = |letter| {
        let expr = formulas.atom(letter).expr;
        (0..ctx.steps.len())
            .map(|i| ctx.holds(&env, expr, i))
            .collect()
    };
    let letters: Letters = formulas
        .atoms_of(property.formula)
        .into_iter()
        .map(|letter| (letter, truths(letter)))
        .collect();
    verdicts(
        formulas,
        property.formula,
        &ctx.clock,
        &letters,
        ctx.steps.len(),
        tableaux,
    )
}

/// Adds the verdict of one instance.
///
/// For `forall`, the least verdict in the order *violated, presumably violated, unknown, presumably satisfied,
/// satisfied*; for `exists`, the greatest.
fn add(after: &mut After, quantified: &Quantified, tuple: &[Binding], verdict: Verdict) {
    let universal = quantified.universal;
    let exists = tuple.iter().fold(Truth::True, |exists, binding| {
        exists.and(match binding {
            Binding::Value(_, in_range) => *in_range,
            Binding::Unseen => Truth::False,
            Binding::Any => Truth::Unknown,
        })
    });
    let certain = exists == Truth::True;
    let (neutral, presumably) = if universal {
        (Verdict::Satisfied, Verdict::PresumablySatisfied)
    } else {
        (Verdict::Violated, Verdict::PresumablyViolated)
    };
    let says = if certain || verdict == neutral {
        verdict
    } else if exists == Truth::False || verdict == presumably {
        // It is no instance (yet), so it decides nothing now; but it may become one, so nothing is final.
        presumably
    } else {
        // "A compared term that is unknown … can make the verdict unknown, never satisfied."
        Verdict::Unknown
    };
    after.verdict = if (rank(says) < rank(after.verdict)) == universal {
        says
    } else {
        after.verdict
    };
    if certain && universal {
        let values = || {
            tuple.iter().filter_map(|b| {
                if let Binding::Value(v, _) = b {
                    Some(v.clone())
                } else {
                    None
                }
            })
        };
        if verdict == Verdict::Violated {
            after.violated.insert(values().collect());
        }
        if matches!(verdict, Verdict::Violated | Verdict::PresumablyViolated) {
            after.failing.insert(values().collect());
        }
    }
}

fn rank(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Violated => 0,
        Verdict::PresumablyViolated => 1,
        Verdict::Unknown => 2,
        Verdict::PresumablySatisfied => 3,
        Verdict::Satisfied => 4,
    }
}

/// Returns the value that stands for a binding.
fn value(binding: &Binding, var: usize) -> Value {
    match binding {
        Binding::Value(value, _) => value.clone(),
        // No spec has so many enums, so this value equals nothing that data or the spec may hold. It may still be what an
        // unknown term has taken: comparisons with that are unknown, at those steps only. (A value that some other step
        // holds is an instance of its own, and the same comparison is unknown there.)
        Binding::Unseen | Binding::Any => Value::Enum(EnumValue {
            of: u16::MAX,
            index: u16::try_from(var).unwrap_or(u16::MAX),
        }),
    }
}

/// Returns all that a variable may stand for after this many steps.
///
/// "It ranges over all values that the compared terms take in the trace (lists: each element; null never) and the
/// constants it is compared with; `forall x in e` restricts it to those that `e` takes."
fn bindings(ctx: &Ctx<'_>, var: &QuantifiedVar, prefix: usize) -> Vec<Binding> {
    let mut compared: BTreeSet<Value> = var.constants.iter().cloned().collect();
    let mut unknown_term = false;
    for i in 0..prefix {
        for term in &var.terms {
            unknown_term |= !take(ctx, *term, i, false, &mut compared);
        }
        for term in &var.element_terms {
            unknown_term |= !take(ctx, *term, i, true, &mut compared);
        }
    }
    let mut ranged = BTreeSet::new();
    let mut unknown_range = false;
    if let Some(range) = var.range {
        for i in 0..prefix {
            unknown_range |= !take(ctx, range, i, true, &mut ranged);
        }
        compared.extend(ranged.iter().cloned());
    }
    compared.remove(&Value::Null);
    let in_range = |value: &Value| {
        if var.range.is_none() || ranged.contains(value) {
            Truth::True
        } else if unknown_range {
            Truth::Unknown
        } else {
            Truth::False
        }
    };
    // An unseen value is taken by an unknown term; with a range, only by the range.
    let any = if var.range.is_some() {
        unknown_range
    } else {
        unknown_term
    };
    let values = compared.into_iter().map(|value| {
        let in_range = in_range(&value);
        Binding::Value(value, in_range)
    });
    values
        .chain([Binding::Unseen])
        .chain(any.then_some(Binding::Any))
        .collect()
}

/// Adds the value of a term at a step, or each element of a list; false where it is unknown.
fn take(
    ctx: &Ctx<'_>,
    term: ExprId,
    i: usize,
    elements: bool,
    values: &mut BTreeSet<Value>,
) -> bool {
    let Some(value) = known(ctx.value(&Env::default(), term, i)) else {
        return false;
    };
    match value {
        Value::List(items) if elements => values.extend(items.iter().cloned()),
        Value::Set(items) if elements => values.extend(items.iter().cloned()),
        other => {
            values.insert(other);
        }
    }
    true
}
