//! What several test files share.
#![allow(
    dead_code,
    unreachable_pub,
    clippy::unwrap_used,
    reason = "every test binary uses a part of it"
)]

pub mod corpora;
pub mod formula;
pub mod ltl;
pub mod ui;

use std::path::PathBuf;

/// The folder of the package.
pub fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// A folder or file of the shared suites and data; none, with a visible line, where they are not there. Under `CI=true`
/// their absence fails.
pub fn shared(path: &str) -> Option<PathBuf> {
    let found = root().join("../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "../shared/{path} is missing"
    );
    println!("skipped: ../shared/{path} is not there");
    None
}

/// The cases of a suite of temporal logic, one JSON object a line.
pub fn suite(file: &str) -> Vec<serde_json::Value> {
    let path = root().join("tests/suites/ltl").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
