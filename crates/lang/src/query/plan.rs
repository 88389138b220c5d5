//! Evaluation plans of claims: trees of operators like the query plans of a database, with sizes and costs.
//!
//! | operator | what it does |
//! |---|---|
//! | scan | reads the counts of a model, or the file of a chain |
//! | complete | adds every declared transition, with what smoothing gives it |
//! | product | runs monitors of rules, or the automaton of a formula, along |
//! | label | finds the states in which a condition holds |
//! | prune | finds by the graph alone where the answer is 0 or 1, or that the paths suffice |
//! | factor | eliminates the cycles among states whose number is open; equal cycles once, whichever claims are solved on them |
//! | solve | computes the number of every state |
//! | begin | averages over the first steps, where the start is no state of its own |
//! | compare | holds the number against a threshold |
//! | lookup | keeps the numbers as a table, one index a step of a live trace |
//!
//! Claims are planned together, and equal operators are one node: a [`Session`](super::Session) also computes results that
//! several claims need only once.

use indexmap::IndexSet;
use rustc_hash::{FxHashMap, FxHashSet};
use serde_json::{Value as Json, json};
use smol_str::SmolStr;

use crate::hir::{
    Ask, Binary, Bound, Branching, Claim, ClaimFormula, Expr, Formula, ModelSource, RewardKind,
    Spec, Subject, Unary, print,
};
use crate::ids::{BranchingId, ExprId, FormulaId, ModelId, PropertyId};
use guard_markov::solve::SMALL;

/// The size of a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Size {
    /// The number of states.
    pub states: u64,
    /// The number of transitions.
    pub transitions: u64,
    /// The number of states on cycles of more than one state, which determine the cost of solving.
    pub cyclic: u64,
    /// The size of the largest strongly connected component.
    pub largest: u64,
    /// Whether the size was counted; otherwise it is an upper bound for all chains of the spec.
    pub counted: bool,
}

/// The sizes of the chains in a plan.
pub trait Sizes {
    /// Returns the size of the chain of a model in product with these monitors, or `None` if it is unknown.
    fn chain(&self, model: ModelId, monitors: &[PropertyId]) -> Option<Size>;
    /// Returns the number of states of the monitor of a property.
    fn monitor(&self, property: PropertyId) -> Option<u64>;
}

/// An operator; its operands are indices of nodes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// Its name.
    pub operator: &'static str,
    /// The claim or chain that the operator is applied to.
    pub about: String,
    /// The size of its result.
    pub size: Option<Size>,
    /// The approximate number of multiplications; `None` if the size is unknown or there are none.
    pub cost: Option<u64>,
    /// Operands.
    pub inputs: Vec<usize>,
}

/// Plans of several claims that share nodes.
#[derive(Clone, Debug, Default)]
pub struct Plans {
    nodes: IndexSet<Node>,
    /// For each claim: its name and its root.
    roots: Vec<(SmolStr, usize)>,
}

impl Plans {
    /// Plans claims on models together; claims on systems are left out.
    pub fn new(spec: &Spec, sizes: &dyn Sizes) -> Plans {
        let mut planner = Planner {
            spec,
            sizes,
            plans: Plans::default(),
            states: FxHashMap::default(),
        };
        for claim in &spec.claims {
            if let Subject::Model(model) = claim.on {
                let root = planner.claim(claim, model);
                planner.plans.roots.push((claim.name.clone(), root));
            }
        }
        planner.plans
    }

