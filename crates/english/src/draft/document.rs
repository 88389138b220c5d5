//! The drafts of a text together: duplicates and conflicts.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::example::{self, Trace};
use super::ground::{self, Grounding};
use super::input::{Line, lines};
use super::result::{Draft, Status};
use crate::controlled::{Vocabulary, fresh};
use crate::language_model::{Effort, LanguageModel, consult};
use crate::words::{Logic, is_listed};

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
    /// The tools that predicates are about, if they are known.
    pub(super) grounding: Option<Grounding>,
    /// Remarks on predicates by name: how often they are true on recorded traces.
    observed: BTreeMap<String, String>,
}

/// A predicate of a drafted spec.
#[derive(Clone, Debug)]
pub(super) struct Predicate {
    pub(super) name: String,
    pub(super) phrase: String,
    /// The name of the value that relates it to others, if the requirement has one.
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

/// Drafts every line of a text. A language model is asked about the lines that are free text.
///
/// # Limits
/// The questions about a line are bounded by the effort.
#[must_use]
pub fn drafts(
    text: &str,
    vocabulary: &Vocabulary,
    model: Option<(&dyn LanguageModel, Effort)>,
) -> Vec<Draft> {
    let lines = lines(text);
    let one = |line: &Line| {
        let mut made = Draft::new(line, vocabulary);
        let free = !matches!(made.status, Status::Formal | Status::Context);
        if let Some((model, effort)) = model
            && free
            && made.rewordings.is_empty()
        {
            consult(&mut made, line, vocabulary, model, effort);
        }
        if let Some(number) = line.reading {
            made.take(number);
        }
        made
    };
    let jobs = model.map_or(1, |(_, effort)| effort.jobs.clamp(1, lines.len().max(1)));
    // Each thread takes the next line; the order of the drafts is that of the lines.
    let next = AtomicUsize::new(0);
    let work = || -> Vec<(usize, Draft)> {
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let taken = numbers.map_while(|at| Some((at, one(lines.get(at)?))));
        taken.collect()
    };
    let mut made = std::thread::scope(|scope| {
        let others: Vec<_> = (1..jobs).map(|_| scope.spawn(work)).collect();
        let mut made = work();
        for other in others {
            made.extend(other.join().unwrap_or_else(|panic| resume_unwind(panic)));
        }
        made
    });
    made.sort_by_key(|(at, _)| *at);
    made.into_iter().map(|(_, draft)| draft).collect()
}

/// Pairs of requirements that are compared at most; beyond that conflicts are looked for among neighbours only.
const PAIRS: usize = 20_000;

impl Document {
    /// Drafts every line of a text without a language model.
    #[must_use]
    pub fn new(text: &str, accept: Accept) -> Document {
        Document::of(drafts(text, &Vocabulary::default(), None), accept, None)
    }

    /// Collects drafts, and relates those that are formal. With a grounding, predicates get conditions on the calls of tools.
    #[must_use]
    pub fn of(drafts: Vec<Draft>, accept: Accept, grounding: Option<Grounding>) -> Document {
        let mut document = Document {
            grounding,
            ..Document::default()
        };
        for mut made in drafts {
            let accepted = match accept {
                Accept::None => false,
                Accept::Only => made.proposals.len() == 1 && made.notes.is_empty(),
                Accept::First => true,
            };
            if accepted && made.status != Status::Formal {
                made.take(1);
            }
            document.push(made);
        }
        document.relate();
        document
    }

    /// Returns the conditions of the predicates, by name, without the comparison with a key.
    #[must_use]
    pub fn conditions(&self) -> Vec<(String, String)> {
        let Some(grounding) = &self.grounding else {
            return Vec::new();
        };
        let condition =
            |known: &Predicate| (known.name.clone(), grounding.body(&known.phrase, None));
        self.predicates.iter().map(condition).collect()
    }

    /// Returns the declarations that the conditions need.
    #[must_use]
    pub fn preamble(&self) -> String {
        let mut conditions = self.conditions().into_iter();
        let needs_consent = conditions.any(|(_, body)| body.contains(ground::USER_TEXT));
        let consent = if needs_consent { ground::CONSENT } else { "" };
        format!("use std.agent\n{consent}")
    }

    /// Adds remarks to predicates, by name: how often they are true on recorded traces.
    pub fn observe(&mut self, remarks: BTreeMap<String, String>) {
        self.observed = remarks;
    }

    /// Returns the remarks on predicates with their names, in the order of the predicates.
    pub fn observed(&self) -> impl Iterator<Item = (&str, &str)> {
        self.predicates.iter().filter_map(|known| {
            let remark = self.observed.get(&known.name)?;
            Some((known.name.as_str(), remark.as_str()))
        })
    }

