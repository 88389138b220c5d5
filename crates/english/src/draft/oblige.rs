//! What must be: at which step, after or before what, for how long.

use super::atom::carries;
use super::clause::Sub;
use super::condition::Reader;
use super::lexicon::Tag;
use super::lexicon::vague::Missing;
use super::lexicon::words::{AGENTS, among, is_answer, is_answering, is_staying};
use super::main_clause::{
    Main, count_limit, has_finite_verb, is_active, is_stative, reference_or_nothing, stays,
    without_staying,
};
use super::number::{Measure, Unit};
use super::reading::{Doubt, Modality, Reading};
use super::timing::{Timing, deadline};
use super::token::Token;
use super::trigger::{is_trigger, repeated_manoeuvre};
use crate::words::formula::{
    Logic, Window, always, always_in, and, eventually, implies, next, not, occurrences, once, or,
    previously, since, unless,
};

impl Reader {
    /// The reading of an obligation.
    pub(super) fn obligation(&mut self, main: &Main, subs: &[Sub]) -> Result<Reading, Doubt> {
        let timing = main.timing;
        if let Some(limit) = count_limit(timing, main) {
            self.span_of_count = timing.within;
            self.always_counted = timing.always || timing.same;
            return self.count(&main.whole(), limit, subs);
        }
        if main.only || subs.iter().any(|sub| sub.only) {
            let act = self.condition(&main.whole()).ok_or(Doubt::NoSituation)?;
            return self.only(act, main, subs);
        }
        if !main.said
            && subs.is_empty()
            && timing == Timing::default()
            && !main.whole().iter().any(|token| {
                matches!(
                    token.tag(),
                    Some(Tag::Requires | Tag::Followed | Tag::Preceded)
                )
            })
            && !has_finite_verb(&main.whole())
        {
            return Err(Doubt::NoObligation);
        }
        if main
            .whole()
            .iter()
            .all(|token| !carries(token) || among(AGENTS, &token.low) || token.measure().is_some())
        {
            return Err(reference_or_nothing(&main.whole()));
        }
        // `should be acceptable`: to whom?
        if let Some(quality) = main.predicate.iter().find(|token| token.is(Tag::Allowed)) {
            return Err(Doubt::Vague(Missing::Quality, quality.low.to_string()));
        }
        if let Some(reading) = self.relation(main, subs)? {
            return Ok(reading);
        }
        let mut context = Context::default();
        for sub in subs {
            self.context(sub, &mut context)?;
        }
        let timing = timing.merged(context.timing);
        // `… is a high-risk action: the step before it must be …`
        let answers =
            timing.previous || timing.next || timing.is_future() && is_trigger(&self.topic);
        if answers && context.trigger.is_none() && !self.topic.is_empty() {
            let topic = self.topic.clone();
            context.trigger = self.condition(&topic);
        }
        if let Some(reading) = self.and_stays(main, &context)? {
            return Ok(reading);
        }
        let answer = self.trigger_and_response(main, &context)?;
        context.answering = answer.answering;
        let response = answer.response;
        let trigger = match (context.trigger.clone(), answer.trigger) {
            (Some(a), Some(b)) if a != b => Some(and([a, b])),
            (a, b) => a.or(b),
        };
        Ok(self.required(main, trigger, response, timing, context))
    }

    /// `pull over within 8 seconds and stay stopped until …`: what is reached is kept.
    fn and_stays(&mut self, main: &Main, context: &Context) -> Result<Option<Reading>, Doubt> {
        let Some(release) = context.until.clone() else {
            return Ok(None);
        };
        let cut = main.predicate.iter().enumerate().position(|(at, token)| {
            token.is(Tag::And)
                && at > 0
                && main
                    .predicate
                    .get(at + 1)
                    .is_some_and(|next| is_staying(&next.stem))
        });
        let (Some(cut), Some(trigger)) = (cut, context.trigger.clone()) else {
            return Ok(None);
        };
        let clause = |words: &[Token]| [&main.subject, words].concat();
        let first = self
            .condition(&clause(&main.predicate[..cut]))
            .ok_or(Doubt::NoSituation)?;
        let kept = without_staying(&clause(&main.predicate[cut + 1..]));
        let kept = self.condition(&kept).ok_or(Doubt::NoSituation)?;
        let both = and([first, unless(kept, release)]);
        let timing = main.timing.merged(context.timing);
        let (modality, reached) = match timing.within {
            Some(bound) => (Modality::Bounded, eventually(Some(deadline(bound)), both)),
            None if timing.next => (Modality::Invariant, next(both)),
            None => (Modality::Until, both),
        };
        Ok(Some(
            Reading::new(modality, always(implies(trigger, reached))).bounded(timing.within),
        ))
    }

