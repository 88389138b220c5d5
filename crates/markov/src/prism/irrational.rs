//! Logarithms, and powers with fractional exponents.
//!
//! They are computed to far more digits than a double has, so that a number that is computed from them is rounded once, as one of
//! fractions is: what is left of `1 - pow(0.9, 1/12)` after the subtraction still is the nearest double.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

/// The number of binary digits after the point.
const BITS: u32 = 512;

/// A result this close to a whole number, in binary digits, is that number: `log(8, 2)` is 3.
const WHOLE_BITS: u32 = 400;

/// The largest binary exponent of a result.
const MAX_EXPONENT: i64 = 1 << 14;

/// Returns a power that is a fraction, or `None` if it is none, or too long.
pub(super) fn rational_power(base: &BigRational, exponent: &BigRational) -> Option<BigRational> {
    let exponent = exponent
        .is_integer()
        .then(|| exponent.to_integer().to_i32())??;
    // Larger powers of anything but 0 and 1 would not fit into memory.
    if exponent.unsigned_abs() > 100_000 || (exponent < 0 && base.is_zero()) {
        return None;
    }
    Some(base.pow(exponent))
}

/// Returns the logarithm, or `None` if there is none.
pub(super) fn logarithm(of: &BigRational, base: &BigRational) -> Option<BigRational> {
    let exists = of.is_positive() && base.is_positive() && !base.is_one();
    exists.then(|| nearly_whole(BigRational::new(natural(of), natural(base))))
}

/// Returns the power of a base of at least 0, or `None` if there is none or if it is out of range.
pub(super) fn power(base: &BigRational, exponent: &BigRational) -> Option<BigRational> {
    if base.is_zero() && exponent.is_positive() {
        return Some(BigRational::zero());
    }
    if !base.is_positive() {
        return None;
    }
    let log = (natural(base) * exponent.numer()) / exponent.denom();
    let two = natural_of_two();
    let binary = (&log / &two).to_i64()?;
    if binary.abs() > MAX_EXPONENT {
        return None;
    }
    let rest = exponential(log - two * binary);
    let shift = BigInt::from(2).pow(binary.unsigned_abs());
    Some(nearly_whole(if binary < 0 {
        BigRational::new(rest, one() * shift)
    } else {
        BigRational::new(rest * shift, one())
    }))
}

fn one() -> BigInt {
    BigInt::one() << BITS
}

/// Returns the natural logarithm of a positive number, times [`one`].
fn natural(of: &BigRational) -> BigInt {
    // `of` is `m 2^k` with `m` from 1/2 to 2, and `ln m = 2 artanh ((m - 1) / (m + 1))`.
    let (mut over, mut under) = (of.numer().clone(), of.denom().clone());
    let binary = over.bits() as i64 - under.bits() as i64;
    if binary < 0 {
        over <<= binary.unsigned_abs();
    } else {
        under <<= binary.unsigned_abs();
    }
    let part = ((&over - &under) << BITS) / (over + under);
    artanh(part) * 2 + natural_of_two() * binary
}

fn natural_of_two() -> BigInt {
    artanh(one() / 3) * 2
}

/// Returns `x + x³/3 + x⁵/5 + …`.
fn artanh(x: BigInt) -> BigInt {
    let square = &x * &x / one();
    let (mut sum, mut term, mut number) = (BigInt::zero(), x, 1);
    while !term.is_zero() {
        sum += &term / number;
        // Division rounds towards 0, unlike a shift, so that negative terms end too.
        term = term * &square / one();
        number += 2;
    }
    sum
}

/// Returns `1 + x + x²/2 + x³/6 + …`.
fn exponential(x: BigInt) -> BigInt {
    let (mut sum, mut term, mut number) = (BigInt::zero(), one(), 1);
    while !term.is_zero() {
        sum += &term;
        term = term * &x / one() / number;
        number += 1;
    }
    sum
}

fn nearly_whole(value: BigRational) -> BigRational {
    let whole = value.round();
    let off = (&value - &whole).abs() * (BigInt::one() << WHOLE_BITS);
    if !whole.is_zero() && off < BigRational::one() {
        whole
    } else {
        value
    }
}
