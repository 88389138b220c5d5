//! States, and sets of states for letters that are only partly known.

/// A state of an automaton.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateId(pub(super) u32);

impl StateId {
    /// Returns the index of the state in its automaton.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A set of states of one automaton.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct StateSet {
    /// INVARIANT (sorted): increasing, without repetition.
    states: Vec<StateId>,
}

impl StateSet {
    /// Returns the empty set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a state. Returns whether it was new.
    pub fn insert(&mut self, state: StateId) -> bool {
        match self.states.binary_search(&state) {
            Ok(_) => false,
            Err(place) => {
                self.states.insert(place, state);
                true
            }
        }
    }

    /// Whether the state belongs to the set.
    pub fn contains(&self, state: StateId) -> bool {
        self.states.binary_search(&state).is_ok()
    }

    /// Returns the states in order.
    pub fn iter(&self) -> impl Iterator<Item = StateId> + '_ {
        self.states.iter().copied()
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Removes all states.
    pub fn clear(&mut self) {
        self.states.clear();
    }
}

impl FromIterator<StateId> for StateSet {
    fn from_iter<I: IntoIterator<Item = StateId>>(states: I) -> Self {
        let mut states: Vec<StateId> = states.into_iter().collect();
        states.sort_unstable();
        states.dedup();
        StateSet { states }
    }
}
