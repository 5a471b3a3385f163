//! The packet that a spawned task and its handle share: first the closure, then the result.

use std::sync::{Arc, Weak};
use std::task::Waker;
use tidegate_core::Origin;
use tidegate_core::door::{
    Event, Hold, Payload, PoolInner, RunShared, SharedTask, TaskSpan, UnhandledPanic, WorkerThread,
    carry, unwind,
};
use tidegate_policy::Priority;
use tidegate_sync::UnsafeCell;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;

pub(super) enum State<T> {
    Unstarted(Option<Waiter>),
    Running(Running),
    Finished(Result<T, Payload>),
    /// A handle has aborted the task. The task in the pool's queues will drop the closure.
    Aborted(Option<Waiter>),
    /// The result has been taken, or dropped because the handle was dropped.
    Over,
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

/// The closure of a packet. The thread that takes the packet out of the state `Unstarted` or
/// `Aborted` uses it, once.
pub(super) trait Body<T>: Send {
    fn call(&mut self) -> T;
    fn discard(&mut self);
}

impl<T, F: FnOnce() -> T + Send> Body<T> for Option<F> {
    #[inline]
    fn call(&mut self) -> T {
        self.take().expect("called once")()
    }

    fn discard(&mut self) {
        *self = None;
    }
}

/// A packet as its handle sees it, whatever the closure.
pub(super) type Cell<T> = SharedTask<Packet<T, dyn Body<T>>>;

/// The closure is in a field of its own, so that a packet takes one allocation.
pub(super) struct Packet<T, B: ?Sized> {
    pub(super) inside: Mutex<Inside<T>>,
    /// Held until the closure or the future has ended.
    pub(super) pool: Arc<PoolInner>,
    /// The future, if this is the packet of a future.
    future: Option<Weak<dyn Drive>>,
    origin: Origin,
    queued: Queueing,
    body: UsedOnce<B>,
}

struct UsedOnce<B: ?Sized>(UnsafeCell<B>);

// SAFETY: one thread uses the body, once: the one that has taken the packet, under the lock, out of
// the state `Unstarted` or `Aborted`.
unsafe impl<B: Send + ?Sized> Sync for UsedOnce<B> {}

/// How the task was queued when it was spawned.
#[derive(Clone, Copy, Default)]
pub(super) struct Queueing {
    /// `None` stands for the class of the pool.
    pub(super) class: Option<Priority>,
    /// Whether the task counts for the bound of the queue.
    pub(super) is_counted: bool,
}

pub(super) struct Inside<T> {
    state: State<T>,
    /// The class of the most urgent waiter, if the closure has not begun.
    raised: Option<Priority>,
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

/// Creates the packet of a closure, which holds the pool until the closure has ended.
#[inline]
pub(super) fn of_closure<T, F>(
    pool: Arc<PoolInner>,
    origin: Origin,
    queued: Queueing,
    closure: F,
) -> Arc<SharedTask<Packet<T, Option<F>>>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    pool.hold();
    SharedTask::new(Packet {
        queued,
        ..Packet::new(pool, State::Unstarted(None), None, origin, Some(closure))
    })
}

/// Creates the packet of a future, which calls [`finish`](Packet::finish) itself.
pub(super) fn of_future<T: Send + 'static>(
    pool: Arc<PoolInner>,
    origin: Origin,
    future: Weak<dyn Drive>,
) -> Arc<Cell<T>> {
    let state = State::Running(Running::default());
    SharedTask::new(Packet::new(
        pool,
        state,
        Some(future),
        origin,
        None::<fn() -> T>,
    ))
}

impl<T, B> Packet<T, B> {
    #[inline]
    fn new(
        pool: Arc<PoolInner>,
        state: State<T>,
        future: Option<Weak<dyn Drive>>,
        origin: Origin,
        body: B,
    ) -> Self {
        let inside = Inside {
            state,
            raised: None,
            is_dropped: false,
            is_aborted: false,
            is_lost: false,
            queued_at: 0,
        };
        Self {
            inside: Mutex::new(inside),
            pool,
            future,
            origin,
            queued: Queueing::default(),
            body: UsedOnce(UnsafeCell::new(body)),
        }
    }
}

