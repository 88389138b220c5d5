//! Sentences: scope, condition, duty and timing.

use super::parser::Parser;
use super::scope::Scope;
use crate::words::formula::{
    Unary, always, always_in, and, eventually, implies, never, next, not, occurrences, once,
    previously, since, so_often, unless, until,
};
use crate::words::{Logic, UNLESS_CUT_OFF, Window};

/// Whether something is a state, which is there for a while, or an action, which comes and goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Class {
    State,
    Action,
    /// An action that is called. A step has one call, so what is said of several is said of each.
    Call,
}

/// Describes the verbs of a denial after `unless` and `only if`: *does not happen* does not say when.
pub(super) const LOOKING_BACK: &str = "a verb that looks back, such as `has not happened`";
/// The participles of calling.
const CALLED: &str = "called|invoked|used|run|executed";
/// Whoever acts in sentences of EARS and FRETish.
pub(super) const AGENTS: &str = "the agent|the system|the assistant|the component|the software|the controller|the model|the robot|the server|the client|it";

/// The modal force of a duty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Force {
    Must,
    MustNot,
    Never,
    Always,
}

/// When it is so.
#[derive(Clone, Debug)]
pub(super) enum Timing {
    /// Nothing is said.
    Unsaid,
    /// In the step of the trigger.
    Here,
    /// In the next step.
    Next,
    /// In the next step, if there is one.
    NextIfAny,
    /// Within a bound.
    Ahead(Window),
    /// Then or later.
    Eventually,
    /// Later.
    Later,
    /// From then on, for so long.
    For(Window),
    /// From then on.
    FromThenOn,
    /// Until something holds; with it having to come or not.
    Until(Logic, bool),
    /// Before something holds.
    Before(Logic),
    AtMost(u32),
    MoreThan(u32),
    AtLeast(u32),
    Exactly(u32),
    /// In any window of this length.
    AtMostIn(u32, Window),
    /// At one step, of several situations.
    Together,
    /// Not at a stretch for longer.
    LongerThan(Window),
    /// Not a second time before something holds.
    AgainUntil(Logic),
    /// Except at steps where something holds.
    UnlessHolds(Logic),
    /// Except after all of these.
    UnlessHeld(Vec<Logic>),
    /// Only as long as something has not happened.
    OnceHeld(Logic),
    /// At the steps where something holds, and at no other.
    ExactlyWhen(Logic),
}

pub(super) type Rule<'v> = fn(&mut Parser<'v>) -> Option<Logic>;

impl<'v> Parser<'v> {
    /// The kinds of sentences, in the order in which they are tried.
    pub(super) fn sentences() -> [Rule<'v>; 4] {
        [
            Self::free,
            Self::cut_off,
            Self::within_scope,
            Self::trailing,
        ]
    }

    /// `It must never be so that …`, `At the first step, …`, and the ends of runs.
    fn free(&mut self) -> Option<Logic> {
        let whole = "it must never be so that|it must not be so that|it must always be so that|at the first step ,";
        if let Some(found) = self.one_of(whole) {
            let phrase = self.phrase()?;
            return Some(match found {
                0 => never(phrase),
                1 => not(phrase),
                2 => always(phrase),
                _ => phrase,
            });
        }
        self.word("the run")?;
        self.modal()?;
        match self.one_of("end with|begin with")? {
            0 => Some(eventually(None, and([self.set()?, Logic::Last]))),
            _ => self.set(),
        }
    }

    /// `…, unless the trace ends before that`
    fn cut_off(&mut self) -> Option<Logic> {
        let asked = self.conditional()?;
        self.word(UNLESS_CUT_OFF)?;
        let Logic::Unary(Unary::Always, None, inner) = asked else {
            return None;
        };
        let Logic::Implies(when, then) = *inner else {
            return None;
        };
        let Logic::Unary(Unary::Eventually, Some(window), _) = then.as_ref() else {
            return None;
        };
        let ends = eventually(Some(window.cut_off()?), Logic::Last);
        Some(always(implies(
            *when,
            crate::words::formula::or([*then, ends]),
        )))
    }

