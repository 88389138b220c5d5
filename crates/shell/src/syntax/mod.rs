//! Bash as a tree: recursive descent with a fixed depth, one pass over the text.
//!
//! The tree keeps only what decides which commands run: words with their quoting, substitutions, redirections, the
//! bodies of compound commands. If the parser cannot read a text as Bash does, it returns an error; it never guesses.

mod alternative;
mod brackets;
mod chars;
mod checked;
mod compound;
mod cursor;
mod flows;
mod lists;
mod mentioned;
mod named;
mod numbers;
mod one_word;
mod outputs;
mod parts;
mod pieces;
mod simple;
mod sources;
mod texts;

use std::collections::{HashMap, HashSet};

use super::table::CHANGES_PROGRAMS;
use super::variables::{INTEGERS, decides_what_runs, is_set_by_shell, runs_values_of};

pub(crate) use brackets::plants;
pub(crate) use chars::{is_part_of_name, is_part_of_path, is_plain_value};
pub(crate) use lists::parse;
pub(crate) use simple::{behind_prefixes, is_noted};
pub(crate) use texts::Texts;

/// The greatest depth of nested constructs (substitutions, compound commands, quotes within them), including those of
/// texts within texts.
pub(crate) const NESTING: usize = 48;

#[derive(Debug, Default)]
pub(crate) struct Script {
    pub(crate) statements: Vec<Statement>,
}

/// Pipelines joined by `&&` and `||`.
#[derive(Debug)]
pub(crate) struct Statement {
    pub(crate) pipelines: Vec<Vec<Node>>,
    pub(crate) background: bool,
    /// Whether a pipeline may run because one before it failed: after `||` and `!`.
    pub(crate) either: bool,
    /// Whether the last two pipelines are one behind `&&` and one behind `||`: one of them runs.
    pub(crate) alternates: bool,
    /// Whether an error before or in it may make Bash discard the rest of its line, and go on with the next one.
    pub(crate) discardable: bool,
}

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Simple {
        assigns: Vec<Assign>,
        words: Vec<Word>,
    },
    /// `{ … }` and `( … )`.
    Group {
        subshell: bool,
        /// Whether `coproc` runs it, so that other commands feed it.
        coprocess: bool,
        body: Script,
    },
    /// `if`, `while`, `for`, `case`, `[[ … ]]`, `(( … ))`: words that are expanded, and the scripts that may run.
    Compound {
        /// The variable of `for`.
        variable: Option<String>,
        words: Vec<Word>,
        bodies: Vec<Script>,
        /// Whether the bodies run more than once.
        repeats: bool,
    },
    Function {
        name: String,
        body: Box<Node>,
    },
}

#[derive(Debug)]
pub(crate) struct Assign {
    pub(crate) name: String,
    /// `x=v`, not `x+=v` or `x[i]=v`.
    pub(crate) plain: bool,
    pub(crate) value: Word,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    pub(crate) descriptor: Option<String>,
    pub(crate) operator: &'static str,
    pub(crate) target: Target,
}

#[derive(Debug)]
pub(crate) enum Target {
    Word(Word),
    /// The index in [`Parsed::heredocs`].
    Heredoc(usize),
}

pub(crate) type Word = Vec<Part>;

#[derive(Debug)]
pub(crate) enum Part {
    /// Characters that may still form a brace, a tilde or a pattern.
    Bare(String),
    Quoted(String),
    Param {
        name: String,
        quoted: bool,
        written: String,
    },
    Substitution {
        script: Script,
        quoted: bool,
        written: String,
    },
    Process {
        script: Script,
        written: String,
    },
    /// Expansions that are not evaluated: `${x%y}`, `$((…))`, arrays.
    Opaque {
        scripts: Vec<Script>,
        quoted: bool,
        written: String,
        inner: Option<Inner>,
    },
}

/// The content of an expansion, or of the value of an array.
#[derive(Debug)]
pub(crate) enum Inner {
    Text(Alternative),
    /// The words of `(a b)`, in which commands are expansions that are not evaluated.
    Elements(Vec<Word>),
}

/// The text in place of a parameter: `${x:-TEXT}`, `${x:=TEXT}`, `${x:+TEXT}`.
#[derive(Debug)]
pub(crate) struct Alternative {
    /// Whether it is the text or nothing, and not the value or the text.
    pub(crate) or_nothing: bool,
    /// Whether the parameter gets the text as its value.
    pub(crate) assigns: bool,
    /// The text, in which commands are expansions that are not evaluated.
    pub(crate) word: Word,
}

