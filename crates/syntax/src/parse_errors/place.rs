//! The place of a grammar error among the tokens of its item.

use super::expected::Expected;
use crate::actions::Builder;
use crate::lexer::Lexeme;
use crate::source::Span;
use crate::token::Token;

/// A token that the grammar does not accept, with those around it.
#[derive(Clone, Copy)]
pub(super) struct Place<'p, 't> {
    pub(super) b: &'p Builder<'t>,
    /// The tokens that the grammar could have accepted.
    pub(super) expected: &'p Expected,
    /// The tokens of the item.
    pub(super) tokens: &'p [Lexeme],
    /// The index of the token.
    pub(super) at: usize,
    pub(super) token: Token,
    pub(super) span: Span,
}

impl<'p, 't> Place<'p, 't> {
    /// Returns the token that is `n` tokens before this one.
    pub(super) fn before(&self, n: usize) -> Option<&'p Lexeme> {
        self.tokens.get(self.at.checked_sub(n)?)
    }

    /// Returns the token that is `n` tokens after this one.
    pub(super) fn after(&self, n: usize) -> Option<&'p Lexeme> {
        self.tokens.get(self.at + n)
    }

    /// Returns the first token of the item.
    pub(super) fn item(&self) -> Option<Token> {
        self.tokens.first().map(|first| first.token)
    }

    /// Returns the text of this token.
    pub(super) fn text(&self) -> &'t str {
        self.b.slice(self.span.start, self.span.end)
    }

    /// Returns the text of a token.
    pub(super) fn slice(&self, lexeme: &Lexeme) -> &'t str {
        self.b.slice(lexeme.start, lexeme.end)
    }

    /// Returns the span of a token.
    pub(super) fn span_of(&self, lexeme: &Lexeme) -> Span {
        self.b.span(lexeme.start, lexeme.end)
    }

    /// Whether two tokens are written together.
    pub(super) fn is_joined(first: Option<&Lexeme>, second: Option<&Lexeme>) -> bool {
        matches!((first, second), (Some(first), Some(second)) if first.end == second.start)
    }

    /// Returns the index of the bracket that is open before the token at `index`.
    pub(super) fn opening(&self, index: usize) -> Option<usize> {
        let before = self.tokens.iter().enumerate().take(index);
        unmatched(before.rev(), is_closing, is_opening)
    }

    /// Returns the index of the bracket that closes the one that is open before the token at `index`.
    pub(super) fn closing(&self, index: usize) -> Option<usize> {
        let after = self.tokens.iter().enumerate().skip(index);
        unmatched(after, is_opening, is_closing)
    }

    /// Returns the index of the `>` that closes the `<` at this place.
    pub(super) fn closing_angle(&self) -> Option<usize> {
        let after = self.tokens.iter().enumerate().skip(self.at + 1);
        unmatched(
            after,
            |token| token == Token::Less,
            |token| token == Token::Greater,
        )
    }
}

/// Returns the index of the first token that ends what none of the others before it begins.
fn unmatched<'t>(
    tokens: impl Iterator<Item = (usize, &'t Lexeme)>,
    begins: impl Fn(Token) -> bool,
    ends: impl Fn(Token) -> bool,
) -> Option<usize> {
    let mut depth = 0usize;
    for (index, Lexeme { token, .. }) in tokens {
        if begins(*token) {
            depth += 1;
        } else if ends(*token) {
            match depth.checked_sub(1) {
                Some(outer) => depth = outer,
                None => return Some(index),
            }
        }
    }
    None
}

fn is_opening(token: Token) -> bool {
    matches!(token, Token::LParen | Token::LBracket | Token::LBrace)
}

fn is_closing(token: Token) -> bool {
    matches!(token, Token::RParen | Token::RBracket | Token::RBrace)
}

/// Whether a token is a number, a duration or a string.
pub(super) fn is_literal(token: Token) -> bool {
    is_number(token) || matches!(token, Token::String | Token::Duration)
}

/// Whether a token is a number.
pub(super) fn is_number(token: Token) -> bool {
    matches!(token, Token::Int | Token::Float | Token::Percent)
}
