//! The keys of objects that a spec reads, by the places at which it reads them: keys that readers who ignore case take for them
//! are found in the same places.

use std::collections::HashMap;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use smol_str::SmolStr;

use super::raw_object::Key;
use crate::hir::{Builtin, Expr, Spec};
use crate::ids::{ExprId, LocalId};
use crate::input_schema::{Field, FieldSource, Path};
use crate::texts::folded;
use crate::value::Value;

/// An expression whose value may stand at more places than this is one whose place is not known.
const MOST_PLACES: usize = 256;

/// The keys that a spec reads, from the members of an event on, except for those of outcomes.
#[derive(Debug, Default)]
pub(super) struct ReadKeys {
    event: Place,
    /// Those read from a value of which it is not known where it stands: from a track, say.
    anywhere: Place,
}

/// The keys that are read of the value at a place.
#[derive(Debug, Default)]
struct Place {
    /// By what readers compare that ignore case.
    keys: HashMap<String, Vec<(SmolStr, Place)>>,
    /// The keys that are read of every element or member.
    each: Option<Box<Place>>,
}

#[derive(Clone, Debug)]
enum Step {
    Key(SmolStr),
    Each,
}

impl ReadKeys {
    pub(super) fn of(spec: &Spec) -> ReadKeys {
        let exprs = || (0..spec.exprs.len()).map(ExprId::new);
        let mut overs: HashMap<LocalId, Vec<ExprId>> = HashMap::new();
        for id in exprs() {
            if let Expr::Quantifier { local, over, .. } = spec.exprs.get(id) {
                overs.entry(*local).or_default().push(*over);
            }
        }
        let mut places = Places {
            spec,
            overs,
            known: HashMap::new(),
        };
        let mut read = ReadKeys::default();
        for id in exprs() {
            let (of, name) = match spec.exprs.get(id) {
                Expr::Member(of, name) => (*of, name.clone()),
                Expr::Index(of, at) => match spec.exprs.get(*at) {
                    Expr::Const(Value::String(name)) => (*of, name.to_smol()),
                    _ => continue,
                },
                _ => continue,
            };
            match places.of(of) {
                None => drop(read.anywhere.key(&name)),
                Some(paths) => {
                    for path in paths {
                        read.event.at(&path).key(&name);
                    }
                }
            }
        }
        for (position, field) in spec.schema.fields.iter().enumerate() {
            for path in places.of_field(field, Some(position)).iter().flatten() {
                read.event.at(path);
            }
        }
        read
    }

    /// Checks that no key in a value, which stands at these places of an event, can be taken for a key that the spec reads there,
    /// and is none of those.
    ///
    /// # Errors
    /// The key and what it can be taken for, or the reason why the value cannot be read.
    pub(super) fn check(&self, at: &[&[&str]], json: &str) -> Result<(), String> {
        let mut places = Vec::new();
        for path in at {
            let mut reached = vec![&self.event];
            for key in *path {
                reached = below(&reached, key);
            }
            places.append(&mut reached);
        }
        let mut taken = None;
        let check = Check {
            places,
            anywhere: &self.anywhere,
            taken: &mut taken,
        };
        let read = check.deserialize(&mut serde_json::Deserializer::from_str(json));
        match (taken, read) {
            (Some(taken), _) => Err(taken),
            (None, read) => read.map_err(|error| format!("expected JSON: {error}")),
        }
    }
}

impl Place {
    /// Adds a key that is read.
    fn key(&mut self, name: &SmolStr) -> &mut Place {
        let alike = self.keys.entry(folded(name)).or_default();
        let known = alike.iter().position(|(read, _)| read == name);
        let at = known.unwrap_or(alike.len());
        if known.is_none() {
            alike.push((name.clone(), Place::default()));
        }
        &mut alike[at].1
    }

    fn at(&mut self, path: &[Step]) -> &mut Place {
        path.iter().fold(self, |place, step| match step {
            Step::Key(name) => place.key(name),
            Step::Each => place.each.get_or_insert_default(),
        })
    }

    fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the keys that are read here and that readers who ignore case take for this one.
    fn alike(&self, folded: &str) -> &[(SmolStr, Place)] {
        self.keys.get(folded).map_or(&[], Vec::as_slice)
    }
}

/// Returns what is read of the member with this key.
fn below<'p>(places: &[&'p Place], key: &str) -> Vec<&'p Place> {
    let folded = folded(key);
    let named = places.iter().flat_map(|place| place.alike(&folded));
    let named = named.filter(|(name, _)| name == key).map(|(_, of)| of);
    named.chain(of_each(places)).collect()
}

fn of_each<'p>(places: &[&'p Place]) -> impl Iterator<Item = &'p Place> {
    places.iter().filter_map(|place| place.each.as_deref())
}

