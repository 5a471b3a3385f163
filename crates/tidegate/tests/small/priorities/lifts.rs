//! What a waiter does to the class of the task that it waits for.

use crate::support::classes::{Begun, alone, builder, occupy, poll, spawn};
use crate::support::{Gate, built, until, watched};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;
use tidegate::policy::Priority::{Background, Normal, Urgent};
use tidegate::{Handle, Pool};

/// Queues a task behind a normal one in a busy pool, and lets an urgent task of another pool wait
/// for it. Returns the order in which the pool's tasks began.
fn lift_by<W>(target: impl FnOnce(&Arc<Pool>, Begun) -> Handle<()>, wait: W) -> String
where
    W: FnOnce(Handle<()>) + Send + 'static,
{
    let (pool, other, begun) = (Arc::new(alone()), alone(), Begun::default());
    let release = occupy(&pool);
    drop(pool.spawn(begun.task("normal")));
    let handle = target(&pool, begun.clone());
    spawn(&other, Urgent, move || wait(handle)).join();
    drop(release);
    begun.end(Arc::into_inner(pool).unwrap())
}

/// Like `lift_by`, for a task that polls the handle.
fn lift(target: impl FnOnce(&Arc<Pool>, Begun) -> Handle<()>) -> String {
    lift_by(target, |mut handle| poll(&mut handle))
}

/// Spawns a future into the pool from a background task. The pool's own worker is occupied, so the
/// task is in another pool.
fn spawn_in_background<F>(pool: &Arc<Pool>, future: F) -> Handle<()>
where
    F: Future<Output = ()> + Send + 'static,
{
    let (pool, spawner) = (pool.clone(), alone());
    let spawner = spawn(&spawner, Background, move || pool.spawn_future(future));
    spawner.join()
}

#[test]
fn awaited_task_and_its_children_become_urgent() {
    watched(|| {
        let begun = lift(|pool, begun| {
            spawn(pool, Background, move || {
                begun.note("target");
                drop(tidegate::spawn(begun.task("child")));
            })
        });
        assert_eq!(begun, "target child normal");
    });
}

#[test]
fn awaited_future_becomes_urgent() {
    watched(|| {
        let target = |pool: &Arc<Pool>, begun: Begun| {
            let polled = begun.task("polled");
            spawn_in_background(pool, async move { polled() })
        };
        assert_eq!(lift(target), "polled normal");
        let timed_out = |handle: Handle<()>| {
            drop(handle.join_timeout(Duration::ZERO).unwrap_err());
        };
        assert_eq!(lift_by(target, timed_out), "polled normal");
    });
}

/// What a raised future spawns and awaits is raised as well.
#[test]
fn raised_future_raises_others() {
    watched(|| {
        let awaits = |begun: Begun, awaited: Handle<()>| async move {
            drop(tidegate::spawn(begun.task("child")));
            awaited.await;
            begun.note("future");
        };
        let begun = lift(|pool, begun| {
            let awaited = spawn(pool, Background, begun.task("awaited"));
            pool.spawn_future(awaits(begun, awaited))
        });
        assert_eq!(begun, "child awaited future normal");
        let begun = lift(|pool, begun| {
            let awaited = spawn(pool, Background, begun.task("awaited"));
            spawn_in_background(pool, awaits(begun, awaited))
        });
        assert_eq!(begun, "child awaited future normal");
    });
}

/// The future already waits for the other task when it is raised.
#[test]
fn raise_reaches_what_a_future_awaits() {
    watched(|| {
        let (pool, other, begun) = (alone(), alone(), Begun::default());
        let first = occupy(&pool);
        let awaited = spawn(&pool, Background, begun.task("awaited"));
        let inner = begun.clone();
        let mut future = pool.spawn_future(async move {
            awaited.await;
            inner.note("future");
        });
        let (started, has_started) = channel();
        let (second, released) = channel::<()>();
        drop(pool.spawn(move || {
            started.send(()).unwrap();
            released.recv().unwrap_err();
        }));
        drop(pool.spawn(begun.task("normal")));
        drop(first);
        has_started.recv().unwrap();
        spawn(&other, Urgent, move || poll(&mut future)).join();
        drop(second);
        assert_eq!(begun.end(pool), "awaited future normal");
    });
}

#[test]
fn waiter_without_class_raises_a_future() {
    watched(|| {
        let (pool, begun) = (Arc::new(alone()), Begun::default());
        let release = occupy(&pool);
        spawn(&pool, Background, begun.task("background"));
        let polled = begun.task("polled");
        let mut future = spawn_in_background(&pool, async move { polled() });
        poll(&mut future);
        drop((release, future));
        let begun = begun.end(Arc::into_inner(pool).unwrap());
        assert_eq!(begun, "polled background");
    });
}

/// A normal task, then an urgent one, waits for a task of a pool in the background.
#[test]
fn most_urgent_waiter_counts() {
    watched(|| {
        let (pool, other, begun) = (
            built(builder(1).priority(Background)),
            alone(),
            Begun::default(),
        );
        let release = occupy(&pool);
        let inner = begun.clone();
        let mut handle = pool.spawn(move || {
            inner.note("target");
            drop(tidegate::spawn(inner.task("child")));
        });
        for class in [Normal, Urgent] {
            let waiter = spawn(&other, class, move || {
                poll(&mut handle);
                handle
            });
            handle = waiter.join();
        }
        spawn(&pool, Normal, begun.task("normal"));
        drop((release, handle));
        assert_eq!(begun.end(pool), "target child normal");
    });
}

