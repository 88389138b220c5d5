//! The value of a query at the position of a live trace: its least and largest number, and the successors that
//! contribute most.

use super::forecast::{Forecast, Position};
use super::table::RiskTable;

/// The numbers of a query over all possible states of a position.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Outlook {
    /// The least number; `None` if none of the possible states occurred in training.
    pub lowest: Option<f64>,
    /// The largest number.
    pub highest: Option<f64>,
    /// Whether some possible state occurred in training.
    pub seen: bool,
    /// Whether some possible state did not occur in training.
    pub unseen: bool,
    /// Whether nothing is known about the position.
    pub open: bool,
}

/// A successor of a state.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Onward<'t> {
    /// The name of the state.
    pub state: &'t str,
    /// The probability that it is next.
    pub probability: f64,
    /// The number in that state.
    pub value: f64,
}

impl Outlook {
    /// The outlook of a position about which nothing is known.
    pub(crate) const OPEN: Outlook = Outlook {
        lowest: None,
        highest: None,
        seen: false,
        unseen: false,
        open: true,
    };

    /// Whether the position is one state, or all its possible states have the same number.
    pub(crate) fn is_certain(&self) -> bool {
        !self.open && self.lowest == self.highest && self.seen != self.unseen
    }

    fn add(&mut self, value: Option<f64>) {
        match value {
            None => self.unseen = true,
            Some(value) => {
                self.seen = true;
                self.lowest = Some(self.lowest.map_or(value, |lowest| lowest.min(value)));
                self.highest = Some(self.highest.map_or(value, |highest| highest.max(value)));
            }
        }
    }
}

impl Forecast {
    /// Returns the numbers of a query (by its index among those given to [`Forecast::new`]) at a position of a trace of this
    /// category. A trace of unknown category may have any category.
    pub(crate) fn outlook(
        &self,
        query: usize,
        position: &Position,
        category: Option<&str>,
    ) -> Outlook {
        let mut outlook = Outlook::default();
        let mut known = false;
        for table in self.tables_of(query, category) {
            known = true;
            if !position.has_begun() {
                outlook.add(table.start());
                continue;
            }
            if !self.is_known(position) {
                return Outlook::OPEN;
            }
            self.each(query, position, &mut |keys, monitors| {
                let learned = table.at(keys, monitors);
                outlook.add(learned.or_else(|| self.settled(query, keys, monitors)))
            });
        }
        if !known {
            // The training data does not contain this category.
            outlook.unseen = true;
        }
        outlook
    }

    /// Returns the least and the largest number of a query over all states, or `None` if nothing was learned.
    pub fn range(&self, query: usize) -> Option<(f64, f64)> {
        let all = self.tables_of(query, None).flat_map(RiskTable::values);
        all.map(|value| (value, value))
            .reduce(|lhs, rhs| (lhs.0.min(rhs.0), lhs.1.max(rhs.1)))
    }

    /// Returns the successors that contribute most to the number of a query at a position, for the possible state with the
    /// largest number. Empty if there is nothing to report, also where the state alone decides the number.
    pub(crate) fn onward(
        &self,
        query: usize,
        position: &Position,
        category: Option<&str>,
    ) -> Vec<Onward<'_>> {
        let mut most: Option<(f64, Vec<Onward<'_>>)> = None;
        for table in self.tables_of(query, category) {
            if !position.has_begun() || !self.is_known(position) {
                return Vec::new();
            }
            self.each(query, position, &mut |keys, monitors| {
                if self.settled(query, keys, monitors).is_none()
                    && let Some((value, onward)) = of(table, keys, monitors)
                    && most.as_ref().is_none_or(|(most, _)| value > *most)
                {
                    most = Some((value, onward));
                }
            });
        }
        most.map(|(_, onward)| onward).unwrap_or_default()
    }
}

fn of<'t>(
    table: &'t RiskTable,
    keys: &[crate::abstraction::Key],
    monitors: &[u32],
) -> Option<(f64, Vec<Onward<'t>>)> {
    let value = table.at(keys, monitors)?;
    Some((value, table.onward(keys, monitors)))
}
