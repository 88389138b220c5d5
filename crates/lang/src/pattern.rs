//! Regular expressions of specs: checked when the spec is checked, compiled at their first use.
//!
//! A process that judges one event and exits, such as a hook, uses few of the many expressions of libraries, and compiling an
//! expression costs a hundred times as much as parsing it. Parsing is enough for the checks: valid syntax, the number of
//! groups, and nearly always that the compiled form is within its limit, because the syntax tree gives an upper bound on its
//! size. If the bound exceeds the limit, the expression is compiled at once.

use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Class, Hir, HirKind};
use thiserror::Error;

/// The greatest size of a compiled expression in bytes.
const MOST_BYTES: usize = 4 << 20;

/// The reason why a text is not a usable regular expression.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum PatternError {
    /// The syntax is invalid; the reason, in one clause.
    #[error("{0}")]
    Syntax(String),
    /// The compiled form is too large.
    #[error("the compiled regular expression needs more than {MOST_BYTES} bytes")]
    TooLarge,
}

/// A regular expression. It runs in linear time: look-around and back-references are not supported.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Pattern {
    text: Box<str>,
    n_groups: usize,
    /// `None` if it cannot be compiled, which [`Pattern::new`] rules out.
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl Pattern {
    /// Checks an expression.
    ///
    /// # Errors
    /// See [`PatternError`].
    pub fn new(text: &str) -> Result<Pattern, PatternError> {
        let hir = regex_syntax::parse(text).map_err(|error| {
            let error = error.to_string();
            let reason = error.lines().last().unwrap_or_default().trim();
            PatternError::Syntax(reason.to_owned())
        })?;
        let pattern = Pattern {
            text: text.into(),
            n_groups: hir.properties().explicit_captures_len(),
            compiled: OnceLock::new(),
        };
        if at_most(&hir) > MOST_BYTES as u64 && pattern.regex().is_none() {
            return Err(PatternError::TooLarge);
        }
        Ok(pattern)
    }

    /// Returns the expression as written, with its flags in front.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the number of groups in parentheses, without group 0.
    pub fn n_groups(&self) -> usize {
        self.n_groups
    }

    /// Whether the expression matches somewhere in a text.
    pub fn is_match(&self, text: &str) -> Option<bool> {
        Some(self.regex()?.is_match(text))
    }

    /// Returns a group of the first match; group 0 is the whole match. The inner `None` means that there is no match or
    /// that the group did not take part in it.
    pub fn group<'t>(&self, text: &'t str, group: usize) -> Option<Option<&'t str>> {
        let found = self.regex()?.captures(text);
        let group = found.and_then(|found| found.get(group));
        Some(group.map(|group| group.as_str()))
    }

    /// Returns a text with every match replaced by a literal text. The inner `None` means that the result would have more
    /// than `most` bytes.
    pub fn replace(&self, text: &str, with: &str, most: usize) -> Option<Option<String>> {
        let mut made = String::new();
        let mut end = 0;
        for found in self.regex()?.find_iter(text) {
            made.push_str(text.get(end..found.start()).unwrap_or_default());
            made.push_str(with);
            end = found.end();
            if made.len() > most {
                return Some(None);
            }
        }
        made.push_str(text.get(end..).unwrap_or_default());
        Some((made.len() <= most).then_some(made))
    }

    fn regex(&self) -> Option<&Regex> {
        let compile = || {
            let builder = &mut RegexBuilder::new(&self.text);
            builder.size_limit(MOST_BYTES).build().ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}

/// Returns an upper bound, in bytes, on the compiled form of an expression: an automaton by Thompson's construction (K.
/// Thompson, *Regular expression search algorithm*, 1968) over the bytes of UTF-8.
fn at_most(hir: &Hir) -> u64 {
    /// The size of a state with its links.
    const STATE: u64 = 96;
    /// The size of a range of characters: up to seven sequences of four states, with one transition each, for
    /// characters of one encoded length.
    const RANGE: u64 = 7 * 4 * 48;
    let sum = |parts: &[Hir]| {
        let each = parts.iter().map(|part| at_most(part).saturating_add(STATE));
        each.fold(STATE, u64::saturating_add)
    };
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => STATE,
        HirKind::Literal(literal) => STATE.saturating_mul(literal.0.len() as u64 + 1),
        HirKind::Class(class) => {
            let ranges = match class {
                Class::Unicode(class) => class.ranges().len(),
                Class::Bytes(class) => class.ranges().len(),
            };
            // At most three ranges contain characters of different encoded lengths.
            RANGE.saturating_mul(ranges as u64 + 6)
        }
        HirKind::Repetition(repetition) => {
            let copies = repetition
                .max
                .unwrap_or(repetition.min.saturating_add(1))
                .max(1);
            let one = at_most(&repetition.sub).saturating_add(2 * STATE);
            one.saturating_mul(copies.into()).saturating_add(2 * STATE)
        }
        HirKind::Capture(capture) => at_most(&capture.sub).saturating_add(4 * STATE),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => sum(parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bound_holds(text: &str) -> bool {
        let Ok(hir) = regex_syntax::parse(text) else {
            return true;
        };
        // The size of the prefix that lets the expression match at any position.
        let bound = at_most(&hir).saturating_add(1 << 10);
        bound > 64 << 20
            || RegexBuilder::new(text)
                .size_limit(bound as usize)
                .build()
                .is_ok()
    }

    fn expressions() -> impl Strategy<Value = String> {
        let leaf = prop::sample::select(vec![
            "a",
            "secret",
            "é",
            "漢字",
            "😀",
            r"\w",
            r"\d",
            r"\s",
            r"\b",
            ".",
            "(?s:.)",
            "[^a]",
            r"\pL",
            r"\P{Greek}",
            r"[\x{80}-\x{10FFFF}]",
            r"[\x{7F}-\x{800}\x{FFFF}-\x{10000}]",
            "(?i:straße)",
            "(?-u:a)",
            "^",
            "$",
            "",
        ]);
        leaf.prop_map(str::to_owned)
            .prop_recursive(4, 16, 3, |inner| {
                prop_oneof![
                    (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("{a}{b}")),
                    (inner.clone(), inner.clone()).prop_map(|(a, b)| format!("(?:{a}|{b})")),
                    (inner.clone(), 0u32..4, 0u32..4)
                        .prop_map(|(a, n, m)| format!("(?:{a}){{{n},{}}}", n + m)),
                    inner.clone().prop_map(|a| format!("({a})*")),
                    inner.prop_map(|a| format!("(?i:{a})+")),
                ]
            })
    }

    crate::random::tests! {
        256 cases;

        /// A lazily compiled expression within the limit compiles.
        #[test]
        fn the_bound_is_one(text in expressions()) {
            prop_assert!(bound_holds(&text), "{text}");
        }

        /// The answers equal those of an expression compiled at once.
        #[test]
        fn answers_are_those_of_the_engine(text in expressions(), subject in "[aeS\u{e9}\u{6f22} 1-3]{0,6}") {
            match (Pattern::new(&text), RegexBuilder::new(&text).size_limit(MOST_BYTES).build()) {
                (Ok(pattern), Ok(regex)) => {
                    prop_assert_eq!(pattern.n_groups() + 1, regex.captures_len());
                    prop_assert_eq!(pattern.is_match(&subject), Some(regex.is_match(&subject)));
                    let whole = regex.find(&subject).map(|found| found.as_str());
                    prop_assert_eq!(pattern.group(&subject, 0), Some(whole));
                }
                (ours, theirs) => prop_assert_eq!(ours.is_err(), theirs.is_err(), "{}", text),
            }
        }
    }

    #[test]
    fn what_is_too_large_is_refused_at_once() {
        assert_eq!(
            Pattern::new(r"\w{5000}").map(|_| ()),
            Err(PatternError::TooLarge)
        );
        let coarse = Pattern::new(r"\w{1,8}");
        assert!(coarse.is_ok_and(|pattern| pattern.compiled.get().is_some()));
        let plain = Pattern::new(r"(?i)api[_-]?key\s*=\s*(\S+)");
        assert!(plain.is_ok_and(|pattern| pattern.compiled.get().is_none()));
    }

    #[test]
    fn classes_of_every_kind_are_within_the_bound() {
        for class in [
            "Lu",
            "Ll",
            "Lo",
            "Mn",
            "Nd",
            "Po",
            "Sc",
            "Cn",
            "Greek",
            "Han",
            "Cyrillic",
            "Alphabetic",
            "Emoji",
        ] {
            for text in [format!(r"\p{{{class}}}"), format!(r"\P{{{class}}}")] {
                assert!(bound_holds(&text), "{text}");
            }
        }
    }
}
