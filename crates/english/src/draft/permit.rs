//! What may be: only under a condition, only what belongs to a set, only so often.

use super::atom::content;
use super::clause::{Sub, distance, trimmed};
use super::condition::{Reader, has_verb, subject_of};
use super::lexicon::Tag;
use super::main_clause::{
    Force, Main, count_limit, reference_or_nothing, split_at_verb, stays, vec_of_head,
    without_number_of, without_staying,
};
use super::prohibit::Scene;
use super::reading::{Doubt, Modality, Reading};
use super::timing::{Timing, deadline};
use super::token::{Kind, Token};
use crate::words::formula::{
    Logic, NESTED, Window, always, and, eventually, implies, next, not, occurrences, once,
    previously, since,
};

impl Reader {
    /// The reading of a permission.
    pub(super) fn permission(&mut self, main: &Main, subs: &[Sub]) -> Result<Reading, Doubt> {
        let timing = main.timing;
        let words = main.whole();
        if let Some(limit) = count_limit(timing, main) {
            self.span_of_count = timing.within;
            self.always_counted = timing.always || timing.same;
            return self.count(&words, limit, subs);
        }
        // `may stay open for at most 30 seconds`
        if let Some(longest) = timing.within.filter(|_| stays(&main.predicate)) {
            let state = self
                .atom(&without_staying(&words))
                .ok_or(Doubt::NoSituation)?;
            let within = eventually(Some(deadline(longest)), not(state.clone()));
            return Ok(
                Reading::new(Modality::Bounded, always(implies(state, within)))
                    .bounded(Some(longest)),
            );
        }
        let only = main.only || subs.iter().any(|sub| sub.only);
        if !only {
            return Err(Doubt::Permission);
        }
        let act = self.condition(&words).ok_or(Doubt::NoSituation)?;
        self.only(act, main, subs)
    }

    /// `p only if q`, in all its forms.
    pub(super) fn only(&mut self, act: Logic, main: &Main, subs: &[Sub]) -> Result<Reading, Doubt> {
        let chosen = subs
            .iter()
            .position(|sub| sub.only)
            .or_else(|| subs.iter().position(|sub| sub.kind != Tag::Since))
            .ok_or(Doubt::Permission)?;
        let sub = &subs[chosen];
        let (words, mut timing) = Timing::take(&sub.tokens);
        timing = timing.merged(main.timing.placing());
        let revoked = self.revocation(&words, subs)?;
        let mut words = words;
        if let Some((cut, _)) = revoked {
            words.truncate(cut.min(words.len()));
        }
        let condition = self
            .timed(&words, Timing::default())
            .ok_or_else(|| reference_or_nothing(&sub.tokens))?;
        let mut extra = Vec::new();
        for (index, other) in subs.iter().enumerate() {
            if index != chosen && matches!(other.kind, Tag::If | Tag::When | Tag::While) {
                extra.push(self.condition(&other.tokens).ok_or(Doubt::NoSituation)?);
            }
        }
        let act = and(std::iter::once(act).chain(extra));
        if let Some((_, revoked)) = revoked {
            let held = previously(since(not(revoked), condition));
            return Ok(Reading::new(
                Modality::Precedence,
                always(implies(act, held)),
            ));
        }
        if timing.own {
            let held = previously(since(not(act.clone()), condition));
            return Ok(Reading::new(
                Modality::Precedence,
                always(implies(act, held)),
            ));
        }
        let fresh = timing
            .fresh
            .or(timing.within.filter(|_| sub.kind == Tag::After));
        if let Some(fresh) = fresh.or(sub.measure) {
            let window = Window::from_now(fresh.value, fresh.unit);
            let held = once(Some(window), condition);
            return Ok(
                Reading::new(Modality::Bounded, always(implies(act, held))).bounded(Some(fresh))
            );
        }
        let after = matches!(sub.kind, Tag::After | Tag::Once) || timing.earlier;
        if timing.previous || matches!(sub.kind, Tag::RightAfter | Tag::StepAfter) {
            return Ok(Reading::new(
                Modality::Invariant,
                always(implies(act, previously(condition))),
            ));
        }
        if timing.next {
            return Ok(Reading::new(
                Modality::Invariant,
                always(implies(act, next(condition))),
            ));
        }
        if after {
            return Ok(Reading::new(
                Modality::Precedence,
                always(implies(act, once(None, condition))),
            ));
        }
        match sub.kind {
            Tag::Before | Tag::Until => {
                let scene = Scene {
                    act: Some(act),
                    after: Some(condition),
                    ..Scene::default()
                };
                scene.forbidden()
            }
            Tag::RightBefore => Ok(Reading::new(
                Modality::Invariant,
                always(implies(act, next(condition))),
            )),
            _ => Ok(Reading::new(
                Modality::Invariant,
                always(implies(act, condition)),
            )),
        }
    }

