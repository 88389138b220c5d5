//! The parser: recursive descent over tokens, with ordered choice. It records the farthest token of any choice, and what was expected there.

use std::borrow::Cow;
use std::collections::HashMap;

use super::fault::{Expected, Unread};
use super::grammar::Value;
use super::token::{Kind, Token, begin, tokens};
use super::vocabulary::{Situation, Vocabulary, fresh, identifier};
use super::{BOUNDS, Chance, Controlled, DEPTH, TOKENS};
use crate::words::formula::and;
use crate::words::{Logic, Ratio};

/// Describes a situation among the expected alternatives of a [`Fault`].
pub const SITUATION: &str = "a situation in backquotes or quotation marks";

/// A rule at a place, of a duty with or without a condition, within a scope or not. Its result is kept, so that parsing stays linear
/// however deep parentheses are nested.
type Place = (&'static str, usize, bool, bool);

pub(super) struct Parser<'v> {
    pub(super) tokens: Vec<Token>,
    pub(super) at: usize,
    /// The farthest token that any choice reached, and what was expected there.
    furthest: usize,
    expected: Vec<Expected>,
    /// Whether the words before the name of a situation are read, which no fault lists.
    is_naming: bool,
    /// A fault that no other choice mends: its token, and what was expected there.
    pub(super) stuck: Option<(usize, Cow<'static, str>)>,
    situations: Vec<Situation>,
    vocabulary: &'v Vocabulary,
    kept: HashMap<Place, Option<(Logic, usize)>>,
    depth: usize,
    /// Whether the duty is at the steps of a condition.
    pub(super) triggered: bool,
    /// Whether the duty is within a scope, where order is counted from the beginning of the scope.
    pub(super) scoped: bool,
}

/// Reads a whole text.
pub(super) fn read(text: &str, vocabulary: &Vocabulary) -> Result<Controlled, Unread> {
    let mut parser = Parser::new(text, vocabulary);
    if parser.tokens.len() > TOKENS {
        let expected = format!("at most {TOKENS} words");
        return Err(parser.unread(text, TOKENS, vec![Expected::Other(expected.into())]));
    }
    match parser.text() {
        Some(read) => Ok(read),
        None => Err(match parser.stuck.take() {
            Some((at, expected)) => parser.unread(text, at, vec![Expected::Other(expected)]),
            None => {
                let expected = std::mem::take(&mut parser.expected);
                parser.unread(text, parser.furthest, expected)
            }
        }),
    }
}

/// Returns what may follow the beginning of a text, or nothing if no sentence begins so.
pub(super) fn continuations(text: &str, vocabulary: &Vocabulary) -> Vec<String> {
    let mut parser = Parser::new(text, vocabulary);
    let length = parser.tokens.len();
    if length <= TOKENS {
        let _ = parser.text();
    }
    let begins = parser.furthest == length && parser.stuck.is_none();
    let expected = parser.expected.iter().filter(|_| begins);
    expected.map(Expected::to_string).collect()
}

impl<'v> Parser<'v> {
    fn new(text: &str, vocabulary: &'v Vocabulary) -> Parser<'v> {
        Parser {
            tokens: tokens(text),
            at: 0,
            furthest: 0,
            expected: Vec::new(),
            is_naming: false,
            stuck: None,
            situations: Vec::new(),
            vocabulary,
            kept: HashMap::new(),
            depth: 0,
            triggered: false,
            scoped: false,
        }
    }
}

impl Parser<'_> {
    /// Sentences to the end of the text.
    fn text(&mut self) -> Option<Controlled> {
        let key = self.attempt(Self::key);
        let chance = self.attempt(Self::chance);
        let mut parts = vec![self.sentence()?];
        while self.at < self.tokens.len() {
            // A text with a key or a probability has only one sentence.
            if key.is_some() || chance.is_some() {
                self.expect("the end of the text");
                return None;
            }
            parts.push(self.sentence()?);
        }
        let logic = and(parts);
        // Situations are numbered as the formula speaks of them.
        let order = logic.atoms();
        let numbers = |atom: usize| order.iter().position(|known| *known == atom).unwrap_or(0);
        let situations = order
            .iter()
            .filter_map(|atom| self.situations.get(*atom).cloned())
            .collect();
        Some(Controlled {
            logic: logic.renamed(&numbers),
            situations,
            key,
            chance,
        })
    }

    /// `For every \`id\`:`
    fn key(&mut self) -> Option<String> {
        self.word("for")?;
        self.one_of("every|each")?;
        let Some(name) = self.tokens.get(self.at)?.quoted().map(identifier) else {
            self.expect("a name in backquotes");
            return None;
        };
        self.at += 1;
        self.one_of(":|,")?;
        Some(name)
    }

    /// `With probability at most 0.05,`
    fn chance(&mut self) -> Option<Chance> {
        self.word("with probability")?;
        let (_, op) = BOUNDS
            .into_iter()
            .find(|(words, _)| self.word(words).is_some())?;
        let value = self.number()?;
        let value = match self.one_of("%|percent") {
            Some(_) => value.times(Ratio::new(1, 100)),
            None => value,
        };
        if value.to_f64() > 1.0 {
            self.expect("a probability between 0 and 1");
            return None;
        }
        self.word(",")?;
        Some(Chance { op, value })
    }

    /// One sentence with its full stop, which the last one may lack.
    fn sentence(&mut self) -> Option<Logic> {
        let from = self.at;
        for form in ["free", "within a scope", "trailing"] {
            self.at = from;
            self.scoped = false;
            let read = self.logic(form);
            // No form mends such a fault, even if the parser could read the rest.
            if self.stuck.is_some() {
                return None;
            }
            if read.is_some() && self.end() {
                return read;
            }
        }
        None
    }

    /// Whether a sentence ends here.
    pub(super) fn end(&mut self) -> bool {
        self.has(".") || self.at == self.tokens.len() || {
            self.expect("the end of the sentence");
            false
        }
    }

    /// Notes what would have been accepted here.
    pub(super) fn expect(&mut self, what: &'static str) {
        self.expect_at(self.at, Expected::Other(what.into()));
    }

    fn expect_at(&mut self, at: usize, what: Expected) {
        if at > self.furthest && !self.is_naming {
            self.furthest = at;
            self.expected.clear();
        }
        if at == self.furthest && !self.is_naming && !self.expected.contains(&what) {
            self.expected.push(what);
        }
    }

    /// These words, one after the other.
    pub(super) fn word(&mut self, words: &'static str) -> Option<()> {
        let mut at = self.at;
        let mut rest = words;
        while !rest.is_empty() {
            let (first, after) = rest.split_once(' ').unwrap_or((rest, ""));
            if !self.tokens.get(at).is_some_and(|token| token.is(first)) {
                // A single matching word, such as `the`, does not show that the others are meant.
                let (at, words) = if at > self.at + 1 {
                    (at, rest)
                } else {
                    (self.at, words)
                };
                self.expect_at(at, Expected::Words(words));
                return None;
            }
            at += 1;
            rest = after;
        }
        self.at = at;
        Some(())
    }

    /// Notes a fault that no other choice mends, so many tokens before this one.
    pub(super) fn stick(&mut self, back: usize, expected: impl Into<Cow<'static, str>>) {
        if self.stuck.is_none() {
            self.stuck = Some((self.at.saturating_sub(back), expected.into()));
        }
    }

    /// Whether one of these, with bars between them, is here.
    pub(super) fn has(&mut self, choices: &'static str) -> bool {
        self.one_of(choices).is_some()
    }

    /// The first of these, with bars between them, that is here: by number.
    pub(super) fn one_of(&mut self, choices: &'static str) -> Option<usize> {
        choices
            .split('|')
            .position(|words| self.word(words).is_some())
    }

    /// The number of words of the first of these, with bars between them, that is here. Nothing is read or expected.
    pub(super) fn here(&self, choices: &str) -> Option<usize> {
        let mut choices = choices.split('|');
        choices.find_map(|words| begin(&self.tokens[self.at..], words))
    }

    /// Tries a rule; if it fails, nothing was read.
    pub(super) fn attempt<T>(&mut self, rule: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let at = self.at;
        let read = rule(self);
        if read.is_none() {
            self.at = at;
        }
        read
    }

    /// A rule of formulas, read once for each place.
    pub(super) fn kept(
        &mut self,
        rule: &'static str,
        read: impl FnOnce(&mut Self) -> Option<Logic>,
    ) -> Option<Logic> {
        let place = (rule, self.at, self.triggered, self.scoped);
        if let Some(known) = self.kept.get(&place) {
            let (logic, at) = known.clone()?;
            self.at = at;
            return Some(logic);
        }
        if self.depth >= 3 * DEPTH {
            self.stick(0, format!("at most {DEPTH} parentheses within each other"));
            return None;
        }
        self.depth += 1;
        let found = self.attempt(read);
        self.depth -= 1;
        self.kept
            .insert(place, found.clone().map(|logic| (logic, self.at)));
        found
    }

    /// `5`, `0.25`, `five`
    pub(super) fn number(&mut self) -> Option<Ratio> {
        let found = self.tokens.get(self.at).and_then(Token::number);
        match found {
            Some(_) => self.at += 1,
            None => self.expect("a number"),
        }
        found
    }

    /// A situation: a quoted phrase, or words of the vocabulary, with or without an article.
    pub(super) fn situation(&mut self) -> Option<Logic> {
        self.is_naming = true;
        let found = self.table("situation");
        self.is_naming = false;
        match found {
            Some(Value::Logic(logic)) => Some(logic),
            _ => {
                self.expect(SITUATION);
                None
            }
        }
    }

    /// The name or the phrase of a situation.
    pub(super) fn named(&mut self) -> Option<Logic> {
        let token = self.tokens.get(self.at)?;
        let situation = match &token.kind {
            Kind::Quoted(phrase) if phrase.chars().any(char::is_alphanumeric) => {
                let known = self.vocabulary.named(phrase).map(str::to_owned);
                let situation = Situation {
                    known: known.is_some(),
                    name: known.unwrap_or_else(|| identifier(phrase)),
                    phrase: phrase.clone(),
                };
                self.at += 1;
                // the `x` tool
                self.at += self.here("tool").unwrap_or(0);
                situation
            }
            Kind::Plain => {
                let rest = self.tokens[self.at..].iter().take(24);
                let words: Vec<&str> = rest
                    .take_while(|token| token.kind == Kind::Plain)
                    .map(|token| token.low.as_str())
                    .collect();
                let (name, length) = self.vocabulary.longest(&words)?;
                let situation = Situation {
                    name: name.to_owned(),
                    phrase: words[..length].join(" "),
                    known: true,
                };
                self.at += length;
                situation
            }
            _ => return None,
        };
        Some(Logic::Atom(self.atom(situation)))
    }

    /// The number of a situation. The same words are the same one; other words get a name of their own.
    fn atom(&mut self, mut situation: Situation) -> usize {
        let same = |other: &Situation| {
            other.phrase == situation.phrase
                || situation.known && other.known && other.name == situation.name
        };
        if let Some(at) = self.situations.iter().position(same) {
            return at;
        }
        situation.name = fresh(&situation.name, &|name| {
            self.situations.iter().any(|other| other.name == name)
        });
        self.situations.push(situation);
        self.situations.len() - 1
    }

    fn unread(&self, text: &str, at: usize, expected: Vec<Expected>) -> Unread {
        let token = self.tokens.get(at).map(|token| token.span.clone());
        Unread {
            span: token.unwrap_or(text.len()..text.len()),
            expected,
        }
    }
}
