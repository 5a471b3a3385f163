//! Tests on simulated pools, in which a seed determines the order of the threads.
//!
//! A pool from [`Builder::simulated`](crate::Builder::simulated) is an ordinary pool of which one
//! thread runs at a time. Wherever another thread could run, a scheduler that the seed determines
//! chooses the next one. So a seed always gives the same run, and other seeds give other runs.
//! [`check`] runs a test with many seeds. If the test fails with one of them, it looks for a
//! shorter order that fails as well, and prints that.
//!
//! ```should_panic
//! use std::sync::atomic::{AtomicU32, Ordering};
//!
//! tidegate::testing::check(100, |_| {
//!     let count = AtomicU32::new(0);
//!     let add_one = || {
//!         let before = count.load(Ordering::Relaxed);
//!         tidegate::yield_point();
//!         count.store(before + 1, Ordering::Relaxed);
//!     };
//!     tidegate::join(add_one, add_one);
//!     assert_eq!(count.into_inner(), 2, "an update was lost");
//! });
//! ```
//!
//! # Where the order may change
//!
//! * At each `join` and spawn, and where a waker, or dropping an aborting handle, queues a future.
//! * At the end of each scope and of each task that was stolen or queued, and after each item of a
//!   stream.
//! * At [`yield_point`](crate::yield_point) and [`blocking`](crate::blocking()), and at each use of
//!   a [`CancelToken`](crate::CancelToken) or of a handle whose task has not ended.
//! * Where a call in [`tidegate::sync`](crate::sync) locks, unlocks, waits, notifies, sends or
//!   receives, and where the runtime itself waits.
//!
//! # What is not covered
//!
//! * A thread that waits for anything else than a task or a part of
//!   [`tidegate::sync`](crate::sync), for example a lock of `std`, keeps all other threads waiting.
//!   If it has not gone on after 10 s (`TIDEGATE_SIMULATION_PATIENCE`), the run fails and names the
//!   thread. So do not hold a lock of `std` where the order may change, for example while you call
//!   a waker.
//! * Clocks, the addresses of values, hashers with random keys, and which thread has which value of
//!   a [`WorkerLocal`](crate::WorkerLocal) differ between runs. A test that depends on them does
//!   not repeat. The limits in Tidegate's own functions, such as
//!   [`with_deadline`](crate::with_deadline), use the simulation's clock, which advances by 1 us
//!   per step and, while all threads wait, to the next limit. A run of more than 1,000,000 steps
//!   (`simulated-steps` in `tidegate tunables`) fails as endless, so a loop must not poll a
//!   deadline of a second or more.
//! * Orders of memory accesses that only weak memory models allow. Threads change places only at
//!   the places above, not between two atomic operations. [loom](https://docs.rs/loom) explores
//!   these.
//! * Threads that the test starts itself, and other pools. They must not use the pool, not even
//!   through a waker, nor may the test wait for them.
//! * Values in statics: they outlive a run, a lock that a deadlocked run holds stays locked, and
//!   two tests that run at the same time share them, so one may wait for a lock that a thread of
//!   the other holds, which counts as a deadlock. Create what a test uses in the test.
//! * What `std` allows and [`tidegate::sync`](crate::sync) doesn't do in a simulated pool: a
//!   condition variable wakes waiters in order and never without a notification, and a reader takes
//!   a lock even if a writer waits for it.
//!
//! The order of a run also depends on the version of this crate and on the options of the pool, but
//! not on environment variables, which a simulated pool ignores.
//!
//! Orders are drawn as in Burckhardt, Kothari, Musuvathi and Nagarakatte, "A randomized scheduler
//! with probabilistic guarantees of finding bugs", 2010, section 3, or uniformly; see
//! [`Schedule`].

mod failure;
mod hook;
mod search;
mod shrink;

pub use failure::Failure;
pub use search::{check, search};
pub use tidegate_policy::schedule::{Deviation, Schedule};

use crate::Pool;
use tidegate_core::door::simulated::{line, simulation};
use tidegate_sync::simulation::Event;

/// Returns the steps of a simulated pool so far, as lines of text: at each step, a thread reaches a
/// place where others may run. Empty if the pool is not simulated.
///
/// ```
/// let pool = tidegate::Pool::builder().simulated(1).build()?;
/// pool.join(|| (), || ());
/// assert!(tidegate::testing::steps(&pool).iter().any(|step| step.contains("pushes a task")));
/// # Ok::<(), tidegate::BuildError>(())
/// ```
#[must_use]
pub fn steps(pool: &Pool) -> Vec<String> {
    let observer = simulation(pool).map(|simulation| simulation.observer());
    observer.map_or_else(Vec::new, |observer| {
        lines(&observer.names(), &observer.events())
    })
}

fn lines(names: &[String], events: &[Event]) -> Vec<String> {
    events.iter().map(|event| line(names, event)).collect()
}
