//! Facts about all traces of an automaton with counters: the verdicts that some trace has, with examples.
//!
//! The regions form a finite graph that over-approximates the automaton, because it ignores the differences between counters.
//! So behaviour that the graph excludes is impossible. Possibility is shown by a game: a region *certainly* reaches a goal if
//! some letter leads to regions that all certainly do. Reading one letter until a counter reaches a bound, or letting time pass
//! until then, is one move, whatever the bound is. The game ignores the lengths of queues: a strategy that violates the formula
//! stays valid with a queue that requires more, and a strategy that satisfies it stays valid with a queue that offers more. All
//! other cases are undecided.
//!
//! # Source
//! D. Knuth, "A generalization of Dijkstra's algorithm", 1977, for the cheapest way through such a game.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use indexmap::IndexSet;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

use super::region::Place;
use super::{Instant, LazyDfa, LazyState, Root, Spot};
use crate::diagram::paths;
use crate::formula::Atom;
use crate::formula::Letter;
use crate::verdict::Verdict;

/// The known facts about all traces; a field is `None` if it is not decided.
#[derive(Clone, Debug)]
pub struct Survey {
    /// The number of visited states, apart from the values of their counters.
    pub n_states: usize,
    /// The most counters that a state has.
    pub n_counters: usize,
    /// Whether all states were visited.
    pub complete: bool,
    /// Whether after every prefix some continuation decides the formula.
    pub monitorable: Option<bool>,
    /// A short trace that satisfies the formula.
    pub good: Option<Vec<Run>>,
    /// A short prefix that violates it for good, or else a short trace that violates it.
    pub bad: Option<Vec<Run>>,
    /// For each verdict in [`VERDICTS`], whether a trace of one position or more has it.
    reached: [Option<bool>; 4],
}

/// One letter, read again and again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The letter; an atom that is not listed may have any value, the same in every repetition.
    pub letter: Letter,
    /// The number of times that it is read.
    pub times: u64,
    /// The time of the readings, for formulas with bounds in time.
    pub at: Option<i128>,
}

const VERDICTS: [Verdict; 4] = [
    Verdict::Satisfied,
    Verdict::PresumablySatisfied,
    Verdict::PresumablyViolated,
    Verdict::Violated,
];

/// The greatest number of regions that one survey visits.
const MOST: usize = 4_096;

/// A move in a region, and the regions that it may lead to.
struct Move {
    from: usize,
    act: Act,
    /// Never empty.
    outcomes: Vec<usize>,
    cost: i128,
}

#[derive(Clone)]
enum Act {
    Read(Letter),
    /// Read positions until a counter leaves its place.
    ReadOn(Letter),
    /// Let time pass until a counter leaves its place.
    Wait,
}

/// The regions that were met, by number.
struct Map {
    /// The epoch of the tables in which the numbers of these regions are valid.
    epoch: u32,
    regions: IndexSet<u32, FxBuildHasher>,
    /// The regions whose moves are all known.
    explored: Vec<bool>,
    accepts: Vec<bool>,
    fresh: Vec<bool>,
    moves: Vec<Move>,
    /// Pairs of regions: more traces satisfy the formula from the second than from the first (`weaker`), or fewer
    /// (`stronger`).
    weaker: Vec<(usize, usize)>,
    stronger: Vec<(usize, usize)>,
}

impl Survey {
    /// Whether a trace of one position or more has this verdict.
    pub fn reaches(&self, verdict: Verdict) -> Option<bool> {
        let place = VERDICTS.iter().position(|other| *other == verdict)?;
        self.reached[place]
    }
}

