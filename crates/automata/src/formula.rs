//! Formulas of linear temporal logic over finite traces, with past and with bounds, as a hash-consed arena.
//!
//! Equal formulas have equal [`FormulaId`]s within one [`Formulas`], and the parts of a formula always have smaller ids
//! than the formula itself. Every walk in this module is therefore a loop over ids, and no depth of nesting can exhaust the
//! stack.
//!
//! Constructors are total: a bound whose lower end is above its upper end is an empty window (`F` over it is false, `G`
//! true). They fold the Boolean constants only, because `F true` and its like are true at every position but not of the
//! empty trace.

use std::collections::BinaryHeap;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use serde::{Deserialize, Serialize};

/// A proposition, named by a number that the caller chooses. The order of the numbers is the order of the diagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Atom(pub u32);

/// A set of letters: those with these values. An atom that is not listed may have any value.
pub type Letter = Vec<(Atom, bool)>;

/// A set of traces of one length, position by position.
pub type Word = Vec<Letter>;

/// A formula within one [`Formulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct FormulaId(u32);

impl FormulaId {
    /// Returns the formula of this index.
    pub(super) fn at(index: usize) -> FormulaId {
        FormulaId(u32::try_from(index).unwrap_or(u32::MAX))
    }

    /// Returns the index of the formula in its arena; parts come before wholes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The window of a bounded operator, relative to the current position; both ends belong to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Interval {
    /// Counted in positions.
    Steps {
        /// Nearest position.
        lo: u32,
        /// Farthest position; `None` if absent.
        hi: Option<u32>,
    },
    /// Measured in time, in units of the caller's choice.
    Time {
        /// Least distance in time.
        lo: i128,
        /// Greatest distance in time; `None` if absent.
        hi: Option<i128>,
    },
}

impl Interval {
    /// The window of the unbounded operators.
    pub const ALL: Interval = Interval::Steps { lo: 0, hi: None };

    /// Returns the closed window `[lo, hi]` in steps.
    pub fn steps(lo: u32, hi: u32) -> Self {
        Interval::Steps { lo, hi: Some(hi) }
    }

    /// Returns the closed window `[lo, hi]` in time.
    pub fn time(lo: i128, hi: i128) -> Self {
        Interval::Time { lo, hi: Some(hi) }
    }

    /// Whether no position can lie in the window.
    pub(super) fn is_empty(self) -> bool {
        match self {
            Interval::Steps { lo, hi } => hi.is_some_and(|hi| hi < lo),
            Interval::Time { lo, hi } => hi.is_some_and(|hi| hi < lo.max(0)),
        }
    }
}

/// One node of a formula. Other operators are expressed with these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Node {
    /// True everywhere.
    True,
    /// False everywhere.
    False,
    /// The atom holds at this position.
    Atom(Atom),
    /// Negation.
    Not(FormulaId),
    /// Conjunction.
    And(FormulaId, FormulaId),
    /// Disjunction.
    Or(FormulaId, FormulaId),
    /// There is a next position and the operand holds there.
    Next(FormulaId),
    /// The operand holds at the next position if there is one.
    WeakNext(FormulaId),
    /// The operand holds at some position of the window.
    Eventually(Interval, FormulaId),
    /// The operand holds at every existing position of the window.
    Always(Interval, FormulaId),
    /// The second operand holds at some position of the window, and the first from now until just before it.
    Until(FormulaId, Interval, FormulaId),
    /// There is a previous position and the operand holds there.
    Previously(FormulaId),
    /// The operand holds at the previous position if there is one.
    WeakPreviously(FormulaId),
    /// The operand held at some position of the window, which looks back.
    Once(Interval, FormulaId),
    /// The operand held at every existing position of the window, which looks back.
    Historically(Interval, FormulaId),
    /// The second operand held at some position up to now, and the first at every later one up to now.
    Since(FormulaId, FormulaId),
}

