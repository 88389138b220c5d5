//! Guarantees from the counts of a learned chain: intervals around its numbers, and the number of visits that would suffice.
//!
//! **Assumptions**: runs are independent; the successor of a state depends on the state alone; and only transitions that the
//! abstraction declares possible occur. Because of the last assumption every declared transition is part of the chain here, for
//! any smoothing. `guard calibrate` tests the other two.
//!
//! If a component is a text, an unseen text may follow at any time. All states with one are one further state here, of which
//! nothing is known, so that bounds there are 0 and 1.
//!
//! # Source
//! H. Bazille, B. Genest, C. Jegourel, J. Sun, "Global PAC bounds for learning discrete time Markov chains", CAV 2020. Its
//! conditioning number is replaced by what it bounds, the expected visits `N = (I - Q)⁻¹` of the learned chain: with
//! `x - x' = N' (P - P') x` on the transient states, an error of `e(u)` in each row (in total variation) moves no probability
//! of reaching by more than `Σ N'(s,u) e(u)`. The allowed error is shared by the entries of the rows, because the rule bounds
//! one entry at a time.

use super::chain::Learned;
use crate::learn::{Origin, Row, Rows};
use guard_automata::graph::NodeSet;
use guard_markov::analysis::collected_to_absorption;
use guard_markov::interval::confidence::{
    anytime_open_box, entries, entropy_ball, fixed_set, open_box, row_trials,
};
use guard_markov::interval::{RowSet, UncertainChain};
use guard_markov::solve::Accuracy;
use guard_markov::{ChainError, Estimate, Scalar};

/// The confidence of an interval, and the method that gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence {
    /// The greatest probability that the interval does not contain the number.
    pub error: f64,
    /// The method that gives the confidence sets.
    pub method: Method,
}

/// Methods for confidence sets of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// Boxes of Clopper-Pearson intervals: exact if the number of traces was fixed beforehand.
    Fixed,
    /// Balls of relative entropy: valid for any stopping rule, including looking at the data and continuing.
    Anytime,
}

impl Method {
    /// Returns the word that JSON output uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Fixed => "clopper-pearson",
            Method::Anytime => "anytime",
        }
    }
}

/// The bounds of a number in one state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lower bound.
    pub lower: f64,
    /// The upper bound.
    pub upper: f64,
}

/// An interval around the answer to a claim.
#[derive(Clone, Debug)]
pub struct Interval {
    /// Its confidence.
    pub confidence: Confidence,
    /// The bounds at the start.
    pub range: Range,
    /// The bounds in each state, by name.
    pub per_state: Vec<(String, Range)>,
}

/// The relation of an interval to a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// The claim holds for every chain in the confidence sets.
    Holds,
    /// The claim fails for every chain in the confidence sets.
    Fails,
    /// The claim holds for some chains and fails for others: more traces are needed.
    NotEnough,
}

impl Evidence {
    /// Returns the word that JSON output uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Evidence::Holds => "holds",
            Evidence::Fails => "fails",
            Evidence::NotEnough => "not enough data",
        }
    }
}

impl<V: Scalar> Learned<V> {
    /// Returns the set of chains that are consistent with the counts. The rows must be those from which the chain was
    /// built, with every declared transition. Rows outside of `relevant` are unrestricted and use no part of the
    /// allowed error. If the rows are [open](Rows::is_open), all count, and the result has one state more than the chain: the
    /// states that are not known.
    ///
    /// # Errors
    /// [`ChainError`], which does not occur for valid rows.
    pub(crate) fn uncertain(
        &self,
        rows: &Rows,
        relevant: &NodeSet,
        confidence: Confidence,
    ) -> Result<UncertainChain, ChainError> {
        let sets = if rows.is_open {
            open_sets(rows, confidence)
        } else {
            self.closed_sets(rows, relevant, confidence)
        };
        let unknown = self.vertices.len() as u32;
        let mut chain = Vec::with_capacity(self.vertices.len() + 1);
        for (number, vertex) in (0u32..).zip(&self.vertices) {
            let mut successors = self.chain.graph().successors(number).to_vec();
            // In the product the successors are in a different order than in the row.
            let row = &rows.rows[vertex.state as usize];
            let place = |successor: &u32| {
                let target = self.vertices[*successor as usize].state;
                row.entries
                    .binary_search_by_key(&target, |(target, _)| *target)
                    .unwrap_or_default()
            };
            let mut places: Vec<usize> = successors.iter().map(place).collect();
            if rows.is_open && row.origin != Origin::Absorbing {
                places.push(row.entries.len());
                successors.push(unknown);
            }
            chain.push((successors, sets[vertex.state as usize].permuted(&places)));
        }
        if rows.is_open {
            chain.push((vec![unknown], RowSet::Point(vec![1.0])));
        }
        UncertainChain::new(chain)
    }

