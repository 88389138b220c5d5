//! The data of a page: properties with their rates, traces with their verdicts, files, and problems.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::super::human::severity;
use super::super::text::number;
use super::super::{Counts, Heading, Headings, Summary};
use super::tame;
use crate::problem::Problem;
use crate::verdict::TraceReport;

/// The greatest number of problems that are listed, and of those of one trace.
const PROBLEMS: usize = 200;
const TRACE_PROBLEMS: usize = 20;
/// The greatest number of traces in a page.
const TRACES: usize = 100_000;
/// The greatest number of bars over the traces.
const BARS: usize = 60;
/// The greatest number of properties of which is shown how often they are violated together.
const TOGETHER: usize = 10;

/// The files that traces are from, each with a number.
#[derive(Debug, Default)]
pub struct Files {
    names: Vec<Arc<str>>,
    numbers: FxHashMap<Arc<str>, usize>,
}

impl Files {
    /// Returns the number of a file.
    pub fn number(&mut self, name: &Arc<str>) -> usize {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        self.names.push(Arc::clone(name));
        self.numbers.insert(Arc::clone(name), self.names.len() - 1);
        self.names.len() - 1
    }

    /// Returns the name of a file.
    pub fn name(&self, number: usize) -> Option<&str> {
        self.names.get(number).map(|name| &**name)
    }

    /// Returns the number of files.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there is no file.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Returns the names in the order of their numbers.
    pub fn to_json(&self) -> Value {
        self.names.iter().map(|name| tame(name)).collect()
    }
}

/// The traces and problems of a page, as JSON.
#[derive(Debug, Default)]
pub struct PageData {
    files: Files,
    traces: Vec<Value>,
    codes: Vec<String>,
    left_out: u64,
    problems: Vec<Value>,
    more_problems: u64,
}

impl PageData {
    /// Adds a trace. `detail` is the number of the block that holds its steps, and that of the line in it.
    pub fn trace(
        &mut self,
        report: &TraceReport,
        found: Vec<Value>,
        codes: String,
        detail: Option<[usize; 2]>,
    ) {
        if self.traces.len() >= TRACES {
            self.left_out += 1;
            return;
        }
        let mut trace = vec![
            tame(&report.trace),
            json!(self.files.number(&report.file)),
            json!(report.line),
            json!(report.events),
            json!(codes),
            json!(found),
        ];
        let problems = problems(report);
        if detail.is_some() || !problems.is_empty() {
            trace.push(detail.map_or(json!(0), |place| json!(place)));
        }
        if !problems.is_empty() {
            trace.push(json!(problems));
        }
        self.traces.push(Value::Array(trace));
        self.codes.push(codes);
    }

    pub fn problem(&mut self, problem: &Problem) {
        if self.problems.len() < PROBLEMS {
            self.problems.push(tame(&problem.to_string()));
        } else {
            self.more_problems += 1;
        }
    }

    /// Returns all data of a page. `steps` is the schema of [`replay`](crate::replay), `live` the data for the page of
    /// a server.
    pub fn json(
        &mut self,
        headings: &Headings,
        summary: &Summary,
        steps: Option<&Value>,
        live: Option<Value>,
    ) -> Value {
        let none = json!({"fields": [], "meta": [], "kind": null, "clock": null, "atoms": [], "tracks": [], "updates": []});
        let properties: Vec<Value> = headings
            .properties
            .iter()
            .enumerate()
            .map(|(idx, heading)| property(heading, summary.properties.get(idx)))
            .collect();
        let codes = |trace: usize| self.codes[trace].as_bytes();
        let violations = violations(summary, self.codes.len(), codes);
        let mut data = json!({
            "properties": properties,
            "files": self.files.to_json(),
            "traces": std::mem::take(&mut self.traces),
            "violations": violations,
            "problems": std::mem::take(&mut self.problems),
            "more_problems": self.more_problems,
            "schema": steps.unwrap_or(&none),
            "redacted": steps.is_none(),
        });
        if self.left_out > 0 {
            data["cut"] = json!(format!(
                "{} more are not in this page; guard view lists every trace",
                number(self.left_out)
            ));
        }
        if let Some(live) = live {
            data["live"] = live;
        }
        data
    }
}

/// Returns the problems with the data of a trace, as far as they are listed.
pub fn problems(report: &TraceReport) -> Vec<Value> {
    let problems = report.problems.iter().take(TRACE_PROBLEMS);
    problems.map(|problem| tame(&problem.to_string())).collect()
}

/// Returns the violations over the traces, in groups of successive ones, each with the number of violating and of all
/// traces (`over`); the properties that are violated most often, by number (`often`); and how many traces violate each pair of these
/// (`together`). `codes` returns the verdicts on a trace.
pub fn violations<'c>(
    summary: &Summary,
    traces: usize,
    codes: impl Fn(usize) -> &'c [u8],
) -> Value {
    let violated = |property: usize| {
        let counts = summary.properties.get(property);
        counts.map_or(0, |counts| counts.violated)
    };
    let mut often: Vec<usize> = (0..summary.properties.len())
        .filter(|property| violated(*property) > 0)
        .collect();
    often.sort_by_key(|property| std::cmp::Reverse(violated(*property)));
    often.truncate(TOGETHER);
    let bars = BARS.min(traces);
    let mut over = vec![[0_u64; 2]; bars];
    let mut together = vec![vec![0_u64; often.len()]; often.len()];
    for trace in 0..traces {
        let codes = codes(trace);
        let Some([violating, all]) = over.get_mut(trace * bars / traces) else {
            continue;
        };
        *all += 1;
        if !codes.contains(&b'v') {
            continue;
        }
        *violating += 1;
        let is_violated = |property: &usize| codes.get(*property) == Some(&b'v');
        for (one, row) in often.iter().zip(&mut together) {
            for (other, count) in often.iter().zip(row) {
                *count += u64::from(is_violated(one) && is_violated(other));
            }
        }
    }
    json!({"over": over, "often": often, "together": together})
}

fn property(heading: &Heading, counts: Option<&Counts>) -> Value {
    let counts = counts.copied().unwrap_or_default();
    let rate = counts.rate().map(|rate| {
        let (low, high) = counts.wilson95();
        [rate, low, high]
    });
    let source: Vec<Value> = heading.source.iter().map(|line| tame(line)).collect();
    let cites: Vec<Value> = heading.cites.iter().map(|cite| tame(cite)).collect();
    json!({
        "name": heading.name.as_str(),
        "id": heading.id.as_ref().map(|id| tame(id)),
        "severity": severity(heading.severity),
        "catastrophic": heading.catastrophic,
        "owner": heading.owner.as_ref().map(|owner| tame(owner)),
        "doc": tame(&heading.doc),
        "words": tame(&heading.words),
        "requirement": heading.requirement.as_ref().map(|text| tame(text)),
        "cites": cites,
        "file": tame(&heading.file),
        "line": heading.line,
        "source": source,
        "rate": rate,
        "counts": {
            "satisfied": counts.satisfied,
            "violated": counts.violated,
            "presumably_satisfied": counts.presumably_satisfied,
            "presumably_violated": counts.presumably_violated,
            "unknown": counts.unknown,
            "vacuous": counts.vacuous,
        },
    })
}
