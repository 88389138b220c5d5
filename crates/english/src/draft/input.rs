//! Splits a text into lines: sentences, items of lists, rows of tables, CSV and JSON Lines, each with its heading or lead-in.

use serde::Deserialize;

use crate::words::{first_letter, is_listed, list, one_line, words_of};

/// The purpose of a line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// It may be a requirement.
    #[default]
    Sentence,
    /// A heading, a lead-in, the head of a table, or an example.
    Context,
}

/// A line of a text: a sentence, or the context of sentences.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// The id it is given there, or its number among all.
    pub id: String,
    /// Its words, on one line.
    pub text: String,
    /// The line it begins in, from 1.
    pub line: usize,
    /// The number of the chosen proposal, from 1.
    pub reading: Option<usize>,
    /// Its purpose.
    pub role: Role,
    /// The heading or lead-in that it stands under, if it is an item of a list.
    pub head: Option<String>,
}

impl Line {
    fn sentence(id: &str, text: &str, line: usize) -> Line {
        Line {
            id: id.to_owned(),
            text: text.to_owned(),
            line,
            ..Line::default()
        }
    }

    /// Returns the sentence that a heading or lead-in and this item make together, or `None` if the item stands by itself.
    ///
    /// # Errors
    /// The heading denies, and does not say what: the reason.
    pub(super) fn composed(&self) -> Result<Option<String>, String> {
        let Some(head) = &self.head else {
            return Ok(None);
        };
        let head = head.trim_end_matches([':', ' ', '*', '.', '!']);
        let head = head.to_lowercase().replace('\u{2019}', "'");
        let denial = |word: &str| is_listed("head denials", word);
        let item = first_letter(&self.text, char::to_lowercase);
        let begins_denied =
            item.split(' ').next().is_some_and(denial) || item.starts_with("do not ");
        let denies = words_of(&head, "'").iter().any(|word| denial(word));
        if is_listed("forbidding headings", &head) && !begins_denied {
            return Ok(Some(format!("Never {item}")));
        }
        let ends_in = |modal: &&str| head.ends_with(&format!(" {modal}"));
        if list("modals").iter().any(ends_in) && !begins_denied {
            return Ok(Some(format!("{head} {item}")));
        }
        // An item with a duty of its own stands by itself.
        let has = |modal: &&str| format!(" {item} ").contains(&format!(" {modal} "));
        let own = list("modals").iter().any(has);
        if denies && !own {
            return Err(format!(
                "it stands under \u{201c}{head}\u{201d}, which denies something; write the whole sentence"
            ));
        }
        Ok(None)
    }
}

#[derive(Deserialize)]
struct Object {
    id: Option<serde_json::Value>,
    reading: Option<serde_json::Value>,
    #[serde(alias = "requirement", alias = "sentence", alias = "description")]
    text: String,
}

/// The lines of a text that are not blank, in order.
///
/// # Limits
/// Linear in the text.
pub fn lines(text: &str) -> Vec<Line> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let found = json_lines(text).or_else(|| table(text));
    let mut found = found.unwrap_or_else(|| prose(text));
    found.retain(|line| line.text.chars().any(char::is_alphanumeric));
    let mut number = 0;
    for line in &mut found {
        line.text = plain(&line.text);
        number += usize::from(line.role == Role::Sentence);
        if line.id.is_empty() && line.role == Role::Sentence {
            line.id = format!("R{number}");
        }
    }
    found
}

/// Lines that are JSON objects with a `text`.
fn json_lines(text: &str) -> Option<Vec<Line>> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if !first.trim_start().starts_with('{') {
        return None;
    }
    let read = |(at, line): (usize, &str)| match serde_json::from_str::<Object>(line) {
        Ok(object) => {
            let id = match object.id {
                Some(serde_json::Value::String(id)) => id,
                Some(serde_json::Value::Null) | None => String::new(),
                Some(other) => other.to_string(),
            };
            let number = object.reading.and_then(|number| number.as_u64());
            Line {
                reading: number.and_then(|number| usize::try_from(number).ok()),
                ..Line::sentence(&id, &object.text, at + 1)
            }
        }
        // A line that is not such an object is kept as a sentence, so that no line is lost.
        Err(_) => Line::sentence("", line, at + 1),
    };
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.trim().is_empty());
    Some(lines.map(read).collect())
}

/// The column that is called by one of the names.
fn column<'h>(names: &str, mut headers: impl Iterator<Item = &'h str>) -> Option<usize> {
    headers.position(|header| is_listed(names, &header.trim_matches('*').to_ascii_lowercase()))
}

