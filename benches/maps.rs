//! The map of instances and keyed tracks (`crates/lang/src/eval/overlay_map.rs`) against a persistent map:
//! `cargo bench -p guard-benches --bench maps`.
//!
//! *step*: an audit looks up an instance and moves it, without forks. *propose*: a proposal forks the map and changes one
//! instance of the fork, which is dropped; then the event happens.

#[path = "../crates/lang/src/eval/overlay_map.rs"]
#[allow(dead_code, reason = "the bench needs a part of the map")]
mod overlay_map;

#[path = "../crates/lang/src/eval/binding.rs"]
#[allow(dead_code, reason = "the bench needs a part of it")]
mod binding;

#[path = "../crates/lang/src/hash.rs"]
#[allow(
    dead_code,
    unused_imports,
    reason = "the bench needs a part of it, and not its test"
)]
mod hash;

#[cfg(test)]
#[path = "../tests/it/support/random.rs"]
#[allow(
    dead_code,
    reason = "the tests of the map need it, and a bench has none"
)]
mod random;

mod value {
    pub(super) use guard_lang::value::Value;
}

use std::hint::black_box;
use std::time::Instant;

use binding::Key;
use overlay_map::{ForkLife, OverlayMap};
use value::Value;

type Persistent = im::HashMap<Key, u32, hash::Seeded>;

/// Returns the least time of a repetition, in nanoseconds for each of `n`.
fn best(n: u32, mut repeat: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..15 {
        let clock = Instant::now();
        repeat();
        best = best.min(clock.elapsed().as_nanos() as f64 / f64::from(n));
    }
    best
}

fn main() {
    println!("instances    step  persistent  propose  persistent   (ns)");
    for size in [4u32, 100, 1_000, 100_000] {
        let key = |n: u32| -> Key { [Some(Value::string(format!("call_{n:08x}")))].into() };
        let keys: Vec<Key> = (0..size).map(key).collect();
        let mut overlay: OverlayMap<u32> = keys.iter().map(|key| (key.clone(), 0)).collect();
        let mut persistent: Persistent = keys.iter().map(|key| (key.clone(), 0)).collect();
        let rounds = (200_000 / size).max(1);
        let step = best(rounds * size, || {
            for round in 0..rounds {
                for key in &keys {
                    black_box(overlay.get(key));
                    overlay.insert(key, round);
                }
            }
        });
        let persistent_step = best(rounds * size, || {
            for round in 0..rounds {
                for key in &keys {
                    black_box(persistent.get(key));
                    if let Some(value) = persistent.get_mut(key) {
                        *value = round;
                    }
                }
            }
        });
        let proposals = 20_000;
        let propose = best(proposals, || {
            for (n, key) in (0..proposals).zip(keys.iter().cycle()) {
                overlay.freeze(ForkLife::Short);
                let mut fork = overlay.clone();
                fork.insert(key, n);
                black_box(fork.get(key));
                drop(fork);
                overlay.thaw();
                overlay.insert(key, n);
            }
        });
        let persistent_propose = best(proposals, || {
            for (n, key) in (0..proposals).zip(keys.iter().cycle()) {
                let mut fork = persistent.clone();
                fork.insert(key.clone(), n);
                black_box(fork.get(key));
                drop(fork);
                if let Some(value) = persistent.get_mut(key) {
                    *value = n;
                }
            }
        });
        println!(
            "{size:>9} {step:>7.0} {persistent_step:>11.0} {propose:>8.0} {persistent_propose:>11.0}"
        );
    }
}
