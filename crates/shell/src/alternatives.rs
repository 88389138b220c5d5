//! Parameters with a text in their place: `${x:-TEXT}` and `${x:+TEXT}`.

use super::ShellError;
use super::components::Climb;
use super::constants::Elements;
use super::field::Leading;
use super::gather::Expansion;
use super::syntax::{Alternative, Assign, Dialect, Inner, Part, Word};
use super::variables::{Given, check_variable};
use super::walk::{Scope, Walk};
use super::words::{ATOM, Atom, Class, Field, Value, is_one_word, parameter};

type Result<T> = std::result::Result<T, ShellError>;

/// The most texts of a command of which each may be there or not.
const MOST_CHOICES: usize = 3;

/// The choices of the texts in the words of a command that stand there or not: `${x:+TEXT}`.
pub(super) struct Choices {
    /// Whether the texts stand there, a bit for each; `None` if the expansions stay as they are.
    taken: Option<usize>,
    nth: usize,
}

impl Choices {
    /// Returns no choices: expansions stay as they are.
    pub(super) fn none() -> Choices {
        Choices {
            taken: None,
            nth: 0,
        }
    }

    /// Returns whether the next text stands there, if it is one of those that are chosen.
    pub(super) fn next(&mut self, alternative: &Alternative, scope: &Scope<'_>) -> Option<bool> {
        let taken = self.taken.filter(|_| is_chosen(alternative, scope))?;
        Some(self.take(taken))
    }

    fn take(&mut self, taken: usize) -> bool {
        self.nth += 1;
        taken >> (self.nth - 1) & 1 == 1
    }
}

/// Whether an expansion is a text or nothing, and both can be put in its place. Some shells do not split the text.
fn is_chosen(alternative: &Alternative, scope: &Scope<'_>) -> bool {
    let has_blank =
        |part: &Part| matches!(part, Part::Bare(text) if text.contains([' ', '\t', '\n']));
    let is_split = alternative.word.iter().any(has_blank);
    // `"${x+"$@"}"` may be any number of words
    let is_several = |part: &Part| {
        matches!(part, Part::Param { name, .. } if name == "@")
            || matches!(part, Part::Opaque { written, .. } if written.contains('@'))
    };
    alternative.or_nothing
        && !alternative.word.iter().any(is_several)
        && !scope.splits_oddly
        && (!is_split || scope.parsed.dialect != Dialect::Extended)
}

/// Returns the number of texts and elements in a word that stand there or not.
fn choices_in(word: &Word, scope: &Scope<'_>) -> usize {
    if let Some(parts) = elements_of(word, scope) {
        return parts.iter().filter(|part| !part.always).count();
    }
    let is_choice = |part: &&Part| match part {
        Part::Opaque {
            inner: Some(Inner::Text(text)),
            ..
        } => is_chosen(text, scope),
        _ => false,
    };
    word.iter().filter(is_choice).count()
}

/// Returns the elements for which a word stands: `"${x[@]}"`.
fn elements_of<'s>(word: &Word, scope: &'s Scope<'_>) -> Option<&'s [Elements]> {
    let [
        Part::Opaque {
            quoted: true,
            written,
            ..
        },
    ] = word.as_slice()
    else {
        return None;
    };
    let name = written.strip_prefix("${")?.strip_suffix("[@]}")?;
    let array = scope.arrays.get(name)?;
    (array.n_open == 0 && !scope.splits_oddly).then_some(&array.parts)
}

/// Returns a part of a text in an expansion without quotes, which is split at blanks.
pub(super) fn expanded(atom: Atom) -> Atom {
    match atom {
        Atom::Char(c, Class::Bare) if c != '~' => Atom::Char(c, Class::Expanded),
        atom => atom,
    }
}

