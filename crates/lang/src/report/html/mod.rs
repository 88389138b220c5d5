//! `guard audit --format html`: one self-contained page for a browser.
//!
//! The page is its data as JSON, a style sheet and a script (`page/`), which draws everything from the data: rates with
//! intervals, the list of traces with filters, and each trace step by step. The content security policy names the hashes of the
//! two, so nothing else can run; texts of specs and data are inert and inserted as text only.
//!
//! All verdicts are in the page. Reasons are in it for at most a given number of violations of each property, and steps as
//! far as [`STEPS`] bytes go, those of violating traces apart from the others, so the page stays small whatever was audited.
//! Steps are compressed in blocks, which a browser decompresses when a trace is opened or contents are searched: steps of
//! one spec repeat names and texts, so a block takes a tenth of its bytes, and the page is ready before it has read any.

mod data;

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;
use maud::{Markup, PreEscaped, html};
use serde_json::{Value, json};

use super::document::{document, source};
use super::human::{instance_text, why, why_final};
use super::plot::Picture;
use super::text::{number, plural};
use super::{Heading, Headings, Reporter, Summary};
use crate::ids::PropertyId;
use crate::inert::inert;
use crate::problem::Problem;
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

pub use data::{Files, PageData, problems, violations};

const STYLE: &str = concat!(
    include_str!("../page/page.css"),
    include_str!("../plot/plot.css")
);
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../page/page.js"),
    include_str!("../page/list.js"),
    include_str!("../page/trace.js"),
    include_str!("../page/overview.js"),
    include_str!("../page/live.js"),
    include_str!("../page/controls.js"),
    "})();\n"
);

/// The greatest number of verdicts on instances that are shown for one trace.
const FOUND: usize = 50;
/// Bytes of steps in a page before they are compressed: of traces that violate a property, and of all others.
const STEPS: [usize; 2] = [24 << 20, 8 << 20];
/// Bytes of steps that are compressed together. Larger blocks are hardly smaller for that, and take longer to open.
const BLOCK: usize = 256 << 10;

/// Whether there is room for more steps in a page, for the threads that render them.
#[derive(Debug, Default)]
pub struct Room {
    full: [AtomicBool; 2],
}

impl Room {
    /// Whether there is room for the steps of a trace that violates a property, or of one that does not.
    pub fn is_left(&self, violating: bool) -> bool {
        !self.full[usize::from(!violating)].load(Ordering::Relaxed)
    }
}

/// Collects the data of the page, and writes the page at the end.
#[derive(Debug)]
pub struct Html<'s, W> {
    headings: &'s Headings,
    out: W,
    limit: u64,
    page: PageData,
    steps: Option<(Value, &'s Room)>,
    used: [usize; 2],
    /// By property: violations, and verdicts that are open or unknown, whose reasons were shown.
    explained: Vec<[u64; 2]>,
    blocks: Blocks,
}

/// The steps of traces, a line each, compressed in blocks.
#[derive(Debug, Default)]
struct Blocks {
    /// The elements that hold them.
    elements: String,
    n: usize,
    /// The lines of the last block.
    lines: String,
    n_lines: usize,
}

impl Blocks {
    /// Adds the steps of a trace, one line of JSON. Returns the number of their block, from 1, and that of the line in it.
    fn add(&mut self, steps: &str) -> io::Result<[usize; 2]> {
        if !self.lines.is_empty() && self.lines.len() + steps.len() > BLOCK {
            self.close()?;
        }
        if self.n_lines > 0 {
            self.lines.push('\n');
        }
        self.lines.push_str(steps);
        self.n_lines += 1;
        Ok([self.n + 1, self.n_lines - 1])
    }

    /// Compresses the last block.
    fn close(&mut self) -> io::Result<()> {
        if self.n_lines == 0 {
            return Ok(());
        }
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(6));
        encoder.write_all(self.lines.as_bytes())?;
        let bytes = encoder.finish()?;
        self.n += 1;
        let number = self.n;
        let open = format!("<script type=\"text/plain\" class=\"steps\" id=\"d{number}\">");
        self.elements.push_str(&open);
        BASE64_STANDARD.encode_string(bytes, &mut self.elements);
        self.elements.push_str("</script>\n");
        self.lines.clear();
        self.n_lines = 0;
        Ok(())
    }
}

