//! Simulated pools run every part of the runtime, repeat their runs, and say why a run cannot go
//! on.

use crate::support::fib;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::task::Poll;
use std::time::Duration;
use tidegate::policy::Priority;
use tidegate::sync::mpsc::{channel, sync_channel};
use tidegate::sync::{Condvar, Mutex, RwLock};
use tidegate::testing::{self, Schedule};
use tidegate::{CancelToken, Pool, interval};
use tidegate_core::door::closed::{Closed, ClosedPool};
use tidegate_testkit::this;

/// Runs `program` in simulated pools under several seeds.
pub fn run(program: impl Fn(&Pool) + Send + Sync + 'static) {
    for workers in [1, 2, 4] {
        let builder = move || Pool::builder().workers(workers);
        let failure = testing::search(40, builder, |_| ());
        assert!(failure.is_none());
        let pool = |seed: u64| builder().simulated(seed).build().unwrap();
        (0..40).for_each(|seed| program(&pool(seed)));
    }
}

#[test]
fn joins_scopes_and_loops() {
    run(|pool| {
        assert_eq!(pool.install(|| fib(7)), 13);
        let sum = AtomicUsize::new(0);
        pool.scope(|scope| {
            for n in 0..5 {
                let sum = &sum;
                scope.spawn(move |scope| {
                    scope.spawn(move |_| _ = sum.fetch_add(n, Ordering::Relaxed));
                });
            }
        });
        pool.for_each(0..100, |n| _ = sum.fetch_add(n, Ordering::Relaxed));
        assert_eq!(sum.into_inner(), 10 + 4950);
        assert_eq!(pool.map_reduce(0..100, |n| n, |a, b| a + b), Some(4950));
    });
}

#[test]
fn handles_futures_and_timeouts() {
    run(|pool| {
        let (a, b) = (pool.spawn(|| 6), pool.spawn(|| 7));
        let product = pool.spawn_future(async { a.await * b.await });
        assert_eq!(product.join(), 42);
        // The limit passes on the simulation's clock.
        let slow = pool.spawn(|| {
            let (_sender, receiver) = channel::<()>();
            receiver
                .recv_timeout(Duration::from_secs(3600))
                .unwrap_err();
        });
        let slow = slow.join_timeout(Duration::from_secs(60)).unwrap_err();
        slow.join();
    });
}

#[test]
fn broadcasts_and_blocking_calls() {
    run(|pool| {
        let numbers = pool.install(|| tidegate::broadcast(|number| number));
        assert_eq!(numbers, (0..pool.workers()).collect::<Vec<_>>());
        let (sender, receiver) = channel();
        pool.scope(|scope| {
            scope.spawn(|_| {
                let received = tidegate::blocking(|| receiver.recv());
                assert_eq!(received, Ok(7));
            });
            scope.spawn(|_| sender.send(7).unwrap());
        });
    });
}

#[test]
fn intervals_run_in_their_order() {
    run(|pool| {
        let log = Mutex::new(Vec::new());
        let run = || {
            interval::run(|scope| {
                let first = scope.interval(|_| log.lock().unwrap().push(1));
                let second = scope.interval(|_| log.lock().unwrap().push(2));
                first.end().before(second.start()).unwrap();
            })
        };
        pool.install(run).unwrap();
        assert_eq!(log.into_inner().unwrap(), [1, 2]);
    });
}

#[test]
fn cancelled_tasks_end() {
    run(|pool| {
        let token = CancelToken::new();
        let spin = || {
            while tidegate::check_cancelled().is_ok() {
                tidegate::yield_point();
            }
        };
        let _ = pool.install(|| token.run(|| tidegate::try_join(|| token.cancel(), spin)));
        assert!(token.is_cancelled());
    });
}

/// The future may be waiting, queued or running when it is aborted.
#[test]
fn aborts_meet_wake_ups_and_broadcasts() {
    run(|pool| {
        let (sender, receiver) = channel();
        let owned = Arc::new(());
        let (own, mut is_first) = (owned.clone(), true);
        let future = pool.spawn_future(poll_fn(move |context| {
            let _own = &own;
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(());
            }
            sender.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        let waker = receiver.recv().unwrap();
        let urgent = pool.task().priority(Priority::Urgent);
        let wakes = urgent.spawn(|| waker.wake());
        let aborts = pool.spawn(move || drop(future.abort_on_drop()));
        pool.broadcast(|_| ());
        aborts.join();
        wakes.join();
        // A worker drops the future.
        while Arc::strong_count(&owned) > 1 {
            pool.install(tidegate::yield_point);
        }
    });
}

#[test]
fn scopes_survive_resizes() {
    run(|pool| {
        let ran = AtomicUsize::new(0);
        pool.set_workers(3).unwrap();
        pool.scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|scope| {
                    tidegate::blocking(tidegate::yield_point);
                    scope.spawn(|_| _ = ran.fetch_add(1, Ordering::Relaxed));
                });
            }
            pool.set_workers(1).unwrap();
        });
        assert_eq!(ran.into_inner(), 4);
    });
}

