//! Output that is one word, or none: without quotes it does not become an operator of `test`.

use super::sources::{may_print_more, name_of, words_of};
use super::{Node, Script, literal};
use crate::table::{PRINTS_ONE_WORD, listed};

/// The length of the output of a command, whatever it reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Amount {
    /// One word, or none.
    Word,
    /// One line, or none.
    Line,
    /// Any text.
    Any,
}

/// Whether a script prints one word at most.
pub(super) fn prints_one_word(script: &Script) -> bool {
    let pipelines = script.statements.iter().flat_map(|one| &one.pipelines);
    let pipelines: Vec<&Vec<Node>> = pipelines.collect();
    match pipelines.as_slice() {
        [pipeline] => amount_of(pipeline) == Amount::Word,
        _ => false,
    }
}

/// Returns how much a pipeline prints.
fn amount_of(pipeline: &[Node]) -> Amount {
    pipeline.iter().fold(Amount::Any, |before, node| {
        let words: Option<Vec<String>> = words_of(node).iter().skip(1).map(literal).collect();
        match words {
            Some(words) if !may_print_more(node) => amount_behind(before, &name_of(node), &words),
            _ => Amount::Any,
        }
    })
}

/// Returns how much a program prints, of which the input is so much.
fn amount_behind(before: Amount, name: &str, words: &[String]) -> Amount {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let listed = PRINTS_ONE_WORD.iter().any(|(programs, begin)| {
        let begin: Vec<&str> = begin.split_ascii_whitespace().collect();
        let is_empty = begin.is_empty() && words.is_empty();
        listed(programs, name) && (is_empty || !begin.is_empty() && words.starts_with(&begin))
    });
    match (name, words.as_slice()) {
        _ if listed => Amount::Word,
        ("head" | "tail", ["-1" | "-n1"] | ["-n", "1"]) => before.min(Amount::Line),
        ("awk" | "gawk" | "mawk", [code]) => field_of(code, before),
        ("tr", ["-d", _]) => before,
        ("sed", [code]) if removes(code) => before,
        _ => Amount::Any,
    }
}

/// Returns how much `awk` prints with this code: one field of one line is a word.
fn field_of(code: &str, before: Amount) -> Amount {
    let code: String = code.split_ascii_whitespace().collect();
    let (line, action) = match code.split_once('{') {
        Some((line, action)) => (line, action),
        None => return Amount::Any,
    };
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let field = action
        .strip_prefix("print$")
        .and_then(|rest| rest.strip_suffix('}'));
    let is_field = field.is_some_and(|field| is_number(field) && field != "0");
    let is_line = line.strip_prefix("NR==").is_some_and(is_number);
    match is_field && (is_line || line.is_empty() && before <= Amount::Line) {
        true => Amount::Word,
        false => Amount::Any,
    }
}

/// Whether code of `sed` only removes a text: `s/%//`.
fn removes(code: &str) -> bool {
    let inner = code.strip_prefix("s/").and_then(|rest| {
        let rest = rest.strip_suffix('g').unwrap_or(rest);
        rest.strip_suffix("//")
    });
    inner.is_some_and(|pattern| !pattern.contains(['/', '\\', ';', '\n']))
}
