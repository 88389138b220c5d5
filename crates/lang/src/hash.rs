//! Hash tables of what others choose: values of events, names in recordings.
//!
//! The hash of small ids (`rustc-hash`) is fast, and anybody can make texts that have the same: with 20,000 of them in one event, a
//! quantified property took 31 s instead of 0.04. Here each hash begins with numbers that the process has drawn, so that nobody
//! can tell which texts collide. Whatever is shown or stored is in an order of its own, not in that of a table.

use std::collections::{HashMap, HashSet};
use std::hash::BuildHasher;

use foldhash::SharedSeed;
use foldhash::fast::FoldHasher;

/// A map whose keys others choose.
pub(crate) type SeededMap<K, V> = HashMap<K, V, Seeded>;

/// A set whose members others choose.
pub(crate) type SeededSet<T> = HashSet<T, Seeded>;

/// Hashes with the seed of the process: the same values have the same hash everywhere in it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seeded;

impl BuildHasher for Seeded {
    type Hasher = FoldHasher<'static>;

    #[inline]
    fn build_hasher(&self) -> FoldHasher<'static> {
        FoldHasher::with_seed(0, SharedSeed::global_random())
    }
}

#[cfg(test)]
mod tests {
    use std::hash::Hasher as _;

    use rustc_hash::FxHasher;

    use super::*;

    /// The third part of these texts makes the multiplier of the hash of small ids zero, so that what follows does not count.
    #[test]
    fn texts_that_collide_by_a_fixed_hash_do_not_collide() {
        const SEED: u64 = 0x243f_6a88_85a3_08d3;
        const PREVENT_ZERO: u64 = 0xa409_3822_299f_31d0;
        let product = u128::from(SEED) * u128::from(PREVENT_ZERO);
        let zero = (product as u64) ^ (product >> 64) as u64;
        let texts: Vec<Vec<u8>> = (0..1000)
            .map(|number| {
                let mut text = vec![0; 32];
                text.extend(zero.to_le_bytes());
                text.extend(format!("{number:08}{:016}", 0).bytes());
                text
            })
            .collect();
        let hashes = |hash: &dyn Fn(&[u8]) -> u64| {
            let hashes = texts.iter().map(|text| hash(text));
            hashes.collect::<HashSet<u64>>().len()
        };
        let fixed = |text: &[u8]| {
            let mut hasher = FxHasher::default();
            hasher.write(text);
            hasher.finish()
        };
        assert_eq!(hashes(&fixed), 1);
        assert_eq!(hashes(&|text| Seeded.hash_one(text)), texts.len());
    }
}
