//! The packet that a spawned task and its handle share: first the closure, then the result.

use std::sync::{Arc, Weak};
use std::task::Waker;
use tidegate_core::Origin;
use tidegate_core::door::{
    Event, Hold, Payload, PoolInner, TaskSpan, UnhandledPanic, carry, unwind,
};
use tidegate_policy::Priority;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;

pub(super) enum State<T> {
    Unstarted(Unstarted<T>),
    Running(Running),
    Finished(Result<T, Payload>),
    /// A handle has aborted the task. The task in the pool's queues will drop the closure.
    Aborted(Unstarted<T>),
    /// The result has been taken, or dropped because the handle was dropped.
    Over,
}

type Closure<T> = Box<dyn FnOnce() -> T + Send>;

pub(super) struct Unstarted<T> {
    closure: Closure<T>,
    waiter: Option<Waiter>,
}

impl<T: 'static> Unstarted<T> {
    fn raise(&mut self, class: Priority) {
        let lost = || unreachable!("the closure is put back at once");
        let closure = std::mem::replace(&mut self.closure, Box::new(lost));
        self.closure = Box::new(move || carry::run_raised(class, closure));
    }
}

#[derive(Default)]
pub(super) struct Running {
    /// The serial number of the thread that runs the task. A number from `with_number` could pass
    /// to another thread before the task ends, if the task runs while thread-local values are being
    /// destroyed. `None` for a future that is not being polled.
    by: Option<u64>,
    waiter: Option<Waiter>,
}

/// What to notify when the task ends.
pub(super) enum Waiter {
    /// The thread in [`Handle::join_timeout`](super::Handle::join_timeout).
    Event(Arc<Event>),
    /// The thread in [`Handle::join`](super::Handle::join). It is also notified when the future can
    /// be polled.
    Driver(Arc<Event>),
    /// The waker of the task that last polled the handle.
    Waker(Waker),
}

/// A future, as seen by a thread that joins it.
pub(super) trait Drive: Send + Sync {
    fn is_queued(&self) -> bool;
    /// Polls the future on the calling thread if it is queued. If the future wakes itself, polls it
    /// again, up to a limit.
    fn poll_queued(self: Arc<Self>);
    /// Polls the future in this class from now on, and at least once more, if the class is more
    /// urgent than the future's.
    fn raise(self: Arc<Self>, class: Priority);
    /// Makes a task drop the future. If a thread is polling it, that thread drops it after the
    /// poll.
    fn abort(self: Arc<Self>);
}

pub(super) struct Packet<T> {
    pub(super) inside: Mutex<Inside<T>>,
    /// The future, if this is the packet of a future.
    future: Option<Weak<dyn Drive>>,
    origin: Origin,
}

pub(super) struct Inside<T> {
    state: State<T>,
    /// Whether the handle was dropped.
    is_dropped: bool,
    /// Whether the handle that was dropped aborts the task.
    is_aborted: bool,
    /// Whether the future's last waker was dropped while it waited.
    is_lost: bool,
    /// How many classes are at most as urgent as the most urgent one in which another task that
    /// runs the closure has been queued, because a waiter could not run it; 0 if there is no such
    /// task.
    queued_at: u8,
}

impl<T> Packet<T> {
    /// Creates the packet of a closure.
    pub(super) fn of(origin: Origin, closure: impl FnOnce() -> T + Send + 'static) -> Arc<Self> {
        let unstarted = Unstarted {
            closure: Box::new(closure),
            waiter: None,
        };
        Arc::new(Self::new(State::Unstarted(unstarted), None, origin))
    }

    /// Creates the packet of a future, which calls [`finish`](Self::finish) itself.
    pub(super) fn of_future(origin: Origin, future: Weak<dyn Drive>) -> Arc<Self> {
        let state = State::Running(Running::default());
        Arc::new(Self::new(state, Some(future), origin))
    }

    fn new(state: State<T>, future: Option<Weak<dyn Drive>>, origin: Origin) -> Self {
        let inside = Inside {
            state,
            is_dropped: false,
            is_aborted: false,
            is_lost: false,
            queued_at: 0,
        };
        Self {
            inside: Mutex::new(inside),
            future,
            origin,
        }
    }

    pub(super) fn is_unstarted(&self) -> bool {
        matches!(self.inside.lock().state, State::Unstarted(_))
    }

    pub(super) fn is_finished(&self) -> bool {
        let inside = self.inside.lock_unless_lost();
        inside.is_some_and(|inside| matches!(inside.state, State::Finished(_)))
    }

    pub(super) fn is_future(&self) -> bool {
        self.future.is_some()
    }

