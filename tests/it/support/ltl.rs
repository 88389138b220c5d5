//! A parser of the temporal-logic suite's syntax, for formulas of `automata`.

use std::collections::BTreeMap;

use guard_automata::{Atom, FormulaId, Formulas, Interval};
use serde_json::Value;

/// A parsed formula of the suite; atoms are numbered in alphabetical order.
pub(crate) struct Parsed {
    pub formulas: Formulas,
    pub root: FormulaId,
    pub names: BTreeMap<String, u32>,
}

/// Parses several texts into one arena; returns the roots and the numbers of the atoms by name.
pub(crate) fn parse(texts: &[&str]) -> (Formulas, Vec<FormulaId>, BTreeMap<String, u32>) {
    let tokens: Vec<Vec<String>> = texts.iter().map(|text| lex(text)).collect();
    let is_atom = |t: &&String| {
        t.starts_with(|c: char| c.is_ascii_lowercase()) && *t != "true" && *t != "false"
    };
    let mut names: Vec<String> = tokens.iter().flatten().filter(is_atom).cloned().collect();
    names.sort();
    names.dedup();
    let names: BTreeMap<String, u32> = names
        .into_iter()
        .enumerate()
        .map(|(i, n)| (n, i as u32))
        .collect();
    let mut formulas = Formulas::new();
    let roots = tokens
        .iter()
        .map(|tokens| {
            let mut parser = Parser {
                tokens,
                at: 0,
                formulas: &mut formulas,
                names: &names,
            };
            let root = parser.iff();
            assert_eq!(parser.at, tokens.len(), "trailing input in {tokens:?}");
            root
        })
        .collect();
    (formulas, roots, names)
}

/// Parses one text.
pub(crate) fn parse_one(text: &str) -> Parsed {
    let (formulas, roots, names) = parse(&[text]);
    Parsed {
        formulas,
        root: roots[0],
        names,
    }
}

fn lex(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let c = chars[i];
        let mut end = i + 1;
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            while end < chars.len()
                && (chars[end].is_ascii_lowercase()
                    || chars[end].is_ascii_digit()
                    || chars[end] == '_')
            {
                end += 1;
            }
        } else if text[i..].starts_with("<->") {
            end = i + 3;
        } else if text[i..].starts_with("->") || text[i..].starts_with("<=") {
            end = i + 2;
        }
        if !c.is_whitespace() {
            tokens.push(chars[i..end].iter().collect());
        }
        i = end;
    }
    tokens
}

struct Parser<'a> {
    tokens: &'a [String],
    at: usize,
    formulas: &'a mut Formulas,
    names: &'a BTreeMap<String, u32>,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).map_or("", |t| t.as_str())
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn iff(&mut self) -> FormulaId {
        let mut left = self.implies();
        while self.eat("<->") {
            let right = self.implies();
            left = self.formulas.iff(left, right);
        }
        left
    }

    fn implies(&mut self) -> FormulaId {
        let left = self.or();
        if self.eat("->") {
            let right = self.implies();
            return self.formulas.implies(left, right);
        }
        left
    }

    fn or(&mut self) -> FormulaId {
        let mut left = self.and();
        while self.eat("|") {
            let right = self.and();
            left = self.formulas.or(left, right);
        }
        left
    }

    fn and(&mut self) -> FormulaId {
        let mut left = self.binary();
        while self.eat("&") {
            let right = self.binary();
            left = self.formulas.and(left, right);
        }
        left
    }

    fn binary(&mut self) -> FormulaId {
        let left = self.unary();
        let operator = self.peek().to_owned();
        if !matches!(operator.as_str(), "U" | "W" | "R" | "M" | "S" | "B") {
            return left;
        }
        self.at += 1;
        let window = if operator == "U" {
            self.window()
        } else {
            Interval::ALL
        };
        let right = self.binary();
        match operator.as_str() {
            "U" => self.formulas.until(left, window, right),
            "W" => self.formulas.unless(left, right),
            "R" => self.formulas.release(left, right),
            "M" => self.formulas.strong_release(left, right),
            "S" => self.formulas.since(left, right),
            _ => self.formulas.back_to(left, right),
        }
    }

    fn number(&mut self) -> u32 {
        self.at += 1;
        self.tokens[self.at - 1].parse().unwrap()
    }

    fn window(&mut self) -> Interval {
        if self.eat("<=") {
            return Interval::steps(0, self.number());
        }
        if !self.eat("[") {
            return Interval::ALL;
        }
        let lo = self.number();
        assert!(self.eat(","));
        let hi = self.number();
        assert!(self.eat("]"));
        Interval::steps(lo, hi)
    }

    fn unary(&mut self) -> FormulaId {
        let token = self.peek().to_owned();
        self.at += 1;
        match token.as_str() {
            "(" => {
                let inner = self.iff();
                assert!(self.eat(")"));
                inner
            }
            "true" => self.formulas.verum(),
            "false" => self.formulas.falsum(),
            "!" | "X" | "N" | "Y" | "Z" => {
                let f = self.unary();
                match token.as_str() {
                    "!" => self.formulas.not(f),
                    "X" => self.formulas.next(f),
                    "N" => self.formulas.weak_next(f),
                    "Y" => self.formulas.previously(f),
                    _ => self.formulas.weak_previously(f),
                }
            }
            "F" | "G" | "O" | "H" => {
                let window = self.window();
                let f = self.unary();
                match token.as_str() {
                    "F" => self.formulas.eventually(window, f),
                    "G" => self.formulas.always(window, f),
                    "O" => self.formulas.once(window, f),
                    _ => self.formulas.historically(window, f),
                }
            }
            name => self.formulas.atom(Atom(self.names[name])),
        }
    }
}

/// Returns a string member of a case.
pub(crate) fn text<'a>(case: &'a Value, key: &str) -> &'a str {
    case[key].as_str().unwrap()
}
