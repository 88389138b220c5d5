//! Verdicts on one formula after every prefix of one word, some letters of which may be unknown.

use std::collections::{BTreeMap, BTreeSet};

use super::TooLarge;
use super::clock::Clock;
use super::formula::Word;
use super::tableau::{States, Tableau, Tableaux, within};
use guard_lang::hir::Formulas;
use guard_lang::ids::{AtomId, FormulaId};
use guard_lang::value::Truth;
use guard_lang::verdict::Verdict;

/// The largest number of completions of the unknown letters of one position, or, for a timed formula, of a whole word.
const COMPLETIONS: usize = 4096;

/// The truth of each letter at each position.
pub(super) type Letters = BTreeMap<AtomId, Vec<Truth>>;

/// A word without unknowns: the true letters at each position.
type Known = Vec<BTreeSet<AtomId>>;

/// Returns the verdicts after 0, 1, …, `len` positions.
///
/// A verdict is `satisfied` or `violated` if every continuation has the same value, otherwise `presumably_…` by the
/// LTLf value of the prefix. The prefix itself counts as one of its continuations.
pub(super) fn verdicts(
    formulas: &Formulas,
    formula: FormulaId,
    clock: &Clock,
    letters: &Letters,
    len: usize,
    tableaux: &Tableaux,
) -> Result<Vec<Verdict>, TooLarge> {
    if formulas.is_timed(formula) {
        return timed(formulas, formula, clock, letters, len);
    }
    let mut tableaux = tableaux.borrow_mut();
    let tableau = tableaux.entry(formula);
    let tableau = tableau.or_insert_with(|| Tableau::new(formulas, formula));
    let value = |word: &Known| value(formulas, formula, clock, word, false) == Truth::True;
    // Words that leave the same obligations, for the formula and for its negation, have the same continuations. If they
    // also have the same value, one of them represents all. (The obligations do not determine the value: with a future
    // operator inside a past one, the value at earlier steps depends on whether more steps follow.)
    let mut words: BTreeMap<(bool, [States; 2]), Known> = BTreeMap::new();
    let start = [tableau.start(true), tableau.start(false)];
    words.insert((value(&Known::new()), start), Known::new());
    let mut verdicts = Vec::new();
    for position in 0..=len {
        let mut outcomes = BTreeSet::new();
        for (now, [can_hold, can_fail]) in words.keys() {
            let can_hold = *now || tableau.can_go_on(can_hold)?;
            let can_fail = !*now || tableau.can_go_on(can_fail)?;
            outcomes.insert(outcome(Truth::from(*now), Some((can_hold, can_fail))));
        }
        verdicts.push(combine(&outcomes));
        if position == len {
            break;
        }
        let completions = completions(letters, position)?;
        let mut longer = BTreeMap::new();
        for ((_, [can_hold, can_fail]), word) in &words {
            for completion in &completions {
                let states = [
                    tableau.step(can_hold, completion)?,
                    tableau.step(can_fail, completion)?,
                ];
                let word = [word.as_slice(), std::slice::from_ref(completion)].concat();
                longer.entry((value(&word), states)).or_insert(word);
            }
            within(
                longer.len(),
                "words that differ in what they leave to be shown",
            )?;
        }
        words = longer;
    }
    Ok(verdicts)
}

/// Returns the verdicts on a formula with time bounds. A verdict is final if the definitions decide it with everything about
/// the future unknown except that the clock does not run backwards. This is sound, but for arbitrary nesting not always as
/// early as possible.
fn timed(
    formulas: &Formulas,
    formula: FormulaId,
    clock: &Clock,
    letters: &Letters,
    len: usize,
) -> Result<Vec<Verdict>, TooLarge> {
    let mut words: Vec<Known> = vec![Known::new()];
    let mut verdicts = Vec::new();
    for position in 0..=len {
        let mut outcomes = BTreeSet::new();
        for word in &words {
            let now = value(formulas, formula, clock, word, false);
            let decided = value(formulas, formula, clock, word, true).known();
            outcomes.insert(outcome(now, decided.map(|value| (value, !value))));
        }
        verdicts.push(combine(&outcomes));
        if position == len {
            break;
        }
        let completions = completions(letters, position)?;
        words = words
            .iter()
            .flat_map(|word| {
                completions
                    .iter()
                    .map(|letters| [word.as_slice(), std::slice::from_ref(letters)].concat())
            })
            .collect();
        if words.len() > COMPLETIONS {
            return Err(TooLarge {
                what: "completions of unknown letters",
                limit: COMPLETIONS,
            });
        }
    }
    Ok(verdicts)
}

fn value(
    formulas: &Formulas,
    formula: FormulaId,
    clock: &Clock,
    word: &Known,
    open: bool,
) -> Truth {
    let letter = |letter: AtomId, i: usize| {
        Truth::from(word.get(i).is_some_and(|letters| letters.contains(&letter)))
    };
    Word {
        formulas,
        clock,
        letter: &letter,
        len: word.len(),
        open,
    }
    .value(formula)
}

/// Returns the possible sets of true letters at a position; an unknown letter is taken both ways.
fn completions(letters: &Letters, position: usize) -> Result<Vec<BTreeSet<AtomId>>, TooLarge> {
    let mut completions = vec![BTreeSet::new()];
    for (letter, truths) in letters {
        let truth = truths.get(position).copied().unwrap_or(Truth::Unknown);
        let with = |letters: &BTreeSet<AtomId>| letters.iter().copied().chain([*letter]).collect();
        let extended: Vec<BTreeSet<AtomId>> = completions.iter().map(with).collect();
        match truth {
            Truth::False => {}
            Truth::True => completions = extended,
            Truth::Unknown => completions.extend(extended),
        }
        if completions.len() > COMPLETIONS {
            return Err(TooLarge {
                what: "completions of unknown letters",
                limit: COMPLETIONS,
            });
        }
    }
    Ok(completions)
}

/// Returns the verdict on one word from its value, and whether continuations can make the formula true, and false.
fn outcome(value: Truth, can: Option<(bool, bool)>) -> Verdict {
    match (can, value) {
        (Some((_, false)), _) => Verdict::Satisfied,
        (Some((false, _)), _) => Verdict::Violated,
        (_, Truth::True) => Verdict::PresumablySatisfied,
        (_, Truth::False) => Verdict::PresumablyViolated,
        (_, Truth::Unknown) => Verdict::Unknown,
    }
}

/// Combines the verdicts over all completions: final if all are final and equal, presumable if all have the same
/// current value, otherwise `unknown`.
pub(super) fn combine(outcomes: &BTreeSet<Verdict>) -> Verdict {
    let all = |verdicts: &[Verdict]| outcomes.iter().all(|outcome| verdicts.contains(outcome));
    if all(&[Verdict::Satisfied]) {
        Verdict::Satisfied
    } else if all(&[Verdict::Violated]) {
        Verdict::Violated
    } else if all(&[Verdict::Satisfied, Verdict::PresumablySatisfied]) {
        Verdict::PresumablySatisfied
    } else if all(&[Verdict::Violated, Verdict::PresumablyViolated]) {
        Verdict::PresumablyViolated
    } else {
        Verdict::Unknown
    }
}