    /// Returns the future, unless it has been dropped.
    pub(super) fn future(&self) -> Option<Arc<dyn Drive>> {
        self.future.as_ref()?.upgrade()
    }

    /// Notifies the thread in `join`, if any, that the future can be polled.
    pub(super) fn wake_driver(&self) {
        let mut inside = self.inside.lock();
        let State::Running(running) = &mut inside.state else {
            return;
        };
        let driver = running.waiter.take_if(|w| matches!(w, Waiter::Driver(_)));
        drop(inside);
        if let Some(Waiter::Driver(event)) = driver {
            // The caller is in the middle of a task, so it keeps its slot.
            event.open_owed();
        }
    }

    /// Records which thread polls the future. `None` if no thread does.
    pub(super) fn set_polled_by(&self, thread: Option<u64>) {
        if let State::Running(running) = &mut self.inside.lock().state {
            running.by = thread;
        }
    }

    /// Runs the closure, or drops it if it was aborted, and returns `true`, unless another thread
    /// has begun the closure.
    pub(super) fn run(&self, pool: &PoolInner) -> bool {
        let closure = {
            let Some(mut inside) = self.inside.lock_unless_lost() else {
                // A thread of the parent process was about to run the closure.
                return false;
            };
            match std::mem::replace(&mut inside.state, State::Over) {
                State::Unstarted(Unstarted {
                    closure, waiter, ..
                }) => {
                    // The task in the pool's queues, which holds the pool, has not run. If a handle
                    // runs the closure, that task may end before the closure does.
                    pool.hold();
                    let by = Some(serial::of_this_thread());
                    inside.state = State::Running(Running { by, waiter });
                    closure
                }
                State::Aborted(Unstarted {
                    closure, waiter, ..
                }) => {
                    drop(inside);
                    // The destructors are user code, which must not unwind out of a detached task.
                    if let Err(payload) = unwind::catch(|| drop(closure)) {
                        self.report(payload, UnhandledPanic::Task, pool);
                    }
                    discard(waiter, pool);
                    // A destructor may take as long as a task.
                    return true;
                }
                other => {
                    inside.state = other;
                    return false;
                }
            }
        };
        let ended = {
            let _span = self.span(pool);
            unwind::catch(closure)
        };
        self.finish(ended, pool);
        pool.let_go();
        true
    }

    pub(super) fn finish(&self, result: Result<T, Payload>, pool: &PoolInner) {
        let mut inside = self.inside.lock();
        if !inside.is_dropped {
            let before = std::mem::replace(&mut inside.state, State::Finished(result));
            drop(inside);
            if let State::Running(Running { waiter, .. }) = before {
                waiter.into_iter().for_each(|waiter| waiter.notify(pool));
            }
            return;
        }
        let before = std::mem::replace(&mut inside.state, State::Over);
        drop(inside);
        // No handle is left, so a panic is reported, and the result is dropped here.
        let dropped = unwind::catch(|| {
            drop(before);
            result.map(drop)
        });
        if let Ok(Err(payload)) | Err(payload) = dropped {
            self.report_unless_unwanted(payload, pool);
        }
    }

