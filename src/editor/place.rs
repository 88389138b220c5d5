//! The kind of text that is possible at a position, from the tokens before it in its item.

use crate::syntax::lexer::{self, Lexeme};
use crate::syntax::token::Token;

/// The kind of text that may follow the cursor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// Nothing: a comment, a text, a new name.
    Nothing,
    /// The keyword of an item.
    Item,
    /// The name of an attribute.
    Attribute,
    /// One of these words.
    Words(&'static [&'static str]),
    /// The name of a lint.
    Lint,
    /// A module: the names of the path before the cursor.
    Path(Vec<String>),
    /// A name in the braces of `use`, of this module.
    Import(Vec<String>),
    /// A member of this name.
    Member(String),
    /// A key of an event in a test, or of its `meta`.
    Key { meta: bool },
    /// The name of a property.
    Property,
    /// The name of a model, system or abstraction.
    Model,
    /// The name of a type.
    Type,
    /// The expectation of a test about a property: a verdict, or an expression.
    Expected,
    /// The continuation of the sentence of a requirement, given its beginning.
    Sentence(String),
    /// An expression.
    Expression {
        /// The name that the expression is compared with.
        compared: Option<String>,
        /// Words that may also follow.
        words: &'static [&'static str],
    },
}

const SEVERITIES: &[&str] = &["low", "medium", "high", "critical"];
pub(super) const VERDICTS: &[&str] = &[
    "violated",
    "satisfied",
    "presumably_violated",
    "presumably_satisfied",
    "unknown",
    "at",
];
const ARMS: &[&str] = &["violated", "satisfied", "presumably_violated", "on"];
const QUERY_ARMS: &[&str] = &["unseen", "violated", "satisfied", "on"];
const ACTIONS: &[&str] = &["log", "warn", "reflect", "ask", "invoke", "block", "stop"];
const TRACE: &[&str] = &[
    "events", "each", "order", "where", "records", "join", "meta", "id", "complete", "format",
];
const ABSTRACTION: &[&str] = &[
    "steps",
    "over",
    "valid",
    "step",
    "absorbing",
    "terminal",
    "reward",
];
const SYSTEM: &[&str] = &[
    "state",
    "init",
    "step",
    "label",
    "reward",
    "assume",
    "guarantee",
];
const LEARN: &[&str] = &["smoothing", "by", "order", "pac"];
const TEST: &[&str] = &["given", "expect"];

/// The tokens before a position, from the beginning of its item.
struct Before<'t> {
    text: &'t str,
    tokens: &'t [Lexeme],
    /// Whether the position is the first on its line.
    begins_line: bool,
}

/// Returns what is expected at an offset of a text.
pub(super) fn wanted(text: &str, offset: u32) -> Wanted {
    let Some(before) = text.get(..offset as usize) else {
        return Wanted::Nothing;
    };
    let lexed = lexer::lex(before, 0);
    // A comment to the end of its line contains the cursor until the line ends; an unterminated comment is handled
    // below.
    let in_comment = lexed.trivia.last().is_some_and(|trivia| {
        let comment = &before[trivia.start as usize..];
        comment.starts_with("//") && !comment.contains('\n')
    });
    let in_text = lexed.errors.last().is_some_and(|error| {
        matches!(
            error.kind,
            lexer::LexErrorKind::UnterminatedString
                | lexer::LexErrorKind::UnterminatedRegex
                | lexer::LexErrorKind::UnterminatedComment
                | lexer::LexErrorKind::SingleQuoted
        )
    });
    if in_comment || in_text {
        return sentence(before, &lexed).map_or(Wanted::Nothing, Wanted::Sentence);
    }
    let mut tokens: &[Lexeme] = &lexed.tokens;
    let mut start = before.len();
    // The word being typed does not affect the expected kind.
    if let [before_it @ .., word] = tokens
        && word.end as usize == before.len()
        && is_word(word.token)
    {
        if word.column_zero {
            return Wanted::Item;
        }
        start = word.start as usize;
        tokens = before_it;
    }
    let line = before.rfind('\n').map_or(0, |at| at + 1);
    if before[line..].is_empty() {
        return Wanted::Item;
    }
    let item = tokens.iter().rposition(|lexeme| {
        lexeme.column_zero && (lexeme.token.begins_item() || lexeme.token == Token::At)
    });
    let before = Before {
        text,
        tokens: &tokens[item.unwrap_or(0)..],
        begins_line: before[line..start].trim().is_empty(),
    };
    before.wanted()
}

