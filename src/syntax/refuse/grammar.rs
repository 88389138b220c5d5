//! From the generated parser's error to a diagnostic.

use super::expected::Expected;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use crate::syntax::actions::Builder;
use crate::syntax::lexer::Lexeme;
use crate::syntax::token::Token;
use lalrpop_util::ParseError;

/// A sequence of tokens that the grammar does not have.
pub(in crate::syntax) fn grammar(
    b: &Builder<'_>,
    tokens: &[Lexeme],
    start: Token,
    end: u32,
    error: &ParseError<u32, Token, ()>,
    expected: &[String],
) -> Diagnostic {
    let whole = if start == Token::StartItem {
        "item"
    } else {
        "expression"
    };
    let found = match error {
        ParseError::UnrecognizedToken { token, .. } | ParseError::ExtraToken { token } => {
            Some((b.span(token.0, token.2), token.1))
        }
        _ => None,
    };
    let expected = Expected::new(expected, whole);
    let Some((span, token)) = found else {
        let at = b.span(end, end);
        let what = if tokens.is_empty() {
            format!("expected {expected}, found nothing")
        } else {
            format!("expected {expected}, found the end of the {whole}")
        };
        return Diagnostic::new(Code::G0101, at, what).label(format!("expected {expected}"));
    };
    let text = if token == Token::Comma && span.is_empty() {
        "the end of the line".to_owned()
    } else {
        shown(b, span, token)
    };
    if let Some(diagnostic) = operator(&expected, span, token) {
        return diagnostic;
    }
    let plain = |message: String| {
        Diagnostic::new(Code::G0101, span, message).label(format!("expected {expected}"))
    };
    if token.begins_item() && expected.is_operator() && first_on_line(tokens, span) {
        return Diagnostic::new(
            Code::G0104,
            span,
            format!("{text} begins an item away from column 0"),
        )
        .label("an item begins in column 0 of its own line")
        .note("so that a mistake in one item does not reach into the next");
    }
    let diagnostic = plain(format!("expected {expected}, found {text}"));
    with_notes(b, diagnostic, &expected, span, token, tokens)
}

/// Operators that mean something else here.
fn operator(expected: &Expected, span: Span, token: Token) -> Option<Diagnostic> {
    match token {
        Token::Assign if expected.has("==") => Some(
            Diagnostic::new(Code::G0110, span, "`=` does not compare")
                .label("it gives a name its meaning")
                .note("two values are compared by `==`")
                .fix("compare with `==`", span, "=="),
        ),
        Token::FatArrow if expected.has("->") => Some(
            Diagnostic::new(Code::G0110, span, "`=>` is no implication")
                .label("it leads from a condition to an arm, action or update")
                .note("implication is `->`")
                .fix("imply with `->`", span, "->"),
        ),
        _ => None,
    }
}

fn with_notes(
    b: &Builder<'_>,
    diagnostic: Diagnostic,
    expected: &Expected,
    span: Span,
    token: Token,
    tokens: &[Lexeme],
) -> Diagnostic {
    let text = b.slice(span.start, span.end);
    let before = tokens.iter().rev().find(|lexeme| lexeme.end <= span.start);
    if expected.is_name() && !expected.is_value() && token.is_reserved() {
        return diagnostic.note(format!(
            "`{text}` is a reserved word: choose another name, such as `{text}_`"
        ));
    }
    if is_relation(token) && expected.has("and") && !expected.has("==") {
        return diagnostic.note("comparisons do not chain: join two of them with `and`");
    }
    if matches!(token, Token::LeadsTo | Token::Precedes) && expected.is_operator() {
        return diagnostic
            .note("`leads to` and `precedes` stand outermost and do not chain: use parentheses");
    }
    let tail = matches!(
        token,
        Token::If | Token::AnyOf | Token::AllOf | Token::CountOf | Token::Forall | Token::Exists
    );
    if tail && expected.is_value() {
        return diagnostic.note(format!(
            "`{text}` reaches as far right as it can: put it in parentheses here"
        ));
    }
    if matches!(token, Token::LetterE | Token::LetterA)
        || before.is_some_and(|t| matches!(t.token, Token::LetterE | Token::LetterA))
    {
        return diagnostic.note("`A[ ]` and `E[ ]` hold a path formula");
    }
    if token == Token::String && before.is_some_and(|t| t.token == Token::Else) {
        return diagnostic;
    }
    if !expected.is_operator() {
        return diagnostic;
    }
    match text {
        "implies" => diagnostic.fix("imply with `->`", span, "->"),
        "iff" => diagnostic.fix("write `<->`", span, "<->"),
        "is" => diagnostic.fix("compare with `==`", span, "=="),
        _ if token.ends_operand() => diagnostic.note("two values stand side by side"),
        _ => diagnostic,
    }
}

fn is_relation(token: Token) -> bool {
    matches!(
        token,
        Token::EqEq
            | Token::NotEq
            | Token::Less
            | Token::LessEq
            | Token::Greater
            | Token::GreaterEq
            | Token::In
            | Token::NotIn
            | Token::Contains
            | Token::StartsWith
            | Token::EndsWith
            | Token::Matches
    )
}

fn first_on_line(tokens: &[Lexeme], span: Span) -> bool {
    tokens
        .iter()
        .any(|lexeme| lexeme.start == span.start && lexeme.first_on_line)
}

/// The token as it is shown: its text if it is short.
fn shown(b: &Builder<'_>, span: Span, token: Token) -> String {
    let text = b.slice(span.start, span.end);
    if text.is_empty() || text.len() > 30 || text.contains('\n') {
        match token {
            Token::String | Token::Regex | Token::Name => token.text().to_owned(),
            _ => format!("`{}`", token.text()),
        }
    } else {
        format!("`{text}`")
    }
}
