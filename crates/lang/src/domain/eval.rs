//! Evaluation of conditions under an assignment of classes to terms.

use super::class::{Class, compare};
use super::question::items;
use super::search::Search;
use crate::hir::{Builtin, Compare, Expr};
use crate::ids::ExprId;
use crate::value::Value;

/// The reason why an expression has no value yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Missing {
    /// The class of this term is needed.
    Term(ExprId),
    /// The truth of this condition, which its terms do not determine.
    Atom(ExprId),
    /// The limit on work was reached.
    Work,
}

/// The known part of a value.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Known {
    /// The value.
    Value(Value),
    /// The value of a term is in a class with several values.
    Class(ExprId, Class),
    /// Nothing is known.
    Nothing,
}

impl Search<'_> {
    /// Returns the truth of a condition.
    pub(super) fn truth(&mut self, id: ExprId) -> Result<bool, Missing> {
        if let Some(&known) = self.tables.truths.get(id) {
            return Ok(known);
        }
        self.visit()?;
        let truth = self.truth_of(id)?;
        self.tables.truths.insert(id, truth);
        Ok(truth)
    }

    fn truth_of(&mut self, id: ExprId) -> Result<bool, Missing> {
        match *self.spec.exprs.get(id) {
            Expr::Not(a) => Ok(!self.truth(a)?),
            Expr::And(a, b) => self.junction(a, b, false),
            Expr::Or(a, b) => self.junction(a, b, true),
            Expr::Implies(a, b) => {
                let lhs = self.truth(a);
                if lhs == Ok(false) {
                    return Ok(true);
                }
                let rhs = self.truth(b);
                match (lhs, rhs) {
                    (_, Ok(true)) => Ok(true),
                    (Ok(_), rhs) => rhs,
                    (missing, _) => missing,
                }
            }
            Expr::Iff(a, b) => Ok(self.truth(a)? == self.truth(b)?),
            Expr::Compare(op, a, b) => {
                let (lhs, rhs) = (self.known(a)?, self.known(b)?);
                self.compared(id, op, &lhs, &rhs)
            }
            Expr::In(x, list) => {
                let x = self.known(x)?;
                let spec = self.spec;
                match items(spec.exprs.get(list)) {
                    Some(items) => self.among(id, &x, &items),
                    None => self.atom(id),
                }
            }
            Expr::Matches(text, regex) => {
                let regex = self.spec.exprs.regex(regex);
                self.of_text(id, text, |text| regex.is_match(text))
            }
            Expr::Contains(text, part) => {
                let part = self.constant_text(part);
                self.of_text(id, text, |text| {
                    Some(text.contains(part.as_ref()?.as_str()))
                })
            }
            Expr::StartsWith(text, part) => {
                let part = self.constant_text(part);
                self.of_text(id, text, |text| {
                    Some(text.starts_with(part.as_ref()?.as_str()))
                })
            }
            Expr::EndsWith(text, part) => {
                let part = self.constant_text(part);
                self.of_text(id, text, |text| {
                    Some(text.ends_with(part.as_ref()?.as_str()))
                })
            }
            _ => match self.known(id)? {
                Known::Value(Value::Bool(truth)) => Ok(truth),
                _ => self.atom(id),
            },
        }
    }

    /// Evaluates `and` (`dominant` false) or `or` (`dominant` true): one operand may decide.
    fn junction(&mut self, a: ExprId, b: ExprId, dominant: bool) -> Result<bool, Missing> {
        let lhs = self.truth(a);
        if lhs == Ok(dominant) {
            return lhs;
        }
        let rhs = self.truth(b);
        if rhs == Ok(dominant) {
            return rhs;
        }
        lhs?;
        rhs
    }

    /// Returns the assigned truth of a condition that may have either value.
    fn atom(&mut self, id: ExprId) -> Result<bool, Missing> {
        self.tables.atoms.get(&id).copied().ok_or(Missing::Atom(id))
    }

    fn constant_text(&self, id: ExprId) -> Option<smol_str::SmolStr> {
        match self.spec.exprs.get(id) {
            Expr::Const(Value::String(text)) => Some(text.to_smol()),
            _ => None,
        }
    }

    /// Evaluates a question about a text: false for null; either value for an unknown text.
    fn of_text(
        &mut self,
        id: ExprId,
        text: ExprId,
        ask: impl Fn(&str) -> Option<bool>,
    ) -> Result<bool, Missing> {
        let answer = match self.known(text)? {
            // For a value that is not a text the question is unknown, and so not true.
            Known::Value(Value::Null | Value::Bool(_) | Value::Number(_)) => Some(false),
            Known::Value(Value::String(text)) => ask(&text),
            _ => None,
        };
        match answer {
            Some(answer) => Ok(answer),
            None => self.atom(id),
        }
    }

    fn among(&mut self, id: ExprId, x: &Known, items: &[&Value]) -> Result<bool, Missing> {
        let mut open = false;
        for item in items {
            match decide(Compare::Eq, x, &Known::Value((*item).clone()), self) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => open = true,
            }
        }
        if open { self.atom(id) } else { Ok(false) }
    }

    fn compared(
        &mut self,
        id: ExprId,
        op: Compare,
        lhs: &Known,
        rhs: &Known,
    ) -> Result<bool, Missing> {
        match decide(op, lhs, rhs, self) {
            Some(truth) => Ok(truth),
            None => self.atom(id),
        }
    }

    /// Returns the known part of the value of an expression.
    pub(super) fn known(&mut self, id: ExprId) -> Result<Known, Missing> {
        self.visit()?;
        match self.spec.exprs.get(id) {
            Expr::Const(value) => Ok(Known::Value(value.clone())),
            Expr::If(condition, then, otherwise) => {
                let (condition, then, otherwise) = (*condition, *then, *otherwise);
                if self.truth(condition)? {
                    self.known(then)
                } else {
                    self.known(otherwise)
                }
            }
            Expr::Coalesce(a, b) => {
                let (a, b) = (*a, *b);
                match self.known(a)? {
                    Known::Value(Value::Null) => self.known(b),
                    Known::Nothing => Ok(Known::Nothing),
                    known => Ok(known),
                }
            }
            Expr::Call(builtin @ (Builtin::Min | Builtin::Max), args) => {
                let wanted = match builtin {
                    Builtin::Min => Compare::Le,
                    _ => Compare::Ge,
                };
                let args = args.clone();
                let mut best: Option<Known> = None;
                for arg in args {
                    let known = self.known(arg)?;
                    best = Some(match best {
                        None => known,
                        Some(Known::Value(Value::Null)) => Known::Value(Value::Null),
                        Some(_) if known == Known::Value(Value::Null) => known,
                        Some(so_far) => match decide(wanted, &so_far, &known, self) {
                            Some(true) => so_far,
                            Some(false) => known,
                            None => Known::Nothing,
                        },
                    });
                }
                Ok(best.unwrap_or(Known::Nothing))
            }
            Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Implies(..)
            | Expr::Iff(..)
            | Expr::Compare(..)
            | Expr::In(..)
            | Expr::Contains(..)
            | Expr::StartsWith(..)
            | Expr::EndsWith(..)
            | Expr::Matches(..) => Ok(Known::Value(Value::Bool(self.truth(id)?))),
            _ => match self.tables.assigned.get(id) {
                Some(Class::Value(value)) => Ok(Known::Value(value.clone())),
                Some(class) => Ok(Known::Class(id, class.clone())),
                None => Err(Missing::Term(id)),
            },
        }
    }
}

