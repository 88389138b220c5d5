//! Tokens of the PRISM language and its properties.

use super::super::text::{TextError, TextPosition};

/// A token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name or a keyword.
    Name(String),
    /// An integer.
    Int(i64),
    /// A number with a point or an exponent, or an integer too large for 64 bits, as written.
    Real(String),
    /// A quoted text.
    Text(String),
    /// An operator or a punctuation mark.
    Mark(&'static str),
    /// The end of the text.
    End,
}

/// All marks; a mark comes before its prefixes.
const MARKS: &[&str] = &[
    "<=>", "->", "=>", "<=", ">=", "!=", "..", "|||", "||", "+", "-", "*", "/", "=", "<", ">", "!",
    "&", "|", "?", ":", ";", ",", "(", ")", "[", "]", "{", "}", "'",
];

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Token::Name(text) | Token::Real(text) => write!(f, "`{text}`"),
            Token::Int(number) => write!(f, "`{number}`"),
            Token::Text(text) => write!(f, "`\"{text}\"`"),
            Token::Mark(mark) => write!(f, "`{mark}`"),
            Token::End => write!(f, "the end"),
        }
    }
}

/// A token and its position.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) place: TextPosition,
    /// The range of its bytes in the text.
    pub(super) bytes: std::ops::Range<usize>,
    /// The number of open brackets before it.
    pub(super) open: u32,
}

/// Splits a text into tokens; comments run from `//` to the end of the line.
pub(super) fn tokens(text: &str) -> Result<Vec<Lexeme>, TextError> {
    let mut found = Vec::new();
    let mut end = TextPosition { line: 1, column: 1 };
    let mut begin = 0;
    let mut open = 0u32;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        let mut rest = line;
        loop {
            rest = rest.trim_start();
            let offset = line.len() - rest.len();
            let place = TextPosition {
                line: number as u32 + 1,
                column: line[..offset].chars().count() as u32 + 1,
            };
            end = place;
            if rest.is_empty() || rest.starts_with("//") {
                break;
            }
            let (token, length) = token(rest, place)?;
            let after = match token {
                Token::Mark("(" | "[" | "{") => open + 1,
                Token::Mark(")" | "]" | "}") => open.saturating_sub(1),
                _ => open,
            };
            found.push(Lexeme {
                token,
                place,
                bytes: begin + offset..begin + offset + length,
                open: std::mem::replace(&mut open, after),
            });
            rest = &rest[length..];
        }
        begin += line.len();
    }
    found.push(Lexeme {
        token: Token::End,
        place: end,
        bytes: text.len()..text.len(),
        open,
    });
    Ok(found)
}

/// Returns the token at the beginning of a nonempty text, and its length in bytes.
fn token(rest: &str, place: TextPosition) -> Result<(Token, usize), TextError> {
    let bytes = rest.as_bytes();
    let run = |from: usize, ok: fn(&u8) -> bool| {
        from + bytes[from..].iter().take_while(|byte| ok(byte)).count()
    };
    match bytes[0] {
        b'"' => match rest[1..].find('"') {
            Some(length) => Ok((Token::Text(rest[1..=length].to_owned()), length + 2)),
            None => Err(TextError::new(place, "missing closing quote")),
        },
        byte if byte.is_ascii_alphabetic() || byte == b'_' => {
            let length = run(0, |byte| byte.is_ascii_alphanumeric() || *byte == b'_');
            Ok((Token::Name(rest[..length].to_owned()), length))
        }
        byte if byte.is_ascii_digit()
            || (byte == b'.' && bytes.get(1).is_some_and(u8::is_ascii_digit)) =>
        {
            Ok(number(rest, bytes, run))
        }
        _ => match MARKS.iter().find(|mark| rest.starts_with(**mark)) {
            Some(mark) => Ok((Token::Mark(mark), mark.len())),
            None => {
                let wrong = rest.chars().next().unwrap_or(' ');
                Err(TextError::new(
                    place,
                    format!("invalid character `{wrong}` in the PRISM language"),
                ))
            }
        },
    }
}

fn number(
    rest: &str,
    bytes: &[u8],
    run: impl Fn(usize, fn(&u8) -> bool) -> usize,
) -> (Token, usize) {
    let digits = u8::is_ascii_digit;
    let mut length = run(0, digits);
    let mut real = false;
    // `0..5` is a range, not a decimal number.
    if bytes.get(length) == Some(&b'.') && bytes.get(length + 1) != Some(&b'.') {
        real = true;
        length = run(length + 1, digits);
    }
    if matches!(bytes.get(length), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(length + 1), Some(b'+' | b'-')));
        let end = run((length + 1 + sign).min(bytes.len()), digits);
        if end > length + 1 + sign {
            real = true;
            length = end;
        }
    }
    let text = &rest[..length];
    match text.parse::<i64>() {
        Ok(number) if !real => (Token::Int(number), length),
        _ => (Token::Real(text.to_owned()), length),
    }
}
