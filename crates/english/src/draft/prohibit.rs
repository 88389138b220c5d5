//! What must not be: an act, with all that is said of it, is a scene that no run may contain.

use super::atom::{carries, content};
use super::clause::{Sentence, Sub, trimmed};
use super::condition::{Reader, is_negation, positive_of};
use super::lexicon::Tag;
use super::lexicon::words::{DETERMINERS, among};
use super::main_clause::{
    Force, Main, count_limit, reference_or_nothing, trim_by, without_staying,
};
use super::number::{Measure, Unit};
use super::oblige::conjoined;
use super::reading::{Doubt, Modality, Reading};
use super::timing::{Timing, deadline};
use super::token::Token;
use super::trigger::participle;
use crate::words::formula::{
    Logic, Unary, Window, always, and, eventually, implies, never, next, not, once, or, previously,
    unless, until,
};

impl Reader {
    /// A description that is called a breach or forbidden.
    pub(super) fn breach(&mut self, description: &[Token]) -> Result<Reading, Doubt> {
        let sentence = Sentence::split(description);
        let mut subs = sentence.subs;
        let mut main = sentence.main;
        // `if a and b, that's a violation`: the description is the condition.
        if trimmed(&main).is_empty() || content(&main).is_empty() {
            if subs.is_empty() {
                return Err(Doubt::NoSituation);
            }
            main = subs.remove(0).tokens;
        }
        let clauses = super::condition::is_coordinated(&main);
        let (predicate, timing) = if clauses {
            (main, Timing::default())
        } else {
            Timing::take(&main)
        };
        let main = Main {
            force: Force::Forbid,
            only: false,
            said: true,
            subject: Vec::new(),
            predicate,
            timing,
        };
        self.refer(&main.predicate);
        self.prohibition(&main, &subs)
    }

    /// The reading of a prohibition.
    pub(super) fn prohibition(&mut self, main: &Main, subs: &[Sub]) -> Result<Reading, Doubt> {
        let timing = main.timing;
        let words = main.whole();
        // `shall not stay paused for longer than 15 steps`
        if let Some(longest) = timing.longer.or_else(|| sub_measure(subs, Tag::Longer)) {
            let state = self
                .atom(&without_staying(&words))
                .ok_or(Doubt::NoSituation)?;
            let within = eventually(Some(deadline(longest)), not(state.clone()));
            return Ok(
                Reading::new(Modality::Bounded, always(implies(state, within)))
                    .bounded(Some(longest)),
            );
        }
        if let Some(limit) = count_limit(timing, main) {
            self.span_of_count = timing.within;
            self.always_counted = timing.always || timing.same;
            return self.count(&words, limit, subs);
        }
        // `a third restart is not allowed`
        if let Some((ordinal, limit)) = ordinal(&words) {
            let event = [&words[..ordinal], &words[ordinal + 1..]].concat();
            return self.count(&event, limit, subs);
        }
        if let Some(reading) = self.left_undone(&words, subs)? {
            return Ok(reading);
        }
        // `must not go unanswered`
        if let Some(reading) = self.double_negative(main, subs) {
            return Ok(reading);
        }
        let scene = self.scene(main, subs)?;
        scene.forbidden()
    }

    /// `a is begun and never ended`: what must not be left undone must come.
    fn left_undone(&mut self, words: &[Token], subs: &[Sub]) -> Result<Option<Reading>, Doubt> {
        let cut = (1..words.len()).find(|at| {
            matches!(words[*at].tag(), Some(Tag::And | Tag::But))
                && words.get(at + 1).is_some_and(|next| next.is(Tag::Never))
        });
        let Some(cut) = cut.filter(|_| subs.is_empty()) else {
            return Ok(None);
        };
        let subject = super::condition::subject_of(&words[..cut]);
        let trigger = self.condition(&words[..cut]).ok_or(Doubt::NoSituation)?;
        let undone = [subject, &words[cut + 2..]].concat();
        let answer = self.condition(&undone).ok_or(Doubt::NoSituation)?;
        Ok(Some(Reading::new(
            Modality::Liveness,
            always(implies(trigger, eventually(None, answer))),
        )))
    }

