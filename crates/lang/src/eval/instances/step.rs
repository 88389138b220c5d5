//! One event: the instances that it touches, and the effect on all others.

use super::{Buffers, InstanceState, Instances, ROOT, Ranges, Staged};
use crate::eval::binding::{Places, place};
use crate::eval::code::{NodeId, Reads};
use crate::eval::compiled::{PropertyCode, QuantifiedCode, Release};
use crate::eval::distinct::Distinct;
use crate::eval::expr::{Eval, Frame, Val};
use crate::eval::monitor::StateSetInterner;
use crate::eval::register::{Operands, Register};
use crate::value::{Cell, Truth, Value};

impl Instances {
    /// Collects the values of the compared terms; returns the variables with an unknown term.
    pub(super) fn read_terms(
        &mut self,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
        room: &mut Buffers,
    ) -> Places {
        room.singles.clear();
        room.touched.clear();
        let mut unknown = 0;
        for (index, var) in quantified.vars.iter().enumerate() {
            let values = &mut room.values[index];
            values.clear();
            if !var.constants.is_empty() {
                var.constants.iter().for_each(|value| values.insert(value));
            }
            let mut wild = false;
            for term in &var.terms {
                wild |= collect(eval, *term, false, values);
            }
            for term in &var.elements {
                wild |= collect(eval, *term, true, values);
            }
            if wild {
                unknown |= place(index);
            }
        }
        self.wild |= unknown;
        unknown
    }

    /// Collects the values in the ranges; returns the variables whose range is unknown.
    pub(super) fn read_ranges(
        &mut self,
        quantified: &QuantifiedCode,
        eval: &mut Eval<'_>,
        room: &mut Buffers,
    ) -> Ranges {
        let mut doubtful = Ranges::default();
        for (index, var) in quantified.vars.iter().enumerate() {
            let Some(range) = var.range else {
                continue;
            };
            let values = &mut room.in_range[index];
            values.clear();
            if collect(eval, range, true, values) {
                self.wild |= place(index);
                doubtful.add(index, Truth::Unknown);
            }
            for value in values.iter() {
                room.values[index].insert(value);
            }
        }
        doubtful
    }

