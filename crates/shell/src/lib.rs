//! Lists the commands that a shell line runs.
//!
//! `cd /tmp && sudo rm -rf x > log` runs `cd /tmp`, `sudo rm -rf x` and with it `rm -rf x`, and writes to `log`. A rule
//! about deletions looks at these words, not at the text: `echo "rm -rf /"` deletes nothing, and `r\m -r -f /` does.
//!
//! ```text
//! text ──▶ syntax (a tree) ──▶ walk, words (expansion) ──▶ follow (commands that run commands, by table)
//!                                  ▲                                  │ lines for other shells
//!                                  └──────────────────────────────────┘
//! ```
//!
//! **Invariants:** a program, an option of a wrapper or a script that the text does not determine is an error, never a
//! guess. Work is bounded by [`Limits`]: time and memory are linear in them, and recursion is at most
//! [`syntax::NESTING`] deep. The crate does not depend on the language of specs.

mod alternatives;
mod braces;
mod components;
mod constants;
mod feed;
mod field;
mod files;
mod folder;
mod follow;
mod foreign;
mod gather;
mod option_table;
mod output;
mod owners;
mod quoting;
mod rounds;
mod scope;
mod settings;
mod several;
mod syntax;
mod table;
mod variables;
mod walk;
mod words;
mod wrappers;

use std::fmt;

use feed::Feed;
use syntax::Dialect;
use walk::{Folder, Walk};

/// The limits of reading a line, all inclusive.
#[derive(Clone, Debug)]
pub struct Limits {
    /// The longest line, in bytes; the limit also applies to the lines that it passes to other shells.
    pub bytes: usize,
    /// The greatest number of words of all commands together.
    pub words: usize,
    /// The greatest number of bytes that are read, copied or listed altogether. A text that is passed to another shell is read
    /// again and counts again. A line in which other texts define names is read twice, each time with this limit.
    pub work: usize,
}

impl Limits {
    /// Returns limits for lines of at most this many bytes.
    pub fn for_bytes(bytes: usize) -> Limits {
        Limits {
            bytes,
            words: bytes,
            work: bytes.saturating_mul(48),
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits::for_bytes(16 * 1024)
    }
}

/// The reason why a text cannot be listed as commands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShellError {
    /// The text is not a shell line; the byte at which the parser found that.
    NotShell(usize),
    /// The line is too long: its bytes, and [`Limits::bytes`].
    TooLong(usize, usize),
    /// Constructs, or commands in the texts of other commands, are nested too deep.
    TooDeep,
    /// The line exceeds [`Limits::words`] or [`Limits::work`].
    TooMuch,
    /// The text does not determine which commands run.
    Undetermined {
        /// The construct that is not determined.
        what: Construct,
        /// The source text of the construct.
        written: String,
    },
}

/// A construct that a text does not determine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construct {
    /// A word that is, or may be, an option which the tables of its program do not know.
    Option,
    /// Another one, by what it is called.
    Other(&'static str),
}

impl From<&'static str> for Construct {
    fn from(name: &'static str) -> Construct {
        Construct::Other(name)
    }
}

impl fmt::Display for Construct {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Construct::Option => "an option",
            Construct::Other(name) => name,
        })
    }
}

impl ShellError {
    fn undetermined(what: impl Into<Construct>, written: &str) -> ShellError {
        let what = what.into();
        const SHOWN: usize = 40;
        let mut shown: String = written.chars().take(SHOWN).collect();
        if shown.len() < written.len() {
            shown.push('…');
        }
        ShellError::Undetermined {
            what,
            written: shown,
        }
    }
}

impl fmt::Display for ShellError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShellError::NotShell(byte) => write!(f, "not a shell line, from byte {byte} on"),
            ShellError::TooLong(bytes, limit) => {
                write!(f, "a shell line of {bytes} bytes (limit: {limit})")
            }
            ShellError::TooDeep => {
                write!(
                    f,
                    "a shell line with more than {} nested constructs",
                    syntax::NESTING
                )
            }
            ShellError::TooMuch => write!(f, "a shell line that expands to too many words"),
            ShellError::Undetermined { what, written } if written.is_empty() => {
                write!(f, "the shell line does not determine {what}")
            }
            ShellError::Undetermined { what, written } => {
                write!(
                    f,
                    "the shell line does not determine {what}: `{}`",
                    written.escape_debug()
                )
            }
        }
    }
}

impl std::error::Error for ShellError {}

/// One command: its words without quotes and escapes. A redirection is a command of its own: `[">", "log"]`.
pub type Command = Vec<String>;

/// Returns all commands of a line, in the order in which they begin: those of pipes, lists, loops, functions, subshells and
/// substitutions, and those that other commands run (`sudo`, `env`, `xargs`, `find -exec`, `sh -c`, `eval`, `ssh`), which
/// follow the command that runs them.
///
/// Variables that the line assigns once, elements of arrays, `$(echo …)` of plain text, braces, and what `echo`, `printf`, `cat`
/// and here-documents of plain text feed to a shell are replaced by their values. A command with a variable that has one of several
/// plain values of the line is listed with each of them, and one with texts that stand there or not
/// (`${x:+-v}`) is listed with and without them. Other expansions among the operands of a command stay as they are written; what
/// may be a text of the line (`${x:-a}`) or nothing is listed once more as that, if it decides which words there are.
///
/// # Errors
/// Texts that are not Bash or exceed [`Limits`], and those that do not determine which programs run: see
/// [`ShellError::Undetermined`]. Takes time linear in [`Limits::work`].
pub fn commands(line: &str, limits: &Limits) -> Result<Vec<Command>, ShellError> {
    let first = walked(line, Walk::new(limits))?;
    // texts within the line define names: what runs before them, or again after them, is read with these names
    let last = match first.finds_names() {
        true => walked(line, first.again())?,
        false => first,
    };
    Ok(last.found)
}

fn walked<'l>(line: &str, mut walk: Walk<'l>) -> Result<Walk<'l>, ShellError> {
    walk.text(line, None, &Feed::Nothing, 0, Folder::Here, Dialect::Bash)?;
    walk.check_at_end()?;
    Ok(walk)
}

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}
