//! The depth of each piece in the operators, branches and quantifiers of its bracket, which determines the indentation of a
//! line that begins with it.

use super::Piece;
use super::roles::Roles;
use super::space::Mark;
use crate::token::Token;

/// An operator with its operands, an `if`, a branch of it, a quantifier, or a clause.
#[derive(Clone, Copy, Debug)]
struct Node {
    kind: Kind,
    /// The node around it in the same bracket.
    parent: Option<usize>,
    /// Whether its first piece follows a bracket or comma, where a line has the indentation of the bracket.
    fresh: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A chain of operators of one rank, `a and b and c`; lower ranks bind less tightly.
    Operator(u8),
    /// `if`, with whether its `else` has come.
    If(bool),
    /// `then` and `else` of an `if`.
    Branch,
    /// `any`, `all` and `count … in`, before the colon.
    Range,
    /// `any`, `all` and `count … in`, after the colon.
    Body,
    /// The words that begin a clause: `when`, `message`, …
    Clause,
    /// `then` of a clause, which is indented no further than its `when`.
    Consequence,
}

/// The nesting of the pieces of an item. It depends on tokens only, not on line breaks.
#[derive(Debug, Default)]
pub(super) struct Nesting {
    nodes: Vec<Node>,
    /// The node that a piece heads, for operators and the words that begin a node.
    heads: Vec<Option<usize>>,
    /// The innermost node around a piece that heads none.
    around: Vec<Option<usize>>,
    /// The number of bodies of quantifiers around a piece, those around its bracket included.
    bodies: Vec<usize>,
    /// Whether a piece begins the body of a quantifier.
    starts: Vec<bool>,
}

/// A bracket that is open: its nodes, outermost first, and the number of bodies around it.
#[derive(Debug, Default)]
struct Frame {
    open: Vec<usize>,
    bodies: usize,
}

