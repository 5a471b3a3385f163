//! A barrier.

use super::{Condvar, Mutex};
use std::fmt;
use std::sync::PoisonError;

/// Lets a number of threads wait for each other, like [`std::sync::Barrier`].
///
/// ```
/// use tidegate::Pool;
/// use tidegate::sync::Barrier;
///
/// let pool = Pool::builder().workers(2).build()?;
/// let barrier = Barrier::new(2);
/// let is_leader = pool.broadcast(|_| barrier.wait().is_leader());
/// assert_eq!(is_leader.iter().filter(|is_leader| **is_leader).count(), 1);
/// # Ok::<(), tidegate::BuildError>(())
/// ```
pub struct Barrier {
    threads: usize,
    state: Mutex<State>,
    /// Notified when a round ends.
    ended: Condvar,
}

#[derive(Default)]
struct State {
    /// The number of threads that wait.
    waiting: usize,
    /// The number of rounds that have ended.
    rounds: u64,
}

/// Whether the calling thread of [`Barrier::wait`] was the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Whether this thread has arrived last. In each round, one thread does.
    ///
    /// ```
    /// assert!(tidegate::sync::Barrier::new(1).wait().is_leader());
    /// ```
    #[must_use]
    pub fn is_leader(self) -> bool {
        self.0
    }
}

impl Barrier {
    /// Creates a barrier for this number of threads. With 0 or 1, a thread never waits.
    ///
    /// ```
    /// static START: tidegate::sync::Barrier = tidegate::sync::Barrier::new(1);
    /// START.wait();
    /// ```
    #[must_use]
    pub const fn new(threads: usize) -> Self {
        let state = State {
            waiting: 0,
            rounds: 0,
        };
        Self {
            threads,
            state: Mutex::new(state),
            ended: Condvar::new(),
        }
    }

    /// Waits until this function has been called by as many threads as the barrier is for. Then the
    /// next round begins.
    ///
    /// ```
    /// let barrier = tidegate::sync::Barrier::new(2);
    /// std::thread::scope(|threads| {
    ///     threads.spawn(|| barrier.wait());
    ///     barrier.wait();
    /// });
    /// ```
    #[track_caller]
    pub fn wait(&self) -> BarrierWaitResult {
        let state = self.state.lock();
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        let round = state.rounds;
        state.waiting += 1;
        let is_last = state.waiting >= self.threads;
        if is_last {
            state.waiting = 0;
            state.rounds += 1;
            self.ended.notify_all();
        } else {
            drop(self.ended.wait_while(state, |state| state.rounds == round));
        }
        BarrierWaitResult(is_last)
    }
}

impl fmt::Debug for Barrier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Barrier").finish_non_exhaustive()
    }
}
