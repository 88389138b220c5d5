//! The names that are valid in a text while its commands are walked.

use std::collections::{HashMap, HashSet};

use super::constants::Array;
use super::feed::Feed;
use super::folder::Folder;
use super::syntax::{Node, Parsed};
use super::words::{Field, Partial};

/// The names that are valid in one text.
pub(super) struct Scope<'a> {
    pub(super) parsed: &'a Parsed,
    /// Values of variables that are assigned exactly once, by a statement that always runs.
    pub(super) values: HashMap<String, String>,
    /// Variables that are assigned once, of which only a part is known.
    pub(super) partial: HashMap<String, Partial>,
    /// Variables that have one of these values.
    pub(super) several: HashMap<String, Vec<String>>,
    /// Variables that have one value from their assignment on.
    pub(super) constant: HashSet<String>,
    pub(super) arrays: HashMap<String, Array>,
    /// `$0`, `$1`, …, if known; empty if there are no parameters and `$0` is the name by which the shell was called.
    pub(super) positional: Option<Vec<String>>,
    pub(super) functions: HashMap<&'a str, Vec<&'a Node>>,
    pub(super) splits_oddly: bool,
    pub(super) folder: Folder,
    pub(super) level: usize,
    /// The standard input of all commands after `exec <…`.
    pub(super) input: Option<Feed>,
    pub(super) calls: usize,
    /// The calls of functions around the command whose parameters are not known.
    pub(super) calling: Vec<Calling>,
    /// The words of loops over names of files, by the variable of the loop.
    pub(super) files: HashMap<String, Vec<Field>>,
}

/// A call of a function whose parameters are not known, and what decides what its body runs.
#[derive(Clone, PartialEq)]
pub(super) struct Calling {
    pub(super) name: String,
    /// Whether it has an input that is not known.
    pub(super) reads: bool,
    pub(super) folder: Folder,
    pub(super) values: HashMap<String, String>,
    pub(super) partial: HashMap<String, Partial>,
}
