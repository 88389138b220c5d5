//! Formulas as phrases: what holds at a step, and what holds around it, to any depth.

use super::parser::{Kept, Parser};
use crate::words::Logic;
use crate::words::formula::{Binary, Unary, always, and, implies, not, or, since, unless};

fn unary(op: Unary, window: Option<crate::words::Window>, inner: Logic) -> Logic {
    Logic::Unary(op, window, Box::new(inner))
}

fn binary(op: Binary, window: Option<crate::words::Window>, a: Logic, b: Logic) -> Logic {
    Logic::Binary(op, window, Box::new(a), Box::new(b))
}

impl Parser<'_> {
    /// Reads what limits a duty: a situation, or several.
    ///
    /// A list that the verb of a duty follows begins with the subject of that duty: *before `a`, `b` or `c` must happen*.
    pub(super) fn limit(&mut self) -> Option<Logic> {
        let from = self.at;
        let set = self.set()?;
        let verbs = "must|may|shall|has to|have to|requires|require|needs|leads to";
        if self.here(verbs).is_some() {
            self.at = from;
            return self.plain_set();
        }
        Some(set)
    }

    /// Reads the subject of a sentence: a situation, several in a list or joined by `and` or `or`, or a phrase in parentheses.
    pub(super) fn set(&mut self) -> Option<Logic> {
        self.attempt(Self::enumeration).or_else(|| self.plain_set())
    }

    /// `a`, `b` or `c`: three or more, so that the first comma is no end of a scope.
    fn enumeration(&mut self) -> Option<Logic> {
        let first = self.part()?;
        self.word(",")?;
        let second = self.part()?;
        let mut parts = vec![first, second];
        loop {
            let last = self.one_of(", and|, or|and|or");
            if last.is_none() {
                self.word(",")?;
            }
            parts.push(self.part()?);
            if let Some(last) = last {
                return Some(if last % 2 == 0 { and(parts) } else { or(parts) });
            }
        }
    }

    /// A situation, several joined by `and` or `or`, or a phrase in parentheses.
    fn plain_set(&mut self) -> Option<Logic> {
        self.kept(Kept::Set, |parser| {
            for (words, join) in [
                ("all of", and as fn(Vec<Logic>) -> Logic),
                ("any of", or),
                ("none of", |parts| not(or(parts))),
                ("both", and),
                ("either", or),
                ("neither", |parts| not(or(parts))),
            ] {
                if parser.word(words).is_some() {
                    return Some(join(parser.list()?));
                }
            }
            let first = parser.part()?;
            Some(parser.joined(first))
        })
    }

    /// `a`, `b` and `c`
    fn list(&mut self) -> Option<Vec<Logic>> {
        let mut parts = vec![self.part()?];
        loop {
            let last = self.one_of(", and|, or|and|or|nor");
            if last.is_none() && self.word(",").is_none() {
                return None;
            }
            parts.push(self.part()?);
            if last.is_some() {
                return Some(parts);
            }
        }
    }

    /// `and …`, `or …`: one word for all of them, as two would have two readings.
    fn joined(&mut self, first: Logic) -> Logic {
        for (word, other, all) in [("and", "or", true), ("or", "and", false)] {
            let mut parts = vec![first.clone()];
            while let Some(part) = self.attempt(|parser| {
                parser.word(word)?;
                parser.part()
            }) {
                parts.push(part);
            }
            if parts.len() > 1 {
                let mixed = self.attempt(|parser| {
                    parser.word(other)?;
                    parser.part()
                });
                if mixed.is_some() && self.stuck.is_none() {
                    let at = self.at.saturating_sub(1);
                    self.stuck = Some((
                        at,
                        format!("parentheses around the parts of `{word}` and `{other}`"),
                    ));
                }
                return if all { and(parts) } else { or(parts) };
            }
        }
        first
    }

    /// Reads one operand of `and` or `or`: a situation, its negation, a constant, or a phrase in parentheses.
    fn part(&mut self) -> Option<Logic> {
        self.kept(Kept::Part, |parser| {
            if parser.has("(") {
                let logic = parser.phrase()?;
                parser.word(")")?;
                return Some(logic);
            }
            if parser.has("not") {
                return Some(not(parser.part()?));
            }
            let constants = "true|false|the trace ends here|the trace begins here";
            if let Some(found) = parser.one_of(constants) {
                return [Logic::True, Logic::False, Logic::Last, Logic::First]
                    .into_iter()
                    .nth(found);
            }
            parser.situation()
        })
    }

    /// A phrase: as far as it goes.
    pub(super) fn phrase(&mut self) -> Option<Logic> {
        self.kept(Kept::Phrase, |parser| {
            if parser.has("it is not so that") {
                return Some(not(parser.part()?));
            }
            if parser.has("it never happens that") {
                return Some(always(not(parser.phrase()?)));
            }
            if parser.has("if") {
                let a = parser.part()?;
                parser.word(", then")?;
                return Some(implies(a, parser.phrase()?));
            }
            if parser.has("whenever") {
                let a = parser.phrase()?;
                parser.word(",")?;
                return Some(always(implies(a, parser.phrase()?)));
            }
            if parser.has("no") {
                let bad = parser.part()?;
                parser.word("before")?;
                return Some(unless(not(bad), parser.part()?));
            }
            if let Some((op, window)) = parser.place() {
                parser.word(":")?;
                return Some(unary(op, window, parser.phrase()?));
            }
            let first = parser.part()?;
            parser.after_part(first)
        })
    }

    /// Reads the rest of a phrase after its first part.
    fn after_part(&mut self, first: Logic) -> Option<Logic> {
        let from = self.at;
        let all = self.joined(first.clone());
        if self.at > from {
            return Some(all);
        }
        if self.has("exactly when") {
            let b = self.part()?;
            return Some(Logic::Iff(Box::new(first), Box::new(b)));
        }
        if self.has("never happens") {
            return Some(always(not(first)));
        }
        if self.has("comes") {
            let window = self.ahead(true);
            self.word(", and until then")?;
            let held = self.part()?;
            return Some(binary(Binary::Until, window, held, first));
        }
        if self.has("has happened , and ever since") {
            return Some(since(self.part()?, first));
        }
        if self.has("ever since") {
            let begin = self.part()?;
            self.word(", or from the start")?;
            return Some(binary(Binary::BackTo, None, first, begin));
        }
        if self.has("until") {
            let end = self.part()?;
            self.word(", or for good")?;
            return Some(unless(first, end));
        }
        if self.has("up to and including the step where") {
            let end = self.part()?;
            let op = match self.one_of(", which comes|, or for good")? {
                0 => Binary::StrongRelease,
                _ => Binary::Release,
            };
            return Some(binary(op, None, end, first));
        }
        if let Some(count) = self.attempt(|parser| {
            parser.word("at most")?;
            parser.times()
        }) {
            let window = self.back()?;
            return Some(Logic::AtMost(count, window, Box::new(first)));
        }
        if let Some((op, window)) = self.place() {
            return Some(unary(op, window, first));
        }
        Some(first)
    }
}
