//! Detached tasks and their handles.
//!
//! A spawned closure and its result live in a [`Packet`] that the task and its handle share.
//! Whichever of a worker and [`Handle::join`] takes the closure out first runs it. One small lock
//! guards the packet: a spawn need not be as cheap as a join.

mod bound;
#[cfg(all(test, unix, not(any(loom, miri, tidegate_tsan))))]
mod forked_tests;

pub use bound::QueueFull;
pub(crate) use bound::SpawnBound;

use crate::job::Task;
use crate::pool::PoolInner;
use crate::pool::enter;
use crate::scope;
use crate::sleep::wake;
use crate::unwind::{self, Payload, UnhandledPanic};
use crate::worker::Event;
use crate::worker::WorkerThread;
use crate::worker::wait;
use std::fmt;
use std::sync::Arc;
use tidegate_sync::atomic::{AtomicBool, Ordering};
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;

enum State<T> {
    Unstarted(Unstarted<T>),
    Running(Running),
    Finished(Result<T, Payload>),
    /// The result was returned or dropped, or is not needed.
    Over,
}

struct Unstarted<T> {
    closure: Box<dyn FnOnce() -> T + Send>,
    waiter: Option<Arc<Event>>,
}

struct Running {
    /// The serial number of the thread that runs the task. A number from `with_number` could pass
    /// to another thread before the task ends, if the task runs while thread-local values are
    /// being destroyed.
    by: u64,
    waiter: Option<Arc<Event>>,
}

struct Packet<T> {
    state: Mutex<State<T>>,
    /// Whether the handle was dropped. Written and read under the lock of `state`.
    dropped: AtomicBool,
}

impl<T: Send> Packet<T> {
    fn is_unstarted(&self) -> bool {
        matches!(*self.state.lock(), State::Unstarted(_))
    }

    /// Runs the closure, unless another thread has begun to.
    fn run(&self, pool: &PoolInner) {
        let closure = {
            let Some(mut state) = self.state.lock_unless_lost() else {
                // In a child made by `fork`: a thread of its parent was about to run the task.
                return;
            };
            match std::mem::replace(&mut *state, State::Over) {
                State::Unstarted(Unstarted { closure, waiter }) => {
                    // The task in the pool's queues, which holds the pool, has not run yet. If a
                    // handle runs the closure, that task may end before the closure does.
                    pool.hold();
                    let by = serial::of_this_thread();
                    *state = State::Running(Running { by, waiter });
                    closure
                }
                other => {
                    *state = other;
                    return;
                }
            }
        };
        self.finish(unwind::catch(closure), pool);
        pool.let_go();
    }

    fn finish(&self, result: Result<T, Payload>, pool: &PoolInner) {
        let mut state = self.state.lock();
        // Relaxed: under the lock.
        if !self.dropped.load(Ordering::Relaxed) {
            let before = std::mem::replace(&mut *state, State::Finished(result));
            drop(state);
            if let State::Running(running) = before {
                running.waiter.inspect(Event::open_kept);
            }
            return;
        }
        *state = State::Over;
        drop(state);
        // The handle is gone: report a panic, and drop the result on the thread that computed it.
        match unwind::catch(|| result.map(drop)) {
            Ok(Ok(())) => {}
            Ok(Err(payload)) | Err(payload) => pool.panics.report(payload, UnhandledPanic::Task),
        }
    }
}

/// A handle to a spawned task, which returns the task's result; created by
/// [`spawn`](fn@crate::spawn) and [`Pool::spawn`](crate::Pool::spawn).
///
/// A task whose handle is dropped runs nevertheless. If it panics, the panic is passed to
/// [`Builder::on_panic`](crate::Builder::on_panic).
///
/// ```
/// let handles: Vec<_> = (0..4_u64).map(|n| tidegate::spawn(move || n * n)).collect();
/// let squares: Vec<u64> = handles.into_iter().map(|handle| handle.join()).collect();
/// assert_eq!(squares, [0, 1, 4, 9]);
/// ```
pub struct Handle<T> {
    /// `None` once joined.
    packet: Option<Arc<Packet<T>>>,
    pool: Arc<PoolInner>,
}

