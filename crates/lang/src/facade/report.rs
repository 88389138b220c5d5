//! The reports of `guard audit`, written from the items of an audit.

use std::io::{self, Write};

use super::{Spec, Trace};
use crate::problem::Problem;
#[cfg(feature = "pages")]
use crate::report::html::Html;
use crate::report::human::Human;
use crate::report::json::Json;
use crate::report::junit::Junit;
use crate::report::sarif::Sarif;
use crate::report::{Headings, Paint, Reporter, Summary};

/// The greatest number of counterexamples of a property in text reports.
const SHOWN: u64 = 10;

/// The formats of `guard audit --format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReportFormat {
    /// Text for a terminal, without colours.
    Text,
    /// JSON Lines, one object per verdict.
    Json,
    /// SARIF 2.1.0.
    Sarif,
    /// JUnit XML.
    Junit,
    /// An HTML page. It lacks the recorded steps of the traces, because the items do not contain them.
    #[cfg(feature = "pages")]
    Html,
}

impl Spec {
    /// Writes the report on items of an audit, as `guard audit --format` does.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write_report<'a>(
        &self,
        format: ReportFormat,
        items: impl IntoIterator<Item = &'a Result<Trace, Problem>>,
        summary: &Summary,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let headings = &self.0.headings;
        let explained;
        let mut reporter: Box<dyn Reporter + '_> = match format {
            ReportFormat::Text => {
                explained = self.explained();
                Box::new(Human::new(&explained, out, Paint::PLAIN, SHOWN))
            }
            ReportFormat::Json => Box::new(Json::new(headings, out)),
            ReportFormat::Sarif => Box::new(Sarif::new(headings, out, None)),
            ReportFormat::Junit => Box::new(Junit::new(headings, out)),
            #[cfg(feature = "pages")]
            ReportFormat::Html => {
                let mut headings = self.explained();
                headings.word(&self.0.judged);
                explained = headings;
                Box::new(Html::new(&explained, out, SHOWN))
            }
        };
        for item in items {
            match item {
                Ok(trace) => reporter.trace(trace.report())?,
                Err(problem) => reporter.problem(problem)?,
            }
        }
        reporter.finish(summary)
    }

    /// Returns the lines of `guard audit --format json` about an item of an audit: the verdicts in order, the trace, and the
    /// problems with its data.
    ///
    /// # Errors
    /// If serialisation as JSON fails, which is not expected.
    pub fn json_lines(&self, item: &Result<Trace, Problem>) -> io::Result<String> {
        let mut bytes = Vec::new();
        match item {
            Ok(trace) => Json::new(&self.0.headings, &mut bytes).trace(trace.report())?,
            Err(problem) => Json::new(&self.0.headings, &mut bytes).problem(problem)?,
        }
        String::from_utf8(bytes).map_err(io::Error::other)
    }

    /// Returns the headings, with the explanations that text reports print.
    fn explained(&self) -> Headings {
        let mut headings = self.0.headings.clone();
        headings.explain(&self.0.judged);
        headings
    }
}
