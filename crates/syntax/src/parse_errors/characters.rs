//! Diagnostics of texts that are not tokens.

use super::unit;
use crate::actions::Builder;
use crate::diagnostic::{Code, Diagnostic};
use crate::lexer::{LexError, LexErrorKind, Lexeme};
use crate::source::Span;
use crate::token::Token;

/// Reports a piece of text that is not a token.
///
/// `before` has the tokens of the item or expression before it.
pub(in super::super) fn characters(
    b: &Builder<'_>,
    error: &LexError,
    before: &[Lexeme],
) -> Diagnostic {
    let span = b.span(error.start, error.end);
    let text = b.slice(error.start, error.end);
    match error.kind {
        LexErrorKind::Character => {
            let shown = match text {
                "\\" => "`\\`".to_owned(),
                _ => format!("`{}`", text.escape_debug()),
            };
            let diagnostic =
                Diagnostic::new(Code::G0105, span, format!("invalid character {shown}"))
                    .label("this character");
            match text {
                "\u{200b}" | "\u{200d}" | "\u{feff}" => diagnostic.fix("remove it", span, ""),
                blank if blank.chars().all(char::is_whitespace) => {
                    diagnostic.fix("write a blank", span, " ")
                }
                ";" => semicolon(b, span, before, diagnostic),
                "“" | "”" | "„" | "‘" | "’" => curly_quote(b, span, diagnostic),
                "¬" => diagnostic.fix("write `not`", span, "not "),
                "∧" => diagnostic.fix("write `and`", span, "and"),
                "∨" => diagnostic.fix("write `or`", span, "or"),
                "→" | "⇒" => diagnostic.fix("write `->`", span, "->"),
                "≤" => diagnostic.fix("write `<=`", span, "<="),
                "≥" => diagnostic.fix("write `>=`", span, ">="),
                "≠" => diagnostic.fix("write `!=`", span, "!="),
                "□" => diagnostic.fix("write `G`", span, "G "),
                "◇" => diagnostic.fix("write `F`", span, "F "),
                "\\" => diagnostic.note("`/\\` is written `and`, `\\/` is `or`"),
                "$" | "€" | "£" => {
                    diagnostic
                        .note("amounts are plain numbers")
                        .fix("remove it", span, "")
                }
                "~" => {
                    let equals = before
                        .last()
                        .filter(|t| t.token == Token::Assign && t.end == error.start);
                    let start = equals.map_or(error.start, |equals| equals.start);
                    let rest = b.text.get(error.end as usize..).unwrap_or("");
                    if before.is_empty() || !rest.trim_start().starts_with('/') {
                        let is_between = before.last().is_some_and(|t| t.token.ends_operand());
                        return match equals.is_some() || is_between {
                            true => diagnostic
                                .note("to match a regular expression, write `text matches /…/`"),
                            false => diagnostic.fix("write `not`", span, "not "),
                        };
                    }
                    diagnostic.fix("write `matches`", b.span(start, error.end), "matches")
                }
                _ => diagnostic,
            }
        }
        LexErrorKind::UnterminatedString => {
            let (end, close) = string_end(b, error);
            Diagnostic::new(Code::G0106, span, "unterminated string")
                .label("begins here")
                .note("a line break in a string is written `\\n`")
                .fix("end the string here", end, close)
        }
        LexErrorKind::UnterminatedRegex => {
            Diagnostic::new(Code::G0106, span, "unterminated regular expression")
                .label("begins here, because a value is expected")
                .note("division with `/` is possible only after a value")
        }
        LexErrorKind::UnterminatedComment => {
            Diagnostic::new(Code::G0106, span, "unterminated comment")
                .label("begins here")
                .note("a comment to the end of the line begins with `//`")
        }
        LexErrorKind::NumberTouchesLetters => {
            let digits = text
                .find(|c: char| !c.is_ascii_digit() && c != '_' && c != '.')
                .unwrap_or(text.len());
            let (number, letters) = text.split_at(digits);
            if before.last().is_some_and(|word| word.token.begins_item()) {
                let name = format!("{letters}{number}").replace('.', "_");
                return Diagnostic::new(Code::G0107, span, "a name begins with a letter or `_`")
                    .label("begins with a digit")
                    .fix(format!("name it `{name}`"), span, name);
            }
            let diagnostic = Diagnostic::new(
                Code::G0107,
                span,
                format!("number `{number}` is followed directly by `{letters}`"),
            )
            .label("only a unit may follow a number directly")
            .note("units are `ns us ms s m h d`, as in `250ms`");
            let from = error.start + u32::try_from(digits).unwrap_or(0);
            let at = b.span(from, error.end);
            if let Some(whole) = in_one_unit(text) {
                return diagnostic.fix(format!("write `{whole}`"), span, whole);
            }
            match unit(letters) {
                Some(unit) => diagnostic.fix(format!("write `{unit}`"), at, unit),
                None if number == "0" => diagnostic,
                None => diagnostic.fix("separate them", at.before(), " "),
            }
        }
        LexErrorKind::ForeignComment => Diagnostic::new(
            Code::G0105,
            span,
            format!("`{text}` does not begin a comment"),
        )
        .label("comments begin with `//`")
        .fix("write `//`", span, "//"),
        LexErrorKind::PercentOperator => {
            Diagnostic::new(Code::G0110, span, "`%` is not an operator")
                .label("it can only end a number, as in `5%`")
                .note("the remainder is `mod(a, b)`")
        }
        LexErrorKind::SingleQuoted => {
            let diagnostic = Diagnostic::new(Code::G0105, span, "strings need double quotes")
                .label("`'` after a name refers to its value in the next state");
            match text.strip_prefix('\'').and_then(|t| t.strip_suffix('\'')) {
                Some(body) if !body.contains(['"', '\\']) => {
                    diagnostic.fix("use double quotes", span, format!("\"{body}\""))
                }
                _ => diagnostic,
            }
        }
    }
}

