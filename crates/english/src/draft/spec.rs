//! Drafts as a spec that compiles: predicates without bodies yet, and a requirement for each sentence.

use std::collections::BTreeSet;
use std::fmt::{self, Write as _};

use super::document::Document;
use super::reading::{Reading, VARIABLE, quantified};
use super::result::{Draft, Status};
use crate::controlled::{fresh, identifier, is_reserved};
use crate::words::{Logic, Writer, is_listed, one_line};

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
        // Writing to a string does not fail.
        let _ = self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) -> fmt::Result {
        self.event(out)?;
        for predicate in &self.predicates {
            let key = predicate.key.as_deref();
            let parameter = key.map_or_else(String::new, |_| format!("({VARIABLE}: json)"));
            let open = format!("todo({})", literal(&predicate.phrase));
            let body = match (&self.grounding, key) {
                (Some(grounding), _) => grounding.body(&predicate.phrase, key),
                (None, Some(key)) => format!("{} == {VARIABLE} and {open}", self.field(key)),
                (None, None) => open,
            };
            if let Some((_, remark)) = self.observed().find(|(name, _)| *name == predicate.name) {
                writeln!(out, "// {remark}")?;
            }
            writeln!(out, "predicate {}{parameter} = {body}", predicate.name)?;
        }
        self.model(out)?;
        let mut taken = BTreeSet::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            out.push('\n');
            self.line(index, draft, &mut taken, out)?;
        }
        Ok(())
    }

    /// The fields that the requirements need beside the usual ones.
    fn event(&self, out: &mut String) -> fmt::Result {
        if self.grounding.is_some() {
            return writeln!(out, "{}", self.preamble());
        }
        out.push_str("event {\n  kind: string\n  tool: string?\n  args: json?\n");
        let readings: Vec<&Reading> = self.drafts.iter().flat_map(|it| &it.reading).collect();
        let is_timed = |reading: &&Reading| reading.formula.contains("s] ");
        if readings.iter().any(is_timed) {
            out.push_str("  at: time?\n");
        }
        let keys = readings.iter().flat_map(|it| &it.controlled.key);
        let fields: BTreeSet<String> = keys.map(|key| self.field(key)).collect();
        for field in fields.iter().filter(|field| !is_listed("fields", field)) {
            writeln!(out, "  {field}: json?")?;
        }
        out.push_str("}\n\n");
        Ok(())
    }

    /// Writes the model for probability bounds: a Markov chain over their predicates, learned from traces.
    fn model(&self, out: &mut String) -> fmt::Result {
        let chance = |index: &usize| self.drafts[*index].chance().is_some();
        let likely = (0..self.drafts.len()).filter(chance);
        let likely = likely.filter(|index| self.duplicate_of(*index).is_none());
        let logics = likely.filter_map(|index| self.logic(index));
        let spoken: BTreeSet<usize> = logics.flat_map(|logic| logic.atoms()).collect();
        let predicates = spoken.iter().map(|place| &self.predicates[*place]);
        let over: Vec<&str> = predicates.map(|known| known.name.as_str()).collect();
        if over.is_empty() {
            return Ok(());
        }
        write!(
            out,
            "\n/// What a model knows of a step. Add to `over` whatever decides how a run goes on.\n\
             abstraction {ABSTRACTION} {{\n  \
               steps when todo(\"an event that counts as a step\")\n  \
               over {}\n\
             }}\n\n\
             /// To be counted by `guard learn` from recorded runs.\n\
             model {MODEL} = learn {ABSTRACTION} {{ smoothing 0.5 }}\n",
            over.join(", ")
        )
    }

    /// The event field of a key, which is called as no predicate is.
    fn field(&self, key: &str) -> String {
        // `at` is a time, which only bounds in time declare.
        let is_taken = is_reserved(key) || key == "at";
        let name = format!("{key}{}", if is_taken { "_id" } else { "" });
        let is_predicate = self.predicates.iter().any(|known| known.name == name);
        name + if is_predicate { "_key" } else { "" }
    }

    /// Writes a line of the document: a requirement, or a comment with the result.
    fn line(
        &self,
        index: usize,
        draft: &Draft,
        taken: &mut BTreeSet<String>,
        out: &mut String,
    ) -> fmt::Result {
        let (id, text) = (&draft.id, one_line(&draft.text));
        let reason = one_line(draft.reason.as_deref().unwrap_or_default());
        match draft.status {
            Status::Formal => match (&draft.reading, self.logic(index)) {
                (Some(reading), Some(logic)) => {
                    self.requirement(index, draft, reading, &logic, taken, out)
                }
                _ => Ok(()),
            },
            // To be edited by hand.
            Status::Proposed => {
                writeln!(
                    out,
                    "// {id}: {text}\n// proposed; make one of them the requirement:"
                )?;
                let mut numbered = (1..).zip(&draft.proposals);
                numbered.try_for_each(|(at, proposal)| {
                    writeln!(out, "// {at} {}", one_line(&proposal.words))
                })
            }
            Status::Unclear => {
                writeln!(out, "// {id}: {text}\n// unclear: {reason}")?;
                let mut rewordings = draft.rewordings.iter();
                rewordings.try_for_each(|words| writeln!(out, "// {words}"))
            }
            Status::NoRequirement => writeln!(out, "// {id}: {text}\n// no requirement: {reason}"),
            Status::Context => writeln!(out, "// {text}"),
        }
    }

    fn requirement(
        &self,
        index: usize,
        draft: &Draft,
        reading: &Reading,
        logic: &Logic,
        taken: &mut BTreeSet<String>,
        out: &mut String,
    ) -> fmt::Result {
        if let Some(first) = self.duplicate_of(index) {
            let (id, first, text) = (&draft.id, &first.id, one_line(&draft.text));
            return writeln!(out, "// {id} says what {first} says: {text}");
        }
        for (other, _) in self.conflicts_of(index) {
            let other = &other.id;
            writeln!(
                out,
                "// conflicts with {other}: both cannot be met once their events happen"
            )?;
        }
        let names = &self.names();
        let formula = match (reading.controlled.key.as_ref(), reading.controlled.chance) {
            (Some(_), _) => quantified(names, logic),
            (None, chance) => Writer {
                names,
                rich: chance.is_none(),
            }
            .write(logic),
        };
        let formula = match reading.controlled.chance {
            Some(chance) => format!("{} on {MODEL}", chance.of(&formula)),
            None => formula,
        };
        // The requirement is the sentence of controlled English; the words of the document are cited.
        if draft.chosen {
            writeln!(out, "@cites({})", literal(&draft.text))?;
        }
        let (name, words) = (name(&draft.id, taken), literal(&reading.words));
        writeln!(out, "requirement {name} {words} {{\n  formal {formula}\n}}")
    }
}

/// Returns a string of the language.
pub(super) fn literal(text: &str) -> String {
    let mut plain = one_line(text);
    plain.retain(|char| !char.is_control());
    format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
}

/// An id as a name of the language that no other requirement has.
fn name(id: &str, taken: &mut BTreeSet<String>) -> String {
    let plain = id.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
    let own = identifier(&plain);
    let name = if own == plain {
        own
    } else {
        format!("R_{plain}")
    };
    let name = fresh(&name, &|name| taken.contains(name));
    taken.insert(name.clone());
    name
}
