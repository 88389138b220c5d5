//! The JSON form of an explanation.

use serde::Serialize;
use serde_json::Value as Json;
use smol_str::SmolStr;

use super::{Explanation, enforceable, finite, kind};
use crate::automata::Word;
use crate::hir::Severity;
use crate::report::automaton::word_json;
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
}

#[derive(Serialize)]
struct ClassObject {
    finite: &'static str,
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
                enforce: enforceable(dfa).as_str(),
                monitorable: dfa.class().monitorable,
            }),
            atoms: self.atoms(),
            reads: self.pointers(),
            dfa: dfa.map(|dfa| DfaObject {
                states: dfa.len(),
                minimal: true,
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
        };
        serde_json::to_string(&object).unwrap_or_default()
    }
}