    /// A scope, and a duty with or without a condition.
    fn within_scope(&mut self) -> Option<Logic> {
        let scope = self.attempt(Self::scope);
        self.scoped = !matches!(scope, None | Some(Scope::Run));
        let begin = self.at;
        for rule in [
            Self::conditional as Rule,
            Self::duty_alone,
            Self::duty_of_some,
        ] {
            self.at = begin;
            let Some(duty) = rule(self) else { continue };
            if !self.ends() {
                self.end();
                continue;
            }
            return match &scope {
                None => Some(duty),
                Some(scope) => {
                    let found = scope.clone().of(duty);
                    if found.is_none() {
                        self.stuck = Some((
                            begin,
                            "a duty that looks ahead, as it is within a scope".to_owned(),
                        ));
                    }
                    found
                }
            };
        }
        None
    }

    /// Whether nothing of the sentence is left.
    fn ends(&self) -> bool {
        self.tokens.get(self.at).is_none_or(|token| token.is("."))
    }

    /// A duty with its condition at the end.
    fn trailing(&mut self) -> Option<Logic> {
        let duty = self.duties(true)?;
        let bounded = matches!(duty, Logic::Unary(Unary::Eventually, Some(_), _));
        let condition = if bounded && self.has("of|after") {
            self.holding()?
        } else {
            self.condition()?
        };
        Some(conditional(condition, duty))
    }

    /// `While \`a\` holds,`
    fn scope(&mut self) -> Option<Scope> {
        let choices = "always ,|globally ,|in every run ,|before|after the first|after|from the step where|from the first|from|between|while|during";
        let scope = match self.one_of(choices)? {
            0..=2 => return Some(Scope::Run),
            3 => Scope::Before(self.holding()?),
            4 => Scope::AfterFirst(self.holding()?),
            5 => {
                let begin = self.holding()?;
                match self.word("until") {
                    Some(()) => Scope::AfterUntil(begin, self.holding()?),
                    None => Scope::After(begin),
                }
            }
            7 => {
                let begin = self.holding()?;
                self.word("on")?;
                Scope::FromFirst(begin)
            }
            6 | 8 => {
                let begin = self.holding()?;
                match self.one_of("until|on")? {
                    0 => Scope::FromUntil(begin, self.holding()?),
                    _ => Scope::From(begin),
                }
            }
            9 => {
                let begin = self.situation_or_group()?;
                self.word("and")?;
                Scope::Between(begin, self.holding()?)
            }
            _ => Scope::While(self.holding()?),
        };
        self.word(",")?;
        Some(scope)
    }

    /// One situation, or a group in parentheses.
    fn situation_or_group(&mut self) -> Option<Logic> {
        if self.has("(") {
            let logic = self.phrase()?;
            self.word(")")?;
            return Some(logic);
        }
        self.situation()
    }

    /// A situation, with or without a verb that says that it is there.
    pub(super) fn holding(&mut self) -> Option<Logic> {
        let what = self.limit()?;
        let verb = self.verb();
        let what = self.so_often(what, verb);
        self.at_one_step(what, verb)
    }

    /// `has happened 3 times`: at a step where it happens, with those before it.
    pub(super) fn so_often(&mut self, what: Logic, verb: Option<Verb>) -> Logic {
        match verb {
            Some((_, true, false)) => match self.times() {
                Some(count) => so_often(count, &what),
                None => what,
            },
            _ => what,
        }
    }

    /// A situation with its verb, at one step.
    fn at_one_step(&mut self, what: Logic, verb: Option<Verb>) -> Option<Logic> {
        if let (Some((Class::Call, ..)), Logic::And(_)) = (verb, &what) {
            self.stuck = Some((
                self.at.saturating_sub(1),
                "one call, or several joined by `or`, as two calls are two steps".to_owned(),
            ));
            return None;
        }
        Some(match verb {
            Some((_, _, true)) => not(what),
            _ => what,
        })
    }