    /// What is forbidden, with all that is said of it.
    fn scene(&mut self, main: &Main, subs: &[Sub]) -> Result<Scene, Doubt> {
        let words = main.whole();
        let mut scene = Scene {
            onwards: main.timing.onwards || main.timing.again || main.timing.eventually,
            ..Scene::default()
        };
        // `the heater and the cooler must never run at the same time`
        if main.timing.same
            && let Some(cut) = main.subject.iter().position(|token| token.is(Tag::And))
        {
            let clause = |subject: &[Token]| [subject, main.predicate.as_slice()].concat();
            let first = self
                .condition(&clause(&main.subject[..cut]))
                .ok_or(Doubt::NoSituation)?;
            let second = self
                .condition(&clause(&main.subject[cut + 1..]))
                .ok_or(Doubt::NoSituation)?;
            scene.act = Some(first);
            scene.with.push(second);
            self.circumstances(subs, &mut scene)?;
            return Ok(scene);
        }
        // `no purchase may follow the cancellation`
        if let Some((first, event)) = main.predicate.split_first()
            && first.kind == super::token::Kind::Word
            && first.stem == super::stem::stem("follow")
            && !content(event).is_empty()
            && !main.subject.is_empty()
        {
            scene.act = Some(self.condition(&main.subject).ok_or(Doubt::NoSituation)?);
            scene.after = Some(self.condition(event).ok_or(Doubt::NoSituation)?);
            self.circumstances(subs, &mut scene)?;
            return Ok(scene);
        }
        // `neither exports nor prints may …`, `no export or print may …`
        if let Some(subjects) = alternatives(&main.subject) {
            let mut acts = Vec::new();
            for subject in subjects {
                let clause = [subject, main.predicate.as_slice()].concat();
                acts.push(self.condition(&clause).ok_or(Doubt::NoSituation)?);
            }
            scene.act = Some(or(acts));
            self.circumstances(subs, &mut scene)?;
            return Ok(scene);
        }
        // `a and afterwards b`, `a followed by b`
        if let Some(cut) = words
            .iter()
            .position(|token| token.is(Tag::AndThen) || token.is(Tag::Followed))
            .filter(|cut| *cut > 0 && *cut + 1 < words.len())
        {
            let first = self.condition(&words[..cut]).ok_or(Doubt::NoSituation)?;
            let second = self
                .condition(trim_by(&words[cut + 1..]))
                .ok_or(Doubt::NoSituation)?;
            scene.act = Some(first);
            let mut distance = main.timing.distance();
            // `and right afterwards` is not `in the next step` unless the step is named.
            distance.next &= main.timing.within.is_none();
            let second = distance.wrap(second, false);
            scene.with.push(if second.is_state() {
                eventually(None, second)
            } else {
                second
            });
            scene.sequence = true;
        } else if let Some(cut) = words
            .iter()
            .position(|token| token.is(Tag::Relative))
            .filter(|cut| *cut > 0 && *cut < main.subject.len())
        {
            self.subject_with_relative(main, cut, &mut scene)?;
        } else if let Some(cut) = words
            .iter()
            .position(|token| token.is(Tag::Relative))
            .filter(|cut| *cut > 0 && main.timing.already && !words[*cut..].iter().any(is_negation))
        {
            // `in a transaction that was already committed`: after that.
            let head = words[..cut]
                .iter()
                .rposition(|token| among(DETERMINERS, &token.low))
                .unwrap_or(cut);
            let mut event = words[head..cut].to_vec();
            event.extend(words[cut + 1..].iter().cloned());
            scene.act = Some(self.condition(&words[..cut]).ok_or(Doubt::NoSituation)?);
            scene.after = Some(self.condition(&event).ok_or(Doubt::NoSituation)?);
        } else if let Some((cut, _)) = participle(&main.subject) {
            // `A vehicle facing a red light must not enter`
            let condition = self.atom(&main.subject[cut..]).ok_or(Doubt::NoSituation)?;
            let mut act = main.subject[..cut].to_vec();
            act.extend(main.predicate.iter().cloned());
            scene.act = self.condition(&act);
            scene.with.push(condition);
        } else {
            let (act, with) = self
                .description(&words, main.timing)
                .or_else(|| self.condition(&words).map(|act| (act, Vec::new())))
                .ok_or(Doubt::NoSituation)?;
            // A conjunction of an act and what is lacking, from within the description.
            scene.act = Some(act);
            scene.with.extend(with);
        }
        self.circumstances(subs, &mut scene)?;
        Ok(scene)
    }

    /// `PII that was read from memory may never be passed on`, `the person who approves it must not …`
    fn subject_with_relative(
        &mut self,
        main: &Main,
        cut: usize,
        scene: &mut Scene,
    ) -> Result<(), Doubt> {
        let (head, clause) = main.subject.split_at(cut);
        let clause = &clause[1..];
        self.refer(head);
        let negative = clause.iter().any(|token| {
            matches!(
                token.tag(),
                Some(Tag::Not | Tag::Nobody | Tag::No | Tag::Never)
            )
        });
        let past = clause
            .iter()
            .any(|token| matches!(token.low.as_str(), "was" | "were" | "had" | "been"));
        let mut said = head.to_vec();
        said.extend(clause.iter().cloned());
        let condition = self.condition(&said).ok_or(Doubt::NoSituation)?;
        let mut act = head.to_vec();
        act.extend(main.predicate.iter().cloned());
        let act = self.condition(&act).ok_or(Doubt::NoSituation)?;
        if past && !negative {
            scene.act = Some(condition);
            scene.with.push(eventually(None, act));
            scene.relative_past = true;
        } else {
            scene.act = Some(act);
            scene.with.push(condition);
        }
        Ok(())
    }

