//! What simulated pools report: their steps, and what the threads of a deadlock wait for.

use std::future::poll_fn;
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex as StdMutex};
use std::task::{Poll, Waker};
use tidegate::{Handle, Pool, testing};
use tidegate_testkit::{child, is_child, succeeds};

/// IDEs and CI link to the line that panics, which must be one of the failing test.
#[test]
fn panics_name_the_callers_line() {
    if is_child() {
        let failed = catch_unwind(|| testing::check(1, |_| panic!("the test fails")));
        assert!(failed.is_err());
        let invalid = || Pool::builder().workers(usize::MAX);
        let refused = catch_unwind(|| testing::search(1, invalid, |_| ()).is_some());
        assert!(refused.is_err());
        return;
    }
    let printed = succeeds(&child("reports::panics_name_the_callers_line", &[]));
    for line in [line!() - 8, line!() - 5] {
        let panics = format!("panicked at {}:{line}:", file!());
        assert!(printed.contains(&panics), "{printed}");
    }
}

/// Each push is a step, at which another worker may begin the task.
mod pushes {
    use super::*;

    type Slot = Arc<StdMutex<Option<Waker>>>;

    /// Spawns a future that calls `on_wake` in its second poll, and returns when the first poll has
    /// stored the waker.
    fn waiting(pool: &Pool, on_wake: impl Fn() + Send + 'static) -> (Handle<()>, Slot) {
        let slot = Slot::default();
        let own = slot.clone();
        let handle = pool.spawn_future(poll_fn(move |context| {
            let before = own.lock().unwrap().replace(context.waker().clone());
            match before {
                None => Poll::Pending,
                Some(_) => {
                    on_wake();
                    Poll::Ready(())
                }
            }
        }));
        while slot.lock().unwrap().is_none() {
            tidegate::yield_point();
        }
        (handle, slot)
    }

    fn wake(slot: &Slot) {
        let waker = slot.lock().unwrap().clone();
        waker.expect("the future was polled").wake();
    }

    #[test]
    fn woken_future_may_overtake_its_waker() {
        let failure = testing::search(
            1_000,
            || Pool::builder().workers(2),
            |pool| {
                let is_stored = Arc::new(AtomicBool::new(false));
                let own = is_stored.clone();
                let on_wake = move || assert!(own.load(Ordering::Relaxed), "woken too early");
                let (handle, slot) = waiting(pool, on_wake);
                wake(&slot);
                is_stored.store(true, Ordering::Relaxed);
                handle.join();
            },
        );
        let failure = failure.expect("no seed finds the bug");
        assert!(failure.message().contains("woken too early"), "{failure}");
    }

    /// Returns how many tasks `f` queues, by the steps of a simulated pool.
    fn queued(f: fn(&Pool) -> Box<dyn FnOnce()>) -> usize {
        let pool = Pool::builder().workers(2).simulated(1).build().unwrap();
        let count = || {
            let steps = testing::steps(&pool);
            steps
                .iter()
                .filter(|step| step.contains("queues a task"))
                .count()
        };
        pool.install(|| {
            let pushes = f(&pool);
            let before = count();
            pushes();
            count() - before
        })
    }

    #[test]
    fn aborted_future_is_queued_in_a_step() {
        let count = queued(|pool| {
            let (handle, slot) = waiting(pool, || unreachable!("it was aborted"));
            Box::new(move || {
                drop(handle.abort_on_drop());
                drop(slot);
            })
        });
        assert_eq!(count, 1);
    }

    #[test]
    fn task_at_a_place_is_queued_in_a_step() {
        let count = queued(|pool| {
            let place = pool.places()[0];
            Box::new(move || tidegate::scope(|scope| scope.spawn_at(place, |_| ())))
        });
        assert_eq!(count, 1);
    }
}

/// The report of a deadlock names the threads that hold the locks for which others wait.
mod deadlocks {
    use super::*;
    use tidegate::sync::mpsc::{Sender, channel};
    use tidegate::sync::{Condvar, Mutex, RwLock};

