//! The alphabet of a spec: the values of a field that the spec distinguishes.

use rustc_hash::FxHashMap;
use smol_str::SmolStr;

use super::NodeId;
use crate::input::deferred::DeferredText;
use crate::value::{Cell, Value};

pub(in crate::eval) const UNKNOWN: u16 = 0;
pub(in crate::eval) const NULL: u16 = 1;
pub(in crate::eval) const OTHER: u16 = 2;
/// The symbol of the first constant.
pub(in crate::eval) const FIRST: u16 = 3;

/// The partition of events into classes.
#[derive(Clone, Debug, Default)]
pub(in crate::eval) struct Classes {
    pub(in crate::eval) fields: Vec<SymbolClasses>,
    /// For each field of the schema: its index in `fields`.
    pub(in crate::eval) place: Vec<Option<u32>>,
    /// For each property: the index of its states in a row; `None` if it has no table.
    pub(in crate::eval) states: Vec<Option<u32>>,
    pub(in crate::eval) n_states: usize,
    /// For each property, its part of a row.
    pub(in crate::eval) plain: Vec<Plain>,
    /// The properties that are stepped as one.
    pub(in crate::eval) product: Vec<u32>,
    /// For each property: the index in a row of the entries for the values of its variable.
    pub(in crate::eval) matched: Vec<Option<u32>>,
    pub(in crate::eval) n_matched: usize,
}

/// The part of a row that a property without variables needs.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::eval) struct Plain {
    pub(in crate::eval) first: usize,
    /// 0 if the property has no table or has variables.
    pub(in crate::eval) n_states: u32,
    pub(in crate::eval) trigger: Option<NodeId>,
}

#[derive(Clone, Debug, Default)]
pub(in crate::eval) struct SymbolClasses {
    pub(in crate::eval) field: usize,
    pub(in crate::eval) constants: Vec<Value>,
    pub(in crate::eval) texts: FxHashMap<SmolStr, u16>,
    /// The size in bytes of the longest text among the constants.
    pub(in crate::eval) longest: usize,
}

impl SymbolClasses {
    pub(in crate::eval) fn add(&mut self, value: &Value) {
        // Equal numbers may differ in the results of functions (`text(1)`, `text(1.0)`).
        let exact = matches!(value, Value::String(_) | Value::Bool(_) | Value::Enum(_));
        if !exact || self.has(value) {
            return;
        }
        let Ok(symbol) = u16::try_from(self.constants.len() + usize::from(FIRST)) else {
            return;
        };
        if let Value::String(text) = value {
            self.texts.insert(text.to_smol(), symbol);
            self.longest = self.longest.max(text.len());
        }
        self.constants.push(value.clone());
    }

    /// Whether the value is one of the constants.
    pub(in crate::eval) fn has(&self, value: &Value) -> bool {
        match value {
            Value::String(text) => self.texts.contains_key(text.as_str()),
            _ => self.constants.contains(value),
        }
    }

    #[inline]
    pub(in crate::eval) fn of(&self, cell: &Cell) -> u16 {
        match cell {
            Cell::Unknown => UNKNOWN,
            Cell::Known(Value::Null) => NULL,
            Cell::Known(Value::String(text)) => {
                if text.is_longer(self.longest) {
                    return OTHER;
                }
                self.texts.get(text.as_str()).copied().unwrap_or(OTHER)
            }
            Cell::Known(value) => {
                let mut all = (FIRST..).zip(&self.constants);
                all.find_map(|(symbol, constant)| (constant == value).then_some(symbol))
                    .unwrap_or(OTHER)
            }
        }
    }
}

impl Classes {
    /// Whether a text of this many bytes is longer than all constants that the field is compared with.
    #[inline]
    pub(in crate::eval) fn is_longer(&self, field: usize, len: usize) -> bool {
        let place = self.place.get(field).copied().flatten();
        let symbols = place.and_then(|place| self.fields.get(place as usize));
        symbols.is_none_or(|symbols| len > symbols.longest)
    }

    /// Returns one bit for each deferred text of a step that is longer than all constants that its field is compared
    /// with.
    pub(in crate::eval) fn longer(&self, texts: &[DeferredText]) -> u64 {
        let longer = texts
            .iter()
            .filter(|text| self.is_longer(text.field, text.at_least()));
        longer.fold(0, |bits, text| {
            bits | 1u64.checked_shl(text.field as u32).unwrap_or(0)
        })
    }

    /// Returns the properties that are stepped as one.
    pub(in crate::eval) fn product(&self) -> &[u32] {
        &self.product
    }

    /// Returns the number of states of a property without variables that has a table.
    pub(in crate::eval) fn n_states(&self, property: usize) -> u32 {
        self.plain[property].n_states
    }
}
