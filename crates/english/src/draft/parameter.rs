//! What ties one situation to another: *that* call, *its* response, *the same* id.

use super::lexicon::Tag;
use super::lexicon::words::{AGENTS, among};
use super::token::{Kind, Token};
use crate::words::{Logic, Unary};

/// The name of what ties the atoms of a formula to one another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key(String);

impl Key {
    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The key that a sentence ties its situations by; none where it speaks of one situation, or of things that nothing ties.
pub(super) fn key(tokens: &[Token], atoms: &[usize], logic: &Logic) -> Option<Key> {
    if atoms.len() < 2 {
        return None;
    }
    let named = |token: &Token| {
        let plain = token.kind == Kind::Word && token.low.chars().all(|c| c.is_ascii_alphabetic());
        (plain && super::atom::carries(token) && !among(AGENTS, &token.low))
            .then(|| token.low.to_string())
    };
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1);
        let after = tokens.get(at + 2);
        let pointing = match token.low.as_str() {
            "same" | "corresponding" | "respective" | "matching" => next,
            "that" | "this" | "said" if token.kind == Kind::Word && at > 0 => next,
            "very" => next,
            _ => None,
        };
        if let Some(name) = pointing.and_then(named) {
            // `that request id`
            let id = after.filter(|after| after.word("id") || after.word("number"));
            return Some(Key(
                id.map_or(name.clone(), |id| format!("{name}_{}", id.low))
            ));
        }
    }
    // `a lock that was acquired must be released`: what is spoken of at two steps is one thing.
    if relates_steps(logic)
        && let Some(at) = tokens.iter().position(|token| token.is(Tag::Relative))
        && let Some(noun) = at.checked_sub(1).and_then(|before| named(&tokens[before]))
    {
        return Some(Key(singular(&noun).to_owned()));
    }
    let pronoun = tokens
        .iter()
        .position(|token| {
            token.kind == Kind::Word
                && matches!(token.low.as_str(), "it" | "its" | "their" | "them")
        })
        .filter(|at| *at > 0)?;
    // What it stands for: the last noun of the first noun phrase.
    let noun = tokens[..pronoun]
        .iter()
        .take_while(|token| !matches!(token.kind, Kind::Comma))
        .filter_map(named)
        .last()?;
    Some(Key(singular(&noun).to_owned()))
}

fn singular(noun: &str) -> &str {
    noun.strip_suffix('s')
        .filter(|base| !base.ends_with('s') && base.len() > 2)
        .unwrap_or(noun)
}

/// Whether what is said of every step speaks of other steps.
fn relates_steps(logic: &Logic) -> bool {
    match logic {
        Logic::Unary(Unary::Always, None, inner) => match inner.as_ref() {
            Logic::Implies(a, b) => !(a.is_state() && b.is_state()),
            inner => !inner.is_state(),
        },
        Logic::Not(inner) => match inner.as_ref() {
            Logic::Unary(Unary::Eventually, None, scene) => !scene.is_state(),
            _ => false,
        },
        _ => false,
    }
}
