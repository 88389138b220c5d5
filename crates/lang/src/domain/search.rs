//! The search for a step that gives conditions their required truth values.
//!
//! # Source
//! M. Davis, G. Logemann, D. Loveland, "A machine program for theorem-proving", 1962: decide conditions as soon as the
//! assignment determines them, and split on a missing value. Here a term has one branch for each class.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::class::{Class, classes};
use super::eval::Missing;
use super::question::{Asked, Questions};
use super::table::Table;
use super::{Goal, Reachable, Work};
use crate::hir::Spec;
use crate::ids::ExprId;
use crate::value::Value;

/// The greatest depth of splits in one search.
const DEPTH: usize = 400;

/// The tables of a search.
#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    questions: Questions,
    /// The classes of the terms that were split on.
    classes: Table<Rc<[Class]>>,
    pub(super) assigned: Table<Class>,
    pub(super) atoms: FxHashMap<ExprId, bool>,
    /// The truth values that follow from the assignment, in the order in which they were found: whatever else is assigned, they
    /// stay, and those that were found since go when an assignment is taken back.
    pub(super) truths: Table<bool>,
    /// Whether an element of a list can have these conditions, of those that were asked.
    pub(super) elements: FxHashMap<Vec<Goal>, bool>,
}

/// A search and its assignment.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) spec: &'a Spec,
    pub(super) tables: Tables,
    tracks: Option<&'a Reachable>,
    pub(super) work: &'a mut Work,
    pub(super) left: u64,
}

impl Drop for Search<'_> {
    /// Returns the tables to the budget for the next search.
    fn drop(&mut self) {
        let mut tables = std::mem::take(&mut self.tables);
        tables.classes.clear();
        tables.assigned.clear();
        // a new table, because the order of its entries affects the proposed events
        tables.atoms = FxHashMap::default();
        tables.truths.clear();
        tables.elements.clear();
        self.work.tables = tables;
    }
}

impl<'a> Search<'a> {
    /// Returns a search about these conditions.
    pub(super) fn new(
        spec: &'a Spec,
        roots: impl Iterator<Item = ExprId>,
        tracks: Option<&'a Reachable>,
        work: &'a mut Work,
    ) -> Search<'a> {
        let mut tables = std::mem::take(&mut work.tables);
        // Collecting the questions visits every expression once.
        let visits = tables.questions.ask_all(spec, roots);
        work.left = work.left.saturating_sub(visits);
        let left = work.each.min(work.left);
        Search {
            spec,
            tables,
            tracks,
            work,
            left,
        }
    }

    /// Whether a term is compared with this constant, so that the constant has its own class.
    pub(super) fn compares(&self, term: ExprId, value: &Value) -> bool {
        let asked = self.tables.questions.terms.get(term);
        asked.is_some_and(|asked| asked.mentions(value))
    }

    /// Returns the classes of a term.
    fn classes_of(&mut self, term: ExprId) -> Rc<[Class]> {
        let (spec, questions) = (self.spec, &self.tables.questions);
        let made = self.tables.classes.get_or_insert_with(term, || {
            let nothing = Asked::default();
            let asked = questions.terms.get(term).unwrap_or(&nothing);
            classes(spec, term, asked).into()
        });
        made.clone()
    }

    /// Counts one visit.
    pub(super) fn visit(&mut self) -> Result<(), Missing> {
        self.left = self.left.checked_sub(1).ok_or(Missing::Work)?;
        self.work.left = self.work.left.saturating_sub(1);
        Ok(())
    }

    /// Whether some assignment reaches the goals; `None` if the work does not suffice. The assignment that is found is
    /// kept.
    pub(super) fn find(&mut self, goals: &[Goal]) -> Option<bool> {
        self.exists(goals, DEPTH).ok()
    }

    fn exists(&mut self, goals: &[Goal], depth: usize) -> Result<bool, Missing> {
        let mut missing = None;
        for (expr, wanted) in goals {
            match self.truth(*expr) {
                Ok(truth) if truth != *wanted => return Ok(false),
                Ok(_) => {}
                Err(Missing::Work) => return Err(Missing::Work),
                Err(other) => missing = missing.or(Some(other)),
            }
        }
        let Some(missing) = missing else {
            return Ok(true);
        };
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Missing::Work);
        };
        let followed = self.tables.truths.len();
        match missing {
            Missing::Work => Err(Missing::Work),
            Missing::Atom(id) => {
                for truth in [true, false] {
                    self.tables.atoms.insert(id, truth);
                    if self.exists(goals, depth)? {
                        return Ok(true);
                    }
                    self.tables.atoms.remove(&id);
                    self.tables.truths.truncate(followed);
                }
                Ok(false)
            }
            Missing::Term(id) => {
                for class in self.classes_of(id).iter() {
                    self.tables.assigned.insert(id, class.clone());
                    let is_allowed = self.tracks_allow() && self.elements_allow(id)?;
                    if is_allowed && self.exists(goals, depth)? {
                        return Ok(true);
                    }
                    self.tables.assigned.remove(id);
                    self.tables.truths.truncate(followed);
                }
                Ok(false)
            }
        }
    }

    /// Whether the tracks can have their assigned values at the same time.
    fn tracks_allow(&self) -> bool {
        self.tracks
            .is_none_or(|tracks| tracks.allow(&self.tables.assigned))
    }

    /// Calls `tell` with the known truth values of `roots` for every assignment that decides them all.
    pub(super) fn each(
        &mut self,
        roots: &[ExprId],
        tell: &mut dyn FnMut(&[super::eval::Known]),
        depth: usize,
    ) -> Result<(), Missing> {
        let mut known = Vec::with_capacity(roots.len());
        let mut missing = None;
        for root in roots {
            match self.known(*root) {
                Ok(value) => known.push(value),
                Err(Missing::Work) => return Err(Missing::Work),
                Err(other) => {
                    missing = Some(other);
                    break;
                }
            }
        }
        let Some(missing) = missing else {
            tell(&known);
            return Ok(());
        };
        let depth = depth.checked_sub(1).ok_or(Missing::Work)?;
        let followed = self.tables.truths.len();
        match missing {
            Missing::Work => Err(Missing::Work),
            Missing::Atom(id) => {
                for truth in [true, false] {
                    self.tables.atoms.insert(id, truth);
                    let told = self.each(roots, tell, depth);
                    self.tables.atoms.remove(&id);
                    self.tables.truths.truncate(followed);
                    told?;
                }
                Ok(())
            }
            Missing::Term(id) => {
                for class in self.classes_of(id).iter() {
                    self.tables.assigned.insert(id, class.clone());
                    let told = match self.elements_allow(id) {
                        Ok(true) => self.each(roots, tell, depth),
                        Ok(false) => Ok(()),
                        Err(missing) => Err(missing),
                    };
                    self.tables.assigned.remove(id);
                    self.tables.truths.truncate(followed);
                    told?;
                }
                Ok(())
            }
        }
    }
}
