//! Words, numbers, names and punctuation of a sentence, with their places in it.

use std::ops::Range;

use crate::words::{Ratio, is_listed};

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind {
    /// A word or a sign.
    Plain,
    /// A number in digits.
    Number,
    /// A situation in backquotes or quotation marks, without them.
    Quoted(String),
}

/// A token: its text in lower case and its place.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    pub(crate) kind: Kind,
    pub(crate) low: String,
    pub(crate) span: Range<usize>,
}

impl Token {
    pub(crate) fn is(&self, text: &str) -> bool {
        self.kind == Kind::Plain && self.low == text
    }

    /// Returns the phrase in quotation marks or backquotes.
    pub(crate) fn quoted(&self) -> Option<&str> {
        match &self.kind {
            Kind::Quoted(phrase) => Some(phrase),
            _ => None,
        }
    }

    /// Returns the number in digits or words.
    pub(crate) fn number(&self) -> Option<Ratio> {
        match self.kind {
            Kind::Number => decimal(&self.low),
            Kind::Plain => small_number(&self.low).map(|value| Ratio::new(value.into(), 1)),
            Kind::Quoted(_) => None,
        }
    }
}

/// An exact number in digits, in groups of three or not.
pub(super) fn decimal(digits: &str) -> Option<Ratio> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let value: i128 = format!("{whole}{part}").replace(',', "").parse().ok()?;
    Some(Ratio::new(value, scale))
}

/// The number of tokens that words take at the beginning of these, if they are there.
pub(crate) fn begin(tokens: &[Token], words: &str) -> Option<usize> {
    let mut here = tokens.iter();
    let mut words = words.split_whitespace();
    let same = words.all(|word| here.next().is_some_and(|token| token.is(word)));
    same.then(|| tokens.len() - here.len())
}

/// Opening marks of situations, each with the closing one.
const MARKS: [(char, char); 3] = [('`', '`'), ('"', '"'), ('\u{201c}', '\u{201d}')];

/// The width of the digits at the beginning of a text.
fn digits(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_ascii_digit());
    end.unwrap_or(text.len())
}

/// The width of a number at the beginning of a text: `5`, `0.25`, `1,000`.
fn number(text: &str) -> usize {
    let after = |width: usize, sign| text[width..].strip_prefix(sign).map_or(0, digits);
    let mut width = digits(text);
    if width <= 3 {
        while after(width, ',') == 3 {
            width += 4;
        }
    }
    match after(width, '.') {
        0 => width,
        fraction => width + 1 + fraction,
    }
}

/// The tokens of a text. A quotation mark without its partner is a sign like any other.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let (rest, begin) = (&text[at..], first.len_utf8());
        let mark = MARKS.iter().find(|(open, _)| *open == first);
        let quoted = mark.and_then(|(_, close)| rest[begin..].split_once(*close));
        let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '\u{2019}' | '-');
        let (kind, width) = if first.is_whitespace() {
            at += begin;
            continue;
        } else if let Some((inner, after)) = quoted {
            let width = rest.len() - after.len();
            (Kind::Quoted(inner.trim().to_owned()), width)
        } else if first.is_ascii_digit() {
            (Kind::Number, number(rest))
        } else if first.is_alphanumeric() || first == '_' {
            let end = rest.find(|c: char| !word(c)).unwrap_or(rest.len());
            // *One-hour* is as *1-hour*, which begins with a number.
            let hour = rest[..end].split_once('-').filter(|(count, unit)| {
                small_number(&count.to_lowercase()).is_some()
                    && is_listed("units", &unit.to_lowercase())
            });
            (Kind::Plain, hour.map_or(end, |(count, _)| count.len()))
        } else {
            (Kind::Plain, begin)
        };
        out.push(Token {
            kind,
            low: rest[..width].to_lowercase().replace('\u{2019}', "'"),
            span: at..at + width,
        });
        at += width;
    }
    out
}

/// The value of a number word: up to `ninety-nine`, `hundred` and `thousand`.
pub(crate) fn small_number(word: &str) -> Option<u32> {
    const UNITS: &str = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen \
        eighteen nineteen";
    const TENS: &str = "ten twenty thirty forty fifty sixty seventy eighty ninety hundred";
    let place = |list: &str, word: &str| {
        let mut numbered = (1..).zip(list.split_whitespace());
        numbered.find_map(|(value, known)| (known == word).then_some(value))
    };
    let tens = |word| place(TENS, word).map(|tens| tens * 10);
    match word.split_once('-') {
        Some((ten, unit)) => Some(tens(ten)? + place(UNITS, unit).filter(|unit| *unit < 10)?),
        None if word == "thousand" => Some(1000),
        None => place(UNITS, word).or_else(|| tens(word)),
    }
}
