//! The explanation of a property: its formula, wording, class and automaton, and the data that it reads.

mod analysis;
mod object;

use std::io::{self, Write};

use analysis::Analysis;

use super::automaton::{build, moments};
use super::text::wrap;
use super::{Finality, Paint, words};
use crate::hir::reads::{Reads, reads};
use crate::hir::{self, Formula, Property, PropertyKind, Spec, print};
use crate::ids::{FormulaId, PropertyId};
use crate::input_schema::{Field, FieldSource, OriginField};
use crate::lint::{Comparison, Relation, Semantics};
use crate::source::SourceMap;
use crate::translate::{Steps, atom, translate};
use guard_automata::{Dfa, Formulas, Limits, Run, Traces, Verdict, omega};

/// An explanation of one property.
#[derive(Debug)]
pub struct Explanation<'s> {
    spec: &'s Spec,
    property: &'s Property,
    /// `file:line` of the formula.
    place: String,
    /// The formula as written, in one line.
    formula: String,
    automaton: Analysis,
    /// Its class over infinite traces; `None` beyond the limits and for bounds in time.
    infinite: Option<Infinite>,
    reads: Reads,
    against: Option<Against>,
}

/// The class of a property over infinite traces.
#[derive(Debug)]
struct Infinite {
    class: omega::Class,
    /// The number of states of its Büchi automaton.
    states: usize,
}

/// The property that another is compared with.
#[derive(Debug)]
pub struct Against {
    /// The name of the other property, or its formula.
    pub name: String,
    /// The traces on which they are compared.
    pub semantics: Semantics,
    /// Their relation.
    pub comparison: Comparison,
}

/// The degree to which the property can be enforced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enforceable {
    /// A violating step can be denied before it happens.
    Blocked,
    /// Some violations are final before the trace ends.
    Detected,
    /// Only the complete trace decides.
    Audited,
}

impl<'s> Explanation<'s> {
    /// Explains a property; builds its automaton.
    pub fn new(spec: &'s Spec, sources: &SourceMap, id: PropertyId) -> Explanation<'s> {
        let property = spec.property(id);
        let file = sources.get(property.formula_span.file);
        let mut formula: Vec<&str> = sources
            .slice(property.formula_span)
            .split_whitespace()
            .collect();
        // The span of a rule begins after its first word.
        let before = file
            .text()
            .get(..property.formula_span.start as usize)
            .unwrap_or("");
        if property.kind == PropertyKind::Rule && before.trim_end().ends_with("when") {
            formula.insert(0, "when");
        }
        let letters = spec.formulas.atoms_of(property.formula);
        let mut reads = reads(spec, letters.iter().map(|letter| spec.atom(*letter).expr));
        reads.fields.extend(spec.clock_of(property));
        Explanation {
            spec,
            property,
            place: format!(
                "{}:{}",
                file.name(),
                file.location(property.formula_span.start).line
            ),
            formula: formula.join(" "),
            automaton: Analysis::new(spec, property.formula, &Limits::default()),
            infinite: infinite(spec, property.formula),
            against: None,
            reads,
        }
    }

    /// Adds the relation of the property to another one.
    #[must_use]
    pub fn against(self, against: Against) -> Explanation<'s> {
        Explanation {
            against: Some(against),
            ..self
        }
    }

    fn pointers(&self) -> Vec<String> {
        let fields = self
            .reads
            .fields
            .iter()
            .filter_map(|idx| self.spec.schema.fields.get(*idx));
        let meta = self
            .reads
            .meta
            .iter()
            .filter_map(|idx| self.spec.schema.meta.get(*idx));
        fields
            .map(|field| pointer(field, ""))
            .chain(meta.map(|field| pointer(field, "meta ")))
            .collect()
    }

    fn atoms(&self) -> Vec<String> {
        self.spec
            .formulas
            .atoms_of(self.property.formula)
            .into_iter()
            .map(|letter| {
                let text = &self.spec.atom(letter).text;
                text.split_whitespace().collect::<Vec<_>>().join(" ")
            })
            .collect()
    }