impl Nesting {
    pub(super) fn of(pieces: &[Piece<'_>], marks: &[Mark], roles: &Roles) -> Nesting {
        let mut nesting = Nesting {
            heads: vec![None; pieces.len()],
            around: vec![None; pieces.len()],
            bodies: vec![0; pieces.len()],
            starts: vec![false; pieces.len()],
            nodes: Vec::new(),
        };
        let mut frames = vec![Frame::default()];
        let mut before: Option<Token> = None;
        let mut begins_body = false;
        for (index, piece) in pieces.iter().enumerate() {
            let (Some(token), Some(frame)) = (piece.token, frames.last_mut()) else {
                continue;
            };
            if matches!(token, Token::RParen | Token::RBracket | Token::RBrace) {
                if frames.len() > 1 {
                    frames.pop();
                }
                begins_body = false;
                before = Some(token);
                continue;
            }
            if roles.clauses.contains(&piece.start) {
                frame.open.clear();
            }
            let opened = matches!(
                before,
                Some(Token::LParen | Token::LBracket | Token::LBrace | Token::Comma)
            );
            let fresh = opened || roles.clauses.contains(&piece.start);
            let of_if = marks.get(index).is_some_and(|mark| mark.of_if);
            nesting.starts[index] = begins_body;
            nesting.bodies[index] = nesting.bodies(frame);
            begins_body = false;
            match kind(pieces, index, before, of_if, roles) {
                Some(Kind::Operator(rank)) => nesting.operator(frame, index, rank),
                Some(Kind::Branch) => nesting.branch(frame, index, token),
                Some(Kind::Clause) => {
                    frame.open.clear();
                    nesting.open(frame, index, Kind::Clause, fresh);
                }
                Some(Kind::Consequence) => {
                    nesting.close(frame, |kind| kind != Kind::Clause);
                    nesting.open(frame, index, Kind::Consequence, fresh);
                }
                Some(kind) => {
                    // The branches of `else if` are aligned with those of the first `if`.
                    if matches!(kind, Kind::If(_)) && before == Some(Token::Else) {
                        frame.open.pop();
                    }
                    nesting.open(frame, index, kind, fresh);
                }
                None => {
                    match token {
                        Token::Comma | Token::FatArrow | Token::Assign => frame.open.clear(),
                        Token::Within => {
                            let ends = |kind| matches!(kind, Kind::Operator(_) | Kind::Consequence);
                            nesting.close(frame, ends);
                        }
                        Token::Colon => begins_body = nesting.body(frame),
                        _ => {}
                    }
                    nesting.around[index] = frame.open.last().copied();
                }
            }
            if matches!(token, Token::LParen | Token::LBracket | Token::LBrace) {
                let bodies = nesting.bodies(frame);
                frames.push(Frame {
                    open: Vec::new(),
                    bodies,
                });
            }
            before = Some(token);
        }
        nesting
    }

    fn bodies(&self, frame: &Frame) -> usize {
        let body = |at: &&usize| self.kind(**at) == Some(Kind::Body);
        frame.bodies + frame.open.iter().filter(body).count()
    }

    fn kind(&self, node: usize) -> Option<Kind> {
        self.nodes.get(node).map(|node| node.kind)
    }

    /// Adds a node inside the innermost open one.
    fn open(&mut self, frame: &mut Frame, index: usize, kind: Kind, fresh: bool) {
        let parent = frame.open.last().copied();
        self.heads[index] = Some(self.nodes.len());
        frame.open.push(self.nodes.len());
        self.nodes.push(Node {
            kind,
            parent,
            fresh,
        });
    }

    /// Closes nodes of some kinds from the inside; returns the last one.
    fn close(&self, frame: &mut Frame, closes: impl Fn(Kind) -> bool) -> Option<usize> {
        let mut last = None;
        while let Some(top) = frame.open.last().copied()
            && self.kind(top).is_some_and(&closes)
        {
            frame.open.pop();
            last = Some(top);
        }
        last
    }

    /// Adds an operator: operators before it that bind tighter become its left operand, and one of the same rank
    /// continues its chain.
    fn operator(&mut self, frame: &mut Frame, index: usize, rank: u8) {
        let tighter = |kind| matches!(kind, Kind::Operator(other) if other > rank);
        let left = self.close(frame, tighter);
        let top = frame.open.last().copied();
        if let Some(same) = top.filter(|top| self.kind(*top) == Some(Kind::Operator(rank))) {
            self.heads[index] = Some(same);
            return;
        }
        self.open(frame, index, Kind::Operator(rank), false);
        let added = self.heads[index];
        if let Some(left) = left.and_then(|left| self.nodes.get_mut(left)) {
            left.parent = added;
        }
    }

    /// Adds a branch to the innermost `if` that still takes it.
    fn branch(&mut self, frame: &mut Frame, index: usize, token: Token) {
        self.close(frame, |kind| kind != Kind::If(false));
        if token == Token::Else
            && let Some(Node { kind, .. }) =
                frame.open.last().and_then(|top| self.nodes.get_mut(*top))
        {
            *kind = Kind::If(true);
        }
        self.open(frame, index, Kind::Branch, false);
    }

    /// Begins the body of the innermost quantifier; returns whether there is one.
    fn body(&mut self, frame: &mut Frame) -> bool {
        let ranges = |at: &usize| self.kind(*at) == Some(Kind::Range);
        let Some(place) = frame.open.iter().rposition(ranges) else {
            return false;
        };
        frame.open.truncate(place + 1);
        let node = frame.open.last().and_then(|at| self.nodes.get_mut(*at));
        if let Some(node) = node {
            node.kind = Kind::Body;
        }
        true
    }

    /// Whether a piece begins the body of a quantifier.
    pub(super) fn begins_body(&self, index: usize) -> bool {
        self.starts.get(index).copied().unwrap_or(false)
    }

    /// Returns the number of bodies of quantifiers around a piece.
    pub(super) fn bodies_around(&self, index: usize) -> usize {
        self.bodies.get(index).copied().unwrap_or(0)
    }

    /// Returns the nodes that begin a line, or for a chain of operators, those with a member that does.
    pub(super) fn broken(&self, pieces: &[Piece<'_>]) -> Vec<bool> {
        let mut broken = vec![false; self.nodes.len()];
        for (piece, head) in pieces.iter().zip(&self.heads) {
            if piece.breaks
                && let Some(broken) = head.and_then(|head| broken.get_mut(head))
            {
                *broken = true;
            }
        }
        broken
    }

    /// Returns the levels of indentation, in its bracket, of a line that begins with a piece: one more than the line of the
    /// innermost node around it that begins a line.
    pub(super) fn level(&self, index: usize, broken: &[bool]) -> usize {
        match self.heads.get(index).copied().flatten() {
            Some(head) => self.node_level(head, broken),
            None => self.level_in(self.around.get(index).copied().flatten(), broken),
        }
    }

    fn node_level(&self, node: usize, broken: &[bool]) -> usize {
        match self.nodes.get(node) {
            Some(node) if node.fresh => 0,
            Some(node) => {
                let level = self.level_in(node.parent, broken);
                match node.kind {
                    Kind::Branch => level.max(2),
                    Kind::Consequence => node
                        .parent
                        .map_or(level, |clause| self.node_level(clause, broken)),
                    _ => level,
                }
            }
            None => 1,
        }
    }

    fn level_in(&self, mut around: Option<usize>, broken: &[bool]) -> usize {
        let mut bodies = 0;
        while let Some(at) = around {
            let Some(node) = self.nodes.get(at) else {
                break;
            };
            bodies += usize::from(node.kind == Kind::Body);
            if broken.get(at).copied().unwrap_or(false) {
                return self.node_level(at, broken) + bodies.max(1);
            }
            around = node.parent;
        }
        bodies.max(1)
    }
}

/// Returns the node that a piece begins or continues.
fn kind(
    pieces: &[Piece<'_>],
    index: usize,
    before: Option<Token>,
    of_if: bool,
    roles: &Roles,
) -> Option<Kind> {
    let piece = pieces.get(index)?;
    // A word after `.` is a name.
    if before == Some(Token::Dot) {
        return None;
    }
    let after_operand = before.is_some_and(Token::ends_operand);
    match piece.token? {
        Token::If => Some(Kind::If(false)),
        Token::Then | Token::Else if of_if => Some(Kind::Branch),
        Token::Then => Some(Kind::Consequence),
        Token::Message | Token::On | Token::Where if after_operand => Some(Kind::Clause),
        Token::When if roles.updates.contains(&piece.start) => Some(Kind::Clause),
        Token::Within => None,
        token => match operator(pieces, index, token, after_operand) {
            Some(rank) => Some(Kind::Operator(rank)),
            None => quantifies(pieces, index).then_some(Kind::Range),
        },
    }
}

/// Returns the rank of an operator that may begin a line: lower ranks are looser.
pub(super) fn operator(
    pieces: &[Piece<'_>],
    index: usize,
    token: Token,
    after_operand: bool,
) -> Option<u8> {
    match token {
        Token::Precedes | Token::Within => Some(1),
        Token::Name if leads_to(pieces, index) => Some(1),
        Token::DoubleArrow | Token::DoubleFatArrow => Some(2),
        Token::Arrow => Some(3),
        Token::Or | Token::Pipe | Token::PipePipe => Some(5),
        Token::And | Token::Amp | Token::AmpAmp => Some(6),
        Token::Until | Token::LetterU | Token::Unless | Token::LetterW | Token::Since => Some(7),
        Token::LetterS | Token::LetterR if after_operand => Some(7),
        _ => None,
    }
}

/// Returns the text of a piece.
fn text<'t>(pieces: &[Piece<'t>], index: usize) -> &'t str {
    pieces.get(index).map_or("", |piece| piece.text)
}

/// Whether there is a `leads to` at this piece.
fn leads_to(pieces: &[Piece<'_>], index: usize) -> bool {
    text(pieces, index) == "leads" && text(pieces, index + 1) == "to"
}

/// Whether there is an `any x in`, `all x in` or `count x in` at this piece.
fn quantifies(pieces: &[Piece<'_>], index: usize) -> bool {
    matches!(text(pieces, index), "any" | "all" | "count") && text(pieces, index + 2) == "in"
}
