//! The packet that a spawned task and its handle share: first the closure, then the result.

use crate::cancel::Cancelled;
use std::mem;
use std::sync::Arc;
use std::task::Waker;
use tidegate_core::Origin;
use tidegate_core::door::{
    Event, Hold, Payload, PoolInner, RunShared, Shared, Task, TaskSpan, UnhandledPanic,
    WorkerThread, carry, unwind,
};
use tidegate_policy::Priority;
use tidegate_sync::UnsafeCell;
use tidegate_sync::atomic::{AtomicU32, AtomicU64, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;
use tidegate_sync::simulation;

/// Values of the packet's word: one phase, and any of the flags. docs/futures.md has the steps.
pub(super) mod word {
    pub(in super::super) const UNSTARTED: u32 = 0;
    pub(in super::super) const RUNNING: u32 = 1;
    pub(super) const FINISHED: u32 = 2;
    /// The handle has aborted the closure. The task in the pool's queues will drop it.
    pub(super) const ABORTED: u32 = 3;
    /// The result has been taken, or the aborted closure was dropped.
    pub(super) const OVER: u32 = 4;
    const PHASE: u32 = 7;

    /// The handle has written to `wait`.
    pub(super) const WAITED: u32 = 1 << 3;
    /// The handle was dropped.
    pub(super) const DROPPED: u32 = 1 << 4;
    /// The handle has aborted the task.
    pub(super) const ABORTS: u32 = 1 << 5;
    /// The future was dropped before it completed.
    pub(super) const LOST: u32 = 1 << 6;

    pub(super) fn phase(word: u32) -> u32 {
        word & PHASE
    }
}

use word::{ABORTED, ABORTS, DROPPED, FINISHED, LOST, OVER, RUNNING, UNSTARTED, WAITED, phase};

/// The value of `by` while no thread runs the task. It is no thread's number.
const NOBODY: u64 = 0;

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

/// What a packet contains. The closure and the result share their place, so that most packets fit
/// into 120 bytes, header and count included: docs/futures.md has the reason.
pub(super) enum Body<T, F> {
    Closure(F),
    /// The closure has begun or was dropped, or the task is a future.
    Nothing,
    Result(Result<T, Payload>),
}

// Three words of the user's closure, and what it carries.
#[cfg(all(target_os = "linux", target_pointer_width = "64", not(loom)))]
const _: () = assert!(size_of::<Packet<Body<u64, [usize; 4]>>>() <= 120 - 16);

/// A body, whatever its closure.
pub(super) trait AnyBody: Send {
    type Output;
    fn call(&mut self) -> Self::Output;
    fn put(&mut self, result: Result<Self::Output, Payload>);
    fn take(&mut self) -> Option<Result<Self::Output, Payload>>;
    fn clear(&mut self);
}

impl<T: Send, F: FnOnce() -> T + Send> AnyBody for Body<T, F> {
    type Output = T;

    #[inline]
    fn call(&mut self) -> T {
        match mem::replace(self, Self::Nothing) {
            Self::Closure(closure) => closure(),
            _ => unreachable!("a closure is called once"),
        }
    }

    #[inline]
    fn put(&mut self, result: Result<T, Payload>) {
        // There is nothing to drop: the closure was taken out.
        mem::forget(mem::replace(self, Self::Result(result)));
    }

    #[inline]
    fn take(&mut self) -> Option<Result<T, Payload>> {
        match mem::replace(self, Self::Nothing) {
            Self::Result(result) => Some(result),
            _ => None,
        }
    }

    fn clear(&mut self) {
        *self = Self::Nothing;
    }
}

/// A packet as its handle sees it, whatever the closure.
pub(super) type Cell<T> = Shared<Packet<dyn AnyBody<Output = T>>>;

pub(super) struct Packet<B: ?Sized> {
    word: AtomicU32,
    /// The serial number of the thread that runs the task, or [`NOBODY`]. A number from
    /// `with_number` could pass to another thread before the task ends, if the task runs while
    /// thread-local values are being destroyed.
    by: AtomicU64,
    /// What the handle leaves while it waits. Most packets have none, so they stay small.
    wait: Mutex<Option<Box<Wait>>>,
    /// Held until the closure or the future has ended.
    pub(super) pool: Arc<PoolInner>,
    origin: Origin,
    queued: Queueing,
    body: Owned<B>,
}

/// A value that belongs to one thread at a time. The body belongs to the thread that has taken the
/// phase out of `UNSTARTED` or `ABORTED`, or that ends the future; once the task has ended, to the
/// handle, unless that was dropped before.
struct Owned<V: ?Sized>(UnsafeCell<V>);

// SAFETY: only the thread to which the value belongs uses it.
unsafe impl<V: Send + ?Sized> Sync for Owned<V> {}

#[derive(Default)]
struct Wait {
    waiter: Option<Waiter>,
    /// The class of the most urgent waiter, if the closure has not begun.
    raised: Option<Priority>,
    /// How many classes are at most as urgent as the most urgent one in which another task that
    /// runs the closure has been queued, because a waiter could not run it; 0 if there is no such
    /// task.
    queued_at: u8,
}

/// How the task was queued when it was spawned.
#[derive(Clone, Copy, Default)]
pub(super) struct Queueing {
    /// `None` stands for the class of the pool.
    pub(super) class: Option<Priority>,
    /// Whether the task counts for the bound of the queue.
    pub(super) is_counted: bool,
}

/// Creates the packet of a closure, which holds the pool until the closure has ended, and the
/// packet's entry for a queue.
#[inline]
pub(super) fn of_closure<T, F>(
    pool: Arc<PoolInner>,
    origin: Origin,
    queued: Queueing,
    closure: F,
) -> (Cell<T>, Task)
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    pool.hold();
    let (packet, task) = Shared::with_entry(Packet {
        queued,
        ..Packet::new(pool, UNSTARTED, origin, Body::Closure(closure))
    });
    // SAFETY: 1. a cast to a trait object.
    (unsafe { packet.unsized_by(|packet| packet as _) }, task)
}

