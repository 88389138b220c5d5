//! Exact values of numeric expressions about states: probabilities and rewards.

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::{Arith, Builtin, Expr, Exprs};
use crate::ids::ExprId;
use crate::value::{Number, Value};

/// Returns the exact value of an expression without fields and variables, or `None` if it reads the state or cannot be
/// computed.
pub fn constant(exprs: &Exprs, id: ExprId) -> Option<BigRational> {
    value(exprs, id, &mut |_| None)
}

/// Returns the exact value of a numeric expression. `whole` evaluates conditions (0 or 1) and whole numbers; a float has the
/// value of its decimal text, so that `0.1` is a tenth.
///
/// Returns `None` if `whole` does, and for a division by zero.
pub fn value(
    exprs: &Exprs,
    id: ExprId,
    whole: &mut dyn FnMut(ExprId) -> Option<i64>,
) -> Option<BigRational> {
    Some(match exprs.get(id) {
        Expr::Const(Value::Number(number)) => of_number(number)?,
        Expr::Neg(a) => -value(exprs, *a, whole)?,
        Expr::Cast(a) => value(exprs, *a, whole)?,
        Expr::Arith(op, a, b) => {
            let (a, b) = (value(exprs, *a, whole)?, value(exprs, *b, whole)?);
            match op {
                Arith::Add => a + b,
                Arith::Sub => a - b,
                Arith::Mul => a * b,
                Arith::Div if b.is_zero() => return None,
                Arith::Div => a / b,
            }
        }
        Expr::If(condition, a, b) => {
            let holds = match exprs.get(*condition) {
                Expr::Const(Value::Bool(holds)) => *holds,
                _ => whole(*condition)? != 0,
            };
            value(exprs, if holds { *a } else { *b }, whole)?
        }
        Expr::Call(builtin @ (Builtin::Min | Builtin::Max), args) => {
            let mut best: Option<BigRational> = None;
            for arg in args {
                let arg = value(exprs, *arg, whole)?;
                best = Some(match best {
                    None => arg,
                    Some(best) if *builtin == Builtin::Min => best.min(arg),
                    Some(best) => best.max(arg),
                });
            }
            best?
        }
        Expr::Call(Builtin::Abs, args) => match args.as_ref() {
            [arg] => value(exprs, *arg, whole)?.abs(),
            _ => return None,
        },
        _ => BigRational::from_integer(whole(id)?.into()),
    })
}

fn of_number(number: &Number) -> Option<BigRational> {
    if let Number::Int(int) = number {
        return Some(BigRational::from_integer((*int).into()));
    }
    // The shortest text that parses to this float: the literal as written, up to 17 digits.
    let text = format!("{:e}", number.to_f64());
    let (mantissa, exponent) = text.split_once('e')?;
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: num_bigint::BigInt = format!("{whole}{part}").parse().ok()?;
    let exponent = exponent.parse::<i32>().ok()? - i32::try_from(part.len()).ok()?;
    let power = num_bigint::BigInt::from(10).pow(exponent.unsigned_abs());
    Some(if exponent < 0 {
        BigRational::new(digits, power)
    } else {
        BigRational::from_integer(digits * power)
    })
}

/// Whether the value is between 0 and 1.
pub(crate) fn is_probability(value: &BigRational) -> bool {
    !value.is_negative() && *value <= BigRational::one()
}

/// Whether the value is 1.
pub fn is_one(value: &BigRational) -> bool {
    value.is_one()
}

/// Renders the value as a decimal if that is short, otherwise as a fraction.
pub fn show(value: &BigRational) -> String {
    let decimal = value.to_f64().map(|float| format!("{float}"));
    match decimal {
        Some(text) if text.len() <= 8 => text,
        _ => value.to_string(),
    }
}
