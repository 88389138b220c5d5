//! The recursive-descent parser of expressions and properties.
//!
//! Precedence, loosest first: `U W R`; `X F G`; `? :`; `=>`; `<=>`; `|`; `&`; `!`; `= !=`; `< <= > >=`; `+ -`; `* /`;
//! unary `-`. `F "a" & "b"` therefore means `F ("a" & "b")`, and a temporal operator as an operand of `&` requires
//! parentheses.

use super::super::text::{TextError, TextPosition};
use super::expr::{
    Bounds, Compare, Expr, Filter, Function, Kind, Measure, Op, Quantifier, Relation, Structure,
    Temporal, Until,
};
use super::token::{Lexeme, Token, tokens};

/// The largest nesting depth of expressions.
const MAX_DEPTH: u32 = 250;

/// The state of parsing a text.
#[derive(Debug)]
pub(super) struct Parser {
    tokens: Vec<Lexeme>,
    at: usize,
    depth: u32,
    /// Whether property operators are keywords in this text.
    pub(super) properties: bool,
}

pub(super) type Parsed<T> = Result<T, TextError>;

impl Parser {
    pub(super) fn new(text: &str, properties: bool) -> Parsed<Parser> {
        Ok(Parser {
            tokens: tokens(text)?,
            at: 0,
            depth: 0,
            properties,
        })
    }

    pub(super) fn peek(&self) -> &Token {
        self.ahead(0)
    }

