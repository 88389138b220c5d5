//! Printing of formulas as text of the language, with atoms as written in the spec, and of expressions after inlining.

use std::sync::Arc;

use smol_str::SmolStr;

use super::Spec;
use super::expr::{Arith, Compare, Expr, PastOp, Quantifier};
use super::formula::{Bound, Formula, Formulas, Unary};
use crate::ids::{ExprId, FormulaId};
use crate::types::EnumType;
use crate::value::{Instant, Value};

/// The precedence of a printed text.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Response,
    Iff,
    Implies,
    Or,
    And,
    Infix,
    Prefix,
    Atom,
}

/// Returns the formula in one line: `G (a -> F[0,5] b)`. Parsing the text gives the same formula if its atoms can be parsed on
/// their own.
///
/// # Limits
/// Linear in the tree of the formula.
pub fn formula(formulas: &Formulas, id: FormulaId) -> String {
    piece(formulas, id).0
}

fn piece(formulas: &Formulas, id: FormulaId) -> (String, Level) {
    let at = |id: FormulaId, least: Level| {
        let (text, level) = piece(formulas, id);
        if level < least {
            format!("({text})")
        } else {
            text
        }
    };
    if let Formula::Unary(Unary::Always, None, a) = formulas.get(id)
        && let Some((when, bound, then)) = formulas.forgiven(*a)
    {
        let (when, then) = (at(when, Level::Iff), at(then, Level::Iff));
        let text = format!("{when} leads to {then} {} or end", within(bound));
        return (text, Level::Response);
    }
    match formulas.get(id) {
        Formula::True => ("true".to_owned(), Level::Atom),
        Formula::False => ("false".to_owned(), Level::Atom),
        Formula::Last => ("last".to_owned(), Level::Atom),
        Formula::Atom(atom) => leaf(&formulas.atom(*atom).text),
        Formula::Not(a) => (format!("not {}", at(*a, Level::Prefix)), Level::Prefix),
        // Chains are built as balanced trees; nesting does not change their meaning.
        Formula::And(a, b) => (
            format!("{} and {}", at(*a, Level::And), at(*b, Level::And)),
            Level::And,
        ),
        Formula::Or(a, b) => (
            format!("{} or {}", at(*a, Level::Or), at(*b, Level::Or)),
            Level::Or,
        ),
        Formula::Implies(a, b) => (
            format!("{} -> {}", at(*a, Level::Or), at(*b, Level::Implies)),
            Level::Implies,
        ),
        Formula::Iff(a, b) => (
            format!("{} <-> {}", at(*a, Level::Implies), at(*b, Level::Implies)),
            Level::Iff,
        ),
        Formula::Unary(op, bound, a) => {
            let operator = op.letter();
            let text = format!("{operator}{} {}", window(*bound), at(*a, Level::Prefix));
            (text, Level::Prefix)
        }
        Formula::Binary(op, bound, a, b) => {
            let operator = op.letter();
            let (lhs, rhs) = (at(*a, Level::Prefix), at(*b, Level::Infix));
            (
                format!("{lhs} {operator}{} {rhs}", window(*bound)),
                Level::Infix,
            )
        }
    }
}

/// Returns the precedence of an atom. Most atoms are names, calls and comparisons, which bind tighter than every operator. A
/// text that ends in an open-ended operator gets parentheses.
fn leaf(text: &str) -> (String, Level) {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let greedy = ["if ", "any ", "all ", "cases "];
    if greedy.iter().any(|word| text.starts_with(word)) || text.contains(" count ") {
        (format!("({text})"), Level::Atom)
    } else {
        (text, Level::Atom)
    }
}

/// `within 1..5 steps`
fn within(bound: Bound) -> String {
    match bound {
        Bound::Steps(0, high) => format!("within {high} steps"),
        Bound::Steps(low, high) => format!("within {low}..{high} steps"),
        Bound::Time(0, high) => format!("within {}", Instant(high)),
        Bound::Time(low, high) => format!("within {}..{}", Instant(low), Instant(high)),
    }
}

