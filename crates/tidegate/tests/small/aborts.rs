//! `Handle::abort`, `Handle::abort_on_drop` and `TaskBuilder::token`.

use crate::support::aborts::{Bomb, reporting_pool, running, running_then};
use crate::support::book::Book;
use crate::support::futures::{Signal, yields};
use crate::support::{Gate, bare_pool, built, until, watched};
use std::future::{Future, pending};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;
use tidegate::policy::Priority;
use tidegate::{CancelToken, Cancelled, Handle, Pool, check_cancelled};

/// Returns a closure that must not run, and that owns a value of the book.
fn unwanted(book: &Book) -> impl FnOnce() + Send + 'static {
    let captured = book.value();
    move || {
        drop(captured);
        panic!("an aborted task runs");
    }
}

fn poll<T: Send + 'static>(handle: &mut Handle<T>) -> Poll<T> {
    Pin::new(handle).poll(&mut Context::from_waker(Waker::noop()))
}

mod unstarted {
    use super::*;

    #[test]
    fn task_never_runs() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            // The test occupies the only worker.
            pool.install(|| {
                let [urgent, cancellable] = [pool.task(), tidegate::task()];
                let urgent = urgent.priority(Priority::Urgent);
                let cancellable = cancellable.token(&CancelToken::new());
                for task in [pool.task(), urgent, cancellable] {
                    drop(task.spawn(unwanted(&book)).abort_on_drop());
                }
            });
            drop(pool);
            assert_eq!(book.made(), 3);
            book.check();
        });
    }

    /// The poll and `join_timeout` queue a second task that could run the closure.
    #[test]
    fn awaited_task_never_runs() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            pool.install(|| {
                let mut handle = pool.spawn(unwanted(&book)).abort_on_drop();
                assert!(poll(&mut handle).is_pending());
                let handle = handle.join_timeout(Duration::ZERO).unwrap_err();
                drop(handle.result_if_ready().unwrap_err());
            });
            drop(pool);
            book.check();
        });
    }

    #[test]
    fn task_counts_until_it_is_dequeued() {
        watched(|| {
            let pool = built(Pool::builder().workers(1).max_queued(1));
            let (busy, go) = running(&pool, &Book::new());
            drop(pool.spawn(|| ()).abort_on_drop());
            let refused = pool.task().spawn_if_room(|| ()).map(drop);
            assert!(refused.is_err());
            go.open();
            drop(busy.join());
            until(|| pool.task().spawn_if_room(|| ()).is_ok());
        });
    }

    #[test]
    fn destructor_panic_is_reported() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            pool.install(|| {
                let bomb = Bomb(17);
                drop(pool.spawn(move || drop(bomb)).abort_on_drop());
            });
            drop(pool);
            assert_eq!(*reported.lock().unwrap(), [17]);
        });
    }

    #[test]
    fn unwinding_aborts() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let ended = pool.install(|| {
                catch_unwind(AssertUnwindSafe(|| {
                    let bomb = Bomb(1);
                    let _handle = pool.spawn(move || drop(bomb)).abort_on_drop();
                    resume_unwind(Box::new(2_usize));
                }))
            });
            assert_eq!(ended.unwrap_err().downcast_ref(), Some(&2_usize));
            drop(pool);
            assert_eq!(*reported.lock().unwrap(), [1]);
        });
    }

    /// A worker, the handle and the end of the pool meet in every order.
    #[test]
    fn shutdown_awaits_the_destructor() {
        watched(|| {
            for round in 0..if cfg!(miri) { 6 } else { 300 } {
                let (pool, book) = (bare_pool(1), Book::new());
                let captured = book.value();
                let handle = pool.spawn(move || drop(captured)).abort_on_drop();
                let aborting = std::thread::spawn(move || {
                    for _ in 0..round % 30 {
                        std::thread::yield_now();
                    }
                    drop(handle);
                });
                drop(pool);
                book.check();
                aborting.join().unwrap();
                book.check();
            }
        });
    }
}

mod running {
    use super::*;

    #[test]
    fn token_is_cancelled() {
        watched(|| {
            let (pool, parent) = (bare_pool(1), CancelToken::new());
            let (begun, has_begun) = channel();
            let (ended, has_ended) = channel();
            let task = move || {
                begun.send(()).unwrap();
                while check_cancelled().is_ok() {
                    std::thread::yield_now();
                }
                ended.send(check_cancelled()).unwrap();
            };
            let handle = pool.task().token(&parent).spawn(task).abort_on_drop();
            has_begun.recv().unwrap();
            drop(handle);
            assert_eq!(has_ended.recv(), Ok(Err(Cancelled)));
            assert!(!parent.is_cancelled());
        });
    }

