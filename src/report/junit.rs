//! JUnit XML: a suite per property, a case per trace, and a suite for what could not be read.
//!
//! | verdict | case |
//! |---|---|
//! | `satisfied`, `presumably_satisfied` | passed |
//! | `violated` | failure |
//! | `presumably_violated` | passed, said in its output: the trace is not complete |
//! | `unknown` | skipped: what was not recorded decides |

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

use super::human::write_steps;
use super::{Heading, Headings, Paint, Reporter, Summary};
use crate::hir::Severity;
use crate::problem::Problem;
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

/// Collects cases, and writes the document at the end.
#[derive(Debug)]
pub struct Junit<'s, W> {
    headings: &'s Headings,
    out: W,
    suites: Vec<Vec<TestCase>>,
    problems: Vec<TestCase>,
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
            let mut case =
                TestCase::new(report.trace.as_str(), status(heading, &verdicts, &place)?);
            case.set_classname(place.as_str());
            if let Some(open) = verdicts
                .iter()
                .find(|verdict| verdict.verdict == Verdict::PresumablyViolated)
            {
                let from = open
                    .from
                    .map_or_else(String::new, |step| format!(" since step {step}"));
                case.set_system_out(format!("open{from}: the trace is not complete"));
            }
            cases.push(case);
        }
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        if problem.kind.is_error() {
            let mut status = TestCaseStatus::non_success(NonSuccessKind::Error);
            status
                .set_message(problem.message.as_str())
                .set_type(super::problems::kind_words(problem.kind))
                .set_description(problem.to_string());
            let name = match problem.line {
                0 => problem.file.to_string(),
                line => format!("{}:{line}", problem.file),
            };
            let mut case = TestCase::new(name, status);
            case.set_classname("input");
            self.problems.push(case);
        }
        Ok(())
    }

    fn finish(&mut self, _: &Summary) -> io::Result<()> {
        let mut report = Report::new("guard audit");
        for (heading, cases) in self.headings.properties.iter().zip(&mut self.suites) {
            let mut suite = TestSuite::new(heading.name.as_str());
            if let Some(sentence) = &heading.requirement {
                suite.add_property(("requirement", sentence.as_str()));
            }
            if !heading.cites.is_empty() {
                suite.add_property(("cites", heading.cites.join(", ").as_str()));
            }
            suite.add_property(("formula", heading.formula.as_str()));
            suite.add_test_cases(std::mem::take(cases));
            report.add_test_suite(suite);
        }
        if !self.problems.is_empty() {
            let mut suite = TestSuite::new("input data");
            suite.add_test_cases(std::mem::take(&mut self.problems));
            report.add_test_suite(suite);
        }
        report.serialize(&mut self.out).map_err(io::Error::other)?;
        self.out.flush()
    }
}

fn status(
    heading: &Heading,
    verdicts: &[&PropertyVerdict],
    place: &str,
) -> io::Result<TestCaseStatus> {
    let violations: Vec<&&PropertyVerdict> = verdicts
        .iter()
        .filter(|verdict| verdict.verdict == Verdict::Violated)
        .collect();
    let Some(first) = violations.first() else {
        if verdicts
            .iter()
            .any(|verdict| verdict.verdict == Verdict::Unknown)
        {
            let mut status = TestCaseStatus::skipped();
            status.set_message("unknown: what was not recorded decides");
            return Ok(status);
        }
        return Ok(TestCaseStatus::success());
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
    }
    let default = match first.at {
        Some(at) => format!("{} is violated at step {at}", heading.name),
        None => format!("{} is violated", heading.name),
    };
    let mut status = TestCaseStatus::non_success(NonSuccessKind::Failure);
    status
        .set_message(first.message.as_deref().unwrap_or(&default))
        .set_type(match heading.severity {
            Severity::Low => "low",
            Severity::Medium => "medium",
            Severity::High => "high",
            Severity::Critical => "critical",
        })
        .set_description(String::from_utf8_lossy(&text).into_owned());
    Ok(status)
}
