//! Runs after the integration tests and prints which of them were skipped, and why.

fn main() {
    let path = concat!(env!("CARGO_TARGET_TMPDIR"), "/skipped.txt");
    let Ok(text) = std::fs::read_to_string(path) else {
        println!("\nno integration test was skipped");
        return;
    };
    let reasons: std::collections::BTreeSet<&str> = text.lines().collect();
    println!("\nintegration tests were skipped, because:");
    for reason in reasons {
        println!("- {reason}");
    }
    // The next run notes its own reasons.
    let _ = std::fs::remove_file(path);
}