    /// `holds`, `has not happened`, `was called`.
    pub(super) fn verb(&mut self) -> Option<Verb> {
        use Class::{Action, State};
        const HOLD: &str = "holds|hold|is true|are true";
        const HELD: &str = "has held|have held|has been true";
        const HAPPEN: &str = "happens|happen|occurs|occur";
        const HAPPENED: &str = "has happened|have happened|has occurred";
        const NOT_HOLD: &str = "does not hold|do not hold|is not true";
        const NOT_HAPPEN: &str = "does not happen|do not happen|does not occur";
        let verbs = [
            (HOLD, State, false, false),
            (HELD, State, true, false),
            (HAPPEN, Action, false, false),
            (HAPPENED, Action, true, false),
            (NOT_HOLD, State, false, true),
            (NOT_HAPPEN, Action, false, true),
            ("has not held", State, true, true),
            ("has not happened", Action, true, true),
        ];
        let found = verbs
            .into_iter()
            .find(|(words, ..)| self.one_of(words).is_some());
        if let Some((_, class, back, denied)) = found {
            return Some((class, back, denied));
        }
        self.attempt(|parser| {
            let forms = "is not|are not|is|are|has not been|have not been|was not|were not|has been|have been|was|were";
            let form = parser.one_of(forms)?;
            parser.one_of(CALLED)?;
            Some((Class::Call, form > 3, matches!(form, 0 | 1 | 4..=7)))
        })
    }

    /// `Whenever \`a\` holds,`: the steps that it is about.
    fn condition(&mut self) -> Option<Logic> {
        let words = "whenever|when|if|where|each time|every time|in case|upon";
        let word = self.one_of(words)?;
        let what = self.limit()?;
        if word == 7 || self.has("begins|becomes true") {
            let before = Logic::Unary(Unary::WeakPreviously, None, Box::new(not(what.clone())));
            return Some(and([what, before]));
        }
        let verb = self.verb();
        let what = self.so_often(what, verb);
        self.at_one_step(what, verb)
    }

    /// A condition, and duties at the steps that it is about.
    fn conditional(&mut self) -> Option<Logic> {
        if let Some(chain) = self.attempt(Self::chain) {
            return Some(chain);
        }
        let condition = self.condition()?;
        self.word(",")?;
        self.word("then");
        if self.has("it must be so that") {
            return Some(always(implies(condition, self.phrase()?)));
        }
        if let Some(phrase) = self.attempt(|parser| {
            parser.word("(")?;
            let phrase = parser.phrase()?;
            parser.word(")")?;
            parser.ends().then_some(phrase)
        }) {
            return Some(always(implies(condition, phrase)));
        }
        let duty = self.duties(true)?;
        Some(conditional(condition, duty))
    }

    /// `Whenever \`a\` is followed by \`b\`, \`c\` must happen`
    fn chain(&mut self) -> Option<Logic> {
        self.one_of("whenever|when|if")?;
        let first = self.set()?;
        self.word("is followed by")?;
        let second = self.limit()?;
        self.word(",")?;
        let answer = self.set()?;
        self.modal()?;
        self.base()?;
        let later = |logic| next(eventually(None, logic));
        let answer = match self.one_of("afterwards|later") {
            Some(_) => later(answer),
            None => eventually(None, answer),
        };
        let seen = and([first, later(second.clone())]);
        let answered = later(and([second, answer]));
        Some(always(implies(seen, answered)))
    }

    /// One duty, or several that `and` joins.
    fn duties(&mut self, triggered: bool) -> Option<Logic> {
        let mut parts = vec![self.duty(triggered)?];
        while let Some(part) = self.attempt(|parser| {
            parser.one_of(", and|and")?;
            parser.duty(triggered)
        }) {
            parts.push(part);
        }
        Some(and(parts))
    }

    fn duty_alone(&mut self) -> Option<Logic> {
        self.duties(false)
    }

    /// A duty: of a situation, or of whoever acts.
    fn duty(&mut self, triggered: bool) -> Option<Logic> {
        if let Some(duty) = self.attempt(|parser| parser.of_agent(triggered)) {
            return Some(duty);
        }
        if let Some(duty) = self.attempt(|parser| parser.no(triggered)) {
            return Some(duty);
        }
        let mut what = self.set()?;
        if let Some(then) = self.attempt(|parser| {
            parser.word("and then")?;
            parser.set()
        }) {
            what = and([what, next(eventually(None, then))]);
        }
        let (force, class, back) = self.attempt(Self::forced)?;
        if back {
            return self.looking_back(each(class, what), force);
        }
        let timing = self.timing(triggered)?;
        self.timed(what, force, class, timing, triggered)
    }

    fn modal(&mut self) -> Option<usize> {
        self.one_of("must|shall|has to|have to")
    }

    /// `not`, `never`, `always`, or none of them
    fn force(&mut self) -> Force {
        match self.one_of("not|never|always") {
            None => Force::Must,
            Some(0) => Force::MustNot,
            Some(1) => Force::Never,
            Some(_) => Force::Always,
        }
    }

