//! A drafted requirement, as it is handed on.

use serde::Serialize;

use super::adapt;
use super::domain::{Domain, domain};
use super::example::{self, Trace};
use super::interpret::interpret;
use super::number::{Measure, Unit};
use super::parameter::{self, Key};
use super::reading::{Likelihood, Modality, Reading};
use super::template::{Shape, TEMPLATES};
use crate::words::formula::{always, and, eventually, implies, never, next, not, once, previously};
use crate::words::{Logic, Unary, Window, Writer, sentence};

/// A bound in steps or seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Steps of the run.
    Steps(serde_json::Number),
    /// Seconds.
    Seconds(serde_json::Number),
}

/// A bound on a probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Probability {
    /// `<=`, `<`, `>=` or `>`.
    pub op: &'static str,
    /// Between 0 and 1.
    pub value: f64,
}

/// Whether a formula was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// There is a formula.
    Formal,
    /// Something has to be asked first.
    Unclear,
}

/// Another reading.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Alternative {
    /// The template it is an instance of.
    pub template: Option<&'static str>,
    /// Its formula over the same atoms.
    pub formula: String,
    /// How likely it is meant.
    pub confidence: f64,
    #[serde(skip)]
    logic: Logic,
}

/// An atom and the words it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedAtom {
    /// The name of the predicate.
    pub name: String,
    /// The words of the sentence.
    pub phrase: String,
}

/// A drafted requirement.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The id it was given, or its number in the text.
    pub id: String,
    /// The sentence.
    pub text: String,
    /// Whether there is a formula.
    pub status: Status,
    /// Its kind.
    pub modality: Modality,
    /// What it is about.
    pub domain: Domain,
    /// Its deadline, duration or greatest age.
    pub bound: Option<Bound>,
    /// The number of a count.
    pub count: Option<u32>,
    /// The bound of a probability.
    pub probability: Option<Probability>,
    /// The template it is an instance of.
    pub template: Option<&'static str>,
    /// Its formula in plain temporal logic.
    pub formula: Option<String>,
    /// How surely the formula is what is meant, from 0 to 1.
    pub confidence: f64,
    /// Its atoms.
    pub atoms: Vec<NamedAtom>,
    /// Other readings, likeliest first.
    pub alternatives: Vec<Alternative>,
    /// The formula in English.
    pub readback: Option<String>,
    /// A shortest trace that satisfies it, if possible one in which its trigger happens.
    pub accepts: Vec<Trace>,
    /// A shortest trace that violates it.
    pub rejects: Vec<Trace>,
    /// What has to be asked.
    pub question: Option<String>,
    /// What ties the atoms to one another: the name of the key.
    pub key: Option<Key>,
    likelihood: Option<Likelihood>,
    /// The formula over numbered atoms.
    pub(super) logic: Option<Logic>,
    pub(super) content: Vec<Vec<smol_str::SmolStr>>,
}

/// How many other readings are shown.
const ALTERNATIVES: usize = 5;

/// Drafts one requirement.
///
/// The same text always gives the same draft; nothing but the text is looked at.
///
/// ```
/// let draft = guard_english::draft::draft("Every request must get a response within 5 steps.");
/// assert_eq!(draft.formula.as_deref(), Some("G (request -> F[1,5] response)"));
/// let vague = guard_english::draft::draft("Be nice.");
/// assert!(vague.formula.is_none() && vague.question.is_some());
/// ```
pub fn draft(text: &str) -> Draft {
    let mut found = interpret(text);
    let mut reading = match found.reading {
        Ok(reading) => reading,
        Err(doubt) => {
            return Draft {
                id: String::new(),
                text: text.trim().to_owned(),
                status: Status::Unclear,
                modality: Modality::Unclear,
                domain: domain(&found.tokens),
                bound: None,
                count: None,
                probability: None,
                template: None,
                formula: None,
                confidence: 0.0,
                atoms: Vec::new(),
                alternatives: Vec::new(),
                readback: None,
                accepts: Vec::new(),
                rejects: Vec::new(),
                question: Some(doubt.question()),
                key: None,
                likelihood: None,
                logic: None,
                content: Vec::new(),
            };
        }
    };
    let matched = adapt::find(&found.tokens, &reading);
    if let Some(index) = matched.first.filter(|_| !found.exact) {
        adapt::adapt(&mut found.reader, &found.tokens, &mut reading, index);
    }
    let used = reading.logic.atoms();
    let list = found.reader.atoms.list();
    let names: Vec<String> = list.iter().map(|atom| atom.name.clone()).collect();
    let writer = Writer {
        names: &names,
        rich: false,
    };
    let formula = with_likelihood(&reading, &writer.write(&reading.logic));
    let machine = example::machine(&reading.logic);
    let trigger = used.first().copied().filter(|_| used.len() > 1);
    let accepts = machine
        .as_ref()
        .and_then(|machine| machine.accepted(trigger, &names));
    let rejects = machine
        .as_ref()
        .and_then(|machine| machine.rejected(&names));
    Draft {
        id: String::new(),
        text: text.trim().to_owned(),
        status: Status::Formal,
        modality: reading.modality,
        domain: matched
            .first
            .map_or_else(|| domain(&found.tokens), |index| TEMPLATES[index].domain),
        bound: reading.bound.and_then(bound),
        count: reading.count,
        probability: reading.likelihood.map(|likelihood| Probability {
            op: likelihood.op,
            value: likelihood.value.to_f64(),
        }),
        template: matched.first.map(|index| TEMPLATES[index].id),
        formula: Some(formula),
        confidence: rounded(reading.certainty),
        atoms: used
            .iter()
            .filter_map(|index| list.get(*index))
            .map(|atom| NamedAtom {
                name: atom.name.clone(),
                phrase: atom.phrase.clone(),
            })
            .collect(),
        alternatives: alternatives(&reading, &matched, &writer),
        readback: Some(spoken(&reading.logic, reading.likelihood, &|atom| {
            quoted(&names, atom)
        })),
        accepts: accepts.into_iter().collect(),
        rejects: rejects.into_iter().collect(),
        question: None,
        key: parameter::key(&found.tokens, &used, &reading.logic),
        likelihood: reading.likelihood,
        logic: Some(reading.logic.clone()),
        content: used
            .iter()
            .filter_map(|index| list.get(*index))
            .map(|atom| atom.key().to_vec())
            .collect(),
    }
}

