//! Variables of the line in the code of `sed`: their values may be commands and flags.

use super::sed::{NAME, PATH, code_of, effects_of};
use super::{Result, refuse};
use crate::syntax::{is_part_of_name, is_part_of_path};
use crate::table::listed;
use crate::walk::{Scope, Walk};
use crate::words::{Field, Hole, Leading};

/// Stands in code for a text of the line that is not known.
const OPEN: char = '\u{2}';

/// The most variables whose values hold others.
const MOST_WITHIN: usize = 8;

/// Variables that the shell sets, and not to a text of the line.
const NO_TEXTS: &str = "PWD OLDPWD RANDOM SRANDOM SECONDS LINENO UID EUID PPID BASHPID EPOCHSECONDS EPOCHREALTIME HOSTNAME \
    HOSTTYPE OSTYPE MACHTYPE SHLVL BASH_VERSION BASH_SOURCE";

impl Walk<'_> {
    /// Refuses code of `sed` with a variable that the line assigns, if its value may be any text, or a name where a command or
    /// a flag stands.
    pub(super) fn check_values_in_sed(
        &mut self,
        program: &str,
        words: &[Field],
        scope: &Scope<'_>,
    ) -> Result<()> {
        let is_open = |word: &Field| word.hole != Hole::None && !word.environment;
        let Some(first) = words.iter().find(|word| is_open(word)) else {
            return Ok(());
        };
        if !listed("sed gsed", program) {
            return Ok(());
        }
        let mut marked = Vec::new();
        for word in words {
            let text = match is_open(word) {
                true => self.marked(&word.text, scope, 0)?,
                false => word.determined().to_owned(),
            };
            marked.push(Field {
                pattern: word.pattern,
                ..Field::known(text)
            });
        }
        let refused = |code: &String| {
            code.contains(OPEN) || code.contains([NAME, PATH]) && effects_of(code).runs
        };
        match code_of(&marked).texts().iter().any(refused) {
            true => refuse("the code of `sed`", first),
            false => Ok(()),
        }
    }

    /// Returns a text with marks in place of the variables that the line assigns, and without other expansions.
    fn marked(&mut self, text: &str, scope: &Scope<'_>, depth: usize) -> Result<String> {
        self.charge(text.len())?;
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find(['$', '`']) {
            let (before, from) = rest.split_at(at);
            out.push_str(before);
            let after = from.get(1..).unwrap_or_default();
            if from.starts_with('`') {
                rest = after.split_once('`').map_or("", |(_, behind)| behind);
                continue;
            }
            if let Some(inner) = after.strip_prefix('(') {
                let (inner, behind) = closed(inner, '(', ')');
                let prints = ["echo ", "printf "]
                    .iter()
                    .any(|one| inner.starts_with(one));
                if prints && self.marked(inner, scope, depth)?.contains(OPEN) {
                    out.push(OPEN);
                }
                rest = behind;
                continue;
            }
            let (inner, behind) = match after.strip_prefix('{') {
                Some(inner) => closed(inner, '{', '}'),
                None => {
                    let is_special =
                        after.starts_with(|c: char| c.is_ascii_digit() || "@*#?-$!".contains(c));
                    let length = match is_special {
                        true => 1,
                        false => name_of(after).len(),
                    };
                    after.split_at_checked(length).unwrap_or_default()
                }
            };
            // a dollar sign alone
            if inner.is_empty() {
                out.push('$');
            }
            let value = self.mark_of(inner, scope, depth)?;
            out.push_str(&value);
            rest = behind;
        }
        Ok(out + rest)
    }

    /// Returns what stands for an expansion, from the name of its variable on.
    fn mark_of(&mut self, inner: &str, scope: &Scope<'_>, depth: usize) -> Result<String> {
        let mark = |value: &str| {
            let mark = match value {
                "" => return String::new(),
                _ if value.chars().all(is_part_of_name) => NAME,
                _ if value.chars().all(is_part_of_path) => PATH,
                _ => OPEN,
            };
            mark.to_string()
        };
        // `${#x}` is a number, and `${!x}` any variable
        if inner.starts_with('!') && inner.len() > 1 {
            return Ok(OPEN.to_string());
        }
        let is_number = inner.starts_with(|c: char| "#?$-!".contains(c));
        let digits = inner.trim_end_matches(|c: char| !c.is_ascii_digit());
        if let (Some(all), Ok(nth)) = (&scope.positional, digits.parse::<usize>()) {
            return Ok(all.get(nth).map_or(String::new(), |value| mark(value)));
        }
        // without parameters, or in a function of which each call is walked
        if inner.starts_with(|c: char| c.is_ascii_digit() || c == '@' || c == '*') {
            let is_given = scope.parsed.names.shifts || scope.level > 0;
            return Ok(if is_given {
                OPEN.to_string()
            } else {
                String::new()
            });
        }
        let name = name_of(inner);
        if is_number || name.is_empty() || scope.parsed.names.is_number(name) {
            return Ok(String::new());
        }
        if let Some(value) = scope.values.get(name) {
            return Ok(mark(value));
        }
        if let Some(partial) = scope.partial.get(name) {
            // the variable of a loop
            let is_itself = partial.written == format!("${name}");
            if is_itself && partial.leading < Leading::Open {
                return Ok(partial.determined.clone());
            }
            if is_itself || depth == MOST_WITHIN {
                return Ok(OPEN.to_string());
            }
            let value = self.marked(&partial.written.clone(), scope, depth + 1)?;
            // a part of it
            let is_cut = name != inner && !value.is_empty();
            return Ok(if is_cut { OPEN.to_string() } else { value });
        }
        if holds_hidden_text(inner.get(name.len()..).unwrap_or_default()) {
            return Ok(OPEN.to_string());
        }
        let names = &scope.parsed.names;
        let is_given = self.assigned.contains(name)
            && !(scope.level == 0 && self.passed.contains(name))
            || crate::variables::is_set_by_shell(name) && !listed(NO_TEXTS, name);
        Ok(match is_given {
            true if !names.gets_words(name) || self.owners.is_shared(name) => OPEN.to_string(),
            true if names.paths.contains(name) => PATH.to_string(),
            true => NAME.to_string(),
            false => String::new(),
        })
    }
}

/// Whether an expansion, from behind the name of its variable on, has a text that is not read in its place: `/a/$'b'`,
/// `[1]:-a`.
fn holds_hidden_text(behind: &str) -> bool {
    let is_quoted = behind.contains(['$', '`', '\\', '"', '\'']);
    match behind
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
    {
        Some((_, operator)) => operator.contains(['-', '+', '=', '/']),
        None => behind.starts_with('/') && is_quoted,
    }
}

/// Returns the text up to the closing bracket, and what stands behind it.
fn closed(text: &str, opens: char, closes: char) -> (&str, &str) {
    let mut depth = 1_usize;
    for (at, c) in text.char_indices() {
        match c {
            _ if c == opens => depth += 1,
            _ if c == closes => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let behind = text.get(at + c.len_utf8()..).unwrap_or_default();
            return (text.get(..at).unwrap_or_default(), behind);
        }
    }
    (text, "")
}

/// Returns the name at the beginning of a text.
fn name_of(text: &str) -> &str {
    let is_part = |c: char| c == '_' || c.is_ascii_alphanumeric();
    let end = text.find(|c| !is_part(c)).unwrap_or(text.len());
    text.get(..end).unwrap_or_default()
}
