//! Splits a text into lines: sentences, items of lists, rows of tables, CSV and JSON Lines, each with its heading or lead-in.

use serde::Deserialize;

use crate::words::{first_letter, is_listed, list, one_line, words_of};

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
    /// Whether it is a heading, a lead-in, the head of a table, or an example, and no requirement.
    pub is_context: bool,
    /// Whether it is an item of a list or a cell of a table, which its heading or lead-in may complete.
    pub is_item: bool,
    /// The headings and lead-ins that it stands under, the nearest last.
    pub heads: Vec<String>,
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

    /// Returns the headings and lead-ins that belong to its meaning: those that deny, and that of an item.
    pub(crate) fn spoken_heads(&self) -> impl Iterator<Item = &str> {
        let nearest = self.heads.len().checked_sub(1).filter(|_| self.is_item);
        let heads = self.heads.iter().enumerate();
        let spoken = heads.filter(move |(at, head)| Some(*at) == nearest || denies(head));
        spoken.map(|(_, head)| head.as_str())
    }

    /// Returns the sentence that a heading or lead-in and this item make together, or `None` if the line stands by itself.
    ///
    /// # Errors
    /// A heading denies, and does not say what: the reason.
    pub(super) fn composed(&self) -> Result<Option<String>, String> {
        let item = first_letter(&self.text, char::to_lowercase);
        let begins_denied =
            item.split(' ').next().is_some_and(is_denial) || item.starts_with("do not ");
        if let Some(head) = self.heads.last().filter(|_| self.is_item && !begins_denied) {
            let head = bare(head);
            if is_listed("forbidding headings", &head) {
                return Ok(Some(format!("Never {item}")));
            }
            let ends_in = |modal: &&str| head.ends_with(&format!(" {modal}"));
            if list("modals").iter().any(ends_in) {
                return Ok(Some(format!("{head} {item}")));
            }
        }
        // A line with a duty of its own stands by itself.
        let has = |modal: &&str| format!(" {item} ").contains(&format!(" {modal} "));
        let own = list("modals").iter().any(has);
        match self.heads.iter().rev().find(|head| denies(head)) {
            Some(head) if !own => Err(format!(
                "it stands under \u{201c}{}\u{201d}, which denies something; write the whole sentence",
                bare(head)
            )),
            _ => Ok(None),
        }
    }
}

/// The words of a heading or lead-in in lower case, without marks around them.
fn bare(head: &str) -> String {
    let words = head.trim_matches(|c: char| !c.is_alphanumeric());
    words.to_lowercase().replace('\u{2019}', "'")
}

fn is_denial(word: &str) -> bool {
    is_listed("head denials", word)
}

/// Whether a heading or lead-in denies something.
fn denies(head: &str) -> bool {
    words_of(&bare(head), "'-")
        .iter()
        .any(|word| is_denial(word))
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
        number += usize::from(!line.is_context);
        if line.id.is_empty() && !line.is_context {
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

fn context(text: &str, line: usize) -> Line {
    Line {
        is_context: true,
        ..Line::sentence("", text.trim_matches(['#', ' ', '*', '_']), line)
    }
}

/// The state of reading prose.
#[derive(Default)]
struct Prose {
    out: Vec<Line>,
    /// The paragraph or item that is not yet at its end, and its level.
    block: Option<(Line, usize)>,
    /// The headings and lead-ins of the next line, the nearest last. The level of a heading is the number of its signs; that of a lead-in is
    /// its indentation, beyond all headings, and one more if it is itself an item.
    heads: Vec<(usize, String)>,
    /// The head of the table that is being read.
    columns: Option<Vec<String>>,
}

/// The level of a paragraph.
const PARAGRAPH: usize = 10;

/// Prose and Markdown.
fn prose(text: &str) -> Vec<Line> {
    let mut prose = Prose::default();
    let mut fenced = false;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            prose.close();
        } else if fenced {
            prose.out.push(context(trimmed, index + 1));
        } else {
            prose.line(trimmed, line.len() - line.trim_start().len(), index + 1);
        }
    }
    prose.close();
    prose.out
}

/// Words of a lead-in at most; one without a colon is shorter.
const LEAD: usize = 12;
const SHORT: usize = 8;