impl Node {
    /// Returns the operands, first to last.
    pub fn operands(&self) -> impl Iterator<Item = FormulaId> + use<> {
        let (first, second) = match *self {
            Node::True | Node::False | Node::Atom(_) => (None, None),
            Node::Not(f)
            | Node::Next(f)
            | Node::WeakNext(f)
            | Node::Previously(f)
            | Node::WeakPreviously(f) => (Some(f), None),
            Node::Eventually(_, f)
            | Node::Always(_, f)
            | Node::Once(_, f)
            | Node::Historically(_, f) => (Some(f), None),
            Node::And(f, g) | Node::Or(f, g) | Node::Until(f, _, g) | Node::Since(f, g) => {
                (Some(f), Some(g))
            }
        };
        first.into_iter().chain(second)
    }

    /// Returns the same node about other atoms and operands.
    pub(super) fn map(
        self,
        atom: impl Fn(Atom) -> Atom,
        at: impl Fn(FormulaId) -> FormulaId,
    ) -> Node {
        match self {
            Node::True | Node::False => self,
            Node::Atom(a) => Node::Atom(atom(a)),
            Node::Not(f) => Node::Not(at(f)),
            Node::And(f, g) => Node::And(at(f), at(g)),
            Node::Or(f, g) => Node::Or(at(f), at(g)),
            Node::Next(f) => Node::Next(at(f)),
            Node::WeakNext(f) => Node::WeakNext(at(f)),
            Node::Eventually(window, f) => Node::Eventually(window, at(f)),
            Node::Always(window, f) => Node::Always(window, at(f)),
            Node::Until(f, window, g) => Node::Until(at(f), window, at(g)),
            Node::Previously(f) => Node::Previously(at(f)),
            Node::WeakPreviously(f) => Node::WeakPreviously(at(f)),
            Node::Once(window, f) => Node::Once(window, at(f)),
            Node::Historically(window, f) => Node::Historically(window, at(f)),
            Node::Since(f, g) => Node::Since(at(f), at(g)),
        }
    }

    /// Returns the window of the operator, if it has one.
    pub fn interval(&self) -> Option<Interval> {
        match *self {
            Node::Eventually(i, _) | Node::Always(i, _) | Node::Until(_, i, _) => Some(i),
            Node::Once(i, _) | Node::Historically(i, _) => Some(i),
            _ => None,
        }
    }
}

/// The arena that owns formulas.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval};
/// let mut formulas = Formulas::new();
/// let (call, answer) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let soon = formulas.eventually(Interval::steps(1, 50), answer);
/// let responds = formulas.implies(call, soon);
/// let always = formulas.always(Interval::ALL, responds);
/// assert_eq!(formulas.atoms(always), [Atom(0), Atom(1)]);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Formulas {
    nodes: IndexSet<Node, FxBuildHasher>,
}

impl Formulas {
    /// Returns an empty arena.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the node of a formula of this arena. Ids of another arena give an unrelated node, or `False`.
    pub fn node(&self, formula: FormulaId) -> Node {
        self.nodes
            .get_index(formula.index())
            .copied()
            .unwrap_or(Node::False)
    }

    /// Returns all nodes of the arena, in the order of their ids: operands come before what uses them.
    pub fn nodes(&self) -> impl ExactSizeIterator<Item = Node> {
        self.nodes.iter().copied()
    }

    /// Returns the number of different formulas in the arena.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing has been built yet.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the greatest bound in steps of a formula, of those whose window ends or begins late; 0 if it has none.
    pub fn greatest_bound(&self, formula: FormulaId) -> u32 {
        let bounds =
            self.parts(formula)
                .into_iter()
                .filter_map(|part| match self.node(part).interval() {
                    Some(Interval::Steps { lo, hi }) => Some(hi.unwrap_or(lo)),
                    _ => None,
                });
        bounds.max().unwrap_or(0)
    }

    /// Adds a node as it is, unless it is there already.
    fn add(&mut self, node: Node) -> FormulaId {
        FormulaId::at(self.nodes.insert_full(node).0)
    }

    /// `true`.
    pub fn verum(&mut self) -> FormulaId {
        self.add(Node::True)
    }

    /// `false`.
    pub fn falsum(&mut self) -> FormulaId {
        self.add(Node::False)
    }

    /// Returns the formula that the atom holds now.
    pub fn atom(&mut self, atom: Atom) -> FormulaId {
        self.add(Node::Atom(atom))
    }

