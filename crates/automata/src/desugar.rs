//! From a formula of the arena to a [`Program`].
//!
//! * Negation is pushed to the letters. On finite traces `!X f` is `N !f`, so both nexts are kept, and no rule of infinite
//!   words (`X true = true`) is used.
//! * A past operator whose operand looks only back is a register: a bit, a counter or a list of times, which a step
//!   updates deterministically.
//! * A future formula under a past operator has no such transducer. It is replaced by a fresh letter `g`, a *guess*, and
//!   `G (g <-> it)` is added, so that exactly one way to guess is right. The construction removes the guesses again.
//!
//! # Source
//! Registers: K. Havelund, G. Roşu, "Synthesizing monitors for safety properties", 2002. Guesses are the letters of the
//! usual tableau for past and future (O. Lichtenstein, A. Pnueli, L. Zuck, "The glory of the past", 1985).

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::formula::{Atom, FormulaId, Formulas, Interval, Node};
use super::limits::{LimitError, Limits, Resource, check};
use super::program::{Core, NEVER, NodeId, Program, Register, Window, Words};

/// Up to this many steps, a delay in the past is one bit per step, which gives up to `2^8` combinations.
const FEW_DELAYS: i128 = 8;

impl Program {
    /// Returns the program of a formula.
    pub(super) fn new(
        formulas: &Formulas,
        formula: FormulaId,
        words: Words,
        limits: &Limits,
    ) -> Result<Program, LimitError> {
        let atoms = formulas.atoms(formula);
        check(Resource::Atoms, limits.atoms as u64, atoms.len() as u64)?;
        let vars = atoms
            .iter()
            .enumerate()
            .map(|(var, &atom)| (atom, var as u32))
            .collect();
        let mut lower = Lower {
            nodes: IndexSet::default(),
            future: Vec::new(),
            registers: IndexSet::default(),
            vars,
            guesses: Vec::new(),
            limit: limits.states,
            words,
        };
        let mut pairs = vec![(0, 0); formula.index() + 1];
        for part in formulas.parts(formula) {
            pairs[part.index()] = lower.node(formulas.node(part), &pairs)?;
        }
        let mut root = pairs[formula.index()].0;
        for (index, (holds, fails)) in lower.guesses.clone().into_iter().enumerate() {
            let (guess, no_guess) = lower.literal((atoms.len() + index) as u32);
            let (right, wrong) = (lower.or(no_guess, holds), lower.or(guess, fails));
            let agrees = lower.and(right, wrong);
            let falsum = lower.add(Core::False);
            let always = lower.release(falsum, agrees, Window::ALL);
            root = lower.and(root, always);
        }
        check(
            Resource::Atoms,
            limits.atoms as u64,
            (atoms.len() + lower.guesses.len()) as u64,
        )?;
        let nodes: Vec<Core> = lower.nodes.into_iter().collect();
        let registers: Vec<Register> = lower.registers.into_iter().collect();
        Ok(Program::assemble(
            &nodes,
            &registers,
            root,
            atoms,
            lower.guesses.len(),
            words,
        ))
    }
}

/// A formula and its negation.
type Pair = (NodeId, NodeId);

struct Lower {
    nodes: IndexSet<Core, FxBuildHasher>,
    /// Whether a node looks ahead.
    future: Vec<bool>,
    registers: IndexSet<Register, FxBuildHasher>,
    vars: FxHashMap<Atom, u32>,
    /// The formula that each guess stands for.
    guesses: Vec<Pair>,
    /// Greatest number of registers.
    limit: usize,
    words: Words,
}

impl Lower {
    fn node(&mut self, node: Node, pairs: &[Pair]) -> Result<Pair, LimitError> {
        let of = |f: FormulaId| pairs[f.index()];
        Ok(match node {
            Node::True => self.constant(true),
            Node::False => self.constant(false),
            Node::Atom(atom) => {
                let var = self.vars.get(&atom).copied().unwrap_or(0);
                self.literal(var)
            }
            Node::Not(f) => swap(of(f)),
            Node::And(f, g) => self.conjunction(of(f), of(g)),
            Node::Or(f, g) => swap(self.conjunction(swap(of(f)), swap(of(g)))),
            Node::Next(f) => self.next(of(f)),
            Node::WeakNext(f) => swap(self.next(swap(of(f)))),
            Node::Eventually(interval, f) => {
                let unit = self.constant(true);
                self.until_pair(unit, interval, of(f))?
            }
            Node::Always(interval, f) => {
                let unit = self.constant(true);
                swap(self.until_pair(unit, interval, swap(of(f)))?)
            }
            Node::Until(f, interval, g) => self.until_pair(of(f), interval, of(g))?,
            Node::Previously(f) => self.previously(of(f)),
            Node::WeakPreviously(f) => swap(self.previously(swap(of(f)))),
            Node::Once(interval, f) => self.once(interval, of(f))?,
            Node::Historically(interval, f) => swap(self.once(interval, swap(of(f)))?),
            Node::Since(f, g) => {
                let (lhs, rhs) = (self.backward(of(f)), self.backward(of(g)));
                match (self.nodes[lhs.0 as usize], self.nodes[rhs.0 as usize]) {
                    (Core::False, _) | (_, Core::True | Core::False) => rhs,
                    _ => self.past(Register::Since {
                        lhs: lhs.0,
                        rhs: rhs.0,
                    }),
                }
            }
        })
    }

