//! Recursion deeper than the ring of a deque, endless spawns in bounded memory, and scopes across
//! pools.

use crate::support::{AMOUNTS, Gate, Tally, bare_pool, built, fib, pool, soak, watched};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use tidegate::policy::Choose;
use tidegate::{Pool, Scope};

/// The default capacity of a deque's ring.
const RING: usize = 1 << 17;
/// The default length of a scope's queue above which a spawn runs a task inline.
const INLINE_LENGTH: usize = 1 << 16;

/// Nests joins in each other's first halves, so that `depth` second halves wait at the same time.
fn chain(depth: usize, deepest: &(impl Fn() + Sync)) -> usize {
    if depth == 0 {
        deepest();
        return 0;
    }
    let (below, one) = tidegate::join(|| chain(depth - 1, deepest), || 1);
    below + one
}

#[test]
fn join_chain_may_exceed_the_ring() {
    watched(|| {
        for workers in [1, 2] {
            let pool = built(Pool::builder().workers(workers).stack_size(1 << 30));
            for depth in [100_000, RING, RING + 1, 200_000] {
                assert_eq!(pool.install(|| chain(depth, &|| ())), depth);
                assert_eq!(pool.install(|| fib(12)), 144);
            }
        }
    });
}

#[test]
fn thieves_steal_from_deep_chains() {
    watched(|| {
        for amount in AMOUNTS {
            let builder = Pool::builder().workers(2).steal(amount);
            let pool = built(builder.stack_size(1 << 30));
            let stolen = pool.install(|| {
                let (me, stolen) = (std::thread::current().id(), Tally::new());
                fn dive(depth: usize, me: std::thread::ThreadId, stolen: &Tally) {
                    if depth == 0 {
                        // While all second halves wait, thieves steal some of them before the
                        // joiner takes the first one back.
                        stolen.wait_for(3);
                        return;
                    }
                    tidegate::join(
                        || dive(depth - 1, me, stolen),
                        || {
                            if std::thread::current().id() != me {
                                stolen.come();
                            }
                        },
                    );
                }
                dive(RING + 5_000, me, &stolen);
                stolen.get()
            });
            assert!(stolen >= 3);
        }
    });
}

#[test]
fn second_halves_nest_to_stack_limit() {
    watched(|| {
        fn dive(depth: usize) -> usize {
            if depth == 0 {
                return 0;
            }
            tidegate::join(|| (), || dive(depth - 1)).1 + 1
        }
        for workers in [1, 2] {
            let pool = built(Pool::builder().workers(workers).stack_size(1 << 30));
            assert_eq!(pool.install(|| dive(100_000)), 100_000);
        }
    });
}

/// The current and the maximum number of closures that have been created and have not run.
#[derive(Default)]
struct Census {
    live: AtomicUsize,
    most: AtomicUsize,
}

struct Counted<'a>(&'a Census);

