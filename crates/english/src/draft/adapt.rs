//! A reading that is an instance of a template is given the template's formula.
//!
//! Wording and template may cut the same thing differently: *read an unset variable* is one situation where grammar sees
//! an act and what it lacks, and *no personal data in memory* is two where grammar sees one. What is asked for stays the
//! same; what changes is which words make an atom, and on which side of it a negation stands.

use super::condition::Reader;
use super::lexicon::Tag;
use super::reading::{Modality, Reading};
use super::template::{Shape, TEMPLATES, fits, is_second, scores, shape};
use super::token::Token;
use crate::words::formula::{Logic, Unary, always, and, eventually, implies, never, not};

/// How surely a template of one concept must be recognised before it counts.
const ENOUGH: f64 = 0.73;
/// How surely one of several concepts.
const ENOUGH_OF_SEVERAL: f64 = 0.6;

/// The template that a reading is an instance of, and all others by how near they are.
#[derive(Debug)]
pub(super) struct Match {
    /// Its place among the templates.
    pub(super) first: Option<usize>,
    /// Places of templates and how well their concepts are met, best first.
    pub(super) ranked: Vec<(usize, f64)>,
}

/// Finds the template of a reading.
pub(super) fn find(tokens: &[Token], reading: &Reading) -> Match {
    let form = shape(reading);
    let lacking = tokens.iter().any(|token| {
        token.low.starts_with("un")
            || matches!(
                token.tag(),
                Some(Tag::Not | Tag::Never | Tag::Nobody | Tag::Before | Tag::Until | Tag::Without)
            )
    });
    let mut ranked: Vec<(usize, f64)> = scores(tokens)
        .into_iter()
        .enumerate()
        .map(|(index, (score, all))| {
            let template = &TEMPLATES[index];
            // What says in one that something lacks needs a word that says so.
            let told = template.shape != Shape::Never || template.concepts() < 2 || lacking;
            let fitting = told && fits(template, form, reading);
            let score = if all { score } else { 0.5 * score };
            (index, if fitting { score } else { 0.5 * score })
        })
        .collect();
    ranked.sort_by(|(a, left), (b, right)| right.total_cmp(left).then(a.cmp(b)));
    let enough = |index: usize| {
        if TEMPLATES[index].concepts() > 1 {
            ENOUGH_OF_SEVERAL
        } else {
            ENOUGH
        }
    };
    let first = ranked
        .iter()
        .find(|(index, score)| *score >= enough(*index))
        .map(|(index, _)| *index);
    // The one that counts stands first.
    if let Some(first) = first
        && let Some(at) = ranked.iter().position(|(index, _)| *index == first)
    {
        let found = ranked.remove(at);
        ranked.insert(0, found);
    }
    Match { first, ranked }
}

/// Gives the reading the template's formula, where it differs in how words are cut.
pub(super) fn adapt(reader: &mut Reader, tokens: &[Token], reading: &mut Reading, index: usize) {
    let template = &TEMPLATES[index];
    match template.shape {
        Shape::Sequence => {
            // `once a, no b`: the template lets both be one step.
            if let Some((a, b)) = sequence(&reading.logic) {
                reading.logic = never(and([a, eventually(None, b)]));
            }
        }
        Shape::Never if template.id == "phi5" => {
            if let Some((a, b)) = scene(&reading.logic) {
                let whole = reader.merged(&a, &b);
                reading.logic = never(whole);
            }
            reading.modality = Modality::Forbid;
        }
        Shape::Never | Shape::Implication => {
            if template.shape == Shape::Implication
                && shape(reading) == Shape::Liveness
                && let Logic::Unary(Unary::Always, None, inner) = &reading.logic
                && let Logic::Implies(a, b) = inner.as_ref()
                && let Logic::Unary(Unary::Eventually, None, b) = b.as_ref()
            {
                reading.logic = always(implies((**a).clone(), (**b).clone()));
                reading.modality = template.modality;
            }
            if let Logic::Not(inner) = &reading.logic
                && let Logic::Unary(Unary::Eventually, None, one) = inner.as_ref()
                && matches!(one.as_ref(), Logic::Atom(_) | Logic::Not(_))
                && let Some((a, b)) = reader.taken_apart(tokens, index)
            {
                let second = if template.bad { b } else { not(b) };
                reading.logic = never(and([a, second]));
            }
            reader.right_polarity(&mut reading.logic, template.bad);
            if template.modality != Modality::Forbid
                && reading.modality == Modality::Forbid
                && template.id != "phi1"
            {
                reading.modality = template.modality;
            }
            if template.modality == Modality::Forbid && reading.modality == Modality::Allowlist {
                reading.modality = Modality::Invariant;
            }
        }
        _ => {}
    }
    reading.certainty = reading.certainty.max(0.9);
}

