//! The numbers of the engine: doubles with bounds on their rounding errors, or exact rationals.
//!
//! All algorithms are generic over [`Scalar`] and compute an [`Estimate`]: for rationals the number itself, for doubles a value
//! with a bound on its distance from the true result. Every solved system is a sum of products and quotients of nonnegative
//! numbers. A rounding error is therefore a *relative* error of a known number of units in the last place, whatever the
//! condition of the system. Subtraction, which would lose digits, does not occur.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::check::{CheckError, Checker, Numbers};
use super::prism::expr::Expr;

/// Half a unit in the last place of 1: the largest relative error of one operation on doubles.
pub const UNIT: f64 = f64::EPSILON / 2.0;

/// The smallest positive double. A decimal below the normal range is read with an error of up to half of it.
pub(crate) const SMALLEST: f64 = f64::from_bits(1);

/// Below this value, products may have lost digits to underflow; the loss is far smaller than this value.
pub(crate) const TINY: f64 = 1e-250;

/// Returns the units of error that cover this many consecutive factors `1 ± UNIT`, relative to the computed value instead of
/// the true one. Returns infinity if the error is not small.
pub(crate) fn compounded(units: f64) -> f64 {
    let part = units * UNIT;
    if part < 0.1 {
        units / (1.0 - 3.0 * part)
    } else {
        f64::INFINITY
    }
}

/// A number of the engine; nonnegative except for thresholds in properties.
pub trait Scalar: Clone + std::fmt::Debug + PartialOrd + Send + Sync + 'static {
    /// A result of the engine: a number and the bound on its error.
    type Estimate: Estimate<Self>;

    /// Whether arithmetic is exact.
    const EXACT: bool;

    /// Returns 0.
    fn zero() -> Self;
    /// Returns 1.
    fn one() -> Self;
    /// Returns whether the number is 0.
    fn is_zero(&self) -> bool;
    /// Returns the sum.
    fn plus(&self, other: &Self) -> Self;
    /// Returns the difference.
    fn minus(&self, other: &Self) -> Self;
    /// Returns the product.
    fn times(&self, other: &Self) -> Self;
    /// Returns the quotient; the divisor must not be 0.
    fn over(&self, other: &Self) -> Self;
    /// Adds a product in place.
    fn accumulate(&mut self, left: &Self, right: &Self);
    /// Returns the sum of nonnegative numbers, with a relative error of at most two [`UNIT`]s for any number of terms.
    fn sum(numbers: &[Self]) -> Self;
    /// Returns the nearest number of this kind.
    fn from_rational(number: &BigRational) -> Self;
    /// Returns the value of a double, which must be finite.
    fn from_f64(number: f64) -> Self;
    /// Returns the number as an exact fraction, or `None` if it is not finite.
    fn to_rational(&self) -> Option<BigRational>;
    /// Returns the nearest double.
    fn to_f64(&self) -> f64;
    /// Reads `0.25`, `1e-3` or `1/4`; returns `None` if the text is not a finite number.
    fn parse(text: &str) -> Option<Self>;
    /// Returns a text that reads back as the same number.
    fn text(&self) -> String;
    /// Returns the numbers of a property in all states.
    ///
    /// Generic code is compiled in the crate that chooses the type, with the options of that crate. An implementation is not generic, so
    /// all that this calls is compiled in this crate: the command is optimised for size, and solving there took up to 1.8 times as long.
    ///
    /// # Errors
    /// As for [`Checker::check`].
    fn numbers(checker: &Checker<'_, Self>, formula: &Expr) -> Result<Numbers<Self>, CheckError>;
}

/// A number and a bound on its error.
///
/// **Invariant:** an estimate whose error is 0 equals the true number.
pub trait Estimate<V>: Clone + std::fmt::Debug + Send + Sync {
    /// Returns a number without an error.
    fn exact(value: V) -> Self;
    /// Returns the best approximation.
    fn value(&self) -> &V;
    /// Returns a lower bound of the true number.
    fn lower(&self) -> V;
    /// Returns an upper bound of the true number.
    fn upper(&self) -> V;
    /// Returns whether the number is known to be 0.
    fn is_zero(&self) -> bool;
    /// Returns whether the number is known to be 1.
    fn is_one(&self) -> bool;
    /// Returns whether the error is 0.
    fn is_exact(&self) -> bool;
    /// Adds another estimate times an exact weight. [`Estimate::rounded`] accounts for the rounding of the sum.
    fn accumulate(&mut self, weight: &V, other: &Self);
    /// Divides by a number, which must not be 0.
    fn divide(&mut self, divisor: &V);
    /// Accounts for the rounding of this many operations, each with an error of at most one [`UNIT`] of the result.
    fn rounded(self, operations: f64) -> Self;
    /// Returns an estimate with these bounds; the value is their midpoint.
    fn between(lower: V, upper: V) -> Self;
    /// Returns the same value with the error increased by an absolute amount.
    fn widened(self, error: f64) -> Self;
}

