//! Values of unexpected types that a condition of a clause that denies lets pass: casts that are null if they fail (`e as T?`),
//! and texts where a `json` value is compared with a number or truth value.
//!
//! A condition is split at its connectives into comparisons and similar parts. Each part is evaluated with the cast null, or the
//! compared value a text, and everything else unknown. If its truth is then known and does not lead to a denial, an unexpected
//! value alone lets the action through. A cast that the spec compares with null somewhere is not reported, because its failure
//! is handled.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use rustc_hash::{FxHashMap, FxHashSet};

use super::polarity::{self, Polarity};
use super::{compared_with_null, within};
use crate::diagnostic::{Code, Diagnostic};
use crate::eval::{StateCode, StateLayout};
use crate::hir::outline::{LenientCast, UntypedComparison};
use crate::hir::{ArmTrigger, Enforce, Expr, Quantifier, Spec, Watched};
use crate::ids::{ExprId, FormulaId};
use crate::source::Span;
use crate::value::{Cell, Number, Truth, Value};

pub(super) fn lint(spec: &Spec, found: &mut Vec<Diagnostic>) {
    let outline = &spec.outline;
    let nothing = outline.lenient_casts.is_empty() && outline.untyped_comparisons.is_empty();
    if nothing || spec.enforces.is_empty() {
        return;
    }
    let mut conditions = Conditions::new(spec);
    for clause in &spec.enforces {
        conditions.of_clause(clause);
    }
    let mut reported: BTreeMap<Span, Diagnostic> = BTreeMap::new();
    for (value, place) in fail_open(spec, &conditions.parts) {
        for written in written(spec, value) {
            reported
                .entry(written.span)
                .or_insert_with(|| cast_diagnostic(written, place));
        }
        for compared in &outline.untyped_comparisons {
            if compared.value == value && compared.span.file == outline.file {
                reported
                    .entry(compared.span)
                    .or_insert_with(|| comparison_diagnostic(compared, place));
            }
        }
    }
    found.extend(reported.into_values());
}

/// Returns the casts and compared values that keep a part of a condition from denying, with the span of the condition.
fn fail_open(spec: &Spec, parts: &[Part]) -> Vec<(ExprId, Span)> {
    let cells = parts
        .iter()
        .flat_map(|part| part.unexpected.iter().cloned());
    let cells: IndexMap<ExprId, Value> = cells.collect();
    let layout = StateLayout {
        values: cells
            .keys()
            .enumerate()
            .map(|(cell, value)| (*value, cell))
            .collect(),
        violated: FxHashMap::default(),
        len: cells.len(),
    };
    let roots: Vec<ExprId> = parts.iter().map(|part| part.expr).collect();
    // past operators over bound variables cannot be evaluated outside of traces
    let Ok(code) = StateCode::new(spec, &layout, &roots) else {
        return Vec::new();
    };
    let mut eval = code.eval();
    let mut state = vec![Cell::Unknown; cells.len()];
    let mut found = Vec::new();
    for (root, part) in parts.iter().enumerate() {
        let mut passes = |unexpected: &[(ExprId, Value)]| {
            let places = unexpected
                .iter()
                .filter_map(|(id, _)| cells.get_index_of(id));
            let places: Vec<usize> = places.collect();
            for (place, (_, value)) in places.iter().zip(unexpected) {
                state[*place] = Cell::Known(value.clone());
            }
            let truth = eval.truth(root, &state);
            for place in &places {
                state[*place] = Cell::Unknown;
            }
            truth == Truth::from(!part.denies)
        };
        let mut deciding = part.unexpected.clone();
        deciding.retain(|one| passes(std::slice::from_ref(one)));
        if deciding.is_empty() && part.unexpected.len() > 1 && passes(&part.unexpected) {
            deciding.clone_from(&part.unexpected);
        }
        found.extend(deciding.into_iter().map(|(id, _)| (id, part.place)));
    }
    found
}

