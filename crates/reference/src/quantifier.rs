//! Quantified properties: every instance is evaluated separately, over the whole prefix.
//!
//! `forall x: φ` requires φ over the whole trace for every value (tuple of values). The instances of a prefix are the tuples of
//! values that the compared terms had in it. Values that were not seen yet behave identically; one value that equals no other
//! represents them. An unknown compared term may have any value, seen or unseen: the comparisons of a seen value with it are
//! unknown at that step, and one further instance represents an unseen value of the term. Likewise, if a range is unknown, each
//! value may be in it. None of this makes a verdict satisfied or violated.

use std::collections::{BTreeMap, BTreeSet};

use super::TooLarge;
use super::expr::{Ctx, Env, known};
use super::tableau::Tableaux;
use super::verdict::{Letters, verdicts};
use guard_lang::hir::{Property, Quantified, QuantifiedVar};
use guard_lang::ids::ExprId;
use guard_lang::value::{Cell, EnumValue, Truth, Value};
use guard_lang::verdict::Verdict;

/// The largest number of instances of one property.
const INSTANCES: usize = 10_000;

/// The value of one variable in an instance.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    /// A value, and whether it is in the range of the variable; values outside the range occur only in comparisons.
    Value(Value, Truth),
    /// Any value that no term has had yet.
    Unseen,
    /// An unseen value that an unknown term may have had.
    Any,
}

/// The state of a property after a prefix.
#[derive(Clone, Debug)]
pub(super) struct After {
    pub(super) verdict: Verdict,
    /// The finally violated instances of a `forall`.
    pub(super) violated: BTreeSet<Vec<Value>>,
    /// The instances of a `forall` that are violated if the prefix is complete, including the finally violated ones.
    pub(super) failing: BTreeSet<Vec<Value>>,
}

/// Returns the state of the property after 0, 1, …, n steps.
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
        // A final verdict stays. A later unknown term could only appear to change it: its instance has one of the
        // evaluated values, or an unseen one, and all of those agree.
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

/// Returns the verdicts on the formula, by prefix, for these values of the variables.
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

/// Combines the verdict of one instance into the result.
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
        // It is not an instance yet, so it decides nothing now; since it may become one, no verdict is final.
        presumably
    } else {
        // An unknown term can make the verdict unknown, but not satisfied.
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

/// Returns the value that represents a binding.
fn value(binding: &Binding, var: usize) -> Value {
    match binding {
        Binding::Value(value, _) => value.clone(),
        // No spec has this many enums, so the value equals none in the data or the spec. An unknown term may still have it:
        // comparisons with that term are unknown, at those steps only. (A value that occurs at some other step has an instance
        // of its own, with the same unknown comparison.)
        Binding::Unseen | Binding::Any => Value::Enum(EnumValue {
            of: u16::MAX,
            index: u16::try_from(var).unwrap_or(u16::MAX),
        }),
    }
}

/// Returns all bindings of a variable after this many steps.
///
/// A variable ranges over the values of the compared terms (for lists each element, never null) and the constants that
/// it is compared with; `forall x in e` restricts it to the values of `e`.
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
    // An unknown term may have an unseen value; with a range, only an unknown range.
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

/// Adds the value of a term at a step, or each element of a list; returns false if it is unknown.
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
