//! Destructors of aborted tasks, and of the results and wakers of dropped handles.

use crate::support::aborts::{Bomb, reporting_pool, running};
use crate::support::book::{Book, Tracked};
use crate::support::futures::Signal;
use crate::support::{Gate, bare_pool, built, until, watched};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;
use tidegate::{Handle, Pool};

/// The destructor of an aborted task is user code like any other.
mod destructor {
    use super::*;

    /// The caller is outside the pool, and the aborted task is its last owner.
    fn may_drop_its_own_pool(queue: fn(&Pool, (Arc<Pool>, Tracked)) -> Handle<()>) {
        watched(move || {
            let (pool, book) = (Arc::new(bare_pool(1)), Book::new());
            let (busy, go) = running(&pool, &book);
            let handle = queue(&pool, (pool.clone(), book.value())).abort_on_drop();
            drop(pool);
            drop(handle);
            go.open();
            drop(busy.join());
            until(|| book.live() == 0);
        });
    }

    #[test]
    fn of_closure_may_drop_its_own_pool() {
        may_drop_its_own_pool(|pool, owned| pool.spawn(move || drop(owned)));
    }

    #[test]
    fn of_queued_future_may_drop_its_own_pool() {
        may_drop_its_own_pool(|pool, owned| pool.spawn_future(async move { drop(owned) }));
    }

    /// Like `may_drop_its_own_pool`.
    #[test]
    fn of_waiting_future_may_drop_its_own_pool() {
        watched(|| {
            let (pool, book, signal) = (Arc::new(bare_pool(1)), Book::new(), Signal::default());
            let (owned, signals) = ((pool.clone(), book.value()), signal.clone());
            let begun = Arc::new(Gate::new());
            let begins = begun.clone();
            let handle = pool.spawn_future(async move {
                begins.open();
                signals.await;
                drop(owned);
            });
            begun.wait();
            // The only worker is busy until it has put the future back.
            pool.install(|| ());
            drop(pool);
            drop(handle.abort_on_drop());
            until(|| book.live() == 0);
        });
    }

    /// Each task owns the handle of the one before it.
    #[test]
    fn may_abort_more_tasks() {
        const LENGTH: usize = if cfg!(miri) { 20 } else { 100_000 };
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            pool.install(|| {
                let mut tasks = pool.spawn(|| ()).abort_on_drop();
                let mut futures = pool.spawn_future(async {}).abort_on_drop();
                for _ in 0..LENGTH {
                    let captured = book.value();
                    tasks = pool.spawn(move || drop((tasks, captured))).abort_on_drop();
                    let captured = book.value();
                    futures = pool
                        .spawn_future(async move { drop((futures, captured)) })
                        .abort_on_drop();
                }
            });
            drop(pool);
            book.check();
        });
    }
}

/// Without `abort_on_drop`, too.
mod dropped_handle {
    use super::*;

    #[test]
    fn result_destructor_panic_is_reported() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let handle = pool.spawn(|| Bomb(8));
            until(|| handle.is_finished());
            drop(handle);
            assert_eq!(*reported.lock().unwrap(), [8]);
        });
    }

    /// Polls the handle with a waker whose destructor panics. Afterwards, the handle has the only
    /// clone.
    fn poll_with_bomb<T: Send + 'static>(handle: &mut Handle<T>) {
        struct Explosive(#[expect(dead_code, reason = "it is dropped")] Bomb);

        impl Wake for Explosive {
            fn wake(self: Arc<Self>) {
                std::mem::forget(Arc::into_inner(self));
            }
        }

        let waker = Waker::from(Arc::new(Explosive(Bomb(10))));
        let polled = Pin::new(handle).poll(&mut Context::from_waker(&waker));
        assert!(polled.is_pending());
    }

    /// A panic of the waker that a call replaces would drop the handle, and so abort the task.
    #[test]
    fn destructor_panic_of_replaced_waker_is_caught() {
        watched(|| {
            let (pool, _) = reporting_pool();
            let (busy, go) = running(&pool, &Book::new());
            let mut handle = pool.spawn(|| 7).abort_on_drop();
            poll_with_bomb(&mut handle);
            poll_with_bomb(&mut handle);
            let mut handle = handle.join_timeout(Duration::ZERO).unwrap_err();
            poll_with_bomb(&mut handle);
            go.open();
            assert_eq!(handle.join(), 7);
            drop(busy.join());
        });
    }

    /// The waker and the closure panic one after the other, not one during the other.
    #[test]
    fn waker_destructor_panic_is_caught() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let (busy, go) = running(&pool, &Book::new());
            let bomb = Bomb(9);
            let mut handle = pool.spawn(move || drop(bomb)).abort_on_drop();
            poll_with_bomb(&mut handle);
            drop(handle);
            go.open();
            drop(busy.join());
            drop(pool);
            assert_eq!(*reported.lock().unwrap(), [9]);
        });
    }
}

/// The last waker of a future is dropped, which ends the future with a panic. A handle that aborts
/// wants no result, so the panic is not reported.
mod lost_future {
    use super::*;
    use std::future::poll_fn;

    /// Calls `abort` with the handle of a lost future, before or after the future has ended.
    /// Returns the number of reported panics.
    fn reports(has_ended: bool, abort: fn(Handle<()>)) -> usize {
        let (report, reports) = channel();
        let handler = move |panic: tidegate::PanicReport| report.send(panic.number).unwrap();
        let pool = built(Pool::builder().workers(1).on_panic(handler));
        let (give, given) = channel();
        let handle = pool.spawn_future(poll_fn(move |context| {
            give.send(context.waker().clone()).unwrap();
            Poll::Pending
        }));
        let waker: Waker = given.recv().unwrap();
        // The only worker is busy until it has put the future back.
        pool.install(|| ());
        let (busy, go) = running(&pool, &Book::new());
        drop(waker);
        if has_ended {
            go.open();
            until(|| handle.is_finished());
        }
        abort(handle);
        go.open();
        drop(busy.join());
        drop(pool);
        reports.try_iter().count()
    }

    #[test]
    fn aborted_future_reports_nothing() {
        watched(|| {
            for has_ended in [false, true] {
                assert_eq!(reports(has_ended, |handle| drop(handle.abort_on_drop())), 0);
            }
        });
    }

    #[test]
    fn detached_future_reports_its_panic() {
        watched(|| {
            for has_ended in [false, true] {
                assert_eq!(reports(has_ended, drop), 1);
            }
        });
    }
}
