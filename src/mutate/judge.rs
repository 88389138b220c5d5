//! Judging whether tests and recorded traces detect a mutant.

use std::cmp::Reverse;

use smol_str::{SmolStr, format_smolstr};

use super::{Limits, Recording};
use crate::audit::{Readers, judge_text, test_record};
use crate::diff;
use crate::domain;
use crate::eval::Program;
use crate::hir::{Expect, Expected, Spec, Test};
use crate::ids::{FormulaId, PropertyId};
use crate::input::formats::FormatChoice;
use crate::source::SourceMap;
use crate::verdict::{TraceReport, Verdict};

/// Judges the mutants of some properties.
pub(super) struct Judged<'a> {
    /// The spec, with the expressions and formulas of the mutants.
    pub(super) spec: &'a Spec,
    sources: &'a SourceMap,
    recordings: &'a [Recording],
    properties: &'a [PropertyId],
    limits: &'a Limits,
}

/// A verdict with the step at which it became final.
pub(super) type FinalVerdict = (Verdict, Option<u32>);

/// The greatest number of mutants that are judged in one pass over the traces.
const TOGETHER: usize = 64;

impl<'a> Judged<'a> {
    pub(super) fn new(
        spec: &'a Spec,
        sources: &'a SourceMap,
        recordings: &'a [Recording],
        properties: &'a [PropertyId],
        limits: &'a Limits,
    ) -> Judged<'a> {
        Judged {
            spec,
            sources,
            recordings,
            properties,
            limits,
        }
    }

    /// Returns the test or trace that detects each mutant; a mutant is a formula for each of the properties.
    pub(super) fn killed(&self, mutants: &[&[FormulaId]]) -> Result<Vec<Option<SmolStr>>, String> {
        let readers = Readers::new(&self.spec.schema, FormatChoice::Auto, self.limits.input)
            .map_err(|error| error.to_string())?;
        let mut killed = Vec::with_capacity(mutants.len());
        for chunk in mutants.chunks(TOGETHER) {
            killed.extend(self.killed_together(chunk, &readers)?);
        }
        Ok(killed)
    }

    fn killed_together(
        &self,
        mutants: &[&[FormulaId]],
        readers: &Readers,
    ) -> Result<Vec<Option<SmolStr>>, String> {
        let mut formulas: Vec<(PropertyId, FormulaId)> = Vec::new();
        for property in self.properties {
            formulas.push((*property, self.spec.property(*property).formula));
        }
        for mutant in mutants {
            formulas.extend(self.properties.iter().copied().zip(mutant.iter().copied()));
        }
        let spec = self.spec_of(&formulas);
        let program = self.program(&spec)?;
        let width = self.properties.len();
        let mut killed: Vec<Option<SmolStr>> = vec![None; mutants.len()];
        for test in &self.spec.tests {
            let expects: Vec<(usize, &Expect)> = test
                .expects
                .iter()
                .filter_map(|expect| {
                    let place = self.properties.iter().position(|p| *p == expect.property)?;
                    Some((place, expect))
                })
                .collect();
            if expects.is_empty() {
                continue;
            }
            let Some(judged) = program.judge(test_record(test, self.sources)) else {
                continue;
            };
            for (mutant, killed) in killed.iter_mut().enumerate() {
                let noticed = expects.iter().any(|(place, expect)| {
                    !meets(
                        &judged,
                        PropertyId::new(width * (mutant + 1) + place),
                        expect,
                    )
                });
                if noticed && killed.is_none() {
                    *killed = Some(test.name.clone());
                }
            }
        }
        for recording in self.recordings {
            for judged in judge_text(&program, readers, &recording.name, &recording.text).reports {
                for (mutant, killed) in killed.iter_mut().enumerate() {
                    let noticed = (0..width).any(|place| {
                        outcome(&judged, PropertyId::new(place))
                            != outcome(&judged, PropertyId::new(width * (mutant + 1) + place))
                    });
                    if noticed && killed.is_none() {
                        *killed = Some(judged.trace.clone());
                    }
                }
            }
        }
        Ok(killed)
    }

    /// Returns the spec with only these formulas, each as the property that it is or is a mutant of.
    fn spec_of(&self, formulas: &[(PropertyId, FormulaId)]) -> Spec {
        let mut spec = self.spec.clone();
        spec.tests = Vec::new();
        spec.properties = formulas
            .iter()
            .enumerate()
            .map(|(idx, (property, formula))| {
                let mut property = self.spec.property(*property).clone();
                property.name = format_smolstr!("{}~{idx}", property.name);
                property.formula = *formula;
                property.trigger = None;
                property.message = None;
                property
            })
            .collect();
        spec
    }

    /// Searches events on which a property and a mutant of it have different verdicts.
    pub(super) fn searched(
        &self,
        property: PropertyId,
        mutant: &[FormulaId],
    ) -> Option<Vec<domain::Event>> {
        let place = self.properties.iter().position(|p| *p == property)?;
        if self.spec.is_unwritten(self.spec.property(property)) {
            return None;
        }
        let original = self.spec.property(property).formula;
        let with = |formula: FormulaId| {
            let mut spec = self.spec_of(&[(property, formula)]);
            spec.enforces.clear();
            spec.tests.clone_from(&self.spec.tests);
            spec.tests.iter_mut().for_each(|test| test.expects.clear());
            spec
        };
        diff::difference(&with(original), &with(*mutant.get(place)?))
    }

    fn program(&self, spec: &Spec) -> Result<Program, String> {
        Program::compile(spec, &self.limits.eval).map_err(|error| error.to_string())
    }

    /// Returns the verdict of a property on a trace, and the mutants that a test of it would detect. A mutant is a formula
    /// for each of the properties.
    pub(super) fn noticed(
        &self,
        test: &Test,
        property: PropertyId,
        mutants: &[&[FormulaId]],
    ) -> Option<(FinalVerdict, Vec<bool>)> {
        let place = self.properties.iter().position(|p| *p == property)?;
        let original = self.spec.property(property).formula;
        let mut noticed = Vec::with_capacity(mutants.len());
        let mut first = None;
        for chunk in mutants.chunks(TOGETHER) {
            let mut formulas = vec![(property, original)];
            for mutant in chunk {
                formulas.push((property, *mutant.get(place)?));
            }
            let spec = self.spec_of(&formulas);
            let program = self.program(&spec).ok()?;
            let judged = program.judge(test_record(test, self.sources))?;
            let (verdict, at) = outcome(&judged, PropertyId::new(0));
            first = Some((verdict, at));
            let expect = Expect {
                form: Expected::Verdict,
                property,
                verdict: verdict.as_str().into(),
                at: at.filter(|_| verdict == Verdict::Violated),
                span: test.span,
            };
            let mutants = 1..=chunk.len();
            noticed.extend(mutants.map(|idx| !meets(&judged, PropertyId::new(idx), &expect)));
        }
        Some((first?, noticed))
    }
}

/// Returns the most severe verdict of a property over its instances, with the first step at which one became final.
fn outcome(judged: &TraceReport, property: PropertyId) -> FinalVerdict {
    let all = judged
        .verdicts
        .iter()
        .filter(|found| found.property == property);
    all.map(|found| (found.verdict, found.at))
        .min_by_key(|(verdict, at)| (Reverse(verdict.severity()), *at))
        .unwrap_or((Verdict::Satisfied, None))
}

/// Whether a verdict matches the expectation of a test; if several instances are violated, any of them may match.
fn meets(judged: &TraceReport, property: PropertyId, expect: &Expect) -> bool {
    let (verdict, _) = outcome(judged, property);
    let mut same = judged
        .verdicts
        .iter()
        .filter(|found| found.property == property && found.verdict == verdict);
    expect.verdict == verdict.as_str()
        && (expect.at.is_none() || same.any(|found| found.at == expect.at))
}