/// The language of a text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Dialect {
    #[default]
    Bash,
    /// A shell that agrees with Bash on the POSIX subset only: dash, or one that is not known.
    Posix,
    /// A shell that has expansions and builtins of its own besides: zsh, ksh, yash.
    Extended,
    /// A shell with its own quotes and expansions: csh, fish.
    Other,
}

/// A parsed text.
#[derive(Debug, Default)]
pub(crate) struct Parsed {
    pub(crate) script: Script,
    pub(crate) heredocs: Vec<Word>,
    pub(crate) names: Names,
    pub(crate) dialect: Dialect,
}

/// The effects that a text may have on names, anywhere in it.
#[derive(Debug, Default)]
pub(crate) struct Names {
    /// The number of assignments of each variable, in any form.
    pub(crate) assigned: HashMap<String, usize>,
    /// The number of those of a word of the text that is no option.
    pub(crate) words: HashMap<String, usize>,
    /// Those of which such a word has other characters than a name: `a/b`.
    pub(crate) paths: HashSet<String>,
    /// The number of those of a number: by digits, and by arithmetic.
    pub(crate) numbers: HashMap<String, usize>,
    /// The number of those of the value that the variable has: `x=$x`.
    pub(crate) kept: HashMap<String, usize>,
    /// The values of those of plain texts, in which nothing is expanded again.
    pub(crate) values: HashMap<String, Vec<String>>,
    pub(crate) aliases: HashSet<String>,
    pub(crate) functions: HashSet<String>,
    /// The text is evaluated by `eval`, `.` or `trap`, so any variable may change.
    pub(crate) dynamic: bool,
    /// A text is evaluated as arithmetic, or as the subscript of an array.
    pub(crate) arithmetic: bool,
    /// The texts that arithmetic may evaluate.
    pub(crate) texts: Texts,
    /// The number of expansions so far that may fail, so that Bash discards the rest of the line.
    pub(crate) may_fail: usize,
    /// Variables that are assigned a number of the shell, or the path that `mktemp` prints: as a part of a text they are one plain word.
    pub(crate) made: HashSet<String>,
    /// Arrays whose subscripts are texts, which arithmetic does not evaluate.
    pub(crate) associative: HashSet<String>,
    /// Variables that are arrays: a later assignment by a builtin expands a text between parentheses.
    pub(crate) arrays: HashSet<String>,
    /// Variables that are declared read-only; another assignment fails.
    pub(crate) read_only: HashSet<String>,
    /// Variables of the text that may have a value from the text around it, or from one that runs before it.
    pub(crate) inherited: HashSet<String>,
    /// `$1`, `$2`, … change.
    pub(crate) shifts: bool,
    /// Commands may run in another order than written, or more than once: functions, traps, background commands.
    pub(crate) unordered: bool,
    /// The folder may change.
    pub(crate) moves: bool,
    /// A trap may run before or after any command.
    pub(crate) traps: bool,
    /// A variable whose value a shell runs or expands, and that is not set by an assignment in the text.
    pub(crate) run_unseen: Option<String>,
}

impl Names {
    /// Records that a variable may get a text.
    pub(crate) fn assign(&mut self, name: &str) {
        self.assign_any(name);
        if name == "BASH_REMATCH" {
            (0..10).for_each(|nth| self.texts.take(&format!("BASH_REMATCH[{nth}]")));
        }
    }

    fn assign_any(&mut self, name: &str) {
        *self.assigned.entry(name.to_owned()).or_default() += 1;
        self.texts.checks.reassign(name);
        self.texts.replaces |= CHANGES_PROGRAMS.contains(&name);
        if INTEGERS.contains(&name) {
            self.may_fail += 1;
            self.arithmetic = true;
            self.texts.evaluate_variable(name);
        }
    }

    /// Records the subscripts of an array in a text: `x[i]`. Those of arrays of texts are evaluated only if `twice`: a builtin expands what
    /// the shell has expanded.
    pub(crate) fn subscripts(&mut self, text: &str, twice: bool) {
        if let Some((name, index)) = text.split_once('[') {
            let is_name = |c: char| c == '_' || c.is_ascii_alphanumeric();
            let name = name.rsplit(|c| !is_name(c)).next().unwrap_or_default();
            if twice || !self.associative.contains(name) {
                self.texts.evaluate(index);
            }
        }
    }

