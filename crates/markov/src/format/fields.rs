//! Lines of fields separated by blanks, with their positions.

use super::super::scalar::Scalar;
use super::super::text::{TextError, TextPosition};

/// The fields of one line.
#[derive(Clone, Debug)]
pub(super) struct Fields<'a> {
    line: &'a str,
    rest: &'a str,
    number: usize,
}

/// Returns the lines of a text that are neither blank nor comments; `mark` begins a comment.
pub(super) fn lines<'a>(text: &'a str, mark: &'a str) -> impl Iterator<Item = Fields<'a>> {
    text.lines()
        .enumerate()
        .filter(move |(_, line)| {
            let line = line.trim_start();
            !line.is_empty() && !line.starts_with(mark)
        })
        .map(|(at, line)| Fields {
            line,
            rest: line,
            number: at + 1,
        })
}

impl<'a> Fields<'a> {
    /// Returns the position of the next field.
    pub(super) fn place(&self) -> TextPosition {
        let rest = self.rest.trim_start();
        TextPosition {
            line: self.number as u32,
            column: self.line[..self.line.len() - rest.len()].chars().count() as u32 + 1,
        }
    }

    pub(super) fn line(&self) -> &'a str {
        self.line.trim()
    }

    /// Returns the next field, or `None` at the end of the line.
    pub(super) fn next(&mut self) -> Option<&'a str> {
        let rest = self.rest.trim_start();
        let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
        let (field, rest) = rest.split_at(end);
        self.rest = rest;
        (!field.is_empty()).then_some(field)
    }

    /// Returns the rest of the line without surrounding blanks.
    pub(super) fn rest(&self) -> &'a str {
        self.rest.trim()
    }

    pub(super) fn error(&self, message: impl Into<String>) -> TextError {
        TextError::new(self.place(), message)
    }

    /// Returns the next field as an unsigned integer.
    pub(super) fn int(&mut self, what: &str) -> Result<u64, TextError> {
        let place = self.place();
        let field = self
            .next()
            .ok_or_else(|| TextError::new(place, format!("missing {what}")))?;
        field.parse().map_err(|_| {
            TextError::new(
                place,
                format!("expected {what} as a whole number, found `{field}`"),
            )
        })
    }

    /// Returns the next field as the number of an existing state.
    pub(super) fn state(&mut self, states: usize) -> Result<u32, TextError> {
        let place = self.place();
        let state = self.int("the number of a state")?;
        if state >= states as u64 {
            return Err(TextError::new(
                place,
                format!("state {state} does not exist: the model has {states} states, from 0 on"),
            ));
        }
        Ok(state as u32)
    }

    /// Returns the next field as a number.
    pub(super) fn number<V: Scalar>(&mut self, what: &str) -> Result<V, TextError> {
        let place = self.place();
        let field = self
            .next()
            .ok_or_else(|| TextError::new(place, format!("missing {what}")))?;
        V::parse(field).ok_or_else(|| {
            TextError::new(
                place,
                format!("expected {what} as a finite number, found `{field}`"),
            )
        })
    }

    /// Returns the next field, `[low,high]` or a number, as bounds of a probability.
    pub(super) fn bounds(&mut self) -> Result<(f64, f64), TextError> {
        let place = self.place();
        let (low, high) = match self.rest.trim_start().strip_prefix('[') {
            None => {
                let number = self.number("a probability")?;
                (number, number)
            }
            Some(rest) => {
                let (inside, after) = rest.split_once(']').unwrap_or((rest, ""));
                let pair = inside.split_once(',').and_then(|(low, high)| {
                    Some((Scalar::parse(low.trim())?, Scalar::parse(high.trim())?))
                });
                self.rest = after;
                pair.ok_or_else(|| {
                    let message = format!("expected an interval `[low,high]`, found `[{inside}`");
                    TextError::new(place, message)
                })?
            }
        };
        for probability in [low, high] {
            if !(0.0..=1.0).contains(&probability) {
                let message = format!("the probability {probability} is not between 0 and 1");
                return Err(TextError::new(place, message));
            }
        }
        if low > high {
            let message = format!("the interval [{low},{high}] is empty");
            return Err(TextError::new(place, message));
        }
        Ok((low, high))
    }

    /// Returns an error if another field follows.
    pub(super) fn end(&mut self) -> Result<(), TextError> {
        let place = self.place();
        match self.next() {
            None => Ok(()),
            Some(more) => Err(TextError::new(place, format!("unexpected `{more}`"))),
        }
    }
}

/// The largest number of states for which memory is reserved by the declaration in a file's first line alone.
const MAX_TRUST: usize = 1 << 20;

/// Returns an error message if more than a million states are declared and not each of them can have a transition. This
/// prevents a short file from taking much memory.
pub(super) fn too_many_states(states: usize, transitions: usize) -> Option<String> {
    (states > transitions.max(MAX_TRUST)).then(|| {
        format!("{states} states declared, but only {transitions} transitions: most states would have none")
    })
}
