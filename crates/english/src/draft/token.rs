//! Words, numbers, names in quotes and punctuation: a sentence as the rest of the pipeline reads it.

use std::ops::Range;

use smol_str::SmolStr;

use super::lexicon::Tag;
use super::number::Measure;
use super::stem::stem;

/// A piece of a sentence.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    /// What it is.
    pub(super) kind: Kind,
    /// In lower case, without quotes.
    pub(super) low: SmolStr,
    /// What its inflected forms have in common.
    pub(super) stem: SmolStr,
    /// Where it stands in the sentence.
    pub(super) span: Range<usize>,
}

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// A word.
    Word,
    /// A name in backticks or quotes, or one that no word looks like (`send_sms`, `fs.write`).
    Name,
    /// A number, with its unit where it has one.
    Number(Measure),
    /// A function word or fixed phrase, with the number it carries.
    Mark(Tag, Option<Measure>),
    /// A comma, and whatever parts clauses as commas do.
    Comma,
    /// A colon.
    Colon,
    /// A semicolon or the end of a sentence.
    Stop,
    /// `=>`, `->`.
    Arrow,
    /// `=`
    Equals,
    /// `%`
    Percent,
}

impl Token {
    /// The tag of a marked phrase.
    pub(super) fn tag(&self) -> Option<Tag> {
        match self.kind {
            Kind::Mark(tag, _) => Some(tag),
            _ => None,
        }
    }

    /// The measure of a number or marked phrase.
    pub(super) fn measure(&self) -> Option<Measure> {
        match self.kind {
            Kind::Mark(_, measure) => measure,
            Kind::Number(measure) => Some(measure),
            _ => None,
        }
    }

    /// Whether it has this tag.
    pub(super) fn is(&self, tag: Tag) -> bool {
        self.tag() == Some(tag)
    }

    /// Whether it is this word.
    pub(super) fn word(&self, low: &str) -> bool {
        self.kind == Kind::Word && self.low == low
    }
}

/// Splits a sentence. Contractions are written out (`isn't`: `is` `not`), hyphens within words are kept.
///
/// # Limits
/// Linear in the text.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else {
            break;
        };
        let width = first.len_utf8();
        if let Some((name, length)) = quoted(rest, out.is_empty() || !ends_in_letter(text, at)) {
            push_name(&mut out, name, at..at + length);
            at += length;
        } else if first == '(' || first == '[' {
            // A parenthesis adds to what is said outside; what it adds is no part of the requirement's form.
            let close = if first == '(' { ')' } else { ']' };
            at += rest.find(close).map_or(width, |end| end + 1);
        } else if first.is_ascii_digit() {
            let length = number_length(rest);
            out.push(token(Kind::Word, &rest[..length], at..at + length));
            at += length;
        } else if first.is_alphanumeric() || first == '_' {
            let length = word_length(rest);
            word(&mut out, &rest[..length], at);
            at += length;
        } else {
            let (kind, length) = punctuation(rest, first);
            if let Some(kind) = kind {
                out.push(token(kind, &rest[..length], at..at + length));
            }
            at += length;
        }
    }
    out
}

fn ends_in_letter(text: &str, at: usize) -> bool {
    text[..at]
        .chars()
        .next_back()
        .is_some_and(char::is_alphanumeric)
}

/// What stands between quotes at the start of the text, and how far it reaches. An apostrophe within a word is none.
fn quoted(text: &str, at_word_start: bool) -> Option<(&str, usize)> {
    let open = text.chars().next()?;
    let close = match open {
        '`' => '`',
        '"' => '"',
        '\u{201c}' | '\u{201e}' => '\u{201d}',
        '\u{ab}' => '\u{bb}',
        '\'' | '\u{2018}' if at_word_start => {
            if open == '\'' {
                '\''
            } else {
                '\u{2019}'
            }
        }
        _ => return None,
    };
    let inner = &text[open.len_utf8()..];
    let end = inner.find(close)?;
    let name = &inner[..end];
    // A quoted sentence is no name.
    let short = end > 0 && end <= 80 && !name.contains('\n');
    short.then_some((name, open.len_utf8() + end + close.len_utf8()))
}

fn push_name(out: &mut Vec<Token>, name: &str, span: Range<usize>) {
    let mut made = token(Kind::Name, name, span);
    made.stem = made.low.clone();
    out.push(made);
}