    /// Without the mark, a dropped handle does not cancel the token.
    #[test]
    fn detached_token_stays() {
        watched(|| {
            let (pool, parent) = (bare_pool(1), CancelToken::new());
            let (ended, has_ended) = channel();
            let end = move || ended.send(check_cancelled()).unwrap();
            let (handle, go) = running_then(pool.task().token(&parent), end);
            drop(handle);
            go.open();
            assert_eq!(has_ended.recv(), Ok(Ok(())));
        });
    }

    #[test]
    fn task_without_token_continues() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (handle, go) = running(&pool, &book);
            drop(handle.abort_on_drop());
            assert_eq!(book.live(), 1);
            go.open();
            drop(pool);
            assert_eq!(book.made(), 2);
            book.check();
        });
    }

    #[test]
    fn later_panic_is_reported() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let panics = || resume_unwind(Box::new(3_usize));
            let (handle, go) = running_then(pool.task(), panics);
            drop(handle.abort_on_drop());
            go.open();
            drop(pool);
            assert_eq!(*reported.lock().unwrap(), [3]);
        });
    }
}

mod ended {
    use super::*;

    #[test]
    fn result_is_dropped_once() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (handle, go) = running(&pool, &book);
            go.open();
            until(|| handle.is_finished());
            drop(handle.abort_on_drop());
            assert_eq!(book.made(), 2);
            book.check();
        });
    }

    #[test]
    fn earlier_panic_is_reported() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let handle = pool.spawn(|| resume_unwind(Box::new(4_usize)));
            until(|| handle.is_finished());
            drop(handle.abort_on_drop());
            assert_eq!(*reported.lock().unwrap(), [4]);
        });
    }

    /// The token stays usable: the task has ended, but tasks that it has spawned may still run.
    #[test]
    fn token_is_not_cancelled() {
        watched(|| {
            let pool = bare_pool(1);
            let task = pool.task().token(&CancelToken::new());
            let handle = task.spawn(CancelToken::current);
            until(|| handle.is_finished());
            let handle = handle.abort_on_drop();
            let token = handle.join().expect("the task has a token");
            assert!(!token.is_cancelled());
        });
    }

    #[test]
    fn returned_result_disarms() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            for _ in 0..3 {
                let make = || {
                    let book = book.clone();
                    pool.spawn(move || book.value()).abort_on_drop()
                };
                let [joined, mut tried, mut awaited] = [(); 3].map(|()| make());
                drop(joined.join());
                until(|| tried.is_finished());
                tried = tried
                    .join_timeout(Duration::ZERO)
                    .map_or_else(|h| h, |_| make());
                until(|| tried.is_finished());
                assert!(tried.result_if_ready().is_ok());
                until(|| awaited.is_finished());
                assert!(poll(&mut awaited).is_ready());
                drop(awaited);
            }
            assert_eq!(book.made(), 12);
            book.check();
        });
    }
}

mod future {
    use super::*;

    #[test]
    fn waiting_future_is_dropped() {
        watched(|| {
            let (pool, book, signal) = (bare_pool(1), Book::new(), Signal::default());
            let begun = Arc::new(Gate::new());
            let (captured, signals, begins) = (book.value(), signal.clone(), begun.clone());
            let handle = pool.spawn_future(async move {
                begins.open();
                signals.await;
                drop(captured);
                panic!("an aborted future continues");
            });
            begun.wait();
            // The only worker is busy until it has put the future back.
            pool.install(|| ());
            drop(handle.abort_on_drop());
            until(|| book.live() == 0);
            signal.give();
            drop(pool);
            book.check();
        });
    }

