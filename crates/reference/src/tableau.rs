//! Decides by explicit search whether some continuation of a prefix makes a formula true.
//!
//! A `State` describes the situation before a position: which formulas must be true or false *at* that position (the
//! obligations), and which were true at the previous position, as far as past operators require it. A step takes the
//! letters of the position, and splits every obligation by the law of its operator into obligations of this position
//! and of the next:
//!
//! ```text
//! f U g       = g or (f and X (f U g))           f S g       = g or (f and Y (f S g))
//! f U[a,b] g  = f and X (f U[a-1,b-1] g)         O[a,b] f    = Y O[a-1,b-1] f            a > 0
//! f U[0,b] g  = g or (f and X (f U[0,b-1] g))    O[0,b] f    = f or Y O[0,b-1] f         b > 0
//! ```
//!
//! At the last position `X` is false. Both branches of an *or* are followed, so a set of states is exact: the prefix
//! has a continuation that makes the formula true if and only if one of its states can reach an end. Letters of
//! continuations are free; those that no obligation mentions stay undetermined.
//!
//! All other operators are defined by these, in `core`.
//!
//! # Limits
//! The search is exponential in the size of the formula; beyond `LIMIT` states or branches it fails with [`TooLarge`].

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use super::TooLarge;
use guard_lang::hir::Formulas;
use guard_lang::ids::{AtomId, FormulaId};

/// The largest number of states of one search, and of branches at one position.
pub(super) const LIMIT: usize = 20_000;

/// The index of a core formula in [`Tableau::nodes`].
pub(super) type NodeId = usize;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Node {
    True,
    Letter(AtomId),
    Last,
    Not(NodeId),
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Next(NodeId),
    Previously(NodeId),
    Until(NodeId, NodeId),
    BoundedUntil(u32, u32, NodeId, NodeId),
    Since(NodeId, NodeId),
    BoundedOnce(u32, u32, NodeId),
}

/// The obligations of a position, and the remembered values at the previous position (`None` at the first).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct State {
    todo: BTreeSet<(NodeId, bool)>,
    before: Option<BTreeMap<NodeId, bool>>,
}

/// The states that a prefix may lead to.
pub(super) type States = BTreeSet<State>;

/// One way of fulfilling the obligations of a position.
#[derive(Clone, Default)]
struct Branch {
    /// The values at this position, by node; a vector, because branches are copied often and have a value for most
    /// nodes.
    now: Vec<Option<bool>>,
    next: BTreeSet<(NodeId, bool)>,
    todo: Vec<(NodeId, bool)>,
}

/// The obligations of this position and of the next, in one way of fulfilling a formula.
#[derive(Default)]
struct Way {
    here: Vec<(NodeId, bool)>,
    next: Option<(NodeId, bool)>,
}

/// A cache of the tableaux of one spec's formulas.
pub(super) type Tableaux = RefCell<HashMap<FormulaId, Tableau>>;

/// A formula, and what has been computed about its states.
#[derive(Debug)]
pub(super) struct Tableau {
    nodes: Vec<Node>,
    ids: HashMap<Node, NodeId>,
    root: NodeId,
    satisfiable: HashMap<State, bool>,
    /// The successors of a state for the letters of a position, cached because prefixes share beginnings. At most
    /// `LIMIT` entries.
    after: HashMap<(State, BTreeSet<AtomId>), States>,
    remembered: HashMap<NodeId, Rc<BTreeSet<NodeId>>>,
}

impl Tableau {
    /// Returns the tableau of a formula without time bounds.
    pub(super) fn new(formulas: &Formulas, formula: FormulaId) -> Tableau {
        let mut tableau = Tableau {
            nodes: Vec::new(),
            ids: HashMap::new(),
            root: 0,
            satisfiable: HashMap::new(),
            after: HashMap::new(),
            remembered: HashMap::new(),
        };
        tableau.root = tableau.core(formulas, formula);
        tableau
    }

    /// Returns the states before the first position, where the formula is required to be `value`.
    pub(super) fn start(&self, value: bool) -> States {
        [State {
            todo: [(self.root, value)].into(),
            before: None,
        }]
        .into()
    }

