//! The verdict on a prefix: its value as a whole trace, and whether that can still change.

/// Whether the rest of the trace can still change the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Finality {
    /// Every continuation satisfies the formula.
    FinalTrue,
    /// No continuation satisfies the formula.
    FinalFalse,
    /// Some do and some do not.
    Open,
}

/// The four values of runtime verification.
///
/// # Source
/// A. Bauer, M. Leucker, C. Schallhart, "Comparing LTL semantics for runtime verification", 2010; over finite
/// continuations as in F. Maggi and others, "Monitoring business constraints with linear temporal logic", 2011.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// True for every continuation.
    Satisfied,
    /// True if the trace stops now.
    PresumablySatisfied,
    /// False if the trace stops now.
    PresumablyViolated,
    /// False for every continuation.
    Violated,
}

impl Verdict {
    /// Returns the verdict of a prefix from what can follow and from its value as a whole trace.
    pub fn new(finality: Finality, accepting: bool) -> Verdict {
        match (finality, accepting) {
            (Finality::FinalTrue, _) => Verdict::Satisfied,
            (Finality::FinalFalse, _) => Verdict::Violated,
            (Finality::Open, true) => Verdict::PresumablySatisfied,
            (Finality::Open, false) => Verdict::PresumablyViolated,
        }
    }

    /// Whether no continuation can change the verdict.
    pub fn is_final(self) -> bool {
        matches!(self, Verdict::Satisfied | Verdict::Violated)
    }

    /// Whether the value is true, for good or for now.
    pub fn holds(self) -> bool {
        matches!(self, Verdict::Satisfied | Verdict::PresumablySatisfied)
    }

    /// Returns the common verdict of several possible ones on a prefix: the verdict itself if all are equal, a presumable one
    /// if all have the same value, otherwise `None`. Returns `None` for no verdicts.
    pub fn common(verdicts: impl IntoIterator<Item = Verdict>) -> Option<Verdict> {
        let join = |a: Verdict, b: Verdict| match (a == b, a.holds(), b.holds()) {
            (true, ..) => Some(a),
            (_, true, true) => Some(Verdict::PresumablySatisfied),
            (_, false, false) => Some(Verdict::PresumablyViolated),
            _ => None,
        };
        let mut verdicts = verdicts.into_iter();
        let first = verdicts.next()?;
        verdicts.try_fold(first, join)
    }
}