impl Draft {
    /// The other readings that say something else, each once, with their numbers from 1.
    pub fn choices(&self) -> Vec<(usize, &Alternative)> {
        let mut shown: Vec<&str> = self.formula.iter().map(String::as_str).collect();
        let mut choices = Vec::new();
        for (index, other) in self.alternatives.iter().enumerate() {
            if !shown.contains(&other.formula.as_str()) {
                shown.push(&other.formula);
                choices.push((index + 1, other));
            }
        }
        choices
    }

    /// Takes another reading for what is meant: the alternative of this number, from 1. False where there is none.
    pub fn take(&mut self, number: usize) -> bool {
        let chosen = number
            .checked_sub(1)
            .and_then(|index| self.alternatives.get(index).cloned());
        let (Some(chosen), Some(first)) = (chosen, &self.logic) else {
            return false;
        };
        // Atoms are numbered as in the first reading; the other one may speak of fewer.
        let numbers = first.atoms();
        let mut names = vec![String::new(); numbers.iter().max().map_or(0, |last| last + 1)];
        for (number, atom) in numbers.iter().zip(&self.atoms) {
            names[*number].clone_from(&atom.name);
        }
        let used = chosen.logic.atoms();
        let keep: Vec<usize> = used
            .iter()
            .filter_map(|atom| numbers.iter().position(|known| known == atom))
            .collect();
        self.atoms = keep.iter().map(|at| self.atoms[*at].clone()).collect();
        self.content = keep.iter().map(|at| self.content[*at].clone()).collect();
        let machine = example::machine(&chosen.logic);
        let trigger = used.first().copied().filter(|_| used.len() > 1);
        let machine = machine.as_ref();
        self.accepts = machine
            .and_then(|machine| machine.accepted(trigger, &names))
            .into_iter()
            .collect();
        self.rejects = machine
            .and_then(|machine| machine.rejected(&names))
            .into_iter()
            .collect();
        self.readback = Some(spoken(&chosen.logic, self.likelihood, &|atom| {
            quoted(&names, atom)
        }));
        self.formula = Some(chosen.formula);
        self.template = chosen.template;
        self.confidence = 1.0;
        self.logic = Some(chosen.logic);
        self.alternatives = Vec::new();
        true
    }
}

fn quoted(names: &[String], atom: usize) -> String {
    names
        .get(atom)
        .map_or_else(String::new, |name| format!("`{name}`"))
}

/// The reading in English.
fn spoken(logic: &Logic, likelihood: Option<Likelihood>, name: &dyn Fn(usize) -> String) -> String {
    let words = sentence(logic, name);
    let Some(likelihood) = likelihood else {
        return words;
    };
    let how = match likelihood.op {
        "<=" => "at most",
        "<" => "less than",
        ">=" => "at least",
        _ => "more than",
    };
    let mut chars = words.chars();
    let lower: String = chars
        .next()
        .into_iter()
        .flat_map(char::to_lowercase)
        .chain(chars)
        .collect();
    format!(
        "With probability {how} {}, {lower}",
        likelihood.value.decimal()
    )
}

