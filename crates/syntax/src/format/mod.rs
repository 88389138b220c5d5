//! The canonical layout of a file.
//!
//! The formatter works on tokens, so it preserves comments, documentation, spelling and parentheses. It uses the tree only to
//! find the starts of clauses and the roles of braces. The rules:
//!
//! - one space between tokens, where the table in `space` says so;
//! - line breaks inside an item stay where the author put them, indented by two for each open
//!   bracket and for the continuation of an expression, and by two more in the operands of an operator, the branches of an
//!   `if` and the body of a quantifier that begin a line themselves;
//! - a block is on one line, with two spaces between its clauses, or has each clause on its own;
//! - a line longer than [`WIDTH`] is broken at its loosest operators or commas;
//! - at most one empty line in a row, and none at the edges of a block.
//!
//! Formatting twice changes nothing, and the tree stays equal.

mod layout;
mod nesting;
mod roles;
mod space;

use super::item_split;
use super::lexer::{self, Lexed, Lexeme, Trivia, TriviaKind};
use super::token::Token;
use crate::diagnostic::Diagnostic;
use crate::source::SourceFile;
use roles::Roles;

/// Columns that a line should not exceed.
pub const WIDTH: usize = 100;

/// Lays out a file.
///
/// # Errors
///
/// The errors of a file that does not parse; such a file should not be changed.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    format_file(&SourceFile::new("", text))
}

/// Lays out a file; diagnostics refer to its name.
///
/// # Errors
///
/// The errors of a file that does not parse; such a file should not be changed.
pub fn format_file(source: &SourceFile) -> Result<String, Vec<Diagnostic>> {
    let (tree, diagnostics) = super::parse(source);
    if diagnostics.iter().any(Diagnostic::is_error) {
        return Err(diagnostics);
    }
    let roles = Roles::of(&tree);
    let out = lay_out(source.text(), &roles);
    // a safeguard: the layout must not change the tree
    let (again, _) = super::parse(&SourceFile::with_id(
        source.id(),
        source.name(),
        out.as_str(),
    ));
    Ok(if again == tree {
        out
    } else {
        source.text().to_owned()
    })
}

/// A token or comment with the white space before it.
#[derive(Clone, Debug)]
pub(super) struct Piece<'t> {
    /// The token; `None` for comments and documentation.
    token: Option<Token>,
    text: &'t str,
    start: u32,
    end: u32,
    /// Whether it begins a line.
    breaks: bool,
    /// Whether an empty line stands before it.
    blank: bool,
    /// Whether a space stood before it.
    spaced: bool,
    /// Whether it ends its line, as `//` does.
    ends_line: bool,
}

fn lay_out(text: &str, roles: &Roles) -> String {
    let lexed = lexer::lex(text, 0);
    let mut out = String::with_capacity(text.len());
    let chunks = item_split::split(&lexed.tokens, text);
    let mut trivia = lexed.trivia.as_slice();
    for (index, chunk) in chunks.iter().enumerate() {
        let lead = trivia
            .iter()
            .take_while(|t| t.next <= chunk.range.start)
            .count();
        let (leading, rest) = trivia.split_at(lead);
        let next = chunks
            .get(index + 1)
            .map_or(lexed.tokens.len(), |next| next.range.start);
        let own = rest
            .iter()
            .take_while(|t| t.next < next || (t.next == next && t.trailing));
        let own = own.count();
        let (inside, rest) = rest.split_at(own);
        trivia = rest;
        let pieces = pieces(text, &lexed, leading, inside, chunk.range.clone());
        out.push_str(&layout::item(pieces, roles, index == 0));
    }
    let end = lexed.tokens.len();
    let pieces = pieces(text, &lexed, trivia, &[], end..end);
    out.push_str(&layout::item(pieces, roles, chunks.is_empty()));
    out
}

/// Returns the pieces of an item, in the order of the text.
fn pieces<'t>(
    text: &'t str,
    lexed: &Lexed,
    leading: &[Trivia],
    inside: &[Trivia],
    range: std::ops::Range<usize>,
) -> Vec<Piece<'t>> {
    let tokens = lexed.tokens.get(range).unwrap_or(&[]);
    let mut pieces: Vec<Piece<'t>> = leading
        .iter()
        .chain(inside)
        .map(|trivia| comment(text, trivia))
        .chain(tokens.iter().map(|lexeme| token(text, lexeme)))
        .collect();
    pieces.sort_by_key(|piece| piece.start);
    split_signs(&mut pieces);
    let mut before = previous_end(text, &pieces);
    for piece in &mut pieces {
        let gap = text
            .get(before as usize..piece.start as usize)
            .unwrap_or("");
        let lines = gap.matches('\n').count();
        piece.breaks = lines > 0;
        piece.blank = lines > 1;
        piece.spaced = !gap.is_empty();
        before = piece.end;
    }
    // a comment to the end of the line is always followed by a line break
    for index in 1..pieces.len() {
        if pieces.get(index - 1).is_some_and(|piece| piece.ends_line)
            && let Some(piece) = pieces.get_mut(index)
        {
            piece.breaks = true;
        }
    }
    pieces
}

/// Splits the `>=` of `set<string>= {}` into two signs.
fn split_signs(pieces: &mut Vec<Piece<'_>>) {
    let mut angles = 0usize;
    let mut before = None;
    let mut index = 0;
    while let Some(piece) = pieces.get_mut(index) {
        match piece.token {
            Some(Token::Less) if matches!(before, Some(Token::List | Token::Set | Token::Map)) => {
                angles += 1;
            }
            Some(Token::Greater) if angles > 0 => angles -= 1,
            Some(Token::GreaterEq) if angles > 0 => {
                let mut sign = piece.clone();
                (piece.token, piece.text, piece.end) = (Some(Token::Greater), ">", piece.start + 1);
                (sign.token, sign.text, sign.start) = (Some(Token::Assign), "=", sign.start + 1);
                pieces.insert(index + 1, sign);
                angles = 0;
            }
            Some(Token::Name | Token::Question | Token::List | Token::Set | Token::Map) | None => {}
            Some(_) => angles = 0,
        }
        before = pieces.get(index).and_then(|piece| piece.token).or(before);
        index += 1;
    }
}

/// Returns the end of the text before the first piece.
fn previous_end(text: &str, pieces: &[Piece<'_>]) -> u32 {
    let start = pieces.first().map_or(0, |piece| piece.start);
    let before = text.get(..start as usize).unwrap_or("");
    u32::try_from(before.trim_end().len()).unwrap_or(0)
}

fn comment<'t>(text: &'t str, trivia: &Trivia) -> Piece<'t> {
    let slice = text
        .get(trivia.start as usize..trivia.end as usize)
        .unwrap_or("");
    Piece {
        token: None,
        text: slice,
        start: trivia.start,
        end: trivia.end,
        breaks: false,
        blank: false,
        spaced: false,
        ends_line: trivia.kind != TriviaKind::Comment || slice.starts_with("//"),
    }
}

fn token<'t>(text: &'t str, lexeme: &Lexeme) -> Piece<'t> {
    Piece {
        token: Some(lexeme.token),
        text: text
            .get(lexeme.start as usize..lexeme.end as usize)
            .unwrap_or(""),
        start: lexeme.start,
        end: lexeme.end,
        breaks: false,
        blank: false,
        spaced: false,
        ends_line: false,
    }
}
