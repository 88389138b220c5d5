//! Lists of words, which are data.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// The sections of a text, `# name` and below it the words with blanks between them, or phrases with semicolons, which may be broken into
/// lines.
pub(crate) fn sections(
    text: &'static str,
) -> impl Iterator<Item = (&'static str, Vec<&'static str>)> {
    let named = text
        .split("\n# ")
        .skip(1)
        .filter_map(|section| section.split_once('\n'));
    named.map(|(name, words)| match words.contains(';') {
        true => (name, words.split(';').map(str::trim).collect()),
        false => (name, words.split_whitespace().collect()),
    })
}

static LISTS: LazyLock<HashMap<&str, Vec<&str>>> =
    LazyLock::new(|| sections(include_str!("../data/words.txt")).collect());

/// Returns the words, or the phrases, of a list.
pub(crate) fn list(name: &str) -> &'static [&'static str] {
    let found = LISTS.get(name);
    debug_assert!(found.is_some(), "data/words.txt has a list `{name}`");
    found.map_or(&[], Vec::as_slice)
}

/// Whether a word is on a list.
pub(crate) fn is_listed(name: &str, word: &str) -> bool {
    list(name).contains(&word)
}

/// Returns a text on one line, with one blank between words.
pub(crate) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text with its first letter changed, as by `char::to_lowercase`.
pub(crate) fn first_letter<I: Iterator<Item = char>>(text: &str, change: fn(char) -> I) -> String {
    let mut chars = text.chars();
    let first: String = chars.next().into_iter().flat_map(change).collect();
    first + chars.as_str()
}

/// Returns the words of a text in lower case. They are of letters and digits, and of these signs.
pub(crate) fn words_of(text: &str, signs: &str) -> Vec<String> {
    let ends = |c: char| !c.is_alphanumeric() && !signs.contains(c);
    let words = text.split(ends).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns the word without an ending of inflection: *deleted*, *deletes*.
pub(crate) fn stem(word: &str) -> &str {
    let endings = ["ing", "ed", "es", "s", "e", "al"];
    let base = endings.iter().find_map(|ending| word.strip_suffix(ending));
    base.filter(|base| base.len() > 3).unwrap_or(word)
}

/// Returns the words of a text that are not on a list, without their endings.
pub(crate) fn stems(text: &str, without: &str) -> BTreeSet<String> {
    let words = words_of(text, "").into_iter();
    let words = words.filter(|word| !is_listed(without, word));
    words.map(|word| stem(&word).to_owned()).collect()
}
