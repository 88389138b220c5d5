//! Branching time: in which states does a formula of CTL, or of CTL*, hold?
//!
//! A *state formula* is built from atoms, connectives, and `E φ` and `A φ` over path formulas, whose atoms are again state
//! formulas. One temporal operator over state formulas (CTL) is a fixpoint on the graph; any other path formula (nested,
//! with past) is a product of the graph and its Büchi automaton.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use crate::graph::{Digraph, DigraphBuilder, NodeSet, backward, components};
use crate::omega::{self, Marks};
use crate::{Atom, CompileError, FormulaId, Formulas, Interval, LimitError, Node, Resource};

use super::Kripke;
use super::fixpoint::Fixpoints;
use super::ltl::{CheckError, Limits};

/// A state formula within one [`StateFormulas`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateFormulaId(u32);

/// One state formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum StateFormula {
    /// Holds everywhere.
    True,
    /// An atom of the structure.
    Atom(Atom),
    /// Negation.
    Not(StateFormulaId),
    /// Conjunction.
    And(StateFormulaId, StateFormulaId),
    /// Disjunction.
    Or(StateFormulaId, StateFormulaId),
    /// Some run from here satisfies the path formula.
    Exists(FormulaId),
    /// Every run from here satisfies the path formula.
    All(FormulaId),
}

/// State formulas, and the path formulas in them. Equal formulas have one id; operands come before the formulas that
/// use them.
#[derive(Clone, Debug, Default)]
pub struct StateFormulas {
    nodes: IndexSet<StateFormula, FxBuildHasher>,
    /// Path formulas; atom `n` of one is the state formula of number `n`.
    pub paths: Formulas,
}

impl StateFormulaId {
    /// Returns its index; parts come before wholes.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl StateFormulas {
    /// Returns an empty arena.
    pub fn new() -> StateFormulas {
        StateFormulas::default()
    }

    /// Returns the id of this formula, and adds the formula if it is new.
    pub fn add(&mut self, formula: StateFormula) -> StateFormulaId {
        StateFormulaId(self.nodes.insert_full(formula).0 as u32)
    }

    /// Returns the formula.
    pub fn get(&self, id: StateFormulaId) -> StateFormula {
        self.nodes[id.index()]
    }

    /// Returns a state formula as a path formula: it holds at the first position.
    pub fn path(&mut self, id: StateFormulaId) -> FormulaId {
        self.paths.atom(Atom(id.0))
    }

    /// Returns the state formula that an atom of a path formula represents.
    pub fn of_atom(&self, atom: Atom) -> StateFormulaId {
        StateFormulaId(atom.0)
    }

    /// Returns the number of state formulas.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// Returns the state formulas that a formula is made of, itself last, each once and after its parts.
    fn parts(&self, root: StateFormulaId) -> Vec<StateFormulaId> {
        let mut needed = vec![false; root.index() + 1];
        let mut todo = vec![root];
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut needed[id.index()], true) {
                continue;
            }
            match self.get(id) {
                StateFormula::True | StateFormula::Atom(_) => {}
                StateFormula::Not(a) => todo.push(a),
                StateFormula::And(a, b) | StateFormula::Or(a, b) => todo.extend([a, b]),
                StateFormula::Exists(path) | StateFormula::All(path) => {
                    todo.extend(
                        self.paths
                            .atoms(path)
                            .into_iter()
                            .map(|atom| self.of_atom(atom)),
                    );
                }
            }
        }
        let ids = (0..=root.0).map(StateFormulaId);
        ids.filter(|id| needed[id.index()]).collect()
    }
}

/// The states in which the parts of a formula hold.
#[derive(Clone, Debug)]
pub struct Satisfaction {
    sets: Vec<Option<NodeSet>>,
    /// The states from which a fair run begins.
    pub fair: NodeSet,
}

impl Satisfaction {
    /// Returns the states in which a part of the formula holds.
    pub fn of(&self, id: StateFormulaId) -> Option<&NodeSet> {
        self.sets.get(id.index()).and_then(Option::as_ref)
    }

    pub(super) fn by_number(&self, number: u32) -> Option<&NodeSet> {
        self.of(StateFormulaId(number))
    }

    /// Whether a part of the formula holds in a state.
    pub fn holds(&self, id: StateFormulaId, state: u32) -> bool {
        self.of(id).is_some_and(|set| set.contains(state as usize))
    }
}

