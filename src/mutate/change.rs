//! The changes that make mutants.

use smol_str::SmolStr;

use crate::hir::{Atom, Binary, Bound, Compare, Expr, Formula, Formulas, Spec, Unary, print};
use crate::ids::{AtomId, ExprId, FormulaId};
use crate::types::Type;
use crate::value::{Number, Value};

/// A small change at one place of a formula. The same change can be made in every use of a template.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Change {
    /// The path to the place.
    path: Vec<usize>,
    kind: Kind,
}

/// The kind of change.
#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// The node is replaced by its operand.
    Only(usize),
    /// A negation is put before it.
    Negate,
    /// Its operands are swapped.
    Swap,
    /// Another operator with one operand.
    Unary(Unary),
    /// Another operator with two operands.
    Binary(Binary),
    /// A connective for another.
    Connective(Connective),
    /// The ends of a bound are moved by steps or units of time.
    Move(i128, i128),
    /// The bound is removed.
    Unbound,
    /// `or end` is removed.
    Strict,
    /// The number that a condition compares with is moved by this.
    Threshold(i64),
    /// The comparison of a condition is made strict, or not strict.
    Strictness,
    /// Two letters of the whole formula are swapped.
    Exchange(usize, usize),
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Connective {
    And,
    Or,
    Implies,
    Iff,
}

/// The greatest number of places of one formula that are changed.
const PLACES: usize = 200;
/// The greatest number of letters of one formula that are swapped with each other.
const EXCHANGED: usize = 5;

/// Returns all changes of a formula, in the order of its text. Bounds in time are moved by `unit`, in attoseconds.
pub(super) fn changes(spec: &Spec, root: FormulaId, unit: Option<i128>) -> Vec<Change> {
    let formulas = &spec.formulas;
    let mut changes = Vec::new();
    let mut todo = vec![(root, Vec::new())];
    let mut places = 0;
    while let Some((part, path)) = todo.pop() {
        places += 1;
        if places > PLACES {
            break;
        }
        changes.extend(kinds(spec, part, unit).into_iter().map(|kind| Change {
            path: path.clone(),
            kind,
        }));
        let below =
            |(part, below): (FormulaId, &[usize])| (part, [path.as_slice(), below].concat());
        if let Some((when, _, then)) = leads(formulas, part) {
            todo.extend([(then, &THEN[..]), (when, &WHEN[..])].map(below));
            continue;
        }
        let operands = formulas.operands(part).into_iter().enumerate().rev();
        todo.extend(operands.map(|(place, part)| below((part, &[place]))));
    }
    let n_letters = formulas.atoms_of(root).len().min(EXCHANGED);
    for a in 0..n_letters {
        for b in a + 1..n_letters {
            changes.push(Change {
                path: Vec::new(),
                kind: Kind::Exchange(a, b),
            });
        }
    }
    changes
}

/// The paths to the operands of `leads to` with `or end`, which is changed as one operator.
const WHEN: [usize; 2] = [0, 0];
const THEN: [usize; 4] = [0, 1, 0, 0];

/// Returns the parts of `a leads to b within … or end`: `a`, the bound and `b`.
fn leads(formulas: &Formulas, part: FormulaId) -> Option<(FormulaId, Bound, FormulaId)> {
    match formulas.get(part) {
        Formula::Unary(Unary::Always, None, inner) => formulas.forgiven(*inner),
        _ => None,
    }
}

