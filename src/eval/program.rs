//! A spec made ready to judge traces.

use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::automata::Automata;
use super::classes::{Classes, TransitionCache};
use super::clause::ClauseCode;
use super::clock::Clock;
use super::code::{Code, NodeId, Reads, TrackCode};
use super::eval_cache::EvalCache;
use super::expr::{Eval, Frame};
use super::instance_gc::{Release, false_if_unseen, release};
use super::limits::{LimitError, Limits};
use super::lower::{Lower, values_of};
use super::monitor::Automaton;
use super::register::Held;
use super::track::Tracks;
use super::world::{Cache, World};
use crate::hir::{Expr, Formula, Property, Spec, Text, TextPart, Unary, Window};
use crate::ids::{ExprId, FormulaId, LetterId, PropertyId};
use crate::pool::{Pool, PoolGuard};
use crate::translate::translate;
use crate::value::{Cell, Value};
use guard_automata::{Atom, FormulaId as AFormulaId, Formulas as AFormulas, Interval, PathChecker};

/// Caches that are kept for later traces; more are in use at once only while traces are spread over lines.
const MOST_CACHES: usize = 64;

/// A spec compiled for judging: an evaluator table for its expressions, an automaton for each formula.
///
/// Compiled once and shared between threads: nothing of it changes while traces are judged. What stepping keeps is in a
/// [`Cache`] for each trace and a [`TransitionCache`] for each thread that steps, both from pools.
#[derive(Debug)]
pub struct Program {
    pub(super) spec: Arc<Spec>,
    pub(super) limits: Limits,
    pub(super) code: Code,
    /// Those of the spec, and after them what watches some of them on after violations.
    pub(super) properties: Vec<PropertyCode>,
    /// The clauses of `enforce`; none but for live runs.
    pub(super) clauses: ClauseCode,
    /// A trace of which nothing was read.
    first: OnceLock<World>,
    pub(super) filter: FilterCode,
    /// Expressions that are looked at after each step, by [`Program::observing`].
    pub(super) observed: Vec<NodeId>,
    /// What tracks hold before the first event.
    pub(super) initial: Vec<Held>,
    pub(super) clock: Option<usize>,
    /// What was learned of classes of events, for the next thread that steps; about one for each thread.
    transitions: Pool<TransitionCache>,
    /// Caches for the traces that are open.
    caches: Pool<Cache>,
}

#[derive(Debug, Default)]
pub(super) struct FilterCode {
    pub(super) step: Option<NodeId>,
    pub(super) record: Option<NodeId>,
    pub(super) complete: Option<NodeId>,
    pub(super) id: Option<Message>,
}

/// A text with values in it.
#[derive(Debug)]
pub(super) struct Message {
    pub(super) parts: Vec<MessagePart>,
}

#[derive(Debug)]
pub(super) enum MessagePart {
    Literal(SmolStr),
    Value(NodeId, Option<SmolStr>),
}

#[derive(Debug)]
pub(super) struct LetterCode {
    pub(super) id: LetterId,
    pub(super) node: NodeId,
    pub(super) reads: Reads,
}

#[derive(Debug)]
pub(super) struct PropertyCode {
    pub(super) letters: Vec<LetterCode>,
    pub(super) automaton: Arc<Automaton>,
    pub(super) quantified: Option<QuantifiedCode>,
    pub(super) trigger: Option<NodeId>,
    pub(super) message: Option<Message>,
    /// The registers that each instance has.
    pub(super) frame: Box<[u32]>,
    /// For `G φ`: the automaton of `G (s -> φ)`, whose last letter `s` marks where φ is asked for.
    pub(super) started: OnceLock<Option<Automaton>>,
    /// See [`Program::explained`].
    pub(super) explained: OnceLock<Explained>,
    /// See [`Spec::is_unwritten`].
    pub(super) unwritten: bool,
}

/// What explaining a property reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explained {
    /// A bit for each field, as far as there are bits, that the letters or the message read at a step itself. Tracks and
    /// registers read no more of a step than they did when it was judged.
    pub(super) fields: u64,
    /// Whether they read tracks or registers, or the condition on steps does.
    pub(super) past: bool,
}

