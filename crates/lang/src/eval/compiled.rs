//! A spec compiled for judging traces: immutable code.
//!
//! Everything that steps traces reads this code; [`compile`](super::compile) builds it, and [`Program`](super::Program)
//! adds the pools of caches.

use std::sync::{Arc, OnceLock};

use rustc_hash::FxHashSet;
use smol_str::SmolStr;

use super::binding::{Places, place};
use super::code::{Code, NodeId, Reads};
use super::limits::Limits;
use super::monitor::Automaton;
use super::register::Held;
use crate::hir::Spec;
use crate::ids::{AtomId, ExprId, PropertyId};
use crate::value::Value;
use guard_automata::{Dfa, FormulaId, Formulas};

/// A compiled spec: an evaluator table for its expressions, an automaton for each formula.
#[derive(Debug)]
pub(super) struct Compiled {
    pub(super) spec: Arc<Spec>,
    pub(super) limits: Limits,
    pub(super) code: Code,
    /// The properties of the spec, followed by those that monitor some of them again after violations.
    pub(super) properties: Vec<PropertyCode>,
    /// The clauses of `enforce`; empty unless compiled for live runs.
    pub(super) clauses: ClauseCode,
    pub(super) filter: FilterCode,
    /// Expressions that are observed after each step, see [`Program::observing`](super::Program::observing).
    pub(super) observed: Vec<NodeId>,
    /// The values of tracks before the first event.
    pub(super) initial: Vec<Held>,
    pub(super) clock: Option<usize>,
    /// The meta fields, by number, that stepping, naming or reporting a trace reads: all but those of `records where` and
    /// `complete` alone.
    pub(super) step_facts: Box<[usize]>,
    /// For each expression, its readers as text for messages.
    pub(super) readers: OnceLock<Vec<String>>,
}

impl Compiled {
    pub(super) fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Returns those of the given properties that are not in the product.
    pub(super) fn stepped_alone(
        &self,
        ids: impl IntoIterator<Item = u32>,
    ) -> impl Iterator<Item = u32> {
        let product = self.code.classes.product();
        ids.into_iter()
            .filter(|id| product.binary_search(id).is_err())
    }

    /// Returns the properties of the spec.
    pub(super) fn property_ids(&self) -> impl Iterator<Item = PropertyId> + use<> {
        (0..self.spec.properties.len()).map(PropertyId::new)
    }