/// A double whose distance from the true number is at most `error`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Approx {
    /// The computed number.
    pub value: f64,
    /// The bound on its absolute error.
    pub error: f64,
}

impl Estimate<f64> for Approx {
    #[inline]
    fn exact(value: f64) -> Approx {
        Approx { value, error: 0.0 }
    }

    #[inline]
    fn value(&self) -> &f64 {
        &self.value
    }

    fn lower(&self) -> f64 {
        if self.error == 0.0 {
            return self.value;
        }
        // One step outwards covers the rounding of this subtraction; no number here is negative.
        (self.value - self.error).next_down().max(0.0)
    }

    fn upper(&self) -> f64 {
        if self.error == 0.0 {
            return self.value;
        }
        (self.value + self.error).next_up()
    }

    #[inline]
    fn is_zero(&self) -> bool {
        self.value == 0.0 && self.error == 0.0
    }

    #[inline]
    fn is_one(&self) -> bool {
        self.value == 1.0 && self.error == 0.0
    }

    #[inline]
    fn is_exact(&self) -> bool {
        self.error == 0.0
    }

    #[inline]
    fn accumulate(&mut self, weight: &f64, other: &Approx) {
        self.value += weight * other.value;
        self.error += weight * other.error;
    }

    #[inline]
    fn divide(&mut self, divisor: &f64) {
        self.value /= divisor;
        self.error /= divisor;
    }

    #[inline]
    fn rounded(self, operations: f64) -> Approx {
        // The error is itself a rounded sum of as many terms; the factor `1 + 1e-6` exceeds that rounding.
        let slack = if self.value < TINY { TINY } else { 0.0 };
        Approx {
            value: self.value,
            error: (self.error + self.value * (operations * UNIT)) * (1.0 + 1e-6) + slack,
        }
    }

    fn between(lower: f64, upper: f64) -> Approx {
        if lower == upper {
            return Approx::exact(lower);
        }
        let value = lower + (upper - lower) / 2.0;
        Approx {
            value,
            error: (upper - value).max(value - lower).next_up(),
        }
    }

    fn widened(self, error: f64) -> Approx {
        Approx {
            value: self.value,
            error: self.error + error,
        }
    }
}

impl Scalar for f64 {
    type Estimate = Approx;
    const EXACT: bool = false;

    #[inline]
    fn zero() -> f64 {
        0.0
    }

    #[inline]
    fn one() -> f64 {
        1.0
    }

    #[inline]
    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    #[inline]
    fn plus(&self, other: &f64) -> f64 {
        self + other
    }

    #[inline]
    fn minus(&self, other: &f64) -> f64 {
        self - other
    }

    #[inline]
    fn times(&self, other: &f64) -> f64 {
        self * other
    }

    #[inline]
    fn over(&self, other: &f64) -> f64 {
        self / other
    }

    #[inline]
    fn accumulate(&mut self, left: &f64, right: &f64) {
        *self += left * right;
    }

    /// Uses compensated summation (A. Neumaier 1974): the rounding errors are summed separately.
    fn sum(numbers: &[f64]) -> f64 {
        let (mut sum, mut lost) = (0.0f64, 0.0);
        for &term in numbers {
            let next = sum + term;
            lost += if sum >= term {
                (sum - next) + term
            } else {
                (term - next) + sum
            };
            sum = next;
        }
        sum + lost
    }

    fn from_rational(number: &BigRational) -> f64 {
        ToPrimitive::to_f64(number).unwrap_or(f64::NAN)
    }

    fn from_f64(number: f64) -> f64 {
        number
    }

    fn to_rational(&self) -> Option<BigRational> {
        BigRational::from_float(*self)
    }

    fn to_f64(&self) -> f64 {
        *self
    }

    fn parse(text: &str) -> Option<f64> {
        let number = match text.split_once('/') {
            Some((over, under)) => {
                match (over.trim().parse::<f64>(), under.trim().parse::<f64>()) {
                    // Integers below 2^53 are exact, so the quotient is the nearest double.
                    (Ok(over), Ok(under))
                        if over.abs() < 9e15 && under.abs() < 9e15 && under != 0.0 =>
                    {
                        over / under
                    }
                    _ => f64::from_rational(&parse_rational(text)?),
                }
            }
            None => text.parse().ok()?,
        };
        number.is_finite().then_some(number)
    }

    fn text(&self) -> String {
        format!("{self:?}").trim_end_matches(".0").to_owned()
    }