fn token(kind: Kind, text: &str, span: Range<usize>) -> Token {
    let low = SmolStr::new(text.to_lowercase().replace('\u{2019}', "'"));
    let stem = stem(&low);
    Token {
        kind,
        low,
        stem,
        span,
    }
}

fn number_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut end = 0;
    while end < bytes.len() {
        let inner = matches!(bytes[end], b'.' | b',' | b'_')
            && bytes.get(end + 1).is_some_and(u8::is_ascii_digit);
        if bytes[end].is_ascii_digit() || inner {
            end += 1;
        } else {
            break;
        }
    }
    end
}

fn word_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        let joins = matches!(char, '\'' | '\u{2019}' | '-' | '.' | '/' | ':' | '@')
            && next.is_some_and(|next| next.is_alphanumeric() || next == '*' || next == '_');
        if char.is_alphanumeric() || char == '_' || joins || (char == '*' && at > 0) {
            end = at + char.len_utf8();
        } else {
            break;
        }
    }
    end
}

fn word(out: &mut Vec<Token>, text: &str, at: usize) {
    let span = at..at + text.len();
    let low = text.to_lowercase().replace('\u{2019}', "'");
    let parts: &[&str] = match low.as_str() {
        "w/o" => &["without"],
        "w/" => &["with"],
        "cannot" | "can't" | "cant" => &["can", "not"],
        "won't" => &["will", "not"],
        "shan't" => &["shall", "not"],
        "ain't" => &["is", "not"],
        "let's" => &["let", "us"],
        _ => &[],
    };
    if !parts.is_empty() {
        for part in parts {
            out.push(token(Kind::Word, part, span.clone()));
        }
        return;
    }
    if let Some(base) = low.strip_suffix("n't") {
        out.push(token(Kind::Word, base, span.clone()));
        out.push(token(Kind::Word, "not", span));
        return;
    }
    for (ending, full) in [
        ("'re", "are"),
        ("'ve", "have"),
        ("'ll", "will"),
        ("'m", "am"),
    ] {
        if let Some(base) = low.strip_suffix(ending) {
            out.push(token(Kind::Word, base, span.clone()));
            out.push(token(Kind::Word, full, span));
            return;
        }
    }
    for (pronoun, full) in [("that's", "that"), ("it's", "it"), ("there's", "there")] {
        if low == pronoun {
            out.push(token(Kind::Word, full, span.clone()));
            out.push(token(Kind::Word, "is", span));
            return;
        }
    }
    let looks_like_code = text.contains('_')
        || text.contains("::")
        || (text.contains('.') && !text.ends_with('.') && low != "e.g" && low != "i.e")
        || text.contains('@');
    if looks_like_code {
        push_name(out, text, span);
        return;
    }
    // `opt-in/opt-out` and `read/write` are two words each; `90-second` is a number and its unit.
    let parts: Vec<&str> = if text.starts_with(|first: char| first.is_ascii_digit()) {
        text.split(['-', '/']).collect()
    } else {
        text.split(['/', ':', '.']).collect()
    };
    let mut from = at;
    for part in parts {
        if !part.is_empty() {
            out.push(token(Kind::Word, part, from..from + part.len()));
        }
        from += part.len() + 1;
    }
}

fn punctuation(text: &str, first: char) -> (Option<Kind>, usize) {
    let width = first.len_utf8();
    if text.starts_with("=>") || text.starts_with("->") {
        return (Some(Kind::Arrow), 2);
    }
    if text.starts_with("==") {
        return (Some(Kind::Equals), 2);
    }
    if text.starts_with("--") {
        return (Some(Kind::Comma), 2);
    }
    let kind = match first {
        ',' => Some(Kind::Comma),
        // A dash that joins no word stands between clauses.
        '-' | '\u{2013}' | '\u{2014}' => Some(Kind::Comma),
        ':' => Some(Kind::Colon),
        ';' | '.' | '!' | '?' | '\u{2026}' => Some(Kind::Stop),
        '\u{2192}' | '\u{21d2}' => Some(Kind::Arrow),
        '=' => Some(Kind::Equals),
        '%' => Some(Kind::Percent),
        _ => None,
    };
    (kind, width)
}
