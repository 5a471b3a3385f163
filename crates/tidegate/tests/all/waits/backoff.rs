//! Pools with user-defined backoffs.

use crate::support::{Gate, Tally, built, fib, until, watched};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use tidegate::Pool;
use tidegate::policy::idle::{BackoffFactory, CustomBackoff, LONGEST_SLEEP, Rest};
use tidegate::policy::{Choose, QueueKind};

/// How often each method of a pool's backoffs has been called.
#[derive(Default)]
struct Seen {
    made: [Tally; WORKERS],
    backoffs: Tally,
    resets: Tally,
    dropped: Tally,
}

/// A backoff that always rests in the same way and counts its calls.
struct Counting {
    rest: Rest,
    seen: Arc<Seen>,
}

impl CustomBackoff for Counting {
    fn backoff(&mut self, _: u64) -> Rest {
        self.seen.backoffs.come();
        self.rest
    }

    fn reset(&mut self) {
        self.seen.resets.come();
    }
}

impl Drop for Counting {
    fn drop(&mut self) {
        self.seen.dropped.come();
    }
}

const WORKERS: usize = 2;

/// Creates a pool without spare threads, so that no thread can replace a worker that is lost.
fn pool_with<B: CustomBackoff + 'static>(
    make: impl Fn(usize) -> B + Send + Sync + 'static,
) -> Pool {
    let builder = Pool::builder().workers(WORKERS).max_threads(WORKERS);
    built(
        builder
            .queue(QueueKind::Split)
            .backoff(BackoffFactory::new(make)),
    )
}

fn counting(rest: Rest) -> (Pool, Arc<Seen>) {
    let seen = Arc::new(Seen::default());
    let shared = seen.clone();
    let pool = pool_with(move |worker| {
        shared.made[worker].come();
        Counting {
            rest,
            seen: shared.clone(),
        }
    });
    (pool, seen)
}

/// Runs two halves that wait for each other, so each worker must run one of them.
fn needs_both_workers(pool: &Pool) {
    let (a, b) = (Gate::new(), Gate::new());
    let meet = |own: &Gate, other: &Gate| {
        own.open();
        other.wait();
    };
    pool.join(|| meet(&a, &b), || meet(&b, &a));
}

#[test]
fn every_rest_lets_the_pool_finish() {
    for rest in [Rest::Retry, Rest::Yield, Rest::Sleep(1_000), Rest::Park] {
        watched(move || {
            let (pool, seen) = counting(rest);
            seen.backoffs.wait_for(1);
            assert_eq!(pool.install(|| fib(11)), 89);
            needs_both_workers(&pool);
            pool.shutdown();
            assert_eq!(seen.dropped.get(), WORKERS);
        });
    }
}

#[test]
fn worker_resets_backoff_after_success() {
    watched(|| {
        let (pool, seen) = counting(Rest::Yield);
        seen.backoffs.wait_for(1);
        needs_both_workers(&pool);
        // At least one half was found by a searching thief.
        assert!(seen.resets.get() > 0);
        pool.shutdown();
        assert_eq!(seen.made.each_ref().map(Tally::get), [1; WORKERS]);
    });
}

#[test]
fn exit_handler_keeps_the_backoff() {
    watched(|| {
        let (seen, exits) = (Arc::new(Seen::default()), Arc::new(Tally::new()));
        let (made, kept) = (seen.clone(), seen.clone());
        let factory = BackoffFactory::new(move |worker| {
            made.made[worker].come();
            Counting {
                rest: Rest::Park,
                seen: made.clone(),
            }
        });
        let counted = exits.clone();
        let builder = Pool::builder().workers(WORKERS).max_threads(WORKERS);
        let builder = builder.on_exit(move |_| {
            assert_eq!(kept.dropped.get(), 0);
            counted.come();
        });
        built(builder.backoff(factory)).shutdown();
        assert_eq!(exits.get(), WORKERS);
        assert_eq!(seen.made.each_ref().map(Tally::get), [1; WORKERS]);
        assert_eq!(seen.dropped.get(), WORKERS);
    });
}

/// A backoff that always rests in the same way, and spawns a task at each call, up to a limit.
struct Spawning {
    rest: Rest,
    left: usize,
    ran: Arc<Tally>,
}

impl Spawning {
    fn spawn(&mut self) {
        if self.left > 0 {
            self.left -= 1;
            let ran = self.ran.clone();
            drop(tidegate::spawn(move || ran.come()));
        }
    }
}

impl CustomBackoff for Spawning {
    fn backoff(&mut self, _: u64) -> Rest {
        self.spawn();
        self.rest
    }

    fn reset(&mut self) {
        self.spawn();
    }
}

/// The pool has no other thread that could run the tasks.
#[test]
fn own_thread_runs_spawned_tasks() {
    const TASKS: usize = 6;
    let rests = [
        Rest::Retry,
        Rest::Yield,
        Rest::Sleep(LONGEST_SLEEP),
        Rest::Park,
    ];
    for rest in rests {
        watched(move || {
            let ran = Arc::new(Tally::new());
            let tally = ran.clone();
            let factory = BackoffFactory::new(move |_| {
                let mut made = Spawning {
                    rest,
                    left: TASKS,
                    ran: tally.clone(),
                };
                made.spawn();
                made
            });
            let builder = Pool::builder().workers(1).max_threads(1);
            let pool = built(builder.queue(QueueKind::Split).backoff(factory));
            ran.wait_for(TASKS);
            drop(pool);
        });
    }
}

