//! Duties beside `must`: permission, order, numbers.

use super::parser::Parser;
use super::rule::{AGENTS, Class, Force, LOOKING_BACK, Rule, Timing, each};
use crate::words::formula::{
    always, and, eventually, implies, never, next, not, once, previously, since, unless, until,
};
use crate::words::{Logic, Window};

impl Parser<'_> {
    /// Reads a duty without `must`: permission, order, numbers.
    pub(super) fn duty_of_some(&mut self) -> Option<Logic> {
        for rule in [
            Self::some as Rule,
            Self::own,
            Self::permitted_agent,
            Self::one_at_a_time,
            Self::number_of,
        ] {
            if let Some(logic) = self.attempt(rule) {
                return Some(logic);
            }
        }
        let no = self.has("no");
        let what = self.set()?;
        // `may be` permits, unless nothing may.
        if self.word(if no { "may be" } else { "must be" }).is_some()
            && let Some(logic) = self.attempt(|parser| parser.related(what.clone(), no))
        {
            return Some(logic);
        }
        if no {
            return None;
        }
        if let Some(logic) = self.attempt(|parser| parser.never_related(what.clone())) {
            return Some(logic);
        }
        if self.has("must lead to|leads to") {
            let answer = self.set()?;
            let window = self.ahead(false);
            return Some(always(implies(what, eventually(window, answer))));
        }
        if self.has("requires|require|needs") {
            return self.required(what);
        }
        self.permitted(what)
    }

    /// `Some \`a\` is never followed by \`b\``
    fn some(&mut self) -> Option<Logic> {
        self.word("some")?;
        let event = self.set()?;
        let never = self.one_of("is never followed by|is not followed by")? == 0;
        let answer = self.set()?;
        let window = if never {
            None
        } else {
            Some(self.ahead(false)?)
        };
        Some(eventually(
            None,
            and([event, not(eventually(window, answer))]),
        ))
    }

    /// `Each \`a\` needs its own \`b\``
    fn own(&mut self) -> Option<Logic> {
        self.one_of("each|every")?;
        let act = self.set()?;
        self.one_of("needs its own|requires its own")?;
        let permit = self.set()?;
        let held = previously(since(not(act.clone()), permit));
        Some(always(implies(act, held)))
    }

    /// `At most one \`a\` at a time, each until \`b\``
    fn one_at_a_time(&mut self) -> Option<Logic> {
        self.one_of("at most one|only one")?;
        let begin = self.set()?;
        self.word("may hold");
        self.word("at a time")?;
        self.one_of(", each until|until")?;
        let end = self.holding()?;
        self.timed(
            begin,
            Force::MustNot,
            Class::Action,
            Timing::AgainUntil(end),
            false,
        )
    }

    /// `At most 3 \`a\` may happen`
    fn number_of(&mut self) -> Option<Logic> {
        let most = self.one_of("at most|at least|exactly|no more than")?;
        let at = self.at;
        let count = self.number()?.whole()?;
        let count = self.bounded(count, at)?;
        let what = self.set()?;
        self.word(if matches!(most, 0 | 3) { "may" } else { "must" })?;
        let class = self.base()?;
        let timing = match (most, self.one_of("in any|within any")) {
            (1, None) => Timing::AtLeast(count),
            (2, None) => Timing::Exactly(count),
            (_, None) => Timing::AtMost(count),
            (0 | 3, Some(_)) => {
                let (high, unit) = self.length()?;
                Timing::AtMostIn(count, Window::from_now(high, unit))
            }
            _ => return None,
        };
        self.timed(what, Force::Must, class, timing, false)
    }

    /// After `must be`: `followed by`, `preceded by`, or what it must be as well.
    fn related(&mut self, what: Logic, no: bool) -> Option<Logic> {
        let then = |what: Logic, logic: Logic| {
            if no {
                never(and([what, logic]))
            } else {
                always(implies(what, logic))
            }
        };
        let choices = "directly followed by|followed by|directly preceded by|preceded by";
        match self.one_of(choices) {
            Some(0) => Some(then(what, next(self.set()?))),
            Some(1) => {
                let answer = self.set()?;
                if self.has(", at the same step or later") {
                    return Some(then(what, eventually(None, answer)));
                }
                if let Some(window) = self.ahead(false) {
                    return Some(then(what, eventually(Some(window), answer)));
                }
                let answer = match self.word("and then") {
                    Some(()) => and([answer, next(eventually(None, self.set()?))]),
                    None => answer,
                };
                Some(then(what, next(eventually(None, answer))))
            }
            Some(2) => Some(then(what, previously(self.set()?))),
            Some(_) => {
                let first = self.set()?;
                Some(match self.back() {
                    Some(window) => then(what, once(Some(window), first)),
                    None => then(what, previously(once(None, first))),
                })
            }
            None => {
                let state = self.set()?;
                Some(then(what, state))
            }
        }
    }

    /// `must never be followed by …`
    fn never_related(&mut self, what: Logic) -> Option<Logic> {
        self.one_of("must never be|must not be")?;
        self.related(what, true)
    }

    /// `requires \`b\``: looks back.
    fn required(&mut self, what: Logic) -> Option<Logic> {
        let first = self.set()?;
        if self.has("at that step|at the same step") {
            return Some(always(implies(what, first)));
        }
        if self.has("in the step before|at the step before") {
            return Some(always(implies(what, previously(first))));
        }
        if let Some(window) = self.back() {
            return Some(always(implies(what, once(Some(window), first))));
        }
        self.one_of("beforehand|before");
        Some(self.only_after(&what, vec![first]))
    }

    /// `may happen only after \`b\``, `may hold at most twice`
    fn permitted(&mut self, what: Logic) -> Option<Logic> {
        let sequence = self.attempt(|parser| {
            parser.word("and then")?;
            parser.set()
        });
        let may = self.one_of("may|must")? == 0;
        let early = self.has("only");
        let class = self.base()?;
        self.permission(what, sequence, may, early, class)
    }

    /// `The agent may call \`a\` only after \`b\``
    fn permitted_agent(&mut self) -> Option<Logic> {
        self.one_of(AGENTS)?;
        self.word("may")?;
        let early = self.has("only");
        let class = self.doing();
        let what = self.set()?;
        self.permission(what, None, true, early, class)
    }

    /// Reads the rest of a permission; of several calls, it is that of each.
    fn permission(
        &mut self,
        what: Logic,
        sequence: Option<Logic>,
        may: bool,
        early: bool,
        class: Class,
    ) -> Option<Logic> {
        let at = self.at;
        let mut duties = Vec::new();
        for what in each(class, what) {
            self.at = at;
            duties.push(self.permission_of(what, sequence.clone(), may, early, class)?);
        }
        Some(and(duties))
    }

    fn permission_of(
        &mut self,
        what: Logic,
        sequence: Option<Logic>,
        may: bool,
        early: bool,
        class: Class,
    ) -> Option<Logic> {
        if !early {
            if let Some(timing) = self.attempt(Self::counted) {
                if may && !matches!(timing, Timing::AtMost(_) | Timing::AtMostIn(..)) {
                    self.expect("`at most`, as `may` permits");
                    return None;
                }
                return self.timed(what, Force::Must, class, timing, false);
            }
            self.word("only")?;
        }
        let words = "directly after|in the step after|within|while|when|where|after|if|once|before";
        match self.one_of(words)? {
            0 | 1 => Some(always(implies(what, previously(self.holding()?)))),
            2 => {
                let (high, unit) = self.length()?;
                self.word("after")?;
                let first = self.holding()?;
                let window = Window::from_now(high, unit);
                Some(always(implies(what, once(Some(window), first))))
            }
            3..=5 => Some(always(implies(what, self.holding()?))),
            9 => {
                let end = self.holding()?;
                Some(never(and([end, next(eventually(None, what))])))
            }
            word => {
                let first = self.set()?;
                if let Some(then) = self.attempt(|parser| {
                    parser.word("and then")?;
                    parser.set()
                }) {
                    return Some(self.after_both(what, first, then));
                }
                let verb = self.verb();
                let first = self.so_often(first, verb);
                let class = match verb {
                    Some((Class::State, false, denied)) if word == 7 => {
                        self.word("at that step");
                        let state = if denied { not(first) } else { first };
                        return Some(always(implies(what, state)));
                    }
                    Some((_, true, true)) if word == 7 => {
                        return Some(Self::only_before(what, first));
                    }
                    Some((.., true)) => {
                        self.expect(LOOKING_BACK);
                        return None;
                    }
                    Some((Class::Call, ..)) => Class::Call,
                    _ => class,
                };
                if let Some(revoked) = self.attempt(|parser| {
                    parser.word("and")?;
                    let revoked = parser.set()?;
                    parser.one_of("has not held since|has not happened since")?;
                    Some(revoked)
                }) {
                    let held = previously(since(not(revoked), first));
                    return Some(always(implies(what, held)));
                }
                if let Some(second) = sequence {
                    let chain =
                        eventually(None, and([what.clone(), next(eventually(None, second))]));
                    return Some(implies(chain, until(not(what), first)));
                }
                Some(self.only_after(&what, each(class, first)))
            }
        }
    }

    /// `may happen only after \`a\` and then \`b\``
    fn after_both(&self, what: Logic, first: Logic, second: Logic) -> Logic {
        if self.scoped {
            let between = unless(not(what.clone()), second);
            return unless(not(what.clone()), and([first, not(what), next(between)]));
        }
        let both = and([second, previously(once(None, first))]);
        always(implies(what, once(None, both)))
    }
}
