//! `guard fmt`: formats specs.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::failure::{Failure, Outcome, complain};
use super::output::{Output, stderr_paint, tell};
use crate::diagnostic::{self, Diagnostic, RenderOptions};
use crate::load::text_of;
use crate::source::{SourceFile, SourceMap};
use crate::syntax;

#[derive(Debug, clap::Args)]
pub(super) struct FmtArgs {
    /// Specs to format in place; `-` formats the standard input to the standard output
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// List unformatted files and fail if there are any, without changing them
    #[arg(long)]
    check: bool,
}

pub(super) fn run(args: FmtArgs) -> Result<Outcome, Failure> {
    let mut output = Output::exact()?;
    let mut outcome = Outcome::Holds;
    for path in &args.files {
        // The other files are still formatted; the worst outcome is kept.
        let text = match text_of(path) {
            Ok(text) => text,
            Err(error) => {
                Failure::from(error).report();
                outcome = Outcome::WrongSpec;
                continue;
            }
        };
        let Some(formatted) = formatted(path, &text) else {
            outcome = Outcome::WrongSpec;
            continue;
        };
        if path == Path::new("-") && !args.check {
            output.write_all(formatted.as_bytes())?;
        } else if formatted != text {
            if args.check {
                writeln!(output, "{}", path.display())?;
                if outcome == Outcome::Holds {
                    outcome = Outcome::Violated;
                }
            } else {
                let mut file = Output::open(Some(path))?;
                file.write_all(formatted.as_bytes())?;
                file.close()?;
            }
        }
    }
    output.close()?;
    Ok(outcome)
}

/// Returns the formatted text; reports errors and returns `None` if the file has any.
fn formatted(path: &Path, text: &str) -> Option<String> {
    if crate::artifact::is_artifact(text) {
        complain(&format!(
            "`{}` is a compiled spec; format its sources instead",
            path.display()
        ));
        return None;
    }
    let file = SourceFile::new(path.display().to_string(), text);
    let errors = match syntax::format_file(&file) {
        Ok(formatted) => return Some(formatted),
        Err(diagnostics) => diagnostics
            .into_iter()
            .filter(Diagnostic::is_error)
            .collect::<Vec<_>>(),
    };
    let options = RenderOptions {
        color: stderr_paint().colour,
    };
    let drawn = diagnostic::render(&errors, &SourceMap::from(file), options);
    tell(&drawn);
    None
}
