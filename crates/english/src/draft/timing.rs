//! What a clause says about when and how often, taken out of it.

use super::atom::carries;
use super::lexicon::Tag;
use super::lexicon::verbs::VERBS;
use super::lexicon::words::among;
use super::main_clause::{STATES_VERBS, is_third_person};
use super::number::{Measure, Unit};
use super::token::{Kind, Token};
use crate::words::formula::{Logic, Window, eventually, next, not, once, previously};

/// When and how often a clause says its event is to be.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Timing {
    /// A deadline.
    pub(super) within: Option<Measure>,
    /// The greatest age.
    pub(super) fresh: Option<Measure>,
    /// A duration that must not be exceeded.
    pub(super) longer: Option<Measure>,
    /// A duration that must be reached.
    pub(super) lasting: Option<Measure>,
    /// A distance that must be kept.
    pub(super) not_sooner: Option<Measure>,
    /// In the next step.
    pub(super) next: bool,
    /// In the step before.
    pub(super) previous: bool,
    /// At this step or a later one.
    pub(super) eventually: bool,
    /// At some step of the run.
    pub(super) some_point: bool,
    /// At some earlier step.
    pub(super) earlier: bool,
    /// `first`
    pub(super) first: bool,
    /// `already`
    pub(super) already: bool,
    /// `again`
    pub(super) again: bool,
    /// `from then on`
    pub(super) onwards: bool,
    /// `at the same time`
    pub(super) same: bool,
    /// `its own`
    pub(super) own: bool,
    /// `always`
    pub(super) always: bool,
    /// At most so often; whether that is said with a comparison.
    pub(super) at_most: Option<Measure>,
    /// More often than this.
    pub(super) more_than: Option<Measure>,
    /// At least so often.
    pub(super) at_least: Option<Measure>,
    /// So often, without a comparison.
    pub(super) times: Option<Measure>,
    /// The last step.
    pub(super) end: bool,
    /// The first step.
    pub(super) begin: bool,
}

impl Timing {
    /// Takes the marks of time out of a clause; commas that stand around one go with it.
    pub(super) fn take(tokens: &[Token]) -> (Vec<Token>, Timing) {
        let mut timing = Timing::default();
        let mut rest: Vec<Token> = Vec::with_capacity(tokens.len());
        let mut at = 0;
        while at < tokens.len() {
            let token = &tokens[at];
            let taken = match token.kind {
                // `a transaction over 500 euros` is one kind of transaction.
                Kind::Mark(Tag::MoreThan | Tag::AtLeast | Tag::AtMostOf, Some(measure))
                    if rest.last().is_some_and(is_noun)
                        && tokens.get(at + 1).is_some_and(carries) =>
                {
                    let mut number = token.clone();
                    number.kind = Kind::Number(measure);
                    rest.push(number);
                    at += 1;
                    continue;
                }
                Kind::Mark(tag, measure) => timing.note(tag, measure),
                _ => false,
            };
            if taken {
                let enclosed = rest.last().is_some_and(|last| last.kind == Kind::Comma);
                if enclosed {
                    rest.pop();
                }
                if enclosed
                    && tokens
                        .get(at + 1)
                        .is_some_and(|next| next.kind == Kind::Comma)
                {
                    at += 1;
                }
            } else {
                rest.push(token.clone());
            }
            at += 1;
        }
        (rest, timing)
    }

    fn note(&mut self, tag: Tag, measure: Option<Measure>) -> bool {
        match tag {
            Tag::Within | Tag::AfterDelay => self.within = self.within.or(measure),
            Tag::Fresh => self.fresh = measure,
            Tag::Longer => self.longer = measure,
            Tag::Lasting => self.lasting = measure,
            Tag::NotSooner => self.not_sooner = measure,
            Tag::Next => self.next = true,
            Tag::Previous => self.previous = true,
            Tag::Eventually => self.eventually = true,
            Tag::SomePoint => self.some_point = true,
            Tag::Earlier => self.earlier = true,
            Tag::First => self.first = true,
            Tag::Already => self.already = true,
            Tag::Again => self.again = true,
            Tag::Onwards => self.onwards = true,
            Tag::Same => self.same = true,
            Tag::Own => self.own = true,
            Tag::Always => self.always = true,
            Tag::AtMost | Tag::AtMostOf => self.at_most = self.at_most.or(measure),
            Tag::MoreThan => self.more_than = measure,
            Tag::AtLeast => self.at_least = measure,
            Tag::Times => self.times = measure,
            Tag::EndWith => self.end = true,
            Tag::BeginWith => self.begin = true,
            Tag::Filler => {}
            _ => return false,
        }
        true
    }