    /// Records the values that were seen in each place: each combination of them is an instance.
    pub(super) fn note_seen<'v>(
        &mut self,
        quantified: &QuantifiedCode,
        values: impl IntoIterator<Item = &'v [Value]>,
    ) {
        if self.is_crowded(quantified) {
            return;
        }
        for (seen, values) in self.seen.iter_mut().zip(values) {
            for value in values {
                // Beyond this number, combinations are no longer distinguished.
                if seen.len() <= quantified.combinations && !seen.contains(value) {
                    seen.insert(value.clone());
                }
            }
        }
        self.any = self.any || self.seen.iter().all(|seen| !seen.is_empty());
    }

    /// Whether more combinations of values were seen than are distinguished.
    pub(super) fn is_crowded(&self, quantified: &QuantifiedCode) -> bool {
        let sizes = self.seen.iter().map(|seen| seen.len());
        sizes.fold(1, usize::saturating_mul) > quantified.combinations
    }

    /// Computes the next state of each instance that the event touches, from the states before it.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    pub(super) fn stage(
        &mut self,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
        room: &mut Buffers,
    ) {
        let Buffers {
            values,
            singles,
            touched,
            in_range,
            staged,
            ..
        } = room;
        staged.clear();
        if quantified.vars.len() == 1 && !quantified.by_value {
            singles.extend(values[0].drain().map(Some));
        }
        let n_touched = singles.len().max(touched.len());
        eval.eval_cache.work += n_touched as u64;
        for key in 0..n_touched {
            let values = Buffers::key(singles, touched, key);
            if let Some(next) = self.step_instance(
                values, property, quantified, state_sets, eval, step, doubtful, in_range,
            ) {
                let left = false;
                staged.push(Staged { key, next, left });
            }
        }
    }

    /// Returns the state of one instance after the event, or `None` if it does not change.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one instance: all of it is needed"
    )]
    fn step_instance(
        &mut self,
        key: &[Option<Value>],
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
        in_range: &[Distinct],
    ) -> Option<InstanceState> {
        let (class, known) = self.class_of(key);
        let before = &self.classes[class as usize].state;
        let whole = key.iter().all(Option::is_some);
        self.any |= whole;
        let mut range = before.range;
        for (var, value) in key.iter().enumerate() {
            let has = value
                .as_ref()
                .is_some_and(|value| in_range[var].contains(value));
            let doubt = doubtful.possible >> var & 1 == 1;
            range.add(
                var,
                if has {
                    Truth::True
                } else if doubt {
                    Truth::Unknown
                } else {
                    Truth::False
                },
            );
        }
        let gone = before.fixed_at.is_some() && !property.frame.is_empty();
        let trigger = if self.triggered || gone {
            None
        } else {
            property.trigger
        };
        let frame = Frame {
            ids: &property.frame,
            registers: &before.registers,
        };
        let mut eval = eval.instance(key, frame);
        if let Some(trigger) = trigger
            && whole
            && eval.letter(trigger) != Truth::False
        {
            self.triggered = true;
        }
        if before.fixed_at.is_some() {
            let changed = range != before.range;
            if known && !changed {
                return None;
            }
            let now = state_sets.status(&property.automaton, before.state_set).now;
            if !known
                && !changed
                && now == Truth::from(quantified.universal)
                && quantified.release == Release::Neutral
            {
                return None;
            }
            // The instance did not count before: its verdict is final from this event on.
            let counts = |range: Ranges| range.all(quantified.ranged) == Truth::True;
            let fixed_at = if known && counts(range) == counts(before.range) {
                before.fixed_at
            } else {
                Some(fixed_at(now, quantified, step))
            };
            return Some(InstanceState {
                range,
                fixed_at,
                ..before.clone()
            });
        }
        let clock = eval.clock;
        let state_set = state_sets.step(&property.automaton, before.state_set, &clock, |letter| {
            eval.letter(property.letters[letter as usize].node)
        });
        let status = state_sets.status(&property.automaton, state_set);
        if status.fixed {
            let fixed_at = Some(fixed_at(status.now, quantified, step));
            return Some(InstanceState {
                state_set,
                range,
                fixed_at,
                registers: Box::default(),
            });
        }
        let registers = advanced(property, &before.registers, &mut eval);
        Some(InstanceState {
            state_set,
            range,
            fixed_at: None,
            registers,
        })
    }

    /// Steps the root and every class by the letters for values that the event does not have.
    #[allow(
        clippy::too_many_arguments,
        reason = "one event, one property: all of it is needed"
    )]
    pub(super) fn step_classes(
        &mut self,
        number: usize,
        property: &PropertyCode,
        quantified: &QuantifiedCode,
        state_sets: &mut StateSetInterner,
        eval: &mut Eval<'_>,
        step: u32,
        doubtful: Ranges,
        room: &mut Buffers,
    ) -> bool {
        let unseen: &[Option<Value>] = &NOTHING[..quantified.vars.len().min(NOTHING.len())];
        if !self.root_triggered
            && !self.triggered
            && let Some(trigger) = property.trigger
        {
            let frame = Frame {
                ids: &property.frame,
                registers: &self.classes[0].state.registers,
            };
            self.root_triggered = eval.instance(unseen, frame).letter(trigger) != Truth::False;
        }
        let clock = eval.clock;
        let mut any_fixed = false;
        room.state_index.clear();
        let mut live = std::mem::take(&mut self.live);
        let mut kept = 0;
        for position in 0..=live.len() {
            // The root is stepped first, so that classes that reach its state join it.
            let id = if position == 0 {
                ROOT
            } else {
                live[position - 1]
            };
            let class = &mut self.classes[id as usize];
            if id != ROOT && class.members == 0 {
                continue;
            }
            let state = &mut class.state;
            if state.fixed_at.is_none() {
                let frame = Frame {
                    ids: &property.frame,
                    registers: &state.registers,
                };
                let mut eval = eval.instance(unseen, frame);
                let shared = &mut room.shared;
                let known = eval.eval_cache.next_by_class(
                    eval.code,
                    number,
                    property,
                    state.state_set,
                    true,
                );
                let state_set = known.unwrap_or_else(|| {
                    state_sets.step(&property.automaton, state.state_set, &clock, |letter| {
                        let code = &property.letters[letter as usize];
                        if code.reads.has(Reads::FRAME) {
                            return eval.letter(code.node);
                        }
                        *shared[letter as usize].get_or_insert_with(|| eval.letter(code.node))
                    })
                });
                let registers = advanced(property, &state.registers, &mut eval);
                state.state_set = state_set;
                let status = state_sets.status(&property.automaton, state_set);
                if status.fixed {
                    state.fixed_at = Some(fixed_at(status.now, quantified, step));
                    state.registers = Box::default();
                    any_fixed = true;
                } else {
                    state.registers = registers;
                }
            }
            state.range.possible |= doubtful.possible;
            if self.settle(id, &mut room.state_index) {
                live[kept] = id;
                kept += 1;
            }
        }
        live.truncate(kept);
        self.live = live;
        if doubtful.possible != 0 {
            self.fixed_as.clear();
            for id in &self.fixed {
                let state = &mut self.classes[*id as usize].state;
                state.range.possible |= doubtful.possible;
                if let Some(at) = state.fixed_at {
                    self.fixed_as
                        .insert((state.state_set, state.range, at), *id);
                }
            }
        }
        any_fixed
    }
}

/// A key without values, for up to sixteen variables.
const NOTHING: [Option<Value>; 16] = [const { None }; 16];

/// Returns the step at which a verdict became final, if it will be reported. Only that distinguishes instances with a
/// final verdict.
fn fixed_at(now: Truth, quantified: &QuantifiedCode, step: u32) -> u32 {
    if now == Truth::from(!quantified.universal) {
        step
    } else {
        u32::MAX
    }
}

/// Returns the registers of an instance after this step.
fn advanced(
    property: &PropertyCode,
    registers: &[Register],
    eval: &mut Eval<'_>,
) -> Box<[Register]> {
    if registers.is_empty() {
        return Box::default();
    }
    let operands: Vec<Operands> = property
        .frame
        .iter()
        .map(|id| eval.operands(*id, true))
        .collect();
    let mut registers: Box<[Register]> = registers.into();
    for ((register, id), operands) in registers.iter_mut().zip(&property.frame).zip(operands) {
        register.advance(
            &eval.code.registers[*id as usize].kind,
            operands,
            &eval.clock,
        );
    }
    registers
}

/// Adds the value of a term, or its elements. Returns whether it is unknown.
fn collect(eval: &mut Eval<'_>, term: NodeId, elements: bool, into: &mut Distinct) -> bool {
    let value = if eval.tracks.multi {
        match eval.cell(term) {
            Cell::Known(value) => Val::Own(value),
            Cell::Unknown => Val::Unknown,
        }
    } else {
        eval.value(term)
    };
    let Some(value) = value.known() else {
        return true;
    };
    let mut add = |value: &Value| {
        if !value.is_null() {
            into.insert(value);
        }
    };
    match value {
        Value::List(items) if elements => items.iter().for_each(add),
        Value::Set(items) if elements => items.iter().for_each(add),
        value => add(value),
    }
    false
}
