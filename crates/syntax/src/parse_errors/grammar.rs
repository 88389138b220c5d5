//! From the generated parser's error to a diagnostic.

use super::declared::declared;
use super::elsewhere::elsewhere;
use super::expected::Expected;
use super::place::Place;
use super::unit;
use crate::actions::Builder;
use crate::diagnostic::{Code, Diagnostic};
use crate::foreign::{self, Instead};
use crate::lexer::Lexeme;
use crate::source::Span;
use crate::token::Token;

/// Returns the diagnostic for a sequence of tokens that the grammar does not accept.
pub(crate) fn grammar(
    b: &Builder<'_>,
    tokens: &[Lexeme],
    start: Token,
    end: u32,
    found: Option<Lexeme>,
    expected: &[String],
) -> Diagnostic {
    let whole = if start == Token::StartItem {
        "item"
    } else {
        "expression"
    };
    let found = found.map(|found| (b.span(found.start, found.end), found.token));
    let expected = Expected::new(expected, whole);
    let Some((span, token)) = found else {
        let at = b.span(end, end);
        let place = Place {
            b,
            expected: &expected,
            tokens,
            at: tokens.len(),
            token: Token::Unknown,
            span: at,
        };
        if let Some(diagnostic) = elsewhere(&place) {
            return diagnostic;
        }
        let what = if tokens.is_empty() {
            format!("expected {expected}, found nothing")
        } else {
            format!("expected {expected}, found the end of the {whole}")
        };
        let diagnostic =
            Diagnostic::new(Code::G0101, at, what).label(format!("expected {expected}"));
        let rule = tokens.iter().any(|lexeme| lexeme.token == Token::Rule);
        return if rule && expected.has("within") && tokens.iter().any(|t| t.token == Token::Then) {
            diagnostic.note("a rule says how soon the response must come: `then b within 5 steps`")
        } else if lacks_body(&place) {
            diagnostic.note(BODY)
        } else {
            diagnostic
        };
    };
    let text = if span.is_empty() {
        "the end of the line".to_owned()
    } else {
        shown(b, span, token)
    };
    let at = tokens
        .iter()
        .position(|lexeme| (lexeme.start, lexeme.token) == (span.start, token));
    let place = Place {
        b,
        expected: &expected,
        tokens,
        at: at.unwrap_or(tokens.len()),
        token,
        span,
    };
    if let Some(diagnostic) = elsewhere(&place)
        .or_else(|| declared(&place))
        .or_else(|| known(&place))
    {
        return diagnostic;
    }
    if token.begins_item() && expected.is_operator() && first_on_line(tokens, span) {
        return Diagnostic::new(
            Code::G0104,
            span,
            format!("unexpected indentation before item {text}"),
        )
        .label("an item must begin in column 0 of its own line")
        .note("this limits the effect of an error to one item");
    }
    let label = if expected.is_long() {
        "not allowed here".to_owned()
    } else {
        format!("expected {expected}")
    };
    let diagnostic = Diagnostic::new(
        Code::G0101,
        span,
        format!("expected {expected}, found {text}"),
    )
    .label(label);
    with_notes(&place, diagnostic)
}

