//! Texts that are decoded only where something reads them.
//!
//! Most of a recording is text that no property reads: prompts, answers of tools. In tau-bench the strings of 64 bytes and
//! more are 9 % of all strings and 75 % of all bytes. The walk skips a long text of an event, which validates it, and records
//! its place; the judge of the record decodes the whole text if it is needed, or just its beginning. With this, and with
//! judging on the thread that reads, an audit of 1 GB of tau-bench with 23 properties takes 1.5 times what serde_json takes
//! to parse it, down from 2.0 (processor time, one thread).
//!
//! **Invariant:** the cell of a deferred text is never read before it is decoded; `eval/classes/demand.rs` computes from the
//! class of the event what may be read.

use crate::value::escapes::unescape;
use crate::value::{Cell, Value};

/// Fields beyond this number are never deferred, so that a set of fields is a word.
pub(crate) const MOST_FIELDS: usize = 64;

/// Texts of fewer bytes are decoded at once.
pub(crate) const SHORT: usize = 64;

/// A text that was passed over. Its cell holds a text that means nothing until it is decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeferredText {
    /// Place of the step among those of the record.
    pub step: usize,
    /// The field.
    pub field: usize,
    /// Byte offset of the opening quote.
    pub(crate) at: usize,
    /// Bytes between the quotes, as written.
    pub(crate) len: usize,
    /// Whether it has no escapes.
    pub(crate) plain: bool,
}

impl DeferredText {
    /// Returns a lower bound on the bytes of the text: an escape of six bytes may encode one.
    pub fn at_least(&self) -> usize {
        self.len / 6
    }
}

/// The deferred texts of a record, in order of steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Deferred<'t> {
    text: &'t str,
    /// The places of the texts.
    pub places: &'t [DeferredText],
}

impl<'t> Deferred<'t> {
    /// Nothing is deferred.
    pub const NONE: Deferred<'static> = Deferred {
        text: "",
        places: &[],
    };

    pub(crate) fn new(text: &'t str, places: &'t [DeferredText]) -> Deferred<'t> {
        Deferred { text, places }
    }

    /// Returns the text at a place.
    pub fn decode(&self, place: &DeferredText) -> Cell {
        self.beginning(place, usize::MAX)
    }

    /// Returns the beginning of the text at a place: `most` bytes of it, or a little more.
    pub fn beginning(&self, place: &DeferredText, most: usize) -> Cell {
        let start = place.at + 1;
        let written = self.text.get(start..start + place.len);
        let written = written.unwrap_or_default();
        if place.plain {
            let end = (most..written.len()).find(|end| written.is_char_boundary(*end));
            return known(Some(&written[..end.unwrap_or(written.len())]));
        }
        let mut text = String::new();
        let sound = unescape(written, most, &mut text);
        known(sound.map(|()| &*text))
    }
}

/// Returns the cell of a text that the scanner has already validated.
fn known(text: Option<&str>) -> Cell {
    text.map_or(Cell::Unknown, |text| {
        Cell::Known(Value::String(text.into()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    crate::random::tests! {
        256 cases;

        /// A text and its prefixes are equal to those that a parser of JSON returns.
        #[test]
        fn agrees_with_a_parser(parts in proptest::collection::vec(prop::sample::select(vec![
            "a", "é", "€", "😀", "\\n", "\\\"", "\\\\", "\\u0041", "\\u00e9", "\\ud83d\\ude00", "\\/", " ",
        ]), 0..60), most in 0..40usize) {
            let written = parts.concat();
            let text = format!("{{\"k\" : \"{written}\"}}");
            let place = DeferredText { step: 0, field: 0, at: 7, len: written.len(), plain: !written.contains('\\') };
            let places = [place];
            let deferred = Deferred::new(&text, &places);
            let meant: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
            let meant = meant["k"].as_str().unwrap_or_default();
            prop_assert_eq!(deferred.decode(&place), Cell::Known(Value::string(meant)));
            prop_assert!(place.at_least() <= meant.len());
            let Cell::Known(Value::String(beginning)) = deferred.beginning(&place, most) else {
                return Err(TestCaseError::fail("no text"));
            };
            prop_assert!(meant.starts_with(beginning.as_str()));
            prop_assert!(beginning.len() >= most.min(meant.len()));
            // A little more: what stands for one character is not cut.
            prop_assert!(beginning.len() <= most + 4);
        }
    }
}
