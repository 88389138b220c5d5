//! Selection of a few traces that together distinguish many mutants from the original.
//!
//! The smallest such set is a set cover; the greedy choice of the trace that distinguishes most of the remaining
//! mutants is within a factor `ln n` of it (V. Chvátal, "A greedy heuristic for the set-covering problem", 1979).
//! Traces are found by beam search over all automata, which are stepped together, and among the shortest differences.

use std::cmp::Reverse;

use rustc_hash::FxHashSet;

use guard_automata::{Atom, Dfa, Finality, Letter, StateId, Word};

/// The greatest number of steps of a trace.
const DEPTH: usize = 8;
/// The number of prefixes that are kept in the beam.
const BEAM: usize = 48;
/// With at most this many letters, all combinations are tried; with more, at most two true letters at a time.
const COMBINED: usize = 4;

/// The automata: the original, the mutants, and the possible steps.
pub(super) struct Choice<'a> {
    original: &'a Dfa,
    mutants: Vec<&'a Dfa>,
    alphabet: Vec<Letter>,
    /// Known traces that each distinguish a mutant.
    known: Vec<Word>,
    tried: FxHashSet<Word>,
}

/// A trace, with the states of the automata after it.
#[derive(Clone)]
struct Prefix {
    word: Word,
    /// The runs, that of the original first.
    runs: Vec<Run>,
    /// The number of true letters over all steps: traces with fewer are easier to read.
    shown: usize,
}

/// The state of an automaton, and the step at which a violation became final.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Run {
    state: StateId,
    violated_at: Option<usize>,
}

/// Returns the combinations of letters that are tried as steps.
pub(super) fn alphabet(atoms: &[Atom]) -> Vec<Letter> {
    let mut sets: Vec<Vec<Atom>> = vec![Vec::new()];
    if atoms.len() <= COMBINED {
        for atom in atoms {
            let with: Vec<Vec<Atom>> = sets
                .iter()
                .map(|set| [set.as_slice(), &[*atom]].concat())
                .collect();
            sets.extend(with);
        }
    } else {
        for (idx, atom) in atoms.iter().enumerate() {
            sets.push(vec![*atom]);
            sets.extend(atoms.iter().skip(idx + 1).map(|other| vec![*atom, *other]));
        }
    }
    sets.sort_by_key(Vec::len);
    let letter = |set: Vec<Atom>| {
        let values = atoms.iter().map(|atom| (*atom, set.contains(atom)));
        values.collect()
    };
    sets.into_iter().map(letter).collect()
}

impl<'a> Choice<'a> {
    pub(super) fn new(
        original: &'a Dfa,
        mutants: Vec<&'a Dfa>,
        alphabet: Vec<Letter>,
        known: Vec<Word>,
    ) -> Choice<'a> {
        Choice {
            original,
            mutants,
            alphabet,
            known,
            tried: FxHashSet::default(),
        }
    }

    /// Returns the trace that distinguishes most of the mutants `left`, short traces first, and never the same trace twice.
    /// Returns `None` if no trace distinguishes any.
    pub(super) fn next(&mut self, left: &[usize]) -> Option<Word> {
        let mut best: Option<(Reverse<usize>, usize, usize, Word)> = None;
        let mut offer = |prefix: &Prefix, kills: usize| {
            let key = (Reverse(kills), prefix.word.len(), prefix.shown);
            let better = best
                .as_ref()
                .is_none_or(|(kills, len, shown, _)| key < (*kills, *len, *shown));
            if kills > 0 && better && !self.tried.contains(&prefix.word) {
                best = Some((key.0, key.1, key.2, prefix.word.clone()));
            }
        };
        for idx in left {
            let Some(word) = self.known.get(*idx) else {
                continue;
            };
            let mut prefix = self.start(left);
            for letter in word {
                prefix = self.step(&prefix, letter, left);
            }
            offer(&prefix, prefix.kills(self, left));
        }
        let mut beam = vec![self.start(left)];
        for _ in 0..DEPTH {
            let mut seen: FxHashSet<Vec<Run>> = FxHashSet::default();
            let mut next: Vec<(usize, Prefix)> = Vec::new();
            for prefix in &beam {
                for letter in &self.alphabet {
                    let longer = self.step(prefix, letter, left);
                    if seen.insert(longer.runs.clone()) {
                        let kills = longer.kills(self, left);
                        offer(&longer, kills);
                        next.push((kills, longer));
                    }
                }
            }
            // A stable sort keeps the order in which equal prefixes were tried.
            next.sort_by_key(|(kills, prefix)| (Reverse(*kills), prefix.shown));
            beam = next
                .into_iter()
                .take(BEAM)
                .map(|(_, prefix)| prefix)
                .collect();
        }
        let (.., word) = best?;
        self.tried.insert(word.clone());
        Some(word)
    }

    fn automata(&self, left: &[usize]) -> impl Iterator<Item = &'a Dfa> {
        let mutants = left
            .iter()
            .filter_map(|idx| self.mutants.get(*idx).copied());
        std::iter::once(self.original).chain(mutants)
    }

    fn start(&self, left: &[usize]) -> Prefix {
        let run = |dfa: &Dfa| Run {
            state: dfa.initial(),
            violated_at: None,
        };
        Prefix {
            word: Word::new(),
            runs: self.automata(left).map(run).collect(),
            shown: 0,
        }
    }

    fn step(&self, prefix: &Prefix, letter: &Letter, left: &[usize]) -> Prefix {
        let at = prefix.word.len();
        let holds = |atom: Atom| letter.contains(&(atom, true));
        let runs = self.automata(left).zip(&prefix.runs).map(|(dfa, run)| {
            let state = dfa.step(run.state, holds);
            let violated = dfa.finality(state) == Finality::FinalFalse;
            Run {
                state,
                violated_at: run.violated_at.or(violated.then_some(at)),
            }
        });
        let mut word = prefix.word.clone();
        word.push(letter.clone());
        Prefix {
            runs: runs.collect(),
            shown: prefix.shown + letter.iter().filter(|(_, holds)| *holds).count(),
            word,
        }
    }
}

impl Prefix {
    /// Returns the number of mutants that differ from the original on the trace that ends here: in the verdict, or in the
    /// step at which a violation became final.
    fn kills(&self, choice: &Choice<'_>, left: &[usize]) -> usize {
        let last = self.word.len().saturating_sub(1);
        let mut outcomes = choice
            .automata(left)
            .zip(&self.runs)
            .map(|(dfa, run)| (!dfa.accepting(run.state)).then(|| run.violated_at.unwrap_or(last)));
        let original = outcomes.next().flatten();
        outcomes.filter(|outcome| *outcome != original).count()
    }
}