/// Returns the diagnostic for a known mistake.
fn known(p: &Place<'_, '_>) -> Option<Diagnostic> {
    let Place {
        expected,
        span,
        token,
        ..
    } = *p;
    let text = p.text();
    let named = |code: Code, message: String| Diagnostic::new(code, span, message);
    let tail = matches!(
        token,
        Token::If | Token::AnyOf | Token::AllOf | Token::CountOf | Token::Forall | Token::Exists
    );
    Some(match token {
        Token::Assign if expected.has("==") => {
            named(Code::G0110, "`=` is not a comparison".to_owned())
                .label("it defines a name")
                .note("to compare two values, use `==`")
                .fix("compare with `==`", span, "==")
        }
        Token::FatArrow if expected.has("->") => {
            named(Code::G0110, "`=>` is not an implication".to_owned())
                .label("it separates a condition from an arm, action or update")
                .note("implication is `->`")
                .fix("imply with `->`", span, "->")
        }
        _ if token.is_relation() && expected.has("and") && !expected.has("==") => {
            let near = (1..=4).map(|n| p.before(n)).chain([p.after(1)]);
            let has_time = near.flatten().any(|near| near.token == Token::Duration);
            named(Code::G0101, "comparisons cannot be chained".to_owned())
                .label("this compares the result of a comparison")
                .note(match has_time {
                    true => "a window of time stands behind `count`: `count[0,60s](p) <= 3`",
                    false => "join two comparisons with `and`",
                })
        }
        Token::Within if expected.is_operator() => named(
            Code::G0101,
            "`within` belongs to `leads to` and to rules".to_owned(),
        )
        .label("not allowed after this condition")
        .note("instead of `always (a -> b within 15s)`, write `a leads to b within 15s`, with `or end` if the trace may end first")
        .note(
            "within a formula, write `eventually[0,5] b` (steps) or `eventually[0,15s] b` (time); looking back, \
             `once[0,15s] b`",
        ),
        Token::LeadsTo | Token::Precedes if expected.is_operator() => named(
            Code::G0101,
            format!("`{text}` cannot be chained and must be outermost"),
        )
        .label("put the formula before it, or the one around it, in parentheses"),
        _ if tail && expected.is_value() => {
            named(Code::G0101, format!("`{text}` needs parentheses here"))
                .label("used as the operand of an operator")
                .note(format!(
                    "without parentheses, `{text}` extends as far right as possible"
                ))
        }
        _ if expected.is_name() && !expected.is_value() && token.is_reserved() => named(
            Code::G0101,
            format!("expected a name, found the reserved word `{text}`"),
        )
        .label("expected a name")
        .note(format!("choose another name, such as `{text}_`")),
        _ => return None,
    })
}

fn with_notes(p: &Place<'_, '_>, diagnostic: Diagnostic) -> Diagnostic {
    let Place {
        b, expected, span, ..
    } = *p;
    let text = p.text();
    let before = p.before(1);
    if before.is_some_and(|t| matches!(t.token, Token::LetterE | Token::LetterA)) {
        return diagnostic.note("`A[ ]` and `E[ ]` take a path formula");
    }
    // `15 seconds` is one token: `15s`.
    if let (Some(number), Some(unit)) = (before, unit(text))
        && matches!(number.token, Token::Int | Token::Float)
    {
        let gap = b.span(number.end, span.end);
        return diagnostic
            .note("a duration is a number and its unit without a blank, as in `15s`")
            .fix(format!("write `{unit}` after the number"), gap, unit);
    }
    if lacks_body(p) {
        return diagnostic.note(BODY);
    }
    if !expected.is_operator() {
        if let Some(initial) = initial(p) {
            return diagnostic
                .note("a track has an initial value and an update: `track n: int = 0 when p then n + 1`")
                .fix(format!("begin with `{initial}`"), before_span(p), format!(" = {initial}"));
        }
        if text == "within" && before.is_some_and(|t| t.token.takes_bound()) {
            return diagnostic
                .note("a bound follows its operator: `F[0,5] b`, `eventually[0,60s] b`");
        }
        if let Some((Instead::Note(note), _)) =
            before.and_then(|word| foreign::value(p.slice(word), text))
        {
            return diagnostic.note(note);
        }
        return match expected.near(text) {
            Some(near) => diagnostic.fix(format!("write `{near}`"), span, near),
            None => diagnostic,
        };
    }
    if let Some(own) = foreign::keyword(text, |own| expected.has(own)) {
        return diagnostic.fix(format!("write `{own}`"), span, own);
    }
    match text {
        "is" if expected.has("==") => match p.after(1) {
            Some(not) if not.token == Token::Not => {
                diagnostic.fix("compare with `!=`", b.span(span.start, not.end), "!=")
            }
            Some(word) if matches!(word.token, Token::In | Token::NotIn) => {
                diagnostic.fix("remove `is`", b.span(span.start, word.start), "")
            }
            _ => diagnostic.fix("compare with `==`", span, "=="),
        },
        "within" => diagnostic
            .note("`within` is part of `rule` and of `a leads to b within 60s or end`")
            .note(
                "in a formula the bound follows the operator: `F[0,60s] b`, `eventually[0,60s] b`",
            ),
        "leads" if expected.has("leads to") => diagnostic.fix("write `leads to`", span, "leads to"),
        "starts" | "ends" => match p.after(1).filter(|with| p.slice(with) == "with") {
            Some(with) => {
                let own = format!("{text}_with");
                diagnostic.fix(format!("write `{own}`"), b.span(span.start, with.end), own)
            }
            None => instead(p, diagnostic),
        },
        "{" if expected.has("then") => {
            diagnostic.note("`if` has no braces: write `if condition then a else b`")
        }
        "from" if expected.has("then") => diagnostic
            .note(
                "a track has an initial value and an update: `track xs: list<string> = [] then …`",
            )
            .note("`from` names the source of a field, in `event` and `meta`"),
        _ => instead(p, diagnostic),
    }
}

