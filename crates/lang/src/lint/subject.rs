//! The properties of a spec, each with its automaton.

use std::borrow::Cow;
use std::cell::OnceCell;

use rustc_hash::{FxHashMap, FxHashSet};

use super::limits::Budget;
use super::together::fields;
use super::{theory, within};
use crate::hir::{self, Property, PropertyKind, Spec};
use crate::ids::{self, AtomId, ExprId};
use crate::source::Span;
use crate::translate::{Steps, Timed, atom, translate};
use guard_automata::{Class, Dfa, FormulaId, Formulas, Traces, Verdict, Word};

/// The data shared by all lints about properties.
pub(super) struct Subjects<'s> {
    pub(super) spec: &'s Spec,
    /// The properties that are judged, in order of declaration.
    pub(super) all: Vec<Subject<'s>>,
    /// The formulas of the spec, and modified ones.
    pub(super) scratch: hir::Formulas,
    /// The same formulas in the form of the automata crate.
    pub(super) formulas: Formulas,
    pub(super) timed: Timed,
    /// Automata of formulas without bounds in time.
    built: FxHashMap<ids::FormulaId, Option<Dfa>>,
    /// The automaton of the known facts about parts that are bounded in time.
    known: Option<Dfa>,
}

/// The enforceable part of a property, determined by the prefixes that it permits.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The prefix satisfies the property, or a longer trace does.
    Enforceable,
    /// A longer trace satisfies the property.
    Extendable,
}

impl Part {
    /// Returns the automaton of the prefixes that this part permits.
    pub(super) fn of(self, dfa: &Dfa) -> Dfa {
        match self {
            Part::Enforceable => dfa.enforceable_part(),
            Part::Extendable => dfa.extendable_part(),
        }
    }
}

/// One property.
pub(super) struct Subject<'s> {
    pub(super) property: &'s Property,
    /// Whether the property has bounds in time, which are atoms in `formula` and `dfa`.
    pub(super) timed: bool,
    /// Whether every trace that events can make satisfies it.
    pub(super) valid: bool,
    /// Whether some trace that events can make satisfies it, as far as is known.
    pub(super) satisfiable: bool,
    /// The automaton, if the limits allow it.
    pub(super) dfa: Option<Dfa>,
    pub(super) class: Option<Class>,
    /// The enforceable part and the extendable part, built on demand.
    open: [OnceCell<Dfa>; 2],
    can_rest: OnceCell<bool>,
    pub(super) letters: Vec<AtomId>,
    /// Whether a letter is constant; then only the letter is reported.
    pub(super) degenerate: bool,
    /// The fields that its letters read.
    pub(super) fields: Vec<usize>,
}

