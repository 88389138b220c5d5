//! Effects of the code of `sed`: files that it writes (`w FILE` as a command, and as a flag of `s`), and lines that it runs.

use super::options::split_value;
use crate::words::Field;

/// Effects of the code of `sed` apart from printing text.
#[derive(Debug, Default)]
pub(super) struct Effects<'c> {
    pub(super) files: Vec<&'c str>,
    /// Whether it runs a line: `e LINE`, and `e` as a flag of `s`.
    pub(super) runs: bool,
}

/// Returns the words of `sed` that are code: the values of `-e`, or the first operand.
pub(super) fn codes(words: &[Field]) -> Vec<&str> {
    let mut codes = Vec::new();
    let (mut operand, mut is_given, mut follows) = (None, false, false);
    for word in words {
        let text = word.determined();
        if std::mem::take(&mut follows) {
            codes.push(text);
            continue;
        }
        if let Some(long) = text.strip_prefix("--") {
            let (name, value) = split_value(long);
            let is_code = !name.is_empty() && "expression".starts_with(name);
            is_given |= is_code || name == "file";
            follows = is_code && value.is_none();
            codes.extend(value.filter(|_| is_code));
            continue;
        }
        // the letters behind `-i` are the ending of a backup
        let letters = text.strip_prefix('-').unwrap_or_default();
        match letters
            .find(['e', 'f', 'i'])
            .and_then(|at| letters.split_at_checked(at))
        {
            Some((_, rest)) if !rest.starts_with('i') => {
                is_given = true;
                let value = rest.get(1..).unwrap_or_default();
                follows = rest.starts_with('e') && value.is_empty();
                codes.extend(Some(value).filter(|one| rest.starts_with('e') && !one.is_empty()));
            }
            None if letters.is_empty() && operand.is_none() => operand = Some(text),
            _ => {}
        }
    }
    codes.extend(operand.filter(|_| !is_given));
    codes
}

/// Returns what code does.
pub(super) fn effects_of(code: &str) -> Effects<'_> {
    let mut runs = false;
    let mut files = Vec::new();
    let mut rest = code;
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let line = after.find('\n').unwrap_or(after.len());
        let (of_line, below) = after.split_at_checked(line).unwrap_or_default();
        rest = match c {
            // an address
            '/' => behind(after, '/'),
            '\\' => delimited(after, 1),
            's' => {
                let behind = delimited(after, 2);
                let is_flag = |c: char| c.is_ascii_digit() || "gpiIeEmM".contains(c);
                let rest = behind.trim_start_matches(is_flag);
                let flags = behind.get(..behind.len() - rest.len());
                runs |= flags.unwrap_or_default().contains('e');
                rest
            }
            'y' => delimited(after, 2),
            'w' | 'W' => {
                files.push(of_line.trim());
                below
            }
            'e' => {
                runs = true;
                below
            }
            'r' | 'R' | '#' => below,
            ':' | 'b' | 't' | 'T' => after.trim_start_matches(|c| c != '\n' && c != ';'),
            // text, which a backslash continues on the next line
            'a' | 'i' | 'c' => behind(after, '\n'),
            _ => after,
        };
    }
    // some versions end no part of `s` within brackets
    if code.contains('[') {
        let commands = code.split([';', '\n', '{', '}']).map(str::trim_start);
        files.extend(
            commands
                .filter_map(|one| one.strip_prefix(['w', 'W']))
                .map(str::trim),
        );
    }
    files.retain(|file| !file.is_empty());
    Effects { files, runs }
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

/// Returns what stands behind parts that end at the first character of a text.
fn delimited(text: &str, parts: usize) -> &str {
    let Some(end) = text.chars().next() else {
        return "";
    };
    let rest = text.get(end.len_utf8()..).unwrap_or_default();
    (0..parts).fold(rest, |rest, _| behind(rest, end))
}
