//! Lines and their indentation.

use super::nesting::{self, Nesting};
use super::roles::Roles;
use super::space::{self, Bracket, Mark};
use super::{Piece, WIDTH};
use crate::token::Token;

/// The indentation of each level.
const INDENT: usize = 2;

/// Properties of the pieces of an item that do not depend on line breaks.
struct Cx<'c> {
    marks: &'c [Mark],
    roles: &'c Roles,
    nesting: Nesting,
}

/// Lays out the pieces of one item, with the comments before it.
pub(super) fn item(mut pieces: Vec<Piece<'_>>, roles: &Roles, first: bool) -> String {
    let marks = space::mark(&pieces, roles);
    if let Some(piece) = pieces.first_mut() {
        piece.breaks = true;
        piece.blank &= !first;
    }
    settle(&mut pieces, &marks, roles);
    let cx = Cx {
        nesting: Nesting::of(&pieces, &marks, roles),
        marks: &marks,
        roles,
    };
    // each round adds a line break, so there are at most as many rounds as pieces
    for _ in 0..=pieces.len() {
        let lines = lines(&pieces, &cx);
        let Some(long) = lines
            .iter()
            .find(|line| line.width > WIDTH && can_break(&pieces, &cx, line))
        else {
            return draw(&pieces, &cx, &lines);
        };
        break_line(&mut pieces, &cx, long);
        settle(&mut pieces, &marks, roles);
    }
    let lines = lines(&pieces, &cx);
    draw(&pieces, &cx, &lines)
}

