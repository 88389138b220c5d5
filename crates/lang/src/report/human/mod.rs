//! The text report: each violation with its clause and the steps that show it, then a table.
//!
//! Formatted for 100 columns. Satisfied traces are only counted. At most a given number of violations of each property
//! is shown in full, so that one property with many violations does not hide the others.

mod steps;
mod table;
mod why;

use std::io::{self, Write};

use indexmap::IndexMap;
use smol_str::SmolStr;

pub use steps::write_steps;
pub use why::why;

use super::tally::{AbsentField, OtherSpelling, UnseenName, per_property};
use super::text::{cut, folded, plural, wrap};
use super::{Finality, Heading, Headings, Paint, Reporter, Summary};
use crate::hir::Severity;
use crate::ids::PropertyId;
use crate::inert::inert;
use crate::problem::Problem;
use crate::value::JsonKind;
use crate::verdict::{PropertyVerdict, TraceReport, Undecided, Verdict};

/// The width of reports in columns.
pub(crate) const COLUMNS: usize = 100;

/// The greatest number of source lines of a formula that are shown.
const SOURCE_LINES: usize = 8;

/// Writes the text report.
#[derive(Debug)]
pub struct Human<'s, W> {
    headings: &'s Headings,
    out: W,
    paint: Paint,
    limit: u64,
    /// The sentence that tells readers how to see the counterexamples beyond the limit; `None` if there is no way.
    hint: Option<&'static str>,
    /// For each property, the number of counterexamples that were shown, and of those that were not.
    shown: Vec<(u64, u64)>,
    /// The same numbers for open verdicts.
    open: Vec<(u64, u64)>,
}

