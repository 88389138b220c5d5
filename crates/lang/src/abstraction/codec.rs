//! Conversion of one component of a state to a number and back.

use std::sync::{PoisonError, RwLock};

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;
use smol_str::{SmolStr, format_smolstr};

use super::SpaceError;
use crate::eval::{Observation, Program};
use crate::hir::{Component, Domain, PropertyKind, Source, Spec};
use crate::ids::PropertyId;
use crate::value::{Cell, EnumValue, Number, Value};
use guard_automata::{Dfa, Finality, StateId};

/// The number of bits of a text, which is stored as its number in the table of its component.
const TEXT_BITS: u32 = 20;

/// The code of all texts that a closed component does not know (one less if it may be null).
const UNSEEN: u32 = (1 << TEXT_BITS) - 2;

/// One component.
#[derive(Debug)]
pub(super) struct Codec {
    shift: u32,
    bits: u32,
    kind: Kind,
    /// If true, code 0 is null and the other codes are one higher.
    nullable: bool,
    /// Whether all unknown texts share one code.
    closed: bool,
}

#[derive(Debug)]
enum Kind {
    Bool,
    Enum(u16, u32),
    Int(i64, i64),
    /// Texts are numbered in the order of their first occurrence; no output depends on the numbers.
    Text(RwLock<IndexSet<SmolStr, FxBuildHasher>>),
    Monitor(Box<[MonitorState]>),
    Violated,
}

/// A state of a monitor.
#[derive(Clone, Debug)]
struct MonitorState {
    word: SmolStr,
    violated: bool,
}

impl Codec {
    pub(super) fn new(
        spec: &Spec,
        component: &Component,
        shift: u32,
        program: &Program,
        monitored: &[PropertyId],
    ) -> Result<Codec, SpaceError> {
        let (domain, nullable) = match &component.domain {
            Domain::Nullable(inner) => (inner.as_ref(), true),
            domain => (domain, false),
        };
        let kind = match (component.source, domain) {
            (Source::Violated(_), _) => Kind::Violated,
            (Source::Monitor(property), _) => {
                let found = monitored.iter().position(|other| *other == property);
                let dfa = found.and_then(|place| program.dfa(PropertyId::new(place)));
                let dfa = dfa.ok_or_else(|| SpaceError::NoAutomaton {
                    property: spec.property(property).name.clone(),
                })?;
                let rule = spec.property(property).kind == PropertyKind::Rule;
                Kind::Monitor(monitor_states(dfa, rule).into())
            }
            (_, Domain::Enum(number)) => {
                let values = spec
                    .enums
                    .get(usize::from(*number))
                    .map_or(0, |of| of.values.len());
                Kind::Enum(*number, values as u32)
            }
            (_, Domain::Int(low, high)) => Kind::Int(*low, *high),
            (_, Domain::Text) => Kind::Text(RwLock::default()),
            (_, Domain::Bool | Domain::Nullable(_) | Domain::Monitor) => Kind::Bool,
        };
        let mut codec = Codec {
            shift,
            bits: TEXT_BITS,
            kind,
            nullable,
            closed: false,
        };
        if let Some(size) = codec.size_of_kind() {
            let size = size + u64::from(nullable);
            codec.bits = 64 - size.saturating_sub(1).leading_zeros();
        }
        Ok(codec)
    }

    /// Returns the known texts, in the order of their codes; empty for components of other types.
    pub(super) fn texts(&self) -> Vec<SmolStr> {
        match &self.kind {
            Kind::Text(texts) => {
                let texts = texts.read().unwrap_or_else(PoisonError::into_inner);
                texts.iter().cloned().collect()
            }
            _ => Vec::new(),
        }
    }

    /// Adds texts in this order. Returns whether their codes follow the order.
    pub(super) fn meet(&self, in_order: &[SmolStr]) -> bool {
        match &self.kind {
            Kind::Text(texts) => (0u32..)
                .zip(in_order)
                .all(|(code, text)| text_code(texts, text) == Some(code)),
            _ => in_order.is_empty(),
        }
    }

