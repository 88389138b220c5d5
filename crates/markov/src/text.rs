//! Positions in texts, and errors with a position.

/// A position in a text, counted from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct TextPosition {
    /// The line.
    pub line: u32,
    /// The column, in characters.
    pub column: u32,
}

impl TextPosition {
    /// Returns the position of the first character of a line.
    pub fn line(line: usize) -> TextPosition {
        TextPosition {
            line: u32::try_from(line).unwrap_or(u32::MAX),
            column: 1,
        }
    }
}

/// A fault in a model or a property, with its position.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}:{}: {message}", place.line, place.column)]
pub struct TextError {
    /// The position.
    pub place: TextPosition,
    /// The description of the fault, in one clause.
    pub message: String,
    /// The suggested fix, if known.
    pub help: Option<String>,
}

impl TextError {
    /// Returns an error without a suggested fix.
    pub fn new(place: TextPosition, message: impl Into<String>) -> TextError {
        TextError {
            place,
            message: message.into(),
            help: None,
        }
    }

    /// Returns the error with a suggested fix.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> TextError {
        self.help = Some(help.into());
        self
    }
}