fn kinds(spec: &Spec, part: FormulaId, unit: Option<i128>) -> Vec<Kind> {
    let formulas = &spec.formulas;
    if let Some((_, bound, _)) = leads(formulas, part) {
        return [bounds(Some(bound), unit), vec![Kind::Strict, Kind::Swap]].concat();
    }
    use Connective::{And, Iff, Implies, Or};
    let connectives = |kinds: &[Connective]| kinds.iter().copied().map(Kind::Connective).collect();
    match formulas.get(part) {
        Formula::True | Formula::False => vec![Kind::Negate],
        Formula::Atom(atom) => {
            let mut kinds = vec![Kind::Negate];
            let expr = formulas.atom(*atom).expr;
            if let Some((place, _)) = threshold(spec, expr) {
                kinds.extend([Kind::Threshold(-1), Kind::Threshold(1)]);
                // Of whole numbers, `< 3` is `<= 2`.
                let other = spec.exprs.operands(expr).into_iter().nth(1 - place);
                let is_whole = |id| matches!(spec.exprs.ty(id).non_null(), Type::Int);
                if !other.is_some_and(is_whole) {
                    kinds.push(Kind::Strictness);
                }
            }
            kinds
        }
        Formula::Last => vec![Kind::Negate],
        Formula::Not(_) => vec![Kind::Only(0)],
        Formula::And(..) => [
            vec![Kind::Only(0), Kind::Only(1)],
            connectives(&[Or, Implies]),
        ]
        .concat(),
        Formula::Or(..) => [vec![Kind::Only(0), Kind::Only(1)], connectives(&[And])].concat(),
        Formula::Implies(..) => {
            let other: Vec<Kind> = connectives(&[And, Or, Iff]);
            [vec![Kind::Swap, Kind::Only(1)], other].concat()
        }
        Formula::Iff(..) => connectives(&[Implies, And]),
        Formula::Unary(op, bound, _) => {
            let mut kinds = bounds(*bound, unit);
            let near = op.near().iter();
            let near = near.filter(|op| bound.is_none() || op.takes_bound());
            kinds.extend(near.map(|op| Kind::Unary(*op)));
            kinds.push(Kind::Only(0));
            kinds
        }
        Formula::Binary(op, bound, ..) => {
            let mut kinds = bounds(*bound, unit);
            kinds.extend(op.near().iter().map(|op| Kind::Binary(*op)));
            kinds.extend([Kind::Swap, Kind::Only(1)]);
            kinds
        }
    }
}

/// Returns the changes of a bound: each end moved by one step or unit of time, and no bound.
fn bounds(bound: Option<Bound>, unit: Option<i128>) -> Vec<Kind> {
    let by = match bound {
        Some(Bound::Steps(..)) => Some(1),
        Some(Bound::Time(..)) => unit,
        None => None,
    };
    by.map_or_else(Vec::new, |by| {
        vec![
            Kind::Move(-by, 0),
            Kind::Move(by, 0),
            Kind::Move(0, -by),
            Kind::Move(0, by),
            Kind::Unbound,
        ]
    })
}

impl Change {
    /// Returns the formula with the change made, or `None` if the change does not apply.
    pub(super) fn of(&self, spec: &mut Spec, root: FormulaId) -> Option<FormulaId> {
        let formulas = &mut spec.formulas;
        if let Kind::Exchange(a, b) = self.kind {
            let letters = formulas.atoms_of(root);
            return Some(exchanged(
                formulas,
                root,
                *letters.get(a)?,
                *letters.get(b)?,
            ));
        }
        let part = self.part(formulas, root)?;
        let changed = self.changed(spec, part)?;
        Some(spec.formulas.with_part(root, &self.path, changed))
    }

    /// Describes the change.
    pub(super) fn text(&self, spec: &mut Spec, root: FormulaId) -> String {
        let formulas = &spec.formulas;
        if let Kind::Exchange(a, b) = self.kind {
            let letters = formulas.atoms_of(root);
            let text = |place: usize| {
                letters
                    .get(place)
                    .map_or("", |letter| formulas.atom(*letter).text.as_str())
            };
            return format!("swapped `{}` and `{}`", text(a), text(b));
        }
        let part = self.part(formulas, root).unwrap_or(root);
        let changed = self.changed(spec, part).unwrap_or(part);
        let (new, old) = shortened(
            &print::formula(&spec.formulas, changed),
            &print::formula(&spec.formulas, part),
        );
        format!("`{new}` instead of `{old}`")
    }

    fn part(&self, formulas: &Formulas, root: FormulaId) -> Option<FormulaId> {
        self.path.iter().try_fold(root, |part, place| {
            formulas.operands(part).get(*place).copied()
        })
    }

