//! One obligation on the rest of a trace, and implication between obligations.
//!
//! Windows in steps shrink as positions are read. Windows in time are absolute from the start of their operator, so the
//! obligation does not change until its deadline has passed.

use super::formula::{FormulaId, Formulas};
use super::limits::Limits;
use super::program::{Core, NodeId, Program, Words};

/// `node` holds at the next position; `strong` requires that there is one, which only matters on finite words.
///
/// For `Until` and `Release` the window replaces that of the node; for others it is `[0, 0]`. A window in time is absolute
/// once the node has `started`, and until then that of the node; windows in steps are always as if started.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub(super) struct Obligation {
    pub(super) node: NodeId,
    pub(super) strong: bool,
    pub(super) started: bool,
    pub(super) lo: i128,
    pub(super) hi: i128,
    pub(super) chain: Chain,
}

/// Whether an obligation also represents the obligations of a queue, which are of the same kind and whose windows begin later
/// and have the same length. Only automata with counters create such obligations (`lazy/chain.rs`), and only while the first
/// window is not open: until then a step has the same effect on all of them.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    serde::Serialize,
    serde::Deserialize,
)]
pub(super) enum Chain {
    /// There is no queue.
    #[default]
    Alone,
    /// The obligations of this queue are pending too.
    All(u32),
    /// This obligation is pending, or one of this queue.
    Any(u32),
}

/// Returns the obligation that `node` holds next, with the window that the node has when it starts there.
pub(super) fn start(program: &Program, node: NodeId, strong: bool) -> Obligation {
    let (started, lo, hi) = match program.nodes[node as usize] {
        Core::Until { window, .. } | Core::Release { window, .. } => {
            (!window.timed, window.lo, window.hi)
        }
        _ => (true, 0, 0),
    };
    Obligation {
        node,
        strong: strong && program.words == Words::Finite,
        started,
        lo,
        hi,
        chain: Chain::Alone,
    }
}

/// The greatest depth of nesting to which implication is searched.
const FUEL: u32 = 4;

/// Whether `a` implies `b` at every position, as far as syntax shows; strength is ignored.
pub(super) fn implies(program: &Program, a: Obligation, b: Obligation) -> bool {
    if a.chain != Chain::Alone || b.chain != Chain::Alone {
        // The ends of the windows of a chain are not compared.
        return a == b;
    }
    follows(program, a, b, FUEL)
}

/// The same depth for a formula that is compared once, not at every step of a construction.
const MORE_FUEL: u32 = 8;

/// Whether every finite trace of one position or more that satisfies `a` satisfies `b`, as far as the syntax of the two shows
/// it. The cost does not depend on the bounds. `false` does not mean that the implication fails.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, evidently_implies};
/// let mut formulas = Formulas::new();
/// let p = formulas.atom(Atom(0));
/// let soon = formulas.eventually(Interval::steps(10, 5_000), p);
/// let later = formulas.eventually(Interval::steps(0, 90_000), p);
/// assert!(evidently_implies(&mut formulas, soon, later, &Limits::default()));
/// assert!(!evidently_implies(&mut formulas, later, soon, &Limits::default()));
/// ```
pub fn evidently_implies(
    formulas: &mut Formulas,
    a: FormulaId,
    b: FormulaId,
    limits: &Limits,
) -> bool {
    // Both formulas in one program, distinguished by the strength of a next.
    let (first, second) = (formulas.next(a), formulas.weak_next(b));
    let both = formulas.and(first, second);
    let Ok(program) = Program::new(formulas, both, Words::Finite, limits) else {
        return false;
    };
    let Core::And(f, g) = program.nodes[program.root as usize] else {
        return false;
    };
    let next = |wanted: bool| {
        [f, g]
            .into_iter()
            .find_map(|node| match program.nodes[node as usize] {
                Core::Next { strong, operand } if strong == wanted => Some(operand),
                _ => None,
            })
    };
    let (Some(a), Some(b)) = (next(true), next(false)) else {
        return false;
    };
    let [a, b] = [a, b].map(|node| start(&program, node, true));
    follows(&program, a, b, MORE_FUEL)
}

fn follows(program: &Program, a: Obligation, b: Obligation, fuel: u32) -> bool {
    let part = |node| start(program, node, true);
    let (x, y) = (
        program.nodes[a.node as usize],
        program.nodes[b.node as usize],
    );
    if x == Core::False || y == Core::True {
        return true;
    }
    if a.node == b.node && a.lo == b.lo && a.hi == b.hi && a.started == b.started {
        return true;
    }
    if fuel == 0 {
        return a.node == b.node && !matches!(x, Core::Until { .. } | Core::Release { .. });
    }
    let fuel = fuel - 1;
    match (x, y) {
        (Core::Or(f, g), _) => {
            return follows(program, part(f), b, fuel) && follows(program, part(g), b, fuel);
        }
        (_, Core::And(f, g)) => {
            return follows(program, a, part(f), fuel) && follows(program, a, part(g), fuel);
        }
        (Core::And(f, g), _)
            if follows(program, part(f), b, fuel) || follows(program, part(g), b, fuel) =>
        {
            return true;
        }
        (_, Core::Or(f, g))
            if follows(program, a, part(f), fuel) || follows(program, a, part(g), fuel) =>
        {
            return true;
        }
        (
            Core::Until {
                lhs: f,
                rhs: g,
                window: v,
            },
            Core::Until {
                lhs: h,
                rhs: k,
                window: w,
            },
        ) => {
            let comparable = v.timed == w.timed && (!v.timed || a.started == b.started);
            if comparable
                && b.lo <= a.lo
                && a.hi <= b.hi
                && follows(program, part(f), part(h), fuel)
                && follows(program, part(g), part(k), fuel)
            {
                return true;
            }
        }
        (
            Core::Release {
                lhs: f,
                rhs: g,
                window: v,
            },
            Core::Release {
                lhs: h,
                rhs: k,
                window: w,
            },
        ) => {
            let comparable = v.timed == w.timed && (!v.timed || a.started == b.started);
            if comparable
                && a.lo <= b.lo
                && b.hi <= a.hi
                && follows(program, part(f), part(h), fuel)
                && follows(program, part(g), part(k), fuel)
            {
                return true;
            }
        }
        (
            Core::Next {
                strong: s,
                operand: f,
            },
            Core::Next {
                strong: t,
                operand: g,
            },
        ) => {
            return (s || !t) && follows(program, part(f), part(g), fuel);
        }
        _ => {}
    }
    match y {
        Core::Until { rhs, window, .. }
            if !window.timed && b.lo == 0 && follows(program, a, part(rhs), fuel) =>
        {
            return true;
        }
        _ => {}
    }
    match x {
        Core::Release { rhs, window, .. } if !window.timed && a.lo == 0 => {
            follows(program, part(rhs), b, fuel)
        }
        _ => false,
    }
}
