//! The words that situations go by.

use crate::words::{is_listed, words_of};

/// A situation of a sentence: a condition of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Situation {
    /// Its name, which is that of a predicate.
    pub name: String,
    /// The words of the sentence.
    pub phrase: String,
    /// Whether it is a predicate of the vocabulary.
    pub known: bool,
}

/// Predicates that sentences can speak of without quotation marks.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    entries: Vec<Entry>,
    /// Whether consent of the user is known to be a state.
    pub(crate) has_consent: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    name: String,
    comment: String,
    phrases: Vec<Vec<String>>,
}

impl Vocabulary {
    /// Returns a vocabulary without predicates in which consent of the user is a state.
    pub(crate) fn with_consent() -> Vocabulary {
        Vocabulary {
            has_consent: true,
            ..Vocabulary::default()
        }
    }

    /// Adds a predicate: it can be called by its name, by the words of its name, and by the first sentence of its comment.
    pub fn add(&mut self, name: &str, comment: &str) {
        let first = comment.split(['.', '\n']).next().unwrap_or_default();
        let phrases = [
            vec![name.to_lowercase()],
            words_of(name, "'-"),
            words_of(first, "'-"),
        ];
        let phrases = phrases.into_iter().filter(|words| !words.is_empty());
        self.entries.push(Entry {
            name: name.to_owned(),
            comment: first.trim().to_owned(),
            phrases: phrases.collect(),
        });
    }

    /// Returns the names of the predicates, with the first sentences of their comments.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        let entries = self.entries.iter();
        entries.map(|entry| (entry.name.as_str(), entry.comment.as_str()))
    }

    /// The predicate of a quoted phrase.
    pub(crate) fn named(&self, phrase: &str) -> Option<&str> {
        let wanted = words_of(phrase, "'-_");
        let mut entries = self.entries.iter();
        let found = entries.find(|it| it.name == phrase || it.phrases.contains(&wanted))?;
        Some(&found.name)
    }

    /// Returns the predicate with the longest name at the beginning of these words, and the number of words of that name.
    pub(super) fn longest(&self, words: &[&str]) -> Option<(&str, usize)> {
        let begins = |phrase: &&Vec<String>| {
            phrase.len() <= words.len() && phrase.iter().zip(words).all(|(a, b)| a == b)
        };
        let entries = self.entries.iter().filter_map(|entry| {
            let phrases = entry.phrases.iter().filter(begins);
            Some((entry.name.as_str(), phrases.map(Vec::len).max()?))
        });
        entries.max_by_key(|(_, length)| *length)
    }
}

/// Largest number of words and bytes of a name that is made of a phrase.
const WORDS: usize = 5;
const LENGTH: usize = 32;

/// A name of the language for a phrase.
pub(crate) fn identifier(phrase: &str) -> String {
    // A name is kept. A phrase is shortened to its first words, without articles.
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut name = String::new();
    if phrase.chars().all(is_name) {
        phrase.clone_into(&mut name);
    } else {
        // `2,000` is one word.
        let phrase = phrase.replace(',', "").to_ascii_lowercase();
        let words = phrase.split(|c: char| !c.is_ascii_alphanumeric());
        let told = |word: &&str| !word.is_empty() && !is_listed("articles", word);
        for word in words.filter(told).take(WORDS) {
            if !name.is_empty() && name.len() + word.len() >= LENGTH {
                break;
            }
            name = format!("{name}_{word}").trim_start_matches('_').to_owned();
        }
    }
    name.truncate(2 * LENGTH);
    if name.is_empty() {
        return "event".to_owned();
    }
    // A single capital letter is an operator, a name does not begin with a digit, and words of the language are reserved.
    let first = name.chars().next().unwrap_or('_');
    let operator = name.len() == 1 && first.is_ascii_uppercase();
    if operator || !first.is_ascii_alphabetic() || is_reserved(&name) {
        return format!("is_{}", name.trim_start_matches('_'));
    }
    name
}

/// Returns the name, or with a number the first one that is not taken.
pub(crate) fn fresh(name: &str, taken: &dyn Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|count| format!("{name}_{count}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names.find(|name| !taken(name)).unwrap_or_default()
}

/// Whether a word is one of the language, and so no name.
pub(crate) fn is_reserved(word: &str) -> bool {
    RESERVED.split_whitespace().any(|known| known == word)
        || guard_automata::operators().any(|op| op.word == word)
}

/// Words of the language besides temporal operators.
const RESERVED: &str = include_str!("reserved.txt");
