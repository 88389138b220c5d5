//! The small language that the construction works on: negation normal form, registers for the past, guesses for the future
//! inside the past.
//!
//! A [`Program`] is a list of nodes in which operands come first. It describes non-empty traces only; `desugar.rs` translates
//! formulas into programs.

use super::formula::{Atom, Interval};

/// Index of a node of a [`Program`].
pub(super) type NodeId = u32;

/// The window of a future operator. `hi` is the greatest number if there is no upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Window {
    pub(super) timed: bool,
    pub(super) lo: i128,
    pub(super) hi: i128,
}

/// No upper end.
pub(super) const NEVER: i128 = i128::MAX;

impl Window {
    pub(super) const ALL: Window = Window {
        timed: false,
        lo: 0,
        hi: NEVER,
    };

    /// Returns its length, if it ends.
    pub(super) fn width(self) -> Option<i128> {
        (self.hi != NEVER).then(|| self.hi.saturating_sub(self.lo))
    }

    pub(super) fn new(interval: Interval) -> Window {
        match interval {
            Interval::Steps { lo, hi } => Window {
                timed: false,
                lo: i128::from(lo),
                hi: hi.map_or(NEVER, i128::from),
            },
            Interval::Time { lo, hi: None } if lo <= 0 => Window::ALL,
            Interval::Time { lo, hi } => Window {
                timed: true,
                lo: lo.max(0),
                hi: hi.unwrap_or(NEVER),
            },
        }
    }
}

/// The kind of words over which a program is evaluated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Words {
    /// Non-empty finite ones.
    Finite,
    /// Infinite words: there always is a next position, so obligations are neither strong nor weak.
    Infinite,
}

/// A node in negation normal form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Core {
    True,
    False,
    /// A letter of the input or a guess, by its variable.
    Literal {
        var: u32,
        positive: bool,
    },
    /// The current value of a past operator.
    Past {
        register: u32,
        positive: bool,
    },
    And(NodeId, NodeId),
    Or(NodeId, NodeId),
    Next {
        strong: bool,
        operand: NodeId,
    },
    Until {
        lhs: NodeId,
        rhs: NodeId,
        window: Window,
    },
    /// Dual of `Until`: at every position of the window `rhs` holds, or `lhs` held before it.
    Release {
        lhs: NodeId,
        rhs: NodeId,
        window: Window,
    },
    /// A step postpones the witness of an `Until`; used on infinite words only. Operators that wait for the same
    /// witness share one promise.
    Promise(u32),
}

/// The memory of a register about its operands, which contain no future.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Register {
    /// The operand one position ago; false at first.
    Previous { operand: NodeId },
    /// Whether `lhs S rhs` held one position ago.
    Since { lhs: NodeId, rhs: NodeId },
    /// For how many more positions `O[0,span] operand` holds without a new one.
    Recent { operand: NodeId, span: u32 },
    /// The past positions at which the operand held and that can still matter: as times, or as distances from the next position
    /// if the window is in steps.
    Within { operand: NodeId, window: Window },
}

/// A formula ready for the construction.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// Operands first.
    pub(super) nodes: Vec<Core>,
    pub(super) registers: Vec<Register>,
    /// Letter of each variable; variables beyond these are guesses.
    pub(super) atoms: Vec<Atom>,
    pub(super) n_guesses: usize,
    pub(super) root: NodeId,
    /// Whether the value of a node depends on registers at the same position.
    pub(super) past: Vec<bool>,
    /// Whether a node has a register anywhere below it.
    pub(super) looks_back: Vec<bool>,
    pub(super) timed: bool,
    pub(super) words: Words,
    /// Per node, the `Promise` of an `Until` without an end; `None` on finite words.
    pub(super) promise: Vec<Option<NodeId>>,
    /// Number of different promises.
    pub(super) n_promises: u32,
    /// Per promise, whether its witness is decided by the letter and the registers alone.
    pub(super) decided: Vec<bool>,
}

impl Program {
    /// Returns the nodes that `root` needs, in their order, with what is known about each.
    pub(super) fn assemble(
        nodes: &[Core],
        registers: &[Register],
        root: NodeId,
        atoms: Vec<Atom>,
        n_guesses: usize,
        words: Words,
    ) -> Program {
        let operands = |node: Core| match node {
            Core::Past { register, .. } => registers[register as usize].operands(),
            _ => node.operands(),
        };
        let mut needed = vec![false; nodes.len()];
        let mut stack = vec![root];
        while let Some(node) = stack.pop() {
            if !std::mem::replace(&mut needed[node as usize], true) {
                stack.extend(operands(nodes[node as usize]).into_iter().flatten());
            }
        }
        let mut program = Program {
            nodes: Vec::new(),
            registers: Vec::new(),
            atoms,
            n_guesses,
            root: 0,
            past: Vec::new(),
            looks_back: Vec::new(),
            timed: false,
            words,
            promise: Vec::new(),
            n_promises: 0,
            decided: Vec::new(),
        };
        let mut place = vec![0; nodes.len()];
        let mut register_place: Vec<Option<u32>> = vec![None; registers.len()];
        for (index, &node) in nodes.iter().enumerate().filter(|&(index, _)| needed[index]) {
            let moved = match node {
                Core::Past { register, positive } => {
                    let new = *register_place[register as usize].get_or_insert_with(|| {
                        let moved = registers[register as usize].map(|f| place[f as usize]);
                        program.registers.push(moved);
                        program.registers.len() as u32 - 1
                    });
                    Core::Past {
                        register: new,
                        positive,
                    }
                }
                _ => node.map(|f| place[f as usize]),
            };
            place[index] = program.nodes.len() as NodeId;
            program.push(moved);
        }
        program.root = place[root as usize];
        program.promise = vec![None; program.nodes.len()];
        if words == Words::Infinite {
            program.add_promises();
        }
        program
    }

