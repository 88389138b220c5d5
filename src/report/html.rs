//! `guard audit --format html`: one page that a browser opens, with nothing from elsewhere and without scripts.
//!
//! What it came to stands first, then a table of the properties, then each property with its clause and the traces that
//! violate it, the steps that show it, and what was wrong with the data. Of each property at most a given number of
//! violations is shown in full, so the page stays small whatever was audited; all of them are counted.

use std::io::{self, Write};

use maud::{DOCTYPE, Markup, PreEscaped, html};
use smol_str::SmolStr;

use super::human::{instance_text, severity, why, why_final};
use super::text::{number, plural};
use super::{Counts, Heading, Headings, Reporter, Summary};
use crate::ids::PropertyId;
use crate::inert::inert;
use crate::problem::Problem;
use crate::verdict::{Evidence, PropertyVerdict, TraceReport, Verdict};

/// Problems with data that are shown one by one.
const PROBLEMS: u64 = 200;

const STYLE: &str = include_str!("html.css");

/// Collects what is shown, and writes the page at the end.
#[derive(Debug)]
pub struct Html<'s, W> {
    headings: &'s Headings,
    out: W,
    limit: u64,
    /// By property: violations, and verdicts that are open or unknown.
    violated: Vec<Shown>,
    open: Vec<Shown>,
    problems: Shown,
}

/// The shown entries of one kind, and the number of further ones.
#[derive(Clone, Debug, Default)]
struct Shown {
    parts: Vec<String>,
    more: u64,
}

impl Shown {
    fn add(&mut self, limit: u64, part: impl FnOnce() -> Markup) {
        if (self.parts.len() as u64) < limit {
            self.parts.push(part().into_string());
        } else {
            self.more += 1;
        }
    }
}

impl<'s, W: Write> Html<'s, W> {
    /// Writes to `out`, and shows at most `limit` counterexamples of each property.
    pub fn new(headings: &'s Headings, out: W, limit: u64) -> Html<'s, W> {
        let none = vec![Shown::default(); headings.properties.len()];
        Html {
            headings,
            out,
            limit,
            violated: none.clone(),
            open: none,
            problems: Shown::default(),
        }
    }

    fn page(&self, summary: &Summary) -> Markup {
        html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    title { "guard audit: " (outcome(summary).1) }
                    style { (PreEscaped(STYLE)) }
                }
                body {
                    (head(summary))
                    (self.table(summary))
                    @for (idx, heading) in self.headings.properties.iter().enumerate() {
                        (self.property(idx, heading, summary.properties.get(idx)))
                    }
                    @if !self.problems.parts.is_empty() {
                        h2 #data { "Data problems" }
                        ul { (all(&self.problems)) }
                        (more(self.problems.more, "more problem", "more problems"))
                    }
                }
            }
        }
    }

    fn table(&self, summary: &Summary) -> Markup {
        html! {
            table {
                tr {
                    th { "property" }
                    @for (name, _) in COLUMNS { th.count { (name) } }
                    th { "violation rate [95 %]" }
                }
                @for (idx, (heading, counts)) in
                    self.headings.properties.iter().zip(&summary.properties).enumerate()
                {
                    tr {
                        td { a href={ "#p" (idx) } { (heading.name) } }
                        @for (name, count) in COLUMNS {
                            @let class = if name == "violated" && count(counts) > 0 { "count bad" } else { "count" };
                            td class=(class) { (number(count(counts))) }
                        }
                        td { (rate(counts)) }
                    }
                }
            }
        }
    }

    fn property(&self, idx: usize, heading: &Heading, counts: Option<&Counts>) -> Markup {
        let violated = counts.map_or(0, |counts| counts.violated);
        let shown = |of: &[Shown]| of.get(idx).cloned().unwrap_or_default();
        let (violations, open) = (shown(&self.violated), shown(&self.open));
        html! {
            section {
                h2 id={ "p" (idx) } {
                    (heading.name) " "
                    @if violated > 0 {
                        span.bad { "violated by " (plural(violated, "trace", "traces")) }
                    } @else if open.parts.is_empty() {
                        span.good { "not violated" }
                    } @else {
                        span.open-word { "not violated, but undecided in some traces" }
                    }
                }
                @if let Some(text) = &heading.requirement { p { "“" (inert(text)) "”" } }
                @if !heading.doc.is_empty() { p { (inert(&heading.doc)) } }
                p.quiet {
                    "severity " (severity(heading.severity))
                    @if heading.catastrophic { ", catastrophic" }
                    @if let Some(owner) = &heading.owner { ", owner " (inert(owner)) }
                    @if let Some(id) = &heading.id { ", id " (inert(id)) }
                    @if !heading.cites.is_empty() { ", cites " (inert(&heading.cites.join(", "))) }
                    ", " (heading.file) ":" (heading.line)
                }
                pre { (tame_lines(&heading.source)) }
                (all(&violations))
                (more(violations.more, "more violation", "more violations"))
                (all(&open))
                (more(open.more, "more open verdict", "more open verdicts"))
            }
        }
    }

    fn violation(
        &self,
        report: &TraceReport,
        heading: &Heading,
        verdict: &PropertyVerdict,
    ) -> Markup {
        html! {
            article.violated {
                (title(report))
                @if let Some(instance) = instance_text(verdict, self.headings) {
                    p { "for " code { (instance) } }
                }
                @if let Some(message) = &verdict.message { p { b { (inert(message)) } } }
                (steps(&verdict.evidence))
                @let why = why(verdict, &verdict.evidence);
                @if !why.is_empty() { ul { @for sentence in &why { li { (sentence) } } } }
                p.quiet { (why_final(heading.finality, verdict, report.events)) }
            }
        }
    }
}