/// A CSV with a header that names a column of texts.
fn table(text: &str) -> Option<Vec<Line>> {
    let header = text.lines().find(|line| !line.trim().is_empty())?;
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .find(|delimiter| header.as_bytes().contains(delimiter))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let headers = reader.headers().ok()?.clone();
    let words = column("text columns", headers.iter())?;
    // A sentence with a comma is not a header.
    let is_long = |header: &str| header.split_whitespace().count() > 3;
    if headers.len() > 40 || headers.iter().any(is_long) {
        return None;
    }
    let id = column("id columns", headers.iter());
    let read = |record: csv::StringRecord| {
        let line = record.position().map_or(0, csv::Position::line);
        let id = id.and_then(|at| record.get(at)).unwrap_or_default();
        let text = record.get(words).unwrap_or_default();
        Line::sentence(id, text, usize::try_from(line).unwrap_or(0))
    };
    Some(reader.records().flatten().map(read).collect())
}

/// Returns a line of context, which other lines depend on.
fn context(text: &str, line: usize) -> Line {
    Line {
        role: Role::Context,
        ..Line::sentence("", text.trim_matches(['#', ' ', '*', '_']), line)
    }
}

/// The state of reading prose.
#[derive(Default)]
struct Prose {
    out: Vec<Line>,
    /// The paragraph or item that is not yet at its end.
    block: Option<Line>,
    /// The last heading, and the lead-in of the list that is being read.
    heading: Option<String>,
    lead: Option<String>,
    /// The columns of the words and of the ids of the table that is being read.
    columns: Option<(Option<usize>, Option<usize>)>,
}

/// Prose and Markdown.
fn prose(text: &str) -> Vec<Line> {
    let mut prose = Prose::default();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        let number = index + 1;
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            prose.close();
            continue;
        }
        let rule = !trimmed.is_empty()
            && trimmed
                .chars()
                .all(|c| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ' | '+'));
        if fenced || trimmed.is_empty() || trimmed.starts_with('#') || rule {
            prose.close();
            if trimmed.is_empty() {
                prose.columns = None;
            } else if fenced {
                prose.out.push(context(trimmed, number));
            } else if !rule {
                let heading = context(trimmed, number);
                prose.heading = Some(heading.text.clone());
                prose.lead = None;
                prose.out.push(heading);
            }
            continue;
        }
        if trimmed.starts_with('|') {
            prose.close();
            prose.row(trimmed, number);
            continue;
        }
        let (item, rest) = list_item(trimmed);
        let (id, rest) = labelled(rest);
        if item || !id.is_empty() {
            prose.close();
        }
        let words = rest.trim_start_matches('>').trim();
        match &mut prose.block {
            Some(open) => {
                open.text.push(' ');
                open.text.push_str(words);
            }
            None => {
                if !item {
                    prose.lead = None;
                }
                let head = prose.lead.as_ref().or(prose.heading.as_ref());
                prose.block = Some(Line {
                    head: head.filter(|_| item).cloned(),
                    ..Line::sentence(id, words, number)
                });
            }
        }
        // A line of plain text that ends a sentence ends the requirement.
        if trimmed.ends_with(['.', '!', '?']) {
            prose.close();
        }
    }
    prose.close();
    prose.out
}

/// Words of a lead-in at most.
const LEAD: usize = 12;

impl Prose {
    /// Ends a block. Each sentence of prose is a requirement, but a sentence of one or two words belongs to the one before it.
    fn close(&mut self) {
        let Some(block) = self.block.take() else {
            return;
        };
        // `Never:` introduces a list.
        if block.text.trim_end_matches(['*', '_']).ends_with(':')
            && block.text.split_whitespace().count() <= LEAD
        {
            let lead = context(&plain(&block.text), block.line);
            self.lead = Some(lead.text.clone());
            self.out.push(lead);
            return;
        }
        let first = self.out.len();
        for part in split(&block.text) {
            let is_first = self.out.len() == first;
            let short = !is_first && part.split_whitespace().count() <= 2;
            match self.out.last_mut().filter(|_| short) {
                Some(last) => last.text = format!("{} {part}", last.text),
                None => self.out.push(Line {
                    head: block.head.clone(),
                    ..Line::sentence(if is_first { &block.id } else { "" }, part, block.line)
                }),
            }
        }
    }