fn with_likelihood(reading: &Reading, formula: &str) -> String {
    match reading.likelihood {
        Some(likelihood) => format!(
            "P{}{} [ {formula} ]",
            likelihood.op,
            likelihood.value.decimal()
        ),
        None => formula.to_owned(),
    }
}

fn bound(measure: Measure) -> Option<Bound> {
    let number = match measure.value.whole() {
        Some(whole) => serde_json::Number::from(whole),
        None => serde_json::Number::from_f64(measure.value.to_f64())?,
    };
    Some(match measure.unit {
        Unit::Seconds => Bound::Seconds(number),
        _ => Bound::Steps(number),
    })
}

fn rounded(certainty: f64) -> f64 {
    (certainty * 100.0).round() / 100.0
}

/// Templates that are near, and what else a sentence of this form can mean.
fn alternatives(
    reading: &Reading,
    matched: &adapt::Match,
    writer: &Writer<'_>,
) -> Vec<Alternative> {
    let mut out: Vec<Alternative> = Vec::new();
    let main = writer.write(&reading.logic);
    let (a, b) = match situations(&reading.logic) {
        Some(found) => found,
        None => return out,
    };
    if let Some(other) = other_reading(&reading.logic, &a, &b) {
        let formula = with_likelihood(reading, &writer.write(&other));
        out.push(Alternative {
            template: None,
            formula,
            confidence: rounded((1.0 - reading.certainty).clamp(0.05, 0.45)),
            logic: other,
        });
    }
    let skip = usize::from(matched.first.is_some());
    for (index, score) in matched.ranked.iter().skip(skip).take(ALTERNATIVES - 1) {
        let logic = instance(*index, &a, &b, reading);
        out.push(Alternative {
            template: Some(TEMPLATES[*index].id),
            confidence: rounded(score * (1.0 - reading.certainty).max(0.1)),
            formula: with_likelihood(reading, &writer.write(&logic)),
            logic,
        });
    }
    // With one situation, what ties two says nothing.
    out.retain(|other| {
        let ties = matches!(&other.logic, Logic::Unary(Unary::Always, None, inner)
            if matches!(inner.as_ref(), Logic::Implies(x, y) if x == y));
        !ties && (other.template.is_some() || other.formula != main)
    });
    out.sort_by(|a, b| b.confidence.total_cmp(&a.confidence));
    out.truncate(ALTERNATIVES);
    out
}

/// The trigger and what is said of it.
fn situations(logic: &Logic) -> Option<(Logic, Logic)> {
    let atoms = logic.atoms();
    let first = Logic::Atom(*atoms.first()?);
    let second = atoms
        .get(1)
        .map_or_else(|| first.clone(), |second| Logic::Atom(*second));
    Some((first, second))
}

/// What the same words can also mean: an answer at once or later, each with its own permission or not.
fn other_reading(logic: &Logic, a: &Logic, b: &Logic) -> Option<Logic> {
    if a == b {
        return None;
    }
    let simple = [
        always(implies(a.clone(), b.clone())),
        always(implies(a.clone(), eventually(None, b.clone()))),
        always(implies(a.clone(), once(None, b.clone()))),
        always(implies(
            a.clone(),
            previously(crate::words::formula::since(not(a.clone()), b.clone())),
        )),
        never(and([a.clone(), eventually(None, b.clone())])),
        never(and([a.clone(), next(eventually(None, b.clone()))])),
    ];
    let at = simple.iter().position(|form| form == logic)?;
    let other = [1, 0, 3, 2, 5, 4][at];
    Some(simple[other].clone())
}

/// A template over these situations.
fn instance(index: usize, a: &Logic, b: &Logic, reading: &Reading) -> Logic {
    let template = &TEMPLATES[index];
    let b_signed = if template.bad {
        not(b.clone())
    } else {
        b.clone()
    };
    match template.shape {
        Shape::Implication | Shape::Other => always(implies(a.clone(), b_signed)),
        Shape::Never if template.id == "phi5" => never(a.clone()),
        Shape::Never => never(and([a.clone(), b.clone()])),
        Shape::Next => always(implies(a.clone(), next(b.clone()))),
        Shape::Previous => always(implies(a.clone(), previously(b.clone()))),
        Shape::Liveness => always(implies(a.clone(), eventually(None, b.clone()))),
        Shape::Sequence => never(and([a.clone(), eventually(None, b.clone())])),
        Shape::Bounded => {
            let measure = reading.bound.unwrap_or(Measure {
                unit: Unit::Steps,
                ..Measure::count(50)
            });
            let window = Window::deadline(measure.value, measure.unit);
            always(implies(a.clone(), eventually(Some(window), b.clone())))
        }
    }
}
