//! `enforce` clauses, compiled for live runs.

use rustc_hash::FxHashSet;

use super::automata::Automata;
use super::code::{Code, NodeId, Reads};
use super::compile::{message, place_in, property_code};
use super::compiled::{ArmTexts, ClauseCode, Depends, PropertyCode, WatchedCode};
use super::limits::LimitError;
use super::lower::Lower;
use crate::hir::reads::reads;
use crate::hir::{Expr, Source, Spec, Subject, Watched};
use crate::ids::{AtomId, ExprId, PropertyId};
use crate::translate::translate;
use guard_automata::{Atom, Formulas as AFormulas};

impl ClauseCode {
    /// Compiles the clauses, and adds a property for each `G φ` that is monitored again after violations.
    pub(super) fn new(
        spec: &Spec,
        properties: &mut Vec<PropertyCode>,
        automata: &mut Automata<'_>,
        lower: &mut Lower<'_>,
    ) -> Result<ClauseCode, LimitError> {
        let mut code = ClauseCode::default();
        for clause in &spec.enforces {
            code.watched.push(match &clause.watched {
                Watched::When { condition, .. } => {
                    WatchedCode::When(lower.root(*condition, false)?)
                }
                Watched::Query(_) => WatchedCode::Elsewhere,
                Watched::Property(property) => {
                    let same = |watched: &WatchedCode| match watched {
                        WatchedCode::Property(other, again) if other == property => Some(*again),
                        _ => None,
                    };
                    let again = match code.watched.iter().find_map(same) {
                        Some(known) => known,
                        None => match again(spec, *property, automata, lower)? {
                            Some(again) => {
                                properties.push(again);
                                Some(properties.len() - 1)
                            }
                            None => None,
                        },
                    };
                    WatchedCode::Property(*property, again)
                }
            });
            let mut arm_texts = Vec::with_capacity(clause.arms.len());
            for arm in &clause.arms {
                let text = arm.action.message.as_ref();
                let args = arm.action.invoke.iter().flat_map(|invoke| &invoke.args);
                let args: Result<Vec<_>, LimitError> = args
                    .map(|(name, expr)| Ok((name.clone(), lower.root(*expr, false)?)))
                    .collect();
                arm_texts.push(ArmTexts {
                    message: text.map(|text| message(text, lower)).transpose()?,
                    args: args?,
                });
            }
            code.arm_texts.push(arm_texts);
            let conditions: Vec<NodeId> = match code.watched.last() {
                // Nothing is left to an outcome.
                _ if spec.outcomes.is_empty() => Vec::new(),
                Some(WatchedCode::When(condition)) => vec![*condition],
                Some(WatchedCode::Property(property, _)) => {
                    let letters = properties[property.index()].letters.iter();
                    letters.map(|letter| letter.node).collect()
                }
                Some(WatchedCode::Elsewhere) | None => Vec::new(),
            };
            code.depends.push(Depends {
                beside_outcomes: beside_outcomes(spec, &lower.code, conditions),
                ..depends(spec, &clause.watched)
            });
        }
        Ok(code)
    }
}

/// Compiles a property that requires something of every step for monitoring after violations; returns `None` for any other.
fn again(
    spec: &Spec,
    property: PropertyId,
    automata: &mut Automata<'_>,
    lower: &mut Lower<'_>,
) -> Result<Option<PropertyCode>, LimitError> {
    let of = spec.property(property);
    let Some(parts) = spec.at_every_step(of) else {
        return Ok(None);
    };
    let ids: Vec<AtomId> = spec.formulas.atoms_of(of.formula);
    let mut formulas = AFormulas::new();
    let place = place_in(&ids);
    let parts = parts.into_iter().map(|(part, holds)| {
        let part = translate(&spec.formulas, part, &place, &mut formulas);
        match holds {
            true => part,
            false => formulas.not(part),
        }
    });
    let parts: Vec<_> = parts.collect();
    let inner = formulas.all(parts);
    let start = Atom(u32::try_from(ids.len()).unwrap_or(u32::MAX));
    let watched = formulas.watched_on(inner, start);
    let automaton = automata.recurring(&formulas, watched, start).or_else(|_| {
        // What looks back may need more states.
        let started = formulas.started(inner, start);
        automata.recurring(&formulas, started, start)
    });
    let automaton = automaton.map_err(|error| LimitError::Formula {
        property: of.name.clone(),
        error,
    })?;
    property_code(spec, of, automaton, lower).map(Some)
}

/// Returns the letters of a property.
fn letters(spec: &Spec, property: PropertyId) -> Vec<ExprId> {
    let letters = spec.formulas.atoms_of(spec.property(property).formula);
    letters
        .into_iter()
        .map(|letter| spec.atom(letter).expr)
        .collect()
}

/// Returns everything that a clause may depend on.
fn depends(spec: &Spec, watched: &Watched) -> Depends {
    let mut roots: Vec<ExprId> = spec.filter.step.into_iter().collect();
    match watched {
        Watched::When { condition, .. } => roots.push(*condition),
        Watched::Query(claim) => {
            if let Subject::Model(model) = spec.claims[claim.index()].on
                && let Some(abstraction) = spec.model(model).abstraction()
            {
                let abstraction = spec.abstraction(abstraction);
                roots.extend(abstraction.steps);
                for component in &abstraction.components {
                    match component.source {
                        Source::Value(expr) => roots.push(expr),
                        Source::Monitor(property) | Source::Violated(property) => {
                            roots.extend(letters(spec, property));
                        }
                    }
                }
            }
        }
        Watched::Property(property) => {
            roots.extend(letters(spec, *property));
            let property = spec.property(*property);
            for var in property
                .quantified
                .iter()
                .flat_map(|quantified| &quantified.vars)
            {
                roots.extend(var.terms.iter().chain(&var.element_terms).chain(&var.range));
            }
        }
    }
    let read = reads(spec, roots.iter().copied());
    let mut exprs = FxHashSet::default();
    let mut todo = roots;
    while let Some(expr) = todo.pop() {
        if !exprs.insert(expr) {
            continue;
        }
        if let Expr::Track(track, _) = spec.exprs.get(expr) {
            todo.push(spec.track(*track).update);
        }
        todo.extend(spec.exprs.operands(expr));
    }
    Depends {
        fields: read.fields.into_iter().collect(),
        meta: read.meta.into_iter().collect(),
        tracks: read.tracks.into_iter().map(|track| track.index()).collect(),
        exprs,
        history: read.history,
        todo: read.todo,
        beside_outcomes: Box::default(),
    }
}

/// Returns the largest parts of conditions that read no `@outcome` field and no bound name.
fn beside_outcomes(spec: &Spec, code: &Code, conditions: Vec<NodeId>) -> Box<[NodeId]> {
    let bound = Reads::VAR.with(Reads::PARAM).with(Reads::LOCAL);
    let mut seen = FxHashSet::default();
    let mut beside = Vec::new();
    let mut todo = conditions;
    while let Some(part) = todo.pop() {
        let info = code.info(part);
        if !seen.insert(part) {
            continue;
        }
        let fields = reads(spec, [info.expr]).fields;
        if info.reads.has(bound) || spec.outcomes.iter().any(|field| fields.contains(field)) {
            todo.extend(code.operands(part));
        } else {
            beside.push(part);
        }
    }
    beside.into()
}