impl<'s, W: Write> Human<'s, W> {
    /// Writes to `out`, and shows at most `limit` counterexamples of each property.
    pub fn new(headings: &'s Headings, out: W, paint: Paint, limit: u64) -> Human<'s, W> {
        let none = vec![(0, 0); headings.properties.len()];
        Human {
            headings,
            out,
            paint,
            limit,
            hint: None,
            shown: none.clone(),
            open: none,
        }
    }

    /// Sets the sentence that tells readers how to see the counterexamples that were left out.
    pub fn with_hint(self, hint: &'static str) -> Self {
        Human {
            hint: Some(hint),
            ..self
        }
    }

    /// Returns whether this verdict is still shown; counts it in any case.
    fn takes(&mut self, verdict: &PropertyVerdict) -> bool {
        let counts = match verdict.verdict {
            Verdict::Violated => &mut self.shown,
            _ => &mut self.open,
        };
        let Some((shown, left)) = counts.get_mut(verdict.property.index()) else {
            return false;
        };
        if *shown < self.limit {
            *shown += 1;
            true
        } else {
            *left += 1;
            false
        }
    }

    fn violation(
        &mut self,
        report: &TraceReport,
        heading: &Heading,
        verdict: &PropertyVerdict,
    ) -> io::Result<()> {
        let paint = self.paint;
        let mut head = format!("  {} {}", paint.bad("violated"), paint.name(&heading.name));
        if let Some(instance) = instance_text(verdict, self.headings) {
            head.push_str(&format!(" for {}", cut(&instance, 40)));
        }
        if heading.severity != Severity::Medium {
            head.push_str(&format!(", {}", severity(heading.severity)));
        }
        writeln!(self.out, "{head}")?;
        if let Some(sentence) = &heading.requirement {
            for line in wrap(&format!("“{}”", inert(sentence)), COLUMNS - 4) {
                writeln!(self.out, "    {line}")?;
            }
            if !heading.cites.is_empty() {
                let cites = format!("from {}", inert(&heading.cites.join(", ")));
                writeln!(self.out, "    {}", paint.quiet(&cites))?;
            }
        }
        if let Some(message) = &verdict.message {
            for line in wrap(&inert(message), COLUMNS - 4) {
                writeln!(self.out, "    {line}")?;
            }
        }
        self.clause(heading)?;
        write_steps(&mut self.out, paint, 4, &verdict.evidence)?;
        for sentence in why(verdict, &verdict.evidence) {
            for (idx, line) in wrap(&sentence, COLUMNS - 6).iter().enumerate() {
                writeln!(self.out, "    {}{line}", if idx > 0 { "  " } else { "" })?;
            }
        }
        writeln!(
            self.out,
            "    {}",
            paint.quiet(&why_final(heading.finality, verdict, report.events))
        )
    }

    /// Writes the clause as in the spec.
    fn clause(&mut self, heading: &Heading) -> io::Result<()> {
        let paint = self.paint;
        let bar = paint.quiet("│");
        let place = format!("┌ {}:{}", heading.file, heading.line);
        writeln!(self.out, "    {}", paint.quiet(&place))?;
        for line in heading.source.iter().take(SOURCE_LINES) {
            for line in folded(&inert(line), COLUMNS - 6) {
                writeln!(self.out, "    {bar} {line}")?;
            }
        }
        let left = heading.source.len().saturating_sub(SOURCE_LINES);
        if left > 0 {
            let more = format!("… and {}", plural(left as u64, "more line", "more lines"));
            writeln!(self.out, "    {bar} {}", paint.quiet(&more))?;
        }
        Ok(())
    }

    /// Notes values that are unequal to all that the spec compares them with, for their spelling or their kind.
    fn write_unequal(&mut self, summary: &Summary) -> io::Result<()> {
        for OtherSpelling { name, found } in &summary.other_spellings {
            let (name, found) = (inert(name), inert(found));
            let note = self.paint.open("note");
            writeln!(
                self.out,
                "{note}: a step had `{found}`, which is not `{name}`"
            )?;
        }
        let kinds = summary.compared_kinds.iter();
        for kinds in kinds.filter(|kinds| kinds.never_met()) {
            writeln!(
                self.out,
                "{}: `{}` was {} at every step that had it, and is compared with {}: they are never equal",
                self.paint.open("note"),
                inert(&kinds.name),
                JsonKind::either(kinds.found.iter().copied()),
                JsonKind::either(kinds.expected.iter().copied()),
            )?;
        }
        Ok(())
    }

    /// Writes one line for a verdict that is not final or is unknown.
    fn open_verdict(&mut self, heading: &Heading, verdict: &PropertyVerdict) -> io::Result<()> {
        let word = verdict.verdict.as_str().replace('_', " ");
        let name = self.paint.name(&heading.name);
        writeln!(self.out, "  {} {name}", self.paint.open(&word))?;
        match verdict.verdict {
            Verdict::Unknown if !verdict.undecided_by.is_empty() => {
                let missing = missing(&verdict.undecided_by);
                let lines = wrap(
                    &format!("{}: {missing}", verdict.why_unknown()),
                    COLUMNS - 4,
                );
                for line in lines.iter().take(3) {
                    writeln!(self.out, "    {line}")?;
                }
                if lines.len() > 3 {
                    writeln!(self.out, "    …")?;
                }
            }
            Verdict::Unknown => writeln!(self.out, "    {}", verdict.why_unknown())?,
            _ => {
                let from = verdict
                    .from
                    .map_or_else(String::new, |step| format!(" since step {step}"));
                writeln!(
                    self.out,
                    "    open{from}: the trace is incomplete and could still satisfy it"
                )?;
            }
        }
        Ok(())
    }
}

impl<W: Write> Reporter for Human<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        let headings = self.headings;
        let mut named = false;
        for verdict in &report.verdicts {
            let wanted = matches!(
                verdict.verdict,
                Verdict::Violated | Verdict::Unknown | Verdict::PresumablyViolated
            );
            let Some(heading) = headings.get(verdict.property).filter(|_| wanted) else {
                continue;
            };
            if !self.takes(verdict) {
                continue;
            }
            if !named {
                writeln!(self.out, "{}", title(report, self.paint))?;
                named = true;
            }
            match verdict.verdict {
                Verdict::Violated => self.violation(report, heading, verdict)?,
                _ => self.open_verdict(heading, verdict)?,
            }
        }
        if named { writeln!(self.out) } else { Ok(()) }
    }

    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        let counts = match verdict {
            Verdict::Violated => &self.shown,
            _ => &self.open,
        };
        let shown = counts.get(property.index());
        shown.is_none_or(|(shown, _)| *shown < self.limit)
    }

    /// Problems are printed on standard error, see [`problems`](super::problems).
    fn problem(&mut self, _: &Problem) -> io::Result<()> {
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let mut hidden = false;
        for (heading, ((_, violations), (_, open))) in self
            .headings
            .properties
            .iter()
            .zip(self.shown.iter().zip(&self.open))
        {
            if violations + open > 0 {
                let mut parts = Vec::new();
                if *violations > 0 {
                    parts.push(plural(*violations, "more violation", "more violations"));
                }
                if *open > 0 {
                    parts.push(plural(*open, "more open verdict", "more open verdicts"));
                }
                writeln!(self.out, "… {} of {}", parts.join(" and "), heading.name)?;
                hidden = true;
            }
        }
        match self.hint {
            Some(hint) if hidden => writeln!(self.out, "  {}\n", self.paint.quiet(hint))?,
            None if hidden => writeln!(self.out)?,
            _ => {}
        }
        table::write(&mut self.out, self.paint, self.headings, summary)?;
        for AbsentField { field, from } in &summary.absent_fields {
            writeln!(
                self.out,
                "{}: field `{field}` (`{}`) was absent at all {} of {}",
                self.paint.open("note"),
                inert(from),
                plural(summary.events, "step", "steps"),
                plural(summary.traces, "trace", "traces")
            )?;
        }
        for UnseenName { name, similar } in &summary.unseen_names {
            let Some(similar) = similar else { continue };
            writeln!(
                self.out,
                "{}: no step had `{}`; did you mean `{}`?",
                self.paint.open("note"),
                inert(name),
                inert(similar),
            )?;
        }
        self.write_unequal(summary)?;
        self.out.flush()
    }
}

