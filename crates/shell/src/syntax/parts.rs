//! Words and their parts: quotes, expansions, substitutions.

use super::alternative::{
    alternative, assigned_default, behind_colon, has_joined_names, is_plain_in_quotes, offset_of,
    scripts_of, without_scripts,
};
use super::brackets::arithmetic_end;
use super::chars::{is_decimal, is_part_of_name, is_plain_value, is_plain_word};
use super::cursor::{Parser, Result};
use super::literal;
use super::mentioned::is_name;
use super::texts::{ARGUMENTS, text_of};
use super::{Assign, Dialect, Inner, Part, Script, Word};
use crate::variables::INTEGERS;
use crate::{ShellError, quoting};

impl Parser<'_> {
    /// Parses `name=value`, `name+=value`, `name[i]=value`; `None` if there is no assignment.
    pub(super) fn assignment(&mut self) -> Result<Option<Assign>> {
        let start = self.pos;
        let mut name = String::new();
        while let Some(c) = self.peek() {
            let fits =
                c == '_' || c.is_ascii_alphabetic() || (c.is_ascii_digit() && !name.is_empty());
            if !fits {
                break;
            }
            name.push(c);
            self.bump();
        }
        if name.is_empty() {
            self.pos = start;
            return Ok(None);
        }
        let mut value: Word = Vec::new();
        let mut plain = true;
        if self.peek() == Some('[') || self.sees("+=") {
            self.of_bash()?;
        }
        if self.peek() == Some('[') {
            self.bump();
            let index_from = self.pos;
            let index = self.subscript(&name, false)?;
            // Bash takes all text up to the bracket as one word
            if !self.sees("]=") && !self.sees("]+=") {
                return self.fail();
            }
            plain = false;
            self.names.arrays.insert(name.clone());
            let written = self.since(index_from);
            if is_joined(&written) {
                return self.fail();
            }
            self.names.assign_all(&written);
            self.names.subscripts(&format!("{name}[{written}"), false);
            self.bump();
            // a subscript is a text that the array holds: `${!x[@]}`
            self.flow_into(&name, &index);
            value.push(Part::Opaque {
                scripts: scripts_of(index),
                quoted: true,
                written: String::new(),
                inner: None,
            });
        }
        if self.eat("+=") {
            plain = false;
        } else if !self.eat("=") {
            self.pos = start;
            return Ok(None);
        }
        let broken = self.names.texts.checks.broken();
        self.names.assign(&name);
        // the value is expanded before that
        self.names.texts.checks.restore(&broken);
        let appends = !plain && self.peek() != Some('(');
        if self.peek() == Some('(') {
            let array = self.array(&name)?;
            value.push(array);
        } else {
            value.extend(self.parts(End::Word)?);
        }
        self.flow_into(&name, &value);
        self.names
            .texts
            .joined
            .extend(appends.then(|| name.clone()));
        if plain {
            self.names.give(&name, &value);
        }
        if let [Part::Param { written, .. } | Part::Substitution { written, .. }] = value.as_slice()
            && is_plain_value(written)
        {
            self.names.made.insert(name.clone());
        }
        if plain && let Some(text) = literal(&value).filter(|text| is_plain_word(text)) {
            if !text.chars().all(is_part_of_name) {
                self.names.paths.insert(name.clone());
            }
            *self.names.words.entry(name.clone()).or_default() += 1;
        }
        let is_number = match value.as_slice() {
            [Part::Opaque { written, .. }] => written.starts_with("$(("),
            _ => literal(&value).is_some_and(|text| text.bytes().all(|c| c.is_ascii_digit())),
        };
        // a number is no text that fails as arithmetic
        let is_decimal = literal(&value).is_some_and(is_decimal);
        if plain && is_decimal && INTEGERS.contains(&name.as_str()) {
            self.names.may_fail -= 1;
        }
        match plain && is_number {
            true => *self.names.numbers.entry(name.clone()).or_default() += 1,
            false => self.names.texts.checks.reassign(&name),
        }
        Ok(Some(Assign { name, plain, value }))
    }

    /// Parses the text between brackets, to the closing one. Bash pairs the brackets inside it; other shells may not. In an
    /// `element` of an array, blanks and `#` are parts of the subscript.
    fn subscript(&mut self, array: &str, element: bool) -> Result<Word> {
        let index = self.nested(|parser| parser.parts(End::Bracket))?;
        let unclear = |part: &Part| match part {
            Part::Bare(text) => text.contains(|c| c == '[' || element && (c == '#' || is_meta(c))),
            _ => false,
        };
        if self.peek() != Some(']') || index.iter().any(unclear) {
            return self.fail();
        }
        if !self.names.associative.contains(array) {
            self.names.texts.evaluate_parts(&index);
            self.names.texts.put_together(&index);
        }
        Ok(index)
    }

    /// `( … )` after `name=`; Bash takes text right behind it as part of the same word.
    fn array(&mut self, name: &str) -> Result<Part> {
        let start = self.pos;
        self.of_bash()?;
        self.names.arrays.insert(name.to_owned());
        let is_pending = !self.pending.is_empty();
        self.expect("(")?;
        let (mut scripts, mut words, mut has_subscripts) = (Vec::new(), Vec::new(), false);
        loop {
            self.lines()?;
            if self.eat(")") {
                break;
            }
            if self.eat("[") {
                has_subscripts = true;
                let index = self.subscript(name, true)?;
                self.names.may_fail += usize::from(!literal(&index).is_some_and(is_decimal));
                scripts.extend(scripts_of(index));
            }
            let (found, word) = without_scripts(self.nested(Self::word)?);
            scripts.extend(found);
            words.push(word);
        }
        let joined = self.peek().is_some_and(|c| !is_meta(c));
        if joined || self.peek() == Some('(') || self.next_is_paren() {
            return self.fail();
        }
        let written = self.since(start);
        // Bash reads a here-document that begins before lines of an array twice
        if is_pending && written.contains('\n') {
            return self.fail();
        }
        // `([x]=1)` evaluates the subscript
        self.names.arithmetic |= written.contains('[');
        Ok(Part::Opaque {
            scripts,
            quoted: false,
            written,
            inner: (!has_subscripts).then_some(Inner::Elements(words)),
        })
    }

    /// Parses a word; there must be one.
    pub(super) fn word(&mut self) -> Result<Word> {
        let start = self.pos;
        let mut word = self.parts(End::Word)?;
        if self.pos == start || has_joined_names(&word) {
            return self.fail();
        }
        // `declare a=(…)`
        if self.peek() == Some('(')
            && let [Part::Bare(text)] = word.as_slice()
            && is_assignment_head(text)
        {
            let name = text.trim_end_matches(['+', '=']).to_owned();
            word.push(self.array(&name)?);
        }
        Ok(word)
    }

    pub(super) fn parts(&mut self, end: End) -> Result<Word> {
        let declares = std::mem::take(&mut self.declares) && end == End::Word;
        let has_braces = std::mem::take(&mut self.has_braces) && end == End::Word;
        let out = self.parts_until(end, has_braces && !declares)?;
        self.names.texts.read(&out, end == End::Bracket, declares);
        Ok(out)
    }

    fn parts_until(&mut self, end: End, has_braces: bool) -> Result<Word> {
        let mut out: Word = Vec::new();
        // parentheses of extended patterns, and of regular expressions
        let mut open = 0usize;
        loop {
            let Some(c) = self.peek() else {
                return if matches!(end, End::Word | End::Text | End::Pattern) && open == 0 {
                    Ok(out)
                } else {
                    self.fail()
                };
            };
            let quoted = matches!(end, End::Quote | End::Text | End::QuotedBrace);
            match end {
                End::Word | End::Pattern if open > 0 => match c {
                    '(' => open += 1,
                    ')' => open -= 1,
                    _ => {}
                },
                End::Pattern if c == '(' => open += 1,
                End::Pattern if matches!(c, '|' | '<' | '>') => {}
                End::Word if c == '(' && ends_in_extglob(&out) => open += 1,
                End::Word | End::Pattern
                    if is_meta(c) && !((c == '<' || c == '>') && self.next_is_paren()) =>
                {
                    return Ok(out);
                }
                End::Quote if c == '"' => return Ok(out),
                End::Brace | End::QuotedBrace if c == '}' => return Ok(out),
                End::Bracket if c == ']' || c == '\n' => return Ok(out),
                _ => {}
            }
            // `*(…)` with zsh glob qualifiers
            if c == '(' && end == End::Word && open == 1 {
                self.of_bash()?;
            }
            match c {
                '\\' => {
                    self.bump();
                    let Some(next) = self.bump() else {
                        push(&mut out, '\\', true);
                        continue;
                    };
                    let escapes = !quoted
                        || matches!(next, '\\' | '$' | '`')
                        || (next == '"' && end != End::Text)
                        || (next == '}' && end == End::QuotedBrace);
                    if !escapes {
                        let is_other = self.dialect == Dialect::Extended;
                        self.has_inner_quotes |= is_other && end == End::QuotedBrace;
                        push(&mut out, '\\', true);
                    }
                    push(&mut out, next, true);
                }
                '\'' if !quoted => {
                    self.bump();
                    let Some(len) = self.rest().find('\'') else {
                        return self.fail();
                    };
                    let text = self.rest().get(..len).unwrap_or_default();
                    out.push(Part::Quoted(text.to_owned()));
                    self.pos += len + 1;
                }
                '\'' if end == End::QuotedBrace => {
                    // within `"${…}"` a single quote is special in some expansions only: both readings must give the
                    // same result
                    let text = self.rest().get(1..).unwrap_or_default();
                    let len = text.find('\'').unwrap_or(text.len());
                    let inner = text.get(..len).unwrap_or_default();
                    let escapes = inner.split('\\').skip(1);
                    let odd = |after: &str| !after.starts_with(|c: char| c.is_ascii_alphanumeric());
                    if len == text.len()
                        || inner.contains(['}', '"', '$', '`'])
                        || escapes.into_iter().any(odd)
                    {
                        return self.fail();
                    }
                    out.push(Part::Quoted(format!("'{inner}'")));
                    self.pos += len + 2;
                }
                '"' if end != End::Text => {
                    self.bump();
                    let start = self.pos;
                    let inner = self.nested(|parser| parser.parts(End::Quote))?;
                    let is_plain = is_plain_in_quotes(&self.since(start), &inner);
                    self.has_inner_quotes |= !is_plain && end == End::QuotedBrace;
                    self.expect("\"")?;
                    if inner.is_empty() {
                        out.push(Part::Quoted(String::new()));
                    }
                    out.extend(inner);
                }
                '$' => {
                    // Bash reads these quotes there, too
                    let begins = self.sees("$'") || self.sees("$\"");
                    self.has_inner_quotes |= begins && end == End::QuotedBrace;
                    self.dollar(quoted, has_braces, &mut out)?;
                    self.behind_expansion()?;
                }
                '`' => self.backquotes(end, &mut out)?,
                '<' | '>' if !quoted && self.next_is_paren() => {
                    self.of_bash()?;
                    self.names.unordered = true;
                    let start = self.pos;
                    self.bump();
                    self.peek();
                    self.bump();
                    let script = self.substitution()?;
                    out.push(Part::Process {
                        script,
                        written: self.since(start),
                    });
                }
                _ => {
                    self.bump();
                    push(&mut out, c, quoted);
                }
            }
        }
    }

    fn next_is_paren(&mut self) -> bool {
        self.sees("<(") || self.sees(">(")
    }

    /// Refuses what zsh reads as a part of the expansion before it: `$x[1,3]`, `$x:h`.
    fn behind_expansion(&mut self) -> Result<()> {
        let modifies = |text: &str| {
            let of_zsh = |c: char| c.is_ascii_alphabetic() || c == '&';
            text.strip_prefix(':')
                .is_some_and(|text| text.starts_with(of_zsh))
        };
        let is_part = self.peek() == Some('[') || modifies(self.rest());
        match is_part && self.dialect == Dialect::Extended {
            true => self.of_bash(),
            false => Ok(()),
        }
    }

    /// Parses an expansion that begins with a dollar sign.
    fn dollar(&mut self, quoted: bool, has_braces: bool, out: &mut Word) -> Result<()> {
        let start = self.pos;
        self.bump();
        match self.peek() {
            Some('(') => {
                self.bump();
                if self.peek() == Some('(')
                    && let Some(end) = arithmetic_end(self.text, self.pos + 1)
                {
                    let Part::Opaque { scripts, .. } = self.arithmetic(self.pos + 1, end)? else {
                        return self.fail();
                    };
                    out.push(Part::Opaque {
                        scripts,
                        quoted,
                        written: self.since(start),
                        inner: None,
                    });
                    return Ok(());
                }
                let script = self.substitution()?;
                out.push(Part::Substitution {
                    script,
                    quoted,
                    written: self.since(start),
                });
            }
            Some('{') => self.braces(start, quoted, out)?,
            // the older form of `$((…))`
            Some('[') => {
                self.of_bash()?;
                self.bump();
                let parts = self.nested(|parser| parser.parts(End::Bracket))?;
                self.names.texts.evaluate_expression(&parts);
                self.expect("]")?;
                let written = self.since(start);
                // Bash pairs the brackets inside
                if written.matches('[').count() > 1 || is_joined(&written) {
                    return self.fail();
                }
                self.names.assign_all(&written);
                out.push(Part::Opaque {
                    scripts: scripts_of(parts),
                    quoted,
                    written,
                    inner: None,
                });
            }
            Some('\'') if !quoted => {
                self.of_bash()?;
                self.bump();
                let inner = self.pos;
                loop {
                    match self.bump() {
                        None => return self.fail(),
                        Some('\\') => {
                            self.bump();
                        }
                        Some('\'') => break,
                        Some(_) => {}
                    }
                }
                let text = self.text.get(inner..self.pos - 1).unwrap_or_default();
                let Some(text) = quoting::ansi_c(text) else {
                    return Err(ShellError::undetermined("the text of", text));
                };
                out.push(Part::Quoted(text));
            }
            Some('"') if !quoted => self.of_bash()?,
            // splitting and patterns of zsh
            Some('=' | '~' | '^' | '+') if self.dialect != Dialect::Bash => self.of_bash()?,
            Some(c) if c == '_' || c.is_ascii_alphabetic() => {
                let mut name = String::new();
                while let Some(c) = self
                    .peek()
                    .filter(|c| *c == '_' || c.is_ascii_alphanumeric())
                {
                    name.push(c);
                    self.bump();
                }
                self.names.texts.whole |= GIVES_LINE.contains(&name.as_str());
                // Bash expands braces first: `$x{a,b}` is `$xa $xb`
                if !quoted && self.peek() == Some('{') {
                    return match has_braces {
                        true => self.names_in_braces(&name, out),
                        false => self.fail(),
                    };
                }
                out.push(Part::Param {
                    name,
                    quoted,
                    written: self.since(start),
                });
            }
            Some(c) if c.is_ascii_digit() || "@*#?-$!".contains(c) => {
                self.bump();
                out.push(Part::Param {
                    name: c.to_string(),
                    quoted,
                    written: self.since(start),
                });
            }
            _ => {
                // Bash expands braces first: `{a,$}x` is `ax $x`
                let opens = |part: &Part| matches!(part, Part::Bare(text) if text.contains('{'));
                let ends = self.sees(",") || self.sees("}");
                if !quoted && ends && out.iter().any(opens) {
                    return self.fail();
                }
                push(out, '$', true);
            }
        }
        Ok(())
    }

    /// Parses the script of `$(…)` and `<(…)`, to the closing parenthesis. Its here-documents end within it.
    fn substitution(&mut self) -> Result<Script> {
        let outer = std::mem::take(&mut self.pending);
        // an error within it ends a shell of its own
        let may_fail = self.names.may_fail;
        self.substitutions += 1;
        let script = self.nested(|parser| parser.script(&[]))?;
        self.substitutions -= 1;
        self.names.may_fail = may_fail;
        if !self.pending.is_empty() {
            return self.fail();
        }
        self.pending = outer;
        self.expect(")")?;
        Ok(script)
    }

    fn braces(&mut self, start: usize, quoted: bool, out: &mut Word) -> Result<()> {
        self.expect("{")?;
        // `${ …; }` and `${| …; }` of later versions, `${(e)x}` of other shells
        let begins = |c: char| c == '_' || c.is_ascii_alphanumeric() || "@*#?-$!".contains(c);
        if !self.peek().is_some_and(begins) {
            return self.fail();
        }
        let end = if quoted { End::QuotedBrace } else { End::Brace };
        self.quoted_braces += usize::from(quoted);
        let around = std::mem::take(&mut self.has_inner_quotes);
        let inner = self.nested(|parser| parser.parts(end))?;
        let has_inner_quotes = std::mem::replace(&mut self.has_inner_quotes, around);
        self.quoted_braces -= usize::from(quoted);
        self.expect("}")?;
        let written = self.since(start);
        if is_joined(&written) {
            return self.fail();
        }
        // `${x[1]:=y}` makes an array
        if let Some((array, _)) = written.split_once('[') {
            let name = array.trim_start_matches(['$', '{', '#', '!']);
            self.names.arrays.insert(name.to_owned());
        }
        let name = match inner.as_slice() {
            [Part::Bare(text)] | [Part::Quoted(text)] => Some(text),
            _ => None,
        };
        let is_plain = |name: &&String| {
            !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
        };
        if let Some(name) = name.filter(is_plain) {
            out.push(Part::Param {
                name: name.clone(),
                quoted,
                written,
            });
            return Ok(());
        }
        // `${x@P}` evaluates the text that the variable holds
        if written.ends_with("@P}") {
            return Err(ShellError::undetermined(
                "a prompt that is evaluated",
                &written,
            ));
        }
        self.names.texts.decodes |= written.ends_with("@E}");
        self.names.texts.whole |= GIVES_LINE.iter().any(|name| written.contains(name));
        let offset = offset_of(&written);
        // `${x:1}` evaluates the text after the colon
        if let Some(offset) = offset {
            self.names
                .texts
                .evaluate_parts(behind_colon(&inner).as_deref().unwrap_or(&inner));
            self.names.texts.evaluate(offset);
        }
        self.note_index(&text_of(&inner), &inner);
        if let Some(name) = assigned_default(&inner) {
            self.flow_into(&name, &inner);
        }
        let (scripts, inner) = without_scripts(inner);
        let text = alternative(inner);
        if has_inner_quotes && text.is_some() {
            let what = "the text in quotes within quotes";
            return Err(ShellError::undetermined(what, &written));
        }
        let is_text = text.as_ref().is_some_and(|text| !text.assigns);
        // the subscript of `${x[@]}` is not evaluated
        let evaluated = written.replace("[@]", "").replace("[*]", "");
        if evaluated.contains('[') || written.contains('=') && !is_text || offset.is_some() {
            self.names.assign_all(&written);
            self.names.subscripts(&written, false);
        }
        // `${!x}` reads the variable that `x` names, with its subscript
        if let Some(rest) = written.strip_prefix("${!") {
            self.names.arithmetic = true;
            // the name of a variable that gives the line may be put together; text that nothing else reads is that of comments
            let runs = self.text.contains("$(") || self.text.contains('`');
            self.names.texts.whole |= runs && self.text.contains('#')
                || GIVES_LINE.iter().any(|name| self.text.contains(name));
            let end = rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric());
            let (name, operator) = rest.split_at(end.unwrap_or(rest.len()));
            // `${!x:=TEXT}`, `${!#=TEXT}`, `${!x[i]:=TEXT}`
            let behind = if name.is_empty() {
                operator.get(1..)
            } else {
                Some(operator)
            };
            let behind = behind.unwrap_or_default();
            let is_element = behind.starts_with('[') && behind.contains('=');
            if is_element || behind.starts_with('=') || behind.starts_with(":=") {
                let what = "the variable that is assigned";
                return Err(ShellError::undetermined(what, &written));
            }
            // others are the names of variables, or the keys of an array
            if !operator.starts_with(['*', '@', '[']) {
                let is_argument = name.starts_with(|c: char| c.is_ascii_digit());
                let name = if is_argument { ARGUMENTS } else { name };
                self.names.texts.names_variable(name);
            }
        }
        self.names.may_fail += usize::from(evaluated.contains(['!', '?', '@']));
        self.names.texts.cuts |= written.contains(['/', '%', '#', '^', ',']) || offset.is_some();
        out.push(Part::Opaque {
            scripts,
            quoted,
            written,
            inner: text.map(Inner::Text),
        });
        Ok(())
    }

    /// Records what is evaluated in an expansion, of which quotes do not divide the names: `${a[x"1"]}`, `${x:$a$b}`.
    fn note_index(&mut self, text: &str, inner: &[Part]) {
        let text = text.replace("[@]", "").replace("[*]", "");
        let Some((before, index)) = text.split_once(['[', ':']) else {
            return;
        };
        let is_plain = before.chars().all(|c| is_name(c) || "!#@*".contains(c));
        let is_key = self
            .names
            .associative
            .contains(before.trim_start_matches(['!', '#']));
        if !is_plain || is_key || index.starts_with(['@', '*', '-', '=', '?', '+']) {
            return;
        }
        self.names.texts.evaluate(index);
        self.names.texts.put_together(inner);
    }

    fn backquotes(&mut self, end: End, out: &mut Word) -> Result<()> {
        let quoted = matches!(end, End::Quote | End::Text | End::QuotedBrace);
        let start = self.pos;
        self.bump();
        let mut text = String::new();
        loop {
            match self.bump() {
                None => return self.fail(),
                Some('`') => break,
                Some('\\') => match self.bump() {
                    Some(c @ ('`' | '\\' | '$')) => text.push(c),
                    Some('"') if end == End::Quote && self.quoted_braces == 0 => text.push('"'),
                    // Bash keeps the backslash here, other readings do not
                    Some('"') if quoted => return self.fail(),
                    Some('\n') => {}
                    Some(c) => text.extend(['\\', c]),
                    None => return self.fail(),
                },
                Some(c) => text.push(c),
            }
        }
        let script = self.within(&text, |parser| parser.script(&[]))?;
        out.push(Part::Substitution {
            script,
            quoted,
            written: self.since(start),
        });
        Ok(())
    }
}