    /// Writes the explanation as a page for people.
    ///
    /// # Errors
    /// Where `out` cannot be written.
    pub fn write(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let property = self.property;
        let severity = format!("{:?}", property.severity).to_lowercase();
        let head = format!(
            "{}, severity {severity}, {}",
            kind_words(property.kind),
            self.place
        );
        writeln!(
            out,
            "{}  {}",
            paint.name(&property.name),
            paint.quiet(&head)
        )?;
        for text in [property.requirement.as_deref(), Some(property.doc.as_str())]
            .into_iter()
            .flatten()
        {
            if !text.trim().is_empty() {
                writeln!(out)?;
                for line in text.trim().lines() {
                    writeln!(out, "  {}", line.trim_end())?;
                }
            }
        }
        writeln!(out)?;
        entry(out, paint, "formula", std::slice::from_ref(&self.formula))?;
        entry(
            out,
            paint,
            "in words",
            &wrap(&words::property(self.spec, property), 84),
        )?;
        self.class(out, paint)?;
        entry(out, paint, "letters", &self.atoms())?;
        entry(out, paint, "reads", &self.pointers())?;
        let tracks: Vec<String> = self
            .reads
            .tracks
            .iter()
            .map(|track| self.spec.track(*track).name.to_string())
            .collect();
        entry(out, paint, "tracks", &tracks)?;
        entry(
            out,
            paint,
            "holds on",
            &self.example(&self.automaton.good(self.spec)),
        )?;
        entry(
            out,
            paint,
            "fails on",
            &self.example(&self.automaton.bad(self.spec)),
        )?;
        if let Some(against) = &self.against {
            entry(out, paint, "against", &self.relation(against))?;
        }
        let cites: Vec<String> = property.cites.iter().map(ToString::to_string).collect();
        entry(out, paint, "cites", &cites)
    }

    fn class(&self, out: &mut impl Write, paint: Paint) -> io::Result<()> {
        let mut lines = Vec::new();
        lines.extend(self.automaton.finite().map(|class| {
            let words = match class {
                "both" => "safety and cosafety: every verdict is final at the step that decides it",
                "safety" => "safety: every violation is final at the step that causes it",
                "cosafety" => "cosafety: once satisfied, it stays satisfied",
                _ => "neither safety nor cosafety: some verdicts depend on the end of the trace",
            };
            words.to_owned()
        }));
        lines.extend(
            self.infinite
                .as_ref()
                .map(|infinite| format!("over infinite traces: {}", infinite_word(infinite.class))),
        );
        lines.extend(enforceable(&self.automaton).map(|enforce| {
            let words = match enforce {
                Enforceable::Blocked => {
                    "can be blocked: the violating step can be denied before it happens"
                }
                Enforceable::Detected => {
                    "can be detected: some violations are final before the trace ends"
                }
                Enforceable::Audited => "can be audited: only the complete trace decides",
            };
            words.to_owned()
        }));
        if self.automaton.monitorable() == Some(false) {
            lines.push(
                "not monitorable: after some prefixes, no continuation ever decides it".to_owned(),
            );
        }
        if self.automaton.has_value(false) == Some(false) {
            lines.push("satisfied by every trace (valid)".to_owned());
        } else if self.automaton.has_value(true) == Some(false) {
            lines.push("satisfied by no trace (unsatisfiable)".to_owned());
        }
        if lines.is_empty() {
            let reason = self.automaton.reason().map_or("", String::as_str);
            lines.push(format!("unknown: {reason}"));
        }
        entry(out, paint, "class", &lines)?;
        let part = self.enforceable_part().unwrap_or_default();
        entry(out, paint, "enforce", &wrap(&part, 84))?;
        entry(out, paint, "automaton", &self.size())
    }