    /// Returns the automaton of a property, or `None` if it has none (bounds in time) or is quantified.
    pub(super) fn dfa(&self, property: PropertyId) -> Option<&Dfa> {
        let code = self.properties.get(property.index())?;
        match &*code.automaton {
            Automaton::Dfa { dfa, .. } if code.quantified.is_none() => Some(dfa),
            _ => None,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct FilterCode {
    pub(super) step: Option<NodeId>,
    pub(super) record: Option<NodeId>,
    pub(super) complete: Option<NodeId>,
    pub(super) id: Option<Message>,
}

/// A message template with values.
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
    pub(super) id: AtomId,
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
    /// For `G φ`: the automaton of `G (s -> φ)`, whose last letter `s` marks the positions at which φ is evaluated.
    pub(super) started: OnceLock<Option<Automaton>>,
    /// See [`Compiled::explained`].
    pub(super) explained: OnceLock<Explained>,
    /// See [`PropertyCode::judged`].
    pub(super) judged: OnceLock<Judged>,
    /// See [`Spec::is_unwritten`].
    pub(super) unwritten: bool,
}

/// The formula of a property over its letters, in their order.
#[derive(Debug)]
pub(super) struct Judged {
    pub(super) formulas: Formulas,
    pub(super) whole: FormulaId,
    /// φ, if the formula is `G φ`.
    pub(super) each: Option<FormulaId>,
}

/// The expressions that an explanation of a property reads.
#[derive(Clone, Copy, Debug)]
pub(super) struct Explained {
    /// One bit for each field (up to the number of bits) that the letters or the message read at the step itself.
    /// Tracks and registers read only fields that were already read when the step was judged.
    pub(super) fields: u64,
    /// Whether the letters, the message or the condition on steps read tracks or registers.
    pub(super) past: bool,
}

#[derive(Debug)]
pub(super) struct QuantifiedCode {
    pub(super) universal: bool,
    pub(super) vars: Vec<VarCode>,
    /// Bits of the variables that are restricted to a range.
    pub(super) ranged: u32,
    pub(super) release: Release,
    /// The letters, the trigger, and the conditions that registers of instances count: instances differ only by the
    /// effect of their values on these.
    pub(super) conditions: Box<[Condition]>,
    /// The nodes of the conditions that read tracks by a variable.
    pub(super) keyed: Box<[NodeId]>,
    /// Whether a condition depends on the value of a variable itself, not only on the terms that have it.
    pub(super) by_value: bool,
    /// Whether a register of the instance counts such a condition; it then depends on the value at every event.
    pub(super) counted_by_value: bool,
    /// `None` if the instances that an event touches depend on more than terms, or if there are too many terms.
    pub(super) only_terms: Option<OnlyTerms>,
    /// The greatest number of combinations of seen values that are distinguished; beyond it, an unknown key may be any
    /// of them.
    pub(super) combinations: usize,
    /// Whether the occurrence of a value has an effect on its own: the trigger may hold for values that no term has.
    pub(super) counts_values: bool,
}

#[derive(Debug)]
pub(super) struct VarCode {
    pub(super) terms: Vec<NodeId>,
    pub(super) elements: Vec<NodeId>,
    pub(super) constants: Vec<Value>,
    pub(super) range: Option<NodeId>,
}

/// The terms that variables are compared with, if the touched instances depend on these terms only.
#[derive(Debug)]
pub(super) struct OnlyTerms {
    /// The terms, each with its variable. Sets of terms are bits of a byte.
    pub(super) terms: Box<[(u32, NodeId)]>,
    /// Proper subsets of several variables whose values alone may distinguish tuples: the variables, and the bits of their
    /// terms.
    pub(super) parts: Box<[(Places, u8)]>,
}

impl OnlyTerms {
    /// Returns the terms of a property, or `None` if the touched instances depend on more than terms.
    pub(super) fn of(quantified: &QuantifiedCode) -> Option<OnlyTerms> {
        let vars = &quantified.vars;
        let only = vars
            .iter()
            .all(|var| var.elements.is_empty() && var.constants.is_empty() && var.range.is_none());
        let pairs = (0u32..)
            .zip(vars)
            .flat_map(|(index, var)| var.terms.iter().map(move |term| (index, *term)));
        let terms: Box<[(u32, NodeId)]> = pairs.collect();
        if !only || terms.len() > 8 || vars.len() > 8 || quantified.release != Release::Neutral {
            return None;
        }
        let tells_apart = |places: &Places| {
            let mut conditions = quantified.conditions.iter();
            conditions.any(|condition| condition.tells_apart(*places, *places, 0))
        };
        let bits = |places: Places| {
            let bits = (0..8).zip(&terms).map(|(at, (var, _))| {
                let is_part = places & place(*var as usize) != 0;
                u8::from(is_part) << at
            });
            (places, bits.sum())
        };
        let proper = 1..(1 << vars.len()) - 1;
        let parts = proper.filter(tells_apart).map(bits).collect();
        Some(OnlyTerms { terms, parts })
    }
}

/// The greatest number of combinations that an unknown key may represent, if the existing combinations matter.
const COMBINATIONS: usize = 100_000;

/// The same limit if they do not matter.
const FEW_COMBINATIONS: usize = 4;

impl QuantifiedCode {
    /// Returns the number of combinations of values that have to be distinguished.
    ///
    /// If every condition needs the values of all variables, only tuples that are kept differ from a tuple of unseen values: an
    /// event with an unknown key leads some tuples to the same states as the root, and perhaps to more. So an unknown key may
    /// be any value if the root and the bindings of fewer variables satisfy the property, whichever values there are. Of 10^5
    /// pairs with one first value, the second ones took five times the memory of the pairs.
    pub(super) fn needed_combinations(&self, n_registers: usize) -> usize {
        let mut reading = self.conditions.iter().filter(|of| of.reads != 0);
        let needs_all = reading.all(|of| of.needs.count_ones() as usize == self.vars.len());
        let is_plain = self.only_terms.is_some() && n_registers == 0 && !self.by_value;
        match needs_all && is_plain {
            true => FEW_COMBINATIONS,
            false => COMBINATIONS,
        }
    }
}

/// The dependence of a condition on the variables of a property.
#[derive(Clone, Copy, Debug)]
pub(super) struct Condition {
    /// The variables that the condition reads.
    pub(super) reads: Places,
    /// The variables that must be equal to a compared term. If all their compared terms are known and none is equal,
    /// the condition is false.
    pub(super) needs: Places,
    /// Whether the condition depends on the values themselves, not only on the terms that have them.
    pub(super) by_value: bool,
}

impl Condition {
    /// Whether the condition may distinguish tuples that have an event's values in `places` from tuples that lack them in the
    /// places `new`. `unknown` are the variables with an unknown compared term.
    pub(super) fn tells_apart(&self, places: Places, new: Places, unknown: Places) -> bool {
        self.reads & new != 0 && self.needs & !unknown & !places == 0
    }
}

/// Whether an instance in the same state as the root may be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Release {
    /// It may: the root never has a verdict that decides the property while only unseen values are read.
    Neutral,
    /// It may not: at the end, each value that occurred may be reported.
    Never,
}

/// The clauses of a spec.
#[derive(Debug, Default)]
pub(super) struct ClauseCode {
    /// The property or claim of each clause.
    pub(super) watched: Vec<WatchedCode>,
    /// The texts of each arm of each clause.
    pub(super) arm_texts: Vec<Vec<ArmTexts>>,
    /// The dependencies of each clause.
    pub(super) depends: Vec<Depends>,
}

/// The property or claim of a clause.
#[derive(Clone, Copy, Debug)]
pub(super) enum WatchedCode {
    /// A property, and the index of the one that monitors it after violations.
    Property(PropertyId, Option<usize>),
    When(NodeId),
    /// A claim about a model: the caller, which tracks the position on the model, evaluates it.
    Elsewhere,
}

/// The texts of an arm.
#[derive(Debug, Default)]
pub(super) struct ArmTexts {
    pub(super) message: Option<Message>,
    pub(super) args: Vec<(Option<SmolStr>, NodeId)>,
}

/// Everything on which a clause's property, query or condition may depend.
#[derive(Debug, Default)]
pub(super) struct Depends {
    /// Positions of fields, of the event and of the record.
    pub(super) fields: Vec<usize>,
    pub(super) meta: Vec<usize>,
    /// Tracks, by number.
    pub(super) tracks: Vec<usize>,
    pub(super) exprs: FxHashSet<ExprId>,
    /// Whether an expression reads registers.
    pub(super) history: bool,
    /// Whether an expression is a `todo`.
    pub(super) todo: bool,
    /// The largest parts of its conditions that read no `@outcome` field and no bound name; empty for a spec without such fields.
    pub(super) beside_outcomes: Box<[NodeId]>,
}
