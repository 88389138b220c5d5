//! Text to raw tokens.
//!
//! The lexer tracks one piece of context: whether the last token ended an operand. If it did, `/` is a division;
//! otherwise `/` begins a regular expression, in which a `/` inside `[…]` is an ordinary character. Comments and
//! documentation are kept apart from the tokens.

use super::token::Token;
use logos::Logos;

/// A token with its position, and whether a line break precedes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lexeme {
    /// The kind of token.
    pub token: Token,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset one past its last byte.
    pub end: u32,
    /// Whether it is the first token of its line.
    pub first_on_line: bool,
    /// Whether it is in column 0.
    pub column_zero: bool,
}

/// Text between tokens that is kept: comments and documentation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trivia {
    /// The kind of trivia.
    pub kind: TriviaKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset one past its last byte.
    pub end: u32,
    /// Whether a token precedes it on its line.
    pub trailing: bool,
    /// Index of the token that follows, in the list of tokens.
    pub next: usize,
}

/// The kinds of trivia.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TriviaKind {
    /// `// …` or `/* … */`.
    Comment,
    /// `/// …`.
    Doc,
    /// `//! …`.
    FileDoc,
}

/// A text that is not a token, with its position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LexError {
    /// The fault.
    pub kind: LexErrorKind,
    /// Offset of its first byte.
    pub start: u32,
    /// Offset one past its last byte.
    pub end: u32,
    /// Index of the token that represents it; `usize::MAX` if no token does.
    pub index: usize,
}

/// The kinds of lexical errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LexErrorKind {
    /// A character that begins no token.
    Character,
    /// A string without its closing quote.
    UnterminatedString,
    /// A regular expression without its closing slash.
    UnterminatedRegex,
    /// `/*` without `*/`.
    UnterminatedComment,
    /// `5in`, `0x10`, `2mins`.
    NumberTouchesLetters,
    /// `%` that does not follow a number.
    PercentOperator,
    /// A string in single quotes.
    SingleQuoted,
    /// The beginning of a comment in another language: `#`, or `--` in column 0 before white space.
    ForeignComment,
}

/// The result of lexing a text.
#[derive(Clone, Debug, Default)]
pub struct Lexed {
    /// The tokens, in order; invalid text is a [`Token::Unknown`].
    pub tokens: Vec<Lexeme>,
    /// Comments and documentation, in order.
    pub trivia: Vec<Trivia>,
    /// The errors, in order.
    pub errors: Vec<LexError>,
}

#[derive(Logos, Clone, Copy, Debug, PartialEq)]
#[logos(skip r"[ \t\r\n\u{FEFF}]+")]
enum Raw {
    #[regex("[A-Za-z_][A-Za-z0-9_]*")]
    Word,
    #[regex("[0-9][0-9_]*", priority = 12)]
    Int,
    #[regex(
        r"[0-9][0-9_]*(\.[0-9][0-9_]*([eE][+-]?[0-9]+)?|[eE][+-]?[0-9]+)",
        priority = 12
    )]
    Float,
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?([eE][+-]?[0-9]+)?%", priority = 12)]
    Percent,
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?(ns|us|ms|s|m|h|d)", priority = 12)]
    Duration,
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z_][A-Za-z0-9_]*", priority = 2)]
    BadNumber,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*""#)]
    String,
    #[regex(r#""([^"\\\r\n]|\\[^\r\n])*"#)]
    OpenString,
    #[regex("//[^\n]*", allow_greedy = true)]
    LineComment,
    #[token("/*")]
    BlockComment,
    #[token("%")]
    PercentSign,
    #[token("(")]
    LParen,
    #[token(")")]
    RParen,
    #[token("[")]
    LBracket,
    #[token("]")]
    RBracket,
    #[token("{")]
    LBrace,
    #[token("}")]
    RBrace,
    #[token(".")]
    Dot,
    #[token("..")]
    DotDot,
    #[token(",")]
    Comma,
    #[token(":")]
    Colon,
    #[token("'")]
    Prime,
    #[token("@")]
    At,
    #[token("?")]
    Question,
    #[token("??")]
    Coalesce,
    #[token("=")]
    Assign,
    #[token("==")]
    EqEq,
    #[token("!=")]
    NotEq,
    #[token("<")]
    Less,
    #[token("<=")]
    LessEq,
    #[token(">")]
    Greater,
    #[token(">=")]
    GreaterEq,
    #[token("=>")]
    FatArrow,
    #[token("->")]
    Arrow,
    #[token("<->")]
    DoubleArrow,
    #[token("<=>")]
    DoubleFatArrow,
    #[token("&")]
    Amp,
    #[token("&&")]
    AmpAmp,
    #[token("|")]
    Pipe,
    #[token("||")]
    PipePipe,
    #[token("!")]
    Bang,
    #[token("+")]
    Plus,
    #[token("-")]
    Minus,
    #[token("*")]
    Star,
    #[token("/")]
    Slash,
    #[token("=?")]
    EqQuestion,
}

