//! Whether an event changes nothing for a property.
//!
//! Most events do not concern most properties, so this test decides how fast traces are judged. It has two levels. The class of
//! the event may decide it for every instance, by a lookup ([`TransitionCache::no_op`]). Otherwise the states of the instances
//! may decide it ([`Instances::no_op`]); that result is cached as a bit of the class until an instance changes. Both levels
//! return the same type.
//!
//! Counted over the 5,308 events of tau-bench with the 23 properties of `benches/airline.guard`: of 26,540 steps of properties
//! outside the product, 15,346 are skipped by the class, and 3,256 more by the states.
//!
//! [`TransitionCache::no_op`]: super::classes::TransitionCache::no_op
//! [`Instances::no_op`]: super::instances::Instances::no_op

/// The effect of an event on the instances of a quantified property.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NoOp {
    /// The event may have an effect and has to be stepped.
    Open,
    /// No compared term has a value, and every state leads to itself.
    Blank,
    /// Every state leads to itself, for every value of the compared terms.
    Indifferent,
}

impl NoOp {
    /// Whether the event can be skipped. `counts_values`: the occurrence of a value has an effect on its own.
    /// `final_root`: unseen values have a final verdict, so each new value counts from its first occurrence.
    #[inline]
    pub(super) fn skips(self, counts_values: bool, final_root: bool) -> bool {
        match self {
            NoOp::Open => false,
            NoOp::Blank => true,
            NoOp::Indifferent => !counts_values && !final_root,
        }
    }
}
