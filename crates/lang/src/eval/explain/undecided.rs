//! The steps and fields that would decide an unknown verdict.

use std::collections::{BTreeMap, BTreeSet};

use smol_str::{SmolStr, format_smolstr};

use super::evidence::fields;
use super::{Read, Request};
use crate::eval::clock::Clock;
use crate::eval::monitor::StateSetInterner;
use crate::eval::trace::TraceState;
use crate::hir::reads::{Reads, reads, visit};
use crate::hir::{Expr, Spec};
use crate::ids::ExprId;
use crate::value::{Cell, Truth, Value};
use crate::verdict::Undecided;

/// The greatest number of steps that are reported for one verdict.
const MOST_STEPS: usize = 100;

/// A thing that an evaluation lacks, in the order in which they are listed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Missing {
    /// The value of a field of the step, by its position.
    Field(usize),
    /// The value of a field of the record, by its position.
    Meta(usize),
    /// A condition that is still to be written, by its words.
    Todo(SmolStr),
}

/// The things that evaluations lack, by step.
struct Found<'a, 's> {
    state: &'a TraceState<'s>,
    steps: BTreeMap<u32, BTreeSet<Missing>>,
}

impl Found<'_, '_> {
    fn cell(&self, step: &Read, field: usize) -> Option<&Cell> {
        self.state.history.steps[step.place].cells.get(field)
    }

    fn add(&mut self, step: u32, missing: impl IntoIterator<Item = Missing>) {
        let mut missing = missing.into_iter().peekable();
        if missing.peek().is_some() {
            self.steps.entry(step).or_default().extend(missing);
        }
    }

    /// Adds the unknown fields among these at a step.
    fn add_fields(&mut self, step: &Read, among: &BTreeSet<usize>) {
        let is_unknown = |field: &usize| matches!(self.cell(step, *field), Some(Cell::Unknown));
        let unknown = among.iter().copied().filter(is_unknown);
        let unknown: Vec<Missing> = unknown.map(Missing::Field).collect();
        self.add(step.index, unknown);
    }

    /// Adds the clock at a step. A null time leaves a bound undecided, like an unknown time.
    fn add_clock(&mut self, step: &Read, clock: Option<usize>) {
        if let Some(field) = clock
            && !matches!(self.cell(step, field), Some(Cell::Known(Value::Time(_))))
        {
            self.add(step.index, [Missing::Field(field)]);
        }
    }

    /// Adds the fields of expressions that met a data error, as far as the property reads them: their cells are known, but
    /// evaluation failed.
    fn add_faults(&mut self, among: &BTreeSet<usize>) {
        let (spec, code) = (self.state.program.spec(), &self.state.program.code);
        for fault in &self.state.cache.eval_cache.faults {
            if let (Some(step), Some((node, _))) = (fault.step, &fault.at) {
                let read = fields(spec, [code.info(*node).expr]);
                let read: Vec<usize> = read.intersection(among).copied().collect();
                self.add(step, read.into_iter().map(Missing::Field));
            }
        }
    }

    fn render(self) -> Vec<Undecided> {
        let schema = &self.state.program.spec().schema;
        let name = |missing: Missing| match missing {
            Missing::Field(field) => Some(schema.fields.get(field)?.name.clone()),
            Missing::Meta(field) => {
                let field = schema.meta.get(field)?;
                Some(format_smolstr!("meta.{}", field.name))
            }
            Missing::Todo(words) => Some(format_smolstr!("todo({words:?})")),
        };
        let one = |(step, missing): (u32, BTreeSet<Missing>)| {
            let fields = missing.into_iter().filter_map(name).collect();
            Undecided { step, fields }
        };
        self.steps.into_iter().take(MOST_STEPS).map(one).collect()
    }
}

pub(super) fn undecided(
    state: &TraceState<'_>,
    request: &Request,
    steps: &[Read],
) -> Vec<Undecided> {
    let program = state.program;
    let spec = program.spec();
    let property = &spec.properties[request.property];
    let code = &program.properties[request.property];
    let mut found = Found {
        state,
        steps: BTreeMap::new(),
    };
    // What no step has: fields of the record, and conditions to be written.
    let of_no_step = |roots: &[ExprId], read: &Reads| -> Vec<Missing> {
        let is_unknown =
            |field: &usize| matches!(state.source.meta.get(*field), Some(Cell::Unknown));
        let unknown = read.meta.iter().copied().filter(is_unknown);
        unknown
            .map(Missing::Meta)
            .chain(todos(spec, roots))
            .collect()
    };
    let clock_field = spec.clock_of(property);
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
        let all = reads(spec, roots.iter().copied());
        let others = of_no_step(&roots, &all);
        for step in steps {
            found.add_fields(step, &all.fields);
            found.add(step.index, others.iter().cloned());
            found.add_clock(step, clock_field);
            found.add_fields(step, &filter);
        }
        found.add_faults(&all.fields);
        return found.render();
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
        found.add_clock(step, clock_field);
        found.add_fields(step, &filter);
        for letter in asked {
            let expr = spec.atom(code.letters[letter as usize].id).expr;
            let own = fields(spec, [expr]);
            let all = reads(spec, [expr]);
            found.add_fields(step, &own);
            found.add(step.index, of_no_step(&[expr], &all));
            let is_of_past = all.history || !all.tracks.is_empty();
            if is_of_past {
                for earlier in &steps[..=number] {
                    found.add_fields(earlier, &all.fields);
                }
            }
            // All cells are known, but evaluation failed: an error in the data.
            if !found.steps.contains_key(&step.index) {
                match is_of_past {
                    true => found.add_faults(&all.fields),
                    false => found.add(step.index, own.into_iter().map(Missing::Field)),
                }
            }
        }
        if found.steps.len() > MOST_STEPS {
            break;
        }
    }
    found.render()
}

/// Returns the conditions to be written that expressions read, directly or through tracks.
fn todos(spec: &Spec, roots: &[ExprId]) -> Vec<Missing> {
    let mut todos = Vec::new();
    visit(spec, roots.iter().copied(), |id| {
        if let Expr::Todo(words) = spec.exprs.get(id) {
            todos.push(Missing::Todo(words.clone()));
        }
    });
    todos
}
