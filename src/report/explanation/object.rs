//! The JSON form of an explanation.

use serde::Serialize;
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::{Against, Explanation, enforceable, finite, infinite_word, kind};
use crate::automata::Word;
use crate::hir::Severity;
use crate::lint::Semantics;
use crate::report::automaton::{seconds, word_json};
use crate::report::words;

/// The keys of the JSON form, in order; what is not known is null.
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
    buchi: Option<BuchiObject>,
    good: Option<Json>,
    bad: Option<Json>,
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
    /// What of it can be enforced, in words.
    enforceable: Option<String>,
    #[serde(flatten)]
    against: Option<AgainstObject<'a>>,
}

#[derive(Serialize)]
struct AgainstObject<'a> {
    against: &'a str,
    semantics: &'static str,
    relation: &'static str,
    /// A trace of one of the two alone; empty where they are equivalent.
    witness: Json,
    /// Where the part of it begins that repeats forever.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness_repeats_from: Option<usize>,
    /// When its steps are, in seconds since the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    witness_times: Vec<f64>,
    /// The one of the two that it satisfies.
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
    monitorable: bool,
}

#[derive(Serialize)]
struct DfaObject {
    states: usize,
    minimal: bool,
}

impl Explanation<'_> {
    /// As one JSON object.
    pub fn to_json(&self) -> String {
        let property = self.property;
        let dfa = self.dfa.as_ref().ok();
        let example = |word: Option<Word>| word.map(|word| word_json(self.spec, &word));
        let object = Object {
            v: 1,
            name: &property.name,
            kind: kind(property.kind),
            formula: &self.formula,
            words: words::property(self.spec, property),
            class: dfa.map(|dfa| ClassObject {
                finite: finite(dfa.class()),
                infinite: self
                    .infinite
                    .as_ref()
                    .map(|infinite| infinite_word(infinite.class)),
                enforce: enforceable(dfa).as_str(),
                monitorable: dfa.class().monitorable,
            }),
            atoms: self.atoms(),
            reads: self.pointers(),
            dfa: dfa.map(|dfa| DfaObject {
                states: dfa.len(),
                minimal: true,
            }),
            buchi: self.infinite.as_ref().map(|infinite| BuchiObject {
                states: infinite.states,
                transition_based: true,
            }),
            good: example(self.good()),
            bad: example(self.bad()),
            no_automaton: self.dfa.as_ref().err(),
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
