//! The order that a chain should have: whether one more remembered step improves the prediction of the next one, and whether it
//! changes the risks of the queries. With enough traces every order is rejected, so the second question should decide.
//!
//! # Source
//! P. Billingsley, "Statistical methods in Markov chains", Ann. Math. Stat. 32, 1961; I. Csiszár, P. Shields, "The
//! consistency of the BIC Markov order estimator", Ann. Stat. 28, 2000.

use std::collections::{BTreeMap, BTreeSet};

use indexmap::IndexSet;

use super::homogeneity::{GTest, discoveries, same_law, together};
use guard_markov::analysis::{reach, reach_within};
use guard_markov::solve::Accuracy;
use guard_markov::{ChainBuilder, Estimate};

/// The quality of the predictions of a chain with this many remembered steps.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// The number of steps that it remembers.
    pub order: usize,
    /// Free parameters: for each context that occurred, the number of its successors minus one.
    pub parameters: u64,
    /// Akaike's criterion; smaller is better.
    pub aic: f64,
    /// Schwarz's criterion; smaller is better.
    pub bic: f64,
    /// On runs that were not used for learning: the proportion of steps at which the most likely state came next.
    pub accuracy: f64,
    /// On those runs: the mean of `-ln P(next)`, in nats; smaller is better.
    pub log_loss: f64,
    /// Comparison with a chain that remembers one step more.
    pub against_next: Option<GTest>,
}

/// The change of a risk if the chain remembers one step more.
#[derive(Clone, Debug)]
pub(crate) struct RiskMove {
    /// The order of the chain that is compared with the next higher order.
    pub order: usize,
    /// The largest change among memories that occurred at [`ENOUGH`] steps or more; `None` if there is none.
    pub most: Option<LargestMove>,
    /// The mean of all changes, weighted by steps.
    pub mean: f64,
}

/// The memory at which a risk changes most.
#[derive(Clone, Debug)]
pub(crate) struct LargestMove {
    /// The remembered states, the last one last.
    pub memory: String,
    /// The number of steps with this memory.
    pub visits: u64,
    /// The risk by the shorter memory, and by this one.
    pub risks: (f64, f64),
}

/// Memories that occurred at fewer steps are too rare to distinguish from chance.
pub(crate) const ENOUGH: u64 = 30;

/// The greatest order that is tried.
const MOST_REMEMBERED: usize = 3;

/// Chains with more memories are not solved.
const MOST_MEMORIES: usize = 200_000;

/// The successors of contexts of one length; positions before the beginning of a run have the symbol 0.
type Successors = BTreeMap<Vec<u32>, BTreeMap<u32, u64>>;

fn successors<'a>(runs: impl IntoIterator<Item = &'a Vec<u32>>, order: usize) -> Successors {
    let mut found = Successors::new();
    for run in runs {
        for (at, next) in run.iter().enumerate() {
            let context = context(run, at, order);
            *found.entry(context).or_default().entry(*next).or_default() += 1;
        }
    }
    found
}

fn context(run: &[u32], at: usize, order: usize) -> Vec<u32> {
    let from = at.saturating_sub(order);
    let mut context = vec![0; order - (at - from)];
    context.extend(&run[from..at]);
    context
}

/// Measures how well chains of order 0 to 3 predict the next symbol. Runs are sequences of symbols from 1 on, including
/// the end of a complete run.
pub(super) fn orders(runs: &[Vec<u32>]) -> Vec<Order> {
    let n: usize = runs.iter().map(Vec::len).sum();
    if n == 0 {
        return Vec::new();
    }
    let counts: Vec<Successors> = (0..=MOST_REMEMBERED + 1)
        .map(|order| successors(runs, order))
        .collect();
    (0..=MOST_REMEMBERED)
        .map(|order| {
            let of = &counts[order];
            let mut likelihood = 0.0;
            let mut parameters = 0;
            for next in of.values() {
                let sum: u64 = next.values().sum();
                parameters += next.len() as u64 - 1;
                let each = next
                    .values()
                    .map(|count| *count as f64 * (*count as f64 / sum as f64).ln());
                likelihood += each.sum::<f64>();
            }
            let (accuracy, log_loss) = held_out(runs, order);
            Order {
                order,
                parameters,
                aic: 2.0 * parameters as f64 - 2.0 * likelihood,
                bic: parameters as f64 * (n as f64).ln() - 2.0 * likelihood,
                accuracy,
                log_loss,
                against_next: (order < MOST_REMEMBERED)
                    .then(|| one_more(of, &counts[order + 1]))
                    .flatten(),
            }
        })
        .collect()
}

