//! Splits tokens into items before parsing.
//!
//! An item begins in column 0. Therefore an item with a syntax error does not affect others: the next item begins at
//! the next keyword in column 0, even if brackets are still open.

use super::foreign;
use super::lexer::Lexeme;
use super::token::Token;
use std::ops::Range;

/// The tokens of one item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    /// Indices into the list of tokens.
    pub(super) range: Range<usize>,
    /// Whether the item is at a place where no item may begin.
    pub(super) misplaced: bool,
}

/// Splits the tokens of a file into items; `text` is that of the file.
pub(super) fn split(tokens: &[Lexeme], text: &str) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut start = 0;
    let mut misplaced = false;
    let mut depth = 0usize;
    let mut word: Option<usize> = None; // index of the item word of this chunk
    for (index, lexeme) in tokens.iter().enumerate() {
        let before = if index > start {
            tokens.get(index - 1)
        } else {
            None
        };
        match begins(tokens, text, index, start, depth, word) {
            Begin::Item { in_place } if index > start => {
                chunks.push(Chunk {
                    range: start..index,
                    misplaced,
                });
                (start, misplaced, depth, word) = (index, !in_place, 0, None);
            }
            _ => {}
        }
        match lexeme.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        let after_at = index > start && before.is_some_and(|b| b.token == Token::At);
        if word.is_none() && depth == 0 && lexeme.token.is_name() && !after_at {
            word = Some(index);
        }
    }
    if start < tokens.len() {
        chunks.push(Chunk {
            range: start..tokens.len(),
            misplaced,
        });
    }
    chunks
}

enum Begin {
    Item { in_place: bool },
    Nothing,
}

/// Whether the token at `index` begins an item; the one before begins at `start`.
fn begins(
    tokens: &[Lexeme],
    text: &str,
    index: usize,
    start: usize,
    depth: usize,
    word: Option<usize>,
) -> Begin {
    let (Some(lexeme), Some(first)) = (tokens.get(index), tokens.get(start)) else {
        return Begin::Nothing;
    };
    let before = tokens.get(start..index).and_then(<[Lexeme]>::last);
    let rest = tokens.get(index + 1..).unwrap_or(&[]);
    let token = lexeme.token;
    let same_line = rest.first().is_some_and(|after| !after.first_on_line);
    let after = rest.first().map(|after| after.token);
    if after == Some(Token::Colon) && token != Token::At {
        return Begin::Nothing; // a field whose name is an item keyword
    }
    // attributes belong to the item that follows
    let only_attributes = index > start && word.is_none();
    if lexeme.column_zero {
        if only_attributes && (token.begins_item() || token == Token::At) {
            return Begin::Nothing;
        }
        if token.begins_item() || token == Token::At {
            return Begin::Item { in_place: true };
        }
    }
    let Some(before) = before else {
        return Begin::Nothing;
    };
    let head = matches!(after, Some(Token::LBrace | Token::String | Token::When))
        || after.is_some_and(Token::is_name);
    let ends = before.token.ends_operand() || before.token == Token::Unknown;
    let free = depth == 0 && ends && word != Some(index - 1);
    let names_follow = matches!(
        before.token,
        Token::On | Token::Learn | Token::Format | Token::Message | Token::Error
    );
    // A misspelt item word, or one of another language: no name follows a value, except in `a leads to b`. Lines after
    // such a word belong to it, unless they look like items.
    let is_word = || {
        let slice = text.get(lexeme.start as usize..lexeme.end as usize);
        let is_foreign = match token {
            Token::Name => slice != Some("leads"),
            _ => slice.is_some_and(foreign::is_also_clause),
        };
        // A word such as `where` before it may begin a clause.
        let is_known = (first.token.begins_item() || first.token == Token::At)
            && !before.token.is_contextual();
        is_foreign && (is_known || (head && same_line) || slice.is_some_and(foreign::is_item))
    };
    if free && lexeme.column_zero && !names_follow && !only_attributes && is_word() {
        return Begin::Item { in_place: true };
    }
    if free
        && before.token.ends_operand()
        && same_line
        && head
        && heads_item(token, rest)
        && !names_follow
        && !only_attributes
    {
        return Begin::Item { in_place: false };
    }
    Begin::Nothing
}

/// Whether an item keyword is followed by text that only items have.
fn heads_item(word: Token, rest: &[Lexeme]) -> bool {
    let at = |index: usize| rest.get(index).map(|lexeme| lexeme.token);
    let named = at(0).is_some_and(Token::is_name);
    match word {
        _ if !word.begins_item() => false,
        Token::Event | Token::Trace => at(0) == Some(Token::LBrace),
        Token::Test => at(0) == Some(Token::String),
        Token::Use => named,
        Token::Enforce => {
            at(0) == Some(Token::When)
                || (named && matches!(at(1), Some(Token::LBrace)))
                || (at(0) == Some(Token::On) && at(2) == Some(Token::LBrace))
        }
        _ => {
            named
                && matches!(
                    at(1),
                    Some(
                        Token::Assign
                            | Token::LBrace
                            | Token::LParen
                            | Token::Colon
                            | Token::String
                            | Token::Ordered
                    )
                )
        }
    }
}
