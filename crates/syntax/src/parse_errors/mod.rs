//! Diagnostics of texts that cannot be parsed: one for each item.

mod expected;
mod grammar;
mod other;

pub(super) use grammar::grammar;
pub(super) use other::other_language;

use super::actions::Builder;
use super::item_split::Chunk;
use super::lexer::{LexError, LexErrorKind, Lexed, Lexeme};
use super::token::{ITEM_WORDS, Token};
use super::token_stream::{PrepareError, closer};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

/// Reports a piece of text that is not a token.
pub(super) fn characters(b: &Builder<'_>, error: &LexError) -> Diagnostic {
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
                ";" => diagnostic
                    .note("items and clauses end at the end of the line")
                    .fix("remove it", span, ""),
                "“" | "”" | "„" => diagnostic.fix("use a straight quote", span, "\""),
                "¬" => diagnostic.fix("write `not`", span, "not "),
                "∧" => diagnostic.fix("write `and`", span, "and"),
                "∨" => diagnostic.fix("write `or`", span, "or"),
                "→" | "⇒" => diagnostic.fix("write `->`", span, "->"),
                "≤" => diagnostic.fix("write `<=`", span, "<="),
                "≥" => diagnostic.fix("write `>=`", span, ">="),
                "≠" => diagnostic.fix("write `!=`", span, "!="),
                "□" => diagnostic.fix("write `G`", span, "G "),
                "◇" => diagnostic.fix("write `F`", span, "F "),
                "#" => diagnostic.note("comments begin with `//`"),
                "~" => diagnostic.note("to match a regular expression, write `text matches /…/`"),
                _ => diagnostic,
            }
        }
        LexErrorKind::UnterminatedString => {
            Diagnostic::new(Code::G0106, span, "unterminated string")
                .label("begins here")
                .note("a line break in a string is written `\\n`")
                .fix("end the string here", span.after(), "\"")
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
            let diagnostic = Diagnostic::new(
                Code::G0107,
                span,
                format!("number `{number}` is followed directly by `{letters}`"),
            )
            .label("only a unit may follow a number directly")
            .note("units are `ns us ms s m h d`, as in `250ms`");
            let from = error.start + u32::try_from(digits).unwrap_or(0);
            let at = b.span(from, error.end);
            match unit(letters) {
                Some(unit) => diagnostic.fix(format!("write `{unit}`"), at, unit),
                None if number == "0" => diagnostic,
                None => diagnostic.fix("separate them", at.before(), " "),
            }
        }
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

/// Returns the unit for another name of it.
pub(super) fn unit(word: &str) -> Option<&'static str> {
    Some(match word {
        "sec" | "secs" | "second" | "seconds" => "s",
        "msec" | "msecs" | "millis" => "ms",
        "min" | "mins" | "minute" | "minutes" => "m",
        "hr" | "hrs" | "hour" | "hours" => "h",
        "day" | "days" => "d",
        _ => return None,
    })
}

