//! Numbers that compare exactly.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use smol_str::SmolStr;

/// A number: an integer of any size, or a finite binary floating-point number.
///
/// Comparison is exact across the kinds: `1 == 1.0`, and `2^53 + 1` differs from the float `2^53`. There is no NaN and
/// no infinity; constructors reject them.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Number {
    /// An integer that fits 128 bits.
    Int(i128),
    /// A finite float. INVARIANT (finite): only [`Number::float`] creates one.
    Float(Finite),
    /// An integer beyond 128 bits.
    Big(BigInt),
}

/// A float that is neither NaN nor infinite.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Finite(f64);

impl TryFrom<f64> for Finite {
    type Error = &'static str;

    fn try_from(value: f64) -> Result<Finite, Self::Error> {
        let finite = value.is_finite().then_some(Finite(value));
        finite.ok_or("expected a finite number")
    }
}

impl From<Finite> for f64 {
    fn from(value: Finite) -> f64 {
        value.0
    }
}

impl Finite {
    /// Returns the float itself.
    pub fn get(self) -> f64 {
        self.0
    }
}

/// An integer beyond 128 bits, as its decimal digits: such numbers are identifiers that are compared, not used in
/// arithmetic.
///
/// INVARIANT: the number does not fit 128 bits, and the digits have no leading zeros. [`BigInt::new`] and
/// [`BigInt::of_float`] create one.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "StoredBigInt")]
pub struct BigInt {
    negative: bool,
    digits: SmolStr,
}

/// An integer as it is stored.
#[derive(serde::Deserialize)]
struct StoredBigInt {
    negative: bool,
    digits: SmolStr,
}

impl TryFrom<StoredBigInt> for BigInt {
    type Error = &'static str;

    fn try_from(stored: StoredBigInt) -> Result<BigInt, Self::Error> {
        let has_one_form = !stored.digits.starts_with('0');
        BigInt::new(stored.negative, &stored.digits)
            .filter(|_| has_one_form)
            .ok_or("expected an integer beyond 128 bits")
    }
}

impl BigInt {
    /// Returns the integer of these decimal digits, or `None` if it fits 128 bits or there is anything but digits.
    fn new(negative: bool, digits: &str) -> Option<BigInt> {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        let fits = digits
            .parse::<u128>()
            .is_ok_and(|size| size <= i128::MAX.unsigned_abs() + u128::from(negative));
        (is_number && !fits).then(|| BigInt {
            negative,
            digits: SmolStr::new(digits.trim_start_matches('0')),
        })
    }

    /// Returns the exact value of a float beyond 128 bits; each such float is an integer.
    fn of_float(float: f64) -> Option<BigInt> {
        BigInt::new(float < 0.0, &format!("{:.0}", float.abs()))
    }
}

impl Number {
    /// Returns the number for a float, or `None` for NaN and infinities.
    pub fn float(value: f64) -> Option<Number> {
        value.is_finite().then_some(Number::Float(Finite(value)))
    }

    /// Parses a number in JSON notation, which is not checked: `007` and `1.` are read too. Integers are exact whatever their size; a
    /// number with a fraction or an exponent is the nearest float. Returns `None` if the text is not a number or is beyond a float
    /// (`1e999`).
    pub fn parse(text: &str) -> Option<Number> {
        if let Ok(int) = text.parse::<i128>() {
            return (!text.starts_with('+')).then_some(Number::Int(int));
        }
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        if let Some(big) = BigInt::new(negative, digits) {
            return Some(Number::Big(big));
        }
        if !digits.starts_with(|c: char| c.is_ascii_digit()) {
            return None;
        }
        text.parse::<f64>().ok().and_then(Number::float)
    }

    /// Returns the nearest float; rounds integers beyond 53 bits.
    pub fn to_f64(&self) -> f64 {
        match self {
            Number::Int(int) => *int as f64,
            Number::Float(float) => float.0,
            Number::Big(big) => {
                let size = big.digits.parse::<f64>().unwrap_or(f64::MAX);
                if big.negative { -size } else { size }
            }
        }
    }