    /// Records the task, if the pool records a trace, until the result is dropped.
    pub(super) fn span(&self, pool: &PoolInner) -> Option<TaskSpan<'static>> {
        TaskSpan::begin_in(pool, &self.origin)
    }

    /// Reports a panic of the task that no handle resumes.
    pub(super) fn report(&self, payload: Payload, from: UnhandledPanic, pool: &PoolInner) {
        pool.panics.report_of(payload, from, Some(&self.origin));
    }

    /// Records that nothing can continue the future, which is about to end with a panic.
    pub(super) fn set_lost(&self) {
        self.inside.lock().is_lost = true;
    }

    /// Reports the panic of a task whose handle was dropped. A future that nothing can continue has
    /// not failed if its handle has aborted it.
    fn report_unless_unwanted(&self, payload: Payload, pool: &PoolInner) {
        let inside = self.inside.lock_unless_lost();
        let is_unwanted = inside.is_some_and(|inside| inside.is_lost && inside.is_aborted);
        match is_unwanted {
            true => unwind::let_go(payload),
            false => self.report(payload, UnhandledPanic::Task, pool),
        }
    }

    /// Takes the result. Returns `None` if the task has not finished.
    pub(super) fn take(&self) -> Option<Result<T, Payload>> {
        let mut inside = self.inside.lock_unless_lost()?;
        match std::mem::replace(&mut inside.state, State::Over) {
            State::Finished(result) => Some(result),
            other => {
                inside.state = other;
                None
            }
        }
    }

    /// Registers what to notify when the task ends, and replaces the previous waiter. Does nothing
    /// if the task has finished.
    pub(super) fn register(&self, waiter: Waiter, pool: &PoolInner) -> Registered {
        let Some(mut inside) = self.inside.lock_unless_lost() else {
            return Registered::InParent;
        };
        let (slot, registered) = match &mut inside.state {
            State::Unstarted(unstarted) => (&mut unstarted.waiter, Registered::Unstarted),
            State::Running(running) => (&mut running.waiter, Registered::Running(running.by)),
            State::Finished(_) | State::Aborted(_) | State::Over => return Registered::Finished,
        };
        let before = slot.replace(waiter);
        drop(inside);
        // Not under the lock.
        discard(before, pool);
        registered
    }

    /// Called when a handle that aborts its task is dropped, before `abandon`. Returns whether the
    /// task is running.
    pub(super) fn abort(&self) -> bool {
        let Some(mut inside) = self.inside.lock_unless_lost() else {
            return false;
        };
        inside.state = match std::mem::replace(&mut inside.state, State::Over) {
            State::Unstarted(unstarted) => State::Aborted(unstarted),
            other => other,
        };
        matches!(inside.state, State::Running(_))
    }

    /// Called when the handle is dropped, which aborts the task if `aborts`. Drops the result, and
    /// reports its panic, because no handle will resume it.
    pub(super) fn abandon(&self, aborts: bool, pool: &PoolInner) {
        let Some(mut inside) = self.inside.lock_unless_lost() else {
            return;
        };
        inside.is_dropped = true;
        inside.is_aborted = aborts;
        let state = &mut inside.state;
        let (waiter, result) = match state {
            State::Unstarted(unstarted) | State::Aborted(unstarted) => {
                (unstarted.waiter.take(), None)
            }
            State::Running(running) => (running.waiter.take(), None),
            State::Finished(_) => (None, Some(std::mem::replace(state, State::Over))),
            State::Over => (None, None),
        };
        drop(inside);
        discard(waiter, pool);
        let Some(State::Finished(result)) = result else {
            return;
        };
        if let Ok(Err(payload)) | Err(payload) = unwind::catch(|| result.map(drop)) {
            self.report_unless_unwanted(payload, pool);
        }
    }
}

impl<T: 'static> Packet<T> {
    /// Gives the closure the class of its waiter, unless a thread has begun it.
    pub(super) fn raise(&self, class: Priority) {
        let Some(mut inside) = self.inside.lock_unless_lost() else {
            return;
        };
        if let State::Unstarted(unstarted) = &mut inside.state {
            unstarted.raise(class);
        }
    }

    /// If no thread has begun the closure, and no waiter that is as urgent has asked for this
    /// before, gives the closure the class of its waiter (`None` stands for the class of the pool).
    /// Returns a hold on the pool, with which the caller must queue a task that runs the closure.
    pub(super) fn hold_to_queue(
        &self,
        pool: &Arc<PoolInner>,
        class: Option<Priority>,
    ) -> Option<Hold> {
        let mut inside = self.inside.lock();
        let Inside {
            state, queued_at, ..
        } = &mut *inside;
        let State::Unstarted(unstarted) = state else {
            return None;
        };
        let effective = class.unwrap_or(pool.options.priority) as u8 + 1;
        if *queued_at >= effective {
            return None;
        }
        *queued_at = effective;
        if let Some(class) = pool.classes.above(class) {
            unstarted.raise(class);
        }
        // The first task has not run, so it still holds the pool.
        Some(Hold::of(pool))
    }
}

/// The state of a task at the moment of [`Packet::register`].
pub(super) enum Registered {
    Finished,
    Unstarted,
    /// The thread with this serial number runs the task. `None` for a future that is not being
    /// polled.
    Running(Option<u64>),
    /// The lock is lost, because a thread of the parent process held it during the fork.
    InParent,
}

impl Waiter {
    fn notify(self, pool: &PoolInner) {
        match self {
            Self::Event(event) | Self::Driver(event) => event.open_kept(),
            Self::Waker(waker) => call_waker(pool, || waker.wake()),
        }
    }
}

/// Drops a waiter that need not be notified.
fn discard(waiter: Option<Waiter>, pool: &PoolInner) {
    if waiter.is_some() {
        call_waker(pool, || drop(waiter));
    }
}

/// Calls a function of a waker, which is user code. Catches and reports its panic, which must not
/// unwind out of a detached task or out of a handle.
fn call_waker(pool: &PoolInner, f: impl FnOnce()) {
    if let Err(payload) = unwind::catch(f) {
        let kind = UnhandledPanic::Handler("waker");
        pool.panics.report(payload, kind);
    }
}