    /// Adds these texts to the values of a component that is a text, as far as there is room.
    pub(super) fn know(&self, texts: &[SmolStr]) {
        if let Kind::Text(known) = &self.kind {
            texts.iter().for_each(|text| {
                text_code(known, text);
            });
        }
    }

    /// From now on, gives all texts that did not occur yet one common code, and stores none of them.
    pub(super) fn close(&mut self) {
        self.closed = true;
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the number of values; `None` for texts, whose number is not fixed.
    pub(super) fn size(&self) -> Option<usize> {
        let size = self.size_of_kind()? + u64::from(self.nullable);
        usize::try_from(size).ok()
    }

    /// Returns the number of known values.
    pub(super) fn known(&self) -> usize {
        match &self.kind {
            Kind::Text(texts) => {
                texts.read().unwrap_or_else(PoisonError::into_inner).len()
                    + usize::from(self.nullable)
            }
            _ => self.size().unwrap_or(usize::MAX),
        }
    }

    fn size_of_kind(&self) -> Option<u64> {
        Some(match &self.kind {
            Kind::Bool | Kind::Violated => 2,
            Kind::Enum(_, values) => u64::from(*values),
            Kind::Int(low, high) => high.abs_diff(*low).saturating_add(1),
            Kind::Text(_) => return None,
            Kind::Monitor(states) => states.len() as u64,
        })
    }

    /// Returns a code shifted to its position in a key.
    #[inline]
    pub(super) fn place_code(&self, code: u32) -> u128 {
        u128::from(code).checked_shl(self.shift).unwrap_or(0)
    }

    /// Returns the code of this component in a key.
    #[inline]
    pub(super) fn code_in(&self, key: super::Key) -> u32 {
        let mask = (1u128 << self.bits) - 1;
        (key.0.checked_shr(self.shift).unwrap_or(0) & mask) as u32
    }

    /// Returns the code of the value observed at a place, or `None` if it is unknown or out of range.
    #[inline]
    pub(super) fn look(&self, place: usize, look: &mut Observation<'_, '_>) -> Option<u32> {
        match &self.kind {
            Kind::Bool if !self.nullable => look.truth(place).known().map(u32::from),
            Kind::Violated => look.violated(place).known().map(u32::from),
            Kind::Monitor(_) => look.monitor(place),
            _ => look.value(place, |value| self.code(value?)).flatten(),
        }
    }

    /// Returns the rest of a sentence about the value observed at a place, if it is known and the component cannot have it.
    pub(super) fn outside(&self, place: usize, look: &mut Observation<'_, '_>) -> Option<String> {
        match (&self.kind, self.nullable) {
            (Kind::Bool, false) | (Kind::Violated | Kind::Monitor(_), _) => return None,
            _ => {}
        }
        look.value(place, |value| match (value?, &self.kind) {
            (Value::Null, _) => Some("is null".to_owned()),
            (value, Kind::Int(low, high)) => Some(format!("is {value}, not from {low} to {high}")),
            (value, _) => Some(format!("is {value}, which is none of its values")),
        })
        .flatten()
    }

    /// Returns the code of a value, or `None` if the component cannot have it.
    #[inline]
    pub(super) fn code(&self, value: &Value) -> Option<u32> {
        if self.nullable && matches!(value, Value::Null) {
            return Some(0);
        }
        let code = match (&self.kind, value) {
            (Kind::Bool, Value::Bool(value)) => u32::from(*value),
            (Kind::Enum(number, _), Value::Enum(value)) if value.of == *number => {
                u32::from(value.index)
            }
            (Kind::Int(low, high), Value::Number(number)) => {
                let value = i64::try_from(number.to_int()?).ok()?;
                if !(*low..=*high).contains(&value) {
                    return None;
                }
                u32::try_from(value.abs_diff(*low)).ok()?
            }
            (Kind::Text(texts), Value::String(text)) if self.closed => {
                let texts = texts.read().unwrap_or_else(PoisonError::into_inner);
                let known = texts.get_index_of(text.as_str());
                known.map_or(Some(UNSEEN), |code| u32::try_from(code).ok())?
            }
            (Kind::Text(texts), Value::String(text)) => text_code(texts, &text.to_smol())?,
            _ => return None,
        };
        code.checked_add(u32::from(self.nullable))
    }

    /// Returns the value of a code, if it has one in the language.
    pub(super) fn cell(&self, code: u32) -> Cell {
        let Some(code) = code.checked_sub(u32::from(self.nullable)) else {
            return Cell::Known(Value::Null);
        };
        match &self.kind {
            Kind::Bool | Kind::Violated => Cell::Known(Value::Bool(code == 1)),
            Kind::Enum(of, _) => Cell::Known(Value::Enum(EnumValue {
                of: *of,
                index: u16::try_from(code).unwrap_or(u16::MAX),
            })),
            Kind::Int(low, _) => Cell::Known(Value::Number(Number::Int(
                i128::from(*low) + i128::from(code),
            ))),
            Kind::Text(texts) => {
                let texts = texts.read().unwrap_or_else(PoisonError::into_inner);
                texts
                    .get_index(code as usize)
                    .map_or(Cell::Unknown, |text| {
                        Cell::Known(Value::String(text.clone().into()))
                    })
            }
            Kind::Monitor(_) => Cell::Unknown,
        }
    }

    /// Returns a code as a word.
    pub(super) fn word(&self, spec: &Spec, code: u32) -> SmolStr {
        let Some(code) = code.checked_sub(u32::from(self.nullable)) else {
            return SmolStr::new_static("null");
        };
        match &self.kind {
            Kind::Bool | Kind::Violated => {
                SmolStr::new_static(if code == 1 { "true" } else { "false" })
            }
            Kind::Enum(of, _) => spec
                .enums
                .get(usize::from(*of))
                .and_then(|of| of.values.get(code as usize))
                .cloned()
                .unwrap_or_default(),
            Kind::Int(low, _) => format_smolstr!("{}", i128::from(*low) + i128::from(code)),
            // A text is quoted, so that the text "null" differs from null.
            Kind::Text(_) if code == UNSEEN => SmolStr::new_static("unseen"),
            Kind::Text(texts) => {
                let texts = texts.read().unwrap_or_else(PoisonError::into_inner);
                let text = texts.get_index(code as usize).cloned().unwrap_or_default();
                format_smolstr!("{text:?}")
            }
            Kind::Monitor(states) => states
                .get(code as usize)
                .map_or_else(SmolStr::default, |state| state.word.clone()),
        }
    }

    /// Returns the code of a word.
    pub(super) fn code_of_word(&self, spec: &Spec, word: &str) -> Option<u32> {
        if self.nullable && word == "null" {
            return Some(0);
        }
        let code = match &self.kind {
            Kind::Bool | Kind::Violated => match word {
                "true" => 1,
                "false" => 0,
                _ => return None,
            },
            Kind::Enum(of, _) => {
                let of = spec.enums.get(usize::from(*of))?;
                of.values.iter().position(|value| value == word)? as u32
            }
            Kind::Int(low, high) => {
                let value: i64 = word.parse().ok()?;
                if !(*low..=*high).contains(&value) {
                    return None;
                }
                u32::try_from(value.abs_diff(*low)).ok()?
            }
            Kind::Text(texts) => {
                let text: SmolStr = serde_json::from_str::<String>(word).ok()?.into();
                text_code(texts, &text)?
            }
            Kind::Monitor(states) => states.iter().position(|state| state.word == word)? as u32,
        };
        code.checked_add(u32::from(self.nullable))
    }

    /// Whether the property of a monitor is violated in this state.
    pub(super) fn is_violated(&self, code: u32) -> Option<bool> {
        match &self.kind {
            Kind::Monitor(states) => Some(
                states
                    .get(code as usize)
                    .is_some_and(|state| state.violated),
            ),
            _ => None,
        }
    }

    /// Whether this is a monitor, whose next state depends on the letters of the next step.
    pub(super) fn is_monitor(&self) -> bool {
        matches!(self.kind, Kind::Monitor(_))
    }

    /// Whether every step is possible for this component: it follows no property.
    pub(super) fn is_free(&self) -> bool {
        !self.is_monitor() && !matches!(self.kind, Kind::Violated)
    }

    /// Whether a step between two codes is possible for this component alone: a violated property stays violated.
    pub(super) fn may_follow(&self, from: u32, to: u32) -> bool {
        !matches!(self.kind, Kind::Violated) || to >= from
    }
}

fn text_code(texts: &RwLock<IndexSet<SmolStr, FxBuildHasher>>, text: &SmolStr) -> Option<u32> {
    let known = texts
        .read()
        .unwrap_or_else(PoisonError::into_inner)
        .get_index_of(text);
    let code = match known {
        Some(code) => code,
        None => {
            let mut texts = texts.write().unwrap_or_else(PoisonError::into_inner);
            if texts.len() >= UNSEEN as usize {
                return texts
                    .get_index_of(text)
                    .and_then(|code| u32::try_from(code).ok());
            }
            texts.insert_full(text.clone()).0
        }
    };
    u32::try_from(code).ok()
}

/// Returns the names of the states of a monitor. For a rule: `idle` if no obligation is pending, `wait(k)` with `k` steps left
/// if one is. For any property: `violated` and `satisfied` if the verdict is final, otherwise `q` and the number of the state.
fn monitor_states(dfa: &Dfa, rule: bool) -> Vec<MonitorState> {
    let mut used: std::collections::HashMap<SmolStr, u32> = std::collections::HashMap::new();
    let mut word_of = |state: StateId| -> MonitorState {
        let violated = dfa.finality(state) == Finality::FinalFalse;
        let word = match dfa.finality(state) {
            Finality::FinalFalse => SmolStr::new_static("violated"),
            Finality::FinalTrue => SmolStr::new_static("satisfied"),
            _ if rule && dfa.accepting(state) && state == dfa.initial() => {
                SmolStr::new_static("idle")
            }
            _ if rule => match steps_left(dfa, state) {
                Some(left) if !dfa.accepting(state) => format_smolstr!("wait({left})"),
                _ if dfa.accepting(state) => SmolStr::new_static("idle"),
                _ => SmolStr::new_static("wait"),
            },
            _ => format_smolstr!("q{}", state.index()),
        };
        // Rules with a lower bound have several states with the same number of steps left.
        let number = used
            .entry(word.clone())
            .and_modify(|n| *n += 1)
            .or_insert(0);
        let word = if *number == 0 {
            word
        } else {
            format_smolstr!("{word}#{number}")
        };
        MonitorState { word, violated }
    };
    dfa.states().map(&mut word_of).collect()
}

/// Returns the fewest steps after which a state may be violated for good, or `None` if it never can.
fn steps_left(dfa: &Dfa, from: StateId) -> Option<usize> {
    let mut seen = vec![false; dfa.len()];
    let mut layer = vec![from];
    let mut left = 0;
    while !layer.is_empty() {
        let mut next = Vec::new();
        for state in layer {
            if dfa.finality(state) == Finality::FinalFalse {
                return Some(left);
            }
            for target in dfa.successors(state) {
                if !std::mem::replace(&mut seen[target.index()], true) {
                    next.push(target);
                }
            }
        }
        layer = next;
        left += 1;
    }
    None
}
