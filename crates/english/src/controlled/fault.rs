//! Faults of texts that are not controlled English: the place, what was expected there, and the nearest sentences of the language.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fmt;
use std::ops::Range;

use strsim::levenshtein;

use super::parser::{SITUATION, read};
use super::vocabulary::Vocabulary;
use crate::words::one_line;

/// A text that is not controlled English: the place and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The bytes of the text that do not fit.
    pub span: Range<usize>,
    /// The alternatives that are accepted there, descriptions before words; words are in backquotes.
    pub expected: Vec<String>,
    /// The text that is there instead.
    pub found: String,
    /// The nearest texts that are controlled English, fewest changes first. No word is left out.
    pub rewordings: Vec<String>,
    /// Whether a letter or two, or a word of the grammar that is missing, are all that is wrong.
    pub is_slip: bool,
}

/// Limits on the words that are changed, and on the texts that are tried, to find a rewording.
const CHANGES: usize = 2;
const TRIALS: usize = 160;
/// Largest number of rewordings.
const SHOWN: usize = 3;
/// Largest number of alternatives that a message lists.
const LISTED: usize = 6;
/// Texts longer than this are not reworded.
const BYTES: usize = 600;
/// Largest number of words that are put into quotation marks.
const QUOTED: usize = 8;

impl fmt::Display for Fault {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = &self.expected[..self.expected.len().min(LISTED)];
        let mut list = match shown {
            [] => "controlled English".to_owned(),
            [only] => only.clone(),
            [first @ .., last] => format!("{} or {last}", first.join(", ")),
        };
        if self.expected.len() > LISTED {
            list.push_str(", …");
        }
        write!(out, "expected {list}, found {}", self.found)
    }
}

impl std::error::Error for Fault {}

/// An alternative that is accepted at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// Words of the grammar.
    Words(&'static str),
    /// A description.
    Other(Cow<'static, str>),
}

impl fmt::Display for Expected {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Expected::Words(words) => write!(out, "`{words}`"),
            Expected::Other(what) => out.write_str(what),
        }
    }
}

/// A fault as the parser finds it. Most trials of rewordings end with one, so that its message is made only if it is shown.
pub(super) struct Unread {
    pub(super) span: Range<usize>,
    pub(super) expected: Vec<Expected>,
}

impl Unread {
    /// Returns the fault, its alternatives sorted: descriptions, then words by their distance from the word that is there.
    pub(super) fn fault(mut self, text: &str) -> Fault {
        let found = match &text[self.span.clone()] {
            "" => "the end of the text".to_owned(),
            word => format!(
                "`{}`",
                word.trim_matches(['`', '"', '\u{201c}', '\u{201d}'])
            ),
        };
        let low = found.trim_matches('`').to_lowercase();
        self.expected.sort_by_cached_key(|what| match what {
            Expected::Words(words) => 1 + levenshtein(first_word(words), &low),
            Expected::Other(_) => 0,
        });
        Fault {
            span: self.span,
            expected: self.expected.iter().map(Expected::to_string).collect(),
            found,
            rewordings: Vec::new(),
            is_slip: false,
        }
    }
}

fn first_word(words: &str) -> &str {
    words.split(' ').next().unwrap_or_default()
}

impl Fault {
    /// Looks for the nearest texts of the language. It corrects the spelling of a word, inserts a word, or quotes words, always at the
    /// place of the fault. It never removes a word, since its meaning would be lost. With `slips`, it quotes no words, which most free
    /// text would need.
    pub(crate) fn reworded(mut self, text: &str, vocabulary: &Vocabulary, slips: bool) -> Fault {
        if text.len() > BYTES {
            return self;
        }
        let mut queue = VecDeque::new();
        let mut next = Some((text.to_owned(), self.clone(), 0, true));
        let mut trials = 0;
        while let Some((text, fault, changes, slip)) = next {
            let left = text.len() - fault.span.start;
            let changed = fault.changes(&text).into_iter();
            for (changed, is_slip) in changed.filter(|(_, is_slip)| *is_slip || !slips) {
                trials += 1;
                if trials > TRIALS || self.rewordings.len() == SHOWN {
                    return self;
                }
                let slip = slip && is_slip;
                match read(&changed, vocabulary) {
                    Ok(_) if !self.rewordings.contains(&changed) => {
                        self.rewordings.push(changed);
                        self.is_slip |= slip;
                    }
                    // Another change is tried only if this one read more of the text: a word that is inserted in vain, and a second
                    // one behind it, made three of four trials.
                    Err(unread)
                        if changes + 1 < CHANGES
                            && (left == 0 || changed.len() - unread.span.start < left) =>
                    {
                        queue.push_back((changed, unread, changes + 1, slip));
                    }
                    _ => {}
                }
            }
            // Texts with one change are nearer than those with two.
            let nearest = |tried: &usize| *tried == changes || self.rewordings.is_empty();
            let following = queue.pop_front().filter(|(_, _, tried, _)| nearest(tried));
            next = following.map(|(text, unread, changes, slip)| {
                let fault = unread.fault(&text);
                (text, fault, changes, slip)
            });
        }
        self
    }

    /// The text with one change at the place of the fault, and whether the change is that of a slip.
    fn changes(&self, text: &str) -> Vec<(String, bool)> {
        let (before, rest) = text.split_at(self.span.start);
        let (found, after) = rest.split_at(self.span.len());
        let low = found.to_lowercase();
        let joined = |parts: [&str; 3]| {
            let text = one_line(&parts.join(" "));
            let signs = [" ,", " .", " :"].iter();
            signs.fold(text, |text, sign| text.replace(sign, sign.trim_start()))
        };
        let words = self.expected.iter();
        let words = words.filter_map(|what| what.strip_prefix('`')?.strip_suffix('`'));
        let mut out = Vec::new();
        for word in words.clone() {
            if levenshtein(first_word(word), &low) <= 2 && low.len() > 2 {
                out.push((joined([before, first_word(word), after]), true));
            }
        }
        if self.expected.iter().any(|what| what == SITUATION) {
            let blank = |c: char| c.is_whitespace() || matches!(c, ',' | '.' | ';');
            let blanks = rest.match_indices(blank).map(|(at, _)| at);
            let ends = blanks.chain([rest.len()]).filter(|end| *end > 0);
            let phrases = ends.map(|end| rest[..end].trim_end_matches([',', '.', ' ']));
            for phrase in phrases.take(QUOTED) {
                if !phrase.is_empty() && !phrase.contains(['"', '`']) {
                    let quoted = format!("\"{phrase}\"");
                    out.push((joined([before, &quoted, &rest[phrase.len()..]]), false));
                }
            }
        }
        // A word that reverses the meaning of the sentence is never proposed.
        let plain = words.filter(|word| !["not", "never", "no"].contains(word));
        out.extend(plain.map(|word| (joined([before, word, rest]), true)));
        out
    }
}