    /// Returns the names of the claims.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.roots.iter().map(|(name, _)| name.as_str())
    }

    fn root(&self, name: &str) -> Option<usize> {
        let found = self.roots.iter().find(|(claim, _)| claim == name);
        found.map(|(_, root)| *root)
    }

    /// Returns the other claims that use a node.
    fn users(&self, node: usize, but: &str) -> Vec<&str> {
        let uses = |root: usize| {
            let mut todo = vec![root];
            let mut seen = FxHashSet::default();
            while let Some(at) = todo.pop() {
                if at == node {
                    return true;
                }
                let inputs = self.nodes[at].inputs.iter().copied();
                todo.extend(inputs.filter(|input| seen.insert(*input)));
            }
            false
        };
        self.roots
            .iter()
            .filter(|(name, root)| name != but && uses(*root))
            .map(|(name, _)| name.as_str())
            .collect()
    }

    /// Returns the plan of a claim as a tree in JSON. A shared node lists the other claims that use it.
    pub fn to_json(&self, name: &str) -> Option<Json> {
        Some(self.node_json(self.root(name)?, name))
    }

    fn node_json(&self, at: usize, name: &str) -> Json {
        let node = &self.nodes[at];
        let inputs: Vec<Json> = node
            .inputs
            .iter()
            .map(|input| self.node_json(*input, name))
            .collect();
        let mut object = json!({"id": at, "operator": node.operator, "about": node.about});
        if let Some(size) = node.size {
            object["states"] = json!(size.states);
            object["transitions"] = json!(size.transitions);
            object["largest_component"] = json!(size.largest);
            object["counted"] = json!(size.counted);
        }
        if let Some(cost) = node.cost {
            object["cost"] = json!(cost);
        }
        let shared = self.users(at, name);
        if !shared.is_empty() {
            object["shared_with"] = json!(shared);
        }
        object["inputs"] = Json::Array(inputs);
        object
    }

    /// Returns the plan of a claim as lines of text, the root first.
    pub fn lines(&self, name: &str) -> Option<Vec<String>> {
        let mut lines = Vec::new();
        let mut written = vec![false; self.nodes.len()];
        self.write(self.root(name)?, name, ("", ""), &mut written, &mut lines);
        Some(lines)
    }

    fn write(
        &self,
        at: usize,
        name: &str,
        (first, rest): (&str, &str),
        written: &mut [bool],
        lines: &mut Vec<String>,
    ) {
        let node = &self.nodes[at];
        let mut line = format!("{first}{:<8} {}", node.operator, node.about);
        if std::mem::replace(&mut written[at], true) {
            lines.push(format!("{line}  (as above)"));
            return;
        }
        if let Some(size) = node.size {
            let at_most = if size.counted { "" } else { "at most " };
            line.push_str(&format!(
                "  [{at_most}{} states, {} transitions",
                size.states, size.transitions
            ));
            if size.largest > 1 {
                line.push_str(&format!(", largest component {}", size.largest));
            }
            line.push(']');
        }
        if let Some(cost) = node.cost {
            line.push_str(&format!("  cost {cost}"));
        }
        match self.users(at, name).as_slice() {
            [] => {}
            [one] => line.push_str(&format!("  (shared with {one})")),
            several => line.push_str(&format!("  (shared with {} others)", several.len())),
        }
        lines.push(line);
        for (number, input) in node.inputs.iter().enumerate() {
            let last = number + 1 == node.inputs.len();
            let (branch, below) = if last {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let (first, rest) = (format!("{rest}{branch}"), format!("{rest}{below}"));
            self.write(*input, name, (&first, &rest), written, lines);
        }
    }
}

struct Planner<'a> {
    spec: &'a Spec,
    sizes: &'a dyn Sizes,
    plans: Plans,
    /// The nodes of conditions with operators, by the node of their chain.
    states: FxHashMap<(usize, ExprId), usize>,
}

/// The chain on which a claim is evaluated.
#[derive(Clone)]
struct On {
    node: usize,
    size: Option<Size>,
    /// Whether runs begin before their first step, as on learned chains.
    begins: bool,
}

impl On {
    /// Returns the cost of this number of steps of the whole chain.
    fn steps(&self, count: u32) -> Option<u64> {
        let size = self.size?;
        Some(size.transitions.saturating_mul(u64::from(count)))
    }
}

/// The approximate number of sweeps of an iteration, which is used if elimination would cost more.
const SWEEPS: u64 = 60;

