//! Pieces of which the name of a variable may be put together: `v=a; w=${v}1; ((w))` evaluates the value of `a1`.

use super::brackets::is_joined;
use super::mentioned::is_name;
use super::texts::EXPANSION;
use super::{Inner, Part, Word};

/// The value that a word gives a variable, which may be a part of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    /// It has letters.
    pub(super) letters: bool,
    /// It is put together of several texts, or is a changed or a cut one.
    pub(super) joined: bool,
    /// It is a pattern of file names, where it is expanded.
    pub(super) pattern: bool,
    /// It, or what is left of it, may be an option.
    pub(super) option: bool,
}

impl Pieces {
    fn add(&mut self, other: Pieces) {
        self.letters |= other.letters;
        self.joined |= other.joined;
        self.pattern |= other.pattern;
        self.option |= other.option;
    }
}

/// Returns the pieces in a word.
pub(super) fn pieces_of(word: &[Part]) -> Pieces {
    pieces_behind("", word)
}

/// Returns the pieces in a word behind the text with which it begins: `x=`.
pub(super) fn pieces_behind(begin: &str, word: &[Part]) -> Pieces {
    let mut all = Pieces::default();
    let mut text = String::new();
    for (nth, part) in word.iter().enumerate() {
        match part {
            Part::Bare(one) | Part::Quoted(one) => {
                let begin = if nth == 0 { begin } else { "" };
                let one = one.strip_prefix(begin).unwrap_or(one);
                text.push_str(one);
                // braces make several words of their texts
                all.joined |= matches!(part, Part::Bare(_)) && has_braces(one);
                all.pattern |= is_file_pattern(one);
                continue;
            }
            Part::Opaque { written, inner, .. } if !is_number(written) => {
                all.add(pieces_of_expansion(written, inner.as_ref()));
            }
            Part::Param { name, .. } => all.joined |= name == "*",
            Part::Opaque { .. } | Part::Substitution { .. } | Part::Process { .. } => {}
        }
        text.push(EXPANSION);
    }
    all.letters |= text.contains(is_letter);
    // arithmetic removes quotes
    let plain = text.replace(['"', '\'', '\\'], "");
    all.joined |= is_joined(&text) || is_joined(&plain);
    all.joined |= plain.contains(&[EXPANSION; 2].iter().collect::<String>());
    let mut words = text.split(|c: char| !is_name(c) && c != '-');
    all.option |= words.any(|word| word.starts_with('-'));
    all
}

/// Returns the pieces in the value of `${…}` or `(…)`.
fn pieces_of_expansion(written: &str, inner: Option<&Inner>) -> Pieces {
    let mut all = Pieces::default();
    match inner {
        Some(Inner::Elements(words)) => {
            words
                .iter()
                .for_each(|word: &Word| all.add(pieces_of(word)));
        }
        Some(Inner::Text(text)) => all.add(pieces_of(&text.word)),
        // the names of variables that begin so
        None if written.starts_with("${!") && written.ends_with(['*', '@', '}']) => {
            let names = written.ends_with("*}") || written.ends_with("@}");
            (all.letters, all.joined) = (names, names);
        }
        None if written.starts_with("${") => {
            let rest = written.trim_start_matches(['$', '{', '!']);
            let rest = rest.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric());
            let is_element = rest.starts_with('[') && rest.ends_with("]}");
            all.letters = rest.contains(is_letter) && !is_element;
            // the elements may be joined without blanks: `IFS=`
            all.joined = !matches!(rest, "}" | "") && !is_element || rest.contains('*');
            all.option = all.joined;
        }
        None => {
            all.letters = written.contains(is_letter);
            all.joined = is_joined(written);
        }
    }
    all
}

/// Whether an expansion is a number: a sum, a length, or what is left of a text without all other characters than digits.
fn is_number(written: &str) -> bool {
    written.starts_with("$((")
        || written.starts_with("$[")
        || written.starts_with("((")
        || is_length(written)
        || keeps_digits(written)
}

/// Whether an expansion is a length: `${#x}`, `${#x[@]}`, and not `${#/0/x}`.
fn is_length(written: &str) -> bool {
    let inner = written
        .strip_prefix("${#")
        .and_then(|rest| rest.strip_suffix('}'));
    inner.is_some_and(|inner| {
        let rest = inner.trim_start_matches(is_name);
        rest.len() < inner.len() && (rest.is_empty() || rest.starts_with('['))
            || matches!(inner, "@" | "*")
    })
}

/// Whether an expansion removes all characters of a text but digits: `${x//[^0-9]/}`.
pub(super) fn keeps_digits(written: &str) -> bool {
    let others = ["[^0-9]", "[!0-9]", "[^[:digit:]]", "[![:digit:]]"];
    let behind = written
        .strip_prefix("${")
        .map(|rest| rest.trim_start_matches(|c: char| c == '_' || c.is_ascii_alphanumeric()));
    let removed = behind.and_then(|rest| rest.strip_prefix("//")?.strip_suffix('}'));
    removed.is_some_and(|one| others.contains(&one.strip_suffix('/').unwrap_or(one)))
}

fn is_letter(c: char) -> bool {
    c == '_' || c.is_ascii_alphabetic()
}

/// Whether a text has braces that expand to several words.
fn has_braces(text: &str) -> bool {
    text.split_once('{')
        .is_some_and(|(_, rest)| rest.contains(',') || rest.contains(".."))
}

/// Whether a text is a pattern of file names where it is expanded.
fn is_file_pattern(text: &str) -> bool {
    let groups = ["@(", "+(", "!("];
    text.contains(['*', '?', '[']) || groups.iter().any(|group| text.contains(group))
}

/// Whether a part of a word makes it the names of files.
pub(super) fn is_pattern(part: &Part) -> bool {
    matches!(part, Part::Bare(text) if is_file_pattern(text))
}