/// Compares two values as far as they are known; returns `None` if that does not decide the comparison.
fn decide(op: Compare, lhs: &Known, rhs: &Known, search: &Search<'_>) -> Option<bool> {
    match (lhs, rhs) {
        (Known::Nothing, _) | (_, Known::Nothing) => None,
        (Known::Value(lhs), Known::Value(rhs)) => compare(op, lhs, rhs),
        (Known::Class(term, class), Known::Value(value)) => {
            of_class(op, *term, class, value, search)
        }
        (Known::Value(value), Known::Class(term, class)) => {
            let flipped = match op {
                Compare::Eq => Compare::Eq,
                Compare::Lt => Compare::Gt,
                Compare::Le => Compare::Ge,
                Compare::Gt => Compare::Lt,
                Compare::Ge => Compare::Le,
            };
            of_class(flipped, *term, class, value, search)
        }
        (Known::Class(a, lhs), Known::Class(b, rhs)) => {
            if a == b {
                return Some(matches!(op, Compare::Eq | Compare::Le | Compare::Ge));
            }
            let (Class::Between(a_low, a_high), Class::Between(b_low, b_high)) = (lhs, rhs) else {
                return None;
            };
            let apart = |high: &Option<Value>, low: &Option<Value>| {
                matches!((high, low), (Some(high), Some(low))
                    if compare(Compare::Le, high, low) == Some(true))
            };
            if apart(a_high, b_low) {
                Some(matches!(op, Compare::Lt | Compare::Le))
            } else if apart(b_high, a_low) {
                Some(matches!(op, Compare::Gt | Compare::Ge))
            } else {
                None
            }
        }
    }
}

/// Compares the values of a class with a constant; returns `None` if they differ.
fn of_class(
    op: Compare,
    term: ExprId,
    class: &Class,
    value: &Value,
    search: &Search<'_>,
) -> Option<bool> {
    if value.is_null() {
        // Only the class of null contains null.
        return Some(false);
    }
    match class {
        Class::Value(own) => compare(op, own, value),
        Class::Between(low, high) => {
            let end = low.as_ref().or(high.as_ref())?;
            if compare(Compare::Lt, end, value).is_none() {
                // The types differ: the values are unequal and not ordered.
                return (op == Compare::Eq).then_some(false);
            }
            let above = low
                .as_ref()
                .is_some_and(|low| compare(Compare::Le, value, low) == Some(true));
            let under = high
                .as_ref()
                .is_some_and(|high| compare(Compare::Le, high, value) == Some(true));
            match (above, under) {
                (true, _) => Some(matches!(op, Compare::Gt | Compare::Ge)),
                (_, true) => Some(matches!(op, Compare::Lt | Compare::Le)),
                _ => None,
            }
        }
        Class::Other => (op == Compare::Eq && search.compares(term, value)).then_some(false),
    }
}
