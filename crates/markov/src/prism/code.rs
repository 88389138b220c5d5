//! Compiled expressions: typed, with names resolved and constants folded.

use super::super::scalar::Scalar;
use super::super::valuation::Slot;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<V> {
    /// An integer of 64 bits.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A real number.
    Real(V),
}

/// The reason why an expression has no value in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// An integer does not fit into 64 bits.
    #[error("a whole number exceeds 64 bits")]
    Overflow,
    /// A division by zero, or another operation without a result.
    #[error("division by zero, or another operation without a result")]
    Undefined,
    /// A root or a logarithm in exact arithmetic.
    #[error(
        "a power or logarithm with an irrational result, which exact arithmetic does not support"
    )]
    NotRational,
}

type Eval<T> = Result<T, EvalError>;

/// One of the six comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Test {
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
}

impl Test {
    #[inline]
    fn holds<T: PartialOrd>(self, left: &T, right: &T) -> bool {
        match self {
            Test::Equal => left == right,
            Test::NotEqual => left != right,
            Test::Less => left < right,
            Test::LessEqual => left <= right,
            Test::Greater => left > right,
            Test::GreaterEqual => left >= right,
        }
    }
}

/// An expression of type bool.
#[derive(Clone, Debug)]
pub(super) enum BoolCode<V> {
    Const(bool),
    Variable(Slot),
    /// A variable compared with a constant, the most frequent guard.
    Is(Slot, Test, i64),
    Not(Box<BoolCode<V>>),
    And(Vec<BoolCode<V>>),
    Or(Vec<BoolCode<V>>),
    Iff(Box<BoolCode<V>>, Box<BoolCode<V>>),
    Ints(Test, Box<IntCode<V>>, Box<IntCode<V>>),
    Reals(Test, Box<RealCode<V>>, Box<RealCode<V>>),
    If(Box<BoolCode<V>>, Box<BoolCode<V>>, Box<BoolCode<V>>),
}

/// An expression of type int.
#[derive(Clone, Debug)]
pub(super) enum IntCode<V> {
    Const(i64),
    Variable(Slot),
    Minus(Box<IntCode<V>>),
    Add(Box<IntCode<V>>, Box<IntCode<V>>),
    Subtract(Box<IntCode<V>>, Box<IntCode<V>>),
    Multiply(Box<IntCode<V>>, Box<IntCode<V>>),
    Min(Vec<IntCode<V>>),
    Max(Vec<IntCode<V>>),
    Power(Box<IntCode<V>>, Box<IntCode<V>>),
    Modulo(Box<IntCode<V>>, Box<IntCode<V>>),
    Floor(Box<RealCode<V>>),
    Ceiling(Box<RealCode<V>>),
    Round(Box<RealCode<V>>),
    If(Box<BoolCode<V>>, Box<IntCode<V>>, Box<IntCode<V>>),
}

/// An expression of type double.
#[derive(Clone, Debug)]
pub(super) enum RealCode<V> {
    Const(V),
    Int(IntCode<V>),
    Minus(Box<RealCode<V>>),
    Add(Box<RealCode<V>>, Box<RealCode<V>>),
    Subtract(Box<RealCode<V>>, Box<RealCode<V>>),
    Multiply(Box<RealCode<V>>, Box<RealCode<V>>),
    Divide(Box<RealCode<V>>, Box<RealCode<V>>),
    Min(Vec<RealCode<V>>),
    Max(Vec<RealCode<V>>),
    Power(Box<RealCode<V>>, Box<RealCode<V>>),
    Logarithm(Box<RealCode<V>>, Box<RealCode<V>>),
    If(Box<BoolCode<V>>, Box<RealCode<V>>, Box<RealCode<V>>),
}

impl<V: Scalar> BoolCode<V> {
    pub(super) fn eval(&self, state: &[u64]) -> Eval<bool> {
        Ok(match self {
            BoolCode::Const(value) => *value,
            BoolCode::Variable(slot) => slot.get(state) != 0,
            BoolCode::Is(slot, test, value) => test.holds(&slot.get(state), value),
            BoolCode::Not(of) => !of.eval(state)?,
            BoolCode::And(parts) => {
                for part in parts {
                    if !part.eval(state)? {
                        return Ok(false);
                    }
                }
                true
            }
            BoolCode::Or(parts) => {
                for part in parts {
                    if part.eval(state)? {
                        return Ok(true);
                    }
                }
                false
            }
            BoolCode::Iff(left, right) => left.eval(state)? == right.eval(state)?,
            BoolCode::Ints(test, left, right) => {
                test.holds(&left.eval(state)?, &right.eval(state)?)
            }
            BoolCode::Reals(test, left, right) => {
                test.holds(&left.eval(state)?, &right.eval(state)?)
            }
            BoolCode::If(condition, yes, no) => {
                if condition.eval(state)? {
                    yes.eval(state)?
                } else {
                    no.eval(state)?
                }
            }
        })
    }
}