    /// Reads a row of a Markdown table: the column of the header that is called a requirement, or the one with the most words.
    fn row(&mut self, line: &str, number: usize) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some((words, id)) = self.columns else {
            let named = |names| column(names, cells.iter().copied());
            self.columns = Some((named("text columns"), named("id columns")));
            self.out.push(context(line, number));
            return;
        };
        let cell = |at: Option<usize>| at.and_then(|at| cells.get(at)).copied();
        let mut by_words = cells.clone();
        by_words.sort_by_key(|cell| cell.split_whitespace().count());
        if let Some(text) = cell(words).or(by_words.pop()) {
            let id = cell(id).unwrap_or_default().trim_matches(['*', '`']);
            self.out.push(Line::sentence(id, text, number));
        }
    }
}

/// Sentences end at a full stop that is followed by a capital and is not in quotes.
fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut quoted = false;
    for (at, char) in text.char_indices() {
        match char {
            '`' | '"' => quoted = !quoted,
            '\u{201c}' => quoted = true,
            '\u{201d}' => quoted = false,
            '.' | '!' | '?' if !quoted => {
                let (before, after) = (&text[from..at], &text[at + 1..]);
                let capital = |c: char| c.is_uppercase() || matches!(c, '`' | '"' | '\u{201c}');
                let begins = after.trim_start().starts_with(capital);
                let word = before.rsplit(char::is_whitespace).next().unwrap_or("");
                let abbreviation = is_listed("abbreviations", word.trim_start_matches('('));
                if after.starts_with(char::is_whitespace) && begins && !abbreviation {
                    out.push(text[from..=at].trim());
                    from = at + 1;
                }
            }
            _ => {}
        }
    }
    let rest = text[from..].trim();
    if !rest.is_empty() {
        out.push(rest);
    }
    out
}

/// Whether a line is an item of a list, and its words.
fn list_item(line: &str) -> (bool, &str) {
    const BULLETS: &str = "- [ ] |- [x] |- [X] |- |* |+ |\u{2022} |\u{2013} |\u{2014} ";
    let bullet = || {
        BULLETS
            .split('|')
            .find_map(|bullet| line.strip_prefix(bullet))
    };
    // `1.`, `(a)`, `2)`
    let numbered = || {
        let inner = line.strip_prefix('(').unwrap_or(line);
        let (mark, rest) = inner.split_once(['.', ')'])?;
        let letter = mark.len() == 1 && mark.starts_with(|c: char| c.is_ascii_alphanumeric());
        let digits = (1..=3).contains(&mark.len()) && mark.bytes().all(|c| c.is_ascii_digit());
        rest.strip_prefix(' ').filter(|_| letter || digits)
    };
    match bullet().or_else(numbered) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    }
}

/// `**M1.R1** An uninitialised key …`, `REQ-12: …`: the label and what follows it.
fn labelled(line: &str) -> (&str, &str) {
    let marked = |open: &str, close: &str| line.strip_prefix(open)?.split_once(close);
    let split = if line.starts_with("**") {
        marked("**", "**").map(|(label, rest)| (label.trim_end_matches([':', '.']), rest))
    } else if line.starts_with('[') {
        marked("[", "]")
    } else {
        line.split_once(':')
    };
    // An id has no blanks and a digit: `REQ-12`, `M1.R1`.
    let is_id = |label: &str| {
        label.len() <= 24
            && !label.contains(char::is_whitespace)
            && label.contains(|c: char| c.is_ascii_digit())
            && label.starts_with(|c: char| c.is_ascii_alphabetic())
    };
    let dashes = [':', ' ', '\u{2013}', '\u{2014}'];
    let split = split.map(|(label, rest)| (label, rest.trim_start_matches(dashes)));
    let id = split.filter(|(label, rest)| is_id(label) && !rest.is_empty());
    id.unwrap_or(("", line))
}

/// Without marks of emphasis and links, on one line.
pub(super) fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut code = false;
    while let Some(first) = rest.chars().next() {
        let width = first.len_utf8();
        if first == '`' {
            code = !code;
        }
        if !code && (rest.starts_with("**") || rest.starts_with("__")) {
            rest = &rest[2..];
            continue;
        }
        if !code
            && first == '['
            && let Some((label, tail)) = rest[1..].split_once("](")
            && let Some((_, after)) = tail.split_once(')')
            && !label.contains(']')
        {
            out.push_str(label);
            rest = after;
            continue;
        }
        out.push(first);
        rest = &rest[width..];
    }
    one_line(&out)
}
