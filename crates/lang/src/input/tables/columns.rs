//! The columns of a table that are decoded.

use std::collections::BTreeSet;

use arrow_schema::Schema;
use smol_str::SmolStr;

use crate::input::plan::{Level, Mode};
use crate::input::projection::Projection;

/// The columns that a spec reads.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Columns of rows, by name.
    pub(super) rows: BTreeSet<SmolStr>,
    /// Of the column that holds lists of events, if it is one of `rows`: its name, and the members of events.
    pub(super) events: Option<(SmolStr, BTreeSet<SmolStr>)>,
    /// A column without which only `rows` are decoded: if it says that a row is the end of a trace, all members of the row count.
    pub(super) end: Option<SmolStr>,
    /// Whether the other columns are decoded too, because a format may read them.
    pub(super) with_others: bool,
}

impl Columns {
    /// Returns the columns of a table that fields are read from; `None` if any may be. `with_others` if a format may read
    /// others.
    pub(super) fn of(fields: &Projection, with_others: bool) -> Option<Columns> {
        let plan = fields.plan();
        let keys = |level: &Level| {
            let root = level.trie.node(0);
            let whole = level.wants_tree() || !root.slots.is_empty() || root.list;
            let keys = || root.keys().cloned().collect::<BTreeSet<_>>();
            (!whole && !root.has_indices()).then(keys)
        };
        let (mut rows, event) = (keys(&plan.record)?, keys(&plan.event)?);
        let mut events = None;
        if plan.mode != Mode::At {
            rows.extend(event.iter().cloned());
        }
        if plan.mode == Mode::Native {
            events = Some((SmolStr::new_static("events"), event));
        }
        let is_native = plan.native.is_some();
        Some(Columns {
            rows,
            events,
            end: is_native.then(|| SmolStr::new_static("end")),
            with_others,
        })
    }

    /// Returns the numbers of the columns of rows that are decoded.
    pub(super) fn numbers(&self, schema: &Schema) -> Option<Vec<usize>> {
        let fields = schema.fields().iter().enumerate();
        let kept = fields.filter(|(_, field)| self.rows.contains(field.name().as_str()));
        (!self.takes_all(schema)).then(|| kept.map(|(number, _)| number).collect())
    }

    /// Whether all columns are decoded.
    pub(super) fn takes_all(&self, schema: &Schema) -> bool {
        let has_end = |end: &SmolStr| schema.fields().iter().any(|field| field.name() == end);
        self.with_others || self.end.as_ref().is_some_and(has_end)
    }

    /// Whether a column, by the names on its path, may be read.
    pub(super) fn takes(&self, path: &[String]) -> bool {
        let Some((first, below)) = path.split_first() else {
            return false;
        };
        let below_events = match &self.events {
            Some((events, members)) if events == first.as_str() && !below.is_empty() => {
                below.iter().any(|name| members.contains(name.as_str()))
            }
            _ => true,
        };
        self.rows.contains(first.as_str()) && below_events
    }
}
