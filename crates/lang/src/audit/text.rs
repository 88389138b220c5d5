//! Judging of a text in memory, without files or reports.

use std::io;

use super::names::Noting;
use super::rendering::Rendering;
use super::{Audit, Judge, Listener, Progress, Readers};
use crate::eval::Program;
use crate::input::record::FileName;
use crate::problem::Problem;
use crate::report::{Reporter, Summary};
use crate::verdict::TraceReport;

/// The result of judging a text.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// One report per trace, in the order in which traces begin (whole records) or end (traces spread over lines).
    pub reports: Vec<TraceReport>,
    /// The problems that belong to no judged trace.
    pub problems: Vec<Problem>,
    /// The counts.
    pub summary: Summary,
}

/// Judges the traces of a text: JSON Lines, one document, or a recording in a known format. `name` is the name of the file
/// in messages; broken text is a [`Problem`].
pub fn judge_text(program: &Program, readers: &Readers, name: &str, text: &[u8]) -> Judgement {
    let mut collector = Collector::default();
    let mut summary = Summary::new(program.spec().properties.len());
    let progress = Progress::default();
    let mut on_problem = |_: &Problem| {};
    let mut audit = Audit::new(&progress, &mut summary, &mut collector, &mut on_problem);
    let rendering = Rendering {
        judge: &program,
        render: &|_| None,
    };
    let judge = Noting {
        judge: &rendering,
        names: &readers.names,
    };
    visit_text(&judge, readers, name, text, &mut audit);
    readers.note_absent(&mut summary);
    Judgement {
        reports: collector.reports,
        problems: collector.problems,
        summary,
    }
}

/// Reports the results of the traces of a text.
pub(crate) fn visit_text<J: Judge>(
    judge: &J,
    readers: &Readers,
    name: &str,
    text: &[u8],
    listener: &mut impl Listener<J::Report>,
) {
    let name = FileName::given(name);
    super::file(judge, listener, &name, readers, |worker, emit| {
        readers.read_from(text, &name, worker, emit)
    });
}

/// Collects reports instead of writing them.
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
