//! Makes the parser of `grammar/guard.lalrpop`: `cargo run --manifest-path grammar/generate/Cargo.toml` writes it to
//! `crates/syntax/src/parser/generated.rs`; with `-- --check` it is compared with that file instead, and the command fails if they
//! differ.

use std::error::Error;
use std::path::Path;
use std::process::ExitCode;
use std::{env, fs};

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let parser = grammar.join("../crates/syntax/src/parser/generated.rs");
    let out = env::temp_dir().join(format!("guard-grammar-{}", std::process::id()));
    fs::create_dir_all(&out)?;
    lalrpop::Configuration::new()
        .set_out_dir(&out)
        .force_build(true)
        .process_file(grammar.join("guard.lalrpop"))?;
    let made = fs::read(out.join("guard.rs"))?;
    fs::remove_dir_all(&out)?;
    if env::args().nth(1).as_deref() != Some("--check") {
        fs::write(&parser, &made)?;
    } else if made != fs::read(&parser)? {
        eprintln!(
            "{} is not what LALRPOP makes of the grammar: run `cargo run --manifest-path grammar/generate/Cargo.toml`",
            parser.display()
        );
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
