//! What a trace still owes: obligations on the rest of it, in disjunctive normal form.
//!
//! An [`Obligation`] is a node that must hold at the next position. A *clause* is a set of obligations, a *residual* a set
//! of clauses of which one must be met; clauses are the states of a nondeterministic automaton, residuals those of the
//! deterministic one. Both are kept as antichains of an implication that is decided by syntax alone: `F[0,20] p` implies
//! `F[0,50] p`, so that a clause with both keeps the first, and of a thousand pending answers only the most urgent one
//! counts. That is what keeps `G (a -> F[0,50] b)` at 52 states instead of 2^50.
//!
//! Windows in steps shrink as they move; windows in time are absolute from the moment the obligation is made.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::core::{Core, NodeId, Program};
use super::limits::{LimitError, Meter};

/// The residual without clauses: no continuation will do.
pub(super) const FALSE: u32 = 0;
/// The residual of the empty clause: every continuation will do.
pub(super) const TRUE: u32 = 1;

/// `node` holds at the next position; `strong` says that there must be one.
///
/// For `Until` and `Release` the window replaces that of the node; for others it is `[0, 0]`. A window in time is absolute
/// once the node has `started`, and until then that of the node; windows in steps are always as if started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Obligation {
    pub(super) node: NodeId,
    pub(super) strong: bool,
    pub(super) started: bool,
    pub(super) lo: i128,
    pub(super) hi: i128,
}

/// The tables of obligations, clauses and residuals, which refer to each other by number.
#[derive(Clone, Debug)]
pub(super) struct Residuals {
    obligations: IndexSet<Obligation, FxBuildHasher>,
    clauses: IndexSet<Arc<[u32]>, FxBuildHasher>,
    residuals: IndexSet<Arc<[u32]>, FxBuildHasher>,
    implied: FxHashMap<(u32, u32), bool>,
}

impl Residuals {
    pub(super) fn new() -> Self {
        let (mut clauses, mut residuals) = (IndexSet::default(), IndexSet::default());
        clauses.insert(Arc::from([]));
        residuals.insert(Arc::from([]));
        residuals.insert(Arc::from([0]));
        Residuals {
            obligations: IndexSet::default(),
            clauses,
            residuals,
            implied: FxHashMap::default(),
        }
    }

    pub(super) fn obligation(&self, id: u32) -> Obligation {
        self.obligations[id as usize]
    }

    pub(super) fn clause(&self, id: u32) -> Arc<[u32]> {
        self.clauses[id as usize].clone()
    }

    pub(super) fn clauses(&self, residual: u32) -> Arc<[u32]> {
        self.residuals[residual as usize].clone()
    }

    /// Whether the trace may stop here: some clause asks for no further position.
    pub(super) fn accepts(&self, residual: u32) -> bool {
        let weak = |&o: &u32| !self.obligation(o).strong;
        self.residuals[residual as usize]
            .iter()
            .any(|&clause| self.clauses[clause as usize].iter().all(weak))
    }

    /// Whether some obligation looks back past the position it is for.
    pub(super) fn needs_registers(&self, program: &Program, residual: u32) -> bool {
        let looks_back = |&o: &u32| program.looks_back[self.obligation(o).node as usize];
        self.residuals[residual as usize]
            .iter()
            .any(|&clause| self.clauses[clause as usize].iter().any(looks_back))
    }

    /// The residual of one obligation; conjunctions are taken apart.
    pub(super) fn single(
        &mut self,
        program: &Program,
        obligation: Obligation,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let mut whole = TRUE;
        let mut stack = vec![obligation];
        while let Some(o) = stack.pop() {
            let part = match program.nodes[o.node as usize] {
                Core::And(f, g) => {
                    stack.push(start(program, g, o.strong));
                    stack.push(start(program, f, o.strong));
                    continue;
                }
                Core::True if !o.strong => continue,
                Core::False if o.strong => return Ok(FALSE),
                _ => {
                    let (id, new) = self.obligations.insert_full(o);
                    meter.grow(usize::from(new))?;
                    let clause = self.intern_clause(vec![id as u32], meter)?;
                    self.intern(vec![clause], meter)?
                }
            };
            whole = self.and(program, whole, part, meter)?;
        }
        Ok(whole)
    }

