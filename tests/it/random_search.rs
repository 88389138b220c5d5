//! A long random search: runs all random tests again with new seeds.

use crate::random::SEARCH;

crate::random::tests! {
    20 cases;

    #[test]
    fn what_is_drawn(number in proptest::prelude::any::<u64>()) {
        println!("case {number}");
    }
}

/// Variables of proptest that are set in the environment of a person change nothing.
#[test]
fn the_environment_does_not_change_what_is_drawn() {
    let drawn = |variables: &[(&str, &str)]| {
        let run = std::process::Command::new(std::env::current_exe().unwrap())
            .args(["random_search::what_is_drawn", "--exact", "--nocapture"])
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let out = String::from_utf8(run.stdout).unwrap();
        out.lines()
            .filter_map(|line| line.split_once("case "))
            .map(|(_, number)| number.to_owned())
            .collect::<Vec<_>>()
    };
    let expected = drawn(&[]);
    assert_eq!(expected.len(), 20);
    assert_eq!(
        drawn(&[
            ("PROPTEST_RNG_SEED", "7919"),
            ("PROPTEST_CASES", "3"),
            ("PROPTEST_RNG_ALGORITHM", "xs")
        ]),
        expected
    );
    assert_ne!(
        drawn(&[(SEARCH, "7919,1")]),
        expected,
        "the search draws other cases"
    );
}

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
