//! Expressions: their value at a step, computed from the whole history.
//!
//! Every operator is evaluated from its definition by recursion, at the requested step; only the folds of tracks are
//! stored. Operators are strict in unknown except `and or -> if cases any all in`, which have a value if the known
//! operands decide it, and comparisons of counts.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::ops::RangeInclusive;

use super::clock::Clock;
use super::{builtin, ops};
use guard_lang::hir::{Arith, Compare, Expr, Quantifier, Spec};
use guard_lang::ids::{ExprId, LocalId, TrackId};
use guard_lang::types::Type;
use guard_lang::value::{Cell, EnumValue, Number, Truth, Value};

/// The values that an expression may have; `None` for any value of an infinite type.
pub(super) type Possible = Option<BTreeSet<Value>>;

/// A track and the arguments of its parameters.
pub(super) type TrackKey = (TrackId, Vec<Value>);

/// The steps of one trace, and what has been computed for them.
#[derive(Debug)]
pub(super) struct Ctx<'a> {
    pub(super) spec: &'a Spec,
    pub(super) meta: &'a [Cell],
    /// The index and the cells of every event that is a step.
    pub(super) steps: Vec<(u32, &'a [Cell])>,
    pub(super) clock: Clock,
    /// The folds: the possible values of a track after 0, 1, 2, … steps.
    pub(super) tracks: RefCell<HashMap<TrackKey, Vec<Possible>>>,
    /// A track that was read, has several possible values, and has no assumed one.
    pub(super) choice: RefCell<Option<(TrackKey, BTreeSet<Value>)>>,
    /// Data errors: the index of the step and the message.
    pub(super) errors: RefCell<BTreeSet<(u32, String)>>,
}

/// The bindings of names.
#[derive(Clone, Debug, Default)]
pub(super) struct Env<'e> {
    /// The quantified variables of the property.
    pub(super) vars: &'e [Cell],
    /// The parameters of the track whose update is evaluated.
    pub(super) params: &'e [Value],
    /// The variables of quantifiers over lists, innermost last.
    pub(super) locals: Vec<(LocalId, Cell)>,
    /// The values assumed for tracks that may have several.
    pub(super) assumed: Vec<(TrackKey, Value)>,
    /// Whether the update of a track is evaluated, in which tracks have their value *before* the event; elsewhere they
    /// have the value *after* it.
    pub(super) in_update: bool,
}

