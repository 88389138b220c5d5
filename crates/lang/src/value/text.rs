//! Texts, of which those that stand in a document are decoded when something reads them.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

use smol_str::SmolStr;

use super::escapes::unescape;

/// A text. Cloning is O(1).
///
/// Most of a recording is text that no property reads. A long text of a document is therefore a place in it, which is
/// decoded, once, when it is first read.
#[derive(Clone)]
pub struct Text(Source);

#[derive(Clone)]
enum Source {
    Own(SmolStr),
    Written(Arc<Written>),
}

/// A sound string of a document.
struct Written {
    document: Arc<str>,
    /// The place of its first byte after the quote, and the number of bytes up to the closing quote.
    at: usize,
    len: usize,
    /// Whether it has no escapes, so that its bytes are its text.
    plain: bool,
    /// Its meaning, once it was read.
    meant: OnceLock<String>,
}

impl Written {
    fn bytes(&self) -> &str {
        let written = self.document.get(self.at..self.at + self.len);
        written.unwrap_or_default()
    }

    fn read(&self) -> &str {
        if self.plain {
            return self.bytes();
        }
        self.meant.get_or_init(|| {
            let mut meant = String::new();
            // What was passed over is known to be sound.
            let _ = unescape(self.bytes(), usize::MAX, &mut meant);
            meant
        })
    }
}

impl Text {
    /// Strings of a document of fewer bytes are decoded at once.
    pub(crate) const SHORT: usize = 64;

    /// Returns the text of a sound string of a document: `len` bytes from `at` on, between its quotes.
    pub(crate) fn written(document: &Arc<str>, at: usize, len: usize, plain: bool) -> Text {
        Text(Source::Written(Arc::new(Written {
            document: Arc::clone(document),
            at,
            len,
            plain,
            meant: OnceLock::new(),
        })))
    }

    /// Returns the text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match &self.0 {
            Source::Own(text) => text,
            Source::Written(written) => written.read(),
        }
    }

    /// Returns the text by itself.
    pub fn to_smol(&self) -> SmolStr {
        match &self.0 {
            Source::Own(text) => text.clone(),
            Source::Written(written) => SmolStr::new(written.read()),
        }
    }

    /// Whether it has no characters; decodes nothing.
    pub fn is_empty(&self) -> bool {
        match &self.0 {
            Source::Own(text) => text.is_empty(),
            Source::Written(written) => written.len == 0,
        }
    }

    /// Whether it has more bytes than this; decodes it only if that is not plain from its written form, in which up to six bytes
    /// stand for one.
    #[inline]
    pub(crate) fn is_longer(&self, than: usize) -> bool {
        match &self.0 {
            Source::Own(text) => text.len() > than,
            Source::Written(written) => written.len / 6 > than || written.read().len() > than,
        }
    }

    /// Whether it begins with a text; decodes no more than that.
    pub(crate) fn begins_with(&self, part: &str) -> bool {
        match &self.0 {
            Source::Written(written) if !written.plain && written.meant.get().is_none() => {
                let mut beginning = String::new();
                let sound = unescape(written.bytes(), part.len(), &mut beginning);
                sound.is_some() && beginning.starts_with(part)
            }
            _ => self.as_str().starts_with(part),
        }
    }

    /// Returns the bytes that it occupies besides its place; as long as it is not decoded, about those that it would.
    pub(crate) fn memory(&self) -> usize {
        match &self.0 {
            Source::Own(text) if text.is_heap_allocated() => text.len(),
            Source::Own(_) => 0,
            Source::Written(written) => written.len,
        }
    }
}

impl Deref for Text {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl AsRef<str> for Text {
    fn as_ref(&self) -> &str {
        self.as_str()
    }
}

impl Borrow<str> for Text {
    fn borrow(&self) -> &str {
        self.as_str()
    }
}

impl Default for Text {
    fn default() -> Text {
        Text(Source::Own(SmolStr::default()))
    }
}

impl From<SmolStr> for Text {
    fn from(text: SmolStr) -> Text {
        Text(Source::Own(text))
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Text {
        Text(Source::Own(SmolStr::new(text)))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        Text(Source::Own(text.into()))
    }
}

impl From<Text> for SmolStr {
    fn from(text: Text) -> SmolStr {
        text.to_smol()
    }
}

impl PartialEq for Text {
    #[inline]
    fn eq(&self, other: &Text) -> bool {
        match (&self.0, &other.0) {
            (Source::Own(lhs), Source::Own(rhs)) => lhs == rhs,
            (Source::Written(lhs), Source::Written(rhs)) if Arc::ptr_eq(lhs, rhs) => true,
            _ => self.as_str() == other.as_str(),
        }
    }
}

impl Eq for Text {}

impl PartialEq<str> for Text {
    fn eq(&self, other: &str) -> bool {
        self.as_str() == other
    }
}

impl PartialEq<&str> for Text {
    fn eq(&self, other: &&str) -> bool {
        self.as_str() == *other
    }
}

impl PartialEq<Text> for SmolStr {
    fn eq(&self, other: &Text) -> bool {
        self.as_str() == other.as_str()
    }
}

impl PartialOrd for Text {
    fn partial_cmp(&self, other: &Text) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Text {
    fn cmp(&self, other: &Text) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl Hash for Text {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self)
    }
}

impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl serde::Serialize for Text {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Text {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
        SmolStr::deserialize(from).map(Text::from)
    }
}
