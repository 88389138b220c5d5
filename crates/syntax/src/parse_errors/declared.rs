//! Declarations as other languages write them.

use super::place::Place;
use crate::diagnostic::{Code, Diagnostic};
use crate::foreign;
use crate::token::Token;

/// Returns the diagnostic for a declaration in the notation of another language.
pub(super) fn declared(p: &Place<'_, '_>) -> Option<Diagnostic> {
    named(p)
        .or_else(|| typed(p))
        .or_else(|| field(p))
        .or_else(|| enforced(p))
        .or_else(|| attribute(p))
}

/// Names that are not names, and what follows the name of an item.
fn named(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        expected,
        span,
        tokens,
        at,
        ..
    } = *p;
    if p.token == Token::String && p.item() == Some(Token::Use) && at == 1 {
        let path = p.text().trim_matches('"');
        let is_path = !path.is_empty()
            && path
                .chars()
                .all(|c| c.is_alphanumeric() || "._".contains(c));
        let diagnostic = Diagnostic::new(Code::G0101, span, "a module is named without quotes")
            .label("expected a name");
        return Some(if is_path {
            diagnostic.fix(format!("write `{path}`"), span, path)
        } else {
            diagnostic.note("`lib/mail.guard` is `use lib.mail`")
        });
    }
    if p.item() == Some(Token::Test) && at == 1 && p.token.is_name() {
        let name = format!("\"{}\"", p.text());
        return Some(
            Diagnostic::new(Code::G0101, span, "the name of a test is a string")
                .label("expected a string")
                .fix(format!("write `{name}`"), span, name),
        );
    }
    let is_item = p.item().is_some_and(Token::begins_item);
    let assigns = |span| (span, " =".to_owned());
    // `property p: always (…)`: what follows the colon is not a name.
    let colon = match p.token {
        Token::Colon if at == 2 && expected.has("=") => Some(span),
        _ if at == 3 && p.item() == Some(Token::Property) && expected.is_name() => {
            let colon = p.before(1).filter(|colon| colon.token == Token::Colon);
            colon.map(|colon| p.span_of(colon))
        }
        _ => None,
    };
    if let (Some(colon), true) = (colon, is_item) {
        return Some(
            Diagnostic::new(Code::G0101, colon, "expected `=`, found `:`")
                .label("expected `=`")
                .fix_all("write `=`", vec![assigns(colon)]),
        );
    }
    let name = p.before(1).filter(|name| name.token == Token::Name)?;
    let can_end = expected.has("#string") || expected.has(":") || expected.has("=");
    if at != 2 || !is_item || !can_end || !matches!(p.token, Token::Dot | Token::Minus) {
        return None;
    }
    let rest = tokens[at..].iter().take_while(|lexeme| {
        matches!(
            lexeme.token,
            Token::Dot | Token::Minus | Token::Int | Token::Float
        ) || lexeme.token.is_name()
    });
    let end = rest.last().map_or(span.end, |lexeme| lexeme.end);
    let whole = b.span(name.start, end);
    let written = b.slice(name.start, end);
    let plain = written.replace(['.', '-'], "_");
    let what = if p.token == Token::Dot {
        "dots"
    } else {
        "hyphens"
    };
    let start = b.span(tokens[0].start, tokens[0].end).before();
    let edits = vec![
        (start, format!("@id(\"{written}\")\n")),
        (whole, plain.clone()),
    ];
    Some(
        Diagnostic::new(Code::G0101, whole, format!("names have no {what}"))
            .label("expected a name")
            .fix_all(
                format!("name it `{plain}` and write `@id(\"{written}\")` above"),
                edits,
            ),
    )
}

/// Types: `string[]`, `List<string>`, `float | null`.
fn typed(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b, expected, span, ..
    } = *p;
    let name = p.before(1).filter(|name| name.token.is_name())?;
    if expected.is_operator() || !expected.has("?") {
        return None;
    }
    let text = p.slice(name);
    let (end, ty) = match p.token {
        Token::LBracket if p.after(1)?.token == Token::RBracket => {
            (p.after(1)?.end, format!("list<{text}>"))
        }
        Token::LBracket | Token::Less => {
            let close = match p.token {
                Token::LBracket => p.closing(p.at + 1)?,
                _ => p.closing_angle()?,
            };
            let inner = b.slice(span.end, p.tokens[close].start);
            // The keys of a map are always strings.
            let item = inner.rsplit(',').next().unwrap_or(inner).trim();
            let ty = match foreign::generic(text)? {
                "?" => format!("{item}?"),
                own => format!("{own}<{item}>"),
            };
            (p.tokens[close].end, ty)
        }
        Token::Pipe => {
            let null = p.after(1)?;
            if !matches!(p.slice(null), "null" | "None" | "undefined") {
                return None;
            }
            (null.end, format!("{text}?"))
        }
        _ => return None,
    };
    let whole = b.span(name.start, end);
    let shown = b.slice(whole.start, whole.end);
    Some(
        Diagnostic::new(Code::G0101, whole, format!("`{shown}` is not a type"))
            .label("expected a type")
            .fix(format!("write `{ty}`"), whole, ty.clone()),
    )
}

