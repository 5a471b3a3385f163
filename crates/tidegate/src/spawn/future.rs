//! Futures that the pool's workers poll. docs/futures.md has the protocol and its argument.

use super::packet::{self, Cell, Drive};
use crate::cancel::Cancelled;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Weak};
use std::task::{Context, Poll, Wake, Waker};
use tidegate_core::Origin;
use tidegate_core::door::spawn::submit;
use tidegate_core::door::{Hold, Payload, PoolInner, Task, UnhandledPanic, carry, unwind};
use tidegate_policy::Priority;
use tidegate_policy::tunables::JOINER_POLLS;
use tidegate_sync::lock::Mutex;
use tidegate_sync::serial;

/// Spawns a future. Returns its packet, and a pointer with which a handle finds it. The pool is
/// held until the future has completed or is dropped. `class` is `None` for the class of the pool.
pub(super) fn spawn<F>(
    pool: &Arc<PoolInner>,
    class: Option<Priority>,
    origin: Origin,
    future: F,
) -> (Cell<F::Output>, Weak<dyn Drive>)
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    pool.hold();
    let task = Arc::new(FutureTask {
        phase: Mutex::new(Phase::Queued(Box::pin(future))),
        packet: packet::of_future(pool.clone(), origin),
        class: class.unwrap_or(pool.options.priority),
        raised: Mutex::default(),
        pool: pool.clone(),
    });
    let packet = task.packet.clone();
    let future = Arc::downgrade(&task);
    task.push();
    (packet, future)
}

/// A spawned future. Its wakers share it with the task that polls it, if there is one.
struct FutureTask<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    phase: Mutex<Phase<F>>,
    packet: Cell<F::Output>,
    /// The class in which the future was spawned.
    class: Priority,
    /// The class of the most urgent waiter, if that is more urgent.
    raised: Mutex<Option<Priority>>,
    pool: Arc<PoolInner>,
}

enum Phase<F> {
    /// The future waits until one of its wakers is called.
    Waiting(Pin<Box<F>>),
    /// A task that will poll the future has been pushed and has not begun.
    Queued(Pin<Box<F>>),
    /// A task is polling the future, and has taken it out of the phase.
    Running {
        is_woken: bool,
    },
    /// A task is polling the future, and drops it if it is pending.
    Aborted,
    /// The future was aborted. A task that will drop it has been pushed and has not begun.
    Dropping(Pin<Box<F>>),
    Over,
}

impl<F> FutureTask<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn push(self: Arc<Self>) {
        let (pool, raised) = (self.pool.clone(), *self.raised.lock());
        let class = raised.unwrap_or(self.class);
        let task = Task::alone(&pool, move |_| {
            if let Some(hold) = self.clone().poll() {
                self.announce(hold);
            }
        });
        submit(&pool, Some(class), task);
    }

    /// Pushes a task that polls the future. If a task is already polling it, that task polls it
    /// again instead.
    fn schedule(self: Arc<Self>) {
        if self.pool.is_inherited() {
            // Only the parent process has threads that could poll the future.
            return;
        }
        self.pool.check_thread();
        let queued = {
            let mut phase = self.phase.lock();
            let (next, queued) = match std::mem::replace(&mut *phase, Phase::Over) {
                Phase::Waiting(future) => (Phase::Queued(future), Some(Hold::of(&self.pool))),
                Phase::Running { .. } => (Phase::Running { is_woken: true }, None),
                other => (other, None),
            };
            *phase = next;
            queued
        };
        if let Some(hold) = queued {
            self.announce(hold);
        }
    }

    /// Pushes a task that polls the queued future, and notifies the thread that joins it. Whichever
    /// comes first polls the future. The hold keeps the pool from ending before the task is pushed.
    fn announce(self: Arc<Self>, _hold: Hold) {
        self.clone().push();
        self.packet.wake_driver();
    }

    /// Polls the future if it is queued, or drops it if it was aborted. Returns a hold on the pool
    /// if the future was woken during the poll: it is queued again, and the caller must poll it or
    /// announce it.
    fn poll(self: Arc<Self>) -> Option<Hold> {
        let mut future = {
            let mut phase = self.phase.lock();
            match std::mem::replace(&mut *phase, Phase::Running { is_woken: false }) {
                Phase::Queued(future) => future,
                Phase::Dropping(future) => {
                    *phase = Phase::Over;
                    drop(phase);
                    self.discard(future);
                    return None;
                }
                other => {
                    *phase = other;
                    return None;
                }
            }
        };
        self.packet.set_polled_by(Some(serial::of_this_thread()));
        let waker = Waker::from(self.clone());
        let poll = || future.as_mut().poll(&mut Context::from_waker(&waker));
        let raised = *self.raised.lock();
        let polled = {
            let _span = self.packet.span();
            unwind::catch(|| carry::run_raised(raised, poll))
        };
        match polled {
            Ok(Poll::Pending) => return self.put_back(future),
            Ok(Poll::Ready(value)) => self.end(future, Ok(value)),
            Err(payload) => self.end(future, Err(payload)),
        }
        None
    }

    /// Puts a pending future back, unless it was aborted. Returns a hold on the pool if the future
    /// was woken during the poll.
    fn put_back(&self, future: Pin<Box<F>>) -> Option<Hold> {
        self.packet.set_polled_by(None);
        let mut phase = self.phase.lock();
        let (next, hold) = match &*phase {
            Phase::Aborted => {
                *phase = Phase::Over;
                drop(phase);
                self.discard(future);
                return None;
            }
            Phase::Running { is_woken: true } => {
                (Phase::Queued(future), Some(Hold::of(&self.pool)))
            }
            _ => (Phase::Waiting(future), None),
        };
        *phase = next;
        hold
    }

    /// Drops an aborted future, finishes its packet, and removes its hold on the pool.
    fn discard(&self, future: Pin<Box<F>>) {
        // The destructor may join the future's own handle, which must panic, not wait.
        self.packet.set_polled_by(Some(serial::of_this_thread()));
        if let Err(payload) = unwind::catch(|| drop(future)) {
            self.packet.report(payload, UnhandledPanic::Task);
        }
        self.packet.set_lost();
        self.packet.finish(Err(Box::new(Cancelled)));
        self.pool.let_go();
    }

    fn end(&self, future: Pin<Box<F>>, result: Result<F::Output, Payload>) {
        *self.phase.lock() = Phase::Over;
        end(future, result, &self.packet);
    }
}

