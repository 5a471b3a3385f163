//! The handle of a task.

use super::packet::{Cell, Drive, Queueing, Registered, Waiter, run_as_task};
use crate::cancel::Cancelled;
use crate::cancel::token::CancelToken;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;
use tidegate_core::door::spawn::submit;
use tidegate_core::door::{
    Event, PoolInner, Task, WorkerThread, carry, enter, nanos, unwind, wait,
};
use tidegate_policy::Priority;
use tidegate_sync::serial;
use tidegate_sync::simulation;

/// A handle to the result of a task; returned by [`spawn`](fn@crate::spawn) and
/// [`spawn_future`](crate::spawn_future).
///
/// A handle is a [`Future`], so a task of any executor can await it. (A task of the pool that blocks
/// on it needs [`blocking`](crate::blocking()).) [`join`](Self::join) waits on
/// the calling thread. [`abort`](Self::abort) keeps the task from beginning. Dropping the handle
/// lets the task continue, unless [`abort_on_drop`](Self::abort_on_drop) was called; a panic of the
/// task then goes to [`Builder::on_panic`](crate::Builder::on_panic).
///
/// ```
/// # async fn example() {
/// let handle = tidegate::spawn(|| 6 * 7);
/// assert_eq!(handle.await, 42);
/// # }
/// # tidegate::spawn_future(example()).join();
/// ```
///
/// # Panics
/// Awaiting a handle panics with the panic of the task. It also panics if the handle has
/// [aborted](Self::abort) the task, or is polled again after it has returned its result.
pub struct Handle<T> {
    /// `None` once the result has been taken.
    pub(super) packet: Option<Cell<T>>,
    /// Whether dropping the handle aborts the task.
    pub(super) aborts: bool,
    /// The token of the task, if it has one of its own.
    pub(super) token: Option<CancelToken>,
    /// The future, if the task is one.
    pub(super) future: Option<Weak<dyn Drive>>,
}