/// The pool never runs out of normal tasks before the awaited task has begun.
#[test]
fn joined_task_of_another_pool_begins() {
    watched(|| {
        let pool = built(builder(1).priority_aging(1_000_000));
        let (other, ended) = (alone(), Arc::new(Gate::new()));
        let release = occupy(&pool);
        keep_busy(&pool, &ended);
        let target = spawn(&pool, Background, move || ended.open());
        let waiter = spawn(&other, Urgent, || target.join());
        drop(release);
        waiter.join();
    });
}

#[test]
fn installed_call_of_urgent_task_begins() {
    watched(|| {
        let pool = Arc::new(built(builder(1)));
        let (other, ended) = (alone(), Arc::new(Gate::new()));
        keep_busy(&pool, &ended);
        let inner = pool.clone();
        let waiter = spawn(&other, Urgent, move || {
            inner.install(|| ());
            assert_eq!(inner.join(|| 1, || 2), (1, 2));
            inner.scope(|scope| scope.spawn(|_| ended.open()));
        });
        waiter.join();
    });
}

/// Spawns a normal task that spawns its successor, until the gate is open.
fn keep_busy(pool: &Pool, ended: &Arc<Gate>) {
    fn again(ended: Arc<Gate>) {
        if !ended.is_open() {
            drop(tidegate::spawn(move || again(ended)));
        }
    }
    let ended = ended.clone();
    drop(pool.spawn(move || again(ended)));
}

/// A joiner in the pool runs the task itself, before anything that is queued.
#[test]
fn joiner_runs_queued_task() {
    watched(|| {
        let (pool, begun) = (alone(), Begun::default());
        let release = occupy(&pool);
        drop(pool.spawn(begun.task("normal")));
        let inner = begun.clone();
        let target = spawn(&pool, Background, move || {
            inner.note("target");
            drop(tidegate::spawn(inner.task("child")));
        });
        spawn(&pool, Urgent, move || target.join());
        drop(release);
        assert_eq!(begun.end(pool), "target child normal");
    });
}

#[test]
fn less_urgent_waiter_lowers_nothing() {
    watched(|| {
        let (pool, begun) = (alone(), Begun::default());
        let release = occupy(&pool);
        let inner = begun.clone();
        let target = spawn(&pool, Urgent, move || {
            inner.note("target");
            drop(tidegate::spawn(inner.task("child")));
        });
        let outer = begun.clone();
        spawn(&pool, Background, move || {
            target.join();
            outer.note("waiter");
        });
        drop(pool.spawn(begun.task("normal")));
        drop(release);
        assert_eq!(begun.end(pool), "target child normal waiter");
    });
}

mod class_of_pool {
    use super::*;

    /// A pool whose tasks are urgent.
    fn urgent() -> Pool {
        built(builder(1).priority(Urgent))
    }

    #[test]
    fn is_the_class_of_calls_into_another_pool() {
        watched(|| {
            let (pool, ended) = (Arc::new(alone()), Arc::new(Gate::new()));
            keep_busy(&pool, &ended);
            let inner = pool.clone();
            let target = pool.spawn(|| ());
            let waiter = urgent().spawn(move || {
                target.join();
                inner.install(|| ());
                assert_eq!(inner.join(|| 1, || 2), (1, 2));
                inner.spawn(|| ()).join();
                ended.open();
            });
            waiter.join();
        });
    }

    #[test]
    fn is_inherited_in_another_pool() {
        watched(|| {
            let (pool, begun) = (Arc::new(alone()), Begun::default());
            let release = occupy(&pool);
            drop(pool.spawn(begun.task("normal")));
            let (inner, other) = (begun.clone(), pool.clone());
            let spawned = urgent().spawn(move || {
                drop(other.spawn(move || {
                    inner.note("spawned");
                    drop(tidegate::spawn(inner.task("child")));
                }));
            });
            spawned.join();
            drop(release);
            let begun = begun.end(Arc::into_inner(pool).unwrap());
            assert_eq!(begun, "spawned child normal");
        });
    }

    #[test]
    fn is_the_class_of_streams_in_another_pool() {
        watched(|| {
            let (pool, begun) = (Arc::new(alone()), Begun::default());
            let release = occupy(&pool);
            drop(pool.spawn(begun.task("normal")));
            let (inner, other, urgent) = (begun.clone(), pool.clone(), urgent());
            let consumer = urgent.spawn(move || {
                let f = item(inner);
                assert_eq!(other.stream(0..1).map(f).ordered().count(), 1);
            });
            until(|| pool.stats().queued == 2);
            drop(release);
            consumer.join();
            let begun = begun.end(Arc::into_inner(pool).unwrap());
            assert_eq!(begun, "item child normal");
        });
    }

    /// The function of a stream, which spawns a task.
    fn item(begun: Begun) -> impl Fn(u32) {
        move |_| {
            begun.note("item");
            drop(tidegate::spawn(begun.task("child")));
        }
    }

    #[test]
    fn follows_a_stream_into_another_pool() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let f = item(begun.clone());
            let create = || tidegate::stream(0..1).map(f).ordered();
            let results = urgent().spawn(create).join();
            pool.install(|| {
                assert_eq!(results.count(), 1);
                // The worker begins the youngest of its own tasks first.
                drop(tidegate::spawn(begun.task("normal")));
            });
            assert_eq!(begun.end(pool), "item child normal");
        });
    }

    #[test]
    fn raises_what_a_task_waits_for() {
        watched(|| {
            let (pool, begun) = (alone(), Begun::default());
            let release = occupy(&pool);
            drop(pool.spawn(begun.task("normal")));
            let mut closure = spawn(&pool, Background, begun.task("closure"));
            let polled = begun.task("future");
            let mut future = pool.spawn_future(async move { polled() });
            let waiter = urgent().spawn(move || {
                poll(&mut closure);
                poll(&mut future);
            });
            waiter.join();
            drop(release);
            assert_eq!(begun.end(pool), "closure future normal");
        });
    }
}
