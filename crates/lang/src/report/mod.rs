//! Reports of verdicts: text, a page for browsers, JSON Lines, SARIF and JUnit.
//!
//! [`TraceReport`]s and [`Problem`]s go in, in the order of the input; bytes come out through a [`Reporter`]. The other
//! data about a property that reports print is in its [`Heading`], taken from the spec once.
//!
//! Reports do not judge and read no files. Their output depends only on their input, so the same verdicts give the same
//! bytes.

pub mod automaton;
pub mod buchi;
#[cfg(feature = "pages")]
pub mod document;
pub mod draft;
pub mod explanation;
#[cfg(feature = "pages")]
pub mod html;
pub mod human;
pub mod json;
pub mod junit;
pub(crate) mod paint;
#[cfg(feature = "pages")]
pub mod plot;
pub mod problems;
pub mod sarif;
pub mod spec_test;
pub mod tally;
pub mod text;
pub mod verify;
pub mod words;
mod xml;

use std::io;
use std::sync::Arc;

use smol_str::SmolStr;

pub use paint::Paint;
pub use tally::{
    AbsentField, ComparedKinds, Counts, Input, OtherSpelling, Summary, UnequalSummaries, UnseenName,
};

use crate::hir::{PropertyKind, Severity, Spec};
use crate::ids::PropertyId;
use crate::problem::Problem;
use crate::source::{SourceMap, Span};
use crate::types::EnumType;
use crate::verdict::{TraceReport, Verdict};

/// Writes one report, as judged traces arrive.
///
/// The driver calls `trace` and `problem` in the order of the input, and `finish` once.
pub trait Reporter {
    /// Reports a judged trace. It contains the problems with its data, which are not passed to [`Reporter::problem`].
    ///
    /// # Errors
    /// If writing fails.
    fn trace(&mut self, report: &TraceReport) -> io::Result<()>;

    /// Reports a judged trace whose rendered form (without its problems) was already produced for this reporter.
    ///
    /// # Errors
    /// If writing fails.
    fn rendered(&mut self, report: &TraceReport, _bytes: &[u8]) -> io::Result<()> {
        self.trace(report)
    }

    /// Whether the reasons for such a verdict would be shown for the next trace or a later one.
    fn explains(&self, _property: PropertyId, _verdict: Verdict) -> bool {
        true
    }

    /// Whether the recorded values at the steps of a counterexample are shown.
    fn shows_evidence(&self) -> bool {
        true
    }

    /// Reports a problem with data that belongs to no judged trace.
    ///
    /// # Errors
    /// If writing fails.
    fn problem(&mut self, problem: &Problem) -> io::Result<()>;

    /// Ends the report.
    ///
    /// # Errors
    /// If writing fails.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// The data of a spec that reports print.
#[derive(Clone, Debug, Default)]
pub struct Headings {
    /// One per property, in order of declaration.
    pub properties: Vec<Heading>,
    /// The enums of the spec, for the names of values in instances.
    pub enums: Vec<Arc<EnumType>>,
}

/// The data of a property that reports print besides its verdicts.
#[derive(Clone, Debug)]
pub struct Heading {
    /// Its name.
    pub name: SmolStr,
    /// `@id`
    pub id: Option<SmolStr>,
    /// The keyword that declared it.
    pub kind: PropertyKind,
    /// `@severity`
    pub severity: Severity,
    /// `@catastrophic`
    pub catastrophic: bool,
    /// `@owner`
    pub owner: Option<SmolStr>,
    /// Whether it is judged for each combination of values of its quantified variables.
    pub quantified: bool,
    /// Documentation, without markers.
    pub doc: SmolStr,
    /// The English sentence of a requirement.
    pub requirement: Option<SmolStr>,
    /// `@cites`
    pub cites: Vec<SmolStr>,
    /// The spec's file.
    pub file: Arc<str>,
    /// 1-based line of the formula.
    pub line: u32,
    /// 1-based column of the formula, in characters.
    pub column: u32,
    /// The text of the formula.
    pub formula: String,
    /// The property in English, made from its formula; empty unless [`Headings::word`] was called.
    pub words: String,
    /// The lines of the text that hold the formula.
    pub source: Vec<String>,
    /// When violations become final, if [`Headings::explain`] was called.
    pub finality: Finality,
}

/// When violations of a property become final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finality {
    /// Always at a step, for every continuation (safety).
    Step,
    /// Only by the end of the trace (an obligation that stays open).
    End,
    /// Either of the two, or not known.
    #[default]
    Either,
}

impl Headings {
    /// Returns the headings of a spec. `sources` contains the text that its spans refer to.
    pub fn new(spec: &Spec, sources: &SourceMap) -> Headings {
        let properties = spec
            .properties
            .iter()
            .map(|property| {
                let file = sources.get(property.formula_span.file);
                let place = file.location(property.formula_span.start);
                Heading {
                    name: property.name.clone(),
                    id: property.id.clone(),
                    kind: property.kind,
                    severity: property.severity,
                    catastrophic: property.catastrophic,
                    owner: property.owner.clone(),
                    quantified: property.quantified.is_some(),
                    doc: property.doc.clone(),
                    requirement: property.requirement.clone(),
                    cites: property.cites.clone(),
                    file: file.name().into(),
                    line: place.line,
                    column: place.column,
                    formula: sources.slice(property.formula_span).to_owned(),
                    words: String::new(),
                    source: lines_of(sources, property.formula_span),
                    finality: Finality::Either,
                }
            })
            .collect();
        Headings {
            properties,
            enums: spec.enums.clone(),
        }
    }

    /// Adds when violations become final, for reports for people: automata of the properties decide it.
    pub fn explain(&mut self, spec: &Spec) {
        for (idx, heading) in self.properties.iter_mut().enumerate() {
            heading.finality = explanation::finality(spec, PropertyId::new(idx));
        }
    }

    /// Adds the properties in English, for pages. A sentence is read back before it is used, so that this took six times as
    /// many instructions as an audit of a few traces.
    pub fn word(&mut self, spec: &Spec) {
        for (heading, property) in self.properties.iter_mut().zip(&spec.properties) {
            heading.words = words::property(spec, property);
        }
    }

    /// Returns the heading of a property, or `None` for an id of another spec.
    pub fn get(&self, id: crate::ids::PropertyId) -> Option<&Heading> {
        self.properties.get(id.index())
    }
}

/// Returns the whole lines that contain `span`, without their common indentation.
fn lines_of(sources: &SourceMap, span: Span) -> Vec<String> {
    let file = sources.get(span.file);
    let first = file.lines().line_index(span.start);
    let last = file
        .lines()
        .line_index(span.end.saturating_sub(1).max(span.start));
    let lines: Vec<&str> = file
        .text()
        .lines()
        .skip(first)
        .take(last - first + 1)
        .collect();
    let margin = lines
        .iter()
        .filter(|line| !line.trim().is_empty())
        .map(|line| line.len() - line.trim_start().len())
        .min()
        .unwrap_or(0);
    lines
        .iter()
        .map(|line| line.get(margin..).unwrap_or("").trim_end().to_owned())
        .collect()
}
