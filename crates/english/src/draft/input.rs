//! A text is taken apart into requirements: sentences, bullet and numbered lists, tables, CSV, JSON Lines.

use serde::Deserialize;

/// A requirement as it stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sentence {
    /// The id it is given there, or its number among all.
    pub id: String,
    /// Its words, on one line.
    pub text: String,
    /// The line it begins in, from 1.
    pub line: usize,
    /// Which of its other readings is meant, from 1; none: the first reading.
    pub reading: Option<usize>,
}

#[derive(Deserialize)]
struct Object {
    id: Option<serde_json::Value>,
    reading: Option<serde_json::Value>,
    #[serde(alias = "requirement", alias = "sentence", alias = "description")]
    text: String,
}

/// The requirements of a text, in order. Headings, code blocks, links and quotations are no requirements.
///
/// # Limits
/// Linear in the text.
pub fn sentences(text: &str) -> Vec<Sentence> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut found = if let Some(objects) = json_lines(text) {
        objects
    } else if let Some(rows) = table(text) {
        rows
    } else {
        prose(text)
    };
    for (index, sentence) in found.iter_mut().enumerate() {
        sentence.text = plain(&sentence.text);
        if sentence.id.is_empty() {
            sentence.id = format!("R{}", index + 1);
        }
    }
    found.retain(|sentence| sentence.text.chars().any(char::is_alphanumeric));
    found
}

/// Lines that are JSON objects with a `text`.
fn json_lines(text: &str) -> Option<Vec<Sentence>> {
    let first = text.lines().find(|line| !line.trim().is_empty())?;
    if !first.trim_start().starts_with('{') {
        return None;
    }
    let mut out = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if line.trim().is_empty() {
            continue;
        }
        let sentence = match serde_json::from_str::<Object>(line) {
            Ok(object) => Sentence {
                id: match object.id {
                    Some(serde_json::Value::String(id)) => id,
                    Some(serde_json::Value::Null) | None => String::new(),
                    Some(other) => other.to_string(),
                },
                text: object.text,
                line: index + 1,
                reading: object
                    .reading
                    .and_then(|number| number.as_u64())
                    .and_then(|number| usize::try_from(number).ok()),
            },
            // What is no object is a sentence; that it cannot be read is told of it.
            Err(_) => Sentence {
                id: String::new(),
                text: line.to_owned(),
                line: index + 1,
                reading: None,
            },
        };
        out.push(sentence);
    }
    Some(out)
}

/// A CSV with a header that names a column of texts.
fn table(text: &str) -> Option<Vec<Sentence>> {
    let header = text.lines().find(|line| !line.trim().is_empty())?;
    let delimiter = [b',', b';', b'\t']
        .into_iter()
        .find(|delimiter| header.as_bytes().contains(delimiter))?;
    let mut reader = csv::ReaderBuilder::new()
        .delimiter(delimiter)
        .flexible(true)
        .trim(csv::Trim::All)
        .from_reader(text.as_bytes());
    let column = |names: &[&str], headers: &csv::StringRecord| {
        headers
            .iter()
            .position(|header| names.iter().any(|name| header.eq_ignore_ascii_case(name)))
    };
    let headers = reader.headers().ok()?.clone();
    let words = column(
        &[
            "text",
            "requirement",
            "description",
            "sentence",
            "policy",
            "rule",
            "statement",
        ],
        &headers,
    )?;
    // A sentence with a comma is no header.
    if headers.len() > 40
        || headers
            .iter()
            .any(|header| header.split_whitespace().count() > 3)
    {
        return None;
    }
    let id = column(
        &[
            "id",
            "key",
            "name",
            "number",
            "no",
            "ref",
            "req",
            "requirement id",
        ],
        &headers,
    );
    let mut out = Vec::new();
    for record in reader.records() {
        let Ok(record) = record else {
            continue;
        };
        let line = record
            .position()
            .map_or(0, |position| usize::try_from(position.line()).unwrap_or(0));
        let field = |index: Option<usize>| {
            index
                .and_then(|index| record.get(index))
                .unwrap_or_default()
        };
        out.push(Sentence {
            id: field(id).to_owned(),
            text: field(Some(words)).to_owned(),
            line,
            reading: None,
        });
    }
    Some(out)
}