impl<T: Send> Handle<T> {
    /// Waits for the task and returns its result. If the task has not begun, the calling thread
    /// runs it, provided that it belongs to the task's pool or can become a guest there.
    ///
    /// ```
    /// let handle = tidegate::spawn(|| "the result");
    /// assert_eq!(handle.join(), "the result");
    ///
    /// let failing = || tidegate::spawn(|| -> u32 { panic!("oh") }).join();
    /// let panic = std::panic::catch_unwind(failing).unwrap_err();
    /// assert_eq!(panic.downcast_ref(), Some(&"oh"));
    /// ```
    ///
    /// # Panics
    /// Resumes the panic of the task. Also panics if the task itself waits in a frame below on the
    /// same stack, because it could never end; and in a child made by `fork`, if the parent has
    /// begun the task.
    pub fn join(mut self) -> T {
        let packet = self.packet.clone().expect("join consumes the handle");
        self.begin(&packet);
        if let Some(event) = self.register(&packet) {
            wait::for_event(&event);
        }
        // Only now: a panic before this line drops the handle like any other.
        self.packet = None;
        let state = std::mem::replace(&mut *packet.state.lock(), State::Over);
        match state {
            State::Finished(Ok(value)) => value,
            State::Finished(Err(payload)) => unwind::resume(payload),
            _ => unreachable!("waited for the end"),
        }
    }

    /// Runs the task, unless another thread has begun to. The caller must be in the task's pool or
    /// become a guest there, because the task's own joins and reservations belong to that pool.
    fn begin(&self, packet: &Packet<T>) {
        let run = || packet.run(&self.pool);
        if self.pool.is_inherited() {
            run();
        } else if packet.is_unstarted() {
            enter::run_here(&self.pool, run);
        }
    }

    /// Returns the event to wait for. `None` if the task has finished.
    fn register(&self, packet: &Packet<T>) -> Option<Arc<Event>> {
        let Some(mut state) = packet.state.lock_unless_lost() else {
            runs_in_parent();
        };
        let waiter = match &mut *state {
            State::Unstarted(unstarted) => &mut unstarted.waiter,
            State::Running(running) => {
                assert!(
                    running.by != serial::of_this_thread(),
                    "the task of this handle waits in a frame below the one that joins it"
                );
                if self.pool.is_inherited() {
                    runs_in_parent();
                }
                &mut running.waiter
            }
            State::Finished(_) | State::Over => return None,
        };
        let event = Arc::new(Event::for_this_thread());
        *waiter = Some(event.clone());
        Some(event)
    }
}

/// The join cannot end, because only the parent process has the thread that runs the task.
#[cold]
fn runs_in_parent() -> ! {
    panic!("the task of this handle runs in the process that this one was forked from");
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        let Some(packet) = self.packet.take() else {
            return;
        };
        let finished = {
            let Some(mut state) = packet.state.lock_unless_lost() else {
                return;
            };
            // Relaxed: under the lock.
            packet.dropped.store(true, Ordering::Relaxed);
            match &*state {
                State::Finished(_) => std::mem::replace(&mut *state, State::Over),
                _ => return,
            }
        };
        if let State::Finished(Err(payload)) = finished {
            self.pool.panics.report(payload, UnhandledPanic::Task);
        }
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}

/// Spawns a task. Outside a pool that bounds its queue, waits until the queue is within the bound.
pub(crate) fn spawn<T, F>(pool: &Arc<PoolInner>, f: F) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let bound = bound_here(pool);
    let excess = bound.and_then(SpawnBound::enter);
    let handle = submit_packet(pool, f, bound.is_some());
    if let Some(event) = excess {
        wait::for_event(&event);
    }
    handle
}

/// Spawns a task, unless the queue has reached its bound.
pub(crate) fn try_spawn<T, F>(pool: &Arc<PoolInner>, f: F) -> Result<Handle<T>, QueueFull<F>>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let bound = bound_here(pool);
    if let Some(full) = bound.filter(|bound| !bound.try_enter()) {
        return Err(QueueFull::new(f, full));
    }
    Ok(submit_packet(pool, f, bound.is_some()))
}

