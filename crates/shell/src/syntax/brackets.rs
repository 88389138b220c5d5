//! Brackets and dollar signs in texts: what arithmetic would make of them.

use super::mentioned::is_name;
use super::texts::EXPANSION;

/// Whether a text holds an escape that may stand for any character, or ends within one: `\x24`, `\044`, `\u0024`.
pub(super) fn is_coded(text: &str) -> bool {
    let codes = |after: &str| {
        after.is_empty() || after.starts_with(|c: char| c.is_ascii_digit() || "xuU".contains(c))
    };
    text.split('\\').skip(1).any(codes)
}

/// Whether a conversion stands within brackets that may hold a subscript. Those of a command or of a pattern in a script do not:
/// `[ "$(stat -c %a f)" = 600 ]`.
pub(super) fn has_conversion(text: &str) -> bool {
    // whether each open bracket may begin a subscript
    let mut open = Vec::new();
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let is_named = is_name(before) || before == EXPANSION || before == '%';
        match c {
            '[' => open.push(is_named || before != '[' && next != '[' && !next.is_whitespace()),
            ']' => drop(open.pop()),
            '%' if open.contains(&true) => return true,
            _ => {}
        }
        before = c;
    }
    false
}

/// Whether an expansion, or a quote, is a part of a name: `a$i`, `x"1"`. A number is none: `10#$n`, `2$x`.
pub(super) fn is_joined(text: &str) -> bool {
    let joins = |c: char| c == '$' || c == EXPANSION || c == '"' || c == '\'' || c == '\\';
    let begins = text.char_indices().filter(|(_, c)| joins(*c));
    let mut ends = begins.map(|(at, _)| text.get(..at).unwrap_or_default());
    let is_after_name = ends.any(|before| {
        let name = before
            .rfind(|c| !is_name(c))
            .map_or(before, |at| before.get(at + 1..).unwrap_or_default());
        name.starts_with(|c: char| !c.is_ascii_digit())
            && !before
                .strip_suffix(name)
                .is_some_and(|rest| rest.ends_with(['$', '{']))
    });
    let is_before_name = |closing: char| {
        text.split(closing)
            .skip(1)
            .any(|rest| rest.starts_with(is_name))
    };
    is_after_name || is_before_name('}') || is_before_name(EXPANSION)
}

/// Whether a text has a bracket that it does not close.
pub(super) fn is_open(text: &str) -> bool {
    let open = text.chars().fold(0usize, |open, c| match c {
        '[' => open + 1,
        ']' => open.saturating_sub(1),
        _ => open,
    });
    open > 0
}

/// Whether a text would run a command if arithmetic evaluated it: `a[$(…)]`. If `literal`, nothing in it is an expansion, and
/// it may also be the rest of such a text: `[$(…)]`.
pub(crate) fn plants(text: &str, literal: bool) -> bool {
    let mut open = 0usize;
    let mut before = ' ';
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let begins = before != '[' && next != '[' && !next.is_whitespace();
        match c {
            '[' if open > 0 || before == '_' || before.is_ascii_alphanumeric() => open += 1,
            '[' if literal && begins => open += 1,
            ']' => open = open.saturating_sub(1),
            '`' if open > 0 => return true,
            '(' if open > 0 && before == '$' => return true,
            _ => {}
        }
        before = c;
    }
    false
}

/// Returns the position at which the inner of two parentheses closes, if the outer one closes directly after it: Bash reads
/// that as arithmetic.
pub(super) fn arithmetic_end(text: &str, from: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut open = 1usize;
    let mut at = from;
    let mut quote = None;
    while let Some(&byte) = bytes.get(at) {
        match (quote, byte) {
            (Some(b'\''), b'\'') => quote = None,
            (Some(b'\''), _) => {}
            (_, b'\\') => at += 1,
            (Some(b'"'), b'"') => quote = None,
            (None, b'\'' | b'"') => quote = Some(byte),
            (None, b'(') => open += 1,
            (None, b')') => {
                open -= 1;
                if open == 0 {
                    return (bytes.get(at + 1) == Some(&b')')).then_some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}
