//! Batches worked on by all threads, and handed on in the order of the file.

use std::collections::VecDeque;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

use super::batch::{Batch, Batches};

/// Batches that are under way at most, however many threads there are: they bound the memory.
const MOST: usize = 16;

/// Works on the batches of a file, several at a time, and hands on what came of them, in their order.
///
/// The thread that calls reads the file and hands on; it also helps with the work, and waits only where none is left to
/// do. With one thread, a batch is done with before the next is read.
pub(crate) fn ordered_map<T: Send>(
    batches: &mut impl Batches,
    work: impl Fn(&Batch) -> T + Sync,
    mut take: impl FnMut(&Batch, T),
) {
    let ahead = match rayon::current_num_threads() {
        0 | 1 => 1,
        threads => (threads + 2).min(MOST),
    };
    let work = &work;
    rayon::in_place_scope_fifo(|scope| {
        let mut under_way: VecDeque<Receiver<(Batch, T)>> = VecDeque::new();
        let mut ended = false;
        let mut idle = 0;
        loop {
            match under_way.front().map(Receiver::try_recv) {
                Some(Ok((batch, made))) => {
                    under_way.pop_front();
                    take(&batch, made);
                    batches.recycle(batch);
                }
                None if ended => break,
                // Its thread has panicked, which ends the scope.
                Some(Err(TryRecvError::Disconnected)) => break,
                _ if ended || under_way.len() >= ahead => {
                    help(&mut idle);
                    continue;
                }
                _ => match batches.next_batch() {
                    Some(batch) => {
                        let (done, receiver) = mpsc::sync_channel(1);
                        scope.spawn_fifo(move |_| {
                            let made = work(&batch);
                            // Nobody takes it where another thread has panicked.
                            let _ = done.send((batch, made));
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
