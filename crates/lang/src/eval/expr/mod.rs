//! The value of an expression at a step.
//!
//! One [`Eval`] evaluates at one step in one world, for one instance or key. Values are borrowed from the data where
//! possible. This module handles unknown operands; `ops` implements the operators on known ones.

mod ranges;
mod sets;
mod truth;
mod value;

use crate::eval::clock::Clock;
use crate::eval::code::{Code, Node, NodeId, Reads};
use crate::eval::eval_cache::EvalCache;
use crate::eval::ops::Fault;
use crate::eval::register::Register;
use crate::eval::text;
use crate::eval::track::Tracks;
use crate::value::{Cell, Truth, Value};

/// The value of a node.
#[derive(Clone, Debug)]
pub(in crate::eval) enum Val<'a> {
    Ref(&'a Value),
    Own(Value),
    Unknown,
    /// Any value that has not been seen: different from every known value.
    Fresh,
}

impl<'a> Val<'a> {
    pub(in crate::eval) fn known(&self) -> Option<&Value> {
        match self {
            Val::Ref(value) => Some(value),
            Val::Own(value) => Some(value),
            Val::Unknown | Val::Fresh => None,
        }
    }

    pub(in crate::eval) fn into_cell(self) -> Cell {
        match self {
            Val::Ref(value) => Cell::Known(value.clone()),
            Val::Own(value) => Cell::Known(value),
            Val::Unknown | Val::Fresh => Cell::Unknown,
        }
    }

    fn own(cell: Cell) -> Val<'a> {
        match cell {
            Cell::Known(value) => Val::Own(value),
            Cell::Unknown => Val::Unknown,
        }
    }

    fn of_cell(cell: &'a Cell) -> Val<'a> {
        match cell {
            Cell::Known(value) => Val::Ref(value),
            Cell::Unknown => Val::Unknown,
        }
    }

    fn of_truth(truth: Truth) -> Val<'a> {
        truth
            .known()
            .map_or(Val::Unknown, |value| Val::Own(Value::Bool(value)))
    }
}

/// The registers of an instance or of a key.
#[derive(Clone, Copy, Debug)]
pub(in crate::eval) struct Frame<'a> {
    pub(in crate::eval) ids: &'a [u32],
    pub(in crate::eval) registers: &'a [Register],
}

impl Frame<'_> {
    pub(in crate::eval) const NONE: Frame<'static> = Frame {
        ids: &[],
        registers: &[],
    };
}

#[derive(Debug)]
pub(in crate::eval) struct Eval<'a> {
    pub(in crate::eval) code: &'a Code,
    pub(in crate::eval) cells: &'a [Cell],
    pub(in crate::eval) meta: &'a [Cell],
    pub(in crate::eval) tracks: &'a Tracks,
    /// Registers of the trace, by slot, as they were before this step.
    pub(in crate::eval) registers: &'a [Register],
    pub(in crate::eval) clock: Clock,
    pub(in crate::eval) vars: &'a [Option<Value>],
    pub(in crate::eval) params: &'a [Option<Value>],
    pub(in crate::eval) frame: Frame<'a>,
    pub(in crate::eval) eval_cache: &'a mut EvalCache,
}

