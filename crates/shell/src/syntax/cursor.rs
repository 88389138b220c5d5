//! The position in the text, and the functions that skip or take what follows it: characters, joined lines, blanks,
//! plain words.

use super::parts::is_meta;
use super::simple::Pending;
use super::{Dialect, NESTING, Names, Word};
use crate::ShellError;

/// Words that begin or end compound commands.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "{", "}", "!", "[[", "coproc",
];

/// Whether a word begins or ends compound commands, or changes what a pipeline means.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word) || matches!(word, "time" | "in")
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    pub(super) depth: usize,
    pub(super) pending: Vec<Pending>,
    pub(super) heredocs: Vec<Word>,
    pub(super) names: Names,
    pub(super) dialect: Dialect,
    /// The number of substitutions around the position.
    pub(super) substitutions: usize,
    /// The number of `${…}` between double quotes, or in a text that is read like that, around the position.
    pub(super) quoted_braces: usize,
    /// Whether the text of the innermost of them has quotes or escapes that are not read there.
    pub(super) has_inner_quotes: bool,
    /// Whether the words are those of a builtin that assigns variables: `export x=y`.
    pub(super) declares: bool,
    /// The variables that the last command has found to be numbers, if it succeeds.
    pub(super) found: Vec<String>,
    /// Whether the next word is one in which Bash expands braces, as those of commands.
    pub(super) has_braces: bool,
}

pub(super) type Result<T> = std::result::Result<T, ShellError>;

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, depth: usize, dialect: Dialect) -> Parser<'t> {
        Parser {
            text,
            pos: 0,
            depth,
            pending: Vec::new(),
            heredocs: Vec::new(),
            names: Names::default(),
            dialect,
            substitutions: 0,
            quoted_braces: 0,
            has_inner_quotes: false,
            declares: false,
            found: Vec::new(),
            has_braces: false,
        }
    }

    pub(super) fn fail<T>(&self) -> Result<T> {
        Err(ShellError::NotShell(self.pos))
    }

    /// Refuses a construct that other shells read differently from Bash, if the text is for one of them.
    pub(super) fn of_bash(&self) -> Result<()> {
        match self.dialect {
            Dialect::Bash => Ok(()),
            _ => Err(ShellError::undetermined(
                "what a shell other than Bash reads at",
                self.rest(),
            )),
        }
    }

    pub(super) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    pub(super) fn since(&self, start: usize) -> String {
        self.text
            .get(start..self.pos)
            .unwrap_or_default()
            .to_owned()
    }

    /// Returns the next character without joining lines.
    pub(super) fn raw(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Returns the next character, after joining lines.
    pub(super) fn peek(&mut self) -> Option<char> {
        while self.rest().starts_with("\\\n") {
            self.pos += 2;
        }
        self.raw()
    }

    pub(super) fn bump(&mut self) -> Option<char> {
        let next = self.raw()?;
        self.pos += next.len_utf8();
        Some(next)
    }

    /// Takes this operator if it is next, after joining lines.
    pub(super) fn eat(&mut self, operator: &str) -> bool {
        let start = self.pos;
        for expected in operator.chars() {
            if self.peek() != Some(expected) {
                self.pos = start;
                return false;
            }
            self.bump();
        }
        true
    }

    pub(super) fn sees(&mut self, operator: &str) -> bool {
        let start = self.pos;
        let found = self.eat(operator);
        self.pos = start;
        found
    }

    pub(super) fn expect(&mut self, operator: &str) -> Result<()> {
        if self.eat(operator) {
            Ok(())
        } else {
            self.fail()
        }
    }

    pub(super) fn nested<T>(&mut self, read: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.depth >= NESTING {
            return Err(ShellError::TooDeep);
        }
        self.depth += 1;
        let read = read(self);
        self.depth -= 1;
        read
    }

    /// Reads another text with the same set of names, one level deeper.
    pub(super) fn within<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= NESTING {
            return Err(ShellError::TooDeep);
        }
        let mut inner = Parser::new(text, self.depth + 1, self.dialect);
        std::mem::swap(&mut inner.names, &mut self.names);
        std::mem::swap(&mut inner.heredocs, &mut self.heredocs);
        let read = read(&mut inner);
        let left = inner.pos < text.len();
        self.names = inner.names;
        self.heredocs = inner.heredocs;
        if left {
            read.and_then(|_| self.fail())
        } else {
            read
        }
    }

    /// Skips blanks, joined lines and a comment.
    pub(super) fn blanks(&mut self) {
        while let Some(c) = self.peek() {
            match c {
                ' ' | '\t' => self.pos += 1,
                '#' => {
                    let end = self.rest().find('\n').unwrap_or(self.rest().len());
                    self.pos += end;
                }
                _ => break,
            }
        }
    }

    /// Skips blanks and line ends, with the here-documents that begin after them.
    pub(super) fn lines(&mut self) -> Result<()> {
        loop {
            self.blanks();
            if self.raw() != Some('\n') {
                return Ok(());
            }
            self.line_end()?;
        }
    }

    fn line_end(&mut self) -> Result<()> {
        self.pos += 1;
        for pending in std::mem::take(&mut self.pending) {
            self.heredoc(&pending)?;
        }
        Ok(())
    }

    /// Returns the plain word at this position, without quotes and expansions, and its end.
    pub(super) fn plain(&mut self) -> Option<(String, usize)> {
        let start = self.pos;
        let mut word = String::new();
        while let Some(c) = self.peek() {
            if is_meta(c) {
                break;
            }
            if matches!(c, '\'' | '"' | '\\' | '$' | '`') {
                word.clear();
                break;
            }
            word.push(c);
            self.bump();
        }
        let end = self.pos;
        self.pos = start;
        (!word.is_empty()).then_some((word, end))
    }

    pub(super) fn reserved(&mut self) -> Option<String> {
        let (word, _) = self.plain()?;
        RESERVED.contains(&word.as_str()).then_some(word)
    }

    pub(super) fn eat_word(&mut self, word: &str) -> bool {
        match self.plain() {
            Some((found, end)) if found == word => {
                self.pos = end;
                true
            }
            _ => false,
        }
    }

    pub(super) fn expect_word(&mut self, word: &str) -> Result<()> {
        self.lines()?;
        if self.eat_word(word) {
            Ok(())
        } else {
            self.fail()
        }
    }
}
