//! The opening of the first window of a chain. From then on the obligation is separate, and the next one in the queue becomes
//! the first of the chain. For the times of a register it means that the first time enters the window.
//!
//! The resulting shape depends on the order of the end of the window, the start of the next one and the counters. So the
//! counters are *extended* by these two values, and results are cached by the places of all of them.
//!
//! A search over regions knows only that the next window begins later. It follows every place for its start, and also the case
//! that there is none.

use super::chain::window_of;
use super::queue::Queue;
use super::region::{MOST_MOVES, Place};
use super::shape::{Links, Number, Owed, Shape, parts, shape};
use super::{LazyDfa, LazyState, Source, relative};
use crate::diagram::{FALSE, TRUE};
use crate::limits::LimitError;
use crate::obligation::{Chain, Obligation};
use crate::progress::Engine;
use crate::registers::{Rest, Times, Value};

/// Counters extended by the end of the window that opens, and by the start of the next window of its chain if there is
/// one.
struct Extended {
    /// Ascending among those of either kind.
    counters: Vec<i128>,
    n_steps: usize,
    /// The counter, and whether it existed before.
    end: Option<(usize, bool)>,
    next: Option<(usize, bool)>,
}

impl Extended {
    /// Returns the counters of a shape, extended for the chain of a queue.
    fn new(shape: &Shape, counters: &[i128], queue: usize, next: Option<i128>) -> Extended {
        let chain = shape.chains[queue];
        let begin = counters[chain.counter as usize];
        let mut extended = Extended {
            counters: counters.to_vec(),
            n_steps: shape.n_steps as usize,
            end: None,
            next: None,
        };
        let timed = chain.counter >= shape.n_steps;
        if let Links::Owed { width, .. } = chain.links {
            extended.end = Some(extended.insert(begin.saturating_add(width), timed));
        }
        if let Some(next) = next {
            let (at, was_there) = extended.insert(next, timed);
            if let Some((end, _)) = &mut extended.end
                && !was_there
                && at <= *end
            {
                *end += 1;
            }
            extended.next = Some((at, was_there));
        }
        extended
    }

    fn insert(&mut self, value: i128, timed: bool) -> (usize, bool) {
        let (from, until) = match timed {
            true => (self.n_steps, self.counters.len()),
            false => (0, self.n_steps),
        };
        match self.counters[from..until].binary_search(&value) {
            Ok(at) => (from + at, true),
            Err(at) => {
                self.counters.insert(from + at, value);
                self.n_steps += usize::from(!timed);
                (from + at, false)
            }
        }
    }

    /// Returns, from the values of the extended counters, those of the counters that existed before.
    fn before(&self, values: &[i128]) -> Vec<i128> {
        let added = |at: usize, (added, was_there): (usize, bool)| at == added && !was_there;
        let both = [self.end, self.next];
        let was_there = |at: usize| !both.iter().flatten().any(|each| added(at, *each));
        let all = values.iter().enumerate();
        let old = all.filter(|(at, _)| was_there(*at));
        old.map(|(_, &value)| value).collect()
    }
}

impl LazyDfa {
    /// Returns the state at a later time and position, if a window of a chain opens by then.
    ///
    /// # Errors
    /// When the resulting state is larger than the limits allow.
    pub(super) fn opened(
        &mut self,
        state: &LazyState,
        position: i128,
        time: i128,
    ) -> Result<Option<LazyState>, LimitError> {
        if state.shape.due(&state.counters, position, time).is_none() {
            return Ok(None);
        }
        self.tidy();
        let number = self.shape_number(&state.shape);
        let (counters, queues) = (state.counters.clone(), state.queues.clone());
        let arrived = self.arrive(number, counters, queues, position - 1, time)?;
        Ok(Some(arrived.0))
    }

