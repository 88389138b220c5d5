//! Sets of states from which there is a fair run that satisfies one temporal operator.

use crate::graph::ctl::{exists_globally, exists_next, exists_until};
use crate::graph::{NodeSet, backward, components};

use super::Kripke;

/// The fixpoints over one structure with its fairness conditions.
pub(super) struct Fixpoints<'a> {
    kripke: &'a Kripke,
    constraints: Vec<NodeSet>,
    /// The states from which a fair run begins; all states if there are no fairness conditions.
    fair: NodeSet,
}

impl<'a> Fixpoints<'a> {
    pub(super) fn new(kripke: &'a Kripke, constraints: Vec<NodeSet>) -> Fixpoints<'a> {
        let mut made = Fixpoints {
            kripke,
            constraints,
            fair: kripke.graph().all(),
        };
        if !made.constraints.is_empty() {
            made.fair = made.globally(&kripke.graph().all());
        }
        made
    }

    /// Returns the states from which a fair run begins.
    pub(super) fn fair(&self) -> &NodeSet {
        &self.fair
    }

    fn with_fair(&self, set: &NodeSet) -> NodeSet {
        let mut both = set.clone();
        both.intersect_with(&self.fair);
        both
    }

    /// `E p`: a fair run begins in a state of `p`.
    pub(super) fn now(&self, p: &NodeSet) -> NodeSet {
        self.with_fair(p)
    }

    /// `E X p`
    pub(super) fn next(&self, p: &NodeSet) -> NodeSet {
        exists_next(self.kripke.reversed(), &self.with_fair(p))
    }

    /// `E [p U q]`
    pub(super) fn until(&self, p: &NodeSet, q: &NodeSet) -> NodeSet {
        exists_until(self.kripke.reversed(), p, &self.with_fair(q))
    }

    /// `E G p`, over fair runs.
    ///
    /// # Source
    /// E. Clarke, A. Emerson, A. Sistla, 1986: a fair run within `p` ends in a component of `p` that meets every constraint.
    pub(super) fn globally(&self, p: &NodeSet) -> NodeSet {
        let (graph, reversed) = (self.kripke.graph(), self.kripke.reversed());
        if self.constraints.is_empty() {
            return exists_globally(graph, reversed, p);
        }
        let found = components(graph, Some(p));
        let mut fair = graph.none();
        for component in 0..found.len() {
            let members = found.members(component);
            let meets = |set: &NodeSet| members.iter().any(|state| set.contains(*state as usize));
            if found.is_cyclic(graph, component) && self.constraints.iter().all(meets) {
                fair.extend(members.iter().map(|state| *state as usize));
            }
        }
        backward(reversed, &fair, Some(p))
    }

    /// `E [p U[lo,hi] q]`: each round of the loop looks one step further.
    pub(super) fn until_within(&self, p: &NodeSet, lo: u32, hi: u32, q: &NodeSet) -> NodeSet {
        let q = self.with_fair(q);
        let mut found = q.clone();
        for _ in lo..hi {
            let mut wider = self.step(p, &found);
            wider.union_with(&q);
            if wider == found {
                break;
            }
            found = wider;
        }
        self.after(lo, found, p)
    }

    /// `E G[lo,hi] p`
    pub(super) fn globally_within(&self, p: &NodeSet, lo: u32, hi: u32) -> NodeSet {
        let mut found = self.with_fair(p);
        for _ in lo..hi {
            let narrower = self.step(p, &found);
            if narrower == found {
                break;
            }
            found = narrower;
        }
        self.after(lo, found, &self.kripke.graph().all())
    }

    /// Returns the states from which exactly `steps` steps through `p` lead to `target`.
    fn after(&self, steps: u32, target: NodeSet, p: &NodeSet) -> NodeSet {
        let mut found = target;
        for _ in 0..steps {
            let earlier = self.step(p, &found);
            // A fixpoint: later rounds give the same set.
            if earlier == found {
                break;
            }
            found = earlier;
        }
        found
    }

    /// Returns the states of `p` with a successor in `target`.
    fn step(&self, p: &NodeSet, target: &NodeSet) -> NodeSet {
        let mut found = exists_next(self.kripke.reversed(), target);
        found.intersect_with(p);
        found
    }
}
