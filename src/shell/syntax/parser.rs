//! Statements, pipelines and commands.

use super::parts::{End, arithmetic_end, is_meta, joins, scripts_of};
use super::{
    Kind, NESTING, Names, Node, Parsed, Part, Redirect, Script, Statement, Target, Word, literal,
};
use crate::shell::ShellError;
use crate::shell::table::EVALUATES_SUBSCRIPTS;

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
    "builtin",
    "command",
];
/// Builtins that evaluate text in this shell.
const EVALUATING: &[&str] = &["eval", "source", ".", "trap"];
/// Words that begin or end compound commands.
const RESERVED: &[&str] = &[
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac",
    "select", "function", "{", "}", "!", "[[", "coproc",
];
const OPENERS: &[&str] = &[
    "if", "for", "while", "until", "case", "select", "function", "{", "!", "[[", "coproc", "time",
];
const REDIRECTS: &[&str] = &[
    "&>>", "&>", "<<<", "<<-", "<<", "<&", "<>", "<", ">>", ">&", ">|", ">",
];

pub(super) struct Pending {
    slot: usize,
    delimiter: String,
    strip: bool,
    quoted: bool,
}

pub(super) struct Parser<'t> {
    pub(super) text: &'t str,
    pub(super) pos: usize,
    pub(super) depth: usize,
    pub(super) pending: Vec<Pending>,
    pub(super) heredocs: Vec<Word>,
    pub(super) names: Names,
}

pub(super) type Result<T> = std::result::Result<T, ShellError>;