#[derive(Debug)]
pub(super) struct QuantifiedCode {
    pub(super) universal: bool,
    pub(super) vars: Vec<VarCode>,
    /// Bits of the variables that have a range.
    pub(super) ranged: u32,
    pub(super) release: Release,
    /// Whether it matters that some value was met, whatever else the event was: the trigger may hold for values that
    /// nothing has.
    pub(super) counts_values: bool,
}

#[derive(Debug)]
pub(super) struct VarCode {
    pub(super) terms: Vec<NodeId>,
    pub(super) elements: Vec<NodeId>,
    pub(super) constants: Vec<Value>,
    pub(super) range: Option<NodeId>,
}

impl Program {
    /// Compiles a spec.
    ///
    /// # Errors
    /// [`LimitError`], where a formula is beyond all limits.
    pub fn compile(spec: &Spec, limits: &Limits) -> Result<Program, LimitError> {
        Program::new(Arc::new(spec.clone()), &[], limits, false)
    }

    /// The same, with expressions that can be looked at after each step (see [`Program::observe`]).
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn observing(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
    ) -> Result<Program, LimitError> {
        Program::new(spec, observed, limits, false)
    }

    /// Compiles a spec for live runs: with its `enforce` clauses, and with expressions to be [looked](super::Observation) at.
    ///
    /// # Errors
    /// As [`Program::compile`].
    pub fn compile_live(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
    ) -> Result<Program, LimitError> {
        Program::new(spec, observed, limits, true)
    }

    fn new(
        spec: Arc<Spec>,
        observed: &[ExprId],
        limits: &Limits,
        live: bool,
    ) -> Result<Program, LimitError> {
        let shared = Arc::clone(&spec);
        let spec = &*spec;
        let initial = initial_values(spec, limits)?;
        let known = |cell: &Cell| match cell {
            Cell::Known(value) => Some(value.clone()),
            Cell::Unknown => None,
        };
        let mut lower = Lower::new(spec, initial.iter().map(known).collect());
        for track in &spec.tracks {
            let roots =
                |terms: &Vec<_>, lower: &mut Lower<'_>| -> Result<Vec<NodeId>, LimitError> {
                    terms.iter().map(|term| lower.root(*term, true)).collect()
                };
            let compared: Result<Vec<_>, LimitError> = track
                .compared
                .iter()
                .map(|terms| roots(terms, &mut lower))
                .collect();
            let update = lower.root(track.update, true)?;
            lower.code.tracks.push(TrackCode {
                name: track.name.clone(),
                n_params: track.params.len(),
                compared: compared?,
                update,
                finite: values_of(&track.ty),
                frame: Box::default(),
            });
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
        let mut automata = Automata::new(limits);
        let mut properties = Vec::with_capacity(spec.properties.len());
        for property in &spec.properties {
            let automaton = automaton(spec, property, &mut automata)?;
            properties.push(property_code(spec, property, automaton, &mut lower)?);
        }
        let clauses = if live {
            ClauseCode::new(spec, &mut properties, &mut automata, &mut lower)?
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
        }
        for index in 0..code.tracks.len() {
            code.tracks[index].frame = code.frame_of([code.tracks[index].update]);
        }
        code.classes = Classes::new(&code, &properties);
        let held = |(cell, track): (Cell, &TrackCode)| match cell {
            Cell::Known(value) => Held::One(value),
            Cell::Unknown => Held::anything(track),
        };
        let initial = initial.into_iter().zip(&code.tracks).map(held).collect();
        Ok(Program {
            clock: spec.signature.clock.filter(|_| reads_clock(spec)),
            spec: shared,
            limits: limits.clone(),
            code,
            properties,
            clauses,
            first: OnceLock::new(),
            filter,
            observed,
            initial,
            transitions: Pool::new(usize::MAX),
            caches: Pool::new(MOST_CACHES),
        })
    }

    /// Those of some properties that are not stepped as one.
    pub(super) fn stepped_alone(
        &self,
        ids: impl IntoIterator<Item = u32>,
    ) -> impl Iterator<Item = u32> {
        let product = self.code.classes.product();
        ids.into_iter()
            .filter(|id| product.binary_search(id).is_err())
    }

    /// What was learned of classes of events so far, for whoever steps.
    pub(super) fn transitions(&self) -> PoolGuard<TransitionCache> {
        self.transitions.get(TransitionCache::default)
    }

