//! A drafted requirement.

use serde::Serialize;

use super::input::Line;
use super::reading::{Reading, Telling};
use super::speech::Speech;
use crate::controlled::{Chance, Vocabulary};
use crate::propose::propose;

/// The result for a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It is controlled English, or somebody chose what it means: there is a formula.
    Formal,
    /// It may mean one of the proposals; somebody has to choose.
    Proposed,
    /// It requires something that no proposal expresses; the reason names what is missing.
    #[default]
    Unclear,
    /// It asks for nothing.
    NoRequirement,
    /// A heading, a lead-in or an example, which other lines depend on.
    Context,
}

/// A line of a document, drafted.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The id it was given, or its number in the text.
    pub id: String,
    /// The line it begins in, from 1.
    pub line: usize,
    /// The words as they stand.
    pub text: String,
    /// The sentence that was read, if the line only makes one with its heading or lead-in.
    pub composed: Option<String>,
    /// The result.
    pub status: Status,
    /// Its meaning, if it is formal.
    pub reading: Option<Reading>,
    /// The possible meanings, likeliest first; no two are equivalent.
    pub proposals: Vec<Reading>,
    /// A trace for each proposal that only it or the next one accepts.
    pub tellings: Vec<Option<Telling>>,
    /// The reason why there is no formula, and the question to answer.
    pub reason: Option<String>,
    /// The nearest sentences of controlled English, if the sentence is almost one.
    pub rewordings: Vec<String>,
    /// Whether the reading was chosen among proposals.
    pub chosen: bool,
    /// Whether the proposals, or the reason, are those of a language model.
    pub by_model: bool,
    /// Other answers of a language model: doubts, and answers that were not valid.
    pub notes: Vec<String>,
}

/// Drafts one requirement.
///
/// ```
/// use guard_english::draft::{Status, draft};
/// let exact = draft("Whenever `request` happens, `answer` must happen within 5 steps.");
/// assert_eq!(exact.reading.unwrap().formula, "G (request -> F[1,5] answer)");
/// let free = draft("Never send secrets.");
/// assert_eq!(free.status, Status::Proposed);
/// assert_eq!(free.proposals[0].words, "\"send secrets\" must never happen.");
/// assert!(draft("Be nice.").reason.is_some());
/// ```
pub fn draft(text: &str) -> Draft {
    Draft::new(
        &Line {
            text: super::input::plain(text),
            ..Line::default()
        },
        &Vocabulary::default(),
    )
}

impl Draft {
    /// Drafts a line with the vocabulary of a spec.
    pub(super) fn new(line: &Line, vocabulary: &Vocabulary) -> Draft {
        let mut draft = Draft {
            id: line.id.clone(),
            line: line.line,
            text: line.text.clone(),
            ..Draft::default()
        };
        if line.is_context {
            draft.status = Status::Context;
            return draft;
        }
        let mut fault = match Reading::new(&line.text, vocabulary) {
            Ok(reading) => {
                draft.status = Status::Formal;
                draft.reading = Some(reading);
                return draft;
            }
            Err(fault) => fault,
        };
        let consents = |phrase: &str| {
            vocabulary.has_consent && Speech::of(phrase).is_some_and(|speech| speech.consents)
        };
        let readings = |sentences: &[String]| -> Vec<Reading> {
            let read = sentences.iter();
            read.flat_map(|words| Reading::new(words, vocabulary))
                .collect()
        };
        // A sentence that quotes situations and has only a slip was meant as controlled English.
        let quotes = line.text.contains(['`', '"']);
        if quotes {
            fault = fault.reworded(&line.text, vocabulary, true);
            if fault.is_slip {
                // A pattern may read what the grammar does not have, such as *must never be called after `a`*, but no misspelt word.
                let alone = line.composed() == Ok(None);
                let proposed = alone.then(|| propose(&line.text, &consents).ok());
                let proposed = readings(&proposed.flatten().unwrap_or_default());
                let is_said = |reading: &Reading| reading.speaks_only_of(&line.text);
                if proposed.iter().all(is_said) {
                    draft.set_proposals(proposed);
                }
                if draft.proposals.is_empty() {
                    draft.reason = Some(fault.to_string());
                    draft.rewordings = fault.rewordings;
                }
                return draft;
            }
        }
        let read = |text: &str| propose(text, &consents);
        let proposed = match line.composed() {
            Ok(composed) => {
                draft.composed = composed;
                read(draft.composed.as_deref().unwrap_or(&line.text))
            }
            // A paragraph that nothing is read from is no item of what its heading denies.
            Err(reason) => match read(&line.text) {
                Err(declined) if !line.is_item => Err(declined),
                _ => Err((Status::Unclear, reason)),
            },
        };
        match proposed {
            Ok(sentences) => {
                let none = "its words make no sentence of controlled English";
                draft.reason = Some(none.to_owned());
                draft.set_proposals(readings(&sentences));
            }
            Err((status, reason)) => {
                let is_near = quotes && status == Status::Unclear && fault.span.start > 0;
                let place = if is_near {
                    format!(" Here: {fault}")
                } else {
                    String::new()
                };
                draft.status = status;
                draft.reason = Some(reason + &place);
            }
        }
        draft
    }

    /// Replaces the proposals by those of the readings that say something, each once.
    pub(crate) fn set_proposals(&mut self, readings: Vec<Reading>) {
        self.proposals.clear();
        self.tellings.clear();
        for reading in readings.into_iter().filter(Reading::says_something) {
            let same = |known: &Reading| known.says_the_same(&reading);
            if self.proposals.iter().any(same) {
                continue;
            }
            if let Some(last) = self.proposals.last() {
                // Of what cannot be told apart, the first is kept.
                let Some(told) = last.tell(&reading) else {
                    continue;
                };
                self.tellings.push(Some(told));
            }
            self.proposals.push(reading);
        }
        if self.proposals.is_empty() {
            self.status = Status::Unclear;
        } else {
            self.status = Status::Proposed;
            self.reason = None;
        }
    }

    /// The bound on its probability, if it is formal and about one.
    pub(super) fn chance(&self) -> Option<Chance> {
        self.reading.as_ref()?.controlled.chance
    }

    /// Takes the proposal of this number, from 1, for what is meant. False if there is none.
    pub fn take(&mut self, number: usize) -> bool {
        let chosen = number.checked_sub(1).and_then(|at| self.proposals.get(at));
        let Some(chosen) = chosen.cloned() else {
            return false;
        };
        self.reading = Some(chosen);
        self.status = Status::Formal;
        self.chosen = true;
        true
    }
}