/// Creates the packet of a future, which calls [`finish`](Packet::finish) itself.
pub(super) fn of_future<T: Send + 'static>(pool: Arc<PoolInner>, origin: Origin) -> Cell<T> {
    let nothing = Body::<T, fn() -> T>::Nothing;
    let packet = Shared::new(Packet::new(pool, RUNNING, origin, nothing));
    // SAFETY: 1. a cast to a trait object.
    unsafe { packet.unsized_by(|packet| packet as _) }
}

impl<B> Packet<B> {
    #[inline]
    fn new(pool: Arc<PoolInner>, phase: u32, origin: Origin, body: B) -> Self {
        Self {
            word: AtomicU32::new(phase),
            by: AtomicU64::new(NOBODY),
            wait: Mutex::default(),
            pool,
            origin,
            queued: Queueing::default(),
            body: Owned(UnsafeCell::new(body)),
        }
    }
}

impl<T, F> RunShared for Packet<Body<T, F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    fn run(task: &Self, current: WorkerThread<'_>) {
        run_as_task(task, task.queued, current);
    }
}

/// Runs the closure in a packet as a task that was queued like this.
#[inline]
pub(super) fn run_as_task<B: AnyBody + ?Sized>(
    packet: &Packet<B>,
    queued: Queueing,
    current: WorkerThread<'_>,
) {
    let bound = current.pool().spawn_bound.as_ref();
    if let Some(bound) = bound.filter(|_| queued.is_counted) {
        bound.leave();
    }
    let dispatched = current.take_dispatched();
    let outer = current.set_spawned_at(Some(packet.origin.location()));
    let has_run = packet.run();
    current.set_spawned_at(outer);
    if !has_run && dispatched {
        current.pool().sources.classes.give_turn_back(queued.class);
    }
}

impl<B: AnyBody + ?Sized> Packet<B> {
    pub(super) fn is_unstarted(&self) -> bool {
        // Relaxed: `claim` decides, or the lock of `wait` orders this.
        phase(self.word.load(Ordering::Relaxed)) == UNSTARTED
    }

    /// Whether the handle can take the result.
    pub(super) fn is_finished(&self) -> bool {
        // Acquire pairs with `finish`: the caller sees what the task did.
        phase(self.word.load(Ordering::Acquire)) >= FINISHED
    }

    /// Notifies the thread in `join`, if any, that the future can be polled.
    pub(super) fn wake_driver(&self) {
        let driver = {
            let mut wait = self.wait.lock();
            let waiter = wait.as_mut().map(|wait| &mut wait.waiter);
            waiter.and_then(|waiter| waiter.take_if(|w| matches!(w, Waiter::Driver(_))))
        };
        if let Some(Waiter::Driver(event)) = driver {
            // The caller is in the middle of a task, so it keeps its slot.
            event.open_owed();
        }
    }

    /// Records which thread polls the future. `None` if no thread does.
    pub(super) fn set_polled_by(&self, thread: Option<u64>) {
        // Relaxed: only the thread itself looks for its number.
        self.by.store(thread.unwrap_or(NOBODY), Ordering::Relaxed);
    }

