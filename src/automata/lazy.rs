//! A deterministic automaton that is built while traces are read, in bounded memory.
//!
//! [`compile`](super::compile) builds every state; a trace visits few of them. A [`LazyDfa`] makes a state and its
//! transitions when a trace first comes there, keeps them for the next time, and forgets all but the state it is in when the
//! memory it may use is full. After the first visits a step costs one walk down a diagram, as in a [`Dfa`](super::Dfa).
//!
//! What it says of a prefix as a whole trace is exact; what it says about continuations is sound and may come late, as with
//! a [`Machine`](super::Machine).

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::diagram::{Branch, Branches, Ref};
use super::eval::eval_empty;
use super::formula::{Atom, FormulaId, Formulas};
use super::limits::{CompileError, LimitError, Limits};
use super::machine::{freeze, thaw};
use super::outlook::Outlook;
use super::program::{Program, Words};
use super::progress::{Engine, Reading};
use super::verdict::{Finality, Verdict};

/// A deterministic automaton over finite traces whose states are made when they are needed. It follows one trace at a time;
/// a clone follows another.
///
/// ```
/// use guard_lang::automata::{Atom, Formulas, LazyDfa, Limits, Verdict};
/// let mut formulas = Formulas::new();
/// let (read, check) = (formulas.atom(Atom(0)), formulas.atom(Atom(1)));
/// let rule = formulas.leads_to(read, check);
/// let mut lazy = LazyDfa::new(&formulas, rule, &Limits::default())?;
/// lazy.read(|atom| atom == Atom(0))?;
/// assert_eq!(lazy.verdict(), Verdict::PresumablyViolated);
/// lazy.reset()?;
/// lazy.read(|_| false)?;
/// assert_eq!(lazy.verdict(), Verdict::PresumablySatisfied);
/// # Ok::<(), guard_lang::automata::CompileError>(())
/// ```
#[derive(Clone, Debug)]
pub struct LazyDfa {
    engine: Engine,
    limits: Limits,
    /// The configuration after what was read.
    state: u32,
    /// Whether nothing was read yet.
    fresh: bool,
    empty: bool,
    /// Per configuration that was left, its successors.
    roots: FxHashMap<u32, Ref>,
    finality: FxHashMap<u32, Finality>,
    /// Searches for acceptance and for rejection.
    outlooks: [Outlook; 2],
    n_clears: usize,
}

impl LazyDfa {
    /// The automaton of a formula, before anything is read. [`Limits::nodes`] bounds its memory, now and later.
    ///
    /// # Errors
    /// [`CompileError::Timed`] if an operator is bounded by time, [`CompileError::Limit`] when the formula itself is beyond
    /// the limits.
    pub fn new(
        formulas: &Formulas,
        formula: FormulaId,
        limits: &Limits,
    ) -> Result<LazyDfa, CompileError> {
        if formulas.is_timed(formula) {
            return Err(CompileError::Timed);
        }
        let program = Arc::new(Program::new(formulas, formula, Words::Finite, limits)?);
        let outlooks = [true, false].map(|wanted| Outlook::new(&program, wanted, limits));
        let mut engine = Engine::new(program, limits);
        let state = engine.initial()?;
        Ok(LazyDfa {
            engine,
            limits: limits.clone(),
            state,
            fresh: true,
            empty: eval_empty(formulas, formula),
            roots: FxHashMap::default(),
            finality: FxHashMap::default(),
            outlooks,
            n_clears: 0,
        })
    }

    /// Begins another trace; what was built is kept.
    ///
    /// # Errors
    /// When the formula is beyond the limits.
    pub fn reset(&mut self) -> Result<(), LimitError> {
        self.state = match self.engine.initial() {
            Ok(initial) => initial,
            Err(_) => {
                self.forget();
                self.engine.initial()?
            }
        };
        self.fresh = true;
        Ok(())
    }

    /// Reads one position. Only the atoms that matter are asked for.
    ///
    /// # Errors
    /// When one step alone needs more than the limits allow; nothing was read then.
    pub fn read(&mut self, mut holds: impl FnMut(Atom) -> bool) -> Result<(), LimitError> {
        let root = match self.successors(self.state) {
            Ok(root) => root,
            Err(_) if !self.roots.is_empty() || self.engine.meter.nodes() > 0 => {
                // The memory is full, or one step was much work: once more, with nothing but this state.
                self.clear()?;
                self.successors(self.state)?
            }
            Err(error) => return Err(error),
        };
        let mut at = root;
        loop {
            if let Some(leaf) = at.as_leaf() {
                self.state = leaf;
                self.fresh = false;
                return Ok(());
            }
            let Branch { var, lo, hi } = self.engine.diagrams.at(at);
            let atom = self.engine.program.atoms[var as usize];
            at = if holds(atom) { hi } else { lo };
        }
    }

    fn successors(&mut self, state: u32) -> Result<Ref, LimitError> {
        if let Some(&known) = self.roots.get(&state) {
            return Ok(known);
        }
        self.engine.meter.restart();
        let letter = vec![None; self.engine.program.n_vars()];
        let reading = Reading {
            letter: &letter,
            time: 0,
            open: true,
        };
        let root = self.engine.step(state, reading)?;
        self.roots.insert(state, root);
        Ok(root)
    }

    /// Forgets everything but the state.
    fn clear(&mut self) -> Result<(), LimitError> {
        let state = freeze(&self.engine, self.state, None);
        self.forget();
        self.state = thaw(&mut self.engine, &state)?;
        Ok(())
    }

    fn forget(&mut self) {
        self.engine = Engine::new(self.engine.program.clone(), &self.limits);
        self.roots.clear();
        self.finality.clear();
        self.n_clears += 1;
    }

    /// Whether the trace may stop here; exact.
    pub fn accepting(&self) -> bool {
        if self.fresh {
            self.empty
        } else {
            self.engine.accepts(self.state)
        }
    }

    /// The verdict on what was read, as far as it is known.
    pub fn verdict(&mut self) -> Verdict {
        let accepting = self.accepting();
        if self.fresh {
            // The empty trace has a value of its own, so what is owed decides nothing yet.
            return Verdict::new(Finality::Open, accepting);
        }
        let finality = match self.finality.get(&self.state) {
            Some(&known) => known,
            None => {
                let state = freeze(&self.engine, self.state, None);
                let [accepts, rejects] = &mut self.outlooks;
                let found = match (state.finality(), accepting) {
                    (Finality::Open, false) if accepts.reaches(state.parts()) == Some(false) => {
                        Finality::FinalFalse
                    }
                    (Finality::Open, true) if rejects.reaches(state.parts()) == Some(false) => {
                        Finality::FinalTrue
                    }
                    (known, _) => known,
                };
                self.finality.insert(self.state, found);
                found
            }
        };
        Verdict::new(finality, accepting)
    }

    /// How many states have been made since the memory was last full.
    pub fn n_states(&self) -> usize {
        self.roots.len()
    }

    /// How often the memory was full.
    pub fn n_clears(&self) -> usize {
        self.n_clears
    }
}