/// Returns the text of an unterminated string, if it is the sentence of a requirement.
fn sentence(text: &str, lexed: &lexer::Lexed) -> Option<String> {
    let open = lexed.errors.last()?;
    let [.., word, _name] = lexed.tokens.get(..open.index)? else {
        return None;
    };
    let starts =
        open.kind == lexer::LexErrorKind::UnterminatedString && word.token == Token::Requirement;
    let inner = text.get(open.start as usize..)?.strip_prefix('"')?;
    starts.then(|| inner.replace("\\\"", "\""))
}

impl Before<'_> {
    fn name(&self, lexeme: &Lexeme) -> String {
        self.text[lexeme.start as usize..lexeme.end as usize].to_owned()
    }

    fn path(&self, tokens: &[Lexeme]) -> Vec<String> {
        let names = tokens
            .iter()
            .filter(|lexeme| is_word(lexeme.token) && lexeme.token != Token::Use);
        names.map(|lexeme| self.name(lexeme)).collect()
    }

    /// Returns the positions of the brackets that are open, outermost first.
    fn open(&self) -> Vec<usize> {
        let mut open = Vec::new();
        for (at, lexeme) in self.tokens.iter().enumerate() {
            match lexeme.token {
                Token::LParen | Token::LBracket | Token::LBrace => open.push(at),
                Token::RParen | Token::RBracket | Token::RBrace => {
                    open.pop();
                }
                _ => {}
            }
        }
        open
    }

    fn wanted(&self) -> Wanted {
        let open = self.open();
        match self.tokens {
            [] => return Wanted::Nothing,
            [.., at] if at.token == Token::At => return Wanted::Attribute,
            [at, name, ..] if at.token == Token::At && !open.is_empty() => {
                return match self.name(name).as_str() {
                    "severity" => Wanted::Words(SEVERITIES),
                    "allow" => Wanted::Lint,
                    _ => Wanted::Nothing,
                };
            }
            [first, rest @ ..] if first.token == Token::Use => {
                return match rest.iter().position(|lexeme| lexeme.token == Token::LBrace) {
                    Some(brace) => Wanted::Import(self.path(&rest[..brace])),
                    None => Wanted::Path(self.path(rest)),
                };
            }
            [.., owner, dot] if dot.token == Token::Dot && is_word(owner.token) => {
                return Wanted::Member(self.name(owner));
            }
            [.., dot] if dot.token == Token::Dot => return Wanted::Nothing,
            [.., on] if on.token == Token::On => {
                return if self.tokens[0].token == Token::Enforce {
                    self.enforce(&open)
                } else {
                    Wanted::Model
                };
            }
            _ => {}
        }
        let first = &self.tokens[0];
        let last = &self.tokens[self.tokens.len() - 1];
        let assigned = self
            .tokens
            .iter()
            .any(|lexeme| lexeme.token == Token::Assign);
        // A clause of a block begins after its brace and on a new line.
        let begins_clause =
            open.len() == 1 && (self.begins_line || open == [self.tokens.len() - 1]);
        match first.token {
            Token::Enforce => return self.enforce(&open),
            Token::Trace if begins_clause => return Wanted::Words(TRACE),
            Token::Abstraction if begins_clause => return Wanted::Words(ABSTRACTION),
            Token::System | Token::Component if begins_clause => return Wanted::Words(SYSTEM),
            Token::Requirement if begins_clause => return Wanted::Words(&["formal"]),
            Token::Model if begins_clause => return Wanted::Words(LEARN),
            Token::Model if last.token == Token::Assign => {
                return Wanted::Words(&["learn", "load", "import"]);
            }
            Token::Model if last.token == Token::Learn => return Wanted::Model,
            Token::Test => return self.test(&open, begins_clause),
            Token::Property if last.token == Token::Colon && !assigned => {
                return Wanted::Words(&["ltl", "ctl", "pctl"]);
            }
            Token::Rule if last.token == Token::Colon && open.is_empty() => {
                return Wanted::Words(&["when"]);
            }
            _ => {}
        }
        match self.tokens {
            [_] if first.column_zero && first.token.begins_item() => Wanted::Nothing,
            [.., colon] if colon.token == Token::Colon && self.is_typed(assigned) => Wanted::Type,
            _ => self.expression(),
        }
    }

    /// Whether a type follows the final colon: after a declared name it does, after an element of a list it does not.
    fn is_typed(&self, assigned: bool) -> bool {
        match self.tokens[0].token {
            Token::Event | Token::Record => true,
            Token::Trace => matches!(self.tokens, [.., meta, _, _] if meta.token == Token::Meta),
            Token::System | Token::Component => {
                matches!(self.tokens, [.., state, _, _] if state.token == Token::State)
            }
            Token::Let | Token::Const | Token::Predicate | Token::Track | Token::Template => {
                !assigned
            }
            _ => false,
        }
    }

    fn enforce(&self, open: &[usize]) -> Wanted {
        let last = self.tokens.last().map(|lexeme| lexeme.token);
        let on_query = matches!(self.tokens, [_, on, ..] if on.token == Token::On);
        let inner = open
            .iter()
            .any(|at| self.tokens[*at].token == Token::LParen);
        match (last, open) {
            (Some(Token::FatArrow), _) => Wanted::Words(ACTIONS),
            (Some(Token::Enforce), _) => Wanted::Property,
            (Some(Token::On), []) => Wanted::Property,
            (Some(Token::On), _) => Wanted::Words(&["error"]),
            (Some(Token::Error), _) => Wanted::Words(&["allow"]),
            (_, [_, ..]) if !inner && self.tokens[1].token != Token::When => {
                Wanted::Words(if on_query { QUERY_ARMS } else { ARMS })
            }
            _ => self.expression(),
        }
    }

    fn test(&self, open: &[usize], begins_clause: bool) -> Wanted {
        match self.tokens {
            [.., expect] if expect.token == Token::Expect => return Wanted::Property,
            [.., expect, name] if expect.token == Token::Expect && name.token.is_name() => {
                return Wanted::Expected;
            }
            [.., expect, name, _]
                if expect.token == Token::Expect && name.token.is_name() && !self.begins_line =>
            {
                return self.expression();
            }
            _ => {}
        }
        if begins_clause {
            return Wanted::Words(TEST);
        }
        let last = self.tokens.last().map(|lexeme| lexeme.token);
        let is_brace = |at: &usize| self.tokens[*at].token == Token::LBrace;
        let in_events = open.len() > 1 && open.last().is_some_and(is_brace);
        if in_events && matches!(last, Some(Token::LBrace | Token::Comma)) {
            let at = open[open.len() - 1];
            let meta = at >= 2 && self.tokens[at - 2].token == Token::Meta;
            let whole = at >= 1 && self.tokens[at - 1].token == Token::Given;
            return if whole {
                Wanted::Words(&["meta", "events"])
            } else {
                Wanted::Key { meta }
            };
        }
        self.expression()
    }

    /// Returns an expression; after a comparison or in a test, with the name on the other side.
    fn expression(&self) -> Wanted {
        let compared = match self.tokens {
            [.., name, sign] if is_word(name.token) && compares(sign.token) => {
                Some(self.name(name))
            }
            _ => None,
        };
        let words: &[&str] = match self.tokens[0].token {
            Token::Rule => &["then", "within", "message", "where"],
            Token::Property => &["message", "on", "where"],
            Token::Query => &["on"],
            _ => &[],
        };
        Wanted::Expression { compared, words }
    }
}

fn compares(token: Token) -> bool {
    token.is_relation() || token == Token::Colon
}

fn is_word(token: Token) -> bool {
    token.is_name() || token.is_reserved()
}