/// The two situations of `!F (a & F b)` and its like.
fn sequence(logic: &Logic) -> Option<(Logic, Logic)> {
    let (a, later) = scene(logic)?;
    match later {
        Logic::Unary(Unary::Next, None, inner) => match *inner {
            Logic::Unary(Unary::Eventually, None, b) => Some((a, *b)),
            _ => None,
        },
        _ => None,
    }
}

/// The two parts of `!F (a & b)`.
fn scene(logic: &Logic) -> Option<(Logic, Logic)> {
    let Logic::Not(inner) = logic else {
        return None;
    };
    let Logic::Unary(Unary::Eventually, None, scene) = inner.as_ref() else {
        return None;
    };
    match scene.as_ref() {
        Logic::And(parts) if parts.len() == 2 => Some((parts[0].clone(), parts[1].clone())),
        _ => None,
    }
}

impl Reader {
    /// One situation in place of two.
    fn merged(&mut self, a: &Logic, b: &Logic) -> Logic {
        let negated = matches!(b, Logic::Not(_));
        match (a.atoms().first(), b.atoms().first()) {
            (Some(a), Some(b)) => Logic::Atom(self.atoms.merge(*a, *b, negated)),
            _ => a.clone(),
        }
    }

    /// Two situations in place of one: what belongs to the concept of the second, and the rest.
    fn taken_apart(&mut self, tokens: &[Token], template: usize) -> Option<(Logic, Logic)> {
        let carries: Vec<&Token> = tokens
            .iter()
            .filter(|token| super::atom::carries(token))
            .collect();
        let (second, first): (Vec<&Token>, Vec<&Token>) = carries
            .into_iter()
            .partition(|token| is_second(template, token));
        let owned = |tokens: Vec<&Token>| tokens.into_iter().cloned().collect::<Vec<Token>>();
        let (first, second) = (owned(first), owned(second));
        let a = self.atom(&first)?;
        let b = self.atom(&second)?;
        Some((a, b))
    }

    /// The second situation of a template is one that must be, or one that must not be; a negation on the wrong side of
    /// it becomes part of it.
    fn right_polarity(&mut self, logic: &mut Logic, bad: bool) {
        match logic {
            Logic::Unary(Unary::Always, None, inner) => {
                if let Logic::Implies(_, b) = inner.as_mut() {
                    match (b.as_mut(), bad) {
                        (Logic::Not(atom), false) => {
                            if let Logic::Atom(index) = **atom {
                                self.atoms.negate(index);
                                **b = Logic::Atom(index);
                            }
                        }
                        (Logic::Atom(index), true) => {
                            let index = *index;
                            self.atoms.negate(index);
                            **b = not(Logic::Atom(index));
                        }
                        _ => {}
                    }
                }
            }
            Logic::Not(inner) => {
                if let Logic::Unary(Unary::Eventually, None, scene) = inner.as_mut()
                    && let Logic::And(parts) = scene.as_mut()
                    && parts.len() == 2
                {
                    match (&parts[1], bad) {
                        (Logic::Atom(index), false) => {
                            let index = *index;
                            self.atoms.negate(index);
                            parts[1] = not(Logic::Atom(index));
                        }
                        (Logic::Not(atom), true) => {
                            if let Logic::Atom(index) = **atom {
                                self.atoms.negate(index);
                                parts[1] = Logic::Atom(index);
                            }
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
    }
}
