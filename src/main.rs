//! The `guard` command.

fn main() -> std::process::ExitCode {
    guard_lang::cli::main()
}