fn window(bound: Option<Bound>) -> String {
    match bound {
        None => String::new(),
        Some(Bound::Steps(low, high)) => format!("[{low},{high}]"),
        Some(Bound::Time(low, high)) => format!("[{},{}]", Instant(low), Instant(high)),
    }
}

/// Returns the precedence of the text of an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Tight {
    Open,
    Or,
    And,
    Not,
    Test,
    Sum,
    Product,
    Sign,
    Leaf,
}

/// Returns the expression in one line, as an author would write it. Definitions with parameters, conditions and paths are
/// inlined; other definitions are printed by name. `vars` are the names of the quantified variables. Beyond `most` bytes the
/// text ends in `…`.
pub fn expr(spec: &Spec, id: ExprId, vars: &[SmolStr], most: usize) -> String {
    let mut printer = ExprPrinter {
        spec,
        vars,
        most,
        out: String::new(),
    };
    printer.expr(id, Tight::Open);
    let mut out = printer.out;
    if out.len() > most {
        let ends = out.char_indices().map(|(at, _)| at);
        out.truncate(ends.take_while(|at| *at <= most).last().unwrap_or(0));
        out.push('…');
    }
    out
}

/// Returns a value as written in a spec; enum values by name.
pub fn value(value: &Value, enums: &[Arc<EnumType>]) -> String {
    let joined = |items: &mut dyn Iterator<Item = &Value>| {
        let items: Vec<String> = items.map(|item| self::value(item, enums)).collect();
        items.join(", ")
    };
    match value {
        Value::Enum(of) => {
            let ty = enums.iter().find(|ty| ty.number == of.of);
            let name = ty.and_then(|ty| ty.values.get(usize::from(of.index)));
            name.map_or_else(|| value.to_string(), ToString::to_string)
        }
        Value::List(items) => format!("[{}]", joined(&mut items.iter())),
        Value::Set(items) => format!("{{{}}}", joined(&mut items.iter())),
        other => other.to_string(),
    }
}

struct ExprPrinter<'a> {
    spec: &'a Spec,
    vars: &'a [SmolStr],
    most: usize,
    out: String,
}

