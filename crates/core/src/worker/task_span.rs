//! Records which tasks a worker runs, while the pool records a trace.

use super::WorkerThread;
use crate::origin::Origin;
use crate::pool::PoolInner;
use crate::trace::Event;

/// A task that a worker has begun and that is being recorded. Dropping this records its end.
pub struct TaskSpan<'a>(WorkerThread<'a>);

impl<'a> TaskSpan<'a> {
    /// Records that a task begins, on top of those that the worker runs. `None` stands for a task
    /// without an origin. Returns `None` if the pool records no trace.
    #[inline]
    pub fn begin(
        worker: WorkerThread<'a>,
        origin: impl FnOnce() -> Option<Origin>,
    ) -> Option<Self> {
        let is_recording = worker.notes.is_recording();
        is_recording.then(|| Self::record(worker, origin()))
    }

    /// Like `begin`, for a thread that may be no worker of the pool. Then nothing is recorded.
    #[inline]
    pub fn begin_in(pool: &PoolInner, origin: &Origin) -> Option<Self> {
        if !pool.options.trace {
            return None;
        }
        let worker = WorkerThread::get().filter(|worker| std::ptr::eq(worker.pool(), pool));
        Self::begin(worker?, || Some(origin.clone()))
    }

    #[cold]
    fn record(worker: WorkerThread<'a>, origin: Option<Origin>) -> Self {
        let origins = &worker.pool().origins;
        let number = origin.map_or(0, |origin| origins.number(origin));
        worker.notes.note(Event::TaskBegins, &[number]);
        Self(worker)
    }
}

impl Drop for TaskSpan<'_> {
    fn drop(&mut self) {
        self.0.notes.note(Event::TaskEnds, &[]);
    }
}
