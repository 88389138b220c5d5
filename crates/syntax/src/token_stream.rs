//! The second pass over the tokens of one item, which reclassifies tokens by their neighbours.
//!
//! - a word after `.` or before `:` is a plain name, even if it is a keyword elsewhere;
//! - `not in`, `leads to`, `steps when` become one token each;
//! - `any`, `all`, `count` become keywords before `name in` (`count` also before `[`);
//! - `[` after a temporal operator opens a bound, not a list;
//! - inside `cases { }` a line break ends an arm, unless an operator ends the line or begins the next one: a comma is
//!   inserted there, so that the grammar does not depend on lines;
//! - `step` and `steps` are units after `within 5` and `for 3`;
//! - brackets are matched and nesting is counted.
//!
//! INVARIANT (depth): the tree of a text that passes here has a depth bounded by the limit, so later passes may use
//! recursion. The count includes each open bracket and, within it, each operator since the last position at which all
//! expressions had ended.

use super::lexer::Lexeme;
use super::token::Token;

/// A fault in the brackets or the nesting of an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PrepareError {
    /// A closing bracket without an opening one.
    Unopened { at: Lexeme },
    /// A closing bracket of another kind than the opening one.
    Mismatched { open: Lexeme, at: Lexeme },
    /// An opening bracket that is never closed; `end` is the offset after the last token.
    Unclosed { open: Lexeme, end: u32 },
    /// More nesting than the limit.
    TooDeep { at: Lexeme },
    /// `X[0,1]`; `list` is true if the following tokens show that a list was intended.
    NoBound {
        operator: Lexeme,
        open: Lexeme,
        close: Option<u32>,
        list: bool,
    },
}

/// One open bracket.
struct Frame {
    open: Lexeme,
    cases: bool,
    /// Nesting outside of it.
    base: usize,
    /// Operators that may still enclose the following tokens, even after `and` or `or`.
    loose: usize,
    /// Operators whose operand ends at an `and` or `or`.
    tight: usize,
}

struct Preparer<'t> {
    text: &'t str,
    base: u32,
    limit: usize,
    out: Vec<Lexeme>,
    frames: Vec<Frame>,
    /// Outside of all brackets.
    ground: (usize, usize),
    /// Open `<` of types.
    angles: usize,
    ends_operand: bool,
    error: Option<PrepareError>,
}

/// Prepares the tokens of one item or expression for the grammar.
pub(super) fn prepare(
    tokens: &[Lexeme],
    text: &str,
    base: u32,
    limit: usize,
) -> Result<Vec<Lexeme>, PrepareError> {
    let mut p = Preparer {
        text,
        base,
        limit,
        out: Vec::with_capacity(tokens.len() + 1),
        frames: Vec::new(),
        ground: (0, 0),
        angles: 0,
        ends_operand: false,
        error: None,
    };
    let mut index = 0;
    while let Some(lexeme) = tokens.get(index) {
        let next = tokens.get(index + 1);
        let after = tokens.get(index + 2);
        index += p.step(*lexeme, next, after, tokens.get(index + 1..).unwrap_or(&[]));
        if p.error.is_some() {
            break;
        }
    }
    if p.error.is_none()
        && let Some(frame) = p.frames.last()
    {
        let end = tokens.last().map_or(frame.open.end, |last| last.end);
        p.error = Some(PrepareError::Unclosed {
            open: frame.open,
            end,
        });
    }
    match p.error {
        Some(error) => Err(error),
        None => Ok(p.out),
    }
}

