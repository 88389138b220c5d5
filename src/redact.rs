//! Reports and decisions without what was recorded: which clause acted and which property is violated where stays, values of
//! events go.
//!
//! Everything that may be made of contents is replaced as a whole: messages, values of quantified variables, reasons, the
//! texts of problems. Names of traces, files, fields and clauses stay.

use std::io;

use crate::ids::PropertyId;
use crate::monitor::Decision;
use crate::problem::Problem;
use crate::report::{Reporter, Summary};
use crate::value::Value;
use crate::verdict::{TraceReport, Verdict, Why};

/// The text in the place of contents.
pub(crate) const REDACTED: &str = "[redacted]";

/// Returns a decision as it may be kept.
pub(crate) fn decision(decision: &Decision) -> Decision {
    let mut redacted = decision.clone();
    for clause in &mut redacted.clauses {
        REDACTED.clone_into(&mut clause.message);
        clause.why = clause.why.as_ref().map(|_| REDACTED.to_owned());
        clause.reasons.clear();
        values(clause.instance.iter_mut().map(|(_, value)| value));
        let args = clause.invoke.iter_mut().flat_map(|(_, args)| args);
        values(args.map(|(_, value)| value));
    }
    redacted.state = redacted.state.map(|_| REDACTED.to_owned());
    for text in redacted.errors.iter_mut().chain(&mut redacted.owed) {
        REDACTED.clone_into(text);
    }
    redacted
}

/// Returns the report on a trace as it may be passed on.
pub(crate) fn trace(report: &TraceReport) -> TraceReport {
    let mut redacted = report.clone();
    for verdict in &mut redacted.verdicts {
        values(verdict.instance.iter_mut().map(|(_, value)| value));
        verdict.message = verdict.message.as_ref().map(|_| REDACTED.to_owned());
        verdict.why = Why::default();
        let fields = verdict
            .evidence
            .iter_mut()
            .flat_map(|step| &mut step.fields);
        for (_, text) in fields {
            REDACTED.clone_into(text);
        }
    }
    redacted.problems = redacted.problems.iter().map(problem).collect();
    redacted
}

/// Returns a problem with data, without what it says of the data.
pub(crate) fn problem(problem: &Problem) -> Problem {
    Problem {
        message: REDACTED.to_owned(),
        ..problem.clone()
    }
}

fn values<'v>(values: impl Iterator<Item = &'v mut Value>) {
    for value in values {
        *value = Value::string(REDACTED);
    }
}

/// Passes reports on without contents.
pub(crate) struct Redacting<'r>(pub(crate) Box<dyn Reporter + 'r>);

impl std::fmt::Debug for Redacting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redacting")
    }
}

impl Reporter for Redacting<'_> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        self.0.trace(&trace(report))
    }

    fn rendered(&mut self, report: &TraceReport, bytes: &[u8]) -> io::Result<()> {
        self.0.rendered(&trace(report), bytes)
    }

    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        self.0.explains(property, verdict)
    }

    fn shows_evidence(&self) -> bool {
        self.0.shows_evidence()
    }

    fn problem(&mut self, one: &Problem) -> io::Result<()> {
        self.0.problem(&problem(one))
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        self.0.finish(summary)
    }
}
