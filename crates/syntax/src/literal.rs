//! The values of literals: escapes, messages, regular expressions, durations.

use super::actions::Builder;
use super::ast::{
    DurationLit, DurationUnit, Expr, ExprKind, Ignored, Message, MessagePart, StringLit,
};
use super::parser;
use crate::diagnostic::{Code, Diagnostic};
use smol_str::SmolStr;

/// Splits `/pattern/flags`.
pub(super) fn regex(text: &str) -> (SmolStr, SmolStr) {
    let body = text.strip_prefix('/').unwrap_or(text);
    match body.rsplit_once('/') {
        Some((pattern, flags)) => (pattern.into(), flags.into()),
        None => (body.into(), SmolStr::default()),
    }
}

/// Splits `250ms`.
pub(super) fn duration(text: &str) -> DurationLit {
    let at = text
        .find(|c: char| c.is_ascii_alphabetic())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(at);
    let unit = match unit {
        "ns" => DurationUnit::Nanoseconds,
        "us" => DurationUnit::Microseconds,
        "ms" => DurationUnit::Milliseconds,
        "m" => DurationUnit::Minutes,
        "h" => DurationUnit::Hours,
        "d" => DurationUnit::Days,
        _ => DurationUnit::Seconds,
    };
    DurationLit {
        number: number.chars().filter(|c| *c != '_').collect(),
        unit,
    }
}

/// Returns a string without interpolation.
pub(super) fn string(b: &Builder<'_>, l: u32, r: u32) -> StringLit {
    let raw = b.slice(l, r);
    let mut value = String::with_capacity(raw.len());
    let inner = inner(raw);
    let mut at = 0;
    while let Some(rest) = inner.get(at..).filter(|rest| !rest.is_empty()) {
        at += character(b, rest, l + 1 + narrow(at), &mut value);
    }
    StringLit {
        value: value.into(),
        raw: Ignored(raw.into()),
        span: b.loc(l, r),
    }
}

/// Returns a string with `{e}`, `{e:format}`, `{{` and `}}`.
pub(super) fn message(b: &Builder<'_>, l: u32, r: u32) -> Message {
    let raw = b.slice(l, r);
    let inner = inner(raw);
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut at = 0;
    while let Some(rest) = inner.get(at..).filter(|rest| !rest.is_empty()) {
        let offset = l + 1 + narrow(at);
        if rest.starts_with("{{") || rest.starts_with("}}") {
            text.push_str(rest.get(..1).unwrap_or(""));
            at += 2;
        } else if rest.starts_with('{') {
            let Some(len) = rest.find('}') else {
                let diagnostic =
                    Diagnostic::new(Code::G0109, b.span(offset, offset + 1), "unclosed `{`")
                        .label("an expression begins here");
                // The value that is probably meant: a name with its members.
                let body = rest.get(1..).unwrap_or("");
                let path = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.');
                let len = body.find(|c| !path(c)).unwrap_or(body.len());
                let name = body.get(..len).unwrap_or("").trim_end_matches('.');
                let diagnostic = if name.starts_with(|c: char| c.is_ascii_alphabetic()) {
                    let end = offset + 1 + narrow(name.len());
                    diagnostic.fix("write `}`", b.span(end, end), "}")
                } else {
                    diagnostic
                };
                b.report(diagnostic.note("a literal brace is written `{{`").fix(
                    "write a literal brace",
                    b.span(offset, offset + 1),
                    "{{",
                ));
                break;
            };
            if !text.is_empty() {
                parts.push(MessagePart::Text(std::mem::take(&mut text).into()));
            }
            let body = rest.get(1..len).unwrap_or("");
            parts.push(value(b, body, offset, offset + narrow(len) + 1));
            at += len + 1;
        } else if rest.starts_with('}') {
            b.report(
                Diagnostic::new(Code::G0109, b.span(offset, offset + 1), "unmatched `}`")
                    .label("no expression begins before it")
                    .note("a literal brace is written `}}`")
                    .fix("write a literal brace", b.span(offset, offset + 1), "}}"),
            );
            at += 1;
        } else {
            at += character(b, rest, offset, &mut text);
        }
    }
    if !text.is_empty() {
        parts.push(MessagePart::Text(text.into()));
    }
    Message {
        parts,
        raw: Ignored(raw.into()),
        span: b.loc(l, r),
    }
}

