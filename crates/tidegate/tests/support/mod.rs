//! Shared parts of the tests: gates that force a schedule, and pools with common options.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test file uses its own part of this module"
)]

pub mod aborts;
pub mod book;
pub mod classes;
#[cfg(all(unix, not(any(miri, tidegate_tsan))))]
#[allow(unsafe_code, reason = "these tests fork")]
pub mod forks;
pub mod futures;
#[cfg(all(target_os = "linux", not(any(miri, tidegate_tsan))))]
pub mod jobs;
pub mod streams;

pub use tidegate_testkit::{seeds, soak, until, watched};

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate::{
    Pool,
    policy::{Choose, QueueKind, StealAmount},
};

/// An event that occurs once. Other threads busy-wait for it, without polling the runtime.
#[derive(Default)]
pub struct Gate(AtomicBool);

impl Gate {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn open(&self) {
        self.0.store(true, Ordering::Release);
    }

    pub fn is_open(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    pub fn wait(&self) {
        until(|| self.is_open());
    }
}

/// Opens a gate when it is dropped, even if the test has failed.
pub struct Opens<'a>(pub &'a Gate);

impl Drop for Opens<'_> {
    fn drop(&mut self) {
        self.0.open();
    }
}

/// Waits long enough for all other threads to fall asleep. If they do not, the test covers less but
/// does not fail.
pub fn let_others_sleep() {
    std::thread::sleep(std::time::Duration::from_millis(30));
}

#[derive(Default)]
pub struct Tally(AtomicUsize);

impl Tally {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn come(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    pub fn get(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    pub fn wait_for(&self, count: usize) {
        until(|| self.get() >= count);
    }
}

/// Events in the order in which they were noted.
#[derive(Default)]
pub struct Log(Mutex<Vec<&'static str>>);

impl Log {
    pub fn note(&self, what: &'static str) {
        self.0.lock().unwrap().push(what);
    }

    pub fn end(self) -> Vec<&'static str> {
        self.0.into_inner().unwrap()
    }

    pub fn has(&self, what: &str) -> bool {
        self.0.lock().unwrap().contains(&what)
    }
}

pub fn pool(workers: usize) -> Pool {
    built(Pool::builder().workers(workers))
}

/// Creates a pool without spare threads, so that no thread takes over a waiting worker's slot.
pub fn bare_pool(workers: usize) -> Pool {
    // With other queues, tasks that wait for each other need spare threads.
    let builder = Pool::builder().queue(QueueKind::Split).workers(workers);
    built(builder.max_threads(workers))
}

pub fn built(builder: tidegate::Builder) -> Pool {
    builder.build().expect("options in range")
}

/// A steal amount of each kind.
pub const AMOUNTS: [StealAmount; 4] = [
    StealAmount::One,
    StealAmount::Half,
    StealAmount::HalfAbove(4),
    StealAmount::Fixed(2),
];

/// Computes a Fibonacci number, with a join at every call.
pub fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = tidegate::join(|| fib(n - 1), || fib(n - 2));
    a + b
}

/// Calls `deepest` inside `joins` nested joins. Meanwhile the second halves of these joins are in
/// the deque. So thieves that take a fixed amount find enough tasks, and older tasks become public.
pub fn fill(joins: usize, deepest: &(impl Fn() + Sync)) {
    match joins {
        0 => deepest(),
        _ => {
            tidegate::join(|| fill(joins - 1, deepest), || ());
        }
    }
}

/// Runs a loop over short leaves while nothing else runs. Checks that the number of leaves that run
/// at the same time never exceeds the number of slots plus the number of threads that continued
/// without a slot after their grace period.
#[track_caller]
pub fn at_most_at_once(pool: &Pool, slots: usize) {
    // A worker may have been about to begin a task when the number of slots fell, and on a busy
    // machine, it may be so still. Before its part of a broadcast, it begins and ends that task.
    pool.broadcast(|_| ());
    let overcommitted = || pool.stats().counters.overcommitted as usize;
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let before = overcommitted();
    pool.install(|| {
        tidegate::for_each(0..2_000, |_| {
            let now = running.fetch_add(1, Ordering::AcqRel) + 1;
            most.fetch_max(now, Ordering::AcqRel);
            std::thread::yield_now();
            running.fetch_sub(1, Ordering::AcqRel);
        });
    });
    let (most, beyond) = (most.into_inner(), overcommitted() - before);
    assert!(
        most <= slots + beyond,
        "{most} ran at once on {slots} slots and {beyond} without"
    );
}

/// Runs `leaves` tasks that meet at a barrier, so all of them must run at the same time.
pub fn meet(pool: &Pool, leaves: usize) {
    let meeting = std::sync::Barrier::new(leaves);
    pool.install(|| {
        tidegate::scope(|s| {
            for _ in 0..leaves {
                s.spawn(|_| {
                    meeting.wait();
                });
            }
        });
    });
}