    /// Returns the states after one more position with these letters that is not the last.
    pub(super) fn step(
        &mut self,
        states: &States,
        letters: &BTreeSet<AtomId>,
    ) -> Result<States, TooLarge> {
        let mut after = States::new();
        for state in states {
            let here = (state.clone(), letters.clone());
            if let Some(known) = self.after.get(&here) {
                after.extend(known.iter().cloned());
            } else {
                let found = self.expand(state, Some(&|letter| letters.contains(&letter)), false)?;
                after.extend(found.iter().cloned());
                if self.after.len() < LIMIT {
                    self.after.insert(here, found);
                }
            }
            within(after.len(), "states of a tableau")?;
        }
        Ok(after)
    }

    /// Returns whether one of these states can continue, by at least one position, to an end.
    pub(super) fn can_go_on(&mut self, states: &States) -> Result<bool, TooLarge> {
        for state in states {
            if self.is_satisfiable(state)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn is_satisfiable(&mut self, start: &State) -> Result<bool, TooLarge> {
        let mut seen = HashSet::from([start.clone()]);
        let mut todo = vec![start.clone()];
        let mut found = false;
        while let Some(state) = todo.pop() {
            found = match self.satisfiable.get(&state) {
                Some(false) => continue,
                Some(true) => true,
                // Without obligations, any continuation suffices.
                None => state.todo.is_empty() || !self.expand(&state, None, true)?.is_empty(),
            };
            if found {
                break;
            }
            for next in self.expand(&state, None, false)? {
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
            within(seen.len(), "states of a tableau")?;
        }
        if found {
            self.satisfiable.insert(start.clone(), true);
        } else {
            self.satisfiable
                .extend(seen.into_iter().map(|state| (state, false)));
        }
        Ok(found)
    }

    /// Returns all successors of a state; for the last position, one state without obligations if it is possible.
    fn expand(
        &mut self,
        state: &State,
        letters: Option<&dyn Fn(AtomId) -> bool>,
        last: bool,
    ) -> Result<States, TooLarge> {
        let mut after = States::new();
        let mut branches = vec![Branch {
            todo: state.todo.iter().copied().collect(),
            ..Branch::default()
        }];
        let mut n_branches = 0;
        while let Some(mut branch) = branches.pop() {
            n_branches += 1;
            within(n_branches, "branches of a tableau")?;
            let Some((node, value)) = branch.todo.pop() else {
                // The values that past operators require of this position must be decided here too.
                let mut asked: BTreeSet<NodeId> = BTreeSet::new();
                for (node, _) in &branch.next {
                    asked.extend(self.remembered(*node).iter());
                }
                let undecided = asked.iter().find(|node| branch.value(**node).is_none());
                if let Some(node) = undecided {
                    let ways = [true, false].map(|value| Way::here([(*node, value)]));
                    branch.split(ways.into(), &mut branches);
                } else {
                    let before = asked
                        .iter()
                        .filter_map(|node| Some((*node, branch.value(*node)?)))
                        .collect();
                    after.insert(State {
                        todo: branch.next,
                        before: Some(before),
                    });
                }
                continue;
            };
            match branch.value(node) {
                Some(other) if other != value => continue,
                Some(_) => branches.push(branch),
                None => {
                    branch.set(node, value);
                    let ways = self.law((node, value), state, letters, last);
                    branch.split(ways, &mut branches);
                }
            }
        }
        Ok(after)
    }

    /// Returns the law of one operator: the ways to give this node this value at this position.
    fn law(
        &mut self,
        (node, value): (NodeId, bool),
        state: &State,
        letters: Option<&dyn Fn(AtomId) -> bool>,
        last: bool,
    ) -> Vec<Way> {
        let only_if = |holds: bool| {
            if holds {
                vec![Way::default()]
            } else {
                Vec::new()
            }
        };
        let before = |node: NodeId| {
            let truth = state
                .before
                .as_ref()
                .and_then(|before| before.get(&node).copied());
            truth.unwrap_or(false)
        };
        match self.nodes[node] {
            Node::True => only_if(value),
            Node::Letter(letter) => only_if(letters.is_none_or(|letters| letters(letter) == value)),
            Node::Last => only_if(last == value),
            Node::Not(f) => vec![Way::here([(f, !value)])],
            Node::And(f, g) if value => vec![Way::here([(f, true), (g, true)])],
            Node::And(f, g) => vec![Way::here([(f, false)]), Way::here([(f, true), (g, false)])],
            Node::Or(f, g) if value => {
                vec![Way::here([(f, true)]), Way::here([(f, false), (g, true)])]
            }
            Node::Or(f, g) => vec![Way::here([(f, false), (g, false)])],
            Node::Next(f) if last => {
                let _ = f;
                only_if(!value)
            }
            Node::Next(f) => vec![Way {
                next: Some((f, value)),
                ..Way::default()
            }],
            Node::Previously(f) => only_if(before(f) == value),
            Node::Until(f, g) => {
                let next = self.add(Node::Next(node));
                let more = self.add(Node::And(f, next));
                let law = self.add(Node::Or(g, more));
                vec![Way::here([(law, value)])]
            }
            Node::BoundedUntil(from, to, f, g) => {
                let mut law = None;
                if to > 0 {
                    let rest = self.add(Node::BoundedUntil(from.saturating_sub(1), to - 1, f, g));
                    let next = self.add(Node::Next(rest));
                    law = Some(self.add(Node::And(f, next)));
                }
                let law = match law {
                    None => g,
                    Some(more) if from == 0 => self.add(Node::Or(g, more)),
                    Some(more) => more,
                };
                vec![Way::here([(law, value)])]
            }
            Node::Since(f, g) => {
                // `g or (f and Y (f S g))`
                let law = if before(node) {
                    self.add(Node::Or(g, f))
                } else {
                    g
                };
                vec![Way::here([(law, value)])]
            }
            Node::BoundedOnce(from, to, f) => {
                // `f or Y O[0,b-1] f`, the first part only if `a = 0`, the second only if `b > 0`
                let earlier = to > 0 && {
                    let rest = self.add(Node::BoundedOnce(from.saturating_sub(1), to - 1, f));
                    before(rest)
                };
                if earlier || from > 0 {
                    only_if(earlier == value)
                } else {
                    vec![Way::here([(f, value)])]
                }
            }
        }
    }

    /// Returns the nodes whose value at the previous position an obligation may require.
    fn remembered(&mut self, node: NodeId) -> Rc<BTreeSet<NodeId>> {
        if let Some(known) = self.remembered.get(&node) {
            return Rc::clone(known);
        }
        let (asked, operands) = match self.nodes[node] {
            Node::True | Node::Letter(_) | Node::Last => (None, vec![]),
            Node::Not(f) | Node::Next(f) => (None, vec![f]),
            Node::And(f, g)
            | Node::Or(f, g)
            | Node::Until(f, g)
            | Node::BoundedUntil(_, _, f, g) => (None, vec![f, g]),
            Node::Previously(f) => (Some(f), vec![f]),
            Node::Since(f, g) => (Some(node), vec![f, g]),
            Node::BoundedOnce(from, to, f) if to > 0 => {
                let rest = self.add(Node::BoundedOnce(from.saturating_sub(1), to - 1, f));
                (Some(rest), vec![rest])
            }
            Node::BoundedOnce(_, _, f) => (None, vec![f]),
        };
        let mut all: BTreeSet<NodeId> = asked.into_iter().collect();
        for operand in operands {
            all.extend(self.remembered(operand).iter());
        }
        let all = Rc::new(all);
        self.remembered.insert(node, Rc::clone(&all));
        all
    }

    pub(super) fn add(&mut self, node: Node) -> NodeId {
        let new = self.nodes.len();
        let id = *self.ids.entry(node).or_insert(new);
        if id == new {
            self.nodes.push(node);
        }
        id
    }
}

impl Branch {
    fn value(&self, node: NodeId) -> Option<bool> {
        self.now.get(node).copied().flatten()
    }

    fn set(&mut self, node: NodeId, value: bool) {
        if self.now.len() <= node {
            self.now.resize(node + 1, None);
        }
        self.now[node] = Some(value);
    }

    /// Adds one branch for each of these ways; adds nothing without a way.
    fn split(mut self, mut ways: Vec<Way>, branches: &mut Vec<Branch>) {
        let Some(last) = ways.pop() else { return };
        for way in ways {
            let mut branch = self.clone();
            branch.take(way);
            branches.push(branch);
        }
        self.take(last);
        branches.push(self);
    }

    fn take(&mut self, way: Way) {
        self.todo.extend(way.here);
        self.next.extend(way.next);
    }
}

impl Way {
    fn here(todo: impl Into<Vec<(NodeId, bool)>>) -> Way {
        Way {
            here: todo.into(),
            next: None,
        }
    }
}

/// Returns [`TooLarge`] if a size exceeds [`LIMIT`].
pub(super) fn within(size: usize, what: &'static str) -> Result<(), TooLarge> {
    if size <= LIMIT {
        Ok(())
    } else {
        Err(TooLarge { what, limit: LIMIT })
    }
}