impl<V: Scalar> IntCode<V> {
    pub(super) fn eval(&self, state: &[u64]) -> Eval<i64> {
        let fits = |value: Option<i64>| value.ok_or(EvalError::Overflow);
        match self {
            IntCode::Const(value) => Ok(*value),
            IntCode::Variable(slot) => Ok(slot.get(state)),
            IntCode::Minus(of) => fits(of.eval(state)?.checked_neg()),
            IntCode::Add(left, right) => fits(left.eval(state)?.checked_add(right.eval(state)?)),
            IntCode::Subtract(left, right) => {
                fits(left.eval(state)?.checked_sub(right.eval(state)?))
            }
            IntCode::Multiply(left, right) => {
                fits(left.eval(state)?.checked_mul(right.eval(state)?))
            }
            IntCode::Min(parts) => {
                let mut least = i64::MAX;
                for part in parts {
                    least = least.min(part.eval(state)?);
                }
                Ok(least)
            }
            IntCode::Max(parts) => {
                let mut most = i64::MIN;
                for part in parts {
                    most = most.max(part.eval(state)?);
                }
                Ok(most)
            }
            IntCode::Power(base, exponent) => {
                let exponent = exponent.eval(state)?;
                let exponent = u32::try_from(exponent).map_err(|_| EvalError::Undefined)?;
                fits(base.eval(state)?.checked_pow(exponent))
            }
            IntCode::Modulo(left, right) => {
                let right = right.eval(state)?;
                if right <= 0 {
                    return Err(EvalError::Undefined);
                }
                Ok(left.eval(state)?.rem_euclid(right))
            }
            IntCode::Floor(of) => fits(of.eval(state)?.floor()),
            IntCode::Ceiling(of) => {
                let negated = V::zero().minus(&of.eval(state)?);
                fits(negated.floor().and_then(i64::checked_neg))
            }
            IntCode::Round(of) => {
                let half = V::one().over(&V::one().plus(&V::one()));
                fits(of.eval(state)?.plus(&half).floor())
            }
            IntCode::If(condition, yes, no) => {
                if condition.eval(state)? {
                    yes.eval(state)
                } else {
                    no.eval(state)
                }
            }
        }
    }
}

impl<V: Scalar> RealCode<V> {
    pub(super) fn eval(&self, state: &[u64]) -> Eval<V> {
        Ok(match self {
            RealCode::Const(value) => value.clone(),
            RealCode::Int(of) => from_int(of.eval(state)?),
            RealCode::Minus(of) => V::zero().minus(&of.eval(state)?),
            RealCode::Add(left, right) => left.eval(state)?.plus(&right.eval(state)?),
            RealCode::Subtract(left, right) => left.eval(state)?.minus(&right.eval(state)?),
            RealCode::Multiply(left, right) => left.eval(state)?.times(&right.eval(state)?),
            RealCode::Divide(left, right) => {
                let right = right.eval(state)?;
                if right.is_zero() {
                    return Err(EvalError::Undefined);
                }
                left.eval(state)?.over(&right)
            }
            RealCode::Min(parts) | RealCode::Max(parts) => {
                let least = matches!(self, RealCode::Min(_));
                let mut best: Option<V> = None;
                for part in parts {
                    let value = part.eval(state)?;
                    if best.as_ref().is_none_or(|best| (value < *best) == least) {
                        best = Some(value);
                    }
                }
                best.ok_or(EvalError::Undefined)?
            }
            RealCode::Power(base, exponent) => base
                .eval(state)?
                .power(&exponent.eval(state)?)
                .ok_or(missing::<V>())?,
            RealCode::Logarithm(of, base) => of
                .eval(state)?
                .logarithm(&base.eval(state)?)
                .ok_or(missing::<V>())?,
            RealCode::If(condition, yes, no) => {
                if condition.eval(state)? {
                    yes.eval(state)?
                } else {
                    no.eval(state)?
                }
            }
        })
    }
}

fn missing<V: Scalar>() -> EvalError {
    if V::EXACT {
        EvalError::NotRational
    } else {
        EvalError::Undefined
    }
}

/// Converts an integer to a number.
pub(super) fn from_int<V: Scalar>(value: i64) -> V {
    if V::EXACT {
        V::from_rational(&num_rational::BigRational::from_integer(value.into()))
    } else {
        V::from_f64(value as f64)
    }
}
