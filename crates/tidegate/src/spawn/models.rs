//! Loom models of handles and futures; see `tidegate_core`'s models.

use crate::Pool;
use crate::models::pool;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Wake, Waker};
use tidegate_sync::Arc;
use tidegate_sync::atomic::{AtomicUsize, Ordering};
use tidegate_sync::model::{check, check_part};
use tidegate_sync::park::Parker;

struct CountDrop(Arc<AtomicUsize>);

impl Drop for CountDrop {
    fn drop(&mut self) {
        // Relaxed: the end of the pool orders this and the check.
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[test]
fn loom_wake_during_a_poll_is_not_lost() {
    check(|| {
        let pool = pool(1);
        let (started, waking) = std::sync::mpsc::channel();
        let mut is_first = true;
        let future = std::future::poll_fn(move |context| {
            if !std::mem::take(&mut is_first) {
                return Poll::Ready(7);
            }
            let waker = context.waker().clone();
            let thread = loom::thread::spawn(move || waker.wake());
            started
                .send(thread)
                .expect("the model waits for the thread");
            Poll::Pending
        });
        assert_eq!(pool.spawn_future(future).join(), 7);
        // Receive before the pool is dropped: loom does not see that the pool's reference count
        // orders the two.
        let waking = waking.recv().expect("the first poll has sent it");
        waking.join().expect("a waker does not panic");
    });
}

#[test]
fn loom_outside_thread_joins_a_handle() {
    check(|| {
        let pool = pool(1);
        assert_eq!(pool.spawn(|| 5).join(), 5);
    });
}

/// The handle may be dropped before the task ends, at the same time, or after that. In each case
/// one thread reports the panic.
#[test]
fn loom_unwanted_panic_is_reported_once() {
    check(|| {
        let reports = Arc::new(AtomicUsize::new(0));
        let reported = reports.clone();
        let pool = Pool::builder()
            .workers(1)
            .max_threads(1)
            // Relaxed: the end of the pool orders this and the check.
            .on_panic(move |_| _ = reported.fetch_add(1, Ordering::Relaxed))
            .build()
            .expect("valid options");
        drop(pool.spawn(|| std::panic::resume_unwind(Box::new("as the model wants"))));
        drop(pool);
        assert_eq!(reports.load(Ordering::Relaxed), 1);
    });
}

/// The worker may end the task, and so the pool, before the other thread has queued another task
/// for the closure.
#[test]
fn loom_polled_handle_queues_before_the_end() {
    check_part(|| {
        let pool = pool(1);
        let mut handle = pool.spawn(|| 5);
        loom::explore();
        let ending = loom::thread::spawn(move || drop(pool));
        let mut context = Context::from_waker(Waker::noop());
        let polled = Pin::new(&mut handle).poll(&mut context);
        ending.join().expect("the pool ends");
        loom::stop_exploring();
        let result = match polled {
            Poll::Ready(result) => Some(result),
            Poll::Pending => handle.result_if_ready().ok(),
        };
        assert_eq!(result, Some(5));
    });
}

/// The task may end while a poll replaces the waker of the poll before.
#[test]
fn loom_panic_of_replaced_waker_is_caught() {
    struct Explosive;

    impl Wake for Explosive {
        fn wake(self: std::sync::Arc<Self>) {}
    }

    impl Drop for Explosive {
        fn drop(&mut self) {
            std::panic::resume_unwind(Box::new("as the model wants"));
        }
    }

    check_part(|| {
        let pool = pool(1);
        let mut handle = pool.spawn(|| 5);
        let first = Waker::from(std::sync::Arc::new(Explosive));
        let polled = Pin::new(&mut handle).poll(&mut Context::from_waker(&first));
        if polled.is_ready() {
            std::mem::forget(first);
            return;
        }
        drop(first);
        loom::explore();
        let _ = Pin::new(&mut handle).poll(&mut Context::from_waker(Waker::noop()));
        loom::stop_exploring();
    });
}

/// The worker may begin the task before the handle is dropped, at the same time, or after that.
#[test]
fn loom_aborted_closure_is_dropped_once() {
    check(|| {
        let pool = pool(1);
        let drops = Arc::new(AtomicUsize::new(0));
        let captured = CountDrop(drops.clone());
        drop(pool.spawn(move || drop(captured)).abort_on_drop());
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

/// The worker may begin the task before the handle aborts it, at the same time, or after that.
#[test]
fn loom_aborted_closure_is_joined() {
    check(|| {
        let pool = pool(1);
        let handle = pool.spawn(|| 5);
        handle.abort();
        match handle.join_result() {
            Ok(value) => assert_eq!(value, 5),
            Err(payload) => assert!(payload.is::<crate::Cancelled>()),
        }
    });
}

/// One thread wakes a pending future while another aborts it. The worker may still be in the first
/// poll, and may poll the future once more.
#[test]
fn loom_aborted_future_races_its_waker() {
    check_part(|| {
        let pool = pool(1);
        let (drops, polled) = (Arc::new(AtomicUsize::new(0)), Arc::new(Parker::new()));
        let (give, given) = std::sync::mpsc::channel();
        let (captured, polls, mut is_first) = (CountDrop(drops.clone()), polled.clone(), true);
        let future = std::future::poll_fn(move |context| {
            let drops = captured.0.load(Ordering::Relaxed);
            assert_eq!(drops, 0, "polled after its drop");
            if std::mem::take(&mut is_first) {
                give.send(context.waker().clone()).expect("main receives");
                polls.unpark();
            }
            Poll::<()>::Pending
        });
        let handle = pool.spawn_future(future).abort_on_drop();
        polled.park();
        let waker = given.recv().expect("the first poll has sent it");
        loom::explore();
        let wakes = waker.clone();
        let waking = loom::thread::spawn(move || wakes.wake());
        drop(handle);
        waking.join().expect("a waker does not panic");
        loom::stop_exploring();
        drop(pool);
        assert_eq!(drops.load(Ordering::Relaxed), 1);
        // Not earlier: a future without wakers would end by itself.
        drop(waker);
    });
}
