//! JSON objects as a list of members, each as written.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use jiter::Peek;
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::input::document::{brief, explain};
use crate::input::limits::InputLimits;
use crate::input::scan::{Fault, Lexeme, Scanner};
use crate::texts::folded;

/// The greatest number of members of an object.
const MOST_MEMBERS: usize = 100_000;

/// The members of a JSON object, in order and as written, including duplicates.
#[derive(Clone, Debug)]
pub struct RawObject<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> RawObject<'l> {
    /// Parses an object. Duplicate keys are allowed; the caller checks the keys.
    ///
    /// # Errors
    /// The text is not a JSON object.
    pub fn parse(text: &'l [u8]) -> Result<RawObject<'l>, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns a member as written.
    pub fn raw(&self, key: &str) -> Option<&'l str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.get())
    }

    /// Returns a member that is a string.
    pub fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    /// Returns all members.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'l str)> {
        self.0
            .iter()
            .map(|(key, value)| (key.as_ref(), value.get()))
    }
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Collect;

        impl<'de> Visitor<'de> for Collect {
            type Value = RawObject<'de>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<Key<'de>>()? {
                    if members.len() >= MOST_MEMBERS {
                        let why = format!("more than {MOST_MEMBERS} members");
                        return Err(serde::de::Error::custom(why));
                    }
                    members.push((key.0, map.next_value()?));
                }
                Ok(RawObject(members))
            }
        }

        from.deserialize_map(Collect)
    }
}

/// The greatest nesting depth of a text whose keys are compared: that of strict parsers.
const DEEPEST: usize = 127;

/// Up to this many keys are compared in pairs; more keys are sorted at the end of their object.
const PAIRS: usize = 32;

/// Checks that strict parsers accept a JSON text, and that no object in it has a duplicate key, at any depth; if `fold`, keys
/// that differ only in case count as duplicates, and `__proto__` is not allowed. Parsers differ on which of two such keys they use.
/// Each key takes eight bytes while its object is open; no string is copied.
///
/// # Errors
/// The text has such keys, half a surrogate pair, a number out of range, or more than 127 levels.
pub fn unique_keys(text: &str, fold: bool) -> Result<(), String> {
    let mut keys = UniqueKeys {
        open: Vec::new(),
        hashes: Vec::new(),
        hasher: RandomState::new(),
        fold,
    };
    keys.read(&mut Scanner::new(text, 0, String::new()))
}

struct UniqueKeys {
    /// For each open list or object, the number of hashes before those of its own keys; `None` for a list.
    open: Vec<Option<usize>>,
    /// The hashes of the keys of all open objects, innermost last.
    hashes: Vec<u64>,
    hasher: RandomState,
    fold: bool,
}

impl UniqueKeys {
    /// Reads a value without recursion.
    fn read(&mut self, scan: &mut Scanner<'_>) -> Result<(), String> {
        let bytes = scan.bytes();
        let wrong = |fault| explain(fault, bytes, &InputLimits::default()).1;
        let mut value = scan.peek().map_err(wrong)?;
        loop {
            let is_list = value == Peek::Array;
            let opens = is_list || value == Peek::Object;
            if opens && self.open.len() >= DEEPEST {
                return Err(format!("nested deeper than {DEEPEST} levels"));
            }
            let mut inner = None;
            if opens {
                self.open.push((!is_list).then_some(self.hashes.len()));
                inner = self.item(scan, true).map_err(wrong)??;
            } else if value == Peek::String {
                scan.pass_string().map_err(wrong)?;
            } else if let Lexeme::Number(digits) = scan.scalar(value).map_err(wrong)?
                && !digits.parse::<f64>().is_ok_and(f64::is_finite)
            {
                return Err("a number is out of range".to_owned());
            }
            // After a value, the enclosing list or object continues.
            let mut ended = opens && inner.is_none();
            value = loop {
                if let Some(inner) = inner {
                    break inner;
                }
                if ended {
                    self.close()?;
                }
                if self.open.is_empty() {
                    return Ok(());
                }
                inner = self.item(scan, false).map_err(wrong)??;
                ended = inner.is_none();
            };
        }
    }

    /// Returns the kind of the next value in the innermost list or object, or `None` at its end.
    fn item(&mut self, scan: &mut Scanner<'_>, first: bool) -> Result<Item, Fault> {
        let Some(Some(base)) = self.open.last().copied() else {
            let item = match first {
                true => scan.first_item(),
                false => scan.next_item(),
            };
            return item.map(Ok);
        };
        let key = match first {
            true => scan.first_key()?,
            false => scan.next_key()?,
        };
        let Some(key) = key else {
            return Ok(Ok(None));
        };
        // As a key it sets the prototype of an object to which a reader in JavaScript copies the members, which then has those below.
        if self.fold && key.text == "__proto__" {
            return Ok(Err("the key `__proto__`".to_owned()));
        }
        let hash = match self.fold {
            true => self.hasher.hash_one(folded(key.text)),
            false => self.hasher.hash_one(key.text),
        };
        let known = self.hashes.get(base..).unwrap_or_default();
        if known.len() < PAIRS && known.contains(&hash) {
            return Ok(Err(self.twice(&format!("key `{}`", brief(key.text)))));
        }
        self.hashes.push(hash);
        scan.peek().map(|value| Ok(Some(value)))
    }

    /// Ends the innermost list or object.
    fn close(&mut self) -> Result<(), String> {
        let Some(Some(base)) = self.open.pop() else {
            return Ok(());
        };
        let own = self.hashes.get_mut(base..).unwrap_or_default();
        own.sort_unstable();
        if own.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.twice("key in a long object"));
        }
        self.hashes.truncate(base);
        Ok(())
    }

    fn twice(&self, key: &str) -> String {
        match self.fold {
            true => format!("{key} stands twice, or differs from another one in case alone"),
            false => format!("duplicate {key}"),
        }
    }
}

/// The kind of the next value, or the reason why its key is not allowed.
type Item = Result<Option<Peek>, String>;

/// A key, borrowed if it has no escape.
#[derive(Deserialize)]
pub(super) struct Key<'l>(#[serde(borrow)] pub(super) Cow<'l, str>);

#[cfg(test)]
mod tests {
    use regex_syntax::hir::{ClassUnicode, ClassUnicodeRange};

    use super::*;

    /// Of every character, all that simple case folding makes equal, as `unicode.SimpleFold` of Go gives them one by one.
    #[test]
    fn keys_that_fold_alike_are_one() {
        let mut n_pairs = 0;
        for c in '\u{80}'..=char::MAX {
            let mut orbit = ClassUnicode::new([ClassUnicodeRange::new(c, c)]);
            orbit.try_case_fold_simple().unwrap();
            let others = orbit.iter().flat_map(|range| range.start()..=range.end());
            for other in others.filter(|other| *other != c) {
                n_pairs += 1;
                let (one, two) = (format!("q{c}x"), format!("q{other}x"));
                assert_eq!(folded(&one), folded(&two), "{c:?} {other:?}");
                let text = format!(r#"{{"{one}":5,"{two}":500}}"#);
                assert!(unique_keys(&text, true).is_err(), "{text}");
                assert_eq!(unique_keys(&text, false), Ok(()), "{text}");
            }
        }
        assert!(n_pairs > 2_800, "{n_pairs}");
    }
}
