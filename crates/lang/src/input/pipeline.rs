//! Batches and small files, worked on by all threads and handed on in order.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

use super::batch::{Batch, Batches};

/// Pieces that are under way at most, however many threads there are: they bound the memory.
const MOST: usize = 16;

/// Works on the batches of a file, several at a time, and hands on what came of them, in their order. A file of one
/// batch is worked on at once: there are many small files.
pub(crate) fn batches<T: Send>(
    batches: &mut impl Batches,
    work: impl Fn(&Batch) -> T + Sync,
    mut take: impl FnMut(&Batch, T),
) {
    let mut first = batches.next_batch();
    if batches.is_exhausted()
        && let Some(only) = first.take()
    {
        take(&only, work(&only));
        return;
    }
    ordered_map(
        batches,
        |batches| first.take().or_else(|| batches.next_batch()),
        work,
        |batches, batch, made| {
            take(&batch, made);
            batches.recycle(batch);
        },
    );
}

/// Works on what `next` takes from a source, several at a time, and hands on what came of each, in their order.
///
/// The thread that calls takes and hands on; it also helps with the work, and waits only where none is left to do. With one
/// thread, a piece is done with before the next is taken.
pub(crate) fn ordered_map<S, B: Send, T: Send>(
    source: &mut S,
    mut next: impl FnMut(&mut S) -> Option<B>,
    work: impl Fn(&B) -> T + Sync,
    mut take: impl FnMut(&mut S, B, T),
) {
    let ahead = match rayon::current_num_threads() {
        0 | 1 => 1,
        threads => (threads + 2).min(MOST),
    };
    let work = &work;
    rayon::in_place_scope_fifo(|scope| {
        let mut under_way: VecDeque<Receiver<(B, T)>> = VecDeque::new();
        let mut ended = false;
        let mut idle = 0;
        loop {
            match under_way.front().map(Receiver::try_recv) {
                Some(Ok((piece, made))) => {
                    under_way.pop_front();
                    take(source, piece, made);
                }
                None if ended => break,
                // Its thread has panicked, which ends the scope.
                Some(Err(TryRecvError::Disconnected)) => break,
                _ if ended || under_way.len() >= ahead => {
                    help(&mut idle);
                    continue;
                }
                _ => match next(source) {
                    Some(piece) => {
                        let (done, receiver) = mpsc::sync_channel(1);
                        scope.spawn_fifo(move |_| {
                            let made = work(&piece);
                            // Nobody takes it where another thread has panicked.
                            let _ = done.send((piece, made));
                        });
                        under_way.push_back(receiver);
                    }
                    None => ended = true,
                },
            }
            idle = 0;
        }
    });
}

/// Runs work that waits for a thread. If there is none, yields, for as short a time as possible at first.
fn help(idle: &mut u32) {
    match rayon::yield_now() {
        Some(rayon::Yield::Executed) => *idle = 0,
        _ if *idle < 64 => {
            *idle += 1;
            std::thread::yield_now();
        }
        _ => std::thread::sleep(Duration::from_micros(50)),
    }
}
