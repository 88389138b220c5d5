//! The prompt of a language model: the grammar, and a requirement as JSON.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::json;

use crate::controlled::{Vocabulary, forms};
use crate::draft::Line;
use crate::words::Writer;

/// The part of a prompt that is the same for every requirement: the task, the grammar, and a sentence for each formula of its table.
pub(super) static INSTRUCTIONS: LazyLock<String> = LazyLock::new(|| {
    let mut out = include_str!("instructions.txt").to_owned();
    let mut seen = BTreeSet::new();
    // Sentences about calls are other words for the same formulas.
    for form in forms().into_iter().filter(|form| form.group != "Calls") {
        let names = &form.names;
        let formula = Writer { names, rich: true }.write(&form.logic);
        // Scopes combine with every duty: a form of each is enough, and so is a sentence for each formula.
        let scope = form.names.iter().any(|name| name == "a") && form.group != "EARS and FRETish";
        let key = if scope {
            form.words.split(',').next().unwrap_or_default().to_owned()
        } else {
            formula.clone()
        };
        if seen.insert(key) {
            let _ = writeln!(out, "{} {formula}", form.words);
        }
    }
    out
});

/// Returns the question about a line. The text of the document stands in JSON, so that it cannot pass for an instruction.
pub(super) fn question(line: &Line, vocabulary: &Vocabulary) -> String {
    let known: Vec<_> = vocabulary
        .entries()
        .map(|(name, comment)| json!({"name": name, "comment": comment}))
        .collect();
    let mut data = json!({"requirement": line.text});
    if !line.heads.is_empty() {
        data["context"] = json!(line.heads);
    }
    if !known.is_empty() {
        data["known"] = json!(known);
    }
    format!("{data}\n")
}

/// Returns the question after an answer with faults.
pub(super) fn again(question: &str, answer: &str, faults: &[String]) -> String {
    let mut out = format!(
        "{question}\nYour last answer was, as a JSON string:\n{}\nIt has faults:\n",
        json!(shortened(answer))
    );
    for fault in faults {
        let _ = writeln!(out, "- {fault}");
    }
    out.push_str("Answer again with one JSON object.\n");
    out
}

/// Bytes of an answer that are repeated.
const REPEATED: usize = 4_000;

fn shortened(answer: &str) -> &str {
    let mut end = answer.len().min(REPEATED);
    while !answer.is_char_boundary(end) {
        end -= 1;
    }
    &answer[..end]
}
