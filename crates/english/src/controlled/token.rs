//! Words, numbers, names and punctuation of a sentence, with their places in it.

use std::ops::Range;

use crate::words::Ratio;

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

/// An exact number in digits.
pub(super) fn decimal(digits: &str) -> Option<Ratio> {
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let scale = 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?;
    let value: i128 = format!("{whole}{part}").parse().ok()?;
    Some(Ratio::new(value, scale))
}

/// The number of tokens that words take at the beginning of these, if they are there.
pub(crate) fn begin(tokens: &[Token], words: &str) -> Option<usize> {
    let mut here = tokens.iter();
    let mut words = words.split_whitespace();
    let same = words.all(|word| here.next().is_some_and(|token| token.is(word)));
    same.then(|| tokens.len() - here.len())
}

/// The closing mark of an opening one.
fn closing(open: char) -> Option<char> {
    match open {
        '`' => Some('`'),
        '"' => Some('"'),
        '\u{201c}' => Some('\u{201d}'),
        _ => None,
    }
}

/// The tokens of a text. A quotation mark without its partner is a sign like any other.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let length =
            |wanted: &dyn Fn(char) -> bool| rest.find(|c: char| !wanted(c)).unwrap_or(rest.len());
        let (kind, width) = if first.is_whitespace() {
            at += first.len_utf8();
            continue;
        } else if let Some((inner, close)) = closing(first).and_then(|close| {
            let inner = &rest[first.len_utf8()..];
            let end = inner.find(close)?;
            Some((&inner[..end], close))
        }) {
            let width = first.len_utf8() + inner.len() + close.len_utf8();
            (Kind::Quoted(inner.trim().to_owned()), width)
        } else if first.is_ascii_digit() {
            let mut width = length(&|c| c.is_ascii_digit());
            let fraction = rest[width..].strip_prefix('.').unwrap_or_default();
            let digits = fraction
                .find(|c: char| !c.is_ascii_digit())
                .unwrap_or(fraction.len());
            if digits > 0 {
                width += 1 + digits;
            }
            (Kind::Number, width)
        } else if first.is_alphanumeric() || first == '_' {
            let word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '\'' | '\u{2019}' | '-');
            (Kind::Plain, length(&word))
        } else {
            (Kind::Plain, first.len_utf8())
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
