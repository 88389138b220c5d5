//! Simple commands, redirections and here-documents, and what commands do to names.

use super::cursor::{Parser, Result};
use super::parts::{End, is_meta, joins};
use super::{Kind, Node, Part, Redirect, Target, Word, literal};
use crate::ShellError;
use crate::table::EVALUATES_SUBSCRIPTS;

/// Builtins that assign the variables that they name.
const ASSIGNING: &[&str] = &[
    "read",
    "mapfile",
    "readarray",
    "getopts",
    "printf",
    "local",
    "declare",
    "typeset",
    "export",
    "readonly",
    "let",
    "unset",
    "wait",
];
/// Those of them whose words hold the values.
const DECLARING: &[&str] = &["local", "declare", "typeset", "export", "readonly", "unset"];
/// Builtins that evaluate text in this shell.
const EVALUATING: &[&str] = &["eval", "source", ".", "trap"];
const REDIRECTS: &[&str] = &[
    "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">",
];

/// A here-document that begins after the line.
pub(super) struct Pending {
    slot: usize,
    delimiter: String,
    strip: bool,
    quoted: bool,
}

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Result<Node> {
        let start = self.pos;
        let (mut assigns, mut words, mut redirects) = (Vec::new(), Vec::new(), Vec::new());
        loop {
            self.blanks();
            match self.peek() {
                None | Some('\n' | ';' | '|' | ')') => break,
                Some('&') if !self.sees("&>") => break,
                _ => {}
            }
            if let Some(redirect) = self.redirect()? {
                redirects.push(redirect);
                continue;
            }
            if self.peek() == Some('(') {
                let [word] = words.as_slice() else {
                    return self.fail();
                };
                let (Some(name), true, true) =
                    (literal(word), assigns.is_empty(), redirects.is_empty())
                else {
                    return self.fail();
                };
                self.pos += 1;
                self.blanks();
                self.expect(")")?;
                let kind = self.function(name)?;
                return Ok(Node { kind, redirects });
            }
            if words.is_empty()
                && let Some(assign) = self.assignment()?
            {
                assigns.push(assign);
                continue;
            }
            words.push(self.word()?);
        }
        if assigns.is_empty() && words.is_empty() && redirects.is_empty() {
            self.pos = start;
            return self.fail();
        }
        self.note(&words);
        Ok(Node {
            kind: Kind::Simple { assigns, words },
            redirects,
        })
    }

    pub(super) fn redirect(&mut self) -> Result<Option<Redirect>> {
        let start = self.pos;
        let mut descriptor = String::new();
        if self.peek() == Some('{') {
            while let Some(c) = self.peek().filter(|c| !is_meta(*c)) {
                descriptor.push(c);
                self.bump();
            }
        } else {
            while let Some(c) = self.peek().filter(char::is_ascii_digit) {
                descriptor.push(c);
                self.bump();
            }
        }
        let process = self.sees("<(") || self.sees(">(");
        let operator = REDIRECTS
            .iter()
            .find(|operator| !process && self.eat(operator));
        let Some(operator) = operator.copied() else {
            self.pos = start;
            return Ok(None);
        };
        // `{a[x]}>file` evaluates the subscript
        self.names.arithmetic |= descriptor.contains('[');
        if !descriptor.is_empty() && operator.starts_with('&') {
            self.pos = start;
            return Ok(None);
        }
        self.blanks();
        let at = self.pos;
        let word = self.word()?;
        let target = if matches!(operator, "<<" | "<<-") {
            let quoted = word.iter().any(|part| !matches!(part, Part::Bare(_)));
            let mut delimiter = String::new();
            for part in &word {
                match part {
                    Part::Bare(text) | Part::Quoted(text) => delimiter.push_str(text),
                    // Bash takes the text of an expansion as the delimiter; nobody writes that
                    _ => return Err(ShellError::NotShell(at)),
                }
            }
            // Bash strips tabs from the delimiter of `<<-`, and reads `$'…'` where others read a dollar sign
            if self.since(at).contains(['$', '`', '\t', '\n']) {
                return Err(ShellError::NotShell(at));
            }
            let slot = self.heredocs.len();
            self.heredocs.push(Vec::new());
            self.pending.push(Pending {
                slot,
                delimiter,
                strip: operator == "<<-",
                quoted,
            });
            Target::Heredoc(slot)
        } else {
            Target::Word(word)
        };
        Ok(Some(Redirect {
            descriptor: (!descriptor.is_empty()).then_some(descriptor),
            operator,
            target,
        }))
    }

    pub(super) fn heredoc(&mut self, of: &Pending) -> Result<()> {
        let mut body = String::new();
        loop {
            let rest = self.rest();
            if rest.is_empty() {
                break;
            }
            let mut end = rest.find('\n').unwrap_or(rest.len());
            // a backslash at the end joins lines before the delimiter is looked for
            while !of.quoted && joins(rest.get(..end).unwrap_or_default()) && end < rest.len() {
                let more = rest.get(end + 1..).unwrap_or_default();
                end += 1 + more.find('\n').unwrap_or(more.len());
            }
            let line = rest.get(..end).unwrap_or_default();
            // Bash compares joined lines with the delimiter, and other shells each of them
            if line.contains('\n') {
                let joined = line.replace("\\\n", "");
                let mut either = line.split('\n').skip(1).chain([joined.as_str()]);
                if either.any(|line| line.trim_start_matches('\t') == of.delimiter) {
                    return self.fail();
                }
            }
            self.pos += (end + 1).min(rest.len());
            let line = if of.strip {
                line.trim_start_matches('\t')
            } else {
                line
            };
            if line == of.delimiter {
                break;
            }
            body.push_str(line);
            body.push('\n');
        }
        let word = if of.quoted {
            vec![Part::Quoted(body)]
        } else {
            self.within(&body, |parser| parser.parts(End::Text))?
        };
        if let Some(slot) = self.heredocs.get_mut(of.slot) {
            *slot = word;
        }
        Ok(())
    }

    /// Keeps what a command does to names.
    fn note(&mut self, words: &[Word]) {
        // `command` and `builtin` run what follows them
        let mut words = words;
        let name = loop {
            let Some((first, rest)) = words.split_first() else {
                return;
            };
            words = rest;
            match literal(first).as_deref() {
                Some("command" | "builtin" | "-p" | "--") => {}
                Some(name) => break name.to_owned(),
                None => {
                    self.names.dynamic = true;
                    return;
                }
            }
        };
        let name = name.as_str();
        self.names.dynamic |= EVALUATING.contains(&name);
        // text that is evaluated here may shift too
        self.names.shifts |= matches!(name, "set" | "shift" | "eval" | "source" | ".");
        self.names.arithmetic |= EVALUATES_SUBSCRIPTS.contains(&name);
        let assigning = ASSIGNING.contains(&name);
        // of these the value stands in the word, where it is checked
        let declaring = DECLARING.contains(&name);
        for word in words {
            let text: String = word
                .iter()
                .map_while(|part| match part {
                    Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if name == "let" {
                self.names.assign_all(&text);
                self.names.evaluate(&text);
                self.evaluates(word);
            } else if assigning {
                let end = text.find(['=', '+', '[']).unwrap_or(text.len());
                let variable = text.get(..end).unwrap_or_default();
                self.names.assign(variable);
                if !declaring {
                    self.names.assign_unseen(variable);
                } else if let Some((_, target)) = text.split_once('=') {
                    // `declare -n x=PS4`
                    self.names.assign_unseen(target);
                }
            } else if name == "alias"
                && let Some((alias, _)) = text.split_once('=')
            {
                self.names.aliases.insert(alias.to_owned());
            }
        }
    }
}
