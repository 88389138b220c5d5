//! A shortest trace of a formula, part by part.
//!
//! The automaton of `F a1 & ... & F an` has `2^n` states, and two specs that differ in one of the parts have a short trace that
//! tells them apart. Therefore a formula whose automaton is large is taken apart:
//!
//! * Conjuncts without common atoms are independent, except that they have to hold of traces of one length. For each group of
//!   them the reachable states after 1, 2, ... steps are followed; at the first length at which every group accepts, their words
//!   are laid over one another.
//! * A disjunction has a trace if one of its parts has.
//! * A group of conjuncts has no trace if some of them have none. Conjuncts are added one at a time, those that the trace found so
//!   far violates, until there is no trace or all of them hold.

use std::rc::Rc;

use fixedbitset::FixedBitSet;
use rustc_hash::FxHashMap;

use super::compile::compile_counted;
use super::dfa::Dfa;
use super::eval::eval;
use super::formula::{Atom, FormulaId, Formulas, Letter, Node, Word};
use super::limits::{CompileError, LimitError, Limits, Resource};
use super::product::Traces;
use super::states::StateId;

/// The work spent on an automaton before its formula is taken apart.
const FIRST_TRY: u64 = 400_000;

/// The work spent on the automaton of the whole, as a multiple of that.
const WHOLE: u64 = 8;

/// The work that each automaton costs beside its construction.
const EACH: u64 = 200;

/// Returns a shortest trace of one position or more that satisfies a formula, `None` if there is none, and the work that was done.
///
/// # Errors
/// As [`compile`](super::compile()), if neither the automaton of the formula nor those of its parts are within the limits.
///
/// ```
/// use guard_automata::{Atom, Formulas, Interval, Limits, shortest_trace};
/// let mut formulas = Formulas::new();
/// let each: Vec<_> = (0..40)
///     .map(|number| {
///         let atom = formulas.atom(Atom(number));
///         formulas.eventually(Interval::ALL, atom)
///     })
///     .collect();
/// let all = formulas.all(each);
/// let (found, _) = shortest_trace(&mut formulas, all, &Limits::default());
/// assert_eq!(found?.map(|word| word.len()), Some(1));
/// # Ok::<(), guard_automata::CompileError>(())
/// ```
pub fn shortest_trace(
    formulas: &mut Formulas,
    formula: FormulaId,
    limits: &Limits,
) -> (Result<Option<Word>, CompileError>, u64) {
    if formulas.is_timed(formula) {
        return (Err(CompileError::Timed), 0);
    }
    let mut search = Search {
        formulas,
        limits,
        left: limits.work,
        first_try: FIRST_TRY,
        known: FxHashMap::default(),
        gap: None,
    };
    let found = search.shortest(formula);
    let work = limits.work.saturating_sub(search.left);
    (found.map_err(CompileError::from), work)
}

struct Search<'a> {
    formulas: &'a mut Formulas,
    limits: &'a Limits,
    left: u64,
    first_try: u64,
    /// The automata of groups, as far as they were within the limits of a first try.
    known: FxHashMap<FormulaId, Option<Rc<Automaton>>>,
    /// The limit that was reached in a part, which may therefore have other traces than those that were found.
    gap: Option<LimitError>,
}

/// An automaton with the successors of each state.
struct Automaton {
    dfa: Dfa,
    next: Vec<Vec<u32>>,
}

/// The traces of a formula, by the automata of its parts.
enum Parts {
    /// The automaton, and the states after each number of steps so far.
    One(Rc<Automaton>, Vec<FixedBitSet>),
    /// One trace, of which nothing else is known, and the number of steps so far, at most one more than it has.
    Word(Word, usize),
    /// The traces that satisfy all of these, which have no common atoms.
    All(Vec<Parts>),
    /// The traces that satisfy one of these.
    Any(Vec<Parts>),
}