#[test]
fn locks_and_channels() {
    run(|pool| {
        let (sum, words) = (Mutex::new(0), RwLock::new(vec!["ebb"]));
        pool.for_each(0..20, |n| {
            *sum.lock().unwrap() += n;
            let many = words.read().unwrap().len();
            words.write().unwrap().truncate(many);
        });
        assert_eq!(sum.into_inner().unwrap(), 190);
        for bound in 0..3 {
            let (sender, receiver) = sync_channel(bound);
            let received = pool.install(|| {
                let send = || tidegate::blocking(|| (0..5).for_each(|n| sender.send(n).unwrap()));
                let receive = || (0..5).map(|_| receiver.recv().unwrap()).collect::<Vec<_>>();
                tidegate::join(send, || tidegate::blocking(receive)).1
            });
            assert_eq!(received, [0, 1, 2, 3, 4]);
        }
    });
}

#[test]
fn condition_variables() {
    run(|pool| {
        let (ready, changed) = (Mutex::new(0), Condvar::new());
        pool.scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|_| {
                    tidegate::blocking(|| {
                        let wait = changed.wait_while(ready.lock().unwrap(), |ready| *ready == 0);
                        *wait.unwrap() -= 1;
                    });
                });
            }
            for _ in 0..2 {
                scope.spawn(|_| {
                    *ready.lock().unwrap() += 1;
                    changed.notify_one();
                });
            }
        });
        let guard = ready.lock().unwrap();
        let limit = Duration::from_secs(3600);
        assert!(changed.wait_timeout(guard, limit).unwrap().1.timed_out());
    });
}

#[test]
fn panics_reach_the_caller() {
    run(|pool| {
        let join = || pool.join(|| (), || panic!("planned"));
        let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(join)).unwrap_err();
        assert_eq!(payload.downcast_ref(), Some(&"planned"));
    });
}

const SEEDS: u64 = 20;

fn all_steps() -> String {
    let steps = |seed: u64| {
        let pool = Pool::builder().simulated(seed).build().unwrap();
        pool.install(|| {
            fib(5);
            tidegate::for_each(0..50, |_| tidegate::yield_point());
            tidegate::spawn(|| ()).join();
        });
        testing::steps(&pool).join("\n")
    };
    (0..SEEDS).map(steps).collect::<Vec<_>>().join("\n\n")
}

/// The variable that makes the test below print its steps instead.
const PRINT: &str = "TIDEGATE_TEST_PRINTS_STEPS";

#[test]
fn seed_gives_the_same_steps_in_two_processes() {
    if std::env::var_os(PRINT).is_some() {
        println!("<steps>{}</steps>", all_steps());
        return;
    }
    let test = "programs::seed_gives_the_same_steps_in_two_processes";
    let output = this()
        .args(["--exact", test, "--nocapture"])
        .env(PRINT, "1")
        .output()
        .unwrap();
    let output = String::from_utf8(output.stdout).unwrap();
    let there = output
        .split_once("<steps>")
        .unwrap()
        .1
        .split_once("</steps>")
        .unwrap()
        .0;
    let here = all_steps();
    let differing = here
        .lines()
        .zip(there.lines())
        .find(|(here, there)| here != there);
    assert_eq!(differing, None);
    assert_eq!(here.len(), there.len());
    let runs: std::collections::BTreeSet<&str> = here.split("\n\n").collect();
    assert!(runs.len() > 10, "the seeds give only {} orders", runs.len());
}

