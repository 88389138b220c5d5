//! The valid states and steps: `valid`, `step`, `absorbing`, `terminal`, and the enumeration of the states.

use smol_str::SmolStr;

use super::{Key, Space, SpaceError};
use crate::eval::{LimitError, StateCode, StateEval};
use crate::hir::Source;
use crate::ids::{ExprId, PropertyId};
use crate::value::{Cell, Number, Truth, Value};
use guard_automata::StateSet;

/// Evaluates the rules of an abstraction in its states; create one for each thread with [`Space::rules`].
///
/// A condition that is unknown in a state (for example, a comparison with a text that never occurred) forbids nothing.
#[derive(Debug)]
pub struct Rules<'a> {
    space: &'a Space,
    eval: StateEval<'a>,
    of: &'a RuleCode,
    cells: Vec<Cell>,
}

/// The compiled rules of a space.
#[derive(Debug)]
pub struct RuleCode {
    code: StateCode,
    n_valid: usize,
    n_step: usize,
    n_absorbing: usize,
    n_terminal: usize,
    n_rewards: usize,
    /// The index of the first requested condition; these follow the declared rules.
    first_asked: usize,
    monitors: Vec<Monitor>,
}

/// A monitor among the components.
#[derive(Debug)]
struct Monitor {
    component: usize,
    /// The index among the program's properties.
    property: usize,
    /// The indices of its letters among the roots.
    letters: Vec<usize>,
}

/// The legality of a step under the declared transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The step is allowed.
    Allowed,
    /// The target state is not valid.
    NoState,
    /// A `step` condition forbids it.
    Forbidden,
    /// A monitor among the components has no such transition.
    NoMove,
}

impl Space {
    /// Compiles the rules of the abstraction, and further conditions on its states.
    ///
    /// # Errors
    /// [`LimitError`], for past operators over bound variables.
    pub fn rule_code(&self, asked: &[ExprId]) -> Result<RuleCode, LimitError> {
        let of = &self.abstraction;
        let mut roots: Vec<ExprId> = Vec::new();
        roots.extend(&of.valid);
        roots.extend(&of.step);
        roots.extend(&of.absorbing);
        roots.extend(&of.terminal);
        roots.extend(of.rewards.iter().map(|reward| reward.value));
        let mut monitors = Vec::new();
        for (component, found) in of.components.iter().enumerate() {
            let Source::Monitor(property) = found.source else {
                continue;
            };
            let place = self
                .monitored
                .iter()
                .position(|other| *other == property)
                .unwrap_or(0);
            let letters = self
                .spec
                .formulas
                .atoms_of(self.spec.property(property).formula);
            let first = roots.len();
            roots.extend(letters.iter().map(|letter| self.spec.atom(*letter).expr));
            monitors.push(Monitor {
                component,
                property: place,
                letters: (first..roots.len()).collect(),
            });
        }
        let first_asked = roots.len();
        roots.extend(asked);
        Ok(RuleCode {
            code: StateCode::new(&self.spec, &self.places(), &roots)?,
            n_valid: of.valid.len(),
            n_step: of.step.len(),
            n_absorbing: of.absorbing.len(),
            n_terminal: of.terminal.len(),
            n_rewards: of.rewards.len(),
            first_asked,
            monitors,
        })
    }

    /// Returns an evaluator of the rules.
    pub fn rules<'a>(&'a self, of: &'a RuleCode) -> Rules<'a> {
        Rules {
            space: self,
            eval: of.code.eval(),
            of,
            cells: Vec::new(),
        }
    }
}