    /// What a subordinate clause adds to an obligation.
    fn context(&mut self, sub: &Sub, context: &mut Context) -> Result<(), Doubt> {
        let (words, timing) = Timing::take(&sub.tokens);
        let condition = self
            .timed(&words, timing)
            .ok_or_else(|| reference_or_nothing(&sub.tokens))?;
        match sub.kind {
            Tag::If | Tag::When | Tag::Once | Tag::After | Tag::From => {
                context.eventful |= matches!(sub.kind, Tag::Once | Tag::After);
                context.triggered_by = Some(sub.kind);
                context.trigger = Some(conjoined(context.trigger.take(), condition));
            }
            Tag::While => {
                context.holding = true;
                context.trigger = Some(conjoined(context.trigger.take(), condition));
            }
            Tag::RightAfter | Tag::StepAfter => {
                context.trigger = Some(conjoined(context.trigger.take(), condition));
                context.timing.next = true;
            }
            Tag::RightBefore | Tag::StepBefore => {
                context.trigger = Some(conjoined(context.trigger.take(), condition));
                context.timing.previous = true;
            }
            Tag::Within => {
                context.trigger = Some(conjoined(context.trigger.take(), condition));
                context.timing.within = sub.measure;
            }
            Tag::NotSooner => {
                context.trigger = Some(conjoined(context.trigger.take(), condition));
                context.timing.not_sooner = sub.measure;
            }
            Tag::Before => context.before = Some(condition),
            Tag::Until => context.until = Some(condition),
            Tag::Unless => context.unless = Some(condition),
            Tag::Without | Tag::Outside => context.forbidden = Some(condition),
            _ => {}
        }
        Ok(())
    }

