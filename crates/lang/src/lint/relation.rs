//! The relation between two properties of a spec: implication in either direction, and a trace that distinguishes them.

use super::theory;
use crate::domain::Work;
use crate::hir::Spec;
use crate::ids::{self, AtomId};
use crate::translate::{Timed, atom, translate};
use guard_automata::{
    self, CompileError, FormulaId, Formulas, Found, Interval, LazyDfa, Letter, LimitError,
    Resource, Run, Verdict, Word,
    omega::{self, Buchi},
    shortest_trace,
};

/// The traces on which formulas are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Finite traces of one step or more.
    Finite,
    /// Infinite traces.
    Infinite,
}

/// The relation between the traces of two formulas.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both have the same traces.
    Equivalent,
    /// Every trace of the first is a trace of the second.
    Implies,
    /// Every trace of the second is a trace of the first.
    ImpliedBy,
    /// They have no trace in common.
    Disjoint,
    /// Some traces satisfy both, and some satisfy only one.
    Overlapping,
}

/// The relation of two formulas, with a trace that shows it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The relation.
    pub relation: Relation,
    /// A trace of only one of them; `None` if they are equivalent, or if the trace is too long.
    pub difference: Option<Difference>,
}

/// A trace that satisfies one of two formulas and violates the other.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its steps.
    pub steps: Word,
    /// The start of the part that repeats forever; `None` if the trace ends.
    pub repeats_from: Option<usize>,
    /// The times of the steps in attoseconds since the first; empty if times do not matter.
    pub times: Vec<i128>,
    /// Whether the trace satisfies the first formula.
    pub satisfies_first: bool,
    /// Whether a limit was exceeded before it was known whether events can give all conditions these values.
    pub is_proposal: bool,
}

impl Relation {
    /// Returns the relation, from a trace of only the first, a trace of only the second, and a trace of both. If there are two
    /// traces, the shorter one is shown.
    pub(super) fn decided<E>(
        forth: Option<Trace>,
        back: Option<Trace>,
        common: impl FnOnce() -> Result<bool, E>,
    ) -> Result<Comparison, E> {
        let (relation, difference) = match (forth, back) {
            (None, None) => (Relation::Equivalent, None),
            (None, Some(back)) => (Relation::Implies, back.difference(false)),
            (Some(forth), None) => (Relation::ImpliedBy, forth.difference(true)),
            (Some(forth), Some(back)) => {
                let relation = if common()? {
                    Relation::Overlapping
                } else {
                    Relation::Disjoint
                };
                let shorter = if back.len() < forth.len() {
                    back.difference(false)
                } else {
                    forth.difference(true)
                };
                (relation, shorter)
            }
        };
        Ok(Comparison {
            relation,
            difference,
        })
    }

    /// Returns the name used in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Relation::Equivalent => "equivalent",
            Relation::Implies => "implies",
            Relation::ImpliedBy => "implied_by",
            Relation::Disjoint => "disjoint",
            Relation::Overlapping => "overlapping",
        }
    }
}

/// The number of times that a query is repeated after an impossible trace.
pub(super) const ROUNDS: usize = 64;

/// The work for automata in all rounds together, as a multiple of the limit on one.
const ALL_ROUNDS: u64 = 12;

/// From this bound on, an automaton with counters is tried before one without.
const LONG: u32 = 4_096;

/// Below this bound, counters do not make an automaton smaller.
const COUNTED: u32 = 16;

/// A trace with more steps than this is not expanded.
const WRITTEN: u64 = 100_000;

/// Compares two formulas of a spec. Combinations of letters that no event produces are excluded, as far as that is decided. If
/// possible, the distinguishing trace makes a letter of `shown` true at some step, so that instances of quantified properties
/// exist.
///
/// # Errors
/// A message that names the exceeded limit, or bounds in time that cannot be decided without a clock.
pub fn compare(
    spec: &Spec,
    first: ids::FormulaId,
    second: ids::FormulaId,
    shown: &[AtomId],
    semantics: Semantics,
    limits: &guard_automata::Limits,
) -> Result<Comparison, String> {
    let mut asking = Asking::new(spec, semantics, limits);
    let ([first, second], [forth, back]) = asking.both_ways([first, second], shown);
    Relation::decided(forth?, back?, || {
        let common = asking.formulas.and(first, second);
        Ok(asking.trace(common)?.is_some())
    })
}

/// Returns a shortest finite trace of each of two formulas that violates the other, and `None` if there is no such trace.
/// `shown` as in [`compare`].
///
/// # Errors
/// As in [`compare`], for each direction separately; also if the trace is too long.
pub fn excesses(
    spec: &Spec,
    formulas: [ids::FormulaId; 2],
    shown: &[AtomId],
    limits: &guard_automata::Limits,
) -> [Result<Option<Difference>, String>; 2] {
    let mut asking = Asking::new(spec, Semantics::Finite, limits);
    let (_, [forth, back]) = asking.both_ways(formulas, shown);
    let is_proposal = asking.work.is_exceeded();
    [(forth, true), (back, false)].map(|(found, satisfies_first)| {
        let Some(trace) = found? else {
            return Ok(None);
        };
        let difference = trace.difference(satisfies_first).map(|found| Difference {
            is_proposal,
            ..found
        });
        let too_long = || format!("the traces that differ have more than {WRITTEN} steps");
        difference.map(Some).ok_or_else(too_long)
    })
}