impl<'s> Subjects<'s> {
    pub(super) fn new(
        spec: &'s Spec,
        constant: &FxHashSet<ExprId>,
        budget: &mut Budget,
    ) -> Subjects<'s> {
        let mut subjects = Subjects {
            spec,
            all: Vec::new(),
            scratch: spec.formulas.clone(),
            formulas: Formulas::new(),
            timed: Timed::default(),
            built: FxHashMap::default(),
            known: None,
        };
        let judged: Vec<&Property> = spec
            .properties
            .iter()
            .filter(|property| property.kind != PropertyKind::Condition)
            .collect();
        // All parts with bounds in time must be known before the first automaton is built.
        for property in &judged {
            subjects.translated(property.formula);
        }
        let known = subjects.timed.known(&mut subjects.formulas);
        subjects.known = budget.compile(&subjects.formulas, known);
        for property in judged {
            let timed = spec.formulas.is_timed(property.formula);
            let dfa = subjects.automaton(property.formula, budget);
            let class = dfa.as_ref().map(Dfa::class);
            let letters = spec.formulas.atoms_of(property.formula);
            let degenerate = letters
                .iter()
                .any(|letter| constant.contains(&spec.atom(*letter).expr));
            let mut valid = match (&subjects.known, &dfa) {
                (Some(known), Some(dfa)) if timed => budget.implies(known, dfa) == Some(true),
                _ => class.is_some_and(|class| class.valid),
            };
            let mut satisfiable = class.is_none_or(|class| class.satisfiable);
            // Letters that exclude one another. Of a constant letter only the letter is reported.
            if let Some(dfa) = dfa
                .as_ref()
                .filter(|_| satisfiable && !valid && !timed && !degenerate)
            {
                let mut is_empty =
                    |dfa: &Dfa| theory::shortest(spec, dfa, Traces::NonEmpty, budget) == Some(None);
                valid = is_empty(&dfa.complement());
                satisfiable = !is_empty(dfa);
            }
            subjects.all.push(Subject {
                property,
                timed,
                valid,
                satisfiable,
                dfa,
                class,
                open: Default::default(),
                can_rest: OnceCell::new(),
                fields: fields(spec, &letters),
                degenerate,
                letters,
            });
        }
        subjects
    }

    /// Translates a formula of `scratch` for the automata crate, without clocks.
    pub(super) fn translated(&mut self, formula: ids::FormulaId) -> FormulaId {
        let translated = translate(&self.scratch, formula, atom, &mut self.formulas);
        self.timed.untimed(&mut self.formulas, translated)
    }

    /// Returns the automaton of a formula of `scratch`. If the formula has bounds in time, the automaton accepts the words that
    /// no clock excludes. Only words in which the parts bounded in time are consistent are considered, so equal automata imply
    /// equal formulas.
    pub(super) fn automaton(
        &mut self,
        formula: ids::FormulaId,
        budget: &mut Budget,
    ) -> Option<Dfa> {
        if let Some(built) = self.built.get(&formula) {
            return built.clone();
        }
        let translated = self.translated(formula);
        if !self.scratch.is_timed(formula) {
            let built = budget.compile(&self.formulas, translated);
            self.built.insert(formula, built.clone());
            return built;
        }
        let known = self.timed.known(&mut self.formulas);
        let whole = self.formulas.and(known, translated);
        budget.compile(&self.formulas, whole)
    }

    /// Returns the automaton of a property for comparison with another one that may have bounds in time.
    pub(super) fn clocked(
        &self,
        index: usize,
        other: usize,
        budget: &mut Budget,
    ) -> Option<Cow<'_, Dfa>> {
        let subject = &self.all[index];
        let dfa = subject.dfa.as_ref()?;
        match self.all[other].timed && !subject.timed {
            true => Some(Cow::Owned(budget.both(dfa, self.known.as_ref()?)?)),
            false => Some(Cow::Borrowed(dfa)),
        }
    }

    /// Returns the span of a part of a property if the part occurs once; else that of the whole formula.
    pub(super) fn place(&self, part: ids::FormulaId, property: &Property) -> Span {
        let places = self.spec.outline.formulas.iter();
        let mut places: Vec<Span> = places
            .filter(|(formula, span)| *formula == part && within(*span, property.span))
            .map(|(_, span)| *span)
            .collect();
        places.sort();
        places.dedup();
        match places.as_slice() {
            [one] => *one,
            _ => property.formula_span,
        }
    }

    /// Returns a readable form of a word.
    pub(super) fn steps(&self, word: &Word) -> Steps {
        Steps::new(&self.spec.formulas, word)
    }
}

impl Subject<'_> {
    /// Returns the prefixes that this part permits.
    pub(super) fn open(&self, part: Part) -> Option<&Dfa> {
        let dfa = self.dfa.as_ref()?;
        Some(self.open[part as usize].get_or_init(|| part.of(dfa)))
    }

    /// Whether the property contradicts no property about other letters ([`Dfa::can_rest`]).
    pub(super) fn can_rest(&self) -> bool {
        let can_rest = || self.dfa.as_ref().is_some_and(Dfa::can_rest);
        *self.can_rest.get_or_init(can_rest)
    }

    /// Whether the property can be combined with others of the same kind; quantified properties are combined at one
    /// value.
    pub(super) fn joint(&self) -> bool {
        let quantified = self.property.quantified.as_ref();
        quantified.is_none_or(|quantified| quantified.universal)
    }

    /// Whether the property is quantified.
    pub(super) fn quantified(&self) -> bool {
        self.property.quantified.is_some()
    }

    /// Whether some trace violates the property before its end, and whether some trace violates it only by its end.
    pub(super) fn fails(&self) -> Option<(bool, bool)> {
        Some((
            self.reaches(Verdict::Violated)?,
            self.reaches(Verdict::PresumablyViolated)?,
        ))
    }

    /// Whether some step of some trace has this verdict.
    pub(super) fn reaches(&self, wanted: Verdict) -> Option<bool> {
        let dfa = self.dfa.as_ref().filter(|_| !self.timed)?;
        let met = dfa.reached_by_reading();
        Some(met.iter().any(|state| dfa.verdict(*state) == wanted))
    }

    /// Whether the property is neither always true nor always false, and no letter of it is constant: otherwise only that is reported.
    pub(super) fn is_contingent(&self) -> bool {
        self.satisfiable && !self.valid && !self.degenerate
    }
}

/// Whether the sentence of a requirement, or the documentation of a property, contains one of these phrases (in lower case):
/// then the author intends what a hint would question.
pub(super) fn is_documented(property: &Property, phrases: &[&str]) -> bool {
    let sentence = property.requirement.as_deref().unwrap_or_default();
    let words = format!("{sentence} {}", property.doc).to_lowercase();
    let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
    phrases.iter().any(|phrase| words.contains(phrase))
}
