//! Relations between quantifiers over one list.
//!
//! If `any x in xs: a` holds, some element has `a`; it also has `not b` if `any x in xs: b` does not hold, and `c` if
//! `all x in xs: c` does. If no element can have all of these, the quantifiers cannot have these values.
//!
//! # Soundness
//! The element is any value of its type, and the terms of the step may have any value: what is excluded for all of them is excluded.
//! A list without elements asserts none.

use super::class::Class;
use super::eval::Missing;
use super::search::Search;
use super::{Goal, search};
use crate::hir::{Expr, Quantifier};
use crate::ids::{ExprId, LocalId};
use crate::value::Value;

/// The statement of a quantifier about elements, given its value.
struct Said {
    over: ExprId,
    local: LocalId,
    /// The body, with its value for the element or elements.
    body: Goal,
    /// Whether it says that there is such an element; otherwise it says it of all.
    exists: bool,
}

impl Search<'_> {
    /// Whether the list that this quantifier is about can have elements as all assigned quantifiers over it say; true of other terms.
    ///
    /// # Errors
    /// The limit on work was reached.
    pub(super) fn elements_allow(&mut self, assigned: ExprId) -> Result<bool, Missing> {
        let Some(said) = self.said(assigned) else {
            return Ok(true);
        };
        let entries = self.tables.assigned.iter();
        let all: Vec<Said> = entries
            .filter_map(|(id, _)| self.said(id))
            .filter(|other| (other.over, other.local) == (said.over, said.local))
            .collect();
        let of_all = || all.iter().filter(|other| !other.exists);
        // What exists is asked again only with what is new.
        let existing = match said.exists {
            true => vec![said.body],
            false => all
                .iter()
                .filter(|other| other.exists)
                .map(|other| other.body)
                .collect(),
        };
        for element in existing {
            let mut goals = vec![element];
            goals.extend(of_all().map(|other| other.body));
            goals.sort_unstable();
            let known = self.tables.elements.get(&goals).copied();
            let found = match known {
                Some(known) => known,
                None => {
                    let found = self.has_element(&goals)?;
                    self.tables.elements.insert(goals, found);
                    found
                }
            };
            if !found {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns what an assigned quantifier says of elements.
    fn said(&self, id: ExprId) -> Option<Said> {
        let Expr::Quantifier {
            kind,
            local,
            over,
            body,
        } = *self.spec.exprs.get(id)
        else {
            return None;
        };
        let Some(Class::Value(Value::Bool(truth))) = self.tables.assigned.get(id) else {
            return None;
        };
        let exists = match kind {
            Quantifier::Any => *truth,
            Quantifier::All => !*truth,
            Quantifier::Count | Quantifier::Map => return None,
        };
        Some(Said {
            over,
            local,
            body: (body, *truth),
            exists,
        })
    }

    /// Whether some element can give the conditions these values.
    fn has_element(&mut self, goals: &[Goal]) -> Result<bool, Missing> {
        let roots = goals.iter().map(|(expr, _)| *expr);
        let mut search = search::Search::new(self.spec, roots, None, self.work);
        search.left = search.left.min(self.left);
        let before = search.left;
        let found = search.find(goals);
        let visits = before - search.left;
        drop(search);
        self.left -= visits;
        found.ok_or(Missing::Work)
    }
}