impl Preparer<'_> {
    /// Processes one token; returns the number of raw tokens consumed.
    fn step(
        &mut self,
        raw: Lexeme,
        next: Option<&Lexeme>,
        after: Option<&Lexeme>,
        rest: &[Lexeme],
    ) -> usize {
        let before = self.out.last().copied();
        let (lexeme, used) = self.classify(raw, before, next, after);
        self.separate_arms(&lexeme, next);
        if !self.count(&lexeme) {
            return used;
        }
        match lexeme.token {
            Token::Coalesce if self.splits_question(&lexeme, next) => {
                // `float???0`: the lexer read `??` first
                self.push(Lexeme {
                    token: Token::Question,
                    end: lexeme.start + 1,
                    ..lexeme
                });
                let second = Lexeme {
                    token: Token::Coalesce,
                    start: lexeme.start + 1,
                    end: lexeme.end + 1,
                    ..lexeme
                };
                self.push(second);
                return used + 1;
            }
            Token::GreaterEq if self.angles > 0 => {
                // `set<string>= {}`
                self.push(Lexeme {
                    token: Token::Greater,
                    end: lexeme.start + 1,
                    ..lexeme
                });
                let second = Lexeme {
                    token: Token::Assign,
                    start: lexeme.start + 1,
                    ..lexeme
                };
                self.angles = 0;
                self.push(second);
                return used;
            }
            Token::Less if before.is_some_and(|b| is_generic(b.token)) => self.angles += 1,
            Token::Greater if self.angles > 0 => {
                self.angles -= 1;
                self.push(lexeme);
                self.ends_operand = true;
                return used;
            }
            Token::Name | Token::Question | Token::List | Token::Set | Token::Map => {}
            _ => self.angles = 0,
        }
        self.brackets(&lexeme, before, rest);
        self.push(lexeme);
        used
    }

    fn push(&mut self, lexeme: Lexeme) {
        self.ends_operand = lexeme.token.ends_operand();
        self.out.push(lexeme);
    }

    fn classify(
        &self,
        raw: Lexeme,
        before: Option<Lexeme>,
        next: Option<&Lexeme>,
        after: Option<&Lexeme>,
    ) -> (Lexeme, usize) {
        let as_token = |token| Lexeme { token, ..raw };
        let next_token = next.map(|n| n.token);
        let is_word = raw.token.is_name() || raw.token.is_reserved();
        if is_word && before.is_some_and(|b| b.token == Token::Dot) {
            return (as_token(Token::Name), 1);
        }
        // `or end` closes a window, even before a colon: no field is named after `or`.
        let or_end = raw.token == Token::End && before.is_some_and(|b| b.token == Token::Or);
        if is_word && next_token == Some(Token::Colon) && !or_end {
            return (as_token(Token::Name), 1);
        }
        if raw.token.is_name() && next_token == Some(Token::DotDot) {
            return (as_token(Token::RangeName), 1);
        }
        let fuse = |token| match next {
            Some(next) => (
                Lexeme {
                    token,
                    end: next.end,
                    ..raw
                },
                2,
            ),
            None => (raw, 1),
        };
        match (raw.token, next_token) {
            (Token::Not, Some(Token::In)) => return fuse(Token::NotIn),
            (Token::Steps, Some(Token::When)) => return fuse(Token::StepsWhen),
            (Token::Name, Some(Token::Name)) => {
                let second = next.map_or("", |n| self.slice(n));
                if self.slice(&raw) == "leads" && second == "to" {
                    return fuse(Token::LeadsTo);
                }
            }
            (Token::Step | Token::Steps, _) if self.after_amount(&raw) => {
                return (as_token(Token::StepUnit), 1);
            }
            (Token::LBracket, _) if before.is_some_and(|b| b.token == Token::CountWindow) => {
                return (as_token(Token::BoundOpen), 1);
            }
            (Token::LBracket, _) if before.is_some_and(|b| b.token.is_temporal()) => {
                return (as_token(Token::BoundOpen), 1);
            }
            _ => {}
        }
        if raw.token == Token::Name && !self.after_threshold() {
            let binds = next_token.is_some_and(Token::is_name)
                && after.is_some_and(|a| a.token == Token::In);
            match self.slice(&raw) {
                "any" if binds => return (as_token(Token::AnyOf), 1),
                "all" if binds => return (as_token(Token::AllOf), 1),
                "count" if binds => return (as_token(Token::CountOf), 1),
                "count" if next_token == Some(Token::LBracket) => {
                    return (as_token(Token::CountWindow), 1);
                }
                _ => {}
            }
        }
        (raw, 1)
    }

    /// Inserts a comma between two arms of `cases` that a line break separates.
    fn separate_arms(&mut self, lexeme: &Lexeme, next: Option<&Lexeme>) {
        let in_cases = self.frames.last().is_some_and(|frame| frame.cases);
        if !in_cases || !lexeme.first_on_line || !self.ends_operand {
            return;
        }
        let is_else =
            lexeme.token == Token::Else && next.is_some_and(|next| next.token == Token::FatArrow);
        if lexeme.token.continues_line() && !is_else {
            return;
        }
        let end = self.out.last().map_or(lexeme.start, |last| last.end);
        let comma = Lexeme {
            token: Token::Comma,
            start: end,
            end,
            first_on_line: false,
            column_zero: false,
        };
        self.count(&comma);
        self.push(comma);
    }

    /// Counts nesting; returns false if the limit is exceeded.
    fn count(&mut self, lexeme: &Lexeme) -> bool {
        let ends_operand = self.ends_operand;
        let (base, loose, tight) = match self.frames.last_mut() {
            Some(frame) => (frame.base, &mut frame.loose, &mut frame.tight),
            None => (0, &mut self.ground.0, &mut self.ground.1),
        };
        match weight(lexeme.token, ends_operand) {
            Weight::None => {}
            Weight::Ends => (*loose, *tight) = (0, 0),
            Weight::Chain => *tight = 0,
            Weight::Tight => *tight += 1,
            Weight::Loose => (*loose, *tight) = (*loose + *tight + 1, 0),
        }
        if base + *loose + *tight > self.limit {
            self.error = Some(PrepareError::TooDeep { at: *lexeme });
            return false;
        }
        true
    }

    fn brackets(&mut self, lexeme: &Lexeme, before: Option<Lexeme>, rest: &[Lexeme]) {
        match lexeme.token {
            Token::LParen | Token::LBracket | Token::LBrace | Token::BoundOpen => {
                if lexeme.token == Token::BoundOpen
                    && let Some(operator) = before.filter(|b| b.token.refuses_bound())
                {
                    let close = rest.iter().position(|l| l.token == Token::RBracket);
                    let after = close.and_then(|at| rest.get(at + 1)).map(|l| l.token);
                    let close = close.and_then(|at| rest.get(at)).map(|l| l.end);
                    let list = after.is_none_or(Token::continues_line);
                    self.error = Some(PrepareError::NoBound {
                        operator,
                        open: *lexeme,
                        close,
                        list,
                    });
                    return;
                }
                let outer = match self.frames.last() {
                    Some(frame) => frame.base + frame.loose + frame.tight,
                    None => self.ground.0 + self.ground.1,
                };
                if outer + 1 > self.limit {
                    self.error = Some(PrepareError::TooDeep { at: *lexeme });
                    return;
                }
                self.frames.push(Frame {
                    open: *lexeme,
                    cases: before.is_some_and(|b| b.token == Token::Cases)
                        && lexeme.token == Token::LBrace,
                    base: outer + 1,
                    loose: 0,
                    tight: 0,
                });
            }
            Token::RParen | Token::RBracket | Token::RBrace => match self.frames.pop() {
                None => self.error = Some(PrepareError::Unopened { at: *lexeme }),
                Some(frame) if closer(frame.open.token) != lexeme.token => {
                    self.error = Some(PrepareError::Mismatched {
                        open: frame.open,
                        at: *lexeme,
                    });
                }
                // calls and indices are left-associative: each is one level
                Some(_) => {
                    let tight = match self.frames.last_mut() {
                        Some(frame) => &mut frame.tight,
                        None => &mut self.ground.1,
                    };
                    *tight += usize::from(lexeme.token != Token::RBrace);
                }
            },
            _ => {}
        }
    }

    /// Whether the token follows `F<=` or `P<=`, after which a name is a number.
    fn after_threshold(&self) -> bool {
        let mut back = self.out.iter().rev().map(|l| l.token);
        let compares = matches!(
            back.next(),
            Some(Token::Less | Token::LessEq | Token::Greater | Token::GreaterEq)
        );
        compares
            && back
                .next()
                .is_some_and(|t| t.is_temporal() || t == Token::LetterP)
    }

    /// Whether the token follows `within 5`, `within 1..5` or `for 3`: then `steps` is their unit, and not the next
    /// clause of an abstraction or system.
    fn after_amount(&self, lexeme: &Lexeme) -> bool {
        let mut back = self.out.iter().rev().map(|l| l.token);
        let unit = match back.next() {
            Some(Token::Int) => true,
            Some(token) if token.is_name() => !lexeme.first_on_line,
            _ => false,
        };
        let opener = match back.next() {
            Some(Token::DotDot) => back.nth(1),
            other => other,
        };
        unit && matches!(opener, Some(Token::Within | Token::For))
    }

    fn splits_question(&self, lexeme: &Lexeme, next: Option<&Lexeme>) -> bool {
        next.is_some_and(|n| n.token == Token::Question && n.start == lexeme.end)
    }

    fn slice(&self, lexeme: &Lexeme) -> &str {
        let start = lexeme.start.saturating_sub(self.base) as usize;
        let end = lexeme.end.saturating_sub(self.base) as usize;
        self.text.get(start..end).unwrap_or("")
    }
}