/// Adds what to write instead of a `;`: nothing at the end of a line or in brackets, otherwise a line break.
fn semicolon(b: &Builder<'_>, span: Span, before: &[Lexeme], diagnostic: Diagnostic) -> Diagnostic {
    let diagnostic = diagnostic.note("items and clauses end at the end of the line");
    let opened = |lexeme: &&Lexeme| {
        matches!(
            lexeme.token,
            Token::LParen | Token::LBracket | Token::LBrace
        )
    };
    let closed = |lexeme: &&Lexeme| {
        matches!(
            lexeme.token,
            Token::RParen | Token::RBracket | Token::RBrace
        )
    };
    let is_open = before.iter().filter(opened).count() > before.iter().filter(closed).count();
    let rest = b.text.get(span.end as usize..).unwrap_or("");
    let line = rest.lines().next().unwrap_or("");
    let blanks = line.len() - line.trim_start().len();
    let is_last = line.trim().is_empty() || line.trim_start().starts_with("//");
    if is_open || is_last {
        return diagnostic.fix("remove it", span, "");
    }
    let gap = b.span(span.start, span.end + u32::try_from(blanks).unwrap_or(0));
    diagnostic.fix("begin a new line", gap, "\n")
}

/// Adds the straight quotes for a curly quote and the one that closes it.
fn curly_quote(b: &Builder<'_>, span: Span, diagnostic: Diagnostic) -> Diagnostic {
    let rest = b.text.get(span.end as usize..).unwrap_or("");
    let line = rest.lines().next().unwrap_or("");
    let mut edits = vec![(span, "\"".to_owned())];
    let is_quote = |c: char| matches!(c, '“' | '”' | '‘' | '’' | '"');
    if let Some((at, quote)) = line.char_indices().find(|(_, c)| is_quote(*c)) {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(0);
        let start = span.end + narrow(at);
        if quote != '"' {
            let close = b.span(start, start + narrow(quote.len_utf8()));
            edits.push((close, "\"".to_owned()));
        }
    }
    diagnostic.fix_all("use straight quotes", edits)
}

/// Returns where an unterminated string probably ends, and the text to write there.
fn string_end(b: &Builder<'_>, error: &LexError) -> (Span, &'static str) {
    let text = b.slice(error.start, error.end);
    let at = |offset: usize| error.start + u32::try_from(offset).unwrap_or(0);
    // `"call'`: the other kind of quote closes it.
    if let Some(quote) = text.find('\'') {
        return (b.span(at(quote), at(quote + 1)), "\"");
    }
    // Brackets at the end of one word close what was open before the string.
    let word = text.trim_end_matches([')', ']', '}', ',']);
    let end = if text.contains(char::is_whitespace) {
        text.len()
    } else {
        word.len()
    };
    (b.span(at(end), at(end)), "\"")
}

/// Returns a duration of several parts as one of the last unit: `90m` for `1h30m`.
fn in_one_unit(text: &str) -> Option<String> {
    const UNITS: [(&str, u64); 7] = [
        ("ns", 1),
        ("us", 1_000),
        ("ms", 1_000_000),
        ("s", 1_000_000_000),
        ("m", 60_000_000_000),
        ("h", 3_600_000_000_000),
        ("d", 86_400_000_000_000),
    ];
    let mut rest = text;
    let (mut total, mut last) = (0u64, None);
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let (number, behind) = rest.split_at(digits);
        let letters = behind
            .find(|c: char| c.is_ascii_digit())
            .unwrap_or(behind.len());
        let (name, next) = behind.split_at(letters);
        let (unit, size) = UNITS.iter().find(|(unit, _)| *unit == name)?;
        let part = number.parse::<u64>().ok()?.checked_mul(*size)?;
        total = total.checked_add(part)?;
        last = Some((unit, size));
        rest = next;
    }
    let (unit, size) = last?;
    (total % size == 0).then(|| format!("{}{unit}", total / size))
}
