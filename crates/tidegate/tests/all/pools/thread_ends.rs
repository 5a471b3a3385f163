//! Threads that use pools while their thread-local values are being destroyed.
//!
//! The test runs in a child, because its result depends on which thread numbers are free.

use crate::support::{Gate, Opens, built, pool, until, watched};
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use tidegate::policy::{Choose, WaitPolicy};
use tidegate::{Handle, Pool, WorkerLocal};
use tidegate_testkit::is_alone;

thread_local! {
    static AT_END: Cell<Option<AtEnd>> = const { Cell::new(None) };
    static ENDING: Cell<bool> = const { Cell::new(false) };
}

/// Calls a closure when its thread's local values are being destroyed.
struct AtEnd(Option<Box<dyn FnOnce()>>);

impl Drop for AtEnd {
    fn drop(&mut self) {
        ENDING.set(true);
        self.0.take().expect("dropped once")();
    }
}

/// Starts a thread that calls `f` while it ends, after it has given up its number. Waits for the
/// thread.
fn at_the_end_of_a_thread(f: impl FnOnce() + Send + 'static) {
    let thread = std::thread::spawn(|| {
        AT_END.set(Some(AtEnd(Some(Box::new(f)))));
        // The thread must get its number last, because Linux destroys the newest thread-local value
        // first.
        WorkerLocal::new(|| ()).with(|()| ());
    });
    thread.join().expect("the closure does not panic");
}

/// Starts a task on `pool` that joins `handle`. Returns when that task has ended or sleeps.
fn begin_to_join(handle: Handle<()>, pool: &Pool) -> Handle<std::thread::Result<()>> {
    let over = Arc::new(Gate::new());
    let asleep = || pool.stats().waiting.latch;
    let before = asleep();
    let joins = {
        let over = over.clone();
        move || {
            let _over = Opens(&over);
            catch_unwind(AssertUnwindSafe(|| handle.join()))
        }
    };
    let joining = pool.spawn(joins);
    // The statistics include the time of a worker that still sleeps on a latch.
    until(|| over.is_open() || asleep() > before);
    joining
}

/// The joining thread gets the number that the dying thread had when the task started.
#[test]
#[cfg_attr(windows, ignore = "no thread starts there while a destructor waits")]
fn handle_joins_dying_thread_task() {
    if !is_alone("pools::thread_ends::handle_joins_dying_thread_task") {
        return;
    }
    watched(|| {
        let dying = Arc::new(built(Pool::builder().workers(1).wait(WaitPolicy::HelpAny)));
        let joining = Arc::new(pool(1));
        let outcome = loop {
            let (send, receive) = mpsc::channel();
            let (dying, joining) = (dying.clone(), joining.clone());
            at_the_end_of_a_thread(move || {
                let (give, take) = mpsc::channel::<Handle<()>>();
                let task = move || {
                    let handle = take.recv().expect("it was spawned");
                    // If this is `false`, a thread of the pool has run the task, and the test tries
                    // again.
                    if ENDING.get() {
                        send.send(begin_to_join(handle, &joining)).unwrap();
                    }
                };
                dying.scope(|_| give.send(tidegate::spawn(task)).unwrap());
            });
            if let Ok(joined) = receive.recv() {
                break joined.join();
            }
        };
        assert!(outcome.is_ok(), "the joiner was taken for the dying thread");
    });
}