    /// What subordinate clauses add to a scene.
    pub(super) fn circumstances(&mut self, subs: &[Sub], scene: &mut Scene) -> Result<(), Doubt> {
        for sub in subs {
            let (words, timing) = Timing::take(&sub.tokens);
            let mut timing = timing;
            // `if we have not checked it first`: what is so by then.
            timing.earlier &= !matches!(sub.kind, Tag::If | Tag::Unless) || !timing.already;
            let condition = self
                .timed(&words, timing)
                .ok_or_else(|| reference_or_nothing(&sub.tokens))?;
            match sub.kind {
                Tag::If | Tag::When if scene.onwards => {
                    scene.after = Some(conjoined(scene.after.take(), condition))
                }
                Tag::If | Tag::When | Tag::While => scene.when(condition),
                Tag::Once | Tag::After => {
                    scene.after = Some(conjoined(scene.after.take(), condition))
                }
                Tag::From => {
                    scene.after = Some(conjoined(scene.after.take(), condition));
                    scene.inclusive = true;
                }
                Tag::Until => scene.until = Some(condition),
                Tag::Unless if scene.after.is_some() || timing.again => {
                    scene.until = Some(condition)
                }
                Tag::Unless | Tag::Without => {
                    scene.with.push(not(condition));
                }
                Tag::Outside => scene.with.push(not(condition)),
                Tag::Before => scene.with.push(not(once(None, condition))),
                Tag::RightBefore => scene.with.push(next(condition)),
                Tag::RightAfter | Tag::StepAfter => scene.with.push(previously(condition)),
                Tag::StepBefore => scene.with.push(next(condition)),
                Tag::Within | Tag::NotSooner => {
                    scene.within = sub.measure.map(|measure| (condition, measure));
                }
                Tag::Since => scene.after = Some(condition),
                _ => scene.when(condition),
            }
        }
        Ok(())
    }

    /// `must not go unanswered`, `must not be left without a commit`
    fn double_negative(&mut self, main: &Main, subs: &[Sub]) -> Option<Reading> {
        let light = main.predicate.iter().all(|token| {
            !carries(token)
                || among(&["leav", "leave", "stay", "remain", "go"], &token.stem)
                || positive_of(&token.low).is_some()
        });
        if !light || main.subject.is_empty() {
            return None;
        }
        let trigger = self.condition(&main.subject)?;
        if let Some(negative) = main
            .predicate
            .iter()
            .find(|token| positive_of(&token.low).is_some())
        {
            let mut token = negative.clone();
            token.low = positive_of(&negative.low)?.into();
            token.stem = super::stem::stem(&token.low);
            let answer = self.atom(&[token])?;
            let answer = match main.timing.deadline() {
                Some(window) => eventually(Some(window), answer),
                None => eventually(None, answer),
            };
            let modality = if main.timing.within.is_some() {
                Modality::Bounded
            } else {
                Modality::Liveness
            };
            return Some(
                Reading::new(modality, always(implies(trigger, answer)))
                    .bounded(main.timing.within),
            );
        }
        let without = subs.iter().find(|sub| sub.kind == Tag::Without)?;
        let (words, timing) = Timing::take(&without.tokens);
        let answer = self.timed(&words, timing)?;
        let modality = if timing.within.is_some() {
            Modality::Bounded
        } else if timing.is_future() {
            Modality::Liveness
        } else {
            Modality::Invariant
        };
        Some(Reading::new(modality, always(implies(trigger, answer))).bounded(timing.within))
    }
}

/// `a third attempt`: where the number stands, and how many come before it.
fn ordinal(words: &[Token]) -> Option<(usize, u32)> {
    const ORDINALS: &[&str] = &["second", "third", "fourth", "fifth", "sixth", "seventh"];
    let at = words
        .iter()
        .take(2)
        .position(|token| token.kind == super::token::Kind::Word && among(ORDINALS, &token.low))?;
    let article = at == 0 || matches!(words[0].low.as_str(), "a" | "another");
    let place = ORDINALS
        .iter()
        .position(|ordinal| words[at].word(ordinal))?;
    let noun = words.get(at + 1).is_some_and(carries);
    (article && noun).then_some((at, u32::try_from(place + 1).ok()?))
}

