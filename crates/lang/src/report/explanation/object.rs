//! The JSON form of an explanation.

use serde::Serialize;
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::analysis::written_out;
use super::{Against, Explanation, enforceable, infinite_word, kind};
use crate::hir::Severity;
use crate::lint::Semantics;
use crate::report::automaton::{seconds, word_json};
use crate::report::words;
use guard_automata::Run;

/// The keys of the JSON form, in order; unknown values are null.
#[derive(Serialize)]
struct Object<'a> {
    v: u8,
    name: &'a str,
    kind: &'static str,
    formula: &'a str,
    words: String,
    class: Option<ClassObject>,
    atoms: Vec<String>,
    reads: Vec<String>,
    dfa: Option<DfaObject>,
    /// The automaton with counters, if there is no other.
    #[serde(skip_serializing_if = "Option::is_none")]
    counted: Option<CountedObject>,
    buchi: Option<BuchiObject>,
    good: Option<Json>,
    bad: Option<Json>,
    /// The runs of equal steps in the examples, if these are too long to be listed, or have times.
    #[serde(skip_serializing_if = "Option::is_none")]
    good_runs: Option<Vec<RunObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bad_runs: Option<Vec<RunObject>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    no_automaton: Option<&'a String>,
    severity: Severity,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<&'a str>,
    doc: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    requirement: Option<&'a str>,
    cites: &'a [SmolStr],
    place: &'a str,
    /// The part that can be enforced, in words.
    enforceable: Option<String>,
    #[serde(flatten)]
    against: Option<AgainstObject<'a>>,
}

#[derive(Serialize)]
struct AgainstObject<'a> {
    against: &'a str,
    semantics: &'static str,
    relation: &'static str,
    /// A trace of only one of the two; empty if they are equivalent.
    witness: Json,
    /// The start of the part that repeats forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness_repeats_from: Option<usize>,
    /// The times of its steps, in seconds since the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witness_times: Vec<f64>,
    /// The property that it satisfies.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness_satisfies: Option<&'a str>,
}

#[derive(Serialize)]
struct BuchiObject {
    states: usize,
    transition_based: bool,
}

#[derive(Serialize)]
struct ClassObject {
    finite: &'static str,
    infinite: Option<&'static str>,
    enforce: &'static str,
    monitorable: Option<bool>,
}

#[derive(Serialize)]
struct DfaObject {
    states: usize,
    minimal: bool,
}

/// An automaton with counters.
#[derive(Serialize)]
struct CountedObject {
    states: usize,
    counters: usize,
    /// Whether these are all states.
    complete: bool,
}

/// A run of equal steps.
#[derive(Serialize)]
struct RunObject {
    step: Json,
    times: u64,
    /// The time in seconds since the first step.
    #[serde(skip_serializing_if = "Option::is_none")]
    at: Option<f64>,
}

impl Explanation<'_> {
    /// Writes the explanation as one JSON object.
    pub fn to_json(&self) -> String {
        let property = self.property;
        let automaton = &self.automaton;
        let (good, bad) = (automaton.good(self.spec), automaton.bad(self.spec));
        let object = Object {
            v: 1,
            name: &property.name,
            kind: kind(property.kind),
            formula: &self.formula,
            words: words::property(self.spec, property),
            class: automaton
                .finite()
                .zip(enforceable(automaton))
                .map(|(finite, enforce)| ClassObject {
                    finite,
                    infinite: self
                        .infinite
                        .as_ref()
                        .map(|infinite| infinite_word(infinite.class)),
                    enforce: enforce.as_str(),
                    monitorable: automaton.monitorable(),
                }),
            atoms: self.atoms(),
            reads: self.pointers(),
            dfa: automaton.dfa().map(|dfa| DfaObject {
                states: dfa.len(),
                minimal: true,
            }),
            counted: automaton.survey().map(|survey| CountedObject {
                states: survey.n_states,
                counters: survey.n_counters,
                complete: survey.complete,
            }),
            buchi: self.infinite.as_ref().map(|infinite| BuchiObject {
                states: infinite.states,
                transition_based: true,
            }),
            good: self.steps(&good),
            bad: self.steps(&bad),
            good_runs: self.runs(&good),
            bad_runs: self.runs(&bad),
            no_automaton: automaton.reason(),
            severity: property.severity,
            id: property.id.as_deref(),
            doc: &property.doc,
            requirement: property.requirement.as_deref(),
            cites: &property.cites,
            place: &self.place,
            enforceable: self.enforceable_part(),
            against: self
                .against
                .as_ref()
                .map(|against| self.against_object(against)),
        };
        serde_json::to_string(&object).unwrap_or_default()
    }

    /// Returns an example step by step, or `None` if there is none or it is long.
    fn steps(&self, runs: &[Run]) -> Option<Json> {
        let steps = written_out(runs).filter(|steps| !steps.is_empty())?;
        Some(word_json(self.spec, &steps))
    }

    /// Returns the runs of an example that is long or has times.
    fn runs(&self, runs: &[Run]) -> Option<Vec<RunObject>> {
        let timed = runs.iter().any(|run| run.at.is_some());
        if written_out(runs).is_some() && !timed {
            return None;
        }
        let object = |run: &Run| {
            let steps = word_json(self.spec, &vec![run.letter.clone()]);
            RunObject {
                step: steps.get(0).cloned().unwrap_or_default(),
                times: run.times,
                at: run.at.and_then(|time| seconds(&[time]).first().copied()),
            }
        };
        Some(runs.iter().map(object).collect())
    }

    fn against_object<'a>(&'a self, against: &'a Against) -> AgainstObject<'a> {
        let difference = against.comparison.difference.as_ref();
        AgainstObject {
            against: &against.name,
            semantics: match against.semantics {
                Semantics::Finite => "finite",
                Semantics::Infinite => "infinite",
            },
            relation: against.comparison.relation.as_str(),
            witness: difference.map_or_else(
                || Json::Array(Vec::new()),
                |difference| word_json(self.spec, &difference.steps),
            ),
            witness_repeats_from: difference.and_then(|difference| difference.repeats_from),
            witness_times: difference
                .map_or_else(Vec::new, |difference| seconds(&difference.times)),
            witness_satisfies: difference.map(|difference| {
                if difference.satisfies_first {
                    self.property.name.as_str()
                } else {
                    against.name.as_str()
                }
            }),
        }
    }
}
