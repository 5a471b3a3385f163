//! Detached tasks and their handles.
//!
//! A spawned closure and its result live in a [`Packet`] that task and handle share. Whoever takes the closure out first runs
//! it: a worker, or [`Handle::join`] itself if nobody has started it. All of it is under one small lock; a spawn is not
//! on the price list of a join.

use crate::job::Task;
use crate::latch::Event;
use crate::pool::Shared;
use crate::unwind::{self, Payload};
use crate::wait::Awaited;
use crate::worker::Current;
use std::fmt;
use std::sync::Arc;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;

enum State<T> {
    Unstarted(Box<dyn FnOnce() -> T + Send>),
    Running(Option<Arc<Event>>),
    Finished(Result<T, Payload>),
    /// The result was handed out, or nobody wants it.
    Over,
}

struct Packet<T> {
    state: Mutex<State<T>>,
    /// The handle was dropped; written and read under the lock of `state`.
    dropped: AtomicBool,
}

impl<T: Send> Packet<T> {
    /// Runs the closure if nobody has begun to.
    fn run(&self, pool: &Shared) {
        let closure = {
            let mut state = self.state.lock();
            match std::mem::replace(&mut *state, State::Running(None)) {
                State::Unstarted(closure) => closure,
                other => {
                    *state = other;
                    return;
                }
            }
        };
        self.finish(unwind::catch(closure), pool);
    }

    fn finish(&self, result: Result<T, Payload>, pool: &Shared) {
        let mut state = self.state.lock();
        // Relaxed: under the lock.
        if !self.dropped.load(Ordering::Relaxed) {
            let before = std::mem::replace(&mut *state, State::Finished(result));
            drop(state);
            if let State::Running(Some(event)) = before {
                event.open_kept();
            }
            return;
        }
        *state = State::Over;
        drop(state);
        // Nobody holds the handle: a panic is reported, and the result is dropped where it was made.
        match unwind::catch(|| result.map(drop)) {
            Ok(Ok(())) => {}
            Ok(Err(payload)) | Err(payload) => pool.report_panic(payload),
        }
    }
}

/// The result of a task to come; from [`spawn`](fn@crate::spawn).
///
/// Dropping the handle lets the task run on; its panic, if any, then goes to the pool's `on_panic`.
pub struct Handle<T> {
    /// None once joined.
    packet: Option<Arc<Packet<T>>>,
    pool: Arc<Shared>,
}

impl<T: Send> Handle<T> {
    /// Waits for the task and returns its result. A task that nobody has started runs right here.
    ///
    /// # Panics
    /// With the task's own panic.
    pub fn join(mut self) -> T {
        let packet = self.packet.take().expect("join consumes the handle");
        packet.run(&self.pool);
        if let Some(event) = self.register(&packet) {
            match Current::get() {
                Some(current) => current.wait(Awaited::Outside(&event)),
                None => event.park_thread(),
            }
        }
        let state = std::mem::replace(&mut *packet.state.lock(), State::Over);
        match state {
            State::Finished(Ok(value)) => value,
            State::Finished(Err(payload)) => unwind::resume(payload),
            _ => unreachable!("waited for the end"),
        }
    }

    /// What to wait for, unless the task has finished.
    fn register(&self, packet: &Packet<T>) -> Option<Arc<Event>> {
        let mut state = packet.state.lock();
        let State::Running(waiter) = &mut *state else {
            return None;
        };
        assert!(
            !self.pool.is_inherited(),
            "the task of this handle runs in the process that this one was forked from"
        );
        let event = Arc::new(Event::for_this_thread());
        *waiter = Some(event.clone());
        Some(event)
    }
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let Some(packet) = self.packet.take() else {
            return;
        };
        let finished = {
            let mut state = packet.state.lock();
            // Relaxed: under the lock.
            packet.dropped.store(true, Ordering::Relaxed);
            match &*state {
                State::Finished(_) => std::mem::replace(&mut *state, State::Over),
                _ => return,
            }
        };
        if let State::Finished(Err(payload)) = finished {
            self.pool.report_panic(payload);
        }
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

impl Shared {
    pub(crate) fn spawn<T, F>(self: &Arc<Self>, f: F) -> Handle<T>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let packet = Arc::new(Packet {
            state: Mutex::new(State::Unstarted(Box::new(f))),
            dropped: AtomicBool::new(false),
        });
        let caller = Current::get();
        let task = {
            let packet = packet.clone();
            Task::detached(move |current| packet.run(current.shared()), caller)
        };
        match caller {
            Some(current) if std::ptr::eq(current.shared(), &**self) => {
                if let Err(task) = current.push_task(task) {
                    current.pass_on(task);
                }
            }
            _ => {
                self.injector.push(task);
                self.work_visible(None);
                self.work_off_alone();
            }
        }
        Handle {
            packet: Some(packet),
            pool: self.clone(),
        }
    }
}
