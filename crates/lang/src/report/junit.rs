//! JUnit XML: a suite per property, a case per trace, and a suite for what could not be read.
//!
//! | verdict | case |
//! |---|---|
//! | `satisfied`, `presumably_satisfied` | passed |
//! | `violated` | failure |
//! | `presumably_violated` | passed, said in its output: the trace is not complete |
//! | `unknown` | skipped: what was not recorded decides |

use std::io::{self, Write};

use super::human::{why, write_steps};
use super::xml::{Case, Details, Document, Status, Suite};
use super::{Heading, Headings, Paint, Reporter, Summary};
use crate::hir::Severity;
use crate::problem::Problem;
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

/// Collects cases, and writes the document at the end.
#[derive(Debug)]
pub struct Junit<'s, W> {
    headings: &'s Headings,
    out: W,
    suites: Vec<Vec<Case>>,
    problems: Vec<Case>,
}

impl<'s, W: Write> Junit<'s, W> {
    /// Writes to `out`.
    pub fn new(headings: &'s Headings, out: W) -> Junit<'s, W> {
        let suites = headings.properties.iter().map(|_| Vec::new()).collect();
        Junit {
            headings,
            out,
            suites,
            problems: Vec::new(),
        }
    }
}

impl<W: Write> Reporter for Junit<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        let place = match report.line {
            0 => report.file.to_string(),
            line => format!("{}:{line}", report.file),
        };
        for (idx, (heading, cases)) in self
            .headings
            .properties
            .iter()
            .zip(&mut self.suites)
            .enumerate()
        {
            let verdicts: Vec<&PropertyVerdict> = report
                .verdicts
                .iter()
                .filter(|verdict| verdict.property.index() == idx)
                .collect();
            if verdicts.is_empty() {
                continue;
            }
            let open = verdicts
                .iter()
                .find(|verdict| verdict.verdict == Verdict::PresumablyViolated);
            cases.push(Case {
                name: report.trace.to_string(),
                class: place.clone(),
                status: status(heading, &verdicts, &place)?,
                took: None,
                output: open.map(|open| {
                    let from = open
                        .from
                        .map_or_else(String::new, |step| format!(" since step {step}"));
                    format!("open{from}: the trace is incomplete")
                }),
            });
        }
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        if problem.kind.is_error() {
            self.problems.push(Case {
                name: match problem.line {
                    0 => problem.file.to_string(),
                    line => format!("{}:{line}", problem.file),
                },
                class: "input".to_owned(),
                status: Status::Error(Details {
                    message: problem.message.clone(),
                    class: Some(super::problems::kind_words(problem.kind)),
                    text: problem.to_string(),
                }),
                took: None,
                output: None,
            });
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        let mut suites = Vec::new();
        for (heading, cases) in self.headings.properties.iter().zip(&mut self.suites) {
            let mut properties = Vec::new();
            if let Some(sentence) = &heading.requirement {
                properties.push(("requirement", sentence.to_string()));
            }
            if !heading.cites.is_empty() {
                properties.push(("cites", heading.cites.join(", ")));
            }
            properties.push(("formula", heading.formula.clone()));
            suites.push(Suite {
                name: heading.name.to_string(),
                properties,
                cases: std::mem::take(cases),
            });
        }
        if !self.problems.is_empty() {
            suites.push(Suite {
                name: "input data".to_owned(),
                properties: Vec::new(),
                cases: std::mem::take(&mut self.problems),
            });
        }
        let name = "guard audit";
        Document { name, suites }.write(&mut self.out)?;
        self.out.flush()
    }
}

fn status(heading: &Heading, verdicts: &[&PropertyVerdict], place: &str) -> io::Result<Status> {
    let violations: Vec<&&PropertyVerdict> = verdicts
        .iter()
        .filter(|verdict| verdict.verdict == Verdict::Violated)
        .collect();
    let Some(first) = violations.first() else {
        let unknown = verdicts
            .iter()
            .find(|verdict| verdict.verdict == Verdict::Unknown);
        return Ok(unknown.map_or(Status::Success, |unknown| {
            Status::Skipped(format!("unknown: {}", unknown.why_unknown()))
        }));
    };
    let mut text = Vec::new();
    writeln!(text, "{place}")?;
    if let Some(sentence) = &heading.requirement {
        writeln!(text, "“{sentence}”")?;
    }
    writeln!(
        text,
        "{}:{}: {}",
        heading.file, heading.line, heading.formula
    )?;
    for violation in &violations {
        for (name, value) in &violation.instance {
            writeln!(text, "{name} = {value}")?;
        }
        write_steps(&mut text, Paint::PLAIN, 0, &violation.evidence)?;
        for sentence in why(violation, &violation.evidence) {
            writeln!(text, "{sentence}")?;
        }
    }
    let default = match first.at {
        Some(at) => format!("{} is violated at step {at}", heading.name),
        None => format!("{} is violated", heading.name),
    };
    Ok(Status::Failure(Details {
        message: first.message.clone().unwrap_or(default),
        class: Some(match heading.severity {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        }),
        text: String::from_utf8_lossy(&text).into_owned(),
    }))
}
