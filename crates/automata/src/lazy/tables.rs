//! The tables of shapes, regions and successors: lookup, and construction of missing entries.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::chain::{Piece, Pieces};
use super::region::Place;
use super::shape::{Chained, Shape, Shaped, configuration, parts, shape};
use super::{LazyDfa, LazyState, Region, Root, SHARE, Source, Spot, Successor};
use crate::diagram::{Branch, Branches, Diagrams, Ref};
use crate::limits::{LimitError, Resource};
use crate::progress::{Engine, Reading};

impl LazyDfa {
    /// Returns the region of a state before a position is read.
    pub(super) fn region_at(&mut self, state: &LazyState, position: i128, time: i128) -> u32 {
        self.look_up(state, Spot::default(), position, time).region
    }

    /// Returns the spot of a state before a position is read.
    #[cold]
    pub(super) fn look_up(
        &mut self,
        state: &LazyState,
        old: Spot,
        position: i128,
        time: i128,
    ) -> Spot {
        self.tidy();
        let known = self.regions.get_index(old.region as usize);
        let number = match known.filter(|_| old.epoch == self.epoch) {
            Some((_, region)) => region.shape,
            None => self.shape_number(&state.shape),
        };
        self.find(number, &state.counters, position, time)
    }

    /// Returns the spot of a shape with these counters when a position is about to be read.
    pub(super) fn find(
        &mut self,
        number: u32,
        counters: &[i128],
        position: i128,
        time: i128,
    ) -> Spot {
        let shape = &self.shapes[number as usize];
        let n_steps = shape.n_steps as usize;
        let mut until = (i128::MAX, i128::MAX);
        self.key.clear();
        self.key.extend([number as Place, (number >> 16) as Place]);
        for (counter, &value) in counters.iter().enumerate() {
            let timed = counter >= n_steps;
            let (now, until) = match timed {
                false => (position, &mut until.0),
                true => (time, &mut until.1),
            };
            let distance = value.saturating_sub(now);
            let place = self.constants.place(timed, distance);
            self.key.push(place);
            if let Some(slack) = self.constants.slack(timed, place, distance) {
                *until = (*until).min(now.saturating_add(slack).saturating_add(1));
            }
        }
        Spot {
            epoch: self.epoch,
            region: self.region_number(number),
            from: (position, time),
            until,
        }
    }

    /// Returns the number of the region of `key`.
    pub(super) fn region_number(&mut self, shape: u32) -> u32 {
        if let Some(known) = self.regions.get_index_of(self.key.as_slice()) {
            return known as u32;
        }
        self.entries += 2 + self.key.len() / 8;
        let region = Region {
            shape,
            root: Root::Unbuilt,
            finality: None,
        };
        let key = self.key.as_slice().into();
        self.regions.insert_full(key, region).0 as u32
    }

    /// Returns the number of the region of a shape with these places.
    pub(super) fn region_of(&mut self, shape: u32, places: impl Iterator<Item = Place>) -> u32 {
        self.key.clear();
        self.key.extend([shape as Place, (shape >> 16) as Place]);
        self.key.extend(places);
        self.region_number(shape)
    }

    /// Returns the regions of a successor for each of these places of the counters after time has moved on.
    pub(super) fn arrivals(&mut self, successor: u32, moved: &[Vec<Place>]) -> Vec<u32> {
        let successor = self.successors[successor as usize].clone();
        let n_steps = self.shapes[successor.shape as usize].n_steps;
        let mut arrivals = Vec::new();
        for places in moved {
            let place = |(counter, source): (usize, &Source)| match *source {
                Source::Old(old) => places[old as usize],
                Source::New(after) => self.constants.place(counter as u32 >= n_steps, after),
            };
            let places: Vec<Place> = successor.sources.iter().enumerate().map(place).collect();
            if self.constants.example(n_steps, &places).is_some() {
                arrivals.push(self.region_of(successor.shape, places.into_iter()));
            }
        }
        arrivals
    }

    /// Returns the places of a region.
    pub(super) fn places(&self, region: u32) -> &[Place] {
        let known = self.regions.get_index(region as usize);
        known.map_or(&[], |(key, _)| &key[2..])
    }

    pub(super) fn shape_number(&mut self, shape: &Arc<Shape>) -> u32 {
        if let Some(known) = self.shapes.get_index_of(shape) {
            return known as u32;
        }
        self.entries += 2 + shape.size();
        self.shapes.insert_full(shape.clone()).0 as u32
    }

    /// Whether the trace may stop in a region.
    pub(super) fn accepts(&self, region: u32) -> bool {
        let shape = &self.shapes[self.regions[region as usize].shape as usize];
        if shape.fresh {
            self.empty
        } else {
            shape.accepts()
        }
    }