impl<'a> Counted<'a> {
    fn new(census: &'a Census) -> Self {
        let live = census.live.fetch_add(1, Ordering::Relaxed) + 1;
        census.most.fetch_max(live, Ordering::Relaxed);
        Self(census)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.live.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn endless_spawn_loop_needs_bounded_memory() {
    watched(|| {
        let spawns = soak(500_000, "spawns from one loop, for each number of workers");
        for workers in [1, 2] {
            let pool = pool(workers);
            let (census, ran) = (Census::default(), Tally::new());
            pool.install(|| {
                tidegate::scope(|s| {
                    for _ in 0..spawns {
                        let counted = Counted::new(&census);
                        let ran = &ran;
                        s.spawn(move |_| {
                            ran.come();
                            drop(counted);
                        });
                    }
                });
            });
            assert_eq!(ran.get(), spawns);
            assert_eq!(census.live.load(Ordering::Relaxed), 0);
            let most = census.most.load(Ordering::Relaxed);
            // The bound also includes the task that is being spawned, and the tasks that workers
            // hold.
            let bound = RING + INLINE_LENGTH + 2 + 2 * workers;
            assert!(
                most <= bound,
                "{most} closures lived at once, beyond {bound}"
            );
        }
    });
}

#[test]
fn endless_nested_spawns_run_once_each() {
    watched(|| {
        fn spread<'s>(s: &Scope<'s>, ran: &'s Tally, tasks: usize) {
            ran.come();
            let (left, right) = (tasks / 2, tasks - tasks / 2);
            for part in [left, right] {
                if part > 1 {
                    s.spawn(move |s| spread(s, ran, part));
                } else {
                    s.spawn(|_| ran.come());
                }
            }
        }
        for amount in AMOUNTS {
            for workers in [1, 2, 3] {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                let ran = Tally::new();
                pool.scope(|s| spread(s, &ran, 10_000));
                // The number of nodes in a binary tree with 10,000 leaves.
                assert_eq!(ran.get(), 2 * 10_000 - 1);
            }
        }
    });
}

#[test]
fn cross_pool_scopes_run_tasks_once() {
    watched(|| {
        for (outer_pool, inner_pool) in [(pool(2), pool(2)), (bare_pool(1), bare_pool(1))] {
            for _ in 0..100 {
                let (here, there) = (Tally::new(), Tally::new());
                outer_pool.scope(|outer| {
                    for _ in 0..10 {
                        outer.spawn(|outer| {
                            inner_pool.scope(|inner| {
                                for _ in 0..10 {
                                    inner.spawn(|inner| {
                                        inner.spawn(|_| there.come());
                                        // This thread spawns a task into a scope of the other pool.
                                        outer.spawn(|_| here.come());
                                    });
                                }
                            });
                        });
                    }
                });
                assert_eq!((here.get(), there.get()), (100, 100));
            }
        }
    });
}

#[test]
fn scope_accepts_spawns_from_outside_threads() {
    watched(|| {
        for workers in [1, 2] {
            let pool = pool(workers);
            for _ in 0..50 {
                let ran = Tally::new();
                pool.scope(|s| {
                    std::thread::scope(|threads| {
                        for _ in 0..3 {
                            threads.spawn(|| {
                                for _ in 0..20 {
                                    s.spawn(|_| ran.come());
                                }
                            });
                        }
                    });
                });
                assert_eq!(ran.get(), 60);
            }
        }
    });
}

#[test]
fn scopes_in_joins_await_own_tasks() {
    watched(|| {
        fn tree(depth: usize) -> usize {
            let ran = Tally::new();
            tidegate::scope(|s| {
                for _ in 0..4 {
                    s.spawn(|_| ran.come());
                }
            });
            assert_eq!(ran.get(), 4, "the scope ended before its tasks");
            if depth == 0 {
                return 1;
            }
            let (a, b) = tidegate::join(|| tree(depth - 1), || tree(depth - 1));
            a + b
        }
        for amount in AMOUNTS {
            for workers in [1, 2, 4] {
                let pool = built(Pool::builder().workers(workers).steal(amount));
                assert_eq!(pool.install(|| tree(9)), 512);
            }
        }
    });
}

/// If a task's spawner runs the task inline, a worker that waits for the spawner does not rob it.
#[test]
fn waiter_does_not_rob_inline_task() {
    watched(|| {
        let (taken, over) = (Gate::new(), AtomicBool::new(false));
        let (on_the_spot, robbed) = (AtomicBool::new(false), AtomicUsize::new(0));
        let me = || std::thread::current().id();
        pool(2).install(|| {
            tidegate::scope(|scope| {
                let joiner = me();
                let (over, on_the_spot, robbed) = (&over, &on_the_spot, &robbed);
                let spawn = || {
                    taken.open();
                    let spawner = me();
                    while !over.load(Ordering::Relaxed) {
                        scope.spawn(move |_| {
                            if me() != spawner || on_the_spot.swap(true, Ordering::Relaxed) {
                                return;
                            }
                            // Gives the joiner time to take all tasks from the deque that are older
                            // than the halves.
                            for _ in 0..200_000 {
                                let (_, is_joiner) = tidegate::join(|| fib(7), || me() == joiner);
                                robbed.fetch_add(is_joiner.into(), Ordering::Relaxed);
                            }
                            over.store(true, Ordering::Relaxed);
                        });
                    }
                };
                tidegate::join(|| taken.wait(), spawn);
            });
        });
        assert_eq!(robbed.into_inner(), 0);
    });
}