    /// Returns the sets of rows whose successors are all known.
    fn closed_sets(&self, rows: &Rows, relevant: &NodeSet, confidence: Confidence) -> Vec<RowSet> {
        let mut counts_here = vec![false; rows.len()];
        for vertex in relevant.ones() {
            counts_here[self.vertices[vertex].state as usize] = true;
        }
        let counted = |row: &Row| row.origin == Origin::Counted && row.entries.len() > 1;
        let shares: usize = rows
            .rows
            .iter()
            .zip(&counts_here)
            .filter(|(row, here)| **here && counted(row))
            .map(|(row, _)| match confidence.method {
                Method::Fixed => entries(row.entries.len()),
                Method::Anytime => 1,
            })
            .sum();
        let error = confidence.error / shares.max(1) as f64;
        let of_row = |(row, here): (&Row, &bool)| -> RowSet {
            let counts = row.counts();
            match (row.origin, counts.len(), confidence.method) {
                (Origin::Absorbing | Origin::Open, ..) | (_, 0 | 1, _) => {
                    RowSet::Point(vec![1.0; counts.len()])
                }
                (Origin::Counted, ..) if !here => anything(counts.len()),
                (Origin::Guessed, len, _) => anything(len),
                (Origin::Counted, _, Method::Fixed) => fixed_set(&counts, error),
                (Origin::Counted, _, Method::Anytime) => entropy_ball(&counts, 1.0, error),
            }
        };
        rows.rows.iter().zip(&counts_here).map(of_row).collect()
    }
}

/// Returns the sets of rows with a last successor for the states that are not known.
fn open_sets(rows: &Rows, confidence: Confidence) -> Vec<RowSet> {
    // The traces determine which rows there are. The k-th that they visit has at least `1 / k (k + 1)` of the error, whatever
    // their number turns out to be, and these parts add up to 1.
    let counted = |row: &&Row| row.origin == Origin::Counted;
    let found = rows.rows.iter().filter(counted).count().max(1) as f64;
    let error = confidence.error / (found * (found + 1.0));
    let of_row = |row: &Row| match (row.origin, confidence.method) {
        (Origin::Absorbing, _) => RowSet::Point(vec![1.0; row.entries.len()]),
        (Origin::Guessed | Origin::Open, _) => anything(row.entries.len() + 1),
        (Origin::Counted, Method::Fixed) => open_box(&row.counts(), error),
        (Origin::Counted, Method::Anytime) => anytime_open_box(&row.counts(), error),
    };
    rows.rows.iter().map(of_row).collect()
}

/// Returns the set of all distributions over this many successors.
fn anything(successors: usize) -> RowSet {
    RowSet::Box {
        lower: vec![0.0; successors],
        upper: vec![1.0; successors],
    }
}

/// The distance of a chain from a guarantee that holds for all reachability properties at once.
#[derive(Clone, Debug)]
pub struct Pac {
    /// The allowed error.
    pub epsilon: f64,
    /// The allowed probability of exceeding it.
    pub delta: f64,
    /// For each state with transitions to learn: its number among the rows, the number of times it was left, and the
    /// number required; `None` if no number suffices.
    pub required: Vec<(u32, u64, Option<u64>)>,
}

