//! Patterns of free English: words, alternatives, and slots for stretches of words.

use std::collections::HashMap;
use std::ops::Range;

use crate::controlled::token::{Kind, Token};

/// A part of a pattern.
#[derive(Clone, Debug)]
enum Part {
    /// One of several sequences of words; an empty one means that it may be absent.
    Words(Vec<Vec<String>>),
    /// A stretch of words, by the name of its slot.
    Slot(char),
}

/// A rule: a pattern, and the sentences that it may mean.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    parts: Vec<Part>,
    pub(super) meanings: Vec<String>,
}

/// The tokens of each slot.
pub(super) type Slots = Vec<(char, Range<usize>)>;

/// The rules of a text: `pattern => sentence | sentence`, and `@name = word|word` for what several patterns share.
pub(super) fn rules(text: &str) -> Vec<Rule> {
    let mut shared: HashMap<&str, Part> = HashMap::new();
    let mut rules = Vec::new();
    for line in text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        if let Some((name, words)) = line
            .strip_prefix('@')
            .and_then(|line| line.split_once(" = "))
        {
            shared.insert(name, alternatives(words));
        } else if let Some((pattern, meanings)) = line.split_once(" => ") {
            rules.push(Rule {
                parts: parts(pattern, &shared),
                meanings: meanings.split(" | ").map(str::to_owned).collect(),
            });
        }
    }
    rules
}

fn alternatives(words: &str) -> Part {
    let sequence = |words: &str| words.split_whitespace().map(str::to_owned).collect();
    Part::Words(words.split('|').map(sequence).collect())
}

fn parts(pattern: &str, shared: &HashMap<&str, Part>) -> Vec<Part> {
    let mut out = Vec::new();
    let mut rest = pattern.trim_start();
    while !rest.is_empty() {
        let (part, after) = if let Some((inner, after)) =
            rest.strip_prefix('(').and_then(|rest| rest.split_once(')'))
        {
            (alternatives(inner), after)
        } else if let Some((inner, after)) =
            rest.strip_prefix('{').and_then(|rest| rest.split_once('}'))
        {
            (Part::Slot(inner.chars().next().unwrap_or('c')), after)
        } else {
            let (word, after) = rest.split_once(' ').unwrap_or((rest, ""));
            let known = word.strip_prefix('@').and_then(|name| shared.get(name));
            (known.cloned().unwrap_or_else(|| alternatives(word)), after)
        };
        out.push(part);
        rest = after.trim_start();
    }
    out
}

impl Rule {
    /// The slots if the pattern fits all of the tokens. `allowed` says whether a stretch of words may fill a slot.
    pub(super) fn fits(
        &self,
        tokens: &[Token],
        allowed: &dyn Fn(char, Range<usize>) -> bool,
    ) -> Option<Slots> {
        let mut slots = Slots::new();
        fits(&self.parts, tokens, 0, allowed, &mut slots).then_some(slots)
    }
}

fn fits(
    parts: &[Part],
    tokens: &[Token],
    at: usize,
    allowed: &dyn Fn(char, Range<usize>) -> bool,
    slots: &mut Slots,
) -> bool {
    let Some((part, rest)) = parts.split_first() else {
        return at == tokens.len();
    };
    match part {
        Part::Words(choices) => choices.iter().any(|words| {
            let here = tokens.get(at..at + words.len());
            here.is_some_and(|here| here.iter().zip(words).all(|(token, word)| token.is(word)))
                && fits(rest, tokens, at + words.len(), allowed, slots)
        }),
        Part::Slot(name) => (at + 1..=tokens.len()).any(|end| {
            if !allowed(*name, at..end) {
                return false;
            }
            slots.push((*name, at..end));
            let fitting = fits(rest, tokens, end, allowed, slots);
            if !fitting {
                slots.pop();
            }
            fitting
        }),
    }
}

/// Whether a token is a word of this text.
pub(super) fn is_word(token: &Token) -> bool {
    token.kind != Kind::Plain || token.low.chars().any(char::is_alphanumeric)
}
