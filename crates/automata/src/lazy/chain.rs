//! Chains: many obligations of one node whose windows are not open yet, represented as one.
//!
//! `G (a -> F[100,1000] b)` owes one answer for each request of the last 100 steps, and all of them must be remembered. But as
//! long as the window of an obligation is not open, a step has the same effect on it as on all other obligations of the node:
//! the left operand holds or fails for all of them. So if each clause has all of them or none, they are a *chain*: the shape
//! names the first, and the others are a queue of deadlines beside the counters, whose length is part of neither the shape nor
//! the region. When the window of the first opens, the next one takes its place (`opening.rs`). So the cost of a step does not
//! depend on the bounds or on the number of waiting obligations, and the number of shapes and regions does not grow with them.
//!
//! With a counter for each pending request instead, a step of `G (a -> F[a,K] b)` with `a = 10000` took up to 17 ms; with
//! chains it takes 60 to 400 ns in steps and 50 to 650 ns in time, for any `a` and `K`.
//!
//! Alternatives are treated in the same way: clauses that differ only in such an obligation, like those of
//! `F (a & G[100,1000] b)`, become one clause with a chain of which *one* is pending.
//!
//! The times of a register form a chain from the first time that is younger than the window, until that time enters the window.
//!
//! Two waiting obligations do not form a chain. The newest obligation after a chain stays separate, so that a contradiction
//! with it is detected at once.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;

use super::shape::Part;
use crate::obligation::{Chain, Obligation};
use crate::program::{Core, NodeId, Program, Register, Window};
use crate::registers::{Rest, Times, Value};

/// A part of the contents of a chain's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Piece<D> {
    /// All entries of another queue.
    Queue(u32),
    /// A deadline.
    Deadline(D),
}

/// The entries of the queue of a chain, in order.
pub(super) type Pieces = Vec<Piece<i128>>;

/// Returns the window of an obligation's node, if it has one.
pub(super) fn window_of(program: &Program, node: NodeId) -> Option<Window> {
    match program.nodes.get(node as usize)? {
        Core::Until { window, .. } | Core::Release { window, .. } => Some(*window),
        _ => None,
    }
}

/// Returns the length of the windows of a node, if they end.
pub(super) fn width(program: &Program, node: NodeId) -> Option<i128> {
    window_of(program, node)?.width()
}

/// Whether the window of an obligation has an end and is not open yet. Until then its length is that of the node's
/// window, which the example values of a region do not determine.
fn waits(program: &Program, owed: &Obligation, now: i128) -> bool {
    let now = match window_of(program, owed.node) {
        Some(window) if window.timed => now,
        _ => 0,
    };
    owed.started && owed.lo > now && width(program, owed.node).is_some()
}

/// The properties that all obligations of a chain share.
type Kind = (NodeId, bool, bool);

fn kind(owed: &Obligation) -> Kind {
    (owed.node, owed.strong, owed.started)
}

/// The clauses of a configuration while chains are found in them.
struct Gathering<'a> {
    parts: &'a mut [Part],
    chains: Vec<(Obligation, Pieces)>,
}

/// Groups the obligations of a configuration into chains where that makes it smaller, and numbers all chains by their order.
/// Returns the contents of each queue; queue numbers in the result are those before the call. Windows in time are relative to
/// `now`; windows in steps count from the next position.
pub(super) fn gather(program: &Program, parts: &mut [Part], now: i128) -> Vec<Pieces> {
    let mut kinds: BTreeMap<Kind, BTreeSet<Obligation>> = BTreeMap::new();
    for owed in parts
        .iter()
        .flat_map(|(_, clauses)| clauses.iter().flatten())
    {
        if owed.chain != Chain::Alone || waits(program, owed, now) {
            kinds.entry(kind(owed)).or_default().insert(*owed);
        }
    }
    let mut gathering = Gathering {
        parts,
        chains: Vec::new(),
    };
    for waiting in kinds.into_values() {
        gathering.join(&waiting.into_iter().collect::<Vec<_>>());
    }
    let Gathering { parts, chains } = gathering.number();
    let mut all: Vec<Pieces> = chains.into_iter().map(|(_, pieces)| pieces).collect();
    hold(program, parts, now, &mut all);
    all
}

/// Puts the times that registers hold into chains, except the last two: only these may be replaced by later times.
fn hold(program: &Program, parts: &mut [Part], now: i128, chains: &mut Vec<Pieces>) {
    let mut known: BTreeMap<(usize, Times), Times> = BTreeMap::new();
    for (register, kind) in program.registers.iter().enumerate() {
        let &Register::Within { window, .. } = kind else {
            continue;
        };
        let now = if window.timed { now } else { 0 };
        let mut held: BTreeSet<Times> = BTreeSet::new();
        for (values, _) in &*parts {
            if let Some(Value::Times(times)) = values.get(register) {
                held.insert(times.clone());
            }
        }
        for times in held {
            let young = times
                .list
                .partition_point(|&t| t <= now.saturating_sub(window.lo));
            let first = times.rest.map_or(young, |rest| rest.after as usize);
            let last = times.list.len().saturating_sub(2);
            if times.rest.is_none() && first + 1 >= last {
                continue;
            }
            let queue = times.rest.map(|rest| Piece::Queue(rest.queue));
            let hidden = times.list.get(first + 1..last).unwrap_or(&[]);
            let deadlines = hidden.iter().map(|&t| Piece::Deadline(t));
            let rest = Rest {
                after: first as u32,
                queue: chains.len() as u32,
            };
            chains.push(queue.into_iter().chain(deadlines).collect());
            let named = |(at, _): &(usize, &i128)| *at <= first || *at >= last;
            let list = times.list.iter().enumerate().filter(named);
            let shorter = Times {
                list: list.map(|(_, &t)| t).collect(),
                rest: Some(rest),
            };
            known.insert((register, times), shorter);
        }
    }
    for (values, _) in parts {
        for (register, value) in values.iter_mut().enumerate() {
            if let Value::Times(times) = value
                && let Some(shorter) = known.get(&(register, times.clone()))
            {
                *times = shorter.clone();
            }
        }
    }
}