    /// `must not hold`, `must have happened`: force, class, and whether it looks back.
    fn forced(&mut self) -> Option<(Force, Class, bool)> {
        self.modal()?;
        let force = self.force();
        if self.has("have") {
            let class = match self.one_of("held|been true|happened|occurred|been")? {
                0 | 1 => Class::State,
                2 | 3 => Class::Action,
                _ => self.one_of(CALLED).map(|_| Class::Call)?,
            };
            return Some((force, class, true));
        }
        Some((force, self.base()?, false))
    }

    /// `hold`, `happen`, `be called`
    pub(super) fn base(&mut self) -> Option<Class> {
        match self.one_of("hold|be true|stay true|happen|occur|come|be")? {
            0..=2 => Some(Class::State),
            3..=5 => Some(Class::Action),
            _ => self.one_of(CALLED).map(|_| Class::Call),
        }
    }

    /// `satisfy`, `do`, `call`: the verbs of an agent.
    pub(super) fn doing(&mut self) -> Class {
        match self
            .one_of("satisfy|ensure|keep|maintain|do|perform|make|run|call|invoke|use|execute")
        {
            Some(0..=3) => Class::State,
            Some(7..) => Class::Call,
            _ => Class::Action,
        }
    }

    /// `No \`a\` may happen before \`b\``, `No \`a\` before \`b\``
    fn no(&mut self, triggered: bool) -> Option<Logic> {
        self.word("no")?;
        let what = self.set()?;
        if self.has("may|must") {
            let class = self.base()?;
            let timing = self.timing(triggered)?;
            return self.timed(what, Force::MustNot, class, timing, triggered);
        }
        self.word("before")?;
        let end = self.holding()?;
        Some(unless(not(what), end))
    }

    /// `The agent must within 5 steps do \`a\``
    fn of_agent(&mut self, triggered: bool) -> Option<Logic> {
        self.one_of(AGENTS)?;
        self.modal()?;
        let force = self.force();
        let early = self.timing(triggered)?;
        self.word(",");
        let class = self.doing();
        let what = self.set()?;
        let timing = match early {
            Timing::Unsaid => self.timing(triggered)?,
            early => early,
        };
        self.timed(what, force, class, timing, triggered)
    }

    /// When something is so; [`Timing::Unsaid`] if no word of time follows.
    fn timing(&mut self, triggered: bool) -> Option<Timing> {
        let from = self.at;
        let fixed = [
            ("at that step or a later one", Timing::Eventually),
            ("eventually", Timing::Eventually),
            ("at some point", Timing::Eventually),
            ("sooner or later", Timing::Eventually),
            ("at every step from then on", Timing::FromThenOn),
            ("from then on", Timing::FromThenOn),
            ("at every step", Timing::FromThenOn),
            ("in the next step , if there is one", Timing::NextIfAny),
            ("at the next step , if there is one", Timing::NextIfAny),
            ("in the next step", Timing::Next),
            ("at the next step", Timing::Next),
            ("afterwards", Timing::Later),
            ("later", Timing::Later),
            ("again", Timing::MoreThan(1)),
            ("together", Timing::Together),
        ];
        // `again until` is not `again`, and `at that step or within` not `at that step`.
        if self.has("again until") {
            return Some(Timing::AgainUntil(self.holding()?));
        }
        if let Some(window) = self.ahead(!triggered) {
            return Some(Timing::Ahead(window));
        }
        for (words, timing) in fixed {
            if self.word(words).is_some() {
                return Some(timing);
            }
        }
        if triggered && self.has("at that step|at the same step|immediately") {
            return Some(Timing::Here);
        }
        if !triggered && self.has("at the first step|immediately") {
            return Some(Timing::Here);
        }
        if !triggered && self.has("exactly when|if and only if") {
            return Some(Timing::ExactlyWhen(self.holding()?));
        }
        if self.has("for longer than") {
            let (high, unit) = self.length()?;
            return Some(Timing::LongerThan(Window::deadline(high, unit)));
        }
        if let Some((high, unit)) = self.attempt(|parser| {
            parser.word("for")?;
            parser.length()
        }) {
            return Some(Timing::For(Window::from_now(high, unit)));
        }
        if self.has("until") {
            let end = self.holding()?;
            let strong = self.attempt(|parser| {
                if parser.has(", which must happen") {
                    return Some(());
                }
                parser.word(", and")?;
                let again = parser.set()?;
                parser.word("must hold at some point")?;
                (again == end).then_some(())
            });
            if strong.is_none() {
                self.word(", if it ever does");
            }
            return Some(Timing::Until(end, strong.is_some()));
        }
        if let Some(end) = self.attempt(|parser| {
            parser.word("before")?;
            parser.holding()
        }) {
            return Some(Timing::Before(end));
        }
        if self.has("unless") {
            let what = self.set()?;
            let verb = self.verb();
            let what = self.so_often(what, verb);
            let timing = match verb {
                Some((Class::State, false, false)) => Timing::UnlessHolds(what),
                Some((Class::State, false, true)) => Timing::UnlessHolds(not(what)),
                Some((_, true, true)) => Timing::OnceHeld(what),
                Some((_, false, true)) => {
                    self.expect(LOOKING_BACK);
                    return None;
                }
                Some((class, _, false)) => Timing::UnlessHeld(each(class, what)),
                None => Timing::UnlessHeld(vec![what]),
            };
            self.one_of("at that step|beforehand|before");
            return Some(timing);
        }
        if let Some(timing) = self.attempt(|parser| parser.counted()) {
            return Some(timing);
        }
        self.at = from;
        Some(Timing::Unsaid)
    }