    /// Returns a condition with another comparison with a number.
    fn compared(&self, spec: &mut Spec, part: FormulaId) -> Option<FormulaId> {
        let Formula::Atom(atom) = *spec.formulas.get(part) else {
            return None;
        };
        let atom = spec.formulas.atom(atom).clone();
        let (place, number) = threshold(spec, atom.expr)?;
        let Expr::Compare(old, lhs, rhs) = *spec.exprs.get(atom.expr) else {
            return None;
        };
        let mut operands = [lhs, rhs];
        let (mut op, mut value) = (old, Value::Number(number.clone()));
        match self.kind {
            Kind::Threshold(by) => {
                value = Value::Number(moved_number(&number, by)?);
                let ty = spec.exprs.ty(operands[place]).clone();
                operands[place] = spec.exprs.add(Expr::Const(value.clone()), ty);
            }
            _ => {
                op = match old {
                    Compare::Lt => Compare::Le,
                    Compare::Le => Compare::Lt,
                    Compare::Gt => Compare::Ge,
                    Compare::Ge => Compare::Gt,
                    Compare::Eq => return None,
                }
            }
        }
        let (new, sign) = (op.sign(), format!(" {} ", old.sign()));
        let text = match place {
            0 => format!("{value} {new} {}", atom.text.split_once(&sign)?.1),
            _ => format!("{} {new} {value}", atom.text.rsplit_once(&sign)?.0),
        };
        let expr = Expr::Compare(op, operands[0], operands[1]);
        let atom = Atom {
            expr: spec.exprs.add(expr, Type::Bool),
            text: SmolStr::from(text),
            span: atom.span,
        };
        let atom = spec.formulas.add_atom(atom);
        Some(spec.formulas.add(Formula::Atom(atom)))
    }

    fn changed(&self, spec: &mut Spec, part: FormulaId) -> Option<FormulaId> {
        if let Kind::Threshold(_) | Kind::Strictness = self.kind {
            return self.compared(spec, part);
        }
        let formulas = &mut spec.formulas;
        if let Some((when, bound, then)) = leads(formulas, part) {
            return match self.kind {
                Kind::Move(low, high) => forgiving(formulas, when, moved(bound, low, high)?, then),
                Kind::Swap => forgiving(formulas, then, bound, when),
                Kind::Strict => Some(leading(formulas, when, Some(bound), then)),
                Kind::Unbound => Some(leading(formulas, when, None, then)),
                _ => None,
            };
        }
        let operands = formulas.operands(part);
        let node = formulas.get(part).clone();
        let changed = match (&self.kind, node, operands.as_slice()) {
            (Kind::Only(place), _, operands) => return operands.get(*place).copied(),
            (Kind::Negate, ..) => Formula::Not(part),
            (Kind::Swap, Formula::Implies(..), [a, b]) => Formula::Implies(*b, *a),
            (Kind::Swap, Formula::Binary(op, bound, ..), [a, b]) => {
                Formula::Binary(op, bound, *b, *a)
            }
            (Kind::Unary(op), Formula::Unary(_, bound, _), [a]) => {
                let takes_bound = op.takes_bound();
                Formula::Unary(*op, bound.filter(|_| takes_bound), *a)
            }
            (Kind::Binary(op), Formula::Binary(_, bound, ..), [a, b]) => {
                let bound = bound.filter(|_| *op == Binary::Until);
                Formula::Binary(*op, bound, *a, *b)
            }
            (Kind::Connective(connective), _, [a, b]) => match connective {
                Connective::And => Formula::And(*a, *b),
                Connective::Or => Formula::Or(*a, *b),
                Connective::Implies => Formula::Implies(*a, *b),
                Connective::Iff => Formula::Iff(*a, *b),
            },
            (Kind::Move(low, high), Formula::Unary(op, Some(bound), _), [a]) => {
                Formula::Unary(op, Some(moved(bound, *low, *high)?), *a)
            }
            (Kind::Move(low, high), Formula::Binary(op, Some(bound), ..), [a, b]) => {
                Formula::Binary(op, Some(moved(bound, *low, *high)?), *a, *b)
            }
            (Kind::Unbound, Formula::Unary(op, Some(_), _), [a]) => Formula::Unary(op, None, *a),
            (Kind::Unbound, Formula::Binary(op, Some(_), ..), [a, b]) => {
                Formula::Binary(op, None, *a, *b)
            }
            _ => return None,
        };
        Some(formulas.add(changed))
    }
}

