//! Columns of texts, however they are stored.

use std::io;

use arrow_array::cast::AsArray;
use arrow_array::{Array, LargeStringArray, StringArray, StringViewArray};
use arrow_schema::DataType;

use super::json::{keys, unread};

/// A column of texts, or of codes of texts.
pub(super) enum TextColumn {
    Small(StringArray),
    Large(LargeStringArray),
    View(StringViewArray),
    /// The place of each row's text among the values.
    Codes(Vec<usize>, Box<TextColumn>),
}

impl TextColumn {
    /// Returns the column; `path` is for messages.
    ///
    /// # Errors
    /// It has no texts.
    pub(super) fn new(array: &dyn Array, path: &str) -> io::Result<TextColumn> {
        match array.data_type() {
            DataType::Utf8 => Ok(TextColumn::Small(array.as_string().clone())),
            DataType::LargeUtf8 => Ok(TextColumn::Large(array.as_string().clone())),
            DataType::Utf8View => Ok(TextColumn::View(array.as_string_view().clone())),
            DataType::Dictionary(..) => {
                let Some(codes) = array.as_any_dictionary_opt() else {
                    return Err(unread(path, array.data_type()));
                };
                let values = TextColumn::new(codes.values().as_ref(), path)?;
                Ok(TextColumn::Codes(keys(codes), Box::new(values)))
            }
            other => Err(unread(path, other)),
        }
    }

    /// Returns the text of a row that is not null.
    #[inline]
    pub(super) fn value(&self, row: usize) -> &str {
        match self {
            TextColumn::Small(values) => values.value(row),
            TextColumn::Large(values) => values.value(row),
            TextColumn::View(values) => values.value(row),
            TextColumn::Codes(keys, values) => keys.get(row).map_or("", |key| values.value(*key)),
        }
    }
}
