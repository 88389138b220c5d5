//! From a sentence to its reading: what is asked for, of what, under which conditions, and when.

use super::clause::{Sentence, Sub, trimmed};
use super::condition::{Reader, has_verb};
use super::lexicon::Tag;
use super::main_clause::{Force, Main, described_as_breach, leads};
use super::reading::{Doubt, Modality, Reading};
use super::token::{Kind, Token};
use crate::words::formula::{always, implies};

impl Reader {
    /// The reading of one sentence of one obligation.
    ///
    /// # Errors
    /// What has to be asked first.
    pub(super) fn requirement(
        &mut self,
        tokens: &[Token],
        shared: &[Sub],
    ) -> Result<Reading, Doubt> {
        let tokens = trimmed(tokens);
        if let Some(found) = self.proverb(tokens) {
            return Ok(found);
        }
        if let Some(description) = described_as_breach(tokens) {
            return self.breach(&description);
        }
        let mut sentence = Sentence::split(tokens);
        if !sentence.subs.iter().any(|sub| leads(tokens, sub)) {
            sentence.subs.splice(0..0, shared.iter().cloned());
        }
        if let Some(sub) = sentence.subs.first() {
            self.refer(&sub.tokens);
        }
        let main = Main::new(&sentence.main).ok_or(Doubt::NoObligation)?;
        if !main.subject.is_empty() {
            if sentence.subs.is_empty() || self.subject.is_empty() {
                self.refer(&main.subject);
            }
            self.elided.clone_from(&main.subject);
        }
        if let Some(reading) = self.allowlist(&main, &sentence.subs)? {
            return Ok(reading);
        }
        match main.force {
            Force::Must => self.obligation(&main, &sentence.subs),
            Force::Forbid => self.prohibition(&main, &sentence.subs),
            Force::Permit => self.permission(&main, &sentence.subs),
        }
    }

    /// `No valid token, no skill login.`
    fn proverb(&mut self, tokens: &[Token]) -> Option<Reading> {
        let comma = tokens.iter().position(|token| token.kind == Kind::Comma)?;
        let (first, second) = (trimmed(&tokens[..comma]), trimmed(&tokens[comma + 1..]));
        let bare = |part: &[Token]| {
            part.first().is_some_and(|token| token.is(Tag::No))
                && part[1..]
                    .iter()
                    .all(|token| token.tag().is_none_or(|tag| tag == Tag::With))
                && !has_verb(&part[1..])
        };
        if !bare(first) || !bare(second) {
            return None;
        }
        let needed = self.atom(&first[1..])?;
        let act = self.atom(&second[1..])?;
        Some(Reading::new(
            Modality::Invariant,
            always(implies(act, needed)),
        ))
    }
}
