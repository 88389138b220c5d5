//! Drafts as a spec that compiles: predicates without bodies yet, and a requirement for each sentence.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::document::Document;
use super::reading::{Reading, VARIABLE, quantified};
use super::result::{Draft, Status};
use crate::controlled::{identifier, is_reserved};
use crate::words::{Logic, Writer, one_line};

/// Names of the abstraction and the model over which probability bounds are checked.
const ABSTRACTION: &str = "drafted_steps";
const MODEL: &str = "recorded_runs";

impl Document {
    /// The document as a spec. `source` is what its first line calls the text.
    #[must_use]
    pub fn to_guard(&self, source: &str) -> String {
        let mut out = format!(
            "//! Drafted from {source}.\n//! Every `todo` is a condition that is still to be written.\n\n"
        );
        self.event(&mut out);
        for predicate in &self.predicates {
            let phrase = literal(&predicate.phrase);
            let key = predicate.key.as_deref();
            let parameter = key.map_or_else(String::new, |_| format!("({VARIABLE}: json)"));
            let body = match (&self.grounding, key) {
                (Some(grounding), _) => grounding.body(&predicate.phrase, key, &literal),
                (None, Some(key)) => {
                    format!("{} == {VARIABLE} and todo({phrase})", self.field(key))
                }
                (None, None) => format!("todo({phrase})"),
            };
            if let Some((_, remark)) = self.observed().find(|(name, _)| *name == predicate.name) {
                let _ = writeln!(out, "// {remark}");
            }
            let _ = writeln!(out, "predicate {}{parameter} = {body}", predicate.name);
        }
        self.model(&mut out);
        let mut taken = BTreeSet::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            out.push('\n');
            self.line(index, draft, &mut taken, &mut out);
        }
        out
    }

    /// The fields that the requirements need beside the usual ones.
    fn event(&self, out: &mut String) {
        if self.grounding.is_some() {
            out.push_str(&self.preamble());
            out.push('\n');
            return;
        }
        out.push_str("event {\n  kind: string\n  tool: string?\n  args: json?\n");
        let readings = || {
            self.drafts
                .iter()
                .filter_map(|draft| draft.reading.as_ref())
        };
        if readings().any(|reading| reading.formula.contains("s] ")) {
            out.push_str("  at: time?\n");
        }
        let keys: BTreeSet<String> = readings()
            .filter_map(|reading| reading.controlled.key.as_deref().map(|key| self.field(key)))
            .collect();
        for key in keys {
            if !["kind", "tool", "args", "at"].contains(&key.as_str()) {
                let _ = writeln!(out, "  {key}: json?");
            }
        }
        out.push_str("}\n\n");
    }

    /// Writes the model for probability bounds: a Markov chain over their predicates, learned from traces.
    fn model(&self, out: &mut String) {
        let likely = self.drafts.iter().enumerate();
        let likely = likely.filter(|(index, draft)| {
            draft.chance().is_some() && self.duplicate_of(*index).is_none()
        });
        let spoken: BTreeSet<usize> = likely
            .filter_map(|(index, _)| self.logic(index))
            .flat_map(|logic| logic.atoms())
            .collect();
        let over: Vec<&str> = spoken
            .iter()
            .filter_map(|place| self.predicates.get(*place))
            .map(|predicate| predicate.name.as_str())
            .collect();
        if over.is_empty() {
            return;
        }
        let _ = write!(
            out,
            "\n/// What a model knows of a step. Add to `over` whatever decides how a run goes on.\n\
             abstraction {ABSTRACTION} {{\n  \
               steps when todo(\"an event that counts as a step\")\n  \
               over {}\n\
             }}\n\n\
             /// To be counted by `guard learn` from recorded runs.\n\
             model {MODEL} = learn {ABSTRACTION} {{ smoothing 0.5 }}\n",
            over.join(", ")
        );
    }

    /// The event field of a key, which is called as no predicate is.
    fn field(&self, key: &str) -> String {
        // `at` is a time, which only bounds in time declare.
        let name = if is_reserved(key) || key == "at" {
            format!("{key}_id")
        } else {
            key.to_owned()
        };
        if self.predicates.iter().any(|known| known.name == name) {
            format!("{name}_key")
        } else {
            name
        }
    }

    /// Writes a line of the document: a requirement, or a comment with the result.
    fn line(&self, index: usize, draft: &Draft, taken: &mut BTreeSet<String>, out: &mut String) {
        let text = one_line(&draft.text);
        let reason = || one_line(draft.reason.as_deref().unwrap_or_default());
        let _ = match draft.status {
            Status::Formal => {
                if let (Some(reading), Some(logic)) = (&draft.reading, self.logic(index)) {
                    self.requirement(index, draft, reading, &logic, taken, out);
                }
                Ok(())
            }
            Status::Proposed => self.proposals(draft, out),
            Status::Unclear => {
                let rewordings = draft.rewordings.iter().map(|words| format!("// {words}\n"));
                let rewordings: String = rewordings.collect();
                write!(
                    out,
                    "// {}: {text}\n// unclear: {}\n{rewordings}",
                    draft.id,
                    reason()
                )
            }
            Status::NoRequirement => writeln!(
                out,
                "// {}: {text}\n// no requirement: {}",
                draft.id,
                reason()
            ),
            Status::Context => writeln!(out, "// {text}"),
        };
    }

    /// Writes the proposals of a sentence as comments, to be edited by hand.
    fn proposals(&self, draft: &Draft, out: &mut String) -> std::fmt::Result {
        writeln!(out, "// {}: {}", draft.id, one_line(&draft.text))?;
        writeln!(out, "// proposed; make one of them the requirement:")?;
        for (at, proposal) in draft.proposals.iter().enumerate() {
            writeln!(out, "// {} {}", at + 1, one_line(&proposal.words))?;
        }
        Ok(())
    }

    fn requirement(
        &self,
        index: usize,
        draft: &Draft,
        reading: &Reading,
        logic: &Logic,
        taken: &mut BTreeSet<String>,
        out: &mut String,
    ) {
        if let Some(first) = self.duplicate_of(index) {
            let _ = writeln!(
                out,
                "// {} says what {} says: {}",
                draft.id,
                first.id,
                one_line(&draft.text)
            );
            return;
        }
        for (other, _) in self.conflicts_of(index) {
            let _ = writeln!(
                out,
                "// conflicts with {}: both cannot be met once their events happen",
                other.id
            );
        }
        let names = self.names();
        let chance = reading.controlled.chance;
        let formula = if reading.controlled.key.is_some() {
            quantified(&names, logic)
        } else {
            let rich = chance.is_none();
            Writer {
                names: &names,
                rich,
            }
            .write(logic)
        };
        let formula = match chance {
            Some(chance) => format!("{} on {MODEL}", chance.of(&formula)),
            None => formula,
        };
        // The requirement is the sentence of controlled English; the words of the document are cited.
        if draft.chosen {
            let _ = writeln!(out, "@cites({})", literal(&draft.text));
        }
        let _ = writeln!(
            out,
            "requirement {} {} {{\n  formal {formula}\n}}",
            name(&draft.id, taken),
            literal(&reading.words)
        );
    }
}

/// Returns a string of the language.
pub(super) fn literal(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for char in one_line(text).chars() {
        match char {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            char if char.is_control() => {}
            char => out.push(char),
        }
    }
    out.push('"');
    out
}

/// An id as a name of the language that no other requirement has.
fn name(id: &str, taken: &mut BTreeSet<String>) -> String {
    let plain: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    let name = match identifier(&plain) {
        name if name == plain => name,
        _ => format!("R_{plain}"),
    };
    let mut fresh = name.clone();
    let mut count = 2;
    while !taken.insert(fresh.clone()) {
        fresh = format!("{name}_{count}");
        count += 1;
    }
    fresh
}