/// A trace as runs of equal steps, with the start of the repeated part if there is one, and the times if they matter.
pub(super) struct Trace {
    runs: Vec<Run>,
    repeats_from: Option<usize>,
    times: Vec<i128>,
}

impl Trace {
    pub(super) fn of(steps: Word, repeats_from: Option<usize>, times: Vec<i128>) -> Trace {
        let run = |letter| Run {
            letter,
            times: 1,
            at: None,
        };
        Trace {
            runs: steps.into_iter().map(run).collect(),
            repeats_from,
            times,
        }
    }

    fn len(&self) -> u64 {
        self.runs.iter().map(|run| run.times).sum()
    }

    /// Returns its letters, one for each run.
    fn letters(&self) -> Word {
        self.runs.iter().map(|run| run.letter.clone()).collect()
    }

    /// Returns a trace that distinguishes two formulas, or `None` if it is too long to be shown.
    fn difference(self, satisfies_first: bool) -> Option<Difference> {
        if self.len() > WRITTEN {
            return None;
        }
        let steps = |run: &Run| vec![run.letter.clone(); run.times as usize];
        Some(Difference {
            steps: self.runs.iter().flat_map(steps).collect(),
            repeats_from: self.repeats_from,
            times: self.times,
            satisfies_first,
            is_proposal: false,
        })
    }
}

/// Returns the reason why there is no automaton, with the name of the limit that it exceeds.
pub fn limit_message(error: impl Into<CompileError>) -> String {
    let error = error.into();
    match error {
        CompileError::Limit(LimitError { resource, .. }) => {
            format!("{error} (limit: `{}`)", resource.name())
        }
        CompileError::Timed => error.to_string(),
    }
}

pub(super) struct Asking<'a> {
    spec: &'a Spec,
    pub(super) formulas: Formulas,
    semantics: Semantics,
    limits: &'a guard_automata::Limits,
    work: Work,
    /// The work that automata may still take, in all rounds.
    left: u64,
    /// A condition that the trace should satisfy, if possible.
    shown: Option<FormulaId>,
    /// Whether the formulas have bounds in time.
    timed: bool,
}