#[test]
fn a_fork_does_not_call_it() {
    watched(|| {
        let seen = Arc::new(Seen::default());
        let shared = seen.clone();
        let make = move |_| Counting {
            rest: Rest::Park,
            seen: shared.clone(),
        };
        let builder = Pool::builder().workers(1).max_threads(1);
        let pool = built(builder.backoff(BackoffFactory::new(make)));
        pool.install(|| {
            let before = (seen.backoffs.get(), seen.resets.get());
            assert_eq!(fib(11), 89);
            assert_eq!((seen.backoffs.get(), seen.resets.get()), before);
        });
    });
}

mod panics {
    use super::*;

    #[derive(Clone, Copy, PartialEq)]
    enum At {
        Make,
        Backoff,
        Reset,
        Drop,
    }

    /// A backoff that panics at the point `at`, once it is armed.
    struct Panicking {
        at: At,
        armed: Arc<AtomicBool>,
        panicked: Arc<Tally>,
    }

    impl Panicking {
        fn reach(&self, at: At) {
            if self.at == at && self.armed.load(Ordering::Acquire) {
                self.panicked.come();
                panic!("as the test wants");
            }
        }
    }

    impl CustomBackoff for Panicking {
        fn backoff(&mut self, _: u64) -> Rest {
            self.reach(At::Backoff);
            Rest::Yield
        }

        fn reset(&mut self) {
            self.reach(At::Reset);
        }
    }

    impl Drop for Panicking {
        fn drop(&mut self) {
            self.reach(At::Drop);
        }
    }

    /// Creates a pool whose backoffs panic at `at`, and a tally that counts these panics.
    fn panicking(at: At, armed: &Arc<AtomicBool>) -> (Pool, Arc<Tally>) {
        let panicked = Arc::new(Tally::new());
        let (armed, tally) = (armed.clone(), panicked.clone());
        let pool = pool_with(move |_| {
            let made = Panicking {
                at,
                armed: armed.clone(),
                panicked: tally.clone(),
            };
            made.reach(At::Make);
            made
        });
        (pool, panicked)
    }

    #[test]
    fn of_the_factory_lose_no_worker() {
        watched(|| {
            let (pool, panicked) = panicking(At::Make, &Arc::new(AtomicBool::new(true)));
            panicked.wait_for(WORKERS);
            needs_both_workers(&pool);
            pool.shutdown();
        });
    }

    #[test]
    fn of_a_backoff_lose_no_worker() {
        watched(|| {
            let (pool, panicked) = panicking(At::Backoff, &Arc::new(AtomicBool::new(true)));
            panicked.wait_for(WORKERS);
            needs_both_workers(&pool);
            assert_eq!(pool.install(|| fib(11)), 89);
            pool.shutdown();
            assert_eq!(panicked.get(), WORKERS, "it is not called again");
        });
    }

    #[test]
    fn in_reset_keep_the_found_task() {
        watched(|| {
            let armed = Arc::new(AtomicBool::new(false));
            let (pool, panicked) = panicking(At::Reset, &armed);
            armed.store(true, Ordering::Release);
            until(|| {
                needs_both_workers(&pool);
                panicked.get() == WORKERS
            });
            needs_both_workers(&pool);
            pool.shutdown();
            assert_eq!(panicked.get(), WORKERS);
        });
    }

    #[test]
    fn in_drop_let_the_pool_end() {
        watched(|| {
            let (pool, panicked) = panicking(At::Drop, &Arc::new(AtomicBool::new(true)));
            needs_both_workers(&pool);
            pool.shutdown();
            assert_eq!(panicked.get(), WORKERS);
        });
    }
}

/// A backoff that owns another pool, whose drop waits for that pool's threads.
struct Owner {
    pool: Option<Pool>,
    dropped: Arc<Tally>,
}

impl CustomBackoff for Owner {
    fn backoff(&mut self, _: u64) -> Rest {
        Rest::Park
    }

    fn reset(&mut self) {}
}

impl Drop for Owner {
    fn drop(&mut self) {
        drop(self.pool.take());
        self.dropped.come();
    }
}

/// Threads that a pool has started for blocking calls end when they have been idle for a second.
#[test]
fn surplus_threads_drop_pools_of_backoffs() {
    watched(|| {
        let dropped = Arc::new(Tally::new());
        let counted = dropped.clone();
        let owner = move |_| Owner {
            pool: Some(built(Pool::builder().workers(1))),
            dropped: counted.clone(),
        };
        let builder = Pool::builder().workers(1).max_threads(2);
        let pool = built(builder.backoff(BackoffFactory::new(owner)));
        // This thread runs none of the tasks, so the pool needs a thread for each.
        let meet = Arc::new(Barrier::new(5));
        for _ in 0..4 {
            let meet = meet.clone();
            drop(pool.spawn(move || tidegate::blocking(|| _ = meet.wait())));
        }
        meet.wait();
        until(|| dropped.get() >= 2);
    });
}

#[test]
#[cfg(all(feature = "replay", not(miri)))]
fn replay_does_not_call_the_backoff() {
    use tidegate::trace::{Event, Trace, replay};
    watched(|| {
        let seen = Arc::new(Seen::default());
        let shared = seen.clone();
        let make = move |_| Counting {
            rest: Rest::Sleep(1_000),
            seen: shared.clone(),
        };
        let builder = Pool::builder().workers(WORKERS).trace(true);
        let pool = built(builder.backoff(BackoffFactory::new(make)));
        seen.backoffs.wait_for(1);
        needs_both_workers(&pool);
        let taken = pool.trace().expect("notes are taken");
        let read = Trace::from_bytes(&taken.to_bytes()).expect("what was written is read");
        assert_eq!(read.rules.idle, None);
        assert!(replay(&read).is_ok());
        let records = read.streams.iter().flat_map(|stream| stream.records());
        let mut events = records.map(|record| record.unwrap().event);
        assert!(events.any(|event| event == Event::SweepFailed));
    });
}