    /// `!f`
    pub fn not(&mut self, f: FormulaId) -> FormulaId {
        match self.node(f) {
            Node::True => self.falsum(),
            Node::False => self.verum(),
            Node::Not(g) => g,
            _ => self.add(Node::Not(f)),
        }
    }

    /// `f & g`
    pub fn and(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        match (self.node(f), self.node(g)) {
            (Node::False, _) | (_, Node::True) => f,
            (Node::True, _) | (_, Node::False) => g,
            _ if f == g => f,
            _ => self.add(Node::And(f, g)),
        }
    }

    /// `f | g`
    pub fn or(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        match (self.node(f), self.node(g)) {
            (Node::True, _) | (_, Node::False) => f,
            (Node::False, _) | (_, Node::True) => g,
            _ if f == g => f,
            _ => self.add(Node::Or(f, g)),
        }
    }

    /// Returns the conjunction of all; `true` if there are none.
    pub fn all(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let unit = self.verum();
        parts
            .into_iter()
            .fold(unit, |whole, part| self.and(whole, part))
    }

    /// Returns the disjunction of all; `false` if there are none.
    pub fn any(&mut self, parts: impl IntoIterator<Item = FormulaId>) -> FormulaId {
        let unit = self.falsum();
        parts
            .into_iter()
            .fold(unit, |whole, part| self.or(whole, part))
    }

    /// `f -> g`
    pub fn implies(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let not_f = self.not(f);
        self.or(not_f, g)
    }

    /// `f <-> g`
    pub fn iff(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let forth = self.implies(f, g);
        let back = self.implies(g, f);
        self.and(forth, back)
    }

    /// `X f`, the strong next.
    pub fn next(&mut self, f: FormulaId) -> FormulaId {
        self.add(Node::Next(f))
    }

    /// `N f`, the weak next.
    pub fn weak_next(&mut self, f: FormulaId) -> FormulaId {
        self.add(Node::WeakNext(f))
    }

    /// `F[a,b] f`
    pub fn eventually(&mut self, window: Interval, f: FormulaId) -> FormulaId {
        self.add(Node::Eventually(window, f))
    }

    /// `G[a,b] f`
    pub fn always(&mut self, window: Interval, f: FormulaId) -> FormulaId {
        self.add(Node::Always(window, f))
    }

    /// `f U[a,b] g`: `g` in the window, `f` from now (not from `a`) until just before it.
    pub fn until(&mut self, f: FormulaId, window: Interval, g: FormulaId) -> FormulaId {
        self.add(Node::Until(f, window, g))
    }

    /// `f R g`, release: `!(!f U !g)`.
    pub fn release(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let (not_f, not_g) = (self.not(f), self.not(g));
        let until = self.until(not_f, Interval::ALL, not_g);
        self.not(until)
    }

    /// `f W g`, unless: `(f U g) | G f`, which is `g R (f | g)`.
    pub fn unless(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let either = self.or(f, g);
        self.release(g, either)
    }

    /// `f M g`, strong release: `g U (f & g)`.
    pub fn strong_release(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let both = self.and(f, g);
        self.until(g, Interval::ALL, both)
    }

    /// `Y f`, the strong previous.
    pub fn previously(&mut self, f: FormulaId) -> FormulaId {
        self.add(Node::Previously(f))
    }

    /// `Z f`, the weak previous.
    pub fn weak_previously(&mut self, f: FormulaId) -> FormulaId {
        self.add(Node::WeakPreviously(f))
    }

    /// `O[a,b] f`
    pub fn once(&mut self, window: Interval, f: FormulaId) -> FormulaId {
        self.add(Node::Once(window, f))
    }

    /// `H[a,b] f`
    pub fn historically(&mut self, window: Interval, f: FormulaId) -> FormulaId {
        self.add(Node::Historically(window, f))
    }

    /// `f S g`
    pub fn since(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        self.add(Node::Since(f, g))
    }

    /// `f B g`, the weak since: `(f S g) | H f`.
    pub fn back_to(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let since = self.since(f, g);
        let ever = self.historically(Interval::ALL, f);
        self.or(since, ever)
    }

