//! The conditions that suffice to show a violation, and how long they held.

use std::collections::BTreeSet;

use super::cause::Cause;
use super::{Read, Request};
use crate::eval::compiled::Compiled;
use crate::value::{Instant, Truth};
use crate::verdict::{Overdue, PropertyVerdict, Reason, Why};
use guard_automata::{Interval, Missed, Path, Reason as AReason, why_false};

/// The greatest number of steps that are shown with their recorded values, besides those of the counterexample.
const MOST_SHOWN: usize = 12;

/// The greatest number of parts of the formula times steps for which conditions are searched.
const MOST_WORK: usize = 50_000_000;

/// Finds the conditions; their parts and values are evaluated later, see [`replay`](super::replay).
pub(super) fn why(program: &Compiled, request: &Request, steps: &[Read], cause: &Cause) -> Why {
    let code = &program.properties[request.property];
    // Without the values of an instance, its conditions cannot be evaluated.
    if code.quantified.is_some() && request.vars.is_empty() {
        return Why::default();
    }
    let n_letters = code.letters.len().max(1);
    let steps = &steps[..steps.len().min(request.letters.len() / n_letters)];
    let spec = program.spec();
    let judged = code.judged(spec, &spec.properties[request.property]);
    if steps.is_empty() || judged.formulas.len().saturating_mul(steps.len()) > MOST_WORK {
        return Why::default();
    }
    let from = cause.from.zip(judged.each).and_then(|(from, each)| {
        let position = steps.binary_search_by_key(&from, |step| step.index);
        Some((each, position.ok()?))
    });
    let (formula, position) = from.unwrap_or((judged.whole, 0));
    let times = times(steps);
    let path = Path {
        times: &times,
        past_open: false,
        future_open: !cause.by_end,
    };
    let found = why_false(&judged.formulas, formula, path, position, |step, atom| {
        let row = request.row(program, step);
        row.get(atom.0 as usize).copied().and_then(Truth::known)
    });
    let reason = |reason: &AReason| {
        let letter = code.letters.get(reason.atom.0 as usize)?;
        Some(Reason {
            first: steps[reason.first].index,
            last: steps[reason.last].index,
            atom: Some((letter.id, reason.first)),
            condition: spec.atom(letter.id).text.clone(),
            truth: reason.value.map_or(Truth::Unknown, Truth::from),
            parts: Vec::new(),
            values: Vec::new(),
        })
    };
    Why {
        reasons: found.reasons.iter().filter_map(reason).collect(),
        overdue: found
            .windows
            .iter()
            .filter_map(|missed| overdue(missed, steps, &times))
            .collect(),
        ended: found.ended,
        began: found.began,
    }
}

/// Returns the steps that are shown with their recorded values: those of the counterexample, and those of the
/// conditions that together suffice.
pub(super) fn shown(verdict: &PropertyVerdict) -> Vec<u32> {
    let mut shown: BTreeSet<u32> = verdict.counterexample.iter().copied().collect();
    let single = verdict.why.reasons.iter();
    for reason in single.filter(|reason| reason.is_one_step()) {
        if shown.len() < MOST_SHOWN {
            shown.insert(reason.first);
        }
    }
    shown.into_iter().collect()
}

/// Returns the times of the steps; if a time is not known, the latest time before it.
fn times(steps: &[Read]) -> Vec<i128> {
    let first = steps.iter().find_map(|step| step.time).unwrap_or(0);
    let mut latest = first;
    let known = steps.iter().map(|step| {
        latest = step.time.unwrap_or(latest).max(latest);
        latest
    });
    known.collect()
}

fn overdue(missed: &Missed, steps: &[Read], times: &[i128]) -> Option<Overdue> {
    let last = steps.len().checked_sub(1)?;
    let range = |lo: String, hi: String, from_start: bool| {
        if from_start {
            hi
        } else {
            format!("{lo} to {hi}")
        }
    };
    let (at, elapsed, allowed) = match missed.window {
        Interval::Steps { lo, hi } => {
            // A single step has no duration.
            let hi = hi.filter(|hi| *hi > lo)?;
            let at = missed.from.saturating_add(hi as usize).min(last);
            let steps = |n: usize| if n == 1 { "step" } else { "steps" };
            let allowed = range(lo.to_string(), hi.to_string(), lo <= 1);
            let passed = at - missed.from;
            (
                at,
                format!("{passed} {}", steps(passed)),
                format!("{allowed} {}", steps(hi as usize)),
            )
        }
        Interval::Time { lo, hi } => {
            let hi = hi?;
            let elapsed = times[last].saturating_sub(times[missed.from]);
            let text = |time: i128| Instant(time).to_string();
            (last, text(elapsed), range(text(lo), text(hi), lo <= 0))
        }
    };
    Some(Overdue {
        from: steps[missed.from].index,
        at: steps[at].index,
        elapsed,
        allowed,
    })
}