impl Prose {
    /// Reads a line outside a code block.
    fn line(&mut self, trimmed: &str, indentation: usize, number: usize) {
        if trimmed.is_empty() {
            self.close();
            self.columns = None;
        } else if trimmed.chars().all(|c| "-=*_|:+ ".contains(c)) {
            self.close();
        } else if trimmed.starts_with('#') {
            self.close();
            let heading = context(trimmed, number);
            let level = trimmed.len() - trimmed.trim_start_matches('#').len();
            self.lead(level, &heading.text);
            self.out.push(heading);
        } else if trimmed.starts_with('|') {
            self.close();
            self.row(trimmed, number);
        } else {
            self.words(trimmed, indentation, number);
        }
    }

    /// Puts what follows under a heading or lead-in.
    fn lead(&mut self, level: usize, text: &str) {
        self.heads.retain(|(known, _)| *known < level);
        self.heads.push((level, text.to_owned()));
    }

    fn heads(&self) -> Vec<String> {
        self.heads.iter().map(|(_, head)| head.clone()).collect()
    }

    /// Reads a line of a paragraph or an item.
    fn words(&mut self, trimmed: &str, indentation: usize, number: usize) {
        let (is_item, rest) = list_item(trimmed);
        let (id, rest) = labelled(rest);
        if is_item || !id.is_empty() {
            self.close();
        }
        let words = rest.trim_start_matches('>').trim();
        match &mut self.block {
            Some((open, _)) => open.text = format!("{} {words}", open.text),
            None => {
                let level = PARAGRAPH + if is_item { 1 + indentation } else { 0 };
                self.heads.retain(|(known, _)| *known < level);
                let open = Line {
                    heads: self.heads(),
                    is_item,
                    ..Line::sentence(id, words, number)
                };
                self.block = Some((open, level));
            }
        }
        // A line of plain text that ends a sentence ends the requirement.
        if trimmed.ends_with(['.', '!', '?']) {
            self.close();
        }
    }

    /// Ends a block. Each sentence of prose is a requirement, but a sentence of one or two words belongs to the one before it.
    fn close(&mut self) {
        let Some((block, level)) = self.block.take() else {
            return;
        };
        let length = |text: &str| text.split_whitespace().count();
        // `Never:` introduces a list.
        let colon = block.text.trim_end_matches(['*', '_']).ends_with(':');
        let is_lead = colon && length(&block.text) <= LEAD;
        if is_lead || is_listed("forbidding headings", &bare(&block.text)) {
            self.out.push(context(&plain(&block.text), block.line));
        } else {
            let first = self.out.len();
            let mut id = block.id.clone();
            for part in split(&block.text) {
                match self.out[first..].last_mut().filter(|_| length(part) <= 2) {
                    Some(last) => last.text = format!("{} {part}", last.text),
                    None => self.out.push(Line {
                        id: std::mem::take(&mut id),
                        text: part.to_owned(),
                        ..block.clone()
                    }),
                }
            }
        }
        let last = self
            .out
            .last()
            .map_or_else(String::new, |line| plain(&line.text));
        if colon || length(&last) <= SHORT {
            self.lead(level, &last);
        }
    }

    /// Reads a row of a Markdown table: the column of the header that is called a requirement, or the one with the most words; under a header
    /// that forbids, each column.
    fn row(&mut self, line: &str, number: usize) {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let Some(header) = self.columns.clone() else {
            self.columns = Some(cells.iter().map(|cell| plain(cell)).collect());
            self.out.push(context(line, number));
            return;
        };
        let named = |names| column(names, header.iter().map(String::as_str));
        let all = 0..cells.len();
        let taken = match named("text columns") {
            Some(at) => vec![at],
            None if header.iter().any(|head| denies(head)) => all.collect(),
            None => Vec::from_iter(all.max_by_key(|at| cells[*at].split_whitespace().count())),
        };
        let id = named("id columns").and_then(|at| cells.get(at).copied());
        let mut id = id.unwrap_or_default();
        for at in taken {
            let Some(cell) = cells.get(at) else { continue };
            let head = header.get(at).filter(|head| !head.is_empty());
            self.out.push(Line {
                is_item: true,
                heads: self.heads().into_iter().chain(head.cloned()).collect(),
                ..Line::sentence(id.trim_matches(['*', '`']), cell, number)
            });
            id = "";
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
