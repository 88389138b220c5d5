//! SARIF 2.1.0: properties are rules, violations are results at the line of their trace.
//!
//! Results are held until the end, because SARIF is one document.

mod diagnostics;

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde_sarif::sarif::{
    ArtifactLocation, Invocation, Location, LogicalLocation, Message, MultiformatMessageString,
    Notification, PhysicalLocation, PropertyBag, Region, ReportingConfiguration,
    ReportingDescriptor, Result as SarifResult, ResultLevel, Run, SCHEMA_URL, Sarif as Document,
    Tool, ToolComponent,
};

pub use diagnostics::diagnostics;

use super::{Heading, Headings, Reporter, Summary};
use crate::hir::Severity;
use crate::problem::Problem;
use crate::verdict::{PropertyVerdict, TraceReport, Verdict};

/// Collects results, and writes the document at the end.
#[derive(Debug)]
pub struct Sarif<'s, W> {
    headings: &'s Headings,
    out: W,
    /// The folder that file names are made relative to, with a final `/`.
    base: Option<String>,
    results: Vec<SarifResult>,
    notifications: Vec<Notification>,
}

impl<'s, W: Write> Sarif<'s, W> {
    /// Writes to `out`. Names of files below `base` become relative to it.
    pub fn new(headings: &'s Headings, out: W, base: Option<&str>) -> Sarif<'s, W> {
        Sarif {
            headings,
            out,
            base: base.map(|base| format!("{}/", base.trim_end_matches('/'))),
            results: Vec::new(),
            notifications: Vec::new(),
        }
    }

    fn place(&self, file: &str, line: u64) -> PhysicalLocation {
        place(self.base.as_deref(), file, line)
    }

    fn result(
        &self,
        report: &TraceReport,
        heading: &Heading,
        verdict: &PropertyVerdict,
    ) -> SarifResult {
        let instance: Vec<String> = verdict
            .instance
            .iter()
            .map(|(name, value)| {
                format!(
                    "{name} = {}",
                    super::json::value_json(value, &self.headings.enums)
                )
            })
            .collect();
        let mut text = format!("`{}` is violated in trace `{}`", heading.name, report.trace);
        if !instance.is_empty() {
            text.push_str(&format!(" for {}", instance.join(", ")));
        }
        if let Some(at) = verdict.at {
            text.push_str(&format!(" at step {at}"));
        }
        if let Some(message) = &verdict.message {
            text.push_str(&format!(": {message}"));
        }
        let logical = LogicalLocation {
            fully_qualified_name: Some(match verdict.at {
                Some(at) => format!("{}[{at}]", report.trace),
                None => report.trace.to_string(),
            }),
            kind: Some("object".to_owned()),
            ..LogicalLocation::default()
        };
        let location = Location {
            physical_location: Some(self.place(&report.file, report.line)),
            logical_locations: Some(vec![logical]),
            ..Location::default()
        };
        let clause = Location {
            id: Some(1),
            physical_location: Some(self.place(&heading.file, u64::from(heading.line))),
            message: Some(message("the clause")),
            ..Location::default()
        };
        let identity = [
            heading.name.as_str(),
            &report.file,
            &report.trace,
            &report.index.to_string(),
            &instance.join(", "),
        ];
        let hash = blake3::hash(identity.join("\u{1f}").as_bytes()).to_hex();
        let fingerprint = hash.get(..32).unwrap_or(&hash).to_owned();
        let steps = |steps: &[u32]| serde_json::Value::from(steps.to_vec());
        let details = BTreeMap::from([
            (
                "trace".to_owned(),
                serde_json::Value::from(report.trace.as_str()),
            ),
            ("counterexample".to_owned(), steps(&verdict.counterexample)),
        ]);
        let index = i64::try_from(verdict.property.index()).unwrap_or(-1);
        SarifResult::builder()
            .rule_id(rule_id(heading))
            .rule_index(index)
            .level(level(heading.severity))
            .message(message(&text))
            .locations(vec![location])
            .related_locations(vec![clause])
            .partial_fingerprints(BTreeMap::from([(
                "guardViolation/v1".to_owned(),
                fingerprint,
            )]))
            .properties(bag(Vec::new(), details))
            .build()
    }
}

impl<W: Write> Reporter for Sarif<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        for verdict in &report.verdicts {
            if verdict.verdict == Verdict::Violated
                && let Some(heading) = self.headings.get(verdict.property)
            {
                let result = self.result(report, heading, verdict);
                self.results.push(result);
            }
        }
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        let level = if problem.kind.is_error() {
            "error"
        } else {
            "note"
        };
        let location = Location {
            physical_location: Some(self.place(&problem.file, problem.line)),
            ..Location::default()
        };
        self.notifications.push(
            Notification::builder()
                .level(serde_json::Value::from(level))
                .message(message(&problem.to_string()))
                .locations(vec![location])
                .build(),
        );
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let rules: Vec<ReportingDescriptor> = self.headings.properties.iter().map(rule).collect();
        let driver = driver(rules);
        let invocation = Invocation::builder()
            .execution_successful(summary.errors() == 0)
            .tool_execution_notifications(std::mem::take(&mut self.notifications))
            .build();
        let run = Run::builder()
            .tool(Tool::builder().driver(driver).build())
            .column_kind(serde_json::Value::from("unicodeCodePoints"))
            .invocations(vec![invocation])
            .results(std::mem::take(&mut self.results))
            .build();
        write_document(&mut self.out, run)
    }
}

