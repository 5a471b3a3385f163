//! Handles that abort their tasks, under many orders of the threads. The waker that polled the
//! handle has a destructor that panics.

use crate::support::book::{Book, Tracked};
use crate::support::futures::Signal;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Wake, Waker};
use std::thread::{self, ThreadId};
use tidegate::{Handle, Pool};
use tidegate_testkit::{child, is_child, succeeds};

const SEEDS: u64 = 200;

#[derive(Default)]
struct Seen {
    /// Whether a handle is being dropped.
    is_dropping: AtomicBool,
    /// The number of wakers that a worker has dropped meanwhile.
    dropped_by_worker: AtomicUsize,
}

/// A waker whose destructor panics with its name.
struct Explosive {
    name: String,
    made_by: ThreadId,
    seen: Arc<Seen>,
}

impl Wake for Explosive {
    fn wake(self: Arc<Self>) {}
}

impl Drop for Explosive {
    fn drop(&mut self) {
        let is_dropping = self.seen.is_dropping.load(Ordering::Relaxed);
        if is_dropping && thread::current().id() != self.made_by {
            self.seen.dropped_by_worker.fetch_add(1, Ordering::Relaxed);
        }
        resume_unwind(Box::new(self.name.clone()));
    }
}

/// Spawns a task that drops the value, and polls and drops its handle. Returns whether the pool had
/// the last clone of the waker, so that it must print the panic.
fn abort(seed: u64, spawn: Spawn, waker: Explosive) -> bool {
    let pool = Pool::builder().workers(2).simulated(seed).build().unwrap();
    let (book, seen) = (Book::new(), waker.seen.clone());
    let mut handle = spawn(&pool, book.value()).abort_on_drop();
    let waker = Waker::from(Arc::new(waker));
    let _ = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
    let had_clone = catch_unwind(AssertUnwindSafe(|| drop(waker))).is_ok();
    seen.is_dropping.store(true, Ordering::Relaxed);
    drop(handle);
    seen.is_dropping.store(false, Ordering::Relaxed);
    drop(pool);
    assert_eq!(book.made(), 1);
    book.check();
    had_clone
}

type Spawn = fn(&Pool, Tracked) -> Handle<()>;

/// The closure runs in one step, so no thread ever sees it running.
fn unstarted(pool: &Pool, value: Tracked) -> Handle<()> {
    pool.spawn(move || drop(value))
}

fn running(pool: &Pool, value: Tracked) -> Handle<()> {
    let begun = Arc::new(AtomicBool::new(false));
    let begins = begun.clone();
    let handle = pool.spawn(move || {
        begins.store(true, Ordering::Relaxed);
        (0..3).for_each(|_| tidegate::yield_point());
        drop(value);
    });
    while !begun.load(Ordering::Relaxed) {
        // Lets the workers run.
        let _ = handle.is_finished();
    }
    handle
}

/// The future completes in its first poll, which may still run when the handle is dropped.
fn polled(pool: &Pool, value: Tracked) -> Handle<()> {
    pool.spawn_future(async move {
        (0..3).for_each(|_| tidegate::yield_point());
        drop(value);
    })
}

fn waiting(pool: &Pool, value: Tracked) -> Handle<()> {
    let signal = Signal::default();
    // Otherwise, the future would own its only waker.
    std::mem::forget(signal.clone());
    pool.spawn_future(async move {
        signal.await;
        drop(value);
    })
}

/// A worker that ends the task while its handle is being dropped may drop the waker. For the kinds
/// of tasks that end then, some of the seeds give such a run.
fn abort_all() {
    let kinds: [(&str, Spawn, bool); 4] = [
        ("unstarted", unstarted, false),
        ("running", running, true),
        ("polled", polled, true),
        ("waiting", waiting, false),
    ];
    for (kind, spawn, by_worker) in kinds {
        let seen = Arc::new(Seen::default());
        for seed in 0..SEEDS {
            let waker = Explosive {
                name: format!("{kind} {seed}"),
                made_by: thread::current().id(),
                seen: seen.clone(),
            };
            if abort(seed, spawn, waker) {
                eprintln!("expected: {kind} {seed}");
            }
        }
        let count = seen.dropped_by_worker.load(Ordering::Relaxed);
        assert_eq!(count > 0, by_worker, "{count} wakers of {kind} tasks");
    }
}

#[test]
fn waker_panic_is_printed_once() {
    if is_child() {
        return abort_all();
    }
    let printed = succeeds(&child("aborts::waker_panic_is_printed_once", &[]));
    let names = |label: &str| {
        let names = printed.lines().filter_map(|line| line.split_once(label));
        let mut names: Vec<_> = names.map(|(_, name)| name.to_owned()).collect();
        names.sort();
        names
    };
    assert_eq!(names("the handler waker panicked: "), names("expected: "));
}
