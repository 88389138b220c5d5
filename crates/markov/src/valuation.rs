//! Values of the variables of states, packed into words.

/// A variable of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The smallest value; 0 for a truth value.
    pub low: i64,
    /// The largest value; 1 for a truth value.
    pub high: i64,
    /// Whether it is a truth value.
    pub is_bool: bool,
}

/// The position of a variable in a packed state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slot {
    word: u32,
    shift: u32,
    mask: u64,
    low: i64,
}

impl Slot {
    /// Returns the variable's value in a packed state.
    #[inline]
    pub fn get(self, state: &[u64]) -> i64 {
        (((state[self.word as usize] >> self.shift) & self.mask) as i64).wrapping_add(self.low)
    }

    /// Sets the variable to a value, which must be within its range.
    #[inline]
    pub fn set(self, state: &mut [u64], value: i64) {
        let word = &mut state[self.word as usize];
        *word = (*word & !(self.mask << self.shift))
            | ((value.wrapping_sub(self.low) as u64 & self.mask) << self.shift);
    }
}

/// The values of all variables in all states.
#[derive(Clone, Debug)]
pub struct Valuations {
    variables: Vec<Variable>,
    slots: Vec<Slot>,
    words: usize,
    states: Vec<u64>,
}

impl Valuations {
    /// Returns valuations of these variables, without states.
    pub fn new(variables: Vec<Variable>) -> Valuations {
        let mut slots = Vec::with_capacity(variables.len());
        let (mut word, mut used) = (0, 0);
        for variable in &variables {
            let span = variable.high.wrapping_sub(variable.low) as u64;
            let bits = 64 - span.leading_zeros();
            if used + bits > 64 {
                word += 1;
                used = 0;
            }
            let mask = if bits == 64 {
                u64::MAX
            } else {
                (1 << bits) - 1
            };
            slots.push(Slot {
                word,
                shift: used.min(63),
                mask,
                low: variable.low,
            });
            used += bits;
        }
        Valuations {
            variables,
            slots,
            words: word as usize + 1,
            states: Vec::new(),
        }
    }

    /// Returns the variables.
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// Returns the positions of the variables in a packed state.
    pub fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Returns the number of words of a packed state.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Returns the number of states.
    pub fn len(&self) -> usize {
        self.states.len() / self.words
    }

    /// Returns whether there are no states.
    pub fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    /// Adds a packed state.
    pub fn push(&mut self, state: &[u64]) {
        self.states.extend_from_slice(state);
    }

    /// Returns a packed state.
    #[inline]
    pub fn state(&self, state: u32) -> &[u64] {
        &self.states[state as usize * self.words..][..self.words]
    }

    /// Returns the value of a variable in a state.
    pub fn value(&self, state: u32, variable: usize) -> i64 {
        self.slots[variable].get(self.state(state))
    }

    /// Returns the values of all variables in a state.
    pub fn values(&self, state: u32) -> Vec<i64> {
        let packed = self.state(state);
        self.slots.iter().map(|slot| slot.get(packed)).collect()
    }

    /// Returns a state in text form: `s=3 & done & !failed`.
    pub fn text(&self, state: u32) -> String {
        let parts: Vec<String> = self
            .variables
            .iter()
            .enumerate()
            .map(|(at, variable)| {
                let value = self.value(state, at);
                match (variable.is_bool, value) {
                    (true, 0) => format!("!{}", variable.name),
                    (true, _) => variable.name.clone(),
                    (false, _) => format!("{}={value}", variable.name),
                }
            })
            .collect();
        parts.join(" & ")
    }
}
