//! The steps that the counts of a condition have counted.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::eval::clock::Clock;
use crate::eval::code::{Code, Node, NodeId, RegisterKind};
use crate::eval::expr::Eval;
use crate::eval::register::Operands;
use crate::hir::Window;
use crate::value::Truth;

/// The counts that some conditions read, each with the steps at which its own condition held.
#[derive(Debug, Default)]
pub(in crate::eval) struct Counted {
    /// By register.
    seen: FxHashMap<u32, Vec<Seen>>,
}

/// A step at which the condition of a count held.
#[derive(Clone, Copy, Debug)]
struct Seen {
    index: u32,
    position: u64,
    time: Option<i128>,
}

impl Counted {
    /// Returns the counts that these conditions read themselves; no step is counted yet.
    pub(super) fn of(code: &Code, conditions: impl IntoIterator<Item = NodeId>) -> Counted {
        let mut counted = Counted::default();
        let mut visited = FxHashSet::default();
        let mut todo: Vec<NodeId> = conditions.into_iter().collect();
        while let Some(node) = todo.pop() {
            match code.node(node) {
                Node::Register(register) => {
                    let kind = &code.registers[*register as usize].kind;
                    if matches!(kind, RegisterKind::Count { .. }) {
                        counted.seen.entry(*register).or_default();
                    }
                }
                _ if visited.insert(node) => todo.extend(code.operands(node)),
                _ => {}
            }
        }
        counted
    }

    /// Takes note of a step, given its index in the record.
    pub(super) fn note(&mut self, eval: &mut Eval<'_>, index: u32) {
        let Clock { now, position, .. } = eval.clock;
        for (register, seen) in &mut self.seen {
            match eval.operands(*register, true) {
                Operands::Truths(_, Truth::True) => seen.clear(),
                Operands::Truths(Truth::True, _) => seen.push(Seen {
                    index,
                    position,
                    time: now,
                }),
                _ => {}
            }
        }
    }

    /// Returns the indices of the steps that a count has certainly counted so far, ascending.
    pub(super) fn steps(&self, eval: &Eval<'_>, register: u32) -> Vec<u32> {
        let RegisterKind::Count { window, .. } = &eval.code.registers[register as usize].kind
        else {
            return Vec::new();
        };
        let is_within = |seen: &&Seen| match *window {
            None => true,
            Some(Window::Steps(lo, hi)) => {
                let back = eval.clock.position.saturating_sub(seen.position);
                (u64::from(lo)..=u64::from(hi)).contains(&back)
            }
            Some(Window::Time(lo, hi)) => {
                let times = eval.clock.now.zip(seen.time);
                times.is_some_and(|(now, then)| (lo..=hi).contains(&now.saturating_sub(then)))
            }
        };
        let seen = self.seen.get(&register).into_iter().flatten();
        let mut steps: Vec<u32> = seen.filter(is_within).map(|seen| seen.index).collect();
        // With `each`, several steps have the index of one event.
        steps.dedup();
        steps
    }
}
