//! The steps and fields that would decide an unknown verdict.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::fields;
use super::{Read, Request};
use crate::eval::clock::Clock;
use crate::eval::monitor::StateSetInterner;
use crate::eval::trace::TraceState;
use crate::hir::reads::reads;
use crate::ids::ExprId;
use crate::value::{Cell, Truth, Value};
use crate::verdict::Undecided;

/// The greatest number of steps that are reported for one verdict.
const MOST_STEPS: usize = 100;

pub(super) fn undecided(
    state: &TraceState<'_>,
    request: &Request,
    steps: &[Read],
) -> Vec<Undecided> {
    let program = state.program;
    let spec = program.spec();
    let property = &spec.properties[request.property];
    let code = &program.properties[request.property];
    let mut found: BTreeMap<u32, BTreeSet<usize>> = BTreeMap::new();
    let cells = |step: &Read| &state.history.steps[step.place].cells;
    let is_unknown =
        |step: &Read, field: usize| matches!(cells(step).get(field), Some(Cell::Unknown));
    // Adds the unknown fields among these at a step.
    let blame =
        |found: &mut BTreeMap<u32, BTreeSet<usize>>, step: &Read, among: &BTreeSet<usize>| {
            let unknown: Vec<usize> = among
                .iter()
                .copied()
                .filter(|field| is_unknown(step, *field))
                .collect();
            if !unknown.is_empty() {
                found.entry(step.index).or_default().extend(unknown);
            }
        };
    // A null time leaves a bound undecided, like an unknown time.
    let clock = program
        .clock
        .filter(|_| spec.formulas.is_timed(property.formula));
    let blame_clock = |found: &mut BTreeMap<u32, BTreeSet<usize>>, step: &Read| {
        if let Some(field) = clock
            && !matches!(cells(step).get(field), Some(Cell::Known(Value::Time(_))))
        {
            found.entry(step.index).or_default().insert(field);
        }
    };
    let filter = fields(spec, program.spec().filter.step);
    if let Some(quantified) = &property.quantified {
        // The value of a variable would be unknown too, so all fields that instances read are included.
        let terms = quantified
            .vars
            .iter()
            .flat_map(|var| var.terms.iter().chain(&var.element_terms).chain(&var.range));
        let roots: Vec<ExprId> = code
            .letters
            .iter()
            .map(|letter| spec.atom(letter.id).expr)
            .chain(terms.copied())
            .collect();
        let among = reads(spec, roots).fields;
        for step in steps {
            blame(&mut found, step, &among);
            blame_clock(&mut found, step);
            blame(&mut found, step, &filter);
        }
        blame_faults(state, &mut found, &among);
        return render(state, found);
    }
    let mut state_sets = StateSetInterner::new(&code.automaton);
    let mut state_set = StateSetInterner::INITIAL;
    let mut clock = Clock::default();
    for (number, step) in steps.iter().enumerate() {
        let row = request.row(program, number);
        let mut asked: BTreeSet<u32> = BTreeSet::new();
        clock.come(number, step.time);
        state_set = state_sets.step(&code.automaton, state_set, &clock, |letter| {
            let truth = row.get(letter as usize).copied().unwrap_or(Truth::Unknown);
            if truth == Truth::Unknown {
                asked.insert(letter);
            }
            truth
        });
        blame_clock(&mut found, step);
        blame(&mut found, step, &filter);
        for letter in asked {
            let expr = spec.atom(code.letters[letter as usize].id).expr;
            let own = fields(spec, [expr]);
            let all = reads(spec, [expr]);
            blame(&mut found, step, &own);
            if all.history || !all.tracks.is_empty() {
                steps[..=number]
                    .iter()
                    .for_each(|earlier| blame(&mut found, earlier, &all.fields));
            }
            // All cells are known, but evaluation failed: an error in the data.
            if !found.contains_key(&step.index) && all.tracks.is_empty() && !all.history {
                found.entry(step.index).or_default().extend(own);
            }
        }
        if found.len() > MOST_STEPS {
            break;
        }
    }
    render(state, found)
}

/// Adds the fields of expressions that met a data error, as far as the property reads them: their cells are known, but
/// evaluation failed.
fn blame_faults(
    state: &TraceState<'_>,
    found: &mut BTreeMap<u32, BTreeSet<usize>>,
    among: &BTreeSet<usize>,
) {
    let spec = state.program.spec();
    for fault in &state.cache.eval_cache.faults {
        if let (Some(step), Some((node, _))) = (fault.step, &fault.at) {
            let expr = state.program.code.info(*node).expr;
            let read = fields(spec, [expr]);
            let blamed: Vec<usize> = read.intersection(among).copied().collect();
            if !blamed.is_empty() {
                found.entry(step).or_default().extend(blamed);
            }
        }
    }
}

fn render(state: &TraceState<'_>, found: BTreeMap<u32, BTreeSet<usize>>) -> Vec<Undecided> {
    let names = &state.program.spec().schema.fields;
    let one = |(step, fields): (u32, BTreeSet<usize>)| {
        let fields = fields
            .into_iter()
            .filter_map(|field| names.get(field))
            .map(|field| field.name.clone())
            .collect();
        Undecided { step, fields }
    };
    found.into_iter().take(MOST_STEPS).map(one).collect()
}
