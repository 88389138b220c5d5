//! Reports of tests as text, JSON Lines and JUnit.

use std::io::{self, Write};

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use smol_str::SmolStr;

use super::{Outcome, TestReport};
use crate::report::Paint;
use crate::report::human::write_steps;
use crate::report::text::plural;

fn outcome_text((verdict, at): &(SmolStr, Option<u32>)) -> String {
    match at {
        Some(at) => format!("{verdict} at {at}"),
        None => verdict.to_string(),
    }
}

/// Text for people; `left` tests were left out by name.
///
/// # Errors
/// Where `out` cannot be written.
pub fn human(
    out: &mut impl Write,
    paint: Paint,
    reports: &[TestReport],
    left: usize,
) -> io::Result<()> {
    for report in reports {
        let place = paint.quiet(&format!("{}:{}", report.file, report.line));
        match report.outcome {
            Outcome::Pass => {
                writeln!(out, "{}    {}", paint.good("ok"), report.name)?;
                continue;
            }
            Outcome::Fail => writeln!(
                out,
                "{}  {}  {place}",
                paint.bad("FAIL"),
                paint.name(&report.name)
            )?,
            Outcome::Error => writeln!(
                out,
                "{} {}  {place}",
                paint.bad("ERROR"),
                paint.name(&report.name)
            )?,
        }
        if let Some(error) = &report.error {
            writeln!(out, "      {error}")?;
        }
        for failure in &report.failures {
            let place = paint.quiet(&format!("{}:{}", report.file, failure.line));
            writeln!(out, "      {}  {place}", paint.name(&failure.property))?;
            writeln!(out, "        expected {}", outcome_text(&failure.expected))?;
            writeln!(
                out,
                "        got      {}",
                paint.bad(&outcome_text(&failure.got))
            )?;
            if let Some(message) = &failure.message {
                writeln!(out, "        message  {message}")?;
            }
        }
        write_steps(out, paint, 6, &report.steps)?;
        if report.more_steps > 0 {
            writeln!(
                out,
                "      … and {}",
                plural(report.more_steps as u64, "more step", "more steps")
            )?;
        }
        for problem in report.problems.iter().take(5) {
            writeln!(out, "      {} {problem}", paint.open("data error:"))?;
        }
        if report.problems.len() > 5 {
            writeln!(
                out,
                "      … and {} more data errors",
                report.problems.len() - 5
            )?;
        }
        writeln!(out)?;
    }
    let count = |outcome: Outcome| {
        reports
            .iter()
            .filter(|report| report.outcome == outcome)
            .count()
    };
    let (passed, failed, errors) = (
        count(Outcome::Pass),
        count(Outcome::Fail),
        count(Outcome::Error),
    );
    let mut parts = vec![paint.good(&format!("{passed} passed"))];
    if failed > 0 {
        parts.push(paint.bad(&format!("{failed} failed")));
    }
    if errors > 0 {
        parts.push(paint.bad(&format!("{errors} not judged")));
    }
    if left > 0 {
        parts.push(format!("{left} left out"));
    }
    writeln!(
        out,
        "{}: {}",
        plural(reports.len() as u64, "test", "tests"),
        parts.join(", ")
    )
}

/// One line per test.
///
/// # Errors
/// Where `out` cannot be written.
pub fn json(out: &mut impl Write, reports: &[TestReport]) -> io::Result<()> {
    for report in reports {
        let mut failures: Vec<_> = report
            .failures
            .iter()
            .map(|failure| {
                let side =
                    |(verdict, at): &(SmolStr, Option<u32>)| json!({"verdict": verdict, "at": at});
                json!({
                    "property": failure.property,
                    "line": failure.line,
                    "expected": side(&failure.expected),
                    "got": side(&failure.got),
                })
            })
            .collect();
        failures.extend(report.error.iter().map(|error| json!({"error": error})));
        let line = Line {
            v: 1,
            test: &report.name,
            file: &report.file,
            status: match report.outcome {
                Outcome::Pass => "pass",
                Outcome::Fail => "fail",
                Outcome::Error => "error",
            },
            failures,
            ms: (report.took.as_secs_f64() * 1e6).round() / 1e3,
            line: report.line,
            problems: &report.problems,
        };
        serde_json::to_writer(&mut *out, &line)?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

#[derive(serde::Serialize)]
struct Line<'a> {
    v: u8,
    test: &'a str,
    file: &'a str,
    status: &'static str,
    failures: Vec<serde_json::Value>,
    ms: f64,
    line: u32,
    problems: &'a [String],
}

/// A suite per spec, a case per test.
///
/// # Errors
/// Where `out` cannot be written.
pub fn junit(out: &mut impl Write, reports: &[TestReport]) -> io::Result<()> {
    let mut document = Report::new("guard test");
    let mut suites: Vec<TestSuite> = Vec::new();
    for report in reports {
        let status = match report.outcome {
            Outcome::Pass => TestCaseStatus::success(),
            Outcome::Fail | Outcome::Error => {
                let kind = match report.outcome {
                    Outcome::Fail => NonSuccessKind::Failure,
                    _ => NonSuccessKind::Error,
                };
                let mut status = TestCaseStatus::non_success(kind);
                let mut text = Vec::new();
                human(&mut text, Paint::PLAIN, std::slice::from_ref(report), 0)?;
                let first = report.failures.first().map(|failure| {
                    let (expected, got) =
                        (outcome_text(&failure.expected), outcome_text(&failure.got));
                    format!("{}: expected {expected}, got {got}", failure.property)
                });
                status
                    .set_message(first.or_else(|| report.error.clone()).unwrap_or_default())
                    .set_description(String::from_utf8_lossy(&text).into_owned());
                status
            }
        };
        let mut case = TestCase::new(report.name.as_str(), status);
        case.set_classname(report.file.as_str())
            .set_time(report.took);
        match suites
            .last_mut()
            .filter(|suite| suite.name.as_str() == report.file)
        {
            Some(suite) => {
                suite.add_test_case(case);
            }
            None => {
                let mut suite = TestSuite::new(report.file.as_str());
                suite.add_test_case(case);
                suites.push(suite);
            }
        }
    }
    document.add_test_suites(suites);
    document.serialize(out).map_err(io::Error::other)
}
