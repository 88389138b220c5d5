//! The `guard` command.

fn main() {}
