//! Handles as futures, `join_timeout`, `result_if_ready`, and `spawn_future`.

use crate::support::futures::yields;
use crate::support::{Gate, fib, pool, watched};
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tidegate::{Handle, Pool};

/// A waker that counts how often it is called.
#[derive(Default)]
struct Count(AtomicUsize);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }
}

fn poll<T: Send + 'static>(handle: &mut Handle<T>, count: &Arc<Count>) -> Poll<T> {
    let waker = Waker::from(count.clone());
    Pin::new(handle).poll(&mut Context::from_waker(&waker))
}

/// Returns the text of the panic of `f`.
fn panic_of<R>(f: impl FnOnce() -> R) -> String {
    let ended = catch_unwind(AssertUnwindSafe(f));
    let payload = ended.err().expect("it panics");
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => (*payload.downcast_ref::<&str>().expect("text")).to_string(),
    }
}

/// Spawns a task that runs until the gate opens.
fn held(pool: &Pool) -> (Handle<u32>, Arc<Gate>) {
    let gate = Arc::new(Gate::new());
    let waits = gate.clone();
    let handle = pool.spawn(move || {
        waits.wait();
        7
    });
    (handle, gate)
}

#[test]
fn last_waker_is_woken_once() {
    watched(|| {
        let pool = pool(1);
        let (mut handle, gate) = held(&pool);
        let counts = [(); 2].map(|()| Arc::new(Count::default()));
        for count in &counts {
            assert!(poll(&mut handle, count).is_pending());
        }
        gate.open();
        while !handle.is_finished() {
            std::thread::yield_now();
        }
        assert_eq!(poll(&mut handle, &counts[0]), Poll::Ready(7));
        drop(pool);
        let woken = counts.map(|count| count.0.load(Ordering::Acquire));
        assert_eq!(woken, [0, 1]);
    });
}

#[test]
fn thread_that_joins_replaces_the_waker() {
    watched(|| {
        let pool = pool(1);
        let (mut handle, gate) = held(&pool);
        let count = Arc::new(Count::default());
        assert!(poll(&mut handle, &count).is_pending());
        let handle = handle.join_timeout(Duration::ZERO).unwrap_err();
        assert_eq!(Arc::strong_count(&count), 1);
        gate.open();
        assert_eq!(handle.join(), 7);
        assert_eq!(count.0.load(Ordering::Acquire), 0);
    });
}

#[test]
fn result_is_returned_once() {
    watched(|| {
        let pool = pool(1);
        let mut handle = pool.spawn(|| 7);
        let count = Arc::new(Count::default());
        while poll(&mut handle, &count).is_pending() {
            std::thread::yield_now();
        }
        let again = panic_of(|| poll(&mut handle, &count));
        assert_eq!(again, "the handle has already returned its result");
    });
}

#[test]
fn unfinished_task_leaves_the_handle() {
    watched(|| {
        let pool = pool(1);
        let (handle, gate) = held(&pool);
        let handle = handle.result_if_ready().unwrap_err();
        let handle = handle.join_timeout(Duration::ZERO).unwrap_err();
        let handle = handle.join_timeout(Duration::from_millis(1)).unwrap_err();
        gate.open();
        assert_eq!(handle.join_timeout(Duration::MAX).ok(), Some(7));
    });
}

#[test]
fn join_timeout_leaves_the_slot() {
    watched(|| {
        let pool = Pool::builder().workers(1).max_threads(3).build().unwrap();
        let got = pool.install(|| {
            let handle = tidegate::spawn(|| 7);
            handle.join_timeout(Duration::MAX).ok()
        });
        assert_eq!(got, Some(7));
    });
}

#[test]
fn panics_reach_every_wait() {
    watched(|| {
        let pool = pool(1);
        let handle = || pool.spawn(|| -> u32 { panic!("ebb") });
        assert_eq!(panic_of(|| handle().join()), "ebb");
        assert_eq!(panic_of(|| handle().join_timeout(Duration::MAX)), "ebb");
        let awaits = |handle: Handle<u32>| pool.spawn_future(handle).join();
        assert_eq!(panic_of(|| awaits(handle())), "ebb");
        let handle = handle();
        while !handle.is_finished() {
            std::thread::yield_now();
        }
        assert_eq!(panic_of(|| handle.result_if_ready()), "ebb");
    });
}

#[test]
fn panicking_waker_harms_no_task() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("ebb");
        }
    }
    watched(|| {
        let pool = pool(1);
        let (mut handle, gate) = held(&pool);
        let waker = Waker::from(Arc::new(Panics));
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
        gate.open();
        // The pool's only thread runs this task after it has called the waker.
        assert_eq!(pool.spawn(|| 1).join(), 1);
        assert_eq!(handle.join(), 7);
    });
}

#[test]
fn futures_await_handles_and_each_other() {
    watched(|| {
        for workers in [1, 2, 4] {
            let pool = pool(workers);
            let parts: Vec<_> = (0..100)
                .map(|n| {
                    let own = pool.spawn(move || n);
                    pool.spawn_future(async move { own.await + yields(3).await })
                })
                .collect();
            let all = pool.spawn_future(async {
                let mut total = 0;
                for part in parts {
                    total += part.await;
                }
                total
            });
            assert_eq!(all.join(), 4950 + 300);
        }
    });
}

