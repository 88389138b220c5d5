//! The arguments that select recorded traces: files, format and threads.

use clap::builder::PossibleValuesParser;

use super::failure::Failure;
use crate::input::formats::{Format, FormatChoice};
use crate::input::open::{Selection, Source};
use crate::problem::Problem;

// The arguments of every verb that reads recorded traces.
#[derive(Debug, clap::Args)]
pub(super) struct Reading {
    /// Format of the traces; `native` reads them by the paths of the spec
    #[arg(long, default_value = "auto", value_name = "FORMAT", value_parser = formats())]
    from: String,
    /// Number of threads; the output does not depend on it
    #[arg(long, short, value_name = "N")]
    pub(super) jobs: Option<usize>,
    /// Files of a folder to read: `*.jsonl`, `*.{json,csv}`, `runs/**/trace.json`; may be given several times
    #[arg(long, value_name = "GLOB")]
    glob: Vec<String>,
    /// Files of a folder to leave out; may be given several times
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

    /// Returns the files that the arguments name. A file that cannot be opened is reported as a problem, and the others
    /// are still read.
    pub(super) fn find(&self, traces: &[String]) -> Result<(Vec<Source>, Vec<Problem>), Failure> {
        let selection = Selection::new(&self.glob, &self.exclude)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        Ok(selection.find(traces))
    }
}

/// Returns the values of `--from`.
fn formats() -> PossibleValuesParser {
    PossibleValuesParser::new(
        std::iter::once("auto").chain(Format::ALL.into_iter().map(Format::name)),
    )
}