impl LazyDfa {
    /// Examines all states of the automaton, up to a limit.
    ///
    /// ```
    /// use guard_automata::{Atom, Formulas, Interval, LazyDfa, Limits, Verdict};
    /// let mut formulas = Formulas::new();
    /// let p = formulas.atom(Atom(0));
    /// let soon = formulas.eventually(Interval::steps(0, 1_000_000), p);
    /// let mut lazy = LazyDfa::new(&formulas, soon, &Limits::default())?;
    /// let survey = lazy.survey();
    /// assert_eq!(survey.reaches(Verdict::PresumablySatisfied), Some(false));
    /// let bad = survey.bad.ok_or("it can be violated")?;
    /// assert_eq!(bad.iter().map(|run| run.times).sum::<u64>(), 1_000_001);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn survey(&mut self) -> Survey {
        let map = self.map();
        let n = map.regions.len();
        let complete = !map.explored.contains(&false);
        let all = |wanted: &dyn Fn(usize) -> bool| (0..n).map(wanted).collect::<Vec<bool>>();
        let (accepts, rejects) = (map.accepts.clone(), all(&|at| !map.accepts[at]));
        // A continuation that satisfies the formula from a harder region also satisfies it here.
        let (can_hold, can_fail) = (
            map.certain_by(&accepts, &map.stronger),
            map.certain_by(&rejects, &map.weaker),
        );
        let (may_hold, may_fail) = (map.possible(&accepts), map.possible(&rejects));
        // For each verdict: the regions that certainly have it, and the regions that may have it.
        let verdicts = [
            (all(&|at| !may_fail[at]), all(&|at| !can_fail[at])),
            (
                all(&|at| accepts[at] && can_fail[at]),
                all(&|at| accepts[at] && may_fail[at]),
            ),
            (
                all(&|at| rejects[at] && can_hold[at]),
                all(&|at| rejects[at] && may_hold[at]),
            ),
            (all(&|at| !may_hold[at]), all(&|at| !can_hold[at])),
        ];
        let read = |goal: &[bool]| all(&|at| goal[at] && !map.fresh[at]);
        let reached = verdicts.each_ref().map(|(certainly, maybe)| {
            if map.certain(&read(certainly)).0[0] {
                Some(true)
            } else if complete && !read(maybe).contains(&true) {
                Some(false)
            } else {
                None
            }
        });
        let satisfied = map.certain_by(&verdicts[0].0, &map.stronger);
        let violated = map.certain_by(&verdicts[3].0, &map.weaker);
        let decided = all(&|at| satisfied[at] || violated[at]);
        let perhaps = all(&|at| verdicts[0].1[at] || verdicts[3].1[at]);
        let undecidable = map
            .possible(&perhaps)
            .iter()
            .map(|may| !may)
            .collect::<Vec<bool>>();
        let monitorable = if map.certain(&undecidable).0[0] {
            Some(false)
        } else if complete && !map.certain(&decided).0.contains(&false) {
            Some(true)
        } else {
            None
        };
        let shapes: FxHashSet<u32> = map.shapes(self).collect();
        let counters = shapes
            .iter()
            .map(|&shape| self.shapes[shape as usize].n_counters);
        let (n_states, n_counters) = (shapes.len(), counters.max().unwrap_or(0) as usize);
        let good = self.play(&map, &read(&accepts), LazyState::accepting);
        let violated = |state: &LazyState| state.verdict() == Verdict::Violated;
        let mut bad = self.play(&map, &read(&verdicts[3].0), violated);
        if bad.is_none() {
            bad = self.play(&map, &read(&rejects), |state| !state.accepting());
        }
        Survey {
            n_states,
            n_counters,
            complete,
            monitorable,
            good,
            bad,
            reached,
        }
    }

    /// Returns the reachable regions, the initial one first.
    fn map(&mut self) -> Map {
        let initial = self.initial();
        let first = self.region_at(&initial, 0, 0);
        let mut map = Map {
            epoch: self.epoch,
            regions: IndexSet::from_iter([first]),
            explored: Vec::new(),
            accepts: Vec::new(),
            fresh: Vec::new(),
            moves: Vec::new(),
            weaker: Vec::new(),
            stronger: Vec::new(),
        };
        // Regions with few counters first: if not all can be visited, the simplest traces are among them.
        let mut queue = BinaryHeap::new();
        for _ in 0..MOST {
            for at in map.explored.len()..map.regions.len() {
                let shape = self.regions[map.regions[at] as usize].shape;
                queue.push(Reverse((self.shapes[shape as usize].n_counters, at)));
                map.explored.push(false);
            }
            let Some(Reverse((_, at))) = queue.pop() else {
                break;
            };
            map.explored[at] = self.add_moves(at, &mut map).is_some();
        }
        map.explored.resize(map.regions.len(), false);
        for (at, &region) in map.regions.iter().enumerate() {
            let number = |other: &u32| map.regions.get_index_of(other).map(|other| (at, other));
            let [weaker, stronger] = self.without_chains(region);
            map.weaker.extend(weaker.iter().filter_map(number));
            map.stronger.extend(stronger.iter().filter_map(number));
            let shape = self.regions[region as usize].shape;
            map.accepts.push(self.accepts(region));
            map.fresh.push(self.shapes[shape as usize].fresh);
        }
        map
    }

    /// Adds the moves of a region. Returns `None` if there are too many.
    fn add_moves(&mut self, from: usize, map: &mut Map) -> Option<()> {
        let region = map.regions[from];
        let number = self.regions[region as usize].shape;
        let shape = self.shapes[number as usize].clone();
        let places: Vec<Place> = self.places(region).to_vec();
        if shape.n_counters > shape.n_steps {
            let moved = self.constants.moved(&shape, &places, true)?;
            let mut outcomes = Vec::new();
            for places in moved {
                outcomes.push(self.region_of(number, places.into_iter()));
            }
            let runs_out = self.constants.gap(&shape, &places, true);
            let outcomes = self.settled(outcomes)?;
            map.add(from, Act::Wait, outcomes, runs_out.map(|_| 1));
        }
        let Root::Built(root) = self.build(region) else {
            return None;
        };
        let moved = self.constants.moved(&shape, &places, false)?;
        let runs_out = self.constants.gap(&shape, &places, false);
        let atoms = self.engine.program.atoms.clone();
        for (letter, leaf) in paths(&self.diagrams, root) {
            let named = |(Atom(var), holds)| (atoms[var as usize], holds);
            let letter: Letter = letter.into_iter().map(named).collect();
            let outcomes = self.arrivals(leaf, &moved);
            let outcomes = self.settled(outcomes)?;
            let same = self.successors[leaf as usize].same;
            match runs_out.filter(|_| same) {
                Some(cost) => map.add(from, Act::ReadOn(letter), outcomes, Some(cost)),
                None => map.add(from, Act::Read(letter), outcomes, None),
            }
        }
        Some(())
    }

    /// Returns a cheap path from the initial region to a goal, as a trace.
    fn play(
        &mut self,
        map: &Map,
        goal: &[bool],
        done: impl Fn(&LazyState) -> bool,
    ) -> Option<Vec<Run>> {
        let (certain, strategy) = map.certain(goal);
        if !certain[0] {
            return None;
        }
        let (mut state, mut runs) = (self.initial(), Vec::<Run>::new());
        let (mut position, mut time) = (0_i128, 0_i128);
        let timed = self.engine.program.timed;
        // Whether the last move read a position: the passing of time has no effect before another position.
        let mut has_read = false;
        // A path through the game visits each region at most once.
        for _ in 0..=map.regions.len() {
            if position > 0 && done(&state) {
                return Some(runs);
            }
            if let Some(opened) = self.opened(&state, position, time).ok()? {
                state = opened;
            }
            let spot = self.look_up(&state, Spot::default(), position, time);
            if self.epoch != map.epoch {
                return None;
            }
            let at = map.regions.get_index_of(&spot.region)?;
            if goal[at] && has_read {
                return Some(runs);
            }
            // If time alone has led to the goal, any position shows it.
            let read = |index: &usize| {
                let step = &map.moves[*index];
                step.from == at && !matches!(step.act, Act::Wait)
            };
            let by = strategy.get(&at).copied();
            let by = by.or_else(|| (0..map.moves.len()).find(read))?;
            let (letter, reads) = match map.moves[by].act.clone() {
                Act::Read(letter) => (letter, 1),
                Act::ReadOn(letter) => (letter, spot.until.0.saturating_sub(position)),
                Act::Wait => {
                    has_read = false;
                    let opened = self.opened(&state, position, spot.until.1).ok()?;
                    let after = opened.as_ref().unwrap_or(&state);
                    let after = self.look_up(after, Spot::default(), position, spot.until.1);
                    // At a bound the next region begins one unit later; a round time within it is easier to read.
                    let round = time.saturating_add(self.constants.grain());
                    let last = after.until.1.saturating_sub(1);
                    time = spot.until.1.max(round.min(last));
                    continue;
                }
            };
            let times = u64::try_from(reads).ok()?.max(1);
            position += i128::from(times) - 1;
            let moment = Instant {
                position: u64::try_from(position).ok()?,
                time: timed.then_some(time),
            };
            self.step(&mut state, moment, |atom| letter.contains(&(atom, true)))
                .ok()?;
            position += 1;
            has_read = true;
            let at = timed.then_some(time);
            match runs
                .last_mut()
                .filter(|run| run.letter == letter && run.at == at)
            {
                Some(run) => run.times += times,
                None => runs.push(Run { letter, times, at }),
            }
        }
        None
    }
}

