//! Tests that run on all queues. There is a module for each queue.

mod alone;
mod claims;
#[cfg(target_os = "linux")]
mod memory;
mod theft;

use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};
use tidegate_deque::{Cursor, Miss, Queue};

/// What a queue's documentation promises.
#[derive(Clone, Copy)]
struct Promise {
    /// Whether a task comes out exactly once, rather than at least once.
    exact: bool,
    take: End,
    steal: End,
    /// Whether a thief may get no task, or only a copy, until the owner takes its next step.
    private: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Oldest,
    Youngest,
}
use End::{Oldest, Youngest};

const fn promise(exact: bool, take: End, steal: End) -> Promise {
    Promise {
        exact,
        take,
        steal,
        private: false,
    }
}

const fn private(promise: Promise) -> Promise {
    Promise {
        private: true,
        ..promise
    }
}

/// A task, which counts how often it came out.
type Task = AtomicU32;

/// Tasks, each of which is put once.
struct Tasks(Vec<Task>);

impl Tasks {
    fn new(count: usize) -> Self {
        Self((0..count).map(|_| AtomicU32::new(0)).collect())
    }

    fn at(&self, index: usize) -> NonNull<Task> {
        NonNull::from(&self.0[index])
    }

    fn index(&self, task: NonNull<Task>) -> usize {
        let first = std::ptr::from_ref(&self.0[0]).addr();
        (task.addr().get() - first) / size_of::<Task>()
    }

    /// Increments the count of how often `task` came out.
    fn out(&self, task: NonNull<Task>) {
        self.0[self.index(task)].fetch_add(1, Ordering::Relaxed);
    }

    /// Checks that no task was lost. If the queue promises it, also checks that no task came out
    /// twice.
    fn check(&self, promise: Promise) {
        let times = || self.0.iter().map(|task| task.load(Ordering::Relaxed));
        let lost = times().filter(|times| *times == 0).count();
        let again: u32 = times().map(|times| times.saturating_sub(1)).sum();
        assert_eq!(lost, 0, "of {} tasks were lost", self.0.len());
        if promise.exact {
            assert_eq!(again, 0, "came out again");
        } else {
            println!("{again} of {} came out again", self.0.len());
        }
    }
}

/// The owner's end. Only one thread of a test uses it.
struct Owner<'a, Q>(&'a Q);

impl<Q: Queue<Task>> Owner<'_, Q> {
    fn put(&self, task: NonNull<Task>) -> bool {
        self.0.put(task).is_ok()
    }

    fn take(&self) -> Option<NonNull<Task>> {
        self.0.take()
    }
}

/// Reduces the number of tasks in a test under Miri.
const fn many(count: usize) -> usize {
    if cfg!(miri) { count / 1_000 + 4 } else { count }
}

macro_rules! battery {
    ($($name:ident: $queue:ident, $promise:expr;)*) => {$(
        mod $name {
            use super::*;
            use tidegate_deque::$queue;
            const PROMISE: Promise = $promise;

            #[test]
            fn each_end_gives_what_it_should() {
                alone::ends::<$queue<Task>>(PROMISE);
            }

            #[test]
            #[cfg_attr(miri, ignore = "hundreds of sequences take it too long")]
            fn lone_owner_matches_the_model() {
                alone::model::<$queue<Task>>(PROMISE);
            }

            #[test]
            fn queue_fills_and_empties_repeatedly() {
                alone::waves::<$queue<Task>>();
            }

            #[test]
            fn single_thief_and_owner_lose_nothing() {
                theft::storm::<$queue<Task>>(PROMISE, 1, 16);
            }

            #[test]
            fn a_stampede_of_thieves_loses_nothing() {
                theft::storm::<$queue<Task>>(PROMISE, 4, 16);
            }

            #[test]
            fn it_grows_under_theft() {
                theft::storm::<$queue<Task>>(PROMISE, 2, 3_000);
            }

            #[test]
            fn owner_races_thieves_for_last_task() {
                theft::storm::<$queue<Task>>(PROMISE, 2, 1);
            }

            #[test]
            fn thief_does_not_starve_during_puts() {
                theft::starvation::<$queue<Task>>();
            }

            #[test]
            fn claimed_values_surface_and_drop_once() {
                claims::storm::<$queue<_>>();
            }

            #[test]
            fn queue_drops_untaken_values_once() {
                claims::left_over::<$queue<_>>();
            }
        }
    )*};
}

battery! {
    split: Split, private(promise(true, Youngest, Oldest));
    lazy: Lazy, promise(true, Youngest, Oldest);
    chase_lev: ChaseLev, promise(true, Youngest, Oldest);
    dynamic: Dynamic, promise(true, Youngest, Oldest);
    blocks: Blocks, private(promise(true, Youngest, Oldest));
    shared: Shared, promise(true, Youngest, Oldest);
    idempotent_deque: IdempotentDeque, promise(false, Youngest, Oldest);
    idempotent_fifo: IdempotentFifo, promise(false, Oldest, Oldest);
    idempotent_lifo: IdempotentLifo, promise(false, Youngest, Youngest);
    duplicating: Duplicating, private(promise(false, Youngest, Oldest));
    multiplicity: Multiplicity, promise(false, Oldest, Oldest);
}