/// The places of the values of expressions.
struct Places<'s> {
    spec: &'s Spec,
    /// The lists whose elements a variable stands for.
    overs: HashMap<LocalId, Vec<ExprId>>,
    /// `None` while a place is looked for, too.
    known: HashMap<ExprId, Option<Vec<Vec<Step>>>>,
}

impl Places<'_> {
    /// Returns the places at which the value of an expression may stand in an event; `None` if they are not known.
    fn of(&mut self, id: ExprId) -> Option<Vec<Vec<Step>>> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        self.known.insert(id, None);
        let found = self.find(id);
        let found = found.filter(|paths| paths.len() <= MOST_PLACES);
        self.known.insert(id, found.clone());
        found
    }

    fn find(&mut self, id: ExprId) -> Option<Vec<Vec<Step>>> {
        let spec = self.spec;
        match spec.exprs.get(id) {
            Expr::Const(_) | Expr::Unknown => Some(Vec::new()),
            Expr::Record(members) if members.is_empty() => Some(Vec::new()),
            Expr::Field(at) => self.of_field(spec.schema.fields.get(*at)?, Some(*at)),
            Expr::Meta(at) => self.of_field(spec.schema.meta.get(*at)?, None),
            Expr::Member(of, name) => self.below(&[*of], Step::Key(name.clone())),
            Expr::Index(of, at) => match spec.exprs.get(*at) {
                Expr::Const(Value::String(name)) => self.below(&[*of], Step::Key(name.to_smol())),
                _ => self.below(&[*of], Step::Each),
            },
            Expr::Local(local) => {
                let overs = self.overs.get(local)?.clone();
                self.below(&overs, Step::Each)
            }
            Expr::Cast(of) | Expr::Before(of) => self.of(*of),
            Expr::Coalesce(one, other) | Expr::If(_, one, other) => {
                let mut paths = self.of(*one)?;
                paths.extend(self.of(*other)?);
                Some(paths)
            }
            Expr::Call(Builtin::Last | Builtin::Drop | Builtin::Slice, of) => self.of(*of.first()?),
            _ => None,
        }
    }

    /// Returns the places of parts of the values of expressions.
    fn below(&mut self, of: &[ExprId], step: Step) -> Option<Vec<Vec<Step>>> {
        let mut all = Vec::new();
        for id in of {
            all.extend(self.of(*id)?);
        }
        all.iter_mut().for_each(|path| path.push(step.clone()));
        Some(all)
    }

    fn of_field(&self, field: &Field, position: Option<usize>) -> Option<Vec<Vec<Step>>> {
        // No argument stands for a member of an outcome.
        let is_outcome = |position| self.spec.outcomes.contains(&position);
        if field.name == "result" || position.is_some_and(is_outcome) {
            return Some(Vec::new());
        }
        let FieldSource::Event(Path::Pointer(tokens)) = &field.source else {
            return None;
        };
        let step = |token: &SmolStr| match token.parse::<usize>() {
            Ok(_) => Step::Each,
            Err(_) => Step::Key(token.clone()),
        };
        Some(vec![tokens.iter().map(step).collect()])
    }
}

/// Finds a key in a value that can be taken for one that is read at its place. Only what lies on the way to such a place is kept.
struct Check<'p, 'f> {
    places: Vec<&'p Place>,
    anywhere: &'p Place,
    taken: &'f mut Option<String>,
}

impl<'p> Check<'p, '_> {
    fn value<'de, A: MapAccess<'de>>(
        &mut self,
        map: &mut A,
        below: Vec<&'p Place>,
    ) -> Result<(), A::Error> {
        match below.is_empty() && self.anywhere.is_empty() {
            true => map.next_value::<IgnoredAny>().map(drop),
            false => map.next_value_seed(self.of(below)),
        }
    }

    fn of(&mut self, places: Vec<&'p Place>) -> Check<'p, '_> {
        Check {
            places,
            anywhere: self.anywhere,
            taken: self.taken,
        }
    }
}

impl<'de> DeserializeSeed<'de> for Check<'_, '_> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Check<'_, '_> {
    type Value = ();

    fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("a value")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(Key(key)) = map.next_key::<Key<'de>>()? {
            let fold = folded(&key);
            let places = self.places.iter().copied().chain([self.anywhere]);
            let mut read = places.flat_map(|place| place.alike(&fold)).peekable();
            if let Some((first, _)) = read.peek().copied()
                && read.all(|(name, _)| name.as_str() != key)
            {
                let taken = format!("`{key}` can be taken for `{first}`, which the spec reads");
                *self.taken = Some(taken);
                return Err(A::Error::custom("a key is taken for another one"));
            }
            let below = below(&self.places, &key);
            self.value(&mut map, below)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut list: A) -> Result<(), A::Error> {
        let below: Vec<&Place> = of_each(&self.places).collect();
        if below.is_empty() && self.anywhere.is_empty() {
            while list.next_element::<IgnoredAny>()?.is_some() {}
            return Ok(());
        }
        while list.next_element_seed(self.of(below.clone()))?.is_some() {}
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

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}