    #[inline(never)]
    fn numbers(checker: &Checker<'_, f64>, formula: &Expr) -> Result<Numbers<f64>, CheckError> {
        checker.own_numbers(formula)
    }
}

impl Estimate<BigRational> for BigRational {
    fn exact(value: BigRational) -> BigRational {
        value
    }

    fn value(&self) -> &BigRational {
        self
    }

    fn lower(&self) -> BigRational {
        self.clone()
    }

    fn upper(&self) -> BigRational {
        self.clone()
    }

    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
    }

    fn is_one(&self) -> bool {
        One::is_one(self)
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn accumulate(&mut self, weight: &BigRational, other: &BigRational) {
        Scalar::accumulate(self, weight, other);
    }

    fn divide(&mut self, divisor: &BigRational) {
        *self /= divisor;
    }

    fn rounded(self, _: f64) -> BigRational {
        self
    }

    fn between(lower: BigRational, upper: BigRational) -> BigRational {
        (lower + upper) / BigRational::from_integer(BigInt::from(2))
    }

    fn widened(self, _: f64) -> BigRational {
        self
    }
}

impl Scalar for BigRational {
    type Estimate = BigRational;
    const EXACT: bool = true;

    fn zero() -> BigRational {
        Zero::zero()
    }

    fn one() -> BigRational {
        One::one()
    }

    fn is_zero(&self) -> bool {
        Zero::is_zero(self)
    }

    fn plus(&self, other: &BigRational) -> BigRational {
        self + other
    }

    fn minus(&self, other: &BigRational) -> BigRational {
        self - other
    }

    fn times(&self, other: &BigRational) -> BigRational {
        self * other
    }

    fn over(&self, other: &BigRational) -> BigRational {
        self / other
    }

    fn accumulate(&mut self, left: &BigRational, right: &BigRational) {
        if !Zero::is_zero(left) && !Zero::is_zero(right) {
            *self += left * right;
        }
    }

    fn sum(numbers: &[BigRational]) -> BigRational {
        let terms = numbers.iter().filter(|term| !Zero::is_zero(*term));
        terms.fold(Zero::zero(), |sum: BigRational, term| sum + term)
    }

    fn from_rational(number: &BigRational) -> BigRational {
        number.clone()
    }

    fn from_f64(number: f64) -> BigRational {
        BigRational::from_float(number).unwrap_or_default()
    }

    fn to_rational(&self) -> Option<BigRational> {
        Some(self.clone())
    }

    fn to_f64(&self) -> f64 {
        rational_to_f64(self)
    }

    fn parse(text: &str) -> Option<BigRational> {
        parse_rational(text)
    }

    fn text(&self) -> String {
        self.to_string()
    }

    #[inline(never)]
    fn numbers(
        checker: &Checker<'_, BigRational>,
        formula: &Expr,
    ) -> Result<Numbers<BigRational>, CheckError> {
        checker.own_numbers(formula)
    }
}

/// Returns the nearest double of a fraction whose parts may be far outside the range of doubles.
fn rational_to_f64(number: &BigRational) -> f64 {
    if let Some(near) = ToPrimitive::to_f64(number).filter(|near| near.is_finite()) {
        return near;
    }
    if number.is_negative() {
        f64::NEG_INFINITY
    } else {
        f64::INFINITY
    }
}

/// The largest accepted exponent of ten; beyond it a short text would make a huge number.
const MAX_EXPONENT: i64 = 5000;

/// Reads a decimal, or a fraction of two decimals, exactly; returns `None` if the text is neither.
pub fn parse_rational(text: &str) -> Option<BigRational> {
    if let Some((over, under)) = text.split_once('/') {
        let (over, under) = (parse_decimal(over.trim())?, parse_decimal(under.trim())?);
        return (!Zero::is_zero(&under)).then(|| over / under);
    }
    parse_decimal(text)
}

fn parse_decimal(text: &str) -> Option<BigRational> {
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (text, 0),
    };
    if exponent.abs() > MAX_EXPONENT {
        return None;
    }
    let (sign, digits) = match mantissa.as_bytes().first()? {
        b'-' => (-1, &mantissa[1..]),
        b'+' => (1, &mantissa[1..]),
        _ => (1, mantissa),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all: String = [whole, fraction].concat();
    if !all.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let number = BigRational::from_integer(all.parse::<BigInt>().ok()? * sign);
    let shift = exponent - i64::try_from(fraction.len()).ok()?;
    let power = BigRational::from_integer(num_traits::pow(
        BigInt::from(10),
        usize::try_from(shift.unsigned_abs()).ok()?,
    ));
    Some(if shift < 0 {
        number / power
    } else {
        number * power
    })
}