/// Returns the states in which a formula and its parts hold, reachable or not. `E` and `A` quantify over the runs on which each
/// atom of `fair` recurs.
///
/// # Limits
/// CTL: linear in the formula times the states and edges; bounds cost one round of the graph per step. Other path formulas:
/// as [`ltl::check`](super::ltl::check).
///
/// # Source
/// E. Clarke, A. Emerson, A. Sistla, "Automatic verification of finite-state concurrent systems using temporal logic
/// specifications", TOPLAS 8(2), 1986; CTL*: A. Emerson, C.-L. Lei, "Modalities for model checking", 1987.
///
/// # Errors
/// [`CheckError`], for path formulas that are more than a single operator.
pub fn evaluate(
    kripke: &Kripke,
    formulas: &mut StateFormulas,
    root: StateFormulaId,
    fair: &[Atom],
    limits: &Limits,
) -> Result<Satisfaction, CheckError<std::convert::Infallible>> {
    let constraints: Vec<NodeSet> = fair.iter().map(|atom| kripke.label(*atom)).collect();
    let fixpoints = Fixpoints::new(kripke, constraints.clone());
    let mut sets: Vec<Option<NodeSet>> = vec![None; formulas.len()];
    for id in formulas.parts(root) {
        let none = kripke.graph().none();
        let of = |id: StateFormulaId| sets[id.index()].as_ref().unwrap_or(&none);
        let set = match formulas.get(id) {
            StateFormula::True => kripke.graph().all(),
            StateFormula::Atom(atom) => kripke.label(atom),
            StateFormula::Not(a) => complement(of(a)),
            StateFormula::And(a, b) => {
                let mut both = of(a).clone();
                both.intersect_with(of(b));
                both
            }
            StateFormula::Or(a, b) => {
                let mut either = of(a).clone();
                either.union_with(of(b));
                either
            }
            StateFormula::Exists(path) => exists(
                kripke,
                &fixpoints,
                &constraints,
                formulas,
                &sets,
                path,
                limits,
            )?,
            StateFormula::All(path) => {
                let not = formulas.paths.not(path);
                complement(&exists(
                    kripke,
                    &fixpoints,
                    &constraints,
                    formulas,
                    &sets,
                    not,
                    limits,
                )?)
            }
        };
        sets[id.index()] = Some(set);
    }
    Ok(Satisfaction {
        sets,
        fair: fixpoints.fair().clone(),
    })
}

pub(super) fn complement(set: &NodeSet) -> NodeSet {
    let mut other = set.clone();
    other.toggle_range(..);
    other
}

/// A path formula that consists of one temporal operator over state formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Simple {
    /// No temporal operator.
    Now(FormulaId),
    Next(FormulaId),
    Until(FormulaId, Interval, FormulaId),
    /// `F[…] p`
    Eventually(Interval, FormulaId),
    Globally(Interval, FormulaId),
    /// `p W q`, which is `!(!q U (!p & !q))`.
    Unless(FormulaId, FormulaId),
}

/// Reads a path formula as one operator; `None` if it is more complex.
pub(super) fn simple(paths: &mut Formulas, path: FormulaId) -> Option<Simple> {
    if is_state(paths, path) {
        return Some(Simple::Now(path));
    }
    let (node, negated) = match paths.node(path) {
        Node::Not(inner) => (paths.node(inner), true),
        node => (node, false),
    };
    if !node.operands().all(|part| is_state(paths, part)) {
        return None;
    }
    let mut flip = |part: FormulaId| if negated { paths.not(part) } else { part };
    match node {
        // On infinite runs the strong and the weak next are equal.
        Node::Next(p) | Node::WeakNext(p) => Some(Simple::Next(flip(p))),
        Node::Eventually(window, p) if negated => Some(Simple::Globally(window, flip(p))),
        Node::Eventually(window, p) => Some(Simple::Eventually(window, p)),
        Node::Always(window, p) if negated => Some(Simple::Eventually(window, flip(p))),
        Node::Always(window, p) => Some(Simple::Globally(window, p)),
        Node::Until(p, Interval::ALL, q) if negated => {
            let (not_p, not_q) = (flip(p), flip(q));
            let neither = paths.and(not_p, not_q);
            Some(Simple::Unless(not_q, neither))
        }
        Node::Until(p, window, q) if !negated => Some(Simple::Until(p, window, q)),
        _ => None,
    }
}

fn is_state(paths: &Formulas, path: FormulaId) -> bool {
    paths.parts(path).into_iter().all(|part| {
        matches!(
            paths.node(part),
            Node::True | Node::False | Node::Atom(_) | Node::Not(_) | Node::And(..) | Node::Or(..)
        )
    })
}

/// Returns the states in which a path formula without temporal operators holds.
pub(super) fn states_of(
    kripke: &Kripke,
    paths: &Formulas,
    sets: &[Option<NodeSet>],
    path: FormulaId,
) -> NodeSet {
    let parts = paths.parts(path);
    let mut made: Vec<NodeSet> = Vec::with_capacity(parts.len());
    for part in &parts {
        let of = |id: FormulaId| parts.binary_search(&id).ok().map(|at| made[at].clone());
        let none = || kripke.graph().none();
        made.push(match paths.node(*part) {
            Node::True => kripke.graph().all(),
            Node::Atom(atom) => sets
                .get(atom.0 as usize)
                .and_then(Clone::clone)
                .unwrap_or_else(none),
            Node::Not(a) => of(a).map_or_else(none, |set| complement(&set)),
            Node::And(a, b) => {
                let mut both = of(a).unwrap_or_else(none);
                both.intersect_with(&of(b).unwrap_or_else(none));
                both
            }
            Node::Or(a, b) => {
                let mut either = of(a).unwrap_or_else(none);
                either.union_with(&of(b).unwrap_or_else(none));
                either
            }
            _ => none(),
        });
    }
    made.pop().unwrap_or_else(|| kripke.graph().none())
}

