//! The names of programs, and those under which they are installed: with a version, a target, an alternative, or in the
//! folder of `git`.

use crate::syntax::is_noted;
use crate::table::{
    ALTERNATIVES, ARCHITECTURES, COMPILES, DELETERS, INTERPRETERS, LEAVES_INPUT, OTHER_NAMES,
    OWN_WORDS, READS, RUN_AT_START, RUNS_OR_WRITES, SHELLS, WRITERS, listed,
};
use crate::wrappers::WRAPPERS;

/// Whether a name is that of a program or builtin, so that scripts which the line does not hold may call it.
pub(crate) fn is_common(name: &str) -> bool {
    let lists = [
        READS,
        OWN_WORDS,
        COMPILES,
        LEAVES_INPUT,
        RUNS_OR_WRITES,
        RUN_AT_START,
    ];
    lists.iter().any(|list| listed(list, name))
        || is_noted(name)
        || SHELLS.contains(&name)
        || INTERPRETERS.contains(&name)
        || WRITERS.iter().any(|(writer, _)| *writer == name)
        || DELETERS.iter().any(|(deleter, ..)| *deleter == name)
        || WRAPPERS.iter().any(|one| listed(one.names, name))
}

/// Returns the name by which the tables know a program: `gcc` for `x86_64-linux-gnu-gcc-12`, `vim` for `vim.basic` and `vimdiff`.
pub(crate) fn known_name(name: &str) -> &str {
    let name = without_version(without_target(name));
    let name = match name.rsplit_once('.') {
        Some((stem, end)) if listed(ALTERNATIVES, end) => stem,
        _ => name,
    };
    let other = OTHER_NAMES.iter().find(|(names, _)| listed(names, name));
    other.map_or(name, |(_, known)| known)
}

/// Removes `-12` or `-12.1`.
fn without_version(name: &str) -> &str {
    let is_version = |end: &str| {
        end.starts_with(|c: char| c.is_ascii_digit())
            && end.chars().all(|c| c == '.' || c.is_ascii_digit())
    };
    match name.rsplit_once('-') {
        Some((stem, end)) if is_version(end) && !stem.is_empty() => stem,
        _ => name,
    }
}

/// Removes the target before or behind a name: `x86_64-linux-gnu-gcc`, `perl5.36-x86_64-linux-gnu`.
fn without_target(name: &str) -> &str {
    let is_target = |part: &str| listed(ARCHITECTURES, part);
    let version = without_version(name);
    match name.split_once('-') {
        Some((first, _)) if is_target(first) => {
            let start = version.rfind('-').map_or(0, |at| at + 1);
            name.get(start..).unwrap_or(name)
        }
        Some((first, rest)) if rest.split('-').next().is_some_and(is_target) => first,
        _ => name,
    }
}
