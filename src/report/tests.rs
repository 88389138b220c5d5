//! Tests of specs: what was expected, what came out, and the steps.

use std::io::{self, Write};
use std::sync::Arc;
use std::time::Duration;

use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_json::json;
use smol_str::SmolStr;

use super::Paint;
use super::human::write_steps;
use super::json::value_json;
use super::tally::per_property;
use super::text::{cut, plural};
use crate::hir::reads::reads;
use crate::hir::{Expect, Spec, Test};
use crate::input::record::{Origin, Record, Step};
use crate::source::SourceMap;
use crate::value::Cell;
use crate::verdict::{Evidence, TraceReport};

/// Steps of a failed test that are shown.
const STEPS: usize = 20;

/// How a test went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Everything that was expected came out.
    Pass,
    /// Something else came out.
    Fail,
    /// It could not be judged.
    Error,
}

/// A test that was run.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// Its name.
    pub name: SmolStr,
    /// The spec's file.
    pub file: String,
    /// 1-based line of the test.
    pub line: u32,
    /// How it went.
    pub outcome: Outcome,
    /// What did not come out.
    pub failures: Vec<Failure>,
    /// Why it could not be judged.
    pub error: Option<String>,
    /// What was wrong with its data.
    pub problems: Vec<String>,
    /// The steps, where it failed.
    pub steps: Vec<Evidence>,
    /// Steps beyond those shown.
    pub more_steps: usize,
    /// How long judging took.
    pub took: Duration,
}

/// An expectation that was not met.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The property.
    pub property: SmolStr,
    /// 1-based line of the expectation.
    pub line: u32,
    /// `violated at 3`
    pub expected: (SmolStr, Option<u32>),
    /// What came out.
    pub got: (SmolStr, Option<u32>),
    /// The message of the property, where it was violated.
    pub message: Option<String>,
}

/// The trace of a test; it is complete.
pub fn record(test: &Test, sources: &SourceMap) -> Record {
    let file = sources.get(test.span.file);
    let name: Arc<str> = file.name().into();
    let steps = test.steps.iter().enumerate().map(|(idx, cells)| Step {
        index: u32::try_from(idx).unwrap_or(u32::MAX),
        cells: cells.clone().into_boxed_slice(),
    });
    Record {
        origin: Origin {
            file: Arc::clone(&name),
            below: name,
            line: u64::from(file.location(test.span.start).line),
            ordinal: 0,
        },
        id: Some(test.name.clone()),
        complete: Some(true),
        meta: test.meta.clone().into_boxed_slice(),
        steps: steps.collect(),
        problems: Vec::new(),
    }
}

/// Compares what came out with what the test expects.
pub fn compare(
    spec: &Spec,
    sources: &SourceMap,
    test: &Test,
    judged: Option<&TraceReport>,
    took: Duration,
) -> TestReport {
    let file = sources.get(test.span.file);
    let mut report = TestReport {
        name: test.name.clone(),
        file: file.name().to_owned(),
        line: file.location(test.span.start).line,
        outcome: Outcome::Pass,
        failures: Vec::new(),
        error: None,
        problems: Vec::new(),
        steps: Vec::new(),
        more_steps: 0,
        took,
    };
    let Some(judged) = judged else {
        report.outcome = Outcome::Error;
        report.error =
            Some("`records where` does not hold, so there is nothing to judge".to_owned());
        return report;
    };
    for expect in &test.expects {
        if let Some(mut failure) = unmet(spec, expect, judged) {
            failure.line = file.location(expect.span.start).line;
            report.failures.push(failure);
        }
    }
    report.problems = judged
        .problems
        .iter()
        .map(|problem| {
            let step = problem
                .step
                .map_or_else(String::new, |step| format!("step {step}: "));
            let field = problem
                .field
                .as_ref()
                .map_or_else(String::new, |field| format!("field `{field}` "));
            format!("{step}{field}{}", problem.message)
        })
        .collect();
    if !report.failures.is_empty() {
        report.outcome = Outcome::Fail;
        report.steps = steps(spec, test, judged);
        report.more_steps = test.steps.len().saturating_sub(report.steps.len());
    }
    report
}

fn unmet(spec: &Spec, expect: &Expect, judged: &TraceReport) -> Option<Failure> {
    let (_, verdict, _) = *per_property(&judged.verdicts)
        .iter()
        .find(|(property, _, _)| *property == expect.property)?;
    let same: Vec<_> = judged
        .verdicts
        .iter()
        .filter(|found| found.property == expect.property && found.verdict == verdict)
        .collect();
    // Of several violated instances, any may be the one that is meant.
    let met = expect.verdict == verdict.as_str()
        && (expect.at.is_none() || same.iter().any(|found| found.at == expect.at));
    (!met).then(|| Failure {
        property: spec.property(expect.property).name.clone(),
        line: 0,
        expected: (expect.verdict.clone(), expect.at),
        got: (
            verdict.as_str().into(),
            same.first().and_then(|found| found.at),
        ),
        message: same.first().and_then(|found| found.message.clone()),
    })
}

/// The steps of a test with the fields that its properties read, and the letters that are known to be true.
fn steps(spec: &Spec, test: &Test, judged: &TraceReport) -> Vec<Evidence> {
    let letters = test.expects.iter().flat_map(|expect| {
        spec.formulas
            .letters_of(spec.property(expect.property).formula)
    });
    let read = reads(spec, letters.map(|letter| spec.letter(letter).expr)).fields;
    let told = |step: u32| {
        let all = judged.verdicts.iter().flat_map(|verdict| &verdict.evidence);
        let mut letters: Vec<SmolStr> = Vec::new();
        for letter in all
            .filter(|evidence| evidence.step == step)
            .flat_map(|evidence| &evidence.letters)
        {
            if !letters.contains(letter) {
                letters.push(letter.clone());
            }
        }
        letters
    };
    let cells = test.steps.iter().take(STEPS).zip(0..);
    cells
        .map(|(cells, step)| Evidence {
            step,
            fields: read
                .iter()
                .filter_map(|idx| {
                    Some((
                        spec.signature.fields.get(*idx)?.name.clone(),
                        cells.get(*idx)?,
                    ))
                })
                .map(|(name, cell)| {
                    let text = match cell {
                        Cell::Known(value) => value_json(value, &spec.enums),
                        Cell::Unknown => "unknown".to_owned(),
                    };
                    (name, cut(&text, 200))
                })
                .collect(),
            letters: told(step),
        })
        .collect()
}

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
