//! A scope's tasks with priorities: they start in the right order, each runs once, and panics
//! surface.

use crate::support::{Gate, built, fib, soak, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use tidegate::policy::{Choose, QueueKind};
use tidegate::{Pool, Scope};

fn of(workers: usize) -> Pool {
    // With other queues, tasks may stay hidden while their owner computes.
    built(Pool::builder().queue(QueueKind::Split).workers(workers))
}

/// Runs `body` on the only worker, which starts the spawned tasks when `body` has returned.
fn alone<'scope>(body: impl FnOnce(&Scope<'scope>) + Send) {
    of(1).install(|| tidegate::scope(body));
}

/// Of two tasks with the same priority, the older one starts first.
#[test]
fn lowest_number_begins_first() {
    watched(|| {
        let begun = Mutex::new(vec![]);
        alone(|scope| {
            for (age, priority) in [5, 1, 5, 3, 1, u64::MAX, 0].into_iter().enumerate() {
                let begun = &begun;
                scope.spawn_in_order(priority, move |_| {
                    begun.lock().unwrap().push((priority, age));
                });
            }
        });
        let begun = begun.into_inner().unwrap();
        assert_eq!(
            begun,
            [
                (0, 6),
                (1, 1),
                (1, 4),
                (3, 3),
                (5, 0),
                (5, 2),
                (u64::MAX, 5)
            ]
        );
    });
}

#[test]
fn spawned_task_takes_its_turn() {
    watched(|| {
        let begun = Mutex::new(vec![]);
        let note = |what| begun.lock().unwrap().push(what);
        alone(|scope| {
            let note = &note;
            scope.spawn_in_order(4, move |_| note(4));
            scope.spawn_in_order(1, move |scope| {
                note(1);
                scope.spawn_in_order(5, move |_| note(5));
                scope.spawn_in_order(3, move |_| note(3));
            });
            scope.spawn_in_order(2, move |_| note(2));
        });
        assert_eq!(begun.into_inner().unwrap(), [1, 2, 3, 4, 5]);
    });
}

#[test]
fn thief_takes_most_urgent_task() {
    watched(|| {
        let first = AtomicU64::new(u64::MAX);
        let stolen = Gate::new();
        of(2).install(|| {
            tidegate::scope(|scope| {
                let (first, stolen) = (&first, &stolen);
                // The other worker is busy until all tasks are waiting, so it cannot start any task
                // before that.
                let (busy, ready) = (Gate::new(), Gate::new());
                tidegate::join(
                    || {
                        busy.wait();
                        for priority in [9, 7, 8] {
                            scope.spawn_in_order(priority, move |_| {
                                let _ = first.compare_exchange(
                                    u64::MAX,
                                    priority,
                                    Ordering::Relaxed,
                                    Ordering::Relaxed,
                                );
                                stolen.open();
                            });
                        }
                        ready.open();
                        stolen.wait();
                    },
                    || {
                        busy.open();
                        ready.wait();
                    },
                );
            });
        });
        assert_eq!(first.into_inner(), 7);
    });
}

#[test]
fn every_prioritized_task_runs_once() {
    /// Forks, and then spawns two tasks that do the same, until no levels are left.
    fn grow<'scope>(scope: &Scope<'scope>, levels: u64, ran: &'scope AtomicUsize) {
        ran.fetch_add(1, Ordering::Relaxed);
        assert_eq!(fib(5), 5);
        for side in 0..2 {
            if levels > 0 {
                let grow = move |scope: &Scope<'scope>| grow(scope, levels - 1, ran);
                scope.spawn_in_order(levels * 7 % 5 + side, grow);
            }
        }
    }

    watched(|| {
        let ran = AtomicUsize::new(0);
        let rounds = soak(
            if cfg!(miri) { 1 } else { 20 },
            "trees of tasks with priorities",
        );
        let levels = if cfg!(miri) { 3 } else { 9 };
        let (pool, other) = (of(3), of(1));
        for _ in 0..rounds {
            // Run the tree in a scope of a worker, and in a scope from outside, into which a worker
            // of another pool spawns.
            pool.install(|| tidegate::scope(|scope| grow(scope, levels, &ran)));
            pool.scope(|scope| other.install(|| grow(scope, levels, &ran)));
        }
        assert_eq!(ran.into_inner(), rounds * 2 * ((2 << levels) - 1));
    });
}

#[test]
fn panic_surfaces_after_all_tasks() {
    watched(|| {
        let ran = AtomicUsize::new(0);
        let pool = of(2);
        let scope = || {
            pool.scope(|scope| {
                for priority in 0..9 {
                    let ran = &ran;
                    scope.spawn_in_order(priority, move |_| {
                        ran.fetch_add(1, Ordering::Relaxed);
                        assert_ne!(priority, 4, "the fifth");
                    });
                }
            });
        };
        let payload = catch_unwind(AssertUnwindSafe(scope)).unwrap_err();
        assert!(
            payload
                .downcast_ref::<String>()
                .unwrap()
                .contains("the fifth")
        );
        assert_eq!(ran.into_inner(), 9);
        assert_eq!(pool.install(|| fib(10)), 55);
    });
}