    /// The residual whose clauses are these sets of obligations.
    pub(super) fn from_parts(
        &mut self,
        clauses: &[Arc<[Obligation]>],
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let mut ids = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let mut clause: Vec<u32> = clause
                .iter()
                .map(|&o| self.obligations.insert_full(o).0 as u32)
                .collect();
            clause.sort_unstable();
            meter.grow(clause.len())?;
            ids.push(self.intern_clause(clause, meter)?);
        }
        ids.sort_unstable();
        self.intern(ids, meter)
    }

    fn intern_clause(&mut self, clause: Vec<u32>, meter: &mut Meter) -> Result<u32, LimitError> {
        if let Some(id) = self.clauses.get_index_of(clause.as_slice()) {
            return Ok(id as u32);
        }
        meter.grow(1 + clause.len() / 8)?;
        Ok(self.clauses.insert_full(clause.into()).0 as u32)
    }

    fn intern(&mut self, residual: Vec<u32>, meter: &mut Meter) -> Result<u32, LimitError> {
        if let Some(id) = self.residuals.get_index_of(residual.as_slice()) {
            return Ok(id as u32);
        }
        meter.grow(1 + residual.len() / 8)?;
        Ok(self.residuals.insert_full(residual.into()).0 as u32)
    }

    pub(super) fn or(
        &mut self,
        program: &Program,
        a: u32,
        b: u32,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        match (a, b) {
            (TRUE, _) | (_, TRUE) => Ok(TRUE),
            (FALSE, other) | (other, FALSE) => Ok(other),
            _ if a == b => Ok(a),
            _ => {
                let mut clauses = self.clauses(a).to_vec();
                clauses.extend_from_slice(&self.clauses(b));
                self.antichain(program, clauses, meter)
            }
        }
    }

    pub(super) fn and(
        &mut self,
        program: &Program,
        a: u32,
        b: u32,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        match (a, b) {
            (FALSE, _) | (_, FALSE) => Ok(FALSE),
            (TRUE, other) | (other, TRUE) => Ok(other),
            _ if a == b => Ok(a),
            _ => {
                let (left, right) = (self.clauses(a), self.clauses(b));
                let mut clauses =
                    Vec::with_capacity(left.len().saturating_mul(right.len()).min(1 << 16));
                for &c in left.iter() {
                    for &d in right.iter() {
                        if let Some(both) = self.join(program, c, d, meter)? {
                            clauses.push(both);
                        }
                    }
                }
                self.antichain(program, clauses, meter)
            }
        }
    }

    /// The weakest clauses of a list: one that implies another is dropped.
    fn antichain(
        &mut self,
        program: &Program,
        mut clauses: Vec<u32>,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        clauses.sort_unstable();
        clauses.dedup();
        let mut kept: Vec<u32> = Vec::with_capacity(clauses.len());
        'next: for clause in clauses {
            for &other in &kept {
                if self.clause_implies(program, clause, other, meter)? {
                    continue 'next;
                }
            }
            let mut index = 0;
            while index < kept.len() {
                if self.clause_implies(program, kept[index], clause, meter)? {
                    kept.swap_remove(index);
                } else {
                    index += 1;
                }
            }
            kept.push(clause);
        }
        kept.sort_unstable();
        self.intern(kept, meter)
    }

    /// The union of two clauses without what the rest implies; none if it cannot be met.
    fn join(
        &mut self,
        program: &Program,
        c: u32,
        d: u32,
        meter: &mut Meter,
    ) -> Result<Option<u32>, LimitError> {
        if c == d {
            return Ok(Some(c));
        }
        let (left, right) = (self.clause(c), self.clause(d));
        meter.spend(1 + left.len() + right.len())?;
        let mut both: Vec<u32> = Vec::with_capacity(left.len() + right.len());
        'left: for &o in left.iter() {
            for &p in right.iter() {
                if p != o
                    && self.implies(program, p, o, meter)?
                    && !(o < p && self.implies(program, o, p, meter)?)
                {
                    continue 'left;
                }
            }
            both.push(o);
        }
        'right: for &p in right.iter() {
            for &o in left.iter() {
                if o == p
                    || self.implies(program, o, p, meter)?
                        && !(p < o && self.implies(program, p, o, meter)?)
                {
                    continue 'right;
                }
            }
            both.push(p);
        }
        both.sort_unstable();
        let last = both
            .iter()
            .any(|&o| program.nodes[self.obligation(o).node as usize] == Core::False);
        if last && both.iter().any(|&o| self.obligation(o).strong) {
            return Ok(None);
        }
        self.intern_clause(both, meter).map(Some)
    }

    /// Whether whatever meets clause `c` meets clause `d`.
    fn clause_implies(
        &mut self,
        program: &Program,
        c: u32,
        d: u32,
        meter: &mut Meter,
    ) -> Result<bool, LimitError> {
        let (left, right) = (self.clause(c), self.clause(d));
        meter.spend(1)?;
        'wanted: for &p in right.iter() {
            if left.binary_search(&p).is_ok() {
                continue;
            }
            for &o in left.iter() {
                if self.implies(program, o, p, meter)? {
                    continue 'wanted;
                }
            }
            return Ok(false);
        }
        Ok(true)
    }

    fn implies(
        &mut self,
        program: &Program,
        o: u32,
        p: u32,
        meter: &mut Meter,
    ) -> Result<bool, LimitError> {
        if o == p {
            return Ok(true);
        }
        meter.spend(1)?;
        let (a, b) = (self.obligation(o), self.obligation(p));
        if b.strong && !a.strong {
            return Ok(false);
        }
        if let Some(&known) = self.implied.get(&(o, p)) {
            return Ok(known);
        }
        meter.grow(1)?;
        let known = implies(program, a, b, FUEL);
        self.implied.insert((o, p), known);
        Ok(known)
    }
}