    /// A cache for one trace, as new.
    pub(super) fn cache(&self) -> PoolGuard<Cache> {
        self.caches.get(|| Cache::new(self))
    }

    /// The limits in force.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The spec that it was made from.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// The properties of the spec.
    pub(super) fn property_ids(&self) -> impl Iterator<Item = PropertyId> + use<> {
        (0..self.spec.properties.len()).map(PropertyId::new)
    }

    /// A trace of which nothing was read; what events do not change is shared between traces.
    pub(super) fn first_world(&self) -> World {
        self.first.get_or_init(|| World::new(self)).clone()
    }
}

/// The initial values of all tracks; they read no event.
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
    let mut eval = Eval {
        code: &code,
        cells: &[],
        meta: &[],
        tracks: &tracks,
        registers: &[],
        clock: Clock::default(),
        vars: &[],
        params: &[],
        frame: Frame::NONE,
        eval_cache: &mut eval_cache,
    };
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

/// The formula of a property over its letters, in their order.
fn formula_of(spec: &Spec, property: &Property) -> (AFormulas, AFormulaId) {
    let ids = spec.formulas.letters_of(property.formula);
    let mut formulas = AFormulas::new();
    let formula = translate(
        &spec.formulas,
        property.formula,
        place_in(&ids),
        &mut formulas,
    );
    (formulas, formula)
}

/// The automaton of a property.
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

/// A property that is followed by this automaton.
pub(super) fn property_code(
    spec: &Spec,
    property: &Property,
    automaton: Arc<Automaton>,
    lower: &mut Lower<'_>,
) -> Result<PropertyCode, LimitError> {
    let ids = spec.formulas.letters_of(property.formula);
    let mut letters = Vec::with_capacity(ids.len());
    for id in &ids {
        let node = lower.root(spec.letter(*id).expr, false)?;
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
            let release = if quantified.reads_tracks {
                Release::ReadsTracks
            } else {
                release(&automaton, &letters, &lower.code, quantified)
            };
            Some(QuantifiedCode {
                universal: quantified.universal,
                ranged,
                release,
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
        unwritten: spec.is_unwritten(property),
    })
}

impl QuantifiedCode {
    /// The terms that the only variable is compared with, where they alone say which of its values an event touches.
    pub(super) fn only_terms(&self) -> Option<&[NodeId]> {
        let [var] = &*self.vars else {
            return None;
        };
        let only = var.elements.is_empty() && var.constants.is_empty() && var.range.is_none();
        // Sets of terms are bits of a byte.
        (only && var.terms.len() <= 4 && self.release == Release::Neutral).then_some(&*var.terms)
    }
}

impl PropertyCode {
    /// The automaton of `G (s -> φ)` where the formula is `G φ`; `s` is the letter after the others.
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
            let ids: Vec<LetterId> = self.letters.iter().map(|letter| letter.id).collect();
            let mut formulas = AFormulas::new();
            let inner = translate(&spec.formulas, *inner, place_in(&ids), &mut formulas);
            let start = formulas.atom(Atom(u32::try_from(ids.len()).unwrap_or(u32::MAX)));
            let asked = formulas.implies(start, inner);
            let formula = formulas.always(Interval::ALL, asked);
            Automaton::new(&formulas, formula, limits).ok()
        };
        self.started.get_or_init(make).as_ref()
    }

    /// Checks recorded traces against the automaton of the negation; none for bounds in time and beyond the limits.
    pub(super) fn checker(
        spec: &Spec,
        property: &Property,
        limits: &Limits,
    ) -> Option<PathChecker> {
        let (formulas, formula) = formula_of(spec, property);
        PathChecker::new(&formulas, formula, &limits.automata).ok()
    }
}

/// Whether some bound of the spec is in time. Without one nothing depends on the order of times, and a clock that runs
/// back is nobody's concern.
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

/// Letters as atoms, by their place among the letters of a property.
pub(super) fn place_in(letters: &[LetterId]) -> impl Fn(LetterId) -> Atom + '_ {
    |letter| {
        let place = letters.iter().position(|other| *other == letter);
        Atom(
            place
                .and_then(|place| u32::try_from(place).ok())
                .unwrap_or(u32::MAX),
        )
    }
}