    /// Returns the size of the automaton.
    fn size(&self) -> Vec<String> {
        let plural = |n: usize, word: &str| format!("{n} {word}{}", if n == 1 { "" } else { "s" });
        match &self.automaton {
            Analysis::Plain(dfa) => vec![format!(
                "{}, deterministic, complete, minimal",
                plural(dfa.len(), "state")
            )],
            Analysis::Counted(survey, reason) => {
                let least = if survey.complete { "" } else { "at least " };
                let size = format!(
                    "{least}{} and {}, deterministic, complete",
                    plural(survey.n_states, "state"),
                    plural(survey.n_counters, "counter")
                );
                [vec![size], wrap(reason, 84)].concat()
            }
            Analysis::Nothing(_) => Vec::new(),
        }
    }

    /// Returns a description of the part of the property that can be enforced by refusing steps.
    fn enforceable_part(&self) -> Option<String> {
        if self.automaton.safety()? {
            return Some("completely, by denying the violating steps".to_owned());
        }
        let enforceable = self.automaton.dfa().map(Dfa::enforceable_part);
        let nothing = match &enforceable {
            Some(enforceable) => enforceable.is_valid(Traces::NonEmpty),
            None => !self.automaton.reaches(Verdict::Violated)?,
        };
        if nothing {
            return Some(
                "not at all: after every step, a later one may still satisfy it".to_owned(),
            );
        }
        // The part often consists of some of the conjuncts, which can then be named.
        let formulas = &self.spec.formulas;
        let parts: Vec<String> = match enforceable {
            Some(_) => conjuncts(formulas, self.property.formula)
                .into_iter()
                .filter(|part| build(self.spec, *part).is_ok_and(|part| part.class().safety))
                .map(|part| print::formula(formulas, part))
                .collect(),
            None => Vec::new(),
        };
        let rest = "whether pending obligations are met is known only at the end of the trace";
        let states =
            enforceable.map_or_else(String::new, |part| format!(" ({} states)", part.len()));
        Some(match parts.as_slice() {
            [] => {
                format!(
                    "partly: steps after which nothing can satisfy it can be denied{states}; {rest}"
                )
            }
            parts => format!(
                "partly: `{}` by denying steps; {rest}",
                parts.join("` and `")
            ),
        })
    }

    fn relation(&self, against: &Against) -> Vec<String> {
        let (this, other) = (&self.property.name, &against.name);
        let sentence = match against.comparison.relation {
            Relation::Equivalent => {
                format!("equivalent: `{this}` and `{other}` accept the same traces")
            }
            Relation::Implies => format!("implies: `{this}` is stronger than `{other}`"),
            Relation::ImpliedBy => format!("implied by: `{other}` is stronger than `{this}`"),
            Relation::Disjoint => {
                format!("disjoint: no trace satisfies both `{this}` and `{other}`")
            }
            Relation::Overlapping => {
                format!("overlapping: neither of `{this}` and `{other}` implies the other")
            }
        };
        let mut lines = vec![sentence];
        if let Some(difference) = &against.comparison.difference {
            let (holds, fails) = if difference.satisfies_first {
                (this.as_str(), other.as_str())
            } else {
                (other.as_str(), this.as_str())
            };
            lines.push(format!(
                "a trace that satisfies `{holds}` but not `{fails}`:"
            ));
            let notes = moments(&difference.times);
            let formulas = &self.spec.formulas;
            lines.extend(Steps::with_notes(formulas, &difference.steps, &notes).lines());
            if let Some(from) = difference.repeats_from {
                lines.push(format!("repeats forever from step {from}"));
            }
        }
        lines
    }

    fn example(&self, runs: &[Run]) -> Vec<String> {
        let times: Vec<i128> = runs.iter().filter_map(|run| run.at).collect();
        Steps::of_runs(&self.spec.formulas, runs, &moments(&times)).lines()
    }
}