/// Prose and Markdown.
fn prose(text: &str) -> Vec<Sentence> {
    let mut out: Vec<Sentence> = Vec::new();
    let mut block: Option<Sentence> = None;
    let mut fenced = false;
    let mut header: Option<(usize, Option<usize>)> = None;
    for (index, line) in text.lines().enumerate() {
        let trimmed = line.trim();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            fenced = !fenced;
            close(&mut out, &mut block);
            continue;
        }
        let rule = !trimmed.is_empty()
            && trimmed
                .chars()
                .all(|c| matches!(c, '-' | '=' | '*' | '_' | '|' | ':' | ' ' | '+'));
        if fenced || trimmed.is_empty() || trimmed.starts_with('#') || rule {
            close(&mut out, &mut block);
            if trimmed.is_empty() && !rule {
                header = None;
            }
            continue;
        }
        if trimmed.starts_with('|') {
            close(&mut out, &mut block);
            row(trimmed, index + 1, &mut header, &mut out);
            continue;
        }
        let (item, rest) = list_item(trimmed);
        let (id, rest) = labelled(rest);
        if item || !id.is_empty() {
            close(&mut out, &mut block);
        }
        match &mut block {
            Some(open) => {
                open.text.push(' ');
                open.text.push_str(rest.trim_start_matches('>').trim());
            }
            None => {
                block = Some(Sentence {
                    id,
                    text: rest.trim_start_matches('>').trim().to_owned(),
                    line: index + 1,
                    reading: None,
                });
            }
        }
        // A line of plain text that ends a sentence ends the requirement.
        if trimmed.ends_with(['.', '!', '?']) {
            close(&mut out, &mut block);
        }
    }
    close(&mut out, &mut block);
    out
}

/// Ends a block: prose of several sentences is several requirements, unless what follows only adds to the first.
fn close(out: &mut Vec<Sentence>, block: &mut Option<Sentence>) {
    let Some(block) = block.take() else {
        return;
    };
    // `Rules:` introduces a list.
    if block.text.ends_with(':') && block.text.split_whitespace().count() <= 12 {
        return;
    }
    let parts = split(&block.text);
    for (index, part) in parts.into_iter().enumerate() {
        let short = part.split_whitespace().count() <= 2;
        match out.last_mut().filter(|_| index > 0 && short) {
            Some(last) => {
                last.text.push(' ');
                last.text.push_str(part);
            }
            None => out.push(Sentence {
                id: if index == 0 {
                    block.id.clone()
                } else {
                    String::new()
                },
                text: part.to_owned(),
                line: block.line,
                reading: None,
            }),
        }
    }
}

