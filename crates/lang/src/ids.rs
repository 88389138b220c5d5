//! Ids: `u32` newtypes, so that an index of one table is never taken for an index of another.

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        $(
            $(#[$doc])*
            #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
            pub struct $name(u32);

            impl $name {
                /// Returns the id of the element at this position.
                pub fn new(index: usize) -> $name {
                    $name(u32::try_from(index).unwrap_or(u32::MAX))
                }

                /// Returns the position.
                pub fn index(self) -> usize {
                    self.0 as usize
                }
            }
        )*
    };
}

ids! {
    /// A node of [`hir::Exprs`](crate::hir::Exprs).
    ExprId;
    /// A node of [`hir::Formulas`](crate::hir::Formulas).
    FormulaId;
    /// A letter of the spec: a Boolean expression that automata read as one symbol.
    AtomId;
    /// A track of the spec.
    TrackId;
    /// A property, rule or requirement of the spec.
    PropertyId;
    /// A variable that `any`, `all` or `count … in` binds; unique within a spec.
    LocalId;
    /// A regular expression of the spec.
    RegexId;
    /// An operator of branching time or of probability.
    BranchingId;
    /// Something said of a model or system.
    ClaimId;
    /// An abstraction of the spec.
    AbstractionId;
    /// A model of the spec.
    ModelId;
    /// A system, component or composition of the spec.
    SystemId;
    /// A variable of a system, unique within a spec.
    StateVarId;
}
