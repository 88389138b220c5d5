//! Tokens of the format, with their positions.

use thiserror::Error;

/// A fault in a text, and its position.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("line {line}, column {column}: {message}")]
pub struct Error {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1, in characters.
    pub column: usize,
    /// The fault, and the expected text.
    pub message: String,
}

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token<'a> {
    /// A name with a colon right after it.
    Header(&'a str),
    /// A name.
    Name(&'a str),
    /// `@name`, without the `@`.
    Alias(&'a str),
    /// A number.
    Int(u64),
    /// A text in quotes, unescaped.
    Text(String),
    /// One of `( ) { } [ ] & | !`.
    Sign(char),
    /// `--BODY--`
    Body,
    /// `--END--`
    End,
    /// `--ABORT--`
    Abort,
    /// The end of the text.
    Eof,
}

impl Token<'_> {
    /// Returns a description of the token for messages.
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Header(name) => format!("`{name}:`"),
            Token::Name(name) => format!("`{name}`"),
            Token::Alias(name) => format!("`@{name}`"),
            Token::Int(number) => format!("`{number}`"),
            Token::Text(_) => "a quoted string".to_owned(),
            Token::Sign(sign) => format!("`{sign}`"),
            Token::Body => "`--BODY--`".to_owned(),
            Token::End => "`--END--`".to_owned(),
            Token::Abort => "`--ABORT--`".to_owned(),
            Token::Eof => "the end of the text".to_owned(),
        }
    }
}

/// Reads tokens one by one.
#[derive(Clone, Debug)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Lexer<'a> {
        Lexer { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// Returns an error at a position of the text.
    pub(super) fn error(&self, at: usize, message: impl Into<String>) -> Error {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        Error {
            line: before.matches('\n').count() + 1,
            column: before.get(line_start..).unwrap_or("").chars().count() + 1,
            message: message.into(),
        }
    }

    /// Skips white space and nested comments.
    fn space(&mut self) -> Result<(), Error> {
        let mut start = self.at;
        let mut depth = 0usize;
        loop {
            let rest = self.rest();
            if rest.starts_with("/*") {
                if depth == 0 {
                    start = self.at;
                }
                depth += 1;
                self.at += 2;
            } else if depth > 0 && rest.starts_with("*/") {
                depth -= 1;
                self.at += 2;
            } else {
                match rest.chars().next() {
                    Some(c) if depth > 0 || c.is_ascii_whitespace() => self.at += c.len_utf8(),
                    None if depth > 0 => {
                        return Err(self.error(start, "unterminated comment: missing `*/`"));
                    }
                    _ => return Ok(()),
                }
            }
        }
    }

    /// Returns the next token and its position.
    pub(super) fn next(&mut self) -> Result<(usize, Token<'a>), Error> {
        self.space()?;
        let start = self.at;
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok((start, Token::Eof));
        };
        for (word, token) in [
            ("--BODY--", Token::Body),
            ("--END--", Token::End),
            ("--ABORT--", Token::Abort),
        ] {
            if rest.starts_with(word) {
                self.at += word.len();
                return Ok((start, token));
            }
        }
        let word = |from: usize| {
            let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            let tail = rest.get(from..).unwrap_or("");
            let len = tail.find(|c| !inner(c)).unwrap_or(tail.len());
            tail.get(..len).unwrap_or("")
        };
        let token = match first {
            '(' | ')' | '{' | '}' | '[' | ']' | '&' | '|' | '!' => {
                self.at += 1;
                Token::Sign(first)
            }
            '@' => {
                let name = word(1);
                if name.is_empty() {
                    return Err(
                        self.error(start, "expected the name of an alias directly after `@`")
                    );
                }
                self.at += 1 + name.len();
                Token::Alias(name)
            }
            '"' => self.text_in_quotes(start)?,
            c if c.is_ascii_digit() => {
                let len = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                self.at += len;
                let digits = rest.get(..len).unwrap_or("");
                let number = digits
                    .parse()
                    .map_err(|_| self.error(start, "number out of range"))?;
                Token::Int(number)
            }
            c if c.is_ascii_alphabetic() || c == '_' => {
                let name = word(0);
                self.at += name.len();
                if self.rest().starts_with(':') {
                    self.at += 1;
                    Token::Header(name)
                } else {
                    Token::Name(name)
                }
            }
            other => {
                return Err(self.error(start, format!("unexpected `{other}`")));
            }
        };
        Ok((start, token))
    }

    /// Returns a text in quotes; `\` takes the next character as it is.
    fn text_in_quotes(&mut self, start: usize) -> Result<Token<'a>, Error> {
        let mut text = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 1;
                    return Ok(Token::Text(text));
                }
                '\\' => text.extend(chars.next().map(|(_, c)| c)),
                c => text.push(c),
            }
        }
        Err(self.error(start, "unterminated string: missing `\"`"))
    }
}