    /// Opens the windows of chains that are open by now; returns the shape.
    pub(super) fn open(
        &mut self,
        mut number: u32,
        counters: &mut Box<[i128]>,
        queues: &mut Box<[Queue]>,
        position: i128,
        time: i128,
    ) -> Result<u32, LimitError> {
        while let Some(queue) = self.shapes[number as usize].due(counters, position, time) {
            let next = queues[queue].pop();
            let extended = Extended::new(&self.shapes[number as usize], counters, queue, next);
            let opening = self.opening(number, queue, &extended, position, time)?;
            let successor = &self.successors[opening as usize];
            number = successor.shape;
            let shape = &self.shapes[number as usize];
            (*counters, *queues) =
                successor.apply(shape, &extended.counters, queues, position, time);
        }
        Ok(number)
    }

    /// Returns the successor after a window opens, from extended counters.
    fn opening(
        &mut self,
        number: u32,
        queue: usize,
        extended: &Extended,
        position: i128,
        time: i128,
    ) -> Result<u32, LimitError> {
        let mark = |(at, was_there): (usize, bool)| 2 * at as Place + Place::from(was_there);
        self.key.clear();
        self.key.extend([
            number as Place,
            (number >> 16) as Place,
            queue as Place,
            extended.n_steps as Place,
            extended.end.map_or(Place::MAX, mark),
            extended.next.map_or(Place::MAX, mark),
        ]);
        for (counter, &value) in extended.counters.iter().enumerate() {
            let timed = counter >= extended.n_steps;
            let distance = value.saturating_sub(if timed { time } else { position });
            self.key.push(self.constants.place(timed, distance));
        }
        if let Some(&known) = self.openings.get(self.key.as_slice()) {
            return Ok(known);
        }
        let key: Box<[Place]> = self.key.as_slice().into();
        let distances = relative(&extended.counters, extended.n_steps, position, time);
        let before = self.shapes[number as usize].clone();
        let opens = Opens {
            queue: queue as u32,
            timed: before.chains[queue].counter >= before.n_steps,
            next: extended.next.map(|(at, _)| distances[at]),
            links: before.chains[queue].links,
            forgets: false,
        };
        let made = self.make_opening(&before, opens, extended, &distances)?;
        self.entries += 2 + key.len() / 8;
        self.openings.insert(key, made);
        Ok(made)
    }

    /// Computes the successor for extended counters with these distances.
    fn make_opening(
        &mut self,
        before: &Shape,
        opens: Opens,
        extended: &Extended,
        distances: &[i128],
    ) -> Result<u32, LimitError> {
        self.tidy_engine();
        let program = self.engine.program.clone();
        let mut pairs = Vec::new();
        for (values, clauses) in before.parts(&extended.before(distances)) {
            let values: Vec<Value> = values.iter().map(|value| opens.value(value)).collect();
            let (registers, mut residual) = (self.engine.lists.number(&values), FALSE);
            for clause in clauses.iter().flat_map(|clause| opens.of(clause)) {
                let Engine {
                    residuals, meter, ..
                } = &mut self.engine;
                let mut whole = TRUE;
                for owed in clause {
                    let owed = residuals.single(&program, owed, meter)?;
                    whole = residuals.and(&program, whole, owed, meter)?;
                }
                residual = residuals.or(&program, residual, whole, meter)?;
            }
            pairs.push((registers, residual));
        }
        let after = self.engine.configuration(pairs)?;
        let shaped = shape(&program, parts(&self.engine, after), 0);
        let n_steps = extended.n_steps;
        let successor = self.successor(shaped, |timed, value| {
            let (from, list) = match timed {
                true => (n_steps, &distances[n_steps..]),
                false => (0, &distances[..n_steps]),
            };
            let known = list.binary_search(&value);
            known.map_or(Source::New(value), |at| Source::Old((from + at) as u32))
        });
        Ok(self.successor_number(successor))
    }

