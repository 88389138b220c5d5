//! Pools of values that are expensive to create or that cache data between users.

use std::fmt;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A value that serves one user after another. A guard leaves the default value behind, so making one must be cheap.
pub(crate) trait Reusable: Default {
    /// Prepares the value for its next user. Returns `false` if it should be dropped instead.
    fn recycle(&mut self) -> bool;
}

/// Values that are not in use.
pub(crate) struct Pool<T> {
    idle: Arc<Idle<T>>,
}

struct Idle<T> {
    values: Mutex<Vec<T>>,
    /// Further values are dropped.
    capacity: usize,
}

impl<T> Idle<T> {
    fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.values.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Reusable> Pool<T> {
    /// Returns an empty pool that keeps up to `capacity` values.
    pub(crate) fn new(capacity: usize) -> Pool<T> {
        let values = Mutex::default();
        Pool {
            idle: Arc::new(Idle { values, capacity }),
        }
    }

    /// Takes an unused value from the pool, or creates one. The guard returns it to the pool.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> PoolGuard<T> {
        let idle = self.idle.lock().pop();
        PoolGuard {
            value: idle.unwrap_or_else(make),
            idle: Arc::clone(&self.idle),
        }
    }
}

/// A value of a [`Pool`] for one user. The guard owns its share of the pool, so it may outlive the creator of the pool.
pub(crate) struct PoolGuard<T: Reusable> {
    value: T,
    idle: Arc<Idle<T>>,
}

impl<T: Reusable> Deref for PoolGuard<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T: Reusable> DerefMut for PoolGuard<T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}

impl<T: Reusable> Drop for PoolGuard<T> {
    fn drop(&mut self) {
        if self.value.recycle() {
            let value = std::mem::take(&mut self.value);
            let mut values = self.idle.lock();
            if values.len() < self.idle.capacity {
                values.push(value);
            }
        }
    }
}

impl<T> fmt::Debug for Pool<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pool")
            .field("idle", &self.idle.lock().len())
            .finish()
    }
}

impl<T: Reusable + fmt::Debug> fmt::Debug for PoolGuard<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Default, PartialEq)]
    struct Buffer(Vec<u8>);

    impl Reusable for Buffer {
        fn recycle(&mut self) -> bool {
            let keep = self.0.len() < 3;
            self.0.clear();
            keep
        }
    }

    #[test]
    fn values_return_and_large_ones_are_dropped() {
        let pool: Pool<Buffer> = Pool::new(1);
        let made = |n: u8| move || Buffer(Vec::with_capacity(usize::from(n)));
        let (mut first, second) = (pool.get(made(10)), pool.get(made(20)));
        first.0.push(1);
        drop(first);
        drop(second);
        // Only one is kept, and it was recycled.
        let (kept, fresh) = (pool.get(made(30)), pool.get(made(40)));
        assert_eq!((&kept.0[..], kept.0.capacity()), (&[][..], 10));
        assert_eq!(fresh.0.capacity(), 40);
        drop(fresh);
        let mut large = pool.get(made(50));
        assert_eq!(large.0.capacity(), 40);
        large.0.extend([1, 2, 3]);
        drop(large);
        assert_eq!(pool.get(made(60)).0.capacity(), 60);
        drop(pool);
        drop(kept);
    }
}
