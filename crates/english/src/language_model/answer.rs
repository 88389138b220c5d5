//! Answers of a language model: data that is parsed and checked, and never trusted.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::controlled::Vocabulary;
use crate::controlled::token::{Token, small_number, tokens};
use crate::draft::{Line, Reading, Status};
use crate::words::{Logic, Unary, is_listed, list, one_line, stems};

/// The largest answer that is read, in bytes.
pub const ANSWER_BYTES: usize = 64 * 1024;
/// The largest number of readings of an answer.
const READINGS: usize = 3;
/// The longest reason that is kept, in characters.
const REASON: usize = 300;

/// An answer as it is written.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Written {
    Requirement {
        #[serde(default)]
        sentences: Vec<String>,
    },
    None {
        #[serde(default)]
        reason: String,
    },
    Unclear {
        #[serde(default)]
        reason: String,
    },
}

/// A checked answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// Readings, the likeliest first.
    Readings(Vec<Reading>),
    /// It requires nothing, or no run shows whether it is kept: the reason.
    Declined(Status, String),
}

impl Answer {
    /// Reads and checks an answer about a line.
    ///
    /// # Errors
    /// The faults of the answer, in words for the model.
    pub(super) fn new(
        text: &str,
        line: &Line,
        vocabulary: &Vocabulary,
    ) -> Result<Answer, Vec<String>> {
        if text.len() > ANSWER_BYTES {
            return Err(vec![format!("it is longer than {ANSWER_BYTES} bytes")]);
        }
        let declined = |status, reason: String| match one_line(&reason) {
            empty if empty.is_empty() => Err(vec!["`reason` is missing".to_owned()]),
            reason => Ok(Answer::Declined(
                status,
                reason.chars().take(REASON).collect(),
            )),
        };
        let sentences = match parse(text).map_err(|fault| vec![fault])? {
            Written::None { reason } => return declined(Status::NoRequirement, reason),
            Written::Unclear { reason } => return declined(Status::Unclear, reason),
            Written::Requirement { sentences } => sentences,
        };
        let found = sentences.len();
        if !(1..=READINGS).contains(&found) {
            let fault = format!("`sentences` has one to {READINGS} strings, found {found}");
            return Err(vec![fault]);
        }
        let mut faults = Vec::new();
        let mut readings = Vec::new();
        let source = Source::new(line);
        for (at, words) in (1..).zip(&sentences) {
            match source.reading(words, vocabulary) {
                Ok(reading) => readings.push(reading),
                Err(found) => {
                    faults.extend(found.iter().map(|fault| format!("sentence {at}: {fault}")));
                }
            }
        }
        // The first reading is the likeliest; another one may leave the step open.
        let words = source.immediacy();
        if let (Some(words), Some(first)) = (words, readings.first())
            && is_at_any_step(&first.controlled.logic)
        {
            faults.push(format!(
                "sentence 1: `{words}` of the requirement is lost: write `in the next step`, `at that step` or `only directly after`"
            ));
        }
        if faults.is_empty() {
            Ok(Answer::Readings(readings))
        } else {
            Err(faults)
        }
    }
}

/// Reads the JSON object of an answer, which may stand among other words or in a code block.
fn parse(text: &str) -> Result<Written, String> {
    let object = text
        .find('{')
        .zip(text.rfind('}'))
        .and_then(|(from, to)| text.get(from..=to))
        .ok_or("expected one JSON object, found none")?;
    serde_json::from_str(object).map_err(|error| format!("expected one JSON object: {error}"))
}

/// The text that an answer is about.
struct Source<'l> {
    line: &'l Line,
    /// The sentence with its heading or lead-in, in lower case.
    whole: String,
    words: BTreeSet<String>,
    numbers: Vec<Number>,
}

/// Returns the words of a text and of the phrases that it quotes, in lower case.
fn all_words(text: &str) -> Vec<String> {
    let of = |token: Token| match token.quoted() {
        Some(phrase) => all_words(&phrase.replace(['"', '`'], " ")),
        None => vec![token.low],
    };
    tokens(text).into_iter().flat_map(of).collect()
}

/// Returns the phrases that a text quotes, each with its place.
fn quoted(text: &str) -> impl Iterator<Item = (String, usize)> {
    let tokens = tokens(text).into_iter();
    tokens.filter_map(|token| Some((token.quoted()?.to_owned(), token.span.start)))
}

/// A number of a text.
struct Number {
    value: u64,
    /// It says how many things follow a colon: *three steps: read, check, send*.
    announces: bool,
}