impl Map {
    /// Adds a move, unless it changes nothing. With a `cost` it is repeated until the region is left.
    fn add(&mut self, from: usize, act: Act, regions: Vec<u32>, cost: Option<i128>) {
        let number = |region| self.regions.insert_full(region).0;
        let mut outcomes: Vec<usize> = regions.into_iter().map(number).collect();
        outcomes.sort_unstable();
        outcomes.dedup();
        if cost.is_some() {
            outcomes.retain(|outcome| *outcome != from);
        }
        if !outcomes.is_empty() {
            self.moves.push(Move {
                from,
                act,
                outcomes,
                cost: cost.unwrap_or(1),
            });
        }
    }

    fn shapes<'a>(&'a self, lazy: &'a LazyDfa) -> impl Iterator<Item = u32> + 'a {
        let shape = |&region: &u32| lazy.regions[region as usize].shape;
        self.regions.iter().map(shape)
    }

    /// Returns the regions that certainly reach a goal. For each pair in `others`, the traces that reach the goal from
    /// the second region also reach it from the first.
    fn certain_by(&self, goal: &[bool], others: &[(usize, usize)]) -> Vec<bool> {
        let mut goal = goal.to_vec();
        loop {
            let certain = self.certain(&goal).0;
            let more = others
                .iter()
                .filter(|(at, other)| certain[*other] && !certain[*at]);
            let more: Vec<usize> = more.map(|(at, _)| *at).collect();
            if more.is_empty() {
                return certain;
            }
            goal = certain;
            more.into_iter().for_each(|at| goal[at] = true);
        }
    }

