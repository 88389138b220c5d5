//! Exact numbers of steps and seconds.

/// The digits after the point that are written at most: times are exact to the attosecond.
const PLACES: usize = 18;

/// An exact fraction: `0.1 %` is one thousandth, `half an hour` is 1800 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ratio {
    num: i128,
    den: i128,
}

impl Ratio {
    /// `num / den` in lowest terms; the denominator is made one where it is not positive.
    pub fn new(num: i128, den: i128) -> Ratio {
        let den = if den <= 0 { 1 } else { den };
        let (mut a, mut b) = (num.unsigned_abs(), den.unsigned_abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        let divisor = i128::try_from(a.max(1)).unwrap_or(1);
        Ratio {
            num: num / divisor,
            den: den / divisor,
        }
    }

    /// Returns the product, or the nearest number that fits.
    pub fn times(self, other: Ratio) -> Ratio {
        Ratio::new(
            self.num.saturating_mul(other.num),
            self.den.saturating_mul(other.den),
        )
    }

    /// Returns the sum, or the nearest number that fits.
    pub fn plus(self, other: Ratio) -> Ratio {
        let num = self
            .num
            .saturating_mul(other.den)
            .saturating_add(other.num.saturating_mul(self.den));
        Ratio::new(num, self.den.saturating_mul(other.den))
    }

    /// Returns the inverse, or `None` for zero.
    pub fn inverse(self) -> Option<Ratio> {
        (self.num > 0).then(|| Ratio::new(self.den, self.num))
    }

    /// Returns the number if it is a whole one that is not negative and fits.
    pub fn whole(self) -> Option<u32> {
        (self.den == 1).then(|| u32::try_from(self.num).ok())?
    }

    /// As a float: the nearest.
    #[expect(
        clippy::cast_precision_loss,
        reason = "shown and compared, not computed with"
    )]
    pub fn to_f64(self) -> f64 {
        self.num as f64 / self.den as f64
    }

    /// Renders the number in decimals: exactly if its fraction has at most [`PLACES`] digits, otherwise as the nearest float.
    pub fn decimal(self) -> String {
        let mut digits = String::new();
        let (whole, mut rest) = (self.num / self.den, (self.num % self.den).abs());
        while rest != 0 && digits.len() < PLACES {
            let Some(tenfold) = rest.checked_mul(10) else {
                break;
            };
            rest = tenfold;
            digits.push_str(&(rest / self.den).to_string());
            rest %= self.den;
        }
        match (rest, digits.is_empty()) {
            (0, true) => whole.to_string(),
            (0, false) if self.num < 0 && whole == 0 => format!("-0.{digits}"),
            (0, false) => format!("{whole}.{digits}"),
            _ => self.to_f64().to_string(),
        }
    }
}

/// The unit of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Steps of the run.
    Steps,
    /// Seconds.
    Seconds,
}
