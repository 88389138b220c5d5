//! Statements, pipelines, and the choice of the kind of command by its first word.

use super::cursor::{Parser, Result};
use super::{Dialect, Node, Parsed, Part, Redirect, Script, Statement, Target};

const OPENERS: &[&str] = &[
    "if", "for", "while", "until", "case", "select", "function", "{", "!", "[[", "coproc", "time",
];

/// Characters that shells with a different syntax read in another way.
const FOREIGN: [char; 12] = ['\\', '`', '$', '(', ')', '{', '}', '^', '!', '#', '<', '>'];

/// Parses a text that is nested `depth` constructs deep in others.
///
/// # Errors
/// Texts that are not Bash, and texts that nest deeper than [`NESTING`].
pub(crate) fn parse(text: &str, depth: usize, dialect: Dialect) -> Result<Parsed> {
    let mut parser = Parser::new(text, depth, dialect);
    if dialect == Dialect::Other && text.contains(FOREIGN) {
        parser.of_bash()?;
    }
    let script = parser.script(&[])?;
    let names = &mut parser.names;
    // a text that runs meanwhile may assign what a condition has checked, and an array has other elements
    let may_change = names.dynamic || names.traps;
    if names.dynamic || names.assigned.contains_key("IFS") {
        names.texts.split_oddly();
    }
    // a text that runs here may declare any array
    let keyed = match names.dynamic {
        true => &names.arrays,
        false => &names.associative,
    };
    names.texts.key(keyed);
    names
        .texts
        .release(|name| may_change || names.arrays.contains(name));
    if parser.pos < text.len() {
        return parser.fail();
    }
    Ok(Parsed {
        script,
        heredocs: parser.heredocs,
        names: parser.names,
        dialect,
    })
}

impl Parser<'_> {
    /// Statements up to one of these words, a closing parenthesis, the end of a case, or the end.
    pub(super) fn script(&mut self, until: &[&str]) -> Result<Script> {
        let mut script = Script::default();
        let n_checks = self.names.texts.checks.count();
        // the first statement of the line, and the expansions that may have failed before it
        let (mut line, mut before) = (0, self.names.may_fail);
        loop {
            let (at, failed) = (self.pos, self.names.may_fail);
            self.lines()?;
            if self.names.may_fail > failed {
                // in a here-document of the line
                let statements = script.statements.iter_mut().skip(line);
                statements.for_each(|one| one.discardable = true);
            }
            if self.since(at).contains('\n') {
                (line, before) = (script.statements.len(), self.names.may_fail);
            }
            match self.peek() {
                None | Some(')') => break,
                Some(';') if self.sees(";;") || self.sees(";&") => break,
                Some(_) => {}
            }
            if let Some(word) = self.reserved()
                && until.contains(&word.as_str())
            {
                break;
            }
            let mut either = false;
            let n_before = self.names.texts.checks.count();
            // whether the last operator was `&&`, and whether `||` has followed that
            let (mut is_and, mut alternates) = (false, false);
            let mut pipelines = vec![self.pipeline(&mut either)?];
            let mut checked = std::mem::take(&mut self.found);
            loop {
                self.blanks();
                let follows_and = std::mem::replace(&mut is_and, self.eat("&&"));
                if !is_and && !self.eat("||") {
                    break;
                }
                checked.retain(|_| !either);
                if !is_and {
                    either = true;
                    checked.clear();
                    self.end_checks(n_before);
                }
                alternates = follows_and && !is_and;
                self.lines()?;
                if is_and {
                    self.begin_checks(checked.clone());
                }
                pipelines.push(self.pipeline(&mut either)?);
                let checks = &self.names.texts.checks;
                checked.retain(|name| checks.holds(name));
                let more = std::mem::take(&mut self.found);
                checked.extend(more.into_iter().filter(|_| is_and));
            }
            let mut background = false;
            if self.sees(";;") || self.sees(";&") {
                // the end of a case
            } else if self.eat("&") {
                background = true;
                self.names.unordered = true;
            } else if !self.eat(";") && !matches!(self.peek(), None | Some('\n' | ')')) {
                return self.fail();
            }
            self.end_checks(n_before);
            // nobody waits for what runs in the background
            checked.retain(|_| !background);
            self.found = checked;
            script.statements.push(Statement {
                pipelines,
                background,
                either,
                alternates,
                discardable: self.names.may_fail > before,
            });
        }
        self.end_checks(n_checks);
        Ok(script)
    }

    /// A script that must not be empty.
    pub(super) fn body(&mut self, until: &[&str]) -> Result<Script> {
        let script = self.nested(|parser| parser.script(until))?;
        if script.statements.is_empty() {
            return self.fail();
        }
        Ok(script)
    }

    fn pipeline(&mut self, negated: &mut bool) -> Result<Vec<Node>> {
        let mut fails = false;
        loop {
            self.blanks();
            if self.eat_word("!") {
                *negated = true;
                fails = !fails;
                continue;
            }
            let start = self.pos;
            if self.eat_word("time") {
                self.blanks();
                if self.eat_word("-p") {
                    self.blanks();
                }
                let opens = self.peek() == Some('(')
                    || self
                        .plain()
                        .is_some_and(|(word, _)| OPENERS.contains(&word.as_str()))
                    || self.dialect == Dialect::Bash && self.assigns_next();
                if opens {
                    continue;
                }
                self.pos = start;
            }
            break;
        }
        let mut nodes = vec![self.command()?];
        loop {
            self.blanks();
            if self.sees("||") || !self.eat("|") {
                if nodes.len() > 1 || fails {
                    self.found.clear();
                }
                return Ok(nodes);
            }
            if self.eat("&") {
                self.of_bash()?;
                // `|&` is `2>&1 |`
                let both = Redirect {
                    descriptor: Some("2".to_owned()),
                    operator: ">&",
                    target: Target::Word(vec![Part::Bare("1".to_owned())]),
                };
                if let Some(node) = nodes.last_mut() {
                    node.redirects.push(both);
                }
            }
            self.lines()?;
            nodes.push(self.command()?);
        }
    }

    /// Whether an assignment follows: Bash reads `time x=1` as it does `x=1`.
    fn assigns_next(&self) -> bool {
        let name = self.rest().split('=').next().unwrap_or_default();
        let part = |c: char| c == '_' || c.is_ascii_alphanumeric();
        name.len() < self.rest().len()
            && name.starts_with(|c: char| c == '_' || c.is_ascii_alphabetic())
            && name.chars().all(part)
    }

    pub(super) fn command(&mut self) -> Result<Node> {
        self.blanks();
        let word = match self.peek() {
            Some('(') => None,
            _ => self.reserved(),
        };
        let kind = match &word {
            Some(word) => self.compound(word)?,
            None if self.peek() == Some('(') => self.parenthesis()?,
            None => {
                let node = self.simple()?;
                self.found.clear();
                return Ok(node);
            }
        };
        let checks = word.as_deref() == Some("[[");
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => {
                    if !checks || !redirects.is_empty() {
                        self.found.clear();
                    }
                    return Ok(Node { kind, redirects });
                }
            }
        }
    }
}