/// Reads all tokens of `text`; `base` is added to every offset.
#[must_use]
pub fn lex(text: &str, base: u32) -> Lexed {
    let mut out = Lexed::default();
    let mut lexer = Raw::lexer(text);
    let mut line_end = 0usize; // end of the last token, to see line breaks
    let mut first = true;
    let mut trivia_line_end = 0usize;
    while let Some(raw) = lexer.next() {
        let range = lexer.span();
        let (start, mut end) = (range.start, range.end);
        let slice = lexer.slice();
        let broken = first
            || text
                .get(line_end..start)
                .is_some_and(|gap| gap.contains('\n'));
        let mut error = None;
        let begins_comment = match raw {
            Err(()) => slice == "#",
            // `--x` is a number, which was negated twice.
            Ok(Raw::Minus) => {
                let words = lexer.remainder().trim_start_matches('-');
                lexer.remainder().starts_with('-')
                    && !words.starts_with(|c: char| !c.is_whitespace())
                    && is_column_zero(text, start)
            }
            _ => false,
        };
        if begins_comment {
            // Read as the comment that is meant, so that it is the only error.
            let rest = lexer.remainder();
            lexer.bump(rest.find(['\r', '\n']).unwrap_or(rest.len()));
            let mark = if slice == "#" { 1 } else { 2 };
            out.errors.push(LexError {
                kind: LexErrorKind::ForeignComment,
                start: base + narrow(start),
                end: base + narrow(start + mark),
                index: usize::MAX,
            });
            continue;
        }
        let token = match raw {
            Ok(Raw::LineComment | Raw::BlockComment) => {
                if raw == Ok(Raw::BlockComment) {
                    let rest = lexer.remainder();
                    match rest.find("*/") {
                        Some(at) => lexer.bump(at + 2),
                        None => {
                            lexer.bump(rest.len());
                            out.errors.push(LexError {
                                kind: LexErrorKind::UnterminatedComment,
                                start: base + narrow(start),
                                end: base + narrow(start + 2),
                                index: out.tokens.len(),
                            });
                        }
                    }
                }
                let comment = text.get(start..lexer.span().end).unwrap_or("");
                let trimmed = comment.trim_end();
                let last = trivia_line_end.max(line_end);
                out.trivia.push(Trivia {
                    kind: trivia_kind(comment),
                    start: base + narrow(start),
                    end: base + narrow(start + trimmed.len()),
                    trailing: last > 0
                        && !text.get(last..start).is_some_and(|gap| gap.contains('\n')),
                    next: out.tokens.len(),
                });
                trivia_line_end = start + trimmed.len();
                continue;
            }
            Ok(Raw::Slash) if !ends_operand(&out, text, base) => {
                match scan_regex(lexer.remainder()) {
                    Some(len) => {
                        lexer.bump(len);
                        end += len;
                        Token::Regex
                    }
                    None => {
                        let rest = lexer.remainder();
                        let len = rest.find(['\r', '\n']).unwrap_or(rest.len());
                        lexer.bump(len);
                        end += len;
                        error = Some(LexErrorKind::UnterminatedRegex);
                        Token::Unknown
                    }
                }
            }
            Ok(Raw::OpenString) => {
                error = Some(LexErrorKind::UnterminatedString);
                Token::Unknown
            }
            Ok(Raw::BadNumber) => {
                error = Some(LexErrorKind::NumberTouchesLetters);
                Token::Unknown
            }
            Ok(Raw::PercentSign) => {
                error = Some(LexErrorKind::PercentOperator);
                Token::Unknown
            }
            Ok(Raw::Prime) if !ends_operand(&out, text, base) => {
                let rest = lexer.remainder();
                if let Some(at) = rest.find(['\'', '\n'])
                    && rest.as_bytes().get(at) == Some(&b'\'')
                {
                    lexer.bump(at + 1);
                    end += at + 1;
                }
                error = Some(LexErrorKind::SingleQuoted);
                Token::Unknown
            }
            Ok(raw) => token_of(raw, slice),
            Err(()) => {
                error = Some(LexErrorKind::Character);
                Token::Unknown
            }
        };
        if let Some(kind) = error {
            out.errors.push(LexError {
                kind,
                start: base + narrow(start),
                end: base + narrow(end),
                index: out.tokens.len(),
            });
        }
        // Only the first token of a line checks the column.
        let column_zero = broken && is_column_zero(text, start);
        out.tokens.push(Lexeme {
            token,
            start: base + narrow(start),
            end: base + narrow(end),
            first_on_line: broken,
            column_zero,
        });
        first = false;
        line_end = end;
    }
    out
}