impl<'a> Eval<'a> {
    /// Returns the evaluator of a step outside of any trace, for expressions that read nothing of earlier steps.
    pub(in crate::eval) fn alone(
        code: &'a Code,
        cells: &'a [Cell],
        tracks: &'a Tracks,
        eval_cache: &'a mut EvalCache,
    ) -> Eval<'a> {
        Eval {
            code,
            cells,
            meta: &[],
            tracks,
            registers: &[],
            clock: Clock::default(),
            vars: &[],
            params: &[],
            frame: Frame::NONE,
            eval_cache,
        }
    }

    /// Returns the evaluator of the same step for an instance.
    pub(in crate::eval) fn instance<'b>(
        &'b mut self,
        vars: &'b [Option<Value>],
        frame: Frame<'b>,
    ) -> Eval<'b> {
        Eval {
            code: self.code,
            cells: self.cells,
            meta: self.meta,
            tracks: self.tracks,
            registers: self.registers,
            clock: self.clock,
            vars,
            params: self.params,
            frame,
            eval_cache: self.eval_cache,
        }
    }

    /// Returns the evaluator of the same step for a key of a track.
    pub(in crate::eval) fn key<'b>(
        &'b mut self,
        params: &'b [Option<Value>],
        frame: Frame<'b>,
    ) -> Eval<'b> {
        Eval {
            params,
            frame,
            ..self.instance(&[], Frame::NONE)
        }
    }

    /// Returns the truth of a Boolean expression that is evaluated as a whole.
    #[inline]
    pub(in crate::eval) fn letter(&mut self, id: NodeId) -> Truth {
        match self.eval_cache.by_class(self.code, id) {
            Some(truth) => truth,
            None => self.open_letter(id),
        }
    }

    /// Returns the same for an expression that the class of the event does not determine.
    #[inline]
    pub(in crate::eval) fn open_letter(&mut self, id: NodeId) -> Truth {
        if self.tracks.multi && self.code.info(id).reads.has(Reads::TRACK) {
            let mut found: Option<Truth> = None;
            let complete = self.each_choice(|eval| {
                let truth = eval.truth(id);
                let agreed = *found.get_or_insert(truth) == truth;
                if !agreed {
                    found = Some(Truth::Unknown);
                }
                found != Some(Truth::Unknown)
            });
            return if complete {
                found.unwrap_or(Truth::Unknown)
            } else {
                Truth::Unknown
            };
        }
        self.truth(id)
    }

    /// Passes the value of an expression to a function without copying it. Returns `None` if it is unknown.
    #[inline]
    pub(in crate::eval) fn with_value<T>(
        &mut self,
        id: NodeId,
        read: impl FnOnce(Option<&Value>) -> T,
    ) -> T {
        if self.tracks.multi && self.code.info(id).reads.has(Reads::TRACK) {
            return match self.cell(id) {
                Cell::Known(value) => read(Some(&value)),
                Cell::Unknown => read(None),
            };
        }
        let value = self.value(id);
        read(value.known())
    }

    /// Returns the value of an expression that is evaluated as a whole.
    pub(in crate::eval) fn cell(&mut self, id: NodeId) -> Cell {
        if self.tracks.multi && self.code.info(id).reads.has(Reads::TRACK) {
            let mut found: Option<Cell> = None;
            let complete = self.each_choice(|eval| {
                let cell = eval.value(id).into_cell();
                let agreed = *found.get_or_insert_with(|| cell.clone()) == cell;
                if !agreed {
                    found = Some(Cell::Unknown);
                }
                found != Some(Cell::Unknown)
            });
            return if complete {
                found.unwrap_or(Cell::Unknown)
            } else {
                Cell::Unknown
            };
        }
        self.value(id).into_cell()
    }

    /// Binds the variable of a quantifier; returns its previous value.
    pub(in crate::eval) fn set_local(&mut self, local: u32, value: Cell) -> Cell {
        std::mem::replace(&mut self.eval_cache.locals[local as usize], value)
    }

    /// Evaluates once for every combination of values that the tracks in the expression may have, until `look` returns
    /// false. Returns whether no combination was left out because of a limit.
    pub(in crate::eval) fn each_choice(
        &mut self,
        mut look: impl FnMut(&mut Eval<'a>) -> bool,
    ) -> bool {
        let before = (
            self.eval_cache.choosing,
            std::mem::take(&mut self.eval_cache.choices),
        );
        self.eval_cache.choosing = true;
        let mut complete = false;
        for _ in 0..self.eval_cache.n_choices_most {
            if !look(self) {
                complete = true;
                break;
            }
            // The last choice advances; choices that depend on it start again.
            while let Some(last) = self.eval_cache.choices.last_mut() {
                last.at += 1;
                if last.at < last.values.len() {
                    break;
                }
                self.eval_cache.choices.pop();
            }
            if self.eval_cache.choices.is_empty() {
                complete = true;
                break;
            }
        }
        (self.eval_cache.choosing, self.eval_cache.choices) = before;
        complete
    }

    fn keeps(&self, id: NodeId) -> bool {
        let info = self.code.info(id);
        info.memo && !(self.tracks.multi && info.reads.has(Reads::TRACK))
    }

    fn fault(&mut self, id: NodeId, fault: Fault) {
        let Some(place) = self.eval_cache.fault(id, fault) else {
            return;
        };
        let code = self.code;
        let mut met = Vec::new();
        for operand in code.operands(id) {
            if let (false, Cell::Known(value)) = (
                matches!(code.node(operand), Node::Const(_)),
                self.value(operand).into_cell(),
            ) {
                met.push((
                    operand,
                    text::cut(text::quoted(code, &value), text::EVIDENCE),
                ));
            }
        }
        self.eval_cache.fault_met(place, met);
    }
}
