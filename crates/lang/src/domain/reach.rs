//! The joint values of tracks of finite type.
//!
//! A track such as `undo` takes its value from the same event as a track `reach`, so not every pair of their values
//! occurs. The reachable values are computed step by step from the initial ones; every event is assumed to be possible
//! at every step.

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

use super::Work;
use super::class::Class;
use super::eval::Known;
use super::search::Search;
use super::table::Table;
use crate::hir::{Expr, Spec};
use crate::ids::{ExprId, TrackId};
use crate::value::Value;

/// The greatest number of joint values that are explored.
const STATES: usize = 4096;
/// The greatest depth of splits in one step.
const DEPTH: usize = 200;

/// The reachable joint values of tracks of finite type, including the initial ones.
#[derive(Clone, Debug)]
pub(crate) struct Reachable {
    /// The expressions that read the tracks.
    terms: Vec<ExprId>,
    values: IndexSet<Vec<Value>, FxBuildHasher>,
}

impl Reachable {
    /// Explores the tracks that these expressions read, and those of finite type that their updates read. Returns `None` if
    /// there are no such tracks, or if the work does not suffice.
    pub(crate) fn new(spec: &Spec, roots: &[ExprId], work: &mut Work) -> Option<Reachable> {
        let tracks = followed(spec, roots);
        let (terms, updates): (Vec<ExprId>, Vec<ExprId>) = tracks
            .iter()
            .map(|(track, term)| (*term, spec.track(*track).update))
            .unzip();
        if terms.is_empty() {
            return None;
        }
        let inits: Vec<ExprId> = tracks
            .iter()
            .map(|(track, _)| spec.track(*track).init)
            .collect();
        let mut values: IndexSet<Vec<Value>, FxBuildHasher> = IndexSet::default();
        if !all_values(spec, &inits, &[], &mut values, work) {
            return None;
        }
        let mut next = 0;
        while let Some(state) = values.get_index(next).cloned() {
            next += 1;
            let before: Vec<(ExprId, Value)> =
                terms.iter().copied().zip(state.iter().cloned()).collect();
            if !all_values(spec, &updates, &before, &mut values, work) || values.len() > STATES {
                return None;
            }
        }
        Some(Reachable { terms, values })
    }

    /// Whether some joint value agrees with the assignment.
    pub(super) fn allow(&self, assigned: &Table<Class>) -> bool {
        let wanted: Vec<(usize, &Value)> = self
            .terms
            .iter()
            .enumerate()
            .filter_map(|(place, term)| match assigned.get(*term) {
                Some(Class::Value(value)) => Some((place, value)),
                _ => None,
            })
            .collect();
        self.values.iter().any(|values| {
            wanted
                .iter()
                .all(|(place, value)| values.get(*place) == Some(value))
        })
    }
}

/// Adds every joint value of `roots`; returns false if one is unknown, or the work does not suffice.
fn all_values(
    spec: &Spec,
    roots: &[ExprId],
    before: &[(ExprId, Value)],
    into: &mut IndexSet<Vec<Value>, FxBuildHasher>,
    work: &mut Work,
) -> bool {
    let mut search = Search::new(spec, roots.iter().copied(), None, work);
    for (term, value) in before {
        search
            .tables
            .assigned
            .insert(*term, Class::Value(value.clone()));
    }
    let mut known_all = true;
    let told = search.each(
        roots,
        &mut |known| {
            let values: Option<Vec<Value>> = known
                .iter()
                .map(|known| match known {
                    Known::Value(value) => Some(value.clone()),
                    _ => None,
                })
                .collect();
            match values {
                Some(values) => {
                    into.insert(values);
                }
                None => known_all = false,
            }
        },
        DEPTH,
    );
    told.is_ok() && known_all
}

/// Returns the tracks of finite type without parameters that expressions read, including reads inside updates.
fn followed(spec: &Spec, roots: &[ExprId]) -> Vec<(TrackId, ExprId)> {
    let mut found: Vec<(TrackId, ExprId)> = Vec::new();
    let mut seen = vec![false; spec.exprs.len()];
    let mut todo = roots.to_vec();
    while let Some(id) = todo.pop() {
        if std::mem::replace(&mut seen[id.index()], true) {
            continue;
        }
        if let Expr::Track(track, args) = spec.exprs.get(id)
            && args.is_empty()
            && spec.track(*track).ty.is_finite()
        {
            found.push((*track, id));
            todo.push(spec.track(*track).update);
        }
        todo.extend(spec.exprs.operands(id));
    }
    found.sort();
    found
}