impl<T: Send + 'static> Handle<T> {
    pub(super) fn new(
        packet: Cell<T>,
        future: Option<Weak<dyn Drive>>,
        token: Option<CancelToken>,
    ) -> Self {
        Self {
            packet: Some(packet),
            aborts: false,
            token,
            future,
        }
    }

    fn pool(&self) -> &Arc<PoolInner> {
        &self.packet().pool
    }

    fn packet(&self) -> &Cell<T> {
        self.packet
            .as_ref()
            .expect("the handle has already returned its result")
    }

    /// Waits for the task and returns its result. If no worker has begun the task, and the caller
    /// is in the task's pool or can become a guest there, the caller runs it.
    /// [`join_result`](Self::join_result) returns a panic of the task as a value instead.
    ///
    /// If the caller is a task of a more urgent [class](crate::TaskBuilder::priority), a task
    /// that has not begun gets that class.
    ///
    /// If the task is a future, the caller polls it whenever possible. Between polls, a worker
    /// leaves its slot to another thread, as in [`blocking`](crate::blocking()), because a future
    /// may depend on any task. In a pool without [spare threads](crate::Builder::max_threads), or
    /// once [`max_blocking_threads`](crate::Builder::max_blocking_threads) threads block, a future
    /// waits forever if it depends on a task that only a waiting thread could run.
    ///
    /// # Panics
    /// Resumes a panic of the task. Also panics if the handle has [aborted](Self::abort) the task,
    /// if the task waits in a frame below on the calling thread, because it would never end, or if
    /// awaiting the handle has already returned its result. A child made by `fork` is aborted
    /// unless the result was ready at the fork.
    #[track_caller]
    pub fn join(self) -> T {
        value_of(self.join_result())
    }

    /// Like [`join`](Self::join), but returns a panic of the task as a value, like the `join` of
    /// [`std::thread::JoinHandle`].
    ///
    /// ```
    /// let handle = tidegate::spawn(|| -> u32 { panic!("no such user") });
    /// let payload = handle.join_result().unwrap_err();
    /// assert_eq!(payload.downcast_ref(), Some(&"no such user"));
    /// ```
    ///
    /// # Errors
    /// The payload of the task's panic. [`Cancelled`], if the handle has [aborted](Self::abort) the
    /// task before it began, or has made the pool drop the future.
    ///
    /// # Panics
    /// Like [`join`](Self::join), but not with a panic of the task or because of the abort.
    pub fn join_result(mut self) -> thread::Result<T> {
        let suspended = carry::carry();
        let class = self.pool().sources.classes.other(suspended.carried.class());
        if class.is_some() || self.future.is_some() {
            self.raise(class);
        }
        self.begin();
        match self.take() {
            Some(result) => result,
            None => self.wait(class),
        }
    }

    /// Waits for the end of the task. If the task is a future, polls it whenever possible, provided
    /// that the caller is in its pool or can become a guest there.
    fn wait(mut self, class: Option<Priority>) -> thread::Result<T> {
        loop {
            let event = if self.joiner_blocks() {
                Event::for_blocked_thread()
            } else {
                Event::for_this_thread()
            };
            let event = Arc::new(event);
            let driver = Waiter::Driver(event.clone());
            match self.packet().register(driver) {
                Registered::Finished => return self.take().expect("the task has finished"),
                Registered::Unstarted => self.queue(class),
                Registered::Running(by) => assert!(
                    by != serial::of_this_thread(),
                    "the task of this handle waits in a frame below the one that joins it"
                ),
            }
            let future = self.future();
            if let Some(future) = future.filter(|future| future.is_queued()) {
                enter::run_here(self.pool(), || future.poll_queued());
            }
            if !event.is_open() {
                wait::for_event(&event, self.pool());
            }
        }
    }

    /// Whether the caller gives up its slot while it waits, as in `blocking`. A future may depend
    /// on any task, so another thread must run the tasks that the caller would run afterwards.
    fn joiner_blocks(&self) -> bool {
        let worker = WorkerThread::get().filter(|_| self.future.is_some());
        worker.is_some_and(|worker| worker.pool().replaces_threads())
    }

    /// Waits at most `limit` for the task. Returns its result, or the handle if the task has not
    /// finished by then.
    ///
    /// The caller never runs the task itself. A worker that waits like this leaves its slot to
    /// another thread, as in [`blocking`](crate::blocking()). Afterwards it may need up to 2 ms
    /// more to get a slot again, and may run parts of broadcasts. In a pool without [spare
    /// threads](crate::Builder::max_threads), it keeps its slot.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use std::time::Duration;
    ///
    /// let (go_on, may_go_on) = channel();
    /// let handle = tidegate::spawn(move || may_go_on.recv());
    /// let Err(handle) = handle.join_timeout(Duration::from_millis(1)) else {
    ///     unreachable!("the task waits for a message");
    /// };
    /// go_on.send(7)?;
    /// assert_eq!(handle.join(), Ok(7));
    /// # Ok::<(), std::sync::mpsc::SendError<i32>>(())
    /// ```
    ///
    /// # Errors
    /// The handle, if the task has not finished within `limit`.
    ///
    /// # Panics
    /// Resumes a panic of the task. Also panics if the handle has [aborted](Self::abort) the task,
    /// or if awaiting the handle has already returned its result. A child made by `fork` is aborted
    /// as in [`join`](Self::join).
    pub fn join_timeout(self, limit: Duration) -> Result<T, Self> {
        let event = Arc::new(Event::for_blocked_thread());
        let waiter = Waiter::Event(event.clone());
        match self.packet().register(waiter) {
            Registered::Finished => {}
            registered @ (Registered::Unstarted | Registered::Running(_)) => {
                let class = self.pool().sources.classes.other(carry::class());
                let may_lift = class.is_some() || self.pool().sources.classes.len() > 0;
                if self.future.is_some() {
                    self.raise(class);
                } else if may_lift && matches!(registered, Registered::Unstarted) {
                    self.queue(class);
                }
                wait::for_event_within(&event, nanos(limit));
            }
        }
        self.result_if_ready()
    }

    /// Returns whether the result is ready: [`join`](Self::join) would not wait.
    ///
    /// ```
    /// let handle = tidegate::spawn(|| 7);
    /// while !handle.is_finished() {
    ///     std::thread::yield_now(); // or do something else
    /// }
    /// assert_eq!(handle.join(), 7);
    /// ```
    #[must_use]
    pub fn is_finished(&self) -> bool {
        let packet = self.packet.as_ref();
        let is_finished = packet.is_none_or(|packet| packet.is_finished());
        if !is_finished {
            simulation::give_way("looks at an unfinished task");
        }
        is_finished
    }

    /// Returns the result if the task has finished.
    ///
    /// ```
    /// let mut handle = tidegate::spawn(|| 7);
    /// let value = loop {
    ///     match handle.result_if_ready() {
    ///         Ok(value) => break value,
    ///         Err(unfinished) => handle = unfinished,
    ///     }
    /// };
    /// assert_eq!(value, 7);
    /// ```
    ///
    /// # Errors
    /// The handle, if the task has not finished.
    ///
    /// # Panics
    /// Resumes a panic of the task. Also panics if the handle has [aborted](Self::abort) the task,
    /// or if awaiting the handle has already returned its result.
    pub fn result_if_ready(mut self) -> Result<T, Self> {
        let result = self.take();
        if result.is_none() {
            simulation::give_way("looks at an unfinished task");
        }
        result.map(value_of).ok_or(self)
    }

    /// Takes the result out of the packet. Afterwards, the handle has none. Returns `None` if the
    /// task has not finished.
    fn take(&mut self) -> Option<thread::Result<T>> {
        let result = self.packet().take()?;
        self.packet = None;
        Some(result)
    }

    /// Runs the task if no worker has begun it, and if the caller is in the task's pool or can
    /// become a guest there. The task's joins and reservations need to run in that pool.
    fn begin(&self) {
        if self.packet().is_unstarted() {
            enter::run_here(self.pool(), || {
                self.packet().run();
            });
        }
    }

    /// Queues another task that runs the closure, in the class of the waiter, unless the closure
    /// has begun. The first task may be stuck in the deque of a thread that waits for a future,
    /// which in turn awaits this handle; or it may be less urgent than the waiter.
    fn queue(&self, class: Option<Priority>) {
        let Some(packet) = self.packet.clone() else {
            return;
        };
        let Some(_hold) = packet.hold_to_queue(class) else {
            return;
        };
        let task = Task::alone(self.pool(), move |current| {
            let queued = Queueing {
                class,
                is_counted: false,
            };
            run_as_task(&*packet, queued, current);
        });
        let class = class.unwrap_or(self.pool().options.priority);
        submit(self.pool(), Some(class), task);
    }

    /// Gives the task the class of its waiter (`None`: the pool's), if that is more urgent. A
    /// closure that a thread has begun keeps its class.
    #[cold]
    fn raise(&self, class: Option<Priority>) {
        let above = self.pool().sources.classes.above(class);
        match (self.future(), above) {
            (Some(future), _) => future.raise(class.unwrap_or(self.pool().options.priority)),
            (None, Some(class)) => self.packet().raise(class),
            (None, None) => {}
        }
    }
}

impl<T: Send + 'static> Future for Handle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let waker = Waiter::Waker(context.waker().clone());
        match self.packet().register(waker) {
            Registered::Unstarted => {
                self.queue(self.pool().sources.classes.other(carry::class()));
                Poll::Pending
            }
            Registered::Running(_) => {
                if self.future.is_some() {
                    self.raise(self.pool().sources.classes.other(carry::class()));
                }
                Poll::Pending
            }
            Registered::Finished => {
                Poll::Ready(value_of(self.take().expect("the task has finished")))
            }
        }
    }
}

/// Returns the value, or resumes the panic of the task.
#[track_caller]
fn value_of<T>(result: thread::Result<T>) -> T {
    match result {
        Ok(value) => value,
        Err(payload) if payload.is::<Cancelled>() => panic!("the task was aborted"),
        Err(payload) => unwind::resume(payload),
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handle").finish_non_exhaustive()
    }
}
