//! Exact values of probabilities and rewards in a state.

use num_rational::BigRational;
use rustc_hash::FxHashMap;

use super::code::{Compiler, Fault, Number};
use crate::hir::{Exprs, fraction};
use crate::ids::ExprId;
use crate::types::Type;

/// A number with a possible fraction; the conditions and integers inside it are compiled.
#[derive(Clone)]
pub(super) struct Exact {
    id: ExprId,
    /// The value, if the expression is constant.
    constant: Option<BigRational>,
    leaves: FxHashMap<ExprId, Number>,
}

impl Exact {
    pub(super) fn new(compiler: &mut Compiler<'_>, id: ExprId) -> Exact {
        let constant = fraction::constant(compiler.exprs, id);
        let mut leaves = FxHashMap::default();
        let mut todo = vec![id];
        while let Some(id) = todo.pop().filter(|_| constant.is_none()) {
            if matches!(compiler.exprs.ty(id), Type::Bool | Type::Int) && !leaves.contains_key(&id)
            {
                let number = compiler.number(id);
                leaves.insert(id, number);
            }
            todo.extend(compiler.exprs.operands(id));
        }
        Exact {
            id,
            constant,
            leaves,
        }
    }

    /// Returns the value, if it is the same in every state.
    pub(super) fn constant(&self) -> Option<&BigRational> {
        self.constant.as_ref()
    }

    /// Returns the value in a state.
    pub(super) fn eval(&self, exprs: &Exprs, state: &[u64]) -> Result<BigRational, Fault> {
        if let Some(constant) = &self.constant {
            return Ok(constant.clone());
        }
        let mut fault = Fault::DivisionByZero;
        let mut whole = |id: ExprId| match self.leaves.get(&id).map(|leaf| leaf.eval(state)) {
            Some(Ok(value)) => Some(value),
            Some(Err(found)) => {
                fault = found;
                None
            }
            None => {
                fault = Fault::Unsupported;
                None
            }
        };
        fraction::value(exprs, self.id, &mut whole).ok_or(fault)
    }
}
