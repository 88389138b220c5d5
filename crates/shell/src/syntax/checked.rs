//! Variables that a condition has found to be numbers: `[[ $n =~ ^[0-9]+$ ]] && echo $((n + 1))`.
//!
//! A check holds for what runs after it only if it succeeds, up to the next other assignment of the variable. If a function may run
//! meanwhile, or any text that is evaluated, nothing is known of the variable.

use std::collections::HashSet;

use super::cursor::Parser;
use super::{Part, Word};
use crate::variables::holds_text;

/// Uses of the text of a variable.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Use {
    /// Arithmetic evaluates it.
    Evaluated(String),
    /// Arithmetic compares it.
    Compared(String),
    /// It names another variable.
    Named(String),
    /// It stands in words of `test` without quotes.
    Tested(String),
    /// It is a part of the text of another variable.
    Flow(String, String),
}

impl Use {
    /// Returns the variable.
    pub(super) fn variable(&self) -> &str {
        match self {
            Use::Evaluated(name)
            | Use::Compared(name)
            | Use::Named(name)
            | Use::Tested(name)
            | Use::Flow(name, _) => name,
        }
    }
}

/// A variable that is checked, from the check on.
#[derive(Clone, Debug)]
pub(super) struct Check {
    name: String,
    uses: Vec<Use>,
    /// Whether the variable is assigned another value.
    is_broken: bool,
}

/// The checks of a text, and what is done with variables that they have found to be numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct Checks {
    open: Vec<Check>,
    pub(super) held: HashSet<Use>,
    /// The programs that run after a check and before its end; an empty name stands for any.
    pub(super) calls: HashSet<String>,
}

impl Checks {
    /// Returns the number of checks that hold.
    pub(super) fn count(&self) -> usize {
        self.open.len()
    }

    /// Begins to take a variable for a number.
    pub(super) fn begin(&mut self, name: String) {
        self.open.push(Check {
            name,
            uses: Vec::new(),
            is_broken: false,
        });
    }

    /// Ends all checks but so many, and returns the uses of variables that were assigned meanwhile.
    pub(super) fn end(&mut self, count: usize) -> Vec<Use> {
        let mut broken = Vec::new();
        for check in self.open.drain(count.min(self.open.len())..) {
            match check.is_broken {
                true => broken.extend(check.uses),
                false => self.held.extend(check.uses),
            }
        }
        broken
    }

    /// Keeps a use of a variable that is a number here, or returns it.
    pub(super) fn hold(&mut self, one: Use) -> Option<Use> {
        let is_checked = |check: &&mut Check| !check.is_broken && check.name == one.variable();
        match self.open.iter_mut().find(is_checked) {
            Some(check) => {
                check.uses.push(one);
                None
            }
            None => Some(one),
        }
    }

    /// Records that a variable gets another value.
    pub(super) fn reassign(&mut self, name: &str) {
        let same = self.open.iter_mut().filter(|check| check.name == name);
        same.for_each(|check| check.is_broken = true);
    }

    /// Whether a check of the variable still holds.
    pub(super) fn holds(&self, name: &str) -> bool {
        let mut open = self.open.iter();
        open.any(|check| check.name == name && !check.is_broken)
    }

    /// Returns which checks are broken, for [`Checks::restore`].
    pub(super) fn broken(&self) -> Vec<bool> {
        self.open.iter().map(|check| check.is_broken).collect()
    }

    /// Takes back that variables were assigned: they got numbers.
    pub(super) fn restore(&mut self, broken: &[bool]) {
        for (check, was) in self.open.iter_mut().zip(broken) {
            check.is_broken = *was;
        }
    }

    /// Leaves the checks that hold, for a text that may run elsewhere.
    pub(super) fn leave(&mut self) -> Vec<Check> {
        std::mem::take(&mut self.open)
    }

    /// Comes back to the checks that were left.
    pub(super) fn come_back(&mut self, open: Vec<Check>) {
        self.open = open;
    }

    /// Records that a program runs.
    pub(super) fn call(&mut self, name: &str) {
        if !self.open.is_empty() {
            self.calls.insert(name.to_owned());
        }
    }

    /// Adds the uses and programs of another text.
    pub(super) fn add(&mut self, other: &Checks) {
        self.held.extend(other.held.iter().cloned());
        self.calls.extend(other.calls.iter().cloned());
    }
}