/// Sentences end at a full stop that is followed by a capital and is not in quotes.
fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut from = 0;
    let mut quoted = false;
    let chars: Vec<(usize, char)> = text.char_indices().collect();
    for (index, (at, char)) in chars.iter().enumerate() {
        match char {
            '`' | '"' => quoted = !quoted,
            '\u{201c}' => quoted = true,
            '\u{201d}' => quoted = false,
            '.' | '!' | '?' if !quoted => {
                let gap = chars
                    .get(index + 1)
                    .is_some_and(|(_, next)| next.is_whitespace());
                let begins = chars[index + 1..]
                    .iter()
                    .find(|(_, next)| !next.is_whitespace())
                    .is_some_and(|(_, next)| {
                        next.is_uppercase() || matches!(next, '`' | '"' | '\u{201c}')
                    });
                let word = text[from..*at]
                    .rsplit(char::is_whitespace)
                    .next()
                    .unwrap_or("");
                let abbreviation = [
                    "e.g", "i.e", "etc", "cf", "no", "approx", "vs", "resp", "Art", "Dr", "Mr",
                    "Ms",
                ]
                .contains(&word.trim_start_matches('('));
                if gap && begins && !abbreviation {
                    out.push(text[from..=*at].trim());
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

/// A row of a Markdown table: the column of the header that is called a requirement, or the one with the most words.
fn row(
    line: &str,
    number: usize,
    header: &mut Option<(usize, Option<usize>)>,
    out: &mut Vec<Sentence>,
) {
    let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
    let Some((words, id)) = *header else {
        let find = |names: &[&str]| {
            cells.iter().position(|cell| {
                let cell = cell.trim_matches('*').to_ascii_lowercase();
                names.contains(&cell.as_str())
            })
        };
        let named = find(&[
            "requirement",
            "text",
            "description",
            "sentence",
            "rule",
            "policy",
            "statement",
            "requirements",
        ]);
        let id = find(&["id", "no", "no.", "#", "ref", "key", "nr"]);
        *header = Some((named.unwrap_or(usize::MAX), id));
        return;
    };
    let longest = || (0..cells.len()).max_by_key(|index| cells[*index].split_whitespace().count());
    let chosen = if words < cells.len() {
        Some(words)
    } else {
        longest()
    };
    if let Some(text) = chosen.and_then(|index| cells.get(index)) {
        out.push(Sentence {
            id: id
                .and_then(|index| cells.get(index))
                .unwrap_or(&"")
                .trim_matches(['*', '`'])
                .to_owned(),
            text: (*text).to_owned(),
            line: number,
            reading: None,
        });
    }
}

/// Whether a line is an item of a list, and its words.
fn list_item(line: &str) -> (bool, &str) {
    for bullet in [
        "- [ ] ",
        "- [x] ",
        "- [X] ",
        "- ",
        "* ",
        "+ ",
        "\u{2022} ",
        "\u{2013} ",
        "\u{2014} ",
    ] {
        if let Some(rest) = line.strip_prefix(bullet) {
            return (true, rest.trim_start());
        }
    }
    // `1.`, `(a)`, `2)`
    let inner = line.strip_prefix('(').unwrap_or(line);
    let mark: String = inner
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    let rest = &inner[mark.len()..];
    let numbered = !mark.is_empty()
        && mark.len() <= 3
        && (mark.chars().all(|c| c.is_ascii_digit()) || mark.len() == 1);
    let closing = [". ", ") "]
        .iter()
        .find_map(|closing| rest.strip_prefix(closing));
    match closing.filter(|_| numbered) {
        Some(rest) => (true, rest.trim_start()),
        None => (false, line),
    }
}

/// `**M1.R1** An uninitialised key …`, `REQ-12: …`: the label and what follows it.
fn labelled(line: &str) -> (String, &str) {
    let (label, rest) = if let Some(rest) = line.strip_prefix("**") {
        match rest.split_once("**") {
            Some((label, rest)) => (
                label.trim_end_matches([':', '.']),
                rest.trim_start_matches([':', ' ', '\u{2013}', '\u{2014}']),
            ),
            None => return (String::new(), line),
        }
    } else if let Some(rest) = line.strip_prefix('[') {
        match rest.split_once(']') {
            Some((label, rest)) => (label, rest.trim_start_matches([':', ' '])),
            None => return (String::new(), line),
        }
    } else {
        match line.split_once(':') {
            Some((label, rest)) => (label, rest.trim_start()),
            None => return (String::new(), line),
        }
    };
    // An id has no blanks and a digit: `REQ-12`, `M1.R1`.
    let id = !label.is_empty()
        && label.len() <= 24
        && !label.contains(char::is_whitespace)
        && label.contains(|c: char| c.is_ascii_digit())
        && label.starts_with(|c: char| c.is_ascii_alphabetic());
    if id && !rest.is_empty() {
        (label.to_owned(), rest)
    } else {
        (String::new(), line)
    }
}

/// Without marks of emphasis and links, on one line.
fn plain(text: &str) -> String {
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
    out.split_whitespace().collect::<Vec<_>>().join(" ")
}