impl Planner<'_> {
    fn add(
        &mut self,
        operator: &'static str,
        about: impl Into<String>,
        (size, cost): (Option<Size>, Option<u64>),
        inputs: Vec<usize>,
    ) -> usize {
        let node = Node {
            operator,
            about: about.into(),
            size,
            cost,
            inputs,
        };
        self.plans.nodes.insert_full(node).0
    }

    fn claim(&mut self, claim: &Claim, model: ModelId) -> usize {
        let on = self.chain(claim, model);
        let root = match claim.formula {
            ClaimFormula::Path(path) => self.paths(&on, path, true),
            ClaimFormula::State(state) => self.state(&on, state),
        };
        let numbers = matches!(claim.formula, ClaimFormula::State(state)
            if matches!(self.spec.exprs.get(state), Expr::Branching(id) if self.spec.branchings.get(*id).ask().is_some()));
        if claim.kind != crate::hir::ClaimKind::Query || !numbers {
            return root;
        }
        let entries = on.size.map(|size| size.states);
        let about = match entries {
            Some(entries) => format!("a table of {entries} numbers"),
            None => "a table with one number per state".to_owned(),
        };
        self.add("lookup", about, (None, None), vec![root])
    }

    /// Plans the chain with the monitors that the claim needs.
    fn chain(&mut self, claim: &Claim, model: ModelId) -> On {
        let spec = self.spec;
        let of = spec.model(model);
        let (about, begins, completes) = match &of.source {
            ModelSource::Learn(learn) => (
                format!(
                    "counts of `{}` by `{}`",
                    of.name,
                    spec.abstraction(learn.abstraction).name
                ),
                true,
                (learn.smoothing > 0.0).then_some(learn.smoothing),
            ),
            ModelSource::Load(path, _) => {
                (format!("counts of `{}` from {path}", of.name), true, None)
            }
            ModelSource::Import(path) => (
                format!("the chain of `{}` from {path}", of.name),
                false,
                None,
            ),
        };
        let plain = self.sizes.chain(model, &[]);
        let cost = plain.map(|size| size.transitions);
        let mut node = self.add(
            "scan",
            about,
            (plain.filter(|_| completes.is_none()), cost),
            Vec::new(),
        );
        if let Some(smoothing) = completes {
            let about = format!("every declared transition, smoothing {smoothing}");
            node = self.add("complete", about, (plain, cost), vec![node]);
        }
        let decided = |property| {
            of.abstraction()
                .is_some_and(|id| spec.abstraction(id).monitor_of(property).is_some())
        };
        let (_, monitors) = super::asked(spec, [claim], &decided);
        let mut size = plain;
        if !monitors.is_empty() {
            size = self.sizes.chain(model, &monitors);
            let each: Vec<String> = monitors
                .iter()
                .map(|property| {
                    let name = &spec.property(*property).name;
                    match self.sizes.monitor(*property) {
                        Some(states) => format!("the monitor of `{name}` ({states} states)"),
                        None => format!("the monitor of `{name}`"),
                    }
                })
                .collect();
            let cost = size.map(|size| size.transitions);
            node = self.add("product", each.join(" and "), (size, cost), vec![node]);
        }
        On { node, size, begins }
    }

    /// Plans a state formula: its numbers, or the states in which it holds.
    fn state(&mut self, on: &On, id: ExprId) -> usize {
        let spec = self.spec;
        match spec.exprs.get(id) {
            Expr::Branching(branching) => self.branching(on, *branching),
            Expr::Not(_) | Expr::And(..) | Expr::Or(..) | Expr::Implies(..) | Expr::Iff(..)
                if has_operator(spec, id) =>
            {
                // Conditions share parts.
                if let Some(known) = self.states.get(&(on.node, id)) {
                    return *known;
                }
                let about = match spec.exprs.get(id) {
                    Expr::Not(_) => "the states where the input does not hold",
                    Expr::And(..) => "the states where all inputs hold",
                    Expr::Or(..) => "the states where an input holds",
                    Expr::Implies(..) => {
                        "the states where the first input does not hold or the second does"
                    }
                    _ => "the states where both inputs hold or neither",
                };
                let operands = spec.exprs.operands(id);
                let inputs = operands.into_iter().map(|of| self.state(on, of)).collect();
                let node = self.add("label", about, (None, None), inputs);
                self.states.insert((on.node, id), node);
                node
            }
            _ => self.condition(on, id),
        }
    }

    fn condition(&mut self, on: &On, id: ExprId) -> usize {
        let text = self.text(id);
        let cost = on.size.map(|size| size.states);
        self.add(
            "label",
            format!("where {text}"),
            (None, cost),
            vec![on.node],
        )
    }

    /// Returns a condition as written in the spec, if its text is kept.
    fn text(&self, id: ExprId) -> String {
        let spec = self.spec;
        let mut letters = spec.formulas.atoms().iter();
        let found = letters.find(|letter| letter.expr == id);
        match (found, spec.exprs.get(id)) {
            (Some(letter), _) => format!("`{}`", letter.text),
            (None, Expr::Label(name)) => format!("`\"{name}\"`"),
            (None, Expr::Violated(property)) => {
                format!("`violated({})`", spec.property(*property).name)
            }
            _ => "a condition holds".to_owned(),
        }
    }

    fn branching(&mut self, on: &On, id: BranchingId) -> usize {
        let spec = self.spec;
        let root = match spec.branchings.get(id).clone() {
            Branching::Path { all, path } => return self.paths(on, path, all),
            Branching::Probability { path, given, .. } => {
                let first = self.probability(on, path);
                match given {
                    None => first,
                    Some(given) => {
                        let second = self.probability(on, given);
                        let about = "quotient of both probabilities";
                        self.add("solve", about, (None, None), vec![first, second])
                    }
                }
            }
            Branching::Steady { state, .. } => {
                let of = self.state(on, state);
                let about = "long-run fraction of time: renewal in bottom components";
                self.system(on, about, vec![on.node, of])
            }
            Branching::Reward { name, kind, .. } => self.reward(on, name.as_deref(), &kind),
        };
        let begun = if on.begins {
            self.add(
                "begin",
                "weighted by the first steps",
                (None, None),
                vec![root],
            )
        } else {
            root
        };
        match spec.branchings.get(id).ask() {
            Some(Ask::Compare(compare, bound)) => {
                let about = format!("{} {bound}", compare.sign());
                self.add("compare", about, (None, None), vec![begun])
            }
            _ => begun,
        }
    }

    fn reward(&mut self, on: &On, name: Option<&str>, kind: &RewardKind) -> usize {
        let of = match name {
            Some(name) => format!("`{name}`"),
            None => "the reward".to_owned(),
        };
        match kind {
            RewardKind::Reach(state) => {
                let target = self.state(on, *state);
                let pruned = self.prune(
                    on,
                    "states that reach it with probability 1; infinite elsewhere",
                    vec![target],
                );
                self.system(
                    on,
                    format!("{of} until reaching it, by component"),
                    vec![pruned],
                )
            }
            RewardKind::Cumulative(None) => {
                self.system(on, format!("total {of}, by component"), vec![on.node])
            }
            RewardKind::Cumulative(Some(count)) => {
                let about = format!("{of} in {count} steps, by iteration");
                self.add("solve", about, (None, on.steps(*count)), vec![on.node])
            }
            RewardKind::Instant(count) => {
                let about = format!("{of} at step {count}, by iteration");
                self.add("solve", about, (None, on.steps(*count)), vec![on.node])
            }
            RewardKind::Steady => {
                let about = format!("{of} per step in the long run: renewal in bottom components");
                self.system(on, about, vec![on.node])
            }
        }
    }

    /// Plans a system of equations over all states, solved component by component.
    fn system(&mut self, on: &On, about: impl Into<String>, mut inputs: Vec<usize>) -> usize {
        let cost = match on.size.map(method) {
            None => None,
            Some(Solver::Iterate(cost)) => Some(cost),
            Some(Solver::Eliminate { once, each }) => {
                let about = "cycles removed by elimination";
                inputs.push(self.add("factor", about, (None, Some(once)), vec![on.node]));
                Some(each)
            }
        };
        self.add("solve", about, (None, cost), inputs)
    }

    fn prune(&mut self, on: &On, about: &str, mut inputs: Vec<usize>) -> usize {
        inputs.insert(0, on.node);
        let cost = on.size.map(|size| size.transitions);
        self.add("prune", about, (None, cost), inputs)
    }

    /// Plans the labels of a path formula: the states in which each condition holds.
    fn labels(&mut self, on: &On, path: FormulaId) -> Vec<usize> {
        let spec = self.spec;
        let letters = spec.formulas.atoms_of(path).into_iter();
        letters
            .map(|letter| self.state(on, spec.atom(letter).expr))
            .collect()
    }

    /// Plans the probability of a path formula.
    fn probability(&mut self, on: &On, path: FormulaId) -> usize {
        let spec = self.spec;
        let text = print::formula(&spec.formulas, path);
        let labels = self.labels(on, path);
        match shape(spec, path) {
            Shape::Bounded(count) => {
                let pruned = self.prune(on, "states with probability 0, by graph analysis", labels);
                let about = format!("P[{text}], by iteration");
                self.add("solve", about, (None, on.steps(count)), vec![pruned])
            }
            Shape::Next => {
                let mut inputs = labels;
                inputs.insert(0, on.node);
                self.add(
                    "solve",
                    format!("P[{text}], one step"),
                    (None, on.steps(1)),
                    inputs,
                )
            }
            Shape::Unbounded => {
                let pruned = self.prune(
                    on,
                    "states with probability 0 or 1, by graph analysis",
                    labels,
                );
                self.system(on, format!("P[{text}], by component"), vec![pruned])
            }
            Shape::Automaton => {
                let mut inputs = labels;
                inputs.insert(0, on.node);
                let about = format!("deterministic automaton of {text}");
                let product = self.add("product", about, (None, None), inputs);
                let about = "accepting bottom components and the probability of reaching them";
                self.add("solve", about, (None, None), vec![product])
            }
        }
    }

    /// Plans a formula of branching time, which is decided on the graph.
    fn paths(&mut self, on: &On, path: FormulaId, all: bool) -> usize {
        let spec = self.spec;
        let labels = self.labels(on, path);
        let quantifier = if all { "A" } else { "E" };
        let text = print::formula(&spec.formulas, path);
        let about = format!(
            "{quantifier}[{text}] by graph analysis, on declared and on observed transitions"
        );
        self.prune(on, &about, labels)
    }
}

