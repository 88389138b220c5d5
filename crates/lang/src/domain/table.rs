//! Values by expression, in a table that is emptied in the time of its entries.

use crate::ids::ExprId;

/// A sparse set: the entries lie together, and a list by expression says where. Decisions are short and many; hash tables took a
/// third of their time.
///
/// # Source
/// P. Briggs, L. Torczon, "An efficient representation for sparse sets", 1993.
#[derive(Clone, Debug)]
pub(super) struct Table<T> {
    /// By expression: the place of its entry, if that is an entry of this expression.
    places: Vec<u32>,
    entries: Vec<(ExprId, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Table {
            places: Vec::new(),
            entries: Vec::new(),
        }
    }
}

impl<T> Table<T> {
    fn place(&self, id: ExprId) -> Option<usize> {
        let place = *self.places.get(id.index())? as usize;
        let (of, _) = self.entries.get(place)?;
        (*of == id).then_some(place)
    }

    /// Returns the value of an expression, which has none yet.
    fn add(&mut self, id: ExprId, value: T) -> &mut T {
        if self.places.len() <= id.index() {
            self.places.resize(id.index() + 1, 0);
        }
        let place = self.entries.len();
        self.places[id.index()] = place as u32;
        self.entries.push((id, value));
        &mut self.entries[place].1
    }

    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes out all entries but the first ones, so many of them.
    pub(super) fn truncate(&mut self, len: usize) {
        self.entries.truncate(len);
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
    }

    pub(super) fn get(&self, id: ExprId) -> Option<&T> {
        Some(&self.entries[self.place(id)?].1)
    }

    /// Sets a value. Returns whether there was none.
    pub(super) fn insert(&mut self, id: ExprId, value: T) -> bool {
        match self.place(id) {
            Some(place) => {
                self.entries[place].1 = value;
                false
            }
            None => {
                self.add(id, value);
                true
            }
        }
    }

    pub(super) fn get_or_insert_with(&mut self, id: ExprId, value: impl FnOnce() -> T) -> &mut T {
        match self.place(id) {
            Some(place) => &mut self.entries[place].1,
            None => self.add(id, value()),
        }
    }

    pub(super) fn remove(&mut self, id: ExprId) {
        let Some(place) = self.place(id) else { return };
        self.entries.swap_remove(place);
        if let Some((moved, _)) = self.entries.get(place) {
            self.places[moved.index()] = place as u32;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (ExprId, &T)> {
        self.entries.iter().map(|(id, value)| (*id, value))
    }
}
