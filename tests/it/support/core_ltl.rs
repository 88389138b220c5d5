//! A recursive-descent parser of the temporal-logic suite's syntax, which builds `hir::Formulas` directly.

use guard_lang::hir::{Binary, Bound, Formula, Unary};
use guard_lang::ids::FormulaId;

use super::core::SpecBuilder;

pub(crate) fn parse(builder: &mut SpecBuilder, text: &str) -> FormulaId {
    let mut parser = Parser {
        builder,
        text,
        at: 0,
    };
    let formula = parser.iff();
    parser.space();
    assert_eq!(parser.at, text.len(), "all of `{text}` is read");
    formula
}

struct Parser<'a> {
    builder: &'a mut SpecBuilder,
    text: &'a str,
    at: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn eat(&mut self, token: &str) -> bool {
        self.space();
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn add(&mut self, formula: Formula) -> FormulaId {
        self.builder.spec.formulas.add(formula)
    }

    fn iff(&mut self) -> FormulaId {
        let mut lhs = self.implies();
        while self.eat("<->") {
            let rhs = self.implies();
            lhs = self.add(Formula::Iff(lhs, rhs));
        }
        lhs
    }

    fn implies(&mut self) -> FormulaId {
        let lhs = self.or();
        if self.eat("->") {
            let rhs = self.implies();
            return self.add(Formula::Implies(lhs, rhs));
        }
        lhs
    }

    fn or(&mut self) -> FormulaId {
        let mut lhs = self.and();
        while self.eat("|") {
            let rhs = self.and();
            lhs = self.add(Formula::Or(lhs, rhs));
        }
        lhs
    }

    fn and(&mut self) -> FormulaId {
        let mut lhs = self.until();
        while self.eat("&") {
            let rhs = self.until();
            lhs = self.add(Formula::And(lhs, rhs));
        }
        lhs
    }

    fn until(&mut self) -> FormulaId {
        let lhs = self.unary();
        let ops = [
            ("U", Binary::Until),
            ("W", Binary::Unless),
            ("R", Binary::Release),
            ("M", Binary::StrongRelease),
            ("S", Binary::Since),
            ("B", Binary::BackTo),
        ];
        for (letter, op) in ops {
            if self.eat(letter) {
                let bound = self.bound();
                let rhs = self.until();
                return self.add(Formula::Binary(op, bound, lhs, rhs));
            }
        }
        lhs
    }

    fn unary(&mut self) -> FormulaId {
        if self.eat("!") {
            let operand = self.unary();
            return self.add(Formula::Not(operand));
        }
        if self.eat("(") {
            let inner = self.iff();
            assert!(self.eat(")"), "a parenthesis closes in `{}`", self.text);
            return inner;
        }
        let ops = [
            ("X", Unary::Next),
            ("N", Unary::WeakNext),
            ("F", Unary::Eventually),
            ("G", Unary::Always),
            ("Y", Unary::Previously),
            ("Z", Unary::WeakPreviously),
            ("O", Unary::Once),
            ("H", Unary::Historically),
        ];
        for (letter, op) in ops {
            if self.eat(letter) {
                let bound = self.bound();
                let operand = self.unary();
                return self.add(Formula::Unary(op, bound, operand));
            }
        }
        self.space();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let length = self
            .rest()
            .find(|c| !is_name(c))
            .unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        assert!(
            !name.is_empty(),
            "an atom stands at {} of `{}`",
            self.at,
            self.text
        );
        self.at += length;
        match name.as_str() {
            "true" => self.add(Formula::True),
            "false" => self.add(Formula::False),
            "last" => self.add(Formula::Last),
            name => self.builder.atom(name),
        }
    }

    fn bound(&mut self) -> Option<Bound> {
        if self.eat("<=") {
            return Some(Bound::Steps(0, self.number()));
        }
        if !self.eat("[") {
            return None;
        }
        let from = self.number();
        assert!(self.eat(","), "two bounds in `{}`", self.text);
        let to = self.number();
        assert!(self.eat("]"), "a bound closes in `{}`", self.text);
        Some(Bound::Steps(from, to))
    }

    fn number(&mut self) -> u32 {
        self.space();
        let digits = self.rest().find(|c: char| !c.is_ascii_digit()).unwrap_or(0);
        let number = self.rest()[..digits].parse().expect("a bound is a number");
        self.at += digits;
        number
    }
}
