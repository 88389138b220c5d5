//! Evaluation of expressions on states instead of events.
//!
//! Each component of a state replaces the expression of which it is the value, like a field of an event, so the same
//! code evaluates it. Below [`Expr::Next`] the values are those of the next state.

use rustc_hash::FxHashMap;

use super::code::{Code, NodeId};
use super::eval_cache::EvalCache;
use super::expr::Eval;
use super::limits::{LimitError, Limits};
use super::lower::Lower;
use super::track::Tracks;
use crate::hir::{Expr, Spec};
use crate::ids::{ExprId, PropertyId};
use crate::value::{Cell, Truth};

/// Expressions compiled for evaluation on states.
#[derive(Debug)]
pub(crate) struct StateCode {
    code: Code,
    roots: Vec<NodeId>,
    limits: Limits,
}

/// The evaluator of a [`StateCode`]; one for each thread.
#[derive(Debug)]
pub(crate) struct StateEval<'c> {
    of: &'c StateCode,
    tracks: Tracks,
    eval_cache: EvalCache,
}

/// The layout of the cells of a state.
#[derive(Clone, Debug, Default)]
pub(crate) struct StateLayout {
    /// The cell that is the value of an expression.
    pub values: FxHashMap<ExprId, usize>,
    /// The cell that records whether a property has been violated.
    pub violated: FxHashMap<PropertyId, usize>,
    /// The number of cells of a state; those of the next state follow them.
    pub len: usize,
}

impl StateCode {
    /// Compiles expressions. An expression that reads neither a place nor a constant is unknown.
    ///
    /// # Errors
    /// [`LimitError`], for past operators over bound variables.
    pub(crate) fn new(
        spec: &Spec,
        places: &StateLayout,
        roots: &[ExprId],
    ) -> Result<StateCode, LimitError> {
        let mut rewritten = spec.clone();
        let mut rewrite = Rewrite {
            spec,
            into: &mut rewritten,
            places,
            known: FxHashMap::default(),
        };
        let roots: Vec<ExprId> = roots.iter().map(|root| rewrite.expr(*root, 0)).collect();
        let mut lower = Lower::new(&rewritten, vec![None; rewritten.tracks.len()]);
        let roots: Vec<NodeId> = roots
            .into_iter()
            .map(|root| lower.root(root, false))
            .collect::<Result<_, _>>()?;
        Ok(StateCode {
            code: lower.finish(),
            roots,
            limits: Limits::default(),
        })
    }

    /// Returns an evaluator.
    pub(crate) fn eval(&self) -> StateEval<'_> {
        StateEval {
            of: self,
            tracks: Tracks::new(&self.code, &[]),
            eval_cache: EvalCache::new(&self.code, &self.limits),
        }
    }
}

impl StateEval<'_> {
    /// Returns the truth of a root in a state. `cells` are those of the state, followed by those of the next one.
    pub(crate) fn truth(&mut self, root: usize, cells: &[Cell]) -> Truth {
        self.with(root, cells, |eval, node| eval.letter(node))
            .unwrap_or(Truth::Unknown)
    }

    /// Returns the value of a root in a state.
    pub(crate) fn cell(&mut self, root: usize, cells: &[Cell]) -> Cell {
        self.with(root, cells, |eval, node| eval.cell(node))
            .unwrap_or(Cell::Unknown)
    }

    fn with<T>(
        &mut self,
        root: usize,
        cells: &[Cell],
        look: impl FnOnce(&mut Eval<'_>, NodeId) -> T,
    ) -> Option<T> {
        let node = *self.of.roots.get(root)?;
        self.eval_cache.forget();
        let mut eval = Eval::alone(&self.of.code, cells, &self.tracks, &mut self.eval_cache);
        Some(look(&mut eval, node))
    }
}

struct Rewrite<'a> {
    spec: &'a Spec,
    into: &'a mut Spec,
    places: &'a StateLayout,
    known: FxHashMap<(ExprId, usize), ExprId>,
}

impl Rewrite<'_> {
    /// Returns the expression over cells; those of the state begin at `first`.
    fn expr(&mut self, id: ExprId, first: usize) -> ExprId {
        if let Some(known) = self.known.get(&(id, first)) {
            return *known;
        }
        let exprs = &self.spec.exprs;
        let ty = exprs.ty(id).clone();
        let node = match (self.places.values.get(&id), exprs.get(id)) {
            (Some(place), _) => Expr::Field(first + place),
            (None, Expr::Next(of)) => {
                let made = self.expr(*of, self.places.len);
                self.known.insert((id, first), made);
                return made;
            }
            (None, Expr::Violated(property)) => match self.places.violated.get(property) {
                Some(place) => Expr::Field(first + place),
                None => Expr::Unknown,
            },
            (
                None,
                Expr::Field(_)
                | Expr::Meta(_)
                | Expr::Track(..)
                | Expr::Before(_)
                | Expr::Count { .. }
                | Expr::Past(..)
                | Expr::Var(_)
                | Expr::Param(_),
            ) => Expr::Unknown,
            (None, _) => {
                let operands = exprs.operands(id);
                let mut made: Vec<ExprId> = operands
                    .into_iter()
                    .map(|operand| self.expr(operand, first))
                    .collect();
                made.reverse();
                exprs.with_operands(id, |operand| made.pop().unwrap_or(operand))
            }
        };
        let made = self.into.exprs.add(node, ty);
        self.known.insert((id, first), made);
        made
    }
}