    /// Returns the message of the deadlock that a search finds in `test`.
    fn message(test: impl Fn(&Pool) + Send + Sync + 'static) -> String {
        let failure = testing::search(1_000, Pool::builder, test).expect("no seed finds it");
        let message = failure.message().to_owned();
        assert!(message.starts_with("deadlock"), "{message}");
        message
    }

    /// Returns the names of each thread that `waits` and of the holder below it.
    fn holders<'a>(message: &'a str, waits: &str) -> Vec<(&'a str, &'a str)> {
        let lines: Vec<&str> = message.lines().map(str::trim).collect();
        let names = |pair: &[&'a str]| {
            let (waiter, at) = pair[0].split_once(waits)?;
            let (holder, since) = pair[1]
                .strip_prefix("held by ")?
                .split_once(", which took it at ")?;
            assert!(at.contains(file!()) && since.contains(file!()), "{message}");
            Some((waiter.trim_end_matches(": "), holder))
        };
        lines.windows(2).filter_map(names).collect()
    }

    /// Waits for a message that never comes.
    fn wait_forever(begins: &Sender<()>) {
        let (_sender, never) = channel::<()>();
        begins.send(()).unwrap();
        never.recv().unwrap();
    }

    #[test]
    fn ring_of_mutexes_names_both_holders() {
        let message = message(|_| {
            let (a, b) = (Mutex::new(()), Mutex::new(()));
            let both = |first: &Mutex<()>, second: &Mutex<()>| {
                let _first = first.lock().unwrap();
                drop(second.lock().unwrap());
            };
            tidegate::join(|| both(&a, &b), || both(&b, &a));
        });
        let found = holders(&message, "waits for a lock at ");
        let [(one, its_holder), (other, others_holder)] = found[..] else {
            panic!("{message}");
        };
        assert_eq!((one, other), (others_holder, its_holder), "{message}");
        assert_ne!(one, other, "{message}");
    }

    #[test]
    fn reader_names_the_writer() {
        let message = message(|_| {
            let (lock, (begins, has_begun)) = (RwLock::new(()), channel());
            let write = || {
                let _writing = lock.write().unwrap();
                wait_forever(&begins);
            };
            let read = || {
                has_begun.recv().unwrap();
                drop(lock.read().unwrap());
            };
            tidegate::join(write, read);
        });
        let found = holders(&message, "waits for a lock as a reader at ");
        assert!(found.len() == 1 && found[0].0 != found[0].1, "{message}");
    }

    #[test]
    fn writer_names_the_reader() {
        let message = message(|_| {
            let (lock, (begins, has_begun)) = (RwLock::new(()), channel());
            let read = || {
                // Only the second of the two is still held.
                drop(lock.try_read().unwrap());
                let _reading = lock.try_read().unwrap();
                wait_forever(&begins);
            };
            let write = || {
                has_begun.recv().unwrap();
                drop(lock.write().unwrap());
            };
            tidegate::join(read, write);
        });
        let found = holders(&message, "waits for a lock as its writer at ");
        assert!(found.len() == 1 && found[0].0 != found[0].1, "{message}");
    }

    /// A thread that waits for a condition variable holds no lock meanwhile.
    #[test]
    fn waiter_of_a_condition_variable_is_no_holder() {
        let message = message(|_| {
            let (lock, never) = (Mutex::new(()), Condvar::new());
            let ((waits, waiting), (begins, has_begun)) = (channel(), channel());
            let wait = || {
                let guard = lock.lock().unwrap();
                waits.send(()).unwrap();
                drop(never.wait(guard).unwrap());
            };
            let hold = || {
                waiting.recv().unwrap();
                let _held = lock.lock().unwrap();
                wait_forever(&begins);
            };
            let want = || {
                has_begun.recv().unwrap();
                drop(lock.lock().unwrap());
            };
            tidegate::join(wait, || tidegate::join(hold, want));
        });
        let found = holders(&message, "waits for a lock at ");
        assert!(found.len() == 1, "{message}");
        let condition = format!("{}: waits for a condition variable", found[0].1);
        assert!(!message.contains(&condition), "{message}");
    }
}
