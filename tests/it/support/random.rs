//! What every random test draws from: a seed that stands here, so that a run depends on the tree and on nothing else.

use proptest::test_runner::{Config, RngAlgorithm, RngSeed};

/// Any number would do: what matters is that it stands here.
const SEED: u64 = 20_261_120;

/// The variable by which [the search](crate::random_search) gives its child `seed,times`: another seed, and by how much the
/// cases are multiplied. Nothing else sets it.
#[allow(dead_code, reason = "unit tests use this file too, and do not search")]
pub(crate) const SEARCH: &str = "GUARD_RANDOM_SEARCH";

/// The configuration of a random test with this many cases: the same cases on every machine. All that decides which cases
/// are drawn is set here, since the defaults of proptest come from variables named `PROPTEST_…`.
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

/// Random tests, written as in `proptest!`, with the number of cases of each before them. That macro lets variables named
/// `PROPTEST_…` replace what it is given, so that a seed in the environment of a person drew other cases.
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