#[test]
fn lost_update_is_found_and_its_schedule_repeats() {
    let lose = |_: &Pool| {
        let count = AtomicU32::new(0);
        let add_one = || {
            let before = count.load(Ordering::Relaxed);
            tidegate::yield_point();
            count.store(before + 1, Ordering::Relaxed);
        };
        tidegate::join(add_one, add_one);
        assert_eq!(count.into_inner(), 2, "an update was lost");
    };
    let failure = testing::search(1_000, Pool::builder, lose).unwrap();
    assert!(
        failure.message().contains("an update was lost"),
        "{failure}"
    );
    let Schedule::Deviations(deviations) = failure.schedule() else {
        panic!("{failure}");
    };
    assert!(deviations.len() <= 2, "{failure}");
    let again = Pool::builder()
        .simulated(failure.schedule().clone())
        .build()
        .unwrap();
    let run = || again.install(|| lose(&again));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).is_err());
}

#[test]
fn lost_notification_is_a_deadlock() {
    let failure = testing::search(1_000, Pool::builder, |_| {
        let (ready, changed) = (Mutex::new(false), Condvar::new());
        let wait = || {
            // The flag is read under another lock than that of the wait.
            let is_ready = *ready.lock().unwrap();
            if !is_ready {
                tidegate::blocking(|| drop(changed.wait(ready.lock().unwrap())));
            }
        };
        let notify = || {
            *ready.lock().unwrap() = true;
            changed.notify_one();
        };
        tidegate::join(wait, notify);
    });
    let message = failure.unwrap().message().to_owned();
    assert!(
        message.contains("waits for a condition variable at "),
        "{message}"
    );
}

#[test]
fn endless_run_stops() {
    let failure = testing::search(1, Pool::builder, |_| {
        loop {
            tidegate::yield_point();
        }
    });
    assert!(failure.unwrap().message().contains("too many steps"));
}

#[test]
fn stray_panic_fails_the_run() {
    let failure = testing::search(1, Pool::builder, |pool| {
        drop(pool.spawn(|| panic!("stray")))
    });
    assert!(failure.unwrap().message().contains("stray"));
}

#[test]
fn correct_program_passes() {
    testing::check(100, |_| {
        let count = Arc::new(Mutex::new(0));
        let own = count.clone();
        let handle = tidegate::spawn(move || *own.lock().unwrap() += 1);
        *count.lock().unwrap() += 1;
        handle.join();
        assert_eq!(*count.lock().unwrap(), 2);
    });
}

fn refusal(result: Result<Pool, tidegate::BuildError>) -> String {
    result.map(drop).unwrap_err().to_string()
}

#[test]
fn contradicting_options_are_refused() {
    use tidegate::policy::SharePolicy;
    let simulated = || Pool::builder().simulated(1);
    let shares = refusal(simulated().share(SharePolicy::On).build());
    assert!(
        shares.starts_with("Builder::share: a simulated pool"),
        "{shares}"
    );
    let binds = refusal(simulated().bind(true).build());
    assert!(
        binds.starts_with("Builder::bind: a simulated pool"),
        "{binds}"
    );
    let global = tidegate::build_global(simulated()).unwrap_err().to_string();
    assert!(global.contains("cannot be simulated"), "{global}");
    let pool = simulated().build().unwrap();
    let second = refusal(simulated().build());
    assert!(second.contains("belongs to a simulated pool"), "{second}");
    let ordinary = refusal(Pool::builder().workers(1).build());
    assert!(
        ordinary.contains("belongs to a simulated pool"),
        "{ordinary}"
    );
    drop(pool);
    // The thread has left the simulation with its pool.
    Pool::builder().workers(1).build().unwrap();
}

/// Returns the message of the panic of `f`.
fn panic_of(f: impl FnOnce() + Send) -> String {
    let payload = std::thread::scope(|threads| threads.spawn(f).join()).unwrap_err();
    *payload.downcast::<String>().unwrap()
}

#[test]
fn threads_outside_the_simulation_are_refused() {
    let pool = Pool::builder().simulated(1).build().unwrap();
    let uses: [&(dyn Fn() + Sync); 4] = [
        &|| pool.install(|| ()),
        &|| pool.scope(|_| ()),
        &|| drop(pool.spawn(|| ())),
        &|| pool.for_each(0..2, |_| ()),
    ];
    for outside in uses {
        let message = panic_of(outside);
        assert!(message.contains("outside the simulation"), "{message}");
    }
    // Nor may the thread of another simulation use the pool.
    let message = panic_of(|| {
        let own = Pool::builder().simulated(1).build().unwrap();
        own.install(|| pool.install(|| ()));
    });
    assert!(message.contains("outside the simulation"), "{message}");
}

