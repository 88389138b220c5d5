//! Splits tokens into items before parsing.
//!
//! An item begins in column 0. Therefore an item with a syntax error does not affect others: the next item begins at
//! the next keyword in column 0, even if brackets are still open.

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

/// Splits the tokens of a file into items.
pub(super) fn split(tokens: &[Lexeme]) -> Vec<Chunk> {
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
        let after = tokens.get(index + 1..).unwrap_or(&[]);
        match begins(lexeme, before, after, depth, start, index, word) {
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

fn begins(
    lexeme: &Lexeme,
    before: Option<&Lexeme>,
    rest: &[Lexeme],
    depth: usize,
    start: usize,
    index: usize,
    word: Option<usize>,
) -> Begin {
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
    let free =
        same_line && depth == 0 && before.token.ends_operand() && head && word != Some(index - 1);
    if free && lexeme.column_zero && token == Token::Name && !only_attributes {
        return Begin::Item { in_place: true }; // a misspelt item word
    }
    let names_follow = matches!(
        before.token,
        Token::On | Token::Learn | Token::Format | Token::Message
    );
    if free && heads_item(token, rest) && !names_follow && !only_attributes {
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
