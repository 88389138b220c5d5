//! A long random search: all random tests again, with seeds that are new every time.

use crate::support::random::SEARCH;

/// Seeds of one search.
const SEEDS: u64 = 4;

/// By how much the cases of each test are multiplied.
const TIMES: u32 = 8;

/// A failure prints the seed, and the shrunk case, which then becomes a test of its own.
#[test]
#[ignore = "a search of many minutes, whose seeds are new every time"]
fn every_random_test_with_new_seeds() {
    let now = std::time::SystemTime::now();
    let first = now.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for seed in first..first + SEEDS {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .env(SEARCH, format!("{seed},{TIMES}"))
            .status()
            .unwrap();
        assert!(status.success(), "{SEARCH}={seed},{TIMES} fails");
    }
}
