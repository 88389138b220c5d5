//! Search for contradictions between two formulas over pairs of states. It builds no product automaton.
//!
//! # Source
//! A. Post, J. Hoenicke, A. Podelski, "rt-inconsistency: a new property for real-time requirements", 2011.

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashSet};

use super::backward::Backward;
use super::dfa::Dfa;
use super::diagram::{Branch, Ref};
use super::limits::{LimitError, Limits, Resource, check};
use super::states::StateId;
use super::verdict::Finality;

/// A pair of states in which both formulas are open.
#[derive(Default)]
struct Pair {
    /// The pairs of open states that follow.
    next: Vec<u32>,
    /// Whether some successor has one formula satisfied for good and the other still satisfiable: then both can be
    /// satisfied.
    escapes: bool,
    /// Whether each formula alone permits a continuation.
    each_goes_on: bool,
}

impl Dfa {
    /// Whether some prefix is a joint dead end: each formula can still be satisfied and both together cannot, or each
    /// by a longer trace and both together not by one. Also returns the work that was done.
    ///
    /// The search does not continue from pairs in which one formula is final, because the other one decides there.
    ///
    /// # Errors
    /// When there are more pairs of states than the limits allow.
    pub fn clashes_counted(&self, other: &Dfa, limits: &Limits) -> (Result<bool, LimitError>, u64) {
        let mut work = 0;
        (self.clashes(other, limits, &mut work), work)
    }

    /// Whether every trace that can still be satisfied can reach a state in which it may stop and may stay. Two such
    /// formulas without a common atom have no joint dead end: each waits in such a state for the other.
    pub fn can_rest(&self) -> bool {
        let rests = |state| self.accepting(state) && self.successors(state).contains(&state);
        let resting = self.states().map(rests);
        let reaching = Backward::new(self).reaching(resting);
        self.states()
            .all(|state| reaching[state.index()] || self.finality(state) == Finality::FinalFalse)
    }

    fn clashes(&self, other: &Dfa, limits: &Limits, work: &mut u64) -> Result<bool, LimitError> {
        let open = |dfa: &Dfa| dfa.finality(dfa.initial()) == Finality::Open;
        if !open(self) || !open(other) {
            return Ok(false);
        }
        let mut order: IndexSet<(u32, u32), FxBuildHasher> = IndexSet::from_iter([(0, 0)]);
        let mut pairs: Vec<Pair> = Vec::new();
        let mut seen: FxHashSet<(Ref, Ref)> = FxHashSet::default();
        let mut stack = Vec::new();
        while let Some(&(left, right)) = order.get_index(pairs.len()) {
            check(Resource::States, limits.states as u64, order.len() as u64)?;
            let mut pair = Pair::default();
            let (mut left_goes_on, mut right_goes_on) = (false, false);
            seen.clear();
            stack.push((
                self.rows[left as usize].root,
                other.rows[right as usize].root,
            ));
            while let Some((a, b)) = stack.pop() {
                if !seen.insert((a, b)) {
                    continue;
                }
                let (Some(x), Some(y)) = (a.as_leaf(), b.as_leaf()) else {
                    stack.extend(halves(self, other, a, b));
                    continue;
                };
                let ends = (self.finality(StateId(x)), other.finality(StateId(y)));
                left_goes_on |= ends.0 != Finality::FinalFalse;
                right_goes_on |= ends.1 != Finality::FinalFalse;
                match ends {
                    (Finality::FinalFalse, _) | (_, Finality::FinalFalse) => {}
                    (Finality::Open, Finality::Open) => {
                        pair.next.push(order.insert_full((x, y)).0 as u32);
                    }
                    _ => pair.escapes = true,
                }
            }
            pair.each_goes_on = left_goes_on && right_goes_on;
            pairs.push(pair);
            *work += seen.len() as u64;
            check(Resource::Work, limits.work, *work)?;
        }
        let accepts = |index: usize| {
            let (left, right) = order[index];
            self.accepting(StateId(left)) && other.accepting(StateId(right))
        };
        let met = meets(&pairs, accepts);
        let goes_on =
            |pair: &Pair| pair.escapes || pair.next.iter().any(|&next| met[next as usize]);
        let dead =
            |(index, pair): (usize, &Pair)| !met[index] || pair.each_goes_on && !goes_on(pair);
        Ok(pairs.iter().enumerate().any(dead))
    }
}

/// Returns both halves of two diagrams, one of which is a branch, with respect to the variable that is asked first.
fn halves(left: &Dfa, right: &Dfa, a: Ref, b: Ref) -> [(Ref, Ref); 2] {
    let branch = |dfa: &Dfa, node: Ref| {
        let none = Branch {
            var: u32::MAX,
            lo: node,
            hi: node,
        };
        match node.as_leaf() {
            Some(_) => none,
            None => dfa.branches[node.index()],
        }
    };
    let (x, y) = (branch(left, a), branch(right, b));
    match x.var.cmp(&y.var) {
        std::cmp::Ordering::Less => [(x.hi, b), (x.lo, b)],
        std::cmp::Ordering::Equal => [(x.hi, y.hi), (x.lo, y.lo)],
        std::cmp::Ordering::Greater => [(a, y.hi), (a, y.lo)],
    }
}

/// Returns the pairs from which both formulas can be satisfied together, by a backward search.
fn meets(pairs: &[Pair], accepts: impl Fn(usize) -> bool) -> Vec<bool> {
    let mut before: Vec<Vec<u32>> = vec![Vec::new(); pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        for &next in &pair.next {
            before[next as usize].push(index as u32);
        }
    }
    let mut met: Vec<bool> = pairs
        .iter()
        .enumerate()
        .map(|(index, pair)| pair.escapes || accepts(index))
        .collect();
    let mut stack: Vec<u32> = (0..pairs.len() as u32)
        .filter(|&index| met[index as usize])
        .collect();
    while let Some(index) = stack.pop() {
        for &earlier in &before[index as usize] {
            if !std::mem::replace(&mut met[earlier as usize], true) {
                stack.push(earlier);
            }
        }
    }
    met
}