/// Tests whether one more remembered symbol changes the next one: for each short context, its extensions form a table.
fn one_more(short: &Successors, long: &Successors) -> Option<GTest> {
    let mut tables: BTreeMap<&[u32], Vec<&BTreeMap<u32, u64>>> = BTreeMap::new();
    for (context, next) in long {
        tables.entry(&context[1..]).or_default().push(next);
    }
    let mut tests = Vec::new();
    for (context, rows) in tables {
        let columns: Vec<u32> = short.get(context)?.keys().copied().collect();
        let table: Vec<Vec<u64>> = rows
            .into_iter()
            .map(|row| {
                let cell = |column: &u32| row.get(column).copied().unwrap_or(0);
                columns.iter().map(cell).collect()
            })
            .collect();
        if let Some(test) = same_law(&table) {
            tests.push((String::new(), test));
        }
    }
    together(&discoveries(tests))
}

/// Returns accuracy and log-loss by two-fold cross-validation: each half of the runs is predicted from the other. A
/// context that did not occur is shortened until it did.
fn held_out(runs: &[Vec<u32>], order: usize) -> (f64, f64) {
    let symbols: BTreeSet<u32> = runs.iter().flatten().copied().collect();
    let k = symbols.len() as f64;
    let (mut right, mut loss, mut n) = (0.0, 0.0, 0.0);
    for half in 0..2 {
        let learned: Vec<&Vec<u32>> = runs.iter().skip(half).step_by(2).collect();
        let counts: Vec<Successors> = (0..=order)
            .map(|order| successors(learned.iter().copied(), order))
            .collect();
        for run in runs.iter().skip(1 - half).step_by(2) {
            for (at, next) in run.iter().enumerate() {
                let seen = (0..=order)
                    .rev()
                    .find_map(|order| counts[order].get(&context(run, at, order)));
                let Some(seen) = seen else {
                    continue;
                };
                n += 1.0;
                // Of equally likely symbols the first one is predicted.
                let said =
                    seen.iter().fold(
                        None,
                        |best: Option<(u32, u64)>, (symbol, count)| match best {
                            Some((_, most)) if most >= *count => best,
                            _ => Some((*symbol, *count)),
                        },
                    );
                right += f64::from(u8::from(said.is_some_and(|(symbol, _)| symbol == *next)));
                let sum: u64 = seen.values().sum();
                let count = seen.get(next).copied().unwrap_or(0);
                loss -= ((count as f64 + 0.5) / (sum as f64 + 0.5 * k)).ln();
            }
        }
    }
    if n == 0.0 {
        (0.0, 0.0)
    } else {
        (right / n, loss / n)
    }
}

/// The symbol of the feared event, the last one of a run.
pub(super) const FEARED: u32 = 1;

/// The symbol of the end of a complete run.
pub(super) const END: u32 = 2;

/// Returns the change of the risk of reaching [`FEARED`], within `horizon` steps or ever, for each additional remembered step.
/// In runs, other symbols follow [`END`]; `name` gives their names.
pub(super) fn moves<'n>(
    runs: &[Vec<u32>],
    horizon: Option<u32>,
    name: &dyn Fn(u32) -> Option<&'n str>,
) -> Vec<RiskMove> {
    let counts: Vec<Successors> = (0..=MOST_REMEMBERED)
        .map(|order| successors(runs, order))
        .collect();
    let mut found = Vec::new();
    let mut shorter = risks(&counts, 0, horizon);
    for order in 0..MOST_REMEMBERED {
        let longer = risks(&counts, order + 1, horizon);
        let (Some(by_short), Some(by_long)) = (&shorter, &longer) else {
            break;
        };
        let (mut steps, mut sum, mut most) = (0, 0.0, None::<LargestMove>);
        for (memory, next) in &counts[order + 1] {
            let (Some(short), Some(long)) = (by_short.get(&memory[1..]), by_long.get(memory))
            else {
                continue;
            };
            let visits = next.values().sum::<u64>();
            let moved = (long - short).abs();
            steps += visits;
            sum += visits as f64 * moved;
            let least = most
                .as_ref()
                .map_or(-1.0, |most| (most.risks.1 - most.risks.0).abs());
            if visits >= ENOUGH && moved > least {
                most = Some(LargestMove {
                    memory: text(memory, name),
                    visits,
                    risks: (*short, *long),
                });
            }
        }
        if steps > 0 {
            found.push(RiskMove {
                order,
                most,
                mean: sum / steps as f64,
            });
        }
        shorter = longer;
    }
    found
}

/// Renders a memory; positions before the first state are the start.
fn text<'n>(memory: &[u32], name: &dyn Fn(u32) -> Option<&'n str>) -> String {
    let before = memory.iter().take_while(|symbol| **symbol == 0).count();
    let names = memory[before.saturating_sub(1)..].iter();
    let words: Vec<&str> = names
        .map(|symbol| name(*symbol).unwrap_or("start"))
        .collect();
    words.join(" → ")
}

