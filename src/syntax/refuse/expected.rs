//! What the parser could have taken, in a few words.
//!
//! The generated parser lists up to ninety tokens, since every contextual word is also a name.
//! They are collapsed into "a name", "a value" and "an operator"; what is left are keywords.

use crate::syntax::token::CONTEXTUAL_WORDS;
use std::fmt;

/// The tokens that the parser could have taken.
#[derive(Clone, Debug)]
pub(super) struct Expected {
    tokens: Vec<String>,
}

/// Tokens that begin a value.
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
    "always",
    "eventually",
    "next",
    "weak_next",
    "previously",
    "weak_previously",
    "once",
    "historically",
    "never",
    "G",
    "F",
    "X",
    "N",
    "Y",
    "Z",
    "O",
    "H",
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

/// Tokens that stand after a value.
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
    "until",
    "U",
    "unless",
    "W",
    "release",
    "R",
    "strong_release",
    "M",
    "since",
    "S",
    "back_to",
    "B",
    "leads to",
    "precedes",
];

impl Expected {
    /// Reads the parser's list.
    pub(super) fn new(list: &[String]) -> Self {
        let tokens = list
            .iter()
            .map(|entry| entry.trim_matches('"').to_owned())
            .collect();
        Self { tokens }
    }

    pub(super) fn has(&self, token: &str) -> bool {
        self.tokens.iter().any(|entry| entry == token)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.tokens.is_empty()
    }

    /// Whether a value could have stood here.
    pub(super) fn is_value(&self) -> bool {
        self.has("#int") && self.has("(") && self.has("#string")
    }

    /// Whether a name could have stood here.
    pub(super) fn is_name(&self) -> bool {
        self.has("#name")
    }

    /// Whether an operator could have stood here.
    pub(super) fn is_operator(&self) -> bool {
        self.has("and") && self.has("->") || self.has("+") && !self.is_value()
    }

    fn words(&self) -> Vec<String> {
        let (value, name, operator) = (self.is_value(), self.is_name(), self.is_operator());
        let any_name = name && self.has("use") && self.has("message");
        let mut words = Vec::new();
        if value {
            words.push("a value".to_owned());
        } else if name {
            words.push("a name".to_owned());
        }
        let mut number = false;
        let mut rest = Vec::new();
        for token in self.tokens.iter().map(String::as_str) {
            let covered = (value && VALUE.contains(&token))
                || (operator && OPERATOR.contains(&token))
                || (any_name && CONTEXTUAL_WORDS.contains(&token))
                || matches!(token, "#name" | "#range_name" | "start_item" | "start_expr");
            if covered {
                continue;
            }
            match token {
                "#int" | "#float" | "#percent" if !number => {
                    number = true;
                    rest.push("a number".to_owned());
                }
                "#int" | "#float" | "#percent" => {}
                "#duration" => rest.push("a duration".to_owned()),
                "#string" => rest.push("a string".to_owned()),
                "#regex" => rest.push("a regular expression".to_owned()),
                "#steps" => rest.push("`steps`".to_owned()),
                "bound[" => rest.push("a bound".to_owned()),
                other => rest.push(format!("`{other}`")),
            }
        }
        if operator && !value {
            words.push("an operator".to_owned());
            rest.retain(|word| word.len() > 3 || !self.is_value());
        }
        if value {
            // after an operator only a value helps; bounds and the like are noise
            rest.retain(|word| matches!(word.as_str(), "`)`" | "`]`" | "`}`" | "`else`"));
        }
        let closers = |word: &String| matches!(word.as_str(), "`)`" | "`]`" | "`}`");
        rest.sort_by_key(|word| !closers(word));
        words.append(&mut rest);
        words
    }
}

impl fmt::Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const SHOWN: usize = 5;
        let mut words = self.words();
        if words.len() > SHOWN + 1 {
            words.truncate(SHOWN);
            words.push("a similar word".to_owned());
        }
        match words.as_slice() {
            [] => f.write_str("the end"),
            [one] => f.write_str(one),
            [most @ .., last] => write!(f, "{} or {last}", most.join(", ")),
        }
    }
}
