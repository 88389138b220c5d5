//! Helpers shared by several test files.
pub(crate) mod cli;
pub(crate) mod core;
pub(crate) mod core_ltl;
pub(crate) mod corpora;
pub(crate) mod editor;
pub(crate) mod formats;
pub(crate) mod formula;
pub(crate) mod hook;
pub(crate) mod ltl;
#[path = "../../../crates/english/tests/support/nl_formula.rs"]
pub(crate) mod nl_formula;
pub(crate) mod print;
pub(crate) mod random;
pub(crate) mod trees;
pub(crate) mod ui;

use std::io::Write as _;
use std::path::{Path, PathBuf};

use guard_lang::Judgement;
use guard_lang::audit::{Readers, judge_text};
use guard_lang::eval::{self, Program};
use guard_lang::hir::Spec;
use guard_lang::input::formats::FormatChoice;
use guard_lang::input::limits::InputLimits;

/// Writes a file that only its owner can read.
pub(crate) fn write_private(path: &Path, text: &str) {
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, private).unwrap();
}

/// Evaluates a spec on the traces of a text.
pub(crate) fn judge(spec: &Spec, name: &str, text: &[u8]) -> Judgement {
    let program = Program::compile(spec, &eval::Limits::default()).unwrap();
    let limits = InputLimits::default();
    let readers = Readers::new(&spec.schema, FormatChoice::Auto, limits).unwrap();
    judge_text(&program, &readers, name, text)
}

/// Returns the folder of the package.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// Returns a file or folder of the shared suites and data. If it is missing, records a skipped test and returns `None`,
/// or fails under `CI=true`.
pub(crate) fn shared(path: &str) -> Option<PathBuf> {
    let found = root().join("../shared").join(path);
    if found.exists() {
        return Some(found);
    }
    assert!(
        std::env::var_os("CI").is_none_or(|ci| ci != "true"),
        "../shared/{path} is missing"
    );
    skip(&format!("../shared/{path} is not there"));
    None
}

/// Records the reason why a test did not run. `tests/skipped.rs` prints the reasons after all integration tests, since
/// the harness hides the output of passing tests.
pub(crate) fn skip(reason: &str) {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/skipped.txt");
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    // One write, so that lines of parallel tests do not mix.
    file.write_all(format!("{reason}\n").as_bytes()).unwrap();
}

/// Returns the cases of a temporal-logic suite, which has one JSON object per line.
pub(crate) fn suite(file: &str) -> Vec<serde_json::Value> {
    let path = root().join("tests/suites/ltl").join(file);
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}