/// The bound that the caller must keep. A task of the pool keeps none: while it waits, the queue
/// may not drain.
fn bound_here(pool: &Arc<PoolInner>) -> Option<&SpawnBound> {
    let bound = pool.spawn_bound.as_ref();
    bound.filter(|_| WorkerThread::in_pool(pool).is_none())
}

fn submit_packet<T, F>(pool: &Arc<PoolInner>, f: F, is_counted: bool) -> Handle<T>
where
    F: FnOnce() -> T + Send + 'static,
    T: Send + 'static,
{
    let packet = Arc::new(Packet {
        state: Mutex::new(State::Unstarted(Unstarted {
            closure: Box::new(f),
            waiter: None,
        })),
        dropped: AtomicBool::new(false),
    });
    let own = packet.clone();
    submit(pool, move |current| {
        let bound = current.shared().spawn_bound.iter();
        bound.filter(|_| is_counted).for_each(SpawnBound::leave);
        own.run(current.shared());
    });
    Handle {
        packet: Some(packet),
        pool: pool.clone(),
    }
}

/// Spawns a task without a handle. Its panic is reported.
pub(crate) fn spawn_alone(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    submit(pool, move |current| run_alone(f, current));
}

/// Like `spawn_alone`, but of the tasks that one worker spawns with this function, the older ones
/// begin first.
///
/// Each task has a stand-in in the deque. Any worker may run the stand-ins, in any order, and each
/// runs the oldest task.
pub(crate) fn spawn_fifo(pool: &Arc<PoolInner>, f: impl FnOnce() + Send + 'static) {
    let Some(current) = WorkerThread::of(pool) else {
        // A task from outside waits in a queue anyway, which keeps the order.
        return spawn_alone(pool, f);
    };
    let spawner = current.index;
    let body = move |current: WorkerThread<'_>| run_alone(f, current);
    current.in_order.push(Task::detached(body, Some(current)));
    submit(pool, move |current| {
        let oldest = current.shared().worker(spawner).in_order.pop();
        oldest
            .expect("one for each stand-in")
            .run(current.as_runner());
    });
}

/// A task without a handle, which holds the pool until it has run. It is in no queue yet.
pub(crate) fn task_alone(pool: &PoolInner, f: impl FnOnce() + Send + 'static) -> Task {
    held_task(
        pool,
        move |current| run_alone(f, current),
        WorkerThread::get(),
    )
}

/// Submits a task without a handle to the pool. The task must not unwind. The pool does not end
/// before the task has run.
fn submit(pool: &Arc<PoolInner>, f: impl FnOnce(WorkerThread<'_>) + Send + 'static) {
    let caller = WorkerThread::get();
    let task = held_task(pool, f, caller);
    match caller {
        Some(current) if std::ptr::eq(current.shared(), &**pool) => {
            // An alternative queue may hide the task until its owner forks again. A thread without
            // a task may never do so.
            let stays = current.alt_queue.is_none() || current.victim.is_busy.get();
            if stays {
                scope::push_or_pass_on(current, task);
            } else {
                scope::pass_on(current, task);
            }
        }
        _ => {
            pool.injector.push(task);
            wake::work_visible(pool, None);
            enter::work_off_alone(pool);
        }
    }
}

fn held_task(
    pool: &PoolInner,
    f: impl FnOnce(WorkerThread<'_>) + Send + 'static,
    caller: Option<WorkerThread<'_>>,
) -> Task {
    pool.hold();
    let body = move |current: WorkerThread<'_>| {
        f(current);
        current.shared().let_go();
    };
    Task::detached(body, caller)
}

/// Runs a closure without a handle, and reports its panic.
fn run_alone(f: impl FnOnce(), current: WorkerThread<'_>) {
    if let Err(payload) = unwind::catch(f) {
        current
            .shared()
            .panics
            .report(payload, UnhandledPanic::Task);
    }
}