    /// Builds the successors of a region, for all letters at once if there are not too many.
    pub(super) fn build(&mut self, region: u32) -> Root {
        let root = match self.regions[region as usize].root {
            Root::Unbuilt => {
                self.tidy_engine();
                let made = self.successors_of(region);
                let made = match made {
                    Err(_) if self.engine.meter.nodes() > 0 => {
                        // Try again with no other region in memory.
                        self.engine = Engine::new(self.engine.program.clone(), &self.limits);
                        self.successors_of(region)
                    }
                    made => made,
                };
                self.engine.meter.restart();
                made.map_or(Root::Large, Root::Built)
            }
            known => known,
        };
        self.regions[region as usize].root = root;
        root
    }

    pub(super) fn successors_of(&mut self, region: u32) -> Result<Ref, LimitError> {
        let number = self.regions[region as usize].shape;
        let before = self.shapes[number as usize].clone();
        let too_far = LimitError {
            resource: Resource::Work,
            limit: self.limits.work,
            demand: self.limits.work.saturating_add(1),
        };
        let example = self.constants.example(before.n_steps, self.places(region));
        let counters = example.ok_or(too_far)?;
        let letter = vec![None; self.engine.program.n_vars()];
        let reading = Reading {
            letter: &letter,
            time: 0,
            open: !self.engine.program.timed,
        };
        self.engine.meter.restart();
        let most = self.limits.work / SHARE;
        let from = configuration(&mut self.engine, &before.parts(&counters))?;
        let after = self.engine.step_within(from, reading, most)?;
        let mut copied = FxHashMap::default();
        let root = self.copy(after, &mut copied, &mut |lazy, leaf| {
            let next = shape(&lazy.engine.program, parts(&lazy.engine, leaf), 0);
            let mut successor = lazy.successor(next, |timed, value| {
                let (mut olds, one) = match timed {
                    false => (0..before.n_steps, 1),
                    true => (before.n_steps..before.n_counters, 0),
                };
                let same = |old: &u32| counters[*old as usize] - one == value;
                olds.find(same).map_or(Source::New(value), Source::Old)
            });
            successor.same = successor.shape == number && successor.keeps(&before);
            lazy.successor_number(successor)
        });
        Ok(root)
    }

    /// Returns the successor for a configuration, with the sources of the values of its counters and queues.
    pub(super) fn successor(
        &mut self,
        shaped: Shaped,
        source: impl Fn(bool, i128) -> Source,
    ) -> Successor {
        let Shaped {
            shape,
            counters,
            queues,
        } = shaped;
        let is_timed = |counter: u32| counter >= shape.n_steps;
        let values = counters.iter().zip(0..);
        let sources = values.map(|(&value, counter)| source(is_timed(counter), value));
        let filled = |(pieces, chain): (Pieces, &Chained)| -> Box<[Piece<Source>]> {
            let piece = |piece| match piece {
                Piece::Queue(queue) => Piece::Queue(queue),
                Piece::Deadline(value) => Piece::Deadline(source(is_timed(chain.counter), value)),
            };
            pieces.into_iter().map(piece).collect()
        };
        Successor {
            sources: sources.collect(),
            queues: queues.into_iter().zip(&shape.chains).map(filled).collect(),
            same: false,
            shape: self.shape_number(&Arc::new(shape)),
        }
    }

    pub(super) fn successor_number(&mut self, successor: Successor) -> u32 {
        let n_pieces: usize = successor.queues.iter().map(|pieces| pieces.len()).sum();
        self.entries += 1 + (successor.sources.len() + n_pieces) / 2;
        self.successors.insert_full(successor).0 as u32
    }

    /// Copies a diagram of the engine into the diagrams of the automaton, with other leaves.
    pub(super) fn copy(
        &mut self,
        from: Ref,
        copied: &mut FxHashMap<Ref, Ref>,
        leaf: &mut impl FnMut(&mut LazyDfa, u32) -> u32,
    ) -> Ref {
        if let Some(&known) = copied.get(&from) {
            return known;
        }
        let made = match from.as_leaf() {
            Some(configuration) => Ref::leaf(leaf(self, configuration)),
            None => {
                let Branch { var, lo, hi } = self.engine.diagrams.at(from);
                let lo = self.copy(lo, copied, leaf);
                let hi = self.copy(hi, copied, leaf);
                self.entries += 1;
                self.diagrams.branch(var, lo, hi)
            }
        };
        copied.insert(from, made);
        made
    }

    /// Empties the tables if they are full; states contain everything that they need.
    pub(super) fn tidy(&mut self) {
        if self.entries > self.limits.nodes / 4 {
            self.shapes.clear();
            self.regions.clear();
            self.diagrams = Diagrams::default();
            self.successors.clear();
            self.openings.clear();
            self.entries = 0;
            self.epoch += 1;
        }
    }

    /// Resets the engine when its tables are half full.
    pub(super) fn tidy_engine(&mut self) {
        if self.engine.meter.nodes() > (self.limits.nodes as u64 / 2).min(200_000) {
            self.engine = Engine::new(self.engine.program.clone(), &self.limits);
        }
        self.engine.meter.restart();
    }
}
