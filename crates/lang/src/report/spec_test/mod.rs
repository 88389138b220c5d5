//! Tests of specs: expected results, actual results, and the steps.

mod write;

use std::time::Duration;

use smol_str::SmolStr;

pub use write::{first_failure, human, json, junit};

use super::human::why;
use super::tally::per_property;
use super::text::cut;
use crate::hir::reads::reads;
use crate::hir::{Expect, Expected, Spec, Test, print};
use crate::ids::AtomId;
use crate::source::SourceMap;
use crate::value::{Cell, Truth};
use crate::verdict::value_json;
use crate::verdict::{Evidence, PropertyVerdict, TraceReport};

/// The greatest number of steps of a failed test that are shown.
const STEPS: usize = 20;

/// The greatest number of steps with missing data that are listed for one verdict.
const UNDECIDED: usize = 5;

/// The result of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All expectations were met.
    Pass,
    /// An expectation was not met.
    Fail,
    /// The test could not be judged.
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
    /// The result.
    pub outcome: Outcome,
    /// The expectations that were not met.
    pub failures: Vec<Failure>,
    /// The error that prevented judging.
    pub error: Option<String>,
    /// The problems of its data.
    pub problems: Vec<String>,
    /// The steps, if the test failed.
    pub steps: Vec<Evidence>,
    /// The number of steps beyond those shown.
    pub more_steps: usize,
    /// The time that judging took.
    pub took: Duration,
}

/// An expectation that was not met.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The property.
    pub property: SmolStr,
    /// 1-based line of the expectation.
    pub line: u32,
    /// The form of the expectation.
    pub form: Expected,
    /// `violated at 3`
    pub expected: (SmolStr, Option<u32>),
    /// The actual result.
    pub got: (SmolStr, Option<u32>),
    /// The message of the property, if it was violated.
    pub message: Option<String>,
    /// The reasons for the actual verdict, one sentence each: the values that decided it, or the missing data.
    pub why: Vec<String>,
}

impl TestReport {
    /// Adds to the shown steps the conditions of the expected properties that hold there, given the truth of a condition at a
    /// step; `None` for one that it has only for an instance.
    pub fn add_letters(
        &mut self,
        spec: &Spec,
        test: &Test,
        truth: impl Fn(u32, AtomId) -> Option<Truth>,
    ) {
        let letters = letters(spec, test);
        for step in &mut self.steps {
            let is_true = |letter: &&AtomId| truth(step.step, **letter) == Some(Truth::True);
            let holding = letters.iter().filter(is_true);
            let holding = holding.map(|letter| spec.atom(*letter).text.clone());
            let of_instances = std::mem::take(&mut step.letters);
            step.letters = holding.collect();
            for letter in of_instances {
                if !step.letters.contains(&letter) {
                    step.letters.push(letter);
                }
            }
        }
    }
}

/// Returns the conditions of the expected properties, each once. What a test expects of a step is no condition of a property.
fn letters(spec: &Spec, test: &Test) -> Vec<AtomId> {
    let expects = test.expects.iter();
    let verdicts = expects.filter(|expect| expect.form == Expected::Verdict);
    let all = verdicts.flat_map(|expect| {
        let property = spec.property(expect.property);
        spec.formulas.atoms_of(property.formula)
    });
    let mut letters = Vec::new();
    for letter in all {
        if !letters.contains(&letter) {
            letters.push(letter);
        }
    }
    letters
}

/// Compares the actual results with the expectations of the test.
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
            Some("`records where` rejects the record, so there is nothing to check".to_owned());
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
    // If several instances are violated, any of them may meet the expectation.
    let met = expect.verdict == verdict.as_str()
        && (expect.at.is_none() || same.iter().any(|found| found.at == expect.at));
    // If several instances are violated, the one at the expected step is compared, otherwise the first.
    let shown = same.iter().find(|found| found.at == expect.at);
    let shown = shown.or(same.first());
    (!met).then(|| Failure {
        property: spec.property(expect.property).name.clone(),
        line: 0,
        form: expect.form,
        expected: (expect.verdict.clone(), expect.at),
        got: (verdict.as_str().into(), shown.and_then(|found| found.at)),
        message: shown.and_then(|found| found.message.clone()),
        why: shown.map_or_else(Vec::new, |found| because(spec, found)),
    })
}

/// Returns the reasons for a verdict.
fn because(spec: &Spec, verdict: &PropertyVerdict) -> Vec<String> {
    let undecided = verdict.undecided_by.iter().take(UNDECIDED);
    let undecided = undecided.map(|undecided| match undecided.fields.as_slice() {
        [] => format!("depends on missing data at step {}", undecided.step),
        fields => format!(
            "depends on missing data at step {}: {}",
            undecided.step,
            fields.join(", ")
        ),
    });
    let exceeded = verdict.exceeded.map(|_| verdict.why_unknown().to_owned());
    let instance = verdict.instance.iter();
    let instance = instance.map(|(name, value)| {
        let value = print::value(value, &spec.enums);
        format!("for {name} = {value}")
    });
    let because = instance.chain(why(verdict, &[])).chain(undecided);
    because.chain(exceeded).collect()
}

/// Returns the steps of a test with the fields that its expectations read, and the letters of violated instances that are true.
fn steps(spec: &Spec, test: &Test, judged: &TraceReport) -> Vec<Evidence> {
    let expected = test.expects.iter();
    let expected = expected.map(|expect| spec.property(expect.property));
    let letters = expected
        .clone()
        .flat_map(|property| spec.formulas.atoms_of(property.formula));
    let mut read = reads(spec, letters.map(|letter| spec.atom(letter).expr)).fields;
    read.extend(expected.filter_map(|property| spec.clock_of(property)));
    let is_expected = |property| test.expects.iter().any(|of| of.property == property);
    let told = |step: u32| {
        let verdicts = judged.verdicts.iter();
        let instances = verdicts
            .filter(|verdict| !verdict.instance.is_empty() && is_expected(verdict.property));
        let all = instances.flat_map(|verdict| &verdict.evidence);
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
                    Some((spec.schema.fields.get(*idx)?.name.clone(), cells.get(*idx)?))
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