    /// Returns regions from which more traces satisfy the formula than from this one, and regions from which fewer do: those
    /// without one of its chains. A chain whose obligations are all pending is harder to satisfy than no chain; a chain of
    /// which one obligation suffices is easier.
    pub(super) fn without_chains(&mut self, region: u32) -> [Vec<u32>; 2] {
        let number = self.regions[region as usize].shape;
        let before = self.shapes[number as usize].clone();
        let places = self.places(region).to_vec();
        let mut others = [Vec::new(), Vec::new()];
        for (queue, chain) in before.chains.iter().enumerate() {
            let is_all = |owed: &Owed| owed.chain == Chain::All(queue as u32);
            let Some(counters) = self.constants.example(before.n_steps, &places) else {
                continue;
            };
            let extended = Extended {
                counters,
                n_steps: before.n_steps as usize,
                end: None,
                next: None,
            };
            let opens = Opens {
                queue: queue as u32,
                timed: chain.counter >= before.n_steps,
                next: None,
                links: chain.links,
                forgets: true,
            };
            let is_owed = matches!(chain.links, Links::Owed { .. });
            let made = self.make_opening(&before, opens, &extended, &extended.counters);
            if let (true, Ok(successor)) = (is_owed, made) {
                let side = &mut others[usize::from(!before.owed().any(is_all))];
                side.extend(self.arrivals(successor, std::slice::from_ref(&places)));
            }
        }
        others
    }

    /// Returns these regions after all windows of chains that are due have been opened, or `None` if that exceeds the
    /// limits.
    pub(super) fn settled(&mut self, mut regions: Vec<u32>) -> Option<Vec<u32>> {
        let mut settled = Vec::with_capacity(regions.len());
        while let Some(region) = regions.pop() {
            match self.due_in(region) {
                Some(queue) => regions.extend(self.openings_of(region, queue)?),
                None => settled.push(region),
            }
            if settled.len() + regions.len() > MOST_MOVES * MOST_MOVES {
                return None;
            }
        }
        Some(settled)
    }

    /// Returns the queue of the first chain whose window is due in a region.
    fn due_in(&self, region: u32) -> Option<usize> {
        let shape = &self.shapes[self.regions[region as usize].shape as usize];
        let places = self.places(region);
        shape.chains.iter().position(|chain| {
            let timed = chain.counter >= shape.n_steps;
            places[chain.counter as usize] <= self.constants.place(timed, -chain.delay)
        })
    }

    /// Returns the regions that the opening of the first window of a chain leads to, or `None` if there are too many.
    fn openings_of(&mut self, region: u32, queue: usize) -> Option<Vec<u32>> {
        let number = self.regions[region as usize].shape;
        let shape = self.shapes[number as usize].clone();
        let places = self.places(region).to_vec();
        let mut opened = Vec::new();
        for (extended, places) in self.extensions(&shape, &places, queue)? {
            let successor = self.opening(number, queue, &extended, 0, 0).ok()?;
            opened.extend(self.arrivals(successor, &[places]));
        }
        opened.sort_unstable();
        opened.dedup();
        Some(opened)
    }

