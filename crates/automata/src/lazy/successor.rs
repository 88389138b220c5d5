//! The successor by a letter: a shape, and the sources of the values of its counters and queues.

use super::chain::Piece;
use super::queue::Queue;
use super::shape::{Chained, Shape};

/// The source of the value of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Source {
    /// The counter of the previous state with this number.
    Old(u32),
    /// A new counter: this far after the next position, or after the time of this one.
    New(i128),
}

/// The successor by a letter.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Successor {
    pub(super) shape: u32,
    pub(super) sources: Box<[Source]>,
    pub(super) queues: Box<[Box<[Piece<Source>]>]>,
    /// Whether the state does not change.
    pub(super) same: bool,
}

impl Successor {
    /// Returns the pieces of each queue.
    fn pieces(&self) -> impl Iterator<Item = &[Piece<Source>]> {
        self.queues.iter().map(|pieces| &**pieces)
    }

    /// Whether counters and queues are the same as those of the previous shape.
    pub(super) fn keeps(&self, before: &Shape) -> bool {
        let runs_on = |(counter, source): (usize, &Source)| *source == Source::Old(counter as u32);
        let stays =
            |(queue, pieces): (usize, &[Piece<Source>])| *pieces == [Piece::Queue(queue as u32)];
        self.sources.len() == before.n_counters as usize
            && self.queues.len() == before.chains.len()
            && self.sources.iter().enumerate().all(runs_on)
            && self.pieces().enumerate().all(stays)
    }

    /// Returns the counters and queues of the successor; `position` is the next position.
    pub(super) fn apply(
        &self,
        shape: &Shape,
        counters: &[i128],
        queues: &[Queue],
        position: i128,
        time: i128,
    ) -> (Box<[i128]>, Box<[Queue]>) {
        let value = |source: Source, counter: u32| match source {
            Source::Old(old) => counters[old as usize],
            Source::New(after) if counter < shape.n_steps => position.saturating_add(after),
            Source::New(after) => time.saturating_add(after),
        };
        let sources = self.sources.iter().zip(0..);
        let filled = |(pieces, chain): (&[Piece<Source>], &Chained)| {
            let mut filled = Queue::default();
            for piece in pieces {
                match *piece {
                    Piece::Queue(queue) => filled.append(&queues[queue as usize]),
                    Piece::Deadline(source) => filled.push(value(source, chain.counter)),
                }
            }
            filled
        };
        (
            sources
                .map(|(&source, counter)| value(source, counter))
                .collect(),
            self.pieces().zip(&shape.chains).map(filled).collect(),
        )
    }
}
