//! Obligations of one event towards another: what triggers, and what must answer.

use super::atom::content;
use super::clause::{Sub, trimmed};
use super::condition::{Reader, has_verb};
use super::lexicon::Tag;
use super::lexicon::words::{AGENTS, among, is_answer, is_answering};
use super::main_clause::{Main, trim_by};
use super::number::{Measure, Unit};
use super::oblige::Context;
use super::reading::{Doubt, Modality, Reading};
use super::timing::{Timing, deadline};
use super::token::Kind;
use super::trigger::{is_reduced_relative, is_trigger};
use crate::words::formula::{
    Logic, Window, always, eventually, implies, next, once, previously, since,
};

/// What an obligation asks for, and of what.
#[derive(Debug)]
pub(super) struct Answer {
    /// What triggers it, where that stands in the main clause.
    pub(super) trigger: Option<Logic>,
    /// What is asked for.
    pub(super) response: Logic,
    /// Whether it comes in answer to the trigger.
    pub(super) answering: bool,
}

impl Reader {
    /// `a must be followed by b`, `a must be preceded by b`, `a requires b`.
    pub(super) fn relation(&mut self, main: &Main, subs: &[Sub]) -> Result<Option<Reading>, Doubt> {
        let words = main.whole();
        let Some(cut) = words.iter().position(|token| {
            matches!(
                token.tag(),
                Some(
                    Tag::Followed
                        | Tag::Preceded
                        | Tag::Requires
                        | Tag::DirectlyFollowed
                        | Tag::DirectlyPreceded
                )
            )
        }) else {
            return Ok(None);
        };
        let tag = words[cut].tag();
        let first = trimmed(&words[..cut]);
        let second = trim_by(&words[cut + 1..]);
        if content(second).is_empty() || content(first).is_empty() {
            return Ok(None);
        }
        let (second, inner) = Timing::take(second);
        let mut timing = main.timing.merged(inner);
        let mut circumstances = Vec::new();
        for sub in subs {
            match sub.kind {
                Tag::If | Tag::When | Tag::While => {
                    circumstances.push(self.condition(&sub.tokens).ok_or(Doubt::NoSituation)?);
                }
                _ => {}
            }
        }
        let tag = match tag {
            Some(Tag::DirectlyFollowed) => {
                timing.next = true;
                Some(Tag::Followed)
            }
            Some(Tag::DirectlyPreceded) => {
                timing.previous = true;
                Some(Tag::Preceded)
            }
            other => other,
        };
        timing.own |= self.consumed;
        let trigger = self.condition(first).ok_or(Doubt::NoSituation)?;
        let trigger = crate::words::formula::and(std::iter::once(trigger).chain(circumstances));
        self.refer(first);
        let other = self
            .timed(&second, Timing::default())
            .ok_or(Doubt::NoSituation)?;
        let answer = |logic| always(implies(trigger.clone(), logic));
        let one = Measure {
            unit: Unit::Steps,
            ..Measure::count(1)
        };
        let reading = match tag {
            Some(Tag::Followed) if timing.within.is_some() => {
                let bound = timing.within;
                let window = bound.map(deadline);
                Reading::new(Modality::Bounded, answer(eventually(window, other))).bounded(bound)
            }
            Some(Tag::Followed) if timing.next => {
                Reading::new(Modality::Invariant, answer(next(other))).bounded(Some(one))
            }
            Some(Tag::Followed) => {
                Reading::new(Modality::Liveness, answer(eventually(None, other)))
            }
            _ if timing.own => {
                let held = previously(since(crate::words::formula::not(trigger.clone()), other));
                Reading::new(Modality::Precedence, answer(held))
            }
            _ if timing.previous => Reading::new(Modality::Invariant, answer(previously(other))),
            _ if timing.fresh.is_some()
                || tag == Some(Tag::Preceded) && timing.within.is_some() =>
            {
                let bound = timing.fresh.or(timing.within);
                let window = bound.map(|bound| Window::from_now(bound.value, bound.unit));
                Reading::new(Modality::Bounded, answer(once(window, other))).bounded(bound)
            }
            Some(Tag::Preceded) => Reading::new(Modality::Precedence, answer(once(None, other))),
            // `requires`
            _ if timing.within.is_some() => {
                let bound = timing.within;
                let window = bound.map(deadline);
                Reading::new(Modality::Bounded, answer(eventually(window, other))).bounded(bound)
            }
            _ if timing.next => {
                Reading::new(Modality::Invariant, answer(next(other))).bounded(Some(one))
            }
            _ if timing.eventually => {
                Reading::new(Modality::Liveness, answer(eventually(None, other)))
            }
            _ if timing.earlier => Reading::new(Modality::Precedence, answer(once(None, other))),
            _ => Reading::new(Modality::Invariant, answer(other)).supposing(0.85),
        };
        Ok(Some(reading))
    }