    #[test]
    fn queued_future_is_dropped() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            pool.install(|| {
                let captured = book.value();
                let handle = pool.spawn_future(async move {
                    drop(captured);
                    panic!("an aborted future begins");
                });
                drop(handle.abort_on_drop());
            });
            drop(pool);
            book.check();
        });
    }

    /// The future wakes itself in the poll, so it would be queued again.
    #[test]
    fn polled_future_is_dropped_after_the_poll() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (begun, go) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
            let (begins, goes, captured) = (begun.clone(), go.clone(), book.value());
            let handle = pool.spawn_future(async move {
                begins.open();
                goes.wait();
                yields(1).await;
                drop(captured);
                panic!("an aborted future continues");
            });
            begun.wait();
            drop(handle.abort_on_drop());
            assert_eq!(book.live(), 1);
            go.open();
            drop(pool);
            book.check();
        });
    }

    #[test]
    fn poll_that_completes_drops_its_result() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (begun, go) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
            let (begins, goes, value) = (begun.clone(), go.clone(), book.value());
            let handle = pool.spawn_future(async move {
                begins.open();
                goes.wait();
                value
            });
            begun.wait();
            drop(handle.abort_on_drop());
            go.open();
            drop(pool);
            book.check();
        });
    }

    #[test]
    fn future_may_drop_its_own_handle() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let own = Arc::new(Mutex::new(None));
            let given = Arc::new(Gate::new());
            let (takes, gives, captured) = (own.clone(), given.clone(), book.value());
            let handle: Handle<()> = pool.spawn_future(async move {
                gives.wait();
                let _captured = captured;
                drop(takes.lock().unwrap().take());
                pending::<()>().await;
            });
            *own.lock().unwrap() = Some(handle.abort_on_drop());
            given.open();
            drop(pool);
            book.check();
        });
    }

    #[test]
    fn destructor_panic_is_reported() {
        watched(|| {
            let (pool, reported) = reporting_pool();
            let begun = Arc::new(Gate::new());
            let (begins, signal, bomb) = (begun.clone(), Signal::default(), Bomb(5));
            let signals = signal.clone();
            let waiting = pool.spawn_future(async move {
                let _bomb = bomb;
                begins.open();
                signals.await;
            });
            begun.wait();
            drop(waiting.abort_on_drop());
            pool.install(|| {
                let bomb = Bomb(6);
                let queued = pool.spawn_future(async move { drop(bomb) });
                drop(queued.abort_on_drop());
            });
            drop(pool);
            assert_eq!(*reported.lock().unwrap(), [5, 6]);
        });
    }
}

/// The handle is used after it has aborted the task.
mod kept_handle {
    use super::*;
    use std::task::Wake;

    fn is_cancelled<T>(result: std::thread::Result<T>) -> bool {
        result.is_err_and(|payload| payload.is::<Cancelled>())
    }

    /// The test occupies the only worker, so the closure is still in its queue.
    #[test]
    fn unstarted_task_ends_at_once() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            pool.install(|| {
                let [taken, joined] = [(); 2].map(|()| pool.spawn(unwanted(&book)));
                taken.abort();
                assert!(taken.is_finished());
                assert!(is_cancelled(taken.join_result()));
                joined.abort();
                let panic = catch_unwind(AssertUnwindSafe(|| joined.join())).unwrap_err();
                assert_eq!(panic.downcast_ref(), Some(&"the task was aborted"));
            });
            drop(pool);
            assert_eq!(book.made(), 2);
            book.check();
        });
    }

    #[test]
    fn awaiting_task_is_woken() {
        #[derive(Default)]
        struct Woken(Gate);
        impl Wake for Woken {
            fn wake(self: Arc<Self>) {
                self.0.open();
            }
        }

        watched(|| {
            let pool = bare_pool(1);
            pool.install(|| {
                let (mut handle, woken) = (pool.spawn(|| ()), Arc::new(Woken::default()));
                let waker = Waker::from(woken.clone());
                let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&waker));
                assert!(polled.is_pending());
                handle.abort();
                assert!(woken.0.is_open());
                let polled = catch_unwind(AssertUnwindSafe(|| poll(&mut handle)));
                assert!(polled.is_err());
            });
        });
    }

    #[test]
    fn running_task_returns_its_result() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (handle, go) = running(&pool, &book);
            handle.abort();
            go.open();
            assert!(handle.join_result().is_ok());
        });
    }

    /// The join waits until the future has been dropped.
    #[test]
    fn waiting_future_is_joined() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            let (begun, signal) = (Arc::new(Gate::new()), Signal::default());
            let (captured, begins, signals) = (book.value(), begun.clone(), signal.clone());
            let handle = pool.spawn_future(async move {
                let _captured = captured;
                begins.open();
                signals.await;
            });
            begun.wait();
            handle.abort();
            assert!(is_cancelled(handle.join_result()));
            assert_eq!(book.live(), 0);
        });
    }

    /// Only the thread in `join_result` could drop the future.
    #[test]
    fn queued_future_is_joined_by_the_only_worker() {
        watched(|| {
            let (pool, book) = (bare_pool(1), Book::new());
            pool.install(|| {
                let captured = book.value();
                let handle = pool.spawn_future(async move { drop(captured) });
                handle.abort();
                assert!(is_cancelled(handle.join_result()));
                assert_eq!(book.live(), 0);
            });
        });
    }

    #[test]
    fn dropped_handle_reports_nothing() {
        watched(|| {
            let (report, reports) = channel();
            let handler = move |panic: tidegate::PanicReport| report.send(panic.number).unwrap();
            let pool = built(Pool::builder().workers(1).on_panic(handler));
            pool.install(|| {
                let (task, future) = (pool.spawn(|| ()), pool.spawn_future(async {}));
                task.abort();
                future.abort();
            });
            drop(pool);
            assert_eq!(reports.try_iter().count(), 0);
        });
    }
}