/// Returns the risk by memory, in the chain of that order. A memory that no run continued from has the successors of its
/// longest suffix from which one did. Returns `None` if the chain is too large.
fn risks(
    counts: &[Successors],
    order: usize,
    horizon: Option<u32>,
) -> Option<BTreeMap<Vec<u32>, f64>> {
    let mut memories: IndexSet<Vec<u32>> = counts[order].keys().cloned().collect();
    let mut builder = ChainBuilder::<f64>::default();
    let mut at = 0;
    // Numbers of rows: 0 for what is bad, 1 for what has ended, then the memories.
    builder.transition(0, 1.0);
    builder.end_row().ok()?;
    builder.transition(1, 1.0);
    builder.end_row().ok()?;
    while let Some(memory) = memories.get_index(at).cloned() {
        at += 1;
        let next = (0..=order).find_map(|from| counts[order - from].get(&memory[from..]));
        let sum: u64 = next.into_iter().flat_map(BTreeMap::values).sum();
        for (symbol, count) in next.into_iter().flatten() {
            let target = match *symbol {
                FEARED => 0,
                END => 1,
                _ => {
                    let mut longer = memory.clone();
                    longer.push(*symbol);
                    memories.insert_full(longer[1..].to_vec()).0 as u32 + 2
                }
            };
            builder.transition(target, *count as f64 / sum as f64);
        }
        builder.end_row().ok()?;
        if memories.len() > MOST_MEMORIES {
            return None;
        }
    }
    let chain = builder.finish([0], None).ok()?;
    let target = chain.graph().set([0]);
    let values = match horizon {
        None => reach(&chain, &target, &Accuracy::default()).ok()?,
        Some(steps) => reach_within(&chain, &target, u64::from(steps)),
    };
    let seen = counts[order].keys();
    seen.map(|memory| {
        let row = memories.get_index_of(memory)? + 2;
        Some((memory.clone(), *values[row].value()))
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_that_remembers_two_steps_is_found_out() {
        // The next symbol is the one before the last, so that two steps tell all and one tells nothing.
        let run = |first: u32, second: u32| -> Vec<u32> {
            let mut run = vec![first, second];
            for at in 2..40 {
                run.push(run[at - 2]);
            }
            run
        };
        // Both halves of the runs hold all kinds: every second run is of the other half.
        let runs: Vec<Vec<u32>> = (0..24)
            .map(|at| run(1 + (at / 2) % 2, 1 + (at / 4) % 2))
            .collect();
        let orders = orders(&runs);
        let better = |lhs: usize, rhs: usize| orders[lhs].bic < orders[rhs].bic;
        assert!(better(2, 0) && better(2, 1), "{orders:?}");
        // A third step tells nothing, and costs nothing either: no successor is possible twice.
        assert!(!better(3, 2), "{orders:?}");
        assert!(orders[2].accuracy > 0.95 && orders[1].accuracy < 0.8);
        let tells = |order: usize| orders[order].against_next.map_or(1.0, |test| test.p);
        assert!(tells(1) < 1e-6 && tells(2) > 0.01, "{orders:?}");
    }

    #[test]
    fn a_risk_that_hangs_on_the_step_before_the_last_moves_with_the_memory() {
        // A mail goes wrong only right after a secret.
        let (other, secret, mail) = (3, 4, 5);
        let mut runs = Vec::new();
        for at in 0..400 {
            runs.push(match at % 4 {
                0 => vec![secret, mail, FEARED],
                _ => vec![other, mail, END],
            });
        }
        let names = ["other", "secret", "mail"];
        let name = |symbol: u32| names.get(symbol.checked_sub(3)? as usize).copied();
        let found = moves(&runs, None, &name);
        let at = |order: usize| &found[order];
        let most = at(1)
            .most
            .as_ref()
            .map(|most| (most.memory.clone(), most.risks));
        assert_eq!(
            most,
            Some(("start → secret".to_owned(), (0.25, 1.0))),
            "{found:?}"
        );
        assert!(at(2).mean < 1e-12, "{found:?}");
        // Within one step a secret is not yet mailed.
        let soon = moves(&runs, Some(1), &name);
        let most = soon[0].most.as_ref().map(|most| most.risks.1);
        assert_eq!(most, Some(0.25), "{soon:?}");
    }

    #[test]
    fn a_memory_without_a_next_step_goes_on_as_its_end() {
        // `3 4` was only ever cut off; after 4 alone, half goes wrong.
        let mut runs = vec![vec![3, 4]; 40];
        runs.extend(vec![vec![4, FEARED]; 40]);
        runs.extend(vec![vec![4, END]; 40]);
        let risk = |order: usize| {
            let counts: Vec<Successors> =
                (0..=order).map(|order| successors(&runs, order)).collect();
            risks(&counts, order, None).unwrap_or_default()
        };
        assert_eq!(risk(2).get(&[0, 3][..]), Some(&0.5));
    }
}
