//! Fixed phrases and function words become marks: the longest phrase of the lexicon that begins at a token wins.
//!
//! The notation of a phrase is words with blanks between them: `a|b` is one of several words, a word after `~` stands for
//! its inflected forms, `?` after an element makes it optional, `a-b` inside a choice is two words in a row, a comma is a
//! comma. `{q}` is a distance in steps or time, `{n}` a bare number, `{x}` a number of times (`twice`, `3 times`).

use std::collections::HashMap;
use std::sync::LazyLock;

use smol_str::SmolStr;

use super::lexicon::words::{AUXILIARIES, among};
use super::lexicon::{Tag, phrases};
use super::number::{Measure, Ratio, STEP_LIKE, Unit, times};
use super::stem::stem;
use super::token::{Kind, Token};

/// One element of a phrase.
#[derive(Debug)]
struct Element {
    choices: Vec<Choice>,
    optional: bool,
}

#[derive(Debug)]
enum Choice {
    /// These words in a row.
    Words(Vec<SmolStr>),
    /// Any form of this word.
    Stem(SmolStr),
    Comma,
    Distance,
    Number,
    Times,
}

#[derive(Debug)]
struct Phrase {
    elements: Vec<Element>,
    tag: Tag,
    /// Whether its bound leaves out the number that is named: `fewer than 3`.
    strict: bool,
    /// Whether it includes the number although its kind does not: `3 or more`.
    inclusive: bool,
}

#[derive(Debug, Default)]
struct Table {
    phrases: Vec<Phrase>,
    /// Phrases by the words and stems that they can begin with.
    by_word: HashMap<SmolStr, Vec<usize>>,
    by_stem: HashMap<SmolStr, Vec<usize>>,
    /// Those that can begin with a number.
    by_number: Vec<usize>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let mut table = Table::default();
    for (text, tag) in phrases() {
        let elements: Vec<Element> = text.split(' ').map(element).collect();
        let index = table.phrases.len();
        for first in beginnings(&elements) {
            let list = match first {
                Choice::Words(words) => table.by_word.entry(words[0].clone()).or_default(),
                Choice::Stem(stem) => table.by_stem.entry(stem.clone()).or_default(),
                Choice::Distance | Choice::Number | Choice::Times => &mut table.by_number,
                Choice::Comma => continue,
            };
            if list.last() != Some(&index) {
                list.push(index);
            }
        }
        let has = |word: &str| text.split([' ', '|', '?']).any(|part| part == word);
        table.phrases.push(Phrase {
            elements,
            tag: *tag,
            strict: (has("fewer") || has("less") || has("under") || has("younger"))
                && (has("than") || has("under"))
                && !has("no")
                && !has("not")
                || text.starts_with("before {q}"),
            inclusive: has("more") && has("or"),
        });
    }
    table
});

fn element(text: &str) -> Element {
    let (text, optional) = match text.strip_suffix('?') {
        Some(text) => (text, true),
        None => (text, false),
    };
    let choices = match text {
        "{q}" => vec![Choice::Distance],
        "{n}" => vec![Choice::Number],
        "{x}" => vec![Choice::Times],
        "," => vec![Choice::Comma],
        _ => match text.strip_prefix('~') {
            Some(words) => words
                .split('|')
                .map(|word| Choice::Stem(stem(word.trim_start_matches('~'))))
                .collect(),
            None => text
                .split('|')
                .map(|words| match words.strip_prefix('~') {
                    Some(word) => Choice::Stem(stem(word)),
                    // `off-limits` is one word: only a hyphen between words that stand alone elsewhere parts them.
                    None => Choice::Words(words.split('-').map(SmolStr::new).collect()),
                })
                .collect(),
        },
    };
    Element { choices, optional }
}

/// What a phrase can begin with.
fn beginnings(elements: &[Element]) -> impl Iterator<Item = &Choice> {
    let first = elements.iter().position(|element| !element.optional);
    let end = first.map_or(elements.len(), |first| first + 1);
    elements[..end].iter().flat_map(|element| &element.choices)
}

