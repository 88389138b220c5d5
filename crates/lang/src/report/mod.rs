//! Verdicts for people and for programs: text, a page for browsers, JSON Lines, SARIF and JUnit.
//!
//! [`TraceReport`]s and [`Problem`]s go in, in the order of the input; bytes come out through a [`Reporter`]. What a
//! report says of a property beside its verdicts is in its [`Heading`], taken from the spec once.
//!
//! Reports do not judge, read no files and know no command line: what they print depends on nothing but what they are
//! given, so the same judgement gives the same bytes.

pub mod automaton;
pub mod buchi;
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
pub use tally::{AbsentField, Counts, Input, Summary, UnequalSummaries};

use crate::hir::{PropertyKind, Severity, Spec};
use crate::ids::PropertyId;
use crate::problem::Problem;
use crate::source::{SourceMap, Span};
use crate::types::EnumType;
use crate::verdict::{TraceReport, Verdict};

/// Writes one report, as judgements come.
///
/// The driver calls `trace` and `problem` in the order of the input, and `finish` once.
pub trait Reporter {
    /// Reports a judged trace. It contains the problems with its data, which are not passed to [`Reporter::problem`].
    ///
    /// # Errors
    /// Where the sink cannot be written.
    fn trace(&mut self, report: &TraceReport) -> io::Result<()>;

    /// Returns the same, where the bytes that stand for it were made already: of the report alone, without its problems, by
    /// whoever knows this reporter.
    ///
    /// # Errors
    /// Where the sink cannot be written.
    fn rendered(&mut self, report: &TraceReport, _bytes: &[u8]) -> io::Result<()> {
        self.trace(report)
    }

    /// Whether the reasons of such a verdict are shown, where it comes next or after others.
    fn explains(&self, _property: PropertyId, _verdict: Verdict) -> bool {
        true
    }

    /// Whether what was recorded at the steps of a counterexample is shown.
    fn shows_evidence(&self) -> bool {
        true
    }

    /// Reports a problem with data that belongs to no judged trace.
    ///
    /// # Errors
    /// Where the sink cannot be written.
    fn problem(&mut self, problem: &Problem) -> io::Result<()>;

    /// Ends the report.
    ///
    /// # Errors
    /// Where the sink cannot be written.
    fn finish(&mut self, summary: &Summary) -> io::Result<()>;
}

/// The parts of a spec that reports show.
#[derive(Clone, Debug, Default)]
pub struct Headings {
    /// One per property, in order of declaration.
    pub properties: Vec<Heading>,
    /// The enums of the spec, for the names of values in instances.
    pub enums: Vec<Arc<EnumType>>,
}

/// The parts of a property that reports show beside its verdicts.
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
    /// Whether it is judged for each value of quantified variables.
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
    /// The property in English, made from its formula.
    pub words: String,
    /// The lines of the text that hold the formula.
    pub source: Vec<String>,
    /// Whether a violation can be seen before the trace ends.
    pub finality: Finality,
}

/// When violations of a property become final.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Finality {
    /// Always at a step that no continuation repairs (safety).
    Step,
    /// Only by the end of the trace (an obligation that stays open).
    End,
    /// By either, or not known.
    #[default]
    Either,
}

impl Headings {
    /// Returns the headings of a spec. `sources` holds the text that its spans refer to.
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
                    words: words::property(spec, property),
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

    /// Returns the heading of a property, or `None` for an id of another spec.
    pub fn get(&self, id: crate::ids::PropertyId) -> Option<&Heading> {
        self.properties.get(id.index())
    }
}

/// Returns the whole lines that hold `span`, without the margin that they share.
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
