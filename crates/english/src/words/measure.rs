//! Exact numbers of steps and seconds.

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

    /// Renders the number in decimals: exactly if its fraction is finite.
    pub fn decimal(self) -> String {
        self.to_f64().to_string()
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
