//! The files of one compilation.

use std::borrow::Cow;
use std::sync::OnceLock;

use super::{FileId, LineTable, Location, Span};

/// One file: its name as given, its text and its line table.
#[derive(Clone, Debug)]
pub struct SourceFile {
    id: FileId,
    /// Names and texts of the standard library are not copied.
    name: Cow<'static, str>,
    text: Cow<'static, str>,
    /// Computed at first use: most files need no line table.
    lines: OnceLock<LineTable>,
}

impl SourceFile {
    /// Returns a file on its own, with the number 0.
    #[must_use]
    pub fn new(name: impl Into<String>, text: impl Into<String>) -> Self {
        Self::with_id(FileId(0), name, text)
    }

    /// Returns a file with a number chosen by the caller.
    #[must_use]
    pub fn with_id(id: FileId, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            id,
            name: Cow::Owned(name.into()),
            text: Cow::Owned(text.into()),
            lines: OnceLock::new(),
        }
    }

    /// Returns its number.
    #[must_use]
    pub fn id(&self) -> FileId {
        self.id
    }

    /// Returns its name in messages.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its whole text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns its line table.
    #[must_use]
    pub fn lines(&self) -> &LineTable {
        self.lines.get_or_init(|| LineTable::new(&self.text))
    }

    /// Returns the line and column of a byte offset.
    #[must_use]
    pub fn location(&self, offset: u32) -> Location {
        self.lines().location(&self.text, offset)
    }

    /// Returns the text of a span; empty if the span is outside of the file.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.text.get(span.range()).unwrap_or("")
    }

    /// Returns the span of the whole text.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(
            self.id,
            0,
            u32::try_from(self.text.len()).unwrap_or(u32::MAX),
        )
    }
}

/// All files of a compilation, numbered in the order they were added.
#[derive(Clone, Debug, Default)]
pub struct SourceMap {
    files: Vec<SourceFile>,
    missing: SourceFile,
}

impl Default for SourceFile {
    fn default() -> Self {
        Self::new("", "")
    }
}

impl SourceMap {
    /// Returns a map without files.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a file and returns its number.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> FileId {
        let id = self.next();
        self.files.push(SourceFile::with_id(id, name, text));
        id
    }

    /// Adds a file that the program contains, without a copy of its text, and returns its number.
    pub fn add_contained(&mut self, name: &'static str, text: &'static str) -> FileId {
        let id = self.next();
        self.files.push(SourceFile {
            id,
            name: Cow::Borrowed(name),
            text: Cow::Borrowed(text),
            lines: OnceLock::new(),
        });
        id
    }

    fn next(&self) -> FileId {
        FileId(u32::try_from(self.files.len()).unwrap_or(u32::MAX))
    }

    /// Returns the file with a number; an empty file if there is none.
    #[must_use]
    pub fn get(&self, id: FileId) -> &SourceFile {
        self.files.get(id.0 as usize).unwrap_or(&self.missing)
    }

    /// Returns the text of a span.
    #[must_use]
    pub fn slice(&self, span: Span) -> &str {
        self.get(span.file).slice(span)
    }

    /// Returns all files, in order of their numbers.
    pub fn iter(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter()
    }
}

impl From<SourceFile> for SourceMap {
    /// Returns a map of one file, which should have the number 0.
    fn from(file: SourceFile) -> Self {
        Self {
            files: vec![file],
            missing: SourceFile::default(),
        }
    }
}
