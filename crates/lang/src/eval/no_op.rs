//! Whether an event changes nothing for a property.
//!
//! Most events do not concern most properties, so this test decides how fast traces are judged. It has two levels. The class
//! of the event alone says it for every instance, and is looked up ([`TransitionCache::no_op`]); for what the class leaves
//! open, the states that instances are in may still say it ([`Instances::no_op`]), and what was found is kept as a bit of the
//! class until something changes. Both say it in the same terms.
//!
//! Counted over the 5,308 events of tau-bench with the 23 properties of `benches/airline.guard`: of 26,540 steps of properties
//! outside the product, 15,346 are skipped by the class, and 3,256 more by the states.
//!
//! [`TransitionCache::no_op`]: super::classes::TransitionCache::no_op
//! [`Instances::no_op`]: super::instances::Instances::no_op

/// The effect of an event on the instances of a quantified property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoOp {
    /// Nothing: the event has to be stepped.
    Open,
    /// No compared term has a value, and every state leads to itself.
    Blank,
    /// Every state leads to itself, whatever value compared terms have.
    Indifferent,
}

impl NoOp {
    /// Whether the event can be skipped. `counts_values`: it matters that a value was met, whatever else the event was;
    /// `final_root`: values that were never met have a final verdict, so each that is met counts from there on.
    #[inline]
    pub(super) fn skips(self, counts_values: bool, final_root: bool) -> bool {
        match self {
            NoOp::Open => false,
            NoOp::Blank => true,
            NoOp::Indifferent => !counts_values && !final_root,
        }
    }
}