impl Search<'_> {
    fn shortest(&mut self, formula: FormulaId) -> Result<Option<Word>, LimitError> {
        // What the whole needs is spent once, what a part needs for each part.
        if let Ok(automaton) = self.compiled(formula, WHOLE * self.first_try)? {
            return Ok(automaton.dfa.shortest_accepted(Traces::NonEmpty));
        }
        let conjuncts = self.conjuncts(formula, true);
        let order = self.order(&conjuncts);
        let number = |atom: Atom| {
            let place = order.iter().position(|other| *other == atom);
            place.map_or(atom, |place| Atom(place as u32))
        };
        let mut renamed = self.formulas.renamed(number);
        let mut search = Search {
            formulas: &mut renamed,
            limits: self.limits,
            left: self.left,
            first_try: self.first_try,
            known: FxHashMap::default(),
            gap: None,
        };
        let found = search.by_parts(&conjuncts);
        self.left = search.left;
        let mut found = found?;
        for letter in found.iter_mut().flatten() {
            for (atom, _) in letter.iter_mut() {
                *atom = order[atom.0 as usize];
            }
            letter.sort_unstable();
        }
        Ok(found)
    }

    /// Returns the atoms of these conjuncts in an order in which those that few conjuncts relate are neighbours: diagrams are
    /// small if atoms are near those on which their effect depends.
    fn order(&self, conjuncts: &[FormulaId]) -> Vec<Atom> {
        let mut related: Vec<Vec<Atom>> = conjuncts
            .iter()
            .map(|conjunct| self.formulas.atoms(*conjunct))
            .collect();
        related.sort_by_key(Vec::len);
        let mut order: Vec<Vec<Atom>> = Vec::new();
        for mut atoms in related {
            let mut joined = Vec::new();
            order.retain_mut(|others| {
                let is_apart = !others.iter().any(|atom| atoms.contains(atom));
                if !is_apart {
                    joined.append(others);
                }
                is_apart
            });
            atoms.retain(|atom| !joined.contains(atom));
            joined.append(&mut atoms);
            order.push(joined);
        }
        order.concat()
    }

    fn by_parts(&mut self, conjuncts: &[FormulaId]) -> Result<Option<Word>, LimitError> {
        let Some(mut parts) = self.solve(conjuncts, false)? else {
            return Ok(None);
        };
        // After a power of two steps the states are kept: when they come again, all lengths were seen.
        let (mut kept, mut length, mut power) = (Vec::new(), 0_u64, 1_u64);
        loop {
            let mut work = 1;
            parts.advance(&mut work);
            self.spend(work)?;
            length += 1;
            if parts.accepts() {
                return Ok(Some(parts.word()));
            }
            let mut states = Vec::new();
            parts.states(&mut states);
            if states == kept {
                return self.gap.take().map_or(Ok(None), Err);
            }
            if length == power {
                power *= 2;
                kept = states;
            }
        }
    }

    fn spend(&mut self, work: u64) -> Result<(), LimitError> {
        self.left = match self.left.checked_sub(work) {
            Some(left) => left,
            None => {
                self.left = 0;
                return Err(self.exceeded());
            }
        };
        Ok(())
    }

    fn exceeded(&self) -> LimitError {
        LimitError {
            resource: Resource::Work,
            limit: self.limits.work,
            demand: self.limits.work.saturating_add(1),
        }
    }

    /// Returns the formulas of which a formula, or its negation, is the conjunction.
    fn conjuncts(&mut self, formula: FormulaId, positive: bool) -> Vec<FormulaId> {
        let (mut found, mut stack) = (Vec::new(), vec![(formula, positive)]);
        while let Some((part, positive)) = stack.pop() {
            let one = match (self.formulas.node(part), positive) {
                (Node::Not(f), _) => {
                    stack.push((f, !positive));
                    continue;
                }
                (Node::And(f, g), true) | (Node::Or(f, g), false) => {
                    stack.extend([(g, positive), (f, positive)]);
                    continue;
                }
                (Node::Always(window, f), true) | (Node::Eventually(window, f), false) => {
                    let inner = self.conjuncts(f, positive);
                    for part in inner {
                        found.push(self.formulas.always(window, part));
                    }
                    continue;
                }
                (_, true) => part,
                (_, false) => self.formulas.not(part),
            };
            found.push(one);
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Returns the formulas of which a conjunct is the disjunction.
    fn disjuncts(&mut self, formula: FormulaId) -> Vec<FormulaId> {
        // `F (f | g)` is left as it is: its automaton is small.
        let is_junction = match self.formulas.node(formula) {
            Node::Or(..) => true,
            Node::Not(f) => matches!(self.formulas.node(f), Node::And(..)),
            _ => false,
        };
        if !is_junction {
            return vec![formula];
        }
        let parts = self.conjuncts(formula, false);
        parts.iter().map(|part| self.formulas.not(*part)).collect()
    }

    /// Returns the traces of a conjunction; `None` if there are none. All of them are needed if they are combined with `others`.
    fn solve(
        &mut self,
        conjuncts: &[FormulaId],
        others: bool,
    ) -> Result<Option<Parts>, LimitError> {
        let groups = self.groups(conjuncts);
        if groups.len() > 1 {
            let mut all = Vec::with_capacity(groups.len());
            for group in groups {
                let Some(parts) = self.solve(&group, true)? else {
                    return Ok(None);
                };
                all.push(parts);
            }
            return Ok(Some(Parts::All(all)));
        }
        let mut choices = Vec::new();
        for conjunct in conjuncts {
            let disjuncts = self.disjuncts(*conjunct);
            if disjuncts.len() > choices.len().max(1) {
                choices = disjuncts;
            }
        }
        if choices.is_empty() {
            return self.narrowed(conjuncts, others);
        }
        let whole = self.formulas.all(conjuncts.iter().copied());
        if let Some(automaton) = self.automaton(whole)? {
            return Ok(automaton.parts());
        }
        self.any_of(conjuncts, &choices, others)
    }

    /// Returns the traces of a conjunction, one of whose conjuncts is the disjunction of these.
    fn any_of(
        &mut self,
        conjuncts: &[FormulaId],
        choices: &[FormulaId],
        others: bool,
    ) -> Result<Option<Parts>, LimitError> {
        let rest: Vec<FormulaId> = conjuncts
            .iter()
            .copied()
            .filter(|conjunct| self.disjuncts(*conjunct) != choices)
            .collect();
        let (mut any, mut exceeded) = (Vec::new(), None);
        for choice in choices {
            let mut case = rest.clone();
            case.extend(self.conjuncts(*choice, true));
            case.sort_unstable();
            case.dedup();
            match self.solve(&case, others) {
                Ok(parts) => any.extend(parts),
                Err(error) => exceeded = Some(error),
            }
        }
        match exceeded {
            Some(error) if any.is_empty() => Err(error),
            Some(_) => {
                self.gap = exceeded;
                Ok(Some(Parts::Any(any)))
            }
            None => Ok((!any.is_empty()).then_some(Parts::Any(any))),
        }
    }

    /// Returns the automaton of a formula if it is within the limits of a first try.
    fn automaton(&mut self, formula: FormulaId) -> Result<Option<Rc<Automaton>>, LimitError> {
        if let Some(known) = self.known.get(&formula) {
            return Ok(known.clone());
        }
        let made = self.compiled(formula, self.first_try)?.ok().map(Rc::new);
        self.known.insert(formula, made.clone());
        Ok(made)
    }

    /// Returns the automaton of a formula, or the limit that it exceeds.
    fn compiled(
        &mut self,
        formula: FormulaId,
        most: u64,
    ) -> Result<Result<Automaton, LimitError>, LimitError> {
        let limits = Limits {
            work: most.min(self.left),
            ..self.limits.clone()
        };
        let (made, work) = compile_counted(self.formulas, formula, &limits);
        self.spend(work.saturating_add(EACH))?;
        Ok(match made {
            Ok(dfa) => Ok(Automaton::new(dfa)),
            Err(CompileError::Limit(error)) if error.resource != Resource::Work => Err(error),
            Err(_) => Err(self.exceeded()),
        })
    }

    /// Returns the conjuncts in groups without common atoms.
    fn groups(&self, conjuncts: &[FormulaId]) -> Vec<Vec<FormulaId>> {
        let mut groups: Vec<(Vec<Atom>, Vec<FormulaId>)> = Vec::new();
        for conjunct in conjuncts {
            let mut atoms = self.formulas.atoms(*conjunct);
            let mut members = vec![*conjunct];
            groups.retain_mut(|(others, of)| {
                let is_apart = !others.iter().any(|atom| atoms.contains(atom));
                if !is_apart {
                    atoms.append(others);
                    members.append(of);
                }
                is_apart
            });
            groups.push((atoms, members));
        }
        groups.into_iter().map(|(_, members)| members).collect()
    }

    /// Returns the traces of a conjunction, with automata of as few conjuncts as possible.
    fn narrowed(
        &mut self,
        conjuncts: &[FormulaId],
        others: bool,
    ) -> Result<Option<Parts>, LimitError> {
        let whole = self.formulas.all(conjuncts.iter().copied());
        let mut needed: Vec<FormulaId> = Vec::new();
        loop {
            let part = self.formulas.all(needed.iter().copied());
            let Some(automaton) = self.automaton(part)? else {
                let automaton = self.compiled(whole, u64::MAX)??;
                return Ok(Rc::new(automaton).parts());
            };
            let Some(word) = automaton.dfa.shortest_accepted(Traces::NonEmpty) else {
                return Ok(None);
            };
            let (word, violated) = self.completed(word, conjuncts)?;
            if let Some(conjunct) = violated {
                needed.push(conjunct);
                continue;
            }
            if others && let Some(automaton) = self.automaton(whole)? {
                return Ok(automaton.parts());
            }
            // It is a shortest one, but traces of other lengths may be needed.
            self.gap = Some(self.exceeded());
            return Ok(Some(Parts::Word(word, 0)));
        }
    }

    /// Returns a word with values for all atoms of these conjuncts, chosen such that few of these are violated, and one that is.
    fn completed(
        &mut self,
        word: Word,
        conjuncts: &[FormulaId],
    ) -> Result<(Word, Option<FormulaId>), LimitError> {
        let mut atoms: Vec<Atom> = Vec::new();
        for conjunct in conjuncts {
            atoms.extend(self.formulas.atoms(*conjunct));
        }
        atoms.sort_unstable();
        atoms.dedup();
        let mut ones = vec![false; atoms.len()];
        let mut work = 0;
        let mut holds = |search: &Self, conjunct: FormulaId, ones: &[bool]| {
            let letter = |step: usize, atom: Atom| {
                let known = word[step].iter().find(|(known, _)| *known == atom);
                let other = || atoms.binary_search(&atom).is_ok_and(|place| ones[place]);
                known.map_or_else(other, |(_, holds)| *holds)
            };
            work += 20 * word.len() as u64;
            let values = eval(search.formulas, conjunct, word.len(), letter);
            values.first().copied().unwrap_or(false)
        };
        let mut open: Vec<bool> = conjuncts
            .iter()
            .map(|conjunct| !holds(self, *conjunct, &ones))
            .collect();
        for (place, atom) in atoms.iter().enumerate() {
            let about = |index: &usize| self.formulas.atoms(conjuncts[*index]).contains(atom);
            let affected: Vec<usize> = (0..conjuncts.len()).filter(about).collect();
            if !affected.iter().any(|index| open[*index]) {
                continue;
            }
            ones[place] = true;
            let then: Vec<bool> = affected
                .iter()
                .map(|index| !holds(self, conjuncts[*index], &ones))
                .collect();
            let n_open = affected.iter().filter(|index| open[**index]).count();
            if then.iter().filter(|open| **open).count() < n_open {
                for (index, is_open) in affected.iter().zip(then) {
                    open[*index] = is_open;
                }
            } else {
                ones[place] = false;
            }
        }
        self.spend(work)?;
        let full = |letter: &Letter| -> Letter {
            let value = |(atom, one): (&Atom, &bool)| {
                let known = letter.iter().find(|(known, _)| known == atom);
                (*atom, known.map_or(*one, |(_, holds)| *holds))
            };
            atoms.iter().zip(&ones).map(value).collect()
        };
        let violated = open.iter().position(|open| *open);
        let word = word.iter().map(full).collect();
        Ok((word, violated.map(|place| conjuncts[place])))
    }
}

impl Automaton {
    fn new(dfa: Dfa) -> Automaton {
        let number = |states: Vec<StateId>| states.into_iter().map(|state| state.0).collect();
        let next = dfa.states().map(|state| number(dfa.successors(state)));
        Automaton {
            next: next.collect(),
            dfa,
        }
    }

    /// Returns its traces; `None` if there are none.
    fn parts(self: Rc<Self>) -> Option<Parts> {
        self.dfa.shortest_accepted(Traces::NonEmpty)?;
        let mut initial = FixedBitSet::with_capacity(self.next.len());
        initial.insert(0);
        Some(Parts::One(self, vec![initial]))
    }

    fn accepting(&self, states: &FixedBitSet) -> Option<usize> {
        let accepts = |state: &usize| self.dfa.accepting(StateId(*state as u32));
        states.ones().find(accepts)
    }

    /// Returns a word that leads from the first of these sets of states through the others to an accepting state.
    fn word(&self, layers: &[FixedBitSet]) -> Word {
        let mut word = Word::new();
        let Some((last, before)) = layers.split_last() else {
            return word;
        };
        let mut target = self.accepting(last).unwrap_or(0);
        for layer in before.iter().rev() {
            let leads = |source: &usize| self.next[*source].contains(&(target as u32));
            let source = layer.ones().find(leads).unwrap_or(0);
            let edges = self.dfa.edges(StateId(source as u32));
            let edge = edges.into_iter().find(|(_, to)| to.0 == target as u32);
            word.push(edge.map(|(letter, _)| letter).unwrap_or_default());
            target = source;
        }
        word.reverse();
        word
    }
}

impl Parts {
    /// Goes on by one step.
    fn advance(&mut self, work: &mut u64) {
        match self {
            Parts::One(automaton, layers) => {
                let mut next = FixedBitSet::with_capacity(automaton.next.len());
                let before = layers.last().into_iter().flat_map(FixedBitSet::ones);
                for state in before {
                    let after = &automaton.next[state];
                    *work += after.len() as u64;
                    next.extend(after.iter().map(|state| *state as usize));
                }
                layers.push(next);
            }
            Parts::Word(word, length) => *length = (*length + 1).min(word.len() + 1),
            Parts::All(parts) | Parts::Any(parts) => {
                parts.iter_mut().for_each(|part| part.advance(work));
            }
        }
    }

    /// Whether there is a trace of this length.
    fn accepts(&self) -> bool {
        match self {
            Parts::One(automaton, layers) => layers
                .last()
                .is_some_and(|states| automaton.accepting(states).is_some()),
            Parts::Word(word, length) => *length == word.len(),
            Parts::All(parts) => parts.iter().all(Parts::accepts),
            Parts::Any(parts) => parts.iter().any(Parts::accepts),
        }
    }

    /// Adds what decides which lengths follow.
    fn states(&self, into: &mut Vec<FixedBitSet>) {
        match self {
            Parts::One(_, layers) => into.extend(layers.last().cloned()),
            Parts::Word(word, length) => {
                let mut place = FixedBitSet::with_capacity(word.len() + 2);
                place.insert(*length);
                into.push(place);
            }
            Parts::All(parts) | Parts::Any(parts) => {
                parts.iter().for_each(|part| part.states(into));
            }
        }
    }

    /// Returns a trace of this length, which there is.
    fn word(&self) -> Word {
        match self {
            Parts::One(automaton, layers) => automaton.word(layers),
            Parts::Word(word, _) => word.clone(),
            Parts::Any(parts) => {
                let mut accepting = parts.iter().filter(|part| part.accepts());
                accepting.next().map(Parts::word).unwrap_or_default()
            }
            Parts::All(parts) => {
                let mut whole = Word::new();
                for part in parts {
                    let word = part.word();
                    whole.resize(word.len(), Letter::new());
                    for (letter, more) in whole.iter_mut().zip(word) {
                        letter.extend(more);
                    }
                }
                whole.iter_mut().for_each(|letter| letter.sort_unstable());
                whole
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::formula::Interval;
    use super::*;
    use crate::compile;

    /// Numbers that look random.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005);
            self.0 = self.0.wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % n
        }

        fn formula(&mut self, formulas: &mut Formulas, depth: u32) -> FormulaId {
            if depth == 0 {
                let atom = Atom(self.below(4) as u32);
                return formulas.atom(atom);
            }
            let kind = self.below(10);
            let f = self.formula(formulas, depth - 1);
            match kind {
                0 => formulas.not(f),
                1 => formulas.next(f),
                2 => formulas.weak_next(f),
                3 => formulas.eventually(Interval::ALL, f),
                4 => formulas.always(Interval::ALL, f),
                5 => formulas.once(Interval::ALL, f),
                6 => formulas.eventually(Interval::steps(1, 3), f),
                kind => {
                    let g = self.formula(formulas, depth - 1);
                    match kind {
                        7 => formulas.and(f, g),
                        8 => formulas.or(f, g),
                        _ => formulas.until(f, Interval::ALL, g),
                    }
                }
            }
        }
    }

    #[test]
    fn parts_have_the_shortest_traces_of_the_whole() {
        let limits = Limits::default();
        let mut random = Random(7);
        let (mut found, mut none, mut unknown) = (0, 0, 0);
        for round in 0..2_000_u64 {
            let mut formulas = Formulas::new();
            let parts: Vec<FormulaId> = (0..2 + random.below(4))
                .map(|_| random.formula(&mut formulas, 3))
                .collect();
            let whole = formulas.all(parts);
            let whole = match round % 2 {
                0 => whole,
                _ => formulas.not(whole),
            };
            let expected = compile(&formulas, whole, &limits).unwrap();
            let expected = expected.shortest_accepted(Traces::NonEmpty);
            let mut search = Search {
                formulas: &mut formulas,
                limits: &limits,
                left: limits.work,
                // From none of the parts to most of them.
                first_try: 40 << (round % 7),
                known: FxHashMap::default(),
                gap: None,
            };
            match (search.shortest(whole), expected) {
                (Ok(Some(word)), Some(expected)) => {
                    let letter = |step: usize, atom: Atom| word[step].contains(&(atom, true));
                    assert!(eval(&formulas, whole, word.len(), letter)[0], "{word:?}");
                    // Of a part whose automaton is too large, one trace is known, which need not be a shortest.
                    assert!(word.len() >= expected.len(), "{word:?} {expected:?}");
                    found += usize::from(word.len() == expected.len());
                }
                (Ok(None), None) => none += 1,
                (Err(_), _) => unknown += 1,
                (found, expected) => panic!("{found:?} {expected:?}"),
            }
        }
        assert!(
            found > 1_500 && none > 50 && unknown < 50,
            "{found} {none} {unknown}"
        );
    }
}
