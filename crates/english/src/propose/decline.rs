//! Sentences of which no proposal is made: verbs that ask that something does *not* happen, times of day, and duties that are lifted.
//!
//! *Refrain from paying* and *skip the check* are no events: read as such, a sentence would say the opposite. What is certain is said with
//! *must* or *must not* by the first rows of `data/paraphrases.txt`; the rest is declined here.

use std::borrow::Cow;
use std::ops::Range;

use super::Sentence;
use crate::controlled::token::{Kind, tokens};
use crate::words::{is_listed, list};

/// Returns a sentence in which *it's* is *it is*, or *it has* before *been*: the patterns know whole words. What is in quotation marks
/// stays.
pub(super) fn uncontracted(text: &str) -> Cow<'_, str> {
    let tokens = tokens(text);
    let mut out = Cow::Borrowed(text);
    for (at, token) in tokens.iter().enumerate().rev() {
        let pronoun = token
            .low
            .strip_suffix("'s")
            .filter(|_| token.kind == Kind::Plain);
        if pronoun.is_some_and(|pronoun| is_listed("contracted", pronoun)) {
            let verb = match tokens.get(at + 1) {
                Some(next) if next.is("been") => " has",
                _ => " is",
            };
            let apostrophe = text[token.span.clone()].rfind(['\'', '\u{2019}']);
            let start = token.span.start + apostrophe.unwrap_or(token.low.len());
            out.to_mut().replace_range(start..token.span.end, verb);
        }
    }
    out
}

/// A verb at the place where the verb of a duty stands.
struct Duty {
    /// The first word of the duty: its modal verb.
    start: usize,
    /// Whether the duty denies it: *must not skip*.
    is_denied: bool,
    /// Whether the subject suffers it: *must be blocked*.
    is_passive: bool,
}