    fn constant(&mut self, value: bool) -> Pair {
        let (verum, falsum) = (self.add(Core::True), self.add(Core::False));
        if value {
            (verum, falsum)
        } else {
            (falsum, verum)
        }
    }

    fn literal(&mut self, var: u32) -> Pair {
        (
            self.add(Core::Literal {
                var,
                positive: true,
            }),
            self.add(Core::Literal {
                var,
                positive: false,
            }),
        )
    }

    fn past(&mut self, register: Register) -> Pair {
        let register = self.registers.insert_full(register).0 as u32;
        (
            self.add(Core::Past {
                register,
                positive: true,
            }),
            self.add(Core::Past {
                register,
                positive: false,
            }),
        )
    }

    fn conjunction(&mut self, f: Pair, g: Pair) -> Pair {
        (self.and(f.0, g.0), self.or(f.1, g.1))
    }

    fn next(&mut self, f: Pair) -> Pair {
        if self.words == Words::Infinite {
            return (self.next_position(f.0), self.next_position(f.1));
        }
        let strong = match self.nodes[f.0 as usize] {
            Core::False => f.0,
            _ => self.add(Core::Next {
                strong: true,
                operand: f.0,
            }),
        };
        let weak = match self.nodes[f.1 as usize] {
            Core::True => f.1,
            _ => self.add(Core::Next {
                strong: false,
                operand: f.1,
            }),
        };
        (strong, weak)
    }

    /// Returns the next of infinite words, which is its own dual.
    fn next_position(&mut self, f: NodeId) -> NodeId {
        match self.nodes[f as usize] {
            Core::True | Core::False => f,
            _ => self.add(Core::Next {
                strong: false,
                operand: f,
            }),
        }
    }

    fn until_pair(&mut self, f: Pair, interval: Interval, g: Pair) -> Result<Pair, LimitError> {
        if interval.is_empty() {
            return Ok(self.constant(false));
        }
        let mut window = Window::new(interval);
        let endless = self.words == Words::Infinite && window.hi == NEVER && !window.timed;
        let delay = if endless {
            std::mem::take(&mut window.lo)
        } else {
            0
        };
        check(Resource::States, self.limit as u64, delay as u64)?;
        let mut pair = (self.until(f.0, g.0, window), self.release(f.1, g.1, window));
        // An obligation without an end must not wait for its window to open, or a later one that implies it could take its
        // place at every step and none would ever be met: so `f U[1,∞) g` is `f & X (f U g)`.
        for _ in 0..delay {
            let later = self.next(pair);
            pair = self.conjunction(f, later);
        }
        Ok(pair)
    }

    fn previously(&mut self, f: Pair) -> Pair {
        let operand = self.backward(f);
        match self.nodes[operand.0 as usize] {
            Core::False => operand,
            _ => self.past(Register::Previous { operand: operand.0 }),
        }
    }

    /// `O[a,b] f` is `Y^a O[0,b-a] f`. That takes a bit for each of `a` steps and so `2^a` shapes; beyond [`FEW_DELAYS`] a
    /// register holds how long ago `f` held instead. A step of `G (b -> O[5000,10000] a)` takes 40 to 110 ns, down from 2.6 ms.
    fn once(&mut self, interval: Interval, f: Pair) -> Result<Pair, LimitError> {
        if interval.is_empty() {
            return Ok(self.constant(false));
        }
        let window = Window::new(interval);
        let operand = self.backward(f);
        if self.nodes[operand.0 as usize] == Core::False {
            return Ok(operand);
        }
        if window.timed || window.lo > FEW_DELAYS {
            return Ok(self.past(Register::Within {
                operand: operand.0,
                window,
            }));
        }
        let mut value = if window.hi == NEVER {
            let (verum, _) = self.constant(true);
            if self.nodes[operand.0 as usize] == Core::True {
                operand
            } else {
                self.past(Register::Since {
                    lhs: verum,
                    rhs: operand.0,
                })
            }
        } else {
            match u32::try_from(window.hi - window.lo).unwrap_or(u32::MAX) {
                0 => operand,
                span => self.past(Register::Recent {
                    operand: operand.0,
                    span,
                }),
            }
        };
        for _ in 0..window.lo {
            value = self.past(Register::Previous { operand: value.0 });
        }
        Ok(value)
    }

