//! Noun phrases that name an event, so that each one is a trigger.

use super::atom::{carries, content};
use super::clause::trimmed;
use super::condition::has_verb;
use super::lexicon::Tag;
use super::lexicon::words::{AGENTS, DETERMINERS, among, is_event};
use super::main_clause::Main;
use super::token::{Kind, Token};

/// Whether a noun phrase names an event that happens again and again, so that each of them is a trigger.
pub(super) fn is_trigger(tokens: &[Token]) -> bool {
    let tokens = trimmed(tokens);
    let Some(first) = tokens.first() else {
        return false;
    };
    let named = tokens.iter().any(|token| token.kind == Kind::Name);
    let every = matches!(first.tag(), Some(Tag::Every | Tag::Any))
        || matches!(
            first.low.as_str(),
            "a" | "an"
                | "whatever"
                | "anything"
                | "everything"
                | "something"
                | "whoever"
                | "anyone"
                | "anybody"
        );
    let definite = first.kind == Kind::Word && among(DETERMINERS, &first.low) && !every;
    let plural = !definite && !every;
    if definite && !named {
        return false;
    }
    if matches!(
        first.low.as_str(),
        "whatever" | "anything" | "everything" | "whoever" | "something"
    ) {
        return true;
    }
    // A gerund: `deleting backups`.
    if plural && first.low.len() > 4 && first.low.ends_with("ing") {
        return true;
    }
    let head_end = tokens
        .iter()
        .position(|token| {
            token
                .tag()
                .is_some_and(|tag| !matches!(tag, Tag::Every | Tag::Any))
        })
        .unwrap_or(tokens.len());
    let head = &tokens[..head_end];
    // What is done to a thing makes an event of it: `a record fetched from`, `recalled entries`, `a call that was made`.
    let done = tokens.iter().any(|token| {
        token.kind == Kind::Word
            && token.low.len() > 4
            && token.low.ends_with("ed")
            && !among(&["red"], &token.low)
            || token.is(Tag::Relative)
    });
    let agent = head
        .iter()
        .rfind(|token| carries(token))
        .is_some_and(|last| among(AGENTS, &last.low));
    let event = head.iter().any(|token| {
        is_event(&token.stem)
            || ["ion", "ions", "ment", "ments", "als"]
                .iter()
                .any(|ending| token.low.len() > 6 && token.low.ends_with(ending))
            || token.kind == Kind::Name
    });
    if is_reduced_relative(tokens) {
        return true;
    }
    !agent && (event || done) && !content(head).is_empty() || done && every && !has_verb(head)
}

/// `every skill the planner selects`: a noun, then a clause about it without `that`.
pub(super) fn is_reduced_relative(subject: &[Token]) -> bool {
    let inner = (2..subject.len().saturating_sub(1)).find(|at| {
        let token = &subject[*at];
        token.kind == Kind::Word && among(DETERMINERS, &token.low) && carries(&subject[at - 1])
    });
    let last = subject.last().filter(|last| last.kind == Kind::Word);
    inner.is_some() && last.is_some_and(|last| last.low.ends_with('s') || last.low.ends_with("ed"))
}

/// `facing a red light`: where a participle after a noun begins, and what it is said of ends.
pub(super) fn participle(subject: &[Token]) -> Option<(usize, usize)> {
    let at = (1..subject.len()).find(|at| {
        let token = &subject[*at];
        token.kind == Kind::Word
            && token.low.len() > 4
            && token.low.ends_with("ing")
            && *at + 1 < subject.len()
            && !is_event(&token.stem)
            && carries(&subject[at - 1])
            && subject[0].kind == Kind::Word
            && among(DETERMINERS, &subject[0].low)
    })?;
    Some((at, at))
}

/// Physical acts are done anew each time: `a driver shall signal before changing lanes`.
pub(super) fn repeated_manoeuvre(main: &Main) -> bool {
    let generic = main
        .subject
        .first()
        .is_some_and(|first| matches!(first.low.as_str(), "a" | "an") || first.is(Tag::Every));
    let mover = main.subject.iter().any(|token| {
        matches!(
            token.low.as_str(),
            "driver"
                | "vehicle"
                | "car"
                | "cyclist"
                | "truck"
                | "bus"
                | "tram"
                | "drone"
                | "robot"
                | "ship"
                | "pilot"
                | "forklift"
        )
    });
    generic && mover
}
