//! Sentences: the rules of the grammar, and the words that its table does not have.

use super::grammar::{ABOUT, About, Slots, Value, formula, has, rule};
use super::parser::Parser;
use super::scope::within;
use crate::pattern::{Part, Row};
use crate::words::Logic;
use crate::words::formula::{BACK, Unary, and, not, so_often};

impl Parser<'_> {
    /// Reads a rule of the grammar.
    fn rule(&mut self, name: &'static str) -> Option<Value> {
        match name {
            "end" => self.ends().then_some(Value::Nothing),
            "force" | "no" | "base" | "held" | "doing" => {
                Some(Value::Meaning(self.first_row(name)?.0.meaning))
            }
            "holds" | "does not hold" | "has not" | "not" => {
                let verb = self.verb()?;
                let fits = match name {
                    "holds" => verb == "state",
                    "does not hold" => verb == "state denied",
                    "has not" => has(verb, "back") && has(verb, "denied"),
                    _ => has(verb, "denied"),
                };
                fits.then_some(Value::Nothing)
            }
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
            "decimal" => self.number().map(Value::Number),
            // After a trigger, a bound in steps begins at the next one.
            "ahead" => self.window(if self.triggered { "later" } else { "here" }),
            "here" | "later" | "back" | "bound" | "deadline" | "span" | "length" | "steps" => {
                self.window(name)
            }
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
            "named" => self.named(),
            "quoted" => {
                self.tokens.get(self.at)?.quoted()?;
                self.named()
            }
            "holding" => self.holding(),
            "alone" => self.duties(false),
            "duties" => self.duties(true),
            "answer" => self
                .duties(true)
                .filter(|duty| matches!(duty, Logic::Unary(Unary::Eventually, Some(_), _))),
            "within a scope" => self.within_scope(),
            name => self.kept(name, |parser| match parser.table(name)? {
                Value::Logic(logic) => Some(logic),
                _ => None,
            }),
        }
    }

    /// Reads the first row of a rule that is here and that has a meaning.
    pub(super) fn table(&mut self, name: &str) -> Option<Value> {
        let mut rows = rule(name).iter();
        rows.find_map(|row| {
            self.attempt(|parser| {
                let slots = parser.row(row)?;
                parser.meaning(row, slots)
            })
        })
    }

    /// Reads the first row of a rule that is here.
    pub(super) fn first_row(&mut self, name: &str) -> Option<(&'static Row, Slots)> {
        let mut rows = rule(name).iter();
        rows.find_map(|row| Some((row, self.attempt(|parser| parser.row(row))?)))
    }

    fn row(&mut self, row: &'static Row) -> Option<Slots> {
        let is_here = |flag: &str| match flag {
            "triggered" => self.triggered,
            "alone" => !self.triggered,
            "scoped" => self.scoped,
            _ => true,
        };
        if self.stuck.is_some() || !row.flag.split(' ').all(is_here) {
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
        Some(slots)
    }

    fn meaning(&mut self, row: &'static Row, mut slots: Slots) -> Option<Value> {
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

    /// A scope, and a duty with or without a condition.
    fn within_scope(&mut self) -> Option<Logic> {
        let scope = match self.table("scope") {
            Some(Value::About(About {
                row: Some(row),
                slots,
                ..
            })) if row.meaning != "run" => Some((row, slots)),
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
            let Some((row, slots)) = &scope else {
                return Some(duty);
            };
            let found = within(row, slots, &duty);
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
        let (what, verb) = self.with_verb(what);
        if has(verb, "call") && matches!(what, Logic::And(_)) {
            self.stick(
                1,
                "one call, or several joined by `or`, as two calls are two steps",
            );
            return None;
        }
        Some(if has(verb, "denied") { not(what) } else { what })
    }

    /// Reads the situation that must have come first, with or without a verb such as `has happened`.
    fn first(&mut self) -> Option<Value> {
        let what = self.set()?;
        let (what, verb) = self.with_verb(what);
        if has(verb, "denied") {
            return None;
        }
        let of_each = has(verb, "call");
        Some(if of_each {
            Value::Each(what)
        } else {
            Value::First(what)
        })
    }

    /// Reads the verb of a situation, if there is one. *Has happened 3 times* is about a step where it happens, with those before it.
    fn with_verb(&mut self, what: Logic) -> (Logic, &'static str) {
        let verb = self.verb().unwrap_or_default();
        let counts = has(verb, "back") && !has(verb, "denied");
        match counts.then(|| self.times()).flatten() {
            Some(count) => (so_often(count, &what, BACK), verb),
            None => (what, verb),
        }
    }

    /// `holds`, `has not happened`, `was called`: what it means.
    fn verb(&mut self) -> Option<&'static str> {
        Some(self.first_row("verb")?.0.meaning)
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
}