    /// `at most twice in any 5 minutes`, `only once`, `exactly 3 times`
    pub(super) fn counted(&mut self) -> Option<Timing> {
        let words = self.one_of("at least|exactly|more than|at most|only")?;
        let count = self.times()?;
        Some(match words {
            0 => Timing::AtLeast(count),
            1 => Timing::Exactly(count),
            2 => Timing::MoreThan(count),
            _ if self.has("in any|within any") => {
                let (high, unit) = self.length()?;
                Timing::AtMostIn(count, Window::from_now(high, unit))
            }
            _ => Timing::AtMost(count),
        })
    }

    /// Reads a duty that looks back from the steps of a condition.
    fn looking_back(&mut self, what: Vec<Logic>, force: Force) -> Option<Logic> {
        if force == Force::Always {
            return Some(Logic::Unary(Unary::Historically, None, Box::new(and(what))));
        }
        let held: Box<dyn Fn(Logic) -> Logic> =
            if self.has("in the step before|at the step before|directly before") {
                Box::new(previously)
            } else if self.has("at an earlier step") {
                Box::new(|what| previously(once(None, what)))
            } else if self.has("since the last|since") {
                let last = self.holding()?;
                Box::new(move |what| previously(since(not(last.clone()), what)))
            } else if let Some(window) = self.back() {
                Box::new(move |what| once(Some(window), what))
            } else {
                self.one_of("at that step or an earlier one|beforehand|before|earlier");
                Box::new(|what| once(None, what))
            };
        Some(and(what.into_iter().map(|what| match force {
            Force::Must => held(what),
            _ => not(held(what)),
        })))
    }