impl<'s, W: Write> Html<'s, W> {
    /// Writes to `out`, and gives reasons for at most `limit` violations of each property.
    pub fn new(headings: &'s Headings, out: W, limit: u64) -> Html<'s, W> {
        Html {
            headings,
            out,
            limit,
            page: PageData::default(),
            steps: None,
            used: [0, 0],
            explained: vec![[0, 0]; headings.properties.len()],
            blocks: Blocks::default(),
        }
    }

    /// Adds the steps that [`Reporter::rendered`] receives, in the fields of this schema. `room` is marked as full when no more fit.
    #[must_use]
    pub fn with_steps(mut self, schema: Value, room: &'s Room) -> Html<'s, W> {
        self.steps = Some((schema, room));
        self
    }

    /// Adds a trace, with its steps if there are any and they fit.
    fn add(&mut self, report: &TraceReport, steps: Option<&[u8]>) -> io::Result<()> {
        let violating = report
            .verdicts
            .iter()
            .any(|verdict| verdict.verdict == Verdict::Violated);
        let kind = usize::from(!violating);
        let mut detail = None;
        if let (Some(steps), Some((_, room))) = (steps, &self.steps)
            && room.is_left(violating)
        {
            if self.used[kind] + steps.len() > STEPS[kind] {
                // Later steps are rejected even if they would fit, so that the page does not depend on the order in
                // which threads finish.
                room.full[kind].store(true, Ordering::Relaxed);
            } else {
                self.used[kind] += steps.len();
                let steps = String::from_utf8_lossy(steps);
                detail = Some(self.blocks.add(&steps)?);
            }
        }
        let (explained, limit) = (&mut self.explained, self.limit);
        let found = found(report, self.headings, |property, violated| {
            let Some(counts) = explained.get_mut(property.index()) else {
                return false;
            };
            let count = &mut counts[usize::from(!violated)];
            *count += 1;
            *count <= limit
        });
        let codes = codes(report, self.headings.properties.len());
        self.page.trace(report, found, codes, detail);
        Ok(())
    }
}

impl<W: Write> Reporter for Html<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        self.add(report, None)
    }

    fn rendered(&mut self, report: &TraceReport, bytes: &[u8]) -> io::Result<()> {
        self.add(report, Some(bytes))
    }

    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        let counts = self.explained.get(property.index());
        let kind = usize::from(verdict != Verdict::Violated);
        counts.is_none_or(|counts| counts[kind] < self.limit)
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.page.problem(problem);
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let schema = self.steps.as_ref().map(|(schema, _)| schema);
        let data = self.page.json(self.headings, summary, schema, None);
        self.blocks.close()?;
        let page = page(summary, &data, &self.blocks.elements, &[]).into_string();
        self.out.write_all(page.as_bytes())?;
        self.out.write_all(b"\n")?;
        self.out.flush()
    }
}

/// Returns the page around its data. `blocks` are the elements with steps, `pictures` those of models.
pub fn page(summary: &Summary, data: &Value, blocks: &str, pictures: &[Picture]) -> Markup {
    let (class, result) = outcome(summary);
    let input = &summary.input;
    let connect = if data["live"].is_null() {
        ""
    } else {
        "connect-src 'self'; "
    };
    let directives = format!("script-src {}; {connect}", source(SCRIPT));
    let body = html! {
        header #controls {
            h1 class=(class) { (result) }
            p.quiet {
                (plural(summary.events, "step", "steps")) " in "
                (plural(input.files, "file", "files")) ", "
                (plural(input.lines, "line", "lines")) ", "
                (number(input.refused)) " of them unreadable"
                @if input.left_out > 0 { ", " (number(input.left_out)) " left out (the reasons are at the end)" }
                @if summary.errors() > 0 {
                    "; " (plural(summary.errors(), "problem", "problems")) " with the data"
                }
            }
        }
        main #main {
            noscript { p { "This page draws itself with the script that it contains. Without scripts, use the text report of " code { "guard audit" } "." } }
        }
        // The script runs before the steps are parsed, so that a large page can be used at once.
        script #data type="application/json" { (PreEscaped(escaped(&data.to_string()))) }
        script { (PreEscaped(SCRIPT)) }
        @if !pictures.is_empty() {
            section #models aria-labelledby="h-models" {
                h2 #h-models { "Models" }
                @for picture in pictures { (picture.figure()) }
            }
        }
        (PreEscaped(blocks))
    };
    document(&format!("guard: {result}"), STYLE, &directives, &body)
}