    /// Returns the formula itself if it does not look ahead, else a guess in its place.
    fn backward(&mut self, f: Pair) -> Pair {
        if !self.future[f.0 as usize] {
            return f;
        }
        let n_atoms = self.vars.len();
        let index = self
            .guesses
            .iter()
            .position(|&guess| guess == f || swap(guess) == f)
            .unwrap_or_else(|| {
                self.guesses.push(f);
                self.guesses.len() - 1
            });
        let literals = self.literal((n_atoms + index) as u32);
        if self.guesses[index] == f {
            literals
        } else {
            swap(literals)
        }
    }

    fn add(&mut self, node: Core) -> NodeId {
        let (index, new) = self.nodes.insert_full(node);
        if new {
            let future = match node {
                Core::Next { .. } | Core::Until { .. } | Core::Release { .. } => true,
                Core::And(f, g) | Core::Or(f, g) => {
                    self.future[f as usize] || self.future[g as usize]
                }
                _ => false,
            };
            self.future.push(future);
        }
        index as NodeId
    }

    fn and(&mut self, f: NodeId, g: NodeId) -> NodeId {
        match (self.nodes[f as usize], self.nodes[g as usize]) {
            (Core::False, _) | (_, Core::True) => f,
            (Core::True, _) | (_, Core::False) => g,
            _ if f == g => f,
            (a, b) if a.is_opposite(b) => self.add(Core::False),
            _ => self.add(Core::And(f.min(g), f.max(g))),
        }
    }

    fn or(&mut self, f: NodeId, g: NodeId) -> NodeId {
        match (self.nodes[f as usize], self.nodes[g as usize]) {
            (Core::True, _) | (_, Core::False) => f,
            (Core::False, _) | (_, Core::True) => g,
            _ if f == g => f,
            (a, b) if a.is_opposite(b) => self.add(Core::True),
            _ => self.add(Core::Or(f.min(g), f.max(g))),
        }
    }

    fn until(&mut self, lhs: NodeId, rhs: NodeId, window: Window) -> NodeId {
        match (self.nodes[lhs as usize], self.nodes[rhs as usize]) {
            (_, Core::False) => rhs,
            (_, Core::True) if window.lo == 0 => rhs,
            (Core::False, _) if window.lo == 0 => rhs,
            (Core::False, _) => lhs,
            _ if !window.timed && window.hi == 0 => rhs,
            (
                Core::True,
                Core::Until {
                    lhs: inner,
                    rhs: operand,
                    window: w,
                },
            ) if self.nodes[inner as usize] == Core::True => match joined(self.words, window, w) {
                Some(window) => self.until(lhs, operand, window),
                None => self.add(Core::Until { lhs, rhs, window }),
            },
            (
                _,
                Core::Until {
                    lhs: inner,
                    window: w,
                    ..
                },
            ) if inner == lhs && window == Window::ALL && w == window => rhs,
            _ => self.add(Core::Until { lhs, rhs, window }),
        }
    }

    fn release(&mut self, lhs: NodeId, rhs: NodeId, window: Window) -> NodeId {
        match (self.nodes[lhs as usize], self.nodes[rhs as usize]) {
            (_, Core::True) => rhs,
            (_, Core::False) if window.lo == 0 => rhs,
            (Core::True, _) if window.lo == 0 => rhs,
            (Core::True, _) => lhs,
            _ if !window.timed && window.hi == 0 => rhs,
            (
                Core::False,
                Core::Release {
                    lhs: inner,
                    rhs: operand,
                    window: w,
                },
            ) if self.nodes[inner as usize] == Core::False => match joined(self.words, window, w) {
                Some(window) => self.release(lhs, operand, window),
                None => self.add(Core::Release { lhs, rhs, window }),
            },
            (
                _,
                Core::Release {
                    lhs: inner,
                    window: w,
                    ..
                },
            ) if inner == lhs && window == Window::ALL && w == window => rhs,
            _ => self.add(Core::Release { lhs, rhs, window }),
        }
    }
}

fn swap((f, g): Pair) -> Pair {
    (g, f)
}

/// Returns the window of `F[a,b] F[c,d]`, and of `G[a,b] G[c,d]`: `[a+c, b+d]`. There is no such rule for windows in
/// time, because positions in between may be missing.
fn joined(words: Words, outer: Window, inner: Window) -> Option<Window> {
    if outer.timed || inner.timed {
        return None;
    }
    // On infinite words a window without an end opens at once and stays open.
    let endless = outer.hi == NEVER || inner.hi == NEVER;
    if endless && words == Words::Infinite && outer.lo + inner.lo > 0 {
        return None;
    }
    Some(Window {
        timed: false,
        lo: outer.lo + inner.lo,
        hi: outer.hi.saturating_add(inner.hi),
    })
}