/// Makes marks of the function words and fixed phrases of a sentence.
///
/// # Limits
/// Linear in the sentence for a fixed lexicon.
pub(super) fn marked(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        match longest(&tokens, at) {
            // `only once it has been checked` is no number.
            Some((Tag::AtMost, _, 2)) if is_once_clause(&tokens, at) => {
                for (offset, tag) in [(0, Tag::Only), (1, Tag::Once)] {
                    let mut mark = tokens[at + offset].clone();
                    mark.kind = Kind::Mark(tag, None);
                    out.push(mark);
                }
                at += 2;
            }
            // `of that person`: no relative clause begins after a preposition.
            Some((Tag::Relative, _, 1))
                if tokens[at].low == "that" && is_determiner(&tokens, at) =>
            {
                out.push(tokens[at].clone());
                at += 1;
            }
            Some((tag, measure, length)) => {
                // `immediately before`, with nothing after it.
                let ends = tokens
                    .get(at + length)
                    .is_none_or(|next| matches!(next.kind, Kind::Comma | Kind::Stop | Kind::Colon));
                let tag = match tag {
                    Tag::RightBefore if ends => Tag::Previous,
                    Tag::RightAfter if ends => Tag::Next,
                    Tag::Before if ends => Tag::Earlier,
                    Tag::After if ends => Tag::Eventually,
                    tag => tag,
                };
                let mut mark = tokens[at].clone();
                // `has 25 steps to answer`: must, within them.
                if tag == Tag::Within && mark.stem == "hav" {
                    mark.kind = Kind::Mark(Tag::Must, None);
                    out.push(mark.clone());
                }
                mark.kind = Kind::Mark(tag, measure);
                mark.span.end = tokens[at + length - 1].span.end;
                out.push(mark);
                at += length;
            }
            None => {
                out.push(tokens[at].clone());
                at += 1;
            }
        }
    }
    out
}

/// Whether `only once` begins a clause: a verb follows soon.
fn is_once_clause(tokens: &[Token], at: usize) -> bool {
    tokens[at].low == "only"
        && tokens.get(at + 1).is_some_and(|next| next.word("once"))
        && tokens[at + 2..]
            .iter()
            .take(7)
            .any(|token| token.kind == Kind::Word && among(AUXILIARIES, &token.low))
        && !tokens.get(at + 2).is_some_and(|next| next.word("per"))
}

/// Whether `that` points at what follows: it stands first, or after a preposition or a connective.
fn is_determiner(tokens: &[Token], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).and_then(|before| tokens.get(before)) else {
        return true;
    };
    before.kind != Kind::Word
        || matches!(
            before.low.as_str(),
            "of" | "for"
                | "to"
                | "with"
                | "in"
                | "on"
                | "from"
                | "by"
                | "at"
                | "after"
                | "before"
                | "if"
                | "when"
                | "until"
                | "unless"
                | "and"
                | "or"
                | "while"
                | "without"
                | "once"
                | "about"
                | "do"
                | "under"
                | "against"
        )
}

fn longest(tokens: &[Token], at: usize) -> Option<(Tag, Option<Measure>, usize)> {
    let first = &tokens[at];
    let empty = Vec::new();
    let (words, stems, numbers) = match first.kind {
        Kind::Word => (
            TABLE.by_word.get(&first.low).unwrap_or(&empty),
            TABLE.by_stem.get(&first.stem).unwrap_or(&empty),
            if times(&first.low).is_some() {
                &TABLE.by_number
            } else {
                &empty
            },
        ),
        Kind::Number(_) => (&empty, &empty, &TABLE.by_number),
        _ => return None,
    };
    let mut best: Option<(usize, usize, Option<Measure>)> = None;
    let mut candidates: Vec<usize> = words.iter().chain(stems).chain(numbers).copied().collect();
    candidates.sort_unstable();
    candidates.dedup();
    for index in candidates {
        let phrase = &TABLE.phrases[index];
        if let Some((length, measure)) = fits(&phrase.elements, tokens, at, None)
            && best.is_none_or(|(_, longest, _)| length > longest)
        {
            best = Some((index, length, measure));
        }
    }
    let (index, length, measure) = best?;
    let phrase = &TABLE.phrases[index];
    let measure = measure.map(|measure| adjusted(phrase, measure));
    Some((phrase.tag, measure, length))
}

