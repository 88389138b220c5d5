//! Effects of the code of `sed`: files that it writes (`w FILE` as a command, and as a flag of `s`), and lines that it runs.

use super::options::split_value;
use crate::syntax::{is_part_of_name, is_part_of_path};
use crate::words::Field;

/// Effects of the code of `sed` apart from printing text.
#[derive(Debug, Default)]
pub(super) struct Effects<'c> {
    pub(super) files: Vec<&'c str>,
    /// Whether it runs a line: `e LINE`, and `e` as a flag of `s`.
    pub(super) runs: bool,
}

/// The code of `sed` in its words.
#[derive(Debug, Default)]
pub(super) struct Code<'w> {
    /// The values of `-e`, or the first operand.
    texts: Vec<&'w str>,
    /// A word with code that is a pattern: a file may have the name, if it has no slash.
    pub(super) pattern: Option<&'w Field>,
    /// The words that name files with code, or hold the name behind the option.
    pub(super) files: Vec<(&'w Field, &'w str)>,
}

impl Code<'_> {
    /// Returns each text, and all of them as the lines of one, which is how `sed` reads them.
    pub(super) fn texts(&self) -> Vec<String> {
        let mut texts: Vec<String> = self.texts.iter().map(|&text| text.to_owned()).collect();
        if texts.len() > 1 {
            texts.push(texts.join("\n"));
        }
        texts
    }
}

/// The option that has its value in the next word.
#[derive(Clone, Copy)]
enum Awaited {
    Text,
    File,
    /// A number, which some versions do not take, and others take of any text.
    Length,
}

/// Whether a word is a pattern that the name of a file in the folder may match.
fn may_be_name(word: &Field) -> bool {
    word.pattern && !word.text.contains('/')
}

/// Returns the code in the words of `sed`.
pub(super) fn code_of(words: &[Field]) -> Code<'_> {
    let mut code = Code::default();
    let (mut operand, mut is_given, mut awaited) = (None, false, None);
    // the word behind an option that may be a number may be the code
    let mut may_be_code = false;
    for word in words {
        let text = word.determined();
        if std::mem::take(&mut may_be_code) {
            code.texts.push(text);
        }
        match awaited.take() {
            Some(Awaited::Text) => {
                code.texts.push(text);
                code.pattern = may_be_name(word).then_some(word).or(code.pattern);
                continue;
            }
            Some(Awaited::File) => {
                code.files.push((word, text));
                continue;
            }
            Some(Awaited::Length) if text.bytes().all(|byte| byte.is_ascii_digit()) => continue,
            Some(Awaited::Length) if text.starts_with('-') => may_be_code = true,
            // it may be a number: then the code is in the next word
            Some(Awaited::Length) => {
                code.texts.push(text);
                continue;
            }
            None => {}
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = split_value(long);
            let is = |option: &str| !name.is_empty() && option.starts_with(name);
            let kind = match name {
                _ if is("expression") => Awaited::Text,
                _ if is("file") => Awaited::File,
                _ if is("line-length") => Awaited::Length,
                _ => continue,
            };
            is_given |= !matches!(kind, Awaited::Length);
            match (kind, value) {
                (kind, None) => awaited = Some(kind),
                (Awaited::Text, Some(value)) => code.texts.push(value),
                (Awaited::File, Some(value)) => code.files.push((word, value)),
                (Awaited::Length, Some(_)) => {}
            }
            continue;
        }
        // the letters behind `-i` are the ending of a backup
        let letters = text.strip_prefix('-').unwrap_or_default();
        match letters
            .find(['e', 'f', 'i', 'l'])
            .and_then(|at| letters.get(at..))
        {
            Some(rest) => {
                let value = rest.get(1..).unwrap_or_default();
                match (rest.chars().next(), value) {
                    (Some('e'), "") => awaited = Some(Awaited::Text),
                    (Some('e'), value) => code.texts.push(value),
                    (Some('f'), "") => awaited = Some(Awaited::File),
                    (Some('f'), value) => code.files.push((word, value)),
                    (Some('l'), "") => awaited = Some(Awaited::Length),
                    // or other letters
                    (Some('l'), value) if !value.starts_with(|c: char| c.is_ascii_digit()) => {
                        awaited = match value.trim_start_matches(|c| "nrEsuz".contains(c)) {
                            "e" => Some(Awaited::Text),
                            "f" => Some(Awaited::File),
                            _ => None,
                        };
                    }
                    _ => {}
                }
                is_given |= rest.starts_with(['e', 'f']);
            }
            None if letters.is_empty() && operand.is_none() => operand = Some(word),
            None => {}
        }
    }
    if let Some(word) = operand.filter(|_| !is_given) {
        code.texts.push(word.determined());
        code.pattern = may_be_name(word).then_some(word).or(code.pattern);
    }
    code
}

/// Stands in code for a name that is not known: letters, digits, `.`, `_` and `-`.
pub(super) const NAME: char = '\u{1}';

/// Stands in code for a path that is not known, or the like: the characters of a name, and `/`, `:`, `=`, `@`, `%`, `,`.
pub(super) const PATH: char = '\u{3}';

/// Whether the character at which parts end may stand in a name or path in them that is not known.
fn may_end(end: char, parts: &str) -> bool {
    parts.contains(NAME) && is_part_of_name(end)
        || parts.contains(PATH) && is_part_of_path(end)
        || matches!(end, NAME | PATH)
}

