//! Redaction of reports and decisions: clauses, properties and positions are kept, values of events are removed.
//!
//! All texts that may contain values are replaced as a whole: messages, values of quantified variables, reasons, the texts of
//! problems. Names of traces, files, fields and clauses are kept. If only some fields are redacted, this applies to the clauses
//! and properties that read one of them, directly or through tracks.

use std::collections::BTreeSet;
use std::io;

use smol_str::SmolStr;

use crate::hir::reads::reads;
use crate::hir::{Arm, Property, Spec, Text, TextPart, Watched};
use crate::ids::{ExprId, PropertyId};
use crate::monitor::Decision;
use crate::problem::Problem;
use crate::report::{Reporter, Summary};
use crate::value::Value;
use crate::verdict::{TraceReport, Verdict, Why};

/// The replacement for redacted contents.
pub(crate) const REDACTED: &str = "[redacted]";

/// The contents to be redacted from reports and decisions.
#[derive(Clone, Debug)]
pub(crate) struct Redaction {
    parts: Parts,
    /// For each arm of each clause, the message without its values if one of them comes from earlier events, which the sender
    /// of a proposal may not have seen.
    remembered: Vec<Vec<Option<String>>>,
}

/// The parts to be redacted.
#[derive(Clone, Debug)]
enum Parts {
    /// All contents.
    All,
    /// The contents of some fields.
    Fields {
        /// Their names.
        names: BTreeSet<SmolStr>,
        /// Whether each property depends on one of them.
        properties: Vec<bool>,
        /// Whether each clause depends on one of them.
        clauses: Vec<bool>,
    },
}

impl Redaction {
    /// Parses names of fields of events or traces, separated by commas. Without names, everything is redacted.
    ///
    /// # Errors
    /// The spec has no field with one of these names.
    pub(crate) fn new(spec: &Spec, fields: &str) -> Result<Redaction, String> {
        let remembered = (spec.enforces.iter())
            .map(|clause| {
                clause
                    .arms
                    .iter()
                    .map(|arm| without_values(spec, arm))
                    .collect()
            })
            .collect();
        if fields.is_empty() {
            let parts = Parts::All;
            return Ok(Redaction { parts, remembered });
        }
        let names: BTreeSet<SmolStr> = fields.split(',').map(SmolStr::new).collect();
        let (schema, mut chosen) = (&spec.schema, 0);
        let mut positions = |fields: &[crate::input_schema::Field]| -> BTreeSet<usize> {
            let known = fields.iter().enumerate();
            let known = known.filter(|(_, field)| names.contains(&field.name));
            let known: BTreeSet<usize> = known.map(|(position, _)| position).collect();
            chosen += known.len();
            known
        };
        let (of_events, of_traces) = (positions(&schema.fields), positions(&schema.meta));
        if chosen < names.len() {
            let all = schema.fields.iter().chain(&schema.meta);
            let all: Vec<&str> = all.map(|field| field.name.as_str()).collect();
            return Err(format!(
                "expected names of fields to redact, found `{fields}`; the spec has `{}`",
                all.join("`, `")
            ));
        }
        let depends = |roots: Vec<ExprId>| {
            let read = reads(spec, roots);
            !read.fields.is_disjoint(&of_events) || !read.meta.is_disjoint(&of_traces)
        };
        let properties: Vec<bool> = spec
            .properties
            .iter()
            .map(|property| depends(read_by(spec, property)))
            .collect();
        let clauses = spec.enforces.iter().map(|clause| {
            let watched = match &clause.watched {
                Watched::Property(property) => properties.get(property.index()).copied(),
                Watched::When { condition, .. } => Some(depends(vec![*condition])),
                // The state of a model consists of values that the model observes.
                Watched::Query(_) => Some(true),
            };
            let actions = clause.arms.iter().map(|arm| &arm.action);
            let said = actions.flat_map(|action| {
                let invoked = action.invoke.iter().flat_map(|invoke| &invoke.args);
                let invoked = invoked.map(|(_, value)| *value);
                values_of(action.message.as_ref()).chain(invoked)
            });
            watched.unwrap_or(true) || depends(said.collect())
        });
        let parts = Parts::Fields {
            clauses: clauses.collect(),
            properties,
            names,
        };
        Ok(Redaction { parts, remembered })
    }

    fn of_clause(&self, number: usize) -> bool {
        match &self.parts {
            Parts::All => true,
            Parts::Fields { clauses, .. } => clauses.get(number).copied().unwrap_or(true),
        }
    }

    fn of_property(&self, property: PropertyId) -> bool {
        match &self.parts {
            Parts::All => true,
            Parts::Fields { properties, .. } => {
                properties.get(property.index()).copied().unwrap_or(true)
            }
        }
    }

    fn of_field(&self, name: &str) -> bool {
        match &self.parts {
            Parts::All => true,
            Parts::Fields { names, .. } => names.contains(name),
        }
    }

    /// Returns a decision that may be stored.
    pub(crate) fn decision(&self, decision: &Decision) -> Decision {
        let mut redacted = decision.clone();
        for clause in &mut redacted.clauses {
            if !self.of_clause(clause.clause) {
                continue;
            }
            REDACTED.clone_into(&mut clause.message);
            clause.why = clause.why.as_ref().map(|_| REDACTED.to_owned());
            clause.reasons.clear();
            values(clause.instance.iter_mut().map(|(_, value)| value));
            let args = clause.invoke.iter_mut().flat_map(|(_, args)| args);
            values(args.map(|(_, value)| value));
        }
        redacted.state = redacted.state.map(|_| REDACTED.to_owned());
        let texts = [
            &mut redacted.errors,
            &mut redacted.owed,
            &mut redacted.notes,
        ];
        for text in texts.into_iter().flatten() {
            REDACTED.clone_into(text);
        }
        redacted
    }

