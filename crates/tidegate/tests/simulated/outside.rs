//! Threads outside a simulation that use its pool while one of its tasks has the turn. The process
//! aborts, because the task would find their work at any of its steps.

use std::future::poll_fn;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::task::{Poll, Waker};
use std::{hint, thread};
use tidegate::Pool;
use tidegate_testkit::{child, is_child};

/// In a child, runs `uses`, which must end the child. Otherwise, starts the child.
fn aborts(name: &str, uses: impl FnOnce(Pool)) {
    if is_child() {
        let pool = Pool::builder().workers(1).simulated(1).build().unwrap();
        return uses(pool);
    }
    let output = child(&format!("outside::{name}"), &[]);
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(errors.contains("outside the simulation"), "{errors}");
}

/// A thread outside the simulation that calls one waker.
struct Outside {
    waker: mpsc::Sender<Waker>,
    has_called: &'static AtomicBool,
}

impl Outside {
    fn start() -> Self {
        let (waker, sent) = mpsc::channel::<Waker>();
        let has_called: &AtomicBool = Box::leak(Box::new(AtomicBool::new(false)));
        thread::spawn(move || {
            sent.recv().unwrap().wake();
            has_called.store(true, Ordering::Release);
        });
        Self { waker, has_called }
    }

    /// Keeps the turn until the thread has called the waker.
    fn wait(has_called: &AtomicBool) {
        while !has_called.load(Ordering::Acquire) {
            hint::spin_loop();
        }
    }
}

#[test]
fn waker_of_a_waiting_future_aborts() {
    aborts("waker_of_a_waiting_future_aborts", |pool| {
        let Outside { waker, has_called } = Outside::start();
        let (own_waker, polled) = mpsc::channel();
        let mut is_woken = false;
        let future = pool.spawn_future(poll_fn(move |context| {
            if is_woken {
                return Poll::Ready(());
            }
            is_woken = true;
            own_waker.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        pool.install(move || {
            waker.send(polled.recv().unwrap()).unwrap();
            Outside::wait(has_called);
        });
        future.join();
    });
}

#[test]
fn waker_of_a_polled_future_aborts() {
    aborts("waker_of_a_polled_future_aborts", |pool| {
        let Outside { waker, has_called } = Outside::start();
        let mut is_woken = false;
        let future = pool.spawn_future(poll_fn(move |context| {
            if is_woken {
                return Poll::Ready(());
            }
            is_woken = true;
            waker.send(context.waker().clone()).unwrap();
            Outside::wait(has_called);
            Poll::Pending
        }));
        future.join();
    });
}

#[test]
fn last_waker_aborts() {
    aborts("last_waker_aborts", |pool| {
        let (own_waker, polled) = mpsc::channel::<Waker>();
        drop(pool.spawn_future(poll_fn::<(), _>(move |context| {
            own_waker.send(context.waker().clone()).unwrap();
            Poll::Pending
        })));
        pool.install(move || {
            let waker = polled.recv().unwrap();
            thread::spawn(|| drop(waker)).join().unwrap();
        });
    });
}

#[test]
fn spawn_into_a_scope_aborts() {
    aborts("spawn_into_a_scope_aborts", |pool| {
        pool.scope(|scope| {
            thread::scope(|threads| {
                threads.spawn(|| scope.spawn(|_| ()));
            });
        });
    });
}
