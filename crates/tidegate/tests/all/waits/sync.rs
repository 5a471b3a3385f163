//! The locks and channels of `tidegate::sync` in ordinary threads and pools.

use crate::support::{built, watched};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;
use tidegate::Pool;
use tidegate::sync::mpsc::{Sender, SyncSender, channel, sync_channel};
use tidegate::sync::{Barrier, Condvar, Mutex, RwLock};

#[test]
fn all_blocked_senders_go_on() {
    for bound in 0..3 {
        let received = watched(move || {
            let (sender, receiver) = sync_channel(bound);
            thread::scope(|threads| {
                for _ in 0..4 {
                    let sender = sender.clone();
                    threads.spawn(move || (0..50).for_each(|n| sender.send(n).unwrap()));
                }
                drop(sender);
                receiver.iter().count()
            })
        });
        assert_eq!(received, 200);
    }
}

#[test]
fn all_blocked_senders_see_that_the_receiver_is_gone() {
    for bound in 0..3 {
        watched(move || {
            let (sender, receiver) = sync_channel(bound);
            thread::scope(|threads| {
                for _ in 0..4 {
                    threads.spawn(|| while sender.send(()).is_ok() {});
                }
                receiver.recv().unwrap();
                drop(receiver);
            });
        });
    }
}

mod receivers {
    use super::*;

    #[test]
    fn are_iterators() {
        let (sender, receiver) = channel();
        (0..6).for_each(|n| sender.send(n).unwrap());
        assert_eq!(receiver.iter().next(), Some(0));
        assert_eq!((&receiver).into_iter().next(), Some(1));
        assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [2, 3, 4, 5]);
        assert_eq!(receiver.try_iter().next(), None);
        sender.send(6).unwrap();
        drop(sender);
        assert_eq!(receiver.into_iter().collect::<Vec<i32>>(), [6]);
    }

    #[test]
    fn accept_both_names_of_senders() {
        let senders: (Sender<i32>, SyncSender<i32>) = (channel().0, sync_channel(1).0);
        assert!(senders.0.send(1).is_err() && senders.1.send(1).is_err());
    }
}

mod poison {
    use super::*;

    /// Panics while `held` is held.
    fn fail<G>(hold: impl FnOnce() -> G) {
        let failed = catch_unwind(AssertUnwindSafe(|| {
            let _held = hold();
            resume_unwind(Box::new(()));
        }));
        assert!(failed.is_err());
    }

    #[test]
    fn can_be_cleared() {
        let (mutex, lock) = (Mutex::new(1), RwLock::new(1));
        fail(|| mutex.lock());
        fail(|| lock.write());
        assert!(mutex.is_poisoned() && lock.is_poisoned());
        assert!(mutex.lock().is_err() && lock.read().is_err());
        mutex.clear_poison();
        lock.clear_poison();
        assert!(!mutex.is_poisoned() && !lock.is_poisoned());
        assert!(mutex.lock().is_ok() && lock.read().is_ok());
    }
}

#[test]
fn locks_print_like_those_of_std() {
    let (mutex, lock) = (Mutex::new(7), RwLock::new(7));
    let std = (std::sync::Mutex::new(7), std::sync::RwLock::new(7));
    assert_eq!(format!("{mutex:?}"), format!("{:?}", std.0));
    assert_eq!(format!("{lock:?}"), format!("{:?}", std.1));
    let condvar = std::sync::Condvar::new();
    assert_eq!(format!("{:?}", Condvar::new()), format!("{condvar:?}"));
    assert_eq!(mutex.lock().unwrap().to_string(), "7");
    assert_eq!(lock.read().unwrap().to_string(), "7");
    assert_eq!(lock.write().unwrap().to_string(), "7");
}

mod wait_timeout_while {
    use super::*;

    #[test]
    fn ends_with_the_condition() {
        let waits = |ready: bool, limit| {
            let lock = Mutex::new(ready);
            let guard = lock.lock().unwrap();
            let waited = Condvar::new().wait_timeout_while(guard, limit, |ready| !*ready);
            waited.unwrap().1.timed_out()
        };
        assert!(!waits(true, Duration::ZERO));
        assert!(waits(false, Duration::ZERO) && waits(false, Duration::from_millis(1)));
    }

    /// The limit is never reached.
    #[test]
    fn ends_after_a_notification() {
        watched(|| {
            let (lock, changed) = (Mutex::new(0), Condvar::new());
            thread::scope(|threads| {
                threads.spawn(|| {
                    for _ in 0..2 {
                        *lock.lock().unwrap() += 1;
                        changed.notify_one();
                    }
                });
                let guard = lock.lock().unwrap();
                let waited = changed.wait_timeout_while(guard, Duration::MAX, |count| *count < 2);
                assert!(!waited.unwrap().1.timed_out());
            });
        });
    }
}

mod barrier {
    use super::*;

    /// No thread begins a round before all threads have ended the last one.
    #[test]
    fn separates_rounds() {
        watched(|| {
            let pool = built(Pool::builder().workers(3));
            let (barrier, arrived) = (Barrier::new(3), AtomicUsize::new(0));
            let leads = pool.broadcast(|_| {
                let rounds = (1..=20).filter(|round| {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    let is_leader = barrier.wait().is_leader();
                    assert_eq!(arrived.load(Ordering::Relaxed), 3 * round);
                    barrier.wait();
                    is_leader
                });
                rounds.count()
            });
            assert_eq!(leads.iter().sum::<usize>(), 20);
        });
    }

    #[test]
    fn of_none_never_waits() {
        assert!(Barrier::new(0).wait().is_leader());
    }

    #[cfg(feature = "testing")]
    mod simulated {
        use super::*;
        use tidegate::testing;

        #[test]
        fn separates_rounds() {
            testing::check(50, |pool| {
                let (barrier, arrived) = (Barrier::new(4), AtomicUsize::new(0));
                let leads = pool.broadcast(|_| {
                    arrived.fetch_add(1, Ordering::Relaxed);
                    let is_leader = barrier.wait().is_leader();
                    assert_eq!(arrived.load(Ordering::Relaxed), 4);
                    is_leader
                });
                assert_eq!(leads.iter().filter(|leads| **leads).count(), 1);
            });
        }

        #[test]
        fn that_lacks_a_thread_is_a_deadlock() {
            let failure = testing::search(1, Pool::builder, |pool| {
                let barrier = Barrier::new(100);
                pool.broadcast(|_| barrier.wait());
            });
            let message = failure.unwrap().to_string();
            assert!(message.contains("deadlock"), "{message}");
            assert!(message.contains("sync.rs"), "names the call: {message}");
        }

        #[test]
        fn limits_use_the_clock_of_the_run() {
            testing::check(20, |pool| {
                let hour = Duration::from_secs(3600);
                let (lock, changed) = (Mutex::new(0), Condvar::new());
                let wait = || {
                    let guard = lock.lock().unwrap();
                    let waited = changed.wait_timeout_while(guard, hour, |count| *count < 2);
                    waited.unwrap().1.timed_out()
                };
                let notify = || {
                    *lock.lock().unwrap() += 1;
                    changed.notify_one();
                };
                assert_eq!(pool.install(|| tidegate::join(wait, notify)), (true, ()));
                assert_eq!(pool.install(|| tidegate::join(wait, notify)), (false, ()));
            });
        }
    }
}