    /// Removes the values that the conditions read from an answer: tracks and past operators contain data that the sender of a
    /// proposal may not have seen. Values of the event itself in a message are the choice of the spec.
    pub(crate) fn answer(&self, decision: &mut Decision) {
        for clause in &mut decision.clauses {
            if self.of_clause(clause.clause) {
                let arms = self.remembered.get(clause.clause);
                let arm = clause.arm.and_then(|arm| arms?.get(arm));
                if let Some(text) = arm.and_then(Option::as_ref) {
                    text.clone_into(&mut clause.message);
                }
                clause.why = clause.why.as_ref().map(|_| REDACTED.to_owned());
                clause.reasons.clear();
            }
        }
        // Errors of conditions quote values; errors without a clause concern the parsing of the client's input.
        let quoted = decision
            .errors
            .iter_mut()
            .filter(|_| !decision.clauses.is_empty());
        quoted.for_each(|error| REDACTED.clone_into(error));
    }

    /// Returns the report on a trace in a form that may be published.
    pub(crate) fn trace(&self, report: &TraceReport) -> TraceReport {
        let mut redacted = report.clone();
        for verdict in &mut redacted.verdicts {
            if self.of_property(verdict.property) {
                values(verdict.instance.iter_mut().map(|(_, value)| value));
                verdict.message = verdict.message.as_ref().map(|_| REDACTED.to_owned());
                verdict.why = Why::default();
            }
            let fields = verdict
                .evidence
                .iter_mut()
                .flat_map(|step| &mut step.fields);
            for (_, text) in fields.filter(|(name, _)| self.of_field(name)) {
                REDACTED.clone_into(text);
            }
        }
        redacted.problems = redacted
            .problems
            .iter()
            .map(|one| self.problem(one))
            .collect();
        redacted
    }

    /// Returns a problem without values of the data.
    pub(crate) fn problem(&self, problem: &Problem) -> Problem {
        let mut redacted = problem.clone();
        let field = problem.field.as_deref();
        if field.is_none_or(|field| self.of_field(field)) {
            REDACTED.clone_into(&mut redacted.message);
        }
        redacted
    }
}

/// Returns all expressions that a property and its message read.
fn read_by(spec: &Spec, property: &Property) -> Vec<ExprId> {
    let letters = spec.formulas.atoms_of(property.formula).into_iter();
    let mut read: Vec<ExprId> = letters.map(|letter| spec.atom(letter).expr).collect();
    let quantified = property.quantified.iter();
    for var in quantified.flat_map(|quantified| &quantified.vars) {
        read.extend(var.terms.iter().chain(&var.element_terms).chain(&var.range));
    }
    read.extend(property.trigger.iter().map(|trigger| trigger.expr));
    read.extend(values_of(property.message.as_ref()));
    read
}

/// Returns the message of an arm without its values, if one of them comes from the past: a track, a past operator, or a variable
/// that an earlier event may have bound.
fn without_values(spec: &Spec, arm: &Arm) -> Option<String> {
    let message = arm.action.message.as_ref()?;
    let read = reads(spec, values_of(Some(message)));
    if read.tracks.is_empty() && read.vars.is_empty() && !read.history {
        return None;
    }
    let parts = message.parts.iter().map(|part| match part {
        TextPart::Literal(text) => text.as_str(),
        TextPart::Value(..) => REDACTED,
    });
    Some(parts.collect())
}

fn values_of(text: Option<&Text>) -> impl Iterator<Item = ExprId> {
    let parts = text.into_iter().flat_map(|text| &text.parts);
    parts.filter_map(|part| match part {
        TextPart::Value(value, _) => Some(*value),
        TextPart::Literal(_) => None,
    })
}

fn values<'v>(values: impl Iterator<Item = &'v mut Value>) {
    for value in values {
        *value = Value::string(REDACTED);
    }
}

/// Passes reports on after redaction.
pub(crate) struct Redacting<'r>(pub(crate) Redaction, pub(crate) Box<dyn Reporter + 'r>);

impl std::fmt::Debug for Redacting<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Redacting")
    }
}

impl Reporter for Redacting<'_> {
    fn trace(&mut self, report: &TraceReport) -> io::Result<()> {
        self.1.trace(&self.0.trace(report))
    }

    fn rendered(&mut self, report: &TraceReport, bytes: &[u8]) -> io::Result<()> {
        self.1.rendered(&self.0.trace(report), bytes)
    }

    fn explains(&self, property: PropertyId, verdict: Verdict) -> bool {
        self.1.explains(property, verdict)
    }

    fn shows_evidence(&self) -> bool {
        self.1.shows_evidence()
    }

    fn problem(&mut self, one: &Problem) -> io::Result<()> {
        self.1.problem(&self.0.problem(one))
    }

    fn finish(&mut self, summary: &Summary) -> io::Result<()> {
        // What is similar to a name, or spelt like it, stands in events.
        let mut summary = summary.clone();
        let is_kept = |name: &str| match &self.0.parts {
            Parts::All => false,
            Parts::Fields { names, .. } => {
                let field = name.split(['.', ' ']).next().unwrap_or_default();
                !names.contains(field)
            }
        };
        (summary.unseen_names).retain(|unseen| is_kept(&unseen.name));
        (summary.other_spellings).retain(|spelling| is_kept(&spelling.name));
        self.1.finish(&summary)
    }
}