const BODY: &str =
    "the condition on each element stands after `:`, as in `any y in xs: y == \"a\"`";

/// Whether a quantifier over a list ends here without the condition on its elements.
fn lacks_body(p: &Place<'_, '_>) -> bool {
    let before = &p.tokens[..p.at];
    let quantifier = before
        .iter()
        .rposition(|t| matches!(t.token, Token::AnyOf | Token::AllOf | Token::CountOf));
    p.expected.has(":")
        && p.expected.is_operator()
        && quantifier.is_some_and(|at| {
            let has_colon = before[at..].iter().any(|t| t.token == Token::Colon);
            !has_colon && before.get(at + 2).is_some_and(|t| t.token == Token::In)
        })
}

/// Returns an initial value for a track without one, where its update begins.
fn initial(p: &Place<'_, '_>) -> Option<&'static str> {
    let is_update = matches!(p.token, Token::When | Token::Then);
    if p.item() != Some(Token::Track) || !is_update || !p.expected.has("=") {
        return None;
    }
    Some(match p.slice(p.before(1)?) {
        "int" => "0",
        "float" => "0.0",
        "string" => "\"\"",
        "bool" => "false",
        "duration" => "0s",
        "?" | "json" => "null",
        ">" => "[]",
        _ => return None,
    })
}

/// Returns the place after the token before.
fn before_span(p: &Place<'_, '_>) -> Span {
    p.before(1)
        .map_or(p.span, |before| p.span_of(before))
        .after()
}

/// Says what to write instead of a word where an operator is possible.
fn instead(p: &Place<'_, '_>, diagnostic: Diagnostic) -> Diagnostic {
    let before = p.before(1);
    let word = before.map_or("", |word| p.slice(word));
    let alone = || foreign::operator(word, p.text());
    let (instead, span) = match (alone(), before, foreign::prefix(word)) {
        (Some((instead, true)), Some(word), _) => (instead, p.b.span(word.start, p.span.end)),
        (Some((instead, _)), _, _) => (instead, p.span),
        // a quantifier over a list: `some x in xs: …`
        (None, Some(word), Some(Instead::Write("exists")))
            if p.after(1).is_some_and(|next| next.token == Token::In) =>
        {
            (Instead::Write("any"), p.span_of(word))
        }
        (None, Some(word), Some(instead)) => (instead, p.span_of(word)),
        _ if p.token.ends_operand() => {
            return diagnostic.note("missing operator between two values");
        }
        _ => return diagnostic,
    };
    match instead {
        Instead::Write(own)
            if p.expected.has("->") && !p.expected.has("==") && is_comparison(own) =>
        {
            diagnostic.note(format!(
                "write `{own}`, and the comparison before it in parentheses"
            ))
        }
        Instead::Write(own) => diagnostic.fix(format!("write `{own}`"), span, own),
        Instead::Note(note) => diagnostic.note(note),
    }
}

/// Whether an operator compares, and so cannot follow another comparison.
fn is_comparison(operator: &str) -> bool {
    !matches!(
        operator,
        "->" | "<->" | "forall" | "exists" | "and" | "or" | "since" | "until"
    )
}

fn first_on_line(tokens: &[Lexeme], span: Span) -> bool {
    tokens
        .iter()
        .any(|lexeme| lexeme.start == span.start && lexeme.first_on_line)
}

/// Returns the text of a token if it is short, otherwise its kind.
fn shown(b: &Builder<'_>, span: Span, token: Token) -> String {
    let text = b.slice(span.start, span.end);
    if text.is_empty() || text.len() > 30 || text.contains('\n') {
        match token {
            Token::String | Token::Regex | Token::Name => token.text().to_owned(),
            _ => format!("`{}`", token.text()),
        }
    } else {
        format!("`{text}`")
    }
}
