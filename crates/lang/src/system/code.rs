//! Expressions about states, compiled once to closures over packed states.
//!
//! Values are numbers: a Boolean is 0 or 1, an enum value its position, null a number of its own. The most frequent
//! conditions, a variable that has (or has not) a constant value, are masks on a word.

use std::sync::Arc;

use thiserror::Error;

use super::layout::{Layout, NULL, Slot};
use crate::hir::{Arith, Builtin, Compare, Expr, Exprs, Quantifier};
use crate::ids::{ExprId, LocalId};
use crate::types::Type;
use crate::value::Value;

/// The reason why an expression has no value in a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// A result exceeds 64 bits.
    #[error("the result does not fit 64 bits")]
    Overflow,
    /// `mod(a, 0)`.
    #[error("division by zero")]
    DivisionByZero,
    /// Null is an operand of arithmetic.
    #[error("null is not a number")]
    Null,
    /// The expression is of a kind that the checker should have rejected.
    #[error("an expression that is not about states")]
    Unsupported,
}

type Run<T> = Arc<dyn Fn(&[u64]) -> Result<T, Fault> + Send + Sync>;

/// A compiled number.
#[derive(Clone)]
pub(super) enum Number {
    Const(i64),
    Var(Slot),
    Run(Run<i64>),
}

/// A compiled condition.
#[derive(Clone)]
pub(super) enum Test {
    Const(bool),
    /// The bits under the mask are equal to these.
    Is(usize, u64, u64),
    /// The bits under the mask differ from these.
    IsNot(usize, u64, u64),
    Run(Run<bool>),
}

/// A compiled set or list.
#[derive(Clone)]
pub(super) enum Many {
    Items(Vec<Number>),
    Choice(Test, Box<Many>, Box<Many>),
}

impl Number {
    #[inline]
    pub(super) fn eval(&self, state: &[u64]) -> Result<i64, Fault> {
        match self {
            Number::Const(value) => Ok(*value),
            Number::Var(slot) => Ok(slot.get(state)),
            Number::Run(run) => run(state),
        }
    }
}

impl Test {
    #[inline]
    pub(super) fn eval(&self, state: &[u64]) -> Result<bool, Fault> {
        match self {
            Test::Const(value) => Ok(*value),
            Test::Is(word, mask, bits) => Ok(state[*word] & mask == *bits),
            Test::IsNot(word, mask, bits) => Ok(state[*word] & mask != *bits),
            Test::Run(run) => run(state),
        }
    }

    /// Whether the condition has a value in every state.
    pub(super) fn is_safe(&self) -> bool {
        !matches!(self, Test::Run(_))
    }
}

impl Many {
    /// Returns the items in a state.
    pub(super) fn items(&self, state: &[u64]) -> Result<&[Number], Fault> {
        match self {
            Many::Items(items) => Ok(items),
            Many::Choice(condition, then, otherwise) => match condition.eval(state)? {
                true => then.items(state),
                false => otherwise.items(state),
            },
        }
    }
}

/// Compiles the expressions of one system.
pub(super) struct Compiler<'a> {
    pub(super) exprs: &'a Exprs,
    pub(super) layout: &'a Layout,
    /// The values of quantified variables.
    locals: Vec<(LocalId, Number)>,
}

fn run<T>(f: impl Fn(&[u64]) -> Result<T, Fault> + Send + Sync + 'static) -> Run<T> {
    Arc::new(f)
}