/// Returns the class of a formula over infinite traces.
fn infinite(spec: &Spec, formula: FormulaId) -> Option<Infinite> {
    let mut formulas = Formulas::new();
    let root = translate(&spec.formulas, formula, atom, &mut formulas);
    let limits = Limits::default();
    let buchi = omega::translate(&formulas, root, &limits).ok()?;
    Some(Infinite {
        class: omega::class(&formulas, root, &limits).ok()?,
        states: buchi.len(),
    })
}

fn infinite_word(class: omega::Class) -> &'static str {
    match class {
        omega::Class::Safety => "safety",
        omega::Class::Cosafety => "cosafety",
        omega::Class::Obligation => "obligation",
        omega::Class::Recurrence => "recurrence",
        omega::Class::Persistence => "persistence",
        omega::Class::Reactivity => "reactivity",
    }
}

/// Returns the operands of a nested `and`.
fn conjuncts(formulas: &hir::Formulas, formula: FormulaId) -> Vec<FormulaId> {
    match formulas.get(formula) {
        Formula::And(a, b) => [conjuncts(formulas, *a), conjuncts(formulas, *b)].concat(),
        _ => vec![formula],
    }
}

impl Enforceable {
    /// Returns the name used in the explanation.
    pub fn as_str(self) -> &'static str {
        match self {
            Enforceable::Blocked => "blocked",
            Enforceable::Detected => "detected",
            Enforceable::Audited => "audited",
        }
    }
}

fn enforceable(automaton: &Analysis) -> Option<Enforceable> {
    Some(match automaton.finality()? {
        Finality::Step => Enforceable::Blocked,
        Finality::Either => Enforceable::Detected,
        Finality::End => Enforceable::Audited,
    })
}

/// Returns when violations of a property become final; builds its automaton.
pub fn finality(spec: &Spec, id: PropertyId) -> Finality {
    let automaton = Analysis::new(spec, spec.property(id).formula, &Limits::default());
    automaton.finality().unwrap_or_default()
}

/// A short summary of a property: when its violations become final, and the size of its automaton. Values beyond the
/// limits are `None`.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    pub enforceable: Option<Enforceable>,
    pub states: Option<usize>,
}

/// Returns the summary of a property. The limits bound its time.
pub fn summary(spec: &Spec, id: PropertyId, limits: &Limits) -> Summary {
    let automaton = Analysis::new(spec, spec.property(id).formula, limits);
    Summary {
        enforceable: enforceable(&automaton),
        states: automaton.dfa().map(Dfa::len),
    }
}

fn kind(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Rule => "rule",
        PropertyKind::Ltl
        | PropertyKind::Unsafe
        | PropertyKind::Requirement
        | PropertyKind::Assumption
        | PropertyKind::Condition => "ltl",
    }
}

fn kind_words(kind: PropertyKind) -> &'static str {
    match kind {
        PropertyKind::Ltl => "property",
        PropertyKind::Rule => "rule",
        PropertyKind::Unsafe => "unsafe state",
        PropertyKind::Requirement => "requirement",
        PropertyKind::Assumption => "assumption",
        PropertyKind::Condition => "condition",
    }
}

/// Returns the path that a field is read from.
fn pointer(field: &Field, prefix: &str) -> String {
    match &field.source {
        FieldSource::Event(path) => format!("{prefix}{path}"),
        FieldSource::Each(path) => format!("{prefix}each {path}"),
        FieldSource::Origin(origin) => match origin {
            OriginField::File => "file",
            OriginField::Dir => "dir",
            OriginField::Stem => "stem",
            OriginField::Line => "line",
            OriginField::N => "n",
        }
        .to_owned(),
    }
}

fn entry(out: &mut impl Write, paint: Paint, label: &str, lines: &[String]) -> io::Result<()> {
    for (idx, line) in lines.iter().enumerate() {
        let label = if idx == 0 { label } else { "" };
        writeln!(
            out,
            "  {}  {line}",
            paint.quiet(&super::text::pad(label, 9))
        )?;
    }
    Ok(())
}