/// The clauses that contain an obligation: numbers of a part and of a clause in it.
type Places = Vec<(usize, usize)>;

impl Gathering<'_> {
    /// Joins obligations of one kind, sorted by the start of their windows.
    fn join(&mut self, waiting: &[Obligation]) {
        let has_chain = waiting.iter().any(|owed| owed.chain != Chain::Alone);
        if waiting.len() < 3 && !has_chain {
            return;
        }
        let places = self.places(waiting);
        let place = |owed: &Obligation| places.get(owed).map_or(&[] as &[_], Vec::as_slice);
        let mut from = 0;
        let mut merged: Vec<(&[Obligation], Chain)> = Vec::new();
        while from < waiting.len() {
            let mut chain = waiting[from].chain;
            let mut until = from + 1;
            while let Some(next) = waiting.get(until) {
                let before = &waiting[until - 1];
                let Some(link) = self.link((before, place(before)), (next, place(next))) else {
                    break;
                };
                let agrees = |other: Chain| {
                    other == Chain::Alone
                        || std::mem::discriminant(&other) == std::mem::discriminant(&link)
                };
                if !agrees(chain) || !agrees(next.chain) {
                    break;
                }
                chain = link;
                until += 1;
            }
            let run = &waiting[from..until];
            // The newest obligation stays separate, unless it is a chain.
            let last_chain = run.iter().rposition(|owed| owed.chain != Chain::Alone);
            let enough = if run.len() > 2 { run.len() - 1 } else { 1 };
            let joined = enough.max(last_chain.map_or(0, |last| last + 1));
            if joined > 1 || run[0].chain != Chain::Alone {
                merged.push((&run[..joined], chain));
            }
            // The rest of the run stays as it is; a new chain may begin after another kind of link.
            from = until;
        }
        let mut dropped: Vec<(usize, usize)> = Vec::new();
        for (run, chain) in merged {
            let first = run[0];
            let mut pieces = Pieces::new();
            for owed in run {
                if *owed != first {
                    pieces.push(Piece::Deadline(owed.lo));
                }
                if let Chain::All(queue) | Chain::Any(queue) = owed.chain {
                    pieces.push(Piece::Queue(queue));
                }
            }
            let number = self.chains.len() as u32;
            let chain = match chain {
                Chain::Any(_) => Chain::Any(number),
                _ => Chain::All(number),
            };
            let head = Obligation { chain, ..first };
            self.chains.push((head, pieces));
            for owed in run {
                for &(part, clause) in place(owed) {
                    if *owed != first && matches!(chain, Chain::Any(_)) {
                        dropped.push((part, clause));
                        continue;
                    }
                    let clause = &mut self.parts[part].1[clause];
                    clause.retain(|other| other != owed);
                    if *owed == first {
                        clause.push(head);
                    }
                }
            }
        }
        dropped.sort_unstable();
        for (part, clause) in dropped.into_iter().rev() {
            self.parts[part].1.remove(clause);
        }
    }

    fn places(&self, waiting: &[Obligation]) -> FxHashMap<Obligation, Places> {
        let mut places: FxHashMap<Obligation, Places> =
            waiting.iter().map(|owed| (*owed, Vec::new())).collect();
        for (part, (_, clauses)) in self.parts.iter().enumerate() {
            for (clause, owed) in clauses.iter().enumerate() {
                for owed in owed {
                    if let Some(places) = places.get_mut(owed) {
                        places.push((part, clause));
                    }
                }
            }
        }
        places
    }

    /// Returns how two successive obligations are linked in one chain, if they can be.
    fn link(
        &self,
        (a, in_a): (&Obligation, &[(usize, usize)]),
        (b, in_b): (&Obligation, &[(usize, usize)]),
    ) -> Option<Chain> {
        if in_a == in_b {
            return Some(Chain::All(0));
        }
        let (&[(part, left)], &[(other, right)]) = (in_a, in_b) else {
            return None;
        };
        let clauses = &self.parts[part].1;
        let rest = |clause: usize, owed: &Obligation| {
            let others = clauses[clause].iter().filter(|each| *each != owed);
            others.copied().collect::<BTreeSet<Obligation>>()
        };
        (part == other && rest(left, a) == rest(right, b)).then_some(Chain::Any(0))
    }

    /// Numbers the chains by their order.
    fn number(mut self) -> Self {
        let mut order: Vec<usize> = (0..self.chains.len()).collect();
        let key = |&index: &usize| {
            let owed = self.chains[index].0;
            let is_any = matches!(owed.chain, Chain::Any(_));
            (kind(&owed), owed.lo, is_any)
        };
        order.sort_by_key(key);
        let mut numbers = vec![0; order.len()];
        for (number, &index) in order.iter().enumerate() {
            numbers[index] = number as u32;
        }
        for owed in self
            .parts
            .iter_mut()
            .flat_map(|(_, clauses)| clauses.iter_mut().flatten())
        {
            if let Chain::All(number) | Chain::Any(number) = &mut owed.chain {
                *number = numbers[*number as usize];
            }
        }
        let mut take = |index: usize| {
            let (owed, pieces) = &mut self.chains[index];
            (*owed, std::mem::take(pieces))
        };
        self.chains = order.into_iter().map(&mut take).collect();
        self
    }
}