/// The computation that a path formula needs.
enum Shape {
    Next,
    Bounded(u32),
    Unbounded,
    Automaton,
}

fn shape(spec: &Spec, path: FormulaId) -> Shape {
    let plain = |id: &FormulaId| is_state(spec, *id);
    match spec.formulas.get(path) {
        Formula::Not(of) => shape(spec, *of),
        Formula::Unary(Unary::Next | Unary::WeakNext, _, of) if plain(of) => Shape::Next,
        Formula::Unary(Unary::Eventually | Unary::Always, bound, of) if plain(of) => {
            bounded(*bound)
        }
        Formula::Binary(Binary::Until | Binary::Unless | Binary::Release, bound, a, b)
            if plain(a) && plain(b) =>
        {
            bounded(*bound)
        }
        _ if plain(&path) => Shape::Next,
        _ => Shape::Automaton,
    }
}

fn bounded(bound: Option<Bound>) -> Shape {
    match bound {
        Some(Bound::Steps(_, last)) => Shape::Bounded(last),
        _ => Shape::Unbounded,
    }
}

fn is_state(spec: &Spec, id: FormulaId) -> bool {
    match spec.formulas.get(id) {
        Formula::True | Formula::False | Formula::Atom(_) => true,
        Formula::Not(a) => is_state(spec, *a),
        Formula::And(a, b) | Formula::Or(a, b) | Formula::Implies(a, b) | Formula::Iff(a, b) => {
            is_state(spec, *a) && is_state(spec, *b)
        }
        _ => false,
    }
}

/// The method that solves the components of a chain, with its cost.
enum Solver {
    /// The cyclic part is eliminated once; each solution then processes every transition and the eliminated rows once.
    Eliminate { once: u64, each: u64 },
    /// Each solution needs this many sweeps; one if there are no cycles.
    Iterate(u64),
}

fn method(size: Size) -> Solver {
    if size.cyclic == 0 {
        return Solver::Iterate(size.transitions);
    }
    let row = size.largest;
    let once = size.cyclic.saturating_mul(row.saturating_mul(row)) / 3;
    let swept = size.transitions.saturating_mul(SWEEPS);
    if row > SMALL as u64 && swept < once {
        return Solver::Iterate(size.transitions.saturating_add(swept));
    }
    let each = size
        .transitions
        .saturating_add(size.cyclic.saturating_mul(row));
    Solver::Eliminate { once, each }
}

/// Whether a condition contains an operator of branching time or probability.
pub(super) fn has_operator(spec: &Spec, id: ExprId) -> bool {
    let is_operator = |part: &Expr| matches!(part, Expr::Branching(_));
    spec.exprs.any_part(id, is_operator)
}