impl Walk<'_> {
    /// Returns the words of a command, for each choice of texts and elements in them that stand there or not.
    pub(super) fn chosen(&mut self, words: &[Word], scope: &Scope<'_>) -> Result<Vec<Vec<Field>>> {
        let n_chosen: usize = words.iter().map(|word| choices_in(word, scope)).sum();
        if n_chosen > MOST_CHOICES {
            return Ok(vec![self.words(words, scope)?]);
        }
        let choices = 0..1 << n_chosen;
        choices
            .map(|taken| self.words_chosen(words, scope, taken))
            .collect()
    }

    /// Returns the words of a command, in which expansions stay as they are.
    pub(super) fn words(&mut self, words: &[Word], scope: &Scope<'_>) -> Result<Vec<Field>> {
        let mut fields = Vec::new();
        for word in words {
            fields.extend(self.fields(word, scope)?);
        }
        Ok(fields)
    }

    fn words_chosen(
        &mut self,
        words: &[Word],
        scope: &Scope<'_>,
        taken: usize,
    ) -> Result<Vec<Field>> {
        let mut choices = Choices {
            taken: Some(taken),
            nth: 0,
        };
        let mut fields = Vec::new();
        for word in words {
            let Some(parts) = elements_of(word, scope) else {
                fields.extend(self.fields_of(word, scope, &mut choices)?);
                continue;
            };
            for part in parts {
                if part.always || choices.take(taken) {
                    self.charge(part.words.iter().map(|word| ATOM + word.size()).sum())?;
                    fields.extend(part.words.iter().cloned());
                }
            }
        }
        Ok(fields)
    }

    /// Returns an expansion that is not evaluated, such as `${x%y}`, with the text that may stand in its place.
    pub(super) fn opaque(
        &mut self,
        written: &str,
        quoted: bool,
        text: Option<&Alternative>,
        scope: &Scope<'_>,
    ) -> Result<Expansion> {
        let begins = begins_as_environment(written, None, scope, self);
        let value = match text {
            Some(alternative) => Some(self.value_of(&alternative.word, scope)?),
            None => None,
        };
        // `${x:=TEXT}` is an assignment
        if let (Some(value), Some((name, ..))) = (&value, parts_of(written))
            && text.is_some_and(|text| text.assigns)
        {
            let given = Given {
                value: match value {
                    Ok(text) => text,
                    Err(partial) => &partial.determined,
                },
                open: value.is_err(),
                written,
            };
            check_variable(name, given)?;
        }
        let filled = match &value {
            Some(Ok(text)) => text.as_str(),
            Some(Err(partial)) => &partial.filled,
            None => replacement_in(written),
        };
        // the value of the environment, or a text that is read in its place as well
        let is_plain = text.is_some_and(|text| self.is_plain_default(written, text, None, scope));
        let begins = begins || is_plain;
        let empty = !begins || !is_never_empty(written) || filled.is_empty();
        let determined = if is_plain { filled } else { written };
        Ok(Expansion {
            rest: if empty { "" } else { filled }.to_owned(),
            // `${x:-TEXT}` may be the text, which is not told from the rest
            determined: determined.to_owned(),
            filled: filled.to_owned(),
            environment: is_plain,
            leading: match begins {
                true if is_plain || quoted || is_one_word(written, scope) => Leading::Determined,
                _ => Leading::Open,
            },
            empty,
            glued: !filled.is_empty(),
            climb: match begins && has_plain_default(written) {
                true => Climb::No,
                false => Climb::Open,
            },
            ..Expansion::open(written, quoted && !written.contains('@'))
        })
    }

    /// Whether a variable gets the value that it had, or a plain text in its place: `x=${x:-y}`.
    pub(super) fn holds_plain_default(
        &self,
        assign: &Assign,
        itself: Option<&str>,
        scope: &Scope<'_>,
    ) -> bool {
        match assign.value.as_slice() {
            [
                Part::Opaque {
                    inner: Some(Inner::Text(text)),
                    written,
                    ..
                },
            ] => self.is_plain_default(written, text, itself, scope),
            _ => false,
        }
    }

    /// Whether an expansion is the value of a parameter that the text never assigns, or a plain text in its place: words of
    /// which the text determines all, or one that a program prints and that is no option. In its own assignment a variable
    /// has the value that it had.
    pub(super) fn is_plain_default(
        &self,
        written: &str,
        text: &Alternative,
        itself: Option<&str>,
        scope: &Scope<'_>,
    ) -> bool {
        let name = parts_of(written).map_or("", |(name, ..)| name);
        let is_own = itself == Some(name);
        let is_given = is_own || matches!(parameter(name, scope, self), Value::Environment);
        if name.is_empty() || !is_given || text.or_nothing || text.assigns || scope.splits_oddly {
            return false;
        }
        let part = |c: char| c.is_ascii_alphanumeric() || "_-./:=@%,".contains(c);
        let splits = scope.parsed.dialect != Dialect::Extended;
        let is_plain = |part_of: &Part| match part_of {
            Part::Bare(text) => text.chars().all(|c| part(c) || c == ' ' && splits),
            Part::Quoted(text) => text.chars().all(part),
            _ => false,
        };
        let is_home = |text: &str| text.starts_with("~/") && !self.assigned.contains("HOME");
        match text.word.as_slice() {
            [
                Part::Opaque {
                    written, quoted, ..
                },
            ] => !written.starts_with("$(seq ") && self.prints_no_option(written, *quoted),
            [Part::Bare(text)] if is_home(text) => text.chars().skip(1).all(part),
            parts => !parts.is_empty() && parts.iter().all(is_plain),
        }
    }
}

