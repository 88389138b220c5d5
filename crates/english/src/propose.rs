//! Proposals: what a sentence of free English may mean, as sentences of controlled English.
//!
//! Nothing is guessed. A sentence is taken apart by one of the patterns of `data/paraphrases.txt`, which know modal verbs, negation,
//! numbers, units and conjunctions, and no subject matter. The patterns cover the whole sentence and quote
//! all other words as they stand, so that no word, number or negation is lost. A stretch of words with a word of time, number, duty or
//! condition is not a situation: the sentence is declined, with the words that could not be placed.

mod decline;

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use crate::controlled::token::{Kind, Token, begin, tokens};
use crate::draft::Status;
use crate::pattern::{Part, Row, filled, rows};
use crate::words::{first_letter, is_listed, list, one_line, sections};

/// Words and signs of a sentence beyond which it is not taken apart.
const LONGEST: usize = 120;
/// Words of a subject at most.
const SUBJECT: usize = 10;

static RULES: LazyLock<Vec<Row>> = LazyLock::new(|| rows(include_str!("data/paraphrases.txt")));

/// Words, and the form of controlled English that they ask for, the likeliest first: `a; b & c => …` for one of `a` and `b`, and `c`.
static HINTS: LazyLock<Vec<(&str, &str)>> = LazyLock::new(|| {
    let rows = include_str!("data/hints.txt").lines();
    rows.filter_map(|row| row.split_once(" => ")).collect()
});

/// Vague phrases under the question that would settle them.
static VAGUE: LazyLock<Vec<(&str, Vec<&str>)>> =
    LazyLock::new(|| sections(include_str!("data/vague.txt")).collect());

/// The tokens of each slot of a pattern.
type Slots = Vec<(char, Range<usize>)>;

/// Returns the proposals for a sentence, likeliest first. `consents` returns whether a phrase is known to be a state: the latest message
/// of the user agrees.
///
/// # Errors
/// It asks for nothing ([`Status::NoRequirement`]), or it asks for something, but not so that a run shows it ([`Status::Unclear`]): the
/// reason, or the question that would settle it.
pub(crate) fn propose(
    text: &str,
    consents: &dyn Fn(&str) -> bool,
) -> Result<Vec<String>, (Status, String)> {
    let text = decline::uncontracted(text.trim());
    let text = &*text;
    let declined = |reason| Err((Status::Unclear, reason));
    let nothing = |reason: &str| Err((Status::NoRequirement, reason.to_owned()));
    let tokens = without_end(text);
    let words = tokens.iter().filter(|token| is_word(token)).count();
    if words == 0 {
        return nothing("it has no words");
    }
    if tokens.len() > LONGEST {
        return declined(format!(
            "it has {words} words; split it into shorter requirements"
        ));
    }
    let written = Sentence {
        text,
        tokens: &tokens,
        consents,
    };
    let text = reworded(text, consents);
    let reworded_tokens = without_end(&text);
    let sentence = Sentence {
        text: &text,
        tokens: &reworded_tokens,
        consents,
    };
    if !sentence.asks() {
        // A sentence without a word of duty may be a requirement if it has a word of condition, order, number or denial: *payment is due
        // within 14 days*, *neither party may assign it*.
        let Some(word) = sentence.listed("limits") else {
            return nothing("it asks for nothing, and forbids nothing");
        };
        let hint = written.hint(sentence.denies());
        return declined(format!(
            "it has `{word}`, and no word of duty such as `must`; {hint}"
        ));
    }
    if let Some(reason) = sentence.not_drafted() {
        return declined(reason);
    }
    if let Some(question) = sentence.vague() {
        return declined(question);
    }
    if let Some(word) = sentence.refers_back() {
        return declined(format!(
            "`{word}` refers to another sentence; say what it stands for"
        ));
    }
    for rule in RULES.iter().filter(|rule| rule.group != REWORDED) {
        let mut slots = Slots::new();
        if sentence.fits(&rule.parts, 0, &mut slots) {
            if rule.group == "Counts"
                && let Some(word) = sentence.counted_each(&slots)
            {
                return declined(format!(
                    "`{word}` counts for each of something; in controlled English, for example: For every `id`: \"…\" may happen at most 3 times."
                ));
            }
            if let Some(word) = sentence.said_of_name(&slots) {
                return declined(format!(
                    "expected `happen`, `hold` or `be called` after a name, found `{word}`"
                ));
            }
            if let Some(words) = sentence.joined_events(rule.group, &slots) {
                return declined(format!(
                    "`{words}` may happen at two steps; write a sentence about each; in controlled English, for example: \
                     \"…\" may happen only after \"…\"."
                ));
            }
            return Ok(sentence.meanings(rule.meaning, &slots));
        }
    }
    declined(written.unplaced(sentence.denies()))
}

