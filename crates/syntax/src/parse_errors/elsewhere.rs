//! Expressions as other languages write them.

use super::place::{Place, is_literal, is_number};
use crate::diagnostic::{Code, Diagnostic};
use crate::foreign::{self, Instead};
use crate::lexer::Lexeme;
use crate::token::Token;

/// Returns the diagnostic for operators and forms of other languages.
pub(super) fn elsewhere(p: &Place<'_, '_>) -> Option<Diagnostic> {
    if let Some(diagnostic) = symbols(p).or_else(|| numbers(p)).or_else(|| lists(p)) {
        return Some(diagnostic);
    }
    let Place {
        b,
        expected,
        span,
        tokens,
        at,
        ..
    } = *p;
    let before = p.before(1);
    Some(match (before.map(|before| before.token), p.token) {
        (Some(word), Token::Less)
            if expected.is_value() && word.takes_bound() && Place::is_joined(before, p.after(0)) =>
        {
            let diagnostic = Diagnostic::new(Code::G0110, span, "a bound includes its end")
                .label("expected `<=`");
            let steps = p.after(1).filter(|end| end.token == Token::Int);
            let Some(end) = steps else {
                return Some(diagnostic.fix("write `<=`", span, "<="));
            };
            let last = p.slice(end).parse::<u64>().ok()?.checked_sub(1)?;
            let bound = format!("<={last}");
            diagnostic.fix(format!("write `{bound}`"), b.span(span.start, end.end), bound)
        }
        (Some(word), Token::Greater | Token::GreaterEq)
            if expected.is_value()
                && word.takes_bound()
                && p.after(1).is_some_and(|end| matches!(end.token, Token::Int | Token::Duration)) =>
        {
            let (word, least) = (p.slice(before?), p.slice(p.after(1)?));
            let days = if p.after(1)?.token == Token::Int { "100000" } else { "1000d" };
            Diagnostic::new(Code::G0110, span, "a bound is an upper end")
                .label("expected `<=`")
                .note(format!(
                    "for *at least {least}*, take an upper end that no run reaches: `{word}[{least},{days}] a`"
                ))
        }
        (Some(word), token) if expected.is_value() && word.takes_bound() && token.is_relation() => {
            let word = p.slice(before?);
            Diagnostic::new(
                Code::G0110,
                span,
                format!("`{word}` is an operator, and has no value to compare"),
            )
            .label("expected a condition")
            .note(format!("the name of a field or predicate cannot be `{word}`: choose another one, such as `{word}_`"))
        }
        (_, Token::Question) if expected.is_operator() => {
            Diagnostic::new(Code::G0110, span, "`? :` is not an operator")
                .note("write `if condition then a else b`; a value in place of null is `a ?? b`")
        }
        (_, Token::Colon | Token::DotDot) if expected.is_operator() && expected.has("]") => {
            Diagnostic::new(Code::G0101, span, "a part of a list or text is not taken in `[ ]`")
                .label("expected an operator or `]`")
                .note("write `slice(x, 0, 2)` for the elements or characters at positions 0 and 1, `xs.drop(2)` for those after them")
        }
        (_, Token::In) if expected.has(")") => {
            let open = p.opening(at)?;
            let word = open.checked_sub(1).map(|index| tokens[index].token)?;
            if !matches!(word, Token::Forall | Token::Exists) {
                return None;
            }
            Diagnostic::new(Code::G0101, span, "a range stands after all quantified names")
                .label("expected `)` or `,`")
                .note("write `forall (a, b) in e`: both take the values of `e`; one name alone needs no parentheses, as in `forall a in e`")
        }
        (_, Token::Comma) if expected.has(":") && expected.has("in") => {
            let first = at.checked_sub(2)?;
            if !matches!(tokens[first].token, Token::Forall | Token::Exists) {
                return None;
            }
            let end = tokens[at..].iter().position(|t| t.token == Token::Colon)? + at;
            let names = b.span(tokens[first + 1].start, tokens[end - 1].end);
            let text = format!("({})", b.slice(names.start, names.end));
            Diagnostic::new(Code::G0101, span, "several quantified names stand in parentheses")
                .label("expected `:` or `in`")
                .fix(format!("write `{text}`"), names, text)
        }
        (Some(Token::Comma), Token::RBracket) if expected.has("#duration") => {
            Diagnostic::new(Code::G0101, span, "a bound needs an upper end")
                .label("expected a number of steps or a duration")
                .note("for *at least 10 minutes*, take an upper end that no run reaches: `once[10m,1000d] a`")
        }
        (Some(Token::Int | Token::Duration), Token::DotDot) if expected.has(",") => {
            Diagnostic::new(Code::G0101, span, "expected `,`, found `..`")
                .label("expected `,`")
                .fix("write `,`", span, ",")
        }
        (Some(Token::Int | Token::Duration), Token::RBracket) if expected.has(",") => {
            let end = before?;
            Diagnostic::new(Code::G0101, span, "a bound has a lower and an upper end")
                .label("expected `,`")
                .fix("begin at 0", p.span_of(end).before(), "0,")
        }
        (Some(Token::RParen), token) if expected.is_operator() && token.is_name() => {
            return cast(p);
        }
        (
            _,
            Token::Contains | Token::StartsWith | Token::EndsWith | Token::Matches,
        ) if expected.is_value() => {
            let word = p.text();
            let diagnostic = Diagnostic::new(
                Code::G0101,
                span,
                format!("`{word}` stands between two values"),
            )
            .label("expected a value");
            let (Some(open), Some(close)) = (p.after(1), p.closing(at + 2)) else {
                return None;
            };
            let comma = (at + 2..close).find(|index| {
                tokens[*index].token == Token::Comma && p.opening(*index) == Some(at + 1)
            });
            let (Token::LParen, Some(comma)) = (open.token, comma) else {
                return Some(diagnostic.note(format!("write `a {word} b`")));
            };
            let operand = |from: usize, to: usize| {
                let text = b.slice(tokens[from].end, tokens[to].start).trim();
                let plain = to - from == 2 || !text.contains(char::is_whitespace);
                if plain { text.to_owned() } else { format!("({text})") }
            };
            let form = format!("{} {word} {}", operand(at + 1, comma), operand(comma, close));
            let whole = b.span(span.start, tokens[close].end);
            diagnostic.fix(format!("write `{form}`"), whole, form.clone())
        }
        _ if expected.has("else") => {
            let last = |token| tokens[..at].iter().rposition(|lexeme| lexeme.token == token);
            return without_else(p, last(Token::If)?, last(Token::Then)?);
        }
        _ => return None,
    })
}

