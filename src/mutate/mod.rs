//! Mutants of properties: checks whether the tests of a spec detect a change of a property.
//!
//! Every property is changed in small ways (an operator, a bound, a negation, a conjunct left out). A change that does not
//! affect the set of satisfying traces is not a mutant; automata decide that. All others should be *killed*: some test that
//! passes with the original fails with the mutant, or the verdict on some recorded trace differs. A mutant that *survives* is
//! reported with a trace that would kill it, and a property with one test of few traces that kills all its survivors.
//!
//! Input: a [`Spec`] without errors and recorded traces; output: a [`Report`]. Templates that only tests use are mutated as
//! well, all their uses in the same way at once.
//!
//! # Limits
//! Bounds in time are distinguished on traces whose steps are a fixed time apart. [`Limits`] bounds the mutants of a property
//! and the work on its automata; omitted mutants are counted.
//!
//! # Source
//! R. DeMillo, R. Lipton, F. Sayward, "Hints on test data selection", 1978, for mutation; equivalence is decidable here.

mod change;
mod choose;
mod example;
mod judge;
mod pace;
mod subject;
mod write;

use std::sync::atomic::Ordering;

use rayon::prelude::*;
use smol_str::SmolStr;

use crate::audit::Progress;
use crate::eval;
use crate::hir::Spec;
use crate::input::limits::InputLimits;
use crate::source::SourceMap;

pub use write::{human, json};

/// The limits of a run.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The greatest number of mutants of one property that are judged.
    pub mutants: usize,
    /// The limits of each automaton that decides equivalence.
    pub automata: guard_automata::Limits,
    /// The limits on judging.
    pub eval: eval::Limits,
    /// The limits on reading the traces.
    pub input: InputLimits,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            mutants: 200,
            automata: guard_automata::Limits {
                states: 4_000,
                work: 2_000_000,
                nodes: 400_000,
                ..guard_automata::Limits::default()
            },
            eval: eval::Limits::default(),
            input: InputLimits::default(),
        }
    }
}

/// Recorded traces: a file, as the readers of `guard audit` take it.
#[derive(Clone, Debug)]
pub struct Recording {
    /// The name of the file in messages.
    pub name: String,
    /// Its text, decompressed.
    pub text: Vec<u8>,
}

/// The results for all properties, in order of declaration.
#[derive(Clone, Debug)]
pub struct Report {
    /// One per property or template.
    pub subjects: Vec<SubjectReport>,
}

/// The result for one property or template.
#[derive(Clone, Debug)]
pub struct SubjectReport {
    /// Its name.
    pub name: SmolStr,
    /// Whether it is a template, which is mutated in its uses in tests.
    pub template: bool,
    /// Its formula; for a template, as a test uses it.
    pub formula: String,
    /// The tests that expect a verdict on it.
    pub tests: usize,
    /// Its mutants.
    pub mutants: Vec<Mutant>,
    /// The number of changes without an effect on the meaning.
    pub equivalent: usize,
    /// The number of changes with the same meaning as another change.
    pub duplicate: usize,
    /// The number of mutants beyond the limit, and of changes whose meaning could not be compared.
    pub left_out: usize,
    /// The reason why it was not mutated.
    pub error: Option<String>,
    /// A proposed test of few cases that kills the survivors, as text of the language; it was run. `None` if nothing
    /// survives, or if no events were found that show a difference.
    pub proposal: Option<Proposal>,
    /// The reason why no test is proposed although mutants survive.
    pub unproposed: Option<Unproposed>,
}

/// The reason why no test is proposed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unproposed {
    /// No events were found that give the conditions the values of such a trace.
    NoEvents,
    /// The verdict on such events is unknown.
    Unknown,
}

impl Unproposed {
    /// The reason, as a clause.
    pub fn as_str(self) -> &'static str {
        match self {
            Unproposed::NoEvents => {
                "no events were found that give the conditions the values on which the two differ; \
                 conditions over tracks, counts and computed values are beyond the search"
            }
            Unproposed::Unknown => "the verdict on events that show the difference is unknown",
        }
    }
}

/// One mutant.
#[derive(Clone, Debug)]
pub struct Mutant {
    /// The change: `O for Y in …`.
    pub change: String,
    /// The resulting formula.
    pub formula: String,
    /// The name of the test or recorded trace that detects it; `None` if it survives.
    pub killed_by: Option<SmolStr>,
    /// A shortest trace on which it and the original differ.
    pub example: Example,
}

/// A test that kills several mutants.
#[derive(Clone, Debug)]
pub struct Proposal {
    /// Its text.
    pub test: String,
    /// Its cases: traces with the verdict on each.
    pub cases: usize,
    /// The number of the survivors that it kills.
    pub kills: usize,
}

/// A trace on which a mutant and the original differ.
#[derive(Clone, Debug)]
pub struct Example {
    /// Its steps, in the names of letters.
    pub steps: guard_automata::Word,
    /// Whether the original holds on it.
    pub holds: bool,
    /// A test that would kill the mutant, as text of the language: it was run. `None` if no such events were found.
    pub test: Option<String>,
}

impl Report {
    /// Returns the number of mutants that survive.
    pub fn survivors(&self) -> usize {
        let mutants = self.subjects.iter().flat_map(|subject| &subject.mutants);
        mutants.filter(|mutant| mutant.killed_by.is_none()).count()
    }

    /// Whether there are mutants, and none of the properties was left out.
    pub fn is_judged(&self) -> bool {
        self.mutants() > 0 && self.subjects.iter().all(|subject| subject.error.is_none())
    }

    /// Returns the number of mutants.
    pub fn mutants(&self) -> usize {
        self.subjects
            .iter()
            .map(|subject| subject.mutants.len())
            .sum()
    }
}

/// Mutates every property of a spec, and the templates that its tests use, and judges the mutants by its tests and by
/// recorded traces. The result does not depend on the number of threads.
pub fn run(
    spec: &Spec,
    sources: &SourceMap,
    recordings: &[Recording],
    limits: &Limits,
    progress: &Progress,
) -> Report {
    let subjects = subject::subjects(spec);
    let parts = subjects.len() as u64;
    progress.parts.fetch_add(parts, Ordering::Relaxed);
    let subjects = subjects
        .par_iter()
        .map(|subject| {
            let report = subject::run(spec, sources, recordings, subject, limits);
            progress.done.fetch_add(1, Ordering::Relaxed);
            report
        })
        .collect();
    Report { subjects }
}
