//! Spacing between tokens.

use super::Piece;
use super::roles::Roles;
use crate::token::Token;

/// The role of a bracket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Bracket {
    /// The braces of an item or of `cases`: spaces inside, clauses between.
    Block,
    /// `{ idle, busy }` as a type, `[ F a ]` after `P=?`: spaces inside.
    Wide,
    /// `F[0,5]`: no space, not even after the comma.
    Bound,
    /// All others.
    Tight,
}

/// Facts about each piece that spacing needs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    /// For a bracket, opening or closing: its role.
    pub(super) bracket: Bracket,
    /// For a bracket: the index of its partner.
    pub(super) partner: usize,
    /// Whether there is never a space before it.
    pub(super) joined: bool,
    /// Whether there is never a space after it.
    pub(super) joins: bool,
    /// For `then` and `else`: whether they belong to an `if`.
    pub(super) of_if: bool,
    /// The index of the opening bracket around it.
    pub(super) around: usize,
}

/// Marks all pieces of an item.
pub(super) fn mark(pieces: &[Piece<'_>], roles: &Roles) -> Vec<Mark> {
    let plain = Mark {
        bracket: Bracket::Tight,
        partner: usize::MAX,
        joined: false,
        joins: false,
        of_if: false,
        around: usize::MAX,
    };
    let mut marks = vec![plain; pieces.len()];
    let mut open: Vec<(usize, Bracket)> = Vec::new();
    let mut tokens: Vec<usize> = Vec::new(); // indices of tokens, comments left out
    let mut angles = 0usize;
    let mut block_seen = false;
    let mut conditions: Vec<usize> = vec![0]; // open `if`s, for each open bracket
    for (index, piece) in pieces.iter().enumerate() {
        let Some(token) = piece.token else { continue };
        let back = |n: usize| {
            let at = tokens.len().checked_sub(n)?;
            pieces.get(*tokens.get(at)?)?.token
        };
        let before = back(1);
        let previous = tokens.last().and_then(|at| pieces.get(*at));
        // a word after `.` or before `:` is a name
        let named = back(2) == Some(Token::Dot);
        let window = !named && previous.is_some_and(|p| p.text == "count");
        let temporal = window || (!named && before.is_some_and(Token::is_temporal));
        let mut joined = false;
        let mut joins = false;
        let inside = open.last().map(|(_, bracket)| *bracket);
        if let Some((around, _)) = open.last() {
            set(&mut marks, index, |mark| mark.around = *around);
        }
        match token {
            Token::LParen | Token::LBracket | Token::LBrace => {
                let bracket = opening(
                    token, piece, roles, before, &back, temporal, inside, block_seen,
                );
                block_seen |= token == Token::LBrace && open.is_empty();
                joined = match token {
                    Token::LParen => {
                        // The operand follows a bound as it would follow the operator without one.
                        let bounded = tokens
                            .last()
                            .is_some_and(|at| ends_bound(pieces, &marks, *at));
                        !bounded && previous.is_some_and(|p| calls(p, back(2), roles, tokens.len()))
                    }
                    Token::LBracket => {
                        bracket == Bracket::Bound
                            || (bracket == Bracket::Tight
                                && (path(before)
                                    || previous.is_some_and(|p| indexes(p, named, roles))))
                    }
                    _ => before == Some(Token::Dot) || before == Some(Token::LetterR),
                };
                joins = !matches!(bracket, Bracket::Block | Bracket::Wide);
                open.push((index, bracket));
                conditions.push(0);
                set(&mut marks, index, |mark| mark.bracket = bracket);
            }
            Token::RParen | Token::RBracket | Token::RBrace => {
                conditions.pop();
                if let Some((partner, bracket)) = open.pop() {
                    let empty = previous.is_some_and(|p| {
                        pieces
                            .get(partner)
                            .is_some_and(|open| open.start == p.start)
                    });
                    joined = empty || !matches!(bracket, Bracket::Block | Bracket::Wide);
                    set(&mut marks, partner, |mark| mark.partner = index);
                    set(&mut marks, index, |mark| {
                        (mark.bracket, mark.partner) = (bracket, partner);
                    });
                }
            }
            Token::Comma | Token::Colon | Token::Prime | Token::Question | Token::EqQuestion => {
                joined = true;
                joins = token == Token::Comma && inside == Some(Bracket::Bound);
            }
            Token::If => conditions
                .iter_mut()
                .last()
                .into_iter()
                .for_each(|n| *n += 1),
            Token::Then => {
                if let Some(n) = conditions.last_mut().filter(|n| **n > 0) {
                    *n -= 1;
                    set(&mut marks, index, |mark| mark.of_if = true);
                }
            }
            Token::Else => {
                let arm = pieces
                    .get(index + 1)
                    .is_some_and(|p| p.token == Some(Token::FatArrow));
                set(&mut marks, index, |mark| mark.of_if = !arm);
            }
            Token::Dot | Token::DotDot => (joined, joins) = (true, true),
            Token::At | Token::Bang => joins = true,
            Token::Minus => {
                let apart = piece.spaced && pieces.get(index + 1).is_some_and(|next| !next.spaced);
                joins = !operand(before) || apart;
            }
            Token::Less if matches!(before, Some(Token::List | Token::Set | Token::Map)) => {
                (joined, joins) = (true, true);
                angles += 1;
            }
            Token::Greater if angles > 0 => {
                joined = true;
                angles -= 1;
            }
            Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq => {
                let threshold = matches!(
                    before,
                    Some(Token::LetterP | Token::LetterR | Token::LetterS)
                ) || (before == Some(Token::RBrace)
                    && back(4) == Some(Token::LetterR));
                let steps = inside == Some(Bracket::Wide) && before == Some(Token::LetterC);
                let bound = temporal && token == Token::LessEq;
                (joined, joins) = (threshold || steps || bound, threshold || steps || bound);
            }
            Token::Assign if before == Some(Token::LetterI) && inside == Some(Bracket::Wide) => {
                (joined, joins) = (true, true);
            }
            _ => {}
        }
        set(&mut marks, index, |mark| {
            (mark.joined, mark.joins) = (joined, joins)
        });
        tokens.push(index);
    }
    marks
}

fn set(marks: &mut [Mark], index: usize, f: impl FnOnce(&mut Mark)) {
    if let Some(mark) = marks.get_mut(index) {
        f(mark);
    }
}

#[allow(clippy::too_many_arguments, reason = "all that surrounds the bracket")]
fn opening(
    token: Token,
    piece: &Piece<'_>,
    roles: &Roles,
    before: Option<Token>,
    back: &dyn Fn(usize) -> Option<Token>,
    temporal: bool,
    inside: Option<Bracket>,
    block_seen: bool,
) -> Bracket {
    let compares = |token: Option<Token>| {
        matches!(
            token,
            Some(Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq)
        )
    };
    let asks = |token: Option<Token>| {
        matches!(
            token,
            Some(Token::LetterP | Token::LetterR | Token::LetterS)
        )
    };
    match token {
        Token::LBrace if before == Some(Token::Cases) => Bracket::Block,
        Token::LBrace if roles.value_types.contains(&piece.start) => Bracket::Wide,
        Token::LBrace if inside.is_none() && !block_seen && before != Some(Token::Dot) => {
            let value = matches!(before, Some(Token::Assign | Token::In | Token::LetterR));
            if value || before.is_some_and(is_operator) {
                Bracket::Tight
            } else {
                Bracket::Block
            }
        }
        Token::LBracket if before == Some(Token::EqQuestion) => Bracket::Wide,
        Token::LBracket if compares(back(2)) && asks(back(3)) => Bracket::Wide,
        Token::LBracket
            if compares(back(2))
                && back(3) == Some(Token::RBrace)
                && back(6) == Some(Token::LetterR) =>
        {
            Bracket::Wide
        }
        Token::LBracket if temporal => Bracket::Bound,
        _ => Bracket::Tight,
    }
}

/// Whether `[` after this piece is an index.
fn indexes(piece: &Piece<'_>, named: bool, roles: &Roles) -> bool {
    let Some(token) = piece.token else {
        return false;
    };
    let certain = token.ends_operand() && !token.is_contextual();
    certain || named || roles.callees.contains(&piece.end)
}

/// Whether the piece ends the bound of a temporal operator, and not that of `count`, which is a call.
fn ends_bound(pieces: &[Piece<'_>], marks: &[Mark], at: usize) -> bool {
    let closes = |mark: &&Mark| mark.bracket == Bracket::Bound && mark.partner < at;
    let opens = marks.get(at).filter(closes).map(|mark| mark.partner);
    let of = opens.and_then(|open| pieces.get(..open)?.last());
    of.is_some_and(|of| of.text != "count")
}

/// Whether `(` after this piece belongs to a call, parameters or an attribute.
fn calls(piece: &Piece<'_>, before: Option<Token>, roles: &Roles, index: usize) -> bool {
    let Some(token) = piece.token else {
        return false;
    };
    roles.callees.contains(&piece.end)
        || matches!(
            token,
            Token::Name | Token::RParen | Token::RBracket | Token::Prime
        )
        || matches!(before, Some(Token::At | Token::Invoke))
        || (token.is_contextual() && index == 2)
}

fn operand(token: Option<Token>) -> bool {
    token.is_some_and(Token::ends_operand)
}

fn path(token: Option<Token>) -> bool {
    matches!(token, Some(Token::LetterA | Token::LetterE))
}

fn is_operator(token: Token) -> bool {
    !token.is_name() && !token.ends_operand()
}

/// Returns the space between two pieces on one line.
pub(super) fn between(
    left: (&Piece<'_>, Mark),
    right: (&Piece<'_>, Mark),
    roles: &Roles,
) -> &'static str {
    let (a, am) = left;
    let (b, bm) = right;
    if b.token.is_none() {
        return if b.ends_line { "  " } else { " " };
    }
    if a.token.is_some() && (am.joins || bm.joined) {
        return "";
    }
    let opens = a.token == Some(Token::LBrace) || a.token == Some(Token::Comma);
    let clause =
        a.token.is_some() && roles.clauses.contains(&b.start) && a.token != Some(Token::Less);
    if clause && !opens { "  " } else { " " }
}