    /// What triggers an obligation from within the main clause, and what it asks for.
    pub(super) fn trigger_and_response(
        &mut self,
        main: &Main,
        context: &Context,
    ) -> Result<Answer, Doubt> {
        let triggered = context.trigger.is_some() || context.before.is_some();
        let timing = main.timing.merged(context.timing);
        let relational = timing.is_future() || timing.previous || timing.fresh.is_some();
        // `the server shall furnish a response to every query`
        if !triggered
            && let Some(at) = main
                .predicate
                .iter()
                .position(|token| token.is(Tag::Every))
                .filter(|at| *at > 0)
            && matches!(
                main.predicate[at - 1].low.as_str(),
                "to" | "for" | "of" | "after" | "on" | "with"
            )
        {
            let trigger = self
                .condition(&main.predicate[at..])
                .ok_or(Doubt::NoSituation)?;
            let mut words = main.subject.clone();
            words.extend_from_slice(&main.predicate[..at - 1]);
            let response = self.condition(&words).ok_or(Doubt::NoSituation)?;
            return Ok(Answer {
                trigger: Some(trigger),
                response,
                answering: words.iter().any(|token| is_answer(&token.stem)),
            });
        }
        // `answer each question`: the question is the trigger.
        if !triggered
            && let Some(at) = main
                .predicate
                .iter()
                .position(|token| token.is(Tag::Every))
                .filter(|at| (1..=2).contains(at))
            && main.predicate[..at]
                .iter()
                .all(|token| token.kind == Kind::Word)
        {
            let trigger = self
                .condition(&main.predicate[at..])
                .ok_or(Doubt::NoSituation)?;
            let response = self.condition(&main.whole()).ok_or(Doubt::NoSituation)?;
            if trigger != response {
                return Ok(Answer {
                    trigger: Some(trigger),
                    response,
                    answering: main
                        .predicate
                        .first()
                        .is_some_and(|first| is_answer(&first.stem)),
                });
            }
        }
        if !triggered && !main.subject.is_empty() {
            // `Skill results arrive within 5 steps`: what they are results of is the trigger.
            if timing.within.is_some()
                && let Some(head) = main
                    .subject
                    .iter()
                    .rposition(|token| token.kind == Kind::Word && is_answer(&token.stem))
                && head + 1 == main.subject.len()
                && !content(&main.subject[..head]).is_empty()
                && !main.subject[0].word("the")
            {
                let trigger = self.atom(&main.subject[..head]).ok_or(Doubt::NoSituation)?;
                let response = self.condition(&main.whole()).ok_or(Doubt::NoSituation)?;
                return Ok(Answer {
                    trigger: Some(trigger),
                    response,
                    answering: main
                        .predicate
                        .first()
                        .is_some_and(|first| is_answering(&first.stem)),
                });
            }
            let stative_subject = is_reduced_relative(&main.subject)
                || main.subject.iter().any(|token| {
                    token.is(Tag::Relative)
                        || matches!(
                            token.low.as_str(),
                            "whatever" | "anything" | "everything" | "whoever"
                        )
                });
            // `Every proposal must be decided on within 3 steps`: whichever it is, from when it is there.
            let each = main.subject.first().is_some_and(|first| {
                matches!(first.tag(), Some(Tag::Every | Tag::Any))
                    && (timing.is_future() || timing.eventually || timing.some_point)
                    || matches!(first.low.as_str(), "a" | "an") && timing.within.is_some()
            }) && main.predicate.first().is_some_and(|first| first.word("be"))
                && !main.subject.iter().any(|token| among(AGENTS, &token.low));
            if (is_trigger(&main.subject) || each)
                && !content(&main.predicate).is_empty()
                && (relational || stative_subject || said_of_event(main))
            {
                let trigger = self.condition(&main.subject).ok_or(Doubt::NoSituation)?;
                self.refer(&main.subject);
                let response = match self.condition(&main.predicate) {
                    Some(response) => response,
                    None => return Err(Doubt::NoSituation),
                };
                if trigger != response {
                    return Ok(Answer {
                        trigger: Some(trigger),
                        response,
                        answering: main
                            .predicate
                            .first()
                            .is_some_and(|first| is_answering(&first.stem)),
                    });
                }
            }
        }
        let response = self
            .response(main)
            .ok_or_else(|| super::main_clause::reference_or_nothing(&main.predicate))?;
        Ok(Answer {
            trigger: None,
            response,
            answering: false,
        })
    }

    /// What the main clause asks for, as one condition.
    fn response(&mut self, main: &Main) -> Option<Logic> {
        if main.predicate.is_empty() || content(&main.predicate).is_empty() {
            return self.timed(&main.whole(), Timing::default());
        }
        self.timed(
            &super::main_clause::without_staying(&main.whole()),
            Timing::default(),
        )
    }
}

/// Whether what is said of an event is that something comes of it: `gets an answer`, `must be acknowledged`.
fn said_of_event(main: &Main) -> bool {
    let answering = main
        .predicate
        .first()
        .is_some_and(|first| is_answering(&first.stem));
    let perfect = main.predicate.iter().any(|token| token.low == "been");
    answering || perfect || has_verb(&main.predicate)
}