/// Variables that hold the text of the line, with its comments.
pub(super) const GIVES_LINE: [&str; 3] = [
    "BASH_EXECUTION_STRING",
    "ZSH_EXECUTION_STRING",
    "READLINE_LINE",
];

/// The end of parts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    Word,
    /// A pattern or regular expression in `[[ … ]]` ends.
    Pattern,
    Quote,
    /// The end of a here-document or of arithmetic: the whole text is read.
    Text,
    Brace,
    QuotedBrace,
    Bracket,
}

/// Whether a text has joined lines, so that it is not what Bash reads.
pub(super) fn is_joined(written: &str) -> bool {
    written.contains("\\\n")
}

pub(super) fn push(out: &mut Word, c: char, quoted: bool) {
    match out.last_mut() {
        Some(Part::Bare(text)) if !quoted => text.push(c),
        Some(Part::Quoted(text)) if quoted => text.push(c),
        _ if quoted => out.push(Part::Quoted(c.to_string())),
        _ => out.push(Part::Bare(c.to_string())),
    }
}

pub(super) fn is_meta(c: char) -> bool {
    matches!(
        c,
        ' ' | '\t' | '\n' | ';' | '&' | '|' | '<' | '>' | '(' | ')'
    )
}

/// Whether an odd number of backslashes ends a line.
pub(super) fn joins(line: &str) -> bool {
    let slashes = line.bytes().rev().take_while(|byte| *byte == b'\\').count();
    slashes % 2 == 1
}

fn ends_in_extglob(word: &Word) -> bool {
    matches!(word.last(), Some(Part::Bare(text)) if text.ends_with(['?', '*', '+', '@', '!']))
}

fn is_assignment_head(text: &str) -> bool {
    let name = text
        .strip_suffix('=')
        .map(|name| name.strip_suffix('+').unwrap_or(name));
    name.is_some_and(|name| {
        !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_alphanumeric())
    })
}
