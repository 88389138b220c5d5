//! Reports of tests as text, JSON Lines and JUnit.

use std::io::{self, Write};

use serde_json::json;
use smol_str::SmolStr;

use super::{Failure, Outcome, TestReport};
use crate::hir::Expected;
use crate::inert::inert;
use crate::report::Paint;
use crate::report::human::write_steps;
use crate::report::text::plural;
use crate::report::xml::{Case, Details, Document, Status, Suite};
use crate::verdict::Evidence;

/// Returns the expected and the actual result as texts.
fn outcome_texts(failure: &Failure) -> (String, String) {
    let text = |(verdict, at): &(SmolStr, Option<u32>)| match at {
        Some(at) => format!("{verdict} at {at}"),
        None => verdict.to_string(),
    };
    let at = match failure.form {
        Expected::Verdict => return (text(&failure.expected), text(&failure.got)),
        Expected::Condition(Some(at)) => format!("true at step {at}"),
        Expected::Condition(None) => "true at the last step".to_owned(),
    };
    let got = match failure.got.0.as_str() {
        "unknown" => "unknown",
        _ => "false",
    };
    (at, got.to_owned())
}

/// Writes the text report; `left` tests were not selected by name.
///
/// # Errors
/// If `out` cannot be written.
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
            let (expected, got) = outcome_texts(failure);
            writeln!(out, "        expected {expected}")?;
            writeln!(out, "        got      {}", paint.bad(&got))?;
            if let Some(message) = &failure.message {
                writeln!(out, "        message  {message}")?;
            }
            for sentence in &failure.why {
                writeln!(out, "        {}", inert(sentence))?;
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
                "      … and {} more evaluation errors",
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
        parts.push(paint.bad(&format!("{errors} not checked")));
    }
    if left > 0 {
        parts.push(format!("{left} skipped"));
    }
    writeln!(
        out,
        "{}: {}",
        plural(reports.len() as u64, "test", "tests"),
        parts.join(", ")
    )
}

/// Writes one line per test.
///
/// # Errors
/// If `out` cannot be written.
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
                    "why": failure.why,
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
            steps: report.steps.iter().map(StepLine::new).collect(),
            more_steps: report.more_steps,
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
    /// The steps, where the test failed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    steps: Vec<StepLine<'a>>,
    #[serde(skip_serializing_if = "is_zero")]
    more_steps: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A step with the fields that the expected properties read, values as text, and the conditions that are true there.
#[derive(serde::Serialize)]
struct StepLine<'a> {
    step: u32,
    fields: serde_json::Map<String, serde_json::Value>,
    #[serde(rename = "true")]
    letters: &'a [SmolStr],
}

impl StepLine<'_> {
    fn new(evidence: &Evidence) -> StepLine<'_> {
        let fields = evidence.fields.iter();
        StepLine {
            step: evidence.step,
            fields: fields
                .map(|(name, value)| (name.to_string(), json!(value)))
                .collect(),
            letters: &evidence.letters,
        }
    }
}

/// Returns the first failure of a test in one line.
pub fn first_failure(report: &TestReport) -> String {
    let first = report.failures.first().map(|failure| {
        let (expected, got) = outcome_texts(failure);
        format!("{}: expected {expected}, found {got}", failure.property)
    });
    first.or_else(|| report.error.clone()).unwrap_or_default()
}

/// Writes one suite per spec and one case per test.
///
/// # Errors
/// If `out` cannot be written.
pub fn junit(out: &mut impl Write, reports: &[TestReport]) -> io::Result<()> {
    let mut suites: Vec<Suite> = Vec::new();
    for report in reports {
        let details = || -> io::Result<Details> {
            let mut text = Vec::new();
            human(&mut text, Paint::PLAIN, std::slice::from_ref(report), 0)?;
            Ok(Details {
                message: first_failure(report),
                class: None,
                text: String::from_utf8_lossy(&text).into_owned(),
            })
        };
        let case = Case {
            name: report.name.to_string(),
            class: report.file.to_string(),
            status: match report.outcome {
                Outcome::Pass => Status::Success,
                Outcome::Fail => Status::Failure(details()?),
                Outcome::Error => Status::Error(details()?),
            },
            took: Some(report.took),
            output: None,
        };
        match suites.last_mut().filter(|suite| suite.name == report.file) {
            Some(suite) => suite.cases.push(case),
            None => suites.push(Suite {
                name: report.file.to_string(),
                properties: Vec::new(),
                cases: vec![case],
            }),
        }
    }
    let name = "guard test";
    Document { name, suites }.write(out)
}
