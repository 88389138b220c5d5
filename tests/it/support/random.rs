//! The configuration of all random tests: a fixed seed, so that a run depends only on the source tree.

use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

/// An arbitrary number.
const SEED: u64 = 20_261_120;

/// The variable by which [the search](crate::random_search) passes `seed,times` to its child: another seed, and the factor by
/// which the number of cases is multiplied. Nothing else sets it.
#[allow(dead_code, reason = "unit tests use this file too, and do not search")]
pub(crate) const SEARCH: &str = "GUARD_RANDOM_SEARCH";

/// Returns the configuration of a random test with this many cases, which are the same on every machine. It sets every option
/// that affects the cases, since proptest takes the defaults from variables named `PROPTEST_…`.
pub(crate) fn cases(cases: u32) -> Config {
    let asked = std::env::var(SEARCH).ok();
    let search = asked.as_deref().and_then(|text| {
        let (seed, times) = text.split_once(',')?;
        Some((seed.parse().ok()?, times.parse().ok()?))
    });
    let (seed, times) = search.unwrap_or((SEED, 1));
    Config {
        cases: cases.saturating_mul(times),
        rng_seed: RngSeed::Fixed(seed),
        rng_algorithm: RngAlgorithm::ChaCha,
        failure_persistence: None,
        max_local_rejects: 65_536,
        max_global_rejects: 65_536_u32.saturating_mul(times),
        max_flat_map_regens: 1_000_000,
        max_default_size_range: 100,
        ..Config::default()
    }
}

/// Defines random tests like `proptest!`, preceded by the number of cases. `proptest!` itself lets variables named `PROPTEST_…`
/// override the configuration, so a seed in the environment would change the cases.
macro_rules! tests {
    ($cases:literal cases; $($(#[$attribute:meta])* fn $name:ident($($drawn:pat in $strategy:expr),+ $(,)?) $body:block)*) => {$(
        $(#[$attribute])*
        fn $name() {
            let mut runner = proptest::test_runner::TestRunner::new($crate::random::cases($cases));
            let outcome = runner.run(&($($strategy,)+), |($($drawn,)+)| {
                $body
                Ok(())
            });
            if let Err(failure) = outcome {
                panic!("of ({}): {failure}", stringify!($($drawn),+));
            }
        }
    )*};
}
pub(crate) use tests;