/// Reads a text that stands `depth` constructs deep in others.
///
/// # Errors
/// Texts that are not Bash, and texts that nest deeper than [`NESTING`].
pub(in crate::shell) fn parse(text: &str, depth: usize) -> Result<Parsed> {
    let mut parser = Parser::new(text, depth);
    let script = parser.script(&[])?;
    if parser.pos < text.len() {
        return parser.fail();
    }
    Ok(Parsed {
        script,
        heredocs: parser.heredocs,
        names: parser.names,
    })
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, depth: usize) -> Parser<'t> {
        Parser {
            text,
            pos: 0,
            depth,
            pending: Vec::new(),
            heredocs: Vec::new(),
            names: Names::default(),
        }
    }

    pub(super) fn fail<T>(&self) -> Result<T> {
        Err(ShellError::NotShell(self.pos))
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

    /// The next character as it stands.
    pub(super) fn raw(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// The next character after joined lines.
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

    /// Takes this operator if it stands here, lines joined.
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

    /// Passes blanks, joined lines and a comment.
    fn blanks(&mut self) {
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

    /// Passes blanks and line ends, with the here-documents that begin after them.
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

    fn heredoc(&mut self, of: &Pending) -> Result<()> {
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

    /// Reads another text in the same names, one level deeper.
    pub(super) fn within<T>(
        &mut self,
        text: &str,
        read: impl FnOnce(&mut Parser<'_>) -> Result<T>,
    ) -> Result<T> {
        if self.depth >= NESTING {
            return Err(ShellError::TooDeep);
        }
        let mut inner = Parser::new(text, self.depth + 1);
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

    /// A plain word at this place: no quotes, no expansions.
    fn plain(&mut self) -> Option<(String, usize)> {
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

    fn reserved(&mut self) -> Option<String> {
        let (word, _) = self.plain()?;
        RESERVED.contains(&word.as_str()).then_some(word)
    }

    fn eat_word(&mut self, word: &str) -> bool {
        match self.plain() {
            Some((found, end)) if found == word => {
                self.pos = end;
                true
            }
            _ => false,
        }
    }

    fn expect_word(&mut self, word: &str) -> Result<()> {
        self.lines()?;
        if self.eat_word(word) {
            Ok(())
        } else {
            self.fail()
        }
    }

    /// Statements up to one of these words, a closing parenthesis, the end of a case, or the end.
    pub(super) fn script(&mut self, until: &[&str]) -> Result<Script> {
        let mut script = Script::default();
        loop {
            self.lines()?;
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
            let mut pipelines = vec![self.pipeline()?];
            loop {
                self.blanks();
                if !self.eat("&&") && !self.eat("||") {
                    break;
                }
                self.lines()?;
                pipelines.push(self.pipeline()?);
            }
            let mut background = false;
            if self.sees(";;") || self.sees(";&") {
                // the end of a case
            } else if self.eat("&") {
                background = true;
            } else if !self.eat(";") && !matches!(self.peek(), None | Some('\n' | ')')) {
                return self.fail();
            }
            script.statements.push(Statement {
                pipelines,
                background,
            });
        }
        Ok(script)
    }

    /// A script that must not be empty.
    fn body(&mut self, until: &[&str]) -> Result<Script> {
        let script = self.nested(|parser| parser.script(until))?;
        if script.statements.is_empty() {
            return self.fail();
        }
        Ok(script)
    }

    fn pipeline(&mut self) -> Result<Vec<Node>> {
        loop {
            self.blanks();
            if self.eat_word("!") {
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
                        .is_some_and(|(word, _)| OPENERS.contains(&word.as_str()));
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
                return Ok(nodes);
            }
            self.eat("&");
            self.lines()?;
            nodes.push(self.command()?);
        }
    }

    fn command(&mut self) -> Result<Node> {
        self.blanks();
        let kind = if self.peek() == Some('(') {
            self.parenthesis()?
        } else {
            match self.reserved() {
                Some(word) => self.compound(&word)?,
                None => return self.simple(),
            }
        };
        let mut redirects = Vec::new();
        loop {
            self.blanks();
            match self.redirect()? {
                Some(redirect) => redirects.push(redirect),
                None => return Ok(Node { kind, redirects }),
            }
        }
    }

    fn parenthesis(&mut self) -> Result<Kind> {
        self.expect("(")?;
        if self.peek() == Some('(')
            && let Some(end) = arithmetic_end(self.text, self.pos + 1)
        {
            let word = self.arithmetic(self.pos + 1, end)?;
            return Ok(Kind::Compound {
                words: vec![vec![word]],
                bodies: Vec::new(),
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

    /// What stands between the double parentheses; the place is after both closing ones then.
    pub(super) fn arithmetic(&mut self, start: usize, end: usize) -> Result<Part> {
        let text = self.text.get(start..end).unwrap_or_default();
        self.names.assign_all(text);
        let parts = self.within(text, |parser| parser.parts(End::Text))?;
        self.pos = end + 2;
        Ok(Part::Opaque {
            scripts: scripts_of(parts),
            quoted: false,
            written: format!("(({text}))"),
        })
    }

    fn compound(&mut self, word: &str) -> Result<Kind> {
        self.eat_word(word);
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
            "for" | "select" => {
                self.blanks();
                if self.eat("((") {
                    let Some(end) = arithmetic_end(self.text, self.pos) else {
                        return self.fail();
                    };
                    words.push(vec![self.arithmetic(self.pos, end)?]);
                    self.blanks();
                    self.eat(";");
                } else {
                    words = self.for_words()?;
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
                self.blanks();
                let start = self.pos;
                if self.reserved().is_none()
                    && let Some((_, end)) = self.plain()
                {
                    self.pos = end;
                    self.blanks();
                    let opens = self.peek() == Some('(') || self.reserved().is_some();
                    if !opens {
                        self.pos = start;
                    }
                }
                let node = self.nested(Self::command)?;
                let statement = Statement {
                    pipelines: vec![vec![node]],
                    background: true,
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
        Ok(Kind::Compound { words, bodies })
    }

    fn do_body(&mut self) -> Result<Script> {
        self.lines()?;
        if self.eat(";") {
            self.lines()?;
        }
        let close = if self.eat_word("{") {
            "}"
        } else {
            self.expect_word("do")?;
            "done"
        };
        let body = self.body(&[close])?;
        self.expect_word(close)?;
        Ok(body)
    }

    fn for_words(&mut self) -> Result<Vec<Word>> {
        let Some((name, end)) = self.plain() else {
            return self.fail();
        };
        self.names.assign(&name);
        self.pos = end;
        self.lines()?;
        let mut words = Vec::new();
        if self.eat_word("in") {
            loop {
                self.blanks();
                if matches!(self.peek(), None | Some('\n' | ';')) {
                    break;
                }
                words.push(self.word()?);
            }
        }
        self.blanks();
        self.eat(";");
        Ok(words)
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
            if !(self.eat(";;&") || self.eat(";;") || self.eat(";&")) {
                self.expect_word("esac")?;
                return Ok(());
            }
        }
    }

    /// The words of `[[ … ]]`.
    fn condition(&mut self) -> Result<Vec<Word>> {
        let mut words = Vec::new();
        let mut pattern = false;
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
            if ["&&", "||", "(", ")", "<", ">"]
                .iter()
                .any(|operator| self.eat(operator))
            {
                continue;
            }
            words.push(self.word()?);
        }
    }

    fn function(&mut self, name: String) -> Result<Kind> {
        self.names.functions.insert(name.clone());
        self.lines()?;
        let body = Box::new(self.nested(Self::command)?);
        Ok(Kind::Function { name, body })
    }

    fn redirect(&mut self) -> Result<Option<Redirect>> {
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

    fn simple(&mut self) -> Result<Node> {
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

    /// Keeps what a command does to names.
    fn note(&mut self, words: &[Word]) {
        let Some((first, rest)) = words.split_first() else {
            return;
        };
        let Some(name) = literal(first) else {
            self.names.dynamic = true;
            return;
        };
        if EVALUATING.contains(&name.as_str()) {
            self.names.dynamic = true;
        }
        self.names.arithmetic |= EVALUATES_SUBSCRIPTS.contains(&name.as_str());
        let assigning = ASSIGNING.contains(&name.as_str());
        for word in rest {
            let text: String = word
                .iter()
                .map_while(|part| match part {
                    Part::Bare(text) | Part::Quoted(text) => Some(text.as_str()),
                    _ => None,
                })
                .collect();
            if matches!(name.as_str(), "builtin" | "command") && EVALUATING.contains(&text.as_str())
            {
                self.names.dynamic = true;
            }
            if name == "let" {
                self.names.assign_all(&text);
            } else if assigning {
                let end = text.find(['=', '+', '[']).unwrap_or(text.len());
                self.names.assign(text.get(..end).unwrap_or_default());
            } else if name == "alias"
                && let Some((alias, _)) = text.split_once('=')
            {
                self.names.aliases.insert(alias.to_owned());
            }
        }
    }
}