    /// Gives every `Until` without an end its promise.
    fn add_promises(&mut self) {
        let mut waiting: Vec<NodeId> = Vec::new();
        for index in 0..self.nodes.len() {
            let Core::Until { rhs, window, .. } = self.nodes[index] else {
                continue;
            };
            if window.hi != NEVER {
                continue;
            }
            let known = waiting.iter().position(|&witness| witness == rhs);
            let number = known.unwrap_or_else(|| {
                waiting.push(rhs);
                self.push(Core::Promise(waiting.len() as u32 - 1));
                self.promise.push(None);
                waiting.len() - 1
            });
            let first = self.nodes.len() - waiting.len();
            self.promise[index] = Some((first + number) as NodeId);
        }
        self.n_promises = waiting.len() as u32;
        let mut ahead: Vec<bool> = Vec::with_capacity(self.nodes.len());
        for &node in &self.nodes {
            let below = node
                .operands()
                .into_iter()
                .flatten()
                .any(|f| ahead[f as usize]);
            let temporal = matches!(
                node,
                Core::Next { .. } | Core::Until { .. } | Core::Release { .. }
            );
            ahead.push(temporal || below);
        }
        self.decided = waiting
            .iter()
            .map(|&witness| !ahead[witness as usize])
            .collect();
    }

    fn push(&mut self, node: Core) {
        let below = |known: &[bool]| {
            node.operands()
                .into_iter()
                .flatten()
                .any(|f| known[f as usize])
        };
        let (now, ever) = match node {
            Core::Past { .. } => (true, true),
            Core::Next { .. } => (false, below(&self.looks_back)),
            _ => (below(&self.past), below(&self.looks_back)),
        };
        self.timed |= match node {
            Core::Until { window, .. } | Core::Release { window, .. } => window.timed,
            Core::Past { register, .. } => {
                matches!(self.registers[register as usize], Register::Within { window, .. } if window.timed)
            }
            _ => false,
        };
        self.past.push(now);
        self.looks_back.push(ever);
        self.nodes.push(node);
    }

    /// Returns the number of variables, guesses included.
    pub(super) fn n_vars(&self) -> usize {
        self.atoms.len() + self.n_guesses
    }
}

impl Core {
    /// Returns the operands that are nodes; those of a register are the register's.
    pub(super) fn operands(self) -> [Option<NodeId>; 2] {
        match self {
            Core::True
            | Core::False
            | Core::Literal { .. }
            | Core::Past { .. }
            | Core::Promise(_) => [None, None],
            Core::Next { operand, .. } => [Some(operand), None],
            Core::And(f, g) | Core::Or(f, g) => [Some(f), Some(g)],
            Core::Until { lhs, rhs, .. } | Core::Release { lhs, rhs, .. } => [Some(lhs), Some(rhs)],
        }
    }

    fn map(self, at: impl Fn(NodeId) -> NodeId) -> Core {
        match self {
            Core::True
            | Core::False
            | Core::Literal { .. }
            | Core::Past { .. }
            | Core::Promise(_) => self,
            Core::And(f, g) => Core::And(at(f), at(g)),
            Core::Or(f, g) => Core::Or(at(f), at(g)),
            Core::Next { strong, operand } => Core::Next {
                strong,
                operand: at(operand),
            },
            Core::Until { lhs, rhs, window } => Core::Until {
                lhs: at(lhs),
                rhs: at(rhs),
                window,
            },
            Core::Release { lhs, rhs, window } => Core::Release {
                lhs: at(lhs),
                rhs: at(rhs),
                window,
            },
        }
    }

    /// Whether one of the two is true exactly where the other is not, for letters and registers.
    pub(super) fn is_opposite(self, other: Core) -> bool {
        match self {
            Core::Literal { var, positive } => {
                other
                    == Core::Literal {
                        var,
                        positive: !positive,
                    }
            }
            Core::Past { register, positive } => {
                other
                    == Core::Past {
                        register,
                        positive: !positive,
                    }
            }
            _ => false,
        }
    }
}

impl Register {
    pub(super) fn operands(self) -> [Option<NodeId>; 2] {
        match self {
            Register::Since { lhs, rhs } => [Some(lhs), Some(rhs)],
            Register::Previous { operand }
            | Register::Recent { operand, .. }
            | Register::Within { operand, .. } => [Some(operand), None],
        }
    }

    fn map(self, at: impl Fn(NodeId) -> NodeId) -> Register {
        match self {
            Register::Previous { operand } => Register::Previous {
                operand: at(operand),
            },
            Register::Since { lhs, rhs } => Register::Since {
                lhs: at(lhs),
                rhs: at(rhs),
            },
            Register::Recent { operand, span } => Register::Recent {
                operand: at(operand),
                span,
            },
            Register::Within { operand, window } => Register::Within {
                operand: at(operand),
                window,
            },
        }
    }
}
