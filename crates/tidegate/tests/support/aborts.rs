//! Running tasks whose handles tests drop, and values whose destructors panic.

use super::book::{Book, Tracked};
use super::{Gate, built};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex};
use tidegate::{Handle, Pool, TaskBuilder};

/// Spawns a task that owns a value and returns another. Returns when the task has begun; it ends
/// when the gate opens.
pub fn running(pool: &Pool, book: &Book) -> (Handle<Tracked>, Arc<Gate>) {
    let (captured, book) = (book.value(), book.clone());
    running_then(pool.task(), move || {
        drop(captured);
        book.value()
    })
}

/// Spawns a task. Returns when it has begun; it calls `end` when the gate opens.
pub fn running_then<T: Send + 'static>(
    task: TaskBuilder<'_>,
    end: impl FnOnce() -> T + Send + 'static,
) -> (Handle<T>, Arc<Gate>) {
    let (begun, go) = (Arc::new(Gate::new()), Arc::new(Gate::new()));
    let (begins, goes) = (begun.clone(), go.clone());
    let handle = task.spawn(move || {
        begins.open();
        goes.wait();
        end()
    });
    begun.wait();
    (handle, go)
}

/// The payloads of the panics that a pool reports.
pub type Reported = Arc<Mutex<Vec<usize>>>;

/// Returns a pool with one worker.
pub fn reporting_pool() -> (Pool, Reported) {
    let reported = Reported::default();
    let log = reported.clone();
    let pool = built(Pool::builder().workers(1).on_panic(move |report| {
        let payload = *report.payload.downcast::<usize>().unwrap();
        log.lock().unwrap().push(payload);
    }));
    (pool, reported)
}

/// A value whose destructor panics with this number.
pub struct Bomb(pub usize);

impl Drop for Bomb {
    fn drop(&mut self) {
        resume_unwind(Box::new(self.0));
    }
}
