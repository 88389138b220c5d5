//! From the generated parser's error to a diagnostic.

use super::expected::Expected;
use super::unit;
use crate::actions::Builder;
use crate::diagnostic::{Code, Diagnostic};
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
        } else {
            diagnostic
        };
    };
    let text = if span.is_empty() {
        "the end of the line".to_owned()
    } else {
        shown(b, span, token)
    };
    if let Some(diagnostic) =
        known(b, &expected, span, token).or_else(|| elsewhere(b, &expected, span, token, tokens))
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
    with_notes(b, diagnostic, &expected, span, token, tokens)
}

/// Returns the diagnostic for a known mistake.
fn known(b: &Builder<'_>, expected: &Expected, span: Span, token: Token) -> Option<Diagnostic> {
    let text = b.slice(span.start, span.end);
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
            named(Code::G0101, "comparisons cannot be chained".to_owned())
                .label("this compares the result of a comparison")
                .note("join two comparisons with `and`")
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

/// Returns the diagnostic for operators and forms of other languages.
fn elsewhere(
    b: &Builder<'_>,
    expected: &Expected,
    span: Span,
    token: Token,
    tokens: &[Lexeme],
) -> Option<Diagnostic> {
    let at = tokens
        .iter()
        .position(|lexeme| lexeme.start == span.start)?;
    let before = at.checked_sub(1).map(|index| &tokens[index]);
    let joined = before.filter(|before| before.end == span.start);
    let pair = joined.map(|before| b.span(before.start, span.end));
    Some(match (joined.map(|before| before.token), token) {
        (Some(Token::Less), Token::Greater) if expected.is_value() => {
            let pair = pair?;
            Diagnostic::new(Code::G0110, pair, "`<>` is not an operator").fix(
                "write `!=`",
                pair,
                "!=",
            )
        }
        (Some(Token::Plus | Token::Minus), Token::Assign) if expected.is_value() => {
            let pair = pair?;
            let operator = b.slice(pair.start, pair.end);
            Diagnostic::new(Code::G0110, pair, format!("`{operator}` is not an operator"))
                .note("an update gives the new value: `track n: int = 0 when p then n + 1`")
        }
        (Some(before), Token::Less) if expected.is_value() && before.takes_bound() => {
            Diagnostic::new(Code::G0110, span, "a bound includes its end")
                .label("expected `<=`")
                .fix("write `<=`", span, "<=")
        }
        (Some(Token::Star), Token::Star) if expected.is_value() => {
            Diagnostic::new(Code::G0110, pair?, "`**` is not an operator")
                .note("there are no powers: write the product, as in `n * n`")
        }
        (_, Token::Question) if expected.is_operator() => {
            Diagnostic::new(Code::G0110, span, "`? :` is not an operator")
                .note("write `if condition then a else b`; a value in place of null is `a ?? b`")
        }
        (_, Token::Comma) if expected.is_operator() => {
            let open = opening(tokens, at)?;
            let word = open.checked_sub(1).map(|index| tokens[index].token)?;
            if tokens[open].token != Token::LParen || !matches!(word, Token::In | Token::NotIn) {
                return None;
            }
            let open = b.span(tokens[open].start, tokens[open].end);
            let diagnostic = Diagnostic::new(Code::G0101, span, "lists are written in `[ ]`")
                .label("`( )` encloses one value")
                .also(open, "opened here");
            match closing(tokens, at) {
                Some(close) => {
                    let close = b.span(close.start, close.end);
                    let edits = vec![(open, "[".to_owned()), (close, "]".to_owned())];
                    diagnostic.fix_all("write `[ ]`", edits)
                }
                None => diagnostic,
            }
        }
        (_, Token::Colon | Token::DotDot) if expected.is_operator() && expected.has("]") => {
            Diagnostic::new(Code::G0101, span, "a part of a list or text is not taken in `[ ]`")
                .label("expected an operator or `]`")
                .note("write `slice(x, 0, 2)` for the elements or characters at positions 0 and 1, `xs.drop(2)` for those after them")
        }
        (_, Token::In) if expected.has(")") => {
            let open = opening(tokens, at)?;
            let word = open.checked_sub(1).map(|index| tokens[index].token)?;
            if !matches!(word, Token::Forall | Token::Exists) {
                return None;
            }
            Diagnostic::new(Code::G0101, span, "a range stands after all quantified names")
                .label("expected `)` or `,`")
                .note("write `forall (a, b) in e`: both take the values of `e`; one name alone needs no parentheses, as in `forall a in e`")
        }
        (_, Token::LBrace) if before.is_some_and(|word| b.slice(word.start, word.end) == "enum") => {
            let word = before?;
            Diagnostic::new(
                Code::G0101,
                b.span(word.start, span.end),
                "an enum is declared as an item of its own",
            )
            .label("an enum without a name")
            .note("declare it above, `enum Color { red, green }`, and give the field its name as the type: `color: Color`")
        }
        (_, Token::RBracket)
            if expected.has("#duration")
                && before.is_some_and(|comma| comma.token == Token::Comma) =>
        {
            Diagnostic::new(Code::G0101, span, "a bound needs an upper end")
                .label("expected a number of steps or a duration")
                .note("for *at least 10 minutes*, take an upper end that no run reaches: `once[10m,1000d] a`")
        }
        (_, Token::Dot) if expected.has("#string") || expected.has(":") || expected.has("=") => {
            let name = before.filter(|name| name.token == Token::Name)?;
            if at != 2 || !tokens[0].token.begins_item() {
                return None;
            }
            let rest = tokens[at..].iter().take_while(|lexeme| {
                matches!(
                    lexeme.token,
                    Token::Dot | Token::Name | Token::Int | Token::Float
                )
            });
            let end = rest.last().map_or(span.end, |lexeme| lexeme.end);
            let whole = b.span(name.start, end);
            let dotted = b.slice(name.start, end);
            let plain = dotted.replace('.', "_");
            let start = b.span(tokens[0].start, tokens[0].end).before();
            let edits = vec![
                (start, format!("@id(\"{dotted}\")\n")),
                (whole, plain.clone()),
            ];
            Diagnostic::new(Code::G0101, whole, "names have no dots")
                .label("expected a name")
                .fix_all(
                    format!("name it `{plain}` and write `@id(\"{dotted}\")` above"),
                    edits,
                )
        }
        (_, _) if b.slice(span.start, span.end) == "from" => {
            let from = tokens.get(at + 1).filter(|t| t.token == Token::String)?;
            let equals = tokens[..at]
                .iter()
                .rev()
                .find(|t| t.token == Token::Assign)?;
            let default = b.slice(equals.end, span.start).trim();
            if default.contains('\n') || !matches!(tokens[0].token, Token::Event | Token::Trace) {
                return None;
            }
            let path = b.slice(from.start, from.end);
            let turned = format!("from {path} = {default}");
            Diagnostic::new(Code::G0101, span, "`from` stands before the default")
                .label("after the default")
                .fix(
                    format!("write `{turned}`"),
                    b.span(equals.start, from.end),
                    turned.clone(),
                )
        }
        _ => return None,
    })
}

/// Returns the index of the bracket that is open before the token at `index`.
fn opening(tokens: &[Lexeme], index: usize) -> Option<usize> {
    let mut depth = 0u32;
    for (place, lexeme) in tokens[..index].iter().enumerate().rev() {
        match lexeme.token {
            Token::RParen | Token::RBracket | Token::RBrace => depth += 1,
            Token::LParen | Token::LBracket | Token::LBrace if depth == 0 => return Some(place),
            Token::LParen | Token::LBracket | Token::LBrace => depth -= 1,
            _ => {}
        }
    }
    None
}

/// Returns the bracket that closes the one that is open at the token at `index`.
fn closing(tokens: &[Lexeme], index: usize) -> Option<&Lexeme> {
    let mut depth = 0u32;
    for lexeme in &tokens[index..] {
        match lexeme.token {
            Token::LParen | Token::LBracket | Token::LBrace => depth += 1,
            Token::RParen | Token::RBracket | Token::RBrace if depth == 0 => return Some(lexeme),
            Token::RParen | Token::RBracket | Token::RBrace => depth -= 1,
            _ => {}
        }
    }
    None
}

fn with_notes(
    b: &Builder<'_>,
    diagnostic: Diagnostic,
    expected: &Expected,
    span: Span,
    token: Token,
    tokens: &[Lexeme],
) -> Diagnostic {
    let text = b.slice(span.start, span.end);
    let before = tokens.iter().rev().find(|lexeme| lexeme.end <= span.start);
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
    if !expected.is_operator() {
        if text == "within" && before.is_some_and(|t| t.token.takes_bound()) {
            return diagnostic
                .note("a bound follows its operator: `F[0,5] b`, `eventually[0,60s] b`");
        }
        if text == "if" && expected.has("when") {
            return diagnostic.fix("write `when`", span, "when");
        }
        return match expected.near(text) {
            Some(near) => diagnostic.fix(format!("write `{near}`"), span, near),
            None => diagnostic,
        };
    }
    match text {
        "implies" => diagnostic.fix("imply with `->`", span, "->"),
        "iff" => diagnostic.fix("write `<->`", span, "<->"),
        "is" => match tokens.iter().find(|lexeme| lexeme.start >= span.end) {
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
        "per" => diagnostic.note(
            "to judge each value, quantify over it: `forall t: always (count(tool == t) <= 3)`",
        ),
        "{" if expected.has("then") => {
            diagnostic.note("`if` has no braces: write `if condition then a else b`")
        }
        "from" if expected.has("then") => diagnostic
            .note(
                "a track has an initial value and an update: `track xs: list<string> = [] then …`",
            )
            .note("`from` names the source of a field, in `event` and `meta`"),
        _ if token.ends_operand() => diagnostic.note("missing operator between two values"),
        _ => diagnostic,
    }
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
