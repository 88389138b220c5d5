//! Outcomes that an earlier process was given and could not judge.

use serde_json::{Value as Json, json};

use super::session::Mark;
use crate::cli::durable::monitor::DurableMonitor;
use crate::integrations::hook::{Call, Memory, Scope, with_note};

/// Judges the outcomes of a mark that an earlier process could not judge, and returns the different answers to them: nothing of one is known but
/// which call it answers. An outcome that was judged, and whose mark was not removed, is recorded again, with unknown parts: an equal call may have
/// the same key, so the list of calls does not tell.
pub(super) fn put_on_record(
    mark: &Mark,
    call: &Call,
    monitor: &mut DurableMonitor,
    memory: &mut Memory,
) -> Result<Vec<Json>, String> {
    let text = mark.text();
    let mut outcome = match text.is_empty() {
        // There was no room to say even that.
        true => call.of_anybody()?,
        false => Call::read(text.to_vec(), call.scope())?,
    };
    // Then the files that hold a mark are those of its agent.
    if call.scope() == Scope::Agent {
        outcome.adopt_like(call);
    }
    let mut answers = Vec::new();
    for _ in 0..mark.n_outcomes() {
        let answer = outcome.clone().judge(monitor, memory)?.json;
        answers.extend(answer.filter(|answer| !answers.contains(answer)));
    }
    Ok(answers)
}

/// Adds what the user must know of an earlier outcome to an answer, and the end of the run if the outcome ends it.
pub(super) fn with_answer(answer: Option<Json>, earlier: Json) -> Option<Json> {
    let said = |key: &str| earlier.get(key).and_then(Json::as_str);
    let texts = [said("systemMessage"), said("reason")]
        .into_iter()
        .flatten();
    let mut answer = texts.fold(answer, |answer, text| {
        Some(with_note(answer, &format!("an earlier outcome: {text}")))
    });
    if earlier.get("continue") == Some(&Json::Bool(false))
        && let Some(members) = answer.get_or_insert_with(|| json!({})).as_object_mut()
    {
        for key in ["continue", "stopReason"] {
            members.insert(key.to_owned(), earlier[key].clone());
        }
    }
    answer
}
