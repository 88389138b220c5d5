//! Expressions as formulas.

use smol_str::SmolStr;

use super::branching::Place;
use super::names::ItemRef;
use super::scope::{Binding, Scope};
use super::{Checker, Typed};
use crate::diagnostic::{Code, Diagnostic};
use crate::hir::{Atom, Binary, Bound, Expr, Formula, PastOp, Unary, print};
use crate::ids::{ExprId, FormulaId};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, ChainOp, ExprKind, TemporalInfixOp, TemporalOp};
use crate::syntax::lexer::lex;
use crate::syntax::token::Token;
use crate::types::Type;
use crate::value::Value;

/// The greatest depth of nested templates whose arguments are shown in the text of an atom.
const ARGUMENTS: usize = 3;

impl<'a> Checker<'a> {
    /// Elaborates an expression as a formula.
    pub(super) fn formula(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> FormulaId {
        let formula = self.formula_of(scope, expr);
        self.spec.outline.formulas.push((formula, *expr.span));
        formula
    }

    fn formula_of(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> FormulaId {
        match &expr.kind {
            ExprKind::Bool(true) => self.spec.formulas.add(Formula::True),
            ExprKind::Bool(false) => self.spec.formulas.add(Formula::False),
            ExprKind::Unary {
                op: ast::UnaryOp::Not,
                operand,
                ..
            } => {
                let operand = self.formula(scope, operand);
                self.spec.formulas.add(Formula::Not(operand))
            }
            ExprKind::Chain { op, operands, .. } => {
                let facts: &[ast::Expr] = if *op == ChainOp::And { operands } else { &[] };
                let operands: Vec<FormulaId> = self.assuming(scope, facts, |checker| {
                    checker.scoped(|checker| {
                        let one = |operand: &'a ast::Expr| {
                            let formula = match checker.is_elliptic(operands, operand) {
                                true => checker.spec.formulas.add(Formula::True),
                                false => checker.formula(scope, operand),
                            };
                            checker.note_formula(formula, *op == ChainOp::And);
                            formula
                        };
                        operands.iter().map(one).collect()
                    })
                });
                self.formula_chain(*op, &operands)
            }
            ExprKind::Binary {
                op: op @ (BinaryOp::Implies | BinaryOp::Iff),
                lhs,
                rhs,
                ..
            } => {
                let lhs = self.formula(scope, lhs);
                let rhs = self.scoped(|checker| {
                    if *op == BinaryOp::Implies {
                        checker.note_formula(lhs, true);
                    }
                    checker.formula(scope, rhs)
                });
                self.spec.formulas.add(match op {
                    BinaryOp::Implies => Formula::Implies(lhs, rhs),
                    _ => Formula::Iff(lhs, rhs),
                })
            }
            ExprKind::If {
                condition,
                then,
                otherwise,
            } if self.is_temporal(scope, expr) => {
                let condition = self.formula(scope, condition);
                let mut branch = |truth: bool, of: &'a ast::Expr| {
                    self.scoped(|checker| {
                        checker.note_formula(condition, truth);
                        checker.formula(scope, of)
                    })
                };
                let (then, otherwise) = (branch(true, then), branch(false, otherwise));
                self.formula_choice(condition, then, otherwise)
            }
            ExprKind::Cases(arms) if self.is_temporal(scope, expr) => {
                let made: Vec<(Option<FormulaId>, FormulaId)> = self.scoped(|checker| {
                    let one = |arm: &'a ast::CaseArm| {
                        let condition = arm.condition.as_ref();
                        let condition = condition.map(|written| checker.formula(scope, written));
                        let value = checker.scoped(|checker| {
                            if let Some(condition) = condition {
                                checker.note_formula(condition, true);
                            }
                            checker.formula(scope, &arm.value)
                        });
                        if let Some(condition) = condition {
                            checker.note_formula(condition, false);
                        }
                        (condition, value)
                    };
                    arms.iter().map(one).collect()
                });
                let mut result = None;
                for (condition, value) in made.into_iter().rev() {
                    result = Some(match (condition, result) {
                        (Some(condition), Some(rest)) => {
                            self.formula_choice(condition, value, rest)
                        }
                        (Some(_), None) => {
                            self.report(
                                Diagnostic::new(Code::G0326, expr.span, "`cases` without `else`")
                                    .label("has no value if no arm matches")
                                    .note("add `else => …` as the last arm"),
                            );
                            value
                        }
                        (None, _) => value,
                    });
                }
                result.unwrap_or_else(|| self.spec.formulas.add(Formula::True))
            }
            ExprKind::Temporal {
                op, bound, operand, ..
            } => {
                if matches!(op, TemporalOp::Plain(op) if op.info().is_past) {
                    self.looks_back(*expr.span);
                }
                self.prefix(scope, *op, bound.as_ref(), operand)
            }
            ExprKind::TemporalInfix {
                op,
                bound,
                lhs,
                rhs,
                ..
            } => {
                if op.info().is_past {
                    self.looks_back(*expr.span);
                }
                let bound = bound
                    .as_ref()
                    .map(|bound| (bound, self.bound(scope, bound)));
                let lhs = self.at_other_steps(|checker| checker.formula(scope, lhs));
                let rhs = self.at_other_steps(|checker| checker.formula(scope, rhs));
                if let Some((written, _)) = &bound
                    && !op.takes_bound()
                {
                    self.no_bound(*written.span);
                }
                let bound = bound.and_then(|(_, bound)| bound);
                self.spec
                    .formulas
                    .add(Formula::Binary(*op, bound, lhs, rhs))
            }
            ExprKind::LeadsTo { lhs, rhs, within } => {
                let bound = within.as_ref().map(|within| self.window(scope, within));
                let lhs = self.at_other_steps(|checker| checker.formula(scope, lhs));
                let rhs = self.at_other_steps(|checker| checker.formula(scope, rhs));
                let or_end = within.as_ref().is_some_and(|within| within.or_end);
                self.response(lhs, rhs, bound.flatten(), or_end)
            }
            ExprKind::Precedes { lhs, rhs } => {
                let first = self.at_other_steps(|checker| checker.formula(scope, lhs));
                let then = self.at_other_steps(|checker| checker.formula(scope, rhs));
                let not_then = self.spec.formulas.add(Formula::Not(then));
                self.spec
                    .formulas
                    .add(Formula::Binary(Binary::Unless, None, not_then, first))
            }
            ExprKind::Name(name) => match self.binding(scope, name) {
                Some(Binding::Condition(argument)) => {
                    let argument = std::rc::Rc::clone(argument);
                    self.argument_formula(&argument)
                }
                Some(_) => self.leaf(scope, expr),
                None => match self.item_of(scope, expr) {
                    Some(item) if self.is_temporal(scope, expr) => {
                        self.temporal_item(scope, item, &[], *expr.span)
                    }
                    Some(_) => self.leaf(scope, expr),
                    None if name.as_str() == "last" && self.is_temporal(scope, expr) => {
                        if self.place == Place::Imported {
                            self.report(
                                Diagnostic::new(
                                    Code::G0340,
                                    *expr.span,
                                    "`last` is not supported on a chain with infinite runs",
                                )
                                .label("an imported chain has no last step"),
                            );
                        }
                        self.spec.formulas.add(Formula::Last)
                    }
                    None => self.leaf(scope, expr),
                },
            },
            ExprKind::Member { .. } | ExprKind::Call { .. } if self.is_temporal(scope, expr) => {
                let (callee, args): (&'a ast::Expr, &'a [ast::Arg]) = match &expr.kind {
                    ExprKind::Call { callee, args } => (callee, args),
                    _ => (expr, &[]),
                };
                let item = match &callee.kind {
                    ExprKind::Name(name) if self.binding(scope, name).is_some() => {
                        self.predicate_of(scope, callee)
                    }
                    _ => self.item_of(scope, callee),
                };
                match item {
                    Some(item) => self.temporal_item(scope, item, args, *expr.span),
                    None => self.leaf(scope, expr),
                }
            }
            _ => self.leaf(scope, expr),
        }
    }

    fn formula_chain(&mut self, op: ChainOp, operands: &[FormulaId]) -> FormulaId {
        match operands {
            [] => self.spec.formulas.add(Formula::True),
            [one] => *one,
            _ => {
                let (left, right) = operands.split_at(operands.len() / 2);
                let lhs = self.formula_chain(op, left);
                let rhs = self.formula_chain(op, right);
                self.spec.formulas.add(match op {
                    ChainOp::And => Formula::And(lhs, rhs),
                    ChainOp::Or => Formula::Or(lhs, rhs),
                })
            }
        }
    }

    /// Elaborates `if c then a else b` as `(c & a) | (!c & b)`.
    fn formula_choice(
        &mut self,
        condition: FormulaId,
        then: FormulaId,
        otherwise: FormulaId,
    ) -> FormulaId {
        let formulas = &mut self.spec.formulas;
        let not = formulas.add(Formula::Not(condition));
        let lhs = formulas.add(Formula::And(condition, then));
        let rhs = formulas.add(Formula::And(not, otherwise));
        formulas.add(Formula::Or(lhs, rhs))
    }

    /// Elaborates `G (a -> F[bound] b)`; with `or end`, `G (a -> F[bound] b | F[rest] last)`, which also holds if the trace
    /// ends within `rest`.
    pub(super) fn response(
        &mut self,
        trigger: FormulaId,
        response: FormulaId,
        bound: Option<Bound>,
        or_end: bool,
    ) -> FormulaId {
        let formulas = &mut self.spec.formulas;
        let mut then = formulas.add(Formula::Unary(Unary::Eventually, bound, response));
        if let Some(cut_off) = bound.and_then(Bound::cut_off).filter(|_| or_end) {
            let last = formulas.add(Formula::Last);
            let ends = formulas.add(Formula::Unary(Unary::Eventually, Some(cut_off), last));
            then = formulas.add(Formula::Or(then, ends));
        }
        let implies = formulas.add(Formula::Implies(trigger, then));
        formulas.add(Formula::Unary(Unary::Always, None, implies))
    }

    fn prefix(
        &mut self,
        scope: &Scope<'a>,
        op: TemporalOp,
        bound: Option<&'a ast::Bound>,
        operand: &'a ast::Expr,
    ) -> FormulaId {
        let takes_bound = op.takes_bound();
        let bound = match bound {
            Some(written) if !takes_bound => {
                self.no_bound(*written.span);
                None
            }
            Some(written) => self.bound(scope, written),
            None => None,
        };
        let written = operand;
        let mut operand = self.at_other_steps(|checker| checker.formula(scope, written));
        let unary = match op {
            TemporalOp::Plain(op) => op,
            TemporalOp::Never => {
                self.never_implies(written);
                operand = self.spec.formulas.add(Formula::Not(operand));
                Unary::Always
            }
        };
        self.spec
            .formulas
            .add(Formula::Unary(unary, bound, operand))
    }

    /// Reports an operator that looks back, in a formula on a model.
    fn looks_back(&mut self, span: Span) {
        if !self.place.is_model() {
            return;
        }
        self.report(
            Diagnostic::new(
                Code::G0340,
                span,
                "past operators are not supported in formulas on a model",
            )
            .label("looks back")
            .note(
                "declare a property of traces with this formula, and ask for `violated(…)`; or add a track to `over`",
            ),
        );
    }

    /// Warns of `never (a -> b)`, which requires `a` at every step.
    fn never_implies(&mut self, expr: &ast::Expr) {
        let ExprKind::Binary {
            op: BinaryOp::Implies,
            lhs,
            rhs,
            ..
        } = &expr.kind
        else {
            return;
        };
        let (end, start) = (lhs.span.end, rhs.span.start);
        let between = Span {
            start: end,
            end: start,
            ..*expr.span
        };
        let Some(at) = self.sources.slice(between).find("->") else {
            return;
        };
        let Ok(at) = u32::try_from(at) else {
            return;
        };
        let arrow = Span {
            start: end + at,
            end: end + at + 2,
            ..between
        };
        let mut edits = vec![(arrow, "and".to_owned())];
        for operand in [lhs, rhs] {
            let is_tail = match &operand.kind {
                ExprKind::Chain { op, .. } => *op == ChainOp::Or,
                ExprKind::Binary { op, .. } => matches!(op, BinaryOp::Implies | BinaryOp::Iff),
                ExprKind::If { .. }
                | ExprKind::Quantifier { .. }
                | ExprKind::Temporal { .. }
                | ExprKind::TemporalInfix { .. } => true,
                _ => false,
            };
            if is_tail && operand.parens.0 == 0 {
                edits.push((operand.span.before(), "(".to_owned()));
                edits.push((operand.span.after(), ")".to_owned()));
            }
        }
        self.report(
            Diagnostic::new(
                Code::G0925,
                arrow,
                "`never (a -> b)` requires `a` at every step, and `b` at none",
            )
            .label("an implication also holds wherever its left side does not")
            .fix_all("forbid both together: write `and`", edits)
            .note("if that is meant, write `always (a and not b)`"),
        );
    }

    /// Elaborates a condition on the step as one atom.
    fn leaf(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> FormulaId {
        let id = self.boolean(scope, expr);
        let id = self.once_in_range(id);
        match self.spec.exprs.get(id) {
            Expr::Const(Value::Bool(true)) => return self.spec.formulas.add(Formula::True),
            Expr::Const(Value::Bool(false)) => return self.spec.formulas.add(Formula::False),
            _ => {}
        }
        let text = self.atom_text(scope, expr);
        let atom = self.spec.formulas.add_atom(Atom {
            expr: id,
            text,
            span: *expr.span,
        });
        self.spec.formulas.add(Formula::Atom(atom))
    }

    /// Returns the text of an atom for messages: as written, with arguments in place of template parameters.
    fn atom_text(&self, scope: &Scope<'a>, expr: &ast::Expr) -> SmolStr {
        let text = self.with_arguments(scope, *expr.span, ARGUMENTS);
        match text
            .strip_prefix('(')
            .and_then(|inner| inner.strip_suffix(')'))
        {
            Some(inner) if encloses(inner) => inner.trim().into(),
            _ => text,
        }
    }

    /// Returns the text of a span with parameters replaced by their arguments, through at most `depth` templates.
    fn with_arguments(&self, scope: &Scope<'a>, span: Span, depth: usize) -> SmolStr {
        let Some(depth) = depth.checked_sub(1) else {
            return self.snippet(span);
        };
        let text = self.sources.slice(span);
        let mut out = String::new();
        let mut end = 0;
        let lexed = lex(text, 0);
        let token = |at: Option<usize>| Some(lexed.tokens.get(at?)?.token);
        for (at, name) in lexed.tokens.iter().enumerate() {
            let (start, stop) = (name.start as usize, name.end as usize);
            let is_member = token(at.checked_sub(1)) == Some(Token::Dot);
            let is_label = token(Some(at + 1)) == Some(Token::Colon);
            if name.token != Token::Name || is_member || is_label {
                continue;
            }
            let argument = match scope.get(text.get(start..stop).unwrap_or_default()) {
                Some(Binding::Condition(argument)) => {
                    self.with_arguments(&argument.scope, *argument.expr.span, depth)
                }
                Some(Binding::Predicate(bound, from)) => {
                    self.with_arguments(from, *bound.span, depth)
                }
                Some(Binding::Value(typed)) => match self.spec.exprs.get(typed.id) {
                    Expr::Const(value) => print::value(value, &self.spec.enums).into(),
                    Expr::Field(_) | Expr::Meta(_) => {
                        print::expr(&self.spec, typed.id, &[], usize::MAX).into()
                    }
                    _ => continue,
                },
                _ => continue,
            };
            out.push_str(text.get(end..start).unwrap_or_default());
            out.push_str(&argument);
            end = stop;
        }
        out.push_str(text.get(end..).unwrap_or_default());
        if out.contains('\n') {
            out = out.split_whitespace().collect::<Vec<_>>().join(" ");
        }
        SmolStr::new(out)
    }

    /// Elaborates a predicate, definition or unsafe state that is a formula, where its name is used.
    fn temporal_item(
        &mut self,
        scope: &Scope<'a>,
        item_ref: ItemRef,
        args: &'a [ast::Arg],
        span: Span,
    ) -> FormulaId {
        self.used.insert(item_ref);
        if args.is_empty()
            && let Some(made) = self.made_formulas.get(&item_ref)
            && self.place == Place::Events
        {
            return *made;
        }
        let home = Scope::module(item_ref.module);
        let item = self.names.item(item_ref);
        let (name, params, body): (&'a ast::Name, &'a [ast::Param], &'a ast::Expr) =
            match &item.kind {
                ast::ItemKind::Predicate(def) => (&def.name, &def.params, &def.value),
                ast::ItemKind::Let(def) => (&def.name, &def.params, &def.value),
                ast::ItemKind::Unsafe(def) => (&def.name, &[], &def.value),
                ast::ItemKind::Template(def) => (&def.name, &def.params, &def.formula),
                _ => return self.spec.formulas.add(Formula::True),
            };
        let Some(inner) = self.bind(scope, &home, name, params, args, span) else {
            return self.spec.formulas.add(Formula::True);
        };
        if !self.enter(item_ref, span) {
            return self.spec.formulas.add(Formula::True);
        }
        let formula = self.by_itself(|checker| checker.formula(&inner, body));
        self.leave();
        if params.is_empty() && self.place == Place::Events {
            self.made_formulas.insert(item_ref, formula);
        }
        formula
    }

    /// Elaborates a temporal operator where a value is required: past operators are expressions with history.
    pub(super) fn past_value(&mut self, scope: &Scope<'a>, expr: &'a ast::Expr) -> Typed {
        let span = *expr.span;
        let (op, bound, first, second): (PastOp, Option<&'a ast::Bound>, ExprId, Option<ExprId>) =
            match &expr.kind {
                ExprKind::Temporal {
                    op, bound, operand, ..
                } => {
                    let op = match op {
                        TemporalOp::Plain(Unary::Previously) => PastOp::Previously,
                        TemporalOp::Plain(Unary::WeakPreviously) => PastOp::WeakPreviously,
                        TemporalOp::Plain(Unary::Once) => PastOp::Once,
                        TemporalOp::Plain(Unary::Historically) => PastOp::Historically,
                        _ => {
                            self.future_in_value(span);
                            return self.wrong();
                        }
                    };
                    let operand = self.at_any_step(|checker| checker.boolean(scope, operand));
                    (op, bound.as_ref(), operand, None)
                }
                ExprKind::TemporalInfix {
                    op,
                    bound,
                    lhs,
                    rhs,
                    ..
                } => {
                    let op = match op {
                        TemporalInfixOp::Since => PastOp::Since,
                        TemporalInfixOp::BackTo => PastOp::BackTo,
                        _ => {
                            self.future_in_value(span);
                            return self.wrong();
                        }
                    };
                    let lhs = self.at_any_step(|checker| checker.boolean(scope, lhs));
                    let rhs = self.at_any_step(|checker| checker.boolean(scope, rhs));
                    (op, bound.as_ref(), lhs, Some(rhs))
                }
                _ => return self.wrong(),
            };
        let window = match bound {
            None => None,
            Some(written) if !matches!(op, PastOp::Once | PastOp::Historically) => {
                self.no_bound(*written.span);
                return self.wrong();
            }
            Some(written) => match self.bound(scope, written) {
                Some(window) => Some(window),
                None => return self.wrong(),
            },
        };
        self.add(Expr::Past(op, window, first, second), Type::Bool, span)
    }

    pub(super) fn future_in_value(&mut self, span: Span) {
        self.report(
            Diagnostic::new(
                Code::G0310,
                span,
                "a formula about the future has no value at the current step",
            )
            .label("expected a value")
            .note(
                "tracks, predicates of steps, `count` and comparisons can read only the \
                    current step and the past",
            ),
        );
    }
}

/// Whether the parentheses around a text match each other. Returns false for texts with literals, which may contain
/// parentheses.
fn encloses(inner: &str) -> bool {
    let mut depth = 0_usize;
    for part in inner.split_inclusive(['(', ')', '"', '/']) {
        match part.chars().next_back() {
            Some('(') => depth += 1,
            Some(')') if depth == 0 => return false,
            Some(')') => depth -= 1,
            Some('/') => return false,
            Some('"') if depth > 0 => return false,
            _ => {}
        }
    }
    depth == 0
}