/// Returns the diagnostic for symbols that are no operator of this language.
fn symbols(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b, expected, span, ..
    } = *p;
    if p.token == Token::Less
        && expected.is_value()
        && Place::is_joined(p.after(0), p.after(1))
        && p.after(1).is_some_and(|next| next.token == Token::Greater)
    {
        let pair = b.span(span.start, p.after(1)?.end);
        return Some(
            Diagnostic::new(Code::G0110, pair, "`<>` is not a temporal operator").fix(
                "write `eventually`",
                pair,
                "eventually ",
            ),
        );
    }
    let is_open = p
        .before(2)
        .is_some_and(|open| open.token == Token::LBracket);
    if let Some(close) = p
        .before(1)
        .filter(|close| close.token == Token::RBracket && is_open)
        && expected.is_operator()
        && p.token.ends_operand()
    {
        let pair = b.span(p.before(2)?.start, close.end);
        return Some(
            Diagnostic::new(Code::G0110, pair, "`[]` is not a temporal operator").fix(
                "write `always`",
                pair,
                "always",
            ),
        );
    }
    for (first, last) in [(p.before(1), p.after(0)), (p.after(0), p.after(1))] {
        let (Some(first), Some(last)) = (first, last) else {
            continue;
        };
        let pair = b.span(first.start, last.end);
        let text = b.slice(pair.start, pair.end);
        let Some(instead) = foreign::symbols(text) else {
            continue;
        };
        let diagnostic = Diagnostic::new(Code::G0110, pair, format!("`{text}` is not an operator"));
        return Some(match instead {
            Instead::Write(own) => diagnostic.fix(format!("write `{own}`"), pair, own),
            Instead::Note(note) => diagnostic.note(note),
        });
    }
    let is_number = |lexeme: &Lexeme| is_number(lexeme.token) || lexeme.token == Token::Duration;
    // After a comparison, an implication is meant.
    let compares = p.token == Token::FatArrow && expected.has("->") && expected.has(">=");
    if compares && (p.after(1).is_some_and(is_number) || p.before(1).is_some_and(is_number)) {
        return Some(
            Diagnostic::new(Code::G0110, span, "`=>` is not a comparison")
                .label("it separates a condition from an arm, action or update")
                .fix("write `>=`", span, ">="),
        );
    }
    None
}