#[test]
fn simulated_threads_do_not_use_ordinary_pools() {
    let ordinary = Pool::builder().workers(1).build().unwrap();
    let simulated = || Pool::builder().simulated(1).build().unwrap();
    let uses: [&(dyn Fn() + Sync); 3] = [
        &|| ordinary.install(|| ()),
        &|| drop(ordinary.spawn(|| ())),
        &|| _ = tidegate::join(|| (), || ()),
    ];
    for used in uses {
        let message = panic_of(|| {
            let _pool = simulated();
            used();
        });
        assert!(message.contains("is not simulated"), "{message}");
    }
    let within = ordinary.install(|| refusal(Pool::builder().simulated(1).build()));
    assert!(within.contains("a task of another pool"), "{within}");
    let result = std::thread::spawn(move || {
        let _pool = simulated();
        let closed = Closed {
            on_panic: Box::new(|_, _| ()),
            threads_by: "",
            breadth_first: false,
            forgiving: false,
        };
        let builder = tidegate_core::Pool::builder().workers(1);
        ClosedPool::build(builder, closed, false, |_| unreachable!()).is_err()
    });
    assert!(result.join().unwrap());
}

#[test]
fn cause_of_a_deadlock_is_reported() {
    let failure = testing::search(1, Pool::builder, |pool| {
        let (sender, receiver) = channel::<()>();
        let task = pool.spawn(move || {
            assert_eq!(1 + 1, 3, "the cause");
            let _ = sender.send(());
        });
        // The task ends without a message, and this waits for another one.
        let (_sender, never) = channel::<()>();
        let _ = (receiver.recv(), never.recv());
        task.join();
    });
    let message = failure.unwrap().message().to_owned();
    assert!(
        message.starts_with("deadlock") && message.contains("the cause"),
        "{message}"
    );
}

#[test]
fn future_that_nothing_wakes_is_a_deadlock() {
    let failure = testing::search(1, Pool::builder, |pool| {
        let keeper = Arc::new(Mutex::new(None));
        let own = keeper.clone();
        let never = std::future::poll_fn(move |context| {
            *own.lock().unwrap() = Some(context.waker().clone());
            std::task::Poll::<()>::Pending
        });
        pool.spawn_future(never).join();
    });
    let message = failure.unwrap().message().to_owned();
    assert!(message.starts_with("deadlock"), "{message}");
}

#[test]
fn thread_may_end_before_its_pool() {
    let leak = || std::mem::forget(Pool::builder().simulated(1).build().unwrap());
    std::thread::spawn(leak).join().unwrap();
    // A pool that moves to another thread ends there.
    let pool = std::thread::spawn(|| Pool::builder().simulated(1).build().unwrap());
    drop(pool.join().unwrap());
}

#[test]
fn receivers_share_a_channel_in_ordinary_threads() {
    let (sender, receiver) = channel();
    let received = std::thread::scope(|threads| {
        let receive = || receiver.iter().count();
        let both = [threads.spawn(receive), threads.spawn(receive)];
        (0..10).for_each(|n| sender.send(n).unwrap());
        drop(sender);
        both.map(|thread| thread.join().unwrap())
    });
    assert_eq!(received[0] + received[1], 10);
}

#[test]
fn task_drops_its_pool_on_the_thread_that_built_it() {
    for seed in 0..50 {
        let kept = Arc::new(std::sync::Mutex::new(None));
        let pool = Pool::builder().workers(2).simulated(seed).build().unwrap();
        pool.install(|| ());
        let own = kept.clone();
        let task = pool.spawn(move || {
            let pool: Option<Pool> = own.lock().unwrap().take();
            drop(pool);
            tidegate::join(|| 1, || 2)
        });
        *kept.lock().unwrap() = Some(pool);
        assert_eq!(task.join(), (1, 2));
    }
}

#[test]
fn polling_lets_the_other_threads_run() {
    run(|pool| {
        let mut handle = pool.spawn(|| 7);
        let value = loop {
            match handle.result_if_ready() {
                Ok(value) => break value,
                Err(unfinished) => handle = unfinished,
            }
        };
        assert_eq!(value, 7);
        let token = CancelToken::new();
        let own = token.clone();
        let cancels = pool.spawn(move || own.cancel());
        while !token.is_cancelled() {}
        cancels.join();
    });
}

#[test]
fn pool_that_moves_ends_within_a_limit() {
    let pool = std::thread::spawn(|| Pool::builder().simulated(1).build().unwrap());
    let pool = pool.join().unwrap();
    pool.shutdown_timeout(Duration::from_secs(60)).unwrap();
}
