//! Compound commands: groups, loops, conditions, functions.

use super::alternative::scripts_of;
use super::cursor::{Parser, Result, is_reserved};
use super::parts::{End, arithmetic_end};
use super::simple::beginning;
use super::{Kind, Part, Script, Statement, Word, literal};
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
                self.expect_word("then")?;
                loop {
                    bodies.push(self.body(&["elif", "else", "fi"])?);
                    self.lines()?;
                    if self.eat_word("elif") {
                        bodies.push(self.body(&["then"])?);
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
                bodies.push(self.do_body()?);
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
        let (mut pattern, mut compares) = (false, false);
        loop {
            self.lines()?;
            if self.eat_word("]]") {
                return Ok(words);
            }
            if pattern {
                words.push(self.parts(End::Pattern)?);
                pattern = false;
                continue;
            }
            if let Some((word, end)) = self.plain()
                && matches!(word.as_str(), "=~" | "=" | "==" | "!=")
            {
                self.pos = end;
                pattern = true;
                continue;
            }
            let process = self.sees("<(") || self.sees(">(");
            let operators = ["&&", "||", "(", ")", "<", ">"];
            if !process && operators.iter().any(|operator| self.eat(operator)) {
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

    /// Records an operand of a comparison of numbers. What a program prints is taken for a number.
    fn compare(&mut self, word: &Word) {
        // a name that is put together: `a$i`
        let is_name = |part: &Part| match part {
            Part::Bare(text) | Part::Quoted(text) => {
                text.contains(|c: char| c == '_' || c.is_ascii_alphabetic())
            }
            _ => false,
        };
        if word.len() > 1 && word.iter().any(is_name) {
            self.names.texts.names_variable("");
        }
        for part in word {
            match part {
                Part::Bare(text) | Part::Quoted(text) => self.names.texts.compare(text),
                Part::Param { written, .. } | Part::Opaque { written, .. } => {
                    self.names.texts.compare(written);
                }
                Part::Substitution { script, .. } => self.names.texts.compare_output(script),
                Part::Process { .. } => {}
            }
        }
    }

    /// Records the operand of `-v`, of which the value is a name, maybe with a subscript.
    pub(super) fn name_by(&mut self, word: &Word) {
        for part in word {
            match part {
                Part::Param { name, .. } => self.names.texts.names_variable(name),
                Part::Substitution { script, .. } => self.names.texts.compare_output(script),
                _ => {}
            }
        }
    }

    pub(super) fn function(&mut self, name: String) -> Result<Kind> {
        self.names.unordered = true;
        self.names.functions.insert(name.clone());
        self.lines()?;
        let body = Box::new(self.nested(Self::command)?);
        Ok(Kind::Function { name, body })
    }
}
