//! Constructions of English that another one says as well: the words are put in the order that the reader knows.

use super::atom::carries;
use super::lexicon::Tag;
use super::lexicon::words::{AUXILIARIES, among};
use super::token::{Kind, Token};

/// Before function words are marked.
pub(super) fn plain(tokens: Vec<Token>) -> Vec<Token> {
    neither(tokens)
}

/// Once function words are marked.
pub(super) fn marked(tokens: Vec<Token>) -> Vec<Token> {
    relative(insisting(inverted(sequence(tokens))))
}

/// The token with another word.
fn word(token: &Token, low: &str) -> Token {
    let mut token = token.clone();
    token.low = low.into();
    token.stem = super::stem::stem(low);
    token
}

fn mark(token: &Token, tag: Tag) -> Token {
    let mut token = token.clone();
    token.kind = Kind::Mark(tag, None);
    token
}

/// `neither a nor b may` is `no a or b may`, `must neither a nor b` is `must not a or b`, and `is neither a nor b` is `is
/// not a and not b`.
fn neither(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut both = None;
    for token in tokens {
        if token.word("neither") {
            let before = out.last();
            let leads = before
                .is_none_or(|before| matches!(before.kind, Kind::Comma | Kind::Stop | Kind::Colon));
            let modal = before.is_some_and(|before| {
                among(
                    &["must", "shall", "should", "may", "can", "will", "to"],
                    &before.low,
                )
            });
            both = Some(!leads && !modal);
            out.push(word(&token, if leads { "no" } else { "not" }));
        } else if token.word("nor")
            && let Some(both) = both
        {
            if out.last().is_some_and(|before| before.kind == Kind::Comma) {
                out.pop();
            }
            out.push(word(&token, if both { "and" } else { "or" }));
            if both {
                out.push(word(&token, "not"));
            }
        } else {
            out.push(token);
        }
    }
    out
}

/// `opening the safe, then leaving the room`: where no condition stands in front, `then` tells what comes after.
fn sequence(tokens: Vec<Token>) -> Vec<Token> {
    let gerund = |token: Option<&Token>| {
        token.is_some_and(|token| token.kind == Kind::Word && token.low.ends_with("ing"))
    };
    let then = tokens.iter().position(|token| token.is(Tag::Then));
    let Some(then) = then.filter(|then| {
        *then > 1
            && tokens[then - 1].kind == Kind::Comma
            && gerund(tokens.first())
            && gerund(tokens.get(then + 1))
    }) else {
        return tokens;
    };
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.into_iter().enumerate() {
        if token.kind == Kind::Comma {
            continue;
        }
        out.push(if at == then {
            mark(&token, Tag::AndThen)
        } else {
            token
        });
    }
    out
}

/// `should the link break, it must …` is `if the link breaks`.
fn inverted(mut tokens: Vec<Token>) -> Vec<Token> {
    let inverts = tokens.first().is_some_and(|first| first.low == "should")
        && tokens.iter().any(|token| token.kind == Kind::Comma)
        && tokens
            .iter()
            .skip(1)
            .any(|token| token.tag().is_some_and(super::clause::is_deontic));
    if inverts && let Some(first) = tokens.first_mut() {
        *first = mark(first, Tag::If);
    }
    tokens
}

/// `until it is full, which has to happen` is `until it is full, and it has to happen`.
fn insisting(tokens: Vec<Token>) -> Vec<Token> {
    let insists = (1..tokens.len()).find(|at| {
        tokens[at - 1].kind == Kind::Comma
            && tokens[*at].is(Tag::Relative)
            && tokens.get(at + 1).is_some_and(|next| next.is(Tag::Must))
            && tokens.get(at + 2).is_some_and(|verb| {
                verb.kind == Kind::Word && among(&["happen", "occur", "come"], &verb.low)
            })
    });
    let Some(at) = insists.filter(|at| tokens[..*at].iter().any(|token| token.is(Tag::Until)))
    else {
        return tokens;
    };
    let mut it = word(&tokens[at], "it");
    it.kind = Kind::Word;
    [
        &tokens[..at - 1],
        &[mark(&tokens[at], Tag::And), it],
        &tokens[at + 1..],
    ]
    .concat()
}

/// `a change nobody has reviewed` is `a change that nobody has reviewed`.
fn relative(tokens: Vec<Token>) -> Vec<Token> {
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len() + 1);
    for (at, token) in tokens.iter().enumerate() {
        let verb = tokens
            .get(at + 1)
            .is_some_and(|next| next.kind == Kind::Word && among(AUXILIARIES, &next.low));
        if token.is(Tag::Nobody) && verb && out.last().is_some_and(carries) {
            out.push(mark(token, Tag::Relative));
        }
        out.push(token.clone());
    }
    out
}