/// The parts of a subject that `or` joins; none where it joins none, or within a relative clause.
fn alternatives(subject: &[Token]) -> Option<Vec<&[Token]>> {
    let joins = subject.iter().any(|token| token.is(Tag::Or));
    let plain = subject
        .iter()
        .all(|token| !matches!(token.tag(), Some(Tag::Relative | Tag::And | Tag::Without)));
    let parts: Vec<&[Token]> = subject
        .split(|token| token.is(Tag::Or))
        .map(trimmed)
        .collect();
    (joins && plain && parts.iter().all(|part| !content(part).is_empty())).then_some(parts)
}

/// What is forbidden: an act and what is said of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Scene {
    pub(super) act: Option<Logic>,
    /// What holds at the step of the act.
    pub(super) with: Vec<Logic>,
    pub(super) after: Option<Logic>,
    /// The step of `after` itself counts.
    pub(super) inclusive: bool,
    pub(super) until: Option<Logic>,
    pub(super) within: Option<(Logic, Measure)>,
    /// What is forbidden is so from then on.
    pub(super) onwards: bool,
    pub(super) sequence: bool,
    pub(super) relative_past: bool,
    pub(super) conditional: bool,
}

impl Scene {
    fn when(&mut self, condition: Logic) {
        self.conditional = true;
        self.with.push(condition);
    }

    /// The formula that forbids it.
    pub(super) fn forbidden(self) -> Result<Reading, Doubt> {
        let act = self.act.ok_or(Doubt::NoSituation)?;
        if let Some((anchor, measure)) = self.within {
            // Not within so far of something: it must keep its distance.
            let mut window = deadline(measure);
            if measure.unit == Unit::Seconds {
                window = Window::from_now(measure.value, measure.unit);
            }
            let bad = and([
                anchor,
                eventually(Some(window), and(std::iter::once(act).chain(self.with))),
            ]);
            return Ok(Reading::new(Modality::Bounded, never(bad)).bounded(Some(measure)));
        }
        if let Some(after) = self.after {
            let act = and(std::iter::once(act).chain(self.with));
            return Ok(match self.until {
                Some(release) => {
                    let scoped = until(not(release.clone()), and([act, not(release)]));
                    let (modality, bad) = if self.inclusive {
                        (Modality::Until, and([after, scoped]))
                    } else {
                        (Modality::AbsenceAfter, and([after, next(scoped)]))
                    };
                    Reading::new(modality, never(bad))
                }
                None if self.inclusive => Reading::new(
                    Modality::AbsenceAfter,
                    never(and([after, eventually(None, act)])),
                ),
                None => Reading::new(
                    Modality::AbsenceAfter,
                    never(and([after, next(eventually(None, act))])),
                ),
            });
        }
        if let Some(release) = self.until {
            let act_now = act;
            if self.conditional {
                let trigger = and(self.with);
                let scoped = until(not(release.clone()), and([act_now, not(release)]));
                return Ok(Reading::new(
                    Modality::Until,
                    never(and([trigger, next(scoped)])),
                ));
            }
            let act = and(std::iter::once(act_now).chain(self.with));
            return Ok(Reading::new(Modality::Until, unless(not(act), release)));
        }
        let bad = and(std::iter::once(act).chain(self.with));
        if self.sequence || self.relative_past {
            let modality = if self.sequence {
                Modality::Forbid
            } else {
                Modality::AbsenceAfter
            };
            return Ok(Reading::new(modality, never(bad)));
        }
        let (modality, bound) = relation_of(&bad);
        Ok(Reading::new(modality, never(bad)).bounded(bound))
    }
}

/// What a scene is forbidden for: the temporal operator that says what it lacks.
fn relation_of(bad: &Logic) -> (Modality, Option<Measure>) {
    let lacks = |part: &Logic| match part {
        Logic::Not(inner) => match inner.as_ref() {
            Logic::Unary(op, window, _) => Some((*op, *window)),
            _ => None,
        },
        _ => None,
    };
    let found = match bad {
        Logic::And(parts) => parts.iter().find_map(lacks),
        other => lacks(other),
    };
    let measure = |window: Window| Measure {
        value: window.high,
        unit: window.unit,
    };
    match found {
        Some((Unary::Eventually | Unary::Once, Some(window))) => {
            (Modality::Bounded, Some(measure(window)))
        }
        Some((Unary::Eventually, None)) => (Modality::Liveness, None),
        Some((Unary::Once, None)) => (Modality::Precedence, None),
        Some((Unary::Next, _)) => {
            let one = Measure {
                unit: Unit::Steps,
                ..Measure::count(1)
            };
            (Modality::Invariant, Some(one))
        }
        Some((Unary::Previously, _)) => (Modality::Invariant, None),
        _ => (Modality::Forbid, None),
    }
}

fn sub_measure(subs: &[Sub], kind: Tag) -> Option<Measure> {
    subs.iter().find(|sub| sub.kind == kind)?.measure
}