/// Returns JSON in which nothing ends the element that contains it.
fn escaped(json: &str) -> String {
    json.replace('<', "\\u003c")
}

/// Returns the result, and its CSS class.
fn outcome(summary: &Summary) -> (&'static str, String) {
    let traces = plural(summary.traces, "trace", "traces");
    if summary.violating > 0 {
        let violating = number(summary.violating);
        ("bad", format!("{violating} of {traces} violate a property"))
    } else if summary.traces == 0 {
        ("open", "no traces found".to_owned())
    } else if summary.errors() > 0 {
        let message = format!("no violation in {traces}, but some data was unreadable");
        ("open", message)
    } else {
        ("good", format!("no violation in {traces}"))
    }
}

/// Returns the verdicts on all properties, one letter each; for several instances the most severe one.
pub fn codes(report: &TraceReport, properties: usize) -> String {
    let mut codes = vec![b'-'; properties];
    let rank = |code: u8| b"vuops-".iter().position(|other| *other == code);
    for verdict in &report.verdicts {
        let code = letter(verdict.verdict);
        if let Some(known) = codes.get_mut(verdict.property.index())
            && rank(code) < rank(*known)
        {
            *known = code;
        }
    }
    codes.into_iter().map(char::from).collect()
}

/// Returns the letter of a verdict in the data of a page.
pub fn letter(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Satisfied => b's',
        Verdict::Violated => b'v',
        Verdict::PresumablySatisfied => b'p',
        Verdict::PresumablyViolated => b'o',
        Verdict::Unknown => b'u',
    }
}

/// Returns the verdicts of a trace that are violations, open or unknown. `explained` decides for each whether its reasons are
/// shown, by its property and whether it is a violation.
pub fn found(
    report: &TraceReport,
    headings: &Headings,
    mut explained: impl FnMut(PropertyId, bool) -> bool,
) -> Vec<Value> {
    let mut found = Vec::new();
    for verdict in &report.verdicts {
        let violated = match verdict.verdict {
            Verdict::Violated => true,
            Verdict::Unknown | Verdict::PresumablyViolated => false,
            Verdict::Satisfied | Verdict::PresumablySatisfied => continue,
        };
        let Some(heading) = headings.get(verdict.property) else {
            continue;
        };
        if found.len() >= FOUND {
            break;
        }
        let reasons = explained(verdict.property, violated);
        found.push(verdict_json(report, heading, headings, verdict, reasons));
    }
    found
}

fn verdict_json(
    report: &TraceReport,
    heading: &Heading,
    headings: &Headings,
    verdict: &PropertyVerdict,
    reasons: bool,
) -> Value {
    let violated = verdict.verdict == Verdict::Violated;
    let mut why: Vec<Value> = Vec::new();
    if reasons && violated {
        why.extend(self::why(verdict, &[]).iter().map(|text| tame(text)));
    }
    if reasons {
        let undecided = verdict.undecided_by.iter();
        why.extend(undecided.map(|undecided| {
            let fields = undecided.fields.join(", ");
            tame(&format!("step {}: {fields} is missing", undecided.step))
        }));
    }
    let parts: Vec<Value> = verdict
        .why
        .reasons
        .iter()
        .filter(|_| reasons)
        .flat_map(|reason| {
            let parts = reason.parts.iter().map(|part| part.condition.as_str());
            parts.chain([reason.condition.as_str()])
        })
        .map(tame)
        .collect();
    let last = match verdict.verdict {
        Verdict::Violated => why_final(heading.finality, verdict, report.events),
        Verdict::Unknown => format!("The property {}.", verdict.why_unknown()),
        _ => "The trace is incomplete and could still satisfy the property.".to_owned(),
    };
    json!({
        "p": verdict.property.index(),
        "v": char::from(letter(verdict.verdict)).to_string(),
        "at": verdict.at,
        "instance": instance_text(verdict, headings).map(|text| tame(&text)),
        "message": verdict.message.as_ref().filter(|_| reasons).map(|text| tame(text)),
        "steps": verdict.counterexample,
        "why": why,
        "parts": parts,
        "final": last,
    })
}

/// Returns a text as JSON without characters that a page or terminal may interpret. Line ends are kept.
pub fn tame(text: &str) -> Value {
    let lines: Vec<_> = text.split('\n').map(inert).collect();
    Value::String(lines.join("\n"))
}