    /// Returns the number of drafts with a status.
    #[must_use]
    pub fn count(&self, status: Status) -> usize {
        let drafts = self.drafts.iter();
        drafts.filter(|draft| draft.status == status).count()
    }

    /// Adds a draft. Situations in the same words as earlier ones share their predicates.
    fn push(&mut self, made: Draft) {
        let mut places = Vec::new();
        for (situation, key) in made.reading.iter().flat_map(|reading| {
            let situations = reading.controlled.situations.iter();
            situations.map(|situation| (situation, &reading.controlled.key))
        }) {
            // A predicate of the vocabulary is identified by its name.
            let phrase = if situation.known {
                &situation.name
            } else {
                &situation.phrase
            };
            let mut predicates = self.predicates.iter();
            let known = predicates
                .position(|known| known.phrase.eq_ignore_ascii_case(phrase) && known.key == *key);
            places.push(known.unwrap_or(self.predicates.len()));
            if known.is_none() {
                self.predicates.push(Predicate {
                    name: self.fresh(&situation.name),
                    phrase: phrase.clone(),
                    key: key.clone(),
                });
            }
        }
        self.drafts.push(made);
        self.places.push(places);
    }

    /// A name of no other predicate, and of no field of the event: those of a drafted event, and the other names of a spec with tools.
    fn fresh(&self, name: &str) -> String {
        fresh(name, &|name| {
            self.predicates.iter().any(|known| known.name == name)
                || is_listed("fields", name)
                || self.grounding.is_some() && is_listed("agent fields", name)
        })
    }

    /// The names of the predicates.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.predicates.iter().map(|known| known.name.clone());
        names.collect()
    }

    /// The formula of a draft over the predicates of the document.
    pub(super) fn logic(&self, index: usize) -> Option<Logic> {
        let logic = &self.drafts[index].reading.as_ref()?.controlled.logic;
        Some(logic.renamed(&|atom| self.places[index][atom]))
    }

    /// Finds duplicates and conflicts.
    fn relate(&mut self) {
        let logics: Vec<Option<Logic>> = (0..self.drafts.len()).map(|at| self.logic(at)).collect();
        let names = self.names();
        self.duplicates = vec![None; self.drafts.len()];
        let mut by_predicate: Vec<Vec<usize>> = vec![Vec::new(); self.predicates.len()];
        let mut budget = PAIRS;
        for (index, logic) in logics.iter().enumerate() {
            let Some(logic) = logic else { continue };
            let places = &self.places[index];
            let near = places.iter().flat_map(|place| &by_predicate[*place]);
            let near: BTreeSet<usize> = near.copied().collect();
            for other in near.into_iter().take(budget) {
                budget -= 1;
                let Some(earlier) = &logics[other] else {
                    continue;
                };
                let chances = [index, other].map(|at| self.drafts[at].chance());
                let plain = chances == [None; 2];
                let same =
                    earlier == logic || plain && example::equivalent(earlier, logic) == Some(true);
                if same && chances[0] == chances[1] {
                    self.duplicates[index].get_or_insert(other);
                } else if plain {
                    let responses = [earlier, logic].into_iter().filter_map(Logic::response);
                    let triggers = responses.filter_map(|(a, _)| a.atoms().first().copied());
                    let triggers: Vec<usize> = triggers.collect();
                    let trace = example::conflict(earlier, logic, &triggers, &names);
                    self.conflicts
                        .extend(trace.map(|trace| (other, index, trace)));
                }
            }
            for place in places {
                by_predicate[*place].push(index);
            }
        }
    }

    /// Returns the earlier requirement with the same meaning.
    #[must_use]
    pub fn duplicate_of(&self, index: usize) -> Option<&Draft> {
        let first = *self.duplicates.get(index)?;
        Some(&self.drafts[first?])
    }

    /// Returns the requirements that contradict this one, with a trace that satisfies the earlier of the two and so violates
    /// the later.
    pub fn conflicts_of(&self, index: usize) -> impl Iterator<Item = (&Draft, &Trace)> {
        let own = self
            .conflicts
            .iter()
            .filter(move |(a, b, _)| [*a, *b].contains(&index));
        own.map(move |(a, b, trace)| (&self.drafts[if *a == index { *b } else { *a }], trace))
    }

    /// Returns all pairs that contradict each other, the earlier first.
    pub fn conflicts(&self) -> impl Iterator<Item = (&Draft, &Draft, &Trace)> {
        let pairs = self.conflicts.iter();
        pairs.map(|(a, b, trace)| (&self.drafts[*a], &self.drafts[*b], trace))
    }
}
