//! `guard audit --format json`: one line per verdict and trace, one per problem, and a summary.
//!
//! The lines are described in the guide; other programs read them, so keys are added, never changed. Every line has
//! `"v":1` and a `type`:
//!
//! | `type` | when |
//! |---|---|
//! | `verdict` | one per property and trace; for a quantified property one per violated instance |
//! | `trace` | after the verdicts of a trace |
//! | `problem` | for everything that was wrong with data, after the trace it belongs to |
//! | `summary` | last |

use std::io::{self, Write};

use serde::Serialize;
use serde::ser::SerializeMap;
use smol_str::SmolStr;

use super::tally::{
    AbsentField, ComparedKinds, Input, OtherSpelling, UnseenName, per_property, round4, score,
};
use super::{Heading, Headings, Reporter, Summary};
use crate::hir::Severity;
use crate::problem::{Problem, ProblemKind};
use crate::verdict::{
    Instance, Limit, PropertyVerdict, TraceReport, Undecided, Verdict, Why, quoted,
};

/// Writes JSON Lines.
#[derive(Debug)]
pub struct Json<'s, W> {
    headings: &'s Headings,
    lines: Lines<'s>,
    out: W,
}

/// The members with which all verdict lines on one trace begin.
#[derive(Serialize)]
struct VerdictHead<'a> {
    v: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    trace: &'a str,
    file: &'a str,
    line: u64,
    index: u64,
}

/// The optional members at the end of the line.
#[derive(Serialize)]
struct VerdictTail<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    instance: Option<Instance<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<&'a [u32]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    severity: Option<Severity>,
    #[serde(skip_serializing_if = "Option::is_none")]
    catastrophic: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requirement: Option<Sentence<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    undecided_by: Option<&'a [Undecided]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exceeded: Option<Limit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'a Why>,
}

/// The English sentence of a requirement, and its location.
#[derive(Serialize)]
struct Sentence<'a> {
    text: &'a str,
    file: &'a str,
    line: u32,
    #[serde(skip_serializing_if = "<[SmolStr]>::is_empty")]
    cites: &'a [SmolStr],
}

#[derive(Serialize)]
struct TraceLine<'a> {
    v: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    trace: &'a str,
    events: u64,
    score: Option<f64>,
    violated: Vec<&'a str>,
    errors: Vec<TraceError<'a>>,
}

/// A problem within the line of its trace.
#[derive(Serialize)]
struct TraceError<'a> {
    kind: ProblemKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    field: Option<&'a str>,
    message: &'a str,
}

#[derive(Serialize)]
struct ProblemLine<'a> {
    v: u8,
    #[serde(rename = "type")]
    line_type: &'static str,
    #[serde(flatten)]
    problem: &'a Problem,
}

#[derive(Serialize)]
struct SummaryLine<'a> {
    v: u8,
    #[serde(rename = "type")]
    kind: &'static str,
    traces: u64,
    events: u64,
    properties: Properties<'a>,
    problems: &'a std::collections::BTreeMap<ProblemKind, u64>,
    input: Input,
    #[serde(skip_serializing_if = "<[AbsentField]>::is_empty")]
    absent_fields: &'a [AbsentField],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unseen_names: Vec<&'a UnseenName>,
    #[serde(skip_serializing_if = "<[OtherSpelling]>::is_empty")]
    other_spellings: &'a [OtherSpelling],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    other_kinds: Vec<&'a ComparedKinds>,
}

/// The object of `properties`, in order of declaration.
struct Properties<'a> {
    headings: &'a Headings,
    summary: &'a Summary,
}

#[derive(Serialize)]
struct CountsObject {
    satisfied: u64,
    violated: u64,
    presumably_satisfied: u64,
    presumably_violated: u64,
    unknown: u64,
    vacuous: u64,
    rate: Option<f64>,
    wilson95: [f64; 2],
}

