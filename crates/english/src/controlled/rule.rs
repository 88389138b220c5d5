//! Sentences: the rules of the grammar, and the words that its table does not have.

use super::grammar::{ABOUT, About, Class, Force, Slots, Value, formula, rule};
use super::parser::Parser;
use super::scope::within;
use crate::pattern::{Part, Row};
use crate::words::formula::{Unary, always, and, eventually, implies, not, or, so_often};
use crate::words::{Logic, Ratio, UNLESS_CUT_OFF, Unit, Window};

/// The participles of calling.
const CALLED: &str = "called|invoked|used|run|executed";
/// The actors in sentences of EARS and FRETish.
pub(super) const AGENTS: &str = "the agent|the system|the assistant|the component|the software|the controller|the model|the robot|the server|the client|it";

/// A verb: its class, whether it looks back, and whether it is denied.
type Verb = (Class, bool, bool);

impl Parser<'_> {
    /// Reads a rule of the grammar.
    fn rule(&mut self, name: &'static str) -> Option<Value> {
        let window = |of: fn(Ratio, Unit) -> Window, (high, unit)| Value::Window(of(high, unit));
        match name {
            "agent" => self.one_of(AGENTS).map(|_| Value::Nothing),
            "end" => self.ends().then_some(Value::Nothing),
            "force" => Some(Value::Force(self.force())),
            "no" => self.word("no").map(|()| Value::Force(Force::MustNot)),
            "base" => self.base().map(Value::Class),
            "held" => self.held().map(Value::Class),
            "doing" => Some(Value::Class(self.doing())),
            "holds" => self.verb_that(|verb| verb == (Class::State, false, false)),
            "does not hold" => self.verb_that(|verb| verb == (Class::State, false, true)),
            "has not" => self.verb_that(|(_, back, denied)| back && denied),
            "not" => self.verb_that(|(.., denied)| denied),
            "first" => self.first(),
            "timing" => Some(self.rule("time").unwrap_or_else(|| {
                Value::About(About {
                    row: None,
                    slots: Slots::default(),
                    triggered: self.triggered,
                })
            })),
            "times" => self.times().map(Value::Count),
            "number" => self.count().map(Value::Count),
            "ahead" => self.ahead(!self.triggered).map(Value::Window),
            "here" => self.ahead(true).map(Value::Window),
            "later" => self.ahead(false).map(Value::Window),
            "back" => self.back().map(Value::Window),
            "bound" => Some(window(Window::from_now, self.length()?)),
            "deadline" => Some(window(Window::deadline, self.length()?)),
            name if ABOUT.contains(&name) => self.table(name),
            name => self.logic(name).map(Value::Logic),
        }
    }

    /// Reads a rule that is a formula.
    pub(super) fn logic(&mut self, name: &'static str) -> Option<Logic> {
        match name {
            "set" => self.set(),
            "limit" => self.limit(),
            "several" => self.several(),
            "operand" => self.operand(),
            "situation" => self.situation(),
            "holding" => self.holding(),
            "alone" => self.duties(false),
            "duties" => self.duties(true),
            "answer" => self
                .duties(true)
                .filter(|duty| matches!(duty, Logic::Unary(Unary::Eventually, Some(_), _))),
            "within a scope" => self.within_scope(),
            "cut off" => self.cut_off(),
            name => self.kept(name, |parser| match parser.table(name)? {
                Value::Logic(logic) => Some(logic),
                _ => None,
            }),
        }
    }

    /// Reads the first row of a rule that is here.
    fn table(&mut self, name: &str) -> Option<Value> {
        let mut rows = rule(name).iter();
        rows.find_map(|row| self.attempt(|parser| parser.row(row)))
    }

    fn row(&mut self, row: &'static Row) -> Option<Value> {
        let elsewhere = [
            ("triggered", self.triggered),
            ("alone", !self.triggered),
            ("scoped", self.scoped),
        ];
        let is_flagged = |flag| row.flag.split(' ').any(|known| known == flag);
        if self.stuck.is_some()
            || elsewhere
                .iter()
                .any(|(flag, here)| is_flagged(*flag) && !here)
        {
            return None;
        }
        let mut slots = Slots::default();
        for part in &row.parts {
            match part {
                Part::Words(choices) => {
                    choices.iter().find(|words| self.word(words).is_some())?;
                }
                Part::Slot(letter, name) => {
                    let value = self.rule(name)?;
                    if *letter != ' ' && !slots.bind(*letter, value) {
                        return None;
                    }
                }
            }
        }
        slots.said_of_calls();
        if ABOUT.contains(&row.group) && !row.meaning.starts_with('?') {
            return Some(Value::About(About {
                row: Some(row),
                slots,
                triggered: self.triggered,
            }));
        }
        match formula(row.meaning, &slots) {
            Ok(logic) => Some(Value::Logic(logic)),
            Err(expected) => {
                self.expect(expected);
                None
            }
        }
    }

    /// `…, unless the trace ends before that`
    fn cut_off(&mut self) -> Option<Logic> {
        let asked = self.logic("conditional")?;
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
        Some(always(implies(*when, or([*then, ends]))))
    }

    /// A scope, and a duty with or without a condition.
    fn within_scope(&mut self) -> Option<Logic> {
        let scope = match self.table("scope") {
            Some(Value::About(About {
                row: Some(row),
                slots,
                ..
            })) if row.meaning != "run" => Some((row.meaning, slots)),
            _ => None,
        };
        self.scoped = scope.is_some();
        let begin = self.at;
        for rule in ["conditional", "alone", "duty of some"] {
            self.at = begin;
            let Some(duty) = self.logic(rule) else {
                continue;
            };
            if !self.ends() {
                self.end();
                continue;
            }
            let Some((scope, slots)) = &scope else {
                return Some(duty);
            };
            let found = within(scope, slots, &duty);
            if found.is_none() {
                self.stuck = Some((
                    begin,
                    "a duty that looks ahead, as it is within a scope".into(),
                ));
            }
            return found;
        }
        None
    }

    /// Whether nothing of the sentence is left.
    fn ends(&self) -> bool {
        self.tokens.get(self.at).is_none_or(|token| token.is("."))
    }

    /// Reads a situation, with or without a verb such as `holds`.
    fn holding(&mut self) -> Option<Logic> {
        let what = self.limit()?;
        let verb = self.verb();
        let what = self.so_often(what, verb);
        match (verb, &what) {
            (Some((Class::Call, ..)), Logic::And(_)) => {
                self.stick(
                    1,
                    "one call, or several joined by `or`, as two calls are two steps",
                );
                None
            }
            (Some((_, _, true)), _) => Some(not(what)),
            _ => Some(what),
        }
    }

    /// Reads the situation that must have come first, with or without a verb such as `has happened`.
    fn first(&mut self) -> Option<Value> {
        let what = self.set()?;
        let verb = self.verb();
        let what = self.so_often(what, verb);
        Some(match verb {
            Some((.., true)) => return None,
            Some((Class::Call, ..)) => Value::Each(what),
            _ => Value::First(what),
        })
    }

    /// `has happened 3 times`: at a step where it happens, with those before it.
    fn so_often(&mut self, what: Logic, verb: Option<Verb>) -> Logic {
        match verb {
            Some((_, true, false)) => match self.times() {
                Some(count) => so_often(count, &what),
                None => what,
            },
            _ => what,
        }
    }

    /// `holds`, `has not happened`, `was called`.
    fn verb(&mut self) -> Option<Verb> {
        use Class::{Action, State};
        let verbs = [
            ("holds|hold|is true|are true", State, false, false),
            ("has held|have held|has been true", State, true, false),
            ("happens|happen|occurs|occur", Action, false, false),
            (
                "has happened|have happened|has occurred",
                Action,
                true,
                false,
            ),
            ("does not hold|do not hold|is not true", State, false, true),
            (
                "does not happen|do not happen|does not occur",
                Action,
                false,
                true,
            ),
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

    fn verb_that(&mut self, fits: impl Fn(Verb) -> bool) -> Option<Value> {
        self.verb()
            .filter(|verb| fits(*verb))
            .map(|_| Value::Nothing)
    }

    /// One duty, or several that `and` joins; of the steps of a condition, or of the run.
    fn duties(&mut self, triggered: bool) -> Option<Logic> {
        self.triggered = triggered;
        let duties = self.duty_list();
        self.triggered = false;
        duties
    }

    fn duty_list(&mut self) -> Option<Logic> {
        let mut parts = vec![self.logic("duty")?];
        while let Some(part) = self.attempt(|parser| {
            parser.one_of(", and|and")?;
            parser.logic("duty")
        }) {
            parts.push(part);
        }
        Some(and(parts))
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

    /// `hold`, `happen`, `be called`
    fn base(&mut self) -> Option<Class> {
        match self.one_of("hold|be true|stay true|happen|occur|come|be")? {
            0..=2 => Some(Class::State),
            3..=5 => Some(Class::Action),
            _ => self.one_of(CALLED).map(|_| Class::Call),
        }
    }

    /// `held`, `happened`, `been called`
    fn held(&mut self) -> Option<Class> {
        match self.one_of("held|been true|happened|occurred|been")? {
            0 | 1 => Some(Class::State),
            2 | 3 => Some(Class::Action),
            _ => self.one_of(CALLED).map(|_| Class::Call),
        }
    }

    /// `satisfy`, `do`, `call`: the verbs of an agent.
    fn doing(&mut self) -> Class {
        let verbs = "satisfy|ensure|keep|maintain|do|perform|make|run|call|invoke|use|execute";
        match self.one_of(verbs) {
            Some(0..=3) => Class::State,
            Some(7..) => Class::Call,
            _ => Class::Action,
        }
    }
}