/// The obligation that `node` holds next, with the window that the node has when it starts there.
pub(super) fn start(program: &Program, node: NodeId, strong: bool) -> Obligation {
    let (started, lo, hi) = match program.nodes[node as usize] {
        Core::Until { window, .. } | Core::Release { window, .. } => {
            (!window.timed, window.lo, window.hi)
        }
        _ => (true, 0, 0),
    };
    Obligation {
        node,
        strong,
        started,
        lo,
        hi,
    }
}

/// Nesting up to which implication is looked for.
const FUEL: u32 = 4;

/// Whether `a` implies `b` at every position, as far as syntax shows it; whether they are strong is not looked at.
fn implies(program: &Program, a: Obligation, b: Obligation, fuel: u32) -> bool {
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
            return implies(program, part(f), b, fuel) && implies(program, part(g), b, fuel);
        }
        (_, Core::And(f, g)) => {
            return implies(program, a, part(f), fuel) && implies(program, a, part(g), fuel);
        }
        (Core::And(f, g), _)
            if implies(program, part(f), b, fuel) || implies(program, part(g), b, fuel) =>
        {
            return true;
        }
        (_, Core::Or(f, g))
            if implies(program, a, part(f), fuel) || implies(program, a, part(g), fuel) =>
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
                && implies(program, part(f), part(h), fuel)
                && implies(program, part(g), part(k), fuel)
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
                && implies(program, part(f), part(h), fuel)
                && implies(program, part(g), part(k), fuel)
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
            return (s || !t) && implies(program, part(f), part(g), fuel);
        }
        _ => {}
    }
    match y {
        Core::Until { rhs, window, .. }
            if !window.timed && b.lo == 0 && implies(program, a, part(rhs), fuel) =>
        {
            return true;
        }
        _ => {}
    }
    match x {
        Core::Release { rhs, window, .. } if !window.timed && a.lo == 0 => {
            implies(program, part(rhs), b, fuel)
        }
        _ => false,
    }
}