/// Returns the diagnostic for numbers and times in the notation of another language.
fn numbers(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        expected,
        span,
        tokens,
        at,
        ..
    } = *p;
    let (before, next) = (p.before(1)?, p.after(1));
    let is_unit = ["ns", "us", "ms", "s", "m", "h", "d"].contains(&p.text());
    if is_unit && before.token == Token::Int && (expected.is_operator() || expected.has("]")) {
        let gap = b.span(before.end, span.start);
        return Some(
            Diagnostic::new(
                Code::G0101,
                span,
                "a unit stands directly behind its number",
            )
            .label("not joined to the number")
            .fix("join them", gap, ""),
        );
    }
    if !expected.is_operator() || !is_number(before.token) {
        return None;
    }
    let joined = Place::is_joined(Some(before), p.after(0))
        && Place::is_joined(p.after(0), next)
        && next.is_some_and(|next| is_number(next.token));
    match p.token {
        Token::Comma if joined && next.is_some_and(|next| p.slice(next).len() >= 3) => {
            let groups = tokens[at..].chunks(2).take_while(|pair| {
                let [comma, group] = pair else { return false };
                comma.token == Token::Comma && is_number(group.token) && comma.end == group.start
            });
            let commas = groups.filter_map(|pair| pair.first());
            let edits = commas.map(|comma| (p.span_of(comma), "_".to_owned()));
            Some(
                Diagnostic::new(Code::G0101, span, "numbers have no commas")
                    .label("expected the end of the number")
                    .fix_all("group digits with `_`", edits.collect()),
            )
        }
        Token::Colon if joined && !expected.has("]") => Some(
            Diagnostic::new(Code::G0101, span, "a time is written as a string")
                .label("not part of a number")
                .note("write the date and the time: `\"2024-01-31T10:00:00Z\"`"),
        ),
        Token::Name if !p.tokens[at].first_on_line && super::unit(p.text()).is_none() => {
            let word = p.text();
            let ends = next.is_none_or(|next| next.token.continues_line() || next.first_on_line);
            if !ends || foreign::operator("", word).is_some() {
                return None;
            }
            let gap = b.span(before.end, span.end);
            Some(
                Diagnostic::new(Code::G0101, span, format!("`{word}` is not a unit"))
                    .label("only durations have units")
                    .fix("remove it", gap, ""),
            )
        }
        _ => None,
    }
}

