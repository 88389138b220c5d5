//! Phrases about what a user says: consent, and words in quotation marks.

use super::ground::{alike, is_empty};
use crate::words::{is_listed, list, stem, words_of};

/// The condition of a phrase on a user's message.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Speech {
    /// The words that the message has, one of them: what the phrase has in quotation marks.
    pub(super) literals: Vec<String>,
    /// It is consent, and nothing else.
    pub(super) consents: bool,
    /// Nothing is said beyond the literals.
    pub(super) whole: bool,
}

impl Speech {
    /// Reads a phrase. Returns `None` if it does not speak of what a user says.
    pub(super) fn of(phrase: &str) -> Option<Speech> {
        let (literals, rest) = literals(phrase);
        let words = words_of(&rest, "");
        let speaker = |word: &String| is_listed("speakers", word);
        let consent = |word: &String| list("consent").iter().any(|begin| word.starts_with(begin));
        let speech = |word: &String| {
            let mut verbs = list("speech").iter();
            consent(word) || verbs.any(|verb| alike(stem(word), stem(verb)))
        };
        // *The user is asked to confirm*: somebody else speaks.
        let spoken_to = |pair: &[String]| {
            ["is", "are", "was", "were", "be", "been"].contains(&pair[0].as_str())
                && ["asked", "told"].contains(&pair[1].as_str())
        };
        if !words.iter().any(speaker)
            || !words.iter().any(speech)
            || words.windows(2).any(spoken_to)
        {
            return None;
        }
        let only = |plain: &dyn Fn(&String) -> bool| {
            let mut words = words.iter();
            words.all(|word| {
                speaker(word) || is_empty(word) || is_listed("beside consent", word) || plain(word)
            })
        };
        Some(Speech {
            consents: words.iter().any(consent) && only(&consent),
            whole: only(&speech),
            literals,
        })
    }

    /// Returns the condition on a text that has one of the literals as whole words, in any case; absent without literals.
    pub(super) fn says(&self) -> Option<String> {
        let one = |literal: &String| {
            let words: Vec<String> = literal.split_whitespace().map(escaped).collect();
            // A sign is its own boundary.
            let bound = |c: Option<char>| {
                if c.is_some_and(char::is_alphanumeric) {
                    "\\b"
                } else {
                    ""
                }
            };
            let (first, last) = (literal.chars().next(), literal.chars().next_back());
            format!("{}{}{}", bound(first), words.join("\\s+"), bound(last))
        };
        let all: Vec<String> = self.literals.iter().map(one).collect();
        (!all.is_empty()).then(|| format!("matches /(?i){}/", all.join("|")))
    }
}

/// A word as a regular expression.
fn escaped(word: &str) -> String {
    let mut out = String::with_capacity(word.len());
    for char in word.chars() {
        if "\\.+*?()|[]{}^$/".contains(char) {
            out.push('\\');
        }
        out.push(char);
    }
    out
}

/// The words of a phrase in quotation marks, and the phrase without them. The apostrophe of *user's* is no quotation mark.
fn literals(phrase: &str) -> (Vec<String>, String) {
    let (mut found, mut rest) = (Vec::new(), String::new());
    let mut left = phrase;
    while let Some(open) = left.find(['\'', '"']) {
        let (before, after) = left.split_at(open);
        let inner = &after[1..];
        let begins = !before.ends_with(char::is_alphanumeric);
        let close = inner.match_indices(&after[..1]).find(|(at, _)| {
            let next = inner[at + 1..].chars().next();
            *at > 0 && !next.is_some_and(char::is_alphanumeric)
        });
        rest.push_str(before);
        match close.filter(|_| begins) {
            Some((at, _)) => {
                found.push(inner[..at].trim().to_owned());
                left = &inner[at + 1..];
            }
            None => {
                rest.push(' ');
                left = inner;
            }
        }
    }
    rest.push_str(left);
    found.retain(|literal| literal.chars().any(char::is_alphanumeric));
    (found, rest)
}
