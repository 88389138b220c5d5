//! Judging a text that is at hand: no files, no report.

use std::io;

use super::rendering::Rendering;
use super::{Audit, Progress, Readers, ReadersError};
use crate::eval::{self, Program};
use crate::hir::Spec;
use crate::input::formats::FormatChoice;
use crate::input::limits::InputLimits;
use crate::input::record::FileName;
use crate::problem::Problem;
use crate::report::{Reporter, Summary};
use crate::verdict::TraceReport;

/// The result of judging a text.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// One per trace, in the order in which traces begin or, spread over lines, end.
    pub reports: Vec<TraceReport>,
    /// The problems of data that belong to no judged trace.
    pub problems: Vec<Problem>,
    /// The counts.
    pub summary: Summary,
}

/// A spec that cannot be judged by.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextError {
    /// A formula is beyond all limits.
    #[error(transparent)]
    Limit(#[from] eval::LimitError),
    /// The paths of its fields.
    #[error(transparent)]
    Readers(#[from] ReadersError),
}

/// Judges the traces of a text: JSON Lines, one document, or a recording in a known format. `name` is the name of the file
/// in messages.
///
/// # Errors
/// The spec cannot be judged by; broken text is no error but a [`Problem`].
pub fn judge_text(spec: &Spec, name: &str, text: &[u8]) -> Result<Judgement, TextError> {
    let program = Program::compile(spec, &eval::Limits::default())?;
    let readers = Readers::new(&spec.schema, FormatChoice::Auto, InputLimits::default())?;
    Ok(judge_with(&program, &readers, name, text))
}

/// As [`judge_text`], with a spec that was compiled before.
pub fn judge_with(program: &Program, readers: &Readers, name: &str, text: &[u8]) -> Judgement {
    let name = FileName::given(name);
    let mut collector = Collector::default();
    let mut summary = Summary::new(program.spec().properties.len());
    let progress = Progress::default();
    let mut on_problem = |_: &Problem| {};
    let mut audit = Audit::new(&progress, &mut summary, &mut collector, &mut on_problem);
    let judge = Rendering {
        judge: &program,
        render: &|_| None,
    };
    super::file(&judge, &mut audit, &name, readers, |worker, emit| {
        readers.read_from(text, &name, worker, emit)
    });
    Judgement {
        reports: collector.reports,
        problems: collector.problems,
        summary,
    }
}

/// A report that is kept rather than written.
#[derive(Default)]
struct Collector {
    reports: Vec<TraceReport>,
    problems: Vec<Problem>,
}

impl Reporter for Collector {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        self.reports.push(report.clone());
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.problems.push(problem.clone());
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        Ok(())
    }
}