/// The group of the rows that say a sentence in other words, which the other rows read.
const REWORDED: &str = "Reworded";

/// Returns a sentence that says with *must* or *must not* what verbs such as *refrain* and *fail to* ask for. *Must refrain from paying* is
/// *must not paying*: the other words stay as they stand. Each row takes a verb away.
fn reworded<'t>(text: &'t str, consents: &dyn Fn(&str) -> bool) -> Cow<'t, str> {
    let tokens = without_end(text);
    let sentence = Sentence {
        text,
        tokens: &tokens,
        consents,
    };
    match sentence.reworded() {
        Some(said) => Cow::Owned(reworded(&said, consents).into_owned()),
        None => Cow::Borrowed(text),
    }
}

/// The tokens of a sentence, without its end.
fn without_end(text: &str) -> Vec<Token> {
    let mut tokens = tokens(text);
    let is_end = |token: &Token| [".", "!", ":", ";"].iter().any(|sign| token.is(sign));
    while tokens.last().is_some_and(is_end) {
        tokens.pop();
    }
    tokens
}

struct Sentence<'t> {
    text: &'t str,
    tokens: &'t [Token],
    consents: &'t dyn Fn(&str) -> bool,
}

impl Sentence<'_> {
    fn word(&self, at: usize) -> &str {
        match self.tokens.get(at) {
            Some(token) if token.kind == Kind::Plain => &token.low,
            _ => "",
        }
    }

    fn has(&self, range: Range<usize>, words: &[&str]) -> bool {
        range.clone().any(|at| words.contains(&self.word(at)))
    }

    /// Returns the first word that is on a list.
    fn listed(&self, name: &str) -> Option<&str> {
        let mut words = (0..self.tokens.len()).map(|at| self.word(at));
        words.find(|word| is_listed(name, word))
    }

    /// Returns the end of these words if they are here.
    fn says(&self, from: usize, words: &str) -> Option<usize> {
        begin(&self.tokens[from..], words).map(|length| from + length)
    }

    /// Whether these words are anywhere.
    fn contains(&self, words: &str) -> bool {
        (0..self.tokens.len()).any(|at| self.says(at, words).is_some())
    }

    /// Whether the rest of a pattern fits all tokens from here on.
    fn fits(&self, parts: &[Part], at: usize, slots: &mut Slots) -> bool {
        let Some((part, rest)) = parts.split_first() else {
            return at == self.tokens.len();
        };
        match part {
            Part::Words(choices) => choices.iter().any(|words| {
                let end = self.says(at, words);
                end.is_some_and(|end| self.fits(rest, end, slots))
            }),
            Part::Slot(letter, _) => (at + 1..=self.tokens.len()).any(|end| {
                if !self.allowed(*letter, at..end) {
                    return false;
                }
                slots.push((*letter, at..end));
                let fitting = self.fits(rest, end, slots);
                if !fitting {
                    slots.pop();
                }
                fitting
            }),
        }
    }

    /// Whether the sentence requires or forbids something. A permission does not, unless it is the only one.
    fn asks(&self) -> bool {
        let is_first = |at: usize| at == 0 || [",", ":"].contains(&self.word(at - 1));
        // *Always ask*, *then first ask*; and not *the first call*.
        let adverbs = |at: usize| {
            (0..at)
                .rev()
                .take_while(|at| is_listed("clause adverbs", self.word(*at)))
        };
        let begins = |at: usize| is_first(adverbs(at).last().unwrap_or(at));
        let mut all = 0..self.tokens.len();
        all.any(|at| begins(at) && (self.word(at) == "be" || self.commands(at)))
            || self.listed("duties").is_some()
    }

    /// Whether a word is the verb of a command.
    fn commands(&self, at: usize) -> bool {
        is_listed("imperatives", self.word(at))
    }

    /// Returns the sentence in other words, by the first row that says what one of its verbs asks for.
    fn reworded(&self) -> Option<String> {
        let mut rules = RULES.iter().filter(|rule| rule.group == REWORDED);
        rules.find_map(|rule| {
            let mut slots = Slots::new();
            let fits = self.fits(&rule.parts, 0, &mut slots);
            let mut words = |slot: &str| {
                let range = slot.chars().next().and_then(|name| filling(&slots, name));
                range.map_or_else(String::new, |range| self.written(range))
            };
            fits.then(|| filled(rule.meaning, &mut words))
        })
    }

    /// Whether the sentence denies something, also by a verb such as *avoid*.
    fn denies(&self) -> bool {
        self.listed("denials of a sentence").is_some()
    }

    /// Returns the form of controlled English that the words of the sentence ask for: of one that denies something, or of another.
    fn hint(&self, denies: bool) -> String {
        let has = |words: &str| match words.trim() {
            "@denial" => denies,
            words => words.split(';').any(|words| self.contains(words)),
        };
        let form = HINTS
            .iter()
            .find(|(words, _)| words.split('&').all(has))
            .map_or("\"…\" must always hold.", |(_, form)| form);
        format!("in controlled English, for example: {form}")
    }

    /// Returns the question that a vague phrase leaves open.
    fn vague(&self) -> Option<String> {
        let (words, question) = VAGUE.iter().find_map(|(question, phrases)| {
            let mut phrases = phrases.iter().filter(|words| !words.is_empty());
            Some((phrases.find(|words| self.contains(words))?, question))
        })?;
        let words = one_line(words);
        Some(format!("`{words}` is not definite: {question}"))
    }

    /// Returns the word at the beginning that stands for something in another sentence, if there is one.
    fn refers_back(&self) -> Option<&str> {
        let at = usize::from(is_listed("conditions", self.word(0)));
        let mut impersonal = list("impersonal").iter();
        let points = is_listed("pointing", self.word(at))
            && !impersonal.any(|words| self.says(at + 1, words).is_some());
        points.then(|| self.word(at))
    }

    /// Whether a stretch of words may fill a slot.
    fn allowed(&self, slot: char, range: Range<usize>) -> bool {
        let first = self.word(range.start);
        match slot {
            't' | 'w' | 'n' | 'k' | 'f' => self.amount(slot, range).is_some(),
            'x' | 'y' | 'z' => true,
            'g' => {
                first.len() > 4 && first.ends_with("ing")
                    || self.tokens[range.start].quoted().is_some()
            }
            'o' => !self.has(range, &["from", "to"]),
            'a' => self.is_actor(range),
            _ if !self.is_stretch(slot, range.clone()) => false,
            's' => self.is_subject(range),
            'i' => self.commands(range.start) && !self.joins_acts(range),
            'v' => !self.joins_acts(range),
            'b' => {
                (first == "be" || is_listed("lasting", first))
                    && range.len() > 1
                    && !self.joins_acts(range)
            }
            _ => !["it", "they", "this", "that"].contains(&first) || range.len() > 2,
        }
    }

    /// Whether words belong together, and say nothing that no situation may swallow.
    fn is_stretch(&self, slot: char, range: Range<usize>) -> bool {
        let ends = |token: &Token| token.is(")") || is_word(token) || token.is("/");
        // `a and b or c` has two readings.
        let mixed = self.has(range.clone(), &["and"]) && self.has(range.clone(), &["or"]);
        self.tokens.get(range.start).is_some_and(is_word)
            && self.tokens.get(range.end - 1).is_some_and(ends)
            && !mixed
            && !self.has(range.clone(), &[":", ";", "\u{2014}", "\u{2013}", "-"])
            && self.clean(slot, range.clone())
            && !self.orders(range.clone())
            && !self.tells_of_names(range.clone())
            && self.hidden(range).is_none()
    }

    /// Whether events are said to follow one another, which no condition of a step can say: *three failures in a row*.
    fn orders(&self, range: Range<usize>) -> bool {
        let mut phrases = list("in order").iter();
        phrases.any(|words| {
            range
                .clone()
                .any(|at| self.says(at, words).is_some_and(|end| end <= range.end))
        })
    }

    /// Whether more is said of a name in quotation marks than that it happens, so that it would be part of another situation: *`b` holds
    /// and `c` has happened*. Other words stay: *push to `main`*, *`tests` has failed*.
    fn tells_of_names(&self, range: Range<usize>) -> bool {
        let is_name = |at: &usize| self.tokens[*at].quoted().is_some();
        let names = range.clone().filter(is_name).count();
        let said = range
            .clone()
            .any(|at| is_listed("said of names", self.word(at)));
        let only = range.clone().all(|at| {
            is_name(&at) || [",", "and", "or"].contains(&self.word(at)) || is_calling(self.word(at))
        });
        let both = self.both_called(range.clone()).is_some();
        names > 0 && (said || names > 1 && only || both) && self.calls(&[range]).is_none()
    }

    /// Returns the verb of a name in quotation marks if it says more than that it happens: a name and a verb are no situation, as the verb
    /// may be misspelt.
    fn said_of_name(&self, slots: &Slots) -> Option<&str> {
        let subject = filling(slots, 's')?;
        let verb = filling(slots, 'v').or(filling(slots, 'b'))?;
        let word = self.word(verb.start);
        let named = self.calls(std::slice::from_ref(&subject)).is_some()
            && self.calls(&[subject, verb]).is_none();
        (named && !["be", "have"].contains(&word)).then_some(word)
    }

    /// Returns the words that make a limit one for each of something: *the same file*, *a failed call*; and not *a refund* that happens.
    fn counted_each(&self, slots: &Slots) -> Option<&str> {
        let words = |letter| Some(self.words(filling(slots, letter)?));
        let happens = words('v').is_some_and(|verb| is_listed("happening", verb));
        let is_one = |range: &Range<usize>| ["a", "an"].contains(&self.word(range.start));
        let one = filling(slots, 's').filter(is_one).filter(|_| !happens);
        self.listed("keys").or_else(|| Some(self.words(one?)))
    }

    /// Returns two events that are joined by *and*, each of which may happen at a step of its own: *after a search and a payment*.
    fn joined_events(&self, group: &str, slots: &Slots) -> Option<&str> {
        let mut ranges = slots.iter().filter(|(name, range)| {
            let tied = range.start > 0 && is_listed("events before", self.word(range.start - 1));
            ['c', 'd'].contains(name) && (tied || group == "What must come before")
        });
        ranges.find_map(|(_, range)| {
            let verb = |mut part: Range<usize>| part.any(|at| is_listed("states", self.word(at)));
            let at = range.clone().find(|at| self.word(*at) == "and")?;
            let noun = is_listed("definite", self.word(at + 1));
            let clauses = verb(range.start..at) && verb(at + 1..range.end);
            (noun || clauses).then(|| self.words(range.clone()))
        })
    }

    fn is_subject(&self, range: Range<usize>) -> bool {
        range.len() <= SUBJECT
            && !is_listed("articles", self.word(range.end - 1))
            && !is_listed("prepositions", self.word(range.start))
            && !self.has(range.clone(), list("no subject"))
            // *a vehicle facing a red light*: a condition of its own
            && (range.len() < 4 || !range.clone().any(|at| self.word(at).ends_with("ing")))
    }

    /// Whether a stretch of words says nothing of time, number, duty or condition, and closes its parentheses.
    fn clean(&self, slot: char, mut range: Range<usize>) -> bool {
        let mut depth = 0_i32;
        let all = range.all(|at| {
            let word = self.word(at);
            depth += i32::from(word == "(") - i32::from(word == ")");
            // A condition may deny something. Words in parentheses belong to the words before them.
            let denied = slot == 'c' && word == "not";
            let idiom = at > 0 && matches!((self.word(at - 1), word), ("at", "least" | "most"));
            let numbered =
                idiom && matches!(slot, 'c' | 'd') && number(self.tokens.get(at + 1)).is_some();
            let said = denied || numbered || !is_listed("connectives", word);
            depth >= 0 && (depth > 0 && word != "(" || said) && !self.is_bound(at)
        });
        all && depth == 0
    }

    /// Returns a word that hides a condition within a stretch of words: *data that was read*, *an unapproved chain*.
    fn hidden(&self, range: Range<usize>) -> Option<&str> {
        let mut words = range.map(|at| self.word(at));
        let mut is_relative = false;
        words.find(|word| {
            let past = is_relative && is_listed("past", word);
            is_relative |= is_listed("relative", word);
            past || word.len() > 6 && word.starts_with("un") && word.ends_with("ed")
        })
    }

    /// Whether a number of steps or a time is here: a bound that no situation may swallow.
    fn is_bound(&self, at: usize) -> bool {
        let unit = if self.word(at + 1) == "-" {
            at + 2
        } else {
            at + 1
        };
        number(self.tokens.get(at)).is_some() && is_listed("units", self.word(unit))
    }

    /// Whether two acts are joined, which may be at two steps: *close it and notify the owner*, *be closed and the owner notified*, *reading
    /// and sending*.
    fn joins_acts(&self, range: Range<usize>) -> bool {
        let participle = |at: usize| self.word(at).ends_with("ed");
        let is_clause =
            |at: usize| is_listed("articles", self.word(at)) && (at + 2..range.end).any(participle);
        let is_passive = self.word(range.start) == "be";
        let gerund = |at: usize| self.word(at).ends_with("ing");
        range.clone().any(|at| {
            matches!(self.word(at), "and" | "then")
                && range.contains(&(at + 1))
                && (self.commands(at + 1)
                    || is_passive && is_clause(at + 1)
                    || gerund(range.start) && gerund(at + 1))
        })
    }

    /// A length of time or of steps, a number of times, a number or a share, as controlled English has it. `60 calendar days` are `60 days`.
    fn amount(&self, slot: char, range: Range<usize>) -> Option<String> {
        let (second, last) = (self.word(range.start + 1), self.word(range.end - 1));
        let value = || number(self.tokens.get(range.start));
        match (slot, range.len()) {
            ('n', 1) if ["once", "twice"].contains(&last) => Some(last.to_owned()),
            ('n', 2) if last == "times" => Some(value()? + " times"),
            // *500 euros* are no 500 events.
            ('k', 1)
                if !self.is_bound(range.start) && !is_listed("measures", self.word(range.end)) =>
            {
                value()
            }
            ('f', 1) => value(),
            ('f', 2) if ["%", "percent"].contains(&last) => Some(value()? + " %"),
            // *Per minute* is in any minute.
            ('w', 1) if is_listed("units", last) && !last.ends_with('s') => {
                Some(format!("1 {last}"))
            }
            // *24-hour period*
            ('w', 3 | 4) if second == "-" && is_listed("units", self.word(range.start + 2)) => {
                let unit = self.word(range.start + 2);
                let period = range.len() == 3 || ["period", "window"].contains(&last);
                let value = value()?;
                let end = if value == "1" || unit.ends_with('s') {
                    ""
                } else {
                    "s"
                };
                period.then_some(format!("{value} {unit}{end}"))
            }
            ('t' | 'w', 3) if second != "calendar" => None,
            ('t' | 'w', 2 | 3) if is_listed("units", last) => Some(format!("{} {last}", value()?)),
            _ => None,
        }
    }

    /// The sentences that a rule gives, the one about a state first where the condition is a state. Those about consent are given only of
    /// consent.
    fn meanings(&self, meanings: &str, slots: &Slots) -> Vec<String> {
        let last = || slots.last().map(|(_, range)| range.clone());
        let mut found = Vec::new();
        for meaning in meanings.split(" | ") {
            let [agrees, is] = ["?agrees}", "?is}"].map(|end| meaning.contains(end));
            let consent = self
                .stated(meaning, slots)
                .is_some_and(|phrase| (self.consents)(&phrase));
            let state = is && last().is_some_and(|range| self.is_state(range));
            if consent || !agrees {
                let words = filled(meaning, &mut |slot| self.slot(slot, slots));
                found.push((consent || state, words));
            }
        }
        // Stable: otherwise in the order of the rule.
        found.sort_by_key(|(first, _)| !first);
        found.into_iter().map(|(_, meaning)| meaning).collect()
    }

    /// The phrase of the slot of a meaning that may be a state.
    fn stated(&self, meaning: &str, slots: &Slots) -> Option<String> {
        let (before, _) = meaning
            .split_once("?agrees}")
            .or_else(|| meaning.split_once("?is}"))?;
        let (_, slot) = before.rsplit_once('{')?;
        Some(self.slot(slot, slots).trim_matches('"').to_owned())
    }

    /// Whether a condition is there for a while: *the sandbox is active*, *the chain has been approved*, *a valid token*; and not *a person
    /// has approved*, *an approval*.
    fn is_state(&self, range: Range<usize>) -> bool {
        if self.has(range.clone(), list("states")) {
            return true;
        }
        let event = |word: &str| {
            let mut endings = list("event endings").iter();
            endings.any(|ending| word.ends_with(ending))
                || is_listed("event verbs", word)
                || is_listed("event nouns", word.trim_end_matches('s'))
        };
        // A thing is held or not; an event has a verb, or a noun that is made of one.
        let mut words = range.clone().map(|at| self.word(at));
        ["a", "an"].contains(&self.word(range.start)) && !words.any(event)
    }

    fn slot(&self, slot: &str, slots: &Slots) -> String {
        let (names, verb) = slot.split_once('?').unwrap_or((slot, ""));
        let mut spans: Vec<Range<usize>> = Vec::new();
        for name in names.split(' ').filter_map(|name| name.chars().next()) {
            let Some(range) = filling(slots, name) else {
                continue;
            };
            match name {
                't' | 'w' | 'n' | 'k' | 'f' => return self.amount(name, range).unwrap_or_default(),
                // The agent acts in every situation, so its name is left out.
                's' if names.len() > 1 && self.is_actor(range.clone()) => {}
                _ => spans.push(range),
            }
        }
        let calls = self.calls(&spans);
        let verb = match verb {
            "has" => " has happened",
            "is" | "agrees" => " holds",
            // Only names say which tools are excepted: without names there is no sentence.
            "other" => {
                let names = calls.map(|names| names.replace(['`', '(', ')'], ""));
                return names.map_or_else(String::new, |names| {
                    format!("\"a tool other than {names} is called\"")
                });
            }
            _ => "",
        };
        let phrase = calls.unwrap_or_else(|| {
            let spans = spans.into_iter();
            let mut words: Vec<String> = spans.map(|range| self.phrase(range)).collect();
            // *The loan must not be paid* says of a step that *the loan is paid*.
            if words.len() == 2 && is_listed("happening", &words[1]) {
                words.pop();
            }
            if let [subject, verb] = &mut words[..] {
                let forms = [("be ", "is", "are"), ("have ", "has", "have")];
                let of = |(base, one, many)| Some((verb.strip_prefix(base)?, one, many));
                if let Some((rest, one, many)) = forms.into_iter().find_map(of) {
                    *verb = format!("{} {rest}", if is_plural(subject) { many } else { one });
                }
            }
            format!("\"{}\"", words.join(" "))
        });
        phrase + verb
    }

    /// The situations in quotation marks, if these words say no more than that one of them is called.
    fn calls(&self, spans: &[Range<usize>]) -> Option<String> {
        let mut names = Vec::new();
        let mut both = false;
        for at in spans.iter().cloned().flatten() {
            let token = self.tokens.get(at)?;
            match &token.kind {
                Kind::Quoted(name) if self.text[token.span.clone()].starts_with('`') => {
                    names.push(format!("`{name}`"));
                }
                Kind::Quoted(phrase) => names.push(format!("\"{phrase}\"")),
                Kind::Plain if [",", "or"].contains(&token.low.as_str()) => {}
                Kind::Plain if token.low == "and" => both = true,
                Kind::Plain if is_calling(&token.low) => {}
                Kind::Plain if !names.is_empty() && is_listed("said of names", &token.low) => {}
                _ => return None,
            }
        }
        match names.as_slice() {
            [] => None,
            [one] => Some(one.clone()),
            // Two calls are two steps, and the words do not say which of them is meant.
            _ if both => None,
            several => Some(format!("({})", several.join(" or "))),
        }
    }

    fn is_actor(&self, range: Range<usize>) -> bool {
        let actor = self.phrase(range).to_lowercase();
        is_listed("actors", actor.trim_start_matches("the "))
    }

    /// The words of a situation, whose quotation marks cannot be those within it.
    fn phrase(&self, range: Range<usize>) -> String {
        self.written(range)
            .replace(['"', '\u{201c}', '\u{201d}'], "'")
    }

    /// The words as they stand.
    fn written(&self, range: Range<usize>) -> String {
        let text = self.words(range.clone());
        // A sentence begins with a capital, a situation does not; `PII` and `I` stay.
        let second = text.chars().nth(1);
        let capital = second.is_some_and(char::is_lowercase) || text.starts_with("A ");
        if range.start == 0 && capital {
            first_letter(text, char::to_lowercase)
        } else {
            text.to_owned()
        }
    }

    /// The text of a stretch of words.
    fn words(&self, range: Range<usize>) -> &str {
        let [first, last] = [range.start, range.end - 1].map(|at| &self.tokens[at].span);
        &self.text[first.start..last.end]
    }

    /// The words of time, number, duty and condition that no pattern has a place for.
    fn unplaced(&self, denies: bool) -> String {
        let unplaced =
            |word: &&str| is_listed("connectives", word) || ["and", "(", ";", ":"].contains(word);
        let words = (0..self.tokens.len())
            .map(|at| self.word(at))
            .filter(unplaced);
        let mut words: Vec<String> = words.map(|word| format!("`{word}`")).collect();
        words.dedup();
        if let Some(reason) = self.two_calls(denies) {
            return reason;
        }
        let why = if !words.is_empty() {
            format!("no one reading has a place for {}", words.join(", "))
        } else if let Some(word) = self.hidden(0..self.tokens.len()) {
            format!("`{word}` is a condition of its own")
        } else {
            "it does not say when: always, at some point, or whenever something happens".to_owned()
        };
        format!("{why}; {}", self.hint(denies))
    }
}

