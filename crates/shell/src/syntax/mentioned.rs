//! The variables that a text names, or assigns, if arithmetic evaluates it.

use super::texts::{ARGUMENTS, EXPANSION};
use crate::variables::variable_of;

pub(super) fn is_name(c: char) -> bool {
    c == '_' || c.is_ascii_alphanumeric()
}

/// Returns the name under which the group of a match is recorded with which a text begins: `BASH_REMATCH[1]`.
fn group_of(text: &str) -> String {
    let is_group = |text: &&str| {
        let index = text
            .strip_prefix("BASH_REMATCH[")
            .and_then(|rest| rest.strip_suffix(']'));
        index.is_some_and(|index| ("1"..="9").contains(&index))
    };
    let group = text.get(..15).filter(is_group);
    group.unwrap_or("BASH_REMATCH").to_owned()
}

/// Returns the variables that a text names if arithmetic evaluates it, and [`ARGUMENTS`] for `$1` and `$@`.
pub(super) fn names_in(text: &str) -> impl Iterator<Item = String> {
    let ends = |at: usize| text.get(at..).and_then(|rest| rest.find(|c| !is_name(c)));
    let begins = text.char_indices().filter(move |&(at, c)| {
        is_name(c)
            && !text
                .get(..at)
                .is_some_and(|before| before.ends_with(is_name))
    });
    let expands = |names: &[&str]| {
        let mut signs = ["$", "${", "${!"].into_iter();
        signs.any(|sign| {
            names
                .iter()
                .any(|name| text.contains(&format!("{sign}{name}")))
        })
    };
    let others = [
        (
            ARGUMENTS,
            expands(&["@", "*"]) || text.split("${!").skip(1).any(is_indirect),
        ),
        ("0", expands(&["0"])),
        ("-", expands(&["-"])),
    ];
    let others = others
        .into_iter()
        .filter(|(_, is_named)| *is_named)
        .map(|(name, _)| name);
    begins
        .filter_map(move |(at, _)| {
            let name = text.get(at..ends(at).map_or(text.len(), |length| at + length))?;
            let before = text.get(..at)?;
            let is_expansion = ["$", "${", "${!"].iter().any(|sign| before.ends_with(sign));
            match name.starts_with(|c: char| c.is_ascii_digit()) {
                true => is_expansion.then(|| ARGUMENTS.to_owned()),
                false if before.ends_with('#') => None,
                false if name == "BASH_REMATCH" => Some(group_of(text.get(at..)?)),
                false if before.ends_with("${!") && !is_indirect(text.get(at..)?) => {
                    Some(keys_of(name))
                }
                false => Some(name.to_owned()),
            }
        })
        .chain(others.map(str::to_owned))
}

/// Whether the text behind `${!` begins with the name of a variable or the number of a parameter whose value names another one, which may be
/// a parameter, too. Others are the keys of an array, or names that begin so.
fn is_indirect(text: &str) -> bool {
    let operator = text.trim_start_matches(is_name);
    let others = ["[@]}", "[*]}", "@}", "*}"];
    !others.iter().any(|other| operator.starts_with(other))
}

/// Returns the name under which the keys of an array are recorded: `${!x[@]}`.
pub(super) fn keys_of(array: &str) -> String {
    format!("!{array}")
}

/// Returns the variables that a text assigns if arithmetic evaluates it; an empty name stands for any, also if a part of the name is an
/// expansion.
pub(super) fn assigned_in(text: &str) -> impl Iterator<Item = String> {
    let operators = ['+', '-', '*', '/', '%', '&', '|', '^', '<', '>'];
    let names = move |before: &str| {
        let before = before.trim_end_matches(operators).trim_end();
        let start = before.rfind(|c| !is_name(c) && c != ']').map_or(0, |at| {
            at + before[at..].chars().next().map_or(1, char::len_utf8)
        });
        let ahead = before.get(..start).unwrap_or_default();
        let is_open = before.ends_with(EXPANSION) || ahead.ends_with([EXPANSION, '%']);
        match is_open {
            true => Some(String::new()),
            false => before
                .get(start..)
                .map(|name| variable_of(name).to_owned())
                .filter(|name| !name.is_empty()),
        }
    };
    // no operand begins as the value of `x=/y`
    let is_operand = |rest: &str| {
        !rest
            .trim_start()
            .starts_with(['/', '.', ',', ':', '@', '%', '*'])
    };
    let before_sign = text
        .match_indices('=')
        .filter(move |(at, _)| text.get(at + 1..).is_some_and(is_operand))
        .filter_map(move |(at, _)| match at {
            // the name stands in another text: `x=IFS; x+==1`
            0 if text.len() > 2 => Some(String::new()),
            _ => names(text.get(..at)?),
        });
    let steps = ["++", "--"];
    let beside_steps = steps.into_iter().flat_map(move |step| {
        text.match_indices(step).flat_map(move |(at, _)| {
            let after = text.get(at + step.len()..).unwrap_or_default().trim_start();
            let end = after.find(|c| !is_name(c)).unwrap_or(after.len());
            let following = after
                .get(..end)
                .map(str::to_owned)
                .filter(|name| !name.is_empty());
            [names(text.get(..at).unwrap_or_default()), following]
                .into_iter()
                .flatten()
        })
    });
    before_sign.chain(beside_steps)
}