    /// Returns the regions that certainly reach a goal, each with its cheapest move.
    fn certain(&self, goal: &[bool]) -> (Vec<bool>, FxHashMap<usize, usize>) {
        let mut entering: Vec<Vec<usize>> = vec![Vec::new(); self.regions.len()];
        for (index, step) in self.moves.iter().enumerate() {
            for &outcome in &step.outcomes {
                entering[outcome].push(index);
            }
        }
        let mut open: Vec<usize> = self.moves.iter().map(|step| step.outcomes.len()).collect();
        let mut certain = vec![false; self.regions.len()];
        let mut strategy = FxHashMap::default();
        let goals = (0..goal.len()).filter(|&at| goal[at]);
        let mut queue: BinaryHeap<Reverse<(i128, usize, usize)>> =
            goals.map(|at| Reverse((0, at, usize::MAX))).collect();
        while let Some(Reverse((cost, at, by))) = queue.pop() {
            if std::mem::replace(&mut certain[at], true) {
                continue;
            }
            if by != usize::MAX {
                strategy.insert(at, by);
            }
            for &index in &entering[at] {
                open[index] -= 1;
                // The outcome that is settled last is the most expensive one.
                if open[index] == 0 {
                    let step = &self.moves[index];
                    queue.push(Reverse((cost.saturating_add(step.cost), step.from, index)));
                }
            }
        }
        (certain, strategy)
    }

    /// Returns the regions that may reach a goal; an unexplored region may reach anything.
    fn possible(&self, goal: &[bool]) -> Vec<bool> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.regions.len()];
        for step in &self.moves {
            for &outcome in &step.outcomes {
                before[outcome].push(step.from);
            }
        }
        let mut possible: Vec<bool> = (0..goal.len())
            .map(|at| goal[at] || !self.explored[at])
            .collect();
        let mut stack: Vec<usize> = (0..goal.len()).filter(|&at| possible[at]).collect();
        while let Some(at) = stack.pop() {
            for &from in &before[at] {
                if !std::mem::replace(&mut possible[from], true) {
                    stack.push(from);
                }
            }
        }
        possible
    }
}
