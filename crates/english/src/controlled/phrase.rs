//! Situations side by side: lists, and situations joined by `and` and `or`.

use super::parser::Parser;
use crate::words::Logic;
use crate::words::formula::{and, not, or};

impl Parser<'_> {
    /// Reads the situation that limits a duty, or several.
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
        self.kept("set", |parser| {
            parser
                .attempt(Self::enumeration)
                .or_else(|| parser.plain_set())
        })
    }

    /// `a`, `b` or `c`: three or more, so that the first comma does not end a scope.
    fn enumeration(&mut self) -> Option<Logic> {
        let first = self.logic("part")?;
        self.word(",")?;
        let (parts, last) = self.list(vec![first], ", and|, or|and|or")?;
        Some(if last % 2 == 0 { and(parts) } else { or(parts) })
    }

    /// A situation, several joined by `and` or `or`, or a phrase in parentheses.
    fn plain_set(&mut self) -> Option<Logic> {
        self.kept("plain set", |parser| {
            for (words, join) in [
                ("all of", and as fn(Vec<Logic>) -> Logic),
                ("any of", or),
                ("none of", |parts| not(or(parts))),
                ("both", and),
                ("either", or),
                ("neither", |parts| not(or(parts))),
            ] {
                if parser.has(words) {
                    let (parts, _) = parser.list(Vec::new(), ", and|, or|and|or|nor")?;
                    return Some(join(parts));
                }
            }
            let first = parser.logic("part")?;
            Some(parser.joined(first))
        })
    }

    /// `a`, `b` and `c`, or the rest of such a list, with the number of the word before its end.
    fn list(&mut self, mut parts: Vec<Logic>, joins: &'static str) -> Option<(Vec<Logic>, usize)> {
        parts.push(self.logic("part")?);
        loop {
            let last = self.one_of(joins);
            if last.is_none() {
                self.word(",")?;
            }
            parts.push(self.logic("part")?);
            if let Some(last) = last {
                return Some((parts, last));
            }
        }
    }

    /// Two or more joined by `and` or `or`.
    pub(super) fn several(&mut self) -> Option<Logic> {
        let first = self.logic("part")?;
        let from = self.at;
        let all = self.joined(first);
        (self.at > from).then_some(all)
    }

    /// `and …`, `or …`: one word for all of them, as two would have two readings.
    fn joined(&mut self, first: Logic) -> Logic {
        let other_part = |parser: &mut Self, word: &'static str| {
            parser.attempt(|parser| {
                parser.word(word)?;
                parser.logic("part")
            })
        };
        for (word, other, join) in [
            ("and", "or", and as fn(Vec<Logic>) -> Logic),
            ("or", "and", or),
        ] {
            let mut parts = vec![first.clone()];
            while let Some(part) = other_part(self, word) {
                parts.push(part);
            }
            if parts.len() > 1 {
                if other_part(self, other).is_some() {
                    self.stick(
                        1,
                        format!("parentheses around the parts of `{word}` and `{other}`"),
                    );
                }
                return join(parts);
            }
        }
        first
    }

    /// One situation, or a group in parentheses.
    pub(super) fn operand(&mut self) -> Option<Logic> {
        if self.has("(") {
            let logic = self.logic("phrase")?;
            self.word(")")?;
            return Some(logic);
        }
        self.situation()
    }
}
