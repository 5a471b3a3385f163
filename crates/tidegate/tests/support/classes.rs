//! Pools in which a test decides when queued tasks begin, and a list of those that have begun.

use super::built;
use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use tidegate::policy::{Choose, Priority, QueueKind};
use tidegate::{Builder, Handle, Pool};

/// A pool whose workers run the split deque and have no spare threads.
pub fn builder(workers: usize) -> Builder {
    let builder = Pool::builder().queue(QueueKind::Split).workers(workers);
    builder.max_threads(workers)
}

pub fn alone() -> Pool {
    built(builder(1))
}

/// Occupies all workers of the pool until the test drops the result.
pub fn occupy(pool: &Pool) -> Vec<Sender<()>> {
    let occupied = (0..pool.workers()).map(|_| {
        let (started, has_started) = channel();
        let (release, released) = channel();
        pool.spawn(move || {
            started.send(()).unwrap();
            let _: Result<(), _> = released.recv();
        });
        has_started.recv().unwrap();
        release
    });
    occupied.collect()
}

/// The names of tasks in the order in which they began.
#[derive(Clone, Default)]
pub struct Begun(Arc<Mutex<Vec<String>>>);

impl Begun {
    pub fn note(&self, name: impl Into<String>) {
        self.0.lock().unwrap().push(name.into());
    }

    /// Returns a task that only notes its name.
    pub fn task(&self, name: &str) -> impl FnOnce() + Send + use<> {
        let (begun, name) = (self.clone(), name.to_owned());
        move || begun.note(name)
    }

    /// Runs the pool's tasks to the end, and returns their names.
    pub fn end(self, pool: Pool) -> String {
        drop(pool);
        self.0.lock().unwrap().join(" ")
    }
}

pub fn spawn<T: Send + 'static>(
    pool: &Pool,
    class: Priority,
    f: impl FnOnce() -> T + Send + 'static,
) -> Handle<T> {
    pool.task().priority(class).spawn(f)
}

/// Like `spawn`, in the calling task's pool.
pub fn spawn_here<T: Send + 'static>(
    class: Priority,
    f: impl FnOnce() -> T + Send + 'static,
) -> Handle<T> {
    tidegate::task().priority(class).spawn(f)
}

/// Polls the handle once, as a future that awaits it would.
pub fn poll<T: Send + 'static>(handle: &mut Handle<T>) {
    let mut context = Context::from_waker(Waker::noop());
    assert!(Pin::new(handle).poll(&mut context).is_pending());
}
