//! Obligations: languages that a deterministic automaton decides by the component in which the run stays.
//!
//! As for languages of finite words, the minimal automaton is unique, and the subset construction alone yields it from a
//! nondeterministic one: every set of states represents one language of continuations, so in each component all loops must have
//! one value, and one word per component determines it. Whether the formula is an obligation at all is then decided by
//! comparing the result with the automata of the formula and of its negation.
//!
//! # Source
//! C. Dax, J. Eisinger, F. Klaedtke, "Mechanizing the powerset construction for restricted classes of omega-automata", 2007;
//! minimisation: C. Löding, "Efficient minimization of deterministic weak omega-automata", 2001.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::acceptance::Acceptance;
use super::buchi::{Buchi, Edge};
use super::deterministic::{Builder, Deterministic};
use super::guards::{Guard, Guards};
use super::marks::Marks;
use super::subsets::Steps;
use crate::diagram::Cache;
use crate::formula::Atom;
use crate::formula::Letter;
use crate::limits::{LimitError, Limits, Resource, check};
use crate::states::StateId;

/// Returns the minimal deterministic weak automaton of the words that `buchi` accepts, if there is one. `complement` accepts
/// the other words.
pub(super) fn weak(
    buchi: &Buchi,
    complement: &Buchi,
    limits: &Limits,
) -> Result<Option<Deterministic>, LimitError> {
    let subsets = subsets(buchi, limits)?;
    let accepting = values(&subsets, buchi)?;
    let automaton = subsets.colored(&accepting, limits)?.merged(limits)?;
    // The subset construction is correct for obligations only.
    let wrong = |automaton: &Deterministic, other: &Buchi| -> Result<bool, LimitError> {
        Ok(automaton
            .to_buchi(limits)?
            .common_word(other, limits)?
            .is_some())
    };
    let opposite = Deterministic {
        acceptance: Acceptance::Inf(0),
        ..automaton.flipped(limits)?
    };
    if wrong(&automaton, complement)? || wrong(&opposite, buchi)? {
        return Ok(None);
    }
    Ok(Some(automaton))
}

/// Returns the sets of states that are reached by reading words.
fn subsets(buchi: &Buchi, limits: &Limits) -> Result<Deterministic, LimitError> {
    let mut steps = Steps::new(buchi, limits);
    let mut builder = Builder::new(limits);
    let mut sets: IndexSet<Vec<u32>, FxBuildHasher> = IndexSet::default();
    sets.insert(vec![buchi.initial.0]);
    let mut roots = Vec::new();
    while let Some(set) = sets.get_index(roots.len()).cloned() {
        let lists = steps.step(buchi, set.into_iter())?;
        let mut leaf = |list: u32| {
            let edges = steps.edges(buchi, list);
            let mut next: Vec<u32> = edges.iter().map(|(_, edge)| edge.target.0).collect();
            next.sort_unstable();
            next.dedup();
            (StateId(sets.insert_full(next).0 as u32), Marks::NONE)
        };
        let root = builder.leaves_of(&steps.diagrams, lists, &mut Cache::default(), &mut leaf)?;
        check(Resource::States, limits.states as u64, sets.len() as u64)?;
        roots.push(root);
    }
    Ok(builder.finish(&buchi.atoms, roots, 1, Acceptance::Inf(0)))
}

/// Returns, for each state of the subset automaton that is on a cycle, whether the word of the cycle is accepted.
fn values(subsets: &Deterministic, buchi: &Buchi) -> Result<Vec<Option<bool>>, LimitError> {
    let components = subsets.components()?;
    let mut known: Vec<Option<Option<bool>>> = vec![None; components.len];
    let mut values = Vec::with_capacity(subsets.len());
    for state in subsets.states() {
        let component = components.of[state.index()] as usize;
        let value = match known[component] {
            Some(value) => value,
            None => {
                let to = subsets.way(subsets.initial(), state, |_| true);
                let around = subsets.cycle(state, |target| components.same(state.0, target.0));
                around.map(|around| {
                    let word: Vec<Letter> = to
                        .unwrap_or_default()
                        .into_iter()
                        .chain(around.iter().cloned())
                        .collect();
                    let stem = word.len() - around.len();
                    buchi.accepts(stem, around.len(), |i, atom| {
                        word[i].contains(&(atom, true))
                    })
                })
            }
        };
        known[component] = Some(value);
        values.push(value);
    }
    Ok(values)
}

impl Deterministic {
    /// Returns the letters of a shortest way between two states through states `allowed`.
    fn way(
        &self,
        from: StateId,
        to: StateId,
        allowed: impl Fn(StateId) -> bool,
    ) -> Option<Vec<Letter>> {
        if from == to {
            return Some(Vec::new());
        }
        let mut reached: Vec<Option<(StateId, Letter)>> = vec![None; self.len()];
        let mut queue = vec![from];
        let mut next = 0;
        while let Some(&state) = queue.get(next) {
            next += 1;
            for (letter, target, _) in self.cubes(state) {
                if target == from || !allowed(target) || reached[target.index()].is_some() {
                    continue;
                }
                reached[target.index()] = Some((state, letter));
                queue.push(target);
                if target == to {
                    let mut letters = Vec::new();
                    let mut at = to;
                    while let Some((before, letter)) = &reached[at.index()] {
                        letters.push(letter.clone());
                        at = *before;
                    }
                    letters.reverse();
                    return Some(letters);
                }
            }
        }
        None
    }

