//! Compiled expressions: typed, with names resolved and constants folded.
//!
//! Real numbers are fractions, whatever the arithmetic of the chain is: `1 - p` may lose all digits of doubles. What becomes a probability or
//! a reward is rounded once, at the end.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};

use super::super::valuation::Slot;
use super::irrational;

/// The value of an expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// An integer of 64 bits.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A real number.
    Real(BigRational),
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
pub(super) enum BoolCode {
    Const(bool),
    Variable(Slot),
    /// A variable compared with a constant, the most frequent guard.
    Is(Slot, Test, i64),
    Not(Box<BoolCode>),
    And(Vec<BoolCode>),
    Or(Vec<BoolCode>),
    Iff(Box<BoolCode>, Box<BoolCode>),
    Ints(Test, Box<IntCode>, Box<IntCode>),
    Reals(Test, Box<RealCode>, Box<RealCode>),
    If(Box<BoolCode>, Box<BoolCode>, Box<BoolCode>),
}

/// An expression of type int.
#[derive(Clone, Debug)]
pub(super) enum IntCode {
    Const(i64),
    Variable(Slot),
    Minus(Box<IntCode>),
    Add(Box<IntCode>, Box<IntCode>),
    Subtract(Box<IntCode>, Box<IntCode>),
    Multiply(Box<IntCode>, Box<IntCode>),
    Min(Vec<IntCode>),
    Max(Vec<IntCode>),
    Power(Box<IntCode>, Box<IntCode>),
    Modulo(Box<IntCode>, Box<IntCode>),
    Floor(Box<RealCode>),
    Ceiling(Box<RealCode>),
    Round(Box<RealCode>),
    If(Box<BoolCode>, Box<IntCode>, Box<IntCode>),
}

/// An expression of type double.
#[derive(Clone, Debug)]
pub(super) enum RealCode {
    Const(BigRational),
    Int(IntCode),
    Minus(Box<RealCode>),
    Add(Box<RealCode>, Box<RealCode>),
    Subtract(Box<RealCode>, Box<RealCode>),
    Multiply(Box<RealCode>, Box<RealCode>),
    Divide(Box<RealCode>, Box<RealCode>),
    Min(Vec<RealCode>),
    Max(Vec<RealCode>),
    /// The base, the exponent, and whether only a rational result is one.
    Power(Box<RealCode>, Box<RealCode>, bool),
    Logarithm(Box<RealCode>, Box<RealCode>),
    If(Box<BoolCode>, Box<RealCode>, Box<RealCode>),
}

impl BoolCode {
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

impl IntCode {
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
            IntCode::Floor(of) => fits(of.eval(state)?.floor().to_i64()),
            IntCode::Ceiling(of) => fits(of.eval(state)?.ceil().to_i64()),
            IntCode::Round(of) => {
                let half = BigRational::new(BigInt::from(1), BigInt::from(2));
                fits((of.eval(state)? + half).floor().to_i64())
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

impl RealCode {
    pub(super) fn eval(&self, state: &[u64]) -> Eval<BigRational> {
        Ok(match self {
            RealCode::Const(value) => value.clone(),
            RealCode::Int(of) => from_int(of.eval(state)?),
            RealCode::Minus(of) => -of.eval(state)?,
            RealCode::Add(left, right) => left.eval(state)? + right.eval(state)?,
            RealCode::Subtract(left, right) => left.eval(state)? - right.eval(state)?,
            RealCode::Multiply(left, right) => left.eval(state)? * right.eval(state)?,
            RealCode::Divide(left, right) => {
                let right = right.eval(state)?;
                if right.is_zero() {
                    return Err(EvalError::Undefined);
                }
                left.eval(state)? / right
            }
            RealCode::Min(parts) | RealCode::Max(parts) => {
                let least = matches!(self, RealCode::Min(_));
                let mut best: Option<BigRational> = None;
                for part in parts {
                    let value = part.eval(state)?;
                    if best.as_ref().is_none_or(|best| (value < *best) == least) {
                        best = Some(value);
                    }
                }
                best.ok_or(EvalError::Undefined)?
            }
            RealCode::Power(base, exponent, is_exact) => {
                let (base, exponent) = (base.eval(state)?, exponent.eval(state)?);
                let is_short = exponent.is_integer() && exponent.numer().bits() <= SHORT_BITS;
                if *is_exact || is_short {
                    irrational::rational_power(&base, &exponent).ok_or(match is_exact {
                        true => EvalError::NotRational,
                        false => EvalError::Undefined,
                    })?
                } else {
                    irrational::power(&base, &exponent).ok_or(EvalError::Undefined)?
                }
            }
            RealCode::Logarithm(of, base) => {
                irrational::logarithm(&of.eval(state)?, &base.eval(state)?)
                    .ok_or(EvalError::Undefined)?
            }
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

/// The binary digits of whole exponents up to which powers are fractions; with larger ones these would be very long.
const SHORT_BITS: u64 = 12;

/// Converts an integer to a number.
pub(super) fn from_int(value: i64) -> BigRational {
    BigRational::from_integer(value.into())
}
