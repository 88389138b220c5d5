//! The shared conformance cases for finite traces, through the complete production evaluator.

use std::path::Path;

use guard_lang::hir::*;
use guard_lang::ids::*;
use guard_lang::types::Type;
use guard_lang::verdict::Verdict;
use serde_json::Value as Json;

use super::build::*;

/// A recursive-descent parser of the conformance syntax.
pub(crate) struct Parse<'t, 'b> {
    tokens: Vec<&'t str>,
    at: usize,
    build: &'b mut Build,
    atoms: &'b mut Vec<String>,
}

pub(crate) fn parse(text: &str, build: &mut Build, atoms: &mut Vec<String>) -> FormulaId {
    let mut tokens = Vec::new();
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        let len = if bytes[at].is_ascii_whitespace() {
            at += 1;
            continue;
        } else if rest.starts_with("<->") {
            3
        } else if rest.starts_with("->") || rest.starts_with("<=") {
            2
        } else if bytes[at].is_ascii_lowercase() || bytes[at].is_ascii_digit() {
            rest.bytes()
                .take_while(|b| b.is_ascii_alphanumeric() && !b.is_ascii_uppercase() || *b == b'_')
                .count()
        } else {
            1
        };
        tokens.push(&text[at..at + len]);
        at += len;
    }
    let mut parse = Parse {
        tokens,
        at: 0,
        build,
        atoms,
    };
    let formula = parse.iff();
    assert_eq!(parse.at, parse.tokens.len(), "{text}");
    formula
}

impl Parse<'_, '_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.at).copied().unwrap_or("")
    }

    fn eat(&mut self, token: &str) -> bool {
        let found = self.peek() == token;
        self.at += usize::from(found);
        found
    }

    fn iff(&mut self) -> FormulaId {
        let mut lhs = self.implies();
        while self.eat("<->") {
            let rhs = self.implies();
            lhs = self.build.f(Formula::Iff(lhs, rhs));
        }
        lhs
    }

    fn implies(&mut self) -> FormulaId {
        let lhs = self.or();
        if !self.eat("->") {
            return lhs;
        }
        let rhs = self.implies();
        self.build.f(Formula::Implies(lhs, rhs))
    }

    fn or(&mut self) -> FormulaId {
        let mut lhs = self.and();
        while self.eat("|") {
            let rhs = self.and();
            lhs = self.build.f(Formula::Or(lhs, rhs));
        }
        lhs
    }

    fn and(&mut self) -> FormulaId {
        let mut lhs = self.until();
        while self.eat("&") {
            let rhs = self.until();
            lhs = self.build.f(Formula::And(lhs, rhs));
        }
        lhs
    }

    fn until(&mut self) -> FormulaId {
        let lhs = self.unary();
        let op = match self.peek() {
            "U" => Binary::Until,
            "W" => Binary::Unless,
            "R" => Binary::Release,
            "M" => Binary::StrongRelease,
            "S" => Binary::Since,
            "B" => Binary::BackTo,
            _ => return lhs,
        };
        self.at += 1;
        let bound = self.bound();
        let rhs = self.until();
        self.build.f(Formula::Binary(op, bound, lhs, rhs))
    }

    fn number(&mut self) -> u32 {
        let number = self.peek().parse().expect("a number");
        self.at += 1;
        number
    }

    fn bound(&mut self) -> Option<Bound> {
        if self.eat("<=") {
            return Some(Bound::Steps(0, self.number()));
        }
        if !self.eat("[") {
            return None;
        }
        let lo = self.number();
        assert!(self.eat(","));
        let hi = self.number();
        assert!(self.eat("]"));
        Some(Bound::Steps(lo, hi))
    }

    fn unary(&mut self) -> FormulaId {
        let token = self.peek().to_owned();
        self.at += 1;
        let op = match token.as_str() {
            "!" => {
                let inner = self.unary();
                return self.build.f(Formula::Not(inner));
            }
            "(" => {
                let inner = self.iff();
                assert!(self.eat(")"));
                return inner;
            }
            "true" => return self.build.f(Formula::True),
            "false" => return self.build.f(Formula::False),
            "X" => Unary::Next,
            "N" => Unary::WeakNext,
            "F" => Unary::Eventually,
            "G" => Unary::Always,
            "Y" => Unary::Previously,
            "Z" => Unary::WeakPreviously,
            "O" => Unary::Once,
            "H" => Unary::Historically,
            atom => {
                let index = self
                    .atoms
                    .iter()
                    .position(|other| other == atom)
                    .unwrap_or_else(|| {
                        self.atoms.push(atom.to_owned());
                        self.build.field(atom, Type::Bool);
                        self.atoms.len() - 1
                    });
                let expr = self.build.e(Expr::Field(index), Type::Bool);
                return self.build.letter(expr, atom);
            }
        };
        let bound = self.bound();
        let inner = self.unary();
        self.build.f(Formula::Unary(op, bound, inner))
    }
}

#[test]
fn every_finite_trace_has_its_verdicts() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suites/ltl/finite.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut n = 0;
    for line in text.lines() {
        let case: Json = serde_json::from_str(line).expect("JSON");
        let id = case["id"].as_str().expect("an id");
        let mut build = Build::new();
        let mut atoms = Vec::new();
        let formula = parse(
            case["formula"].as_str().expect("a formula"),
            &mut build,
            &mut atoms,
        );
        build.property("p", formula);
        let program = build.program();
        let trace = case["trace"].as_array().expect("a trace");
        let rows: Vec<_> = trace
            .iter()
            .map(|letter| {
                let holds = |atom: &String| {
                    letter
                        .as_array()
                        .expect("atoms")
                        .iter()
                        .any(|other| other == atom)
                };
                atoms.iter().map(|atom| bit(Some(holds(atom)))).collect()
            })
            .collect();
        let (verdicts, at, report) = follow(&program, &rows);
        let names: Vec<&str> = verdicts.iter().map(|verdict| verdict.as_str()).collect();
        let wanted: Vec<&str> = case["rv"]
            .as_array()
            .expect("rv")
            .iter()
            .map(|v| v.as_str().expect("rv"))
            .collect();
        assert_eq!(names, wanted, "{id}: {}", case["formula"]);
        assert_eq!(
            at.map(u64::from),
            case["final_at"].as_u64(),
            "{id}: final_at"
        );
        let value = if case["ltlf"] == true {
            Verdict::Satisfied
        } else {
            Verdict::Violated
        };
        assert_eq!(only(&report).verdict, value, "{id}: ltlf");
        let whole = judge(&program, rows);
        assert_eq!(only(&whole).verdict, value, "{id}: judge");
        let last = trace.len().checked_sub(1).map(|last| last as u64);
        let at = case["final_at"].as_u64().or(last);
        assert_eq!(only(&whole).at.map(u64::from), at, "{id}: at");
        n += 1;
    }
    assert_eq!(n, 5600);
    println!("{n} finite traces");
}