/// Returns the places in the spec's own file at which a cast occurs, with its default if it has one.
fn written(spec: &Spec, cast: ExprId) -> impl Iterator<Item = &LenientCast> {
    let all = move || {
        let casts = spec.outline.lenient_casts.iter();
        casts.filter(move |one| one.cast == cast && one.span.file == spec.outline.file)
    };
    all().filter(move |one| {
        !all().any(|other| other.span != one.span && within(one.span, other.span))
    })
}

fn cast_diagnostic(cast: &LenientCast, place: Span) -> Diagnostic {
    let LenientCast {
        span, operand, ty, ..
    } = cast;
    let counts_as = cast.default.as_deref().unwrap_or("null");
    let message = format!("a value that is not of type `{ty}` lets the action through");
    let diagnostic = Diagnostic::new(Code::G0924, *span, message)
        .label(format!("counts as `{counts_as}` if the cast fails"));
    let diagnostic = with_condition(diagnostic, place);
    match &cast.default {
        Some(default) if has_literal_default(ty) => diagnostic.fix(
            format!("a value of another type is then unknown, and `{default}` stands for an absent one only"),
            *span,
            format!("({operand} ?? {default}) as {ty}"),
        ),
        _ => diagnostic.fix(
            "a value of another type, and an absent one, is then unknown",
            *span,
            format!("{operand} as {ty}"),
        ),
    }
}

fn comparison_diagnostic(compared: &UntypedComparison, place: Span) -> Diagnostic {
    let UntypedComparison {
        span,
        operand,
        literals,
        ..
    } = compared;
    let (ty, default) = cast_for(literals);
    let what = if ty == "bool" {
        "truth value"
    } else {
        "number"
    };
    let message = format!("a text instead of the {what} lets the action through");
    let diagnostic = Diagnostic::new(Code::G0928, *span, message)
        .label(format!("compared with a {what}, which no text equals"));
    with_condition(diagnostic, place).fix(
        format!("a value of another type is then unknown, and an absent one `{default}`"),
        *span,
        format!("({operand} ?? {default}) as {ty}"),
    )
}

/// Names the condition, if the finding is outside of it.
fn with_condition(diagnostic: Diagnostic, condition: Span) -> Diagnostic {
    if within(diagnostic.span(), condition) {
        diagnostic
    } else {
        diagnostic.also(condition, "then never leads to a denial")
    }
}

/// Returns the type of what a value is compared with, and a value of this type that is not among it.
fn cast_for(literals: &[Value]) -> (&'static str, String) {
    if let Some(Value::Bool(truth)) = literals.first() {
        return ("bool", (!truth).to_string());
    }
    let is_whole = |value: &Value| matches!(value, Value::Number(Number::Int(_)));
    let absent = (0..).find(|number| !literals.contains(&Value::Number(Number::Int(*number))));
    let absent = absent.unwrap_or_default();
    if literals.iter().all(is_whole) {
        ("int", absent.to_string())
    } else {
        ("float", format!("{absent}.0"))
    }
}

/// Whether a default for the type is also valid for `json`: the names of enum values are not, and `{}` is a record
/// there.
fn has_literal_default(ty: &str) -> bool {
    let item = ty.trim_start_matches("list<").trim_end_matches('>');
    matches!(item, "bool" | "int" | "float" | "string" | "duration")
}

/// A part of a condition without connectives.
struct Part {
    expr: ExprId,
    /// The truth value that leads to a denial.
    denies: bool,
    /// The casts and compared values inside the part, with the value that each may have unexpectedly.
    unexpected: Vec<(ExprId, Value)>,
    /// The span of the condition.
    place: Span,
}

/// Collects the parts of conditions that lead to a denial.
struct Conditions<'s> {
    spec: &'s Spec,
    /// Casts that may fail, except those that the spec compares with null, and compared values; with the value that each may
    /// have unexpectedly.
    unexpected: FxHashMap<ExprId, Value>,
    /// The visited expressions, with the truth value that leads to a denial.
    seen: FxHashSet<(ExprId, bool)>,
    parts: Vec<Part>,
}