impl<'a> Compiler<'a> {
    pub(super) fn new(exprs: &'a Exprs, layout: &'a Layout) -> Compiler<'a> {
        Compiler {
            exprs,
            layout,
            locals: Vec::new(),
        }
    }

    /// Compiles a condition.
    pub(super) fn test(&mut self, id: ExprId) -> Test {
        match self.exprs.get(id) {
            Expr::Const(Value::Bool(value)) => Test::Const(*value),
            Expr::State(var) => match self.layout.slot(*var) {
                Some(slot) => is(slot, 1),
                None => unsupported_test(),
            },
            Expr::Not(a) => match self.test(*a) {
                Test::Const(value) => Test::Const(!value),
                Test::Is(word, mask, bits) => Test::IsNot(word, mask, bits),
                Test::IsNot(word, mask, bits) => Test::Is(word, mask, bits),
                Test::Run(a) => Test::Run(run(move |state| Ok(!a(state)?))),
            },
            Expr::And(a, b) => match (self.test(*a), self.test(*b)) {
                (Test::Const(true), other) | (other, Test::Const(true)) => other,
                (Test::Const(false), _) => Test::Const(false),
                (Test::Is(word, mask, bits), Test::Is(other, more, set))
                    if word == other && mask & more == 0 =>
                {
                    Test::Is(word, mask | more, bits | set)
                }
                (a, b) => Test::Run(run(move |state| Ok(a.eval(state)? && b.eval(state)?))),
            },
            Expr::Or(a, b) => {
                let (a, b) = (self.test(*a), self.test(*b));
                Test::Run(run(move |state| Ok(a.eval(state)? || b.eval(state)?)))
            }
            Expr::Implies(a, b) => {
                let (a, b) = (self.test(*a), self.test(*b));
                Test::Run(run(move |state| Ok(!a.eval(state)? || b.eval(state)?)))
            }
            Expr::Iff(a, b) => {
                let (a, b) = (self.test(*a), self.test(*b));
                Test::Run(run(move |state| Ok(a.eval(state)? == b.eval(state)?)))
            }
            Expr::Compare(Compare::Eq, a, b) => self.equal(*a, *b),
            Expr::Compare(order, a, b) => {
                let (order, a, b) = (*order, self.number(*a), self.number(*b));
                Test::Run(run(move |state| {
                    let (a, b) = (a.eval(state)?, b.eval(state)?);
                    // Order comparisons with null are false.
                    Ok(a != NULL
                        && b != NULL
                        && match order {
                            Compare::Eq => a == b,
                            Compare::Lt => a < b,
                            Compare::Le => a <= b,
                            Compare::Gt => a > b,
                            Compare::Ge => a >= b,
                        })
                }))
            }
            Expr::In(item, many) | Expr::Contains(many, item) => {
                let (item, many) = (self.number(*item), self.many(*many));
                Test::Run(run(move |state| {
                    let item = item.eval(state)?;
                    for other in many.items(state)? {
                        if other.eval(state)? == item {
                            return Ok(true);
                        }
                    }
                    Ok(false)
                }))
            }
            Expr::If(condition, a, b) => {
                let (condition, a, b) = (self.test(*condition), self.test(*a), self.test(*b));
                Test::Run(run(move |state| match condition.eval(state)? {
                    true => a.eval(state),
                    false => b.eval(state),
                }))
            }
            Expr::Quantifier {
                kind: kind @ (Quantifier::Any | Quantifier::All),
                local,
                over,
                body,
            } => {
                let (kind, local, over, body) = (*kind, *local, *over, *body);
                let many = self.many(over);
                let each = self.each(&many, local, &mut |compiler| compiler.test(body));
                Test::Run(run(move |state| {
                    for test in each.items(state)? {
                        if test.eval(state)? == (kind == Quantifier::Any) {
                            return Ok(kind == Quantifier::Any);
                        }
                    }
                    Ok(kind == Quantifier::All)
                }))
            }
            _ => {
                let number = self.number(id);
                Test::Run(run(move |state| Ok(number.eval(state)? == 1)))
            }
        }
    }

    fn equal(&mut self, a: ExprId, b: ExprId) -> Test {
        // Values of different types are unequal, unless both are null.
        let only_null = !same_kind(self.exprs.ty(a), self.exprs.ty(b));
        let (a, b) = (self.number(a), self.number(b));
        match (a, b) {
            (Number::Var(slot), Number::Const(value))
            | (Number::Const(value), Number::Var(slot)) => match slot.position(value) {
                Some(position) if !only_null || value == NULL => is(slot, position),
                _ => Test::Const(false),
            },
            (a, b) => Test::Run(run(move |state| {
                let (a, b) = (a.eval(state)?, b.eval(state)?);
                Ok(a == b && (!only_null || a == NULL))
            })),
        }
    }

    /// Compiles a number, or another value as the number that encodes it.
    pub(super) fn number(&mut self, id: ExprId) -> Number {
        match self.exprs.get(id) {
            Expr::Const(value) => number_of(value).map_or_else(unsupported_number, Number::Const),
            Expr::State(var) => match self.layout.slot(*var) {
                Some(slot) => Number::Var(slot),
                None => unsupported_number(),
            },
            Expr::Local(local) => {
                let bound = self.locals.iter().rev().find(|(other, _)| other == local);
                bound.map_or_else(unsupported_number, |(_, number)| number.clone())
            }
            Expr::Neg(a) => {
                let a = self.number(*a);
                Number::Run(run(move |state| {
                    definite(a.eval(state)?)?
                        .checked_neg()
                        .ok_or(Fault::Overflow)
                }))
            }
            Expr::Arith(op, a, b) => {
                let (op, a, b) = (*op, self.number(*a), self.number(*b));
                let apply = move |a: i64, b: i64| match op {
                    Arith::Add => a.checked_add(b),
                    Arith::Sub => a.checked_sub(b),
                    Arith::Mul => a.checked_mul(b),
                    Arith::Div => None,
                };
                if let (Number::Const(a), Number::Const(b)) = (&a, &b)
                    && let Some(value) = apply(*a, *b)
                {
                    return Number::Const(value);
                }
                Number::Run(run(move |state| {
                    let (a, b) = (definite(a.eval(state)?)?, definite(b.eval(state)?)?);
                    apply(a, b).ok_or(Fault::Overflow)
                }))
            }
            Expr::Coalesce(a, b) => {
                let (a, b) = (self.number(*a), self.number(*b));
                Number::Run(run(move |state| match a.eval(state)? {
                    NULL => b.eval(state),
                    value => Ok(value),
                }))
            }
            Expr::If(condition, a, b) => {
                let (condition, a, b) = (self.test(*condition), self.number(*a), self.number(*b));
                Number::Run(run(move |state| match condition.eval(state)? {
                    true => a.eval(state),
                    false => b.eval(state),
                }))
            }
            Expr::Call(builtin, args) => self.call(*builtin, args),
            Expr::Quantifier {
                kind: Quantifier::Count,
                local,
                over,
                body,
            } => {
                let (local, over, body) = (*local, *over, *body);
                let many = self.many(over);
                let each = self.each(&many, local, &mut |compiler| compiler.test(body));
                Number::Run(run(move |state| {
                    let mut count = 0;
                    for test in each.items(state)? {
                        count += i64::from(test.eval(state)?);
                    }
                    Ok(count)
                }))
            }
            Expr::Not(_)
            | Expr::And(..)
            | Expr::Or(..)
            | Expr::Implies(..)
            | Expr::Iff(..)
            | Expr::Compare(..)
            | Expr::In(..)
            | Expr::Contains(..)
            | Expr::Quantifier { .. } => {
                let test = self.test(id);
                Number::Run(run(move |state| Ok(i64::from(test.eval(state)?))))
            }
            _ => unsupported_number(),
        }
    }

    fn call(&mut self, builtin: Builtin, args: &[ExprId]) -> Number {
        let args: Vec<Number> = args.iter().map(|arg| self.number(*arg)).collect();
        match (builtin, args.as_slice()) {
            (Builtin::Min | Builtin::Max, [_, ..]) => Number::Run(run(move |state| {
                let mut best: Option<i64> = None;
                for arg in &args {
                    let arg = definite(arg.eval(state)?)?;
                    best = Some(match best {
                        None => arg,
                        Some(best) if builtin == Builtin::Min => best.min(arg),
                        Some(best) => best.max(arg),
                    });
                }
                best.ok_or(Fault::Unsupported)
            })),
            (Builtin::Abs, [arg]) => {
                let arg = arg.clone();
                Number::Run(run(move |state| {
                    definite(arg.eval(state)?)?
                        .checked_abs()
                        .ok_or(Fault::Overflow)
                }))
            }
            (Builtin::Mod, [a, b]) => {
                let (a, b) = (a.clone(), b.clone());
                Number::Run(run(move |state| {
                    let (a, b) = (definite(a.eval(state)?)?, definite(b.eval(state)?)?);
                    if b == 0 {
                        return Err(Fault::DivisionByZero);
                    }
                    let remainder = a.checked_rem(b).unwrap_or(0);
                    // The remainder has the sign of the divisor.
                    Ok(if remainder != 0 && (remainder < 0) != (b < 0) {
                        remainder + b
                    } else {
                        remainder
                    })
                }))
            }
            _ => unsupported_number(),
        }
    }

    /// Compiles a set or list.
    pub(super) fn many(&mut self, id: ExprId) -> Many {
        match self.exprs.get(id) {
            Expr::Const(Value::Set(values)) => Many::Items(values.iter().map(constant).collect()),
            Expr::Const(Value::List(values)) => Many::Items(values.iter().map(constant).collect()),
            Expr::Const(Value::Null) => Many::Items(Vec::new()),
            Expr::Set(items) | Expr::List(items) => {
                Many::Items(items.iter().map(|item| self.number(*item)).collect())
            }
            Expr::If(condition, a, b) => {
                let condition = self.test(*condition);
                Many::Choice(condition, Box::new(self.many(*a)), Box::new(self.many(*b)))
            }
            Expr::Arith(Arith::Add, a, b) => {
                let (a, b) = (self.many(*a), self.many(*b));
                joined(a, b)
            }
            _ => Many::Items(vec![unsupported_number()]),
        }
    }

    /// Compiles an expression for each item of a set or list.
    fn each<T>(
        &mut self,
        many: &Many,
        local: LocalId,
        make: &mut dyn FnMut(&mut Self) -> T,
    ) -> Each<T> {
        match many {
            Many::Items(items) => Each::Items(
                items
                    .iter()
                    .map(|item| {
                        self.locals.push((local, item.clone()));
                        let made = make(self);
                        self.locals.pop();
                        made
                    })
                    .collect(),
            ),
            Many::Choice(condition, a, b) => {
                let (a, b) = (self.each(a, local, make), self.each(b, local, make));
                Each::Choice(condition.clone(), Box::new(a), Box::new(b))
            }
        }
    }
}

