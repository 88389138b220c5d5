//! Links the command at a fixed address on Linux.
//!
//! A program that may lie anywhere has 22,700 addresses to correct before it begins, on 110 pages that each process then copies: of
//! 780 page faults of a hook. Its stack, heap and libraries still lie at random addresses.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let is = |name: &str, value: &str| std::env::var(name).is_ok_and(|set| set == value);
    // With other C libraries the compiler, not the linker, decides this.
    if is("CARGO_CFG_TARGET_OS", "linux") && is("CARGO_CFG_TARGET_ENV", "gnu") {
        println!("cargo:rustc-link-arg-bins=-no-pie");
    }
}