/// `E path`
fn exists(
    kripke: &Kripke,
    fixpoints: &Fixpoints<'_>,
    constraints: &[NodeSet],
    formulas: &mut StateFormulas,
    sets: &[Option<NodeSet>],
    path: FormulaId,
    limits: &Limits,
) -> Result<NodeSet, CheckError<std::convert::Infallible>> {
    let simple = simple(&mut formulas.paths, path);
    let paths = &formulas.paths;
    let of = |path: FormulaId| states_of(kripke, paths, sets, path);
    let all = || kripke.graph().all();
    Ok(match simple {
        Some(Simple::Now(p)) => fixpoints.now(&of(p)),
        Some(Simple::Next(p)) => fixpoints.next(&of(p)),
        Some(Simple::Until(p, Interval::ALL, q)) => fixpoints.until(&of(p), &of(q)),
        Some(Simple::Eventually(Interval::ALL, p)) => fixpoints.until(&all(), &of(p)),
        Some(Simple::Globally(Interval::ALL, p)) => fixpoints.globally(&of(p)),
        Some(Simple::Unless(p, q)) => {
            let mut found = fixpoints.until(&of(p), &of(q));
            found.union_with(&fixpoints.globally(&of(p)));
            found
        }
        Some(Simple::Until(p, Interval::Steps { lo, hi: Some(hi) }, q)) if lo <= hi => {
            fixpoints.until_within(&of(p), lo, hi, &of(q))
        }
        Some(Simple::Eventually(Interval::Steps { lo, hi: Some(hi) }, p)) if lo <= hi => {
            fixpoints.until_within(&all(), lo, hi, &of(p))
        }
        Some(Simple::Globally(Interval::Steps { lo, hi: Some(hi) }, p)) if lo <= hi => {
            fixpoints.globally_within(&of(p), lo, hi)
        }
        _ => by_product(kripke, constraints, formulas, sets, path, limits)?,
    })
}

/// `E path` for any path formula: the states from which the product with its automaton reaches an accepting component.
fn by_product(
    kripke: &Kripke,
    constraints: &[NodeSet],
    formulas: &StateFormulas,
    sets: &[Option<NodeSet>],
    path: FormulaId,
    limits: &Limits,
) -> Result<NodeSet, CheckError<std::convert::Infallible>> {
    let buchi =
        omega::translate(&formulas.paths, path, &limits.automata).map_err(CheckError::Automaton)?;
    let n_marks = buchi.n_marks() as usize + constraints.len();
    if n_marks > Marks::MAX as usize {
        let error = LimitError {
            resource: Resource::Marks,
            limit: u64::from(Marks::MAX),
            demand: n_marks as u64,
        };
        return Err(CheckError::Automaton(CompileError::Limit(error)));
    }
    let (n, q) = (kripke.len(), buchi.len());
    if n.saturating_mul(q) > limits.pairs {
        return Err(CheckError::Pairs(limits.pairs));
    }
    let none = kripke.graph().none();
    let holds = |state: u32, atom: Atom| {
        let set = sets
            .get(atom.0 as usize)
            .and_then(Option::as_ref)
            .unwrap_or(&none);
        set.contains(state as usize)
    };
    // The pair `(state, at)` is node `state * q + at`.
    let mut made = DigraphBuilder::with_capacity(n * q, kripke.graph().edge_count());
    let mut marks: Vec<Marks> = Vec::new();
    for state in 0..n as u32 {
        let fairness: Marks = constraints
            .iter()
            .zip(buchi.n_marks()..)
            .filter(|(set, _)| set.contains(state as usize))
            .map(|(_, mark)| mark)
            .collect();
        for at in buchi.states() {
            for (to, carried) in buchi.successors(at, |atom| holds(state, atom)) {
                for next in kripke.graph().successors(state) {
                    made.edge(next * q as u32 + to.index() as u32);
                    marks.push(carried.union(fairness));
                }
            }
            made.end_row();
        }
    }
    let product = made.finish().map_err(|_| CheckError::Pairs(limits.pairs))?;
    let accepting = accepting(&product, &marks, Marks::first(n_marks as u32));
    let found = backward(&product.reversed(), &accepting, None);
    let start = buchi.initial().index();
    Ok(kripke
        .graph()
        .set((0..n as u32).filter(|state| found.contains(*state as usize * q + start))))
}

/// Returns the nodes of components whose edges carry every mark.
fn accepting(product: &Digraph, marks: &[Marks], every: Marks) -> NodeSet {
    let found = components(product, None);
    let mut accepting = product.none();
    for component in 0..found.len() {
        let mut inside = Marks::NONE;
        let mut cyclic = false;
        for node in found.members(component) {
            for edge in product.edges(*node) {
                if found.same(product.target(edge), *node) {
                    inside = inside.union(marks[edge]);
                    cyclic = true;
                }
            }
        }
        if cyclic && every.is_subset(inside) {
            accepting.extend(found.members(component).iter().map(|node| *node as usize));
        }
    }
    accepting
}