impl<'a> Ctx<'a> {
    pub(super) fn new(spec: &'a Spec, meta: &'a [Cell], steps: Vec<(u32, &'a [Cell])>) -> Ctx<'a> {
        let cell = |cells: &'a [Cell]| spec.schema.clock.and_then(|field| cells.get(field));
        let clock = Clock::new(steps.iter().map(|(_, cells)| cell(cells)));
        let ctx = Ctx {
            spec,
            meta,
            steps,
            clock,
            tracks: RefCell::default(),
            choice: RefCell::default(),
            errors: RefCell::default(),
        };
        for &step in &ctx.clock.ran_back {
            ctx.error(step, "the clock runs back".to_owned());
        }
        ctx
    }

    /// Records a data error; the value is then unknown.
    pub(super) fn error(&self, step: usize, message: String) -> Cell {
        let index = self.steps.get(step).map_or(0, |(index, _)| *index);
        self.errors.borrow_mut().insert((index, message));
        Cell::Unknown
    }

    /// Returns the value of an expression at a step; known if it is the same for all possible values of the tracks that
    /// it reads.
    pub(super) fn value(&self, env: &Env<'_>, id: ExprId, i: usize) -> Cell {
        let here = Env {
            assumed: Vec::new(),
            ..env.clone()
        };
        one(self.worlds(&here, &|env| possible(self.eval(env, id, i))))
    }

    /// Returns the truth of an expression at a step.
    pub(super) fn holds(&self, env: &Env<'_>, id: ExprId, i: usize) -> Truth {
        self.truth_of(self.value(env, id, i), i)
    }

    fn truth_of(&self, cell: Cell, i: usize) -> Truth {
        match cell {
            Cell::Known(Value::Bool(value)) => Truth::from(value),
            Cell::Known(Value::Null) => Truth::Unknown,
            Cell::Known(other) => {
                self.error(i, format!("{} is no Boolean", ops::kind(&other)));
                Truth::Unknown
            }
            Cell::Unknown => Truth::Unknown,
        }
    }

    /// Returns all values that `run` may have, over every combination of possible values of the tracks that it reads.
    pub(super) fn worlds(&self, env: &Env<'_>, run: &dyn Fn(&Env<'_>) -> Possible) -> Possible {
        let outer = self.choice.take();
        let result = run(env);
        match self.choice.replace(outer) {
            None => result,
            Some((key, values)) => {
                let mut all = BTreeSet::new();
                for value in values {
                    let mut env = env.clone();
                    env.assumed.push((key.clone(), value));
                    all.extend(self.worlds(&env, run)?);
                }
                Some(all)
            }
        }
    }

    /// Returns the truth in one world.
    fn truth(&self, env: &Env<'_>, id: ExprId, i: usize) -> Truth {
        let cell = self.eval(env, id, i);
        self.truth_of(cell, i)
    }

    /// Returns the value in one world, where tracks have their assumed values.
    pub(super) fn eval(&self, env: &Env<'_>, id: ExprId, i: usize) -> Cell {
        let exprs = &self.spec.exprs;
        match exprs.get(id) {
            Expr::Const(value) => Cell::Known(value.clone()),
            Expr::Unknown | Expr::Todo(_) => Cell::Unknown,
            Expr::Field(field) => cell(self.steps.get(i).and_then(|(_, cells)| cells.get(*field))),
            Expr::Meta(field) => cell(self.meta.get(*field)),
            Expr::Param(param) => env
                .params
                .get(*param)
                .map_or(Cell::Unknown, |value| Cell::Known(value.clone())),
            Expr::Var(var) => cell(env.vars.get(*var)),
            Expr::Local(local) => cell(
                env.locals
                    .iter()
                    .rev()
                    .find(|(id, _)| id == local)
                    .map(|(_, cell)| cell),
            ),
            Expr::Track(track, args) => {
                let args: Option<Vec<Value>> = args
                    .iter()
                    .map(|arg| known(self.eval(env, *arg, i)))
                    .collect();
                args.map_or(Cell::Unknown, |args| self.track(env, (*track, args), i))
            }
            Expr::And(lhs, rhs) => from_truth(match self.truth(env, *lhs, i) {
                Truth::False => Truth::False,
                lhs => lhs.and(self.truth(env, *rhs, i)),
            }),
            Expr::Or(lhs, rhs) => from_truth(match self.truth(env, *lhs, i) {
                Truth::True => Truth::True,
                lhs => lhs.or(self.truth(env, *rhs, i)),
            }),
            Expr::Implies(lhs, rhs) => from_truth(match self.truth(env, *lhs, i) {
                Truth::False => Truth::True,
                lhs => lhs.implies(self.truth(env, *rhs, i)),
            }),
            Expr::Iff(lhs, rhs) => {
                from_truth(self.truth(env, *lhs, i).iff(self.truth(env, *rhs, i)))
            }
            Expr::Not(operand) => from_truth(!self.truth(env, *operand, i)),
            Expr::If(condition, yes, no) => match self.truth(env, *condition, i) {
                Truth::True => self.eval(env, *yes, i),
                Truth::False => self.eval(env, *no, i),
                Truth::Unknown => {
                    let (yes, no) = (self.eval(env, *yes, i), self.eval(env, *no, i));
                    if yes == no { yes } else { Cell::Unknown }
                }
            },
            // `??` replaces null, not unknown.
            Expr::Coalesce(lhs, rhs) => match self.eval(env, *lhs, i) {
                Cell::Known(Value::Null) => self.eval(env, *rhs, i),
                lhs => lhs,
            },
            Expr::In(item, list) => {
                let item = self.eval(env, *item, i);
                let items = self.elements(env, *list, i);
                from_truth(items.map_or(Truth::Unknown, |items| {
                    items
                        .iter()
                        .fold(Truth::False, |found, other| found.or(same(&item, other)))
                }))
            }
            Expr::Quantifier {
                kind,
                local,
                over,
                body,
            } => self.quantifier(env, (*kind, *local, *over, *body), i),
            Expr::Before(_) | Expr::Count { .. } | Expr::Past(..) => self.history(env, id, i),
            _ => {
                let operands = exprs
                    .operands(id)
                    .into_iter()
                    .map(|operand| known(self.eval(env, operand, i)));
                match (operands.collect::<Option<Vec<Value>>>(), exprs.get(id)) {
                    (Some(operands), _) => self.apply(id, &operands, i),
                    (None, Expr::Compare(op, a, b)) => self.compared(env, (*op, *a, *b), i),
                    (None, _) => Cell::Unknown,
                }
            }
        }
    }

    /// Compares two integers of which counts with unknown steps or elements are part: all numbers that each side may have are
    /// tried, and the value is known only if all results agree.
    fn compared(&self, env: &Env<'_>, node: (Compare, ExprId, ExprId), i: usize) -> Cell {
        let (op, a, b) = node;
        let Some((a, b)) = self.numbers(env, a, i).zip(self.numbers(env, b, i)) else {
            return Cell::Unknown;
        };
        let pairs = a.flat_map(|a| b.clone().map(move |b| (Value::int(a), Value::int(b))));
        let mut results = pairs.map(|(a, b)| ops::compare(op, &a, &b).ok());
        match results.next().flatten() {
            Some(first) if results.all(|next| next.as_ref() == Some(&first)) => Cell::Known(first),
            _ => Cell::Unknown,
        }
    }

    /// Returns the integers that a known integer, a count, or a sum or difference of them may be.
    fn numbers(&self, env: &Env<'_>, id: ExprId, i: usize) -> Option<RangeInclusive<i128>> {
        match known(self.eval(env, id, i)) {
            Some(Value::Number(Number::Int(number))) => return Some(number..=number),
            Some(_) => return None,
            None => {}
        }
        match self.spec.exprs.get(id) {
            Expr::Count { of, window, since } => {
                let (least, most) = self.counts(env, *of, *window, *since, i);
                Some(least as i128..=most as i128)
            }
            Expr::Quantifier {
                kind: Quantifier::Count,
                local,
                over,
                body,
            } => {
                let truths = self.element_truths(env, (*local, *over, *body), i)?;
                let least = truths.iter().filter(|truth| **truth == Truth::True);
                let most = truths.iter().filter(|truth| **truth != Truth::False);
                Some(least.count() as i128..=most.count() as i128)
            }
            Expr::Arith(op @ (Arith::Add | Arith::Sub), a, b) => {
                let (a, b) = self.numbers(env, *a, i).zip(self.numbers(env, *b, i))?;
                Some(match op {
                    Arith::Add => {
                        a.start().checked_add(*b.start())?..=a.end().checked_add(*b.end())?
                    }
                    _ => a.start().checked_sub(*b.end())?..=a.end().checked_sub(*b.start())?,
                })
            }
            _ => None,
        }
    }

    /// Returns the elements of a list, or `None` if they are unknown. Elements of a list expression may be unknown
    /// individually.
    fn elements(&self, env: &Env<'_>, list: ExprId, i: usize) -> Option<Vec<Cell>> {
        if let Expr::List(items) | Expr::Set(items) = self.spec.exprs.get(list) {
            return Some(items.iter().map(|item| self.eval(env, *item, i)).collect());
        }
        match ops::elements(&known(self.eval(env, list, i))?) {
            Ok(items) => Some(items.into_iter().map(Cell::Known).collect()),
            Err(message) => {
                self.error(i, message);
                None
            }
        }
    }

    /// Returns the value of `any`, `all`, `count` or `map` over a list. Null counts as the empty list, except that
    /// `map` of null is null; any other value that is not a list is unknown and a data error.
    fn quantifier(
        &self,
        env: &Env<'_>,
        node: (Quantifier, LocalId, ExprId, ExprId),
        i: usize,
    ) -> Cell {
        let (kind, local, over, body) = node;
        if kind == Quantifier::Map {
            let Some(items) = self.elements(env, over, i) else {
                return Cell::Unknown;
            };
            // `elements` returns an empty list for null, but `map` of null is null.
            if self.eval(env, over, i) == Cell::Known(Value::Null) {
                return Cell::Known(Value::Null);
            }
            let each = items.into_iter().map(|item| {
                let mut env = env.clone();
                env.locals.push((local, item));
                known(self.eval(&env, body, i))
            });
            let made: Option<Vec<Value>> = each.collect();
            return made.map_or(Cell::Unknown, |items| Cell::Known(Value::list(items)));
        }
        let Some(truths) = self.element_truths(env, (local, over, body), i) else {
            return Cell::Unknown;
        };
        match kind {
            Quantifier::Any => from_truth(truths.into_iter().fold(Truth::False, Truth::or)),
            Quantifier::All => from_truth(truths.into_iter().fold(Truth::True, Truth::and)),
            Quantifier::Map => Cell::Unknown,
            Quantifier::Count if truths.contains(&Truth::Unknown) => Cell::Unknown,
            Quantifier::Count => {
                count(truths.iter().filter(|truth| **truth == Truth::True).count())
            }
        }
    }

    /// Returns the truth of a condition for each element of a list, or `None` if the elements are unknown.
    fn element_truths(
        &self,
        env: &Env<'_>,
        node: (LocalId, ExprId, ExprId),
        i: usize,
    ) -> Option<Vec<Truth>> {
        let (local, over, body) = node;
        let each = self.elements(env, over, i)?.into_iter().map(|item| {
            let mut env = env.clone();
            env.locals.push((local, item));
            self.truth(&env, body, i)
        });
        Some(each.collect())
    }

    /// Applies a strict operator to known operands. A data error is recorded and gives unknown.
    pub(super) fn apply(&self, id: ExprId, operands: &[Value], i: usize) -> Cell {
        let exprs = &self.spec.exprs;
        let ty = exprs.ty(id);
        let outcome = match (exprs.get(id), operands) {
            (Expr::Member(_, name), [object]) => ops::member(object, name),
            (Expr::Index(..), [whole, at]) => ops::index(whole, at),
            (Expr::Compare(op, ..), [lhs, rhs]) => ops::compare(*op, lhs, rhs),
            (Expr::Contains(whole, part), [of, value]) => {
                let is_identity = matches!(exprs.get(*part), Expr::Var(_) | Expr::Param(_));
                match exprs.ty(*whole).non_null() {
                    Type::Json if !is_identity => ops::contains_any(of, value),
                    _ => ops::contains(of, value),
                }
            }
            (Expr::StartsWith(..), [lhs, rhs]) => {
                ops::affix(lhs, rhs, |text, part| text.starts_with(part))
            }
            (Expr::EndsWith(..), [lhs, rhs]) => {
                ops::affix(lhs, rhs, |text, part| text.ends_with(part))
            }
            (Expr::Matches(_, regex), [text]) => ops::matches(text, exprs.regex(*regex)),
            (Expr::Arith(op, ..), [lhs, rhs]) => ops::arith(
                *op,
                lhs,
                rhs,
                *ty.non_null() == Type::Float || *op == Arith::Div,
            ),
            (Expr::Neg(_), [value]) => ops::negate(value),
            (Expr::Cast(_), [value]) => ops::cast(value, ty),
            (Expr::Call(function, _), args) => builtin::call(*function, args),
            (Expr::Capture(_, regex, group), [text]) => {
                ops::capture(text, exprs.regex(*regex), *group)
            }
            (Expr::Replace(_, regex, _), [text, with]) => {
                ops::replace(text, exprs.regex(*regex), with)
            }
            (Expr::List(_), items) => Ok(Value::list(items.to_vec())),
            (Expr::Set(_), items) => Ok(Value::Set(items.iter().cloned().collect())),
            (Expr::Record(members), values) => {
                let members = members
                    .iter()
                    .zip(values)
                    .map(|((name, _), value)| (name.clone(), value.clone()));
                guard_lang::value::Object::new(members.collect())
                    .map(Value::Object)
                    .map_err(|key| format!("duplicate key `{key}`"))
            }
            (other, _) => Err(format!("{other:?} has wrong operands")),
        };
        outcome.map_or_else(|message| self.error(i, message), Cell::Known)
    }
}

/// Returns all values of a finite type; `None` for other types.
pub(super) fn values_of(ty: &Type) -> Possible {
    let mut values: BTreeSet<Value> = match ty.non_null() {
        Type::Bool => [false, true].map(Value::Bool).into(),
        Type::Enum(of) => {
            let count = u16::try_from(of.values.len()).unwrap_or(u16::MAX);
            (0..count)
                .map(|index| {
                    Value::Enum(EnumValue {
                        of: of.number,
                        index,
                    })
                })
                .collect()
        }
        _ => return None,
    };
    if ty.may_be_null() {
        values.insert(Value::Null);
    }
    Some(values)
}

/// Returns the only possible value; unknown if there are several.
pub(super) fn one(values: Possible) -> Cell {
    match values.map(|values| (values.len(), values.into_iter().next())) {
        Some((1, Some(value))) => Cell::Known(value),
        _ => Cell::Unknown,
    }
}

pub(super) fn possible(cell: Cell) -> Possible {
    known(cell).map(|value| BTreeSet::from([value]))
}

pub(super) fn known(cell: Cell) -> Option<Value> {
    match cell {
        Cell::Known(value) => Some(value),
        Cell::Unknown => None,
    }
}

pub(super) fn from_truth(truth: Truth) -> Cell {
    truth
        .known()
        .map_or(Cell::Unknown, |value| Cell::Known(Value::Bool(value)))
}

pub(super) fn count(number: usize) -> Cell {
    Cell::Known(Value::int(i128::try_from(number).unwrap_or(i128::MAX)))
}

fn cell(cell: Option<&Cell>) -> Cell {
    cell.cloned().unwrap_or(Cell::Unknown)
}

fn same(lhs: &Cell, rhs: &Cell) -> Truth {
    match (lhs, rhs) {
        (Cell::Known(lhs), Cell::Known(rhs)) => Truth::from(lhs == rhs),
        _ => Truth::Unknown,
    }
}