    pub(super) fn ahead(&self, distance: usize) -> &Token {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + distance).min(last)].token
    }

    pub(super) fn place(&self) -> TextPosition {
        self.tokens[self.at].place
    }

    /// Returns the byte offset at which the current token starts.
    pub(super) fn start(&self) -> usize {
        self.tokens[self.at].bytes.start
    }

    /// Returns the byte offset at which the previous token ends.
    pub(super) fn end_of_last(&self) -> usize {
        self.tokens[self.at.saturating_sub(1)].bytes.end
    }

    /// Returns the line of the previous token.
    pub(super) fn line_of_last(&self) -> u32 {
        self.tokens[self.at.saturating_sub(1)].place.line
    }

    pub(super) fn next(&mut self) -> Token {
        let token = self.peek().clone();
        if self.at + 1 < self.tokens.len() {
            self.at += 1;
        }
        token
    }

    pub(super) fn is(&self, mark: &str) -> bool {
        matches!(self.peek(), Token::Mark(found) if *found == mark)
    }

    pub(super) fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Token::Name(found) if found == word)
    }

    pub(super) fn take(&mut self, mark: &str) -> bool {
        let found = self.is(mark);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn take_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.next();
        }
        found
    }

    pub(super) fn expect(&mut self, mark: &str) -> Parsed<()> {
        if self.take(mark) {
            return Ok(());
        }
        Err(self.wrong(&format!("`{mark}`")))
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Parsed<()> {
        if self.take_word(word) {
            return Ok(());
        }
        Err(self.wrong(&format!("`{word}`")))
    }

    pub(super) fn name(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Name(name) => {
                let name = name.clone();
                self.next();
                Ok(name)
            }
            _ => Err(self.wrong(what)),
        }
    }

    pub(super) fn text(&mut self, what: &str) -> Parsed<String> {
        match self.peek() {
            Token::Text(text) => {
                let text = text.clone();
                self.next();
                Ok(text)
            }
            _ => Err(self.wrong(what)),
        }
    }

    pub(super) fn wrong(&self, expected: &str) -> TextError {
        let error = TextError::new(
            self.place(),
            format!("expected {expected}, found {}", self.peek()),
        );
        match self.other_operator() {
            Some(help) => error.help(help),
            None => error,
        }
    }

    /// Returns what to write instead of the operator of another language at this token or before it.
    fn other_operator(&self) -> Option<&'static str> {
        let last = self.at.checked_sub(1).map(|at| &self.tokens[at].token);
        let is_last = |mark: &str| matches!(last, Some(Token::Mark(last)) if *last == mark);
        let is_word = |word: &str| matches!(last, Some(Token::Name(last)) if last == word);
        match self.peek() {
            Token::Mark("=") if is_last("=") => Some("write `=` for equality"),
            Token::Mark("&") if is_last("&") => Some("write `&` for \"and\""),
            Token::Mark("||") => Some("write `|` for \"or\""),
            Token::Name(word) if word == "and" => Some("write `&` for \"and\""),
            Token::Name(word) if word == "or" => Some("write `|` for \"or\""),
            _ if is_word("not") => Some("write `!` for \"not\""),
            _ => None,
        }
    }

    /// Parses an expression of any kind except a condition with `||`.
    pub(super) fn expr(&mut self) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TextError::new(
                self.place(),
                format!("expression nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        let found = self.until();
        self.depth -= 1;
        found
    }

    fn until(&mut self) -> Parsed<Expr> {
        let left = self.temporal()?;
        let which = match self.peek() {
            Token::Name(name) if self.properties => match name.as_str() {
                "U" => Until::Until,
                "W" => Until::Unless,
                // Outside of all brackets `R` begins the next property.
                "R" if self.tokens[self.at].open > 0 => Until::Release,
                _ => return Ok(left),
            },
            _ => return Ok(left),
        };
        let place = self.place();
        self.next();
        let bounds = self.bounds()?;
        // Right-associative: `a U b U c` is `a U (b U c)`.
        let right = self.nested(Parser::until)?;
        Ok(Expr {
            kind: Kind::Until(which, Box::new(left), bounds, Box::new(right)),
            place,
        })
    }

    /// Calls `parse` one nesting level deeper; fails beyond the depth limit.
    fn nested(&mut self, parse: fn(&mut Parser) -> Parsed<Expr>) -> Parsed<Expr> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(TextError::new(
                self.place(),
                format!("expression nested more than {MAX_DEPTH} levels deep"),
            ));
        }
        let found = parse(self);
        self.depth -= 1;
        found
    }

    fn temporal(&mut self) -> Parsed<Expr> {
        let place = self.place();
        let word = match self.peek() {
            Token::Name(name) if self.properties => name.as_str(),
            _ => return self.choice(),
        };
        let kind = match word {
            "X" => {
                self.next();
                Kind::Next(Box::new(self.nested(Parser::temporal)?))
            }
            "F" | "G" => {
                let which = if word == "F" {
                    Temporal::Finally
                } else {
                    Temporal::Globally
                };
                self.next();
                let bounds = self.bounds()?;
                Kind::Unary(which, bounds, Box::new(self.nested(Parser::temporal)?))
            }
            _ => return self.choice(),
        };
        Ok(Expr { kind, place })
    }

    /// Parses `<=k`, `<k`, `>=k`, `>k`, `=k`, `[l,u]`, or nothing.
    fn bounds(&mut self) -> Parsed<Bounds> {
        let mut bounds = Bounds::default();
        let mark = match self.peek() {
            Token::Mark(mark @ ("<=" | "<" | ">=" | ">" | "=" | "[")) => *mark,
            _ => return Ok(bounds),
        };
        self.next();
        let first = Box::new(self.nested(Parser::sum)?);
        match mark {
            "<=" => bounds.upper = Some((first, false)),
            "<" => bounds.upper = Some((first, true)),
            ">=" => bounds.lower = Some((first, false)),
            ">" => bounds.lower = Some((first, true)),
            "=" => {
                bounds.lower = Some((first.clone(), false));
                bounds.upper = Some((first, false));
            }
            _ => {
                self.expect(",")?;
                let second = Box::new(self.nested(Parser::sum)?);
                self.expect("]")?;
                bounds.lower = Some((first, false));
                bounds.upper = Some((second, false));
            }
        }
        Ok(bounds)
    }

    fn choice(&mut self) -> Parsed<Expr> {
        let condition = self.implies()?;
        let place = self.place();
        // The `?` of `P=?` has been consumed by `compare`.
        if !self.take("?") {
            return Ok(condition);
        }
        let yes = self.nested(Parser::choice)?;
        self.expect(":")?;
        let no = self.nested(Parser::choice)?;
        Ok(Expr {
            kind: Kind::If(Box::new(condition), Box::new(yes), Box::new(no)),
            place,
        })
    }

    fn chain(
        &mut self,
        operand: fn(&mut Parser) -> Parsed<Expr>,
        operator: fn(&Token) -> Option<Op>,
    ) -> Parsed<Expr> {
        let mut left = operand(self)?;
        let mut links = 0;
        while let Some(op) = operator(self.peek()) {
            let place = self.place();
            self.next();
            let right = operand(self)?;
            left = Expr {
                kind: Kind::Binary(op, Box::new(left), Box::new(right)),
                place,
            };
            // The tree of a long chain is deep on its left side.
            links += 1;
            if links > 8 * MAX_DEPTH {
                return Err(TextError::new(
                    place,
                    format!("more than {} operators in a chain", 8 * MAX_DEPTH),
                )
                .help("group it with parentheses"));
            }
        }
        Ok(left)
    }

    fn implies(&mut self) -> Parsed<Expr> {
        self.chain(Parser::iff, |token| {
            (*token == Token::Mark("=>")).then_some(Op::Implies)
        })
    }

    fn iff(&mut self) -> Parsed<Expr> {
        self.chain(Parser::or, |token| {
            (*token == Token::Mark("<=>")).then_some(Op::Iff)
        })
    }

    fn or(&mut self) -> Parsed<Expr> {
        self.chain(Parser::and, |token| {
            (*token == Token::Mark("|")).then_some(Op::Or)
        })
    }

    fn and(&mut self) -> Parsed<Expr> {
        self.chain(Parser::not, |token| {
            (*token == Token::Mark("&")).then_some(Op::And)
        })
    }

    fn not(&mut self) -> Parsed<Expr> {
        let place = self.place();
        if !self.take("!") {
            return self.equality();
        }
        Ok(Expr {
            kind: Kind::Not(Box::new(self.nested(Parser::not)?)),
            place,
        })
    }

    fn equality(&mut self) -> Parsed<Expr> {
        self.chain(Parser::comparison, |token| match token {
            Token::Mark("=") => Some(Op::Equal),
            Token::Mark("!=") => Some(Op::NotEqual),
            _ => None,
        })
    }

    fn comparison(&mut self) -> Parsed<Expr> {
        self.chain(Parser::sum, |token| relation(token).map(Op::Compare))
    }

    fn sum(&mut self) -> Parsed<Expr> {
        self.chain(Parser::product, |token| match token {
            Token::Mark("+") => Some(Op::Add),
            Token::Mark("-") => Some(Op::Subtract),
            _ => None,
        })
    }

    fn product(&mut self) -> Parsed<Expr> {
        self.chain(Parser::minus, |token| match token {
            Token::Mark("*") => Some(Op::Multiply),
            Token::Mark("/") => Some(Op::Divide),
            _ => None,
        })
    }

    fn minus(&mut self) -> Parsed<Expr> {
        let place = self.place();
        if !self.take("-") {
            return self.primary();
        }
        Ok(Expr {
            kind: Kind::Minus(Box::new(self.nested(Parser::minus)?)),
            place,
        })
    }

    fn primary(&mut self) -> Parsed<Expr> {
        let place = self.place();
        let kind = match self.peek().clone() {
            Token::Int(number) => {
                self.next();
                Kind::Int(number)
            }
            Token::Real(text) => {
                self.next();
                Kind::Real(text)
            }
            Token::Text(text) if self.properties => {
                self.next();
                Kind::Label(text)
            }
            Token::Mark("(") => {
                self.next();
                let inner = self.expr()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Name(name) => return self.word(name, place),
            _ => return Err(self.wrong("an expression")),
        };
        Ok(Expr { kind, place })
    }

    /// Parses what begins with a word: a property operator, a function call, or a name.
    fn word(&mut self, name: String, place: TextPosition) -> Parsed<Expr> {
        if self.properties
            && let Some(kind) = self.operator(&name)?
        {
            return Ok(Expr { kind, place });
        }
        if self.properties && ["X", "F", "G"].contains(&name.as_str()) && self.begins_operand(1) {
            let error = self.wrong("an operand without a temporal operator");
            return Err(error.help(format!("put it in parentheses: `({name} …)`")));
        }
        self.next();
        let kind = match name.as_str() {
            "true" => Kind::Bool(true),
            "false" => Kind::Bool(false),
            // The old syntax: func(name, …).
            "func" if self.take("(") => {
                let name = self.name("the name of a function")?;
                let Some(function) = function(&name) else {
                    return Err(no_function(&name, place));
                };
                self.expect(",")?;
                Kind::Call(function, self.arguments()?)
            }
            _ if self.is("(") => {
                let Some(function) = function(&name) else {
                    return Err(no_function(&name, place));
                };
                self.next();
                Kind::Call(function, self.arguments()?)
            }
            _ => Kind::Name(name),
        };
        Ok(Expr { kind, place })
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr>> {
        let mut found = vec![self.expr()?];
        while self.take(",") {
            found.push(self.expr()?);
        }
        self.expect(")")?;
        Ok(found)
    }

    /// Parses a property operator; returns `None` if the word does not begin one.
    fn operator(&mut self, name: &str) -> Parsed<Option<Kind>> {
        Ok(Some(match name {
            "P" | "Pmin" | "Pmax" => {
                self.next();
                let compare = self.compare()?;
                self.expect("[")?;
                let path = self.expr()?;
                let given = if self.take("||") {
                    Some(Box::new(self.expr()?))
                } else {
                    None
                };
                self.expect("]")?;
                Kind::Probability(compare, Box::new(path), given)
            }
            "S" | "LRA" => {
                self.next();
                let compare = self.compare()?;
                self.expect("[")?;
                let of = self.expr()?;
                self.expect("]")?;
                Kind::Steady(compare, Box::new(of))
            }
            "R" | "Rmin" | "Rmax" | "T" | "Tmin" | "Tmax" if name != "T" || self.goes_on(1) => {
                self.reward(name.starts_with('T'))?
            }
            "A" | "E" if *self.ahead(1) == Token::Mark("[") => {
                self.next();
                self.next();
                let of = self.expr()?;
                self.expect("]")?;
                let quantifier = if name == "A" {
                    Quantifier::All
                } else {
                    Quantifier::Exists
                };
                Kind::Paths(quantifier, Box::new(of))
            }
            "filter" if *self.ahead(1) == Token::Mark("(") => self.filter()?,
            "multi" if *self.ahead(1) == Token::Mark("(") => {
                return Err(TextError::new(
                    self.place(),
                    "multi-objective properties need nondeterminism, which a chain does not have",
                ));
            }
            _ => return Ok(None),
        }))
    }

    /// Returns whether the operand of a temporal operator begins at this token; otherwise the word before it is a name.
    fn begins_operand(&self, distance: usize) -> bool {
        matches!(
            self.ahead(distance),
            Token::Name(_) | Token::Int(_) | Token::Text(_) | Token::Mark("(" | "!")
        )
    }

    /// Returns whether a reward operator continues at this token; otherwise `T` is a name.
    fn goes_on(&self, distance: usize) -> bool {
        *self.ahead(distance) == Token::Mark("{")
            || (*self.ahead(distance) == Token::Mark("=")
                && *self.ahead(distance + 1) == Token::Mark("?"))
    }

    fn compare(&mut self) -> Parsed<Compare> {
        // The words `Pmin` and `Pmax` were consumed already; `P min=?` is Storm's old syntax.
        let _ = self.take_word("min") || self.take_word("max");
        if self.is("=") && *self.ahead(1) == Token::Mark("?") {
            self.next();
            self.next();
            return Ok(Compare::Value);
        }
        let Some(relation) = relation(self.peek()) else {
            return Err(self.wrong("`=?` or a bound such as `>=0.5`"));
        };
        self.next();
        Ok(Compare::Bound(relation, Box::new(self.sum()?)))
    }

    /// Parses an expected reward; `T` is Storm's expected number of steps.
    fn reward(&mut self, is_time: bool) -> Parsed<Kind> {
        self.next();
        if is_time && self.is("{") {
            let error = self.wrong("`=?` or a bound: `T` counts steps");
            return Err(error.help("for a reward structure, write `R{\"name\"}`"));
        }
        let mut structure = is_time.then_some(Structure::Steps);
        if self.take("[") {
            // Storm's `R[exp]`; only expected values are supported.
            if !self.take_word("exp") {
                return Err(self.wrong("`exp`, the only supported kind of reward operator"));
            }
            self.expect("]")?;
        }
        if self.take("{") {
            structure = Some(match self.next() {
                Token::Text(name) => Structure::Name(name),
                Token::Int(index) => Structure::Index(index),
                _ => {
                    self.at -= 1;
                    return Err(
                        self.wrong("the name of a reward structure in quotes, or its number")
                    );
                }
            });
            self.expect("}")?;
        }
        let compare = self.compare()?;
        self.expect("[")?;
        let measure = match self.peek().clone() {
            Token::Name(word) if is_time && word != "F" => {
                return Err(self.wrong("`F`: `T` counts the steps until a state"));
            }
            Token::Name(word) => match (word.as_str(), self.ahead(1)) {
                ("C", Token::Mark(mark @ ("<=" | "<"))) => {
                    let strict = *mark == "<";
                    self.next();
                    self.next();
                    Measure::Cumulative(self.sum()?, strict)
                }
                ("C", _) => {
                    self.next();
                    Measure::Total
                }
                ("I", _) => {
                    self.next();
                    self.expect("=")?;
                    Measure::Instantaneous(self.sum()?)
                }
                ("S" | "LRA", Token::Mark("]")) => {
                    self.next();
                    Measure::Steady
                }
                ("F", _) => {
                    let place = self.place();
                    self.next();
                    if !self.bounds()?.is_none() {
                        return Err(TextError::new(
                            place,
                            "rewards with a bounded until are not supported",
                        )
                        .help("for rewards over a number of steps, write `C<=k`"));
                    }
                    Measure::Reach(self.temporal()?)
                }
                _ => return Err(self.wrong("`F`, `C`, `C<=k`, `I=k` or `S`")),
            },
            _ => return Err(self.wrong("`F`, `C`, `C<=k`, `I=k` or `S`")),
        };
        self.expect("]")?;
        Ok(Kind::Reward(structure, compare, Box::new(measure)))
    }

    fn filter(&mut self) -> Parsed<Kind> {
        self.next();
        self.next();
        let place = self.place();
        let word = if self.take("&") {
            "forall".to_owned()
        } else if self.take("|") {
            "exists".to_owned()
        } else {
            self.name("a filter operation, such as `max` or `forall`")?
        };
        let filter = match word.as_str() {
            "min" => Filter::Min,
            "max" => Filter::Max,
            "avg" => Filter::Average,
            "sum" => Filter::Sum,
            "count" => Filter::Count,
            "forall" => Filter::ForAll,
            "exists" => Filter::Exists,
            "first" => Filter::First,
            "state" => Filter::State,
            "range" => Filter::Range,
            "print" | "printall" => Filter::Print,
            _ => {
                return Err(TextError::new(place, format!("unknown filter `{word}`")).help(
                    "available filters: min, max, avg, sum, count, range, forall, exists, first, state, print",
                ));
            }
        };
        self.expect(",")?;
        let of = self.expr()?;
        let states = if self.take(",") {
            Some(Box::new(self.expr()?))
        } else {
            None
        };
        self.expect(")")?;
        Ok(Kind::Filter(filter, Box::new(of), states))
    }
}

fn relation(token: &Token) -> Option<Relation> {
    Some(match token {
        Token::Mark("<") => Relation::Less,
        Token::Mark("<=") => Relation::LessEqual,
        Token::Mark(">") => Relation::Greater,
        Token::Mark(">=") => Relation::GreaterEqual,
        _ => return None,
    })
}

fn function(name: &str) -> Option<Function> {
    Some(match name {
        "min" => Function::Min,
        "max" => Function::Max,
        "floor" => Function::Floor,
        "ceil" => Function::Ceil,
        "round" => Function::Round,
        "pow" => Function::Pow,
        "mod" => Function::Mod,
        "log" => Function::Log,
        _ => return None,
    })
}

fn no_function(name: &str, place: TextPosition) -> TextError {
    TextError::new(place, format!("unknown function `{name}`"))
        .help("available functions: min, max, floor, ceil, round, pow, mod, log")
}