/// The tool, with these rules.
fn driver(rules: Vec<ReportingDescriptor>) -> ToolComponent {
    ToolComponent::builder()
        .name("guard")
        .semantic_version(env!("CARGO_PKG_VERSION"))
        .rules(rules)
        .build()
}

/// Writes a document of one run.
fn write_document(out: &mut impl Write, run: Run) -> io::Result<()> {
    let document = Document::builder()
        .schema(SCHEMA_URL)
        .version(serde_json::Value::from("2.1.0"))
        .runs(vec![run])
        .build();
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// A message of plain text.
fn message(text: &str) -> Message {
    Message {
        text: Some(text.to_owned()),
        ..Message::default()
    }
}

/// A text in the form that rules ask for.
fn multiformat(text: &str) -> MultiformatMessageString {
    MultiformatMessageString::builder().text(text).build()
}

/// A line of a file; `base` is a prefix to take off. Line 0 is the whole file.
fn place(base: Option<&str>, file: &str, line: u64) -> PhysicalLocation {
    PhysicalLocation {
        artifact_location: Some(ArtifactLocation {
            uri: Some(uri(base, file)),
            ..ArtifactLocation::default()
        }),
        region: (line > 0).then(|| Region {
            start_line: i64::try_from(line).ok(),
            ..Region::default()
        }),
        ..PhysicalLocation::default()
    }
}

fn rule(heading: &Heading) -> ReportingDescriptor {
    let summary = heading
        .requirement
        .as_deref()
        .or_else(|| heading.doc.lines().find(|line| !line.trim().is_empty()))
        .map_or_else(
            || format!("{} holds", heading.name),
            |line| line.trim().to_owned(),
        );
    let mut help = String::new();
    if !heading.doc.is_empty() {
        help.push_str(&format!("{}\n\n", heading.doc.trim()));
    }
    help.push_str(&heading.formula);
    if !heading.cites.is_empty() {
        help.push_str(&format!("\n\nSee {}.", heading.cites.join(", ")));
    }
    let score = match heading.severity {
        Severity::Low => "2.0",
        Severity::Medium => "5.0",
        Severity::High => "8.0",
        Severity::Critical => "9.5",
    };
    let details = BTreeMap::from([(
        "security-severity".to_owned(),
        serde_json::Value::from(score),
    )]);
    let configuration = ReportingConfiguration {
        level: Some(serde_json::json!(level(heading.severity))),
        ..ReportingConfiguration::default()
    };
    ReportingDescriptor::builder()
        .id(rule_id(heading))
        .name(heading.name.as_str())
        .short_description(multiformat(&summary))
        .full_description(multiformat(if heading.doc.is_empty() {
            &summary
        } else {
            heading.doc.trim()
        }))
        .help(multiformat(&help))
        .default_configuration(configuration)
        .properties(bag(vec!["security".to_owned()], details))
        .build()
}

/// `@id` where there is one: it outlives renaming.
fn rule_id(heading: &Heading) -> String {
    heading.id.as_ref().unwrap_or(&heading.name).to_string()
}

fn level(severity: Severity) -> ResultLevel {
    match severity {
        Severity::Low => ResultLevel::Note,
        Severity::Medium => ResultLevel::Warning,
        Severity::High | Severity::Critical => ResultLevel::Error,
    }
}

fn bag(
    tags: Vec<String>,
    additional_properties: BTreeMap<String, serde_json::Value>,
) -> PropertyBag {
    PropertyBag {
        tags: (!tags.is_empty()).then_some(tags),
        additional_properties,
    }
}

/// The name of a file as a URI reference: relative where it lies below `base`, percent-encoded.
fn uri(base: Option<&str>, file: &str) -> String {
    let slashes = file.replace('\\', "/");
    let relative = base
        .and_then(|base| slashes.strip_prefix(base))
        .unwrap_or(&slashes)
        .trim_start_matches("./");
    let mut out = String::new();
    if relative.starts_with('/') {
        out.push_str("file://");
    }
    for byte in relative.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(char::from(byte))
            }
            _ => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