/// Returns the closing bracket for an opening one.
pub(super) fn closer(open: Token) -> Token {
    match open {
        Token::LParen => Token::RParen,
        Token::LBrace => Token::RBrace,
        _ => Token::RBracket,
    }
}

fn is_generic(token: Token) -> bool {
    matches!(token, Token::List | Token::Set | Token::Map)
}

/// The change that a token makes to the count of operators.
enum Weight {
    /// Nothing.
    None,
    /// All expressions before it have ended.
    Ends,
    /// `and`, `or`: the operands are siblings in one node.
    Chain,
    /// An operator that binds tighter than `and`.
    Tight,
    /// An operator that extends as far right as possible.
    Loose,
}

fn weight(token: Token, after_operand: bool) -> Weight {
    match token {
        // a name cannot follow an expression, so a new expression begins
        _ if token.is_name() && after_operand => Weight::Ends,
        Token::Comma | Token::FatArrow => Weight::Ends,
        Token::And | Token::Amp | Token::AmpAmp => Weight::Chain,
        Token::Or | Token::Pipe | Token::PipePipe => Weight::Chain,
        Token::Arrow
        | Token::DoubleArrow
        | Token::DoubleFatArrow
        | Token::If
        | Token::Forall
        | Token::Exists
        | Token::AnyOf
        | Token::AllOf
        | Token::CountOf
        | Token::LeadsTo
        | Token::Precedes => Weight::Loose,
        Token::Not
        | Token::Bang
        | Token::Minus
        | Token::Plus
        | Token::Star
        | Token::Slash
        | Token::Coalesce
        | Token::As
        | Token::Dot
        | Token::Prime
        | Token::Question
        | Token::List
        | Token::Set
        | Token::Map => Weight::Tight,
        _ if token.is_temporal() || token.is_relation() => Weight::Tight,
        _ => Weight::None,
    }
}
