//! The state of a trace for one property, and its step.

use std::sync::Arc;

use super::classes::TransitionCache;
use super::code::NodeId;
use super::compiled::Compiled;
use super::expr::Eval;
use super::instances::{Buffers, Instances};
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

/// One step of all properties of a world: what it reads, and where its effects are kept.
pub(super) struct Stepper<'a> {
    pub(super) program: &'a Compiled,
    pub(super) eval: Eval<'a>,
    /// The position of the event in its record.
    pub(super) index: u32,
    pub(super) state_sets: &'a mut [StateSetInterner],
    /// Properties of the product that have to be stepped outside of it.
    pub(super) alone: &'a mut Vec<u32>,
    pub(super) buffers: &'a mut Buffers,
    /// Properties whose verdict may have become final at this step.
    pub(super) settled: &'a mut Vec<u32>,
}

impl Stepper<'_> {
    /// Steps the properties that are open in the product: together as far as that is possible, the others alone.
    pub(super) fn step_open(
        &mut self,
        open: &mut Vec<u32>,
        watches: &mut [Watch],
        position: &mut ProductState,
    ) {
        self.alone.clear();
        let joined = self.step_product(open, watches, position);
        if !joined {
            self.alone.clear();
            self.alone.extend_from_slice(open);
        }
        for place in 0..self.alone.len() {
            let id = self.alone[place];
            let watch = &mut watches[id as usize];
            let gone = self.step_one(id, watch);
            if gone {
                open.retain(|other| *other != id);
            }
            let n_states = self.program.code.classes.n_states(id as usize);
            let leaves = matches!(watch, Watch::Plain { state_set, .. } if *state_set < n_states);
            if gone || !joined || leaves {
                *position = ProductState::NONE;
            }
        }
    }

    /// Steps the properties of the product, and notes those that must be stepped alone. Returns `false` if all must be. The
    /// product is taken out of the cache meanwhile, since stepping it evaluates letters.
    fn step_product(
        &mut self,
        open: &mut Vec<u32>,
        watches: &mut [Watch],
        position: &mut ProductState,
    ) -> bool {
        let Some((transitions, class)) = self.eval.eval_cache.class() else {
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
        let step = product.step(self.program, &mut self.eval, class, position, open, plain);
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
            self.settled.extend_from_slice(step.settled());
            self.alone.extend_from_slice(step.alone());
        }
        if let Some((transitions, _)) = self.eval.eval_cache.class() {
            transitions.product = Some(product);
        }
        joined
    }

    /// Steps a property by itself. Returns whether no event can change it any more.
    pub(super) fn step_one(&mut self, id: u32, watch: &mut Watch) -> bool {
        match watch {
            Watch::Plain {
                state_set,
                triggered,
            } => self.step_plain(id, state_set, triggered),
            Watch::Parametric(instances) => self.step_instances(id, instances),
        }
    }

    fn step_plain(&mut self, id: u32, state_set: &mut StateSetId, triggered: &mut bool) -> bool {
        let property = &self.program.properties[id as usize];
        let state_sets = &mut self.state_sets[id as usize];
        let eval = &mut self.eval;
        let clock = eval.clock;
        if !*triggered && let Some(trigger) = property.trigger {
            *triggered = eval.letter(trigger) != Truth::False;
        }
        let known =
            eval.eval_cache
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
            self.settled.push(id);
        }
        // A satisfied property may still turn out not to be vacuously satisfied.
        let asked = property.trigger.is_some() && !*triggered && status.now == Truth::True;
        status.fixed && !asked
    }

    fn step_instances(&mut self, id: u32, instances: &mut Arc<Instances>) -> bool {
        let at = id as usize;
        let property = &self.program.properties[at];
        let Some(quantified) = &property.quantified else {
            return true;
        };
        let no_op = instances.no_op(at, property, quantified, &mut self.eval);
        if no_op.skips(quantified.counts_values, instances.has_final_root()) {
            if let Some(instances) = Arc::get_mut(instances) {
                instances.note_no_op(self.eval.eval_cache.class_bit());
            }
            return false;
        }
        let instances = Arc::make_mut(instances);
        let most = self.program.limits.instances;
        let (eval, buffers) = (&mut self.eval, &mut *self.buffers);
        if instances.try_step_fast(at, property, quantified, eval, most, buffers) {
            return false;
        }
        let state_sets = &mut self.state_sets[at];
        let fixed = instances.step(
            at, property, quantified, state_sets, eval, self.index, most, buffers,
        );
        if fixed {
            self.settled.push(id);
        }
        fixed && instances.is_idle(property, quantified, state_sets)
    }
}
