//! The satisfiability of conditions: a sound decision over the types of the fields that they read.
//!
//! Input: expressions of a spec; answer: whether some step makes each of them what is asked. The values of every term (a
//! field, a member, a track, what a function gives) fall into finitely many classes that all questions asked of it treat
//! alike: each constant it is compared with, the gaps between them, null, and the rest. A search over these classes
//! evaluates the conditions as the language does and splits a term only when it decides.
//!
//! # Soundness
//! The classes of two terms are taken to be independent, and what is not understood (a regular expression on a text that
//! is no constant, an element of a list, a past operator) may be either way. So more steps are thought possible than are:
//! *impossible* is certain, and *possible* means that nothing was found against it. Values that are not recorded are left
//! out of account: a condition that is said to be always true may still be unknown.
//!
//! # Limits
//! A search is exponential in the number of terms at worst; [`Work`] ends it, and then there is no answer.

mod class;
mod eval;
mod model;
mod question;
mod reach;
mod search;
mod text;

use crate::hir::Spec;
use crate::ids::ExprId;

pub use model::{Event, Given, event};
pub(crate) use reach::Reachable;

/// The remaining work of searches, in visits of expressions. Shared by all searches that receive it.
#[derive(Clone, Debug)]
pub struct Work {
    left: u64,
    each: u64,
    /// The tables of the search before, empty: most searches visit ten expressions, and a tenth of the time of the linter went
    /// into making tables.
    tables: search::Tables,
}

impl Work {
    /// Returns a budget of `total` visits in all, and `each` for one search.
    pub fn new(total: u64, each: u64) -> Work {
        Work {
            left: total,
            each,
            tables: search::Tables::default(),
        }
    }
}

/// A condition with the required truth value.
pub type Goal = (ExprId, bool);

/// Whether a step can give all of these conditions the required truth values; `None` if the work does not suffice.
///
/// With `tracks`, tracks have together only values that some run leads to.
pub(crate) fn possible(
    spec: &Spec,
    goals: &[Goal],
    tracks: Option<&Reachable>,
    work: &mut Work,
) -> Option<bool> {
    search::Search::new(spec, goals.iter().map(|(expr, _)| *expr), tracks, work).find(goals)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{check, front, modules::NoFiles};

    #[test]
    fn no_integer_lies_between_neighbours() {
        let text = "event { n: int }\npredicate p = n > 3 and n < 4\nproperty q = never p\n";
        let front = front("n.guard", text, &NoFiles, check::Limits::default());
        let spec = front.spec.expect("a spec");
        let letter = spec.formulas.atoms()[0].expr;
        let mut work = Work::new(10_000, 10_000);
        let mut decide = |truth| possible(&spec, &[(letter, truth)], None, &mut work);
        assert_eq!(decide(true), Some(false));
        assert_eq!(decide(false), Some(true));
    }
}