impl<'s, W: Write> Json<'s, W> {
    /// Writes to `out`.
    pub fn new(headings: &'s Headings, out: W) -> Json<'s, W> {
        let lines = Lines::new(headings);
        Json {
            headings,
            lines,
            out,
        }
    }

    fn line(&mut self, line: &impl Serialize) -> io::Result<()> {
        write_line(&mut self.out, line)
    }
}

fn write_line(out: &mut impl Write, line: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// The lines of one trace; any thread can produce them.
#[derive(Clone, Debug)]
pub struct Lines<'s> {
    headings: &'s Headings,
    /// By property: its name as JSON.
    names: Vec<String>,
}

impl<'s> Lines<'s> {
    /// Creates a writer of lines about the properties of these headings.
    pub fn new(headings: &'s Headings) -> Lines<'s> {
        let properties = headings.properties.iter();
        Lines {
            headings,
            names: properties.map(|heading| quoted(&heading.name)).collect(),
        }
    }

    /// Appends the lines of the verdicts and of the trace, without those of problems with its data.
    ///
    /// # Errors
    /// If serialisation as JSON fails, which is not expected.
    pub fn write(&self, report: &TraceReport, out: &mut Vec<u8>) -> io::Result<()> {
        let mut head = serde_json::to_vec(&VerdictHead {
            v: 1,
            kind: "verdict",
            trace: &report.trace,
            file: &report.file,
            line: report.line,
            index: report.index,
        })?;
        // The remaining members are appended where this object would end.
        head.pop();
        // Most lines are only slightly longer than this.
        out.reserve(report.verdicts.len() * (head.len() + 128) + head.len());
        for verdict in &report.verdicts {
            self.verdict(&head, verdict, out)?;
        }
        self.trace(report, out)
    }

    fn verdict(&self, head: &[u8], verdict: &PropertyVerdict, out: &mut Vec<u8>) -> io::Result<()> {
        let property = verdict.property;
        let (Some(heading), Some(name)) = (
            self.headings.get(property),
            self.names.get(property.index()),
        ) else {
            return Ok(());
        };
        // There is a line for every property and trace, so the common members are written directly, without `serde`.
        let truth = |truth: bool| if truth { "true" } else { "false" };
        out.extend_from_slice(head);
        for part in [
            ",\"property\":",
            name,
            ",\"verdict\":\"",
            verdict.verdict.as_str(),
            "\",\"final\":",
            truth(verdict.is_final),
        ] {
            out.extend_from_slice(part.as_bytes());
        }
        for (key, step) in [(",\"at\":", verdict.at), (",\"from\":", verdict.from)] {
            out.extend_from_slice(key.as_bytes());
            match step {
                Some(step) => write!(out, "{step}")?,
                None => out.extend_from_slice(b"null"),
            }
        }
        out.extend_from_slice(b",\"vacuous\":");
        out.extend_from_slice(truth(verdict.vacuous).as_bytes());
        let rest = out.len();
        match self.tail(heading, verdict) {
            None => out.extend_from_slice(b"}\n"),
            Some(tail) => write_line(out, &tail)?,
        }
        if let Some(open) = out.get_mut(rest).filter(|open| **open == b'{') {
            *open = b',';
        }
        Ok(())
    }

    /// Returns the members that only some verdicts have; `None` if there are none.
    fn tail<'a>(
        &'a self,
        heading: &'a Heading,
        verdict: &'a PropertyVerdict,
    ) -> Option<VerdictTail<'a>> {
        let lost = verdict.verdict == Verdict::Violated;
        let open = verdict.verdict == Verdict::Unknown;
        let bad = lost || verdict.verdict == Verdict::PresumablyViolated;
        let (instance, message) = (&verdict.instance, verdict.message.as_deref());
        let (steps, undecided) = (&verdict.counterexample, &verdict.undecided_by);
        let tail = VerdictTail {
            instance: (!instance.is_empty()).then_some(Instance {
                values: instance,
                enums: &self.headings.enums,
            }),
            counterexample: (lost || !steps.is_empty()).then_some(steps),
            message,
            severity: bad.then_some(heading.severity),
            catastrophic: (bad && heading.catastrophic).then_some(true),
            owner: heading.owner.as_deref().filter(|_| bad),
            requirement: heading
                .requirement
                .as_deref()
                .filter(|_| bad)
                .map(|text| Sentence {
                    text,
                    file: &heading.file,
                    line: heading.line,
                    cites: &heading.cites,
                }),
            undecided_by: (open || !undecided.is_empty()).then_some(undecided),
            exceeded: verdict.exceeded,
            why: Some(&verdict.why).filter(|why| !why.reasons.is_empty()),
        };
        let more = bad || open || tail.instance.is_some() || tail.counterexample.is_some();
        (more || message.is_some() || tail.undecided_by.is_some()).then_some(tail)
    }

    fn trace(&self, report: &TraceReport, out: &mut Vec<u8>) -> io::Result<()> {
        let headings = self.headings;
        let line = TraceLine {
            v: 1,
            kind: "trace",
            trace: &report.trace,
            events: report.events,
            score: score(&report.verdicts).map(round4),
            violated: per_property(&report.verdicts)
                .into_iter()
                .filter(|(_, verdict, _)| *verdict == Verdict::Violated)
                .filter_map(|(id, _, _)| headings.get(id))
                .map(|heading| heading.name.as_str())
                .collect(),
            errors: report
                .problems
                .iter()
                .filter(|problem| problem.kind.is_error())
                .map(|problem| TraceError {
                    kind: problem.kind,
                    step: problem.step,
                    field: problem.field.as_deref(),
                    message: &problem.message,
                })
                .collect(),
        };
        write_line(out, &line)
    }
}

impl<W: Write> Reporter for Json<'_, W> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.lines.write(report, &mut bytes)?;
        self.rendered(report, &bytes)
    }

    fn rendered(&mut self, report: &TraceReport, bytes: &[u8]) -> io::Result<()> {
        self.out.write_all(bytes)?;
        for problem in &report.problems {
            self.problem(problem)?;
        }
        Ok(())
    }

    fn shows_evidence(&self) -> bool {
        false
    }

    fn problem(&mut self, problem: &Problem) -> io::Result<()> {
        self.line(&ProblemLine {
            v: 1,
            line_type: "problem",
            problem,
        })
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        let headings = self.headings;
        self.line(&SummaryLine {
            v: 1,
            kind: "summary",
            traces: summary.traces,
            events: summary.events,
            properties: Properties { headings, summary },
            problems: &summary.problems,
            input: summary.input,
            absent_fields: &summary.absent_fields,
            unseen_names: (summary.unseen_names.iter())
                .filter(|unseen| unseen.similar.is_some())
                .collect(),
            other_spellings: &summary.other_spellings,
            other_kinds: (summary.compared_kinds.iter())
                .filter(|kinds| kinds.never_met())
                .collect(),
        })?;
        self.out.flush()
    }
}

impl Serialize for Properties<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (heading, counts) in self
            .headings
            .properties
            .iter()
            .zip(&self.summary.properties)
        {
            let (low, high) = counts.wilson95();
            map.serialize_entry(
                &heading.name,
                &CountsObject {
                    satisfied: counts.satisfied,
                    violated: counts.violated,
                    presumably_satisfied: counts.presumably_satisfied,
                    presumably_violated: counts.presumably_violated,
                    unknown: counts.unknown,
                    vacuous: counts.vacuous,
                    rate: counts.rate().map(round4),
                    wilson95: [round4(low), round4(high)],
                },
            )?;
        }
        map.end()
    }
}