/// Normalises the author's line breaks: a block is on one line, or each of its clauses is on its own line.
fn settle(pieces: &mut [Piece<'_>], marks: &[Mark], roles: &Roles) {
    for open in 0..pieces.len() {
        let Some(mark) = marks
            .get(open)
            .filter(|mark| mark.bracket == Bracket::Block)
        else {
            continue;
        };
        let is_open = pieces
            .get(open)
            .is_some_and(|p| p.token == Some(Token::LBrace));
        if !is_open || mark.partner >= pieces.len() {
            continue;
        }
        if let Some(brace) = pieces.get_mut(open) {
            brace.breaks &= open == 0;
            brace.blank &= open == 0;
        }
        let close = mark.partner;
        let broken = pieces
            .get(open + 1..=close)
            .is_some_and(|inside| inside.iter().any(|piece| piece.breaks));
        if !broken || close == open + 1 {
            if close == open + 1 {
                set_break(pieces, close, false);
            }
            continue;
        }
        set_break(pieces, close, true);
        break_branches(pieces, marks, open, close);
        let first = (open + 1..close).find(|at| {
            pieces
                .get(*at)
                .is_some_and(|p| p.token.is_some() || p.breaks)
        });
        if let Some(first) = first {
            set_break(pieces, first, true);
            if let Some(piece) = pieces.get_mut(first) {
                piece.blank = false;
            }
        }
        for at in open + 1..close {
            let begins = pieces
                .get(at)
                .is_some_and(|p| p.token.is_some() && roles.clauses.contains(&p.start));
            if begins && depth_between(marks, open, at) {
                set_break(pieces, at, true);
            }
        }
        if let Some(piece) = pieces.get_mut(close) {
            piece.blank = false;
        }
    }
}

/// If a block is a branch of an `if`, puts both branches on separate lines, so that the arms of a `cases` are indented further
/// than the `if` around it.
fn break_branches(pieces: &mut [Piece<'_>], marks: &[Mark], open: usize, close: usize) {
    let of_if = |at: usize| marks.get(at).is_some_and(|mark| mark.of_if);
    let Some(branch) = open.checked_sub(2).filter(|branch| of_if(*branch)) else {
        return;
    };
    set_break(pieces, branch, true);
    if of_if(close + 1) {
        set_break(pieces, close + 1, true);
    }
    let update = |piece: &Piece<'_>| piece.token == Some(Token::Then);
    let update = pieces.get(..branch).and_then(|before| {
        let mut places = before.iter().enumerate();
        places.find(|(at, piece)| update(piece) && !of_if(*at))
    });
    if let Some(at) = update.map(|(at, _)| at) {
        set_break(pieces, at, true);
    }
}

/// Whether there is no other block between a block and one of its clauses.
fn depth_between(marks: &[Mark], open: usize, at: usize) -> bool {
    let mut index = open + 1;
    while index < at {
        let partner = marks.get(index).map_or(usize::MAX, |mark| mark.partner);
        if partner != usize::MAX && partner > index {
            if partner > at {
                return false;
            }
            index = partner;
        }
        index += 1;
    }
    true
}

fn set_break(pieces: &mut [Piece<'_>], at: usize, breaks: bool) {
    if let Some(piece) = pieces.get_mut(at) {
        piece.breaks = breaks;
    }
}

/// A line: its pieces, its indentation and its width.
struct Line {
    from: usize,
    to: usize,
    indent: usize,
    blank: bool,
    width: usize,
}

fn lines(pieces: &[Piece<'_>], cx: &Cx<'_>) -> Vec<Line> {
    let broken = cx.nesting.broken(pieces);
    let mut out: Vec<Line> = Vec::new();
    let mut frames: Vec<(usize, usize)> = Vec::new(); // indentation of the line, and of what is inside
    let mut indent = 0;
    // computed once: a search from each piece would be quadratic for lines of comments
    let following = following_tokens(pieces);
    let mut before = None;
    for (index, piece) in pieces.iter().enumerate() {
        if piece.breaks || index == 0 {
            let next = following.get(index).copied().flatten();
            indent = indent_at(pieces, cx, &broken, &frames, index, (before, next));
            let width = indent;
            out.push(Line {
                from: index,
                to: index,
                indent,
                blank: piece.blank,
                width,
            });
        }
        if let Some(line) = out.last_mut() {
            if line.from < index
                && let (Some(before), Some(a), Some(b)) = (
                    pieces.get(index - 1),
                    cx.marks.get(index - 1),
                    cx.marks.get(index),
                )
            {
                line.width += space::between((before, *a), (piece, *b), cx.roles).len();
            }
            // a trailing comment may exceed the width
            if piece.token.is_some() || line.from == index {
                line.width += piece.text.chars().count();
            }
            line.to = index + 1;
        }
        before = piece.token.or(before);
        match piece.token {
            Some(Token::LParen | Token::LBracket | Token::LBrace) => {
                frames.push((indent, indent + INDENT));
            }
            Some(Token::RParen | Token::RBracket | Token::RBrace) => {
                frames.pop();
            }
            _ => {}
        }
    }
    out
}

/// Returns, for each piece, the first token at or after it.
fn following_tokens(pieces: &[Piece<'_>]) -> Vec<Option<usize>> {
    let mut next = None;
    let mut all: Vec<Option<usize>> = pieces
        .iter()
        .enumerate()
        .rev()
        .map(|(index, piece)| {
            if piece.token.is_some() {
                next = Some(index);
            }
            next
        })
        .collect();
    all.reverse();
    all
}

/// Returns the indentation of a line that begins with the piece at `index`, between these tokens.
fn indent_at(
    pieces: &[Piece<'_>],
    cx: &Cx<'_>,
    broken: &[bool],
    frames: &[(usize, usize)],
    index: usize,
    (before, following): (Option<Token>, Option<usize>),
) -> usize {
    let Some(piece) = pieces.get(index) else {
        return 0;
    };
    let closes = |token| matches!(token, Some(Token::RParen | Token::RBracket | Token::RBrace));
    if closes(piece.token) {
        return frames.last().map_or(0, |(line, _)| *line);
    }
    let base = frames.last().map_or(0, |(_, inside)| *inside);
    // a comment has the indentation of the next token
    let following = following.and_then(|at| Some((at, pieces.get(at)?)));
    let Some((following, next)) = following else {
        return if frames.is_empty() { 0 } else { base };
    };
    if closes(next.token) {
        return base;
    }
    let Some(before) = before else {
        return 0; // the first token of the item, and the comments before it
    };
    let fresh = matches!(
        before,
        Token::LParen | Token::LBracket | Token::LBrace | Token::Comma
    ) || cx.roles.clauses.contains(&next.start);
    let attribute = frames.is_empty()
        && only_attributes(pieces.get(..index).unwrap_or(&[]))
        && next
            .token
            .is_some_and(|t| t == Token::At || t.begins_item());
    if (fresh && !frames.is_empty()) || attribute {
        base
    } else {
        base + INDENT * cx.nesting.level(following, broken)
    }
}

/// Whether the pieces are nothing but attributes.
fn only_attributes(pieces: &[Piece<'_>]) -> bool {
    let mut depth = 0usize;
    let mut before = None;
    for token in pieces.iter().filter_map(|piece| piece.token) {
        match token {
            Token::LParen => depth += 1,
            Token::RParen => depth = depth.saturating_sub(1),
            _ if depth == 0 && token != Token::At && before != Some(Token::At) => return false,
            _ => {}
        }
        before = Some(token);
    }
    true
}

fn draw(pieces: &[Piece<'_>], cx: &Cx<'_>, lines: &[Line]) -> String {
    let mut out = String::new();
    for line in lines {
        if line.blank {
            out.push('\n');
        }
        out.extend(std::iter::repeat_n(' ', line.indent));
        for index in line.from..line.to {
            let Some(piece) = pieces.get(index) else {
                continue;
            };
            if index > line.from
                && let (Some(before), Some(a), Some(b)) = (
                    pieces.get(index - 1),
                    cx.marks.get(index - 1),
                    cx.marks.get(index),
                )
            {
                out.push_str(space::between((before, *a), (piece, *b), cx.roles));
            }
            out.push_str(piece.text);
        }
        out.push('\n');
    }
    out
}

/// A place where a line may be broken: its depth in brackets and bodies of quantifiers, and its precedence.
type Rank = (usize, u8);

/// After the colon of a quantifier.
const BODY: u8 = 8;
/// After a comma.
const COMMA: u8 = 9;
/// After the sign of a definition.
const ASSIGN: u8 = 10;

/// Ranks of the places before pieces of a line.
fn ranks(pieces: &[Piece<'_>], cx: &Cx<'_>, line: &Line) -> Vec<(usize, Rank)> {
    let mut out = Vec::new();
    let mut depth = 0usize;
    let mut before: Option<Token> = None;
    for index in line.from..line.to {
        let Some((token, start)) = pieces.get(index).and_then(|p| Some((p.token?, p.start))) else {
            continue;
        };
        if matches!(token, Token::RParen | Token::RBracket | Token::RBrace) {
            depth = depth.saturating_sub(1);
        }
        let after_operand = before.is_some_and(Token::ends_operand);
        let of_if = cx.marks.get(index).is_some_and(|mark| mark.of_if);
        let begins_body = cx.nesting.begins_body(index);
        let rank = match token {
            Token::Message | Token::On | Token::Where if after_operand => Some(0),
            Token::When if cx.roles.updates.contains(&start) => Some(0),
            Token::Then if !of_if => Some(1),
            Token::Then | Token::Else => Some(4),
            _ => nesting::operator(pieces, index, token, after_operand).or(match before {
                _ if begins_body => Some(BODY),
                Some(Token::Comma) => Some(COMMA),
                Some(Token::Assign) if depth == 0 => Some(ASSIGN),
                _ => None,
            }),
        };
        if let Some(rank) = rank.filter(|_| index > line.from) {
            // The place before a body is outside of it.
            let bodies = cx.nesting.bodies_around(index) - usize::from(begins_body);
            out.push((index, (depth + bodies, rank)));
        }
        if matches!(token, Token::LParen | Token::LBracket | Token::LBrace) {
            depth += 1;
        }
        before = Some(token);
    }
    out
}

/// Returns the first block that is completely on a line.
fn block_on(pieces: &[Piece<'_>], marks: &[Mark], line: &Line) -> Option<usize> {
    (line.from..line.to).find(|index| {
        let opens = pieces
            .get(*index)
            .is_some_and(|p| p.token == Some(Token::LBrace));
        marks.get(*index).is_some_and(|mark| {
            opens
                && mark.bracket == Bracket::Block
                && mark.partner < line.to
                && mark.partner > index + 1
        })
    })
}

fn can_break(pieces: &[Piece<'_>], cx: &Cx<'_>, line: &Line) -> bool {
    block_on(pieces, cx.marks, line).is_some() || !ranks(pieces, cx, line).is_empty()
}

/// Breaks after the opening bracket around a piece, and before the closing one.
fn open_up(pieces: &mut [Piece<'_>], marks: &[Mark], index: usize) {
    let Some(open) = marks.get(index).map(|mark| mark.around) else {
        return;
    };
    if let Some(mark) = marks.get(open) {
        set_break(pieces, open + 1, true);
        set_break(pieces, mark.partner, true);
    }
}

/// Breaks a line at its first block, or else at the loosest places of the least depth.
fn break_line(pieces: &mut [Piece<'_>], cx: &Cx<'_>, line: &Line) {
    if let Some(open) = block_on(pieces, cx.marks, line) {
        set_break(pieces, open + 1, true);
        return;
    }
    let places = ranks(pieces, cx, line);
    // break at the definition sign only if there is no other place
    let Some(best) = places
        .iter()
        .map(|(_, (depth, rank))| (u8::from(*rank == ASSIGN), *depth, *rank))
        .min()
    else {
        return;
    };
    for (index, (depth, rank)) in places {
        if (depth, rank) == (best.1, best.2) {
            set_break(pieces, index, true);
            if rank == COMMA {
                open_up(pieces, cx.marks, index);
            }
        }
    }
}