/// Clauses of fields of events.
fn field(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        expected,
        span,
        tokens,
        at,
        ..
    } = *p;
    if p.token == Token::LBrace && p.before(1).is_some_and(|word| p.slice(word) == "enum") {
        let word = p.before(1)?;
        return Some(
            Diagnostic::new(
                Code::G0101,
                b.span(word.start, span.end),
                "an enum is declared as an item of its own",
            )
            .label("an enum without a name")
            .note("declare it above, `enum Color { red, green }`, and give the field its name as the type: `color: Color`"),
        );
    }
    let declares = matches!(p.item(), Some(Token::Event | Token::Record | Token::Trace));
    if declares
        && expected.has(":")
        && p.token.is_name()
        && let Some(name) = p.before(1).filter(|name| name.token.is_name())
    {
        let (name, ty) = (p.slice(name), p.text());
        return Some(
            Diagnostic::new(
                Code::G0101,
                span,
                "a colon stands between a name and its type",
            )
            .label("expected `:`")
            .fix(
                format!("write `{name}: {ty}`"),
                p.span_of(p.before(1)?).after(),
                ":",
            ),
        );
    }
    if p.token == Token::In && expected.has("from") {
        let colon = tokens[..at].iter().rposition(|l| l.token == Token::Colon)?;
        let name = p.slice(&tokens[colon.checked_sub(1)?]);
        let source = format!("from \"/{name}\" ");
        return Some(
            Diagnostic::new(Code::G0101, span, "`in` follows the source of a field")
                .label("expected `from`")
                .fix(format!("write `{source}` before it"), span.before(), source),
        );
    }
    if p.text() == "from" {
        let from = p.after(1).filter(|t| t.token == Token::String)?;
        let equals = tokens[..at]
            .iter()
            .rev()
            .find(|t| t.token == Token::Assign)?;
        let default = b.slice(equals.end, span.start).trim();
        if default.contains('\n') || !matches!(p.item(), Some(Token::Event | Token::Trace)) {
            return None;
        }
        let path = b.slice(from.start, from.end);
        let turned = format!("from {path} = {default}");
        return Some(
            Diagnostic::new(Code::G0101, span, "`from` stands before the default")
                .label("after the default")
                .fix(
                    format!("write `{turned}`"),
                    b.span(equals.start, from.end),
                    turned.clone(),
                ),
        );
    }
    None
}

/// `enforce` without `when`, with another sign than `=>`, and with the property of a module.
fn enforced(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        expected,
        span,
        tokens,
        ..
    } = *p;
    if p.item() != Some(Token::Enforce) {
        return None;
    }
    let wrong = |span, message: &str| Diagnostic::new(Code::G0101, span, message);
    let is_verb = |token| {
        matches!(
            token,
            Token::Block | Token::Warn | Token::Log | Token::Ask | Token::Stop
        )
    };
    match p.token {
        Token::FatArrow if expected.has("{") => Some(
            wrong(span, "an action follows a condition with `when`")
                .label("expected `{`")
                .note("`enforce p { … }` acts on a property, `enforce when c => …` on a condition")
                .fix("write `when`", p.span_of(&tokens[1]).before(), "when "),
        ),
        Token::Dot
            if expected.has("{") && p.after(2).is_some_and(|open| open.token == Token::LBrace) =>
        {
            let (module, name) = (p.before(1)?, p.after(1)?);
            let written = b.slice(module.start, name.end);
            Some(
                wrong(
                    b.span(module.start, name.end),
                    &format!("expected a property that this file declares, found `{written}`"),
                )
                .label("only what this file declares is judged")
                .note(format!(
                    "let `{}` declare the formula as a `template`, and state here `property {} = …` with it",
                    p.slice(module),
                    p.slice(name)
                )),
            )
        }
        Token::String if expected.has("=>") => {
            let (arrow, verb) = (p.before(2)?, p.before(1)?);
            (arrow.token == Token::Arrow && is_verb(verb.token)).then(|| {
                let arrow = p.span_of(arrow);
                Diagnostic::new(Code::G0110, arrow, "`->` does not begin an action")
                    .label("an implication")
                    .fix("write `=>`", arrow, "=>")
            })
        }
        Token::LBrace
            if expected.has("=>") && p.after(1).is_some_and(|verb| is_verb(verb.token)) =>
        {
            let close = p.span_of(&tokens[p.closing(p.at + 1)?]);
            Some(
                wrong(span, "expected `=>`, found `{`")
                    .label("expected `=>`")
                    .fix_all(
                        "write `=>`",
                        vec![(span, "=>".to_owned()), (close, String::new())],
                    ),
            )
        }
        Token::Prime if expected.has("#string") => {
            let rest = b.text.get(span.end as usize..)?.lines().next()?;
            let len = u32::try_from(rest.find('\'')?).ok()?;
            let text = b.slice(span.end, span.end + len);
            if text.contains(['"', '\\']) {
                return None;
            }
            let whole = b.span(span.start, span.end + len + 1);
            Some(
                Diagnostic::new(Code::G0101, whole, "strings need double quotes")
                    .label("expected a string")
                    .fix("use double quotes", whole, format!("\"{text}\"")),
            )
        }
        _ => None,
    }
}

/// An attribute after its item.
fn attribute(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        span,
        tokens,
        at,
        ..
    } = *p;
    let name = p.after(1).filter(|name| name.token.is_name())?;
    let (first, last) = (tokens.first()?, p.before(1)?);
    if p.token != Token::At || !p.expected.is_operator() {
        return None;
    }
    let end = match p.after(2).map(|open| open.token) {
        Some(Token::LParen) => tokens[p.closing(at + 3)?].end,
        _ => name.end,
    };
    let text = b.slice(span.start, end);
    Some(
        Diagnostic::new(
            Code::G0101,
            b.span(span.start, end),
            "an attribute stands before its item",
        )
        .label("after the item")
        .fix_all(
            format!("write `{text}` above the item"),
            vec![
                (p.span_of(first).before(), format!("{text}\n")),
                (b.span(last.end, end), String::new()),
            ],
        ),
    )
}