    /// `given and not withdrawn`, `checked since it was read`: where the second begins, and what revokes.
    fn revocation(
        &mut self,
        words: &[Token],
        subs: &[Sub],
    ) -> Result<Option<(usize, Logic)>, Doubt> {
        if let Some(since) = subs.iter().find(|sub| sub.kind == Tag::Since) {
            let words: Vec<Token> = since
                .tokens
                .iter()
                .filter(|token| !token.word("last"))
                .cloned()
                .collect();
            let revoked = self.condition(&words).ok_or(Doubt::NoSituation)?;
            return Ok(Some((usize::MAX, revoked)));
        }
        let cut = (1..words.len().saturating_sub(1)).find(|at| {
            matches!(words[*at].tag(), Some(Tag::And | Tag::But))
                && words[at + 1..]
                    .iter()
                    .take(3)
                    .any(|token| token.is(Tag::Not))
        });
        let Some(cut) = cut else {
            return Ok(None);
        };
        let perfect = words[..cut]
            .iter()
            .any(|token| matches!(token.low.as_str(), "has" | "have" | "was" | "were" | "been"));
        if !perfect {
            return Ok(None);
        }
        let mut second: Vec<Token> = words[cut + 1..]
            .iter()
            .filter(|token| !token.is(Tag::Not))
            .cloned()
            .collect();
        if subject_of(&second).is_empty() || !has_verb(&second) {
            second.splice(0..0, subject_of(words).iter().cloned());
        }
        let revoked = self.condition(&second).ok_or(Doubt::NoSituation)?;
        Ok(Some((cut, revoked)))
    }

    /// `only these`, `nothing but`, `no others`.
    pub(super) fn allowlist(
        &mut self,
        main: &Main,
        subs: &[Sub],
    ) -> Result<Option<Reading>, Doubt> {
        let words = main.whole();
        let has = |tag: Tag| words.iter().position(|token| token.is(tag));
        let conditional = subs.iter().any(|sub| sub.only)
            || main.only && subs.iter().any(|sub| !matches!(sub.kind, Tag::Outside));
        let pair = |reader: &mut Reader, act: &[Token], member: &[Token]| {
            let act = reader.condition(act)?;
            let member = reader.atom(member)?;
            (act != member).then_some((act, member))
        };
        let found = if let Some(cut) = has(Tag::Confined) {
            let (act, member) = (&words[..cut], &words[cut + 1..]);
            pair(self, act, member)
        } else if let Some(cut) = has(Tag::NothingElse).filter(|cut| *cut > 0) {
            let mut all = words[..cut].to_vec();
            all.extend_from_slice(&words[cut + 1..]);
            self.use_of(&all)
        } else if let Some(cut) = has(Tag::Except)
            .or_else(|| has(Tag::But))
            .filter(|cut| {
                let next = words.get(cut + 1).and_then(Token::tag);
                !matches!(next, Some(Tag::Never | Tag::Not))
            })
            .filter(|_| main.force == Force::Forbid || main.force == Force::Permit)
        {
            let mut act = words[..cut].to_vec();
            act.retain(|token| !matches!(token.tag(), Some(Tag::Any | Tag::No | Tag::Not)));
            let act = act;
            let rest = trimmed(&words[cut + 1..]);
            // `no tools other than a, b may be used`
            let (member, tail) = split_at_verb(rest, main, cut);
            let mut whole = act;
            whole.extend(tail.iter().cloned());
            pair(self, &whole, member)
        } else if let Some(at) = main
            .predicate
            .iter()
            .position(|token| matches!(token.low.as_str(), "are" | "is"))
            && main.subject.iter().take(2).any(|token| token.is(Tag::Only))
            && main.force == Force::Permit
        {
            // `the only tools the agent may use are a and b`
            let act: Vec<Token> = main
                .subject
                .iter()
                .chain(&main.predicate[..at])
                .filter(|token| !token.is(Tag::Only))
                .cloned()
                .collect();
            pair(self, &act, &main.predicate[at + 1..])
        } else if let Some(cut) = has(Tag::Only).filter(|_| !conditional) {
            if cut > 0 && cut + 1 == words.len() {
                self.only_at_the_end(main, &words[..cut])
            } else if cut == 0 {
                // `Only skills in the set may be invoked`
                let member = main.subject.get(1..).unwrap_or_default();
                let mut act = vec_of_head(member);
                act.extend(main.predicate.iter().cloned());
                pair(self, &act, member)
            } else if !content(words.get(main.subject.len()..cut).unwrap_or_default()).is_empty()
                || content(&main.predicate).is_empty()
                || cut < main.subject.len()
                || main.subject.is_empty()
            {
                // `Files get written only to validated paths`
                pair(self, &words[..cut], &words[cut + 1..])
            } else {
                self.only_object(main, &words[cut + 1..])
            }
        } else {
            None
        };
        // `one attempt and no more` is a count.
        let counted = words.iter().any(|token| token.measure().is_some());
        let found = found.filter(|_| has(Tag::NothingElse).is_none() || !counted);
        let Some((act, member)) = found else {
            return Ok(None);
        };
        let mut scene = Scene::default();
        self.circumstances(subs, &mut scene)?;
        let act = and(std::iter::once(act).chain(scene.with));
        Ok(Some(Reading::new(
            Modality::Allowlist,
            always(implies(act, member)),
        )))
    }

