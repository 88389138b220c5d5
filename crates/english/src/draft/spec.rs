//! Drafts as a spec that compiles: predicates without bodies yet, and a requirement for each sentence.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::document::Document;
use super::parameter::Key;
use super::result::{Bound, Draft, Status};
use crate::words::Writer;

/// The name that quantified formulas give to what ties their situations.
const VARIABLE: &str = "x";
/// The abstraction and the model that bounds on probabilities are asked of.
const ABSTRACTION: &str = "drafted_steps";
const MODEL: &str = "recorded_runs";

impl Draft {
    /// The formula for every value of what ties its situations; none where nothing does.
    #[must_use]
    pub fn parametric(&self) -> Option<String> {
        let logic = self.logic.as_ref()?;
        self.tied().then(|| {
            let atoms = logic.atoms();
            let names = |atom: usize| {
                let at = atoms.iter().position(|known| *known == atom);
                at.and_then(|at| self.atoms.get(at))
                    .map(|atom| atom.name.clone())
            };
            let last = atoms.iter().max().copied().unwrap_or(0);
            let names: Vec<String> = (0..=last)
                .map(|atom| names(atom).unwrap_or_default())
                .collect();
            quantified(&names, logic)
        })
    }

    /// Whether its situations are tied and a formula over all values can say so.
    fn tied(&self) -> bool {
        self.key.is_some() && self.probability.is_none()
    }
}

/// `forall x: …` over predicates with a parameter.
fn quantified(names: &[String], logic: &crate::words::Logic) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("{name}({VARIABLE})"))
        .collect();
    let writer = Writer {
        names: &names,
        rich: true,
    };
    format!("forall {VARIABLE}: {}", writer.write(logic))
}

impl Document {
    /// The document as a spec. `source` is what its first line calls the text.
    #[must_use]
    pub fn to_guard(&self, source: &str) -> String {
        let mut out = format!(
            "//! Drafted from {source}.\n//! Every `todo` is a condition that is still to be written.\n\n"
        );
        self.event(&mut out);
        for (index, predicate) in self.predicates.iter().enumerate() {
            let phrase = literal(&predicate.phrase);
            let key = self.key_of(index);
            let _ = match key {
                Some(key) => writeln!(
                    out,
                    "predicate {}({VARIABLE}: json) = {} == {VARIABLE} and todo({phrase})",
                    predicate.name,
                    self.field(key)
                ),
                None => writeln!(out, "predicate {} = todo({phrase})", predicate.name),
            };
        }
        self.model(&mut out);
        let mut taken = BTreeSet::new();
        for (index, draft) in self.drafts.iter().enumerate() {
            out.push('\n');
            self.requirement(index, draft, &mut taken, &mut out);
        }
        out
    }

    /// The fields that the requirements need beside the usual ones.
    fn event(&self, out: &mut String) {
        out.push_str("event {\n  kind: string\n  tool: string?\n  args: json?\n");
        let timed = self.drafts.iter().any(|draft| {
            matches!(draft.bound, Some(Bound::Seconds(_)))
                || draft
                    .formula
                    .as_ref()
                    .is_some_and(|formula| formula.contains("s] "))
        });
        if timed {
            out.push_str("  at: time?\n");
        }
        let keys: BTreeSet<String> = self
            .drafts
            .iter()
            .filter(|draft| draft.tied())
            .filter_map(|draft| draft.key.as_ref().map(|key| self.field(key)))
            .collect();
        for key in keys {
            if !["kind", "tool", "args", "at"].contains(&key.as_str()) {
                let _ = writeln!(out, "  {key}: json?");
            }
        }
        out.push_str("}\n\n");
    }

    /// The model that bounds on probabilities are asked of: a chain over what they speak of, learned from traces.
    fn model(&self, out: &mut String) {
        let likely = self.drafts.iter().enumerate();
        let likely = likely.filter(|(index, draft)| {
            draft.probability.is_some() && self.duplicate_of(*index).is_none()
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
    fn field(&self, key: &Key) -> String {
        let name = field(key);
        if self.predicates.iter().any(|known| known.name == name) {
            format!("{name}_key")
        } else {
            name
        }
    }

    /// The key by which a predicate is tied.
    fn key_of(&self, predicate: usize) -> Option<&Key> {
        let draft = self
            .places
            .iter()
            .position(|places| places.contains(&predicate))
            .and_then(|index| self.drafts.get(index))?;
        draft.key.as_ref().filter(|_| draft.tied())
    }

    fn requirement(
        &self,
        index: usize,
        draft: &Draft,
        taken: &mut BTreeSet<String>,
        out: &mut String,
    ) {
        if draft.status == Status::Unclear {
            let question = draft.question.as_deref().unwrap_or_default();
            let _ = writeln!(out, "// {}: {}", draft.id, one_line(&draft.text));
            let _ = writeln!(out, "// unclear: {question}");
            return;
        }
        let Some(logic) = self.logic(index) else {
            return;
        };
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
        let names: Vec<String> = self
            .predicates
            .iter()
            .map(|known| known.name.clone())
            .collect();
        let formula = if draft.tied() {
            quantified(&names, &logic)
        } else {
            let writer = Writer {
                names: &names,
                rich: draft.probability.is_none(),
            };
            writer.write(&logic)
        };
        if let Some(readback) = &draft.readback {
            let _ = writeln!(out, "/// {readback}");
        }
        let formula = match &draft.probability {
            Some(bound) => format!("P{}{} [ {formula} ] on {MODEL}", bound.op, bound.value),
            None => formula,
        };
        let _ = writeln!(
            out,
            "requirement {} {} {{\n  formal {formula}\n}}",
            identifier(&draft.id, taken),
            literal(&draft.text)
        );
    }
}

/// The event field of a key.
fn field(key: &Key) -> String {
    if super::atom::is_reserved(key.as_str()) {
        format!("{}_id", key.as_str())
    } else {
        key.as_str().to_owned()
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a string of the language.
fn literal(text: &str) -> String {
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
fn identifier(id: &str, taken: &mut BTreeSet<String>) -> String {
    let mut name: String = id
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c } else { '_' })
        .collect();
    if !name.starts_with(|c: char| c.is_ascii_alphabetic())
        || name.len() == 1
        || super::atom::is_reserved(&name)
    {
        name = format!("R_{name}");
    }
    let mut fresh = name.clone();
    let mut count = 2;
    while !taken.insert(fresh.clone()) {
        fresh = format!("{name}_{count}");
        count += 1;
    }
    fresh
}