/// `fewer than 3` is at most 2; `3 or more` is more than 2.
fn adjusted(phrase: &Phrase, measure: Measure) -> Measure {
    let whole = measure.unit != Unit::Seconds && measure.unit != Unit::Share;
    let lower = phrase.strict || phrase.inclusive && phrase.tag == Tag::MoreThan;
    if lower && whole && measure.value.whole().is_some() {
        let value = measure.value.plus(Ratio::new(-1, 1));
        return Measure { value, ..measure };
    }
    measure
}

/// How many tokens the elements take from here, the most first.
fn fits(
    elements: &[Element],
    tokens: &[Token],
    at: usize,
    measure: Option<Measure>,
) -> Option<(usize, Option<Measure>)> {
    let Some((first, rest)) = elements.split_first() else {
        return Some((0, measure));
    };
    let mut best: Option<(usize, Option<Measure>)> = None;
    let mut keep = |found: Option<(usize, Option<Measure>)>, taken: usize| {
        if let Some((length, measure)) = found
            && best.is_none_or(|(longest, _)| length + taken > longest)
        {
            best = Some((length + taken, measure));
        }
    };
    for choice in &first.choices {
        if let Some((taken, found)) = choice_fits(choice, tokens, at) {
            keep(fits(rest, tokens, at + taken, found.or(measure)), taken);
        }
    }
    if first.optional {
        keep(fits(rest, tokens, at, measure), 0);
    }
    best
}

fn choice_fits(choice: &Choice, tokens: &[Token], at: usize) -> Option<(usize, Option<Measure>)> {
    let token = tokens.get(at)?;
    let is_word = token.kind == Kind::Word;
    match choice {
        Choice::Words(words) => {
            // A hyphenated word of the text, or the words apart.
            let joined = words.len() > 1
                && is_word
                && token.low.split('-').eq(words.iter().map(SmolStr::as_str));
            if joined {
                return Some((1, None));
            }
            let all = words.iter().enumerate().all(|(offset, word)| {
                tokens.get(at + offset).is_some_and(|token| {
                    token.low == *word && matches!(token.kind, Kind::Word | Kind::Number(_))
                })
            });
            all.then_some((words.len(), None))
        }
        Choice::Stem(stem) => (is_word && token.stem == *stem).then_some((1, None)),
        Choice::Comma => (token.kind == Kind::Comma).then_some((1, None)),
        Choice::Distance => distance(tokens, at),
        Choice::Number => match token.kind {
            Kind::Number(measure) if measure.unit == Unit::None => Some((1, Some(measure))),
            _ => None,
        },
        Choice::Times => match token.kind {
            Kind::Word => Some((1, Some(Measure::count(times(&token.low)?)))),
            Kind::Number(measure) if measure.unit == Unit::None => {
                let next = tokens.get(at + 1)?;
                ["times", "time", "occasions"]
                    .iter()
                    .any(|word| next.word(word))
                    .then_some((2, Some(measure)))
            }
            _ => None,
        },
    }
}

/// A number with a unit, or one before a word that stands for steps.
fn distance(tokens: &[Token], at: usize) -> Option<(usize, Option<Measure>)> {
    let Kind::Number(measure) = tokens.get(at)?.kind else {
        return None;
    };
    match measure.unit {
        Unit::Steps | Unit::Seconds => Some((1, Some(measure))),
        Unit::Share => None,
        Unit::None => {
            let next = tokens.get(at + 1)?;
            let loose = next.kind == Kind::Word && STEP_LIKE.contains(&next.low.as_str());
            let measure = Measure {
                unit: Unit::Steps,
                ..measure
            };
            loose.then_some((2, Some(measure)))
        }
    }
}