    /// Returns whether a float has exactly this value. Readers that have only floats take any other integer for another one; of those
    /// beyond 128 bits none counts as exact.
    pub fn is_exact_float(&self) -> bool {
        Number::float(self.to_f64()).is_some_and(|float| float == *self)
    }

    /// Returns the integer, if the number is an integer of at most 128 bits (`3.0` is 3).
    pub fn to_int(&self) -> Option<i128> {
        match self {
            Number::Int(int) => Some(*int),
            Number::Float(float) => float_to_int(float.0),
            Number::Big(_) => None,
        }
    }
}

/// Returns a float as an integer if it is integral and fits 128 bits.
fn float_to_int(float: f64) -> Option<i128> {
    const LIMIT: f64 = 170_141_183_460_469_231_731_687_303_715_884_105_728.0;
    (float.fract() == 0.0 && (-LIMIT..LIMIT).contains(&float)).then_some(float as i128)
}

fn compare_int_float(int: i128, float: f64) -> Ordering {
    match float_to_int(float.floor()) {
        // If the float has a fraction above an equal floor, the float is larger.
        Some(floor) => int.cmp(&floor).then(if float > float.floor() {
            Ordering::Less
        } else {
            Ordering::Equal
        }),
        None if float > 0.0 => Ordering::Less,
        None => Ordering::Greater,
    }
}

impl Ord for BigInt {
    fn cmp(&self, other: &Self) -> Ordering {
        let size = |big: &BigInt| big.digits.len();
        match (self.negative, other.negative) {
            (false, true) => Ordering::Greater,
            (true, false) => Ordering::Less,
            (false, false) => size(self)
                .cmp(&size(other))
                .then_with(|| self.digits.cmp(&other.digits)),
            (true, true) => size(other)
                .cmp(&size(self))
                .then_with(|| other.digits.cmp(&self.digits)),
        }
    }
}

impl PartialOrd for BigInt {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Number::Int(lhs), Number::Int(rhs)) => lhs.cmp(rhs),
            (Number::Float(lhs), Number::Float(rhs)) => {
                lhs.0.partial_cmp(&rhs.0).unwrap_or(Ordering::Equal)
            }
            (Number::Int(lhs), Number::Float(rhs)) => compare_int_float(*lhs, rhs.0),
            (Number::Float(lhs), Number::Int(rhs)) => compare_int_float(*rhs, lhs.0).reverse(),
            (Number::Big(lhs), Number::Big(rhs)) => lhs.cmp(rhs),
            (Number::Big(lhs), Number::Int(_)) => sign(lhs),
            (Number::Int(_), Number::Big(rhs)) => sign(rhs).reverse(),
            (Number::Big(lhs), Number::Float(rhs)) => match BigInt::of_float(rhs.0) {
                Some(rhs) => lhs.cmp(&rhs),
                None => sign(lhs),
            },
            (Number::Float(_), Number::Big(_)) => other.cmp(self).reverse(),
        }
    }
}

/// Returns the order of an integer beyond 128 bits relative to every 128-bit integer.
fn sign(big: &BigInt) -> Ordering {
    if big.negative {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Number {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Number {}

impl Hash for Number {
    fn hash<H: Hasher>(&self, state: &mut H) {
        // Equal numbers of different kinds must have equal hashes, so integral floats hash as integers.
        match self {
            Number::Big(big) => big.hash(state),
            Number::Int(int) => int.hash(state),
            Number::Float(float) => {
                if let Some(int) = float_to_int(float.0) {
                    int.hash(state);
                } else if let Some(big) = BigInt::of_float(float.0) {
                    big.hash(state);
                } else {
                    float.0.to_bits().hash(state);
                }
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Number::Int(int) => write!(f, "{int}"),
            Number::Float(float) => write!(f, "{:?}", float.0),
            Number::Big(big) => write!(f, "{}{}", if big.negative { "-" } else { "" }, big.digits),
        }
    }
}
