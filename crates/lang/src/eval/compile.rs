//! Compiles a checked spec for judging traces.

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use super::automata::Automata;
use super::classes;
use super::code::{NodeId, TrackCode};
use super::compiled::{
    ClauseCode, Compiled, Condition, FilterCode, Judged, LetterCode, Message, MessagePart,
    OnlyTerms, PropertyCode, QuantifiedCode, VarCode,
};
use super::eval_cache::EvalCache;
use super::expr::Eval;
use super::instance_gc::{condition, false_if_unseen, needed, release};
use super::limits::{LimitError, Limits};
use super::lower::{Lower, values_of};
use super::monitor::Automaton;
use super::register::Held;
use super::track::Tracks;
use crate::hir::reads::reads;
use crate::hir::{Expr, Formula, Property, Spec, Text, TextPart, Unary, Watched, Window};
use crate::ids::{AtomId, ExprId, FormulaId, TrackId};
use crate::translate::translate;
use crate::value::Cell;
use guard_automata::{
    Atom, FormulaId as AFormulaId, Formulas as AFormulas, Interval, Node, PathChecker,
};

/// Compiles a spec, with its `enforce` clauses if `live`.
pub(super) fn compile(
    spec: Arc<Spec>,
    observed: &[ExprId],
    limits: &Limits,
    live: bool,
    automata: &mut Automata<'_>,
) -> Result<Compiled, LimitError> {
    let shared = Arc::clone(&spec);
    let spec = &*spec;
    let initial = initial_values(spec, limits)?;
    let known = |cell: &Cell| match cell {
        Cell::Known(value) => Some(value.clone()),
        Cell::Unknown => None,
    };
    let mut lower = Lower::new(spec, initial.iter().map(known).collect());
    let read = read_tracks(spec, observed, live);
    let step_facts = reads(spec, roots(spec, observed, live)).meta;
    for (index, track) in spec.tracks.iter().enumerate() {
        let mut code = TrackCode {
            name: track.name.clone(),
            n_params: track.params.len(),
            compared: Vec::new(),
            constants: track.constants.clone(),
            update: None,
            needed: 0,
            keyed: Box::default(),
            finite: values_of(&track.ty),
            frame: Box::default(),
        };
        if read.contains(&TrackId::new(index)) {
            for terms in &track.compared {
                let terms = terms.iter().map(|term| lower.root(*term, true));
                code.compared.push(terms.collect::<Result<_, _>>()?);
            }
            code.update = Some(lower.root(track.update, true)?);
        }
        lower.code.tracks.push(code);
    }
    let filter = FilterCode {
        step: spec
            .filter
            .step
            .map(|node| lower.root(node, false))
            .transpose()?,
        record: spec
            .filter
            .record
            .map(|node| lower.root(node, false))
            .transpose()?,
        complete: spec
            .filter
            .complete
            .map(|node| lower.root(node, false))
            .transpose()?,
        id: spec
            .filter
            .id
            .as_ref()
            .map(|text| message(text, &mut lower))
            .transpose()?,
    };
    let mut properties = Vec::with_capacity(spec.properties.len());
    for property in &spec.properties {
        let automaton = automaton(spec, property, automata)?;
        properties.push(property_code(spec, property, automaton, &mut lower)?);
    }
    let clauses = if live {
        ClauseCode::new(spec, &mut properties, automata, &mut lower)?
    } else {
        ClauseCode::default()
    };
    let observed: Vec<NodeId> = observed
        .iter()
        .map(|expr| lower.root(*expr, false))
        .collect::<Result<_, _>>()?;
    let mut code = lower.finish();
    for property in &mut properties {
        let letters = property.letters.iter().map(|letter| letter.node);
        property.frame = code.frame_of(letters.chain(property.trigger));
        let roots = property.letters.iter().map(|letter| letter.node);
        let roots: Vec<NodeId> = roots.chain(property.trigger).collect();
        if let Some(quantified) = &mut property.quantified {
            let counted = property.frame.iter();
            let counted = counted.flat_map(|id| code.registers[*id as usize].kind.operands());
            let all = roots.iter().copied().chain(counted);
            quantified.conditions = all.map(|node| condition(&code, node)).collect();
            let by_value = |of: &Condition| of.by_value;
            quantified.by_value = quantified.conditions.iter().any(by_value);
            quantified.counted_by_value = quantified.conditions[roots.len()..].iter().any(by_value);
            quantified.keyed = code.keyed_below(roots);
            quantified.only_terms = OnlyTerms::of(quantified);
            quantified.combinations = quantified.needed_combinations(property.frame.len());
        }
    }
    for index in 0..code.tracks.len() {
        let update = code.tracks[index].update;
        code.tracks[index].frame = code.frame_of(update);
        code.tracks[index].keyed = code.keyed_below(update);
        code.tracks[index].needed = needed(&code, index as u32);
    }
    code.classes = classes::classes(&code, &properties);
    let held = |(cell, track): (Cell, &TrackCode)| match cell {
        Cell::Known(value) => Held::One(value),
        Cell::Unknown => Held::anything(track),
    };
    let initial = initial.into_iter().zip(&code.tracks).map(held).collect();
    Ok(Compiled {
        step_facts: step_facts.into_iter().collect(),
        clock: spec.schema.clock.filter(|_| reads_clock(spec)),
        spec: shared,
        limits: limits.clone(),
        code,
        properties,
        clauses,
        filter,
        observed,
        initial,
        readers: OnceLock::new(),
    })
}