impl<'a> Asking<'a> {
    pub(super) fn new(
        spec: &'a Spec,
        semantics: Semantics,
        limits: &'a guard_automata::Limits,
    ) -> Asking<'a> {
        Asking {
            spec,
            formulas: Formulas::new(),
            semantics,
            limits,
            work: Work::new(2_000_000, 50_000),
            left: limits.work.saturating_mul(ALL_ROUNDS),
            shown: None,
            timed: false,
        }
    }

    /// Returns the two formulas as compared, and for each a trace that does not satisfy the other.
    #[allow(
        clippy::type_complexity,
        reason = "the same twice: the formulas, and what was found in each direction"
    )]
    fn both_ways(
        &mut self,
        ids: [ids::FormulaId; 2],
        shown: &[AtomId],
    ) -> ([FormulaId; 2], [Result<Option<Trace>, String>; 2]) {
        if !shown.is_empty() {
            let letters: Vec<FormulaId> = shown
                .iter()
                .map(|letter| self.formulas.atom(atom(*letter)))
                .collect();
            let any = self.formulas.any(letters);
            self.shown = Some(self.formulas.eventually(Interval::ALL, any));
        }
        let table = &self.spec.formulas;
        let mut timed = Timed::default();
        let [first, second] = ids.map(|id| {
            let translated = translate(table, id, atom, &mut self.formulas);
            timed.untimed(&mut self.formulas, translated)
        });
        let known = timed.known(&mut self.formulas);
        let forth = self.excess(first, second, known);
        let back = self.excess(second, first, known);
        let holds = |found: &Result<Option<Trace>, String>| matches!(found, Ok(None));
        if !timed.is_needed() || holds(&forth) && holds(&back) {
            return ([first, second], [forth, back]);
        }
        // If the result depends on time, the automaton with a clock decides it.
        if self.semantics == Semantics::Infinite {
            let clock =
                || Err("the result depends on bounds in time, and the traces are infinite".into());
            return ([first, second], [clock(), clock()]);
        }
        let [first, second] = ids.map(|id| translate(table, id, atom, &mut self.formulas));
        let known = self.formulas.verum();
        self.timed = true;
        let mut again = |found, of, over| match holds(&found) {
            true => found,
            false => self.excess(of, over, known),
        };
        let both = [again(forth, first, second), again(back, second, first)];
        ([first, second], both)
    }

    /// Returns a trace of one formula that does not satisfy another.
    fn excess(
        &mut self,
        of: FormulaId,
        over: FormulaId,
        known: FormulaId,
    ) -> Result<Option<Trace>, String> {
        let is_finite = self.semantics == Semantics::Finite;
        if is_finite && guard_automata::evidently_implies(&mut self.formulas, of, over, self.limits)
        {
            return Ok(None);
        }
        let not = self.formulas.not(over);
        let parts = [known, of, not];
        let all = self.formulas.all(parts);
        if let Some(shown) = self.shown {
            let wished = self.formulas.and(all, shown);
            if let Some(trace) = self.trace(wished)? {
                return Ok(Some(trace));
            }
        }
        self.trace(all)
    }

    /// Returns a trace of a formula whose steps events can produce, as far as that is decided.
    fn trace(&mut self, formula: FormulaId) -> Result<Option<Trace>, String> {
        self.trace_with(formula, None)
    }

    /// Returns such a trace that an automaton over infinite traces accepts too.
    pub(super) fn trace_with(
        &mut self,
        formula: FormulaId,
        with: Option<&Buchi>,
    ) -> Result<Option<Trace>, String> {
        let mut formula = formula;
        for _ in 0..ROUNDS {
            let found = self.any_trace(formula, with)?;
            let Some(trace) = found else {
                return Ok(None);
            };
            match theory::impossible_part(self.spec, &trace.letters(), &mut self.work) {
                None => return Ok(Some(trace)),
                Some(part) => {
                    let never = self.never(&part);
                    formula = self.formulas.and(formula, never);
                }
            }
        }
        Err("too many conditions exclude one another".to_owned())
    }

    fn any_trace(
        &mut self,
        formula: FormulaId,
        with: Option<&Buchi>,
    ) -> Result<Option<Trace>, String> {
        if self.timed {
            let lazy = LazyDfa::new(&self.formulas, formula, self.limits);
            let mut lazy = lazy.map_err(limit_message)?;
            return match lazy.satisfying() {
                Found::Nothing => Ok(None),
                Found::Unknown => {
                    Err("the result depends on bounds in time in too many ways to check".to_owned())
                }
                Found::Trace(trace) => {
                    let (times, steps) = trace.into_iter().unzip();
                    Ok(Some(Trace::of(steps, None, times)))
                }
            };
        }
        let (steps, repeats_from) = match self.semantics {
            Semantics::Finite => {
                let long = self.formulas.greatest_bound(formula) >= LONG;
                if long && let Some(found) = self.counted_trace(formula) {
                    return Ok(found);
                }
                let limits = guard_automata::Limits {
                    work: self.limits.work.min(self.left),
                    ..self.limits.clone()
                };
                let (found, work) = shortest_trace(&mut self.formulas, formula, &limits);
                self.left = self.left.saturating_sub(work);
                match found {
                    Ok(Some(steps)) => (steps, None),
                    Ok(None) => return Ok(None),
                    Err(error) => {
                        // The automaton without counters is too large.
                        let counts = self.formulas.greatest_bound(formula) >= COUNTED;
                        let found = (counts && !long).then(|| self.counted_trace(formula));
                        return found.flatten().ok_or_else(|| self.exceeded(error));
                    }
                }
            }
            Semantics::Infinite => {
                let buchi = omega::translate(&self.formulas, formula, self.limits);
                let buchi = buchi.map_err(limit_message)?;
                let word = match with {
                    Some(other) => buchi
                        .common_word(other, self.limits)
                        .map_err(limit_message)?,
                    None => buchi.accepted_word(),
                };
                match word {
                    Some(lasso) => {
                        let repeats_from = Some(lasso.stem.len());
                        ([lasso.stem, lasso.cycle].concat(), repeats_from)
                    }
                    None => return Ok(None),
                }
            }
        };
        Ok(Some(Trace::of(steps, repeats_from, Vec::new())))
    }

    /// Returns a trace from the automaton with counters; the outer `None` means that it does not decide.
    fn counted_trace(&self, formula: FormulaId) -> Option<Option<Trace>> {
        let mut lazy = LazyDfa::new(&self.formulas, formula, self.limits).ok()?;
        let survey = lazy.survey();
        if let Some(runs) = survey.good {
            return Some(Some(Trace {
                runs,
                repeats_from: None,
                times: Vec::new(),
            }));
        }
        let accepts = [Verdict::Satisfied, Verdict::PresumablySatisfied];
        let none = accepts.map(|verdict| survey.reaches(verdict));
        (none == [Some(false); 2]).then_some(None)
    }

    /// Names the limit that an automaton exceeds.
    fn exceeded(&self, error: CompileError) -> String {
        match error {
            // Earlier rounds may have left less.
            CompileError::Limit(LimitError { resource, .. }) if resource == Resource::Work => {
                limit_message(CompileError::Limit(LimitError {
                    resource,
                    limit: self.limits.work,
                    demand: self.limits.work.saturating_add(1),
                }))
            }
            _ => limit_message(error),
        }
    }

    /// Returns the formula that no step satisfies all these literals.
    fn never(&mut self, part: &Letter) -> FormulaId {
        let literals: Vec<FormulaId> = part
            .iter()
            .map(|(atom, holds)| {
                let atom = self.formulas.atom(*atom);
                if *holds {
                    atom
                } else {
                    self.formulas.not(atom)
                }
            })
            .collect();
        let all = self.formulas.all(literals);
        let none = self.formulas.not(all);
        self.formulas.always(Interval::ALL, none)
    }
}
