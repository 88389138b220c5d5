//! Colours for terminals.

/// Whether to use colours, and the style of each kind of word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    /// Whether escape sequences are written.
    pub colour: bool,
}

impl Paint {
    /// Without colours.
    pub const PLAIN: Paint = Paint { colour: false };

    fn with(self, code: &str, text: &str) -> String {
        if self.colour && !text.is_empty() {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }

    /// Paints an error.
    pub fn bad(self, text: &str) -> String {
        self.with("1;31", text)
    }

    /// Paints a success.
    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    /// Paints an undecided result, or a warning.
    pub fn open(self, text: &str) -> String {
        self.with("33", text)
    }

    /// Paints a name.
    pub fn name(self, text: &str) -> String {
        self.with("1", text)
    }

    /// Paints positions and frames.
    pub fn quiet(self, text: &str) -> String {
        self.with("2", text)
    }

    /// Paints the marks that point at something: letters, carets.
    pub fn point(self, text: &str) -> String {
        self.with("36", text)
    }
}