    /// Returns all ways to extend the counters of a region, with their places, or `None` if there are too many.
    fn extensions(
        &self,
        shape: &Shape,
        places: &[Place],
        queue: usize,
    ) -> Option<Vec<(Extended, Vec<Place>)>> {
        let chain = shape.chains[queue];
        let timed = chain.counter >= shape.n_steps;
        let constants = &self.constants;
        let mut all = Vec::new();
        let mut add = |places: Vec<Place>, n_steps: usize, end, next| {
            if let Some(counters) = constants.example(n_steps as u32, &places) {
                let extended = Extended {
                    counters,
                    n_steps,
                    end,
                    next,
                };
                all.push((extended, places));
            }
            (all.len() <= MOST_MOVES).then_some(())
        };
        let mut n_steps = shape.n_steps as usize;
        let section = |n_steps: usize, n: usize| if timed { n_steps..n } else { 0..n_steps };
        let mut places = places.to_vec();
        let mut end = None;
        if let Links::Owed { width, .. } = chain.links {
            // The window opens where its distance is zero, so its end is at its length.
            let place = constants.place(timed, width);
            let range = section(n_steps, places.len());
            let at = range.start + places[range.clone()].partition_point(|other| *other < place);
            let was_there = range.contains(&at) && places[at] == place;
            if !was_there {
                places.insert(at, place);
                n_steps += usize::from(!timed);
            }
            end = Some((at, was_there));
        }
        let begin = chain.counter as usize;
        let shift = |counter: u32| {
            let after = |(at, was_there): (usize, bool)| !was_there && counter as usize >= at;
            counter as usize + usize::from(end.is_some_and(after))
        };
        add(places.clone(), n_steps, end, None)?;
        // The next window opens before those of all later obligations.
        let range = section(n_steps, places.len());
        let (limit, longest) = match chain.links {
            Links::Owed { node, .. } => {
                let later = shape.owed().filter(|owed| owed.node == node);
                let later = later.filter_map(|owed| match owed.lo {
                    Number::Counter(counter) if counter > chain.counter => Some(shift(counter)),
                    _ => None,
                });
                let longest = window_of(&self.engine.program, node)?.lo;
                (later.min().unwrap_or(range.end), longest)
            }
            Links::Held { next, .. } => (shift(next), 0),
        };
        let longest = constants.place(timed, longest);
        for at in begin + 1..=limit {
            let above = places.get(at).filter(|_| at < range.end).copied();
            let least = places[at - 1];
            let most = above.unwrap_or(longest).min(longest);
            for place in least..=most {
                let mut places = places.clone();
                places.insert(at, place);
                let end = end.map(|(end, was_there)| (end + usize::from(at <= end), was_there));
                let n_steps = n_steps + usize::from(!timed);
                add(places, n_steps, end, Some((at, false)))?;
            }
            if at < limit && above.is_some_and(|above| above <= longest) {
                add(places.clone(), n_steps, end, Some((at, true)))?;
            }
        }
        Some(all)
    }
}

/// The chain whose first window opens, and the start of the next window.
struct Opens {
    queue: u32,
    timed: bool,
    next: Option<i128>,
    links: Links,
    /// Whether nothing of it is kept instead.
    forgets: bool,
}

impl Opens {
    /// Returns the value in the extended region: of the obligations in the window the latest counts, which is the first of the
    /// chain.
    fn value(&self, value: &Value) -> Value {
        match value {
            Value::Times(Times {
                list,
                rest: Some(rest),
            }) if rest.queue == self.queue && matches!(self.links, Links::Held { .. }) => {
                let (aged, later) = list.split_at(rest.after as usize + 1);
                let first = aged.last().copied();
                let next = self.next.into_iter();
                Value::Times(Times {
                    list: first
                        .into_iter()
                        .chain(next)
                        .chain(later.iter().copied())
                        .collect(),
                    rest: self.next.map(|_| Rest { after: 1, ..*rest }),
                })
            }
            value => value.clone(),
        }
    }

    /// Returns the clauses with the window of the first obligation open, and the rest of the chain.
    fn of(&self, clause: &[Obligation]) -> Vec<Vec<Obligation>> {
        let is_chain = |owed: &&Obligation| {
            owed.chain == Chain::All(self.queue) || owed.chain == Chain::Any(self.queue)
        };
        let (Some(&chain), Links::Owed { width, .. }) = (clause.iter().find(is_chain), self.links)
        else {
            return vec![clause.to_vec()];
        };
        let first = Obligation {
            // As after a step.
            lo: if self.timed { i128::MIN } else { 0 },
            chain: Chain::Alone,
            ..chain
        };
        let rest = self.next.map(|lo| Obligation {
            lo,
            hi: lo.saturating_add(width),
            ..chain
        });
        let with = |owed: &[Obligation]| {
            let others = clause.iter().filter(|owed| !is_chain(owed)).copied();
            others.chain(owed.iter().copied()).collect()
        };
        match (rest, chain.chain) {
            (_, Chain::Any(_)) if self.forgets => Vec::new(),
            _ if self.forgets => vec![with(&[])],
            (None, _) => vec![with(&[first])],
            (Some(rest), Chain::Any(_)) => vec![with(&[first]), with(&[rest])],
            (Some(rest), _) => vec![with(&[first, rest])],
        }
    }
}