/// Whether a word says that a tool is called, or belongs to such words.
fn is_calling(word: &str) -> bool {
    is_listed("calling", word) || is_listed("verbs of calls", word)
}

/// Returns the tokens that fill a slot.
fn filling(slots: &Slots, name: char) -> Option<Range<usize>> {
    let mut slots = slots.iter();
    let found = slots.find(|(known, _)| *known == name);
    found.map(|(_, range)| range.clone())
}

/// Whether a token is a word.
fn is_word(token: &Token) -> bool {
    token.kind != Kind::Plain || token.low.chars().any(char::is_alphanumeric)
}

/// Whether a subject is of several: *orders*, *children under 16*, *the host and the port*.
fn is_plural(subject: &str) -> bool {
    let words: Vec<&str> = subject.split_whitespace().collect();
    // *Plans marked as old*; *the marked plan*.
    let is_participle = |at: usize| {
        let before = at.checked_sub(1).map_or("the", |at| words[at]);
        words[at].ends_with("ed") && !is_listed("definite", before) && !before.ends_with("ly")
    };
    let is_after = |at: &usize| is_listed("after the noun", words[*at]) || is_participle(*at);
    let end = (0..words.len()).find(is_after).unwrap_or(words.len());
    let noun = end.checked_sub(1).map(|last| words[last]);
    let ends = |ends: &[&str]| noun.is_some_and(|noun| ends.iter().any(|end| noun.ends_with(end)));
    words.contains(&"and")
        || ends(&["s", "children", "people", "men", "data"]) && !ends(&["ss", "us", "is"])
}

/// A number in digits or words, as controlled English has it.
fn number(token: Option<&Token>) -> Option<String> {
    let value = token?.number()?;
    Some(value.decimal())
}
