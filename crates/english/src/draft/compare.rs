//! Compares a sentence with a formula that should say the same, and finds a trace on which they differ.

use super::example::{self, Trace};
use super::input::Line;
use super::reading::Reading;
use super::result::Draft;
use crate::controlled::Vocabulary;
use crate::words::{Logic, Writer, is_listed, stems};

/// A difference between a sentence and a formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The formula that the sentence was found to state, over the letters of the formula.
    pub formula: String,
    /// A shortest trace that only one of them accepts.
    pub trace: Trace,
    /// Whether it is the sentence that accepts it.
    pub sentence_accepts: bool,
}

/// Returns the difference between a sentence and a formula over `letters`; an inner `None` if the sentence or one of its proposals says
/// the same. An outer `None` means that they were not compared: the sentence has no formula, or its situations cannot be matched with
/// those of the formula.
///
/// # Limits
/// Formulas of up to five situations.
pub fn difference(
    sentence: &str,
    formula: &Logic,
    letters: &[String],
    vocabulary: &Vocabulary,
) -> Option<Option<Difference>> {
    let line = Line {
        text: sentence.to_owned(),
        ..Line::default()
    };
    let made = Draft::new(&line, vocabulary);
    let mut first = None;
    for reading in made.reading.iter().chain(&made.proposals) {
        if reading.controlled.chance.is_some() {
            return None;
        }
        match parted(reading, formula, letters)? {
            None => return Some(None),
            found => first = first.or(found),
        }
    }
    first.map(Some)
}

/// Returns the difference of one reading: an outer `None` means that it cannot be found out, an inner one that there is none.
fn parted(reading: &Reading, formula: &Logic, letters: &[String]) -> Option<Option<Difference>> {
    let said = &reading.controlled.logic;
    let situations = &reading.controlled.situations;
    let whole = (formula.clone(), letters.to_vec());
    let (formula, letters) = [whole, collapsed(formula, letters)]
        .into_iter()
        .find(|(formula, _)| formula.atoms().len() == situations.len())?;
    let own = formula.atoms();
    if own.len() > 5 {
        return None;
    }
    let letter = |at: usize| letters.get(own[at]).map_or("", String::as_str);
    // A situation that is called as a letter is that letter.
    let named = |name: &str| (0..own.len()).find(|at| is_call(letter(*at), name));
    let called: Vec<Option<usize>> = situations.iter().map(|it| named(&it.name)).collect();
    // They are equivalent if they are under any pairing of situations and letters.
    let mut best: Option<(usize, Logic)> = None;
    for order in permutations(own.len()) {
        let mut paired = called.iter().zip(&order);
        if paired.any(|(called, at)| called.is_some_and(|called| called != *at)) {
            continue;
        }
        let renamed = said.renamed(&|atom| own[order[atom]]);
        if same_up_to_negated_names(&renamed, &formula, &own, &letters)? {
            return Some(None);
        }
        let alike = situations.iter().zip(&order).map(|(situation, at)| {
            let words = format!("{} {}", situation.name, situation.phrase);
            likeness(&words, letter(*at))
        });
        let likeness: usize = alike.sum();
        if best.as_ref().is_none_or(|(known, _)| likeness > *known) {
            best = Some((likeness, renamed));
        }
    }
    let (likeness, said) = best?;
    // Without a common word there is no evidence that both are about the same situations.
    if likeness == 0 {
        return None;
    }
    let (trace, sentence_accepts) = example::parting(&said, &formula, &letters)?;
    let names = &letters;
    Some(Some(Difference {
        formula: Writer { names, rich: true }.write(&said),
        trace,
        sentence_accepts,
    }))
}

/// `approved`, `approved(x)`
fn is_call(text: &str, name: &str) -> bool {
    text.strip_prefix(name)
        .is_some_and(|rest| rest.is_empty() || rest.starts_with('('))
}

/// Whether both are equivalent, where a letter whose text negates may stand for the opposite situation.
fn same_up_to_negated_names(
    said: &Logic,
    formula: &Logic,
    own: &[usize],
    letters: &[String],
) -> Option<bool> {
    let negates = |letter: &usize| letters.get(*letter).is_some_and(|text| negates(text));
    let negated: Vec<usize> = own.iter().copied().filter(negates).collect();
    for chosen in 0_usize..1 << negated.len().min(4) {
        let is_chosen = |bit: &usize| chosen >> bit & 1 == 1;
        let flipped = (0..negated.len()).filter(is_chosen);
        let flipped: Vec<usize> = flipped.map(|bit| negated[bit]).collect();
        if example::equivalent(&said.with_negated(&flipped), formula)? {
            return Some(true);
        }
    }
    Some(false)
}

fn negates(text: &str) -> bool {
    let mut words = text.split(|c: char| !c.is_alphanumeric() && c != '!');
    words.any(|word| {
        is_listed("negating", word) || word.starts_with("un") || word.starts_with("non")
    }) || text.contains("!=")
}

/// Returns the number of words that two texts share.
fn likeness(a: &str, b: &str) -> usize {
    let (a, b) = (stems(a, "same words"), stems(b, "same words"));
    a.intersection(&b).filter(|stem| stem.len() > 2).count()
}

/// The formula with every condition of several letters as one situation.
fn collapsed(formula: &Logic, letters: &[String]) -> (Logic, Vec<String>) {
    let writer = Writer {
        names: letters,
        rich: true,
    };
    let mut names = letters.to_vec();
    let logic = formula.rebuilt(&mut |part| match part {
        Logic::And(_) | Logic::Or(_) if part.is_state() => {
            let name = writer.write(part);
            let made = names.iter().skip(letters.len());
            let known = made.clone().position(|known| *known == name);
            let at = letters.len() + known.unwrap_or(made.len());
            if known.is_none() {
                names.push(name);
            }
            Some(Logic::Atom(at))
        }
        _ => None,
    });
    (logic, names)
}

fn permutations(count: usize) -> Vec<Vec<usize>> {
    let Some(last) = count.checked_sub(1) else {
        return vec![Vec::new()];
    };
    let longer = |smaller: Vec<usize>| {
        (0..count).map(move |place| {
            let mut larger = smaller.clone();
            larger.insert(place, last);
            larger
        })
    };
    permutations(last).into_iter().flat_map(longer).collect()
}
