//! Tables of sentences as data: patterns of words, alternatives and slots, each with a meaning.

use std::collections::HashMap;

/// A part of a pattern.
#[derive(Clone, Debug)]
pub(crate) enum Part {
    /// One of several sequences of words; an empty one means that it may be absent.
    Words(Vec<&'static str>),
    /// A slot: its letter, and the rule that reads it.
    Slot(char, &'static str),
}

/// A row of a table.
#[derive(Debug)]
pub(crate) struct Row {
    /// The heading that it stands under.
    pub(crate) group: &'static str,
    /// The word in brackets before the pattern, or nothing.
    pub(crate) flag: &'static str,
    pub(crate) parts: Vec<Part>,
    pub(crate) meaning: &'static str,
}

/// The rows of a text: `[flag] pattern => meaning` under `# headings`, and `@name = word|word` for what several patterns share.
///
/// `(a|b|)` is one of several words, or none; `{x}` and `{x:rule}` are slots, and `{rule}` is one without a letter.
pub(crate) fn rows(text: &'static str) -> Vec<Row> {
    let mut shared: HashMap<&str, Part> = HashMap::new();
    let mut rows = Vec::new();
    let mut group = "";
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("# ") {
            group = heading;
        } else if let Some((name, words)) = shared_words(line) {
            shared.insert(name, alternatives(words));
        } else if let Some((pattern, meaning)) = line.split_once(" => ") {
            let flagged = pattern
                .strip_prefix('[')
                .and_then(|line| line.split_once("] "));
            let (flag, pattern) = flagged.unwrap_or(("", pattern));
            rows.push(Row {
                group,
                flag,
                parts: parts(pattern, &shared),
                meaning,
            });
        }
    }
    rows
}

fn shared_words(line: &'static str) -> Option<(&'static str, &'static str)> {
    line.strip_prefix('@')?.split_once(" = ")
}

fn alternatives(words: &'static str) -> Part {
    Part::Words(words.split('|').collect())
}

fn parts(pattern: &'static str, shared: &HashMap<&str, Part>) -> Vec<Part> {
    let mut out = Vec::new();
    let mut rest = pattern;
    while !rest.is_empty() {
        let inner = |open: char, close: char| rest.strip_prefix(open)?.split_once(close);
        let choices = inner('(', ')').filter(|(choices, _)| !choices.starts_with(' '));
        let word = |text: &'static str| text.split(' ').next().unwrap_or_default();
        let (part, after) = if let Some((slot, after)) = inner('{', '}') {
            let (letter, rule) = match slot.split_once(':') {
                Some((letter, rule)) => (letter, rule),
                None if slot.len() == 1 => (slot, slot),
                None => (" ", slot),
            };
            (
                Part::Slot(letter.chars().next().unwrap_or(' '), rule),
                after,
            )
        } else if let Some((choices, after)) = choices {
            (alternatives(choices), after)
        } else if let Some(known) = rest
            .strip_prefix('@')
            .and_then(|name| shared.get(word(name)))
        {
            (known.clone(), &rest[word(rest).len()..])
        } else {
            // Words that follow one another.
            let mut end = word(rest).len();
            while let Some(next) = rest[end..].strip_prefix(' ')
                && !next.starts_with(['{', '@'])
                && (next.starts_with("( ") || !next.starts_with('('))
            {
                end += 1 + word(next).len();
            }
            (Part::Words(vec![&rest[..end]]), &rest[end..])
        };
        out.push(part);
        rest = after.trim_start();
    }
    out
}

/// A text with its slots filled.
pub(crate) fn filled(text: &str, slot: &mut dyn FnMut(&str) -> String) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (inner, after) = after.split_once('}').unwrap_or((after, ""));
        out.push_str(before);
        out.push_str(&slot(inner));
        rest = after;
    }
    out + rest
}