/// Drops a future that has ended, passes on its result, and removes its hold on the pool.
fn end<F: Future>(
    future: Pin<Box<F>>,
    result: Result<F::Output, Payload>,
    packet: &Cell<F::Output>,
) {
    let dropped = unwind::catch(|| drop(future));
    let (result, second) = match (result, dropped) {
        (result, Ok(())) => (result, None),
        (Ok(value), Err(payload)) => (Err(payload), unwind::catch(|| drop(value)).err()),
        (Err(first), Err(second)) => (Err(first), Some(second)),
    };
    if let Some(second) = second {
        packet.report(second, UnhandledPanic::Second);
    }
    packet.finish(result);
    packet.pool.let_go();
}

impl<F> Drive for FutureTask<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn is_queued(&self) -> bool {
        matches!(*self.phase.lock(), Phase::Queued(_))
    }

    fn poll_queued(self: Arc<Self>) {
        let mut hold = None;
        for _ in 0..JOINER_POLLS.default {
            hold = self.clone().poll();
            if hold.is_none() {
                return;
            }
        }
        // The future may wait for a task that the joiner keeps from running.
        self.push();
        drop(hold);
    }

    fn raise(self: Arc<Self>, class: Priority) {
        {
            let mut raised = self.raised.lock();
            if raised.unwrap_or(self.class) >= class {
                return;
            }
            *raised = Some(class);
        }
        // Either this sees that the future is queued, or the thread that queues it sees the class.
        let hold = {
            let phase = self.phase.lock();
            matches!(*phase, Phase::Queued(_)).then(|| Hold::of(&self.pool))
        };
        match hold {
            Some(_hold) => self.push(),
            // Another poll raises what the future waits for.
            None => self.schedule(),
        }
    }

    fn abort(self: Arc<Self>) {
        let waited = {
            let mut phase = self.phase.lock();
            let (next, waited) = match std::mem::replace(&mut *phase, Phase::Over) {
                Phase::Waiting(future) => (Phase::Dropping(future), Some(Hold::of(&self.pool))),
                Phase::Queued(future) => (Phase::Dropping(future), None),
                Phase::Running { .. } => (Phase::Aborted, None),
                other => (other, None),
            };
            *phase = next;
            waited
        };
        if waited.is_some() {
            self.push();
        }
    }
}

impl<F> Wake for FutureTask<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn wake(self: Arc<Self>) {
        self.schedule();
    }
}

impl<F> Drop for FutureTask<F>
where
    F: Future<Output: Send + 'static> + Send + 'static,
{
    fn drop(&mut self) {
        let before = std::mem::replace(&mut *self.phase.lock(), Phase::Over);
        let (Phase::Waiting(future) | Phase::Queued(future) | Phase::Dropping(future)) = before
        else {
            return;
        };
        if self.pool.is_inherited() {
            // The future belongs to the parent process.
            std::mem::forget(future);
            return;
        }
        // The last waker may be dropped anywhere, so the future's destructor, which is user code,
        // runs as a task.
        let packet = self.packet.clone();
        let ends = Task::alone(&self.pool, move |_| {
            packet.set_polled_by(Some(serial::of_this_thread()));
            packet.set_lost();
            let lost = "the future waits for a waker, and its last waker was dropped";
            end(future, Err(Box::new(lost)), &packet);
        });
        submit(&self.pool, Some(self.pool.options.priority), ends);
    }
}
