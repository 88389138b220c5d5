//! The initial states: every valuation that agrees with the declared values and satisfies every `init`.

use std::collections::BTreeSet;

use super::code::{Compiler, Fault, Test};
use super::layout::{Layout, Slot};
use super::{Program, SystemError};
use crate::hir::{Compare, Expr, Exprs, Spec, system};
use crate::ids::{ExprId, StateVarId};
use crate::value::Value;

/// A condition on the initial states, and the last variable that it reads.
struct Condition {
    test: Test,
    last: usize,
}

struct Search<'a> {
    slots: &'a [Slot],
    /// For each variable: the positions to try; `None` means all.
    candidates: Vec<Option<Vec<u64>>>,
    conditions: Vec<Condition>,
    tried: usize,
    limit: usize,
    found: Vec<Vec<u64>>,
    max_states: usize,
}

/// Returns all initial states, at most `max_states`, in the order of the values of their variables.
pub(super) fn initial_states(
    spec: &Spec,
    program: &Program,
    max_states: usize,
) -> Result<Vec<Vec<u64>>, SystemError> {
    let layout = &program.layout;
    let mut candidates: Vec<Option<Vec<u64>>> = layout
        .vars()
        .iter()
        .map(|var| {
            let var = spec.state_var(*var);
            let position = var.init.as_ref().and_then(|init| var.domain.position(init));
            position.map(|position| vec![position])
        })
        .collect();
    let mut conditions = Vec::new();
    let mut compiler = Compiler::new(&spec.exprs, layout);
    for init in &program.inits {
        for part in conjuncts(&spec.exprs, *init) {
            let read = system::state_vars(&spec.exprs, [part]);
            let places: Vec<usize> = read.iter().filter_map(|var| place(layout, *var)).collect();
            if places.len() < read.len() {
                continue;
            }
            if let ([at], Some(listed)) = (places.as_slice(), listed(spec, layout, part)) {
                narrow(&mut candidates[*at], listed);
                continue;
            }
            conditions.push(Condition {
                test: compiler.test(part),
                last: places.into_iter().max().unwrap_or(0),
            });
        }
    }
    let mut search = Search {
        slots: layout.slots(),
        candidates,
        conditions,
        tried: 0,
        limit: max_states.saturating_mul(16),
        found: Vec::new(),
        max_states,
    };
    let mut state = vec![0; layout.words()];
    search.assign(0, &mut state, spec, layout)?;
    if search.found.is_empty() {
        return Err(SystemError::NoInitial);
    }
    Ok(search.found)
}

impl Search<'_> {
    /// Assigns values to the variables from `at` on.
    fn assign(
        &mut self,
        at: usize,
        state: &mut [u64],
        spec: &Spec,
        layout: &Layout,
    ) -> Result<(), SystemError> {
        let Some(slot) = self.slots.get(at).copied() else {
            if self.found.len() == self.max_states {
                let (limit, space) = (self.max_states, layout.space());
                return Err(SystemError::States { limit, space });
            }
            self.found.push(state.to_vec());
            return Ok(());
        };
        let listed = self.candidates[at].clone();
        let count = listed
            .as_ref()
            .map_or(slot.len, |listed| listed.len() as u64);
        for index in 0..count {
            let position = listed
                .as_ref()
                .map_or(index, |listed| listed[index as usize]);
            self.tried += 1;
            if self.tried > self.limit {
                return Err(SystemError::InitialWork { limit: self.limit });
            }
            slot.set(state, position);
            let fits = self.fits(at, state).map_err(|fault| SystemError::Fault {
                what: "an `init` has no value".to_owned(),
                state: super::explore::show(spec, layout, state),
                fault,
            })?;
            if fits {
                self.assign(at + 1, state, spec, layout)?;
            }
        }
        Ok(())
    }

    fn fits(&self, at: usize, state: &[u64]) -> Result<bool, Fault> {
        for condition in self
            .conditions
            .iter()
            .filter(|condition| condition.last == at)
        {
            if !condition.test.eval(state)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn place(layout: &Layout, var: StateVarId) -> Option<usize> {
    layout.vars().iter().position(|other| *other == var)
}

fn conjuncts(exprs: &Exprs, id: ExprId) -> Vec<ExprId> {
    match exprs.get(id) {
        Expr::And(a, b) => {
            let mut parts = conjuncts(exprs, *a);
            parts.extend(conjuncts(exprs, *b));
            parts
        }
        _ => vec![id],
    }
}

/// Returns the positions that `x == c` or `x in { … }` allows, so that a large range need not be enumerated.
fn listed(spec: &Spec, layout: &Layout, id: ExprId) -> Option<Vec<u64>> {
    let (var, values) = match spec.exprs.get(id) {
        Expr::Compare(Compare::Eq, a, b) => match (spec.exprs.get(*a), spec.exprs.get(*b)) {
            (Expr::State(var), Expr::Const(value)) | (Expr::Const(value), Expr::State(var)) => {
                (*var, vec![value.clone()])
            }
            _ => return None,
        },
        Expr::In(a, b) => match (spec.exprs.get(*a), spec.exprs.get(*b)) {
            (Expr::State(var), Expr::Const(Value::Set(values))) => {
                (*var, values.iter().cloned().collect())
            }
            (Expr::State(var), Expr::Const(Value::List(values))) => (*var, values.to_vec()),
            _ => return None,
        },
        _ => return None,
    };
    layout.slot(var)?;
    let domain = &spec.state_var(var).domain;
    let positions: BTreeSet<u64> = values
        .iter()
        .filter_map(|value| domain.position(value))
        .collect();
    Some(positions.into_iter().collect())
}

fn narrow(candidates: &mut Option<Vec<u64>>, listed: Vec<u64>) {
    match candidates {
        Some(known) => known.retain(|position| listed.contains(position)),
        None => *candidates = Some(listed),
    }
}