    /// Records the value of an assignment, if it is plain text, or the one that the variable has.
    pub(crate) fn give(&mut self, name: &str, value: &Word) {
        if let [Part::Param { written, .. }] = value.as_slice()
            && [format!("${name}"), format!("${{{name}}}")].contains(written)
        {
            *self.kept.entry(name.to_owned()).or_default() += 1;
        }
        let is_plain = |c: char| c == ' ' || c != '=' && is_part_of_path(c);
        if let Some(text) = literal(value).filter(|text| text.chars().all(is_plain)) {
            let values = self.values.entry(name.to_owned()).or_default();
            values.push(text);
        }
    }

    /// Whether a variable has no other value than the one of its only assignment.
    pub(crate) fn is_assigned_once(&self, name: &str) -> bool {
        self.is_assigned(name, 1)
    }

    /// Whether a variable gets its values by so many assignments of the text only.
    pub(crate) fn is_assigned(&self, name: &str, times: usize) -> bool {
        self.assigned.get(name) == Some(&times) && !self.may_change(name)
    }

    /// Whether each assignment of a variable gives it one word that is no option.
    pub(crate) fn is_word(&self, name: &str) -> bool {
        let all = self.assigned.get(name);
        let is_other = self.inherited.contains(name) || self.may_change(name);
        all.is_some() && all == self.words.get(name) && !is_other
    }

    /// Whether each assignment of a variable gives it a word, whatever else may change it.
    pub(crate) fn gets_words(&self, name: &str) -> bool {
        let all = self.assigned.get(name);
        all.is_some() && all == self.words.get(name)
    }

    /// Whether each assignment of a variable gives it the value that it has.
    pub(crate) fn keeps(&self, name: &str) -> bool {
        let all = self.assigned.get(name);
        all.is_some() && all == self.kept.get(name) && !self.may_change(name)
    }

    /// Whether a variable is never anything but a number. Texts that arithmetic evaluates assign numbers only.
    pub(crate) fn is_number(&self, name: &str) -> bool {
        let all = self.assigned.get(name);
        let is_other = self.dynamic || is_set_by_shell(name) || self.inherited.contains(name);
        all.is_some() && all == self.numbers.get(name) && !is_other
    }

    /// Whether a variable may get a value otherwise than by the assignments of the text.
    fn may_change(&self, name: &str) -> bool {
        let is_evaluated = self.arithmetic && self.texts.may_assign(name);
        self.dynamic || is_set_by_shell(name) || is_evaluated
    }

    /// Whether a variable that is read-only is assigned again.
    pub(crate) fn assigns_read_only(&self) -> bool {
        let again = |name: &String| self.assigned.get(name).is_some_and(|times| *times > 1);
        self.read_only.iter().any(again)
    }

    /// Records that a variable gets a value that the text does not contain: by `read`, `for`, `printf -v`.
    pub(crate) fn assign_unseen(&mut self, name: &str) {
        if runs_values_of(name) {
            self.run_unseen = Some(name.to_owned());
        }
    }

    /// Records that a variable that decides what runs gets a value that is not known.
    pub(crate) fn load(&mut self, name: &str) {
        if decides_what_runs(name) {
            self.run_unseen = Some(name.to_owned());
        }
    }

    /// Records every identifier of a text as possibly assigned: `(( a = b++ ))`.
    pub(crate) fn assign_all(&mut self, text: &str) {
        self.arithmetic = true;
        self.may_fail += 1;
        for name in identifiers(text) {
            self.assign(name);
            self.assign_unseen(name);
        }
    }

    /// Records every identifier of arithmetic as possibly assigned a number.
    pub(crate) fn assign_numbers(&mut self, text: &str) {
        self.arithmetic = true;
        self.may_fail += 1;
        let broken = self.texts.checks.broken();
        for name in identifiers(text) {
            self.assign_any(name);
            self.assign_unseen(name);
        }
        self.texts.checks.restore(&broken);
        for name in identifiers(text) {
            *self.numbers.entry(name.to_owned()).or_default() += 1;
        }
    }
}

fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| c != '_' && !c.is_ascii_alphanumeric());
    words.filter(|word| word.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic()))
}

/// Returns the text of a word without expansions.
pub(crate) fn literal(word: &Word) -> Option<String> {
    let texts = word.iter().map(|part| match part {
        Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}