    /// The formula of an obligation from its parts.
    fn required(
        &mut self,
        main: &Main,
        trigger: Option<Logic>,
        response: Logic,
        timing: Timing,
        context: Context,
    ) -> Reading {
        let response = match context.forbidden {
            Some(bad) => and([response, not(bad)]),
            None => response,
        };
        let excused = |logic: Logic| match &context.unless {
            Some(excuse) => or([logic, excuse.clone()]),
            None => logic,
        };
        if let Some(before) = context.before {
            let act = and(trigger.into_iter().chain([before]));
            if timing.previous {
                return Reading::new(
                    Modality::Invariant,
                    always(implies(act, excused(previously(response)))),
                );
            }
            if let Some(fresh) = timing.fresh.or(timing.within) {
                let window = Window::from_now(fresh.value, fresh.unit);
                let held = once(Some(window), response);
                return Reading::new(Modality::Bounded, always(implies(act, excused(held))))
                    .bounded(Some(fresh));
            }
            let own = timing.own || (timing.at_least.is_none() && repeated_manoeuvre(main));
            if own {
                let held = previously(since(not(act.clone()), response));
                return Reading::new(Modality::Precedence, always(implies(act, excused(held))))
                    .supposing(0.7);
            }
            let held = once(None, response);
            return Reading::new(Modality::Precedence, always(implies(act, excused(held))))
                .supposing(0.85);
        }
        if timing.end || timing.begin {
            if timing.begin {
                return Reading::new(Modality::Existence, response);
            }
            return Reading::new(
                Modality::Existence,
                eventually(None, and([response, Logic::Last])),
            );
        }
        if let Some(release) = context.until {
            let weak = unless(response.clone(), release.clone());
            return match trigger {
                Some(trigger) => Reading::new(Modality::Until, always(implies(trigger, weak))),
                None => Reading::new(Modality::Until, weak),
            };
        }
        if let Some(longest) = timing.within.filter(|_| {
            stays(&main.predicate) || main.predicate.iter().any(|token| token.stem == "last")
        }) {
            let within = eventually(Some(deadline(longest)), not(response.clone()));
            return Reading::new(Modality::Bounded, always(implies(response, within)))
                .bounded(Some(longest));
        }
        if let Some(shortest) = timing.lasting {
            let held = always_in(Window::from_now(shortest.value, shortest.unit), response);
            let logic = trigger.map_or(held.clone(), |trigger| always(implies(trigger, held)));
            return Reading::new(Modality::Bounded, logic).bounded(Some(shortest));
        }
        let Some(trigger) = trigger else {
            return untriggered(response, timing, main);
        };
        let answer = |logic: Logic| always(implies(trigger.clone(), excused(logic)));
        if let Some(least) = timing.not_sooner {
            let window = Window::from_now(least.value, least.unit);
            return Reading::new(Modality::Bounded, answer(always_in(window, not(response))))
                .bounded(Some(least));
        }
        if let Some(bound) = timing.within {
            let next_step = bound.unit != Unit::Seconds && bound.value.whole() == Some(1);
            let reading = Reading::new(
                Modality::Bounded,
                answer(eventually(Some(deadline(bound)), response)),
            );
            let reading = if next_step {
                reading.supposing(0.9)
            } else {
                reading
            };
            return reading.bounded(Some(bound));
        }
        if let Some(fresh) = timing.fresh {
            let window = Window::from_now(fresh.value, fresh.unit);
            return Reading::new(Modality::Bounded, answer(once(Some(window), response)))
                .bounded(Some(fresh));
        }
        if timing.next {
            let one = Measure {
                unit: Unit::Steps,
                ..Measure::count(1)
            };
            return Reading::new(Modality::Invariant, answer(next(response))).bounded(Some(one));
        }
        if timing.previous {
            return Reading::new(Modality::Invariant, answer(previously(response)));
        }
        if timing.own {
            let held = previously(since(not(trigger.clone()), response));
            return Reading::new(Modality::Precedence, answer(held));
        }
        if timing.earlier {
            return Reading::new(Modality::Precedence, answer(once(None, response)));
        }
        if timing.eventually || timing.some_point {
            return Reading::new(Modality::Liveness, answer(eventually(None, response)));
        }
        if timing.already || timing.always || timing.same || context.holding || is_stative(main) {
            return Reading::new(Modality::Invariant, answer(response));
        }
        // An act in answer to an event, at a time that is left open.
        if context.eventful || context.answering {
            return Reading::new(Modality::Liveness, answer(eventually(None, response)))
                .supposing(0.75);
        }
        // An answer comes after what it answers; of anything else it is said that it is so.
        if is_active(main)
            && main
                .predicate
                .iter()
                .take(2)
                .any(|token| is_answering(&token.stem) || is_answer(&token.stem))
        {
            return Reading::new(Modality::Liveness, answer(eventually(None, response)))
                .supposing(0.6);
        }
        Reading::new(Modality::Invariant, answer(response)).supposing(0.75)
    }
}

/// What subordinate clauses add to an obligation.
#[derive(Clone, Debug, Default)]
pub(super) struct Context {
    pub(super) trigger: Option<Logic>,
    triggered_by: Option<Tag>,
    /// The trigger is an event that is over when the obligation begins.
    eventful: bool,
    /// The main clause answers something.
    answering: bool,
    /// The trigger lasts while the obligation does.
    holding: bool,
    pub(super) before: Option<Logic>,
    until: Option<Logic>,
    unless: Option<Logic>,
    forbidden: Option<Logic>,
    pub(super) timing: Timing,
}

/// `F p`, `F[0,k] p`, `G p`: what is required at no event in particular.
fn untriggered(response: Logic, timing: Timing, main: &Main) -> Reading {
    if timing.always && timing.within.is_none() {
        return Reading::new(Modality::Invariant, always(response));
    }
    if let Some(bound) = timing.within {
        let window = Window::from_now(bound.value, bound.unit);
        return Reading::new(Modality::Bounded, eventually(Some(window), response))
            .bounded(Some(bound));
    }
    if let Some(least) = timing
        .at_least
        .and_then(|least| least.value.whole())
        .filter(|least| *least > 1)
    {
        let reading = Reading::new(Modality::Existence, occurrences(least, &response));
        return reading.counted(least);
    }
    if timing.some_point || timing.at_least.is_some() || timing.eventually {
        return Reading::new(Modality::Existence, eventually(None, response));
    }
    if timing.always || is_stative(main) {
        return Reading::new(Modality::Invariant, always(response)).supposing(0.8);
    }
    Reading::new(Modality::Existence, eventually(None, response)).supposing(0.55)
}

/// Both, where there was one before.
pub(super) fn conjoined(known: Option<Logic>, more: Logic) -> Logic {
    match known {
        Some(known) => and([known, more]),
        None => more,
    }
}
