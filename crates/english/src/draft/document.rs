//! All lines of a text together: what is said twice, what contradicts what.

use super::example::{self, Trace};
use super::input::lines;
use super::result::{Draft, Status};
use crate::controlled::Vocabulary;
use crate::words::Logic;

/// The drafts of a text.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// One per line that is not blank, in order.
    pub drafts: Vec<Draft>,
    duplicates: Vec<Option<usize>>,
    conflicts: Vec<(usize, usize, Trace)>,
    /// Names of predicates over the whole document, with the words they stand for.
    pub(super) predicates: Vec<Predicate>,
    /// The predicates of each draft's situations.
    pub(super) places: Vec<Vec<usize>>,
}

/// A predicate of a drafted spec.
#[derive(Clone, Debug)]
pub(super) struct Predicate {
    pub(super) name: String,
    pub(super) phrase: String,
    /// The value that ties it to others, if something does.
    pub(super) key: Option<String>,
}

/// The proposals that count as chosen without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accept {
    /// None.
    #[default]
    None,
    /// Those that are the only ones of their sentence.
    Only,
    /// The first of each sentence.
    First,
}

/// Pairs of requirements that are compared at most; beyond that conflicts are looked for among neighbours only.
const PAIRS: usize = 20_000;

impl Document {
    /// Drafts every line of a text.
    #[must_use]
    pub fn new(text: &str, accept: Accept) -> Document {
        let mut document = Document::default();
        for line in lines(text) {
            let mut made = Draft::new(&line, &Vocabulary::default());
            match (line.reading, accept) {
                (Some(number), _) => {
                    made.take(number);
                }
                (None, Accept::First) => {
                    made.take(1);
                }
                (None, Accept::Only) if made.proposals.len() == 1 => {
                    made.take(1);
                }
                (None, _) => {}
            }
            document.push(made);
        }
        document.relate();
        document
    }

    /// Returns the number of drafts with a status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        self.drafts
            .iter()
            .filter(|draft| draft.status == status)
            .count()
    }

    /// One draft more; its situations are those of earlier ones that are spoken of in the same words.
    fn push(&mut self, made: Draft) {
        let mut places = Vec::new();
        if let Some(reading) = &made.reading {
            let key = reading.controlled.key.clone();
            for situation in &reading.controlled.situations {
                let same = |known: &Predicate| {
                    known.phrase.eq_ignore_ascii_case(&situation.phrase) && known.key == key
                };
                let known = self.predicates.iter().position(same);
                let place = known.unwrap_or_else(|| {
                    let name = self.fresh(&situation.name);
                    self.predicates.push(Predicate {
                        name,
                        phrase: situation.phrase.clone(),
                        key: key.clone(),
                    });
                    self.predicates.len() - 1
                });
                places.push(place);
            }
        }
        self.drafts.push(made);
        self.places.push(places);
    }

    fn fresh(&self, name: &str) -> String {
        let taken = |name: &str| self.predicates.iter().any(|known| known.name == name);
        if !taken(name) {
            return name.to_owned();
        }
        let mut count = 2;
        while taken(&format!("{name}_{count}")) {
            count += 1;
        }
        format!("{name}_{count}")
    }

    /// The formula of a draft over the predicates of the document.
    pub(super) fn logic(&self, index: usize) -> Option<Logic> {
        let logic = &self.drafts[index].reading.as_ref()?.controlled.logic;
        Some(logic.renamed(&|atom| self.places[index].get(atom).copied().unwrap_or(0)))
    }

    /// Finds what is said twice and what contradicts.
    fn relate(&mut self) {
        let logics: Vec<Option<Logic>> = (0..self.drafts.len())
            .map(|index| self.logic(index))
            .collect();
        let names: Vec<String> = self
            .predicates
            .iter()
            .map(|known| known.name.clone())
            .collect();
        self.duplicates = vec![None; self.drafts.len()];
        let mut by_predicate: Vec<Vec<usize>> = vec![Vec::new(); self.predicates.len()];
        let mut budget = PAIRS;
        for index in 0..self.drafts.len() {
            let Some(logic) = &logics[index] else {
                continue;
            };
            let mut near: Vec<usize> = self.places[index]
                .iter()
                .flat_map(|place| by_predicate[*place].iter().copied())
                .collect();
            near.sort_unstable();
            near.dedup();
            for other in near {
                if budget == 0 {
                    break;
                }
                budget -= 1;
                let Some(earlier) = &logics[other] else {
                    continue;
                };
                let chance = |index: usize| {
                    self.drafts[index]
                        .reading
                        .as_ref()
                        .and_then(|reading| reading.controlled.chance)
                };
                if chance(index).is_some() || chance(other).is_some() {
                    if chance(index) == chance(other) && earlier == logic {
                        self.duplicates[index] = self.duplicates[index].or(Some(other));
                    }
                    continue;
                }
                let same = earlier == logic || example::equivalent(earlier, logic) == Some(true);
                if same {
                    self.duplicates[index] = self.duplicates[index].or(Some(other));
                    continue;
                }
                let triggers: Vec<usize> = [earlier, logic]
                    .iter()
                    .filter_map(|logic| triggering(logic))
                    .collect();
                if let Some(trace) = example::conflict(earlier, logic, &triggers, &names) {
                    self.conflicts.push((other, index, trace));
                }
            }
            for place in &self.places[index] {
                by_predicate[*place].push(index);
            }
        }
    }

    /// Returns the earlier requirement with the same meaning.
    #[must_use]
    pub fn duplicate_of(&self, index: usize) -> Option<&Draft> {
        self.duplicates
            .get(index)
            .copied()
            .flatten()
            .and_then(|first| self.drafts.get(first))
    }

    /// Returns the requirements that contradict this one, with a trace that satisfies the earlier of the two and so violates
    /// the later.
    pub fn conflicts_of(&self, index: usize) -> impl Iterator<Item = (&Draft, &Trace)> {
        self.conflicts.iter().filter_map(move |(a, b, trace)| {
            let other = match index {
                i if i == *a => *b,
                i if i == *b => *a,
                _ => return None,
            };
            self.drafts.get(other).map(|draft| (draft, trace))
        })
    }

    /// Returns all pairs that contradict each other, the earlier first.
    pub fn conflicts(&self) -> impl Iterator<Item = (&Draft, &Draft, &Trace)> {
        self.conflicts
            .iter()
            .filter_map(|(a, b, trace)| Some((self.drafts.get(*a)?, self.drafts.get(*b)?, trace)))
    }
}

/// Returns the atom that triggers a formula.
fn triggering(logic: &Logic) -> Option<usize> {
    match logic {
        Logic::Unary(crate::words::Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(a, _) => a.atoms().first().copied(),
            _ => None,
        },
        _ => None,
    }
}
