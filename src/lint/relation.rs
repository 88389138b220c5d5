//! How two properties of a spec relate: which of them says more, and a trace that tells them apart.

use super::theory;
use crate::automata::{
    self, CompileError, FormulaId, Formulas, Interval, Letter, Traces, Word, compile, omega,
};
use crate::domain::Work;
use crate::hir::Spec;
use crate::ids::{self, LetterId};
use crate::translate::{Timed, atom, translate};

/// Which traces are spoken of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Semantics {
    /// Traces of one step or more that end.
    Finite,
    /// Traces that never end.
    Infinite,
}

/// How the traces of one formula lie to those of another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// The same traces.
    Equivalent,
    /// Every trace of the first is one of the second.
    Implies,
    /// Every trace of the second is one of the first.
    ImpliedBy,
    /// No trace is one of both.
    Disjoint,
    /// Some traces are of both, and some of one alone.
    Overlapping,
}

/// The relation of two formulas, with what shows it.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The relation.
    pub relation: Relation,
    /// A trace of one of them alone; none where they are equivalent.
    pub difference: Option<Difference>,
}

/// A trace that satisfies one of two formulas and violates the other.
#[derive(Clone, Debug)]
pub struct Difference {
    /// Its steps.
    pub steps: Word,
    /// Where the part begins that repeats forever; none where the trace ends.
    pub repeats_from: Option<usize>,
    /// Whether it is the first formula that it satisfies.
    pub satisfies_first: bool,
}

impl Relation {
    /// The word of reports.
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

/// How often a question is asked again when its answer is a trace that cannot happen.
const ROUNDS: usize = 64;

/// Compares two formulas of a spec. Letters may have any values together that some event gives, as far as that is decided.
/// Where there is a choice, the trace that tells them apart is one in which a letter of `shown` is true at some step: the
/// instances of quantified properties exist there.
///
/// # Errors
/// A limit, or bounds in time about which a clock would have to decide; the text says which.
pub fn compare(
    spec: &Spec,
    first: ids::FormulaId,
    second: ids::FormulaId,
    shown: &[LetterId],
    semantics: Semantics,
    limits: &automata::Limits,
) -> Result<Comparison, String> {
    let mut asking = Asking {
        spec,
        formulas: Formulas::new(),
        semantics,
        limits,
        work: Work::new(2_000_000, 50_000),
        shown: None,
    };
    if !shown.is_empty() {
        let letters: Vec<FormulaId> = shown
            .iter()
            .map(|letter| asking.formulas.atom(atom(*letter)))
            .collect();
        let any = asking.formulas.any(letters);
        asking.shown = Some(asking.formulas.eventually(Interval::ALL, any));
    }
    let mut timed = Timed::default();
    let formula = |id, formulas: &mut Formulas, timed: &mut Timed| {
        let translated = translate(&spec.formulas, id, atom, formulas);
        timed.untimed(formulas, translated)
    };
    let first = formula(first, &mut asking.formulas, &mut timed);
    let second = formula(second, &mut asking.formulas, &mut timed);
    let known = timed.known(&mut asking.formulas);
    let forth = asking.excess(first, second, known)?;
    let back = asking.excess(second, first, known)?;
    if timed.is_needed() && (forth.is_some() || back.is_some()) {
        return Err("bounds in time decide it, and they have no automaton".to_owned());
    }
    let difference = |trace: Option<Trace>, satisfies_first| {
        trace.map(|(steps, repeats_from)| Difference {
            steps,
            repeats_from,
            satisfies_first,
        })
    };
    let (relation, difference) = match (forth, back) {
        (None, None) => (Relation::Equivalent, None),
        (None, back) => (Relation::Implies, difference(back, false)),
        (forth, None) => (Relation::ImpliedBy, difference(forth, true)),
        (Some(forth), Some(back)) => {
            let common = asking.formulas.and(first, second);
            let relation = match asking.trace(common)? {
                None => Relation::Disjoint,
                Some(_) => Relation::Overlapping,
            };
            let shorter = if back.0.len() < forth.0.len() {
                difference(Some(back), false)
            } else {
                difference(Some(forth), true)
            };
            (relation, shorter)
        }
    };
    Ok(Comparison {
        relation,
        difference,
    })
}

/// Steps, and where they repeat from if they do.
type Trace = (Word, Option<usize>);

struct Asking<'a> {
    spec: &'a Spec,
    formulas: Formulas,
    semantics: Semantics,
    limits: &'a automata::Limits,
    work: Work,
    /// What is wished of a trace.
    shown: Option<FormulaId>,
}

impl Asking<'_> {
    /// A trace of one formula that is none of another.
    fn excess(
        &mut self,
        of: FormulaId,
        over: FormulaId,
        known: FormulaId,
    ) -> Result<Option<Trace>, String> {
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

    /// A trace of a formula all of whose steps some event gives, as far as that is decided.
    fn trace(&mut self, formula: FormulaId) -> Result<Option<Trace>, String> {
        let mut formula = formula;
        for _ in 0..ROUNDS {
            let found = self.any_trace(formula).map_err(|error| error.to_string())?;
            let Some(trace) = found else {
                return Ok(None);
            };
            match theory::impossible_part(self.spec, &trace.0, &mut self.work) {
                None => return Ok(Some(trace)),
                Some(part) => {
                    let never = self.never(&part);
                    formula = self.formulas.and(formula, never);
                }
            }
        }
        Err("too many letters exclude one another".to_owned())
    }

    fn any_trace(&self, formula: FormulaId) -> Result<Option<Trace>, CompileError> {
        Ok(match self.semantics {
            Semantics::Finite => compile(&self.formulas, formula, self.limits)?
                .shortest_accepted(Traces::NonEmpty)
                .map(|steps| (steps, None)),
            Semantics::Infinite => omega::translate(&self.formulas, formula, self.limits)?
                .accepted_word()
                .map(|lasso| {
                    let repeats_from = lasso.stem.len();
                    ([lasso.stem, lasso.cycle].concat(), Some(repeats_from))
                }),
        })
    }

    /// That no step has all these literals.
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
