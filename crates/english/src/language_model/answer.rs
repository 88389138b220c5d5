//! Answers of a language model: data that is parsed and checked, and never trusted.

use std::collections::BTreeSet;

use serde::Deserialize;

use crate::controlled::token::{Kind, Token, small_number, tokens};
use crate::controlled::{Vocabulary, read};
use crate::draft::{Line, Reading, stem};

/// The largest answer that is read, in bytes.
pub const ANSWER_BYTES: usize = 64 * 1024;
/// The largest number of readings of an answer.
const READINGS: usize = 3;
/// The longest reason that is kept, in characters.
const REASON: usize = 300;

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    Requirement,
    None,
    Unclear,
}

/// An answer as it is written.
#[derive(Debug, Deserialize)]
struct Written {
    kind: Verdict,
    #[serde(default)]
    sentences: Vec<String>,
    #[serde(default)]
    reason: String,
}

/// A checked answer.
#[derive(Debug)]
pub(super) enum Answer {
    /// Readings, the likeliest first.
    Readings(Vec<Reading>),
    /// It requires nothing: the reason.
    None(String),
    /// No run shows whether it is kept: the reason.
    Unclear(String),
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
        let written = parse(text).map_err(|fault| vec![fault])?;
        let reason = || -> Result<String, Vec<String>> {
            let words: Vec<&str> = written.reason.split_whitespace().collect();
            match words.join(" ") {
                empty if empty.is_empty() => Err(vec!["`reason` is missing".to_owned()]),
                reason => Ok(reason.chars().take(REASON).collect()),
            }
        };
        match written.kind {
            Verdict::None => return Ok(Answer::None(reason()?)),
            Verdict::Unclear => return Ok(Answer::Unclear(reason()?)),
            Verdict::Requirement => {}
        }
        if !(1..=READINGS).contains(&written.sentences.len()) {
            return Err(vec![format!(
                "`sentences` has one to {READINGS} strings, found {}",
                written.sentences.len()
            )]);
        }
        let mut faults = Vec::new();
        let mut readings = Vec::new();
        let source = Source::new(line);
        for (at, words) in written.sentences.iter().enumerate() {
            match source.reading(words, vocabulary) {
                Ok(reading) => readings.push(reading),
                Err(found) => {
                    let found = found.iter();
                    faults.extend(found.map(|fault| format!("sentence {}: {fault}", at + 1)));
                }
            }
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
        .filter(|(from, to)| from < to)
        .map(|(from, to)| &text[from..=to])
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

/// Words that deny, or that are put as a denial: *refuse*, *only*, *before*.
const DENIALS: &str = "not no never none neither nor without unless until only except cannot can't don't doesn't mustn't shouldn't \
    won't isn't aren't avoid refuse refrain forbid forbids forbidden prohibit prohibited prohibits disallow disallowed deny denied reject \
    rejected decline stop block blocked prevent prevents ban banned exclude excluded exclusive exclusively limit limited before prior \
    first unable fail fails failing nothing nobody invalid unauthorized unauthorised ineligible illegal must-not stay remain remains \
    stays keep kept always every all last ends end most least exactly";
/// Words of controlled English that look back, limit or deny.
const LIMITS: &str = "not never no none neither nor unless until only before without requires requires need needs preceded most least \
    exactly less than always every last";
/// Words of a comparison, which may move a number by one.
const COMPARISONS: &str =
    "fewer less more than under over exceed exceeds exceeding above below second again another";

/// Denials that deny nothing: they limit a time, or stress a word.
const IDIOMS: [&str; 9] = [
    "no later than",
    "not later than",
    "no matter",
    "not only",
    "without delay",
    "without undue delay",
    "without further",
    "without any intervening",
    "without intervening",
];
/// Words that call what a sentence describes wrong: its denial may then be written without one.
const WRONG: &str = "violation bug mistake error wrong unacceptable forbidden prohibited disallowed acceptable ok okay left go";

fn listed(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Returns the words of a text and of the phrases that it quotes, in lower case.
fn all_words(text: &str) -> Vec<Token> {
    let mut out = Vec::new();
    for token in tokens(text) {
        match &token.kind {
            Kind::Quoted(phrase) => out.extend(tokens(&phrase.replace(['"', '`'], " "))),
            _ => out.push(token),
        }
    }
    out
}

/// A number of a text.
struct Number {
    value: u64,
    /// It says how many things follow a colon: *three steps: read, check, send*.
    announces: bool,
}

/// Returns the numbers of a text. `1,000` is one number; `one` is none, as it is a pronoun as often, and neither is what a number is
/// contrasted with: *one reminder, not two*.
fn numbers(text: &str) -> Vec<Number> {
    let mut plain = String::with_capacity(text.len());
    let chars: Vec<char> = text.chars().collect();
    for (at, char) in chars.iter().enumerate() {
        let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
        let between =
            *char == ',' && at > 0 && digit(at - 1) && (1..4).all(|next| digit(at + next));
        if !between {
            plain.push(*char);
        }
    }
    let words = all_words(&plain);
    let value = |token: &Token| match token.kind {
        // A fraction counts with its digits: what matters is that it is repeated.
        Kind::Number => token.low.replace('.', "").parse().ok(),
        _ => match token.low.as_str() {
            "twice" => Some(2),
            "dozen" => Some(12),
            "one" => None,
            word => small_number(word).map(u64::from),
        },
    };
    let mut found = Vec::new();
    for (at, token) in words.iter().enumerate() {
        let before: Vec<&str> = words[..at].iter().map(|word| word.low.as_str()).collect();
        let contrast = matches!(
            before[..],
            [.., "," | ";" | "and" | "\u{2013}" | "\u{2014}", "not"]
        );
        if let Some(value) = value(token).filter(|_| !contrast) {
            let mut after = words[at + 1..].iter().map(|word| word.low.as_str());
            let announces = after.find(|word| [":", ".", ";"].contains(word)) == Some(":");
            found.push(Number { value, announces });
        }
    }
    found
}

impl<'l> Source<'l> {
    fn new(line: &'l Line) -> Source<'l> {
        let whole = match &line.head {
            Some(head) => format!("{head} {}", line.text),
            None => line.text.clone(),
        };
        Source {
            line,
            words: stems(&whole),
            numbers: numbers(&whole),
            whole: whole.to_lowercase(),
        }
    }

    /// Returns the reading of a sentence of an answer.
    ///
    /// # Errors
    /// The faults of the sentence.
    fn reading(&self, words: &str, vocabulary: &Vocabulary) -> Result<Reading, Vec<String>> {
        let reading = match read(words, vocabulary) {
            Ok(_) => Reading::new(words, vocabulary).map_err(|fault| vec![fault.to_string()])?,
            Err(fault) => {
                let mut text = fault.to_string();
                for words in &fault.rewordings {
                    text.push_str("; did you mean: ");
                    text.push_str(words);
                }
                return Err(vec![text]);
            }
        };
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

    /// No number is lost, and none is added.
    fn count(&self, words: &str, faults: &mut Vec<String>) {
        let said: Vec<u64> = numbers(words).iter().map(|number| number.value).collect();
        let asked: Vec<u64> = self.numbers.iter().map(|number| number.value).collect();
        let moved = all_words(&self.whole)
            .iter()
            .any(|token| listed(COMPARISONS, &token.low));
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
        let quoted = tokens(words).into_iter();
        let phrases: BTreeSet<String> = quoted
            .filter(|token| matches!(token.kind, Kind::Quoted(_)))
            .map(|token| token.low)
            .collect();
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

    /// No negation is lost, and none is added.
    fn polarity(&self, words: &str, faults: &mut Vec<String>) {
        let denied = |list: &str, text: &[Token]| {
            text.iter().find(|token| listed(list, &token.low)).cloned()
        };
        const NEGATIONS: &str = "not no never none neither nor without unless except cannot can't don't doesn't mustn't shouldn't isn't \
            aren't forbidden prohibited avoid only";
        let said = all_words(words);
        let plain = IDIOMS
            .iter()
            .fold(self.whole.clone(), |text, idiom| text.replace(idiom, " "));
        let asked = all_words(&plain);
        // What is not to be left without an answer has to be answered.
        let counted = |list: &str| asked.iter().filter(|word| listed(list, &word.low)).count();
        let unanswered = |word: &&Token| word.low.starts_with("un") && word.low.ends_with("ed");
        let turned =
            counted("without lacking") + counted(WRONG) + asked.iter().filter(unanswered).count();
        let cancelled = turned > 0 && counted(NEGATIONS) + turned - counted("without") > 1;
        if let Some(word) = denied(NEGATIONS, &asked)
            && !cancelled
            && denied(LIMITS, &said).is_none()
        {
            faults.push(format!("`{}` of the requirement is lost", word.low));
        }
        // Without its phrases: what the sentence itself denies.
        let unavailable = |word: &Token| {
            ["un", "in", "im", "non"]
                .iter()
                .any(|deny| word.low.starts_with(deny))
        };
        let whole = all_words(&self.whole);
        if let Some(word) = denied("not never no none neither nor", &tokens(words))
            && denied(DENIALS, &whole).is_none()
            && !whole.iter().any(unavailable)
        {
            faults.push(format!("`{}`: the requirement denies nothing", word.low));
        }
    }

    /// Names are known, phrases are about the text, and what it quotes is kept.
    fn names(&self, words: &str, vocabulary: &Vocabulary, faults: &mut Vec<String>) {
        for token in tokens(words) {
            let Kind::Quoted(phrase) = &token.kind else {
                continue;
            };
            let known = vocabulary.named(phrase).is_some();
            let is_name = words[token.span.clone()].starts_with('`');
            if known || is_name && self.line.text.contains(&format!("`{phrase}`")) {
                continue;
            }
            if is_name {
                faults.push(format!(
                    "`{phrase}` is not a known predicate; write the words of the requirement in quotation marks"
                ));
                continue;
            }
            let stems = stems(phrase);
            let foreign = stems
                .iter()
                .filter(|stem| !self.words.iter().any(|word| related(stem, word)));
            if foreign.count() * 2 > stems.len() {
                faults.push(format!(
                    "the phrase \"{phrase}\" is not in the words of the requirement"
                ));
            }
        }
        for token in tokens(&self.line.text) {
            if let Kind::Quoted(literal) = &token.kind
                && !words.contains(literal.as_str())
            {
                faults.push(format!("{literal:?} of the requirement is missing"));
            }
        }
    }
}

/// Whether two stems are forms of one word: *log* and *logged*, *answer* and *unanswered*.
fn related(a: &str, b: &str) -> bool {
    let bare = |word: &str| word.strip_prefix("un").unwrap_or(word).to_owned();
    let (a, b) = (bare(a), bare(b));
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let shorter = a.chars().count().min(b.chars().count());
    a == b || common >= 3 && common + 1 >= shorter
}

/// Returns the content words of a text without their endings.
fn stems(text: &str) -> BTreeSet<String> {
    const EMPTY: &str = "the a an of to in on for and or by with is are be been has have had it its their his her at as from that this any \
        all each every something anything somebody anybody other else";
    all_words(text)
        .iter()
        .flat_map(|token| {
            token
                .low
                .split(['_', '-', '\''])
                .map(str::to_owned)
                .collect::<Vec<_>>()
        })
        .filter(|word| word.chars().any(char::is_alphanumeric) && !listed(EMPTY, word))
        .map(|word| stem(&word).to_owned())
        .collect()
}