    /// Takes the packet out of the phase `UNSTARTED` or `ABORTED`. Returns the word before, or
    /// `None` if another thread has done so.
    #[inline]
    fn claim(&self) -> Option<u32> {
        // Relaxed: the exchange decides.
        let mut seen = self.word.load(Ordering::Relaxed);
        loop {
            let next = match phase(seen) {
                UNSTARTED => seen - UNSTARTED + RUNNING,
                ABORTED => seen - ABORTED + OVER,
                _ => return None,
            };
            // Acquire pairs with `abort`: what came before that call comes before the drop of the
            // closure. Relaxed on failure: the loop reads the word again.
            let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
            match (self.word).compare_exchange_weak(seen, next, success, failure) {
                Ok(_) => return Some(seen),
                Err(now) => seen = now,
            }
        }
    }

    /// Runs the closure, or drops it if it was aborted, and returns `true`, unless another thread
    /// has begun the closure.
    pub(super) fn run(&self) -> bool {
        let Some(before) = self.claim() else {
            return false;
        };
        if phase(before) == ABORTED {
            self.drop_closure();
            return true;
        }
        self.set_polled_by(Some(serial::of_this_thread()));
        let raised = match before & WAITED {
            0 => None,
            _ => self.wait.lock().as_ref().and_then(|wait| wait.raised),
        };
        let ended = {
            let _span = self.span();
            let call = || {
                // SAFETY: this thread has taken the packet out of `UNSTARTED`.
                self.body.0.with_mut(|body| unsafe { &mut *body }.call())
            };
            unwind::catch(|| carry::run_raised(raised, call))
        };
        self.finish(ended);
        self.pool.let_go();
        true
    }

    #[cold]
    fn drop_closure(&self) {
        // The destructors are user code, which must not unwind out of a detached task.
        let discard_body = || {
            // SAFETY: this thread has taken the packet out of `ABORTED`.
            self.body.0.with_mut(|body| unsafe { &mut *body }.clear());
        };
        if let Err(payload) = unwind::catch(discard_body) {
            self.report(payload, UnhandledPanic::Task);
        }
        self.pool.let_go();
    }

    /// Stores the result and notifies the waiter. If the handle was dropped, drops the result. The
    /// thread that ends the task calls this once.
    pub(super) fn finish(&self, result: Result<B::Output, Payload>) {
        // Acquire pairs with `abandon`: what came before the drop of the handle comes before the
        // drop of the result. Nobody looks at the phase any more.
        if self.word.load(Ordering::Acquire) & DROPPED != 0 {
            return self.drop_result(Some(result));
        }
        // SAFETY: the body belongs to this thread, which ends the task.
        self.body
            .0
            .with_mut(|body| unsafe { &mut *body }.put(result));
        // Release pairs with the Acquire of the handle, which takes the result; Acquire as above.
        let before = self.word.fetch_add(FINISHED - RUNNING, Ordering::AcqRel);
        if before & DROPPED != 0 {
            // SAFETY: the handle was dropped before the task had ended.
            self.drop_result(unsafe { self.take_result() });
        } else if before & WAITED != 0 {
            let waiter = self.take_waiter();
            waiter
                .into_iter()
                .for_each(|waiter| waiter.notify(&self.pool));
        }
    }

    /// Drops the result, and reports its panic, because no handle will resume it.
    fn drop_result(&self, result: Option<Result<B::Output, Payload>>) {
        let dropped = unwind::catch(|| result.map_or(Ok(()), |result| result.map(drop)));
        if let Ok(Err(payload)) | Err(payload) = dropped {
            self.report_unless_unwanted(payload);
        }
    }