    /// What is said in two places, put together.
    pub(super) fn merged(self, other: Timing) -> Timing {
        Timing {
            within: self.within.or(other.within),
            fresh: self.fresh.or(other.fresh),
            longer: self.longer.or(other.longer),
            lasting: self.lasting.or(other.lasting),
            not_sooner: self.not_sooner.or(other.not_sooner),
            next: self.next || other.next,
            previous: self.previous || other.previous,
            eventually: self.eventually || other.eventually,
            some_point: self.some_point || other.some_point,
            earlier: self.earlier || other.earlier,
            first: self.first || other.first,
            already: self.already || other.already,
            again: self.again || other.again,
            onwards: self.onwards || other.onwards,
            same: self.same || other.same,
            own: self.own || other.own,
            always: self.always || other.always,
            at_most: self.at_most.or(other.at_most),
            more_than: self.more_than.or(other.more_than),
            at_least: self.at_least.or(other.at_least),
            times: self.times.or(other.times),
            end: self.end || other.end,
            begin: self.begin || other.begin,
        }
    }

    /// Whether the clause speaks of a step after the one it is said of.
    pub(super) fn is_future(&self) -> bool {
        self.within.is_some() || self.next || self.eventually || self.some_point
    }

    /// How far after another event, alone.
    pub(super) fn distance(&self) -> Timing {
        Timing {
            within: self.within,
            next: self.next,
            ..Timing::default()
        }
    }

    /// All that says when, without what says how often.
    pub(super) fn placing(&self) -> Timing {
        Timing {
            at_most: None,
            more_than: None,
            at_least: None,
            times: None,
            ..*self
        }
    }

    /// Without a deadline.
    pub(super) fn without_deadline(&self) -> Timing {
        Timing {
            within: None,
            ..*self
        }
    }

    /// The deadline as a window after the trigger.
    pub(super) fn deadline(&self) -> Option<Window> {
        self.within.map(deadline)
    }

    /// The formula at the step that the clause is said of. `negated`: that it is *not* so.
    pub(super) fn wrap(&self, logic: Logic, negated: bool) -> Logic {
        let placed = if let Some(window) = self.deadline() {
            eventually(Some(window), logic)
        } else if let Some(fresh) = self.fresh {
            once(Some(Window::from_now(fresh.value, fresh.unit)), logic)
        } else if self.next {
            next(logic)
        } else if self.previous {
            previously(logic)
        } else if self.earlier {
            once(None, logic)
        } else if self.eventually {
            eventually(None, logic)
        } else if let Some(more) = self.more_than.and_then(|more| more.value.whole()) {
            not(Logic::AtMost(more, None, Box::new(logic)))
        } else if let Some(least) = self
            .at_least
            .and_then(|least| least.value.whole())
            .filter(|least| *least > 1)
        {
            not(Logic::AtMost(least - 1, None, Box::new(logic)))
        } else {
            logic
        };
        if negated { not(placed) } else { placed }
    }
}

/// Whether what stands before a number is what the number is said of, and no verb.
fn is_noun(token: &Token) -> bool {
    token.kind == Kind::Word
        && (token.word("of")
            || carries(token)
                && !among(VERBS, &token.low)
                && !among(STATES_VERBS, &token.low)
                && !is_third_person(&token.low))
}

/// The window of a deadline.
pub(super) fn deadline(measure: Measure) -> Window {
    let unit = if measure.unit == Unit::Seconds {
        Unit::Seconds
    } else {
        Unit::Steps
    };
    Window::deadline(measure.value, unit)
}
