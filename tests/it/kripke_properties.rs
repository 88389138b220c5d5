//! Model checking of random structures against simple evaluators.
use guard_automata::graph::Digraph;
use guard_automata::kripke::ctl::{self, StateFormula, StateFormulaId, StateFormulas};
use guard_automata::kripke::ltl::{self, Limits};
use guard_automata::kripke::{Kripke, Run, evidence, prefix};
use guard_automata::{Atom, FormulaId, Formulas, Interval, Node, omega};
use proptest::prelude::*;

const ATOMS: u32 = 2;

/// A structure of up to six states, each with a successor.
fn structure() -> impl Strategy<Value = Kripke> {
    (1usize..=6).prop_flat_map(|n| {
        let rows = prop::collection::vec(prop::collection::btree_set(0..n as u32, 1..=3.min(n)), n);
        let labels = prop::collection::vec(prop::collection::vec(any::<bool>(), n), ATOMS as usize);
        let initial = prop::collection::btree_set(0..n as u32, 1..=2.min(n));
        (rows, labels, initial).prop_map(|(rows, labels, initial)| {
            let edges: Vec<(u32, u32)> = rows
                .iter()
                .enumerate()
                .flat_map(|(from, row)| row.iter().map(move |to| (from as u32, *to)))
                .collect();
            let graph = Digraph::from_edges(rows.len(), &edges).unwrap();
            let sets = labels
                .iter()
                .map(|label| {
                    graph.set((0..rows.len() as u32).filter(|state| label[*state as usize]))
                })
                .collect();
            Kripke::new(graph, initial.into_iter().collect(), sets)
        })
    })
}

/// A formula of linear time as a tree, to be built in any arena.
#[derive(Clone, Debug)]
enum Linear {
    Atom(u32),
    Not(Box<Linear>),
    Two(u8, Box<Linear>, Box<Linear>),
    One(u8, Box<Linear>),
}

fn linear() -> impl Strategy<Value = Linear> {
    let leaf = (0..ATOMS).prop_map(Linear::Atom);
    leaf.prop_recursive(4, 10, 2, |inner| {
        prop_oneof![
            inner.clone().prop_map(|f| Linear::Not(Box::new(f))),
            (0u8..9, inner.clone()).prop_map(|(op, f)| Linear::One(op, Box::new(f))),
            (0u8..6, inner.clone(), inner).prop_map(|(op, f, g)| Linear::Two(
                op,
                Box::new(f),
                Box::new(g)
            )),
        ]
    })
}

fn build(formula: &Linear, into: &mut Formulas) -> FormulaId {
    match formula {
        Linear::Atom(atom) => into.atom(Atom(*atom)),
        Linear::Not(f) => {
            let f = build(f, into);
            into.not(f)
        }
        Linear::One(op, f) => {
            let f = build(f, into);
            match op {
                0 => into.next(f),
                1 => into.eventually(Interval::ALL, f),
                2 => into.always(Interval::ALL, f),
                3 => into.previously(f),
                4 => into.once(Interval::ALL, f),
                5 => into.historically(Interval::ALL, f),
                6 => into.eventually(Interval::steps(0, 2), f),
                7 => into.always(Interval::steps(1, 2), f),
                _ => into.weak_previously(f),
            }
        }
        Linear::Two(op, f, g) => {
            let (f, g) = (build(f, into), build(g, into));
            match op {
                0 => into.and(f, g),
                1 => into.or(f, g),
                2 => into.until(f, Interval::ALL, g),
                3 => into.release(f, g),
                4 => into.since(f, g),
                _ => into.until(f, Interval::steps(0, 2), g),
            }
        }
    }
}

/// All runs from the initial states that close within a few steps.
fn lassos(kripke: &Kripke, length: usize) -> Vec<Run> {
    let mut found = Vec::new();
    let mut open: Vec<Vec<u32>> = kripke.initial().iter().map(|state| vec![*state]).collect();
    while let Some(way) = open.pop() {
        let last = way[way.len() - 1];
        for next in kripke.graph().successors(last) {
            for turn in (0..way.len()).filter(|turn| way[*turn] == *next) {
                found.push(Run {
                    stem: way[..turn].to_vec(),
                    cycle: way[turn..].to_vec(),
                });
            }
            if way.len() < length {
                let mut longer = way.clone();
                longer.push(*next);
                open.push(longer);
            }
        }
    }
    found
}