impl<'s> Conditions<'s> {
    fn new(spec: &'s Spec) -> Conditions<'s> {
        let thought_of = compared_with_null(spec);
        let casts = spec.outline.lenient_casts.iter().map(|one| one.cast);
        let casts = casts.filter(|cast| !thought_of.contains(cast));
        let compared = spec.outline.untyped_comparisons.iter();
        let text = Value::String("text".into());
        Conditions {
            spec,
            unexpected: casts
                .map(|cast| (cast, Value::Null))
                .chain(compared.map(|one| (one.value, text.clone())))
                .collect(),
            seen: FxHashSet::default(),
            parts: Vec::new(),
        }
    }

    fn of_clause(&mut self, clause: &Enforce) {
        let denies = clause.arms.iter().filter(|arm| arm.action.kind.lasts());
        for trigger in denies.map(|arm| &arm.trigger) {
            match (&clause.watched, trigger) {
                (Watched::When { condition, .. }, ArmTrigger::Holds) => {
                    self.condition(*condition, true, clause.span);
                }
                (
                    Watched::Property(property),
                    ArmTrigger::Violated | ArmTrigger::PresumablyViolated(_),
                ) => self.formula(self.spec.property(*property).formula, Polarity::Positive),
                (Watched::Property(property), ArmTrigger::Satisfied) => {
                    self.formula(self.spec.property(*property).formula, Polarity::Negative);
                }
                _ => {}
            }
        }
    }

    /// Adds a formula whose violation (positive) or satisfaction leads to a denial.
    fn formula(&mut self, formula: FormulaId, polarity: Polarity) {
        let atoms = polarity::of_atoms(&self.spec.formulas, formula, polarity);
        for (atom, polarity) in atoms {
            let atom = self.spec.atom(atom);
            match polarity {
                Polarity::Positive => self.condition(atom.expr, false, atom.span),
                Polarity::Negative => self.condition(atom.expr, true, atom.span),
                Polarity::Both => {}
            }
        }
    }

    /// Adds a condition that leads to a denial if it has this truth value.
    fn condition(&mut self, condition: ExprId, denies: bool, place: Span) {
        let mut todo = vec![(condition, denies)];
        while let Some((id, denies)) = todo.pop() {
            if !self.seen.insert((id, denies)) {
                continue;
            }
            match *self.spec.exprs.get(id) {
                Expr::Not(a) => todo.push((a, !denies)),
                Expr::And(a, b) | Expr::Or(a, b) => todo.extend([(a, denies), (b, denies)]),
                Expr::Implies(a, b) => todo.extend([(a, !denies), (b, denies)]),
                Expr::Before(a) => todo.push((a, denies)),
                Expr::Past(_, _, a, b) => {
                    todo.push((a, denies));
                    todo.extend(b.map(|b| (b, denies)));
                }
                Expr::If(_, a, b) => {
                    self.part(id, denies, place);
                    todo.extend([(a, denies), (b, denies)]);
                }
                Expr::Quantifier {
                    kind: Quantifier::Any | Quantifier::All,
                    body,
                    ..
                } => {
                    self.part(id, denies, place);
                    todo.push((body, denies));
                }
                _ => self.part(id, denies, place),
            }
        }
    }

    fn part(&mut self, expr: ExprId, denies: bool, place: Span) {
        let mut unexpected = Vec::new();
        let mut seen = FxHashSet::default();
        let mut todo = vec![expr];
        while let Some(id) = todo.pop() {
            if !seen.insert(id) {
                continue;
            }
            if let Some(value) = self.unexpected.get(&id) {
                unexpected.push((id, value.clone()));
            }
            todo.extend(self.spec.exprs.operands(id));
        }
        if !unexpected.is_empty() {
            unexpected.sort_unstable();
            self.parts.push(Part {
                expr,
                denies,
                unexpected,
                place,
            });
        }
    }
}
