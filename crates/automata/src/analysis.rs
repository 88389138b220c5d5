//! The analysis of a formula by its automaton: class, extremes, witnesses.
//!
//! All results are exact and concern non-empty traces, unless a function takes [`Traces`].

use super::backward::Backward;
use super::dfa::Dfa;
use super::formula::{Letter, Word};
use super::product::Traces;
use super::states::StateId;
use super::verdict::{Finality, Verdict};

/// The classification of a formula: whether it can be enforced, and whether it can be monitored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Class {
    /// Some non-empty trace satisfies it.
    pub satisfiable: bool,
    /// Every non-empty trace satisfies it.
    pub valid: bool,
    /// Every violation is final when it first shows: no non-empty trace is presumably violated.
    pub safety: bool,
    /// Every satisfaction is final when it first shows: no non-empty trace is presumably satisfied.
    pub cosafety: bool,
    /// After every prefix some continuation decides the formula.
    pub monitorable: bool,
}

impl Dfa {
    /// Returns the class of the formula.
    pub fn class(&self) -> Class {
        let met = self.reached_by_reading();
        let verdict = |wanted: Verdict| met.iter().any(|&state| self.verdict(state) == wanted);
        Class {
            satisfiable: met.iter().any(|&state| self.accepting(state)),
            valid: met.iter().all(|&state| self.accepting(state)),
            safety: !verdict(Verdict::PresumablyViolated),
            cosafety: !verdict(Verdict::PresumablySatisfied),
            monitorable: self.is_monitorable(),
        }
    }

    /// Returns the safety closure: the part of the formula that can be enforced by refusing steps. It accepts a prefix
    /// as long as some continuation satisfies the formula. For a safety formula it is the formula itself, on non-empty
    /// traces.
    #[must_use]
    pub fn enforceable_part(&self) -> Dfa {
        self.accepting_where(|verdict| verdict != Verdict::Violated)
    }

    /// Returns the prefixes that can be extended: some longer trace satisfies the formula. Unlike
    /// [`enforceable_part`](Self::enforceable_part) it leaves out prefixes that can only end.
    #[must_use]
    pub fn extendable_part(&self) -> Dfa {
        self.accepting_at(|state| {
            let mut next = self.successors(state).into_iter();
            next.any(|next| self.finality(next) != Finality::FinalFalse)
        })
    }

    /// Whether no non-empty trace is presumably violated.
    pub fn is_safety(&self) -> bool {
        self.class().safety
    }

    /// Whether no non-empty trace is presumably satisfied.
    pub fn is_cosafety(&self) -> bool {
        self.class().cosafety
    }

    /// Whether some final state is reachable from every state.
    pub fn is_monitorable(&self) -> bool {
        let decided = self
            .states()
            .map(|state| self.finality(state) != Finality::Open);
        let reaching = Backward::new(self).reaching(decided);
        reaching.into_iter().all(|reaches| reaches)
    }

    /// Whether some trace is accepted.
    pub fn is_satisfiable(&self, traces: Traces) -> bool {
        self.shortest_accepted(traces).is_some()
    }

    /// Whether every trace is accepted.
    pub fn is_valid(&self, traces: Traces) -> bool {
        self.shortest_rejected(traces).is_none()
    }

    /// Returns a shortest trace that satisfies the formula.
    pub fn shortest_accepted(&self, traces: Traces) -> Option<Word> {
        self.shortest_from(self.initial(), traces, |state| self.accepting(state))
    }

    /// Returns a shortest trace that violates the formula.
    pub fn shortest_rejected(&self, traces: Traces) -> Option<Word> {
        self.shortest_from(self.initial(), traces, |state| !self.accepting(state))
    }

    /// Returns a shortest prefix whose verdict is `wanted`.
    pub fn shortest_to(&self, wanted: Verdict, traces: Traces) -> Option<Word> {
        self.shortest_from(self.initial(), traces, |state| {
            self.verdict(state) == wanted
        })
    }

    /// Returns a shortest continuation from `state` to a state that is `wanted`, by breadth-first search. With
    /// [`Traces::NonEmpty`] at least one position is read.
    pub fn shortest_from(
        &self,
        state: StateId,
        traces: Traces,
        wanted: impl Fn(StateId) -> bool,
    ) -> Option<Word> {
        if traces == Traces::All && wanted(state) {
            return Some(Word::new());
        }
        let mut from: Vec<Option<(StateId, Letter)>> = vec![None; self.len()];
        let mut queue = vec![state];
        let mut next = 0;
        while let Some(&source) = queue.get(next) {
            next += 1;
            for (letter, target) in self.edges(source) {
                if wanted(target) {
                    let mut word = vec![letter];
                    let mut at = source;
                    while let Some((before, letter)) =
                        from[at.index()].as_ref().filter(|_| at != state)
                    {
                        word.push(letter.clone());
                        at = *before;
                    }
                    word.reverse();
                    return Some(word);
                }
                if target != state && from[target.index()].is_none() {
                    from[target.index()] = Some((source, letter));
                    queue.push(target);
                }
            }
        }
        None
    }

    /// Returns the states that some non-empty trace leads to.
    pub fn reached_by_reading(&self) -> Vec<StateId> {
        let mut met = vec![false; self.len()];
        let mut stack = self.successors(self.initial());
        while let Some(state) = stack.pop() {
            if !std::mem::replace(&mut met[state.index()], true) {
                stack.extend(self.successors(state));
            }
        }
        self.states().filter(|state| met[state.index()]).collect()
    }
}
