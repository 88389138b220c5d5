//! What several test files share.
#![allow(
    dead_code,
    unreachable_pub,
    reason = "every test binary uses a part of it"
)]

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