/// Returns the numbers of a text. `one` is not counted, as it is a pronoun as often, nor is a number in a contrast: *one reminder, not
/// two*.
fn numbers(text: &str) -> Vec<Number> {
    let words = all_words(text);
    let value = |word: &str| match word {
        "twice" => Some(2),
        "dozen" => Some(12),
        "one" => None,
        // A fraction counts with its digits, since it only has to be repeated.
        digits if digits.starts_with(|c: char| c.is_ascii_digit()) => {
            digits.replace(['.', ','], "").parse().ok()
        }
        word => small_number(word).map(u64::from),
    };
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let before = |back: usize| words.get(at.wrapping_sub(back)).map(String::as_str);
        let joins = matches!(before(2), Some("," | ";" | "and" | "\u{2013}" | "\u{2014}"));
        let contrast = joins && before(1) == Some("not");
        if let Some(value) = value(word).filter(|_| !contrast) {
            let mut after = words[at + 1..].iter().map(String::as_str);
            let announces = after.find(|word| [":", ".", ";"].contains(word)) == Some(":");
            found.push(Number { value, announces });
        }
    }
    found
}

impl<'l> Source<'l> {
    fn new(line: &'l Line) -> Source<'l> {
        let heads = line.spoken_heads();
        let whole: Vec<&str> = heads.chain([line.text.as_str()]).collect();
        let whole = whole.join(" ");
        Source {
            line,
            words: stems(&whole, "without content"),
            numbers: numbers(&whole),
            whole: whole.to_lowercase(),
        }
    }

    /// Returns the reading of a sentence of an answer.
    ///
    /// # Errors
    /// The faults of the sentence.
    fn reading(&self, words: &str, vocabulary: &Vocabulary) -> Result<Reading, Vec<String>> {
        let reading = Reading::new(words, vocabulary).map_err(|fault| {
            let fault = fault.reworded(words, vocabulary, false);
            let alternatives = [vec![fault.to_string()], fault.rewordings].concat();
            vec![alternatives.join("; did you mean: ")]
        })?;
        let mut faults = Vec::new();
        if !reading.says_something() {
            faults.push("every run satisfies it, or none does".to_owned());
        }
        self.count(words, &mut faults);
        self.polarity(words, &mut faults);
        self.names(words, vocabulary, &mut faults);
        if faults.is_empty() {
            Ok(reading)
        } else {
            Err(faults)
        }
    }

    /// Checks that no number is lost or added.
    fn count(&self, words: &str, faults: &mut Vec<String>) {
        let said: Vec<u64> = numbers(words).iter().map(|number| number.value).collect();
        let asked: Vec<u64> = self.numbers.iter().map(|number| number.value).collect();
        let words_asked = all_words(&self.whole);
        let moved = words_asked.iter().any(|word| is_listed("comparing", word));
        let near = |number: u64, list: &[u64]| {
            list.contains(&number) || moved && list.iter().any(|known| known.abs_diff(number) == 1)
        };
        // One run out of a hundred is 1 %.
        let percent = words.contains('%');
        let shared = |whole: u64| {
            let parts = said.iter().filter_map(|part| part.checked_mul(whole));
            let mut parts = parts.filter(|part| part % 100 == 0).map(|part| part / 100);
            percent && parts.any(|part| part == 1 || asked.contains(&part))
        };
        let phrases = quoted(words).map(|(phrase, _)| phrase.to_lowercase());
        let phrases: BTreeSet<String> = phrases.collect();
        let enumerated = |number: &Number| number.announces && number.value == phrases.len() as u64;
        for number in &self.numbers {
            let value = number.value;
            if !near(value, &said) && !shared(value) && !enumerated(number) {
                faults.push(format!("the number {value} of the requirement is missing"));
            }
        }
        for number in said.iter().filter(|number| **number > 2) {
            if !near(*number, &asked) {
                faults.push(format!("the number {number} is not in the requirement"));
            }
        }
    }

    /// Returns the words that ask for the next step, or the one before.
    fn immediacy(&self) -> Option<&'static str> {
        let mut words = list("immediacy").iter().copied();
        words.find(|words| self.whole.contains(words))
    }

