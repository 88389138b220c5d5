//! The state of a trace for one property, and the steps of properties without variables.

use std::sync::Arc;

use super::classes::TransitionCache;
use super::code::NodeId;
use super::compiled::Compiled;
use super::expr::Eval;
use super::instances::Instances;
use super::lazy_product::{Letters, ProductState};
use super::monitor::{StateSetId, StateSetInterner};
use crate::value::Truth;

/// The state of a trace for one property.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) enum Watch {
    Plain {
        state_set: StateSetId,
        /// Whether the trigger held, or may have held.
        triggered: bool,
    },
    Parametric(Arc<Instances>),
}

impl Watch {
    /// Whether an event of a class changes nothing for the property, as far as that is cached or follows from the class
    /// alone. `bit` is the bit of the class.
    #[inline]
    pub(super) fn is_no_op(
        &self,
        program: &Compiled,
        id: usize,
        transitions: &mut TransitionCache,
        class: u32,
        bit: u64,
    ) -> bool {
        match self {
            Watch::Plain {
                state_set,
                triggered,
            } => transitions.is_plain_no_op(&program.code, class, id, *state_set, *triggered),
            // The class decides it only for properties that do not count values.
            Watch::Parametric(instances) => {
                instances.is_known_no_op(bit)
                    || transitions
                        .no_op(program, class, id)
                        .skips(false, instances.has_final_root())
            }
        }
    }
}

impl Letters for Eval<'_> {
    fn open_letter(&mut self, node: NodeId) -> Truth {
        Eval::open_letter(self, node)
    }

    fn by_class(&mut self, node: NodeId) -> Option<Truth> {
        self.eval_cache.by_class(self.code, node)
    }

    fn is_first(&self) -> bool {
        self.clock.position == 0
    }
}

/// Steps the properties of the product, and adds those that must be stepped alone to `alone`. Returns `false` if all must
/// be. The product is taken out of the cache meanwhile, since stepping it evaluates letters.
pub(super) fn step_product(
    program: &Compiled,
    eval: &mut Eval<'_>,
    position: &mut ProductState,
    open: &mut Vec<u32>,
    watches: &mut [Watch],
    settled: &mut Vec<u32>,
    alone: &mut Vec<u32>,
) -> bool {
    let Some((transitions, class)) = eval.eval_cache.class() else {
        return false;
    };
    let mut product = transitions.product.take().unwrap_or_default();
    let plain = |id: u32| match &watches[id as usize] {
        Watch::Plain {
            state_set,
            triggered,
        } => Some((*state_set, *triggered)),
        Watch::Parametric(_) => None,
    };
    let step = product.step(program, eval, class, position, open, plain);
    let joined = step.is_some();
    if let Some(step) = step {
        for (id, state_set, triggered, gone) in step.changes() {
            watches[id as usize] = Watch::Plain {
                state_set,
                triggered,
            };
            if gone {
                open.retain(|other| *other != id);
            }
        }
        settled.extend_from_slice(step.settled());
        alone.extend_from_slice(step.alone());
    }
    if let Some((transitions, _)) = eval.eval_cache.class() {
        transitions.product = Some(product);
    }
    joined
}

/// Steps a property without variables. Returns whether the property is settled: no event can change it any more.
pub(super) fn step_alone(
    program: &Compiled,
    id: u32,
    state_set: &mut StateSetId,
    triggered: &mut bool,
    state_sets: &mut StateSetInterner,
    eval: &mut Eval<'_>,
    settled: &mut Vec<u32>,
) -> bool {
    let property = &program.properties[id as usize];
    let clock = eval.clock;
    if !*triggered && let Some(trigger) = property.trigger {
        *triggered = eval.letter(trigger) != Truth::False;
    }
    let known = eval
        .eval_cache
        .next_by_class(eval.code, id as usize, property, *state_set, true);
    let next = known.unwrap_or_else(|| {
        state_sets.step(&property.automaton, *state_set, &clock, |letter| {
            eval.letter(property.letters[letter as usize].node)
        })
    });
    // A formula that is decided before the first event is recorded at the first step.
    if next == *state_set && clock.position > 0 {
        return false;
    }
    *state_set = next;
    let status = state_sets.status(&property.automaton, next);
    if status.fixed {
        settled.push(id);
    }
    // A satisfied property may still turn out not to be vacuously satisfied.
    let asked = property.trigger.is_some() && !*triggered && status.now == Truth::True;
    status.fixed && !asked
}
