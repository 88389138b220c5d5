//! JSON objects as their members, each as it was written.

use std::borrow::Cow;
use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use serde::Deserialize;
use serde::de::{DeserializeSeed, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The most members that an object is read as.
const MOST_MEMBERS: usize = 100_000;

/// The members of a JSON object, in order and as written; those that stand twice are both there.
#[derive(Clone, Debug)]
pub struct RawObject<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> RawObject<'l> {
    /// Reads an object whose keys are looked at elsewhere: one may stand twice.
    ///
    /// # Errors
    /// It is no JSON object.
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

/// Reads JSON in which no object has a key twice, at any depth; if `fold`, in which none has two keys that differ in case
/// alone. Readers differ on which of two such keys counts. Keys take eight bytes each while their object is open.
///
/// # Errors
/// The text is not JSON, or has such keys.
pub fn unique_keys(text: &[u8], fold: bool) -> Result<(), serde_json::Error> {
    let mut reader = serde_json::Deserializer::from_slice(text);
    let mut open = Vec::new();
    let unique = Unique {
        open: &mut open,
        hasher: &RandomState::new(),
        fold,
    };
    unique.deserialize(&mut reader)?;
    reader.end()
}

/// A key without its case, as readers that ignore case compare keys.
pub fn folded(key: &str) -> String {
    key.to_uppercase().to_lowercase()
}

/// Any JSON in which no object has a key twice.
struct Unique<'u> {
    /// Hashes of the keys of all open objects, innermost last.
    open: &'u mut Vec<u64>,
    hasher: &'u RandomState,
    fold: bool,
}

/// Up to this many keys are compared in pairs; more are sorted when their object ends.
const PAIRS: usize = 32;

impl Unique<'_> {
    fn inner(&mut self) -> Unique<'_> {
        Unique {
            open: self.open,
            hasher: self.hasher,
            fold: self.fold,
        }
    }

    fn hash(&self, key: &str) -> u64 {
        match self.fold {
            true => self.hasher.hash_one(folded(key)),
            false => self.hasher.hash_one(key),
        }
    }

    fn twice<E: serde::de::Error>(&self, key: &str) -> E {
        E::custom(match self.fold {
            true => format!("{key} stands twice, or differs from another one in case alone"),
            false => format!("duplicate {key}"),
        })
    }
}

impl<'de> DeserializeSeed<'de> for Unique<'_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Unique<'_> {
    type Value = ();

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        while items.next_element_seed(self.inner())?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        let base = self.open.len();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            let hash = self.hash(&key.0);
            let known = self.open.get(base..).unwrap_or_default();
            if known.len() < PAIRS && known.contains(&hash) {
                return Err(self.twice(&format!("key `{}`", key.0)));
            }
            self.open.push(hash);
            map.next_value_seed(self.inner())?;
        }
        let own = self.open.get_mut(base..).unwrap_or_default();
        own.sort_unstable();
        if own.windows(2).any(|pair| pair[0] == pair[1]) {
            return Err(self.twice("key in a long object"));
        }
        self.open.truncate(base);
        Ok(())
    }
}

/// A key, borrowed where it has no escape.
#[derive(Deserialize)]
struct Key<'l>(#[serde(borrow)] Cow<'l, str>);