/// Parses `{e:format}` from `start` to `end`; `body` is the text between the braces.
fn value(b: &Builder<'_>, body: &str, start: u32, end: u32) -> MessagePart {
    let (text, format) = match body.split_once(':') {
        Some((text, format)) => (text, Some(SmolStr::new(format))),
        None => (body, None),
    };
    let span = b.span(start, end);
    let wrong = |message: String, label: &str| {
        b.report(
            Diagnostic::new(Code::G0109, span, message)
                .label(label)
                .note("`{e}` and `{e:format}` cannot contain a quote, a brace or a second `:`"),
        );
        Expr::new(ExprKind::Error, span)
    };
    let expr = if text.trim().is_empty() {
        wrong("empty braces".to_owned(), "expected a value")
    } else if body.contains('"') || body.contains('\\') {
        wrong(
            "an expression in a message cannot contain quotes".to_owned(),
            "name the expression with `let`",
        )
    } else if format.as_ref().is_some_and(|format| format.contains(':')) {
        wrong(
            "more than one `:` in these braces".to_owned(),
            "name the expression with `let`",
        )
    } else {
        match parser::expression(b, text, start + 1) {
            Ok(expr) => expr,
            Err(diagnostic) => {
                b.report(*diagnostic);
                Expr::new(ExprKind::Error, span)
            }
        }
    };
    MessagePart::Value {
        expr: Box::new(expr),
        format,
        span: Ignored(span),
    }
}

/// Returns the text without the quotes.
fn inner(raw: &str) -> &str {
    let raw = raw.strip_prefix('"').unwrap_or(raw);
    raw.strip_suffix('"').unwrap_or(raw)
}

/// Reads one character or escape; the answer is the number of bytes read.
fn character(b: &Builder<'_>, rest: &str, offset: u32, out: &mut String) -> usize {
    let mut chars = rest.chars();
    let Some(first) = chars.next() else {
        return 1;
    };
    if first != '\\' {
        out.push(first);
        return first.len_utf8();
    }
    let escape = chars.next().unwrap_or('\\');
    let plain = match escape {
        'n' => '\n',
        't' => '\t',
        'r' => '\r',
        'b' => '\u{8}',
        'f' => '\u{c}',
        '"' | '\\' | '/' => escape,
        'u' => {
            let (c, len) = unicode(rest);
            match c {
                Some(c) => out.push(c),
                None => bad_escape(b, offset, len, rest),
            }
            return len;
        }
        _ => {
            bad_escape(b, offset, 1 + escape.len_utf8(), rest);
            escape
        }
    };
    out.push(plain);
    1 + escape.len_utf8()
}

/// `\u{1F600}`, `\u00e9`, or a pair of surrogates; the number of bytes is at least 2.
fn unicode(rest: &str) -> (Option<char>, usize) {
    let body = rest.get(2..).unwrap_or("");
    if let Some(braced) = body.strip_prefix('{') {
        return match braced.find('}') {
            Some(end) => {
                let digits = braced.get(..end).unwrap_or("");
                (
                    u32::from_str_radix(digits, 16)
                        .ok()
                        .and_then(char::from_u32),
                    end + 4,
                )
            }
            None => (None, 2),
        };
    }
    let Some(high) = hex4(body) else {
        return (None, 2);
    };
    if let Some(c) = char::from_u32(high) {
        return (Some(c), 6);
    }
    let low = body
        .get(4..)
        .and_then(|s| s.strip_prefix("\\u"))
        .and_then(hex4);
    match low {
        Some(low) if (0xD800..0xDC00).contains(&high) && (0xDC00..0xE000).contains(&low) => (
            char::from_u32(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00)),
            12,
        ),
        _ => (None, 6),
    }
}

fn hex4(text: &str) -> Option<u32> {
    let digits = text
        .get(..4)
        .filter(|d| d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u32::from_str_radix(digits, 16).ok()
}

fn bad_escape(b: &Builder<'_>, offset: u32, len: usize, rest: &str) {
    let shown = rest.get(..len).unwrap_or("\\");
    b.report(
        Diagnostic::new(
            Code::G0108,
            b.span(offset, offset + narrow(len)),
            format!("unknown escape sequence `{shown}`"),
        )
        .label("unknown escape")
        .note("strings support the escapes of JSON, and `\\u{…}`; a literal backslash is written `\\\\`")
        .fix(
            "write a literal backslash",
            b.span(offset, offset + 1),
            "\\\\",
        ),
    );
}

fn narrow(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}
