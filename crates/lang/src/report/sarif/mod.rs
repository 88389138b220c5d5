//! SARIF 2.1.0: properties are rules, violations are results at the line of their trace.
//!
//! Results are kept until the end, because SARIF is a single document.

mod diagnostics;

use std::io::{self, Write};

use serde_json::{Value, json};

pub use diagnostics::diagnostics;

use super::human::why;
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
    results: Vec<Value>,
    notifications: Vec<Value>,
}

impl<'s, W: Write> Sarif<'s, W> {
    /// Creates a reporter that writes to `out`. Names of files below `base` become relative to it.
    pub fn new(headings: &'s Headings, out: W, base: Option<&str>) -> Sarif<'s, W> {
        Sarif {
            headings,
            out,
            base: base.map(|base| format!("{}/", base.trim_end_matches('/'))),
            results: Vec::new(),
            notifications: Vec::new(),
        }
    }

    fn place(&self, file: &str, line: u64) -> Value {
        place(self.base.as_deref(), file, line)
    }

    fn result(&self, report: &TraceReport, heading: &Heading, verdict: &PropertyVerdict) -> Value {
        let instance: Vec<String> = verdict
            .instance
            .iter()
            .map(|(name, value)| {
                format!(
                    "{name} = {}",
                    crate::verdict::value_json(value, &self.headings.enums)
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
        for sentence in why(verdict, &[]) {
            text.push_str(&format!("\n- {sentence}"));
        }
        let logical = match verdict.at {
            Some(at) => format!("{}[{at}]", report.trace),
            None => report.trace.to_string(),
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
        json!({
            "ruleId": rule_id(heading),
            "ruleIndex": verdict.property.index(),
            "level": level(heading.severity),
            "message": {"text": text},
            "locations": [{
                "physicalLocation": self.place(&report.file, report.line),
                "logicalLocations": [{"fullyQualifiedName": logical, "kind": "object"}],
            }],
            "relatedLocations": [{
                "id": 1,
                "physicalLocation": self.place(&heading.file, u64::from(heading.line)),
                "message": {"text": "the clause"},
            }],
            "partialFingerprints": {"guardViolation/v1": fingerprint},
            "properties": {
                "trace": report.trace.as_str(),
                "counterexample": verdict.counterexample,
            },
        })
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
        self.notifications.push(json!({
            "level": level,
            "message": {"text": problem.to_string()},
            "locations": [{"physicalLocation": self.place(&problem.file, problem.line)}],
        }));
        Ok(())
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let run = json!({
            "tool": tool(self.headings.properties.iter().map(rule).collect()),
            "columnKind": COLUMNS,
            "invocations": [{
                "executionSuccessful": summary.errors() == 0,
                "toolExecutionNotifications": std::mem::take(&mut self.notifications),
            }],
            "results": std::mem::take(&mut self.results),
        });
        write_document(&mut self.out, run)
    }
}

/// The schema of the standard, and the unit of columns.
const SCHEMA: &str = "https://schemastore.azurewebsites.net/schemas/json/sarif-2.1.0.json";
const COLUMNS: &str = "unicodeCodePoints";

/// Returns the `tool` of a run with these rules.
fn tool(rules: Vec<Value>) -> Value {
    json!({"driver": {
        "name": "guard",
        "semanticVersion": env!("CARGO_PKG_VERSION"),
        "rules": rules,
    }})
}

/// Writes a document of one run.
fn write_document(out: &mut impl Write, run: Value) -> io::Result<()> {
    let document = json!({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]});
    serde_json::to_writer_pretty(&mut *out, &document)?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Returns a `physicalLocation`: a line of a file, or the whole file if the line is 0. `base` is a prefix to remove.
fn place(base: Option<&str>, file: &str, line: u64) -> Value {
    let mut place = json!({"artifactLocation": {"uri": uri(base, file)}});
    if line > 0 {
        place["region"] = json!({"startLine": line});
    }
    place
}

fn rule(heading: &Heading) -> Value {
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
    let description = if heading.doc.is_empty() {
        &summary
    } else {
        heading.doc.trim()
    };
    json!({
        "id": rule_id(heading),
        "name": heading.name.as_str(),
        "shortDescription": {"text": summary},
        "fullDescription": {"text": description},
        "help": {"text": help},
        "defaultConfiguration": {"level": level(heading.severity)},
        "properties": {"tags": ["security"], "security-severity": score},
    })
}

/// Returns `@id` if there is one, because it stays the same when the property is renamed.
fn rule_id(heading: &Heading) -> &str {
    heading.id.as_ref().unwrap_or(&heading.name)
}

fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Low => "note",
        Severity::Medium => "warning",
        Severity::High | Severity::Critical => "error",
    }
}

/// Returns the name of a file as a URI reference: relative where it lies below `base`, percent-encoded.
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