impl ExprPrinter<'_> {
    fn text(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn list(&mut self, open: &str, items: &[ExprId], close: &str) {
        self.text(open);
        for (place, item) in items.iter().enumerate() {
            self.text(if place > 0 { ", " } else { "" });
            self.expr(*item, Tight::Open);
        }
        self.text(close);
    }

    fn infix(&mut self, lhs: ExprId, sign: &str, rhs: ExprId, sides: (Tight, Tight)) {
        self.expr(lhs, sides.0);
        self.text(" ");
        self.text(sign);
        self.text(" ");
        self.expr(rhs, sides.1);
    }

    fn prefix(&mut self, word: &str, operand: ExprId, least: Tight) {
        self.text(word);
        self.expr(operand, least);
    }

    fn name(&mut self, names: &[SmolStr], place: usize) {
        let name = names.get(place).cloned().unwrap_or_else(|| "_".into());
        self.text(&name);
    }

    /// Writes an expression, in parentheses if its precedence is lower than `least`.
    fn expr(&mut self, id: ExprId, least: Tight) {
        if self.out.len() > self.most {
            return;
        }
        let spec = self.spec;
        // The type to which a value is converted is not relevant for readers.
        if let Expr::Cast(of) = spec.exprs.get(id) {
            return self.expr(*of, least);
        }
        if let Some(name) = spec.outline.definitions.get(&id) {
            return self.text(name);
        }
        let (tight, negated) = match spec.exprs.get(id) {
            Expr::Not(of) => match spec.exprs.get(*of) {
                Expr::Compare(Compare::Eq, ..) | Expr::In(..) => (Tight::Test, Some(*of)),
                _ => (Tight::Not, None),
            },
            other => (tightness(other), None),
        };
        let wrapped = tight < least;
        self.text(if wrapped { "(" } else { "" });
        match (spec.exprs.get(negated.unwrap_or(id)), negated) {
            (Expr::Compare(_, a, b), Some(_)) => self.infix(*a, "!=", *b, (Tight::Sum, Tight::Sum)),
            (Expr::In(a, b), Some(_)) => self.infix(*a, "not in", *b, (Tight::Sum, Tight::Sum)),
            (other, _) => self.node(other),
        }
        self.text(if wrapped { ")" } else { "" });
    }

    fn node(&mut self, node: &Expr) {
        let spec = self.spec;
        const SUMS: (Tight, Tight) = (Tight::Sum, Tight::Sum);
        match node {
            Expr::Const(of) => self.text(&value(of, &spec.enums)),
            Expr::Unknown => self.text("unknown"),
            Expr::Todo(words) => self.text(&format!("todo({words:?})")),
            Expr::Field(field) => {
                let field = spec.schema.fields.get(*field);
                self.text(field.map_or("_", |field| &field.name));
            }
            Expr::Meta(field) => {
                let field = spec.schema.meta.get(*field);
                self.text("meta.");
                self.text(field.map_or("_", |field| &field.name));
            }
            Expr::Track(track, args) => {
                self.text(&spec.track(*track).name);
                if !args.is_empty() {
                    self.list("(", args, ")");
                }
            }
            Expr::Var(var) => self.name(self.vars, *var),
            Expr::Local(local) => self.name(&spec.local_names, local.index()),
            Expr::Member(of, name) => {
                self.expr(*of, Tight::Leaf);
                self.text(".");
                self.text(name);
            }
            Expr::Index(of, at) => {
                self.expr(*of, Tight::Leaf);
                self.list("[", &[*at], "]");
            }
            Expr::Not(of) => self.prefix("not ", *of, Tight::Not),
            Expr::And(a, b) => self.infix(*a, "and", *b, (Tight::And, Tight::And)),
            Expr::Or(a, b) => self.infix(*a, "or", *b, (Tight::Or, Tight::Or)),
            Expr::Implies(a, b) => self.infix(*a, "->", *b, (Tight::Or, Tight::Or)),
            Expr::Iff(a, b) => self.infix(*a, "<->", *b, (Tight::Or, Tight::Or)),
            Expr::Compare(op, a, b) => self.infix(*a, op.sign(), *b, SUMS),
            Expr::In(a, b) => self.infix(*a, "in", *b, SUMS),
            Expr::Contains(a, b) => self.infix(*a, "contains", *b, SUMS),
            Expr::StartsWith(a, b) => self.infix(*a, "starts_with", *b, SUMS),
            Expr::EndsWith(a, b) => self.infix(*a, "ends_with", *b, SUMS),
            Expr::Matches(a, regex) => {
                self.expr(*a, Tight::Sum);
                self.text(&format!(" matches /{}/", spec.exprs.regex(*regex).as_str()));
            }
            Expr::Arith(op, a, b) => match op {
                Arith::Add => self.infix(*a, "+", *b, (Tight::Sum, Tight::Product)),
                Arith::Sub => self.infix(*a, "-", *b, (Tight::Sum, Tight::Product)),
                Arith::Mul => self.infix(*a, "*", *b, (Tight::Product, Tight::Sign)),
                Arith::Div => self.infix(*a, "/", *b, (Tight::Product, Tight::Sign)),
            },
            Expr::Neg(a) => self.prefix("-", *a, Tight::Sign),
            Expr::Coalesce(a, b) => self.infix(*a, "??", *b, (Tight::Sign, Tight::Sign)),
            Expr::Cast(a) => self.expr(*a, Tight::Leaf),
            Expr::If(condition, a, b) => {
                self.prefix("if ", *condition, Tight::Open);
                self.prefix(" then ", *a, Tight::Open);
                self.prefix(" else ", *b, Tight::Open);
            }
            Expr::Quantifier {
                kind,
                local,
                over,
                body,
            } => {
                let word = match kind {
                    Quantifier::Any => "any ",
                    Quantifier::All => "all ",
                    Quantifier::Count => "count ",
                    Quantifier::Map => "[",
                };
                self.text(word);
                if *kind == Quantifier::Map {
                    self.expr(*body, Tight::Open);
                    self.text(" for ");
                }
                self.name(&spec.local_names, local.index());
                self.prefix(" in ", *over, Tight::Sum);
                match kind {
                    Quantifier::Map => self.text("]"),
                    _ => self.prefix(": ", *body, Tight::Open),
                }
            }
            Expr::Call(builtin, args) => {
                self.text(builtin.name());
                self.list("(", args, ")");
            }
            Expr::Capture(a, regex, group) => {
                self.prefix("capture(", *a, Tight::Open);
                let regex = spec.exprs.regex(*regex).as_str();
                self.text(&format!(", /{regex}/, {group})"));
            }
            Expr::Replace(a, regex, b) => {
                self.prefix("replace(", *a, Tight::Open);
                self.text(&format!(", /{}/, ", spec.exprs.regex(*regex).as_str()));
                self.expr(*b, Tight::Open);
                self.text(")");
            }
            Expr::List(items) => self.list("[", items, "]"),
            Expr::Set(items) => self.list("{", items, "}"),
            Expr::Record(members) => {
                for (place, (name, member)) in members.iter().enumerate() {
                    self.text(if place == 0 { "{" } else { ", " });
                    self.text(name);
                    self.prefix(": ", *member, Tight::Open);
                }
                self.text("}");
            }
            Expr::Before(of) => self.list("before(", &[*of], ")"),
            Expr::Count { of, window, since } => {
                self.prefix("count(", *of, Tight::Open);
                if let Some(window) = window {
                    self.text(&format!(", {}", within(*window)));
                }
                if let Some(since) = since {
                    self.prefix(", since: ", *since, Tight::Open);
                }
                self.text(")");
            }
            Expr::Past(op, bound, a, b) => {
                let word = match op {
                    PastOp::Previously => "previously",
                    PastOp::WeakPreviously => "weak_previously",
                    PastOp::Once => "once",
                    PastOp::Historically => "historically",
                    PastOp::Since => "since",
                    PastOp::BackTo => "back_to",
                };
                let word = format!("{word}{}", window(*bound));
                match b {
                    Some(b) => self.infix(*a, &word, *b, (Tight::Not, Tight::Not)),
                    None => self.prefix(&format!("{word} "), *a, Tight::Not),
                }
            }
            // These do not occur in expressions on events.
            Expr::Param(_)
            | Expr::State(_)
            | Expr::Next(_)
            | Expr::Label(_)
            | Expr::Violated(_)
            | Expr::Branching(_) => self.text("_"),
        }
    }
}

fn tightness(expr: &Expr) -> Tight {
    match expr {
        Expr::Implies(..) | Expr::Iff(..) | Expr::If(..) => Tight::Open,
        Expr::Quantifier { kind, .. } if *kind != Quantifier::Map => Tight::Open,
        Expr::Or(..) => Tight::Or,
        Expr::And(..) => Tight::And,
        Expr::Not(_) | Expr::Past(..) => Tight::Not,
        Expr::Compare(..)
        | Expr::In(..)
        | Expr::Contains(..)
        | Expr::StartsWith(..)
        | Expr::EndsWith(..)
        | Expr::Matches(..) => Tight::Test,
        Expr::Arith(Arith::Add | Arith::Sub, ..) => Tight::Sum,
        Expr::Arith(..) => Tight::Product,
        Expr::Coalesce(..) => Tight::Open,
        Expr::Neg(_) => Tight::Sign,
        _ => Tight::Leaf,
    }
}