/// Returns the parts of an expansion such as `${x:-y}`: the variable, the operator and the text behind it.
fn parts_of(written: &str) -> Option<(&str, &str, &str)> {
    let inner = written.strip_prefix("${")?.strip_suffix('}')?;
    let is_operator = |c: char| c != '_' && !c.is_ascii_alphanumeric();
    let (name, rest) = inner.split_at_checked(inner.find(is_operator)?)?;
    let length = if rest.starts_with(':') { 2 } else { 1 };
    let (operator, other) = rest.split_at_checked(length)?;
    (!name.is_empty()).then_some((name, operator, other))
}

/// Whether an expansion has a value in place of an empty one, or an error: `${x:-y}`, `${x:?}`.
pub(super) fn is_never_empty(written: &str) -> bool {
    parts_of(written).is_some_and(|(_, operator, _)| operator.starts_with(':'))
}

/// Returns the plain text of the line that an expansion may stand for: `y` of `${x/z/y}`.
fn replacement_in(written: &str) -> &str {
    let text = match parts_of(written) {
        Some((_, "/", other)) => other.rsplit('/').next().unwrap_or_default(),
        _ => "",
    };
    match text.contains(['$', '`', '\\', '"', '\'']) {
        true => "",
        false => text,
    }
}

/// Whether the value of an expansion such as `${x%y}` and `${x:-y}` begins as that of a variable which the text does not assign, or
/// with the text after the operator.
pub(super) fn begins_as_environment(
    written: &str,
    itself: Option<&str>,
    scope: &Scope<'_>,
    walk: &Walk<'_>,
) -> bool {
    let Some((name, operator, other)) = parts_of(written) else {
        return false;
    };
    // in its own and only assignment it has the value of the environment
    let is_own = itself == Some(name);
    (is_own || matches!(parameter(name, scope, walk), Value::Environment))
        && match operator {
            "%" | "?" | ":?" => true,
            "-" | ":-" => other.starts_with(|c: char| c.is_alphanumeric() || "/._".contains(c)),
            _ => false,
        }
}

/// Whether the text after the operator of `${x:-y}` is no part of the value, or a plain path.
pub(super) fn has_plain_default(written: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    parts_of(written).is_some_and(|(_, operator, other)| {
        !operator.ends_with('-')
            || other.chars().all(is_plain) && !other.starts_with('.') && !other.contains("..")
    })
}