/// Returns the tracks that are read, directly or through other tracks.
fn read_tracks(spec: &Spec, observed: &[ExprId], live: bool) -> BTreeSet<TrackId> {
    let of_record = spec.filter.record.into_iter().chain(spec.filter.complete);
    reads(
        spec,
        roots(spec, observed, live).into_iter().chain(of_record),
    )
    .tracks
}

/// Returns the expressions that are evaluated for the steps, the name and the report of a trace.
fn roots(spec: &Spec, observed: &[ExprId], live: bool) -> Vec<ExprId> {
    let values = |text: &Text| -> Vec<ExprId> {
        let parts = text.parts.iter();
        let values = parts.filter_map(|part| match part {
            TextPart::Literal(_) => None,
            TextPart::Value(expr, _) => Some(*expr),
        });
        values.collect()
    };
    let mut roots: Vec<ExprId> = observed.to_vec();
    roots.extend(spec.filter.step);
    roots.extend(spec.filter.id.iter().flat_map(values));
    for property in &spec.properties {
        let letters = spec.formulas.atoms_of(property.formula).into_iter();
        roots.extend(letters.map(|letter| spec.atom(letter).expr));
        roots.extend(property.trigger.as_ref().map(|trigger| trigger.expr));
        roots.extend(property.message.iter().flat_map(values));
        for var in property.quantified.iter().flat_map(|of| &of.vars) {
            roots.extend(var.terms.iter().chain(&var.element_terms).chain(&var.range));
        }
    }
    for clause in spec.enforces.iter().filter(|_| live) {
        if let Watched::When { condition, .. } = &clause.watched {
            roots.push(*condition);
        }
        for arm in &clause.arms {
            roots.extend(arm.action.message.iter().flat_map(values));
            let args = arm.action.invoke.iter().flat_map(|invoke| &invoke.args);
            roots.extend(args.map(|(_, expr)| *expr));
        }
    }
    roots
}

/// Returns the initial values of all tracks. They must not read an event.
fn initial_values(spec: &Spec, limits: &Limits) -> Result<Vec<Cell>, LimitError> {
    let mut lower = Lower::new(spec, vec![None; spec.tracks.len()]);
    let roots: Result<Vec<NodeId>, LimitError> = spec
        .tracks
        .iter()
        .map(|track| lower.root(track.init, false))
        .collect();
    let (roots, code) = (roots?, lower.finish());
    let mut eval_cache = EvalCache::new(&code, limits);
    eval_cache.begin_step(None);
    let tracks = Tracks::new(&code, &[]);
    let mut eval = Eval::alone(&code, &[], &tracks, &mut eval_cache);
    Ok(roots.into_iter().map(|root| eval.cell(root)).collect())
}

pub(super) fn message(text: &Text, lower: &mut Lower<'_>) -> Result<Message, LimitError> {
    let part = |part: &TextPart| match part {
        TextPart::Literal(text) => Ok(MessagePart::Literal(text.clone())),
        TextPart::Value(expr, format) => Ok(MessagePart::Value(
            lower.root(*expr, false)?,
            format.clone(),
        )),
    };
    let parts: Result<Vec<MessagePart>, LimitError> = text.parts.iter().map(part).collect();
    Ok(Message { parts: parts? })
}

/// Returns the formula of a property over its letters, in their order.
pub(super) fn formula_of(spec: &Spec, property: &Property) -> (AFormulas, AFormulaId) {
    let ids = spec.formulas.atoms_of(property.formula);
    let mut formulas = AFormulas::new();
    let formula = translate(
        &spec.formulas,
        property.formula,
        place_in(&ids),
        &mut formulas,
    );
    (formulas, formula)
}

/// Returns the automaton of a property.
fn automaton(
    spec: &Spec,
    property: &Property,
    automata: &mut Automata<'_>,
) -> Result<Arc<Automaton>, LimitError> {
    let (formulas, formula) = formula_of(spec, property);
    let made = automata.of(&formulas, formula);
    made.map_err(|error| LimitError::Formula {
        property: property.name.clone(),
        error,
    })
}