    /// The formula of a duty: at the step of a trigger, or of the whole run.
    pub(super) fn timed(
        &mut self,
        what: Logic,
        force: Force,
        class: Class,
        timing: Timing,
        triggered: bool,
    ) -> Option<Logic> {
        if class == Class::Call
            && !matches!(timing, Timing::Together)
            && matches!(what, Logic::And(_))
        {
            let duties = each(class, what).into_iter();
            let duty = |what| self.timed(what, force, Class::Action, timing.clone(), triggered);
            return duties.map(duty).collect::<Option<Vec<_>>>().map(and);
        }
        let denied = matches!(force, Force::MustNot | Force::Never);
        let signed = |what: Logic| if denied { not(what) } else { what };
        let weak_until = |what: Logic, end: Logic| unless(signed(what), end);
        // `always` says when by itself; what is said of the whole run is not said of each step of a condition.
        let whole = matches!(
            timing,
            Timing::Together
                | Timing::AtMostIn(..)
                | Timing::LongerThan(_)
                | Timing::AgainUntil(_)
                | Timing::UnlessHolds(_)
                | Timing::UnlessHeld(_)
                | Timing::OnceHeld(_)
                | Timing::ExactlyWhen(_)
        );
        let lasting = matches!(
            timing,
            Timing::Unsaid | Timing::FromThenOn | Timing::For(_) | Timing::Until(..)
        );
        if whole && triggered || force == Force::Always && !lasting {
            self.expect("a time that fits the duty");
            return None;
        }
        let duty = match timing {
            Timing::Unsaid => match (force, class, triggered) {
                (Force::Always, _, false) | (Force::Must, Class::State, false) => always(what),
                (Force::Never | Force::MustNot, _, false) => never(what),
                (Force::Must, _, false) | (Force::Must, Class::Action | Class::Call, true) => {
                    eventually(None, what)
                }
                (Force::Must, Class::State, true) => what,
                (Force::MustNot, Class::State, true) => not(what),
                (Force::MustNot | Force::Never | Force::Always, _, true) => {
                    self.expect("a time, such as `at that step` or `afterwards`");
                    return None;
                }
            },
            Timing::Here => signed(what),
            Timing::Next => signed(next(what)),
            Timing::NextIfAny => Logic::Unary(Unary::WeakNext, None, Box::new(signed(what))),
            Timing::Ahead(window) => signed(eventually(Some(window), what)),
            Timing::Eventually if !denied => eventually(None, what),
            Timing::Later => signed(next(eventually(None, what))),
            Timing::For(window) => always_in(window, signed(what)),
            Timing::FromThenOn => always(signed(what)),
            Timing::Until(end, true) => until(signed(what), end),
            Timing::Until(end, false) => weak_until(what, end),
            Timing::Before(end) if denied => weak_until(what, end),
            Timing::Before(end) => unless(not(end.clone()), and([what, not(end)])),
            Timing::AtMost(count) if !denied => not(occurrences(count.checked_add(1)?, &what)),
            Timing::MoreThan(count) if denied => not(occurrences(count.checked_add(1)?, &what)),
            Timing::Together if denied && matches!(what, Logic::And(_)) => never(what),
            Timing::AtLeast(count) if !denied && count > 0 => occurrences(count, &what),
            Timing::Exactly(count) if !denied && count > 0 => {
                let most = not(occurrences(count.checked_add(1)?, &what));
                and([occurrences(count, &what), most])
            }
            Timing::AtMostIn(count, window) if !denied => {
                always(Logic::AtMost(count, window, Box::new(what)))
            }
            Timing::LongerThan(window) if denied => {
                let ends = eventually(Some(window), not(what.clone()));
                always(implies(what, ends))
            }
            Timing::AgainUntil(end) if denied => {
                let closed = unless(not(what.clone()), end);
                let closed = Logic::Unary(Unary::WeakNext, None, Box::new(closed));
                always(implies(what, closed))
            }
            Timing::UnlessHolds(state) if denied => always(implies(what, state)),
            Timing::UnlessHeld(firsts) if denied => self.only_after(&what, firsts),
            Timing::OnceHeld(first) if denied => Self::only_before(what, first),
            Timing::ExactlyWhen(other) if !denied => {
                always(Logic::Iff(Box::new(what), Box::new(other)))
            }
            _ => {
                self.expect("a time that fits the duty");
                return None;
            }
        };
        Some(duty)
    }

    /// `G (what -> O first)` for each of the first ones; within a scope, order is counted from its beginning.
    pub(super) fn only_after(&self, what: &Logic, firsts: Vec<Logic>) -> Logic {
        let after = |first: Logic| match self.scoped {
            true => unless(not(what.clone()), first),
            false => always(implies(what.clone(), once(None, first))),
        };
        and(firsts.into_iter().map(after))
    }

    /// `!F (first & F what)`
    pub(super) fn only_before(what: Logic, first: Logic) -> Logic {
        never(and([first, eventually(None, what)]))
    }
}

/// A verb: its class, whether it looks back, and whether it is denied.
pub(super) type Verb = (Class, bool, bool);

/// The situations that something is said of, each by itself: calls that `and` joins, which are at steps of their own.
pub(super) fn each(class: Class, what: Logic) -> Vec<Logic> {
    match what {
        Logic::And(parts) if class == Class::Call => parts,
        what => vec![what],
    }
}

/// Returns the duty at the steps of a condition. A prohibition over later steps denies the condition and those steps together.
fn conditional(condition: Logic, duty: Logic) -> Logic {
    match duty {
        Logic::Not(denied) if !denied.is_state() => never(and([condition, *denied])),
        duty => always(implies(condition, duty)),
    }
}