fn holds_on(kripke: &Kripke, run: &Run, formulas: &Formulas, formula: FormulaId) -> bool {
    let states: Vec<u32> = run.states().collect();
    let letter = |at: usize, atom: Atom| kripke.label(atom).contains(states[at] as usize);
    omega::eval(formulas, formula, run.stem.len(), run.cycle.len(), letter)
}

fn is_fair(kripke: &Kripke, run: &Run, fair: &[Atom]) -> bool {
    fair.iter().all(|atom| {
        run.cycle
            .iter()
            .any(|state| kripke.label(*atom).contains(*state as usize))
    })
}

fn is_run(kripke: &Kripke, run: &Run) -> bool {
    let states: Vec<u32> = run.states().collect();
    let follows = |from: u32, to: u32| kripke.graph().successors(from).contains(&to);
    kripke.initial().contains(&states[0])
        && states.windows(2).all(|pair| follows(pair[0], pair[1]))
        && !run.cycle.is_empty()
        && follows(states[states.len() - 1], run.cycle[0])
}

/// A state formula as a tree.
#[derive(Clone, Debug)]
enum Branching {
    Atom(u32),
    Not(Box<Branching>),
    And(Box<Branching>, Box<Branching>),
    /// X F G, on some or on all paths; with a bound where there is one.
    One(bool, u8, Option<(u32, u32)>, Box<Branching>),
    Until(bool, Option<(u32, u32)>, Box<Branching>, Box<Branching>),
}

fn branching() -> impl Strategy<Value = Branching> {
    let leaf = (0..ATOMS).prop_map(Branching::Atom);
    leaf.prop_recursive(4, 12, 2, |inner| {
        let bound = prop::option::of((0u32..3, 0u32..3).prop_map(|(lo, more)| (lo, lo + more)));
        prop_oneof![
            inner.clone().prop_map(|f| Branching::Not(Box::new(f))),
            (inner.clone(), inner.clone())
                .prop_map(|(f, g)| Branching::And(Box::new(f), Box::new(g))),
            (any::<bool>(), 0u8..3, bound.clone(), inner.clone())
                .prop_map(|(all, op, bound, f)| Branching::One(all, op, bound, Box::new(f))),
            (any::<bool>(), bound, inner.clone(), inner).prop_map(|(all, bound, f, g)| {
                Branching::Until(all, bound, Box::new(f), Box::new(g))
            }),
        ]
    })
}

fn window(bound: Option<(u32, u32)>) -> Interval {
    bound.map_or(Interval::ALL, |(lo, hi)| Interval::steps(lo, hi))
}

fn state_formula(formula: &Branching, into: &mut StateFormulas) -> StateFormulaId {
    let quantified = |all: &bool, path, into: &mut StateFormulas| {
        into.add(if *all {
            StateFormula::All(path)
        } else {
            StateFormula::Exists(path)
        })
    };
    match formula {
        Branching::Atom(atom) => into.add(StateFormula::Atom(Atom(*atom))),
        Branching::Not(f) => {
            let f = state_formula(f, into);
            into.add(StateFormula::Not(f))
        }
        Branching::And(f, g) => {
            let (f, g) = (state_formula(f, into), state_formula(g, into));
            into.add(StateFormula::And(f, g))
        }
        Branching::One(all, op, bound, f) => {
            let f = state_formula(f, into);
            let f = into.path(f);
            let path = match op {
                0 => into.paths.next(f),
                1 => into.paths.eventually(window(*bound), f),
                _ => into.paths.always(window(*bound), f),
            };
            quantified(all, path, into)
        }
        Branching::Until(all, bound, f, g) => {
            let (f, g) = (state_formula(f, into), state_formula(g, into));
            let (f, g) = (into.path(f), into.path(g));
            let path = into.paths.until(f, window(*bound), g);
            quantified(all, path, into)
        }
    }
}

