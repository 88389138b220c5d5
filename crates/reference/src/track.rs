//! Tracks: folds over the steps.
//!
//! A track of a finite type has the *set* of its possible values, so that a single unknown does not make it unknown
//! permanently; any other stays unknown until an update that does not read the unknown. A track with parameters has one
//! value for each tuple of arguments, all starting at `init`.

use std::collections::BTreeSet;

use super::expr::{Ctx, Env, Possible, TrackKey, known, one, possible, values_of};
use guard_lang::hir::Expr;
use guard_lang::ids::ExprId;
use guard_lang::value::{Cell, Value};

impl Ctx<'_> {
    /// Returns the value of a track as an expression at step `i` reads it; requests a choice if several are possible
    /// and none is assumed.
    pub(super) fn track(&self, env: &Env<'_>, key: TrackKey, i: usize) -> Cell {
        let steps = if env.in_update { i } else { i + 1 };
        let Some(values) = self.track_after(&key, steps) else {
            return Cell::Unknown;
        };
        if values.len() == 1 {
            return one(Some(values));
        }
        if let Some((_, value)) = env.assumed.iter().find(|(assumed, _)| *assumed == key) {
            return Cell::Known(value.clone());
        }
        self.choice.borrow_mut().get_or_insert((key, values));
        Cell::Unknown
    }

    /// Returns the possible values of a track after this many steps, by folding from the start.
    pub(super) fn track_after(&self, key: &TrackKey, steps: usize) -> Possible {
        loop {
            let done = {
                let tracks = self.tracks.borrow();
                let fold = tracks.get(key);
                if let Some(values) = fold.and_then(|fold| fold.get(steps)) {
                    return values.clone();
                }
                fold.map_or(0, Vec::len)
            };
            let values = self.track_step(key, done);
            self.tracks
                .borrow_mut()
                .entry(key.clone())
                .or_default()
                .push(values);
        }
    }

    /// Returns the initial values for `done` = 0, otherwise those after the `done`-th step, given those before it.
    fn track_step(&self, key: &TrackKey, done: usize) -> Possible {
        let (track, args) = key;
        let track = self.spec.track(*track);
        let env = Env {
            params: args,
            in_update: true,
            ..Env::default()
        };
        let (expr, i) = match done.checked_sub(1) {
            None => (track.init, 0),
            Some(i) => (track.update, i),
        };
        if track.ty.is_finite() {
            self.worlds(&env, &|env| self.possible(env, expr, i))
                .or_else(|| values_of(&track.ty))
        } else {
            possible(one(
                self.worlds(&env, &|env| possible(self.eval(env, expr, i)))
            ))
        }
    }

    /// Returns the possible values of an expression in an update: each unknown operand of finite type ranges over its type
    /// independently.
    fn possible(&self, env: &Env<'_>, id: ExprId, i: usize) -> Possible {
        let exprs = &self.spec.exprs;
        let values = match exprs.get(id) {
            Expr::If(condition, yes, no) => {
                let conditions = self.truths(env, *condition, i);
                let mut values = Some(BTreeSet::new());
                for (truth, branch) in [(true, *yes), (false, *no)] {
                    if conditions.contains(&truth) {
                        values = both(values, self.possible(env, branch, i));
                    }
                }
                values
            }
            Expr::Coalesce(lhs, rhs) => match self.possible(env, *lhs, i) {
                Some(mut values) => {
                    if values.remove(&Value::Null) {
                        both(Some(values), self.possible(env, *rhs, i))
                    } else {
                        Some(values)
                    }
                }
                None => None,
            },
            Expr::Compare(..)
            | Expr::Not(_)
            | Expr::Iff(..)
            | Expr::Contains(..)
            | Expr::StartsWith(..)
            | Expr::EndsWith(..)
            | Expr::Cast(_)
            | Expr::Call(..) => self.combinations(env, id, i),
            Expr::In(item, list) => match (
                self.possible(env, *item, i),
                known(self.eval(env, *list, i)),
            ) {
                (Some(items), Some(list)) => match super::ops::elements(&list) {
                    Ok(list) => Some(
                        items
                            .iter()
                            .map(|item| Value::Bool(list.contains(item)))
                            .collect(),
                    ),
                    Err(_) => None,
                },
                _ => None,
            },
            Expr::And(lhs, rhs) => self.connective(env, [*lhs, *rhs], i, |lhs, rhs| lhs && rhs),
            Expr::Or(lhs, rhs) => self.connective(env, [*lhs, *rhs], i, |lhs, rhs| lhs || rhs),
            Expr::Implies(lhs, rhs) => {
                self.connective(env, [*lhs, *rhs], i, |lhs, rhs| !lhs || rhs)
            }
            _ => None,
        };
        values
            .or_else(|| possible(self.eval(env, id, i)))
            .or_else(|| values_of(exprs.ty(id)))
    }

    /// Returns the values of a strict operator for every combination of its operands' possible values; `None` if an operand may
    /// have any value.
    fn combinations(&self, env: &Env<'_>, id: ExprId, i: usize) -> Possible {
        let mut combinations = vec![Vec::new()];
        for operand in self.spec.exprs.operands(id) {
            let values = self.possible(env, operand, i)?;
            combinations = combinations
                .iter()
                .flat_map(|before| {
                    values
                        .iter()
                        .map(|value| [before.as_slice(), std::slice::from_ref(value)].concat())
                })
                .collect();
        }
        let mut all = BTreeSet::new();
        for operands in combinations {
            let cell = match (self.spec.exprs.get(id), operands.as_slice()) {
                (Expr::Not(_), [Value::Bool(value)]) => Cell::Known(Value::Bool(!value)),
                (Expr::Iff(..), [Value::Bool(lhs), Value::Bool(rhs)]) => {
                    Cell::Known(Value::Bool(lhs == rhs))
                }
                _ => self.apply(id, &operands, i),
            };
            all.extend(possible(cell).or_else(|| values_of(self.spec.exprs.ty(id)))?);
        }
        Some(all)
    }

    /// Returns the possible values of a connective; the right operand is evaluated only if the left one does not
    /// decide.
    fn connective(
        &self,
        env: &Env<'_>,
        operands: [ExprId; 2],
        i: usize,
        op: fn(bool, bool) -> bool,
    ) -> Possible {
        let [lhs, rhs] = operands;
        let mut all = BTreeSet::new();
        for lhs in self.truths(env, lhs, i) {
            if op(lhs, false) == op(lhs, true) {
                all.insert(Value::Bool(op(lhs, true)));
            } else {
                all.extend(
                    self.truths(env, rhs, i)
                        .into_iter()
                        .map(|rhs| Value::Bool(op(lhs, rhs))),
                );
            }
        }
        Some(all)
    }

    /// Returns the possible truth values of a Boolean expression.
    fn truths(&self, env: &Env<'_>, id: ExprId, i: usize) -> BTreeSet<bool> {
        let truth = |value: &Value| {
            if let Value::Bool(truth) = value {
                Some(*truth)
            } else {
                None
            }
        };
        let values = self.possible(env, id, i).unwrap_or_default();
        let truths: Option<BTreeSet<bool>> = values.iter().map(truth).collect();
        truths
            .filter(|truths| !truths.is_empty())
            .unwrap_or_else(|| [false, true].into())
    }
}

fn both(lhs: Possible, rhs: Possible) -> Possible {
    let (mut lhs, rhs) = (lhs?, rhs?);
    lhs.extend(rhs);
    Some(lhs)
}