/// Whether an offset is that of the first character of a line.
fn is_column_zero(text: &str, start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    line_start == start || text.get(line_start..start) == Some("\u{FEFF}")
}

/// Whether the last token ended an operand; a word after `.` always does.
fn ends_operand(out: &Lexed, text: &str, base: u32) -> bool {
    let mut last = out.tokens.iter().rev();
    let Some(lexeme) = last.next() else {
        return false;
    };
    let slice = |l: &Lexeme| text.get((l.start - base) as usize..(l.end - base) as usize);
    if lexeme.token.ends_operand() {
        let leads_to = slice(lexeme) == Some("to")
            && last
                .next()
                .is_some_and(|before| slice(before) == Some("leads"));
        return !leads_to;
    }
    if lexeme.token == Token::Greater && closes_type(&out.tokens) {
        return true;
    }
    let after_dot = last.next().is_some_and(|before| before.token == Token::Dot);
    let first = text.as_bytes().get((lexeme.start - base) as usize);
    after_dot && first.is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_')
}

/// Whether the last `>` closes the `<` of `list<…>`.
fn closes_type(tokens: &[Lexeme]) -> bool {
    let mut depth = 0usize;
    for (index, lexeme) in tokens.iter().enumerate().rev() {
        match lexeme.token {
            Token::Greater => depth += 1,
            Token::Less => {
                depth -= 1;
                if depth == 0 {
                    let before = index.checked_sub(1).and_then(|at| tokens.get(at));
                    return before.is_some_and(|before| {
                        matches!(before.token, Token::List | Token::Set | Token::Map)
                    });
                }
            }
            Token::List | Token::Set | Token::Map | Token::Question => {}
            token if token.is_name() => {}
            _ => return false,
        }
    }
    false
}

/// Returns the length of the rest of a regular expression, flags included, after its first slash.
fn scan_regex(rest: &str) -> Option<usize> {
    let mut class = false;
    let mut escaped = false;
    for (at, byte) in rest.bytes().enumerate() {
        match byte {
            b'\n' | b'\r' => return None,
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'[' => class = true,
            b']' => class = false,
            b'/' if !class => {
                let flags = rest.get(at + 1..).unwrap_or("");
                let len = flags.bytes().take_while(u8::is_ascii_alphabetic).count();
                return Some(at + 1 + len);
            }
            _ => {}
        }
    }
    None
}

fn trivia_kind(comment: &str) -> TriviaKind {
    if comment.starts_with("//!") {
        TriviaKind::FileDoc
    } else if comment.starts_with("///") && !comment.starts_with("////") {
        TriviaKind::Doc
    } else {
        TriviaKind::Comment
    }
}

fn token_of(raw: Raw, slice: &str) -> Token {
    match raw {
        Raw::Word => Token::of_word(slice),
        Raw::Int => Token::Int,
        Raw::Float => Token::Float,
        Raw::Percent => Token::Percent,
        Raw::Duration => Token::Duration,
        Raw::String => Token::String,
        Raw::LParen => Token::LParen,
        Raw::RParen => Token::RParen,
        Raw::LBracket => Token::LBracket,
        Raw::RBracket => Token::RBracket,
        Raw::LBrace => Token::LBrace,
        Raw::RBrace => Token::RBrace,
        Raw::Dot => Token::Dot,
        Raw::DotDot => Token::DotDot,
        Raw::Comma => Token::Comma,
        Raw::Colon => Token::Colon,
        Raw::Prime => Token::Prime,
        Raw::At => Token::At,
        Raw::Question => Token::Question,
        Raw::Coalesce => Token::Coalesce,
        Raw::Assign => Token::Assign,
        Raw::EqEq => Token::EqEq,
        Raw::NotEq => Token::NotEq,
        Raw::Less => Token::Less,
        Raw::LessEq => Token::LessEq,
        Raw::Greater => Token::Greater,
        Raw::GreaterEq => Token::GreaterEq,
        Raw::FatArrow => Token::FatArrow,
        Raw::Arrow => Token::Arrow,
        Raw::DoubleArrow => Token::DoubleArrow,
        Raw::DoubleFatArrow => Token::DoubleFatArrow,
        Raw::Amp => Token::Amp,
        Raw::AmpAmp => Token::AmpAmp,
        Raw::Pipe => Token::Pipe,
        Raw::PipePipe => Token::PipePipe,
        Raw::Bang => Token::Bang,
        Raw::Plus => Token::Plus,
        Raw::Minus => Token::Minus,
        Raw::Star => Token::Star,
        Raw::Slash => Token::Slash,
        Raw::EqQuestion => Token::EqQuestion,
        Raw::BadNumber
        | Raw::OpenString
        | Raw::LineComment
        | Raw::BlockComment
        | Raw::PercentSign => Token::Unknown,
    }
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