/// The states of a formula by the equations of each operator, solved by going round; fairness by Emerson and Lei.
struct Slow<'a> {
    kripke: &'a Kripke,
    fair: Vec<Vec<bool>>,
    /// States from which a fair run begins.
    starts: Vec<bool>,
}

type Set = Vec<bool>;

impl<'a> Slow<'a> {
    fn new(kripke: &'a Kripke, fair: &[Atom]) -> Slow<'a> {
        let fair = fair.iter().map(|atom| {
            (0..kripke.len())
                .map(|state| kripke.label(*atom).contains(state))
                .collect()
        });
        let mut slow = Slow {
            kripke,
            fair: fair.collect(),
            starts: vec![true; kripke.len()],
        };
        slow.starts = slow.globally(&vec![true; kripke.len()]);
        slow
    }

    fn pre(&self, target: &Set) -> Set {
        (0..self.kripke.len() as u32)
            .map(|state| {
                self.kripke
                    .graph()
                    .successors(state)
                    .iter()
                    .any(|next| target[*next as usize])
            })
            .collect()
    }

    fn until(&self, p: &Set, q: &Set) -> Set {
        let mut found = q.clone();
        loop {
            let pre = self.pre(&found);
            let wider: Set = (0..found.len())
                .map(|at| q[at] || (p[at] && pre[at]))
                .collect();
            if wider == found {
                return found;
            }
            found = wider;
        }
    }

    /// Greatest `Z` of `p & EX E[p U (Z & fair)]` for each constraint.
    fn globally(&self, p: &Set) -> Set {
        let mut found = p.clone();
        loop {
            let mut narrower: Set = (0..p.len()).map(|at| found[at] && p[at]).collect();
            let always = vec![vec![true; p.len()]];
            let constraints = if self.fair.is_empty() {
                &always
            } else {
                &self.fair
            };
            for constraint in constraints {
                let goal: Set = (0..p.len())
                    .map(|at| found[at] && constraint[at] && p[at])
                    .collect();
                let pre = self.pre(&self.until(p, &goal));
                for at in 0..p.len() {
                    narrower[at] &= pre[at];
                }
            }
            if narrower == found {
                return found;
            }
            found = narrower;
        }
    }

    fn exists(&self, op: u8, bound: Option<(u32, u32)>, p: &Set, q: &Set) -> Set {
        let and = |a: &Set, b: &Set| -> Set { (0..a.len()).map(|at| a[at] && b[at]).collect() };
        let q_fair = and(q, &self.starts);
        match (op, bound) {
            (0, _) => self.pre(&q_fair),
            (1, None) => self.until(p, &q_fair),
            (_, None) => self.globally(q),
            (1, Some((lo, hi))) => {
                // What is left after each step of the window, from its end.
                let mut found = vec![false; q.len()];
                for step in (0..=hi).rev() {
                    let pre = self.pre(&found);
                    found = (0..q.len())
                        .map(|at| (step >= lo && q_fair[at]) || (p[at] && pre[at]))
                        .collect();
                }
                found
            }
            (_, Some((lo, hi))) => {
                let mut found = self.starts.clone();
                for step in (0..=hi).rev() {
                    let next = if step == hi {
                        self.starts.clone()
                    } else {
                        self.pre(&found)
                    };
                    found = (0..q.len())
                        .map(|at| next[at] && (step < lo || q[at]))
                        .collect();
                }
                found
            }
        }
    }

    fn states(&self, formula: &Branching) -> Set {
        let not = |set: Set| -> Set { set.into_iter().map(|holds| !holds).collect() };
        let everywhere = vec![true; self.kripke.len()];
        match formula {
            Branching::Atom(atom) => (0..self.kripke.len())
                .map(|at| self.kripke.label(Atom(*atom)).contains(at))
                .collect(),
            Branching::Not(f) => not(self.states(f)),
            Branching::And(f, g) => {
                let (f, g) = (self.states(f), self.states(g));
                (0..f.len()).map(|at| f[at] && g[at]).collect()
            }
            Branching::One(false, op, bound, f) => {
                self.exists(*op, *bound, &everywhere, &self.states(f))
            }
            // `A X p = !E X !p`, `A F p = !E G !p`, `A G p = !E F !p`.
            Branching::One(true, op, bound, f) => {
                let dual = [0, 2, 1][*op as usize];
                not(self.exists(dual, *bound, &everywhere, &not(self.states(f))))
            }
            Branching::Until(false, bound, f, g) => {
                self.exists(1, *bound, &self.states(f), &self.states(g))
            }
            Branching::Until(true, None, f, g) => {
                // Not: a fair run that stays without `g`, or loses `f` before it.
                let (f, g) = (self.states(f), self.states(g));
                let not_g = not(g.clone());
                let neither: Set = (0..f.len()).map(|at| !f[at] && !g[at]).collect();
                let lost = self.exists(1, None, &not_g, &neither);
                let never = self.globally(&not_g);
                (0..f.len()).map(|at| !lost[at] && !never[at]).collect()
            }
            Branching::Until(true, Some((lo, hi)), f, g) => {
                let (f, g) = (self.states(f), self.states(g));
                // Fails: at every step of the window `g` is missing until `f` is lost, or the window ends.
                let mut fails = self.starts.clone();
                for step in (0..=*hi).rev() {
                    let next = if step == *hi {
                        self.starts.clone()
                    } else {
                        self.pre(&fails)
                    };
                    fails = (0..f.len())
                        .map(|at| {
                            let here = step >= *lo && g[at];
                            self.starts[at] && !here && (!f[at] || next[at])
                        })
                        .collect();
                }
                not(fails)
            }
        }
    }
}

fn fairness() -> impl Strategy<Value = Vec<Atom>> {
    prop::collection::btree_set(0..ATOMS, 0..=ATOMS as usize)
        .prop_map(|atoms| atoms.into_iter().map(Atom).collect())
}

/// A counterexample is a fair run that violates the formula; without one, no short fair run violates it.
fn agrees_with_every_short_run(
    kripke: &Kripke,
    tree: &Linear,
    fair: &[Atom],
) -> Result<(), TestCaseError> {
    let mut formulas = Formulas::new();
    let formula = build(tree, &mut formulas);
    let found = ltl::check(
        &mut &*kripke,
        &mut formulas,
        formula,
        fair,
        &Limits::default(),
    )
    .unwrap();
    match found.counterexample {
        Some(run) => {
            prop_assert!(is_run(kripke, &run), "{:?}", run);
            prop_assert!(is_fair(kripke, &run, fair), "{:?}", run);
            prop_assert!(!holds_on(kripke, &run, &formulas, formula), "{:?}", run);
        }
        None => {
            for run in lassos(kripke, 5) {
                prop_assert!(
                    !is_fair(kripke, &run, fair) || holds_on(kripke, &run, &formulas, formula),
                    "{:?} violates it",
                    run
                );
            }
        }
    }
    Ok(())
}

/// The structure on which this once failed, with all its labellings.
#[test]
fn a_formula_that_is_negated_agrees_with_every_short_run() {
    let graph = Digraph::from_edges(3, &[(0, 1), (0, 2), (1, 2), (2, 1)]).unwrap();
    let tree = Linear::Not(Box::new(Linear::One(4, Box::new(Linear::Atom(1)))));
    for bits in 0u32..64 {
        let labels = (0..ATOMS)
            .map(|atom| graph.set((0..3).filter(|state| bits >> (3 * atom + state) & 1 == 1)));
        let kripke = Kripke::new(graph.clone(), vec![0], labels.collect());
        agrees_with_every_short_run(&kripke, &tree, &[]).unwrap();
    }
}

crate::random::tests! {
    500 cases;

    #[test]
    fn linear_time_agrees_with_every_short_run(kripke in structure(), tree in linear(), fair in fairness()) {
        agrees_with_every_short_run(&kripke, &tree, &fair)?;
    }

    /// The shortest prefix that cannot be repaired is found where there is one.
    #[test]
    fn branching_time_agrees_with_its_equations(kripke in structure(), tree in branching(), fair in fairness()) {
        let mut formulas = StateFormulas::new();
        let root = state_formula(&tree, &mut formulas);
        let found = ctl::evaluate(&kripke, &mut formulas, root, &fair, &Limits::default()).unwrap();
        let slow = Slow::new(&kripke, &fair);
        let states: Set = (0..kripke.len() as u32).map(|state| found.holds(root, state)).collect();
        prop_assert_eq!(states, slow.states(&tree));
        for state in 0..kripke.len() as u32 {
            let shown = evidence::explain(&kripke, &mut formulas, &found, root, state, &fair, &Limits::default()).unwrap();
            if let Some(run) = shown {
                let states: Vec<u32> = run.states().collect();
                prop_assert_eq!(states[0], state);
                for pair in states.windows(2) {
                    prop_assert!(kripke.graph().successors(pair[0]).contains(&pair[1]));
                }
            }
        }
    }

    /// `E φ` for a formula that is no single operator: the states from which a run satisfies it.
    #[test]
    fn path_formulas_agree_with_linear_time(kripke in structure(), tree in linear()) {
        let mut formulas = StateFormulas::new();
        let atoms: Vec<StateFormulaId> = (0..ATOMS).map(|atom| formulas.add(StateFormula::Atom(Atom(atom)))).collect();
        // The numbers of atoms are those of the state formulas.
        prop_assert_eq!(atoms.iter().map(|id| id.index() as u32).collect::<Vec<_>>(), (0..ATOMS).collect::<Vec<_>>());
        let path = build(&tree, &mut formulas.paths);
        let root = formulas.add(StateFormula::All(path));
        let found = ctl::evaluate(&kripke, &mut formulas, root, &[], &Limits::default()).unwrap();
        for state in 0..kripke.len() as u32 {
            let labels = (0..ATOMS).map(|atom| kripke.label(Atom(atom))).collect();
            let from = Kripke::new(kripke.graph().clone(), vec![state], labels);
            let mut alone = Formulas::new();
            let formula = build(&tree, &mut alone);
            let linear = ltl::check(&mut &from, &mut alone, formula, &[], &Limits::default()).unwrap();
            prop_assert_eq!(found.holds(root, state), linear.counterexample.is_none());
        }
    }

    /// A safety formula is one whose counterexamples all have a bad prefix.
    #[test]
    fn safety_shows_in_prefixes(kripke in structure(), tree in linear()) {
        let mut formulas = Formulas::new();
        let formula = build(&tree, &mut formulas);
        let limits = Limits::default();
        let safe = prefix::is_safety(&mut &kripke, &mut formulas, formula, &limits).unwrap();
        let mut prefixes = prefix::Prefixes::new::<()>(&formulas, formula, &limits).unwrap();
        for run in lassos(&kripke, 4) {
            let mut after = prefixes.start();
            // Long enough for every state of the automaton and the run to come together once.
            let states: Vec<u32> = run.states().collect();
            let around = run.cycle.iter().cycle().take(256);
            for state in run.stem.iter().chain(around) {
                after = prefixes.step(after, |atom| kripke.label(atom).contains(*state as usize));
            }
            let holds = holds_on(&kripke, &run, &formulas, formula);
            prop_assert!(!(holds && prefixes.is_bad(after)), "{:?}: a good run has a bad prefix", states);
            prop_assert!(!safe || holds || prefixes.is_bad(after), "{:?}: no prefix shows it", states);
        }
        // What is written with `G`, `W` and past alone is a safety formula.
        if matches!(formulas.node(formula), Node::Always(..)) && !has_future(&formulas, formula) {
            prop_assert!(safe);
        }
    }
}

/// Whether a formula below its outermost operator speaks of the future.
fn has_future(formulas: &Formulas, formula: FormulaId) -> bool {
    let below = formulas
        .parts(formula)
        .into_iter()
        .filter(|part| *part != formula);
    below.into_iter().any(|part| {
        matches!(
            formulas.node(part),
            Node::Next(_)
                | Node::WeakNext(_)
                | Node::Eventually(..)
                | Node::Always(..)
                | Node::Until(..)
        )
    })
}
