//! JSON objects as their members, each as it was written.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// The members of a JSON object, in order and as written; those that stand twice are both there.
#[derive(Clone, Debug)]
pub(crate) struct RawObject<'l>(Vec<(Cow<'l, str>, &'l RawValue)>);

impl<'l> RawObject<'l> {
    /// Reads an object.
    ///
    /// # Errors
    /// A message: not JSON, not an object, or a duplicate key at any depth.
    pub(crate) fn read(text: &'l [u8]) -> Result<RawObject<'l>, String> {
        let wrong = |error: serde_json::Error| format!("expected a JSON object: {error}");
        serde_json::from_slice::<Unique>(text).map_err(wrong)?;
        serde_json::from_slice(text).map_err(wrong)
    }

    /// Reads an object whose keys are looked at elsewhere: one may stand twice.
    ///
    /// # Errors
    /// It is no JSON object.
    pub(crate) fn parse(text: &'l [u8]) -> Result<RawObject<'l>, serde_json::Error> {
        serde_json::from_slice(text)
    }

    /// Returns a member as written.
    pub(crate) fn raw(&self, key: &str) -> Option<&'l str> {
        self.0
            .iter()
            .find(|(name, _)| name == key)
            .map(|(_, value)| value.get())
    }

    /// Returns a member that is a string.
    pub(crate) fn text(&self, key: &str) -> Option<String> {
        serde_json::from_str(self.raw(key)?).ok()
    }

    /// Returns all members.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &'l str)> {
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
                    members.push((key.0, map.next_value()?));
                }
                Ok(RawObject(members))
            }
        }

        from.deserialize_map(Collect)
    }
}

/// Any JSON in which no object has a key twice: readers differ on which one counts.
struct Unique;

impl<'de> Deserialize<'de> for Unique {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(Unique)
    }
}

impl<'de> Visitor<'de> for Unique {
    type Value = Unique;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_str<E>(self, _: &str) -> Result<Unique, E> {
        Ok(Unique)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Unique, A::Error> {
        while items.next_element::<Unique>()?.is_some() {}
        Ok(Unique)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Unique, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<Key<'de>>()? {
            if keys.contains(&key.0) {
                let twice = format!("duplicate key `{}`", key.0);
                return Err(serde::de::Error::custom(twice));
            }
            keys.insert(key.0);
            map.next_value::<Unique>()?;
        }
        Ok(Unique)
    }
}

/// A key, borrowed where it has no escape.
#[derive(Deserialize)]
struct Key<'l>(#[serde(borrow)] Cow<'l, str>);
