//! Generates the parser from `grammar.js`, as `tree-sitter generate` does: `cargo run [FOLDER]`.
//!
//! The files are written to `FOLDER`, by default to `src` of the grammar. Node.js must be on the path: it reads `grammar.js`.

use std::path::Path;
use std::process::ExitCode;

/// The newest ABI that Helix 25.01 and Emacs 29 load.
const ABI: usize = 14;

fn main() -> ExitCode {
    let grammar = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = std::env::args().nth(1);
    match tree_sitter_generate::generate_parser_in_directory(
        &grammar,
        folder.as_deref(),
        None,
        ABI,
        None,
        Some("node"),
    ) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