    /// `mails may go to addresses of the house only`, `may use approved tools only`
    fn only_at_the_end(&mut self, main: &Main, words: &[Token]) -> Option<(Logic, Logic)> {
        let place = |token: &Token| {
            token.is(Tag::With)
                || matches!(
                    token.low.as_str(),
                    "to" | "in"
                        | "on"
                        | "at"
                        | "by"
                        | "via"
                        | "through"
                        | "into"
                        | "under"
                        | "below"
                )
        };
        let subject = main.subject.len().min(words.len());
        match (subject + 1..words.len()).find(|at| place(&words[*at])) {
            Some(cut) => {
                let act = self.condition(&words[..cut])?;
                let member = self.atom(&words[cut..])?;
                (act != member).then_some((act, member))
            }
            None => self.only_object(main, words.get(subject + 1..)?),
        }
    }

    /// `may only call tools that are in the set`: the act is to call any.
    fn only_object(&mut self, main: &Main, object: &[Token]) -> Option<(Logic, Logic)> {
        let cut = object
            .iter()
            .position(|token| {
                matches!(token.tag(), Some(Tag::Relative | Tag::With))
                    || token.kind == Kind::Name
                    || matches!(
                        token.low.as_str(),
                        "in" | "on" | "under" | "to" | "listed" | "among"
                    )
            })
            .filter(|cut| *cut > 0)
            .unwrap_or(object.len().min(1));
        let mut act = main.subject.clone();
        act.extend_from_slice(&object[..cut]);
        let act = self.atom(&act)?;
        let member = self.atom(&object[cut..])?;
        (act != member).then_some((act, member))
    }

    /// `can use the skills a, b and c, nothing else`: the act is the use, the member what is listed.
    fn use_of(&mut self, words: &[Token]) -> Option<(Logic, Logic)> {
        let named = words
            .iter()
            .position(|token| token.kind == Kind::Name)
            .unwrap_or(words.len());
        let cut = if named < words.len() {
            named
        } else {
            words.len().checked_sub(1)?
        };
        let act = self.atom(&words[..cut])?;
        let member = self.atom(&words[cut..])?;
        (act != member).then_some((act, member))
    }

    /// At most so often.
    pub(super) fn count(
        &mut self,
        words: &[Token],
        limit: u32,
        subs: &[Sub],
    ) -> Result<Reading, Doubt> {
        let words: Vec<Token> = words
            .iter()
            .filter(|token| {
                !matches!(
                    token.tag(),
                    Some(Tag::No | Tag::Not | Tag::Never | Tag::Every | Tag::Any | Tag::Only)
                )
            })
            .cloned()
            .collect();
        if self.always_counted {
            return Err(Doubt::AtOnce);
        }
        let exceeds = words
            .iter()
            .position(|token| matches!(token.low.as_str(), "exceed" | "surpass"));
        let words = without_number_of(&words[..exceeds.unwrap_or(words.len())]);
        let span = |token: &Token| match token.kind {
            Kind::Number(measure) => distance(Some(measure)),
            _ => None,
        };
        let window = words
            .iter()
            .find_map(span)
            .or(self.span_of_count)
            .map(|measure| Window::from_now(measure.value, measure.unit));
        let words: Vec<Token> = words
            .iter()
            .filter(|token| span(token).is_none())
            .cloned()
            .collect();
        let mut event = self.condition(&words).ok_or(Doubt::NoSituation)?;
        for sub in subs {
            if let Some(condition) = self.condition(&sub.tokens) {
                event = and([event, condition]);
            }
        }
        let logic = if window.is_some() || limit > NESTED {
            always(Logic::AtMost(limit, window, Box::new(event)))
        } else {
            not(occurrences(limit.saturating_add(1), &event))
        };
        Ok(Reading::new(Modality::CountLimit, logic).counted(limit))
    }
}