impl Rules<'_> {
    fn enter(&mut self, key: Key) {
        self.cells.clear();
        self.space.cells(key, &mut self.cells);
    }

    /// Whether one of these roots has this value.
    fn some(&mut self, roots: std::ops::Range<usize>, value: Truth) -> bool {
        let (eval, cells) = (&mut self.eval, &self.cells);
        roots
            .into_iter()
            .any(|root| eval.truth(root, cells) == value)
    }

    fn roots(&self, skip: usize, len: usize) -> std::ops::Range<usize> {
        skip..skip + len
    }

    /// Whether the state is valid.
    pub fn is_valid(&mut self, key: Key) -> bool {
        self.enter(key);
        let roots = self.roots(0, self.of.n_valid);
        !self.some(roots, Truth::False)
    }

    /// Whether the state is absorbing.
    pub fn is_absorbing(&mut self, key: Key) -> bool {
        self.enter(key);
        let roots = self.roots(self.of.n_valid + self.of.n_step, self.of.n_absorbing);
        self.some(roots, Truth::True)
    }

    /// Whether runs may end in the state.
    pub fn is_terminal(&mut self, key: Key) -> bool {
        let first = self.of.n_valid + self.of.n_step + self.of.n_absorbing;
        if self.of.n_terminal == 0 {
            return true;
        }
        self.enter(key);
        let roots = self.roots(first, self.of.n_terminal);
        self.some(roots, Truth::True)
    }

    /// Returns the value of a reward of the abstraction in the state, or `None` if it has no numeric value there.
    pub fn reward(&mut self, number: usize, key: Key) -> Option<Number> {
        let first = self.of.n_valid + self.of.n_step + self.of.n_absorbing + self.of.n_terminal;
        if number >= self.of.n_rewards {
            return None;
        }
        self.enter(key);
        match self.eval.cell(first + number, &self.cells) {
            Cell::Known(Value::Number(value)) => Some(value.clone()),
            _ => None,
        }
    }

    /// Whether a requested condition holds in the state.
    pub fn holds(&mut self, asked: usize, key: Key) -> Truth {
        self.enter(key);
        self.eval.truth(self.of.first_asked + asked, &self.cells)
    }

    /// Whether a step is declared possible. Does not check the validity of the source state.
    pub fn allows(&mut self, from: Key, to: Key) -> Step {
        if !self.is_valid(to) {
            return Step::NoState;
        }
        self.allows_between(from, to)
    }

    /// Returns the same if both states are valid.
    fn allows_between(&mut self, from: Key, to: Key) -> Step {
        self.cells.clear();
        self.space.cells(from, &mut self.cells);
        self.space.cells(to, &mut self.cells);
        let roots = self.roots(self.of.n_valid, self.of.n_step);
        if self.some(roots, Truth::False) {
            return Step::Forbidden;
        }
        let codecs = &self.space.codecs;
        let moves = codecs
            .iter()
            .all(|codec| codec.may_follow(codec.code_in(from), codec.code_in(to)));
        if !moves || !self.monitors_move(Some(from), to) {
            return Step::NoMove;
        }
        Step::Allowed
    }

    /// Whether the first step may lead to this state: it is valid, and every monitor reaches its component from its
    /// initial state.
    pub fn may_begin(&mut self, to: Key) -> bool {
        self.is_valid(to) && self.monitors_move(None, to)
    }

    /// Whether every monitor moves according to the letters of the next state, as far as that state determines them.
    fn monitors_move(&mut self, from: Option<Key>, to: Key) -> bool {
        if self.of.monitors.is_empty() {
            return true;
        }
        self.enter(to);
        for monitor in &self.of.monitors {
            let codec = &self.space.codecs[monitor.component];
            debug_assert!(codec.is_monitor());
            let Some(dfa) = self.space.program.dfa(PropertyId::new(monitor.property)) else {
                continue;
            };
            let before = match from {
                Some(from) => dfa.state(codec.code_in(from) as usize),
                None => Some(dfa.initial()),
            };
            let (Some(before), Some(after)) = (before, dfa.state(codec.code_in(to) as usize))
            else {
                return false;
            };
            let letters: Vec<Option<bool>> = monitor
                .letters
                .iter()
                .map(|root| self.eval.truth(*root, &self.cells).known())
                .collect();
            let mut next = StateSet::new();
            dfa.step_unknown(
                before,
                |atom| letters.get(atom.0 as usize).copied().flatten(),
                &mut next,
            );
            if !next.iter().any(|state| state == after) {
                return false;
            }
        }
        true
    }

    /// Whether every valid state may follow every other.
    pub fn is_free(&self) -> bool {
        let codecs = &self.space.codecs;
        self.of.n_step == 0 && codecs.iter().all(|codec| codec.is_free())
    }

    /// Returns all valid states, in the order of their keys, with known texts only.
    ///
    /// # Errors
    /// [`SpaceError::TooManyStates`], if more combinations would have to be checked.
    pub fn states(&mut self, limit: usize) -> Result<Vec<Key>, SpaceError> {
        let name: SmolStr = self.space.abstraction.name.clone();
        let too_many = || SpaceError::TooManyStates {
            abstraction: name.clone(),
            limit,
        };
        let mut sizes = Vec::with_capacity(self.space.codecs.len());
        let mut combinations: usize = 1;
        for codec in &self.space.codecs {
            let size = codec.known();
            combinations = combinations.checked_mul(size.max(1)).ok_or_else(too_many)?;
            sizes.push(size);
        }
        // There are many invalid combinations if components constrain one another.
        if combinations > limit.saturating_mul(64) {
            return Err(too_many());
        }
        let mut states = Vec::new();
        if sizes.contains(&0) {
            return Ok(states);
        }
        let mut codes = vec![0usize; sizes.len()];
        loop {
            let key = self
                .space
                .codecs
                .iter()
                .zip(&codes)
                .fold(0, |key, (codec, code)| key | codec.place_code(*code as u32));
            if self.is_valid(Key(key)) {
                if states.len() == limit {
                    return Err(too_many());
                }
                states.push(Key(key));
            }
            let Some(place) = (0..codes.len()).find(|place| codes[*place] + 1 < sizes[*place])
            else {
                break;
            };
            codes[place] += 1;
            codes[..place].fill(0);
        }
        states.sort_unstable();
        Ok(states)
    }

    /// Returns the declared successors of a state among `states`, by position.
    pub fn successors(&mut self, from: Key, states: &[Key]) -> Vec<u32> {
        let mut found = Vec::new();
        for (place, to) in states.iter().enumerate() {
            if self.allows_between(from, *to) == Step::Allowed {
                found.push(place as u32);
            }
        }
        found
    }
}