/// One tenth of the error is reserved for the bias of smoothing.
const WITH_BIAS: f64 = 1.1;

/// Computes the number of exits that each state has and needs so that every reachability probability is within `epsilon` of the
/// truth with probability at least `1 - delta`. `rows` contain every declared transition, and `learned` is the chain without
/// monitors that was built from them with `smoothing`.
pub fn pac<V: Scalar>(
    rows: &Rows,
    learned: &Learned<V>,
    smoothing: f64,
    (epsilon, delta): (f64, f64),
    accuracy: &Accuracy,
) -> Pac {
    let half = |state: usize| (rows.rows[state].entries.len() / 2) as f64;
    let weights: Vec<V> = (0..rows.len())
        .map(|state| match rows.rows[state].origin {
            Origin::Counted | Origin::Guessed => V::from_f64(half(state)),
            Origin::Absorbing | Origin::Open => V::zero(),
        })
        .collect();
    let amplification = collected_to_absorption(&learned.chain, &weights, accuracy)
        .ok()
        .filter(|_| ends(rows, learned))
        .map(|visits| {
            let each = visits.iter().map(|visits| visits.upper().to_f64());
            each.fold(0.0, f64::max)
        });
    let shares: usize = rows
        .rows
        .iter()
        .filter(|row| matches!(row.origin, Origin::Counted | Origin::Guessed))
        .map(|row| entries(row.entries.len()))
        .sum();
    let error = delta / shares.max(1) as f64;
    let mut required = Vec::new();
    for (state, row) in (0u32..).zip(&rows.rows) {
        let open = matches!(row.origin, Origin::Counted | Origin::Guessed);
        if !open || row.entries.len() < 2 {
            continue;
        }
        let counts = row.counts();
        // Texts that were never seen are not in the chain, so no number of exits bounds the error.
        let known = amplification.filter(|by| *by > 0.0 && !rows.is_open);
        let needed = known.and_then(|by| {
            let entry = epsilon / (WITH_BIAS * by);
            let trials = row_trials(&counts, entry, error).ceil();
            let bias = bias_trials(&counts, smoothing, entry * 0.1 * half(state as usize))?;
            Some(trials.max(bias) as u64)
        });
        required.push((state, row.exits, needed));
    }
    Pac {
        epsilon,
        delta,
        required,
    }
}

/// Returns the number of exits for which smoothing moves less than `allowed`, in total variation. Returns `None` if a
/// declared transition was never seen and nothing is added to it, because the chain then excludes it without evidence.
fn bias_trials(counts: &[u64], smoothing: f64, allowed: f64) -> Option<f64> {
    if smoothing == 0.0 {
        return counts.iter().all(|count| *count > 0).then_some(0.0);
    }
    let n: f64 = counts.iter().map(|count| *count as f64).sum();
    let k = counts.len() as f64;
    let moved: f64 = counts
        .iter()
        .map(|count| {
            let count = *count as f64;
            let plain = if n > 0.0 { count / n } else { 1.0 / k };
            (plain - (count + smoothing) / (n + k * smoothing)).abs()
        })
        .sum::<f64>()
        / 2.0;
    if n > 0.0 && moved <= allowed {
        return Some(0.0);
    }
    // The smoothing moves at most k·a / (n + k·a).
    Some((k * smoothing * (1.0 / allowed - 1.0)).ceil().max(1.0))
}

/// Whether every run ends with certainty in an absorbing state.
fn ends<V: Scalar>(rows: &Rows, learned: &Learned<V>) -> bool {
    let graph = learned.chain.graph();
    let last = |state: &u32| graph.successors(*state) == [*state];
    let ends = graph.set((0..rows.len() as u32).filter(last));
    let reach = guard_automata::graph::backward(&graph.reversed(), &ends, None);
    (0..rows.len()).all(|state| reach.contains(state))
}