/// The reading of brackets in a regular expression by a version of `sed`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Brackets {
    /// As other characters: what ends the expression ends it there, too.
    Plain,
    /// As sets, in which a backslash is a character.
    Sets,
    /// As sets, in which a backslash escapes.
    Escaping,
}

/// The end of the label behind `:`, `b`, `t`, `T` and `v`, besides the end of the line and `;`, for a version of `sed`.
#[derive(Clone, Copy)]
enum Labels {
    /// None.
    Long,
    /// A blank or a brace, behind which the next command may stand.
    Words,
}

/// Returns what code does for any version of `sed`.
pub(super) fn effects_of(code: &str) -> Effects<'_> {
    let mut all = Effects::default();
    for brackets in [Brackets::Plain, Brackets::Sets, Brackets::Escaping] {
        for labels in [Labels::Long, Labels::Words] {
            let effects = effects_with(code, brackets, labels);
            all.runs |= effects.runs;
            all.files.extend(effects.files);
        }
        if !code.contains('[') {
            break;
        }
    }
    all
}

/// Returns what stands behind a label.
fn behind_label(text: &str, labels: Labels) -> &str {
    let blanks = |c: char| c != '\n' && c.is_whitespace();
    let text = text.trim_start_matches(blanks);
    text.trim_start_matches(|c: char| match labels {
        Labels::Long => c != '\n' && c != ';',
        Labels::Words => !c.is_whitespace() && c != ';' && c != '}',
    })
}

fn effects_with(code: &str, brackets: Brackets, labels: Labels) -> Effects<'_> {
    let mut runs = false;
    let mut files = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let line = after.find('\n').unwrap_or(after.len());
        let (of_line, below) = after.split_at_checked(line).unwrap_or_default();
        rest = match c {
            // an address
            '/' => behind_expression(after, '/', brackets),
            '\\' => delimited(after, Some(brackets), 0),
            NAME | PATH => {
                runs = true;
                after
            }
            's' => {
                let behind = delimited(after, Some(brackets), 1);
                let is_flag = |c: char| c.is_ascii_digit() || "gpiIeEmM".contains(c);
                let rest = behind.trim_start_matches(is_flag);
                let flags = behind.get(..behind.len() - rest.len());
                runs |= flags.unwrap_or_default().contains('e') || rest.starts_with([NAME, PATH]);
                rest
            }
            'y' => delimited(after, None, 2),
            'w' | 'W' => {
                files.push(of_line.trim());
                below
            }
            'e' => {
                runs = true;
                below
            }
            'r' | 'R' | '#' => below,
            ':' | 'b' | 't' | 'T' | 'v' => behind_label(after, labels),
            // text, which a backslash continues on the next line
            'a' | 'i' | 'c' => behind(after, '\n'),
            _ => after,
        };
        let parts = after.get(..after.len() - rest.len()).unwrap_or_default();
        let end = match c {
            '/' => Some('/'),
            's' | 'y' | '\\' => parts.chars().next(),
            _ => None,
        };
        runs |= end.is_some_and(|end| may_end(end, parts));
    }
    files.retain(|file| !file.is_empty());
    Effects { files, runs }
}

/// Returns what stands behind a regular expression.
fn behind_expression(text: &str, end: char, brackets: Brackets) -> &str {
    if brackets == Brackets::Plain {
        return behind(text, end);
    }
    let mut rest = text.chars();
    while let Some(c) = rest.next() {
        match c {
            _ if c == end => return rest.as_str(),
            '\\' => {
                rest.next();
            }
            '[' => rest = behind_set(rest.as_str(), brackets).chars(),
            _ => {}
        }
    }
    ""
}

/// Returns what stands behind a set of characters, from behind its bracket: `^]/[:alpha:]]x` gives `x`.
fn behind_set(text: &str, brackets: Brackets) -> &str {
    let text = text.strip_prefix('^').unwrap_or(text);
    let mut rest = text.strip_prefix(']').unwrap_or(text).chars();
    while let Some(c) = rest.next() {
        match c {
            ']' => return rest.as_str(),
            '[' => {
                let mut class = rest.clone();
                if let Some(mark @ ('.' | ':' | '=')) = class.next()
                    && let Some((_, behind)) = class.as_str().split_once(&*format!("{mark}]"))
                {
                    rest = behind.chars();
                }
            }
            '\\' if brackets == Brackets::Escaping => {
                rest.next();
            }
            _ => {}
        }
    }
    ""
}

/// Returns what stands behind a character without a backslash before it.
fn behind(text: &str, end: char) -> &str {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if c == end && !escaped {
            return text.get(at + c.len_utf8()..).unwrap_or_default();
        }
        escaped = c == '\\' && !escaped;
    }
    ""
}

/// Returns what stands behind parts that end at the first character of a text: a regular expression, if there is one, and then other parts.
fn delimited(text: &str, expression: Option<Brackets>, parts: usize) -> &str {
    let Some(end) = text.chars().next() else {
        return "";
    };
    let rest = text.get(end.len_utf8()..).unwrap_or_default();
    let rest = match expression {
        Some(brackets) => behind_expression(rest, end, brackets),
        None => rest,
    };
    (0..parts).fold(rest, |rest, _| behind(rest, end))
}