/// A result for each item of a [`Many`].
enum Each<T> {
    Items(Vec<T>),
    Choice(Test, Box<Each<T>>, Box<Each<T>>),
}

impl<T> Each<T> {
    fn items(&self, state: &[u64]) -> Result<&[T], Fault> {
        match self {
            Each::Items(items) => Ok(items),
            Each::Choice(condition, then, otherwise) => match condition.eval(state)? {
                true => then.items(state),
                false => otherwise.items(state),
            },
        }
    }
}

/// Returns two lists as one.
fn joined(a: Many, b: Many) -> Many {
    match (a, b) {
        (Many::Items(mut a), Many::Items(b)) => {
            a.extend(b);
            Many::Items(a)
        }
        (Many::Choice(condition, then, otherwise), b) => Many::Choice(
            condition,
            Box::new(joined(*then, b.clone())),
            Box::new(joined(*otherwise, b)),
        ),
        (a, Many::Choice(condition, then, otherwise)) => Many::Choice(
            condition,
            Box::new(joined(a.clone(), *then)),
            Box::new(joined(a, *otherwise)),
        ),
    }
}

fn is(slot: Slot, position: u64) -> Test {
    Test::Is(slot.word, slot.mask, position << slot.shift)
}

fn definite(number: i64) -> Result<i64, Fault> {
    match number {
        NULL => Err(Fault::Null),
        number => Ok(number),
    }
}

fn same_kind(a: &Type, b: &Type) -> bool {
    match (a.non_null(), b.non_null()) {
        (Type::Null | Type::Error, _) | (_, Type::Null | Type::Error) => true,
        (a, b) => a == b,
    }
}

/// Returns the number that encodes a value.
fn number_of(value: &Value) -> Option<i64> {
    match value {
        Value::Null => Some(NULL),
        Value::Bool(value) => Some(i64::from(*value)),
        Value::Enum(value) => Some(i64::from(value.index)),
        Value::Number(number) => i64::try_from(number.to_int()?)
            .ok()
            .filter(|int| *int != NULL),
        _ => None,
    }
}

fn constant(value: &Value) -> Number {
    number_of(value).map_or_else(unsupported_number, Number::Const)
}

fn unsupported_number() -> Number {
    Number::Run(run(|_| Err(Fault::Unsupported)))
}

fn unsupported_test() -> Test {
    Test::Run(run(|_| Err(Fault::Unsupported)))
}