    /// Checks that no negation is lost or added.
    fn polarity(&self, words: &str, faults: &mut Vec<String>) {
        let idioms = list("idioms").iter();
        let plain = idioms.fold(self.whole.clone(), |text, idiom| text.replace(idiom, " "));
        let (said, asked, whole) = (all_words(words), all_words(&plain), all_words(&self.whole));
        let count = |list: &str| asked.iter().filter(|word| is_listed(list, word)).count();
        // Two negations cancel: *must not be left unanswered* demands an answer.
        let unanswered = |word: &&String| word.starts_with("un") && word.ends_with("ed");
        let turned = count("lacking") + count("wrong") + asked.iter().filter(unanswered).count();
        let without = asked.iter().filter(|word| *word == "without").count();
        let cancelled = turned > 0 && count("negations") + turned - without > 1;
        let lost = asked.iter().find(|word| is_listed("negations", word));
        if let Some(word) = lost.filter(|_| !cancelled)
            && !said.iter().any(|word| is_listed("limiting", word))
        {
            faults.push(format!("`{word}` of the requirement is lost"));
        }
        let denies = |word: &String| {
            let mut unavailable = ["un", "in", "im", "non"].iter();
            unavailable.any(|deny| word.starts_with(deny)) || is_listed("denying", word)
        };
        // Only the words outside quotation marks: a negation of the sentence itself.
        let tokens = tokens(words);
        let is_denial = |token: &Token| is_listed("denials", &token.low);
        let mut added = tokens.iter();
        if let Some(word) = added.find(|token| is_denial(token))
            && !whole.iter().any(denies)
        {
            faults.push(format!("`{}`: the requirement denies nothing", word.low));
        }
        // A phrase with a negation that is denied again demands the opposite.
        let negates = |word: &String| is_listed("negations", word) || word.ends_with("n't");
        let denied = |at: usize| tokens.get(at).is_some_and(is_denial);
        for (at, token) in tokens.iter().enumerate() {
            if let Some(phrase) = token.quoted()
                && all_words(phrase).iter().any(negates)
                && (denied(at + 2) || denied(at.wrapping_sub(1)))
                && asked.iter().filter(|word| negates(word)).count() < 2
            {
                faults.push(format!(
                    "\"{phrase}\" denies something and is denied: write what must not be without its negation"
                ));
            }
        }
    }

    /// Checks that names are known, that phrases have the words of the text, and that its quoted words are kept.
    fn names(&self, words: &str, vocabulary: &Vocabulary, faults: &mut Vec<String>) {
        for (phrase, at) in quoted(words) {
            let is_name = words[at..].starts_with('`');
            if let Some(times) = said_times(&phrase).filter(|_| !is_name) {
                faults.push(format!(
                    "\"{phrase}\" says how often: leave `{times}` out of the phrase and write `may happen at most`, `must happen at least` or `has happened` with the number of times"
                ));
            }
            let stems = stems(&phrase, "without content");
            let is_foreign = |stem: &&String| !self.words.iter().any(|word| related(stem, word));
            if vocabulary.named(&phrase).is_some()
                || is_name && self.line.text.contains(&format!("`{phrase}`"))
            {
                continue;
            }
            if is_name {
                faults.push(format!(
                    "`{phrase}` is not a known predicate; write the words of the requirement in quotation marks"
                ));
            } else if stems.iter().filter(is_foreign).count() * 2 > stems.len() {
                faults.push(format!(
                    "the phrase \"{phrase}\" is not in the words of the requirement"
                ));
            }
        }
        for (literal, _) in quoted(&self.line.text) {
            if !words.contains(&literal) {
                faults.push(format!("{literal:?} of the requirement is missing"));
            }
        }
    }
}

/// Whether each sentence asks for something at any later step, or at any earlier one.
fn is_at_any_step(logic: &Logic) -> bool {
    match logic {
        Logic::And(parts) => parts.iter().all(is_at_any_step),
        logic => logic.response().is_some_and(|(_, then)| {
            matches!(then, Logic::Unary(Unary::Eventually | Unary::Once, None, _))
        }),
    }
}

/// Returns the word by which a phrase says how often something happens, which its formula would not count: *paid more than once*,
/// *fails 3 times*; and not *once it is paid*.
fn said_times(phrase: &str) -> Option<String> {
    let words = all_words(phrase);
    let mut counts = words.iter().enumerate();
    let found = counts.find(|(at, word)| {
        let before = at.checked_sub(1).map(|before| words[before].as_str());
        match word.as_str() {
            "once" => before.is_some_and(|before| is_listed("comparing once", before)),
            "twice" => true,
            "times" => before.is_some_and(|before| !numbers(before).is_empty()),
            _ => false,
        }
    });
    found.map(|(_, word)| word.clone())
}

/// Whether two stems are forms of one word: *log* and *logged*, *answer* and *unanswered*.
fn related(a: &str, b: &str) -> bool {
    let bare = |word: &str| word.strip_prefix("un").unwrap_or(word).to_owned();
    let (a, b) = (bare(a), bare(b));
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let shorter = a.chars().count().min(b.chars().count());
    a == b || common >= 3 && common + 1 >= shorter
}