    /// # Safety
    /// The body belongs to the caller.
    unsafe fn take_result(&self) -> Option<Result<B::Output, Payload>> {
        // SAFETY: guaranteed by the caller.
        self.body.0.with_mut(|body| unsafe { &mut *body }.take())
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

    /// Records that the future was dropped before it completed, and is about to end with a panic.
    pub(super) fn set_lost(&self) {
        // Relaxed: `finish` follows.
        self.word.fetch_or(LOST, Ordering::Relaxed);
    }

    /// Reports the panic of a task whose handle was dropped. A future that was dropped before it
    /// completed has not failed if its handle has aborted it.
    #[cold]
    fn report_unless_unwanted(&self, payload: Payload) {
        // Relaxed: the caller has seen the end of the task and the drop of the handle.
        let word = self.word.load(Ordering::Relaxed);
        if word & LOST != 0 && word & ABORTS != 0 {
            unwind::discard(payload);
        } else {
            self.report(payload, UnhandledPanic::Task);
        }
    }

    /// Takes the result for the handle. Returns `None` if the task has not finished.
    pub(super) fn take(&self) -> Option<Result<B::Output, Payload>> {
        // Acquire pairs with `finish`: the caller sees what the task did.
        match phase(self.word.load(Ordering::Acquire)) {
            FINISHED => {
                // Relaxed: no other thread takes the result.
                self.word.fetch_add(OVER - FINISHED, Ordering::Relaxed);
                // SAFETY: the task has ended, and its handle has not been dropped.
                unsafe { self.take_result() }
            }
            // The handle has taken no result yet, so it has aborted the closure.
            ABORTED | OVER => Some(Err(Box::new(Cancelled))),
            _ => None,
        }
    }

    /// Registers what to notify when the task ends, and replaces the previous waiter. Does nothing
    /// if the task has finished. Aborts a child made by `fork`, in which the task never ends.
    pub(super) fn register(&self, waiter: Waiter) -> Registered {
        if self.is_finished() {
            discard(Some(waiter), &self.pool);
            return Registered::Finished;
        }
        self.pool.check_process();
        let (unneeded, registered) = {
            let mut wait = self.wait.lock();
            let wait = wait.get_or_insert_default();
            let before = wait.waiter.replace(waiter);
            match self.set_waited() {
                UNSTARTED => (before, Registered::Unstarted),
                // Relaxed: the caller looks for its own number.
                RUNNING => (before, Registered::Running(self.by.load(Ordering::Relaxed))),
                // The end of the task takes the waiter before, if that was registered in time.
                _ => (mem::replace(&mut wait.waiter, before), Registered::Finished),
            }
        };
        // Not under the lock.
        discard(unneeded, &self.pool);
        registered
    }

    /// Makes the runner look at `wait`. Called under that lock. Returns the phase before.
    fn set_waited(&self) -> u32 {
        // Relaxed: the lock orders what the caller has written there.
        phase(self.word.fetch_or(WAITED, Ordering::Relaxed))
    }

    /// Makes sure that the closure never begins, if no thread has begun it. Called by the handle.
    /// Returns the phase before.
    pub(super) fn abort(&self) -> u32 {
        let abort = |seen| match phase(seen) {
            UNSTARTED => Some((seen - UNSTARTED + ABORTED) | ABORTS),
            _ => Some(seen | ABORTS),
        };
        // Release pairs with `claim`. Relaxed on failure: the loop reads the word again.
        let (success, failure) = (Ordering::Release, Ordering::Relaxed);
        let (Ok(before) | Err(before)) = self.word.fetch_update(success, failure, abort);
        simulation::access("has aborted a task");
        phase(before)
    }

    /// Wakes the task that has polled the handle, if any. An event would be one that `join_timeout`
    /// has left.
    pub(super) fn wake(&self) {
        if let Some(Waiter::Waker(waker)) = self.take_waiter() {
            call_waker(&self.pool, || waker.wake());
        }
    }

    fn take_waiter(&self) -> Option<Waiter> {
        self.wait.lock().as_mut()?.waiter.take()
    }

    /// Called once, when the handle is dropped. Drops the waiter, and the result if the task has
    /// finished.
    pub(super) fn abandon(&self) {
        // AcqRel pairs with `finish`, in both directions.
        let before = self.word.fetch_add(DROPPED, Ordering::AcqRel);
        if before & WAITED != 0 {
            discard(self.take_waiter(), &self.pool);
        }
        if phase(before) == FINISHED {
            // SAFETY: the task had ended before the handle was dropped.
            self.drop_result(unsafe { self.take_result() });
        }
    }

    /// Gives the closure the class of its waiter, unless a thread has begun it.
    pub(super) fn raise(&self, class: Priority) {
        let mut wait = self.wait.lock();
        let wait = wait.get_or_insert_default();
        wait.raised = wait.raised.max(Some(class));
        self.set_waited();
    }

    /// If no thread has begun the closure, and no waiter that is as urgent has asked for this
    /// before, gives the closure the class of its waiter (`None` stands for the class of the pool).
    /// Returns a hold on the pool, with which the caller must queue a task that runs the closure.
    /// The caller must have registered its waiter.
    pub(super) fn hold_to_queue(&self, class: Option<Priority>) -> Option<Hold> {
        let mut lock = self.wait.lock();
        if !self.is_unstarted() {
            return None;
        }
        let wait = lock.get_or_insert_default();
        let effective = class.unwrap_or(self.pool.options.priority) as u8 + 1;
        if wait.queued_at >= effective {
            return None;
        }
        wait.queued_at = effective;
        wait.raised = wait.raised.max(self.pool.sources.classes.above(class));
        // The packet still holds the pool: whoever claims the closure from now on finds `WAITED`,
        // and takes the lock before it calls the closure.
        Some(Hold::of(&self.pool))
    }
}

/// The state of a task at the moment of [`Packet::register`].
pub(super) enum Registered {
    Finished,
    Unstarted,
    /// The thread with this serial number runs the task, if any does.
    Running(u64),
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
