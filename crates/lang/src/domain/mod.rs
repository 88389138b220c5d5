//! The satisfiability of conditions: a sound decision over the types of the fields that they read.
//!
//! Input: expressions of a spec with required truth values; answer: whether some step gives all of them these values. The
//! values of every term (a field, a member, a track, the result of a function) fall into finitely many classes that no question
//! about the term distinguishes: each constant it is compared with, the gaps between them, null, and the rest. A search over
//! these classes evaluates the conditions as the language does and splits a term only when it matters.
//!
//! # Soundness
//! The classes of two terms are assumed to be independent, and an unsupported condition (a regular expression on a text that is
//! not constant, an element of a list, a past operator) may have either value. Only `any` and `all` over one list are related: an
//! element that the one asserts has what the others say of every element. So the result over-approximates: *impossible* is
//! certain, and *possible* means that no contradiction was found. Unknown values are ignored: a condition that is reported as
//! always true may still be unknown.
//!
//! # Limits
//! A search is exponential in the number of related terms at worst; [`Work`] limits it; beyond the limit there is no answer.

mod apart;
mod class;
mod elements;
mod eval;
mod free;
mod model;
mod question;
mod reach;
mod search;
mod table;
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
    exceeded: bool,
    /// The tables of the previous search, emptied: most searches visit ten expressions, and allocating tables would take longer.
    tables: search::Tables,
    /// The same, for what is seen without a search.
    met: table::Table<()>,
}

impl Work {
    /// Returns a budget of `total` visits in all, and `each` for one search.
    pub fn new(total: u64, each: u64) -> Work {
        Work {
            left: total,
            each,
            exceeded: false,
            tables: search::Tables::default(),
            met: table::Table::default(),
        }
    }

    /// Whether some search had no answer within its budget.
    pub(crate) fn is_exceeded(&self) -> bool {
        self.exceeded
    }
}

/// So many conditions are searched together; more are first parted into groups without common terms.
const TOGETHER: usize = 6;

/// A condition with the required truth value.
pub type Goal = (ExprId, bool);

/// Whether a step can give all of these conditions the required truth values; `None` if the work does not suffice.
///
/// With `tracks`, only combinations of track values that some run reaches are considered.
pub(crate) fn possible(
    spec: &Spec,
    goals: &[Goal],
    tracks: Option<&Reachable>,
    work: &mut Work,
) -> Option<bool> {
    if tracks.is_none() && free::all(spec, goals, work) {
        return Some(true);
    }
    let mut search = |goals: &[Goal]| {
        search::Search::new(spec, goals.iter().map(|(expr, _)| *expr), tracks, work).find(goals)
    };
    let found = match tracks {
        None if goals.len() > TOGETHER => {
            let found = apart::groups(spec, goals)
                .iter()
                .map(|group| search(group))
                .find(|found| *found != Some(true));
            found.unwrap_or(Some(true))
        }
        _ => search(goals),
    };
    work.exceeded |= found.is_none();
    found
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

    /// Conditions on different fields are independent: which field has the contradiction does not matter.
    #[test]
    fn contradictions_are_found_beside_other_conditions() {
        let n_fields = 40;
        let fields: String = (0..n_fields).map(|n| format!("  x{n}: int\n")).collect();
        let apart: Vec<String> = (0..n_fields)
            .map(|n| format!("(always x{n} > 1)"))
            .collect();
        let text = format!(
            "event {{\n{fields}}}\nproperty p = {} and always x{} > 2\n",
            apart.join(" and "),
            n_fields - 1
        );
        let front = front("n.guard", &text, &NoFiles, check::Limits::default());
        let spec = front.spec.expect("a spec");
        let letters = spec.formulas.atoms();
        assert_eq!(letters.len(), n_fields + 1);
        // The last field is more than 2 and not more than 1.
        let mut goals: Vec<Goal> = letters.iter().map(|atom| (atom.expr, true)).collect();
        let mut work = Work::new(100_000, 10_000);
        assert_eq!(possible(&spec, &goals, None, &mut work), Some(true));
        goals[n_fields - 1].1 = false;
        assert_eq!(possible(&spec, &goals, None, &mut work), Some(false));
    }
}