/// Returns the code of a property with this automaton.
pub(super) fn property_code(
    spec: &Spec,
    property: &Property,
    automaton: Arc<Automaton>,
    lower: &mut Lower<'_>,
) -> Result<PropertyCode, LimitError> {
    let ids = spec.formulas.atoms_of(property.formula);
    let mut letters = Vec::with_capacity(ids.len());
    for id in &ids {
        let node = lower.root(spec.atom(*id).expr, false)?;
        letters.push(LetterCode {
            id: *id,
            node,
            reads: lower.code.info(node).reads,
        });
    }
    let trigger = property
        .trigger
        .as_ref()
        .map(|trigger| lower.root(trigger.expr, false))
        .transpose()?;
    let message = property
        .message
        .as_ref()
        .map(|text| message(text, lower))
        .transpose()?;
    let quantified = match &property.quantified {
        None => None,
        Some(quantified) => {
            let mut vars = Vec::with_capacity(quantified.vars.len());
            let mut ranged = 0;
            for (index, var) in quantified.vars.iter().enumerate() {
                if var.range.is_some() {
                    ranged |= 1u32.checked_shl(index as u32).unwrap_or(0);
                }
                let roots =
                    |exprs: &[_], lower: &mut Lower<'_>| -> Result<Vec<NodeId>, LimitError> {
                        exprs.iter().map(|expr| lower.root(*expr, false)).collect()
                    };
                vars.push(VarCode {
                    terms: roots(&var.terms, lower)?,
                    elements: roots(&var.element_terms, lower)?,
                    constants: var.constants.clone(),
                    range: var
                        .range
                        .map(|range| lower.root(range, false))
                        .transpose()?,
                });
            }
            Some(QuantifiedCode {
                universal: quantified.universal,
                ranged,
                release: release(&automaton, &letters, &lower.code, quantified),
                conditions: Box::default(),
                keyed: Box::default(),
                by_value: false,
                counted_by_value: false,
                only_terms: None,
                combinations: 0,
                counts_values: vars.len() != 1
                    || trigger.is_some_and(|trigger| !false_if_unseen(&lower.code, trigger, 0)),
                vars,
            })
        }
    };
    Ok(PropertyCode {
        letters,
        automaton,
        quantified,
        trigger,
        message,
        frame: Box::default(),
        started: OnceLock::new(),
        explained: OnceLock::new(),
        judged: OnceLock::new(),
        unwritten: spec.is_unwritten(property),
    })
}

impl PropertyCode {
    /// Returns the formula of the property for explanations.
    pub(super) fn judged(&self, spec: &Spec, property: &Property) -> &Judged {
        self.judged.get_or_init(|| {
            let (formulas, whole) = formula_of(spec, property);
            let each = match formulas.node(whole) {
                Node::Always(Interval::ALL, each) => Some(each),
                _ => None,
            };
            Judged {
                formulas,
                whole,
                each,
            }
        })
    }

    /// Returns the automaton of `G (s -> φ)` if the formula is `G φ`; `s` is the letter after the others.
    pub(super) fn started(
        &self,
        spec: &Spec,
        property: &Property,
        limits: &Limits,
    ) -> Option<&Automaton> {
        let make = || {
            let Formula::Unary(Unary::Always, None, inner) = spec.formulas.get(property.formula)
            else {
                return None;
            };
            let ids: Vec<AtomId> = self.letters.iter().map(|letter| letter.id).collect();
            let mut formulas = AFormulas::new();
            let inner = translate(&spec.formulas, *inner, place_in(&ids), &mut formulas);
            let start = formulas.atom(Atom(u32::try_from(ids.len()).unwrap_or(u32::MAX)));
            let asked = formulas.implies(start, inner);
            let formula = formulas.always(Interval::ALL, asked);
            Automaton::new(&formulas, formula, limits).ok()
        };
        self.started.get_or_init(make).as_ref()
    }

    /// Checks recorded traces against the automaton of the negation; `None` for bounds in time, and if the formula
    /// exceeds the limits.
    pub(super) fn checker(
        spec: &Spec,
        property: &Property,
        limits: &Limits,
    ) -> Option<PathChecker> {
        let (formulas, formula) = formula_of(spec, property);
        PathChecker::new(&formulas, formula, &limits.automata).ok()
    }
}

/// Whether the spec has bounds in time. Otherwise no result depends on the order of times, and a clock that runs back is not
/// reported.
fn reads_clock(spec: &Spec) -> bool {
    let timed = |window: &Option<Window>| matches!(window, Some(Window::Time(..)));
    (0..spec.formulas.len()).any(|id| match spec.formulas.get(FormulaId::new(id)) {
        Formula::Unary(_, bound, _) | Formula::Binary(_, bound, _, _) => timed(bound),
        _ => false,
    }) || (0..spec.exprs.len()).any(|id| match spec.exprs.get(ExprId::new(id)) {
        Expr::Count { window, .. } | Expr::Past(_, window, ..) => timed(window),
        _ => false,
    })
}

/// Returns a map from letters to atoms, by their index among the letters of a property.
pub(super) fn place_in(letters: &[AtomId]) -> impl Fn(AtomId) -> Atom + '_ {
    |letter| {
        let place = letters.iter().position(|other| *other == letter);
        Atom(
            place
                .and_then(|place| u32::try_from(place).ok())
                .unwrap_or(u32::MAX),
        )
    }
}