    /// This position is the last one: `N false`.
    pub fn last(&mut self) -> FormulaId {
        let falsum = self.falsum();
        self.weak_next(falsum)
    }

    /// `G (f -> F g)`
    pub fn leads_to(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let answer = self.eventually(Interval::ALL, g);
        let step = self.implies(f, answer);
        self.always(Interval::ALL, step)
    }

    /// `f` precedes `g`: `!g W f`.
    pub fn precedes(&mut self, f: FormulaId, g: FormulaId) -> FormulaId {
        let not_g = self.not(g);
        self.unless(not_g, f)
    }

    /// Returns the same formula with other windows, such as steps in place of times.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Interval};
    /// let mut formulas = Formulas::new();
    /// let atom = formulas.atom(Atom(0));
    /// let timed = formulas.eventually(Interval::time(0, 2_000), atom);
    /// let counted = formulas.with_windows(timed, |_| Interval::steps(0, 2));
    /// assert_eq!(counted, formulas.eventually(Interval::steps(0, 2), atom));
    /// ```
    pub fn with_windows(
        &mut self,
        formula: FormulaId,
        mut change: impl FnMut(Interval) -> Interval,
    ) -> FormulaId {
        let mut made = vec![formula; formula.index() + 1];
        for part in self.parts(formula) {
            let at = |f: FormulaId| made[f.index()];
            made[part.index()] = match self.node(part) {
                node @ (Node::True | Node::False | Node::Atom(_)) => self.add(node),
                Node::Not(f) => self.not(at(f)),
                Node::And(f, g) => self.and(at(f), at(g)),
                Node::Or(f, g) => self.or(at(f), at(g)),
                Node::Next(f) => self.next(at(f)),
                Node::WeakNext(f) => self.weak_next(at(f)),
                Node::Eventually(window, f) => self.eventually(change(window), at(f)),
                Node::Always(window, f) => self.always(change(window), at(f)),
                Node::Until(f, window, g) => self.until(at(f), change(window), at(g)),
                Node::Previously(f) => self.previously(at(f)),
                Node::WeakPreviously(f) => self.weak_previously(at(f)),
                Node::Once(window, f) => self.once(change(window), at(f)),
                Node::Historically(window, f) => self.historically(change(window), at(f)),
                Node::Since(f, g) => self.since(at(f), at(g)),
            };
        }
        made[formula.index()]
    }

    /// Returns the same formulas, with the same ids, about other atoms. `atom` gives each atom another one.
    pub(super) fn renamed(&self, atom: impl Fn(Atom) -> Atom) -> Formulas {
        let nodes = self.nodes.iter().map(|node| node.map(&atom, |part| part));
        Formulas {
            nodes: nodes.collect(),
        }
    }

    /// Returns the formula and all its parts, parts first, each once. The cost depends on these parts only, not on the
    /// size of the arena.
    pub fn parts(&self, formula: FormulaId) -> Vec<FormulaId> {
        // Parts have smaller ids, so the greatest id that is left is not a part of another formula that is left.
        let mut todo = BinaryHeap::from([formula.0]);
        let mut parts = Vec::new();
        while let Some(index) = todo.pop() {
            let part = FormulaId(index);
            if parts.last() == Some(&part) {
                continue;
            }
            parts.push(part);
            todo.extend(self.node(part).operands().map(|part| part.0));
        }
        parts.reverse();
        parts
    }

    /// Returns the atoms of a formula, in their order.
    pub fn atoms(&self, formula: FormulaId) -> Vec<Atom> {
        let atom = |part: FormulaId| {
            if let Node::Atom(atom) = self.node(part) {
                Some(atom)
            } else {
                None
            }
        };
        let mut atoms: Vec<Atom> = self.parts(formula).into_iter().filter_map(atom).collect();
        atoms.sort_unstable();
        atoms
    }

    /// Whether some operator is bounded in time.
    pub fn is_timed(&self, formula: FormulaId) -> bool {
        let timed =
            |part: FormulaId| matches!(self.node(part).interval(), Some(Interval::Time { .. }));
        self.parts(formula).into_iter().any(timed)
    }
}
