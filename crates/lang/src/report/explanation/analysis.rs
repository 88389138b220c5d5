//! The facts about a property that follow from its automaton: the minimal one or, if that is too large or does not exist, the
//! one with counters.

use crate::hir::Spec;
use crate::ids::FormulaId;
use crate::lint;
use crate::report::Finality;
use crate::translate::{atom, translate};
use guard_automata::{Dfa, Formulas, LazyDfa, Limits, Run, Survey, Verdict, Word, compile};

/// From this bound on, an automaton with counters is tried before one without.
const LONG: u32 = 4_096;

/// Examples of up to this many steps are listed step by step.
const WRITTEN: u64 = 1_000;

/// The analysis of a property by its automaton. Undecided parts are `None`.
#[derive(Debug)]
pub(super) enum Analysis {
    /// The minimal automaton.
    Plain(Dfa),
    /// The automaton with counters, and the reason why there is no other.
    Counted(Box<Survey>, String),
    /// Neither can be built.
    Nothing(String),
}

impl Analysis {
    pub(super) fn new(spec: &Spec, formula: FormulaId, limits: &Limits) -> Analysis {
        let mut formulas = Formulas::new();
        let root = translate(&spec.formulas, formula, atom, &mut formulas);
        let survey = || {
            let lazy = LazyDfa::new(&formulas, root, limits);
            lazy.map(|mut lazy| Box::new(lazy.survey()))
        };
        let bound = formulas.greatest_bound(root);
        if bound >= LONG
            && let Ok(survey) = survey()
            && survey.complete
        {
            let reason = format!("without counters, it has one state for each of {bound} steps");
            return Analysis::Counted(survey, reason);
        }
        match compile(&formulas, root, limits) {
            Ok(dfa) => Analysis::Plain(dfa),
            Err(reason) => match survey() {
                Ok(survey) => Analysis::Counted(survey, reason.to_string()),
                Err(_) => Analysis::Nothing(reason.to_string()),
            },
        }
    }

    pub(super) fn dfa(&self) -> Option<&Dfa> {
        match self {
            Analysis::Plain(dfa) => Some(dfa),
            Analysis::Counted(..) | Analysis::Nothing(_) => None,
        }
    }

    pub(super) fn survey(&self) -> Option<&Survey> {
        match self {
            Analysis::Counted(survey, _) => Some(survey),
            Analysis::Plain(_) | Analysis::Nothing(_) => None,
        }
    }

    /// Returns the reason why there is no minimal automaton.
    pub(super) fn reason(&self) -> Option<&String> {
        match self {
            Analysis::Plain(_) => None,
            Analysis::Counted(_, reason) | Analysis::Nothing(reason) => Some(reason),
        }
    }

    /// Whether some trace of one step or more has this verdict.
    pub(super) fn reaches(&self, verdict: Verdict) -> Option<bool> {
        match self {
            Analysis::Plain(dfa) => {
                let met = dfa.reached_by_reading();
                Some(met.iter().any(|state| dfa.verdict(*state) == verdict))
            }
            Analysis::Counted(survey, _) => survey.reaches(verdict),
            Analysis::Nothing(_) => None,
        }
    }

    pub(super) fn safety(&self) -> Option<bool> {
        Some(!self.reaches(Verdict::PresumablyViolated)?)
    }

    pub(super) fn cosafety(&self) -> Option<bool> {
        Some(!self.reaches(Verdict::PresumablySatisfied)?)
    }

    /// Returns the name of the class over finite traces.
    pub(super) fn finite(&self) -> Option<&'static str> {
        Some(match (self.safety()?, self.cosafety()?) {
            (true, true) => "both",
            (true, false) => "safety",
            (false, true) => "cosafety",
            (false, false) => "neither",
        })
    }

    pub(super) fn monitorable(&self) -> Option<bool> {
        match self {
            Analysis::Plain(dfa) => Some(dfa.is_monitorable()),
            Analysis::Counted(survey, _) => survey.monitorable,
            Analysis::Nothing(_) => None,
        }
    }

    /// Whether some trace of one step or more has this value.
    pub(super) fn has_value(&self, value: bool) -> Option<bool> {
        let (settled, open) = match value {
            true => (Verdict::Satisfied, Verdict::PresumablySatisfied),
            false => (Verdict::Violated, Verdict::PresumablyViolated),
        };
        match (self.reaches(settled), self.reaches(open)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }
    }

    /// Returns when violations become final.
    pub(super) fn finality(&self) -> Option<Finality> {
        let (settled, open) = (
            self.reaches(Verdict::Violated)?,
            self.reaches(Verdict::PresumablyViolated)?,
        );
        Some(match (settled, open) {
            (_, false) => Finality::Step,
            (false, true) => Finality::End,
            (true, true) => Finality::Either,
        })
    }

    /// Returns a short trace that satisfies the property.
    pub(super) fn good(&self, spec: &Spec) -> Vec<Run> {
        match self {
            Analysis::Plain(dfa) => runs(lint::example(spec, dfa)),
            Analysis::Counted(survey, _) => survey.good.clone().unwrap_or_default(),
            Analysis::Nothing(_) => Vec::new(),
        }
    }

    /// Returns a short trace that violates the property, for good if there is one.
    pub(super) fn bad(&self, spec: &Spec) -> Vec<Run> {
        match self {
            Analysis::Plain(dfa) => {
                let for_good = dfa.enforceable_part().complement();
                let found = lint::example(spec, &for_good);
                runs(found.or_else(|| lint::example(spec, &dfa.complement())))
            }
            Analysis::Counted(survey, _) => survey.bad.clone().unwrap_or_default(),
            Analysis::Nothing(_) => Vec::new(),
        }
    }
}

fn runs(word: Option<Word>) -> Vec<Run> {
    let run = |letter| Run {
        letter,
        times: 1,
        at: None,
    };
    word.unwrap_or_default().into_iter().map(run).collect()
}

/// Returns the steps of a trace one by one, or `None` for a long one.
pub(super) fn written_out(runs: &[Run]) -> Option<Word> {
    let steps: u64 = runs.iter().map(|run| run.times).sum();
    (steps <= WRITTEN).then(|| {
        let each = |run: &Run| vec![run.letter.clone(); run.times as usize];
        runs.iter().flat_map(each).collect()
    })
}
