//! Lines of shells, and the commands that are found in them, in one binary, which links once.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on fails"
)]

use guard_shell::{Command, Limits, ShellError, commands};

mod alternatives;
mod arithmetic;
mod code_of_sed;
mod deletions;
mod folders;
mod foreign;
mod found_files;
mod given;
mod hidden_text;
mod inherited;
mod interpreters;
mod left_files;
mod programs;
mod quirks;
mod settings;
mod several;
mod sources;
mod undetermined;
mod vanishing;

fn read(line: &str) -> Result<Vec<Command>, ShellError> {
    commands(line, &Limits::default())
}

/// Whether a program is listed, from whatever folder.
fn lists(found: &[Command], program: &str) -> bool {
    let name = |words: &Command| Some(words.first()?.rsplit('/').next()?.to_owned());
    found
        .iter()
        .any(|words| name(words).as_deref() == Some(program))
}

fn all_are_unknown(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        let unknown = matches!(found, Err(ShellError::Undetermined { .. }));
        assert!(unknown, "{line}: {found:?}");
    }
}

/// Each line deletes something: the deletion must be listed, or the line must be an error.
fn all_are_listed_or_errors(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        let listed = found.as_ref().map_or(true, |found| lists(found, "rm"));
        assert!(listed, "{line}: {found:?}");
    }
}

fn all_are_read(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        assert!(found.is_ok(), "{line}: {found:?}");
    }
}

/// The lines are read, and delete nothing.
fn none_deletes(lines: &[&str]) {
    for line in lines {
        let found = read(line);
        let none = found.as_ref().is_ok_and(|found| !lists(found, "rm"));
        assert!(none, "{line}: {found:?}");
    }
}