/// Returns the diagnostic for lists in the notation of another language.
fn lists(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        b,
        expected,
        span,
        tokens,
        at,
        ..
    } = *p;
    let before = p.before(1)?;
    if !expected.is_operator() {
        return None;
    }
    let are_elements = is_literal(p.token) && is_literal(before.token)
        || (before.token, p.token) == (Token::RBrace, Token::LBrace);
    if are_elements && expected.has(",") && expected.has("]") {
        return Some(
            Diagnostic::new(Code::G0101, span, "commas separate the elements of a list")
                .label("expected `,`")
                .fix("write `,`", p.span_of(before).after(), ","),
        );
    }
    if p.token != Token::Comma {
        return None;
    }
    let is_membership = |index: Option<usize>| {
        index.is_some_and(|index| matches!(tokens[index].token, Token::In | Token::NotIn))
    };
    if is_membership(at.checked_sub(2)) && is_literal(before.token) {
        let rest = tokens[at..].iter();
        let end = rest
            .take_while(|lexeme| lexeme.token == Token::Comma || is_literal(lexeme.token))
            .last()?;
        let list = b.span(before.start, end.end);
        let edits = vec![
            (list.before(), "[".to_owned()),
            (list.after(), "]".to_owned()),
        ];
        return Some(
            Diagnostic::new(Code::G0101, span, "lists are written in `[ ]`")
                .label("not part of a list")
                .fix_all("write `[ ]`", edits),
        );
    }
    let open = p.opening(at)?;
    if tokens[open].token != Token::LParen || !is_membership(open.checked_sub(1)) {
        return None;
    }
    let open = p.span_of(&tokens[open]);
    let diagnostic = Diagnostic::new(Code::G0101, span, "lists are written in `[ ]`")
        .label("`( )` encloses one value")
        .also(open, "opened here");
    Some(match p.closing(at) {
        Some(close) => {
            let close = p.span_of(&tokens[close]);
            let edits = vec![(open, "[".to_owned()), (close, "]".to_owned())];
            diagnostic.fix_all("write `[ ]`", edits)
        }
        None => diagnostic,
    })
}

/// Returns the diagnostic for `(float) x`.
fn cast(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let [open, name] = [p.before(3)?, p.before(2)?];
    let is_call = p.before(4).is_some_and(|word| word.token.ends_operand());
    if open.token != Token::LParen || is_call || !p.token.is_name() {
        return None;
    }
    let ty = foreign::type_name(p.slice(name))?;
    let mut end = p.at;
    while let (Some(dot), Some(member)) = (p.tokens.get(end + 1), p.tokens.get(end + 2))
        && dot.token == Token::Dot
        && member.token.is_name()
    {
        end += 2;
    }
    let value = p.b.span(p.span.start, p.tokens[end].end);
    let prefix = p.b.span(open.start, value.start);
    let text = p.b.slice(value.start, value.end);
    Some(
        Diagnostic::new(
            Code::G0101,
            p.b.span(open.start, value.end),
            "a cast stands after its value",
        )
        .label("expected an operator")
        .fix_all(
            format!("write `{text} as {ty}`"),
            vec![
                (prefix, String::new()),
                (value.after(), format!(" as {ty}")),
            ],
        ),
    )
}

/// Returns the diagnostic for an `if` without `else`; `from` and `then` are the indices of its words.
pub(super) fn without_else(p: &Place<'_, '_>, from: usize, then: usize) -> Option<Diagnostic> {
    let tokens = p.tokens;
    if from > then {
        return None;
    }
    let what = if p.at < tokens.len() {
        format!("expected `else`, found `{}`", p.text())
    } else {
        "expected `else`, found the end of the item".to_owned()
    };
    let diagnostic = Diagnostic::new(Code::G0101, p.span, what)
        .label("expected an operator or `else`")
        .also(p.span_of(&tokens[from]), "this `if` has two cases")
        .note("to require `b` whenever `a` holds, write `a -> b`; of two values, `if a then b else c`");
    // Elsewhere the parts may be values, of which none implies another.
    let claims = matches!(
        p.item(),
        Some(Token::Property | Token::Requirement | Token::Predicate | Token::Unsafe)
    );
    let head = from.checked_sub(1).map(|index| tokens[index].token);
    let whole = head
        .is_some_and(|head| matches!(head, Token::LParen | Token::Assign) || head.is_temporal());
    // A property without a temporal operator is about the first step only.
    let is_property = head == Some(Token::Assign) && p.item() == Some(Token::Property);
    if !claims || !whole || (is_property && p.at < tokens.len()) {
        return Some(diagnostic);
    }
    let (open, close) = if is_property {
        ("always (", ")")
    } else {
        ("", "")
    };
    let (first, condition) = (&tokens[from], &tokens[from + 1]);
    let mut edits = vec![
        (p.b.span(first.start, condition.start), open.to_owned()),
        (p.span_of(&tokens[then]), "->".to_owned()),
    ];
    if is_property {
        edits.push((p.span, close.to_owned()));
    }
    Some(diagnostic.fix_all("write an implication", edits))
}