/// Returns the steps and fields that decide, the steps with the same fields together: `steps 0-3, 7: args; step 4: args, tool`.
fn missing(undecided: &[Undecided]) -> String {
    let mut groups: IndexMap<&[SmolStr], Vec<(u32, u32)>> = IndexMap::new();
    for Undecided { step, fields } in undecided {
        let runs = groups.entry(fields).or_default();
        match runs.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*step) => *last = *step,
            _ => runs.push((*step, *step)),
        }
    }
    let group = |(fields, runs): (&[SmolStr], Vec<(u32, u32)>)| {
        let is_one = matches!(runs[..], [(first, last)] if first == last);
        let run = |(first, last): &(u32, u32)| match first == last {
            true => first.to_string(),
            false => format!("{first}-{last}"),
        };
        let steps: Vec<String> = runs.iter().map(run).collect();
        let word = if is_one { "step" } else { "steps" };
        let fields = match fields {
            [] => String::new(),
            fields => format!(": {}", fields.join(", ")),
        };
        format!("{word} {}{fields}", steps.join(", "))
    };
    let groups: Vec<String> = groups.into_iter().map(group).collect();
    groups.join("; ")
}

/// Returns the name, location and length of a trace.
fn title(report: &TraceReport, paint: Paint) -> String {
    let place = match report.line {
        0 => report.file.to_string(),
        line => format!("{}:{line}", report.file),
    };
    let violated = per_property(&report.verdicts)
        .iter()
        .any(|(_, verdict, _)| *verdict == Verdict::Violated);
    let mark = if violated {
        paint.bad("✗")
    } else {
        paint.open("?")
    };
    format!(
        "{mark} {}  {}",
        paint.name(&cut(&inert(&report.trace), 60)),
        paint.quiet(&format!(
            "{place}, {}",
            plural(report.events, "step", "steps")
        ))
    )
}

/// Returns the values of the quantified variables, as an author would write them.
pub(super) fn instance_text(verdict: &PropertyVerdict, headings: &Headings) -> Option<String> {
    let values: Vec<String> = verdict
        .instance
        .iter()
        .map(|(name, value)| {
            format!(
                "{name} = {}",
                crate::verdict::value_json(value, &headings.enums)
            )
        })
        .collect();
    (!values.is_empty()).then(|| inert(&values.join(", ")).into_owned())
}

pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "low",
        Severity::Medium => "medium",
        Severity::High => "high",
        Severity::Critical => "critical",
    }
}

/// Returns the reason why the verdict is final.
pub(super) fn why_final(finality: Finality, verdict: &PropertyVerdict, events: u64) -> String {
    let from = match (verdict.from, verdict.at) {
        (Some(from), Some(at)) if from != at => format!(" the violation that began at step {from}"),
        _ => String::new(),
    };
    let Some(at) = verdict.at else {
        return "final: the trace ended without any steps".to_owned();
    };
    // A step before the last one has an index below the number of steps less one.
    let before_last = u64::from(at) + 1 < events;
    match finality {
        Finality::Step => format!(
            "final at step {at}: no continuation can repair{}",
            it(&from)
        ),
        Finality::Either if before_last => {
            format!(
                "final at step {at}: no continuation can repair{}",
                it(&from)
            )
        }
        Finality::End => match verdict.from {
            Some(step) => format!(
                "final at step {at}: the obligation of step {step} was still pending when the trace ended"
            ),
            None => format!("final at step {at}: still open when the trace ended"),
        },
        Finality::Either => match verdict.from {
            Some(step) if step != at => {
                format!(
                    "final at step {at}: the obligation of step {step} was not met before the trace ended"
                )
            }
            _ => format!("final at step {at}, the end of the trace"),
        },
    }
}

fn it(object: &str) -> &str {
    if object.is_empty() { " it" } else { object }
}