/// Returns `a leads to b within … or end`, or `a leads to b` if the trace cannot end before the bound does.
fn forgiving(
    formulas: &mut Formulas,
    when: FormulaId,
    bound: Bound,
    then: FormulaId,
) -> Option<FormulaId> {
    let rest = bound.cut_off()?;
    let comes = formulas.add(Formula::Unary(Unary::Eventually, Some(bound), then));
    let last = formulas.add(Formula::Last);
    let ends = formulas.add(Formula::Unary(Unary::Eventually, Some(rest), last));
    let then = formulas.add(Formula::Or(comes, ends));
    let inner = formulas.add(Formula::Implies(when, then));
    Some(formulas.add(Formula::Unary(Unary::Always, None, inner)))
}

/// Returns `a leads to b`, with a bound or without one.
fn leading(
    formulas: &mut Formulas,
    when: FormulaId,
    bound: Option<Bound>,
    then: FormulaId,
) -> FormulaId {
    let comes = formulas.add(Formula::Unary(Unary::Eventually, bound, then));
    let inner = formulas.add(Formula::Implies(when, comes));
    formulas.add(Formula::Unary(Unary::Always, None, inner))
}

/// Returns the place among the operands, and the value, of the number with which a condition compares a value.
fn threshold(spec: &Spec, expr: ExprId) -> Option<(usize, Number)> {
    let Expr::Compare(op, lhs, rhs) = spec.exprs.get(expr) else {
        return None;
    };
    let number = |id: &ExprId| match spec.exprs.get(*id) {
        Expr::Const(Value::Number(number)) => Some(number.clone()),
        _ => None,
    };
    match (op, number(lhs), number(rhs)) {
        (Compare::Eq, ..) | (_, Some(_), Some(_)) => None,
        (_, lhs, rhs) => lhs.map(|lhs| (0, lhs)).or(rhs.map(|rhs| (1, rhs))),
    }
}

fn moved_number(number: &Number, by: i64) -> Option<Number> {
    match number {
        Number::Int(int) => Some(Number::Int(int.checked_add(by.into())?)),
        Number::Float(float) => Number::float(float.get() + by as f64),
        Number::Big(_) => None,
    }
}

/// Longer texts, in columns, are shortened.
const COLUMNS: usize = 40;

/// Returns two texts without their common ending, if they are long.
fn shortened(new: &str, old: &str) -> (String, String) {
    if new.len().max(old.len()) <= COLUMNS {
        return (new.to_owned(), old.to_owned());
    }
    let (mut a, mut b): (Vec<&str>, Vec<&str>) =
        (new.split(' ').collect(), old.split(' ').collect());
    let mut cut = false;
    while a.len() > 1 && b.len() > 1 && a.last() == b.last() {
        a.pop();
        b.pop();
        cut = true;
    }
    let dots = if cut { " …" } else { "" };
    (
        format!("{}{dots}", a.join(" ")),
        format!("{}{dots}", b.join(" ")),
    )
}

/// Returns a bound with its ends moved, if the result is a valid bound.
fn moved(bound: Bound, low: i128, high: i128) -> Option<Bound> {
    match bound {
        Bound::Steps(from, to) => {
            let from = u32::try_from(i128::from(from) + low).ok()?;
            let to = u32::try_from(i128::from(to) + high).ok()?;
            (from <= to).then_some(Bound::Steps(from, to))
        }
        Bound::Time(from, to) => {
            let (from, to) = (from.checked_add(low)?, to.checked_add(high)?);
            (0 <= from && from <= to).then_some(Bound::Time(from, to))
        }
    }
}

/// Returns the formula with two letters swapped.
fn exchanged(formulas: &mut Formulas, part: FormulaId, a: AtomId, b: AtomId) -> FormulaId {
    if let Formula::Atom(letter) = formulas.get(part) {
        let other = match *letter {
            letter if letter == a => b,
            letter if letter == b => a,
            letter => letter,
        };
        return formulas.add(Formula::Atom(other));
    }
    let operands: Vec<FormulaId> = formulas
        .operands(part)
        .into_iter()
        .map(|operand| exchanged(formulas, operand, a, b))
        .collect();
    formulas.with_operands(part, &operands)
}
