//! Configurations: the possible states of the construction after a prefix.
//!
//! A configuration is a set of pairs of registers and residual, one for each way to guess that is still possible; without
//! guesses it has one pair, or none when nothing can satisfy the formula any more.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::diagram::{Combine, FALSE, Ref, TRUE};
use super::limits::{LimitError, Meter};
use super::program::Program;
use super::registers::NO_REGISTERS;
use super::residual::Residuals;

/// A pair of registers and residual, by number.
pub(super) type Pair = (u32, u32);

/// The table of configurations.
pub(super) type Configurations = IndexSet<Arc<[Pair]>, FxBuildHasher>;

/// Returns the configuration of these pairs; residuals of equal registers are joined.
pub(super) fn collect(
    program: &Program,
    residuals: &mut Residuals,
    table: &mut Configurations,
    mut pairs: Vec<Pair>,
    meter: &mut Meter,
) -> Result<u32, LimitError> {
    pairs.retain(|&(_, residual)| residual != FALSE);
    pairs.sort_unstable();
    let mut merged: Vec<Pair> = Vec::with_capacity(pairs.len());
    for (registers, residual) in pairs {
        match merged.last_mut() {
            Some(last) if last.0 == registers => {
                last.1 = residuals.or(program, last.1, residual, meter)?
            }
            _ => merged.push((registers, residual)),
        }
    }
    if merged.iter().any(|&(_, residual)| residual == TRUE) {
        merged = vec![(NO_REGISTERS, TRUE)];
    }
    if let Some(index) = table.get_index_of(merged.as_slice()) {
        return Ok(index as u32);
    }
    meter.grow(1 + merged.len())?;
    Ok(table.insert_full(merged.into()).0 as u32)
}

/// Takes two configurations together.
pub(super) struct Union<'a>(
    pub(super) &'a Program,
    pub(super) &'a mut Residuals,
    pub(super) &'a mut Configurations,
);

impl Combine for Union<'_> {
    const COMMUTES: bool = true;
    fn shortcut(&self, a: Ref, b: Ref) -> Option<Ref> {
        (a == b).then_some(a)
    }
    fn leaves(&mut self, a: u32, b: u32, meter: &mut Meter) -> Result<u32, LimitError> {
        let mut pairs = self.2[a as usize].to_vec();
        pairs.extend_from_slice(&self.2[b as usize]);
        collect(self.0, self.1, self.2, pairs, meter)
    }
}

/// Pairs registers with a residual, without the registers when nothing looks back.
pub(super) struct Join<'a>(
    pub(super) &'a Program,
    pub(super) &'a Residuals,
    pub(super) &'a mut IndexSet<Pair, FxBuildHasher>,
);

impl Combine for Join<'_> {
    const COMMUTES: bool = false;
    fn leaves(
        &mut self,
        registers: u32,
        residual: u32,
        meter: &mut Meter,
    ) -> Result<u32, LimitError> {
        let registers = if self.1.needs_registers(self.0, residual) {
            registers
        } else {
            NO_REGISTERS
        };
        let (index, new) = self.2.insert_full((registers, residual));
        meter.grow(usize::from(new))?;
        Ok(index as u32)
    }
}
