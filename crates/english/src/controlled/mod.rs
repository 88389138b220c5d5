//! Controlled English: the language of requirements.
//!
//! Every sentence of it has one reading. The forms are listed in the table of [`forms()`], from which `docs/english.md` is made and
//! from which formulas are read back; a sentence that is none of them is a [`Fault`] with its place, what was expected there, and the
//! nearest sentences of the language.
//!
//! A requirement is a scope (*after `a` until `b`*), a condition (*whenever `c` holds*), a duty (*`d` must hold*) and a timing
//! (*within 5 steps*) over situations: names in backquotes, phrases in quotation marks, or the names and comments of predicates
//! ([`Vocabulary`]).
//!
//! * `hold` speaks of states, `happen` of actions: *whenever `a` holds, `b` must hold* is about one step, *whenever `a` happens,
//!   `b` must happen* asks for `b` then or later.
//! * `unless`, `only if`, `only after` and `requires` look back.
//! * `must not` with a timing denies the whole: *must not hold within 5 steps* allows none of them.

mod fault;
mod forms;
mod grammar;
mod parser;
mod phrase;
mod rule;
mod scope;
mod timing;
pub(crate) mod token;
mod vocabulary;

pub use fault::Fault;
pub use forms::{Form, forms, normal};
pub(crate) use forms::{phrased, spoken};
pub use parser::SITUATION;
pub use vocabulary::{Situation, Vocabulary};
pub(crate) use vocabulary::{fresh, identifier, is_reserved};

use crate::words::{Logic, Ratio};

/// A bound on a probability.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chance {
    /// `<=`, `<`, `>=` or `>`.
    pub op: &'static str,
    /// Between 0 and 1.
    pub value: Ratio,
}

/// The words of bounds on probabilities, and their signs.
const BOUNDS: [(&str, &str); 4] = [
    ("at most", "<="),
    ("less than", "<"),
    ("at least", ">="),
    ("more than", ">"),
];

impl Chance {
    /// Returns `at most 0.05`.
    pub(crate) fn words(self) -> String {
        let mut bounds = BOUNDS.into_iter();
        let words = bounds.find_map(|(words, op)| (op == self.op).then_some(words));
        format!("{} {}", words.unwrap_or_default(), self.value.decimal())
    }

    /// Returns `P<=0.05 [ f ]`.
    pub(crate) fn of(self, formula: &str) -> String {
        format!("P{}{} [ {formula} ]", self.op, self.value.decimal())
    }
}

/// The meaning of a text in controlled English.
#[derive(Clone, Debug, PartialEq)]
pub struct Controlled {
    /// The formula over numbered situations.
    pub logic: Logic,
    /// The situations, by number.
    pub situations: Vec<Situation>,
    /// The name of the value that relates its situations, if the formula is quantified.
    pub key: Option<String>,
    /// The bound on its probability, if it is about one.
    pub chance: Option<Chance>,
}

/// Reads a text in controlled English: one sentence, or several that hold together.
///
/// ```
/// use guard_english::controlled::{Vocabulary, read};
/// let vocabulary = Vocabulary::default();
/// assert!(read("Whenever `request` happens, `answer` must happen within 5 steps.", &vocabulary).is_ok());
/// let fault = read("Whenever `request` happens, `answer` must hapen.", &vocabulary).unwrap_err();
/// assert_eq!(fault.found, "`hapen`");
/// ```
///
/// # Errors
/// The text is not controlled English: where, and what was expected there.
///
/// # Limits
/// Parentheses are nested at most [`DEPTH`] deep, a number of times is at most [`COUNT`], and a text has at most [`TOKENS`] words.
pub fn read(text: &str, vocabulary: &Vocabulary) -> Result<Controlled, Fault> {
    read_exactly(text, vocabulary).map_err(|fault| fault.reworded(text, vocabulary, false))
}

/// Returns what may follow the beginning of a text, as [`Fault::expected`] has it: words in backquotes, and descriptions. Returns an empty list
/// if no text of controlled English begins so.
///
/// ```
/// use guard_english::controlled::{Vocabulary, continuations};
/// let next = continuations("`a` must", &Vocabulary::default());
/// assert!(next.contains(&"`never`".to_owned()));
/// ```
///
/// # Limits
/// As of [`read`].
pub fn continuations(text: &str, vocabulary: &Vocabulary) -> Vec<String> {
    parser::continuations(text, vocabulary)
}

/// As [`read`], without looking for the nearest sentences of the language.
///
/// # Errors
/// The text is not controlled English.
pub(crate) fn read_exactly(text: &str, vocabulary: &Vocabulary) -> Result<Controlled, Fault> {
    parser::read(text, vocabulary).map_err(|unread| unread.fault(text))
}

/// Largest depth of nested parentheses.
pub const DEPTH: usize = 60;
/// Largest number of times: their formula is nested as deep.
pub const COUNT: u32 = 200;
/// Largest number of words and signs of a text.
pub const TOKENS: usize = 20_000;