impl<W: Write> Reporter for Html<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        for verdict in &report.verdicts {
            let Some(heading) = self.headings.get(verdict.property) else {
                continue;
            };
            let idx = verdict.property.index();
            let lists = match verdict.verdict {
                Verdict::Violated => &mut self.violated,
                Verdict::Unknown | Verdict::PresumablyViolated => &mut self.open,
                Verdict::Satisfied | Verdict::PresumablySatisfied => continue,
            };
            let Some(mut shown) = lists.get_mut(idx).map(std::mem::take) else {
                continue;
            };
            let violated = verdict.verdict == Verdict::Violated;
            shown.add(self.limit, || {
                if violated {
                    self.violation(report, heading, verdict)
                } else {
                    open(report, verdict)
                }
            });
            let lists = if violated {
                &mut self.violated
            } else {
                &mut self.open
            };
            lists[idx] = shown;
        }
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        let lists = match verdict {
            Verdict::Violated => &self.violated,
            _ => &self.open,
        };
        let shown = lists.get(property.index());
        shown.is_none_or(|shown| (shown.parts.len() as u64) < self.limit)
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.problems
            .add(PROBLEMS, || html! { li { (inert(&problem.to_string())) } });
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let page = self.page(summary).into_string();
        self.out.write_all(page.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// A column of counts: its head and what it shows.
type Column = (&'static str, fn(&Counts) -> u64);
const COLUMNS: [Column; 5] = [
    ("satisfied", |counts| {
        counts.satisfied + counts.presumably_satisfied
    }),
    ("violated", |counts| counts.violated),
    ("open", |counts| counts.presumably_violated),
    ("unknown", |counts| counts.unknown),
    ("vacuous", |counts| counts.vacuous),
];

/// Returns the result, and its CSS class.
fn outcome(summary: &Summary) -> (&'static str, String) {
    let traces = plural(summary.traces, "trace", "traces");
    if summary.violating > 0 {
        let violating = number(summary.violating);
        ("bad", format!("{violating} of {traces} violate a property"))
    } else if summary.traces == 0 {
        ("open-word", "no traces found".to_owned())
    } else if summary.errors() > 0 {
        let message = format!("no violation in {traces}, but some data was unreadable");
        ("open-word", message)
    } else {
        ("good", format!("no violation in {traces}"))
    }
}

fn head(summary: &Summary) -> Markup {
    let (class, outcome) = outcome(summary);
    let input = &summary.input;
    html! {
        h1 class=(class) { (outcome) }
        p.quiet {
            (plural(summary.events, "step", "steps")) " judged; "
            (plural(input.files, "file", "files")) ", "
            (plural(input.lines, "line", "lines")) ", "
            (number(input.refused)) " of them unreadable"
            @if summary.errors() > 0 {
                "; " a href="#data" { (plural(summary.errors(), "problem", "problems")) " with the data" }
            }
        }
    }
}

fn rate(counts: &Counts) -> String {
    let Some(rate) = counts.rate() else {
        return "–".to_owned();
    };
    let (low, high) = counts.wilson95();
    let percent = |share: f64| format!("{:.1}", share * 100.0);
    format!("{} % [{}, {}]", percent(rate), percent(low), percent(high))
}

fn title(report: &TraceReport) -> Markup {
    html! {
        h3 {
            (inert(&report.trace)) " "
            span.quiet {
                (report.file)
                @if report.line > 0 { ":" (report.line) }
                ", " (plural(report.events, "step", "steps"))
            }
        }
    }
}

/// Returns a verdict that is not final or not known.
fn open(report: &TraceReport, verdict: &PropertyVerdict) -> Markup {
    html! {
        article.open {
            (title(report))
            p.open-word { (verdict.verdict.as_str().replace('_', " ")) }
            @if verdict.verdict == Verdict::Unknown {
                p { "The verdict depends on missing data." }
                ul {
                    @for undecided in &verdict.undecided_by {
                        li { "step " (undecided.step) ": " (inert(&undecided.fields.join(", "))) }
                    }
                }
            } @else {
                p { "The trace is incomplete and could still satisfy the property." }
            }
        }
    }
}

/// Returns the steps of a counterexample: a column per field.
fn steps(evidence: &[Evidence]) -> Markup {
    let mut fields: Vec<&SmolStr> = Vec::new();
    for (field, _) in evidence.iter().flat_map(|step| &step.fields) {
        if !fields.contains(&field) {
            fields.push(field);
        }
    }
    let width = fields.len() + 2;
    let follows = |idx: usize| match idx.checked_sub(1).and_then(|before| evidence.get(before)) {
        Some(before) => evidence[idx].step <= before.step.saturating_add(1),
        None => true,
    };
    html! {
        @if !evidence.is_empty() {
            table {
                tr {
                    th.count { "step" }
                    @for field in &fields { th { (field) } }
                    th { "true there" }
                }
                @for (idx, step) in evidence.iter().enumerate() {
                    @if !follows(idx) { tr { td.quiet colspan=(width) { "…" } } }
                    tr {
                        td.count { (step.step) }
                        @for field in &fields {
                            @let value = step.fields.iter().find(|(name, _)| name == *field);
                            td.value { @if let Some((_, value)) = value { (inert(value)) } }
                        }
                        td { (inert(&step.letters.join(", "))) }
                    }
                }
            }
        }
    }
}

fn tame_lines(lines: &[String]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| inert(line).into_owned()).collect();
    lines.join("\n")
}

/// Returns the entries, which were escaped when they were added.
fn all(shown: &Shown) -> Markup {
    html! { @for part in &shown.parts { (PreEscaped(part)) } }
}

fn more(count: u64, one: &str, many: &str) -> Markup {
    html! { @if count > 0 { p.quiet { "… and " (plural(count, one, many)) } } }
}
