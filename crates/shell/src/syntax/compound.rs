//! Compound commands: groups, loops, conditions, functions.

use super::alternative::scripts_of;
use std::rc::Rc;

use super::brackets::arithmetic_end;
use super::checked::{MATCHES, checked_variable, open_groups};
use super::cursor::{Parser, Result, is_reserved};
use super::outputs::output_of;
use super::parts::End;
use super::simple::beginning;
use super::texts::{ARGUMENTS, text_of};
use super::{Inner, Kind, Part, Script, Statement, Word, literal};
use crate::ShellError;

/// Whether the end of an arithmetic text may be another one for Bash: quotes within it may be paired otherwise.
fn is_unclear(text: &str) -> bool {
    let holds = |marks: &[&str]| marks.iter().any(|mark| text.contains(mark));
    holds(&["`", "\\", "$'"]) || holds(&["'", "\""]) && holds(&[" #", "\t#", "\n", "<<"])
}

/// Operators of `[[ … ]]` whose operands arithmetic evaluates.
const COMPARES: [&str; 7] = ["-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-v"];

impl Parser<'_> {
    pub(super) fn parenthesis(&mut self) -> Result<Kind> {
        self.expect("(")?;
        if self.peek() == Some('(') {
            self.of_bash()?;
        }
        if self.peek() == Some('(')
            && let Some(end) = arithmetic_end(self.text, self.pos + 1)
        {
            if self
                .text
                .get(self.pos + 1..end)
                .unwrap_or_default()
                .contains(';')
            {
                return self.fail();
            }
            let word = self.arithmetic(self.pos + 1, end)?;
            return Ok(Kind::Compound {
                variable: None,
                words: vec![vec![word]],
                bodies: Vec::new(),
                repeats: false,
            });
        }
        let body = self.body(&[])?;
        self.expect(")")?;
        Ok(Kind::Group {
            subshell: true,
            coprocess: false,
            body,
        })
    }

    /// Parses the text between the double parentheses; the position is then after both closing ones.
    pub(super) fn arithmetic(&mut self, start: usize, end: usize) -> Result<Part> {
        let text = self.text.get(start..end).unwrap_or_default();
        if is_unclear(text) {
            return self.fail();
        }
        self.names.assign_numbers(text);
        let parts = self.within(text, |parser| parser.parts(End::Text))?;
        self.names.texts.evaluate_expression(&parts);
        self.pos = end + 2;
        Ok(Part::Opaque {
            scripts: scripts_of(parts),
            quoted: false,
            written: format!("(({text}))"),
            inner: None,
        })
    }

    pub(super) fn compound(&mut self, word: &str) -> Result<Kind> {
        if matches!(word, "[[" | "function" | "coproc") {
            self.of_bash()?;
        }
        // its body runs for each line of the standard input
        if word == "select" {
            return Err(ShellError::undetermined("what is chosen after", word));
        }
        self.eat_word(word);
        let mut variable = None;
        let mut words = Vec::new();
        let mut bodies = Vec::new();
        match word {
            "{" => {
                let body = self.body(&["}"])?;
                self.expect_word("}")?;
                return Ok(Kind::Group {
                    subshell: false,
                    coprocess: false,
                    body,
                });
            }
            "if" => {
                bodies.push(self.body(&["then"])?);
                let mut checked = std::mem::take(&mut self.found);
                self.expect_word("then")?;
                loop {
                    let ends = &["elif", "else", "fi"];
                    let then = std::mem::take(&mut checked);
                    bodies.push(self.where_checked(then, |parser| parser.body(ends))?);
                    self.lines()?;
                    if self.eat_word("elif") {
                        bodies.push(self.body(&["then"])?);
                        checked = std::mem::take(&mut self.found);
                        self.expect_word("then")?;
                    } else if self.eat_word("else") {
                        bodies.push(self.body(&["fi"])?);
                        self.expect_word("fi")?;
                        break;
                    } else {
                        self.expect_word("fi")?;
                        break;
                    }
                }
            }
            "while" | "until" => {
                bodies.push(self.body(&["do"])?);
                let mut checked = std::mem::take(&mut self.found);
                checked.retain(|_| word == "while");
                bodies.push(self.where_checked(checked, Self::do_body)?);
            }
            "for" => {
                self.blanks();
                if self.eat("((") {
                    self.of_bash()?;
                    let Some(end) = arithmetic_end(self.text, self.pos) else {
                        return self.fail();
                    };
                    words.push(vec![self.arithmetic(self.pos, end)?]);
                    self.blanks();
                    self.eat(";");
                } else {
                    let name;
                    (name, words) = self.for_words()?;
                    variable = Some(name);
                }
                bodies.push(self.do_body()?);
            }
            "case" => self.case(&mut words, &mut bodies)?,
            "[[" => {
                self.names.arithmetic = true;
                words = self.nested(Self::condition)?;
            }
            "function" => {
                self.blanks();
                let Some((name, end)) = self.plain() else {
                    return self.fail();
                };
                self.pos = end;
                self.blanks();
                if self.eat("(") {
                    self.blanks();
                    self.expect(")")?;
                }
                return self.function(name);
            }
            "coproc" => {
                self.names.unordered = true;
                self.blanks();
                let start = self.pos;
                if self.reserved().is_none()
                    && let Some((name, end)) = self.plain()
                {
                    self.pos = end;
                    self.blanks();
                    let opens = self.peek() == Some('(') || self.reserved().is_some();
                    if opens {
                        self.names.assign(&name);
                        self.names.arrays.insert(name.clone());
                        self.names.assign(&format!("{name}_PID"));
                    } else {
                        self.pos = start;
                    }
                }
                let node = self.nested(Self::command)?;
                // `coproc $x [[ … ]]`: the first word is the name
                if let Kind::Simple { words, .. } = &node.kind
                    && words
                        .get(1)
                        .and_then(literal)
                        .is_some_and(|word| is_reserved(&word))
                {
                    let what = "the variable that is assigned";
                    return Err(ShellError::undetermined(what, &self.since(start)));
                }
                let statement = Statement {
                    pipelines: vec![vec![node]],
                    background: true,
                    either: false,
                    alternates: false,
                    discardable: true,
                };
                return Ok(Kind::Group {
                    subshell: true,
                    coprocess: true,
                    body: Script {
                        statements: vec![statement],
                    },
                });
            }
            _ => return self.fail(),
        }
        let repeats = matches!(word, "while" | "until" | "for");
        Ok(Kind::Compound {
            variable,
            words,
            bodies,
            repeats,
        })
    }

    fn do_body(&mut self) -> Result<Script> {
        self.lines()?;
        if self.eat(";") {
            self.lines()?;
        }
        let close = if self.eat_word("{") {
            self.of_bash()?;
            "}"
        } else {
            self.expect_word("do")?;
            "done"
        };
        let body = self.body(&[close])?;
        self.expect_word(close)?;
        Ok(body)
    }

    fn for_words(&mut self) -> Result<(String, Vec<Word>)> {
        let Some((name, end)) = self.plain() else {
            return self.fail();
        };
        // zsh assigns a parameter
        if name.starts_with(|c: char| c.is_ascii_digit()) {
            return self.fail();
        }
        self.names.assign(&name);
        self.names.assign_unseen(&name);
        self.names.load(&name);
        self.pos = end;
        self.lines()?;
        let mut words = Vec::new();
        if self.eat_word("in") {
            loop {
                self.blanks();
                if matches!(self.peek(), None | Some('\n' | ';')) {
                    break;
                }
                let word = self.word()?;
                self.flow_words_into(&name, &word);
                words.push(word);
            }
        } else {
            self.names.texts.flow_variable(ARGUMENTS, &name);
        }
        self.blanks();
        self.eat(";");
        Ok((name, words))
    }

    fn case(&mut self, words: &mut Vec<Word>, bodies: &mut Vec<Script>) -> Result<()> {
        self.blanks();
        words.push(self.word()?);
        self.expect_word("in")?;
        loop {
            self.lines()?;
            if self.eat_word("esac") {
                return Ok(());
            }
            self.eat("(");
            loop {
                self.blanks();
                words.push(self.word()?);
                self.blanks();
                if !self.eat("|") {
                    break;
                }
            }
            self.expect(")")?;
            bodies.push(self.nested(|parser| parser.script(&["esac"]))?);
            if self.sees(";;&") || self.sees(";&") {
                self.of_bash()?;
            }
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.expect_word("esac")?;
                return Ok(());
            }
        }
    }

    /// The words of `[[ … ]]`.
    fn condition(&mut self) -> Result<Vec<Word>> {
        let mut words = Vec::new();
        let (mut pattern, mut compares) = (None, false);
        let n_checks = self.names.texts.checks.count();
        // the variables that are numbers if the words so far hold, unless they are alternatives
        let mut checked = Some(Vec::<String>::new());
        loop {
            self.lines()?;
            if self.eat_word("]]") {
                // a later word may assign it: `${n:=x}`
                let checks = &self.names.texts.checks;
                let mut found = checked.unwrap_or_default();
                found.retain(|name| checks.holds(name));
                self.end_checks(n_checks);
                self.found = found;
                return Ok(words);
            }
            if let Some(operator) = pattern.take() {
                let start = self.pos;
                let right = self.parts(End::Pattern)?;
                if operator == "=~" {
                    let written = self.since(start).to_owned();
                    let names = self.matches(&words, &right, &written);
                    if let Some(checked) = checked.as_mut() {
                        checked.extend(names.clone());
                        self.begin_checks(names);
                    }
                }
                words.push(right);
                continue;
            }
            if let Some((word, end)) = self.plain()
                && matches!(word.as_str(), "=~" | "=" | "==" | "!=")
            {
                self.pos = end;
                pattern = Some(word);
                continue;
            }
            let process = self.sees("<(") || self.sees(">(");
            let operators = ["&&", "||", "(", ")", "<", ">"];
            let operator = operators.iter().find(|one| !process && self.eat(one));
            if let Some(operator) = operator {
                if matches!(*operator, "||" | "(" | ")") {
                    self.end_checks(n_checks);
                    checked = None;
                }
                continue;
            }
            let word = self.word()?;
            let begins = beginning(&word);
            if compares {
                self.compare(&word);
            }
            compares = COMPARES.contains(&&*begins);
            if let Some(before) = words.last().filter(|_| compares) {
                self.compare(before);
            }
            if words.last().is_some_and(|before| beginning(before) == "-v") {
                self.name_by(&word);
            }
            // `[[ -v x[i] ]]`
            if begins
                .split_once('[')
                .is_some_and(|(name, _)| !name.is_empty())
            {
                self.names.may_fail += 1;
                self.evaluate_subscripts(&word);
            }
            words.push(word);
        }
    }

    /// Records a match of the last word, and returns the variable that it has found to be a number.
    fn matches(&mut self, words: &[Word], pattern: &[Part], written: &str) -> Vec<String> {
        let Some((left, before)) = words.split_last() else {
            return Vec::new();
        };
        let groups = open_groups(pattern).into_iter();
        let groups = groups.map(|nth| format!("BASH_REMATCH[{nth}]"));
        let names = MATCHES.map(str::to_owned);
        for name in names.into_iter().chain(groups) {
            self.flow_into(&name, left);
            self.names.texts.joined.insert(name);
        }
        let is_negated = before.last().is_some_and(|word| beginning(word) == "!");
        let checked = checked_variable(left, written);
        checked.into_iter().filter(|_| !is_negated).collect()
    }

    /// Records an operand of a comparison of numbers. What a program prints is taken for a number.
    fn compare(&mut self, word: &Word) {
        // also a name that is put together: `a$i`
        self.names.texts.put_together(word);
        self.names.texts.compare(&text_of(word));
        for part in word {
            if let Part::Opaque {
                inner: Some(Inner::Text(text)),
                ..
            } = part
            {
                self.names.texts.compare(&text_of(&text.word));
            }
            match part {
                Part::Bare(_) | Part::Quoted(_) => {}
                Part::Param { written, .. } | Part::Opaque { written, .. } => {
                    self.names.texts.compare(written);
                }
                Part::Substitution { script, .. } => self.names.texts.compare_output(script),
                Part::Process { .. } => {}
            }
        }
    }

    pub(super) fn function(&mut self, name: String) -> Result<Kind> {
        self.names.unordered = true;
        self.names.functions.insert(name.clone());
        Rc::make_mut(&mut self.names.texts.functions).insert(name.clone());
        self.lines()?;
        // it may be called before a check that stands before it
        let checks = self.names.texts.checks.leave();
        let body = Box::new(self.nested(Self::command)?);
        self.names.texts.checks.come_back(checks);
        self.names.texts.print_node(&output_of(&name), &body, &[]);
        if !self.names.aliases.is_empty() || self.names.traps {
            self.names.texts.replace_functions();
        }
        Ok(Kind::Function { name, body })
    }
}
