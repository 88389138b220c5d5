//! The arguments that select recorded traces: files, format and threads.

use std::sync::Arc;

use clap::builder::PossibleValuesParser;

use super::failure::Failure;
use crate::input::formats::{Format, FormatChoice};
use crate::input::open::{self, OpenError, Selection, Source};
use crate::problem::{Problem, ProblemKind};

/// The arguments of every verb that reads recorded traces.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Format of the traces; `native` reads them by the paths of the spec
    #[arg(long, default_value = "auto", value_name = "FORMAT", value_parser = formats())]
    from: String,
    /// Number of threads; the output does not depend on it
    #[arg(long, short, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Which files of a folder are read: `*.jsonl`, `*.{json,csv}`, `runs/**/trace.json`; may be given several times
    #[arg(long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Which files of a folder are not read; may be given several times
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,
}

impl Reading {
    /// Returns the requested format.
    pub(super) fn format(&self) -> Result<FormatChoice, Failure> {
        self.from
            .parse()
            .map_err(|error| Failure::Usage(format!("`--from`: {error}")))
    }

    /// Returns the files that the arguments name; what cannot be opened is a problem, and the others are still read.
    pub(super) fn find(&self, traces: &[String]) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
        let selection = Selection::new(&self.glob, &self.exclude)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        find(traces, &selection, &self.glob)
    }
}

/// Returns the values of `--from`.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(
        std::iter::once("auto").chain(Format::ALL.into_iter().map(Format::name)),
    )
}

/// Returns the files that the arguments name. A file that cannot be opened is a problem, and the others are still read; the
/// number of files of a folder that are left out is a note.
fn find(
    traces: &[String],
    selection: &Selection,
    globs: &[String],
) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
    let (mut sources, mut problems) = (Vec::new(), Vec::new());
    let mut problem = |kind: ProblemKind, file: &str, message: String| {
        let file = Arc::from(file);
        problems.push(Problem::new(kind, &file, 0, message));
    };
    let quoted: Vec<String> = globs.iter().map(|glob| format!("`{glob}`")).collect();
    let quoted = quoted.join(" or ");
    for argument in traces {
        let found = match open::sources(argument, selection) {
            Ok(found) => found,
            Err(OpenError::Unreadable { path, reason }) => {
                let message = format!("cannot be read: {reason}");
                problem(ProblemKind::Unreadable, &path, message);
                continue;
            }
            Err(error @ OpenError::Glob { .. }) => return Err(Failure::Usage(error.to_string())),
        };
        if found.sources.is_empty() {
            let message = match globs {
                [] => format!(
                    "no file in this folder ends in {}",
                    open::EXTENSIONS.join(", ")
                ),
                _ => format!("no file in this folder matches {quoted}"),
            };
            problem(ProblemKind::Unreadable, argument, message);
        }
        // Without patterns, files of other kinds are expected beside traces.
        if found.unmatched > 0 && !globs.is_empty() {
            let message = match found.unmatched {
                1 => format!("1 file of this folder does not match {quoted} and was not read"),
                count => {
                    format!("{count} files of this folder do not match {quoted} and were not read")
                }
            };
            problem(ProblemKind::Odd, argument, message);
        }
        sources.extend(found.sources);
    }
    Ok((sources, problems))
}