impl<T, F> RunShared for Packet<T, Option<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    fn run(task: &SharedTask<Self>, current: WorkerThread<'_>) {
        run_as_task(task, task.queued, current);
    }
}

/// Runs the closure in a packet as a task that was queued like this.
#[inline]
pub(super) fn run_as_task<T, B: Body<T> + ?Sized>(
    packet: &Packet<T, B>,
    queued: Queueing,
    current: WorkerThread<'_>,
) {
    if let Some(bound) = current
        .pool()
        .spawn_bound
        .as_ref()
        .filter(|_| queued.is_counted)
    {
        bound.leave();
    }
    let dispatched = current.take_dispatched();
    if !packet.run() && dispatched {
        current.pool().sources.classes.give_turn_back(queued.class);
    }
}

impl<T, B: Body<T> + ?Sized> Packet<T, B> {
    pub(super) fn is_unstarted(&self) -> bool {
        matches!(self.inside.lock().state, State::Unstarted(_))
    }

    pub(super) fn is_finished(&self) -> bool {
        matches!(self.inside.lock().state, State::Finished(_))
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
    pub(super) fn run(&self) -> bool {
        let raised = {
            let mut inside = self.inside.lock();
            match std::mem::replace(&mut inside.state, State::Over) {
                State::Unstarted(waiter) => {
                    let by = Some(serial::of_this_thread());
                    inside.state = State::Running(Running { by, waiter });
                    inside.raised
                }
                State::Aborted(waiter) => {
                    drop(inside);
                    self.drop_closure(waiter);
                    return true;
                }
                other => {
                    inside.state = other;
                    return false;
                }
            }
        };
        let ended = {
            let _span = self.span();
            let call = || {
                // SAFETY: this thread has taken the packet out of `Unstarted`.
                self.body.0.with_mut(|body| unsafe { &mut *body }.call())
            };
            unwind::catch(|| match raised {
                Some(class) => carry::run_raised(class, call),
                None => call(),
            })
        };
        self.finish(ended);
        self.pool.let_go();
        true
    }

    #[cold]
    fn drop_closure(&self, waiter: Option<Waiter>) {
        // The destructors are user code, which must not unwind out of a detached task.
        let discard_body = || {
            // SAFETY: this thread has taken the packet out of `Aborted`.
            self.body.0.with_mut(|body| unsafe { &mut *body }.discard());
        };
        if let Err(payload) = unwind::catch(discard_body) {
            self.report(payload, UnhandledPanic::Task);
        }
        discard(waiter, &self.pool);
        self.pool.let_go();
    }

    pub(super) fn finish(&self, result: Result<T, Payload>) {
        let mut inside = self.inside.lock();
        if !inside.is_dropped {
            let before = std::mem::replace(&mut inside.state, State::Finished(result));
            drop(inside);
            if let State::Running(Running { waiter, .. }) = before {
                waiter
                    .into_iter()
                    .for_each(|waiter| waiter.notify(&self.pool));
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
            self.report_unless_unwanted(payload);
        }
    }

    /// Records the task, if the pool records a trace, until the result is dropped.
    pub(super) fn span(&self) -> Option<TaskSpan<'static>> {
        TaskSpan::begin_in(&self.pool, &self.origin)
    }

    /// Reports a panic of the task that no handle resumes.
    pub(super) fn report(&self, payload: Payload, from: UnhandledPanic) {
        self.pool
            .panics
            .report_of(payload, from, Some(&self.origin));
    }

    /// Records that nothing can continue the future, which is about to end with a panic.
    pub(super) fn set_lost(&self) {
        self.inside.lock().is_lost = true;
    }

    /// Reports the panic of a task whose handle was dropped. A future that nothing can continue has
    /// not failed if its handle has aborted it.
    fn report_unless_unwanted(&self, payload: Payload) {
        let is_unwanted = {
            let inside = self.inside.lock();
            inside.is_lost && inside.is_aborted
        };
        match is_unwanted {
            true => unwind::discard(payload),
            false => self.report(payload, UnhandledPanic::Task),
        }
    }

    /// Takes the result. Returns `None` if the task has not finished.
    pub(super) fn take(&self) -> Option<Result<T, Payload>> {
        let mut inside = self.inside.lock();
        match std::mem::replace(&mut inside.state, State::Over) {
            State::Finished(result) => Some(result),
            other => {
                inside.state = other;
                None
            }
        }
    }

    /// Registers what to notify when the task ends, and replaces the previous waiter. Does nothing
    /// if the task has finished. Aborts a child made by `fork`, in which the task never ends.
    pub(super) fn register(&self, waiter: Waiter) -> Registered {
        let mut inside = self.inside.lock();
        let (slot, registered) = match &mut inside.state {
            State::Unstarted(waiter) => (waiter, Registered::Unstarted),
            State::Running(running) => (&mut running.waiter, Registered::Running(running.by)),
            State::Finished(_) | State::Aborted(_) | State::Over => return Registered::Finished,
        };
        self.pool.check_process();
        let before = slot.replace(waiter);
        drop(inside);
        // Not under the lock.
        discard(before, &self.pool);
        registered
    }

    /// Called when a handle that aborts its task is dropped, before `abandon`. Returns whether the
    /// task is running.
    pub(super) fn abort(&self) -> bool {
        let mut inside = self.inside.lock();
        inside.state = match std::mem::replace(&mut inside.state, State::Over) {
            State::Unstarted(waiter) => State::Aborted(waiter),
            other => other,
        };
        matches!(inside.state, State::Running(_))
    }

    /// Called when the handle is dropped, which aborts the task if `aborts`. Drops the result, and
    /// reports its panic, because no handle will resume it.
    pub(super) fn abandon(&self, aborts: bool) {
        let mut inside = self.inside.lock();
        inside.is_dropped = true;
        inside.is_aborted = aborts;
        let state = &mut inside.state;
        let (waiter, result) = match state {
            State::Unstarted(waiter) | State::Aborted(waiter) => (waiter.take(), None),
            State::Running(running) => (running.waiter.take(), None),
            State::Finished(_) => (None, Some(std::mem::replace(state, State::Over))),
            State::Over => (None, None),
        };
        drop(inside);
        discard(waiter, &self.pool);
        let Some(State::Finished(result)) = result else {
            return;
        };
        if let Ok(Err(payload)) | Err(payload) = unwind::catch(|| result.map(drop)) {
            self.report_unless_unwanted(payload);
        }
    }

    /// Gives the closure the class of its waiter, unless a thread has begun it.
    pub(super) fn raise(&self, class: Priority) {
        let mut inside = self.inside.lock();
        inside.raised = inside.raised.max(Some(class));
    }

    /// If no thread has begun the closure, and no waiter that is as urgent has asked for this
    /// before, gives the closure the class of its waiter (`None` stands for the class of the pool).
    /// Returns a hold on the pool, with which the caller must queue a task that runs the closure.
    pub(super) fn hold_to_queue(&self, class: Option<Priority>) -> Option<Hold> {
        let mut inside = self.inside.lock();
        if !matches!(inside.state, State::Unstarted(_)) {
            return None;
        }
        let effective = class.unwrap_or(self.pool.options.priority) as u8 + 1;
        if inside.queued_at >= effective {
            return None;
        }
        inside.queued_at = effective;
        inside.raised = inside.raised.max(self.pool.sources.classes.above(class));
        // The closure has not ended, so the packet still holds the pool.
        Some(Hold::of(&self.pool))
    }
}

/// The state of a task at the moment of [`Packet::register`].
pub(super) enum Registered {
    Finished,
    Unstarted,
    /// The thread with this serial number runs the task. `None` for a future that is not being
    /// polled.
    Running(Option<u64>),
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
