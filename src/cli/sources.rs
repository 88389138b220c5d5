//! How a verb reads recorded traces: which files its arguments name, in which format, by how many threads.

use std::sync::Arc;

use clap::builder::PossibleValuesParser;

use super::failure::Failure;
use crate::input::formats::{Format, FormatChoice};
use crate::input::open::{self, OpenError, Source};
use crate::problem::{Problem, ProblemKind};

/// The arguments of every verb that reads recorded traces.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// The format of the traces; `native` reads them by the paths of the spec
    #[arg(long, default_value = "auto", value_name = "FORMAT", value_parser = formats())]
    from: String,
    /// Threads that read and judge; the output does not depend on it
    #[arg(long, short, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Which files of a folder are read: `*.jsonl`, `runs/**/trace.json`
    #[arg(long, value_name = "GLOB")]
    glob: Option<String>,
}

impl Reading {
    /// The format that is asked for.
    pub(super) fn format(&self) -> Result<FormatChoice, Failure> {
        self.from
            .parse()
            .map_err(|error| Failure::Usage(format!("`--from`: {error}")))
    }

    /// The files that the arguments name; what cannot be opened is a problem, and the others are still read.
    pub(super) fn find(&self, traces: &[String]) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
        find(traces, self.glob.as_deref())
    }
}

/// The values of `--from`.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(
        std::iter::once("auto").chain(Format::ALL.into_iter().map(Format::name)),
    )
}

/// The files that the arguments name; what cannot be opened is a problem, and the others are still read.
pub(super) fn find(
    traces: &[String],
    glob: Option<&str>,
) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
    let (mut sources, mut problems) = (Vec::new(), Vec::new());
    let mut problem = |file: &str, message: String| {
        let file = Arc::from(file);
        problems.push(Problem::new(ProblemKind::Unreadable, &file, 0, message));
    };
    for argument in traces {
        match open::sources(argument, glob) {
            Ok(found) if found.is_empty() => {
                let message = match glob {
                    Some(glob) => format!("no file in this folder fits `{glob}`"),
                    None => format!(
                        "no file in this folder ends in {}",
                        open::EXTENSIONS.join(", ")
                    ),
                };
                problem(argument, message);
            }
            Ok(found) => sources.extend(found),
            Err(OpenError::Unreadable { path, reason }) => {
                problem(&path, format!("cannot be read: {reason}"))
            }
            Err(error @ OpenError::Glob { .. }) => return Err(Failure::Usage(error.to_string())),
        }
    }
    Ok((sources, problems))
}
