//! A short description of the tokens that the parser could have accepted.
//!
//! The generated parser lists up to ninety tokens, since every contextual word is also a name. They are collapsed into
//! "a name", "a value" and "an operator"; only keywords remain.

use crate::diagnostic::did_you_mean;
use crate::foreign;
use crate::token::CONTEXTUAL_WORDS;
use std::fmt;

/// The tokens that the parser could have accepted.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    tokens: Vec<String>,
    whole: &'static str,
}

/// Tokens that begin a value, besides temporal operators with one operand.
const VALUE: &[&str] = &[
    "#name",
    "#int",
    "#float",
    "#percent",
    "#duration",
    "#string",
    "#regex",
    "(",
    "[",
    "{",
    "-",
    "not",
    "!",
    "true",
    "false",
    "null",
    "cases",
    "if",
    "any",
    "all",
    "count",
    "count[",
    "forall",
    "exists",
    "never",
    "AG",
    "AF",
    "AX",
    "EG",
    "EF",
    "EX",
    "A",
    "E",
    "P",
    "R",
    "S",
];

/// Tokens that follow a value, besides temporal operators with two operands.
const OPERATOR: &[&str] = &[
    "and",
    "&",
    "&&",
    "or",
    "|",
    "||",
    "->",
    "<->",
    "<=>",
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "in",
    "not in",
    "contains",
    "starts_with",
    "ends_with",
    "matches",
    "+",
    "-",
    "*",
    "/",
    "??",
    "as",
    ".",
    "[",
    "(",
    "'",
    "leads to",
    "precedes",
];

impl Expected {
    /// Reads the parser's list; `whole` is the parsed unit, an item or an expression.
    pub(super) fn new(list: &[String], whole: &'static str) -> Self {
        let tokens = list
            .iter()
            .map(|entry| entry.trim_matches('"').to_owned())
            .collect();
        Self { tokens, whole }
    }

    pub(super) fn has(&self, token: &str) -> bool {
        self.tokens.iter().any(|entry| entry == token)
    }

    /// Whether a value is possible here.
    pub(super) fn is_value(&self) -> bool {
        self.has("#int") && self.has("(") && self.has("#string")
    }

    /// Whether a name is possible here.
    pub(super) fn is_name(&self) -> bool {
        self.has("#name")
    }

    /// Whether any name is possible, including contextual words.
    fn any_name(&self) -> bool {
        self.is_name() && self.has("use") && self.has("message")
    }

    /// Whether an operator is possible here.
    pub(super) fn is_operator(&self) -> bool {
        !self.is_value() && (self.has("and") || self.has("+"))
    }

    /// Whether the description is too long to be repeated.
    pub(super) fn is_long(&self) -> bool {
        self.words().len() > 3
    }

    /// Returns the keyword that was probably meant by `word`.
    pub(super) fn near(&self, word: &str) -> Option<&str> {
        let keywords = self.tokens.iter().map(String::as_str);
        let any_name = self.any_name();
        let keywords = keywords.filter(|token| {
            token.len() > 1
                && !token.starts_with('#')
                && !(any_name && CONTEXTUAL_WORDS.contains(token))
        });
        match foreign::keyword(word, |own| self.has(own)) {
            Some(own) => Some(own),
            None => did_you_mean(word, keywords),
        }
    }

    /// Returns the tokens that could follow: few words, the most helpful first.
    fn words(&self) -> Vec<String> {
        let (value, name, operator) = (self.is_value(), self.is_name(), self.is_operator());
        let any_name = self.any_name();
        let mut words = Vec::new();
        if value {
            words.push("a value".to_owned());
        } else if operator {
            words.push("an operator".to_owned());
        } else if name {
            words.push("a name".to_owned());
        }
        let mut rest: Vec<String> = Vec::new();
        for token in self.tokens.iter().map(String::as_str) {
            let arity = guard_automata::operator(token).map(|op| op.arity);
            let covered = (value && (VALUE.contains(&token) || arity == Some(1)))
                || (operator && (OPERATOR.contains(&token) || arity == Some(2)))
                || (any_name && CONTEXTUAL_WORDS.contains(&token))
                || matches!(
                    token,
                    "#name" | "#range_name" | "start_item" | "start_expr" | "bound["
                );
            if covered {
                continue;
            }
            let word = match token {
                "#int" | "#float" | "#percent" => "a number".to_owned(),
                "#duration" => "a duration".to_owned(),
                "#string" => "a string".to_owned(),
                "#regex" => "a regular expression".to_owned(),
                "#steps" => "`steps`".to_owned(),
                "list" | "set" | "map" if name => continue, // types are mostly names
                other => format!("`{other}`"),
            };
            if !rest.contains(&word) {
                rest.push(word);
            }
        }
        let closes = |word: &str| matches!(word, "`)`" | "`]`" | "`}`");
        if value {
            // a value is missing; the closing bracket is less helpful
            rest.retain(|word| closes(word) || word == "`else`");
        }
        rest.sort_by_key(|word| !closes(word));
        words.append(&mut rest);
        words
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 4;
        let mut words = self.words();
        if self.is_operator() && !words.iter().any(|word| word.starts_with('`')) {
            words.push(format!("the end of the {}", self.whole));
        }
        if words.len() > SHOWN + 1 && self.is_operator() {
            words.truncate(SHOWN);
        }
        match words.as_slice() {
            [] => write!(f, "the end of the {}", self.whole),
            [one] => f.write_str(one),
            [most @ .., last] => write!(f, "{} or {last}", most.join(", ")),
        }
    }
}
