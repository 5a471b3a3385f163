//! Which waiter a publisher wakes, and which workers a waiter may rob. In these cases, a faulty
//! pool would wake the wrong waiter again and again, or no waiter.

use crate::support::{Gate, bare_pool, let_others_sleep, pool, watched};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use tidegate::join;

#[test]
fn publisher_skips_unwinding_joiner() {
    watched(|| {
        let pool = pool(3);
        for _ in 0..5 {
            let (began, news) = (Gate::new(), Gate::new());
            let ended = catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| {
                    let second = || {
                        began.open();
                        let_others_sleep();
                        join(|| news.wait(), || news.open());
                    };
                    join(
                        || {
                            began.wait();
                            panic!("the first half");
                        },
                        second,
                    );
                });
            }));
            assert!(ended.is_err());
        }
    });
}

/// A waiter is buried if a half runs on top of it.
#[test]
fn publisher_skips_buried_waiter() {
    watched(|| {
        let pool = bare_pool(3);
        for _ in 0..5 {
            let (first, second, third, news) = (Gate::new(), Gate::new(), Gate::new(), Gate::new());
            let innermost = || {
                third.open();
                let_others_sleep();
                join(|| news.wait(), || news.open());
            };
            let inner = || {
                second.open();
                let_others_sleep();
                join(|| third.wait(), innermost);
            };
            let outer = || {
                first.open();
                let_others_sleep();
                join(|| second.wait(), inner);
            };
            pool.install(|| {
                join(
                    || third.wait(),
                    || {
                        join(|| first.wait(), outer);
                    },
                );
            });
        }
    });
}

#[test]
fn publisher_is_signalled_after_waking_waiter() {
    watched(|| {
        let pool = pool(3);
        for _ in 0..5 {
            let (began, robbed, news) = (Gate::new(), Gate::new(), Gate::new());
            let second = || {
                began.open();
                let_others_sleep();
                // The fork wakes the joiner, which robs this half.
                join(
                    || {
                        robbed.wait();
                        // This half is for the third thread, which still sleeps.
                        join(|| news.wait(), || news.open());
                    },
                    || {
                        robbed.open();
                        news.wait();
                    },
                );
            };
            pool.install(|| join(|| began.wait(), second));
        }
    });
}

#[test]
fn worker_is_robbed_after_broadcast() {
    watched(|| {
        let pool = bare_pool(2);
        let (began, news) = (Gate::new(), Gate::new());
        let second = || {
            began.open();
            let_others_sleep();
            tidegate::broadcast(|_| ());
            let_others_sleep();
            join(|| news.wait(), || news.open());
        };
        pool.install(|| join(|| began.wait(), second));
    });
}

/// While a thread waits for a scope, it runs its part of a broadcast, which waits, too. Afterwards,
/// the thread can still help with the scope's tasks.
#[test]
fn scope_waiter_helps_after_broadcast() {
    watched(|| {
        let (other, pool) = (pool(1), bare_pool(3));
        let (began, second, third) = (&Gate::new(), &Gate::new(), &Gate::new());
        let other = &other;
        pool.install(|| {
            let me = thread::current().id();
            tidegate::scope(|s| {
                s.spawn(move |s| {
                    began.open();
                    let_others_sleep();
                    tidegate::broadcast(|_| {
                        if thread::current().id() == me {
                            other.install(let_others_sleep);
                        }
                    });
                    let_others_sleep();
                    s.spawn(move |s| {
                        second.open();
                        let_others_sleep();
                        s.spawn(move |_| third.open());
                        third.wait();
                    });
                    second.wait();
                    third.wait();
                });
                began.wait();
            });
        });
    });
}