impl Sentence<'_> {
    /// Returns why the sentence has no proposals although it asks for something.
    pub(super) fn not_drafted(&self) -> Option<String> {
        if let Some(words) = self.lifted() {
            return Some(format!(
                "`{words}` lifts a duty, and forbids nothing; if something is required, say it with `must`"
            ));
        }
        if let Some(words) = self.clock() {
            return Some(format!(
                "`{words}` is a time of day or a date, on which conditions are not drafted; describe it as a situation; in controlled \
                 English, for example: \"…\" may happen only while \"…\" holds."
            ));
        }
        self.left_undone()
    }

    /// Returns two names in quotation marks of which both are called: two calls are two steps.
    pub(super) fn both_called(&self, range: Range<usize>) -> Option<Range<usize>> {
        let is_name = |at: usize| self.tokens[at].quoted().is_some();
        let mut pairs = range.clone().map(|at| at..at + 3);
        let pair = pairs.find(|pair| {
            let fits = pair.end <= range.end && self.word(pair.start + 1) == "and";
            fits && is_name(pair.start) && is_name(pair.end - 1)
        });
        let is_call = |at: usize| is_listed("verbs of calls", self.word(at));
        pair.filter(|_| range.clone().any(is_call))
    }

    /// Returns why a sentence about two calls has no proposal, and how to write it.
    pub(super) fn two_calls(&self, denies: bool) -> Option<String> {
        let pair = self.both_called(0..self.tokens.len())?;
        let [a, b] = [pair.start, pair.end - 1].map(|at| self.words(at..at + 1));
        let form = match denies {
            true => format!("After {a}, {b} must never happen. After {b}, {a} must never happen."),
            false => format!("{a} must happen. {b} must happen."),
        };
        Some(format!(
            "{} are two steps; write a sentence about each; in controlled English, for example: {form}",
            self.words(pair)
        ))
    }

    /// Returns the words that say that something is not required, if nothing else is. *If no review is needed* is a condition.
    fn lifted(&self) -> Option<&'static str> {
        let all = 0..self.tokens.len();
        let is_condition = |at| is_listed("conditions", self.word(0)) && !self.has(0..at, &[","]);
        let required = self.has(all.clone(), &["must", "shall", "should"]);
        let mut phrases = list("not required").iter().filter(|_| !required);
        phrases.find_map(|words| {
            let mut found = all.clone().filter(|at| self.says(*at, words).is_some());
            found.any(|at| !is_condition(at)).then_some(*words)
        })
    }

    /// Returns the words for a time of day, a day or a date.
    fn clock(&self) -> Option<&str> {
        (0..self.tokens.len()).find_map(|at| {
            let end = self.time_of_day(at)?;
            Some(self.words(at..end))
        })
    }

    /// Returns the end of a time of day, a day or a date that begins here.
    fn time_of_day(&self, at: usize) -> Option<usize> {
        let phrase = |name, at| {
            let mut phrases = list(name).iter();
            phrases.find_map(|words| self.says(at, words))
        };
        let is_number = |at: usize| {
            self.tokens
                .get(at)
                .is_some_and(|token| token.kind == Kind::Number)
        };
        // `10:30`, `2026-01-31`
        let joined = |at: usize, sign: &str| {
            let ends_at = |at: usize| self.tokens[at].span.end == self.tokens[at + 1].span.start;
            self.word(at + 1) == sign && is_number(at + 2) && ends_at(at) && ends_at(at + 1)
        };
        if is_number(at) {
            let date = |sign| joined(at, sign) && joined(at + 2, sign);
            return match phrase("after an hour", at + 1) {
                Some(end) => Some(end),
                None if date("-") || date("/") => Some(at + 5),
                None if joined(at, ":") && self.words(at + 2..at + 3).len() == 2 => Some(at + 3),
                None => None,
            };
        }
        // *Between 9 and 5*, of no unit and of nothing that is counted.
        if self.word(at) == "between"
            && is_number(at + 1)
            && self.word(at + 2) == "and"
            && is_number(at + 3)
        {
            return (!self.names(at + 4)).then_some(at + 4);
        }
        if let Some(end) = phrase("times by themselves", at) {
            return (!self.names(end)).then_some(end);
        }
        if !is_listed("before a time", self.word(at)) {
            return None;
        }
        let beside = |at: &usize| is_listed("beside a time", self.word(*at)) || is_number(*at);
        let start = at + 1 + (at + 1..self.tokens.len()).take_while(beside).count();
        let end = phrase("times of day", start)?;
        // *Within 2 working days* is a length of time, *before the Friday report* is no time, and *on Fridays* always is.
        let is_many = self.word(end - 1).ends_with('s');
        let is_time = if is_many {
            !is_number(start - 1)
        } else {
            !self.names(end)
        };
        is_time.then_some(end)
    }

    /// Whether a noun may be here, which the words before it belong to.
    fn names(&self, at: usize) -> bool {
        let known = [
            "connectives",
            "prepositions",
            "articles",
            "ties",
            "duty words",
        ];
        let token = self.tokens.get(at);
        let is_word = token.is_some_and(|token| {
            token.kind == Kind::Plain && token.low.starts_with(char::is_alphabetic)
        });
        is_word
            && !known.iter().any(|name| is_listed(name, self.word(at)))
            && !list("times of day")
                .iter()
                .any(|words| self.says(at, words).is_some())
    }

    /// Returns the reason if a duty is to leave something undone, or to keep somebody from doing it.
    fn left_undone(&self) -> Option<String> {
        (0..self.tokens.len()).find_map(|at| {
            let duty = self.duty(at)?;
            let words = VERBS.iter().find_map(|name| {
                let mut verbs = list(name).iter();
                verbs.find(|words| {
                    let end = self.says(at, words);
                    end.is_some_and(|end| self.is_left_open(name, &duty, end))
                })
            })?;
            let is_left_out = duty.is_denied || is_listed("failing", words);
            let hint = self.hint(!is_left_out);
            Some(if is_left_out {
                format!("`{words}` is about something that is left undone; say what must happen; {hint}")
            } else {
                format!("`{words}` is about something that must not happen; say so with `must not`; {hint}")
            })
        })
    }

    /// Whether a verb of this list says what is not done, so that it is no event here.
    fn is_left_open(&self, name: &str, duty: &Duty, end: usize) -> bool {
        let all = 0..self.tokens.len();
        let has =
            |name: &str, mut range: Range<usize>| range.any(|at| is_listed(name, self.word(at)));
        let gerund = |at: usize| self.word(at).ends_with("ing");
        let keeps_from = (end..all.end).any(|at| self.word(at) == "from" && gerund(at + 1));
        let before = self.has(all.clone(), &["before", "prior"]);
        let looks_back =
            has("looking back", end..all.end) || is_listed("looking back", self.word(0));
        let tie = (end..all.end).find(|at| is_listed("ties", self.word(*at)));
        let object = match duty.is_passive {
            true => self.subject(duty.start)..duty.start,
            false => end..tie.unwrap_or(all.end),
        };
        // *The request* is one; *requests* and *all requests* are all of them.
        let token = self.tokens.get(object.start);
        let is_one = is_listed("one of them", self.word(object.start))
            || token.is_some_and(|token| token.kind != Kind::Plain);
        // *May skip it only after a review* limits what is left undone.
        if !duty.is_denied && self.has(end..all.end, &["only"]) {
            return false;
        }
        match name {
            "refraining" | "failing" => true,
            "omitting" => !duty.is_denied || has("ties", all),
            "leaving" => has("left", object),
            // *Must not bypass the sandbox after a login* forbids an act; *must not bypass the review before a merge* asks for one.
            "bypassing" => duty.is_denied && before,
            "undoing" if duty.is_denied => before && has("safeguards", object),
            _ if duty.is_denied => false,
            "forbidding" => true,
            "ceasing" => gerund(end) || keeps_from,
            "keeping" => keeps_from,
            "inhibiting" => looks_back && !is_one,
            "refusing" => keeps_from || looks_back || !is_one,
            _ => false,
        }
    }

    /// Returns the first word of the subject of a duty.
    fn subject(&self, duty: usize) -> usize {
        let comma = (0..duty).rev().find(|at| self.word(*at) == ",");
        let start = comma.map_or(0, |at| at + 1);
        start + usize::from(self.word(start) == "then")
    }

    /// Whether a word at the beginning of a clause belongs to its subject, and is no command.
    fn is_of_subject(&self, at: usize) -> bool {
        let word = self.word(at);
        let mut rest = (at..self.tokens.len()).map(|at| self.word(at));
        let modal = rest
            .find(|word| *word == "," || is_listed("ties", word) || is_listed("modal words", word));
        // *Failing to log it is forbidden* is about what is left undone.
        let gerund = word.ends_with("ing") && self.word(at + 1) != "to";
        word.ends_with("ed")
            || gerund
            || is_listed("participles", word)
            || modal.is_some_and(|word| is_listed("modal words", word))
    }

    /// Reads the words of duty before a verb. Returns `None` if the verb is none of a duty, as in a condition.
    fn duty(&self, at: usize) -> Option<Duty> {
        let is_duty = |word: &str| is_listed("duty words", word) || word.ends_with("ly");
        let before = (0..at).rev().take_while(|at| is_duty(self.word(*at)));
        let start = at - before.count();
        let said = |name: &str| (start..at).any(|at| is_listed(name, self.word(at)));
        // *, to avoid a leak*, is a purpose.
        let comma = || [",", ":"].contains(&self.word(start - 1));
        let begins = self.word(start) != "to" && (start == 0 || comma());
        let obliges = self.has(start..at, &["to"]) && said("obliging");
        // *Denied requests must be logged*, *drop zones must be cleared*: the words begin a subject.
        if begins && start == at && self.is_of_subject(at) {
            return None;
        }
        // *At no time may the agent skip it*: the subject stands before the verb.
        let is_inverted = list("inverted denials")
            .iter()
            .any(|words| self.says(0, words).is_some());
        if !begins && !said("modal words") && !obliges && !is_inverted {
            return None;
        }
        let subject = self.subject(start);
        let denies = |at| is_listed("denials of a duty", self.word(at));
        let is_denied = is_inverted || (subject..at).any(denies);
        // *May only refuse it after a review* limits what is left undone.
        if !is_denied && self.has(start..at, &["only"]) {
            return None;
        }
        Some(Duty {
            start,
            is_denied,
            is_passive: self.has(start..at, &["be", "been"]),
        })
    }
}

/// The lists of verbs that say what is not done.
const VERBS: [&str; 11] = [
    "refraining",
    "failing",
    "omitting",
    "leaving",
    "bypassing",
    "undoing",
    "forbidding",
    "refusing",
    "inhibiting",
    "ceasing",
    "keeping",
];
