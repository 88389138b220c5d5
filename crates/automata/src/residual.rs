//! Pending obligations: conditions on the rest of a trace, in disjunctive normal form.
//!
//! An obligation is a node that must hold at the next position. A *clause* is a set of obligations, a *residual* a set
//! of clauses of which one must be met; clauses are the states of a nondeterministic automaton, residuals those of the
//! deterministic one. Both are kept as antichains of an implication that is decided by syntax alone: `F[0,20] p`
//! implies `F[0,50] p`, so a clause with both keeps the first, and of a thousand pending answers only the most urgent
//! one remains. Therefore `G (a -> F[0,50] b)` has 52 states instead of 2^50.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::diagram::{FALSE, TRUE};
use super::limits::{LimitError, Meter};
use super::obligation::{Obligation, implies, start};
use super::program::{Core, Program, Words};

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

    /// Whether the trace may stop here: some clause needs no further position.
    pub(super) fn accepts(&self, residual: u32) -> bool {
        self.residuals[residual as usize]
            .iter()
            .any(|&clause| self.clause_accepts(clause))
    }

    /// Whether a clause needs no further position.
    pub(super) fn clause_accepts(&self, clause: u32) -> bool {
        let weak = |&o: &u32| !self.obligation(o).strong;
        self.clauses[clause as usize].iter().all(weak)
    }

    /// Whether some obligation reads a register at its position.
    pub(super) fn needs_registers(&self, program: &Program, residual: u32) -> bool {
        self.residuals[residual as usize]
            .iter()
            .any(|&clause| self.clause_needs_registers(program, clause))
    }

    /// As [`Self::needs_registers`], for one clause.
    pub(super) fn clause_needs_registers(&self, program: &Program, clause: u32) -> bool {
        let looks_back = |&o: &u32| program.looks_back[self.obligation(o).node as usize];
        self.clauses[clause as usize].iter().any(looks_back)
    }

    /// Returns a clause without its promises, and the promises.
    pub(super) fn take_promises(
        &mut self,
        program: &Program,
        clause: u32,
        meter: &mut Meter,
    ) -> Result<(u32, Vec<u32>), LimitError> {
        let mut promises = Vec::new();
        let mut rest = Vec::new();
        for &owed in self.clause(clause).iter() {
            match program.nodes[self.obligation(owed).node as usize] {
                Core::Promise(number) => promises.push(number),
                _ => rest.push(owed),
            }
        }
        Ok((self.intern_clause(rest, meter)?, promises))
    }

    /// Returns the residual of one clause.
    pub(super) fn of_clause(&mut self, clause: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        self.intern(vec![clause], meter)
    }

    /// Returns the residual of one obligation; conjunctions are taken apart.
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
                Core::False if o.strong || program.words == Words::Infinite => return Ok(FALSE),
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

    /// Returns the residual whose clauses are these sets of obligations, which must be an antichain.
    pub(super) fn of_clauses(
        &mut self,
        clauses: &[Vec<Obligation>],
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let mut ids = self.intern_clauses(clauses, meter)?;
        ids.sort_unstable();
        self.intern(ids, meter)
    }

    /// Returns the residual of any sets of obligations.
    pub(super) fn weakest(
        &mut self,
        program: &Program,
        clauses: &[Vec<Obligation>],
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let ids = self.intern_clauses(clauses, meter)?;
        self.antichain(program, ids, meter)
    }

    fn intern_clauses(
        &mut self,
        clauses: &[Vec<Obligation>],
        meter: &mut Meter,
    ) -> Result<Vec<u32>, LimitError> {
        let mut ids = Vec::with_capacity(clauses.len());
        for clause in clauses {
            let number = |&o: &Obligation| self.obligations.insert_full(o).0 as u32;
            let mut clause: Vec<u32> = clause.iter().map(number).collect();
            clause.sort_unstable();
            meter.grow(clause.len())?;
            ids.push(self.intern_clause(clause, meter)?);
        }
        Ok(ids)
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

    /// Returns the weakest clauses of a list: one that implies another is dropped.
    fn antichain(
        &mut self,
        program: &Program,
        mut clauses: Vec<u32>,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        clauses.sort_unstable();
        clauses.dedup();
        if program.n_promises > 0 {
            // Of clauses that differ only in their promises, the first one is kept.
            clauses.sort_by_cached_key(|&clause| self.n_promises(program, clause));
        }
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

    /// Returns the union of two clauses without obligations that the rest implies, or `None` if it cannot be satisfied.
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

    fn n_promises(&self, program: &Program, clause: u32) -> usize {
        let promise = |&&owed: &&u32| {
            let node = program.nodes[self.obligation(owed).node as usize];
            matches!(node, Core::Promise(_))
        };
        self.clauses[clause as usize].iter().filter(promise).count()
    }

    /// Whether every continuation that satisfies clause `c` satisfies clause `d`.
    ///
    /// A promise of `d` must be one of `c`, unless its witness is decided by the letter: if the witness is true, no clause
    /// makes the promise, so a run makes the promise only finitely often before the witness occurs.
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
            let wanted = program.nodes[self.obligation(p).node as usize];
            if matches!(wanted, Core::Promise(number) if program.decided[number as usize]) {
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
        let known = implies(program, a, b);
        self.implied.insert((o, p), known);
        Ok(known)
    }
}