/// Wake-ups come from another thread, at any time between two polls or during a poll.
#[test]
fn outside_wake_ups_are_not_lost() {
    watched(|| {
        let pool = pool(2);
        let (asks, asked) = channel::<Waker>();
        let waker = std::thread::spawn(move || asked.into_iter().for_each(Waker::wake));
        let waits = (0..200).map(|_| {
            let asks = asks.clone();
            let mut polls = 0;
            pool.spawn_future(poll_fn(move |context| {
                polls += 1;
                if polls == 20 {
                    return Poll::Ready(polls);
                }
                asks.send(context.waker().clone()).unwrap();
                Poll::Pending
            }))
        });
        let waits: Vec<_> = waits.collect();
        let total: u32 = waits.into_iter().map(Handle::join).sum();
        assert_eq!(total, 200 * 20);
        drop(asks);
        waker.join().unwrap();
    });
}

#[test]
fn pool_waits_for_detached_future() {
    watched(|| {
        let pool = pool(1);
        let (ran, has_run) = channel();
        drop(pool.spawn_future(async move { ran.send(yields(10).await).unwrap() }));
        drop(pool);
        assert_eq!(has_run.try_recv(), Ok(10));
    });
}

#[test]
fn lost_waker_is_a_panic() {
    watched(|| {
        let pool = pool(1);
        let never = pool.spawn_future(std::future::pending::<u32>());
        assert_eq!(
            panic_of(|| never.join()),
            "the future waits for a waker, and its last waker was dropped"
        );
        drop(pool);
    });
}

#[test]
fn future_is_dropped_before_its_result() {
    struct Tells(Arc<Gate>);
    impl Drop for Tells {
        fn drop(&mut self) {
            self.0.open();
        }
    }
    watched(|| {
        let pool = pool(1);
        let gate = Arc::new(Gate::new());
        let tells = Tells(gate.clone());
        let future = async move {
            let _tells = &tells;
            7
        };
        assert_eq!(pool.spawn_future(future).join(), 7);
        assert!(gate.is_open());
    });
}

#[test]
fn stale_waker_wakes_nothing() {
    watched(|| {
        let pool = pool(1);
        let (asks, asked) = channel();
        let mut first = true;
        let future = poll_fn(move |context| {
            asks.send(context.waker().clone()).unwrap();
            if std::mem::take(&mut first) {
                Poll::Pending
            } else {
                Poll::Ready(7)
            }
        });
        let handle = pool.spawn_future(future);
        let stale = asked.recv().unwrap();
        stale.wake_by_ref();
        assert_eq!(handle.join(), 7);
        stale.wake();
        asked.recv().unwrap().wake();
        drop(pool);
    });
}

#[test]
fn future_forks_on_the_workers() {
    watched(|| {
        let pool = pool(2);
        let sum = pool.spawn_future(async {
            let (a, b) = tidegate::join(|| fib(10), || fib(11));
            yields(1).await;
            a + b
        });
        assert_eq!(sum.join(), fib(12));
    });
}

#[test]
fn future_of_an_exit_handler_completes() {
    watched(|| {
        let (wakers, woken) = channel::<Waker>();
        let (ran, has_run) = channel();
        let on_exit = move |_| {
            let (wakers, ran, mut first) = (wakers.clone(), ran.clone(), true);
            drop(tidegate::spawn_future(poll_fn(move |context| {
                if std::mem::take(&mut first) {
                    wakers.send(context.waker().clone()).unwrap();
                    return Poll::Pending;
                }
                ran.send(()).unwrap();
                Poll::Ready(())
            })));
        };
        let pool = Pool::builder().workers(2).max_threads(2).on_exit(on_exit);
        let pool = pool.build().unwrap();
        let waker = std::thread::spawn(move || {
            for waker in woken.iter().take(2) {
                std::thread::sleep(Duration::from_millis(1));
                waker.wake();
            }
        });
        drop(pool);
        waker.join().unwrap();
        assert_eq!(has_run.try_iter().count(), 2);
    });
}

#[test]
fn future_that_joins_itself_panics() {
    watched(|| {
        let (tell, told) = channel();
        let builder = Pool::builder().workers(1).on_panic(move |report| {
            tell.send(
                report
                    .payload
                    .downcast_ref()
                    .map(|text: &&str| text.to_string()),
            )
            .unwrap();
        });
        let pool = builder.build().unwrap();
        let (own, handle) = channel::<Handle<u32>>();
        let future = pool.spawn_future(async move { handle.recv().unwrap().join() });
        own.send(future).unwrap();
        let text = "the task of this handle waits in a frame below the one that joins it";
        assert_eq!(told.recv(), Ok(Some(text.to_string())));
    });
}

/// The destructor runs after the last waker was dropped.
#[test]
fn destructor_that_joins_its_future_panics() {
    struct Joins(Receiver<Handle<()>>, Sender<String>);
    impl Drop for Joins {
        fn drop(&mut self) {
            let own = self.0.recv().unwrap();
            self.1.send(panic_of(|| own.join())).unwrap();
        }
    }
    watched(|| {
        let pool = pool(1);
        let (own, handle) = channel();
        let (tells, told) = channel();
        let joins = Joins(handle, tells);
        let future = pool.spawn_future(async move {
            let _joins = joins;
            std::future::pending().await
        });
        own.send(future).unwrap();
        let text = "the task of this handle waits in a frame below the one that joins it";
        assert_eq!(told.recv().unwrap(), text);
    });
}

#[test]
fn dropped_handle_drops_its_waker() {
    watched(|| {
        let pool = pool(1);
        let (mut handle, gate) = held(&pool);
        let count = Arc::new(Count::default());
        assert!(poll(&mut handle, &count).is_pending());
        assert_eq!(Arc::strong_count(&count), 2);
        drop(handle);
        assert_eq!(Arc::strong_count(&count), 1);
        gate.open();
    });
}