/// Reports brackets that do not match, nesting past the limit, or a misplaced bound.
pub(super) fn brackets(b: &Builder<'_>, error: &PrepareError) -> Diagnostic {
    let span = |l: &Lexeme| b.span(l.start, l.end);
    let text = |l: &Lexeme| b.slice(l.start, l.end);
    match error {
        PrepareError::Unopened { at } => {
            Diagnostic::new(Code::G0102, span(at), format!("unmatched `{}`", text(at)))
                .label("no bracket is open here")
                .fix("remove it", span(at), "")
        }
        PrepareError::Mismatched { open, at } => {
            let wanted = closer(open.token).text();
            Diagnostic::new(
                Code::G0102,
                span(at),
                format!("expected `{wanted}`, found `{}`", text(at)),
            )
            .label("does not match the open bracket")
            .also(span(open), format!("this `{}` is open", text(open)))
            .note("brackets must be closed in the reverse order of their opening")
        }
        PrepareError::Unclosed { open, end } => {
            let wanted = closer(open.token).text();
            let at = b.span(*end, *end);
            Diagnostic::new(Code::G0102, at, format!("unclosed `{}`", text(open)))
                .label(format!("expected `{wanted}`"))
                .also(span(open), "opened here")
                .note("an item ends where the next one begins, in column 0")
                .fix(format!("write `{wanted}`"), at, wanted)
        }
        PrepareError::TooDeep { at } => Diagnostic::new(
            Code::G0401,
            span(at),
            format!(
                "brackets and operators are nested more than {} levels deep",
                b.limits.nesting
            ),
        )
        .label("the limit is exceeded here")
        .note("name subformulas with `let` or `predicate`"),
        PrepareError::NoBound {
            operator,
            open,
            close,
            list,
        } => {
            let bound = b.span(open.start, close.unwrap_or(open.end));
            let word = text(operator);
            let diagnostic = Diagnostic::new(
                Code::G0113,
                bound,
                format!("`{word}` does not take a bound"),
            )
            .label("parsed as a bound")
            .also(span(operator), "because it follows a temporal operator");
            if *list {
                return diagnostic.note("put a list after a temporal operator in parentheses");
            }
            let diagnostic = diagnostic
                .note("only `F G U O H` and the equivalent words take bounds")
                .fix("remove the bound", bound, "");
            match bounded(word) {
                Some(other) => {
                    let bounds = b.slice(bound.start, bound.end);
                    let message = format!("at some step within the bound: `{other}{bounds}`");
                    diagnostic.fix(message, span(operator), other)
                }
                None => diagnostic,
            }
        }
    }
}

/// Returns the operator with a bound that corresponds to a repetition of this one.
fn bounded(word: &str) -> Option<&'static str> {
    Some(match word {
        "previously" => "once",
        "Y" => "O",
        "next" => "eventually",
        "X" => "F",
        _ => return None,
    })
}

/// Reports a chunk that does not begin with an item keyword.
pub(super) fn item_word(b: &Builder<'_>, lexemes: &[Lexeme]) -> Option<Diagnostic> {
    let first = lexemes.first()?;
    if first.token == Token::At || first.token.begins_item() {
        return None;
    }
    let word = b.slice(first.start, first.end);
    let span = b.span(first.start, first.end);
    let shown = if word.len() > 40 {
        first.token.text()
    } else {
        word
    };
    let diagnostic = Diagnostic::new(
        Code::G0103,
        span,
        format!("expected an item, found `{shown}`"),
    )
    .label("not the beginning of an item");
    if matches!(word, "def" | "fn" | "func" | "function") {
        return Some(
            diagnostic
                .fix("write `let`", span, "let")
                .note("a definition has no `return`: `let double(n: int) = n + n`"),
        );
    }
    Some(
        match alias(word).or_else(|| did_you_mean(word, ITEM_WORDS.iter().copied())) {
            Some(near) => diagnostic.fix(format!("write `{near}`"), span, near),
            None => diagnostic.note(
                "items begin with a keyword such as `event`, `predicate`, `property` or `rule`",
            ),
        },
    )
}

/// Returns the keyword for a keyword of another language.
fn alias(word: &str) -> Option<&'static str> {
    Some(match word {
        "import" | "include" | "from" => "use",
        "pred" => "predicate",
        "formula" | "ltl" | "ltlspec" | "LTLSPEC" | "invariant" | "assert" => "property",
        "struct" | "type" => "record",
        "ctmc" | "dtmc" | "module" => "system",
        _ => return None,
    })
}

/// Reports an item that is not in column 0.
pub(super) fn misplaced(b: &Builder<'_>, lexed: &Lexed, chunk: &Chunk) -> Diagnostic {
    let (start, end) = lexed
        .tokens
        .get(chunk.range.start)
        .map_or((0, 0), |first| (first.start, first.end));
    let before = chunk
        .range
        .start
        .checked_sub(1)
        .and_then(|index| lexed.tokens.get(index));
    let gap = b.span(before.map_or(start, |before| before.end), start);
    let word = b.slice(start, end);
    let diagnostic = Diagnostic::new(
        Code::G0104,
        b.span(start, end),
        format!("unexpected indentation before item `{word}`"),
    )
    .label("an item must begin in column 0 of its own line")
    .note("this limits the effect of an error to one item");
    let only_space = b.slice(gap.start, gap.end).trim().is_empty();
    if only_space {
        diagnostic.fix("begin a new line", gap, "\n")
    } else {
        diagnostic
    }
}
