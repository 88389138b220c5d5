//! `before`, `count` and past operators in expressions, evaluated by scanning the steps.

use super::expr::{Ctx, Env, count, from_truth, one};
use guard_lang::hir::{Expr, PastOp, Window};
use guard_lang::ids::ExprId;
use guard_lang::value::{Cell, Truth, Value};

impl Ctx<'_> {
    /// Returns the value of an expression that refers to earlier steps.
    pub(super) fn history(&self, env: &Env<'_>, id: ExprId, i: usize) -> Cell {
        match self.spec.exprs.get(id) {
            Expr::Before(of) => self.before(env, *of, i),
            Expr::Count { of, window, since } => match self.counts(env, *of, *window, *since, i) {
                (least, most) if least == most => count(least),
                _ => Cell::Unknown,
            },
            Expr::Past(op, window, lhs, rhs) => {
                let lhs = |j: usize| self.holds(env, *lhs, j);
                let rhs = |j: usize| rhs.map_or(Truth::Unknown, |rhs| self.holds(env, rhs, j));
                from_truth(self.past(*op, *window, &lhs, &rhs, i))
            }
            _ => Cell::Unknown,
        }
    }

    /// Returns the value of an expression at the previous step. At the first step this is the initial value of a track,
    /// and null for any other expression.
    fn before(&self, env: &Env<'_>, of: ExprId, i: usize) -> Cell {
        match (i.checked_sub(1), self.spec.exprs.get(of)) {
            (Some(before), _) => self.value(env, of, before),
            (None, Expr::Track(track, args)) => {
                let args = args
                    .iter()
                    .map(|arg| super::expr::known(self.value(env, *arg, i)));
                match args.collect::<Option<Vec<Value>>>() {
                    Some(args) => one(self.track_after(&(*track, args), 0)),
                    None => Cell::Unknown,
                }
            }
            (None, _) => Cell::Known(Value::Null),
        }
    }

    /// Returns the least and the greatest number of steps up to now at which `of` holds, within a window, and after the last
    /// step at which `since` holds. If a condition or the window is unknown at a step, both possibilities are counted.
    pub(super) fn counts(
        &self,
        env: &Env<'_>,
        of: ExprId,
        window: Option<Window>,
        since: Option<ExprId>,
        i: usize,
    ) -> (usize, usize) {
        // The steps at which counting may begin: one after each step at which `since` may hold last.
        let mut begins = Vec::new();
        let mut begin = i + 1;
        while let Some(j) = begin.checked_sub(1) {
            let truth = since.map_or(Truth::False, |since| self.holds(env, since, j));
            if truth != Truth::False {
                begins.push(begin);
            }
            if truth == Truth::True {
                break;
            }
            begin = j;
        }
        if begin == 0 {
            begins.push(0);
        }
        let counted: Vec<Truth> = (0..=i)
            .map(|j| self.clock.within(window, i, j).and(self.holds(env, of, j)))
            .collect();
        let counts = |least: Truth, begin: usize| {
            counted
                .iter()
                .skip(begin)
                .filter(|truth| **truth >= least)
                .count()
        };
        let least = begins
            .iter()
            .map(|begin| counts(Truth::True, *begin))
            .min()
            .unwrap_or(0);
        let most = begins
            .iter()
            .map(|begin| counts(Truth::Unknown, *begin))
            .max()
            .unwrap_or(0);
        (least, most)
    }

    /// Evaluates past operators by their definition on finite traces: `Y` is false and `Z` true at position 0, `a B b`
    /// = `(a S b) | H a`.
    fn past(
        &self,
        op: PastOp,
        window: Option<Window>,
        lhs: &dyn Fn(usize) -> Truth,
        rhs: &dyn Fn(usize) -> Truth,
        i: usize,
    ) -> Truth {
        let historically = || {
            (0..=i).fold(Truth::True, |all, j| {
                all.and(self.clock.within(window, i, j).implies(lhs(j)))
            })
        };
        let since = || {
            (0..=i).fold(Truth::False, |some, j| {
                let after = (j + 1..=i).fold(Truth::True, |all, k| all.and(lhs(k)));
                some.or(self.clock.within(window, i, j).and(rhs(j)).and(after))
            })
        };
        match op {
            PastOp::Previously => i.checked_sub(1).map_or(Truth::False, lhs),
            PastOp::WeakPreviously => i.checked_sub(1).map_or(Truth::True, lhs),
            PastOp::Once => (0..=i).fold(Truth::False, |some, j| {
                some.or(self.clock.within(window, i, j).and(lhs(j)))
            }),
            PastOp::Historically => historically(),
            PastOp::Since => since(),
            PastOp::BackTo => since().or(historically()),
        }
    }
}