    /// Returns the letters of a way from a state back to it, at least one long, through states `allowed`.
    fn cycle(&self, state: StateId, allowed: impl Fn(StateId) -> bool) -> Option<Vec<Letter>> {
        self.cubes(state)
            .into_iter()
            .find_map(|(letter, target, _)| {
                let back = allowed(target)
                    .then(|| self.way(target, state, &allowed))
                    .flatten()?;
                Some([vec![letter], back].concat())
            })
    }

    /// Returns the same graph with the marks of a weak automaton in normal form: a state carries mark 0 on its transitions
    /// when its colour is even. Colours fall along edges, are even where loops are accepted and odd where they are not, and
    /// are the greatest such; states that are in no loop take that of what follows.
    fn colored(
        &self,
        accepting: &[Option<bool>],
        limits: &Limits,
    ) -> Result<Deterministic, LimitError> {
        const TOP: u32 = u32::MAX - 1;
        let components = self.components()?;
        let mut order: Vec<StateId> = self.states().collect();
        // Successors have a smaller number.
        order.sort_by_key(|state| components.of[state.index()]);
        let mut colors: Vec<Option<u32>> = vec![None; components.len];
        let mut index = 0;
        while let Some(&first) = order.get(index) {
            let component = components.of[first.index()];
            let mut least = TOP + 1;
            let mut value = None;
            while let Some(&state) = order
                .get(index)
                .filter(|state| components.of[state.index()] == component)
            {
                for (target, _) in self.successors(state) {
                    if let Some(color) = colors[components.of[target.index()] as usize] {
                        least = least.min(color);
                    }
                }
                value = accepting[state.index()];
                index += 1;
            }
            let color = match value {
                None => least,
                Some(accepts) => least - u32::from(least.is_multiple_of(2) != accepts),
            };
            colors[component as usize] = Some(color);
        }
        let even: Vec<bool> = self
            .states()
            .map(|state| {
                colors[components.of[state.index()] as usize].is_some_and(|color| color % 2 == 0)
            })
            .collect();
        self.marked(|state| even[state.index()], limits)
    }

    /// Returns the same graph with mark 0 on the transitions of the states that are `accepting`.
    fn marked(
        &self,
        accepting: impl Fn(StateId) -> bool,
        limits: &Limits,
    ) -> Result<Deterministic, LimitError> {
        let mut builder = Builder::new(limits);
        let mut roots = Vec::new();
        let mut caches = [Cache::default(), Cache::default()];
        for state in self.states() {
            let accepts = accepting(state);
            let marks = if accepts { Marks::one(0) } else { Marks::NONE };
            let mut change = |leaf: u32| (self.leaves[leaf as usize].0, marks);
            let cache = &mut caches[usize::from(accepts)];
            roots.push(builder.leaves_of(
                &self.diagrams,
                self.roots[state.index()],
                cache,
                &mut change,
            )?);
        }
        Ok(builder.finish(&self.atoms, roots, 1, Acceptance::Inf(0)))
    }

    /// Returns the weak automaton with the marks on the other states.
    fn flipped(&self, limits: &Limits) -> Result<Deterministic, LimitError> {
        let marked = |state: StateId| self.successors(state).all(|(_, marks)| marks.is_empty());
        self.marked(marked, limits)
    }

    /// Returns the same automaton as a nondeterministic one, for acceptance by marks that must all be seen infinitely often.
    pub(super) fn to_buchi(&self, limits: &Limits) -> Result<Buchi, LimitError> {
        let mut guards = Guards::new(limits);
        let mut edges = Vec::with_capacity(self.len());
        for state in self.states() {
            let root = self.roots[state.index()];
            let mut targets: Vec<(StateId, Marks)> = self.successors(state).collect();
            targets.sort_unstable();
            targets.dedup();
            let mut here = Vec::with_capacity(targets.len());
            for (target, marks) in targets {
                let wanted = |leaf: u32| self.leaves[leaf as usize] == (target, marks);
                let name = |var| Some(Atom(var));
                let guard =
                    guards.import(&self.diagrams, root, &name, &wanted, &mut Cache::default())?;
                if guard != Guard::FALSE {
                    here.push(Edge {
                        guard,
                        marks,
                        target,
                    });
                }
            }
            edges.push(here);
        }
        Ok(Buchi {
            atoms: self.atoms.clone(),
            guards,
            n_marks: self.n_marks,
            initial: self.initial(),
            edges,
        })
    }
}
