//! The questions about each term.

use super::table::Table;
use crate::hir::{Builtin, Compare, Expr, Spec};
use crate::ids::ExprId;
use crate::value::Value;

/// A question that the value of a term answers.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Question {
    /// `t == v`
    Equals(Value),
    /// `t in [v, w]`
    Among(Vec<Value>),
    /// `t < v` and similar comparisons.
    Order(Compare, Value),
    /// A question about a text, by its expression.
    Text(ExprId),
}

/// The questions about one term.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked {
    /// The questions, each once.
    pub(super) questions: Vec<Question>,
    /// Whether the exact value matters, because the term is compared with another term.
    pub(super) exact: bool,
}

impl Asked {
    /// Returns every constant in the questions, in order, each once.
    pub(super) fn constants(&self) -> Vec<Value> {
        let mut values: Vec<Value> = Vec::new();
        for question in &self.questions {
            match question {
                Question::Equals(value) | Question::Order(_, value) => values.push(value.clone()),
                Question::Among(list) => values.extend(list.iter().cloned()),
                Question::Text(_) => {}
            }
        }
        values.sort();
        values.dedup();
        values
    }

    /// Whether a constant occurs in the questions.
    pub(super) fn mentions(&self, value: &Value) -> bool {
        self.questions.iter().any(|question| match question {
            Question::Equals(other) | Question::Order(_, other) => other == value,
            Question::Among(list) => list.contains(value),
            Question::Text(_) => false,
        })
    }

    /// Whether some question is about the order of values.
    pub(super) fn ordered(&self) -> bool {
        let order = |question: &Question| matches!(question, Question::Order(..));
        self.questions.iter().any(order)
    }

    fn push(&mut self, question: &Question) {
        if !self.questions.contains(question) {
            self.questions.push(question.clone());
        }
    }
}

/// The terms of some conditions, each with its questions.
#[derive(Clone, Debug, Default)]
pub(super) struct Questions {
    pub(super) terms: Table<Asked>,
    /// The expressions that were visited.
    seen: Table<()>,
}

/// Whether an expression is a term: its value is not computed from other terms here.
pub(super) fn is_term(expr: &Expr) -> bool {
    !matches!(
        expr,
        Expr::Const(_)
            | Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Implies(..)
            | Expr::Iff(..)
            | Expr::Compare(..)
            | Expr::In(..)
            | Expr::Contains(..)
            | Expr::StartsWith(..)
            | Expr::EndsWith(..)
            | Expr::Matches(..)
            | Expr::Coalesce(..)
            | Expr::If(..)
            | Expr::Call(Builtin::Min | Builtin::Max, _)
    )
}

impl Questions {
    /// Replaces the contents by all questions within these expressions. Returns the number of expressions visited.
    pub(super) fn ask_all(&mut self, spec: &Spec, roots: impl Iterator<Item = ExprId>) -> u64 {
        self.terms.clear();
        self.seen.clear();
        let mut todo: Vec<ExprId> = roots.collect();
        while let Some(id) = todo.pop() {
            if !self.seen.insert(id, ()) {
                continue;
            }
            let expr = spec.exprs.get(id);
            if is_term(expr) {
                self.terms.get_or_insert_with(id, Asked::default);
                // The conditions do not depend on the operands of a term.
                continue;
            }
            self.asked_by(spec, id, expr);
            todo.extend(spec.exprs.operands(id));
        }
        self.seen.len() as u64
    }

    fn asked_by(&mut self, spec: &Spec, id: ExprId, expr: &Expr) {
        match expr {
            Expr::Compare(op, a, b) => {
                let flipped = match op {
                    Compare::Eq => Compare::Eq,
                    Compare::Lt => Compare::Gt,
                    Compare::Le => Compare::Ge,
                    Compare::Gt => Compare::Lt,
                    Compare::Ge => Compare::Le,
                };
                for (side, other, op) in [(*a, *b, *op), (*b, *a, flipped)] {
                    match (spec.exprs.get(other), op) {
                        (Expr::Const(value), Compare::Eq) => {
                            self.ask(spec, side, Some(&Question::Equals(value.clone())));
                        }
                        (Expr::Const(value), op) => {
                            self.ask(spec, side, Some(&Question::Order(op, value.clone())));
                        }
                        _ => self.ask(spec, side, None),
                    }
                }
            }
            Expr::In(x, list) => match items(spec.exprs.get(*list)) {
                Some(values) => {
                    let values = values.into_iter().cloned().collect();
                    self.ask(spec, *x, Some(&Question::Among(values)));
                }
                None => self.ask(spec, *x, None),
            },
            Expr::Contains(text, part)
            | Expr::StartsWith(text, part)
            | Expr::EndsWith(text, part) => match spec.exprs.get(*part) {
                Expr::Const(_) => self.ask(spec, *text, Some(&Question::Text(id))),
                _ => {
                    self.ask(spec, *text, None);
                    self.ask(spec, *part, None);
                }
            },
            Expr::Matches(text, _) => self.ask(spec, *text, Some(&Question::Text(id))),
            Expr::Call(Builtin::Min | Builtin::Max, args) => {
                for arg in args {
                    self.ask(spec, *arg, None);
                }
            }
            _ => {}
        }
    }

    /// Adds a question to every term whose value an expression may have; without a question, the exact values of these
    /// terms matter.
    fn ask(&mut self, spec: &Spec, id: ExprId, question: Option<&Question>) {
        match spec.exprs.get(id) {
            Expr::If(_, a, b) | Expr::Coalesce(a, b) => {
                self.ask(spec, *a, question);
                self.ask(spec, *b, question);
            }
            Expr::Call(Builtin::Min | Builtin::Max, args) => {
                for arg in args {
                    self.ask(spec, *arg, question);
                }
            }
            expr if is_term(expr) => {
                let asked = self.terms.get_or_insert_with(id, Asked::default);
                match question {
                    Some(question) => asked.push(question),
                    None => asked.exact = true,
                }
            }
            _ => {}
        }
    }
}

/// Returns the elements of a constant list or set.
pub(super) fn items(expr: &Expr) -> Option<Vec<&Value>> {
    match expr {
        Expr::Const(Value::List(items)) => Some(items.iter().collect()),
        Expr::Const(Value::Set(items)) => Some(items.iter().collect()),
        _ => None,
    }
}
