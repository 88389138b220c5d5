//! Diagnostics of texts that cannot be parsed: one for each item.

mod characters;
mod declared;
mod elsewhere;
mod expected;
mod grammar;
mod other;
mod place;

pub(super) use characters::characters;
pub(super) use grammar::grammar;
pub(super) use other::other_language;

use super::actions::Builder;
use super::foreign::{self, Instead};
use super::item_split::Chunk;
use super::lexer::{Lexed, Lexeme};
use super::token::{ITEM_WORDS, Token};
use super::token_stream::{PrepareError, closer};
use crate::diagnostic::{Code, Diagnostic, did_you_mean};

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
    let (first, last) = (lexemes.first()?, lexemes.last()?);
    // The characters of an unknown symbol say more.
    if matches!(first.token, Token::At | Token::Unknown) || first.token.begins_item() {
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
    if word == "from"
        && let Some(import) = from_import(b, lexemes)
    {
        let whole = b.span(first.start, last.end);
        return Some(diagnostic.fix(format!("write `{import}`"), whole, import.clone()));
    }
    if matches!(word, "def" | "fn" | "func" | "function") {
        let note = "a definition has typed parameters, `=` before its value, and no `return`: `let double(n: int) = n + n`";
        let has = |token| lexemes.iter().any(|lexeme| lexeme.token == token);
        return Some(match has(Token::Assign) {
            true => diagnostic.fix("write `let`", span, "let").note(note),
            false => diagnostic.note(note),
        });
    }
    // Only a name is common to the items of most languages.
    let is_named = lexemes
        .get(1)
        .is_some_and(|name| name.token.is_name() || name.token == Token::LBrace);
    let near = || did_you_mean(word, ITEM_WORDS.iter().copied());
    Some(match (foreign::item(word), near()) {
        (Some(Instead::Note(note)), _) => diagnostic.note(note),
        (Some(Instead::Write(own)), _) if is_named => {
            diagnostic.fix(format!("write `{own}`"), span, own)
        }
        (None, Some(near)) => diagnostic.fix(format!("write `{near}`"), span, near),
        _ => diagnostic
            .note(
                "the items are `event`, `predicate`, `property`, `rule`, `enforce`, `let`, `const`, `track`, `test`, \
                 `use` and others",
            )
            .note("a line that continues an item is indented"),
    })
}

/// Returns the import that `from lib.mail import a, b` stands for.
fn from_import(b: &Builder<'_>, lexemes: &[Lexeme]) -> Option<String> {
    let (from, last) = (lexemes.first()?, lexemes.last()?);
    let import = lexemes.iter().find(|word| word.token == Token::Import)?;
    let path = b.slice(from.end, import.start).trim();
    let names = b.slice(import.end, last.end).trim();
    let is_plain = |text: &str, more: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || more.contains(c))
    };
    match names {
        _ if !is_plain(path, "._") => None,
        "*" => Some(format!("use {path}")),
        _ if is_plain(names, "_, ") => Some(format!("use {path}.{{{names}}}")),
        _ => None,
    }
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
    let between = b.slice(gap.start, gap.end);
    match between.rfind('\n') {
        Some(line) => {
            let line = gap.start + u32::try_from(line + 1).unwrap_or(0);
            diagnostic.fix("remove the indentation", b.span(line, start), "")
        }
        None if between.trim().is_empty() => diagnostic.fix("begin a new line", gap, "\n"),
        None => diagnostic,
    }
}