impl Parser<'_> {
    /// Begins to take these variables for numbers.
    pub(super) fn begin_checks(&mut self, names: Vec<String>) {
        names
            .into_iter()
            .for_each(|name| self.names.texts.checks.begin(name));
    }

    /// Ends all checks but so many.
    pub(super) fn end_checks(&mut self, count: usize) {
        let broken = self.names.texts.checks.end(count);
        broken
            .into_iter()
            .for_each(|one| self.names.texts.record(one));
    }

    /// Parses a part of a command that runs only if these variables are numbers.
    pub(super) fn where_checked<T>(
        &mut self,
        names: Vec<String>,
        parse: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let count = self.names.texts.checks.count();
        self.begin_checks(names);
        let found = parse(self);
        self.end_checks(count);
        found
    }
}

/// Returns the numbers of the groups of a regular expression that may match other texts than numbers, up to the ninth one.
pub(super) fn open_groups(pattern: &[Part]) -> Vec<usize> {
    let mut text = String::new();
    let mut is_open = false;
    for part in pattern {
        match part {
            Part::Bare(bare) => text.push_str(bare),
            Part::Quoted(quoted) => text.extend(quoted.chars().map(|_| 'x')),
            _ => is_open = true,
        }
    }
    // parentheses in a set are no groups
    let mut plain = text.clone();
    while let Some((before, rest)) = plain.split_once("[:")
        && let Some((_, after)) = rest.split_once(":]")
    {
        plain = format!("{before}x{after}");
    }
    let mut sets = plain.split('[').skip(1);
    let holds = |set: &str| {
        set.split(']')
            .next()
            .unwrap_or_default()
            .contains(['(', ')'])
    };
    is_open |= plain.contains("[]") || plain.contains("[^]") || sets.any(holds);
    let groups = text.char_indices().filter(|(_, c)| *c == '(');
    let is_number = |at: usize| {
        let inner = text.get(at + 1..).unwrap_or_default();
        let mut depth = 1;
        let end = inner.find(|c| {
            depth += match c {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        end.and_then(|end| inner.get(..end))
            .is_some_and(is_digits_only)
    };
    let closed: Vec<bool> = groups.map(|(at, _)| is_number(at)).collect();
    let is_other = |nth: &usize| is_open || closed.get(nth - 1).is_some_and(|closed| !closed);
    (1..10).filter(is_other).collect()
}

/// The variables that a match sets, in Bash and zsh.
pub(super) const MATCHES: [&str; 3] = ["BASH_REMATCH", "MATCH", "match"];

/// Returns the variable that a pattern of `=~` has found to be a number: `$n =~ ^[0-9]+$`. `pattern` is as written. The shell sets
/// some variables anew before they are used.
pub(super) fn checked_variable(left: &Word, pattern: &str) -> Option<String> {
    let [Part::Param { name, .. }] = left.as_slice() else {
        return None;
    };
    let is_variable = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && !holds_text(name)
        && !MATCHES.contains(&name.as_str());
    let inner = pattern.trim().strip_prefix('^')?.strip_suffix('$')?;
    (is_variable && is_digits_only(inner)).then(|| name.clone())
}

/// Whether each character that a regular expression matches is a digit or a sign.
pub(super) fn is_digits_only(pattern: &str) -> bool {
    let mut rest = pattern;
    while !rest.is_empty() {
        let quantifiers = |c: char| "?*+()-".contains(c) || c.is_ascii_digit();
        let sets = ["[[:digit:]]", "[-+]", "[+-]"];
        let begins = sets.iter().find_map(|set| rest.strip_prefix(set));
        rest = match (begins, rest.strip_prefix('[')) {
            (Some(after), _) => after,
            (None, Some(inner)) => match inner.split_once(']') {
                Some((set, after)) if is_digits(set) => after,
                _ => return false,
            },
            _ => match (rest.strip_prefix(quantifiers), rest.strip_prefix('{')) {
                (Some(after), _) => after,
                (_, Some(inner)) => match inner.split_once('}') {
                    Some((times, after)) if is_digits(&times.replace(',', "")) => after,
                    _ => return false,
                },
                _ => return false,
            },
        };
    }
    true
}

/// Whether a text is not empty and consists of digits and ranges of them.
fn is_digits(set: &str) -> bool {
    !set.is_empty() && set.chars().all(|c| c == '-' || c.is_ascii_digit())
}
