//! A language model rewrites free text into controlled English; its answers are proposals that were checked.
//!
//! The model gets the grammar and one requirement as JSON ([`Question`]), and answers with JSON: the kind of the text, and up to three
//! sentences. An answer is data. It is parsed; each sentence must be controlled English, keep the numbers, negations and quoted names of
//! the text, speak in its words, and say something. A faulty answer goes back with its faults, for a bounded number of rounds. Several
//! samples are compared by equivalence: readings that differ in meaning are shown as alternatives, with a trace that tells them apart. No
//! answer becomes a formula until a person, or a rule of [`Accept`](crate::draft::Accept), chooses it.

mod answer;
mod prompt;

pub use answer::ANSWER_BYTES;

use answer::Answer;

use crate::controlled::Vocabulary;
use crate::draft::{Draft, Line, Reading, Status};

/// A question for a language model, with the instructions, which are the same for all questions.
#[derive(Clone, Copy, Debug)]
pub struct Question<'q> {
    /// The task and the grammar.
    pub instructions: &'q str,
    /// The requirement as JSON; after a faulty answer, that answer and its faults, too.
    pub text: &'q str,
    /// The number of the sample, from 0: answers to one question with different numbers are independent.
    pub sample: u32,
}

/// A language model.
pub trait LanguageModel: Sync {
    /// Returns the answer to a question.
    ///
    /// # Errors
    /// The model did not answer: the reason.
    fn answer(&self, question: &Question<'_>) -> Result<String, String>;
}

/// Limits on the questions about one line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Independent answers; those that differ in meaning are shown as alternatives.
    pub samples: u32,
    /// Times that an answer with faults is returned to the model.
    pub rounds: u32,
    /// Lines that are asked about at the same time.
    pub jobs: usize,
}

impl Default for Effort {
    fn default() -> Effort {
        Effort {
            samples: 2,
            rounds: 3,
            jobs: 1,
        }
    }
}

/// Asks a model about a line until its answer has no faults.
///
/// # Errors
/// There is no valid answer: the reason.
fn ask(
    line: &Line,
    vocabulary: &Vocabulary,
    model: &dyn LanguageModel,
    sample: u32,
    rounds: u32,
) -> Result<Answer, String> {
    let first = prompt::question(line, vocabulary);
    let mut text = first.clone();
    let mut round = 0;
    loop {
        let answer = model.answer(&Question {
            instructions: &prompt::INSTRUCTIONS,
            text: &text,
            sample,
        })?;
        let faults = match Answer::new(&answer, line, vocabulary) {
            Ok(answer) => return Ok(answer),
            Err(faults) => faults,
        };
        if round == rounds {
            let first = faults.into_iter().next().unwrap_or_default();
            return Err(format!("its answer has a fault: {first}"));
        }
        round += 1;
        text = prompt::again(&first, &answer, &faults);
    }
}

/// Adds what a model answers about a line to its draft: proposals, or a reason why there are none. Without a valid answer the draft stays
/// as it is, with a note.
pub(crate) fn consult(
    draft: &mut Draft,
    line: &Line,
    vocabulary: &Vocabulary,
    model: &dyn LanguageModel,
    effort: Effort,
) {
    let mut readings: Vec<Reading> = Vec::new();
    let mut declined = Vec::new();
    for sample in 0..effort.samples.max(1) {
        let answer = ask(line, vocabulary, model, sample, effort.rounds);
        let note = match answer {
            Ok(Answer::Readings(found)) => {
                for reading in found {
                    if !readings.iter().any(|known| known.says_the_same(&reading)) {
                        readings.push(reading);
                    }
                }
                continue;
            }
            Ok(Answer::Declined(status, reason)) => {
                declined.push((status, reason.clone()));
                let is_unclear = status == Status::Unclear;
                let kind = if is_unclear {
                    "unclear"
                } else {
                    "no requirement"
                };
                format!("{kind}: {reason}")
            }
            Err(reason) => format!("none: {reason}"),
        };
        draft.notes.push(format!("answer {}: {note}", sample + 1));
    }
    if !readings.is_empty() {
        draft.by_model = true;
        draft.set_proposals(readings);
        return;
    }
    // A model alone does not clear a line of which a pattern of free text says that it is a requirement.
    let proposed = draft.status == Status::Proposed;
    declined.retain(|(status, _)| *status == Status::Unclear || !proposed);
    declined.sort_by_key(|(status, _)| *status != Status::Unclear);
    if let Some((status, reason)) = declined.into_iter().next() {
        draft.by_model = true;
        draft.set_proposals(Vec::new());
        draft.status = status;
        draft.reason = Some(reason);
        draft.notes.clear();
    }
}
